/* SPDX-License-Identifier: MIT */
/* workload_black.c: one triangle, drawn again and again, and each time with one thing wrong by which its pixels stay as they were, or become
 * what nobody meant. Prints a name for each draw. Nothing is executed: what is wrong is there to be read, not to be survived. */
#include "workload.h"

#include <math.h>
#include <stdbool.h>

enum {
    SIDE = 16,
    CONSTANTS = 256,
    ZEROS = 512,
    ARGUMENTS = 1024,
    INDICES = 1280,
    VERTICES = 2048,
    NANS = 4096,
    FLAT = 6144,
    AWAY = 8192,
    TURNED = 10240,
    INK = 12288,
    SAME = 14336,
    CLEAR = 16384,
    EYE = 18432,
    FAR_AWAY = 20480
};

enum way {
    FINE,
    CULLED,
    AWAY_FROM_VIEW,
    DEPTH,
    NO_DEPTH,
    SCISSOR,
    SCISSOR_AWAY,
    NO_SCISSOR,
    BLEND,
    BLACK,
    MASK,
    NAN_CORNER,
    FLAT_W,
    INKED,
    ZERO_CONSTANTS,
    UNBOUND,
    OTHER_ROOT,
    NULL_VIEW,
    NO_VIEW,
    UNWRITTEN,
    STRIDE,
    NO_BUFFER,
    BEHIND,
    INDEX_FORMAT,
    INDICES_BEHIND,
    VIEWPORT,
    VIEWPORT_AWAY,
    VIEWPORT_FLIPPED,
    SAMPLES,
    STENCIL,
    NO_TARGET,
    TARGET_FORMAT,
    TOPOLOGY,
    NO_INSTANCE,
    CLEARED,
    NO_PIXEL_SHADER,
    PREDICATED,
    INDIRECT,
    BUNDLE,
    NO_CONSTANTS,
    FEW_CONSTANTS,
    DEGENERATE,
    TOO_FEW,
    NO_VERTEX,
    NEVER,
    STENCIL_NEVER,
    CLEAR_INK,
    ALPHA_ALONE,
    BEHIND_EYE,
    DEEP,
    FACTOR,
    INDEX_AWAY,
    NO_COMMAND,
    COUNTED_NONE,
    NO_VIEW_OF_TARGET,
    NULL_TARGET,
    WRITES_NONE,
    OTHER_HEAP,
    STATE,
    TARGET_STATE,
    DISCARDS,
    PART,
    WAYS
};

static const char *const names[] = {"fine",
                                    "culled",
                                    "away",
                                    "depth",
                                    "no-depth",
                                    "scissor",
                                    "scissor-away",
                                    "no-scissor",
                                    "blend",
                                    "black",
                                    "mask",
                                    "nan",
                                    "flat-w",
                                    "inked",
                                    "zero-constants",
                                    "unbound",
                                    "other-root",
                                    "null-view",
                                    "no-view",
                                    "unwritten",
                                    "stride",
                                    "no-buffer",
                                    "behind",
                                    "index-format",
                                    "indices-behind",
                                    "viewport",
                                    "viewport-away",
                                    "viewport-flipped",
                                    "samples",
                                    "stencil",
                                    "no-target",
                                    "target-format",
                                    "topology",
                                    "no-instance",
                                    "cleared",
                                    "no-pixel-shader",
                                    "predicated",
                                    "indirect",
                                    "bundle",
                                    "no-constants",
                                    "few-constants",
                                    "degenerate",
                                    "too-few",
                                    "no-vertex",
                                    "never",
                                    "stencil-never",
                                    "clear-ink",
                                    "alpha-alone",
                                    "behind-eye",
                                    "deep",
                                    "factor",
                                    "index-away",
                                    "no-command",
                                    "counted-none",
                                    "no-view-of-target",
                                    "null-target",
                                    "writes-none",
                                    "other-heap",
                                    "state",
                                    "target-state",
                                    "discards",
                                    "part"};

struct black {
    struct gpu g;
    ID3D12RootSignature *root, *other, *textured, *constants;
    ID3D12DescriptorHeap *rtvs, *dsvs, *views, *others;
    ID3D12CommandSignature *signature;
    ID3D12Resource *target, *depth, *texture, *up, *fresh, *unready, *partly;
    UINT rtv_step, view_step;
};

