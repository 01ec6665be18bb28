/* aerogpu serve: the stack as a service for other processes. It does what a booted Windows does for a program: the
 * miniport is started, the desktop is on, and D3DKMT answers on a socket until the service is told to end. */
#include "commands.h"

#include <errno.h>
#include <getopt.h>
#include <grp.h>
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <jansson.h>

#include "base/log.h"
#include "d3dkmt/server.h"
#include "minimize/dumps.h"
#include "stack/stack.h"

static const char help[] =
    "usage: aerogpu serve [OPTIONS]\n\n"
    "Starts the device, its executor, dxgkrnl and the miniport, and answers the D3DKMT calls of other "
    "processes on a "
    "socket\n"
    "until SIGINT or SIGTERM. Programs find it by AEROGPU_SOCKET=PATH in their environment.\n\n"
    "  -s, --socket PATH     the socket; default $XDG_RUNTIME_DIR/aerogpu.sock, else /tmp/aerogpu-UID.sock\n"
    "  -m, --mode OCTAL      who may connect: the socket's mode; default 0600\n"
    "  -g, --group GROUP     the socket's group\n"
    "  -S, --settings FILE   what the registry holds: TdrDelay and so on; `man aerogpu-serve` lists them\n"
    "  -e, --event-log FILE  the event log, a line of JSON for each event, appended\n"
    "  -M, --miniport FILE   a miniport (shared object) in place of AeroGPU's own\n"
    "  -r, --ram MIB         guest memory; default 1024\n"
    "  -x, --executor FILE   the executor program\n"
    "  -d, --device NAME     Vulkan device of the executor\n"
    "  -j, --json            say what happens in lines of JSON on standard output\n"
    "  --help                this text\n\n"
    "Exit codes: 0; 1 when the miniport broke a rule or the display driver could not be recovered; 2 wrong "
    "usage; 3 a "
    "bad\n"
    "settings file; 4 the stack could not be started or the socket not be opened.\n";

struct options {
    const char *socket, *settings, *event_log, *miniport, *executor, *device;
    unsigned mode, ram_mib;
    gid_t group;
    bool json;
};

struct service {
    const struct options *o;
    FILE *event_log;
    pthread_mutex_t lock;        /* output */
    unsigned unread;             /* events that nobody took from standard output */
    struct watch *_Atomic watch; /* NULL: AEROGPU_DUMPS is not set */
};

static void emit(FILE *f, json_t *line)
{
    if (line)
        json_dumpf(line, f, JSON_COMPACT);
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
    if (s->unread && s->o->json)
        printf("{\"type\":\"unread\",\"events\":%u}\n", s->unread);
    else if (s->unread)
        printf("unread %u events: nobody took them from here\n", s->unread);
    s->unread = 0;
    if (s->o->json)
        emit(stdout, line);
    else
        printf("event  %s %u: %s\n", e->source, e->id, e->text);
    fflush(stdout);
}

static void on_event(void *ctx, const struct dxgk_event *e)
{
    struct service *s = ctx;
    struct watch *watch = s->watch;
    json_t *line = json_pack("{s:s, s:f, s:s, s:i, s:s}", "type", "event", "time", (double)e->time_ns / 1e9,
                             "source", e->source, "id", (int)e->id, "text", e->text);

    if (watch)
        watch_system_event(watch, e->id, e->text);
    pthread_mutex_lock(&s->lock);
    if (s->event_log)
        emit(s->event_log, line);
    print_event(s, e, line);
    pthread_mutex_unlock(&s->lock);
    json_decref(line);
}

static const char *default_socket(char *buffer, size_t size)
{
    const char *dir = getenv("XDG_RUNTIME_DIR");

    if (dir && *dir)
        snprintf(buffer, size, "%s/aerogpu.sock", dir);
    else
        snprintf(buffer, size, "/tmp/aerogpu-%u.sock", (unsigned)geteuid());
    return buffer;
}

static bool parse_number(const char *text, int base, unsigned max, unsigned *out)
{
    char *end;
    unsigned long v;

    errno = 0;
    v = strtoul(text, &end, base);
    *out = (unsigned)v;
    return *text && *text != '-' && !*end && !errno && v <= max;
}

static bool parse_group(const char *text, gid_t *out)
{
    const struct group *g = getgrnam(text);
    unsigned id;

    if (g) {
        *out = g->gr_gid;
        return true;
    }
    *out = parse_number(text, 10, UINT32_MAX - 1, &id) ? id : (gid_t)-1;
    return *out != (gid_t)-1;
}

