/* SPDX-License-Identifier: MIT */
/* dxgkrnl: time-outs, resets that succeed and fail, lost interrupts, DDIs that block, faults by seed. */
#include "test.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/rng.h"
#include "dxgkrnl/adapter.h"
#include "dxgkrnl_rig.h"

TEST(a_hang_is_recovered_from)
{
    struct world w;
    struct ctx x, other, fresh;
    uint64_t start, waited;
    D3DKMT_HANDLE a;
    struct dxgk_event e;
    bool found = false;

    world_up(&w, false);
    x = ctx_make(&w, w.client, w.adapter);
    other = ctx_make(&w, w.client, w.adapter);
    assert_int_equal(ctx_allocate(&w, &other, 4096, false, &a), STATUS_SUCCESS);
    start = clock_now(&w.clock);
    ctx_put(&x, OP_HANG, 0, 0, 0, 0);
    assert_int_equal(ctx_render(w.client, &x, NULL, 0), STATUS_SUCCESS);
    assert_int_equal(ctx_idle(w.client, &x), STATUS_DEVICE_REMOVED);
    waited = clock_now(&w.clock) - start;
    world_settle(&w);
    assert_true(waited >= 2 * NSEC_PER_SEC && waited < 2 * NSEC_PER_SEC + 100 * NSEC_PER_MSEC);
    assert_int_equal(dxgk_event_count(w.dxgk, 4101), 1);
    for (unsigned i = 0; dxgk_event(w.dxgk, i, &e); i++)
        if (e.id == 4101) {
            found = true;
            assert_string_equal(e.source, "Display");
            assert_non_null(
                strstr(e.text, "Display driver softgpu stopped responding and has successfully recovered"));
        }
    assert_true(found);
    assert_int_equal(device_state(&w, x.device), D3DKMT_DEVICEEXECUTION_HUNG);
    assert_int_equal(device_state(&w, other.device), D3DKMT_DEVICEEXECUTION_RESET);
    ctx_put(&other, OP_NOP, 0, 0, 0, 0);
    assert_int_equal(ctx_render(w.client, &other, NULL, 0), STATUS_DEVICE_REMOVED);
    assert_int_equal(ctx_allocate(&w, &other, 4096, false, &a), STATUS_DEVICE_REMOVED);
    fresh = ctx_make(&w, w.client, w.adapter);
    assert_int_equal(ctx_allocate(&w, &fresh, 4096, false, &a), STATUS_SUCCESS);
    ctx_put(&fresh, OP_FILL, 9, 0, 1, 0);
    assert_int_equal(ctx_render(w.client, &fresh, &a, 1), STATUS_SUCCESS);
    assert_int_equal(ctx_idle(w.client, &fresh), STATUS_SUCCESS);
    world_down(&w, 0);
}

/* The toy shows nothing after a reset. */
TEST(what_was_shown_is_shown_after_a_reset)
{
    struct world w;
    struct ctx x;
    D3DKMT_WAITFORVERTICALBLANKEVENT v = {0};

    world_up(&w, false);
    v.hAdapter = w.adapter;
    assert_int_equal(dxgk_WaitForVerticalBlankEvent(w.client, &v), STATUS_SUCCESS);
    assert_true(w.gpu.scan_now < SOFTGPU_PAGES);
    x = ctx_make(&w, w.client, w.adapter);
    ctx_hang(&w, &x);
    assert_int_equal(dxgk_WaitForVerticalBlankEvent(w.client, &v), STATUS_SUCCESS);
    assert_true(w.gpu.scan_now < SOFTGPU_PAGES);
    world_down(&w, 0);
}

/* What is noted of an interrupt is of work that a reset has dropped: nobody looks at it after that. */
TEST(what_is_noted_in_a_reset_is_forgotten)
{
    struct softgpu_escape e = {.op = ESC_LATE_NOTE};
    struct world w;
    struct ctx x;

    world_up(&w, false);
    assert_int_equal(world_escape(&w, &e), STATUS_SUCCESS);
    for (int i = 0; i < 3; i++) {
        x = ctx_make(&w, w.client, w.adapter);
        ctx_hang(&w, &x);
        x = ctx_make(&w, w.client, w.adapter);
        ctx_put(&x, OP_NOP, 0, 0, 0, 0);
        assert_int_equal(ctx_render(w.client, &x, NULL, 0), STATUS_SUCCESS);
        assert_int_equal(ctx_idle(w.client, &x), STATUS_SUCCESS);
    }
    world_down(&w, 0);
}

