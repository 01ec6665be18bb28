/* SPDX-License-Identifier: MIT */
/* draws.c: drawing of all kinds in a window: direct, indexed, indirect and from bundles; into mips and array slices; with
 * constants that the CPU writes into persistently mapped memory while the GPU reads the last frame's; occlusion queries;
 * a swap chain that is resized halfway. Usage: draws.exe [FRAMES [tables]]
 *
 * A texture bound through a descriptor table is drawn to a target of its own, and shown only if `tables` is given: Wine 8
 * cannot bind tables on devices without VK_EXT_descriptor_indexing. */
#include "common.h"

#define RING    (BUFFERS + 1)
#define SLICES  2
#define MIPS    3
#define SIZE    64
#define QUERIES 4

SHADER(scaled_vs)
SHADER(colour_ps)
SHADER(fullscreen_vs)
SHADER(texture_ps)

#define LEVEL(n)                                                                                             \
    ((float)(n) / 255) /* of a target; what lies between two of them drivers round as they like */

struct vertex {
    float position[4], colour[4];
};

static const struct vertex triangle[] = {{{-1, -1, 0.5f, 1}, {1, 0, 0, 1}},
                                         {{0, 1, 0.5f, 1}, {0, 1, 0, 1}},
                                         {{1, -1, 0.5f, 1}, {0, 0, 1, 1}},
                                         {{1, 1, 0.25f, 1}, {1, 1, 0, 1}}};
static const uint16_t indices[] = {0, 1, 2, 2, 1, 3};

struct scene {
    struct app a;
    ID3D12RootSignature *shape_root, *show_root;
    ID3D12PipelineState *shape, *shape_depth, *show;
    ID3D12Resource *upload, *constants, *texture, *sampled, *depth, *query_results, *readback;
    uint8_t *upload_map, *constants_map;
    ID3D12DescriptorHeap *rtvs, *dsvs, *views;
    ID3D12QueryHeap *queries;
    ID3D12CommandSignature *draw_indirect;
    ID3D12CommandAllocator *bundle_allocator;
    ID3D12GraphicsCommandList *bundle;
    D3D12_VERTEX_BUFFER_VIEW vertices;
    D3D12_INDEX_BUFFER_VIEW index_view;
    bool tables;
};

enum { AT_VERTICES = 0, AT_INDICES = 256, AT_DRAWS = 512, UPLOAD_SIZE = 4096, CONSTANTS = 256 };

static void make_roots(struct scene *s)
{
    D3D12_ROOT_PARAMETER cbv = {.ParameterType = D3D12_ROOT_PARAMETER_TYPE_CBV};
    D3D12_DESCRIPTOR_RANGE range = {.RangeType = D3D12_DESCRIPTOR_RANGE_TYPE_SRV, .NumDescriptors = 1};
    D3D12_ROOT_PARAMETER table = {.ParameterType = D3D12_ROOT_PARAMETER_TYPE_DESCRIPTOR_TABLE,
                                  .DescriptorTable = {1, &range},
                                  .ShaderVisibility = D3D12_SHADER_VISIBILITY_PIXEL};
    D3D12_STATIC_SAMPLER_DESC sampler = {.Filter = D3D12_FILTER_MIN_MAG_MIP_POINT,
                                         .AddressU = D3D12_TEXTURE_ADDRESS_MODE_CLAMP,
                                         .AddressV = D3D12_TEXTURE_ADDRESS_MODE_CLAMP,
                                         .AddressW = D3D12_TEXTURE_ADDRESS_MODE_CLAMP,
                                         .MaxLOD = D3D12_FLOAT32_MAX,
                                         .ShaderVisibility = D3D12_SHADER_VISIBILITY_PIXEL};
    D3D12_ROOT_SIGNATURE_DESC shape = {1, &cbv, 0, NULL,
                                       D3D12_ROOT_SIGNATURE_FLAG_ALLOW_INPUT_ASSEMBLER_INPUT_LAYOUT};
    D3D12_ROOT_SIGNATURE_DESC show = {1, &table, 1, &sampler, 0};

    s->shape_root = make_root(s->a.device, &shape);
    s->show_root = make_root(s->a.device, &show);
}

