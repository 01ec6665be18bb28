/* SPDX-License-Identifier: MIT */
/* d3dannotate.h: what a program calls its work, told to a driver that wants to know. Not of the WDK, whose
 * interfaces drop it: a driver that exports GetAnnotationFuncs is told, another never is.
 */
#pragma once

#include "wddm/d3d10umddi.h"

typedef enum D3DDDI_NAMED { D3DDDI_NAMED_RESOURCE, D3DDDI_NAMED_VIEW, D3DDDI_NAMED_SHADER } D3DDDI_NAMED;

typedef struct D3DDDI_ANNOTATION_FUNCS {
    /* Zero-terminated UTF-8. */
    VOID(APIENTRY *pfnBeginRegion)(D3D10DDI_HDEVICE, CONST CHAR *name);
    VOID(APIENTRY *pfnEndRegion)(D3D10DDI_HDEVICE);
    VOID(APIENTRY *pfnMarker)(D3D10DDI_HDEVICE, CONST CHAR *text);
    /* Of an object of the driver's: the private data of its handle. An empty name takes the name away. */
    VOID(APIENTRY *pfnName)(D3D10DDI_HDEVICE, VOID *object, D3DDDI_NAMED what, CONST CHAR *name);
    /* The container whose program the next call makes a shader of: its reflection and debug information. It lives until then. */
    VOID(APIENTRY *pfnContainer)(D3D10DDI_HDEVICE, CONST VOID *container, SIZE_T size);
} D3DDDI_ANNOTATION_FUNCS;

/* The export GetAnnotationFuncs. */
typedef VOID(APIENTRY *PFND3DDDI_GETANNOTATIONFUNCS)(D3DDDI_ANNOTATION_FUNCS *);
