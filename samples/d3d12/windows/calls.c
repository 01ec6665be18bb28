/* SPDX-License-Identifier: MIT */
/* calls.c: what a call costs: nanoseconds of the thread's time for each of two small ones, recorded into lists that never run.
 * Usage: calls.exe [CALLS] */
#include "common.h"

static double thread_ns(void)
{
    FILETIME made, ended, kernel, user;

    GetThreadTimes(GetCurrentThread(), &made, &ended, &kernel, &user);
    return 100.0 * ((double)kernel.dwLowDateTime + (double)user.dwLowDateTime +
                    4294967296.0 * ((double)kernel.dwHighDateTime + (double)user.dwHighDateTime));
}

int main(int argc, char **argv)
{
    unsigned calls = argc > 1 ? (unsigned)atoi(argv[1]) : 1000000, batch = 100000;
    ID3D12Device *d = make_device();
    ID3D12Resource *a = make_buffer(d, D3D12_HEAP_TYPE_DEFAULT, 65536),
                   *b = make_buffer(d, D3D12_HEAP_TYPE_DEFAULT, 65536);
    const D3D12_VIEWPORT viewport = {0, 0, 640, 480, 0, 1};
    ID3D12CommandAllocator *allocator;
    ID3D12GraphicsCommandList *l;
    double spent[2] = {0};

    CHECK(ID3D12Device_CreateCommandAllocator(d, D3D12_COMMAND_LIST_TYPE_DIRECT, &IID_ID3D12CommandAllocator,
                                              (void **)&allocator));
    CHECK(ID3D12Device_CreateCommandList(d, 0, D3D12_COMMAND_LIST_TYPE_DIRECT, allocator, NULL,
                                         &IID_ID3D12GraphicsCommandList, (void **)&l));
    for (unsigned done = 0; done < calls; done += batch)
        for (int kind = 0; kind < 2; kind++) {
            double start = thread_ns();

            for (unsigned i = 0; i < batch; i++)
                if (kind)
                    ID3D12GraphicsCommandList_CopyBufferRegion(l, a, i % 256 * 4, b, i % 128 * 4, 16);
                else
                    ID3D12GraphicsCommandList_RSSetViewports(l, 1, &viewport);
            spent[kind] += thread_ns() - start;
            CHECK(ID3D12GraphicsCommandList_Close(l));
            CHECK(ID3D12CommandAllocator_Reset(allocator));
            CHECK(ID3D12GraphicsCommandList_Reset(l, allocator, NULL));
        }
    printf("RSSetViewports %.0f ns, CopyBufferRegion %.0f ns\n", spent[0] / calls, spent[1] / calls);
    return 0;
}
