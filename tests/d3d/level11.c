/* SPDX-License-Identifier: MIT */
/* level11.c: what feature level 11_0 adds: views that are written to, tessellation, streams, samples, numbers in buffers. Says what is
 * otherwise than it has to be. */
#define COBJMACROS
#define WIN32_LEAN_AND_MEAN
#include <string.h>

#include <d3d11.h>

#include "calls.h"
#include "program.h"

static ID3D11Device *device;
static ID3D11DeviceContext *context;
static const float black[4] = {0, 0, 0, 1};
enum { ONE = 0x3F800000 }; /* as a float */

static void want(const char *what, UINT got, UINT wanted)
{
    if (got != wanted)
        printf("%s: 0x%08X, not 0x%08X\n", what, got, wanted);
}

/* The first `count` words of a buffer. */
static void words(ID3D11Buffer *b, UINT *out, UINT count)
{
    D3D11_BUFFER_DESC d;
    D3D11_MAPPED_SUBRESOURCE m;
    ID3D11Buffer *copy;

    memset(out, 0xEE, count * sizeof(*out));
    ID3D11Buffer_GetDesc(b, &d);
    d = (D3D11_BUFFER_DESC){
        .ByteWidth = d.ByteWidth, .Usage = D3D11_USAGE_STAGING, .CPUAccessFlags = D3D11_CPU_ACCESS_READ};
    NEED(ID3D11Device_CreateBuffer(device, &d, NULL, &copy));
    ID3D11DeviceContext_CopyResource(context, (ID3D11Resource *)copy, (ID3D11Resource *)b);
    NEED(ID3D11DeviceContext_Map(context, (ID3D11Resource *)copy, 0, D3D11_MAP_READ, 0, &m));
    memcpy(out, m.pData, count * sizeof(*out));
    ID3D11DeviceContext_Unmap(context, (ID3D11Resource *)copy, 0);
    ID3D11Buffer_Release(copy);
}

static ID3D11Buffer *buffer(UINT size, UINT bind, UINT misc, const void *data)
{
    const D3D11_BUFFER_DESC d = {.ByteWidth = size, .BindFlags = bind, .MiscFlags = misc};
    const D3D11_SUBRESOURCE_DATA from = {data, 0, 0};
    ID3D11Buffer *b = NULL;

    NEED(ID3D11Device_CreateBuffer(device, &d, data ? &from : NULL, &b));
    return b;
}

static ID3D11ComputeShader *compute(const char *folder, const char *name)
{
    ID3D11ComputeShader *cs = NULL;
    SIZE_T size;
    BYTE *code = file(folder, name, &size);

    NEED(ID3D11Device_CreateComputeShader(device, code, size, NULL, &cs));
    free(code);
    return cs;
}

/* Word n of a view of texels becomes 3n, by groups that a buffer tells of; views that there cannot be are refused. */
static void typed_buffers(const char *folder)
{
    const UINT groups[4] = {7, 1, 1, 1};
    D3D11_UNORDERED_ACCESS_VIEW_DESC v = {DXGI_FORMAT_R32_UINT, D3D11_UAV_DIMENSION_BUFFER,
                                          .Buffer = {4, 8, 0}};
    ID3D11Buffer *b = buffer(256, D3D11_BIND_UNORDERED_ACCESS, 0, NULL), *numbers, *plain;
    ID3D11ComputeShader *cs = compute(folder, "count_typed_cs.dxbc");
    ID3D11UnorderedAccessView *uav = NULL, *none = NULL;
    const float half[4] = {0.5f, 0.5f, 0.5f, 0.5f};
    UINT got[16];

    numbers = buffer(sizeof(groups), 0, D3D11_RESOURCE_MISC_DRAWINDIRECT_ARGS, groups);
    plain = buffer(sizeof(groups), D3D11_BIND_VERTEX_BUFFER, 0, groups);
    NEED(ID3D11Device_CreateUnorderedAccessView(device, (ID3D11Resource *)b, &v, &uav));
    ID3D11DeviceContext_ClearState(context);
    ID3D11DeviceContext_CSSetShader(context, cs, NULL, 0);
    ID3D11DeviceContext_CSSetUnorderedAccessViews(context, 0, 1, &uav, NULL);
    ID3D11DeviceContext_DispatchIndirect(context, plain, 4);    /* not made for it */
    ID3D11DeviceContext_DispatchIndirect(context, numbers, 12); /* its end lies outside */
    ID3D11DeviceContext_DispatchIndirect(context, numbers, 6);
    words(b, got, 16);
    want("what is dropped", got[5], 0);
    ID3D11DeviceContext_ClearUnorderedAccessViewFloat(context, uav,
                                                      half); /* of integers: nothing becomes of it */
    ID3D11DeviceContext_DispatchIndirect(context, numbers, 4);
    words(b, got, 16);
    want("in front of the view", got[3], 0);
    want("word 1", got[5], 3);
    want("word 7", got[11], 21);
    want("behind the view", got[12], 0);
    v.Buffer.NumElements = 0xFFFFFFFF;
    want("more than there is",
         (UINT)ID3D11Device_CreateUnorderedAccessView(device, (ID3D11Resource *)b, &v, &none),
         (UINT)E_INVALIDARG);
    v = (D3D11_UNORDERED_ACCESS_VIEW_DESC){(DXGI_FORMAT)0x7FFFFFFF, D3D11_UAV_DIMENSION_BUFFER,
                                           .Buffer = {0, 8, 0}};
    want("a wild format",
         (UINT)ID3D11Device_CreateUnorderedAccessView(device, (ID3D11Resource *)b, &v, &none),
         (UINT)E_INVALIDARG);
    ID3D11Buffer_Release(b); /* and its view is bound still */
    ID3D11DeviceContext_Dispatch(context, 1, 1, 1);
    ID3D11DeviceContext_ClearState(context);
    ID3D11UnorderedAccessView_Release(uav);
    ID3D11Buffer_Release(numbers);
    ID3D11Buffer_Release(plain);
    ID3D11ComputeShader_Release(cs);
}

