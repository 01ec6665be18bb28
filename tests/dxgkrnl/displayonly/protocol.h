/* SPDX-License-Identifier: MIT */
/* protocol.h: how the driver that only displays shall behave: the UINT of an escape. */
#pragma once

enum {
    BEHAVE_WELL,
    BEHAVE_REPORTS_LATER, /* presents are pending, and reported from an interrupt */
    BEHAVE_FAILS_LATER,   /* the report says that it failed */
    BEHAVE_NEVER_REPORTS,
    BEHAVE_FAILS,
    BEHAVE_GIVES_BACK_RUBBISH /* what it gives back at the end is no frame buffer */
};
