/* SPDX-License-Identifier: MIT */
#include "record/edit/trace_edit.h"

#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "record/varint.h"
#include "record/api.h"
#include "record/walk.h"

#define TIME_STEP 480
#define LARGE     (TRC_CHUNK / 2)
#define HEADER    64 /* a record's header is never longer */

struct track { /* one thread of the new file */
    uint32_t id;
    uint8_t *buf;
    size_t n;
    uint64_t first_seq, expected, time;
    uint32_t self, frame;
    struct {
        uint32_t at, len;
    } last[API_MAX_METHODS];
};

struct trc_editor {
    const struct api *api;
    struct trc *from;
    struct trc_writer *w;
    struct track **tracks;
    size_t num_tracks;
    struct track *cur;
    uint64_t seq, time;
    uint32_t frame;
    uint8_t *copied; /* one bit a blob of `from` */
    uint64_t num_copied, next_blob;
    uint8_t *blobs;
    size_t blobs_n;
    uint64_t blobs_first;
};

static void editor_check(const struct trc_editor *ed)
{
    const struct track *t = ed->cur;

    INVARIANT(ed->blobs_n <= TRC_CHUNK);
    INVARIANT(ed->num_copied % 8 == 0);
    INVARIANT(!ed->num_copied || ed->copied);
    INVARIANT(ed->next_blob > 0); // 0 says that there is none
    INVARIANT(ed->frame <= ed->seq);
    INVARIANT(!t || t->n <= TRC_CHUNK);
    INVARIANT(!t || t->expected <= ed->seq);
    INVARIANT(!t || t->first_seq <= t->expected);
}

static int flush_track(struct trc_editor *ed, struct track *t, bool partial, struct error *e)
{
    struct block b = {.kind = TRC_CALLS,
                      .flags = partial ? TRC_PARTIAL : 0,
                      .stream = (uint16_t)t->id,
                      .first = t->first_seq,
                      .frame = t->frame};
    int err = t->n ? trc_writer_block(ed->w, &b, t->buf, t->n, e) : 0;

    t->n = 0;
    t->self = 0;
    t->time = 0;
    t->first_seq = t->expected = ed->seq;
    t->frame = ed->frame;
    memset(t->last, 0, sizeof(t->last));
    return err;
}

static int flush_blobs(struct trc_editor *ed, struct error *e)
{
    struct block b = {.kind = TRC_BLOBS, .first = ed->blobs_first, .frame = ed->frame};
    int err = ed->blobs_n ? trc_writer_block(ed->w, &b, ed->blobs, ed->blobs_n, e) : 0;

    ed->blobs_n = 0;
    return err;
}

static int put_blob(struct trc_editor *ed, uint64_t number, const uint8_t *p, size_t n, struct error *e)
{
    size_t done = 0;

    do {
        size_t part;
        uint8_t *w;
        int err;

        if (ed->blobs_n > TRC_CHUNK - 256 && (err = flush_blobs(ed, e)))
            return err;
        if (!ed->blobs_n)
            ed->blobs_first = number;
        part = TRC_CHUNK - ed->blobs_n - 64;
        part = part > n - done ? n - done : part;
        w = ed->blobs + ed->blobs_n;
        w = varint_put(w, number);
        w = varint_put(w, n);
        w = varint_put(w, done);
        w = varint_put(w, part);
        memcpy(w, p + done, part);
        ed->blobs_n = (size_t)(w + part - ed->blobs);
        done += part;
    } while (done < n);
    return 0;
}

uint64_t trc_edit_blob(struct trc_editor *ed, const void *bytes, size_t size, struct error *e)
{
    return put_blob(ed, ed->next_blob, bytes, size, e) ? 0 : ed->next_blob++;
}

/* ---- blobs that calls mention -------------------------------------------- */

struct blob_walk {
    struct trc_editor *ed;
    struct error *e;
    int err;
};

