/* SPDX-License-Identifier: MIT */
/* level11_1.c: what feature level 11_1 adds, on a device of its own: parts of constant buffers, logic operations, views that are cleared in
 * parts, what all stages write to, samples without targets. Says what is otherwise than it has to be. */
#define COBJMACROS
#define WIN32_LEAN_AND_MEAN
#include <string.h>

#include <d3d11_1.h>

#include "base/dxbc/dxbc_sum.h"
#include "calls.h"
#include "program.h"

static ID3D11Device *device;
static ID3D11Device1 *device1;
static ID3D11DeviceContext *context;
static ID3D11DeviceContext1 *context1;
static ID3D11VertexShader *everywhere;
static ID3D11InputLayout *layout;
static ID3D11Buffer *triangles; /* one over everything, and one over half of it */
enum { SIDE = 64, ONE = 0x3F800000, LAST = 63 };

static void want(const char *what, UINT got, UINT wanted)
{
    if (got != wanted)
        printf("%s: 0x%08X, not 0x%08X\n", what, got, wanted);
}

/* ---- programs, from their tokens --------------------------------------------- */

struct code {
    BYTE bytes[1024];
    UINT size;
};

static void put(struct code *c, const void *bytes, UINT size)
{
    memcpy(c->bytes + c->size, bytes, size);
    c->size += size;
}

static void word(struct code *c, UINT v)
{
    put(c, &v, sizeof(v));
}

/* A signature of nothing, or of one register that has a name. */
static void signature(struct code *c, const char *fourcc, const char *name, UINT value)
{
    const UINT length = name ? (UINT)strlen(name) + 1 : 0, padded = (length + 3) & ~3u;
    const UINT zero = 0;

    put(c, fourcc, 4);
    word(c, 8 + (name ? 24 + padded : 0));
    word(c, name != NULL);
    word(c, 8);
    if (!name)
        return;
    word(c, 32);
    word(c, 0);
    word(c, value);
    word(c, value > 1 ? 1 : 3); /* a number, or floats */
    word(c, 0);
    word(c, value > 1 ? 1 : 15);
    put(c, name, length);
    put(c, &zero, padded - length);
}

static void program(struct code *c, const char *output, UINT value, const UINT *tokens, UINT count)
{
    UINT at[3], sum[4];

    memset(c, 0, sizeof(*c));
    put(c, "DXBC", 4);
    c->size += 16;
    word(c, 1);
    word(c, 0);
    word(c, 3);
    c->size += sizeof(at);
    at[0] = c->size;
    signature(c, "ISGN", NULL, 0);
    at[1] = c->size;
    signature(c, "OSGN", output, value);
    at[2] = c->size;
    put(c, "SHEX", 4);
    word(c, 4 * count);
    put(c, tokens, 4 * count);
    memcpy(c->bytes + 24, &c->size, 4);
    memcpy(c->bytes + 32, at, sizeof(at));
    dxbc_sum(c->bytes, c->size, sum);
    memcpy(c->bytes + 4, sum, sizeof(sum));
}

static ID3D11PixelShader *pixels(const char *output, const UINT *tokens, UINT count)
{
    ID3D11PixelShader *ps = NULL;
    struct code c;

    program(&c, output, 0, tokens, count);
    NEED(ID3D11Device_CreatePixelShader(device, c.bytes, c.size, NULL, &ps));
    return ps;
}
#define PIXELS(output, tokens) pixels(output, tokens, sizeof(tokens) / sizeof((tokens)[0]))

/* What cb0[0] holds is what is drawn. */
static ID3D11PixelShader *constant_colour(void)
{
    static const UINT tokens[] = {0x00000050, 16,         0x04000059, 0x00208E46, 0,          1,
                                  0x03000065, 0x001020F2, 0,          0x06000036, 0x001020F2, 0,
                                  0x00208E46, 0,          0,          0x0100003E};

    return PIXELS("SV_Target", tokens);
}

/* ---- memory ------------------------------------------------------------------- */

static ID3D11Buffer *buffer(UINT size, UINT bind, UINT misc, const void *data)
{
    const D3D11_BUFFER_DESC d = {.ByteWidth = size, .BindFlags = bind, .MiscFlags = misc};
    const D3D11_SUBRESOURCE_DATA from = {data, 0, 0};
    ID3D11Buffer *b = NULL;

    NEED(ID3D11Device_CreateBuffer(device, &d, data ? &from : NULL, &b));
    return b;
}

