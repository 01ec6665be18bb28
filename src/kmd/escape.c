/* SPDX-License-Identifier: MIT */
/* escape.c: the driver-private calls of D3DKMTEscape (include/aerogpu/escape.h).
 *
 *   block ─▶ header checked ─▶ a copy, as long as the op's whole struct ─▶ op ─▶ the prefix that the caller has room for
 *
 * Status: too short for a header, or for what the op needs: STATUS_BUFFER_TOO_SMALL. Another version, or a size in the
 * header that the buffer does not have: STATUS_INVALID_PARAMETER. An op that is unknown, or behind a gate (below) that is not open
 * to the caller: STATUS_NOT_SUPPORTED. Another one that shows or changes what is others' is for administrators and
 * debuggers: STATUS_ACCESS_DENIED.
 *
 * Nothing here takes a lock that is held while somebody waits, and every op but SELFTEST returns at once: they answer
 * while the device hangs and after it has failed.
 */
#include "kmd/kmd.h"

enum { SELFTEST_MS = 2000, SELFTEST_MAX_MS = 30000, CURSOR_PATTERN = 0x5A5 };

struct call {
    struct kmd *k;
    PVOID block;       /* a copy: the caller's bytes, zeroes behind them */
    CONST UCHAR *tail; /* bytes of the caller behind the struct */
    ULONG given, tail_size;
};

/* ---- device, fences, errors ---------------------------------------------- */

static NTSTATUS query_device(struct call *c)
{
    struct aerogpu_escape_query_device *e = c->block;

    e->mmio_version = c->k->abi;
    return STATUS_SUCCESS;
}

static NTSTATUS query_device_v2(struct call *c)
{
    struct aerogpu_escape_query_device_v2 *e = c->block;

    e->detected_mmio_magic = c->k->regs ? kmd_read(c->k, AEROGPU_REG_MAGIC) : 0;
    e->abi_version_u32 = c->k->abi;
    e->features_lo = c->k->features;
    e->features_hi = 0;
    e->reserved0 = 0;
    return STATUS_SUCCESS;
}

static NTSTATUS query_fence(struct call *c)
{
    struct aerogpu_escape_query_fence *e = c->block;

    e->last_completed_fence = kmd_completed(c->k); /* first: it never passes what is read next */
    e->last_submitted_fence = c->k->submitted;
    e->error_irq_count = (ULONGLONG)c->k->perf.irq_error;
    e->last_error_fence = c->k->last_error_fence;
    return STATUS_SUCCESS;
}

static NTSTATUS query_error(struct call *c)
{
    struct aerogpu_escape_query_error *e = c->block;
    struct kmd *k = c->k;

    e->flags = AEROGPU_ESCAPE_FLAGS_VALID |
               (k->features & AEROGPU_FEATURE_ERROR_INFO ? AEROGPU_ESCAPE_ERROR_SUPPORTED : 0) |
               (k->error_latched ? AEROGPU_ESCAPE_ERROR_LATCHED : 0);
    e->error_code = k->last_error_code;
    e->error_fence = k->last_error_fence;
    e->error_count = k->error_count;
    e->reserved0 = 0;
    if (k->features & AEROGPU_FEATURE_ERROR_INFO && k->powered && kmd_read(k, AEROGPU_REG_ERROR_COUNT)) {
        e->error_code = kmd_read(k, AEROGPU_REG_ERROR_CODE);
        e->error_fence = kmd_read64(k, AEROGPU_REG_ERROR_FENCE_LO);
        e->error_count = kmd_read(k, AEROGPU_REG_ERROR_COUNT);
    }
    return STATUS_SUCCESS;
}

/* ---- the ring ------------------------------------------------------------ */

struct window {
    ULONG head, tail, first, count;
};

/* The last `capacity` descriptors of the ring; `pending`: only those that the device has not taken. */
static struct window look_at_ring(struct kmd *k, ULONG capacity, BOOLEAN pending)
{
    struct window w = {*(volatile ULONG *)&k->ring->head, *(volatile ULONG *)&k->ring->tail, 0, 0};
    ULONG n = pending || w.tail < k->ring_entries ? w.tail : k->ring_entries;

