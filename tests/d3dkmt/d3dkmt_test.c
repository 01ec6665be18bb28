/* SPDX-License-Identifier: MIT */
/* The D3DKMT* functions, in one process and over the socket, on a toy GPU (tests/softgpu). */
#include "test.h"

#include <errno.h>
#include <pthread.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <sys/un.h>
#include <unistd.h>

#include "d3dkmt/wire.h"
#include "d3dkmt_rig.h"
#include "dxgkrnl/progress.h"

TEST_IN(a_program_does_everything, local)
{
    struct app a;
    D3DKMT_HANDLE h, primary;
    D3DKMT_CREATEALLOCATION c;
    D3DKMT_PRESENT p = {.FlipInterval = D3DDDI_FLIPINTERVAL_ONE};
    struct softgpu_escape esc = {.op = ESC_ADMIN};
    D3DKMT_SEGMENTSIZEINFO size;
    D3DKMT_GETSCANLINE line = {0};
    uint32_t *words;
    uint64_t n;

    assert_int_equal(app_open(&a), STATUS_SUCCESS);
    assert_int_equal(app_alloc(&a, 65536, false, false, &h, &c), STATUS_SUCCESS);
    words = app_lock(&a, h);
    words[0] = 1;
    words[16383] = 2;
    app_unlock(&a, h);
    n = app_render(&a, OP_FILL, 0xC0FFEE, h, 16384, STATUS_SUCCESS);
    assert_int_equal(d3dkmt_wait(a.context, n, D3DKMT_FOREVER), STATUS_SUCCESS);
    assert_true(d3dkmt_progress(a.context)->completed >= n);
    words = app_lock(&a, h);
    assert_int_equal(words[0], 0xC0FFEE);
    assert_int_equal(words[16383], 0xC0FFEE);
    app_unlock(&a, h);

    assert_int_equal(app_alloc(&a, 320 * 200 * 4, true, false, &primary, &c), STATUS_SUCCESS);
    assert_int_equal(D3DKMTSetDisplayMode(&(D3DKMT_SETDISPLAYMODE){a.device, primary, 0, 0, 0, {0}}),
                     STATUS_SUCCESS);
    p.hContext = a.context;
    p.hSource = primary;
    p.Flags.Flip = 1;
    assert_int_equal(D3DKMTPresent(&p), STATUS_SUCCESS);
    assert_int_equal(d3dkmt_wait(a.context, d3dkmt_progress(a.context)->queued, D3DKMT_FOREVER),
                     STATUS_SUCCESS);
    assert_int_equal(
        D3DKMTWaitForVerticalBlankEvent(&(D3DKMT_WAITFORVERTICALBLANKEVENT){a.adapter, a.device, a.source}),
        STATUS_SUCCESS);
    line.hAdapter = a.adapter;
    assert_int_equal(D3DKMTGetScanLine(&line), STATUS_SUCCESS);
    assert_int_equal(D3DKMTQueryAdapterInfo(&(D3DKMT_QUERYADAPTERINFO){a.adapter, KMTQAITYPE_GETSEGMENTSIZE,
                                                                       &size, sizeof(size)}),
                     STATUS_SUCCESS);
    assert_true(size.SharedSystemMemorySize + size.DedicatedVideoMemorySize + size.DedicatedSystemMemorySize >
                0);
    assert_int_equal(D3DKMTEscape(&(D3DKMT_ESCAPE){.hAdapter = a.adapter,
                                                   .pPrivateDriverData = &esc,
                                                   .PrivateDriverDataSize = sizeof(esc)}),
                     STATUS_SUCCESS);
    assert_int_equal(esc.value, 1);
    app_close(&a);
    assert_null(d3dkmt_progress(a.context));
}

