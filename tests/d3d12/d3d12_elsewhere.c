/* SPDX-License-Identifier: MIT */
/* d3d12_elsewhere.c: programs whose calls mean something else on another device, over the stub.
 *   indirect   GPU addresses in argument buffers: in upload memory, copied from there, changed by half
 *   written    an argument buffer that shaders may write
 *   null       what an implementation may crash at
 *   placed     resources next to each other in a heap, one of them over two others
 *   instances  a draw that begins behind the first vertex and the first instance
 *   rays       a state object, acceleration structures and rays through them
 *   crowd      more threads at once than there is room for what they record
 *   six        shaders of model 6, with constants: a dispatch, rays, and a draw */
#include <malloc.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "d3d12/gen/table.h"
#include "d3d12_api.h"

HRESULT vkd3d_create_device(const void *info, const GUID *iid, void **out);
#define IID(name) ((const GUID *)&d12_ifaces[D12_IFACE_##name].iid)

static ID3D12Device *device;
static ID3D12CommandQueue *queue;
static ID3D12GraphicsCommandList *list;

static D3D12_RESOURCE_DESC buffer_desc(uint64_t size, D3D12_RESOURCE_FLAGS flags)
{
    return (D3D12_RESOURCE_DESC){.Dimension = D3D12_RESOURCE_DIMENSION_BUFFER,
                                 .Width = size,
                                 .Height = 1,
                                 .DepthOrArraySize = 1,
                                 .MipLevels = 1,
                                 .SampleDesc = {1, 0},
                                 .Layout = D3D12_TEXTURE_LAYOUT_ROW_MAJOR,
                                 .Flags = flags};
}

static ID3D12Resource *buffer(D3D12_HEAP_TYPE type, D3D12_RESOURCE_FLAGS flags)
{
    D3D12_HEAP_PROPERTIES heap = {.Type = type};
    D3D12_RESOURCE_DESC d = buffer_desc(65536, flags);
    ID3D12Resource *r = NULL;

    device->lpVtbl->CreateCommittedResource(device, &heap, 0, &d, 0, NULL, IID(ID3D12Resource), (void **)&r);
    return r;
}

static void submit(void)
{
    ID3D12CommandList *l = (ID3D12CommandList *)list;

    queue->lpVtbl->ExecuteCommandLists(queue, 1, &l);
}

struct command {
    D3D12_VERTEX_BUFFER_VIEW vertices;
    D3D12_GPU_VIRTUAL_ADDRESS constants;
    UINT draw[4], unused[2];
};

static ID3D12CommandSignature *signature(void)
{
    D3D12_INDIRECT_ARGUMENT_DESC args[3] = {{.Type = D3D12_INDIRECT_ARGUMENT_TYPE_VERTEX_BUFFER_VIEW},
                                            {.Type = D3D12_INDIRECT_ARGUMENT_TYPE_CONSTANT_BUFFER_VIEW},
                                            {.Type = D3D12_INDIRECT_ARGUMENT_TYPE_DRAW}};
    D3D12_COMMAND_SIGNATURE_DESC d = {
        .ByteStride = sizeof(struct command), .NumArgumentDescs = 3, .pArgumentDescs = args};
    ID3D12CommandSignature *s = NULL;

    device->lpVtbl->CreateCommandSignature(device, &d, NULL, IID(ID3D12CommandSignature), (void **)&s);
    return s;
}

