/* SPDX-License-Identifier: MIT */
/* witness.h: two accounts of one time-out: what a crash dump concludes (its cause, docs/dump-schema.md), and what a recording
 * of the processors shows (its verdict, docs/cpu.md). Either's report carries the other's, and says whether they agree.
 */
#pragma once

#include <stddef.h>

enum witness_relation {
    WITNESS_APART, /* each may be true, whatever the other says */
    WITNESS_AGREE,
    WITNESS_CONTRADICT /* one at most is true */
};

/* Causes and verdicts that are not known go with everything. */
enum witness_relation witness_compare(const char *cause, const char *verdict);

/* The same as a sentence, with how sure each is: "proven", "suggested" or "unknown" of the cause, "certain", "likely" or
 * "not seen" of the verdict. */
enum witness_relation witness_text(char *out, size_t cap, const char *cause, const char *sure_cause,
                                   const char *verdict, const char *certainty);
