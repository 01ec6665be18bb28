/* SPDX-License-Identifier: MIT */
/* service.c: a service of the test's own, for what a service does not survive and for settings that it starts with. In this
 * machine it is `aerogpu serve` in a process; a sim's host has another stack. */
#include "suite.h"

#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/program.h"

static bool spawn(struct suite_service *v, const char *program)
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
    pid_t pid = -1;

    if (pipe2(fds, O_CLOEXEC))
        return false;
    posix_spawn_file_actions_init(&fa);
    posix_spawn_file_actions_adddup2(&fa, fds[1], 1);
    v->pid = posix_spawn(&pid, program, &fa, NULL, argv, environ) ? -1 : pid;
    posix_spawn_file_actions_destroy(&fa);
    close(fds[1]);
    v->out = fdopen(fds[0], "r");
    return v->pid > 0 && v->out && fgets(line, sizeof(line), v->out) && strstr(line, "\"ready\"");
}

static bool start(struct suite *s, struct suite_service *v, const char *text)
{
    struct error e = {0};
    char program[PATH_MAX];
    FILE *f;

    if (program_find(&(struct program_params){.what = "the program aerogpu",
                                              .built = "tools/aerogpu/aerogpu",
                                              .installed = "aerogpu",
                                              .place = PROGRAM_BIN},
                     program, sizeof(program), &e)) {
        suite_skip(s, "%s", e.text);
        return false;
    }
    strcpy(v->folder, "/tmp/aerogpu-suite-XXXXXX");
    if (!mkdtemp(v->folder)) {
        v->folder[0] = '\0';
        suite_fail(s, "no folder for a service of our own");
        return false;
    }
    snprintf(v->socket, sizeof(v->socket), "%s/s", v->folder);
    snprintf(v->settings, sizeof(v->settings), "%s/settings", v->folder);
    f = fopen(v->settings, "we");
    if (!f || fputs(text, f) < 0 || fclose(f) || !spawn(v, program)) {
        suite_fail(s, "a service of our own does not start");
        return false;
    }
    d3dkmt_disconnect();
    setenv(D3DKMT_SOCKET_VARIABLE, v->socket, 1); /* for other processes of the test */
    if (d3dkmt_connect(v->socket, &e)) {
        suite_fail(s, "%s", e.text);
        return false;
    }
    return true;
}

bool suite_service_up(struct suite *s, struct suite_service *v, const char *settings, const char *parameters)
{
    D3DKMT_OPENADAPTERFROMHDC open = {0};
    struct error e = {0};
    char text[1000];

    *v = (struct suite_service){.pid = -1, .adapter = s->adapter};
    s->adapter = 0;
    snprintf(text, sizeof(text),
             "[HKLM\\SYSTEM\\CurrentControlSet\\Control\\GraphicsDrivers]\nEnableFaultInjection = 1\n%s\n"
             "[HKLM\\SYSTEM\\CurrentControlSet\\Services\\aerogpu\\Parameters]\n%s\n",
             settings, parameters);
    if (s->host && s->host->service_up) {
        v->host = s->host;
        if (s->host->service_up(s->host->ctx, text, &e))
            suite_fail(s, "a stack of our own does not start: %s", e.text);
    } else {
        start(s, v, text);
    }
    if (!s->failed && !s->skipped) {
        NTSTATUS st = D3DKMTOpenAdapterFromHdc(&open);
        s->adapter = open.hAdapter;
        if (!NT_SUCCESS(st))
            suite_fail(s, "D3DKMTOpenAdapterFromHdc: 0x%08X", (uint32_t)st);
    }
    return !s->failed && !s->skipped;
}

static int end(struct suite_service *v, json_t *events)
{
    char line[1024];
    int status = 0;

    d3dkmt_disconnect();
    if (v->pid > 0) {
        kill(v->pid, SIGTERM);
        while (v->out && fgets(line, sizeof(line), v->out)) {
            json_t *e = json_loads(line, 0, NULL);
            if (json_is_integer(json_object_get(e, "id")))
                json_array_append(events, e);
            json_decref(e);
        }
        waitpid(v->pid, &status, 0);
    }
    if (v->out)
        fclose(v->out);
    if (v->folder[0]) {
        unlink(v->settings);
        unlink(v->socket);
        rmdir(v->folder);
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128;
}

int suite_service_down(struct suite *s, struct suite_service *v, json_t **events)
{
    int code;

    s->adapter = v->adapter; /* live: of a connection that is gone; the report names the adapter by it */
    *events = v->host ? NULL : json_array();
    code = v->host ? v->host->service_down(v->host->ctx, events) : end(v, *events);
    json_array_append_new(s->services, json_pack("{s:i, s:O}", "code", code, "events", *events));
    return code;
}

static bool is(const json_t *e, const char *source, int id)
{
    return json_integer_value(json_object_get(e, "id")) == id &&
           !strcmp(json_string_value(json_object_get(e, "source")), source);
}

unsigned suite_count_events(const json_t *events, const char *source, int id)
{
    const json_t *e;
    unsigned n = 0;
    size_t i;

    json_array_foreach(events, i, e)
        n += is(e, source, id);
    return n;
}

const json_t *suite_trouble(const json_t *events)
{
    const json_t *e, *last = NULL;
    size_t i;

    json_array_foreach(events, i, e)
        if (!is(e, "dxgkrnl", 10) && !is(e, "dxgkrnl", 11))
            last = e;
    return last;
}
