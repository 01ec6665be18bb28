/* SPDX-License-Identifier: MIT */
/* format.h: what pixels and vertex elements mean: the formats whose components are alike, and packed ones. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/json_write.h"

/* The format's row, for the functions below; -1: it is none of these. */
int format_row(uint32_t format); /* DXGI_FORMAT */
unsigned format_components(int row);
unsigned format_bytes(int row);
/* Component `i`, red first, of the format_bytes() bytes at `p`; as the shader sees it, but for sRGB, which stays as it is stored. */
double format_component(int row, const uint8_t *p, unsigned i);
bool format_is_integer(int row);
/* The same component as the bits that a shader gets. */
uint32_t format_bits(int row, const uint8_t *p, unsigned i);
/* A value in an array; what JSON has no number for is a string: "NaN", "Infinity", "-Infinity". */
void format_json(struct json_writer *w, double v);
/* The same with so many digits: of many, which are drawn. */
void format_json_brief(struct json_writer *w, double v, int digits);