static int copy_blob(struct trc_editor *ed, uint64_t number, struct error *e)
{
    struct error why = {0};
    size_t size = 0;
    const void *p;

    if (number >= ed->num_copied) {
        uint64_t n = ed->num_copied ? ed->num_copied : 4096;
        uint8_t *grown;

        if (number > UINT32_MAX)
            return error_set(e, -EBADMSG, "there is no blob %llu", (unsigned long long)number);
        while (n <= number)
            n *= 2;
        grown = realloc(ed->copied, n / 8);
        if (!grown)
            return error_set(e, -ENOMEM, "out of memory");
        memset(grown + ed->num_copied / 8, 0, (n - ed->num_copied) / 8);
        ed->copied = grown;
        ed->num_copied = n;
    }
    if (ed->copied[number / 8] >> (number % 8) & 1)
        return 0;
    ed->copied[number / 8] |= (uint8_t)(1u << (number % 8));
    p = trc_blob(ed->from, number, &size, &why);
    if (!p)
        return error_set(e, why.code, "%s", why.text);
    return put_blob(ed, number, p, size, e);
}

static void on_value(void *ctx, const struct api_field *f, const char *name, const struct walk_value *v)
{
    struct blob_walk *x = ctx;

    if (v->blob && !x->err && v->blob - 1 < x->ed->next_blob)
        x->err = copy_blob(x->ed, v->blob - 1, x->e);
}

static int copy_blobs(struct trc_editor *ed, const struct trc_call *c, struct error *e)
{
    struct blob_walk x = {ed, e, 0};
    struct walk_visitor v = {.value = on_value, .ctx = &x};

    walk_call(c, &v);
    return x.err;
}

/* ---- records ------------------------------------------------------------- */

static struct track *track_of(struct trc_editor *ed, uint32_t id)
{
    struct track *t, **p;

    for (size_t i = 0; i < ed->num_tracks; i++)
        if (ed->tracks[i]->id == id)
            return ed->tracks[i];
    p = realloc(ed->tracks, (ed->num_tracks + 1) * sizeof(*p));
    if (!p)
        return NULL;
    ed->tracks = p;
    t = calloc(1, sizeof(*t));
    if (!t || !(t->buf = malloc(TRC_CHUNK))) {
        free(t);
        return NULL;
    }
    t->id = id;
    t->first_seq = t->expected = ed->seq;
    t->frame = ed->frame;
    ed->tracks[ed->num_tracks++] = t;
    return t;
}

static uint8_t *put_header(struct trc_editor *ed, struct track *t, uint8_t *w, uint16_t method, uint32_t self,
                           bool repeat)
{
    uint64_t time = ed->time > t->time ? ed->time : t->time;
    uint32_t flags = REC_TICKET | (ed->seq != t->expected ? REC_SEQ : 0) | (self != t->self ? REC_THIS : 0) |
                     (time > t->time + TIME_STEP ? REC_TIME : 0) | (repeat ? REC_REPEAT : 0);

    w = varint_put(w, (uint32_t)method << REC_FLAG_BITS | flags);
    if (flags & REC_SEQ && ed->api->methods[method].flags & API_LATE) {
        uint32_t d = (uint32_t)(ed->seq - t->expected);

        memcpy(w, &d, 4);
        w += 4;
    } else if (flags & REC_SEQ) {
        w = varint_put(w, zigzag((int64_t)(ed->seq - t->expected)));
    }
    if (flags & REC_THIS)
        w = varint_put(w, self);
    if (flags & REC_TIME) {
        w = varint_put(w, time - t->time);
        t->time = time;
    }
    t->expected = ed->seq + 1;
    t->self = self;
    return w;
}

static int put_large(struct trc_editor *ed, struct track *t, uint16_t method, uint32_t self, const void *args,
                     size_t size, struct error *e)
{
    uint8_t *all = malloc(size + HEADER), *w;
    uint64_t blob = 0;

    if (!all)
        return error_set(e, -ENOMEM, "out of memory");
    w = put_header(ed, t, all, method, self, false);
    memcpy(w, args, size);
    blob = trc_edit_blob(ed, all, (size_t)(w - all) + size, e);
    free(all);
    if (!blob)
        return -EIO;
    t->buf[t->n++] = REC_LARGE << REC_FLAG_BITS;
    t->n = (size_t)(varint_put(t->buf + t->n, blob) - t->buf);
    memset(t->last, 0, sizeof(t->last));
    return 0;
}

