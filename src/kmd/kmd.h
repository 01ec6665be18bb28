/* SPDX-License-Identifier: MIT */
/* kmd.h: what the files of the miniport share. The contract of the whole is in driver.c.
 *
 * Who may touch what:
 *  - `lock` (at DISPATCH_LEVEL): ring, fences going out, the queue behind a full ring, the watchdog;
 *  - DIRQL (the interrupt routine, or inside DxgkCbSynchronizeExecution): fences coming back, preemption, flips,
 *    the vblank anchor;
 *  - `mutex`: the aperture's pages, the trace of allocations, share tokens, debug tokens, handles of devices;
 *  - `display`: modes, scanout and cursor as the driver set them;
 *  - counters: single words, written where their event happens, read anywhere.
 */
#pragma once

#include <aerogpu/alloc.h>
#include <aerogpu/cmd.h>
#include <aerogpu/escape.h>
#include <aerogpu/ext.h>
#include <aerogpu/pci.h>
#include <aerogpu/ring.h>

#include "wddm/dispmprt.h"

#define KMD_TAG        0x55504741 /* "AGPU" */
#define KMD_TARGET     1          /* the one VidPN target, and the monitor on it */
#define KMD_APERTURE   1          /* the one segment */
#define KMD_EDID_SIZE  128
#define KMD_POINTER    64  /* largest pointer of the operating system */
#define KMD_CURSOR_MAX 256 /* largest cursor of the escape */
/* Where the aperture begins in the GPU's address space: beside every guest address, so that a mix-up shows. */
#define KMD_APERTURE_BASE INT64_C(0x100000000000)

enum {
    KMD_RING_ENTRIES = 256,
    KMD_MAX_IN_FLIGHT =
        1024, /* submissions of a node that SubmitCommand has accepted and that are not reported */
    KMD_NODES =
        63, /* with EXT_ENGINES: node n is the device's engine n, and the last engine is the driver's own */
    KMD_OWN_ENGINE = KMD_NODES,
    KMD_RECENT = 8, /* submissions kept for a dump */
    KMD_RECENT_BYTES = 4 << 20,
    KMD_LOG_LINES = 256,
    KMD_MAX_LIST = 4096,          /* allocation list entries of a context */
    KMD_DMA_DEFAULT = 256 * 1024, /* DMA buffer of a context that asks for nothing else */
    KMD_WATCHDOG_MS = 250,
    KMD_POOL_SLOTS = 8,
    KMD_DEBUG_TOKENS = 256,
    KMD_MAX_DEVICES = 4094, /* numbers of devices; 4095 is the driver's own */
    KMD_OWN_NUMBER = 4095,
    KMD_OWN_CONTEXT = 0x7FFFFFFF, /* context_id of the driver's own streams */
    KMD_REAPER_BYTES = 65536,
};

/* What a DMA buffer says to SubmitCommand, in its private data. */
struct kmd_dma {
    ULONG magic;
    ULONG flags; /* AEROGPU_SUBMIT_FLAG_* */
    ULONG context_id;
    ULONG stream_size;
    ULONG table_offset, table_size; /* 0: no allocation table */
    ULONG kind;                     /* enum kmd_submit_kind */
    ULONG client, session;
    ULONG groups; /* of EXT_GROUPS */
    PVOID buffer; /* where the kernel has it mapped */
};
#define KMD_DMA_MAGIC 0x414D4441

enum kmd_submit_kind { KMD_SUBMIT_RENDER, KMD_SUBMIT_PRESENT, KMD_SUBMIT_INTERNAL };

/* A process with devices: what the GPU knows of it is its own. Without EXT_CLIENTS there is one, number 0, for all. */
struct kmd_client {
    LIST_ENTRY link;
    ULONG number, devices, session;
    ULONG node; /* its own, 0: none was left */
    struct kmd_grave *grave;
};

/* What a client, a device, a context or a share token leaves at the GPU when it ends; allocated before it begins. */
struct kmd_grave {
    LIST_ENTRY link; /* among the dead */
    ULONG opcode; /* the packet that says so: EXT_DESTROY_HANDLES, _CONTEXT, RELEASE_SHARED_SURFACE; or 0: */
    ULONG client; /* whose it was; opcode 0: who has ended */
    ULONG number;
    ULONGLONG token;
    BOOLEAN used; /* the GPU may have heard of it */
};

