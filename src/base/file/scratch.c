/* SPDX-License-Identifier: MIT */
#include "base/file/scratch.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

static const char suffix[] = "-XXXXXX";

static void remove_files(int folder)
{
    int copy = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *dir = copy < 0 ? NULL : fdopendir(copy);
    const struct dirent *f;

    if (copy >= 0 && !dir)
        close(copy);
    while (dir && (f = readdir(dir)))
        if (strcmp(f->d_name, ".") != 0 && strcmp(f->d_name, "..") != 0)
            unlinkat(folder, f->d_name, 0);
    if (dir)
        closedir(dir);
}

/* The folder, locked, if it is ours, still there and held by nobody. */
static int take(int base, const char *name)
{
    int fd = openat(base, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    struct stat st, now;

    if (fd < 0)
        return -1;
    if (!flock(fd, LOCK_EX | LOCK_NB) && !fstat(fd, &st) && st.st_uid == geteuid() &&
        !fstatat(base, name, &now, AT_SYMLINK_NOFOLLOW) && now.st_dev == st.st_dev && now.st_ino == st.st_ino)
        return fd;
    close(fd);
    return -1;
}

static void sweep(int base, const char *name)
{
    size_t length = strlen(name);
    int copy = openat(base, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC), fd;
    DIR *dir = copy < 0 ? NULL : fdopendir(copy);
    const struct dirent *f;

    if (copy >= 0 && !dir)
        close(copy);
    while (dir && (f = readdir(dir))) {
        if (strncmp(f->d_name, name, length) != 0 || f->d_name[length] != '-' ||
            strlen(f->d_name) != length + sizeof(suffix) - 1 || (fd = take(base, f->d_name)) < 0)
            continue;
        remove_files(fd);
        unlinkat(base, f->d_name, AT_REMOVEDIR);
        close(fd);
    }
    if (dir)
        closedir(dir);
}

static int make_in(struct scratch *s, const char *in, const char *name)
{
    int base = open(in, O_RDONLY | O_DIRECTORY | O_CLOEXEC), r = 0;

    if (base < 0)
        return -errno;
    sweep(base, name);
    do { /* between the two, another one's sweep may have taken it for a left one */
        if ((size_t)snprintf(s->path, sizeof(s->path), "%s/%s%s", in, name, suffix) >= sizeof(s->path))
            r = -ENAMETOOLONG;
        else if (!mkdtemp(s->path))
            r = -errno;
        else
            s->fd = take(base, strrchr(s->path, '/') + 1);
    } while (!r && s->fd < 0 && access(s->path, F_OK));
    if (!r && s->fd < 0) {
        rmdir(s->path);
        r = -EMFILE;
    }
    close(base);
    return r;
}

const char *scratch_runtime_dir(void)
{
    const char *dir = getenv("XDG_RUNTIME_DIR");
    struct stat st;

    return dir && *dir == '/' && !stat(dir, &st) && S_ISDIR(st.st_mode) && st.st_uid == geteuid() ? dir
                                                                                                  : NULL;
}

int scratch_make(struct scratch *s, const char *name, bool large, struct error *e)
{
    const char *const bases[] = {"/tmp", large ? NULL : "/dev/shm", large ? NULL : scratch_runtime_dir()};
    int r = -ENOENT;

    for (size_t i = sizeof(bases) / sizeof(bases[0]); i-- > 0;) {
        *s = (struct scratch){.fd = -1};
        if (bases[i] && !(r = make_in(s, bases[i], name)))
            return 0;
    }
    *s = (struct scratch){.fd = -1};
    return error_set(e, r, "there is no folder for %s files: %s: %s", name,
                     large ? "/tmp" : "neither $XDG_RUNTIME_DIR, /dev/shm nor /tmp can be written",
                     strerror(-r));
}

void scratch_remove(struct scratch *s)
{
    if (!*s->path)
        return;
    remove_files(s->fd);
    rmdir(s->path);
    close(s->fd);
    *s = (struct scratch){.fd = -1};
}
