/* SPDX-License-Identifier: MIT */
/* stream_bench: figure stream_decode. Decoding and validating a command stream on one core.
 *
 * Small packets: state changes and draws as a frame has them, in packets a second against the target of 20 million.
 * Uploads: packets of 1 MiB, decoded out of a copy as the executor does it (guest memory must not change while it is
 * looked at), against a memcpy of the same bytes. Two figures; the second is stream_decode_upload. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "abi/builder.h"
#include "abi/stream.h"
#include "bench.h"

enum { RUNS = 15, SMALL_PACKETS = 100000, UPLOADS = 32, UPLOAD_SIZE = 1 << 20 };

static uint64_t decode(const void *data, uint32_t size)
{
    struct error e = {0};
    struct abi_stream s;
    struct abi_packet p;
    uint64_t n = 0;

    if (abi_stream_open(&s, data, size, &e))
        abort();
    while (abi_stream_next(&s, &p, &e) > 0)
        n += p.opcode != 0;
    if (e.code) {
        fprintf(stderr, "stream_bench: %s\n", e.text);
        abort();
    }
    return n;
}

/* The least that a decoder does: each packet's header is read, its size checked and added. */
static uint64_t walk(const void *data, uint32_t size)
{
    const uint8_t *p = data;
    uint64_t n = 0;

    for (uint32_t at = sizeof(struct aerogpu_cmd_stream_header); at + 8 <= size; n++) {
        uint32_t head[2];

        memcpy(head, p + at, sizeof(head));
        if (head[1] < 8 || head[1] % 4 || head[1] > size - at)
            abort();
        n += head[0] == UINT32_MAX;
        at += head[1];
    }
    return n;
}

static void small_stream(struct abi_builder *b)
{
    const struct aerogpu_vertex_buffer_binding vb = {.buffer = 1, .stride_bytes = 32};
    const float c[4] = {1, 2, 3, 4};

    abi_builder_init(b);
    for (int i = 0; i < SMALL_PACKETS / 5; i++) {
        ABI_EMIT_TAIL(b, SET_VERTEX_BUFFERS, set_vertex_buffers, &vb, sizeof(vb), .buffer_count = 1);
        ABI_EMIT_TAIL(b, SET_SHADER_CONSTANTS_F, set_shader_constants_f, c, sizeof(c), .stage = 0,
                      .vec4_count = 1);
        ABI_EMIT(b, SET_TEXTURE, set_texture, .shader_stage = 1, .slot = 0, .texture = 9);
        ABI_EMIT(b, SET_PRIMITIVE_TOPOLOGY, set_primitive_topology,
                 .topology = AEROGPU_TOPOLOGY_TRIANGLELIST);
        ABI_EMIT(b, DRAW, draw, .vertex_count = 6, .instance_count = 1);
    }
}

int main(int argc, char **argv)
{
    double rate[RUNS], walked[RUNS], with_decode[RUNS], bare[RUNS];
    struct abi_builder small, uploads;
    uint8_t *data = malloc(UPLOAD_SIZE), *copy;
    uint32_t small_size, upload_size;
    const void *small_bytes, *upload_bytes;
    uint64_t sink = 0;
    struct bench b;

    bench_init(&b, argc, argv);
    small_stream(&small);
    small_bytes = abi_builder_end(&small, &small_size);
    abi_builder_init(&uploads);
    memset(data, 0x5A, UPLOAD_SIZE);
    for (int i = 0; i < UPLOADS; i++)
        ABI_EMIT_TAIL(&uploads, UPLOAD_RESOURCE, upload_resource, data, UPLOAD_SIZE, .resource_handle = 1,
                      .size_bytes = UPLOAD_SIZE);
    upload_bytes = abi_builder_end(&uploads, &upload_size);
    copy = malloc(upload_size);
    memset(copy, 0, upload_size);
    for (int run = 0; run < RUNS; run++) {
        double t = bench_cpu();
        for (int i = 0; i < 10; i++)
            sink += decode(small_bytes, small_size);
        rate[run] = 10.0 * SMALL_PACKETS * 1e3 / (bench_cpu() - t);
        t = bench_cpu();
        for (int i = 0; i < 10; i++)
            sink += walk(small_bytes, small_size);
        walked[run] = 10.0 * SMALL_PACKETS * 1e3 / (bench_cpu() - t);
        t = bench_cpu();
        memcpy(copy, upload_bytes, upload_size);
        sink += copy[run * 1000];
        bare[run] = (double)upload_size / (bench_cpu() - t);
        t = bench_cpu();
        memcpy(copy, upload_bytes, upload_size);
        sink += decode(copy, upload_size);
        with_decode[run] = (double)upload_size / (bench_cpu() - t);
    }
    bench_report(&b,
                 &(struct bench_figure){.id = "stream_decode",
                                        .ours_each = rate,
                                        .reference_each = walked,
                                        .rounds = RUNS,
                                        .unit = "M packets/s",
                                        .target = 0.2,
                                        .at_least = 1,
                                        .note = "small packets, one core, against a walk by their sizes"});
    bench_report(&b, &(struct bench_figure){.id = "stream_decode_upload",
                                            .ours_each = with_decode,
                                            .reference_each = bare,
                                            .rounds = RUNS,
                                            .unit = "GB/s",
                                            .target = 0.5,
                                            .at_least = 1,
                                            .note = "uploads of 1 MiB, against memcpy"});
    __asm__ volatile("" : : "r"(sink)); /* the decoding is not for nothing */
    abi_builder_finish(&small);
    abi_builder_finish(&uploads);
    free(data);
    free(copy);
    return bench_finish(&b);
}