    if (pending)
        n = w.tail - w.head > k->ring_entries ? k->ring_entries : w.tail - w.head;
    if (capacity > AEROGPU_ESCAPE_RECENT)
        capacity = AEROGPU_ESCAPE_RECENT;
    w.count = n < capacity ? n : capacity;
    w.first = pending ? w.head : w.tail - w.count;
    return w;
}

static struct aerogpu_submit_desc ring_entry(struct kmd *k, ULONG i)
{
    return ((struct aerogpu_submit_desc *)(PVOID)(k->ring + 1))[i & (k->ring_entries - 1)];
}

static NTSTATUS dump_ring(struct call *c)
{
    struct aerogpu_escape_dump_ring *e = c->block;
    struct window w;

    if (e->ring_id)
        return STATUS_INVALID_PARAMETER;
    if (!c->k->ring)
        return STATUS_DEVICE_NOT_READY;
    if (e->desc_capacity > (c->given - offsetof(struct aerogpu_escape_dump_ring, desc)) / sizeof(e->desc[0]))
        e->desc_capacity =
            (c->given - (ULONG)offsetof(struct aerogpu_escape_dump_ring, desc)) / sizeof(e->desc[0]);
    w = look_at_ring(c->k, e->desc_capacity, TRUE);
    e->ring_size_bytes = c->k->ring_size;
    e->head = w.head;
    e->tail = w.tail;
    e->desc_count = w.count;
    e->desc_capacity = AEROGPU_ESCAPE_RECENT;
    for (ULONG i = 0; i < w.count; i++) {
        struct aerogpu_submit_desc d = ring_entry(c->k, w.first + i);
        e->desc[i] = (struct aerogpu_escape_ring_desc){d.signal_fence, d.cmd_gpa, d.cmd_size_bytes, d.flags};
    }
    return STATUS_SUCCESS;
}

static NTSTATUS dump_ring_v2(struct call *c)
{
    struct aerogpu_escape_dump_ring_v2 *e = c->block;
    struct kmd *k = c->k;
    struct window w;

    if (e->ring_id)
        return STATUS_INVALID_PARAMETER;
    if (!k->ring)
        return STATUS_DEVICE_NOT_READY;
    if (e->desc_capacity >
        (c->given - offsetof(struct aerogpu_escape_dump_ring_v2, desc)) / sizeof(e->desc[0]))
        e->desc_capacity =
            (c->given - (ULONG)offsetof(struct aerogpu_escape_dump_ring_v2, desc)) / sizeof(e->desc[0]);
    w = look_at_ring(k, e->desc_capacity, FALSE);
    e->ring_format = AEROGPU_RING_FORMAT_AGPU;
    e->ring_size_bytes = k->ring_size;
    e->head = w.head;
    e->tail = w.tail;
    e->desc_count = w.count;
    e->desc_capacity = AEROGPU_ESCAPE_RECENT;
    e->reserved0 = e->reserved1 = 0;
    for (ULONG i = 0; i < w.count; i++) {
        struct aerogpu_submit_desc d = ring_entry(k, w.first + i);
        e->desc[i] = (struct aerogpu_escape_ring_desc_v2){
            d.signal_fence,           d.cmd_gpa, d.cmd_size_bytes, d.flags, d.alloc_table_gpa,
            d.alloc_table_size_bytes, 0};
        for (ULONG r = 0; d.cmd_gpa && r < KMD_RECENT;
             r++) /* the copy, for the buffer may be another's by now */
            if (k->recent[r].cmd_gpa && k->recent[r].fence == d.signal_fence &&
                k->recent[r].submitted_gpa == d.cmd_gpa) {
                e->desc[i].cmd_gpa = k->recent[r].cmd_gpa;
                e->desc[i].alloc_table_gpa = k->recent[r].table_gpa;
            }
    }
    return STATUS_SUCCESS;
}

/* ---- display ------------------------------------------------------------- */

