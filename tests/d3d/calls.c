/* SPDX-License-Identifier: MIT */
/* calls.c: calls that Direct3D 11 refuses, drops or leaves undefined. calls FOLDER; in FOLDER are the samples' shaders.
 *
 * None of them removes the device: it draws afterwards as it did before. Prints a line of each that went otherwise, then "done".
 */
#define COBJMACROS
#define WIN32_LEAN_AND_MEAN
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <d3d11.h>

#include "base/dxbc/dxbc_sum.h"
#include "calls.h"
#include "program.h"

enum { SIDE = 64 };

static ID3D11Device *device;
static ID3D11DeviceContext *context;
static ID3D11Texture2D *target, *staging;
static ID3D11RenderTargetView *view;
static ID3D11Buffer *vertices, *indices;
static ID3D11VertexShader *vs;
static ID3D11PixelShader *ps;
static ID3D11InputLayout *layout;

static void expect(const char *what, HRESULT got, HRESULT want)
{
    if (got != want)
        printf("%s: 0x%08X, not 0x%08X\n", what, (unsigned)got, (unsigned)want);
}

static D3D11_TEXTURE2D_DESC texture(DXGI_FORMAT format, UINT bind)
{
    return (D3D11_TEXTURE2D_DESC){.Width = SIDE,
                                  .Height = SIDE,
                                  .MipLevels = 1,
                                  .ArraySize = 1,
                                  .Format = format,
                                  .SampleDesc = {1, 0},
                                  .BindFlags = bind};
}

static void make(const char *folder)
{
    static const float points[3][8] = {
        {-1, -1, 0, 1, 1, 0, 0, 1}, {-1, 3, 0, 1, 1, 0, 0, 1}, {3, -1, 0, 1, 1, 0, 0, 1}};
    static const UINT16 order[3] = {0, 1, 2};
    static const D3D11_INPUT_ELEMENT_DESC elements[] = {
        {"POSITION", 0, DXGI_FORMAT_R32G32B32A32_FLOAT, 0, 0, D3D11_INPUT_PER_VERTEX_DATA, 0},
        {"COLOR", 0, DXGI_FORMAT_R32G32B32A32_FLOAT, 0, 16, D3D11_INPUT_PER_VERTEX_DATA, 0}};
    D3D11_TEXTURE2D_DESC t = texture(DXGI_FORMAT_R8G8B8A8_UNORM, D3D11_BIND_RENDER_TARGET);
    D3D11_BUFFER_DESC b = {.ByteWidth = sizeof(points), .BindFlags = D3D11_BIND_VERTEX_BUFFER};
    D3D11_SUBRESOURCE_DATA data = {points, 0, 0};
    D3D_FEATURE_LEVEL level;
    SIZE_T size;
    BYTE *code;

    NEED(D3D11CreateDevice(NULL, D3D_DRIVER_TYPE_HARDWARE, NULL, 0, NULL, 0, D3D11_SDK_VERSION, &device,
                           &level, &context));
    NEED(ID3D11Device_CreateTexture2D(device, &t, NULL, &target));
    NEED(ID3D11Device_CreateRenderTargetView(device, (ID3D11Resource *)target, NULL, &view));
    t.Usage = D3D11_USAGE_STAGING;
    t.BindFlags = 0;
    t.CPUAccessFlags = D3D11_CPU_ACCESS_READ;
    NEED(ID3D11Device_CreateTexture2D(device, &t, NULL, &staging));
    NEED(ID3D11Device_CreateBuffer(device, &b, &data, &vertices));
    b.ByteWidth = sizeof(order);
    b.BindFlags = D3D11_BIND_INDEX_BUFFER;
    data.pSysMem = order;
    NEED(ID3D11Device_CreateBuffer(device, &b, &data, &indices));
    code = file(folder, "colour_vs.dxbc", &size);
    NEED(ID3D11Device_CreateVertexShader(device, code, size, NULL, &vs));
    NEED(ID3D11Device_CreateInputLayout(device, elements, 2, code, size, &layout));
    free(code);
    code = file(folder, "colour_ps.dxbc", &size);
    NEED(ID3D11Device_CreatePixelShader(device, code, size, NULL, &ps));
    free(code);
}

/* All that a draw of the whole target wants. */
static void usual(void)
{
    D3D11_VIEWPORT viewport = {0, 0, SIDE, SIDE, 0, 1};
    UINT stride = 32, offset = 0;

    ID3D11DeviceContext_ClearState(context);
    ID3D11DeviceContext_OMSetRenderTargets(context, 1, &view, NULL);
    ID3D11DeviceContext_RSSetViewports(context, 1, &viewport);
    ID3D11DeviceContext_IASetInputLayout(context, layout);
    ID3D11DeviceContext_IASetVertexBuffers(context, 0, 1, &vertices, &stride, &offset);
    ID3D11DeviceContext_IASetIndexBuffer(context, indices, DXGI_FORMAT_R16_UINT, 0);
    ID3D11DeviceContext_IASetPrimitiveTopology(context, D3D11_PRIMITIVE_TOPOLOGY_TRIANGLELIST);
    ID3D11DeviceContext_VSSetShader(context, vs, NULL, 0);
    ID3D11DeviceContext_PSSetShader(context, ps, NULL, 0);
}

static void clear(void)
{
    static const float blue[4] = {0, 0, 1, 1};

    ID3D11DeviceContext_ClearRenderTargetView(context, view, blue);
}

enum { BLUE = 0xFFFF0000, RED = 0xFF0000FF };

/* What is in the middle of the target; `any`: no matter. The device is there in any case. */
static void finish(const char *what, UINT want, BOOL any)
{
    D3D11_MAPPED_SUBRESOURCE m = {0};
    UINT got = 0;
    HRESULT hr;

    ID3D11DeviceContext_CopyResource(context, (ID3D11Resource *)staging, (ID3D11Resource *)target);
    hr = ID3D11DeviceContext_Map(context, (ID3D11Resource *)staging, 0, D3D11_MAP_READ, 0, &m);
    if (hr == S_OK) {
        memcpy(&got, (BYTE *)m.pData + SIDE / 2 * m.RowPitch + SIDE / 2 * 4, 4);
        ID3D11DeviceContext_Unmap(context, (ID3D11Resource *)staging, 0);
    }
    expect(what, hr, S_OK);
    expect(what, ID3D11Device_GetDeviceRemovedReason(device), S_OK);
    if (hr != S_OK)
        exit(1); /* what follows says nothing any more */
    if (!any && got != want)
        printf("%s: the pixel is 0x%08X, not 0x%08X\n", what, got, want);
}

