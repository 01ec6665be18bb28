/* SPDX-License-Identifier: MIT */
/* D3DKMT calls that wait, over the socket: for vblanks, for room, for slots; and what ends them. */
#include "test.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "d3dkmt/vblanks.h"
#include "d3dkmt/wire.h"
#include "dxgkrnl/progress.h"
#include "d3dkmt_rig.h"

enum { QUEUE = 64 }; /* packets that a context may have queued */

static NTSTATUS wait_vblank(const struct app *a)
{
    return D3DKMTWaitForVerticalBlankEvent(
        &(D3DKMT_WAITFORVERTICALBLANKEVENT){a->adapter, a->device, a->source});
}

static uint64_t calls(void)
{
    struct d3dkmt_server_stats st;

    d3dkmt_serve_stats(rig.server, &st);
    return st.calls;
}

static NTSTATUS acquire(D3DKMT_HANDLE mutex, UINT64 key, int64_t timeout, UINT64 *fence)
{
    LARGE_INTEGER t = {.QuadPart = timeout};
    D3DKMT_ACQUIREKEYEDMUTEX a = {.hKeyedMutex = mutex, .Key = key, .pTimeout = timeout > 0 ? NULL : &t};
    NTSTATUS s = D3DKMTAcquireKeyedMutex(&a);

    *fence = a.FenceValue;
    return s;
}

static NTSTATUS release(D3DKMT_HANDLE mutex, UINT64 key, UINT64 fence)
{
    return D3DKMTReleaseKeyedMutex(&(D3DKMT_RELEASEKEYEDMUTEX){mutex, key, fence});
}

enum { FOR_EVER = 1 };

/* Waits for a value that nobody gives it. */
static int waits_for_another(void *arg)
{
    D3DKMT_OPENKEYEDMUTEX o = {.hSharedHandle = *(D3DKMT_HANDLE *)arg};
    struct app a;
    UINT64 fence;

    if (app_open(&a) || D3DKMTOpenKeyedMutex(&o))
        return 1;
    return acquire(o.hKeyedMutex, 77, FOR_EVER, &fence) == STATUS_ABANDONED_WAIT_0 ? 0 : 2;
}

/* Waits for 7, gives 8 back, waits for 9, and ends with it. */
static int takes_turns(void *arg)
{
    D3DKMT_OPENKEYEDMUTEX o = {.hSharedHandle = *(D3DKMT_HANDLE *)arg};
    struct app a;
    UINT64 fence;

    if (app_open(&a) || D3DKMTOpenKeyedMutex(&o))
        return 1;
    if (acquire(o.hKeyedMutex, 7, FOR_EVER, &fence) || fence != 42 || release(o.hKeyedMutex, 8, 43))
        return 2;
    return acquire(o.hKeyedMutex, 9, FOR_EVER, &fence) ? 3 : 0;
}

TEST_IN(keyed_mutexes_take_turns, connected)
{
    D3DKMT_CREATEKEYEDMUTEX c = {.InitialValue = 5};
    D3DKMT_OPENKEYEDMUTEX again;
    D3DKMT_HANDLE m;
    struct app a;
    UINT64 fence;
    pid_t child, waits;

    assert_int_equal(app_open(&a), STATUS_SUCCESS);
    assert_int_equal(D3DKMTCreateKeyedMutex(&c), STATUS_SUCCESS);
    m = c.hKeyedMutex;
    assert_int_equal(acquire(m, 7, 0, &fence), STATUS_TIMEOUT);
    assert_int_equal(acquire(m, 7, -100000, &fence), STATUS_TIMEOUT);
    assert_int_equal(release(m, 7, 0), STATUS_INVALID_PARAMETER);
    assert_int_equal(acquire(m, 5, 0, &fence), STATUS_SUCCESS);
    assert_int_equal(acquire(m, 5, FOR_EVER, &fence), STATUS_INVALID_PARAMETER); /* it has it */
    waits = run_in_child(waits_for_another, &c.hSharedHandle);
    child = run_in_child(takes_turns, &c.hSharedHandle);
    assert_int_equal(release(m, 7, 42), STATUS_SUCCESS);
    assert_int_equal(acquire(m, 8, FOR_EVER, &fence), STATUS_SUCCESS);
    assert_int_equal(fence, 43);
    assert_int_equal(release(m, 9, 44), STATUS_SUCCESS);
    assert_int_equal(child_result(child), 0);
    assert_int_equal(child_result(waits), 0);
    for (UINT64 key = 9; key < 11; key++) /* whoever asks for it, for whatever value: nobody has it again */
        assert_int_equal(acquire(m, key, FOR_EVER, &fence), STATUS_ABANDONED_WAIT_0);
    assert_int_equal(release(m, 9, 45), STATUS_INVALID_PARAMETER);
    again = (D3DKMT_OPENKEYEDMUTEX){.hSharedHandle = c.hSharedHandle};
    assert_int_equal(D3DKMTOpenKeyedMutex(&again), STATUS_SUCCESS);
    assert_int_equal(acquire(again.hKeyedMutex, 5, 0, &fence), STATUS_ABANDONED_WAIT_0);
    assert_int_equal(D3DKMTDestroyKeyedMutex(&(D3DKMT_DESTROYKEYEDMUTEX){again.hKeyedMutex}), STATUS_SUCCESS);
    assert_int_equal(D3DKMTDestroyKeyedMutex(&(D3DKMT_DESTROYKEYEDMUTEX){m}), STATUS_SUCCESS);
    assert_int_equal(acquire(m, 9, 0, &fence), STATUS_INVALID_HANDLE);
    again = (D3DKMT_OPENKEYEDMUTEX){.hSharedHandle = c.hSharedHandle};
    assert_int_equal(D3DKMTOpenKeyedMutex(&again), STATUS_INVALID_PARAMETER); /* nobody has it any more */
    app_close(&a);
}