/* A picture of 64 x 64 is written transposed. */
static void images(const struct calls *c, const char *folder)
{
    static UINT texels[64 * 64];
    const UINT extent[4] = {64, 64, 0, 0};
    D3D11_TEXTURE2D_DESC d = {.Width = 64,
                              .Height = 64,
                              .MipLevels = 1,
                              .ArraySize = 1,
                              .Format = DXGI_FORMAT_R8G8B8A8_UNORM,
                              .SampleDesc = {1, 0},
                              .BindFlags = D3D11_BIND_SHADER_RESOURCE};
    D3D11_SUBRESOURCE_DATA from = {texels, 256, 0};
    D3D11_UNORDERED_ACCESS_VIEW_DESC wrong = {DXGI_FORMAT_R8G8B8A8_UNORM, D3D11_UAV_DIMENSION_TEXTURE3D};
    ID3D11ComputeShader *cs = compute(folder, "transpose_image_cs.dxbc");
    ID3D11Buffer *constants = buffer(16, D3D11_BIND_CONSTANT_BUFFER, 0, extent);
    ID3D11UnorderedAccessView *uav = NULL, *none = NULL;
    ID3D11ShaderResourceView *srv = NULL;
    ID3D11Texture2D *source, *target;
    D3D11_MAPPED_SUBRESOURCE m;

    for (UINT i = 0; i < 64 * 64; i++)
        texels[i] = 0xFF000000 | i;
    NEED(ID3D11Device_CreateTexture2D(device, &d, &from, &source));
    d.BindFlags = D3D11_BIND_UNORDERED_ACCESS;
    NEED(ID3D11Device_CreateTexture2D(device, &d, NULL, &target));
    NEED(ID3D11Device_CreateShaderResourceView(device, (ID3D11Resource *)source, NULL, &srv));
    NEED(ID3D11Device_CreateUnorderedAccessView(device, (ID3D11Resource *)target, NULL, &uav));
    want("three dimensions of two",
         (UINT)ID3D11Device_CreateUnorderedAccessView(device, (ID3D11Resource *)target, &wrong, &none),
         (UINT)E_INVALIDARG);
    want("what may not be written to",
         (UINT)ID3D11Device_CreateUnorderedAccessView(device, (ID3D11Resource *)source, NULL, &none),
         (UINT)E_INVALIDARG);
    ID3D11DeviceContext_CSSetShader(context, cs, NULL, 0);
    ID3D11DeviceContext_CSSetConstantBuffers(context, 0, 1, &constants);
    ID3D11DeviceContext_CSSetShaderResources(context, 0, 1, &srv);
    ID3D11DeviceContext_Dispatch(context, 8, 8, 1); /* into nothing */
    ID3D11DeviceContext_CSSetUnorderedAccessViews(context, 0, 1, &uav, NULL);
    ID3D11DeviceContext_Dispatch(context, 8, 8, 1);
    ID3D11DeviceContext_CopyResource(context, (ID3D11Resource *)c->staging, (ID3D11Resource *)target);
    NEED(ID3D11DeviceContext_Map(context, (ID3D11Resource *)c->staging, 0, D3D11_MAP_READ, 0, &m));
    want("texel 3, 17", ((UINT *)((BYTE *)m.pData + 17 * m.RowPitch))[3], 0xFF000000 | (3 * 64 + 17));
    ID3D11DeviceContext_Unmap(context, (ID3D11Resource *)c->staging, 0);
    ID3D11DeviceContext_ClearState(context);
    ID3D11UnorderedAccessView_Release(uav);
    ID3D11ShaderResourceView_Release(srv);
    ID3D11Texture2D_Release(target);
    ID3D11Texture2D_Release(source);
    ID3D11Buffer_Release(constants);
    ID3D11ComputeShader_Release(cs);
}

