/* SPDX-License-Identifier: MIT */
/* compute.c: no window: a copy, a compute and a direct queue that wait for each other; raw, structured and typed views in
 * tables and as root views with offsets; textures; dispatches from the CPU and from a buffer; cleared views; data that
 * the CPU writes into mapped memory for each round. Usage: compute.exe [ROUNDS [tables]]
 *
 * What is computed through descriptor tables is read back only if `tables` is given: Wine 8 cannot bind tables on devices
 * without VK_EXT_descriptor_indexing. */
#include "common.h"

enum { WORDS = 256, BYTES = WORDS * 4, ALIGNED = 256, SIDE = 16, PARTICLES = 64 * 32 };

SHADER(count_typed_cs)
SHADER(sum_raw_cs)
SHADER(ring_structured_cs)
SHADER(swap_structured_cs)
SHADER(picture_raw_cs)
SHADER(transpose_image_cs)

enum {
    COUNT,
    RING,
    SWAP,
    TRANSPOSE,
    TABLE_PIPELINES,
    SUM = TABLE_PIPELINES,
    PICTURE,
    ROOT_RING,
    ROOT_SWAP,
    PIPELINES
};
enum { COPY, COMPUTE, DIRECT, QUEUES };

struct work {
    ID3D12Device *device;
    ID3D12CommandQueue *queue[QUEUES];
    ID3D12CommandAllocator *allocator[QUEUES];
    ID3D12GraphicsCommandList *list[QUEUES];
    ID3D12Fence *fence[QUEUES];
    UINT64 value;
    HANDLE event;
    ID3D12RootSignature *table_root, *view_root;
    ID3D12PipelineState *pipeline[PIPELINES];
    ID3D12DescriptorHeap *heap, *staging;
    ID3D12CommandSignature *dispatch;
    ID3D12Resource *upload, *input, *output, *typed, *ring, *swapped, *particles, *particles_swapped,
        *texture, *target, *arguments, *readback;
    uint8_t *map;
    bool tables;
};

enum { SRV_RING, UAV_COUNT, UAV_RING, UAV_SWAP, SRV_TEXTURE, UAV_TARGET, UAV_CLEAR, VIEWS };
enum {
    READ_OUTPUT = 0,
    READ_PARTICLES = 4096,
    READ_TYPED = 8192,
    READ_SWAP = 12288,
    READ_TARGET = 16384,
    READ_SIZE = 32768
};
enum { UP_WORDS = 0, UP_ARGUMENTS = 4096, UP_TEXTURE = 8192, UP_SIZE = 16384 };

static void make_queues(struct work *w)
{
    static const D3D12_COMMAND_LIST_TYPE types[] = {
        D3D12_COMMAND_LIST_TYPE_COPY, D3D12_COMMAND_LIST_TYPE_COMPUTE, D3D12_COMMAND_LIST_TYPE_DIRECT};

    for (int i = 0; i < QUEUES; i++) {
        w->queue[i] = make_queue(w->device, types[i]);
        CHECK(ID3D12Device_CreateCommandAllocator(w->device, types[i], &IID_ID3D12CommandAllocator,
                                                  (void **)&w->allocator[i]));
        CHECK(ID3D12Device_CreateCommandList(w->device, 0, types[i], w->allocator[i], NULL,
                                             &IID_ID3D12GraphicsCommandList, (void **)&w->list[i]));
        CHECK(ID3D12Device_CreateFence(w->device, 0, D3D12_FENCE_FLAG_NONE, &IID_ID3D12Fence,
                                       (void **)&w->fence[i]));
    }
    w->event = CreateEventA(NULL, TRUE, FALSE, NULL); /* by hand */
}

static void make_roots(struct work *w)
{
    D3D12_DESCRIPTOR_RANGE ranges[] = {{D3D12_DESCRIPTOR_RANGE_TYPE_SRV, 1, 0, 0, 0},
                                       {D3D12_DESCRIPTOR_RANGE_TYPE_UAV, 1, 0, 0, 0}};
    D3D12_ROOT_PARAMETER tables[] = {
        {.ParameterType = D3D12_ROOT_PARAMETER_TYPE_32BIT_CONSTANTS, .Constants = {0, 0, 4}},
        {.ParameterType = D3D12_ROOT_PARAMETER_TYPE_DESCRIPTOR_TABLE, .DescriptorTable = {1, &ranges[0]}},
        {.ParameterType = D3D12_ROOT_PARAMETER_TYPE_DESCRIPTOR_TABLE, .DescriptorTable = {1, &ranges[1]}}};
    D3D12_ROOT_PARAMETER direct[] = {
        {.ParameterType = D3D12_ROOT_PARAMETER_TYPE_32BIT_CONSTANTS, .Constants = {0, 0, 4}},
        {.ParameterType = D3D12_ROOT_PARAMETER_TYPE_SRV},
        {.ParameterType = D3D12_ROOT_PARAMETER_TYPE_UAV}};

    w->table_root = make_root(w->device, (&(D3D12_ROOT_SIGNATURE_DESC){3, tables, 0, NULL, 0}));
    w->view_root = make_root(w->device, (&(D3D12_ROOT_SIGNATURE_DESC){3, direct, 0, NULL, 0}));
}