static UINT word_of(ID3D11Buffer *b, UINT n)
{
    D3D11_BUFFER_DESC d = {
        .ByteWidth = 256, .Usage = D3D11_USAGE_STAGING, .CPUAccessFlags = D3D11_CPU_ACCESS_READ};
    D3D11_MAPPED_SUBRESOURCE m;
    ID3D11Buffer *copy;
    UINT got;

    NEED(ID3D11Device_CreateBuffer(device, &d, NULL, &copy));
    ID3D11DeviceContext_CopyResource(context, (ID3D11Resource *)copy, (ID3D11Resource *)b);
    NEED(ID3D11DeviceContext_Map(context, (ID3D11Resource *)copy, 0, D3D11_MAP_READ, 0, &m));
    got = ((const UINT *)m.pData)[n];
    ID3D11DeviceContext_Unmap(context, (ID3D11Resource *)copy, 0);
    ID3D11Buffer_Release(copy);
    return got;
}

struct picture {
    ID3D11Texture2D *texture, *copy;
    ID3D11RenderTargetView *target;
    ID3D11UnorderedAccessView *store;
};

static void picture_make(struct picture *p, DXGI_FORMAT format)
{
    D3D11_TEXTURE2D_DESC d = {.Width = SIDE,
                              .Height = SIDE,
                              .MipLevels = 1,
                              .ArraySize = 1,
                              .Format = format,
                              .SampleDesc = {1, 0},
                              .BindFlags = D3D11_BIND_RENDER_TARGET | D3D11_BIND_UNORDERED_ACCESS};

    NEED(ID3D11Device_CreateTexture2D(device, &d, NULL, &p->texture));
    NEED(ID3D11Device_CreateRenderTargetView(device, (ID3D11Resource *)p->texture, NULL, &p->target));
    NEED(ID3D11Device_CreateUnorderedAccessView(device, (ID3D11Resource *)p->texture, NULL, &p->store));
    d.BindFlags = 0;
    d.Usage = D3D11_USAGE_STAGING;
    d.CPUAccessFlags = D3D11_CPU_ACCESS_READ;
    NEED(ID3D11Device_CreateTexture2D(device, &d, NULL, &p->copy));
}

static void picture_end(struct picture *p)
{
    ID3D11UnorderedAccessView_Release(p->store);
    ID3D11RenderTargetView_Release(p->target);
    ID3D11Texture2D_Release(p->texture);
    ID3D11Texture2D_Release(p->copy);
}

static UINT texel(struct picture *p, UINT x, UINT y)
{
    D3D11_MAPPED_SUBRESOURCE m;
    UINT got;

    ID3D11DeviceContext_CopyResource(context, (ID3D11Resource *)p->copy, (ID3D11Resource *)p->texture);
    NEED(ID3D11DeviceContext_Map(context, (ID3D11Resource *)p->copy, 0, D3D11_MAP_READ, 0, &m));
    got = ((const UINT *)((const BYTE *)m.pData + (size_t)y * m.RowPitch))[x];
    ID3D11DeviceContext_Unmap(context, (ID3D11Resource *)p->copy, 0);
    return got;
}

static void ready(ID3D11DeviceContext *on, ID3D11PixelShader *ps)
{
    const D3D11_VIEWPORT v = {0, 0, SIDE, SIDE, 0, 1};
    const UINT stride = 8, offset = 0;

    ID3D11DeviceContext_ClearState(on);
    ID3D11DeviceContext_IASetInputLayout(on, layout);
    ID3D11DeviceContext_IASetVertexBuffers(on, 0, 1, &triangles, &stride, &offset);
    ID3D11DeviceContext_IASetPrimitiveTopology(on, D3D11_PRIMITIVE_TOPOLOGY_TRIANGLELIST);
    ID3D11DeviceContext_VSSetShader(on, everywhere, NULL, 0);
    ID3D11DeviceContext_PSSetShader(on, ps, NULL, 0);
    ID3D11DeviceContext_RSSetViewports(on, 1, &v);
}

/* ---- what is promised ----------------------------------------------------------- */

static void options(void)
{
    D3D11_FEATURE_DATA_D3D11_OPTIONS o;

    NEED(ID3D11Device_CheckFeatureSupport(device, D3D11_FEATURE_D3D11_OPTIONS, &o, sizeof(o)));
    want("the options",
         o.OutputMergerLogicOp && o.ClearView && o.ConstantBufferOffsetting &&
             o.ConstantBufferPartialUpdate && o.UAVOnlyRenderingForcedSampleCount,
         TRUE);
    want("what is no option", o.CopyWithOverlap || o.ExtendedDoublesShaderInstructions, FALSE);
}

