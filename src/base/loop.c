#include "base/loop.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>
#include <unistd.h>

enum { MAX_EVENTS = 16 };

struct loop_fd {
    int fd;
    bool removed; /* while events are being handed out; freed after */
    void (*fn)(void *ctx, uint32_t events);
    void *ctx;
    struct loop_fd *next_dead;
};

struct loop {
    struct clock *clock;
    int epoll_fd, wake_fd, timer_fd; /* -1 on a virtual clock */
    uint64_t timer_fd_deadline;      /* what timer_fd is set to, 0 for nothing */
    struct loop_timer **heap;
    uint32_t count, cap;
    uint64_t order;
    bool dispatching;
    struct loop_fd *dead;
};

static bool before(const struct loop_timer *a, const struct loop_timer *b)
{
    return a->deadline_ns != b->deadline_ns ? a->deadline_ns < b->deadline_ns : a->order < b->order;
}

static void place(struct loop *loop, uint32_t i, struct loop_timer *t)
{
    loop->heap[i] = t;
    t->slot = i + 1;
}

static void sift_up(struct loop *loop, uint32_t i)
{
    struct loop_timer *t = loop->heap[i];

    while (i && before(t, loop->heap[(i - 1) / 2])) {
        place(loop, i, loop->heap[(i - 1) / 2]);
        i = (i - 1) / 2;
    }
    place(loop, i, t);
}

static void sift_down(struct loop *loop, uint32_t i)
{
    struct loop_timer *t = loop->heap[i];

    for (;;) {
        uint32_t child = 2 * i + 1;
        if (child >= loop->count)
            break;
        if (child + 1 < loop->count && before(loop->heap[child + 1], loop->heap[child]))
            child++;
        if (!before(loop->heap[child], t))
            break;
        place(loop, i, loop->heap[child]);
        i = child;
    }
    place(loop, i, t);
}

int loop_create(struct loop **out, struct clock *clock)
{
    struct loop *loop = calloc(1, sizeof(*loop));
    struct epoll_event ev = {.events = EPOLLIN};
    int r;

    if (!loop)
        return -ENOMEM;
    loop->clock = clock;
    loop->epoll_fd = loop->wake_fd = loop->timer_fd = -1;
    if (!clock->is_virtual) {
        loop->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
        loop->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
        loop->timer_fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
        if (loop->epoll_fd < 0 || loop->wake_fd < 0 || loop->timer_fd < 0)
            goto fail;
        ev.data.ptr = &loop->wake_fd;
        if (epoll_ctl(loop->epoll_fd, EPOLL_CTL_ADD, loop->wake_fd, &ev))
            goto fail;
        ev.data.ptr = &loop->timer_fd;
        if (epoll_ctl(loop->epoll_fd, EPOLL_CTL_ADD, loop->timer_fd, &ev))
            goto fail;
    }
    *out = loop;
    return 0;
fail:
    r = -errno;
    loop_destroy(loop);
    return r;
}

static void bury(struct loop *loop)
{
    while (loop->dead) {
        struct loop_fd *w = loop->dead;
        loop->dead = w->next_dead;
        free(w);
    }
}

void loop_destroy(struct loop *loop)
{
    if (!loop)
        return;
    for (uint32_t i = 0; i < loop->count; i++)
        loop->heap[i]->slot = 0;
    bury(loop);
    if (loop->epoll_fd >= 0)
        close(loop->epoll_fd);
    if (loop->wake_fd >= 0)
        close(loop->wake_fd);
    if (loop->timer_fd >= 0)
        close(loop->timer_fd);
    free(loop->heap);
    free(loop);
}

struct clock *loop_clock(struct loop *loop)
{
    return loop->clock;
}

int loop_arm(struct loop *loop, struct loop_timer *t, uint64_t deadline_ns, void (*fn)(void *ctx), void *ctx)
{
    loop_cancel(loop, t);
    if (loop->count == loop->cap) {
        uint32_t cap = loop->cap ? 2 * loop->cap : 16;
        struct loop_timer **heap = realloc(loop->heap, cap * sizeof(*heap));
        if (!heap)
            return -ENOMEM;
        loop->heap = heap;
        loop->cap = cap;
    }
    t->fn = fn;
    t->ctx = ctx;
    t->deadline_ns = deadline_ns;
    t->order = loop->order++;
    place(loop, loop->count, t);
    sift_up(loop, loop->count++);
    return 0;
}

void loop_cancel(struct loop *loop, struct loop_timer *t)
{
    uint32_t i = t->slot;
    struct loop_timer *last;

    if (!i--)
        return;
    t->slot = 0;
    last = loop->heap[--loop->count];
    if (last == t)
        return;
    place(loop, i, last);
    sift_up(loop, i);
    sift_down(loop, last->slot - 1);
}

