/* SPDX-License-Identifier: MIT */
/* emulate.c: see emulate.h. One instruction is decoded, its memory operand is read and written through the bus, and what is
 * left of it is arithmetic on registers. */
#include "dxgkrnl/image/emulate.h"

#include <string.h>

enum { RSP = 4, RCX = 1, RDX = 2, RSI = 6, RDI = 7, RAX = 0 };
enum { CF = 1 << 0, PF = 1 << 2, AF = 1 << 4, ZF = 1 << 6, SF = 1 << 7, DF = 1 << 10, OF = 1 << 11 };
enum { REX_B = 1, REX_X = 2, REX_R = 4, REX_W = 8 };
enum { TWO_BYTES = 0x100 }; /* opcodes behind 0F */
enum alu { ADD, OR, ADC, SBB, AND, SUB, XOR, CMP, TEST };

struct instruction {
    const uint8_t *code;
    size_t size, at;
    bool cut; /* it needs more bytes than there are */
    bool gs, rep, wide_prefix;
    uint8_t rex;
    unsigned opcode, mod, reg, rm;
    uint64_t address;
    unsigned operand; /* bytes */
};

/* ---- decoding ------------------------------------------------------------ */

static uint8_t next(struct instruction *i)
{
    if (i->at >= i->size || i->at >= 15) {
        i->cut = true;
        return 0;
    }
    return i->code[i->at++];
}

/* A little-endian number of 1, 2, 4 or 8 bytes, with its sign. */
static int64_t number(struct instruction *i, unsigned bytes)
{
    uint64_t v = 0;

    for (unsigned n = 0; n < bytes; n++)
        v |= (uint64_t)next(i) << 8 * n;
    return bytes == 8 ? (int64_t)v : (int64_t)(v << (64 - 8 * bytes)) >> (64 - 8 * bytes);
}

/* An immediate operand: 32 bits at most, but for MOV to a register. */
static uint64_t immediate(struct instruction *i)
{
    return (uint64_t)number(i, i->operand > 4 ? 4 : i->operand);
}

static void prefixes(struct instruction *i)
{
    for (;;) {
        uint8_t b = next(i);
        if (b == 0x65)
            i->gs = true;
        else if (b == 0x66)
            i->wide_prefix = true;
        else if (b == 0xF2 || b == 0xF3)
            i->rep = true;
        else if ((b & 0xF0) == 0x40) {
            i->rex = b;
            i->opcode = next(i);
            break;
        } else if (b != 0x2E && b != 0x3E && b != 0xF0) { /* LOCK: there is one processor */
            i->opcode = b;
            break;
        }
    }
    if (i->opcode == 0x0F)
        i->opcode = TWO_BYTES | next(i);
    i->operand = i->rex & REX_W ? 8 : i->wide_prefix ? 2 : 4;
}

/* ModRM, SIB and displacement. `behind`: bytes of an immediate behind them, which RIP counts from. */
static void modrm(struct instruction *i, const struct emulate_cpu *cpu, unsigned behind)
{
    uint8_t b = next(i), sib = 0x25;
    uint64_t base = 0, index = 0;
    unsigned low = b & 7;

    i->mod = b >> 6;
    i->reg = (b >> 3 & 7) | (i->rex & REX_R ? 8 : 0);
    i->rm = low | (i->rex & REX_B ? 8 : 0);
    if (i->mod == 3)
        return;
    if (low == 4) {
        sib = next(i);
        low = sib & 7;
        i->rm = low | (i->rex & REX_B ? 8 : 0);
        if ((sib >> 3 & 7) != 4 || i->rex & REX_X)
            index = cpu->r[(sib >> 3 & 7) | (i->rex & REX_X ? 8 : 0)] << (sib >> 6);
        base = low == 5 && i->mod == 0 ? (uint64_t)number(i, 4) : cpu->r[i->rm];
    } else if (low == 5 && i->mod == 0) {
        base = (uint64_t)number(i, 4);
        base += cpu->rip + i->at + behind;
    } else {
        base = cpu->r[i->rm];
    }
    i->address = base + index + (uint64_t)(i->mod == 1 ? number(i, 1) : i->mod == 2 ? number(i, 4) : 0);
}

