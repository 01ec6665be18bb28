/* SPDX-License-Identifier: MIT */
/* d3d10.c: a triangle of a Direct3D 10 program, to the pixel; and what its objects say of themselves. d3d10 FOLDER; in FOLDER are the
 * samples' shaders. Prints a line of each thing that went otherwise, then "done". */
#define COBJMACROS
#define WIN32_LEAN_AND_MEAN
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <d3d10_1.h>

#include "program.h"

enum { SIDE = 64, BLUE = 0xFFFF0000, RED = 0xFF0000FF };

static void want(const char *what, UINT64 got, UINT64 expected)
{
    if (got != expected)
        printf("%s: 0x%llX, not 0x%llX\n", what, (unsigned long long)got, (unsigned long long)expected);
}

struct scene {
    ID3D10Texture2D *target, *staging;
    ID3D10RenderTargetView *view;
    ID3D10Buffer *vertices;
    ID3D10VertexShader *vs;
    ID3D10PixelShader *ps;
    ID3D10InputLayout *layout;
    ID3D10RasterizerState *raster;
    ID3D10BlendState *blend;
    ID3D10DepthStencilState *depth;
};

static void states(ID3D10Device *d, struct scene *s)
{
    D3D10_RASTERIZER_DESC r = {
        .FillMode = D3D10_FILL_SOLID, .CullMode = D3D10_CULL_NONE, .DepthClipEnable = TRUE};
    D3D10_BLEND_DESC b = {.SrcBlend = D3D10_BLEND_ONE,
                          .DestBlend = D3D10_BLEND_ZERO,
                          .BlendOp = D3D10_BLEND_OP_ADD,
                          .SrcBlendAlpha = D3D10_BLEND_ONE,
                          .DestBlendAlpha = D3D10_BLEND_ZERO,
                          .BlendOpAlpha = D3D10_BLEND_OP_ADD,
                          .RenderTargetWriteMask = {15, 15, 15, 15, 15, 15, 15, 7}},
                     told;
    D3D10_DEPTH_STENCIL_DESC z = {.DepthEnable = FALSE};

    NEED(ID3D10Device_CreateRasterizerState(d, &r, &s->raster));
    NEED(ID3D10Device_CreateBlendState(d, &b, &s->blend));
    NEED(ID3D10Device_CreateDepthStencilState(d, &z, &s->depth));
    ID3D10BlendState_GetDesc(s->blend, &told);
    want("the mask of the last target", told.RenderTargetWriteMask[7], 7);
}

static void make(ID3D10Device *d, struct scene *s, const char *folder)
{
    static const float points[3][8] = {{-0.75f, -0.75f, 0, 1, 1, 0, 0, 1},
                                       {-0.75f, 0.75f, 0, 1, 1, 0, 0, 1},
                                       {0.75f, -0.75f, 0, 1, 1, 0, 0, 1}};
    static const D3D10_INPUT_ELEMENT_DESC elements[] = {
        {"POSITION", 0, DXGI_FORMAT_R32G32B32A32_FLOAT, 0, 0, D3D10_INPUT_PER_VERTEX_DATA, 0},
        {"COLOR", 0, DXGI_FORMAT_R32G32B32A32_FLOAT, 0, 16, D3D10_INPUT_PER_VERTEX_DATA, 0}};
    D3D10_TEXTURE2D_DESC t = {.Width = SIDE,
                              .Height = SIDE,
                              .MipLevels = 1,
                              .ArraySize = 1,
                              .Format = DXGI_FORMAT_R8G8B8A8_UNORM,
                              .SampleDesc = {1, 0},
                              .BindFlags = D3D10_BIND_RENDER_TARGET};
    D3D10_BUFFER_DESC b = {.ByteWidth = sizeof(points), .BindFlags = D3D10_BIND_VERTEX_BUFFER}, told;
    D3D10_SUBRESOURCE_DATA data = {points, 0, 0};
    ID3D10InputLayout *made[2] = {NULL, (void *)made};
    SIZE_T size;
    BYTE *code;

    NEED(ID3D10Device_CreateTexture2D(d, &t, NULL, &s->target));
    NEED(ID3D10Device_CreateRenderTargetView(d, (ID3D10Resource *)s->target, NULL, &s->view));
    t.Usage = D3D10_USAGE_STAGING;
    t.BindFlags = 0;
    t.CPUAccessFlags = D3D10_CPU_ACCESS_READ;
    NEED(ID3D10Device_CreateTexture2D(d, &t, NULL, &s->staging));
    NEED(ID3D10Device_CreateBuffer(d, &b, &data, &s->vertices));
    ID3D10Buffer_GetDesc(s->vertices, &told);
    want("the description of a buffer", memcmp(&told, &b, sizeof(b)) == 0, 1);
    code = file(folder, "colour_vs.dxbc", &size);
    NEED(ID3D10Device_CreateVertexShader(d, code, size, &s->vs));
    NEED(ID3D10Device_CreateInputLayout(d, elements, 2, code, size, &made[0]));
    want("what stands behind a layout", made[1] == (void *)made, 1);
    s->layout = made[0];
    free(code);
    code = file(folder, "colour_ps.dxbc", &size);
    NEED(ID3D10Device_CreatePixelShader(d, code, size, &s->ps));
    free(code);
    states(d, s);
}

