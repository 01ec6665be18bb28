/* SPDX-License-Identifier: MIT */
#include "base/file/out.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"

/* 4: the umask takes of either. */
enum { OWN = 0600, EVERYBODYS = 0666 };

/* Files that are known: read by this process, or made by it. */
static struct known {
    dev_t dev;
    ino_t ino;
    bool made;
    char *path;
} * known;
static size_t num_known, room_known;
/* Folders that were made, each behind those that it is in. */
static char **folders;
static size_t num_folders, room_folders;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* Numbers of files that are gone are given to new ones: what does not stand under its name any more is forgotten. */
static const struct known *find(const struct stat *st)
{
    struct stat now;

    for (size_t i = 0; i < num_known; i++) {
        struct known *k = &known[i];

        if (k->dev != st->st_dev || k->ino != st->st_ino)
            continue;
        if (!stat(k->path, &now) && now.st_dev == k->dev && now.st_ino == k->ino)
            return k;
        free(k->path);
        *k = known[--num_known];
        return NULL;
    }
    return NULL;
}

/* 0, or -ENOMEM: what is not known cannot be refused. */
static int know(const char *path, const struct stat *st, bool made)
{
    char *copy;
    int r = 0;

    if (!S_ISREG(st->st_mode))
        return 0;
    copy = strdup(path);
    pthread_mutex_lock(&lock);
    if (!find(st)) {
        r = copy ? array_reserve(known, room_known, num_known + 1) : -ENOMEM;
        if (!r) {
            known[num_known++] = (struct known){st->st_dev, st->st_ino, made, copy};
            copy = NULL;
        }
    }
    pthread_mutex_unlock(&lock);
    free(copy);
    return r;
}

int out_file_spare(const char *path, struct error *e)
{
    struct stat st;

    return !stat(path, &st) && know(path, &st, false)
               ? error_set(e, -ENOMEM, "%s: no memory for its name", path)
               : 0;
}

/* 1 and 2. A file may be made again under the name that it was made by. */
static int refuse(const char *path, const struct stat *st, struct error *e)
{
    const struct known *k;
    int r = 0;

    pthread_mutex_lock(&lock);
    k = find(st);
    if (k && !k->made)
        r = error_set(e, -EEXIST, "%s: that is the file %s itself, which is read; name another", path,
                      k->path);
    else if (k && strcmp(k->path, path) != 0)
        r = error_set(e, -EEXIST, "%s: that is the file %s, which is made as well; name another", path,
                      k->path);
    pthread_mutex_unlock(&lock);
    return r;
}

static int fail(const char *path, struct error *e)
{
    const bool lacking = errno == ENOMEM || errno == EMFILE || errno == ENFILE || errno == ENOSPC;

    return error_set(e, lacking ? -errno : -EIO, "%s: %s", path, strerror(errno));
}

/* 5: as the kernel does where fs.protected_regular and its like are set. Who may take a name from us there: only its owner, and
 * the folder's. */
static bool is_shared(const char *path, struct stat *folder)
{
    const char *slash = strrchr(path, '/');
    char dir[PATH_MAX];

    snprintf(dir, sizeof(dir), "%.*s", slash ? (int)(slash - path) + 1 : 1, slash ? path : ".");
    return !stat(dir, folder) && folder->st_mode & S_ISVTX && folder->st_mode & S_IWOTH;
}

static int open_file(const char *path, int flags, mode_t mode)
{
    struct stat folder, st;
    const bool shared = is_shared(path, &folder);
    int fd;

    if (shared && (lstat(path, &st) || !S_ISLNK(st.st_mode) || st.st_uid != geteuid()))
        flags |= O_NOFOLLOW;
    fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | flags, mode);
    if (fd < 0 || !(flags & O_NOFOLLOW) || fstat(fd, &st) || st.st_uid == geteuid() ||
        st.st_uid == folder.st_uid)
        return fd;
    close(fd);
    errno = EACCES;
    return -1;
}

