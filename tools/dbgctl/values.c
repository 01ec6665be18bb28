/* SPDX-License-Identifier: MIT */
/* values.c: what the escapes and queries answer, as JSON. */
#include "dbgctl.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <aerogpu/ext.h>

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

    return json_pack("{s:o, s:s}", "hex", json_sprintf("0x%08x", (uint32_t)s), "name",
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
    return json_pack("{s:o, s:f}", "bytes", dbgctl_dec(v), "mib", (double)v / (1 << 20));
}

json_t *dbgctl_format(uint32_t v)
{
    const char *name = "unknown";

    switch (v) {
#define ROW(id, NAME, ...)                                                                                   \
    case id:                                                                                                 \
        name = #NAME;                                                                                        \
        break;
        AEROGPU_FORMATS(ROW)
#undef ROW
    default:
        break;
    }
    return json_pack("{s:i, s:s}", "value", (int)v, "name", name);
}

json_t *dbgctl_irqs(uint32_t v)
{
    json_t *names = json_array();

    if (v & 1)
        json_array_append_new(names, json_string("FENCE"));
    if (v & 2)
        json_array_append_new(names, json_string("VBLANK"));
    if (v >> 31)
        json_array_append_new(names, json_string("ERROR"));
    return json_pack("{s:o, s:o}", "value", dbgctl_hex(v), "names", names);
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

json_t *dbgctl_device(struct dbgctl *c, NTSTATUS *s)
{
    struct aerogpu_escape_query_device_v2 v2 = {0};
    struct aerogpu_escape_query_device v1 = {0};

    *s = DBGCTL_ESCAPE(c, QUERY_DEVICE_V2, &v2);
    if (*s == STATUS_SUCCESS)
        return json_pack("{s:o, s:s, s:o, s:i, s:i}", "magic", dbgctl_hex(v2.detected_mmio_magic), "type",
                         v2.detected_mmio_magic == AEROGPU_MMIO_MAGIC ? "AGPU" : "unknown", "abi_version",
                         dbgctl_hex(v2.abi_version_u32), "abi_major", (int)(v2.abi_version_u32 >> 16),
                         "abi_minor", (int)(v2.abi_version_u32 & 0xFFFF));
    if (*s == STATUS_TIMEOUT || *s == STATUS_DEVICE_REMOVED)
        return NULL;
    *s = DBGCTL_ESCAPE(c, QUERY_DEVICE, &v1); /* an older driver */
    return *s ? NULL
              : json_pack("{s:o, s:i, s:i}", "abi_version", dbgctl_hex(v1.mmio_version), "abi_major",
                          (int)(v1.mmio_version >> 16), "abi_minor", (int)(v1.mmio_version & 0xFFFF));
}

json_t *dbgctl_features(struct dbgctl *c, NTSTATUS *s)
{
    struct aerogpu_escape_query_device_v2 v2 = {0};

    *s = DBGCTL_ESCAPE(c, QUERY_DEVICE_V2, &v2);
    return *s ? NULL
              : json_pack("{s:o, s:o, s:o}", "lo", dbgctl_hex(v2.features_lo), "hi",
                          dbgctl_hex(v2.features_hi), "names", feature_list(v2.features_lo, v2.features_hi));
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
                    (json_int_t)p->selftest_last_error_code, "last_error_name", name));
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
        json_pack("{s:b, s:{s:o, s:b, s:b, s:b, s:b}}", "supported", 1, "flags", "value", dbgctl_hex(p.flags),
                  "valid", (int)(p.flags >> 31), "ring_valid", (int)(p.flags & 1), "vblank_valid",
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
                        json_pack("{s:o, s:o, s:o}", "fence_delivered", dbgctl_u64(p.irq_fence_delivered),
                                  "vblank_delivered", dbgctl_u64(p.irq_vblank_delivered), "spurious",
                                  dbgctl_u64(p.irq_spurious)));
    json_object_set_new(out, "resets",
                        json_pack("{s:o, s:o}", "reset_from_timeout_count",
                                  dbgctl_u64(p.reset_from_timeout_count), "last_reset_time_100ns",
                                  dbgctl_u64(p.last_reset_time_100ns)));
    json_object_set_new(out, "device_error",
                        json_pack("{s:b, s:I}", "latched", (int)(p.error_state >> 31), "last_time_10ms",
                                  (json_int_t)(p.error_state & 0x7FFFFFFF)));
    json_object_set_new(out, "vblank",
                        json_pack("{s:o, s:o, s:I}", "seq", dbgctl_u64(p.vblank_seq), "last_time_ns",
                                  dbgctl_u64(p.last_vblank_time_ns), "period_ns",
                                  (json_int_t)p.vblank_period_ns));
    later_counters(out, &p);
    return out;
}

