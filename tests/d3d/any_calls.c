/* SPDX-License-Identifier: MIT */
#define COBJMACROS
#define WIN32_LEAN_AND_MEAN
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <d3d11.h>

#include "any_calls.h"
#include "base/dxbc/dxbc_sum.h"
#include "drawn.h"

enum kind {
    BUFFER,
    TEXTURE,
    SRV,
    RTV,
    DSV,
    UAV,
    SHADERS, /* in the order of enum stage */
    LAYOUT = SHADERS + 6,
    BLEND,
    RASTER,
    DEPTH,
    SAMPLER,
    QUERY,
    LIST,
    DEFERRED,
    KINDS
};
enum stage { VS, PS, GS, HS, DS, CS };
enum { MOST_CODE = 1 << 13, BLOCK = 1 << 22 };

struct code {
    uint8_t bytes[MOST_CODE];
    uint32_t size;
};

static const struct {
    enum stage stage;
    const char *name;
} names[] = {{VS, "colour_vs.dxbc"},          {VS, "fullscreen_vs.dxbc"},
             {VS, "instanced_vs.dxbc"},       {VS, "control_vs.dxbc"},
             {PS, "colour_ps.dxbc"},          {PS, "targets_ps.dxbc"},
             {PS, "depth_ps.dxbc"},           {PS, "load_ps.dxbc"},
             {GS, "point_gs.dxbc"},           {GS, "quads_gs.dxbc"},
             {GS, "numbered_gs.dxbc"},        {HS, "bulge_hs.dxbc"},
             {DS, "bulge_ds.dxbc"},           {CS, "sum_raw_cs.dxbc"},
             {CS, "swap_structured_cs.dxbc"}, {CS, "picture_raw_cs.dxbc"},
             {CS, "ring_structured_cs.dxbc"}, {CS, "count_typed_cs.dxbc"}};
enum { NAMES = sizeof(names) / sizeof(names[0]) };

static struct code codes[NAMES];
static uint8_t *block; /* what uploads and first contents come from */

static struct {
    bool damaged;
    ID3D11Device *device;
    ID3D11DeviceContext *context; /* that is called now: the immediate one, or a deferred one */
    ID3D11DeviceContext *immediate;
} now;

/* ---- what the bytes say -------------------------------------------------- */

static DXGI_FORMAT format(void)
{
    return ONE_OF(DXGI_FORMAT_UNKNOWN, DXGI_FORMAT_R8G8B8A8_UNORM, DXGI_FORMAT_R8G8B8A8_TYPELESS,
                  DXGI_FORMAT_R8G8B8A8_UNORM_SRGB, DXGI_FORMAT_B8G8R8A8_UNORM, DXGI_FORMAT_R32_FLOAT,
                  DXGI_FORMAT_R32_UINT, DXGI_FORMAT_R32_TYPELESS, DXGI_FORMAT_R32G32B32A32_FLOAT,
                  DXGI_FORMAT_R32G32B32_FLOAT, DXGI_FORMAT_R16_UINT, DXGI_FORMAT_R16G16B16A16_FLOAT,
                  DXGI_FORMAT_D24_UNORM_S8_UINT, DXGI_FORMAT_R24G8_TYPELESS, DXGI_FORMAT_D32_FLOAT,
                  DXGI_FORMAT_D32_FLOAT_S8X24_UINT, DXGI_FORMAT_R32G8X24_TYPELESS, DXGI_FORMAT_D16_UNORM,
                  DXGI_FORMAT_BC1_UNORM, DXGI_FORMAT_BC3_TYPELESS, DXGI_FORMAT_BC7_UNORM_SRGB,
                  DXGI_FORMAT_R8_UNORM, DXGI_FORMAT_R8_UINT, DXGI_FORMAT_R11G11B10_FLOAT,
                  DXGI_FORMAT_R9G9B9E5_SHAREDEXP, DXGI_FORMAT_R10G10B10A2_UNORM, DXGI_FORMAT_R1_UNORM,
                  DXGI_FORMAT_G8R8_G8B8_UNORM, DXGI_FORMAT_NV12, DXGI_FORMAT_R32G32B32A32_TYPELESS);
}

