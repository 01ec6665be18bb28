/* SPDX-License-Identifier: MIT */
/* values.c: what the escapes and queries answer, as JSON. */
#include "dbgctl.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <aerogpu/ext.h>
#include <aerogpu/ring.h>
#include <wddm/d3dkmddi.h>

#include "base/strbuf.h"
#include "dxgkrnl/telemetry/segments.h"

#define LEGACY_MAGIC 0x41524750u /* "ARGP", of the device before AGPU */

const char *dbgctl_status_name(NTSTATUS s, char buffer[16])
{
    switch ((uint32_t)s) {
#define ROW(id, value)                                                                                       \
    case (uint32_t)(value):                                                                                  \
        return #id;
        WDDM_STATUS_CODES(ROW)
#undef ROW
    default:
        snprintf(buffer, 16, "0x%08x", (uint32_t)s);
        return buffer;
    }
}

json_t *dbgctl_status(NTSTATUS s)
{
    char name[16];

    return json_pack("{s:o, s:s}", "ntstatus", json_sprintf("0x%08x", (uint32_t)s), "name",
                     dbgctl_status_name(s, name));
}

json_t *dbgctl_hex(uint64_t v)
{
    return json_sprintf("0x%" PRIx64, v);
}

json_t *dbgctl_dec(uint64_t v)
{
    return json_sprintf("%" PRIu64, v);
}

json_t *dbgctl_u64(uint64_t v)
{
    return json_pack("{s:o, s:o}", "hex", dbgctl_hex(v), "dec", dbgctl_dec(v));
}

json_t *dbgctl_size(uint64_t v)
{
    return json_pack("{s:o, s:o}", "bytes", dbgctl_dec(v), "mib", dbgctl_dec(v >> 20));
}

static const char *format_name(uint32_t v)
{
    switch (v) {
#define ROW(id, NAME, ...)                                                                                   \
    case id:                                                                                                 \
        return #NAME;
        AEROGPU_FORMATS(ROW)
#undef ROW
    default:
        return "unknown";
    }
}

static json_t *irq_names(uint32_t v)
{
    json_t *names = json_array();

    if (v & 1)
        json_array_append_new(names, json_string("FENCE"));
    if (v & 2)
        json_array_append_new(names, json_string("VBLANK"));
    if (v >> 31)
        json_array_append_new(names, json_string("ERROR"));
    return names;
}

static json_t *feature_list(uint64_t features, uint64_t high)
{
    static const struct {
        unsigned bit;
        const char *name;
    } order[] = {{1, "cursor"},
                 {2, "scanout"},
                 {3, "vblank"},
                 {0, "fence_page"},
                 {4, "transfer"},
                 {5, "error_info"},
#define ROW(bit, NAME, name, doc) {bit, #name},
                 AEROGPU_EXT_FEATURES(ROW)
#undef ROW
    };
    json_t *out = json_array();

    for (unsigned i = 0; i < sizeof(order) / sizeof(order[0]); i++) {
        if (features >> order[i].bit & 1)
            json_array_append_new(out, json_string(order[i].name));
        features &= ~(UINT64_C(1) << order[i].bit);
    }
    for (unsigned bit = 0; bit < 64; bit++)
        if (features >> bit & 1)
            json_array_append_new(out, json_sprintf("unknown_bit_%u", bit));
    for (unsigned bit = 0; bit < 64; bit++)
        if (high >> bit & 1)
            json_array_append_new(out, json_sprintf("unknown_bit_%u", bit + 64));
    return out;
}

/* The same as one line: "cursor, scanout". */
static json_t *feature_text(const json_t *list)
{
    struct strbuf b = {0};
    const json_t *e;
    json_t *out;
    size_t i;

    json_array_foreach(list, i, e)
        strbuf_printf(&b, "%s%s", i ? ", " : "", json_string_value(e));
    out = json_string(strbuf_failed(&b) ? "" : strbuf_str(&b));
    strbuf_finish(&b);
    return out;
}

static json_t *version(uint32_t v)
{
    return json_pack("{s:i, s:i}", "major", (int)(v >> 16), "minor", (int)(v & 0xFFFF));
}