static D3D12_SHADER_BYTECODE shader(const char *name)
{
    static uint8_t bytes[4][8192];
    static unsigned at;
    uint8_t *p = bytes[at++ % 4];

    return (D3D12_SHADER_BYTECODE){p, read_shader(name, p, sizeof(bytes[0]))};
}

static ID3D12RootSignature *make_root(struct black *b, UINT num, const D3D12_ROOT_PARAMETER *parameters,
                                      UINT samplers)
{
    D3D12_STATIC_SAMPLER_DESC sampler = {.AddressU = D3D12_TEXTURE_ADDRESS_MODE_WRAP,
                                         .AddressV = D3D12_TEXTURE_ADDRESS_MODE_WRAP,
                                         .AddressW = D3D12_TEXTURE_ADDRESS_MODE_WRAP,
                                         .ComparisonFunc = D3D12_COMPARISON_FUNC_NEVER,
                                         .MaxAnisotropy = 1,
                                         .ShaderVisibility = D3D12_SHADER_VISIBILITY_ALL};
    D3D12_ROOT_SIGNATURE_DESC desc = {num, parameters, samplers, &sampler,
                                      D3D12_ROOT_SIGNATURE_FLAG_ALLOW_INPUT_ASSEMBLER_INPUT_LAYOUT};
    ID3D12RootSignature *root;
    ID3DBlob *blob;

    CHECK(D3D12SerializeRootSignature(&desc, D3D_ROOT_SIGNATURE_VERSION_1, &blob, NULL));
    CHECK(ID3D12Device_CreateRootSignature(b->g.device, 0, ID3D10Blob_GetBufferPointer(blob),
                                           ID3D10Blob_GetBufferSize(blob), &IID_ID3D12RootSignature,
                                           (void **)&root));
    ID3D10Blob_Release(blob);
    return root;
}

static ID3D12DescriptorHeap *make_heap(struct black *b, D3D12_DESCRIPTOR_HEAP_TYPE type, UINT num,
                                       bool visible)
{
    D3D12_DESCRIPTOR_HEAP_DESC desc = {
        type, num, visible ? D3D12_DESCRIPTOR_HEAP_FLAG_SHADER_VISIBLE : D3D12_DESCRIPTOR_HEAP_FLAG_NONE, 0};
    ID3D12DescriptorHeap *heap;

    CHECK(ID3D12Device_CreateDescriptorHeap(b->g.device, &desc, &IID_ID3D12DescriptorHeap, (void **)&heap));
    return heap;
}

static ID3D12Resource *make_texture(struct black *b, UINT16 mips, DXGI_FORMAT format,
                                    D3D12_RESOURCE_FLAGS flags, D3D12_RESOURCE_STATES state)
{
    D3D12_HEAP_PROPERTIES heap = {.Type = D3D12_HEAP_TYPE_DEFAULT};
    D3D12_RESOURCE_DESC desc = {D3D12_RESOURCE_DIMENSION_TEXTURE2D, 0,    SIDE, SIDE, 1, mips, format, {1, 0},
                                D3D12_TEXTURE_LAYOUT_UNKNOWN,       flags};
    ID3D12Resource *r;

    CHECK(ID3D12Device_CreateCommittedResource(b->g.device, &heap, D3D12_HEAP_FLAG_NONE, &desc, state, NULL,
                                               &IID_ID3D12Resource, (void **)&r));
    return r;
}

static D3D12_CPU_DESCRIPTOR_HANDLE cpu(ID3D12DescriptorHeap *heap, UINT step, UINT i)
{
    D3D12_CPU_DESCRIPTOR_HANDLE at = ID3D12DescriptorHeap_GetCPUDescriptorHandleForHeapStart(heap);

    at.ptr += (SIZE_T)step * i;
    return at;
}