static int parse(int argc, char **argv, struct options *o)
{
    static const struct option options[] = {{"socket", required_argument, NULL, 's'},
                                            {"mode", required_argument, NULL, 'm'},
                                            {"group", required_argument, NULL, 'g'},
                                            {"settings", required_argument, NULL, 'S'},
                                            {"event-log", required_argument, NULL, 'e'},
                                            {"miniport", required_argument, NULL, 'M'},
                                            {"ram", required_argument, NULL, 'r'},
                                            {"executor", required_argument, NULL, 'x'},
                                            {"device", required_argument, NULL, 'd'},
                                            {"json", no_argument, NULL, 'j'},
                                            {"help", no_argument, NULL, 'h'},
                                            {0}};
    const char *bad = NULL;
    int c;

    while (!bad && (c = getopt_long(argc, argv, "s:m:g:S:e:M:r:x:d:jh", options, NULL)) != -1) {
        switch (c) {
        case 's':
            o->socket = optarg;
            break;
        case 'm':
            bad = parse_number(optarg, 8, 0777, &o->mode) ? NULL : "--mode wants an octal mode, at most 777";
            break;
        case 'g':
            bad = parse_group(optarg, &o->group) ? NULL : "--group names no group";
            break;
        case 'S':
            o->settings = optarg;
            break;
        case 'e':
            o->event_log = optarg;
            break;
        case 'M':
            o->miniport = optarg;
            break;
        case 'r':
            bad = parse_number(optarg, 10, 3072, &o->ram_mib) && o->ram_mib >= 64
                      ? NULL
                      : "--ram wants 64 to 3072 MiB";
            break;
        case 'x':
            o->executor = optarg;
            break;
        case 'd':
            o->device = optarg;
            break;
        case 'j':
            o->json = true;
            break;
        case 'h':
            fputs(help, stdout);
            return -1;
        default:
            return usage_error(NULL);
        }
    }
    if (!bad && optind < argc)
        bad = "it takes no further arguments";
    return bad ? usage_error("%s", bad) : EXIT_OK;
}

static void announce(const struct options *o, struct stack *stack)
{
    char device[256];
    bool cpu;
    json_t *line;

    machine_device_name(stack_machine(stack), device, &cpu);
    if (!o->json) {
        printf("ready  %s (%s); AEROGPU_SOCKET=%s\n", o->socket, device, o->socket);
        fflush(stdout);
        return;
    }
    line = json_pack("{s:s, s:s, s:s, s:i}", "type", "ready", "socket", o->socket, "device", device,
                     "executor_pid", machine_executor_pid(stack_machine(stack)));
    emit(stdout, line);
    json_decref(line);
}

/* Reports what the run was, and whether it went by the rules. */
static int report(const struct options *o, struct dxgk *d, const struct d3dkmt_server_stats *st, bool failed)
{
    unsigned violations = dxgk_violations(d), tdrs = dxgk_event_count(d, 4101);
    json_t *line;

    for (unsigned i = 0; i < violations && dxgk_violation(d, i) && log_can_write(STDERR_FILENO, 0); i++)
        fprintf(stderr, "aerogpu serve: the miniport broke a rule: %s\n", dxgk_violation(d, i));
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
    const struct options *o = s->o;
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
                                                        .device = o->device},
                                            .settings = settings,
                                            .miniport = o->miniport,
                                            .on_event = on_event,
                                            .event_ctx = s},
                     &e)) {
        fprintf(stderr, "aerogpu serve: %s\n", e.text);
        return EXIT_ENV;
    }
    if (machine_wait_ready(stack_machine(stack), 60000, &e) ||
        dumps_begin(&watch,
                    &(struct dumps_params){.machine = stack_machine(stack),
                                           .program = "serve",
                                           .all_errors = true,
                                           .max = 32,
                                           .settings = settings},
                    &e) ||
        !NT_SUCCESS(stack_start(stack, &e)) ||
        d3dkmt_serve(&server, stack_dxgk(stack), o->socket, o->mode, o->group, &e)) {
        fprintf(stderr, "aerogpu serve: %s\n", e.text);
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

int cmd_serve(int argc, char **argv)
{
    char socket[200];
    struct options o = {.mode = 0600, .ram_mib = 1024, .group = (gid_t)-1};
    struct service s = {.o = &o, .lock = PTHREAD_MUTEX_INITIALIZER};
    struct settings settings = {0};
    struct error e = {0};
    struct sigaction on_request = {.sa_handler = nothing}; /* seen from outside: a request does not end us */
    sigset_t signals;
    int r = parse(argc, argv, &o);

    if (r)
        return r < 0 ? EXIT_OK : r;
    if (!o.socket)
        o.socket = default_socket(socket, sizeof(socket));
    if (o.settings && settings_read(&settings, o.settings, &e)) {
        fprintf(stderr, "aerogpu serve: %s: %s\n", o.settings, e.text);
        return EXIT_INPUT;
    }
    if (o.event_log && !(s.event_log = fopen(o.event_log, "a"))) {
        fprintf(stderr, "aerogpu serve: %s: %s\n", o.event_log, strerror(errno));
        settings_finish(&settings);
        return EXIT_ENV;
    }
    sigemptyset(&signals);
    sigaddset(&signals, SIGINT);
    sigaddset(&signals, SIGTERM);
    sigaddset(&signals, SIGUSR1); /* a dump is asked for */
    sigaction(SIGUSR1, &on_request, NULL);
    signal(SIGPIPE, SIG_IGN);                   /* whoever reads what we print may end before we do */
    pthread_sigmask(SIG_BLOCK, &signals, NULL); /* before there are threads */
    r = run(&s, &settings, &signals);
    if (s.event_log)
        fclose(s.event_log);
    settings_finish(&settings);
    return r;
}
