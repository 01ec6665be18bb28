/* SPDX-License-Identifier: MIT */
#include "umd/d3d9/umd9.h"

#include "umd/annotate.h"
#include "wddm/d3dannotate9.h"

static VOID APIENTRY name(HANDLE h, HANDLE resource, CONST CHAR *text)
{
    struct umd9_device *d = umd9_device(h);

    if (d->info.device_features & AEROGPU_EXT_FEATURE(EXT_NAMES))
        UMD_NAME(umd9, d, ((const struct umd9_resource *)resource)->name, text);
}

UMD_ANNOTATIONS(umd9, HANDLE, D3DDDI_ANNOTATION_FUNCS9, GetAnnotationFuncs9, .pfnName = name)
