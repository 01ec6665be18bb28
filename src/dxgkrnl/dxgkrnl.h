/* SPDX-License-Identifier: MIT */
/* dxgkrnl.h: the operating system's half of WDDM 1.1, for the host that runs it.
 *
 * A host describes one PCI function by a `struct dxgk_bus`, loads a miniport for it and starts the adapter;
 * clients then call the D3DKMT thunks. Nothing here knows which miniport or device it is.
 *
 *   dxgk_create ─▶ dxgk_load ─▶ dxgk_start ⇄ dxgk_stop ─▶ dxgk_unload ─▶ dxgk_destroy
 *                                  │  ▲
 *                       time-out ──▼──┴── reset      reset fails, too many resets, a DDI that never returns ─▶ FAILED
 *
 * Invariants:
 *  1. A fence that SubmitCommand accepted completes, faults or is dropped by a reset, once and in order.
 *  2. After a reset every device, context and allocation from before answers STATUS_DEVICE_REMOVED; new ones work.
 *  3. FAILED is the equivalent of bugcheck 0x116: everything answers STATUS_DEVICE_REMOVED but escapes, which still
 *     reach the miniport, and what closes and destroys.
 *  4. A client sees its own objects and those whose share handle it opened. When it closes, everything it owned goes.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error_type.h"
#include "base/loop.h"
#include "base/public.h"
#include "dxgkrnl/settings.h"
#include "wddm/d3dkmthk.h"
#include "wddm/dispmprt.h"

PUBLIC_BEGIN

struct schedlook;
struct dxgk;
struct dxgk_client;
struct dxgk_progress;

/* One resource of the PCI function, as the PnP manager would assign it. */
struct dxgk_resource {
    UCHAR type;      /* CmResourceTypeMemory or CmResourceTypeInterrupt */
    USHORT flags;    /* CM_RESOURCE_* */
    uint64_t start;  /* memory: bus address */
    uint32_t length; /* memory: bytes */
    uint32_t vector; /* interrupt */
};

struct dxgk_post_display {
    uint32_t width, height; /* pixels */
    uint32_t pitch;         /* bytes */
    D3DDDIFORMAT format;
    uint64_t address;
};

/* What the host provides for the PCI function. Called from kernel threads at any IRQL; must not call back
 * into dxgkrnl but through dxgk_interrupt and dxgk_interrupt_line. */
struct dxgk_bus {
    void *ctx;
    const struct dxgk_resource *resources;
    unsigned num_resources;
    uint64_t memory_size; /* bytes of system memory */
    uint64_t work_memory; /* of what `memory` counts, strangers may have so many bytes together */
    uint32_t
        processes; /* so many at once may have devices, of which strangers get shares; 0: as many as there can be */
    uint64_t dma_size; /* of what dma_alloc has; 0: as much as anybody wants */
    /* PCI configuration space; the number of bytes moved. */
    uint32_t (*config_read)(void *ctx, uint32_t offset, void *data, uint32_t size);
    uint32_t (*config_write)(void *ctx, uint32_t offset, const void *data, uint32_t size);
    uint64_t (*mmio_read)(void *ctx, uint64_t address, unsigned size);
    void (*mmio_write)(void *ctx, uint64_t address, unsigned size, uint64_t value);
    /* A window that is plain memory: its address in this process, or NULL if accesses must be trapped. May be NULL. */
    void *(*mmio_map)(void *ctx, uint64_t address, uint64_t size);
    /* Contiguous page-aligned zeroed memory that the device reaches. 0 or -ENOMEM. */
    int (*dma_alloc)(void *ctx, size_t size, void **va, uint64_t *pa);
    /* The same for allocations, in a file that holds memory of `owner` only (never 0). NULL:
     * dma_alloc serves. */
    int (*dma_alloc_for)(void *ctx, size_t size, uint64_t owner, void **va, uint64_t *pa);
    void (*dma_free)(void *ctx, void *va, uint64_t pa, size_t size);
    /* The memory behind a bus address, or NULL. */
    void *(*dma_ptr)(void *ctx, uint64_t pa, size_t size);
    /* A descriptor of the memory behind `pa`, to hand to another process; the caller does not own it. May be NULL. */
    int (*dma_fd)(void *ctx, uint64_t pa, size_t size, uint64_t *offset);
    /* Waits until done(arg), which it asks after each interrupt, at most `timeout_ns`: a thread that waits for the
     * device may as well serve it. NULL: there is nothing better than to sleep. */
    void (*wait)(void *ctx, bool (*done)(void *arg), void *arg, uint64_t timeout_ns);
    /* Around a SubmitCommand that somebody waits for: if `poll_begin` is true, `poll_end` follows at once and brings the interrupt
     * of what the device completes within some microseconds, so that no other thread needs to be woken for it. Called at
     * DISPATCH_LEVEL. NULL: as if false. */
    bool (*poll_begin)(void *ctx);
    void (*poll_end)(void *ctx);
    /* A process has a device, and may work soon. Waits until the device can do that at once; called without the processor by the
     * thread of the process that does. May be NULL. */
    void (*prepare)(void *ctx, uint64_t process);
    /* What the host's scheduler has done with what executes the work of `process` (0: the system's), and with the threads between
     * doorbell and completion, as far as it is known. Asked at PASSIVE_LEVEL, of work that takes long only. NULL: the device has what
     * it needs. */
    void (*schedlook)(void *ctx, uint64_t process, struct schedlook *out);
    /* Ends what executes the work of `process`, if that is nobody else's, because it `hangs` or for another reason: what is under way there
     * completes as faulted, now or soon, and no device that the process has is good for more. False: nothing was under way. Asked at
     * PASSIVE_LEVEL. May be NULL. */
    bool (*end_work)(void *ctx, uint64_t process, bool hangs);
    /* What was ended so has not gone yet, and draws no more: it is waited for. May be NULL. */
    bool (*is_ending)(void *ctx, uint64_t process);
    /* The process has no client any more, and its number may be another's soon: nothing of it is to be that one's. May be NULL. */
    void (*process_gone)(void *ctx, uint64_t process);
    /* Bytes of the host's memory that what executes the work of `process`, and nobody else's, has for itself. Needs `end_work`. Asked at
     * PASSIVE_LEVEL. NULL: it has none. */
    uint64_t (*memory)(void *ctx, uint64_t process);
    /* The frame buffer that firmware has set up, in one of the memory resources: false, or NULL: there is none. */
    bool (*post_display)(void *ctx, struct dxgk_post_display *out);
    /* Arms one of the host's faults (dxgkrnl/faults.h). May be NULL. */
    NTSTATUS (*inject)(void *ctx, uint32_t fault, uint32_t value);
};

