/* SPDX-License-Identifier: MIT */
/* bench.h: how a benchmark reports a figure.
 *
 * A program in this folder measures what it is about and a reference in the same run, in turns, and reports each figure as the
 * ratio of the two: a number that means the same on every machine. README.md says what each figure is.
 *
 * So that it means the same on a busy one:
 *  1. Turns are short and many. Each gives one number of ours and one of the reference, measured right after the other; the ratio is
 *     the median of the turns' ratios, not the ratio of two sums over different times.
 *  2. What only computes is timed by bench_cpu(), what waits by bench_now().
 *  3. What happens at an instant is compared with what happens as often at the same time, for the same length, and both
 *     are late by the same rule.
 *
 * It is run as `PROGRAM [--json FILE] [FIGURE...]`: one line per figure (of those named, where the program knows to leave out
 * the others) on standard output, and each figure added to the array in FILE (made if missing; one of the same id is replaced):
 *
 *   {"id", "measured": true, "ours", "reference", "ratio", "ratio_from", "ratio_to", "unit", "target", "at_least", "ok"}
 *   {"id", "measured": false, "why"}
 *
 * Exit codes: 0; 1 a figure misses its target; 2 usage; 4 something could not be measured that should have been.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct bench {
    const char *json;  /* NULL: no file */
    char *const *only; /* figures asked for, up to a NULL; none: all */
    int missed, failed;
};

struct bench_figure {
    const char *id;
    double ours, reference; /* of the same unit */
    /* Or one of each for every round, measured one right after the other: medians are printed, and the ratio is the median of
     * the rounds' ratios, so that a machine that slows down for a while slows both. */
    const double *ours_each, *reference_each;
    size_t rounds;
    const char *unit;
    double target;    /* for the ratio ours/reference */
    int at_least;     /* the ratio must be at least the target, instead of at most */
    const char *note; /* printed behind the line: what the reference is */
};

/* Reads the command line; exits with a usage line if it makes no sense. */
void bench_init(struct bench *b, int argc, char **argv);
/* Whether figure `id` was asked for. */
bool bench_wants(const struct bench *b, const char *id);
/* A figure without a reference, or without a number of ours, has failed, see bench_failed(). */
void bench_report(struct bench *b, const struct bench_figure *f);
/* This machine lacks something: the kernel's, a program. That is said, and fails nothing. */
void bench_not_measured(struct bench *b, const char *id, const char *why);
/* What is there did not do what is measured: that is said, and the program fails. */
void bench_failed(struct bench *b, const char *id, const char *why);
/* The exit status. */
int bench_finish(const struct bench *b);

/* The speed of this machine at this moment, for figures of throughput that have no reference of their own: million events of 48
 * bytes a second that a binary heap merges from 24 sorted sequences. One core; as branchy as analysis is. Takes 30 ms. */
double bench_merge_rate(void);

/* The p-th quantile (0..1) of n values, which get sorted. */
double bench_quantile(double *values, size_t n, double p);

/* Nanoseconds on CLOCK_MONOTONIC, for what has to wait; and of processor time of this thread, for what only computes: others on the
 * machine lengthen the one and not the other. */
double bench_now(void);
double bench_cpu(void);