/* A valid container with one word wrong is no shader; nor is one whose checksum is right and whose instructions are not. */
static void shaders(const char *folder)
{
    SIZE_T size;
    BYTE *code = file(folder, "colour_ps.dxbc", &size), *copy = malloc(size);
    static const struct {
        const char *what;
        UINT at, bits,
            value; /* in the program's chunk, whose first instruction is at 16, and its operand at 20 */
    } bad[] = {{"an instruction of no length", 16, 127u << 24, 0},
               {"an instruction past the end", 16, 127u << 24, 127u << 24},
               {"an opcode that there is not", 16, 0x7FF, 0x7FF},
               {"an opcode of classes", 16, 0x7FF, 120},
               {"an operand of no register file", 20, 255u << 12, 255u << 12},
               {"an instruction with another's operands", 16, 0x7FF, 0}};
    ID3D11PixelShader *none;
    UINT32 sum[4], at, word;

    for (SIZE_T i = 0; copy && i < size; i += 4) {
        char what[64];

        memcpy(copy, code, size);
        memset(copy + i, 0xFF, 4);
        snprintf(what, sizeof(what), "a shader with ffffffff at %u", (unsigned)i);
        expect(what, ID3D11Device_CreatePixelShader(device, copy, size, NULL, &none), E_INVALIDARG);
    }
    for (SIZE_T i = 0; i < size; i += 7)
        expect("a shader that is cut", ID3D11Device_CreatePixelShader(device, code, i, NULL, &none),
               E_INVALIDARG);
    for (UINT chunk = 0; copy && chunk < code[28]; chunk++) {
        memcpy(&at, code + 32 + 4 * chunk, 4);
        if (memcmp(code + at, "SHDR", 4) && memcmp(code + at, "SHEX", 4))
            continue;
        for (UINT i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
            memcpy(copy, code, size);
            memcpy(&word, code + at + bad[i].at, 4);
            word = (word & ~bad[i].bits) | bad[i].value;
            memcpy(copy + at + bad[i].at, &word, 4);
            dxbc_sum(copy, size, sum);
            memcpy(copy + 4, sum, sizeof(sum));
            expect(bad[i].what, ID3D11Device_CreatePixelShader(device, copy, size, NULL, &none),
                   E_INVALIDARG);
        }
    }
    free(copy);
    free(code);
    finish("after bad shaders", 0, TRUE);
}

static UINT32 word_at(const BYTE *bytes, SIZE_T at)
{
    UINT32 word;

    memcpy(&word, bytes + at, sizeof(word));
    return word;
}

static void usual(void);

/* Every word of a shader, changed in several ways behind a right checksum: it is refused, or it is drawn with. */
static void forge(const char *folder, const char *name, BOOL pixel)
{
    static const UINT32 changes[] = {1,       2,        0x10,      0x100,      0x800, 0x1000,
                                     0x10000, 0x100000, 0x1000000, 0x80000000, ~0u};
    SIZE_T size, made = 0;
    BYTE *code = file(folder, name, &size), *copy = malloc(size);
    char what[96];
    UINT32 sum[4];

    for (SIZE_T at = 32; copy && at + 4 <= size; at += 4) {
        for (UINT i = 0; i < sizeof(changes) / sizeof(changes[0]); i++) {
            UINT32 word = word_at(code, at) ^ changes[i];
            ID3D11PixelShader *forged_ps = NULL;
            ID3D11VertexShader *forged_vs = NULL;
            HRESULT hr;

            memcpy(copy, code, size);
            memcpy(copy + at, &word, sizeof(word));
            dxbc_sum(copy, size, sum);
            memcpy(copy + 4, sum, sizeof(sum));
            hr = pixel ? ID3D11Device_CreatePixelShader(device, copy, size, NULL, &forged_ps)
                       : ID3D11Device_CreateVertexShader(device, copy, size, NULL, &forged_vs);
            if (hr == E_INVALIDARG)
                continue;
            made++;
            snprintf(what, sizeof(what), "%s with %08x at %u", name, (unsigned)word, (unsigned)at);
            expect(what, hr, S_OK);
            usual();
            ID3D11DeviceContext_PSSetShader(context, pixel ? forged_ps : ps, NULL, 0);
            ID3D11DeviceContext_VSSetShader(context, pixel ? vs : forged_vs, NULL, 0);
            ID3D11DeviceContext_Draw(context, 3, 0);
            if (forged_ps)
                ID3D11PixelShader_Release(forged_ps);
            if (forged_vs)
                ID3D11VertexShader_Release(forged_vs);
        }
        snprintf(what, sizeof(what), "%s, the word at %u", name, (unsigned)at);
        finish(what, 0, TRUE);
    }
    if (!made)
        printf("%s: all is refused\n", name);
    free(copy);
    free(code);
}

static void drop(const char *what, BOOL any)
{
    finish(what, BLUE, any);
    usual();
    clear();
}

static void viewports(void)
{
    static const struct {
        const char *what;
        D3D11_VIEWPORT viewport;
        UINT want;
        BOOL any;
    } set[] = {{"the widest viewport", {0, 0, 32767, 32767, 0, 1}, BLUE, TRUE},
               {"a viewport from -32768", {-32768, -32768, 65535, 65535, 0, 1}, BLUE, TRUE},
               {"a viewport of 1e30", {1e30f, 0, 1e30f, 1e30f, 0, 1}, BLUE, TRUE},
               {"a viewport from -100000", {-100000, -100000, 200000, 200000, 0, 1}, BLUE, TRUE},
               {"a viewport of no numbers", {NAN, NAN, NAN, NAN, NAN, NAN}, BLUE, TRUE},
               {"a viewport of negative size", {0, 0, -1, -1, 0, 1}, BLUE, TRUE},
               {"an empty viewport", {0, 0, 0, 0, 0, 1}, BLUE, FALSE}};

    for (UINT i = 0; i < sizeof(set) / sizeof(set[0]); i++) {
        usual();
        clear();
        ID3D11DeviceContext_RSSetViewports(context, 1, &set[i].viewport);
        ID3D11DeviceContext_Draw(context, 3, 0);
        finish(set[i].what, set[i].want, set[i].any);
    }
}

