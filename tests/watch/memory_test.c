/* SPDX-License-Identifier: MIT */
/* memory_test.c: which guest memory is kept of a submission, shared with whom, and what goes when there is too much. */
#include "test.h"

#include <stdlib.h>
#include <string.h>

#include <aerogpu/alloc.h>
#include <aerogpu/pci.h>

#include "abi/builder.h"
#include "watch/priv.h"

enum { ALLOC = 9, MEMORY = 0x100000, MEMORY_SIZE = 48 << 20, BUFFER = 1, TEXTURE, ALIAS };

struct rig {
    struct watch w;
    struct abi_builder b;
    struct {
        struct aerogpu_alloc_table_header header;
        struct aerogpu_alloc_entry entry;
    } table;
};

static uint8_t *memory(struct rig *r)
{
    return machine_ram(r->w.params.machine) + MEMORY;
}

static int begin(void **state)
{
    struct rig *r = calloc(1, sizeof(*r));
    struct error e = {0};

    *state = r;
    if (!r || machine_create(&r->w.params.machine,
                             &(struct machine_params){.kind = MACHINE_SIM, .ram_size = 64 << 20}, &e))
        return -1;
    r->w.list.end = &r->w.list.first;
    r->table.header = (struct aerogpu_alloc_table_header){.magic = AEROGPU_ALLOC_TABLE_MAGIC,
                                                          .abi_version = AEROGPU_ABI_VERSION_U32,
                                                          .size_bytes = sizeof(r->table),
                                                          .entry_count = 1,
                                                          .entry_stride_bytes = sizeof(r->table.entry)};
    r->table.entry =
        (struct aerogpu_alloc_entry){.alloc_id = ALLOC, .gpa = MEMORY, .size_bytes = MEMORY_SIZE};
    abi_builder_init(&r->b);
    return 0;
}

static int end(void **state)
{
    struct rig *r = *state;

    while (r->w.list.first) {
        struct retained *k = r->w.list.first;

        r->w.list.first = k->next;
        watch_memory_release(&r->w.memory, k);
        free(k->stream);
        free(k);
    }
    watch_memory_finish(&r->w.memory);
    abi_builder_finish(&r->b);
    machine_destroy(r->w.params.machine);
    free(r);
    return 0;
}

#define EMIT(r, ...) ABI_EMIT(&(r)->b, __VA_ARGS__)

/* What was emitted, taken. */
static struct retained *take(struct rig *r)
{
    struct retained *k = calloc(1, sizeof(*k));
    const void *bytes = abi_builder_end(&r->b, &k->cmd_size);

    k->stream = malloc(k->cmd_size);
    memcpy(k->stream, bytes, k->cmd_size);
    k->table = (uint8_t *)&r->table;
    k->alloc_size = sizeof(r->table);
    abi_builder_reset(&r->b);
    watch_memory_take(&r->w, k);
    *r->w.list.end = k;
    r->w.list.end = &k->next;
    return k;
}

static void make(struct rig *r, uint32_t size)
{
    EMIT(r, CREATE_BUFFER, create_buffer, .buffer_handle = BUFFER, .size_bytes = size,
         .backing_alloc_id = ALLOC, .backing_offset_bytes = 4096);
}

static void dirty(struct rig *r, uint32_t handle, uint32_t offset, uint32_t size)
{
    EMIT(r, RESOURCE_DIRTY_RANGE, resource_dirty_range, .resource_handle = handle, .offset_bytes = offset,
         .size_bytes = size);
}

TEST_WITH(what_changed_is_kept_once, begin, end)
{
    struct rig *r = *state;
    struct retained *a, *b, *c;

    make(r, 1024);
    a = take(r);
    assert_int_equal(a->num_pieces, 1);
    assert_int_equal(a->pieces[0].copy->gpa, MEMORY + 4096);
    assert_int_equal(a->pieces[0].copy->size, 1024);
    dirty(r, BUFFER, 0, 1024);
    b = take(r);
    assert_ptr_equal(b->pieces[0].copy, a->pieces[0].copy);
    memory(r)[4096 + 1023] = 5;
    dirty(r, BUFFER, 0, 1024);
    c = take(r);
    assert_ptr_not_equal(c->pieces[0].copy, a->pieces[0].copy);
    assert_int_equal(a->pieces[0].copy->bytes[1023], 0);
    assert_int_equal(c->pieces[0].copy->bytes[1023], 5);
    assert_int_equal(r->w.memory.bytes, 2048);
}

