/* SPDX-License-Identifier: MIT */
/* emulate.c: see emulate.h. libzydis says what the operands are; nothing here knows what instructions compute. */
#include "dxgkrnl/image/emulate.h"

#if defined(__x86_64__)

#include <Zydis/Zydis.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>

enum { PAGE = 4096, SHADOW = 2 * PAGE, COPIES = 64, MOST_BYTES = 15, RCX = 1, RDX = 2, RSI = 6, RDI = 7 };
enum { HLT = 0xF4, DS = 0x3E, ZF = 1 << 6, DF = 1 << 10 };
enum { READ = ZYDIS_OPERAND_ACTION_MASK_READ, WRITE = ZYDIS_OPERAND_ACTION_MASK_WRITE };

static const int register_of[16] = {REG_RAX, REG_RCX, REG_RDX, REG_RBX, REG_RSP, REG_RBP, REG_RSI, REG_RDI,
                                    REG_R8,  REG_R9,  REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15};

struct decoded {
    ZydisDecodedInstruction i;
    ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
    uint8_t prefix[256]; /* whether this byte is one */
};

/* An operand that is on the bus. */
struct target {
    bool gs;
    unsigned actions;
    int base; /* RSI or RDI of a string instruction, else -1 */
    uint64_t address, bit_bytes;
    size_t size; /* of an element, if it is a string */
};

/* A copy under way. Behind `code` the two shadows lie. */
struct copy {
    _Atomic(pthread_t) owner; /* 0: free */
    struct target target[2];
    unsigned targets;
    uint64_t rip, next, registers[2], rcx, elements;
    bool repeated, until, until_zf; /* REP; REPE and REPNE of comparisons, and the ZF that ends them */
    unsigned size;                  /* of the code: HLT is behind it */
};

static struct copy copies[COPIES];
static _Atomic(uint8_t *) memory; /* of all of them */
enum { ROOM = PAGE + 2 * SHADOW };

static uint8_t *code_of(const struct copy *c)
{
    return atomic_load(&memory) + (size_t)(c - copies) * ROOM;
}

static uint8_t *shadow(const struct copy *c, unsigned n)
{
    return code_of(c) + PAGE + n * SHADOW + c->target[n].address % PAGE;
}

/* ---- copies -------------------------------------------------------------- */

static bool have_memory(void)
{
    uint8_t *none = NULL, *m;

    if (atomic_load(&memory))
        return true;
    m = mmap(NULL, (size_t)COPIES * ROOM, PROT_READ | PROT_WRITE | PROT_EXEC,
             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (m == MAP_FAILED)
        return false;
    if (!atomic_compare_exchange_strong(&memory, &none, m))
        munmap(m, (size_t)COPIES * ROOM);
    return true;
}

/* A thread whose call was given up in the middle of a copy has it still. */
static struct copy *take(void)
{
    if (!have_memory())
        return NULL;
    for (unsigned n = 0; n < COPIES; n++)
        if (atomic_load(&copies[n].owner) == pthread_self())
            return &copies[n];
    for (unsigned n = 0; n < COPIES; n++) {
        pthread_t nobody = 0;
        if (atomic_compare_exchange_strong(&copies[n].owner, &nobody, pthread_self()))
            return &copies[n];
    }
    return NULL;
}

/* ---- decoding ------------------------------------------------------------ */

static bool decode(const uint8_t *code, size_t size, struct decoded *d)
{
    ZydisDecoder decoder;

    memset(d->prefix, 0, sizeof(d->prefix));
    if (!ZYAN_SUCCESS(ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64)) ||
        !ZYAN_SUCCESS(ZydisDecoderDecodeFull(&decoder, code, size, &d->i, d->operands)))
        return false;
    for (unsigned n = 0; n < d->i.raw.prefix_count; n++)
        d->prefix[d->i.raw.prefixes[n].value] = 1;
    return true;
}

static uint64_t value_of(const ucontext_t *uc, ZydisRegister r)
{
    if (r >= ZYDIS_REGISTER_RAX && r <= ZYDIS_REGISTER_R15)
        return (uint64_t)uc->uc_mcontext.gregs[register_of[r - ZYDIS_REGISTER_RAX]];
    if (r >= ZYDIS_REGISTER_EAX && r <= ZYDIS_REGISTER_R15D)
        return (uint32_t)uc->uc_mcontext.gregs[register_of[r - ZYDIS_REGISTER_EAX]];
    if (r >= ZYDIS_REGISTER_AX && r <= ZYDIS_REGISTER_R15W)
        return (uint16_t)uc->uc_mcontext.gregs[register_of[r - ZYDIS_REGISTER_AX]];
    return 0;
}