static ID3D11Resource *resource(void)
{
    return object(below(3) ? TEXTURE : BUFFER);
}

/* ---- objects ------------------------------------------------------------- */

static D3D11_SUBRESOURCE_DATA contents(void)
{
    return (D3D11_SUBRESOURCE_DATA){block, below(4) ? 256 : below(255), below(4) ? 4096 : number() & 4095};
}

static void a_buffer(void)
{
    ID3D11Buffer *b = NULL;
    D3D11_SUBRESOURCE_DATA data = contents();
    D3D11_BUFFER_DESC d = {.ByteWidth = rarely() ? number() : 16 + 16 * below(128),
                           .Usage = ONE_OF(0, 0, 1, 2, 3),
                           .BindFlags = ONE_OF(1, 2, 4, 8, 0x10, 0x80, 0x88, 0x98, 3, 0, 0x20, 9),
                           .CPUAccessFlags = ONE_OF(0, 0, 0x10000, 0x20000, 0x30000),
                           .MiscFlags = ONE_OF(0, 0, 0, 0x10, 0x20, 0x40, 2, 0x800),
                           .StructureByteStride = ONE_OF(0, 0, 4, 16, 12, 2048)};

    if (d.ByteWidth > BLOCK && d.ByteWidth < 0x40000000)
        return; /* what is made and is large costs time only */
    ID3D11Device_CreateBuffer(now.device, &d, below(2) && d.ByteWidth <= BLOCK ? &data : NULL, &b);
    put(BUFFER, b);
}

static void a_texture(void)
{
    ID3D11Resource *t = NULL;
    D3D11_SUBRESOURCE_DATA data[64];
    UINT side = rarely() ? number() : ONE_OF(1, 4, 16, 63, 64), mips = ONE_OF(0, 1, 1, 1, 2, 3, 7),
         layers = ONE_OF(1, 1, 1, 2, 6, 12), usage = ONE_OF(0, 0, 0, 1, 2, 3),
         bind = ONE_OF(8, 0x20, 0x28, 0x40, 0x48, 0x80, 0x88, 0xA8, 0),
         access = ONE_OF(0, 0, 0x10000, 0x20000, 0x30000), misc = ONE_OF(0, 0, 0, 1, 2, 4, 0x800, 0x200),
         samples = ONE_OF(1, 1, 1, 1, 4, 2);
    DXGI_FORMAT f = format();
    bool filled;

    if (side > 64 && side < 20000)
        side = 64;
    for (int i = 0; i < 64; i++)
        data[i] = contents();
    filled = below(2) && mips && mips * layers <= 64 && side <= 64;
    switch (below(4)) {
    case 0: {
        D3D11_TEXTURE1D_DESC d = {side, mips, layers, f, usage, bind, access, misc};

        ID3D11Device_CreateTexture1D(now.device, &d, filled ? data : NULL, (ID3D11Texture1D **)&t);
        break;
    }
    case 1: {
        D3D11_TEXTURE3D_DESC d = {side, side, ONE_OF(1, 4, 16), mips, f, usage, bind, access, misc};

        ID3D11Device_CreateTexture3D(now.device, &d, filled ? data : NULL, (ID3D11Texture3D **)&t);
        break;
    }
    default: {
        D3D11_TEXTURE2D_DESC d = {side,   rarely() ? number() & 127 : side,
                                  mips,   layers,
                                  f,      {samples, rarely() ? number() : 0},
                                  usage,  bind,
                                  access, misc};

        ID3D11Device_CreateTexture2D(now.device, &d, filled ? data : NULL, (ID3D11Texture2D **)&t);
    }
    }
    put(TEXTURE, t);
}

