/* SPDX-License-Identifier: MIT */
/* What dxgk_emulate makes of an instruction is what the processor makes of it: the same bytes run on plain memory, and again
 * when nothing is at its place and the bus has a copy of it; registers, flags, stack and memory are the same afterwards. */
#include "test.h"

#include "dxgkrnl/image/emulate.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/rng.h"

enum { PAGE = 4096, MEMORY = 2 * PAGE, RAX = 0, RBX = 3, RSP = 4, RCX = 1, RSI = 6, RDI = 7 };
enum { FLAGS = 0x8D5, STACK = 1 << 17, TOP = STACK - 128 };

static const int register_of[16] = {REG_RAX, REG_RCX, REG_RDX, REG_RBX, REG_RSP, REG_RBP, REG_RSI, REG_RDI,
                                    REG_R8,  REG_R9,  REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15};

/* What an instruction begins and ends with. */
struct cpu {
    uint64_t r[16], flags, rip;
    uint64_t xmm[16][2];
    uint8_t st[8][16], stack[128];
};

/* ---- the bus ------------------------------------------------------------- */

static struct window {
    uint64_t address, cr8;
    uint8_t bytes[MEMORY];
    bool gs;
    size_t reads, read_bytes, writes, written_bytes;
    uint32_t port[4]; /* written, number, bytes, value: of the last access to one */
} window;

static bool bus_is(void *ctx, bool gs, uint64_t address, size_t size)
{
    struct window *w = ctx;

    return gs == w->gs && size <= MEMORY && address - w->address <= MEMORY - size;
}

static void bus_read(void *ctx, bool gs, uint64_t address, size_t size, void *bytes)
{
    struct window *w = ctx;

    assert_true(bus_is(ctx, gs, address, size));
    memcpy(bytes, w->bytes + (address - w->address), size);
    w->reads++;
    w->read_bytes += size;
}

static void bus_write(void *ctx, bool gs, uint64_t address, size_t size, const void *bytes)
{
    struct window *w = ctx;

    assert_true(bus_is(ctx, gs, address, size));
    memcpy(w->bytes + (address - w->address), bytes, size);
    w->writes++;
    w->written_bytes += size;
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

static const struct emulate_bus bus = {&window, bus_is, bus_read, bus_write, read_cr8, write_cr8, bus_port};

/* ---- the processor ------------------------------------------------------- */

static uint8_t *memory, *stack;
static struct {
    uint8_t *code;
    size_t size;
    struct cpu *cpu;
    int ended_by; /* a signal */
    ucontext_t before;
    struct _libc_fpstate floating;
} native;

static void begin(int sig, siginfo_t *info, void *context)
{
    ucontext_t *uc = context;

    memcpy(native.before.uc_mcontext.gregs, uc->uc_mcontext.gregs, sizeof(uc->uc_mcontext.gregs));
    memcpy(&native.floating, uc->uc_mcontext.fpregs, sizeof(native.floating));
    native.cpu->r[RSP] = (uintptr_t)stack + TOP;
    for (unsigned i = 0; i < 16; i++)
        uc->uc_mcontext.gregs[register_of[i]] = (greg_t)native.cpu->r[i];
    uc->uc_mcontext.gregs[REG_EFL] = (uc->uc_mcontext.gregs[REG_EFL] & ~FLAGS) | (greg_t)native.cpu->flags;
    uc->uc_mcontext.gregs[REG_RIP] = (greg_t)(uintptr_t)native.code;
    memcpy(uc->uc_mcontext.fpregs->_xmm, native.cpu->xmm, 256);
}

static void end(int sig, siginfo_t *info, void *context)
{
    ucontext_t *uc = context;

    native.ended_by = sig;
    for (unsigned i = 0; i < 16; i++)
        native.cpu->r[i] = (uint64_t)uc->uc_mcontext.gregs[register_of[i]];
    native.cpu->flags = (uint64_t)uc->uc_mcontext.gregs[REG_EFL] & FLAGS;
    native.cpu->rip = (uint64_t)uc->uc_mcontext.gregs[REG_RIP] - (uint64_t)(uintptr_t)native.code;
    memcpy(native.cpu->xmm, uc->uc_mcontext.fpregs->_xmm, 256);
    memcpy(native.cpu->st, uc->uc_mcontext.fpregs->_st, 128);
    memcpy(native.cpu->stack, stack + TOP - 64, 128);
    memcpy(uc->uc_mcontext.gregs, native.before.uc_mcontext.gregs, sizeof(uc->uc_mcontext.gregs));
    memcpy(uc->uc_mcontext.fpregs, &native.floating, offsetof(struct _libc_fpstate, __glibc_reserved1));
}

/* As the kernel does; a signal that is not done with ends the run. */
static void on_fault(int sig, siginfo_t *info, void *context)
{
    ucontext_t *uc = context;

    enum emulate_return r = dxgk_emulate_return(uc, &bus);

    if (r == EMULATE_DONE && sig == SIGSEGV)
        return;
    if (r == EMULATE_FAULTED || sig != SIGSEGV ||
        uc->uc_mcontext.gregs[REG_RIP] != (greg_t)(uintptr_t)native.code ||
        !dxgk_emulate(uc, native.code, native.size, &bus))
        end(sig, info, context);
}

static int run(struct cpu *cpu, const uint8_t *code, size_t size)
{
    const struct sigaction mine = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO};
    struct sigaction segv, fpe;

    native.cpu = cpu;
    native.size = size;
    memcpy(native.code, code, size);
    native.code[size] = 0xCC; /* INT3 */
    memset(stack + TOP - 128, 0x5A, 256);
    sigaction(SIGSEGV, &mine, &segv);
    sigaction(SIGFPE, &mine, &fpe);
    raise(SIGUSR1);
    sigaction(SIGFPE, &fpe, NULL);
    sigaction(SIGSEGV, &segv, NULL); /* cmocka's */
    return native.ended_by;
}

