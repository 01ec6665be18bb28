/* SPDX-License-Identifier: MIT */
#include "d3d12/view/indirect.h"

#include <stdio.h>
#include <string.h>

#include "base/json_write.h"
#include "d3d12/gen/table.h"
#include "d3d12_api.h"
#include "record/varint.h"
#include "record/walk.h"

enum { MAX_ARGUMENTS = 32, MAX_CONSTANTS = 64 };

struct argument {
    uint32_t type, slot, offset,
        constants; /* slot: of vertex buffers, or the root parameter; offset: in 32 bit values */
};

struct signature {
    uint64_t stride;
    struct argument of[MAX_ARGUMENTS];
    size_t num;
};

/* ---- the command signature ------------------------------------------------ */

static void on_value(void *ctx, const struct api_field *f, const char *name, const struct walk_value *v)
{
    struct signature *s = ctx;
    struct argument *now = s->num ? &s->of[s->num - 1] : NULL;

    if (!v->type || !name)
        return;
    if (!strcmp(name, "ByteStride"))
        s->stride = v->u;
    else if (!strcmp(name, "Type") && s->num < MAX_ARGUMENTS)
        s->of[s->num++] = (struct argument){.type = (uint32_t)v->u};
    else if (now && (!strcmp(name, "Slot") || !strcmp(name, "RootParameterIndex")))
        now->slot = (uint32_t)v->u;
    else if (now && !strcmp(name, "DestOffsetIn32BitValues"))
        now->offset = (uint32_t)v->u;
    else if (now && !strcmp(name, "Num32BitValuesToSet"))
        now->constants = (uint32_t)v->u;
}

struct layout { /* of an argument */
    const char *name;
    uint32_t size;
    const char *fields[6]; /* of 4 bytes each; the first of 8 where it is an address */
    bool is_address;
};

static const struct layout layouts[] = {
    [D3D12_INDIRECT_ARGUMENT_TYPE_DRAW] = {"DRAW",
                                           16,
                                           {"VertexCountPerInstance", "InstanceCount", "StartVertexLocation",
                                            "StartInstanceLocation"},
                                           false},
    [D3D12_INDIRECT_ARGUMENT_TYPE_DRAW_INDEXED] = {"DRAW_INDEXED",
                                                   20,
                                                   {"IndexCountPerInstance", "InstanceCount",
                                                    "StartIndexLocation", "BaseVertexLocation",
                                                    "StartInstanceLocation"},
                                                   false},
    [D3D12_INDIRECT_ARGUMENT_TYPE_DISPATCH] =
        {"DISPATCH", 12, {"ThreadGroupCountX", "ThreadGroupCountY", "ThreadGroupCountZ"}, false},
    [D3D12_INDIRECT_ARGUMENT_TYPE_VERTEX_BUFFER_VIEW] = {"VERTEX_BUFFER_VIEW",
                                                         16,
                                                         {"BufferLocation", "SizeInBytes", "StrideInBytes"},
                                                         true},
    [D3D12_INDIRECT_ARGUMENT_TYPE_INDEX_BUFFER_VIEW] = {"INDEX_BUFFER_VIEW",
                                                        16,
                                                        {"BufferLocation", "SizeInBytes", "Format"},
                                                        true},
    [D3D12_INDIRECT_ARGUMENT_TYPE_CONSTANT] = {"CONSTANT", 0, {NULL}, false},
    [D3D12_INDIRECT_ARGUMENT_TYPE_CONSTANT_BUFFER_VIEW] = {"CONSTANT_BUFFER_VIEW",
                                                           8,
                                                           {"BufferLocation"},
                                                           true},
    [D3D12_INDIRECT_ARGUMENT_TYPE_SHADER_RESOURCE_VIEW] = {"SHADER_RESOURCE_VIEW",
                                                           8,
                                                           {"BufferLocation"},
                                                           true},
    [D3D12_INDIRECT_ARGUMENT_TYPE_UNORDERED_ACCESS_VIEW] = {"UNORDERED_ACCESS_VIEW",
                                                            8,
                                                            {"BufferLocation"},
                                                            true},
    [D3D12_INDIRECT_ARGUMENT_TYPE_DISPATCH_RAYS] = {"DISPATCH_RAYS", 104, {NULL}, false},
    [D3D12_INDIRECT_ARGUMENT_TYPE_DISPATCH_MESH] =
        {"DISPATCH_MESH", 12, {"ThreadGroupCountX", "ThreadGroupCountY", "ThreadGroupCountZ"}, false},
};

