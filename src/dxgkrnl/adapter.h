/* SPDX-License-Identifier: MIT */
/* adapter.h: the adapter: what the files of dxgkrnl share. Touched only by the thread that holds the processor.
 *
 * Each part has a struct and a header of its own, and calls only those below it:
 *
 *   dxgkrnl.c, thunks, callbacks    start and stop, the border to clients and to the miniport
 *   interrupts   device   tdr
 *   sched                           which packet is next
 *   display
 *   vidmm, paging
 *   node                            what is at the device
 *   offenders                       who is not served for a while
 *   packet, progress, vblanks       units of work, and what clients see of them
 *   metrics                         what is counted of them
 *   answers                         what the miniport answers, and what is documented of it
 *   adapter.c, sync, handles, faults, ntos, kernel
 *
 * Two calls go up, by pointers that the upper part sets: a packet's `retired`, and the `forget` of vidmm.
 */
#pragma once

#include <string.h>

#include "base/check.h"
#include "base/log.h"
#include "dxgkrnl/answers/answers.h"
#include "dxgkrnl/device.h"
#include "dxgkrnl/display/display.h"
#include "dxgkrnl/display/displayonly.h"
#include "dxgkrnl/handles.h"
#include "dxgkrnl/injection.h"
#include "dxgkrnl/telemetry/tracing.h"
#include "dxgkrnl/interrupts.h"
#include "dxgkrnl/ntos/ntos.h"
#include "dxgkrnl/strangers/memory.h"
#include "dxgkrnl/strangers/offenders.h"
#include "dxgkrnl/sched.h"
#include "dxgkrnl/sync.h"
#include "dxgkrnl/tdr.h"
#include "dxgkrnl/vidmm.h"

/* The DDI that failed last. */
struct dxgk_failed {
    const char *name;
    NTSTATUS status;
    const char *what; /* that it did: it has not returned an error; or NULL */
    unsigned count;   /* of those so far */
};

struct dxgk {
    struct kernel *kernel;
    struct clock *clock;
    const struct dxgk_bus *bus;
    uint64_t quota[QUOTAS]; /* what all have */
    struct settings settings;
    char service[64], umd[2][NUM_KMTUMDVERSIONS][64]; /* umd[1]: for clients of 32 bits */
    struct bb_flight *flight;                         /* NULL: nothing is recorded */
    struct {
        void (*on_event)(void *ctx, const struct dxgk_event *event);
        void *ctx;
        struct dxgk_event *events;
        unsigned count;
    } log;

    enum dxgk_state state;
    bool resetting;
    unsigned epoch; /* counts resets */

    /* What stands for objects of the kernel: the miniport's own, its device, the device of dxgkrnl. Drivers may write to theirs, and what is
     * behind it is nobody's. */
    struct dxgk_objects {
        uint8_t driver[512], device[512], dxgkrnl[512];
    } * objects;
    void *object; /* dlopen */
    struct image *image;
    DRIVER_INITIALIZATION_DATA ddi;
    ULONG version;                   /* DXGKDDI_INTERFACE_VERSION_* that the miniport was compiled for */
    struct displayonly *displayonly; /* NULL: a full miniport */
    bool initialized;
    bool refused; /* DxgkInitialize knows no such version */
    bool greedy;  /* its interrupt routine claims everything, and that was said */
    bool crashed; /* after a bug check nothing is cleaned up */
    struct dxgk_failed failed;
    struct remarks remarks;
    const char *
        unpaged; /* an operation for which DxgkDdiBuildPagingBuffer put nothing into its buffer; NULL: none */
    unsigned first_rule; /* that it could break since it was loaded, or removed */
    char stuck[160];     /* what waited for too long, and where */
    PVOID miniport;
    /* Whoever includes this may know other versions of these, and lays this out the same way. */
    union {
        DXGKRNL_INTERFACE iface;
        uint8_t any_iface[1024];
    };
    void *lent_iface; /* the miniport's, from StartDevice on; NULL: it has none */
    struct arguments arguments;
    CM_RESOURCE_LIST *resources;
    KDPC dpc;
    LUID luid;
    union {
        DXGK_DRIVERCAPS caps;
        uint8_t any_caps[1024];
    };

    /* One thread at a time in the DDIs that the WDK calls serialised; recursive. */
    struct {
        struct kwaiters waiters;
        bool held;
        struct kthread *owner;
        unsigned depth;
    } lock;

    /* The scheduler's thread and the one for time-outs. */
    struct {
        struct kwaiters work, tdr_work, stopped;
        bool work_pending, tdr_pending, stopping;
        unsigned count;
    } workers;

