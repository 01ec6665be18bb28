/* SPDX-License-Identifier: MIT */
/* What one client does to take the GPU from everybody, and that it does not: each from a process of its own. */
#include "d3dkmt_rig.h"

#include "test.h"

#include <errno.h>
#include <linux/sched.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/fds.h"
#include "d3dkmt/peer.h"
#include "d3dkmt/wire.h"

/* Somebody else, who has done nothing. */
static void an_innocent_works(void)
{
    struct app a;

    assert_int_equal(app_open(&a), STATUS_SUCCESS);
    app_close(&a);
    d3dkmt_disconnect();
}

static int dial(void)
{
    struct sockaddr_un a = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

    memcpy(a.sun_path, rig.path, sizeof(rig.path));
    return fd < 0 || connect(fd, (struct sockaddr *)&a, sizeof(a)) ? -1 : fd;
}

/* Sends a message with descriptors; the answer's status, and the descriptor that came with it. 1: no answer. */
static NTSTATUS say(int s, void *msg, size_t size, const int *fds, size_t num, int *fd, struct wire_header *h)
{
    static uint8_t reply[WIRE_MAX];
    size_t got = 1;
    ssize_t n;

    if (fds_send(s, msg, size, fds, num, 0) < 0)
        return 1;
    n = fds_receive(s, reply, sizeof(reply), fd, &got, 0);
    if (n < (ssize_t)sizeof(*h))
        return 1;
    if (!got)
        *fd = -1;
    memcpy(h, reply, sizeof(*h));
    memmove(msg, reply, (size_t)n);
    return h->status;
}

static int hello(void)
{
    struct {
        struct wire_header h;
        struct wire_hello hello;
    } m = {{WIRE_MAGIC, WIRE_HELLO, sizeof(m), 0, 0, 0}, {0}};
    struct wire_header h;
    int s = dial(), fd;

    if (s >= 0 && say(s, &m, sizeof(m), NULL, 0, &fd, &h) == STATUS_SUCCESS)
        return s;
    close(s);
    return -1;
}

/* ---- descriptors --------------------------------------------------------- */

/* Asks for descriptors and takes none: they would be in flight, as many as the service's user may have. */
static int never_reads(void *arg)
{
    _Alignas(8) uint8_t msg[WIRE_MAX];
    D3DKMT_WAITFORVERTICALBLANKEVENT wait = {0};
    D3DKMT_OPENADAPTERFROMHDC open = {0};
    int s = hello(), n, fd;
    struct wire_header h;
    size_t size;

    if (s < 0)
        return 1;
    size = d3dkmt_wire_write(msg, D3DKMT_THUNK_OpenAdapterFromHdc, &open, 0, NULL);
    if (say(s, msg, size, NULL, 0, &fd, &h) != STATUS_SUCCESS)
        return 2;
    d3dkmt_wire_parse_reply(msg, h.size, D3DKMT_THUNK_OpenAdapterFromHdc, &open);
    wait.hAdapter = open.hAdapter;
    size = d3dkmt_wire_write(msg, D3DKMT_THUNK_WaitForVerticalBlankEvent, &wait, 0, NULL);
    for (n = 0; n < 50 && send(s, msg, size, MSG_NOSIGNAL) == (ssize_t)size; n++)
        usleep(20000);
    return n < 50 ? 0 : 3;
}

/* Signals an event again and again that is full, and that a write to would wait for. */
static int full_event(void *arg)
{
    D3DKMT_SIGNALSYNCHRONIZATIONOBJECT2 s = {.Flags.EnqueueCpuEvent = 1};
    int event = eventfd(0, 0);
    struct app a;

    if (eventfd_write(event, UINT64_MAX - 1) || app_open(&a) != STATUS_SUCCESS)
        return 1;
    s.hContext = a.context;
    s.CpuEventHandle = (HANDLE)(intptr_t)event;
    for (int i = 0; i < 3; i++)
        if (D3DKMTSignalSynchronizationObject2(&s) != STATUS_SUCCESS)
            return 2;
    return 0;
}

