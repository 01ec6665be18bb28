/* SPDX-License-Identifier: MIT */
#include "play/player.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <aerogpu/alloc.h>
#include <aerogpu/cmd.h>
#include <aerogpu/pci.h>

#include "abi/alloc_table.h"
#include "base/array.h"
#include "base/check.h"
#include "machine/driver.h"
#include "play/targets.h"

#define MIB       (UINT64_C(1) << 20)
#define NO_FRAME  UINT32_MAX
#define PAGE_SIZE UINT64_C(4096)

enum { MAX_SAMPLES = 1 << 22, MAX_ERRORS = 1000 };

/* The player's own memory, from the top of what the recording uses. */
enum { RING_ENTRIES = 64, SLICE_NS = 100000000 };
#define RING_AT    UINT64_C(0)
#define FENCE_AT   (UINT64_C(1) * MIB)
#define TABLE_AT   (UINT64_C(2) * MIB)
#define TABLE_MAX  (UINT64_C(16) * MIB)
#define STREAM_AT  (TABLE_AT + TABLE_MAX)
#define STREAM_MAX (UINT64_C(64) * MIB)
#define FB_AT      (STREAM_AT + STREAM_MAX + UINT64_C(14) * MIB)
#define FB_MAX     (UINT64_C(64) * MIB)

struct player {
    struct player_params params;
    struct machine *machine;
    uint64_t own; /* guest address of the player's memory */
    struct driver_ring ring;
    struct gpu_observer observer;

    /* one recording */
    struct trace_reader *reader;
    struct player_memory memory;
    uint64_t high_base; /* where memory.high_start is placed */
    struct player_result *result;
    struct targets targets;
    struct trace_buffer bytes, table;
    uint64_t fence;          /* the highest one given */
    uint64_t recorded;       /* the highest one that the recording had */
    uint64_t given;          /* submissions, since the ring was reset */
    _Atomic uint64_t ended;  /* of them, whose turn in the ring's order came */
    uint64_t running;        /* recorded fence of the submission that runs */
    uint32_t frame;          /* open frame, NO_FRAME if none */
    bool should_show, shown; /* the open frame has a PRESENT; one was executed */
    struct abi_scanout scanout;
    uint64_t paused_ns; /* time spent in callbacks */
};

/* What holds between two calls, and between two records of a recording. Guest memory is not looked at: a recording may write
 * anything there. */
static void player_check(const struct player *p)
{
    INVARIANT(p->own % PAGE_SIZE == 0);
    INVARIANT(p->own <= machine_ram_size(p->machine) - PLAYER_OWN_MEMORY);
    INVARIANT(!p->ring.machine || p->ring.machine == p->machine);
    INVARIANT(!p->recorded || p->fence); /* 3 */
    INVARIANT(p->fence <= p->recorded && p->fence <= p->given);
    INVARIANT(p->ended <= p->given); /* 2 */
    INVARIANT(p->memory.low_end <= PLAYER_LOW_END);
    INVARIANT(p->memory.high_end - p->memory.high_start <= PLAYER_MAX_SPAN);
    INVARIANT(!p->reader || p->memory.low_end <= p->high_base); /* 4: the parts of guest memory are apart */
    INVARIANT(p->high_base <= p->own);
    INVARIANT(!p->scanout.enabled || (uint64_t)p->scanout.pitch * p->scanout.height <= FB_MAX); /* 5 */
    INVARIANT(!p->scanout.enabled || (p->scanout.width && p->scanout.pitch % 4 == 0));
    INVARIANT(!p->result ||
              (p->result->num_errors <= MAX_ERRORS && p->result->num_errors <= p->result->max_errors));
    INVARIANT(p->frame == NO_FRAME || p->reader);
}

/* ---- registers ----------------------------------------------------------- */

static uint32_t reg(struct player *p, uint32_t offset)
{
    return machine_read(p->machine, offset);
}

static void set_reg(struct player *p, uint32_t offset, uint32_t value)
{
    machine_write(p->machine, offset, value);
}

/* LO first: writing HI makes both halves current. */
static void set_reg64(struct player *p, uint32_t offset, uint64_t value)
{
    set_reg(p, offset, (uint32_t)value);
    set_reg(p, offset + 4, (uint32_t)(value >> 32));
}