static int setup(void **state)
{
    struct sigaction sa = {.sa_sigaction = begin, .sa_flags = SA_SIGINFO};
    const int map = MAP_PRIVATE | MAP_ANONYMOUS;

    native.code = mmap(NULL, PAGE, PROT_READ | PROT_WRITE | PROT_EXEC, map, -1, 0);
    stack = mmap(NULL, STACK, PROT_READ | PROT_WRITE, map, -1, 0);
    memory = mmap(NULL, MEMORY, PROT_READ | PROT_WRITE, map, -1, 0);
    if (native.code == MAP_FAILED || stack == MAP_FAILED || memory == MAP_FAILED ||
        sigaction(SIGUSR1, &sa, NULL))
        return -1;
    sa.sa_sigaction = end;
    return sigaction(SIGTRAP, &sa, NULL);
}

/* ---- both ---------------------------------------------------------------- */

static void begin_with(struct rng *rng, struct cpu *c)
{
    window = (struct window){.address = (uint64_t)(uintptr_t)memory};
    for (unsigned i = 0; i < MEMORY; i++)
        window.bytes[i] = (uint8_t)rng_next(rng);
    for (unsigned i = 0; i < 16; i++) {
        c->r[i] = rng_next(rng) >> (rng_next(rng) % 8 * 8);
        c->xmm[i][0] = rng_next(rng);
        c->xmm[i][1] = rng_next(rng);
    }
    c->r[RBX] = window.address + 128 + (rng_next(rng) % 2 ? PAGE - 160 : 0);
    c->r[RCX] = rng_next(rng) % 8;
    c->r[RSI] = window.address + 64 + rng_next(rng) % 64;
    c->r[RDI] = window.address + 256 + rng_next(rng) % 64;
    c->flags = rng_next(rng) & FLAGS;
}

