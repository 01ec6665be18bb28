/* SPDX-License-Identifier: MIT */
/* watched.h: a run and the processes that it watches, among the files that do it: boxes.c, crash.c, hang.c, run.c. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/clock.h"
#include "base/file/shared.h"
#include "blackbox/symbol_files.h"
#include "vkbox/judge.h"
#include "vkbox/run/end.h"
#include "vkbox/run/folder.h"
#include "vkbox/run/news.h"
#include "vkbox/run/progress.h"
#include "vkbox/run/run.h"

enum { MAX_BOXES = SHARED_MAPPINGS };

struct watched {
    char name[64]; /* of its file in the folder */
    int fd;
    struct vkbox *b; /* shared with the process, which may write anything */
    pid_t pid;
    uint64_t found_ns;
    bool has_files;             /* its files are known, by which its modules are found when it is gone */
    struct end end;             /* of who is not this process's child */
    bool over;                  /* its end was looked at */
    uint32_t seen;              /* of its events */
    bool done;                  /* it has crashed, and there is a dump */
    bool hung;                  /* that is of a hang: devices that are not lost go on */
    bool waits;                 /* there is a dump of its waiting for what may still come */
    struct vkbox_event handled; /* the last fault that its program had a handler for */
    uint32_t handled_event;     /* its number; 0: none */
    uint64_t handled_at;        /* so many submissions there were */
    uint32_t handled_told;      /* the number of the last that has a dump though its handler may return */
    struct vkbox_crash handled_crash; /* what the record said of it, which a later one overwrites */
    struct progress_wait waits_of[VKBOX_QUEUES];
    uint64_t moved_ns;            /* when a queue was found to have got on */
    struct progress_wait handler; /* for one that a fault's handler stands in while no queue has work */
};

struct run {
    const struct vkbox_run_params *p;
    struct vkbox_run_result *out;
    struct watched boxes[MAX_BOXES];
    uint32_t num_boxes;
    struct vkbox_folder folder;
    struct clock clock;
    pid_t pid;
    int gone; /* a descriptor that says when the program has ended, or -1 */
    bool ended, told_left, without_folder;
    struct sigaction ignored[_NSIG]; /* the program's, for signals that are ignored here */
    struct news news;
    struct symbol_files files;
    uint64_t oom_kills, next_look, youngest_ns; /* when a box was found last */
};

static inline uint64_t run_now(const struct run *r)
{
    return clock_now(&r->clock);
}

/* boxes.c. New records are added; whether a record's process had shortened its file; the last of its process, as those before it are
 * of programs that it was before it ran this one (exec); what it is called, as the end of a path. */
void run_scan(struct run *r);
bool watched_forget(struct watched *w);
bool watched_is_last(const struct run *r, uint32_t box);
void watched_name(const struct run *r, const struct watched *w, char out[128]);

/* crash.c */
void run_trouble(struct run *r, const char *fmt, const char *what);
const struct vkbox_dumps *run_dumps(struct run *r); /* NULL: they cannot be made */
/* Returns whether what it tells of may still end by itself. */
bool watched_dump(struct run *r, struct watched *w, const struct vkbox_event *ev);
void watched_look_at_event(struct run *r, struct watched *w);
/* Whether the program is, or was to its end, in the handler that it has for its last fault. One that has submitted since may have left
 * it by a jump, unless the same `signal` ended it; 0: none did. */
bool watched_is_in_handler(const struct watched *w, int signal);
bool watched_stands_where_told(
    const struct watched *w); /* the handler of which there is a dump has not returned */
bool watched_ended_in_handler(struct watched *w, int signal); /* it was its crash, and is put back as such */
/* A handler that may wait for ever: the dump says that nobody knows. */
void watched_tell_handled(struct run *r, struct watched *w);

/* hang.c */
void watched_look_at_progress(struct run *r, struct watched *w);
