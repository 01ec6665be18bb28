/* SPDX-License-Identifier: MIT */
/* many.c: no window: two devices, four threads that record lists for one queue, placed and aliased resources, tiled ones,
 * residency, nested maps, a buffer freed while it is mapped, private data, events of both kinds and waits of all kinds.
 * Usage: many.exe [ROUNDS [die]]   die: ends by TerminateProcess in the middle of recording a list */
#include "common.h"

enum { THREADS = 4, PART = 4096, TILES = 4 };

struct device {
    ID3D12Device *device;
    ID3D12CommandQueue *queue;
    ID3D12Fence *fence;
    UINT64 value;
    HANDLE event;
};

struct worker {
    struct device *d;
    ID3D12Resource *source, *target;
    ID3D12CommandAllocator *allocator;
    ID3D12GraphicsCommandList *list;
    HANDLE thread;
    unsigned index, round;
};

static void device_init(struct device *d)
{
    memset(d, 0, sizeof(*d));
    d->device = make_device();
    d->queue = make_queue(d->device, D3D12_COMMAND_LIST_TYPE_DIRECT);
    CHECK(
        ID3D12Device_CreateFence(d->device, 0, D3D12_FENCE_FLAG_NONE, &IID_ID3D12Fence, (void **)&d->fence));
    d->event = CreateEventA(NULL, FALSE, FALSE, NULL);
    ID3D12CommandQueue_SetName(d->queue, L"the queue \x00e4\x4e16");
}

static void device_finish(struct device *d)
{
    ID3D12Fence_Release(d->fence);
    ID3D12CommandQueue_Release(d->queue);
    ID3D12Device_Release(d->device);
    CloseHandle(d->event);
}

/* Every way in which a program may wait, in turns. */
static void device_wait(struct device *d)
{
    HANDLE two[2] = {NULL, d->event};

    CHECK(ID3D12CommandQueue_Signal(d->queue, d->fence, ++d->value));
    switch (d->value % 5) {
    case 0:
        CHECK(ID3D12Fence_SetEventOnCompletion(d->fence, d->value, NULL));
        return;
    case 1:
        CHECK(ID3D12Fence_SetEventOnCompletion(d->fence, d->value, d->event));
        WaitForSingleObjectEx(d->event, 10000, FALSE);
        return;
    case 2:
        two[0] = CreateEventA(NULL, TRUE, FALSE, NULL);
        CHECK(ID3D12Fence_SetEventOnCompletion(d->fence, d->value, d->event));
        WaitForMultipleObjects(2, two, FALSE, 10000);
        CloseHandle(two[0]);
        return;
    case 3:
        CHECK(ID3D12Fence_SetEventOnCompletion(d->fence, d->value, d->event));
        MsgWaitForMultipleObjects(1, &d->event, FALSE, 10000, 0);
        return;
    default:
        while (ID3D12Fence_GetCompletedValue(d->fence) < d->value)
            Sleep(0);
    }
}

static DWORD WINAPI worker_main(void *arg)
{
    struct worker *w = arg;
    ID3D12GraphicsCommandList *l = w->list;

    CHECK(ID3D12CommandAllocator_Reset(w->allocator));
    CHECK(ID3D12GraphicsCommandList_Reset(l, w->allocator, NULL));
    for (unsigned i = 0; i < PART / 64; i++)
        ID3D12GraphicsCommandList_CopyBufferRegion(l, w->target, w->index * PART + i * 64, w->source,
                                                   (i * 7 + w->index + w->round) % (PART / 64) * 64, 64);
    CHECK(ID3D12GraphicsCommandList_Close(l));
    return 0;
}

static ID3D12GraphicsCommandList *make_list(ID3D12Device *d, ID3D12CommandAllocator **allocator)
{
    ID3D12GraphicsCommandList *l;

    CHECK(ID3D12Device_CreateCommandAllocator(d, D3D12_COMMAND_LIST_TYPE_DIRECT, &IID_ID3D12CommandAllocator,
                                              (void **)allocator));
    CHECK(ID3D12Device_CreateCommandList(d, 0, D3D12_COMMAND_LIST_TYPE_DIRECT, *allocator, NULL,
                                         &IID_ID3D12GraphicsCommandList, (void **)&l));
    CHECK(ID3D12GraphicsCommandList_Close(l));
    return l;
}

