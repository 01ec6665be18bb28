/* SPDX-License-Identifier: MIT */
/* direct3d.c: the validation programs that need the runtime of Direct3D 10, 10.1 or 11: one Windows program, which is the test that it is
 * called as; its name begins with the API's.
 *
 *   d3d10_1_triangle.exe ─▶ its row in `tests` ─▶ PASS, or FAIL with what was not so
 *   d3d11_shared_surface_ipc.exe ─▶ the same program again, with a handle: what another process sees
 */
#define CINTERFACE
#define COBJMACROS
#define WIN32_LEAN_AND_MEAN
#include <stdbool.h>
#include <stdint.h>

#include <d3d10_1.h>
#include <d3d11.h>

#include "program.h"
#include "shaders.h"

/* Of Direct3D 10 and 10.1, which have no contexts, the device alone; else both of 11's. */
static ID3D10Device *d10;
static ID3D11Device *dev;
static ID3D11DeviceContext *context;
static char program[MAX_PATH];

static void open_device(void)
{
    if (!strncmp(name, "d3d10_1_", 8))
        OK(D3D10CreateDevice1(NULL, D3D10_DRIVER_TYPE_HARDWARE, NULL, 0, D3D10_FEATURE_LEVEL_10_1,
                              D3D10_1_SDK_VERSION, (ID3D10Device1 **)&d10));
    else if (!strncmp(name, "d3d10_", 6))
        OK(D3D10CreateDevice(NULL, D3D10_DRIVER_TYPE_HARDWARE, NULL, 0, D3D10_SDK_VERSION, &d10));
    else
        OK(D3D11CreateDevice(NULL, D3D_DRIVER_TYPE_HARDWARE, NULL, 0, NULL, 0, D3D11_SDK_VERSION, &dev, NULL,
                             &context));
}

static void close_device(void)
{
    ULONG left;

    if (d10) {
        left = ID3D10Device_Release(d10);
    } else {
        ID3D11DeviceContext_Release(context);
        left = ID3D11Device_Release(dev);
    }
    d10 = NULL;
    dev = NULL;
    if (left)
        FAIL("%lu references of the device are left", left);
}

/* ---- the same of all APIs: their descriptions have the same members --------------------- */

static IUnknown *make_texture(UINT side, DXGI_FORMAT format, UINT bind, UINT misc, const void *texels,
                              UINT pitch)
{
    D3D11_TEXTURE2D_DESC d = {.Width = side,
                              .Height = side,
                              .MipLevels = 1,
                              .ArraySize = 1,
                              .Format = format,
                              .SampleDesc = {1, 0},
                              .BindFlags = bind,
                              .MiscFlags = misc};
    D3D11_SUBRESOURCE_DATA data = {texels, pitch, 0};
    IUnknown *t = NULL;

    if (!bind) {
        d.Usage = D3D11_USAGE_STAGING;
        d.CPUAccessFlags = D3D11_CPU_ACCESS_READ;
    }
    if (d10)
        OK(ID3D10Device_CreateTexture2D(d10, (const D3D10_TEXTURE2D_DESC *)&d,
                                        texels ? (const D3D10_SUBRESOURCE_DATA *)&data : NULL,
                                        (ID3D10Texture2D **)&t));
    else
        OK(ID3D11Device_CreateTexture2D(dev, &d, texels ? &data : NULL, (ID3D11Texture2D **)&t));
    return t;
}

static IUnknown *make_buffer(UINT bytes, UINT bind, const void *content)
{
    D3D11_BUFFER_DESC d = {.ByteWidth = bytes, .BindFlags = bind};
    D3D10_BUFFER_DESC of_10 = {.ByteWidth = bytes, .BindFlags = bind};
    D3D11_SUBRESOURCE_DATA data = {content, 0, 0};
    IUnknown *b = NULL;

    if (d10)
        OK(ID3D10Device_CreateBuffer(d10, &of_10, (const D3D10_SUBRESOURCE_DATA *)&data,
                                     (ID3D10Buffer **)&b));
    else
        OK(ID3D11Device_CreateBuffer(dev, &d, &data, (ID3D11Buffer **)&b));
    return b;
}