/* Four components where it is and four of its colour, for each corner. */
static void write_memory(struct black *b)
{
    static const float corners[3][8] = {
        {0, .5f, .5f, 1, 1, 0, 0, 1}, {.5f, -.5f, .5f, 1, 0, 1, 0, 1}, {-.5f, -.5f, .5f, 1, 0, 0, 1, 1}};
    const D3D12_DRAW_ARGUMENTS none = {3, 0, 0, 0};
    const uint16_t indices[] = {0, 1, 2, 0, 1, 900};
    const float place[4] = {1, 1, 0, 0};
    uint8_t *p = map(b->up);

    memset(p + ZEROS, 0, 256);
    memcpy(p + CONSTANTS, place, sizeof(place));
    memcpy(p + ARGUMENTS, &none, sizeof(none));
    memcpy(p + INDICES, indices, sizeof(indices));
    for (int i = 0; i < 3; i++) {
        float v[8];

        memcpy(v, corners[i], sizeof(v));
        memcpy(p + VERTICES + 32 * i, v, sizeof(v));
        memcpy(p + TURNED + 32 * (2 - i), v, sizeof(v));
        v[3] = 0;
        memcpy(p + FLAT + 32 * i, v, sizeof(v));
        v[3] = 1;
        v[0] += 4;
        memcpy(p + AWAY + 32 * i, v, sizeof(v));
        v[0] = i == 1 ? NAN : v[0] - 4;
        memcpy(p + NANS + 32 * i, v, sizeof(v));
        v[0] = corners[i][0];
        v[4] = v[5] = v[6] = 0;
        memcpy(p + INK + 32 * i, v, sizeof(v));
        memcpy(v, corners[i], sizeof(v));
        v[7] = 0;
        memcpy(p + CLEAR + 32 * i, v, sizeof(v));
        memcpy(v, corners[i ? 1 : 0], sizeof(v));
        memcpy(p + SAME + 32 * i, v, sizeof(v));
        memcpy(v, corners[i], sizeof(v));
        v[3] = -1;
        memcpy(p + EYE + 32 * i, v, sizeof(v));
        v[3] = 1;
        v[2] = 2;
        memcpy(p + FAR_AWAY + 32 * i, v, sizeof(v));
    }
    ID3D12Resource_Unmap(b->up, 0, NULL);
}

