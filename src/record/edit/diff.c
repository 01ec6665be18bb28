/* SPDX-License-Identifier: MIT */
/* diff.c: both recordings as rows of hashes; where they part, the nearest place where both go on alike for a few calls is
 * looked for. What a call says is hashed along the tables, blobs by their bytes. */
#include "record/edit/diff.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/array.h"
#include "base/strbuf.h"
#include "record/names.h"
#include "record/show.h"
#include "record/walk.h"

#define WINDOW 4000 /* calls that are looked at behind a difference */
#define RUN    3    /* calls that must be alike for both to be together again */

struct row {
    uint64_t *hash;
    uint64_t *call;            /* the call's number: those that do not count are left out */
    size_t num, hashes, calls; /* and room for */
};

struct hashing {
    XXH3_state_t *h;
    struct trc *t;
};

static void add(struct hashing *x, const void *p, size_t n)
{
    XXH3_64bits_update(x->h, p, n);
}

static void on_begin(void *ctx, const struct api_field *f, const char *name, bool array, uint64_t n)
{
    add(ctx, &n, sizeof(n));
}

static void on_null(void *ctx, const struct api_field *f, const char *name, bool is_null)
{
    add(ctx, &is_null, sizeof(is_null));
}

static void on_value(void *ctx, const struct api_field *f, const char *name, const struct walk_value *v)
{
    struct hashing *x = ctx;
    size_t size = 0;
    const void *p;

    if (v->raw) /* an address or a handle as it was: another one in each run */
        return;
    if (v->blob) {
        p = trc_blob(x->t, v->blob - 1, &size, NULL);
        if (p)
            add(x, p, size);
        return;
    }
    add(x, &v->u, sizeof(v->u));
    add(x, &v->offset, sizeof(v->offset));
    if (v->bytes)
        add(x, v->bytes, v->size);
}

static uint64_t hash_call(struct trc *t, const struct trc_call *c, XXH3_state_t *state)
{
    struct hashing x = {state, t};
    struct walk_visitor v = {.begin = on_begin, .value = on_value, .null = on_null, .ctx = &x};

    XXH3_64bits_reset(state);
    add(&x, &c->method, sizeof(c->method));
    add(&x, &c->self, sizeof(c->self));
    walk_args(c, &v);
    if (!(c->m->flags & API_COUNTS))
        walk_answers(c, &v);
    return XXH3_64bits_digest(state);
}

static int read_row(struct row *r, struct trc *t, struct error *e)
{
    XXH3_state_t *state = XXH3_createState();
    struct trc_call c;
    int got = 0;

    trc_rewind(t);
    while (state && (got = trc_next(t, &c, e)) > 0) {
        if (c.m->flags & (API_VARIES | API_QUERY))
            continue;
        if (array_reserve(r->hash, r->hashes, r->num + 1) || array_reserve(r->call, r->calls, r->num + 1)) {
            got = error_set(e, -ENOMEM, "out of memory");
            break;
        }
        r->call[r->num] = c.index;
        r->hash[r->num++] = hash_call(t, &c, state);
    }
    XXH3_freeState(state);
    trc_rewind(t);
    return state ? (got < 0 ? got : 0) : error_set(e, -ENOMEM, "out of memory");
}

static bool alike(const struct row *a, size_t i, const struct row *b, size_t k)
{
    size_t n = 0;

    while (n < RUN && i + n < a->num && k + n < b->num && a->hash[i + n] == b->hash[k + n])
        n++;
    return n == RUN || (n && i + n == a->num && k + n == b->num);
}

/* The nearest pair behind (i, k) from which on both are alike. */
static void resync(const struct row *a, const struct row *b, size_t *i, size_t *k)
{
    for (size_t d = 1; d < WINDOW; d++)
        for (size_t x = 0; x <= d; x++)
            if (*i + x < a->num && *k + d - x < b->num && a->hash[*i + x] == b->hash[*k + d - x] &&
                alike(a, *i + x, b, *k + d - x)) {
                *i += x;
                *k += d - x;
                return;
            }
    *i = *i + WINDOW < a->num ? *i + WINDOW : a->num;
    *k = *k + WINDOW < b->num ? *k + WINDOW : b->num;
}

struct printing { /* one side: its calls are read in step with the comparison */
    FILE *out;
    struct trc *t;
    struct names names;
    uint64_t left; /* lines that may still be printed */
};

/* The calls [from, to) of the row; those between them and what was printed last are passed over. */
static void print_rows(struct printing *p, const struct row *r, size_t from, size_t to, char sign)
{
    struct strbuf b = {0};
    struct trc_call c;

    while (from < to && p->left && trc_next(p->t, &c, NULL) > 0) {
        if (c.index != r->call[from])
            continue;
        strbuf_clear(&b);
        show_call(&b, SHOW_TEXT, p->t, &c, &p->names);
        fprintf(p->out, "%c %s\n", sign, strbuf_str(&b));
        p->left--;
        from++;
    }
    strbuf_finish(&b);
}

int diff_run(FILE *out, struct trc *ta, struct trc *tb, uint64_t limit, struct diff_result *r,
             struct error *e)
{
    struct row a = {0}, b = {0};
    struct printing pa = {.out = out, .t = ta, .left = limit ? limit : UINT64_MAX};
    struct printing pb = {.out = out, .t = tb, .left = limit ? limit : UINT64_MAX};
    size_t i = 0, k = 0;
    int err;

    *r = (struct diff_result){0};
    if ((err = read_row(&a, ta, e)) || (err = read_row(&b, tb, e)) || (err = names_read(&pa.names, ta, e)) ||
        (err = names_read(&pb.names, tb, e)))
        goto out;
    while (i < a.num || k < b.num) {
        size_t x = i, y = k;

        if (i < a.num && k < b.num && a.hash[i] == b.hash[k]) {
            i++;
            k++;
            r->same++;
            continue;
        }
        if (i < a.num && k < b.num)
            resync(&a, &b, &x, &y);
        else
            x = a.num, y = b.num;
        print_rows(&pa, &a, i, x, '-');
        print_rows(&pb, &b, k, y, '+');
        r->only_a += x - i;
        r->only_b += y - k;
        i = x;
        k = y;
    }
out:
    names_finish(&pa.names);
    names_finish(&pb.names);
    free(a.hash);
    free(a.call);
    free(b.hash);
    free(b.call);
    return err;
}
