/* SPDX-License-Identifier: MIT */
/* kernel.h: the processor that dxgkrnl and a miniport run on.
 *
 * A kernel is one virtual processor. The thread that runs kernel or miniport code holds it; one that waits gives
 * it up. So two pieces of kernel code never run at once, interrupts are delivered between them, and IRQL is a
 * property of the processor. There are two machines:
 *  - live: kernel threads are OS threads, the processor is a mutex; a service thread delivers interrupts and timers;
 *  - sim: kernel threads are coroutines of the one OS thread that runs the host's event loop, in virtual time.
 *
 *   host thread ──dxgk_kernel_enter──▶ running ──dxgk_kernel_park──▶ parked ──dxgk_kernel_unpark──▶ ready ──▶ running
 *                                    └────dxgk_kernel_leave──▶ out
 *
 * Invariants:
 *  1. A thread parks only below DISPATCH_LEVEL, with no spin lock held; an attempt above is a violation and does not wait.
 *  2. Interrupt routines run at DIRQL, DPCs at DISPATCH_LEVEL, and both whenever the processor is free or its IRQL drops.
 *  3. A violation of the IRQL rules is recorded with the routine's name, the DDI it happened in and the call stack.
 *  4. Time comes from the clock of the kernel; timers fire in the order of their deadlines, ties in the order of arming.
 */
#pragma once

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/loop.h"
#include "dxgkrnl/kernel/crossing.h"
#include "wddm/ntddk.h"

#define DIRQL 5

struct kernel;
struct kthread;

struct ktimer {
    void (*fn)(void *ctx); /* at DISPATCH_LEVEL */
    void *ctx;
    uint64_t deadline_ns, order;
    struct ktimer *next;
    bool armed;
};

/* Threads that wait for the same thing. */
struct kwaiters {
    struct kwait *first, **last;
};

struct kernel_ops {
    bool (*isr)(void *ctx, unsigned message);  /* at DIRQL; false: not ours */
    void (*stuck)(void *ctx, const char *ddi); /* a DDI waits longer than its limit; at DISPATCH_LEVEL */
    void (*violation)(void *ctx, const char *text);
    /* The miniport is not called any more; at DISPATCH_LEVEL. */
    void (*dead)(void *ctx, unsigned bugcheck, const char *why);
    /* A call into the miniport has come back, and is not over yet. */
    void (*left)(void *ctx);
    /* The name of the routine for miniports that begins at `start`, or NULL. Signal handlers too. */
    const char *(*routine)(void *ctx, const void *start);
    /* The miniport runs at DISPATCH_LEVEL and above now; or not any more. */
    void (*above)(void *ctx, bool above);
    /* What is known of memory that it may not touch, or NULL. Signal handlers too. */
    const char *(*memory)(void *ctx, const void *at);
};

/* `loop` non-NULL makes a sim machine on that loop (virtual clock), NULL a live one. `clock` must outlive the kernel. */
int dxgk_kernel_create(struct kernel **out, struct clock *clock, struct loop *loop,
                       const struct kernel_ops *ops, void *ctx);
/* No thread may be inside. */
void dxgk_kernel_destroy(struct kernel *k);

/* Take and give up the processor; nestable. In the sim machine, code outside every coroutine may enter too;
 * when it parks, it runs the loop until it is woken. */
void dxgk_kernel_enter(struct kernel *k);
void dxgk_kernel_leave(struct kernel *k);
/* The same for one of many threads that share a turn: at most one of them wants or has the processor (live; not while it is parked),
 * so that who has more threads has no more of it. `turn` outlives the stay. */
void dxgk_kernel_enter_turn(struct kernel *k, pthread_mutex_t *turn);
bool dxgk_kernel_is_live(const struct kernel *k);

/* Starts a thread that enters the kernel and runs fn. */
int dxgk_kernel_spawn(struct kernel *k, const char *name, void (*fn)(void *arg), void *arg);

/* Until unparked, or the deadline (LOOP_FOREVER: none): true, or false on timeout. */
bool dxgk_kernel_park(struct kernel *k, uint64_t deadline_ns, const char *routine);
void dxgk_kernel_unpark(struct kernel *k, struct kthread *t);
/* Until the deadline, for a miniport: a call that is abandoned ends here. */
void dxgk_kernel_delay(struct kernel *k, uint64_t deadline_ns, const char *routine);

