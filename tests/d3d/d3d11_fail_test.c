/* SPDX-License-Identifier: MIT */
/* d3d11_fail_test.c: the runtime of Direct3D 11 and its user-mode driver without memory. d3d11_fail_test FOLDER, of the samples'
 * shaders. */
#include "test.h"

#define COBJMACROS
#define WIN32_LEAN_AND_MEAN
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "d3d/com.h"

#include "fail_rig.h"

HRESULT APIENTRY OpenAdapter10_2(D3D10DDIARG_OPENADAPTER *open);

enum { SIDE = 16, MOST = 1 << 14 };

static struct shader {
    BYTE bytes[MOST];
    SIZE_T size;
} vertex_code, pixel_code;

static ID3D11Device *device;
static ID3D11DeviceContext *context;

static HRESULT answer; /* of the last call */
#define DOES(call) ((answer = (call)) == S_OK)
#define RELEASE(o) ((o) ? (void)IUnknown_Release((IUnknown *)(o)) : (void)0)

static D3D11_TEXTURE2D_DESC texture(D3D11_USAGE usage, UINT bind, UINT access)
{
    return (D3D11_TEXTURE2D_DESC){.Width = SIDE,
                                  .Height = SIDE,
                                  .MipLevels = 1,
                                  .ArraySize = 1,
                                  .Format = DXGI_FORMAT_R8G8B8A8_UNORM,
                                  .SampleDesc = {1, 0},
                                  .Usage = usage,
                                  .BindFlags = bind,
                                  .CPUAccessFlags = access};
}

static bool states(void)
{
    const D3D11_BLEND_DESC blend = {
        .RenderTarget = {{TRUE, D3D11_BLEND_ONE, D3D11_BLEND_ONE, D3D11_BLEND_OP_ADD, D3D11_BLEND_ONE,
                          D3D11_BLEND_ONE, D3D11_BLEND_OP_ADD, D3D11_COLOR_WRITE_ENABLE_ALL}}};
    const D3D11_RASTERIZER_DESC raster = {.FillMode = D3D11_FILL_SOLID, .CullMode = D3D11_CULL_NONE};
    const D3D11_QUERY_DESC event = {.Query = D3D11_QUERY_EVENT};
    ID3D11BlendState *b = NULL;
    ID3D11RasterizerState *r = NULL;
    ID3D11Query *q = NULL;
    bool ok = DOES(ID3D11Device_CreateBlendState(device, &blend, &b)) &&
              DOES(ID3D11Device_CreateRasterizerState(device, &raster, &r)) &&
              DOES(ID3D11Device_CreateQuery(device, &event, &q));

    if (ok) {
        ID3D11DeviceContext_OMSetBlendState(context, b, NULL, ~0u);
        ID3D11DeviceContext_RSSetState(context, r);
        ID3D11DeviceContext_End(context, (ID3D11Asynchronous *)q);
        ID3D11DeviceContext_Flush(context);
    }
    RELEASE(b);
    RELEASE(r);
    RELEASE(q);
    return ok;
}