TEST(settings_move_the_deadline)
{
    struct world w;
    struct ctx x;
    uint64_t start;

    world_set("TdrDelay", 10);
    world_up(&w, false);
    x = ctx_make(&w, w.client, w.adapter);
    start = clock_now(&w.clock);
    ctx_put(&x, OP_DELAY, 9500, 0, 0, 0); /* slow, not hung */
    assert_int_equal(ctx_render(w.client, &x, NULL, 0), STATUS_SUCCESS);
    assert_int_equal(ctx_idle(w.client, &x), STATUS_SUCCESS);
    assert_int_equal(dxgk_event_count(w.dxgk, 4101), 0);
    ctx_put(&x, OP_HANG, 0, 0, 0, 0);
    assert_int_equal(ctx_render(w.client, &x, NULL, 0), STATUS_SUCCESS);
    assert_int_equal(ctx_idle(w.client, &x), STATUS_DEVICE_REMOVED);
    assert_true(clock_now(&w.clock) - start >= UINT64_C(19500) * NSEC_PER_MSEC);
    world_down(&w, 0);
}

static void expect_failed(struct world *w, struct ctx *x, const char *why)
{
    struct softgpu_escape e = {.op = ESC_COUNTERS};
    struct dxgk_event ev = {0};
    D3DKMT_CREATEDEVICE d = {.hAdapter = w->adapter};

    assert_int_equal(dxgk_state(w->dxgk), DXGK_FAILED);
    assert_int_equal(dxgk_event_count(w->dxgk, 0x116), 1);
    for (unsigned i = 0; dxgk_event(w->dxgk, i, &ev) && ev.id != 0x116; i++)
        ;
    assert_string_equal(ev.source, "BugCheck");
    if (!strstr(ev.text, why))
        fail_msg("'%s' does not say '%s'", ev.text, why);
    assert_int_equal(ctx_render(w->client, x, NULL, 0), STATUS_DEVICE_REMOVED);
    assert_int_equal(dxgk_CreateDevice(w->client, &d), STATUS_DEVICE_REMOVED);
    assert_int_equal(world_escape(w, &e), STATUS_SUCCESS); /* the tools can still ask */
}

TEST(a_failing_reset_reports_and_stops)
{
    struct world w;
    struct ctx x;
    static const char *const said[] = {"DxgkDdiResetFromTimeout failed", "DxgkDdiRestartFromTimeout failed"};

    for (uint32_t i = 0; i < 2; i++) {
        struct softgpu_escape e = {.op = ESC_RESET_FAILS, .value = i};

        world_up(&w, false);
        x = ctx_make(&w, w.client, w.adapter);
        assert_int_equal(world_escape(&w, &e), STATUS_SUCCESS);
        ctx_hang(&w, &x);
        expect_failed(&w, &x, said[i]);
        assert_int_equal(dxgk_event_count(w.dxgk, 4101), 0);
        world_down(&w, 0);
    }
}

TEST(too_many_resets_stop)
{
    struct world w;
    struct ctx x;

    world_set("TdrLimitCount", 2);
    world_up(&w, false);
    for (int i = 0; i < 3; i++) {
        x = ctx_make(&w, w.client, w.adapter);
        ctx_hang(&w, &x);
    }
    expect_failed(&w, &x, "more than 2 time-outs within 60 s");
    assert_int_equal(dxgk_event_count(w.dxgk, 4101), 2);
    world_down(&w, 0);
}

static void guess(struct world *w, uint32_t user, unsigned times)
{
    D3DKMT_OPENADAPTERFROMHDC open = {0};
    D3DKMT_CREATEDEVICE device = {0};
    D3DKMT_QUERYRESOURCEINFO query = {0};
    struct dxgk_client *c;

    assert_int_equal(dxgk_client_open(w->dxgk, &c, 100000 + user, false), 0);
    dxgk_client_set_user(c, user, false);
    assert_int_equal(dxgk_OpenAdapterFromHdc(c, &open), STATUS_SUCCESS);
    device.hAdapter = open.hAdapter;
    assert_int_equal(dxgk_CreateDevice(c, &device), STATUS_SUCCESS);
    query.hDevice = device.hDevice;
    for (unsigned i = 0; i < times; i++) {
        query.hGlobalShare = 0xABCD1237 + 64 * i;
        assert_int_equal(dxgk_QueryResourceInfo(c, &query), STATUS_INVALID_HANDLE);
    }
    dxgk_client_close(c);
}

/* Who has no guesses left does not get new ones by a crowd that makes some. */
TEST(a_crowd_does_not_bring_guesses_back)
{
    struct dxgk_event event;
    struct world w;

    world_up(&w, false);
    guess(&w, 7, 100);
    assert_int_equal(dxgk_event_count(w.dxgk, 6), 1);
    for (uint32_t user = 1000; user < 1300; user++)
        guess(&w, user, 1);
    guess(&w, 7, 100);
    assert_int_equal(dxgk_event_count(w.dxgk, 6), 1);
    guess(&w, 8, 100); /* and a crowd does not hide him who comes next */
    assert_int_equal(dxgk_event_count(w.dxgk, 6), 2);
    for (unsigned i = 0, user = 7; dxgk_event(w.dxgk, i, &event); i++)
        if (event.id == 6) /* says whose it is: a log that keeps one short leaves the others theirs */
            assert_true(event.has_user && event.user == user++);
    world_down(&w, 0);
}