static void indirect(D3D12_RESOURCE_FLAGS flags)
{
    ID3D12Resource *upload = buffer(D3D12_HEAP_TYPE_UPLOAD, 0), *first = buffer(D3D12_HEAP_TYPE_DEFAULT, 0),
                   *second = buffer(D3D12_HEAP_TYPE_DEFAULT, 0),
                   *third = buffer(D3D12_HEAP_TYPE_DEFAULT, flags);
    uint64_t a = first->lpVtbl->GetGPUVirtualAddress(first), b = second->lpVtbl->GetGPUVirtualAddress(second);
    struct command *c;
    uint8_t *p;

    upload->lpVtbl->Map(upload, 0, NULL, (void **)&p);
    c = (struct command *)(p + 256);
    c[0] = (struct command){{a + 64, 1024, 16}, b, {3, 1, 0, 0}};
    c[1] = (struct command){{b + 4096, 1024, 16}, a + 512, {3, 1, 0, 0}};
    ((uint64_t *)p)[0] = a; /* not an argument: stays as it is */
    submit();
    /* copied before anybody could know what it is for */
    list->lpVtbl->CopyBufferRegion(list, third, 16, upload, 256, 2 * sizeof(*c));
    submit();
    ID3D12CommandSignature *s = signature();
    list->lpVtbl->ExecuteIndirect(list, s, 2, third, 16, NULL, 0);
    list->lpVtbl->ExecuteIndirect(list, s, 1, upload, 256, NULL, 0);
    submit();
    for (int frame = 0; frame < 3; frame++) {
        memcpy(&c[0].vertices, &(uint32_t){(uint32_t)(64 * frame)}, 4); /* the lower half only */
        c[1].constants = frame == 1 ? 0 : frame == 2 ? b + 8 : a;
        submit();
        list->lpVtbl->CopyBufferRegion(list, third, 1024, upload, 256, 2 * sizeof(*c));
        list->lpVtbl->ExecuteIndirect(list, s, 2, third, 1024, NULL, 0);
        list->lpVtbl->ExecuteIndirect(list, s, 2, upload, 256, NULL, 0);
        submit();
    }
}

static void placed(void)
{
    D3D12_HEAP_DESC d = {.SizeInBytes = 458752, .Properties = {.Type = D3D12_HEAP_TYPE_DEFAULT}};
    static const struct {
        uint64_t at, size;
    } places[] = {{0, 65536}, {65536, 262144}, {65536, 65536}, {131072, 65536}, {196608, 65536}};
    ID3D12Heap *heap = NULL;

    device->lpVtbl->CreateHeap(device, &d, IID(ID3D12Heap), (void **)&heap);
    D3D12_HEAP_PROPERTIES custom = {.Type = D3D12_HEAP_TYPE_CUSTOM,
                                    .CPUPageProperty = D3D12_CPU_PAGE_PROPERTY_NOT_AVAILABLE,
                                    .MemoryPoolPreference = D3D12_MEMORY_POOL_L1};
    D3D12_RESOURCE_DESC small = buffer_desc(256, 0);
    void *made = NULL;

    device->lpVtbl->CreateCommittedResource(device, &custom, 0, &small, 0, NULL, IID(ID3D12Resource), &made);
    for (int i = 0; i < 5; i++) {
        D3D12_RESOURCE_DESC r = buffer_desc(places[i].size, 0);
        void *out = NULL;

        device->lpVtbl->CreatePlacedResource(device, heap, places[i].at, &r, 0, NULL, IID(ID3D12Resource),
                                             &out);
    }
}

/* A list that the stub's device never gets done with, after others that it does. */
static void hang(ID3D12CommandAllocator *allocator)
{
    for (int i = 0; i < 10; i++) {
        list->lpVtbl->DrawInstanced(list, i == 7 ? 666 : 3, 1, 0, 0);
        list->lpVtbl->Close(list);
        queue->lpVtbl->ExecuteCommandLists(queue, 1, (ID3D12CommandList *const *)&list);
        list->lpVtbl->Reset(list, allocator, NULL);
    }
}

/* Two vertices from the second on, of instances from the third on; by the pipeline that the list was made with. */
static void instances(ID3D12CommandAllocator *allocator)
{
    static const D3D12_INPUT_ELEMENT_DESC in[] = {
        {"POSITION", 0, DXGI_FORMAT_R32G32_FLOAT, 0, 0, D3D12_INPUT_CLASSIFICATION_PER_VERTEX_DATA, 0},
        {"OFFSET", 0, DXGI_FORMAT_R32G32_FLOAT, 1, 0, D3D12_INPUT_CLASSIFICATION_PER_INSTANCE_DATA, 1}};
    static const float vertices[] = {0, 1, 10, 11, 20, 21}, offsets[] = {100, 101, 102, 103, 104, 105};
    D3D12_GRAPHICS_PIPELINE_STATE_DESC d = {.InputLayout = {in, 2}};
    ID3D12Resource *b = buffer(D3D12_HEAP_TYPE_UPLOAD, 0);
    D3D12_GPU_VIRTUAL_ADDRESS va = b->lpVtbl->GetGPUVirtualAddress(b);
    D3D12_VERTEX_BUFFER_VIEW views[] = {{va, sizeof(vertices), 8}, {va + 256, sizeof(offsets), 8}};
    ID3D12PipelineState *state = NULL;
    uint8_t *p = NULL;

    device->lpVtbl->CreateGraphicsPipelineState(device, &d, IID(ID3D12PipelineState), (void **)&state);
    b->lpVtbl->Map(b, 0, NULL, (void **)&p);
    memcpy(p, vertices, sizeof(vertices));
    memcpy(p + 256, offsets, sizeof(offsets));
    device->lpVtbl->CreateCommandList(device, 0, 0, allocator, state, IID(ID3D12GraphicsCommandList),
                                      (void **)&list);
    list->lpVtbl->IASetVertexBuffers(list, 0, 2, views);
    list->lpVtbl->DrawInstanced(list, 2, 1, 1, 2);
    list->lpVtbl->Close(list);
    submit();
}

