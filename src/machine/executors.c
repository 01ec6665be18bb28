/* SPDX-License-Identifier: MIT */
#include "machine/executors.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include <aerogpu/alloc.h>
#include <aerogpu/ext.h>

#include "base/check.h"
#include "base/clock.h"
#include "base/log.h"
#include "gpu/backend.h"
#include "machine/grants.h"
#include "machine/staging.h"

enum { REST_S = 10 };

/* The last ORDERED submission of an executor that is under way; id 0: there is none. */
struct ordered {
    uint64_t id;
    uint32_t session;
    uint32_t groups; /* its, and those of what is under way before it */
};

struct executor {
    struct executors *all;
    struct exec_host *host;
    uint32_t client; /* 0: the common one */
    int place;       /* in grants */
    struct staging staging;
    unsigned in_flight, preparing;
    struct ordered ordered;
    bool used;             /* somebody has submitted */
    bool knows;            /* something that was submitted since the last reset: what a death loses */
    bool lost;             /* 3 */
    bool ended;            /* its client is gone */
    pid_t ending;          /* the process that was told to end, 0 for none */
    uint64_t forgot_ns;    /* of a reset behind which nothing came: its client may be gone too, unheard */
    struct executor *next; /* that are to be destroyed */
};

struct executors {
    struct executors_params params;
    struct executor *polled; /* between the halves of a poll */
    pthread_mutex_t lock;    /* what follows */
    struct executor *list[EXECUTORS_MOST];
    unsigned num;
    struct executor *recent; /* was submitted to last */
    struct grants grants;
    struct {
        struct executor *executor;
        uint64_t id, staged; /* staged: what it has of its executor's staging ends there */
    } owners
        [GPU_QUEUE_MAX]; /* what is under way; by id, of which the device promises that each has a place of its own */
    uint64_t starts, deaths; /* of those that ended */
    pthread_t reaper;        /* waits for the end of processes; comes with the first */
    bool has_reaper;
    pthread_cond_t changed;
    struct executor *dead;
    bool stopping;
    uint64_t asked, served; /* those who wait for a process that starts, in the order in which they came */
};

static uint64_t now_ns(void)
{
    struct clock live;

    clock_init_live(&live);
    return clock_now(&live);
}

static void check(const struct executors *x)
{
    INVARIANT(x->num >= 1 && x->num <= EXECUTORS_MOST);
    for (unsigned i = 1; i < x->num; i++)
        INVARIANT(x->list[i - 1]->client != x->list[i]->client || x->list[i - 1]->ended || x->list[i]->ended);
    for (unsigned i = 0; i < x->num; i++)
        INVARIANT(!x->list[i]->ordered.id || x->list[i]->in_flight);
}

static struct executor *find(const struct executors *x, uint32_t client)
{
    for (unsigned i = 0; i < x->num; i++)
        if (x->list[i]->client == client && !x->list[i]->ended)
            return x->list[i];
    return NULL;
}

/* ---- what comes back ----------------------------------------------------- */

static void on_complete(void *ctx, const struct abi_completion *c)
{
    struct executor *e = ctx;
    struct executors *x = e->all;

    pthread_mutex_lock(&x->lock);
    if (x->owners[c->id % GPU_QUEUE_MAX].executor == e &&
        x->owners[c->id % GPU_QUEUE_MAX].id == c->id) { /* else a reset has forgotten it */
        x->owners[c->id % GPU_QUEUE_MAX].executor = NULL;
        staging_give_back(&e->staging, x->owners[c->id % GPU_QUEUE_MAX].staged);
        e->in_flight--;
        if (c->id >= e->ordered.id)
            e->ordered = (struct ordered){0};
    }
    pthread_mutex_unlock(&x->lock);
    x->params.host.complete(x->params.host.ctx, c);
}