static NTSTATUS opens(struct world *w, struct dxgk_client **c, uint64_t process, uint32_t user)
{
    D3DKMT_OPENADAPTERFROMHDC open = {0};

    assert_int_equal(dxgk_client_open(w->dxgk, c, process, false), 0);
    dxgk_client_set_user(*c, user, false);
    assert_int_equal(dxgk_OpenAdapterFromHdc(*c, &open), STATUS_SUCCESS);
    return dxgk_CreateDevice(*c, &(D3DKMT_CREATEDEVICE){.hAdapter = open.hAdapter});
}

/* A stranger's processes leave others more than half of what each of theirs needs one of. */
TEST(a_crowd_of_one_user_leaves_room)
{
    enum { SHARE = 22 };
    struct dxgk_client *c[SHARE + 3];
    struct world w;

    world_up(&w, false);
    for (unsigned i = 0; i < SHARE; i++)
        assert_int_equal(opens(&w, &c[i], 700 + i, 1234), STATUS_SUCCESS);
    assert_int_equal(opens(&w, &c[SHARE], 700 + SHARE, 1234), STATUS_INSUFFICIENT_RESOURCES);
    assert_int_equal(opens(&w, &c[SHARE + 1], 699 + SHARE, 1234),
                     STATUS_SUCCESS); /* a process that has one already */
    assert_int_equal(opens(&w, &c[SHARE + 2], 701 + SHARE, 1235), STATUS_SUCCESS); /* somebody else's */
    dxgk_client_close(c[SHARE]);
    dxgk_client_close(c[SHARE - 1]); /* and its process has another connection */
    assert_int_equal(opens(&w, &c[SHARE], 700 + SHARE, 1234), STATUS_INSUFFICIENT_RESOURCES);
    dxgk_client_close(c[SHARE]);
    dxgk_client_close(c[SHARE + 1]);
    dxgk_client_close(c[SHARE - 2]); /* with one of somebody else's there is less to have */
    assert_int_equal(opens(&w, &c[SHARE - 2], 700 + SHARE, 1234), STATUS_SUCCESS);
    for (unsigned i = 0; i < SHARE - 1; i++)
        dxgk_client_close(c[i]);
    dxgk_client_close(c[SHARE + 2]);
    world_down(&w, 0);
}

/* Several have all that they can: the next still gets something. */
TEST(a_crowd_of_several_users_leaves_room)
{
    struct dxgk_client *c[64];
    unsigned n = 0, opened;
    struct world w;

    world_up(&w, false);
    for (uint32_t user = 1; user <= 6; user++) {
        for (opened = 0; NT_SUCCESS(opens(&w, &c[n], 700 + n, user)); n++)
            opened++;
        assert_true(opened >= (user <= 4 ? 3 : 1));
        dxgk_client_close(c[n]);
    }
    for (uint32_t user = 7; user <= 20; user++, n++)
        assert_int_equal(opens(&w, &c[n], 700 + n, user), STATUS_SUCCESS);
    for (unsigned i = 0; i < n; i++)
        dxgk_client_close(c[i]);
    world_down(&w, 0);
}

/* Of fewer, where the host has no room for more. */
TEST(a_crowd_leaves_room_where_there_is_little)
{
    struct dxgk_client *c[6];
    struct world w;

    world_up(&w, false);
    w.gpu.bus.processes = 8;
    for (unsigned i = 0; i < 2; i++)
        assert_int_equal(opens(&w, &c[i], 700 + i, 1), STATUS_SUCCESS);
    assert_int_equal(opens(&w, &c[2], 702, 1), STATUS_INSUFFICIENT_RESOURCES);
    for (unsigned i = 3; i < 6; i++)
        assert_int_equal(opens(&w, &c[i], 700 + i, i), STATUS_SUCCESS);
    for (unsigned i = 0; i < 6; i++)
        dxgk_client_close(c[i]);
    world_down(&w, 0);
}

/* Of the memory, too; root and the service's user are not held to shares. */
TEST(a_stranger_leaves_memory)
{
    enum { SIZE = 1 << 20, ALL = 16 };
    struct dxgk_client *c[3];
    unsigned had[3] = {0};
    struct world w;

    world_up(&w, false);
    for (uint32_t user = 1; user <= 3; user++) {
        struct dxgk_client *root = w.client;
        D3DKMT_OPENADAPTERFROMHDC open = {0};
        D3DKMT_HANDLE h;
        struct ctx x;
        assert_int_equal(dxgk_client_open(w.dxgk, &c[user - 1], 700 + user, user == 3), 0);
        w.client = c[user - 1];
        if (user != 3)
            dxgk_client_set_user(w.client, user, false);
        assert_int_equal(dxgk_OpenAdapterFromHdc(w.client, &open), STATUS_SUCCESS);
        x = ctx_make(&w, w.client, open.hAdapter);
        while (NT_SUCCESS(ctx_allocate(&w, &x, SIZE, false, &h)))
            had[user - 1]++;
        w.client = root;
    }
    assert_in_range(had[0], ALL * 11 / 32 - 1, ALL * 11 / 32);
    assert_in_range(had[1], ALL * 11 / 64 - 1, ALL * 11 / 64);
    assert_in_range(had[0] + had[1] + had[2], ALL - 2, ALL - 1); /* and the desktop's surface */
    for (unsigned i = 0; i < 3; i++)
        dxgk_client_close(c[i]);
    world_down(&w, 0);
}

