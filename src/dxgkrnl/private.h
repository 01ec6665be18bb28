/* private.h: what the files of dxgkrnl share. Everything here is touched only by the thread that holds the processor. */
#ifndef DXGKRNL_PRIVATE_H_
#define DXGKRNL_PRIVATE_H_

#include <stdatomic.h>

#include "base/log.h"
#include "dxgkrnl/dxgkrnl.h"
#include "dxgkrnl/faults.h"
#include "dxgkrnl/kernel.h"
#include "dxgkrnl/progress.h"

enum {
    MAX_SOURCES = 4,
    MAX_CHILDREN = 8,
    MAX_SEGMENTS = 8,
    MAX_NODES = 8,
    MAX_EVENTS = 1024,
    MAX_RECORDS = 256,     /* interrupt notifications between an ISR and its DPC */
    MAX_QUEUED = 64,       /* packets a context may have queued before Render waits */
    MAX_HISTORY = 64,      /* TDRs remembered for TdrLimitCount */
    MAX_FREE_BUFFERS = 4,  /* DMA buffers a context keeps */
    VSYNC_IDLE_FRAMES = 10 /* vblanks nobody asked for before they are switched off */
};

struct physmem {
    void *va;
    uint64_t pa;
    size_t size;
};

/* ---- memory -------------------------------------------------------------- */

struct alloc {
    struct alloc *next;
    struct resource *resource;
    HANDLE driver;
    UINT size;
    UINT read_set, write_set, preferred;
    DXGK_ALLOCATIONINFOFLAGS flags;
    struct physmem backing;
    unsigned commit;  /* the segment whose budget it counts against; 0: none */
    unsigned segment; /* 1-based; 0: not resident */
    uint64_t offset;  /* in the segment */
    bool fresh;       /* never was resident */
    unsigned busy;    /* packets queued or running that use it */
    unsigned pins;    /* being scanned out, or locked in place */
    uint64_t last_used;
    void *priv;
    UINT priv_size;
    D3DDDI_VIDEO_PRESENT_SOURCE_ID source;
    MDL *mdl;
};

struct resource {
    HANDLE driver;
    unsigned refs; /* devices that opened it */
    D3DKMT_HANDLE share;
    struct alloc **allocs;
    unsigned count;
    void *priv, *runtime;
    UINT priv_size, runtime_size;
    uint64_t owner;   /* of its memory: a client, or nobody but this resource; 0: the system */
    bool is_resource; /* made with CreateResource */
};

/* An allocation as one device sees it. */
struct open_alloc {
    struct open_alloc *next;
    struct device *device;
    struct open_resource *group;
    struct alloc *alloc;
    HANDLE driver; /* hDeviceSpecificAllocation */
    D3DKMT_HANDLE handle;
    unsigned locks;
};

struct open_resource {
    struct open_resource *next;
    struct device *device;
    struct resource *resource;
    D3DKMT_HANDLE handle; /* 0 when made without CreateResource */
    bool doomed;          /* destroyed by its client, as soon as no work of the device names it */
};

struct segment {
    DXGK_SEGMENTDESCRIPTOR desc;
    uint64_t committed, resident, evicted;
    unsigned commits, residents;
};

/* ---- scheduling ---------------------------------------------------------- */

enum packet_type { PACKET_RENDER, PACKET_PRESENT, PACKET_FLIP, PACKET_WAIT, PACKET_SIGNAL, PACKET_PAGING };

struct dma {
    struct dma *next;
    struct physmem mem;
    void *priv;
    UINT priv_size;
    DXGK_ALLOCATIONLIST *list;
    D3DDDI_PATCHLOCATIONLIST *patch;
};

