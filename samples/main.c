/* SPDX-License-Identifier: MIT */
/* aerogpu-samples: writes the sample recordings.
 *
 *     aerogpu-samples SHADERS OUTPUT.aerogputrace
 *
 * The name of the output says which sample is meant. Everything comes out of the programs beside this one and
 * of the bytecode in the folder SHADERS: the same call writes the same bytes.
 */
#include <stdio.h>
#include <stdlib.h>

#include "sample.h"

static const struct {
    const char *name, *notes;
    void (*write)(struct sample *s);
} samples[] = {
    {"spinning", "textured, lit and depth-tested torus under a glass plate, 120 frames", sample_spinning},
    {"compute", "two dispatches fill vertex buffers that are drawn", sample_compute},
    {"d3d9", "vs_2_0 and ps_2_0 with render states, sampler states and mipmaps", sample_d3d9},
    {"producers", "what the reference driver writes and the ABI's text does not say", sample_producers},
    {"shared", "one context draws a surface that another one samples", sample_shared},
    {"stress", "1 000 small draws a frame", sample_stress},
    {"hang", "a frame whose draw 77 does not finish", sample_hang},
    {"after_free", "a store to a buffer that was destroyed", sample_after_free},
    {"beyond", "a store behind the end of a buffer", sample_beyond},
    {"slow", "a draw that takes long, and ends", sample_slow},
    {"wild", "a store to an address that was never mapped", sample_wild},
};

static int write_sample(const char *shaders, const char *path)
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    size_t len = strcspn(name, "."), i = 0;
    struct sample s = {.shaders = shaders};

    while (i < sizeof(samples) / sizeof(samples[0]) &&
           (strncmp(samples[i].name, name, len) || samples[i].name[len]))
        i++;
    if (i == sizeof(samples) / sizeof(samples[0])) {
        fprintf(stderr, "aerogpu-samples: there is no sample '%.*s'\n", (int)len, name);
        return 2;
    }
    abi_builder_init(&s.stream);
    trace_writer_create(&s.trace,
                        &(struct trace_writer_params){.path = path,
                                                      .command_abi = AEROGPU_ABI_VERSION_U32,
                                                      .producer = "aerogpu-samples",
                                                      .notes = samples[i].notes},
                        &s.error);
    if (!s.error.code)
        samples[i].write(&s);
    if (s.trace && s.error.code)
        trace_writer_abandon(s.trace);
    else if (s.trace)
        trace_writer_finish(s.trace, &s.error);
    abi_builder_finish(&s.stream);
    for (uint32_t k = 0; k < s.num_allocs; k++)
        free(s.allocs[k].written);
    if (s.error.code) {
        fprintf(stderr, "aerogpu-samples: %s\n", s.error.text);
        remove(path);
        return 1;
    }
    return 0;
}

int main(int argc, char **argv)
{
    int rc = 0;

    if (argc < 3) {
        fprintf(stderr, "usage: aerogpu-samples SHADERS OUTPUT.aerogputrace…\n");
        return 2;
    }
    for (int i = 2; i < argc && !rc; i++)
        rc = write_sample(argv[1], argv[i]);
    return rc;
}
