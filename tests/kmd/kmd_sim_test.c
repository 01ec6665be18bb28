/* SPDX-License-Identifier: MIT */
/* The stack with every fault on, over many seeds: whatever happens, it goes on and nothing is lost. A seed that fails
 * is in the message; `kmd_sim_test SEED` runs that one alone. */
#include "test.h"

#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "aerogpu/ext.h"
#include "dxgkrnl/faults.h"
#include "kmd_rig.h"

enum { CLIENTS = 4, STEPS = 150, SEEDS = 60 };

static uint64_t only_seed;

struct user {
    struct dxgk_client *client;
    struct rig_context x;
    D3DKMT_HANDLE alloc;
    bool open;
};

static void enter(struct rig *r, struct user *u, unsigned id)
{
    struct aerogpu_alloc_priv_v2 p = rig_priv(id + 1, 65536, 0, 0);

    assert_int_equal(dxgk_client_open(r->dxgk, &u->client, 1000 + id, false), 0);
    u->x = rig_context(r, u->client);
    assert_int_equal(rig_allocate(&u->x, &p, &u->alloc), STATUS_SUCCESS);
    u->open = true;
}

/* Work of a user; whether its device is still there. */
static bool work(struct user *u, struct rng *rng, bool wait)
{
    struct abi_builder b;
    NTSTATUS s;

    abi_builder_init(&b);
    if (rng_below(rng, 4) == 0)
        ABI_EMIT(&b, PRESENT, present, .flags = rng_below(rng, 2) ? AEROGPU_PRESENT_FLAG_VSYNC : 0);
    else if (rng_below(rng, 10) == 0)
        ABI_EMIT(&b, DRAW, draw, .vertex_count = 3);
    else
        ABI_EMIT(&b, CREATE_BUFFER, create_buffer, .buffer_handle = 1 + (uint32_t)rng_below(rng, 100),
                 .size_bytes = 64);
    s = rig_render(&u->x, &b, &u->alloc, 1, (uint32_t)rng_below(rng, 2));
    abi_builder_finish(&b);
    assert_true(s == STATUS_SUCCESS || s == STATUS_DEVICE_REMOVED);
    if (s == STATUS_SUCCESS && wait) {
        s = rig_idle(&u->x);
        assert_true(s == STATUS_SUCCESS || s == STATUS_DEVICE_REMOVED);
    }
    return s == STATUS_SUCCESS;
}

static void check_counters(struct rig *r, uint64_t *last)
{
    struct aerogpu_escape_query_fence f = {0};

    assert_int_equal(RIG_ESCAPE(r, QUERY_FENCE, &f), STATUS_SUCCESS);
    assert_true(f.last_completed_fence <= f.last_submitted_fence);
    assert_true(f.last_completed_fence >= *last); /* never goes back, over resets neither */
    *last = f.last_completed_fence;
}

static void live_through(uint64_t seed)
{
    struct machine_faults faults = {.lost_doorbell = 50000,
                                    .lost_interrupt = 50000,
                                    .doubled_interrupt = 50000,
                                    .delayed_interrupt = 50000,
                                    .late_vblank = 50000,
                                    .hang = 5000,
                                    .death = 5000,
                                    .late_answer = 50000};
    struct user users[CLIENTS] = {0};
    struct rng rng = {.state = seed * 977};
    struct rig r = {0};
    uint64_t last = 0;

    print_message("# seed %llu\n", (unsigned long long)seed);
    rig_set(&r, SETTINGS_GRAPHICS_DRIVERS, "TdrLimitCount", 1000000);
    rig_up(&r, &(struct stack_params){.machine = {.kind = MACHINE_SIM, .seed = seed, .faults = faults}});
    for (int step = 0; step < STEPS; step++) {
        struct user *u = &users[rng_below(&rng, CLIENTS)];
        uint64_t start = clock_now(stack_clock(r.stack));
        NTSTATUS s;
        if (!u->open) {
            stack_sleep(r.stack, 10 * NSEC_PER_MSEC); /* a recovery may be under way */
            enter(&r, u, (unsigned)(u - users));
        }
        switch (rng_below(&rng, 6)) {
        case 0:
            s = dxgk_WaitForVerticalBlankEvent(r.client,
                                               &(D3DKMT_WAITFORVERTICALBLANKEVENT){.hAdapter = r.adapter});
            assert_int_equal(s, STATUS_SUCCESS);
            assert_true(clock_now(stack_clock(r.stack)) - start < 3 * NSEC_PER_SEC);
            break;
        case 1:
            stack_sleep(r.stack, rng_below(&rng, 40 * NSEC_PER_MSEC));
            break;
        case 2: /* killed in the middle */
            work(u, &rng, false);
            dxgk_client_close(u->client);
            u->open = false;
            break;
        default:
            if (!work(u, &rng, rng_below(&rng, 2))) {
                dxgk_client_close(u->client);
                u->open = false;
            }
        }
        check_counters(&r, &last);
    }
    for (int i = 0; i < CLIENTS; i++)
        if (users[i].open)
            dxgk_client_close(users[i].client);
    assert_int_equal(dxgk_state(r.dxgk), DXGK_STARTED);
    rig_down(&r);
}