/* Sessions that have surfaces of others', as EXT_GROUPS names them; the last is of all for whom there is no other. One is free when no
 * surface has it. */
#define KMD_GROUPS 32u
struct kmd_group {
    ULONG session, surfaces;
};

struct kmd_allocation {
    struct kmd *kmd;
    ULONG alloc_id;
    ULONG flags;                        /* AEROGPU_ALLOC_PRIV_FLAG_* */
    ULONG client;                       /* who created it */
    ULONG session;                      /* and of which session; 0: the system */
    ULONG groups;                       /* one of KMD_GROUPS bits, of its session; 0: no other had it */
    ULONG width, height, pitch, format; /* AEROGPU_FORMAT_*; 0 for what is no surface */
    ULONGLONG size, share_token;
    struct kmd_grave *grave; /* of the token; NULL: there is none */
    BOOLEAN primary;
    /* Where it was found last time (kmd_resolve). */
    ULONG map_serial;
    ULONGLONG map_address, gpa;
};

struct kmd_device {
    struct kmd *kmd;
    HANDLE dxgk;
    ULONG number; /* not 0; names the device's handles at the GPU */
    struct kmd_client *client;
    LIST_ENTRY link;
    LIST_ENTRY opens;
    struct kmd_grave *grave;
};

/* An allocation as a device sees it. */
struct kmd_open {
    LIST_ENTRY link;
    struct kmd_allocation *allocation;
    struct kmd_device *device;
    BOOLEAN read_only, creator;
};

struct kmd_context {
    struct kmd_device *device;
    ULONG id; /* context_id of its submissions */
    ULONG node;
    BOOLEAN system;
    struct kmd_grave *grave;
    ULONG list_size, dma_size;
    /* Scratch of Render: alloc ids seen, by hash. */
    struct kmd_seen {
        ULONG serial, id, entry;
        struct kmd_allocation *allocation;
    } * seen;
    ULONG seen_serial, seen_mask;
};

struct kmd_mode {
    ULONG width, height;
};

struct kmd_perf {
    volatile LONGLONG submissions, presents, renders, internals;
    volatile LONGLONG irq_fence, irq_vblank, irq_spurious, irq_error;
    volatile LONGLONG resets, last_reset_100ns, push_failures, selftests;
    volatile LONGLONG scanline_hits, scanline_polls;
    volatile LONGLONG pool_hits, pool_misses, pool_bytes;
    volatile LONGLONG tables, table_entries, table_readonly;
    ULONG selftest_code;
};

/* A piece of contiguous memory that the device reaches. */
struct kmd_memory {
    PVOID va;
    PHYSICAL_ADDRESS pa;
    SIZE_T size;
};

struct kmd_recent {
    ULONGLONG submitted_gpa;      /* of the DMA buffer */
    ULONGLONG cmd_gpa, table_gpa; /* of the copy; 0: none was kept */
    ULONGLONG fence;              /* the device's; 0: not submitted yet */
};

/* What is at the device of a node; `head` and what is behind it: DIRQL. */
struct kmd_node {
    struct kmd_in_flight {
        ULONGLONG value; /* the device's fence */
        ULONG fence;     /* the operating system's */
    } * in_flight;       /* KMD_MAX_IN_FLIGHT, oldest first; allocated when the node is given out */
    volatile ULONG head, tail;
    ULONG fence; /* the last that was reported */
    BOOLEAN preempting;
    ULONG preempt_fence;
};

struct kmd {
    DXGKRNL_INTERFACE dxgk;
    PDEVICE_OBJECT pdo;
    BOOLEAN started, powered, reset_pending;

    /* the device */
    PUCHAR regs;
    ULONG regs_size;
    ULONG abi;
    ULONGLONG features;

    struct kmd_settings {
        BOOLEAN read_gpa, map_shared_handle;
        ULONG max_dma, budget_mb, preferred_width, preferred_height, max_width, max_height, ring_entries;
    } settings;

