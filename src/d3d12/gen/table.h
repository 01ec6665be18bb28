/* SPDX-License-Identifier: MIT */
/* table.h: the tables of Direct3D 12 (record/api.h), as gen.py made them of the IDL files. */
#pragma once

#include "record/api.h"

extern const struct api_type d12_types[];
extern const struct api_method d12_methods[];
extern const struct api_iface d12_ifaces[];
extern const struct api d12_api;

/* Index of the interface with this IID, or API_IFACE_UNKNOWN. `guid` points to 16 bytes. */
uint16_t d12_iface_of(const void *guid);

/* marker.c: `said` of struct api. */
size_t d12_said(uint64_t kind, const uint8_t *bytes, size_t size, char *text, size_t room);

static inline bool d12_iface_is(uint16_t iface, uint16_t base)
{
    return api_iface_is(&d12_api, iface, base);
}