/* Sim: `over` is called in a wait of code outside every coroutine that goes on behind the deadline, while other things happen; 0: none.
 * A wait that nothing can end any more is found otherwise. */
void dxgk_kernel_patience(struct kernel *k, uint64_t deadline_ns, void (*over)(void *ctx), void *ctx);

/* Between the steps of work that may be long, at PASSIVE_LEVEL and with nothing half done: who waits for the processor gets it. */
void dxgk_kernel_breathe(struct kernel *k);

/* Condition-style waiting: true when woken, false on timeout. */
bool dxgk_kernel_wait(struct kernel *k, struct kwaiters *q, uint64_t deadline_ns);
/* The same for any of up to KERNEL_MAX_WAITS. */
enum { KERNEL_MAX_WAITS = 65 };
bool dxgk_kernel_wait_any(struct kernel *k, struct kwaiters *const q[], unsigned n, uint64_t deadline_ns);
void dxgk_kernel_wake_all(struct kernel *k, struct kwaiters *q);

/* Time in nanoseconds of the kernel's clock; `deadline_ns` is of the same. A timer is the caller's memory (zero: disarmed), and
 * its function runs on a kernel thread at DISPATCH_LEVEL. */
uint64_t dxgk_kernel_now(const struct kernel *k);
void dxgk_kernel_arm(struct kernel *k, struct ktimer *t, uint64_t deadline_ns, void (*fn)(void *ctx),
                     void *ctx);
void dxgk_kernel_cancel(struct kernel *k, struct ktimer *t);

/* Any thread, never blocks: message `message` is pending. A line is asserted or not; while it is, the ISR runs again. */
void dxgk_kernel_interrupt(struct kernel *k, unsigned message);
void dxgk_kernel_interrupt_line(struct kernel *k, bool asserted);
/* Work was done that no interrupt told of: where none that came was ever claimed, it is the interrupt routine that fails. */
void dxgk_kernel_interrupt_missed(struct kernel *k);
/* A neighbour's interrupt on a shared line: runs the ISR while nothing of the device is pending; whether it took it for its own. */
bool dxgk_kernel_interrupt_of_neighbour(struct kernel *k);
void dxgk_kernel_connect_interrupt(struct kernel *k, bool connected);

/* The calling thread's IRQL. Raising returns the one before; going the wrong way is a violation. A DPC that is queued already
 * stays queued once. */
KIRQL dxgk_kernel_irql(struct kernel *k);
KIRQL dxgk_kernel_raise(struct kernel *k, KIRQL to);
void dxgk_kernel_lower(struct kernel *k, KIRQL to);
void dxgk_kernel_queue_dpc(struct kernel *k, KDPC *dpc);
/* Those that lie in these bytes are queued no more; how many were. */
unsigned dxgk_kernel_forget_dpcs(struct kernel *k, const void *memory, size_t size);

/* Around each call into the miniport: names it, bounds its waits, and checks that it returns at the IRQL it
 * was called at. `limit_ns` is 0 for no bound. */
/* Where nothing interrupts a thread as a normal APC would; guarded: as any would. Those of a mutex are entered and left with it. */
enum region { REGION_CRITICAL, REGION_OWNED, REGION_GUARDED, REGION_OWNED_GUARDED, REGIONS };

struct kernel_ddi {
    const char *name;
    uint64_t start_ns, limit_ns; /* start: of its first wait */
    KIRQL irql, entered;
    unsigned floating; /* the processor's control bits (guard.c), which are to be the same behind it */
    unsigned mutexes, regions[REGIONS]; /* that the thread had when it was called */
    bool late;                          /* it waited longer than the limit, and that was said */
    bool abandoned;                     /* it did not come back by itself: kernel/guard.h */
    bool final; /* what does not come back ends the process: it has more in hand than frames */
    /* Of __builtin_setjmp: ThreadSanitizer does not follow the C library's between coroutines. */
    void *back[5];
    struct kernel_ddi *outer;
};
/* False: the miniport is dead, and there is nothing to leave. */
bool dxgk_kernel_ddi_enter(struct kernel *k, struct kernel_ddi *d, const char *name, KIRQL irql,
                           uint64_t limit_ns);