    /* ring and fences: `lock` */
    KSPIN_LOCK lock;
    struct kmd_memory ring_memory, fence_memory;
    struct aerogpu_ring_header *ring;
    ULONG ring_entries, ring_size;
    ULONG ring_tail;                      /* ours; what the ring shows, others can write */
    ULONGLONG submitted;                  /* last fence that went out, 64 bits, of all nodes */
    struct aerogpu_submit_desc *overflow; /* behind a full ring; KMD_MAX_IN_FLIGHT of them */
    ULONG overflow_first, overflow_count;
    ULONG num_nodes; /* 1 without EXT_ENGINES */
    ULONG top_node;  /* those from here on have never been used */
    struct kmd_node nodes[KMD_NODES];
    KTIMER watchdog;
    KDPC watchdog_dpc;
    BOOLEAN watchdog_armed;
    BOOLEAN watchdog_found;    /* something that no interrupt had brought; it may be late only */
    ULONG watchdog_interrupts; /* then */
    ULONG interrupts;          /* runs of the interrupt routine */
    ULONG watchdog_head;
    struct kmd_memory recent_memory;
    ULONG recent_at, recent_count;
    struct kmd_recent recent[KMD_RECENT];

    /* what comes back: DIRQL */
    ULONG irq_enable;
    ULONG error_count; /* ERROR_COUNT as last seen */
    ULONGLONG last_error_fence;
    ULONG last_error_code;
    ULONGLONG last_error_100ns;
    volatile LONG error_latched;
    BOOLEAN vsync_wanted;          /* by the system */
    volatile LONG vsync_tests;     /* self-tests that wait for a vblank */
    volatile LONG vsync_requested; /* ControlInterrupt has been called for it */
    struct {
        BOOLEAN pending;
        ULONGLONG gpa;
        PHYSICAL_ADDRESS address;
        ULONG session;
        ULONGLONG asked; /* the number of the last vblank then */
    } flip;
    struct {
        BOOLEAN valid;
        ULONGLONG seq, device_ns, guest_100ns;
        ULONG period_ns;
    } anchor;
    volatile LONG selftest_vblanks;

    /* memory: `mutex` */
    FAST_MUTEX mutex;
    ULONG *pages; /* page frame of each aperture page, 0: nothing */
    ULONG num_pages;
    ULONG map_serial;
    ULONG next_alloc_id;
    ULONGLONG next_share_token;
    LIST_ENTRY devices, clients;
    struct kmd_group groups[KMD_GROUPS];
    ULONGLONG nodes_taken; /* bit n: node n is a client's; 0 is everybody's */
    ULONG next_device;
    LIST_ENTRY dead; /* graves of which the GPU has not been told */
    struct kmd_memory reaper;
    BOOLEAN reaper_busy;
    ULONGLONG reaper_fence, reaper_time;
    volatile LONG next_context;
    struct aerogpu_escape_createallocation trace[AEROGPU_ESCAPE_RECENT];
    ULONG trace_written, trace_calls;
    struct {
        PVOID object;
        ULONG token, used;
    } debug_tokens[KMD_DEBUG_TOKENS];
    ULONG next_debug_token;
    struct {
        struct kmd_memory memory;
        BOOLEAN used;
    } pool[KMD_POOL_SLOTS];

    /* display: `display` */
    FAST_MUTEX display;
    struct kmd_mode modes[16];
    ULONG num_modes, preferred_mode;
    UCHAR edid[KMD_EDID_SIZE];
    BOOLEAN visible;
    ULONG width, height, pitch, format; /* of the committed mode; 0: none */
    PHYSICAL_ADDRESS scan_address;      /* shown, as dxgkrnl names it; DIRQL */
    ULONG scan_session;                 /* whose it is; 0: everybody's */
    ULONGLONG scan_gpa;
    struct {
        struct kmd_memory *memory;
        BOOLEAN visible;
        LONG x, y;
        ULONG width, height, hot_x, hot_y;
    } cursor;

    struct kmd_perf perf;
    struct kmd_log {
        volatile LONG next;
        struct kmd_log_entry {
            ULONGLONG time_100ns, args[3];
            PCSTR format;
            ULONG level, number;
        } lines[KMD_LOG_LINES];
    } log;
};

