/* SPDX-License-Identifier: MIT */
/* d3d12_fuzz.c: the reader of .d3d12trace files, the walk over records, and what a player reads of them. Built for fuzzing, the
 * reader does not look at checksums (record/blocks.c), so that mutations reach what is behind them. */
#include "fuzz.h"

#include <string.h>
#include <zstd.h>

#include "base/strbuf.h"
#include "record/names.h"
#include "d3d12/play/play_plan.h"
#include "record/show.h"
#include "d3d12/gen/table.h"
#include "record/trace_file.h"
#include "record/trace_split.h"

/* The input is [blobs size: 1 byte][blob stream][call stream], as the recorder would have left them. With `split` the calls
 * are in their other order (trace_split.h), and the input's last two bytes say how many bytes they become. */
static size_t wrap(uint8_t *out, const uint8_t *data, size_t size, bool split)
{
    struct blocks_header h = {.major = BLOCKS_MAJOR, .schema = d12_api.schema};
    size_t blobs = size ? data[0] : 0, n = 0;

    memcpy(h.magic, d12_api.magic, 8);
    memcpy(out, &h, sizeof(h));
    n = sizeof(h);
    if (size) {
        data++;
        size--;
    }
    blobs = blobs > size ? size : blobs;
    for (int k = 0; k < 2; k++) {
        const uint8_t *p = k ? data + blobs : data;
        size_t len = k ? size - blobs : blobs;
        struct blocks_block b = {.magic = BLOCKS_MAGIC,
                                 .kind = k ? TRC_CALLS : TRC_BLOBS,
                                 .stream = 1,
                                 .flags = (uint8_t)(k && len && p[0] & 1),
                                 .raw = (uint32_t)len};
        size_t packed;

        if (k && split) {
            b.flags = TRC_SPLIT;
            b.raw = len > 2 ? (uint32_t)(p[len - 1] << 8 | p[len - 2]) : 0;
            len -= len > 2 ? 2 : 0;
        }
        packed = ZSTD_compress(out + n + sizeof(b), ZSTD_compressBound(len), p, len, 1);
        b.packed = (uint32_t)packed;
        memcpy(out + n, &b, sizeof(b));
        n += sizeof(b) + packed;
    }
    return n;
}

static void read_all(const uint8_t *data, size_t size)
{
    struct play_plan plan = {0};
    struct names names = {0};
    struct strbuf b = {0};
    struct error e = {0};
    struct trc_call c;
    struct trc *t;

    if (trc_open_memory(&t, &d12_api, data, size, &e))
        return;
    names_read(&names, t, &e);
    while (trc_next(t, &c, &e) > 0) {
        strbuf_clear(&b);
        show_call(&b, c.index & 1 ? SHOW_JSON : SHOW_TEXT, t, &c, &names);
    }
    plan_make(&plan, t); /* what a player reads before it plays */
    plan_finish(&plan);
    names_finish(&names);
    strbuf_finish(&b);
    trc_close(t);
}

/* Records come back as they were. */
static void split_and_back(const uint8_t *data, size_t size)
{
    uint8_t *split = malloc(SPLIT_BOUND(size)), *raw = malloc(size ? size : 1);
    size_t n = split && raw ? split_block(&d12_api, data, size, split) : 0;

    if (n && (unsplit_block(&d12_api, split, n, raw, size) || memcmp(raw, data, size)))
        abort();
    free(split);
    free(raw);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint8_t *file;

    if (size > 1 << 16)
        return 0;
    read_all(data, size);
    file = malloc(4096 + 2 * ZSTD_compressBound(size));
    if (!file)
        return 0;
    for (int split = 0; split < 2; split++)
        read_all(file, wrap(file, data, size, split));
    if (size)
        split_and_back(data + 1, size - 1);
    free(file);
    return 0;
}