/* A pipe and a socket are no events. */
static int no_event(void *arg)
{
    D3DKMT_CREATESYNCHRONIZATIONOBJECT2 c = {.Info.Type = D3DDDI_CPU_NOTIFICATION};
    D3DKMT_SIGNALSYNCHRONIZATIONOBJECT2 s = {.Flags.EnqueueCpuEvent = 1};
    int fds[4];
    struct app a;

    if (pipe(fds) || socketpair(AF_UNIX, SOCK_STREAM, 0, fds + 2) || app_open(&a) != STATUS_SUCCESS)
        return 1;
    c.hDevice = a.device;
    s.hContext = a.context;
    for (int i = 1; i < 4; i += 2) {
        c.Info.CPUNotification.Event = s.CpuEventHandle = (HANDLE)(intptr_t)fds[i];
        if (D3DKMTCreateSynchronizationObject2(&c) != STATUS_INVALID_HANDLE ||
            D3DKMTSignalSynchronizationObject2(&s) != STATUS_INVALID_HANDLE)
            return 2;
    }
    return 0;
}

TEST_IN(events_hold_nobody_up, served)
{
    assert_int_equal(child_result(run_in_child(full_event, NULL)), 0);
    an_innocent_works();
    assert_int_equal(child_result(run_in_child(no_event, NULL)), 0);
    an_innocent_works();
}

TEST_IN(who_takes_no_descriptor_gets_no_more, served)
{
    assert_int_equal(child_result(run_in_child(never_reads, NULL)), 0);
    an_innocent_works();
}

TEST_IN(further_descriptors_are_refused_and_closed, served)
{
    _Alignas(8) uint8_t msg[WIRE_MAX];
    D3DKMT_CREATEDEVICE d = {0};
    size_t n = d3dkmt_wire_write(msg, D3DKMT_THUNK_CreateDevice, &d, 0, NULL);
    struct wire_header h;
    unsigned before;
    int s = hello(), fd;

    before = test_open_fds();
    for (int i = 0; i < 20; i++) {
        uint8_t copy[512];
        memcpy(copy, msg, n);
        assert_int_equal(say(s, copy, n, (int[]){0, 1, 2}, 2 + (size_t)i % 2, &fd, &h),
                         STATUS_INVALID_PARAMETER);
    }
    assert_int_equal(say(s, msg, n, (int[]){0}, 1, &fd, &h), STATUS_INVALID_HANDLE); /* and it goes on */
    assert_int_equal(test_open_fds(), before);
    close(s);
}

/* A thunk on a connection without the library: the status; `arg` and what is behind it in `msg` are the answer's. */
static NTSTATUS ask(int s, enum d3dkmt_thunk thunk, void *arg, size_t size, uint8_t msg[WIRE_MAX])
{
    struct wire_header h;
    int fd;
    NTSTATUS st = say(s, msg, d3dkmt_wire_write(msg, thunk, arg, 0, NULL), NULL, 0, &fd, &h);

    if (st == STATUS_SUCCESS)
        memcpy(arg, msg + sizeof(h), size);
    return st;
}

static D3DKMT_HANDLE device_of(int s, uint8_t msg[WIRE_MAX])
{
    D3DKMT_OPENADAPTERFROMHDC o = {0};
    D3DKMT_CREATEDEVICE d = {0};

    assert_int_equal(ask(s, D3DKMT_THUNK_OpenAdapterFromHdc, &o, sizeof(o), msg), STATUS_SUCCESS);
    d.hAdapter = o.hAdapter;
    assert_int_equal(ask(s, D3DKMT_THUNK_CreateDevice, &d, sizeof(d), msg), STATUS_SUCCESS);
    return d.hDevice;
}

/* The service is this process: it has the descriptor of that number, which the message says and does not bring. */
TEST_IN(the_number_of_an_event_is_no_event, served)
{
    static _Alignas(8) uint8_t msg[WIRE_MAX];
    D3DKMT_CREATESYNCHRONIZATIONOBJECT2 c = {.Info.Type = D3DDDI_CPU_NOTIFICATION};
    int event = eventfd(0, EFD_CLOEXEC), s = hello();

    c.hDevice = device_of(s, msg);
    c.Info.CPUNotification.Event = (HANDLE)(intptr_t)event;
    assert_int_equal(ask(s, D3DKMT_THUNK_CreateSynchronizationObject2, &c, sizeof(c), msg),
                     STATUS_INVALID_HANDLE);
    close(event);
    close(s);
}

