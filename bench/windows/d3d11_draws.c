/* SPDX-License-Identifier: MIT */
/* d3d11_draws.c: a Windows program that draws as games do: DRAWS draws a frame, each with a blend state, a texture, constants that it maps and
 * a place in a buffer of its own.   d3d11_draws.exe DRAWS FRAMES SHADERS   (samples/shaders) */
#define CINTERFACE
#define COBJMACROS
#define WIN32_LEAN_AND_MEAN
#include <initguid.h>

#include <d3d11.h>

#include "frames.h"

enum { SIDE = 64, TEXTURES = 8, PLACES = 64 };

static ID3D11Device *dev;
static ID3D11DeviceContext *ctx;
static IDXGISwapChain *chain;
static ID3D11RenderTargetView *target;
static ID3D11BlendState *blends[2];
static ID3D11ShaderResourceView *textures[TEXTURES];
static ID3D11Buffer *vertices, *object, *light;

struct vertex {
    float position[3], normal[3], uv[2];
};

static void *file(const char *folder, const char *name, SIZE_T *size)
{
    char path[1024];
    void *bytes = malloc(1 << 16);
    FILE *f;

    snprintf(path, sizeof(path), "%s/%s", folder, name);
    f = fopen(path, "rb");
    if (!f || !bytes)
        exit(4);
    *size = fread(bytes, 1, 1 << 16, f);
    fclose(f);
    return bytes;
}

static int make_shaders(const char *folder)
{
    static const D3D11_INPUT_ELEMENT_DESC elements[] = {
        {"POSITION", 0, DXGI_FORMAT_R32G32B32_FLOAT, 0, 0, D3D11_INPUT_PER_VERTEX_DATA, 0},
        {"NORMAL", 0, DXGI_FORMAT_R32G32B32_FLOAT, 0, 12, D3D11_INPUT_PER_VERTEX_DATA, 0},
        {"TEXCOORD", 0, DXGI_FORMAT_R32G32_FLOAT, 0, 24, D3D11_INPUT_PER_VERTEX_DATA, 0}};
    SIZE_T vs_size, ps_size;
    void *vs = file(folder, "scene_vs.dxbc", &vs_size), *ps = file(folder, "scene_ps.dxbc", &ps_size);
    ID3D11InputLayout *layout;
    ID3D11VertexShader *v;
    ID3D11PixelShader *p;

    if (ID3D11Device_CreateVertexShader(dev, vs, vs_size, NULL, &v) ||
        ID3D11Device_CreatePixelShader(dev, ps, ps_size, NULL, &p) ||
        ID3D11Device_CreateInputLayout(dev, elements, 3, vs, vs_size, &layout))
        return 0;
    ID3D11DeviceContext_IASetInputLayout(ctx, layout);
    ID3D11DeviceContext_VSSetShader(ctx, v, NULL, 0);
    ID3D11DeviceContext_PSSetShader(ctx, p, NULL, 0);
    return 1;
}

static ID3D11Buffer *buffer(UINT size, UINT bind, const void *bytes)
{
    const D3D11_BUFFER_DESC b = {.ByteWidth = size,
                                 .Usage = bytes ? D3D11_USAGE_DEFAULT : D3D11_USAGE_DYNAMIC,
                                 .BindFlags = bind,
                                 .CPUAccessFlags = bytes ? 0 : D3D11_CPU_ACCESS_WRITE};
    const D3D11_SUBRESOURCE_DATA data = {bytes, 0, 0};
    ID3D11Buffer *out = NULL;

    return ID3D11Device_CreateBuffer(dev, &b, bytes ? &data : NULL, &out) ? NULL : out;
}

