/* SPDX-License-Identifier: MIT */
/* hazard.c: what is bound to be written is not bound to be read as well: a view that is about to be read is not bound then, and one that
 * is read is unbound when what it looks at is about to be written. Parts of a resource that do not meet are no matter of each other. */
#include "d3d/tables.h"
#include "d3d/d3d.h"

struct part { /* of a resource */
    UINT mip, mips, first, count;
};

static struct part read_part(const D3D11_SHADER_RESOURCE_VIEW_DESC *d)
{
    const D3D11_TEX2D_ARRAY_SRV *t = &d->Texture2DArray;

    switch (d->ViewDimension) {
    case D3D11_SRV_DIMENSION_TEXTURE1DARRAY:
    case D3D11_SRV_DIMENSION_TEXTURE2DARRAY:
        return (struct part){t->MostDetailedMip, t->MipLevels, t->FirstArraySlice, t->ArraySize};
    case D3D11_SRV_DIMENSION_TEXTURECUBEARRAY:
        return (struct part){t->MostDetailedMip, t->MipLevels, t->FirstArraySlice, 6 * t->ArraySize};
    case D3D11_SRV_DIMENSION_TEXTURE2DMSARRAY:
        return (struct part){0, 1, d->Texture2DMSArray.FirstArraySlice, d->Texture2DMSArray.ArraySize};
    case D3D11_SRV_DIMENSION_TEXTURE1D:
    case D3D11_SRV_DIMENSION_TEXTURE2D:
    case D3D11_SRV_DIMENSION_TEXTURE3D:
    case D3D11_SRV_DIMENSION_TEXTURECUBE:
        return (struct part){t->MostDetailedMip, t->MipLevels, 0, UINT32_MAX};
    default:
        return (struct part){0, UINT32_MAX, 0, UINT32_MAX};
    }
}

/* Of a target's or an unordered access view, by D3D11_SRV_DIMENSION, whose members are the same. */
static struct part written_part(UINT dimension, const D3D11_TEX2D_ARRAY_RTV *t)
{
    switch (dimension) {
    case D3D11_SRV_DIMENSION_TEXTURE1D:
    case D3D11_SRV_DIMENSION_TEXTURE2D:
    case D3D11_SRV_DIMENSION_TEXTURE3D: /* shaders read all slices */
        return (struct part){t->MipSlice, 1, 0, UINT32_MAX};
    case D3D11_SRV_DIMENSION_TEXTURE1DARRAY:
    case D3D11_SRV_DIMENSION_TEXTURE2DARRAY:
        return (struct part){t->MipSlice, 1, t->FirstArraySlice, t->ArraySize};
    default:
        return (struct part){0, UINT32_MAX, 0, UINT32_MAX};
    }
}

static struct part part_of(const struct d3d_child *v)
{
    switch ((int)v->kind) {
    case D3D_RTV:
        return written_part(v->desc.rtv.ViewDimension, &v->desc.rtv.Texture2DArray);
    case D3D_DSV:
        return written_part(v->desc.dsv.ViewDimension + 1,
                            (const D3D11_TEX2D_ARRAY_RTV *)&v->desc.dsv.Texture2DArray);
    case D3D_UAV:
        return written_part(v->desc.uav.ViewDimension,
                            (const D3D11_TEX2D_ARRAY_RTV *)&v->desc.uav.Texture2DArray);
    default:
        return read_part(&v->desc.srv);
    }
}

static bool meet(UINT a, UINT na, UINT b, UINT nb)
{
    return a < b ? b - a < na : a - b < nb;
}

static bool overlap(const struct d3d_child *a, const struct d3d_child *b)
{
    struct part x, y;

    if (!a || !b || a->of != b->of)
        return false;
    if (a->of->kind == D3D_BUFFER)
        return true;
    x = part_of(a);
    y = part_of(b);
    return meet(x.mip, x.mips, y.mip, y.mips) && meet(x.first, x.count, y.first, y.count);
}

