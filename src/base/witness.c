/* SPDX-License-Identifier: MIT */
#include "base/witness.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* What docs/evidence.md says of either. A verdict says why there was a time-out, a cause says why the work was not done. To the
 * processors a queue that waits for what nobody signals is like one that hangs, and whoever was to signal it may be what they
 * saw: only that the work ended, or its process, contradicts it. */
static const struct {
    const char *verdict, *agrees, *contradicts; /* causes between bars */
} relations[] = {
    {"HOST-STOLE-TIME", "|starved|", "|hang|stopped|"},
    {"IPI-STALL", "||", "|hang|"},
    {"CPU-STARVED", "|starved|", "|hang|stopped|"},
    {"CPU-ASLEEP", "||", "|hang|stopped|"},
    {"EXECUTOR-DIED", "|killed|host memory|memory limit|page fault|fault|device|",
     "|hang|waiting|slow|stopped|starved|"},
    {"FROZEN", "|stopped|", "|hang|starved|"},
    {"BLOCKED-ON-IO", "|host memory|", "|hang|stopped|starved|"},
    {"LOCKED", "||", "|hang|stopped|starved|"},
    {"WAITER-LATE", "||", "|hang|waiting|slow|stopped|starved|"},
    {"WATCHDOG-LATE", "||", "|hang|waiting|stopped|starved|"},
    {"GPU-SLOW", "|slow|", "|hang|waiting|stopped|starved|"},
    {"GPU-HUNG", "|hang|", "|slow|stopped|starved|killed|host memory|"},
};

static bool has(const char *list, const char *cause)
{
    char key[48];

    snprintf(key, sizeof(key), "|%.40s|", cause);
    return *cause && strstr(list, key);
}

enum witness_relation witness_compare(const char *cause, const char *verdict)
{
    for (size_t i = 0; i < sizeof(relations) / sizeof(relations[0]); i++)
        if (!strcmp(relations[i].verdict, verdict))
            return has(relations[i].contradicts, cause) ? WITNESS_CONTRADICT
                   : has(relations[i].agrees, cause)    ? WITNESS_AGREE
                                                        : WITNESS_APART;
    return WITNESS_APART;
}

enum witness_relation witness_text(char *out, size_t cap, const char *cause, const char *sure_cause,
                                   const char *verdict, const char *certainty)
{
    const enum witness_relation r = witness_compare(cause, verdict);
    const bool proven = !strcmp(sure_cause, "proven"), certain = !strcmp(certainty, "certain");

    snprintf(out, cap, "%s: the dump says %s (%s), the processors say %s (%s)%s",
             r == WITNESS_CONTRADICT ? "they contradict each other"
             : r == WITNESS_AGREE    ? "they agree"
                                     : "neither confirms nor contradicts the other",
             *cause ? cause : "nothing", *sure_cause ? sure_cause : "unknown", verdict, certainty,
             r != WITNESS_CONTRADICT ? ""
             : certain && !proven    ? "; the processors are surer"
             : proven && !certain    ? "; the dump is surer"
                                     : "; neither is surer");
    return r;
}
