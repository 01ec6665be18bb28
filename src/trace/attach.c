/* SPDX-License-Identifier: MIT */
#include "trace/attach.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct trace_attachment {
    struct machine *machine;
    struct trace_recorder *recorder;
    char *path;
};

static void *map(void *ctx, uint64_t gpa, uint64_t size)
{
    struct machine *m = ctx;
    uint64_t ram = machine_ram_size(m);

    return gpa < ram && size <= ram - gpa ? machine_ram(m) + gpa : NULL;
}

int trace_attach(struct trace_attachment **out, struct machine *machine, const char *path, struct error *e)
{
    struct trace_attachment *a;
    int rc;

    *out = NULL;
    path = path ? path : getenv("AEROGPU_RECORD");
    if (!path || !*path)
        return 0;
    a = calloc(1, sizeof(*a));
    if (a)
        a->path = strdup(path);
    if (!a || !a->path) {
        free(a);
        return error_set(e, -ENOMEM, "no memory for a recording");
    }
    a->machine = machine;
    rc = trace_recorder_create(
        &a->recorder,
        &(struct trace_recorder_params){
            .path = path, .producer = "aerogpu " AEROGPU_VERSION, .dma_map = map, .dma_ctx = machine},
        e);
    if (rc) {
        free(a->path);
        free(a);
        return rc;
    }
    gpu_observe(machine_gpu(machine), trace_recorder_observer(a->recorder));
    *out = a;
    return 0;
}

int trace_detach(struct trace_attachment *a, struct trace_recorder_stats *stats, struct error *e)
{
    int rc;

    if (!a)
        return 0;
    gpu_unobserve(machine_gpu(a->machine), trace_recorder_observer(a->recorder));
    rc = trace_recorder_finish(a->recorder, stats, e);
    free(a->path);
    free(a);
    return rc;
}

const char *trace_attachment_path(const struct trace_attachment *a)
{
    return a->path;
}