/* What is bound as depth and stencil, if a part that the view reads is written: both are but for what the flags say. */
static const struct d3d_child *written_depth(const struct d3d_context *c, const struct d3d_child *view)
{
    const DXGI_FORMAT f = view->desc.srv.Format;
    const bool stencil = f == DXGI_FORMAT_X24_TYPELESS_G8_UINT || f == DXGI_FORMAT_X32_TYPELESS_G8X24_UINT;
    const UINT kept = stencil ? D3D11_DSV_READ_ONLY_STENCIL : D3D11_DSV_READ_ONLY_DEPTH;

    return c->depth_view && !(c->depth_view->desc.dsv.Flags & kept) ? c->depth_view : NULL;
}

static struct d3d_child *readable(const struct d3d_context *c, struct d3d_child *view)
{
    if (!view)
        return NULL;
    for (UINT i = 0; i < 8; i++)
        if (overlap(view, c->targets[i]))
            return NULL;
    for (UINT i = 0; i < d3d_uav_slots(c->device); i++)
        if (overlap(view, c->pixel_uavs[i]) || overlap(view, c->uavs[i]))
            return NULL;
    return overlap(view, written_depth(c, view)) ? NULL : view;
}

static void say(const struct d3d_context *c, int stage, UINT slot)
{
    static const struct {
        D3D11_MESSAGE_ID id;
        const char *name;
    } stages[D3D_STAGES] = {[D3D_VS] = {D3D11_MESSAGE_ID_DEVICE_VSSETSHADERRESOURCES_HAZARD, "VS"},
                            [D3D_PS] = {D3D11_MESSAGE_ID_DEVICE_PSSETSHADERRESOURCES_HAZARD, "PS"},
                            [D3D_GS] = {D3D11_MESSAGE_ID_DEVICE_GSSETSHADERRESOURCES_HAZARD, "GS"},
                            [D3D_HS] = {D3D11_MESSAGE_ID_DEVICE_HSSETSHADERRESOURCES_HAZARD, "HS"},
                            [D3D_DS] = {D3D11_MESSAGE_ID_DEVICE_DSSETSHADERRESOURCES_HAZARD, "DS"},
                            [D3D_CS] = {D3D11_MESSAGE_ID_DEVICE_CSSETSHADERRESOURCES_HAZARD, "CS"}};

    d3d_say(
        c->device, D3D11_MESSAGE_CATEGORY_STATE_SETTING, D3D11_MESSAGE_SEVERITY_WARNING, stages[stage].id,
        "ID3D11DeviceContext::%sSetShaderResources: Resource being set to %s shader resource slot %u is still bound "
        "on output! Forcing to NULL.",
        stages[stage].name, stages[stage].name, slot);
}

struct d3d_child *d3d_hazard_readable(const struct d3d_context *c, int stage, UINT slot,
                                      struct d3d_child *view)
{
    struct d3d_child *read = readable(c, view);

    if (view && !read)
        say(c, stage, slot);
    return read;
}

static void unbind(struct d3d_context *c, int stage, UINT slot)
{
    const D3D10DDI_HSHADERRESOURCEVIEW none = {NULL};

    d3d_child_bind(&c->views[stage][slot], NULL);
    switch (stage) {
    case D3D_VS:
        TELL(c, pfnVsSetShaderResources, slot, 1, &none);
        break;
    case D3D_PS:
        TELL(c, pfnPsSetShaderResources, slot, 1, &none);
        break;
    case D3D_GS:
        TELL(c, pfnGsSetShaderResources, slot, 1, &none);
        break;
    case D3D_HS:
        TELL(c, pfnHsSetShaderResources, slot, 1, &none);
        break;
    case D3D_DS:
        TELL(c, pfnDsSetShaderResources, slot, 1, &none);
        break;
    default:
        TELL(c, pfnCsSetShaderResources, slot, 1, &none);
        break;
    }
}

void d3d_hazard_written(struct d3d_context *c)
{
    for (int stage = 0; stage < D3D_STAGES; stage++)
        for (UINT i = 0; i < D3D_SLOTS; i++)
            if (c->views[stage][i] && !readable(c, c->views[stage][i])) {
                d3d_say(
                    c->device, D3D11_MESSAGE_CATEGORY_STATE_SETTING, D3D11_MESSAGE_SEVERITY_WARNING,
                    D3D11_MESSAGE_ID_DEVICE_OMSETRENDERTARGETS_HAZARD,
                    "ID3D11DeviceContext::OMSetRenderTargets: Resource being set for output is still bound on input! "
                    "Forcing shader resource slot %u to NULL.",
                    i);
                unbind(c, stage, i);
            }
}
