/* SPDX-License-Identifier: MIT */
/* marker_bench: figures marker_cost, marker_record and markers_off.
 *
 * marker_record: what a marker of the program's own costs it to record, in nanoseconds. markers_off: with everything off, a check
 * per packet and per event is left; how much of a frame that is.
 *
 * marker_cost. A frame of 1 000 small draws at 1024 x 768 through the whole device with progress
 * markers, against the same with markers off; and what exact markers would cost, for comparison. Two machines run at the
 * same time and take turns, frame by frame, so that a noisy machine is noisy for both. */
#include <stdio.h>

#include <aerogpu/blackbox.h>
#include <aerogpu/ext.h>

#include "abi/builder.h"
#include "bench.h"
#include "thousand.h"

enum { FRAMES = 400 };

struct side {
    struct thousand t;
    double ms[FRAMES];
};

static void run_frame(struct side *s)
{
    thousand_wait(&s->t, thousand_submit(&s->t));
}

/* A push, a breadcrumb and a pop are three markers. */
static void record_figure(struct bench *b)
{
    enum { MARKERS = 30000, ROUNDS = 41 };
    double ns[ROUNDS], copied[ROUNDS];
    static uint8_t copy[MARKERS * 40];
    struct abi_builder s;
    const void *bytes;
    uint32_t size;

    abi_builder_init(&s);
    for (int r = 0; r < ROUNDS; r++) {
        double start = bench_cpu();

        abi_builder_reset(&s);
        for (uint32_t i = 0; i < MARKERS / 3; i++) {
            ABI_EMIT_TAIL(&s, EXT_PUSH_MARKER, ext_push_marker, "shadow pass", 11, .hdr = {0});
            ABI_EMIT(&s, EXT_WRITE_BREADCRUMB, ext_write_breadcrumb, .type = AEROGPU_BREADCRUMB_BOTTOM,
                     .index = i, .data = i);
            ABI_EMIT(&s, EXT_POP_MARKER, ext_pop_marker, .hdr = {0});
        }
        bytes = abi_builder_end(&s, &size);
        ns[r] = (bench_cpu() - start) / MARKERS;
        start = bench_cpu();
        for (uint32_t i = 0, at = 0; i < MARKERS; i++, at += size / MARKERS) {
            memcpy(copy + at, (const uint8_t *)bytes + at, size / MARKERS);
            __asm__ volatile("" : : : "memory"); /* each by itself */
        }
        copied[r] = (bench_cpu() - start) / MARKERS;
    }
    abi_builder_finish(&s);
    bench_report(b,
                 &(struct bench_figure){.id = "marker_record",
                                        .ours_each = ns,
                                        .reference_each = copied,
                                        .rounds = ROUNDS,
                                        .unit = "ns",
                                        .target = 10,
                                        .note = "to record a marker of the program's own (push, breadcrumb, "
                                                "pop), against copying its bytes"});
}

static void off_figure(struct bench *b, double frame_ms)
{
    enum { CALLS = 1 << 20, ROUNDS = 41 };
    double ns[ROUNDS];
    char note[200];

    for (int r = 0; r < ROUNDS; r++) {
        double start = bench_cpu();

        for (uint64_t i = 0; i < CALLS; i++)
            bb_flight_event(NULL, 0, i, i, i);
        ns[r] = (bench_cpu() - start) / CALLS;
    }
    snprintf(note, sizeof(note),
             "%d packets with a check that finds nothing to do, %.1f ns each, against a frame with all off",
             DRAWS + 2, bench_quantile(ns, ROUNDS, 0.5));
    bench_report(b, &(struct bench_figure){.id = "markers_off",
                                           .ours = (DRAWS + 2) * bench_quantile(ns, ROUNDS, 0.5) / 1e6,
                                           .reference = frame_ms,
                                           .unit = "ms/frame",
                                           .target = 0.001,
                                           .note = note});
}

static void timed_frame(struct side *s, int i)
{
    uint64_t start = machine_now(s->t.machine);

    run_frame(s);
    s->ms[i] = (double)(machine_now(s->t.machine) - start) / 1e6;
}

int main(int argc, char **argv)
{
    static struct side sides[3];
    char note[120];
    struct bench b;

    bench_init(&b, argc, argv);
    thousand_open(&sides[0].t, EXEC_MARKERS_OFF);
    thousand_open(&sides[1].t, EXEC_MARKERS_GROUPS);
    thousand_open(&sides[2].t, EXEC_MARKERS_EXACT);
    for (int i = 0; i < 5; i++)
        for (int k = 0; k < 3; k++)
            run_frame(&sides[k]);
    for (int i = 0; i < FRAMES; i++)
        for (int k = 0; k < (i < FRAMES / 8 ? 3 : 2); k++)
            timed_frame(&sides[i & 1 && k < 2 ? 1 - k : k], i);
    snprintf(note, sizeof(note), "1 000 draws with group markers, against none; exact markers: %.2f ms",
             bench_quantile(sides[2].ms, FRAMES / 8, 0.5));
    bench_report(&b, &(struct bench_figure){.id = "marker_cost",
                                            .ours_each = sides[1].ms,
                                            .reference_each = sides[0].ms,
                                            .rounds = FRAMES,
                                            .unit = "ms/frame",
                                            .target = 1.02,
                                            .note = note});
    record_figure(&b);
    off_figure(&b, bench_quantile(sides[0].ms, FRAMES, 0.5));
    for (int k = 0; k < 3; k++)
        thousand_close(&sides[k].t);
    return bench_finish(&b);
}
