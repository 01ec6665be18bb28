/* SPDX-License-Identifier: MIT */
/* wire.h: the messages between d3dkmt and its service, over SOCK_SEQPACKET.
 *
 *   request:  header | structure | one block for each pointer of the structure
 *   reply:    header | structure | one block for each pointer that is written through
 *   block:    u32 present | u32 length | bytes (requests: only where they are read through), padded to 8
 *
 * The structures are those of wddm/d3dkmthk.h as they are in the memory of an x86-64 process, pointers zero, also where a process of
 * 32 bits calls (wide.h); both ends are of one machine and one build. In all functions here `arg` is such a structure. A pointer's length follows from the structure; a block that says otherwise is refused. Descriptors
 * travel with the message (SCM_RIGHTS): with a request the event of a synchronisation object or signal, with a reply the
 * memory of a context's buffers or of a locked allocation.
 *
 * A malformed request is answered with a header alone: STATUS_INFO_LENGTH_MISMATCH when it is too short or too long,
 * STATUS_INVALID_PARAMETER for a bad magic or a pointer that is not zero, STATUS_NOT_IMPLEMENTED for an unknown thunk,
 * STATUS_INVALID_BUFFER_SIZE for a block whose length is not the structure's.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "d3dkmt/d3dkmt.h"
#include "d3dkmt/wide.h"

#define WIRE_MAGIC 0x544D4B44u /* "DKMT" */

enum {
    WIRE_HELLO = 0x1000, /* the first message of a connection: struct wire_hello both ways */
    WIRE_MAX = 160 * 1024,
};

struct wire_header {
    uint32_t magic, thunk, size; /* of the whole message */
    int32_t status; /* reply: the NTSTATUS; request: the processor that the caller runs on, a hint */
    uint64_t fd_offset, fd_size; /* reply: of the descriptor's memory */
};

/* cookie 0: a new client; else another connection of the client that was given it. */
struct wire_hello {
    uint64_t cookie;
    uint64_t is_wow64; /* 1: a client of 32 bits, which gets the drivers of its kind */
};

enum wire_dir { WIRE_IN = 1, WIRE_OUT = 2, WIRE_INOUT = 3 };

struct wire_pointer {
    uint16_t at;    /* offset of the pointer */
    uint16_t count; /* offset of the UINT that counts its elements */
    uint32_t element;
    enum wire_dir dir;
    bool optional;  /* NULL is meaningful although the count is not zero */
    uint32_t least; /* elements that there are whatever the count is */
    uint32_t most;  /* and no more; 0: no limit */
};

struct wire_thunk {
    const char *name;
    uint32_t size; /* of the structure over the wire */
    const struct wide_type *type;
    struct wire_pointer pointers[4];
    unsigned num;
};

extern const struct wire_thunk d3dkmt_wire_thunks[D3DKMT_NUM_THUNKS];

/* Reads a request: `arg` (at least 4 KiB, aligned) becomes the structure, its pointers lead into `heap`, which the caller
 * frees. STATUS_SUCCESS, or what to answer. */
NTSTATUS d3dkmt_wire_parse(const void *msg, size_t size, enum d3dkmt_thunk *thunk, void *arg, void **heap);
/* The lengths of what the pointers of a parsed request lead to. */
void d3dkmt_wire_lengths(enum d3dkmt_thunk thunk, const void *arg, uint64_t lengths[4]);
/* Writes a request (`reply` NULL), or a reply with the lengths that the request had, of at most WIRE_MAX bytes; the size, or
 * 0 when it does not fit. */
size_t d3dkmt_wire_write(void *msg, enum d3dkmt_thunk thunk, const void *arg, NTSTATUS status,
                         const uint64_t *reply);
/* Reads a reply into the caller's structure `arg` and through its pointers. */
NTSTATUS d3dkmt_wire_parse_reply(const void *msg, size_t size, enum d3dkmt_thunk thunk, void *arg);
