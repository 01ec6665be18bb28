/* SPDX-License-Identifier: MIT */
/* The kernel's half for lose_drm_client, where there is no graphics card: it accepts every ioctl of DRM. Loaded behind the library
 * that is tested, which takes it for the C library's. */
#include <stdarg.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#pragma GCC visibility push(default)
int ioctl(int fd, unsigned long request, ...);
#pragma GCC visibility pop

int ioctl(int fd, unsigned long request, ...)
{
    va_list ap;
    void *arg;

    va_start(ap, request);
    arg = va_arg(ap, void *);
    va_end(ap);
    return _IOC_TYPE(request) == 'd' ? 0 : (int)syscall(SYS_ioctl, fd, request, arg);
}
