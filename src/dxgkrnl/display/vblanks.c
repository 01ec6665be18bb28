/* SPDX-License-Identifier: MIT */
/* vblanks.c: what clients see of vblanks without a call (dxgkrnl/progress.h). The page is made when the first of them waits. */
#include "dxgkrnl/adapter.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef F_SEAL_FUTURE_WRITE
#define F_SEAL_FUTURE_WRITE 0x0010
#endif

/* Returns how many waited. */
static long wake(struct dxgk_vblanks *v, unsigned source)
{
    v->source[source].change++;
    return syscall(SYS_futex, &v->source[source].change, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

static bool is_on(const struct dxgk *d, unsigned source)
{
    const struct source *s = &d->display.sources[source];

    return d->state == DXGK_STARTED && !d->resetting && d->display.vsync_enabled && s->committed &&
           s->visible;
}

static void publish(const struct dxgk *d, unsigned source)
{
    struct dxgk_vblanks *v = d->display.vblanks;
    const struct grid *g = &d->display.sources[source].grid;

    v->source[source].zero_ns = dxgk_grid_zero(g);
    v->source[source].period_ns = g->ns ? (uint32_t)g->period_ns : 0;
    v->source[source].count = d->display.sources[source].vblanks;
}

bool dxgk_vblanks_tick(struct dxgk *d, unsigned source)
{
    if (!d->display.vblanks)
        return false;
    publish(d, source);
    return wake(d->display.vblanks, source) > 0;
}

void dxgk_vblanks_changed(struct dxgk *d)
{
    struct dxgk_vblanks *v = d->display.vblanks;

    if (!v)
        return;
    if (!++v->epoch)
        v->epoch++;
    for (unsigned i = 0; i < d->display.num_sources; i++) {
        INVARIANT(v->epoch);
        publish(d, i);
        v->source[i].on = is_on(d, i);
        wake(v, i);
    }
}

static int make(struct dxgk *d)
{
    void *p = MAP_FAILED;
    int fd = memfd_create("d3dkmt-vblanks", MFD_CLOEXEC | MFD_ALLOW_SEALING), r;

    if (fd < 0)
        return -errno;
    if (!ftruncate(fd, sizeof(*d->display.vblanks)))
        p = mmap(NULL, sizeof(*d->display.vblanks), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (p == MAP_FAILED ||
        fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_FUTURE_WRITE | F_SEAL_SEAL)) {
        r = -errno;
        if (p != MAP_FAILED)
            munmap(p, sizeof(*d->display.vblanks));
        close(fd);
        return r;
    }
    d->display.vblanks = p;
    d->display.vblanks_fd = fd;
    dxgk_vblanks_changed(d);
    return 0;
}

int dxgk_vblanks_fd(struct dxgk_client *c, uint64_t *size)
{
    struct dxgk *d = c->d;
    int r;

    dxgk_kernel_enter(d->kernel);
    r = d->display.vblanks ? 0 : make(d);
    dxgk_kernel_leave(d->kernel);
    *size = sizeof(*d->display.vblanks);
    return r ? r : d->display.vblanks_fd;
}

void dxgk_vblanks_finish(struct dxgk *d)
{
    if (!d->display.vblanks)
        return;
    munmap(d->display.vblanks, sizeof(*d->display.vblanks));
    close(d->display.vblanks_fd);
    d->display.vblanks = NULL;
}