static uint64_t now(const struct player *p)
{
    return machine_now(p->machine);
}

/* Playing in a loop for days must not fill the memory. */
static void sample(struct samples *s, uint64_t ns)
{
    if (s->n < MAX_SAMPLES)
        samples_add(s, ns);
}

/* ---- what the device says beside the registers --------------------------- */

static void note_error(struct player *p, const struct gpu_event *e)
{
    struct player_result *r = p->result;
    struct player_error *last = r->num_errors ? &r->errors[r->num_errors - 1] : NULL;
    const char *message = e->message ? e->message : "";

    if (last && last->code == e->value && last->fence == p->running && !strcmp(last->message, message)) {
        last->count++;
        return;
    }
    if (r->num_errors == MAX_ERRORS)
        return;
    if (array_reserve(r->errors, r->max_errors, r->num_errors + 1))
        return;
    last = &r->errors[r->num_errors++];
    *last =
        (struct player_error){.code = (uint32_t)e->value, .fence = p->running, .count = 1, .frame = p->frame};
    snprintf(last->message, sizeof(last->message), "%s", message);
}

/* Runs on the device's threads, with its lock held: the playing thread reads what is changed here only after
 * it has asked the device for something, which takes the same lock. */
static void on_event(void *ctx, const struct gpu_event *e)
{
    struct player *p = ctx;

    if (!__atomic_load_n(&p->result, __ATOMIC_ACQUIRE))
        return;
    switch (e->kind) {
    case GPU_EVENT_ERROR:
        note_error(p, e);
        break;
    case GPU_EVENT_COMPLETE:
        p->shown |= (e->completion->flags & ABI_COMPLETION_PRESENT) != 0;
        p->result->presents += (e->completion->flags & ABI_COMPLETION_PRESENT) != 0;
        break;
    case GPU_EVENT_RETIRE:
        p->ended++;
        break;
    case GPU_EVENT_VBLANK:
        sample(&p->result->lateness, now(p) > e->time_ns ? now(p) - e->time_ns : 0);
        break;
    default:
        break;
    }
}

/* ---- ring ---------------------------------------------------------------- */

static void reset_device(struct player *p)
{
    set_reg(p, AEROGPU_REG_IRQ_ENABLE, 0);
    set_reg(p, AEROGPU_REG_SCANOUT0_ENABLE, 0);
    set_reg(p, AEROGPU_REG_CURSOR_ENABLE, 0);
    p->scanout = (struct abi_scanout){0};
    driver_ring_init(&p->ring, p->machine, p->own + RING_AT, p->own + FENCE_AT, RING_ENTRIES);
    set_reg(p, AEROGPU_REG_IRQ_ACK, ~0u);
    set_reg(p, AEROGPU_REG_IRQ_ENABLE, AEROGPU_IRQ_FENCE | AEROGPU_IRQ_ERROR);
    p->fence = p->recorded = p->given = 0;
    atomic_store(&p->ended, 0);
}

/* The interrupt routine: what is pending is taken back, so that the next one can come. */
static void on_interrupt(void *ctx)
{
    struct player *p = ctx;
    uint32_t status = reg(p, AEROGPU_REG_IRQ_STATUS) & reg(p, AEROGPU_REG_IRQ_ENABLE);

    if (status)
        set_reg(p, AEROGPU_REG_IRQ_ACK, status);
}

static bool has_ended(void *ctx)
{
    struct player *p = ctx;

    return p->ended == p->given && driver_ring_completed(&p->ring) >= p->fence;
}

static bool stopped(const struct player *p)
{
    return p->params.stop && *p->params.stop;
}

/* Until the last submission has ended and its fence is there. One that comes with an interrupt is waited for by it; others are
 * looked for. */
