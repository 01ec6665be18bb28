/* SPDX-License-Identifier: MIT */
/* aerogpu serve: the stack as a service for other processes. It does what a booted Windows does for a program: the
 * miniport is started, the desktop is on, and D3DKMT answers on a socket until the service is told to end. */
#include "commands.h"

#include <errno.h>
#include <grp.h>
#include <inttypes.h>
#include <pthread.h>
#include <pwd.h>
#include <signal.h>
#include <stdio.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <jansson.h>

#include "base/file/out.h"
#include "base/file/scratch.h"
#include "base/log.h"
#include "base/rate.h"
#include "base/sched/slice.h"
#include "base/utf8.h"
#include "d3dkmt/server.h"
#include "dxgkrnl/kernel/lastwords.h"
#include "file_kinds.h"
#include "minimize/dumps.h"
#include "report/json_show.h"
#include "stack/stack.h"

enum { EACH_CLIENT, EACH_USER, SHARED }; /* --executors */

struct serve {
    const char *socket, *settings, *event_log, *miniport, *executor, *device;
    unsigned mode;
    uint32_t ram_mib;
    gid_t group;
    bool json;
    unsigned executors; /* EACH_CLIENT, EACH_USER or SHARED */
    uid_t seat;
};

/* Of each kind of event of each user so many at once, then one in so long: strangers make some as often as they like. */
enum { EVENTS_AT_ONCE = 100 };
#define EVENT_EACH_NS (2 * NSEC_PER_SEC)

struct service {
    const struct serve *o;
    FILE *event_log;
    pthread_mutex_t lock;        /* output */
    unsigned unread;             /* events that nobody took from standard output */
    bool full;                   /* an event could not be logged */
    struct rates rates;          /* of events */
    struct watch *_Atomic watch; /* NULL: AEROGPU_DUMPS is not set */
};

static void emit(FILE *f, json_t *line)
{
    if (line)
        json_show(line, f, JSON_COMPACT);
    fputc('\n', f);
    fflush(f);
}

/* The service may not stand still because nobody reads what it prints. */
static bool can_print(void)
{
    return log_can_write(STDOUT_FILENO, 0);
}

/* With the lock. */
static void print_event(struct service *s, const struct dxgk_event *e, json_t *line)
{
    if (!can_print()) {
        s->unread++;
        return;
    }
    if (s->unread && s->o->json) {
        json_t *unread = json_pack("{s:s, s:i}", "type", "unread", "events", (int)s->unread);

        emit(stdout, unread);
        json_decref(unread);
    } else if (s->unread) {
        printf("unread %u events: nobody took them from here\n", s->unread);
    }
    s->unread = 0;
    if (s->o->json)
        emit(stdout, line);
    else
        utf8_print(stdout, "event  %s %u: %s\n", e->source, e->id, e->text);
    fflush(stdout);
}

/* With the lock. Exactly that kind's and user's: else a stranger would choose which other is not told. */
static struct rate *rate_of(struct service *s, const struct dxgk_event *e)
{
    char name[RATE_NAME];

    if (e->has_user)
        snprintf(name, sizeof(name), "%s %u of %u", e->source, e->id, (unsigned)e->user);
    else
        snprintf(name, sizeof(name), "%s %u", e->source, e->id);
    return rates_of(&s->rates, name, e->time_ns);
}

/* With the lock. What does not fit leaves nothing behind, and is said once. */
static void append(struct service *s, json_t *line)
{
    struct stat before;
    bool file = !fstat(fileno(s->event_log), &before) && S_ISREG(before.st_mode);

    errno = 0;
    emit(s->event_log, line);
    if (!ferror(s->event_log)) {
        s->full = false;
        return;
    }
    if (!s->full)
        log_error("serve", "%s: %s: events are lost", s->o->event_log, strerror(errno));
    s->full = true;
    __fpurge(s->event_log);
    clearerr(s->event_log);
    if (file && ftruncate(fileno(s->event_log), before.st_size))
        log_error("serve", "%s ends in a part of a line", s->o->event_log);
}