static void open_black(struct black *b)
{
    D3D12_DESCRIPTOR_RANGE range = {D3D12_DESCRIPTOR_RANGE_TYPE_SRV, 1, 0, 0, 0};
    D3D12_ROOT_PARAMETER constants = {.ParameterType = D3D12_ROOT_PARAMETER_TYPE_CBV},
                         table = {.ParameterType = D3D12_ROOT_PARAMETER_TYPE_DESCRIPTOR_TABLE,
                                  .DescriptorTable = {1, &range}},
                         two[2] = {constants, constants},
                         numbers = {.ParameterType = D3D12_ROOT_PARAMETER_TYPE_32BIT_CONSTANTS,
                                    .Constants = {0, 0, 4}};
    D3D12_INDIRECT_ARGUMENT_DESC argument = {.Type = D3D12_INDIRECT_ARGUMENT_TYPE_DRAW};
    D3D12_COMMAND_SIGNATURE_DESC commands = {sizeof(D3D12_DRAW_ARGUMENTS), 1, &argument, 0};
    D3D12_SHADER_RESOURCE_VIEW_DESC null = {.Format = DXGI_FORMAT_R8G8B8A8_UNORM,
                                            .ViewDimension = D3D12_SRV_DIMENSION_TEXTURE2D,
                                            .Shader4ComponentMapping =
                                                D3D12_DEFAULT_SHADER_4_COMPONENT_MAPPING,
                                            .Texture2D = {.MipLevels = 1}};
    D3D12_RENDER_TARGET_VIEW_DESC srgb = {.Format = DXGI_FORMAT_R8G8B8A8_UNORM_SRGB,
                                          .ViewDimension = D3D12_RTV_DIMENSION_TEXTURE2D};

    gpu_open(&b->g);
    two[1].Descriptor.ShaderRegister = 1;
    b->root = make_root(b, 1, &constants, 0);
    b->other = make_root(b, 2, two, 0);
    b->textured = make_root(b, 1, &table, 1);
    b->constants = make_root(b, 1, &numbers, 0);
    b->rtvs = make_heap(b, D3D12_DESCRIPTOR_HEAP_TYPE_RTV, 5, false);
    b->dsvs = make_heap(b, D3D12_DESCRIPTOR_HEAP_TYPE_DSV, 1, false);
    b->views = make_heap(b, D3D12_DESCRIPTOR_HEAP_TYPE_CBV_SRV_UAV, 5, true);
    b->others = make_heap(b, D3D12_DESCRIPTOR_HEAP_TYPE_CBV_SRV_UAV, 4, true);
    b->rtv_step = ID3D12Device_GetDescriptorHandleIncrementSize(b->g.device, D3D12_DESCRIPTOR_HEAP_TYPE_RTV);
    b->view_step =
        ID3D12Device_GetDescriptorHandleIncrementSize(b->g.device, D3D12_DESCRIPTOR_HEAP_TYPE_CBV_SRV_UAV);
    b->target = make_texture(b, 1, DXGI_FORMAT_R8G8B8A8_TYPELESS, D3D12_RESOURCE_FLAG_ALLOW_RENDER_TARGET,
                             D3D12_RESOURCE_STATE_RENDER_TARGET);
    b->depth = make_texture(b, 1, DXGI_FORMAT_D24_UNORM_S8_UINT, D3D12_RESOURCE_FLAG_ALLOW_DEPTH_STENCIL,
                            D3D12_RESOURCE_STATE_DEPTH_WRITE);
    b->texture = make_texture(b, 1, DXGI_FORMAT_R8G8B8A8_UNORM, D3D12_RESOURCE_FLAG_NONE,
                              D3D12_RESOURCE_STATE_PIXEL_SHADER_RESOURCE);
    b->fresh = make_texture(b, 1, DXGI_FORMAT_R8G8B8A8_TYPELESS, D3D12_RESOURCE_FLAG_ALLOW_RENDER_TARGET,
                            D3D12_RESOURCE_STATE_COPY_SOURCE);
    b->unready = make_texture(b, 1, DXGI_FORMAT_R8G8B8A8_UNORM, D3D12_RESOURCE_FLAG_NONE,
                              D3D12_RESOURCE_STATE_COPY_DEST);
    b->partly = make_texture(b, 2, DXGI_FORMAT_R8G8B8A8_UNORM, D3D12_RESOURCE_FLAG_NONE,
                             D3D12_RESOURCE_STATE_COPY_DEST);
    b->up = buffer(&b->g, D3D12_HEAP_TYPE_UPLOAD, 65536);
    ID3D12Device_CreateRenderTargetView(b->g.device, b->target, &srgb, cpu(b->rtvs, b->rtv_step, 1));
    srgb.Format = DXGI_FORMAT_R8G8B8A8_UNORM;
    ID3D12Device_CreateRenderTargetView(b->g.device, b->target, &srgb, cpu(b->rtvs, b->rtv_step, 0));
    ID3D12Device_CreateRenderTargetView(b->g.device, NULL, &srgb, cpu(b->rtvs, b->rtv_step, 3));
    ID3D12Device_CreateRenderTargetView(b->g.device, b->fresh, &srgb, cpu(b->rtvs, b->rtv_step, 4));
    ID3D12Device_CreateShaderResourceView(b->g.device, b->unready, NULL, cpu(b->views, b->view_step, 3));
    ID3D12Device_CreateDepthStencilView(b->g.device, b->depth, NULL, cpu(b->dsvs, 0, 0));
    ID3D12Device_CreateShaderResourceView(b->g.device, b->texture, NULL, cpu(b->views, b->view_step, 0));
    ID3D12Device_CreateShaderResourceView(b->g.device, NULL, &null, cpu(b->views, b->view_step, 1));
    null.Texture2D.MostDetailedMip = 1;
    ID3D12Device_CreateShaderResourceView(b->g.device, b->partly, &null, cpu(b->views, b->view_step, 4));
    CHECK(ID3D12Device_CreateCommandSignature(b->g.device, &commands, NULL, &IID_ID3D12CommandSignature,
                                              (void **)&b->signature));
    write_memory(b);
}

static bool is_textured(enum way w)
{
    return w == NULL_VIEW || w == NO_VIEW || w == UNWRITTEN || w == OTHER_HEAP || w == STATE || w == PART;
}

/* Those whose vertices say by themselves where they land. */
static bool is_plain(enum way w)
{
    return w == CULLED || w == VIEWPORT_FLIPPED || w == AWAY_FROM_VIEW || w == DEGENERATE ||
           w == BEHIND_EYE || w == DEEP;
}

