/* SPDX-License-Identifier: MIT */
/* objects.c: what can be made of a device and asked of it: queries, predicates, textures of one and three dimensions, integers, what
 * DXGI sees of them. Prints a line of each that went otherwise. */
#define COBJMACROS
#define WIN32_LEAN_AND_MEAN
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <d3d10_1.h>
#include <d3d11_1.h>
#include <dxgi1_2.h>

#include "calls.h"

static ID3D11Device *device;
static ID3D11DeviceContext *context;
static void (*draw)(void); /* one triangle over 64 x 64 pixels */

static void want(const char *what, UINT64 got, UINT64 expected)
{
    if (got != expected)
        printf("%s: %llu, not %llu\n", what, (unsigned long long)got, (unsigned long long)expected);
}

static ID3D11Query *query(D3D11_QUERY kind)
{
    D3D11_QUERY_DESC d = {kind, 0};
    ID3D11Query *q = NULL;

    want("making a query", (UINT)ID3D11Device_CreateQuery(device, &d, &q), S_OK);
    if (!q)
        exit(1);
    return q;
}

/* Ends it, and waits for what it says. */
static void answer(ID3D11Query *q, void *data, UINT size)
{
    HRESULT hr;

    ID3D11DeviceContext_End(context, (ID3D11Asynchronous *)q);
    while ((hr = ID3D11DeviceContext_GetData(context, (ID3D11Asynchronous *)q, data, size, 0)) == S_FALSE)
        ;
    want("an answer", (UINT)hr, S_OK);
}

static void queries(void)
{
    ID3D11Query *samples = query(D3D11_QUERY_OCCLUSION), *stages = query(D3D11_QUERY_PIPELINE_STATISTICS),
                *time = query(D3D11_QUERY_TIMESTAMP), *clock = query(D3D11_QUERY_TIMESTAMP_DISJOINT);
    D3D11_QUERY_DATA_PIPELINE_STATISTICS did;
    D3D11_QUERY_DATA_TIMESTAMP_DISJOINT rate;
    D3D11_QUERY_DESC bad = {D3D11_QUERY_OCCLUSION, D3D11_QUERY_MISC_PREDICATEHINT};
    ID3D11Query *none = NULL;
    UINT64 n = 7, first, second;

    want("a query that has no end",
         (UINT)ID3D11DeviceContext_GetData(context, (ID3D11Asynchronous *)samples, &n, 8, 0),
         (UINT)DXGI_ERROR_INVALID_CALL);
    want("and its data", n, 7);
    want("a hint without predicate", (UINT)ID3D11Device_CreateQuery(device, &bad, &none), (UINT)E_INVALIDARG);
    bad = (D3D11_QUERY_DESC){D3D11_QUERY_SO_OVERFLOW_PREDICATE_STREAM3 + 1, 0};
    want("a query that there is not", (UINT)ID3D11Device_CreateQuery(device, &bad, &none),
         (UINT)E_INVALIDARG);
    ID3D11DeviceContext_Begin(context, (ID3D11Asynchronous *)clock);
    answer(time, &first, sizeof(first));
    ID3D11DeviceContext_Begin(context, (ID3D11Asynchronous *)samples);
    ID3D11DeviceContext_Begin(context, (ID3D11Asynchronous *)stages);
    draw();
    answer(samples, &n, sizeof(n));
    draw();
    answer(stages, &did, sizeof(did));
    answer(time, &second, sizeof(second));
    answer(clock, &rate, sizeof(rate));
    want("samples", n, 64 * 64);
    want("vertices", did.IAVertices, 6);
    want("primitives", did.IAPrimitives, 2);
    want("time rises", second > first && rate.Frequency && !rate.Disjoint, 1);
    ID3D11Query_Release(samples);
    ID3D11Query_Release(stages);
    ID3D11Query_Release(time);
    ID3D11Query_Release(clock);
}

