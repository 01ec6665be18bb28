/* SPDX-License-Identifier: MIT */
#include "cpu/model/waits.h"

#include <stdio.h>
#include <string.h>

#include "cpu/model/event.h"

/* As words of a name, or their beginnings: "sockfd_lookup" is none of kfd's functions. */
static bool has(const char *name, const char *const *parts)
{
    for (; *parts; parts++)
        for (const char *at = strstr(name, *parts); at; at = strstr(at + 1, *parts))
            if (at == name || at[-1] == '_' || at[-1] == '.')
                return true;
    return false;
}

static bool begins(const char *path, const char *const *with)
{
    for (; *with; with++)
        if (!strncmp(path, *with, strlen(*with)))
            return true;
    return false;
}

/* "/dev/dri/card0 (amdgpu)": the recorder says the driver. */
static bool is_gpu_file(const char *object)
{
    const char *by = strstr(object, " (");
    char driver[32];

    if (strncmp(object, "/dev/dri/", 9) != 0 || !by)
        return false;
    snprintf(driver, sizeof(driver), "%.*s", (int)strcspn(by + 2, ")"), by + 2);
    return cpu_is_gpu_driver(driver);
}

/* `where` is the function of the kernel that it sleeps in; "0" where that may not be known. */
static enum cpu_wait_kind kind_of(const char *state, const char *call, const char *where, const char *object)
{
    /* get_signal: the trap of cgroup v2 is inlined there; what a signal or a debugger stops is in state T or t */
    static const char *const frozen[] = {"freezer", "refrigerator", NULL};
    static const char *const device[] = {"amdgpu", "i915", "xe_",  "radeon",   "nouveau", "nvidia",
                                         "kfd_",   "v3d_", "msm_", "panfrost", "panthor", NULL};
    /* of whom they are not even the file says: any driver's fence can be in it */
    static const char *const fences[] = {"dma_fence", "drm_", "sync_file", "dma_resv", NULL};
    /* a file system, or a pager, in a process of its own that does not answer; it sleeps like any other */
    static const char *const servers[] = {"request_wait_answer", "handle_userfault", NULL};
    static const char *const locks[] = {"lock", "mutex", "semaphore",
                                        NULL}; /* of a driver's, that somebody has */
    static const char *const devices[] = {"/dev/nvidia", "/dev/kfd", "/dev/mali", NULL};
    static const char *const io[] = {"io_schedule",  "blk_",           "bio_",  "bit_wait",   "folio_wait",
                                     "wait_on_page", "rq_qos",         "wbt_",  "throttle",   "balance_dirty",
                                     "writeback",    "wait_on_buffer", "jbd2",  "nfs",        "swap",
                                     "mem_cgroup",   "filemap",        "iomap", "congestion", "submit_",
                                     "blkdev",       "throtl",         NULL};

    if (has(where, frozen) || ((*state == 'S' || *state == 'D') && !strcmp(where, "get_signal")))
        return CPU_WAIT_FROZEN;
    if ((has(where, device) && !has(where, locks)) || begins(object, devices) || is_gpu_file(object))
        return CPU_WAIT_DEVICE;
    if ((has(where, fences) && !has(where, locks)) || !strncmp(object, "/dev/dri/", 9))
        return CPU_WAIT_FENCE;
    if (has(where, servers))
        return CPU_WAIT_IO;
    if ((!strcmp(call, "futex") && !strncmp(object, "mutex", 5)) || !strcmp(call, "flock") ||
        (!strcmp(call, "fcntl") && *object))
        return CPU_WAIT_LOCK;
    if (!strncmp(object, "pipe:", 5) || !strcmp(call, "semop") || !strcmp(call, "vfork"))
        return CPU_WAIT_PEER;
    return *state == 'D' && (has(where, io) || !strcmp(call, "fsync")) ? CPU_WAIT_IO : CPU_WAIT_OTHER;
}

bool cpu_task_wait_parse(struct cpu_task_wait *w, const json_t *entry)
{
    const json_int_t tid = json_integer_value(json_array_get(entry, 0)),
                     holder = json_integer_value(json_array_get(entry, 5));
    const char *text[4];

    for (size_t i = 0; i < 4; i++) {
        text[i] = json_string_value(json_array_get(entry, i + 1));
        if (!text[i])
            return false;
    }
    if (tid <= 0 || tid > INT32_MAX || holder < 0 || holder > INT32_MAX)
        return false;
    *w = (struct cpu_task_wait){.tid = (int32_t)tid,
                                .holder = (int32_t)holder,
                                .state = text[0][0],
                                .by_its_words = !strcmp(text[1], "futex") && !strncmp(text[3], "mutex 0x", 8),
                                .kind = (uint8_t)kind_of(text[0], text[1], text[2], text[3])};
    if (!strcmp(text[2], "0"))
        text[2] = ""; /* not known */
    snprintf(w->what, sizeof(w->what), "%.40s%s%.12s%s%s%.24s", text[3], *text[3] && *text[1] ? " in " : "",
             text[1], (*text[3] || *text[1]) && *text[2] ? ", " : "", *text[2] ? "kernel function " : "",
             text[2]);
    if (!w->what[0])
        snprintf(w->what, sizeof(w->what), "something that /proc does not show");
    return true;
}
