/* A reset that fails ends the adapter with a report, the equivalent of bugcheck 0x116: everything answers device removed,
 * escapes still answer, and the service says so and goes on serving. Runs on a service of its own. */
#include "suite.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static const char settings_text[] = "[HKLM\\SYSTEM\\CurrentControlSet\\Control\\GraphicsDrivers]\n"
                                    "EnableFaultInjection = 1\nTdrDelay = 1\n";

struct service {
    char folder[64], socket[96], settings[96];
    pid_t pid;
    FILE *out;
};

static bool find_program(char *path, size_t size)
{
    static const char *const places[] = {"../tools/aerogpu/aerogpu", "../../../bin/aerogpu"};
    char self[400], *slash;
    ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);

    self[n > 0 ? n : 0] = '\0';
    slash = strrchr(self, '/');
    if (slash)
        *slash = '\0';
    for (int i = 0; i < 2; i++) {
        snprintf(path, size, "%s/%s", self, places[i]);
        if (!access(path, X_OK))
            return true;
    }
    return false;
}

static bool start(struct suite *s, struct service *v, const char *program)
{
    char *argv[] = {(char *)(uintptr_t)program,
                    "serve",
                    "--socket",
                    v->socket,
                    "--settings",
                    v->settings,
                    "--json",
                    "--ram",
                    "256",
                    NULL};
    posix_spawn_file_actions_t fa;
    char line[1024];
    int fds[2];
    FILE *f;

    strcpy(v->folder, "/tmp/aerogpu-reset-XXXXXX");
    if (!mkdtemp(v->folder))
        return false;
    snprintf(v->socket, sizeof(v->socket), "%s/s", v->folder);
    snprintf(v->settings, sizeof(v->settings), "%s/settings", v->folder);
    f = fopen(v->settings, "we");
    if (!f || fputs(settings_text, f) < 0 || fclose(f) || pipe2(fds, O_CLOEXEC))
        return false;
    posix_spawn_file_actions_init(&fa);
    posix_spawn_file_actions_adddup2(&fa, fds[1], 1);
    if (posix_spawn(&v->pid, program, &fa, NULL, argv, environ))
        v->pid = -1;
    posix_spawn_file_actions_destroy(&fa);
    close(fds[1]);
    v->out = fdopen(fds[0], "r");
    if (v->pid < 0 || !v->out || !fgets(line, sizeof(line), v->out) || !strstr(line, "\"ready\"")) {
        suite_fail(s, "a service of our own does not start");
        return false;
    }
    return true;
}

/* Ends the service; its exit code, and whether its log has the bugcheck. */
static int stop(struct service *v, bool *bugcheck)
{
    char line[1024];
    int status = 0;

    *bugcheck = false;
    if (v->pid > 0) {
        kill(v->pid, SIGTERM);
        while (v->out && fgets(line, sizeof(line), v->out))
            *bugcheck |= strstr(line, "\"event\"") && strstr(line, "BugCheck");
        waitpid(v->pid, &status, 0);
    }
    if (v->out)
        fclose(v->out);
    unlink(v->settings);
    unlink(v->socket);
    rmdir(v->folder);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128;
}

static void fail_a_reset(struct suite *s)
{
    D3DKMT_OPENADAPTERFROMHDC open = {0};
    struct aerogpu_escape_query_fence f = {0};
    struct umd_device *d = NULL, *late = NULL;
    uint64_t fence = 0;
    NTSTATUS st;

    CHECK_STATUS(s, D3DKMTOpenAdapterFromHdc(&open), "D3DKMTOpenAdapterFromHdc");
    s->adapter = open.hAdapter;
    if (!suite_fault(s, DXGK_FAULT_FAIL_RESET, 1))
        return;
    CHECK_STATUS(s, umd_open(&d, NULL), "open");
    st = suite_hang(s, d);
    if (NT_SUCCESS(st))
        st = umd_flush(d, &fence);
    if (NT_SUCCESS(st))
        st = umd_wait(d, fence, 15000);
    umd_close(d);
    CHECK_EQ_STATUS(s, st, STATUS_DEVICE_REMOVED, "waiting for work that does not end");
    for (int i = 0; i < 300 && NT_SUCCESS(st = umd_open(&late, NULL)); i++) { /* it gives up a moment later */
        umd_close(late);
        suite_sleep_ms(s, 10);
    }
    CHECK_EQ_STATUS(s, st, STATUS_DEVICE_REMOVED, "opening a device after the failed reset");
    CHECK_EQ_STATUS(s, suite_wait_vblank(s), STATUS_DEVICE_REMOVED,
                    "WaitForVerticalBlankEvent after the failed reset");
    CHECK_STATUS(s, SUITE_ESCAPE(s, QUERY_FENCE, &f), "QUERY_FENCE after the failed reset");
}

void test_reset_failure(struct suite *s)
{
    D3DKMT_HANDLE adapter = s->adapter;
    struct service v = {.pid = -1};
    struct error e = {0};
    char program[512];
    bool bugcheck;
    int code;

    if (s->host && s->host->sim) {
        suite_skip(s, "needs a service of its own; a sim has none");
        return;
    }
    if (!find_program(program, sizeof(program))) {
        suite_skip(s, "the program aerogpu is not beside this one");
        return;
    }
    d3dkmt_disconnect();
    s->adapter = 0;
    if (start(s, &v, program)) {
        if (d3dkmt_connect(v.socket, &e))
            suite_fail(s, "%s", e.text);
        else
            fail_a_reset(s);
        d3dkmt_disconnect();
    }
    code = stop(&v, &bugcheck);
    s->adapter = adapter; /* of a connection that is gone; the report names the adapter by it */
    if (s->failed || s->skipped)
        return;
    CHECK(s, bugcheck, "the service's log has no BugCheck");
    CHECK(s, code == 1, "the service ended with code %d, expected 1", code);
}