/* Runs it both ways, from `a`. */
static void compare(struct cpu *a, const char *name, const uint8_t *code, size_t size)
{
    struct cpu b = *a;

    memcpy(memory, window.bytes, MEMORY);
    if (run(a, code, size) != SIGTRAP)
        fail_msg("%s: does not run", name);
    assert_false(mprotect(memory, MEMORY, PROT_NONE));
    run(&b, code, size);
    assert_false(mprotect(memory, MEMORY, PROT_READ | PROT_WRITE));
    if (native.ended_by != SIGTRAP)
        fail_msg("%s: not done", name);
    for (unsigned i = 0; i < 16; i++)
        if (a->r[i] != b.r[i])
            fail_msg("%s: register %u is %#lx, the processor says %#lx", name, i, (unsigned long)b.r[i],
                     (unsigned long)a->r[i]);
    if (a->flags != b.flags)
        fail_msg("%s: flags are %#lx, the processor says %#lx", name, (unsigned long)b.flags,
                 (unsigned long)a->flags);
    if (memcmp(window.bytes, memory, MEMORY) != 0)
        fail_msg("%s: memory is another", name);
    if (memcmp(a, &b, sizeof(b)) != 0)
        fail_msg("%s: vector or x87 registers, or the stack, are others", name);
}

static void check(struct rng *rng, const uint8_t *code, size_t size)
{
    struct cpu a = {.flags = 0};
    char name[60] = "";

    for (size_t i = 0; i < size; i++)
        snprintf(name + strlen(name), sizeof(name) - strlen(name), " %02x", code[i]);
    begin_with(rng, &a);
    compare(&a, name, code, size);
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
static unsigned all_forms(struct rng *rng, unsigned opcode, int group, int immediate)
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
                check(rng, code, size);
                n++;
            }
    return n;
}

TEST(moves_and_arithmetic)
{
    struct rng rng = {.state = 1};
    unsigned n = 0;

    for (unsigned op = 0; op < 8; op++) {
        for (unsigned form = 0; form < 4; form++)
            n += all_forms(&rng, 8 * op + form, -1, 0);
        n += all_forms(&rng, 0x80, (int)op, 1);
        n += all_forms(&rng, 0x81, (int)op, -1);
        n += all_forms(&rng, 0x83, (int)op, 1);
    }
    for (unsigned opcode = 0x84; opcode <= 0x8B; opcode++)
        n += all_forms(&rng, opcode, -1, 0);
    n += all_forms(&rng, 0xC6, 0, -1) + all_forms(&rng, 0xC7, 0, -1);
    n += all_forms(&rng, 0xF6, 0, -1) + all_forms(&rng, 0xF7, 0, -1);
    n += all_forms(&rng, 0x63, -1, 0);
    for (unsigned opcode = 0x1B6; opcode <= 0x1B7; opcode++)
        n += all_forms(&rng, opcode, -1, 0) + all_forms(&rng, opcode + 8, -1, 0);
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
            check(&rng, codes[i], codes[i][2] ? 3 : codes[i][1] ? 2 : 1);
}

/* ---- instructions of all kinds -------------------------------------------- */

#define ROW(reads, writes, text)                                                                             \
    ".byte 2f - 1f, " #reads ", " #writes "\n1: " text "\n2: .asciz \"" text "\"\n"

