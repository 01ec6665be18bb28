/* SPDX-License-Identifier: MIT */
/* aerogpu play, show and record, as a user runs them: the real executor process on this machine's Vulkan
 * device. play_test AEROGPU SAMPLES */
#include "test.h"

#include <errno.h>
#include <ftw.h>
#include <jansson.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <aerogpu/pci.h>

#include "abi/builder.h"
#include "base/file/png.h"
#include "base/strbuf.h"
#include "conformance.h"
#include "trace/reader.h"
#include "trace/writer.h"

static const char *aerogpu, *samples;
static char work[] = "/tmp/aerogpu-play-XXXXXX";

/* ---- running the command ------------------------------------------------- */

struct run {
    int code;
    struct strbuf out; /* what it printed */
};

/* Runs a shell line in the work folder; $A is the command, $S the folder of samples, $C that of conformance.
 */
static struct run sh(const char *fmt, ...)
{
    struct run r = {0};
    char line[4096], part[4096];
    va_list args;
    size_t n;
    FILE *p;

    va_start(args, fmt);
    vsnprintf(line, sizeof(line), fmt, args);
    va_end(args);
    p = popen(line, "r");
    assert_non_null(p);
    while ((n = fread(part, 1, sizeof(part), p)))
        strbuf_append(&r.out, part, n);
    r.code = WEXITSTATUS(pclose(p));
    return r;
}

static int code_of(struct run r)
{
    strbuf_finish(&r.out);
    return r.code;
}

/* The JSON object of one recording; the caller's reference. */
static json_t *play_json(const char *options, const char *file, int want_code)
{
    struct run r = sh("$A play --json %s %s", options, file);
    json_t *all = json_loads(strbuf_str(&r.out), 0, NULL), *one;

    if (r.code != want_code || !all)
        print_message("# %s: code %d, %s\n", file, r.code, strbuf_str(&r.out));
    assert_int_equal(r.code, want_code);
    assert_non_null(all);
    assert_int_equal(json_integer_value(json_object_get(all, "exit_code")), want_code);
    one = json_incref(json_array_get(json_object_get(all, "files"), 0));
    assert_non_null(one);
    json_decref(all);
    strbuf_finish(&r.out);
    return one;
}

static json_int_t number(const json_t *o, const char *name)
{
    assert_true(json_is_integer(json_object_get(o, name)));
    return json_integer_value(json_object_get(o, name));
}

static const char *hash_of(const json_t *file, size_t frame)
{
    return json_string_value(json_object_get(json_array_get(json_object_get(file, "frames"), frame), "hash"));
}

static size_t num_frames(const json_t *file)
{
    return json_array_size(json_object_get(file, "frames"));
}

static size_t num_errors(const json_t *file)
{
    return json_array_size(json_object_get(file, "errors"));
}

/* ---- what upstream's recordings must do ---------------------------------- */

/* "- name 64 digits" in EXPECTED.md. */
static bool expected_hash(const char *dir, const char *name, char hash[65])
{
    char path[4100], line[4096], prefix[128];
    bool found = false;
    FILE *in;

    snprintf(path, sizeof(path), "%s/EXPECTED.md", dir);
    in = fopen(path, "re");
    assert_non_null(in);
    snprintf(prefix, sizeof(prefix), "- %s ", name);
    while (!found && fgets(line, sizeof(line), in))
        if (!strncmp(line, prefix, strlen(prefix)))
            found = sscanf(line + strlen(prefix), "%64[0-9a-f]", hash) == 1 && strlen(hash) == 64;
    fclose(in);
    return found;
}

static void expect_picture(const char *dir, const char *sub, const char *name)
{
    char want[65], path[4300];
    json_t *file;

    assert_true(expected_hash(dir, name, want));
    snprintf(path, sizeof(path), "%s/%saerogpu_cmd_%s.aerogputrace", dir, sub, name);
    file = play_json("", path, 0);
    assert_int_equal(num_errors(file), 0);
    assert_int_equal(num_frames(file), 1);
    if (strcmp(hash_of(file, 0), want))
        print_message("# %s%s: not the expected picture\n", sub, name);
    assert_string_equal(hash_of(file, 0), want);
    json_decref(file);
}

