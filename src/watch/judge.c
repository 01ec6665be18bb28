/* SPDX-License-Identifier: MIT */
/* judge.c: from the marks of a submission to the command that crashed.
 *
 * Each mark becomes a TOP marker, the commands that it covers, and a BOTTOM marker; bb_infer does the rest. What was not
 * decoded yet stands behind a TOP marker that was never written.
 */
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <aerogpu/ext.h>

#include "abi/packets.h"
#include "base/array.h"
#include "base/check.h"
#include "base/utf8.h"
#include "blackbox/internal.h"
#include "watch/items.h"
#include "watch/pointers.h"
#include "watch/priv.h"
#include "executor/engine/engine.h"

enum { NEAR_ZERO = 1 << 20 }; /* what is not there, and a member or element of it */

const struct exec_progress_slot *watch_progress_find(const struct exec_progress *c, uint64_t submission)
{
    for (int i = 0; submission && i < EXEC_PROGRESS_SLOTS; i++)
        if (atomic_load(&c->slots[i].submission) == submission)
            return &c->slots[i];
    return NULL;
}

void watch_add(char *text, size_t size, const char *fmt, ...)
{
    size_t at = strlen(text);
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(text + at, size - at, fmt, ap);
    va_end(ap);
}

/* ---- items --------------------------------------------------------------- */

struct works {
    uint32_t *packets;
    size_t n, cap;
};

static bool find_works(struct works *w, const struct retained *k)
{
    struct abi_stream s;
    struct abi_packet p;

    *w = (struct works){0};
    if (!k->stream || abi_stream_open(&s, k->stream, k->cmd_size, NULL))
        return true;
    while (abi_stream_next(&s, &p, NULL) > 0) {
        if (!abi_opcode_is_work(p.opcode))
            continue;
        if (array_reserve(w->packets, w->cap, w->n + 1))
            return false;
        w->packets[w->n++] = p.index;
    }
    return true;
}

int watch_items_init(struct watch_items *out, const struct retained *k, const struct exec_progress_slot *slot)
{
    uint32_t marks = slot ? atomic_load(&slot->num_marks) : 0, at = 0, n = 0;
    const uint32_t bottom = slot ? exec_progress_bottom(slot) : 0;
    struct works w;

    *out = (struct watch_items){0};
    if (marks > EXEC_PROGRESS_MARKS)
        marks = EXEC_PROGRESS_MARKS; /* whatever wrote it */
    if (!find_works(&w, k)) {
        free(w.packets);
        return -1;
    }
    out->items = calloc(w.n + 2 * (size_t)marks + 1, sizeof(*out->items));
    if (!out->items) {
        free(w.packets);
        return -1;
    }
    for (uint32_t m = 0; m < marks; m++) {
        while (at < w.n && w.packets[at] < slot->marks[m].first)
            at++; /* no command buffer was open: the decoder did it itself, an upload to an idle buffer for one */
        out->items[n++] = (struct bb_item){.kind = BB_ITEM_TOP, .written = slot->top > m, .id = m + 1};
        for (; at < w.n && w.packets[at] <= slot->marks[m].last; at++)
            out->items[n++] = (struct bb_item){.kind = BB_ITEM_COMMAND, .id = w.packets[at]};
        out->items[n++] = (struct bb_item){.kind = BB_ITEM_BOTTOM, .written = bottom > m, .id = m + 1};
    }
    if (at < w.n)
        out->items[n++] = (struct bb_item){.kind = BB_ITEM_TOP, .id = marks + 1};
    for (; at < w.n; at++)
        out->items[n++] = (struct bb_item){.kind = BB_ITEM_COMMAND, .id = w.packets[at]};
    out->n = n;
    INVARIANT(n <= w.n + 2 * (size_t)marks + 1);
    free(w.packets);
    return 0;
}

void watch_items_finish(struct watch_items *i)
{
    free(i->items);
    i->items = NULL;
}

/* ---- who ----------------------------------------------------------------- */

enum bb_end watch_end(const struct snapshot *sn)
{
    return sn->died && !sn->death.by_host ? BB_END_AT_ONCE : BB_END_HANG;
}

const struct retained *watch_submission(const struct snapshot *sn, uint64_t id)
{
    for (uint32_t i = 0; id && i < sn->num_items; i++)
        if (sn->items[i].id == id)
            return &sn->items[i];
    return NULL;
}

