/* SPDX-License-Identifier: MIT */
/* call.c: calls that come back in time. A call that does not is left behind on its thread with its own copy of the
 * arguments, so that the tool answers during a hang too. */
#include "dbgctl.h"

#include <errno.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"

static const struct {
    NTSTATUS (*fn)(void *arg);
} thunks[] = {
#define ROW(name, type) [D3DKMT_THUNK_##name] = {(NTSTATUS(*)(void *))(void (*)(void))D3DKMT##name},
    D3DKMT_THUNKS(ROW)
#undef ROW
};

struct job {
    pthread_mutex_t lock;
    pthread_cond_t done_cond;
    bool done, abandoned;
    NTSTATUS status;
    enum d3dkmt_thunk thunk;
    size_t size;
    void *block; /* of escapes and queries: a copy, so that nobody writes to a stack that is gone */
    size_t block_size;
    union {
        uint8_t bytes[1024];
        void *align;
    } arg;
};

static void job_free(struct job *j)
{
    pthread_mutex_destroy(&j->lock);
    pthread_cond_destroy(&j->done_cond);
    free(j->block);
    free(j);
}

/* One thread makes the calls, for each calling thread is a connection to the service, and the client ends with the last
 * of them. A call that is left behind takes its thread with it; the next call starts another. */
static struct {
    pthread_mutex_t lock;
    pthread_cond_t wake;
    struct job *next;
    bool running;
} worker = {.lock = PTHREAD_MUTEX_INITIALIZER, .wake = PTHREAD_COND_INITIALIZER};

static void *run(void *unused)
{
    bool abandoned = false;

    (void)unused;
    while (!abandoned) {
        struct job *j;
        NTSTATUS s;
        pthread_mutex_lock(&worker.lock);
        while (!worker.next)
            pthread_cond_wait(&worker.wake, &worker.lock);
        j = worker.next;
        worker.next = NULL;
        pthread_mutex_unlock(&worker.lock);
        s = thunks[j->thunk].fn(j->arg.bytes);
        pthread_mutex_lock(&j->lock);
        j->status = s;
        j->done = true;
        abandoned = j->abandoned;
        pthread_cond_signal(&j->done_cond);
        pthread_mutex_unlock(&j->lock);
        if (abandoned)
            job_free(j);
    }
    return NULL;
}

static int hand_over(struct job *j)
{
    pthread_t thread;
    int r = 0;

    pthread_mutex_lock(&worker.lock);
    if (!worker.running) {
        r = pthread_create(&thread, NULL, run, NULL);
        if (!r)
            pthread_detach(thread);
        worker.running = !r;
    }
    if (!r) {
        worker.next = j;
        pthread_cond_signal(&worker.wake);
    }
    pthread_mutex_unlock(&worker.lock);
    return r;
}

/* The pointer inside the arguments and its size, for those calls that have one here. */
static void **block_of(enum d3dkmt_thunk thunk, void *arg, size_t *size)
{
    if (thunk == D3DKMT_THUNK_Escape) {
        *size = ((D3DKMT_ESCAPE *)arg)->PrivateDriverDataSize;
        return &((D3DKMT_ESCAPE *)arg)->pPrivateDriverData;
    }
    if (thunk == D3DKMT_THUNK_QueryAdapterInfo) {
        *size = ((D3DKMT_QUERYADAPTERINFO *)arg)->PrivateDriverDataSize;
        return &((D3DKMT_QUERYADAPTERINFO *)arg)->pPrivateDriverData;
    }
    *size = 0;
    return NULL;
}

