/* SPDX-License-Identifier: MIT */
#include "cpu/capture/file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"

#define ZSTD_LEVEL                                                                                           \
    1 /* the recorder must keep up with the trace; higher levels gain a tenth and cost three times */

bool cpu_file_is(const uint8_t *bytes, size_t size)
{
    return size >= 8 && !memcmp(bytes, CPU_FILE_MAGIC, 8);
}

static void on_damage(void *ctx, const char *what)
{
    cpu_note(ctx, "%s", what);
}

static struct blocks_params params_of(struct cpu_notes *notes)
{
    return (struct blocks_params){.magic = CPU_FILE_MAGIC,
                                  .what = "a recording of processors",
                                  .resume = true,
                                  .damaged = on_damage,
                                  .ctx = notes};
}

int cpu_file_open(struct blocks *b, struct cpu_notes *notes, const char *path, struct error *e)
{
    const struct blocks_params p = params_of(notes);

    return blocks_open(b, &p, path, e);
}

int cpu_file_open_memory(struct blocks *b, struct cpu_notes *notes, const uint8_t *bytes, size_t size,
                         struct error *e)
{
    const struct blocks_params p = params_of(notes);

    return blocks_open_memory(b, &p, bytes, size, e);
}

int cpu_file_load(const struct blocks *b, uint32_t i, uint8_t **buf, size_t *cap, size_t pad, struct error *e)
{
    const uint32_t raw = b->list[i].raw;
    size_t n;
    int err;

    if (*cap < raw + pad) {
        uint8_t *p = realloc(*buf, raw + pad);
        if (!p)
            return error_set(e, -ENOMEM, "block at byte %llu: no memory for %u bytes",
                             (unsigned long long)b->list[i].offset, raw);
        *buf = p;
        *cap = raw + pad;
    }
    err = blocks_unpack(b, i, NULL, *buf, raw, &n, e);
    if (!err && n != raw)
        err = error_set(e, -EBADMSG, "the block at byte %llu does not unpack: its size differs",
                        (unsigned long long)b->list[i].offset);
    if (!err)
        memset(*buf + raw, 0, pad);
    return err;
}

int cpu_writer_create(struct blocks_writer **out, const char *path, struct error *e)
{
    return blocks_writer_create(out, CPU_FILE_MAGIC, 0, "", ZSTD_LEVEL, path, e);
}

int cpu_writer_pages(struct blocks_writer *w, uint16_t cpu, uint64_t first_ns, const void *pages, size_t size)
{
    INVARIANT(cpu < CPU_FILE_MAX_CPUS);
    return blocks_writer_put(w, &(struct block){.kind = CPU_BLOCK_PAGES, .stream = cpu, .first = first_ns},
                             pages, size, NULL, 0, 0, NULL);
}

int cpu_writer_json(struct blocks_writer *w, enum cpu_block_kind kind, uint64_t ns, json_t *j)
{
    char *text = j ? json_dumps(j, JSON_COMPACT) : NULL;
    int r = text ? blocks_writer_put(w, &(struct block){.kind = (uint8_t)kind, .first = ns}, text,
                                     strlen(text), NULL, 0, 0, NULL)
                 : -ENOMEM;

    INVARIANT(kind >= CPU_BLOCK_META && kind <= CPU_BLOCK_END && kind != CPU_BLOCK_PAGES);
    free(text);
    json_decref(j);
    return r;
}