TEST_WITH(only_what_is_read_is_kept, begin, end)
{
    struct rig *r = *state;
    struct retained *k;

    make(r, 1024);
    take(r);
    dirty(r, BUFFER, 100, 8);
    dirty(r, 77, 0, 8); /* nobody knows it */
    k = take(r);
    assert_int_equal(k->num_pieces, 1);
    assert_int_equal(k->pieces[0].copy->gpa, MEMORY + 4096 + 100);
    EMIT(r, DESTROY_RESOURCE, destroy_resource, .resource_handle = BUFFER);
    dirty(r, BUFFER, 0, 8);
    assert_int_equal(take(r)->num_pieces, 0);
}

TEST_WITH(texels_are_whole, begin, end)
{
    struct rig *r = *state;
    struct retained *k;

    EMIT(r, CREATE_TEXTURE2D, create_texture2d, .texture_handle = TEXTURE,
         .format = AEROGPU_FORMAT_B8G8R8A8_UNORM, .width = 64, .height = 4, .mip_levels = 1,
         .array_layers = 1, .row_pitch_bytes = 256, .backing_alloc_id = ALLOC,
         .backing_offset_bytes = MEMORY_SIZE - 1024);
    EMIT(r, EXPORT_SHARED_SURFACE, export_shared_surface, .resource_handle = TEXTURE, .share_token = 5);
    EMIT(r, IMPORT_SHARED_SURFACE, import_shared_surface, .out_resource_handle = ALIAS, .share_token = 5);
    k = take(r);
    assert_int_equal(k->num_pieces, 1); /* all of its memory */
    assert_int_equal(k->pieces[0].copy->size, 1024);
    dirty(r, ALIAS, 257, 2);
    k = take(r);
    assert_int_equal(k->num_pieces, 1);
    assert_int_equal(k->pieces[0].copy->gpa, MEMORY + MEMORY_SIZE - 1024 + 256);
    assert_true(k->pieces[0].copy->size >= 16);
}

/* Playing the earlier one again writes it. */
TEST_WITH(what_may_be_written_yet_is_not_kept, begin, end)
{
    struct rig *r = *state;
    struct retained *writer;

    make(r, 1024);
    take(r);
    EMIT(r, COPY_BUFFER, copy_buffer, .dst_buffer = BUFFER, .src_buffer = 50, .dst_offset_bytes = 512,
         .size_bytes = 256, .flags = AEROGPU_COPY_FLAG_WRITEBACK_DST);
    writer = take(r);
    dirty(r, BUFFER, 0, 600);
    assert_int_equal(take(r)->num_pieces, 0);
    dirty(r, BUFFER, 0, 512);
    assert_int_equal(take(r)->num_pieces, 1);
    writer->state = RETAINED_DONE;
    dirty(r, BUFFER, 0, 600);
    assert_int_equal(take(r)->num_pieces, 1);
}

TEST_WITH(the_oldest_goes_first_and_says_so, begin, end)
{
    struct rig *r = *state;
    struct retained *a, *b, *c;

    make(r, 40 << 20);
    a = take(r);
    assert_false(a->forgotten);
    memory(r)[4096] = 1;
    dirty(r, BUFFER, 0, 40 << 20);
    b = take(r);
    assert_true(a->forgotten && !a->num_pieces);
    assert_true(!b->forgotten && b->num_pieces == 1);
    r->w.collecting = 1; /* somebody looks at all of it */
    memory(r)[4096] = 2;
    dirty(r, BUFFER, 0, 40 << 20);
    c = take(r);
    assert_true(c->forgotten && !c->num_pieces);
    assert_true(!b->forgotten && b->num_pieces == 1);
}
