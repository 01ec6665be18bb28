/* SPDX-License-Identifier: MIT */
/* layout.h: input layouts and samplers as objects. */
#pragma once

#include <vulkan/vulkan.h>

#include "base/error.h"
#include "executor/engine/object.h"

enum { MAX_VERTEX_BUFFERS = 32 }; /* slots */

struct layout_element {
    uint32_t semantic_hash, semantic_index; /* D3D9: usage's name hash */
    VkFormat format;
    uint32_t slot, offset;
    uint32_t per_instance, step_rate;
};

struct exec_layout {
    struct exec_object o;
    uint64_t hash; /* of the elements */
    uint32_t count;
    bool d3d9;                        /* a vertex declaration: what is per instance is state of the context */
    struct layout_element elements[]; /* 32 at most */
};

int exec_layout_parse(struct exec_layout **out, const void *blob, uint32_t size, struct error *e);
struct sampler_desc {
    uint8_t min_linear, mag_linear, mip_linear, mip_enabled;
    uint8_t address_u, address_v, address_w; /* VkSamplerAddressMode */
    uint8_t anisotropy;                      /* 0 or 1: off */
    uint8_t compare;                         /* a shader compares depth with it */
    uint8_t compare_func;                    /* D3D11_COMPARISON_FUNC; 0: less or equal */
    uint8_t reserved[2];
    float border[4], lod_bias, min_lod, max_lod;
};

struct sampler_object {
    struct exec_object o;
    struct sampler_desc desc;
};