/* Those that have their constants in the root signature. */
static bool has_numbers(enum way w)
{
    return w == NO_CONSTANTS || w == FEW_CONSTANTS;
}

static bool has_depth(enum way w)
{
    return w == DEPTH || w == STENCIL || w == NEVER || w == STENCIL_NEVER;
}

static ID3D12PipelineState *make_pipeline(struct black *b, enum way w)
{
    static const D3D12_INPUT_ELEMENT_DESC inputs[] = {
        {"POSITION", 0, DXGI_FORMAT_R32G32B32A32_FLOAT, 0, 0, D3D12_INPUT_CLASSIFICATION_PER_VERTEX_DATA, 0},
        {"COLOR", 0, DXGI_FORMAT_R32G32B32A32_FLOAT, 0, 16, D3D12_INPUT_CLASSIFICATION_PER_VERTEX_DATA, 0}};
    static const D3D12_INPUT_ELEMENT_DESC textured[] = {
        {"POSITION", 0, DXGI_FORMAT_R32G32B32A32_FLOAT, 0, 0, D3D12_INPUT_CLASSIFICATION_PER_VERTEX_DATA, 0},
        {"TEXCOORD", 0, DXGI_FORMAT_R32G32_FLOAT, 0, 16, D3D12_INPUT_CLASSIFICATION_PER_VERTEX_DATA, 0}};
    D3D12_GRAPHICS_PIPELINE_STATE_DESC d = {
        .pRootSignature = is_textured(w)   ? b->textured
                          : has_numbers(w) ? b->constants
                                           : b->root,
        .SampleMask = w == SAMPLES ? 0 : 0xffffffff,
        .NumRenderTargets = w != WRITES_NONE,
        .PrimitiveTopologyType = D3D12_PRIMITIVE_TOPOLOGY_TYPE_TRIANGLE,
        .RTVFormats = {w == WRITES_NONE ? DXGI_FORMAT_UNKNOWN : DXGI_FORMAT_R8G8B8A8_UNORM},
        .SampleDesc = {1, 0},
        .InputLayout = {is_textured(w) ? textured : inputs, 2}};
    D3D12_RENDER_TARGET_BLEND_DESC *blend = &d.BlendState.RenderTarget[0];
    ID3D12PipelineState *state;

    d.VS = shader(is_textured(w) ? "texture_vs.dxbc" : is_plain(w) ? "colour_vs.dxbc" : "scaled_vs.dxbc");
    if (w != NO_PIXEL_SHADER)
        d.PS = shader(is_textured(w) ? "texture_ps.dxbc" : w == DISCARDS ? "clip_ps.dxbc" : "colour_ps.dxbc");
    d.RasterizerState.FillMode = D3D12_FILL_MODE_SOLID;
    d.RasterizerState.CullMode =
        w == CULLED || w == VIEWPORT_FLIPPED ? D3D12_CULL_MODE_BACK : D3D12_CULL_MODE_NONE;
    d.RasterizerState.DepthClipEnable = TRUE;
    blend->BlendEnable = w == BLEND || w == BLACK || w == CLEAR_INK || w == FACTOR;
    blend->SrcBlend = w == CLEAR_INK ? D3D12_BLEND_SRC_ALPHA
                      : w == FACTOR  ? D3D12_BLEND_BLEND_FACTOR
                                     : D3D12_BLEND_ZERO;
    blend->DestBlend = w == BLEND || w == CLEAR_INK ? D3D12_BLEND_ONE : D3D12_BLEND_ZERO;
    blend->SrcBlendAlpha = D3D12_BLEND_ONE;
    blend->DestBlendAlpha = D3D12_BLEND_ZERO;
    blend->BlendOp = blend->BlendOpAlpha = D3D12_BLEND_OP_ADD;
    blend->LogicOp = D3D12_LOGIC_OP_NOOP;
    blend->RenderTargetWriteMask = w == MASK          ? 0
                                   : w == ALPHA_ALONE ? D3D12_COLOR_WRITE_ENABLE_ALPHA
                                                      : D3D12_COLOR_WRITE_ENABLE_ALL;
    d.DepthStencilState.DepthEnable = w == DEPTH || w == NO_DEPTH || w == NEVER;
    d.DepthStencilState.DepthFunc = w == NEVER ? D3D12_COMPARISON_FUNC_NEVER : D3D12_COMPARISON_FUNC_LESS;
    d.DepthStencilState.DepthWriteMask = D3D12_DEPTH_WRITE_MASK_ALL;
    d.DepthStencilState.StencilEnable = w == STENCIL || w == STENCIL_NEVER;
    d.DepthStencilState.StencilReadMask = d.DepthStencilState.StencilWriteMask = 0xff;
    d.DepthStencilState.FrontFace = d.DepthStencilState.BackFace = (D3D12_DEPTH_STENCILOP_DESC){
        D3D12_STENCIL_OP_KEEP, D3D12_STENCIL_OP_KEEP, D3D12_STENCIL_OP_KEEP,
        w == STENCIL_NEVER ? D3D12_COMPARISON_FUNC_NEVER : D3D12_COMPARISON_FUNC_EQUAL};
    d.DSVFormat = has_depth(w) || w == NO_DEPTH ? DXGI_FORMAT_D24_UNORM_S8_UINT : DXGI_FORMAT_UNKNOWN;
    CHECK(
        ID3D12Device_CreateGraphicsPipelineState(b->g.device, &d, &IID_ID3D12PipelineState, (void **)&state));
    return state;
}

