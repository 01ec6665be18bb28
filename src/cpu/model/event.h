/* SPDX-License-Identifier: MIT */
/* event.h: the events that the analysis understands, whatever system recorded them.
 *
 * A source (tracefs pages, ETL buffers) turns its records into `struct cpu_event`; the analysis never sees a
 * page, a format file or a Windows header. CPU_EVENT_KINDS is the one table of kinds: names, what the operands mean.
 *
 * Invariants:
 *  1. `ns` is on the source's own clock (CLOCK_MONOTONIC for our recordings; nanoseconds since the start of
 *     an ETL file).
 *  2. Idle state numbers are raw: 0 is the first idle state, never "running". On Windows raw 0 is C1, on
 *     Linux it is cpuidle's state0. Only printers add names.
 *  3. `data` points into the source's buffer and is good until the next event is asked for.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define CPU_MAX_CPUS   1024
#define CPU_MAX_STATES 16

/* K(NAME, "name", "what a, b and c hold") */
#define CPU_EVENT_KINDS(K)                                                                                   \
    K(OTHER, "other", "an event that the analysis counts only; a = source's own id")                         \
    K(IDLE, "idle", "a = state entered, 0xffffffff = left; b = CPU")                                         \
    K(IDLE_MISS, "idle_miss", "a = state chosen, b = CPU, c = 1 too shallow (below), 0 too deep (above)")    \
    K(IDLE_TARGET, "idle_target", "a = new target state, b = old one")                                       \
    K(FREQUENCY, "frequency", "a = kHz, b = CPU")                                                            \
    K(DELIVERED, "delivered", "a = APERF cycles, b = MPERF cycles since the last sample (or percent, 100)")  \
    K(UTILITY, "utility", "a = busy time, b = idle time, c = delivered performance in percent")              \
    K(IPI_SEND, "ipi_send", "a = target CPU, b = call site, c = callback, 0 for a reschedule")               \
    K(IPI_SEND_MASK, "ipi_send_mask", "data = mask of target CPUs, b = call site, c = callback")             \
    K(CSD_QUEUE, "csd_queue", "a = target CPU, b = function, c = csd")                                       \
    K(CSD_ENTRY, "csd_entry", "b = function, c = csd")                                                       \
    K(CSD_EXIT, "csd_exit", "b = function, c = csd")                                                         \
    K(IRQ_ENTRY, "irq_entry", "a = enum cpu_irq, b = vector, c = routine on Windows")                        \
    K(IRQ_EXIT, "irq_exit", "a = enum cpu_irq, b = vector")                                                  \
    K(DPC, "dpc", "a = nanoseconds it took, c = routine")                                                    \
    K(TICK_STOP, "tick_stop", "a = 1 stopped, b = what it depends on")                                       \
    K(TIMER_START, "timer_start", "a = due time in ns, c = timer")                                           \
    K(TIMER_EXPIRE, "timer_expire", "a = the timer code's own now in ns, c = timer")                         \
    K(TIMER_CANCEL, "timer_cancel", "c = timer")                                                             \
    K(FENCE_INIT, "fence_init", "a = context, b = seqno")                                                    \
    K(FENCE_EMIT, "fence_emit", "a = context, b = seqno")                                                    \
    K(FENCE_SIGNALED, "fence_signaled", "a = context, b = seqno, c = cpu_fence_of")                          \
    K(FENCE_WAIT_START, "fence_wait_start", "a = context, b = seqno, c = cpu_fence_of")                      \
    K(FENCE_WAIT_END, "fence_wait_end", "a = context, b = seqno")                                            \
    K(SWITCH, "switch", "a = thread that goes, b = its state bits, c = thread that comes")                   \
    K(WAKEUP, "wakeup", "a = thread made runnable, b = its CPU")                                             \
    K(FORK, "fork", "a = thread that starts another, b = the one it starts")                                 \
    K(TASK, "task", "a = thread that the current one starts, b = its clone() flags; a FORK follows")         \
    K(EXIT, "exit", "a = thread that ended")                                                                 \
    K(EXEC, "exec", "a = thread that is another program from now on, b = its number before")                 \
    K(RENAME, "rename", "a = thread that has another name from now on, also by execve")                      \
    K(MIGRATE, "migrate", "a = thread that is moved, b = to this CPU")                                       \
    K(SIGNAL, "signal",                                                                                      \
      "a = thread that it is sent to, b = signal, c = si_code; the sender is the current thread")            \
    K(WATCHDOG, "watchdog", "a = watchdog")                                                                  \
    K(DEEP_ENTER, "deep_enter", "a CPU entered deep idle")                                                   \
    K(DEEP_EXIT, "deep_exit", "a CPU left deep idle")                                                        \
    K(VETO, "veto", "a = state selected, b = number of vetoed states")                                       \
    K(EXIT_LATENCY, "exit_latency", "a = return latency, b = total latency, c = processor state")            \
    K(LOST, "lost", "a = events lost before this point, 0 if nobody counted them")

enum cpu_event_kind {
#define KIND(name, text, operands) CPU_EV_##name,
    CPU_EVENT_KINDS(KIND)
#undef KIND
        CPU_EV_COUNT
};

#define CPU_IDLE_LEFT UINT32_C(0xffffffff)

/* What an interrupt is for; the wake-up causes are these and the two that need no interrupt. */
#define CPU_IRQS(I)                                                                                          \
    I(DEVICE, "device interrupt")                                                                            \
    I(TIMER, "timer")                                                                                        \
    I(RESCHEDULE, "reschedule IPI")                                                                          \
    I(CALL, "function call IPI")                                                                             \
    I(CALL_SINGLE, "single function call IPI")                                                               \
    I(IRQ_WORK, "irq work")                                                                                  \
    I(OTHER, "other vector")

enum cpu_irq {
#define IRQ(name, text) CPU_IRQ_##name,
    CPU_IRQS(IRQ)
#undef IRQ
        CPU_IRQ_COUNT
};

/* Whose work a fence stands for, in the low byte: any driver has fences, and a display's vblank is no GPU's work. The other bytes
 * tell GPUs' drivers apart; 0 where the scheduler that several of them share stands in for one. */
enum cpu_fence { CPU_FENCE_UNSAID, CPU_FENCE_GPU, CPU_FENCE_OTHER };
#define CPU_FENCE(c) ((enum cpu_fence)((c)&0xff))

struct cpu_event {
    uint64_t ns;
    uint64_t a, b, c;
    const uint8_t *data; /* IPI_SEND_MASK only */
    uint16_t data_size;
    uint8_t kind; /* enum cpu_event_kind */
    uint8_t flags;
    uint16_t cpu;  /* the CPU that recorded it */
    uint16_t type; /* the source's own id, for printing and counting */
    int32_t tid;   /* thread that was current, 0 = the idle task, -1 = unknown */
};

const char *cpu_event_kind_name(enum cpu_event_kind kind);
const char *cpu_irq_name(enum cpu_irq irq);
/* By the names of its driver and its time line ("" for none), as the kernel gives them. */
uint32_t cpu_fence_of(const char *driver, const char *timeline);
bool cpu_is_gpu_driver(const char *name);

/* A stream of events in time order, in runs: `next` points *run at one or more events that follow each other,
 * good until the next call, and returns their number; 0 at the end, or a negative errno. Damage is noted and
 * skipped, not returned. */
struct cpu_source {
    int (*next)(struct cpu_source *s, const struct cpu_event **run);
};
