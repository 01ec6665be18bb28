/* SPDX-License-Identifier: MIT */
/* display.c: modes, EDID, scanout, scan line, pointer.
 *
 *   CommitVidPn ─▶ SetVidPnSourceAddress(ModeChange) ─▶ SetVidPnSourceVisibility(TRUE) ─▶ flips
 *   flip: SetVidPnSourceAddress ─▶ pending ─vblank interrupt─▶ FB_GPA, reported with that vblank
 *
 * Invariants:
 *  1. The scanout registers describe a picture whenever SCANOUT0_ENABLE is 1.
 *  2. A flip for the next vblank reaches FB_GPA in the interrupt of a vblank, and that vblank's notification names it. An
 *     interrupt that comes late, of a vblank from before the flip was asked for, is none of these.
 *  3. GetScanLine counts from the last vblank that was seen, and reads registers only when that is too long ago.
 */
#include "kmd/kmd.h"

/* ---- modes --------------------------------------------------------------- */

static CONST struct kmd_mode builtin[] = {
    {640, 480}, {800, 600}, {1024, 768}, {1280, 720}, {1280, 800}, {1366, 768}, {1600, 900}, {1920, 1080},
};

static VOID add_mode(struct kmd *k, ULONG width, ULONG height)
{
    if ((k->settings.max_width && width > k->settings.max_width) ||
        (k->settings.max_height && height > k->settings.max_height) ||
        k->num_modes == RTL_NUMBER_OF(k->modes))
        return;
    for (ULONG i = 0; i < k->num_modes; i++)
        if (k->modes[i].width == width && k->modes[i].height == height)
            return;
    k->modes[k->num_modes++] = (struct kmd_mode){width, height};
}

static VOID make_modes(struct kmd *k)
{
    struct kmd_mode want = {1024, 768};
    ULONGLONG best = 0;

    if (k->settings.preferred_width && k->settings.preferred_height) { /* both, or neither counts */
        want.width = k->settings.preferred_width;
        want.height = k->settings.preferred_height;
    }
    k->num_modes = 0;
    for (ULONG i = 0; i < RTL_NUMBER_OF(builtin); i++)
        add_mode(k, builtin[i].width, builtin[i].height);
    add_mode(k, want.width, want.height);
    if (!k->num_modes) /* limits below everything */
        k->modes[k->num_modes++] = builtin[0];
    k->preferred_mode = 0;
    for (ULONG i = 0; i < k->num_modes; i++) {
        ULONGLONG area = (ULONGLONG)k->modes[i].width * k->modes[i].height;
        if (k->modes[i].width == want.width && k->modes[i].height == want.height) {
            k->preferred_mode = i;
            return;
        }
        if (area > best) {
            best = area;
            k->preferred_mode = i;
        }
    }
}

ULONG kmd_vblank_lines(ULONG height)
{
    ULONG lines = height / 20;

    return lines < 20 ? 20 : lines > 40 ? 40 : lines;
}

/* ---- EDID 1.3: one detailed timing for the preferred mode, a range and a name ---- */

static VOID make_timing(PUCHAR t, CONST struct kmd_mode *m)
{
    ULONG hblank = m->width / 4, vblank = kmd_vblank_lines(m->height);
    ULONG clock = (m->width + hblank) * (m->height + vblank) / 10000 * 60; /* in 10 kHz */
    ULONG hsync = hblank / 4, hwidth = hblank / 4;

    t[0] = (UCHAR)clock;
    t[1] = (UCHAR)(clock >> 8);
    t[2] = (UCHAR)m->width;
    t[3] = (UCHAR)hblank;
    t[4] = (UCHAR)(m->width >> 8 << 4 | hblank >> 8);
    t[5] = (UCHAR)m->height;
    t[6] = (UCHAR)vblank;
    t[7] = (UCHAR)(m->height >> 8 << 4 | vblank >> 8);
    t[8] = (UCHAR)hsync;
    t[9] = (UCHAR)hwidth;
    t[10] = 3 << 4 | 5; /* 3 lines to the vertical sync, 5 of it */
    t[11] = (UCHAR)((hsync >> 8) << 6 | (hwidth >> 8) << 4);
    t[17] = 0x1E; /* digital separate sync, both positive */
}

static VOID make_text(PUCHAR d, UCHAR tag, CONST CHAR *text)
{
    ULONG i = 0;

    RtlZeroMemory(d, 18);
    d[3] = tag;
    for (; i < 13 && text[i]; i++)
        d[5 + i] = (UCHAR)text[i];
    if (i < 13)
        d[5 + i++] = '\n';
    for (; i < 13; i++)
        d[5 + i] = ' ';
}