static bool is_indexed(enum way w)
{
    return w == INDEX_FORMAT || w == INDICES_BEHIND || w == INDEX_AWAY;
}

static void bind_targets(struct black *b, ID3D12GraphicsCommandList *list, enum way w)
{
    const D3D12_VIEWPORT view = {w == VIEWPORT_AWAY ? 40 : 0,
                                 w == VIEWPORT_FLIPPED ? SIDE : 0,
                                 w == VIEWPORT ? 0 : SIDE,
                                 w == VIEWPORT_FLIPPED ? -SIDE : SIDE,
                                 0,
                                 1};
    const D3D12_RECT rect = {w == SCISSOR_AWAY ? 20 : 0, 0,
                             w == SCISSOR                              ? 0
                             : w == SCISSOR_AWAY || w == VIEWPORT_AWAY ? 100
                                                                       : SIDE,
                             SIDE};
    const D3D12_CPU_DESCRIPTOR_HANDLE rtv = cpu(b->rtvs, b->rtv_step,
                                                w == TARGET_FORMAT       ? 1
                                                : w == NO_VIEW_OF_TARGET ? 2
                                                : w == NULL_TARGET       ? 3
                                                : w == TARGET_STATE      ? 4
                                                                         : 0),
                                      dsv = cpu(b->dsvs, 0, 0);

    if (has_depth(w))
        ID3D12GraphicsCommandList_ClearDepthStencilView(
            list, dsv, D3D12_CLEAR_FLAG_DEPTH | D3D12_CLEAR_FLAG_STENCIL, 0, 7, 0, NULL);
    if (w != NO_TARGET)
        ID3D12GraphicsCommandList_OMSetRenderTargets(list, 1, &rtv, FALSE, has_depth(w) ? &dsv : NULL);
    ID3D12GraphicsCommandList_RSSetViewports(list, 1, &view);
    if (w != NO_SCISSOR)
        ID3D12GraphicsCommandList_RSSetScissorRects(list, 1, &rect);
    if (w == STENCIL)
        ID3D12GraphicsCommandList_OMSetStencilRef(list, 3);
    if (w == FACTOR)
        ID3D12GraphicsCommandList_OMSetBlendFactor(list, (const float[4]){0});
    if (w == PREDICATED)
        ID3D12GraphicsCommandList_SetPredication(list, b->up, ZEROS, D3D12_PREDICATION_OP_EQUAL_ZERO);
}

