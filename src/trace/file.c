/* SPDX-License-Identifier: MIT */
#include "trace/file.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { WINDOW = 64 * 1024 };

int trace_fail(struct error *e, int code, uint64_t offset, const char *field, const char *fmt, ...)
{
    char text[200];
    va_list args;

    va_start(args, fmt);
    vsnprintf(text, sizeof(text), fmt, args);
    va_end(args);
    return error_set(e, code, "offset 0x%" PRIx64 ": %s: %s", offset, field, text);
}

int trace_file_open(struct trace_file *f, const struct trace_reader_params *p, struct error *e)
{
    struct stat st;

    *f = (struct trace_file){.fd = -1};
    if (!p->path) {
        f->data = p->data;
        f->size = p->size;
        return 0;
    }
    /* O_NONBLOCK: opening a fifo that nobody writes must not hang before fstat can refuse it. */
    f->fd = open(p->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (f->fd < 0)
        return error_set(e, -errno, "cannot open: %s", strerror(errno));
    f->window = malloc(WINDOW);
    if (!f->window || fstat(f->fd, &st)) {
        int code = f->window ? -errno : -ENOMEM;
        trace_file_close(f);
        return error_set(e, code, "cannot open: %s", strerror(-code));
    }
    if (!S_ISREG(st.st_mode)) {
        trace_file_close(f);
        return error_set(e, S_ISDIR(st.st_mode) ? -EISDIR : -EBADMSG, "%s",
                         S_ISDIR(st.st_mode)
                             ? "is a directory, not a recording"
                             : "is not a regular file, and a recording is read from its end too");
    }
    f->size = (uint64_t)st.st_size;
    return 0;
}

void trace_file_close(struct trace_file *f)
{
    if (f->fd >= 0)
        close(f->fd);
    free(f->window);
    *f = (struct trace_file){.fd = -1};
}

static int read_all(int fd, uint64_t offset, uint8_t *to, size_t size, size_t least, size_t *got)
{
    *got = 0;
    while (*got < size) {
        ssize_t n = pread(fd, to + *got, size - *got, (off_t)(offset + *got));

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return -errno;
        if (n == 0)
            break;
        *got += (size_t)n;
    }
    return *got < least ? -EIO : 0;
}

int trace_file_read(struct trace_file *f, uint64_t offset, void *to, uint32_t size, struct error *e)
{
    size_t got;
    int rc;

    if (offset > f->size || size > f->size - offset)
        return error_set(e, -ENODATA,
                         "offset 0x%" PRIx64 ": %" PRIu32 " bytes are wanted, the file ends at 0x%" PRIx64,
                         offset, size, f->size);
    if (size == 0)
        return 0;
    if (f->fd < 0) {
        memcpy(to, f->data + offset, size);
        return 0;
    }
    if (offset >= f->window_start && offset + size <= f->window_start + f->window_size) {
        memcpy(to, f->window + (offset - f->window_start), size);
        return 0;
    }
    if (size > WINDOW / 4) {
        rc = read_all(f->fd, offset, to, size, size, &got);
    } else {
        rc = read_all(f->fd, offset, f->window, WINDOW, size, &got);
        f->window_start = offset;
        f->window_size = (uint32_t)got;
        if (!rc)
            memcpy(to, f->window, size);
    }
    if (rc)
        return error_set(e, rc, "offset 0x%" PRIx64 ": reading %" PRIu32 " bytes: %s", offset, size,
                         strerror(-rc));
    return 0;
}