static void draws(void)
{
    UINT stride = 32, offset = 0, large = 4096;

    usual();
    clear();
    ID3D11DeviceContext_IASetIndexBuffer(context, NULL, DXGI_FORMAT_R16_UINT, 0);
    ID3D11DeviceContext_DrawIndexed(context, 3, 0, 0);
    drop("no index buffer", FALSE);
    ID3D11DeviceContext_IASetIndexBuffer(context, indices, DXGI_FORMAT_R16_UINT, 1);
    ID3D11DeviceContext_DrawIndexed(context, 1, 0, 0);
    drop("an index buffer at an odd offset", TRUE);
    ID3D11DeviceContext_IASetIndexBuffer(context, indices, DXGI_FORMAT_R32_UINT, 4096);
    ID3D11DeviceContext_DrawIndexed(context, 3, 0, 0);
    drop("an offset behind the index buffer", TRUE);
    ID3D11DeviceContext_DrawIndexed(context, 30000, 0, 0);
    drop("more indices than there are", TRUE);
    ID3D11DeviceContext_DrawIndexed(context, 0xFFFFFFFF, 0xFFFFFFF0, -5);
    drop("indices that wrap", TRUE);
    ID3D11DeviceContext_VSSetShader(context, NULL, NULL, 0);
    ID3D11DeviceContext_Draw(context, 3, 0);
    drop("no vertex shader", FALSE);
    ID3D11DeviceContext_IASetInputLayout(context, NULL);
    ID3D11DeviceContext_Draw(context, 3, 0);
    drop("no input layout", TRUE);
    ID3D11DeviceContext_OMSetRenderTargets(context, 0, NULL, NULL);
    ID3D11DeviceContext_Draw(context, 3, 0);
    drop("no target", FALSE);
    ID3D11DeviceContext_IASetPrimitiveTopology(context, (D3D11_PRIMITIVE_TOPOLOGY)12345);
    ID3D11DeviceContext_Draw(context, 3, 0);
    drop("a topology that there is not", FALSE);
    ID3D11DeviceContext_IASetPrimitiveTopology(context, D3D11_PRIMITIVE_TOPOLOGY_3_CONTROL_POINT_PATCHLIST);
    ID3D11DeviceContext_Draw(context, 3, 0);
    drop("patches without hull shader", FALSE);
    ID3D11DeviceContext_IASetVertexBuffers(context, 0, 1, &vertices, &large, &offset);
    ID3D11DeviceContext_Draw(context, 3, 0);
    drop("a stride of 4096", TRUE);
    ID3D11DeviceContext_IASetVertexBuffers(context, 0, 1, &vertices, &stride, &large);
    ID3D11DeviceContext_Draw(context, 3, 0);
    drop("an offset behind the vertex buffer", TRUE);
    ID3D11DeviceContext_IASetVertexBuffers(context, 0, 1, &vertices, &stride, &offset);
    ID3D11DeviceContext_Draw(context, 3, 0xFFFFFF00);
    drop("vertices that there are not", TRUE);
    ID3D11DeviceContext_Dispatch(context, 1, 1, 1);
    drop("no compute shader", FALSE);
    ID3D11DeviceContext_Dispatch(context, 0xFFFFFFFF, 1, 1);
    drop("more groups than there can be", FALSE);
    ID3D11DeviceContext_DrawIndexed(context, 3, 0, 0);
    finish("a draw as it should be", RED, FALSE);
}

static HRESULT viewed(DXGI_FORMAT format, DXGI_FORMAT as)
{
    D3D11_TEXTURE2D_DESC t = texture(format, D3D11_BIND_RENDER_TARGET);
    D3D11_RENDER_TARGET_VIEW_DESC v = {.Format = as, .ViewDimension = D3D11_RTV_DIMENSION_TEXTURE2D};
    ID3D11RenderTargetView *rtv;
    ID3D11Texture2D *r;
    HRESULT hr;

    NEED(ID3D11Device_CreateTexture2D(device, &t, NULL, &r));
    hr = ID3D11Device_CreateRenderTargetView(device, (ID3D11Resource *)r, &v, &rtv);
    if (hr == S_OK)
        ID3D11RenderTargetView_Release(rtv);
    ID3D11Texture2D_Release(r);
    return hr;
}