TEST(upstream_recordings_without_shaders_match)
{
    static const char *const names[] = {"clear_b8g8r8a8",         "clear_b8g8r8x8", "copy_texture2d",
                                        "copy_texture2d_subrect", "present_ex",     "triangle"};
    const char *dir = conformance_dir();
    char path[4200];
    json_t *file;

    if (!dir)
        skip();
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        expect_picture(dir, "", names[i]);
    snprintf(path, sizeof(path), "%s/aerogpu_a3a0_clear_red.aerogputrace", dir);
    file = play_json("", path, 0);
    assert_string_equal(hash_of(file, 0), "1171a4a562614d26797113802f81afae784773e173235286c4f65e4aa1f43816");
    json_decref(file);
}

TEST(upstream_recordings_with_genuine_shaders_match)
{
    static const char *const names[] = {"blend_add",
                                        "constant_buffer_vs_matrix",
                                        "copy_buffer",
                                        "depth_test",
                                        "indexed_triangle_base_vertex",
                                        "indexed_triangle_u16",
                                        "scissor_test",
                                        "texture_ld_b5g6r5",
                                        "textured_bc1_triangle",
                                        "textured_rgba8_sampler_triangle",
                                        "triangle_first_vertex"};
    const char *dir = conformance_dir();

    if (!dir)
        skip();
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        expect_picture(dir, "genuine/", names[i]);
}

TEST(upstream_recordings_with_private_shaders_latch_an_error)
{
    static const char *const names[] = {"blend_add",
                                        "constant_buffer_vs_matrix",
                                        "copy_buffer",
                                        "cull_front",
                                        "depth_test",
                                        "indexed_triangle",
                                        "indexed_triangle_base_vertex",
                                        "indexed_triangle_first_index",
                                        "indexed_triangle_u16",
                                        "scissor_test",
                                        "texture_ld_b5g5r5a1",
                                        "texture_ld_b5g6r5",
                                        "texture_ld_b8g8r8a8",
                                        "textured_bc1_triangle",
                                        "textured_rgba8_sampler_triangle",
                                        "triangle_first_vertex",
                                        "triangle_vertex_buffer_offset"};
    const char *dir = conformance_dir();
    char path[4200];

    if (!dir)
        skip();
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        json_t *file, *error;

        snprintf(path, sizeof(path), "%s/aerogpu_cmd_%s.aerogputrace", dir, names[i]);
        file = play_json("--expect-errors", path, 0);
        assert_int_equal(number(file, "submissions"), 1); /* its fence was signalled */
        assert_int_equal(num_errors(file), 1);
        error = json_array_get(json_object_get(file, "errors"), 0);
        assert_int_equal(number(error, "fence"), 1);
        assert_non_null(strstr(json_string_value(json_object_get(error, "message")), "CREATE_SHADER_DXBC"));
        json_decref(file);
    }
    snprintf(path, sizeof(path), "%s/triangle.aerogputrace", dir);
    json_decref(play_json("", path, 3)); /* another command ABI */
}

/* ---- our own samples ----------------------------------------------------- */

static const struct {
    const char *name;
    int frames, submissions;
} own[] = {{"compute", 30, 30}, {"d3d9", 40, 40},       {"producers", 2, 2},
           {"shared", 30, 60},  {"spinning", 120, 120}, {"stress", 10, 10}};

TEST(samples_play_and_their_recordings_play_the_same)
{
    char path[4200];

    for (size_t i = 0; i < sizeof(own) / sizeof(own[0]); i++) {
        json_t *once, *again;

        snprintf(path, sizeof(path), "%s/%s.aerogputrace", samples, own[i].name);
        assert_int_equal(code_of(sh("$A record -o copy.aerogputrace play --json %s >once.json 2>&1", path)),
                         0);
        once = play_json("", path, 0);
        assert_int_equal(num_errors(once), 0);
        assert_int_equal(num_frames(once), own[i].frames);
        assert_int_equal(number(once, "submissions"), own[i].submissions);
        again = play_json("", "copy.aerogputrace", 0);
        assert_int_equal(num_frames(again), own[i].frames);
        for (int f = 0; f < own[i].frames; f++)
            assert_string_equal(hash_of(once, (size_t)f), hash_of(again, (size_t)f));
        assert_string_not_equal(hash_of(once, 0), hash_of(once, (size_t)own[i].frames - 1));
        json_decref(once);
        json_decref(again);
    }
}

struct picture {
    uint8_t *rgba;
    uint32_t width, height;
};

static struct picture read_png(const char *path)
{
    struct picture p;
    struct error e = {0};

    if (png_file_read(path, &p.rgba, &p.width, &p.height, &e))
        print_message("# %s\n", e.text);
    assert_int_equal(e.code, 0);
    return p;
}

