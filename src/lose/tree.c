/* SPDX-License-Identifier: MIT */
#include "lose/tree.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lose/proc.h"
#include "lose/record.h"

/* linux/pidfd.h of Linux 6.15, which Debian 12 has not. */
struct info {
    uint64_t mask, cgroup;
    uint32_t ids[11];
    int32_t exit_code;
};
#define GET_INFO  _IOWR(0xFF, 11, struct info)
#define INFO_EXIT (1u << 3)

static void list(struct tree *t)
{
    DIR *dir = opendir("/proc");
    const struct dirent *d;
    struct tree_listed *all = t->listed;
    size_t n = 0;

    while (dir && (d = readdir(dir)) && n < TREE_LISTED) {
        char path[300], text[512], *end;

        if (d->d_name[0] < '1' || d->d_name[0] > '9')
            continue;
        snprintf(path, sizeof(path), "/proc/%s/stat", d->d_name);
        end = proc_read(path, text, sizeof(text)) ? strrchr(text, ')') : NULL; /* a name may hold anything */
        if (end && end[1] && end[2]) {
            all[n].pid = (pid_t)strtol(d->d_name, NULL, 10);
            all[n].zombie = end[2] == 'Z' || end[2] == 'X';
            all[n++].parent = (pid_t)strtol(end + 3, NULL, 10);
        }
    }
    if (dir)
        closedir(dir);
    t->num_listed = n;
}

static bool is_other(const struct tree *t, pid_t pid)
{
    for (uint32_t i = 0; i < t->num_others; i++)
        if (t->others[i] == pid)
            return true;
    return false;
}

void tree_init(struct tree *t)
{
    list(t);
    prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
    t->num = t->num_others = 0;
    for (size_t i = 0; i < t->num_listed && t->num_others < sizeof(t->others) / sizeof(t->others[0]); i++)
        if (t->listed[i].parent == getpid())
            t->others[t->num_others++] = t->listed[i].pid;
}

void tree_finish(struct tree *t)
{
    for (uint32_t i = 0; i < t->num; i++)
        if (t->process[i].pidfd >= 0)
            close(t->process[i].pidfd);
}

struct tree_process *tree_find(struct tree *t, pid_t pid)
{
    for (uint32_t i = 0; i < t->num; i++)
        if (t->process[i].pid == pid)
            return &t->process[i];
    return NULL;
}

static bool add(struct tree *t, pid_t pid)
{
    if (tree_find(t, pid) || t->num == TREE_PROCESSES)
        return false;
    t->process[t->num++] =
        (struct tree_process){.pid = pid, .pidfd = (int)syscall(SYS_pidfd_open, pid, 0), .alive = true};
    return true;
}

void tree_start(struct tree *t, pid_t top)
{
    t->top = top;
    add(t, top);
}

void tree_scan(struct tree *t)
{
    struct tree_listed *all = t->listed;
    bool found = true;

    list(t);
    while (found) { /* down the generations */
        found = false;
        for (size_t i = 0; i < t->num_listed; i++)
            if (all[i].pid && !all[i].zombie && !is_other(t, all[i].pid) &&
                (all[i].parent == getpid() || tree_find(t, all[i].parent))) {
                found |= add(t, all[i].pid);
                all[i].pid = 0;
            }
    }
}

static void ask(struct tree_process *p)
{
    struct info info = {.mask = INFO_EXIT};

    if (p->pidfd < 0 || syscall(SYS_pidfd_send_signal, p->pidfd, 0, NULL, 0) == 0 || errno != ESRCH)
        return;
    p->alive = false;
    if (!ioctl(p->pidfd, GET_INFO, &info) && info.mask & INFO_EXIT) {
        p->ended = true;
        p->status = info.exit_code;
    }
}

void tree_reap(struct tree *t)
{
    struct tree_process *p;
    int status;
    pid_t pid;

    while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
        p = is_other(t, pid) ? NULL : tree_find(t, pid);
        if (p) {
            p->alive = false;
            p->ended = true;
            p->status = status;
        }
    }
    for (uint32_t i = 0; i < t->num; i++)
        if (t->process[i].alive)
            ask(&t->process[i]);
}

uint32_t tree_alive(const struct tree *t)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < t->num; i++)
        n += t->process[i].alive;
    return n;
}

void tree_kill(struct tree *t, int sig)
{
    tree_scan(t);
    for (uint32_t i = 0; i < t->num; i++)
        if (t->process[i].alive)
            kill(t->process[i].pid, sig);
}

/* ---- who loaded what ----------------------------------------------------- */

/* Whether `word` is in /proc/PID/NAME; -1: it cannot be read. */
static int mentions(pid_t pid, const char *name, const char *word)
{
    char path[64], text[4096];
    size_t kept = 0, len = strlen(word);
    int found = 0, fd;
    ssize_t n;

    snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, name);
    fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return -1;
    while (!found && (n = read(fd, text + kept, sizeof(text) - kept)) > 0) {
        size_t have = kept + (size_t)n;

        found = memmem(text, have, word, len) != NULL;
        kept = have < len ? have : len;
        memmove(text, text + have - kept, kept);
    }
    close(fd);
    return found;
}