static void views(void)
{
    static const struct {
        const char *what;
        UINT dimension, mip, mips;
        HRESULT want;
    } seen[] = {{"a view of all mips", D3D11_SRV_DIMENSION_TEXTURE2D, 0, 3, S_OK},
                {"a view of the rest of the mips", D3D11_SRV_DIMENSION_TEXTURE2D, 1, (UINT)-1, S_OK},
                {"a view of no mips", D3D11_SRV_DIMENSION_TEXTURE2D, 0, 0, E_INVALIDARG},
                {"a view of more mips than there are", D3D11_SRV_DIMENSION_TEXTURE2D, 1, 3, E_INVALIDARG},
                {"a view behind the mips", D3D11_SRV_DIMENSION_TEXTURE2D, 3, (UINT)-1, E_INVALIDARG},
                {"a texture as a cube", D3D11_SRV_DIMENSION_TEXTURECUBE, 0, 3, E_INVALIDARG}};
    static const struct {
        const char *what;
        UINT first, count;
        HRESULT want;
    } drawn[] = {{"a target of one slice", 5, 1, S_OK},
                 {"a target of no slices", 0, 0, E_INVALIDARG},
                 {"a target of more slices than there are", 5, 2, E_INVALIDARG},
                 {"a target behind the slices", 6, 1, E_INVALIDARG}};
    D3D11_TEXTURE2D_DESC t =
        texture(DXGI_FORMAT_R8G8B8A8_UNORM, D3D11_BIND_RENDER_TARGET | D3D11_BIND_SHADER_RESOURCE);
    ID3D11Texture2D *r;

    t.MipLevels = 3;
    t.ArraySize = 6;
    NEED(ID3D11Device_CreateTexture2D(device, &t, NULL, &r));
    for (UINT i = 0; i < sizeof(seen) / sizeof(seen[0]); i++) {
        D3D11_SHADER_RESOURCE_VIEW_DESC v = {.ViewDimension = (D3D11_SRV_DIMENSION)seen[i].dimension,
                                             .Texture2D = {seen[i].mip, seen[i].mips}};
        ID3D11ShaderResourceView *srv = NULL;

        expect(seen[i].what, ID3D11Device_CreateShaderResourceView(device, (ID3D11Resource *)r, &v, &srv),
               seen[i].want);
        if (srv)
            ID3D11ShaderResourceView_Release(srv);
    }
    for (UINT i = 0; i < sizeof(drawn) / sizeof(drawn[0]); i++) {
        D3D11_RENDER_TARGET_VIEW_DESC v = {.ViewDimension = D3D11_RTV_DIMENSION_TEXTURE2DARRAY,
                                           .Texture2DArray = {0, drawn[i].first, drawn[i].count}};
        ID3D11RenderTargetView *rtv = NULL;

        expect(drawn[i].what, ID3D11Device_CreateRenderTargetView(device, (ID3D11Resource *)r, &v, &rtv),
               drawn[i].want);
        if (rtv)
            ID3D11RenderTargetView_Release(rtv);
    }
    ID3D11Texture2D_Release(r);
    finish("after bad views", 0, TRUE);
}

static void descriptions(void)
{
    D3D11_TEXTURE2D_DESC t = texture(DXGI_FORMAT_R8G8B8A8_UNORM, 0xFFFFFFFF);
    D3D11_BUFFER_DESC b = {.ByteWidth = 64, .BindFlags = 0xFFFFFFFF};
    ID3D11Texture2D *r;
    ID3D11Buffer *buffer;

    expect("a texture with all BindFlags", ID3D11Device_CreateTexture2D(device, &t, NULL, &r), E_INVALIDARG);
    b.BindFlags &= ~(UINT)D3D11_BIND_CONSTANT_BUFFER;
    expect("a buffer with all BindFlags", ID3D11Device_CreateBuffer(device, &b, NULL, &buffer), E_INVALIDARG);
    t = texture(DXGI_FORMAT_BC1_UNORM, D3D11_BIND_SHADER_RESOURCE);
    t.Width = 63;
    expect("BC1 with a width of 63", ID3D11Device_CreateTexture2D(device, &t, NULL, &r), E_INVALIDARG);
    t.Width = 60;
    NEED(ID3D11Device_CreateTexture2D(device, &t, NULL, &r));
    ID3D11Texture2D_Release(r);
    expect("R8G8B8A8_UNORM as R32_FLOAT", viewed(DXGI_FORMAT_R8G8B8A8_UNORM, DXGI_FORMAT_R32_FLOAT),
           E_INVALIDARG);
    expect("R8G8B8A8_UNORM as its sRGB", viewed(DXGI_FORMAT_R8G8B8A8_UNORM, DXGI_FORMAT_R8G8B8A8_UNORM_SRGB),
           E_INVALIDARG);
    expect("R8G8B8A8_TYPELESS as B8G8R8A8", viewed(DXGI_FORMAT_R8G8B8A8_TYPELESS, DXGI_FORMAT_B8G8R8A8_UNORM),
           E_INVALIDARG);
    expect("R8G8B8A8_TYPELESS as sRGB",
           viewed(DXGI_FORMAT_R8G8B8A8_TYPELESS, DXGI_FORMAT_R8G8B8A8_UNORM_SRGB), S_OK);
    finish("after bad descriptions", 0, TRUE);
}

/* Elements that no input assembler takes, each beside the one of which it is a variation. */
static void layouts(const char *folder)
{
    static const struct {
        const char *what;
        UINT format, slot, offset, class, rate;
        HRESULT want;
    } made[] = {
        {"a layout", DXGI_FORMAT_R32G32B32A32_FLOAT, 15, 2032, 1, 3, S_OK},
        {"an element beyond any stride", DXGI_FORMAT_R32G32B32A32_FLOAT, 0, 5000, 0, 0, E_INVALIDARG},
        {"an element that wraps", DXGI_FORMAT_R32G32B32A32_FLOAT, 0, 0xFFFFFFFC, 0, 0, E_INVALIDARG},
        {"an element before any", DXGI_FORMAT_R32G32B32A32_FLOAT, 0, 0xFFFFFFFE, 0, 0, E_INVALIDARG},
        {"an element that crosses the stride", DXGI_FORMAT_R32G32B32A32_FLOAT, 0, 2036, 0, 0, E_INVALIDARG},
        {"an element out of line", DXGI_FORMAT_R32G32B32A32_FLOAT, 0, 3, 0, 0, E_INVALIDARG},
        {"an element of depth", DXGI_FORMAT_D24_UNORM_S8_UINT, 0, 0, 0, 0, E_INVALIDARG},
        {"an element of shared exponents", DXGI_FORMAT_R9G9B9E5_SHAREDEXP, 0, 0, 0, 0, E_INVALIDARG},
        {"an element without type", DXGI_FORMAT_R32G32B32A32_TYPELESS, 0, 0, 0, 0, E_INVALIDARG},
        {"an element of no format", 9999, 0, 0, 0, 0, E_INVALIDARG},
        {"slot 16", DXGI_FORMAT_R32G32B32A32_FLOAT, 16, 0, 0, 0, E_INVALIDARG},
        {"slot 31", DXGI_FORMAT_R32G32B32A32_FLOAT, 31, 0, 0, 0, E_INVALIDARG},
        {"a class that there is not", DXGI_FORMAT_R32G32B32A32_FLOAT, 0, 0, 7, 0, E_INVALIDARG},
        {"vertices with a step rate", DXGI_FORMAT_R32G32B32A32_FLOAT, 0, 0, 0, 5, E_INVALIDARG},
        {"a slot of two classes", DXGI_FORMAT_R32G32B32A32_FLOAT, 1, 16, 1, 1, E_INVALIDARG}};
    SIZE_T size;
    BYTE *code = file(folder, "colour_vs.dxbc", &size);

    for (UINT i = 0; i < sizeof(made) / sizeof(made[0]); i++) {
        D3D11_INPUT_ELEMENT_DESC e[] = {
            {"POSITION", 0, (DXGI_FORMAT)made[i].format, made[i].slot, made[i].offset,
             (D3D11_INPUT_CLASSIFICATION)made[i].class, made[i].rate},
            {"COLOR", 0, DXGI_FORMAT_R32G32B32A32_FLOAT, 1, 0, D3D11_INPUT_PER_VERTEX_DATA, 0}};
        ID3D11InputLayout *l = NULL;

        expect(made[i].what, ID3D11Device_CreateInputLayout(device, e, 2, code, size, &l), made[i].want);
        if (l)
            ID3D11InputLayout_Release(l);
    }
    free(code);
    finish("after bad layouts", 0, TRUE);
}