static ID3D12PipelineState *make_pipeline(struct scene *s, ID3D12RootSignature *root,
                                          D3D12_SHADER_BYTECODE vs, D3D12_SHADER_BYTECODE ps, bool has_input,
                                          bool has_depth)
{
    static const D3D12_INPUT_ELEMENT_DESC input[] = {
        {"POSITION", 0, DXGI_FORMAT_R32G32B32A32_FLOAT, 0, 0, D3D12_INPUT_CLASSIFICATION_PER_VERTEX_DATA, 0},
        {"COLOR", 0, DXGI_FORMAT_R32G32B32A32_FLOAT, 0, 16, D3D12_INPUT_CLASSIFICATION_PER_VERTEX_DATA, 0}};
    D3D12_GRAPHICS_PIPELINE_STATE_DESC d = {.pRootSignature = root,
                                            .VS = vs,
                                            .PS = ps,
                                            .SampleMask = UINT_MAX,
                                            .RasterizerState = {.FillMode = D3D12_FILL_MODE_SOLID,
                                                                .CullMode = D3D12_CULL_MODE_NONE,
                                                                .DepthClipEnable = TRUE},
                                            .PrimitiveTopologyType = D3D12_PRIMITIVE_TOPOLOGY_TYPE_TRIANGLE,
                                            .NumRenderTargets = 1,
                                            .RTVFormats = {DXGI_FORMAT_R8G8B8A8_UNORM},
                                            .SampleDesc = {1, 0}};
    ID3D12PipelineState *p;

    d.BlendState.RenderTarget[0].RenderTargetWriteMask = D3D12_COLOR_WRITE_ENABLE_ALL;
    if (has_input)
        d.InputLayout = (D3D12_INPUT_LAYOUT_DESC){input, 2};
    if (has_depth) {
        d.DSVFormat = DXGI_FORMAT_D32_FLOAT;
        d.DepthStencilState = (D3D12_DEPTH_STENCIL_DESC){.DepthEnable = TRUE,
                                                         .DepthWriteMask = D3D12_DEPTH_WRITE_MASK_ALL,
                                                         .DepthFunc = D3D12_COMPARISON_FUNC_LESS};
    }
    CHECK(ID3D12Device_CreateGraphicsPipelineState(s->a.device, &d, &IID_ID3D12PipelineState, (void **)&p));
    return p;
}

static void make_buffers(struct scene *s)
{
    ID3D12Device *d = s->a.device;
    D3D12_DRAW_ARGUMENTS draws[] = {{3, 1, 0, 0}, {3, 1, 1, 0}};
    D3D12_GPU_VIRTUAL_ADDRESS at;

    s->upload = make_buffer(d, D3D12_HEAP_TYPE_UPLOAD, UPLOAD_SIZE);
    s->constants = make_buffer(d, D3D12_HEAP_TYPE_UPLOAD, RING * 4 * CONSTANTS);
    s->query_results = make_buffer(d, D3D12_HEAP_TYPE_READBACK, 8 * QUERIES);
    s->readback = make_buffer(d, D3D12_HEAP_TYPE_READBACK, SIZE * SIZE * 4);
    zero_readback(s->query_results, 8 * QUERIES);
    CHECK(ID3D12Resource_Map(s->upload, 0, (&(D3D12_RANGE){0, 0}), (void **)&s->upload_map));
    CHECK(ID3D12Resource_Map(s->constants, 0, (&(D3D12_RANGE){0, 0}), (void **)&s->constants_map));
    memcpy(s->upload_map + AT_VERTICES, triangle, sizeof(triangle));
    memcpy(s->upload_map + AT_INDICES, indices, sizeof(indices));
    memcpy(s->upload_map + AT_DRAWS, draws, sizeof(draws));
    at = ID3D12Resource_GetGPUVirtualAddress(s->upload);
    s->vertices = (D3D12_VERTEX_BUFFER_VIEW){at + AT_VERTICES, sizeof(triangle), sizeof(struct vertex)};
    s->index_view = (D3D12_INDEX_BUFFER_VIEW){at + AT_INDICES, sizeof(indices), DXGI_FORMAT_R16_UINT};
    ID3D12Resource_SetName(s->upload, L"geometry and indirect arguments");
    ID3D12Resource_SetName(s->constants, L"constants, one slot per frame in flight");
}