static void on_event(void *ctx, const struct dxgk_event *e)
{
    struct service *s = ctx;
    struct rate *rate;
    struct watch *watch = s->watch;
    json_t *line = json_pack("{s:s, s:f, s:s, s:i, s:s}", "type", "event", "time", (double)e->time_ns / 1e9,
                             "source", e->source, "id", (int)e->id, "text", e->text);

    if (watch)
        watch_system_event(watch, e->id, e->text);
    pthread_mutex_lock(&s->lock);
    rate = rate_of(s, e);
    if (rate_allows(rate, e->time_ns, EVENT_EACH_NS, EVENTS_AT_ONCE)) {
        if (rate->missed && line)
            json_object_set_new(line, "missed", json_integer((json_int_t)rate->missed));
        rate->missed = 0;
        if (s->event_log)
            append(s, line);
        print_event(s, e, line);
    }
    pthread_mutex_unlock(&s->lock);
    json_decref(line);
}

static const char *default_socket(char *buffer, size_t size)
{
    const char *named = getenv("XDG_RUNTIME_DIR"), *dir = scratch_runtime_dir();

    if (dir) {
        snprintf(buffer, size, "%s/aerogpu.sock", dir);
        return buffer;
    }
    if (named && *named && !access(named, F_OK))
        utf8_print(stderr, "aerogpu serve: XDG_RUNTIME_DIR is not used: %s is another user's, or no folder\n",
                   named);
    snprintf(buffer, size, D3DKMT_SOCKET_OF_USER, (unsigned)geteuid());
    return buffer;
}

static int set_mode(void *ctx, const struct options_row *row, const char *value, struct error *e)
{
    char *end;
    unsigned long v = strtoul(value, &end, 8);

    if (*value < '0' || *value > '7' || *end || v > 0777)
        return error_set(e, -EINVAL, "--mode: '%s' is no octal mode, at most 777", value);
    *(unsigned *)ctx = (unsigned)v;
    return 0;
}

static int set_group(void *ctx, const struct options_row *row, const char *value, struct error *e)
{
    const struct group *g = getgrnam(value);
    uint64_t id;

    if (!g && options_number("--group", value, 0, UINT32_MAX - 1, &id, NULL))
        return error_set(e, -EINVAL, "--group: '%s' names no group", value);
    *(gid_t *)ctx = g ? g->gr_gid : (gid_t)id;
    return 0;
}

static int set_seat(void *ctx, const struct options_row *row, const char *value, struct error *e)
{
    const struct passwd *p = getpwnam(value);
    uint64_t id;

    if (!p && options_number("--seat", value, 0, UINT32_MAX - 2, &id, NULL))
        return error_set(e, -EINVAL, "--seat: '%s' names no user", value);
    *(uid_t *)ctx = p ? p->pw_uid : (uid_t)id;
    return 0;
}

static int parse(int argc, char **argv, struct serve *o)
{
    struct options_row rows[] = {
        OPT_TEXT(
            "socket", 's', &o->socket, "PATH",
            "the socket; else $XDG_RUNTIME_DIR/aerogpu.sock, and /tmp/aerogpu-UID.sock where there is no such folder of the service's own user. A socket that nobody listens on is replaced; anything else at PATH is an error"),
        OPT_CALL("mode", 'm', set_mode, &o->mode, "OCTAL",
                 "who may connect: the socket's mode; 0600, the service's own user and root"),
        OPT_CALL("group", 'g', set_group, &o->group, "GROUP",
                 "the socket's group, by name or number; useful with mode 0660"),
        OPT_CALL(
            "seat", 0, set_seat, &o->seat, "USER",
            "the display is this user's as well, by name or number: who is neither this nor root nor the service's own sets no mode, and what he presents is seen on the desktop alone, under no program that has the screen for itself"),
        OPT_TEXT("settings", 'S', &o->settings, "FILE",
                 "what the registry holds: TdrDelay and so on; `man aerogpu-serve` lists them"),
        OPT_TEXT(
            "event-log", 'e', &o->event_log, "FILE",
            "append each event as a line of JSON: time, source, id, text, and how many of its kind and user were too many to be written since the one before: missed"),
        OPT_TEXT(
            "miniport", 'M', &o->miniport, "FILE",
            "a miniport in place of AeroGPU's own: an x64 driver as Windows 7 would load it (.sys), or a shared object"),
        OPT_U32("ram", 'r', &o->ram_mib, 64, 3072, "MIB",
                "guest memory, 64 to 3072; 1024. Pages are used once touched"),
        OPT_CHOICE(
            "executors", 0, &o->executors, "client|user|shared",
            "an executor process for each client, for each user, or one that all share; client. What crashes in one is lost to those who have it"),
        OPT_TEXT("executor", 'x', &o->executor, "FILE", "the executor program"),
        OPT_TEXT("device", 'd', &o->device, "NAME", "Vulkan device of the executor"),
        OPT_FLAG(
            "json", 'j', &o->json,
            "say what happens in lines of JSON on standard output: one of type \"ready\", one of type \"event\" for each event, one of type \"end\""),
        OPT_END};

    options_once(rows);
    return command_line(
        &(struct options){
            .rows = rows,
            .about =
                "Brings the stack up as a booted Windows would have it for a program: the device, its executor in a process of its own, dxgkrnl, the miniport, and the preferred mode on the screen. Then it answers the D3DKMT calls of other processes until SIGINT or SIGTERM. A program finds the service by `AEROGPU_SOCKET`=PATH in its environment.\n\n"
                "The owner and mode of the socket decide who may connect. A client is a process with all its threads; when it goes away, even under a call, everything that it owned goes with it. Escapes that ask for an administrator are open to uid 0 and the service's own uid.\n\n"
                "A device that hangs is reset, as TdrDelay and its relatives say; the clients see their devices removed and can make new ones. When a reset fails, or there are too many, the service says so (event BugCheck 0x116) and goes on: calls answer that the device is removed, escapes still reach the miniport, so that a debugger can look.",
            .exits =
                {"it was told to end",
                 "the miniport broke a rule (each is printed with its call stack) or ended the process that it runs in, or the display driver could not be recovered",
                 [EXIT_INPUT] = "the settings file or the miniport is bad",
                 [EXIT_ENV] = "the stack could not be started, or the socket not be opened"},
            .examples =
                "aerogpu serve --socket /tmp/gpu.sock & AEROGPU_SOCKET=/tmp/gpu.sock aerogpu_dbgctl --status\n",
            .see = "aerogpu_dbgctl(1), aerogpu-validate(1), docs/dxgkrnl.md"},
        argc, argv);
}