/* It had not completed when it happened: what the executor had as it died fails by its death. */
static bool was_unfinished(const struct snapshot *sn, const struct retained *k)
{
    return k->state == RETAINED_QUEUED ||
           (sn->died && k->state == RETAINED_FAILED && sn->death.submission && k->id >= sn->death.submission);
}

/* All of it is decoded, and its marks say that the device was done with it. */
static bool is_done_by_marks(const struct exec_progress_slot *slot)
{
    const uint32_t marks = atomic_load(&slot->num_marks);

    return atomic_load(&slot->state) != EXEC_PROGRESS_DECODING &&
           atomic_load(&slot->waits) == EXEC_WAIT_NONE && exec_progress_bottom(slot) >= marks;
}

/* The first that was not done, whether or not it had completed: what is done completes a moment later. */
static const struct retained *culprit(const struct snapshot *sn)
{
    const struct retained *k = watch_submission(sn, sn->failed_id), *oldest = NULL;

    if (!k && sn->died && sn->death.in_decoder)
        k = watch_submission(sn, sn->death.submission);
    for (uint32_t i = 0; !k && i < sn->num_items; i++) {
        const struct exec_progress_slot *slot =
            sn->has_progress ? watch_progress_find(&sn->progress, sn->items[i].id) : NULL;

        if (!was_unfinished(sn, &sn->items[i]))
            continue;
        if (!oldest)
            oldest = &sn->items[i];
        if (slot && !is_done_by_marks(slot))
            k = &sn->items[i];
    }
    return k ? k : oldest;
}

/* The packet `index`: its number among draws, and its name. */
static void describe(const struct retained *k, uint32_t index, uint32_t *draw, char *name, size_t size)
{
    struct abi_stream s;
    struct abi_packet p;

    *draw = 0;
    snprintf(name, size, "packet %u", index);
    if (!k->stream || abi_stream_open(&s, k->stream, k->cmd_size, NULL))
        return;
    while (abi_stream_next(&s, &p, NULL) > 0) {
        const bool is_draw = abi_opcode_is_draw(p.opcode);

        if (p.index == index) {
            if (!is_draw)
                *draw = UINT32_MAX;
            if (is_draw)
                snprintf(name, size, "%s %u (packet %u, %s)",
                         p.opcode == AEROGPU_CMD_DISPATCH ? "dispatch" : "draw", *draw, index, p.desc->name);
            else
                snprintf(name, size, "packet %u (%s)", index, p.desc ? p.desc->name : "unknown");
            return;
        }
        *draw += is_draw;
    }
    *draw = UINT32_MAX;
}

/* Those that a processor or system call raises in the thread that earned it; any other comes from outside, whatever it is. */
static bool is_own_fault(int signal)
{
    static const int own[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP, SIGSYS, SIGPIPE, SIGXFSZ};

    for (size_t i = 0; i < sizeof(own) / sizeof(own[0]); i++)
        if (own[i] == signal)
            return true;
    return false;
}

/* The kernel's count of such ends went up in the last seconds of the executor. The last sample of it may be of after that: it
 * was dead then, and nobody knew. */
static bool ran_out_of_memory(const struct snapshot *sn)
{
    const struct host_sample *now = sn->num_samples ? &sn->samples[sn->num_samples - 1] : NULL;

    for (uint32_t i = 0; i < sn->num_samples; i++)
        if (sn->samples[i].executor_pid == sn->death.pid &&
            sn->samples[i].time_ns + 3 * NSEC_PER_SEC > sn->death.time_ns)
            return now->oom_kills > sn->samples[i].oom_kills;
    return false;
}

/* Who finds no memory gives up, or takes what it did not get for an address. */
static bool died_of_limit(const struct exec_death *d)
{
    const bool nothing = d->has_fault && d->access != EXEC_ACCESS_NO_ADDRESS && d->fault_address < NEAR_ZERO;

    return d->no_memory && (d->signal == SIGABRT || nothing);
}

static enum bb_cause cause_of_death(const struct snapshot *sn)
{
    const struct exec_death *d = &sn->death;

    if (d->signal == SIGKILL)
        return ran_out_of_memory(sn) ? BB_CAUSE_HOST_MEMORY : BB_CAUSE_KILLED;
    if (d->signal && d->sender != d->pid && (d->sent || !is_own_fault(d->signal)))
        return BB_CAUSE_KILLED;
    if (died_of_limit(d))
        return BB_CAUSE_LIMIT;
    if (d->has_fault)
        return BB_CAUSE_PAGE_FAULT;
    return d->signal == SIGABRT ? BB_CAUSE_DEVICE : BB_CAUSE_FAULT;
}