TEST_IN(adapters_are_found_by_name, local)
{
    D3DKMT_OPENADAPTERFROMDEVICENAME n = {.pDeviceName = u"\\\\?\\PCI#VEN_1234&DEV_ABCD&SUBSYS_00011234#0"};
    D3DKMT_OPENADAPTERFROMGDIDISPLAYNAME g = {.DeviceName = u"\\\\.\\DISPLAY1"};
    D3DKMT_OPENADAPTERFROMHDC hdc = {.hDc = (HDC) "\\\\.\\DISPLAY7"};
    D3DKMT_QUERY_DEVICE_IDS ids = {.PhysicalAdapterIndex = 1};
    D3DKMT_QUERYADAPTERINFO q = {.Type = KMTQAITYPE_PHYSICALADAPTERDEVICEIDS,
                                 .pPrivateDriverData = &ids,
                                 .PrivateDriverDataSize = sizeof(ids)};

    assert_int_equal(D3DKMTOpenAdapterFromDeviceName(&n), STATUS_SUCCESS);
    q.hAdapter = n.hAdapter;
    assert_int_equal(D3DKMTQueryAdapterInfo(&q), STATUS_INVALID_PARAMETER);
    ids.PhysicalAdapterIndex = 0;
    assert_int_equal(D3DKMTQueryAdapterInfo(&q), STATUS_SUCCESS);
    assert_int_equal(ids.DeviceIds.VendorID, 0x1234);
    assert_int_equal(ids.DeviceIds.DeviceID, 0xABCD);
    q.PrivateDriverDataSize--;
    assert_int_equal(D3DKMTQueryAdapterInfo(&q), STATUS_BUFFER_TOO_SMALL);
    assert_int_equal(D3DKMTCloseAdapter(&(D3DKMT_CLOSEADAPTER){n.hAdapter}), STATUS_SUCCESS);
    assert_int_equal(D3DKMTCloseAdapter(&(D3DKMT_CLOSEADAPTER){n.hAdapter}), STATUS_INVALID_HANDLE);
    n.pDeviceName = u"\\\\?\\PCI#VEN_A3A0&DEV_0001#0";
    assert_int_equal(D3DKMTOpenAdapterFromDeviceName(&n), STATUS_NO_SUCH_DEVICE);
    n.pDeviceName = u"\\\\.\\DISPLAY1";
    assert_int_equal(D3DKMTOpenAdapterFromDeviceName(&n), STATUS_SUCCESS);
    n.pDeviceName = NULL;
    assert_int_equal(D3DKMTOpenAdapterFromDeviceName(&n), STATUS_INVALID_PARAMETER);
    assert_int_equal(D3DKMTOpenAdapterFromGdiDisplayName(&g), STATUS_SUCCESS);
    assert_int_equal(D3DKMTOpenAdapterFromHdc(&hdc), STATUS_GRAPHICS_INVALID_VIDEO_PRESENT_SOURCE);
    static const char *const bad[] = {"DISPLAY",
                                      "\\\\.\\DISPLAY",
                                      "\\\\.\\DISPLAY0",
                                      "\\\\.\\DISPLAY1x",
                                      "\\\\.\\DISPLAY 1",
                                      "\\\\.\\DISPLAY-1",
                                      "\\\\.\\DISPLAY+1",
                                      "\\\\.\\DISPLAY01",
                                      "\\\\.\\DISPLAY4294967297",
                                      ""};
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        hdc.hDc = (HDC)(uintptr_t)bad[i];
        assert_int_equal(D3DKMTOpenAdapterFromHdc(&hdc), STATUS_INVALID_PARAMETER);
    }
    hdc.hDc = (HDC) "\\\\.\\display1";
    assert_int_equal(D3DKMTOpenAdapterFromHdc(&hdc), STATUS_SUCCESS);
    assert_int_equal(D3DKMTOpenAdapterFromHdc(NULL), STATUS_INVALID_PARAMETER);
    assert_int_equal(D3DKMTRender(NULL), STATUS_INVALID_PARAMETER);
}