static void on_death(void *ctx, const struct exec_death *d, const struct exec_progress *progress)
{
    struct executor *e = ctx;

    pthread_mutex_lock(&e->all->lock);
    e->lost =
        e->client &&
        (e->knows || !d->by_host); /* by the host: it did not answer a reset, and knew nothing any more */
    e->knows = false;
    pthread_mutex_unlock(&e->all->lock);
    e->all->params.host.died(e->all->params.host.ctx, d, progress);
}

/* ---- coming and going ---------------------------------------------------- */

/* With the lock, or before there is another thread. */
static int add(struct executors *x, uint32_t client, struct executor **out, struct error *e)
{
    struct executor *n = calloc(1, sizeof(*n));
    struct exec_host_params p = x->params.host;
    struct epoll_event ev = {.events = EPOLLIN | EPOLLET};
    int r = n ? 0 : error_set(e, -ENOMEM, "no memory for an executor");

    if (r)
        return r;
    *n = (struct executor){.all = x, .client = client, .place = -1};
    p.complete = on_complete;
    p.died = on_death;
    p.ctx = n;
    r = exec_host_create(&n->host, &p, e);
    if (r)
        goto fail;
    if (client)
        exec_host_fail_all(n->host); /* 3 */
    ev.data.fd = exec_host_event_fd(n->host);
    if (epoll_ctl(x->params.epoll_fd, EPOLL_CTL_ADD, ev.data.fd, &ev)) {
        r = error_set(e, -errno, "epoll: %s", strerror(errno));
        goto fail;
    }
    INVARIANT(x->num < EXECUTORS_MOST);
    n->staging.host = n->host;
    n->place = grants_join(&x->grants, n->host);
    x->list[x->num++] = n;
    *out = n;
    return 0;
fail:
    exec_host_destroy(n->host);
    free(n);
    return r;
}

/* Takes as long as the memory of the process takes to go. */
static void discard(struct executor *e)
{
    staging_finish(&e->staging);
    exec_host_destroy(e->host);
    free(e);
}

static void *reaper_main(void *arg)
{
    struct executors *x = arg;

    pthread_mutex_lock(&x->lock);
    for (;;) {
        struct executor *e = x->dead;
        struct exec_host_stats s;

        if (!e && x->stopping)
            break;
        if (!e) {
            pthread_cond_wait(&x->changed, &x->lock);
            continue;
        }
        x->dead = e->next;
        pthread_mutex_unlock(&x->lock);
        exec_host_stats(e->host, &s);
        discard(e);
        pthread_mutex_lock(&x->lock);
        x->starts += s.starts;
        x->deaths += s.deaths;
    }
    pthread_mutex_unlock(&x->lock);
    return NULL;
}

/* With the lock, by who dispatches. */
static void take_out(struct executors *x, unsigned i)
{
    struct executor *e = x->list[i], *spare;

    /* A started process is needed by the next who comes. Without it the old one stays a while. */
    if (x->num == 1 && add(x, 0, &spare, NULL))
        return;
    x->list[i] = x->list[--x->num];
    epoll_ctl(x->params.epoll_fd, EPOLL_CTL_DEL, exec_host_event_fd(e->host), NULL);
    grants_leave(&x->grants, e->place);
    if (x->recent == e)
        x->recent = NULL;
    for (unsigned o = 0; o < GPU_QUEUE_MAX; o++)
        if (x->owners[o].executor == e)
            x->owners[o].executor = NULL;
    e->next = x->dead;
    x->dead = e;
    pthread_cond_broadcast(&x->changed);
    if (!x->has_reaper)
        x->has_reaper = !pthread_create(&x->reaper, NULL, reaper_main, x); /* else the next one tries again */
}

static bool is_over(const struct executor *e, uint64_t now)
{
    return (e->ended || (e->client && e->forgot_ns && now - e->forgot_ns > REST_S * NSEC_PER_SEC)) &&
           !e->in_flight && !e->preparing;
}