static void make_pipelines(struct work *w)
{
    const D3D12_SHADER_BYTECODE code[PIPELINES] = {
        count_typed_cs(), ring_structured_cs(), swap_structured_cs(), transpose_image_cs(),
        sum_raw_cs(),     picture_raw_cs(),     ring_structured_cs(), swap_structured_cs()};
    D3D12_INDIRECT_ARGUMENT_DESC argument = {.Type = D3D12_INDIRECT_ARGUMENT_TYPE_DISPATCH};
    D3D12_COMMAND_SIGNATURE_DESC signature = {sizeof(D3D12_DISPATCH_ARGUMENTS), 1, &argument, 0};

    for (int i = 0; i < PIPELINES; i++) {
        D3D12_COMPUTE_PIPELINE_STATE_DESC d = {
            .pRootSignature = i < TABLE_PIPELINES ? w->table_root : w->view_root, .CS = code[i]};

        CHECK(ID3D12Device_CreateComputePipelineState(w->device, &d, &IID_ID3D12PipelineState,
                                                      (void **)&w->pipeline[i]));
    }
    CHECK(ID3D12Device_CreateCommandSignature(w->device, &signature, NULL, &IID_ID3D12CommandSignature,
                                              (void **)&w->dispatch));
}

static ID3D12Resource *storage(struct work *w, UINT64 size)
{
    D3D12_RESOURCE_DESC d = buffer_desc(size, D3D12_RESOURCE_FLAG_ALLOW_UNORDERED_ACCESS);

    return make_resource(w->device, D3D12_HEAP_TYPE_DEFAULT, &d, D3D12_RESOURCE_STATE_UNORDERED_ACCESS, NULL);
}

static void make_resources(struct work *w)
{
    D3D12_RESOURCE_DESC texture = texture_desc(SIDE, SIDE, 1, 1, DXGI_FORMAT_R32_FLOAT, 0);
    D3D12_RESOURCE_DESC target =
        texture_desc(SIDE, SIDE, 1, 1, DXGI_FORMAT_R32_FLOAT, D3D12_RESOURCE_FLAG_ALLOW_UNORDERED_ACCESS);

    w->upload = make_buffer(w->device, D3D12_HEAP_TYPE_UPLOAD, UP_SIZE);
    w->readback = make_buffer(w->device, D3D12_HEAP_TYPE_READBACK, READ_SIZE);
    w->input = make_buffer(w->device, D3D12_HEAP_TYPE_DEFAULT, BYTES);
    w->arguments = make_buffer(w->device, D3D12_HEAP_TYPE_DEFAULT, ALIGNED);
    w->output = storage(w, 4 * BYTES);
    w->typed = storage(w, BYTES);
    w->ring = storage(w, PARTICLES);
    w->swapped = storage(w, PARTICLES);
    w->particles = storage(w, 4 * PARTICLES); /* four groups write it */
    w->particles_swapped = storage(w, PARTICLES);
    w->texture =
        make_resource(w->device, D3D12_HEAP_TYPE_DEFAULT, &texture, D3D12_RESOURCE_STATE_COPY_DEST, NULL);
    w->target = make_resource(w->device, D3D12_HEAP_TYPE_DEFAULT, &target,
                              D3D12_RESOURCE_STATE_UNORDERED_ACCESS, NULL);
    CHECK(ID3D12Resource_Map(w->upload, 0, NULL, (void **)&w->map));
}

static D3D12_CPU_DESCRIPTOR_HANDLE view(struct work *w, UINT i)
{
    return cpu_handle(w->device, w->staging, D3D12_DESCRIPTOR_HEAP_TYPE_CBV_SRV_UAV, i);
}

