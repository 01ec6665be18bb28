/* SPDX-License-Identifier: MIT */
/* state.h: what the kernel is made of; kernel.c and those beside this file alone read it. */
#pragma once

#include <pthread.h>
#include <stdatomic.h>
#include <ucontext.h>

#include "dxgkrnl/kernel.h"
#include "dxgkrnl/kernel/guard.h"
#include "dxgkrnl/kernel/violations.h"

struct kthread {
    struct kernel *kernel;
    const char *name;
    void (*fn)(void *arg);
    void *arg;
    struct kernel_ddi *ddi;
    struct dxgk_kernel_caller caller;
    struct ktimer wait_timer, ddi_timer;
    bool parked, woken, is_main;
    bool hopeless;             /* sim: nothing can end its wait */
    unsigned mutexes;          /* that it owns; resources, too */
    unsigned regions[REGIONS]; /* that it is in */
    const char *promised;      /* the routine that was told of a wait (Wait = TRUE); NULL: none */
    unsigned depth;            /* of dxgk_kernel_enter */
    _Atomic uint32_t signal;   /* live: 1 when it may go on; a futex */
    struct kthread *next_wake; /* live: in the kernel's list of those to signal */
    pthread_mutex_t *turn;     /* live: see dxgk_kernel_enter_turn; NULL: none */
    uint64_t since_ns;         /* live: it has had the processor, as far as dxgk_kernel_breathe knows */
    pthread_t pthread;
    ucontext_t context;
    void *stack;
    struct kthread *next; /* in the ready queue, or the list of all spawned */
    struct kthread *next_all;
    bool done;
};

struct kwait {
    struct kthread *thread;
    struct kwait *next;
    bool queued;
};

struct kernel {
    struct clock *clock;
    struct loop *loop; /* sim */
    struct kernel_ops ops;
    void *ctx;

    pthread_mutex_t cpu; /* live: held by the running thread */
    pthread_t service;
    int wake_fd;
    struct kthread *wakes;
    _Atomic uint64_t asleep_until; /* when the service thread looks at the timers next */
    _Atomic bool service_waits;    /* for the processor, with timers that are due */
    bool stopping;

    struct kthread *current, service_thread, main_thread;
    KIRQL irql;
    struct ktimer *timers;
    uint64_t order;
    LIST_ENTRY dpcs;
    bool draining;

    _Atomic uint32_t pending; /* one bit a message */
    _Atomic bool line;
    _Atomic bool connected;
    unsigned claimed,
        unclaimed; /* messages since it was connected; unclaimed: since the last that was claimed */

    struct kthread *ready, **ready_last, *all; /* sim */
    ucontext_t scheduler;
    struct loop_timer loop_timer;
    unsigned waits; /* at this instant: */
    uint64_t waits_at;
    bool loop_armed;
    struct {
        uint64_t deadline_ns; /* 0: none */
        void (*over)(void *ctx);
        void *ctx;
    } patience;

    struct guard guard;
    struct violations violations;
};

/* An interrupt that is connected waits to be taken. */
bool dxgk_kernel_interrupt_pending(struct kernel *k);
/* Everything that may run now that the processor's IRQL is below DISPATCH_LEVEL; above it nothing happens. */
void dxgk_kernel_drain(struct kernel *k);
/* The kernel that the calling thread runs in; NULL: none. Signal handlers too. */
struct kernel *dxgk_kernel_here(void);
