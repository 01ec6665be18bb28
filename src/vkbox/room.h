/* SPDX-License-Identifier: MIT */
/* room.h: the room that a record takes at once, by the layer that makes it and by who chooses its place. */
#pragma once

#include <fcntl.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/resource.h>

#include "vkbox/box.h"

/* What the reader looks at while the program runs is there before anybody touches it: the head, and the marks. What only a dump
 * needs comes as it is written (signals.c says what happens where there is no room for it). The file has its size, by which the reader
 * knows it, last. */
static inline bool room_take(int fd)
{
    struct rlimit limit;

    if (!getrlimit(RLIMIT_FSIZE, &limit) &&
        limit.rlim_cur < sizeof(struct vkbox)) /* that would be a signal */
        return false;
    return !posix_fallocate(fd, 0, offsetof(struct vkbox, objects)) &&
           !posix_fallocate(fd, offsetof(struct vkbox, marks),
                            sizeof(struct vkbox) - offsetof(struct vkbox, marks));
}