static enum bb_cause cause_of(const struct snapshot *sn)
{
    if (sn->failed_id) {
        const struct retained *k = watch_submission(sn, sn->failed_id);
        static const enum bb_cause causes[ABI_CAUSE_KINDS] = {
            [ABI_CAUSE_OTHER] = BB_CAUSE_MALFORMED,
            [ABI_CAUSE_MEMORY] = BB_CAUSE_MEMORY,
            [ABI_CAUSE_DMA] = BB_CAUSE_DMA,
            [ABI_CAUSE_TYPE] = BB_CAUSE_TYPE,
            [ABI_CAUSE_MISALIGNED] = BB_CAUSE_MISALIGNED,
        };

        return k && k->cause < ABI_CAUSE_KINDS ? causes[k->cause] : BB_CAUSE_MALFORMED;
    }
    if (sn->removed)
        return BB_CAUSE_REMOVED;
    if (!sn->died || sn->death.by_host)
        return !sn->hung && !sn->died ? BB_CAUSE_REQUEST
               : !sn->starved         ? BB_CAUSE_HANG /* it had its time, also where it was stopped besides */
               : sn->stopped.stop     ? BB_CAUSE_STOPPED
                                      : BB_CAUSE_STARVED;
    return cause_of_death(sn);
}

static void name_packet(const struct retained *k, struct watch_crash *c, const char *verb)
{
    const bool outside = bb_cause_desc(c->cause)->kind == BB_KIND_OUTSIDE;
    char name[100];

    describe(k, c->packet, &c->draw, name, sizeof(name));
    if (c->certain || outside)
        name[0] = (char)(name[0] >= 'a' && name[0] <= 'z' ? name[0] - 32 : name[0]);
    snprintf(c->text, sizeof(c->text), "%s%s of submission %llu %s%s",
             c->certain || outside ? "" : "Perhaps ", name, (unsigned long long)k->id, verb,
             c->in_decoder ? " while it was decoded" : "");
}

static void name_group(const struct retained *k, struct watch_crash *c, uint32_t last, const char *verb)
{
    char first_name[100], last_name[100];
    uint32_t unused;

    describe(k, c->packet, &c->draw, first_name, sizeof(first_name));
    describe(k, last, &unused, last_name, sizeof(last_name));
    snprintf(c->text, sizeof(c->text), "One of %u commands, %s to %s of submission %llu, %s", c->candidates,
             first_name, last_name, (unsigned long long)k->id, verb);
}

/* On a device that works in order a hang is in the first mark that was begun and has not ended: what comes later waits for it,
 * or works beside it and would let it end. */
static void narrow(struct bb_inference *x, const struct watch_items *items,
                   const struct exec_progress_slot *slot)
{
    const uint32_t bottom = exec_progress_bottom(slot);

    if (bottom >= slot->top || bottom >= EXEC_PROGRESS_MARKS || bottom >= atomic_load(&slot->num_marks))
        return;
    while (x->num_candidates > 1 &&
           items->items[x->candidates[x->num_candidates - 1]].id > slot->marks[bottom].last)
        x->num_candidates--;
    if (x->num_candidates == 1)
        x->certainty = BB_CERTAIN;
}

/* Where it died, it was in a thread that executes commands. */
static bool in_device(const struct snapshot *sn)
{
    return !sn->died || sn->death.by_host || (sn->death.seen && !sn->death.own_thread);
}

/* The marks lie where a shader of the executor's, that can store anywhere, can: on a GPU, among what it was given of the executor's
 * memory. (Where a processor is the GPU, shaders are kept from it: spirv_confine.h.) */
static bool is_misled(const struct snapshot *sn)
{
    return sn->has_progress && atomic_load(&sn->progress.unguarded);
}

/* A process that traced the executor in its last seconds, who can have it do anything; 0: nobody was seen. */
static int last_tracer(const struct snapshot *sn)
{
    int tracer = 0;

    for (uint32_t i = 0; sn->died && i < sn->num_samples; i++)
        if (sn->samples[i].executor_pid == sn->death.pid && sn->samples[i].tracer &&
            sn->samples[i].time_ns + 3 * NSEC_PER_SEC > sn->death.time_ns)
            tracer = sn->samples[i].tracer;
    return tracer;
}