/* Bytes read and written, and the instruction: [RBX] is registers, and RSI and RDI are. */
__asm__(
    ".pushsection .rodata\ntable_of_all:\n"
    /* clang-format off */
        ROW(16, 0, "movdqu (%rbx), %xmm1") ROW(0, 16, "movdqu %xmm1, (%rbx)") ROW(16, 0, "movups (%rbx), %xmm9")
        ROW(0, 16, "movups %xmm1, 3(%rbx)") ROW(0, 8, "movlps %xmm1, (%rbx)") ROW(8, 0, "movhps (%rbx), %xmm1")
        ROW(0, 16, "movaps %xmm8, (%rbx)") ROW(0, 16, "movntps %xmm1, (%rbx)") ROW(0, 4, "movnti %eax, (%rbx)")
        ROW(16, 0, "paddd (%rbx), %xmm3") ROW(4, 0, "cvtsi2sdl (%rbx), %xmm3") ROW(8, 0, "addsd (%rbx), %xmm4")
        ROW(4, 0, "movd (%rbx), %xmm1") ROW(0, 8, "movq %xmm1, (%rbx)") ROW(8, 0, "movq (%rbx), %xmm14")
        ROW(4, 0, "lodsl") ROW(1, 0, "lodsb") ROW(8, 0, "cmpsl") ROW(4, 0, "scasl") ROW(0, 8, "stosq")
        ROW(4, 4, "movsl") ROW(2, 0, "scasw")
        ROW(4, 0, "bt %ecx, (%rbx)") ROW(4, 4, "btsl $1, (%rbx)") ROW(4, 4, "lock btsl $3, (%rbx)")
        ROW(8, 8, "btrq $33, (%rbx)") ROW(4, 4, "btc %ecx, 8(%rbx)")
        ROW(8, 0, "pushq (%rbx)") ROW(0, 8, "popq (%rbx)") ROW(2, 0, "pushw (%rbx)")
        ROW(4, 0, "imul (%rbx), %eax") ROW(4, 0, "imul $7, (%rbx), %r9d") ROW(4, 0, "mull (%rbx)")
        ROW(8, 0, "imulq -8(%rbx)") ROW(4, 0, "cmovnz (%rbx), %eax") ROW(4, 0, "cmovz (%rbx), %r12d")
        ROW(4, 4, "lock xadd %eax, (%rbx)") ROW(4, 4, "lock cmpxchg %ecx, (%rbx)") ROW(8, 8, "lock cmpxchg8b (%rbx)")
        ROW(4, 4, "lock incl (%rbx)") ROW(4, 4, "incl (%rbx)") ROW(1, 1, "decb (%rbx,%rcx,2)")
        ROW(4, 4, "notl (%rbx)") ROW(8, 8, "negq (%rbx)") ROW(4, 4, "shll $3, (%rbx)") ROW(4, 4, "sarl %cl, (%rbx)")
        ROW(4, 4, "rcrl (%rbx)") ROW(4, 4, "shld $5, %eax, (%rbx)") ROW(0, 1, "setnz (%rbx)")
        ROW(4, 4, "xchg %eax, (%rbx)") ROW(8, 8, "xchg %rbx, (%rbx)") ROW(4, 0, "bsf (%rbx), %eax")
        ROW(4, 0, "addl (%rbx), %ebx") ROW(8, 0, "movq (%rbx), %rbx") ROW(8, 0, "movq %gs:(%rbx), %r15")
        ROW(0, 8, "movq %rsp, (%rbx)") ROW(4, 0, "movslq (%rbx), %rax") ROW(2, 0, "movzwl 1(%rbx), %r8d")
        ROW(0, 4, "movl $0x12345678, (%rbx)") ROW(4, 0, "testl $0x1234, (%rbx)") ROW(4, 0, "cmpl $5, (%rbx)")
        ROW(0, 0, "clflush (%rbx)") ROW(8, 0, "fldl (%rbx)") ROW(4, 0, "flds (%rbx)") ROW(10, 0, "fldt (%rbx)")
        ROW(4, 0, "fildl (%rbx)") ROW(0, 2, "fnstcw (%rbx)") ROW(0, 4, "stmxcsr (%rbx)") ROW(0, 28, "fnstenv (%rbx)")
        ROW(8, 0, "movq (%rbx), %mm0")
    /* clang-format on */
    ".byte 0\ntable_of_avx2:\n"
    /* clang-format off */
        ROW(32, 0, "vmovdqu (%rbx), %ymm1") ROW(16, 0, "vmovups (%rbx), %xmm1") ROW(0, 32, "vmovdqu %ymm1, (%rbx)")
        ROW(16, 0, "vpaddd (%rbx), %xmm9, %xmm3") ROW(0, 16, "vmovdqu %xmm12, 64(%rbx)")
        ROW(4, 0, "vbroadcastss (%rbx), %xmm2") ROW(4, 0, "movbe (%rbx), %eax") ROW(0, 8, "movbe %rax, (%rbx)")
        ROW(8, 0, "andn (%rbx), %rax, %rdx") ROW(4, 0, "rorx $3, (%rbx), %r13d")
    /* clang-format on */
    ".byte 0\n.popsection");