static const char *magic_name(uint32_t magic, const char *ours, const char *legacy)
{
    return magic == AEROGPU_MMIO_MAGIC ? ours : magic == LEGACY_MAGIC ? legacy : "unknown";
}

json_t *dbgctl_device(struct dbgctl *c, NTSTATUS *s)
{
    struct aerogpu_escape_query_device_v2 v2 = {0};
    struct aerogpu_escape_query_device v1 = {0};
    json_t *features;

    *s = DBGCTL_ESCAPE(c, QUERY_DEVICE_V2, &v2);
    if (*s == STATUS_SUCCESS) {
        features = feature_list(v2.features_lo, v2.features_hi);
        return json_pack("{s:i, s:s, s:o, s:s, s:o, s:o, s:{s:b, s:o, s:o, s:o, s:o}}", "escape_abi",
                         (int)v2.header.version, "query_device", "query-device-v2", "mmio_magic_u32_hex",
                         dbgctl_hex(v2.detected_mmio_magic), "device_abi",
                         magic_name(v2.detected_mmio_magic, "new", "legacy"), "abi_version_u32_hex",
                         dbgctl_hex(v2.abi_version_u32), "abi_version", version(v2.abi_version_u32),
                         "features", "available", 1, "lo_hex", dbgctl_hex(v2.features_lo), "hi_hex",
                         dbgctl_hex(v2.features_hi), "decoded", feature_text(features), "decoded_list",
                         features);
    }
    if (*s == STATUS_TIMEOUT || *s == STATUS_DEVICE_REMOVED)
        return NULL;
    *s = DBGCTL_ESCAPE(c, QUERY_DEVICE, &v1); /* an older driver */
    return *s ? NULL
              : json_pack("{s:i, s:s, s:n, s:s, s:o, s:o, s:{s:b}}", "escape_abi", (int)v1.header.version,
                          "query_device", "query-device-legacy", "mmio_magic_u32_hex", "device_abi",
                          "unknown", "abi_version_u32_hex", dbgctl_hex(v1.mmio_version), "abi_version",
                          version(v1.mmio_version), "features", "available", 0);
}

/* Whether the device stands in an error now: true, false, or null from a driver that does not say. */
json_t *dbgctl_latched(struct dbgctl *c)
{
    struct aerogpu_escape_query_error e = {0};

    if (DBGCTL_ESCAPE(c, QUERY_ERROR, &e) || !(e.flags & AEROGPU_ESCAPE_FLAGS_VALID))
        return json_null();
    return json_boolean(e.flags >> 1 & 1);
}

json_t *dbgctl_fences(struct dbgctl *c, NTSTATUS *s)
{
    struct aerogpu_escape_query_fence f = {0};

    *s = DBGCTL_ESCAPE(c, QUERY_FENCE, &f);
    return *s ? NULL
              : json_pack("{s:o, s:o, s:o, s:o, s:o, s:o}", "last_submitted_fence",
                          dbgctl_u64(f.last_submitted_fence), "last_completed_fence",
                          dbgctl_u64(f.last_completed_fence), "pending",
                          dbgctl_dec(f.last_submitted_fence - f.last_completed_fence), "error_irq_count",
                          dbgctl_u64(f.error_irq_count), "last_error_fence", dbgctl_u64(f.last_error_fence),
                          "latched", dbgctl_latched(c));
}

static void group(json_t *out, const char *key, bool available, json_t *members)
{
    json_t *g = available ? json_pack("{s:b}", "available", 1)
                          : json_pack("{s:b}", "available", 0); /* an older driver: it says less */

    if (available)
        json_object_update(g, members);
    json_decref(members);
    json_object_set_new(out, key, g);
}