static NTSTATUS query_vblank(struct call *c)
{
    struct aerogpu_escape_query_vblank *e = c->block;
    struct kmd *k = c->k;

    if (e->vidpn_source_id)
        return STATUS_INVALID_PARAMETER;
    e->flags = AEROGPU_ESCAPE_FLAGS_VALID;
    e->irq_enable = e->irq_status = 0;
    e->vblank_seq = e->last_vblank_time_ns = 0;
    e->vblank_period_ns = e->vblank_interrupt_type = 0;
    if (!k->regs)
        return STATUS_SUCCESS;
    e->irq_enable = kmd_read(k, AEROGPU_REG_IRQ_ENABLE);
    e->irq_status = kmd_read(k, AEROGPU_REG_IRQ_STATUS);
    if (k->features & AEROGPU_FEATURE_VBLANK) {
        e->flags |= AEROGPU_ESCAPE_VBLANK_SUPPORTED;
        kmd_read_vblank(k, &e->vblank_seq, &e->last_vblank_time_ns);
        e->vblank_period_ns = kmd_read(k, AEROGPU_REG_SCANOUT0_VBLANK_PERIOD_NS);
    }
    if (k->vsync_requested) {
        e->flags |= AEROGPU_ESCAPE_VBLANK_INTERRUPT_TYPE;
        e->vblank_interrupt_type = DXGK_INTERRUPT_CRTC_VSYNC;
    }
    return STATUS_SUCCESS;
}

static NTSTATUS query_scanout(struct call *c)
{
    struct aerogpu_escape_query_scanout *e = c->block;
    struct kmd *k = c->k;

    if (e->vidpn_source_id)
        return STATUS_INVALID_PARAMETER;
    e->flags =
        AEROGPU_ESCAPE_FLAGS_VALID |
        AEROGPU_ESCAPE_SCANOUT_CACHED_FB_GPA; /* bit 1 is Windows 8's: nothing here hands the display over */
    e->cached_enable = k->visible;
    e->cached_width = k->width;
    e->cached_height = k->height;
    e->cached_format = k->format;
    e->cached_pitch_bytes = k->pitch;
    e->cached_fb_gpa = k->scan_gpa;
    if (!k->regs)
        return STATUS_SUCCESS;
    e->mmio_enable = kmd_read(k, AEROGPU_REG_SCANOUT0_ENABLE);
    e->mmio_width = kmd_read(k, AEROGPU_REG_SCANOUT0_WIDTH);
    e->mmio_height = kmd_read(k, AEROGPU_REG_SCANOUT0_HEIGHT);
    e->mmio_format = kmd_read(k, AEROGPU_REG_SCANOUT0_FORMAT);
    e->mmio_pitch_bytes = kmd_read(k, AEROGPU_REG_SCANOUT0_PITCH_BYTES);
    e->mmio_fb_gpa = kmd_read64(k, AEROGPU_REG_SCANOUT0_FB_GPA_LO);
    return STATUS_SUCCESS;
}

static NTSTATUS query_cursor(struct call *c)
{
    struct aerogpu_escape_query_cursor *e = c->block;
    struct kmd *k = c->k;

    e->flags = AEROGPU_ESCAPE_FLAGS_VALID;
    e->reserved0 = e->reserved1 = 0;
    if (!k->regs || !(k->features & AEROGPU_FEATURE_CURSOR))
        return STATUS_SUCCESS;
    e->flags |= AEROGPU_ESCAPE_CURSOR_SUPPORTED;
    e->enable = kmd_read(k, AEROGPU_REG_CURSOR_ENABLE);
    e->x = kmd_read(k, AEROGPU_REG_CURSOR_X);
    e->y = kmd_read(k, AEROGPU_REG_CURSOR_Y);
    e->hot_x = kmd_read(k, AEROGPU_REG_CURSOR_HOT_X);
    e->hot_y = kmd_read(k, AEROGPU_REG_CURSOR_HOT_Y);
    e->width = kmd_read(k, AEROGPU_REG_CURSOR_WIDTH);
    e->height = kmd_read(k, AEROGPU_REG_CURSOR_HEIGHT);
    e->format = kmd_read(k, AEROGPU_REG_CURSOR_FORMAT);
    e->fb_gpa = kmd_read64(k, AEROGPU_REG_CURSOR_FB_GPA_LO);
    e->pitch_bytes = kmd_read(k, AEROGPU_REG_CURSOR_PITCH_BYTES);
    return STATUS_SUCCESS;
}

