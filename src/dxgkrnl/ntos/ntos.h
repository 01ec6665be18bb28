/* SPDX-License-Identifier: MIT */
/* ntos.h: what the kernel routines (wddm/ntddk.h) gave to the miniport. */
#pragma once

#include "dxgkrnl/kernel.h"
#include "dxgkrnl/ntos/pool.h"
#include "dxgkrnl/packet.h"

struct mapping {
    struct mapping *next;
    uint8_t *va;
    uint64_t address;
    size_t size;
    bool trapped;   /* accesses fault */
    bool own;       /* `va` is address space of ours */
    const char *by; /* the routine that mapped it */
};

/* Pages that an MDL has locked (MmProbeAndLockPages). */
struct locked {
    struct locked *next;
    const MDL *mdl;
    uintptr_t start;
    size_t size;
};

struct contiguous {
    struct contiguous *next;
    struct physmem mem;
    const MDL *mdl; /* that describes it, and has no address of its own (MmAllocatePagesForMdl); else NULL */
    PFN_NUMBER first; /* of that MDL */
    /* The rest is of what another routine gave. It has a page in front of it and one behind it that are nobody's, and watched. */
    struct physmem whole; /* with these; empty: of MmAllocatePagesForMdl */
    const char *by;       /* that routine */
    int cache;            /* MEMORY_CACHING_TYPE */
    bool freed;           /* kept for a while, to see who still writes into it */
    const char *freed_in; /* NULL: in no DDI */
};

/* A work item that waits for a worker; its own list entry is not trusted. */
struct queued_item {
    struct queued_item *next;
    PWORK_QUEUE_ITEM item;
};

/* An object that the miniport has references to; system threads count their own. */
struct reference {
    struct reference *next;
    const void *object; /* itself: a file */
    const char *what;
    unsigned n;
    DMA_ADAPTER adapter; /* of IoGetDmaAdapter: the object */
};

struct key_handle {
    struct key_handle *next;
    ACCESS_MASK access;
    char name[];
};

/* What a miniport wrote into the registry, numbers apart (those are settings): a value, or a key without one (`name` is empty). */
struct key_value {
    struct key_value *next;
    char key[200], name[64];
    ULONG type, size;
    UCHAR data[];
};

/* What a miniport initialises in its own memory: known.c. Those that threads wait for, up to the timer; those that are to be deleted,
 * from the resource. */
enum known_kind {
    KNOWN_NOTHING,
    KNOWN_EVENT,
    KNOWN_SEMAPHORE,
    KNOWN_MUTEX,
    KNOWN_TIMER,
    KNOWN_DPC,
    KNOWN_RESOURCE,
    KNOWN_LOOKASIDE,
    KNOWN_PAGED_LOOKASIDE,
    KNOWN_BUGCHECK, /* known while it is registered */
    KNOWN_BUGCHECK_REASON,
};

/* A spin lock that is held. */
struct held_lock {
    const KSPIN_LOCK *lock;
    const struct kernel_ddi *call; /* that acquired it */
    bool queued, raised;           /* by a handle in the stack; to DISPATCH_LEVEL, from: */
    KIRQL old;
};
enum { MAX_HELD = 64 };

enum { PULSES = 16 };

struct ntos {
    struct map known; /* an object's address: its known_kind */
    bool forgot;      /* one of them, for want of memory: nobody is blamed any more for what is not known */
    struct held_lock held[MAX_HELD];
    unsigned num_held;
    struct reference *references;
    struct key_handle *keys; /* of the registry, that are open */
    struct key_value *values;
    struct mapping *mappings;
    struct locked *locked;
    struct pool pool;
    struct contiguous *contiguous;
    struct {
        struct contiguous *first, **last; /* the oldest first */
        size_t bytes;
    } freed_contiguous;
    LIST_ENTRY timers;   /* that are set, the first to be due in front */
    struct ktimer timer; /* for that one */

    struct system_thread *threads;
    struct queued_item *items, **items_last; /* that wait */
    unsigned workers, idle, busy, io_items;
    struct begun {
        unsigned n;
        uint64_t since_ns;
    } begun_threads, begun_items;
    bool stopping;
    struct pulse { /* of KePulseEvent, for who waited then */
        const void *event;
        uint64_t number;
    } pulse[PULSES];
    uint64_t pulses;
    struct kwaiters work; /* workers; system threads, too, which stop when they are told to */
    struct kwaiters work_ended;
    struct kwaiters rundown; /* who waits for the end of a run-down */
    bool port_said;          /* that there are no ports */
};