extern const uint8_t table_of_all[], table_of_avx2[];

static void check_row(struct rng *rng, const uint8_t *row)
{
    const char *name = (const char *)row + 3 + row[0];
    struct cpu a = {.flags = 0};

    begin_with(rng, &a);
    a.r[RBX] &= ~UINT64_C(15);
    if (strstr(name, "gs:"))
        window.gs = true;
    compare(&a, name, row + 3, row[0]);
    if (window.read_bytes != row[1] || window.written_bytes != row[2])
        fail_msg("%s: %zu bytes were read and %zu written, of %u and %u", name, window.read_bytes,
                 window.written_bytes, row[1], row[2]);
}

TEST(of_all_kinds_and_each_byte_once)
{
    struct rng rng = {.state = 3};
    unsigned n = 0;

    for (const uint8_t *row = table_of_all; *row; row += 4 + row[0] + strlen((const char *)row + 3 + row[0]))
        for (unsigned i = 0; i < 20; i++, n++)
            check_row(&rng, row);
    assert_true(n > 1200);
    if (__builtin_cpu_supports("avx2"))
        for (const uint8_t *row = table_of_avx2; *row;
             row += 4 + row[0] + strlen((const char *)row + 3 + row[0]))
            for (unsigned i = 0; i < 20; i++)
                check_row(&rng, row);
}

/* Comparisons read as far as they go and no further, and long copies all of theirs. */
TEST(repetitions)
{
    static const uint8_t find[] = {0xF2, 0xAE}, skip[] = {0xF3, 0xA6}, copy[] = {0xF3, 0xA4},
                         load[] = {0xF3, 0xAD};
    static uint8_t plain[MEMORY];
    struct rng rng = {.state = 5};
    struct cpu a = {.flags = 0};

    begin_with(&rng, &a);
    memset(window.bytes + 100, 1, 200);
    window.bytes[150] = a.r[RAX] = 7;
    a.r[RDI] = window.address + 100;
    a.r[RCX] = 100;
    compare(&a, "repne scasb", find, sizeof(find));
    assert_int_equal(a.r[RCX], 49);
    assert_int_equal(window.read_bytes, 51);
    begin_with(&rng, &a);
    memset(window.bytes + 100, 1, 200);
    memset(plain, 1, sizeof(plain));
    plain[20] = 2;
    a.r[RDI] = window.address + 100;
    a.r[RSI] = (uintptr_t)plain;
    a.r[RCX] = 100;
    compare(&a, "repe cmpsb", skip, sizeof(skip));
    assert_int_equal(a.r[RCX], 79);
    assert_int_equal(window.read_bytes, 21);
    begin_with(&rng, &a);
    a.r[RDI] = (uintptr_t)plain;
    a.r[RSI] = window.address + 1;
    a.r[RCX] = MEMORY - 1;
    compare(&a, "rep movsb", copy, sizeof(copy));
    assert_memory_equal(plain, window.bytes + 1, MEMORY - 1);
    assert_int_equal(window.read_bytes, MEMORY - 1);
    begin_with(&rng, &a);
    a.r[RSI] = window.address + 1;
    a.r[RCX] = MEMORY / 4 - 1;
    compare(&a, "rep lodsl", load, sizeof(load));
    assert_int_equal(window.read_bytes, MEMORY - 4);
}

static int run_refused(struct cpu *c, const uint8_t *code, size_t size)
{
    assert_false(mprotect(memory, MEMORY, PROT_NONE));
    run(c, code, size);
    assert_false(mprotect(memory, MEMORY, PROT_READ | PROT_WRITE));
    return native.ended_by;
}