static UINT pixel(ID3D11Resource *target, ID3D11Resource *staging)
{
    D3D11_MAPPED_SUBRESOURCE m = {0};
    UINT got = 0;

    ID3D11DeviceContext_CopyResource(context, staging, target);
    want("reading back", (UINT)ID3D11DeviceContext_Map(context, staging, 0, D3D11_MAP_READ, 0, &m), S_OK);
    if (m.pData)
        memcpy(&got, m.pData, sizeof(got));
    ID3D11DeviceContext_Unmap(context, staging, 0);
    return got;
}

/* What is drawn, cleared or copied is dropped where the predicate says what it is asked to. */
static void predication(ID3D11Resource *target, ID3D11Resource *staging, ID3D11RenderTargetView *view)
{
    const FLOAT colours[2][4] = {{0, 1, 0, 1}, {1, 1, 1, 1}};
    D3D11_QUERY_DESC d = {D3D11_QUERY_OCCLUSION_PREDICATE, 0};
    ID3D11Predicate *p = NULL;
    BOOL seen = FALSE;

    want("making a predicate", (UINT)ID3D11Device_CreatePredicate(device, &d, &p), S_OK);
    if (!p)
        return;
    ID3D11DeviceContext_Begin(context, (ID3D11Asynchronous *)p);
    draw();
    answer((ID3D11Query *)p, &seen, sizeof(seen));
    want("something was seen", seen != 0, 1);
    ID3D11DeviceContext_ClearRenderTargetView(context, view, colours[0]);
    ID3D11DeviceContext_SetPredication(context, p, TRUE);
    ID3D11DeviceContext_ClearRenderTargetView(context, view, colours[1]);
    ID3D11DeviceContext_Draw(context, 3, 0);
    ID3D11DeviceContext_SetPredication(context, NULL, FALSE);
    want("dropped", pixel(target, staging), 0xFF00FF00);
    ID3D11DeviceContext_SetPredication(context, p, FALSE);
    ID3D11DeviceContext_ClearRenderTargetView(context, view, colours[1]);
    ID3D11DeviceContext_SetPredication(context, NULL, FALSE);
    want("not dropped", pixel(target, staging), 0xFFFFFFFF);
    ID3D11Predicate_Release(p);
}

/* One slice of a volume is cleared through its view, one box of another is updated, and all are read. */
static void volumes(void)
{
    D3D11_TEXTURE3D_DESC t = {.Width = 4,
                              .Height = 4,
                              .Depth = 4,
                              .MipLevels = 2,
                              .Format = DXGI_FORMAT_R8G8B8A8_UINT,
                              .BindFlags = D3D11_BIND_RENDER_TARGET};
    D3D11_RENDER_TARGET_VIEW_DESC v = {.ViewDimension = D3D11_RTV_DIMENSION_TEXTURE3D,
                                       .Texture3D = {0, 2, 1}};
    const D3D11_BOX box = {1, 1, 1, 3, 2, 2};
    const UINT two[2] = {0x11111111, 0x22222222};
    const FLOAT seven[4] = {7, 7, 7, 7};
    D3D11_MAPPED_SUBRESOURCE m = {0};
    ID3D11RenderTargetView *slice = NULL;
    ID3D11Texture3D *volume = NULL, *copy = NULL;

    want("a volume", (UINT)ID3D11Device_CreateTexture3D(device, &t, NULL, &volume), S_OK);
    want("a slice of it",
         (UINT)ID3D11Device_CreateRenderTargetView(device, (ID3D11Resource *)volume, &v, &slice), S_OK);
    v.Texture3D.WSize = 3;
    want("more slices than there are",
         (UINT)ID3D11Device_CreateRenderTargetView(device, (ID3D11Resource *)volume, &v,
                                                   &(ID3D11RenderTargetView *){NULL}),
         (UINT)E_INVALIDARG);
    t.Usage = D3D11_USAGE_STAGING;
    t.BindFlags = 0;
    t.CPUAccessFlags = D3D11_CPU_ACCESS_READ;
    want("its copy", (UINT)ID3D11Device_CreateTexture3D(device, &t, NULL, &copy), S_OK);
    if (!slice || !copy)
        return;
    ID3D11DeviceContext_ClearRenderTargetView(context, slice, seven);
    ID3D11DeviceContext_UpdateSubresource(context, (ID3D11Resource *)volume, 0, &box, two, 8, 8);
    ID3D11DeviceContext_CopyResource(context, (ID3D11Resource *)copy, (ID3D11Resource *)volume);
    want("reading it",
         (UINT)ID3D11DeviceContext_Map(context, (ID3D11Resource *)copy, 0, D3D11_MAP_READ, 0, &m), S_OK);
    for (UINT z = 0; m.pData && z < 4; z++)
        for (UINT y = 0; y < 4; y++)
            for (UINT x = 0; x < 4; x++) {
                BOOL boxed = z == 1 && y == 1 && x >= 1 && x < 3;
                UINT got;

                memcpy(&got, (BYTE *)m.pData + z * m.DepthPitch + y * m.RowPitch + x * 4, 4);
                want("a texel of a volume", got, boxed ? two[x - 1] : z == 2 ? 0x07070707 : 0);
            }
    ID3D11DeviceContext_Unmap(context, (ID3D11Resource *)copy, 0);
    ID3D11RenderTargetView_Release(slice);
    ID3D11Texture3D_Release(volume);
    ID3D11Texture3D_Release(copy);
}