static void make_targets(struct scene *s)
{
    const D3D12_CLEAR_VALUE clear = {.Format = DXGI_FORMAT_R8G8B8A8_UNORM, .Color = {0, 0, 0, 1}};
    const D3D12_CLEAR_VALUE far_clear = {.Format = DXGI_FORMAT_D32_FLOAT, .DepthStencil = {1, 0}};
    D3D12_RESOURCE_DESC colour = texture_desc(SIZE, SIZE, SLICES, MIPS, DXGI_FORMAT_R8G8B8A8_UNORM,
                                              D3D12_RESOURCE_FLAG_ALLOW_RENDER_TARGET);
    D3D12_RESOURCE_DESC depth =
        texture_desc(1024, 512, 1, 1, DXGI_FORMAT_D32_FLOAT, D3D12_RESOURCE_FLAG_ALLOW_DEPTH_STENCIL);
    D3D12_SHADER_RESOURCE_VIEW_DESC srv = {.Format = DXGI_FORMAT_R8G8B8A8_UNORM,
                                           .ViewDimension = D3D12_SRV_DIMENSION_TEXTURE2D,
                                           .Shader4ComponentMapping =
                                               D3D12_DEFAULT_SHADER_4_COMPONENT_MAPPING,
                                           .Texture2D = {0, MIPS, 0, 0}};
    ID3D12Device *d = s->a.device;

    s->texture =
        make_resource(d, D3D12_HEAP_TYPE_DEFAULT, &colour, D3D12_RESOURCE_STATE_RENDER_TARGET, &clear);
    colour.DepthOrArraySize = colour.MipLevels = 1;
    s->sampled =
        make_resource(d, D3D12_HEAP_TYPE_DEFAULT, &colour, D3D12_RESOURCE_STATE_RENDER_TARGET, &clear);
    s->depth =
        make_resource(d, D3D12_HEAP_TYPE_DEFAULT, &depth, D3D12_RESOURCE_STATE_DEPTH_WRITE, &far_clear);
    s->rtvs = make_heap(d, D3D12_DESCRIPTOR_HEAP_TYPE_RTV, SLICES * MIPS + 1, false);
    s->dsvs = make_heap(d, D3D12_DESCRIPTOR_HEAP_TYPE_DSV, 1, false);
    s->views = make_heap(d, D3D12_DESCRIPTOR_HEAP_TYPE_CBV_SRV_UAV, 4, true);
    for (UINT i = 0; i < SLICES * MIPS; i++) {
        D3D12_RENDER_TARGET_VIEW_DESC rtv = {.Format = DXGI_FORMAT_R8G8B8A8_UNORM,
                                             .ViewDimension = D3D12_RTV_DIMENSION_TEXTURE2DARRAY,
                                             .Texture2DArray = {i % MIPS, i / MIPS, 1, 0}};

        ID3D12Device_CreateRenderTargetView(d, s->texture, &rtv,
                                            cpu_handle(d, s->rtvs, D3D12_DESCRIPTOR_HEAP_TYPE_RTV, i));
    }
    ID3D12Device_CreateRenderTargetView(
        d, s->sampled, NULL, cpu_handle(d, s->rtvs, D3D12_DESCRIPTOR_HEAP_TYPE_RTV, SLICES * MIPS));
    ID3D12Device_CreateDepthStencilView(d, s->depth, NULL,
                                        cpu_handle(d, s->dsvs, D3D12_DESCRIPTOR_HEAP_TYPE_DSV, 0));
    ID3D12Device_CreateShaderResourceView(d, s->texture, &srv,
                                          cpu_handle(d, s->views, D3D12_DESCRIPTOR_HEAP_TYPE_CBV_SRV_UAV, 1));
}

