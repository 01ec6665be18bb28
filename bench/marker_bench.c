/* marker_bench: figures marker_cost, marker_record and markers_off.
 *
 * marker_record: what a marker of the program's own costs it to record, in nanoseconds. markers_off: with everything off, a check
 * per packet and per event is left; how much of a frame that is.
 *
 * marker_cost. A frame of 1 000 small draws at 1024 x 768 through the whole device with progress
 * markers, against the same with markers off; and what exact markers would cost, for comparison. Two machines run at the
 * same time and take turns, frame by frame, so that a noisy machine is noisy for both. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <aerogpu/blackbox.h>
#include <aerogpu/ext.h>
#include <aerogpu/pci.h>

#include "abi/builder.h"
#include "bench.h"
#include "machine/driver.h"
#include "machine/machine.h"

enum { DRAWS = 1000, WIDTH = 1024, HEIGHT = 768, FRAMES = 400, STREAM_SPACE = 1 << 20 };

struct vertex {
    float position[4], color[4];
};

struct side {
    struct machine *machine;
    struct driver *driver;
    uint64_t stream_gpa;
    uint32_t frame_size;
    double ms[FRAMES];
};

static struct vertex vertices[DRAWS * 6];

static void check(int r, const char *what, const struct error *e)
{
    if (!r)
        return;
    fprintf(stderr, "marker_bench: %s: %s\n", what, e && e->code ? e->text : strerror(-r));
    exit(4);
}

static void submit(struct side *s, struct abi_builder *b, uint32_t *size)
{
    memcpy(driver_ptr(s->driver, s->stream_gpa), abi_builder_end(b, size), b->bytes.len);
}

static void run_frame(struct side *s, uint32_t size)
{
    struct driver_submission sub = {.cmd_gpa = s->stream_gpa, .cmd_size = size};
    uint64_t fence;

    check(driver_submit(s->driver, &sub, &fence), "submit", NULL);
    check(driver_wait(s->driver, fence, 10 * NSEC_PER_SEC), "wait", NULL);
}

static void emit_shader(struct abi_builder *b, uint32_t handle, uint32_t stage, const char *name)
{
    static uint8_t bytes[65536];
    char path[512];
    uint32_t size;
    FILE *f;

    snprintf(path, sizeof(path), "%s/samples/shaders/%s", AEROGPU_SOURCE_DIR, name);
    f = fopen(path, "rb");
    if (!f) {
        perror(path);
        exit(4);
    }
    size = (uint32_t)fread(bytes, 1, sizeof(bytes), f);
    fclose(f);
    ABI_EMIT_TAIL(b, CREATE_SHADER_DXBC, create_shader_dxbc, bytes, size, .shader_handle = handle,
                  .stage = stage, .dxbc_size_bytes = size);
}

static void make_vertices(void)
{
    for (int i = 0; i < DRAWS; i++) {
        const int row = i / 40;
        float x = -1 + 2.0f * (float)(i % 40) / 40, y = 1 - 2.0f * (float)row / 25, w = 0.04f, h = 0.06f;
        const float corners[6][2] = {{x, y - h}, {x, y}, {x + w, y}, {x, y - h}, {x + w, y}, {x + w, y - h}};
        for (int k = 0; k < 6; k++)
            vertices[i * 6 + k] =
                (struct vertex){{corners[k][0], corners[k][1], 0, 1}, {0.2f, 0.4f, (float)k / 6, 1}};
    }
}

static void open_side(struct side *s, enum exec_markers markers)
{
    const uint32_t layout[4 + 14] = {AEROGPU_INPUT_LAYOUT_BLOB_MAGIC,
                                     1,
                                     2,
                                     0,
                                     abi_semantic_hash("POSITION"),
                                     0,
                                     2,
                                     0,
                                     0,
                                     0,
                                     0,
                                     abi_semantic_hash("COLOR"),
                                     0,
                                     2,
                                     0,
                                     16,
                                     0,
                                     0};
    const struct aerogpu_vertex_buffer_binding vb = {.buffer = 1, .stride_bytes = sizeof(struct vertex)};
    struct machine_params mp = {.kind = MACHINE_LIVE, .markers = markers};
    struct driver_params dp = {0};
    struct abi_builder b;
    struct error e = {0};
    uint32_t size;

    check(machine_create(&s->machine, &mp, &e), "machine", &e);
    check(machine_wait_ready(s->machine, 30000, &e), "executor", &e);
    dp.machine = s->machine;
    check(driver_create(&s->driver, &dp, &e), "driver", &e);
    s->stream_gpa = driver_alloc(s->driver, STREAM_SPACE, 4096);
    abi_builder_init(&b);
    ABI_EMIT(&b, CREATE_TEXTURE2D, create_texture2d, .texture_handle = 2, .usage_flags = 16,
             .format = AEROGPU_FORMAT_R8G8B8A8_UNORM, .width = WIDTH, .height = HEIGHT, .mip_levels = 1,
             .array_layers = 1);
    ABI_EMIT(&b, CREATE_BUFFER, create_buffer, .buffer_handle = 1, .usage_flags = 1,
             .size_bytes = sizeof(vertices));
    ABI_EMIT_TAIL(&b, UPLOAD_RESOURCE, upload_resource, vertices, sizeof(vertices), .resource_handle = 1,
                  .size_bytes = sizeof(vertices));
    emit_shader(&b, 3, AEROGPU_SHADER_STAGE_VERTEX, "colour_vs.dxbc");
    emit_shader(&b, 4, AEROGPU_SHADER_STAGE_PIXEL, "colour_ps.dxbc");
    ABI_EMIT_TAIL(&b, CREATE_INPUT_LAYOUT, create_input_layout, layout, sizeof(layout),
                  .input_layout_handle = 5, .blob_size_bytes = sizeof(layout));
    ABI_EMIT(&b, SET_RENDER_TARGETS, set_render_targets, .color_count = 1, .colors = {2});
    ABI_EMIT(&b, BIND_SHADERS, bind_shaders, .vs = 3, .ps = 4);
    ABI_EMIT(&b, SET_INPUT_LAYOUT, set_input_layout, .input_layout_handle = 5);
    ABI_EMIT_TAIL(&b, SET_VERTEX_BUFFERS, set_vertex_buffers, &vb, sizeof(vb), .buffer_count = 1);
    submit(s, &b, &size);
    run_frame(s, size);
    abi_builder_reset(&b);
    ABI_EMIT(&b, CLEAR, clear, .flags = 1, .color_rgba = {0, 0, 0, abi_f32(1)});
    for (uint32_t i = 0; i < DRAWS; i++)
        ABI_EMIT(&b, DRAW, draw, .vertex_count = 6, .instance_count = 1, .first_vertex = i * 6);
    ABI_EMIT(&b, PRESENT, present, .scanout_id = 0);
    submit(s, &b, &s->frame_size);
    abi_builder_finish(&b);
}

static double now_ns(void)
{
    struct timespec ts;

    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (double)ts.tv_sec * 1e9 + (double)ts.tv_nsec;
}

/* A push, a breadcrumb and a pop are three markers. */
static void record_figure(struct bench *b)
{
    enum { MARKERS = 30000, ROUNDS = 41 };
    double ns[ROUNDS];
    struct abi_builder s;
    uint32_t size;

    abi_builder_init(&s);
    for (int r = 0; r < ROUNDS; r++) {
        double start = now_ns();

        abi_builder_reset(&s);
        for (uint32_t i = 0; i < MARKERS / 3; i++) {
            ABI_EMIT_TAIL(&s, EXT_PUSH_MARKER, ext_push_marker, "shadow pass", 11, .hdr = {0});
            ABI_EMIT(&s, EXT_WRITE_BREADCRUMB, ext_write_breadcrumb, .type = AEROGPU_BREADCRUMB_BOTTOM,
                     .index = i, .data = i);
            ABI_EMIT(&s, EXT_POP_MARKER, ext_pop_marker, .hdr = {0});
        }
        abi_builder_end(&s, &size);
        ns[r] = (now_ns() - start) / MARKERS;
    }
    abi_builder_finish(&s);
    bench_report(
        b, &(struct bench_figure){.id = "marker_record",
                                  .ours = bench_quantile(ns, ROUNDS, 0.5),
                                  .unit = "ns",
                                  .target = 60,
                                  .note = "to record a marker of the program's own: push, breadcrumb, pop"});
}

