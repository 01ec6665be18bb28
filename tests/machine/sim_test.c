/* SPDX-License-Identifier: MIT */
/* sim_test: what may never happen (docs/design.md), checked over many seeds in virtual time with every fault
 * on. An observer at the device's border keeps the books; the driver above it behaves as a driver under TDR
 * does: it waits, and resets the ring when nothing moves for two seconds.
 *
 *  1. A descriptor that was taken is retired once, in order, or dropped by a reset; fences never go back.
 *  2. Submitting takes no time and runs no completion.
 *  3. Vblanks come every period while scanout is on, whatever the executor does; a vsynced present is retired
 * by a vblank that came after its execution, one for each vblank.
 *  4. Bad input gives one error, with its fence, and nothing else fails.
 */
#include "test.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "abi/builder.h"
#include "aerogpu/pci.h"
#include "aerogpu/ring.h"
#include "base/rng.h"
#include "machine/driver.h"

enum {
    SEEDS = 300,
    STEPS = 120,
    PERIOD = 16666667,
    MAX_IDS = 4096,
    VSYNC = ABI_COMPLETION_VSYNC,
};

enum kind { EMPTY, RENDER, PRESENT, PRESENT_VSYNC, BAD_MAGIC, BAD_PACKET, BAD_ADDRESS, KINDS };

/* What the observer knows of a submission. */
struct book {
    uint64_t fence;
    enum kind kind;
    bool taken, completed, retired, dropped, paced, failed;
    uint64_t vblanks_at_completion;
};

struct world {
    struct machine *m;
    struct driver *d;
    struct rng rng;
    uint64_t seed;
    struct gpu_observer observer;
    struct book books[MAX_IDS]; /* by submission id */
    enum kind kind_of_fence[MAX_IDS];
    uint64_t last_id, last_retired, completed;
    bool submitting;
    /* vblank */
    bool scanout;
    uint64_t vblanks, next_vblank, last_vsync_vblank;
    /* errors */
    uint64_t errors, deaths;
    uint64_t streams[KINDS];
    uint32_t stream_sizes[KINDS];
};