/* Of the whole texture, whose first texel as it is goes to *texel. */
static void read_texel(IUnknown *texture, UINT side, DXGI_FORMAT format, UINT x, UINT y, UINT bytes,
                       void *texel)
{
    IUnknown *copy = make_texture(side, format, 0, 0, NULL, 0);
    D3D11_MAPPED_SUBRESOURCE m;
    D3D10_MAPPED_TEXTURE2D of_10;

    if (d10) {
        ID3D10Device_CopyResource(d10, (ID3D10Resource *)copy, (ID3D10Resource *)texture);
        OK(ID3D10Texture2D_Map((ID3D10Texture2D *)copy, 0, D3D10_MAP_READ, 0, &of_10));
        memcpy(texel, (char *)of_10.pData + (size_t)y * of_10.RowPitch + (size_t)x * bytes, bytes);
        ID3D10Texture2D_Unmap((ID3D10Texture2D *)copy, 0);
    } else {
        ID3D11DeviceContext_CopyResource(context, (ID3D11Resource *)copy, (ID3D11Resource *)texture);
        OK(ID3D11DeviceContext_Map(context, (ID3D11Resource *)copy, 0, D3D11_MAP_READ, 0, &m));
        memcpy(texel, (char *)m.pData + (size_t)y * m.RowPitch + (size_t)x * bytes, bytes);
        ID3D11DeviceContext_Unmap(context, (ID3D11Resource *)copy, 0);
    }
    IUnknown_Release(copy);
}

static void expect(IUnknown *texture, UINT x, UINT y, uint32_t want)
{
    uint32_t got = 0;

    read_texel(texture, SIDE, DXGI_FORMAT_R8G8B8A8_UNORM, x, y, 4, &got);
    for (int c = 0; c < 32; c += 8)
        if (abs((int)(got >> c & 255) - (int)(want >> c & 255)) > 2)
            FAIL("pixel %u,%u is %08X, not %08X", x, y, (unsigned)got, (unsigned)want);
}

static void clear(IUnknown *target, const float colour[4])
{
    ID3D10RenderTargetView *of_10;
    ID3D11RenderTargetView *view;

    if (d10) {
        OK(ID3D10Device_CreateRenderTargetView(d10, (ID3D10Resource *)target, NULL, &of_10));
        ID3D10Device_ClearRenderTargetView(d10, of_10, colour);
        ID3D10Device_Flush(d10);
        ID3D10RenderTargetView_Release(of_10);
        return;
    }
    OK(ID3D11Device_CreateRenderTargetView(dev, (ID3D11Resource *)target, NULL, &view));
    ID3D11DeviceContext_ClearRenderTargetView(context, view, colour);
    ID3D11DeviceContext_Flush(context);
    ID3D11RenderTargetView_Release(view);
}

struct code {
    const void *bytes;
    SIZE_T size;
};
#define CODE(array) ((struct code){array, sizeof(array)})

