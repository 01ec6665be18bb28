/* SPDX-License-Identifier: MIT */
/* emulate.h: does one instruction that a process may not do, or whose operand is not memory here:
 *
 *  - CR8, the processor's IRQL (KeGetCurrentIrql, KeRaiseIrql and KeLowerIrql are inline on x64), and WBINVD;
 *  - IN and OUT of ports;
 *  - whatever has an operand that is behind the bus: register windows (READ_REGISTER_ULONG and its relatives are plain accesses
 *    on x64), the processor control region (GS:[...]), the page at 0xFFFFF78000000000 that Windows shares with everybody.
 *
 * The last the processor does itself, out of line: a copy of the instruction runs whose operand is a shadow of what is behind
 * the bus. The shadow is filled before if the instruction reads it, and written back behind it if it writes. The copy ends in
 * an instruction that faults, and dxgk_emulate_return goes on behind the original. Each thread has a copy and shadows of its
 * own. Not done: jumps through such an operand, gathers, scatters and masked moves (they read and write as they find).
 *
 * Sources: the processors' manuals; public documentation of KPCR and KUSER_SHARED_DATA.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <ucontext.h>

/* What is behind addresses. */
struct emulate_bus {
    void *ctx;
    bool (*is)(void *ctx, bool gs, uint64_t address, size_t size); /* all of it is on the bus */
    void (*read)(void *ctx, bool gs, uint64_t address, size_t size, void *bytes);
    void (*write)(void *ctx, bool gs, uint64_t address, size_t size, const void *bytes);
    uint64_t (*read_cr8)(void *ctx);
    void (*write_cr8)(void *ctx, uint64_t value);
    uint32_t (*port)(void *ctx, bool write, uint16_t port, unsigned size, uint32_t value); /* what was read */
};

/* In a handler: does the instruction at RIP, which is at `code`, of which `size` bytes may be read, or begins to. false: it is
 * not one of those above, and nothing has changed. */
bool dxgk_emulate(ucontext_t *uc, const uint8_t *code, size_t size, const struct emulate_bus *bus);

/* In a handler of any signal that an instruction makes: if it comes from a copy, `uc` is put back to the original, behind it
 * where the copy is done (then what it wrote goes to the bus), else in front. */
enum emulate_return { EMULATE_ELSEWHERE, EMULATE_DONE, EMULATE_FAULTED };
enum emulate_return dxgk_emulate_return(ucontext_t *uc, const struct emulate_bus *bus);
/* The length of the instruction; 0: there is none. */
size_t dxgk_emulate_length(const uint8_t *code, size_t size);
