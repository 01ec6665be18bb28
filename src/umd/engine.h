/* SPDX-License-Identifier: MIT */
/* engine.h: the engine that is a process's own (EXT_ENGINES), as the drivers behind Direct3D ask for it. */
#pragma once

#include <aerogpu/ext.h>

#include "wddm/d3dumddi.h"

/* What a context's NodeOrdinal is to be, once its device is there; `info` is asked for again. */
static inline UINT umd_engine(PFND3DDDI_QUERYADAPTERINFOCB query, HANDLE adapter,
                              struct aerogpu_umd_private *info)
{
    D3DDDICB_QUERYADAPTERINFO q = {.pPrivateDriverData = info, .PrivateDriverDataSize = sizeof(*info)};

    return query(adapter, &q) == S_OK ? AEROGPU_EXT_UMD_PRIVATE_ENGINE(info->flags) : 0;
}
