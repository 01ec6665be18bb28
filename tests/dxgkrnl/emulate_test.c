/* SPDX-License-Identifier: MIT */
/* What dxgk_emulate makes of an instruction is what the processor makes of it: the same bytes run on this processor on plain
 * memory, and through the bus on a copy of it; registers, flags and memory are the same afterwards. */
#include "test.h"

#include "dxgkrnl/image/emulate.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>

#include "base/rng.h"

enum { MEMORY = 512, RBX = 3, RSP = 4, RCX = 1, RSI = 6, RDI = 7 };
enum { FLAGS = 0x8D5, AF = 1 << 4 };

static const int register_of[16] = {REG_RAX, REG_RCX, REG_RDX, REG_RBX, REG_RSP, REG_RBP, REG_RSI, REG_RDI,
                                    REG_R8,  REG_R9,  REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15};

/* ---- the processor ------------------------------------------------------- */

static struct {
    uint8_t *code;
    struct emulate_cpu *cpu;
    ucontext_t before;
} native;

static void begin(int sig, siginfo_t *info, void *context)
{
    ucontext_t *uc = context;

    memcpy(native.before.uc_mcontext.gregs, uc->uc_mcontext.gregs, sizeof(uc->uc_mcontext.gregs));
    for (unsigned i = 0; i < 16; i++)
        if (i != RSP)
            uc->uc_mcontext.gregs[register_of[i]] = (greg_t)native.cpu->r[i];
    uc->uc_mcontext.gregs[REG_EFL] = (uc->uc_mcontext.gregs[REG_EFL] & ~FLAGS) | (greg_t)native.cpu->flags;
    uc->uc_mcontext.gregs[REG_RIP] = (greg_t)(uintptr_t)native.code;
    memcpy(uc->uc_mcontext.fpregs->_xmm, native.cpu->xmm, 256);
}

static void end(int sig, siginfo_t *info, void *context)
{
    ucontext_t *uc = context;

    for (unsigned i = 0; i < 16; i++)
        native.cpu->r[i] = (uint64_t)uc->uc_mcontext.gregs[register_of[i]];
    native.cpu->flags = (uint64_t)uc->uc_mcontext.gregs[REG_EFL] & FLAGS;
    memcpy(native.cpu->xmm, uc->uc_mcontext.fpregs->_xmm, 256);
    memcpy(uc->uc_mcontext.gregs, native.before.uc_mcontext.gregs, sizeof(uc->uc_mcontext.gregs));
}

static void run_native(struct emulate_cpu *cpu, const uint8_t *code, size_t size)
{
    native.cpu = cpu;
    memcpy(native.code, code, size);
    native.code[size] = 0xCC; /* INT3 */
    raise(SIGUSR1);
}

static int setup(void **state)
{
    struct sigaction sa = {.sa_sigaction = begin, .sa_flags = SA_SIGINFO};

    native.code = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (native.code == MAP_FAILED || sigaction(SIGUSR1, &sa, NULL))
        return -1;
    sa.sa_sigaction = end;
    return sigaction(SIGTRAP, &sa, NULL);
}

/* ---- the bus ------------------------------------------------------------- */

struct window {
    uint64_t address, cr8;
    uint8_t bytes[MEMORY];
    bool gs;
    uint32_t port[4]; /* written, number, bytes, value: of the last access to one */
};

static bool bus_read(void *ctx, bool gs, uint64_t address, unsigned size, uint64_t *value)
{
    struct window *w = ctx;

    if (gs != w->gs || address - w->address > MEMORY - size)
        return false;
    *value = 0;
    memcpy(value, w->bytes + (address - w->address), size);
    return true;
}

static bool bus_write(void *ctx, bool gs, uint64_t address, unsigned size, uint64_t value)
{
    struct window *w = ctx;

    if (gs != w->gs || address - w->address > MEMORY - size)
        return false;
    memcpy(w->bytes + (address - w->address), &value, size);
    return true;
}

static uint64_t read_cr8(void *ctx)
{
    return ((struct window *)ctx)->cr8;
}

static void write_cr8(void *ctx, uint64_t value)
{
    ((struct window *)ctx)->cr8 = value;
}

static uint32_t bus_port(void *ctx, bool write, uint16_t port, unsigned size, uint32_t value)
{
    struct window *w = ctx;

    memcpy(w->port, (const uint32_t[]){write, port, size, value}, sizeof(w->port));
    return 0x87654321;
}

static bool emulate(struct emulate_cpu *cpu, struct window *w, const uint8_t *code, size_t size)
{
    struct emulate_bus bus = {w, bus_read, bus_write, read_cr8, write_cr8, bus_port};

    return dxgk_emulate(cpu, code, size, &bus);
}