int executors_create(struct executors **out, const struct executors_params *p, struct error *e)
{
    struct executors *x = calloc(1, sizeof(*x));
    struct executor *spare;
    int r;

    *out = NULL;
    if (!x)
        return error_set(e, -ENOMEM, "no memory for executors");
    x->params = *p;
    pthread_mutex_init(&x->lock, NULL);
    pthread_cond_init(&x->changed, NULL);
    r = add(x, 0, &spare, e);
    if (r) {
        pthread_cond_destroy(&x->changed);
        pthread_mutex_destroy(&x->lock);
        free(x);
        return r;
    }
    *out = x;
    return 0;
}

void executors_destroy(struct executors *x)
{
    if (!x)
        return;
    pthread_mutex_lock(&x->lock);
    x->stopping = true;
    pthread_cond_broadcast(&x->changed);
    pthread_mutex_unlock(&x->lock);
    if (x->has_reaper)
        pthread_join(x->reaper, NULL);
    for (struct executor *e = x->dead, *next; e; e = next) {
        next = e->next;
        discard(e);
    }
    while (x->num)
        discard(x->list[--x->num]);
    grants_finish(&x->grants);
    pthread_cond_destroy(&x->changed);
    pthread_mutex_destroy(&x->lock);
    free(x);
}

/* The executor of a client that begins, or goes on after a loss. With the lock. */
static int get(struct executors *x, uint32_t client, struct executor **out, struct error *e)
{
    struct executor *spare = find(x, 0);

    *out = find(x, client);
    if (*out)
        return 0;
    if (client && spare && !spare->used && !spare->preparing && x->num < EXECUTORS_MOST - 1) {
        spare->client = client;
        exec_host_fail_all(spare->host);
        *out = spare;
        return 0;
    }
    if (client && x->num >= EXECUTORS_MOST - 1) { /* the last place is the common one's */
        if (spare) {
            *out = spare;
            return 0;
        }
        client = 0;
    }
    return add(x, client, out, e);
}

/* One after the other: processes that start take processors that others draw with. */
static void begin_start(struct executors *x)
{
    const uint64_t mine = x->asked++;

    while (x->served != mine)
        pthread_cond_wait(&x->changed, &x->lock);
}

static void end_start(struct executors *x)
{
    x->served++;
    pthread_cond_broadcast(&x->changed);
}

/* One that does not answer a reset is replaced: that it is ready says nothing before. */
static int await_ready(struct executor *t, int timeout_ms, struct error *e)
{
    uint64_t end = now_ns() + (uint64_t)timeout_ms * NSEC_PER_MSEC;

    while (exec_host_resetting(t->host) && now_ns() < end)
        usleep(1000);
    return exec_host_wait_ready(t->host, timeout_ms, e);
}

int executors_prepare(struct executors *x, uint32_t client, int timeout_ms, struct error *e)
{
    struct executor *t;
    int r = 0;

    pthread_mutex_lock(&x->lock);
    t = find(x, client);
    if (!t || exec_host_resetting(t->host) || exec_host_wait_ready(t->host, 0, NULL)) {
        begin_start(x);
        r = get(x, client, &t, e);
        if (!r) {
            t->preparing++;
            pthread_mutex_unlock(&x->lock);
            r = await_ready(t, timeout_ms, e);
            pthread_mutex_lock(&x->lock);
            t->preparing--;
        }
        end_start(x);
    }
    if (t) {
        t->lost = r && t->client; /* nor does anybody wait for one that does not start */
        t->forgot_ns = 0;
    }
    check(x);
    pthread_mutex_unlock(&x->lock);
    return r;
}

/* ---- submissions --------------------------------------------------------- */

static bool waits_for(const struct abi_submission *s, const struct executor *e)
{
    return e->ordered.id &&
           abi_is_ordered(s, &(struct abi_submission){.session = e->ordered.session,
                                                      .groups = e->ordered.groups,
                                                      .flags = AEROGPU_SUBMIT_FLAG_EXT_ORDERED});
}

/* What a submission names, where the host finds it; NULL: it is none of what drivers have for that. */
struct named {
    const uint8_t *commands, *table;
};

