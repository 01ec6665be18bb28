/* SPDX-License-Identifier: MIT */
#include "bench.h"

#include <jansson.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/rng.h"

void bench_init(struct bench *b, int argc, char **argv)
{
    *b = (struct bench){0};
    b->only = argv + 1;
    if (argc >= 3 && strcmp(argv[1], "--json") == 0) {
        b->json = argv[2];
        b->only = argv + 3;
    } else if (argc >= 2 && argv[1][0] == '-') {
        fprintf(stderr, "usage: %s [--json FILE] [FIGURE...]\n", argv[0]);
        exit(2);
    }
}

bool bench_wants(const struct bench *b, const char *id)
{
    for (char *const *p = b->only; *p; p++)
        if (strcmp(*p, id) == 0)
            return true;
    return !*b->only;
}

static int add_to_file(const char *path, const char *id, json_t *figure)
{
    json_t *all = json_load_file(path, 0, NULL), *old;
    size_t i;
    int r;

    if (!json_is_array(all)) {
        json_decref(all);
        all = json_array();
    }
    json_array_foreach(all, i, old) {
        const char *old_id = json_string_value(json_object_get(old, "id"));

        if (old_id && strcmp(old_id, id) == 0) {
            json_array_remove(all, i);
            break;
        }
    }
    r = json_array_append(all, figure);
    if (!r)
        r = json_dump_file(all, path, JSON_INDENT(2) | JSON_REAL_PRECISION(6));
    json_decref(all);
    return r;
}

static void add(struct bench *b, const char *id, json_t *o)
{
    if (b->json && (!o || add_to_file(b->json, id, o))) {
        fprintf(stderr, "%s: cannot be written\n", b->json);
        b->failed++;
    }
    json_decref(o);
}

/* The median of `n` values, and the quarters around it. */
static double median_of(const double *v, const double *under, size_t n, double *from, double *to)
{
    double *sorted = malloc(n * sizeof(*sorted)), median;

    if (!sorted)
        abort();
    for (size_t i = 0; i < n; i++)
        sorted[i] = under ? v[i] / under[i] : v[i];
    median = bench_quantile(sorted, n, 0.5);
    *from = bench_quantile(sorted, n, 0.25);
    *to = bench_quantile(sorted, n, 0.75);
    free(sorted);
    return median;
}

void bench_report(struct bench *b, const struct bench_figure *f)
{
    double ours = f->ours, reference = f->reference, ratio, from, to;
    bool ok;

    if (f->rounds) {
        ours = median_of(f->ours_each, NULL, f->rounds, &from, &to);
        reference = median_of(f->reference_each, NULL, f->rounds, &from, &to);
        ratio = median_of(f->ours_each, f->reference_each, f->rounds, &from, &to);
    } else {
        ratio = from = to = ours / reference;
    }
    if (!isfinite(ratio) || reference <= 0 || ours < 0) {
        bench_failed(b, f->id, reference > 0 ? "it gave no number" : "its reference gave no number");
        return;
    }
    ok = f->at_least ? ratio >= f->target : ratio <= f->target;
    b->missed += !ok;
    printf("%-24s %10.3f against %10.3f %-12s ratio %7.3f", f->id, ours, reference, f->unit, ratio);
    if (f->rounds)
        printf(" (%.3f-%.3f)", from, to);
    printf("  target %s %g  %s%s%s\n", f->at_least ? ">=" : "<=", f->target, ok ? "ok" : "MISSED",
           f->note ? "  " : "", f->note ? f->note : "");
    fflush(stdout);
    add(b, f->id,
        json_pack("{s:s, s:b, s:f, s:f, s:f, s:f, s:f, s:s, s:f, s:b, s:b}", "id", f->id, "measured", 1,
                  "ours", ours, "reference", reference, "ratio", ratio, "ratio_from",
                  isfinite(from) ? from : ratio, "ratio_to", isfinite(to) ? to : ratio, "unit", f->unit,
                  "target", f->target, "at_least", f->at_least, "ok", ok));
}

void bench_failed(struct bench *b, const char *id, const char *why)
{
    b->failed++;
    bench_not_measured(b, id, why);
}

void bench_not_measured(struct bench *b, const char *id, const char *why)
{
    printf("%-24s not measured: %s\n", id, why);
    fflush(stdout);
    add(b, id, json_pack("{s:s, s:b, s:s}", "id", id, "measured", 0, "why", why));
}

int bench_finish(const struct bench *b)
{
    return b->failed ? 4 : b->missed ? 1 : 0;
}

/* ---- clocks ---- */

static double read_clock(clockid_t id)
{
    struct timespec ts;

    clock_gettime(id, &ts);
    return (double)ts.tv_sec * 1e9 + (double)ts.tv_nsec;
}

double bench_now(void)
{
    return read_clock(CLOCK_MONOTONIC);
}

double bench_cpu(void)
{
    return read_clock(CLOCK_THREAD_CPUTIME_ID);
}

/* ---- the speed of this machine ---- */

enum { WAYS = 24, EVENTS_EACH = 4096 };

struct merged {
    uint64_t time, payload[5];
};

struct way {
    const struct merged *at, *end;
};

static void sift(struct way *heap, size_t n, size_t i)
{
    for (size_t child; (child = 2 * i + 1) < n; i = child) {
        struct way w = heap[i];

        if (child + 1 < n && heap[child + 1].at->time < heap[child].at->time)
            child++;
        if (w.at->time <= heap[child].at->time)
            return;
        heap[i] = heap[child];
        heap[child] = w;
    }
}

static uint64_t merge(const struct merged *events)
{
    struct way heap[WAYS];
    uint64_t sum = 0, last = 0;
    size_t n = WAYS;

    for (size_t i = 0; i < WAYS; i++)
        heap[i] = (struct way){events + i * EVENTS_EACH, events + (i + 1) * EVENTS_EACH};
    for (size_t i = WAYS; i-- > 0;)
        sift(heap, n, i);
    while (n) {
        const struct merged *e = heap[0].at++;

        sum += (e->time - last) ^ e->payload[e->time % 5];
        last = e->time;
        if (heap[0].at == heap[0].end)
            heap[0] = heap[--n];
        sift(heap, n, 0);
    }
    return sum;
}

double bench_merge_rate(void)
{
    static struct merged *events;
    struct rng rng = {1};
    uint64_t sink = 0;
    double from, ns;
    int rounds = 0;

    if (!events) {
        events = calloc(WAYS * EVENTS_EACH, sizeof(*events));
        if (!events)
            abort();
        for (size_t i = 0; i < WAYS; i++)
            for (size_t k = 0, t = 0; k < EVENTS_EACH; k++) {
                t += 1 + rng_below(&rng, 2000);
                events[i * EVENTS_EACH + k] = (struct merged){.time = t, .payload = {k, t, i}};
            }
        sink += merge(events);
    }
    from = bench_cpu();
    do {
        sink += merge(events);
        rounds++;
        ns = bench_cpu() - from;
    } while (ns < 3e7);
    __asm__ volatile("" : : "r"(sink)); /* the merging is not for nothing */
    return rounds * (double)WAYS * EVENTS_EACH * 1e3 / ns;
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

double bench_quantile(double *values, size_t n, double p)
{
    size_t i;

    if (!n)
        return 0;
    qsort(values, n, sizeof(*values), compare);
    i = (size_t)(p * (double)n);
    return values[i < n ? i : n - 1];
}