static void bind_input(struct black *b, ID3D12GraphicsCommandList *list, enum way w)
{
    const D3D12_GPU_VIRTUAL_ADDRESS up = ID3D12Resource_GetGPUVirtualAddress(b->up);
    const UINT from = w == CULLED || w == VIEWPORT_FLIPPED ? TURNED
                      : w == AWAY_FROM_VIEW                ? AWAY
                      : w == NAN_CORNER                    ? NANS
                      : w == FLAT_W                        ? FLAT
                      : w == INKED                         ? INK
                      : w == DEGENERATE                    ? SAME
                      : w == CLEAR_INK                     ? CLEAR
                      : w == DISCARDS                      ? CLEAR
                      : w == BEHIND_EYE                    ? EYE
                      : w == DEEP                          ? FAR_AWAY
                                                           : VERTICES;
    const D3D12_VERTEX_BUFFER_VIEW vertices = {up + from, 96, w == STRIDE ? 0 : 32};
    const D3D12_INDEX_BUFFER_VIEW indices = {up + INDICES + (w == INDEX_AWAY ? 6 : 0), 6,
                                             w == INDEX_FORMAT ? DXGI_FORMAT_R16_FLOAT
                                                               : DXGI_FORMAT_R16_UINT};
    D3D12_GPU_DESCRIPTOR_HANDLE table = ID3D12DescriptorHeap_GetGPUDescriptorHandleForHeapStart(b->views);

    ID3D12GraphicsCommandList_SetGraphicsRootSignature(list, is_textured(w)    ? b->textured
                                                             : w == OTHER_ROOT ? b->other
                                                             : has_numbers(w)  ? b->constants
                                                                               : b->root);
    table.ptr += (UINT64)b->view_step * (w == NULL_VIEW ? 1
                                         : w == NO_VIEW ? 2
                                         : w == STATE   ? 3
                                         : w == PART    ? 4
                                                        : 0);
    if (is_textured(w))
        ID3D12GraphicsCommandList_SetDescriptorHeaps(list, 1, w == OTHER_HEAP ? &b->others : &b->views);
    if (is_textured(w))
        ID3D12GraphicsCommandList_SetGraphicsRootDescriptorTable(list, 0, table);
    else if (w == FEW_CONSTANTS)
        ID3D12GraphicsCommandList_SetGraphicsRoot32BitConstant(list, 0, 0x3f800000, 0);
    else if (w != UNBOUND && w != NO_CONSTANTS)
        ID3D12GraphicsCommandList_SetGraphicsRootConstantBufferView(
            list, 0, up + (w == ZERO_CONSTANTS ? ZEROS : CONSTANTS));
    ID3D12GraphicsCommandList_IASetPrimitiveTopology(
        list, w == TOPOLOGY ? D3D_PRIMITIVE_TOPOLOGY_LINELIST : D3D_PRIMITIVE_TOPOLOGY_TRIANGLELIST);
    if (w != NO_BUFFER)
        ID3D12GraphicsCommandList_IASetVertexBuffers(list, 0, 1, &vertices);
    if (is_indexed(w))
        ID3D12GraphicsCommandList_IASetIndexBuffer(list, &indices);
}

static void draw(struct black *b, ID3D12GraphicsCommandList *list, enum way w)
{
    if (w == INDIRECT || w == NO_COMMAND || w == COUNTED_NONE)
        ID3D12GraphicsCommandList_ExecuteIndirect(list, b->signature, w != NO_COMMAND, b->up, ARGUMENTS,
                                                  w == COUNTED_NONE ? b->up : NULL, ZEROS);
    else if (is_indexed(w))
        ID3D12GraphicsCommandList_DrawIndexedInstanced(list, w == INDICES_BEHIND ? 6 : 3, 1, 0, 0, 0);
    else
        ID3D12GraphicsCommandList_DrawInstanced(list,
                                                w == BEHIND      ? 6
                                                : w == TOO_FEW   ? 2
                                                : w == NO_VERTEX ? 0
                                                                 : 3,
                                                w != NO_INSTANCE, 0, 0);
}

