/* SPDX-License-Identifier: MIT */
/* workload_draw.c: the programs of workload.c that draw. */
#include "workload.h"

#include <stdbool.h>

#include <unistd.h>

size_t read_shader(const char *name, void *p, size_t cap)
{
    char path[4096];
    size_t n;
    FILE *f;

    snprintf(path, sizeof(path), "%s/%s", SHADER_DIR, name);
    f = fopen(path, "rb");
    if (!f || !(n = fread(p, 1, cap, f))) {
        fprintf(stderr, "workload: cannot read %s\n", path);
        exit(2);
    }
    fclose(f);
    return n;
}

struct pipeline {
    ID3D12RootSignature *root;
    ID3D12PipelineState *state;
};

static const D3D12_INPUT_ELEMENT_DESC scene_inputs[] = {
    {"POSITION", 0, DXGI_FORMAT_R32G32B32A32_FLOAT, 0, 0, D3D12_INPUT_CLASSIFICATION_PER_VERTEX_DATA, 0},
    {"COLOR", 0, DXGI_FORMAT_R32G32B32A32_FLOAT, 0, 16, D3D12_INPUT_CLASSIFICATION_PER_VERTEX_DATA, 0}};

/* The installed headers end at ID3D12Device1; CreatePipelineState is the slot behind it. */
static void stream_pipeline(struct gpu *g, struct pipeline *p, D3D12_SHADER_BYTECODE vs,
                            D3D12_SHADER_BYTECODE ps)
{
    static const GUID device2 = {
        0x30baa41e, 0xb15b, 0x475c, {0xa0, 0xbb, 0x1a, 0xf5, 0xc5, 0xb6, 0x43, 0x28}};
    struct {
        _Alignas(void *) UINT root_type;
        ID3D12RootSignature *root;
        _Alignas(void *) UINT vs_type;
        D3D12_SHADER_BYTECODE vs;
        _Alignas(void *) UINT topology_type;
        D3D12_PRIMITIVE_TOPOLOGY_TYPE topology;
        _Alignas(void *) UINT ps_type;
        D3D12_SHADER_BYTECODE ps;
        _Alignas(void *) UINT formats_type;
        struct {
            DXGI_FORMAT format[8];
            UINT n;
        } formats;
        _Alignas(void *) UINT raster_type;
        D3D12_RASTERIZER_DESC raster;
        _Alignas(void *) UINT depth_type;
        D3D12_DEPTH_STENCIL_DESC depth;
        _Alignas(void *) UINT input_type;
        D3D12_INPUT_LAYOUT_DESC input;
    } s = {0,  p->root,
           1,  vs,
           14, D3D12_PRIMITIVE_TOPOLOGY_TYPE_TRIANGLE,
           2,  ps,
           15, {{DXGI_FORMAT_R8G8B8A8_UNORM}, 1},
           10, {D3D12_FILL_MODE_SOLID, D3D12_CULL_MODE_NONE, .DepthClipEnable = TRUE},
           11, {0},
           12, {scene_inputs, 2}};
    struct {
        SIZE_T size;
        void *stream;
    } desc = {sizeof(s), &s};
    HRESULT(WINAPI * create)(void *, const void *, const GUID *, void **);
    void **d;

    if (FAILED(ID3D12Device_QueryInterface(g->device, &device2, (void **)&d))) {
        printf("no ID3D12Device2\n");
        exit(77);
    }
    create = (*(void ***)d)[47];
    CHECK(create(d, &desc, &IID_ID3D12PipelineState, (void **)&p->state));
    ID3D12Device_Release((ID3D12Device *)d);
}

