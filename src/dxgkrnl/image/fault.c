/* SPDX-License-Identifier: MIT */
/* fault.c: see fault.h. The faults are those of the instruction that runs, so the handler may do what the driver might have
 * called at its place: it holds no lock of ours. */
#include "dxgkrnl/image/fault.h"

#include <signal.h>
#include <string.h>
#include <ucontext.h>

#include "base/log.h"
#include "dxgkrnl/adapter.h"
#include "dxgkrnl/image/emulate.h"
#include "dxgkrnl/image/image.h"

#if defined(__x86_64__)

#define SHARED_PAGE UINT64_C(0xFFFFF78000000000)

static const int register_of[16] = {REG_RAX, REG_RCX, REG_RDX, REG_RBX, REG_RSP, REG_RBP, REG_RSI, REG_RDI,
                                    REG_R8,  REG_R9,  REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15};

/* ---- what is behind addresses -------------------------------------------- */

/* KUSER_SHARED_DATA: the times, which drivers read inline, and the version. */
static void shared_page(struct dxgk *d, uint8_t page[0x400])
{
    uint64_t now = dxgk_kernel_now(d->kernel) / 100, ticks = now / 156250;
    uint32_t multiplier = 0x0FA00000, version[2] = {6, 1}; /* 15.625 ms, Windows 7 */

    memset(page, 0, 0x400);
    memcpy(page + 0x004, &multiplier, 4);
    for (unsigned at = 0x008; at <= 0x014;
         at += 0x00C) { /* InterruptTime, SystemTime: low, high, high again */
        memcpy(page + at, &now, 8);
        memcpy(page + at + 8, (uint8_t *)&now + 4, 4);
    }
    memcpy(page + 0x26C, version, 8);
    memcpy(page + 0x320, &ticks, 8);
}

/* KPCR; the processor's number is 0. */
static bool processor_region(struct dxgk *d, uint64_t offset, uint64_t *value)
{
    *value = offset == 0x188 ? (uint64_t)(uintptr_t)dxgk_kernel_thread(d->kernel) : 0;
    return offset == 0x188 || offset == 0x184 || offset == 0x1A4;
}

struct fault {
    struct dxgk *d;
    uint64_t address;
};

/* A copy has two operands, of which one may be memory: it is that which did not fault. */
static bool is_memory(const struct fault *f, uint64_t address, unsigned size)
{
    return f->address - address >= size && address >= PAGE_SIZE && address < SHARED_PAGE;
}

static bool bus_read(void *ctx, bool gs, uint64_t address, unsigned size, uint64_t *value)
{
    const struct fault *f = ctx;
    uint8_t page[0x400];

    *value = 0;
    if (gs)
        return processor_region(f->d, address, value);
    if (address - SHARED_PAGE <= sizeof(page) - size) {
        shared_page(f->d, page);
        memcpy(value, page + (address - SHARED_PAGE), size);
        return true;
    }
    if (dxgk_ntos_register(f->d, false, address, size, value))
        return true;
    if (!is_memory(f, address, size))
        return false;
    memcpy(value, (const void *)(uintptr_t)address, size);
    return true;
}

static bool bus_write(void *ctx, bool gs, uint64_t address, unsigned size, uint64_t value)
{
    const struct fault *f = ctx;

    if (gs)
        return false;
    if (dxgk_ntos_register(f->d, true, address, size, &value))
        return true;
    if (!is_memory(f, address, size))
        return false;
    memcpy((void *)(uintptr_t)address, &value, size);
    return true;
}

static uint64_t read_cr8(void *ctx)
{
    return dxgk_kernel_irql(((const struct fault *)ctx)->d->kernel);
}

static void write_cr8(void *ctx, uint64_t value)
{
    struct kernel *k = ((const struct fault *)ctx)->d->kernel;
    KIRQL to = (KIRQL)(value & 15);

    if (to >= dxgk_kernel_irql(k))
        dxgk_kernel_raise(k, to);
    else
        dxgk_kernel_lower(k, to);
}

static uint32_t bus_port(void *ctx, bool write, uint16_t port, unsigned size, uint32_t value)
{
    return dxgk_ntos_port(((const struct fault *)ctx)->d, write, port, size, value);
}