TEST_IN(answers_hold_no_addresses, served)
{
    static _Alignas(8) uint8_t msg[WIRE_MAX];
    struct softgpu_alloc priv = {.size = 4096};
    D3DDDI_ALLOCATIONINFO info = {.pPrivateDriverData = &priv, .PrivateDriverDataSize = sizeof(priv)};
    D3DKMT_CREATEALLOCATION c = {.NumAllocations = 1, .pAllocationInfo = &info};
    const size_t block = sizeof(struct wire_header) + sizeof(c);
    uint32_t present = 0;
    int s = hello();

    c.hDevice = device_of(s, msg);
    assert_int_equal(ask(s, D3DKMT_THUNK_CreateAllocation, &c, sizeof(c), msg), STATUS_SUCCESS);
    memcpy(&present, msg + block, sizeof(present));
    assert_int_equal(present, 1);
    memcpy(&info, msg + block + 8, sizeof(info));
    assert_true(info.hAllocation && !info.pPrivateDriverData);
    close(s);
}

/* What a context's memory is made of, asked for without the library, cannot be cut under the service. */
static int cut_memory(void *arg)
{
    static _Alignas(8) uint8_t msg[WIRE_MAX];
    D3DKMT_OPENADAPTERFROMHDC o = {0};
    D3DKMT_CREATEDEVICE d = {0};
    D3DKMT_CREATECONTEXT x = {0};
    struct wire_header h;
    int s = hello(), fd;

    if (say(s, msg, d3dkmt_wire_write(msg, D3DKMT_THUNK_OpenAdapterFromHdc, &o, 0, NULL), NULL, 0, &fd, &h))
        return 1;
    memcpy(&o, msg + sizeof(h), sizeof(o));
    d.hAdapter = o.hAdapter;
    if (say(s, msg, d3dkmt_wire_write(msg, D3DKMT_THUNK_CreateDevice, &d, 0, NULL), NULL, 0, &fd, &h))
        return 2;
    memcpy(&d, msg + sizeof(h), sizeof(d));
    x.hDevice = d.hDevice;
    if (say(s, msg, d3dkmt_wire_write(msg, D3DKMT_THUNK_CreateContext, &x, 0, NULL), NULL, 0, &fd, &h) ||
        fd < 0)
        return 3;
    return ftruncate(fd, 0) && errno == EPERM && ftruncate(fd, 1 << 30) && errno == EPERM ? 0 : 4;
}

TEST_IN(memory_cannot_be_cut, served)
{
    assert_int_equal(child_result(run_in_child(cut_memory, NULL)), 0);
    an_innocent_works();
}

/* ---- shares -------------------------------------------------------------- */

static int guess(void *arg)
{
    D3DKMT_HANDLE right = *(D3DKMT_HANDLE *)arg;
    D3DKMT_QUERYRESOURCEINFO q = {0};
    struct app a;

    if (app_open(&a) != STATUS_SUCCESS)
        return 1;
    q.hDevice = a.device;
    for (D3DKMT_HANDLE i = 1; i <= 200; i++) { /* its neighbours, and what comes first */
        q.hGlobalShare = i % 2 ? right + i : i;
        if (D3DKMTQueryResourceInfo(&q) != STATUS_INVALID_HANDLE)
            return 2;
    }
    q.hGlobalShare = right; /* too late */
    return D3DKMTQueryResourceInfo(&q) == STATUS_INVALID_HANDLE ? 0 : 3;
}

static int is_told(void *arg)
{
    D3DKMT_QUERYRESOURCEINFO q = {.hGlobalShare = *(D3DKMT_HANDLE *)arg};
    struct app a;

    if (app_open(&a) != STATUS_SUCCESS)
        return 1;
    q.hDevice = a.device;
    return D3DKMTQueryResourceInfo(&q) == STATUS_SUCCESS ? 0 : 2;
}

