/* SPDX-License-Identifier: MIT */
/* tree.h: the processes of a program: what it started, what those started, and who was left behind by a parent that ended.
 *
 * 1. Everybody who was started is found, in whatever group or session: orphans become children of ours.
 * 2. How one ended is known if it was a child of ours, or if the kernel (Linux 6.15) tells of others too.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum { TREE_PROCESSES = 1024, TREE_LISTED = 4096, TREE_REPLACED_NAMES = 160 };

/* Where Vulkan or OpenGL was seen, and the layer or the vendor library was not heard of. */
enum tree_blind {
    TREE_SEES,        /* or it was not looked yet */
    TREE_NO_VULKAN,   /* nobody loaded a driver */
    TREE_NO_VARIABLE, /* the environment was cleared */
    TREE_REPLACED,    /* variables of it were: `replaced` */
    TREE_NO_LAYER,    /* the loader did not load it: privileges, or another place */
    TREE_NO_RECORD,   /* it was loaded, and could not reach the record */
};

struct tree_process {
    pid_t pid;
    int pidfd;         /* -1: none */
    bool alive, ended; /* `ended`: and `status` is how, as of wait() */
    int status;
    enum tree_blind blind;
    char replaced[TREE_REPLACED_NAMES]; /* names of variables */
};

struct tree_listed {
    pid_t pid, parent;
    bool zombie;
};

struct tree {
    pid_t top;
    const char *layers; /* the folder of the layer, as the program has it in its environment */
    struct tree_process process[TREE_PROCESSES];
    uint32_t num;
    pid_t others[64]; /* children that were there before */
    uint32_t num_others;
    struct tree_listed listed[TREE_LISTED]; /* whoever there is, when it was looked */
    size_t num_listed;
};

/* From now on orphans become children of this process. */
void tree_init(struct tree *t);
/* Closes what is open. */
void tree_finish(struct tree *t);
void tree_start(struct tree *t, pid_t top);
/* Who is there now. */
void tree_scan(struct tree *t);
/* Who ended. */
void tree_reap(struct tree *t);
/* Looks at who loaded what; `reports`: somebody has reached the record. */
void tree_look(struct tree *t, bool reports);
/* That process, or NULL: it is not the program's. */
struct tree_process *tree_find(struct tree *t, pid_t pid);
uint32_t tree_alive(const struct tree *t);
/* Sends a signal to everybody who is there. */
void tree_kill(struct tree *t, int sig);
/* The worst that tree_look() saw, whose it is, and the variables that were replaced there. */
enum tree_blind tree_blind(const struct tree *t, pid_t *pid, char replaced[TREE_REPLACED_NAMES]);
