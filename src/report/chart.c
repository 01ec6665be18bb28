/* SPDX-License-Identifier: MIT */
#include "report/chart.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "report/page.h"

void chart_begin(struct strbuf *o, double width, double height, const char *label)
{
    strbuf_printf(o, "<svg viewBox='0 0 %.0f %.0f' role=img aria-label='", width, height);
    page_text_in(o, "", label, "'>\n");
}

void chart_end(struct strbuf *o)
{
    strbuf_puts(o, "</svg>\n");
}

void chart_rect(struct strbuf *o, double x, double y, double width, double height, const char *colour,
                const char *title)
{
    strbuf_printf(o, "<rect class=c-%s x=%.1f y=%.1f width=%.1f height=%.1f", colour, x, y, width, height);
    if (title)
        page_text_in(o, "><title>", title, "</title></rect>\n");
    else
        strbuf_puts(o, " />\n");
}

void chart_line(struct strbuf *o, const char *colour, const char *path, ...)
{
    char d[256];
    va_list ap;

    va_start(ap, path);
    vsnprintf(d, sizeof(d), path, ap);
    va_end(ap);
    strbuf_printf(o, "<path class='line c-%s' d='%s'/>\n", colour, d);
}

void chart_text(struct strbuf *o, double x, double y, const char *anchor, const char *class, const char *fmt,
                ...)
{
    char text[256];
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(text, sizeof(text), fmt, ap);
    va_end(ap);
    strbuf_printf(o, "<text x=%.1f y=%.1f text-anchor=%s", x, y, anchor);
    if (*class)
        strbuf_printf(o, " class=%s", class);
    page_text_in(o, ">", text, "</text>\n");
}

void chart_key(struct strbuf *o, const char *entries)
{
    strbuf_puts(o, "<p class=key>");
    while (*entries) {
        const size_t class = strcspn(entries, " "), n = strcspn(entries, "|");

        strbuf_printf(o, "<i class=%.*s></i>%.*s", (int)class, entries, (int)(n - class - 1),
                      entries + class + 1);
        entries += n + (entries[n] == '|');
    }
    strbuf_puts(o, "</p>\n");
}