static void lines(void)
{
    const UINT texels[8] = {1, 2, 3, 4, 5, 6, 7, 8};
    D3D11_TEXTURE1D_DESC t = {.Width = 4,
                              .MipLevels = 1,
                              .ArraySize = 2,
                              .Format = DXGI_FORMAT_R32_UINT,
                              .Usage = D3D11_USAGE_STAGING,
                              .CPUAccessFlags = D3D11_CPU_ACCESS_READ};
    const D3D11_SUBRESOURCE_DATA data[2] = {{texels, 16, 0}, {texels + 4, 16, 0}};
    D3D11_MAPPED_SUBRESOURCE m = {0};
    ID3D11Texture1D *from = NULL, *to = NULL;

    want("a line to read", (UINT)ID3D11Device_CreateTexture1D(device, &t, NULL, &to), S_OK);
    t.Usage = D3D11_USAGE_DEFAULT;
    t.CPUAccessFlags = 0;
    t.BindFlags = D3D11_BIND_SHADER_RESOURCE;
    t.MiscFlags = D3D11_RESOURCE_MISC_SHARED_KEYEDMUTEX;
    want("a line that says that it has a mutex", (UINT)ID3D11Device_CreateTexture1D(device, &t, NULL, &from),
         S_OK);
    if (from)
        ID3D11Texture1D_Release(from);
    from = NULL;
    t.MiscFlags = 0;
    want("a line", (UINT)ID3D11Device_CreateTexture1D(device, &t, data, &from), S_OK);
    if (!from || !to)
        return;
    ID3D11DeviceContext_CopyResource(context, (ID3D11Resource *)to, (ID3D11Resource *)from);
    want("reading it", (UINT)ID3D11DeviceContext_Map(context, (ID3D11Resource *)to, 1, D3D11_MAP_READ, 0, &m),
         S_OK);
    if (m.pData && memcmp(m.pData, texels + 4, 16))
        printf("a line holds other texels\n");
    ID3D11DeviceContext_Unmap(context, (ID3D11Resource *)to, 1);
    ID3D11Texture1D_Release(from);
    ID3D11Texture1D_Release(to);
}