static NTSTATUS set_cursor_shape(struct call *c)
{
    struct aerogpu_escape_set_cursor_shape *e = c->block;
    struct kmd *k = c->k;
    NTSTATUS s;

    if (!(k->features & AEROGPU_FEATURE_CURSOR))
        return STATUS_NOT_SUPPORTED;
    if (!k->powered)
        return STATUS_DEVICE_NOT_READY;
    if (!e->width || !e->height || e->width > KMD_CURSOR_MAX || e->height > KMD_CURSOR_MAX ||
        e->pitch_bytes < 4 * e->width || e->pitch_bytes > 1u << 20 ||
        (e->format != AEROGPU_FORMAT_B8G8R8A8_UNORM && e->format != AEROGPU_FORMAT_B8G8R8X8_UNORM &&
         e->format != AEROGPU_FORMAT_B8G8R8A8_UNORM_SRGB && e->format != AEROGPU_FORMAT_B8G8R8X8_UNORM_SRGB))
        return STATUS_INVALID_PARAMETER;
    if ((ULONGLONG)e->pitch_bytes * e->height > c->tail_size)
        return STATUS_BUFFER_TOO_SMALL;
    ExAcquireFastMutex(&k->display);
    s = kmd_cursor_shape(k, e->width, e->height, e->hot_x, e->hot_y, e->format, e->pitch_bytes, c->tail);
    ExReleaseFastMutex(&k->display);
    return s;
}

static NTSTATUS set_cursor_position(struct call *c)
{
    struct aerogpu_escape_set_cursor_position *e = c->block;
    struct kmd *k = c->k;

    if (!(k->features & AEROGPU_FEATURE_CURSOR))
        return STATUS_NOT_SUPPORTED;
    if (!k->powered)
        return STATUS_DEVICE_NOT_READY;
    ExAcquireFastMutex(&k->display);
    kmd_cursor_move(k, (LONG)e->x, (LONG)e->y);
    ExReleaseFastMutex(&k->display);
    return STATUS_SUCCESS;
}

static NTSTATUS set_cursor_visibility(struct call *c)
{
    struct aerogpu_escape_set_cursor_visibility *e = c->block;
    struct kmd *k = c->k;

    if (!(k->features & AEROGPU_FEATURE_CURSOR))
        return STATUS_NOT_SUPPORTED;
    if (e->visible > 1)
        return STATUS_INVALID_PARAMETER;
    if (!k->powered || (e->visible && !k->cursor.memory))
        return STATUS_DEVICE_NOT_READY;
    ExAcquireFastMutex(&k->display);
    kmd_cursor_show(k, (BOOLEAN)e->visible);
    ExReleaseFastMutex(&k->display);
    return STATUS_SUCCESS;
}

/* ---- allocations, counters ----------------------------------------------- */

static NTSTATUS dump_createallocation(struct call *c)
{
    struct aerogpu_escape_dump_createallocation *e = c->block;
    struct kmd *k = c->k;
    ULONG room = (c->given - (ULONG)offsetof(struct aerogpu_escape_dump_createallocation, entries)) /
                 (ULONG)sizeof(e->entries[0]),
          n = e->entry_capacity < room ? e->entry_capacity : room;

    ExAcquireFastMutex(&k->mutex);
    if (n > AEROGPU_ESCAPE_RECENT)
        n = AEROGPU_ESCAPE_RECENT;
    if (n > k->trace_written)
        n = k->trace_written;
    for (ULONG i = 0; i < n; i++)
        e->entries[i] = k->trace[(k->trace_written - n + i) % AEROGPU_ESCAPE_RECENT];
    e->write_index = k->trace_written;
    ExReleaseFastMutex(&k->mutex);
    e->entry_count = n;
    e->entry_capacity = AEROGPU_ESCAPE_RECENT;
    e->reserved0 = 0;
    return STATUS_SUCCESS;
}

static ULONG packed_error(struct kmd *k)
{
    ULONGLONG ten_ms = k->last_error_100ns / 100000;

    return (k->error_latched ? 1u << 31 : 0) | (ULONG)(ten_ms & 0x7FFFFFFF);
}

