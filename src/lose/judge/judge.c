/* SPDX-License-Identifier: MIT */
/* judge.c: what the record and the processes say about the program.
 *
 * It has survived a loss when the device that makes it good (devices.h) did `proof`, or when time is up and it does as much as the lost
 * one did in the same time, or when it has worked and the program waits for events.
 */

#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>

#include "base/sched/schedstat.h"
#include "lose/judge/devices.h"
#include "lose/thread.h"

#define WINDOW_NS  (500 * NSEC_PER_MSEC) /* in which a program that goes on shows it, if it is let run */
#define STEP_NS    (50 * NSEC_PER_MSEC)
#define LEAK_BYTES (UINT64_C(256) << 10)
enum { LEAK_LOSSES = 8 }; /* fewer prove no growth */
enum { SWITCHES = 3 };    /* sleeps of a thread in that time */
enum { DELAYED = 4 };     /* delayed calls a frame that a program is given time for */
enum { WINDOWS = 10 };    /* the longest that is waited for a program that is not let run, in windows */

/* Losses that are asked for. */
static uint32_t wanted(const struct run *r)
{
    uint32_t n = r->p->times;

    for (uint32_t i = 0; i < r->p->num_faults; i++)
        n += r->p->faults[i].what == LOSE_ANSWERS && r->p->faults[i].result == -4 &&
             r->p->faults[i].call != LOSE_vkCreateDevice;
    return n;
}

/* What a compositor draws does not tell whether the kernel shows it. */
static bool is_about_drm(const struct run *r)
{
    for (uint32_t i = 0; i < r->p->num_faults; i++)
        if (*r->p->faults[i].gl == 'D')
            return true;
    return false;
}

/* What counts as going on after a fault. */
static enum kind kind_after_fault(const struct run *r)
{
    return is_about_drm(r) ? FRAMES : kind_of_program(r);
}

/* The device that has done most since the last fault, or NULL, and how much: frames, or submissions of a program that shows nothing. */
static const struct lose_device *busiest_after_fault(const struct run *r, uint64_t *most)
{
    enum kind kind = kind_after_fault(r);
    const struct lose_device *best = NULL;

    *most = 0;
    for (uint32_t i = 0; i < r->seen; i++) {
        const struct lose_device *d = &r->record->device[i];
        uint64_t work = device_work(d, kind), before = work_of_kind(&r->fault_before[i], kind);

        if (is_about_drm(r) && atomic_load(&d->api) != LOSE_DRM)
            continue;
        if (work > before && work - before > *most) {
            *most = work - before;
            best = d;
        }
    }
    return best;
}

static uint64_t work_after_fault(const struct run *r)
{
    uint64_t work;

    busiest_after_fault(r, &work);
    return work;
}

/* Faults that only change what calls answer: all have come, and the program works. */
static bool faults_proven(const struct run *r)
{
    return r->faults_given == r->p->num_faults &&
           (!r->p->num_faults || wanted(r) || work_after_fault(r) >= r->p->proof);
}

bool judge_proven(const struct run *r)
{
    for (uint32_t k = 0; k < r->out->num_losses; k++)
        if (!loss_proven(r, k))
            return false;
    if (!wanted(r) && !r->p->num_faults)
        return work_after_fault(r) >= r->p->proof;
    return r->out->num_losses >= wanted(r) && faults_proven(r);
}

/* The time that faults took from the program: of each what some calls a frame come to, or who loops in one would never be judged. */
static uint64_t delayed_ns(const struct run *r)
{
    uint64_t ns = 0, most = DELAYED * (uint64_t)r->p->proof + 1;

    for (uint32_t i = 0; i < r->p->num_faults; i++) {
        uint64_t given = atomic_load(&r->record->fault[i].given);

        if (r->p->faults[i].what == LOSE_DELAYS)
            ns += r->p->faults[i].amount * (given < most ? given : most);
    }
    return ns;
}

