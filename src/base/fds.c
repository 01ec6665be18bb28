/* SPDX-License-Identifier: MIT */
#include "base/fds.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

union control {
    char bytes[CMSG_SPACE(FDS_MAX * sizeof(int)) + CMSG_SPACE(sizeof(struct ucred))];
    struct cmsghdr align;
};

ssize_t fds_send(int socket, const void *bytes, size_t size, const int *fds, size_t num, int flags)
{
    struct iovec iov = {(void *)bytes, size};
    struct msghdr m = {.msg_iov = &iov, .msg_iovlen = 1};
    union control control;
    ssize_t n;

    if (num > FDS_MAX)
        return -E2BIG;
    if (num) {
        struct cmsghdr *c = &control.align;

        memset(&control, 0, CMSG_SPACE(num * sizeof(int)));
        m.msg_control = control.bytes;
        m.msg_controllen = CMSG_SPACE(num * sizeof(int));
        c->cmsg_level = SOL_SOCKET;
        c->cmsg_type = SCM_RIGHTS;
        c->cmsg_len = CMSG_LEN(num * sizeof(int));
        memcpy(CMSG_DATA(c), fds, num * sizeof(int));
    }
    do
        n = sendmsg(socket, &m, flags | MSG_NOSIGNAL);
    while (n < 0 && errno == EINTR);
    return n < 0 ? -errno : n;
}

/* Hands out the first `max` descriptors and closes the rest; how many came in all. */
static size_t take(struct msghdr *m, int *fds, size_t max, pid_t *sender)
{
    struct ucred from;
    size_t num = 0;

    for (struct cmsghdr *c = CMSG_FIRSTHDR(m); c; c = CMSG_NXTHDR(m, c)) {
        if (c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_CREDENTIALS && sender) {
            memcpy(&from, CMSG_DATA(c), sizeof(from));
            *sender = from.pid;
        }
        if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS)
            continue;
        for (size_t at = 0; CMSG_LEN(at + sizeof(int)) <= c->cmsg_len; at += sizeof(int), num++) {
            int fd;

            memcpy(&fd, CMSG_DATA(c) + at, sizeof(fd));
            if (num < max)
                fds[num] = fd;
            else
                close(fd);
        }
    }
    return num;
}

ssize_t fds_receive(int socket, void *bytes, size_t size, int *fds, size_t *num, int flags)
{
    return fds_receive_from(socket, bytes, size, fds, num, flags, NULL);
}

ssize_t fds_receive_from(int socket, void *bytes, size_t size, int *fds, size_t *num, int flags,
                         pid_t *sender)
{
    struct iovec iov = {bytes, size};
    union control control;
    struct msghdr m = {
        .msg_iov = &iov, .msg_iovlen = 1, .msg_control = control.bytes, .msg_controllen = sizeof(control)};
    const size_t max = *num;
    int reset = 0;
    ssize_t n;

    *num = 0;
    do
        n = recvmsg(socket, &m, flags | MSG_CMSG_CLOEXEC);
    while (n < 0 && (errno == EINTR || (errno == ECONNRESET && !reset++)));
    if (n < 0)
        return -errno;
    *num = take(&m, fds, max, sender);
    if (*num <= max && !(m.msg_flags & (MSG_TRUNC | MSG_CTRUNC)))
        return n;
    n = *num > max ? -E2BIG : m.msg_flags & MSG_TRUNC ? -EMSGSIZE : -EBADMSG;
    for (size_t i = 0; i < *num && i < max; i++)
        close(fds[i]);
    *num = 0;
    return n;
}
