/* SPDX-License-Identifier: MIT */
/* collect_recording.c: the playable recording of the last submissions, with the guest memory that they name: what they read of it as
 * it was when the device took them (memory.c), all else as it is now. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "abi/alloc_table.h"
#include "base/array.h"
#include "blackbox/package.h"
#include "trace/writer.h"
#include "watch/collect.h"

struct memory {
    uint64_t gpa, size, blob;
};

struct recording {
    struct trace_writer *t;
    struct memory *memory;
    size_t n, cap;
    uint64_t bytes;
    struct map copies; /* by their place in this process: blobs */
    uint32_t forgotten;
    struct error e;
};

static uint64_t copy_blob(struct recording *r, const struct watch_copy *copy)
{
    uint64_t *id = map_put(&r->copies, (uint64_t)(uintptr_t)copy);

    if (!id)
        return 0;
    if (!*id)
        trace_writer_blob(r->t, TRACE_BLOB_ALLOC_MEMORY, copy->bytes, copy->size, id, &r->e);
    return *id;
}

/* Its blob, if it is to be written now: each piece of memory stands in the recording once, at its first use. */
static uint64_t memory_blob(struct collector *c, struct recording *r, uint64_t gpa, uint64_t size)
{
    struct machine *m = c->w->params.machine;
    uint64_t ram = machine_ram_size(m), id = 0;

    for (size_t i = 0; i < r->n; i++)
        if (r->memory[i].gpa == gpa && r->memory[i].size == size)
            return 0;
    if (!size || gpa >= ram || size > ram - gpa || size > c->w->params.max_memory_bytes - r->bytes)
        return 0;
    if (array_reserve(r->memory, r->cap, r->n + 1))
        return 0;
    trace_writer_blob(r->t, TRACE_BLOB_ALLOC_MEMORY, machine_ram(m) + gpa, size, &id, &r->e);
    r->memory[r->n++] = (struct memory){gpa, size, id};
    r->bytes += size;
    return id;
}

/* Behind what stands around them: they are placed in this order. */
static void put_pieces(struct recording *r, const struct retained *k, struct trace_submission *s,
                       struct trace_range *ranges)
{
    for (size_t i = 0; i < k->num_pieces; i++) {
        const struct watch_piece *x = &k->pieces[i];

        ranges[s->num_ranges++] = (struct trace_range){.alloc_id = x->alloc_id,
                                                       .flags = x->readonly ? 1 : 0,
                                                       .gpa = x->copy->gpa,
                                                       .size = x->copy->size,
                                                       .blob = copy_blob(r, x->copy)};
    }
    r->forgotten += k->forgotten;
}

static void record_submission(struct collector *c, struct recording *r, const struct retained *k)
{
    struct trace_submission s = {.submit_flags = k->flags,
                                 .context_id = k->context_id,
                                 .engine_id = k->engine_id,
                                 .signal_fence = k->fence};
    struct abi_alloc_table table = {0};
    struct trace_range *ranges = NULL;

    if (!k->stream)
        return;
    trace_writer_blob(r->t, TRACE_BLOB_CMD_STREAM, k->stream, k->cmd_size, &s.cmd_blob, &r->e);
    if (k->table) {
        trace_writer_blob(r->t, TRACE_BLOB_ALLOC_TABLE, k->table, k->alloc_size, &s.alloc_blob, &r->e);
        if (!abi_alloc_table_parse(&table, k->table, k->alloc_size, NULL))
            ranges = calloc(table.count + k->num_pieces + 1, sizeof(*ranges));
    }
    for (uint32_t i = 0; ranges && i < table.count; i++) {
        const struct abi_alloc *a = &table.entries[i];
        uint64_t blob = memory_blob(c, r, a->gpa, a->size);

        if (blob)
            ranges[s.num_ranges++] = (struct trace_range){.alloc_id = a->alloc_id,
                                                          .flags = a->readonly ? 1 : 0,
                                                          .gpa = a->gpa,
                                                          .size = a->size,
                                                          .blob = blob};
    }
    if (ranges)
        put_pieces(r, k, &s, ranges);
    s.ranges = ranges;
    trace_writer_submission(r->t, &s, &r->e);
    abi_alloc_table_finish(&table);
    free(ranges);
}

void watch_put_recording(struct collector *c, const bool *presents)
{
    int fd = memfd_create("blackbox-recording", MFD_CLOEXEC);
    struct recording r = {0};
    char path[64];
    struct stat st;

    snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
    if (fd < 0 ||
        trace_writer_create(&r.t,
                            &(struct trace_writer_params){
                                .path = path,
                                .command_abi = AEROGPU_ABI_VERSION_U32,
                                .producer = c->w->params.producer ? c->w->params.producer : "aerogpu",
                                .notes = "the last submissions before a crash"},
                            &r.e))
        goto out;
    for (uint32_t i = 0, frame = 0; i < c->sn->num_items; i++) {
        if (!i || presents[i - 1])
            trace_writer_begin_frame(r.t, frame++, &r.e);
        record_submission(c, &r, &c->sn->items[i]);
        if (presents[i])
            trace_writer_present(r.t, &r.e);
        else if (i + 1 == c->sn->num_items)
            trace_writer_end_frame(r.t, &r.e);
    }
    if (trace_writer_finish(r.t, &r.e) || fstat(fd, &st))
        goto out;
    bb_row(c->p, BB_TABLE_FILE);
    bb_text(c->p, BB_file_name, "last.aerogputrace");
    bb_text(c->p, BB_file_kind, "recording");
    bb_int(c->p, BB_file_size, st.st_size);
    bb_int(c->p, BB_file_part, 0);
    if (st.st_size <= UINT32_MAX)
        bb_blob_file(c->p, BB_file_bytes, fd, (uint32_t)st.st_size);
    bb_row_end(c->p);
out:
    if (r.e.code)
        bb_meta(c->p, "recording_error", "%s", r.e.text);
    if (r.forgotten)
        bb_meta(c->p, "memory_dropped", "%u", r.forgotten);
    free(r.memory);
    map_finish(&r.copies);
    if (fd >= 0)
        close(fd);
}