struct packet {
    struct packet *next;
    enum packet_type type;
    struct context *context; /* NULL for paging */
    struct dma *dma;
    UINT dma_start, dma_end, priv_start, priv_end, patch_count, list_count;
    struct alloc **allocs; /* what the list refers to; entries may be NULL */
    UINT fence;
    unsigned node;
    DXGK_SUBMITCOMMANDFLAGS flags;
    UINT source;
    D3DDDI_FLIPINTERVAL_TYPE interval;
    bool frees_dma; /* the last packet that uses dma */
    bool counted;   /* in the progress of its context */
    struct syncobj *sync[D3DDDI_MAX_OBJECT_WAITED_ON];
    unsigned sync_count;
    uint64_t value;
    int event_fd;
};

struct syncobj {
    struct syncobj *next;
    D3DDDI_SYNCHRONIZATIONOBJECT_TYPE type;
    struct device *device;
    D3DKMT_HANDLE handle;
    uint64_t value; /* fence value, or count; a mutex is a semaphore of one */
    uint64_t max;
    int event_fd;
    unsigned refs; /* packets that name it, and the handle */
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
    unsigned num_free;
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

struct device {
    struct device *next;
    struct dxgk *d;
    struct dxgk_client *client; /* NULL: the system's */
    HANDLE driver;
    D3DKMT_HANDLE handle;
    D3DKMT_DEVICEEXECUTION_STATE state;
    struct context *contexts;
    struct open_alloc *allocs;
    struct open_resource *resources;
    struct syncobj *syncs;
    UINT present_count;
    unsigned closing; /* resources whose closing is under way */
};

struct node {
    struct packet *hw, **hw_last;
    unsigned hw_count;
    UINT submitted, completed;
    uint64_t head_start_ns;
    struct ktimer timer;
    bool pumping, again, check;
    UINT preempting; /* the fence of a preemption under way, 0: none */
    uint64_t packets_submitted[4], packets_completed[4], packets_faulted, packets_preempted;
    uint64_t busy_ns, switches;
    struct context *last_context;
};

/* ---- display ------------------------------------------------------------- */

struct child {
    DXGK_CHILD_DESCRIPTOR desc;
    bool connected;
    UCHAR edid[256];
    UINT edid_size;
};

struct source {
    bool committed, visible;
    UINT target;
    D3DKMT_DISPLAYMODE mode;
    UINT stride;
    struct alloc *primary, *own_primary; /* what is shown; the desktop's */
    struct packet *flips, **flips_last;  /* waiting for their vblank; the first is due at flip_due */
    unsigned flip_count;
    bool flip_programmed;
    uint64_t flip_due, last_flip, vblanks, frames;
    uint64_t vblank_ns;
    uint64_t grid_ns, grid_number, grid_least; /* display.c */
    unsigned grid_count;
    uint64_t flip_after; /* the programmed flip is shown by a vblank after this one */
    struct kwaiters vblank_waiters;
    unsigned waiting;
    uint64_t last_wanted; /* vblank number at which somebody last waited */
    D3DKMT_DISPLAYMODE *modes;
    unsigned num_modes;
    struct device *owner;
    D3DKMT_VIDPNSOURCEOWNER_TYPE owner_type;
    struct ktimer timer;
};

/* ---- the adapter --------------------------------------------------------- */

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

struct handle_entry {
    enum handle_type {
        HANDLE_FREE,
        HANDLE_ADAPTER,
        HANDLE_DEVICE,
        HANDLE_CONTEXT,
        HANDLE_ALLOC,
        HANDLE_RES,
        HANDLE_SHARE,
        HANDLE_SYNC
    } type;
    struct dxgk_client *client; /* NULL: everybody's */
    void *object;
    uint16_t serial;
};

struct dxgk_client {
    struct dxgk_client *next;
    struct dxgk *d;
    uint64_t process, serial;
    bool admin, cancelled;
};

struct record {
    DXGKARGCB_NOTIFY_INTERRUPT_DATA data;
    uint64_t time_ns;
};

struct dxgk {
    struct kernel *kernel;
    struct clock *clock;
    const struct dxgk_bus *bus;
    struct settings settings;
    char service[64];
    void (*on_event)(void *ctx, const struct dxgk_event *event);
    void *event_ctx;
    struct bb_flight *flight; /* NULL: nothing is recorded */