static void draw(ID3D10Device *d, const struct scene *s)
{
    static const float blue[4] = {0, 0, 1, 1};
    const D3D10_VIEWPORT viewport = {0, 0, SIDE, SIDE, 0, 1};
    UINT stride = 32, offset = 0;

    ID3D10Device_ClearRenderTargetView(d, s->view, blue);
    ID3D10Device_OMSetRenderTargets(d, 1, &s->view, NULL);
    ID3D10Device_OMSetBlendState(d, s->blend, NULL, 0xFFFFFFFF);
    ID3D10Device_OMSetDepthStencilState(d, s->depth, 0);
    ID3D10Device_RSSetState(d, s->raster);
    ID3D10Device_RSSetViewports(d, 1, &viewport);
    ID3D10Device_IASetInputLayout(d, s->layout);
    ID3D10Device_IASetVertexBuffers(d, 0, 1, &s->vertices, &stride, &offset);
    ID3D10Device_IASetPrimitiveTopology(d, D3D10_PRIMITIVE_TOPOLOGY_TRIANGLELIST);
    ID3D10Device_VSSetShader(d, s->vs);
    ID3D10Device_PSSetShader(d, s->ps);
    ID3D10Device_Draw(d, 3, 0);
}

/* Every pixel: blue, and red where its centre is inside of the triangle (top-left rule: not on the slope). */
static void look(ID3D10Device *d, const struct scene *s)
{
    D3D10_MAPPED_TEXTURE2D m;

    ID3D10Device_CopyResource(d, (ID3D10Resource *)s->staging, (ID3D10Resource *)s->target);
    NEED(ID3D10Texture2D_Map(s->staging, 0, D3D10_MAP_READ, 0, &m));
    for (UINT y = 0; y < SIDE; y++)
        for (UINT x = 0; x < SIDE; x++) {
            UINT got, expected = x >= 8 && x < 56 && y >= 8 && y < 56 && x < y ? (UINT)RED : (UINT)BLUE;

            memcpy(&got, (BYTE *)m.pData + y * m.RowPitch + x * 4, 4);
            if (got != expected) {
                printf("the pixel at %u, %u is 0x%08X, not 0x%08X\n", x, y, got, expected);
                y = SIDE;
                break;
            }
        }
    ID3D10Texture2D_Unmap(s->staging, 0);
}

static void ask(ID3D10Device *d, const struct scene *s)
{
    D3D10_QUERY_DESC q = {D3D10_QUERY_OCCLUSION, 0};
    ID3D10Device *own = NULL;
    ID3D10Buffer *bound = NULL;
    ID3D10VertexShader *vs = NULL;
    ID3D10Query *query;
    UINT64 n = 0;
    HRESULT hr;

    ID3D10Device_IAGetVertexBuffers(d, 0, 1, &bound, NULL, NULL);
    want("the bound buffer", bound == s->vertices, 1);
    ID3D10Buffer_Release(bound);
    ID3D10Device_VSGetShader(d, &vs);
    want("the bound shader", vs == s->vs, 1);
    ID3D10VertexShader_Release(vs);
    ID3D10Buffer_GetDevice(s->vertices, &own);
    want("the buffer's device", own == d, 1);
    ID3D10Device_Release(own);
    NEED(ID3D10Device_CreateQuery(d, &q, &query));
    ID3D10Query_Begin(query);
    ID3D10Device_Draw(d, 3, 0);
    ID3D10Query_End(query);
    while ((hr = ID3D10Query_GetData(query, &n, sizeof(n), 0)) == S_FALSE)
        ;
    want("asking", (UINT)hr, S_OK);
    want("samples", n, 47 * 48 / 2);
    ID3D10Query_Release(query);
}

