/* SPDX-License-Identifier: MIT */
#include "lose/judge/devices.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>

enum { SPARE = 10 }; /* a spare did less than a SPAREth */

uint64_t record_time(const struct run *r, const _Atomic uint64_t *time)
{
    uint64_t ns = atomic_load(time), now = run_now(r);

    return !ns ? 0 : ns < r->start_ns ? r->start_ns : ns > now ? now : ns;
}

/* ---- processes ----------------------------------------------------------- */

/* Of a process that is none of the tree's: it has gone before anybody looked, or is in a pid namespace of its own. */
static bool is_there(const struct run *r, const struct lose_device *d)
{
    if (atomic_load(&d->left_ns))
        return false;
    return !r->space || atomic_load(&d->space) != r->space || !kill((pid_t)atomic_load(&d->pid), 0) ||
           errno != ESRCH;
}

enum fate device_fate(const struct run *r, uint32_t slot, int *code)
{
    const struct lose_device *d = &r->record->device[slot];
    pid_t pid = (pid_t)atomic_load(&d->pid);
    const struct tree_process *p = tree_find((struct tree *)&r->tree, pid),
                              *top = tree_find((struct tree *)&r->tree, r->tree.top);
    int said = top->ended && WIFEXITED(top->status) ? WEXITSTATUS(top->status) : 0;

    *code = 0;
    if (atomic_load(&r->record->died_pid) == (uint32_t)pid && atomic_load(&r->record->died_of)) {
        *code = (int)atomic_load(
            &r->record->died_of); /* under Wine that ends with an exit code, or in a debugger's dialog */
        return KILLED;
    }
    if (p ? p->alive : !r->ended && is_there(r, d))
        return LIVES;
    if (p && p->ended) {
        *code = WIFEXITED(p->status) ? WEXITSTATUS(p->status) : WTERMSIG(p->status);
        return WIFEXITED(p->status) ? EXITED : KILLED;
    }
    *code = said;
    if (record_time(r, &d->left_ns) || record_time(r, &d->destroyed_ns))
        return EXITED;
    *code = said > 128 && said < 128 + NSIG ? said - 128 : 0; /* as shells have it */
    return KILLED;
}

bool device_is_gone(const struct run *r, uint32_t slot)
{
    int code;

    return device_fate(r, slot, &code) != LIVES;
}

/* ---- devices ------------------------------------------------------------- */

enum kind device_kind(const struct lose_device *d)
{
    return atomic_load(&d->frames) ? FRAMES : atomic_load(&d->works) ? WORKS : SUBMITS;
}

enum kind kind_of_program(const struct run *r)
{
    if (atomic_load(&r->record->shown))
        return FRAMES;
    for (uint32_t i = 0; i < r->seen; i++)
        if (atomic_load(&r->record->device[i].works))
            return WORKS;
    return SUBMITS;
}

uint64_t device_work(const struct lose_device *d, enum kind kind)
{
    return atomic_load(kind == FRAMES ? &d->frames : kind == WORKS ? &d->works : &d->submits);
}

uint64_t work_of_kind(const struct work *w, enum kind kind)
{
    return kind == FRAMES ? w->frames : kind == WORKS ? w->works : w->submits;
}

/* What device `i` has done that makes good the loss of device `slot`, which began at `lost` with this done before. */
static uint64_t made_good(const struct run *r, uint32_t slot, uint64_t lost, const struct work *before,
                          uint32_t i)
{
    const struct lose_device *d = &r->record->device[slot], *c = &r->record->device[i];
    uint64_t down = record_time(r, &c->hung_ns), work = device_work(c, device_kind(d));
    uint64_t old = record_time(r, &c->created_ns) > lost ? 0 : work_of_kind(before, device_kind(d));

    down = down ? down : record_time(r, &c->lost_ns);
    if (i == slot || (down && down <= lost))
        return 0;
    if (old && old * SPARE >= device_work(d, device_kind(d)))
        return 0;
    if (atomic_load(&c->pid) != atomic_load(&d->pid) &&
        (!device_is_gone(r, slot) || strncmp(c->program, d->program, sizeof(d->program))))
        return 0;
    return work > old ? work - old : 0;
}

const struct lose_device *successor(const struct run *r, uint32_t slot, uint64_t lost,
                                    const struct work *before, uint64_t *work)
{
    const struct lose_device *best = NULL;

    *work = 0;
    for (uint32_t i = 0; i < r->seen; i++) {
        const struct lose_device *c = &r->record->device[i];
        uint64_t w = made_good(r, slot, lost, before + i, i);

        if (w > *work || (!best && i != slot && record_time(r, &c->created_ns) > lost &&
                          atomic_load(&c->pid) == atomic_load(&r->record->device[slot].pid))) {
            best = c;
            *work = w;
        }
    }
    return best;
}

const struct lose_device *successor_of_loss(const struct run *r, uint32_t loss, uint64_t *work)
{
    return successor(r, r->slot_of[loss], r->lost_ns[loss], r->before[loss], work);
}

/* How much a new device must do: less if it is to be lost itself before. */
static uint64_t proof(const struct run *r, uint32_t loss)
{
    uint32_t at = r->p->at_frame ? r->p->at_frame : r->p->at_submit;

    if (loss + 1 < r->p->times && at - 1 < r->p->proof)
        return at > 1 ? at - 1 : 1;
    return r->p->proof;
}

bool loss_proven(const struct run *r, uint32_t loss)
{
    uint64_t work;

    successor_of_loss(r, loss, &work);
    return work >= proof(r, loss);
}

bool loss_is_noted(const struct run *r, uint32_t slot)
{
    for (uint32_t k = 0; k < r->out->num_losses; k++)
        if (r->slot_of[k] == slot)
            return true;
    return false;
}