TEST_IN(share_handles_are_not_guessed, served)
{
    D3DKMT_HANDLE shares[16], h;
    D3DKMT_CREATEALLOCATION c;
    unsigned near = 0;
    struct app a;

    assert_int_equal(app_open(&a), STATUS_SUCCESS);
    for (int i = 0; i < 16; i++) {
        assert_int_equal(app_alloc(&a, 4096, false, true, &h, &c), STATUS_SUCCESS);
        shares[i] = c.hGlobalShare;
        for (int j = 0; j < i; j++)
            near += (uint32_t)(shares[i] - shares[j]) + 4096 < 8192 || (shares[i] >> 16) == (shares[j] >> 16);
    }
    assert_true(near < 3); /* by chance one pair in 500 such tests */
    assert_int_equal(child_result(run_in_child(guess, &shares[3])), 0);
    assert_int_equal(child_result(run_in_child(is_told, &shares[3])), 0);
    app_close(&a);
}

/* ---- limits -------------------------------------------------------------- */

/* `greedy` takes what it can, writes a byte into the pipe that it is given and stays; an innocent works beside it all the same. */
static void innocent_beside(int (*greedy)(void *arg))
{
    pid_t pid;
    int fds[2];
    char c;

    assert_int_equal(pipe(fds), 0);
    pid = run_in_child(greedy, &fds[1]);
    close(fds[1]);
    assert_int_equal(read(fds[0], &c, 1), 1);
    an_innocent_works();
    kill(pid, SIGKILL);
    child_result(pid);
    close(fds[0]);
    rig_await_nobody();
}

static int take_devices(void *arg)
{
    D3DKMT_CREATEDEVICE d = {0};
    D3DKMT_OPENADAPTERFROMHDC o = {0};
    D3DKMT_CREATECONTEXT x = {0};
    NTSTATUS s = D3DKMTOpenAdapterFromHdc(&o);
    unsigned devices = 0, contexts = 0;

    d.hAdapter = o.hAdapter;
    while (!s && devices < 100000)
        if (!(s = D3DKMTCreateDevice(&d))) {
            x.hDevice = d.hDevice;
            devices++;
        }
    if (s != STATUS_INSUFFICIENT_RESOURCES)
        return 1;
    for (s = STATUS_SUCCESS; !s && contexts < 100000;)
        if (!(s = D3DKMTCreateContext(&x)))
            contexts++;
    if (s != STATUS_INSUFFICIENT_RESOURCES)
        return 2;
    for (s = STATUS_SUCCESS; !s;)
        s = D3DKMTOpenAdapterFromHdc(&o);
    if (s != STATUS_NO_MEMORY)
        return 3;
    if (write(*(int *)arg, "x", 1) != 1)
        return 4;
    for (;;)
        pause();
}

TEST_IN(one_client_leaves_others_their_share, served)
{
    innocent_beside(take_devices);
}

static int take_connections(void *arg)
{
    int had = 0;

    while (had < D3DKMT_MAX_CONNECTIONS && hello() >= 0)
        had++;
    if (had != D3DKMT_MAX_PER_PROCESS || write(*(int *)arg, "x", 1) != 1)
        return 1;
    for (;;)
        pause();
}

TEST_IN(one_process_does_not_take_all_connections, served)
{
    innocent_beside(take_connections);
}

struct greedy {
    uid_t user;
    int count; /* where they write how many they have */
    int most;  /* 0: as many as they get */
};

static int be_greedy(void *arg)
{
    const struct greedy *g = arg;
    int had = 0;

    if (setuid(g->user))
        return 1;
    while (had < (g->most ? g->most : D3DKMT_MAX_CONNECTIONS) && hello() >= 0)
        had++;
    if (write(g->count, &had, sizeof(had)) != sizeof(had))
        return 2;
    for (;;)
        pause();
}

/* However many processes he has, and numbers for his containers: his share is that of one. What is left is for who comes next, and in the
 * end for root. */