static void a_view(void)
{
    ID3D11Resource *r = resource();
    bool plain = below(2);
    void *v = NULL;

    if (!r)
        return;
    switch (below(4)) {
    case 0: {
        D3D11_SHADER_RESOURCE_VIEW_DESC d = {.Format = format(), .ViewDimension = below(12)};

        d.Texture2DArray = (D3D11_TEX2D_ARRAY_SRV){number(), number(), number(), number()};
        ID3D11Device_CreateShaderResourceView(now.device, r, plain ? NULL : &d,
                                              (ID3D11ShaderResourceView **)&v);
        put(SRV, v);
        return;
    }
    case 1: {
        D3D11_RENDER_TARGET_VIEW_DESC d = {.Format = format(), .ViewDimension = below(9)};

        d.Texture2DArray = (D3D11_TEX2D_ARRAY_RTV){number(), number(), number()};
        ID3D11Device_CreateRenderTargetView(now.device, r, plain ? NULL : &d, (ID3D11RenderTargetView **)&v);
        put(RTV, v);
        return;
    }
    case 2: {
        D3D11_DEPTH_STENCIL_VIEW_DESC d = {
            .Format = format(), .ViewDimension = below(7), .Flags = ONE_OF(0, 0, 1, 2, 3)};

        d.Texture2DArray = (D3D11_TEX2D_ARRAY_DSV){number(), number(), number()};
        ID3D11Device_CreateDepthStencilView(now.device, r, plain ? NULL : &d, (ID3D11DepthStencilView **)&v);
        put(DSV, v);
        return;
    }
    default: {
        D3D11_UNORDERED_ACCESS_VIEW_DESC d = {.Format = format(), .ViewDimension = below(9)};

        d.Buffer = (D3D11_BUFFER_UAV){number(), number(), ONE_OF(0, 1, 2, 4)};
        ID3D11Device_CreateUnorderedAccessView(now.device, r, plain ? NULL : &d,
                                               (ID3D11UnorderedAccessView **)&v);
        put(UAV, v);
    }
    }
}

/* A sample's shader, with some of its bytes changed if that is asked for. */
static void code(struct code *out, uint32_t which)
{
    uint32_t sum[4];

    *out = codes[which];
    if (!now.damaged || below(2))
        return;
    for (uint32_t n = 1 + below(4); n; n--) {
        uint32_t at = 32 + (next() << 8 | next()) % (out->size - 32);

        out->bytes[at] = (uint8_t)next();
    }
    if (rarely())
        out->size = out->size * below(256) / 256;
    if (out->size >= 32) {
        dxbc_sum(out->bytes, out->size, sum);
        memcpy(out->bytes + 4, sum, sizeof(sum));
    }
}

static void a_shader(void)
{
    uint32_t which = below(NAMES);
    enum stage s = rarely() ? below(6) : names[which].stage;
    struct code c;
    void *made = NULL;

    code(&c, which);
    switch (s) {
    case VS:
        ID3D11Device_CreateVertexShader(now.device, c.bytes, c.size, NULL, (ID3D11VertexShader **)&made);
        break;
    case PS:
        ID3D11Device_CreatePixelShader(now.device, c.bytes, c.size, NULL, (ID3D11PixelShader **)&made);
        break;
    case GS:
        ID3D11Device_CreateGeometryShader(now.device, c.bytes, c.size, NULL, (ID3D11GeometryShader **)&made);
        break;
    case HS:
        ID3D11Device_CreateHullShader(now.device, c.bytes, c.size, NULL, (ID3D11HullShader **)&made);
        break;
    case DS:
        ID3D11Device_CreateDomainShader(now.device, c.bytes, c.size, NULL, (ID3D11DomainShader **)&made);
        break;
    case CS:
        ID3D11Device_CreateComputeShader(now.device, c.bytes, c.size, NULL, (ID3D11ComputeShader **)&made);
        break;
    }
    put(SHADERS + (int)s, made);
}

static const char *semantic(void)
{
    static const char *const semantics[] = {"POSITION", "COLOR", "SV_Position", "SV_VertexID", "TEXCOORD",
                                            "nothing",  ""};

    return semantics[below(7)];
}

