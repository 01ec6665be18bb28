/* SPDX-License-Identifier: MIT */
#include "validate_sim.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "dxgkrnl/kernel.h"
#include "dxgkrnl/kernel/lastwords.h"

struct line {
    struct line *next;
    char text[400];
};

struct queue {
    struct line *first, **last;
};

struct sim_peer {
    struct sim_suite *suite;
    struct sim_peer *next;
    int number, code;
    char test[64], role[64];
    struct dxgk_client *client;
    struct d3dkmt_transport transport;
    struct kthread *thread;
    struct kwaiters wake;
    struct queue in, out; /* to it, from it */
    bool input_closed, killed, done;
};

static struct kernel *kernel_of(const struct sim_suite *s)
{
    return dxgk_kernel(stack_dxgk(s->top->stack));
}

/* The peer that runs now, or NULL: the test itself. */
static struct sim_peer *running(const struct sim_suite *s)
{
    struct kthread *t = dxgk_kernel_thread(kernel_of(s));
    struct sim_peer *p = s->peers;

    while (p && (!t || p->thread != t || p->done))
        p = p->next;
    return p;
}

static struct sim_peer *find(const struct sim_suite *s, int number)
{
    struct sim_peer *p = s->peers;

    while (p && p->number != number)
        p = p->next;
    return p;
}

/* ---- calls --------------------------------------------------------------- */

static const struct d3dkmt_transport *transport_of(const struct sim_suite *s)
{
    struct sim_peer *p = running(s);

    return p ? &p->transport : &s->top->transport;
}

static NTSTATUS call(void *ctx, enum d3dkmt_thunk thunk, void *arg)
{
    const struct d3dkmt_transport *t = transport_of(ctx);

    return t->call(t->ctx, thunk, arg);
}

static const struct dxgk_progress *progress(void *ctx, D3DKMT_HANDLE context)
{
    const struct d3dkmt_transport *t = transport_of(ctx);

    return t->progress(t->ctx, context);
}

static NTSTATUS wait_for(void *ctx, D3DKMT_HANDLE context, uint64_t value, uint64_t timeout_ns)
{
    const struct d3dkmt_transport *t = transport_of(ctx);

    return t->wait(t->ctx, context, value, timeout_ns);
}

/* ---- time ---------------------------------------------------------------- */

static uint64_t now(void *ctx)
{
    return clock_now(stack_clock(((struct sim_suite *)ctx)->top->stack));
}

static void sleep_ns(void *ctx, uint64_t ns)
{
    struct sim_suite *s = ctx;
    struct kwaiters nobody = {0};

    if (running(s))
        dxgk_kernel_wait(kernel_of(s), &nobody, now(s) + ns);
    else
        stack_sleep(s->top->stack, ns);
}

/* ---- lines --------------------------------------------------------------- */

static void put(struct queue *q, const char *text)
{
    struct line *l = calloc(1, sizeof(*l));

    if (!l)
        return; /* whoever listens finds that nothing was said */
    snprintf(l->text, sizeof(l->text), "%s", text);
    if (!q->first)
        q->last = &q->first;
    *q->last = l;
    q->last = &l->next;
}

static bool take(struct queue *q, char *text, size_t size)
{
    struct line *l = q->first;

    if (!l)
        return false;
    snprintf(text, size, "%s", l->text);
    q->first = l->next;
    free(l);
    return true;
}

static void peer_say(void *ctx, int number, const char *text)
{
    struct sim_suite *s = ctx;
    struct sim_peer *p = number ? find(s, number) : running(s);

    if (!p)
        return;
    put(number ? &p->in : &p->out, text);
    dxgk_kernel_wake_all(kernel_of(s), &p->wake);
}

static bool something_from(void *ctx)
{
    const struct sim_peer *p = ctx;

    return p->out.first || p->done;
}

static bool peer_hear(void *ctx, int number, char *text, size_t size, int timeout_ms)
{
    struct sim_suite *s = ctx;
    struct sim_peer *p = number ? find(s, number) : running(s);
    uint64_t end = now(s) + (uint64_t)timeout_ms * NSEC_PER_MSEC;

    if (!p)
        return false;
    if (number) {
        machine_wait(stack_machine(s->top->stack), something_from, p, end - now(s));
        return take(&p->out, text, size);
    }
    while (!p->in.first && !p->input_closed && !p->killed && now(s) < end)
        dxgk_kernel_wait(kernel_of(s), &p->wake, end);
    return take(&p->in, text, size);
}

/* ---- peers --------------------------------------------------------------- */

static void peer_main(void *arg)
{
    struct sim_peer *p = arg;
    struct sim_suite *s = p->suite;
    char role[80];
    char *argv[] = {p->test, role, NULL};

    p->thread = dxgk_kernel_thread(kernel_of(s));
    snprintf(role, sizeof(role), "--role=%s", p->role);
    p->code = suite_run_report(p->test, suite_find(p->test), &s->host, 2, argv, NULL);
    if (p->killed)
        p->code = -1;
    dxgk_client_close(p->client);
    p->client = NULL;
    p->done = true;
}

