/* SPDX-License-Identifier: MIT */
/* live_threads_test: the live machine's threads, in every order that some thousand seeds think of (threads.h). What may never happen:
 * a deadlock, a wait that nobody ends, an interrupt routine that is called inside itself or after it was taken away.
 * `live_threads_test SEED` runs that one alone.
 *
 * The executor's host is a model here, with the promises of executor/host/host.h: completions after a while, in order, a
 * descriptor that is readable while there is something to dispatch, and the short looks that dispatching threads may take. */
#include "test.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "aerogpu/alloc.h"
#include "aerogpu/pci.h"
#include "executor/host/host.h"
#include "machine/driver.h"
#include "threads.h"

enum { SEEDS = 2000, PERIOD = 1000000, GUEST = 1, VIEWER = 2, OTHER = 3, ERRORS = 3 };

/* ---- the executor's host, a model ---------------------------------------- */

struct exec_host {
    struct exec_host_params params;
    uint64_t queue[EXEC_HOST_DEPTH];
    uint32_t done, first, last; /* completed and to be dispatched: first..done */
    int event_fd;
    bool busy, expecting, dispatching;
};

static void complete_one(void *ctx);

static void work(struct exec_host *h)
{
    if (h->busy || h->done == h->last)
        return;
    h->busy = true;
    threads_at(threads_now() + threads_random(threads_random(4) ? 20000 : 2000000), complete_one, h);
}

static void complete_one(void *ctx)
{
    struct exec_host *h = ctx;

    h->busy = false;
    if (h->done == h->last)
        return; /* dropped by a reset */
    h->done++;
    if (!h->expecting)
        threads_event(h->event_fd);
    work(h);
}

int exec_host_create(struct exec_host **out, const struct exec_host_params *p, struct error *e)
{
    struct exec_host *h = calloc(1, sizeof(*h));

    assert_non_null(h);
    h->params = *p;
    h->event_fd = eventfd(0, 0);
    *out = h;
    return 0;
}

void exec_host_destroy(struct exec_host *h)
{
    h->last = h->done; /* what was going to be completed is not */
    close(h->event_fd);
    free(h);
}

int exec_host_submit(struct exec_host *h, const struct abi_submission *s)
{
    if (h->last - h->first == EXEC_HOST_DEPTH)
        return -EAGAIN;
    h->queue[h->last++ % EXEC_HOST_DEPTH] = s->id;
    work(h);
    return 0;
}

unsigned exec_host_dispatch(struct exec_host *h)
{
    unsigned n = 0;

    threads_must(!h->dispatching, "two threads dispatch, or one inside its callback");
    h->dispatching = true;
    threads_no_event(h->event_fd);
    for (; h->first != h->done; n++)
        h->params.complete(h->params.ctx,
                           &(struct abi_completion){.id = h->queue[h->first++ % EXEC_HOST_DEPTH],
                                                    .flags = threads_random(2) ? ABI_COMPLETION_PRESENT |
                                                                                     ABI_COMPLETION_VSYNC
                                                                               : 0});
    h->dispatching = false;
    return n;
}

bool exec_host_wait(struct exec_host *h, int timeout_ms)
{
    return h->first != h->done;
}

bool exec_host_poll(struct exec_host *h)
{
    return h->first != h->done;
}

bool exec_host_poll_begin(struct exec_host *h)
{
    h->expecting = threads_random(2);
    return h->expecting;
}

bool exec_host_poll_end(struct exec_host *h)
{
    threads_must(h->expecting, "found without having been expected");
    h->expecting = false;
    return h->first != h->done;
}

void exec_host_reset(struct exec_host *h)
{
    h->first = h->done = h->last;
}

void exec_host_end(struct exec_host *h, const char *why)
{
    h->done = h->last; /* what dies completes all that it has */
    threads_event(h->event_fd);
}

int exec_host_event_fd(const struct exec_host *h)
{
    return h->event_fd;
}

int exec_host_map(struct exec_host *h, uint64_t gpa, uint64_t size, int fd, uint64_t offset, struct error *e)
{
    return 0;
}