TEST_IN(a_reset_is_seen_without_a_call, local)
{
    struct app a;
    D3DKMT_GETDEVICESTATE g = {.StateType = D3DKMT_DEVICESTATE_EXECUTION};
    uint64_t n;

    assert_int_equal(app_open(&a), STATUS_SUCCESS);
    n = app_render(&a, OP_HANG, 0, 0, 0, STATUS_SUCCESS);
    assert_int_equal(d3dkmt_wait(a.context, n, 10 * NSEC_PER_MSEC), STATUS_TIMEOUT);
    app_force_tdr(&a);
    assert_int_equal(d3dkmt_wait(a.context, n, D3DKMT_FOREVER), STATUS_DEVICE_REMOVED);
    assert_int_equal(d3dkmt_progress(a.context)->state, D3DKMT_DEVICEEXECUTION_HUNG);
    app_render(&a, OP_NOP, 0, 0, 0, STATUS_DEVICE_REMOVED);
    g.hDevice = a.device;
    assert_int_equal(D3DKMTGetDeviceState(&g), STATUS_SUCCESS);
    assert_int_equal(g.ExecutionState, D3DKMT_DEVICEEXECUTION_HUNG);
    app_close(&a);
    assert_int_equal(app_open(&a), STATUS_SUCCESS);
    n = app_render(&a, OP_NOP, 0, 0, 0, STATUS_SUCCESS);
    assert_int_equal(d3dkmt_wait(a.context, n, D3DKMT_FOREVER), STATUS_SUCCESS);
    app_close(&a);
}

/* ---- other processes ----------------------------------------------------- */

static int paint_shared(void *arg)
{
    D3DKMT_HANDLE share = *(D3DKMT_HANDLE *)arg, alloc;
    D3DKMT_QUERYRESOURCEINFO q = {.hGlobalShare = share};
    D3DDDI_OPENALLOCATIONINFO info;
    struct softgpu_alloc priv;
    D3DKMT_OPENRESOURCE o = {.hGlobalShare = share,
                             .NumAllocations = 1,
                             .pOpenAllocationInfo = &info,
                             .pTotalPrivateDriverDataBuffer = &priv,
                             .TotalPrivateDriverDataBufferSize = sizeof(priv)};
    struct app a;
    uint32_t *words;

    if (app_open(&a))
        return 1;
    q.hDevice = o.hDevice = a.device;
    if (D3DKMTQueryResourceInfo(&q) || q.NumAllocations != 1 || q.TotalPrivateDriverDataSize != sizeof(priv))
        return 2;
    if (D3DKMTOpenResource(&o) || info.pPrivateDriverData != &priv || priv.size != 4096)
        return 3;
    alloc = info.hAllocation;
    words = app_lock(&a, alloc);
    if (words[0] != 11)
        return 4;
    words[1] = 22;
    app_unlock(&a, alloc);
    if (d3dkmt_wait(a.context, app_render(&a, OP_FILL, 33, alloc, 1, STATUS_SUCCESS), D3DKMT_FOREVER))
        return 5;
    return 0;
}

TEST_IN(processes_share_surfaces_and_nothing_else, connected)
{
    struct app a;
    D3DKMT_HANDLE h, mine;
    D3DKMT_CREATEALLOCATION c;
    uint32_t *words;

    assert_int_equal(app_open(&a), STATUS_SUCCESS);
    assert_int_equal(app_alloc(&a, 4096, false, true, &h, &c), STATUS_SUCCESS);
    assert_int_not_equal(c.hGlobalShare, 0);
    words = app_lock(&a, h);
    words[0] = 11;
    app_unlock(&a, h);
    assert_int_equal(child_result(run_in_child(paint_shared, &c.hGlobalShare)), 0);
    words = app_lock(&a, h);
    assert_int_equal(words[0], 33);
    assert_int_equal(words[1], 22);
    app_unlock(&a, h);
    mine = h;
    assert_int_equal(D3DKMTDestroyAllocation(&(D3DKMT_DESTROYALLOCATION){a.device, c.hResource, NULL, 0}),
                     STATUS_SUCCESS);
    assert_int_equal(D3DKMTLock(&(D3DKMT_LOCK){.hDevice = a.device, .hAllocation = mine}),
                     STATUS_INVALID_HANDLE);
    app_close(&a);
}

