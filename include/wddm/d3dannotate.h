/* SPDX-License-Identifier: MIT */
/* d3dannotate.h: what a program calls its work, told to a driver that wants to know. Not of the WDK, whose
 * interfaces drop it: a driver that exports GetAnnotationFuncs is told, another never is.
 */
#pragma once

#include "wddm/d3d10umddi.h"

typedef struct D3DDDI_ANNOTATION_FUNCS {
    /* Zero-terminated UTF-8. */
    VOID(APIENTRY *pfnBeginRegion)(D3D10DDI_HDEVICE, CONST CHAR *name);
    VOID(APIENTRY *pfnEndRegion)(D3D10DDI_HDEVICE);
    VOID(APIENTRY *pfnMarker)(D3D10DDI_HDEVICE, CONST CHAR *text);
} D3DDDI_ANNOTATION_FUNCS;

/* The export GetAnnotationFuncs. */
typedef VOID(APIENTRY *PFND3DDDI_GETANNOTATIONFUNCS)(D3DDDI_ANNOTATION_FUNCS *);
