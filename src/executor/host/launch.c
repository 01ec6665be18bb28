/* SPDX-License-Identifier: MIT */
#include "executor/host/launch.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static int shared_create(struct exec_shared **out, const struct exec_spawn_params *p)
{
    int fd = memfd_create("aerogpu-executor", MFD_CLOEXEC | MFD_ALLOW_SEALING), r;
    struct exec_shared *s;

    if (fd < 0)
        return -errno;
    if (ftruncate(fd, sizeof(*s)) || fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL))
        goto fail;
    s = mmap(NULL, sizeof(*s), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (s == MAP_FAILED)
        goto fail;
    s->start = p->start;
    s->start.magic = EXEC_PROTO_MAGIC;
    s->start.version = EXEC_PROTO_VERSION;
    atomic_store(&s->epoch, p->epoch);
    atomic_store(&s->epoch_done, p->epoch);
    atomic_store(&s->host_sleeping, 1);
    *out = s;
    return fd;
fail:
    r = -errno;
    close(fd);
    return r;
}

/* What this program, the Vulkan loader, sanitizers, Mesa and the drivers of each vendor read. The rest of a service's
 * environment may hold what a client that takes the executor over is not to see. Sources: the lists of variables of Mesa and of NVIDIA's driver. */
static bool is_inherited(const char *variable)
{
    static const char *const names[] = {
        "AEROGPU_", "VK_",    "LD_",     "XDG_",   "PATH=",  "HOME=",    "LANG=",    "TZ=",
        "ASAN_",    "LSAN_",  "TSAN_",   "UBSAN_", "MESA_",  "GALLIUM_", "LIBGL_",   "DRI_",
        "NIR_",     "LP_",    "LVP_",    "RADV_",  "ACO_",   "AMD_",     "AMDVLK_",  "INTEL_",
        "ANV_",     "HASVK_", "NVIDIA_", "__GL",   "__NV",   "__VK",     "NVK_",     "NAK_",
        "NOUVEAU_", "TU_",    "FD_",     "IR3_",   "PAN_",   "PANVK_",   "BIFROST_", "V3D_",
        "V3DV_",    "PVR_",   "AGX_",    "HK_",    "ASAHI_", "VN_",      "DZN_"};

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (!strncmp(variable, names[i], strlen(names[i])))
            return strncmp(variable, "MESA_SHADER_CACHE_DISABLE=", 26) != 0;
    return false;
}

/* Mesa must not look for its cache: the process may not open files.
 *
 * Software devices take many small pieces of memory for each draw, and give them all back behind the frame. glibc's free lists of a thread
 * have seven places for each size; what is more it joins, and divides it again for the next frame, which was a third of the time of
 * the thread that records. */
static char **environment(void)
{
    static char no_cache[] = "MESA_SHADER_CACHE_DISABLE=true";
    static char heap[] = "GLIBC_TUNABLES=glibc.malloc.tcache_count=4096";
    size_t n = 0, k = 0;
    char **env;

    while (environ[n])
        n++;
    env = malloc((n + 3) * sizeof(*env));
    if (!env)
        return NULL;
    for (size_t i = 0; i < n; i++)
        if (is_inherited(environ[i]))
            env[k++] = environ[i];
    env[k++] = no_cache;
    env[k++] = heap;
    env[k] = NULL;
    return env;
}

static int add_actions(posix_spawn_file_actions_t *fa, const int fds[4])
{
    int r = posix_spawn_file_actions_addopen(fa, 0, "/dev/null", O_RDONLY, 0);

    for (int i = 1; i <= 2 && !r; i++) /* what a library prints belongs to the log */
        r = posix_spawn_file_actions_adddup2(fa, fds[3], i);
    for (int i = 0; i < 3 && !r; i++)
        r = posix_spawn_file_actions_adddup2(fa, fds[i], EXEC_FD_SHARED + i);
    return r ? r : posix_spawn_file_actions_addclosefrom_np(fa, EXEC_FD_END);
}