    enum dxgk_state state;
    void *object; /* dlopen */
    DRIVER_INITIALIZATION_DATA ddi;
    bool initialized;
    PVOID miniport;
    DXGKRNL_INTERFACE iface;
    CM_RESOURCE_LIST *resources;
    KDPC dpc;
    LUID luid;

    DXGK_DRIVERCAPS caps;
    ULONG num_sources, num_children;
    struct child children[MAX_CHILDREN];
    struct segment segments[MAX_SEGMENTS];
    unsigned num_segments;
    UINT paging_size, paging_priv_size;
    struct node nodes[MAX_NODES];
    unsigned num_nodes;
    struct source sources[MAX_SOURCES];
    bool vsync_enabled, vsync_stuck;
    unsigned vsync_misses; /* times in a row that switching vblanks on again brought none */
    uint64_t vsync_ns;     /* the last vblank of any source, or when they were switched on */
    struct ktimer vsync_timer;
    struct dxgk_vblanks *vblanks; /* NULL: no client ever waited for one */
    int vblanks_fd;
    struct vidpn *active;
    struct device *system;

    struct alloc *allocs;
    struct context *contexts;
    struct device *devices;
    struct dxgk_client *clients;
    unsigned doomed;        /* resources that are */
    uint64_t refused_bytes; /* the allocation that no segment's budget had room for */
    uint64_t refused_ns;    /* when that was last said */
    uint64_t owners;        /* serial numbers of clients and shared resources */
    struct handle_entry *handles;
    unsigned num_handles;

    struct record records[MAX_RECORDS];
    unsigned record_head, record_count;

    struct kwaiters work, tdr_work, progress, adapter_waiters, stopped;
    bool work_pending, tdr_pending, stopping, vsync_idle, adapter_held;
    unsigned workers, epoch; /* epoch: counts resets */
    struct context *system_context;
    struct kthread *adapter_owner;
    unsigned adapter_depth;

    /* TDR */
    uint32_t tdr_level, tdr_limit_count, hw_limit;
    uint64_t tdr_delay_ns, tdr_ddi_delay_ns, tdr_limit_ns;
    uint64_t tdr_times[MAX_HISTORY];
    unsigned tdr_count, tdr_total, lost_interrupts;
    bool resetting, tdr_forced;
    uint64_t use_counter;
    uint8_t *debug_info;
    size_t debug_info_size;

    /* faults.c */
    _Atomic uint32_t faults[DXGK_NUM_FAULTS];
    bool may_inject;
    struct ktimer late_timer, late_vblank;
    unsigned late_message;
    _Atomic uint64_t late_ns; /* when it is to be delivered; 0: none is held back */
    UINT late_target;
    PHYSICAL_ADDRESS late_address;

    struct dxgk_event *events;
    unsigned num_events;

