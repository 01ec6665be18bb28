/* SPDX-License-Identifier: MIT */
#include "umd/d3d10/umd10.h"

#include "umd/annotate.h"
#include "wddm/d3dannotate.h"

/* A view of all of a resource is the resource to the device, and a program's name of it not the resource's. */
static uint32_t device_name(const void *object, D3DDDI_NAMED what)
{
    const struct umd10_view *v = object;

    switch (what) {
    case D3DDDI_NAMED_RESOURCE:
        return ((const struct umd10_resource *)object)->name;
    case D3DDDI_NAMED_VIEW:
        return v->own ? v->name : 0;
    default:
        return ((const struct umd10_shader *)object)->name;
    }
}

static VOID APIENTRY name(D3D10DDI_HDEVICE h, VOID *object, D3DDDI_NAMED what, CONST CHAR *text)
{
    struct umd10_device *d = umd10_device(h);

    if (umd10_has(d, AEROGPU_EXT_FEATURE(EXT_NAMES)))
        UMD_NAME(umd10, d, device_name(object, what), text);
}

static VOID APIENTRY container(D3D10DDI_HDEVICE h, CONST VOID *bytes, SIZE_T size)
{
    umd10_device(h)->container = bytes;
    umd10_device(h)->container_size = size;
}

UMD_ANNOTATIONS(umd10, D3D10DDI_HDEVICE, D3DDDI_ANNOTATION_FUNCS, GetAnnotationFuncs, .pfnName = name,
                .pfnContainer = container)
