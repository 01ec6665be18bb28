/* SPDX-License-Identifier: MIT */
/* room.h: the room that a record takes, for the layer that makes it and for who chooses its place. */
#pragma once

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "vkbox/box.h"

/* That a place for records has to have. A program of a few hundred objects takes a tenth of it. */
enum { ROOM_WANTED = 7 << 20 };

/* The user's own folder in a place, made if it is not there. 0, or a negative errno: it cannot be, or it is another's. */
static inline int room_own(const char *base, char *path, size_t size)
{
    struct stat st;

    snprintf(path, size, "%.1000s/" VKBOX_OWN_FOLDER "%u", base, (unsigned)getuid());
    if ((mkdir(path, 0700) && errno != EEXIST) || lstat(path, &st))
        return -errno;
    return !S_ISDIR(st.st_mode) ? -ENOTDIR : st.st_uid != getuid() ? -EPERM : 0;
}

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
