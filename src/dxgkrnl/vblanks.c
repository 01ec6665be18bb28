/* vblanks.c: what a client sees of vblanks without a call (dxgkrnl/progress.h). Its page is made when it first waits. */
#include "dxgkrnl/private.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

_Static_assert((int)DXGK_VBLANK_SOURCES == (int)MAX_SOURCES, "every source has its place");

static void wake(struct dxgk_vblanks *v, unsigned source)
{
    v->source[source].change++;
    if (v->source[source].waiters)
        syscall(SYS_futex, &v->source[source].change, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

static bool is_on(const struct dxgk *d, unsigned source)
{
    const struct source *s = &d->sources[source];

    return d->state == DXGK_STARTED && !d->resetting && d->vsync_enabled && s->committed && s->visible;
}

static void publish(const struct dxgk *d, struct dxgk_vblanks *v)
{
    v->epoch++;
    for (unsigned i = 0; i < d->num_sources; i++) {
        v->source[i].on = is_on(d, i);
        wake(v, i);
    }
}

bool vblanks_tick(struct dxgk *d, unsigned source)
{
    bool waited = false;

    for (struct dxgk_client *c = d->clients; c; c = c->next) {
        if (!c->vblanks)
            continue;
        waited |= c->vblanks->source[source].waiters != 0;
        atomic_store_explicit(&c->vblanks->source[source].count, d->sources[source].vblanks,
                              memory_order_release);
        wake(c->vblanks, source);
    }
    return waited;
}

void vblanks_changed(struct dxgk *d)
{
    for (struct dxgk_client *c = d->clients; c; c = c->next)
        if (c->vblanks)
            publish(d, c->vblanks);
}

void vblanks_changed_for(struct dxgk *d, struct dxgk_client *c)
{
    if (c && c->vblanks)
        publish(d, c->vblanks);
}

static int make(struct dxgk_client *c)
{
    void *p;

    c->vblanks_fd = memfd_create("d3dkmt-vblanks", MFD_CLOEXEC);
    if (c->vblanks_fd < 0)
        return -errno;
    p = ftruncate(c->vblanks_fd, sizeof(*c->vblanks))
            ? MAP_FAILED
            : mmap(NULL, sizeof(*c->vblanks), PROT_READ | PROT_WRITE, MAP_SHARED, c->vblanks_fd, 0);
    if (p == MAP_FAILED) {
        int r = -errno;
        close(c->vblanks_fd);
        return r;
    }
    c->vblanks = p;
    for (unsigned i = 0; i < c->d->num_sources; i++)
        c->vblanks->source[i].count = c->d->sources[i].vblanks;
    publish(c->d, c->vblanks);
    return 0;
}

int dxgk_vblanks_fd(struct dxgk_client *c, uint64_t *size)
{
    int r;

    kernel_enter(c->d->kernel);
    r = c->vblanks ? 0 : make(c);
    kernel_leave(c->d->kernel);
    *size = sizeof(*c->vblanks);
    return r ? r : c->vblanks_fd;
}

void vblanks_free(struct dxgk_client *c)
{
    if (!c->vblanks)
        return;
    munmap(c->vblanks, sizeof(*c->vblanks));
    close(c->vblanks_fd);
    c->vblanks = NULL;
}
