/* SPDX-License-Identifier: MIT */
/* samplers.c: samplers as objects, and what Direct3D 9 says of one with states. */
#include "executor/engine/context.h"
#include "executor/engine/engine_priv.h"
#include "executor/engine/layout.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_LOD = 16 };

static int make(struct exec_engine *g, uint32_t handle, const struct sampler_desc *d)
{
    struct sampler_object *s;
    int r = exec_handle_check_new(g, handle);

    if (r)
        return r;
    s = calloc(1, sizeof(*s));
    if (!s)
        return fail_memory(g, "no memory for sampler %u", handle);
    s->o = (struct exec_object){.kind = OBJECT_SAMPLER, .handle = handle, .refs = 1};
    s->desc = *d;
    return exec_handle_add(g, handle, &s->o);
}

int exec_op_create_sampler(struct exec_engine *g, const struct abi_packet *p)
{
    static const uint8_t modes[] = {VK_SAMPLER_ADDRESS_MODE_CLAMP_TO_EDGE, VK_SAMPLER_ADDRESS_MODE_REPEAT,
                                    VK_SAMPLER_ADDRESS_MODE_MIRRORED_REPEAT};
    struct aerogpu_cmd_create_sampler c;
    uint8_t linear;

    memcpy(&c, p->data, sizeof(c));
    linear = c.filter == AEROGPU_SAMPLER_FILTER_LINEAR;
    return make(g, c.sampler_handle,
                &(struct sampler_desc){.min_linear = linear,
                                       .mag_linear = linear,
                                       .mip_linear = linear,
                                       .mip_enabled = 1,
                                       .address_u = modes[c.address_u],
                                       .address_v = modes[c.address_v],
                                       .address_w = modes[c.address_w],
                                       .max_lod = MAX_LOD});
}

/* D3DTADDRESS and D3D11_TEXTURE_ADDRESS_MODE, which are the same */
static uint8_t address(uint32_t v)
{
    static const uint8_t modes[] = {
        [1] = VK_SAMPLER_ADDRESS_MODE_REPEAT,          [2] = VK_SAMPLER_ADDRESS_MODE_MIRRORED_REPEAT,
        [3] = VK_SAMPLER_ADDRESS_MODE_CLAMP_TO_EDGE,   [4] = VK_SAMPLER_ADDRESS_MODE_CLAMP_TO_BORDER,
        [5] = VK_SAMPLER_ADDRESS_MODE_MIRRORED_REPEAT, /* mirror once, without its extension */
    };
    return v >= 1 && v <= 5 ? modes[v] : VK_SAMPLER_ADDRESS_MODE_REPEAT;
}

static float between(float v, float lo, float hi)
{
    return v >= lo ? v <= hi ? v : hi : lo; /* what is no number is `lo` */
}

int exec_op_ext_create_sampler(struct exec_engine *g, const struct abi_packet *p)
{
    enum { MIP_LINEAR = 1, MAG_LINEAR = 4, MIN_LINEAR = 16, ANISOTROPIC = 64, COMPARES = 128 };
    struct aerogpu_cmd_ext_create_sampler c;
    struct sampler_desc d;

    memcpy(&c, p->data, sizeof(c));
    memset(&d, 0, sizeof(d)); /* it is compared as bytes */
    d.min_linear = (c.filter & (MIN_LINEAR | ANISOTROPIC)) != 0;
    d.mag_linear = (c.filter & (MAG_LINEAR | ANISOTROPIC)) != 0;
    d.mip_linear = (c.filter & (MIP_LINEAR | ANISOTROPIC)) != 0;
    d.mip_enabled = 1;
    d.address_u = address(c.address_u);
    d.address_v = address(c.address_v);
    d.address_w = address(c.address_w);
    if (c.filter & ANISOTROPIC)
        d.anisotropy = (uint8_t)(c.max_anisotropy > 16 ? 16 : c.max_anisotropy);
    if (c.filter & COMPARES && c.compare_func >= 1 && c.compare_func <= 8)
        d.compare_func = (uint8_t)c.compare_func;
    memcpy(d.border, c.border_rgba, sizeof(d.border));
    memcpy(&d.lod_bias, &c.lod_bias, 4);
    memcpy(&d.min_lod, &c.min_lod, 4);
    memcpy(&d.max_lod, &c.max_lod, 4);
    d.min_lod = between(d.min_lod, 0, MAX_LOD);
    d.max_lod = between(d.max_lod, d.min_lod, MAX_LOD);
    return make(g, c.sampler_handle, &d);
}

int exec_op_destroy_sampler(struct exec_engine *g, const struct abi_packet *p)
{
    struct aerogpu_cmd_destroy_sampler c;

    memcpy(&c, p->data, sizeof(c));
    return exec_handle_remove(g, c.sampler_handle, OBJECT_SAMPLER, OBJECT_SAMPLER);
}

struct sampler_desc exec_sampler_desc_of(const struct sampler_slot *slot, bool d3d9_shader)
{
    const uint32_t *s = slot->state;
    struct sampler_desc d;

    memset(&d, 0, sizeof(d));
    d.max_lod = MAX_LOD;
    if (slot->object)
        return slot->object->desc;
    if (!slot->d3d9 && !d3d9_shader) { /* what Direct3D 11 samples with when nothing is bound */
        d.min_linear = d.mag_linear = d.mip_linear = d.mip_enabled = 1;
        d.address_u = d.address_v = d.address_w = VK_SAMPLER_ADDRESS_MODE_CLAMP_TO_EDGE;
        return d;
    }
    d.min_linear = s[D3DSAMP_MINFILTER] >= 2;
    d.mag_linear = s[D3DSAMP_MAGFILTER] >= 2;
    d.mip_enabled = s[D3DSAMP_MIPFILTER] >= 1;
    d.mip_linear = s[D3DSAMP_MIPFILTER] >= 2;
    d.address_u = address(s[D3DSAMP_ADDRESSU]);
    d.address_v = address(s[D3DSAMP_ADDRESSV]);
    d.address_w = address(s[D3DSAMP_ADDRESSW]);
    if (s[D3DSAMP_MINFILTER] == 3 || s[D3DSAMP_MAGFILTER] == 3)
        d.anisotropy = (uint8_t)(s[D3DSAMP_MAXANISOTROPY] > 16 ? 16 : s[D3DSAMP_MAXANISOTROPY]);
    for (int i = 0; i < 4; i++) /* A8R8G8B8 */
        d.border[i] = (float)(s[D3DSAMP_BORDERCOLOR] >> (i == 3 ? 24 : 16 - 8 * i) & 0xFF) / 255.0f;
    memcpy(&d.lod_bias, &s[D3DSAMP_MIPMAPLODBIAS], 4);
    if (d.mip_enabled) /* without a filter of mips it is the first that is read */
        d.min_lod = s[D3DSAMP_MAXMIPLEVEL] < MAX_LOD ? (float)s[D3DSAMP_MAXMIPLEVEL] : MAX_LOD;
    return d;
}
