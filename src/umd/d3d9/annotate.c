/* SPDX-License-Identifier: MIT */
#include "umd/d3d9/umd9.h"

#include "umd/annotate.h"
#include "wddm/d3dannotate9.h"

UMD_ANNOTATIONS(umd9, HANDLE, D3DDDI_ANNOTATION_FUNCS9, GetAnnotationFuncs9)
