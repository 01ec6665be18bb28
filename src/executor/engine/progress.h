/* SPDX-License-Identifier: MIT */
/* progress.h: how far the device has come, in memory that outlives the executor process.
 *
 * Each submission in the engine has a slot. What it does on the Vulkan device is divided into marks: a mark covers the
 * packets first..last. The device writes `top` when it reaches a mark and `bottom` when all work up to the mark's end is
 * done, both as numbers of marks, straight into this memory where it can (see enum exec_progress_way). Where a mark ends with
 * a piece of a submission that has a fence of its own, the executor writes `passed` when it sees the fence: exec_progress_bottom.
 *
 *   marks     │ 1: packets 0..1004 │ 2: packets 1005..2004 │ 3: …     group markers: a mark is a command buffer
 *   marks     │ 1: 17 │ 2: 18 │ 3: 21 │ …                            exact markers: a mark is a packet
 *
 * Invariants:
 *  1. bottom <= top <= num_marks, once the slot is queued; a mark in (bottom, top] was running at that instant. `bottom` and
 *     `passed` are never ahead of the work, and `top` is never behind it.
 *  2. A mark is filled in before the device can reach it.
 *  3. Whoever reads may read while all of it changes, and trusts no number in it.
 */
#pragma once

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "executor/shader/spirv_confine.h"

#ifdef FUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION
#define EXEC_PROGRESS_ROOM(n) ((n) / 64) /* each input has all of it, and reads it many times */
#else
#define EXEC_PROGRESS_ROOM(n) (n)
#endif

enum {
    EXEC_PROGRESS_SLOTS = 4,
    EXEC_PROGRESS_MARKS = EXEC_PROGRESS_ROOM(16384),
    EXEC_ADDRESS_EVENTS = EXEC_PROGRESS_ROOM(4096),
    EXEC_CHECKPOINT_CONTEXTS = 64, /* the first that set one; the others have none */
};

enum exec_markers {
    EXEC_MARKERS_GROUPS, /* around groups of draws: costs nothing that can be measured */
    EXEC_MARKERS_EXACT,  /* around every packet that the device works on: several times slower */
    EXEC_MARKERS_OFF,
};

enum exec_progress_way {
    EXEC_PROGRESS_NONE,
    EXEC_PROGRESS_SHARED, /* the device writes this memory: current at any instant, also after the process ended */
    EXEC_PROGRESS_COPIED, /* the device writes its own memory; the executor copies it every few milliseconds */
};

/* What writes the marks. */
enum exec_progress_writer {
    EXEC_WRITER_UPDATES, /* transfers behind barriers, outside of render passes */
    EXEC_WRITER_AMD, /* VK_AMD_buffer_marker: top and bottom of pipe, in render passes too, without barriers */
    EXEC_WRITER_CHECKPOINTS, /* transfers, and VK_NV_device_diagnostic_checkpoints once the device is lost */
};

enum exec_progress_state {
    EXEC_PROGRESS_FREE,
    EXEC_PROGRESS_DECODING, /* `decoding` says where */
    EXEC_PROGRESS_QUEUED,   /* decoded; the device works */
    EXEC_PROGRESS_DONE,
};

/* What else it waits for than the device. */
enum exec_progress_wait {
    EXEC_WAIT_NONE,
    EXEC_WAIT_SHADERS,  /* that are translated: the decoder or, where the device is done, the completion */
    EXEC_WAIT_PIPELINE, /* that the Vulkan driver makes */
};

struct exec_mark {
    uint32_t first, last; /* packets, counted from 0 */
    uint32_t draws;       /* draws and dispatches among them */
};

struct exec_progress_slot {
    uint32_t top, bottom;    /* by the device, and both at the end by whoever saw its fence */
    _Atomic uint32_t passed; /* marks that are done by a fence */
    _Atomic uint32_t waits;  /* enum exec_progress_wait */
    _Atomic uint32_t state, num_marks;
    _Atomic uint64_t submission; /* id, 0 for none yet */
    _Atomic uint32_t decoding;   /* number of the packet that is being decoded, from 1; 0: none yet */
    uint32_t context;
    struct exec_mark marks[EXEC_PROGRESS_MARKS];
};

/* The address in the kernel's half that a shader of the virtual GPU may have meant, if its code faulted at `address`, which is none;
 * 0: it meant `address`, if it was a shader's. */
