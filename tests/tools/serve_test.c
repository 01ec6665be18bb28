/* SPDX-License-Identifier: MIT */
/* `aerogpu serve` from outside: the whole stack with its executor, as a program of its own finds it. Live. */
#include "test.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "abi/builder.h"
#include "aerogpu/alloc.h"
#include "aerogpu/escape.h"
#include "base/sched/slice.h"
#include "d3dkmt/d3dkmt.h"
#include "dxgkrnl/faults.h"
#include "dxgkrnl/progress.h"

static const char *aerogpu;
static char dir[] = "/tmp/aerogpu-serve-XXXXXX";
static int service_log = STDERR_FILENO; /* where the services' logs go */

struct service {
    pid_t pid;
    FILE *out;
    char socket[64], line[1024];
};

/* `executors`: --executors; NULL: as it is without. */
static void start_with(struct service *s, const char *settings, const char *executors)
{
    char file[64];
    int fds[2];
    FILE *f;

    snprintf(s->socket, sizeof(s->socket), "%s/socket", dir);
    snprintf(file, sizeof(file), "%s/settings", dir);
    f = fopen(file, "w");
    fputs(settings, f);
    fclose(f);
    assert_int_equal(pipe2(fds, O_CLOEXEC), 0);
    s->pid = fork();
    if (!s->pid) {
        dup2(fds[1], 1);
        dup2(service_log, 2);
        execl(aerogpu, aerogpu, "serve", "--json", "--ram", "256", "--socket", s->socket, "--settings", file,
              "--mode", executors ? "0666" : "0600", executors ? "--executors" : NULL, executors, NULL);
        _exit(127);
    }
    close(fds[1]);
    s->out = fdopen(fds[0], "r");
    assert_non_null(fgets(s->line, sizeof(s->line), s->out));
    assert_non_null(strstr(s->line, "\"type\":\"ready\""));
    setenv(D3DKMT_SOCKET_VARIABLE, s->socket, 1);
}

static void start(struct service *s, const char *settings)
{
    start_with(s, settings, NULL);
}