static int wait_end(struct player *p, bool irq, struct error *e)
{
    uint64_t timeout = p->params.timeout_ns ? p->params.timeout_ns : 30 * NSEC_PER_SEC, start = now(p);
    unsigned tries = 0;

    while (irq && !has_ended(p) && !stopped(p) && now(p) - start < timeout)
        machine_wait(p->machine, has_ended, p, timeout < SLICE_NS ? timeout : SLICE_NS);
    while (!irq && !stopped(p) && !has_ended(p) && now(p) - start < timeout)
        machine_sleep(p->machine, tries++ < 100 ? 20 * NSEC_PER_USEC : 500 * NSEC_PER_USEC);
    if (has_ended(p))
        return 0;
    if (stopped(p))
        return error_set(e, -ECANCELED, "stopped while fence %" PRIu64 " was waited for", p->fence);
    return error_set(e, -ETIMEDOUT,
                     "fence %" PRIu64 " is not signalled within %.0f s (COMPLETED_FENCE %" PRIu64
                     ", the recording's fence %" PRIu64 ")",
                     p->fence, (double)timeout / 1e9, driver_ring_completed(&p->ring), p->running);
}

/* Gives the descriptor its fence, rings and waits (invariants 2 and 3). One runs at a time: the ring is never full. */
static int submit(struct player *p, struct aerogpu_submit_desc *d, uint64_t recorded, struct error *e)
{
    bool advances = recorded > p->recorded;
    uint64_t start = now(p);
    int rc;

    if (advances) {
        p->recorded = recorded;
        p->fence++;
    }
    d->signal_fence = p->fence;
    p->running = recorded;
    p->given++;
    driver_ring_put(&p->ring, d);
    driver_ring_doorbell(&p->ring);
    rc = wait_end(p, advances && !(d->flags & AEROGPU_SUBMIT_FLAG_NO_IRQ), e);
    if (rc)
        return rc;
    sample(&p->result->latency, now(p) - start);
    p->result->submissions++;
    return 0;
}

/* ---- memory and scanout -------------------------------------------------- */

/* Where the recorded address is here. What is neither low nor in the high window stays, for the device to refuse. */
static uint64_t here(const struct player *p, uint64_t gpa, uint64_t size)
{
    if (gpa >= p->memory.high_start && size <= p->memory.high_end - p->memory.high_start &&
        gpa - p->memory.high_start <= p->memory.high_end - p->memory.high_start - size)
        return gpa - p->memory.high_start + p->high_base;
    return gpa;
}

static int place_range(struct player *p, const struct trace_record *rec, uint32_t i, struct error *e)
{
    const struct trace_range *range = &rec->submission.ranges[i];
    struct trace_blob blob;
    char user[96];
    uint64_t gpa = here(p, range->gpa, range->size);
    int rc;

    snprintf(user, sizeof(user), "offset 0x%" PRIx64 ": Submission.memory_range[%" PRIu32 "]", rec->offset,
             i);
    rc = trace_reader_find_blob(p->reader, range->blob, TRACE_BLOB_ALLOC_MEMORY, user, &blob, e);
    if (rc)
        return rc;
    if (blob.size > range->size)
        return error_set(e, -EBADMSG, "%s.size_bytes: %" PRIu64 " bytes, but blob %" PRIu64 " has %" PRIu32,
                         user, range->size, range->blob, blob.size);
    if (!blob.size)
        return 0;
    if (gpa > p->own || blob.size > p->own - gpa)
        return error_set(e, -EFBIG,
                         "%s.gpa: 0x%" PRIx64 ", %" PRIu32
                         " bytes, does not fit the guest memory of 0x%" PRIx64,
                         user, range->gpa, blob.size, p->own);
    rc = trace_reader_load(p->reader, blob.offset, blob.size, &p->bytes, e);
    if (!rc)
        memcpy(machine_ram(p->machine) + gpa, p->bytes.data, blob.size);
    return rc;
}

/* Puts the new addresses of high memory into the allocation table, if it is a table. */
static int rewrite_table(struct player *p, struct error *e)
{
    struct aerogpu_alloc_table_header header;
    struct abi_alloc_table parsed = {0};
    int rc = p->memory.high_start == p->memory.high_end
                 ? -EINVAL
                 : abi_alloc_table_parse(&parsed, p->table.data, p->table.size, NULL);

    if (rc)
        return rc == -ENOMEM ? error_set(e, rc, "no memory for an allocation table") : 0;
    memcpy(&header, p->table.data, sizeof(header));
    for (uint32_t i = 0; i < parsed.count; i++) {
        uint8_t *at = p->table.data + sizeof(header) + (size_t)i * header.entry_stride_bytes;
        struct aerogpu_alloc_entry entry;

        memcpy(&entry, at, sizeof(entry));
        entry.gpa = here(p, entry.gpa, entry.size_bytes);
        memcpy(at, &entry, sizeof(entry));
    }
    abi_alloc_table_finish(&parsed);
    return 0;
}

