/* SPDX-License-Identifier: MIT */
/* d3d12_scene.c: frames of many draws that threads record, with memory that is written in between (d3d12_scene.h). */
#include "d3d12_scene.h"

#include <limits.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "bench.h"
#include "record/dirty/dirty.h"

enum { DRAWS = 5000, RECORDERS = 4, FRAMES = SCENE_FRAMES, MAPPED = 8 << 20 };

struct scene {
    ID3D12Device *device;
    ID3D12CommandQueue *queue;
    ID3D12RootSignature *root;
    ID3D12PipelineState *pipeline;
    ID3D12DescriptorHeap *views, *targets;
    ID3D12Resource *target;
    D3D12_CPU_DESCRIPTOR_HANDLE target_view;
    D3D12_GPU_DESCRIPTOR_HANDLE table;
    UINT step;
    unsigned frame;
};

struct recorder {
    struct scene *s;
    ID3D12CommandAllocator *allocator;
    ID3D12GraphicsCommandList *list;
};

static void *record_draws(void *arg)
{
    D3D12_VIEWPORT view = {0, 0, 4, 4, 0, 1};
    D3D12_RECT rect = {0, 0, 4, 4};
    struct recorder *r = arg;
    struct scene *s = r->s;
    ID3D12GraphicsCommandList *l = r->list;

    ID3D12CommandAllocator_Reset(r->allocator);
    ID3D12GraphicsCommandList_Reset(l, r->allocator, s->pipeline);
    ID3D12GraphicsCommandList_SetDescriptorHeaps(l, 1, &s->views);
    ID3D12GraphicsCommandList_SetGraphicsRootSignature(l, s->root);
    ID3D12GraphicsCommandList_OMSetRenderTargets(l, 1, &s->target_view, FALSE, NULL);
    ID3D12GraphicsCommandList_RSSetViewports(l, 1, &view);
    ID3D12GraphicsCommandList_RSSetScissorRects(l, 1, &rect);
    ID3D12GraphicsCommandList_IASetPrimitiveTopology(l, D3D_PRIMITIVE_TOPOLOGY_TRIANGLELIST);
    for (unsigned i = 0; i < DRAWS / RECORDERS; i++) {
        float constants[4] = {(float)i, (float)s->frame, 0.5f, 1.0f};
        D3D12_GPU_DESCRIPTOR_HANDLE table = {s->table.ptr + (UINT64)(i % 1000) * s->step};

        ID3D12GraphicsCommandList_SetGraphicsRoot32BitConstants(l, 0, 4, constants, 0);
        ID3D12GraphicsCommandList_SetGraphicsRootDescriptorTable(l, 1, table);
        ID3D12GraphicsCommandList_DrawInstanced(l, 3, 1, 0, 0);
    }
    ID3D12GraphicsCommandList_Close(l);
    return NULL;
}

static size_t read_shader(const char *name, void *p, size_t cap)
{
    char path[4096];
    size_t n;
    FILE *f;

    snprintf(path, sizeof(path), "%s/samples/shaders/%s", AEROGPU_SOURCE_DIR, name);
    f = fopen(path, "rb");
    if (!f)
        return 0;
    n = fread(p, 1, cap, f);
    fclose(f);
    return n;
}

