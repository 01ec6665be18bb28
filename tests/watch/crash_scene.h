/* SPDX-License-Identifier: MIT */
/* crash_scene.h: a target and shaders for draws that never end, on a builder of the test's. Objects: target 1, vertex shader
 * 2, endless pixel shader 3. */
#pragma once

#include "abi/builder.h"

/* CREATE_SHADER_DXBC; `stage` is AEROGPU_SHADER_STAGE_*. */
void crash_shader(struct abi_builder *b, uint32_t handle, uint32_t stage, const void *bytes, uint32_t size);
void crash_scene(struct abi_builder *b);
void crash_endless_draw(struct abi_builder *b);