/* Constants 16 on; what goes behind the end of the buffer; refused ranges; a list; and what both Sets say. */
static void constants(void)
{
    const FLOAT green[4] = {0, 1, 0, 1}, blue[4] = {0, 0, 1, 1};
    static BYTE bytes[1024];
    const UINT beyond[] = {4096}, other[] = {32}, sixteen[] = {16}, odd[] = {17};
    UINT from, count;
    ID3D11DeviceContext1 *deferred = NULL;
    ID3D11CommandList *list = NULL;
    ID3D11PixelShader *ps = constant_colour();
    ID3D11Buffer *b, *told = NULL;
    struct picture p;

    memcpy(bytes + 256, green, sizeof(green));
    memcpy(bytes + 512, blue, sizeof(blue));
    b = buffer(sizeof(bytes), D3D11_BIND_CONSTANT_BUFFER, 0, bytes);
    picture_make(&p, DXGI_FORMAT_R8G8B8A8_UNORM);
    ready(context, ps);
    ID3D11DeviceContext_OMSetRenderTargets(context, 1, &p.target, NULL);
    ID3D11DeviceContext1_PSSetConstantBuffers1(context1, 0, 1, &b, sixteen, sixteen);
    ID3D11DeviceContext_Draw(context, 3, 0);
    want("constants from 16 on", texel(&p, 5, 5), 0xFF00FF00);
    ID3D11DeviceContext1_PSSetConstantBuffers1(context1, 0, 1, &b, other, odd);
    ID3D11DeviceContext1_PSSetConstantBuffers1(context1, 0, 1, &b, odd, sixteen);
    ID3D11DeviceContext1_PSSetConstantBuffers1(context1, 0, 1, &b, other, NULL);
    ID3D11DeviceContext1_PSGetConstantBuffers1(context1, 0, 1, &told, &from, &count);
    want("refused ranges change nothing", told == b && from == 16 && count == 16, TRUE);
    if (told)
        ID3D11Buffer_Release(told);
    ID3D11DeviceContext1_PSSetConstantBuffers1(context1, 0, 1, &b, beyond, sixteen);
    ID3D11DeviceContext_Draw(context, 3, 0);
    want("constants behind the end", texel(&p, 5, 5), 0);
    NEED(ID3D11Device1_CreateDeferredContext1(device1, 0, &deferred));
    ready((ID3D11DeviceContext *)deferred, ps);
    ID3D11DeviceContext1_OMSetRenderTargets(deferred, 1, &p.target, NULL);
    ID3D11DeviceContext1_PSSetConstantBuffers1(deferred, 0, 1, &b, other, sixteen);
    ID3D11DeviceContext1_Draw(deferred, 3, 0);
    NEED(ID3D11DeviceContext1_FinishCommandList(deferred, FALSE, &list));
    ID3D11DeviceContext_ExecuteCommandList(context, list, TRUE);
    want("of a list", texel(&p, 5, 5), 0xFFFF0000);
    ID3D11DeviceContext_Draw(context, 3, 0);
    want("which leaves the range that there was", texel(&p, 5, 5), 0);
    ID3D11DeviceContext_PSSetConstantBuffers(context, 0, 1, &b);
    ID3D11DeviceContext1_PSGetConstantBuffers1(context1, 0, 1, &told, &from, &count);
    want("all of it again", told == b && from == 0 && count == 4096, TRUE);
    if (told)
        ID3D11Buffer_Release(told);
    ID3D11DeviceContext_ClearState(context);
    ID3D11CommandList_Release(list);
    ID3D11DeviceContext1_Release(deferred);
    ID3D11PixelShader_Release(ps);
    ID3D11Buffer_Release(b);
    picture_end(&p);
}