/* Counters that came later than the escape itself are there if the driver filled in that much. */
static void later_counters(json_t *out, const struct aerogpu_escape_query_perf *p)
{
#define HAS(field) (p->header.size >= offsetof(struct aerogpu_escape_query_perf, field) + sizeof(p->field))
    const char *name = "unknown";

    switch (p->selftest_last_error_code) {
#define ROW(value, NAME, text)                                                                               \
    case value:                                                                                              \
        name = #NAME;                                                                                        \
        break;
        AEROGPU_SELFTEST_CODES(ROW)
#undef ROW
    default:
        break;
    }
    group(out, "selftest", HAS(selftest_last_error_code),
          json_pack("{s:o, s:I, s:s}", "count", dbgctl_u64(p->selftest_count), "last_error_code",
                    (json_int_t)p->selftest_last_error_code, "last_error_str", name));
    group(out, "pending_meta_handles", HAS(pending_meta_handle_bytes),
          json_pack("{s:I, s:o}", "count", (json_int_t)p->pending_meta_handle_count, "bytes",
                    dbgctl_size(p->pending_meta_handle_bytes)));
    group(out, "get_scanline", HAS(get_scanline_mmio_polls),
          json_pack("{s:b, s:o, s:o}", "valid", (int)(p->flags >> 2 & 1), "cache_hits",
                    dbgctl_u64(p->get_scanline_cache_hits), "mmio_polls",
                    dbgctl_u64(p->get_scanline_mmio_polls)));
    group(out, "contig_pool", HAS(contig_pool_bytes_saved),
          json_pack("{s:o, s:o, s:o}", "hit", dbgctl_u64(p->contig_pool_hit), "miss",
                    dbgctl_u64(p->contig_pool_miss), "bytes_saved", dbgctl_size(p->contig_pool_bytes_saved)));
    group(out, "alloc_table", HAS(alloc_table_readonly_entries),
          json_pack("{s:o, s:o, s:o}", "count", dbgctl_u64(p->alloc_table_count), "entries",
                    dbgctl_u64(p->alloc_table_entries), "readonly_entries",
                    dbgctl_u64(p->alloc_table_readonly_entries)));
#undef HAS
}

json_t *dbgctl_perf(struct dbgctl *c, NTSTATUS *s)
{
    struct aerogpu_escape_query_perf p = {0};
    json_t *out;

    *s = DBGCTL_ESCAPE(c, QUERY_PERF, &p);
    if (*s)
        return NULL;
    out =
        json_pack("{s:b, s:o, s:{s:b, s:b, s:b, s:b}}", "supported", 1, "flags_u32_hex", dbgctl_hex(p.flags),
                  "flags", "valid", (int)(p.flags >> 31), "ring_valid", (int)(p.flags & 1), "vblank_valid",
                  (int)(p.flags >> 1 & 1), "getscanline_counters_valid", (int)(p.flags >> 2 & 1));
    json_object_set_new(
        out, "fences",
        json_pack("{s:o, s:o, s:o, s:o, s:o}", "last_submitted_fence", dbgctl_u64(p.last_submitted_fence),
                  "last_completed_fence", dbgctl_u64(p.last_completed_fence), "pending",
                  dbgctl_dec(p.last_submitted_fence - p.last_completed_fence), "error_irq_count",
                  dbgctl_u64(p.error_irq_count), "last_error_fence", dbgctl_u64(p.last_error_fence)));
    json_object_set_new(out, "ring0",
                        json_pack("{s:I, s:I, s:I, s:I, s:I}", "head", (json_int_t)p.ring0_head, "tail",
                                  (json_int_t)p.ring0_tail, "pending",
                                  (json_int_t)(p.ring0_tail - p.ring0_head), "entry_count",
                                  (json_int_t)p.ring0_entry_count, "size_bytes",
                                  (json_int_t)p.ring0_size_bytes));
    json_object_set_new(out, "submits",
                        json_pack("{s:o, s:o, s:o, s:o, s:o}", "total", dbgctl_u64(p.total_submissions),
                                  "render", dbgctl_u64(p.total_render_submits), "present",
                                  dbgctl_u64(p.total_presents), "internal",
                                  dbgctl_u64(p.total_internal_submits), "ring_push_failures",
                                  dbgctl_u64(p.ring_push_failures)));
    json_object_set_new(out, "irqs",
                        json_pack("{s:o, s:o, s:o, s:o, s:o}", "fence_delivered",
                                  dbgctl_u64(p.irq_fence_delivered), "vblank_delivered",
                                  dbgctl_u64(p.irq_vblank_delivered), "spurious", dbgctl_u64(p.irq_spurious),
                                  "error_irq_count", dbgctl_u64(p.error_irq_count), "last_error_fence",
                                  dbgctl_u64(p.last_error_fence)));
    json_object_set_new(out, "resets",
                        json_pack("{s:o, s:o}", "reset_from_timeout_count",
                                  dbgctl_u64(p.reset_from_timeout_count), "last_reset_time_100ns",
                                  dbgctl_u64(p.last_reset_time_100ns)));
    json_object_set_new(out, "device_error",
                        json_pack("{s:b, s:I, s:o}", "latched", (int)(p.error_state >> 31), "last_time_10ms",
                                  (json_int_t)(p.error_state & 0x7FFFFFFF), "packed_u32_hex",
                                  dbgctl_hex(p.error_state)));
    json_object_set_new(out, "vblank",
                        json_pack("{s:o, s:o, s:I}", "seq", dbgctl_u64(p.vblank_seq), "last_time_ns",
                                  dbgctl_u64(p.last_vblank_time_ns), "period_ns",
                                  (json_int_t)p.vblank_period_ns));
    later_counters(out, &p);
    return out;
}