TEST_IN(vblanks_need_no_call_once_one_succeeded, connected)
{
    struct app a, b;
    uint64_t before, start, last, now;

    assert_int_equal(app_open(&a), STATUS_SUCCESS);
    assert_int_equal(app_open(&b), STATUS_SUCCESS);
    for (int i = 0; i < 3; i++) /* a page, its state, and that the call changed nothing */
        assert_int_equal(wait_vblank(&a), STATUS_SUCCESS);
    start = last = clock_now(&rig.clock);
    for (int quick = 0, i = 0; quick < 20; i++) {
        before = calls();
        assert_int_equal(wait_vblank(&a), STATUS_SUCCESS);
        now = clock_now(&rig.clock);
        /* Who does not come back for long finds vblanks switched off, and none for long is asked about. */
        if (now - last < 100 * NSEC_PER_MSEC) {
            assert_int_equal(calls(), before);
            quick++;
        }
        last = now;
        assert_true(i < 10000);
    }
    assert_true(last - start >= UINT64_C(19) * 16666667 - NSEC_PER_MSEC);

    a.source = 7; /* what is not known to be good is asked for */
    assert_int_equal(wait_vblank(&a), STATUS_GRAPHICS_INVALID_VIDEO_PRESENT_SOURCE);
    a.source = 0;
    assert_int_equal(D3DKMTDestroyDevice(&(D3DKMT_DESTROYDEVICE){a.device}), STATUS_SUCCESS);
    assert_int_equal(wait_vblank(&a), STATUS_INVALID_HANDLE);
    a.device = 0;
    for (int i = 0; i < 3; i++)
        assert_int_equal(wait_vblank(&a), STATUS_SUCCESS);
    assert_int_equal(D3DKMTCloseAdapter(&(D3DKMT_CLOSEADAPTER){a.adapter}), STATUS_SUCCESS);
    assert_int_equal(wait_vblank(&a), STATUS_INVALID_HANDLE);
    for (int i = 0; i < 3; i++)
        assert_int_equal(wait_vblank(&b), STATUS_SUCCESS);
    app_close(&b);
}

/* A call that waits begins when it arrives: after a vblank that comes with news it would wait for the next. */
TEST(a_vblank_that_comes_with_news_is_one)
{
    struct dxgk_vblanks v = {.epoch = 2, .source[0] = {.on = 1, .count = 5}};

    assert_int_equal(d3dkmt_vblanks_wait(&v, 0, 1, 4), VBLANK_CAME);
    assert_int_equal(d3dkmt_vblanks_wait(&v, 0, 1, 5), VBLANK_NEWS);
    v.source[0].on = 0;
    assert_int_equal(d3dkmt_vblanks_wait(&v, 0, 1, 4), VBLANK_CAME);
    assert_int_equal(d3dkmt_vblanks_wait(&v, 0, 2, 5), VBLANK_ASK);
}

