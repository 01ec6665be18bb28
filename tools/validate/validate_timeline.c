/* validate_timeline.c: one picture of the hang and the recovery: what the device had to do, its vblanks, and the driver's
 * answers, from the samples that a witness took every few milliseconds while tdr_recovery ran. */
#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "validate_page.h"

enum { LEFT = 150, RIGHT = 905, LANE = 34, TOP = 30 };

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

static double x_of(const struct story *t, double ms)
{
    return LEFT + (RIGHT - LEFT) * ms / t->length;
}

static void bar(struct strbuf *b, const struct story *t, double from, double to, int lane, const char *colour,
                const char *text)
{
    double x = x_of(t, from), width = x_of(t, to) - x;

    strbuf_printf(b, "<rect x=%.1f y=%d width=%.1f height=20 rx=3 fill=\"var(--%s)\"/>", x, TOP + lane * LANE,
                  width > 2 ? width : 2, colour);
    if (*text && width > 60)
        strbuf_printf(b, "<text class=on x=%.1f y=%d text-anchor=middle>%s</text>", x + width / 2,
                      TOP + lane * LANE + 14, text);
}

static void mark(struct strbuf *b, const struct story *t, double ms, const char *text, bool left)
{
    double x = x_of(t, ms);

    strbuf_printf(
        b,
        "<path d=\"M%.1f %dV%d\" stroke=\"var(--ink)\" stroke-dasharray=\"3 3\"/><text class=ink x=%.1f y=%d "
        "text-anchor=%s>%s</text>",
        x, TOP - 8, TOP + 3 * LANE, left ? x - 4 : x + 4, TOP - 14, left ? "end" : "start", text);
}

static void ticks(struct strbuf *b, const struct story *t, const json_t *samples)
{
    struct sample last = sample_of(samples, 0);

    strbuf_puts(b, "<path stroke=\"var(--blue)\" d=\"");
    for (size_t i = 1; i < t->samples; i++) {
        struct sample at = sample_of(samples, i);
        for (json_int_t n = at.vblank - last.vblank; n > 0; n--) /* between two looks: evenly */
            strbuf_printf(
                b, "M%.1f %dv20",
                x_of(t, at.ms - (at.ms - last.ms) * (double)(n - 1) / (double)(at.vblank - last.vblank)),
                TOP + LANE);
        last = at;
    }
    strbuf_puts(b, "\"/><path stroke=\"var(--good)\" stroke-width=2 stroke-linecap=round d=\"");
    for (size_t i = 0; i < t->samples; i++)
        strbuf_printf(b, "M%.1f %dh.01", x_of(t, sample_of(samples, i).ms), TOP + 2 * LANE + 10);
    strbuf_puts(b, "\"/>");
}

static void axis(struct strbuf *b, const struct story *t)
{
    int step = t->length > 1500 ? 500 : t->length > 300 ? 100 : 20;
    int y = TOP + 3 * LANE;

    strbuf_printf(b, "<path d=\"M%d %dH%d\" stroke=\"var(--line)\"/>", LEFT, y, RIGHT);
    for (int ms = 0; ms <= t->length; ms += step)
        strbuf_printf(b, "<text x=%.1f y=%d text-anchor=middle>%d ms</text>", x_of(t, ms), y + 14, ms);
}

void page_timeline(struct strbuf *b, const json_t *report)
{
    static const char *const lanes[] = {"work at the device", "vblanks", "driver answers"};
    const json_t *test = page_test(report, "tdr_recovery"), *witness = json_object_get(test, "witness"),
                 *samples = json_object_get(witness, "samples");
    struct story t;

    if (json_array_size(samples) < 10)
        return;
    t = read_story(samples);
    strbuf_puts(b, "<h2>The hang, and the way back</h2><section>");
    strbuf_printf(b, "<svg viewBox=\"0 0 1000 %d\" role=img aria-label=\"time line of the hang\">",
                  TOP + 3 * LANE + 22);
    for (int i = 0; i < 3; i++)
        strbuf_printf(b, "<text class=ink x=%d y=%d text-anchor=end>%s</text>", LEFT - 10,
                      TOP + i * LANE + 14, lanes[i]);
    axis(b, &t);
    if (t.reset >= 0) {
        bar(b, &t, 0, t.hung, 0, "good", "");
        bar(b, &t, t.hung, t.reset, 0, "bad", "a shader that does not end");
        if (t.again >= 0) {
            bar(b, &t, t.reset, t.again, 0, "skip", "");
            bar(b, &t, t.again, t.length, 0, "good", "");
        }
    }
    ticks(b, &t, samples);
    if (t.reset >= 0) {
        mark(b, &t, t.hung, "submitted", false);
        mark(b, &t, t.reset, "reset, Display 4101", true);
        if (t.again >= 0)
            mark(b, &t, t.again, "new work", false);
    }
    strbuf_puts(b, "</svg><p class=soft>");
    if (t.reset < 0)
        strbuf_puts(b, "There was no reset.");
    else
        strbuf_printf(b,
                      "Nothing completes for %.0f ms; vblank goes on at %.1f Hz, and the driver answers all "
                      "of %zu looks, the "
                      "slowest in %.2f ms. ",
                      t.reset - t.hung, t.vblank_hz, t.during, page_number(witness, "slowest_ms"));
    if (t.again >= 0)
        strbuf_printf(b, "The first new work is complete %.0f ms after the reset.", t.again - t.reset);
    strbuf_puts(b, "</p></section>");
}
