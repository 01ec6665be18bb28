/* SPDX-License-Identifier: MIT */
/* explain.c: see explain.h. The processors' manuals: which instructions are privileged, which interrupts a program may ask for, and that
 * operands of vector instructions are aligned. */
#include "dxgkrnl/image/explain.h"

#if defined(__x86_64__)

#include <stdio.h>

enum { REX_B = 1, REX_X = 2, REX_R = 4 };
enum { MAP_ONE, MAP_0F, MAP_0F38, MAP_0F3A };
enum { FAST_FAIL = 0x29, ASSERTION = 0x2C };

struct decoded {
    const uint8_t *code;
    size_t size, at;
    unsigned map, opcode, rex;
    bool vector; /* VEX */
    unsigned segment;
};

static uint8_t next(struct decoded *d)
{
    return d->at < d->size ? d->code[d->at++] : 0;
}

static int32_t number(struct decoded *d, unsigned bytes)
{
    uint32_t v = 0;

    for (unsigned i = 0; i < bytes; i++)
        v |= (uint32_t)next(d) << 8 * i;
    return bytes == 1 ? (int8_t)v : (int32_t)v;
}

static void decode(struct decoded *d)
{
    uint8_t b = next(d);

    while (b == 0x66 || b == 0xF2 || b == 0xF3 || b == 0xF0 || b == 0x2E || b == 0x36 || b == 0x3E ||
           b == 0x26 || b == 0x64 || b == 0x65) {
        if (b == 0x64 || b == 0x65)
            d->segment = b;
        b = next(d);
    }
    if ((b & 0xF0) == 0x40) {
        d->rex = b & 15;
        b = next(d);
    }
    if (b == 0xC5 || b == 0xC4) {
        uint8_t first = next(d);
        d->vector = true;
        if (b == 0xC4) /* R, X and B stand in this order from the top */
            d->rex = (first & 0x80 ? 0 : REX_R) | (first & 0x40 ? 0 : REX_X) | (first & 0x20 ? 0 : REX_B);
        else
            d->rex = first & 0x80 ? 0 : REX_R;
        d->map = b == 0xC4 ? first & 3 : MAP_0F;
        if (b == 0xC4)
            next(d);
        d->opcode = next(d);
        return;
    }
    if (b == 0x0F) {
        d->map = MAP_0F;
        b = next(d);
        if (b == 0x38 || b == 0x3A) {
            d->map = b == 0x38 ? MAP_0F38 : MAP_0F3A;
            b = next(d);
        }
    }
    d->opcode = b;
}

static uint64_t reg(const ucontext_t *uc, unsigned n)
{
    static const int of[16] = {REG_RAX, REG_RCX, REG_RDX, REG_RBX, REG_RSP, REG_RBP, REG_RSI, REG_RDI,
                               REG_R8,  REG_R9,  REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15};

    return (uint64_t)uc->uc_mcontext.gregs[of[n & 15]];
}

/* The address of the memory operand. False: it has none, or one that is not known. */
static bool operand(struct decoded *d, const ucontext_t *uc, unsigned behind, uint64_t *address)
{
    uint8_t m = next(d), mod = m >> 6, low = m & 7;
    uint64_t base;

    if (mod == 3 || d->segment)
        return false;
    if (low == 4) {
        uint8_t sib = next(d);
        unsigned index = (sib >> 3 & 7) | (d->rex & REX_X ? 8 : 0);
        base = (sib & 7) == 5 && !mod ? (uint64_t)(int64_t)number(d, 4)
                                      : reg(uc, (sib & 7) | (d->rex & REX_B ? 8 : 0));
        if (index != 4)
            base += reg(uc, index) << (sib >> 6);
    } else if (low == 5 && !mod) {
        base = (uint64_t)(int64_t)number(d, 4);
        base += (uint64_t)uc->uc_mcontext.gregs[REG_RIP] + d->at + behind;
    } else {
        base = reg(uc, low | (d->rex & REX_B ? 8 : 0));
    }
    *address = base + (uint64_t)(int64_t)(mod == 1 ? number(d, 1) : mod == 2 ? number(d, 4) : 0);
    return d->at <= d->size;
}

