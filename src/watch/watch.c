/* SPDX-License-Identifier: MIT */
/* watch.c: listening, and noticing (contract in watch.h; evidence in collect.c).
 *
 * A stream is kept from when the device takes it until the ring is reset or there is no more room. While evidence is being
 * collected, what would be freed waits in `garbage`, so that the collector needs no lock.
 */
#include "watch/priv.h"
#include "watch/items.h"
#include "executor/engine/engine.h"

#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <aerogpu/pci.h>

#include "base/check.h"
#include "base/log.h"
#include "blackbox/package.h"

enum { TICK_MS = 25, SETTLE_MS = 200, SAMPLE_NS = 240000000 };

/* With the lock. */
static void list_check(const struct retained_list *l)
{
    INVARIANT((l->first == NULL) == (l->end == &l->first));
    INVARIANT(!*l->end);
    INVARIANT(l->first || (!l->count && !l->bytes));
}

static void watch_check(const struct watch *w)
{
    list_check(&w->list);
    list_check(&w->garbage);
    INVARIANT(w->collecting || !w->garbage.first);
    INVARIANT(!w->crash_pending || w->crash_id);
    INVARIANT(w->num_statuses <= WATCH_STATUSES);
    INVARIANT(w->num_statuses < 2 ||
              w->statuses[w->num_statuses - 1].status != w->statuses[w->num_statuses - 2].status);
    INVARIANT(!w->rescued || w->collecting);
    INVARIANT(!w->list.first || w->list.first->next || w->list.count == 1);
}

static void list_init(struct retained_list *l)
{
    *l = (struct retained_list){.end = &l->first};
}

static void retained_free(struct watch *w, struct retained *k)
{
    watch_memory_release(&w->memory, k);
    free(k->stream);
    free(k->table);
    free(k);
}

static void list_free(struct watch *w, struct retained_list *l)
{
    while (l->first) {
        struct retained *k = l->first;
        l->first = k->next;
        retained_free(w, k);
    }
    list_init(l);
}

/* With the lock. */
static void list_discard(struct watch *w, struct retained_list *l)
{
    if (w->collecting && l->first) {
        *w->garbage.end = l->first;
        w->garbage.end = l->end;
        list_init(l);
    } else {
        list_free(w, l);
    }
}

/* ---- on the device's threads --------------------------------------------- */

static void *guest_memory(struct machine *m, uint64_t gpa, uint64_t size)
{
    uint64_t ram = machine_ram_size(m);

    return size && gpa < ram && size <= ram - gpa ? machine_ram(m) + gpa : NULL;
}

static uint8_t *copy(struct watch *w, uint64_t gpa, uint32_t size)
{
    const void *from = guest_memory(w->params.machine, gpa, size);
    uint8_t *to = from ? malloc(size) : NULL;

    if (to)
        memcpy(to, from, size);
    return to;
}

/* The oldest streams go first when there is no room; what they made stays unknown then, and the dump says so. */
static void make_room(struct watch *w)
{
    while (w->list.bytes > w->params.max_stream_bytes && w->list.first->next) {
        struct retained_list one;
        struct retained *k = w->list.first;

        list_init(&one);
        w->list.first = k->next;
        w->list.bytes -= (k->stream ? k->cmd_size : 0u) + (k->table ? k->alloc_size : 0u);
        w->list.count--;
        w->list.dropped++;
        k->next = NULL;
        one.first = k;
        one.end = &k->next;
        list_discard(w, &one);
    }
}

static void set_status(struct watch *w, uint64_t time_ns, enum bb_status status, const char *detail)
{
    struct status_change *s;

    if (w->num_statuses && w->statuses[w->num_statuses - 1].status == status)
        return;
    if (w->num_statuses == WATCH_STATUSES)
        memmove(w->statuses, w->statuses + 1, --w->num_statuses * sizeof(w->statuses[0]));
    s = &w->statuses[w->num_statuses++];
    *s = (struct status_change){.time_ns = time_ns, .status = status};
    snprintf(s->detail, sizeof(s->detail), "%s", detail ? detail : "");
}

