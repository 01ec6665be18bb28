/* SPDX-License-Identifier: MIT */
/* packet.h: units of a context's work, and the DMA buffers they bring.
 *
 *   dxgk_packet_create ─▶ queued (sched.c) ─▶ at the device (node.c) ─▶ dxgk_packet_free
 *                          └─ nothing for the device to do ─▶ dxgk_packet_finish
 */
#pragma once

#include "dxgkrnl/dxgkrnl.h"

struct physmem {
    void *va;
    uint64_t pa;
    size_t size;
};

struct dma {
    struct dma *next;
    uint64_t counted; /* of QUOTA_DMA_BYTES */
    struct physmem mem;
    UINT size;           /* that a miniport has of it; what is behind it is guarded (answers/answers.h) */
    struct alloc *alloc; /* whose memory it is, which VidMm places in an aperture; NULL: contiguous memory */
    void *priv;
    UINT priv_size;
    DXGK_ALLOCATIONLIST *list;
    D3DDDI_PATCHLOCATIONLIST *patch;
    UINT list_size, patch_size; /* bytes */
    UINT lent;                  /* of the list, for this packet; behind them nothing is written either */
    uint8_t *given;             /* what is in them, for a DDI that only reads them */
};

enum packet_type { PACKET_RENDER, PACKET_PRESENT, PACKET_FLIP, PACKET_WAIT, PACKET_SIGNAL, PACKET_PAGING };

struct packet {
    struct packet *next;
    enum packet_type type;
    struct context *context;
    struct dma *dma; /* NULL: nothing for the device */
    UINT dma_end, priv_end, patch_count, list_count;
    UINT fence;
    DXGK_SUBMITCOMMANDFLAGS flags;
    UINT source;
    D3DDDI_FLIPINTERVAL_TYPE interval;
    bool counted;      /* in the progress of its context */
    uint64_t sequence; /* of those of its context, from 1 on */
    uint64_t queued_ns, submitted_ns;
    struct syncobj *sync[D3DDDI_MAX_OBJECT_WAITED_ON];
    unsigned sync_count;
    uint64_t value;
    int event_fd;
    void (*retired)(struct dxgk *d, struct packet *p); /* the device has executed it; may be NULL */
    struct alloc *allocs[];                            /* what the list refers to; entries may be NULL */
};

/* With room for `list` allocations, and a DMA buffer where the type has one. NULL without memory. */
struct packet *dxgk_packet_create(struct context *c, enum packet_type type, UINT list);
/* Whatever became of it: its context counts it as done. */
void dxgk_packet_free(struct dxgk *d, struct packet *p);
/* A packet without work for the device has taken effect. */
void dxgk_packet_finish(struct dxgk *d, struct packet *p);
/* Whose work it is; 0: the system's. */
uint64_t dxgk_packet_process(const struct packet *p);
/* Those that wait for room in the context, or for its end, look again. */
void dxgk_context_wake(struct dxgk *d, struct context *c);
/* Whether a packet with a DMA buffer could be made now, as far as the buffer goes. */
bool dxgk_context_has_dma(struct context *c);
/* Where the device finds it: a segment (0: contiguous memory, or nowhere yet), and the address there. */
UINT dxgk_dma_segment(const struct dma *dma);
PHYSICAL_ADDRESS dxgk_dma_address(struct dxgk *d, const struct dma *dma);
/* A packet has so many entries of the list. */
void dxgk_dma_lend(struct dma *dma, UINT list);
/* Whether `ddi` has written nothing behind what it was given to write into. */
bool dxgk_dma_kept(struct dxgk *d, const struct dma *dma, const char *ddi);
/* Around a DDI that only reads so much of the lists: what it writes into them is a broken rule, and undone. */
void dxgk_dma_give(struct dma *dma, UINT list, UINT patches);
void dxgk_dma_take(struct dxgk *d, struct dma *dma, UINT list, UINT patches, const char *ddi);
/* At PASSIVE_LEVEL: frees the DMA buffers that the context keeps. */
void dxgk_context_free_dma(struct context *c);