void dxgk_ntos_init(struct dxgk *d);
/* A violation for each thing that the miniport did not give back, unless the adapter crashed; how many. */
unsigned dxgk_ntos_check_leaks(struct dxgk *d);
/* Contiguous memory. Whoever wrote in front of it, behind it, or into what is freed, is named. */
void dxgk_contiguous_init(struct dxgk *d);
void dxgk_contiguous_look(struct dxgk *d);
void dxgk_contiguous_finish(struct dxgk *d);
/* Gives up what was freed and is kept, for whoever else needs memory. False: there was none. */
bool dxgk_contiguous_forget(struct dxgk *d);
/* What an adapter object's AllocateCommonBuffer and FreeCommonBuffer do. */
PVOID dxgk_contiguous_common(ULONG bytes, bool cached);
void dxgk_contiguous_common_back(PVOID va, ULONG bytes, bool cached);
void dxgk_ntos_finish(struct dxgk *d);
NTSTATUS dxgk_ntos_map(struct dxgk *d, const char *by, uint64_t address, size_t size, void **va);
/* `routine` gives back what `by` has mapped: what is not mapped, or by another one, is a violation. */
NTSTATUS dxgk_ntos_unmap(struct dxgk *d, const char *routine, const char *by, void *va);
/* Whether pages of these bytes are locked by an MDL. */
bool dxgk_ntos_is_locked(const struct dxgk *d, const void *memory, size_t size);
/* Those of this MDL are not, any more; NULL: of none. */
void dxgk_ntos_forget_locked(struct dxgk *d, const MDL *mdl);
/* Where a thread of the miniport's waits besides: wakes when it has to end, and then this does not return. NULL for other threads. */
struct kwaiters *dxgk_ntos_thread_stop(struct dxgk *d);
/* The object behind a thread's handle, with a reference; NULL: it is none. Gives back the handle; a reference. False: it is none. */
PVOID dxgk_ntos_thread_reference(struct dxgk *d, HANDLE handle);
/* One more reference to a thread's object: how many there are; 0: it is none. */
unsigned dxgk_ntos_thread_add_reference(struct dxgk *d, PVOID object);
bool dxgk_ntos_thread_close(struct dxgk *d, HANDLE handle);
/* One reference more to an object of that kind: how many there are; 0: there is no memory. NULL: a new object, the first of `references`. */
unsigned dxgk_ntos_refer(struct dxgk *d, const void *object, const char *what);
/* One less, in `routine`: how many are left. That there is none is a violation. */
unsigned dxgk_ntos_give_back(struct dxgk *d, const char *routine, const void *object);
/* A violation for each object that the miniport has references to; how many. */
unsigned dxgk_ntos_check_references(struct dxgk *d);
void dxgk_ntos_forget_references(struct dxgk *d);
bool dxgk_ntos_thread_release(struct dxgk *d, PVOID object);
/* Ends what runs code of the miniport; how much it left. */
unsigned dxgk_ntos_stop_threads(struct dxgk *d);
/* Stops the timers that lie in these bytes, or all (NULL); how many were set. */
unsigned dxgk_ntos_forget_timers(struct dxgk *d, const void *memory, size_t size);
/* An object of `size` bytes is initialised now; what was there may not be in use. */
void dxgk_ntos_initialised(const char *routine, enum known_kind kind, const void *object, size_t size);
/* False: it is none, which is a violation; nothing of it was read. */
bool dxgk_ntos_known(const char *routine, enum known_kind kind, const void *object);
/* The same for a mutex that no routine initialises but that of its event. */
bool dxgk_ntos_known_mutex(const char *routine, const FAST_MUTEX *mutex);
bool dxgk_ntos_known_waitable(const char *routine, const void *object);
/* Whether it is known as one; no violation. */
bool dxgk_ntos_is(const struct dxgk *d, enum known_kind kind, const void *object);
void dxgk_ntos_deleted(struct dxgk *d, const void *object);
/* The work items that lie in these bytes wait no more; how many did. */
unsigned dxgk_ntos_forget_items(struct dxgk *d, const void *memory, size_t size);
/* What the kernel had in its lists of these bytes, and has not any more; NULL: nothing. */
const char *dxgk_ntos_in_use(struct dxgk *d, const void *memory, size_t size);
/* The same for pool that is freed, and objects in it that should have been deleted; none of them is known any more. */
const char *dxgk_ntos_freed(struct dxgk *d, const void *memory, size_t size);
/* One after the other that is known as one of these two; `*at` begins as 0. NULL: there is none more. */
void *dxgk_ntos_next(const struct dxgk *d, size_t *at, enum known_kind kind, enum known_kind or);
/* A bug check: who registered for it is called. */
void dxgk_ntos_bugcheck(struct dxgk *d);
/* A violation for each that is left; how many. */
unsigned dxgk_ntos_check_undeleted(struct dxgk *d);
/* The spin locks in these bytes are not held any more; how many were. */
unsigned dxgk_ntos_forget_locks(struct dxgk *d, const void *memory, size_t size);
/* A call into the miniport has come back: what it acquired is released, or that is a violation. */
void dxgk_ntos_check_locks(struct dxgk *d);
/* Whether it is a system thread's object. */
bool dxgk_ntos_thread_is(const struct dxgk *d, const void *object);
/* The text of `s`, if it is ASCII and shorter than `size`. */
bool dxgk_ntos_to_ascii(const UNICODE_STRING *s, char *out, size_t size);

/* Whether all of it is in a window of registers that are no memory here. */
bool dxgk_ntos_is_register(struct dxgk *d, uint64_t va, size_t size);
/* An access of 1, 2, 4 or 8 bytes by a driver to whom registers are memory; false: no trapped window is there. */
bool dxgk_ntos_register(struct dxgk *d, bool write, uint64_t va, unsigned size, uint64_t *value);
/* There is no port: a violation, and all ones. */
uint32_t dxgk_ntos_port(struct dxgk *d, bool write, uint16_t port, unsigned size, uint32_t value);