NTSTATUS dbgctl_ring_ask(struct dbgctl *c, struct aerogpu_escape_dump_ring_v2 *r)
{
    NTSTATUS s;

    memset(r, 0, sizeof(*r));
    r->ring_id = c->ring_id;
    r->desc_capacity = AEROGPU_ESCAPE_RECENT;
    s = DBGCTL_ESCAPE(c, DUMP_RING_V2, r);
    if (r->desc_count > AEROGPU_ESCAPE_RECENT)
        r->desc_count = AEROGPU_ESCAPE_RECENT;
    return s;
}

const char *dbgctl_ring_format(const struct aerogpu_escape_dump_ring_v2 *r)
{
    return r->ring_format == AEROGPU_RING_FORMAT_AGPU     ? "agpu"
           : r->ring_format == AEROGPU_RING_FORMAT_LEGACY ? "legacy"
                                                          : "unknown";
}

uint32_t dbgctl_ring_index(const struct aerogpu_escape_dump_ring_v2 *r, uint32_t i)
{
    uint32_t entries = r->ring_size_bytes / sizeof(struct aerogpu_submit_desc);

    return entries ? (r->tail - r->desc_count + i) % entries : 0;
}

json_t *dbgctl_descriptor(const struct aerogpu_escape_ring_desc_v2 *d)
{
    return json_pack("{s:o, s:o, s:I, s:o, s:o, s:I}", "fence", dbgctl_u64(d->fence), "cmd_gpa_hex",
                     dbgctl_hex(d->cmd_gpa), "cmd_size_bytes", (json_int_t)d->cmd_size_bytes, "flags_u32_hex",
                     dbgctl_hex(d->flags), "alloc_table_gpa_hex", dbgctl_hex(d->alloc_table_gpa),
                     "alloc_table_size_bytes", (json_int_t)d->alloc_table_size_bytes);
}

json_t *dbgctl_ring_head(const struct aerogpu_escape_dump_ring_v2 *r)
{
    return json_pack("{s:i, s:s, s:I, s:o, s:o, s:I, s:i}", "ring_id", (int)r->ring_id, "format",
                     dbgctl_ring_format(r), "ring_size_bytes", (json_int_t)r->ring_size_bytes, "head_u32_hex",
                     dbgctl_hex(r->head), "tail_u32_hex", dbgctl_hex(r->tail), "pending",
                     (json_int_t)(r->tail - r->head), "desc_count", (int)r->desc_count);
}

json_t *dbgctl_ring(struct dbgctl *c, NTSTATUS *s)
{
    static struct aerogpu_escape_dump_ring_v2 r;
    json_t *list, *out;

    *s = dbgctl_ring_ask(c, &r);
    if (*s)
        return NULL;
    list = json_array();
    for (uint32_t i = 0; i < r.desc_count; i++) {
        json_t *d =
            json_pack("{s:i, s:I}", "index", (int)i, "ring_index", (json_int_t)dbgctl_ring_index(&r, i));
        json_object_update_new(d, dbgctl_descriptor(&r.desc[i]));
        json_array_append_new(list, d);
    }
    out = dbgctl_ring_head(&r);
    json_object_set_new(out, "descriptors", list);
    return out;
}