uint64_t judge_limit(const struct run *r)
{
    uint32_t n = r->out->num_losses;
    uint64_t spent = delayed_ns(r), limit = r->start_ns + r->p->reach_ns + spent,
             last = n ? r->lost_ns[n - 1] : 0, hung;

    if (r->faults_given == r->p->num_faults && r->fault_ns && r->fault_ns >= last)
        return r->fault_ns + r->p->timeout_ns + spent;
    if (n)
        limit = last + r->p->timeout_ns + spent + (loss_proven(r, n - 1) ? r->p->reach_ns : 0);
    for (uint32_t i = 0; i < r->seen; i++) { /* one that hangs is lost when it is reset, at the latest */
        hung = record_time(r, &r->record->device[i].hung_ns);
        if (hung && !loss_is_noted(r, i) && hung + r->p->hang_ns + r->p->timeout_ns > limit)
            limit = hung + r->p->hang_ns + r->p->timeout_ns;
    }
    return limit;
}

/* Whether a window of a Windows program answers. */
static bool hears(const struct run *r, uint32_t pid)
{
    return atomic_load(&r->record->heard_pid) == pid &&
           run_now(r) - record_time(r, &r->record->heard_ns) < 2 * NSEC_PER_SEC;
}

static bool waits_for_events(const struct run *r, const struct lose_device *d)
{
    return !atomic_load(&d->waits) &&
           (thread_waits_for_events((pid_t)atomic_load(&d->pid)) || hears(r, atomic_load(&d->pid)));
}

/* Time is up, and `s` has done less than was asked, in the time since `first`: is that what the program does? `before`: what it had done
 * between `began` and `then`. As much in the time since as before: half of it will do. */
static bool keeps_pace(struct run *r, const struct lose_device *s, uint64_t work, uint64_t since,
                       uint64_t before, uint64_t began, uint64_t then)
{
    r->out->own_pace = then > began && since &&
                       2.0 * (double)work * (double)(then - began) >= (double)before * (double)since;
    r->out->idle = !r->out->own_pace && waits_for_events(r, s);
    return r->out->own_pace || r->out->idle;
}

static uint64_t first_work_ns(const struct run *r, const struct lose_device *d, enum kind kind)
{
    return record_time(r, kind == FRAMES ? &d->first_frame_ns : &d->first_submit_ns);
}

static bool works_at_its_pace(struct run *r, uint32_t loss)
{
    const struct lose_device *d = &r->record->device[r->slot_of[loss]], *s;
    uint64_t work, first = r->lost_ns[loss] + r->out->losses[loss].work_ns, end = run_now(r);

    s = successor_of_loss(r, loss, &work);
    return s && work &&
           keeps_pace(r, s, work, end > first ? end - first : 0, device_work(d, device_kind(d)),
                      first_work_ns(r, d, device_kind(d)), r->lost_ns[loss]);
}

/* The same of faults that are no losses. */
static bool goes_on_at_its_pace(struct run *r)
{
    enum kind kind = kind_after_fault(r);
    uint64_t work, before, began, since = run_now(r) - r->fault_ns, spent = delayed_ns(r);
    const struct lose_device *d = busiest_after_fault(r, &work);

    if (!d)
        return false;
    before = work_of_kind(&r->fault_before[d - r->record->device], kind);
    began = first_work_ns(r, d, kind);
    if (!keeps_pace(r, d, work, since > spent ? since - spent : 0, before, before ? began : r->fault_ns,
                    r->fault_ns))
        return false;
    r->out->new_work = work;
    r->out->old_work = before;
    r->out->old_ns = r->fault_ns > began ? r->fault_ns - began : 0;
    return true;
}

/* Waits until the program has had a window's time to show what it does: time in which others had the processors does not count. The
 * kernel counts a wait for one when it ends. What is called meanwhile is noted. */
static void give_it_time(struct run *r, pid_t pid, uint32_t tid)
{
    const uint64_t start = run_now(r);
    struct schedstat first, last, now;
    bool known = schedstat_read(pid, &first), waits = false;
    uint64_t elapsed = 0, starved = 0;

    last = first;
    while ((elapsed - starved < WINDOW_NS || waits) && elapsed < WINDOWS * WINDOW_NS) {
        nanosleep(&(struct timespec){0, STEP_NS}, NULL);
        notice_calls(r);
        elapsed = run_now(r) - start;
        if (!known || !schedstat_read(pid, &now))
            continue;
        starved = schedstat_starved(&first, &now, elapsed);
        waits = now.ran_ns == last.ran_ns && thread_wants_processor(pid, tid);
        last = now;
    }
}

