/* SPDX-License-Identifier: MIT */
/* dump.h: a record, judged and made a dump of.
 *
 * Apart from who watches: that begins with each program, and this (databases, shaders, debug information) is needed once something
 * has crashed. So `aerogpu run` loads it then (struct vkbox_dumps).
 */
#pragma once

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

struct symbol_files;
struct vkbox_event;
struct vkbox_run_params;

enum { VKBOX_DUMP_TOLD = 256 };

struct vkbox_dump_order {
    const struct vkbox_run_params *run; /* where dumps go, and who is told */
    int fd;                             /* the record's */
    const struct vkbox_event *event;
    char *
        told; /* VKBOX_DUMP_TOLD bytes that get the verdict before the dump is made, if it is one of a crash; NULL: nobody asks */
    bool wait_is_said; /* there is a dump of what may still end by itself: not another one */
    uint32_t number;   /* of the dump, from 1 */
    const struct symbol_files *files;
};

struct vkbox_dump {
    bool made;
    bool may_end; /* what it tells of may still end by itself */
    char path[PATH_MAX];
};

struct vkbox_dumps {
    /* What goes wrong is told by the order's on_trouble. */
    void (*make)(const struct vkbox_dump_order *o, struct vkbox_dump *out);
    /* Of a record that nobody watched: what happened, as far as it says that. 1: a crash of which there is no dump; 0: nothing; or a
     * negative errno: it tells nothing. */
    int (*look_at_left)(int fd, struct vkbox_event *out, struct error *e);
};
extern const struct vkbox_dumps vkbox_dumps;
