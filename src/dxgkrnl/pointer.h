/* SPDX-License-Identifier: MIT */
/* pointer.h: the hardware pointer, which on Windows win32k moves: here a privileged client does, with a D3DKMTEscape of type
 * DXGK_ESCAPE_POINTER and a struct dxgk_pointer.
 *
 * dxgkrnl asks of the miniport what it declared in DXGK_DRIVERCAPS (kinds and the largest size), hands shape and position on
 * (DxgkDdiSetPointerShape, DxgkDdiSetPointerPosition), and does so again after a reset, a mode change and sleep.
 */
#pragma once

#include <stdint.h>

#define DXGK_ESCAPE_POINTER 0x52544E50 /* "PNTR"; far from the WDK's types */

enum dxgk_pointer_shape { /* the bits of DXGK_POINTERFLAGS */
                          DXGK_POINTER_KEEP = 0,
                          DXGK_POINTER_MONOCHROME = 1, /* an AND mask over an XOR mask, a bit a pixel */
                          DXGK_POINTER_COLOR = 2,      /* 32-bit ARGB */
                          DXGK_POINTER_MASKED =
                              4, /* 32-bit RGB; what has 0xFF in the top byte is XORed with the screen */
};

struct dxgk_pointer {
    uint32_t source;  /* VidPnSourceId */
    int32_t x, y;     /* of the shape's top left corner; may be negative */
    uint32_t visible; /* 0 or 1 */
    uint32_t shape;   /* enum dxgk_pointer_shape; KEEP: as it was, and the rest is not looked at */
    uint32_t width, height, pitch, hot_x, hot_y;
    /* rows of `pitch` bytes follow: `height` of them, twice as many of a monochrome shape */
};