TEST_IN(one_user_does_not_take_all_connections, served)
{
    static const uid_t users[] = {12345, 12345, 200000, 265535, 12346};
    enum { GREEDY = sizeof(users) / sizeof(users[0]), ALL = D3DKMT_MAX_CONNECTIONS };
    int fds[2], had, sum[2] = {0};
    FILE *f = fopen(rig_subuid(), "we");
    pid_t pids[GREEDY];

    if (geteuid())
        skip(); /* cannot be two users */
    assert_non_null(f);
    fputs("12345:200000:65536\n", f);
    fclose(f);
    assert_int_equal(chmod(rig.path, 0666), 0);
    assert_int_equal(pipe(fds), 0);
    for (int i = 0; i < GREEDY; i++) {
        struct greedy g = {users[i], fds[1]};
        pids[i] = run_in_child(be_greedy, &g);
        assert_int_equal(read(fds[0], &had, sizeof(had)), sizeof(had));
        sum[users[i] == 12346] += had;
    }
    unlink(rig_subuid());
    assert_int_equal(sum[0], ALL * 11 / 32);
    assert_in_range(sum[1], ALL * 11 / 64 - 1, ALL * 11 / 64);
    an_innocent_works();
    for (int i = 0; i < GREEDY; i++) {
        kill(pids[i], SIGKILL);
        child_result(pids[i]);
    }
    close(fds[0]);
    close(fds[1]);
    rig_await_nobody();
}

/* Who has no share left can ask still; root works. */
TEST_IN(strangers_do_not_take_roots_connections, served)
{
    enum { USERS = 80, RESERVE = D3DKMT_MAX_CONNECTIONS / 16 };
    struct d3dkmt_server_stats stats;
    int fds[2], had;
    pid_t pids[USERS];

    if (geteuid())
        skip(); /* cannot be two users */
    assert_int_equal(chmod(rig.path, 0666), 0);
    assert_int_equal(pipe(fds), 0);
    for (int i = 0; i < USERS; i++) {
        struct greedy g = {20000 + (uid_t)i, fds[1], .most = 20};
        pids[i] = run_in_child(be_greedy, &g);
        assert_int_equal(read(fds[0], &had, sizeof(had)), sizeof(had));
    }
    d3dkmt_serve_stats(rig.server, &stats);
    assert_in_range(stats.connected, D3DKMT_MAX_CONNECTIONS - RESERVE + 1,
                    D3DKMT_MAX_CONNECTIONS - RESERVE + 2 * D3DKMT_MAX_SPARE);
    an_innocent_works();
    for (int i = 0; i < RESERVE; i++)
        assert_true(hello() >= 0);
    for (int i = 0; i < USERS; i++) {
        kill(pids[i], SIGKILL);
        child_result(pids[i]);
    }
    close(fds[0]);
    close(fds[1]);
}

/* ---- who it is ------------------------------------------------------------ */

/* A process of this number: `main` in it. Needs a right that only root has. */
static pid_t run_numbered(pid_t number, int (*run)(void *arg), void *arg)
{
    struct clone_args args = {
        .exit_signal = SIGCHLD, .set_tid = (uint64_t)(uintptr_t)&number, .set_tid_size = 1};
    pid_t pid = (pid_t)syscall(SYS_clone3, &args, sizeof(args));

    if (!pid)
        _exit(run(arg));
    return pid;
}

static int wait_to_die(void *arg)
{
    while (pause())
        continue;
    return 0;
}

