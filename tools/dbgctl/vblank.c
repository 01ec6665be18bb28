/* SPDX-License-Identifier: MIT */
/* vblank.c: vblank's registers, waits for it, and the line that is being drawn. */
#include "dbgctl.h"

#include <inttypes.h>
#include <stdlib.h>

static uint64_t dec_of(const json_t *v, const char *key)
{
    return strtoull(json_string_value(json_object_get(json_object_get(v, key), "dec")), NULL, 10);
}

/* Each vblank by itself: an average over several shows no late one. */
struct each_vblank {
    uint64_t seq, ns;
    unsigned taken;
    double min, max;
};

static void note_vblank(struct each_vblank *e, const json_t *v)
{
    uint64_t seq = dec_of(v, "vblank_seq"), ns = dec_of(v, "last_vblank_time_ns");
    double ms = (double)(ns - e->ns) / 1e6;

    if (e->seq && seq == e->seq + 1) {
        e->min = !e->taken || ms < e->min ? ms : e->min;
        e->max = ms > e->max ? ms : e->max;
        e->taken++;
    }
    e->seq = seq;
    e->ns = ns;
}

/* Sleeps, and looks at every vblank meanwhile. */
static void sleep_and_look(struct dbgctl *c, uint32_t ms, struct each_vblank *e)
{
    enum { LOOK_MS = 4 };
    uint64_t end = dbgctl_now_ns() + ms * UINT64_C(1000000), now;
    NTSTATUS s;

    while ((now = dbgctl_now_ns()) < end) {
        uint64_t left = (end - now) / 1000000 + 1;
        json_t *v;
        dbgctl_sleep_ms(left < LOOK_MS ? (uint32_t)left : LOOK_MS);
        v = dbgctl_vblank(c, &s);
        if (v)
            note_vblank(e, v);
        json_decref(v);
    }
}

static json_t *us(double ms)
{
    return json_sprintf("%.0f", ms * 1e3);
}

/* What lies between the samples: the cadence of vblank itself, from the registers. */
static json_t *vblank_cadence(const json_t *samples, const struct each_vblank *each)
{
    uint64_t vblanks = 0, time = 0;
    unsigned taken = 0, stalls = 0;

    for (size_t i = 1; i < json_array_size(samples); i++) {
        json_t *a = json_array_get(samples, i - 1), *b = json_array_get(samples, i);
        uint64_t n = dec_of(b, "vblank_seq") - dec_of(a, "vblank_seq"),
                 ns = dec_of(b, "last_vblank_time_ns") - dec_of(a, "last_vblank_time_ns");
        json_object_set_new(b, "delta",
                            json_pack("{s:o, s:o}", "dseq", dbgctl_dec(n), "dt_ns", dbgctl_dec(ns)));
        taken += n != 0;
        stalls += n == 0;
        vblanks += n;
        time += ns;
    }
    return json_pack("{s:i, s:o, s:o, s:o, s:i, s:f, s:i}", "delta_samples", (int)taken, "per_vblank_us_min",
                     us(each->min), "per_vblank_us_max", us(each->max), "per_vblank_us_avg",
                     us(vblanks ? (double)time / 1e6 / (double)vblanks : 0), "seen", (int)each->taken, "hz",
                     time ? (double)vblanks * 1e9 / (double)time : 0.0, "stalls", (int)stalls);
}

/* The interrupt was asked for once and is not on now: by itself no fault. */
static bool is_masked(const json_t *v)
{
    const char *mask = json_string_value(json_object_get(v, "irq_enable_u32_hex"));

    return json_is_integer(json_object_get(v, "vblank_interrupt_type")) && mask &&
           !(strtoul(mask, NULL, 0) & 2);
}

static json_t *scanline(struct dbgctl *c, uint32_t source)
{
    D3DKMT_GETSCANLINE g = {.hAdapter = c->adapter, .VidPnSourceId = source};
    NTSTATUS s = dbgctl_call(c, D3DKMT_THUNK_GetScanLine, &g, sizeof(g));

    return s ? json_pack("{s:I, s:b, s:o}", "vidpn_source_id", (json_int_t)source, "ok", 0, "error",
                         dbgctl_status(s))
             : json_pack("{s:I, s:b, s:I, s:b}", "vidpn_source_id", (json_int_t)source, "ok", 1, "scanline",
                         (json_int_t)g.ScanLine, "in_vblank", (int)g.InVerticalBlank);
}

static json_t *begin(struct dbgctl *c)
{
    json_t *list = json_array();

    json_object_update_new(c->body,
                           json_pack("{s:I, s:I, s:o}", "vidpn_source_id_requested", (json_int_t)c->source,
                                     "samples_requested", (json_int_t)c->vblank_samples, "samples", list));
    return list;
}

static void scanout_flags(struct dbgctl *c)
{
    struct aerogpu_escape_query_scanout q;
    bool valid = !dbgctl_scanout_ask(c, &q) && q.flags >> 31;

    json_object_update_new(c->body, json_pack("{s:b, s:b}", "scanout_flags_valid", (int)valid,
                                              "scanout_post_display_ownership_released",
                                              (int)(valid && q.flags >> 1 & 1)));
}