static UINT pixel(const struct calls *c, UINT x, UINT y)
{
    D3D11_MAPPED_SUBRESOURCE m;
    UINT got;

    ID3D11DeviceContext_CopyResource(context, (ID3D11Resource *)c->staging, (ID3D11Resource *)c->target);
    NEED(ID3D11DeviceContext_Map(context, (ID3D11Resource *)c->staging, 0, D3D11_MAP_READ, 0, &m));
    got = ((UINT *)((BYTE *)m.pData + y * m.RowPitch))[x];
    ID3D11DeviceContext_Unmap(context, (ID3D11Resource *)c->staging, 0);
    return got;
}

/* A patch of three points whose edges bulge outwards; what does not fit together is not drawn. */
static void tessellation(const struct calls *c, const char *folder)
{
    static const D3D11_INPUT_ELEMENT_DESC elements[] = {
        {"POSITION", 0, DXGI_FORMAT_R32G32B32A32_FLOAT, 0, 0, D3D11_INPUT_PER_VERTEX_DATA, 0},
        {"COLOR", 0, DXGI_FORMAT_R32G32B32A32_FLOAT, 0, 16, D3D11_INPUT_PER_VERTEX_DATA, 0}};
    static const float points[3][8] = {
        {-0.6f, -0.6f, 0, 1, 1, 0, 0, 1}, {-0.6f, 0.6f, 0, 1, 1, 0, 0, 1}, {0.6f, 0.6f, 0, 1, 1, 0, 0, 1}};
    ID3D11Buffer *b = buffer(sizeof(points), D3D11_BIND_VERTEX_BUFFER, 0, points);
    ID3D11InputLayout *layout = NULL;
    ID3D11VertexShader *vs = NULL;
    ID3D11HullShader *hs = NULL, *none = NULL;
    ID3D11DomainShader *ds = NULL;
    UINT stride = 32, offset = 0;
    SIZE_T size;
    BYTE *code = file(folder, "control_vs.dxbc", &size);

    c->draw(); /* what it sets stays but for what follows */
    NEED(ID3D11Device_CreateVertexShader(device, code, size, NULL, &vs));
    NEED(ID3D11Device_CreateInputLayout(device, elements, 2, code, size, &layout));
    want("a vertex shader as a hull shader",
         (UINT)ID3D11Device_CreateHullShader(device, code, size, NULL, &none), (UINT)E_INVALIDARG);
    free(code);
    code = file(folder, "bulge_hs.dxbc", &size);
    NEED(ID3D11Device_CreateHullShader(device, code, size, NULL, &hs));
    want("half of one", (UINT)ID3D11Device_CreateHullShader(device, code, size / 2, NULL, &none),
         (UINT)E_INVALIDARG);
    free(code);
    code = file(folder, "bulge_ds.dxbc", &size);
    NEED(ID3D11Device_CreateDomainShader(device, code, size, NULL, &ds));
    free(code);
    ID3D11DeviceContext_ClearRenderTargetView(context, c->view, black);
    ID3D11DeviceContext_IASetInputLayout(context, layout);
    ID3D11DeviceContext_IASetVertexBuffers(context, 0, 1, &b, &stride, &offset);
    ID3D11DeviceContext_VSSetShader(context, vs, NULL, 0);
    ID3D11DeviceContext_HSSetShader(context, hs, NULL, 0);
    ID3D11DeviceContext_IASetPrimitiveTopology(context, D3D11_PRIMITIVE_TOPOLOGY_3_CONTROL_POINT_PATCHLIST);
    ID3D11DeviceContext_Draw(context, 3, 0); /* without a domain shader */
    ID3D11DeviceContext_DSSetShader(context, ds, NULL, 0);
    ID3D11DeviceContext_IASetPrimitiveTopology(context, D3D11_PRIMITIVE_TOPOLOGY_4_CONTROL_POINT_PATCHLIST);
    ID3D11DeviceContext_Draw(context, 4, 0); /* of patches that the hull shader does not take */
    ID3D11DeviceContext_IASetPrimitiveTopology(context, D3D11_PRIMITIVE_TOPOLOGY_TRIANGLELIST);
    ID3D11DeviceContext_Draw(context, 3, 0);
    want("nothing that does not fit", pixel(c, 24, 24), 0xFF000000);
    ID3D11DeviceContext_IASetPrimitiveTopology(context, D3D11_PRIMITIVE_TOPOLOGY_3_CONTROL_POINT_PATCHLIST);
    ID3D11DeviceContext_Draw(context, 3, 0);
    want("inside of the patch", pixel(c, 24, 24), 0xFF0000FF);
    want("where it bulges", pixel(c, 10, 30), 0xFF0000FF);
    want("outside", pixel(c, 45, 45), 0xFF000000);
    ID3D11DeviceContext_ClearState(context);
    ID3D11DomainShader_Release(ds);
    ID3D11HullShader_Release(hs);
    ID3D11VertexShader_Release(vs);
    ID3D11InputLayout_Release(layout);
    ID3D11Buffer_Release(b);
}