static void make_rest(struct scene *s)
{
    D3D12_QUERY_HEAP_DESC queries = {D3D12_QUERY_HEAP_TYPE_OCCLUSION, QUERIES, 0};
    D3D12_INDIRECT_ARGUMENT_DESC argument = {.Type = D3D12_INDIRECT_ARGUMENT_TYPE_DRAW};
    D3D12_COMMAND_SIGNATURE_DESC signature = {sizeof(D3D12_DRAW_ARGUMENTS), 1, &argument, 0};
    ID3D12Device *d = s->a.device;

    CHECK(ID3D12Device_CreateQueryHeap(d, &queries, &IID_ID3D12QueryHeap, (void **)&s->queries));
    CHECK(ID3D12Device_CreateCommandSignature(d, &signature, NULL, &IID_ID3D12CommandSignature,
                                              (void **)&s->draw_indirect));
    /* not every implementation has bundles */
    if (FAILED(ID3D12Device_CreateCommandAllocator(
            d, D3D12_COMMAND_LIST_TYPE_BUNDLE, &IID_ID3D12CommandAllocator, (void **)&s->bundle_allocator)))
        return;
    if (FAILED(ID3D12Device_CreateCommandList(d, 0, D3D12_COMMAND_LIST_TYPE_BUNDLE, s->bundle_allocator,
                                              s->shape, &IID_ID3D12GraphicsCommandList,
                                              (void **)&s->bundle))) {
        s->bundle = NULL;
        return;
    }
    ID3D12GraphicsCommandList_SetGraphicsRootSignature(s->bundle, s->shape_root);
    ID3D12GraphicsCommandList_IASetPrimitiveTopology(s->bundle, D3D_PRIMITIVE_TOPOLOGY_TRIANGLELIST);
    ID3D12GraphicsCommandList_DrawInstanced(s->bundle, 3, 1, 0, 0);
    if (FAILED(ID3D12GraphicsCommandList_Close(s->bundle))) {
        ID3D12GraphicsCommandList_Release(s->bundle);
        s->bundle = NULL;
    }
}

/* Constants of one draw, written while the GPU may still read those of the frame before. */
static D3D12_GPU_VIRTUAL_ADDRESS constants(struct scene *s, unsigned frame, unsigned draw, float scale,
                                           float x, float y)
{
    size_t at = ((frame % RING) * 4 + draw) * CONSTANTS;
    float v[4] = {scale, scale, x, y};

    memcpy(s->constants_map + at, v, sizeof(v));
    return ID3D12Resource_GetGPUVirtualAddress(s->constants) + at;
}

static void viewport(ID3D12GraphicsCommandList *l, UINT width, UINT height)
{
    ID3D12GraphicsCommandList_RSSetViewports(l, 1,
                                             (&(D3D12_VIEWPORT){0, 0, (float)width, (float)height, 0, 1}));
    ID3D12GraphicsCommandList_RSSetScissorRects(l, 1, (&(D3D12_RECT){0, 0, (LONG)width, (LONG)height}));
}

static void shape_state(struct scene *s, ID3D12PipelineState *p)
{
    ID3D12GraphicsCommandList *l = s->a.list;

    ID3D12GraphicsCommandList_SetGraphicsRootSignature(l, s->shape_root);
    ID3D12GraphicsCommandList_SetPipelineState(l, p);
    ID3D12GraphicsCommandList_IASetPrimitiveTopology(l, D3D_PRIMITIVE_TOPOLOGY_TRIANGLELIST);
    ID3D12GraphicsCommandList_IASetVertexBuffers(l, 0, 1, &s->vertices);
    ID3D12GraphicsCommandList_IASetIndexBuffer(l, &s->index_view);
}

/* A triangle into every mip of every slice. */
static void draw_texture(struct scene *s, unsigned frame)
{
    ID3D12GraphicsCommandList *l = s->a.list;

    shape_state(s, s->shape);
    for (UINT i = 0; i < SLICES * MIPS; i++) {
        D3D12_CPU_DESCRIPTOR_HANDLE rtv = cpu_handle(s->a.device, s->rtvs, D3D12_DESCRIPTOR_HEAP_TYPE_RTV, i);
        const float colour[4] = {LEVEL(42 * i), 0, LEVEL(frame % 8 * 32), 1};

        viewport(l, SIZE >> i % MIPS, SIZE >> i % MIPS);
        ID3D12GraphicsCommandList_OMSetRenderTargets(l, 1, &rtv, FALSE, NULL);
        ID3D12GraphicsCommandList_ClearRenderTargetView(l, rtv, colour, 0, NULL);
        ID3D12GraphicsCommandList_SetGraphicsRootConstantBufferView(l, 0,
                                                                    constants(s, frame, 0, 0.75f, 0, 0));
        ID3D12GraphicsCommandList_DrawInstanced(l, 3, 1, 0, 0);
    }
}