int exec_region_create(struct exec_region **out, uint64_t gpa, uint64_t size, int fd, uint64_t offset,
                       struct error *e)
{
    *out = NULL;
    return 0;
}

void exec_region_put(struct exec_region *r)
{
}

int exec_host_map_region(struct exec_host *h, struct exec_region *r, struct error *e)
{
    return 0;
}

int exec_host_unmap(struct exec_host *h, uint64_t gpa, uint64_t size)
{
    return 0;
}

int exec_host_wait_ready(struct exec_host *h, int timeout_ms, struct error *e)
{
    return 0;
}

void exec_host_fail_all(struct exec_host *h)
{
}

bool exec_host_resetting(struct exec_host *h)
{
    return false;
}

bool exec_host_progress(struct exec_host *h, struct exec_progress *out)
{
    return false;
}

pid_t exec_host_pid(struct exec_host *h)
{
    return 0;
}

void exec_host_device_name(struct exec_host *h, char name[256], bool *is_cpu)
{
}

void exec_host_stats(struct exec_host *h, struct exec_host_stats *out)
{
    *out = (struct exec_host_stats){.starts = 1};
}

/* ---- the machine's users ------------------------------------------------- */

struct world {
    struct machine *m;
    struct driver *d;
    atomic_uint vblanks, errors;
    atomic_bool over;
    uint64_t wanted;       /* by the guest */
    _Atomic uint64_t last; /* the fence of what it does last */
    unsigned frames;
};

static bool reached(void *ctx)
{
    struct world *w = ctx;

    return driver_completed(w->d) >= w->wanted;
}

static void *guest(void *ctx)
{
    struct world *w = ctx;

    for (unsigned i = 0; i < w->frames; i++) {
        unsigned n = 1 + (unsigned)threads_random(3);

        for (unsigned k = 0; k < n; k++) {
            bool expected = threads_random(2) && machine_poll_begin(w->m);

            threads_must(!driver_submit(w->d, &(struct driver_submission){0}, &w->wanted),
                         "the ring is full");
            if (expected)
                machine_poll_end(w->m);
        }
        threads_must(!machine_wait(w->m, reached, w, UINT64_MAX),
                     "a fence completed, and who waits for it was not told");
    }
    atomic_store(&w->last, w->wanted + ERRORS);
    for (unsigned i = 0; i < ERRORS; i++)
        threads_must(!driver_submit(w->d, &(struct driver_submission){.cmd_size = 4}, NULL),
                     "the ring is full");
    return NULL;
}

static void on_error(void *ctx, uint32_t code, uint64_t fence, uint32_t count)
{
    atomic_fetch_add(&((struct world *)ctx)->errors, 1);
}

static bool seen_an_error(void *ctx)
{
    struct world *w = ctx;

    return atomic_load(&w->errors) && driver_completed(w->d) >= atomic_load(&w->last);
}

/* Waits for what the guest does last and waits for itself no more: interrupts of its doorbells, on its thread, each while the one
 * before may still be looked at. */
static void *heir(void *ctx)
{
    struct world *w = ctx;

    threads_must(!machine_wait(w->m, seen_an_error, w, UINT64_MAX),
                 "an error was latched, and who waits for it was not told");
    return NULL;
}

static void on_vblank(void *ctx, uint64_t seq, uint64_t time_ns, uint64_t seen_ns)
{
    atomic_fetch_add(&((struct world *)ctx)->vblanks, 1);
}

static bool seen_enough(void *ctx)
{
    return atomic_load(&((struct world *)ctx)->vblanks) >= 4;
}

static void *viewer(void *ctx)
{
    struct world *w = ctx;

    threads_must(!machine_wait(w->m, seen_enough, w, UINT64_MAX),
                 "vblanks came, and who waits for them was not told");
    return NULL;
}

/* Reads registers at its leisure, which lets vblanks happen on a thread that serves nobody. */
static void *other(void *ctx)
{
    struct world *w = ctx;

    while (!atomic_load(&w->over)) {
        machine_read64(w->m, AEROGPU_REG_SCANOUT0_VBLANK_SEQ_LO);
        machine_sleep(w->m, threads_random(PERIOD));
    }
    return NULL;
}