    struct mapping *mappings;
    struct pool_block pool;
    struct contiguous *contiguous;
    uint64_t allocs_created, allocs_destroyed, locks;
};

/* Calls DDI `name` (a member of DRIVER_INITIALIZATION_DATA without its DxgkDdi) at PASSIVE_LEVEL. */
#define DDI(d, name, ...)                                                                                    \
    ({                                                                                                       \
        struct kernel_ddi ddi_;                                                                              \
        NTSTATUS status_ = STATUS_NOT_IMPLEMENTED;                                                           \
        if ((d)->ddi.DxgkDdi##name) {                                                                        \
            kernel_ddi_enter((d)->kernel, &ddi_, "DxgkDdi" #name, PASSIVE_LEVEL, (d)->tdr_ddi_delay_ns);     \
            status_ = (d)->ddi.DxgkDdi##name(__VA_ARGS__);                                                   \
            kernel_ddi_leave((d)->kernel, &ddi_);                                                            \
        }                                                                                                    \
        status_;                                                                                             \
    })
/* The same at IRQL `level`, raised around the call. */
#define DDI_AT(d, level, name, ...)                                                                          \
    ({                                                                                                       \
        struct kernel_ddi ddi_;                                                                              \
        NTSTATUS status_ = STATUS_NOT_IMPLEMENTED;                                                           \
        if ((d)->ddi.DxgkDdi##name) {                                                                        \
            KIRQL old_ = kernel_raise((d)->kernel, level);                                                   \
            kernel_ddi_enter((d)->kernel, &ddi_, "DxgkDdi" #name, level, 0);                                 \
            status_ = (d)->ddi.DxgkDdi##name(__VA_ARGS__);                                                   \
            kernel_ddi_leave((d)->kernel, &ddi_);                                                            \
            kernel_lower((d)->kernel, old_);                                                                 \
        }                                                                                                    \
        status_;                                                                                             \
    })

/* adapter.c */
void dxgk_log(struct dxgk *d, const char *source, unsigned id, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));
bool adapter_lock(struct dxgk *d);         /* false once FAILED */
bool adapter_lock_cleanup(struct dxgk *d); /* also then, unless a DDI is stuck inside */
void adapter_unlock(struct dxgk *d);
int physmem_alloc(struct dxgk *d, size_t size, struct physmem *m);
void physmem_free(struct dxgk *d, struct physmem *m);
void adapter_fail(struct dxgk *d, unsigned code, const char *why);

/* callbacks.c */
void callbacks_fill(struct dxgk *d, DXGKRNL_INTERFACE *i);

/* ntos.c */
void ntos_init(struct dxgk *d);
unsigned ntos_check_leaks(struct dxgk *d);
void ntos_finish(struct dxgk *d);
NTSTATUS ntos_map(struct dxgk *d, uint64_t address, size_t size, void **va);
NTSTATUS ntos_unmap(struct dxgk *d, void *va);
const DRIVER_INITIALIZATION_DATA *ntos_take_init(struct dxgk *d);

/* handles.c */
D3DKMT_HANDLE handle_new(struct dxgk *d, enum handle_type type, struct dxgk_client *client, void *object);
void *handle_get(struct dxgk *d, D3DKMT_HANDLE h, enum handle_type type, const struct dxgk_client *client);
void handle_free(struct dxgk *d, D3DKMT_HANDLE h);

/* vidmm.c */
NTSTATUS vidmm_start(struct dxgk *d);
/* The miniport's CreateAllocation and what follows; on success the resource has one reference. */
NTSTATUS vidmm_create(struct dxgk *d, struct resource *r, const void *priv, UINT priv_size,
                      D3DDDI_ALLOCATIONINFO *infos, unsigned count);
NTSTATUS vidmm_open(struct device *dev, struct resource *r, bool create, struct open_resource **out,
                    struct open_alloc **opens);
/* At once; no work of the device may name it. */
void vidmm_close(struct open_resource *g);
/* Its handles go at once, the rest as soon as no work of the device names it. */
void vidmm_doom(struct open_resource *g);
void vidmm_log_refusal(struct dxgk *d,
                       uint64_t process);               /* the budget is too small: an event, once a second */
void vidmm_reap(struct dxgk *d);                        /* at PASSIVE_LEVEL: closes the doomed that can be */
void vidmm_release(struct dxgk *d, struct resource *r); /* drops one reference */
/* Puts `a` into one of the segments of `set`; may evict, page and wait. */
NTSTATUS vidmm_make_resident(struct dxgk *d, struct alloc *a, UINT set);
PHYSICAL_ADDRESS vidmm_address(struct dxgk *d, const struct alloc *a);
void vidmm_forget(struct dxgk *d); /* after a reset: nothing is resident */
NTSTATUS vidmm_create_standard(struct dxgk *d, D3DKMDT_STANDARDALLOCATION_TYPE type, void *data,
                               struct alloc **out);
void vidmm_destroy_standard(struct dxgk *d, struct alloc *a);

/* device.c */
struct device *device_create(struct dxgk *d, struct dxgk_client *client, NTSTATUS *status);
void device_destroy(struct device *dev);
void device_set_state(struct device *dev, D3DKMT_DEVICEEXECUTION_STATE state);
/* A packet of the context was queued, or has taken effect. */
void context_packet_queued(struct context *c);
void context_packet_done(struct context *c);
struct context *context_create(struct device *dev, UINT node, UINT affinity, void *priv, UINT priv_size,
                               NTSTATUS *status);
void context_destroy(struct context *c);

/* sched.c */
void sched_start(struct dxgk *d);
void sched_stop(struct dxgk *d);
struct dma *sched_dma(struct context *c, UINT list_size, UINT patch_size);
void sched_dma_free(struct context *c, struct dma *dma);
void sched_queue(struct context *c, struct packet *p);
void sched_kick(struct dxgk *d);
void sched_pump(struct dxgk *d, unsigned node);
void sched_notify(struct dxgk *d, const DXGKARGCB_NOTIFY_INTERRUPT_DATA *data);
void sched_dpc(struct dxgk *d);
void sched_drop_context(struct context *c);
void sched_drop_all(struct dxgk *d);
NTSTATUS sched_submit_paging(struct dxgk *d, DXGKARG_BUILDPAGINGBUFFER *args);
void sched_wait_node_idle(struct dxgk *d, unsigned node);
void packet_free(struct dxgk *d, struct packet *p);
void sync_unref(struct syncobj *s);
void sched_finish_soft(struct dxgk *d, struct packet *p);
void sched_retire_to(struct dxgk *d, unsigned n, UINT fence);
void sched_kick_tdr(struct dxgk *d);

/* faults.c */
bool fault_take(struct dxgk *d, enum dxgk_fault f);
uint32_t fault_take_value(struct dxgk *d, enum dxgk_fault f);
void fault_vblank(struct dxgk *d, const DXGKARGCB_NOTIFY_INTERRUPT_DATA *data, uint64_t time_ns);
void fault_block(struct dxgk *d);
void faults_stop(struct dxgk *d);

/* tdr.c */
void tdr_configure(struct dxgk *d);
void tdr_arm(struct dxgk *d, unsigned node);
void tdr_work(struct dxgk *d);
bool tdr_poll(struct dxgk *d, unsigned node);

/* vidpn.c */
struct vidpn *vidpn_create(struct dxgk *d);
void vidpn_destroy(struct vidpn *v);
NTSTATUS vidpn_query_interface(D3DKMDT_HVIDPN h, DXGK_VIDPN_INTERFACE_VERSION version,
                               CONST DXGK_VIDPN_INTERFACE **interface);
D3DKMDT_HVIDPN vidpn_handle(struct vidpn *v);

/* vblanks.c */
bool vblanks_tick(struct dxgk *d, unsigned source); /* whether somebody waits */
void vblanks_changed(struct dxgk *d);               /* what a wait would answer, perhaps */
void vblanks_finish(struct dxgk *d);

/* display.c */
NTSTATUS display_start(struct dxgk *d);
/* The period of the source's vblanks, 0 while there is no grid, and the time of number 0 (progress.h). */
uint64_t display_grid(const struct source *s, uint64_t *zero_ns);
void display_stop(struct dxgk *d);
NTSTATUS display_set_mode(struct dxgk *d, UINT source, const D3DKMT_DISPLAYMODE *mode, struct alloc *primary);
NTSTATUS display_restore(struct dxgk *d);
void display_vblank(struct dxgk *d, UINT target, PHYSICAL_ADDRESS address, uint64_t time_ns);
void display_flip(struct dxgk *d, struct packet *p);
NTSTATUS display_wait_vblank(struct dxgk_client *c, UINT source, struct device *dev);
void display_work(struct dxgk *d);
void display_flipped(struct dxgk *d, struct packet *p); /* by a DMA buffer that has completed */
void display_forget_alloc(struct dxgk *d, struct alloc *a);
void display_drop_flips(struct dxgk *d, struct device *dev); /* NULL: everybody's */
NTSTATUS display_query_monitor_interface(HANDLE adapter, DXGK_MONITOR_INTERFACE_VERSION version,
                                         CONST DXGK_MONITOR_INTERFACE **interface);

#endif