static void on_take(struct watch *w, const struct gpu_event *e)
{
    const struct abi_submission *s = e->submission;
    struct retained *k = calloc(1, sizeof(*k));

    if (!k)
        return;
    *k = (struct retained){.id = s->id,
                           .fence = s->fence,
                           .ordinal = w->ordinal++,
                           .cmd_gpa = s->cmd_gpa,
                           .alloc_gpa = s->alloc_gpa,
                           .time_ns = e->time_ns,
                           .context_id = s->context_id,
                           .engine_id = s->engine_id,
                           .flags = s->flags,
                           .cmd_size = s->cmd_size,
                           .alloc_size = s->alloc_size};
    if (w->num_statuses && w->statuses[w->num_statuses - 1].status == BB_STATUS_RESET)
        set_status(w, e->time_ns, BB_STATUS_ACTIVE, "work is taken again");
    k->stream = copy(w, s->cmd_gpa, s->cmd_size);
    k->table = copy(w, s->alloc_gpa, s->alloc_size);
    watch_memory_take(w, k);
    *w->list.end = k;
    w->list.end = &k->next;
    w->list.count++;
    w->list.bytes += (k->stream ? k->cmd_size : 0u) + (k->table ? k->alloc_size : 0u);
    make_room(w);
}

static struct retained *find(struct watch *w, uint64_t id)
{
    struct retained *k = w->list.first;

    while (k && k->id != id)
        k = k->next;
    return k;
}

/* What a refusal says about the device. Streams that are merely wrong say nothing about it. */
static void status_of_error(struct watch *w, uint64_t time_ns, uint32_t cause, const char *text)
{
    if (cause != ABI_CAUSE_MEMORY && cause != ABI_CAUSE_DMA)
        return;
    set_status(w, time_ns, cause == ABI_CAUSE_MEMORY ? BB_STATUS_OUT_OF_MEMORY : BB_STATUS_DMA_FAULT, text);
    w->went_wrong = true;
}

static void on_complete(struct watch *w, const struct gpu_event *e)
{
    const struct abi_completion *c = e->completion;
    struct retained *k = find(w, e->id);

    if (!k)
        return;
    k->done_ns = e->time_ns;
    k->state = c->error ? RETAINED_FAILED : RETAINED_DONE;
    k->error = c->error;
    k->cause = c->cause;
    k->packets = c->packets;
    k->has_fault = c->has_fault != 0;
    k->fault_address = c->fault_address;
    if (!c->error) {
        if (w->went_wrong)
            set_status(w, e->time_ns, BB_STATUS_ACTIVE, "work is executed again");
        w->went_wrong = false;
        return;
    }
    status_of_error(w, e->time_ns, c->cause, c->message);
    snprintf(k->message, sizeof(k->message), "%.195s", c->message);
    if (!w->crash_pending)
        w->crash_id = e->id;
    w->crash_pending = true;
    w->happened++;
    pthread_cond_broadcast(&w->changed);
}

static bool has_unfinished(const struct watch *w)
{
    for (const struct retained *k = w->list.first; k; k = k->next)
        if (k->state == RETAINED_QUEUED)
            return true;
    return false;
}

static struct snapshot *take_snapshot(struct watch *w, const char *reason);

static void on_ring_reset(struct watch *w, const struct gpu_event *e)
{
    /* What is dropped unfinished would be forgotten: the evidence is taken now, and examined later. */
    bool unfinished = has_unfinished(w);

    if (unfinished)
        set_status(w, e->time_ns, BB_STATUS_RESET, "the driver reset the ring while work was unfinished");
    if (unfinished && !w->rescued && !w->hang_reported) {
        w->rescued = take_snapshot(w, "reset");
        if (w->rescued)
            w->rescued->has_progress = machine_progress(w->params.machine, &w->rescued->progress);
        w->happened++;
        pthread_cond_broadcast(&w->changed);
    }
    list_discard(w, &w->list);
    w->ordinal = 0;
}

/* The device's own refusals: a descriptor or page that it cannot reach; no completion comes for these. */
static void on_error(struct watch *w, const struct gpu_event *e)
{
    snprintf(w->error_text, sizeof(w->error_text), "%.195s", e->message ? e->message : "");
    w->error_cause = e->cause;
    if (e->cause == ABI_CAUSE_DMA)
        status_of_error(w, e->time_ns, e->cause, w->error_text);
}

static void on_retire(struct watch *w, const struct gpu_event *e)
{
    struct retained *k = find(w, e->id);

    if (!k || k->state != RETAINED_QUEUED)
        return;
    k->state = RETAINED_FAILED;
    k->done_ns = e->time_ns;
    k->cause = w->error_cause;
    memcpy(k->message, w->error_text, sizeof(k->message));
    if (!w->crash_pending)
        w->crash_id = e->id;
    w->crash_pending = true;
    w->happened++;
    pthread_cond_broadcast(&w->changed);
}