/* Each description with one 32-bit member of it changed: what is refused, and what another member switches off. */
struct change {
    const char *what;
    SIZE_T at;
    UINT value;
    HRESULT want;
};
#define CHANGE(type, member, value, want)                                                                    \
    {                                                                                                        \
#type "." #member " " #value, offsetof(type, member), value, want                                    \
    }
#define QUIET_NAN 0x7FC00000
#define CHANGED(changes, base, create, iface)                                                                \
    for (UINT i = 0; i < sizeof(changes) / sizeof(changes[0]); i++) {                                        \
        iface *made = NULL;                                                                                  \
        __typeof__(base) desc = base;                                                                        \
        memcpy((BYTE *)&desc + changes[i].at, &changes[i].value, sizeof(changes[i].value));                  \
        expect(changes[i].what, create(device, &desc, &made), changes[i].want);                              \
        if (made)                                                                                            \
            iface##_Release(made);                                                                           \
    }

static void states(void)
{
    static const struct change blends[] = {
        CHANGE(D3D11_BLEND_DESC, RenderTarget[0].BlendOp, 9, E_INVALIDARG),
        CHANGE(D3D11_BLEND_DESC, RenderTarget[0].BlendOpAlpha, 77, E_INVALIDARG),
        CHANGE(D3D11_BLEND_DESC, RenderTarget[0].SrcBlend, 99, E_INVALIDARG),
        CHANGE(D3D11_BLEND_DESC, RenderTarget[0].DestBlend, 12, E_INVALIDARG),
        CHANGE(D3D11_BLEND_DESC, RenderTarget[0].SrcBlendAlpha, 9, E_INVALIDARG),
        CHANGE(D3D11_BLEND_DESC, RenderTarget[0].DestBlendAlpha, 0, E_INVALIDARG),
        CHANGE(D3D11_BLEND_DESC, RenderTarget[0].RenderTargetWriteMask, 255, E_INVALIDARG),
        CHANGE(D3D11_BLEND_DESC, RenderTarget[0].SrcBlend, D3D11_BLEND_INV_SRC1_ALPHA, S_OK),
        CHANGE(D3D11_BLEND_DESC, RenderTarget[1].BlendOp, 9, S_OK)};
    static const struct change rasters[] = {
        CHANGE(D3D11_RASTERIZER_DESC, FillMode, 9, E_INVALIDARG),
        CHANGE(D3D11_RASTERIZER_DESC, CullMode, 0, E_INVALIDARG),
        CHANGE(D3D11_RASTERIZER_DESC, CullMode, 4, E_INVALIDARG),
        CHANGE(D3D11_RASTERIZER_DESC, SlopeScaledDepthBias, QUIET_NAN, E_INVALIDARG),
        CHANGE(D3D11_RASTERIZER_DESC, DepthBiasClamp, QUIET_NAN, E_INVALIDARG),
        CHANGE(D3D11_RASTERIZER_DESC, DepthBias, 0x80000000, S_OK)};
    static const struct change depths[] = {
        CHANGE(D3D11_DEPTH_STENCIL_DESC, DepthFunc, 0, E_INVALIDARG),
        CHANGE(D3D11_DEPTH_STENCIL_DESC, DepthFunc, 9, E_INVALIDARG),
        CHANGE(D3D11_DEPTH_STENCIL_DESC, DepthWriteMask, 5, E_INVALIDARG),
        CHANGE(D3D11_DEPTH_STENCIL_DESC, FrontFace.StencilFailOp, 0, E_INVALIDARG),
        CHANGE(D3D11_DEPTH_STENCIL_DESC, BackFace.StencilFunc, 9, E_INVALIDARG),
        CHANGE(D3D11_DEPTH_STENCIL_DESC, StencilEnable, 0, S_OK)};
    static const struct change samplers[] = {
        CHANGE(D3D11_SAMPLER_DESC, Filter, 999, E_INVALIDARG),
        CHANGE(D3D11_SAMPLER_DESC, AddressU, 9, E_INVALIDARG),
        CHANGE(D3D11_SAMPLER_DESC, AddressW, 0, E_INVALIDARG),
        CHANGE(D3D11_SAMPLER_DESC, MipLODBias, QUIET_NAN, E_INVALIDARG),
        CHANGE(D3D11_SAMPLER_DESC, MipLODBias, 0x42000000 /* 32 */, E_INVALIDARG),
        CHANGE(D3D11_SAMPLER_DESC, MaxAnisotropy, 17, E_INVALIDARG),
        CHANGE(D3D11_SAMPLER_DESC, ComparisonFunc, 0, E_INVALIDARG),
        CHANGE(D3D11_SAMPLER_DESC, MinLOD, QUIET_NAN, E_INVALIDARG),
        CHANGE(D3D11_SAMPLER_DESC, MaxLOD, QUIET_NAN, E_INVALIDARG),
        CHANGE(D3D11_SAMPLER_DESC, MaxLOD, 0x7F7FFFFF, S_OK)};
    const D3D11_BLEND_DESC blend = {
        .RenderTarget = {{TRUE, D3D11_BLEND_ONE, D3D11_BLEND_ZERO, D3D11_BLEND_OP_ADD, D3D11_BLEND_ONE,
                          D3D11_BLEND_ZERO, D3D11_BLEND_OP_ADD, 15}}};
    const D3D11_RASTERIZER_DESC raster = {.FillMode = D3D11_FILL_SOLID, .CullMode = D3D11_CULL_NONE};
    const D3D11_DEPTH_STENCIL_DESC depth = {TRUE,
                                            D3D11_DEPTH_WRITE_MASK_ALL,
                                            D3D11_COMPARISON_LESS,
                                            TRUE,
                                            255,
                                            255,
                                            {1, 1, 1, D3D11_COMPARISON_ALWAYS},
                                            {1, 1, 1, D3D11_COMPARISON_ALWAYS}};
    const D3D11_SAMPLER_DESC sampler = {.Filter = D3D11_FILTER_COMPARISON_ANISOTROPIC,
                                        .AddressU = 1,
                                        .AddressV = 1,
                                        .AddressW = 1,
                                        .MaxAnisotropy = 16,
                                        .ComparisonFunc = D3D11_COMPARISON_LESS};

    CHANGED(blends, blend, ID3D11Device_CreateBlendState, ID3D11BlendState)
    CHANGED(rasters, raster, ID3D11Device_CreateRasterizerState, ID3D11RasterizerState)
    CHANGED(depths, depth, ID3D11Device_CreateDepthStencilState, ID3D11DepthStencilState)
    CHANGED(samplers, sampler, ID3D11Device_CreateSamplerState, ID3D11SamplerState)
}