static const struct layout *layout_of(const struct argument *a)
{
    static const struct layout none = {"?", 0, {NULL}, false};

    return a->type < sizeof(layouts) / sizeof(*layouts) && layouts[a->type].name ? &layouts[a->type] : &none;
}

static uint32_t size_of(const struct argument *a)
{
    return a->type == D3D12_INDIRECT_ARGUMENT_TYPE_CONSTANT ? 4 * a->constants : layout_of(a)->size;
}

static uint64_t word_at(const uint8_t *p, bool wide)
{
    uint64_t v = 0;

    memcpy(&v, p, wide ? 8 : 4);
    return v;
}

/* ---- a command ------------------------------------------------------------ */

static void argument_text(struct strbuf *out, const struct argument *a, const uint8_t *p)
{
    const struct layout *l = layout_of(a);
    uint32_t at = 0;

    strbuf_printf(out, " %s", l->name);
    if (a->type == D3D12_INDIRECT_ARGUMENT_TYPE_VERTEX_BUFFER_VIEW)
        strbuf_printf(out, " of slot %u", a->slot);
    else if (a->type >= D3D12_INDIRECT_ARGUMENT_TYPE_CONSTANT &&
             a->type <= D3D12_INDIRECT_ARGUMENT_TYPE_UNORDERED_ACCESS_VIEW)
        strbuf_printf(out, " of root parameter %u", a->slot);
    if (!p) {
        strbuf_puts(out, " ?");
        return;
    }
    for (uint32_t i = 0; i < 6 && l->fields[i]; i++) {
        bool wide = l->is_address && !i;

        strbuf_printf(out, wide ? " %s=0x%llx" : " %s=%llu", l->fields[i],
                      (unsigned long long)word_at(p + at, wide));
        at += wide ? 8 : 4;
    }
    for (uint32_t i = 0; i < a->constants && i < MAX_CONSTANTS; i++)
        strbuf_printf(out, " 0x%llx", (unsigned long long)word_at(p + (size_t)4 * i, false));
}

static void argument_json(struct json_writer *w, const struct argument *a, const uint8_t *p)
{
    const struct layout *l = layout_of(a);
    uint32_t at = 0;

    json_write_object(w, NULL);
    json_write_string(w, "type", l->name);
    if (a->type == D3D12_INDIRECT_ARGUMENT_TYPE_VERTEX_BUFFER_VIEW)
        json_write_unsigned(w, "slot", a->slot);
    else if (a->type >= D3D12_INDIRECT_ARGUMENT_TYPE_CONSTANT &&
             a->type <= D3D12_INDIRECT_ARGUMENT_TYPE_UNORDERED_ACCESS_VIEW)
        json_write_unsigned(w, "root_parameter", a->slot);
    if (!p) {
        json_write_null(w, "values");
    } else if (a->type == D3D12_INDIRECT_ARGUMENT_TYPE_CONSTANT) {
        json_write_unsigned(w, "first", a->offset);
        json_write_array(w, "values");
        for (uint32_t i = 0; i < a->constants && i < MAX_CONSTANTS; i++)
            json_write_unsigned(w, NULL, word_at(p + (size_t)4 * i, false));
        json_write_end(w);
    } else {
        json_write_object(w, "values");
        for (uint32_t i = 0; i < 6 && l->fields[i]; i++) {
            bool wide = l->is_address && !i;

            json_write_unsigned(w, l->fields[i], word_at(p + at, wide));
            at += wide ? 8 : 4;
        }
        json_write_end(w);
    }
    json_write_end(w);
}

struct commands {
    uint64_t most, num, resource, at; /* num: as counted, or `most` */
    bool counted;
};