/* r, g, b of a pixel, each within `slack`. */
static void expect_pixel(const struct picture *p, uint32_t x, uint32_t y, int r, int g, int b, int slack)
{
    const uint8_t *px = p->rgba + 4 * ((size_t)y * p->width + x);

    if (abs(px[0] - r) > slack || abs(px[1] - g) > slack || abs(px[2] - b) > slack)
        print_message("# (%u,%u) is %d %d %d, not %d %d %d\n", x, y, px[0], px[1], px[2], r, g, b);
    assert_true(abs(px[0] - r) <= slack && abs(px[1] - g) <= slack && abs(px[2] - b) <= slack);
}

/* Pictures without symmetry: a mirrored axis, a wrong winding or swapped channels would show. */
TEST(samples_are_the_right_way_round)
{
    struct picture p;

    assert_int_equal(code_of(sh("$A play --png shared --frame 0 $S/shared.aerogputrace >/dev/null")), 0);
    p = read_png("shared/frame_000000.png");
    assert_int_equal(p.width, 320);
    assert_int_equal(p.height, 160);
    expect_pixel(&p, 80, 24, 255, 0, 0, 40);   /* top: red */
    expect_pixel(&p, 40, 108, 0, 0, 255, 70);  /* left below: blue */
    expect_pixel(&p, 122, 108, 0, 255, 0, 70); /* right below: green */
    expect_pixel(&p, 200, 108, 0, 255, 0, 70); /* mirrored */
    expect_pixel(&p, 278, 108, 0, 0, 255, 70);
    free(p.rgba);

    assert_int_equal(code_of(sh("$A play --png compute --frame 29 $S/compute.aerogputrace >/dev/null")), 0);
    p = read_png("compute/frame_000029.png");
    expect_pixel(&p, 81 + 30, 99, 0, 128, 255, 50);  /* the circle begins on the right, blue */
    expect_pixel(&p, 81, 99 - 50, 64, 128, 191, 50); /* and goes up */
    expect_pixel(&p, 81, 99 + 50, 191, 128, 64, 50); /* orange below */
    expect_pixel(&p, 2, 2, 26, 26, 26, 2);
    free(p.rgba);

    assert_int_equal(code_of(sh("$A play --png producers --frame 1 $S/producers.aerogputrace >/dev/null")),
                     0);
    p = read_png("producers/frame_000001.png");
    expect_pixel(&p, 40, 50, 255, 128, 0, 2);     /* bare shader tokens */
    expect_pixel(&p, 150, 50, 128, 128, 128, 99); /* what a dispatch for the domain stage wrote */
    expect_pixel(&p, 198, 2, 26, 26, 26, 2);
    free(p.rgba);

    assert_int_equal(code_of(sh("$A play --png spinning --frame 59 $S/spinning.aerogputrace >/dev/null")), 0);
    p = read_png("spinning/frame_000059.png");
    expect_pixel(&p, 5, 5, 15, 20, 36, 2);                                      /* sky above */
    assert_memory_not_equal(p.rgba + 4 * ((size_t)350 * 480 + 240), p.rgba, 3); /* floor below */
    free(p.rgba);
}

TEST(pictures_go_where_they_are_asked_to)
{
    struct picture p;

    assert_int_equal(
        code_of(sh("$A play --png a/b/c --sheet sheet.png $S/shared.aerogputrace $S/compute.aerogputrace "
                   "$S/shared.aerogputrace >/dev/null")),
        0);
    p = read_png("a/b/c/shared/frame_000029.png");
    free(p.rgba);
    p = read_png("a/b/c/compute/frame_000000.png");
    free(p.rgba);
    p = read_png("a/b/c/shared-2/frame_000000.png");
    free(p.rgba);
    p = read_png("sheet.png");
    assert_true(p.width > 5 * 240 && p.height > 3 * 180);
    free(p.rgba);
    assert_int_equal(code_of(sh("$A play --png sheet.png/x $S/shared.aerogputrace >/dev/null 2>&1")), 4);
}

/* ---- what goes wrong ----------------------------------------------------- */