/* What is off is told as Direct3D tells it, and draws. */
static void states_that_are_off(void)
{
    const D3D11_BLEND_DESC off = {.RenderTarget = {{.RenderTargetWriteMask = 15}}};
    const D3D11_DEPTH_STENCIL_DESC nothing = {.DepthFunc = 0};
    ID3D11BlendState *blend_off;
    ID3D11DepthStencilState *depth_off;
    D3D11_BLEND_DESC blend_told;
    D3D11_DEPTH_STENCIL_DESC depth_told;

    usual();
    clear();
    NEED(ID3D11Device_CreateBlendState(device, &off, &blend_off));
    NEED(ID3D11Device_CreateDepthStencilState(device, &nothing, &depth_off));
    ID3D11BlendState_GetDesc(blend_off, &blend_told);
    ID3D11DepthStencilState_GetDesc(depth_off, &depth_told);
    if (blend_told.RenderTarget[0].SrcBlend != D3D11_BLEND_ONE ||
        blend_told.RenderTarget[7].RenderTargetWriteMask != 15)
        printf("blending that is off: %u\n", (unsigned)blend_told.RenderTarget[0].SrcBlend);
    if (depth_told.DepthFunc != D3D11_COMPARISON_LESS ||
        depth_told.FrontFace.StencilFunc != D3D11_COMPARISON_ALWAYS)
        printf("depth that is off: %u\n", (unsigned)depth_told.DepthFunc);
    ID3D11DeviceContext_OMSetBlendState(context, blend_off, NULL, 0xFFFFFFFF);
    ID3D11DeviceContext_OMSetDepthStencilState(context, depth_off, 0);
    ID3D11DeviceContext_Draw(context, 3, 0);
    finish("states that are off", RED, FALSE);
    ID3D11BlendState_Release(blend_off);
    ID3D11DepthStencilState_Release(depth_off);
}

/* A target of floats keeps what no byte holds; a typeless texture is cleared and read as what its view says. */
static void formats(void)
{
    D3D11_TEXTURE2D_DESC t = texture(DXGI_FORMAT_R32_TYPELESS, D3D11_BIND_RENDER_TARGET);
    const D3D11_RENDER_TARGET_VIEW_DESC as = {.Format = DXGI_FORMAT_R32_FLOAT,
                                              .ViewDimension = D3D11_RTV_DIMENSION_TEXTURE2D};
    const FLOAT colour[4] = {1234.5f, 1, 1, 1};
    D3D11_MAPPED_SUBRESOURCE m = {0};
    ID3D11RenderTargetView *v;
    ID3D11Texture2D *floats, *copy;
    UINT has = 0;

    NEED(ID3D11Device_CheckFormatSupport(device, DXGI_FORMAT_R16G16B16A16_FLOAT, &has));
    if (!(has & D3D11_FORMAT_SUPPORT_RENDER_TARGET))
        printf("halves are no target: 0x%X\n", has);
    NEED(ID3D11Device_CreateTexture2D(device, &t, NULL, &floats));
    NEED(ID3D11Device_CreateRenderTargetView(device, (ID3D11Resource *)floats, &as, &v));
    t.Format = DXGI_FORMAT_R32_FLOAT;
    t.Usage = D3D11_USAGE_STAGING;
    t.BindFlags = 0;
    t.CPUAccessFlags = D3D11_CPU_ACCESS_READ;
    NEED(ID3D11Device_CreateTexture2D(device, &t, NULL, &copy));
    ID3D11DeviceContext_ClearRenderTargetView(context, v, colour);
    ID3D11DeviceContext_CopyResource(context, (ID3D11Resource *)copy, (ID3D11Resource *)floats);
    NEED(ID3D11DeviceContext_Map(context, (ID3D11Resource *)copy, 0, D3D11_MAP_READ, 0, &m));
    if (*(const float *)m.pData != colour[0])
        printf("a float becomes %g\n", (double)*(const float *)m.pData);
    ID3D11DeviceContext_Unmap(context, (ID3D11Resource *)copy, 0);
    ID3D11RenderTargetView_Release(v);
    ID3D11Texture2D_Release(floats);
    ID3D11Texture2D_Release(copy);
}