/* Copies `b` to the player's memory at `at`; the guest address, 0 if there is nothing. */
static int stage(struct player *p, const struct trace_buffer *b, uint64_t at, uint64_t max, const char *what,
                 const struct trace_record *rec, uint64_t *gpa, struct error *e)
{
    *gpa = 0;
    if (!b->size)
        return 0;
    if (b->size > max)
        return error_set(e, -EFBIG,
                         "offset 0x%" PRIx64 ": %s of %zu bytes, more than %" PRIu64 " cannot be played",
                         rec->offset, what, b->size, max);
    *gpa = p->own + at;
    memcpy(machine_ram(p->machine) + *gpa, b->data, b->size);
    return 0;
}

static uint32_t texel_bytes(uint32_t format)
{
    switch (format) {
#define F(value, name, bytes, block, kind, alpha, srgb, minor, doc)                                          \
    case value:                                                                                              \
        return AEROGPU_FORMAT_KIND_##kind == AEROGPU_FORMAT_KIND_COLOR ? (bytes) : 0;
        AEROGPU_FORMATS(F)
#undef F
    default:
        return 0;
    }
}

/* Programmes the scanout for what the stream presents. A target that no scanout can show gets the default
 * picture: the device then says what it thinks of it. */
static void set_scanout(struct player *p, const struct target_surface *target)
{
    uint32_t bytes = texel_bytes(target->format),
             format = bytes ? target->format : AEROGPU_FORMAT_R8G8B8A8_UNORM;
    uint64_t width = target->width, height = target->height, pitch;

    bytes = bytes ? bytes : 4;
    pitch = (width * bytes + 3) & ~UINT64_C(3);
    if (pitch > UINT32_MAX || pitch * height > FB_MAX) {
        width = height = 64;
        pitch = width * bytes;
    }
    if (p->scanout.enabled && p->scanout.width == width && p->scanout.height == height &&
        p->scanout.format == format)
        return;
    p->scanout = (struct abi_scanout){.enabled = 1,
                                      .width = (uint32_t)width,
                                      .height = (uint32_t)height,
                                      .format = format,
                                      .pitch = (uint32_t)pitch};
    set_reg(p, AEROGPU_REG_SCANOUT0_WIDTH, p->scanout.width);
    set_reg(p, AEROGPU_REG_SCANOUT0_HEIGHT, p->scanout.height);
    set_reg(p, AEROGPU_REG_SCANOUT0_FORMAT, p->scanout.format);
    set_reg(p, AEROGPU_REG_SCANOUT0_PITCH_BYTES, p->scanout.pitch);
    set_reg64(p, AEROGPU_REG_SCANOUT0_FB_GPA_LO, p->own + FB_AT);
    set_reg(p, AEROGPU_REG_SCANOUT0_ENABLE, 1);
}

/* ---- how much memory a recording needs ----------------------------------- */

/* Takes [gpa, gpa + size) in, if the window of high memory does not become too large by it. */
static bool include(struct player_memory *m, uint64_t gpa, uint64_t size)
{
    uint64_t start = gpa & ~(PAGE_SIZE - 1), end = gpa + size;

    if (end <= PLAYER_LOW_END) {
        m->low_end = end > m->low_end ? end : m->low_end;
        return true;
    }
    if (m->high_start != m->high_end) {
        start = start < m->high_start ? start : m->high_start;
        end = end > m->high_end ? end : m->high_end;
    }
    if (end - start > PLAYER_MAX_SPAN)
        return false;
    m->high_start = start;
    m->high_end = end;
    return true;
}

