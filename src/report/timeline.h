/* SPDX-License-Identifier: MIT */
/* timeline.h: what happened when, in lanes one below the other. The reader zooms and moves it (page.js).
 *
 *     timeline_begin(&t, o, begin_ns, end_ns, 2 * 40, "the GPU");
 *     timeline_name(&t, 0, 30, "context 1");
 *     timeline_bar(&t, 0, 30, from_ns, to_ns, "ok", "submission 7: completed");
 *     timeline_mark(&t, hang_ns, "bad", "hung");
 *     timeline_end(&t);
 *
 * Times are nanoseconds; what lies outside of [from, to] is drawn at the border. Heights are pixels from the top of the
 * lanes. Between begin and end one may draw SVG into `out`, with timeline_x() for its x coordinates.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/strbuf.h"

#define TIMELINE_WIDTH 100000 /* of the drawing; page.js knows it, too */

struct timeline {
    struct strbuf *out;
    struct strbuf over; /* text, which is not stretched: it stands above the drawing */
    int64_t from, span, base;
    double height;
};

/* `base` is what the axis calls the time `from`. Names follow first. */
void timeline_begin(struct timeline *t, struct strbuf *o, int64_t from, int64_t to, int64_t base,
                    double height);
void timeline_name(struct timeline *t, double top, double height, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));
/* After the last name, before the first shape. */
void timeline_lanes(struct timeline *t, const char *label);
double timeline_x(const struct timeline *t, int64_t ns);
/* At least as wide as can be seen. `colour`: c-NAME of page.css; `title`: text or NULL. */
void timeline_bar(struct timeline *t, double top, double height, int64_t from, int64_t to, const char *colour,
                  const char *title);
/* Text within what lasts from `from` to `to`; cut off where there is no room. */
void timeline_text(struct timeline *t, double top, int64_t from, int64_t to, const char *text);
/* A line over all lanes with a word at its top; `left`: the word stands to the left of it. */
void timeline_mark(struct timeline *t, int64_t ns, const char *colour, const char *text, bool left);
void timeline_end(struct timeline *t);