/* A user of however many processes leaves handles and descriptors to the others, and one process is limited by itself. */
TEST(a_stranger_leaves_handles_and_descriptors)
{
    enum { PROCESSES = 5 };
    struct dxgk_client *c[PROCESSES], *other;
    struct world w;

    world_up(&w, false);
    for (enum quota what = QUOTA_HANDLES; what <= QUOTA_DESCRIPTORS; what++) {
        const uint64_t one = what == QUOTA_HANDLES ? CLIENT_MAX_HANDLES : CLIENT_MAX_DESCRIPTORS;
        uint64_t all = 0;
        for (unsigned i = 0; i < PROCESSES; i++) {
            uint64_t n = 0;
            assert_int_equal(dxgk_client_open(w.dxgk, &c[i], 700 + i, false), 0);
            dxgk_client_set_user(c[i], 1234, false);
            while (dxgk_quota_take(w.dxgk, c[i], what, 1))
                n++;
            assert_true(n <= one && (i || n));
            all += n;
        }
        assert_int_equal(dxgk_client_open(w.dxgk, &other, 800, false), 0);
        dxgk_client_set_user(other, 1235, false);
        if (what == QUOTA_HANDLES)
            assert_in_range(all, CLIENT_MAX_HANDLES, MAX_HANDLES / 2);
        assert_true(dxgk_quota_take(w.dxgk, other, what, 1));
        dxgk_quota_give(w.dxgk, other, what, 1);
        dxgk_client_close(other);
        for (unsigned i = 0; i < PROCESSES; i++) {
            dxgk_quota_give(w.dxgk, c[i], what, c[i]->quota[what]);
            dxgk_client_close(c[i]);
        }
    }
    world_down(&w, 0);
}

/* A stranger who hangs the device again and again is barred alone: a process first, then its user; nobody else is. */
TEST(offenders_are_barred_alone)
{
    D3DKMT_CREATEDEVICE device = {0};
    struct dxgk_client *c;
    struct world w;
    struct ctx x;

    world_set("TdrLimitCount", 5);
    world_up(&w, false);
    for (unsigned i = 0; i < 5; i++) {
        D3DKMT_OPENADAPTERFROMHDC open = {0};
        struct dxgk_client *own = w.client;
        assert_int_equal(dxgk_client_open(w.dxgk, &c, i < 3 ? 700 : 700 + i, false), 0);
        dxgk_client_set_user(c, 1234, false);
        assert_int_equal(dxgk_OpenAdapterFromHdc(c, &open), STATUS_SUCCESS);
        device.hAdapter = open.hAdapter;
        x = ctx_make(&w, c, open.hAdapter);
        w.client = c;
        ctx_hang(&w, &x);
        w.client = own;
        /* the third of the process, the fifth of the user */
        assert_int_equal(dxgk_CreateDevice(c, &device),
                         i == 2 || i == 4 ? STATUS_ACCESS_DENIED : STATUS_SUCCESS);
        dxgk_client_close(c);
        if (i == 2) /* another user's, who has its number now */
            assert_int_equal(opens(&w, &c, 700, 1235), STATUS_SUCCESS);
        if (i == 2)
            dxgk_client_close(c);
    }
    assert_int_equal(dxgk_event_count(w.dxgk, 7), 2);
    for (unsigned i = 0; i < 4; i++) { /* what they did does not count against others */
        x = ctx_make(&w, w.client, w.adapter);
        ctx_hang(&w, &x);
    }
    assert_int_equal(dxgk_state(w.dxgk), DXGK_STARTED);
    assert_int_equal(dxgk_client_open(w.dxgk, &c, 800, false), 0);
    dxgk_client_set_user(c, 1234, false);
    {
        D3DKMT_OPENADAPTERFROMHDC open = {0};
        assert_int_equal(dxgk_OpenAdapterFromHdc(c, &open), STATUS_SUCCESS);
        device.hAdapter = open.hAdapter;
    }
    assert_int_equal(dxgk_CreateDevice(c, &device), STATUS_ACCESS_DENIED);
    x = ctx_make(&w, w.client, w.adapter);
    for (unsigned i = 0; i < 33; i++) { /* a minute later */
        ctx_put(&x, OP_DELAY, 1900, 0, 0, 0);
        assert_int_equal(ctx_render(w.client, &x, NULL, 0), STATUS_SUCCESS);
    }
    assert_int_equal(ctx_idle(w.client, &x), STATUS_SUCCESS);
    assert_int_equal(dxgk_CreateDevice(c, &device), STATUS_SUCCESS);
    dxgk_client_close(c);
    world_down(&w, 0);
}