enum dxgk_state {
    DXGK_EMPTY,  /* no miniport */
    DXGK_LOADED, /* DriverEntry succeeded */
    DXGK_STARTED,
    DXGK_STOPPED, /* by dxgk_stop */
    DXGK_FAILED,  /* see above */
};

/* The event log: what Windows writes to the System log. */
struct dxgk_event {
    uint64_t time_ns;
    const char *source; /* "Display", "dxgkrnl", "BugCheck" */
    unsigned id;        /* 4101: the driver stopped responding and has recovered; 0x116: it has not */
    uint32_t
        user; /* if has_user: whose process it is about, a stranger's; else it is about the adapter, or root's or the service's own */
    bool has_user;
    char text[240];
};

struct dxgk_params {
    struct clock *clock;
    struct loop *loop; /* sim: runs on it; NULL: live */
    const struct dxgk_bus *bus;
    const struct settings *settings;     /* copied; NULL for the defaults */
    const char *umd[NUM_KMTUMDVERSIONS]; /* the libraries of its user-mode drivers, NULL where it has none */
    const char *umd_wow[NUM_KMTUMDVERSIONS]; /* the same for clients of 32 bits */
    const char *service;                     /* the driver's service name in the registry; NULL: "display" */
    void (*on_event)(void *ctx, const struct dxgk_event *event); /* at up to DISPATCH_LEVEL; may be NULL */
    void *event_ctx;
};

int dxgk_create(struct dxgk **out, const struct dxgk_params *params, struct error *err);
/* Stops and unloads first, if need be. No client may be open. */
void dxgk_destroy(struct dxgk *d);

/* Runs a miniport's DriverEntry: one linked into the program, or that of a file: the image of a driver for x64 Windows
 * (image/image.h), or a shared object. */
int dxgk_load(struct dxgk *d, DRIVER_INITIALIZE *driver_entry, struct error *err);
int dxgk_load_file(struct dxgk *d, const char *path, struct error *err);
void dxgk_unload(struct dxgk *d);

/* AddDevice, StartDevice, child and segment enumeration, the preferred mode on every connected source. */
NTSTATUS dxgk_start(struct dxgk *d, struct error *err);
void dxgk_stop(struct dxgk *d);
NTSTATUS dxgk_set_power(struct dxgk *d, DEVICE_POWER_STATE state, POWER_ACTION action);

enum dxgk_state dxgk_state(struct dxgk *d);
struct kernel *dxgk_kernel(struct dxgk *d);

/* From the device: message `message` was sent; the INTx line has this level. Any thread, and never waits; where the
 * processor is free the interrupt routine runs inside, so no lock that the bus's functions take may be held. Comes no more when dxgk_destroy
 * is called: not even one that began earlier. The thread must let SIGSEGV and SIGTRAP through (image/fault.h). */
void dxgk_interrupt(struct dxgk *d, unsigned message);
void dxgk_interrupt_line(struct dxgk *d, bool asserted);

