/* SPDX-License-Identifier: MIT */
/* thousand.h: a frame of 1 000 small draws at 1024 x 768 on a machine of its own, for the benches that time it. */
#pragma once

#include "base/error.h"
#include "machine/driver.h"
#include "machine/machine.h"

enum { DRAWS = 1000, WIDTH = 1024, HEIGHT = 768 };

struct thousand_vertex {
    float position[4], color[4];
};

struct thousand {
    struct machine *machine;
    struct driver *driver;
    uint64_t stream_gpa;
    uint32_t frame_size; /* bytes of the frame's stream */
    int errors;          /* that the device latched */
};

/* Of all draws; `first_vertex` of draw i is 6 i. */
const struct thousand_vertex *thousand_vertices(size_t *bytes);
/* A file of samples/shaders; the caller frees it. */
void *thousand_shader(const char *name, size_t *size);

/* Starts a machine, makes the objects and leaves the frame's stream in guest memory. Ends the program where that fails. */
void thousand_open(struct thousand *t, enum exec_markers markers);
void thousand_close(struct thousand *t);
/* Submits the frame and returns its fence. */
uint64_t thousand_submit(struct thousand *t);
void thousand_wait(struct thousand *t, uint64_t fence);

/* Ends the program with exit code 4 if `r` is not 0. */
void check(int r, const char *what, const struct error *e);