/* An exception in the middle is the original's, and nothing is written. */
TEST(exceptions)
{
    static const uint8_t divide[] = {0xF7, 0x33}, aligned[] = {0x0F, 0x29, 0x43, 0x01}, copy[] = {0xF3, 0xA4};
    struct rng rng = {.state = 6};
    struct cpu a = {.flags = 0}, was;

    begin_with(&rng, &a);
    memset(window.bytes, 0, MEMORY);
    assert_int_equal(run_refused(&a, divide, sizeof(divide)), SIGFPE);
    assert_int_equal(a.rip, 0);
    begin_with(&rng, &a);
    a.r[RBX] &= ~UINT64_C(15);
    assert_int_equal(run_refused(&a, aligned, sizeof(aligned)), SIGSEGV);
    assert_int_equal(a.rip, 0);
    assert_int_equal(window.writes, 0);
    begin_with(&rng, &a);
    a.r[RDI] = 16; /* nothing is there */
    a.r[RCX] = 10;
    was = a;
    assert_int_equal(run_refused(&a, copy, sizeof(copy)), SIGSEGV);
    assert_int_equal(a.rip, 0);
    assert_true(a.r[RSI] == was.r[RSI] && a.r[RDI] == 16 && a.r[RCX] == 10);
}

/* ---- what has no counterpart in a process ---------------------------------- */

static bool emulate(greg_t *g, const uint8_t *code, size_t size)
{
    static ucontext_t uc;
    bool done;

    memcpy(uc.uc_mcontext.gregs, g, sizeof(uc.uc_mcontext.gregs));
    done = dxgk_emulate(&uc, code, size, &bus);
    memcpy(g, uc.uc_mcontext.gregs, sizeof(uc.uc_mcontext.gregs));
    return done;
}

TEST(the_kernels_own)
{
    gregset_t g = {0};
    struct cpu a = {.flags = 0};

    window = (struct window){.address = 0x180, .cr8 = 2, .gs = true};
    assert_true(emulate(g, (const uint8_t[]){0x44, 0x0F, 0x20, 0xC0}, 4)); /* mov rax, cr8 */
    assert_int_equal(g[REG_RAX], 2);
    assert_int_equal(g[REG_RIP], 4);
    g[REG_R9] = 5;
    assert_true(emulate(g, (const uint8_t[]){0x45, 0x0F, 0x22, 0xC1}, 4)); /* mov cr8, r9 */
    assert_int_equal(window.cr8, 5);
    assert_true(emulate(g, (const uint8_t[]){0x0F, 0x09}, 2)); /* wbinvd */
    g[REG_RAX] = INT64_C(0x1122334455667788);
    g[REG_RDX] = 0xFFFF01CE;
    assert_true(emulate(g, (const uint8_t[]){0xEC}, 1)); /* in al, dx */
    assert_int_equal(g[REG_RAX], INT64_C(0x1122334455667721));
    assert_memory_equal(window.port, ((const uint32_t[]){0, 0x1CE, 1, 0x88}), sizeof(window.port));
    assert_true(emulate(g, (const uint8_t[]){0x66, 0xE5, 0x60}, 3)); /* in ax, 0x60 */
    assert_int_equal(g[REG_RAX], INT64_C(0x1122334455664321));
    assert_memory_equal(window.port, ((const uint32_t[]){0, 0x60, 2, 0x7721}), sizeof(window.port));
    assert_true(emulate(g, (const uint8_t[]){0xEF}, 1)); /* out dx, eax */
    assert_memory_equal(window.port, ((const uint32_t[]){1, 0x1CE, 4, 0x55664321}), sizeof(window.port));
    assert_true(emulate(g, (const uint8_t[]){0xED}, 1)); /* in eax, dx */
    assert_int_equal(g[REG_RAX], 0x87654321);
    assert_false(emulate(g, (const uint8_t[]){0xE4}, 1)); /* cut */
    memcpy(window.bytes + 8, "\x11\x22\x33\x44\x55\x66\x77\x88", 8);
    assert_int_equal(run(&a, (const uint8_t[]){0x65, 0x48, 0x8B, 0x04, 0x25, 0x88, 1, 0, 0}, 9),
                     SIGTRAP); /* mov rax, gs:[0x188] */
    assert_int_equal(a.r[RAX], UINT64_C(0x8877665544332211));
    window.gs = false;
    window.address = UINT64_C(0xFFFFF78000000000);
    memcpy(window.bytes + 8, "\x01\x02\x03\x04\x05\x06\x07\x08", 8);
    assert_int_equal(run(&a, (const uint8_t[]){0x48, 0xA1, 8, 0, 0, 0, 0x80, 0xF7, 0xFF, 0xFF}, 10),
                     SIGTRAP); /* mov rax, [moffs] */
    assert_int_equal(a.r[RAX], UINT64_C(0x0807060504030201));
}

