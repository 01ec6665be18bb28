/* SPDX-License-Identifier: MIT */
/* dirty_kernel.c: DIRTY_KERNEL. Debian 12's headers are older than the interface, so its few numbers stand here. */
#include <errno.h>
#ifdef _WIN32
#include "record/windows/linux_raw.h" /* under Wine */
#else
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

#include "record/dirty/dirty_internal.h"

#ifndef UFFD_USER_MODE_ONLY
#define UFFD_USER_MODE_ONLY 1
#endif
#define FEATURE_WP_UNPOPULATED (UINT64_C(1) << 13)
#define FEATURE_WP_ASYNC       (UINT64_C(1) << 15)

struct page_region {
    uint64_t start, end, categories;
};

struct pm_scan_arg {
    uint64_t size, flags, start, end, walk_end, vec, vec_len, max_pages;
    uint64_t category_inverted, category_mask, category_anyof_mask, return_mask;
};

#define PAGEMAP_SCAN_NR       _IOWR('f', 16, struct pm_scan_arg)
#define PM_SCAN_WP_MATCHING   1
#define PM_SCAN_CHECK_WPASYNC 2
#define PAGE_IS_WRITTEN       2

#define RUNS 512

static int open_(struct dirty *d)
{
    struct uffdio_api api = {.api = UFFD_API, .features = FEATURE_WP_ASYNC | FEATURE_WP_UNPOPULATED};

#ifdef _WIN32
    if (!linux_below())
        return -ENOSYS;
#endif
    d->fd = (int)syscall(SYS_userfaultfd, O_CLOEXEC | O_NONBLOCK | UFFD_USER_MODE_ONLY);
    if (d->fd < 0)
        return -errno;
    if (ioctl(d->fd, UFFDIO_API, &api) || (api.features & (FEATURE_WP_ASYNC | FEATURE_WP_UNPOPULATED)) !=
                                              (FEATURE_WP_ASYNC | FEATURE_WP_UNPOPULATED))
        goto no;
    d->pagemap = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
    if (d->pagemap < 0)
        goto no;
    return 0;
no:
    close(d->fd);
    d->fd = -1;
    return -ENOSYS;
}

static void close_(struct dirty *d)
{
    if (d->fd >= 0)
        close(d->fd);
    if (d->pagemap >= 0)
        close(d->pagemap);
}

static int arm(struct dirty *d, struct dirty_span *s)
{
    struct uffdio_register r = {.range = {s->start, s->end - s->start}, .mode = UFFDIO_REGISTER_MODE_WP};
    struct uffdio_writeprotect w = {.range = {s->start, s->end - s->start},
                                    .mode = UFFDIO_WRITEPROTECT_MODE_WP};

    if (ioctl(d->fd, UFFDIO_REGISTER, &r) || ioctl(d->fd, UFFDIO_WRITEPROTECT, &w))
        return -errno;
    return 0;
}

static int add(struct dirty *d, struct dirty_span *s)
{
    int err = arm(d, s);

    if (!err)
        return 0;
    s->hashing = true; /* memory that cannot be registered: compare it */
    s->calm = 0;
    return hash_begin(s);
}

static void disarm(struct dirty *d, struct dirty_span *s)
{
    struct uffdio_range r = {s->start, s->end - s->start};

    ioctl(d->fd, UFFDIO_UNREGISTER, &r);
}

static void remove_(struct dirty *d, struct dirty_span *s)
{
    if (!s->hashing)
        disarm(d, s);
}

/* Back to the kernel's way after a few looks at which little had changed: armed before the last comparison, so that
 * nothing written in between is missed. */
static void compare(struct dirty *d, struct dirty_span *s, void (*fn)(void *ctx, struct dirty_run r),
                    void *ctx)
{
    size_t pages = (s->end - s->start) / DIRTY_PAGE, changed;

    if (s->calm >= 8) {
        s->calm = 0;
        s->hashing = arm(d, s) != 0;
    }
    changed = hash_collect(s, fn, ctx);
    s->calm = changed * 8 < pages ? s->calm + 1 : 0;
}

static int collect(struct dirty *d, struct dirty_span *s, void (*fn)(void *ctx, struct dirty_run r),
                   void *ctx)
{
    struct page_region v[RUNS];
    struct pm_scan_arg a = {.size = sizeof(a),
                            .flags = PM_SCAN_WP_MATCHING | PM_SCAN_CHECK_WPASYNC,
                            .start = s->start,
                            .end = s->end,
                            .vec = (uintptr_t)v,
                            .vec_len = RUNS,
                            .category_mask = PAGE_IS_WRITTEN,
                            .return_mask = PAGE_IS_WRITTEN};
    size_t changed = 0, pages = (s->end - s->start) / DIRTY_PAGE;

    if (s->hashing) {
        compare(d, s, fn, ctx);
        return 0;
    }
    while (a.start < s->end) {
        long n = ioctl(d->pagemap, PAGEMAP_SCAN_NR, &a);

        if (n < 0)
            return -errno;
        for (long i = 0; i < n; i++) {
            changed += (v[i].end - v[i].start) / DIRTY_PAGE;
            fn(ctx, (struct dirty_run){v[i].start, v[i].end});
        }
        a.start = a.walk_end;
    }
    if (pages >= 64 && changed * 4 > pages) {
        if (!hash_begin(s)) {
            disarm(d, s);
            s->hashing = true;
            s->calm = 0;
            /* what was written between the scan and the hashes would be lost: report all of it once */
            fn(ctx, (struct dirty_run){s->start, s->end});
        }
    }
    return 0;
}

#ifdef _WIN32
#define dirty_kernel dirty_linux /* dirty_windows.c chooses between this and the system's own */
#endif

const struct dirty_ops dirty_kernel = {open_, close_, add, remove_, collect};