/* The number of one that has gone is not another's while anything is left of the first. */
TEST(a_reused_number_is_another_process)
{
    pid_t pid = run_in_child(wait_to_die, NULL), again;
    struct ucred cred = {.pid = pid, .uid = 1000}, unseen = {.uid = 1000}, unseen_too = {.uid = 1001};
    struct peer *list = NULL, *first = peer_get(&list, &cred, false), *second, *user;

    assert_non_null(first);
    assert_int_equal(first->number, pid);
    assert_ptr_equal(peer_get(&list, &cred, false), first);
    assert_int_equal(first->users, 2);
    peer_put(&list, first);
    user = peer_get(&list, &unseen, false);
    assert_int_equal(user->number, 1000 + (1 << 22));
    assert_ptr_equal(peer_get(&list, &unseen, false), user);
    peer_put(&list, user);
    second = peer_get(&list, &unseen_too, false);
    assert_ptr_not_equal(second, user);
    peer_put(&list, second);
    peer_put(&list, user);
    assert_ptr_equal(list, first);
    cred.uid = 1001; /* it is another user's now */
    assert_ptr_equal(peer_get(&list, &cred, false), first);
    peer_put(&list, first);
    user = peer_get(&list, &cred, true);
    assert_int_equal(user->number, 1001 + (1 << 22));
    peer_put(&list, user);
    kill(pid, SIGKILL);
    child_result(pid);
    assert_false(peer_is_alive(first));
    assert_null(peer_get(&list, &cred, false)); /* nobody has the number now */
    again = run_numbered(pid, wait_to_die, NULL);
    if (again < 0) {
        peer_put(&list, first);
        assert_null(list);
        skip();
    }
    assert_int_equal(again, pid);
    second = peer_get(&list, &cred, false);
    assert_non_null(second);
    assert_ptr_not_equal(second, first);
    assert_int_equal(second->number, pid + (1 << 22));
    peer_put(&list, first);
    assert_ptr_equal(peer_get(&list, &cred, false), second);
    assert_int_equal(second->number, pid + (1 << 22)); /* as long as it lives */
    peer_put(&list, second);
    peer_put(&list, second);
    assert_null(list);
    kill(again, SIGKILL);
    child_result(again);
}

/* Greets, leaves the connection to its child, and is gone; the child says what becomes of it. */
static int leave_it_to_a_child(void *arg)
{
    int s = hello();

    if (s < 0)
        return 1;
    if (!fork()) {
        struct pollfd p = {.fd = s, .events = POLLIN};
        char c = poll(&p, 1, 20000) == 1 && recv(s, &c, 1, 0) <= 0 ? 'e' : 's';
        _exit(write(*(int *)arg, &c, 1) != 1);
    }
    return 0;
}

TEST_IN(a_connection_ends_with_its_process, served)
{
    int fds[2];
    char c = 0;

    assert_int_equal(pipe(fds), 0);
    assert_int_equal(child_result(run_in_child(leave_it_to_a_child, &fds[1])), 0);
    assert_int_equal(read(fds[0], &c, 1), 1);
    assert_int_equal(c, 'e');
    close(fds[0]);
    close(fds[1]);
    rig_await_nobody();
    an_innocent_works();
}

static size_t ask_for_the_adapter(uint8_t *msg)
{
    D3DKMT_OPENADAPTERFROMHDC open = {0};

    return d3dkmt_wire_write(msg, D3DKMT_THUNK_OpenAdapterFromHdc, &open, 0, NULL);
}

/* The connection is somebody else's, who lives. */
static int ask_for_another(void *arg)
{
    _Alignas(8) static uint8_t msg[WIRE_MAX];
    struct wire_header h;
    int fd;

    return say(*(int *)arg, msg, ask_for_the_adapter(msg), NULL, 0, &fd, &h) == 1 ? 0 : 1;
}

TEST_IN(a_connection_is_one_processs, served)
{
    _Alignas(8) static uint8_t msg[WIRE_MAX];
    struct wire_header h;
    int s = hello(), fd;

    assert_true(s >= 0);
    assert_int_equal(say(s, msg, ask_for_the_adapter(msg), NULL, 0, &fd, &h), STATUS_SUCCESS);
    assert_int_equal(child_result(run_in_child(ask_for_another, &s)), 0);
    assert_int_equal(say(s, msg, ask_for_the_adapter(msg), NULL, 0, &fd, &h), 1);
    close(s);
    rig_await_nobody();
    an_innocent_works();
}