static void trace_rays(ID3D12Resource *b, ID3D12StateObject *object)
{
    D3D12_GPU_VIRTUAL_ADDRESS va = b->lpVtbl->GetGPUVirtualAddress(b);
    D3D12_RAYTRACING_GEOMETRY_DESC boxes = {.Type = D3D12_RAYTRACING_GEOMETRY_TYPE_PROCEDURAL_PRIMITIVE_AABBS,
                                            .AABBs = {7, {va + 512, 24}}};
    D3D12_RAYTRACING_GEOMETRY_DESC triangles = {.Type = D3D12_RAYTRACING_GEOMETRY_TYPE_TRIANGLES,
                                                .Triangles = {.VertexCount = 33,
                                                              .VertexFormat = DXGI_FORMAT_R32G32B32_FLOAT,
                                                              .VertexBuffer = {va + 1024, 12}}};
    const D3D12_RAYTRACING_GEOMETRY_DESC *pointers[] = {&triangles, &boxes};
    D3D12_BUILD_RAYTRACING_ACCELERATION_STRUCTURE_DESC bottom = {
        .DestAccelerationStructureData = va + 4096,
        .Inputs = {.Type = D3D12_RAYTRACING_ACCELERATION_STRUCTURE_TYPE_BOTTOM_LEVEL,
                   .NumDescs = 2,
                   .DescsLayout = D3D12_ELEMENTS_LAYOUT_ARRAY_OF_POINTERS,
                   .ppGeometryDescs = pointers},
        .ScratchAccelerationStructureData = va + 8192};
    D3D12_BUILD_RAYTRACING_ACCELERATION_STRUCTURE_DESC top = {
        .DestAccelerationStructureData = va + 12288,
        .Inputs = {.Type = D3D12_RAYTRACING_ACCELERATION_STRUCTURE_TYPE_TOP_LEVEL,
                   .NumDescs = 5,
                   .InstanceDescs = va + 16384}};
    D3D12_DISPATCH_RAYS_DESC rays = {.RayGenerationShaderRecord = {va + 20480, 32},
                                     .HitGroupTable = {va + 24576, 64, 32},
                                     .Width = 640,
                                     .Height = 480,
                                     .Depth = 1};
    ID3D12GraphicsCommandList4 *l = NULL;

    list->lpVtbl->QueryInterface(list, IID(ID3D12GraphicsCommandList4), (void **)&l);
    l->lpVtbl->BuildRaytracingAccelerationStructure(l, &bottom, 0, NULL);
    l->lpVtbl->BuildRaytracingAccelerationStructure(l, &top, 0, NULL);
    l->lpVtbl->SetPipelineState1(l, object);
    l->lpVtbl->DispatchRays(l, &rays);
}