#define CHECK(w, cond)                                                                                       \
    do {                                                                                                     \
        if (!(cond))                                                                                         \
            fail_msg("seed %llu at %llu ns: %s", (unsigned long long)(w)->seed,                              \
                     (unsigned long long)machine_now((w)->m), #cond);                                        \
    } while (0)

static struct book *book(struct world *w, uint64_t id)
{
    CHECK(w, id && id < MAX_IDS);
    return &w->books[id];
}

static void on_take(struct world *w, const struct gpu_event *e)
{
    struct book *b = book(w, e->id);

    CHECK(w, e->id == w->last_id + 1 && !b->taken);
    w->last_id = e->id;
    b->taken = true;
    b->fence = e->fence;
    b->kind = w->kind_of_fence[e->fence];
}

static void on_complete(struct world *w, const struct gpu_event *e)
{
    struct book *b = book(w, e->id);

    CHECK(w, !w->submitting); /* 2: no completion inside submit */
    CHECK(w, b->taken && !b->completed && !b->retired && !b->dropped);
    b->completed = true;
    b->failed = e->completion->error != 0;
    b->vblanks_at_completion = w->vblanks;
    b->paced = e->completion->flags & VSYNC && w->scanout;
    if (b->kind <= PRESENT_VSYNC)
        CHECK(w, !b->failed ||
                     e->completion->error == AEROGPU_ERROR_BACKEND); /* 4: only a death fails good work */
    else
        CHECK(w, b->failed);
}

static void on_retire(struct world *w, const struct gpu_event *e)
{
    struct book *b = book(w, e->id);

    CHECK(w, b->taken && !b->retired && !b->dropped);
    CHECK(w, e->id > w->last_retired);
    for (uint64_t id = w->last_retired + 1; id < e->id; id++)
        CHECK(w, book(w, id)->dropped); /* 1: none is skipped */
    w->last_retired = e->id;
    b->retired = true;
    CHECK(w, b->completed || b->kind == BAD_ADDRESS);
    if (b->paced && w->scanout) {
        CHECK(w, w->vblanks > b->vblanks_at_completion); /* 3: a vblank after its execution */
        CHECK(w, w->vblanks > w->last_vsync_vblank);     /* 3: one for each */
        w->last_vsync_vblank = w->vblanks;
    }
    CHECK(w, e->value >= w->completed);
}

static void on_vblank(struct world *w, const struct gpu_event *e)
{
    CHECK(w, w->scanout);
    CHECK(w, e->time_ns == w->next_vblank);
    CHECK(w, e->value == w->vblanks + 1);
    CHECK(w, machine_now(w->m) >= e->time_ns);
    w->vblanks++;
    w->next_vblank += PERIOD;
}

static void on_error(struct world *w, const struct gpu_event *e)
{
    w->errors++;
    CHECK(w, e->fence && e->fence < MAX_IDS);
    CHECK(w, e->message[0] != '\0');
    if (e->value == AEROGPU_ERROR_BACKEND)
        w->deaths++;
    else
        CHECK(w, w->kind_of_fence[e->fence] >= BAD_MAGIC);
}

static void on_event(void *ctx, const struct gpu_event *e)
{
    struct world *w = ctx;

    switch (e->kind) {
    case GPU_EVENT_TAKE:
        on_take(w, e);
        break;
    case GPU_EVENT_COMPLETE:
        on_complete(w, e);
        break;
    case GPU_EVENT_RETIRE:
        on_retire(w, e);
        break;
    case GPU_EVENT_FENCE:
        CHECK(w, e->value > w->completed);
        w->completed = e->value;
        break;
    case GPU_EVENT_VBLANK:
        on_vblank(w, e);
        break;
    case GPU_EVENT_ERROR:
        on_error(w, e);
        break;
    case GPU_EVENT_RING_RESET:
        for (uint64_t id = w->last_retired + 1; id <= w->last_id; id++)
            book(w, id)->dropped = true;
        w->last_retired = w->last_id;
        w->completed = 0;
        break;
    case GPU_EVENT_SCANOUT:
        if (!w->scanout && e->scanout->enabled)
            w->next_vblank = machine_now(w->m) + PERIOD;
        w->scanout = e->scanout->enabled;
        break;
    default:
        break;
    }
}

static void put_stream(struct world *w, enum kind kind, const void *bytes, uint32_t size)
{
    w->streams[kind] = driver_alloc(w->d, size, 64);
    w->stream_sizes[kind] = size;
    memcpy(driver_ptr(w->d, w->streams[kind]), bytes, size);
}

static void make_streams(struct world *w)
{
    static const uint32_t bad_packet[] = {
        AEROGPU_CMD_STREAM_MAGIC, AEROGPU_ABI_VERSION_U32, 32, 0, 0, 0, 0x600, 9};
    struct abi_builder b;
    const void *bytes;
    uint32_t size;

    abi_builder_init(&b);
    ABI_EMIT(&b, NOP, nop);
    bytes = abi_builder_end(&b, &size);
    put_stream(w, RENDER, bytes, size);
    put_stream(w, BAD_MAGIC, bytes, size);
    memset(driver_ptr(w->d, w->streams[BAD_MAGIC]), 0xEE, 4);
    abi_builder_reset(&b);
    ABI_EMIT(&b, PRESENT, present, .flags = 0);
    bytes = abi_builder_end(&b, &size);
    put_stream(w, PRESENT, bytes, size);
    abi_builder_reset(&b);
    ABI_EMIT(&b, PRESENT, present, .flags = AEROGPU_PRESENT_FLAG_VSYNC);
    bytes = abi_builder_end(&b, &size);
    put_stream(w, PRESENT_VSYNC, bytes, size);
    abi_builder_finish(&b);
    put_stream(w, BAD_PACKET, bad_packet, sizeof(bad_packet));
    w->streams[BAD_ADDRESS] = UINT64_MAX - 7;
    w->stream_sizes[BAD_ADDRESS] = 64;
}

static void submit(struct world *w, uint64_t *fence)
{
    enum kind kind = (enum kind)rng_below(&w->rng, KINDS);
    struct driver_submission s = {.cmd_gpa = w->streams[kind],
                                  .cmd_size = w->stream_sizes[kind],
                                  .flags = rng_below(&w->rng, 4) ? 0 : AEROGPU_SUBMIT_FLAG_NO_IRQ,
                                  .fence = ++*fence};
    uint64_t before = machine_now(w->m);
    int r;

    assert_true(*fence < MAX_IDS);
    w->kind_of_fence[*fence] = kind;
    w->submitting = true;
    r = driver_submit(w->d, &s, NULL);
    w->submitting = false;
    CHECK(w, machine_now(w->m) == before); /* 2 */
    if (r == -EAGAIN)
        --*fence;
    else
        CHECK(w, r == 0);
}

static void finish(struct world *w)
{
    uint64_t fence = 0;

    if (driver_wait_idle(w->d, 2 * NSEC_PER_SEC))
        driver_reset(w->d);
    for (uint64_t id = 1; id <= w->last_id; id++)
        CHECK(w, book(w, id)->retired || book(w, id)->dropped); /* 1: nothing is forgotten */
    /* New work runs, after as many resets as hangs ask for. */
    for (int i = 0; i < 50; i++) {
        struct driver_submission s = {.fence = MAX_IDS - 60 + (uint64_t)i};
        w->kind_of_fence[s.fence] = EMPTY;
        CHECK(w, driver_submit(w->d, &s, &fence) == 0);
        if (!driver_wait(w->d, fence, 2 * NSEC_PER_SEC))
            return;
        driver_reset(w->d);
    }
    fail_msg("seed %llu: nothing runs any more", (unsigned long long)w->seed);
}

static void run(uint64_t seed, const struct machine_faults *faults, struct world *w)
{
    struct machine_params p = {.kind = MACHINE_SIM,
                               .ram_size = 8 << 20,
                               .seed = seed,
                               .faults = *faults,
                               .vblank_period_ns = PERIOD};
    struct error e = {0};
    uint64_t fence = 0;

    *w = (struct world){.seed = seed, .rng = {seed ^ 0x5EED}, .observer = {.event = on_event, .ctx = w}};
    assert_int_equal(machine_create(&w->m, &p, &e), 0);
    gpu_observe(machine_gpu(w->m), &w->observer);
    assert_int_equal(
        driver_create(&w->d, &(struct driver_params){.machine = w->m, .ring_entries = 16, .intx = seed & 1},
                      &e),
        0);
    make_streams(w);
    for (int i = 0; i < STEPS; i++) {
        uint64_t what = rng_below(&w->rng, 100);
        if (what < 60)
            submit(w, &fence);
        else if (what < 75)
            machine_sleep(w->m, rng_below(&w->rng, 3 * PERIOD));
        else if (what < 85 && driver_wait_idle(w->d, 2 * NSEC_PER_SEC))
            driver_reset(w->d); /* as TDR would */
        else if (what < 90)
            driver_set_mode(w->d, 8, 8, AEROGPU_FORMAT_B8G8R8X8_UNORM);
        else if (what < 92)
            driver_disable_scanout(w->d);
        else if (what < 93)
            driver_reset(w->d);
        /* 3: no vblank is ever overdue once somebody looks. */
        if (machine_read(w->m, AEROGPU_REG_SCANOUT0_ENABLE))
            CHECK(w, w->next_vblank > machine_now(w->m));
    }
    finish(w);
}

static void end(struct world *w)
{
    driver_destroy(w->d);
    gpu_unobserve(machine_gpu(w->m), &w->observer);
    machine_destroy(w->m);
}

TEST(every_fault_at_once)
{
    static const struct machine_faults faults = {.lost_doorbell = 30000,
                                                 .lost_interrupt = 30000,
                                                 .doubled_interrupt = 30000,
                                                 .delayed_interrupt = 50000,
                                                 .late_vblank = 50000,
                                                 .hang = 10000,
                                                 .death = 20000,
                                                 .late_answer = 50000};
    struct machine_stats stats, sum = {0};
    struct world *w = malloc(sizeof(*w));
    uint64_t presents = 0, errors = 0;

    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        run(seed, &faults, w);
        machine_get_stats(w->m, &stats);
        sum.hangs += stats.hangs;
        sum.executor_deaths += stats.executor_deaths;
        sum.lost_doorbells += stats.lost_doorbells;
        sum.lost_interrupts += stats.lost_interrupts;
        sum.doubled_interrupts += stats.doubled_interrupts;
        sum.delayed_interrupts += stats.delayed_interrupts;
        sum.late_vblanks += stats.late_vblanks;
        sum.late_answers += stats.late_answers;
        presents += w->last_vsync_vblank != 0;
        errors += w->errors;
        end(w);
    }
    free(w);
    /* Faults that never happened would prove nothing. */
    assert_true(sum.hangs > 50 && sum.executor_deaths > 100 && sum.lost_doorbells > 100);
    assert_true(sum.lost_interrupts > 50 && sum.doubled_interrupts > 50 && sum.delayed_interrupts > 100);
    assert_true(sum.late_vblanks > 100 && sum.late_answers > 100);
    assert_true(presents > SEEDS / 4 && errors > SEEDS);
}

