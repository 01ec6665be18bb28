/* SPDX-License-Identifier: MIT */
#include "d3d12/view/state.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "record/varint.h"
#include "record/show.h"
#include "d3d12/gen/table.h"
#include "record/walk.h"
#include "d3d12_api.h"

struct piece {
    uint32_t list;
    uint16_t method;
    uint64_t slot; /* first argument of methods that set one of several */
    uint64_t call;
    char *text;
};

struct pieces {
    struct piece *p;
    size_t num, cap;
};

static bool starts(const char *s, const char *with)
{
    return !strncmp(s, with, strlen(with));
}

static bool sets_state(const char *name)
{
    return starts(name, "Set")
               ? !starts(name, "SetMarker") && !starts(name, "SetName") && !starts(name, "SetPrivate")
               : starts(name, "IASet") || starts(name, "RSSet") || starts(name, "OMSet") ||
                     starts(name, "SOSet");
}

/* Root parameters and buffer slots are pieces of state of their own; table, view and constants replace each other. */
static uint64_t slot_of(const struct trc_call *c)
{
    const struct api_method *m = c->m;
    struct bytes in = bytes_of(c->args, c->size);

    if (m->num_in && (!strcmp(m->in[0].name, "RootParameterIndex") || !strcmp(m->in[0].name, "StartSlot")))
        return bytes_varint(&in);
    return UINT64_MAX;
}

static bool same_piece(const struct piece *p, const struct trc_call *c, uint64_t slot)
{
    const char *a = d12_methods[p->method].name, *b = c->m->name;

    if (p->list != c->self || p->slot != slot)
        return false;
    if (p->method == c->method)
        return true;
    return slot != UINT64_MAX && starts(a, "SetGraphicsRoot") == starts(b, "SetGraphicsRoot") &&
           starts(a, "SetComputeRoot") == starts(b, "SetComputeRoot") && strstr(a, "Root") &&
           strstr(b, "Root");
}

static void forget(struct pieces *s, uint32_t list, const char *method)
{
    for (size_t i = 0; i < s->num;) {
        const char *name = d12_methods[s->p[i].method].name;

        /* a new root signature ends what was bound through the old one */
        if (s->p[i].list == list && (!method || (s->p[i].slot != UINT64_MAX && starts(name, method)))) {
            free(s->p[i].text);
            s->p[i] = s->p[--s->num];
        } else {
            i++;
        }
    }
}

static int remember(struct pieces *s, struct trc *t, const struct trc_call *c, const struct names *names)
{
    uint64_t slot = slot_of(c);
    struct strbuf b = {0};
    struct piece *p = NULL;

    for (size_t i = 0; i < s->num && !p; i++)
        if (same_piece(&s->p[i], c, slot))
            p = &s->p[i];
    if (!p) {
        if (s->num == s->cap) {
            size_t cap = s->cap ? 2 * s->cap : 64;
            void *grown = realloc(s->p, cap * sizeof(*s->p));

            if (!grown)
                return -ENOMEM;
            s->p = grown;
            s->cap = cap;
        }
        p = &s->p[s->num++];
        p->text = NULL;
    }
    show_call(&b, SHOW_TEXT, t, c, names);
    free(p->text);
    *p = (struct piece){.list = c->self, .method = c->method, .slot = slot, .call = c->index, .text = b.data};
    return b.data ? 0 : -ENOMEM;
}

static int by_method(const void *a, const void *b)
{
    const struct piece *x = a, *y = b;

    if (x->method != y->method)
        return x->method < y->method ? -1 : 1;
    return x->slot < y->slot ? -1 : x->slot > y->slot;
}

static void follow(struct pieces *s, struct trc *t, const struct trc_call *c, const struct names *names,
                   int *err)
{
    const struct api_method *m = c->m;

    if (!starts(m->iface, "ID3D12GraphicsCommandList"))
        return;
    if (c->method == D12_ID3D12GraphicsCommandList_Reset ||
        c->method == D12_ID3D12GraphicsCommandList_ClearState) {
        forget(s, c->self, NULL);
        *err = remember(s, t, c, names); /* it names the first pipeline */
        return;
    }
    if (c->method == D12_ID3D12GraphicsCommandList_SetGraphicsRootSignature)
        forget(s, c->self, "SetGraphicsRoot");
    if (c->method == D12_ID3D12GraphicsCommandList_SetComputeRootSignature)
        forget(s, c->self, "SetComputeRoot");
    if (sets_state(m->name))
        *err = remember(s, t, c, names);
}

