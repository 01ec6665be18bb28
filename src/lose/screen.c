/* SPDX-License-Identifier: MIT */
#include "lose/screen.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file/in.h"
#include "base/program.h"

enum {
    READY_MS = 30000,
    VISIBLE = 24, /* of 255 in a channel */
    CELL = 16,    /* pixels */
    /* XWDFile.h: 32-bit words, big-endian. */
    XWD_HEADER = 0,
    XWD_WIDTH = 4,
    XWD_HEIGHT = 5,
    XWD_BYTE_ORDER = 7,
    XWD_BITS = 11,
    XWD_STRIDE = 12,
    XWD_COLORS = 19,
    XWD_WORDS = 25,
};

static void enter(void *ctx)
{
    int null = open("/dev/null", O_RDWR);

    setpgid(0, 0); /* an interrupt is not for it */
    if (*(int *)ctx == 3)
        fcntl(3, F_SETFD, 0);
    dup2(*(int *)ctx, 3); /* where it writes its number */
    for (int fd = 0; fd < 3 && null >= 0; fd++)
        dup2(null, fd);
}

static int await_number(struct screen *s, int fd, struct error *e)
{
    struct pollfd ready = {.fd = fd, .events = POLLIN};
    char number[8] = "";
    size_t n = 0;

    while (n < sizeof(number) - 1 && !strchr(number, '\n')) {
        ssize_t got = poll(&ready, 1, READY_MS) == 1 ? read(fd, number + n, sizeof(number) - 1 - n) : 0;
        if (got <= 0)
            return error_set(e, -EIO, "Xvfb did not start");
        n += (size_t)got;
    }
    snprintf(s->display, sizeof(s->display), ":%d", atoi(number));
    return 0;
}

int screen_size(const char *text, unsigned *width, unsigned *height, struct error *e)
{
    char end;

    if (sscanf(text, "%5ux%5u%c", width, height, &end) != 2 || !*width || !*height || *width > 16384 ||
        *height > 16384)
        return error_set(e, -EINVAL, "'%.40s' is no size of a screen, as 640x480 is", text);
    return 0;
}

int screen_start(struct screen *s, const char *size, struct error *e)
{
    unsigned width, height;
    char geometry[32];
    char *argv[] = {"Xvfb",   "-displayfd", "3",         "-screen", "0",        geometry,
                    "-fbdir", s->folder,    "-nolisten", "tcp",     "-noreset", NULL};
    int fds[2], r;

    memset(s, 0, sizeof(*s));
    r = screen_size(size, &width, &height, e);
    if (r)
        return r;
    snprintf(geometry, sizeof(geometry), "%ux%ux24", width, height);
    snprintf(s->folder, sizeof(s->folder), "/tmp/aerogpu-screen-XXXXXX");
    if (!mkdtemp(s->folder))
        return error_set(e, -errno, "no folder for a screen: %s", strerror(errno));
    r = pipe2(fds, O_CLOEXEC) ? -errno : 0;
    if (!r) {
        s->pid = program_start(argv, enter, &fds[1]);
        close(fds[1]);
        r = s->pid < 0 ? error_set(e, s->pid, "cannot run Xvfb: %s", strerror(-s->pid))
                       : await_number(s, fds[0], e);
        close(fds[0]);
    }
    if (r)
        screen_stop(s);
    return r;
}

void screen_stop(struct screen *s)
{
    char path[96];

    if (s->pid > 0) {
        kill(s->pid, SIGTERM);
        waitpid(s->pid, NULL, 0);
    }
    if (s->folder[0]) {
        snprintf(path, sizeof(path), "%s/Xvfb_screen0", s->folder);
        unlink(path);
        rmdir(s->folder);
    }
    memset(s, 0, sizeof(*s));
}

static uint32_t word(const uint8_t *file, unsigned i)
{
    const uint8_t *p = file + 4 * i;

    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

/* Pixels of 32 bits: blue, green, red and nothing from the low byte up. */
static int unpack(const uint8_t *file, size_t size, struct picture *out)
{
    uint64_t at, stride;
    bool big;

    if (size < sizeof(uint32_t) * XWD_WORDS || word(file, XWD_BITS) != 32)
        return -EBADMSG;
    out->width = word(file, XWD_WIDTH);
    out->height = word(file, XWD_HEIGHT);
    stride = word(file, XWD_STRIDE);
    big = word(file, XWD_BYTE_ORDER);
    at = word(file, XWD_HEADER) + 12ull * word(file, XWD_COLORS);
    if (!out->width || !out->height || stride < 4ull * out->width || at > size ||
        (size - at) / out->height < stride)
        return -EBADMSG;
    out->rgba = malloc(4ull * out->width * out->height);
    for (size_t y = 0; out->rgba && y < out->height; y++)
        for (size_t x = 0; x < out->width; x++) {
            const uint8_t *p = file + at + y * stride + 4 * x;
            uint8_t *q = out->rgba + 4 * (y * out->width + x);
            for (int c = 0; c < 3; c++)
                q[c] = p[big ? 1 + c : 2 - c];
            q[3] = 255;
        }
    return out->rgba ? 0 : -ENOMEM;
}

int screen_look(const struct screen *s, struct picture *out, struct error *e)
{
    const uint8_t *map;
    char path[96];
    size_t size;
    int r;

    memset(out, 0, sizeof(*out));
    snprintf(path, sizeof(path), "%s/Xvfb_screen0", s->folder);
    r = in_file_map(path, &map, &size, e);
    if (r)
        return r;
    r = unpack(map, size, out);
    munmap((void *)(uintptr_t)map, size);
    return r ? error_set(e, r, "%s: this is no picture of Xvfb's", path) : 0;
}

static bool comparable(const struct picture *a, const struct picture *b)
{
    return a->rgba && b->rgba && a->width == b->width && a->height == b->height;
}

/* In pixel `i`. */
static bool differ(const struct picture *a, const struct picture *b, size_t i)
{
    for (int c = 0; c < 3; c++)
        if (abs(a->rgba[4 * i + c] - b->rgba[4 * i + c]) > VISIBLE)
            return true;
    return false;
}

double picture_difference(const struct picture *a, const struct picture *b)
{
    size_t n = (size_t)a->width * a->height, differing = 0;

    if (!comparable(a, b))
        return 1;
    for (size_t i = 0; i < n; i++)
        differing += differ(a, b, i);
    return (double)differing / (double)n;
}

static size_t cells_in(uint32_t pixels)
{
    return (pixels + CELL - 1) / CELL;
}

size_t picture_cells(const struct picture *p)
{
    return cells_in(p->width) * cells_in(p->height);
}

void picture_changes(const struct picture *a, const struct picture *b, uint8_t *cells)
{
    for (size_t y = 0; comparable(a, b) && y < a->height; y++)
        for (size_t x = 0; x < a->width; x++)
            if (differ(a, b, y * a->width + x))
                cells[y / CELL * cells_in(a->width) + x / CELL] = 1;
}

void picture_finish(struct picture *p)
{
    free(p->rgba);
    *p = (struct picture){0};
}
