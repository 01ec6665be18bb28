/* SPDX-License-Identifier: MIT */
#include "report/timeline.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>

#include "base/check.h"
#include "report/page.h"

#define OUT(...) strbuf_printf(t->out, __VA_ARGS__)

void timeline_begin(struct timeline *t, struct strbuf *o, int64_t from, int64_t to, int64_t base,
                    double height)
{
    INVARIANT(height > 0);
    *t = (struct timeline){
        .out = o, .from = from, .span = to > from ? to - from : 1, .base = base, .height = height};
    OUT("<div class=timeline data-base=%lld data-span=%lld style='--h:%.0fpx'><div class=names>\n",
        (long long)base, (long long)t->span, height);
}

void timeline_name(struct timeline *t, double top, double height, const char *fmt, ...)
{
    char text[128];
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(text, sizeof(text), fmt, ap);
    va_end(ap);
    /* 22: the plot's room above the lanes */
    OUT("<span style='top:%.1fpx;line-height:%.1fpx'>", 22 + top, height);
    page_text_in(t->out, "", text, "</span>");
    page_text_in(t->out, "<span class=room>", text, "</span>\n");
}

void timeline_lanes(struct timeline *t, const char *label)
{
    OUT("</div><div class=plot><svg viewBox='0 0 %d %.0f' preserveAspectRatio=none role=img aria-label='",
        TIMELINE_WIDTH, t->height);
    page_text_in(t->out, "", label, "'>\n");
}

double timeline_x(const struct timeline *t, int64_t ns)
{
    const int64_t at = ns < t->from ? 0 : ns - t->from > t->span ? t->span : ns - t->from;

    return TIMELINE_WIDTH * (double)at / (double)t->span;
}

void timeline_bar(struct timeline *t, double top, double height, int64_t from, int64_t to, const char *colour,
                  const char *title)
{
    const double a = timeline_x(t, from), b = timeline_x(t, to);

    /* the stroke is what is seen of a bar that is narrower than a pixel */
    OUT("<path class='c-%s' stroke=currentColor stroke-width=.7 d='M%.0f %.1fH%.0fv%.1fH%.0fZ'>", colour, a,
        top, b, height, a);
    if (title)
        page_text_in(t->out, "<title>", title, "</title>");
    OUT("</path>\n");
}

void timeline_text(struct timeline *t, double top, int64_t from, int64_t to, const char *text)
{
    const double a = timeline_x(t, from), b = timeline_x(t, to);

    strbuf_printf(&t->over,
                  "<span class=in data-t=%.0f data-u=%.0f style='top:%.0fpx;left:%.3f%%;width:%.3f%%'>", a, b,
                  22 + top, a * 100 / TIMELINE_WIDTH, (b - a) * 100 / TIMELINE_WIDTH);
    page_text_in(&t->over, "", text, "</span>\n");
}

void timeline_mark(struct timeline *t, int64_t ns, const char *colour, const char *text, bool left)
{
    const double x = timeline_x(t, ns);

    OUT("<path class='line c-%s' stroke-width=1.5 d='M%.0f 0V%.1f'/>\n", colour, x, t->height);
    strbuf_printf(&t->over, "<span class='mark%s c-%s' data-t=%.0f style='left:%.3f%%'>", left ? " left" : "",
                  colour, x, x * 100 / TIMELINE_WIDTH);
    page_text_in(&t->over, "", text, "</span>\n");
}

/* "1.5 s" in the unit that fits the distance of two ticks. */
static void put_time(struct strbuf *o, double ns, double step)
{
    if (step >= 1e8)
        strbuf_printf(o, "%.*f s", step < 1e9, ns / 1e9);
    else if (step >= 1e5)
        strbuf_printf(o, "%.*f ms", step < 1e6, ns / 1e6);
    else
        strbuf_printf(o, "%.*f us", step < 1e3 ? 3 : 0, ns / 1e3);
}

/* For a reader without scripts, and for paper: page.js draws its own. */
void timeline_end(struct timeline *t)
{
    const double span = (double)t->span, base = (double)t->base;
    double step = 1;

    while (step * 10 < span / 5)
        step *= 10;
    step *= step * 5 <= span / 5 ? 5 : step * 2 <= span / 5 ? 2 : 1;
    OUT("</svg>\n%s<div class=axis>", strbuf_str(&t->over));
    for (int64_t i = (int64_t)ceil(base / step); (double)i * step <= base + span; i++) {
        const double at = (double)i * step;

        OUT("<span style='left:%.2f%%'>", 100 * (at - base) / span);
        put_time(t->out, at, step);
        OUT("</span>");
    }
    OUT("</div></div></div>\n");
    t->out->failed |= strbuf_failed(&t->over);
    strbuf_finish(&t->over);
}
