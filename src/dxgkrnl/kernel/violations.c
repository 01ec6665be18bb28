/* SPDX-License-Identifier: MIT */
#include "dxgkrnl/kernel/violations.h"

#include <execinfo.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/strbuf.h"
#include "dxgkrnl/kernel.h"
#include "dxgkrnl/kernel/exceptions.h"
#include "dxgkrnl/kernel/lastwords.h"

struct trace {
    void *frames[24];
    int n;
};

static void walk_out(void *arg)
{
    struct trace *t = arg;

    t->n = backtrace(t->frames, 24);
}

void dxgk_violations_add(struct violations *v, const char *text)
{
    struct strbuf b = {0};
    struct trace t = {.n = 0};
    char **names;

    strbuf_puts(&b, text);
    dxgk_lastwords_rule(text);
    dxgk_exceptions_try(walk_out, &t); /* the code that broke it may be gone */
    names = backtrace_symbols(t.frames, t.n);
    for (int i = 4; names && i < t.n; i++)
        strbuf_printf(&b, "\n    %s", names[i]);
    free(names);
    log_error("dxgkrnl", "%s", strbuf_str(&b));
    if (v->count < MAX_VIOLATIONS)
        v->text[v->count] = strdup(strbuf_str(&b));
    v->count++;
    strbuf_finish(&b);
}

const char *dxgk_violations_text(const struct violations *v, unsigned i)
{
    return i < v->count && i < MAX_VIOLATIONS ? v->text[i] : NULL;
}

void dxgk_violations_finish(struct violations *v)
{
    for (unsigned i = 0; i < v->count && i < MAX_VIOLATIONS; i++)
        free(v->text[i]);
}