static struct machine *new_machine(void)
{
    struct machine *m;
    struct error e = {0};

    if (machine_create(
            &m,
            &(struct machine_params){.kind = MACHINE_LIVE, .ram_size = 4 << 20, .vblank_period_ns = PERIOD},
            &e))
        threads_must(false, e.text);
    return m;
}

static void a_driver_and_its_friends(uint64_t seed)
{
    struct world w = {.frames = 4};
    struct error e = {0};
    bool with_scanout = seed / 2 % 2;

    threads_begin(seed);
    w.m = new_machine();
    if (driver_create(
            &w.d,
            &(struct driver_params){
                .machine = w.m, .intx = seed % 2, .on_vblank = on_vblank, .on_error = on_error, .ctx = &w},
            &e))
        threads_must(false, e.text);
    if (with_scanout)
        threads_must(!driver_set_mode(w.d, 4, 4, AEROGPU_FORMAT_B8G8R8A8_UNORM), "a mode");
    threads_start(GUEST, "guest", guest, &w);
    threads_start(VIEWER, with_scanout ? "viewer" : "heir", with_scanout ? viewer : heir, &w);
    if (with_scanout && seed / 4 % 2)
        threads_start(OTHER, "other", other, &w);
    threads_join(GUEST);
    threads_join(VIEWER);
    atomic_store(&w.over, true);
    if (with_scanout && seed / 4 % 2)
        threads_join(OTHER);
    driver_destroy(w.d);
    machine_destroy(w.m);
    threads_end();
}

/* ---- a routine that is changed ------------------------------------------- */

static struct {
    struct machine *m;
    atomic_int now, running;
    atomic_uint calls;
} routines;

static void routine(void *ctx)
{
    int which = *(int *)ctx;

    threads_must(!atomic_exchange(&routines.running, which), "a routine is called inside a routine");
    threads_must(atomic_load(&routines.now) == which, "a routine is called after another took its place");
    machine_write(routines.m, AEROGPU_REG_IRQ_ACK, machine_read(routines.m, AEROGPU_REG_IRQ_STATUS));
    atomic_fetch_add(&routines.calls, 1);
    atomic_store(&routines.running, 0);
}

static bool called_enough(void *ctx)
{
    return atomic_load(&routines.calls) >= *(unsigned *)ctx;
}

static void *waits_for_calls(void *ctx)
{
    unsigned enough = 12;

    threads_must(!machine_wait(routines.m, called_enough, &enough, UINT64_MAX),
                 "nobody told of the interrupts");
    return NULL;
}

static void *changes_routines(void *ctx)
{
    static int ids[] = {1, 2};

    for (int i = 0; i < 6; i++) {
        machine_set_irq(routines.m, NULL, NULL);
        atomic_store(&routines.now, 0);
        threads_must(!atomic_load(&routines.running), "a routine runs on after it was taken away");
        machine_sleep(routines.m, threads_random(PERIOD));
        atomic_store(&routines.now, ids[i % 2]);
        machine_set_irq(routines.m, routine, &ids[i % 2]);
        machine_write(routines.m, AEROGPU_REG_IRQ_ACK, UINT32_MAX); /* what came while there was none */
        machine_sleep(routines.m, threads_random(4 * PERIOD));
    }
    return NULL;
}

static void routines_begin(uint64_t seed, bool messages)
{
    threads_begin(seed);
    memset(&routines, 0, sizeof(routines));
    routines.m = new_machine();
    machine_config_write(routines.m, 0x04, 2, 0x6);
    if (messages) {
        machine_config_write(routines.m, 0x54, 4, 0xFEE00000);
        machine_config_write(routines.m, 0x52, 2, 1);
    }
}