/* What its executor needs besides that: who has no client of his own, everything. Of the others, that which the table names, and where he
 * may present the screen. The table is read where no executor can write. */
static int give(struct executors *x, struct executor *e, const struct abi_submission *s,
                const struct named *n, struct error *err)
{
    struct aerogpu_alloc_table_header h;
    struct aerogpu_alloc_entry entry;
    int r = 0;

    if (!e->client || !x->params.guest) {
        grants_give_all(&x->grants, e->place);
        return 0;
    }
    if (!n->commands)
        r = grants_give(&x->grants, e->place, s->cmd_gpa, s->cmd_size, err);
    if (!r && !n->table)
        r = grants_give(&x->grants, e->place, s->alloc_gpa, s->alloc_size, err);
    if (!r && s->flags & AEROGPU_SUBMIT_FLAG_EXT_ORDERED && s->scanout.enabled)
        r = grants_give(&x->grants, e->place, s->scanout.fb_gpa,
                        (uint64_t)s->scanout.pitch * s->scanout.height, err);
    if (!n->table || s->alloc_size < sizeof(h))
        return r;
    memcpy(&h, n->table, sizeof(h));
    if (h.entry_stride_bytes < sizeof(entry))
        return r; /* which whoever executes it says */
    for (uint64_t i = 0, at = sizeof(h); i < h.entry_count && at + sizeof(entry) <= s->alloc_size && !r;
         i++, at += h.entry_stride_bytes) {
        memcpy(&entry, n->table + at, sizeof(entry));
        r = grants_give(&x->grants, e->place, entry.gpa, entry.size_bytes, err);
    }
    return r;
}

/* The submission as the executor gets it. */
static int stage(struct executor *e, struct abi_submission *s, const struct named *n, struct error *err)
{
    uint64_t gpa[2];
    int r;

    if (!e->client || (!n->commands && !n->table))
        return 0;
    r = staging_put(&e->staging, n->commands, n->commands ? s->cmd_size : 0, n->table,
                    n->table ? s->alloc_size : 0, gpa, err);
    if (!r && n->commands)
        s->cmd_gpa = gpa[0];
    if (!r && n->table)
        s->alloc_gpa = gpa[1];
    return r;
}

static int hand_over(struct executors *x, struct executor *e, const struct abi_submission *submission,
                     const struct named *n)
{
    struct abi_submission s = *submission;
    const uint64_t head = e->staging.head;
    struct error err = {0};
    int r;

    for (unsigned i = 0; i < x->num; i++) /* 2 */
        if (x->list[i] != e && waits_for(&s, x->list[i]))
            return -EAGAIN; /* offered again when that one has completed */
    if (e->lost)
        return -EIO;
    r = give(x, e, &s, n, &err);
    if (!r)
        r = stage(e, &s, n, &err);
    if (r && r != -EAGAIN)
        log_warn("machine", "client %u: %s", e->client, err.text);
    if (!r && (r = exec_host_submit(e->host, &s)))
        staging_undo(&e->staging, head);
    if (r)
        return r;
    x->owners[s.id % GPU_QUEUE_MAX].executor = e;
    x->owners[s.id % GPU_QUEUE_MAX].id = s.id;
    x->owners[s.id % GPU_QUEUE_MAX].staged = e->staging.head;
    e->in_flight++;
    e->used = e->knows = true;
    e->forgot_ns = 0;
    x->recent = e;
    if (s.flags & AEROGPU_SUBMIT_FLAG_EXT_ORDERED)
        e->ordered = (struct ordered){s.id, s.session, e->ordered.groups | s.groups};
    return 0;
}