/* Many strangers, of whom each has hung it but once, do not end it for everybody either. */
TEST(a_mob_does_not_end_the_adapter)
{
    D3DKMT_CREATEDEVICE device = {0};
    struct world w;

    world_set("TdrLimitCount", 5);
    world_up(&w, false);
    for (unsigned i = 0; i < 12; i++) {
        D3DKMT_OPENADAPTERFROMHDC open = {0};
        struct dxgk_client *own = w.client, *c;
        struct ctx x;
        assert_int_equal(dxgk_client_open(w.dxgk, &c, 700 + i, false), 0);
        dxgk_client_set_user(c, 1000 + i, false);
        assert_int_equal(dxgk_OpenAdapterFromHdc(c, &open), STATUS_SUCCESS);
        device.hAdapter = open.hAdapter;
        x = ctx_make(&w, c, open.hAdapter);
        w.client = c;
        ctx_hang(&w, &x);
        w.client = own;
        assert_int_equal(dxgk_state(w.dxgk), DXGK_STARTED);
        assert_int_equal(dxgk_CreateDevice(c, &device), i < 4 ? STATUS_SUCCESS : STATUS_ACCESS_DENIED);
        dxgk_client_close(c);
    }
    device.hAdapter = w.adapter;
    assert_int_equal(dxgk_CreateDevice(w.client, &device), STATUS_SUCCESS);
    world_down(&w, 0);
}

TEST(old_resets_are_forgotten)
{
    struct world w;
    struct ctx x;

    world_set("TdrLimitCount", 1);
    world_set("TdrLimitTime", 5);
    world_up(&w, false);
    for (int i = 0; i < 4; i++) {
        x = ctx_make(&w, w.client, w.adapter);
        for (int j = 0; j < 4; j++) { /* 8 s of work between two hangs */
            ctx_put(&x, OP_DELAY, 1900, 0, 0, 0);
            assert_int_equal(ctx_render(w.client, &x, NULL, 0), STATUS_SUCCESS);
        }
        ctx_hang(&w, &x);
    }
    assert_int_equal(dxgk_event_count(w.dxgk, 4101), 4);
    world_down(&w, 0);
}

TEST(level_one_stops_at_once)
{
    struct world w;
    struct ctx x;
    struct softgpu_escape e = {.op = ESC_CALLED, .value = CALL_ResetDevice};

    world_set("TdrLevel", 1);
    world_up(&w, false);
    x = ctx_make(&w, w.client, w.adapter);
    ctx_hang(&w, &x);
    expect_failed(&w, &x, "TdrLevel is 1");
    assert_int_equal(world_escape(&w, &e), STATUS_SUCCESS);
    assert_int_equal(e.value2, 1); /* the screen is the bug check's */
    world_down(&w, 0);
}

TEST(a_lost_interrupt_is_noticed)
{
    struct world w;
    struct ctx x;

    world_up(&w, false);
    x = ctx_make(&w, w.client, w.adapter);
    w.gpu.lose_interrupts = 1;
    ctx_put(&x, OP_NOP, 0, 0, 0, 0);
    assert_int_equal(ctx_render(w.client, &x, NULL, 0), STATUS_SUCCESS);
    assert_int_equal(ctx_idle(w.client, &x), STATUS_SUCCESS);
    assert_int_equal(dxgk_event_count(w.dxgk, 4101), 0);
    assert_int_equal(dxgk_event_count(w.dxgk, 2), 1);
    world_down(&w, 0);
}

TEST(a_ddi_that_blocks_stops_the_adapter)
{
    struct world w;
    struct ctx x;
    struct softgpu_escape e = {.op = ESC_BLOCK, .value = 4},
                          reset = {.op = ESC_CALLED, .value = CALL_ResetDevice};

    world_up(&w, false);
    x = ctx_make(&w, w.client, w.adapter);
    assert_int_equal(world_escape(&w, &e), STATUS_SUCCESS); /* TdrDdiDelay is 5 s */
    assert_int_equal(dxgk_state(w.dxgk), DXGK_STARTED);
    e.value = 6;
    assert_int_equal(world_escape(&w, &e), STATUS_SUCCESS);
    expect_failed(&w, &x, "DxgkDdiEscape has not returned within TdrDdiDelay (5 s)");
    assert_int_equal(world_escape(&w, &reset), STATUS_SUCCESS);
    assert_int_equal(reset.value2, 1); /* while it was inside of the other */
    world_down(&w, 0);
}

/* ---- a miniport that does not come back by itself ------------------------ */

static const struct dxgk_event *find_event(struct world *w, unsigned id, struct dxgk_event *ev)
{
    for (unsigned i = 0; dxgk_event(w->dxgk, i, ev); i++)
        if (ev->id == id)
            return ev;
    return NULL;
}

