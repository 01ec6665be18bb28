/* SPDX-License-Identifier: MIT */
/* machine_test: both machines and the small driver on them. The live one runs the real executor process
 * around the test engine of exec_test_engine.h, so that it needs no Vulkan and can be told to crash. */
#include "test.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "abi/builder.h"
#include "aerogpu/pci.h"
#include "aerogpu/ring.h"
#include "executor/exec_test_engine.h"
#include "machine/driver.h"
#include "base/samples.h"

#define SECOND NSEC_PER_SEC
#define TIMEOUT                                                                                              \
    (60 * SECOND) /* until something that must happen is taken not to, however slow the machine is */

struct fixture {
    bool sim;
    struct machine *m;
    struct driver *d;
    /* counted on the device's thread */
    _Atomic uint64_t fences, latency, vblanks, errors, early_vblanks;
    uint32_t error_code;
    uint64_t error_fence, last_fence;
    bool out_of_order;
};

static void on_fence(void *ctx, uint64_t fence, uint64_t submitted, uint64_t completed)
{
    struct fixture *f = ctx;

    f->fences++;
    f->out_of_order |= fence <= f->last_fence;
    f->last_fence = fence;
    f->latency += completed - submitted;
}

static void on_vblank(void *ctx, uint64_t seq, uint64_t time_ns, uint64_t seen_ns)
{
    struct fixture *f = ctx;

    f->vblanks++;
    f->early_vblanks += seen_ns < time_ns;
}

static void on_error(void *ctx, uint32_t code, uint64_t fence, uint32_t count)
{
    struct fixture *f = ctx;

    f->error_code = code;
    f->error_fence = fence;
    f->errors++;
}

static int start(void **state, enum machine_kind kind, bool intx, uint32_t period)
{
    struct fixture *f = calloc(1, sizeof(*f));
    struct machine_params p = {.kind = kind,
                               .ram_size = 16 << 20,
                               .vblank_period_ns = period,
                               .executor = TEST_PROGRAMS "/exec_test_executor",
                               .device = "test",
                               .seed = 1};
    struct error e = {0};

    assert_non_null(f);
    *state = f;
    f->sim = kind == MACHINE_SIM;
    if (machine_create(&f->m, &p, &e) || machine_wait_ready(f->m, TIMEOUT / NSEC_PER_MSEC, &e))
        fail_msg("%s", e.text);
    if (driver_create(&f->d,
                      &(struct driver_params){.machine = f->m,
                                              .intx = intx,
                                              .on_fence = on_fence,
                                              .on_vblank = on_vblank,
                                              .on_error = on_error,
                                              .ctx = f},
                      &e))
        fail_msg("%s", e.text);
    return 0;
}

static int setup_sim(void **state)
{
    return start(state, MACHINE_SIM, false, 0);
}

static int setup_sim_intx(void **state)
{
    return start(state, MACHINE_SIM, true, 0);
}

static int setup_live(void **state)
{
    return start(state, MACHINE_LIVE, false, 4000000);
}

static int setup_live_intx(void **state)
{
    return start(state, MACHINE_LIVE, true, 4000000);
}

static int teardown(void **state)
{
    struct fixture *f = *state;

    driver_destroy(f->d);
    machine_destroy(f->m);
    free(f);
    return 0;
}

/* Puts `size` bytes into fresh guest memory. */
static uint64_t put(struct fixture *f, const void *data, uint32_t size)
{
    uint64_t gpa = driver_alloc(f->d, size, 64);

    assert_true(gpa != 0);
    memcpy(driver_ptr(f->d, gpa), data, size);
    return gpa;
}

static uint64_t submit_command(struct fixture *f, enum test_op op, uint64_t a, uint64_t b)
{
    struct test_command c = {.op = op, .a = a, .b = b};
    struct driver_submission s = {.cmd_gpa = put(f, &c, sizeof(c)), .cmd_size = sizeof(c)};
    uint64_t fence;

    assert_int_equal(driver_submit(f->d, &s, &fence), 0);
    return fence;
}