/* `count` vertices of `stride` bytes, a position of four floats first and `second` then, with `image` bound, as a strip. */
static void draw(IUnknown *target, UINT side, struct code vs, struct code ps, const char *second,
                 DXGI_FORMAT format, const void *points, UINT count, UINT stride, IUnknown *image,
                 IUnknown *constants)
{
    const D3D11_INPUT_ELEMENT_DESC elements[] = {
        {"POSITION", 0, DXGI_FORMAT_R32G32B32A32_FLOAT, 0, 0, D3D11_INPUT_PER_VERTEX_DATA, 0},
        {second, 0, format, 0, 16, D3D11_INPUT_PER_VERTEX_DATA, 0}};
    const D3D11_VIEWPORT viewport = {0, 0, (float)side, (float)side, 0, 1};
    const D3D10_VIEWPORT viewport_10 = {0, 0, side, side, 0, 1};
    const D3D11_RASTERIZER_DESC all = {
        .FillMode = D3D11_FILL_SOLID, .CullMode = D3D11_CULL_NONE, .DepthClipEnable = TRUE};
    IUnknown *vertices = make_buffer(count * stride, D3D11_BIND_VERTEX_BUFFER, points);
    IUnknown *v, *p, *layout, *view, *seen = NULL, *raster;
    const UINT zero = 0;

    if (d10) {
        OK(ID3D10Device_CreateVertexShader(d10, vs.bytes, vs.size, (ID3D10VertexShader **)&v));
        OK(ID3D10Device_CreatePixelShader(d10, ps.bytes, ps.size, (ID3D10PixelShader **)&p));
        OK(ID3D10Device_CreateInputLayout(d10, (const D3D10_INPUT_ELEMENT_DESC *)elements, 2, vs.bytes,
                                          vs.size, (ID3D10InputLayout **)&layout));
        OK(ID3D10Device_CreateRasterizerState(d10, (const D3D10_RASTERIZER_DESC *)&all,
                                              (ID3D10RasterizerState **)&raster));
        OK(ID3D10Device_CreateRenderTargetView(d10, (ID3D10Resource *)target, NULL,
                                               (ID3D10RenderTargetView **)&view));
        if (image)
            OK(ID3D10Device_CreateShaderResourceView(d10, (ID3D10Resource *)image, NULL,
                                                     (ID3D10ShaderResourceView **)&seen));
        ID3D10Device_IASetVertexBuffers(d10, 0, 1, (ID3D10Buffer **)&vertices, &stride, &zero);
        ID3D10Device_IASetInputLayout(d10, (ID3D10InputLayout *)layout);
        ID3D10Device_IASetPrimitiveTopology(d10, D3D10_PRIMITIVE_TOPOLOGY_TRIANGLESTRIP);
        ID3D10Device_VSSetShader(d10, (ID3D10VertexShader *)v);
        ID3D10Device_PSSetShader(d10, (ID3D10PixelShader *)p);
        ID3D10Device_PSSetShaderResources(d10, 0, 1, (ID3D10ShaderResourceView **)&seen);
        if (constants)
            ID3D10Device_PSSetConstantBuffers(d10, 0, 1, (ID3D10Buffer **)&constants);
        ID3D10Device_RSSetState(d10, (ID3D10RasterizerState *)raster);
        ID3D10Device_RSSetViewports(d10, 1, &viewport_10);
        ID3D10Device_OMSetRenderTargets(d10, 1, (ID3D10RenderTargetView **)&view, NULL);
        ID3D10Device_Draw(d10, count, 0);
        ID3D10Device_ClearState(d10);
    } else {
        OK(ID3D11Device_CreateVertexShader(dev, vs.bytes, vs.size, NULL, (ID3D11VertexShader **)&v));
        OK(ID3D11Device_CreatePixelShader(dev, ps.bytes, ps.size, NULL, (ID3D11PixelShader **)&p));
        OK(ID3D11Device_CreateInputLayout(dev, elements, 2, vs.bytes, vs.size,
                                          (ID3D11InputLayout **)&layout));
        OK(ID3D11Device_CreateRasterizerState(dev, &all, (ID3D11RasterizerState **)&raster));
        OK(ID3D11Device_CreateRenderTargetView(dev, (ID3D11Resource *)target, NULL,
                                               (ID3D11RenderTargetView **)&view));
        if (image)
            OK(ID3D11Device_CreateShaderResourceView(dev, (ID3D11Resource *)image, NULL,
                                                     (ID3D11ShaderResourceView **)&seen));
        ID3D11DeviceContext_IASetVertexBuffers(context, 0, 1, (ID3D11Buffer **)&vertices, &stride, &zero);
        ID3D11DeviceContext_IASetInputLayout(context, (ID3D11InputLayout *)layout);
        ID3D11DeviceContext_IASetPrimitiveTopology(context, D3D11_PRIMITIVE_TOPOLOGY_TRIANGLESTRIP);
        ID3D11DeviceContext_VSSetShader(context, (ID3D11VertexShader *)v, NULL, 0);
        ID3D11DeviceContext_PSSetShader(context, (ID3D11PixelShader *)p, NULL, 0);
        ID3D11DeviceContext_PSSetShaderResources(context, 0, 1, (ID3D11ShaderResourceView **)&seen);
        if (constants)
            ID3D11DeviceContext_PSSetConstantBuffers(context, 0, 1, (ID3D11Buffer **)&constants);
        ID3D11DeviceContext_RSSetState(context, (ID3D11RasterizerState *)raster);
        ID3D11DeviceContext_RSSetViewports(context, 1, &viewport);
        ID3D11DeviceContext_OMSetRenderTargets(context, 1, (ID3D11RenderTargetView **)&view, NULL);
        ID3D11DeviceContext_Draw(context, count, 0);
        ID3D11DeviceContext_ClearState(context);
    }
    IUnknown_Release(vertices);
    IUnknown_Release(v);
    IUnknown_Release(p);
    IUnknown_Release(layout);
    IUnknown_Release(view);
    IUnknown_Release(raster);
    if (seen)
        IUnknown_Release(seen);
}