/* BT and its relatives with the bit in a register reach beyond their operand: how many bytes. */
static uint64_t bit_bytes(const ucontext_t *uc, const struct decoded *d)
{
    const ZydisDecodedOperand *bit = &d->operands[1];
    unsigned bits = d->operands[0].size;
    int64_t v;

    if ((d->i.mnemonic != ZYDIS_MNEMONIC_BT && d->i.mnemonic != ZYDIS_MNEMONIC_BTS &&
         d->i.mnemonic != ZYDIS_MNEMONIC_BTR && d->i.mnemonic != ZYDIS_MNEMONIC_BTC) ||
        bit->type != ZYDIS_OPERAND_TYPE_REGISTER)
        return 0;
    v = (int64_t)(value_of(uc, bit->reg.value) << (64 - bits)) >> (64 - bits);
    return (uint64_t)((v >> __builtin_ctz(bits)) * (int64_t)(bits / 8));
}

/* false: it is no operand in memory, or its address is not known here. */
static bool target_of(const ucontext_t *uc, const struct decoded *d, const ZydisDecodedOperand *o,
                      struct target *t)
{
    const ZydisDecodedOperandMem *m = &o->mem;
    bool flush = d->i.mnemonic == ZYDIS_MNEMONIC_CLFLUSH || d->i.mnemonic == ZYDIS_MNEMONIC_CLFLUSHOPT ||
                 d->i.mnemonic == ZYDIS_MNEMONIC_CLWB;
    uint64_t at;

    if (o->type != ZYDIS_OPERAND_TYPE_MEMORY || m->type != ZYDIS_MEMOP_TYPE_MEM ||
        m->segment == ZYDIS_REGISTER_FS)
        return false;
    at = m->base == ZYDIS_REGISTER_RIP ? (uint64_t)uc->uc_mcontext.gregs[REG_RIP] + d->i.length
                                       : value_of(uc, m->base);
    at += value_of(uc, m->index) * m->scale + (m->disp.has_displacement ? (uint64_t)m->disp.value : 0);
    *t = (struct target){.gs = m->segment == ZYDIS_REGISTER_GS, .base = -1, .bit_bytes = bit_bytes(uc, d)};
    t->address = (d->i.address_width == 32 ? (uint32_t)at : at) + t->bit_bytes;
    t->size = flush ? 1 : o->size / 8;
    if (flush)
        return true; /* nothing is read */
    t->actions = (o->actions & ZYDIS_OPERAND_ACTION_MASK_READ ? READ : 0) |
                 (o->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE ? WRITE : 0);
    if (!d->i.raw.modrm.offset && !d->i.raw.disp.size)
        t->base = m->base == ZYDIS_REGISTER_RSI ? RSI : m->base == ZYDIS_REGISTER_RDI ? RDI : -1;
    return t->size && t->size <= PAGE;
}

/* What reads and writes less than its operand, or goes elsewhere. */
static bool is_outside(const struct decoded *d)
{
    switch (d->i.mnemonic) {
    case ZYDIS_MNEMONIC_MASKMOVQ:
    case ZYDIS_MNEMONIC_MASKMOVDQU:
    case ZYDIS_MNEMONIC_VMASKMOVDQU:
    case ZYDIS_MNEMONIC_VMASKMOVPS:
    case ZYDIS_MNEMONIC_VMASKMOVPD:
    case ZYDIS_MNEMONIC_VPMASKMOVD:
    case ZYDIS_MNEMONIC_VPMASKMOVQ:
        return true;
    default:
        return d->i.meta.branch_type != ZYDIS_BRANCH_TYPE_NONE || d->i.meta.category == ZYDIS_CATEGORY_RET ||
               d->i.meta.category == ZYDIS_CATEGORY_XSAVE || d->i.meta.category == ZYDIS_CATEGORY_XSAVEOPT ||
               (d->i.avx.mask.mode != ZYDIS_MASK_MODE_INVALID &&
                d->i.avx.mask.mode != ZYDIS_MASK_MODE_DISABLED);
    }
}

/* ---- the copy ------------------------------------------------------------ */