/* What a vertex shader makes of three vertices is written to a buffer, counted, and drawn from there. */
static void streams(const struct calls *c, const char *folder)
{
    static const D3D11_SO_DECLARATION_ENTRY entries[] = {{0, "SV_POSITION", 0, 0, 4, 0},
                                                         {0, "COLOR", 0, 0, 4, 0}},
                                            wrong[] = {{0, "SV_POSITION", 0, 2, 3, 0}};
    const D3D11_QUERY_DESC counts = {D3D11_QUERY_SO_STATISTICS, 0};
    ID3D11Buffer *b = buffer(3 * 32, D3D11_BIND_STREAM_OUTPUT | D3D11_BIND_VERTEX_BUFFER, 0, NULL);
    D3D11_QUERY_DATA_SO_STATISTICS did = {0};
    UINT stride = 32, offset = 0, got[24];
    ID3D11GeometryShader *gs = NULL, *none = NULL;
    ID3D11Query *query = NULL;
    SIZE_T size;
    BYTE *code = file(folder, "colour_vs.dxbc", &size);

    NEED(ID3D11Device_CreateGeometryShaderWithStreamOutput(device, code, size, entries, 2, &stride, 1,
                                                           D3D11_SO_NO_RASTERIZED_STREAM, NULL, &gs));
    want("components that there are not",
         (UINT)ID3D11Device_CreateGeometryShaderWithStreamOutput(device, code, size, wrong, 1, &stride, 1, 0,
                                                                 NULL, &none),
         (UINT)E_INVALIDARG);
    free(code);
    NEED(ID3D11Device_CreateQuery(device, &counts, &query));
    c->draw();
    ID3D11DeviceContext_ClearRenderTargetView(context, c->view, black);
    ID3D11DeviceContext_GSSetShader(context, gs, NULL, 0);
    ID3D11DeviceContext_SOSetTargets(context, 1, &b, &offset);
    ID3D11DeviceContext_Begin(context, (ID3D11Asynchronous *)query);
    ID3D11DeviceContext_Draw(context, 3, 0);
    ID3D11DeviceContext_Draw(context, 3, 0); /* for which there is no room */
    ID3D11DeviceContext_End(context, (ID3D11Asynchronous *)query);
    while (ID3D11DeviceContext_GetData(context, (ID3D11Asynchronous *)query, &did, sizeof(did), 0) == S_FALSE)
        ;
    want("primitives written", (UINT)did.NumPrimitivesWritten, 1);
    want("room they need", (UINT)did.PrimitivesStorageNeeded, 2);
    want("nothing is drawn", pixel(c, 20, 20), 0xFF000000);
    ID3D11DeviceContext_SOSetTargets(context, 0, NULL, NULL);
    words(b, got, 24);
    want("the position's last", got[3], ONE);
    want("and red", got[4], ONE);
    ID3D11DeviceContext_GSSetShader(context, NULL, NULL, 0);
    ID3D11DeviceContext_IASetVertexBuffers(context, 0, 1, &b, &stride, &offset);
    ID3D11DeviceContext_DrawAuto(context);
    want("what was written is drawn", pixel(c, 20, 20), 0xFF0000FF);
    ID3D11DeviceContext_ClearState(context);
    ID3D11Query_Release(query);
    ID3D11GeometryShader_Release(gs);
    ID3D11Buffer_Release(b);
}