static int put(struct trc_editor *ed, struct track *t, uint16_t method, uint32_t self, const void *args,
               size_t size, struct error *e)
{
    bool repeat;
    uint8_t *w;
    int err;

    if (t->n + (size > LARGE ? 0 : size) + HEADER > TRC_CHUNK && (err = flush_track(ed, t, false, e)))
        return err;
    if (!t->n)
        t->first_seq = t->expected = ed->seq;
    if (size > LARGE) {
        err = put_large(ed, t, method, self, args, size, e);
    } else {
        repeat = size && !(ed->api->methods[method].flags & API_RESULT) && t->last[method].len == size &&
                 !memcmp(t->buf + t->last[method].at, args, size);
        w = put_header(ed, t, t->buf + t->n, method, self, repeat);
        if (!repeat) {
            memcpy(w, args, size);
            t->last[method].at = (uint32_t)(w - t->buf);
            t->last[method].len = (uint32_t)size;
            w += size;
        }
        t->n = (size_t)(w - t->buf);
        err = 0;
    }
    ed->seq++;
    if (ed->api->methods[method].flags & API_FRAME)
        ed->frame++;
    return err;
}

int trc_edit_copy(struct trc_editor *ed, const struct trc_call *c, struct error *e)
{
    struct track *t = track_of(ed, c->thread);
    int err;

    editor_check(ed);
    if (!t)
        return error_set(e, -ENOMEM, "out of memory");
    ed->cur = t;
    ed->time = c->time_ns / TRC_TIME_UNIT_NS;
    if ((err = copy_blobs(ed, c, e)) || (err = put(ed, t, c->method, c->self, c->args, c->size, e)))
        return err;
    return c->incomplete ? flush_track(ed, t, true, e) : 0;
}

int trc_edit_add(struct trc_editor *ed, uint16_t method, uint32_t self, const void *args, size_t size,
                 struct error *e)
{
    struct track *t = ed->cur ? ed->cur : track_of(ed, 1);

    editor_check(ed);
    return t ? put(ed, t, method, self, args, size, e) : error_set(e, -ENOMEM, "out of memory");
}

/* ---- beginning and end --------------------------------------------------- */

static char *merged_meta(const char *old, json_t *add)
{
    json_t *o = json_loads(old ? old : "{}", 0, NULL);
    char *text = NULL;

    if (!o)
        o = json_object();
    if (add && !json_object_update(o, add))
        text = json_dumps(o, JSON_COMPACT);
    json_decref(o);
    json_decref(add);
    return text;
}

/* The highest blob number of `t`. */
static uint64_t last_blob(struct trc *t)
{
    uint64_t max = 0;

    for (uint32_t i = 0; i < trc_num_blocks(t); i++)
        if (trc_block(t, i)->kind == TRC_BLOBS && trc_block(t, i)->first > max)
            max = trc_block(t, i)->first;
    return max + 65536; /* a block begins with its first number: no block holds as many */
}

int trc_edit_create(struct trc_editor **out, struct trc *from, const char *path, json_t *add, struct error *e)
{
    struct trc_editor *ed = calloc(1, sizeof(*ed));
    char *meta = merged_meta(trc_meta(from), add);
    int err = -ENOMEM;

    if (!ed || !meta || !(ed->blobs = malloc(TRC_CHUNK)))
        error_set(e, err, "out of memory");
    else
        err = trc_writer_create_hidden(&ed->w, trc_api(from), path, meta, e);
    free(meta);
    if (err) {
        if (ed) {
            free(ed->blobs);
        }
        free(ed);
        return err;
    }
    ed->from = from;
    ed->api = trc_api(from);
    ed->next_blob = last_blob(from) + 1;
    *out = ed;
    return 0;
}

int trc_edit_finish(struct trc_editor *ed, bool keep, struct error *e)
{
    int err = 0;

    if (!ed)
        return 0;
    for (size_t i = 0; keep && i < ed->num_tracks && !err; i++)
        err = flush_track(ed, ed->tracks[i], false, e);
    if (keep && !err)
        err = flush_blobs(ed, e);
    trc_writer_features(ed->w, trc_features(ed->from));
    if (keep && !err)
        err = trc_writer_finish(ed->w, e);
    else
        trc_writer_abandon(ed->w);
    for (size_t i = 0; i < ed->num_tracks; i++) {
        free(ed->tracks[i]->buf);
        free(ed->tracks[i]);
    }
    free(ed->tracks);
    free(ed->copied);
    free(ed->blobs);
    free(ed);
    return err;
}
