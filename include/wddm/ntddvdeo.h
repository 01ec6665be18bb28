/* SPDX-License-Identifier: MIT */
/* ntddvdeo.h: what display miniports use of the video port's header.
 *
 * Members: the WDK's public documentation.
 */
#pragma once

#include "wddm/ntddk.h"

typedef struct _VIDEO_MODE_INFORMATION {
    ULONG Length;
    ULONG ModeIndex;
    ULONG VisScreenWidth;
    ULONG VisScreenHeight;
    ULONG ScreenStride;
    ULONG NumberOfPlanes;
    ULONG BitsPerPlane;
    ULONG Frequency;
    ULONG XMillimeter;
    ULONG YMillimeter;
    ULONG NumberRedBits;
    ULONG NumberGreenBits;
    ULONG NumberBlueBits;
    ULONG RedMask;
    ULONG GreenMask;
    ULONG BlueMask;
    ULONG AttributeFlags;
    ULONG VideoMemoryBitmapWidth;
    ULONG VideoMemoryBitmapHeight;
    ULONG DriverSpecificAttributeFlags;
} VIDEO_MODE_INFORMATION, *PVIDEO_MODE_INFORMATION;

typedef struct _VIDEO_MODE {
    ULONG RequestedMode;
} VIDEO_MODE, *PVIDEO_MODE;

#define VIDEO_MODE_COLOR           0x0001
#define VIDEO_MODE_GRAPHICS        0x0002
#define VIDEO_MODE_PALETTE_DRIVEN  0x0004
#define VIDEO_MODE_MANAGED_PALETTE 0x0008
#define VIDEO_MODE_NO_OFF_SCREEN   0x0080
