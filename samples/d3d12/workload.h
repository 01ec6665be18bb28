/* SPDX-License-Identifier: MIT */
/* workload.h: what the programs of workload.c and workload_draw.c are made of: a device with one queue and one list, buffers, and
 * a checksum over all that was read back. */
#pragma once

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COBJMACROS
#define WIDL_C_INLINE_WRAPPERS
#define VKD3D_UTILS_API_VERSION VKD3D_API_VERSION_1_2
#include <vkd3d_utils.h>

#define CHECK(hr)                                                                                            \
    do {                                                                                                     \
        HRESULT hr_ = (hr);                                                                                  \
        if (FAILED(hr_)) {                                                                                   \
            fprintf(stderr, "workload:%d: %s failed with 0x%08x\n", __LINE__, #hr, (unsigned)hr_);           \
            exit(2);                                                                                         \
        }                                                                                                    \
    } while (0)

struct gpu {
    ID3D12Device *device;
    ID3D12CommandQueue *queue;
    ID3D12CommandAllocator *allocator;
    ID3D12GraphicsCommandList *list;
    ID3D12Fence *fence;
    HANDLE event;
    uint64_t value;
};

void mix(const void *p, size_t n); /* into the checksum */
/* All that a program needs of its device, which is there; the same with a device and an event. Failures end the program. */
void gpu_begin(struct gpu *g);
void gpu_open(struct gpu *g);
void gpu_wait(struct gpu *g);
/* Runs what is in the list, waits, and begins it anew. */
void gpu_run(struct gpu *g);
void gpu_close(struct gpu *g);
D3D12_RESOURCE_DESC buffer_desc(uint64_t size);
ID3D12Resource *buffer(struct gpu *g, D3D12_HEAP_TYPE type, uint64_t size);
void *map(ID3D12Resource *r);
void read_back(ID3D12Resource *r, size_t size);

/* The bytes of a shader of samples/shaders. */
size_t read_shader(const char *name, void *p, size_t cap);

void scene(void);
void stream(void);
void unread(void);
void pixels(void);
void queries(void);
void views(void);
void black(void);