/* It is named once, a bug check, and what comes after it is answered without the miniport. */
static void expect_dead(struct world *w, unsigned bugcheck, const char *what)
{
    struct softgpu_escape e = {.op = ESC_COUNTERS};
    D3DKMT_CREATEDEVICE d = {.hAdapter = w->adapter};
    struct dxgk_event ev;

    assert_int_equal(dxgk_CreateDevice(w->client, &d), STATUS_DEVICE_REMOVED);
    assert_int_equal(world_escape(w, &e), STATUS_DEVICE_REMOVED);
    if (w->loop)
        for (int i = 0; i < 10 && dxgk_state(w->dxgk) != DXGK_FAILED; i++)
            loop_run_once(w->loop, clock_now(&w->clock) + NSEC_PER_SEC);
    for (int i = 0; i < 100 && dxgk_state(w->dxgk) != DXGK_FAILED; i++)
        usleep(10000);
    assert_int_equal(dxgk_state(w->dxgk), DXGK_FAILED);
    if (!strstr(dxgk_violation(w->dxgk, 0), what))
        fail_msg("'%s' does not say '%s'", dxgk_violation(w->dxgk, 0), what);
    assert_non_null(find_event(w, bugcheck, &ev));
    assert_non_null(strstr(ev.text, what));
}

TEST(exceptions_of_the_miniport_are_bug_checks)
{
    static const struct {
        unsigned bugcheck;
        const char *what;
    } expected[] = {
        [EXC_WRITE] = {0x7E, ", writing 0x4, in DxgkDdiEscape"},
        [EXC_READ] = {0x7E, ", reading 0x8, in DxgkDdiEscape"},
        [EXC_DIVIDE] = {0x7E, "a divide error at softgpu_kmd.so+0x"},
        [EXC_ILLEGAL] = {0x7E, "an illegal instruction at softgpu_kmd.so+0x"},
        [EXC_STACK] = {0x7F, "a stack that is full at softgpu_kmd.so+0x"},
        [EXC_ISR] = {0xD1, ", writing 0x4, in DxgkDdiInterruptRoutine"},
    };
    struct world w;

#ifdef __SANITIZE_THREAD__
    skip(); /* it does not learn that a handler was left by a jump, and takes all that follows for a part of it */
#endif
    for (uint32_t i = 0; i < sizeof(expected) / sizeof(expected[0]); i++)
        for (int live = 0; live < 2; live++) {
            struct softgpu_escape e = {.op = ESC_EXCEPTION, .value = i};
            struct ctx x;
            world_up(&w, live);
            x = ctx_make(&w, w.client, w.adapter);
            assert_int_equal(world_escape(&w, &e), i == EXC_ISR ? STATUS_SUCCESS : STATUS_DEVICE_REMOVED);
            if (i == EXC_ISR) {
                ctx_put(&x, OP_NOP, 0, 0, 0, 0);
                assert_int_equal(ctx_render(w.client, &x, NULL, 0), STATUS_SUCCESS);
                assert_int_equal(ctx_idle(w.client, &x), STATUS_DEVICE_REMOVED);
            }
            expect_dead(&w, expected[i].bugcheck, expected[i].what);
            world_down(&w, 1);
        }
}

TEST(a_miniport_that_loops_is_ended)
{
    static const char *const said[] = {
        [LOOP_BUSY] = "a loop that has had the processor for 1 s at IRQL 0, in DxgkDdiEscape",
        [LOOP_STALL] = "a loop that has had the processor for 1 s at IRQL 0, in DxgkDdiEscape",
        [LOOP_ISR] = "a loop that has had the processor for 1 s at IRQL 5, in DxgkDdiInterruptRoutine",
    };
    struct world w;

#ifdef __SANITIZE_THREAD__
    skip(); /* it keeps signals back until the loop calls something, which it does not */
#endif
    for (uint32_t i = 0; i < sizeof(said) / sizeof(said[0]); i++) {
        struct softgpu_escape e = {.op = ESC_LOOP, .value = i};
        bool inside = i != LOOP_ISR;
        struct ctx x;
        if (!said[i])
            continue;
        world_set("TdrDdiDelay", 1);
        world_up(&w, i == LOOP_STALL); /* live this one sleeps */
        x = ctx_make(&w, w.client, w.adapter);
        assert_int_equal(world_escape(&w, &e), inside ? STATUS_DEVICE_REMOVED : STATUS_SUCCESS);
        if (!inside) {
            ctx_put(&x, OP_NOP, 0, 0, 0, 0);
            ctx_render(w.client, &x, NULL, 0);
            ctx_idle(w.client, &x);
        }
        expect_dead(&w, 0x116, said[i]);
        world_down(&w, 1);
    }
}

