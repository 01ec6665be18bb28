/* SPDX-License-Identifier: MIT */
/* crash_shaders.c: the SPIR-V of the shaders that crash on purpose. */

#include "plant.h"

#include "endless_ps.h"
#include "poke_cs.h"

const struct plant_shader plant_endless = {endless_ps, sizeof(endless_ps)};
const struct plant_shader plant_poke = {poke_cs, sizeof(poke_cs)};