/* The second mip is the mean of the first one's texels; of a texture that was not made for it nothing happens. */
static void mips(void)
{
    const UINT texels[4] = {0xFF000000, 0xFF0000FF, 0xFF00FF00, 0xFF00FFFF};
    D3D11_TEXTURE2D_DESC t = {.Width = 2,
                              .Height = 2,
                              .ArraySize = 1,
                              .Format = DXGI_FORMAT_R8G8B8A8_UNORM,
                              .SampleDesc = {1, 0},
                              .BindFlags = D3D11_BIND_SHADER_RESOURCE,
                              .MiscFlags = D3D11_RESOURCE_MISC_GENERATE_MIPS};
    ID3D11ShaderResourceView *view = NULL;
    ID3D11Texture2D *made = NULL, *copy = NULL;
    D3D11_MAPPED_SUBRESOURCE m = {0};
    UINT got = 0;

    want("mips of what cannot be drawn to", (UINT)ID3D11Device_CreateTexture2D(device, &t, NULL, &made),
         (UINT)E_INVALIDARG);
    t.BindFlags |= D3D11_BIND_RENDER_TARGET;
    want("a texture for mips", (UINT)ID3D11Device_CreateTexture2D(device, &t, NULL, &made), S_OK);
    t.BindFlags = t.MiscFlags = 0;
    t.Usage = D3D11_USAGE_STAGING;
    t.CPUAccessFlags = D3D11_CPU_ACCESS_READ;
    want("its copy", (UINT)ID3D11Device_CreateTexture2D(device, &t, NULL, &copy), S_OK);
    want("its view", (UINT)ID3D11Device_CreateShaderResourceView(device, (ID3D11Resource *)made, NULL, &view),
         S_OK);
    if (!view || !copy)
        return;
    ID3D11DeviceContext_UpdateSubresource(context, (ID3D11Resource *)made, 0, NULL, texels, 8, 0);
    ID3D11DeviceContext_GenerateMips(context, view);
    ID3D11DeviceContext_CopyResource(context, (ID3D11Resource *)copy, (ID3D11Resource *)made);
    want("reading it",
         (UINT)ID3D11DeviceContext_Map(context, (ID3D11Resource *)copy, 1, D3D11_MAP_READ, 0, &m), S_OK);
    if (m.pData)
        memcpy(&got, m.pData, sizeof(got));
    ID3D11DeviceContext_Unmap(context, (ID3D11Resource *)copy, 1);
    want("the mean of four texels",
         got >> 16 == 0xFF00 && (got & 0xFF) - 0x7F < 2 && (got >> 8 & 0xFF) - 0x7F < 2, 1);
    ID3D11ShaderResourceView_Release(view);
    ID3D11Texture2D_Release(made);
    ID3D11Texture2D_Release(copy);
}

/* IDXGISurface and IDXGIResource are the texture: one count of references, one set of private data. */
static void faces(ID3D11Texture2D *target)
{
    static const GUID guid = {0x1234, 5, 6, {7}};
    IDXGISurface *surface = NULL;
    IDXGIResource *resource = NULL;
    ID3D11Texture2D *again = NULL;
    DXGI_SURFACE_DESC d = {0};
    UINT value = 123, size = sizeof(value);

    want("a surface", (UINT)ID3D11Texture2D_QueryInterface(target, &IID_IDXGISurface, (void **)&surface),
         S_OK);
    want("a resource", (UINT)ID3D11Texture2D_QueryInterface(target, &IID_IDXGIResource, (void **)&resource),
         S_OK);
    if (!surface || !resource)
        return;
    want("its description", (UINT)IDXGISurface_GetDesc(surface, &d), S_OK);
    want("its width", d.Width, 64);
    IDXGISurface_SetPrivateData(surface, &guid, sizeof(value), &value);
    value = 0;
    want("its data", (UINT)IDXGIResource_GetPrivateData(resource, &guid, &size, &value), S_OK);
    want("are one", value, 123);
    want("the texture again",
         (UINT)IDXGIResource_QueryInterface(resource, &IID_ID3D11Texture2D, (void **)&again), S_OK);
    want("is the texture", again == target, 1);
    ID3D11Texture2D_Release(again);
    IDXGISurface_Release(surface);
    IDXGIResource_Release(resource);
}