static void note_event(struct watch *w, const struct gpu_event *e)
{
    struct device_event *d = &w->events[w->num_events++ % WATCH_EVENTS];

    bb_flight_event(w->flight, (uint8_t)e->kind, e->id, e->fence, e->value);
    *d = (struct device_event){
        .time_ns = e->time_ns, .kind = (uint8_t)e->kind, .a = e->id, .b = e->fence, .c = e->value};
    if (e->message)
        snprintf(d->text, sizeof(d->text), "%.59s", e->message);
}

static void on_event(void *ctx, const struct gpu_event *e)
{
    struct watch *w = ctx;

    pthread_mutex_lock(&w->lock);
    watch_check(w);
    note_event(w, e);
    switch (e->kind) {
    case GPU_EVENT_TAKE:
        on_take(w, e);
        if (w->list.count == 1)
            pthread_cond_broadcast(&w->changed);
        break;
    case GPU_EVENT_COMPLETE:
        on_complete(w, e);
        break;
    case GPU_EVENT_ERROR:
        on_error(w, e);
        break;
    case GPU_EVENT_RETIRE:
        on_retire(w, e);
        break;
    case GPU_EVENT_RING_RESET:
        on_ring_reset(w, e);
        break;
    default:
        break;
    }
    watch_check(w);
    pthread_mutex_unlock(&w->lock);
}

/* ---- evidence ------------------------------------------------------------ */

/* With the lock. The copies share the streams, which stay as long as `collecting` is not 0. */
static struct snapshot *take_snapshot(struct watch *w, const char *reason)
{
    struct snapshot *sn = calloc(1, sizeof(*sn));
    uint64_t first = w->num_events > WATCH_EVENTS ? w->num_events - WATCH_EVENTS : 0;

    if (!sn)
        return NULL;
    sn->items = calloc(w->list.count ? w->list.count : 1, sizeof(*sn->items));
    sn->events = calloc(WATCH_EVENTS, sizeof(*sn->events));
    if (!sn->items || !sn->events) {
        watch_snapshot_finish(sn);
        free(sn);
        return NULL;
    }
    for (const struct retained *k = w->list.first; k; k = k->next)
        sn->items[sn->num_items++] = *k;
    for (uint64_t i = first; i < w->num_events; i++)
        sn->events[sn->num_events++] = w->events[i % WATCH_EVENTS];
    memcpy(sn->statuses, w->statuses, sizeof(sn->statuses));
    sn->num_statuses = w->num_statuses;
    sn->streams_dropped = w->list.dropped;
    sn->time_ns = machine_now(w->params.machine);
    for (uint64_t i = w->num_samples > WATCH_SAMPLES - 1 ? w->num_samples - WATCH_SAMPLES + 1 : 0;
         i < w->num_samples; i++)
        sn->samples[sn->num_samples++] = w->samples[i % WATCH_SAMPLES];
    sn->reason = reason;
    sn->resources = w->resources;
    INVARIANT(sn->num_items == w->list.count);
    INVARIANT(sn->num_events <= WATCH_EVENTS && sn->num_samples < WATCH_SAMPLES);
    w->collecting++;
    return sn;
}

void watch_snapshot_finish(struct snapshot *sn)
{
    free(sn->items);
    free(sn->events);
    sn->items = NULL;
    sn->events = NULL;
}

static void release(struct watch *w, struct snapshot *sn)
{
    watch_snapshot_finish(sn);
    free(sn);
    pthread_mutex_lock(&w->lock);
    INVARIANT(w->collecting);
    if (!--w->collecting)
        list_free(w, &w->garbage);
    pthread_mutex_unlock(&w->lock);
}

/* ---- dumps --------------------------------------------------------------- */

/* At `path`; NULL: under a name of its own, which dump_path then has. */
static int write_dump(struct watch *w, struct snapshot *sn, const struct watch_crash *crash, const char *path,
                      struct error *e)
{
    static atomic_uint number; /* of this process: it may have several watches */
    struct bb_dump_name name;

    struct bb_package *p;
    struct bb_error be = {0};
    int r = bb_package_create(&p, 0), priority = getpriority(PRIO_PROCESS, 0);