/* ---- both ---------------------------------------------------------------- */

static uint8_t memory[MEMORY] __attribute__((aligned(64)));

static void check(struct rng *rng, const uint8_t *code, size_t size, unsigned ignored_flags)
{
    struct window w = {.address = (uint64_t)(uintptr_t)memory};
    uint64_t xmm[2][16][2];
    struct emulate_cpu a = {.xmm = xmm[0]}, b;

    for (unsigned i = 0; i < MEMORY; i++)
        memory[i] = (uint8_t)rng_next(rng);
    for (unsigned i = 0; i < 16; i++) {
        a.r[i] = rng_next(rng) >> (rng_next(rng) % 8 * 8);
        xmm[0][i][0] = xmm[1][i][0] = rng_next(rng);
        xmm[0][i][1] = xmm[1][i][1] = rng_next(rng);
    }
    a.r[RBX] = w.address + 128;
    a.r[RCX] = rng_next(rng) % 8;
    a.r[RSI] = w.address + 64 + rng_next(rng) % 64;
    a.r[RDI] = w.address + 256 + rng_next(rng) % 64;
    a.flags = rng_next(rng) & FLAGS;
    a.rip = 0x1000;
    b = a;
    b.xmm = xmm[1];
    memcpy(w.bytes, memory, MEMORY);
    run_native(&a, code, size);
    if (!emulate(&b, &w, code, size))
        fail_msg("not understood: %02x %02x %02x %02x %02x", code[0], code[1], code[2], code[3], code[4]);
    assert_int_equal(b.rip, 0x1000 + size);
    for (unsigned i = 0; i < 16; i++)
        if (i != RSP && a.r[i] != b.r[i])
            fail_msg("%02x %02x %02x %02x %02x: register %u is %#lx, the processor says %#lx", code[0],
                     code[1], code[2], code[3], code[4], i, (unsigned long)b.r[i], (unsigned long)a.r[i]);
    if ((a.flags ^ b.flags) & FLAGS & ~ignored_flags)
        fail_msg("%02x %02x %02x %02x %02x: flags are %#lx, the processor says %#lx", code[0], code[1],
                 code[2], code[3], code[4], (unsigned long)(b.flags & FLAGS), (unsigned long)a.flags);
    assert_memory_equal(w.bytes, memory, MEMORY);
    assert_memory_equal(xmm[0], xmm[1], sizeof(xmm[0]));
}

/* The addressing forms: [rbx], [rbx+d8], [rbx+d32], [rbx+rcx*4+d8], and with REX.B [r11+d8] stays out (r11 is no pointer). */
static size_t address(uint8_t *at, unsigned form, unsigned reg)
{
    static const struct {
        uint8_t mod_rm, more[5];
        size_t size;
    } forms[] = {{0x03, {0}, 0},
                 {0x43, {0xF0}, 1},
                 {0x83, {0x20, 0, 0, 0}, 4},
                 {0x44, {0x8B, 0x10}, 2},
                 {0x84, {0x8B, 0xE0, 0xFF, 0xFF, 0xFF}, 5}};

    at[0] = (uint8_t)(forms[form].mod_rm | reg << 3);
    memcpy(at + 1, forms[form].more, forms[form].size);
    return 1 + forms[form].size;
}

/* Each opcode with each prefix, register and addressing form. `group`: the reg field is part of the opcode. `immediate`: bytes
 * of an immediate behind, -1: as wide as the operand. */
static unsigned all_forms(struct rng *rng, unsigned opcode, int group, int immediate, unsigned ignored)
{
    static const uint8_t prefixes[][2] = {{0, 0},    {0x66, 0}, {0, 0x48},   {0, 0x40},
                                          {0, 0x44}, {0, 0x4C}, {0x66, 0x44}};
    unsigned n = 0;

    for (unsigned p = 0; p < sizeof(prefixes) / sizeof(prefixes[0]); p++)
        for (unsigned reg = 0; reg < 8; reg++)
            for (unsigned form = 0; form < 5; form++) {
                uint8_t code[20], rex = prefixes[p][1];
                size_t size = 0, operand = rex & 8 ? 4 : prefixes[p][0] ? 2 : 4;
                bool is_byte = !(opcode & 1) && opcode < 0x100;
                if (group >= 0 ? reg != (unsigned)group || rex & 4
                               : reg == RSP && !(rex & 4) && !(is_byte && !rex))
                    continue;
                if (prefixes[p][0])
                    code[size++] = prefixes[p][0];
                if (rex)
                    code[size++] = rex;
                if (opcode >= 0x100)
                    code[size++] = 0x0F;
                code[size++] = (uint8_t)opcode;
                size += address(code + size, form, reg);
                for (size_t i = immediate < 0 ? is_byte ? 1 : operand : (size_t)immediate; i; i--)
                    code[size++] = (uint8_t)rng_next(rng);
                check(rng, code, size, ignored);
                n++;
            }
    return n;
}