static VOID make_edid(struct kmd *k)
{
    static CONST UCHAR head[] = {
        0,    0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0,    /* */
        0x04, 0xF2, 0x01, 0x00, 1,    0,    0,    0,    /* "AGR", product 1, serial 1 */
        1,    36,   1,    3,    0x80, 40,   30,   120,  /* week 1 of 2026; 1.3; 40 x 30 cm */
        0x0A, 0xEE, 0x91, 0xA3, 0x54, 0x4C, 0x99, 0x26, /* sRGB chromaticities */
        0x0F, 0x50, 0x54, 0x21, 0x08, 0x00};            /* established: 640, 800, 1024 */
    static CONST UCHAR range[] = {0,  0, 0,    0xFD, 0,   59,  61,  28,  80,
                                  20, 0, '\n', ' ',  ' ', ' ', ' ', ' ', ' '};
    UCHAR sum = 0;

    RtlZeroMemory(k->edid, sizeof(k->edid));
    RtlCopyMemory(k->edid, head, sizeof(head));
    for (ULONG i = 38; i < 54; i++)
        k->edid[i] = 1; /* no standard timings */
    make_timing(k->edid + 54, &k->modes[k->preferred_mode]);
    RtlCopyMemory(k->edid + 72, range, sizeof(range));
    make_text(k->edid + 90, 0xFC, "AeroGPU");
    make_text(k->edid + 108, 0xFE, "AeroGPU Monit");
    for (ULONG i = 0; i < KMD_EDID_SIZE - 1; i++)
        sum = (UCHAR)(sum + k->edid[i]);
    k->edid[KMD_EDID_SIZE - 1] = (UCHAR)-sum;
}

VOID kmd_display_init(struct kmd *k)
{
    make_modes(k);
    make_edid(k);
}

/* ---- scanout ------------------------------------------------------------- */

VOID kmd_scanout_off(struct kmd *k)
{
    k->visible = FALSE;
    kmd_write(k, AEROGPU_REG_SCANOUT0_ENABLE, 0);
}

/* With `display` held, the registers not yet on. */
static VOID scanout_on(struct kmd *k)
{
    kmd_write(k, AEROGPU_REG_SCANOUT0_WIDTH, k->width);
    kmd_write(k, AEROGPU_REG_SCANOUT0_HEIGHT, k->height);
    kmd_write(k, AEROGPU_REG_SCANOUT0_FORMAT, k->format);
    kmd_write(k, AEROGPU_REG_SCANOUT0_PITCH_BYTES, k->pitch);
    kmd_write64(k, AEROGPU_REG_SCANOUT0_FB_GPA_LO, k->scan_gpa);
    kmd_write(k, AEROGPU_REG_SCANOUT0_ENABLE, 1);
}

struct flip {
    struct kmd *k;
    PHYSICAL_ADDRESS address;
    ULONGLONG gpa;
    ULONG session;
    BOOLEAN wait; /* for the next vblank */
};

static BOOLEAN NTAPI flip(PVOID context)
{
    struct flip *f = context;
    struct kmd *k = f->k;

    /* Without the interrupt there is nobody to do it later. */
    if (f->wait && k->irq_enable & AEROGPU_IRQ_SCANOUT_VBLANK) {
        k->flip.gpa = f->gpa;
        k->flip.address = f->address;
        k->flip.session = f->session;
        k->flip.asked = kmd_read64(k, AEROGPU_REG_SCANOUT0_VBLANK_SEQ_LO);
        k->flip.pending = TRUE;
        return TRUE;
    }
    k->flip.pending = FALSE;
    k->scan_address = f->address;
    k->scan_session = f->session;
    k->scan_gpa = f->gpa;
    kmd_write64(k, AEROGPU_REG_SCANOUT0_FB_GPA_LO, f->gpa);
    return TRUE;
}