/* What it could not give back then is no fault of its own. */
TEST(a_stop_that_waits_for_ever_is_all_that_is_said)
{
    struct softgpu_escape e = {.op = ESC_STOP_WAITS};
    struct world w;

    world_up(&w, false);
    assert_int_equal(world_escape(&w, &e), STATUS_SUCCESS);
    dxgk_client_close(w.client);
    dxgk_unload(w.dxgk);
    assert_int_equal(dxgk_event_count(w.dxgk, 0x116), 1);
    assert_int_equal(dxgk_violations(w.dxgk), 0);
    assert_int_equal(dxgk_client_open(w.dxgk, &w.client, 1, false), 0);
    world_down(&w, 0);
}

TEST(a_miniport_that_waits_in_a_loop_is_ended)
{
    struct softgpu_escape e = {.op = ESC_LOOP, .value = LOOP_DELAY};
    struct world w;
    struct ctx x;

    world_up(&w, false);
    x = ctx_make(&w, w.client, w.adapter);
    assert_int_equal(world_escape(&w, &e), STATUS_DEVICE_REMOVED);
    expect_failed(&w, &x, "DxgkDdiEscape has not returned within TdrDdiDelay (5 s)");
    world_down(&w, 0);
}

TEST(a_fault_takes_only_its_device)
{
    struct world w;
    struct ctx bad, good;

    world_up(&w, false);
    bad = ctx_make(&w, w.client, w.adapter);
    good = ctx_make(&w, w.client, w.adapter);
    ctx_put(&bad, OP_FAULT, 0, 0, 0, 0);
    assert_int_equal(ctx_render(w.client, &bad, NULL, 0), STATUS_SUCCESS);
    assert_int_equal(ctx_idle(w.client, &bad), STATUS_DEVICE_REMOVED);
    assert_int_equal(device_state(&w, bad.device), D3DKMT_DEVICEEXECUTION_ERROR_DMAFAULT);
    assert_int_equal(dxgk_event_count(w.dxgk, 4109), 1);
    assert_int_equal(device_state(&w, good.device), D3DKMT_DEVICEEXECUTION_ACTIVE);
    ctx_put(&good, OP_NOP, 0, 0, 0, 0);
    assert_int_equal(ctx_render(w.client, &good, NULL, 0), STATUS_SUCCESS);
    assert_int_equal(ctx_idle(w.client, &good), STATUS_SUCCESS);
    ctx_put(&good, OP_MAP, 0, 0, 0, 0); /* the miniport refuses a privileged command */
    assert_int_equal(ctx_render(w.client, &good, NULL, 0), STATUS_PRIVILEGE_NOT_HELD);
    world_down(&w, 0);
}

TEST(a_live_hang_is_recovered_from)
{
    struct world w;
    struct ctx x;

    world_set("TdrDelay", 1);
    world_up(&w, true);
    x = ctx_make(&w, w.client, w.adapter);
    ctx_hang(&w, &x);
    for (int i = 0; i < 1000 && !dxgk_event_count(w.dxgk, 4101); i++)
        usleep(1000);
    assert_int_equal(dxgk_event_count(w.dxgk, 4101), 1);
    x = ctx_make(&w, w.client, w.adapter);
    ctx_put(&x, OP_NOP, 0, 0, 0, 0);
    assert_int_equal(ctx_render(w.client, &x, NULL, 0), STATUS_SUCCESS);
    assert_int_equal(ctx_idle(w.client, &x), STATUS_SUCCESS);
    world_down(&w, 0);
}

/* Sim: clients as coroutines, faults by seed; invariants hold at the end. */
struct actor {
    struct world *w;
    struct rng rng;
    unsigned id, removed, rendered;
    bool done;
};

static void act(void *arg)
{
    struct actor *a = arg;
    struct world *w = a->w;
    struct dxgk_client *c;
    D3DKMT_OPENADAPTERFROMHDC open = {0};
    bool ok = !dxgk_client_open(w->dxgk, &c, 1000 + a->id, false) && !dxgk_OpenAdapterFromHdc(c, &open);

    for (int i = 0; ok && i < 12; i++) {
        D3DKMT_CREATEDEVICE d = {.hAdapter = open.hAdapter};
        D3DKMT_CREATECONTEXT x = {0};
        NTSTATUS s = dxgk_CreateDevice(c, &d);
        x.hDevice = d.hDevice;
        if (NT_SUCCESS(s))
            s = dxgk_CreateContext(c, &x);
        for (int j = 0; NT_SUCCESS(s) && j < 6; j++) {
            struct softgpu_cmd *cmd = x.pCommandBuffer;
            D3DKMT_RENDER r = {.hContext = x.hContext, .CommandLength = sizeof(*cmd)};
            uint64_t roll = rng_below(&a->rng, 200);
            *cmd = (struct softgpu_cmd){.op = roll == 0   ? OP_HANG
                                              : roll == 1 ? OP_FAULT
                                                          : OP_DELAY,
                                        .value = (uint32_t)rng_below(&a->rng, 30)};
            if (roll == 2)
                w->gpu.lose_interrupts++;
            s = dxgk_Render(c, &r);
            a->rendered++;
            if (NT_SUCCESS(s) && rng_below(&a->rng, 2))
                s = dxgk_WaitForIdle(c, &(D3DKMT_WAITFORIDLE){d.hDevice});
        }
        if (s == STATUS_DEVICE_REMOVED)
            a->removed++;
        else if (!NT_SUCCESS(s))
            ok = false;
        if (rng_below(&a->rng, 2))
            dxgk_DestroyDevice(c, &(D3DKMT_DESTROYDEVICE){d.hDevice});
    }
    dxgk_client_close(c);
    a->done = ok;
}