static int measure_table(struct trace_reader *r, const struct trace_blob *blob, struct player_memory *m,
                         struct trace_buffer *bytes, struct error *e)
{
    struct abi_alloc_table table = {0};
    int rc = trace_reader_load(r, blob->offset, blob->size, bytes, e);

    if (rc)
        return rc;
    /* An entry that is out of reach is the device's to refuse: it names memory that may never be touched. */
    rc = abi_alloc_table_parse(&table, bytes->data, bytes->size, NULL);
    for (uint32_t i = 0; !rc && i < table.count; i++)
        include(m, table.entries[i].gpa, table.entries[i].size);
    abi_alloc_table_finish(&table);
    return rc == -ENOMEM ? error_set(e, rc, "no memory to look through the recording") : 0;
}

/* Ranges first, since they must fit; then the tables' entries. */
static int measure_pass(struct trace_reader *r, bool tables, struct player_memory *m,
                        struct trace_buffer *bytes, struct error *e)
{
    struct trace_record rec;
    int rc;

    trace_reader_rewind(r);
    while ((rc = trace_reader_next(r, &rec, NULL)) > 0) {
        if (tables && rec.type == TRACE_BLOB && rec.blob.kind == TRACE_BLOB_ALLOC_TABLE &&
            rec.blob.size <= TABLE_MAX && measure_table(r, &rec.blob, m, bytes, e))
            return e->code;
        for (uint32_t i = 0; !tables && rec.type == TRACE_SUBMISSION && i < rec.submission.num_ranges; i++) {
            const struct trace_range *range = &rec.submission.ranges[i];

            if (!include(m, range->gpa, range->size))
                return error_set(e, -EFBIG,
                                 "offset 0x%" PRIx64 ": Submission.memory_range[%" PRIu32 "].gpa: 0x%" PRIx64
                                 ", %" PRIu64 " bytes, is too far from the other memory to be played",
                                 rec.offset, i, range->gpa, range->size);
        }
    }
    return rc == -ENOMEM ? error_set(e, rc, "no memory to look through the recording") : 0;
}

int player_measure(struct trace_reader *r, struct player_memory *memory, struct error *e)
{
    struct trace_buffer bytes = {0};
    struct error mine = {0};
    int rc;

    *memory = (struct player_memory){0};
    rc = measure_pass(r, false, memory, &bytes, &mine);
    if (!rc)
        rc = measure_pass(r, true, memory, &bytes, &mine);
    trace_buffer_finish(&bytes);
    trace_reader_rewind(r);
    return rc ? error_set(e, rc, "%s", mine.text) : 0;
}

static uint64_t pages(uint64_t size)
{
    return (size + PAGE_SIZE - 1) & ~(PAGE_SIZE - 1);
}

uint64_t player_ram_size(const struct player_memory *memory)
{
    return pages(memory->low_end) + pages(memory->high_end - memory->high_start) + PLAYER_OWN_MEMORY;
}

/* Lays out guest memory for the recording: low memory as recorded, the high window and then the player's own on top. */
static int lay_out(struct player *p, struct error *e)
{
    int rc = player_measure(p->reader, &p->memory, e);

    if (rc)
        return rc;
    if (player_ram_size(&p->memory) > machine_ram_size(p->machine))
        return error_set(
            e, -EFBIG, "the recording needs 0x%" PRIx64 " bytes of guest memory, the machine has 0x%" PRIx64,
            player_ram_size(&p->memory), machine_ram_size(p->machine));
    p->high_base = p->own - pages(p->memory.high_end - p->memory.high_start);
    INVARIANT(p->high_base % PAGE_SIZE == 0);
    return 0;
}

/* ---- records ------------------------------------------------------------- */