/* ---- the tests --------------------------------------------------------------------------- */

static const float blue[4] = {0, 0, 1, 1};

static void triangle(void)
{
    static const float points[3][8] = {{-0.75f, -0.75f, 0, 1, 1, 0, 0, 1},
                                       {-0.75f, 0.75f, 0, 1, 1, 0, 0, 1},
                                       {0.75f, -0.75f, 0, 1, 1, 0, 0, 1}};
    IUnknown *target;

    open_device();
    target = make_texture(SIDE, DXGI_FORMAT_R8G8B8A8_UNORM, D3D11_BIND_RENDER_TARGET, 0, NULL, 0);
    clear(target, blue);
    draw(target, SIDE, CODE(colour_vs), CODE(colour_ps), "COLOR", DXGI_FORMAT_R32G32B32A32_FLOAT, points, 3,
         32, NULL, NULL);
    for (UINT i = 0; i < 64;
         i++) { /* its longest side goes from the upper left corner to the lower right one */
        UINT x = 4 + i % 8 * 8, y = 4 + i / 8 * 8;
        bool inside = x >= 8 && y < 56 && x + 2 < y,
             outside = x < 8 || y < 8 || x > 56 || y > 56 || x > y + 2;

        if (inside || outside)
            expect(target, x, y, inside ? 0xFF0000FF : 0xFFFF0000);
    }
    IUnknown_Release(target);
    close_device();
}

/* What a texel of each format is when it is read. */
static void texture_formats(void)
{
    static const float points[4][6] = {
        {-1, 1, 0, 1, 0, 0}, {1, 1, 0, 1, 1, 0}, {-1, -1, 0, 1, 0, 1}, {1, -1, 0, 1, 1, 1}};
    static const struct {
        DXGI_FORMAT format;
        UINT bytes; /* of a texel, or of a block */
        bool block;
        uint8_t texel[16];
        uint32_t want; /* red lowest */
    } formats[] = {
        {DXGI_FORMAT_R8G8B8A8_UNORM, 4, false, {0x10, 0x20, 0x30, 0x40}, 0x40302010},
        {DXGI_FORMAT_B8G8R8A8_UNORM, 4, false, {0x30, 0x20, 0x10, 0x40}, 0x40302010},
        {DXGI_FORMAT_B8G8R8X8_UNORM, 4, false, {0x30, 0x20, 0x10, 0x40}, 0xFF302010},
        {DXGI_FORMAT_R10G10B10A2_UNORM, 4, false, {0xFF, 0x03, 0x00, 0xC0}, 0xFF0000FF},
        {DXGI_FORMAT_R16G16B16A16_FLOAT, 8, false, {0x00, 0x38, 0x00, 0x3C, 0, 0, 0x00, 0x3C}, 0xFF00FF80},
        {DXGI_FORMAT_R32G32B32A32_FLOAT,
         16,
         false,
         {0, 0, 0x80, 0x3F, 0, 0, 0, 0, 0, 0, 0, 0x3F, 0, 0, 0x80, 0x3F},
         0xFF8000FF},
        {DXGI_FORMAT_R8G8_UNORM, 2, false, {0x11, 0x22}, 0xFF002211},
        {DXGI_FORMAT_R8_UNORM, 1, false, {0x33}, 0xFF000033},
        {DXGI_FORMAT_A8_UNORM, 1, false, {0x44}, 0x44000000},
        {DXGI_FORMAT_R16_UNORM, 2, false, {0x00, 0x80}, 0xFF000080},
        {DXGI_FORMAT_R32_FLOAT, 4, false, {0, 0, 0x80, 0x3F}, 0xFF0000FF},
        {DXGI_FORMAT_R8G8B8A8_UNORM_SRGB, 4, false, {0xBC, 0xFF, 0x00, 0x80}, 0x8000FF80},
        {DXGI_FORMAT_R8G8B8A8_SNORM, 4, false, {0x7F, 0x40, 0x00, 0x7F}, 0xFF0081FF},
        {DXGI_FORMAT_BC1_UNORM, 8, true, {0x00, 0xF8, 0x00, 0xF8, 0, 0, 0, 0}, 0xFF0000FF},
        {DXGI_FORMAT_BC2_UNORM,
         16,
         true,
         {0x88, 0x88, 0x88, 0x88, 0x88, 0x88, 0x88, 0x88, 0xE0, 0x07, 0xE0, 0x07},
         0x8800FF00},
        {DXGI_FORMAT_BC3_UNORM, 16, true, {0x80, 0x80, 0, 0, 0, 0, 0, 0, 0x1F, 0x00, 0x1F, 0x00}, 0x80FF0000},
        {DXGI_FORMAT_BC4_UNORM, 8, true, {0x55, 0x55}, 0xFF000055},
        {DXGI_FORMAT_BC5_UNORM, 16, true, {0x55, 0x55, 0, 0, 0, 0, 0, 0, 0xAA, 0xAA}, 0xFF00AA55}};
    IUnknown *target, *image;
    uint8_t texels[16][64];

    open_device();
    target = make_texture(SIDE, DXGI_FORMAT_R8G8B8A8_UNORM, D3D11_BIND_RENDER_TARGET, 0, NULL, 0);
    for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++) {
        memset(texels, 0, sizeof(texels));
        for (UINT t = 0; t < (formats[i].block ? 1 : 16); t++) /* 4 x 4 texels, or one block */
            memcpy(&texels[t / 4][t % 4 * formats[i].bytes], formats[i].texel, formats[i].bytes);
        image = make_texture(4, formats[i].format, D3D11_BIND_SHADER_RESOURCE, 0, texels, sizeof(texels[0]));
        clear(target, (const float[4]){0.5f, 0.5f, 0.5f, 0.5f});
        draw(target, SIDE, CODE(texture_vs), CODE(texture_ps), "TEXCOORD", DXGI_FORMAT_R32G32_FLOAT, points,
             4, 24, image, NULL);
        for (UINT at = 8; at < SIDE; at += 16) {
            uint32_t got = 0;

            read_texel(target, SIDE, DXGI_FORMAT_R8G8B8A8_UNORM, at, SIDE - at, 4, &got);
            for (int c = 0; c < 32; c += 8)
                if (abs((int)(got >> c & 255) - (int)(formats[i].want >> c & 255)) > 2)
                    FAIL("format %d is read as %08X, not %08X", formats[i].format, (unsigned)got,
                         (unsigned)formats[i].want);
        }
        IUnknown_Release(image);
    }
    IUnknown_Release(target);
    close_device();
}