static void a_stream_shader(void)
{
    D3D11_SO_DECLARATION_ENTRY e[3];
    UINT strides[2] = {ONE_OF(16, 32, 64, 2052), 16};
    struct code c;
    void *made = NULL;

    code(&c, below(NAMES));
    for (int i = 0; i < 3; i++)
        e[i] = (D3D11_SO_DECLARATION_ENTRY){
            rarely() ? number() : 0, rarely() ? NULL : semantic(), number() & 1,
            (BYTE)below(4),          (BYTE)ONE_OF(4, 1, 2, 0),     (BYTE)ONE_OF(0, 0, 1, 4)};
    ID3D11Device_CreateGeometryShaderWithStreamOutput(now.device, c.bytes, c.size, e, below(4), strides,
                                                      below(3), ONE_OF(~0u, 0, 1), NULL,
                                                      (ID3D11GeometryShader **)&made);
    put(SHADERS + GS, made);
}

static void a_layout(void)
{
    D3D11_INPUT_ELEMENT_DESC e[4];
    ID3D11InputLayout *made = NULL;
    struct code c;

    code(&c, below(4));
    for (int i = 0; i < 4; i++)
        e[i] = (D3D11_INPUT_ELEMENT_DESC){semantic(),
                                          rarely() ? number() : 0,
                                          format(),
                                          rarely() ? number() : below(3),
                                          ONE_OF(D3D11_APPEND_ALIGNED_ELEMENT, 0, 16, 3),
                                          ONE_OF(0, 0, 1),
                                          ONE_OF(0, 0, 1, 2)};
    e[0].SemanticName = "POSITION";
    e[1].SemanticName = "COLOR";
    ID3D11Device_CreateInputLayout(now.device, e, below(5), c.bytes, c.size, &made);
    put(LAYOUT, made);
}

static void a_state(void)
{
    void *made = NULL;

    switch (below(4)) {
    case 0: {
        D3D11_BLEND_DESC d = {below(2), below(2), {{0}}};

        for (int i = 0; i < 8; i++)
            d.RenderTarget[i] = (D3D11_RENDER_TARGET_BLEND_DESC){below(2),     1 + below(19),   1 + below(19),
                                                                 1 + below(5), 1 + below(19),   1 + below(19),
                                                                 1 + below(5), (UINT8)below(17)};
        ID3D11Device_CreateBlendState(now.device, &d, (ID3D11BlendState **)&made);
        put(BLEND, made);
        return;
    }
    case 1: {
        D3D11_RASTERIZER_DESC d = {2 + below(3), 1 + below(4), below(2), (INT)number(), real(),
                                   real(),       below(2),     below(2), below(2),      below(2)};

        ID3D11Device_CreateRasterizerState(now.device, &d, (ID3D11RasterizerState **)&made);
        put(RASTER, made);
        return;
    }
    case 2: {
        D3D11_DEPTH_STENCILOP_DESC face = {1 + below(9), 1 + below(9), 1 + below(9), 1 + below(9)};
        D3D11_DEPTH_STENCIL_DESC d = {below(2),      below(3),      1 + below(9), below(2),
                                      (UINT8)next(), (UINT8)next(), face,         face};

        ID3D11Device_CreateDepthStencilState(now.device, &d, (ID3D11DepthStencilState **)&made);
        put(DEPTH, made);
        return;
    }
    default: {
        D3D11_SAMPLER_DESC d = {ONE_OF(0, 0x15, 0x55, 0x95, 1),
                                1 + below(6),
                                1 + below(6),
                                1 + below(6),
                                real(),
                                below(18),
                                1 + below(9),
                                {real(), real(), real(), real()},
                                real(),
                                real()};

        ID3D11Device_CreateSamplerState(now.device, &d, (ID3D11SamplerState **)&made);
        put(SAMPLER, made);
    }
    }
}

static void a_query(void)
{
    D3D11_QUERY_DESC d = {ONE_OF(0, 1, 2, 3, 4, 5, 6, 7, 8), ONE_OF(0, 0, 1)};
    void *made = NULL;

    if (d.Query == D3D11_QUERY_OCCLUSION_PREDICATE || below(4) == 3)
        ID3D11Device_CreatePredicate(now.device, &d, (ID3D11Predicate **)&made);
    else
        ID3D11Device_CreateQuery(now.device, &d, (ID3D11Query **)&made);
    put(QUERY, made);
}

