/* SPDX-License-Identifier: MIT */
/* ioctl.c: what the kernel says to a compositor that shows by itself: a library that is loaded before the C library's, and stands
 * between libdrm (or who does without) and ioctl().
 *
 * 1. Loaded only where a fault is about an ioctl of DRM (run.c). Other ioctls go through.
 * 2. An ioctl that is answered here has not happened; its arguments are as they were.
 * 3. A device whose ioctls a process calls to set modes has a slot; its frames are what the kernel accepted.
 */
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>

#include "base/clock.h"
#include "lose/drm_table.h"
#include "lose/process.h"

enum { TYPE = 'd', ATOMIC_TEST_ONLY = 0x100 }; /* drm.h, drm_mode.h */

#define NUMBER(name, nr) name = nr,
enum { LOSE_DRM_IOCTLS(NUMBER) };
#undef NUMBER

typedef int ioctl_fn(int fd, unsigned long request, ...);

static struct {
    pthread_mutex_t lock;
    ioctl_fn *next;
    struct lose_device *slot;
    int number[LOSE_FAULTS]; /* of each fault; -1: it is none of DRM's; -2: all, -3: the driver's */
} drm = {.lock = PTHREAD_MUTEX_INITIALIZER};

static int number_of(const char *name)
{
#define ROW(row, nr) {#row, nr},
    static const struct {
        const char *name;
        int nr;
    } rows[] = {LOSE_DRM_IOCTLS(ROW){LOSE_DRM_ANY, -2}, {LOSE_DRM_OF_DRIVER, -3}};
#undef ROW
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        if (!strcmp(name, rows[i].name))
            return rows[i].nr;
    return -1;
}

static void init(void)
{
    drm.next = (ioctl_fn *)dlsym(RTLD_NEXT, "ioctl");
    lose_open_record();
    for (uint32_t i = 0; lose_record && i < LOSE_FAULTS; i++)
        drm.number[i] = i < lose_record->num_faults ? number_of(lose_record->fault[i].gl) : -1;
}

static struct lose_device *slot(void)
{
    struct lose_device *d;

    pthread_mutex_lock(&drm.lock);
    if (!drm.slot || atomic_load(&drm.slot->pid) != process_id()) /* of a parent */
        drm.slot = slot_take("DRM", LOSE_DRM, false);
    d = drm.slot;
    pthread_mutex_unlock(&drm.lock);
    return d;
}

static bool is_about(int number, int nr)
{
    return number == nr || number == -2 ||
           (number == -3 && nr >= LOSE_DRM_FIRST_OF_DRIVER && nr < LOSE_DRM_END_OF_DRIVER);
}

/* The errno that the ioctl answers; 0: it is to be done. */
static int answer(int nr)
{
    int code = 0;

    for (uint32_t i = 0; i < lose_record->num_faults && i < LOSE_FAULTS; i++) {
        struct lose_fault *f = &lose_record->fault[i];
        uint64_t ns = f->amount;

        if (drm.number[i] == -1)
            continue;
        if (f->what == LOSE_ANSWERS && f->result == LOSE_UNPLUGGED && atomic_load(&f->given)) {
            code = ENODEV;
            continue;
        }
        if (!is_about(drm.number[i], nr) || !fault_is_due(f))
            continue;
        if (f->what == LOSE_DELAYS)
            nanosleep(&(struct timespec){(time_t)(ns / NSEC_PER_SEC), (long)(ns % NSEC_PER_SEC)}, NULL);
        if (f->what == LOSE_CRASHES)
            raise(SIGSEGV);
        if (f->what == LOSE_ANSWERS)
            code = f->result == LOSE_UNPLUGGED ? ENODEV : f->result;
    }
    return code;
}

static bool shows(int nr, const uint32_t *arg)
{
    return nr == DRM_IOCTL_MODE_PAGE_FLIP || nr == DRM_IOCTL_MODE_SETCRTC || nr == DRM_IOCTL_MODE_DIRTYFB ||
           (nr == DRM_IOCTL_MODE_ATOMIC && arg && !(*arg & ATOMIC_TEST_ONLY));
}

static int of_drm(int fd, unsigned long request, void *arg)
{
    int nr = (int)_IOC_NR(request), code, r;
    struct lose_device *d = nr >= DRM_IOCTL_MODE_GETRESOURCES ? slot() : drm.slot;

    if (d)
        lose_called(d);
    code = answer(nr);
    if (code) {
        errno = code;
        return -1;
    }
    r = drm.next(fd, request, arg);
    if (!r && d && shows(nr, arg))
        slot_work(d, 1, 0, false);
    return r;
}

#pragma GCC visibility push(default)
int ioctl(int fd, unsigned long request, ...);
#pragma GCC visibility pop

int ioctl(int fd, unsigned long request, ...)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    va_list ap;
    void *arg;

    va_start(ap, request);
    arg = va_arg(ap, void *);
    va_end(ap);
    pthread_once(&once, init);
    if (!lose_record || _IOC_TYPE(request) != TYPE)
        return drm.next(fd, request, arg);
    return of_drm(fd, request, arg);
}
