/* SPDX-License-Identifier: MIT */
/* machine.h: hosts for the device inside one process: guest memory, a device, and something that executes.
 *
 *   live   CLOCK_MONOTONIC; executors in processes of their own (executors.h). Completions and vblanks are taken, and the
 *          interrupt routine is called, by the machine's device thread, or by a thread in machine_wait if
 *          there is one. A doorbell hands its submissions over on the thread that rang it:
 *              doorbell ──▶ executor process ──▶ device thread or machine_wait ──▶ irq()
 *   sim    one thread, virtual time; every delay and fault is drawn from a seed. The executor is a MODEL OF
 *          ITS TIMING: it decodes streams only to find what is malformed and what presents, and draws nothing.
 *
 * Invariants:
 *  1. irq() is never called inside a register access, and by one thread at a time: in the live machine on the
 *     device thread or inside machine_wait and machine_poll_end, in the sim inside machine_wait and machine_sleep. It never waits.
 *  2. Accesses may come from any thread in the live machine, from one in the sim.
 *  3. With the same parameters and the same calls the sim does the same things at the same times.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/clock.h"
#include "base/error.h"
#include "executor/engine/progress.h"
#include "executor/host/host.h"
#include "gpu/gpu.h"

struct machine;

enum machine_kind { MACHINE_LIVE, MACHINE_SIM };

/* What goes wrong in a sim, each in parts per million of the occasions it could. */
struct machine_faults {
    uint32_t lost_doorbell;
    uint32_t lost_interrupt, doubled_interrupt, delayed_interrupt; /* delayed: by up to 20 ms */
    uint32_t late_vblank; /* the host's timer fires up to three periods late */
    uint32_t hang;        /* a submission never ends, until a ring reset */
    uint32_t death;       /* the executor dies; what it had fails, and a new one starts 1..50 ms later */
    uint32_t late_answer; /* the completion arrives up to 30 ms after the work was done */
};

struct machine_params {
    enum machine_kind kind;
    uint64_t ram_size;         /* bytes, whole pages; 0 for 256 MiB */
    uint32_t vblank_period_ns; /* 0 for 60 Hz */
    uint64_t without_features; /* as in gpu_params */
    /* The interrupt routine: called for an MSI (those that come before it is called are one), and while INTx is high. */
    void (*irq)(void *ctx);
    void *irq_ctx;
    /* live */
    const char *executor; /* program and Vulkan device as in exec_host_params; NULL for the defaults */
    const char *device;
    enum exec_markers markers; /* as in exec_engine_params */
    bool addresses;            /* as in exec_engine_params */
    uint64_t executor_bytes;   /* private memory of an executor; 0 for the default of exec_limits */
    bool one_executor; /* for all clients, in place of one for each: then the device has no EXT_CLIENTS */
    /* sim */
    uint64_t seed;
    struct machine_faults faults;
    uint32_t exec_min_ns, exec_max_ns; /* time that a submission takes; 0 for 20 us .. 4 ms */
    uint32_t exec_packet_ns;           /* and for each packet of its stream */
};

/* Comes up as firmware leaves it: BARs assigned, memory decoding and bus mastering off. Returns 0 or a
 * negative errno; the live machine does not wait for the executor (machine_wait_ready). */
int machine_create(struct machine **out, const struct machine_params *p, struct error *e);
void machine_destroy(struct machine *m);

/* Live: waits until the executor can run; 0, -ETIMEDOUT, or what kept it from starting. The sim is always ready. */
int machine_wait_ready(struct machine *m, int timeout_ms, struct error *e);

/* Live: client number `client` of EXT_CLIENTS has an executor of its own, ready, when this returns: 0, or why not. One that is
 * not prepared shares an executor with others. Waits; any thread, not inside irq(). */
int machine_prepare(struct machine *m, uint32_t client, int timeout_ms, struct error *e);

/* Ends what executes this client's work and nobody else's, because that hangs, or for another reason: what it has under way fails, now or
 * soon. False: it has nothing there. Any thread, not inside irq(). */
bool machine_end_work(struct machine *m, uint32_t client, bool hangs);
/* Live: what was ended so has not gone yet. */
bool machine_is_ending(struct machine *m, uint32_t client);
/* Who has its number from now on is another client. */
void machine_client_gone(struct machine *m, uint32_t client);
/* Live: private memory of the executor that is the client's own; 0 without one. */
uint64_t machine_client_bytes(struct machine *m, uint32_t client);