static void logic(void)
{
    const UINT drawn[4] = {0x0F, 0xFF, 0, 0x55};
    const FLOAT had[4] = {0x3C, 0x0F, 0x7E, 0};
    D3D11_BLEND_DESC1 d = {.RenderTarget[0] = {.LogicOpEnable = TRUE,
                                               .LogicOp = D3D11_LOGIC_OP_XOR,
                                               .RenderTargetWriteMask = D3D11_COLOR_WRITE_ENABLE_ALL}};
    ID3D11PixelShader *ps = constant_colour();
    ID3D11Buffer *b = buffer(sizeof(drawn), D3D11_BIND_CONSTANT_BUFFER, 0, drawn);
    ID3D11BlendState1 *state = NULL;
    struct picture p;

    picture_make(&p, DXGI_FORMAT_R8G8B8A8_UINT);
    NEED(ID3D11Device1_CreateBlendState1(device1, &d, &state));
    ready(context, ps);
    ID3D11DeviceContext_PSSetConstantBuffers(context, 0, 1, &b);
    ID3D11DeviceContext_OMSetRenderTargets(context, 1, &p.target, NULL);
    ID3D11DeviceContext_ClearRenderTargetView(context, p.target, had);
    ID3D11DeviceContext_OMSetBlendState(context, (ID3D11BlendState *)state, NULL, 0xFFFFFFFF);
    ID3D11DeviceContext_Draw(context, 3, 0);
    want("one and the other", texel(&p, 9, 9), 0x557EF033);
    ID3D11DeviceContext_OMSetBlendState(context, NULL, NULL, 0xFFFFFFFF);
    ID3D11DeviceContext_Draw(context, 3, 0);
    want("and no operation any more", texel(&p, 9, 9), 0x5500FF0F);
    ID3D11DeviceContext_ClearState(context);
    d.RenderTarget[0].LogicOp = (D3D11_LOGIC_OP)16;
    want("no such operation", (UINT)ID3D11Device1_CreateBlendState1(device1, &d, NULL), (UINT)E_INVALIDARG);
    d.RenderTarget[0].LogicOp = D3D11_LOGIC_OP_OR;
    d.RenderTarget[0].BlendEnable = TRUE;
    want("and blending", (UINT)ID3D11Device1_CreateBlendState1(device1, &d, NULL), (UINT)E_INVALIDARG);
    ID3D11BlendState1_Release(state);
    ID3D11PixelShader_Release(ps);
    ID3D11Buffer_Release(b);
    picture_end(&p);
}

static void clears(void)
{
    const D3D11_RECT parts[] = {{-5, -5, 10, 10}, {20, 20, 20, 40}, {60, 60, 1000, 1000}},
                     whole = {INT32_MIN, 30, INT32_MAX, 31}, elements[] = {{2, 0, 4, 1}};
    const FLOAT red[4] = {1, 0, 0, 1}, white[4] = {1, 1, 1, 1}, number[4] = {5.7f, 0, 0, 0};
    const D3D11_UNORDERED_ACCESS_VIEW_DESC v = {DXGI_FORMAT_R32_UINT, D3D11_UAV_DIMENSION_BUFFER,
                                                .Buffer = {1, 40, 0}};
    ID3D11Buffer *b = buffer(256, D3D11_BIND_UNORDERED_ACCESS, 0, NULL);
    ID3D11UnorderedAccessView *words = NULL;
    struct picture p;

    picture_make(&p, DXGI_FORMAT_R8G8B8A8_UNORM);
    NEED(ID3D11Device_CreateUnorderedAccessView(device, (ID3D11Resource *)b, &v, &words));
    ID3D11DeviceContext1_ClearView(context1, (ID3D11View *)p.target, white, NULL, 0);
    ID3D11DeviceContext1_ClearView(context1, (ID3D11View *)p.target, red, parts, 3);
    want("in the first part", texel(&p, 9, 9), 0xFF0000FF);
    want("behind it", texel(&p, 10, 9), 0xFFFFFFFF);
    want("in an empty one", texel(&p, 20, 30), 0xFFFFFFFF);
    want("in the last", texel(&p, 63, 63), 0xFF0000FF);
    ID3D11DeviceContext1_ClearView(context1, (ID3D11View *)p.target, red, &whole, 1);
    want("in one of all columns", texel(&p, 9, 30), 0xFF0000FF);
    want("above it", texel(&p, 9, 29), 0xFFFFFFFF);
    want("below it", texel(&p, 9, 31), 0xFFFFFFFF);
    ID3D11DeviceContext1_ClearView(context1, (ID3D11View *)p.store, red, &parts[1], 1);
    ID3D11DeviceContext1_ClearView(context1, (ID3D11View *)p.store, white, &parts[2], 1);
    want("of what is stored to", texel(&p, 63, 63), 0xFFFFFFFF);
    ID3D11DeviceContext1_ClearView(context1, (ID3D11View *)words, number, elements, 1);
    want("in front of elements", word_of(b, 2), 0);
    want("an element", word_of(b, 3), 5);
    want("behind elements", word_of(b, 5), 0);
    ID3D11DeviceContext1_ClearView(context1, (ID3D11View *)words, number, NULL, 0);
    want("all elements", word_of(b, 40), 5);
    want("and no other", word_of(b, 41), 0);
    ID3D11DeviceContext1_DiscardView(context1, (ID3D11View *)p.target);
    ID3D11DeviceContext1_DiscardView1(context1, (ID3D11View *)p.target, parts, 3);
    ID3D11DeviceContext1_DiscardResource(context1, (ID3D11Resource *)p.texture);
    ID3D11UnorderedAccessView_Release(words);
    ID3D11Buffer_Release(b);
    picture_end(&p);
}

