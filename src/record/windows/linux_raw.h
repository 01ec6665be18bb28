/* SPDX-License-Identifier: MIT */
/* linux_raw.h: the few system calls of dirty_kernel.c, made from a Windows program that runs under Wine on Linux: Wine
 * offers none of them, and its own write watch does not cover the memory that graphics APIs hand out. Numbers and
 * structs are the kernel's user interface; structs are the same for programs of 32 bits. */
#pragma once

#include <errno.h>
#include <io.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <windows.h>

#ifdef __x86_64__
#define SYS_close       3
#define SYS_ioctl       16
#define SYS_openat      257
#define SYS_userfaultfd 323
#else
#define SYS_close       6
#define SYS_ioctl       54
#define SYS_openat      295
#define SYS_userfaultfd 374
#endif
#define AT_FDCWD (-100)
#undef O_RDONLY
#define O_RDONLY   0
#define O_NONBLOCK 04000
#define O_CLOEXEC  02000000

#define IOC(dir, type, nr, size)                                                                             \
    ((unsigned)(dir) << 30 | (unsigned)(size) << 16 | (unsigned)(type) << 8 | (unsigned)(nr))
#undef _IOR
#undef _IOWR
#define _IOR(type, nr, what)  IOC(2, type, nr, sizeof(what))
#define _IOWR(type, nr, what) IOC(3, type, nr, sizeof(what))

struct uffdio_api {
    uint64_t api, features, ioctls;
};

struct uffdio_range {
    uint64_t start, len;
};

struct uffdio_register {
    struct uffdio_range range;
    uint64_t mode, ioctls;
};

struct uffdio_writeprotect {
    struct uffdio_range range;
    uint64_t mode;
};

#define UFFD_API                    0xAA
#define UFFDIO_API                  _IOWR(0xAA, 0x3F, struct uffdio_api)
#define UFFDIO_REGISTER             _IOWR(0xAA, 0x00, struct uffdio_register)
#define UFFDIO_UNREGISTER           _IOR(0xAA, 0x01, struct uffdio_range)
#define UFFDIO_WRITEPROTECT         _IOWR(0xAA, 0x06, struct uffdio_writeprotect)
#define UFFDIO_REGISTER_MODE_WP     2
#define UFFDIO_WRITEPROTECT_MODE_WP 1

static inline intptr_t linux_call(intptr_t nr, uintptr_t a, uintptr_t b, uintptr_t c, uintptr_t d)
{
    intptr_t ret;

#ifdef __x86_64__
    register uintptr_t r10 __asm__("r10") = d;

    __asm__ volatile("syscall"
                     : "=a"(ret)
                     : "a"(nr), "D"(a), "S"(b), "d"(c), "r"(r10)
                     : "rcx", "r11", "memory");
#else
    __asm__ volatile("int $0x80" : "=a"(ret) : "a"(nr), "b"(a), "c"(b), "d"(c), "S"(d) : "memory");
#endif
    if (ret < 0) {
        errno = (int)-ret;
        return -1;
    }
    return ret;
}

#define syscall(nr, flags)    linux_call(nr, flags, 0, 0, 0)
#define ioctl(fd, request, p) linux_call(SYS_ioctl, (uintptr_t)(fd), request, (uintptr_t)(p), 0)
#define open(path, flags)     (int)linux_call(SYS_openat, (uintptr_t)AT_FDCWD, (uintptr_t)(path), flags, 0)
#define close(fd)             linux_call(SYS_close, (uint64_t)(fd), 0, 0, 0)

/* Wine says so itself; on Windows the call below would be another one. */
static inline bool linux_below(void)
{
    void(CDECL * host)(const char **sysname, const char **release) =
        (void *)GetProcAddress(GetModuleHandleA("ntdll.dll"), "wine_get_host_version");
    const char *name = "";

    if (host)
        host(&name, NULL);
    return !strcmp(name, "Linux");
}
