/* SPDX-License-Identifier: MIT */
/* junit.h: what became of tests as JUnit's XML, which CI systems read.
 *
 * 1. Well-formed, whatever tests say: a character that XML cannot carry (https://www.w3.org/TR/xml/#charsets) is shown by its
 *    number, and what is no character becomes U+FFFD.
 * 2. Errors are the text's: strbuf_failed() at the end tells.
 */
#pragma once

#include "base/strbuf.h"

struct junit_suite {
    const char *name;
    size_t tests;
    unsigned failures, errors, skipped; /* of them */
};

struct junit_case {
    const char *classname, *name;
    double seconds;
    const char *outcome; /* "failure", "error" or "skipped"; NULL: it passed */
    const char *message; /* why; with `outcome` */
    const char *output;  /* what it printed, or NULL */
};

void junit_begin(struct strbuf *o, const struct junit_suite *s);
void junit_case(struct strbuf *o, const struct junit_case *c);
void junit_end(struct strbuf *o);
