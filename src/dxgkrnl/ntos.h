/* SPDX-License-Identifier: MIT */
/* ntos.h: what the kernel routines (wddm/ntddk.h) gave to the miniport. */
#pragma once

#include "dxgkrnl/packet.h"

struct mapping {
    struct mapping *next;
    uint8_t *va;
    uint64_t address;
    size_t size;
    bool trapped;
};

struct pool_block {
    struct pool_block *prev, *next;
    size_t size;
    ULONG tag;
    uint32_t magic;
};

struct contiguous {
    struct contiguous *next;
    struct physmem mem;
};

struct ntos {
    struct mapping *mappings;
    struct pool_block pool;
    struct contiguous *contiguous;
};

void dxgk_ntos_init(struct dxgk *d);
/* A violation for each thing that the miniport did not give back; how many. */
unsigned dxgk_ntos_check_leaks(struct dxgk *d);
void dxgk_ntos_finish(struct dxgk *d);
NTSTATUS dxgk_ntos_map(struct dxgk *d, uint64_t address, size_t size, void **va);
NTSTATUS dxgk_ntos_unmap(struct dxgk *d, void *va);