TEST_IN(nobody_waits_and_vblanks_go_off, connected)
{
    struct softgpu_escape e = {.op = ESC_COUNTERS};
    struct app a;
    D3DKMT_ESCAPE esc = {.pPrivateDriverData = &e, .PrivateDriverDataSize = sizeof(e)};

    assert_int_equal(app_open(&a), STATUS_SUCCESS);
    esc.hAdapter = a.adapter;
    for (int i = 0; i < 30; i++) /* longer than they would stay on for nobody */
        assert_int_equal(wait_vblank(&a), STATUS_SUCCESS);
    assert_int_equal(D3DKMTEscape(&esc), STATUS_SUCCESS);
    assert_int_equal(e.value2, 1);
    for (int i = 0; i < 1000 && e.value2; i++) {
        usleep(10000);
        assert_int_equal(D3DKMTEscape(&esc), STATUS_SUCCESS);
    }
    assert_int_equal(e.value2, 0);
    assert_int_equal(wait_vblank(&a), STATUS_SUCCESS); /* and on again */
    app_close(&a);
}

/* ---- what ends a wait ---------------------------------------------------- */

struct waiter {
    struct app *a;
    NTSTATUS (*wait)(struct app *a);
    NTSTATUS status;
    _Atomic unsigned waits;
};

static void *waits(void *arg)
{
    struct waiter *w = arg;

    while ((w->status = w->wait(w->a)) == STATUS_SUCCESS)
        w->waits++;
    return NULL;
}

static NTSTATUS for_vblank(struct app *a)
{
    return wait_vblank(a);
}

static NTSTATUS for_room(struct app *a)
{
    return D3DKMTRender(&(D3DKMT_RENDER){.hContext = a->context, .CommandLength = sizeof(*a->cmd)});
}

static NTSTATUS for_idle(struct app *a)
{
    return D3DKMTWaitForIdle(&(D3DKMT_WAITFORIDLE){.hDevice = a->device});
}

/* Packets wait behind a fence that nobody signals. */
static void block(struct app *a)
{
    D3DKMT_CREATESYNCHRONIZATIONOBJECT2 c = {.hDevice = a->device, .Info.Type = D3DDDI_FENCE};
    D3DKMT_WAITFORSYNCHRONIZATIONOBJECT2 w = {.hContext = a->context, .ObjectCount = 1};

    a->cmd[0] = (struct softgpu_cmd){.op = OP_NOP};
    if (D3DKMTCreateSynchronizationObject2(&c))
        abort();
    w.ObjectHandleArray[0] = c.hSyncObject;
    w.Fence.FenceValue = 1;
    if (D3DKMTWaitForSynchronizationObject2(&w))
        abort();
}

static void await_waits(struct waiter *w, unsigned n)
{
    for (int i = 0; i < 2000 && w->waits < n; i++)
        usleep(5000);
    assert_true(w->waits >= n);
}

static void start_waiting(pthread_t *t, struct waiter *w, struct app *a, NTSTATUS (*wait)(struct app *a))
{
    *w = (struct waiter){.a = a, .wait = wait};
    assert_int_equal(pthread_create(t, NULL, waits, w), 0);
}

TEST_IN(a_lost_device_ends_them, connected)
{
    struct app a, b, c;
    struct waiter w[2];
    pthread_t t[2];

    assert_int_equal(app_open(&a), STATUS_SUCCESS);
    assert_int_equal(app_open(&b), STATUS_SUCCESS);
    block(&b);
    start_waiting(&t[0], &w[0], &a, for_vblank);
    start_waiting(&t[1], &w[1], &b, for_room);
    await_waits(&w[0], 5);
    await_waits(&w[1], QUEUE - 1);
    assert_int_equal(app_open(&c), STATUS_SUCCESS);
    app_render(&c, OP_HANG, 0, 0, 0, STATUS_SUCCESS);
    app_force_tdr(&c);
    for (int i = 0; i < 2; i++) {
        pthread_join(t[i], NULL);
        assert_int_equal(w[i].status, STATUS_DEVICE_REMOVED);
    }
    app_close(&a);
    app_close(&b);
    app_close(&c);
    assert_int_equal(app_open(&a), STATUS_SUCCESS);
    for (int i = 0; i < 4; i++)
        assert_int_equal(wait_vblank(&a), STATUS_SUCCESS);
    app_close(&a);
}

