/* SPDX-License-Identifier: MIT */
/* fault.c: see fault.h. The faults are those of the instruction that runs, so the handler may do what the driver might have
 * called at its place: it holds no lock of ours. */
#include "dxgkrnl/image/fault.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <ucontext.h>

#include "base/log.h"
#include "dxgkrnl/adapter.h"
#include "dxgkrnl/image/emulate.h"
#include "dxgkrnl/image/image.h"
#include "dxgkrnl/kernel/state.h"

#if defined(__x86_64__)

enum { MOST_CODE = 15 }; /* bytes of an instruction */
#define SHARED_PAGE UINT64_C(0xFFFFF78000000000)

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

static bool bus_is(void *ctx, bool gs, uint64_t address, size_t size)
{
    uint64_t value;

    if (gs)
        return size <= sizeof(value) && processor_region(ctx, address, &value);
    return (size <= 0x400 && address - SHARED_PAGE <= 0x400 - size) ||
           dxgk_ntos_is_register(ctx, address, size);
}

/* The device has words: an access is of those that it lies in, or of parts where it begins or ends in one. */
static unsigned word_at(uint64_t address, size_t size)
{
    return address % 4 == 0 && size >= 4 ? 4 : address % 2 == 0 && size >= 2 ? 2 : 1;
}

static void bus_read(void *ctx, bool gs, uint64_t address, size_t size, void *bytes)
{
    uint8_t page[0x400], *to = bytes;
    uint64_t value = 0;

    if (gs) {
        processor_region(ctx, address, &value);
        memcpy(bytes, &value, size);
    } else if (address - SHARED_PAGE < sizeof(page)) {
        shared_page(ctx, page);
        memcpy(bytes, page + (address - SHARED_PAGE), size);
    } else {
        for (unsigned n; size; size -= n, address += n, to += n) {
            n = word_at(address, size);
            dxgk_ntos_register(ctx, false, address, n, &value);
            memcpy(to, &value, n);
        }
    }
}

static void bus_write(void *ctx, bool gs, uint64_t address, size_t size, const void *bytes)
{
    const uint8_t *from = bytes;
    uint64_t value;

    (void)gs; /* nothing there can be written */
    for (unsigned n; size; size -= n, address += n, from += n) {
        n = word_at(address, size);
        value = 0;
        memcpy(&value, from, n);
        dxgk_ntos_register(ctx, true, address, n, &value);
    }
}

static uint64_t read_cr8(void *ctx)
{
    return dxgk_kernel_irql(((const struct dxgk *)ctx)->kernel);
}

static void write_cr8(void *ctx, uint64_t value)
{
    struct kernel *k = ((const struct dxgk *)ctx)->kernel;
    KIRQL to = (KIRQL)(value & 15);

    if (to >= dxgk_kernel_irql(k))
        dxgk_kernel_raise(k, to);
    else
        dxgk_kernel_lower(k, to);
}

static uint32_t bus_port(void *ctx, bool write, uint16_t port, unsigned size, uint32_t value)
{
    return dxgk_ntos_port(ctx, write, port, size, value);
}

/* ---- the handler --------------------------------------------------------- */

/* The bytes of an instruction that begins there and runs. */
static size_t code_size(const uint8_t *code)
{
    size_t to_end = PAGE_SIZE - (uintptr_t)code % PAGE_SIZE;

    return to_end < MOST_CODE && dxgk_emulate_length(code, to_end) ? to_end : MOST_CODE;
}

static struct emulate_bus bus_of(struct dxgk *d)
{
    return (struct emulate_bus){d, bus_is, bus_read, bus_write, read_cr8, write_cr8, bus_port};
}

/* Registers are memory to the C library and to a shared object as well: where it faults on them, it is told by the address. How
 * much of code can be read there is known to the end of the page, and as far as the instruction goes. */
static bool outside_of_images(struct dxgk *d, ucontext_t *uc, const uint8_t *code, const siginfo_t *info)
{
    struct emulate_bus bus = bus_of(d);

    return info->si_addr != code && info->si_code == SEGV_ACCERR &&
           dxgk_ntos_is_register(d, (uintptr_t)info->si_addr, 1) &&
           dxgk_emulate(uc, code, code_size(code), &bus);
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

/* One in a driver's image. */
static bool in_image(int sig, siginfo_t *info, ucontext_t *uc, const uint8_t *code, size_t size)
{
    struct dxgk *d = dxgk_kernel_ctx(dxgk_kernel_self("a driver's image"));
    struct emulate_bus bus = bus_of(d);
    char where[100];

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
    if (dxgk_emulate(uc, code, size, &bus))
        return true;
    log_error("dxgkrnl", "the driver faults at %s, on address %p (code %02x %02x %02x %02x)", where,
              info->si_addr, code[0], size > 1 ? code[1] : 0, size > 2 ? code[2] : 0, size > 3 ? code[3] : 0);
    return false;
}

bool dxgk_image_fault(int sig, siginfo_t *info, void *context)
{
    struct kernel *k = dxgk_kernel_here();
    ucontext_t *uc = context;
    const uint8_t *code;
    size_t size;

    if (k) {
        struct emulate_bus bus = bus_of(dxgk_kernel_ctx(k));
        enum emulate_return r = dxgk_emulate_return(uc, &bus);
        if (r == EMULATE_FAULTED || (r == EMULATE_DONE && sig == SIGSEGV))
            return r == EMULATE_DONE; /* what faults out of line would do so again */
    }
    if (sig != SIGSEGV && sig != SIGTRAP)
        return false;
    code = (const uint8_t *)uc->uc_mcontext.gregs[REG_RIP]; /* SIGTRAP: behind the breakpoint */
    size = dxgk_image_code(code);
    if (size)
        return in_image(sig, info, uc, code, size);
    if (sig == SIGSEGV && k && outside_of_images(dxgk_kernel_ctx(k), uc, code, info))
        return true;
    describe_wild_call(info, uc);
    return false;
}

bool dxgk_image_refused(const siginfo_t *info, const void *context, char *text, size_t size)
{
    const ucontext_t *uc = context;
    const uint8_t *code = (const uint8_t *)uc->uc_mcontext.gregs[REG_RIP];
    struct kernel *k = dxgk_kernel_here();
    size_t length, at;

    if (!k || info->si_addr == code || info->si_code != SEGV_ACCERR ||
        !dxgk_ntos_is_register(dxgk_kernel_ctx(k), (uintptr_t)info->si_addr, 1))
        return false;
    at = (size_t)snprintf(text, size, "an access to registers that this kernel cannot carry out:");
    length = dxgk_emulate_length(code, code_size(code));
    for (size_t n = 0; n < length && at + 3 < size; n++)
        at += (size_t)snprintf(text + at, size - at, " %02x", code[n]);
    return true;
}

#else

bool dxgk_image_fault(int sig, siginfo_t *info, void *context)
{
    (void)sig;
    (void)info;
    (void)context;
    return false;
}

bool dxgk_image_refused(const siginfo_t *info, const void *context, char *text, size_t size)
{
    (void)info;
    (void)context;
    (void)text;
    (void)size;
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