/* A picture becomes a slice of a volume. */
static void into_volume(ID3D11Texture2D *picture)
{
    D3D11_TEXTURE3D_DESC t = {.Width = 64,
                              .Height = 64,
                              .Depth = 2,
                              .MipLevels = 1,
                              .Format = DXGI_FORMAT_R8G8B8A8_UNORM,
                              .Usage = D3D11_USAGE_STAGING,
                              .CPUAccessFlags = D3D11_CPU_ACCESS_READ};
    D3D11_MAPPED_SUBRESOURCE m = {0};
    ID3D11Texture3D *volume = NULL;
    UINT got[2] = {1, 1};

    want("a volume to read", (UINT)ID3D11Device_CreateTexture3D(device, &t, NULL, &volume), S_OK);
    if (!volume)
        return;
    draw();
    ID3D11DeviceContext_CopySubresourceRegion(context, (ID3D11Resource *)volume, 0, 0, 0, 1,
                                              (ID3D11Resource *)picture, 0, NULL);
    want("reading a volume",
         (UINT)ID3D11DeviceContext_Map(context, (ID3D11Resource *)volume, 0, D3D11_MAP_READ, 0, &m), S_OK);
    for (UINT z = 0; m.pData && z < 2; z++)
        memcpy(&got[z], (BYTE *)m.pData + z * m.DepthPitch + 32 * m.RowPitch, 4);
    ID3D11DeviceContext_Unmap(context, (ID3D11Resource *)volume, 0);
    want("the slice before", got[0], 0);
    want("the slice", got[1], 0xFF0000FF);
    ID3D11Texture3D_Release(volume);
}

static void descriptions_told(void)
{
    D3D11_BUFFER_DESC b = {.ByteWidth = 64,
                           .BindFlags = D3D11_BIND_VERTEX_BUFFER,
                           .StructureByteStride = 513},
                      told;
    D3D11_TEXTURE2D_DESC t = {.Width = 8,
                              .Height = 8,
                              .MipLevels = 1,
                              .ArraySize = 1,
                              .Format = DXGI_FORMAT_R32_TYPELESS,
                              .SampleDesc = {1, 0},
                              .BindFlags = D3D11_BIND_RENDER_TARGET | D3D11_BIND_DEPTH_STENCIL};
    ID3D11Texture2D *texture = NULL;
    ID3D11Buffer *buffer = NULL;
    ID3D10Buffer *ten = NULL;

    want("a target that is depth", (UINT)ID3D11Device_CreateTexture2D(device, &t, NULL, &texture),
         (UINT)E_INVALIDARG);
    want("a buffer", (UINT)ID3D11Device_CreateBuffer(device, &b, NULL, &buffer), S_OK);
    ID3D11Buffer_GetDesc(buffer, &told);
    want("the stride of what has no structure", told.StructureByteStride, 0);
    want("a buffer of Direct3D 10",
         (UINT)ID3D11Buffer_QueryInterface(buffer, &IID_ID3D10Buffer, (void **)&ten), S_OK);
    ID3D10Buffer_Release(ten);
    ID3D11Buffer_Release(buffer);
    b.MiscFlags = D3D11_RESOURCE_MISC_BUFFER_STRUCTURED;
    b.StructureByteStride = 16;
    b.BindFlags = D3D11_BIND_SHADER_RESOURCE;
    want("a structured buffer", (UINT)ID3D11Device_CreateBuffer(device, &b, NULL, &buffer), S_OK);
    want("is none of Direct3D 10",
         (UINT)ID3D11Buffer_QueryInterface(buffer, &IID_ID3D10Buffer, (void **)&ten), (UINT)E_NOINTERFACE);
    ID3D11Buffer_Release(buffer);
}