static void judge_marks(const struct snapshot *sn, const struct retained *k, struct watch_crash *c)
{
    const struct exec_progress_slot *slot =
        sn->has_progress ? watch_progress_find(&sn->progress, k->id) : NULL;
    const bool outside = bb_cause_desc(c->cause)->kind == BB_KIND_OUTSIDE;
    /* whatever ran is not to blame; of memory others may have had more */
    const bool blame = !outside && c->cause != BB_CAUSE_LIMIT && !is_misled(sn) && !last_tracer(sn);
    uint32_t decoding = slot ? atomic_load(&slot->decoding) : 0;
    struct bb_inference x;
    struct watch_items items;

    if (!slot || watch_items_init(&items, k, slot))
        return;
    if (bb_infer(&x, items.items, items.n, watch_end(sn))) {
        watch_items_finish(&items);
        return;
    }
    if (sn->progress.in_order && watch_end(sn) == BB_END_HANG)
        narrow(&x, &items, slot);
    c->exact = sn->progress.exact != 0;
    c->candidates = x.num_candidates;
    if (sn->died && sn->death.in_decoder && decoding && !outside) {
        c->in_decoder = c->exact = true;
        c->certain = blame;
        c->candidates = 1;
        c->packet = decoding - 1;
        name_packet(k, c, bb_cause_desc(c->cause)->words);
    } else if (x.num_candidates) {
        c->packet = (uint32_t)items.items[x.candidates[0]].id;
        c->last = (uint32_t)items.items[x.candidates[x.num_candidates - 1]].id;
        c->certain = x.num_candidates == 1 && x.certainty == BB_CERTAIN && blame && in_device(sn);
        if (x.num_candidates == 1)
            name_packet(k, c, bb_cause_desc(c->cause)->words);
        else
            name_group(k, c, c->last, bb_cause_desc(c->cause)->words);
    } else if (atomic_load(&slot->state) == EXEC_PROGRESS_DECODING && decoding) {
        c->in_decoder = c->exact = true;
        c->certain = blame && sn->died; /* alive it may wait there for what came before, or for a processor */
        c->candidates = 1;
        c->packet = decoding - 1;
        name_packet(k, c, bb_cause_desc(c->cause)->words);
    }
    watch_items_finish(&items);
    bb_inference_finish(&x);
}

/* Where no device was at work, but what makes shaders ready for it: that is slow, and ends. */
static void judge_wait(const struct snapshot *sn, const struct retained *k, struct watch_crash *c)
{
    static const char *const what[] = {"", "shaders were translated", "the Vulkan driver made a pipeline"};
    const struct exec_progress_slot *slot =
        sn->has_progress ? watch_progress_find(&sn->progress, k->id) : NULL;
    const uint32_t waits = slot ? atomic_load(&slot->waits) : EXEC_WAIT_NONE;
    size_t at = strlen(c->text);

    if (waits == EXEC_WAIT_NONE || waits > EXEC_WAIT_PIPELINE || sn->died)
        return;
    if (!at)
        at = (size_t)snprintf(c->text, sizeof(c->text), "Submission %llu %s", (unsigned long long)k->id,
                              bb_cause_desc(c->cause)->words);
    if (c->in_decoder || !c->candidates || c->packet + 1 == atomic_load(&slot->decoding))
        snprintf(c->text + at, sizeof(c->text) - at, ", while %s for it", what[waits]);
}

/* Of a draw or dispatch. The order of bindings does not count. */
static void note_bound(struct watch_crash *c, const struct watch_model *m, const struct watch_slot *s,
                       bool compute)
{
    const struct watch_object *o = watch_model_bound(m, s);
    size_t at = strlen(c->shaders);
    char name[24];

    if (s->kind == WATCH_SLOT_SHADER && o && (s->stage == ABI_CS) == compute)
        snprintf(c->shaders + at, sizeof(c->shaders) - at, "%s%s", at ? " " : "", o->hash);
    if (s->kind < WATCH_SLOT_TEXTURE || (s->stage == ABI_CS) != compute)
        return; /* what is no shader's to read or write shows in other ways */
    watch_slot_name(name, s);
    c->bound += XXH3_64bits(name, strlen(name));
}

