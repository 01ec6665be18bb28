/* SPDX-License-Identifier: MIT */
/* faults.h: what can be made to go wrong on purpose, to see the stack survive it.
 *
 * Faults are armed by the host (dxgk_inject) or, where the setting EnableFaultInjection under
 * HKLM\SYSTEM\CurrentControlSet\Control\GraphicsDrivers is 1, by a privileged client with a D3DKMTEscape of type
 * DXGK_ESCAPE_INJECT and a struct dxgk_injection. Each happens `value` times, to the next occasions, unless its line says
 * otherwise.
 */
#pragma once

#include <stdint.h>

#define DXGK_ESCAPE_INJECT 0x544C5541 /* "AULT"; far from the WDK's types */

#define DXGK_FAULTS(F)                                                                                       \
    F(LOSE_INTERRUPT, "lose-interrupt", "a message of the device never arrives")                             \
    F(DOUBLE_INTERRUPT, "double-interrupt", "a message arrives twice")                                       \
    F(DELAY_INTERRUPT, "delay-interrupt", "the next message arrives `value` microseconds late")              \
    F(MISS_VBLANK, "miss-vblank", "a vblank is not noticed")                                                 \
    F(LATE_VBLANK, "late-vblank", "the next vblank is noticed `value` microseconds late")                    \
    F(BURST_VBLANK, "burst-vblank", "the next vblank is reported `value` times more")                        \
    F(FAIL_RESET, "fail-reset", "DxgkDdiResetFromTimeout is taken to have failed")                           \
    F(BLOCK_DDI, "block-ddi", "the next call of DxgkDdiCreateDevice waits `value` milliseconds")             \
    F(LOSE_DOORBELL, "lose-doorbell", "host: a doorbell never reaches the device")                           \
    F(STALE_FENCE, "stale-fence", "host: a write of the fence page goes nowhere")                            \
    F(KILL_EXECUTOR, "kill-executor", "host: the executor is killed, at once and once")                      \
    F(STOP_EXECUTOR, "stop-executor", "host: the executor stands still, at once, until a reset replaces it") \
    F(LATE_EXECUTOR, "late-executor", "host: the executor stands still, at once, for `value` microseconds")

enum dxgk_fault {
#define DXGK_FAULT_ID(id, name, text) DXGK_FAULT_##id,
    DXGK_FAULTS(DXGK_FAULT_ID)
#undef DXGK_FAULT_ID
        DXGK_NUM_FAULTS
};

struct dxgk_injection {
    uint32_t fault; /* enum dxgk_fault */
    uint32_t value; /* 0 disarms */
};