/* ---- bindings ------------------------------------------------------------ */

#define FILL(array, kind)                                                                                    \
    for (size_t fill_ = 0; fill_ < sizeof(array) / sizeof((array)[0]); fill_++)                              \
    (array)[fill_] = object(kind)

/* A slot and a count that fit most of the time; the arrays have 16. */
static UINT slot(void)
{
    return rarely() ? number() : below(4);
}

static UINT count(void)
{
    return rarely() ? below(17) : 1 + below(4);
}

static void bind_stage(void)
{
    ID3D11Buffer *buffers[16];
    ID3D11ShaderResourceView *views[16];
    ID3D11SamplerState *samplers[16];
    UINT what = below(4), at = slot(), n = count();
    enum stage s = below(6);
    void *shader = object(SHADERS + (int)s);

    FILL(buffers, BUFFER);
    FILL(views, SRV);
    FILL(samplers, SAMPLER);
#define OF(x, type)                                                                                          \
    do {                                                                                                     \
        if (what == 0)                                                                                       \
            ID3D11DeviceContext_##x##SetConstantBuffers(now.context, at, n, buffers);                        \
        else if (what == 1)                                                                                  \
            ID3D11DeviceContext_##x##SetShaderResources(now.context, at, n, views);                          \
        else if (what == 2)                                                                                  \
            ID3D11DeviceContext_##x##SetSamplers(now.context, at, n, samplers);                              \
        else                                                                                                 \
            ID3D11DeviceContext_##x##SetShader(now.context, (type *)shader, NULL, 0);                        \
    } while (0)
    switch (s) {
    case VS:
        OF(VS, ID3D11VertexShader);
        break;
    case PS:
        OF(PS, ID3D11PixelShader);
        break;
    case GS:
        OF(GS, ID3D11GeometryShader);
        break;
    case HS:
        OF(HS, ID3D11HullShader);
        break;
    case DS:
        OF(DS, ID3D11DomainShader);
        break;
    case CS:
        OF(CS, ID3D11ComputeShader);
        break;
    }
#undef OF
}

static void bind_input(void)
{
    ID3D11Buffer *buffers[16];
    UINT strides[16], offsets[16];

    FILL(buffers, BUFFER);
    for (int i = 0; i < 16; i++) {
        strides[i] = ONE_OF(32, 16, 0, 4, 2048);
        offsets[i] = ONE_OF(0, 0, 16, 3);
    }
    switch (below(5)) {
    case 0:
        ID3D11DeviceContext_IASetVertexBuffers(now.context, slot(), count(), buffers, strides, offsets);
        break;
    case 1:
        ID3D11DeviceContext_IASetIndexBuffer(
            now.context, buffers[0], ONE_OF(DXGI_FORMAT_R16_UINT, DXGI_FORMAT_R32_UINT, 0), offsets[0]);
        break;
    case 2:
        ID3D11DeviceContext_IASetInputLayout(now.context, object(LAYOUT));
        break;
    case 3:
        ID3D11DeviceContext_IASetPrimitiveTopology(
            now.context, ONE_OF(4, 4, 4, 1, 2, 3, 5, 10, 11, 12, 13, 35, 36, 64, 0));
        break;
    default:
        ID3D11DeviceContext_SOSetTargets(now.context, below(5), buffers, offsets);
    }
}