/* What stands in the socket before it is known who sent it is not believed. */
TEST_IN(nothing_is_said_before_the_greeting_is_answered, served)
{
    _Alignas(8) static uint8_t msg[WIRE_MAX];
    struct {
        struct wire_header h;
        struct wire_hello hello;
    } m = {{WIRE_MAGIC, WIRE_HELLO, sizeof(m), 0, 0, 0}, {0}};
    bool refused = false;

    for (int i = 0; i < 10000 && !refused; i++) { /* it may have read the first before the second is there */
        struct wire_header h = {0};
        int s = dial();
        size_t n = ask_for_the_adapter(msg), num;
        assert_int_equal(fds_send(s, &m, sizeof(m), NULL, 0, 0), sizeof(m));
        fds_send(s, msg, n, NULL, 0, 0);
        num = 0;
        assert_true(fds_receive(s, msg, sizeof(msg), NULL, &num, 0) >= (int)sizeof(h));
        memcpy(&h, msg, sizeof(h));
        refused = h.status == STATUS_INVALID_PARAMETER;
        close(s);
    }
    assert_true(refused);
    rig_await_nobody();
    an_innocent_works();
}

TEST_IN(the_silent_are_not_waited_for, served)
{
    struct pollfd p = {.fd = dial(), .events = POLLIN};
    char c;

    assert_int_equal(poll(&p, 1, 1000 * (D3DKMT_HANDSHAKE_S + 10)), 1);
    assert_int_equal(recv(p.fd, &c, 1, 0), 0);
    close(p.fd);
    rig_await_nobody();
}

/* Dials again and again while the service has no descriptor left. */
static int dial_often(void *arg)
{
    struct pollfd p = {.events = POLLIN};

    for (int i = 0; i < 20; i++) {
        p.fd = dial();
        if (p.fd < 0 || poll(&p, 1, 5000) != 1)
            return 1;
        close(p.fd);
    }
    usleep(300000);
    return 0;
}

static double cpu_ms(void)
{
    struct timespec t;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

TEST_IN(a_service_without_descriptors_turns_away_and_rests, served)
{
    struct rlimit l, few;
    double before;
    pid_t pid;
    int last = dup(0);

    assert_int_equal(getrlimit(RLIMIT_NOFILE, &l), 0);
    pid = fork();
    if (!pid) {
        usleep(50000); /* until the limit is set: it is not this process' */
        alarm(30);
        _exit(dial_often(NULL));
    }
    few = l;
    few.rlim_cur = (rlim_t)last;
    close(last);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
    before = cpu_ms();
    assert_int_equal(child_result(pid), 0);
    assert_true(cpu_ms() - before < 150);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &l), 0);
    an_innocent_works();
}

/* ---- processors ---------------------------------------------------------- */

/* The service on one processor, which is scarce as soon as many want it. */
static cpu_set_t processors;

static int rig_up_narrow(void **state)
{
    cpu_set_t one;
    int cpu = 0;

    if (sched_getaffinity(0, sizeof(processors), &processors))
        return -1;
    while (!CPU_ISSET(cpu, &processors))
        cpu++;
    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    return sched_setaffinity(0, sizeof(one), &one) ? -1 : rig_up_served(state);
}

static int rig_down_narrow(void **state)
{
    int r = rig_down(state);

    return sched_setaffinity(0, sizeof(processors), &processors) ? -1 : r;
}

static void *call_for_ever(void *arg)
{
    const struct app *a = arg;
    D3DKMT_GETDEVICESTATE s = {.hDevice = a->device, .StateType = D3DKMT_DEVICESTATE_EXECUTION};

    while (NT_SUCCESS(D3DKMTGetDeviceState(&s)))
        continue;
    return NULL;
}

static int storm(void *arg)
{
    struct app a;
    pthread_t t;

    if (app_open(&a) != STATUS_SUCCESS)
        return 1;
    for (int i = 0; i < 50; i++)
        if (pthread_create(&t, NULL, call_for_ever, &a))
            return 2;
    pthread_join(t, NULL);
    return 0;
}

TEST_WITH(who_calls_without_end_is_served_late, rig_up_narrow, rig_down_narrow)
{
    struct d3dkmt_server_stats st;
    pid_t pid = run_in_child(storm, NULL);

    do {
        an_innocent_works(); /* without somebody else there would be no hurry */
        usleep(10000);
        d3dkmt_serve_stats(rig.server, &st);
    } while (!st.late && !waitpid(pid, NULL, WNOHANG)); /* which lives half a minute */
    kill(pid, SIGKILL);
    child_result(pid);
    assert_true(st.late > 0);
    rig_await_nobody();
}