TEST(mapped_memory_has_borders)
{
    const struct machine_params p = {.kind = MACHINE_SIM, .ram_size = 16 << 20};
    int fd = memfd_create("more", MFD_CLOEXEC);
    struct error e = {0};
    struct machine *m;
    uint64_t gpa;

    assert_int_equal(ftruncate(fd, 8192), 0);
    assert_int_equal(machine_create(&m, &p, &e), 0);
    gpa = machine_ram_size(m);
    assert_int_equal(machine_map(m, gpa + 4096, 8192, fd, &e), 0);
    assert_int_equal(machine_map(m, gpa, 8192, fd, &e), -EEXIST);        /* its last page is there, */
    assert_int_equal(machine_map(m, gpa + 8192, 8192, fd, &e), -EEXIST); /* and its first */
    machine_config_write(m, 0x04, 2, 0x6);
    machine_write64(m, AEROGPU_REG_RING_GPA_LO, gpa + 12288 - 32); /* a header that ends behind it */
    machine_write(m, AEROGPU_REG_RING_SIZE_BYTES, 4096);
    machine_write(m, AEROGPU_REG_RING_CONTROL, AEROGPU_RING_CONTROL_ENABLE);
    machine_write(m, AEROGPU_REG_DOORBELL, 1);
    assert_int_equal(machine_read(m, AEROGPU_REG_ERROR_CODE), AEROGPU_ERROR_OOB);
    machine_destroy(m);
    close(fd);
}