/* The stream is in p->bytes, the table in p->table; both are staged here, since placing memory needs the buffer. */
static int play_stream(struct player *p, const struct trace_record *rec, struct aerogpu_submit_desc *d,
                       uint64_t recorded_fence, struct error *e)
{
    struct target_scan scan;
    uint64_t cmd_gpa, table_gpa;
    int rc = stage(p, &p->bytes, STREAM_AT, STREAM_MAX, "a command stream", rec, &cmd_gpa, e);

    if (!rc)
        rc = stage(p, &p->table, TABLE_AT, TABLE_MAX, "an allocation table", rec, &table_gpa, e);
    if (rc)
        return rc;
    d->desc_size_bytes = sizeof(*d);
    d->cmd_gpa = cmd_gpa;
    d->cmd_size_bytes = (uint32_t)p->bytes.size;
    d->alloc_table_gpa = table_gpa;
    d->alloc_table_size_bytes = (uint32_t)p->table.size;
    targets_scan(&p->targets, d->context_id, p->bytes.data, p->bytes.size, &scan);
    p->result->commands += scan.packets;
    if (scan.presents) {
        p->should_show = true;
        set_scanout(p, &scan.presented);
    }
    for (uint32_t i = 0; !rc && rec->type == TRACE_SUBMISSION && i < rec->submission.num_ranges; i++)
        rc = place_range(p, rec, i, e);
    return rc ? rc : submit(p, d, recorded_fence, e);
}

static int play_submission(struct player *p, const struct trace_record *rec, struct error *e)
{
    const struct trace_submission *s = &rec->submission;
    struct aerogpu_submit_desc d = {
        .flags = s->submit_flags, .context_id = s->context_id, .engine_id = s->engine_id};
    struct trace_blob blob;
    char user[96];
    int rc = 0;

    p->table.size = 0;
    snprintf(user, sizeof(user), "offset 0x%" PRIx64 ": Submission.alloc_table_blob_id", rec->offset);
    if (s->alloc_blob) {
        rc = trace_reader_find_blob(p->reader, s->alloc_blob, TRACE_BLOB_ALLOC_TABLE, user, &blob, e);
        if (!rc)
            rc = trace_reader_load(p->reader, blob.offset, blob.size, &p->table, e);
        if (!rc)
            rc = rewrite_table(p, e);
    }
    snprintf(user, sizeof(user), "offset 0x%" PRIx64 ": Submission.cmd_stream_blob_id", rec->offset);
    if (!rc)
        rc = trace_reader_find_blob(p->reader, s->cmd_blob, TRACE_BLOB_CMD_STREAM, user, &blob, e);
    if (!rc)
        rc = trace_reader_load(p->reader, blob.offset, blob.size, &p->bytes, e);
    return rc ? rc : play_stream(p, rec, &d, s->signal_fence, e);
}

/* A packet record is one bare stream: a submission of context 0 with the next fence. */
static int play_packet(struct player *p, const struct trace_record *rec, struct error *e)
{
    struct aerogpu_submit_desc d = {0};
    int rc = trace_reader_load(p->reader, rec->packet.offset, rec->payload_len, &p->bytes, e);

    p->table.size = 0;
    return rc ? rc : play_stream(p, rec, &d, p->recorded + 1, e);
}

static int end_frame(struct player *p, struct error *e)
{
    struct player_frame f = {.index = p->frame};
    uint64_t start = now(p);
    int rc = 0;

    if (p->frame == NO_FRAME)
        return 0;
    p->frame = NO_FRAME;
    if (!p->shown) {
        p->result->unpresented += p->should_show && !stopped(p);
        return 0;
    }
    p->result->frames++;
    if (p->params.only_frame != NO_FRAME && p->params.only_frame != f.index)
        return 0;
    if (p->params.pictures)
        rc = gpu_read_scanout(machine_gpu(p->machine), 0, &f.picture, e);
    if (!rc && p->params.frame)
        p->params.frame(p->params.ctx, &f);
    free(f.picture.rgba);
    p->paused_ns += now(p) - start;
    return rc;
}

static int play_record(struct player *p, const struct trace_record *rec, struct error *e)
{
    int rc;

    switch (rec->type) {
    case TRACE_BEGIN_FRAME:
        rc = end_frame(p, e); /* one without a present record */
        p->frame = rec->frame;
        p->should_show = p->shown = false;
        return rc;
    case TRACE_SUBMISSION:
        return play_submission(p, rec, e);
    case TRACE_PACKET:
        return play_packet(p, rec, e);
    case TRACE_PRESENT:
        return end_frame(p, e);
    default:
        return 0;
    }
}