static bool draws(ID3D11Texture2D *target)
{
    static const float points[3][8] = {{0}}, blue[4] = {0, 0, 1, 1};
    static const D3D11_INPUT_ELEMENT_DESC elements[] = {
        {"POSITION", 0, DXGI_FORMAT_R32G32B32A32_FLOAT, 0, 0, D3D11_INPUT_PER_VERTEX_DATA, 0},
        {"COLOR", 0, DXGI_FORMAT_R32G32B32A32_FLOAT, 0, 16, D3D11_INPUT_PER_VERTEX_DATA, 0}};
    const D3D11_BUFFER_DESC buffer = {.ByteWidth = sizeof(points), .BindFlags = D3D11_BIND_VERTEX_BUFFER};
    const D3D11_SUBRESOURCE_DATA data = {points, 0, 0};
    const D3D11_VIEWPORT viewport = {0, 0, SIDE, SIDE, 0, 1};
    ID3D11RenderTargetView *view = NULL;
    ID3D11Buffer *vertices = NULL;
    ID3D11VertexShader *vs = NULL;
    ID3D11PixelShader *ps = NULL;
    ID3D11InputLayout *layout = NULL;
    UINT stride = 32, offset = 0;
    bool ok = DOES(ID3D11Device_CreateRenderTargetView(device, (ID3D11Resource *)target, NULL, &view)) &&
              DOES(ID3D11Device_CreateBuffer(device, &buffer, &data, &vertices)) &&
              DOES(ID3D11Device_CreateVertexShader(device, vertex_code.bytes, vertex_code.size, NULL, &vs)) &&
              DOES(ID3D11Device_CreatePixelShader(device, pixel_code.bytes, pixel_code.size, NULL, &ps)) &&
              DOES(ID3D11Device_CreateInputLayout(device, elements, 2, vertex_code.bytes, vertex_code.size,
                                                  &layout));

    if (ok) {
        ID3D11DeviceContext_OMSetRenderTargets(context, 1, &view, NULL);
        ID3D11DeviceContext_RSSetViewports(context, 1, &viewport);
        ID3D11DeviceContext_ClearRenderTargetView(context, view, blue);
        ID3D11DeviceContext_IASetInputLayout(context, layout);
        ID3D11DeviceContext_IASetVertexBuffers(context, 0, 1, &vertices, &stride, &offset);
        ID3D11DeviceContext_IASetPrimitiveTopology(context, D3D11_PRIMITIVE_TOPOLOGY_TRIANGLELIST);
        ID3D11DeviceContext_VSSetShader(context, vs, NULL, 0);
        ID3D11DeviceContext_PSSetShader(context, ps, NULL, 0);
        ID3D11DeviceContext_Draw(context, 3, 0);
        ok = states();
        ID3D11DeviceContext_ClearState(context);
    }
    RELEASE(layout);
    RELEASE(ps);
    RELEASE(vs);
    RELEASE(vertices);
    RELEASE(view);
    return ok;
}

static bool uses(void)
{
    D3D11_TEXTURE2D_DESC t = texture(D3D11_USAGE_DEFAULT, D3D11_BIND_RENDER_TARGET, 0),
                         s = texture(D3D11_USAGE_STAGING, 0, D3D11_CPU_ACCESS_READ);
    ID3D11Texture2D *target = NULL, *staging = NULL;
    D3D11_MAPPED_SUBRESOURCE m = {0};
    bool ok = DOES(ID3D11Device_CreateTexture2D(device, &t, NULL, &target)) &&
              DOES(ID3D11Device_CreateTexture2D(device, &s, NULL, &staging)) && draws(target);

    if (ok) {
        ID3D11DeviceContext_CopyResource(context, (ID3D11Resource *)staging, (ID3D11Resource *)target);
        ok = DOES(ID3D11DeviceContext_Map(context, (ID3D11Resource *)staging, 0, D3D11_MAP_READ, 0, &m));
        if (ok)
            ID3D11DeviceContext_Unmap(context, (ID3D11Resource *)staging, 0);
    }
    RELEASE(staging);
    RELEASE(target);
    return ok && DOES(ID3D11Device_GetDeviceRemovedReason(device));
}

/* One that is large has memory of its own for each time that it is mapped. */
static bool maps(void)
{
    const D3D11_BUFFER_DESC large = {.ByteWidth = 1 << 17,
                                     .Usage = D3D11_USAGE_DYNAMIC,
                                     .BindFlags = D3D11_BIND_VERTEX_BUFFER,
                                     .CPUAccessFlags = D3D11_CPU_ACCESS_WRITE};
    D3D11_MAPPED_SUBRESOURCE m = {0};
    ID3D11Buffer *b = NULL;
    bool ok = DOES(ID3D11Device_CreateBuffer(device, &large, NULL, &b));

    for (int i = 0; ok && i < 2; i++) {
        ok = DOES(ID3D11DeviceContext_Map(context, (ID3D11Resource *)b, 0, D3D11_MAP_WRITE_DISCARD, 0, &m));
        if (!ok)
            break;
        memset(m.pData, i, 1 << 17);
        ID3D11DeviceContext_Unmap(context, (ID3D11Resource *)b, 0);
    }
    RELEASE(b);
    return ok;
}

static const GUID mark = {0x17, 1, 1, {0}};

