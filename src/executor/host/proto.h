/* SPDX-License-Identifier: MIT */
/* proto.h: what the host and the executor process share: one block of memory, an event descriptor, a socket.
 *
 *   descriptor 3  the shared memory (struct exec_shared), sealed to its size
 *   descriptor 4  done: the executor writes it when the host sleeps and there is something in the completion ring
 *   descriptor 5  control: SOCK_SEQPACKET; memory regions one way, one ready message the other way. Its end is the host's
 *
 * The doorbell is a futex, executor_sleeping, rather than a descriptor: nothing that the executor does can
 * make ringing it block, and waiting for it is one system call.
 *
 * Invariants:
 *  1. Each index has one writer. Indices run freely; index % slots is the slot. A reader takes an index that is further
 *     away from its own than there are slots for proof that the other side is broken, and stops talking to it.
 *  2. A writer fills a slot, then moves its index (sequentially consistent), then reads the other side's `sleeping`. A
 *     sleeper sets `sleeping`, then reads the index again, then waits. So no wake-up is lost, and there is none while both
 *     are busy.
 *  3. `epoch` counts resets. The executor answers a change by forgetting everything, discarding the submission ring, and
 *     setting `epoch_done`. The host puts nothing into the ring before that.
 *  4. Control messages are numbered from 1; a submission says which ones it comes after.
 */
#pragma once

#include <stdalign.h>
#include <stdatomic.h>
#include <stdint.h>

#include "executor/engine/progress.h"
#include "executor/engine/engine.h"

enum exec_fd { EXEC_FD_SHARED = 3, EXEC_FD_DONE, EXEC_FD_CONTROL, EXEC_FD_END };

enum {
    EXEC_PROTO_MAGIC = 0x45475041,
    EXEC_PROTO_VERSION = 6,
    EXEC_RING_SLOTS = 256,
    EXEC_DONE_SLOTS = 512, /* a full ring of completions from before a reset, and one from after it */
    EXEC_SPIN_NS = 20000,  /* how long the host polls for a completion before it sleeps */
    /* How long the executor polls for more work: time enough for a client in another process to be woken on a processor
     * that was asleep, and to submit again. */
    EXEC_AWAKE_NS = 100000,
    EXEC_PAGE = 4096,
};

enum exec_exit {
    EXEC_EXIT_HOST_GONE = 0,
    EXEC_EXIT_START = 2,    /* not started by a host, or could not set itself up; said why */
    EXEC_EXIT_PROTOCOL = 3, /* the host's side of the shared memory makes no sense */
    EXEC_EXIT_FAULT = 128,  /* plus the signal's number */
};

struct exec_slot {
    struct abi_submission s;
    uint64_t control_seq; /* the last control message that counts for it */
};

/* One cache line, unless there is a message. */
struct exec_done_slot {
    alignas(64) uint32_t epoch;
    struct abi_completion c;
};

/* What a fault handler leaves behind. */
enum { EXEC_LEFT_MIB = 1024 };

struct exec_fault {
    _Atomic uint32_t state; /* 0 none, 1 being written, 2 complete */
    int32_t signal, code;   /* siginfo */
    int32_t sender;         /* process that sent it, 0 for none that is known */
    uint32_t thread, own_thread;
    uint32_t access;  /* enum exec_access, of a page fault */
    uint32_t made_up; /* 1: it says that it is a fault, and the processor had none */
    uint32_t told;    /* 1: `sender` is what the sender says */
    uint32_t reserved;
    uint32_t left_mib; /* that it would still have got of private memory, at most EXEC_LEFT_MIB */
    uint64_t address, submission;
    uint64_t boot_ns;                       /* when, on CLOCK_BOOTTIME */
    uint64_t registers[EXEC_NUM_REGISTERS]; /* of a page fault */
};

/* Read once, before anything of the guest's is. */
struct exec_start {
    uint32_t magic, version, files, spin;
    uint64_t memory_bytes;
    uint32_t has_device, markers, addresses;
    int32_t nice; /* of its session, as its host's: share_nice() */
    char device[256];
};

/* Each line has one writer, and what changes with every submission is apart from what seldom does: a line that the other side has
 * written must come from its processor's cache, which takes as long as executing an empty submission. */
struct exec_shared {
    struct exec_start start;
    alignas(64) _Atomic uint32_t ring_tail;         /* host */
    _Atomic uint32_t epoch;                         /* host */
    _Atomic uint32_t controls;                      /* host: control messages sent */
    alignas(64) _Atomic uint32_t ring_head;         /* executor */
    alignas(64) _Atomic uint32_t done_tail;         /* executor */
    alignas(64) _Atomic uint32_t done_head;         /* host */
    alignas(64) _Atomic uint32_t executor_sleeping; /* both; the doorbell */
    alignas(64) _Atomic uint32_t host_sleeping;     /* both */
    alignas(64) _Atomic uint32_t epoch_done;        /* executor */
    _Atomic uint32_t executor_cpu;                  /* executor: where it ran last; a hint */
    alignas(64) _Atomic uint32_t host_cpu;          /* host: likewise */
    _Atomic uint32_t host_would_poll;    /* host: how often it did not poll because both share a processor */
    alignas(64) struct exec_fault fault; /* executor */
    alignas(64) struct exec_slot ring[EXEC_RING_SLOTS];
    struct exec_done_slot done[EXEC_DONE_SLOTS];
    alignas(EXEC_PAGE) struct exec_progress progress; /* executor and its Vulkan device */
};

enum exec_control_type { EXEC_CONTROL_MAP = 1, EXEC_CONTROL_UNMAP };

/* Host to executor; EXEC_CONTROL_MAP comes with one descriptor. */
struct exec_control {
    uint32_t type, reserved;
    uint64_t seq, gpa, size, offset;
};

/* Executor to host, once. */
struct exec_ready {
    int32_t code; /* 0: ready, and `text` is the device's name; else a negative errno, and `text` says why */
    uint32_t is_cpu;
    char text[300];
};

/* Whether to busy-poll before sleeping, which costs a processor and saves two wake-ups, each some ten
 * microseconds where the other side is on another, idle processor. Never where both share one: the other
 * needs it to get anything done. Else as long as it pays, and once in a while to see if it does. Two threads
 * may poll at once: that the counters miss some of it does not matter. */
struct exec_poller {
    _Atomic uint32_t credit, passed;
};

enum { EXEC_POLL_CREDIT = 16, EXEC_POLL_PROBE = 32 };

static inline bool exec_worth_polling(struct exec_poller *l, uint32_t my_cpu, uint32_t other_cpu)
{
    uint32_t passed = atomic_load_explicit(&l->passed, memory_order_relaxed) + 1;
    bool worth = atomic_load_explicit(&l->credit, memory_order_relaxed) || passed >= EXEC_POLL_PROBE;

    if (my_cpu == other_cpu)
        return false;
    atomic_store_explicit(&l->passed, worth ? 0 : passed, memory_order_relaxed);
    return worth;
}

static inline void exec_polled(struct exec_poller *l, bool found)
{
    uint32_t credit = atomic_load_explicit(&l->credit, memory_order_relaxed);

    if (found || credit)
        atomic_store_explicit(&l->credit, found ? EXEC_POLL_CREDIT : credit - 1, memory_order_relaxed);
}

static inline void exec_pause(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#else
    __asm__ volatile("" ::: "memory");
#endif
}