/* It goes on with the device that is lost, though it was told: not by what it does to get rid of it. */
static bool ignores(const struct run *r, const struct lose_device *d)
{
    uint64_t used = record_time(r, &d->last_used_ns);

    return used > record_time(r, &d->reported_ns) && !record_time(r, &d->destroyed_ns) &&
           run_now(r) - used < NSEC_PER_SEC;
}

/* It is there. Does it go on, with the device that is lost or without any? */
static enum lose_verdict look_at_the_living(struct run *r, uint32_t slot)
{
    const struct lose_device *d = &r->record->device[slot];
    pid_t pid = (pid_t)atomic_load(&d->pid);
    uint32_t tid = atomic_load(&d->tid);
    long before = thread_switches(pid, tid);
    uint64_t called = 0, began = run_now(r), recent = r->p->timeout_ns / 4, told;
    bool waits = false;

    for (uint32_t i = 0; i < r->seen; i++)
        waits |= atomic_load(&r->record->device[i].waits) &&
                 atomic_load(&r->record->device[i].pid) == (uint32_t)pid;
    give_it_time(r, pid, tid);
    told = record_time(r, &d->reported_ns); /* by a call that is none of going on */
    for (uint32_t i = 0; i < r->seen; i++)
        if (atomic_load(&r->record->device[i].pid) == (uint32_t)pid && r->called_ns[i] > called &&
            (i != slot || r->called_ns[i] > told))
            called = r->called_ns[i];
    if (ignores(r, d))
        return LOSE_IGNORES;
    if (called && (called >= began || run_now(r) - called < recent))
        return LOSE_STALLS;
    if (r->out->num_losses && r->out->losses[r->out->num_losses - 1].work_ns &&
        (thread_sleeps(pid, tid) || thread_sleeps(pid, (uint32_t)pid)))
        return LOSE_STALLS; /* slow: it has worked on the new device, and will wake */
    r->out->busy = before >= 0 && !waits && thread_switches(pid, tid) - before >= SWITCHES;
    if (r->out->busy && r->maker == (uint32_t)pid && r->made_ns >= began) {
        r->out->busy = false; /* it was in a call of Vulkan, and at work there */
        return LOSE_STALLS;
    }
    return r->out->busy ? LOSE_IGNORES : LOSE_HANGS;
}

/* What the process of `slot` came to, where that is not what was to be proven. */
static enum lose_verdict judge_process(struct run *r, uint32_t slot)
{
    const struct tree_process *top = tree_find(&r->tree, r->tree.top);
    int code = 0;
    enum fate f = device_fate(r, slot, &code);

    if (f == LIVES && top->ended && WIFSIGNALED(top->status)) {
        f = KILLED;
        code = WTERMSIG(top->status);
    }
    if (f == KILLED) {
        r->out->signalled = true;
        r->out->code = code;
        return LOSE_DIED;
    }
    return f == LIVES ? look_at_the_living(r, slot) : LOSE_ENDED;
}

/* Whose process is to be looked at: that of the lost device, or where that has ended, one of the same program that has made a device since:
 * what becomes of the program is that one's affair. */
static uint32_t heir(const struct run *r, uint32_t loss)
{
    uint32_t slot = r->slot_of[loss];
    const struct lose_device *d = &r->record->device[slot];

    for (uint32_t i = r->seen; device_is_gone(r, slot) && i-- > 0;) {
        const struct lose_device *c = &r->record->device[i];

        if (record_time(r, &c->created_ns) > r->lost_ns[loss] && !device_is_gone(r, i) &&
            !strncmp(c->program, d->program, sizeof(d->program)))
            return i;
    }
    return slot;
}

/* Who was told last, if it is there: its crash handlers, its launchers go on for themselves. */
static pid_t who_was_told(const struct run *r)
{
    uint64_t last = 0;
    pid_t pid = 0;

    for (uint32_t i = 0; i < r->p->num_faults; i++) {
        uint64_t at = record_time(r, &r->record->fault[i].given_ns);
        const struct tree_process *p =
            tree_find((struct tree *)&r->tree, (pid_t)atomic_load(&r->record->fault[i].pid));
        if (at > last && p && p->alive) {
            last = at;
            pid = p->pid;
        }
    }
    return pid;
}