static NTSTATUS query_perf(struct call *c)
{
    struct aerogpu_escape_query_perf *e = c->block;
    struct kmd *k = c->k;
    struct kmd_perf *p = &k->perf;

    e->last_completed_fence = kmd_completed(k);
    e->last_submitted_fence = k->submitted;
    e->flags = AEROGPU_ESCAPE_FLAGS_VALID | AEROGPU_ESCAPE_PERF_SCANLINE;
    if (k->ring) {
        e->flags |= AEROGPU_ESCAPE_PERF_RING;
        e->ring0_head = *(volatile ULONG *)&k->ring->head;
        e->ring0_tail = *(volatile ULONG *)&k->ring->tail;
        e->ring0_size_bytes = k->ring_size;
        e->ring0_entry_count = k->ring_entries;
    }
    e->total_submissions = (ULONGLONG)p->submissions;
    e->total_presents = (ULONGLONG)p->presents;
    e->total_render_submits = (ULONGLONG)p->renders;
    e->total_internal_submits = (ULONGLONG)p->internals;
    e->irq_fence_delivered = (ULONGLONG)p->irq_fence;
    e->irq_vblank_delivered = (ULONGLONG)p->irq_vblank;
    e->irq_spurious = (ULONGLONG)p->irq_spurious;
    e->reset_from_timeout_count = (ULONGLONG)p->resets;
    e->last_reset_time_100ns = (ULONGLONG)p->last_reset_100ns;
    if (k->regs && k->features & AEROGPU_FEATURE_VBLANK) {
        e->flags |= AEROGPU_ESCAPE_PERF_VBLANK;
        kmd_read_vblank(k, &e->vblank_seq, &e->last_vblank_time_ns);
        e->vblank_period_ns = kmd_read(k, AEROGPU_REG_SCANOUT0_VBLANK_PERIOD_NS);
    }
    e->error_state = packed_error(k);
    e->error_irq_count = (ULONGLONG)p->irq_error;
    e->last_error_fence = k->last_error_fence;
    e->ring_push_failures = (ULONGLONG)p->push_failures;
    e->selftest_count = (ULONGLONG)p->selftests;
    e->selftest_last_error_code = p->selftest_code;
    e->get_scanline_cache_hits = (ULONGLONG)p->scanline_hits;
    e->get_scanline_mmio_polls = (ULONGLONG)p->scanline_polls;
    e->contig_pool_hit = (ULONGLONG)p->pool_hits;
    e->contig_pool_miss = (ULONGLONG)p->pool_misses;
    e->contig_pool_bytes_saved = (ULONGLONG)p->pool_bytes;
    e->alloc_table_count = (ULONGLONG)p->tables;
    e->alloc_table_entries = (ULONGLONG)p->table_entries;
    e->alloc_table_readonly_entries = (ULONGLONG)p->table_readonly;
    return STATUS_SUCCESS;
}

/* ---- behind the gates ---------------------------------------------------- */

/* An administrator, or somebody who may debug. */
static BOOLEAN privileged(VOID)
{
    LUID debug = {.LowPart = SE_DEBUG_PRIVILEGE};
    PVOID token = PsReferencePrimaryToken(PsGetCurrentProcess());
    BOOLEAN yes = SeTokenIsAdmin(token);

    PsDereferencePrimaryToken(token);
    return yes || SeSinglePrivilegeCheck(debug, ExGetPreviousMode());
}

static BOOLEAN is_memory(ULONGLONG gpa, ULONG size)
{
    PPHYSICAL_MEMORY_RANGE ranges = MmGetPhysicalMemoryRanges();
    BOOLEAN yes = FALSE;

    for (ULONG i = 0; ranges && (ranges[i].BaseAddress.QuadPart || ranges[i].NumberOfBytes.QuadPart) && !yes;
         i++) {
        ULONGLONG base = (ULONGLONG)ranges[i].BaseAddress.QuadPart,
                  n = (ULONGLONG)ranges[i].NumberOfBytes.QuadPart;
        yes = gpa >= base && size <= n && gpa - base <= n - size;
    }
    if (ranges)
        ExFreePool(ranges);
    return yes;
}

static NTSTATUS read_gpa(struct call *c)
{
    struct aerogpu_escape_read_gpa *e = c->block;
    ULONG room = c->given - (ULONG)offsetof(struct aerogpu_escape_read_gpa, data), size = e->size_bytes,
          done = 0;
    ULONGLONG gpa = e->gpa;

    if (!c->k->settings.read_gpa || !privileged())
        return STATUS_NOT_SUPPORTED;
    if (!size || size > AEROGPU_ESCAPE_READ_GPA_MAX || gpa > UINT64_MAX - size)
        return STATUS_INVALID_PARAMETER;
    if (size > room)
        return STATUS_BUFFER_TOO_SMALL;
    e->status = (ULONG)STATUS_SUCCESS;
    while (done < size) { /* page by page: what follows a hole is not read */
        ULONG n = PAGE_SIZE - (ULONG)((gpa + done) & (PAGE_SIZE - 1));
        PHYSICAL_ADDRESS pa = {.QuadPart = (LONGLONG)(gpa + done)};
        PVOID va;
        n = n < size - done ? n : size - done;
        va = is_memory(gpa + done, n) ? MmMapIoSpace(pa, n, MmCached) : NULL;
        if (!va) {
            e->status = (ULONG)(done ? STATUS_PARTIAL_COPY : STATUS_INVALID_PARAMETER);
            break;
        }
        RtlCopyMemory(e->data + done, va, n);
        MmUnmapIoSpace(va, n);
        done += n;
    }
    e->bytes_copied = done;
    e->reserved0 = 0;
    RtlZeroMemory(e->data + done, AEROGPU_ESCAPE_READ_GPA_MAX - done);
    return done ? STATUS_SUCCESS : STATUS_INVALID_PARAMETER;
}