TEST(memory_that_was_taken_back_is_zeroes)
{
    const struct machine_params p = {.kind = MACHINE_SIM, .ram_size = 16 << 20};
    static const uint8_t zeroes[8192], ones[8192] = {[0 ... 8191] = 0xFF};
    int fd = memfd_create("more", MFD_CLOEXEC);
    struct error e = {0};
    struct machine *m;
    uint8_t *at;

    assert_int_equal(write(fd, ones, sizeof(ones)), sizeof(ones));
    assert_int_equal(machine_create(&m, &p, &e), 0);
    at = machine_ram(m) + machine_ram_size(m);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(machine_map(m, machine_ram_size(m), sizeof(ones), fd, &e), 0);
        assert_memory_equal(at, ones, sizeof(ones));
        machine_unmap(m, machine_ram_size(m), 4096); /* a part: nothing */
        assert_memory_equal(at, ones, sizeof(ones));
        machine_unmap(m, machine_ram_size(m), sizeof(ones));
        assert_memory_equal(at, zeroes, sizeof(zeroes));
        memset(at, 0x55, sizeof(zeroes)); /* whoever still writes there writes into no file */
    }
    assert_int_equal(pread(fd, at, sizeof(ones), 0), sizeof(ones));
    assert_memory_equal(at, ones, sizeof(ones));
    machine_destroy(m);
    close(fd);
}

/* ---- the driver ---------------------------------------------------------- */