static void samples(const struct calls *c)
{
    D3D11_TEXTURE2D_DESC d = {.Width = 64,
                              .Height = 64,
                              .MipLevels = 1,
                              .ArraySize = 1,
                              .Format = DXGI_FORMAT_R8G8B8A8_UNORM,
                              .SampleDesc = {4, 0},
                              .BindFlags = D3D11_BIND_RENDER_TARGET};
    ID3D11RenderTargetView *view, *both[2];
    ID3D11Texture2D *t, *none = NULL;
    UINT levels = 7;

    want("four samples", (UINT)ID3D11Device_CheckMultisampleQualityLevels(device, d.Format, 4, &levels),
         S_OK);
    want("of one quality", levels, 1);
    NEED(ID3D11Device_CreateTexture2D(device, &d, NULL, &t));
    NEED(ID3D11Device_CreateRenderTargetView(device, (ID3D11Resource *)t, NULL, &view));
    c->draw();
    ID3D11DeviceContext_ClearRenderTargetView(context, c->view, black);
    both[0] = c->view;
    both[1] = view;
    ID3D11DeviceContext_OMSetRenderTargets(context, 2, both, NULL);
    ID3D11DeviceContext_Draw(context, 3, 0); /* into targets that differ */
    want("what differs", pixel(c, 20, 20), 0xFF000000);
    ID3D11DeviceContext_OMSetRenderTargets(context, 1, &view, NULL);
    ID3D11DeviceContext_Draw(context, 3, 0);
    ID3D11DeviceContext_ResolveSubresource(context, (ID3D11Resource *)t, 0, (ID3D11Resource *)c->target, 0,
                                           d.Format);
    ID3D11DeviceContext_ResolveSubresource(context, (ID3D11Resource *)c->target, 5, (ID3D11Resource *)t, 0,
                                           d.Format);
    want("what cannot be", pixel(c, 20, 20), 0xFF000000);
    ID3D11DeviceContext_ResolveSubresource(context, (ID3D11Resource *)c->target, 0, (ID3D11Resource *)t, 0,
                                           d.Format);
    want("resolved", pixel(c, 20, 20), 0xFF0000FF);
    d.SampleDesc.Count = 3;
    want("three samples", (UINT)ID3D11Device_CreateTexture2D(device, &d, NULL, &none), (UINT)E_INVALIDARG);
    d.SampleDesc.Count = 0xFFFFFFFF;
    want("a wild number", (UINT)ID3D11Device_CreateTexture2D(device, &d, NULL, &none), (UINT)E_INVALIDARG);
    d.SampleDesc.Count = 4;
    d.MipLevels = 2;
    want("mips of several samples", (UINT)ID3D11Device_CreateTexture2D(device, &d, NULL, &none),
         (UINT)E_INVALIDARG);
    ID3D11DeviceContext_ClearState(context);
    ID3D11RenderTargetView_Release(view);
    ID3D11Texture2D_Release(t);
}

/* What is bound to be written is not read as well; another mip of it is. */
static void hazards(void)
{
    D3D11_TEXTURE2D_DESC d = {.Width = 8,
                              .Height = 8,
                              .MipLevels = 2,
                              .ArraySize = 1,
                              .Format = DXGI_FORMAT_R8G8B8A8_UNORM,
                              .SampleDesc = {1, 0},
                              .BindFlags = D3D11_BIND_RENDER_TARGET | D3D11_BIND_SHADER_RESOURCE};
    D3D11_SHADER_RESOURCE_VIEW_DESC second = {d.Format, D3D11_SRV_DIMENSION_TEXTURE2D, .Texture2D = {1, 1}};
    ID3D11ShaderResourceView *views[2] = {NULL, NULL}, *got[2];
    ID3D11RenderTargetView *target = NULL;
    ID3D11Texture2D *t;

    NEED(ID3D11Device_CreateTexture2D(device, &d, NULL, &t));
    NEED(ID3D11Device_CreateRenderTargetView(device, (ID3D11Resource *)t, NULL, &target));
    NEED(ID3D11Device_CreateShaderResourceView(device, (ID3D11Resource *)t, NULL, &views[0]));
    NEED(ID3D11Device_CreateShaderResourceView(device, (ID3D11Resource *)t, &second, &views[1]));
    for (int written_first = 0; written_first < 2; written_first++) {
        ID3D11DeviceContext_ClearState(context);
        if (written_first)
            ID3D11DeviceContext_OMSetRenderTargets(context, 1, &target, NULL);
        ID3D11DeviceContext_PSSetShaderResources(context, 0, 2, views);
        if (!written_first)
            ID3D11DeviceContext_OMSetRenderTargets(context, 1, &target, NULL);
        ID3D11DeviceContext_PSGetShaderResources(context, 0, 2, got);
        want("what is written is bound to be read", got[0] != NULL, 0);
        want("another mip is", got[1] == views[1], 1);
        if (got[1])
            ID3D11ShaderResourceView_Release(got[1]);
    }
    ID3D11DeviceContext_ClearState(context);
    ID3D11ShaderResourceView_Release(views[0]);
    ID3D11ShaderResourceView_Release(views[1]);
    ID3D11RenderTargetView_Release(target);
    ID3D11Texture2D_Release(t);
}