static uint64_t submit_present(struct fixture *f, uint32_t flags)
{
    struct abi_builder b;
    uint32_t size;
    const void *bytes;
    struct driver_submission s = {.flags = AEROGPU_SUBMIT_FLAG_PRESENT};
    uint64_t fence;

    abi_builder_init(&b);
    ABI_EMIT(&b, PRESENT, present, .flags = flags);
    bytes = abi_builder_end(&b, &size);
    s.cmd_gpa = put(f, bytes, size);
    s.cmd_size = size;
    abi_builder_finish(&b);
    assert_int_equal(driver_submit(f->d, &s, &fence), 0);
    return fence;
}

/* ---- both machines ---- */

static void empty_submissions_complete_by_interrupt(void **state)
{
    struct fixture *f = *state;
    struct driver_submission s = {0};
    struct driver_stats stats;
    uint64_t fence = 0;

    for (uint64_t i = 1; i <= 1000; i++) {
        assert_int_equal(driver_submit(f->d, &s, &fence), 0);
        assert_int_equal(fence, i);
        if (i % 3 == 0)
            assert_int_equal(driver_wait(f->d, fence, TIMEOUT), 0);
    }
    assert_int_equal(driver_wait_idle(f->d, TIMEOUT), 0);
    assert_int_equal(f->fences, 1000);
    assert_false(f->out_of_order);
    driver_get_stats(f->d, &stats);
    /* Live, the driver looks for itself after 100 ms without an interrupt: that such a time passes now and then is no loss. */
    assert_true(stats.missed_interrupts <= (f->sim ? 0 : 10));
    assert_true(stats.doorbells_again <= (f->sim ? 0 : 10));
    assert_int_equal(stats.errors, 0);
    assert_true(stats.interrupts > 0);
}

static void a_full_ring_says_so(void **state)
{
    struct fixture *f = *state;
    struct driver_submission s = {0};
    uint64_t n = 0, fence = 0;
    int r;

    while (n < 20000) {
        r = driver_submit(f->d, &s, &fence);
        if (r == -EAGAIN) {
            assert_int_equal(driver_wait(f->d, fence - 100, TIMEOUT), 0);
            continue;
        }
        assert_int_equal(r, 0);
        n++;
    }
    assert_int_equal(driver_wait_idle(f->d, TIMEOUT), 0);
    assert_int_equal(f->fences, 20000);
    assert_false(f->out_of_order);
}

static void wait_for_error(struct fixture *f)
{
    uint64_t end = machine_now(f->m) + TIMEOUT;

    while (!f->errors && machine_now(f->m) < end)
        machine_sleep(f->m, SECOND / 100);
}

static void a_malformed_descriptor_is_heard_of(void **state)
{
    struct fixture *f = *state;
    struct driver_submission s = {.cmd_gpa = UINT64_MAX - 3, .cmd_size = 24};
    uint64_t fence;

    assert_int_equal(driver_submit(f->d, &s, &fence), 0);
    assert_int_equal(driver_wait(f->d, fence, TIMEOUT), 0);
    wait_for_error(f);
    assert_int_equal(f->errors, 1);
    assert_int_equal(f->error_code, AEROGPU_ERROR_OOB);
    assert_int_equal(f->error_fence, fence);
}

static void vblanks_are_seen(void **state)
{
    struct fixture *f = *state;
    uint64_t seq, began = machine_now(f->m), end = began + TIMEOUT;

    assert_int_equal(driver_set_mode(f->d, 64, 32, AEROGPU_FORMAT_B8G8R8X8_UNORM), 0);
    do { /* a busy machine sees some together */
        machine_sleep(f->m, SECOND / 100);
        seq = machine_read64(f->m, AEROGPU_REG_SCANOUT0_VBLANK_SEQ_LO);
    } while ((seq < 11 || f->vblanks < 3) && machine_now(f->m) < end);
    driver_disable_scanout(f->d);
    if (f->sim)
        assert_true(machine_now(f->m) - began <= SECOND / 5);
    seq = machine_read64(f->m, AEROGPU_REG_SCANOUT0_VBLANK_SEQ_LO);
    assert_true(seq >= 11);
    assert_true(f->vblanks >= 3 && f->vblanks <= seq);
    assert_int_equal(f->early_vblanks, 0);
}

static void waiting_times_out(void **state)
{
    struct fixture *f = *state;
    uint64_t before = machine_now(f->m);

    assert_int_equal(driver_wait(f->d, 1, SECOND / 4), -ETIMEDOUT);
    assert_true(machine_now(f->m) - before >= SECOND / 4);
}