int player_can_play(const struct trace_reader *r, struct error *e)
{
    uint32_t abi = trace_reader_info(r)->command_abi;

    if (AEROGPU_ABI_VERSION_MAJOR(abi) == AEROGPU_ABI_MAJOR)
        return 0;
    return error_set(e, -EPROTONOSUPPORT,
                     "offset 0x10: header.command_abi_version: 0x%" PRIx32 " is major %" PRIu32
                     ", AeroGPU's is 1: these commands cannot be played",
                     abi, AEROGPU_ABI_VERSION_MAJOR(abi));
}

int player_play(struct player *p, struct trace_reader *r, struct player_result *result, struct error *e)
{
    const struct trace_info *info = trace_reader_info(r);
    struct trace_record rec;
    uint64_t start, shown_progress;
    int rc = 0;

    rc = player_can_play(r, e);
    if (rc)
        return rc;
    p->reader = r;
    rc = lay_out(p, e);
    if (rc)
        return rc;
    p->frame = NO_FRAME;
    p->paused_ns = 0;
    reset_device(p);
    targets_finish(&p->targets);
    trace_reader_rewind(r);
    __atomic_store_n(&p->result, result, __ATOMIC_RELEASE); /* from here on events count */
    player_check(p);
    start = shown_progress = now(p);
    while (!stopped(p) && (rc = trace_reader_next(r, &rec, e)) > 0) {
        rc = play_record(p, &rec, e);
        if (rc)
            break;
        if (p->params.progress && now(p) - shown_progress > NSEC_PER_SEC / 2) {
            shown_progress = now(p);
            p->params.progress(p->params.ctx, rec.offset, info->records_end);
        }
        if (p->params.only_frame != NO_FRAME && rec.type == TRACE_PRESENT &&
            rec.frame == p->params.only_frame)
            break;
    }
    if (!rc)
        rc = end_frame(p, e);
    result->busy_ns += now(p) - start - p->paused_ns;
    set_reg(p, AEROGPU_REG_SCANOUT0_ENABLE, 0);
    if (rc == -ETIMEDOUT) /* what still runs must not count any more */
        set_reg(p, AEROGPU_REG_RING_CONTROL, AEROGPU_RING_CONTROL_RESET);
    player_check(p);
    __atomic_store_n(&p->result, NULL, __ATOMIC_RELEASE);
    return rc;
}

/* ---- life cycle ---------------------------------------------------------- */

int player_create(struct player **out, const struct player_params *params, struct error *e)
{
    uint64_t ram = machine_ram_size(params->machine);
    struct player *p = calloc(1, sizeof(*p));

    *out = NULL;
    if (!p)
        return error_set(e, -ENOMEM, "no memory for a player");
    if (ram < PLAYER_OWN_MEMORY) {
        free(p);
        return error_set(e, -EINVAL, "%" PRIu64 " bytes of guest memory are too few to play anything", ram);
    }
    p->params = *params;
    p->machine = params->machine;
    p->own = (ram - PLAYER_OWN_MEMORY) & ~(PAGE_SIZE - 1);
    p->observer = (struct gpu_observer){.event = on_event, .ctx = p};
    gpu_observe(machine_gpu(p->machine), &p->observer);
    machine_set_irq(p->machine, on_interrupt, p);
    driver_enable(p->machine, true);
    p->frame = NO_FRAME;
    player_check(p);
    *out = p;
    return 0;
}

void player_destroy(struct player *p)
{
    if (!p)
        return;
    player_check(p);
    set_reg(p, AEROGPU_REG_IRQ_ENABLE, 0);
    set_reg(p, AEROGPU_REG_SCANOUT0_ENABLE, 0);
    set_reg(p, AEROGPU_REG_RING_CONTROL, 0);
    machine_set_irq(p->machine, NULL, NULL);
    gpu_unobserve(machine_gpu(p->machine), &p->observer);
    targets_finish(&p->targets);
    trace_buffer_finish(&p->bytes);
    trace_buffer_finish(&p->table);
    free(p);
}

void player_result_finish(struct player_result *r)
{
    samples_finish(&r->latency);
    samples_finish(&r->lateness);
    free(r->errors);
    *r = (struct player_result){0};
}