static void make_pipeline(struct gpu *g, struct pipeline *p, int stream)
{
    static uint8_t vs[8192], ps[8192];
    D3D12_ROOT_PARAMETER param = {.ParameterType = D3D12_ROOT_PARAMETER_TYPE_CBV};
    D3D12_ROOT_SIGNATURE_DESC rd = {1, &param, 0, NULL,
                                    D3D12_ROOT_SIGNATURE_FLAG_ALLOW_INPUT_ASSEMBLER_INPUT_LAYOUT};
    D3D12_GRAPHICS_PIPELINE_STATE_DESC pd = {.SampleMask = 0xffffffff,
                                             .NumRenderTargets = 1,
                                             .PrimitiveTopologyType = D3D12_PRIMITIVE_TOPOLOGY_TYPE_TRIANGLE,
                                             .RTVFormats = {DXGI_FORMAT_R8G8B8A8_UNORM},
                                             .SampleDesc = {1, 0},
                                             .InputLayout = {scene_inputs, 2}};
    ID3DBlob *blob;

    pd.VS = (D3D12_SHADER_BYTECODE){vs, read_shader("scaled_vs.dxbc", vs, sizeof(vs))};
    pd.PS = (D3D12_SHADER_BYTECODE){ps, read_shader("colour_ps.dxbc", ps, sizeof(ps))};
    pd.RasterizerState.FillMode = D3D12_FILL_MODE_SOLID;
    pd.RasterizerState.CullMode = D3D12_CULL_MODE_NONE;
    pd.BlendState.RenderTarget[0].RenderTargetWriteMask = D3D12_COLOR_WRITE_ENABLE_ALL;
    CHECK(D3D12SerializeRootSignature(&rd, D3D_ROOT_SIGNATURE_VERSION_1, &blob, NULL));
    CHECK(ID3D12Device_CreateRootSignature(g->device, 0, ID3D10Blob_GetBufferPointer(blob),
                                           ID3D10Blob_GetBufferSize(blob), &IID_ID3D12RootSignature,
                                           (void **)&p->root));
    ID3D10Blob_Release(blob);
    if (stream) {
        stream_pipeline(g, p, pd.VS, pd.PS);
        return;
    }
    pd.pRootSignature = p->root;
    CHECK(ID3D12Device_CreateGraphicsPipelineState(g->device, &pd, &IID_ID3D12PipelineState,
                                                   (void **)&p->state));
}

/* The kernel writes into the mapped memory, not the program. */
static void read_into(void *to, const void *bytes, size_t n)
{
    FILE *f = tmpfile();

    if (!f || fwrite(bytes, 1, n, f) != n || fflush(f) || pread(fileno(f), to, n, 0) != (ssize_t)n) {
        perror("workload: reading into mapped memory");
        exit(2);
    }
    fclose(f);
}

static void barrier(struct gpu *g, ID3D12Resource *r, D3D12_RESOURCE_STATES before,
                    D3D12_RESOURCE_STATES after)
{
    D3D12_RESOURCE_BARRIER b = {.Type = D3D12_RESOURCE_BARRIER_TYPE_TRANSITION};

    b.Transition.pResource = r;
    b.Transition.StateBefore = before;
    b.Transition.StateAfter = after;
    ID3D12GraphicsCommandList_ResourceBarrier(g->list, 1, &b);
}

/* Where things are in the scene's upload buffer, and the size of its target. */
enum {
    AT_VERTICES = 4096 + 32,
    AT_CONSTANTS = 8192,
    AT_ARGUMENTS = 12288,
    AT_TEXELS = 16384,
    TEXEL_PITCH = 1024,
    SIDE = 16
};

struct scene {
    struct gpu g;
    struct pipeline pipe;
    ID3D12CommandSignature *signature;
    ID3D12DescriptorHeap *rtvs;
    D3D12_CPU_DESCRIPTOR_HANDLE rtv;
    ID3D12Resource *target, *up, *back;
    uint8_t *p; /* of `up` */
};