/* The instruction with [RIP + displacement] for its operand, or another absolute address; strings stay as they are. */
static bool write_code(struct copy *c, const uint8_t *code, const struct decoded *d)
{
    const struct ZydisDecodedInstructionModRm_ *m = &d->i.raw.modrm;
    uint8_t *to = code_of(c);
    size_t tail = d->i.raw.disp.size    ? d->i.raw.disp.offset + d->i.raw.disp.size / 8u
                  : d->i.raw.sib.offset ? d->i.raw.sib.offset + 1u
                                        : m->offset + 1u,
           size = d->i.length;

    memcpy(to, code, size);
    if (c->target[0].base < 0) {
        uint64_t at = (uint64_t)(uintptr_t)shadow(c, 0) - c->target[0].bit_bytes;
        for (unsigned n = 0; n < d->i.raw.prefix_count; n++)
            if (to[n] == 0x64 || to[n] == 0x65 || to[n] == 0x67)
                to[n] = DS;
        if (m->offset && m->mod != 3) {
            size_t rest = d->i.length - tail;
            int64_t distance;
            size = m->offset + 5u + rest;
            distance = (int64_t)(at - (uint64_t)(uintptr_t)(to + size));
            if (size > MOST_BYTES || distance != (int32_t)distance)
                return false;
            to[m->offset] = (uint8_t)(m->reg % 8 << 3 | 5);
            memcpy(to + m->offset + 1, &(int32_t){(int32_t)distance}, 4);
            memcpy(to + m->offset + 5, code + tail, rest);
        } else if (d->i.raw.disp.size == 64)
            memcpy(to + d->i.raw.disp.offset, &at, 8);
        else
            return false;
    } else if (d->prefix[0x67])
        return false;
    to[size] = HLT;
    c->size = (unsigned)size;
    return true;
}

/* How many elements of a repeated string one copy does: as many as lie in the page, where how many are done does not depend
 * on what is read. */
static void count_elements(struct copy *c, const ucontext_t *uc, const struct decoded *d,
                           const struct emulate_bus *bus)
{
    const struct target *t = &c->target[0];
    uint64_t most = (PAGE - t->address % PAGE) / t->size;

    c->repeated = t->base >= 0 && (d->prefix[0xF2] || d->prefix[0xF3]);
    c->until = c->repeated && d->i.cpu_flags && d->i.cpu_flags->modified & ZYDIS_CPUFLAG_ZF;
    c->until_zf = d->prefix[0xF2];
    c->elements = 1;
    if (!c->repeated || c->until || c->targets > 1 || uc->uc_mcontext.gregs[REG_EFL] & DF)
        return;
    c->elements = most > c->rcx ? c->rcx : most ? most : 1;
    while (c->elements > 1 && !bus->is(bus->ctx, t->gs, t->address, c->elements * t->size))
        c->elements /= 2;
}

static bool begin(struct copy *c, ucontext_t *uc, const uint8_t *code, const struct decoded *d,
                  const struct emulate_bus *bus)
{
    greg_t *g = uc->uc_mcontext.gregs;

    c->rip = (uint64_t)g[REG_RIP];
    c->next = c->rip + d->i.length;
    c->rcx = (uint64_t)g[REG_RCX];
    if ((c->targets > 1 && (c->target[0].base < 0 || c->target[1].base < 0)) || !write_code(c, code, d))
        return false;
    count_elements(c, uc, d, bus);
    if (c->repeated && !c->rcx)
        return false;
    for (unsigned n = 0; n < c->targets; n++) {
        const struct target *t = &c->target[n];
        size_t size = t->size * c->elements;
        memset(shadow(c, n), 0, size);
        if (t->actions & READ)
            bus->read(bus->ctx, t->gs, t->address, size, shadow(c, n));
        if (t->base >= 0) {
            c->registers[n] = (uint64_t)g[register_of[t->base]];
            g[register_of[t->base]] = (greg_t)(uintptr_t)shadow(c, n);
        }
    }
    if (c->repeated)
        g[REG_RCX] = (greg_t)c->elements;
    g[REG_RIP] = (greg_t)(uintptr_t)code_of(c);
    return true;
}

static bool by_operand(ucontext_t *uc, const uint8_t *code, const struct decoded *d,
                       const struct emulate_bus *bus)
{
    struct target t, found[2];
    unsigned targets = 0;
    struct copy *c;

    if (is_outside(d))
        return false;
    for (unsigned n = 0; n < d->i.operand_count && targets < 2; n++)
        if (target_of(uc, d, &d->operands[n], &t) && bus->is(bus->ctx, t.gs, t.address, t.size) &&
            !(t.gs && t.actions & WRITE))
            found[targets++] = t;
    c = targets ? take() : NULL;
    if (!c)
        return false;
    memcpy(c->target, found, sizeof(found));
    c->targets = targets;
    if (begin(c, uc, code, d, bus))
        return true;
    atomic_store(&c->owner, (pthread_t)0);
    return false;
}