static void note_leads(struct watch_crash *c, const struct watch_pointers *x, const struct watch_slot *s,
                       bool compute)
{
    const uint32_t room = sizeof(c->leads) / sizeof(c->leads[0]);

    if (s->kind < WATCH_SLOT_TEXTURE || (s->stage == ABI_CS) != compute)
        return;
    for (uint32_t i = 0; i < x->n && i < WATCH_POINTERS; i++) {
        uint32_t k = 0;

        while (k < c->num_leads && k < room && c->leads[k] != x->of[i].to)
            k++;
        if (x->of[i].in != watch_pointers_first(x, s->handle) || k < c->num_leads)
            continue;
        if (k < room)
            c->leads[k] = x->of[i].to;
        c->num_leads += c->num_leads <= room;
    }
}

/* What had the memory, as far as the streams tell. */
static void note_memory(struct watch_crash *c, const struct watch_model *m)
{
    const struct watch_object *most = NULL;
    uint64_t all = 0;
    uint32_t n = 0;
    char name[64];

    for (size_t i = 0; i < m->num_objects; i++) {
        const struct watch_object *o = &m->objects[i];

        if (!o->alive || (o->kind != WATCH_OBJECT_BUFFER && o->kind != WATCH_OBJECT_TEXTURE))
            continue;
        n++;
        all += o->size;
        most = most && most->size >= o->size ? most : o;
    }
    if (!most)
        return;
    watch_object_name(name, most);
    watch_add(c->text, sizeof(c->text),
              ". %u buffers and textures had %.1f MiB of it; the largest is %s %u with %.1f MiB", n,
              (double)all / (1 << 20), name, most->handle, (double)most->size / (1 << 20));
}

/* "Draw 77 (packet 170, DRAW) in frame/fog of submission 3": where it is, in the program's words. */
static void say_path(struct watch_crash *c)
{
    char *at = strstr(c->text, " of submission "), rest[sizeof(c->text)], path[101];

    if (c->candidates != 1 || !c->path[0] || !at)
        return;
    snprintf(rest, sizeof(rest), "%s", at);
    utf8_path(path, sizeof(path), c->path);
    snprintf(at, sizeof(c->text) - (size_t)(at - c->text), " in %s%s", path, rest);
}

/* Walks everything up to the packet, for what is bound there. */
static void find_surroundings(const struct snapshot *sn, const struct retained *culprit,
                              struct watch_crash *c)
{
    struct watch_model model = {0};
    struct watch_pointers pointers = {0};
    bool found = false;

    for (uint32_t i = 0; i < sn->num_items && !found; i++) {
        const struct retained *k = &sn->items[i];
        struct watch_model_context *ctx = watch_model_context(&model, k->context_id);
        struct abi_stream s;
        struct abi_packet p;

        if (!ctx || !k->stream || abi_stream_open(&s, k->stream, k->cmd_size, NULL))
            continue;
        while (!found && abi_stream_next(&s, &p, NULL) > 0) {
            watch_model_apply(&model, ctx, &s, &p, k->id);
            watch_pointers_note(&pointers, &p);
            found = k == culprit && p.index == c->packet;
        }
        if (!found)
            continue;
        if (c->cause == BB_CAUSE_LIMIT)
            note_memory(c, &model);
        snprintf(c->command, sizeof(c->command), "%.31s", p.desc ? p.desc->name : "unknown");
        utf8_path(c->path, sizeof(c->path), ctx->path);
        say_path(c);
        for (uint32_t n = 0; abi_opcode_is_draw(p.opcode) && n < ctx->num_slots; n++) {
            note_bound(c, &model, &ctx->slots[n], p.opcode == AEROGPU_CMD_DISPATCH);
            note_leads(c, &pointers, &ctx->slots[n], p.opcode == AEROGPU_CMD_DISPATCH);
        }
    }
    watch_model_finish(&model);
}

static void without_numbers(char *out, size_t size, const char *text)
{
    size_t n = 0;

    while (*text && n < size - 1)
        if (*text == '0' && text[1] == 'x')
            text += 2 + strspn(text + 2, "0123456789abcdef");
        else if (*text >= '0' && *text <= '9')
            text++;
        else
            out[n++] = *text++;
    out[n] = '\0';
}

