/* SPDX-License-Identifier: MIT */
/* print.h: packets for people and for programs. */
#pragma once

#include <jansson.h>

#include "abi/stream.h"
#include "base/strbuf.h"

/* Appends "NAME field=value …" without a newline: names for enumerations, floats as numbers, the tail abbreviated to
 * `max_tail` elements (0: none of it, UINT32_MAX: all). */
void abi_print_packet(struct strbuf *out, const struct abi_packet *p, uint32_t max_tail);

/* {"index", "offset", "opcode", "name", "size", "fields": {…}, "tail": […]}; floats as numbers, enumerations by name,
 * bytes of a tail as {"bytes": n, "hex": the first 64}. NULL when out of memory. The caller's reference. */
json_t *abi_packet_json(const struct abi_packet *p);
