/* SPDX-License-Identifier: MIT */
#include "threads.h"

#include <errno.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include "base/rng.h"

#define NEVER UINT64_MAX
enum { THREADS = 8, LOCKS = 64, FILES = 64, CALLS = 32, STEPS = 1000000, TRACE = 60 };
#define SLOW 5000000 /* ns: for so long at most does nobody run who could */

enum state { UNUSED, RUNS, ON_LOCK, ON_COND, ON_EPOLL, ON_TIME, ON_END, ENDED };

struct thread {
    const char *name;
    pthread_t os;
    pthread_cond_t turn;
    enum state state;
    const void *object; /* the lock, condition or thread that it waits for */
    uint64_t until;     /* NEVER: for ever */
    uint64_t came;      /* to the epoll descriptor; the last one is woken first */
    bool woken;
    void *(*fn)(void *ctx);
    void *ctx;
};

struct lock {
    const pthread_mutex_t *mutex;
    struct thread *owner;
    unsigned depth;
    bool recursive;
};

/* Descriptors of this process, by number. */
struct file {
    bool open, watched, ready, timer;
    uint64_t at, period; /* a timer's next expiry */
};

struct call {
    uint64_t at;
    void (*fn)(void *ctx);
    void *ctx;
};

static pthread_mutex_t core =
    PTHREAD_MUTEX_INITIALIZER; /* whose turn it is; the rest belongs to whose turn it is */
static struct thread threads[THREADS], *current;
static _Thread_local struct thread *me;
static struct lock locks[LOCKS];
static struct file files[FILES];
static struct call calls[CALLS];
static struct rng rng;
static uint64_t now, seed_now, arrivals, steps, stay;
static bool active;
static char trace[TRACE][80];
static unsigned traced;

int __real_pthread_mutex_init(pthread_mutex_t *m, const pthread_mutexattr_t *a);
int __real_pthread_mutex_lock(pthread_mutex_t *m);
int __real_pthread_mutex_trylock(pthread_mutex_t *m);
int __real_pthread_mutex_unlock(pthread_mutex_t *m);
int __real_pthread_create(pthread_t *t, const pthread_attr_t *a, void *(*fn)(void *), void *ctx);
int __real_pthread_join(pthread_t t, void **r);