/* From behind the instruction, its immediate included. */
TEST(addresses_relative_to_the_instruction)
{
    uint8_t load[6] = {0x8B, 0x05}, store[10] = {0xC7, 0x05, 0, 0, 0, 0, 1, 2, 3, 4};
    int64_t distance = memory - native.code;
    struct cpu a = {.flags = 0};

    if (distance != (int32_t)distance)
        skip();
    window = (struct window){.address = (uint64_t)(uintptr_t)memory, .bytes = {0x0A, 0x0B, 0x0C, 0x0D}};
    memcpy(load + 2, &(int32_t){(int32_t)distance - 6}, 4);
    memcpy(store + 2, &(int32_t){(int32_t)distance - 10}, 4);
    assert_int_equal(run_refused(&a, load, sizeof(load)), SIGTRAP);
    assert_int_equal(a.r[RAX], 0x0D0C0B0A);
    assert_int_equal(run_refused(&a, store, sizeof(store)), SIGTRAP);
    assert_memory_equal(window.bytes, "\x01\x02\x03\x04", 4);
}

TEST(anything_else_is_refused_and_changes_nothing)
{
    static const uint8_t nowhere[] = {0x8B, 0x00}, cr3[] = {0x0F, 0x20, 0xD8}, call[] = {0xFF, 0x13},
                         jump[] = {0xFF, 0x23}, ud2[] = {0x0F, 0x0B}, hlt[] = {0xF4},
                         registers[] = {0x8B, 0xC3}, cut[] = {0x8B, 0x83, 0, 0},
                         masked[] = {0xC4, 0xE2, 0x79, 0x2E, 0x03},
                         gather[] = {0xC4, 0xE2, 0x69, 0x90, 0x04, 0x0B}, xsave[] = {0x0F, 0xAE, 0x23};
    gregset_t g = {0}, before;
    struct rng rng = {.state = 4};

#define REFUSED(code) assert_false(emulate(g, code, sizeof(code)))
    window = (struct window){.address = 0x10000};
    g[REG_RIP] = 0x1000;
    g[REG_RBX] = (greg_t)window.address;
    memcpy(before, g, sizeof(g));
    REFUSED(nowhere);
    REFUSED(cr3);
    REFUSED(call);
    REFUSED(jump);
    REFUSED(ud2);
    REFUSED(hlt);
    REFUSED(registers);
    REFUSED(cut);
    REFUSED(masked);
    REFUSED(gather);
    REFUSED(xsave);
    assert_memory_equal(g, before, sizeof(g));
    assert_int_equal(window.reads + window.writes, 0);
    for (unsigned i = 0; i < 200000; i++) { /* bytes of chance read no further than there are */
        size_t size = rng_next(&rng) % 16;
        uint8_t *code = malloc(size ? size : 1);
        assert_non_null(code);
        for (size_t n = 0; n < size; n++)
            code[n] = (uint8_t)rng_next(&rng);
        g[REG_RCX] = 3;
        emulate(g, code, size);
        free(code);
    }
}

TEST_GROUP(setup, NULL);