TEST(a_lost_doorbell_is_rung_again)
{
    const struct machine_params p = {
        .kind = MACHINE_SIM, .ram_size = 8 << 20, .faults.lost_doorbell = 500000};
    const struct driver_submission nothing = {0};
    struct driver_stats stats;
    struct error e = {0};
    struct machine *m;
    struct driver *d;
    uint64_t fence;

    assert_int_equal(machine_create(&m, &p, &e), 0);
    assert_int_equal(driver_create(&d, &(struct driver_params){.machine = m}, &e), 0);
    for (int i = 0; i < 100; i++) {
        assert_int_equal(driver_submit(d, &nothing, &fence), 0);
        assert_int_equal(driver_wait(d, fence, 60 * NSEC_PER_SEC), 0);
    }
    driver_get_stats(d, &stats);
    assert_true(stats.doorbells_again >= 20);
    driver_destroy(d);
    machine_destroy(m);
}

TEST(fences_go_up_over_resets)
{
    const struct machine_params p = {.kind = MACHINE_SIM, .ram_size = 8 << 20};
    const struct driver_submission nothing = {0};
    uint64_t fence, last = 0;
    struct error e = {0};
    struct machine *m;
    struct driver *d;

    assert_int_equal(machine_create(&m, &p, &e), 0);
    assert_int_equal(driver_create(&d, &(struct driver_params){.machine = m}, &e), 0);
    for (int i = 0; i < 20; i++) {
        assert_int_equal(driver_submit(d, &nothing, &fence), 0);
        assert_true(fence > last);
        last = fence;
        if (i % 2)
            assert_int_equal(driver_wait(d, fence, NSEC_PER_SEC), 0);
        if (i % 3 == 2)
            driver_reset(d);
    }
    driver_destroy(d);
    machine_destroy(m);
}

/* ---- interrupts ---------------------------------------------------------- */

enum { PATIENCE = 5 };

struct patient {
    struct machine *m;
    unsigned calls;
};

static void acknowledges_at_last(void *ctx)
{
    struct patient *p = ctx;

    if (++p->calls == PATIENCE)
        machine_write(p->m, AEROGPU_REG_IRQ_ACK, AEROGPU_IRQ_ERROR);
}

/* INTx is a level: as long as it is high the routine is called. */
TEST(a_line_that_stays_high_calls_again)
{
    struct patient patient = {0};
    struct error e = {0};

    assert_int_equal(machine_create(&patient.m,
                                    &(struct machine_params){.kind = MACHINE_SIM,
                                                             .ram_size = 8 << 20,
                                                             .irq = acknowledges_at_last,
                                                             .irq_ctx = &patient},
                                    &e),
                     0);
    driver_enable(patient.m, false);
    machine_write(patient.m, AEROGPU_REG_IRQ_ENABLE, AEROGPU_IRQ_ERROR);
    machine_write(patient.m, AEROGPU_REG_RING_CONTROL, AEROGPU_RING_CONTROL_ENABLE);
    machine_write(patient.m, AEROGPU_REG_DOORBELL, 1); /* there is no ring */
    machine_sleep(patient.m, NSEC_PER_SEC);
    assert_int_equal(patient.calls, PATIENCE);
    machine_destroy(patient.m);
}

/* Without faults each bad submission gives exactly one error and nothing else fails or is dropped. */
TEST(errors_are_exact)
{
    struct world *w = malloc(sizeof(*w));

    for (uint64_t seed = 1; seed <= SEEDS / 3; seed++) {
        struct driver_stats stats;
        uint64_t bad = 0;
        run(seed, &(struct machine_faults){.late_vblank = 100000, .delayed_interrupt = 100000}, w);
        for (uint64_t id = 1; id <= w->last_id; id++)
            bad += book(w, id)->retired && book(w, id)->kind >= BAD_MAGIC;
        CHECK(w, w->errors == bad);
        CHECK(w, w->deaths == 0);
        driver_get_stats(w->d, &stats);
        CHECK(w, stats.doorbells_again == 0);
        end(w);
    }
    free(w);
}