/* ---- what shaders write to --------------------------------------------------------- */

static ID3D11UnorderedAccessView *counter(ID3D11Buffer *b)
{
    const D3D11_UNORDERED_ACCESS_VIEW_DESC v = {DXGI_FORMAT_R32_TYPELESS, D3D11_UAV_DIMENSION_BUFFER,
                                                .Buffer = {0, 64, D3D11_BUFFER_UAV_FLAG_RAW}};
    ID3D11UnorderedAccessView *view = NULL;

    NEED(ID3D11Device_CreateUnorderedAccessView(device, (ID3D11Resource *)b, &v, &view));
    return view;
}

/* A viewport is not a vertex shader's to choose. */
static void viewports(void)
{
    static const UINT tokens[] = {0x00010050, 12,         0x04000067, 0x00102012, 0, 5,
                                  0x05000036, 0x00102012, 0,          0x00004001, 0, 0x0100003E};
    ID3D11VertexShader *vs = NULL;
    struct code c;

    program(&c, "SV_ViewportArrayIndex", 5, tokens, sizeof(tokens) / 4);
    want("a viewport", (UINT)ID3D11Device_CreateVertexShader(device, c.bytes, c.size, NULL, &vs),
         (UINT)E_INVALIDARG);
}

/* A vertex shader counts its vertices in u1, and nothing is drawn. */
static void vertices(void)
{
    static const UINT tokens[] = {0x00010050, 25, 0x0300009D, 0x0011E000, 1, 0x04000067, 0x001020F2,
                                  0,          1,  0x070000AD, 0x0011E000, 1, 0x00004001, 8,
                                  0x00004001, 1,  0x08000036, 0x001020F2, 0, 0x00004002, 0,
                                  0,          0,  ONE,        0x0100003E};
    ID3D11Buffer *b =
        buffer(256, D3D11_BIND_UNORDERED_ACCESS, D3D11_RESOURCE_MISC_BUFFER_ALLOW_RAW_VIEWS, NULL);
    ID3D11UnorderedAccessView *view = counter(b);
    ID3D11VertexShader *vs = NULL;
    struct code c;

    program(&c, "SV_Position", 1, tokens, sizeof(tokens) / 4);
    NEED(ID3D11Device_CreateVertexShader(device, c.bytes, c.size, NULL, &vs));
    ready(context, NULL);
    ID3D11DeviceContext_VSSetShader(context, vs, NULL, 0);
    ID3D11DeviceContext_IASetPrimitiveTopology(context, D3D11_PRIMITIVE_TOPOLOGY_POINTLIST);
    ID3D11DeviceContext_OMSetRenderTargetsAndUnorderedAccessViews(context, 0, NULL, NULL, 1, 1, &view, NULL);
    ID3D11DeviceContext_Draw(context, 7, 0);
    want("a vertex shader's count", word_of(b, 2), 7);
    ID3D11DeviceContext_OMSetRenderTargets(context, 0, NULL, NULL);
    ID3D11DeviceContext_Draw(context, 7, 0);
    want("where targets alone are set", word_of(b, 2), 7);
    ID3D11DeviceContext_ClearState(context);
    ID3D11DeviceContext_VSSetShader(context, vs, NULL, 0);
    ID3D11DeviceContext_Draw(context, 7, 0);
    want("of nothing that is bound", word_of(b, 2), 7);
    ID3D11VertexShader_Release(vs);
    ID3D11UnorderedAccessView_Release(view);
    ID3D11Buffer_Release(b);
}

