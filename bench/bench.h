/* bench.h: how a benchmark reports a figure.
 *
 * A program in this folder measures what it is about and a reference in the same run, and calls
 * bench_report() for each figure. It is run as `PROGRAM [--json FILE] [FIGURE...]`: one line per figure (of those
 * named, where the program knows to leave out the others) on standard output, and each figure added to the array in FILE (made if missing; a figure of the same id is replaced):
 *
 *   {"id", "ours", "reference", "ratio", "unit", "target", "ok"}
 */
#ifndef BENCH_BENCH_H_
#define BENCH_BENCH_H_

#include <stdbool.h>
#include <stddef.h>

struct bench {
    const char *json;  /* NULL: no file */
    char *const *only; /* figures asked for, up to a NULL; none: all */
    int failed;        /* what could not be measured or written */
};

struct bench_figure {
    const char *id;
    double ours, reference; /* reference 0: there is none, and the ratio is ours */
    const char *unit;
    double target;    /* for the ratio ours/reference */
    int at_least;     /* the ratio must be at least the target, instead of at most */
    const char *note; /* printed behind the line, may be NULL */
};

/* Reads the command line; exits with a usage line if it makes no sense. */
void bench_init(struct bench *b, int argc, char **argv);
/* Whether figure `id` was asked for. */
bool bench_wants(const struct bench *b, const char *id);
void bench_report(struct bench *b, const struct bench_figure *f);
/* The exit status: 0, or 1 if something could not be measured or written. A target that is missed is said in its line, and
 * fails nothing: machines are shared and noisy. */
int bench_finish(const struct bench *b);

/* The p-th quantile (0..1) of n values, which get sorted. */
double bench_quantile(double *values, size_t n, double p);

#endif
