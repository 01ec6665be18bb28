/* SPDX-License-Identifier: MIT */
#include "abi/stream.h"

#include <string.h>

#include "base/check.h"

/* ---- the validator's list: which fields of which packet hold enumerated values ---- */

struct check {
    uint16_t offset;
    uint8_t kind; /* enum aerogpu_kind; 0 ends the packet's rows */
    const struct abi_field *field;
};

enum { MAX_CHECKS = 160 };

static struct check checks[MAX_CHECKS];
static uint8_t first_check[ABI_NUM_PACKETS]; /* by row of abi_packets */
static uint64_t
    legal[AEROGPU_KIND_COUNT]; /* bit v: value v < 64 is legal; patch lists fill 33..63, and 64 is apart */

static bool is_checked(uint8_t kind)
{
    const struct abi_enum_desc *d = abi_enum((enum aerogpu_kind)kind);

    return kind == AEROGPU_KIND_FORMAT || (d && !d->flags && kind != AEROGPU_KIND_SHADER_STAGE_EX);
}

/* A constructor of default priority: packets.c has placed the fields in an earlier one. */
__attribute__((constructor)) static void build_checks(void)
{
    uint32_t n = 1;

    for (int k = 0; k < AEROGPU_KIND_COUNT; k++) {
        const struct abi_enum_desc *d = abi_enum((enum aerogpu_kind)k);
        for (uint32_t i = 0; d && i < d->count; i++)
            if (d->values[i].value < 64)
                legal[k] |= UINT64_C(1) << d->values[i].value;
    }
    for (uint32_t p = 0; p < ABI_NUM_PACKETS; p++) {
        uint32_t first = n;
        for (uint32_t i = 0; i < abi_packets[p].num_fields; i++) {
            const struct abi_field *f = &abi_packets[p].fields[i];
            if (is_checked(f->kind) && n < MAX_CHECKS - 1)
                checks[n++] = (struct check){.offset = f->offset, .kind = f->kind, .field = f};
        }
        INVARIANT(n < MAX_CHECKS - 1 && first <= UINT8_MAX); /* each field has its row */
        if (n > first) {
            first_check[p] = (uint8_t)first;
            n++; /* a zero row ends it */
        }
    }
}

static bool is_legal(uint8_t kind, uint32_t v)
{
    if (kind == AEROGPU_KIND_FORMAT)
        return abi_value_name(AEROGPU_KIND_FORMAT, v) != NULL;
    if (v < 64)
        return legal[kind] >> v & 1;
    return v == AEROGPU_TOPOLOGY_PATCHLIST_32 && kind == AEROGPU_KIND_TOPOLOGY;
}

static int check_fields(const struct abi_packet *p, struct error *e)
{
    const struct check *c = &checks[first_check[p->desc - abi_packets]];

    for (; c->kind; c++) {
        uint32_t v;
        memcpy(&v, p->data + c->offset, sizeof(v));
        if (!is_legal(c->kind, v))
            return error_set(e, -EBADMSG,
                             "packet %u at offset 0x%x: %s: %s is %u, which is none that the ABI defines",
                             p->index, p->offset, p->desc->name, c->field->name, v);
    }
    return 0;
}

/* ---- stage_ex ------------------------------------------------------------ */

static int check_stage_ex(const struct abi_stream *s, const struct abi_packet *p, struct error *e)
{
    uint32_t stage, ex;

    if (s->minor < AEROGPU_STAGE_EX_MIN_ABI_MINOR || !p->desc->stage || !p->desc->stage_ex)
        return 0;
    stage = abi_packet_u32(p, p->desc->stage);
    ex = abi_packet_u32(p, p->desc->stage_ex);
    if (stage != AEROGPU_SHADER_STAGE_COMPUTE || !ex || (ex >= 2 && ex <= 5))
        return 0;
    return error_set(e, -EBADMSG, "packet %u at offset 0x%x: %s: stage_ex is %u, which names no stage",
                     p->index, p->offset, p->desc->name, ex);
}

enum abi_program abi_stage(const struct abi_stream *s, uint32_t stage, uint32_t stage_ex)
{
    switch (stage) {
    case AEROGPU_SHADER_STAGE_VERTEX:
        return ABI_VS;
    case AEROGPU_SHADER_STAGE_PIXEL:
        return ABI_PS;
    case AEROGPU_SHADER_STAGE_GEOMETRY:
        return ABI_GS;
    default:
        if (s->minor < AEROGPU_STAGE_EX_MIN_ABI_MINOR || !stage_ex)
            return ABI_CS;
        return (enum abi_program)stage_ex;
    }
}

enum abi_program abi_packet_stage(const struct abi_stream *s, const struct abi_packet *p)
{
    return abi_stage(s, abi_packet_u32(p, p->desc->stage),
                     p->desc->stage_ex ? abi_packet_u32(p, p->desc->stage_ex) : 0);
}

/* ---- the walk ------------------------------------------------------------ */

static int fail(struct abi_stream *s)
{
    s->pos = s->size;
    return -EBADMSG;
}