static void guest_memory_is_handed_out_once(void **state)
{
    struct fixture *f = *state;
    uint64_t gpa[500], size[500], all = driver_free_bytes(f->d);

    srand(7);
    for (int i = 0; i < 500; i++) {
        size[i] = 1 + (uint64_t)rand() % 20000;
        gpa[i] = driver_alloc(f->d, size[i], 1u << (rand() % 13));
        assert_true(gpa[i] != 0);
        for (int k = 0; k < i; k++)
            assert_true(gpa[i] + size[i] <= gpa[k] || gpa[k] + size[k] <= gpa[i]);
    }
    assert_int_equal(driver_alloc(f->d, all, 64), 0);
    assert_int_equal(driver_alloc(f->d, 0, 64), 0);
    assert_int_equal(driver_alloc(f->d, UINT64_MAX, 64), 0);
    for (int i = 0; i < 500; i += 2)
        driver_free(f->d, gpa[i]);
    for (int i = 1; i < 500; i += 2)
        driver_free(f->d, gpa[i]);
    driver_free(f->d, 0);
    assert_int_equal(driver_free_bytes(f->d), all);
    assert_true(driver_alloc(f->d, all, 64) != 0); /* in one piece again */
}

static void the_mode_shows_its_frame_buffer(void **state)
{
    struct fixture *f = *state;
    struct gpu_picture p;
    struct error e = {0};
    uint8_t *fb;

    assert_int_equal(driver_set_mode(f->d, 3, 2, AEROGPU_FORMAT_B8G8R8A8_UNORM), 0);
    fb = driver_ptr(f->d, driver_frame_buffer(f->d));
    fb[256 + 8] = 0x11;
    fb[256 + 10] = 0x33;
    assert_int_equal(gpu_read_scanout(machine_gpu(f->m), 0, &p, &e), 0);
    assert_int_equal(p.width, 3);
    assert_int_equal(p.rgba[(3 + 2) * 4], 0x33);
    assert_int_equal(p.rgba[(3 + 2) * 4 + 2], 0x11);
    free(p.rgba);
    assert_int_equal(driver_set_mode(f->d, 3, 2, AEROGPU_FORMAT_BC1_RGBA_UNORM), -EINVAL);
    assert_int_equal(driver_set_mode(f->d, 60000, 60000, AEROGPU_FORMAT_B8G8R8A8_UNORM), -ENOMEM);
}

/* ---- sim ---- */

TEST_WITH(sim_presents_are_paced, setup_sim, teardown)
{
    struct fixture *f = *state;
    uint64_t start_ns, fence = 0;

    assert_int_equal(driver_set_mode(f->d, 64, 32, AEROGPU_FORMAT_B8G8R8X8_UNORM), 0);
    start_ns = machine_now(f->m);
    for (int i = 0; i < 60; i++)
        fence = submit_present(f, AEROGPU_PRESENT_FLAG_VSYNC);
    assert_int_equal(driver_wait(f->d, fence, TIMEOUT), 0);
    assert_true(machine_now(f->m) - start_ns >= 60 * UINT64_C(16666667));
    assert_true(machine_now(f->m) - start_ns < 61 * UINT64_C(16666667));
    start_ns = machine_now(f->m);
    for (int i = 0; i < 60; i++)
        fence = submit_present(f, 0);
    assert_int_equal(driver_wait(f->d, fence, TIMEOUT), 0);
    assert_true(machine_now(f->m) - start_ns < 60 * 4 * NSEC_PER_MSEC + NSEC_PER_MSEC);
}

TEST_WITH(sim_finds_malformed_streams, setup_sim, teardown)
{
    struct fixture *f = *state;
    uint32_t garbage[8] = {0x12345678};
    struct driver_submission s = {.cmd_gpa = put(f, garbage, sizeof(garbage)), .cmd_size = sizeof(garbage)};
    struct gpu_stats stats;
    uint64_t fence;

    assert_int_equal(driver_submit(f->d, &s, &fence), 0);
    assert_int_equal(driver_wait(f->d, fence, TIMEOUT), 0);
    assert_int_equal(f->errors, 1);
    assert_int_equal(f->error_code, AEROGPU_ERROR_CMD_DECODE);
    assert_int_equal(f->error_fence, fence);
    gpu_get_stats(machine_gpu(f->m), &stats);
    assert_non_null(strstr(stats.last_error, "magic"));
}

