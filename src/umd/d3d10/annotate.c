/* SPDX-License-Identifier: MIT */
/* annotate.c: what a program calls its work, as packets that a crash dump is explained by. */
#include "umd/d3d10/umd10.h"
#include "base/export.h"

#include "wddm/d3dannotate.h"

/* The text is padded with zeroes to four bytes, as all tails are. */
static void say(D3D10DDI_HDEVICE h, uint32_t opcode, const char *text)
{
    struct umd10_device *d = umd10_device(h);
    struct aerogpu_cmd_debug_marker m = {0};
    uint32_t size = text ? (uint32_t)strlen(text) : 0;

    umd10_room(d, size + 64);
    abi_builder_packet(&d->stream, opcode, &m, sizeof(m), text, size);
}

static VOID APIENTRY begin_region(D3D10DDI_HDEVICE h, CONST CHAR *name)
{
    say(h, AEROGPU_CMD_EXT_PUSH_MARKER, name);
}

static VOID APIENTRY end_region(D3D10DDI_HDEVICE h)
{
    say(h, AEROGPU_CMD_EXT_POP_MARKER, NULL);
}

static VOID APIENTRY marker(D3D10DDI_HDEVICE h, CONST CHAR *text)
{
    say(h, AEROGPU_CMD_DEBUG_MARKER, text);
}

EXPORT VOID APIENTRY GetAnnotationFuncs(D3DDDI_ANNOTATION_FUNCS *f);

VOID APIENTRY GetAnnotationFuncs(D3DDDI_ANNOTATION_FUNCS *f)
{
    *f = (D3DDDI_ANNOTATION_FUNCS){
        .pfnBeginRegion = begin_region, .pfnEndRegion = end_region, .pfnMarker = marker};
}
