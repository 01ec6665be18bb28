/* SPDX-License-Identifier: MIT */
/* trace_split.c: headers of records first, with the lengths of their arguments; then the arguments, each byte less that of
 * the last call of the same method if that had as many. Fence values, times and the like become rows of the same number. */
#include "record/trace_split.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "record/varint.h"
#include "record/api.h"
#include "record/walk.h"
#include "record/wire.h"

struct last {
    const uint8_t *args;
    size_t len;
};

/* Passes over one record's header. The method, or -1; *repeat: no arguments follow. */
static int header(const struct api *api, struct bytes *in, bool *repeat)
{
    uint64_t op = bytes_varint(in);
    uint32_t method = (uint32_t)(op >> REC_FLAG_BITS);

    *repeat = op & REC_REPEAT;
    if (in->bad || op >> REC_FLAG_BITS >= api->num_methods)
        return -1;
    if (method == REC_LARGE) {
        bytes_varint(in);
        *repeat = true;
        return in->bad ? -1 : REC_LARGE;
    }
    if (!api->methods[method].name)
        return -1;
    if (op & REC_SEQ && api->methods[method].flags & API_LATE)
        bytes_u32(in);
    else if (op & REC_SEQ)
        bytes_varint(in);
    if (op & REC_THIS)
        bytes_varint(in);
    if (op & REC_TIME)
        bytes_varint(in);
    return in->bad ? -1 : (int)method;
}

size_t split_block(const struct api *api, const uint8_t *raw, size_t n, uint8_t *out)
{
    struct last *last = calloc(api->num_methods, sizeof(*last));
    uint8_t *heads = malloc(n + n / 2 + 64), *args = malloc(n ? n : 1), *h = heads, *a = args, *w = out;
    struct bytes in = bytes_of(raw, n);

    while (last && heads && args && bytes_left(&in)) {
        size_t at = in.pos, len;
        bool repeat;
        int method = header(api, &in, &repeat);
        const struct api_method *m;
        const uint8_t *p = raw + in.pos;

        if (method < 0) {
            in.bad = true; /* it may have been the last */
            break;
        }
        memcpy(h, raw + at, in.pos - at);
        h += in.pos - at;
        if (repeat)
            continue;
        m = &api->methods[method];
        walk_fields(&in, m->in, m->num_in, NULL);
        if (m->flags & API_RESULT)
            walk_fields(&in, m->out, m->num_out, NULL);
        if (in.bad)
            break;
        len = (size_t)(raw + in.pos - p);
        h = varint_put(h, zigzag((int64_t)len - (int64_t)last[method].len));
        if (last[method].len == len)
            for (size_t i = 0; i < len; i++)
                *a++ = (uint8_t)(p[i] - last[method].args[i]);
        else if (len) {
            memcpy(a, p, len);
            a += len;
        }
        last[method].args = p;
        last[method].len = len;
        if ((size_t)(h - heads) > n + n / 2 + 32) /* more lengths than bytes: not worth it */
            in.bad = true;
    }
    if (last && heads && args && !in.bad && !bytes_left(&in)) {
        w = varint_put(w, (uint64_t)(h - heads));
        memcpy(w, heads, (size_t)(h - heads));
        w += h - heads;
        memcpy(w, args, (size_t)(a - args));
        w += a - args;
    }
    INVARIANT((size_t)(w - out) <= SPLIT_BOUND(n));
    INVARIANT(!heads || (size_t)(h - heads) <= n + n / 2 + 64);
    INVARIANT(!args || (size_t)(a - args) <= n);
    free(last);
    free(heads);
    free(args);
    return (size_t)(w - out);
}

int unsplit_block(const struct api *api, const uint8_t *in, size_t size, uint8_t *raw, size_t n)
{
    struct last *last = calloc(api->num_methods, sizeof(*last));
    struct bytes all = bytes_of(in, size), heads, args;
    uint64_t num = bytes_varint(&all);
    const uint8_t *h = bytes_take(&all, num);
    size_t at = 0;
    int err = -EBADMSG;

    if (!last)
        return -ENOMEM;
    if (all.bad)
        goto out;
    heads = bytes_of(h, num);
    args = bytes_of(in + all.pos, bytes_left(&all));
    while (bytes_left(&heads)) {
        size_t from = heads.pos, head, len;
        bool repeat;
        int method = header(api, &heads, &repeat);
        const uint8_t *p;

        head = heads.pos - from;
        if (method < 0 || head > n - at)
            goto out;
        memcpy(raw + at, h + from, head);
        at += head;
        if (repeat)
            continue;
        len = (size_t)((int64_t)last[method].len + unzigzag(bytes_varint(&heads)));
        p = bytes_take(&args, len);
        if (heads.bad || args.bad || len > n - at)
            goto out;
        for (size_t i = 0; i < len; i++)
            raw[at + i] = (uint8_t)(p[i] + (last[method].len == len ? last[method].args[i] : 0));
        last[method].args = raw + at;
        last[method].len = len;
        at += len;
        INVARIANT(at <= n);
    }
    err = at == n && !bytes_left(&args) ? 0 : -EBADMSG;
out:
    free(last);
    return err;
}