TEST(every_fault_is_survived)
{
    if (only_seed) {
        live_through(only_seed);
        return;
    }
    for (uint64_t seed = 1; seed <= SEEDS; seed++)
        live_through(seed);
}

TEST(the_same_seed_does_the_same)
{
    uint64_t fences[2], times[2];

    for (int run = 0; run < 2; run++) {
        struct aerogpu_escape_query_fence f = {0};
        struct user u = {0};
        struct rng rng = {.state = 5};
        struct rig r = {0};
        rig_set(&r, SETTINGS_GRAPHICS_DRIVERS, "TdrLimitCount", 1000000);
        rig_up(&r,
               &(struct stack_params){
                   .machine = {.kind = MACHINE_SIM,
                               .seed = 9,
                               .faults = {.hang = 20000, .late_answer = 100000, .lost_interrupt = 100000}}});
        for (int i = 0; i < 200; i++) {
            if (!u.open)
                enter(&r, &u, 1);
            if (!work(&u, &rng, true)) {
                dxgk_client_close(u.client);
                u.open = false;
                stack_sleep(r.stack, 50 * NSEC_PER_MSEC);
            }
        }
        assert_int_equal(RIG_ESCAPE(&r, QUERY_FENCE, &f), STATUS_SUCCESS);
        fences[run] = f.last_completed_fence;
        times[run] = clock_now(stack_clock(r.stack));
        if (u.open)
            dxgk_client_close(u.client);
        rig_down(&r);
    }
    assert_int_equal(fences[0], fences[1]);
    assert_int_equal(times[0], times[1]);
}

/* A reset that fails ends the adapter; escapes answer all the same. */
TEST(escapes_answer_after_a_failed_reset)
{
    struct aerogpu_escape_query_device_v2 d = {0};
    struct aerogpu_escape_query_perf p = {0};
    struct aerogpu_escape_dump_ring_v2 v = {.desc_capacity = 32};
    struct aerogpu_escape_read_log log = {0};
    struct rng rng = {.state = 5};
    struct user u = {0};
    struct rig r = {0};

    rig_up(&r, &(struct stack_params){.machine = {.kind = MACHINE_SIM, .faults.hang = 1000000}});
    assert_int_equal(dxgk_inject(r.dxgk, DXGK_FAULT_FAIL_RESET, 1), STATUS_SUCCESS);
    enter(&r, &u, 1);
    assert_false(work(&u, &rng, true));
    stack_sleep(r.stack, NSEC_PER_SEC);
    assert_int_equal(dxgk_state(r.dxgk), DXGK_FAILED);
    assert_int_equal(dxgk_event_count(r.dxgk, 0x116), 1);
    assert_int_equal(RIG_ESCAPE(&r, QUERY_DEVICE_V2, &d), STATUS_SUCCESS);
    assert_int_equal(d.detected_mmio_magic, AEROGPU_MMIO_MAGIC);
    assert_int_equal(RIG_ESCAPE(&r, QUERY_PERF, &p), STATUS_SUCCESS);
    assert_int_equal(p.reset_from_timeout_count, 1);
    assert_int_equal(RIG_ESCAPE(&r, DUMP_RING_V2, &v), STATUS_SUCCESS);
    log.header = (struct aerogpu_escape_header){1, AEROGPU_EXT_ESCAPE_OP_READ_LOG, sizeof(log), 0};
    assert_int_equal(rig_escape(&r, r.client, &log, sizeof(log)), STATUS_SUCCESS);
    assert_non_null(memmem(log.text, log.text_bytes, "reset: submitted 1, completed 0", 31));
    dxgk_client_close(u.client);
    rig_down(&r);
}

int main(int argc, char **argv)
{
    only_seed = argc > 1 ? strtoull(argv[1], NULL, 10) : 0;
    return test_run();
}