/* Made in a heap that shaders do not see, and copied to the one that they do. */
static void make_views(struct work *w)
{
    const D3D12_DESCRIPTOR_HEAP_TYPE type = D3D12_DESCRIPTOR_HEAP_TYPE_CBV_SRV_UAV;
    D3D12_SHADER_RESOURCE_VIEW_DESC srv = {.Format = DXGI_FORMAT_UNKNOWN,
                                           .ViewDimension = D3D12_SRV_DIMENSION_BUFFER,
                                           .Shader4ComponentMapping =
                                               D3D12_DEFAULT_SHADER_4_COMPONENT_MAPPING,
                                           .Buffer = {0, 64, 32, 0}};
    D3D12_UNORDERED_ACCESS_VIEW_DESC structured = {.ViewDimension = D3D12_UAV_DIMENSION_BUFFER,
                                                   .Buffer = {0, 64, 32, 0, 0}};
    D3D12_UNORDERED_ACCESS_VIEW_DESC typed = {.Format = DXGI_FORMAT_R32_UINT,
                                              .ViewDimension = D3D12_UAV_DIMENSION_BUFFER,
                                              .Buffer = {0, WORDS, 0, 0, 0}};
    D3D12_UNORDERED_ACCESS_VIEW_DESC raw = {.Format = DXGI_FORMAT_R32_TYPELESS,
                                            .ViewDimension = D3D12_UAV_DIMENSION_BUFFER,
                                            .Buffer = {0, WORDS, 0, 0, D3D12_BUFFER_UAV_FLAG_RAW}};

    w->heap = make_heap(w->device, type, VIEWS, true);
    w->staging = make_heap(w->device, type, VIEWS, false);
    ID3D12Device_CreateShaderResourceView(w->device, w->ring, &srv, view(w, SRV_RING));
    ID3D12Device_CreateShaderResourceView(w->device, w->texture, NULL, view(w, SRV_TEXTURE));
    ID3D12Device_CreateUnorderedAccessView(w->device, w->typed, NULL, &typed, view(w, UAV_COUNT));
    ID3D12Device_CreateUnorderedAccessView(w->device, w->ring, NULL, &structured, view(w, UAV_RING));
    ID3D12Device_CreateUnorderedAccessView(w->device, w->swapped, NULL, &structured, view(w, UAV_SWAP));
    ID3D12Device_CreateUnorderedAccessView(w->device, w->target, NULL, NULL, view(w, UAV_TARGET));
    ID3D12Device_CreateUnorderedAccessView(w->device, w->output, NULL, &raw, view(w, UAV_CLEAR));
    ID3D12Device_CopyDescriptorsSimple(w->device, VIEWS, cpu_handle(w->device, w->heap, type, 0), view(w, 0),
                                       type);
}

static void submit(struct work *w, int q)
{
    CHECK(ID3D12GraphicsCommandList_Close(w->list[q]));
    ID3D12CommandQueue_ExecuteCommandLists(w->queue[q], 1, (ID3D12CommandList *const *)&w->list[q]);
    CHECK(ID3D12CommandQueue_Signal(w->queue[q], w->fence[q], w->value));
}

static void upload(struct work *w, unsigned round)
{
    const D3D12_DISPATCH_ARGUMENTS dispatch = {4, 1, 1};
    D3D12_TEXTURE_COPY_LOCATION src = {
        .pResource = w->upload,
        .Type = D3D12_TEXTURE_COPY_TYPE_PLACED_FOOTPRINT,
        .PlacedFootprint = {UP_TEXTURE, {DXGI_FORMAT_R32_FLOAT, SIDE, SIDE, 1, 256}}};
    D3D12_TEXTURE_COPY_LOCATION dst = {.pResource = w->texture,
                                       .Type = D3D12_TEXTURE_COPY_TYPE_SUBRESOURCE_INDEX};
    ID3D12GraphicsCommandList *l = w->list[COPY];

    for (uint32_t i = 0; i < WORDS; i++)
        ((uint32_t *)w->map)[i] = i * (round + 1);
    for (unsigned i = 0; i < SIDE * SIDE; i++)
        ((float *)(w->map + UP_TEXTURE))[i / SIDE * 64 + i % SIDE] = (float)(i + round);
    memcpy(w->map + UP_ARGUMENTS, &dispatch, sizeof(dispatch));
    ID3D12GraphicsCommandList_CopyBufferRegion(l, w->input, 0, w->upload, UP_WORDS, BYTES);
    ID3D12GraphicsCommandList_CopyBufferRegion(l, w->arguments, 0, w->upload, UP_ARGUMENTS, sizeof(dispatch));
    ID3D12GraphicsCommandList_CopyTextureRegion(l, &dst, 0, 0, 0, &src, NULL);
    submit(w, COPY);
}

