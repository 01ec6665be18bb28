/* SPDX-License-Identifier: MIT */
/* diagnose.c: see diagnose.h. A row applies only on evidence, and says it; nothing is guessed from silence. */
#include "diagnose.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/strbuf.h"

enum row {
    RESET,
    REMOVED,
    HUNG,
    MEMORY,
    BUGCHECK,
    COMPOSITION,
    FREEZE,
};

static const struct {
    const char *symptom, *signal, *causes, *checks;
} rows[] = {
    [RESET] =
        {"The display driver stopped responding and has recovered", "Display 4101",
         "fence or interrupt not progressing, a submission that is too long, a deadlock in the driver",
         "aerogpu_dbgctl --query-fence: is the completed fence stuck? --dump-vblank: does vblank still tick?"},
    [REMOVED] = {"Programs start failing after a stutter",
                 "STATUS_DEVICE_REMOVED (DXGI_ERROR_DEVICE_REMOVED 0x887A0005)",
                 "a time-out was recovered from; the device was reset",
                 "look for 4101 near that time; does the program make a new device?"},
    [HUNG] = {"A 3D program crashes during heavy drawing",
              "DMA fault (DXGI_ERROR_DEVICE_HUNG 0x887A0006, D3DERR_DEVICELOST)",
              "invalid command stream, access out of bounds, a shader or translation bug, a long batch",
              "aerogpu_dbgctl --query-error; --dump-last-submit; aerogpu show on the stream"},
    [MEMORY] = {"Allocations fail too early",
                "STATUS_GRAPHICS_NO_VIDEO_MEMORY (E_OUTOFMEMORY, D3DERR_OUTOFVIDEOMEMORY)",
                "the segment budget is too small",
                "raise NonLocalMemorySizeMB under HKR\\Parameters; --query-segments"},
    [BUGCHECK] =
        {"The adapter is given up during or after a time-out", "BugCheck 0x116 VIDEO_TDR_FAILURE",
         "ResetFromTimeout failed or left an inconsistent state, or there were too many resets in a minute",
         "look into the reset path; do worker threads stop? TdrLimitCount, TdrLimitTime"},
    [COMPOSITION] = {"Composition stops or stutters", "presents or vblank waits off their pace",
                     "the compositor's device was removed, vblank pacing is broken, presents fail",
                     "is the compositor running? 4101? aerogpu_dbgctl --dump-vblank --vblank-samples 10"},
    [FREEZE] = {"The desktop freezes and nothing recovers", "fences stand still and no 4101",
                "TdrLevel disabled, a deadlock at DISPATCH_LEVEL, an interrupt storm",
                "re-enable TdrLevel; does vblank depend on the thread that renders?"},
};

static const char *text_of(const json_t *o, const char *key)
{
    const char *s = json_string_value(json_object_get(o, key));

    return s ? s : "";
}

/* A 64-bit value as dbgctl prints it: {"hex","dec"}, "123" or a number. */
static uint64_t u64_of(const json_t *o, const char *key)
{
    const json_t *v = json_object_get(o, key);

    if (json_is_object(v))
        v = json_object_get(v, "dec");
    return json_is_string(v) ? strtoull(json_string_value(v), NULL, 0) : (uint64_t)json_integer_value(v);
}

static void add(json_t *out, enum row r, struct strbuf *evidence)
{
    if (evidence->len)
        json_array_append_new(out,
                              json_pack("{s:s, s:s, s:s, s:s, s:s}", "symptom", rows[r].symptom, "signal",
                                        rows[r].signal, "causes", rows[r].causes, "first_checks",
                                        rows[r].checks, "evidence", strbuf_str(evidence)));
    strbuf_clear(evidence);
}

/* Events with this id: how many, and the first and the last in words. Ids below 0x100 are dxgkrnl's own. */
static unsigned source_events_of(const json_t *evidence, const char *source, int id, struct strbuf *b)
{
    const json_t *e, *last = NULL;
    unsigned n = 0;
    size_t i;

    json_array_foreach(json_object_get(evidence, "events"), i, e) {
        if (json_integer_value(json_object_get(e, "id")) != id || strcmp(text_of(e, "source"), source) != 0)
            continue;
        if (!n++)
            strbuf_printf(b, "%sevent at %.1f ms: %s", b->len ? "; " : "",
                          json_number_value(json_object_get(e, "time_ms")), text_of(e, "text"));
        last = e;
    }
    if (n > 1)
        strbuf_printf(b, "; %u such events, the last at %.1f ms", n,
                      json_number_value(json_object_get(last, "time_ms")));
    return n;
}