/* The same section has the same token while it lives; the token says nothing else. */
static ULONG debug_token(struct kmd *k, PVOID object)
{
    ULONG oldest = 0;

    for (ULONG i = 0; i < KMD_DEBUG_TOKENS; i++) {
        if (k->debug_tokens[i].object == object) {
            k->debug_tokens[i].used = ++k->next_debug_token;
            return k->debug_tokens[i].token;
        }
        if (k->debug_tokens[i].used < k->debug_tokens[oldest].used)
            oldest = i;
    }
    k->debug_tokens[oldest].object = object;
    k->debug_tokens[oldest].token = k->debug_tokens[oldest].used = ++k->next_debug_token;
    return k->debug_tokens[oldest].token;
}

static NTSTATUS map_shared_handle(struct call *c)
{
    struct aerogpu_escape_map_shared_handle *e = c->block;
    struct kmd *k = c->k;
    SECTION_BASIC_INFORMATION section;
    PVOID object;
    NTSTATUS s;

    if (!k->settings.map_shared_handle || !privileged())
        return STATUS_NOT_SUPPORTED;
    if (!e->shared_handle)
        return STATUS_INVALID_PARAMETER;
    s = ZwQuerySection((HANDLE)(ULONG_PTR)e->shared_handle, SectionBasicInformation, &section,
                       sizeof(section), NULL);
    if (NT_SUCCESS(s)) /* a section; as the kernel, for a NULL type is the kernel's */
        s = ObReferenceObjectByHandle((HANDLE)(ULONG_PTR)e->shared_handle, 0, NULL, KernelMode, &object,
                                      NULL);
    if (!NT_SUCCESS(s))
        return s;
    ExAcquireFastMutex(&k->mutex);
    e->debug_token = debug_token(k, object);
    ExReleaseFastMutex(&k->mutex);
    ObDereferenceObject(object);
    e->reserved0 = 0;
    return STATUS_SUCCESS;
}

static NTSTATUS read_log(struct call *c)
{
    struct aerogpu_escape_read_log *e = c->block;
    ULONG room = c->given - (ULONG)offsetof(struct aerogpu_escape_read_log, text);

    e->text_bytes = kmd_log_read(c->k, e->text, room, (PULONGLONG)&e->first, (PULONGLONG)&e->next);
    e->reserved0 = 0;
    RtlZeroMemory(e->text + e->text_bytes, AEROGPU_EXT_LOG_TEXT - e->text_bytes);
    return STATUS_SUCCESS;
}

/* ---- self-test ----------------------------------------------------------- */

struct test {
    struct kmd *k;
    ULONGLONG end; /* 100 ns */
};

static BOOLEAN time_left(CONST struct test *t)
{
    return kmd_now() < t->end;
}

static VOID pause(VOID)
{
    LARGE_INTEGER t = {.QuadPart = -10000};

    KeDelayExecutionThread(KernelMode, FALSE, &t);
}

static ULONG test_ring(struct test *t)
{
    struct kmd *k = t->k;
    struct aerogpu_submit_desc desc = {0};

    while (kmd_completed(k) != k->submitted) {
        if (!time_left(t))
            return AEROGPU_SELFTEST_GPU_BUSY;
        pause();
    }
    if (!NT_SUCCESS(kmd_hw_submit_internal(k, &desc)))
        return AEROGPU_SELFTEST_NO_RESOURCES;
    while (*(volatile ULONG *)&k->ring->head != k->ring_tail) {
        if (!time_left(t))
            return AEROGPU_SELFTEST_TIMEOUT;
        pause();
    }
    return AEROGPU_SELFTEST_OK;
}