/* At DIRQL for flips (FlipOnVSyncMmIo), at PASSIVE_LEVEL for mode changes. */
NTSTATUS NTAPI kmd_SetVidPnSourceAddress(CONST HANDLE adapter, CONST DXGKARG_SETVIDPNSOURCEADDRESS *args)
{
    struct kmd *k = adapter;
    struct kmd_allocation *a = args->hAllocation;
    struct flip f = {.k = k, .address = args->PrimaryAddress, .session = a ? a->session : 0};

    if (args->VidPnSourceId != 0)
        return STATUS_GRAPHICS_INVALID_VIDEO_PRESENT_SOURCE;
    f.gpa = args->PrimarySegment == KMD_APERTURE
                ? kmd_resolve(k, NULL, args->PrimaryAddress, a ? a->size : (ULONGLONG)k->pitch * k->height)
                : 0;
    if (!f.gpa || (a && a->size < (ULONGLONG)k->pitch * k->height)) {
        kmd_log(k, DPFLTR_ERROR_LEVEL, "SetVidPnSourceAddress: %llx cannot be shown",
                (ULONGLONG)args->PrimaryAddress.QuadPart, 0, 0);
        return STATUS_INVALID_PARAMETER;
    }
    f.wait = args->Flags.FlipOnNextVSync && !args->Flags.ModeChange && !args->Flags.FlipImmediate;
    if (KeGetCurrentIrql() > DISPATCH_LEVEL)
        flip(&f); /* the interrupt routine is kept out already */
    else
        kmd_synchronize(k, flip, &f);
    return STATUS_SUCCESS;
}

NTSTATUS NTAPI kmd_SetVidPnSourceVisibility(CONST HANDLE adapter,
                                            CONST DXGKARG_SETVIDPNSOURCEVISIBILITY *args)
{
    struct kmd *k = adapter;

    if (args->VidPnSourceId != 0)
        return STATUS_GRAPHICS_INVALID_VIDEO_PRESENT_SOURCE;
    ExAcquireFastMutex(&k->display);
    if (!args->Visible) {
        kmd_scanout_off(k);
    } else if (k->width && k->scan_gpa) {
        k->visible = TRUE;
        scanout_on(k);
    }
    ExReleaseFastMutex(&k->display);
    return STATUS_SUCCESS;
}

/* ---- the scan line ------------------------------------------------------- */

static VOID poll_anchor(struct kmd *k, ULONGLONG now)
{
    ULONGLONG seq, ns;

    kmd_read_vblank(k, &seq, &ns);
    if (!k->anchor.valid)
        k->anchor.guest_100ns = now; /* its phase is unknown until an interrupt comes */
    else if (seq != k->anchor.seq && ns > k->anchor.device_ns)
        k->anchor.guest_100ns += (ns - k->anchor.device_ns) / 100;
    if (k->anchor.guest_100ns > now)
        k->anchor.guest_100ns = now;
    k->anchor.seq = seq;
    k->anchor.device_ns = ns;
    k->anchor.valid = TRUE;
}

struct line {
    struct kmd *k;
    ULONGLONG since_ns; /* the last vblank */
};

static BOOLEAN NTAPI measure(PVOID context)
{
    struct line *l = context;
    struct kmd *k = l->k;
    ULONGLONG now = kmd_now(), period = k->anchor.period_ns;

    if (k->anchor.valid && now - k->anchor.guest_100ns < 2 * period / 100) {
        kmd_count(&k->perf.scanline_hits);
    } else {
        poll_anchor(k, now);
        kmd_count(&k->perf.scanline_polls);
    }
    l->since_ns = (now - k->anchor.guest_100ns) * 100 % period;
    return TRUE;
}

NTSTATUS NTAPI kmd_GetScanLine(CONST HANDLE adapter, DXGKARG_GETSCANLINE *args)
{
    struct kmd *k = adapter;
    ULONG lines = k->height + kmd_vblank_lines(k->height);
    struct line l = {.k = k};

    if (args->VidPnTargetId != KMD_TARGET)
        return STATUS_GRAPHICS_INVALID_VIDEO_PRESENT_TARGET;
    if (!k->height || !k->powered)
        return STATUS_DEVICE_NOT_READY;
    kmd_synchronize(k, measure, &l);
    args->ScanLine =
        (UINT)((l.since_ns * lines / k->anchor.period_ns + k->height) % lines); /* blank lines first */
    args->InVerticalBlank = args->ScanLine >= k->height;
    return STATUS_SUCCESS;
}

/* ---- the pointer --------------------------------------------------------- */

VOID kmd_cursor_move(struct kmd *k, LONG x, LONG y)
{
    k->cursor.x = x;
    k->cursor.y = y;
    kmd_write(k, AEROGPU_REG_CURSOR_X, (ULONG)x);
    kmd_write(k, AEROGPU_REG_CURSOR_Y, (ULONG)y);
}

VOID kmd_cursor_show(struct kmd *k, BOOLEAN visible)
{
    k->cursor.visible = visible;
    kmd_write(k, AEROGPU_REG_CURSOR_ENABLE, visible && k->cursor.memory ? 1 : 0);
}