/* ---- the handler --------------------------------------------------------- */

static bool emulate(struct fault *f, ucontext_t *uc, const uint8_t *code, size_t size)
{
    struct emulate_bus bus = {f, bus_read, bus_write, read_cr8, write_cr8, bus_port};
    greg_t *g = uc->uc_mcontext.gregs;
    uint64_t xmm[16][2];
    struct emulate_cpu cpu = {.rip = (uint64_t)g[REG_RIP], .flags = (uint64_t)g[REG_EFL], .xmm = xmm};
    bool done;

    memcpy(xmm, uc->uc_mcontext.fpregs->_xmm, sizeof(xmm));
    for (unsigned i = 0; i < 16; i++)
        cpu.r[i] = (uint64_t)g[register_of[i]];
    done = dxgk_emulate(&cpu, code, size, &bus);
    memcpy(uc->uc_mcontext.fpregs->_xmm, xmm, sizeof(xmm));
    for (unsigned i = 0; i < 16; i++)
        g[register_of[i]] = (greg_t)cpu.r[i];
    g[REG_RIP] = (greg_t)cpu.rip;
    g[REG_EFL] = (greg_t)cpu.flags;
    return done;
}

/* Nothing is where the processor went: what it was called from is on the stack. */
static void describe_wild_call(siginfo_t *info, ucontext_t *uc)
{
    const void *const *stack = (const void *const *)uc->uc_mcontext.gregs[REG_RSP];
    char where[100];

    if (info->si_addr == (const void *)uc->uc_mcontext.gregs[REG_RIP] &&
        (uintptr_t)stack % sizeof(*stack) == 0 && dxgk_image_describe(stack[0], where, sizeof(where)))
        log_error("dxgkrnl", "in front of %s the driver calls %p, where nothing is", where, info->si_addr);
}

bool dxgk_image_fault(int sig, siginfo_t *info, void *context)
{
    ucontext_t *uc = context;
    const uint8_t *code =
        (const uint8_t *)uc->uc_mcontext.gregs[REG_RIP]; /* SIGTRAP: behind the breakpoint */
    size_t size = dxgk_image_code(code);
    struct dxgk *d;
    char where[100];

    if (!size) {
        describe_wild_call(info, uc);
        return false;
    }
    d = dxgk_kernel_ctx(dxgk_kernel_self("a driver's image"));
    dxgk_image_describe(code, where, sizeof(where));
    if (sig == SIGTRAP) {
        dxgk_kernel_violation(d->kernel, "a breakpoint in front of %s", where);
        return true;
    }
    if (info->si_addr == code) {
        log_error("dxgkrnl", "%s is called, which is not there (any more)", where);
        return false;
    }
    if (size >= 2 && code[0] == 0xCD && code[1] == 0x2C) {
        dxgk_kernel_violation(d->kernel, "a failed assertion at %s", where);
        uc->uc_mcontext.gregs[REG_RIP] += 2;
        return true;
    }
    if (emulate(&(struct fault){d, (uint64_t)(uintptr_t)info->si_addr}, uc, code, size))
        return true;
    log_error("dxgkrnl", "the driver faults at %s, on address %p (code %02x %02x %02x %02x)", where,
              info->si_addr, code[0], size > 1 ? code[1] : 0, size > 2 ? code[2] : 0, size > 3 ? code[3] : 0);
    return false;
}

#else

bool dxgk_image_fault(int sig, siginfo_t *info, void *context)
{
    (void)sig;
    (void)info;
    (void)context;
    return false;
}

#endif

void dxgk_image_pass_on(const struct sigaction *had, int sig, siginfo_t *info, void *context)
{
    if (had->sa_flags & SA_SIGINFO && had->sa_sigaction)
        had->sa_sigaction(sig, info, context);
    else if (had->sa_handler != SIG_DFL && had->sa_handler != SIG_IGN)
        had->sa_handler(sig);
    else
        sigaction(sig, &(struct sigaction){.sa_handler = SIG_DFL}, NULL);
    if ((info->si_code <= 0 || sig == SIGSYS) &&
        had->sa_handler == SIG_DFL) /* no instruction that would run again */
        raise(sig);
}