/* How many times the pixel shader of half of the pixels runs, by the last slot that there is. */
static UINT runs(ID3D11PixelShader *ps, UINT samples)
{
    const D3D11_RASTERIZER_DESC1 d = {.FillMode = D3D11_FILL_SOLID,
                                      .CullMode = D3D11_CULL_NONE,
                                      .DepthClipEnable = TRUE,
                                      .ForcedSampleCount = samples};
    const D3D11_VIEWPORT narrow = {0, 0, 2, 61, 0, 1};
    ID3D11Buffer *b =
        buffer(256, D3D11_BIND_UNORDERED_ACCESS, D3D11_RESOURCE_MISC_BUFFER_ALLOW_RAW_VIEWS, NULL);
    ID3D11UnorderedAccessView *view = counter(b);
    ID3D11RasterizerState1 *state = NULL;
    UINT n;

    NEED(ID3D11Device1_CreateRasterizerState1(device1, &d, &state));
    ready(context, ps);
    ID3D11DeviceContext_RSSetViewports(context, 1, &narrow);
    ID3D11DeviceContext_RSSetState(context, (ID3D11RasterizerState *)state);
    ID3D11DeviceContext_OMSetRenderTargetsAndUnorderedAccessViews(context, 0, NULL, NULL, LAST, 1, &view,
                                                                  NULL);
    ID3D11DeviceContext_Draw(context, 3, 3);
    n = word_of(b, 1);
    ID3D11DeviceContext_ClearState(context);
    ID3D11RasterizerState1_Release(state);
    ID3D11UnorderedAccessView_Release(view);
    ID3D11Buffer_Release(b);
    return n;
}

static void samples(void)
{
    static const UINT tokens[] = {0x00000050, 13,         0x0300009D, 0x0011E000, LAST,
                                  0x070000AD, 0x0011E000, LAST,       0x00004001, 4,
                                  0x00004001, 1,          0x0100003E};
    const D3D11_RASTERIZER_DESC1 three = {
        .FillMode = D3D11_FILL_SOLID, .CullMode = D3D11_CULL_NONE, .ForcedSampleCount = 3};
    ID3D11PixelShader *ps = PIXELS(NULL, tokens);
    UINT one = runs(ps, 0);

    want("a pixel shader's count in the last slot", one > 0 && one < 122, TRUE);
    want("one sample", runs(ps, 1), one);
    want("more of four", runs(ps, 4) > one, TRUE);
    want("three samples", (UINT)ID3D11Device1_CreateRasterizerState1(device1, &three, NULL),
         (UINT)E_INVALIDARG);
    ID3D11PixelShader_Release(ps);
}

void level11_1(const char *folder)
{
    static const FLOAT corners[6][2] = {{-1, -1}, {-1, 3}, {3, -1}, {-1, -1}, {-1, 1}, {1, -1}};
    const D3D11_INPUT_ELEMENT_DESC elements[] = {
        {"POSITION", 0, DXGI_FORMAT_R32G32_FLOAT, 0, 0, D3D11_INPUT_PER_VERTEX_DATA, 0},
        {"COLOR", 0, DXGI_FORMAT_R32G32_FLOAT, 0, 0, D3D11_INPUT_PER_VERTEX_DATA, 0}};
    const D3D_FEATURE_LEVEL wanted[] = {D3D_FEATURE_LEVEL_11_1, D3D_FEATURE_LEVEL_11_0};
    D3D_FEATURE_LEVEL level = 0;
    SIZE_T size;
    BYTE *code = file(folder, "colour_vs.dxbc", &size);

    NEED(D3D11CreateDevice(NULL, D3D_DRIVER_TYPE_HARDWARE, NULL, 0, wanted, 2, D3D11_SDK_VERSION, &device,
                           &level, &context));
    want("the level", (UINT)level, D3D_FEATURE_LEVEL_11_1);
    if (level == D3D_FEATURE_LEVEL_11_1) {
        NEED(ID3D11Device_QueryInterface(device, &IID_ID3D11Device1, (void **)&device1));
        ID3D11Device1_GetImmediateContext1(device1, &context1);
        NEED(ID3D11Device_CreateVertexShader(device, code, size, NULL, &everywhere));
        NEED(ID3D11Device_CreateInputLayout(device, elements, 2, code, size, &layout));
        triangles = buffer(sizeof(corners), D3D11_BIND_VERTEX_BUFFER, 0, corners);
        options();
        constants();
        logic();
        clears();
        viewports();
        vertices();
        samples();
        want("the device is there", (UINT)ID3D11Device_GetDeviceRemovedReason(device), S_OK);
        ID3D11Buffer_Release(triangles);
        ID3D11InputLayout_Release(layout);
        ID3D11VertexShader_Release(everywhere);
        ID3D11DeviceContext1_Release(context1);
        ID3D11Device1_Release(device1);
    }
    ID3D11DeviceContext_Release(context);
    want("what is left", ID3D11Device_Release(device), 0);
    free(code);
}