/* State objects of one description are one object, whoever asks; it lives while it is bound, and is found again. */
static void same_states(void)
{
    D3D11_BLEND_DESC b;
    D3D11_SAMPLER_DESC s = {.Filter = D3D11_FILTER_MIN_MAG_MIP_LINEAR,
                            .AddressU = D3D11_TEXTURE_ADDRESS_WRAP,
                            .AddressV = D3D11_TEXTURE_ADDRESS_WRAP,
                            .AddressW = D3D11_TEXTURE_ADDRESS_WRAP};
    ID3D11BlendState *first = NULL, *again = NULL;
    ID3D11SamplerState *sampler = NULL, *bound = NULL;

    memset(&b, 0x5A, sizeof(b)); /* what is between members, and what is switched off, makes no other state */
    b.AlphaToCoverageEnable = b.IndependentBlendEnable = b.RenderTarget[0].BlendEnable = FALSE;
    b.RenderTarget[0].RenderTargetWriteMask = D3D11_COLOR_WRITE_ENABLE_ALL;
    NEED(ID3D11Device_CreateBlendState(device, &b, &first));
    memset(&b, 0, sizeof(b));
    b.RenderTarget[0].RenderTargetWriteMask = D3D11_COLOR_WRITE_ENABLE_ALL;
    NEED(ID3D11Device_CreateBlendState(device, &b, &again));
    if (first != again || ID3D11BlendState_Release(again) != 1 || ID3D11BlendState_Release(first) != 0)
        printf("two blend states of one description\n");
    NEED(ID3D11Device_CreateSamplerState(device, &s, &sampler));
    ID3D11DeviceContext_PSSetSamplers(context, 0, 1, &sampler);
    if (ID3D11SamplerState_Release(sampler) != 0)
        printf("a sampler that is bound has references of its own\n");
    NEED(ID3D11Device_CreateSamplerState(device, &s, &bound));
    if (bound != sampler)
        printf("a sampler that is bound is not found\n");
    ID3D11SamplerState_Release(bound);
    sampler = NULL;
    ID3D11DeviceContext_PSSetSamplers(context, 0, 1, &sampler);
}

/* The context has references of its own, and the device one for all of them. */
static void context_references(void)
{
    ID3D11DeviceContext *one = NULL, *two = NULL;
    ULONG before;

    ID3D11Device_AddRef(device);
    before = ID3D11Device_Release(device);
    ID3D11Device_GetImmediateContext(device, &one);
    ID3D11Device_GetImmediateContext(device, &two);
    ID3D11Device_AddRef(device);
    if (one != context || two != one || ID3D11Device_Release(device) != before)
        printf("the device counts its context's references\n");
    if (ID3D11DeviceContext_Release(two) != 2 || ID3D11DeviceContext_Release(one) != 1)
        printf("the context does not count its own\n");
}

/* Devices of the levels below: programs that were compiled for them alone are taken. */
static void lower_level(const char *folder)
{
    const D3D_FEATURE_LEVEL wanted = D3D_FEATURE_LEVEL_9_3;
    D3D_FEATURE_LEVEL level = 0;
    ID3D11VertexShader *none;
    ID3D11Device *d = NULL;
    SIZE_T size;
    BYTE *code = file(folder, "colour_vs.dxbc", &size);

    NEED(D3D11CreateDevice(NULL, D3D_DRIVER_TYPE_HARDWARE, NULL, 0, &wanted, 1, D3D11_SDK_VERSION, &d, &level,
                           NULL));
    if (level != wanted || ID3D11Device_GetFeatureLevel(d) != wanted)
        printf("another level than was asked for\n");
    expect("a program for 10_0 at 9_3", ID3D11Device_CreateVertexShader(d, code, size, NULL, &none),
           E_INVALIDARG);
    if (ID3D11Device_Release(d))
        printf("a device of level 9_3 stays\n");
    free(code);
}

/* A compute shader writes 64 points on a circle into a structured buffer; views that no such buffer has are refused. */
static void compute(const char *folder)
{
    enum { COUNT = 64, STRIDE = 32 };
    D3D11_BUFFER_DESC b = {.ByteWidth = COUNT * STRIDE,
                           .BindFlags = D3D11_BIND_UNORDERED_ACCESS | D3D11_BIND_SHADER_RESOURCE,
                           .MiscFlags = D3D11_RESOURCE_MISC_BUFFER_STRUCTURED,
                           .StructureByteStride = STRIDE};
    D3D11_UNORDERED_ACCESS_VIEW_DESC v = {.ViewDimension = D3D11_UAV_DIMENSION_BUFFER,
                                          .Buffer = {0, COUNT + 1, 0}};
    const UINT sevens[4] = {7, 8, 9, 10};
    D3D11_MAPPED_SUBRESOURCE m = {0};
    ID3D11UnorderedAccessView *uav = NULL, *bound = NULL;
    ID3D11Buffer *buffer, *copy;
    ID3D11ComputeShader *cs;
    SIZE_T size;
    BYTE *code = file(folder, "ring_structured_cs.dxbc", &size);

    NEED(ID3D11Device_CreateComputeShader(device, code, size, NULL, &cs));
    free(code);
    NEED(ID3D11Device_CreateBuffer(device, &b, NULL, &buffer));
    b.StructureByteStride = 6;
    expect("a structure of 6 bytes", ID3D11Device_CreateBuffer(device, &b, NULL, &copy), E_INVALIDARG);
    b = (D3D11_BUFFER_DESC){
        .ByteWidth = COUNT * STRIDE, .Usage = D3D11_USAGE_STAGING, .CPUAccessFlags = D3D11_CPU_ACCESS_READ};
    NEED(ID3D11Device_CreateBuffer(device, &b, NULL, &copy));
    expect("more elements than there are",
           ID3D11Device_CreateUnorderedAccessView(device, (ID3D11Resource *)buffer, &v, &uav), E_INVALIDARG);
    v.Buffer.NumElements = COUNT - 1;
    v.Buffer.FirstElement = 1;
    NEED(ID3D11Device_CreateUnorderedAccessView(device, (ID3D11Resource *)buffer, &v, &uav));
    usual();
    ID3D11DeviceContext_CSSetShader(context, cs, NULL, 0);
    ID3D11DeviceContext_Dispatch(context, 1, 1, 1); /* nothing is bound: nothing is written */
    ID3D11DeviceContext_ClearUnorderedAccessViewUint(context, uav, sevens);
    ID3D11DeviceContext_CSSetUnorderedAccessViews(context, 0, 1, &uav, NULL);
    ID3D11DeviceContext_CSGetUnorderedAccessViews(context, 0, 1, &bound);
    if (bound != uav)
        printf("another view is bound than was\n");
    if (bound)
        ID3D11UnorderedAccessView_Release(bound);
    for (int round = 0; round < 2; round++) {
        ID3D11DeviceContext_CopyResource(context, (ID3D11Resource *)copy, (ID3D11Resource *)buffer);
        NEED(ID3D11DeviceContext_Map(context, (ID3D11Resource *)copy, 0, D3D11_MAP_READ, 0, &m));
        const float *p = m.pData;
        const UINT *u = m.pData;
        if (!round && (u[0] != 0 || u[8] != 7 || u[511] != 7))
            printf("cleared: %u %u %u\n", u[0], u[8], u[511]);
        if (round && (p[0] != 0 || p[8] != 1 || p[9] != 0 || fabsf(p[8 + 16 * 8 + 1] - 1) > 0.001f))
            printf("computed: %g %g %g %g\n", p[0], p[8], p[9], p[8 + 16 * 8 + 1]);
        ID3D11DeviceContext_Unmap(context, (ID3D11Resource *)copy, 0);
        ID3D11DeviceContext_Dispatch(context, 1, 1, 1);
    }
    finish("after compute", 0, TRUE);
    ID3D11UnorderedAccessView_Release(uav);
    ID3D11ComputeShader_Release(cs);
    ID3D11Buffer_Release(copy);
    ID3D11Buffer_Release(buffer);
}

