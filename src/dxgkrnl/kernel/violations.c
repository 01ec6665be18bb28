/* SPDX-License-Identifier: MIT */
#include "dxgkrnl/kernel/violations.h"

#include <execinfo.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/strbuf.h"
#include "dxgkrnl/kernel/exceptions.h"
#include "dxgkrnl/kernel/lastwords.h"
#include "dxgkrnl/kernel/state.h"

struct trace {
    void *frames[24];
    int n;
};

static void walk_out(void *arg)
{
    struct trace *t = arg;

    t->n = backtrace(t->frames, 24);
}

/* A frame of its own: it and its caller are left out of the stack. */
__attribute__((noinline)) void dxgk_violations_add(struct violations *v, const char *text)
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

void dxgk_kernel_violation(struct kernel *k, const char *fmt, ...)
{
    char text[400];
    size_t n;
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(text, sizeof(text) - 100, fmt, ap);
    va_end(ap);
    for (const struct kernel_ddi *d = k->current ? k->current->ddi : NULL; d; d = d->outer) {
        n = strlen(text);
        snprintf(text + n, sizeof(text) - n, ", in %s", d->name);
    }
    dxgk_violations_add(&k->violations, text);
    if (k->ops.violation)
        k->ops.violation(k->ctx, text);
}

unsigned dxgk_kernel_violations(struct kernel *k)
{
    return k->violations.count;
}

const char *dxgk_kernel_violation_text(struct kernel *k, unsigned i)
{
    return dxgk_violations_text(&k->violations, i);
}

bool dxgk_kernel_check(struct kernel *k, const char *routine, KIRQL max)
{
    if (k->irql <= max)
        return true;
    dxgk_kernel_violation(k, "%s called at IRQL %d, allowed up to %d", routine, k->irql, max);
    return false;
}