/* The newest submission is enough at a glance. */
json_t *dbgctl_ring_summary(struct dbgctl *c, NTSTATUS *s)
{
    static struct aerogpu_escape_dump_ring_v2 r;

    *s = dbgctl_ring_ask(c, &r);
    return *s ? NULL
              : json_pack("{s:b, s:s, s:I, s:I, s:I, s:I, s:i, s:o}", "supported", 1, "format",
                          dbgctl_ring_format(&r), "ring_size_bytes", (json_int_t)r.ring_size_bytes, "head",
                          (json_int_t)r.head, "tail", (json_int_t)r.tail, "pending",
                          (json_int_t)(r.tail - r.head), "desc_count", (int)r.desc_count, "last",
                          r.desc_count ? dbgctl_descriptor(&r.desc[r.desc_count - 1]) : json_null());
}

static json_t *scanout_state(uint32_t enable, uint32_t width, uint32_t height, uint32_t format,
                             uint32_t pitch)
{
    return json_pack("{s:i, s:i, s:i, s:s, s:i}", "enable", (int)enable, "width", (int)width, "height",
                     (int)height, "format", format_name(format), "pitch_bytes", (int)pitch);
}

/* An adapter without the source that was asked for has source 0. */
NTSTATUS dbgctl_scanout_ask(struct dbgctl *c, struct aerogpu_escape_query_scanout *q)
{
    NTSTATUS s;

    *q = (struct aerogpu_escape_query_scanout){.vidpn_source_id = c->source};
    s = DBGCTL_ESCAPE(c, QUERY_SCANOUT, q);
    if (s && c->source && s != STATUS_TIMEOUT) {
        *q = (struct aerogpu_escape_query_scanout){0};
        s = DBGCTL_ESCAPE(c, QUERY_SCANOUT, q);
    }
    return s;
}

json_t *dbgctl_sources(const struct dbgctl *c, uint32_t answered)
{
    return json_pack("{s:I, s:I, s:b}", "vidpn_source_id_requested", (json_int_t)c->source, "vidpn_source_id",
                     (json_int_t)answered, "fallback_to_source0", (int)(c->source != answered));
}

json_t *dbgctl_scanout_of(const struct aerogpu_escape_query_scanout *q)
{
    bool agree = q->cached_enable == q->mmio_enable && q->cached_width == q->mmio_width &&
                 q->cached_height == q->mmio_height && q->cached_format == q->mmio_format &&
                 q->cached_pitch_bytes == q->mmio_pitch_bytes &&
                 (!(q->flags & 1) || q->cached_fb_gpa == q->mmio_fb_gpa);
    json_t *mmio =
        scanout_state(q->mmio_enable, q->mmio_width, q->mmio_height, q->mmio_format, q->mmio_pitch_bytes);

    json_object_set_new(mmio, "fb_gpa_hex", dbgctl_hex(q->mmio_fb_gpa));
    return json_pack("{s:o, s:b, s:b, s:b, s:b, s:o, s:o, s:o}", "flags_u32_hex", dbgctl_hex(q->flags),
                     "flags_valid", (int)(q->flags >> 31), "cached_fb_gpa_valid", (int)(q->flags & 1),
                     "post_display_ownership_released", (int)(q->flags >> 1 & 1), "agree", (int)agree,
                     "cached_fb_gpa_hex", q->flags & 1 ? dbgctl_hex(q->cached_fb_gpa) : json_null(), "cached",
                     scanout_state(q->cached_enable, q->cached_width, q->cached_height, q->cached_format,
                                   q->cached_pitch_bytes),
                     "mmio", mmio);
}

json_t *dbgctl_picture(uint32_t enable, const struct dbgctl_picture *p)
{
    json_t *out = scanout_state(enable, p->width, p->height, p->format, p->pitch);

    json_object_set_new(out, "fb_gpa_hex", dbgctl_hex(p->gpa));
    return out;
}