/* What is bound is told back, with a reference; ClearState forgets all of it. */
static void told_back(void)
{
    ID3D11Buffer *b[33];
    UINT strides[33], offsets[33], count = 1;
    ID3D11VertexShader *v;
    ID3D11InputLayout *l;
    D3D11_RECT scissor = {1, 2, 3, 4}, got = {0};

    usual();
    ID3D11DeviceContext_IAGetVertexBuffers(context, 0, 33, b, strides, offsets);
    if (b[0] != vertices || strides[0] != 32 || b[1] || b[32])
        printf("other vertex buffers than were set\n");
    if (b[0])
        ID3D11Buffer_Release(b[0]);
    ID3D11DeviceContext_VSGetShader(context, &v, NULL, NULL);
    ID3D11DeviceContext_IAGetInputLayout(context, &l);
    if (v != vs || l != layout)
        printf("another shader or layout than was set\n");
    ID3D11VertexShader_Release(v);
    ID3D11InputLayout_Release(l);
    ID3D11DeviceContext_RSSetScissorRects(context, 1, &scissor);
    ID3D11DeviceContext_RSGetScissorRects(context, &count, &got);
    if (count != 1 || memcmp(&got, &scissor, sizeof(got)))
        printf("other scissors than were set\n");
    ID3D11DeviceContext_ClearState(context);
    ID3D11DeviceContext_VSGetShader(context, &v, NULL, NULL);
    ID3D11DeviceContext_RSGetScissorRects(context, &count, NULL);
    if (v || count)
        printf("ClearState leaves something\n");
    usual();
}

/* An object that is given to SetPrivateDataInterface lives while it is there. */
static void data(void)
{
    static const GUID guid = {0x12345678, 1, 2, {3, 4, 5, 6, 7, 8, 9, 10}};
    IUnknown *got = NULL;
    UINT size = sizeof(got);
    ULONG before, with;

    ID3D11Buffer_AddRef(indices);
    before = ID3D11Buffer_Release(indices);
    NEED(ID3D11Buffer_SetPrivateDataInterface(vertices, &guid, (IUnknown *)indices));
    NEED(ID3D11Buffer_GetPrivateData(vertices, &guid, &size, &got));
    if (got != (IUnknown *)indices || size != sizeof(got))
        printf("another object than was given\n");
    with = ID3D11Buffer_Release(indices);
    NEED(ID3D11Buffer_SetPrivateDataInterface(vertices, &guid, NULL));
    NEED(ID3D11Buffer_GetPrivateData(vertices, &guid, &size, &got));
    if (got || size != sizeof(got))
        printf("no object is kept as another\n");
    NEED(ID3D11Buffer_SetPrivateData(vertices, &guid, 0, NULL));
    expect("nothing is kept", ID3D11Buffer_GetPrivateData(vertices, &guid, &size, &got),
           DXGI_ERROR_NOT_FOUND);
    ID3D11Buffer_AddRef(indices);
    if (with != before + 1 || ID3D11Buffer_Release(indices) != before)
        printf("its references are not counted: %u, %u\n", (unsigned)before, (unsigned)with);
}

static void draw_all(void)
{
    usual();
    ID3D11DeviceContext_Draw(context, 3, 0);
}

int main(int argc, char **argv)
{
    setvbuf(stdout, NULL, _IONBF, 0);
    if (argc < 2)
        return 2;
    make(argv[1]);
    shaders(argv[1]);
    forge(argv[1], "colour_vs.dxbc", FALSE);
    forge(argv[1], "colour_ps.dxbc", TRUE);
    draws();
    viewports();
    layouts(argv[1]);
    states();
    states_that_are_off();
    formats();
    same_states();
    context_references();
    lower_level(argv[1]);
    descriptions();
    views();
    compute(argv[1]);
    told_back();
    data();
    objects(&(struct calls){device, context, target, staging, view, draw_all});
    deferred(&(struct calls){device, context, target, staging, view, draw_all});
    dynamic(&(struct calls){device, context, target, staging, view, draw_all});
    threads(&(struct calls){device, context, target, staging, view, draw_all});
    debug(&(struct calls){device, context, target, staging, view, draw_all}, argv[1]);
    level11(&(struct calls){device, context, target, staging, view, draw_all}, argv[1]);
    level11_1(argv[1]);
    printf("done\n");
    return 0;
}