static void open_scene(struct scene *s, int stream, int reads)
{
    D3D12_INDIRECT_ARGUMENT_DESC arg = {.Type = D3D12_INDIRECT_ARGUMENT_TYPE_DRAW};
    D3D12_COMMAND_SIGNATURE_DESC sd = {sizeof(D3D12_DRAW_ARGUMENTS), 1, &arg, 0};
    D3D12_DESCRIPTOR_HEAP_DESC hd = {.Type = D3D12_DESCRIPTOR_HEAP_TYPE_RTV, .NumDescriptors = 1};
    D3D12_HEAP_PROPERTIES heap = {.Type = D3D12_HEAP_TYPE_DEFAULT};
    D3D12_RESOURCE_DESC td = {.Dimension = D3D12_RESOURCE_DIMENSION_TEXTURE2D,
                              .Width = SIDE,
                              .Height = SIDE,
                              .DepthOrArraySize = 1,
                              .MipLevels = 1,
                              .Format = DXGI_FORMAT_R8G8B8A8_UNORM,
                              .SampleDesc = {1, 0},
                              .Flags = D3D12_RESOURCE_FLAG_ALLOW_RENDER_TARGET};

    gpu_open(&s->g);
    make_pipeline(&s->g, &s->pipe, stream);
    CHECK(ID3D12Device_CreateDescriptorHeap(s->g.device, &hd, &IID_ID3D12DescriptorHeap, (void **)&s->rtvs));
    CHECK(ID3D12Device_CreateCommittedResource(s->g.device, &heap, D3D12_HEAP_FLAG_NONE, &td,
                                               D3D12_RESOURCE_STATE_COPY_DEST, NULL, &IID_ID3D12Resource,
                                               (void **)&s->target));
    CHECK(ID3D12Device_CreateCommandSignature(s->g.device, &sd, NULL, &IID_ID3D12CommandSignature,
                                              (void **)&s->signature));
    s->rtv = ID3D12DescriptorHeap_GetCPUDescriptorHandleForHeapStart(s->rtvs);
    ID3D12Device_CreateRenderTargetView(s->g.device, s->target, NULL, s->rtv);
    s->up = buffer(&s->g, D3D12_HEAP_TYPE_UPLOAD, 65536);
    s->back = reads ? buffer(&s->g, D3D12_HEAP_TYPE_READBACK, SIDE * 256) : NULL;
    s->p = map(s->up);
}

/* What the frame reads: vertices from a file, constants, the draw's arguments, and texels behind the triangle. */
static void write_frame(struct scene *s, int frame)
{
    static const float triangle[3][8] = {
        {-1, -1, 0, 1, 1, 0, 0, 1}, {0, 1, 0, 1, 0, 1, 0, 1}, {1, -1, 0, 1, 0, 0, 1, 1}};
    const float place[4] = {0.9f - 0.1f * (float)frame, 0.9f, 0.05f * (float)frame, 0};
    const D3D12_DRAW_ARGUMENTS draw = {3, 1, 0, 0};

    read_into(s->p + AT_VERTICES, triangle, sizeof(triangle));
    memcpy(s->p + AT_CONSTANTS + 256 * frame, place, sizeof(place));
    memcpy(s->p + AT_ARGUMENTS, &draw, sizeof(draw));
    for (int y = 0; y < SIDE; y++)
        memset(s->p + AT_TEXELS + TEXEL_PITCH * y, 16 * y + frame, SIDE * 4);
}