json_t *dbgctl_scanout(struct dbgctl *c, NTSTATUS *s)
{
    struct aerogpu_escape_query_scanout q;
    json_t *out;

    *s = dbgctl_scanout_ask(c, &q);
    if (*s)
        return NULL;
    out = json_pack("{s:b, s:I}", "supported", 1, "vidpn_source_id", (json_int_t)q.vidpn_source_id);
    json_object_update_new(out, dbgctl_scanout_of(&q));
    return out;
}

json_t *dbgctl_cursor_of(const struct aerogpu_escape_query_cursor *q)
{
    return json_pack("{s:b, s:o, s:b, s:b, s:i, s:i, s:i, s:i, s:i, s:i, s:i, s:s, s:i, s:o}", "supported",
                     (int)(q->flags & 1), "flags_u32_hex", dbgctl_hex(q->flags), "flags_valid",
                     (int)(q->flags >> 31), "post_display_ownership_released", (int)(q->flags >> 1 & 1),
                     "enable", (int)q->enable, "x", (int)(int32_t)q->x, "y", (int)(int32_t)q->y, "hot_x",
                     (int)q->hot_x, "hot_y", (int)q->hot_y, "width", (int)q->width, "height", (int)q->height,
                     "format", format_name(q->format), "pitch_bytes", (int)q->pitch_bytes, "fb_gpa_hex",
                     dbgctl_hex(q->fb_gpa));
}

json_t *dbgctl_cursor(struct dbgctl *c, NTSTATUS *s)
{
    struct aerogpu_escape_query_cursor q = {0};

    *s = DBGCTL_ESCAPE(c, QUERY_CURSOR, &q);
    return *s ? NULL : dbgctl_cursor_of(&q);
}

json_t *dbgctl_vblank(struct dbgctl *c, NTSTATUS *s)
{
    struct aerogpu_escape_query_vblank q = {.vidpn_source_id = c->source};
    json_t *out;

    *s = DBGCTL_ESCAPE(c, QUERY_VBLANK, &q);
    if (*s && c->source && *s != STATUS_TIMEOUT) {
        q = (struct aerogpu_escape_query_vblank){0};
        *s = DBGCTL_ESCAPE(c, QUERY_VBLANK, &q);
    }
    if (*s)
        return NULL;
    out =
        json_pack("{s:i, s:b, s:b, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:i, s:f}", "vidpn_source_id",
                  (int)q.vidpn_source_id, "fallback_to_source0", (int)(q.vidpn_source_id != c->source),
                  "supported", (int)(q.flags & 1), "flags_u32_hex", dbgctl_hex(q.flags), "irq_enable_u32_hex",
                  dbgctl_hex(q.irq_enable), "irq_enable_names", irq_names(q.irq_enable), "irq_status_u32_hex",
                  dbgctl_hex(q.irq_status), "irq_active_u32_hex", dbgctl_hex(q.irq_enable & q.irq_status),
                  "vblank_seq", dbgctl_u64(q.vblank_seq), "last_vblank_time_ns",
                  dbgctl_u64(q.last_vblank_time_ns), "vblank_period_ns", (int)q.vblank_period_ns,
                  "refresh_hz", q.vblank_period_ns ? 1e9 / q.vblank_period_ns : 0.0);
    if (q.flags & 2)
        json_object_set_new(out, "vblank_interrupt_type", json_integer(q.vblank_interrupt_type));
    else if (!c->json)
        json_object_set_new(out, "vblank_interrupt_type", json_string("(not enabled or not reported)"));
    return out;
}

static json_t *segment(uint32_t i, const struct dxgk_segments *g)
{
    DXGK_SEGMENTFLAGS f = {.Value = g->segment[i].flags};

    return json_pack("{s:i, s:o, s:o, s:o, s:{s:b, s:b, s:b, s:b}, s:{s:i, s:s}, s:o, s:o, s:o}", "index",
                     (int)i, "base_address_hex", dbgctl_hex(g->segment[i].base), "size",
                     dbgctl_size(g->segment[i].bytes), "flags_u32_hex", dbgctl_hex(f.Value), "flags",
                     "aperture", (int)f.Aperture, "cpu_visible", (int)f.CpuVisible, "cache_coherent",
                     (int)f.CacheCoherent, "use_banking", (int)f.UseBanking, "memory_segment_group", "value",
                     (int)f.Aperture, "name", f.Aperture ? "NonLocal" : "Local", "commit_limit",
                     dbgctl_size(g->segment[i].commit_limit), "committed",
                     dbgctl_size(g->segment[i].committed), "resident", dbgctl_size(g->segment[i].resident));
}