/* ---- registers and arithmetic -------------------------------------------- */

static uint64_t mask(unsigned bytes)
{
    return bytes == 8 ? UINT64_MAX : (UINT64_C(1) << 8 * bytes) - 1;
}

/* AH, CH, DH and BH are what 4 to 7 name among bytes without REX. */
static bool is_high(const struct instruction *i, unsigned reg, unsigned bytes)
{
    return bytes == 1 && !i->rex && reg >= 4 && reg < 8;
}

static uint64_t get(const struct emulate_cpu *cpu, const struct instruction *i, unsigned reg, unsigned bytes)
{
    return is_high(i, reg, bytes) ? cpu->r[reg - 4] >> 8 & 0xFF : cpu->r[reg] & mask(bytes);
}

static void set(struct emulate_cpu *cpu, const struct instruction *i, unsigned reg, unsigned bytes,
                uint64_t v)
{
    if (is_high(i, reg, bytes))
        cpu->r[reg - 4] = (cpu->r[reg - 4] & ~UINT64_C(0xFF00)) | (v & 0xFF) << 8;
    else if (bytes == 4)
        cpu->r[reg] = v & mask(4); /* the upper half becomes 0 */
    else
        cpu->r[reg] = (cpu->r[reg] & ~mask(bytes)) | (v & mask(bytes));
}

static uint64_t alu(struct emulate_cpu *cpu, enum alu op, unsigned bytes, uint64_t a, uint64_t b)
{
    uint64_t m = mask(bytes), top = UINT64_C(1) << (8 * bytes - 1), carry = 0, v;
    bool out = false, over = false;

    a &= m;
    b &= m;
    if (op == ADC || op == SBB)
        carry = cpu->flags & CF;
    switch (op) {
    case ADD:
    case ADC:
        v = (a + b + carry) & m;
        out = v < a || (carry && v == a);
        over = ~(a ^ b) & (a ^ v) & top;
        break;
    case SUB:
    case SBB:
    case CMP:
        v = (a - b - carry) & m;
        out = a < b || (carry && a == b);
        over = (a ^ b) & (a ^ v) & top;
        break;
    case OR:
        v = a | b;
        break;
    case XOR:
        v = a ^ b;
        break;
    default:
        v = a & b;
        break;
    }
    cpu->flags &= ~(uint64_t)(CF | PF | AF | ZF | SF | OF);
    cpu->flags |= (out ? CF : 0) | (over ? OF : 0) | (v ? 0 : ZF) | (v & top ? SF : 0) |
                  (__builtin_parity((unsigned)v & 0xFF) ? 0 : PF);
    if (op != OR && op != AND && op != XOR && op != TEST)
        cpu->flags |= (a ^ b ^ v) & AF;
    return v;
}

/* ---- instructions -------------------------------------------------------- */

struct run {
    struct emulate_cpu *cpu;
    struct instruction *i;
    const struct emulate_bus *bus;
};

static bool load(const struct run *r, unsigned bytes, uint64_t *v)
{
    return r->i->mod != 3 && !r->i->cut && r->bus->read(r->bus->ctx, r->i->gs, r->i->address, bytes, v);
}

static bool store(const struct run *r, unsigned bytes, uint64_t v)
{
    return r->i->mod != 3 && !r->i->cut &&
           r->bus->write(r->bus->ctx, r->i->gs, r->i->address, bytes, v & mask(bytes));
}

/* memory OP= operand, or a comparison */
static bool alu_to_memory(const struct run *r, enum alu op, unsigned bytes, uint64_t operand)
{
    struct emulate_cpu before = *r->cpu;
    uint64_t v;

    if (!load(r, bytes, &v))
        return false;
    v = alu(r->cpu, op, bytes, v, operand);
    if (op == CMP || op == TEST || store(r, bytes, v))
        return true;
    *r->cpu = before;
    return false;
}

