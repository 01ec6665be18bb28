/* SPDX-License-Identifier: MIT */
#include "vkbox/run/end.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* include/uapi/linux/pidfd.h, which older headers have not. */
struct info {
    uint64_t mask, cgroup;
    uint32_t ids[11];
    int32_t exit_code;
};
#define GET_INFO  _IOWR(0xFF, 11, struct info)
#define INFO_EXIT UINT64_C(8)

void end_begin(struct end *e, pid_t pid)
{
    *e = (struct end){.fd = pid > 0 ? (int)syscall(SYS_pidfd_open, pid, 0) : -1};
    e->gone = pid <= 0 || (e->fd < 0 && errno == ESRCH);
}

/* It has ended, and its parent has not asked: its number is its own still. */
static void look_at_zombie(struct end *e, pid_t pid)
{
    char path[64], text[1024], *at;
    ssize_t n;
    int fd;

    snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
    fd = open(path, O_RDONLY | O_CLOEXEC);
    n = fd >= 0 ? read(fd, text, sizeof(text) - 1) : -1;
    if (fd >= 0)
        close(fd);
    if (n <= 0 || syscall(SYS_pidfd_send_signal, e->fd, 0, NULL, 0))
        return;
    text[n] = '\0';
    at = strrchr(text, ')'); /* the name in front of it may hold anything */
    if (!at || strncmp(at, ") Z", 3) || !(at = strrchr(text, ' ')))
        return;
    e->status = atoi(at);
    e->known = e->status != 0; /* which it says as well to who may not know */
}

bool end_look(struct end *e, pid_t pid)
{
    struct pollfd p = {.fd = e->fd, .events = POLLIN};
    struct info info = {.mask = INFO_EXIT};

    if (e->fd < 0 || e->known)
        return e->gone;
    e->gone = e->gone || poll(&p, 1, 0) > 0;
    if (e->gone && !ioctl(e->fd, GET_INFO, &info) && info.mask & INFO_EXIT)
        end_tell(e, info.exit_code);
    else if (e->gone)
        look_at_zombie(e, pid);
    return e->gone;
}

void end_tell(struct end *e, int status)
{
    e->gone = e->known = true;
    e->status = status;
}

void end_finish(struct end *e)
{
    if (e->fd >= 0)
        close(e->fd);
    e->fd = -1;
}

bool end_was_asked(int status)
{
    static const int signals[] = {SIGHUP, SIGINT, SIGQUIT, SIGPIPE, SIGTERM};

    for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++)
        if (WIFSIGNALED(status) && WTERMSIG(status) == signals[i])
            return true;
    return false;
}

uint64_t end_oom_kills(void)
{
    FILE *f = fopen("/proc/vmstat", "re");
    unsigned long long n = 0;
    char line[128], whole[16384]; /* the kernel counts everything at each read */

    if (f)
        setvbuf(f, whole, _IOFBF, sizeof(whole));
    while (f && fgets(line, sizeof(line), f))
        if (sscanf(line, "oom_kill %llu", &n) == 1)
            break;
    if (f)
        fclose(f);
    return n;
}

int end_of_launcher(bool signalled, int code)
{
    if (signalled)
        return code;
    return code > 128 && code <= 128 + 64 ? code - 128 : code << 8;
}
