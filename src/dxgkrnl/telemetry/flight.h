/* SPDX-License-Identifier: MIT */
/* flight.h: what dxgkrnl tells the flight recorder of its process, where AEROGPU_FLIGHT names a folder. */
#pragma once

#include <aerogpu/blackbox.h>

/* F(NAME, text) */
#define DXGK_FLIGHTS(F)                                                                                      \
    F(SUBMIT, "submit(fence, bytes, process)")                                                               \
    F(COMPLETE, "complete(fence, microseconds)")                                                             \
    F(VBLANK, "vblank(target, address)")                                                                     \
    F(RESET, "reset(epoch)")                                                                                 \
    F(LOG, "log(event)")

enum dxgk_flight {
#define DXGK_ROW(NAME, text) DXGK_FLIGHT_##NAME,
    DXGK_FLIGHTS(DXGK_ROW)
#undef DXGK_ROW
};

static inline struct bb_flight *dxgk_flight_open(void)
{
    struct bb_flight *f = bb_flight_of_process("dxgkrnl");

#define DXGK_ROW(NAME, text) bb_flight_name(f, DXGK_FLIGHT_##NAME, text);
    DXGK_FLIGHTS(DXGK_ROW)
#undef DXGK_ROW
    return f;
}