static int scene_make(struct scene *s)
{
    D3D12_DESCRIPTOR_RANGE range = {
        .RangeType = D3D12_DESCRIPTOR_RANGE_TYPE_CBV, .NumDescriptors = 1, .BaseShaderRegister = 9};
    D3D12_ROOT_PARAMETER params[2] = {{.ParameterType = D3D12_ROOT_PARAMETER_TYPE_32BIT_CONSTANTS},
                                      {.ParameterType = D3D12_ROOT_PARAMETER_TYPE_DESCRIPTOR_TABLE}};
    D3D12_ROOT_SIGNATURE_DESC rd = {2, params, 0, NULL,
                                    D3D12_ROOT_SIGNATURE_FLAG_ALLOW_INPUT_ASSEMBLER_INPUT_LAYOUT};
    D3D12_DESCRIPTOR_HEAP_DESC hd = {D3D12_DESCRIPTOR_HEAP_TYPE_CBV_SRV_UAV, 1000,
                                     D3D12_DESCRIPTOR_HEAP_FLAG_SHADER_VISIBLE, 0};
    D3D12_DESCRIPTOR_HEAP_DESC td = {D3D12_DESCRIPTOR_HEAP_TYPE_RTV, 1, D3D12_DESCRIPTOR_HEAP_FLAG_NONE, 0};
    D3D12_HEAP_PROPERTIES heap = {.Type = D3D12_HEAP_TYPE_DEFAULT};
    D3D12_RESOURCE_DESC rt = {.Dimension = D3D12_RESOURCE_DIMENSION_TEXTURE2D,
                              .Width = 4,
                              .Height = 4,
                              .DepthOrArraySize = 1,
                              .MipLevels = 1,
                              .Format = DXGI_FORMAT_R8G8B8A8_UNORM,
                              .SampleDesc = {1, 0},
                              .Flags = D3D12_RESOURCE_FLAG_ALLOW_RENDER_TARGET};
    D3D12_GRAPHICS_PIPELINE_STATE_DESC pd = {.SampleMask = UINT_MAX,
                                             .PrimitiveTopologyType = D3D12_PRIMITIVE_TOPOLOGY_TYPE_TRIANGLE,
                                             .NumRenderTargets = 1,
                                             .RTVFormats = {DXGI_FORMAT_R8G8B8A8_UNORM},
                                             .SampleDesc = {1, 0}};
    static const D3D12_INPUT_ELEMENT_DESC inputs[] = {
        {"POSITION", 0, DXGI_FORMAT_R32G32B32A32_FLOAT, 0, 0, D3D12_INPUT_CLASSIFICATION_PER_VERTEX_DATA, 0},
        {"COLOR", 0, DXGI_FORMAT_R32G32B32A32_FLOAT, 0, 16, D3D12_INPUT_CLASSIFICATION_PER_VERTEX_DATA, 0}};
    D3D12_COMMAND_QUEUE_DESC qd = {.Type = D3D12_COMMAND_LIST_TYPE_DIRECT};
    static uint8_t vs[8192], ps[8192];
    ID3DBlob *blob = NULL;

    params[0].Constants = (D3D12_ROOT_CONSTANTS){8, 0, 4};
    params[1].DescriptorTable = (D3D12_ROOT_DESCRIPTOR_TABLE){1, &range};
    pd.VS = (D3D12_SHADER_BYTECODE){vs, read_shader("colour_vs.dxbc", vs, sizeof(vs))};
    pd.PS = (D3D12_SHADER_BYTECODE){ps, read_shader("colour_ps.dxbc", ps, sizeof(ps))};
    pd.InputLayout = (D3D12_INPUT_LAYOUT_DESC){inputs, 2};
    pd.RasterizerState.FillMode = D3D12_FILL_MODE_SOLID;
    pd.RasterizerState.CullMode = D3D12_CULL_MODE_NONE;
    pd.BlendState.RenderTarget[0].RenderTargetWriteMask = D3D12_COLOR_WRITE_ENABLE_ALL;
    if (FAILED(D3D12CreateDevice(NULL, D3D_FEATURE_LEVEL_11_0, &IID_ID3D12Device, (void **)&s->device)) ||
        FAILED(
            ID3D12Device_CreateCommandQueue(s->device, &qd, &IID_ID3D12CommandQueue, (void **)&s->queue)) ||
        FAILED(D3D12SerializeRootSignature(&rd, D3D_ROOT_SIGNATURE_VERSION_1, &blob, NULL)) ||
        FAILED(ID3D12Device_CreateRootSignature(s->device, 0, ID3D10Blob_GetBufferPointer(blob),
                                                ID3D10Blob_GetBufferSize(blob), &IID_ID3D12RootSignature,
                                                (void **)&s->root)))
        return 1;
    pd.pRootSignature = s->root;
    if (FAILED(ID3D12Device_CreateGraphicsPipelineState(s->device, &pd, &IID_ID3D12PipelineState,
                                                        (void **)&s->pipeline)) ||
        FAILED(ID3D12Device_CreateDescriptorHeap(s->device, &hd, &IID_ID3D12DescriptorHeap,
                                                 (void **)&s->views)) ||
        FAILED(ID3D12Device_CreateDescriptorHeap(s->device, &td, &IID_ID3D12DescriptorHeap,
                                                 (void **)&s->targets)) ||
        FAILED(ID3D12Device_CreateCommittedResource(s->device, &heap, D3D12_HEAP_FLAG_NONE, &rt,
                                                    D3D12_RESOURCE_STATE_RENDER_TARGET, NULL,
                                                    &IID_ID3D12Resource, (void **)&s->target)))
        return 1;
    s->target_view = ID3D12DescriptorHeap_GetCPUDescriptorHandleForHeapStart(s->targets);
    ID3D12Device_CreateRenderTargetView(s->device, s->target, NULL, s->target_view);
    s->table = ID3D12DescriptorHeap_GetGPUDescriptorHandleForHeapStart(s->views);
    s->step =
        ID3D12Device_GetDescriptorHandleIncrementSize(s->device, D3D12_DESCRIPTOR_HEAP_TYPE_CBV_SRV_UAV);
    return 0;
}

