/* SPDX-License-Identifier: MIT */
/* validate_timeline.c: one picture of the hang and the recovery: what the device had to do, its vblanks, and the driver's
 * answers, from the samples that a sampler took every few milliseconds while tdr_recovery ran. */
#include <stdbool.h>
#include <string.h>

#include "report/page.h"
#include "report/timeline.h"
#include "validate_page.h"

enum { LANE = 32, BAR = 22 };

struct sample {
    double ms;
    json_int_t submitted, completed, vblank, resets;
};

struct story {
    double length;             /* ms */
    double hung, reset, again; /* when it began, ended, and when new work was complete; < 0: never */
    double vblank_hz;          /* while it hung */
    size_t samples, during;    /* all of them, and those while it hung */
};

static struct sample sample_of(const json_t *samples, size_t i)
{
    const json_t *s = json_array_get(samples, i);

    return (struct sample){json_number_value(json_array_get(s, 0)), json_integer_value(json_array_get(s, 1)),
                           json_integer_value(json_array_get(s, 2)), json_integer_value(json_array_get(s, 3)),
                           json_integer_value(json_array_get(s, 4))};
}

/* The hang is what was pending when the count of resets went up. */
static struct story read_story(const json_t *samples)
{
    struct story t = {.hung = -1, .reset = -1, .again = -1, .samples = json_array_size(samples)};
    struct sample first = sample_of(samples, 0), since = first, at;

    for (size_t i = 0; i < t.samples; i++) {
        at = sample_of(samples, i);
        t.length = at.ms;
        if (t.reset < 0 && at.resets > first.resets) {
            t.hung = since.ms;
            t.reset = at.ms;
            t.vblank_hz =
                at.ms > since.ms ? (double)(at.vblank - since.vblank) * 1e3 / (at.ms - since.ms) : 0;
            since = at;
        } else if (t.reset < 0 && (at.completed != since.completed || at.submitted == at.completed)) {
            since = at;
        } else if (t.reset >= 0 && t.again < 0 && at.completed > since.completed) {
            t.again = at.ms;
        }
    }
    for (size_t i = 0; i < t.samples; i++) {
        at = sample_of(samples, i);
        t.during += t.reset >= 0 && at.ms >= t.hung && at.ms <= t.reset;
    }
    return t;
}

static int64_t ns_of(double ms)
{
    return (int64_t)(ms * 1e6);
}

static void bar(struct timeline *l, double from, double to, const char *colour, const char *text)
{
    timeline_bar(l, 0, BAR, ns_of(from), ns_of(to), colour, *text ? text : NULL);
    timeline_text(l, 4, ns_of(from), ns_of(to), text);
}

static void ticks(struct timeline *l, const struct story *t, const json_t *samples)
{
    struct sample last = sample_of(samples, 0);

    strbuf_puts(l->out, "<path class='line c-busy' d='");
    for (size_t i = 1; i < t->samples; i++) {
        struct sample at = sample_of(samples, i);
        for (json_int_t n = at.vblank - last.vblank; n > 0; n--) /* between two looks: evenly */
            strbuf_printf(l->out, "M%.0f %dv%d",
                          timeline_x(l, ns_of(at.ms - (at.ms - last.ms) * (double)(n - 1) /
                                                          (double)(at.vblank - last.vblank))),
                          LANE, BAR);
        last = at;
    }
    strbuf_puts(l->out, "'/><path class='line c-ok' stroke-width=3 stroke-linecap=round d='");
    for (size_t i = 0; i < t->samples; i++)
        strbuf_printf(l->out, "M%.0f %dh1", timeline_x(l, ns_of(sample_of(samples, i).ms)),
                      2 * LANE + BAR / 2);
    strbuf_puts(l->out, "'/>");
}

static void draw(struct strbuf *b, const struct story *t, const json_t *samples)
{
    static const char *const lanes[] = {"work at the device", "vblanks", "driver answers"};
    struct timeline l;

    timeline_begin(&l, b, 0, ns_of(t->length), 0, 3 * LANE);
    for (int i = 0; i < 3; i++)
        timeline_name(&l, i * LANE, BAR, "%s", lanes[i]);
    timeline_lanes(&l, "time line of the hang");
    if (t->reset >= 0) {
        bar(&l, 0, t->hung, "ok", "");
        bar(&l, t->hung, t->reset, "bad", "a shader that does not end");
        if (t->again >= 0) {
            bar(&l, t->reset, t->again, "warn", "");
            bar(&l, t->again, t->length, "ok", "");
        }
    }
    ticks(&l, t, samples);
    if (t->reset >= 0) {
        timeline_mark(&l, ns_of(t->hung), "ink", "submitted", false);
        timeline_mark(&l, ns_of(t->reset), "ink", "reset, Display 4101", true);
        if (t->again >= 0)
            timeline_mark(&l, ns_of(t->again), "ink", "new work", false);
    }
    timeline_end(&l);
}

void validate_timeline(struct strbuf *b, const json_t *report)
{
    const json_t *test = validate_find_test(report, "tdr_recovery"),
                 *sampler = json_object_get(test, "sampler"), *samples = json_object_get(sampler, "samples");
    struct story t;

    if (json_array_size(samples) < 10)
        return;
    t = read_story(samples);
    page_card(b, "hang", "The hang, and the way back", NULL);
    draw(b, &t, samples);
    strbuf_puts(b, "<p class=dim>");
    if (t.reset < 0)
        strbuf_puts(b, "There was no reset.");
    else
        strbuf_printf(
            b,
            "Nothing completes for %.0f ms; vblank goes on at %.1f Hz, and the driver answers all of %zu looks, the slowest in %.2f ms. ",
            t.reset - t.hung, t.vblank_hz, t.during, validate_number(sampler, "slowest_ms"));
    if (t.again >= 0)
        strbuf_printf(b, "The first new work is complete %.0f ms after the reset.", t.again - t.reset);
    strbuf_puts(b, "</p>");
    page_card_end(b);
}