TEST(exit_codes_say_what_happened)
{
    struct run r;

    assert_int_equal(code_of(sh("$A play >/dev/null 2>&1")), 2);
    assert_int_equal(code_of(sh("$A play --frame x f >/dev/null 2>&1")), 2);
    assert_int_equal(code_of(sh("$A play --nonsense f >/dev/null 2>&1")), 2);
    assert_int_equal(code_of(sh("$A play --help >/dev/null")), 0);
    assert_int_equal(code_of(sh("$A play / >/dev/null 2>&1")), 3);
    assert_int_equal(code_of(sh("$A play --frame 99 $S/shared.aerogputrace >/dev/null 2>&1")), 3);
    assert_int_equal(code_of(sh("$A play --expect-errors --frame 0 $S/shared.aerogputrace >/dev/null 2>&1")),
                     1);
    assert_int_equal(
        code_of(sh("AEROGPU_EXECUTOR=/nonexistent $A play $S/shared.aerogputrace >/dev/null 2>&1")), 4);
    assert_int_equal(code_of(sh("$A show >/dev/null 2>&1")), 2);
    assert_int_equal(code_of(sh("$A record play f >/dev/null 2>&1")), 2);
    assert_int_equal(code_of(sh("$A record -o /dev/null/x play f >/dev/null 2>&1")), 4);
    assert_int_equal(code_of(sh("$A record -o x $S/../nothing >/dev/null 2>&1")), 4);
    r = sh("$A play $S/none $S/shared.aerogputrace 2>&1"); /* one that is bad does not keep the others
                                                                   from playing */
    assert_int_equal(r.code, 3);
    assert_non_null(strstr(strbuf_str(&r.out), "/none: cannot open: No such file or directory"));
    assert_non_null(strstr(strbuf_str(&r.out), "shared.aerogputrace"));
    strbuf_finish(&r.out);
}

TEST(a_cut_recording_is_an_error_and_can_be_salvaged)
{
    struct run r;
    json_t *file;

    assert_int_equal(code_of(sh("head -c 10000 $S/shared.aerogputrace >cut.aerogputrace")), 0);
    r = sh("$A play cut.aerogputrace 2>&1");
    assert_int_equal(r.code, 3);
    assert_string_equal(strbuf_str(&r.out),
                        "aerogpu play: cut.aerogputrace: offset 0x26f0: footer.magic: is not "
                        "\"AEROGPUF\": the file is cut or was never finished\n");
    strbuf_finish(&r.out);
    file = play_json("--salvage", "cut.aerogputrace 2>/dev/null", 3);
    assert_true(num_frames(file) > 5 && num_frames(file) < 30);
    assert_int_equal(num_errors(file), 0);
    assert_non_null(
        strstr(json_string_value(json_object_get(file, "error")), "but the records end at 0x2710"));
    json_decref(file);
    r = sh("$A show cut.aerogputrace 2>/dev/null | grep -c PRESENT");
    assert_true(atoi(strbuf_str(&r.out)) > 5);
    strbuf_finish(&r.out);
}

static void write_bad_packet(const char *path)
{
    struct trace_writer *w;
    struct trace_submission s = {.signal_fence = 5};
    struct abi_builder b;
    const void *stream;
    uint32_t size;

    assert_int_equal(trace_writer_create(&w,
                                         &(struct trace_writer_params){.path = path,
                                                                       .command_abi = AEROGPU_ABI_VERSION_U32,
                                                                       .producer = "test"},
                                         NULL),
                     0);
    abi_builder_init(&b);
    for (uint32_t i = 0; i < 3; i++) { /* the middle one presents, then goes wrong; the others are fine */
        trace_writer_begin_frame(w, i, NULL);
        ABI_EMIT(&b, CREATE_TEXTURE2D, create_texture2d, .texture_handle = 1 + i,
                 .usage_flags = AEROGPU_RESOURCE_USAGE_RENDER_TARGET, .format = AEROGPU_FORMAT_R8G8B8A8_UNORM,
                 .width = 8, .height = 8, .mip_levels = 1, .array_layers = 1);
        ABI_EMIT(&b, SET_RENDER_TARGETS, set_render_targets, .color_count = 1, .colors = {1 + i});
        ABI_EMIT(&b, CLEAR, clear, .flags = AEROGPU_CLEAR_COLOR,
                 .color_rgba = {0, abi_f32(1), 0, abi_f32(1)});
        ABI_EMIT(&b, PRESENT, present);
        if (i == 1)
            ABI_EMIT(&b, DRAW_INDEXED, draw_indexed, .index_count = 3,
                     .instance_count = 1); /* no index buffer */
        stream = abi_builder_end(&b, &size);
        trace_writer_blob(w, TRACE_BLOB_CMD_STREAM, stream, size, &s.cmd_blob, NULL);
        trace_writer_submission(w, &s, NULL);
        s.signal_fence++;
        abi_builder_reset(&b);
        trace_writer_present(w, NULL);
    }
    abi_builder_finish(&b);
    assert_int_equal(trace_writer_finish(w, NULL), 0);
}