/* Vblanks tick, set their bit and arrive. */
static ULONG test_vblank(struct test *t)
{
    struct kmd *k = t->k;
    ULONGLONG seq, late;
    LONG seen = k->selftest_vblanks;
    ULONG code = AEROGPU_SELFTEST_OK;

    if (k->regs_size < AEROGPU_REG_SCANOUT0_VBLANK_PERIOD_NS + 4)
        return AEROGPU_SELFTEST_VBLANK_REGS_OUT_OF_RANGE;
    if (!time_left(t))
        return AEROGPU_SELFTEST_TIME_BUDGET_EXHAUSTED;
    InterlockedIncrement(&k->vsync_tests);
    kmd_hw_update_vsync(k);
    seq = kmd_read64(k, AEROGPU_REG_SCANOUT0_VBLANK_SEQ_LO);
    late = kmd_now() + 10 * (ULONGLONG)k->anchor.period_ns / 100;
    if (late > t->end)
        late = t->end;
    while (k->selftest_vblanks == seen && kmd_now() < late)
        pause();
    if (k->selftest_vblanks == seen) {
        if (kmd_read64(k, AEROGPU_REG_SCANOUT0_VBLANK_SEQ_LO) == seq)
            code = AEROGPU_SELFTEST_VBLANK_SEQ_STUCK;
        else if (kmd_read(k, AEROGPU_REG_IRQ_STATUS) & AEROGPU_IRQ_SCANOUT_VBLANK)
            code = AEROGPU_SELFTEST_VBLANK_IRQ_NOT_DELIVERED;
        else
            code = AEROGPU_SELFTEST_VBLANK_IRQ_NOT_LATCHED;
    }
    InterlockedDecrement(&k->vsync_tests);
    kmd_hw_update_vsync(k); /* the system may have come to want them */
    if (!code && !(k->irq_enable & AEROGPU_IRQ_SCANOUT_VBLANK) &&
        kmd_read(k, AEROGPU_REG_IRQ_STATUS) & AEROGPU_IRQ_SCANOUT_VBLANK)
        code = AEROGPU_SELFTEST_VBLANK_IRQ_NOT_CLEARED;
    return code;
}

static ULONG test_cursor(struct test *t)
{
    struct kmd *k = t->k;
    ULONG x, read;

    if (k->regs_size < AEROGPU_REG_CURSOR_PITCH_BYTES + 4)
        return AEROGPU_SELFTEST_CURSOR_REGS_OUT_OF_RANGE;
    ExAcquireFastMutex(&k->display);
    x = kmd_read(k, AEROGPU_REG_CURSOR_X);
    kmd_write(k, AEROGPU_REG_CURSOR_X, CURSOR_PATTERN);
    read = kmd_read(k, AEROGPU_REG_CURSOR_X);
    kmd_write(k, AEROGPU_REG_CURSOR_X, x);
    ExReleaseFastMutex(&k->display);
    return read == CURSOR_PATTERN ? AEROGPU_SELFTEST_OK : AEROGPU_SELFTEST_CURSOR_RW_MISMATCH;
}

static NTSTATUS selftest(struct call *c)
{
    struct aerogpu_escape_selftest *e = c->block;
    struct kmd *k = c->k;
    ULONG ms = !e->timeout_ms                    ? SELFTEST_MS
               : e->timeout_ms > SELFTEST_MAX_MS ? SELFTEST_MAX_MS
                                                 : e->timeout_ms,
          code = AEROGPU_SELFTEST_OK;
    struct test t = {k, kmd_now() + (ULONGLONG)ms * 10000};

    if (!k->started || !k->powered || k->reset_pending)
        code = AEROGPU_SELFTEST_INVALID_STATE;
    else if (!k->ring || kmd_read(k, AEROGPU_REG_RING_CONTROL) != AEROGPU_RING_CONTROL_ENABLE)
        code = AEROGPU_SELFTEST_RING_NOT_READY;
    else
        code = test_ring(&t);
    if (!code && k->features & AEROGPU_FEATURE_VBLANK && k->visible)
        code = test_vblank(&t);
    if (!code && k->features & AEROGPU_FEATURE_CURSOR)
        code = test_cursor(&t);
    kmd_count(&k->perf.selftests);
    k->perf.selftest_code = code;
    e->passed = !code;
    e->error_code = code;
    e->reserved0 = 0;
    return STATUS_SUCCESS;
}