TEST(moves_and_arithmetic)
{
    struct rng rng = {.state = 1};
    unsigned n = 0;

    for (unsigned op = 0; op < 8; op++) {
        unsigned ignored = op == 1 || op == 4 || op == 6 ? AF : 0; /* OR, AND and XOR leave it undefined */
        for (unsigned form = 0; form < 4; form++)
            n += all_forms(&rng, 8 * op + form, -1, 0, ignored);
        n += all_forms(&rng, 0x80, (int)op, 1, ignored);
        n += all_forms(&rng, 0x81, (int)op, -1, ignored);
        n += all_forms(&rng, 0x83, (int)op, 1, ignored);
    }
    for (unsigned opcode = 0x84; opcode <= 0x8B; opcode++)
        n += all_forms(&rng, opcode, -1, 0, opcode < 0x86 ? AF : 0);
    n += all_forms(&rng, 0xC6, 0, -1, 0) + all_forms(&rng, 0xC7, 0, -1, 0);
    n += all_forms(&rng, 0xF6, 0, -1, AF) + all_forms(&rng, 0xF7, 0, -1, AF);
    n += all_forms(&rng, 0x63, -1, 0, 0);
    for (unsigned opcode = 0x1B6; opcode <= 0x1B7; opcode++)
        n += all_forms(&rng, opcode, -1, 0, 0) + all_forms(&rng, opcode + 8, -1, 0, 0);
    assert_true(n > 9000);
}

TEST(copies)
{
    static const uint8_t codes[][3] = {{0xA4},
                                       {0xA5},
                                       {0xAA},
                                       {0xAB},
                                       {0x66, 0xA5},
                                       {0x66, 0xAB},
                                       {0x48, 0xA5},
                                       {0x48, 0xAB},
                                       {0xF3, 0xA4},
                                       {0xF3, 0xA5},
                                       {0xF3, 0xAA},
                                       {0xF3, 0x66, 0xAB},
                                       {0xF3, 0x48, 0xA5},
                                       {0xF3, 0x48, 0xAB}};
    struct rng rng = {.state = 2};

    for (unsigned i = 0; i < sizeof(codes) / sizeof(codes[0]); i++)
        for (unsigned n = 0; n < 20; n++)
            check(&rng, codes[i], codes[i][2] ? 3 : codes[i][1] ? 2 : 1, 0);
}

TEST(vector_moves)
{
    static const uint8_t codes[][6] = {
        {0x66, 0x0F, 0x6E, 0x43, 0x08},      {0x66, 0x48, 0x0F, 0x6E, 0x5B, 0x08},
        {0x66, 0x0F, 0x7E, 0x6B, 0x08},      {0x66, 0x4C, 0x0F, 0x7E, 0x6B, 0x08},
        {0xF3, 0x0F, 0x7E, 0x73, 0x08},      {0x66, 0x0F, 0xD6, 0x7B, 0x08},
        {0x66, 0x44, 0x0F, 0x6E, 0x43, 0x08}};
    struct rng rng = {.state = 3};

    for (unsigned i = 0; i < sizeof(codes) / sizeof(codes[0]); i++)
        check(&rng, codes[i], codes[i][5] ? 6 : 5, 0);
}