    if (r)
        return error_set(e, r, "no memory for a dump");
    setpriority(PRIO_PROCESS, 0, -10); /* where it may: what crashed may spin on all processors */
    watch_collect(w, sn, crash, p);
    if (path) {
        r = bb_package_send(p, &(struct bb_send_params){.path = path}, &be);
    } else {
        name = (struct bb_dump_name){.folder = w->params.directory,
                                     .program = w->params.program ? w->params.program : "aerogpu",
                                     .pid = (unsigned)getpid(),
                                     .number = ++number};
        r = bb_package_send_as(p, &name, w->dump_path, &be);
    }
    bb_package_destroy(p);
    setpriority(PRIO_PROCESS, 0, priority);
    return r ? error_set(e, r, "%s", be.text) : 0;
}

static void examine(struct watch *w, struct snapshot *sn)
{
    struct watch_crash crash;
    struct error e = {0};
    const char *path = NULL;
    bool died = sn->died;

    watch_host_sample(&sn->samples[sn->num_samples++], sn->time_ns, machine_executor_pid(w->params.machine));
    watch_judge(sn, &crash);
    if (w->params.directory && w->dumps < w->params.max_dumps) {
        w->dumps++;
        INVARIANT(w->dumps <= w->params.max_dumps); /* 2 */
        if (!write_dump(w, sn, &crash, NULL, &e))
            path = w->dump_path;
        else
            log_error("blackbox", "%s", e.text);
    }
    release(w, sn);
    if (died)
        watch_addresses_gone(w);
    pthread_mutex_lock(&w->lock);
    w->crashes++;
    w->examined_ns = machine_now(w->params.machine);
    pthread_mutex_unlock(&w->lock);
    if (w->params.found)
        w->params.found(w->params.ctx, &crash, path, &e);
}

int watch_request(struct watch *w, const char *path, struct error *e)
{
    struct watch_crash crash = {.cause = BB_CAUSE_REQUEST,
                                .packet = UINT32_MAX,
                                .draw = UINT32_MAX,
                                .text = "nothing crashed: the dump was asked for"};
    struct snapshot *sn;
    int r;

    pthread_mutex_lock(&w->lock);
    sn = take_snapshot(w, "request");
    pthread_mutex_unlock(&w->lock);
    if (!sn)
        return error_set(e, -ENOMEM, "no memory for a dump");
    sn->has_progress = machine_progress(w->params.machine, &sn->progress);
    watch_host_sample(&sn->samples[sn->num_samples++], sn->time_ns, machine_executor_pid(w->params.machine));
    r = write_dump(w, sn, &crash, path, e);
    release(w, sn);
    return r;
}

/* ---- noticing ------------------------------------------------------------ */

static void wait_ms(struct watch *w, unsigned ms)
{
    struct timespec ts;

    clock_gettime(CLOCK_MONOTONIC, &ts);
    ts.tv_nsec += (long)ms * 1000000;
    ts.tv_sec += ts.tv_nsec / 1000000000;
    ts.tv_nsec %= 1000000000;
    pthread_cond_timedwait(&w->changed, &w->lock, &ts);
}

/* The submission that the executor died of must have failed before the evidence is complete. */
static void wait_for_failure(struct watch *w, uint64_t id)
{
    for (unsigned ms = 0; ms < SETTLE_MS && !w->stop; ms += 10) {
        struct retained *k = find(w, id);
        if (!k || k->state != RETAINED_QUEUED)
            return;
        wait_ms(w, 10);
    }
}

/* Milliseconds in which it must have been let run, where somebody else reset it: he had his own idea of how long is too long. */
static double enough_for_others(const struct watch *w, uint64_t now)
{
    return 0.5 * fmin((double)w->params.hang_ms, (double)(now - w->progress_ns) / 1e6);
}

static struct snapshot *notice_death(struct watch *w, struct exec_progress *progress)
{
    struct exec_death death;
    struct snapshot *sn;
    bool any;

