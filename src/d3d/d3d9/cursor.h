/* SPDX-License-Identifier: MIT */
/* cursor.h: pointers as the window system has them. Elsewhere there is no pointer, and a picture is a picture. */
#pragma once

#include "d3d/d3d9/com9.h"

/* A8R8G8B8. NULL: no memory. */
static inline void *d9_cursor_make(const void *bits, UINT pitch, UINT width, UINT height, UINT x, UINT y)
{
#if defined(_WIN32)
    BITMAPV5HEADER h = {.bV5Size = sizeof(h),
                        .bV5Width = (LONG)width,
                        .bV5Height = -(LONG)height,
                        .bV5Planes = 1,
                        .bV5BitCount = 32,
                        .bV5Compression = BI_BITFIELDS,
                        .bV5RedMask = 0xFF0000,
                        .bV5GreenMask = 0xFF00,
                        .bV5BlueMask = 0xFF,
                        .bV5AlphaMask = 0xFF000000};
    ICONINFO icon = {.fIcon = FALSE, .xHotspot = x, .yHotspot = y};
    void *to = NULL;
    HCURSOR cursor = NULL;

    icon.hbmColor = CreateDIBSection(NULL, (BITMAPINFO *)&h, DIB_RGB_COLORS, &to, NULL, 0);
    icon.hbmMask = CreateBitmap((int)width, (int)height, 1, 1, NULL);
    for (UINT i = 0; to && i < height; i++)
        memcpy((uint8_t *)to + 4 * (size_t)width * i, (const uint8_t *)bits + (size_t)pitch * i,
               4 * (size_t)width);
    if (to && icon.hbmMask)
        cursor = CreateIconIndirect(&icon);
    DeleteObject(icon.hbmColor);
    DeleteObject(icon.hbmMask);
    return cursor;
#else
    return malloc(1);
#endif
}

static inline void d9_cursor_end(void *cursor)
{
#if defined(_WIN32)
    if (cursor)
        DestroyCursor(cursor);
#else
    free(cursor);
#endif
}

/* NULL: none is shown. */
static inline void d9_cursor_show(void *cursor)
{
#if defined(_WIN32)
    SetCursor(cursor);
#endif
}

static inline void d9_cursor_move(int x, int y)
{
#if defined(_WIN32)
    SetCursorPos(x, y);
#endif
}