/* All that a draw of the frame's triangle needs. */
static void bind_scene(struct scene *s, int frame)
{
    const D3D12_GPU_VIRTUAL_ADDRESS up = ID3D12Resource_GetGPUVirtualAddress(s->up);
    D3D12_VIEWPORT view = {0, 0, SIDE, SIDE, 0, 1};
    D3D12_RECT rect = {0, 0, SIDE, SIDE};
    D3D12_VERTEX_BUFFER_VIEW vb = {up + AT_VERTICES, 3 * 8 * sizeof(float), 8 * sizeof(float)};
    ID3D12GraphicsCommandList *list = s->g.list;

    ID3D12GraphicsCommandList_SetPipelineState(list, s->pipe.state);
    ID3D12GraphicsCommandList_SetGraphicsRootSignature(list, s->pipe.root);
    ID3D12GraphicsCommandList_SetGraphicsRootConstantBufferView(list, 0,
                                                                up + AT_CONSTANTS + 256 * (UINT64)frame);
    ID3D12GraphicsCommandList_OMSetRenderTargets(list, 1, &s->rtv, FALSE, NULL);
    ID3D12GraphicsCommandList_RSSetViewports(list, 1, &view);
    ID3D12GraphicsCommandList_RSSetScissorRects(list, 1, &rect);
    ID3D12GraphicsCommandList_IASetPrimitiveTopology(list, D3D_PRIMITIVE_TOPOLOGY_TRIANGLELIST);
    ID3D12GraphicsCommandList_IASetVertexBuffers(list, 0, 1, &vb);
}

/* What was drawn, to where the program reads it. */
static void copy_out(struct scene *s)
{
    D3D12_TEXTURE_COPY_LOCATION dst = {s->back, D3D12_TEXTURE_COPY_TYPE_PLACED_FOOTPRINT, {{0}}};
    D3D12_TEXTURE_COPY_LOCATION src = {s->target, D3D12_TEXTURE_COPY_TYPE_SUBRESOURCE_INDEX, {{0}}};

    dst.PlacedFootprint.Footprint =
        (D3D12_SUBRESOURCE_FOOTPRINT){DXGI_FORMAT_R8G8B8A8_UNORM, SIDE, SIDE, 1, 256};
    barrier(&s->g, s->target, D3D12_RESOURCE_STATE_RENDER_TARGET, D3D12_RESOURCE_STATE_COPY_SOURCE);
    if (s->back)
        ID3D12GraphicsCommandList_CopyTextureRegion(s->g.list, &dst, 0, 0, 0, &src, NULL);
    barrier(&s->g, s->target, D3D12_RESOURCE_STATE_COPY_SOURCE, D3D12_RESOURCE_STATE_COPY_DEST);
}

/* To the pixel `at`, `at` of the target, which is a place to copy to. */
static void copy_texels(struct scene *s, UINT at, const D3D12_BOX *box)
{
    D3D12_TEXTURE_COPY_LOCATION dst = {s->target, D3D12_TEXTURE_COPY_TYPE_SUBRESOURCE_INDEX, {{0}}};
    D3D12_TEXTURE_COPY_LOCATION src = {s->up, D3D12_TEXTURE_COPY_TYPE_PLACED_FOOTPRINT, {{0}}};

    src.PlacedFootprint.Offset = AT_TEXELS;
    src.PlacedFootprint.Footprint =
        (D3D12_SUBRESOURCE_FOOTPRINT){DXGI_FORMAT_R8G8B8A8_UNORM, SIDE, SIDE, 1, TEXEL_PITCH};
    ID3D12GraphicsCommandList_CopyTextureRegion(s->g.list, &dst, at, at, 0, &src, box);
}

static void draw_frame(struct scene *s, int frame)
{
    copy_texels(s, 0, NULL);
    barrier(&s->g, s->target, D3D12_RESOURCE_STATE_COPY_DEST, D3D12_RESOURCE_STATE_RENDER_TARGET);
    bind_scene(s, frame);
    ID3D12GraphicsCommandList_ExecuteIndirect(s->g.list, s->signature, 1, s->up, AT_ARGUMENTS, NULL, 0);
    copy_out(s);
}

static void close_scene(struct scene *s)
{
    ID3D12Resource_Release(s->up);
    if (s->back)
        ID3D12Resource_Release(s->back);
    ID3D12Resource_Release(s->target);
    ID3D12DescriptorHeap_Release(s->rtvs);
    ID3D12CommandSignature_Release(s->signature);
    ID3D12PipelineState_Release(s->pipe.state);
    ID3D12RootSignature_Release(s->pipe.root);
    gpu_close(&s->g);
}

