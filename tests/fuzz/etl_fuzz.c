/* SPDX-License-Identifier: MIT */
/* ETL files: buffers, event headers, the printers of every event, and the merge over processors. */
#include "fuzz.h"

#include "cpu/etl/etl.h"

static void print(void *ctx, const struct etl_record *r, uint16_t kind, uint16_t cpu)
{
    struct etl_file *f = ctx;
    struct strbuf o = {0};
    char name[160];

    etl_kind_name(f, &f->kinds[kind], name, sizeof(name));
    etl_print(f, &f->kinds[kind], r, &o);
    strbuf_finish(&o);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct cpu_source *source;
    const struct cpu_event *ev;
    struct etl_file f;

    if (etl_open_memory(&f, data, size, NULL))
        return 0;
    etl_each(&f, print, &f);
    if (!etl_rewind(&f, &source, NULL))
        while (source->next(source, &ev) > 0)
            ;
    etl_close(&f);
    return 0;
}
