/* SPDX-License-Identifier: MIT */
/* annotate.c: what a program calls its work, as packets that a crash dump is explained by. */
#include "umd/d3d9/umd9.h"
#include "base/export.h"

#include "wddm/d3dannotate9.h"

/* The text is padded with zeroes to four bytes, as all tails are. */
static void say(HANDLE h, uint32_t opcode, const char *text)
{
    struct umd9_device *d = umd9_device(h);
    struct aerogpu_cmd_debug_marker m = {0};
    uint32_t size = text ? (uint32_t)strlen(text) : 0;

    umd9_room(d, size + 64);
    abi_builder_packet(&d->stream, opcode, &m, sizeof(m), text, size);
}

static VOID APIENTRY begin_region(HANDLE h, CONST CHAR *name)
{
    say(h, AEROGPU_CMD_EXT_PUSH_MARKER, name);
}

static VOID APIENTRY end_region(HANDLE h)
{
    say(h, AEROGPU_CMD_EXT_POP_MARKER, NULL);
}

static VOID APIENTRY marker(HANDLE h, CONST CHAR *text)
{
    say(h, AEROGPU_CMD_DEBUG_MARKER, text);
}

EXPORT VOID APIENTRY GetAnnotationFuncs9(D3DDDI_ANNOTATION_FUNCS9 *f);

VOID APIENTRY GetAnnotationFuncs9(D3DDDI_ANNOTATION_FUNCS9 *f)
{
    *f = (D3DDDI_ANNOTATION_FUNCS9){
        .pfnBeginRegion = begin_region, .pfnEndRegion = end_region, .pfnMarker = marker};
}