static void rays(void)
{
    static const uint8_t library[] = "DXBC and so on";
    static const WCHAR closest[] = {'h', 'i', 't', 0}, group[] = {'g', 'r', 'o', 'u', 'p', 0};
    D3D12_EXPORT_DESC export = {.Name = closest};
    D3D12_DXIL_LIBRARY_DESC dxil = {{library, sizeof(library)}, 1, &export};
    D3D12_HIT_GROUP_DESC hit = {.HitGroupExport = group, .ClosestHitShaderImport = closest};
    D3D12_RAYTRACING_SHADER_CONFIG config = {16, 8};
    LPCWSTR exports[] = {group};
    D3D12_STATE_SUBOBJECT parts[5] = {{D3D12_STATE_SUBOBJECT_TYPE_DXIL_LIBRARY, &dxil},
                                      {D3D12_STATE_SUBOBJECT_TYPE_HIT_GROUP, &hit},
                                      {D3D12_STATE_SUBOBJECT_TYPE_RAYTRACING_SHADER_CONFIG, &config}};
    D3D12_SUBOBJECT_TO_EXPORTS_ASSOCIATION ties = {&parts[2], 1, exports},
                                           astray = {&(D3D12_STATE_SUBOBJECT){0}, 0, NULL};
    D3D12_STATE_OBJECT_DESC d = {D3D12_STATE_OBJECT_TYPE_RAYTRACING_PIPELINE, 5, parts};
    ID3D12StateObject *object = NULL;
    ID3D12Device5 *d5 = NULL;

    device->lpVtbl->QueryInterface(device, IID(ID3D12Device5), (void **)&d5);
    parts[3] = (D3D12_STATE_SUBOBJECT){D3D12_STATE_SUBOBJECT_TYPE_SUBOBJECT_TO_EXPORTS_ASSOCIATION, &ties};
    parts[4] = (D3D12_STATE_SUBOBJECT){D3D12_STATE_SUBOBJECT_TYPE_SUBOBJECT_TO_EXPORTS_ASSOCIATION, &astray};
    if (d5->lpVtbl->CreateStateObject(d5, &d, IID(ID3D12StateObject), (void **)&object) >= 0)
        trace_rays(buffer(D3D12_HEAP_TYPE_DEFAULT, 0), object);
}

enum { CROWD = 120 };
static pthread_barrier_t all_there;

static void *one_of_many(void *arg)
{
    for (int round = 0; round < 3; round++) {
        pthread_barrier_wait(&all_there);
        for (int i = 0; i < 5; i++) {
            ID3D12Fence *f = NULL;

            device->lpVtbl->CreateFence(device, 0, D3D12_FENCE_FLAG_NONE, IID(ID3D12Fence), (void **)&f);
            f->lpVtbl->Signal(f, (UINT64)i);
            f->lpVtbl->Release(f);
        }
    }
    return arg;
}

/* None of the threads ends before all have made their calls, and no other memory of the recorder's can be mapped. */
static void crowd(void)
{
    pthread_t threads[CROWD];
    pthread_attr_t small;
    struct rlimit limit;
    unsigned long pages = 0;
    FILE *f;

    mallopt(M_ARENA_MAX, 1); /* others reserve what there is not */
    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, 64 << 10);
    pthread_barrier_init(&all_there, NULL, CROWD + 1);
    for (int i = 0; i < CROWD; i++)
        if (pthread_create(&threads[i], &small, one_of_many, NULL))
            exit(3);
    f = fopen("/proc/self/statm", "r");
    if (!f || fscanf(f, "%lu", &pages) != 1)
        exit(3);
    fclose(f);
    limit.rlim_cur = limit.rlim_max = 4096 * pages + (16 << 20);
    setrlimit(RLIMIT_AS, &limit);
    for (int round = 0; round < 3; round++)
        pthread_barrier_wait(&all_there);
    for (int i = 0; i < CROWD; i++)
        pthread_join(threads[i], NULL);
}

static const void *shader(const char *name, size_t *size)
{
    static uint8_t bytes[4][1 << 16];
    static int next;
    char path[4096];
    FILE *f;

    snprintf(path, sizeof(path), "%s/samples/shaders/%s", getenv("AEROGPU_SOURCE_ROOT"), name);
    f = fopen(path, "rb");
    *size = f ? fread(bytes[next], 1, sizeof(bytes[0]), f) : 0;
    if (f)
        fclose(f);
    return bytes[next++];
}

static void draw_six(void)
{
    D3D12_GRAPHICS_PIPELINE_STATE_DESC d = {0};
    ID3D12PipelineState *state = NULL;

    d.VS.pShaderBytecode = shader("scaled_vs.dxbc", &d.VS.BytecodeLength);
    d.PS.pShaderBytecode = shader("six_ps.dxil", &d.PS.BytecodeLength);
    device->lpVtbl->CreateGraphicsPipelineState(device, &d, IID(ID3D12PipelineState), (void **)&state);
    list->lpVtbl->SetPipelineState(list, state);
    list->lpVtbl->DrawInstanced(list, 3, 1, 0, 0);
}