static uint64_t run_seed(uint64_t seed)
{
    struct machine_params p = {
        .kind = MACHINE_SIM,
        .ram_size = 16 << 20,
        .seed = seed,
        .faults = {.delayed_interrupt = 100000, .late_vblank = 100000, .late_answer = 50000}};
    struct fixture f = {.m = NULL};
    struct error e = {0};
    uint64_t hash = 14695981039346656037u;

    assert_int_equal(machine_create(&f.m, &p, &e), 0);
    assert_int_equal(
        driver_create(&f.d, &(struct driver_params){.machine = f.m, .on_fence = on_fence, .ctx = &f}, &e), 0);
    driver_set_mode(f.d, 16, 16, AEROGPU_FORMAT_B8G8R8X8_UNORM);
    for (int i = 0; i < 50; i++) {
        uint64_t fence = submit_present(&f, i & 1);
        if (i % 4 == 3)
            driver_wait(f.d, fence, SECOND);
        hash = (hash ^ machine_now(f.m) ^ f.latency) * 1099511628211u;
    }
    driver_destroy(f.d);
    machine_destroy(f.m);
    return hash;
}

TEST(a_seed_repeats)
{
    assert_true(run_seed(5) == run_seed(5));
    assert_true(run_seed(5) != run_seed(6));
}

/* ---- live ---- */

TEST_WITH(live_executor_writes_guest_memory, setup_live, teardown)
{
    struct fixture *f = *state;
    uint64_t where = driver_alloc(f->d, 64, 64);
    _Atomic uint32_t *value = driver_ptr(f->d, where);

    atomic_store(value, 1);
    assert_int_equal(driver_wait(f->d, submit_command(f, TEST_STORE, where, 0xABCD), TIMEOUT), 0);
    assert_int_equal(atomic_load(value), 0xABCD); /* visible when the fence is */
}

TEST_WITH(live_executor_reaches_vram, setup_live, teardown)
{
    struct fixture *f = *state;
    uint64_t bar1 = gpu_bar_address(machine_gpu(f->m), 1);

    assert_int_equal(driver_wait(f->d, submit_command(f, TEST_STORE, bar1 + 0x1000, 77), TIMEOUT), 0);
    assert_int_equal(f->errors, 0);
    assert_int_equal(gpu_vram(machine_gpu(f->m))[0x1000], 77);
}

TEST_WITH(live_executor_crash_is_one_error, setup_live, teardown)
{
    struct fixture *f = *state;
    struct machine_stats stats;
    struct gpu_stats gpu;
    uint64_t fence = submit_command(f, TEST_FAULT, 0xDEAD0000, 0), where, after;

    assert_int_equal(driver_wait(f->d, fence, TIMEOUT), 0);
    wait_for_error(f);
    assert_int_equal(f->errors, 1);
    assert_int_equal(f->error_code, AEROGPU_ERROR_BACKEND);
    assert_int_equal(f->error_fence, fence);
    gpu_get_stats(machine_gpu(f->m), &gpu);
    assert_true(gpu.has_fault);
    assert_int_equal(gpu.fault_address, 0xDEAD0000);
    where = driver_alloc(f->d, 64, 64);
    after = submit_command(f, TEST_STORE, where, 3);
    assert_int_equal(driver_wait(f->d, after, TIMEOUT), 0); /* the next one works */
    assert_int_equal(*(uint32_t *)driver_ptr(f->d, where), 3);
    machine_get_stats(f->m, &stats);
    assert_int_equal(stats.executor_deaths, 1);
    assert_true(stats.last_death[0] != '\0');
}

TEST_WITH(live_executor_killed_in_the_middle, setup_live, teardown)
{
    struct fixture *f = *state;
    uint64_t fence = submit_command(f, TEST_SLEEP, 20000000, 0);

    machine_sleep(f->m, SECOND / 20);
    assert_true(machine_executor_pid(f->m) > 0);
    kill((pid_t)machine_executor_pid(f->m), SIGKILL);
    assert_int_equal(driver_wait(f->d, fence, TIMEOUT), 0);
    wait_for_error(f);
    assert_int_equal(f->error_code, AEROGPU_ERROR_BACKEND);
    assert_int_equal(f->error_fence, fence);
    assert_int_equal(driver_wait(f->d, submit_command(f, TEST_NOTHING, 0, 0), TIMEOUT), 0);
    assert_int_equal(f->errors, 1);
}

