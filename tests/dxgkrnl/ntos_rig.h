/* SPDX-License-Identifier: MIT */
/* ntos_rig.h: a world whose processor this thread holds, as a miniport's does that calls the kernel's routines. */
#pragma once

#include "dxgkrnl/kernel.h"
#include "dxgkrnl_rig.h"

extern struct kernel *k; /* of the world that is up */

void up(struct world *w, bool live);
void down(struct world *w, unsigned violations);
/* The last violation begins so. */
void violated(struct world *w, const char *text);

LARGE_INTEGER ms(int n); /* from now */
NTSTATUS wait_one(PVOID object, int timeout_ms);