    pthread_mutex_unlock(&w->lock);
    any = machine_last_death(w->params.machine, &death, progress);
    pthread_mutex_lock(&w->lock);
    if (!any || death.time_ns == w->death_seen_ns)
        return NULL;
    w->death_seen_ns = death.time_ns;
    snprintf(w->death_text, sizeof(w->death_text), "%.195s", death.message);
    if (death.submission)
        wait_for_failure(w, death.submission);
    w->crash_pending = false;
    if (death.by_host && w->hang_reported)
        return NULL; /* the end of a hang that was examined */
    if (!death.submission)
        return NULL; /* it was idle: nothing is lost */
    set_status(w, death.time_ns, death.has_fault ? BB_STATUS_PAGE_FAULT : BB_STATUS_STOPPED, death.message);
    sn = take_snapshot(w, death.has_fault ? "page fault" : "executor death");
    if (!sn)
        return NULL;
    watch_addresses(w, progress);
    w->addresses_seen = 0; /* the next executor begins anew */
    sn->death = death;
    sn->died = sn->has_progress = true;
    sn->progress = *progress;
    w->ended_pid = death.pid;
    if (death.by_host) { /* it answered no reset: what held it up is known from before */
        const uint64_t now = machine_now(w->params.machine);
        struct watch_hang h = watch_hang_until(w, now, enough_for_others(w, now));

        watch_set_hung(sn, &h);
    }
    return sn;
}

/* Whether an executor runs is known by its number only. */
static void notice_executor(struct watch *w)
{
    int pid = machine_executor_pid(w->params.machine);
    uint64_t now = machine_now(w->params.machine);

    if (w->ended_pid && pid && pid != w->ended_pid) {
        set_status(w, now, BB_STATUS_ACTIVE, "a new executor runs");
        w->ended_pid = 0;
        w->unknown = false;
    } else if (pid && w->unknown) {
        set_status(w, now, BB_STATUS_ACTIVE, "an executor runs");
        w->unknown = false;
    }
    if (watch_misses_executor(&w->missed_ns, !pid && !w->ended_pid && has_unfinished(w), now) &&
        !w->unknown) {
        set_status(w, now, BB_STATUS_UNKNOWN, "work waits, and no executor runs");
        w->unknown = true;
    }
}

/* Also where a pause has begun and no sample of it is there: what the executor did before is none of it. */
static void sample_host(struct watch *w)
{
    uint64_t now = machine_now(w->params.machine);
    const struct host_sample *last =
        w->num_samples ? &w->samples[(w->num_samples - 1) % WATCH_SAMPLES] : NULL;

    if (!last || now - last->time_ns > SAMPLE_NS ||
        (w->pause.ns > w->params.hang_ms * NSEC_PER_MSEC / 16 && last->time_ns <= w->progress_ns))
        watch_host_sample(&w->samples[w->num_samples++ % WATCH_SAMPLES], now,
                          machine_executor_pid(w->params.machine));
}

static uint64_t progress_hash(const struct exec_progress *c, uint64_t oldest)
{
    uint64_t v[4 * EXEC_PROGRESS_SLOTS + 1];
    int n = 0;

    for (int i = 0; i < EXEC_PROGRESS_SLOTS; i++) {
        v[n++] = c->slots[i].top;
        v[n++] = exec_progress_bottom(&c->slots[i]);
        v[n++] = atomic_load(&c->slots[i].decoding);
        v[n++] = atomic_load(&c->slots[i].submission);
    }
    v[n++] = oldest;
    return XXH3_64bits(v, (size_t)n * sizeof(v[0]));
}

/* Work went on, or there is none any more. */
static void end_pause(struct watch *w, uint64_t now)
{
    if (w->pause.ns > w->longest.ns)
        w->longest = w->pause;
    w->pause = (struct watch_pause){.packet = UINT32_MAX};
    w->progress_ns = now;
}

static void note_pause(struct watch *w, const struct exec_progress *progress, const struct retained *k,
                       uint64_t now)
{
    const struct exec_progress_slot *slot = watch_progress_find(progress, k->id);
    uint32_t marks = slot ? atomic_load(&slot->num_marks) : 0, bottom = slot ? exec_progress_bottom(slot) : 0;

    w->pause = (struct watch_pause){
        .ns = now - w->progress_ns, .submission = k->id, .ordinal = k->ordinal, .packet = UINT32_MAX};
    if (progress->exact && slot && slot->top == bottom + 1 && bottom < marks && bottom < EXEC_PROGRESS_MARKS)
        w->pause.packet = slot->marks[bottom].first;
}

static struct snapshot *notice_hang(struct watch *w, struct exec_progress *progress)
{
    const struct retained *oldest = w->list.first;
    uint64_t now = machine_now(w->params.machine), hash, id;
    struct snapshot *sn;
    struct watch_hang pause;

