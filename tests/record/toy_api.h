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
    TOY_AddRef,  /* of anything */
    TOY_Contents,
    TOY_FrameHash,
    TOY_NewSheet, /* of a Desk, with a Pen: makes a Sheet, which that pen is drawing on */
    TOY_Begin,    /* of a Sheet, with a Pen */
    TOY_Stroke,   /* of a Sheet */
    TOY_End,      /* of a Sheet */
    TOY_Show,     /* of a Desk: its Sheets */
    TOY_Pin,      /* of a Desk: a Pen into a place of a Desk */
    TOY_Repin,    /* of a Desk: what is in so many places into so many others */
    TOY_RepinAll, /* of a Desk: the same for many */
    TOY_Lift,     /* of a Desk: it is the program's to write into until */
    TOY_Lower,
    TOY_Where, /* of a Desk: always in the same place */
    TOY_Ring,  /* of a Desk: a bell rings until */
    TOY_Hush,
    TOY_NUM
};

enum { TOY_IFACE_Thing, TOY_IFACE_Desk, TOY_IFACE_Pen, TOY_IFACE_Sheet, TOY_NUM_IFACES };

extern const struct api toy_api;