/* ps_4_0: a loop that ends when cb0[0].x is not 0, which it never is. */
static const UINT endless[] = {
    0x43425844, 0xA8F54593, 0xACA38FDB, 0x8A11B55A, 0x9D2D1AFF, 1,          284,        3,
    44,         60,         0x74,       0x4E475349, 8,          0,          8,          0x4E47534F,
    48,         1,          8,          32,         0,          0,          3,          0,
    15,         0x545F5653, 0x65677261, 0x00000074, 0,          0x52444853, 160,        0x00000040,
    40,         0x04000059, 0x00208E46, 0,          1,          0x03000065, 0x001020F2, 0,
    0x02000068, 1,          0x05000036, 0x00100012, 0,          0x00004001, 0,          0x01000030,
    0x04040003, 0x0020800A, 0,          0,          0x07000000, 0x00100012, 0,          0x0010000A,
    0,          0x00004001, 0x3F800000, 0x0500004B, 0x00100012, 0,          0x0010000A, 0,
    0x01000016, 0x05000036, 0x001020F2, 0,          0x00100006, 0,          0x0100003E};

static HRESULT removed_reason(void)
{
    return d10 ? ID3D10Device_GetDeviceRemovedReason(d10) : ID3D11Device_GetDeviceRemovedReason(dev);
}