/* driver.c */
extern UNICODE_STRING kmd_service_key;
/* Code that is needed until DriverEntry returns. */
#if defined(_WIN32)
#define KMD_INIT __attribute__((section("INIT")))
#else
#define KMD_INIT
#endif

/* hw.c: registers, ring, interrupts */
ULONG kmd_read(struct kmd *k, ULONG reg);
VOID kmd_write(struct kmd *k, ULONG reg, ULONG value);
ULONGLONG kmd_read64(struct kmd *k, ULONG reg); /* of a pair that the device may change meanwhile */
VOID kmd_read_vblank(struct kmd *k, ULONGLONG *seq, ULONGLONG *time_ns);
VOID kmd_write64(struct kmd *k, ULONG reg, ULONGLONG value);
ULONGLONG kmd_now(VOID); /* 100 ns */
NTSTATUS kmd_hw_create(struct kmd *k);
VOID kmd_hw_destroy(struct kmd *k);
NTSTATUS kmd_hw_start(struct kmd *k); /* ring, fence page and interrupts as after power-on */
VOID kmd_hw_stop(struct kmd *k);
BOOLEAN kmd_hw_settled(struct kmd *k); /* all is executed, what the driver says of itself, too */
NTSTATUS kmd_hw_submit(struct kmd *k, CONST struct aerogpu_submit_desc *desc, ULONG node, ULONG fence);
/* A submission of the driver's own: it signals no fence of the operating system's. */
NTSTATUS kmd_hw_submit_internal(struct kmd *k, struct aerogpu_submit_desc *desc);
/* Whether one with this signal_fence has been executed. Without EXT_ENGINES: whether a fence behind it is reported. */
BOOLEAN kmd_hw_internal_done(struct kmd *k, ULONGLONG fence);
/* A node that is given out for the first time needs memory. */
NTSTATUS kmd_hw_use_node(struct kmd *k, ULONG node);
/* All fences of the device's up to this one are reported, whatever node they are of. */
ULONGLONG kmd_completed(struct kmd *k);
BOOLEAN kmd_hw_idle(struct kmd *k); /* nothing is in the ring, or behind it */
/* After a change of vsync_wanted or vsync_tests. */
VOID kmd_hw_update_vsync(struct kmd *k);
BOOLEAN kmd_synchronize(struct kmd *k, PKSYNCHRONIZE_ROUTINE routine, PVOID context);
NTSTATUS kmd_memory_alloc(struct kmd_memory *m, SIZE_T size);
VOID kmd_memory_free(struct kmd_memory *m);

/* alloc.c */
/* The guest address of `size` bytes of the aperture at `address`; 0 if they are not mapped, or scattered. */
ULONGLONG kmd_resolve(struct kmd *k, struct kmd_allocation *a, PHYSICAL_ADDRESS address, ULONGLONG size);

/* render.c */
#define KMD_TABLE_ALIGN 16u
struct kmd_patches {
    D3DDDI_PATCHLOCATIONLIST *at;
    ULONG room;
    BOOLEAN shared; /* the table has what other clients may have open, */
    ULONG groups;   /* and of what other sessions have, these */
};
ULONG kmd_table_bytes(ULONG entries);
/* The table without addresses, at `table`, which is `offset` bytes into the DMA buffer, and its patch locations. */
NTSTATUS kmd_build_table(struct kmd_context *c, CONST DXGK_ALLOCATIONLIST *list, ULONG n, PUCHAR table,
                         ULONG offset, struct kmd_patches *patches, ULONG *size);

/* The flags of a submission that say after whose it comes. */
ULONG kmd_order(CONST struct kmd_context *c, CONST struct kmd_patches *patches, ULONG flags);

/* stream.c */
NTSTATUS kmd_stream_packet(struct kmd_device *d, PUCHAR packet, ULONG opcode, ULONG size);
/* Of a surface that another client created the GPU's executor of this one knows nothing: `packet` (KMD_IMPORT_MAX bytes) becomes
 * one that makes it of its guest memory. */