NTSTATUS dbgctl_call(struct dbgctl *c, enum d3dkmt_thunk thunk, void *arg, size_t size)
{
    struct job *j = calloc(1, sizeof(*j));
    struct timespec until;
    pthread_condattr_t attr;
    void **block, *callers = NULL;
    NTSTATUS s;

    if (!j || size > sizeof(j->arg)) {
        free(j);
        return STATUS_NO_MEMORY;
    }
    pthread_mutex_init(&j->lock, NULL);
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(&j->done_cond, &attr);
    pthread_condattr_destroy(&attr);
    j->thunk = thunk;
    j->size = size;
    memcpy(j->arg.bytes, arg, size);
    block = block_of(thunk, j->arg.bytes, &j->block_size);
    if (block && *block) {
        callers = *block;
        j->block = malloc(j->block_size ? j->block_size : 1);
        if (!j->block) {
            job_free(j);
            return STATUS_NO_MEMORY;
        }
        memcpy(j->block, callers, j->block_size);
        *block = j->block;
    }
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += c->call_ms / 1000;
    until.tv_nsec += (long)(c->call_ms % 1000) * 1000000;
    if (until.tv_nsec >= 1000000000) {
        until.tv_nsec -= 1000000000;
        until.tv_sec++;
    }
    if (hand_over(j)) {
        job_free(j);
        return STATUS_INSUFFICIENT_RESOURCES;
    }
    pthread_mutex_lock(&j->lock);
    while (!j->done && pthread_cond_timedwait(&j->done_cond, &j->lock, &until) != ETIMEDOUT)
        ;
    if (!j->done) {
        j->abandoned = true;
        worker.running = false; /* it belongs to that call now */
        pthread_mutex_unlock(&j->lock);
        return STATUS_TIMEOUT;
    }
    s = j->status;
    pthread_mutex_unlock(&j->lock);
    if (callers) {
        memcpy(callers, j->block, j->block_size);
        *block = callers;
    }
    memcpy(arg, j->arg.bytes, size);
    job_free(j);
    return s;
}

NTSTATUS dbgctl_escape(struct dbgctl *c, uint32_t op, void *block, uint32_t size)
{
    struct aerogpu_escape_header *h = block;
    D3DKMT_ESCAPE e = {.hAdapter = c->adapter,
                       .Type = D3DKMT_ESCAPE_DRIVERPRIVATE,
                       .pPrivateDriverData = block,
                       .PrivateDriverDataSize = size};

    *h = (struct aerogpu_escape_header){.version = AEROGPU_ESCAPE_VERSION, .op = op, .size = size};
    return dbgctl_call(c, D3DKMT_THUNK_Escape, &e, sizeof(e));
}

NTSTATUS dbgctl_query(struct dbgctl *c, KMTQUERYADAPTERINFOTYPE type, void *data, UINT size)
{
    D3DKMT_QUERYADAPTERINFO q = {
        .hAdapter = c->adapter, .Type = type, .pPrivateDriverData = data, .PrivateDriverDataSize = size};

    return dbgctl_call(c, D3DKMT_THUNK_QueryAdapterInfo, &q, sizeof(q));
}

int dbgctl_fail(struct dbgctl *c, NTSTATUS status, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(c->message, sizeof(c->message), fmt, ap);
    va_end(ap);
    c->status = status;
    c->has_status = true;
    return DBGCTL_FAILED;
}

int dbgctl_refuse(struct dbgctl *c, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(c->message, sizeof(c->message), fmt, ap);
    va_end(ap);
    c->has_status = false;
    return DBGCTL_FAILED;
}

void dbgctl_sleep_ms(uint32_t ms)
{
    struct timespec t = {ms / 1000, (long)(ms % 1000) * 1000000};

    while (nanosleep(&t, &t) && errno == EINTR)
        ;
}

uint64_t dbgctl_now_ns(void)
{
    return clock_now(&(struct clock){0});
}

NTSTATUS dbgctl_read(struct dbgctl *c, uint64_t gpa, void *data, uint32_t size, uint32_t *got)
{
    static struct aerogpu_escape_read_gpa r;

    for (*got = 0; *got < size;) {
        NTSTATUS s;
        memset(&r, 0, sizeof(r));
        r.gpa = gpa + *got;
        r.size_bytes = size - *got < AEROGPU_ESCAPE_READ_GPA_MAX ? size - *got : AEROGPU_ESCAPE_READ_GPA_MAX;
        s = DBGCTL_ESCAPE(c, READ_GPA, &r);
        if (s)
            return *got && s != STATUS_TIMEOUT ? STATUS_PARTIAL_COPY : s;
        if (r.bytes_copied > r.size_bytes)
            r.bytes_copied = r.size_bytes;
        memcpy((uint8_t *)data + *got, r.data, r.bytes_copied);
        *got += r.bytes_copied;
        if (r.bytes_copied < r.size_bytes) /* without the status a driver that gives less than it says */
            return r.status == (uint32_t)STATUS_PARTIAL_COPY ? STATUS_PARTIAL_COPY : STATUS_SUCCESS;
    }
    return STATUS_SUCCESS;
}
