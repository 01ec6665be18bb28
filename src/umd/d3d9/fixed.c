/* SPDX-License-Identifier: MIT */
/* fixed.c: shaders of the driver's own: their tokens, and those of the fixed function by the state that they are for. */
#include <stdarg.h>
#include <stdlib.h>

#include "umd/d3d9/asm.h"
#include "umd/d3d9/umd9.h"

static void word(struct umd9_asm *a, uint32_t w)
{
    if (a->count < UMD9_ASM_WORDS)
        a->words[a->count++] = w;
}

void umd9_asm_begin(struct umd9_asm *a, bool pixel)
{
    a->count = 0;
    a->pixel = pixel;
    word(a, pixel ? 0xFFFF0200u : 0xFFFE0200u);
}

void umd9_asm_end(struct umd9_asm *a)
{
    word(a, 0xFFFF);
}

void umd9_op(struct umd9_asm *a, uint32_t opcode, uint32_t count, ...)
{
    va_list ap;

    word(a, opcode | count << 24);
    va_start(ap, count);
    for (uint32_t i = 0; i < count; i++)
        word(a, va_arg(ap, uint32_t));
    va_end(ap);
}

void umd9_asm_dcl(struct umd9_asm *a, uint32_t usage, uint32_t index, uint32_t dst)
{
    umd9_op(a, D3D9_DCL, 2, 0x80000000u | usage | index << 16, dst);
}

void umd9_asm_sampler(struct umd9_asm *a, uint32_t number, uint32_t texture_type)
{
    umd9_op(a, D3D9_DCL, 2, 0x80000000u | texture_type << 27, umd9_dst(umd9_reg(D3D9_SAMPLER, number), 15));
}

void umd9_asm_def(struct umd9_asm *a, uint32_t number, float x, float y, float z, float w)
{
    umd9_op(a, D3D9_DEF, 5, umd9_dst(umd9_const(number), 15), abi_f32(x), abi_f32(y), abi_f32(z), abi_f32(w));
}

uint32_t umd9_generated(struct umd9_device *d, struct umd9_generated **list, bool pixel, const void *key,
                        uint32_t size, void (*make)(struct umd9_asm *a, const void *key))
{
    struct umd9_asm *a;
    struct umd9_generated *g;

    for (struct umd9_generated **p = list; *p; p = &(*p)->next)
        if ((*p)->key_size == size && !memcmp((*p)->key, key, size)) {
            g = *p;
            *p = g->next; /* to the front: what was used last is used next */
            g->next = *list;
            *list = g;
            return g->name;
        }
    a = malloc(sizeof(*a));
    g = malloc(sizeof(*g) + size);
    if (!a || !g) {
        free(a);
        free(g);
        return 0;
    }
    umd9_asm_begin(a, pixel);
    make(a, key);
    umd9_asm_end(a);
    g->name = umd9_shader_emit(d, pixel, a->words, 4 * a->count);
    g->key_size = size;
    memcpy(g->key, key, size);
    g->next = *list;
    *list = g;
    free(a);
    return g->name;
}

void umd9_generated_finish(struct umd9_generated *list)
{
    for (struct umd9_generated *next; list; list = next) {
        next = list->next;
        free(list);
    }
}
