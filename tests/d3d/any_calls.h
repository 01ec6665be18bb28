/* SPDX-License-Identifier: MIT */
/* any_calls.h: bytes that are read as calls of Direct3D 11 (any_calls.c) or 9 (../d3d9/any_calls9.c), in any order and with any numbers,
 * right or wrong. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Reads the shaders that are made then, of the samples' folder; false: they are not there. */
bool any_calls_begin(const char *folder);

struct any_end {
    uint32_t created,
        removed; /* what was answered to who made the device, and to who asked at the end whether it is whole */
    uint32_t references; /* to the device that stay when it is given back */
};

/* Makes a device, and the calls until the bytes end or it is removed, and gives back all that was made. Pointers are always good: what
 * is wrong is numbers, kinds, sizes, orders, objects that are missing or do not fit, and (if `damaged`) shaders whose bytes were changed. */
struct any_end any_calls(const uint8_t *bytes, size_t size, bool damaged);
