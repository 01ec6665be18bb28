/* SPDX-License-Identifier: MIT */
#include "d3d/presenter.h"

#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>

struct picture {
    D3DKMT_HANDLE allocation; /* 0: nobody said yet */
    SIZE_T offset;
    UINT pitch;
    struct d3d_where where;
    UINT interval;
};

struct d3d_presenter {
    D3DKMT_HANDLE device;
    D3DKMT_WAITFORVERTICALBLANKEVENT blank;
    d3d_show *show;
    void *context;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    struct picture pictures[D3D_PICTURES];
    UINT first, count; /* in flight: a ring */
    bool any, end;
};

/* Waits for what the device does to it. */
static const uint8_t *lock_picture(const struct d3d_presenter *p, const struct picture *of)
{
    D3DKMT_LOCK l = {.hDevice = p->device, .hAllocation = of->allocation};

    l.Flags.LockEntire = l.Flags.ReadOnly = 1;
    return NT_SUCCESS(D3DKMTLock(&l)) ? (const uint8_t *)l.pData + of->offset : NULL;
}

static void unlock_picture(const struct d3d_presenter *p, const struct picture *of)
{
    D3DKMTUnlock(&(D3DKMT_UNLOCK){p->device, 1, &of->allocation});
}

static void *run(void *arg)
{
    struct d3d_presenter *p = arg;

    pthread_mutex_lock(&p->lock);
    for (;;) {
        struct picture *now = &p->pictures[p->first];
        const uint8_t *pixels;

        if (!p->count && p->end)
            break;
        if (!p->count) {
            pthread_cond_wait(&p->changed, &p->lock);
            continue;
        }
        pthread_mutex_unlock(&p->lock);
        for (UINT i = now->interval; i && NT_SUCCESS(D3DKMTWaitForVerticalBlankEvent(&p->blank)); i--)
            ;
        pixels = lock_picture(p, now);
        p->show(p->context, &now->where, pixels, now->pitch);
        if (pixels)
            unlock_picture(p, now);
        pthread_mutex_lock(&p->lock);
        p->first = (p->first + 1) % D3D_PICTURES;
        p->count--;
        pthread_cond_broadcast(&p->changed);
    }
    pthread_mutex_unlock(&p->lock);
    return NULL;
}

struct d3d_presenter *d3d_presenter_create(D3DKMT_HANDLE device,
                                           const D3DKMT_WAITFORVERTICALBLANKEVENT *blank, d3d_show *show,
                                           void *context)
{
    struct d3d_presenter *p = calloc(1, sizeof(*p));

    if (!p)
        return NULL;
    *p = (struct d3d_presenter){.device = device, .blank = *blank, .show = show, .context = context};
    pthread_mutex_init(&p->lock, NULL);
    pthread_cond_init(&p->changed, NULL);
    if (!pthread_create(&p->thread, NULL, run, p))
        return p;
    pthread_cond_destroy(&p->changed);
    pthread_mutex_destroy(&p->lock);
    free(p);
    return NULL;
}

void d3d_presenter_destroy(struct d3d_presenter *p)
{
    if (!p)
        return;
    pthread_mutex_lock(&p->lock);
    p->end = true;
    pthread_cond_broadcast(&p->changed);
    pthread_mutex_unlock(&p->lock);
    pthread_join(p->thread, NULL); /* 2 */
    pthread_cond_destroy(&p->changed);
    pthread_mutex_destroy(&p->lock);
    free(p);
}

int d3d_presenter_room(struct d3d_presenter *p, UINT most, bool wait)
{
    int index = -1;

    most = most && most < D3D_PICTURES ? most : D3D_PICTURES;
    pthread_mutex_lock(&p->lock);
    while (p->count >= most && wait)
        pthread_cond_wait(&p->changed, &p->lock);
    if (p->count < most)
        index = (int)((p->first + p->count) % D3D_PICTURES);
    pthread_mutex_unlock(&p->lock);
    return index;
}

void d3d_presenter_place(struct d3d_presenter *p, int index, D3DKMT_HANDLE allocation, SIZE_T offset,
                         UINT pitch)
{
    p->pictures[index] = (struct picture){.allocation = allocation, .offset = offset, .pitch = pitch};
}

bool d3d_presenter_placed(const struct d3d_presenter *p, int index)
{
    return p->pictures[index].allocation != 0;
}

void d3d_presenter_queue(struct d3d_presenter *p, const struct d3d_where *where, UINT interval)
{
    struct picture *next;

    pthread_mutex_lock(&p->lock);
    next = &p->pictures[(p->first + p->count) % D3D_PICTURES];
    next->where = *where;
    next->interval = interval;
    p->count++;
    p->any = true;
    pthread_cond_broadcast(&p->changed);
    pthread_mutex_unlock(&p->lock);
}

void d3d_presenter_drain(struct d3d_presenter *p)
{
    pthread_mutex_lock(&p->lock);
    while (p->count)
        pthread_cond_wait(&p->changed, &p->lock);
    pthread_mutex_unlock(&p->lock);
}

bool d3d_presenter_front(struct d3d_presenter *p, const void **pixels, UINT *pitch)
{
    const struct picture *last;

    d3d_presenter_drain(p);
    last = &p->pictures[(p->first + D3D_PICTURES - 1) % D3D_PICTURES];
    *pixels = p->any ? lock_picture(p, last) : NULL;
    *pitch = last->pitch;
    return *pixels != NULL;
}

void d3d_presenter_front_end(struct d3d_presenter *p)
{
    unlock_picture(p, &p->pictures[(p->first + D3D_PICTURES - 1) % D3D_PICTURES]);
}