/* The texture over the whole of `target`, sampled through a table. */
static void draw_sampled(struct scene *s, D3D12_CPU_DESCRIPTOR_HANDLE target, UINT width, UINT height)
{
    ID3D12GraphicsCommandList *l = s->a.list;

    viewport(l, width, height);
    ID3D12GraphicsCommandList_OMSetRenderTargets(l, 1, &target, FALSE, NULL);
    ID3D12GraphicsCommandList_SetGraphicsRootSignature(l, s->show_root);
    ID3D12GraphicsCommandList_SetDescriptorHeaps(l, 1, &s->views);
    ID3D12GraphicsCommandList_SetPipelineState(l, s->show);
    ID3D12GraphicsCommandList_SetGraphicsRootDescriptorTable(
        l, 0, gpu_handle(s->a.device, s->views, D3D12_DESCRIPTOR_HEAP_TYPE_CBV_SRV_UAV, 1));
    ID3D12GraphicsCommandList_IASetPrimitiveTopology(l, D3D_PRIMITIVE_TOPOLOGY_TRIANGLELIST);
    ID3D12GraphicsCommandList_DrawInstanced(l, 3, 1, 0, 0);
}

static void draw_window(struct scene *s, unsigned frame)
{
    D3D12_CPU_DESCRIPTOR_HANDLE rtv = app_target(&s->a);
    D3D12_CPU_DESCRIPTOR_HANDLE dsv = cpu_handle(s->a.device, s->dsvs, D3D12_DESCRIPTOR_HEAP_TYPE_DSV, 0);
    const float background[4] = {LEVEL(25), LEVEL(51), LEVEL(77), 1};
    ID3D12GraphicsCommandList *l = s->a.list;
    UINT q = frame % QUERIES;

    ID3D12GraphicsCommandList_ClearRenderTargetView(l, rtv, background, 0, NULL);
    draw_sampled(s, cpu_handle(s->a.device, s->rtvs, D3D12_DESCRIPTOR_HEAP_TYPE_RTV, SLICES * MIPS), SIZE,
                 SIZE);
    if (s->tables)
        draw_sampled(s, rtv, s->a.width, s->a.height);
    viewport(l, s->a.width, s->a.height);
    ID3D12GraphicsCommandList_OMSetRenderTargets(l, 1, &rtv, TRUE, &dsv);
    ID3D12GraphicsCommandList_ClearDepthStencilView(l, dsv, D3D12_CLEAR_FLAG_DEPTH, 1, 0, 0, NULL);
    shape_state(s, s->shape_depth);
    ID3D12GraphicsCommandList_BeginQuery(l, s->queries, D3D12_QUERY_TYPE_OCCLUSION, q);
    ID3D12GraphicsCommandList_SetGraphicsRootConstantBufferView(l, 0, constants(s, frame, 1, 0.4f, -0.5f, 0));
    ID3D12GraphicsCommandList_DrawIndexedInstanced(l, 6, 1, 0, 0, 0);
    ID3D12GraphicsCommandList_SetGraphicsRootConstantBufferView(
        l, 0, constants(s, frame, 2, 0.3f, 0.5f, (float)(frame % 10) / 10 - 0.5f));
    ID3D12GraphicsCommandList_ExecuteIndirect(l, s->draw_indirect, 2, s->upload, AT_DRAWS, NULL, 0);
    ID3D12GraphicsCommandList_EndQuery(l, s->queries, D3D12_QUERY_TYPE_OCCLUSION, q);
    ID3D12GraphicsCommandList_ResolveQueryData(l, s->queries, D3D12_QUERY_TYPE_OCCLUSION, q, 1,
                                               s->query_results, 8 * q);
    if (s->bundle) {
        ID3D12GraphicsCommandList_OMSetRenderTargets(l, 1, &rtv, TRUE, NULL);
        shape_state(s, s->shape);
        ID3D12GraphicsCommandList_SetGraphicsRootConstantBufferView(l, 0,
                                                                    constants(s, frame, 3, 0.1f, 0, 0.8f));
        ID3D12GraphicsCommandList_ExecuteBundle(l, s->bundle);
    }
}

