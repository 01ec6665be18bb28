/* SPDX-License-Identifier: MIT */
/* injection.h: faults (faults.h) that are armed, on the places where they happen. */
#pragma once

#include <stdatomic.h>

#include "dxgkrnl/dxgkrnl.h"
#include "dxgkrnl/faults.h"
#include "dxgkrnl/kernel.h"

struct injection {
    _Atomic uint32_t armed[DXGK_NUM_FAULTS];
    bool allowed; /* EnableFaultInjection */
    struct ktimer late_timer, late_vblank;
    unsigned late_message;
    _Atomic uint64_t late_ns; /* when it is to be delivered; 0: none is held back */
    UINT late_target;
    PHYSICAL_ADDRESS late_address;
    uint64_t late_raised_ns;
};

/* Whether one that happens `value` times is due now. */
bool dxgk_fault_take(struct dxgk *d, enum dxgk_fault f);
/* The value of one that happens once; 0: it is not armed. */
uint32_t dxgk_fault_take_value(struct dxgk *d, enum dxgk_fault f);
/* A DDI that does not come back in time: waits inside it, where TdrDdiDelay counts. */
void dxgk_fault_block(struct dxgk *d);
void dxgk_faults_stop(struct dxgk *d);