static void tests_that_say(const json_t *evidence, const char *word, struct strbuf *b)
{
    const json_t *t;
    size_t i;

    json_array_foreach(json_object_get(evidence, "tests"), i, t)
        if (strstr(text_of(t, "failure"), word))
            strbuf_printf(b, "%s%s failed: %s", b->len ? "; " : "", text_of(t, "test_name"),
                          text_of(t, "failure"));
}

/* What dbgctl was told where it asked, if that is this status. */
static void answers_that_say(const json_t *evidence, const char *status, struct strbuf *b)
{
    const json_t *f, *e;
    size_t i;

    json_array_foreach(json_object_get(evidence, "answers"), i, f) {
        e = json_object_get(f, "error");
        if (!strcmp(text_of(json_object_get(e, "status"), "name"), status))
            strbuf_printf(b, "%saerogpu_dbgctl %s: %s (%s)", b->len ? "; " : "", text_of(f, "command"),
                          text_of(e, "message"), status);
    }
}

static const json_t *answer_of(const json_t *evidence, const char *command)
{
    const json_t *f, *found = NULL;
    size_t i;

    json_array_foreach(json_object_get(evidence, "answers"), i, f)
        if (!strcmp(text_of(f, "command"), command))
            found = f;
    return found;
}

static void look_at_reset(const json_t *evidence, const json_t *status, json_t *out)
{
    struct strbuf b = {0};
    unsigned n = source_events_of(evidence, "Display", 4101, &b);
    uint64_t resets =
        u64_of(json_object_get(json_object_get(status, "perf"), "resets"), "reset_from_timeout_count");

    if (resets)
        strbuf_printf(&b, "%sthe driver counts %" PRIu64 " reset%s", b.len ? "; " : "", resets,
                      resets == 1 ? "" : "s");
    add(out, RESET, &b);
    if (n)
        strbuf_printf(&b, "%u recover%s: every device that was open then answers device removed", n,
                      n == 1 ? "y" : "ies");
    answers_that_say(evidence, "STATUS_DEVICE_REMOVED", &b);
    tests_that_say(evidence, "DEVICE_REMOVED", &b);
    add(out, REMOVED, &b);
    strbuf_finish(&b);
}

static void look_at_faults(const json_t *evidence, const json_t *status, json_t *out)
{
    struct strbuf b = {0};
    const json_t *f = json_object_get(status, "fences"), *e = json_object_get(status, "last_error");

    source_events_of(evidence, "Display", 4109, &b);
    if (u64_of(f, "error_irq_count"))
        strbuf_printf(&b, "%s%" PRIu64 " error interrupts, the last at fence %" PRIu64, b.len ? "; " : "",
                      u64_of(f, "error_irq_count"), u64_of(f, "last_error_fence"));
    if (u64_of(e, "error_count"))
        strbuf_printf(&b, "; the latch says %s for fence %" PRIu64, text_of(e, "error_code_name"),
                      u64_of(e, "error_fence"));
    add(out, HUNG, &b);
    strbuf_finish(&b);
}

static void look_at_memory(const json_t *evidence, const json_t *status, json_t *out)
{
    const json_t *list = json_object_get(json_object_get(status, "segments"), "segments"), *s;
    struct strbuf b = {0};
    size_t i;

    source_events_of(evidence, "dxgkrnl", 5, &b);
    tests_that_say(evidence, "NO_VIDEO_MEMORY", &b);
    json_array_foreach(list, i, s) {
        uint64_t limit = u64_of(json_object_get(s, "commit_limit"), "bytes"),
                 used = u64_of(json_object_get(s, "committed"), "bytes");
        if (limit && used > limit - limit / 10)
            strbuf_printf(&b, "%ssegment %zu has %" PRIu64 " of %" PRIu64 " bytes committed",
                          b.len ? "; " : "", i + 1, used, limit);
    }
    add(out, MEMORY, &b);
    strbuf_finish(&b);
}