json_t *dbgctl_ring(struct dbgctl *c, NTSTATUS *s)
{
    static struct aerogpu_escape_dump_ring_v2 r;
    json_t *list;

    memset(&r, 0, sizeof(r));
    r.ring_id = c->ring_id;
    r.desc_capacity = AEROGPU_ESCAPE_RECENT;
    *s = DBGCTL_ESCAPE(c, DUMP_RING_V2, &r);
    if (*s)
        return NULL;
    list = json_array();
    for (uint32_t i = 0; i < r.desc_count && i < AEROGPU_ESCAPE_RECENT; i++)
        json_array_append_new(list,
                              json_pack("{s:i, s:o, s:o, s:i, s:o, s:o, s:i}", "index", (int)i, "fence",
                                        dbgctl_u64(r.desc[i].fence), "cmd_gpa", dbgctl_hex(r.desc[i].cmd_gpa),
                                        "cmd_size_bytes", (int)r.desc[i].cmd_size_bytes, "flags",
                                        dbgctl_hex(r.desc[i].flags), "alloc_table_gpa",
                                        dbgctl_hex(r.desc[i].alloc_table_gpa), "alloc_table_size_bytes",
                                        (int)r.desc[i].alloc_table_size_bytes));
    return json_pack("{s:i, s:s, s:i, s:I, s:I, s:I, s:i, s:o}", "ring_id", (int)r.ring_id, "format",
                     r.ring_format == AEROGPU_RING_FORMAT_AGPU     ? "agpu"
                     : r.ring_format == AEROGPU_RING_FORMAT_LEGACY ? "legacy"
                                                                   : "unknown",
                     "size_bytes", (int)r.ring_size_bytes, "head", (json_int_t)r.head, "tail",
                     (json_int_t)r.tail, "pending", (json_int_t)(r.tail - r.head), "desc_count",
                     (int)r.desc_count, "descriptors", list);
}

static json_t *scanout_state(uint32_t enable, uint32_t width, uint32_t height, uint32_t format,
                             uint32_t pitch, json_t *fb_gpa)
{
    return json_pack("{s:i, s:i, s:i, s:o, s:i, s:o}", "enable", (int)enable, "width", (int)width, "height",
                     (int)height, "format", dbgctl_format(format), "pitch_bytes", (int)pitch, "fb_gpa",
                     fb_gpa);
}

json_t *dbgctl_scanout(struct dbgctl *c, NTSTATUS *s)
{
    struct aerogpu_escape_query_scanout q = {.vidpn_source_id = c->source};
    bool agree;

    *s = DBGCTL_ESCAPE(c, QUERY_SCANOUT, &q);
    if (*s && c->source && *s != STATUS_TIMEOUT) { /* an adapter without that source has source 0 */
        q = (struct aerogpu_escape_query_scanout){0};
        *s = DBGCTL_ESCAPE(c, QUERY_SCANOUT, &q);
    }
    if (*s)
        return NULL;
    agree = q.cached_enable == q.mmio_enable && q.cached_width == q.mmio_width &&
            q.cached_height == q.mmio_height && q.cached_format == q.mmio_format &&
            q.cached_pitch_bytes == q.mmio_pitch_bytes &&
            (!(q.flags & 1) || q.cached_fb_gpa == q.mmio_fb_gpa);
    return json_pack(
        "{s:i, s:o, s:b, s:b, s:b, s:b, s:o, s:o}", "vidpn_source_id", (int)q.vidpn_source_id, "flags",
        dbgctl_hex(q.flags), "flags_valid", (int)(q.flags >> 31), "cached_fb_gpa_valid", (int)(q.flags & 1),
        "post_display_ownership_released", (int)(q.flags >> 1 & 1), "agree", (int)agree, "cached",
        scanout_state(q.cached_enable, q.cached_width, q.cached_height, q.cached_format, q.cached_pitch_bytes,
                      q.flags & 1 ? dbgctl_hex(q.cached_fb_gpa) : json_null()),
        "mmio",
        scanout_state(q.mmio_enable, q.mmio_width, q.mmio_height, q.mmio_format, q.mmio_pitch_bytes,
                      dbgctl_hex(q.mmio_fb_gpa)));
}

