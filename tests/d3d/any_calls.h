/* SPDX-License-Identifier: MIT */
/* any_calls.h: bytes that are read as calls of Direct3D 11, in any order and with any numbers, right or wrong. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include <d3d11.h>

/* Reads the shaders that are made then, of the samples' folder; false: they are not there. */
bool any_calls_begin(const char *folder);

/* Makes the calls until the bytes end or the device is removed, and gives back all that it made. Pointers are always good: what is
 * wrong is numbers, kinds, sizes, orders, objects that are missing or do not fit, and (if `damaged`) shaders whose bytes were changed. */
void any_calls(ID3D11Device *device, ID3D11DeviceContext *context, const uint8_t *bytes, size_t size,
               bool damaged);
