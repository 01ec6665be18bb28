/* SPDX-License-Identifier: MIT */
/* d3d12_open.c: recordings opened, and what becomes of a crash while one is played (d3d12.h). */
#include "commands.h"

#include <ctype.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "d3d12.h"
#include "d3d12/play/play.h"
#include "d3d12/gen/table.h"

struct trc *d3d12_open(const char *path, int *code)
{
    struct error e = {0};
    struct trc *t;

    if (trc_open(&t, &d12_api, path, &e)) {
        *code = command_error(&e);
        return NULL;
    }
    return t;
}

const char *d3d12_parse_number(const char *text, char last, uint32_t *out)
{
    char *end;
    unsigned long long v;

    errno = 0;
    v = strtoull(text, &end, 10);
    *out = (uint32_t)v;
    return isdigit((unsigned char)*text) && *end == last && !errno && v <= UINT32_MAX ? end + 1 : NULL;
}

int d3d12_parse_pixel(void *ctx, const struct options_row *row, const char *value, struct error *e)
{
    struct play_params *p = ctx;
    const char *y = d3d12_parse_number(value, ',', &p->pixel_x);

    p->pixel = y && d3d12_parse_number(y, 0, &p->pixel_y);
    return p->pixel ? 0
                    : error_set(e, -EINVAL, "--pixel needs X,Y, two numbers from 0 to %u, not '%s'",
                                UINT32_MAX, value);
}

int d3d12_end(const struct trc *t, const char *path, int code, const struct error *e)
{
    struct error all = {0};
    bool failed = e && e->code;

    if (!*trc_cut(t) && failed && e->code == -EBADMSG && !strstr(e->text, path))
        error_set(&all, e->code, "%s: %s", path, e->text);
    else if (!*trc_cut(t))
        return failed ? command_error(e) : code;
    else if (failed && strstr(e->text, trc_cut(t))) /* the damage is what it failed with */
        error_set(&all, -EBADMSG, "%s: %s", path, e->text);
    else
        error_set(&all, -EBADMSG, "%s: %s; %s", path, trc_cut(t),
                  failed ? e->text : "what else there is was read");
    return command_error(&all);
}

static struct {
    const char *what, *path;
    const struct trc *t;
    const struct trc_progress *progress;
    bool died; /* the recorded program */
    pid_t thread;
} guard;

static void on_crash(int sig)
{
    const struct trc_progress *g = guard.progress;
    const struct api_method *m = &d12_methods[g->method];
    struct error damage = {0};
    bool own = gettid() == guard.thread,
         damaged = trc_verify(guard.t, &damage); /* as far as now was read it may be whole */
    const char *cut = damage.text;
    bool as_recorded = (g->incomplete || guard.died) && !damaged;
    char text[900];
    int n =
        snprintf(text, sizeof(text), "aerogpu %s: %s%s%s%scall %llu (block %u): %s::%s: %s%s (signal %d)\n",
                 guard.what, *cut ? guard.path : "", *cut ? ": " : "", cut, *cut ? "; " : "",
                 (unsigned long long)g->index, g->block, m->name ? m->iface : "", m->name ? m->name : "",
                 own ? "making it crashes" : "meanwhile a thread of this machine's Direct3D 12 crashed",
                 g->incomplete ? ", where the recorded program died" : "", sig);

    if (write(2, text, (size_t)n) < 0)
        as_recorded = true; /* there is nothing else to tell it by */
    d3d12_told()->end = as_recorded ? -sig : 1 + EXIT_INPUT;
    if (as_recorded) {
        raise(sig); /* the handler is gone: this ends the process when it returns */
        return;
    }
    _exit(EXIT_INPUT);
}

void (*d3d12_guard_with)(void (*crashed)(int sig));

void d3d12_guard(const char *what, const struct trc *t, const char *path, const struct trc_progress *progress)
{
    static const int signals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
    static char stack[65536]; /* of a stack that has run out */
    const stack_t alt = {.ss_sp = stack, .ss_size = sizeof(stack)};
    struct sigaction a = {.sa_handler = on_crash, .sa_flags = (int)(SA_RESETHAND | SA_ONSTACK)};

    snprintf(d3d12_told()->path, sizeof(d3d12_told()->path), "%s", path);
    guard.what = what;
    guard.path = path;
    guard.t = t;
    guard.progress = progress;
    guard.thread = gettid();
    guard.died =
        trc_features(t) & TRC_DIED; /* unknown of a file that is cut: then it is the recording that is bad */
    if (d3d12_guard_with) {
        d3d12_guard_with(on_crash);
        return;
    }
    sigaltstack(&alt, NULL);
    for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++)
        sigaction(signals[i], &a, NULL);
}
