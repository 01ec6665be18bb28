/* SPDX-License-Identifier: MIT */
/* json_show.h: jansson's trees as text in which nothing is hidden: what turns the direction of text, or a terminal would obey, stands
 * as its escape. */
#pragma once

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "base/strbuf.h"
#include "base/utf8.h"

/* json_dumps(), onto the end of `out`. 0, or -1. */
static inline int json_show_text(const json_t *j, size_t flags, struct strbuf *out)
{
    char *text = json_dumps(j, flags), escape[UTF8_ESCAPE];
    size_t left = text ? strlen(text) : 0;

    for (const char *s = text; left;) {
        size_t n = utf8_length(s, left);
        uint32_t hidden = n && *s != '\n' ? utf8_hidden(s, n) : 0;

        n = n ? n : 1;
        if (hidden) {
            utf8_escape(escape, hidden);
            strbuf_puts(out, escape);
        } else {
            strbuf_append(out, s, n);
        }
        s += n;
        left -= n;
    }
    free(text);
    return text ? 0 : -1;
}

/* json_dumpf(). 0, or -1. */
static inline int json_show(const json_t *j, FILE *f, size_t flags)
{
    struct strbuf text = {0};
    int r = json_show_text(j, flags, &text);

    if (!r && fputs(strbuf_str(&text), f) < 0)
        r = -1;
    strbuf_finish(&text);
    return r;
}