ID3D12Resource *scene_buffer(ID3D12Device *device, D3D12_HEAP_TYPE type, UINT64 size)
{
    D3D12_HEAP_PROPERTIES heap = {.Type = type};
    D3D12_RESOURCE_DESC desc = {.Dimension = D3D12_RESOURCE_DIMENSION_BUFFER,
                                .Width = size,
                                .Height = 1,
                                .DepthOrArraySize = 1,
                                .MipLevels = 1,
                                .SampleDesc = {1, 0},
                                .Layout = D3D12_TEXTURE_LAYOUT_ROW_MAJOR};
    ID3D12Resource *r = NULL;

    ID3D12Device_CreateCommittedResource(device, &heap, D3D12_HEAP_FLAG_NONE, &desc,
                                         type == D3D12_HEAP_TYPE_UPLOAD ? D3D12_RESOURCE_STATE_GENERIC_READ
                                                                        : D3D12_RESOURCE_STATE_COPY_DEST,
                                         NULL, &IID_ID3D12Resource, (void **)&r);
    return r;
}

HRESULT scene_list(ID3D12Device *device, ID3D12CommandAllocator **allocator, ID3D12GraphicsCommandList **list)
{
    HRESULT hr = ID3D12Device_CreateCommandAllocator(device, D3D12_COMMAND_LIST_TYPE_DIRECT,
                                                     &IID_ID3D12CommandAllocator, (void **)allocator);

    return FAILED(hr) ? hr
                      : ID3D12Device_CreateCommandList(device, 0, D3D12_COMMAND_LIST_TYPE_DIRECT, *allocator,
                                                       NULL, &IID_ID3D12GraphicsCommandList, (void **)list);
}

static int draw_views(struct scene *s, ID3D12Resource **up, uint8_t **p)
{
    D3D12_CPU_DESCRIPTOR_HANDLE h = ID3D12DescriptorHeap_GetCPUDescriptorHandleForHeapStart(s->views);

    if (!(*up = scene_buffer(s->device, D3D12_HEAP_TYPE_UPLOAD, MAPPED)) ||
        FAILED(ID3D12Resource_Map(*up, 0, NULL, (void **)p)))
        return 1;
    for (UINT i = 0; i < 1000; i++) {
        D3D12_CONSTANT_BUFFER_VIEW_DESC cbv = {ID3D12Resource_GetGPUVirtualAddress(*up) + i * 4096, 256};
        D3D12_CPU_DESCRIPTOR_HANDLE at = {h.ptr + i * s->step};

        ID3D12Device_CreateConstantBufferView(s->device, &cbv, at);
    }
    return 0;
}

/* Prints microseconds of process CPU time a frame: five thousand draws by four threads, 5 % of 8 MiB written. */
int scene_draws(void)
{
    struct recorder r[RECORDERS];
    ID3D12CommandList *lists[RECORDERS];
    ID3D12Resource *up;
    ID3D12Fence *fence;
    struct scene s = {0};
    double us[FRAMES];
    uint8_t *p;

    if (scene_make(&s) || draw_views(&s, &up, &p) ||
        FAILED(
            ID3D12Device_CreateFence(s.device, 0, D3D12_FENCE_FLAG_NONE, &IID_ID3D12Fence, (void **)&fence)))
        return 1;
    for (int i = 0; i < RECORDERS; i++) {
        r[i].s = &s;
        if (FAILED(scene_list(s.device, &r[i].allocator, &r[i].list)))
            return 1;
        ID3D12GraphicsCommandList_Close(r[i].list);
        lists[i] = (ID3D12CommandList *)r[i].list;
    }
    memset(p, 1, MAPPED);
    for (s.frame = 0; s.frame < FRAMES; s.frame++) {
        struct timespec a, b;
        pthread_t t[RECORDERS];

        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &a);
        for (unsigned i = 0; i < MAPPED / DIRTY_PAGE / 20; i++)
            memset(p + ((i * 37 + s.frame * 11) % (MAPPED / DIRTY_PAGE)) * DIRTY_PAGE, (int)(s.frame + i),
                   256);
        for (int i = 0; i < RECORDERS; i++)
            pthread_create(&t[i], NULL, record_draws, &r[i]);
        for (int i = 0; i < RECORDERS; i++)
            pthread_join(t[i], NULL);
        ID3D12CommandQueue_ExecuteCommandLists(s.queue, RECORDERS, lists);
        ID3D12CommandQueue_Signal(s.queue, fence, s.frame + 1);
        while (ID3D12Fence_GetCompletedValue(fence) <= s.frame)
            usleep(500);
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &b);
        us[s.frame] = (double)(b.tv_sec - a.tv_sec) * 1e6 + (double)(b.tv_nsec - a.tv_nsec) / 1e3;
    }
    printf("%.1f\n",
           bench_quantile(us + 5, FRAMES - 5, 0.25)); /* the same: what disturbs a frame only adds */
    fflush(stdout);
    _exit(0);
}
