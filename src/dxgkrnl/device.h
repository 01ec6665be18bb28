/* SPDX-License-Identifier: MIT */
/* device.h: clients, devices and contexts. A device's objects go with it; a client's devices go with the client.
 *
 * Invariants:
 *  1. A device that is not ACTIVE never is again.
 *  2. A context's packets are counted when they are queued, and again when they are done: done never passes queued.
 *  3. What a client has at once is bounded (CLIENT_MAX_*), so that others have their share.
 *  4. A context stays while a thread has one of its packets in hand, or looks at its progress.
 */
#pragma once

#include "dxgkrnl/kernel.h"
#include "dxgkrnl/telemetry/metrics.h"
#include "dxgkrnl/packet.h"
#include "dxgkrnl/strangers/quota.h"

enum {
    MAX_FREE_BUFFERS = 4, /* DMA buffers a context keeps */
    MAX_HANDLES = 0xFFFE, /* open at once */
    CLIENT_MAX_HANDLES = 16384,
    CLIENT_MAX_DEVICES = 256, /* the device tells 4094 apart */
    DEVICE_PROCESSES =
        62, /* with devices: so many have nodes and executors of their own, of which strangers get shares */
    CLIENT_MAX_DESCRIPTORS = 1024 /* of ours that its contexts, events and shared surfaces take */
};

struct dxgk_client {
    struct dxgk_client *next;
    struct dxgk *d;
    uint64_t process, serial;
    UINT priority;        /* D3DKMT_SCHEDULINGPRIORITYCLASS_* of the process */
    uint32_t session;     /* of struct dxgk_kernel_caller */
    uint32_t user;        /* with whom it is counted */
    bool has_user;        /* it is a stranger (offenders.h) */
    bool seated;          /* the display is its business */
    pthread_mutex_t turn; /* of its threads at the processor */
    bool admin, cancelled;
    bool is_wow64;      /* of 32 bits */
    unsigned devices;   /* that it has */
    unsigned preparing; /* of its threads: what executes its work starts */
    uint64_t quota[QUOTAS];
    uint64_t memory; /* strangers/memory.h: of its process, at the last look */
    bool memory_grew;
    uint64_t refused_ns; /* when it was last said that it got no memory */
    struct dxgk_work work;
};

struct device {
    struct device *next;
    struct dxgk *d;
    struct dxgk_client *client; /* NULL: the system's */
    HANDLE driver;
    DXGK_CONTEXTINFO
    info; /* of a miniport without contexts (not MultiEngineAware): what its only one is like */
    D3DKMT_HANDLE handle;
    D3DKMT_DEVICEEXECUTION_STATE state;
    struct context *contexts;
    struct open_alloc *allocs;
    struct open_resource *resources;
    struct syncobj *syncs;
    UINT present_count;
    unsigned closing; /* resources whose closing is under way */
};

struct context {
    struct context *next, *next_all;
    struct device *device;
    HANDLE driver;
    D3DKMT_HANDLE handle;
    unsigned node;
    INT priority;
    DXGK_CONTEXTINFO info;
    struct packet *queue, **queue_last;
    unsigned queued, running; /* packets in the queue; packets at the device */
    unsigned handling;        /* of these, in the hands of a thread that may be waiting */
    unsigned watchers;        /* threads that look at `progress` without the processor */
    uint64_t last_run;
    struct dma *free_dma;
    unsigned num_dma, num_free; /* DMA buffers, and those of them that are in free_dma */
    struct kwaiters space, idle, done;
    /* The client's buffers: one piece of shareable memory, command | list | patch | progress. */
    int buffer_fd;
    size_t buffer_size;
    void *command;
    D3DDDI_ALLOCATIONLIST *list;
    D3DDDI_PATCHLOCATIONLIST *patch;
    struct dxgk_progress *progress; /* NULL: the system's */
    uint64_t packets, packets_done;
};

/* Whether it is the first of its process that has devices. */
bool dxgk_client_is_first(const struct dxgk_client *client);
struct device *dxgk_device_create(struct dxgk *d, struct dxgk_client *client, NTSTATUS *status);
void dxgk_device_destroy(struct device *dev);
struct context *dxgk_context_create(struct device *dev, UINT node, UINT affinity, void *priv, UINT priv_size,
                                    NTSTATUS *status);
void dxgk_context_destroy(struct context *c);

/* ---- progress.c ---------------------------------------------------------- */

/* Loses the device, unless it is lost already. */
void dxgk_device_lose(struct device *dev, D3DKMT_DEVICEEXECUTION_STATE why);
/* All devices of the process: the `guilty` one because of `why` and the others RESET; NULL: all because of `why`. */
void dxgk_process_lose(struct dxgk *d, uint64_t process, const struct device *guilty,
                       D3DKMT_DEVICEEXECUTION_STATE why);
/* A packet of the context was queued, or has taken effect. */
void dxgk_context_packet_queued(struct context *c);
void dxgk_context_packet_done(struct context *c);
