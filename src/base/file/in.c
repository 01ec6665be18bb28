/* SPDX-License-Identifier: MIT */
#include "base/file/in.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file/out.h"

int in_file_map(const char *path, const uint8_t **map, size_t *size, struct error *e)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK), err = 0;
    struct stat st;
    void *at;

    if (fd < 0 || fstat(fd, &st)) {
        err = error_set(e, -errno, "%s: %s", path, strerror(errno));
    } else if (S_ISDIR(st.st_mode)) {
        err = error_set(e, -EISDIR, "%s: is a folder", path);
    } else if (!S_ISREG(st.st_mode) || !st.st_size) {
        err = error_set(e, -EBADMSG, "%s: %s", path, S_ISREG(st.st_mode) ? "is empty" : "is no regular file");
    } else {
        at = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
        if (at == MAP_FAILED) {
            err = error_set(e, -errno, "%s: cannot be mapped: %s", path, strerror(errno));
        } else {
            err = out_file_spare(path, e);
            if (err)
                munmap(at, (size_t)st.st_size);
            *map = err ? NULL : at;
            *size = err ? 0 : (size_t)st.st_size;
        }
    }
    if (fd >= 0)
        close(fd);
    return err;
}
