/* SPDX-License-Identifier: MIT */
/* play_decode.c: decoding values of a record into memory that the API can be given. */
#include "d3d12/play/play_internal.h"

#include <errno.h>

#define ARENA_BLOCK ((size_t)1 << 20)
#define ARENA_LIMIT ((size_t)1 << 28) /* what one record may need at most */

void dec_fail(struct dec *d, const char *what, uint32_t id)
{
    d->bad = true;
    d->in.bad = true;
    if (!d->what) {
        d->what = what;
        d->id = id;
    }
}

void dec_no_memory(struct dec *d)
{
    dec_fail(d, "there is no memory for what it has", 0);
    d->err = -ENOMEM;
}

void *dec_alloc(struct dec *d, size_t size, size_t n)
{
    struct player *p = d->p;
    struct arena_block *b = p->arena;
    size_t need;
    void *out;

    if (d->in.bad || (n && size > ARENA_LIMIT / n)) {
        dec_fail(d, "it is too large", 0);
        return NULL;
    }
    need = (size * n + sizeof(max_align_t) - 1) / sizeof(max_align_t) * sizeof(max_align_t);
    if (!b || b->cap - b->used < need) {
        size_t cap = need > ARENA_BLOCK ? need : ARENA_BLOCK;

        if (p->arena_total + cap > ARENA_LIMIT) {
            dec_fail(d, "it is too large", 0);
            return NULL;
        }
        b = malloc(sizeof(*b) + cap);
        if (!b) {
            dec_no_memory(d);
            return NULL;
        }
        p->arena_total += cap;
        *b = (struct arena_block){.next = p->arena, .cap = cap};
        p->arena = b;
    }
    out = (char *)b->bytes + b->used;
    b->used += need;
    memset(out, 0, need);
    return out;
}

void *dec_array(struct dec *d, size_t size, size_t *n)
{
    uint64_t count = bytes_varint(&d->in);

    *n = 0;
    if (!count)
        return NULL;
    if (count - 1 > bytes_left(&d->in)) {
        dec_fail(d, "an array is longer than the record", 0);
        return NULL;
    }
    *n = (size_t)(count - 1);
    return dec_alloc(d, size, *n ? *n : 1);
}

const void *dec_bytes(struct dec *d, size_t *n)
{
    uint64_t v = bytes_varint(&d->in);
    size_t size = 0;
    struct error e = {0};
    const void *p = NULL;

    if (v & 1) {
        size = v >> 1;
        p = bytes_take(&d->in, size);
        if (p && !size)
            p = "";
    } else if (v) {
        p = trc_blob(d->p->trace, (v >> 1) - 1, &size, &e);
        if (!p && e.code == -ENOMEM)
            dec_no_memory(d);
        else if (!p)
            dec_fail(d, *trc_cut(d->p->trace) ? trc_cut(d->p->trace) : "there is no memory for a blob", 0);
    }
    if (n)
        *n = size;
    return p;
}

void *dec_object(struct dec *d, uint16_t iface)
{
    uint64_t id = bytes_varint(&d->in);
    struct play_object *o;

    if (!id || d->in.bad)
        return NULL;
    if (d->numbers)
        return (void *)(uintptr_t)(uint32_t)id;
    o = id <= UINT32_MAX ? play_object(d->p, (uint32_t)id) : NULL;
    if (!o || !o->ptr) {
        dec_fail(d,
                 id == 1        ? "it uses an object that the recorder did not know"
                 : o && o->gone ? "it uses an object after its last release"
                                : "it uses an object that does not exist",
                 (uint32_t)id);
        return NULL;
    }
    if (!d12_iface_is(o->iface, iface)) {
        dec_fail(d, "it uses an object of another kind", (uint32_t)id);
        return NULL;
    }
    return o->ptr;
}

void *dec_loose_object(struct dec *d)
{
    uint64_t id = bytes_varint(&d->in);
    struct play_object *o = id <= UINT32_MAX ? play_object(d->p, (uint32_t)id) : NULL;

    return o ? o->ptr : NULL;
}

static struct play_object *reference(struct dec *d, uint64_t *offset)
{
    uint64_t id = bytes_varint(&d->in);
    struct play_object *o;

