/* SPDX-License-Identifier: MIT */
/* toy_api.h: an API of the tests' own, with a handful of calls: what src/record does for one that it has never seen. */
#pragma once

#include "record/api.h"

enum toy_method {
    TOY_NONE,
    TOY_Note,
    TOY_MemoryWrite,
    TOY_ReadbackHash,
    TOY_Open,    /* makes a Desk */
    TOY_NewPen,  /* of a Desk: makes a Pen */
    TOY_SetName, /* of anything */
    TOY_Line,    /* of a Pen */
    TOY_Count,   /* of a Pen: asks */
    TOY_Release, /* of anything */
    TOY_Turn,    /* of a Desk: ends a frame */
    TOY_NUM
};

enum { TOY_IFACE_Thing, TOY_IFACE_Desk, TOY_IFACE_Pen, TOY_NUM_IFACES };

extern const struct api toy_api;