json_t *dbgctl_segments(struct dbgctl *c, NTSTATUS *s)
{
    D3DKMT_SEGMENTSIZEINFO sizes = {0};
    struct dxgk_segments g = {0};
    D3DKMT_ESCAPE e = {.hAdapter = c->adapter,
                       .Type = (D3DKMT_ESCAPETYPE)DXGK_ESCAPE_SEGMENTS,
                       .pPrivateDriverData = &g,
                       .PrivateDriverDataSize = sizeof(g)};
    json_t *list;

    *s = dbgctl_query(c, KMTQAITYPE_GETSEGMENTSIZE, &sizes, sizeof(sizes));
    if (!*s)
        *s = dbgctl_call(c, D3DKMT_THUNK_Escape, &e, sizeof(e));
    if (*s)
        return NULL;
    list = json_array();
    for (uint32_t i = 0; i < g.count && i < DXGK_SEGMENTS_MAX; i++)
        json_array_append_new(list, segment(i, &g));
    return json_pack(
        "{s:I, s:{s:I, s:I, s:o}, s:o, s:{s:i, s:o, s:o, s:o}}", "segment_count", (json_int_t)g.count,
        "paging", "paging_buffer_private_data_size", (json_int_t)g.paging_buffer_private_bytes,
        "paging_buffer_segment_id", (json_int_t)g.paging_buffer_segment, "paging_buffer_size",
        dbgctl_size(g.paging_buffer_bytes), "segments", list, "segment_group_sizes", "type",
        KMTQAITYPE_GETSEGMENTSIZE, "local_memory_size", dbgctl_size(sizes.DedicatedVideoMemorySize),
        "dedicated_system_memory_size", dbgctl_size(sizes.DedicatedSystemMemorySize), "non_local_memory_size",
        dbgctl_size(sizes.SharedSystemMemorySize));
}

json_t *dbgctl_segments_summary(struct dbgctl *c, NTSTATUS *s)
{
    json_t *all = dbgctl_segments(c, s), *out;

    if (!all)
        return NULL;
    out = json_pack("{s:b, s:O, s:O, s:O}", "available", 1, "count", json_object_get(all, "segment_count"),
                    "group_sizes", json_object_get(all, "segment_group_sizes"), "segments",
                    json_object_get(all, "segments"));
    json_decref(all);
    return out;
}

json_t *dbgctl_umd_private(struct dbgctl *c, NTSTATUS *s)
{
    struct aerogpu_umd_private p = {0};
    uint64_t features;
    json_t *list;

    *s = dbgctl_query(c, KMTQAITYPE_UMDRIVERPRIVATE, &p, sizeof(p));
    if (*s)
        return NULL;
    memcpy(&features, (uint8_t *)&p + offsetof(struct aerogpu_umd_private, device_features),
           sizeof(features));
    list = feature_list(features, 0);
    return json_pack("{s:i, s:i, s:i, s:o, s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:{s:b, s:b, s:b}}", "type",
                     KMTQAITYPE_UMDRIVERPRIVATE, "size_bytes", (int)p.size_bytes, "struct_version",
                     (int)p.struct_version, "device_mmio_magic_u32_hex", dbgctl_hex(p.device_mmio_magic),
                     "device_mmio_magic_str", magic_name(p.device_mmio_magic, "AGPU", "ARGP"),
                     "device_abi_version_u32_hex", dbgctl_hex(p.device_abi_version), "device_abi_version",
                     version(p.device_abi_version), "device_features_u64_hex", dbgctl_hex(features),
                     "decoded_features", feature_text(list), "decoded_features_list", list, "flags_u32_hex",
                     dbgctl_hex(p.flags), "flags", "is_legacy",
                     (int)(p.flags & AEROGPU_UMD_PRIVATE_FLAG_LEGACY) != 0, "has_vblank",
                     (int)(p.flags & AEROGPU_UMD_PRIVATE_FLAG_VBLANK) != 0, "has_fence_page",
                     (int)(p.flags & AEROGPU_UMD_PRIVATE_FLAG_FENCE_PAGE) != 0);
}

