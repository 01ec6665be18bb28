/* SPDX-License-Identifier: MIT */
/* rec_fences.c: what the program may know about fences whose completion sets an event.
 *
 * How a program waits for an event is its own affair: one of many system calls, a message loop, a thread pool, on Linux
 * whatever its own signal function does. Where
 * the recorder sees the wait (rec_waits.c) it looks at once which fences that set the event are there; where it does
 * not, it looks wherever the program does something that a passed wait allows: reset an allocator, write memory that
 * is then submitted. What it finds is written down as Native::FenceSeen, and the player waits until its own fence is
 * as far. So neither manual nor automatic reset, nor events that the program sets itself, need to be played.
 */
#include <pthread.h>
#include <stdlib.h>

#include "base/array.h"
#include "d3d12/record/rec_values.h"
#include "d3d12/record/rec_hooks.h"

static struct {
    pthread_mutex_t lock;
    struct pending {
        ID3D12Fence *fence;
        uint64_t value;
        HANDLE event;
    } * p;
    _Atomic size_t num;
    size_t cap;
} waits = {.lock = PTHREAD_MUTEX_INITIALIZER};

void rec_fence_event(struct rec_object *o, ID3D12Fence *fence, uint64_t value, HANDLE event)
{
    size_t n;

    pthread_mutex_lock(&waits.lock);
    n = atomic_load(&waits.num);
    if (!array_reserve(waits.p, waits.cap, n + 1)) {
        waits.p[n] = (struct pending){fence, value, event};
        atomic_store(&waits.num, n + 1);
        o->extras |= REC_HAS_EVENTS;
    }
    pthread_mutex_unlock(&waits.lock);
}

void rec_fence_gone(const void *fence)
{
    pthread_mutex_lock(&waits.lock);
    for (size_t i = 0; i < atomic_load(&waits.num);)
        if (waits.p[i].fence == fence)
            waits.p[i] = waits.p[atomic_fetch_sub(&waits.num, 1) - 1];
        else
            i++;
    pthread_mutex_unlock(&waits.lock);
}

bool rec_fence_sets(HANDLE event)
{
    bool found = false;

    if (!atomic_load(&waits.num))
        return false;
    pthread_mutex_lock(&waits.lock);
    for (size_t i = 0; i < atomic_load(&waits.num) && !found; i++)
        found = waits.p[i].event == event;
    pthread_mutex_unlock(&waits.lock);
    return found;
}

void rec_fence_look(struct rec_thread *t)
{
    if (!atomic_load(&waits.num))
        return;
    pthread_mutex_lock(&waits.lock);
    for (size_t i = 0; i < atomic_load(&waits.num);) {
        struct pending w = waits.p[i];
        uint64_t now;

        t->depth++;
        now = w.fence->lpVtbl->GetCompletedValue(w.fence);
        t->depth--;
        if (now < w.value) {
            i++;
            continue;
        }
        waits.p[i] = waits.p[atomic_fetch_sub(&waits.num, 1) - 1];
        rec_begin(t, NULL, D12_Native_FenceSeen, REC_MODE_TICKET);
        enc_object(&t->enc, w.fence);
        enc_u64(&t->enc, w.value);
        rec_args_done(t, D12_Native_FenceSeen, REC_NO_ANSWER);
    }
    pthread_mutex_unlock(&waits.lock);
}