/* Its own work hung the adapter: the reason, what calls answer then, and that a new device draws. */
static void device_removed(void)
{
    enum { LARGE = 2048 };
    static const float points[3][8] = {
        {-1, -1, 0, 1, 1, 0, 0, 1}, {-1, 3, 0, 1, 1, 0, 0, 1}, {3, -1, 0, 1, 1, 0, 0, 1}};
    static const float zeros[4];
    const D3D11_TEXTURE2D_DESC small = {.Width = 4,
                                        .Height = 4,
                                        .MipLevels = 1,
                                        .ArraySize = 1,
                                        .Format = DXGI_FORMAT_R8G8B8A8_UNORM,
                                        .SampleDesc = {1, 0},
                                        .BindFlags = D3D11_BIND_RENDER_TARGET};
    IUnknown *target, *constants, *none = NULL;
    HRESULT hr = S_OK;

    open_device();
    target = make_texture(LARGE, DXGI_FORMAT_R8G8B8A8_UNORM, D3D11_BIND_RENDER_TARGET, 0, NULL, 0);
    constants = make_buffer(16, D3D11_BIND_CONSTANT_BUFFER, zeros);
    draw(target, LARGE, CODE(colour_vs), CODE(endless), "COLOR", DXGI_FORMAT_R32G32B32A32_FLOAT, points, 3,
         32, NULL, constants);
    if (d10)
        ID3D10Device_Flush(d10);
    else
        ID3D11DeviceContext_Flush(context);
    for (DWORD start = GetTickCount(); hr == S_OK && GetTickCount() - start < PATIENCE_MS; Sleep(10))
        hr = removed_reason();
    if (hr != DXGI_ERROR_DEVICE_HUNG)
        FAIL("GetDeviceRemovedReason: 0x%08lX", (unsigned long)hr);
    hr = d10 ? ID3D10Device_CreateTexture2D(d10, (const D3D10_TEXTURE2D_DESC *)&small, NULL,
                                            (ID3D10Texture2D **)&none)
             : ID3D11Device_CreateTexture2D(dev, &small, NULL, (ID3D11Texture2D **)&none);
    if (hr != DXGI_ERROR_DEVICE_REMOVED || none)
        FAIL("CreateTexture2D on a removed device: 0x%08lX", (unsigned long)hr);
    IUnknown_Release(target);
    IUnknown_Release(constants);
    close_device();
    triangle();
}

/* Another process sees what is in the surface, and draws to it. */
static void shared_surface_ipc(void)
{
    const float red[4] = {1, 0, 0, 1};
    IDXGIResource *resource;
    IUnknown *surface;
    char line[2 * MAX_PATH];
    STARTUPINFOA start = {.cb = sizeof(start)};
    PROCESS_INFORMATION other;
    HANDLE handle;
    DWORD code = 1;

    open_device();
    surface =
        make_texture(SIDE, DXGI_FORMAT_R8G8B8A8_UNORM, D3D11_BIND_RENDER_TARGET | D3D11_BIND_SHADER_RESOURCE,
                     D3D11_RESOURCE_MISC_SHARED, NULL, 0);
    OK(IUnknown_QueryInterface(surface, &IID_IDXGIResource, (void **)&resource));
    OK(IDXGIResource_GetSharedHandle(resource, &handle));
    IDXGIResource_Release(resource);
    clear(surface, red);
    expect(surface, 5, 7, 0xFF0000FF); /* it is done */
    snprintf(line, sizeof(line), "\"%s\" %s %llu", program, name, (unsigned long long)(uintptr_t)handle);
    if (!CreateProcessA(program, line, NULL, NULL, FALSE, 0, NULL, NULL, &start, &other))
        FAIL("CreateProcess: %lu", (unsigned long)GetLastError());
    if (WaitForSingleObject(other.hProcess, PATIENCE_MS) || !GetExitCodeProcess(other.hProcess, &code) ||
        code)
        FAIL("the other process ended with %lu", (unsigned long)code);
    expect(surface, 5, 7, 0xFFFF0000);
    CloseHandle(other.hThread);
    CloseHandle(other.hProcess);
    IUnknown_Release(surface);
    close_device();
}

static int other_process(unsigned long long shared)
{
    HANDLE handle = (HANDLE)(uintptr_t)shared;
    IUnknown *surface = NULL;

    open_device();
    if (d10)
        OK(ID3D10Device_OpenSharedResource(d10, handle, &IID_ID3D10Texture2D, (void **)&surface));
    else
        OK(ID3D11Device_OpenSharedResource(dev, handle, &IID_ID3D11Texture2D, (void **)&surface));
    expect(surface, 5, 7, 0xFF0000FF);
    clear(surface, blue);
    expect(surface, 5, 7, 0xFFFF0000);
    IUnknown_Release(surface);
    close_device();
    return 0;
}