static void use(struct work *w, int pipeline, UINT srv, UINT uav)
{
    const D3D12_DESCRIPTOR_HEAP_TYPE type = D3D12_DESCRIPTOR_HEAP_TYPE_CBV_SRV_UAV;
    ID3D12GraphicsCommandList *l = w->list[COMPUTE];

    ID3D12GraphicsCommandList_SetPipelineState(l, w->pipeline[pipeline]);
    ID3D12GraphicsCommandList_SetComputeRootDescriptorTable(l, 1, gpu_handle(w->device, w->heap, type, srv));
    ID3D12GraphicsCommandList_SetComputeRootDescriptorTable(l, 2, gpu_handle(w->device, w->heap, type, uav));
}

static void uav_barrier(ID3D12GraphicsCommandList *l)
{
    ID3D12GraphicsCommandList_ResourceBarrier(
        l, 1, (&(D3D12_RESOURCE_BARRIER){.Type = D3D12_RESOURCE_BARRIER_TYPE_UAV}));
}

static void compute_tables(struct work *w, unsigned round)
{
    const D3D12_RESOURCE_STATES uav = D3D12_RESOURCE_STATE_UNORDERED_ACCESS;
    const D3D12_RESOURCE_STATES srv = D3D12_RESOURCE_STATE_NON_PIXEL_SHADER_RESOURCE;
    ID3D12GraphicsCommandList *l = w->list[COMPUTE];
    const UINT extent[4] = {SIDE, SIDE, round, 0};

    ID3D12GraphicsCommandList_SetDescriptorHeaps(l, 1, &w->heap);
    ID3D12GraphicsCommandList_SetComputeRootSignature(l, w->table_root);
    ID3D12GraphicsCommandList_SetComputeRoot32BitConstants(l, 0, 4, extent, 0);
    use(w, COUNT, SRV_RING, UAV_COUNT);
    ID3D12GraphicsCommandList_ExecuteIndirect(l, w->dispatch, 1, w->arguments, 0, NULL, 0);
    use(w, RING, SRV_RING, UAV_RING);
    ID3D12GraphicsCommandList_Dispatch(l, 1, 1, 1);
    transition(l, w->ring, uav, srv);
    use(w, SWAP, SRV_RING, UAV_SWAP);
    ID3D12GraphicsCommandList_Dispatch(l, 1, 1, 1);
    transition(l, w->ring, srv, uav);
    use(w, TRANSPOSE, SRV_TEXTURE, UAV_TARGET);
    ID3D12GraphicsCommandList_Dispatch(l, 2, 2, 1);
}

static void compute_root_views(struct work *w, unsigned round)
{
    const D3D12_DESCRIPTOR_HEAP_TYPE type = D3D12_DESCRIPTOR_HEAP_TYPE_CBV_SRV_UAV;
    const D3D12_RESOURCE_STATES uav = D3D12_RESOURCE_STATE_UNORDERED_ACCESS;
    const D3D12_RESOURCE_STATES srv = D3D12_RESOURCE_STATE_NON_PIXEL_SHADER_RESOURCE;
    ID3D12GraphicsCommandList *l = w->list[COMPUTE];
    const UINT extent[4] = {SIDE, SIDE, round, 0}, values[4] = {round + 7, 0, 0, 0};

    ID3D12GraphicsCommandList_ClearUnorderedAccessViewUint(l, gpu_handle(w->device, w->heap, type, UAV_CLEAR),
                                                           view(w, UAV_CLEAR), w->output, values, 0, NULL);
    uav_barrier(l);
    ID3D12GraphicsCommandList_SetComputeRootSignature(l, w->view_root);
    ID3D12GraphicsCommandList_SetComputeRoot32BitConstants(l, 0, 4, extent, 0);
    ID3D12GraphicsCommandList_SetPipelineState(l, w->pipeline[SUM]);
    ID3D12GraphicsCommandList_SetComputeRootShaderResourceView(
        l, 1, ID3D12Resource_GetGPUVirtualAddress(w->input) + 256);
    ID3D12GraphicsCommandList_SetComputeRootUnorderedAccessView(
        l, 2, ID3D12Resource_GetGPUVirtualAddress(w->output) + 256);
    ID3D12GraphicsCommandList_Dispatch(l, 1, 1, 1);
    ID3D12GraphicsCommandList_SetPipelineState(l, w->pipeline[PICTURE]);
    ID3D12GraphicsCommandList_SetComputeRootUnorderedAccessView(
        l, 2, ID3D12Resource_GetGPUVirtualAddress(w->output) + 1024);
    ID3D12GraphicsCommandList_Dispatch(l, 2, 2, 1);
    ID3D12GraphicsCommandList_SetPipelineState(l, w->pipeline[ROOT_RING]);
    ID3D12GraphicsCommandList_SetComputeRootUnorderedAccessView(
        l, 2, ID3D12Resource_GetGPUVirtualAddress(w->particles));
    ID3D12GraphicsCommandList_ExecuteIndirect(l, w->dispatch, 1, w->arguments, 0, NULL, 0);
    transition(l, w->particles, uav, srv);
    ID3D12GraphicsCommandList_SetPipelineState(l, w->pipeline[ROOT_SWAP]);
    ID3D12GraphicsCommandList_SetComputeRootShaderResourceView(
        l, 1, ID3D12Resource_GetGPUVirtualAddress(w->particles));
    ID3D12GraphicsCommandList_SetComputeRootUnorderedAccessView(
        l, 2, ID3D12Resource_GetGPUVirtualAddress(w->particles_swapped));
    ID3D12GraphicsCommandList_Dispatch(l, 1, 1, 1);
    transition(l, w->particles, srv, uav);
}