static int make_textures(void)
{
    const D3D11_TEXTURE2D_DESC t = {
        4, 4, 1, 1, DXGI_FORMAT_R8G8B8A8_UNORM, {1, 0}, D3D11_USAGE_DEFAULT, D3D11_BIND_SHADER_RESOURCE};
    BYTE texels[64];

    for (int i = 0; i < TEXTURES; i++) {
        const D3D11_SUBRESOURCE_DATA data = {texels, 16, 0};
        ID3D11Texture2D *texture;

        memset(texels, 0x20 * i, sizeof(texels));
        if (ID3D11Device_CreateTexture2D(dev, &t, &data, &texture) ||
            ID3D11Device_CreateShaderResourceView(dev, (ID3D11Resource *)texture, NULL, &textures[i]))
            return 0;
    }
    return 1;
}

static int make(const char *folder)
{
    static const float sun[16] = {0, 0, 1, 0, 1, 1, 1, 1, 0.25f, 0.25f, 0.25f, 0, 1, 1, 1, 1};
    static const struct vertex triangle[3] = {{{-0.5f, -0.5f, 0.5f}, {0, 0, 1}, {0, 0}},
                                              {{0, 0.5f, 0.5f}, {0, 0, 1}, {0.5f, 1}},
                                              {{0.5f, -0.5f, 0.5f}, {0, 0, 1}, {1, 0}}};
    static struct vertex all[PLACES][3];
    const D3D11_VIEWPORT view = {0, 0, SIDE, SIDE, 0, 1};
    D3D11_SAMPLER_DESC s = {.Filter = D3D11_FILTER_MIN_MAG_MIP_LINEAR,
                            .AddressU = D3D11_TEXTURE_ADDRESS_WRAP,
                            .AddressV = D3D11_TEXTURE_ADDRESS_WRAP,
                            .AddressW = D3D11_TEXTURE_ADDRESS_WRAP,
                            .ComparisonFunc = D3D11_COMPARISON_NEVER,
                            .MaxLOD = D3D11_FLOAT32_MAX};
    D3D11_BLEND_DESC b = {.RenderTarget[0] = {FALSE, D3D11_BLEND_SRC_ALPHA, D3D11_BLEND_INV_SRC_ALPHA,
                                              D3D11_BLEND_OP_ADD, D3D11_BLEND_ONE, D3D11_BLEND_ZERO,
                                              D3D11_BLEND_OP_ADD, D3D11_COLOR_WRITE_ENABLE_ALL}};
    ID3D11SamplerState *sampler;
    ID3D11Texture2D *back;

    for (int i = 0; i < PLACES; i++)
        memcpy(all[i], triangle, sizeof(triangle));
    vertices = buffer(sizeof(all), D3D11_BIND_VERTEX_BUFFER, all);
    light = buffer(sizeof(sun), D3D11_BIND_CONSTANT_BUFFER, sun);
    object = buffer(128, D3D11_BIND_CONSTANT_BUFFER, NULL);
    for (int i = 0; i < 2; i++) {
        b.RenderTarget[0].BlendEnable = i;
        if (ID3D11Device_CreateBlendState(dev, &b, &blends[i]))
            return 0;
    }
    if (!vertices || !light || !object || !make_textures() || !make_shaders(folder) ||
        ID3D11Device_CreateSamplerState(dev, &s, &sampler) ||
        IDXGISwapChain_GetBuffer(chain, 0, &IID_ID3D11Texture2D, (void **)&back) ||
        ID3D11Device_CreateRenderTargetView(dev, (ID3D11Resource *)back, NULL, &target))
        return 0;
    ID3D11DeviceContext_RSSetViewports(ctx, 1, &view);
    ID3D11DeviceContext_VSSetConstantBuffers(ctx, 0, 1, &object);
    ID3D11DeviceContext_PSSetConstantBuffers(ctx, 1, 1, &light);
    ID3D11DeviceContext_PSSetSamplers(ctx, 0, 1, &sampler);
    ID3D11DeviceContext_IASetPrimitiveTopology(ctx, D3D11_PRIMITIVE_TOPOLOGY_TRIANGLELIST);
    return 1;
}