json_t *dbgctl_cursor(struct dbgctl *c, NTSTATUS *s)
{
    struct aerogpu_escape_query_cursor q = {0};

    *s = DBGCTL_ESCAPE(c, QUERY_CURSOR, &q);
    return *s ? NULL
              : json_pack("{s:b, s:o, s:b, s:b, s:i, s:i, s:i, s:i, s:i, s:i, s:i, s:o, s:o, s:i}",
                          "supported", (int)(q.flags & 1), "flags", dbgctl_hex(q.flags), "flags_valid",
                          (int)(q.flags >> 31), "post_display_ownership_released", (int)(q.flags >> 1 & 1),
                          "enable", (int)q.enable, "x", (int)(int32_t)q.x, "y", (int)(int32_t)q.y, "hot_x",
                          (int)q.hot_x, "hot_y", (int)q.hot_y, "width", (int)q.width, "height", (int)q.height,
                          "format", dbgctl_format(q.format), "fb_gpa", dbgctl_hex(q.fb_gpa), "pitch_bytes",
                          (int)q.pitch_bytes);
}

json_t *dbgctl_vblank(struct dbgctl *c, NTSTATUS *s)
{
    struct aerogpu_escape_query_vblank q = {.vidpn_source_id = c->source};

    *s = DBGCTL_ESCAPE(c, QUERY_VBLANK, &q);
    if (*s && c->source && *s != STATUS_TIMEOUT) {
        q = (struct aerogpu_escape_query_vblank){0};
        *s = DBGCTL_ESCAPE(c, QUERY_VBLANK, &q);
    }
    return *s ? NULL
              : json_pack(
                    "{s:i, s:o, s:b, s:o, s:o, s:o, s:o, s:o, s:i, s:f, s:o}", "vidpn_source_id",
                    (int)q.vidpn_source_id, "flags", dbgctl_hex(q.flags), "supported", (int)(q.flags & 1),
                    "irq_enable", dbgctl_irqs(q.irq_enable), "irq_status", dbgctl_irqs(q.irq_status),
                    "irq_active", dbgctl_irqs(q.irq_enable & q.irq_status), "vblank_seq",
                    dbgctl_u64(q.vblank_seq), "last_vblank_time_ns", dbgctl_u64(q.last_vblank_time_ns),
                    "vblank_period_ns", (int)q.vblank_period_ns, "refresh_hz",
                    q.vblank_period_ns ? 1e9 / q.vblank_period_ns : 0.0, "vblank_interrupt_type",
                    q.flags & 2
                        ? json_pack("{s:i, s:s}", "value", (int)q.vblank_interrupt_type, "name",
                                    q.vblank_interrupt_type == 3 ? "DXGK_INTERRUPT_CRTC_VSYNC" : "other")
                        : json_string("(not enabled or not reported)"));
}

json_t *dbgctl_segments(struct dbgctl *c, NTSTATUS *s)
{
    D3DKMT_SEGMENTSIZEINFO g = {0};
    D3DKMT_QUERYSTATISTICS q = {.Type = D3DKMT_QUERYSTATISTICS_ADAPTER, .AdapterLuid = c->luid};
    uint32_t n = 0;
    json_t *list;

    *s = dbgctl_query(c, KMTQAITYPE_GETSEGMENTSIZE, &g, sizeof(g));
    if (*s)
        return NULL;
    if (dbgctl_call(c, D3DKMT_THUNK_QueryStatistics, &q, sizeof(q)) == STATUS_SUCCESS)
        n = q.QueryResult.AdapterInformation.NbSegments;
    list = json_array();
    for (uint32_t i = 0; i < n && i < 32; i++) {
        const D3DKMT_QUERYSTATISTICS_SEGMENT_INFORMATION *seg = &q.QueryResult.SegmentInformation;
        q = (D3DKMT_QUERYSTATISTICS){
            .Type = D3DKMT_QUERYSTATISTICS_SEGMENT, .AdapterLuid = c->luid, .QuerySegment.SegmentId = i};
        if (dbgctl_call(c, D3DKMT_THUNK_QueryStatistics, &q, sizeof(q)) != STATUS_SUCCESS)
            break;
        json_array_append_new(list, json_pack("{s:i, s:b, s:o, s:o, s:o}", "segment", (int)i + 1, "aperture",
                                              (int)(seg->Aperture & 1), "commit_limit",
                                              dbgctl_size(seg->CommitLimit), "committed",
                                              dbgctl_size(seg->BytesCommitted), "resident",
                                              dbgctl_size(seg->BytesResident)));
    }
    return json_pack("{s:o, s:o, s:o, s:o}", "local", dbgctl_size(g.DedicatedVideoMemorySize),
                     "dedicated_system", dbgctl_size(g.DedicatedSystemMemorySize), "non_local",
                     dbgctl_size(g.SharedSystemMemorySize), "segments", list);
}