static void bind_output(void)
{
    ID3D11RenderTargetView *targets[8];
    ID3D11UnorderedAccessView *views[8];
    UINT counts[8];
    FLOAT factor[4] = {real(), real(), real(), real()};
    D3D11_VIEWPORT v[16];
    D3D11_RECT r[16];

    FILL(targets, RTV);
    FILL(views, UAV);
    for (int i = 0; i < 8; i++)
        counts[i] = ONE_OF(~0u, 0, 1);
    for (int i = 0; i < 16; i++) {
        v[i] = (D3D11_VIEWPORT){0, 0, 64, 64, 0, 1};
        r[i] = (D3D11_RECT){0, 0, 64, 64};
    }
    if (rarely()) {
        v[0] = (D3D11_VIEWPORT){real(), real(), real(), real(), real(), real()};
        r[0] = (D3D11_RECT){(LONG)number(), (LONG)number(), (LONG)number(), (LONG)number()};
    }
    switch (below(8)) {
    case 0:
        ID3D11DeviceContext_OMSetRenderTargets(now.context, below(9), targets, object(DSV));
        break;
    case 1:
        ID3D11DeviceContext_OMSetRenderTargetsAndUnorderedAccessViews(
            now.context, below(4) ? below(9) : D3D11_KEEP_RENDER_TARGETS_AND_DEPTH_STENCIL, targets,
            object(DSV), number(), below(4) ? below(9) : D3D11_KEEP_UNORDERED_ACCESS_VIEWS, views, counts);
        break;
    case 2:
        ID3D11DeviceContext_CSSetUnorderedAccessViews(now.context, slot(), below(9), views, counts);
        break;
    case 3:
        ID3D11DeviceContext_OMSetBlendState(now.context, object(BLEND), below(2) ? factor : NULL,
                                            ONE_OF(~0u, 0, 1));
        break;
    case 4:
        ID3D11DeviceContext_OMSetDepthStencilState(now.context, object(DEPTH), number());
        break;
    case 5:
        ID3D11DeviceContext_RSSetState(now.context, object(RASTER));
        break;
    case 6:
        ID3D11DeviceContext_RSSetViewports(now.context, ONE_OF(1, 1, 0, 16, 17) % 17, v);
        break;
    default:
        ID3D11DeviceContext_RSSetScissorRects(now.context, ONE_OF(1, 1, 0, 16, 17) % 17, r);
    }
}

/* ---- work ---------------------------------------------------------------- */

static void draw(void)
{
    UINT n = ONE_OF(3, 3, 6, 0, 4, 100), more = ONE_OF(1, 1, 2, 0), from = ONE_OF(0, 0, 1, 3);
    ID3D11Buffer *b = object(BUFFER);

    n = n > 4096 ? 4096 : n; /* what counts is time only */
    more = more > 16 ? 16 : more;
    switch (below(9)) {
    case 0:
        ID3D11DeviceContext_Draw(now.context, n, from);
        break;
    case 1:
        ID3D11DeviceContext_DrawIndexed(now.context, n, from, (INT)number());
        break;
    case 2:
        ID3D11DeviceContext_DrawInstanced(now.context, n, more, from, number());
        break;
    case 3:
        ID3D11DeviceContext_DrawIndexedInstanced(now.context, n, more, from, (INT)number(), number());
        break;
    case 4:
        ID3D11DeviceContext_DrawAuto(now.context);
        break;
    case 5:
        if (b)
            ID3D11DeviceContext_DrawInstancedIndirect(now.context, b, number() * 4);
        break;
    case 6:
        if (b)
            ID3D11DeviceContext_DrawIndexedInstancedIndirect(now.context, b, number());
        break;
    case 7:
        if (b)
            ID3D11DeviceContext_DispatchIndirect(now.context, b, number() * 4);
        break;
    default:
        ID3D11DeviceContext_Dispatch(now.context, ONE_OF(1, 1, 2, 0, 65536) & 0x1000F,
                                     ONE_OF(1, 1, 2, 0) & 15, ONE_OF(1, 0) & 15);
    }
}

static void clear(void)
{
    FLOAT f[4] = {real(), real(), real(), real()};
    UINT u[4] = {number(), number(), number(), number()};
    void *v;

    switch (below(5)) {
    case 0:
        if ((v = object(RTV)))
            ID3D11DeviceContext_ClearRenderTargetView(now.context, v, f);
        break;
    case 1:
        if ((v = object(DSV)))
            ID3D11DeviceContext_ClearDepthStencilView(now.context, v, ONE_OF(1, 2, 3, 0), f[0],
                                                      (UINT8)next());
        break;
    case 2:
        if ((v = object(UAV)))
            ID3D11DeviceContext_ClearUnorderedAccessViewUint(now.context, v, u);
        break;
    case 3:
        if ((v = object(UAV)))
            ID3D11DeviceContext_ClearUnorderedAccessViewFloat(now.context, v, f);
        break;
    default:
        if ((v = object(SRV)))
            ID3D11DeviceContext_GenerateMips(now.context, v);
    }
}

