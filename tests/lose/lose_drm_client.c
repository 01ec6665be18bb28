/* SPDX-License-Identifier: MIT */
/* A compositor without a graphics card, by libdrm: it flips pages, every third by an atomic commit that it tests before, and reacts to an
 * error in the way that its argument names.
 *
 *   retry    tries again 5 ms later        exit, abort    ends, saying what the error was
 *   pause    does nothing any more         deaf           goes on, whatever it is told
 *   numbers  prints the ioctls that it knows, by number
 */
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <xf86drm.h>
#include <xf86drmMode.h>

#include "lose/drm_table.h"

static int show(int fd, unsigned i, drmModeAtomicReq *request)
{
    int r;

    if (i % 3)
        return drmModePageFlip(fd, 1, 1, DRM_MODE_PAGE_FLIP_EVENT, NULL);
    drmModeAtomicSetCursor(request, 0);
    drmModeAtomicAddProperty(request, 1, 1, i);
    r = drmModeAtomicCommit(fd, request, DRM_MODE_ATOMIC_TEST_ONLY, NULL);
    return r ? r : drmModeAtomicCommit(fd, request, DRM_MODE_ATOMIC_NONBLOCK, NULL);
}

/* The table's numbers are the header's. */
static int compare_numbers(void)
{
    int wrong = 0;

#define ROW(name, nr) wrong += _IOC_NR(name) != (nr) && printf("%s is %u\n", #name, (unsigned)_IOC_NR(name));
    LOSE_DRM_IOCTLS(ROW)
#undef ROW
    return wrong || DRM_COMMAND_BASE != LOSE_DRM_FIRST_OF_DRIVER || DRM_COMMAND_END != LOSE_DRM_END_OF_DRIVER;
}

int main(int argc, char **argv)
{
    const char *how = argc > 1 ? argv[1] : "retry";
    drmModeAtomicReq *request = drmModeAtomicAlloc();
    int fd = open("/dev/null", O_RDWR);

    if (!strcmp(how, "numbers"))
        return compare_numbers();
    for (unsigned i = 1;; i++) {
        uint32_t handle;
        int r = show(fd, i, request);

        if (!r && i % 16 == 0)
            drmPrimeFDToHandle(fd, fd, &handle);
        usleep(5000);
        if (!r || !strcmp(how, "retry") || !strcmp(how, "deaf"))
            continue;
        fprintf(stderr, "lose_drm_client: %s\n", strerror(-r));
        if (!strcmp(how, "abort"))
            abort();
        while (!strcmp(how, "pause"))
            pause();
        return 5;
    }
}
