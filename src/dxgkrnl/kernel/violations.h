/* SPDX-License-Identifier: MIT */
/* violations.h: the rules that a miniport broke, in words, with the DDIs that it was in and the call stack. */
#pragma once

enum { MAX_VIOLATIONS = 64 }; /* that are kept; all are counted and logged */

struct violations {
    char *text[MAX_VIOLATIONS];
    unsigned count;
};

/* `text` names the DDIs that the thread is in. */
void dxgk_violations_add(struct violations *v, const char *text);
/* NULL: there are not so many, or it was not kept. */
const char *dxgk_violations_text(const struct violations *v, unsigned i);
void dxgk_violations_finish(struct violations *v);