TEST_IN(a_full_queue_holds_up_only_its_own, connected)
{
    struct app a, b;
    struct waiter w;
    pthread_t t;

    assert_int_equal(app_open(&a), STATUS_SUCCESS);
    assert_int_equal(app_open(&b), STATUS_SUCCESS);
    block(&a);
    start_waiting(&t, &w, &a, for_room);
    await_waits(&w, QUEUE - 1);
    for (int i = 0; i < 200; i++) /* more than fit beside what is queued, one after the other */
        assert_int_equal(
            d3dkmt_wait(b.context, app_render(&b, OP_NOP, 0, 0, 0, STATUS_SUCCESS), D3DKMT_FOREVER),
            STATUS_SUCCESS);
    assert_int_equal(w.waits, QUEUE - 1);
    assert_int_equal(D3DKMTDestroyContext(&(D3DKMT_DESTROYCONTEXT){a.context}), STATUS_SUCCESS);
    pthread_join(t, NULL);
    assert_int_equal(w.status, STATUS_INVALID_HANDLE);
    assert_int_equal(D3DKMTDestroyDevice(&(D3DKMT_DESTROYDEVICE){a.device}), STATUS_SUCCESS);
    app_close(&b);
}

TEST_IN(a_full_flip_queue_says_so, connected)
{
    struct app a;
    D3DKMT_CREATEALLOCATION c;
    D3DKMT_PRESENT p = {.FlipInterval = D3DDDI_FLIPINTERVAL_ONE};

    assert_int_equal(app_open(&a), STATUS_SUCCESS);
    assert_int_equal(app_alloc(&a, 640 * 480 * 4, false, false, &p.hSource, &c), STATUS_SUCCESS);
    block(&a);
    p.hContext = a.context;
    p.Flags.Flip = p.Flags.FlipDoNotWait = 1;
    for (int i = 0; i < 3; i++)
        assert_int_equal(D3DKMTPresent(&p), STATUS_SUCCESS);
    assert_int_equal(D3DKMTPresent(&p), STATUS_GRAPHICS_TRY_AGAIN_LATER);
    app_close(&a);
}

TEST_IN(a_service_that_goes_ends_them, connected)
{
    struct app a;
    struct waiter w;
    pthread_t t;

    assert_int_equal(app_open(&a), STATUS_SUCCESS);
    start_waiting(&t, &w, &a, for_vblank);
    await_waits(&w, 5);
    d3dkmt_serve_end(rig.server);
    rig.server = NULL;
    pthread_join(t, NULL);
    assert_int_equal(w.status, STATUS_DEVICE_REMOVED);
    assert_int_equal(d3dkmt_vblanks_epoch(), 0); /* its page is nobody's; the next service has its own */
}

struct doomed {
    NTSTATUS (*wait)(struct app *a);
    int pipe;
};

static int wait_to_be_killed(void *arg)
{
    const struct doomed *d = arg;
    struct app a;
    char c = 'w';

    if (app_open(&a))
        return 1;
    if (d->wait != for_vblank)
        block(&a);
    for (int i = 0; i < (d->wait == for_vblank ? 5 : d->wait == for_room ? QUEUE - 1 : 1); i++)
        if ((d->wait == for_vblank ? wait_vblank(&a) : for_room(&a)) != STATUS_SUCCESS)
            return 2;
    if (write(d->pipe, &c, 1) != 1)
        return 3;
    while (d->wait(&a) == STATUS_SUCCESS)
        ;
    return 4;
}

TEST_IN(killed_in_any_wait_a_client_leaves_nothing, served)
{
    static NTSTATUS (*const kinds[])(struct app *) = {for_vblank, for_room, for_idle};
    int fds[2];

    assert_int_equal(pipe(fds), 0);
    for (int i = 0; i < 9; i++) {
        struct doomed d = {kinds[i % 3], fds[1]};
        pid_t pid = run_in_child(wait_to_be_killed, &d);
        char c;
        assert_int_equal(read(fds[0], &c, 1), 1);
        usleep(10000); /* most are in the wait then */
        kill(pid, SIGKILL);
        assert_int_equal(child_result(pid), 128 + SIGKILL);
    }
    rig_await_nobody();
    close(fds[0]);
    close(fds[1]);
}

/* This process's end of its connection to the service. */
static int own_end(void)
{
    for (int fd = 3; fd < 256; fd++) {
        struct sockaddr_un a = {0};
        socklen_t size = sizeof(a);
        if (!getpeername(fd, (struct sockaddr *)&a, &size) &&
            !strncmp(a.sun_path, rig.path, sizeof(rig.path)))
            return fd;
    }
    return -1;
}