/* Contiguous pieces are kept: shapes change often, and such memory is dear. */
static struct kmd_memory *pool_get(struct kmd *k, SIZE_T size)
{
    struct kmd_memory *found = NULL;
    ULONG empty = KMD_POOL_SLOTS;

    for (ULONG i = 0; i < KMD_POOL_SLOTS && !found; i++) {
        if (!k->pool[i].memory.va)
            empty = i;
        else if (!k->pool[i].used && k->pool[i].memory.size >= size) {
            kmd_count(&k->perf.pool_hits);
            k->perf.pool_bytes += (LONGLONG)size;
            k->pool[i].used = TRUE;
            found = &k->pool[i].memory;
        }
    }
    if (found)
        return found;
    for (ULONG i = 0; i < KMD_POOL_SLOTS && empty == KMD_POOL_SLOTS; i++)
        if (!k->pool[i].used) {
            kmd_memory_free(&k->pool[i].memory);
            empty = i;
        }
    if (empty == KMD_POOL_SLOTS || !NT_SUCCESS(kmd_memory_alloc(&k->pool[empty].memory, size)))
        return NULL;
    kmd_count(&k->perf.pool_misses);
    k->pool[empty].used = TRUE;
    return &k->pool[empty].memory;
}

static VOID pool_put(struct kmd *k, struct kmd_memory *m)
{
    for (ULONG i = 0; i < KMD_POOL_SLOTS; i++)
        if (&k->pool[i].memory == m)
            k->pool[i].used = FALSE;
}

VOID kmd_cursor_finish(struct kmd *k)
{
    if (k->cursor.memory)
        pool_put(k, k->cursor.memory);
    k->cursor.memory = NULL;
    k->cursor.visible = FALSE;
}

VOID kmd_cursor_restore(struct kmd *k)
{
    if (!(k->features & AEROGPU_FEATURE_CURSOR) || !k->cursor.memory)
        return;
    ExAcquireFastMutex(&k->display);
    kmd_cursor_move(k, k->cursor.x, k->cursor.y);
    kmd_cursor_show(k, k->cursor.visible);
    ExReleaseFastMutex(&k->display);
}

/* `pixels`: rows of BGRA or BGRX, `pitch` bytes apart. With `display` held. */
NTSTATUS kmd_cursor_shape(struct kmd *k, ULONG width, ULONG height, ULONG hot_x, ULONG hot_y, ULONG format,
                          ULONG pitch, CONST UCHAR *pixels)
{
    struct kmd_memory *m, *old = k->cursor.memory;

    if (!width || !height || width > KMD_CURSOR_MAX || height > KMD_CURSOR_MAX || hot_x >= width ||
        hot_y >= height)
        return STATUS_INVALID_PARAMETER;
    m = pool_get(k, (SIZE_T)4 * width * height);
    if (!m)
        return STATUS_NO_MEMORY;
    for (ULONG y = 0; y < height; y++)
        RtlCopyMemory((PUCHAR)m->va + (SIZE_T)4 * width * y, pixels + (SIZE_T)pitch * y, (SIZE_T)4 * width);
    KeMemoryBarrier();
    kmd_write(k, AEROGPU_REG_CURSOR_ENABLE, 0);
    kmd_write(k, AEROGPU_REG_CURSOR_WIDTH, width);
    kmd_write(k, AEROGPU_REG_CURSOR_HEIGHT, height);
    kmd_write(k, AEROGPU_REG_CURSOR_HOT_X, hot_x);
    kmd_write(k, AEROGPU_REG_CURSOR_HOT_Y, hot_y);
    kmd_write(k, AEROGPU_REG_CURSOR_FORMAT, format);
    kmd_write(k, AEROGPU_REG_CURSOR_PITCH_BYTES, 4 * width);
    kmd_write64(k, AEROGPU_REG_CURSOR_FB_GPA_LO, (ULONGLONG)m->pa.QuadPart);
    k->cursor.memory = m;
    k->cursor.width = width;
    k->cursor.height = height;
    k->cursor.hot_x = hot_x;
    k->cursor.hot_y = hot_y;
    if (old)
        pool_put(k, old);
    kmd_cursor_show(k, k->cursor.visible);
    return STATUS_SUCCESS;
}

static BOOLEAN bit(CONST UCHAR *row, ULONG x)
{
    return row[x / 8] >> (7 - x % 8) & 1;
}