static const char *privileged(const struct decoded *d)
{
    static const struct {
        uint8_t map, first, last;
        const char *name;
    } list[] = {
        {MAP_ONE, 0x6C, 0x6F, "INS or OUTS"},
        {MAP_ONE, 0xE4, 0xE5, "IN"},
        {MAP_ONE, 0xE6, 0xE7, "OUT"},
        {MAP_ONE, 0xEC, 0xED, "IN"},
        {MAP_ONE, 0xEE, 0xEF, "OUT"},
        {MAP_ONE, 0xF4, 0xF4, "HLT"},
        {MAP_ONE, 0xFA, 0xFA, "CLI"},
        {MAP_ONE, 0xFB, 0xFB, "STI"},
        {MAP_0F, 0x00, 0x00, "LLDT, LTR or one of their group"},
        {MAP_0F, 0x01, 0x01, "LGDT, LIDT, INVLPG, SWAPGS or one of their group"},
        {MAP_0F, 0x06, 0x06, "CLTS"},
        {MAP_0F, 0x08, 0x08, "INVD"},
        {MAP_0F, 0x09, 0x09, "WBINVD"},
        {MAP_0F, 0x20, 0x20, "a read of a control register"},
        {MAP_0F, 0x21, 0x21, "a read of a debug register"},
        {MAP_0F, 0x22, 0x22, "a write of a control register"},
        {MAP_0F, 0x23, 0x23, "a write of a debug register"},
        {MAP_0F, 0x30, 0x30, "WRMSR"},
        {MAP_0F, 0x32, 0x32, "RDMSR"},
        {MAP_0F, 0x33, 0x33, "RDPMC"},
        {MAP_0F, 0x35, 0x35, "SYSEXIT"},
        {MAP_0F, 0x07, 0x07, "SYSRET"},
    };

    for (size_t i = 0; i < sizeof(list) / sizeof(list[0]) && !d->vector; i++)
        if (d->map == list[i].map && d->opcode >= list[i].first && d->opcode <= list[i].last)
            return list[i].name;
    return NULL;
}

/* FAST_FAIL_* of winnt.h. */
static const char *fast_fail(uint64_t code)
{
    static const char *const names[] = {
        [0] = "a stack cookie",
        [1] = "a virtual table",
        [2] = "a stack cookie",
        [3] = "a list entry",
        [4] = "a stack pointer",
        [5] = "an argument",
        [6] = "the stack cookie's start",
        [7] = "a fatal exit",
        [8] = "a range",
        [9] = "a registry access",
        [10] = "an indirect call",
    };

    return code < sizeof(names) / sizeof(names[0]) ? names[code] : "unknown";
}

static bool takes_immediate(const struct decoded *d)
{
    return d->map == MAP_0F3A || (d->map == MAP_0F && (d->opcode == 0xC2 || d->opcode == 0xC6 ||
                                                       (d->opcode >= 0x70 && d->opcode <= 0x73)));
}

static bool loads_segment(const struct decoded *d)
{
    return d->map == MAP_ONE
               ? d->opcode == 0x8E || d->opcode == 0xCA || d->opcode == 0xCB || d->opcode == 0xCF
               : d->map == MAP_0F && (d->opcode == 0xA1 || d->opcode == 0xA9 || d->opcode == 0xB2 ||
                                      d->opcode == 0xB4 || d->opcode == 0xB5);
}

bool dxgk_image_explain(const ucontext_t *uc, const uint8_t *code, size_t size, char *text, size_t room)
{
    struct decoded d = {.code = code, .size = size};
    const char *name;
    uint64_t address;

    decode(&d);
    name = privileged(&d);
    if (name) {
        snprintf(text, room, "a privileged instruction, %s,", name);
        return true;
    }
    if (d.map == MAP_ONE && d.opcode == 0xCD) {
        uint8_t n = next(&d);
        if (n == ASSERTION)
            snprintf(text, room, "a failed assertion (INT 2Ch)");
        else if (n == FAST_FAIL)
            snprintf(text, room, "a fast fail, code %u (%s),", (unsigned)reg(uc, 1), fast_fail(reg(uc, 1)));
        else
            snprintf(text, room, "an interrupt that nobody handles, INT %02Xh,", n);
        return true;
    }
    if (loads_segment(&d)) {
        snprintf(text, room, "a value that a segment register cannot have");
        return true;
    }
    if (d.map == MAP_ONE || !operand(&d, uc, takes_immediate(&d), &address))
        return false; /* what is general has no alignment */
    if ((uint64_t)((int64_t)(address << 16) >> 16) != address || !(address & 15))
        return false;
    snprintf(text, room, "a misaligned access to %#llx by a vector instruction", (unsigned long long)address);
    return true;
}

#endif