void dxgk_kernel_ddi_leave(struct kernel *k, struct kernel_ddi *d);
/* `statement`, which calls the miniport, between the two; nothing else belongs into it. False: it was not made, or abandoned. */
#define KERNEL_CALL(k, name, irql, limit_ns, statement)                                                      \
    ({                                                                                                       \
        struct kernel_ddi ddi_;                                                                              \
        bool came_back_ = false;                                                                             \
        if (dxgk_kernel_ddi_enter(k, &ddi_, name, irql, limit_ns)) {                                         \
            if (!__builtin_setjmp(ddi_.back)) {                                                              \
                statement;                                                                                   \
                came_back_ = true;                                                                           \
            }                                                                                                \
            dxgk_kernel_ddi_leave(k, &ddi_);                                                                 \
        }                                                                                                    \
        came_back_;                                                                                          \
    })
/* Calls what runs the miniport's code with more in hand than frames (the loader): what does not come back ends the process, with last
 * words. Of a dead miniport, too. */
void dxgk_kernel_final(struct kernel *k, const char *name, void (*fn)(void *arg), void *arg);
/* Where the miniport's shared object begins; NULL: it is none. */
void dxgk_kernel_object(struct kernel *k, const void *object);
/* Whether the miniport's object, or image, is at `address`. */
bool dxgk_kernel_in_object(const struct kernel *k, const void *address);
/* Whether the call that the running thread is in is to end at once. */
bool dxgk_kernel_abandoned(const struct kernel *k);
/* Returns from it, whatever it has called. */
_Noreturn void dxgk_kernel_return(struct kernel *k);
/* What the miniport is dead of, and where; NULL: it is not. */
const char *dxgk_kernel_death(const struct kernel *k);
/* The miniport is another one from now on. */
void dxgk_kernel_revive(struct kernel *k);
/* So much of the processor's time without a wait makes a loop of a call. */
void dxgk_kernel_limit(struct kernel *k, uint64_t ns);
/* It has busily waited for so long. */
void dxgk_kernel_stalled(struct kernel *k, uint64_t ns);

/* The kernel that the calling thread runs in; aborts when there is none (a kernel routine called from outside). */
struct kernel *dxgk_kernel_self(const char *routine);
struct kthread *dxgk_kernel_thread(struct kernel *k);

/* Records a violation unless the IRQL is at most `max`; returns whether it is. */
bool dxgk_kernel_check(struct kernel *k, const char *routine, KIRQL max);
void dxgk_kernel_violation(struct kernel *k, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* The calling thread enters such a region, or leaves one; false: it is in none. */
bool dxgk_kernel_region(struct kernel *k, enum region region, bool enter);
/* Whether nothing interrupts the calling thread as an APC would: it is in a region, or at APC_LEVEL and above. */
bool dxgk_kernel_in_region(const struct kernel *k);
/* The same of every APC: a guarded region, or that IRQL. */
bool dxgk_kernel_in_guarded_region(const struct kernel *k);
/* `routine` was told that the calling thread's next call is a wait; NULL: it is made. */
void dxgk_kernel_promise(struct kernel *k, const char *routine);
/* The part of the stack that a call which has just come back had: how large it is. */
size_t dxgk_kernel_returned(const struct kernel *k, const void **frames);
/* The calling thread owns a mutex or a resource more, or one less. */
void dxgk_kernel_own(struct kernel *k, bool more);
/* The miniport goes on without end in what is none of its loops alone (`what`: threads that make threads): it dies of it, in the call that the
 * running thread is in. */
_Noreturn void dxgk_kernel_endless(struct kernel *k, const char *what);
/* The call that is under way; NULL: none. */
const struct kernel_ddi *dxgk_kernel_call(const struct kernel *k);
/* The DDI that is under way, a name that stays; NULL: none. */
const char *dxgk_kernel_ddi(const struct kernel *k);
unsigned dxgk_kernel_violations(struct kernel *k);
const char *dxgk_kernel_violation_text(struct kernel *k, unsigned i);

/* Whom the running thread works for, as the miniport may ask (SeTokenIsAdmin): set by the thunks. */
struct dxgk_kernel_caller {
    uint64_t process; /* 0: the system */
    uint32_t session; /* 0: the system's, 1: the console's, which the display belongs to; else a stranger's */
    bool admin;
};
void dxgk_kernel_set_caller(struct kernel *k, struct dxgk_kernel_caller caller);
struct dxgk_kernel_caller dxgk_kernel_caller(struct kernel *k);

/* dxgk_kernel_create's `ctx`. */
void *dxgk_kernel_ctx(struct kernel *k);