/* What has no counterpart in a process. */
TEST(the_kernels_own)
{
    struct window w = {.address = 0x180, .cr8 = 2, .gs = true};
    uint64_t xmm[16][2] = {{0}};
    struct emulate_cpu cpu = {.rip = 0x1000, .xmm = xmm};

    assert_true(emulate(&cpu, &w, (const uint8_t[]){0x44, 0x0F, 0x20, 0xC0}, 4)); /* mov rax, cr8 */
    assert_int_equal(cpu.r[0], 2);
    cpu.r[9] = 5;
    assert_true(emulate(&cpu, &w, (const uint8_t[]){0x45, 0x0F, 0x22, 0xC1}, 4)); /* mov cr8, r9 */
    assert_int_equal(w.cr8, 5);
    assert_true(emulate(&cpu, &w, (const uint8_t[]){0x0F, 0x09}, 2)); /* wbinvd */
    cpu.r[0] = UINT64_C(0x1122334455667788);
    cpu.r[2] = 0xFFFF01CE;
    assert_true(emulate(&cpu, &w, (const uint8_t[]){0xEC}, 1)); /* in al, dx */
    assert_int_equal(cpu.r[0], UINT64_C(0x1122334455667721));
    assert_memory_equal(w.port, ((const uint32_t[]){0, 0x1CE, 1, 0x88}), sizeof(w.port));
    assert_true(emulate(&cpu, &w, (const uint8_t[]){0x66, 0xE5, 0x60}, 3)); /* in ax, 0x60 */
    assert_int_equal(cpu.r[0], UINT64_C(0x1122334455664321));
    assert_memory_equal(w.port, ((const uint32_t[]){0, 0x60, 2, 0x7721}), sizeof(w.port));
    assert_true(emulate(&cpu, &w, (const uint8_t[]){0xEF}, 1)); /* out dx, eax */
    assert_memory_equal(w.port, ((const uint32_t[]){1, 0x1CE, 4, 0x55664321}), sizeof(w.port));
    assert_true(emulate(&cpu, &w, (const uint8_t[]){0xED}, 1)); /* in eax, dx */
    assert_int_equal(cpu.r[0], 0x87654321);
    assert_false(emulate(&cpu, &w, (const uint8_t[]){0xE4}, 1)); /* cut */
    memcpy(w.bytes + 8, "\x11\x22\x33\x44\x55\x66\x77\x88", 8);
    assert_true(emulate(&cpu, &w, (const uint8_t[]){0x65, 0x48, 0x8B, 0x04, 0x25, 0x88, 1, 0, 0},
                        9)); /* mov rax, gs:[0x188] */
    assert_int_equal(cpu.r[0], UINT64_C(0x8877665544332211));
    w.gs = false;
    w.address = UINT64_C(0xFFFFF78000000000);
    memcpy(w.bytes + 8, "\x01\x02\x03\x04\x05\x06\x07\x08", 8);
    assert_true(emulate(&cpu, &w, (const uint8_t[]){0x48, 0xA1, 8, 0, 0, 0, 0x80, 0xF7, 0xFF, 0xFF},
                        10)); /* mov rax, [moffs] */
    assert_int_equal(cpu.r[0], UINT64_C(0x0807060504030201));
    w.address = cpu.rip + 0x106; /* mov eax, [rip+0x100]: from behind it */
    memcpy(w.bytes, "\x0A\x0B\x0C\x0D", 4);
    assert_true(emulate(&cpu, &w, (const uint8_t[]){0x8B, 0x05, 0, 1, 0, 0}, 6));
    assert_int_equal(cpu.r[0], 0x0D0C0B0A);
    w.address = cpu.rip + 0x10A; /* mov dword [rip+0x100], imm: behind the immediate */
    assert_true(emulate(&cpu, &w, (const uint8_t[]){0xC7, 0x05, 0, 1, 0, 0, 1, 2, 3, 4}, 10));
    assert_memory_equal(w.bytes, "\x01\x02\x03\x04", 4);
}

TEST(anything_else_is_refused_and_changes_nothing)
{
    struct window w = {.address = 0x10000};
    uint64_t xmm[16][2] = {{0}};
    struct emulate_cpu cpu = {.rip = 0x1000, .xmm = xmm}, before;
    struct rng rng = {.state = 4};
    static const uint8_t nowhere[] = {0x8B, 0x03}, cr3[] = {0x0F, 0x20, 0xD8}, divide[] = {0xF7, 0x33},
                         ud2[] = {0x0F, 0x0B}, hlt[] = {0xF4}, registers[] = {0x8B, 0xC3},
                         cut[] = {0x8B, 0x83, 0, 0};

    before = cpu;
    assert_false(emulate(&cpu, &w, nowhere, sizeof(nowhere)));
    assert_false(emulate(&cpu, &w, cr3, sizeof(cr3)));
    assert_false(emulate(&cpu, &w, ud2, sizeof(ud2)));
    assert_false(emulate(&cpu, &w, hlt, sizeof(hlt)));
    assert_false(emulate(&cpu, &w, registers, sizeof(registers)));
    cpu.r[RBX] = before.r[RBX] = w.address;
    assert_false(emulate(&cpu, &w, divide, sizeof(divide)));
    assert_false(emulate(&cpu, &w, cut, sizeof(cut)));
    assert_memory_equal(&cpu, &before, sizeof(cpu));
    for (unsigned i = 0; i < 200000; i++) { /* bytes of chance read no further than there are */
        size_t size = rng_next(&rng) % 16;
        uint8_t *code = malloc(size ? size : 1);
        assert_non_null(code);
        for (size_t n = 0; n < size; n++)
            code[n] = (uint8_t)rng_next(&rng);
        cpu.r[RCX] = 3;
        emulate(&cpu, &w, code, size);
        free(code);
    }
}

TEST_GROUP(setup, NULL);