static int open_known(const char *path, int flags, mode_t mode, struct error *e)
{
    struct stat st;
    bool there = !stat(path, &st);
    int fd, r = 0;

    if (there && (r = refuse(path, &st, e)))
        return r;
    fd = open_file(path, flags, mode);
    if (fd < 0)
        return fail(path, e);
    if (fstat(fd, &st) || !know(path, &st, true))
        return fd;
    close(fd);
    if (!there)
        unlink(path);
    errno = ENOMEM;
    return fail(path, e);
}

int out_file_descriptor(const char *path, struct error *e)
{
    return open_known(path, 0, OWN, e);
}

/* In the folder of `path`, without a name: it goes with whoever has it open, however that ends. */
static int open_nameless(const char *path)
{
    const char *slash = strrchr(path, '/');
    char dir[PATH_MAX];

    snprintf(dir, sizeof(dir), "%.*s", slash ? (int)(slash - path) + 1 : 1, slash ? path : ".");
    return open(dir, O_WRONLY | O_TMPFILE | O_CLOEXEC, OWN);
}

int out_file_hidden(const char *path, struct error *e)
{
    struct stat st;
    int there = -1, fd;

    if (!lstat(path, &st)) {
        there = open_known(path, 0, OWN, e); /* whether it may be written at all */
        if (there < 0 || !S_ISREG(st.st_mode))
            return there;
        if (flock(there, LOCK_EX | LOCK_NB) && errno == EWOULDBLOCK) {
            close(there);
            return error_set(e, -EBUSY, "%s: something else is writing it", path);
        }
    }
    fd = open_nameless(path);
    if (fd < 0) /* file systems that have none */
        return there >= 0 ? there : open_known(path, 0, OWN, e);
    if (there >= 0) {
        fchmod(fd, st.st_mode & 0777);
        close(there);
    }
    return fd;
}

int out_file_name(int fd, const char *path, struct error *e)
{
    char from[32], made[PATH_MAX];
    struct stat st;
    int n = 0;

    if (fstat(fd, &st) || !S_ISREG(st.st_mode) || st.st_nlink)
        return 0;
    snprintf(from, sizeof(from), "/proc/self/fd/%d", fd);
    if (linkat(AT_FDCWD, from, AT_FDCWD, path, AT_SYMLINK_FOLLOW)) {
        do {
            if (snprintf(made, sizeof(made), "%s.%d.%d", path, (int)getpid(), n++) >= (int)sizeof(made))
                return error_set(e, -EIO, "%s: its name is too long", path);
        } while (linkat(AT_FDCWD, from, AT_FDCWD, made, AT_SYMLINK_FOLLOW) && errno == EEXIST && n < 1000);
        if (rename(made, path)) {
            fail(path, e);
            unlink(made);
            return e ? e->code : -EIO;
        }
    }
    return fstat(fd, &st) || know(path, &st, true) ? error_set(e, -ENOMEM, "%s: no memory for its name", path)
                                                   : 0;
}

FILE *out_file_append(const char *path, struct error *e)
{
    int fd = open_known(path, O_APPEND | O_NONBLOCK, OWN,
                        e); /* a FIFO without a reader is an error, and none is waited for */
    FILE *f = fd < 0 ? NULL : fdopen(fd, "a");

    if (fd >= 0 && !f) {
        fail(path, e);
        close(fd);
    }
    return f;
}

static FILE *open_empty(const char *path, mode_t mode, struct error *e)
{
    int fd = open_known(path, 0, mode, e);
    struct stat st;
    FILE *f = NULL;

    if (fd < 0)
        return NULL;
    if ((!fstat(fd, &st) && S_ISREG(st.st_mode) && ftruncate(fd, 0)) || !(f = fdopen(fd, "w"))) {
        fail(path, e);
        close(fd);
    }
    return f;
}