int abi_stream_open(struct abi_stream *s, const void *data, uint64_t size, struct error *e)
{
    struct aerogpu_cmd_stream_header h;

    *s = (struct abi_stream){.data = data};
    if (size < sizeof(h))
        return error_set(e, -EBADMSG, "command stream of %llu bytes is shorter than its 24-byte header",
                         (unsigned long long)size);
    memcpy(&h, data, sizeof(h));
    if (h.magic != AEROGPU_CMD_STREAM_MAGIC)
        return error_set(e, -EBADMSG, "command stream: magic is 0x%08x, not 0x%08x (\"ACMD\")", h.magic,
                         AEROGPU_CMD_STREAM_MAGIC);
    if (AEROGPU_ABI_VERSION_MAJOR(h.abi_version) != AEROGPU_ABI_MAJOR)
        return error_set(e, -EBADMSG, "command stream: ABI major version %u, this device speaks %u",
                         AEROGPU_ABI_VERSION_MAJOR(h.abi_version), AEROGPU_ABI_MAJOR);
    if (h.size_bytes < sizeof(h) || h.size_bytes > size || h.size_bytes % 4)
        return error_set(
            e, -EBADMSG,
            "command stream: size_bytes is %u, not a multiple of 4 from 24 to the %llu bytes given",
            h.size_bytes, (unsigned long long)size);
    s->size = h.size_bytes;
    s->pos = sizeof(h);
    s->minor = AEROGPU_ABI_VERSION_MINOR(h.abi_version);
    return 0;
}

/* Where the tail is and how long; p->desc is set and the packet is at least as long as its fixed part. */
static int find_tail(struct abi_packet *p, struct error *e)
{
    const struct abi_packet_desc *d = p->desc;
    uint32_t room = p->size - d->size;
    uint64_t count;

    p->tail = p->data + d->size;
    p->tail_size = p->tail_count = 0;
    p->elem_size = d->elem_size;
    if (d->tail == AEROGPU_TAIL_NONE)
        return 0;
    if (!d->count_size) {
        p->tail_size = room;
        if (d->tail == AEROGPU_TAIL_BIND)
            p->tail_size = room >= 12 ? 12 : 0;
        p->tail_count = p->tail_size / d->elem_size;
        return 0;
    }
    if (d->count_size == 8) {
        memcpy(&count, p->data + d->count_offset, 8);
    } else {
        uint32_t count32;
        memcpy(&count32, p->data + d->count_offset, 4);
        count = count32;
    }
    /* The ABI gives a bool register four lanes, its known producers write one: what is too small for the former is the latter. */
    if (p->opcode == AEROGPU_CMD_SET_SHADER_CONSTANTS_B && count > room / d->elem_size && count <= room / 4)
        p->elem_size = 4;
    if (count > room / p->elem_size)
        return error_set(e, -EBADMSG,
                         "packet %u at offset 0x%x: %s: %llu elements of %u bytes do not fit its %u bytes",
                         p->index, p->offset, d->name, (unsigned long long)count, d->elem_size, p->size);
    p->tail_count = (uint32_t)count;
    p->tail_size = (uint32_t)count * p->elem_size;
    return 0;
}

/* Invariant 5. */
static void widen_blend(struct abi_stream *s, struct abi_packet *p)
{
    struct aerogpu_cmd_set_blend_state *w = &s->widened;
    const uint32_t one = 0x3F800000;

    memcpy(w, p->data, offsetof(struct aerogpu_cmd_set_blend_state, src_factor_alpha));
    w->src_factor_alpha = w->src_factor;
    w->dst_factor_alpha = w->dst_factor;
    w->blend_op_alpha = w->blend_op;
    for (int i = 0; i < 4; i++)
        w->blend_constant_rgba[i] = one;
    w->sample_mask = UINT32_MAX;
    memcpy(w, p->data, p->size);
    p->data = (const uint8_t *)w;
}

/* Invariant 1. */
static void packet_check(const struct abi_stream *s, const struct abi_packet *p)
{
    INVARIANT(p->offset == s->pos && p->size >= sizeof(struct aerogpu_cmd_hdr));
    INVARIANT(p->size <= s->size - s->pos);
    INVARIANT(!p->tail_size || p->tail_size <= p->size - p->desc->size);
}

int abi_stream_next(struct abi_stream *s, struct abi_packet *p, struct error *e)
{
    struct aerogpu_cmd_hdr h;
    uint32_t left = s->size - s->pos;

    INVARIANT(s->pos <= s->size);
    if (!left)
        return 0;
    if (left < sizeof(h)) {
        error_set(e, -EBADMSG, "packet %u at offset 0x%x: only %u bytes are left for its 8-byte header",
                  s->index, s->pos, left);
        return fail(s);
    }
    memcpy(&h, s->data + s->pos, sizeof(h));
    *p = (struct abi_packet){.data = s->data + s->pos,
                             .opcode = h.opcode,
                             .size = h.size_bytes,
                             .offset = s->pos,
                             .index = s->index};
    if (h.size_bytes < sizeof(h) || h.size_bytes % 4 || h.size_bytes > left) {
        error_set(e, -EBADMSG,
                  "packet %u at offset 0x%x: opcode 0x%x: size_bytes is %u, not a multiple of 4 from 8 to %u",
                  s->index, s->pos, h.opcode, h.size_bytes, left);
        return fail(s);
    }
    p->desc = abi_packet_find(h.opcode);
    if (p->desc) {
        if (h.size_bytes < p->desc->size) {
            if (h.opcode != AEROGPU_CMD_SET_BLEND_STATE ||
                h.size_bytes < offsetof(struct aerogpu_cmd_set_blend_state, src_factor_alpha)) {
                error_set(e, -EBADMSG,
                          "packet %u at offset 0x%x: %s: size_bytes is %u, at least %u is needed", s->index,
                          s->pos, p->desc->name, h.size_bytes, p->desc->size);
                return fail(s);
            }
            widen_blend(s, p);
        }
        if ((p->desc->tail && find_tail(p, e)) || check_fields(p, e) || check_stage_ex(s, p, e))
            return fail(s);
    }
    packet_check(s, p);
    s->pos += h.size_bytes;
    s->index++;
    return 1;
}