static void copy(void)
{
    ID3D11Resource *to = resource(), *from = resource();
    D3D11_BOX box = {number(), number(), number(), number(), number(), number()};
    void *v;

    if (!to || !from)
        return;
    if (below(2))
        box = (D3D11_BOX){0, 0, 0, 1 + below(16), 1, 1};
    switch (below(5)) {
    case 0:
        ID3D11DeviceContext_CopyResource(now.context, to, from);
        break;
    case 1:
        ID3D11DeviceContext_CopySubresourceRegion(now.context, to, number(), number(), number(), number(),
                                                  from, number(), below(2) ? &box : NULL);
        break;
    case 2:
        if (box.right <= 64 && box.bottom <= 64 && box.back <= 64)
            ID3D11DeviceContext_UpdateSubresource(now.context, to, number(), below(2) ? &box : NULL, block,
                                                  below(4) ? 256 : below(255),
                                                  below(4) ? 4096 : number() & 4095);
        break;
    case 3:
        ID3D11DeviceContext_ResolveSubresource(now.context, to, number(), from, number(), format());
        break;
    default: {
        ID3D11Buffer *b = object(BUFFER);

        if (b && (v = object(UAV)))
            ID3D11DeviceContext_CopyStructureCount(now.context, b, number(), v);
    }
    }
}

static void map(void)
{
    ID3D11Resource *r = resource();
    D3D11_MAPPED_SUBRESOURCE m = {0};
    UINT sub = ONE_OF(0, 0, 0, 1), type = ONE_OF(1, 2, 3, 4, 5);

    if (!r)
        return;
    if (ID3D11DeviceContext_Map(now.context, r, sub, type, ONE_OF(0, 0, 0x100000), &m) == S_OK && m.pData) {
        if (type != D3D11_MAP_READ)
            memset(m.pData, (int)next(), 4);
        else
            block[0] = *(volatile uint8_t *)m.pData;
        if (!rarely())
            ID3D11DeviceContext_Unmap(now.context, r, sub);
    } else if (rarely()) {
        ID3D11DeviceContext_Unmap(now.context, r, number());
    }
}

static void ask(void)
{
    uint8_t answer[512];
    void *q = object(QUERY);

    switch (below(5)) {
    case 0:
        if (q)
            ID3D11DeviceContext_Begin(now.context, q);
        break;
    case 1:
        if (q)
            ID3D11DeviceContext_End(now.context, q);
        break;
    case 2:
        if (q)
            ID3D11DeviceContext_GetData(now.context, q, below(2) ? answer : NULL,
                                        rarely() ? number() % 513
                                                 : ID3D11Asynchronous_GetDataSize((ID3D11Asynchronous *)q),
                                        ONE_OF(0, 1));
        break;
    case 3:
        if (q) {
            ID3D11Predicate *p = NULL;

            if (ID3D11Asynchronous_QueryInterface((ID3D11Asynchronous *)q, &IID_ID3D11Predicate,
                                                  (void **)&p) == S_OK) {
                ID3D11DeviceContext_SetPredication(now.context, p, (BOOL)below(2));
                ID3D11Predicate_Release(p);
            }
        }
        break;
    default:
        ID3D11DeviceContext_SetPredication(now.context, NULL, 0);
    }
}