static void six(void)
{
    D3D12_COMPUTE_PIPELINE_STATE_DESC c = {0};
    D3D12_DXIL_LIBRARY_DESC library = {0};
    D3D12_STATE_SUBOBJECT part = {D3D12_STATE_SUBOBJECT_TYPE_DXIL_LIBRARY, &library};
    D3D12_STATE_OBJECT_DESC d = {D3D12_STATE_OBJECT_TYPE_RAYTRACING_PIPELINE, 1, &part};
    D3D12_DISPATCH_RAYS_DESC rays = {.Width = 1, .Height = 1, .Depth = 1};
    ID3D12Resource *constants = buffer(D3D12_HEAP_TYPE_UPLOAD, 0);
    ID3D12PipelineState *state = NULL;
    ID3D12RootSignature *root = NULL;
    ID3D12StateObject *object = NULL;
    ID3D12GraphicsCommandList4 *l = NULL;
    ID3D12Device5 *d5 = NULL;
    float *p;

    c.CS.pShaderBytecode = shader("six_cs.dxil", &c.CS.BytecodeLength);
    device->lpVtbl->CreateRootSignature(device, 0, c.CS.pShaderBytecode, c.CS.BytecodeLength,
                                        IID(ID3D12RootSignature), (void **)&root);
    c.pRootSignature = root;
    device->lpVtbl->CreateComputePipelineState(device, &c, IID(ID3D12PipelineState), (void **)&state);
    constants->lpVtbl->Map(constants, 0, NULL, (void **)&p);
    for (int i = 0; i < 80; i++)
        p[i] = (float)i;
    list->lpVtbl->SetComputeRootSignature(list, root);
    list->lpVtbl->SetPipelineState(list, state);
    list->lpVtbl->SetComputeRootConstantBufferView(list, 0,
                                                   constants->lpVtbl->GetGPUVirtualAddress(constants));
    list->lpVtbl->Dispatch(list, 1, 1, 1);
    library.DXILLibrary.pShaderBytecode = shader("rays_lib.dxil", &library.DXILLibrary.BytecodeLength);
    device->lpVtbl->QueryInterface(device, IID(ID3D12Device5), (void **)&d5);
    list->lpVtbl->QueryInterface(list, IID(ID3D12GraphicsCommandList4), (void **)&l);
    d5->lpVtbl->CreateStateObject(d5, &d, IID(ID3D12StateObject), (void **)&object);
    l->lpVtbl->SetPipelineState1(l, object);
    l->lpVtbl->DispatchRays(l, &rays);
    draw_six();
    list->lpVtbl->Close(list);
    submit();
}

int main(int argc, char **argv)
{
    D3D12_COMMAND_QUEUE_DESC q = {0};
    ID3D12CommandAllocator *allocator = NULL;

    if (argc != 2)
        return 2;
    struct {
        int type;
        const void *next;
        int minimum_feature_level;
        void *rest[8];
    } info = {.minimum_feature_level = D3D_FEATURE_LEVEL_11_0};

    vkd3d_create_device(&info, IID(ID3D12Device), (void **)&device);
    device->lpVtbl->CreateCommandQueue(device, &q, IID(ID3D12CommandQueue), (void **)&queue);
    device->lpVtbl->CreateCommandAllocator(device, 0, IID(ID3D12CommandAllocator), (void **)&allocator);
    device->lpVtbl->CreateCommandList(device, 0, 0, allocator, NULL, IID(ID3D12GraphicsCommandList),
                                      (void **)&list);
    if (!strcmp(argv[1], "placed"))
        placed();
    else if (!strcmp(argv[1], "null"))
        list->lpVtbl->IASetVertexBuffers(list, 0, 1, NULL);
    else if (!strcmp(argv[1], "instances"))
        instances(allocator);
    else if (!strcmp(argv[1], "rays"))
        rays();
    else if (!strcmp(argv[1], "crowd"))
        crowd();
    else if (!strcmp(argv[1], "six"))
        six();
    else if (!strcmp(argv[1], "hang"))
        hang(allocator);
    else
        indirect(strcmp(argv[1], "written") ? 0 : D3D12_RESOURCE_FLAG_ALLOW_UNORDERED_ACCESS);
    puts("done");
    return 0;
}
