/* SPDX-License-Identifier: MIT */
#include "cpu/capture/map.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

int cpu_map(const char *path, const uint8_t **map, size_t *size, struct error *e)
{
    struct stat st;
    void *at;
    int fd = open(path, O_RDONLY | O_CLOEXEC), cause;

    if (fd < 0)
        return error_set(e, -errno, "%s: %s", path, strerror(errno));
    if (!fstat(fd, &st) && S_ISDIR(st.st_mode)) {
        close(fd);
        return error_set(e, -EISDIR, "%s: is a folder, not a recording", path);
    }
    if (st.st_size == 0) {
        close(fd);
        return error_set(e, -EBADMSG, "%s: empty", path);
    }
    at = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    cause = errno;
    close(fd);
    if (at == MAP_FAILED)
        return error_set(e, -cause, "%s: cannot be mapped: %s", path, strerror(cause));
    *map = at;
    *size = (size_t)st.st_size;
    return 0;
}