/* What a mask names is taken, and set again; the rest stays. */
static void state_blocks(ID3D10Device *d, const struct scene *s)
{
    D3D10_STATE_BLOCK_MASK mask, all, both;
    ID3D10RasterizerState *raster = NULL;
    ID3D10VertexShader *vs = NULL;
    ID3D10Buffer *vertices = NULL;
    ID3D10StateBlock *block;
    UINT stride, offset;
    D3D10_PRIMITIVE_TOPOLOGY topology;

    NEED(D3D10StateBlockMaskDisableAll(&mask));
    NEED(D3D10StateBlockMaskEnableCapture(&mask, D3D10_DST_VS, 0, 1));
    NEED(D3D10StateBlockMaskEnableCapture(&mask, D3D10_DST_RS_RASTERIZER_STATE, 0, 1));
    NEED(D3D10StateBlockMaskEnableCapture(&mask, D3D10_DST_PS_SHADER_RESOURCES, 7, 3));
    NEED(D3D10StateBlockMaskEnableCapture(&mask, D3D10_DST_IA_VERTEX_BUFFERS, 0, 16));
    want("bits", mask.PSShaderResources[0] == 0x80 && mask.PSShaderResources[1] == 0x03, 1);
    want("a bit", (UINT)D3D10StateBlockMaskGetSetting(&mask, D3D10_DST_PS_SHADER_RESOURCES, 9), 1 << 9 % 8);
    want("the next", (UINT)D3D10StateBlockMaskGetSetting(&mask, D3D10_DST_PS_SHADER_RESOURCES, 10), FALSE);
    NEED(D3D10StateBlockMaskDisableCapture(&mask, D3D10_DST_PS_SHADER_RESOURCES, 8, 2));
    want("bits less", mask.PSShaderResources[0] == 0x80 && !mask.PSShaderResources[1], 1);
    want("more slots than there are",
         (UINT)D3D10StateBlockMaskEnableCapture(&mask, D3D10_DST_VS_SAMPLERS, 15, 2), (UINT)E_INVALIDARG);
    want("no mask", (UINT)D3D10StateBlockMaskEnableAll(NULL), (UINT)E_INVALIDARG);
    NEED(D3D10StateBlockMaskEnableAll(&all));
    NEED(D3D10StateBlockMaskIntersect(&mask, &all, &both));
    want("what both have", (UINT)memcmp(&both, &mask, sizeof(mask)), 0);
    NEED(D3D10StateBlockMaskDifference(&mask, &mask, &both));
    NEED(D3D10StateBlockMaskUnion(&both, &mask, &both));
    want("nothing and it", (UINT)memcmp(&both, &mask, sizeof(mask)), 0);

    NEED(D3D10CreateStateBlock(d, &mask, &block));
    NEED(block->lpVtbl->Capture(block));
    ID3D10Device_ClearState(d);
    ID3D10Device_IASetPrimitiveTopology(d, D3D10_PRIMITIVE_TOPOLOGY_LINELIST);
    NEED(block->lpVtbl->Apply(block));
    ID3D10Device_VSGetShader(d, &vs);
    ID3D10Device_RSGetState(d, &raster);
    ID3D10Device_IAGetVertexBuffers(d, 0, 1, &vertices, &stride, &offset);
    ID3D10Device_IAGetPrimitiveTopology(d, &topology);
    want("the shader of a block", vs == s->vs, 1);
    want("its rasterizer state", raster == s->raster, 1);
    want("its vertices", vertices == s->vertices && stride == 32, 1);
    want("what it does not name", topology, D3D10_PRIMITIVE_TOPOLOGY_LINELIST);
    ID3D10VertexShader_Release(vs);
    ID3D10RasterizerState_Release(raster);
    ID3D10Buffer_Release(vertices);
    want("references of a block", block->lpVtbl->Release(block), 0);
}

static void private_data(ID3D10Device *d)
{
    static const GUID guid = {0x12345678, 0x1234, 0x1234, {1, 2, 3, 4, 5, 6, 7, 8}};
    UINT value = 77, got = 0, size = sizeof(got);
    IDXGIDevice *dxgi;

    NEED(ID3D10Device_SetPrivateData(d, &guid, sizeof(value), &value));
    NEED(ID3D10Device_QueryInterface(d, &IID_IDXGIDevice, (void **)&dxgi));
    NEED(IDXGIDevice_GetPrivateData(dxgi, &guid, &size, &got));
    want("the device's data, by DXGI", got, value);
    IDXGIDevice_Release(dxgi);
}

int main(int argc, char **argv)
{
    struct scene s = {0};
    IUnknown **all = (IUnknown **)(void *)&s;
    ID3D10Device *device;
    ID3D10Device1 *one;

    setvbuf(stdout, NULL, _IONBF, 0);
    if (argc < 2)
        return 2;
    NEED(D3D10CreateDevice(NULL, D3D10_DRIVER_TYPE_HARDWARE, NULL, 0, D3D10_SDK_VERSION, &device));
    make(device, &s, argv[1]);
    draw(device, &s);
    look(device, &s);
    ask(device, &s);
    state_blocks(device, &s);
    private_data(device);
    NEED(ID3D10Device_GetDeviceRemovedReason(device));
    NEED(ID3D10Device_QueryInterface(device, &IID_ID3D10Device1, (void **)&one));
    want("the level", ID3D10Device1_GetFeatureLevel(one), D3D10_FEATURE_LEVEL_10_0);
    ID3D10Device1_Release(one);
    ID3D10Device_ClearState(device);
    for (size_t i = 0; i < sizeof(s) / sizeof(IUnknown *); i++)
        want("references of an object", IUnknown_Release(all[i]), 0);
    want("references of the device", ID3D10Device_Release(device), 0);
    NEED(D3D10CreateDevice1(NULL, D3D10_DRIVER_TYPE_HARDWARE, NULL, 0, D3D10_FEATURE_LEVEL_9_3,
                            D3D10_1_SDK_VERSION, &one));
    want("a lower level", ID3D10Device1_GetFeatureLevel(one), D3D10_FEATURE_LEVEL_9_3);
    want("references of a device of 10.1", ID3D10Device1_Release(one), 0);
    printf("done\n");
    return 0;
}