static void announce(const struct serve *o, struct stack *stack)
{
    char device[256];
    bool cpu;
    json_t *line;

    machine_device_name(stack_machine(stack), device, &cpu);
    if (!o->json) {
        utf8_print(stdout, "ready  %s (%s); AEROGPU_SOCKET=%s\n", o->socket, device, o->socket);
        fflush(stdout);
        return;
    }
    line = json_pack("{s:s, s:s, s:s, s:i}", "type", "ready", "socket", o->socket, "device", device,
                     "executor_pid", machine_executor_pid(stack_machine(stack)));
    emit(stdout, line);
    json_decref(line);
}

/* Reports what the run was, and whether it went by the rules. */
static int report(const struct serve *o, struct dxgk *d, const struct d3dkmt_server_stats *st, bool failed)
{
    unsigned violations = dxgk_violations(d), tdrs = dxgk_event_count(d, 4101);
    json_t *line;

    for (unsigned i = 0; i < violations && dxgk_violation(d, i) && log_can_write(STDERR_FILENO, 0); i++)
        utf8_print(stderr, "aerogpu serve: the miniport broke a rule: %s\n", dxgk_violation(d, i));
    if (can_print() && o->json) {
        line = json_pack("{s:s, s:I, s:I, s:I, s:i, s:i, s:b}", "type", "end", "clients",
                         (json_int_t)st->clients, "calls", (json_int_t)st->calls, "refused",
                         (json_int_t)st->refused, "recoveries", (int)tdrs, "violations", (int)violations,
                         "failed", failed);
        emit(stdout, line);
        json_decref(line);
    } else if (can_print()) {
        printf("end    %" PRIu64 " clients, %" PRIu64 " calls, %" PRIu64
               " refused, %u recoveries, %u violations%s\n",
               st->clients, st->calls, st->refused, tdrs, violations,
               failed ? ", the display driver failed" : "");
    }
    return violations || failed ? EXIT_FAILED : EXIT_OK;
}