    struct kwaiters progress; /* wakes at whatever completes, or is dropped */
    struct device *devices, *system;
    struct dxgk_client *clients;
    uint64_t owners; /* serial numbers of clients and shared resources */

    struct handles handles;
    struct keyed_open *keyed; /* of all clients */
    struct signaller signaller;
    struct interrupts interrupts;
    struct sched sched;
    struct tdr tdr;
    struct offenders offenders;
    uint64_t memory_looked_ns; /* strangers/memory.h */
    struct vidmm vidmm;
    struct display display;
    struct injection injection;
    struct dxgk_work work; /* of everybody, the system too */
    struct ntos ntos;
    struct trace trace;
};

/* Calls DDI `name` (a member of DRIVER_INITIALIZATION_DATA without its DxgkDdi) at PASSIVE_LEVEL. One that did not come back by itself
 * returned STATUS_DEVICE_REMOVED, and so does every one of a miniport that is dead (kernel/guard.h). */
#define DDI(d, name, ...)                                                                                    \
    ({                                                                                                       \
        NTSTATUS status_ = STATUS_NOT_IMPLEMENTED;                                                           \
        if ((d)->ddi.DxgkDdi##name) {                                                                        \
            status_ = STATUS_DEVICE_REMOVED;                                                                 \
            if (KERNEL_CALL((d)->kernel, "DxgkDdi" #name, PASSIVE_LEVEL, (d)->tdr.ddi_delay_ns,              \
                            status_ = KERNEL_GUEST((d)->ddi.DxgkDdi##name)(__VA_ARGS__)) &&                  \
                status_ != STATUS_SUCCESS)                                                                   \
                dxgk_answers_status(d, "DxgkDdi" #name, status_);                                            \
            if (!NT_SUCCESS(status_))                                                                        \
                (d)->failed = (struct dxgk_failed){"DxgkDdi" #name, status_, NULL, (d)->failed.count + 1};   \
        }                                                                                                    \
        status_;                                                                                             \
    })
/* The same at IRQL `level`, raised around the call. */
#define DDI_AT(d, level, name, ...)                                                                          \
    ({                                                                                                       \
        NTSTATUS status_ = STATUS_NOT_IMPLEMENTED;                                                           \
        if ((d)->ddi.DxgkDdi##name) {                                                                        \
            KIRQL old_ = dxgk_kernel_raise((d)->kernel, level);                                              \
            status_ = STATUS_DEVICE_REMOVED;                                                                 \
            if (KERNEL_CALL((d)->kernel, "DxgkDdi" #name, level, 0,                                          \
                            status_ = KERNEL_GUEST((d)->ddi.DxgkDdi##name)(__VA_ARGS__)) &&                  \
                status_ != STATUS_SUCCESS)                                                                   \
                dxgk_answers_status(d, "DxgkDdi" #name, status_);                                            \
            dxgk_kernel_lower((d)->kernel, old_);                                                            \
            if (!NT_SUCCESS(status_))                                                                        \
                (d)->failed = (struct dxgk_failed){"DxgkDdi" #name, status_, NULL, (d)->failed.count + 1};   \
        }                                                                                                    \
        status_;                                                                                             \
    })

/* Whether DDI `name` has to take its structure as CONST, and may write to no byte of it. */
#define DDI_ONLY_READS(d, name, arg)                                                                         \
    _Generic((d)->ddi.DxgkDdi##name, NTSTATUS(APIENTRY *)(HANDLE, const typeof(*(arg)) *)                    \
             : true, default                                                                                 \
             : false)
/* The same of a DDI whose argument is a structure, which `call` hands on as handed_: what it may only read there is as it was behind the call
 * (answers/inputs.c), and there is nothing behind it (answers/arguments.c). */
#define DDI_AROUND(d, name, arg, call)                                                                       \
    ({                                                                                                       \
        __auto_type arg_ = (arg);                                                                            \
        typeof(arg_) handed_ = dxgk_argument(d, arg_, sizeof(*arg_));                                        \
        NTSTATUS called_ = STATUS_NO_MEMORY;                                                                 \
        if (handed_) {                                                                                       \
            called_ = (call);                                                                                \
            dxgk_inputs_take(d, "DxgkDdi" #name, handed_, arg_, sizeof(*arg_),                               \
                             DDI_ONLY_READS(d, name, arg_));                                                 \
            dxgk_argument_back(d, "DxgkDdi" #name, "its argument", handed_, sizeof(*arg_), arg_);            \
        }                                                                                                    \
        called_;                                                                                             \
    })
#define DDI_ARG(d, name, object, arg, ...)                                                                   \
    DDI_AROUND(d, name, arg, DDI(d, name, object, handed_, ##__VA_ARGS__))
#define DDI_ARG_AT(d, level, name, object, arg)                                                              \
    DDI_AROUND(d, name, arg, DDI_AT(d, level, name, object, handed_))

/* The same where it has returned STATUS_SUCCESS, and what it did keeps others from going on. */
static inline void dxgk_blame(struct dxgk *d, const char *ddi, const char *what)
{
    d->failed = (struct dxgk_failed){ddi, STATUS_SUCCESS, what, d->failed.count + 1};
}

/* Takes `item` out of the list that begins at *`list`, if it is there: LIST_DROP(&d->devices, dev, next). */
#define LIST_DROP(list, item, next)                                                                          \
    do {                                                                                                     \
        __typeof__(list) p_ = (list);                                                                        \
        while (*p_ && *p_ != (item))                                                                         \
            p_ = &(*p_)->next;                                                                               \
        if (*p_)                                                                                             \
            *p_ = (*p_)->next;                                                                               \
    } while (0)

/* The same for long lists, whose items know where they hang: `at` points to the pointer to each. */
#define LINK_FIRST(list, item)                                                                               \
    do {                                                                                                     \
        (item)->next = *(list);                                                                              \
        (item)->at = (list);                                                                                 \
        if (*(list))                                                                                         \
            (*(list))->at = &(item)->next;                                                                   \
        *(list) = (item);                                                                                    \
    } while (0)
#define UNLINK(item)                                                                                         \
    do {                                                                                                     \
        INVARIANT(*(item)->at == (item));                                                                    \
        *(item)->at = (item)->next;                                                                          \
        if ((item)->next)                                                                                    \
            (item)->next->at = (item)->at;                                                                   \
    } while (0)

void dxgk_log(struct dxgk *d, const char *source, unsigned id, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));
/* The same, about a client's process; NULL: the system's own. */
void dxgk_log_of(struct dxgk *d, const struct dxgk_client *c, const char *source, unsigned id,
                 const char *fmt, ...) __attribute__((format(printf, 5, 6)));
bool dxgk_adapter_lock(struct dxgk *d);         /* false once FAILED */
bool dxgk_adapter_lock_cleanup(struct dxgk *d); /* also then, unless a DDI is stuck inside */
void dxgk_adapter_unlock(struct dxgk *d);
/* Lets the scheduler's thread look, or that for time-outs. Any IRQL. */
void dxgk_adapter_kick(struct dxgk *d);
void dxgk_adapter_kick_tdr(struct dxgk *d);
/* Asks for a reset, as if there had been a time-out. */
void dxgk_adapter_force_tdr(struct dxgk *d);
int dxgk_physmem_alloc(struct dxgk *d, size_t size, struct physmem *m);
void dxgk_physmem_free(struct dxgk *d, struct physmem *m);

/* metrics.c. A packet goes to the device, comes back from it, is shown; a vblank is noticed, `since_ns` after the one before, with
 * `missed` between. */
void dxgk_metrics_submitted(struct dxgk *d, struct packet *p, uint64_t now);
void dxgk_metrics_completed(struct dxgk *d, const struct packet *p, uint64_t now);
void dxgk_metrics_presented(struct dxgk *d, const struct packet *p, bool late);
void dxgk_metrics_vblank(struct dxgk *d, UINT source, uint64_t missed, uint64_t since_ns);
/* Answers the struct dxgk_metrics in `data`, of the clients that `asker` may see: an administrator all of them, a stranger those of
 * its user. STATUS_NO_MORE_ENTRIES: there is no such client. */
/* What it did, into the log: it is nobody's business any more. */
void dxgk_metrics_closed(const struct dxgk_client *c);
NTSTATUS dxgk_metrics_get(struct dxgk *d, const struct dxgk_client *asker, void *data, size_t size);

/* callbacks.c */
/* Fills d->iface. */
void dxgk_callbacks_fill(struct dxgk *d);
/* The one of them that begins there; NULL: none. */
const char *dxgk_callback_name(const struct dxgk *d, const void *start);
/* Where DXGK_DEVICE_INFO says that the adapter's driver key is: HKR of settings.h, under the class of display adapters. */
#define DXGK_DRIVER_KEY                                                                                      \
    "\\Registry\\Machine\\System\\CurrentControlSet\\Control\\Class\\{4d36e968-e325-11ce-bfc1-08002be10318}\\0000"