/* What 11.1 says of states: the same, and what there is not. */
static void states_told(void)
{
    D3D11_BLEND_DESC1 b = {.RenderTarget[0] = {.BlendEnable = TRUE,
                                               .SrcBlend = D3D11_BLEND_SRC_ALPHA,
                                               .DestBlend = D3D11_BLEND_ONE,
                                               .BlendOp = D3D11_BLEND_OP_SUBTRACT,
                                               .SrcBlendAlpha = D3D11_BLEND_ZERO,
                                               .DestBlendAlpha = D3D11_BLEND_ONE,
                                               .BlendOpAlpha = D3D11_BLEND_OP_MAX,
                                               .LogicOp = D3D11_LOGIC_OP_NOOP,
                                               .RenderTargetWriteMask = 7}},
                      told;
    D3D11_RASTERIZER_DESC1 r = {.FillMode = D3D11_FILL_SOLID,
                                .CullMode = D3D11_CULL_FRONT,
                                .DepthBias = 3,
                                .DepthClipEnable = TRUE},
                           raster;
    ID3D11BlendState1 *blend = NULL, *none = (void *)&none;
    ID3D11RasterizerState1 *cull = NULL;
    ID3D11Device1 *one = NULL;
    ID3D11BlendState *older;

    want("the device's face of 11.1",
         (UINT)ID3D11Device_QueryInterface(device, &IID_ID3D11Device1, (void **)&one), S_OK);
    if (!one)
        return;
    want("a blend state", (UINT)ID3D11Device1_CreateBlendState1(one, &b, &blend), S_OK);
    want("a rasterizer state", (UINT)ID3D11Device1_CreateRasterizerState1(one, &r, &cull), S_OK);
    if (blend && cull) {
        ID3D11BlendState1_GetDesc1(blend, &told);
        want("its target", memcmp(&told.RenderTarget[0], &b.RenderTarget[0], sizeof(b.RenderTarget[0])) == 0,
             1);
        want("a logic operation of its last target", told.RenderTarget[7].LogicOpEnable, 0);
        want("its older face",
             (UINT)ID3D11BlendState1_QueryInterface(blend, &IID_ID3D11BlendState, (void **)&older), S_OK);
        want("which is the same", older == (ID3D11BlendState *)blend, 1);
        ID3D11BlendState_Release(older);
        ID3D11RasterizerState1_GetDesc1(cull, &raster);
        want("a culling",
             raster.CullMode == D3D11_CULL_FRONT && raster.DepthBias == 3 && !raster.ForcedSampleCount, 1);
        ID3D11BlendState1_Release(blend);
        ID3D11RasterizerState1_Release(cull);
    }
    b.RenderTarget[0].BlendEnable = FALSE;
    b.RenderTarget[0].LogicOpEnable = TRUE;
    b.IndependentBlendEnable = TRUE;
    want("a logic operation of one target", (UINT)ID3D11Device1_CreateBlendState1(one, &b, &none),
         (UINT)E_INVALIDARG);
    want("which is none", none == NULL, 1);
    r.ForcedSampleCount = 4; /* feature level 11_1's */
    want("forced samples", (UINT)ID3D11Device1_CreateRasterizerState1(one, &r, &cull), (UINT)E_INVALIDARG);
    ID3D11Device1_Release(one);
}

/* Programs that present into windows of other processes ask for DXGI 1.2 so. */
static void dxgi_faces(void)
{
    const IID *const iids[] = {&IID_IDXGIDevice, &IID_IDXGIDevice1, &IID_IDXGIDevice2};
    IUnknown *faces[3] = {NULL, NULL, NULL};

    for (int i = 0; i < 3; i++) {
        want("asking a device for IDXGIDevice",
             (UINT)ID3D11Device_QueryInterface(device, iids[i], (void **)&faces[i]), S_OK);
        want("one face of DXGI", faces[i] && faces[i] == faces[0], 1);
    }
    for (int i = 0; i < 3; i++)
        if (faces[i])
            IUnknown_Release(faces[i]);
}

void objects(const struct calls *c)
{
    device = c->device;
    context = c->context;
    draw = c->draw;
    queries();
    predication((ID3D11Resource *)c->target, (ID3D11Resource *)c->staging, c->view);
    volumes();
    lines();
    mips();
    faces(c->target);
    dxgi_faces();
    into_volume(c->target);
    descriptions_told();
    states_told();
}