/* Numbers are of one run: they do not count. */
static void make_fingerprint(const struct retained *k, struct watch_crash *c)
{
    char text[1000];
    size_t n = (size_t)snprintf(text, sizeof(text), "%s|%d|%d|%s|%s|%s|", bb_cause_desc(c->cause)->name,
                                c->in_decoder, c->fault_known ? (int)c->fault_kind : -1, c->command,
                                c->cause == BB_CAUSE_KILLED ? "" : c->shaders, c->path);

    if (bb_cause_desc(c->cause)->kind == BB_KIND_REFUSAL)
        without_numbers(c->refusal, sizeof(c->refusal), k->message);
    n += (size_t)snprintf(text + n, sizeof(text) - n, "%s", c->refusal);
    snprintf(c->fingerprint, sizeof(c->fingerprint), "%016llx", (unsigned long long)XXH3_64bits(text, n));
    if (bb_cause_desc(c->cause)->kind == BB_KIND_OUTSIDE)
        snprintf(c->place, sizeof(c->place), "from outside");
    else
        snprintf(c->place, sizeof(c->place), "%s%s", c->shaders[0] ? "shaders " : "",
                 c->shaders[0] ? c->shaders : c->command);
}

/* What came from outside, as the beginning of a sentence. */
static void outside_text(char out[300], const struct snapshot *sn, enum bb_cause cause)
{
    const struct host_sample *last = sn->num_samples ? &sn->samples[sn->num_samples - 1] : NULL;

    for (uint32_t i = 0; i < sn->num_samples; i++)
        if (sn->samples[i].executor_pid == sn->death.pid)
            last = &sn->samples[i];
    switch (cause) {
    case BB_CAUSE_STOPPED:
        if (sn->stopped.stop == WATCH_STOP_TRACED)
            snprintf(out, 300, "The executor was held by process %d, which traces it", sn->stopped.tracer);
        else
            snprintf(out, 300, "The executor was %s",
                     sn->stopped.stop == WATCH_STOP_FROZEN ? "frozen (its cgroup is)"
                                                           : "stopped by a signal");
        break;
    case BB_CAUSE_STARVED:
        snprintf(out, 300, "The executor was hardly let run by the host: its work may be slow, or hang");
        break;
    case BB_CAUSE_HOST_MEMORY:
        snprintf(
            out, 300,
            "The executor was killed (signal 9) while the kernel ended processes for want of memory; it had %.0f MiB, and %.0f MiB were left on the host",
            last ? last->executor_mib : -1, last ? last->available_mib : -1);
        break;
    case BB_CAUSE_REMOVED:
        snprintf(out, 300, "The system removed a client's device");
        break;
    default:
        snprintf(out, 300, "The executor was killed from outside (%s)",
                 strstr(sn->death.message, "signal ") ? strstr(sn->death.message, "signal ") : "by a signal");
    }
}

static void judge(const struct snapshot *sn, const struct retained *k, struct watch_crash *c)
{
    char who[200], why[300];

    *c = (struct watch_crash){.cause = cause_of(sn), .packet = UINT32_MAX, .draw = UINT32_MAX};
    if (sn->died && sn->death.has_fault) {
        c->has_fault = true;
        c->no_address = sn->death.access == EXEC_ACCESS_NO_ADDRESS;
        c->fault_address = sn->death.fault_address;
    }
    if (!k) {
        snprintf(c->text, sizeof(c->text), "No submission was unfinished%s%s", sn->died ? ": " : "",
                 sn->died ? sn->death.message : "");
        return;
    }
    c->submission = k->id;
    c->fence = k->fence;
    c->ordinal = k->ordinal;
    if (bb_cause_desc(c->cause)->kind == BB_KIND_REFUSAL) {
        c->certain = c->exact = true;
        c->candidates = 1;
        c->packet = k->packets;
        name_packet(k, c, "was refused");
        snprintf(c->text, sizeof(c->text), "%s submission %llu: %s", bb_cause_desc(c->cause)->words,
                 (unsigned long long)k->id, k->message);
        return;
    }
    judge_marks(sn, k, c);
    judge_wait(sn, k, c);
    if (!c->text[0])
        snprintf(c->text, sizeof(c->text), "Submission %llu %s; there are no markers that say where",
                 (unsigned long long)k->id, bb_cause_desc(c->cause)->words);
    if (bb_cause_desc(c->cause)->kind == BB_KIND_OUTSIDE) {
        snprintf(who, sizeof(who), "%.190s", c->candidates ? c->text : "");
        outside_text(why, sn, c->cause);
        snprintf(c->text, sizeof(c->text), "%s%s%s%s", why,
                 c->cause == BB_CAUSE_STARVED ? "" : ": no command is to blame", who[0] ? ". " : "", who);
    }
}