static void threads(struct device *d, unsigned rounds)
{
    ID3D12Resource *source = make_buffer(d->device, D3D12_HEAP_TYPE_UPLOAD, PART);
    ID3D12Resource *target = make_buffer(d->device, D3D12_HEAP_TYPE_READBACK, THREADS * PART);
    ID3D12CommandList *lists[THREADS];
    struct worker w[THREADS];
    uint8_t *map;

    CHECK(ID3D12Resource_Map(source, 0, NULL, (void **)&map));
    memset(map, 0, PART);
    for (unsigned i = 0; i < THREADS; i++) {
        w[i] = (struct worker){.d = d, .source = source, .target = target, .index = i};
        w[i].list = make_list(d->device, &w[i].allocator);
        lists[i] = (ID3D12CommandList *)w[i].list;
    }
    for (unsigned round = 0; round < rounds; round++) {
        for (unsigned i = 0; i < PART; i += 97)
            map[i] = (uint8_t)(i + round);
        for (unsigned i = 0; i < THREADS; i++) {
            w[i].round = round;
            w[i].thread = CreateThread(NULL, 0, worker_main, &w[i], 0, NULL);
        }
        for (unsigned i = 0; i < THREADS; i++) {
            WaitForSingleObject(w[i].thread, INFINITE);
            CloseHandle(w[i].thread);
        }
        ID3D12CommandQueue_ExecuteCommandLists(d->queue, THREADS, lists);
        device_wait(d);
        mix_readback(target, THREADS * PART);
    }
    for (unsigned i = 0; i < THREADS; i++) {
        ID3D12GraphicsCommandList_Release(w[i].list);
        ID3D12CommandAllocator_Release(w[i].allocator);
    }
    ID3D12Resource_Release(source); /* mapped still */
    ID3D12Resource_Release(target);
}

/* Two buffers over the same bytes of a heap, in turns. */
static void placed(struct device *d)
{
    D3D12_HEAP_DESC desc = {.SizeInBytes = 65536,
                            .Properties = {.Type = D3D12_HEAP_TYPE_UPLOAD},
                            .Flags = D3D12_HEAP_FLAG_ALLOW_ONLY_BUFFERS};
    D3D12_RESOURCE_DESC small = buffer_desc(1000, 0);
    ID3D12Resource *back = make_buffer(d->device, D3D12_HEAP_TYPE_READBACK, 2048), *r[2];
    D3D12_RESOURCE_BARRIER alias = {.Type = D3D12_RESOURCE_BARRIER_TYPE_ALIASING};
    ID3D12CommandAllocator *allocator;
    ID3D12GraphicsCommandList *l = make_list(d->device, &allocator);
    ID3D12Pageable *pageable;
    ID3D12Heap *heap;
    uint8_t *map, *again;

    zero_readback(back, 2048);
    CHECK(ID3D12Device_CreateHeap(d->device, &desc, &IID_ID3D12Heap, (void **)&heap));
    pageable = (ID3D12Pageable *)heap;
    CHECK(ID3D12Device_MakeResident(d->device, 1, &pageable));
    for (int i = 0; i < 2; i++)
        CHECK(ID3D12Device_CreatePlacedResource(d->device, heap, 0, &small, D3D12_RESOURCE_STATE_GENERIC_READ,
                                                NULL, &IID_ID3D12Resource, (void **)&r[i]));
    alias.Aliasing.pResourceBefore = r[0];
    alias.Aliasing.pResourceAfter = r[1];
    for (int i = 0; i < 2; i++) {
        CHECK(ID3D12Resource_Map(r[i], 0, NULL, (void **)&map));
        CHECK(ID3D12Resource_Map(r[i], 0, NULL, (void **)&again));
        if (!i)
            memset(map, 0, 1000);
        memset(map + 100 * i, 0x40 + i, 500);
        ID3D12Resource_Unmap(r[i], 0, NULL);
        again[999] = (uint8_t)(i + 1); /* mapped once more still */
        ID3D12Resource_Unmap(r[i], 0, NULL);
        CHECK(ID3D12CommandAllocator_Reset(allocator));
        CHECK(ID3D12GraphicsCommandList_Reset(l, allocator, NULL));
        if (i)
            ID3D12GraphicsCommandList_ResourceBarrier(l, 1, &alias);
        ID3D12GraphicsCommandList_CopyBufferRegion(l, back, (UINT64)1024 * i, r[i], 0, 1000);
        CHECK(ID3D12GraphicsCommandList_Close(l));
        ID3D12CommandQueue_ExecuteCommandLists(d->queue, 1, (ID3D12CommandList *const *)&l);
        device_wait(d);
    }
    mix_readback(back, 2048);
    CHECK(ID3D12Device_Evict(d->device, 1, &pageable));
    for (int i = 0; i < 2; i++)
        ID3D12Resource_Release(r[i]);
    ID3D12Resource_Release(back);
    ID3D12Heap_Release(heap);
    ID3D12GraphicsCommandList_Release(l);
    ID3D12CommandAllocator_Release(allocator);
}