int state_at(struct strbuf *out, struct trc *t, const struct names *names, uint64_t index, struct error *e)
{
    struct pieces s = {0};
    struct trc_call c;
    int got, err = 0;

    trc_rewind(t);
    while ((got = trc_next(t, &c, e)) > 0 && c.index < index && !err)
        follow(&s, t, &c, names, &err);
    if (got < 0)
        err = got;
    else if (!err && (got <= 0 || !starts(c.m->iface, "ID3D12GraphicsCommandList")))
        err = error_set(e, -ENOENT, "call %llu is no call on a command list", (unsigned long long)index);
    if (!err) {
        show_call(out, SHOW_TEXT, t, &c, names);
        strbuf_puts(out, "\nis recorded with:\n");
        if (s.num)
            qsort(s.p, s.num, sizeof(*s.p), by_method);
        for (size_t i = 0; i < s.num; i++)
            if (s.p[i].list == c.self)
                strbuf_printf(out, "  %s\n", s.p[i].text);
    }
    for (size_t i = 0; i < s.num; i++)
        free(s.p[i].text);
    free(s.p);
    trc_rewind(t);
    return err;
}

struct fence {
    uint32_t id;
    uint64_t queue, cpu, read;
    bool by_queue, by_cpu, was_read;
};

static struct fence *fence_of(struct fence **f, size_t *num, uint32_t id)
{
    struct fence *p;

    for (size_t i = 0; i < *num; i++)
        if ((*f)[i].id == id)
            return &(*f)[i];
    if ((*num & (*num - 1)) == 0) {
        p = realloc(*f, (*num ? 2 * *num : 1) * sizeof(*p));
        if (!p)
            return NULL;
        *f = p;
    }
    p = &(*f)[(*num)++];
    *p = (struct fence){.id = id};
    return p;
}

int fences_at(struct strbuf *out, struct trc *t, const struct names *names, uint64_t index, struct error *e)
{
    struct fence *f = NULL;
    size_t num = 0;
    struct trc_call c;
    int got;

    trc_rewind(t);
    while ((got = trc_next(t, &c, e)) > 0 && c.index <= index) {
        struct bytes in = bytes_of(c.args, c.size);
        struct fence *p;

        if (c.method == D12_ID3D12CommandQueue_Signal) {
            if ((p = fence_of(&f, &num, (uint32_t)bytes_varint(&in)))) {
                p->queue = bytes_varint(&in);
                p->by_queue = true;
            }
        } else if (c.method == D12_ID3D12Fence_Signal) {
            if ((p = fence_of(&f, &num, c.self))) {
                p->cpu = bytes_varint(&in);
                p->by_cpu = true;
            }
        } else if (c.method == D12_ID3D12Fence_GetCompletedValue && !c.incomplete) {
            if ((p = fence_of(&f, &num, c.self))) {
                p->read = bytes_varint(&in);
                p->was_read = true;
            }
        }
    }
    for (size_t i = 0; i < num; i++) {
        const struct name *n = names_get(names, f[i].id);

        strbuf_printf(out, "Fence#%u%s%s:", f[i].id, n && n->text ? " " : "", n && n->text ? n->text : "");
        if (f[i].by_queue)
            strbuf_printf(out, " a queue was told to signal %llu", (unsigned long long)f[i].queue);
        if (f[i].by_cpu)
            strbuf_printf(out, "%s the CPU signalled %llu", f[i].by_queue ? "," : "",
                          (unsigned long long)f[i].cpu);
        if (f[i].was_read)
            strbuf_printf(out, "%s last read as %llu", f[i].by_queue || f[i].by_cpu ? "," : "",
                          (unsigned long long)f[i].read);
        strbuf_puts(out, "\n");
    }
    free(f);
    trc_rewind(t);
    return got < 0 ? got : 0;
}
