/* SPDX-License-Identifier: MIT */
#include "report/junit.h"

#include <string.h>

#include "base/utf8.h"
#include "report/page.h"

static void text_in(struct strbuf *o, const char *before, const char *s, const char *after)
{
    strbuf_puts(o, before);
    for (size_t n, left = strlen(s); left; s += n, left -= n) {
        char one[5] = "";

        n = utf8_length(s, left);
        if (!n || (n == 3 && (!memcmp(s, "\xEF\xBF\xBE", n) || !memcmp(s, "\xEF\xBF\xBF", n)))) {
            strbuf_puts(o, "\xEF\xBF\xBD");
            n = n ? n : 1;
        } else {
            page_text(o, memcpy(one, s, n));
        }
    }
    strbuf_puts(o, after);
}

void junit_begin(struct strbuf *o, const struct junit_suite *s)
{
    text_in(o, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n<testsuite name=\"", s->name, "\"");
    strbuf_printf(o, " tests=\"%zu\" failures=\"%u\" errors=\"%u\" skipped=\"%u\">\n", s->tests, s->failures,
                  s->errors, s->skipped);
}

void junit_case(struct strbuf *o, const struct junit_case *c)
{
    text_in(o, "<testcase classname=\"", c->classname, "\"");
    text_in(o, " name=\"", c->name, "\"");
    strbuf_printf(o, " time=\"%.3f\">", c->seconds);
    if (c->outcome) {
        strbuf_printf(o, "<%s", c->outcome);
        text_in(o, " message=\"", c->message, "\"/>");
    }
    if (c->output)
        text_in(o, "<system-out>", c->output, "</system-out>");
    strbuf_puts(o, "</testcase>\n");
}

void junit_end(struct strbuf *o)
{
    strbuf_puts(o, "</testsuite>\n</testsuites>\n");
}
