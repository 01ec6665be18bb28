/* SPDX-License-Identifier: MIT */
#include "lose/door.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

static socklen_t name_of(struct sockaddr_un *a, int pid, int record_fd)
{
    *a = (struct sockaddr_un){.sun_family = AF_UNIX};
    snprintf(a->sun_path + 1, sizeof(a->sun_path) - 1, "aerogpu-lose-%d-%d", pid, record_fd);
    return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + strlen(a->sun_path + 1));
}

int door_open(pid_t pid, int record_fd)
{
    struct sockaddr_un a;
    socklen_t n = name_of(&a, (int)pid, record_fd);
    int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

    if (fd >= 0 && !bind(fd, (struct sockaddr *)&a, n) && !listen(fd, 16))
        return fd;
    n = (socklen_t)errno;
    if (fd >= 0)
        close(fd);
    return -(int)n;
}

static void give(int to, int record_fd)
{
    char byte = 0;
    union {
        struct cmsghdr head;
        char bytes[CMSG_SPACE(sizeof(int))];
    } control = {0};
    struct iovec data = {&byte, 1};
    struct msghdr m = {
        .msg_iov = &data, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof(control)};

    control.head = (struct cmsghdr){CMSG_LEN(sizeof(int)), SOL_SOCKET, SCM_RIGHTS};
    memcpy(CMSG_DATA(&control.head), &record_fd, sizeof(int));
    sendmsg(to, &m, MSG_NOSIGNAL | MSG_DONTWAIT);
}

void door_answer(int door, int record_fd, bool (*may)(void *ctx, pid_t pid), void *ctx)
{
    int to;

    while (door >= 0 && (to = accept4(door, NULL, NULL, SOCK_CLOEXEC)) >= 0) {
        struct ucred who;
        socklen_t n = sizeof(who);

        if (!getsockopt(to, SOL_SOCKET, SO_PEERCRED, &who, &n) && may(ctx, who.pid))
            give(to, record_fd);
        close(to);
    }
}

static int take(int from)
{
    char byte;
    int fd = -1;
    union {
        struct cmsghdr head;
        char bytes[CMSG_SPACE(sizeof(int))];
    } control;
    struct iovec data = {&byte, 1};
    struct msghdr m = {
        .msg_iov = &data, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof(control)};

    if (recvmsg(from, &m, MSG_CMSG_CLOEXEC) == 1 && m.msg_controllen >= CMSG_LEN(sizeof(int)) &&
        control.head.cmsg_type == SCM_RIGHTS)
        memcpy(&fd, CMSG_DATA(&control.head), sizeof(int));
    return fd;
}

int door_ask(const char *path)
{
    struct timeval limit = {.tv_sec = 2};
    struct sockaddr_un a;
    int pid, record_fd, s, fd = -1;
    socklen_t n;

    if (sscanf(path, "/proc/%d/fd/%d", &pid, &record_fd) != 2)
        return -1;
    n = name_of(&a, pid, record_fd);
    s = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    if (s < 0)
        return -1;
    setsockopt(s, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
    if (!connect(s, (struct sockaddr *)&a, n))
        fd = take(s);
    close(s);
    return fd;
}