static bool alu_instruction(const struct run *r)
{
    struct instruction *i = r->i;
    unsigned bytes = i->opcode & 1 ? i->operand : 1;
    enum alu op = (enum alu)(i->opcode >> 3 & 7);
    uint64_t v;

    modrm(i, r->cpu, 0);
    if (!(i->opcode & 2))
        return alu_to_memory(r, op, bytes, get(r->cpu, i, i->reg, bytes));
    if (!load(r, bytes, &v))
        return false;
    v = alu(r->cpu, op, bytes, get(r->cpu, i, i->reg, bytes), v);
    if (op != CMP)
        set(r->cpu, i, i->reg, bytes, v);
    return true;
}

/* MOV, MOVZX, MOVSX, MOVSXD to a register */
static bool load_instruction(const struct run *r, unsigned from, unsigned to, bool sign)
{
    uint64_t v;

    modrm(r->i, r->cpu, 0);
    if (!load(r, from, &v))
        return false;
    v &= mask(from);
    if (sign)
        v = (uint64_t)((int64_t)(v << (64 - 8 * from)) >> (64 - 8 * from));
    set(r->cpu, r->i, r->i->reg, to, v);
    return true;
}

static bool exchange(const struct run *r, unsigned bytes)
{
    uint64_t v;

    modrm(r->i, r->cpu, 0);
    if (!load(r, bytes, &v) || !store(r, bytes, get(r->cpu, r->i, r->i->reg, bytes)))
        return false;
    set(r->cpu, r->i, r->i->reg, bytes, v);
    return true;
}

/* MOVS and STOS, with their repetitions; each step that is done is seen in the registers. */
static bool string_instruction(const struct run *r, unsigned bytes, bool copy)
{
    uint64_t *reg = r->cpu->r, step = r->cpu->flags & DF ? -(uint64_t)bytes : bytes, v = reg[RAX];

    while (!r->i->rep || reg[RCX]) {
        if (copy && !r->bus->read(r->bus->ctx, r->i->gs, reg[RSI], bytes, &v))
            return false;
        if (!r->bus->write(r->bus->ctx, false, reg[RDI], bytes, v & mask(bytes)))
            return false;
        reg[RDI] += step;
        reg[RSI] += copy ? step : 0;
        if (!r->i->rep)
            break;
        reg[RCX]--;
    }
    return true;
}

static bool moffs(const struct run *r, unsigned bytes, bool to_memory)
{
    uint64_t v;

    r->i->address = (uint64_t)number(r->i, 8);
    if (to_memory)
        return store(r, bytes, r->cpu->r[RAX]);
    if (!load(r, bytes, &v))
        return false;
    set(r->cpu, r->i, RAX, bytes, v);
    return true;
}

/* MOVD and MOVQ between memory and a vector register. */
static bool vector_instruction(const struct run *r, unsigned bytes, bool to_memory)
{
    uint64_t v, *x;

    modrm(r->i, r->cpu, 0);
    x = r->cpu->xmm[r->i->reg];
    if (to_memory)
        return store(r, bytes, x[0]);
    if (!load(r, bytes, &v))
        return false;
    x[0] = v & mask(bytes);
    x[1] = 0;
    return true;
}

static bool control_register(const struct run *r, bool write)
{
    modrm(r->i, r->cpu, 0);
    if (r->i->reg != 8 || r->i->mod != 3 || r->i->cut)
        return false;
    if (write)
        r->bus->write_cr8(r->bus->ctx, r->cpu->r[r->i->rm]);
    else
        r->cpu->r[r->i->rm] = r->bus->read_cr8(r->bus->ctx);
    return true;
}

/* IN and OUT: E4 to E7 with the port in a byte, EC to EF with it in DX; from and to AL, AX or EAX. */
static bool port_instruction(const struct run *r)
{
    struct instruction *i = r->i;
    unsigned bytes = !(i->opcode & 1) ? 1 : i->operand == 2 ? 2 : 4;
    uint16_t port = i->opcode & 8 ? (uint16_t)r->cpu->r[RDX] : next(i);
    bool write = i->opcode & 2;
    uint32_t v;

    if (i->cut)
        return false;
    v = r->bus->port(r->bus->ctx, write, port, bytes, (uint32_t)(r->cpu->r[RAX] & mask(bytes)));
    if (!write)
        set(r->cpu, i, RAX, bytes, v);
    return true;
}