/* Name of the Vulkan device; "" for a sim and before the executor is ready. */
void machine_device_name(struct machine *m, char name[256], bool *is_cpu);

/* The descriptors that the machine has as long as it is there, for who watches that nobody else closes them; how many, of `max`. */
unsigned machine_descriptors(const struct machine *m, int *fds, unsigned max);

/* Changes the interrupt routine. Returns when the old one is not running and will not be called again, so not
 * from inside it. */
void machine_set_irq(struct machine *m, void (*irq)(void *ctx), void *ctx);

struct gpu *machine_gpu(struct machine *m);
const struct clock *machine_clock(const struct machine *m);
uint64_t machine_now(const struct machine *m);
/* The sim's event loop, for what runs in the same virtual time; NULL for a live machine. */
struct loop *machine_loop(struct machine *m);

/* Guest memory begins at guest address 0. */
uint8_t *machine_ram(struct machine *m);
uint64_t machine_ram_size(const struct machine *m);

/* More guest memory behind RAM: [gpa, gpa + size) is the file `fd`, for the device and the executor. Whole pages, between
 * machine_ram_size and machine_memory_end, not overlapping. 0, -EINVAL, -EEXIST, -ENOSPC (too many), -ENOMEM. The
 * descriptor stays the caller's. It is at machine_ram() + gpa. */
int machine_map(struct machine *m, uint64_t gpa, uint64_t size, int fd, struct error *e);
/* Takes back what one machine_map gave. The address range stays readable, as zeroes. */
void machine_unmap(struct machine *m, uint64_t gpa, uint64_t size);
uint64_t machine_memory_end(const struct machine *m);

/* Faults, by hand. So many writes of the fence page go nowhere. */
void machine_stale_fences(struct machine *m, uint32_t count);
/* How many of them are still to come. */
uint32_t machine_stale_fences_left(struct machine *m);
/* The executor is killed, at once; a new one starts. 0, or -ESRCH: none runs. */
int machine_kill_executor(struct machine *m);
/* The executor stands still from now on, for `ns`, or UINT64_MAX: until a reset replaces it; 0: it goes on. 0, or -ESRCH. */
int machine_stop_executor(struct machine *m, uint64_t ns);

/* BAR0 and configuration space as the guest's processor reaches them. */
uint32_t machine_read(struct machine *m, uint32_t reg);
uint64_t machine_read64(struct machine *m, uint32_t reg);
void machine_write(struct machine *m, uint32_t reg, uint32_t value);
void machine_write64(struct machine *m, uint32_t reg, uint64_t value);
uint32_t machine_config_read(struct machine *m, uint32_t offset, uint32_t size);
void machine_config_write(struct machine *m, uint32_t offset, uint32_t size, uint32_t value);

/* Lets the machine run until done(ctx), which is asked on the calling thread after each interrupt and at the
 * end: 0, or -ETIMEDOUT after `timeout_ns` of the machine's time. The caller holds no lock that irq() takes. */
int machine_wait(struct machine *m, bool (*done)(void *ctx), void *ctx, uint64_t timeout_ns);
void machine_sleep(struct machine *m, uint64_t ns);

/* For a thread that is about to ring the doorbell and has nothing better to do then: true if it may serve the device from
 * now until machine_poll_end, which it calls at once after the doorbell. machine_poll_end looks for the completion for some
 * microseconds and calls the interrupt routine. Between the two the thread waits for nothing. False: somebody else serves,
 * it is not worth it, or this is a sim. */
bool machine_poll_begin(struct machine *m);
void machine_poll_end(struct machine *m);

struct machine_stats {
    uint64_t interrupts; /* calls of irq() */
    uint64_t executor_starts, executor_deaths;
    /* sim: how often which fault was injected */
    uint64_t lost_doorbells, lost_interrupts, doubled_interrupts, delayed_interrupts, late_vblanks, hangs,
        late_answers;
    char last_death[196]; /* live: why the executor ended, "" for never */
};

void machine_get_stats(struct machine *m, struct machine_stats *out);

/* How the last executor ended, and how far it had come; false if none has. The other: how far the running one has come; false if
 * none runs. Neither waits. Always false for a sim. */
bool machine_last_death(struct machine *m, struct exec_death *out, struct exec_progress *progress);
bool machine_progress(struct machine *m, struct exec_progress *out);

/* Live: the executor's process id, 0 while there is none; sim: 0. */
int machine_executor_pid(struct machine *m);
/* Of the executor that has the submissions of this client (EXT_CLIENTS); 0 without one. */
int machine_client_pid(struct machine *m, uint32_t client);