/* The exit code; s->line is the last thing it said. */
static int stop(struct service *s)
{
    char line[1024];
    int status;

    d3dkmt_disconnect();
    kill(s->pid, SIGTERM);
    while (fgets(line, sizeof(line), s->out))
        strcpy(s->line, line);
    fclose(s->out);
    assert_int_equal(waitpid(s->pid, &status, 0), s->pid);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

struct app {
    D3DKMT_HANDLE adapter, device, context;
    void *command;
    D3DDDI_ALLOCATIONLIST *list;
    struct abi_builder b;
};

static NTSTATUS app_open(struct app *a)
{
    D3DKMT_OPENADAPTERFROMDEVICENAME open = {.pDeviceName = u"\\\\?\\PCI#VEN_A3A0&DEV_0001#"};
    D3DKMT_CREATEDEVICE d = {0};
    D3DKMT_CREATECONTEXT x = {0};
    NTSTATUS s = D3DKMTOpenAdapterFromDeviceName(&open);

    d.hAdapter = a->adapter = open.hAdapter;
    if (NT_SUCCESS(s))
        s = D3DKMTCreateDevice(&d);
    x.hDevice = a->device = d.hDevice;
    if (NT_SUCCESS(s))
        s = D3DKMTCreateContext(&x);
    a->context = x.hContext;
    a->command = x.pCommandBuffer;
    a->list = x.pAllocationList;
    if (NT_SUCCESS(s))
        abi_builder_init(&a->b);
    return s;
}

static void app_close(struct app *a)
{
    abi_builder_finish(&a->b);
    assert_int_equal(D3DKMTDestroyDevice(&(D3DKMT_DESTROYDEVICE){a->device}), STATUS_SUCCESS);
    assert_int_equal(D3DKMTCloseAdapter(&(D3DKMT_CLOSEADAPTER){a->adapter}), STATUS_SUCCESS);
}

/* Renders what the builder holds and waits. */
static NTSTATUS app_run(struct app *a, D3DKMT_HANDLE written)
{
    D3DKMT_RENDER r = {.hContext = a->context, .AllocationCount = !!written};
    const void *bytes = abi_builder_end(&a->b, &r.CommandLength);
    NTSTATUS s;

    memcpy(a->command, bytes, r.CommandLength);
    a->list[0] = (D3DDDI_ALLOCATIONLIST){.hAllocation = written};
    a->list[0].WriteOperation = 1;
    abi_builder_reset(&a->b);
    s = D3DKMTRender(&r);
    return NT_SUCCESS(s) ? d3dkmt_wait(a->context, d3dkmt_progress(a->context)->queued, D3DKMT_FOREVER) : s;
}

static NTSTATUS inject(struct app *a, enum dxgk_fault fault, uint32_t value)
{
    struct dxgk_injection i = {fault, value};

    return D3DKMTEscape(&(D3DKMT_ESCAPE){.hAdapter = a->adapter,
                                         .Type = (D3DKMT_ESCAPETYPE)DXGK_ESCAPE_INJECT,
                                         .pPrivateDriverData = &i,
                                         .PrivateDriverDataSize = sizeof(i)});
}

static NTSTATUS query_fence(struct app *a, struct aerogpu_escape_query_fence *q)
{
    *q = (struct aerogpu_escape_query_fence){
        .header = {AEROGPU_ESCAPE_VERSION, AEROGPU_ESCAPE_OP_QUERY_FENCE, sizeof(*q), 0}};
    return D3DKMTEscape(&(D3DKMT_ESCAPE){
        .hAdapter = a->adapter, .pPrivateDriverData = q, .PrivateDriverDataSize = sizeof(*q)});
}

TEST(a_program_copies_on_the_device)
{
    struct service s;
    struct app a;
    struct aerogpu_alloc_priv_v2 priv = {.magic = AEROGPU_ALLOC_PRIV_MAGIC,
                                         .version = 2,
                                         .alloc_id = 7,
                                         .flags = AEROGPU_ALLOC_PRIV_FLAG_CPU_VISIBLE,
                                         .size_bytes = 4096,
                                         .kind = AEROGPU_ALLOC_KIND_BUFFER};
    D3DDDI_ALLOCATIONINFO info = {.pPrivateDriverData = &priv, .PrivateDriverDataSize = sizeof(priv)};
    D3DKMT_CREATEALLOCATION c = {.NumAllocations = 1, .pAllocationInfo = &info};
    D3DKMT_LOCK lock = {0};
    struct aerogpu_escape_query_fence q;
    struct stat st;
    uint32_t *words;

    start(&s, "");
    assert_int_equal(stat(s.socket, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0600);
    assert_int_equal(app_open(&a), STATUS_SUCCESS);
    c.hDevice = lock.hDevice = a.device;
    assert_int_equal(D3DKMTCreateAllocation(&c), STATUS_SUCCESS);
    lock.hAllocation = info.hAllocation;
    assert_int_equal(D3DKMTLock(&lock), STATUS_SUCCESS);
    words = lock.pData;
    for (unsigned i = 0; i < 512; i++)
        words[i] = 0x1000 + i;
    assert_int_equal(D3DKMTUnlock(&(D3DKMT_UNLOCK){a.device, 1, &info.hAllocation}), STATUS_SUCCESS);
    ABI_EMIT(&a.b, CREATE_BUFFER, create_buffer, .buffer_handle = 1, .usage_flags = 1, .size_bytes = 2048,
             .backing_alloc_id = 7);
    ABI_EMIT(&a.b, CREATE_BUFFER, create_buffer, .buffer_handle = 2, .usage_flags = 1, .size_bytes = 2048,
             .backing_alloc_id = 7, .backing_offset_bytes = 2048);
    ABI_EMIT(&a.b, RESOURCE_DIRTY_RANGE, resource_dirty_range, .resource_handle = 1, .size_bytes = 2048);
    ABI_EMIT(&a.b, COPY_BUFFER, copy_buffer, .dst_buffer = 2, .src_buffer = 1, .size_bytes = 2048,
             .flags = AEROGPU_COPY_FLAG_WRITEBACK_DST);
    assert_int_equal(app_run(&a, info.hAllocation), STATUS_SUCCESS);
    for (unsigned i = 0; i < 512; i++)
        assert_int_equal(words[512 + i], 0x1000 + i);
    assert_int_equal(query_fence(&a, &q), STATUS_SUCCESS);
    assert_true(q.last_completed_fence && q.last_completed_fence <= q.last_submitted_fence);
    for (int i = 0; i < 3; i++)
        assert_int_equal(
            D3DKMTWaitForVerticalBlankEvent(&(D3DKMT_WAITFORVERTICALBLANKEVENT){a.adapter, a.device, 0}),
            STATUS_SUCCESS);
    assert_int_equal(inject(&a, DXGK_FAULT_KILL_EXECUTOR, 1), STATUS_NOT_SUPPORTED); /* not allowed here */
    app_close(&a);
    assert_int_equal(stop(&s), 0);
    assert_non_null(strstr(s.line, "\"violations\":0"));
}

/* Short work that its client waits for completes on whichever thread finds it first: none may be overlooked. */
static void *waits_for_each(void *arg)
{
    NTSTATUS *status = arg;
    struct app a;

    *status = app_open(&a);
    if (*status != STATUS_SUCCESS)
        return NULL;
    for (int i = 0; i < 300 && *status == STATUS_SUCCESS; i++) {
        ABI_EMIT(&a.b, NOP, nop, 0);
        if (i % 7 == 0) /* something that takes longer now and then */
            ABI_EMIT(&a.b, CREATE_BUFFER, create_buffer, .buffer_handle = (uint32_t)i + 1, .usage_flags = 1,
                     .size_bytes = 65536);
        *status = app_run(&a, 0);
    }
    abi_builder_finish(&a.b);
    return NULL;
}

TEST(what_is_awaited_completes)
{
    struct service s;
    pthread_t t[4];
    NTSTATUS status[4];

    start(&s, "");
    for (int i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&t[i], NULL, waits_for_each, &status[i]), 0);
    for (int i = 0; i < 4; i++) {
        pthread_join(t[i], NULL);
        assert_int_equal(status[i], STATUS_SUCCESS);
    }
    assert_int_equal(stop(&s), 0);
    assert_non_null(strstr(s.line, "\"recoveries\":0"));
    assert_non_null(strstr(s.line, "\"violations\":0"));
}

TEST(an_executor_that_stands_still_is_survived)
{
    struct service s;
    struct app a;
    struct aerogpu_escape_query_fence q;
    D3DKMT_RENDER r = {0};
    const void *bytes;

    start(&s, "[HKLM\\SYSTEM\\CurrentControlSet\\Control\\GraphicsDrivers]\nTdrDelay = "
              "1\nEnableFaultInjection = 1\n");
    assert_int_equal(app_open(&a), STATUS_SUCCESS);
    ABI_EMIT(&a.b, NOP, nop, 0);
    assert_int_equal(app_run(&a, 0), STATUS_SUCCESS);
    assert_int_equal(inject(&a, DXGK_FAULT_STOP_EXECUTOR, 1), STATUS_SUCCESS);
    ABI_EMIT(&a.b, NOP, nop, 0);
    bytes = abi_builder_end(&a.b, &r.CommandLength);
    memcpy(a.command, bytes, r.CommandLength);
    r.hContext = a.context;
    assert_int_equal(D3DKMTRender(&r), STATUS_SUCCESS);
    assert_int_equal(query_fence(&a, &q), STATUS_SUCCESS); /* answers during the hang */
    assert_true(q.last_completed_fence < q.last_submitted_fence);
    assert_int_equal(d3dkmt_wait(a.context, d3dkmt_progress(a.context)->queued, D3DKMT_FOREVER),
                     STATUS_DEVICE_REMOVED);
    assert_int_equal(D3DKMTRender(&r), STATUS_DEVICE_REMOVED);
    app_close(&a);
    assert_int_equal(app_open(&a), STATUS_SUCCESS);
    ABI_EMIT(&a.b, NOP, nop, 0);
    assert_int_equal(app_run(&a, 0), STATUS_SUCCESS);
    assert_int_equal(inject(&a, DXGK_FAULT_LOSE_INTERRUPT, 1), STATUS_SUCCESS);
    ABI_EMIT(&a.b, NOP, nop, 0);
    assert_int_equal(app_run(&a, 0), STATUS_SUCCESS); /* found by asking, not by a reset */
    assert_int_equal(inject(&a, DXGK_FAULT_LOSE_DOORBELL, 1), STATUS_SUCCESS);
    ABI_EMIT(&a.b, NOP, nop, 0);
    if (app_run(&a, 0) !=
        STATUS_SUCCESS) { /* a driver that does not ring again loses the device, and no more */
        app_close(&a);
        assert_int_equal(app_open(&a), STATUS_SUCCESS);
    }
    ABI_EMIT(&a.b, NOP, nop, 0);
    assert_int_equal(app_run(&a, 0), STATUS_SUCCESS);
    app_close(&a);
    assert_int_equal(stop(&s), 0);
}

TEST(a_failed_reset_is_reported_and_answered)
{
    struct service s;
    struct app a, b;
    struct aerogpu_escape_query_fence q;
    NTSTATUS st = STATUS_SUCCESS;

    start(&s, "[HKLM\\SYSTEM\\CurrentControlSet\\Control\\GraphicsDrivers]\nTdrDelay = "
              "1\nEnableFaultInjection = 1\n");
    assert_int_equal(app_open(&a), STATUS_SUCCESS);
    ABI_EMIT(&a.b, NOP, nop, 0); /* the executor has answered the reset that the start was */
    assert_int_equal(app_run(&a, 0), STATUS_SUCCESS);
    assert_int_equal(inject(&a, DXGK_FAULT_FAIL_RESET, 1), STATUS_SUCCESS);
    assert_int_equal(inject(&a, DXGK_FAULT_STOP_EXECUTOR, 1), STATUS_SUCCESS);
    ABI_EMIT(&a.b, NOP, nop, 0);
    assert_int_equal(app_run(&a, 0), STATUS_DEVICE_REMOVED);
    assert_int_equal(query_fence(&a, &q), STATUS_SUCCESS);
    for (int i = 0; i < 6000 && (st = app_open(&b)) == STATUS_SUCCESS; i++) { /* it gives up a moment later */
        app_close(&b);
        usleep(10000);
    }
    assert_int_equal(st, STATUS_DEVICE_REMOVED);
    app_close(&a);
    assert_int_equal(stop(&s), 1);
    assert_non_null(strstr(s.line, "\"failed\":true"));
}

/* The service's children. */
static unsigned executors_of(const struct service *s)
{
    struct dirent *entry;
    DIR *d = opendir("/proc");
    unsigned n = 0;

    assert_non_null(d);
    while ((entry = readdir(d))) {
        char name[32], text[256] = "", *rest;
        int fd, parent;
        snprintf(name, sizeof(name), "/proc/%.16s/stat", entry->d_name);
        fd = open(name, O_RDONLY | O_CLOEXEC);
        if (fd < 0)
            continue;
        rest = read(fd, text, sizeof(text) - 1) > 0 ? strrchr(text, ')') : NULL;
        n += rest && sscanf(rest, ") %*c %d", &parent) == 1 && parent == s->pid;
        close(fd);
    }
    closedir(d);
    return n;
}

/* A process of `user` that has rendered, and keeps its device until it is killed. */
static pid_t client_of(uid_t user)
{
    int fds[2];
    pid_t pid;
    char c;

    assert_int_equal(pipe2(fds, O_CLOEXEC), 0);
    pid = fork();
    if (!pid) {
        struct app a;
        if ((user != geteuid() && setresuid(user, user, user)) || app_open(&a) != STATUS_SUCCESS)
            _exit(1);
        ABI_EMIT(&a.b, NOP, nop, 0);
        if (app_run(&a, 0) != STATUS_SUCCESS || write(fds[1], "", 1) != 1)
            _exit(1);
        pause();
        _exit(0);
    }
    close(fds[1]);
    assert_int_equal(read(fds[0], &c, 1), 1);
    close(fds[0]);
    return pid;
}

/* The service's threads that are let in soon. */
static unsigned prompt_threads(const struct service *s)
{
    struct dirent *entry;
    char path[64];
    unsigned n = 0;
    DIR *d;

    snprintf(path, sizeof(path), "/proc/%d/task", (int)s->pid);
    d = opendir(path);
    assert_non_null(d);
    while ((entry = readdir(d))) {
        pid_t thread = atoi(entry->d_name);
        n += thread > 0 && slice_of(thread) == SLICE_SHORT;
    }
    closedir(d);
    return n;
}

/* Each asks for it as soon as it runs. */
static void expect_prompt_threads(const struct service *s, unsigned n)
{
    for (int i = 0; i < 5000 && prompt_threads(s) != n; i++)
        usleep(1000);
    assert_int_equal(prompt_threads(s), n);
}

/* The device's thread, three of dxgkrnl's, who accepts, and one for each connection. */
TEST(who_serves_is_let_in_soon)
{
    struct service s;
    struct app app;

    if (!slice_of(0))
        skip(); /* Linux before 6.12 */
    start(&s, "");
    expect_prompt_threads(&s, 5);
    assert_int_equal(app_open(&app), STATUS_SUCCESS);
    expect_prompt_threads(&s, 6);
    app_close(&app);
    assert_int_equal(stop(&s), 0);
}

TEST(executors_are_for_whom_the_option_says)
{
    static const struct {
        const char *which;
        unsigned same_user, other_user; /* executors that a client brings */
    } cases[] = {{"client", 1, 1}, {"user", 0, 1}, {"shared", 0, 0}};
    /* The last two differ in the first bit only. */
    const uid_t users[] = {geteuid(), geteuid(), 1, UINT32_C(0x80000001)};
    const unsigned n = geteuid() ? 2 : 4;

    chmod(dir, 0711);
    for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct service s;
        pid_t pids[4];
        unsigned had = 0;

        start_with(&s, "", cases[i].which);
        for (unsigned j = 0; j < n; j++) {
            unsigned brings = j > 1 ? cases[i].other_user : cases[i].same_user;
            pids[j] = client_of(users[j]);
            if (j)
                assert_int_equal(executors_of(&s), had + brings);
            had = executors_of(&s);
        }
        for (unsigned j = 0; j < n; j++) {
            kill(pids[j], SIGKILL);
            waitpid(pids[j], NULL, 0);
        }
        assert_int_equal(stop(&s), 0);
    }
}