/* Opcodes with an immediate operand: 80, 81, 83 and C6, C7 and F6, F7 (TEST only). */
static bool immediate_instruction(const struct run *r)
{
    struct instruction *i = r->i;
    unsigned bytes = i->opcode & 1 ? i->operand : 1;
    bool short_one = i->opcode == 0x83;
    uint64_t v;

    i->operand = bytes;
    modrm(i, r->cpu, short_one ? 1 : bytes > 4 ? 4 : bytes);
    v = short_one ? (uint64_t)number(i, 1) : immediate(i);
    if (i->opcode < 0x84)
        return alu_to_memory(r, (enum alu)(i->reg & 7), bytes, v);
    if ((i->reg & 7) > (i->opcode >= 0xF6 ? 1u : 0u))
        return false; /* NOT, NEG, MUL, DIV, or no instruction */
    return i->opcode >= 0xF6 ? alu_to_memory(r, TEST, bytes, v) : store(r, bytes, v);
}

static bool execute(const struct run *r)
{
    struct instruction *i = r->i;
    unsigned bytes = i->opcode & 1 ? i->operand : 1;

    if (i->opcode < 0x40 && (i->opcode & 7) < 4)
        return alu_instruction(r);
    switch (i->opcode) {
    case 0x63:
        return load_instruction(r, 4, i->operand, true);
    case 0x80:
    case 0x81:
    case 0x83:
    case 0xC6:
    case 0xC7:
    case 0xF6:
    case 0xF7:
        return immediate_instruction(r);
    case 0x84:
    case 0x85:
        modrm(i, r->cpu, 0);
        return alu_to_memory(r, TEST, bytes, get(r->cpu, i, i->reg, bytes));
    case 0x86:
    case 0x87:
        return exchange(r, bytes);
    case 0x88:
    case 0x89:
        modrm(i, r->cpu, 0);
        return store(r, bytes, get(r->cpu, i, i->reg, bytes));
    case 0x8A:
    case 0x8B:
        return load_instruction(r, bytes, bytes, false);
    case 0xA0:
    case 0xA1:
        return moffs(r, bytes, false);
    case 0xA2:
    case 0xA3:
        return moffs(r, bytes, true);
    case 0xA4:
    case 0xA5:
        return string_instruction(r, bytes, true);
    case 0xAA:
    case 0xAB:
        return string_instruction(r, bytes, false);
    case 0xE4:
    case 0xE5:
    case 0xE6:
    case 0xE7:
    case 0xEC:
    case 0xED:
    case 0xEE:
    case 0xEF:
        return port_instruction(r);
    case TWO_BYTES | 0x09:
        return true; /* WBINVD */
    case TWO_BYTES | 0x20:
        return control_register(r, false);
    case TWO_BYTES | 0x22:
        return control_register(r, true);
    case TWO_BYTES | 0x6E:
        return i->wide_prefix && !i->rep && vector_instruction(r, i->rex & REX_W ? 8 : 4, false);
    case TWO_BYTES | 0x7E:
        if (i->wide_prefix)
            return !i->rep && vector_instruction(r, i->rex & REX_W ? 8 : 4, true);
        return i->rep && vector_instruction(r, 8, false);
    case TWO_BYTES | 0xD6:
        return i->wide_prefix && !i->rep && vector_instruction(r, 8, true);
    case TWO_BYTES | 0xB6:
        return load_instruction(r, 1, i->operand, false);
    case TWO_BYTES | 0xB7:
        return load_instruction(r, 2, i->operand, false);
    case TWO_BYTES | 0xBE:
        return load_instruction(r, 1, i->operand, true);
    case TWO_BYTES | 0xBF:
        return load_instruction(r, 2, i->operand, true);
    default:
        return false;
    }
}

bool dxgk_emulate(struct emulate_cpu *cpu, const uint8_t *code, size_t size, const struct emulate_bus *bus)
{
    struct instruction i = {.code = code, .size = size};
    uint64_t rip = cpu->rip;

    prefixes(&i);
    if (i.cut || !execute(&(struct run){cpu, &i, bus}) || i.cut)
        return false;
    cpu->rip = rip + i.at;
    return true;
}
