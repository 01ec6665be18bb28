/* SPDX-License-Identifier: MIT */
/* annotate.h: what a program calls its work, as packets that a crash dump is explained by: of the driver whose functions begin with
 * `driver`, whose devices are a `handle`, with a table of `functions` that `entry` fills in. The text is padded with zeroes to four
 * bytes, as all tails are. */
#pragma once

#include <string.h>

#include "abi/builder.h"
#include "base/export.h"

#define UMD_ANNOTATIONS(driver, handle, functions, entry)                                                    \
    static void say(handle h, uint32_t opcode, const char *text)                                             \
    {                                                                                                        \
        struct aerogpu_cmd_debug_marker m = {0};                                                             \
        uint32_t size = text ? (uint32_t)strlen(text) : 0;                                                   \
                                                                                                             \
        driver##_room(driver##_device(h), size + 64);                                                        \
        abi_builder_packet(&driver##_device(h)->stream, opcode, &m, sizeof(m), text, size);                  \
    }                                                                                                        \
    static VOID APIENTRY begin_region(handle h, CONST CHAR *name)                                            \
    {                                                                                                        \
        say(h, AEROGPU_CMD_EXT_PUSH_MARKER, name);                                                           \
    }                                                                                                        \
    static VOID APIENTRY end_region(handle h)                                                                \
    {                                                                                                        \
        say(h, AEROGPU_CMD_EXT_POP_MARKER, NULL);                                                            \
    }                                                                                                        \
    static VOID APIENTRY marker(handle h, CONST CHAR *text)                                                  \
    {                                                                                                        \
        say(h, AEROGPU_CMD_DEBUG_MARKER, text);                                                              \
    }                                                                                                        \
    EXPORT VOID APIENTRY entry(functions *f);                                                                \
    VOID APIENTRY entry(functions *f)                                                                        \
    {                                                                                                        \
        *f = (functions){.pfnBeginRegion = begin_region, .pfnEndRegion = end_region, .pfnMarker = marker};   \
    }
