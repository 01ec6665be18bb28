/* SPDX-License-Identifier: MIT */
/* Sets of CPUs in deep idle over time, and the bins of the time lines. */
#include "cpu/model/analysis.h"

#include <string.h>

/* The set that was in force for `len`. When all places are taken, it takes that of the set with the least time
 * if it brings more: what lasted is kept, what flickered is counted in sets_other_ns. */
static struct cpu_idle_set *find_set(struct cpu_analysis *a, uint64_t len)
{
    const uint32_t words = (a->num_cpus + 63) / 64;
    struct cpu_idle_set *least = &a->sets[0];

    for (uint32_t i = 0; i < a->num_sets; i++) {
        if (!memcmp(a->sets[i].mask, a->deep_mask, words * sizeof(uint64_t)))
            return &a->sets[i];
        if (a->sets[i].ns < least->ns)
            least = &a->sets[i];
    }
    if (a->num_sets < CPU_IDLE_SETS)
        least = &a->sets[a->num_sets++];
    else if (least->ns >= len)
        return NULL;
    a->sets_other_ns += least->ns;
    *least = (struct cpu_idle_set){.ns = 0};
    memcpy(least->mask, a->deep_mask, sizeof(a->deep_mask));
    return least;
}

/* The set that was in force ends at `ns`; the caller changes deep_mask after this. */
void cpu_sets_change(struct cpu_analysis *a, uint64_t ns)
{
    const uint64_t from = a->set_since < a->begin_ns ? a->begin_ns : a->set_since;
    const uint64_t to = ns > a->params.to_ns ? a->params.to_ns : ns;
    struct cpu_idle_set *s;

    a->set_since = ns;
    if (to <= from ||
        a->num_known < a->num_visible) /* before each has shown its state, the set is not known */
        return;
    s = find_set(a, to - from);
    if (s) {
        s->ns += to - from;
        s->times++;
    } else {
        a->sets_other_ns += to - from;
    }
}

/* Halves the resolution of every CPU's time line. */
static void fold_bins(struct cpu_analysis *a)
{
    for (uint32_t i = 0; i < a->num_cpus; i++) {
        struct cpu_bin *b = a->cpu[i].bins;
        for (uint32_t k = 0; k < CPU_BINS / 2; k++) {
            b[k] = (struct cpu_bin){
                b[2 * k].idle_ns + b[2 * k + 1].idle_ns, b[2 * k].deep_ns + b[2 * k + 1].deep_ns,
                b[2 * k].unknown_ns + b[2 * k + 1].unknown_ns, b[2 * k].irqs + b[2 * k + 1].irqs};
        }
        memset(b + CPU_BINS / 2, 0, CPU_BINS / 2 * sizeof(*b));
    }
    a->bin_shift++;
}

void cpu_bins_reach(struct cpu_analysis *a, uint64_t ns)
{
    while (ns > a->begin_ns && ((ns - a->begin_ns) >> a->bin_shift) >= CPU_BINS && a->bin_shift < 60)
        fold_bins(a);
}

void cpu_bins_add(struct cpu_analysis *a, struct cpu_stats *c, uint64_t from, uint64_t to,
                  enum cpu_known known, bool deep)
{
    uint64_t rel = from - a->begin_ns, end = to - a->begin_ns;

    cpu_bins_reach(a, to);
    if (known == CPU_RUNNING)
        return; /* what is left of a bin */
    while (rel < end) {
        const uint64_t k = rel >> a->bin_shift,
                       left = (UINT64_C(1) << a->bin_shift) - (rel - (k << a->bin_shift));
        const uint64_t n = left < end - rel ? left : end - rel; /* no sum: a wild time may be near 2^64 */
        if (known == CPU_UNKNOWN)
            c->bins[k].unknown_ns += n;
        else
            c->bins[k].idle_ns += n;
        if (deep)
            c->bins[k].deep_ns += n;
        rel += n;
    }
}