static int use_foreign_handles(void *arg)
{
    const struct app *theirs = arg;
    struct app a;

    if (app_open(&a))
        return 1;
    if (D3DKMTDestroyDevice(&(D3DKMT_DESTROYDEVICE){theirs->device}) != STATUS_INVALID_HANDLE ||
        D3DKMTDestroyContext(&(D3DKMT_DESTROYCONTEXT){theirs->context}) != STATUS_INVALID_HANDLE ||
        D3DKMTCloseAdapter(&(D3DKMT_CLOSEADAPTER){theirs->adapter}) != STATUS_INVALID_HANDLE ||
        D3DKMTRender(&(D3DKMT_RENDER){.hContext = theirs->context}) != STATUS_INVALID_HANDLE)
        return 2;
    return d3dkmt_progress(theirs->context) ? 3 : 0;
}

TEST_IN(handles_of_others_are_nothing, connected)
{
    struct app a;

    assert_int_equal(app_open(&a), STATUS_SUCCESS);
    assert_int_equal(child_result(run_in_child(use_foreign_handles, &a)), 0);
    app_close(&a);
}

static int wait_for_ever(void *arg)
{
    struct app a;
    char c = 'w';

    if (app_open(&a))
        return 1;
    app_render(&a, OP_DELAY, 100, 0, 0, STATUS_SUCCESS);
    if (write(*(int *)arg, &c, 1) != 1)
        return 2;
    for (;;)
        D3DKMTWaitForVerticalBlankEvent(&(D3DKMT_WAITFORVERTICALBLANKEVENT){a.adapter, a.device, a.source});
}

TEST_IN(a_client_that_is_killed_leaves_nothing, served)
{
    struct d3dkmt_server_stats st;
    int fds[2];

    assert_int_equal(pipe(fds), 0);
    for (int i = 0; i < 5; i++) {
        pid_t pid = run_in_child(wait_for_ever, &fds[1]);
        char c;
        assert_int_equal(read(fds[0], &c, 1), 1);
        usleep(20000);
        kill(pid, SIGKILL);
        assert_int_equal(child_result(pid), 128 + SIGKILL);
    }
    rig_await_nobody();
    d3dkmt_serve_stats(rig.server, &st);
    assert_int_equal(st.clients, 5);
    close(fds[0]);
    close(fds[1]);
}

static int render_and_leave(void *arg)
{
    struct app a;
    uint64_t n = 0;

    if (app_open(&a))
        return 1;
    for (int i = 0; i < 20; i++)
        n = app_render(&a, OP_NOP, 0, 0, 0, STATUS_SUCCESS);
    return d3dkmt_wait(a.context, n, D3DKMT_FOREVER) ? 2 : 0;
}

TEST_IN(many_clients_at_once, served)
{
    pid_t pids[64];

    for (int i = 0; i < 64; i++)
        pids[i] = run_in_child(render_and_leave, NULL);
    for (int i = 0; i < 64; i++)
        assert_int_equal(child_result(pids[i]), 0);
}

static void *thread_renders(void *arg)
{
    struct app a;

    *(int *)arg = 1;
    if (app_open(&a))
        return NULL;
    for (int i = 0; i < 20; i++)
        if (d3dkmt_wait(a.context, app_render(&a, OP_NOP, 0, 0, 0, STATUS_SUCCESS), D3DKMT_FOREVER))
            return NULL;
    app_close(&a);
    *(int *)arg = 0;
    return NULL;
}

TEST_IN(threads_are_one_client, local)
{
    struct d3dkmt_server_stats st;
    pthread_t t[8];
    int result[8];

    for (int i = 0; i < 8; i++)
        assert_int_equal(pthread_create(&t[i], NULL, thread_renders, &result[i]), 0);
    for (int i = 0; i < 8; i++) {
        pthread_join(t[i], NULL);
        assert_int_equal(result[i], 0);
    }
    if (!rig.server)
        return;
    d3dkmt_serve_stats(rig.server, &st);
    assert_int_equal(st.clients, 1);
    assert_int_equal(st.connections, 9);
}