static void lists(void)
{
    void *made = NULL;

    switch (below(6)) {
    case 0:
        ID3D11Device_CreateDeferredContext(now.device, ONE_OF(0, 0, 1), (ID3D11DeviceContext **)&made);
        put(DEFERRED, made);
        now.context = now.immediate; /* what was there may have been the one */
        break;
    case 1:
        made = object(DEFERRED);
        now.context = made ? made : now.immediate;
        break;
    case 2:
        ID3D11DeviceContext_FinishCommandList(now.context, (BOOL)below(2), (ID3D11CommandList **)&made);
        put(LIST, made);
        break;
    case 3:
        made = object(LIST);
        if (made)
            ID3D11DeviceContext_ExecuteCommandList(now.context, made, (BOOL)below(2));
        break;
    case 4:
        ID3D11DeviceContext_ClearState(now.context);
        break;
    default:
        ID3D11DeviceContext_Flush(now.context);
    }
}

static void drop(void)
{
    enum kind k = below(KINDS);

    if (k == DEFERRED)
        now.context = now.immediate;
    drop_one(k);
}

static void (*const calls[])(void) = {
    a_buffer,    a_buffer,    a_texture, a_texture,  a_view,         a_view,     a_shader,   a_shader,
    a_layout,    a_state,     a_query,   bind_stage, bind_stage,     bind_stage, bind_input, bind_input,
    bind_output, bind_output, draw,      draw,       draw,           clear,      copy,       copy,
    map,         ask,         lists,     drop,       a_stream_shader};

/* ---- the way through ----------------------------------------------------- */

bool any_calls_begin(const char *folder)
{
    for (uint32_t i = 0; i < NAMES; i++) {
        char path[1024];
        FILE *f;

        snprintf(path, sizeof(path), "%s/%s", folder, names[i].name);
        f = fopen(path, "rb");
        if (!f)
            return false;
        codes[i].size = (uint32_t)fread(codes[i].bytes, 1, MOST_CODE, f);
        fclose(f);
    }
    block = block ? block : calloc(1, BLOCK);
    return block != NULL;
}

/* What was asked of the device has happened, or it is gone. */
static void finish(void)
{
    const D3D11_BUFFER_DESC from = {.ByteWidth = 16, .BindFlags = D3D11_BIND_VERTEX_BUFFER},
                            to = {.ByteWidth = 16,
                                  .Usage = D3D11_USAGE_STAGING,
                                  .CPUAccessFlags = D3D11_CPU_ACCESS_READ};
    ID3D11Buffer *b[2] = {NULL, NULL};
    D3D11_MAPPED_SUBRESOURCE m;

    if (ID3D11Device_CreateBuffer(now.device, &from, NULL, &b[0]) == S_OK &&
        ID3D11Device_CreateBuffer(now.device, &to, NULL, &b[1]) == S_OK) {
        ID3D11DeviceContext_CopyResource(now.immediate, (ID3D11Resource *)b[1], (ID3D11Resource *)b[0]);
        if (ID3D11DeviceContext_Map(now.immediate, (ID3D11Resource *)b[1], 0, D3D11_MAP_READ, 0, &m) == S_OK)
            ID3D11DeviceContext_Unmap(now.immediate, (ID3D11Resource *)b[1], 0);
    }
    for (int i = 0; i < 2; i++)
        if (b[i])
            ID3D11Buffer_Release(b[i]);
}

struct any_end any_calls(const uint8_t *bytes, size_t size, bool damaged)
{
    struct any_end end = {0};
    D3D_FEATURE_LEVEL level;

    memset(&now, 0, sizeof(now));
    drawn.at = bytes;
    drawn.end = bytes + size;
    now.damaged = damaged;
    end.created = (uint32_t)D3D11CreateDevice(NULL, D3D_DRIVER_TYPE_HARDWARE, NULL, 0, NULL, 0,
                                              D3D11_SDK_VERSION, &now.device, &level, &now.immediate);
    if (end.created)
        return end;
    now.context = now.immediate;
    while (drawn.at < drawn.end && ID3D11Device_GetDeviceRemovedReason(now.device) == S_OK)
        calls[below(sizeof(calls) / sizeof(calls[0]))]();
    ID3D11DeviceContext_ClearState(now.immediate);
    drop_all();
    finish();
    end.removed = (uint32_t)ID3D11Device_GetDeviceRemovedReason(now.device);
    ID3D11DeviceContext_Release(now.immediate);
    end.references = ID3D11Device_Release(now.device);
    return end;
}