enum emulate_return dxgk_emulate_return(ucontext_t *uc, const struct emulate_bus *bus)
{
    greg_t *g = uc->uc_mcontext.gregs;
    uintptr_t at = (uintptr_t)g[REG_RIP] - (uintptr_t)atomic_load(&memory);
    struct copy *c = &copies[at / ROOM % COPIES];
    bool done, over;
    uint64_t elements;

    if (!atomic_load(&memory) || at >= (size_t)COPIES * ROOM || atomic_load(&c->owner) != pthread_self())
        return EMULATE_ELSEWHERE;
    done = (uint8_t *)(uintptr_t)g[REG_RIP] == code_of(c) + c->size;
    elements = c->repeated ? c->elements - (uint64_t)g[REG_RCX] : done ? 1 : 0;
    for (unsigned n = 0; n < c->targets; n++) {
        const struct target *t = &c->target[n];
        if (t->base >= 0)
            g[register_of[t->base]] = (greg_t)(c->registers[n] + (uint64_t)g[register_of[t->base]] -
                                               (uint64_t)(uintptr_t)shadow(c, n));
        if (t->actions & WRITE && elements)
            bus->write(bus->ctx, t->gs, t->address, t->size * elements, shadow(c, n));
    }
    if (c->repeated)
        g[REG_RCX] = (greg_t)(c->rcx -= elements);
    over = done && (!c->repeated || !c->rcx || (c->until && c->until_zf == !!(g[REG_EFL] & ZF)));
    g[REG_RIP] = (greg_t)(over ? c->next : c->rip);
    atomic_store(&c->owner, (pthread_t)0);
    return done ? EMULATE_DONE : EMULATE_FAULTED;
}

/* ---- what has no counterpart in a process --------------------------------- */

static bool by_name(ucontext_t *uc, const struct decoded *d, const struct emulate_bus *bus)
{
    const ZydisDecodedOperand *o = d->operands;
    greg_t *g = uc->uc_mcontext.gregs;
    const ZydisDecodedOperand *port, *data;
    unsigned bytes;
    uint32_t v;

    switch (d->i.mnemonic) {
    case ZYDIS_MNEMONIC_WBINVD:
        return true;
    case ZYDIS_MNEMONIC_MOV:
        if (o[1].type == ZYDIS_OPERAND_TYPE_REGISTER && o[1].reg.value == ZYDIS_REGISTER_CR8)
            g[register_of[o[0].reg.value - ZYDIS_REGISTER_RAX]] = (greg_t)bus->read_cr8(bus->ctx);
        else if (o[0].type == ZYDIS_OPERAND_TYPE_REGISTER && o[0].reg.value == ZYDIS_REGISTER_CR8)
            bus->write_cr8(bus->ctx, value_of(uc, o[1].reg.value));
        else
            return false;
        return true;
    case ZYDIS_MNEMONIC_IN:
    case ZYDIS_MNEMONIC_OUT:
        port = &o[d->i.mnemonic == ZYDIS_MNEMONIC_IN];
        data = &o[d->i.mnemonic == ZYDIS_MNEMONIC_OUT];
        bytes = data->size / 8;
        v = (uint32_t)((uint64_t)g[REG_RAX] & (UINT64_MAX >> (64 - 8 * bytes)));
        v = bus->port(bus->ctx, d->i.mnemonic == ZYDIS_MNEMONIC_OUT,
                      port->type == ZYDIS_OPERAND_TYPE_IMMEDIATE ? (uint8_t)port->imm.value.u
                                                                 : (uint16_t)g[REG_RDX],
                      bytes, v);
        if (d->i.mnemonic == ZYDIS_MNEMONIC_IN && bytes == 4)
            g[REG_RAX] = (greg_t)v;
        else if (d->i.mnemonic == ZYDIS_MNEMONIC_IN)
            memcpy(&g[REG_RAX], &v, bytes);
        return true;
    default:
        return false;
    }
}

bool dxgk_emulate(ucontext_t *uc, const uint8_t *code, size_t size, const struct emulate_bus *bus)
{
    struct decoded d;

    if (!decode(code, size, &d))
        return false;
    if (by_name(uc, &d, bus)) {
        uc->uc_mcontext.gregs[REG_RIP] += d.i.length;
        return true;
    }
    return by_operand(uc, code, &d, bus);
}

size_t dxgk_emulate_length(const uint8_t *code, size_t size)
{
    struct decoded d;

    return decode(code, size, &d) ? d.i.length : 0;
}

#endif
