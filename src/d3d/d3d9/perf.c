/* SPDX-License-Identifier: MIT */
/* perf.c: D3DPERF: regions and markers. They are the process's and not a device's, so every device is told; one that begins inside of a
 * region does not know it, and is told of no end that it has not heard the beginning of. */
#include "d3d/d3d9/rt9.h"
#include "base/export.h"

enum { MAX_DEVICES = 64, NAME = 256 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct d9_device *devices[MAX_DEVICES]; /* under `lock` */
static int depth;

void d9_perf_add(struct d9_device *d)
{
    pthread_mutex_lock(&lock);
    for (int i = 0; i < MAX_DEVICES; i++)
        if (!devices[i]) {
            devices[i] = d;
            break;
        }
    pthread_mutex_unlock(&lock);
}

void d9_perf_remove(struct d9_device *d)
{
    pthread_mutex_lock(&lock);
    for (int i = 0; i < MAX_DEVICES; i++)
        if (devices[i] == d)
            devices[i] = NULL;
    pthread_mutex_unlock(&lock);
}

/* What every device is told: +1 a region begins, -1 one ends, 0 a marker. True: somebody wants to know. */
static bool tell(int what, const WCHAR *text)
{
    char name[NAME];
    bool told = false;

    d3d_utf8(text, name, sizeof(name));
    pthread_mutex_lock(&lock);
    for (int i = 0; i < MAX_DEVICES; i++) {
        struct d9_device *d = devices[i];
        const D3DDDI_ANNOTATION_FUNCS9 *f = d ? &d->factory->annotate : NULL;

        if (!f || !f->pfnBeginRegion || !f->pfnEndRegion || !f->pfnMarker)
            continue;
        told = true;
        if (what < 0 && !d->regions)
            continue;
        d->regions += what;
        pthread_mutex_lock(&d->lock);
        if (d->lost != S_OK || !d->drv)
            ;
        else if (what > 0)
            f->pfnBeginRegion(d->drv, name);
        else if (what < 0)
            f->pfnEndRegion(d->drv);
        else
            f->pfnMarker(d->drv, name);
        pthread_mutex_unlock(&d->lock);
    }
    pthread_mutex_unlock(&lock);
    return told;
}

/* The level of the region, from 0; -1: nobody listens. */
EXPORT int WINAPI D3DPERF_BeginEvent(D3DCOLOR color, const WCHAR *name)
{
    return tell(1, name) ? __atomic_fetch_add(&depth, 1, __ATOMIC_RELAXED) : -1;
}

EXPORT int WINAPI D3DPERF_EndEvent(void)
{
    if (__atomic_load_n(&depth, __ATOMIC_RELAXED) <= 0 || !tell(-1, NULL))
        return -1;
    return __atomic_sub_fetch(&depth, 1, __ATOMIC_RELAXED);
}

EXPORT DWORD WINAPI D3DPERF_GetStatus(void)
{
    return 0; /* no profiler is attached */
}

EXPORT void WINAPI D3DPERF_SetOptions(DWORD options)
{
}

EXPORT BOOL WINAPI D3DPERF_QueryRepeatFrame(void)
{
    return FALSE;
}

EXPORT void WINAPI D3DPERF_SetMarker(D3DCOLOR color, const WCHAR *name)
{
    tell(0, name);
}

EXPORT void WINAPI D3DPERF_SetRegion(D3DCOLOR color, const WCHAR *name)
{
    tell(0, name);
}