TEST(seeds_of_trouble_are_survived)
{
    for (uint64_t seed = 1; seed <= 40; seed++) {
        struct world w;
        struct actor a[8];
        struct ctx x;
        world_set("TdrLimitCount", 1000);
        world_up(&w, false);
        for (unsigned i = 0; i < 8; i++) {
            a[i] = (struct actor){.w = &w, .rng = {seed * 100 + i}, .id = i};
            assert_int_equal(dxgk_kernel_spawn(dxgk_kernel(w.dxgk), "actor", act, &a[i]), 0);
        }
        for (unsigned i = 0; i < 8; i++)
            while (!a[i].done && loop_run_once(w.loop, LOOP_FOREVER) > 0)
                ;
        for (unsigned i = 0; i < 8; i++)
            if (!a[i].done)
                fail_msg("seed %u: client %u did not end well", (unsigned)seed, i);
        assert_int_equal(dxgk_state(w.dxgk), DXGK_STARTED);
        x = ctx_make(&w, w.client, w.adapter);
        ctx_put(&x, OP_NOP, 0, 0, 0, 0);
        assert_int_equal(ctx_render(w.client, &x, NULL, 0), STATUS_SUCCESS);
        assert_int_equal(ctx_idle(w.client, &x), STATUS_SUCCESS);
        world_down(&w, 0);
    }
}

/* ---- what is ended alone --------------------------------------------------- */

static struct {
    struct world *w;
    struct loop_timer timer;
    uint64_t takes; /* ns; 0: for ever */
    unsigned ended;
    bool going;
} end;

static void has_gone(void *ctx)
{
    struct softgpu *g = &end.w->gpu;

    end.going = false;
    g->hung = false;
    g->queue[g->head].at = g->queue[g->head].size;
    g->bus.mmio_write(g->bus.ctx, g->bus.resources[0].start + REG_SCAN_ENABLE, 4, g->scan_enable);
}

static bool ends(void *ctx, uint64_t process, bool hangs)
{
    end.ended++;
    end.going = true;
    if (end.takes)
        loop_arm(end.w->loop, &end.timer, clock_now(&end.w->clock) + end.takes, has_gone, NULL);
    return true;
}

static bool is_ending(void *ctx, uint64_t process)
{
    return end.going;
}

/* What was ended for a hang may take long to go, and nobody else pays for that; but not for ever. */
TEST(what_was_ended_is_waited_for)
{
    for (unsigned i = 0; i < 2; i++) {
        const D3DKMT_DEVICEEXECUTION_STATE others =
            i ? D3DKMT_DEVICEEXECUTION_RESET : D3DKMT_DEVICEEXECUTION_ACTIVE;
        D3DKMT_OPENADAPTERFROMHDC open = {0};
        struct dxgk_client *c;
        struct ctx his, mine;
        struct world w;

        world_up(&w, false);
        memset(&end, 0, sizeof(end));
        end.w = &w;
        end.takes = i ? 0 : 9 * NSEC_PER_SEC; /* of TdrDelay's 2 s */
        w.gpu.bus.end_work = ends;
        w.gpu.bus.is_ending = is_ending;
        mine = ctx_make(&w, w.client, w.adapter);
        assert_int_equal(dxgk_client_open(w.dxgk, &c, 700, false), 0);
        dxgk_client_set_user(c, 1000, false);
        assert_int_equal(dxgk_OpenAdapterFromHdc(c, &open), STATUS_SUCCESS);
        his = ctx_make(&w, c, open.hAdapter);
        ctx_put(&his, OP_HANG, 0, 0, 0, 0);
        assert_int_equal(ctx_render(c, &his, NULL, 0), STATUS_SUCCESS);
        assert_int_equal(ctx_idle(c, &his), STATUS_DEVICE_REMOVED);
        while (clock_now(&w.clock) < 60 * NSEC_PER_SEC)
            loop_run_once(w.loop, 60 * NSEC_PER_SEC);
        assert_int_equal(end.ended, 1);
        assert_int_equal(dxgk_event_count(w.dxgk, 8), i ? 0 : 1);
        assert_int_equal(dxgk_event_count(w.dxgk, 4101), i);
        assert_int_equal(device_state(&w, mine.device), others);
        dxgk_client_close(c);
        world_down(&w, 0);
    }
}

int main(void)
{
    setenv("AEROGPU_LOG", "error", 0);
    return test_run();
}