/* Of depth and stencil, what the view keeps as it is may be read meanwhile. */
static void kept_depth(void)
{
    static const UINT flags[] = {0, D3D11_DSV_READ_ONLY_DEPTH, D3D11_DSV_READ_ONLY_STENCIL,
                                 D3D11_DSV_READ_ONLY_DEPTH | D3D11_DSV_READ_ONLY_STENCIL};
    static const DXGI_FORMAT parts[] = {DXGI_FORMAT_R24_UNORM_X8_TYPELESS, DXGI_FORMAT_X24_TYPELESS_G8_UINT};
    D3D11_TEXTURE2D_DESC d = {.Width = 8,
                              .Height = 8,
                              .MipLevels = 1,
                              .ArraySize = 1,
                              .Format = DXGI_FORMAT_R24G8_TYPELESS,
                              .SampleDesc = {1, 0},
                              .BindFlags = D3D11_BIND_DEPTH_STENCIL | D3D11_BIND_SHADER_RESOURCE};
    D3D11_DEPTH_STENCIL_VIEW_DESC v = {
        DXGI_FORMAT_D24_UNORM_S8_UINT, D3D11_DSV_DIMENSION_TEXTURE2D, 0, {{0}}};
    ID3D11ShaderResourceView *views[2] = {NULL, NULL}, *got[2];
    ID3D11DepthStencilView *depth;
    ID3D11Texture2D *t;

    NEED(ID3D11Device_CreateTexture2D(device, &d, NULL, &t));
    for (int i = 0; i < 2; i++)
        NEED(ID3D11Device_CreateShaderResourceView(
            device, (ID3D11Resource *)t,
            &((D3D11_SHADER_RESOURCE_VIEW_DESC){parts[i], D3D11_SRV_DIMENSION_TEXTURE2D,
                                                .Texture2D = {0, 1}}),
            &views[i]));
    for (UINT i = 0; i < 8; i++) {
        v.Flags = flags[i / 2];
        NEED(ID3D11Device_CreateDepthStencilView(device, (ID3D11Resource *)t, &v, &depth));
        ID3D11DeviceContext_ClearState(context);
        if (i % 2)
            ID3D11DeviceContext_OMSetRenderTargets(context, 0, NULL, depth);
        ID3D11DeviceContext_PSSetShaderResources(context, 0, 2, views);
        if (i % 2 == 0)
            ID3D11DeviceContext_OMSetRenderTargets(context, 0, NULL, depth);
        ID3D11DeviceContext_PSGetShaderResources(context, 0, 2, got);
        want("depth that is read", got[0] != NULL, !!(v.Flags & D3D11_DSV_READ_ONLY_DEPTH));
        want("stencil that is read", got[1] != NULL, !!(v.Flags & D3D11_DSV_READ_ONLY_STENCIL));
        for (int k = 0; k < 2; k++)
            if (got[k])
                ID3D11ShaderResourceView_Release(got[k]);
        ID3D11DepthStencilView_Release(depth);
    }
    ID3D11DeviceContext_ClearState(context);
    ID3D11ShaderResourceView_Release(views[0]);
    ID3D11ShaderResourceView_Release(views[1]);
    ID3D11Texture2D_Release(t);
}

/* Elements of a buffer are a target: what is cleared and drawn arrives between the view's ends, and stays. */
static void buffer_targets(void)
{
    const UINT ones[24] = {[3] = 1, [4] = 1, [12] = 1};
    D3D11_RENDER_TARGET_VIEW_DESC v = {DXGI_FORMAT_R32_FLOAT, D3D11_RTV_DIMENSION_BUFFER,
                                       .Buffer = {{4}, {8}}};
    ID3D11Buffer *b = buffer(sizeof(ones), D3D11_BIND_RENDER_TARGET, 0, ones);
    ID3D11RenderTargetView *target = NULL, *none = NULL;
    const float half[4] = {0.5f, 1, 1, 1};
    UINT got[24];

    NEED(ID3D11Device_CreateRenderTargetView(device, (ID3D11Resource *)b, &v, &target));
    ID3D11DeviceContext_ClearState(context);
    ID3D11DeviceContext_OMSetRenderTargets(context, 1, &target, NULL);
    words(b, got, 24);
    want("before anything is drawn", got[4], 1);
    ID3D11DeviceContext_ClearRenderTargetView(context, target, half);
    words(b, got, 24);
    want("in front of a buffer's target", got[3], 1);
    want("its first element", got[4], 0x3F000000);
    want("its last element", got[11], 0x3F000000);
    want("behind it", got[12], 1);
    v.Buffer.NumElements = 0xFFFFFFF0;
    want("a target of more than there is",
         (UINT)ID3D11Device_CreateRenderTargetView(device, (ID3D11Resource *)b, &v, &none),
         (UINT)E_INVALIDARG);
    v.Buffer.NumElements = 2;
    v.Format = DXGI_FORMAT_R32_TYPELESS;
    want("a target of texels of any kind",
         (UINT)ID3D11Device_CreateRenderTargetView(device, (ID3D11Resource *)b, &v, &none),
         (UINT)E_INVALIDARG);
    v.Format = DXGI_FORMAT_R32G32B32_FLOAT; /* which no target has here */
    want("a target of three words",
         FAILED(ID3D11Device_CreateRenderTargetView(device, (ID3D11Resource *)b, &v, &none)), 1);
    want("a target of no format",
         (UINT)ID3D11Device_CreateRenderTargetView(device, (ID3D11Resource *)b, NULL, &none),
         (UINT)E_INVALIDARG);
    ID3D11DeviceContext_ClearState(context);
    ID3D11RenderTargetView_Release(target);
    ID3D11Buffer_Release(b);
}

