#include "bench.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

void bench_report(struct bench *b, const struct bench_figure *f)
{
    double ratio = f->reference > 0 ? f->ours / f->reference : f->ours;
    int ok = f->at_least ? ratio >= f->target : ratio <= f->target;
    json_t *o;

    printf("%-20s %12.3f %-8s", f->id, f->ours, f->unit);
    if (f->reference > 0)
        printf(" against %12.3f  ratio %8.3f", f->reference, ratio);
    printf("  target %s %g  %s%s%s\n", f->at_least ? ">=" : "<=", f->target, ok ? "ok" : "MISSED",
           f->note ? "  " : "", f->note ? f->note : "");
    fflush(stdout);
    if (!b->json)
        return;
    o = json_pack("{s:s, s:f, s:f, s:f, s:s, s:f, s:b}", "id", f->id, "ours", f->ours, "reference",
                  f->reference, "ratio", ratio, "unit", f->unit, "target", f->target, "ok", ok);
    if (!o || add_to_file(b->json, f->id, o)) {
        fprintf(stderr, "%s: cannot be written\n", b->json);
        b->failed++;
    }
    json_decref(o);
}

int bench_finish(const struct bench *b)
{
    return b->failed ? 1 : 0;
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
