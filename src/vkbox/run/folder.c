/* SPDX-License-Identifier: MIT */
#include "vkbox/run/folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "vkbox/run/owner.h"
#include "vkbox/room.h"

#define PREFIX "aerogpu-record-"

static bool has_room(const struct vkbox_folder *f)
{
    int fd = openat(f->fd, "room", O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    struct statvfs room;
    bool has =
        fd >= 0 && room_take(fd) && !fstatvfs(fd, &room) &&
        (!room.f_blocks /* without a limit */ || (uint64_t)room.f_bavail * room.f_frsize >= ROOM_WANTED);

    if (fd >= 0)
        close(fd);
    unlinkat(f->fd, "room", 0);
    return has;
}

static int make_in(const char *base, struct vkbox_folder *f)
{
    char own[PATH_MAX];
    bool made = false;

    for (int tries = 0; !made && tries < 4; tries++) { /* another run may remove it, when it is the last */
        const int r = room_own(base, own, sizeof(own));

        if (r)
            return r;
        snprintf(f->path, sizeof(f->path), "%.4000s/" PREFIX "XXXXXX", own);
        made = mkdtemp(f->path);
        if (!made && errno != ENOENT)
            break;
    }
    if (!made)
        return -errno;
    f->fd = open(f->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (f->fd < 0) { /* without the lock it would be taken for one that was left */
        const int err = errno;

        rmdir(f->path);
        return -err;
    }
    flock(f->fd, LOCK_EX);            /* one that sweeps may have it now */
    room_own(base, own, sizeof(own)); /* and have taken it for one that was left */
    mkdir(f->path, 0700);
    return 0;
}

int vkbox_folder_make(struct vkbox_folder *f, struct error *e)
{
    const char *const bases[] = VKBOX_BASES;
    int code = -ENOENT;

    for (size_t i = 0; i < sizeof(bases) / sizeof(bases[0]); i++) {
        int r = bases[i] ? make_in(bases[i], f) : -ENOENT;

        code = code ? r : code;
        if (!r && has_room(f))
            return 0;
        if (!r)
            vkbox_folder_remove(f);
    }
    for (size_t i = 0; i < sizeof(bases) / sizeof(bases[0]); i++) /* then the program runs without a record */
        if (!code && bases[i] && !make_in(bases[i], f))
            return 0;
    return error_set(
        e, code ? code : -ENOSPC,
        "there is no folder for the record: neither $XDG_RUNTIME_DIR, /dev/shm nor /tmp can be written");
}

void vkbox_folder_remove(struct vkbox_folder *f)
{
    DIR *dir = opendir(f->path);
    const struct dirent *d;

    while (dir && (d = readdir(dir)))
        if (d->d_name[0] != '.')
            unlinkat(dirfd(dir), d->d_name, 0);
    if (dir)
        closedir(dir);
    rmdir(f->path);
    if (strrchr(f->path, '/')) { /* and the user's, if it was the last */
        *strrchr(f->path, '/') = '\0';
        rmdir(f->path);
    }
    if (f->fd >= 0)
        close(f->fd);
}

/* The process whose record it is, if that runs. Whoever wrote the record may have written anything: /proc says who has it. */
static pid_t user_of(int dir, const char *folder, const char *name)
{
    const int fd = openat(dir, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    uint64_t counts_in = 0;
    char record[PATH_MAX];

    if (fd < 0)
        return 0;
    if (pread(fd, &counts_in, sizeof(counts_in), offsetof(struct vkbox, pid_namespace)) < 0)
        counts_in = 0;
    close(fd);
    snprintf(record, sizeof(record), "%.1000s/%.1000s", folder, name);
    return owner_find(record, atoi(name), counts_in);
}

/* Returns whether nothing is left in it. */
static bool sweep_folder(int fd, const char *name, bool is_run, vkbox_left *left, void *ctx)
{
    DIR *dir = fdopendir(dup(fd));
    const struct dirent *d;
    bool empty = true;

    while (dir && (d = readdir(dir))) {
        size_t n = strlen(d->d_name);
        pid_t pid;

        if (n < sizeof(VKBOX_SUFFIX) || strcmp(d->d_name + n - strlen(VKBOX_SUFFIX), VKBOX_SUFFIX))
            continue;
        pid = user_of(dirfd(dir), name, d->d_name);
        if (is_run || !pid)
            left(ctx, dirfd(dir), d->d_name, pid);
        if (pid)
            empty = false;
        else
            unlinkat(dirfd(dir), d->d_name, 0);
    }
    if (dir)
        closedir(dir);
    return empty;
}

/* Of a folder of this user's that nobody holds; -1: it is none. */
static int take_folder(int dir, const char *name)
{
    const int fd = openat(dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    struct stat st;

    if (fd < 0 || (!fstat(fd, &st) && st.st_uid == getuid() && !flock(fd, LOCK_EX | LOCK_NB)))
        return fd;
    close(fd);
    return -1;
}

static void sweep_base(const char *base, vkbox_left *left, void *ctx)
{
    const struct dirent *d;
    char own[PATH_MAX];
    DIR *dir;
    int fd;

    snprintf(own, sizeof(own), "%.1000s/" VKBOX_OWN_FOLDER "%u", base, (unsigned)getuid());
    fd = take_folder(AT_FDCWD, own);
    if (fd < 0)
        return;
    sweep_folder(fd, strrchr(own, '/') + 1, false, left, ctx);
    dir = fdopendir(fd);
    if (dir)
        rewinddir(dir); /* which was read to its end by the same descriptor */
    while (dir && (d = readdir(dir))) {
        const bool is_run = !strncmp(d->d_name, PREFIX, strlen(PREFIX));
        const int one = is_run ? take_folder(fd, d->d_name) : -1;

        if (one >= 0 && sweep_folder(one, d->d_name, true, left, ctx))
            unlinkat(fd, d->d_name, AT_REMOVEDIR);
        if (one >= 0)
            close(one);
    }
    if (dir)
        closedir(dir);
    else
        close(fd);
    rmdir(own); /* if nothing is in it */
}

void vkbox_folder_sweep(vkbox_left *left, void *ctx)
{
    const char *const bases[] = VKBOX_BASES;

    for (size_t i = 0; i < sizeof(bases) / sizeof(bases[0]); i++)
        if (bases[i])
            sweep_base(bases[i], left, ctx);
}