FILE *out_file_whole(const char *path, struct error *e)
{
    int fd = out_file_hidden(path, e);
    FILE *f = fd < 0 ? NULL : fdopen(fd, "w");
    struct stat st;

    if (fd >= 0 && (!f || (!fstat(fd, &st) && S_ISREG(st.st_mode) && ftruncate(fd, 0)))) {
        fail(path, e);
        close(fd);
        return NULL;
    }
    return f;
}

FILE *out_file_open(const char *path, struct error *e)
{
    return open_empty(path, OWN, e);
}

FILE *out_file_result(const char *path, struct error *e)
{
    return open_empty(path, EVERYBODYS, e);
}

/* As mkdir(); one that no memory is there to remember stays. */
static int make_folder(const char *path, mode_t mode)
{
    if (mkdir(path, mode))
        return -1;
    pthread_mutex_lock(&lock);
    if (!array_reserve(folders, room_folders, num_folders + 1) && (folders[num_folders] = strdup(path)))
        num_folders++;
    pthread_mutex_unlock(&lock);
    return 0;
}

void out_file_folders_end(void)
{
    pthread_mutex_lock(&lock);
    while (num_folders) {
        rmdir(folders[--num_folders]); /* only what is empty goes */
        free(folders[num_folders]);
    }
    free(folders);
    folders = NULL;
    room_folders = 0;
    pthread_mutex_unlock(&lock);
}

static int open_folder(const char *path, mode_t mode, struct error *e)
{
    char part[PATH_MAX];
    struct stat st;

    if ((size_t)snprintf(part, sizeof(part), "%s", path) >= sizeof(part)) {
        errno = ENAMETOOLONG;
        return fail(path, e);
    }
    for (char *p = part + 1; *part && *p; p++)
        if (*p == '/') {
            *p = '\0';
            (void)make_folder(part, mode); /* if it cannot be made, what is in it cannot */
            *p = '/';
        }
    if (!make_folder(part, mode))
        return 0;
    if (errno == EEXIST && !stat(part, &st) && !S_ISDIR(st.st_mode))
        errno = ENOTDIR;
    return errno == EEXIST && !access(part, W_OK | X_OK) ? 0 : fail(path, e);
}

int out_file_folder(const char *path, struct error *e)
{
    return open_folder(path, OWN | S_IXUSR, e);
}

int out_file_result_folder(const char *path, struct error *e)
{
    return open_folder(path, EVERYBODYS | S_IXUSR | S_IXGRP | S_IXOTH, e);
}

int out_file_check(const char *path, struct error *e)
{
    const char *slash = strrchr(path, '/');
    char dir[PATH_MAX];
    struct stat st;
    int r = stat(path, &st);

    if (!r && S_ISDIR(st.st_mode)) {
        errno = EISDIR;
        r = -1;
    } else if (!r) {
        if ((r = refuse(path, &st, e)))
            return r;
        r = access(path, W_OK);
    } else if (errno == ENOENT) {
        snprintf(dir, sizeof(dir), "%.*s", slash ? (int)(slash - path) + 1 : 1, slash ? path : ".");
        r = access(dir, W_OK | X_OK);
    }
    return r ? fail(path, e) : 0;
}

int out_file_close(FILE *f, const char *path, int failed, struct error *e)
{
    bool lost = fflush(f) || ferror(f);
    int cause = errno;
    struct stat st;
    bool nameless = !fstat(fileno(f), &st) && S_ISREG(st.st_mode) && !st.st_nlink;

    if (nameless && !lost && !failed)
        failed = out_file_name(fileno(f), path, e);
    if (fclose(f) && !lost) {
        lost = true;
        cause = errno;
    }
    if (lost && !failed)
        failed = error_set(e, -EIO, "%s: %s", path, strerror(cause));
    if (failed && !nameless)
        out_file_discard(path);
    return failed;
}

void out_file_discard(const char *path)
{
    struct stat st;
    const struct known *k;

    if (lstat(path, &st) || !S_ISREG(st.st_mode))
        return;
    pthread_mutex_lock(&lock);
    k = find(&st);
    if (!k || k->made)
        unlink(path);
    pthread_mutex_unlock(&lock);
}
