/* SPDX-License-Identifier: MIT */
/* stall_form.h: what live plants are made of; only stall_form*.c include it.
 *
 * A form has up to five moments. In this process: `create` before the executor starts, `plant` once the work is submitted,
 * `destroy` at the end. In the executor's process: `prepare` before it takes its job, `work` when it has.
 */
#pragma once

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/types.h>

#include "stall_plants.h"

#define STALL_HELPERS 32

/* Between this process, the executor and the helpers. */
struct stall_common {
    pthread_mutex_t mutex[2], inheriting, robust;
    pthread_rwlock_t rwlock;
    pthread_cond_t cond;
    _Atomic uint64_t until_ns; /* for how long helpers keep a processor busy */
    _Atomic int32_t thread;    /* of the executor, that does its work; 0: itself */
};

struct stall_form {
    const struct form *form;
    int cpu;           /* everything of the plant runs there */
    uint32_t pick;     /* by seed: which of several ways */
    uint64_t limit_ns; /* of the wait */
    uint64_t part_ns;  /* of it, that is to go before what is planted */
    uint64_t end_ns;   /* when it was */
    int ready[2];      /* a helper says that it holds what it should */
    int go[2];         /* a byte for each helper that is to go on */
    int file, set;     /* a file in memory; a set of semaphores */
    int pipe[2];       /* between executor and nobody */
    pid_t helpers[STALL_HELPERS];
    uint32_t num_helpers;
    char group[2][96], path[96]; /* control groups; a file on a disk */
    struct stall_common *common;
};

struct form {
    struct plant_kind kind;
    /* false with the reason why it cannot be planted here */
    bool (*create)(struct stall_form *f, char *why, size_t cap);
    void (*prepare)(struct stall_form *f);
    bool (*work)(struct stall_form *f);  /* true: the work is done */
    void (*after)(struct stall_form *f); /* in the executor, when it has said so */
    void (*plant)(struct stall_form *f, pid_t executor);
    void (*destroy)(struct stall_form *f, pid_t executor); /* before the executor is killed */
    struct stall_outcome outcome;
    int arg; /* of those that share functions */
};

#define STALL_FORMS(LIST)                                                                                    \
    extern const struct form LIST[];                                                                         \
    extern const uint32_t LIST##_num;
STALL_FORMS(stall_fates)
STALL_FORMS(stall_queues)
STALL_FORMS(stall_locks)
STALL_FORMS(stall_disks)
STALL_FORMS(stall_tricks)
#undef STALL_FORMS

/* A process that ends with this one. `run` is called in it; it holds what it is to hold, says stall_ready(), and waits for
 * its byte with stall_wait_go(). */
void stall_helper(struct stall_form *f, const char *name, void (*run)(struct stall_form *f));
void stall_ready(struct stall_form *f);
void stall_wait_go(struct stall_form *f);
void stall_let_go(struct stall_form *f); /* all helpers */

void stall_pin(int cpu);
bool stall_real_time(int priority);
uint64_t stall_now(void);
void stall_nap(uint64_t ns);
void stall_spin(uint64_t until_ns);
/* Moments that many share. What else runs here must not be the stall; and the work is never done. */
void stall_be_first(struct stall_form *f);
bool stall_spin_on(struct stall_form *f);
void stall_go(struct stall_form *f, pid_t executor);
bool stall_write(const char *dir, const char *file, const char *text);
/* Makes group `i` below the controller's hierarchy of version 1, or of version 2 if that has `file2`; which, or 0. */
int stall_group(struct stall_form *f, int i, const char *controller, const char *file1, const char *file2);
bool stall_join(struct stall_form *f, int i, pid_t pid);
