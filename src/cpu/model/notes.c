/* SPDX-License-Identifier: MIT */
#include "cpu/model/notes.h"

#include <stdarg.h>
#include <stdio.h>

void cpu_note(struct cpu_notes *n, const char *fmt, ...)
{
    va_list ap;

    if (!n)
        return;
    if (n->count < NOTES_KEPT) {
        va_start(ap, fmt);
        vsnprintf(n->text[n->count], sizeof(n->text[0]), fmt, ap);
        va_end(ap);
    }
    n->count++;
}
