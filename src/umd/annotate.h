/* SPDX-License-Identifier: MIT */
/* annotate.h: what a program calls its work, as packets that a crash dump is explained by: of the driver whose functions begin with
 * `driver`, whose devices are a `handle`, with a table of `functions` that `entry` fills in, and what else it has of its own. The text is
 * padded with zeroes to four bytes, as all tails are. */
#pragma once

#include <string.h>

#include "abi/builder.h"
#include "base/export.h"

/* What the device does not know has no name. */
#define UMD_NAME(driver, d, object_name, text)                                                               \
    do {                                                                                                     \
        uint32_t object_ = (object_name), size_ = (uint32_t)strlen(text);                                    \
        if (object_) {                                                                                       \
            driver##_room(d, size_ + 64);                                                                    \
            ABI_EMIT_TAIL(&(d)->stream, EXT_NAME, ext_name, text, size_, .object = object_);                 \
        }                                                                                                    \
    } while (0)

#define UMD_ANNOTATIONS(driver, handle, functions, entry, ...)                                               \
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
        *f = (functions){                                                                                    \
            .pfnBeginRegion = begin_region, .pfnEndRegion = end_region, .pfnMarker = marker, __VA_ARGS__};   \
    }