/* `p`: its arguments, or NULL. */
static void show_command(struct strbuf *out, enum show_form form, const struct signature *s,
                         const struct commands *n, uint64_t i, const uint8_t *p)
{
    struct json_writer w = json_writer_text(out);
    uint32_t at = 0;

    if (form == SHOW_JSON) {
        json_write_object(&w, NULL);
        json_write_string(&w, "role", "arguments");
        json_write_unsigned(&w, "command", i);
        json_write_unsigned(&w, "commands", n->num);
        json_write_bool(&w, "counted", n->counted);
        json_write_unsigned(&w, "resource", n->resource);
        json_write_unsigned(&w, "offset", n->at + i * s->stride);
        json_write_array(&w, "arguments");
    } else {
        strbuf_printf(out, "    command %llu of %s%llu, resource %llu at byte %llu:", (unsigned long long)i,
                      n->counted ? "" : "at most ", (unsigned long long)n->num,
                      (unsigned long long)n->resource, (unsigned long long)(n->at + i * s->stride));
    }
    for (size_t k = 0; k < s->num; k++) {
        if (form == SHOW_JSON)
            argument_json(&w, &s->of[k], p ? p + at : NULL);
        else
            argument_text(out, &s->of[k], p ? p + at : NULL);
        at += size_of(&s->of[k]);
    }
    if (form == SHOW_JSON) {
        json_write_end(&w);
        json_write_end(&w);
    }
    strbuf_puts(out, "\n");
}

/* The draw or dispatch of a command, with arguments as a recorded call has them. */
static void as_call(const struct signature *s, const uint8_t *p, struct indirect *first)
{
    const bool indexed = s->of[s->num - 1].type == D3D12_INDIRECT_ARGUMENT_TYPE_DRAW_INDEXED;
    uint32_t at = 0;
    uint8_t *to = first->room;

    if (s->of[s->num - 1].type > D3D12_INDIRECT_ARGUMENT_TYPE_DRAW_INDEXED)
        return;
    for (size_t k = 0; k + 1 < s->num; k++)
        at += size_of(&s->of[k]);
    for (unsigned i = 0; i < (indexed ? 5 : 4); i++) {
        uint32_t v = (uint32_t)word_at(p + at + (size_t)4 * i, false);

        to = varint_put(to, indexed && i == 3 ? zigzag((int32_t)v) : v);
    }
    first->method = indexed ? D12_ID3D12GraphicsCommandList_DrawIndexedInstanced
                            : D12_ID3D12GraphicsCommandList_DrawInstanced;
    first->args = first->room;
    first->args_size = (size_t)(to - first->room);
}

void indirect_show(struct strbuf *out, const struct inside *x, struct indirect *first)
{
    struct signature s = {0};
    const struct walk_visitor v = {.value = on_value, .ctx = &s};
    struct bytes in = bytes_of(x->args, x->args_size);
    const struct trc_call *made = inside_maker(x->defined, bytes_varint(&in));
    struct commands n = {.most = bytes_varint(&in)};
    uint64_t count_buffer, count_at, last;
    const uint8_t *p;
    uint32_t size = 0;
    size_t there;

    n.resource = bytes_varint(&in);
    n.at = bytes_varint(&in);
    count_buffer = bytes_varint(&in);
    count_at = bytes_varint(&in);
    if (in.bad || !made || made->method != D12_ID3D12Device_CreateCommandSignature)
        return;
    walk_args(made, &v);
    if (!s.num)
        return;
    for (size_t k = 0; k < s.num; k++)
        size += size_of(&s.of[k]);
    last = s.of[s.num - 1].type;
    first->compute = last == D3D12_INDIRECT_ARGUMENT_TYPE_DISPATCH;
    n.num = n.most;
    n.counted = !count_buffer;
    if (count_buffer && (p = contents_at(x->contents, count_buffer, count_at, &there)) && there >= 4) {
        uint64_t counted = word_at(p, false);

        n.counted = true;
        n.num = counted < n.most ? counted : n.most;
    }
    if (!n.num)
        show_command(out, x->form, &s, &n, 0, NULL);
    for (uint64_t i = 0; i < n.num && i < INDIRECT_COMMANDS; i++) {
        p = contents_at(x->contents, n.resource, n.at + i * s.stride, &there);
        if (p && there < size)
            p = NULL;
        show_command(out, x->form, &s, &n, i, p);
        if (!i && p)
            as_call(&s, p, first);
    }
}
