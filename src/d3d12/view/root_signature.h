/* SPDX-License-Identifier: MIT */
/* root_signature.h: what a serialized root signature says: the container that CreateRootSignature takes, versions 1.0 to 1.2. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/strbuf.h"
#include "record/show.h"

#define ROOT_MAX_PARAMETERS 64 /* each takes one at least of the 64 dwords that there are */

struct root_range { /* part of a table */
    uint32_t kind;  /* D3D12_DESCRIPTOR_RANGE_TYPE */
    uint32_t count; /* UINT32_MAX: it has no end */
    uint32_t reg, space;
    uint64_t first; /* its first descriptor, counted from the beginning of the table */
};

struct root_parameter {
    uint32_t kind;              /* D3D12_ROOT_PARAMETER_TYPE */
    uint32_t stages;            /* D3D12_SHADER_VISIBILITY */
    uint32_t reg, space;        /* all but tables */
    uint32_t values;            /* constants: how many */
    size_t first_range, ranges; /* tables: which of `ranges` */
};

struct root_sampler { /* a static one */
    uint32_t stages, reg, space;
    uint32_t filter, address[3], anisotropy, comparison, border; /* as D3D12_STATIC_SAMPLER_DESC has them */
    float bias, min_lod, max_lod;
};

struct root_signature {
    struct root_parameter parameters[ROOT_MAX_PARAMETERS];
    uint32_t num;
    struct root_range *ranges;
    size_t num_ranges, room_ranges;
    struct root_sampler *samplers;
    size_t num_samplers, room_samplers;
};

/* 0; -ENOMEM; or -EBADMSG, and *e says which field at which byte is not what a root signature has. Whatever it answers,
 * root_signature_finish() gives back what `r` holds. */
int root_signature_read(struct root_signature *r, const void *bytes, size_t size, struct error *e);
void root_signature_finish(struct root_signature *r);

/* Appends a line for each parameter and static sampler: which registers it fills, and for whom. As JSON each is an object, its
 * "role" "parameter" or "sampler". */
void root_signature_show(struct strbuf *out, enum show_form form, const struct root_signature *r);
/* Who sees a parameter: "all", "vertex" and so on. */
const char *root_signature_stages(const struct root_parameter *p);
/* How many descriptors the table that `parameter` is has; 0: it is no table, or has no end. */
uint64_t root_signature_table(const struct root_signature *r, uint64_t parameter);