/* Texels become others of their family, and blocks texels of as many bytes and back; between families nothing is copied. */
static void copies(void)
{
    static const struct {
        DXGI_FORMAT from, to;
        UINT from_side, to_side;
        BOOL copied;
    } pairs[] = {{DXGI_FORMAT_R8G8B8A8_UNORM, DXGI_FORMAT_R8G8B8A8_UINT, 4, 4, TRUE},
                 {DXGI_FORMAT_R32G32_UINT, DXGI_FORMAT_BC1_UNORM, 2, 8, TRUE},
                 {DXGI_FORMAT_BC1_TYPELESS, DXGI_FORMAT_R32G32_UINT, 8, 2, TRUE},
                 {DXGI_FORMAT_D16_UNORM, DXGI_FORMAT_R16_UNORM, 4, 4, TRUE},
                 {DXGI_FORMAT_R32_UINT, DXGI_FORMAT_R9G9B9E5_SHAREDEXP, 4, 4, TRUE},
                 {DXGI_FORMAT_R9G9B9E5_SHAREDEXP, DXGI_FORMAT_R32_FLOAT, 4, 4, TRUE},
                 {DXGI_FORMAT_R9G9B9E5_SHAREDEXP, DXGI_FORMAT_R8G8B8A8_UNORM, 4, 4, FALSE},
                 {DXGI_FORMAT_R8G8B8A8_UNORM, DXGI_FORMAT_R32_UINT, 4, 4, FALSE},
                 {DXGI_FORMAT_BC1_UNORM, DXGI_FORMAT_R32_UINT, 8, 2, FALSE}};
    static const UINT bytes[16] = {0x01020304, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19};

    for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++) {
        D3D11_TEXTURE2D_DESC t = {.Width = pairs[i].from_side,
                                  .Height = pairs[i].from_side,
                                  .MipLevels = 1,
                                  .ArraySize = 1,
                                  .Format = pairs[i].from,
                                  .SampleDesc = {1, 0},
                                  .BindFlags = pairs[i].from == DXGI_FORMAT_D16_UNORM
                                                   ? D3D11_BIND_DEPTH_STENCIL
                                                   : D3D11_BIND_SHADER_RESOURCE};
        const D3D11_SUBRESOURCE_DATA data = {bytes, 16, 0};
        D3D11_MAPPED_SUBRESOURCE m;
        ID3D11Texture2D *from, *to;

        NEED(ID3D11Device_CreateTexture2D(device, &t, &data, &from));
        t = (D3D11_TEXTURE2D_DESC){.Width = pairs[i].to_side,
                                   .Height = pairs[i].to_side,
                                   .MipLevels = 1,
                                   .ArraySize = 1,
                                   .Format = pairs[i].to,
                                   .SampleDesc = {1, 0},
                                   .Usage = D3D11_USAGE_STAGING,
                                   .CPUAccessFlags = D3D11_CPU_ACCESS_READ};
        NEED(ID3D11Device_CreateTexture2D(device, &t, NULL, &to));
        ID3D11DeviceContext_CopyResource(context, (ID3D11Resource *)to, (ID3D11Resource *)from);
        NEED(ID3D11DeviceContext_Map(context, (ID3D11Resource *)to, 0, D3D11_MAP_READ, 0, &m));
        if (pairs[i].copied ? memcmp(m.pData, bytes, 8) != 0 : *(const UINT *)m.pData != 0)
            printf("a copy of format %d to %d: 0x%08X\n", (int)pairs[i].from, (int)pairs[i].to,
                   *(const UINT *)m.pData);
        ID3D11DeviceContext_Unmap(context, (ID3D11Resource *)to, 0);
        ID3D11Texture2D_Release(from);
        ID3D11Texture2D_Release(to);
    }
}

/* Levels that are smaller than a block have one, which a texel becomes. */
static void small_levels(void)
{
    static const UINT bytes[2] = {0x01020304, 0x05060708};
    D3D11_TEXTURE2D_DESC t = {.Width = 1,
                              .Height = 1,
                              .MipLevels = 1,
                              .ArraySize = 1,
                              .Format = DXGI_FORMAT_R32G32_UINT,
                              .SampleDesc = {1, 0},
                              .BindFlags = D3D11_BIND_SHADER_RESOURCE};
    const D3D11_SUBRESOURCE_DATA data = {bytes, 8, 0};
    D3D11_MAPPED_SUBRESOURCE m;
    ID3D11Texture2D *from, *to;

    NEED(ID3D11Device_CreateTexture2D(device, &t, &data, &from));
    t = (D3D11_TEXTURE2D_DESC){.Width = 4,
                               .Height = 4,
                               .MipLevels = 3,
                               .ArraySize = 1,
                               .Format = DXGI_FORMAT_BC1_UNORM,
                               .SampleDesc = {1, 0},
                               .Usage = D3D11_USAGE_STAGING,
                               .CPUAccessFlags = D3D11_CPU_ACCESS_READ};
    NEED(ID3D11Device_CreateTexture2D(device, &t, NULL, &to));
    for (UINT i = 0; i < 3; i++) {
        ID3D11DeviceContext_CopySubresourceRegion(context, (ID3D11Resource *)to, i, 0, 0, 0,
                                                  (ID3D11Resource *)from, 0, NULL);
        ID3D11DeviceContext_CopySubresourceRegion(context, (ID3D11Resource *)to, i, 4 >> i, 0, 0,
                                                  (ID3D11Resource *)from, 0, NULL); /* outside of it */
        NEED(ID3D11DeviceContext_Map(context, (ID3D11Resource *)to, i, D3D11_MAP_READ, 0, &m));
        want("the block of a small level", memcmp(m.pData, bytes, 8) == 0, 1);
        ID3D11DeviceContext_Unmap(context, (ID3D11Resource *)to, i);
    }
    ID3D11Texture2D_Release(from);
    ID3D11Texture2D_Release(to);
}

