/* SPDX-License-Identifier: MIT */
/* recovery.h: what becomes of work that does not end, for programs that make some on purpose: a D3DKMTEscape of type
 * DXGK_ESCAPE_RECOVERY with a struct dxgk_recovery. On Windows they read it in the registry; who asks over a socket has no other way.
 */
#pragma once

#include <stdint.h>

#define DXGK_ESCAPE_RECOVERY 0x4F434552 /* "RECO"; far from the WDK's types */

struct dxgk_recovery {
    uint32_t level;                     /* TdrLevel */
    uint32_t delay_s, ddi_delay_s;      /* TdrDelay, TdrDdiDelay */
    uint32_t limit_count, limit_time_s; /* TdrLimitCount, TdrLimitTime */
    uint32_t resets;                    /* of those that count against the limit, within its time */
};
