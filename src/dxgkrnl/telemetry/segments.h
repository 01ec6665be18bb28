/* SPDX-License-Identifier: MIT */
/* segments.h: the memory segments that the miniport reported (DXGK_QUERYSEGMENTOUT), and what is in them: a D3DKMTEscape of type
 * DXGK_ESCAPE_SEGMENTS with a struct dxgk_segments. The thunks of Windows 7 tell sizes and statistics, and neither bases nor flags.
 * Any client may ask.
 */
#pragma once

#include <stdint.h>

#define DXGK_ESCAPE_SEGMENTS 0x53474553 /* "SEGS"; far from the WDK's types */

enum { DXGK_SEGMENTS_MAX = 32 };

struct dxgk_segments {
    uint32_t count;
    uint32_t paging_buffer_segment; /* 1-based; 0: contiguous system memory */
    uint32_t paging_buffer_bytes, paging_buffer_private_bytes;
    struct {
        uint64_t base, bytes, commit_limit;
        uint64_t committed, resident;
        uint32_t flags, reserved; /* DXGK_SEGMENTFLAGS */
    } segment[DXGK_SEGMENTS_MAX];
};
