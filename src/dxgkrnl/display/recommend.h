/* SPDX-License-Identifier: MIT */
/* recommend.h: see recommend.c. At PASSIVE_LEVEL, with the adapter held. */
#pragma once

#include "dxgkrnl/display/vidpn.h"

/* The index of the child that the miniport would give source `source`; -1: it does not say. */
int dxgk_recommended_target(struct dxgk *d, UINT source);
/* The mode that it would set; false: none. */
bool dxgk_recommended_mode(struct dxgk *d, UINT source, UINT target, D3DKMT_DISPLAYMODE *mode);
/* After `v` was committed. */
void dxgk_ask_about_mode(struct dxgk *d, UINT source, struct vidpn *v);
void dxgk_ask_about_colours(struct dxgk *d, UINT source);