TEST_WITH(live_vblank_ticks_through_a_hang_and_a_reset_ends_it, setup_live, teardown)
{
    struct fixture *f = *state;
    uint64_t hung, before, end = machine_now(f->m) + TIMEOUT;

    driver_set_mode(f->d, 64, 32, AEROGPU_FORMAT_B8G8R8X8_UNORM);
    hung = submit_command(f, TEST_HANG, 0, 0);
    before = machine_read64(f->m, AEROGPU_REG_SCANOUT0_VBLANK_SEQ_LO);
    do
        assert_int_equal(driver_wait(f->d, hung, SECOND / 20), -ETIMEDOUT);
    while (machine_read64(f->m, AEROGPU_REG_SCANOUT0_VBLANK_SEQ_LO) - before < 45 && machine_now(f->m) < end);
    assert_true(machine_read64(f->m, AEROGPU_REG_SCANOUT0_VBLANK_SEQ_LO) - before >= 45);
    driver_reset(f->d);
    assert_int_equal(driver_wait(f->d, submit_command(f, TEST_NOTHING, 0, 0), TIMEOUT), 0);
    assert_int_equal(f->errors, 0); /* dropped, not failed */
}

TEST_WITH(live_submit_does_not_wait, setup_live, teardown)
{
    struct fixture *f = *state;
    uint64_t before, fence = 0;

    submit_command(f, TEST_HANG, 0, 0);
    for (int i = 0; i < 20; i++) /* whoever waited here would wait for ever */
        fence = submit_command(f, TEST_SLEEP, 10000, 0);
    assert_int_equal(driver_wait(f->d, fence, SECOND / 20), -ETIMEDOUT);
    driver_reset(f->d);
    before = machine_now(f->m);
    for (int i = 0; i < 20; i++)
        fence = submit_command(f, TEST_SLEEP, 10000, 0);
    assert_int_equal(driver_wait(f->d, fence, TIMEOUT), 0);
    assert_true(machine_now(f->m) - before >= SECOND / 5);
}

/* It stands still when the call returns, not a while after it, even where it finds no processor in that while. */
TEST_WITH(live_stop_is_at_once, setup_live, teardown)
{
    struct fixture *f = *state;
    pid_t pid = machine_executor_pid(f->m);
    char path[40], line[256];
    cpu_set_t before, one;

    assert_int_equal(sched_getaffinity(0, sizeof(before), &before), 0);
    CPU_ZERO(&one);
    for (int i = 0; !CPU_COUNT(&one); i++)
        if (CPU_ISSET(i, &before))
            CPU_SET(i, &one);
    snprintf(path, sizeof(path), "/proc/%d/stat", pid);
    assert_int_equal(driver_wait(f->d, submit_command(f, TEST_NOTHING, 0, 0), TIMEOUT), 0);
    assert_int_equal(sched_setscheduler(pid, SCHED_IDLE, &(struct sched_param){0}), 0);
    assert_int_equal(sched_setaffinity(pid, sizeof(one), &one), 0);
    assert_int_equal(sched_setaffinity(0, sizeof(one), &one), 0);
    for (int i = 0; i < 20; i++) {
        FILE *stat;
        assert_int_equal(driver_wait(f->d, submit_command(f, TEST_NOTHING, 0, 0), TIMEOUT), 0);
        assert_int_equal(machine_stop_executor(f->m, UINT64_MAX), 0);
        stat = fopen(path, "r");
        assert_non_null(stat);
        assert_non_null(fgets(line, sizeof(line), stat));
        fclose(stat);
        assert_int_equal(strrchr(line, ')')[2], 'T');
        assert_int_equal(machine_stop_executor(f->m, 0), 0);
    }
    assert_int_equal(sched_setaffinity(0, sizeof(before), &before), 0);
    assert_int_equal(driver_wait(f->d, submit_command(f, TEST_NOTHING, 0, 0), TIMEOUT), 0);
}

TEST(no_executor_program)
{
    struct machine_params p = {.kind = MACHINE_LIVE, .executor = "/nonexistent/executor"};
    struct machine *m;
    struct error e = {0};

    assert_int_equal(machine_create(&m, &p, &e), -ENOENT);
    assert_null(m);
    assert_non_null(strstr(e.text, "/nonexistent/executor"));
}