/* The first `count` of two there are, and the first has the mark or none. */
static void has_buffers(IDXGISwapChain *chain, UINT count, bool marked)
{
    DXGI_SWAP_CHAIN_DESC desc;
    ID3D11Texture2D *back[2] = {NULL};
    UINT byte = 0, size = sizeof(byte);

    assert_int_equal(IDXGISwapChain_GetDesc(chain, &desc), S_OK);
    assert_int_equal(desc.BufferCount, count);
    for (UINT i = 0; i < 2; i++)
        assert_int_equal(IDXGISwapChain_GetBuffer(chain, i, &IID_ID3D11Texture2D, (void **)&back[i]) == S_OK,
                         i < count);
    assert_int_equal(ID3D11Texture2D_GetPrivateData(back[0], &mark, &size, &byte) == S_OK, marked);
    RELEASE(back[0]);
    RELEASE(back[1]);
}

/* A chain has the buffers that it is asked for, or those that it had. */
static bool resizes(void)
{
    DXGI_SWAP_CHAIN_DESC desc = {.BufferDesc = {.Format = DXGI_FORMAT_B8G8R8A8_UNORM},
                                 .SampleDesc = {1, 0},
                                 .BufferUsage = DXGI_USAGE_RENDER_TARGET_OUTPUT,
                                 .BufferCount = 2,
                                 .SwapEffect = DXGI_SWAP_EFFECT_SEQUENTIAL};
    IDXGIFactory1 *factory = NULL;
    IDXGISwapChain *chain = NULL;
    ID3D11Texture2D *back = NULL;
    bool ok = DOES(CreateDXGIFactory1(&IID_IDXGIFactory1, (void **)&factory)) &&
              DOES(IDXGIFactory1_CreateSwapChain(factory, (IUnknown *)device, &desc, &chain)) &&
              DOES(IDXGISwapChain_GetBuffer(chain, 0, &IID_ID3D11Texture2D, (void **)&back)) &&
              DOES(ID3D11Texture2D_SetPrivateData(back, &mark, sizeof(UINT), &(UINT){1}));

    RELEASE(back);
    if (ok) {
        ok = DOES(IDXGISwapChain_ResizeBuffers(chain, 1, 0, 0, DXGI_FORMAT_UNKNOWN, 0));
        has_buffers(chain, ok ? 1 : 2, !ok);
        ok = ok && DOES(IDXGISwapChain_Present(chain, 0, 0));
    }
    RELEASE(chain);
    RELEASE(factory);
    return ok;
}

static UINT discards, parts; /* that the driver was told of, and of how many parts the last one was */

static VOID APIENTRY discarded(D3D10DDI_HDEVICE h, D3D11DDI_HANDLETYPE type, VOID *resource_or_view,
                               CONST D3D10_DDI_RECT *rects, UINT count)
{
    discards++;
    parts = count;
}

/* Too many parts for a list to keep, and parts that are none, are not the whole view. */
static void discards_parts(ID3D11View *view, ID3D11DeviceContext1 *recorder)
{
    static const D3D11_RECT many[5000];
    ID3D11CommandList *list = NULL;

    discards = 0;
    ID3D11DeviceContext1_DiscardView1(recorder, view, many, 5000);
    ID3D11DeviceContext1_DiscardView1(recorder, view, many, 0);
    ID3D11DeviceContext1_DiscardView1(recorder, view, many, 3);
    if (ID3D11DeviceContext1_FinishCommandList(recorder, FALSE, &list) != S_OK)
        return;
    ID3D11DeviceContext_ExecuteCommandList(context, list, FALSE);
    ID3D11CommandList_Release(list);
    assert_true(discards == 1 && parts == 3);
}

static bool records(void)
{
    D3D11_TEXTURE2D_DESC t = texture(D3D11_USAGE_DEFAULT, D3D11_BIND_RENDER_TARGET, 0);
    ID3D11Texture2D *target = NULL;
    ID3D11RenderTargetView *view = NULL;
    ID3D11DeviceContext *recorder = NULL;
    bool ok = DOES(ID3D11Device_CreateTexture2D(device, &t, NULL, &target)) &&
              DOES(ID3D11Device_CreateRenderTargetView(device, (ID3D11Resource *)target, NULL, &view)) &&
              DOES(ID3D11Device_CreateDeferredContext(device, 0, &recorder));

    if (ok)
        discards_parts((ID3D11View *)view, (ID3D11DeviceContext1 *)recorder);
    RELEASE(recorder);
    RELEASE(view);
    RELEASE(target);
    return ok;
}

static D3D_FEATURE_LEVEL highest; /* that the driver is to have */