static int peer_start(void *ctx, const char *test, const char *role)
{
    struct sim_suite *s = ctx;
    struct sim_peer *p = calloc(1, sizeof(*p));

    if (!p)
        return 0;
    *p = (struct sim_peer){.suite = s, .number = ++s->last_peer, .next = s->peers};
    snprintf(p->test, sizeof(p->test), "%s", test);
    snprintf(p->role, sizeof(p->role), "%s", role);
    if (dxgk_client_open(stack_dxgk(s->top->stack), &p->client, 1000 + (uint64_t)p->number, true)) {
        free(p);
        return 0;
    }
    d3dkmt_local(&p->transport, p->client);
    s->peers = p;
    if (dxgk_kernel_spawn(kernel_of(s), "peer", peer_main, p)) {
        s->peers = p->next;
        dxgk_client_close(p->client);
        free(p);
        return 0;
    }
    return p->number;
}

static bool is_done(void *ctx)
{
    return ((struct sim_peer *)ctx)->done;
}

static void kill_peer(struct sim_peer *p)
{
    if (p->done)
        return;
    p->killed = true;
    dxgk_client_cancel(p->client);
    dxgk_kernel_wake_all(kernel_of(p->suite), &p->wake);
}

static bool await_end(struct sim_peer *p, uint64_t ns)
{
    return !machine_wait(stack_machine(p->suite->top->stack), is_done, p, ns);
}

static int peer_end(void *ctx, int number, int timeout_ms, bool killed)
{
    struct sim_suite *s = ctx;
    struct sim_peer *p = find(s, number);

    if (!p)
        return -1;
    p->input_closed = true;
    dxgk_kernel_wake_all(kernel_of(s), &p->wake);
    if (killed || !await_end(p, (uint64_t)timeout_ms * NSEC_PER_MSEC))
        kill_peer(p);
    await_end(p, 60 * NSEC_PER_SEC);
    return p->done ? p->code : -1;
}

/* ---- limits -------------------------------------------------------------- */

static void on_limit(void *ctx)
{
    const struct sim_suite *s = ctx;

    dxgk_lastwords_end("%s has not ended after %llu s of virtual time", s->what,
                       (unsigned long long)(s->limit_ns / NSEC_PER_SEC));
}

/* Of the stack on top; each has a clock of its own. */
static void set_limit(struct sim_suite *s)
{
    struct kernel *k = kernel_of(s);

    dxgk_kernel_patience(k, dxgk_kernel_now(k) + s->limit_ns, on_limit, s);
}

void sim_suite_limit(struct sim_suite *s, const char *what, uint64_t ns)
{
    s->what = what;
    s->limit_ns = ns;
    set_limit(s);
}

/* ---- services ------------------------------------------------------------ */

/* D3DKMT and the user-mode driver's time belong to the stack on top. */
static void lead_to(struct sim_suite *s)
{
    d3dkmt_use(&s->transport);
    umd_use_clock(s->top->stack ? stack_clock(s->top->stack) : NULL);
}

static int service_up(void *ctx, const char *settings, struct error *e)
{
    struct sim_suite *s = ctx;
    struct validate_host *h = calloc(1, sizeof(*h));
    struct validate_options o = *s->options;
    int r;

    if (!h)
        return error_set(e, -ENOMEM, "no memory for a stack");
    s->outer = s->top;
    s->top = h;
    o.settings = NULL; /* as it is live: what the file says is for the service that is validated */
    r = validate_host_up_with(h, &o, settings, e);
    lead_to(s);
    if (h->stack)
        set_limit(s);
    return r;
}

static int service_down(void *ctx, json_t **events)
{
    struct sim_suite *s = ctx;
    struct validate_host *h = s->top;
    bool failed = false;
    int code = 0;

    sim_suite_settle(s);
    if (h->stack)
        failed = dxgk_state(stack_dxgk(h->stack)) == DXGK_FAILED;
    validate_host_unload(h); /* what a miniport does wrong there counts, too */
    lead_to(s);
    *events = validate_host_events(h);
    if (h->stack)
        code = dxgk_violations(stack_dxgk(h->stack)) || failed; /* as `aerogpu serve` ends */
    validate_host_down(h);
    free(h);
    s->top = s->outer;
    s->outer = NULL;
    lead_to(s);
    return code;
}

/* ---- life cycle ---------------------------------------------------------- */

void sim_suite_init(struct sim_suite *s, struct validate_host *h, const struct validate_options *o)
{
    *s = (struct sim_suite){.options = o, .top = h, .transport = {call, progress, wait_for, s}};
    s->host = (struct suite_host){.now = now,
                                  .sleep = sleep_ns,
                                  .ctx = s,
                                  .sim = true,
                                  .peer_start = peer_start,
                                  .peer_say = peer_say,
                                  .peer_hear = peer_hear,
                                  .peer_end = peer_end,
                                  .service_up = service_up,
                                  .service_down = service_down};
    lead_to(s);
}

bool sim_suite_settle(struct sim_suite *s)
{
    bool all = true;

    for (struct sim_peer *p = s->peers; p; p = p->next) {
        p->input_closed = true;
        kill_peer(p);
        all &= await_end(p, 60 * NSEC_PER_SEC);
    }
    while (all && s->peers) {
        struct sim_peer *p = s->peers;
        char text[400];
        s->peers = p->next;
        while (take(&p->in, text, sizeof(text)) || take(&p->out, text, sizeof(text)))
            ;
        free(p);
    }
    return all;
}

void sim_suite_finish(struct sim_suite *s)
{
    sim_suite_settle(s);
    d3dkmt_use(NULL);
    umd_use_clock(NULL);
}
