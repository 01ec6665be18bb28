/* vblanks.c: what clients see of vblanks without a call (dxgkrnl/progress.h). The page is made when the first of them waits. */
#include "dxgkrnl/private.h"

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

_Static_assert((int)DXGK_VBLANK_SOURCES == (int)MAX_SOURCES, "every source has its place");

/* Returns how many waited. */
static long wake(struct dxgk_vblanks *v, unsigned source)
{
    v->source[source].change++;
    return syscall(SYS_futex, &v->source[source].change, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

static bool is_on(const struct dxgk *d, unsigned source)
{
    const struct source *s = &d->sources[source];

    return d->state == DXGK_STARTED && !d->resetting && d->vsync_enabled && s->committed && s->visible;
}

static void publish(const struct dxgk *d, unsigned source)
{
    struct dxgk_vblanks *v = d->vblanks;
    uint64_t zero, period = display_grid(&d->sources[source], &zero);

    v->source[source].zero_ns = zero;
    v->source[source].period_ns = (uint32_t)period;
    v->source[source].count = d->sources[source].vblanks;
}

bool vblanks_tick(struct dxgk *d, unsigned source)
{
    if (!d->vblanks)
        return false;
    publish(d, source);
    return wake(d->vblanks, source) > 0;
}

void vblanks_changed(struct dxgk *d)
{
    struct dxgk_vblanks *v = d->vblanks;

    if (!v)
        return;
    if (!++v->epoch)
        v->epoch++;
    for (unsigned i = 0; i < d->num_sources; i++) {
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
    if (!ftruncate(fd, sizeof(*d->vblanks)))
        p = mmap(NULL, sizeof(*d->vblanks), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (p == MAP_FAILED ||
        fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_FUTURE_WRITE | F_SEAL_SEAL)) {
        r = -errno;
        if (p != MAP_FAILED)
            munmap(p, sizeof(*d->vblanks));
        close(fd);
        return r;
    }
    d->vblanks = p;
    d->vblanks_fd = fd;
    vblanks_changed(d);
    return 0;
}

int dxgk_vblanks_fd(struct dxgk_client *c, uint64_t *size)
{
    struct dxgk *d = c->d;
    int r;

    kernel_enter(d->kernel);
    r = d->vblanks ? 0 : make(d);
    kernel_leave(d->kernel);
    *size = sizeof(*d->vblanks);
    return r ? r : d->vblanks_fd;
}

void vblanks_finish(struct dxgk *d)
{
    if (!d->vblanks)
        return;
    munmap(d->vblanks, sizeof(*d->vblanks));
    close(d->vblanks_fd);
    d->vblanks = NULL;
}