TEST(no_vulkan_device)
{
    struct machine_params p = {
        .kind = MACHINE_LIVE, .executor = TEST_PROGRAMS "/exec_test_executor", .device = "missing"};
    struct machine *m;
    struct error e = {0};

    assert_int_equal(machine_create(&m, &p, &e), 0);
    assert_int_equal(machine_wait_ready(m, TIMEOUT / NSEC_PER_MSEC, &e), -ENODEV);
    assert_non_null(strstr(e.text, "no Vulkan device"));
    machine_destroy(m);
}

/* ---- without a driver ---------------------------------------------------- */

struct patient {
    struct machine *m;
    _Atomic unsigned calls;
};

static void acknowledges(void *ctx)
{
    struct patient *p = ctx;

    machine_write(p->m, AEROGPU_REG_IRQ_ACK, AEROGPU_IRQ_ERROR);
    p->calls++;
}

static bool was_called(void *ctx)
{
    return ((struct patient *)ctx)->calls > 0;
}

/* A line that rose while nobody listened is high still when somebody does. */
static void a_high_line_waits_for_a_routine(enum machine_kind kind)
{
    struct patient p = {0};
    struct error e = {0};

    assert_int_equal(machine_create(&p.m,
                                    &(struct machine_params){.kind = kind,
                                                             .executor = TEST_PROGRAMS "/exec_test_executor",
                                                             .device = "test"},
                                    &e),
                     0);
    driver_enable(p.m, false);
    machine_write(p.m, AEROGPU_REG_IRQ_ENABLE, AEROGPU_IRQ_ERROR);
    machine_write(p.m, AEROGPU_REG_RING_CONTROL, AEROGPU_RING_CONTROL_ENABLE);
    machine_write(p.m, AEROGPU_REG_DOORBELL, 1); /* there is no ring */
    machine_sleep(p.m, SECOND / 10);
    machine_set_irq(p.m, acknowledges, &p);
    assert_int_equal(machine_wait(p.m, was_called, &p, TIMEOUT), 0);
    machine_destroy(p.m);
}

TEST(sim_a_high_line_waits_for_a_routine)
{
    a_high_line_waits_for_a_routine(MACHINE_SIM);
}

TEST(live_a_high_line_waits_for_a_routine)
{
    a_high_line_waits_for_a_routine(MACHINE_LIVE);
}

TEST(bad_memory_sizes)
{
    struct machine_params p = {.kind = MACHINE_SIM, .ram_size = 4097};
    struct machine *m;
    struct error e = {0};

    assert_int_equal(machine_create(&m, &p, &e), -EINVAL);
    p.ram_size = UINT64_C(4) << 30;
    assert_int_equal(machine_create(&m, &p, NULL), -EINVAL);
    machine_destroy(NULL);
}

TEST(percentiles)
{
    struct samples s = {0};

    assert_int_equal(samples_percentile(&s, 50), 0);
    for (uint64_t i = 1000; i >= 1; i--)
        samples_add(&s, i);
    assert_int_equal(samples_percentile(&s, 50), 500);
    assert_int_equal(samples_percentile(&s, 99), 990);
    assert_int_equal(samples_percentile(&s, 100), 1000);
    assert_int_equal(samples_percentile(&s, 0), 1);
    assert_false(s.failed);
    samples_clear(&s);
    assert_int_equal(s.n, 0);
    samples_finish(&s);
}

#define SIM(f)       TEST_ROW("sim_" #f, f, setup_sim, teardown)
#define SIM_INTX(f)  TEST_ROW("sim_intx_" #f, f, setup_sim_intx, teardown)
#define LIVE(f)      TEST_ROW("live_" #f, f, setup_live, teardown)
#define LIVE_INTX(f) TEST_ROW("live_intx_" #f, f, setup_live_intx, teardown)
#define ALL(f)                                                                                               \
    SIM(f);                                                                                                  \
    SIM_INTX(f);                                                                                             \
    LIVE(f);                                                                                                 \
    LIVE_INTX(f)
ALL(empty_submissions_complete_by_interrupt);
ALL(a_full_ring_says_so);
ALL(a_malformed_descriptor_is_heard_of);
ALL(vblanks_are_seen);
SIM(waiting_times_out);
LIVE(waiting_times_out);
SIM(guest_memory_is_handed_out_once);
SIM(the_mode_shows_its_frame_buffer);