int executors_submit(struct executors *x, const struct abi_submission *s)
{
    bool ends = s->flags & AEROGPU_SUBMIT_FLAG_EXT_CLIENT_ENDS;
    struct named n = {0};
    struct executor *e;
    int r = 0;

    if (x->params.guest && s->client) { /* which may lock */
        n.commands = s->cmd_size ? x->params.guest(x->params.host.ctx, s->cmd_gpa, s->cmd_size) : NULL;
        n.table = s->alloc_size ? x->params.guest(x->params.host.ctx, s->alloc_gpa, s->alloc_size) : NULL;
    }
    pthread_mutex_lock(&x->lock);
    e = s->client ? find(x, s->client) : NULL;
    ends = ends && e;
    if (ends)
        e->ended = true; /* 1: with all that it has; what is under way completes first */
    else if (e || (e = find(x, 0)) || !(r = add(x, 0, &e, NULL)))
        r = hand_over(x, e, s, &n);
    check(x);
    pthread_mutex_unlock(&x->lock);
    if (ends)
        x->params.host.complete(x->params.host.ctx, &(struct abi_completion){.id = s->id});
    return r;
}

bool executors_end_work(struct executors *x, uint32_t client, bool hangs)
{
    struct executor *e;
    bool any;

    pthread_mutex_lock(&x->lock);
    e = client ? find(x, client) : NULL;
    any = e && (e->in_flight || !hangs);
    if (any) {
        e->ending = exec_host_pid(e->host);
        exec_host_end(e->host, hangs ? "its client's work was not done in time" : NULL);
    }
    pthread_mutex_unlock(&x->lock);
    return any;
}

void executors_client_gone(struct executors *x, uint32_t client)
{
    struct executor *e;

    pthread_mutex_lock(&x->lock);
    e = client ? find(x, client) : NULL;
    if (e)
        e->ended = true; /* mostly it is already: 1. Not so if a reset dropped what said it */
    check(x);
    pthread_mutex_unlock(&x->lock);
}

bool executors_is_ending(struct executors *x, uint32_t client)
{
    struct executor *e;
    bool is;

    pthread_mutex_lock(&x->lock);
    e = client ? find(x, client) : NULL;
    is = e && e->ending && e->ending == exec_host_pid(e->host);
    pthread_mutex_unlock(&x->lock);
    return is;
}

void executors_reset(struct executors *x)
{
    pthread_mutex_lock(&x->lock);
    for (unsigned i = 0; i < x->num; i++) {
        exec_host_reset(x->list[i]->host);
        x->list[i]->in_flight = 0;
        x->list[i]->ordered = (struct ordered){0};
        staging_finish(&x->list[i]->staging);
        x->list[i]->knows = false;
        x->list[i]->forgot_ns = now_ns();
    }
    memset(x->owners, 0, sizeof(x->owners));
    check(x);
    pthread_mutex_unlock(&x->lock);
}

/* ---- guest memory -------------------------------------------------------- */

int executors_map(struct executors *x, uint64_t gpa, uint64_t size, int fd, struct error *e)
{
    int r;

    pthread_mutex_lock(&x->lock);
    r = grants_add(&x->grants, gpa, size, fd, e);
    pthread_mutex_unlock(&x->lock);
    return r;
}

void executors_unmap(struct executors *x, uint64_t gpa, uint64_t size)
{
    pthread_mutex_lock(&x->lock);
    grants_remove(&x->grants, gpa, size);
    pthread_mutex_unlock(&x->lock);
}

/* ---- serving ------------------------------------------------------------- */

/* A copy of the list: those in it stay (5), others may come meanwhile. */
static unsigned listed(struct executors *x, struct executor *out[EXECUTORS_MOST])
{
    unsigned n;

    pthread_mutex_lock(&x->lock);
    n = x->num;
    memcpy(out, x->list, n * sizeof(*out));
    pthread_mutex_unlock(&x->lock);
    return n;
}

bool executors_pending(struct executors *x)
{
    struct executor *list[EXECUTORS_MOST];
    unsigned n = listed(x, list);

    for (unsigned i = 0; i < n; i++)
        if (exec_host_wait(list[i]->host, 0))
            return true;
    return false;
}