static inline uint64_t exec_kernels_address(uint64_t address)
{
    const uint64_t meant = address ^ SPIRV_NO_ADDRESS;

    return meant - SPIRV_OUTSIDE_FAULTS < SPIRV_OUTSIDE_SIZE ? meant : 0;
}

/* Marks that are done. */
static inline uint32_t exec_progress_bottom(const struct exec_progress_slot *s)
{
    uint32_t passed = atomic_load_explicit(&s->passed, memory_order_relaxed);

    return s->bottom > passed ? s->bottom : passed;
}

enum exec_address_state { EXEC_ADDRESS_GONE, EXEC_ADDRESS_MADE, EXEC_ADDRESS_EVICTED, EXEC_ADDRESS_RESIDENT };

/* A buffer got an address, or gave it up, or lost or got back the memory behind it. */
struct exec_address_event {
    uint64_t time_ns, address, size;
    uint32_t handle, state; /* enum exec_address_state */
};

/* Where a checkpoint of the guest's (ext.h) stands: submission 0 for none. */
struct exec_checkpoint {
    uint64_t submission;
    uint32_t packet, reserved;
};

/* The last ones of a context: reached, by the decoder; passed, by the device behind a barrier. */
struct exec_checkpoints {
    _Atomic uint32_t in_use;
    uint32_t context;
    struct exec_checkpoint top, bottom;
};

/* Begins on a page of its own and fills whole pages. */
struct exec_progress {
    uint32_t way, exact;        /* enum exec_progress_way; exact: every packet has its mark */
    uint32_t writer;            /* enum exec_progress_writer */
    uint32_t in_order;          /* 1: what came later cannot keep earlier work from ending */
    _Atomic uint32_t unguarded; /* 1: a shader was made that could store here */
    uint32_t reserved;
    _Atomic uint64_t num_addresses; /* events so far; the last EXEC_ADDRESS_EVENTS are there */
    struct exec_progress_slot slots[EXEC_PROGRESS_SLOTS];
    struct exec_address_event addresses[EXEC_ADDRESS_EVENTS];
    struct exec_checkpoints checkpoints[EXEC_CHECKPOINT_CONTEXTS];
};

/* Copies what counts while it changes: of a slot's marks those that are in use. */
static inline void exec_progress_read(struct exec_progress *to, const struct exec_progress *from)
{
    memcpy(to, from, offsetof(struct exec_progress, slots));
    for (int i = 0; i < EXEC_PROGRESS_SLOTS; i++) {
        const struct exec_progress_slot *s = &from->slots[i];
        uint32_t marks = atomic_load(&s->num_marks);

        if (marks > EXEC_PROGRESS_MARKS)
            marks = EXEC_PROGRESS_MARKS; /* whatever wrote it */
        memcpy(&to->slots[i], s, offsetof(struct exec_progress_slot, marks));
        memcpy(to->slots[i].marks, s->marks, marks * sizeof(s->marks[0]));
        if (atomic_load(&to->slots[i].num_marks) > marks)
            atomic_store(&to->slots[i].num_marks, marks); /* they have grown meanwhile */
    }
    memcpy(to->addresses, from->addresses, sizeof(to->addresses));
    memcpy(to->checkpoints, from->checkpoints, sizeof(to->checkpoints));
}

/* What the processor held when it stopped; x86-64's names. */
#define EXEC_REGISTERS(R)                                                                                    \
    R(RIP)                                                                                                   \
    R(RAX)                                                                                                   \
    R(RBX) R(RCX) R(RDX) R(RSI) R(RDI) R(RBP) R(RSP) R(R8) R(R9) R(R10) R(R11) R(R12) R(R13) R(R14) R(R15)

enum exec_register {
#define EXEC_ROW(NAME) EXEC_##NAME,
    EXEC_REGISTERS(EXEC_ROW)
#undef EXEC_ROW
        EXEC_NUM_REGISTERS
};

/* What a page fault was about to do, by the processor's error code. */
enum exec_access {
    EXEC_ACCESS_UNKNOWN,
    EXEC_ACCESS_READ,
    EXEC_ACCESS_WRITE,
    EXEC_ACCESS_EXECUTE,
    EXEC_ACCESS_NO_ADDRESS, /* an address that is not canonical: the processor says neither which nor what for */
};