/* A process that calls thunks. `process` is its id, `admin` whether privileged escapes are open to it. */
int dxgk_client_open(struct dxgk *d, struct dxgk_client **out, uint64_t process, bool admin);
/* The client is a stranger of this user: what its processes do to others counts together (offenders.h). Before its first call. Unless he is
 * `seated` at the display as well, it is not his: he takes no source, sets no mode and shows no primary of his own. */
void dxgk_client_set_user(struct dxgk_client *c, uint32_t user, bool seated);
/* His number is one of `owner`'s (subuid(5)), with whom he is counted. Between dxgk_client_set_user and the first call. */
void dxgk_client_set_owner(struct dxgk_client *c, uint32_t owner);
/* It is a process of 32 bits: the adapter names it drivers of its kind. Before its first call. */
void dxgk_client_set_wow64(struct dxgk_client *c);
/* Everything that the client owned goes. Waiting calls of the client must have been ended by dxgk_client_cancel. */
void dxgk_client_close(struct dxgk_client *c);
/* Calls of the client that wait, and those to come, return STATUS_CANCELLED. */
void dxgk_client_cancel(struct dxgk_client *c);

/* One function a thunk, for example NTSTATUS dxgk_Render(struct dxgk_client *, D3DKMT_RENDER *). Pointers in
 * the structure are the caller's memory. */
#define DXGK_DECLARE(name, type) NTSTATUS dxgk_##name(struct dxgk_client *c, type *arg);
D3DKMT_WIRE_THUNKS(DXGK_DECLARE)
#undef DXGK_DECLARE

/* ---- a miniport that only displays (display/displayonly.h) --------------- */

bool dxgk_displays_only(struct dxgk *d);
/* The rectangles of the desktop that changed, of 32-bit pixels (x8r8g8b8) of which row y begins at `pixels` + y * pitch.
 * STATUS_INVALID_PARAMETER: one is not inside the source's mode. */
NTSTATUS dxgk_desktop_present(struct dxgk *d, UINT source, const void *pixels, size_t pitch,
                              const RECT *dirty, unsigned count);
/* A mode of the source's list (D3DKMTGetDisplayModeList); the desktop is black after it. */
NTSTATUS dxgk_desktop_set_mode(struct dxgk *d, UINT source, const D3DKMT_DISPLAYMODE *mode);
/* A picture on the screen as at a bug check: at HIGH_LEVEL, whatever else was shown. Tight rows of 32-bit pixels. */
NTSTATUS dxgk_system_display(struct dxgk *d, const void *pixels, unsigned width, unsigned height, unsigned x,
                             unsigned y);

/* The descriptor and offset of a locked allocation's memory, for a client in another process. */
NTSTATUS dxgk_lock_fd(struct dxgk_client *c, D3DKMT_HANDLE allocation, int *fd, uint64_t *offset,
                      uint64_t *size);

/* The memory of a context's command buffer, allocation list, patch list and struct dxgk_progress, in this
 * order, each rounded up to 64 bytes. */
NTSTATUS dxgk_context_fd(struct dxgk_client *c, D3DKMT_HANDLE context, int *fd, uint64_t *size);

/* The adapter's struct dxgk_vblanks: a descriptor that lives as long as the adapter, or a negative errno. */
int dxgk_vblanks_fd(struct dxgk_client *c, uint64_t *size);

/* How far a context is; until it is destroyed. NULL: no such context. */
const struct dxgk_progress *dxgk_context_progress(struct dxgk_client *c, D3DKMT_HANDLE context);
/* Until `value` packets of the context have completed. STATUS_DEVICE_REMOVED as soon as the device is lost,
 * STATUS_TIMEOUT (a success code!), STATUS_CANCELLED. LOOP_FOREVER for no limit. */
NTSTATUS dxgk_wait_progress(struct dxgk_client *c, D3DKMT_HANDLE context, uint64_t value,
                            uint64_t timeout_ns);

/* Arms a fault (dxgkrnl/faults.h). Any thread. STATUS_NOT_SUPPORTED: the host cannot. */
NTSTATUS dxgk_inject(struct dxgk *d, uint32_t fault, uint32_t value);

/* Event `i` since the start, or false. */
bool dxgk_event(struct dxgk *d, unsigned i, struct dxgk_event *event);
unsigned dxgk_event_count(struct dxgk *d, unsigned id);

/* Rule violations, memory that a miniport did not free included: a run with one has failed. */
unsigned dxgk_violations(struct dxgk *d);
const char *dxgk_violation(struct dxgk *d, unsigned i);

/* DDIs that failed since the adapter was started, those that may refuse not counted; if there were any, the last in words. */
unsigned dxgk_failed_ddis(struct dxgk *d, char *text, size_t size);

PUBLIC_END