static void frame(unsigned draws)
{
    static const float colour[4] = {0.125f, 0.25f, 0.375f, 1};

    ID3D11DeviceContext_OMSetRenderTargets(ctx, 1, &target, NULL);
    ID3D11DeviceContext_ClearRenderTargetView(ctx, target, colour);
    for (unsigned i = 0; i < draws; i++) {
        const float x = (float)(i % 7) / 10, y = (float)(i % 5) / 10;
        const float constants[32] = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, x, y, 0, 1,
                                     1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1};
        const UINT stride = sizeof(struct vertex), offset = i % PLACES * 3 * stride;
        D3D11_MAPPED_SUBRESOURCE m;
        HRESULT hr;

        ID3D11DeviceContext_OMSetBlendState(ctx, blends[i & 1], NULL, 0xFFFFFFFF);
        ID3D11DeviceContext_PSSetShaderResources(ctx, 0, 1, &textures[i % TEXTURES]);
        hr = ID3D11DeviceContext_Map(ctx, (ID3D11Resource *)object, 0, D3D11_MAP_WRITE_DISCARD, 0, &m);
        if (hr)
            exit(frames_fail("Map", (unsigned)hr));
        memcpy(m.pData, constants, sizeof(constants));
        ID3D11DeviceContext_Unmap(ctx, (ID3D11Resource *)object, 0);
        ID3D11DeviceContext_IASetVertexBuffers(ctx, 0, 1, &vertices, &stride, &offset);
        ID3D11DeviceContext_Draw(ctx, 3, 0);
    }
    IDXGISwapChain_Present(chain, 0, 0);
}

/* Whether a frame is seen. */
static int draws_something(void)
{
    const D3D11_QUERY_DESC q = {D3D11_QUERY_OCCLUSION, 0};
    ID3D11Query *query;
    UINT64 samples = 0;
    HRESULT hr;

    if (ID3D11Device_CreateQuery(dev, &q, &query))
        return 0;
    ID3D11DeviceContext_Begin(ctx, (ID3D11Asynchronous *)query);
    frame(8);
    ID3D11DeviceContext_End(ctx, (ID3D11Asynchronous *)query);
    do
        hr = ID3D11DeviceContext_GetData(ctx, (ID3D11Asynchronous *)query, &samples, sizeof(samples), 0);
    while (hr == S_FALSE);
    return !hr && samples;
}

int main(int argc, char **argv)
{
    const unsigned draws = argc > 1 ? (unsigned)atoi(argv[1]) : 1000,
                   frames = argc > 2 ? (unsigned)atoi(argv[2]) : 20;
    DXGI_SWAP_CHAIN_DESC c = {
        .BufferDesc = {.Width = SIDE, .Height = SIDE, .Format = DXGI_FORMAT_R8G8B8A8_UNORM},
        .SampleDesc = {1, 0},
        .BufferUsage = DXGI_USAGE_RENDER_TARGET_OUTPUT,
        .BufferCount = 1,
        .Windowed = TRUE};
    const D3D_FEATURE_LEVEL level = D3D_FEATURE_LEVEL_10_0;
    HRESULT hr;

    if (argc < 4)
        return 2;
    c.OutputWindow = CreateWindowA("static", "draws", WS_OVERLAPPEDWINDOW | WS_VISIBLE, 0, 0, 100, 100, NULL,
                                   NULL, NULL, NULL);
    hr = D3D11CreateDeviceAndSwapChain(NULL, D3D_DRIVER_TYPE_HARDWARE, NULL, 0, &level, 1, D3D11_SDK_VERSION,
                                       &c, &chain, &dev, NULL, &ctx);
    if (hr)
        return frames_fail("no device", (unsigned)hr);
    if (!make(argv[3]) || !draws_something())
        return frames_fail("nothing is drawn; the device's removal",
                           (unsigned)ID3D11Device_GetDeviceRemovedReason(dev));
    if (frames_take(frame, draws, frames))
        return 4;
    if (!draws_something())
        return frames_fail("nothing is drawn any more; the device's removal",
                           (unsigned)ID3D11Device_GetDeviceRemovedReason(dev));
    return 0;
}