static void unseen(struct watch_crash *c, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static void unseen(struct watch_crash *c, const char *fmt, ...)
{
    size_t at = strlen(c->unseen);
    va_list ap;

    if (at)
        at += (size_t)snprintf(c->unseen + at, sizeof(c->unseen) - at, "; ");
    va_start(ap, fmt);
    if (at < sizeof(c->unseen))
        vsnprintf(c->unseen + at, sizeof(c->unseen) - at, fmt, ap);
    va_end(ap);
}

/* Living buffers with addresses, and those that are gone. */
static void count_one(void *ctx, const struct bb_resource *r)
{
    ++*(uint32_t *)ctx;
}

/* A later one that has begun as well, NULL if there is none: then the markers of one alone prove nothing, unless it is a
 * hang of a device on which what came later lets the first one end. */
static const struct retained *also_begun(const struct snapshot *sn, const struct retained *k)
{
    if (!sn->has_progress || (watch_end(sn) == BB_END_HANG && sn->progress.in_order))
        return NULL;
    for (uint32_t i = 0; i < sn->num_items; i++) {
        const struct retained *other = &sn->items[i];
        const struct exec_progress_slot *slot = other->id > k->id && was_unfinished(sn, other)
                                                    ? watch_progress_find(&sn->progress, other->id)
                                                    : NULL;

        if (slot && slot->top)
            return other;
    }
    return NULL;
}

/* What could look the same as the cause. */
static void judge_why(const struct snapshot *sn, struct watch_crash *c)
{
    if (c->cause == BB_CAUSE_HANG) {
        c->why = BB_SURE_SUGGESTED; /* a slow command looks the same until it ends */
        unseen(c,
               "whether it would have ended: it made no progress for %.1f s, and was not let run for longer",
               sn->hung_s);
        if (sn->stopped.stop)
            unseen(c, "what it would have done while it was stopped: it was let run for %.1f s",
                   sn->let_run_s);
    } else if (c->cause == BB_CAUSE_STOPPED || c->cause == BB_CAUSE_STARVED || c->cause == BB_CAUSE_REMOVED) {
        /* what hangs on a busy host looks the same, and what hangs and is stopped for some of the time */
        if (c->cause == BB_CAUSE_STARVED ||
            (c->cause == BB_CAUSE_STOPPED && sn->let_run_s >= 0.1 * sn->hung_s))
            c->why = BB_SURE_SUGGESTED;
        unseen(c, "whether the work would have ended");
    } else if (c->cause == BB_CAUSE_HOST_MEMORY) {
        c->why = BB_SURE_SUGGESTED; /* another process may have been the one */
        unseen(c, "the kernel's log, which names what it ended");
    } else if (c->cause == BB_CAUSE_KILLED && (!sn->death.sender || sn->death.told)) {
        unseen(c, "who sent the signal%s",
               sn->death.told ? ": of its sender only its own word is known" : "");
        if (sn->death.made_up)
            c->why = BB_SURE_SUGGESTED; /* a signal that could not be delivered looks the same */
    } else if (c->cause == BB_CAUSE_LIMIT) {
        c->why = BB_SURE_SUGGESTED;
        unseen(c, "whether it died of that; what the Vulkan driver itself had");
    } else if (c->no_address && !watch_has_wild_register(sn)) {
        c->why = BB_SURE_SUGGESTED; /* the processor says as much of an instruction that nobody may run */
        unseen(c, "which address it was: no register held one that is not canonical");
    } else if (c->cause == BB_CAUSE_DEVICE || c->cause == BB_CAUSE_FAULT) {
        c->why = BB_SURE_SUGGESTED; /* the Vulkan driver's fault looks the same as the stream's */
        if (sn->death.signal == SIGSYS && !sn->death.seen)
            unseen(c, "which system call it was");
    }
}

/* docs/evidence.md: what proves what. */
static void judge_facts(const struct snapshot *sn, const struct retained *k, struct watch_crash *c)
{
    const enum bb_cause_kind kind = bb_cause_desc(c->cause)->kind;
    const struct retained *also = k && kind == BB_KIND_CRASH && !c->in_decoder ? also_begun(sn, k) : NULL;
    uint32_t others = 0;

    if (also) {
        size_t at = strlen(c->text);

        c->certain = false;
        snprintf(c->text + at, sizeof(c->text) - at,
                 ", or a command of submission %llu did, which had begun as well",
                 (unsigned long long)also->id);
        unseen(c, "whether it was submission %llu, which had begun as well", (unsigned long long)also->id);
    }

    c->which = c->certain ? BB_SURE_PROVEN : c->packet != UINT32_MAX ? BB_SURE_SUGGESTED : BB_SURE_UNKNOWN;
    c->happened =
        sn->hung || sn->died || sn->removed || kind == BB_KIND_REFUSAL ? BB_SURE_PROVEN : BB_SURE_UNKNOWN;
    c->why = c->happened;
    judge_why(sn, c);
    if (kind == BB_KIND_CRASH && !in_device(sn))
        unseen(c, "whether a command had to do with it: %s",
               sn->death.seen ? "a thread that executes none went wrong" : "nobody saw which thread it was");
    if (kind != BB_KIND_REFUSAL && is_misled(sn))
        unseen(c, "whether an earlier shader, which could store to any address, had overwritten the marks");
    if (kind == BB_KIND_CRASH && last_tracer(sn)) {
        c->why = BB_SURE_SUGGESTED;
        unseen(c, "what process %d did to the executor, which traced it", last_tracer(sn));
    }
    if (kind == BB_KIND_CRASH && c->candidates > 1)
        unseen(c, "which of %u commands: groups of them were marked, not each", c->candidates);
    if (k && kind != BB_KIND_REFUSAL && !c->candidates)
        unseen(c, "how far the submission had come");
    if (sn->has_progress && sn->progress.way == EXEC_PROGRESS_COPIED)
        unseen(c, "the last 5 ms of progress: marks were copied");
    if (c->has_fault) {
        const struct bb_gaps gaps = bb_resources_gaps(sn->resources);

        if (gaps.forgotten)
            unseen(c, "%llu former buffers with addresses, for which there was no room",
                   (unsigned long long)gaps.forgotten);
        if (gaps.lost)
            unseen(c, "%llu changes of buffers with addresses, which came too fast",
                   (unsigned long long)gaps.lost);
        bb_resources_each(sn->resources, count_one, &others);
        others -= c->fault_resource && others;
        if (c->no_address)
            unseen(c, "the address");
        else if (others)
            unseen(
                c,
                "by which pointer the address was reached: %u other buffers with addresses were or had been there",
                others);
    }
    if (sn->streams_dropped)
        unseen(c, "%llu earlier submissions, for which there was no room",
               (unsigned long long)sn->streams_dropped);
}

static void crash_check(const struct snapshot *sn, const struct watch_crash *c)
{
    INVARIANT(c->cause > BB_CAUSE_NONE && c->cause < BB_NUM_CAUSES);
    INVARIANT(c->text[0]);
    INVARIANT(!c->certain || (c->candidates == 1 && c->packet != UINT32_MAX));
    INVARIANT(!c->in_decoder || c->exact);
    INVARIANT(!c->candidates || c->submission);
    INVARIANT(!c->fault_known || c->has_fault);
    INVARIANT(!c->has_fault || sn->died);
    INVARIANT(c->has_fault == (c->at[0] != '\0'));
    INVARIANT(bb_cause_desc(c->cause)->kind != BB_KIND_OUTSIDE || !c->certain);
    INVARIANT(c->submission || !c->fingerprint[0]);
    INVARIANT((c->which == BB_SURE_PROVEN) == c->certain);
    INVARIANT(c->whose != BB_SURE_PROVEN && (c->has_fault || c->whose == BB_SURE_UNKNOWN));
    INVARIANT(c->cause != BB_CAUSE_HANG || c->why == BB_SURE_SUGGESTED);
}

void watch_judge(const struct snapshot *sn, struct watch_crash *c)
{
    const struct retained *k = culprit(sn);

    judge(sn, k, c);
    watch_judge_fault(sn, c);
    if (k && c->packet != UINT32_MAX)
        find_surroundings(sn, k, c);
    if (c->has_fault)
        watch_judge_leads(sn, c);
    watch_add(c->text, sizeof(c->text), "%s", c->at);
    judge_facts(sn, k, c);
    if (k)
        make_fingerprint(k, c);
    crash_check(sn, c);
}