static void draw_scene(int stream, int reads)
{
    struct scene s;

    open_scene(&s, stream, reads);
    for (int frame = 0; frame < 4; frame++) {
        write_frame(&s, frame);
        draw_frame(&s, frame);
        gpu_run(&s.g);
        if (reads)
            read_back(s.back, SIDE * 256);
    }
    close_scene(&s);
}

void scene(void)
{
    draw_scene(0, 1);
}

void stream(void)
{
    draw_scene(1, 1);
}

void unread(void)
{
    draw_scene(0, 0);
}

/* Fifty draws over the whole target, each through a scissor of one pixel that no other has; their list is executed twice. */
/* Fifty draws of one pixel each, and a copy of one behind them. */
void pixels(void)
{
    const D3D12_BOX texel = {0, 0, 0, 1, 1, 1};
    const float all[4] = {4, 4, 0, 0}, colour[4] = {0, 0, 0.5f, 1};
    struct scene s;

    open_scene(&s, 0, 1);
    write_frame(&s, 0);
    memcpy(s.p + AT_CONSTANTS, all, sizeof(all));
    barrier(&s.g, s.target, D3D12_RESOURCE_STATE_COPY_DEST, D3D12_RESOURCE_STATE_RENDER_TARGET);
    ID3D12GraphicsCommandList_ClearRenderTargetView(s.g.list, s.rtv, colour, 0, NULL);
    bind_scene(&s, 0);
    for (LONG i = 0; i < 50; i++) {
        LONG at = i * 5, x = at % SIDE, y = at / SIDE;
        D3D12_RECT rect = {x, y, x + 1, y + 1};

        ID3D12GraphicsCommandList_RSSetScissorRects(s.g.list, 1, &rect);
        ID3D12GraphicsCommandList_DrawInstanced(s.g.list, 3, 1, 0, 0);
    }
    copy_out(&s);
    copy_texels(&s, SIDE - 1, &texel);
    CHECK(ID3D12GraphicsCommandList_Close(s.g.list));
    for (int i = 0; i < 2; i++) {
        ID3D12CommandQueue_ExecuteCommandLists(s.g.queue, 1, (ID3D12CommandList **)&s.g.list);
        gpu_wait(&s.g);
    }
    read_back(s.back, SIDE * 256);
    close_scene(&s);
}

void queries(void)
{
    D3D12_QUERY_HEAP_DESC qd = {.Type = D3D12_QUERY_HEAP_TYPE_OCCLUSION, .Count = 4};
    ID3D12QueryHeap *heap;
    ID3D12Resource *to, *back;
    struct gpu g;

    gpu_open(&g);
    CHECK(ID3D12Device_CreateQueryHeap(g.device, &qd, &IID_ID3D12QueryHeap, (void **)&heap));
    to = buffer(&g, D3D12_HEAP_TYPE_DEFAULT, 64);
    back = buffer(&g, D3D12_HEAP_TYPE_READBACK, 64);
    for (UINT i = 0; i < 4; i++) {
        ID3D12GraphicsCommandList_BeginQuery(g.list, heap, D3D12_QUERY_TYPE_OCCLUSION, i);
        ID3D12GraphicsCommandList_EndQuery(g.list, heap, D3D12_QUERY_TYPE_OCCLUSION, i);
    }
    ID3D12GraphicsCommandList_ResolveQueryData(g.list, heap, D3D12_QUERY_TYPE_OCCLUSION, 0, 4, to, 0);
    {
        D3D12_RESOURCE_BARRIER b = {.Type = D3D12_RESOURCE_BARRIER_TYPE_TRANSITION};

        b.Transition.pResource = to;
        b.Transition.StateBefore = D3D12_RESOURCE_STATE_COPY_DEST;
        b.Transition.StateAfter = D3D12_RESOURCE_STATE_COPY_SOURCE;
        ID3D12GraphicsCommandList_ResourceBarrier(g.list, 1, &b);
    }
    ID3D12GraphicsCommandList_CopyBufferRegion(g.list, back, 0, to, 0, 32);
    gpu_run(&g);
    read_back(back, 32);
    ID3D12QueryHeap_Release(heap);
    ID3D12Resource_Release(to);
    ID3D12Resource_Release(back);
    gpu_close(&g);
}