/* A bias is of so many of the format's smallest steps. */
static void bias(const struct calls *c)
{
    static const DXGI_FORMAT formats[] = {DXGI_FORMAT_D24_UNORM_S8_UINT, DXGI_FORMAT_D16_UNORM};
    D3D11_RASTERIZER_DESC r = {.FillMode = D3D11_FILL_SOLID,
                               .CullMode = D3D11_CULL_NONE,
                               .DepthBias = 1000,
                               .DepthClipEnable = TRUE};
    ID3D11RasterizerState *state;

    NEED(ID3D11Device_CreateRasterizerState(device, &r, &state));
    for (int i = 0; i < 2; i++) {
        D3D11_TEXTURE2D_DESC t = {.Width = 64,
                                  .Height = 64,
                                  .MipLevels = 1,
                                  .ArraySize = 1,
                                  .Format = formats[i],
                                  .SampleDesc = {1, 0},
                                  .BindFlags = D3D11_BIND_DEPTH_STENCIL};
        D3D11_MAPPED_SUBRESOURCE m;
        ID3D11Texture2D *depth, *copy;
        ID3D11DepthStencilView *view;
        UINT got[2];

        NEED(ID3D11Device_CreateTexture2D(device, &t, NULL, &depth));
        t.BindFlags = 0;
        t.Usage = D3D11_USAGE_STAGING;
        t.CPUAccessFlags = D3D11_CPU_ACCESS_READ;
        NEED(ID3D11Device_CreateTexture2D(device, &t, NULL, &copy));
        NEED(ID3D11Device_CreateDepthStencilView(device, (ID3D11Resource *)depth, NULL, &view));
        for (int biased = 0; biased < 2; biased++) {
            c->draw();
            ID3D11DeviceContext_OMSetDepthStencilState(context, NULL, 0);
            ID3D11DeviceContext_OMSetRenderTargets(context, 1, (ID3D11RenderTargetView **)&c->view, view);
            ID3D11DeviceContext_ClearDepthStencilView(context, view, D3D11_CLEAR_DEPTH, 1, 0);
            if (biased)
                ID3D11DeviceContext_RSSetState(context, state);
            ID3D11DeviceContext_Draw(context, 3, 0);
            ID3D11DeviceContext_CopyResource(context, (ID3D11Resource *)copy, (ID3D11Resource *)depth);
            NEED(ID3D11DeviceContext_Map(context, (ID3D11Resource *)copy, 0, D3D11_MAP_READ, 0, &m));
            got[biased] = i ? ((const UINT16 *)((const BYTE *)m.pData + (size_t)32 * m.RowPitch))[8]
                            : ((const UINT *)((const BYTE *)m.pData + (size_t)32 * m.RowPitch))[8] & 0xFFFFFF;
            ID3D11DeviceContext_Unmap(context, (ID3D11Resource *)copy, 0);
        }
        want(i ? "a bias of 16 bits" : "a bias of 24 bits",
             got[1] - got[0] + 1 >= 1000 && got[1] - got[0] <= 1001, 1);
        ID3D11DepthStencilView_Release(view);
        ID3D11Texture2D_Release(depth);
        ID3D11Texture2D_Release(copy);
    }
    ID3D11DeviceContext_ClearState(context);
    ID3D11RasterizerState_Release(state);
}

void level11(const struct calls *c, const char *folder)
{
    device = c->device;
    context = c->context;
    want("the level", (UINT)ID3D11Device_GetFeatureLevel(device), D3D_FEATURE_LEVEL_11_0);
    typed_buffers(folder);
    images(c, folder);
    tessellation(c, folder);
    streams(c, folder);
    samples(c);
    hazards();
    kept_depth();
    buffer_targets();
    copies();
    small_levels();
    bias(c);
    want("the device is there", (UINT)ID3D11Device_GetDeviceRemovedReason(device), S_OK);
}
