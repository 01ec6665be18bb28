/* SPDX-License-Identifier: MIT */
#include "dxgkrnl/kernel/violations.h"

#include <execinfo.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/strbuf.h"
#include "dxgkrnl/kernel.h"

void dxgk_violations_add(struct violations *v, const char *text, const struct kernel_ddi *ddi)
{
    struct strbuf b = {0};
    void *frames[24];
    char **names;
    int n;

    strbuf_puts(&b, text);
    for (const struct kernel_ddi *d = ddi; d; d = d->outer)
        strbuf_printf(&b, ", in %s", d->name);
    n = backtrace(frames, 24);
    names = backtrace_symbols(frames, n);
    for (int i = 2; names && i < n; i++)
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
