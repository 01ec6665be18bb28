/* SPDX-License-Identifier: MIT */
/* display.h: modes, vblank, flips.
 *
 *   queued ──dxgk_display_flip──▶ waiting ──vblank (due - 1)──▶ programmed ──vblank (due)──▶ shown, the packet is finished
 *
 * Invariants:
 *  1. A flip with interval n > 0 is shown on a vblank that came after it was programmed, n after the one before it or
 *     later, never earlier.
 *  2. Vblank interrupts are on while somebody waits for one or a flip is pending, and go off VSYNC_IDLE_FRAMES after.
 *     When none comes for long they are switched off and on.
 *     Where the miniport cannot switch them on, a timer makes them: the desktop goes on.
 *  3. Vblanks are counted by the time between them: lost, late and doubled interrupts change nothing.
 *  4. What is scanned out is pinned: resident, and where it is.
 */
#pragma once

#include "dxgkrnl/display/grid.h"
#include "dxgkrnl/kernel.h"
#include "dxgkrnl/packet.h"
#include "dxgkrnl/progress.h"

enum {
    MAX_SOURCES = DXGK_VBLANK_SOURCES,
    MAX_CHILDREN = 8,
    VSYNC_IDLE_FRAMES = 10 /* vblanks without a waiter before they are switched off */
};

/* What a miniport may read of a monitor, as CONST. */
struct monitor {
    D3DKMDT_MONITOR_FREQUENCY_RANGE ranges[1];
    D3DKMDT_MONITOR_DESCRIPTOR descriptors[2];
    UCHAR edid[256]; /* that the descriptors point to */
};

struct child {
    DXGK_CHILD_DESCRIPTOR desc;
    bool connected;
    UCHAR edid[256];
    UINT edid_size;
    /* of the monitor there, from its EDID and the miniport: monitor.c */
    struct modeset *modes;
    struct monitor lent, kept; /* the second is what the first was */
    unsigned num_ranges, num_descriptors;
};

struct source {
    bool committed, visible;
    UINT target;
    D3DKMT_DISPLAYMODE mode;
    D3DKMDT_VIDPN_HW_CAPABILITY
    hardware; /* what the miniport does in hardware there; zero: it does not say */
    UINT stride;
    struct dxgk_pointer *pointer;        /* as it was set last, with its pixels; NULL: it never was */
    struct alloc *primary, *own_primary; /* what is shown; the desktop's */
    struct packet *flips, **flips_last;  /* waiting for their vblank; the first is due at flip_due */
    unsigned flip_count;
    bool flip_programmed;
    unsigned
        strange; /* vblanks in a row that say another address than the one that is programmed, and was due */
    uint64_t flip_due, last_flip, vblanks, frames, missed_vblanks;
    uint64_t vblank_ns;
    struct grid grid;
    uint64_t flip_after; /* the programmed flip is shown by a vblank after this one, */
    uint64_t flip_ns;    /* and that is reported after this time, when it was programmed */
    struct kwaiters vblank_waiters;
    unsigned waiting;
    uint64_t last_wanted; /* vblank number at which somebody last waited */
    D3DKMT_DISPLAYMODE *modes;
    unsigned num_modes;
    struct device *owner;
    D3DKMT_VIDPNSOURCEOWNER_TYPE owner_type;
};

struct display {
    ULONG num_sources, num_children;
    struct child children[MAX_CHILDREN];
    struct source sources[MAX_SOURCES];
    struct vidpn *active, *vidpns; /* all that there are */
    struct loan *loans;            /* what the miniport has of them: loans.h */
    bool vsync_enabled, vsync_stuck, vsync_idle;
    bool strange_target;   /* a vblank of a target that is none was reported, and named */
    unsigned vsync_misses; /* times in a row that switching vblanks on again brought none */
    uint64_t vsync_ns;     /* the last vblank of any source, or when they were switched on */
    struct ktimer vsync_timer;
    bool vsync_software; /* the miniport could not switch them on: soft_timer makes them */
    struct ktimer soft_timer;
    uint64_t vsync_on_ns; /* when they were switched on: what was missed before is no loss */
    uint64_t miss_logged_ns;
    struct dxgk_times jitter;
    struct dxgk_vblanks *vblanks; /* NULL: no client ever waited for one */
    int vblanks_fd;
};