static int run(struct service *s, const struct settings *settings, const sigset_t *signals)
{
    const struct serve *o = s->o;
    struct error e = {0};
    struct d3dkmt_server *server = NULL;
    struct d3dkmt_server_stats st = {0};
    struct watch *watch = NULL;
    struct stack *stack;
    bool failed;
    int r = EXIT_ENV, sig;

    if (stack_create(&stack,
                     &(struct stack_params){.machine = {.kind = MACHINE_LIVE,
                                                        .ram_size = (uint64_t)o->ram_mib << 20,
                                                        .executor = o->executor,
                                                        .device = o->device,
                                                        .one_executor = o->executors == SHARED},
                                            .settings = settings,
                                            .miniport = o->miniport,
                                            .on_event = on_event,
                                            .event_ctx = s},
                     &e))
        return command_stack_error(&e);
    if (machine_wait_ready(stack_machine(stack), 60000, &e) ||
        dumps_begin(&watch,
                    &(struct dumps_params){.machine = stack_machine(stack),
                                           .program = "serve",
                                           .all_errors = true,
                                           .max = 32,
                                           .settings = settings},
                    &e) ||
        !NT_SUCCESS(stack_start(stack, &e)) ||
        d3dkmt_serve(&server,
                     &(struct d3dkmt_serve_params){stack_dxgk(stack), o->socket, o->mode, o->group,
                                                   o->executors == EACH_USER, o->seat},
                     &e)) {
        r = command_stack_error(&e);
        goto out;
    }
    s->watch = watch;
    announce(o, stack);
    while (!sigwait(signals, &sig) && sig == SIGUSR1)
        if (watch)
            dumps_request(watch, "serve");
    d3dkmt_serve_stats(server, &st);
    d3dkmt_serve_end(server);
    failed = dxgk_state(stack_dxgk(stack)) == DXGK_FAILED;
    dxgk_unload(stack_dxgk(stack)); /* what the miniport leaves behind is a violation too */
    r = report(o, stack_dxgk(stack), &st, failed);
out:
    s->watch = NULL;
    watch_destroy(watch);
    stack_destroy(stack);
    return r;
}

static void nothing(int sig)
{
}

/* The process that served has ended without a word of its own. */
static int judge_end(const struct serve *o, const struct lastwords_end *end)
{
    json_t *line;

    if (end->verdict)
        return end->code;
    utf8_print(stderr, "aerogpu serve: %s\n", end->text);
    if (can_print() && o->json) {
        line = json_pack("{s:s, s:b, s:s}", "type", "end", "failed", true, "text", end->text);
        emit(stdout, line);
        json_decref(line);
    } else if (can_print()) {
        utf8_print(stdout, "end    the display driver failed: %s\n", end->text);
    }
    return dxgk_lastwords_same_end(end, EXIT_FAILED);
}

int cmd_serve(int argc, char **argv)
{
    char socket[200];
    struct serve o = {.mode = 0600, .ram_mib = 1024, .group = (gid_t)-1};
    struct service s = {.o = &o, .lock = PTHREAD_MUTEX_INITIALIZER};
    struct settings settings = {0};
    struct error e = {0};
    struct sigaction on_request = {.sa_handler = nothing}; /* seen from outside: a request does not end us */
    struct lastwords_end end;
    sigset_t signals;
    int r = parse(argc, argv, &o);

    if (r)
        return r < 0 ? EXIT_OK : r;
    if (!o.socket)
        o.socket = default_socket(socket, sizeof(socket));
    if (o.settings && dxgk_settings_read(&settings, o.settings, &e)) {
        utf8_print(stderr, "aerogpu serve: %s\n", e.text);
        return EXIT_INPUT;
    }
    if (o.miniport && file_kind_needed(o.miniport, FILE_PROGRAM, &e)) {
        dxgk_settings_finish(&settings);
        return command_fail(EXIT_INPUT, &e);
    }
    signal(SIGPIPE, SIG_IGN); /* whoever reads what we print may end before we do */
    if ((o.miniport || getenv(STACK_MINIPORT_VARIABLE)) && dxgk_lastwords_watch(true, &end)) {
        dxgk_settings_finish(&settings);
        return judge_end(&o, &end);
    }
    if (o.event_log && !(s.event_log = out_file_append(o.event_log, &e))) {
        utf8_print(stderr, "aerogpu serve: %s\n", e.text);
        dxgk_settings_finish(&settings);
        dxgk_lastwords_verdict();
        return EXIT_ENV;
    }
    log_limit();
    share_raise();
    sigemptyset(&signals);
    sigaddset(&signals, SIGINT);
    sigaddset(&signals, SIGTERM);
    sigaddset(&signals, SIGUSR1); /* a dump is asked for */
    sigaction(SIGUSR1, &on_request, NULL);
    signal(SIGXFSZ, SIG_IGN);                   /* a file that may not grow is said as a full disk is */
    pthread_sigmask(SIG_BLOCK, &signals, NULL); /* before there are threads */
    r = run(&s, &settings, &signals);
    dxgk_lastwords_verdict();
    if (s.event_log)
        fclose(s.event_log);
    dxgk_settings_finish(&settings);
    return r;
}