static void read_back(struct work *w)
{
    const D3D12_RESOURCE_STATES uav = D3D12_RESOURCE_STATE_UNORDERED_ACCESS,
                                source = D3D12_RESOURCE_STATE_COPY_SOURCE;
    ID3D12Resource *const all[] = {w->output, w->particles_swapped, w->typed, w->swapped, w->target};
    D3D12_TEXTURE_COPY_LOCATION dst = {
        .pResource = w->readback,
        .Type = D3D12_TEXTURE_COPY_TYPE_PLACED_FOOTPRINT,
        .PlacedFootprint = {READ_TARGET, {DXGI_FORMAT_R32_FLOAT, SIDE, SIDE, 1, 256}}};
    D3D12_TEXTURE_COPY_LOCATION src = {.pResource = w->target,
                                       .Type = D3D12_TEXTURE_COPY_TYPE_SUBRESOURCE_INDEX};
    ID3D12GraphicsCommandList *l = w->list[DIRECT];

    for (int i = 0; i < 5; i++)
        transition(l, all[i], uav, source);
    ID3D12GraphicsCommandList_CopyBufferRegion(l, w->readback, READ_OUTPUT, w->output, 0, 4 * 512);
    ID3D12GraphicsCommandList_CopyBufferRegion(l, w->readback, READ_PARTICLES, w->particles_swapped, 0,
                                               PARTICLES);
    if (w->tables) {
        ID3D12GraphicsCommandList_CopyBufferRegion(l, w->readback, READ_TYPED, w->typed, 0, BYTES);
        ID3D12GraphicsCommandList_CopyBufferRegion(l, w->readback, READ_SWAP, w->swapped, 0, PARTICLES);
        ID3D12GraphicsCommandList_CopyTextureRegion(l, &dst, 0, 0, 0, &src, NULL);
    }
    for (int i = 0; i < 5; i++)
        transition(l, all[i], source, uav);
    submit(w, DIRECT);
}

static void wait_for(struct work *w)
{
    CHECK(ID3D12Fence_SetEventOnCompletion(w->fence[DIRECT], w->value, w->event));
    WaitForMultipleObjects(1, &w->event, TRUE, INFINITE);
    ResetEvent(w->event);
}

static void round_trip(struct work *w, unsigned round)
{
    w->value++;
    upload(w, round);
    CHECK(ID3D12CommandQueue_Wait(w->queue[COMPUTE], w->fence[COPY], w->value));
    compute_tables(w, round);
    compute_root_views(w, round);
    submit(w, COMPUTE);
    CHECK(ID3D12CommandQueue_Wait(w->queue[DIRECT], w->fence[COMPUTE], w->value));
    read_back(w);
    CHECK(ID3D12CommandQueue_Wait(w->queue[COPY], w->fence[DIRECT], w->value));
    wait_for(w);
    mix_readback(w->readback, READ_SIZE);
    for (int i = 0; i < QUEUES; i++) {
        CHECK(ID3D12CommandAllocator_Reset(w->allocator[i]));
        CHECK(ID3D12GraphicsCommandList_Reset(w->list[i], w->allocator[i], NULL));
    }
}

int main(int argc, char **argv)
{
    unsigned rounds = argc > 1 ? (unsigned)atoi(argv[1]) : 5;
    struct work w = {.tables = argc > 2};

    w.device = make_device();
    make_queues(&w);
    make_roots(&w);
    make_pipelines(&w);
    make_resources(&w);
    make_views(&w);
    zero_readback(w.readback, READ_SIZE);
    for (unsigned i = 0; i < rounds; i++)
        round_trip(&w, i);
    printf("%u rounds, checksum %016llx\n", rounds, (unsigned long long)checksum);
    return 0; /* everything is released by ending */
}