/* AND mask over XOR mask. What inverts the screen cannot be blended: it becomes black, as an outline would. */
static VOID from_monochrome(PUCHAR out, CONST DXGKARG_SETPOINTERSHAPE *s)
{
    CONST UCHAR *and = s->pPixels, *xor = and+(SIZE_T)s->Pitch * s->Height;

    for (ULONG y = 0; y < s->Height; y++)
        for (ULONG x = 0; x < s->Width; x++, out += 4) {
            BOOLEAN a = bit(and+(SIZE_T)s->Pitch * y, x), w = bit(xor+(SIZE_T)s->Pitch *y, x);
            out[0] = out[1] = out[2] = !a && w ? 255 : 0;
            out[3] = a && !w ? 0 : 255;
        }
}

/* The top byte of a pixel is 0: replace, or 0xFF: XOR with the screen; black there is transparent. */
static VOID from_masked(PUCHAR out, CONST DXGKARG_SETPOINTERSHAPE *s)
{
    for (ULONG y = 0; y < s->Height; y++) {
        CONST UCHAR *in = (CONST UCHAR *)s->pPixels + (SIZE_T)s->Pitch * y;
        for (ULONG x = 0; x < s->Width; x++, in += 4, out += 4) {
            BOOLEAN none = in[3] && !in[0] && !in[1] && !in[2];
            RtlCopyMemory(out, in, 3);
            out[3] = none ? 0 : 255;
        }
    }
}

NTSTATUS NTAPI kmd_SetPointerShape(CONST HANDLE adapter, CONST DXGKARG_SETPOINTERSHAPE *s)
{
    struct kmd *k = adapter;
    ULONG row = s->Flags.Monochrome ? (s->Width + 7) / 8 : 4 * s->Width;
    PUCHAR converted = NULL;
    NTSTATUS status;

    if (!(k->features & AEROGPU_FEATURE_CURSOR))
        return STATUS_NOT_SUPPORTED;
    if (s->VidPnSourceId != 0)
        return STATUS_GRAPHICS_INVALID_VIDEO_PRESENT_SOURCE;
    if (!s->pPixels || !s->Width || !s->Height || s->Width > KMD_POINTER || s->Height > KMD_POINTER ||
        s->Pitch < row || s->Flags.Monochrome + s->Flags.Color + s->Flags.MaskedColor != 1)
        return STATUS_INVALID_PARAMETER;
    if (!s->Flags.Color) {
        converted = kmd_alloc((SIZE_T)4 * s->Width * s->Height);
        if (!converted)
            return STATUS_NO_MEMORY;
        if (s->Flags.Monochrome)
            from_monochrome(converted, s);
        else
            from_masked(converted, s);
    }
    ExAcquireFastMutex(&k->display);
    status = kmd_cursor_shape(k, s->Width, s->Height, s->XHot, s->YHot, AEROGPU_FORMAT_B8G8R8A8_UNORM,
                              converted ? 4 * s->Width : s->Pitch, converted ? converted : s->pPixels);
    ExReleaseFastMutex(&k->display);
    kmd_free(converted);
    return status;
}

NTSTATUS NTAPI kmd_SetPointerPosition(CONST HANDLE adapter, CONST DXGKARG_SETPOINTERPOSITION *p)
{
    struct kmd *k = adapter;

    if (!(k->features & AEROGPU_FEATURE_CURSOR))
        return STATUS_NOT_SUPPORTED;
    if (p->VidPnSourceId != 0)
        return STATUS_GRAPHICS_INVALID_VIDEO_PRESENT_SOURCE;
    ExAcquireFastMutex(&k->display);
    if (p->Flags.Visible) /* a hidden pointer's position means nothing */
        kmd_cursor_move(k, p->X + (LONG)k->cursor.hot_x, p->Y + (LONG)k->cursor.hot_y); /* of the corner */
    kmd_cursor_show(k, p->Flags.Visible ? TRUE : FALSE);
    ExReleaseFastMutex(&k->display);
    return STATUS_SUCCESS;
}

/* ---- what this adapter does not have ------------------------------------- */

NTSTATUS NTAPI kmd_SetPalette(CONST HANDLE adapter, CONST DXGKARG_SETPALETTE *args)
{
    UNREFERENCED_PARAMETER(adapter);
    UNREFERENCED_PARAMETER(args);
    return STATUS_NOT_SUPPORTED; /* every mode has direct colours */
}

NTSTATUS NTAPI kmd_StopCapture(CONST HANDLE adapter, CONST DXGKARG_STOPCAPTURE *args)
{
    UNREFERENCED_PARAMETER(adapter);
    UNREFERENCED_PARAMETER(args);
    return STATUS_SUCCESS; /* nothing ever captures */
}