/* A target of `format` that is cleared twice through a view of `seen`: of a volume its third slice. */
static void clear_view(struct gpu *g, DXGI_FORMAT format, DXGI_FORMAT seen, bool is_volume,
                       const FLOAT color[4])
{
    D3D12_DESCRIPTOR_HEAP_DESC hd = {.Type = D3D12_DESCRIPTOR_HEAP_TYPE_RTV, .NumDescriptors = 1};
    D3D12_HEAP_PROPERTIES heap = {.Type = D3D12_HEAP_TYPE_DEFAULT};
    D3D12_RESOURCE_DESC td = {.Dimension = is_volume ? D3D12_RESOURCE_DIMENSION_TEXTURE3D
                                                     : D3D12_RESOURCE_DIMENSION_TEXTURE2D,
                              .Width = 16,
                              .Height = 16,
                              .DepthOrArraySize = is_volume ? 4 : 1,
                              .MipLevels = 1,
                              .Format = format,
                              .SampleDesc = {1, 0},
                              .Flags = D3D12_RESOURCE_FLAG_ALLOW_RENDER_TARGET};
    D3D12_RENDER_TARGET_VIEW_DESC vd = {.Format = seen, .ViewDimension = D3D12_RTV_DIMENSION_TEXTURE2D};
    D3D12_CPU_DESCRIPTOR_HANDLE rtv;
    ID3D12DescriptorHeap *rtvs;
    ID3D12Resource *texture;

    if (is_volume) {
        vd.ViewDimension = D3D12_RTV_DIMENSION_TEXTURE3D;
        vd.Texture3D.FirstWSlice = 2;
        vd.Texture3D.WSize = 1;
    }
    CHECK(ID3D12Device_CreateDescriptorHeap(g->device, &hd, &IID_ID3D12DescriptorHeap, (void **)&rtvs));
    CHECK(ID3D12Device_CreateCommittedResource(g->device, &heap, D3D12_HEAP_FLAG_NONE, &td,
                                               D3D12_RESOURCE_STATE_RENDER_TARGET, NULL, &IID_ID3D12Resource,
                                               (void **)&texture));
    rtv = ID3D12DescriptorHeap_GetCPUDescriptorHandleForHeapStart(rtvs);
    ID3D12Device_CreateRenderTargetView(g->device, texture, &vd, rtv);
    ID3D12GraphicsCommandList_ClearRenderTargetView(g->list, rtv, (const FLOAT[4]){0, 0, 0, 1}, 0, NULL);
    ID3D12GraphicsCommandList_ClearRenderTargetView(g->list, rtv, color, 0, NULL);
    gpu_run(g);
    ID3D12Resource_Release(texture);
    ID3D12DescriptorHeap_Release(rtvs);
}

void views(void)
{
    struct gpu g;

    gpu_open(&g);
    clear_view(&g, DXGI_FORMAT_R8G8B8A8_UNORM, DXGI_FORMAT_R8G8B8A8_UNORM, true,
               (const FLOAT[4]){1, 0, 0, 1});
    clear_view(&g, DXGI_FORMAT_R8G8B8A8_TYPELESS, DXGI_FORMAT_R8G8B8A8_UNORM, false,
               (const FLOAT[4]){0, 1, 0, 1});
    clear_view(&g, DXGI_FORMAT_R10G10B10A2_UNORM, DXGI_FORMAT_UNKNOWN, false, (const FLOAT[4]){1, 0, 1, 1});
    clear_view(&g, DXGI_FORMAT_R11G11B10_FLOAT, DXGI_FORMAT_UNKNOWN, false, (const FLOAT[4]){0.5f, 1, 8, 1});
    gpu_close(&g);
}