static void routines_that_come_and_go(uint64_t seed)
{
    routines_begin(seed, seed % 2);
    machine_write(routines.m, AEROGPU_REG_IRQ_ENABLE, AEROGPU_IRQ_SCANOUT_VBLANK);
    machine_write(routines.m, AEROGPU_REG_SCANOUT0_ENABLE, 1);
    threads_start(GUEST, "changes", changes_routines, NULL);
    threads_start(VIEWER, "waits", waits_for_calls, NULL);
    if (seed / 2 % 2)
        threads_start(OTHER, "waits2", waits_for_calls, NULL);
    threads_join(GUEST);
    threads_join(VIEWER);
    if (seed / 2 % 2)
        threads_join(OTHER);
    machine_set_irq(routines.m, NULL, NULL);
    machine_destroy(routines.m);
    threads_end();
}

/* ---- a routine that leaves its interrupt --------------------------------- */

enum { STORM = 2500 }; /* calls, more than are made in a row */

static void storms(void *ctx)
{
    if (atomic_fetch_add(&routines.calls, 1) + 1 < STORM) { /* what has become set again is another message */
        machine_write(routines.m, AEROGPU_REG_IRQ_ENABLE, 0);
        machine_write(routines.m, AEROGPU_REG_IRQ_ENABLE, AEROGPU_IRQ_ERROR);
    } else {
        machine_write(routines.m, AEROGPU_REG_IRQ_ACK, machine_read(routines.m, AEROGPU_REG_IRQ_STATUS));
    }
}

static void *waits_for_the_storm(void *ctx)
{
    unsigned enough = STORM;

    threads_must(!machine_wait(routines.m, called_enough, &enough, UINT64_MAX),
                 "a message was sent, and the routine is not called");
    return NULL;
}

/* Nobody is called for ever in a row, and no message is forgotten for that. */
static void a_storm_of_messages(uint64_t seed)
{
    routines_begin(seed, true);
    machine_set_irq(routines.m, storms, NULL);
    machine_write(routines.m, AEROGPU_REG_IRQ_ENABLE, AEROGPU_IRQ_ERROR);
    machine_write(routines.m, AEROGPU_REG_RING_CONTROL, AEROGPU_RING_CONTROL_ENABLE);
    threads_start(VIEWER, "waits", waits_for_the_storm, NULL);
    machine_write(routines.m, AEROGPU_REG_DOORBELL, 1); /* there is no ring */
    threads_join(VIEWER);
    machine_set_irq(routines.m, NULL, NULL);
    machine_destroy(routines.m);
    threads_end();
}

/* ---- many lives ---------------------------------------------------------- */

static uint64_t first_seed = 1, seeds = SEEDS;

/* In a process of its own: a life that breaks a promise ends it. */
static void live(const char *what, void (*life)(uint64_t seed), uint64_t most)
{
    uint64_t past = first_seed + (seeds < most ? seeds : most);

    for (uint64_t seed = first_seed; seed < past;) {
        uint64_t end = seed + 500 < past ? seed + 500 : past;
        int status, fds[2];
        uint64_t at = seed;
        pid_t pid;

        assert_int_equal(pipe(fds), 0);
        fflush(stdout);
        pid = fork();
        if (!pid) {
            for (; at < end; at++) {
                if (write(fds[1], &at, sizeof(at)) < 0)
                    _exit(2);
                life(at);
            }
            _exit(0);
        }
        close(fds[1]);
        while (read(fds[0], &at, sizeof(at)) == sizeof(at))
            ;
        close(fds[0]);
        assert_int_equal(waitpid(pid, &status, 0), pid);
        if (status)
            fail_msg("%s: seed %llu breaks a promise", what, (unsigned long long)at);
        seed = end;
    }
}

TEST(no_order_of_threads_hangs_a_driver)
{
    live("driver", a_driver_and_its_friends, UINT64_MAX);
}

TEST(no_order_of_threads_calls_a_routine_that_is_gone)
{
    live("routines", routines_that_come_and_go, UINT64_MAX);
}

TEST(no_order_of_threads_forgets_a_message_of_a_storm)
{
    live("storm", a_storm_of_messages, 20);
}

int main(int argc, char **argv)
{
    if (argc > 1) {
        first_seed = strtoull(argv[1], NULL, 0);
        seeds = argc > 2 ? strtoull(argv[2], NULL, 0) : 1;
    }
    return test_run();
}