static int add_attributes(posix_spawnattr_t *attr)
{
    sigset_t none, all;

    sigemptyset(&none);
    sigfillset(&all);
    posix_spawnattr_setsigmask(attr, &none);
    posix_spawnattr_setsigdefault(attr, &all);
    /* The terminal's ^C is for the host. And who shares processors out by session (sched(7), the autogroup feature) gives each
     * client's executor a share of its own, which the host and the other executors do not pay. */
    return posix_spawnattr_setflags(attr,
                                    POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSID);
}

static int start(struct exec_child *c, const char *path, const int fds[4])
{
    static char name[] = "aerogpu-executor";
    char *argv[] = {name, NULL}, **env = environment();
    posix_spawn_file_actions_t fa;
    posix_spawnattr_t attr;
    int r;

    if (!env)
        return ENOMEM;
    r = posix_spawn_file_actions_init(&fa);
    if (r)
        goto out_env;
    r = posix_spawnattr_init(&attr);
    if (r)
        goto out_actions;
    r = add_actions(&fa, fds);
    if (!r)
        r = add_attributes(&attr);
    if (!r)
        r = posix_spawn(&c->pid, path, &fa, &attr, argv, env);
    posix_spawnattr_destroy(&attr);
out_actions:
    posix_spawn_file_actions_destroy(&fa);
out_env:
    free(env);
    return r;
}

int exec_spawn(struct exec_child *out, const struct exec_spawn_params *p, struct error *e)
{
    struct exec_child c = {.pidfd = -1, .control = -1, .words = -1};
    int shared = shared_create(&c.shared, p), pair[2] = {-1, -1}, words[2] = {-1, -1},
        fds[4] = {-1, -1, -1, -1};
    int r = -shared;
    const int *const sources[4] = {&shared, &p->done_fd, &pair[1], &words[1]};

    *out = c;
    if (shared < 0)
        return error_set(e, -r, "cannot make the memory that is shared with the executor: %s", strerror(r));
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, pair)) {
        r = errno;
        goto out;
    }
    c.control = pair[0];
    if (pipe2(words, O_CLOEXEC)) {
        r = errno;
        goto out;
    }
    c.words = words[0];
    if (fcntl(words[0], F_SETFL, O_NONBLOCK)) {
        r = errno;
        goto out;
    }
    /* Out of the way of the numbers that they get there. */
    for (int i = 0; i < 4; i++) {
        fds[i] = fcntl(*sources[i], F_DUPFD_CLOEXEC, EXEC_FD_END);
        if (fds[i] < 0) {
            r = errno;
            goto out;
        }
    }
    r = start(&c, p->path, fds);
    if (r)
        goto out;
    c.pidfd = (int)syscall(SYS_pidfd_open, c.pid, 0);
    if (c.pidfd < 0) {
        r = errno;
        kill(c.pid, SIGKILL);
        waitpid(c.pid, NULL, 0);
    }
out:
    for (int i = 0; i < 4; i++)
        if (fds[i] >= 0)
            close(fds[i]);
    close(shared);
    if (pair[1] >= 0)
        close(pair[1]);
    if (words[1] >= 0)
        close(words[1]);
    if (r) {
        c.pid = 0;
        exec_shared_unmap(c.shared);
        c.shared = NULL;
        exec_child_close(&c);
        error_set(e, -r, "cannot start %.200s: %s", p->path, strerror(r));
    }
    *out = c;
    return -r;
}

void exec_child_close(struct exec_child *c)
{
    int *fds[] = {&c->pidfd, &c->control, &c->words};

    for (size_t i = 0; i < sizeof(fds) / sizeof(fds[0]); i++) {
        if (*fds[i] >= 0)
            close(*fds[i]);
        *fds[i] = -1;
    }
    c->pid = 0;
}

void exec_shared_unmap(struct exec_shared *shared)
{
    if (shared)
        munmap(shared, sizeof(*shared));
}