/* ---- the table ----------------------------------------------------------- */

/* `need`: the bytes without which the op means nothing. A caller built against an older header has at least those. */
static CONST struct op {
    NTSTATUS (*run)(struct call *c);
    ULONG size, need;
    BOOLEAN guarded; /* it shows or changes what is others' */
} ops[] = {
#define ROW(NAME, name, ...)                                                                                 \
    [AEROGPU_ESCAPE_OP_##NAME] = {name, sizeof(struct aerogpu_escape_##name), __VA_ARGS__}
#define OP(NAME, name, need_)      ROW(NAME, name, need_, FALSE)
#define GUARDED(NAME, name, need_) ROW(NAME, name, need_, TRUE)
    OP(QUERY_DEVICE, query_device, 24),
    OP(QUERY_FENCE, query_fence, 32),
    GUARDED(DUMP_RING, dump_ring, 40),
    OP(SELFTEST, selftest, 32),
    OP(QUERY_VBLANK, query_vblank, 56),
    GUARDED(DUMP_RING_V2, dump_ring_v2, 52),
    OP(QUERY_DEVICE_V2, query_device_v2, 48),
    OP(MAP_SHARED_HANDLE, map_shared_handle, 32),
    GUARDED(DUMP_CREATEALLOCATION, dump_createallocation, 32),
    OP(QUERY_SCANOUT, query_scanout, AEROGPU_ESCAPE_SCANOUT_V1),
    OP(QUERY_CURSOR, query_cursor, 72),
    OP(QUERY_PERF, query_perf, 144),
    OP(READ_GPA, read_gpa, 40),
    OP(QUERY_ERROR, query_error, 40),
    GUARDED(SET_CURSOR_SHAPE, set_cursor_shape, 48),
    GUARDED(SET_CURSOR_POSITION, set_cursor_position, 24),
    GUARDED(SET_CURSOR_VISIBILITY, set_cursor_visibility, 24),
#undef GUARDED
#undef OP
#undef ROW
};

static CONST struct op log_op = {read_log, sizeof(struct aerogpu_escape_read_log), 40, TRUE};

static CONST struct op *find(ULONG op)
{
    if (op == AEROGPU_EXT_ESCAPE_OP_READ_LOG)
        return &log_op;
    return op < RTL_NUMBER_OF(ops) && ops[op].run ? &ops[op] : NULL;
}

NTSTATUS NTAPI kmd_Escape(CONST HANDLE adapter, CONST DXGKARG_ESCAPE *args)
{
    struct aerogpu_escape_header header;
    struct call c = {.k = adapter};
    CONST struct op *op;
    NTSTATUS s;
    ULONG fill;

    if (!args->pPrivateDriverData || args->PrivateDriverDataSize < sizeof(header))
        return STATUS_BUFFER_TOO_SMALL;
    RtlCopyMemory(&header, args->pPrivateDriverData, sizeof(header));
    if (header.version != AEROGPU_ESCAPE_VERSION)
        return STATUS_INVALID_PARAMETER;
    op = find(header.op);
    if (!op)
        return STATUS_NOT_SUPPORTED;
    if (header.size > args->PrivateDriverDataSize)
        return STATUS_INVALID_PARAMETER;
    if (header.size < op->need)
        return STATUS_BUFFER_TOO_SMALL;
    if (op->guarded && !privileged())
        return STATUS_ACCESS_DENIED;
    fill = header.size < op->size ? header.size : op->size;
    c.given = fill;
    c.block = kmd_alloc(op->size);
    if (!c.block)
        return STATUS_NO_MEMORY;
    RtlCopyMemory(c.block, args->pPrivateDriverData, fill);
    RtlCopyMemory(c.block, &header, sizeof(header)); /* as it was checked */
    c.tail = (CONST UCHAR *)args->pPrivateDriverData + fill;
    c.tail_size = header.size - fill;
    s = op->run(&c);
    if (NT_SUCCESS(s)) {
        ((struct aerogpu_escape_header *)c.block)->size = fill;
        RtlCopyMemory(args->pPrivateDriverData, c.block, fill);
    }
    kmd_free(c.block);
    return s;
}