/* The first mip of two is written. */
static void write_part(struct black *b, ID3D12GraphicsCommandList *list)
{
    D3D12_TEXTURE_COPY_LOCATION dst = {b->partly, D3D12_TEXTURE_COPY_TYPE_SUBRESOURCE_INDEX, {{0}}};
    D3D12_TEXTURE_COPY_LOCATION src = {b->up, D3D12_TEXTURE_COPY_TYPE_PLACED_FOOTPRINT, {{0}}};
    D3D12_RESOURCE_BARRIER ready = {.Type = D3D12_RESOURCE_BARRIER_TYPE_TRANSITION,
                                    .Transition = {b->partly, D3D12_RESOURCE_BARRIER_ALL_SUBRESOURCES,
                                                   D3D12_RESOURCE_STATE_COPY_DEST,
                                                   D3D12_RESOURCE_STATE_PIXEL_SHADER_RESOURCE}};

    src.PlacedFootprint.Footprint =
        (D3D12_SUBRESOURCE_FOOTPRINT){DXGI_FORMAT_R8G8B8A8_UNORM, SIDE, SIDE, 1, 256};
    ID3D12GraphicsCommandList_CopyTextureRegion(list, &dst, 0, 0, 0, &src, NULL);
    ID3D12GraphicsCommandList_ResourceBarrier(list, 1, &ready);
}

/* A bundle that sets all but what it has of its caller, where the scissor rectangle is missing. */
static void draw_bundle(struct black *b, ID3D12PipelineState *state)
{
    ID3D12CommandAllocator *allocator;
    ID3D12GraphicsCommandList *bundle;

    CHECK(ID3D12Device_CreateCommandAllocator(b->g.device, D3D12_COMMAND_LIST_TYPE_BUNDLE,
                                              &IID_ID3D12CommandAllocator, (void **)&allocator));
    CHECK(ID3D12Device_CreateCommandList(b->g.device, 0, D3D12_COMMAND_LIST_TYPE_BUNDLE, allocator, state,
                                         &IID_ID3D12GraphicsCommandList, (void **)&bundle));
    bind_input(b, bundle, BUNDLE);
    draw(b, bundle, BUNDLE);
    CHECK(ID3D12GraphicsCommandList_Close(bundle));
    bind_targets(b, b->g.list, NO_SCISSOR);
    ID3D12GraphicsCommandList_ExecuteBundle(b->g.list, bundle);
    ID3D12GraphicsCommandList_Release(bundle);
    ID3D12CommandAllocator_Release(allocator);
}

static void draw_one(struct black *b, enum way w)
{
    static const float blue[4] = {0, 0, .5f, 1};
    ID3D12GraphicsCommandList *list = b->g.list;
    ID3D12PipelineState *state = make_pipeline(b, w);

    ID3D12GraphicsCommandList_BeginEvent(list, 1, names[w], (UINT)strlen(names[w]) + 1);
    if (w == BUNDLE) {
        draw_bundle(b, state);
    } else {
        if (w == PART)
            write_part(b, list);
        ID3D12GraphicsCommandList_SetPipelineState(list, state);
        bind_targets(b, list, w);
        bind_input(b, list, w);
        draw(b, list, w);
    }
    ID3D12GraphicsCommandList_EndEvent(list);
    if (w == CLEARED)
        ID3D12GraphicsCommandList_ClearRenderTargetView(list, cpu(b->rtvs, b->rtv_step, 0), blue, 0, NULL);
    CHECK(ID3D12GraphicsCommandList_Close(list));
    CHECK(ID3D12GraphicsCommandList_Reset(list, b->g.allocator, NULL));
    ID3D12PipelineState_Release(state);
    printf("%s\n", names[w]);
}

void black(void)
{
    struct black b = {0};

    open_black(&b);
    for (int w = 0; w < WAYS; w++)
        draw_one(&b, (enum way)w);
    CHECK(ID3D12GraphicsCommandList_Close(b.g.list));
    ID3D12Resource_Release(b.up);
    ID3D12Resource_Release(b.unready);
    ID3D12Resource_Release(b.partly);
    ID3D12Resource_Release(b.fresh);
    ID3D12Resource_Release(b.texture);
    ID3D12Resource_Release(b.depth);
    ID3D12Resource_Release(b.target);
    ID3D12CommandSignature_Release(b.signature);
    ID3D12DescriptorHeap_Release(b.others);
    ID3D12DescriptorHeap_Release(b.views);
    ID3D12DescriptorHeap_Release(b.dsvs);
    ID3D12DescriptorHeap_Release(b.rtvs);
    ID3D12RootSignature_Release(b.constants);
    ID3D12RootSignature_Release(b.textured);
    ID3D12RootSignature_Release(b.other);
    ID3D12RootSignature_Release(b.root);
    gpu_close(&b.g);
}
