/* SPDX-License-Identifier: MIT */
/* linux_call.h: system calls of the Linux below Wine, made from a Windows program: sockets that pass descriptors, shared
 * mappings and futexes, of which Wine offers none.
 *
 * The headers beside this one (sys/socket.h, sys/mman.h, ...) lead here, so that sources for Linux compile for Windows as
 * they are, under -Isrc/base/windows. Numbers and structures are the kernel's user interface for x86-64 and for i386 (which the
 * kernel answers in 32-bit code of any process); error numbers are Linux's, also where the C library's differ.
 */
#pragma once

#include <errno.h>
#include <io.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#undef ECONNRESET
#undef EBADMSG
#undef EMSGSIZE
#undef ENAMETOOLONG
#undef ENOTCONN
#undef EPROTO
#undef ETIMEDOUT
#define ENAMETOOLONG 36
#define EPROTO       71
#define EBADMSG      74
#define EMSGSIZE     90
#define ECONNRESET   104
#define ENOTCONN     107
#define ETIMEDOUT    110

/* Calls by number. Times are of 64 bits in both. */
#if defined(__x86_64__)
enum {
    LINUX_CLOSE = 3,
    LINUX_MMAP = 9,
    LINUX_MUNMAP = 11,
    LINUX_SOCKET = 41,
    LINUX_CONNECT = 42,
    LINUX_SENDMSG = 46,
    LINUX_RECVMSG = 47,
    LINUX_SETSOCKOPT = 54,
    LINUX_FUTEX = 202,
    LINUX_CLOCK_GETTIME = 228,
    LINUX_GETCPU = 309,
    LINUX_MMAP_UNIT = 1, /* of its offset, in bytes */
};
#elif defined(__i386__)
enum {
    LINUX_CLOSE = 6,
    LINUX_MUNMAP = 91,
    LINUX_MMAP = 192,
    LINUX_GETCPU = 318,
    LINUX_SOCKET = 359,
    LINUX_CONNECT = 362,
    LINUX_SETSOCKOPT = 366,
    LINUX_SENDMSG = 370,
    LINUX_RECVMSG = 372,
    LINUX_CLOCK_GETTIME = 403,
    LINUX_FUTEX = 422,
    LINUX_MMAP_UNIT = 4096,
};
#else
#error "x86-64 and i386 only"
#endif

static inline intptr_t linux_call(int nr, uintptr_t a, uintptr_t b, uintptr_t c, uintptr_t d, uintptr_t e,
                                  uintptr_t f)
{
    intptr_t ret;

#if defined(__x86_64__)
    register uint64_t r10 __asm__("r10") = d;
    register uint64_t r8 __asm__("r8") = e;
    register uint64_t r9 __asm__("r9") = f;

    __asm__ volatile("syscall"
                     : "=a"(ret)
                     : "a"((intptr_t)nr), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
                     : "rcx", "r11", "memory");
#else
    /* The sixth goes in the frame's register, which no operand may name. */
    const uintptr_t first_and_last[2] = {(uintptr_t)nr, f};

    __asm__ volatile("pushl %%ebp\n\tmovl 4(%%eax), %%ebp\n\tmovl (%%eax), %%eax\n\tint $0x80\n\tpopl %%ebp"
                     : "=a"(ret)
                     : "a"(first_and_last), "b"(a), "c"(b), "d"(c), "S"(d), "D"(e)
                     : "memory");
#endif
    if (ret < 0 && ret > -4096) {
        errno = (int)-ret;
        return -1;
    }
    return ret;
}

/* ---- descriptors and sockets --------------------------------------------- */

#define AF_UNIX          1
#define SOCK_SEQPACKET   5
#define SOCK_CLOEXEC     02000000
#define SOL_SOCKET       1
#define SO_SNDBUF        7
#define SCM_RIGHTS       1
#define SCM_CREDENTIALS  2
#define MSG_CTRUNC       0x8
#define MSG_TRUNC        0x20
#define MSG_NOSIGNAL     0x4000
#define MSG_CMSG_CLOEXEC 0x40000000

typedef uint16_t sa_family_t;

struct sockaddr {
    sa_family_t sa_family;
    char sa_data[14];
};

struct sockaddr_un {
    sa_family_t sun_family;
    char sun_path[108];
};

struct iovec {
    void *iov_base;
    size_t iov_len;
};

struct msghdr {
    void *msg_name;
    uint32_t msg_namelen;
    struct iovec *msg_iov;
    size_t msg_iovlen;
    void *msg_control;
    size_t msg_controllen;
    int msg_flags;
};

struct ucred {
    int pid;
    unsigned uid, gid;
};

struct cmsghdr {
    size_t cmsg_len;
    int cmsg_level, cmsg_type;
};

