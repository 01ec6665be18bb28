/* SPDX-License-Identifier: MIT */
/* room.h: the room that a record takes, for the layer that makes it and for who chooses its place. */
#pragma once

#include <fcntl.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/resource.h>
#include <unistd.h>

#include "vkbox/box.h"

/* That a place for records has to have. A program of a few hundred objects takes a tenth of it. */
enum { ROOM_WANTED = 7 << 20 };

/* The head is there at once; what else the reader looks at while the program runs, and what devices write, before anybody touches it
 * (box_room()). What only a dump needs comes as it is written (signals.c says what happens where there is no room for it). The file has
 * its size, by which the reader knows it, last. */
static inline bool room_take(int fd)
{
    struct rlimit limit;

    if (!getrlimit(RLIMIT_FSIZE, &limit) &&
        limit.rlim_cur < sizeof(struct vkbox)) /* that would be a signal */
        return false;
    return !posix_fallocate(fd, 0, offsetof(struct vkbox, command_buffers)) &&
           !ftruncate(fd, sizeof(struct vkbox));
}