    while (oldest && oldest->state != RETAINED_QUEUED)
        oldest = oldest->next;
    if (w->hang_reported && (!oldest || oldest->id != w->hang_reported)) {
        w->hang_reported = 0;
        if (w->num_statuses && w->statuses[w->num_statuses - 1].status == BB_STATUS_TIMEOUT)
            set_status(w, now, BB_STATUS_ACTIVE, "it went on after all");
    }
    if (!oldest) {
        end_pause(w, now);
        return NULL;
    }
    id = oldest->id;
    pthread_mutex_unlock(&w->lock);
    hash = machine_progress(w->params.machine, progress) ? progress_hash(progress, id) : 0;
    pthread_mutex_lock(&w->lock);
    w->in_order = hash && progress->in_order;
    if (hash)
        watch_addresses(w, progress);
    if (!hash || hash != w->progress_hash) {
        w->progress_hash = hash;
        end_pause(w, now);
        return NULL;
    }
    if (find(w, id))
        note_pause(w, progress, find(w, id), now);
    if (w->hang_reported || now - w->progress_ns < w->params.hang_ms * NSEC_PER_MSEC || !find(w, id) ||
        find(w, id)->state != RETAINED_QUEUED)
        return NULL;
    pause = watch_hang_until(w, now, (double)w->params.hang_ms);
    if (pause.starved && now - w->progress_ns < WATCH_HANG_TIMES * w->params.hang_ms * NSEC_PER_MSEC)
        return NULL;
    set_status(w, now, BB_STATUS_TIMEOUT, "no progress");
    sn = take_snapshot(w, "timeout");
    if (!sn)
        return NULL;
    w->hang_reported = id;
    sn->has_progress = true;
    watch_set_hung(sn, &pause);
    sn->progress = *progress;
    return sn;
}

static struct snapshot *notice_error(struct watch *w)
{
    const struct retained *k = w->crash_pending ? find(w, w->crash_id) : NULL;
    struct snapshot *sn;

    if (!w->crash_pending)
        return NULL;
    w->crash_pending = false;
    if (!w->params.all_errors || (k && !strcmp(k->message, w->death_text)))
        return NULL; /* the latter failed with its executor, whose death is known */
    sn = take_snapshot(w, "error");
    if (sn)
        sn->failed_id = w->crash_id;
    return sn;
}

/* A device that was removed for what was dumped already needs no dump of its own. */
static struct snapshot *notice_removal(struct watch *w)
{
    struct snapshot *sn;

    if (!w->removed_pending)
        return NULL;
    w->removed_pending = false;
    if (w->examined_ns && (w->removed_ns < w->examined_ns || w->removed_ns - w->examined_ns < NSEC_PER_SEC))
        return NULL;
    sn = take_snapshot(w, "device removed");
    if (sn) {
        sn->removed = true;
        sn->has_progress = machine_progress(w->params.machine, &sn->progress);
    }
    return sn;
}

static struct snapshot *notice(struct watch *w, struct exec_progress *progress)
{
    struct snapshot *sn = notice_death(w, progress);

    if (!sn && w->rescued) {
        sn = w->rescued;
        w->rescued = NULL;
        struct watch_hang p = watch_hang_until(w, sn->time_ns, enough_for_others(w, sn->time_ns));

        watch_set_hung(sn, &p);
    }
    if (!sn)
        sn = notice_error(w);
    if (!sn)
        sn = notice_removal(w);
    return sn ? sn : notice_hang(w, progress);
}

static void *watch_thread(void *arg)
{
    struct exec_progress *progress = calloc(1, sizeof(*progress));
    struct watch *w = arg;
    uint64_t seen;

    pthread_mutex_lock(&w->lock);
    while (progress && (!w->stop || w->crash_pending || w->rescued || w->removed_pending)) {
        struct snapshot *sn;

        seen = w->happened;
        watch_check(w);
        sample_host(w);
        notice_executor(w);
        sn = notice(w, progress);
        if (sn) {
            pthread_mutex_unlock(&w->lock);
            examine(w, sn);
            pthread_mutex_lock(&w->lock);
            continue;
        }
        w->examined = seen;
        pthread_cond_broadcast(&w->changed);
        if (w->stop || w->happened != seen)
            continue;
        if (has_unfinished(w) || w->ended_pid)
            wait_ms(w, TICK_MS);
        else
            wait_ms(w, 1000);
    }
    w->examined = UINT64_MAX;
    pthread_cond_broadcast(&w->changed);
    pthread_mutex_unlock(&w->lock);
    free(progress);
    return NULL;
}

