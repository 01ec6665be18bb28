/* SPDX-License-Identifier: MIT */
#include "base/out_file.h"

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

FILE *out_file_open(const char *path, struct error *e)
{
    FILE *f = fopen(path, "we");

    if (!f)
        error_set(e, -EIO, "%s: %s", path, strerror(errno));
    return f;
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
        r = access(path, W_OK);
    } else if (errno == ENOENT) {
        snprintf(dir, sizeof(dir), "%.*s", slash ? (int)(slash - path) + 1 : 1, slash ? path : ".");
        r = access(dir, W_OK | X_OK);
    }
    return r ? error_set(e, -EIO, "%s: %s", path, strerror(errno)) : 0;
}

int out_file_close(FILE *f, const char *path, int failed, struct error *e)
{
    bool lost = fflush(f) || ferror(f);
    int cause = errno;

    if (fclose(f) && !lost) {
        lost = true;
        cause = errno;
    }
    if (lost && !failed)
        failed = error_set(e, -EIO, "%s: %s", path, strerror(cause));
    if (failed)
        out_file_discard(path);
    return failed;
}

void out_file_discard(const char *path)
{
    struct stat st;

    if (!lstat(path, &st) && S_ISREG(st.st_mode))
        unlink(path);
}