/* Fills a pipe that its reader leaves alone. */
static void fill(int fd)
{
    static const char page[4096];

    assert_int_equal(fcntl(fd, F_SETPIPE_SZ, sizeof(page)), sizeof(page));
    assert_int_equal(write(fd, page, sizeof(page)), sizeof(page));
}

/* Nobody reads what the service prints: neither its events, nor what the stack logs when the executor is replaced. */
TEST(a_service_that_nobody_listens_to_goes_on)
{
    char path[32];
    struct service s;
    struct app a;
    int log[2], out, status;
    NTSTATUS st;

    assert_int_equal(pipe2(log, O_CLOEXEC), 0);
    fill(log[1]);
    service_log = log[1];
    setenv("AEROGPU_LOG", "debug", 1);
    start(&s, "[HKLM\\SYSTEM\\CurrentControlSet\\Control\\GraphicsDrivers]\nEnableFaultInjection = 1\n");
    setenv("AEROGPU_LOG", "error", 1);
    service_log = STDERR_FILENO;
    snprintf(path, sizeof(path), "/proc/self/fd/%d", fileno(s.out));
    out = open(path, O_WRONLY | O_CLOEXEC);
    fill(out);
    assert_int_equal(app_open(&a), STATUS_SUCCESS);
    assert_int_equal(inject(&a, DXGK_FAULT_KILL_EXECUTOR, 1), STATUS_SUCCESS);
    ABI_EMIT(&a.b, NOP, nop, 0);
    st = app_run(&a,
                 0); /* lost with the executor, unless that was noticed before: then it is for the next one */
    assert_true(st == STATUS_DEVICE_REMOVED || st == STATUS_SUCCESS);
    app_close(&a);
    assert_int_equal(app_open(&a), STATUS_SUCCESS);
    ABI_EMIT(&a.b, NOP, nop, 0);
    assert_int_equal(app_run(&a, 0), STATUS_SUCCESS);
    app_close(&a);
    d3dkmt_disconnect();
    kill(s.pid, SIGTERM);
    assert_int_equal(waitpid(s.pid, &status, 0), s.pid);
    assert_int_equal(WIFEXITED(status) ? WEXITSTATUS(status) : -1, 0);
    fclose(s.out);
    close(out);
    close(log[0]);
    close(log[1]);
}