/* The mode of a source and a target mode that go together. */
D3DKMT_DISPLAYMODE dxgk_display_mode_from(const D3DKMDT_VIDPN_SOURCE_MODE *s,
                                          const D3DKMDT_VIDPN_TARGET_MODE *t);
/* The preferred mode on every connected source. */
NTSTATUS dxgk_display_start(struct dxgk *d);
void dxgk_display_stop(struct dxgk *d);
/* `primary` NULL: a shared primary surface of dxgkrnl's own. Called with the adapter held. */
NTSTATUS dxgk_display_set_mode(struct dxgk *d, UINT source, const D3DKMT_DISPLAYMODE *mode,
                               struct alloc *primary);
/* After a reset or a power transition: what was shown is shown again. */
NTSTATUS dxgk_display_restore(struct dxgk *d);
/* A vblank of `target` was reported at `raised_ns` and noticed at `time_ns`; `address` is what it shows. */
void dxgk_display_vblank(struct dxgk *d, UINT target, PHYSICAL_ADDRESS address, uint64_t raised_ns,
                         uint64_t time_ns);
/* Takes over a flip packet whose context has nothing else at the device. */
void dxgk_display_flip(struct dxgk *d, struct packet *p);
/* A flip by DMA has been executed: its packet's `retired`. */
void dxgk_display_flipped(struct dxgk *d, struct packet *p);
void dxgk_display_drop_flips(struct dxgk *d, struct device *dev); /* NULL: everybody's */
NTSTATUS dxgk_display_wait_vblank(struct dxgk_client *c, UINT source, struct device *dev);
/* At PASSIVE_LEVEL, from the scheduler's thread. */
void dxgk_display_work(struct dxgk *d);

/* ---- vblanks.c: the page that clients read (progress.h) ------------------ */

bool dxgk_vblanks_tick(struct dxgk *d, unsigned source); /* whether somebody waits */
void dxgk_vblanks_changed(struct dxgk *d);               /* what a wait would answer, perhaps */
void dxgk_vblanks_finish(struct dxgk *d);

/* ---- pointer.c ----------------------------------------------------------- */

/* `size` bytes of struct dxgk_pointer (pointer.h) and its pixels. With the adapter held, as the two below. */
NTSTATUS dxgk_pointer_set(struct dxgk *d, const void *data, size_t size);
void dxgk_pointer_restore(struct dxgk *d, UINT source);
void dxgk_palette_start(struct dxgk *d, UINT source);

/* ---- monitor.c ----------------------------------------------------------- */

/* What the monitor at `target` can show: of its EDID, or of any monitor when it has none, and what the miniport adds. */
NTSTATUS dxgk_monitor_start(struct dxgk *d, UINT target);
void dxgk_monitor_stop(struct dxgk *d); /* of every target */
/* Whether the miniport wrote to what it was lent of it, which is put back. */
bool dxgk_monitor_written(struct child *c);
/* Whether the monitor behind child `i` has a mode of this size and rate, or a range that holds it. */
bool dxgk_monitor_has(const struct dxgk *d, int i, const D3DKMDT_VIDEO_SIGNAL_INFO *signal);
NTSTATUS NTAPI dxgk_monitor_query_interface(HANDLE adapter, DXGK_MONITOR_INTERFACE_VERSION version,
                                            CONST DXGK_MONITOR_INTERFACE **interface);
extern const DXGK_MONITOR_INTERFACE dxgk_monitor_interface;
extern const DXGK_MONITORFREQUENCYRANGESET_INTERFACE dxgk_monitor_ranges_interface;
extern const DXGK_MONITORDESCRIPTORSET_INTERFACE dxgk_monitor_descriptors_interface;

/* ---- names.c ------------------------------------------------------------- */

/* The routine of a VidPN's or a monitor's interface that begins there; NULL: none. */
const char *dxgk_display_routine_name(const void *start);