int dbgctl_dump_vblank(struct dbgctl *c)
{
    uint32_t n = c->vblank_samples;
    bool masked = true;
    json_t *list = begin(c);
    struct each_vblank each = {0};
    NTSTATUS s;

    json_object_set_new(c->body, "interval_ms", json_integer(c->vblank_interval_ms));
    scanout_flags(c);
    for (uint32_t i = 0; i < n; i++) {
        json_t *v = dbgctl_vblank(c, &s);
        if (!v)
            return dbgctl_fail(c, s, "QUERY_VBLANK, sample %u", i);
        json_object_set_new(v, "index", json_integer(i + 1));
        json_object_set_new(v, "scanline",
                            scanline(c, (uint32_t)json_integer_value(json_object_get(v, "vidpn_source_id"))));
        masked = masked && is_masked(v);
        json_array_append_new(list, v);
        note_vblank(&each, v);
        if (i + 1 < n)
            sleep_and_look(c, c->vblank_interval_ms, &each);
    }
    if (n > 1)
        json_object_set_new(c->body, "summary", vblank_cadence(list, &each));
    if (masked)
        json_object_set_new(
            c->body, "note",
            json_string(
                "VBLANK is off in IRQ_ENABLE, as it is while nobody waits for a vblank; it must be on while aerogpu_dbgctl --wait-vblank runs beside this"));
    return DBGCTL_OK;
}

int dbgctl_wait_vblank(struct dbgctl *c)
{
    uint32_t n = c->vblank_samples, taken = 0, source = c->source;
    double sum = 0, min = 0, max = 0;
    json_t *list = begin(c);
    uint64_t last = 0;

    json_object_set_new(c->body, "timeout_ms", json_integer(c->timeout_ms));
    for (uint32_t i = 0; i <= n; i++) { /* the first one only sets the clock */
        D3DKMT_WAITFORVERTICALBLANKEVENT w = {.hAdapter = c->adapter, .VidPnSourceId = source};
        NTSTATUS s = dbgctl_call(c, D3DKMT_THUNK_WaitForVerticalBlankEvent, &w, sizeof(w));
        uint64_t now = dbgctl_now_ns();
        if (s && source && s != STATUS_TIMEOUT) {
            source = 0;
            i--;
            continue;
        }
        if (s) {
            scanout_flags(c); /* a display that was given away has no vblanks */
            return dbgctl_fail(c, s, "WaitForVerticalBlankEvent, wait %u, at most %u ms", i, c->timeout_ms);
        }
        if (i) {
            double ms = (double)(now - last) / 1e6;
            json_array_append_new(list, json_pack("{s:i, s:f}", "index", (int)i, "dt_ms", ms));
            sum += ms;
            min = !taken || ms < min ? ms : min;
            max = ms > max ? ms : max;
            taken++;
        }
        last = now;
    }
    json_object_update_new(c->body, dbgctl_sources(c, source));
    json_object_set_new(c->body, "summary",
                        json_pack("{s:i, s:i, s:f, s:f, s:f, s:f}", "waits", (int)taken + 1, "deltas",
                                  (int)taken, "avg_ms", taken ? sum / taken : 0.0, "min_ms", min, "max_ms",
                                  max, "hz", sum > 0 ? taken * 1e3 / sum : 0.0));
    return DBGCTL_OK;
}

int dbgctl_query_scanline(struct dbgctl *c)
{
    uint32_t n = c->vblank_samples, blank = 0, min = ~0u, max = 0, source = c->source;
    json_t *list = begin(c), *summary;

    json_object_set_new(c->body, "interval_ms", json_integer(c->vblank_interval_ms));
    for (uint32_t i = 0; i < n; i++) {
        D3DKMT_GETSCANLINE g = {.hAdapter = c->adapter, .VidPnSourceId = source};
        NTSTATUS s = dbgctl_call(c, D3DKMT_THUNK_GetScanLine, &g, sizeof(g));
        if (s && source && s != STATUS_TIMEOUT) {
            source = 0;
            i--;
            continue;
        }
        if (s)
            return dbgctl_fail(c, s, "GetScanLine, sample %u", i);
        if (g.InVerticalBlank) {
            blank++;
        } else {
            min = g.ScanLine < min ? g.ScanLine : min;
            max = g.ScanLine > max ? g.ScanLine : max;
        }
        dbgctl_line(c, "%4u  line %u%s", i, g.ScanLine, g.InVerticalBlank ? "  in vertical blank" : "");
        json_array_append_new(list, json_pack("{s:i, s:i, s:i, s:b}", "index", (int)i + 1, "vidpn_source_id",
                                              (int)source, "scanline", (int)g.ScanLine, "in_vblank",
                                              (int)g.InVerticalBlank));
        if (i + 1 < n)
            dbgctl_sleep_ms(c->vblank_interval_ms);
    }
    summary = json_pack("{s:i, s:i, s:i}", "samples", (int)n, "in_vblank", (int)blank, "out_vblank",
                        (int)(n - blank));
    if (blank < n)
        json_object_set_new(summary, "out_scanline_range",
                            json_pack("{s:i, s:i}", "min", (int)min, "max", (int)max));
    json_object_update_new(c->body, dbgctl_sources(c, source));
    json_object_set_new(c->body, "summary", summary);
    return DBGCTL_OK;
}