/* What is told of a driver's interface: parts of views are cleared by 11.1's alone. */
static void is_highest(D3D_FEATURE_LEVEL level)
{
    D3D11_FEATURE_DATA_D3D11_OPTIONS o;

    assert_int_equal(level, highest);
    assert_int_equal(ID3D11Device_CheckFeatureSupport(device, D3D11_FEATURE_D3D11_OPTIONS, &o, sizeof(o)),
                     S_OK);
    assert_int_equal(o.ClearView && o.OutputMergerLogicOp, level >= D3D_FEATURE_LEVEL_11_1);
}

static HRESULT program(void)
{
    static const D3D_FEATURE_LEVEL levels[] = {D3D_FEATURE_LEVEL_11_1, D3D_FEATURE_LEVEL_11_0};
    D3D_FEATURE_LEVEL level;
    bool ok;

    device = NULL;
    context = NULL;
    ok = DOES(D3D11CreateDevice(NULL, D3D_DRIVER_TYPE_HARDWARE, NULL, 0, levels, 2, D3D11_SDK_VERSION,
                                &device, &level, &context));
    if (ok)
        is_highest(level);
    ok = ok && uses() && maps() && (highest < D3D_FEATURE_LEVEL_11_1 || records()) && resizes();
    RELEASE(context);
    RELEASE(device);
    return ok ? S_OK : answer;
}

static const char *folder;

static void read_code(const char *name, struct shader *s)
{
    char path[1024];
    FILE *f;

    snprintf(path, sizeof(path), "%s/%s", folder, name);
    assert_non_null(f = fopen(path, "rb"));
    s->size = fread(s->bytes, 1, MOST, f);
    fclose(f);
    assert_true(s->size > 0 && s->size < MOST);
}

/* Slots that the driver leaves empty are called all the same, and as what they are. */
static PFND3D10DDI_CREATEDEVICE create;

static HRESULT APIENTRY create_whole(D3D10DDI_HADAPTER h, D3D10DDIARG_CREATEDEVICE *a)
{
    const size_t size =
        a->Interface == D3D11_1_DDI_INTERFACE ? sizeof(*a->p11_1DeviceFuncs) : sizeof(*a->p11DeviceFuncs);
    void **slots = (void **)a->p11DeviceFuncs;
    HRESULT hr;

    memset(slots, 0, size);
    hr = create(h, a);
    for (size_t i = 0; hr == S_OK && i < size / sizeof(*slots); i++)
        if (!slots[i])
            fail_msg("slot %zu of the driver's table is empty", i);
    if (a->Interface == D3D11_1_DDI_INTERFACE)
        a->p11_1DeviceFuncs->pfnDiscard = discarded;
    return hr;
}

static HRESULT APIENTRY open_whole(D3D10DDIARG_OPENADAPTER *open)
{
    HRESULT hr = OpenAdapter10_2(open);

    if (hr == S_OK) {
        create = open->pAdapterFuncs_2->pfnCreateDevice;
        open->pAdapterFuncs_2->pfnCreateDevice = create_whole;
    }
    return hr;
}

/* As a driver of Windows 7 answers. */
static HRESULT APIENTRY old_versions(D3D10DDI_HADAPTER h, UINT32 *count, UINT64 *versions)
{
    *count = 1;
    if (versions)
        versions[0] = D3D11_0_DDI_SUPPORTED;
    return S_OK;
}

static HRESULT APIENTRY open_old(D3D10DDIARG_OPENADAPTER *open)
{
    HRESULT hr = open_whole(open);

    if (hr == S_OK)
        open->pAdapterFuncs_2->pfnGetSupportedVersions = old_versions;
    return hr;
}

TEST(a_driver_of_the_interface_before_does_as_well)
{
    folder = getenv("AEROGPU_TEST_SHADERS");
    assert_non_null(folder);
    read_code("colour_vs.dxbc", &vertex_code);
    read_code("colour_ps.dxbc", &pixel_code);
    highest = D3D_FEATURE_LEVEL_11_0;
    fail_each_in(program, "OpenAdapter10_2", (void *)open_old, 30);
}

TEST(whatever_fails_is_survived)
{
    highest = D3D_FEATURE_LEVEL_11_1;
    folder = getenv("AEROGPU_TEST_SHADERS");
    assert_non_null(folder);
    read_code("colour_vs.dxbc", &vertex_code);
    read_code("colour_ps.dxbc", &pixel_code);
    fail_each_in(program, "OpenAdapter10_2", (void *)open_whole, 30);
}