#define CMSG_ALIGN(n) (((n) + sizeof(size_t) - 1) & ~(sizeof(size_t) - 1))
#define CMSG_SPACE(n) (sizeof(struct cmsghdr) + CMSG_ALIGN(n))
#define CMSG_LEN(n)   (sizeof(struct cmsghdr) + (n))
#define CMSG_DATA(c)  ((unsigned char *)((c) + 1))
#define CMSG_FIRSTHDR(m)                                                                                     \
    ((m)->msg_controllen >= sizeof(struct cmsghdr) ? (struct cmsghdr *)(m)->msg_control : NULL)
#define CMSG_NXTHDR(m, c) linux_next_cmsg(m, c)

static inline struct cmsghdr *linux_next_cmsg(const struct msghdr *m, const struct cmsghdr *c)
{
    size_t at = (size_t)((const char *)c - (const char *)m->msg_control), step = CMSG_ALIGN(c->cmsg_len);

    if (c->cmsg_len < sizeof(*c) || step > m->msg_controllen - at ||
        m->msg_controllen - at - step < sizeof(*c))
        return NULL;
    return (struct cmsghdr *)((char *)m->msg_control + at + step);
}

static inline int linux_close(int fd)
{
    return (int)linux_call(LINUX_CLOSE, (uintptr_t)fd, 0, 0, 0, 0, 0);
}
#define close linux_close

static inline int socket(int domain, int type, int protocol)
{
    return (int)linux_call(LINUX_SOCKET, (uintptr_t)domain, (uintptr_t)type, (uintptr_t)protocol, 0, 0, 0);
}

static inline int connect(int fd, const struct sockaddr *address, size_t size)
{
    return (int)linux_call(LINUX_CONNECT, (uintptr_t)fd, (uintptr_t)address, size, 0, 0, 0);
}

static inline int setsockopt(int fd, int level, int name, const void *value, size_t size)
{
    return (int)linux_call(LINUX_SETSOCKOPT, (uintptr_t)fd, (uintptr_t)level, (uintptr_t)name,
                           (uintptr_t)value, size, 0);
}

static inline ssize_t sendmsg(int fd, const struct msghdr *m, int flags)
{
    return (ssize_t)linux_call(LINUX_SENDMSG, (uintptr_t)fd, (uintptr_t)m, (uintptr_t)flags, 0, 0, 0);
}

static inline ssize_t recvmsg(int fd, struct msghdr *m, int flags)
{
    return (ssize_t)linux_call(LINUX_RECVMSG, (uintptr_t)fd, (uintptr_t)m, (uintptr_t)flags, 0, 0, 0);
}

/* ---- memory -------------------------------------------------------------- */

#define PROT_READ  1
#define PROT_WRITE 2
#define MAP_SHARED 1
#define MAP_FAILED ((void *)-1)

static inline void *mmap(void *at, size_t size, int prot, int flags, int fd, int64_t offset)
{
    return (void *)linux_call(LINUX_MMAP, (uintptr_t)at, size, (uintptr_t)prot, (uintptr_t)flags,
                              (uintptr_t)fd, (uintptr_t)(offset / LINUX_MMAP_UNIT));
}

static inline int munmap(void *at, size_t size)
{
    return (int)linux_call(LINUX_MUNMAP, (uintptr_t)at, size, 0, 0, 0, 0);
}

/* ---- time, processors, waiting ------------------------------------------- */

#define SYS_futex  LINUX_FUTEX
#define FUTEX_WAIT 0

struct linux_timespec {
    int64_t tv_sec, tv_nsec;
};

static inline int linux_clock_gettime(int clock, struct timespec *out)
{
    struct linux_timespec t = {0, 0};
    int r = (int)linux_call(LINUX_CLOCK_GETTIME, (uintptr_t)clock, (uintptr_t)&t, 0, 0, 0, 0);

    out->tv_sec = t.tv_sec;
    out->tv_nsec = (long)t.tv_nsec;
    return r;
}
#undef CLOCK_MONOTONIC
#define CLOCK_MONOTONIC 1
#define clock_gettime   linux_clock_gettime

static inline int linux_getcpu(void)
{
    uint32_t cpu = 0;

    return linux_call(LINUX_GETCPU, (uintptr_t)&cpu, 0, 0, 0, 0, 0) < 0 ? -1 : (int)cpu;
}
#define sched_getcpu linux_getcpu

/* syscall(SYS_futex, ...), the only one that is asked for by number. */
static inline int linux_futex(int nr, const volatile void *word, int op, uint32_t value,
                              const struct timespec *timeout)
{
    struct linux_timespec t = {timeout->tv_sec, timeout->tv_nsec};

    return (int)linux_call(nr, (uintptr_t)word, (uintptr_t)op, value, (uintptr_t)&t, 0, 0);
}
#define syscall(nr, word, op, value, timeout, word2, value3) linux_futex(nr, word, op, value, timeout)

/* Windows has no fork. */
#undef pthread_atfork
#define pthread_atfork(prepare, parent, child) ((void)(child))
