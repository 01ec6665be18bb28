/* SPDX-License-Identifier: MIT */
#include "play/pictures.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/check.h"
#include "base/file/png.h"

#define MAX_WAITING ((size_t)128 << 20)

struct node {
    struct node *next;
    struct picture_job job;
};

struct pictures {
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    struct node *first, **last;
    size_t waiting; /* bytes of the pictures that are queued or being worked on */
    bool ending;
    struct error error;
};

static size_t size_of(const struct picture_job *job)
{
    return (size_t)job->width * job->height * 4;
}

/* With the lock. */
static void pictures_check(const struct pictures *p)
{
    INVARIANT(!p->first == (p->last == &p->first)); /* an empty queue ends at its beginning */
    INVARIANT(!p->first || p->waiting >= size_of(&p->first->job));
    INVARIANT(!*p->last);
}

static void finish_job(struct picture_job *job, struct error *e)
{
    size_t stride = (size_t)job->width * 4;

    if (job->hash)
        frame_hash(job->rgba, job->width, job->height, stride, job->hash);
    if (job->path)
        png_file_write(job->path, job->rgba, job->width, job->height, stride, e);
    free(job->rgba);
    free(job->path);
}

static void *work(void *ctx)
{
    struct pictures *p = ctx;

    /* Compressing pictures takes longer than drawing them: it must not slow down what is measured. */
    sched_setscheduler(0, SCHED_IDLE, &(struct sched_param){0});
    pthread_mutex_lock(&p->lock);
    while (p->first || !p->ending) {
        struct node *n = p->first;
        struct error e = {0};

        if (!n) {
            pthread_cond_wait(&p->changed, &p->lock);
            continue;
        }
        p->first = n->next;
        if (!p->first)
            p->last = &p->first;
        pthread_mutex_unlock(&p->lock);
        finish_job(&n->job, &e);
        pthread_mutex_lock(&p->lock);
        if (e.code)
            error_set(&p->error, e.code, "%s", e.text);
        INVARIANT(p->waiting >= size_of(&n->job));
        p->waiting -= size_of(&n->job);
        pictures_check(p);
        pthread_cond_broadcast(&p->changed);
        free(n);
    }
    pthread_mutex_unlock(&p->lock);
    return NULL;
}

int pictures_create(struct pictures **out)
{
    struct pictures *p = calloc(1, sizeof(*p));
    int rc;

    *out = NULL;
    if (!p)
        return -ENOMEM;
    p->last = &p->first;
    pthread_mutex_init(&p->lock, NULL);
    pthread_cond_init(&p->changed, NULL);
    rc = -pthread_create(&p->thread, NULL, work, p);
    if (rc) {
        pthread_cond_destroy(&p->changed);
        pthread_mutex_destroy(&p->lock);
        free(p);
        return rc;
    }
    *out = p;
    return 0;
}

int pictures_add(struct pictures *p, const struct picture_job *job)
{
    struct node *n = malloc(sizeof(*n));

    if (!n) {
        free(job->rgba);
        free(job->path);
        return -ENOMEM;
    }
    *n = (struct node){.job = *job};
    pthread_mutex_lock(&p->lock);
    while (p->waiting && p->waiting + size_of(job) > MAX_WAITING)
        pthread_cond_wait(&p->changed, &p->lock);
    *p->last = n;
    p->last = &n->next;
    p->waiting += size_of(job);
    pictures_check(p);
    pthread_cond_broadcast(&p->changed);
    pthread_mutex_unlock(&p->lock);
    return 0;
}

int pictures_wait(struct pictures *p, struct error *e)
{
    int rc;

    pthread_mutex_lock(&p->lock);
    while (p->waiting || p->first)
        pthread_cond_wait(&p->changed, &p->lock);
    rc = p->error.code ? error_set(e, p->error.code, "%s", p->error.text) : 0;
    pthread_mutex_unlock(&p->lock);
    return rc;
}

void pictures_destroy(struct pictures *p)
{
    if (!p)
        return;
    pthread_mutex_lock(&p->lock);
    p->ending = true;
    pthread_cond_broadcast(&p->changed);
    pthread_mutex_unlock(&p->lock);
    pthread_join(p->thread, NULL);
    INVARIANT(!p->first && !p->waiting); /* what was added is done */
    pthread_cond_destroy(&p->changed);
    pthread_mutex_destroy(&p->lock);
    free(p);
}
