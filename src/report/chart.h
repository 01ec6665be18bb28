/* SPDX-License-Identifier: MIT */
/* chart.h: small drawings in SVG. Colours are the classes c-NAME of page.css, so that light and dark fit them.
 *
 * Sizes are in units of the drawing, whose width the page chooses. `title` is what is shown when somebody points at a
 * shape: text, NULL for none.
 */
#pragma once

#include "base/strbuf.h"

void chart_begin(struct strbuf *o, double width, double height, const char *label);
void chart_end(struct strbuf *o);
void chart_rect(struct strbuf *o, double x, double y, double width, double height, const char *colour,
                const char *title);
/* "M1 2H3V4", stroked. */
void chart_line(struct strbuf *o, const char *colour, const char *path, ...)
    __attribute__((format(printf, 3, 4)));
/* `anchor`: "start", "middle" or "end". `class`: "strong", "c-bad", ""; text. */
void chart_text(struct strbuf *o, double x, double y, const char *anchor, const char *class, const char *fmt,
                ...) __attribute__((format(printf, 6, 7)));
/* The colours' meaning: "c-busy running|c-idle idle", markup. */
void chart_key(struct strbuf *o, const char *entries);