TEST(an_error_disturbs_nothing_else)
{
    json_t *file, *error;

    write_bad_packet("bad.aerogputrace");
    file = play_json("", "bad.aerogputrace", 1);
    assert_int_equal(num_frames(file), 3); /* the packets before it have taken effect */
    assert_string_equal(hash_of(file, 0), hash_of(file, 2));
    assert_string_equal(hash_of(file, 0), hash_of(file, 1));
    assert_int_equal(num_errors(file), 1);
    error = json_array_get(json_object_get(file, "errors"), 0);
    assert_int_equal(number(error, "fence"), 6);
    assert_int_equal(number(error, "frame"), 1);
    assert_non_null(strstr(json_string_value(json_object_get(error, "message")), "DRAW_INDEXED"));
    json_decref(file);
    json_decref(play_json("--expect-errors", "bad.aerogputrace", 0));
}

/* Starts `aerogpu play --loop` on the stress sample. */
static pid_t start_loop(const char *out)
{
    pid_t pid = fork();

    assert_true(pid >= 0);
    if (pid == 0) {
        char path[4200];

        snprintf(path, sizeof(path), "%s/stress.aerogputrace", samples);
        if (!freopen(out, "w", stdout) || !freopen("/dev/null", "w", stderr))
            _exit(99);
        execl(aerogpu, aerogpu, "play", "--loop", path, NULL);
        _exit(98);
    }
    return pid;
}

static pid_t executor_of(pid_t pid)
{
    char path[300], name[64];
    int child = 0;
    FILE *in;

    snprintf(path, sizeof(path), "/proc/%d/task/%d/children", pid, pid);
    for (int tries = 0; tries < 300 && !child; tries++) {
        snprintf(name, sizeof(name), "cat /proc/%d/task/*/children 2>/dev/null", pid);
        in = popen(name, "r");
        if (fscanf(in, "%d", &child) != 1)
            child = 0;
        pclose(in);
        usleep(20000);
    }
    return child;
}

TEST(ctrl_c_ends_a_loop_with_its_figures)
{
    struct run r;
    int status;
    pid_t pid = start_loop("loop.txt");

    usleep(1500000);
    assert_int_equal(kill(pid, SIGINT), 0);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
    r = sh("cat loop.txt");
    assert_non_null(strstr(strbuf_str(&r.out), "stress.aerogputrace"));
    strbuf_finish(&r.out);
}

/* It may be killed between two submissions, which costs nothing; not each time. */
TEST(a_killed_executor_costs_an_error_and_no_more)
{
    struct run r;
    int status;
    pid_t pid = start_loop("killed.txt");

    for (int i = 0; i < 8; i++) {
        pid_t executor = executor_of(pid);

        if (executor <= 0) { /* no children file in this kernel */
            print_message("# skipped: /proc does not tell child processes\n");
            kill(pid, SIGKILL);
            waitpid(pid, &status, 0);
            skip();
        }
        usleep(700000);
        kill(executor, SIGKILL);
        usleep(100000);
    }
    kill(pid, SIGINT);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 1);
    r = sh("cat killed.txt");
    assert_non_null(strstr(strbuf_str(&r.out), "BACKEND"));
    assert_non_null(strstr(strbuf_str(&r.out), "the executor"));
    strbuf_finish(&r.out);
}

static int remove_entry(const char *path, const struct stat *st, int flag, struct FTW *ftw)
{
    return remove(path);
}

int main(int argc, char **argv)
{
    int rc;

    if (argc < 3)
        return fprintf(stderr, "usage: play_test AEROGPU SAMPLES\n"), 2;
    aerogpu = realpath(argv[1], NULL);
    samples = realpath(argv[2], NULL);
    if (!aerogpu || !samples || setenv("A", aerogpu, 1) || setenv("S", samples, 1))
        return fprintf(stderr, "play_test: %s, %s: %s\n", argv[1], argv[2], strerror(errno)), 2;
    unsetenv("AEROGPU_RECORD");
    if (!mkdtemp(work) || chdir(work))
        return 2;
    if (code_of(sh("$A play --frame 0 $S/shared.aerogputrace >/dev/null 2>&1")) == 4) {
        printf("1..0 # SKIP there is no Vulkan device\n");
        return 0;
    }
    rc = test_run();
    nftw(work, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
    return rc;
}
