/* SPDX-License-Identifier: MIT */
#include "abi/d3d9_states.h"

#include <stddef.h>

#define S(name, number, initial) [number] = #name,
static const char *const render_states[D3DRS_COUNT] = {D3DRS_TABLE(S)};
static const char *const sampler_states[D3DSAMP_COUNT] = {D3DSAMP_TABLE(S)};
#undef S

const char *d3drs_name(uint32_t state)
{
    return state < D3DRS_COUNT ? render_states[state] : NULL;
}

const char *d3dsamp_name(uint32_t state)
{
    return state < D3DSAMP_COUNT ? sampler_states[state] : NULL;
}