/* Whether the program goes on, or waits for events. Takes a while: longer, if it is not let run. */
static bool goes_on(struct run *r)
{
    long before[64];
    uint32_t n = r->tree.num < 64 ? r->tree.num : 64;
    pid_t told = who_was_told(r);
    bool on = false, wants = true;

    for (uint32_t i = 0; i < n; i++)
        before[i] = thread_switches(r->tree.process[i].pid, (uint32_t)r->tree.process[i].pid);
    for (int w = 0; w < WINDOWS && wants && !on; w++) {
        wants = false;
        nanosleep(&(struct timespec){0, WINDOW_NS}, NULL);
        for (uint32_t i = 0; i < n; i++) {
            pid_t pid = r->tree.process[i].pid;
            long now = thread_switches(pid, (uint32_t)pid);

            if (!r->tree.process[i].alive || (told && pid != told))
                continue;
            on |= (before[i] >= 0 && now - before[i] >= SWITCHES) || thread_waits_for_events(pid);
            wants |= thread_wants_processor(pid, (uint32_t)pid);
        }
    }
    return on;
}

/* The process with Direct3D that nobody looks at, or 0: what asked a little before Direct3D was begun with is none. */
static pid_t deaf_process(const struct run *r)
{
    uint32_t pid = atomic_load(&r->record->deaf_pid);

    for (uint32_t i = 0; i < LOSE_PROCESSES; i++)
        if (atomic_load(&r->record->direct3d[i]) == pid)
            return 0;
    return (pid_t)pid;
}

static enum lose_verdict judge_without_device(struct run *r)
{
    const struct tree_process *top = tree_find(&r->tree, r->tree.top);

    if (top->ended && WIFSIGNALED(top->status))
        return LOSE_DIED;
    if (r->faults_given && r->gone_ns)
        return LOSE_ENDED;
    if (r->faults_given) {
        r->out->without = goes_on(r); /* it draws without a GPU, or says that there is none */
        return r->out->without ? LOSE_SURVIVED : LOSE_HANGS;
    }
    if (r->out->deaf_pid)
        return LOSE_NOT_REACHED;
    r->out->blind = tree_blind(&r->tree, &r->out->blind_pid, r->out->blind_replaced);
    return LOSE_NO_DEVICE;
}

/* A program that had little left to do, and did it. */
static bool did_what_was_left(const struct run *r)
{
    const struct tree_process *top = tree_find((struct tree *)&r->tree, r->tree.top);
    uint32_t n = r->out->num_losses;

    if (!r->ended || !top->ended || !WIFEXITED(top->status) || WEXITSTATUS(top->status))
        return false;
    return n ? n >= wanted(r) && r->out->losses[n - 1].work_ns : work_after_fault(r) > 0;
}

/* What its process held at a loss, that of the losses before included. */
static void measure(struct run *r, uint32_t loss)
{
    const struct lose_device *d = &r->record->device[r->slot_of[loss]];
    struct lose_growth *g = &r->held[loss];

    *g = (struct lose_growth){.fds = atomic_load(&d->fds),
                              .threads = atomic_load(&d->threads),
                              .bytes = atomic_load(&d->bytes),
                              .children = atomic_load(&d->children),
                              .processes = r->processes[loss]};
    for (uint32_t k = 0; k < loss; k++) {
        const struct lose_device *old = &r->record->device[r->slot_of[k]];
        uint64_t gone = record_time(r, &old->destroyed_ns);

        g->devices += atomic_load(&old->pid) == atomic_load(&d->pid) && (!gone || gone > r->lost_ns[loss]);
    }
}

/* What grows with every loss: at least one (or LEAK_BYTES) each, all the way from the second to the last. The first ones fill
 * caches. */
static uint64_t grows(const struct run *r, size_t offset, uint64_t least)
{
    uint32_t n = r->out->num_losses, first = n / 4, steps = 0;
    uint64_t from, to;

    memcpy(&from, (const char *)&r->held[first] + offset, sizeof(from));
    memcpy(&to, (const char *)&r->held[n - 1] + offset, sizeof(to));
    for (uint32_t k = first + 1; k < n; k++) {
        uint64_t a, b;
        memcpy(&a, (const char *)&r->held[k - 1] + offset, sizeof(a));
        memcpy(&b, (const char *)&r->held[k] + offset, sizeof(b));
        steps += b > a;
    }
    return to >= from + least * (n - 1 - first) && steps * 4 >= (n - 1 - first) * 3 ? to - from : 0;
}