unsigned executors_dispatch(struct executors *x)
{
    struct executor *list[EXECUTORS_MOST];
    unsigned n = listed(x, list), delivered = 0;
    uint64_t now = 0;

    for (unsigned i = 0; i < n; i++)
        if (n == 1 || exec_host_wait(list[i]->host, 0))
            delivered += exec_host_dispatch(list[i]->host);
    pthread_mutex_lock(&x->lock);
    for (unsigned i = x->num; i-- > 0;) {
        if (x->list[i]->forgot_ns && !now)
            now = now_ns();
        if (is_over(x->list[i], now))
            take_out(x, i);
    }
    check(x);
    pthread_mutex_unlock(&x->lock);
    return delivered;
}

bool executors_poll_begin(struct executors *x)
{
    pthread_mutex_lock(&x->lock);
    x->polled = x->recent ? x->recent : x->list[0];
    pthread_mutex_unlock(&x->lock);
    return exec_host_poll_begin(x->polled->host);
}

bool executors_poll_end(struct executors *x)
{
    return exec_host_poll_end(x->polled->host) || executors_pending(x);
}

bool executors_poll(struct executors *x)
{
    return executors_poll_begin(x) ? executors_poll_end(x) : executors_pending(x);
}

/* ---- questions ----------------------------------------------------------- */

/* With the lock. */
static struct executor *foremost(const struct executors *x)
{
    struct executor *first = NULL;
    uint64_t oldest = UINT64_MAX;

    for (unsigned i = 0; i < GPU_QUEUE_MAX; i++)
        if (x->owners[i].executor && x->owners[i].id < oldest) {
            oldest = x->owners[i].id;
            first = x->owners[i].executor;
        }
    return first ? first : x->recent ? x->recent : x->list[0];
}

pid_t executors_pid(struct executors *x)
{
    pid_t pid;

    pthread_mutex_lock(&x->lock);
    pid = exec_host_pid(foremost(x)->host);
    pthread_mutex_unlock(&x->lock);
    return pid;
}

static pid_t pid_of(struct executors *x, uint32_t client, bool shared)
{
    struct executor *e;
    pid_t pid;

    pthread_mutex_lock(&x->lock);
    e = client || shared ? find(x, client) : NULL;
    if (!e && shared)
        e = find(x, 0);
    pid = e ? exec_host_pid(e->host) : 0;
    if (pid && !shared && pid == e->ending)
        pid = 0;
    pthread_mutex_unlock(&x->lock);
    return pid;
}

pid_t executors_client_pid(struct executors *x, uint32_t client)
{
    return pid_of(x, client, true);
}

pid_t executors_own_pid(struct executors *x, uint32_t client)
{
    return pid_of(x, client, false);
}

bool executors_progress(struct executors *x, struct exec_progress *out)
{
    bool any;

    pthread_mutex_lock(&x->lock);
    any = exec_host_progress(foremost(x)->host, out);
    pthread_mutex_unlock(&x->lock);
    return any;
}

bool executors_has_pid(struct executors *x, pid_t pid)
{
    bool any = false;

    pthread_mutex_lock(&x->lock);
    for (unsigned i = 0; i < x->num && !any; i++)
        any = exec_host_pid(x->list[i]->host) == pid;
    pthread_mutex_unlock(&x->lock);
    return any;
}

void executors_device_name(struct executors *x, char name[256], bool *is_cpu)
{
    pthread_mutex_lock(&x->lock);
    name[0] = '\0';
    for (unsigned i = 0; i < x->num && !name[0]; i++)
        exec_host_device_name(x->list[i]->host, name, is_cpu);
    pthread_mutex_unlock(&x->lock);
}

void executors_stats(struct executors *x, struct exec_host_stats *out)
{
    struct exec_host_stats s;

    pthread_mutex_lock(&x->lock);
    *out = (struct exec_host_stats){.starts = x->starts, .deaths = x->deaths};
    for (unsigned i = 0; i < x->num; i++) {
        exec_host_stats(x->list[i]->host, &s);
        out->starts += s.starts;
        out->deaths += s.deaths;
    }
    pthread_mutex_unlock(&x->lock);
}
