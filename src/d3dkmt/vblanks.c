/* SPDX-License-Identifier: MIT */
#include "d3dkmt/vblanks.h"

#include <errno.h>
#include <linux/futex.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/check.h"
#include "dxgkrnl/progress.h"

/* No vblank for so long: the service looks after it, or is gone. */
#define LOOK_NS 200000000
enum { KNOWN = 16 };

static const struct dxgk_vblanks *page;
static struct {
    D3DKMT_WAITFORVERTICALBLANKEVENT arg;
    uint32_t epoch; /* 0: free */
} known[KNOWN];
static unsigned next;

uint32_t d3dkmt_vblanks_epoch(void)
{
    return page ? page->epoch : 0;
}

void d3dkmt_vblanks_map(int fd, uint64_t size)
{
    const void *p;

    if (page || fd < 0 || size < sizeof(*page))
        return;
    p = mmap(NULL, sizeof(*page), PROT_READ, MAP_SHARED, fd, 0);
    page = p == MAP_FAILED ? NULL : p;
}

static int find(const D3DKMT_WAITFORVERTICALBLANKEVENT *arg)
{
    for (int i = 0; i < KNOWN; i++)
        if (known[i].epoch && known[i].arg.hAdapter == arg->hAdapter &&
            known[i].arg.hDevice == arg->hDevice && known[i].arg.VidPnSourceId == arg->VidPnSourceId)
            return i;
    return -1;
}

void d3dkmt_vblanks_remember(const D3DKMT_WAITFORVERTICALBLANKEVENT *arg, uint32_t epoch)
{
    int i = find(arg);

    if (!epoch || arg->VidPnSourceId >= DXGK_VBLANK_SOURCES)
        return;
    if (i < 0)
        i = (int)(next++ % KNOWN);
    INVARIANT(i < KNOWN);
    known[i].arg = *arg;
    known[i].epoch = epoch;
}

void d3dkmt_vblanks_forget(void)
{
    memset(known, 0, sizeof(known));
}

void d3dkmt_vblanks_unmap(void)
{
    d3dkmt_vblanks_forget();
    if (page)
        munmap((void *)(uintptr_t)page, sizeof(*page));
    page = NULL;
}

void d3dkmt_vblanks_abandon(void)
{
    d3dkmt_vblanks_forget();
    page = NULL; /* not unmapped: other threads may be waiting on it still */
}

const struct dxgk_vblanks *d3dkmt_vblanks_known(const D3DKMT_WAITFORVERTICALBLANKEVENT *arg, uint32_t *epoch)
{
    int i = page ? find(arg) : -1;

    if (i < 0)
        return NULL;
    *epoch = known[i].epoch;
    return page;
}

uint64_t d3dkmt_vblanks_last(const struct dxgk_vblanks *v, UINT source)
{
    uint64_t count = v->source[source].count, period = v->source[source].period_ns, since;
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    since = (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec + DXGK_VBLANK_GUARD_NS -
            v->source[source].zero_ns;
    return period && (int64_t)since > 0 && since / period > count ? since / period : count;
}

enum vblank_wait d3dkmt_vblanks_wait(const struct dxgk_vblanks *v, UINT source, uint32_t epoch, uint64_t seen)
{
    static const struct timespec look = {0, LOOK_NS};

    INVARIANT(source < DXGK_VBLANK_SOURCES && epoch); /* no other is remembered */
    for (;;) {
        uint32_t change = v->source[source].change;

        if (v->source[source].count > seen)
            return VBLANK_CAME; /* whatever came with it */
        if (!v->source[source].on)
            return VBLANK_ASK;
        if (v->epoch != epoch)
            return VBLANK_NEWS;
        if (syscall(SYS_futex, &v->source[source].change, FUTEX_WAIT, change, &look, NULL, 0) &&
            errno == ETIMEDOUT)
            return VBLANK_ASK;
    }
}