static void off_figure(struct bench *b, double frame_ms)
{
    enum { CALLS = 1 << 20, ROUNDS = 41 };
    double ns[ROUNDS];
    char note[160];

    for (int r = 0; r < ROUNDS; r++) {
        double start = now_ns();

        for (uint64_t i = 0; i < CALLS; i++)
            bb_flight_event(NULL, 0, i, i, i);
        ns[r] = (now_ns() - start) / CALLS;
    }
    snprintf(note, sizeof(note),
             "of a frame with all off: %d packets with a check that finds nothing to do, %.1f ns each",
             DRAWS + 2, bench_quantile(ns, ROUNDS, 0.5));
    bench_report(b, &(struct bench_figure){.id = "markers_off",
                                           .ours = 100 * (DRAWS + 2) * bench_quantile(ns, ROUNDS, 0.5) /
                                                   (frame_ms * 1e6),
                                           .unit = "%",
                                           .target = 0.1,
                                           .note = note});
}

static void timed_frame(struct side *s, int i)
{
    uint64_t start = machine_now(s->machine);

    run_frame(s, s->frame_size);
    s->ms[i] = (double)(machine_now(s->machine) - start) / 1e6;
}

int main(int argc, char **argv)
{
    static struct side sides[3];
    double median[3];
    char note[120];
    struct bench b;

    bench_init(&b, argc, argv);
    make_vertices();
    open_side(&sides[0], EXEC_MARKERS_OFF);
    open_side(&sides[1], EXEC_MARKERS_GROUPS);
    open_side(&sides[2], EXEC_MARKERS_EXACT);
    for (int i = 0; i < 5; i++)
        for (int k = 0; k < 3; k++)
            run_frame(&sides[k], sides[k].frame_size);
    for (int i = 0; i < FRAMES; i++)
        for (int k = 0; k < (i < FRAMES / 8 ? 3 : 2); k++)
            timed_frame(&sides[i & 1 && k < 2 ? 1 - k : k], i);
    for (int k = 0; k < 3; k++)
        median[k] = bench_quantile(sides[k].ms, k == 2 ? FRAMES / 8 : FRAMES, 0.5);
    snprintf(note, sizeof(note), "1 000 draws with group markers, against none; exact markers: %.2f ms",
             median[2]);
    bench_report(&b, &(struct bench_figure){.id = "marker_cost",
                                            .ours = median[1],
                                            .reference = median[0],
                                            .unit = "ms/frame",
                                            .target = 1.02,
                                            .note = note});
    record_figure(&b);
    off_figure(&b, median[0]);
    for (int k = 0; k < 3; k++) {
        driver_destroy(sides[k].driver);
        machine_destroy(sides[k].machine);
    }
    return bench_finish(&b);
}