/* The limits of the checklist's pacing tests. */
static void look_at_cadence(const json_t *evidence, struct strbuf *b)
{
    const json_t *wait = answer_of(evidence, "wait-vblank"), *dump = answer_of(evidence, "dump-vblank"),
                 *w = json_object_get(wait, "summary");
    json_int_t stalls = json_integer_value(json_object_get(json_object_get(dump, "summary"), "stalls"));
    double avg = json_number_value(json_object_get(w, "avg_ms")),
           max = json_number_value(json_object_get(w, "max_ms"));

    if (w && (avg < 2 || max > 250))
        strbuf_printf(b, "%svblank waits take %.3f ms on average, %.3f ms at most", b->len ? "; " : "", avg,
                      max);
    if (wait && json_object_get(wait, "error"))
        strbuf_printf(b, "%saerogpu_dbgctl wait-vblank: %s", b->len ? "; " : "",
                      text_of(json_object_get(wait, "error"), "message"));
    if (stalls)
        strbuf_printf(b, "%svblank stood still between %d samples", b->len ? "; " : "", (int)stalls);
}

static void look_at_composition(const json_t *evidence, const json_t *status, const json_t *later,
                                json_t *out)
{
    static const char *const names[] = {"dwm_flush_pacing",  "wait_vblank_pacing", "vblank_wait_pacing",
                                        "present_intervals", "vblank_under_load",  "vblank_state_sanity"};
    struct strbuf b = {0};
    const json_t *t;
    size_t i;

    json_array_foreach(json_object_get(evidence, "tests"), i, t)
        for (int k = 0; k < 6; k++)
            if (!strcmp(text_of(t, "test_name"), names[k]) && !strcmp(text_of(t, "status"), "FAIL"))
                strbuf_printf(&b, "%s%s failed: %s", b.len ? "; " : "", names[k], text_of(t, "failure"));
    if (json_is_object(later) &&
        u64_of(json_object_get(status, "vblank"), "vblank_seq") ==
            u64_of(json_object_get(later, "vblank"), "vblank_seq") &&
        u64_of(json_object_get(later, "vblank"), "vblank_seq"))
        strbuf_printf(&b, "%svblank stands at %" PRIu64, b.len ? "; " : "",
                      u64_of(json_object_get(later, "vblank"), "vblank_seq"));
    source_events_of(evidence, "dxgkrnl", 4, &b);
    look_at_cadence(evidence, &b);
    add(out, COMPOSITION, &b);
    strbuf_finish(&b);
}

static void look_at_freeze(const json_t *evidence, const json_t *status, const json_t *later, json_t *out)
{
    const json_t *a = json_object_get(status, "fences"), *c = json_object_get(later, "fences"),
                 *level = json_object_get(evidence, "tdr_level"), *watch = answer_of(evidence, "watch-fence");
    struct strbuf b = {0};

    if (json_is_object(c) && u64_of(a, "last_completed_fence") == u64_of(c, "last_completed_fence") &&
        u64_of(c, "last_completed_fence") < u64_of(a, "last_submitted_fence"))
        strbuf_printf(&b, "fence %" PRIu64 " stays the last completed one, %" PRIu64 " is submitted",
                      u64_of(c, "last_completed_fence"), u64_of(c, "last_submitted_fence"));
    if (json_integer_value(json_object_get(watch, "stall_warnings")))
        strbuf_printf(&b, "%s%d samples of --watch-fence are marked STALLED", b.len ? "; " : "",
                      (int)json_integer_value(json_object_get(watch, "stall_warnings")));
    answers_that_say(evidence, "STATUS_TIMEOUT", &b);
    if (b.len && json_is_integer(level) && !json_integer_value(level))
        strbuf_puts(&b, "; TdrLevel is 0: nothing will recover it");
    add(out, FREEZE, &b);
    strbuf_finish(&b);
}

json_t *diagnose(const json_t *evidence)
{
    const json_t *status = json_object_get(evidence, "status"), *later = json_object_get(evidence, "later");
    json_t *out = json_array();
    struct strbuf b = {0};

    look_at_reset(evidence, status, out);
    look_at_faults(evidence, status, out);
    look_at_memory(evidence, status, out);
    source_events_of(evidence, "BugCheck", 0x116, &b);
    add(out, BUGCHECK, &b);
    look_at_composition(evidence, status, later, out);
    look_at_freeze(evidence, status, later, out);
    strbuf_finish(&b);
    return out;
}