static bool judge_leaks(struct run *r)
{
    uint32_t n = r->out->num_losses;
    struct lose_growth *g = &r->out->growth;

    if (n < LEAK_LOSSES)
        return false;
    for (uint32_t k = 0; k < n; k++)
        measure(r, k);
    g->fds = grows(r, offsetof(struct lose_growth, fds), 1);
    g->processes = grows(r, offsetof(struct lose_growth, processes), 1);
    /* Losses that come fast are seen several at a time, and all processes counted once for them. */
    g->children = grows(r, offsetof(struct lose_growth, children), 1);
    g->processes = g->processes > g->children ? g->processes : g->children;
    g->threads = grows(r, offsetof(struct lose_growth, threads), 1);
    g->devices = grows(r, offsetof(struct lose_growth, devices), 1);
    g->bytes = grows(r, offsetof(struct lose_growth, bytes), LEAK_BYTES);
    return g->fds || g->threads || g->processes || g->devices || g->bytes;
}

uint64_t judge_work(const struct run *r)
{
    enum kind kind = kind_of_program(r);
    uint64_t most = 0, work;

    for (uint32_t i = 0; i < r->seen; i++)
        most = (work = device_work(&r->record->device[i], kind)) > most ? work : most;
    return most;
}

bool judge_hung_process(struct run *r, pid_t *pid, pid_t *thread)
{
    uint32_t n = r->out->num_losses, slot = n ? r->slot_of[n - 1] : 0;

    *pid = r->seen ? (pid_t)atomic_load(&r->record->device[slot].pid) : r->tree.top;
    *thread = r->seen ? (pid_t)atomic_load(&r->record->device[slot].tid) : 0;
    return tree_find(&r->tree, *pid) != NULL;
}

/* What it did on the device that is lost, and what on the new one. */
static void note_pace(struct run *r, uint32_t loss)
{
    const struct lose_device *d = &r->record->device[r->slot_of[loss]];
    enum kind kind = device_kind(d);
    uint64_t began = first_work_ns(r, d, kind);

    successor_of_loss(r, loss, &r->out->new_work);
    r->out->old_work = device_work(d, kind);
    r->out->old_ns = r->lost_ns[loss] > began ? r->lost_ns[loss] - began : 0;
}

enum lose_verdict judge(struct run *r)
{
    uint32_t n = r->out->num_losses, slot = n ? r->slot_of[n - 1] : 0;
    bool all_given = r->faults_given == r->p->num_faults && n >= wanted(r);
    enum lose_verdict v;

    r->out->deaf_pid = deaf_process(r);
    r->out->fault_work = r->faults_given ? work_after_fault(r) : 0;
    if (n)
        note_pace(r, n - 1);
    if (judge_proven(r))
        return judge_leaks(r) ? LOSE_LEAKS : LOSE_SURVIVED;
    if (!r->seen)
        return judge_without_device(r);
    if (all_given && did_what_was_left(r))
        return LOSE_SURVIVED;
    if (all_given && !r->ended &&
        (n ? works_at_its_pace(r, n - 1) : r->faults_given && goes_on_at_its_pace(r)))
        return LOSE_SURVIVED;
    for (uint32_t i = 0; !n && i < r->seen; i++) /* the one that worked most */
        if (device_work(&r->record->device[i], SUBMITS) > device_work(&r->record->device[slot], SUBMITS))
            slot = i;
    if (!n && !r->faults_given) {
        int code;
        return device_fate(r, slot, &code) == KILLED ? judge_process(r, slot) : LOSE_NOT_REACHED;
    }
    if (!all_given && (!n || loss_proven(r, n - 1)) && !device_is_gone(r, slot))
        return LOSE_NOT_REACHED;
    v = judge_process(r, n ? heir(r, n - 1) : slot);
    return v == LOSE_ENDED && !all_given && n && loss_proven(r, n - 1) ? LOSE_NOT_REACHED : v;
}

void judge_end(struct run *r)
{
    const struct lose_device *s;
    uint32_t n = r->out->num_losses;
    uint64_t work;
    int code;
    s = r->ended && r->out->verdict == LOSE_SURVIVED && n ? successor_of_loss(r, n - 1, &work) : NULL;
    if (!s || device_fate(r, (uint32_t)(s - r->record->device), &code) != KILLED)
        return;
    r->out->verdict = LOSE_DIED;
    r->out->signalled = true;
    r->out->code = code;
}