/* mingw-w64 declares it without the heap */
typedef void(WINAPI *update_fn)(ID3D12CommandQueue *, ID3D12Resource *, UINT,
                                const D3D12_TILED_RESOURCE_COORDINATE *, const D3D12_TILE_REGION_SIZE *,
                                ID3D12Heap *, UINT, const D3D12_TILE_RANGE_FLAGS *, const UINT *,
                                const UINT *, D3D12_TILE_MAPPING_FLAGS);

/* Not every device has them; what a device without them answers is recorded, too. */
static void tiled(struct device *d)
{
    D3D12_HEAP_DESC desc = {.SizeInBytes = TILES * 65536,
                            .Properties = {.Type = D3D12_HEAP_TYPE_DEFAULT},
                            .Flags = D3D12_HEAP_FLAG_ALLOW_ONLY_BUFFERS};
    D3D12_RESOURCE_DESC buffer = buffer_desc(TILES * 65536, 0);
    D3D12_TILED_RESOURCE_COORDINATE at = {1, 0, 0, 0};
    D3D12_TILE_REGION_SIZE size = {2, FALSE, 0, 0, 0};
    D3D12_TILE_RANGE_FLAGS flags = D3D12_TILE_RANGE_FLAG_NONE;
    D3D12_FEATURE_DATA_D3D12_OPTIONS options = {0};
    UINT first = 0, count = 2, subresources = 1, tiles = 0;
    D3D12_SUBRESOURCE_TILING tiling;
    D3D12_PACKED_MIP_INFO packed;
    D3D12_TILE_SHAPE shape;
    ID3D12Resource *r;
    ID3D12Heap *heap;

    CHECK(
        ID3D12Device_CheckFeatureSupport(d->device, D3D12_FEATURE_D3D12_OPTIONS, &options, sizeof(options)));
    CHECK(ID3D12Device_CreateHeap(d->device, &desc, &IID_ID3D12Heap, (void **)&heap));
    if (SUCCEEDED(ID3D12Device_CreateReservedResource(d->device, &buffer, D3D12_RESOURCE_STATE_COMMON, NULL,
                                                      &IID_ID3D12Resource, (void **)&r))) {
        ID3D12Device_GetResourceTiling(d->device, r, &tiles, &packed, &shape, &subresources, 0, &tiling);
        ((update_fn)d->queue->lpVtbl->UpdateTileMappings)(d->queue, r, 1, &at, &size, heap, 1, &flags, &first,
                                                          &count, 0);
        ID3D12CommandQueue_CopyTileMappings(d->queue, r, (&(D3D12_TILED_RESOURCE_COORDINATE){0}), r, &at,
                                            &size, 0);
        device_wait(d);
        ID3D12Resource_Release(r);
    }
    ID3D12Heap_Release(heap);
}

static void die(struct device *d)
{
    ID3D12CommandAllocator *allocator;
    ID3D12GraphicsCommandList *l = make_list(d->device, &allocator);

    CHECK(ID3D12GraphicsCommandList_Reset(l, allocator, NULL));
    ID3D12GraphicsCommandList_SOSetTargets(l, 0, 0, NULL);
    TerminateProcess(GetCurrentProcess(), 9);
}

/* An object among private data is a reference, and so is each answer. */
static void references(struct device *d)
{
    static const GUID id = {0x12345679, 1, 2, {3, 4, 5, 6, 7, 8, 9, 10}};
    ID3D12Fence *fence;
    UINT size = sizeof(fence);

    CHECK(ID3D12CommandQueue_SetPrivateDataInterface(d->queue, &id, (IUnknown *)d->fence));
    CHECK(ID3D12CommandQueue_GetPrivateData(d->queue, &id, &size, &fence));
    ID3D12Fence_Release(fence);
    CHECK(ID3D12CommandQueue_SetPrivateDataInterface(d->queue, &id, NULL));
}

int main(int argc, char **argv)
{
    static const GUID id = {0x12345678, 1, 2, {3, 4, 5, 6, 7, 8, 9, 10}};
    unsigned rounds = argc > 1 ? (unsigned)atoi(argv[1]) : 5;
    struct device d[2];
    char text[16] = {0};
    UINT size = sizeof(text);

    device_init(&d[0]);
    device_init(&d[1]);
    CHECK(ID3D12CommandQueue_SetPrivateData(d[1].queue, &id, 6, "second"));
    threads(&d[0], rounds);
    if (argc > 2)
        die(&d[1]);
    placed(&d[1]);
    placed(&d[0]);
    tiled(&d[1]);
    references(&d[1]);
    threads(&d[1], 2);
    CHECK(ID3D12CommandQueue_GetPrivateData(d[1].queue, &id, &size, text));
    mix(text, size);
    device_finish(&d[0]);
    device_finish(&d[1]);
    printf("%u rounds, checksum %016llx\n", rounds, (unsigned long long)checksum);
    return 0;
}