static int is_privileged(void *arg)
{
    struct app a;
    struct softgpu_escape esc = {.op = ESC_ADMIN};
    D3DKMT_ESCAPE e = {.pPrivateDriverData = &esc, .PrivateDriverDataSize = sizeof(esc)};

    if (setgid(65534) || setuid(65534))
        return 99;
    if (app_open(&a))
        return 2;
    e.hAdapter = a.adapter;
    return D3DKMTEscape(&e) ? 3 : (int)esc.value;
}

static int cannot_connect(void *arg)
{
    struct error e = {0};

    if (setgid(65534) || setuid(65534))
        return 99;
    return d3dkmt_connect(rig.path, &e) == -EACCES ? 0 : 1;
}

TEST_IN(the_sockets_mode_decides, connected)
{
    struct stat st;

    assert_int_equal(stat(rig.path, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0600);
    if (geteuid()) {
        print_message("not root: other users are not tried\n");
        return;
    }
    assert_int_equal(child_result(run_in_child(cannot_connect, NULL)), 0);
    assert_int_equal(chmod(rig.path, 0666), 0);
    assert_int_equal(child_result(run_in_child(is_privileged, NULL)), 0);
}

static int is_refused(void *path)
{
    struct error e = {0};

    return d3dkmt_connect(path, &e) == -EPERM ? 0 : 1;
}

/* In /tmp anybody may be first to take the path of a user's service: a client does not talk to him. */
TEST_IN(a_path_that_a_stranger_took_is_refused, connected)
{
    struct sockaddr_un a = {.sun_family = AF_UNIX};
    int fd, ready[2];
    pid_t pid;
    char c;

    if (geteuid())
        skip(); /* a stranger is somebody else */
    snprintf(a.sun_path, sizeof(a.sun_path), D3DKMT_SOCKET_OF_USER, 4000000 + (unsigned)getpid());
    assert_int_equal(pipe(ready), 0);
    pid = fork();
    if (!pid) {
        fd = socket(AF_UNIX, SOCK_SEQPACKET, 0);
        if (!setgid(65534) && !setuid(65534) && !bind(fd, (struct sockaddr *)&a, sizeof(a)) &&
            !listen(fd, 1) && write(ready[1], "", 1) == 1)
            pause();
        _exit(1);
    }
    close(ready[1]);
    assert_int_equal(read(ready[0], &c, 1), 1);
    close(ready[0]);
    assert_int_equal(child_result(run_in_child(is_refused, a.sun_path)), 0);
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
    unlink(a.sun_path);
}

TEST_IN(a_service_that_is_gone_is_noticed, connected)
{
    struct app a;
    struct error e = {0};

    assert_int_equal(app_open(&a), STATUS_SUCCESS);
    d3dkmt_serve_end(rig.server);
    rig.server = NULL;
    assert_int_equal(d3dkmt_wait(a.context, 1, D3DKMT_FOREVER), STATUS_DEVICE_REMOVED);
    assert_int_equal(D3DKMTDestroyDevice(&(D3DKMT_DESTROYDEVICE){a.device}), STATUS_DEVICE_REMOVED);
    assert_int_equal(D3DKMTDestroyDevice(&(D3DKMT_DESTROYDEVICE){a.device}), STATUS_NO_SUCH_DEVICE);
    d3dkmt_disconnect();
    unsetenv(D3DKMT_SOCKET_VARIABLE);
    assert_int_equal(d3dkmt_connect(rig.path, &e), -ENOENT);
    assert_int_equal(app_open(&a), STATUS_NO_SUCH_DEVICE);
}

TEST_IN(sockets_are_replaced_with_care, served)
{
    struct d3dkmt_server *s;
    struct error e = {0};
    struct sockaddr_un a = {.sun_family = AF_UNIX};
    char path[128], text[64];
    int fd;

    assert_int_equal(d3dkmt_serve(&s, &(struct d3dkmt_serve_params){rig.dxgk, rig.path, 0600, (gid_t)-1}, &e),
                     -EADDRINUSE);
    error_clear(&e);
    snprintf(path, sizeof(path), "%s.file", rig.path);
    close(open(path, O_CREAT | O_WRONLY, 0600));
    assert_int_equal(d3dkmt_serve(&s, &(struct d3dkmt_serve_params){rig.dxgk, path, 0600, (gid_t)-1}, &e),
                     -ENOTSOCK);
    assert_non_null(strstr(e.text, "it is no socket"));
    error_clear(&e);
    unlink(path);
    fd = socket(AF_UNIX, SOCK_SEQPACKET, 0);
    strcpy(a.sun_path, path);
    assert_int_equal(bind(fd, (struct sockaddr *)&a, sizeof(a)), 0);
    close(fd);
    assert_int_equal(d3dkmt_serve(&s, &(struct d3dkmt_serve_params){rig.dxgk, path, 0600, (gid_t)-1}, &e),
                     0); /* a dead service's */
    d3dkmt_serve_end(s);
    memset(text, 'x', sizeof(text));
    memset(path, 'x', sizeof(path) - 1);
    path[sizeof(path) - 1] = 0;
    assert_int_equal(d3dkmt_serve(&s, &(struct d3dkmt_serve_params){rig.dxgk, path, 0600, (gid_t)-1}, &e),
                     -ENAMETOOLONG);
    assert_int_equal(d3dkmt_connect(path, &e), -ENAMETOOLONG);
}

/* ---- malformed messages -------------------------------------------------- */

static int raw(void)
{
    struct sockaddr_un a = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

    strcpy(a.sun_path, rig.path);
    assert_int_equal(connect(fd, (struct sockaddr *)&a, sizeof(a)), 0);
    return fd;
}

/* Sends and returns the status of the answer; 1 when the connection was closed. */
static NTSTATUS say(int fd, const void *msg, size_t size)
{
    uint8_t *reply = malloc(WIRE_MAX);
    struct wire_header h = {.status = 1};
    ssize_t n;

    assert_int_equal(send(fd, msg, size, MSG_NOSIGNAL), size);
    n = recv(fd, reply, WIRE_MAX, 0);
    if (n >= (ssize_t)sizeof(h))
        memcpy(&h, reply, sizeof(h));
    free(reply);
    return n <= 0 ? 1 : h.status;
}

struct greeting {
    struct wire_header h;
    struct wire_hello hello;
};

static struct greeting greeting(uint64_t cookie)
{
    return (struct greeting){{WIRE_MAGIC, WIRE_HELLO, sizeof(struct greeting), 0, 0, 0}, {cookie}};
}

TEST_IN(greetings_are_checked, served)
{
    struct greeting g = greeting(0);
    int fd = raw();

    assert_int_equal(say(fd, &g, sizeof(g) - 1), STATUS_INFO_LENGTH_MISMATCH);
    close(fd);
    fd = raw();
    g.h.magic++;
    assert_int_equal(say(fd, &g, sizeof(g)), STATUS_INVALID_PARAMETER);
    close(fd);
    fd = raw();
    g = greeting(12345);
    assert_int_equal(say(fd, &g, sizeof(g)), STATUS_ACCESS_DENIED);
    assert_int_equal(send(fd, &g, sizeof(g), MSG_NOSIGNAL) < 0 ? 1 : recv(fd, &g, sizeof(g), 0) <= 0, 1);
    close(fd);
}

static int join_client(void *cookie)
{
    struct greeting g = greeting(*(uint64_t *)cookie);

    return say(raw(), &g, sizeof(g)) == STATUS_ACCESS_DENIED ? 0 : 1;
}

TEST_IN(a_cookie_is_good_in_its_own_process, served)
{
    struct greeting g = greeting(0), again;
    int fd = raw(), second = raw();

    assert_int_equal(send(fd, &g, sizeof(g), MSG_NOSIGNAL), sizeof(g));
    assert_int_equal(recv(fd, &g, sizeof(g), 0), sizeof(g));
    again = greeting(g.hello.cookie);
    assert_int_equal(say(second, &again, sizeof(again)), STATUS_SUCCESS);
    assert_int_equal(child_result(run_in_child(join_client, &g.hello.cookie)), 0);
    close(second);
    close(fd);
}

TEST_IN(a_destroyed_allocation_is_mapped_no_more, served)
{
    D3DKMT_CREATEALLOCATION c;
    D3DKMT_HANDLE h;
    struct app a;
    void *words;

    assert_int_equal(app_open(&a), STATUS_SUCCESS);
    assert_int_equal(app_alloc(&a, 65536, false, false, &h, &c), STATUS_SUCCESS);
    words = app_lock(&a, h);
    assert_int_equal(msync(words, 65536, MS_ASYNC), 0);
    app_unlock(&a, h);
    assert_int_equal(D3DKMTDestroyAllocation(&(D3DKMT_DESTROYALLOCATION){a.device, 0, &h, 1}),
                     STATUS_SUCCESS);
    assert_int_equal(msync(words, 65536, MS_ASYNC), -1); /* ENOMEM: nothing is there */
    app_close(&a);
}

TEST_IN(malformed_requests_have_exact_answers, served)
{
    _Alignas(8) uint8_t msg[8192];
    struct greeting g = greeting(0);
    D3DKMT_HANDLE handles[4] = {0};
    D3DKMT_DESTROYALLOCATION d = {.phAllocationList = handles, .AllocationCount = 4};
    D3DKMT_CREATEDEVICE create = {0};
    struct wire_header *h = (struct wire_header *)msg;
    int fd = raw();
    size_t n;

    assert_int_equal(say(fd, &g, sizeof(g)), STATUS_SUCCESS);
    assert_int_equal(say(fd, msg, 3), STATUS_INFO_LENGTH_MISMATCH);
    n = d3dkmt_wire_write(msg, D3DKMT_THUNK_CreateDevice, &create, 0, NULL);
    assert_int_equal(say(fd, msg, n), STATUS_INVALID_HANDLE);
    h->magic ^= 1;
    assert_int_equal(say(fd, msg, n), STATUS_INVALID_PARAMETER);
    h->magic ^= 1;
    h->size++;
    assert_int_equal(say(fd, msg, n), STATUS_INFO_LENGTH_MISMATCH);
    h->size = (uint32_t)n - 8;
    assert_int_equal(say(fd, msg, n - 8), STATUS_INFO_LENGTH_MISMATCH);
    h->size = (uint32_t)n + 8;
    memset(msg + n, 0, 8);
    assert_int_equal(say(fd, msg, n + 8), STATUS_INFO_LENGTH_MISMATCH);
    h->size = (uint32_t)n;
    h->thunk = D3DKMT_NUM_THUNKS;
    assert_int_equal(say(fd, msg, n), STATUS_NOT_IMPLEMENTED);
    h->thunk = WIRE_HELLO;
    assert_int_equal(say(fd, msg, n), STATUS_NOT_IMPLEMENTED);

    n = d3dkmt_wire_write(msg, D3DKMT_THUNK_DestroyAllocation, &d, 0, NULL);
    assert_int_equal(say(fd, msg, n), STATUS_INVALID_HANDLE);
    h->size = (uint32_t)n + 8;
    memset(msg + n, 0, 8);
    assert_int_equal(say(fd, msg, n + 8), STATUS_INFO_LENGTH_MISMATCH); /* behind the last block */
    for (size_t cut = sizeof(*h); cut < n; cut += 4) {                  /* every prefix */
        h->size = (uint32_t)cut;
        assert_int_equal(say(fd, msg, cut), STATUS_INFO_LENGTH_MISMATCH);
    }
    h->size = (uint32_t)n;
    msg[sizeof(*h) + sizeof(d) + 4] = 12; /* the block's length */
    assert_int_equal(say(fd, msg, n), STATUS_INVALID_BUFFER_SIZE);
    msg[sizeof(*h) + sizeof(d) + 4] = 16;
    msg[sizeof(*h) + sizeof(d)] = 2; /* present */
    assert_int_equal(say(fd, msg, n), STATUS_INVALID_BUFFER_SIZE);
    msg[sizeof(*h) + sizeof(d)] = 1;
    msg[sizeof(*h) + offsetof(D3DKMT_DESTROYALLOCATION, phAllocationList)] = 1; /* a pointer */
    assert_int_equal(say(fd, msg, n), STATUS_INVALID_PARAMETER);
    memset(msg + sizeof(*h) + offsetof(D3DKMT_DESTROYALLOCATION, AllocationCount), 0xFF, 4);
    msg[sizeof(*h) + offsetof(D3DKMT_DESTROYALLOCATION, phAllocationList)] = 0;
    assert_int_equal(say(fd, msg, n), STATUS_INVALID_BUFFER_SIZE);
    close(fd);
}

/* A length that only an answer would fill: no more memory than a message is set aside for it. */
TEST_IN(answers_cannot_be_huge, served)
{
    _Alignas(8) uint8_t msg[512] = {0};
    struct greeting g = greeting(0);
    D3DKMT_QUERYRESOURCEINFO q = {.PrivateRuntimeDataSize = 0x7FFFFFFF};
    struct wire_header h = {WIRE_MAGIC, D3DKMT_THUNK_QueryResourceInfo, 0, 0, 0, 0};
    uint32_t block[2] = {1, 0x7FFFFFFF};
    size_t n = sizeof(h) + sizeof(q) + sizeof(block);
    int fd = raw();

    assert_int_equal(say(fd, &g, sizeof(g)), STATUS_SUCCESS);
    h.size = (uint32_t)n;
    memcpy(msg, &h, sizeof(h));
    memcpy(msg + sizeof(h), &q, sizeof(q));
    memcpy(msg + sizeof(h) + sizeof(q), block, sizeof(block));
    assert_int_equal(say(fd, msg, n), STATUS_INVALID_BUFFER_SIZE);
    close(fd);
}

TEST_IN(an_event_needs_a_descriptor, connected)
{
    struct app a;
    D3DKMT_CREATESYNCHRONIZATIONOBJECT2 c = {.Info.Type = D3DDDI_CPU_NOTIFICATION};

    assert_int_equal(app_open(&a), STATUS_SUCCESS);
    c.hDevice = a.device;
    c.Info.CPUNotification.Event = (HANDLE)(intptr_t)-1;
    assert_int_equal(D3DKMTCreateSynchronizationObject2(&c), STATUS_INVALID_HANDLE);
    app_close(&a);
}

/* The validation programs hold another's miniport to what is documented of all, and their peers take it, too. */
TEST_IN(the_suite_takes_another_miniport, served)
{
    static const char quiet[] = " --allow-non-aerogpu >/dev/null";
    char line[512];

    snprintf(line, sizeof(line), SUITE_DIR "/dbgctl_escape_security_sanity%s", quiet);
    assert_int_equal(system(line), 0);
    snprintf(line, sizeof(line), SUITE_DIR "/dbgctl_escape_security_sanity --require-ours%s", quiet);
    assert_int_equal(WEXITSTATUS(system(line)), 1);
    snprintf(line, sizeof(line), SUITE_DIR "/many_clients --producers 2 --allow-non-aerogpu");
    {
        FILE *f = popen(line, "r");
        char said[512] = "";

        assert_non_null(f);
        while (fgets(said, sizeof(said), f))
            assert_null(strstr(said, "not AeroGPU"));
        pclose(f);
    }
}

ALSO_IN(a_program_does_everything, connected);
ALSO_IN(adapters_are_found_by_name, connected);
ALSO_IN(a_reset_is_seen_without_a_call, connected);
ALSO_IN(threads_are_one_client, connected);