int loop_add_fd(struct loop *loop, struct loop_fd **out, int fd, uint32_t events,
                void (*fn)(void *ctx, uint32_t events), void *ctx)
{
    struct loop_fd *w;
    struct epoll_event ev = {.events = events};

    if (loop->clock->is_virtual)
        return -EOPNOTSUPP;
    w = calloc(1, sizeof(*w));
    if (!w)
        return -ENOMEM;
    *w = (struct loop_fd){.fd = fd, .fn = fn, .ctx = ctx};
    ev.data.ptr = w;
    if (epoll_ctl(loop->epoll_fd, EPOLL_CTL_ADD, fd, &ev)) {
        int r = -errno;
        free(w);
        return r;
    }
    *out = w;
    return 0;
}

void loop_remove_fd(struct loop *loop, struct loop_fd *w)
{
    if (!w)
        return;
    epoll_ctl(loop->epoll_fd, EPOLL_CTL_DEL, w->fd, NULL);
    if (!loop->dispatching) {
        free(w);
        return;
    }
    w->removed = true;
    w->next_dead = loop->dead;
    loop->dead = w;
}

/* Timers that are due now; one armed by a callback for a time already past waits for the next round. */
static int run_timers(struct loop *loop)
{
    uint64_t now = clock_now(loop->clock), last = loop->order;
    int n = 0;

    while (loop->count && loop->heap[0]->deadline_ns <= now && loop->heap[0]->order < last) {
        struct loop_timer *t = loop->heap[0];
        loop_cancel(loop, t);
        t->fn(t->ctx);
        n++;
    }
    return n;
}

static int run_virtual(struct loop *loop, uint64_t until_ns)
{
    if (!loop->count || loop->heap[0]->deadline_ns > until_ns) {
        if (until_ns != LOOP_FOREVER)
            clock_advance_to(loop->clock, until_ns);
        return 0;
    }
    clock_advance_to(loop->clock, loop->heap[0]->deadline_ns);
    return run_timers(loop);
}

static void set_timer_fd(struct loop *loop, uint64_t deadline_ns)
{
    struct itimerspec its = {0};

    if (deadline_ns == loop->timer_fd_deadline)
        return;
    loop->timer_fd_deadline = deadline_ns;
    if (deadline_ns) {
        its.it_value.tv_sec = (time_t)(deadline_ns / NSEC_PER_SEC);
        its.it_value.tv_nsec = (long)(deadline_ns % NSEC_PER_SEC);
    }
    timerfd_settime(loop->timer_fd, TFD_TIMER_ABSTIME, &its, NULL);
}

static int run_live(struct loop *loop, uint64_t until_ns)
{
    struct epoll_event events[MAX_EVENTS];
    uint64_t next =
        loop->count && loop->heap[0]->deadline_ns < until_ns ? loop->heap[0]->deadline_ns : until_ns;
    int ready, n, timeout = -1;

    if (next != LOOP_FOREVER && next <= clock_now(loop->clock))
        timeout = 0;
    else
        set_timer_fd(loop, next == LOOP_FOREVER ? 0 : next);
    ready = epoll_wait(loop->epoll_fd, events, MAX_EVENTS, timeout);
    if (ready < 0)
        return errno == EINTR ? 0 : -errno;
    n = run_timers(loop);
    loop->dispatching = true;
    for (int i = 0; i < ready; i++) {
        uint64_t value;
        struct loop_fd *w;
        if (events[i].data.ptr == &loop->wake_fd || events[i].data.ptr == &loop->timer_fd) {
            int *fd = events[i].data.ptr;
            if (fd == &loop->timer_fd)
                loop->timer_fd_deadline = 0;
            if (read(*fd, &value, sizeof(value)) < 0)
                continue; /* somebody else emptied it: nothing to do */
            continue;
        }
        w = events[i].data.ptr;
        if (w->removed)
            continue;
        w->fn(w->ctx, events[i].events);
        n++;
    }
    loop->dispatching = false;
    bury(loop);
    return n;
}

int loop_run_once(struct loop *loop, uint64_t until_ns)
{
    return loop->clock->is_virtual ? run_virtual(loop, until_ns) : run_live(loop, until_ns);
}

void loop_wake(struct loop *loop)
{
    uint64_t one = 1;

    if (loop->wake_fd >= 0 && write(loop->wake_fd, &one, sizeof(one)) < 0)
        return; /* the counter is full: it will wake */
}