NTSTATUS kmd_stream_import(struct kmd_device *d, PUCHAR packet, ULONG *size);
#define KMD_IMPORT_MAX ((ULONG)sizeof(struct aerogpu_cmd_create_texture2d))
ULONG kmd_client_number(struct kmd *k); /* of the calling process */
ULONG kmd_client_node(struct kmd *k);   /* its own; 0: none, or it has no device */
struct kmd_grave *kmd_grave_create(ULONG opcode, ULONG client, ULONG number, ULONGLONG token);
/* Takes it over; with `mutex` held. The next reaping says so to the GPU. NULL is legal. */
VOID kmd_bury(struct kmd *k, struct kmd_grave *n);
VOID kmd_reap(struct kmd *k);
VOID kmd_forget_names(struct kmd *k); /* the GPU is empty, but does not know who has ended */
VOID kmd_forget_all(struct kmd *k);
ULONG kmd_device_number(struct kmd *k); /* 0: none is left */

/* display.c, vidpn.c */
VOID kmd_display_init(struct kmd *k);
VOID kmd_scanout_off(struct kmd *k);
NTSTATUS kmd_cursor_shape(struct kmd *k, ULONG width, ULONG height, ULONG hot_x, ULONG hot_y, ULONG format,
                          ULONG pitch, CONST UCHAR *pixels);
VOID kmd_cursor_move(struct kmd *k, LONG x, LONG y);
VOID kmd_cursor_show(struct kmd *k, BOOLEAN visible);
VOID kmd_cursor_finish(struct kmd *k);
VOID kmd_cursor_restore(struct kmd *k);
ULONG kmd_vblank_lines(ULONG height);
/* The DDIs (wddm/ddi.h), each in the file of its matter: those that WDDM 1.1 demands, and four more. */
#define KMD_DDI_NEED(name, TYPE) DXGKDDI_##TYPE kmd_##name;
#define KMD_DDI_MAY(name, TYPE)
#define KMD_DDI(need, name, TYPE, ...) KMD_DDI_##need(name, TYPE)
WDDM_DDIS(KMD_DDI, KMD_DDI, WDDM_DDI_NONE)
KMD_DDI_NEED(NotifyAcpiEvent, NOTIFY_ACPI_EVENT)
KMD_DDI_NEED(QueryInterface, QUERY_INTERFACE)
KMD_DDI_NEED(ControlEtwLogging, CONTROL_ETW_LOGGING)
KMD_DDI_NEED(QueryVidPnHWCapability, QUERYVIDPNHWCAPABILITY)

/* util.c */
PVOID kmd_alloc(SIZE_T size); /* zeroed, nonpaged; NULL if there is none */
VOID kmd_free(PVOID p);       /* NULL is legal */
/* A line for the debugger and the circular log; at most DIRQL. */
VOID kmd_log_line(struct kmd *k, ULONG level, PCSTR format, ULONGLONG a, ULONGLONG b, ULONGLONG c);
/* Whole lines from number *first on, as text; returns their bytes. */
ULONG kmd_log_read(struct kmd *k, PCHAR text, ULONG size, ULONGLONG *first, ULONGLONG *next);
/* `format` is a literal with %llu and %llx only, which outlives the driver's image: the log keeps the pointer. */
#define kmd_log(k, level, format, a, b, c)                                                                   \
    kmd_log_line(k, level, "aerogpu-kmd: " format "\n", (ULONGLONG)(a), (ULONGLONG)(b), (ULONGLONG)(c))

static FORCEINLINE VOID kmd_count(volatile LONGLONG *counter)
{
    InterlockedIncrement64(counter);
}
static FORCEINLINE VOID kmd_list_init(PLIST_ENTRY head)
{
    head->Flink = head->Blink = head;
}
static FORCEINLINE VOID kmd_list_add(PLIST_ENTRY head, PLIST_ENTRY entry)
{
    entry->Flink = head;
    entry->Blink = head->Blink;
    head->Blink->Flink = entry;
    head->Blink = entry;
}
static FORCEINLINE VOID kmd_list_remove(PLIST_ENTRY entry)
{
    entry->Blink->Flink = entry->Flink;
    entry->Flink->Blink = entry->Blink;
}