json_t *dbgctl_umd_private_summary(struct dbgctl *c, NTSTATUS *s)
{
    json_t *out = dbgctl_umd_private(c, s);

    if (out)
        json_object_update_new(out, json_pack("{s:b, s:b}", "available", 1, "found", 1));
    return out;
}

json_t *dbgctl_error(struct dbgctl *c, NTSTATUS *s)
{
    struct aerogpu_escape_query_error q = {0};
    const char *name;

    *s = DBGCTL_ESCAPE(c, QUERY_ERROR, &q);
    if (*s)
        return NULL;
    name = q.error_code == 0        ? "NONE"
           : q.error_code == 1      ? "CMD_DECODE"
           : q.error_code == 2      ? "OOB"
           : q.error_code == 3      ? "BACKEND"
           : q.error_code == 0xFFFF ? "INTERNAL"
                                    : "unknown";
    return json_pack("{s:b, s:o, s:b, s:I, s:s, s:o, s:I}", "supported", (int)(q.flags & 1), "flags_u32_hex",
                     dbgctl_hex(q.flags), "latched", (int)(q.flags >> 1 & 1), "error_code",
                     (json_int_t)q.error_code, "error_code_name", name, "error_fence",
                     dbgctl_u64(q.error_fence), "error_count", (json_int_t)q.error_count);
}

NTSTATUS dbgctl_createalloc_ask(struct dbgctl *c, struct aerogpu_escape_dump_createallocation *t)
{
    memset(t, 0, sizeof(*t));
    t->entry_capacity = AEROGPU_ESCAPE_RECENT;
    return DBGCTL_ESCAPE(c, DUMP_CREATEALLOCATION, t);
}

static json_t *createalloc_head(const struct aerogpu_escape_dump_createallocation *t)
{
    return json_pack("{s:I, s:i, s:i}", "write_index", (json_int_t)t->write_index, "entry_count",
                     (int)t->entry_count, "entry_capacity", (int)t->entry_capacity);
}

json_t *dbgctl_createalloc_of(const struct aerogpu_escape_dump_createallocation *t)
{
    json_t *list = json_array(), *out = createalloc_head(t);

    for (uint32_t i = 0; i < t->entry_count && i < AEROGPU_ESCAPE_RECENT; i++) {
        const struct aerogpu_escape_createallocation *e = &t->entries[i];
        json_array_append_new(
            list, json_pack("{s:i, s:I, s:I, s:o, s:i, s:i, s:I, s:o, s:o, s:o, s:i, s:o, s:o}", "index",
                            (int)i, "seq", (json_int_t)e->seq, "call_seq", (json_int_t)e->call_seq,
                            "create_flags_u32_hex", dbgctl_hex(e->create_flags), "alloc_index",
                            (int)e->alloc_index, "num_allocations", (int)e->num_allocations, "alloc_id",
                            (json_int_t)e->alloc_id, "share_token_hex", dbgctl_hex(e->share_token),
                            "size_bytes", dbgctl_u64(e->size_bytes), "priv_flags_u32_hex",
                            dbgctl_hex(e->priv_flags), "pitch_bytes", (int)e->pitch_bytes, "flags_in_u32_hex",
                            dbgctl_hex(e->flags_in), "flags_out_u32_hex", dbgctl_hex(e->flags_out)));
    }
    json_object_set_new(out, "entries", list);
    return out;
}

json_t *dbgctl_createalloc_summary(struct dbgctl *c, NTSTATUS *s)
{
    static struct aerogpu_escape_dump_createallocation t;
    json_t *out;

    *s = dbgctl_createalloc_ask(c, &t);
    if (*s)
        return NULL;
    out = createalloc_head(&t);
    json_object_set_new(out, "supported", json_true());
    return out;
}
