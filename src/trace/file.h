/* SPDX-License-Identifier: MIT */
/* file.h: the bytes of a recording, wherever they are, and how a complaint about them looks. Private to src/trace. */
#pragma once

#include <stdint.h>

#include "base/error.h"
#include "trace/reader.h"

struct trace_file {
    int fd; /* -1: data */
    const uint8_t *data;
    uint64_t size;
    /* Read-ahead for the small reads. */
    uint8_t *window;
    uint64_t window_start;
    uint32_t window_size;
};

int trace_file_open(struct trace_file *f, const struct trace_reader_params *p, struct error *e);
void trace_file_close(struct trace_file *f);

/* Copies bytes that lie within the file. -EIO also if the file has shrunk meanwhile. */
int trace_file_read(struct trace_file *f, uint64_t offset, void *to, uint32_t size, struct error *e);

/* "offset 0x9c: record.payload_len: 4096 bytes, but …"; returns `code`. */
int trace_fail(struct error *e, int code, uint64_t offset, const char *field, const char *fmt, ...)
    __attribute__((format(printf, 5, 6)));

/* header.c: everything around the records. `meta` and `frames` of `info` are malloc'ed. */
int trace_read_header(struct trace_file *f, struct trace_info *info, char warning[160], struct error *e);
int trace_read_tail(struct trace_file *f, struct trace_info *info, struct error *e);