    if (!id || d->in.bad)
        return NULL;
    if (id == 1) {
        bytes_u64(&d->in);
        dec_fail(d, "it uses a handle or an address that belongs to no known object", 0);
        return NULL;
    }
    *offset = bytes_varint(&d->in);
    o = id <= UINT32_MAX ? play_object(d->p, (uint32_t)id) : NULL;
    if (!o || !o->ptr) {
        dec_fail(d, "it uses a handle or an address of an object that does not exist", (uint32_t)id);
        return NULL;
    }
    return o;
}

static uint64_t descriptor(struct dec *d, bool gpu)
{
    uint64_t index = 0, base;
    struct play_object *o = reference(d, &index);

    if (!o)
        return 0;
    base = gpu ? o->gpu : o->cpu;
    if (!base || index >= o->size) {
        dec_fail(d, "it uses a descriptor that its heap does not have", 0);
        return 0;
    }
    return base + index * o->step;
}

uint64_t dec_cpu(struct dec *d)
{
    return descriptor(d, false);
}

uint64_t dec_gpu(struct dec *d)
{
    return descriptor(d, true);
}

uint64_t dec_va(struct dec *d)
{
    uint64_t offset = 0;
    struct play_object *o = reference(d, &offset);

    if (!o)
        return 0;
    if (!o->va) {
        dec_fail(d, "it uses the address of a resource that was never asked for it", 0);
        return 0;
    }
    return o->va + offset;
}

const char *dec_str(struct dec *d)
{
    uint64_t n = bytes_varint(&d->in);
    const void *p = n ? bytes_take(&d->in, n - 1) : NULL;
    char *s;

    if (!p || !(s = dec_alloc(d, 1, n)))
        return NULL;
    memcpy(s, p, n - 1);
    return s;
}

/* Text for the implementation that plays: WCHAR as wide as its own. */
const WCHAR *dec_wstr(struct dec *d)
{
    bool utf16 = d->p && d->p->on && d->p->on->wide == 2;
    uint64_t n = bytes_varint(&d->in);
    const uint8_t *p = n ? bytes_take(&d->in, n - 1) : NULL;
    uint16_t *h;
    WCHAR *w;

    if (!p || !(w = dec_alloc(d, sizeof(*w), n)))
        return NULL;
    h = (uint16_t *)w;
    for (size_t i = 0, k = 0; i < n - 1;) {
        uint32_t c = p[i], more = c < 0x80 ? 0 : c < 0xe0 ? 1 : c < 0xf0 ? 2 : 3;

        c &= more ? 0x3fu >> more : 0x7f;
        for (i++; more && i < n - 1; i++, more--)
            c = c << 6 | (p[i] & 0x3f);
        if (utf16 && c > 0xffff)
            h[k++] = (uint16_t)(0xd7c0 + (c >> 10));
        if (utf16)
            h[k++] = (uint16_t)(c > 0xffff ? 0xdc00 | (c & 0x3ff) : c);
        else
            w[k++] = (WCHAR)c;
    }
    return w;
}

HANDLE dec_handle(struct dec *d)
{
    uint64_t id = bytes_varint(&d->in);

    return (HANDLE)(uintptr_t)id; /* an event's number: its user looks it up */
}

void dec_iid(struct dec *d, GUID *out)
{
    uint64_t v = bytes_varint(&d->in);

    if (!v)
        dec_guid(d, out);
    else if (v <= D12_NUM_IFACES)
        memcpy(out, &d12_ifaces[v - 1].iid, sizeof(*out));
    else
        dec_fail(d, "it names an interface that does not exist", 0);
}

void *dec_stream(struct dec *d, SIZE_T *size)
{
    uint64_t n = bytes_varint(&d->in);
    size_t pos = 0;
    char *out;

    if (!n)
        return NULL;
    if (--n > bytes_left(&d->in)) {
        dec_fail(d, "a pipeline stream is longer than the record", 0);
        return NULL;
    }
    out = dec_alloc(d, 1024, n + 1); /* no subobject is larger */
    for (uint64_t i = 0; out && i < n && !d->in.bad; i++) {
        uint32_t type = dec_u32(d);
        size_t at, start = (pos + sizeof(void *) - 1) & ~(sizeof(void *) - 1);

        if (!d12_is_subobject(type)) {
            dec_fail(d, "a pipeline stream holds an unknown subobject", type);
            break;
        }
        at = stream_place(&pos, type);
        memcpy(out + start, &type, sizeof(type));
        dec_stream_subobject(d, type, out + at);
    }
    *size = (pos + sizeof(void *) - 1) & ~(sizeof(void *) - 1);
    return out;
}