static int exit_code(const char *arguments)
{
    char command[512];
    int status;

    snprintf(command, sizeof(command), "%s serve %s >/dev/null 2>&1", aerogpu, arguments);
    status = system(command);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST(bad_command_lines_are_refused)
{
    char text[128];

    assert_int_equal(exit_code("--help"), 0);
    assert_int_equal(exit_code("--mode 888"), 2);
    assert_int_equal(exit_code("--mode 1777"), 2);
    assert_int_equal(exit_code("--group no-such-group"), 2);
    assert_int_equal(exit_code("--ram 1"), 2);
    assert_int_equal(exit_code("--ram 9999999999999999999"), 2);
    assert_int_equal(exit_code("extra"), 2);
    assert_int_equal(exit_code("--settings /dev/null/no"), 3);
    snprintf(text, sizeof(text), "--ram 64 --socket %s/no/such/dir", dir);
    assert_int_equal(exit_code(text), 4);
    assert_int_equal(exit_code("--executor /bin/false/no"), 4);
}

int main(int argc, char **argv)
{
    char command[64];
    int r;

    if (argc < 2 || !mkdtemp(dir))
        return 2;
    aerogpu = argv[1];
    setenv("AEROGPU_LOG", "error", 0);
    r = test_run();
    snprintf(command, sizeof(command), "rm -rf %s", dir);
    return system(command) ? 1 : r;
}
