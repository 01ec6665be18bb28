/* SPDX-License-Identifier: MIT */
/* emulate.h: does one instruction of a driver's image that a process may not do, or whose operand is not memory here:
 *
 *  - CR8, the processor's IRQL (KeGetCurrentIrql, KeRaiseIrql and KeLowerIrql are inline on x64), and WBINVD;
 *  - register windows (READ_REGISTER_ULONG and its relatives are plain accesses on x64), by the moves, tests and arithmetic
 *    that compilers make of volatile accesses (MOVD and MOVQ among them), and by REP MOVS and STOS;
 *  - the current thread and processor number in the processor control region (GS:[...]);
 *  - IN and OUT of ports;
 *  - times in the page at 0xFFFFF78000000000 that Windows shares with everybody;
 *
 * Sources: the processors' manuals; public documentation of KPCR and KUSER_SHARED_DATA.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The general registers as instructions number them, RIP, and the flags. */
struct emulate_cpu {
    uint64_t r[16], rip, flags;
    uint64_t (*xmm)[2]; /* the 16 vector registers, low half first */
};

/* What is behind addresses. Accesses have 1, 2, 4 or 8 bytes. false: nothing is there. */
struct emulate_bus {
    void *ctx;
    bool (*read)(void *ctx, bool gs, uint64_t address, unsigned size, uint64_t *value);
    bool (*write)(void *ctx, bool gs, uint64_t address, unsigned size, uint64_t value);
    uint64_t (*read_cr8)(void *ctx);
    void (*write_cr8)(void *ctx, uint64_t value);
    uint32_t (*port)(void *ctx, bool write, uint16_t port, unsigned size, uint32_t value); /* what was read */
};

/* Does the instruction at `code`, of which `size` bytes may be read, and moves RIP behind it. false: it is not one of those
 * above, or nothing is at its address; then `cpu` is as before, unless the second half of a copy failed. */
bool dxgk_emulate(struct emulate_cpu *cpu, const uint8_t *code, size_t size, const struct emulate_bus *bus);
