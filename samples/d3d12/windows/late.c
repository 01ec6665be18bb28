/* SPDX-License-Identifier: MIT */
/* late.c: a program that is hard to watch: finds Direct3D 12 at run time, by asking which library is loaded, lets it go and loads it
 * again, waits in the system's thread pool, and writes a file beside itself. Usage: late.exe */
#include "common.h"

static HANDLE passed;

static void CALLBACK on_wait(void *arg, BOOLEAN timed_out)
{
    SetEvent(passed);
}

static ID3D12Device *late_device(void)
{
    PFN_D3D12_CREATE_DEVICE create =
        (PFN_D3D12_CREATE_DEVICE)(void *)GetProcAddress(GetModuleHandleA("d3d12.dll"), "D3D12CreateDevice");
    ID3D12Device *d;

    CHECK(create(NULL, D3D_FEATURE_LEVEL_11_0, &IID_ID3D12Device, NULL)); /* only asks whether it could */
    /* as programs do that Microsoft's linker made */
    create =
        (PFN_D3D12_CREATE_DEVICE)(void *)GetProcAddress(GetModuleHandleA("d3d12.dll"), MAKEINTRESOURCEA(101));
    CHECK(create ? S_OK : E_FAIL);
    CHECK(create(NULL, D3D_FEATURE_LEVEL_11_0, &IID_ID3D12Device, (void **)&d));
    return d;
}

static void wait_in_pool(ID3D12CommandQueue *q, ID3D12Fence *f, UINT64 value)
{
    HANDLE event = CreateEventA(NULL, FALSE, FALSE, NULL), wait;

    CHECK(ID3D12CommandQueue_Signal(q, f, value));
    CHECK(ID3D12Fence_SetEventOnCompletion(f, value, event));
    RegisterWaitForSingleObject(&wait, event, on_wait, NULL, 10000, WT_EXECUTEONLYONCE);
    WaitForSingleObject(passed, 10000);
    UnregisterWaitEx(wait, INVALID_HANDLE_VALUE);
    CloseHandle(event);
}

static void note_beside(void)
{
    char path[MAX_PATH];
    FILE *f;

    GetModuleFileNameA(NULL, path, MAX_PATH);
    strcpy(strrchr(path, '\\') + 1, "late.log");
    f = fopen(path, "w");
    if (f) {
        fputs("late was here\n", f);
        fclose(f);
    }
}

/* What stands above its folder, as large engines have it. */
static void read_above(void)
{
    char path[MAX_PATH], text[100] = "";
    FILE *f;

    GetModuleFileNameA(NULL, path, MAX_PATH);
    strcpy(strrchr(path, '\\') + 1, "..\\..\\Content\\data.txt");
    f = fopen(path, "r");
    if (f) {
        fgets(text, sizeof(text), f);
        fclose(f);
    }
    printf("above: %s\n", text);
}

int main(void)
{
    ID3D12CommandAllocator *allocator;
    ID3D12GraphicsCommandList *l;
    ID3D12Resource *from, *to;
    ID3D12CommandQueue *q;
    ID3D12Device *d;
    ID3D12Fence *f;
    uint8_t *map;

    read_above();
    LoadLibraryA("d3d12.dll");
    d = late_device();
    ID3D12Device_Release(d);
    FreeLibrary(GetModuleHandleA("d3d12.dll"));
    LoadLibraryA("d3d12.dll");
    d = late_device();
    q = make_queue(d, D3D12_COMMAND_LIST_TYPE_DIRECT);
    passed = CreateEventA(NULL, FALSE, FALSE, NULL);
    from = make_buffer(d, D3D12_HEAP_TYPE_UPLOAD, 4096);
    to = make_buffer(d, D3D12_HEAP_TYPE_READBACK, 4096);
    CHECK(ID3D12Device_CreateFence(d, 0, D3D12_FENCE_FLAG_NONE, &IID_ID3D12Fence, (void **)&f));
    CHECK(ID3D12Device_CreateCommandAllocator(d, D3D12_COMMAND_LIST_TYPE_DIRECT, &IID_ID3D12CommandAllocator,
                                              (void **)&allocator));
    CHECK(ID3D12Device_CreateCommandList(d, 0, D3D12_COMMAND_LIST_TYPE_DIRECT, allocator, NULL,
                                         &IID_ID3D12GraphicsCommandList, (void **)&l));
    CHECK(ID3D12Resource_Map(from, 0, NULL, (void **)&map));
    for (unsigned i = 1; i <= 5; i++) {
        memset(map, (int)i, 4096);
        ID3D12GraphicsCommandList_CopyResource(l, to, from);
        CHECK(ID3D12GraphicsCommandList_Close(l));
        ID3D12CommandQueue_ExecuteCommandLists(q, 1, (ID3D12CommandList *const *)&l);
        wait_in_pool(q, f, i);
        mix_readback(to, 4096);
        CHECK(ID3D12CommandAllocator_Reset(allocator));
        CHECK(ID3D12GraphicsCommandList_Reset(l, allocator, NULL));
    }
    note_beside();
    printf("checksum %016llx\n", (unsigned long long)checksum);
    return 0;
}