/* A sum over the words of one buffer, into another. */
static void compute_smoke(void)
{
    const D3D11_SHADER_RESOURCE_VIEW_DESC words = {.Format = DXGI_FORMAT_R32_TYPELESS,
                                                   .ViewDimension = D3D11_SRV_DIMENSION_BUFFEREX,
                                                   .BufferEx = {0, 64, D3D11_BUFFEREX_SRV_FLAG_RAW}};
    const D3D11_UNORDERED_ACCESS_VIEW_DESC sum = {.Format = DXGI_FORMAT_R32_TYPELESS,
                                                  .ViewDimension = D3D11_UAV_DIMENSION_BUFFER,
                                                  .Buffer = {0, 4, D3D11_BUFFER_UAV_FLAG_RAW}};
    D3D11_BUFFER_DESC d = {.ByteWidth = 256,
                           .BindFlags = D3D11_BIND_SHADER_RESOURCE,
                           .MiscFlags = D3D11_RESOURCE_MISC_BUFFER_ALLOW_RAW_VIEWS};
    uint32_t numbers[64], want = 0;
    D3D11_SUBRESOURCE_DATA data = {numbers, 0, 0};
    ID3D11Buffer *in, *out, *copy;
    ID3D11ShaderResourceView *read;
    ID3D11UnorderedAccessView *written;
    D3D11_MAPPED_SUBRESOURCE m;
    ID3D11ComputeShader *cs;

    open_device();
    for (uint32_t i = 0; i < 64; i++)
        want += numbers[i] = i * i + 7;
    OK(ID3D11Device_CreateBuffer(dev, &d, &data, &in));
    d.ByteWidth = 16;
    d.BindFlags = D3D11_BIND_UNORDERED_ACCESS;
    OK(ID3D11Device_CreateBuffer(dev, &d, NULL, &out));
    d = (D3D11_BUFFER_DESC){
        .ByteWidth = 16, .Usage = D3D11_USAGE_STAGING, .CPUAccessFlags = D3D11_CPU_ACCESS_READ};
    OK(ID3D11Device_CreateBuffer(dev, &d, NULL, &copy));
    OK(ID3D11Device_CreateShaderResourceView(dev, (ID3D11Resource *)in, &words, &read));
    OK(ID3D11Device_CreateUnorderedAccessView(dev, (ID3D11Resource *)out, &sum, &written));
    OK(ID3D11Device_CreateComputeShader(dev, sum_raw_cs, sizeof(sum_raw_cs), NULL, &cs));
    ID3D11DeviceContext_CSSetShader(context, cs, NULL, 0);
    ID3D11DeviceContext_CSSetShaderResources(context, 0, 1, &read);
    ID3D11DeviceContext_CSSetUnorderedAccessViews(context, 0, 1, &written, NULL);
    ID3D11DeviceContext_Dispatch(context, 1, 1, 1);
    ID3D11DeviceContext_CopyResource(context, (ID3D11Resource *)copy, (ID3D11Resource *)out);
    OK(ID3D11DeviceContext_Map(context, (ID3D11Resource *)copy, 0, D3D11_MAP_READ, 0, &m));
    if (*(uint32_t *)m.pData != want)
        FAIL("the sum is %u, not %u", *(unsigned *)m.pData, want);
    ID3D11DeviceContext_Unmap(context, (ID3D11Resource *)copy, 0);
    ID3D11DeviceContext_ClearState(context);
    ID3D11ComputeShader_Release(cs);
    ID3D11UnorderedAccessView_Release(written);
    ID3D11ShaderResourceView_Release(read);
    ID3D11Buffer_Release(copy);
    ID3D11Buffer_Release(out);
    ID3D11Buffer_Release(in);
    close_device();
}

#define OF_EACH(test)                                                                                        \
    {"d3d10_" #test, test}, {"d3d10_1_" #test, test},                                                        \
    {                                                                                                        \
        "d3d11_" #test, test                                                                                 \
    }
static const struct test tests[] = {OF_EACH(triangle),
                                    OF_EACH(texture_formats),
                                    OF_EACH(shared_surface_ipc),
                                    OF_EACH(device_removed),
                                    {"d3d11_compute_smoke", compute_smoke}};

int main(int argc, char **argv)
{
    GetModuleFileNameA(NULL, program, sizeof(program));
    name = argc > 1 ? argv[1] : "";
    if (argc > 2)
        return other_process(strtoull(argv[2], NULL, 10));
    return run_named(tests, sizeof(tests) / sizeof(tests[0]), name);
}