json_t *dbgctl_umd_private(struct dbgctl *c, NTSTATUS *s)
{
    struct aerogpu_umd_private p = {0};
    uint64_t features;

    *s = dbgctl_query(c, KMTQAITYPE_UMDRIVERPRIVATE, &p, sizeof(p));
    if (*s)
        return NULL;
    memcpy(&features, (uint8_t *)&p + offsetof(struct aerogpu_umd_private, device_features),
           sizeof(features));
    return json_pack("{s:i, s:i, s:o, s:o, s:o, s:o, s:{s:o, s:b, s:b, s:b}}", "size_bytes",
                     (int)p.size_bytes, "struct_version", (int)p.struct_version, "device_mmio_magic",
                     dbgctl_hex(p.device_mmio_magic), "device_abi_version", dbgctl_hex(p.device_abi_version),
                     "device_features", dbgctl_hex(features), "feature_names", feature_list(features, 0),
                     "flags", "value", dbgctl_hex(p.flags), "is_legacy",
                     (int)(p.flags & AEROGPU_UMD_PRIVATE_FLAG_LEGACY) != 0, "has_vblank",
                     (int)(p.flags & AEROGPU_UMD_PRIVATE_FLAG_VBLANK) != 0, "has_fence_page",
                     (int)(p.flags & AEROGPU_UMD_PRIVATE_FLAG_FENCE_PAGE) != 0);
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
    return json_pack("{s:b, s:b, s:o, s:{s:i, s:s}, s:o, s:I}", "supported", (int)(q.flags & 1), "latched",
                     (int)(q.flags >> 1 & 1), "flags", dbgctl_hex(q.flags), "error_code", "value",
                     (int)q.error_code, "name", name, "error_fence", dbgctl_u64(q.error_fence), "error_count",
                     (json_int_t)q.error_count);
}

static NTSTATUS dump_createalloc(struct dbgctl *c, struct aerogpu_escape_dump_createallocation *t)
{
    memset(t, 0, sizeof(*t));
    t->entry_capacity = AEROGPU_ESCAPE_RECENT;
    return DBGCTL_ESCAPE(c, DUMP_CREATEALLOCATION, t);
}

json_t *dbgctl_createalloc(struct dbgctl *c, NTSTATUS *s)
{
    static struct aerogpu_escape_dump_createallocation t;
    json_t *list;

    *s = dump_createalloc(c, &t);
    if (*s)
        return NULL;
    list = json_array();
    for (uint32_t i = 0; i < t.entry_count && i < AEROGPU_ESCAPE_RECENT; i++) {
        const struct aerogpu_escape_createallocation *e = &t.entries[i];
        json_array_append_new(
            list, json_pack("{s:I, s:I, s:i, s:i, s:o, s:o, s:o, s:i, s:o, s:o, s:o, s:o}", "seq",
                            (json_int_t)e->seq, "call_seq", (json_int_t)e->call_seq, "alloc_index",
                            (int)e->alloc_index, "num_allocations", (int)e->num_allocations, "create_flags",
                            dbgctl_hex(e->create_flags), "alloc_id", dbgctl_hex(e->alloc_id), "priv_flags",
                            dbgctl_hex(e->priv_flags), "pitch_bytes", (int)e->pitch_bytes, "share_token",
                            dbgctl_hex(e->share_token), "size", dbgctl_size(e->size_bytes), "flags_in",
                            dbgctl_hex(e->flags_in), "flags_out", dbgctl_hex(e->flags_out)));
    }
    return json_pack("{s:I, s:i, s:i, s:o}", "write_index", (json_int_t)t.write_index, "entry_count",
                     (int)t.entry_count, "entry_capacity", (int)t.entry_capacity, "entries", list);
}

json_t *dbgctl_createalloc_summary(struct dbgctl *c, NTSTATUS *s)
{
    static struct aerogpu_escape_dump_createallocation t;

    *s = dump_createalloc(c, &t);
    return *s ? NULL
              : json_pack("{s:I, s:i, s:i}", "write_index", (json_int_t)t.write_index, "entry_count",
                          (int)t.entry_count, "entry_capacity", (int)t.entry_capacity);
}
