/* SPDX-License-Identifier: MIT */
#include "lose/slot.h"

#include <stdio.h>

#include "lose/process.h"

struct lose_record *lose_record;

enum lose_phase lose_phase(void)
{
    return atomic_load_explicit(&lose_record->phase, memory_order_relaxed);
}

bool fault_is_due(struct lose_fault *f)
{
    uint64_t never = 0;
    uint32_t n;

    if (f->phase && f->phase != lose_phase())
        return false;
    n = atomic_fetch_add(&f->seen, 1) + 1;
    if (n < f->at || (n > f->at && !f->forever))
        return false;
    if (atomic_compare_exchange_strong(&f->given_ns, &never, lose_now())) {
        lose_watch_signals();
        lose_note_work();
        atomic_store(&f->pid, process_id());
    }
    atomic_fetch_add(&f->given, 1);
    return true;
}

/* ---- devices ------------------------------------------------------------- */

bool slot_is_beneath(void)
{
    for (uint32_t i = 0; i < LOSE_PROCESSES; i++)
        if (atomic_load(&lose_record->direct3d[i]) == process_id())
            return true;
    return false;
}

static bool is_beneath(enum lose_api api)
{
    return api < LOSE_D3D9 && slot_is_beneath();
}

struct lose_device *slot_take(const char *name, enum lose_api api, bool deaf)
{
    struct lose_device *slot;
    uint32_t n;

    if (!lose_record || is_beneath(api))
        return NULL;
    if (api < LOSE_D3D9 && process_is_deaf()) {
        atomic_store(&lose_record->deaf_pid, process_id());
        return NULL;
    }
    n = atomic_fetch_add(&lose_record->devices, 1);
    slot = &lose_record->device[n < LOSE_DEVICES ? n : LOSE_DEVICES - 1];
    if (n >= LOSE_DEVICES) /* most were made to ask something: the last stands for all behind it */
        return atomic_load(&slot->pid) == process_id() ? slot : NULL;
    snprintf(slot->name, sizeof(slot->name), "%.127s", name);
    process_name(slot->program);
    atomic_store(&slot->space, process_space());
    atomic_store(&slot->api, api);
    atomic_store(&slot->deaf, deaf);
    atomic_store(&slot->created_ns, lose_now());
    atomic_store(&slot->pid, process_id());
    return slot;
}

bool slot_refused(enum lose_api api)
{
    uint64_t lost = lose_record ? atomic_load(&lose_record->lost_ns) : 0;

    if (!lost || lose_now() >= lost + lose_record->refuse_ns || is_beneath(api))
        return false;
    atomic_fetch_add(&lose_record->refused, 1);
    return true;
}

void slot_first(_Atomic uint64_t *when)
{
    uint64_t none = 0;

    if (!atomic_load_explicit(when, memory_order_relaxed))
        atomic_compare_exchange_strong(when, &none, lose_now());
}

/* ---- work ---------------------------------------------------------------- */

static bool claim(void)
{
    int32_t left = atomic_load(&lose_record->left);

    while (left > 0)
        if (atomic_compare_exchange_weak(&lose_record->left, &left, left - 1))
            return true;
    return false;
}

bool slot_due(const struct lose_device *d, uint32_t frame, uint32_t submit)
{
    bool due =
        (frame && lose_record->at_frame && atomic_load(&d->frames) + 1 >= lose_record->at_frame) ||
        (submit && lose_record->at_submit && atomic_load(&d->submits) + submit >= lose_record->at_submit);

    return due && claim();
}

/* Work goes to a device that is there. */
static void update_phase(const struct lose_device *d, uint32_t frame)
{
    uint32_t phase = lose_phase(), next = phase;
    bool shows = atomic_load_explicit(&d->frames, memory_order_relaxed) > 0;

    if (phase == LOSE_STEADY || phase == LOSE_SHUTDOWN)
        return;
    if (frame || (phase == LOSE_RECOVERY && !atomic_load(&lose_record->shown)) ||
        (phase == LOSE_LOADING && !shows && atomic_load(&d->submits) >= LOSE_LOADED))
        next = LOSE_STEADY;
    else if (phase == LOSE_START)
        next = LOSE_LOADING;
    if (next != phase)
        atomic_compare_exchange_strong(&lose_record->phase, &phase, next);
}

void slot_work(struct lose_device *d, uint32_t frame, uint32_t submit, bool works)
{
    update_phase(d, frame);
    atomic_fetch_add(&d->frames, frame);
    atomic_fetch_add(&d->submits, submit);
    atomic_fetch_add(&d->works, works);
    atomic_store_explicit(&d->tid, process_thread(), memory_order_relaxed);
    if (frame) {
        slot_first(&d->first_frame_ns);
        atomic_store_explicit(&lose_record->shown, 1, memory_order_relaxed);
    }
    if (submit)
        slot_first(&d->first_submit_ns);
    if (lose_record->counts &&
        atomic_load(atomic_load(&d->blank) ? &d->submits : &d->frames) >= lose_record->counts)
        atomic_store_explicit(&lose_record->counted, 1, memory_order_relaxed);
}

/* ---- the loss ------------------------------------------------------------ */

void lose_note_work(void)
{
    for (uint32_t i = 0; i < LOSE_DEVICES && atomic_load(&lose_record->device[i].pid); i++) {
        struct lose_device *d = &lose_record->device[i];
        atomic_store(&d->submits_then, atomic_load(&d->submits));
        atomic_store(&d->works_then, atomic_load(&d->works));
        atomic_store(&d->frames_then, atomic_load(&d->frames));
    }
}

bool slot_begin(struct lose_device *d)
{
    lose_watch_signals();
    lose_note_work();
    process_held(d);
    if (lose_record->how == LOSE_LOST)
        return false;
    slot_first(&d->hung_ns);
    return true;
}

bool slot_reset_is_due(const struct lose_device *d)
{
    return lose_now() >= atomic_load(&d->hung_ns) + lose_record->hang_ns;
}

void slot_lost(struct lose_device *d)
{
    process_marks_loss();
    slot_first(&d->lost_ns);
    atomic_store(&lose_record->lost_ns, atomic_load(&d->lost_ns));
    atomic_store(&lose_record->phase, LOSE_RECOVERY);
}

void slot_used(struct lose_device *d)
{
    atomic_store(&d->last_used_ns, lose_now());
}

void slot_reported(struct lose_device *d, uint32_t call)
{
    uint32_t none = LOSE_NO_CALL;

    atomic_compare_exchange_strong(&d->call, &none, call);
    slot_used(d);
    if (!atomic_load(&d->reported_ns)) /* to be told is not to go on, whenever it is */
        atomic_store(&d->called, 0);
    slot_first(&d->reported_ns); /* not before: who uses it after this was told */
    atomic_fetch_add(&d->reported, 1);
}