/* Mips and slices beside each other into the window; the second slice into memory. */
static void copy_texture(struct scene *s)
{
    ID3D12Resource *target = s->a.targets[s->a.index];
    D3D12_TEXTURE_COPY_LOCATION src = {.pResource = s->texture,
                                       .Type = D3D12_TEXTURE_COPY_TYPE_SUBRESOURCE_INDEX};
    D3D12_TEXTURE_COPY_LOCATION window = {.pResource = target,
                                          .Type = D3D12_TEXTURE_COPY_TYPE_SUBRESOURCE_INDEX};
    D3D12_TEXTURE_COPY_LOCATION memory = {
        .pResource = s->readback,
        .Type = D3D12_TEXTURE_COPY_TYPE_PLACED_FOOTPRINT,
        .PlacedFootprint = {0, {DXGI_FORMAT_R8G8B8A8_UNORM, SIZE, SIZE, 1, SIZE * 4}}};

    transition(s->a.list, target, D3D12_RESOURCE_STATE_RENDER_TARGET, D3D12_RESOURCE_STATE_COPY_DEST);
    for (UINT i = 0; i < SLICES * MIPS; i++) {
        src.SubresourceIndex = i;
        ID3D12GraphicsCommandList_CopyTextureRegion(s->a.list, &window, i % MIPS * SIZE, i / MIPS * SIZE, 0,
                                                    &src, NULL);
    }
    transition(s->a.list, target, D3D12_RESOURCE_STATE_COPY_DEST, D3D12_RESOURCE_STATE_RENDER_TARGET);
    src.SubresourceIndex = MIPS;
    ID3D12GraphicsCommandList_CopyTextureRegion(s->a.list, &memory, 0, 0, 0, &src, NULL);
}

static void frame(struct scene *s, unsigned i)
{
    ID3D12GraphicsCommandList *l = s->a.list;

    app_begin(&s->a);
    draw_texture(s, i);
    transition(l, s->texture, D3D12_RESOURCE_STATE_RENDER_TARGET, D3D12_RESOURCE_STATE_PIXEL_SHADER_RESOURCE);
    draw_window(s, i);
    transition(l, s->texture, D3D12_RESOURCE_STATE_PIXEL_SHADER_RESOURCE, D3D12_RESOURCE_STATE_COPY_SOURCE);
    copy_texture(s);
    transition(l, s->texture, D3D12_RESOURCE_STATE_COPY_SOURCE, D3D12_RESOURCE_STATE_RENDER_TARGET);
    app_end(&s->a);
}

static void finish(struct scene *s)
{
    app_idle(&s->a);
    mix_readback(s->query_results, 8 * QUERIES);
    mix_readback(s->readback, SIZE * SIZE * 4);
    ID3D12Resource_Unmap(s->constants, 0, NULL);
    ID3D12Resource_Release(s->constants);
    ID3D12Resource_Release(s->upload); /* mapped still */
    ID3D12Resource_Release(s->texture);
    ID3D12Resource_Release(s->sampled);
    ID3D12Resource_Release(s->depth);
    ID3D12Resource_Release(s->query_results);
    ID3D12Resource_Release(s->readback);
    if (s->bundle)
        ID3D12GraphicsCommandList_Release(s->bundle);
    if (s->bundle_allocator)
        ID3D12CommandAllocator_Release(s->bundle_allocator);
    ID3D12CommandSignature_Release(s->draw_indirect);
    ID3D12QueryHeap_Release(s->queries);
    ID3D12DescriptorHeap_Release(s->views);
    ID3D12DescriptorHeap_Release(s->dsvs);
    ID3D12DescriptorHeap_Release(s->rtvs);
    ID3D12PipelineState_Release(s->shape);
    ID3D12PipelineState_Release(s->shape_depth);
    ID3D12PipelineState_Release(s->show);
    ID3D12RootSignature_Release(s->shape_root);
    ID3D12RootSignature_Release(s->show_root);
    app_finish(&s->a);
}

int main(int argc, char **argv)
{
    unsigned frames = argc > 1 ? (unsigned)atoi(argv[1]) : 12;
    struct scene s = {.tables = argc > 2};

    app_init(&s.a, 320, 200);
    make_roots(&s);
    s.shape = make_pipeline(&s, s.shape_root, scaled_vs(), colour_ps(), true, false);
    s.shape_depth = make_pipeline(&s, s.shape_root, scaled_vs(), colour_ps(), true, true);
    s.show = make_pipeline(&s, s.show_root, fullscreen_vs(), texture_ps(), false, false);
    make_buffers(&s);
    make_targets(&s);
    make_rest(&s);
    for (unsigned i = 0; i < frames; i++) {
        if (i == frames / 2)
            app_resize(&s.a, 240, 160);
        frame(&s, i);
    }
    finish(&s);
    printf("%u frames, checksum %016llx\n", frames, (unsigned long long)checksum);
    return 0;
}