void watch_system_event(struct watch *w, unsigned id, const char *text)
{
    struct device_event *d;
    uint64_t now;

    if (!w)
        return;
    now = machine_now(w->params.machine);
    pthread_mutex_lock(&w->lock);
    bb_flight_event(w->flight, GPU_EVENT_KINDS, id, 0, 0);
    d = &w->events[w->num_events++ % WATCH_EVENTS];
    *d = (struct device_event){.time_ns = now, .kind = GPU_EVENT_KINDS, .a = id};
    snprintf(d->text, sizeof(d->text), "%s", text);
    if (id == 0x116)
        set_status(w, now, BB_STATUS_STOPPED, text);
    if (id == 4109 || id == 0x116) {
        w->removed_pending = true;
        w->removed_ns = now;
        w->happened++;
        pthread_cond_broadcast(&w->changed);
    }
    pthread_mutex_unlock(&w->lock);
}

void watch_settle(struct watch *w)
{
    uint64_t up_to;

    pthread_mutex_lock(&w->lock);
    up_to = ++w->happened;
    pthread_cond_broadcast(&w->changed);
    while (w->examined < up_to)
        pthread_cond_wait(&w->changed, &w->lock);
    pthread_mutex_unlock(&w->lock);
}

uint32_t watch_crashes(struct watch *w)
{
    uint32_t n;

    pthread_mutex_lock(&w->lock);
    n = w->crashes;
    pthread_mutex_unlock(&w->lock);
    return n;
}

struct watch_pause watch_longest_pause(struct watch *w)
{
    struct watch_pause p;

    pthread_mutex_lock(&w->lock);
    p = w->longest;
    pthread_mutex_unlock(&w->lock);
    return p;
}

/* ---- life cycle ---------------------------------------------------------- */

int watch_create(struct watch **out, const struct watch_params *p, struct error *e)
{
    struct watch *w = calloc(1, sizeof(*w));
    pthread_condattr_t attr;
    sigset_t all, old;
    int r;

    *out = NULL;
    if (!w || bb_resources_create(&w->resources, 0)) {
        free(w);
        return error_set(e, -ENOMEM, "no memory for a black box");
    }
    w->params = *p;
    w->params.hang_ms = p->hang_ms ? p->hang_ms : 2000;
    w->params.max_dumps = p->max_dumps ? p->max_dumps : 4;
    w->params.max_stream_bytes = p->max_stream_bytes ? p->max_stream_bytes : UINT64_C(64) << 20;
    w->params.max_memory_bytes = p->max_memory_bytes ? p->max_memory_bytes : UINT64_C(256) << 20;
    w->flight = bb_flight_of_process("device");
    for (int i = 0; i < GPU_EVENT_KINDS; i++)
        bb_flight_name(w->flight, (uint8_t)i, gpu_event_name((enum gpu_event_kind)i));
    bb_flight_name(w->flight, GPU_EVENT_KINDS, "system(event)");
    list_init(&w->list);
    list_init(&w->garbage);
    pthread_mutex_init(&w->lock, NULL);
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(&w->changed, &attr);
    pthread_condattr_destroy(&attr);
    set_status(w, machine_now(p->machine), BB_STATUS_ACTIVE, "the black box was attached");
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    r = pthread_create(&w->thread, NULL, watch_thread, w);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    if (r) {
        bb_resources_destroy(w->resources);
        free(w);
        return error_set(e, -r, "the black box cannot start its thread: %s", strerror(r));
    }
    w->observer = (struct gpu_observer){.event = on_event, .ctx = w};
    gpu_observe(machine_gpu(p->machine), &w->observer);
    *out = w;
    return 0;
}

void watch_destroy(struct watch *w)
{
    if (!w)
        return;
    gpu_unobserve(machine_gpu(w->params.machine), &w->observer);
    pthread_mutex_lock(&w->lock);
    w->stop = true;
    pthread_cond_broadcast(&w->changed);
    pthread_mutex_unlock(&w->lock);
    pthread_join(w->thread, NULL);
    list_free(w, &w->list);
    list_free(w, &w->garbage);
    watch_memory_finish(&w->memory);
    bb_resources_destroy(w->resources);
    bb_flight_close(w->flight);
    pthread_cond_destroy(&w->changed);
    pthread_mutex_destroy(&w->lock);
    free(w);
}
