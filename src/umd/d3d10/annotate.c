/* SPDX-License-Identifier: MIT */
#include "umd/d3d10/umd10.h"

#include "umd/annotate.h"
#include "wddm/d3dannotate.h"

UMD_ANNOTATIONS(umd10, D3D10DDI_HDEVICE, D3DDDI_ANNOTATION_FUNCS, GetAnnotationFuncs)