/* Calls that are answered at once, one that waits for ever, and hangs up with all of them on the way. It goes on to listen. */
static int hangs_up_and_listens(void *arg)
{
    enum { TURNS = 300 };
    _Alignas(8) uint8_t msg[4096];

    for (unsigned i = 0; i < TURNS; i++) {
        D3DKMT_WAITFORIDLE w = {0};
        struct app a;
        int fd, answers = 0;
        alarm(30);
        if (app_open(&a))
            return 1;
        block(&a);
        if (for_room(&a))
            return 2;
        fd = own_end();
        for (unsigned n = 0; n <= i % 4; n++) {
            w.hDevice = n < i % 4 ? 0 : a.device;
            const size_t size = d3dkmt_wire_write(msg, D3DKMT_THUNK_WaitForIdle, &w, 0, NULL);
            if (send(fd, msg, size, MSG_NOSIGNAL) != (ssize_t)size)
                return 3;
        }
        if (shutdown(fd, SHUT_WR))
            return 4;
        while (recv(fd, msg, sizeof(msg), 0) > 0)
            answers++;
        if (answers > 1 + (int)(i % 4))
            return 5;
        d3dkmt_disconnect();
    }
    return 0;
}

/* Whether it is noticed before a call, in it or between two: an alarm ends who is not answered, and does not hear that all was said. */
TEST_IN(who_hangs_up_has_no_call_that_waits, served)
{
    assert_int_equal(child_result(run_in_child(hangs_up_and_listens, NULL)), 0);
    rig_await_nobody();
}

/* ---- slots --------------------------------------------------------------- */

/* Connects, says hello and stays. */
static int hold(int n, int pipe)
{
    struct sockaddr_un a = {.sun_family = AF_UNIX};
    char c = 'h';

    memcpy(a.sun_path, rig.path, sizeof(rig.path));
    for (int i = 0; i < n; i++) {
        struct {
            struct wire_header h;
            struct wire_hello hello;
        } m = {{WIRE_MAGIC, WIRE_HELLO, sizeof(m), 0, 0, 0}, {0}};
        int fd = socket(AF_UNIX, SOCK_SEQPACKET, 0);
        if (fd < 0 || connect(fd, (struct sockaddr *)&a, sizeof(a)) ||
            send(fd, &m, sizeof(m), 0) != sizeof(m) || recv(fd, &m, sizeof(m), 0) != sizeof(m) || m.h.status)
            return 1;
    }
    if (write(pipe, &c, 1) != 1)
        return 2;
    for (;;)
        pause();
}

static int hold_many(void *arg)
{
    return hold(128, *(int *)arg);
}

static int hold_spares(void *arg)
{
    return hold(D3DKMT_MAX_SPARE, *(int *)arg);
}

TEST_IN(a_service_without_slots_still_answers_why, served)
{
    struct softgpu_escape e = {.op = ESC_COUNTERS};
    D3DKMT_OPENADAPTERFROMHDC open = {0};
    D3DKMT_ESCAPE esc = {.pPrivateDriverData = &e, .PrivateDriverDataSize = sizeof(e)};
    D3DKMT_CREATEDEVICE d = {0};
    pid_t pids[5];
    int fds[2];
    char c;
    struct app a;

    assert_int_equal(pipe(fds), 0);
    for (int i = 0; i < 5; i++) { /* all of them, then all that are for questions */
        pids[i] = run_in_child(i < 4 ? hold_many : hold_spares, &fds[1]);
        assert_int_equal(read(fds[0], &c, 1), 1);
    }
    for (int i = 0; i < 3; i++) {
        assert_int_equal(D3DKMTOpenAdapterFromHdc(&open), STATUS_SUCCESS);
        d.hAdapter = esc.hAdapter = open.hAdapter;
        assert_int_equal(D3DKMTEscape(&esc), STATUS_SUCCESS);
        assert_int_equal(D3DKMTCreateDevice(&d), STATUS_INSUFFICIENT_RESOURCES);
        assert_int_equal(D3DKMTCloseAdapter(&(D3DKMT_CLOSEADAPTER){open.hAdapter}), STATUS_SUCCESS);
        d3dkmt_disconnect();
    }
    for (int i = 0; i < 5; i++) {
        kill(pids[i], SIGKILL);
        assert_int_equal(child_result(pids[i]), 128 + SIGKILL);
    }
    rig_await_nobody();
    assert_int_equal(app_open(&a), STATUS_SUCCESS);
    app_close(&a);
    close(fds[0]);
    close(fds[1]);
}