static void note(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
static void note(const char *fmt, ...)
{
    char *line = trace[traced++ % TRACE];
    va_list ap;
    int n = snprintf(line, sizeof(trace[0]), "%10llu %-7s ", (unsigned long long)(now - seed_now),
                     me ? me->name : "time");

    va_start(ap, fmt);
    vsnprintf(line + n, sizeof(trace[0]) - (size_t)n, fmt, ap);
    va_end(ap);
}

static int number_of(const void *mutex)
{
    for (int i = 0; i < LOCKS; i++)
        if (locks[i].mutex == mutex)
            return i;
    return -1;
}

static void broken(const char *what)
{
    static const char *const waits[] = {
        "", "could run", "wants lock", "waits for condition", "sleeps in epoll", "sleeps", "joins"};

    printf("# %s\n# what happened last (ns, thread):\n", what);
    for (unsigned i = traced > TRACE ? traced - TRACE : 0; i < traced; i++)
        printf("#   %s\n", trace[i % TRACE]);
    for (int i = 0; i < THREADS; i++)
        if (threads[i].state != UNUSED && threads[i].state != ENDED)
            printf("#   %s %s %d%s\n", threads[i].name, waits[threads[i].state], number_of(threads[i].object),
                   threads[i].until == NEVER ? "" : ", for some time");
    for (int i = 0; i < LOCKS; i++)
        if (locks[i].owner)
            printf("#   lock %d is %s's\n", i, locks[i].owner->name);
    fflush(stdout);
    _exit(1);
}

void threads_must(bool ok, const char *what)
{
    if (!ok)
        broken(what);
}

uint64_t threads_random(uint64_t n)
{
    return rng_below(&rng, n);
}

uint64_t threads_now(void)
{
    return now;
}

/* ---- what happens by itself ---------------------------------------------- */

static struct lock *lock_of(const pthread_mutex_t *m)
{
    int i = me ? number_of(m) : -1;

    return i < 0 ? NULL : &locks[i];
}

void threads_event(int fd)
{
    files[fd].ready = true;
}

void threads_no_event(int fd)
{
    files[fd].ready = false;
}

void threads_at(uint64_t at_ns, void (*fn)(void *ctx), void *ctx)
{
    for (int i = 0; i < CALLS; i++)
        if (!calls[i].fn) {
            calls[i] = (struct call){at_ns, fn, ctx};
            return;
        }
    broken("the test expects too much to happen");
}

static void happen(void)
{
    for (int i = 0; i < FILES; i++)
        if (files[i].timer && files[i].at <= now) {
            files[i].ready = true;
            files[i].at = NEVER;
            note("timer %d", i);
        }
    for (int i = 0; i < CALLS; i++)
        if (calls[i].fn && calls[i].at <= now) {
            struct call c = calls[i];
            calls[i].fn = NULL;
            c.fn(c.ctx);
        }
}

/* The first instant at which anything changes by itself. */
static uint64_t next_time(void)
{
    uint64_t t = NEVER;

    for (int i = 0; i < THREADS; i++)
        if (threads[i].state > RUNS && threads[i].state < ON_END && threads[i].until < t)
            t = threads[i].until;
    for (int i = 0; i < FILES; i++)
        if (files[i].timer && files[i].at < t)
            t = files[i].at;
    for (int i = 0; i < CALLS; i++)
        if (calls[i].fn && calls[i].at < t)
            t = calls[i].at;
    return t;
}

static void pass(uint64_t ns)
{
    now += ns;
    happen();
}

/* ---- whose turn it is ---------------------------------------------------- */

static bool any_event(void)
{
    for (int i = 0; i < FILES; i++)
        if (files[i].watched && files[i].ready)
            return true;
    return false;
}

static bool is_last_in_epoll(const struct thread *t)
{
    for (int i = 0; i < THREADS; i++)
        if (threads[i].state == ON_EPOLL && threads[i].came > t->came)
            return false;
    return true;
}

static bool can_run(const struct thread *t)
{
    switch (t->state) {
    case RUNS:
        return true;
    case ON_LOCK:
        return !locks[number_of(t->object)].owner;
    case ON_COND:
        return t->woken || t->until <= now;
    case ON_EPOLL:
        return t->until <= now || (any_event() && is_last_in_epoll(t));
    case ON_TIME:
        return t->until <= now;
    case ON_END:
        return ((const struct thread *)t->object)->state == ENDED;
    default:
        return false;
    }
}

static struct thread *choose(void)
{
    struct thread *able[THREADS];
    unsigned n = 0;

    for (;;) {
        for (int i = 0; i < THREADS; i++)
            if (can_run(&threads[i]))
                able[n++] = &threads[i];
        if (n && rng_below(&rng, 200)) /* else all of them are slow */
            return me && can_run(me) && rng_below(&rng, stay) ? me : able[rng_below(&rng, n)];
        uint64_t t = next_time();
        if (t == NEVER && !n)
            broken("all threads wait, and nothing will ever happen");
        if (n && (t <= now || t - now > SLOW))
            return able[rng_below(&rng, n)];
        if (t > now)
            pass(t - now);
        else
            happen();
        n = 0;
    }
}

/* Somebody's turn; returns when it is ours again. */
static void step(void)
{
    struct thread *next;

    if (++steps > STEPS)
        broken("it does not end");
    next = choose();
    if (next == me) {
        me->state = RUNS;
        return;
    }
    __real_pthread_mutex_lock(&core);
    current = next;
    pthread_cond_signal(&next->turn);
    if (me->state != ENDED)
        while (current != me)
            pthread_cond_wait(&me->turn, &core);
    __real_pthread_mutex_unlock(&core);
    if (me->state != ENDED)
        me->state = RUNS;
}

static void wait_as(enum state state, const void *object, uint64_t until)
{
    me->state = state;
    me->object = object;
    me->until = until;
    step();
    me->object = NULL;
    me->until = NEVER;
}

/* ---- threads ------------------------------------------------------------- */

static void *body(void *arg)
{
    me = arg;
    __real_pthread_mutex_lock(&core);
    while (current != me)
        pthread_cond_wait(&me->turn, &core);
    __real_pthread_mutex_unlock(&core);
    me->fn(me->ctx);
    note("ends");
    me->state = ENDED;
    step();
    return NULL;
}

void threads_start(int id, const char *name, void *(*fn)(void *ctx), void *ctx)
{
    struct thread *t = &threads[id];

    *t = (struct thread){.name = name, .state = RUNS, .until = NEVER, .fn = fn, .ctx = ctx};
    pthread_cond_init(&t->turn, NULL);
    if (__real_pthread_create(&t->os, NULL, body, t))
        broken("no more threads");
    step();
}

void threads_join(int id)
{
    wait_as(ON_END, &threads[id], NEVER);
    __real_pthread_join(threads[id].os, NULL);
    threads[id].state = UNUSED;
}

void threads_begin(uint64_t seed)
{
    static const uint64_t stays[] = {2, 6, 30, 200};

    memset(threads, 0, sizeof(threads));
    memset(locks, 0, sizeof(locks));
    memset(files, 0, sizeof(files));
    memset(calls, 0, sizeof(calls));
    rng.state = seed;
    stay = stays[seed % 4];
    seed_now = now = 1000000000;
    steps = arrivals = traced = 0;
    me = current = &threads[0];
    *me = (struct thread){.name = "main", .state = RUNS, .until = NEVER};
    pthread_cond_init(&me->turn, NULL);
    active = true;
}

void threads_end(void)
{
    active = false;
    me = NULL;
}

int __wrap_pthread_create(pthread_t *os, const pthread_attr_t *a, void *(*fn)(void *), void *ctx);
int __wrap_pthread_create(pthread_t *os, const pthread_attr_t *a, void *(*fn)(void *), void *ctx)
{
    int id = THREADS - 1;

    if (!me)
        return __real_pthread_create(os, a, fn, ctx);
    while (threads[id].state != UNUSED)
        id--;
    threads_start(id, "device", fn, ctx);
    *os = threads[id].os;
    return 0;
}

int __wrap_pthread_join(pthread_t os, void **r);
int __wrap_pthread_join(pthread_t os, void **r)
{
    for (int i = 0; me && i < THREADS; i++)
        if (threads[i].state != UNUSED && i && pthread_equal(threads[i].os, os)) {
            threads_join(i);
            return 0;
        }
    return __real_pthread_join(os, r);
}

/* ---- locks and conditions ------------------------------------------------ */

int __wrap_pthread_mutex_init(pthread_mutex_t *m, const pthread_mutexattr_t *a);
int __wrap_pthread_mutex_init(pthread_mutex_t *m, const pthread_mutexattr_t *a)
{
    int type = PTHREAD_MUTEX_DEFAULT, i = me ? number_of(NULL) : -1;

    if (i >= 0) {
        if (a)
            pthread_mutexattr_gettype(a, &type);
        locks[i] = (struct lock){.mutex = m, .recursive = type == PTHREAD_MUTEX_RECURSIVE};
    }
    return __real_pthread_mutex_init(m, a);
}

int __wrap_pthread_mutex_lock(pthread_mutex_t *m);
int __wrap_pthread_mutex_lock(pthread_mutex_t *m)
{
    struct lock *l = lock_of(m);

    if (!l)
        return __real_pthread_mutex_lock(m);
    if (l->owner == me) {
        note("lock %d again", number_of(m));
        if (!l->recursive)
            broken("a thread waits for a lock that it holds");
        l->depth++;
        return 0;
    }
    wait_as(ON_LOCK, m, NEVER);
    note("lock %d", number_of(m));
    l->owner = me;
    l->depth = 1;
    return 0;
}

int __wrap_pthread_mutex_trylock(pthread_mutex_t *m);
int __wrap_pthread_mutex_trylock(pthread_mutex_t *m)
{
    struct lock *l = lock_of(m);

    if (!l)
        return __real_pthread_mutex_trylock(m);
    step();
    if (l->owner)
        return EBUSY;
    note("lock %d (tried)", number_of(m));
    l->owner = me;
    l->depth = 1;
    return 0;
}

int __wrap_pthread_mutex_unlock(pthread_mutex_t *m);
int __wrap_pthread_mutex_unlock(pthread_mutex_t *m)
{
    struct lock *l = lock_of(m);

    if (!l)
        return __real_pthread_mutex_unlock(m);
    threads_must(l->owner == me, "a thread gives up a lock that it does not hold");
    if (--l->depth)
        return 0;
    l->owner = NULL;
    note("unlock %d", number_of(m));
    step();
    return 0;
}

int __wrap_pthread_cond_timedwait(pthread_cond_t *c, pthread_mutex_t *m, const struct timespec *end);
int __wrap_pthread_cond_timedwait(pthread_cond_t *c, pthread_mutex_t *m, const struct timespec *end)
{
    struct lock *l = lock_of(m);
    bool woken;

    l->owner = NULL;
    me->woken = false;
    note("waits for a condition");
    wait_as(ON_COND, c, (uint64_t)end->tv_sec * 1000000000 + (uint64_t)end->tv_nsec);
    woken = me->woken;
    wait_as(ON_LOCK, m, NEVER);
    l->owner = me;
    l->depth = 1;
    note(woken ? "was woken" : "waited long enough");
    return woken ? 0 : ETIMEDOUT;
}

int __wrap_pthread_cond_broadcast(pthread_cond_t *c);
int __wrap_pthread_cond_broadcast(pthread_cond_t *c)
{
    for (int i = 0; i < THREADS; i++)
        if (threads[i].state == ON_COND && threads[i].object == c)
            threads[i].woken = true;
    return 0;
}

/* ---- descriptors and time ------------------------------------------------ */

static int open_file(bool timer)
{
    for (int i = 3; i < FILES; i++)
        if (!files[i].open) {
            files[i] = (struct file){.open = true, .timer = timer, .at = NEVER};
            return i;
        }
    return -1;
}

int __wrap_epoll_create1(int flags);
int __wrap_epoll_create1(int flags)
{
    return open_file(false);
}

int __wrap_eventfd(unsigned n, int flags);
int __wrap_eventfd(unsigned n, int flags)
{
    return open_file(false);
}

int __wrap_timerfd_create(int clock, int flags);
int __wrap_timerfd_create(int clock, int flags)
{
    return open_file(true);
}

int __wrap_epoll_ctl(int ep, int op, int fd, struct epoll_event *e);
int __wrap_epoll_ctl(int ep, int op, int fd, struct epoll_event *e)
{
    files[fd].watched = true;
    return 0;
}

int __wrap_eventfd_write(int fd, eventfd_t n);
int __wrap_eventfd_write(int fd, eventfd_t n)
{
    step();
    note("signals %d", fd);
    threads_event(fd);
    return 0;
}

/* An expiry that nobody was told of is forgotten, as the kernel does. */
int __wrap_timerfd_settime(int fd, int flags, const struct itimerspec *its, struct itimerspec *old);
int __wrap_timerfd_settime(int fd, int flags, const struct itimerspec *its, struct itimerspec *old)
{
    uint64_t at = (uint64_t)its->it_value.tv_sec * 1000000000 + (uint64_t)its->it_value.tv_nsec;

    files[fd].ready = false;
    files[fd].at = at ? at : NEVER;
    note("arms %d in %lld ns", fd, at ? (long long)(at - now) : -1);
    happen();
    return 0;
}

int __wrap_epoll_pwait2(int ep, struct epoll_event *events, int max, const struct timespec *timeout,
                        const sigset_t *s);
int __wrap_epoll_pwait2(int ep, struct epoll_event *events, int max, const struct timespec *timeout,
                        const sigset_t *s)
{
    int n = 0;

    me->came = ++arrivals;
    wait_as(ON_EPOLL, NULL,
            timeout ? now + (uint64_t)timeout->tv_sec * 1000000000 + (uint64_t)timeout->tv_nsec : NEVER);
    for (int i = 0; i < FILES && n < max; i++)
        if (files[i].watched && files[i].ready) {
            files[i].ready = false; /* an edge, told to one */
            events[n++] = (struct epoll_event){.events = EPOLLIN, .data.fd = i};
            note("event %d", i);
        }
    return n;
}

int __real_close(int fd);
int __wrap_close(int fd);
int __wrap_close(int fd)
{
    if (me && fd < FILES && files[fd].open) {
        files[fd].open = files[fd].watched = files[fd].timer = false;
        return 0;
    }
    return __real_close(fd);
}

int __real_clock_gettime(clockid_t id, struct timespec *ts);
int __wrap_clock_gettime(clockid_t id, struct timespec *ts);
int __wrap_clock_gettime(clockid_t id, struct timespec *ts)
{
    if (!me)
        return __real_clock_gettime(id, ts);
    /* A thread may lose its processor anywhere; here it shows. */
    pass(rng_below(&rng, 40) ? rng_below(&rng, 500) : rng_below(&rng, 1500000));
    step();
    ts->tv_sec = (time_t)(now / 1000000000);
    ts->tv_nsec = (long)(now % 1000000000);
    return 0;
}

int __wrap_clock_nanosleep(clockid_t id, int flags, const struct timespec *until, struct timespec *left);
int __wrap_clock_nanosleep(clockid_t id, int flags, const struct timespec *until, struct timespec *left)
{
    wait_as(ON_TIME, NULL, (uint64_t)until->tv_sec * 1000000000 + (uint64_t)until->tv_nsec);
    return 0;
}