static bool maps(pid_t pid, const char *word)
{
    return mentions(pid, "maps", word) > 0;
}

/* What a program draws with, and comes to past the layer and the vendor library. */
enum way { VULKAN = 1 << 0, EGL = 1 << 1, GLX = 1 << 2 };

/* Which variables of those that the program was given have lost what it was given in them, or stand in the way of it. */
static void look_for_replaced(const struct tree *t, pid_t pid, unsigned ways, char out[TREE_REPLACED_NAMES])
{
    const struct {
        const char *name, *holds;
        enum way way;
        bool may_lack; /* it need not be there */
    } wanted[] = {
        {"VK_INSTANCE_LAYERS", LOSE_LAYER, VULKAN, false},
        {"VK_LAYER_PATH", t->layers, VULKAN, true}, /* goes before VK_ADD_LAYER_PATH */
        {"VK_ADD_LAYER_PATH", t->layers, VULKAN, getenv("VK_LAYER_PATH") != NULL},
        {"VK_LOADER_LAYERS_DISABLE", NULL, VULKAN, true},
        {"VK_LOADER_LAYERS_ENABLE", LOSE_LAYER, VULKAN, !getenv("VK_LOADER_LAYERS_DISABLE")},
        {"__EGL_VENDOR_LIBRARY_FILENAMES", "/gl/egl.json", EGL, false},
        {"LD_LIBRARY_PATH", "/gl", GLX, false},
        {"__GLX_VENDOR_LIBRARY_NAME", "aerogpu", GLX, false},
    };
    enum { NUM = sizeof(wanted) / sizeof(wanted[0]) };
    bool good[NUM] = {false}, there[NUM] = {false};
    char path[64], *line = NULL;
    size_t size = 0, n = 0;
    FILE *f;

    snprintf(path, sizeof(path), "/proc/%d/environ", (int)pid);
    f = fopen(path, "re");
    while (f && getdelim(&line, &size, '\0', f) > 0)
        for (int i = 0; i < NUM; i++) {
            size_t len = strlen(wanted[i].name);

            if (strncmp(line, wanted[i].name, len) || line[len] != '=')
                continue;
            there[i] = true;
            good[i] = (wanted[i].may_lack && !line[len + 1]) ||
                      (wanted[i].holds && strstr(line + len + 1, wanted[i].holds)) ||
                      (wanted[i].may_lack && getenv(wanted[i].name) && /* as it was before */
                       !strcmp(getenv(wanted[i].name), line + len + 1));
        }
    free(line);
    out[0] = '\0';
    for (int i = 0; f && i < NUM; i++)
        if (!good[i] && (wanted[i].way & ways) && (there[i] || !wanted[i].may_lack) &&
            n < TREE_REPLACED_NAMES)
            n += (size_t)snprintf(out + n, TREE_REPLACED_NAMES - n, "%s%s", n ? ", " : "", wanted[i].name);
    if (f)
        fclose(f);
}

static enum tree_blind look(const struct tree *t, struct tree_process *p, bool reports)
{
    /* Drivers: the loader is in programs that never ask it for anything. libvulkan_lvp, libvk_swiftshader; libEGL_mesa, libGLX_nvidia. */
    pid_t pid = p->pid;
    bool layer = maps(pid, &LOSE_LAYER[8]), /* libVkLayer_AEROGPU_lose.so */
        vendor = maps(pid, "libGLX_aerogpu.so");
    unsigned ways = (maps(pid, "/libvulkan_") || maps(pid, "/libvk_") || maps(pid, "/amdvlk") ? VULKAN : 0) |
                    (maps(pid, "/libEGL_") ? EGL : 0) | (maps(pid, "/libGLX_") ? GLX : 0);

    if (!ways)
        return TREE_NO_VULKAN;
    if (!layer && !vendor && !mentions(pid, "environ", LOSE_VARIABLE "="))
        return TREE_NO_VARIABLE;
    /* Who has the vendor library by GLX may have another's by EGL. */
    look_for_replaced(t, pid, ways & ~((layer ? VULKAN : 0u) | (vendor ? GLX : 0u)), p->replaced);
    if (*p->replaced)
        return TREE_REPLACED;
    return !layer && !vendor ? TREE_NO_LAYER : reports ? TREE_SEES : TREE_NO_RECORD;
}

void tree_look(struct tree *t, bool reports)
{
    for (uint32_t i = 0; i < t->num; i++) {
        struct tree_process *p = &t->process[i];
        enum tree_blind now = p->alive ? look(t, p, reports) : TREE_NO_VULKAN;

        if (p->blind == TREE_SEES || now != TREE_NO_VULKAN) /* what ends maps nothing any more */
            p->blind = now;
    }
}

enum tree_blind tree_blind(const struct tree *t, pid_t *pid, char replaced[TREE_REPLACED_NAMES])
{
    enum tree_blind worst = TREE_NO_VULKAN;

    for (uint32_t i = 0; i < t->num; i++)
        if (t->process[i].blind > worst) {
            worst = t->process[i].blind;
            *pid = t->process[i].pid;
            memcpy(replaced, t->process[i].replaced, TREE_REPLACED_NAMES);
        }
    return worst;
}
