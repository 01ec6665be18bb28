/* SPDX-License-Identifier: MIT */
/* d3dannotate9.h: what a program calls its work, told to a driver for Direct3D 9 that wants to know, as d3dannotate.h does for
 * later ones. Not of the WDK. */
#pragma once

#include "wddm/d3dumddi.h"

typedef struct D3DDDI_ANNOTATION_FUNCS9 { /* the first argument: the driver's device */
    /* Zero-terminated UTF-8. */
    VOID(APIENTRY *pfnBeginRegion)(HANDLE, CONST CHAR *name);
    VOID(APIENTRY *pfnEndRegion)(HANDLE);
    VOID(APIENTRY *pfnMarker)(HANDLE, CONST CHAR *text);
    VOID(APIENTRY *pfnName)(HANDLE, HANDLE resource, CONST CHAR *name);
} D3DDDI_ANNOTATION_FUNCS9;

/* The export GetAnnotationFuncs9. */
typedef VOID(APIENTRY *PFND3DDDI_GETANNOTATIONFUNCS9)(D3DDDI_ANNOTATION_FUNCS9 *);
