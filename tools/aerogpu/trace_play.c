/* SPDX-License-Identifier: MIT */
/* aerogpu play: recordings through the whole device: registers, ring, doorbell, executor process, interrupt, scanout.
 *
 *   for each file: open ──▶ player ──▶ pictures, hashes, figures ──▶ one line, or one JSON object
 *
 * Exit codes, worst first: 4 nothing can be played here, 3 a recording is bad, 1 the device reported an error
 * or a frame was not presented, 0.
 */
#include "commands.h"
#include "file_kinds.h"

#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <libgen.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <aerogpu/pci.h>

#include "play/frame_hash.h"
#include "base/array.h"
#include "base/file/out.h"
#include "base/utf8.h"
#include "minimize/dumps.h"
#include "play/pictures.h"
#include "play/player.h"
#include "play/sheet.h"
#include "report/json_show.h"
#include "trace/attach.h"

enum { SHEET_FRAMES = 5, SHOWN_ERRORS = 8 };

struct shown {
    uint32_t index, width, height;
    char hash[FRAME_HASH_HEX];
};

struct file {
    const char *path;
    struct player_result result;
    struct shown **shown; /* each stays where it is: its hash is filled in later */
    size_t num_shown, max_shown;
    unsigned passes;
    struct error error; /* why it could not be played to its end */
};

struct play {
    const char *png, *sheet_path;
    bool json, loop, expect_errors, salvage;
    uint32_t only_frame, times;
    struct file *files;
    int num_files;

    struct machine *machine;
    struct player *player;
    struct trace_attachment *recording;
    struct watch *watch; /* NULL unless AEROGPU_DUMPS names a folder */
    struct sheet sheet;
    struct pictures *pictures;
    struct error output_error; /* a picture could not be written */

    struct file *now; /* being played */
    uint32_t num_frames;
    char png_dir[4096];
    uint64_t next_progress_ns;
    bool progress_shown;
};

static _Atomic int interrupted;

static void on_signal(int sig)
{
    interrupted = 1;
}

static const char *file_name(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? slash + 1 : path;
}

/* ---- while a recording plays --------------------------------------------- */

/* Frames of the contact sheet are spread evenly over the recording. */
static bool on_sheet(const struct play *p, size_t nth)
{
    size_t n = p->num_frames ? p->num_frames : 1, cells = n < SHEET_FRAMES ? n : SHEET_FRAMES;

    for (size_t i = 0; i < cells; i++)
        if (nth == (cells == 1 ? 0 : i * (n - 1) / (cells - 1)))
            return true;
    return p->only_frame != UINT32_MAX;
}

static void add_to_sheet(struct play *p, const struct player_frame *f)
{
    char label[SHEET_LABEL], name[SHEET_LABEL];

    snprintf(name, sizeof(name), "%.*s", (int)strcspn(file_name(p->now->path), "."), file_name(p->now->path));
    snprintf(label, sizeof(label), "%.20s %u", name, f->index);
    if (sheet_add(&p->sheet, (uint32_t)(p->now - p->files), label, f->picture.rgba, f->picture.width,
                  f->picture.height))
        error_set(&p->output_error, -ENOMEM, "no memory for the contact sheet");
}

/* Room for one more frame in the file's list; NULL without memory. */
static struct shown *new_shown(struct file *file)
{
    if (array_reserve(file->shown, file->max_shown, file->num_shown + 1))
        return NULL;
    file->shown[file->num_shown] = calloc(1, sizeof(struct shown));
    return file->shown[file->num_shown] ? file->shown[file->num_shown++] : NULL;
}

static void on_frame(void *ctx, struct player_frame *f)
{
    struct play *p = ctx;
    struct picture_job job = {
        .rgba = f->picture.rgba, .width = f->picture.width, .height = f->picture.height};
    struct shown *shown;

    if (!f->picture.rgba || p->now->passes)
        return; /* a loop shows its first pass */
    if (p->sheet_path && on_sheet(p, p->now->num_shown))
        add_to_sheet(p, f);
    shown = new_shown(p->now);
    if (!shown || (p->png && asprintf(&job.path, "%s/frame_%06" PRIu32 ".png", p->png_dir, f->index) < 0)) {
        error_set(&p->output_error, -ENOMEM, "no memory for another frame");
        return;
    }
    *shown = (struct shown){.index = f->index, .width = f->picture.width, .height = f->picture.height};
    if (p->json)
        job.hash = shown->hash;
    f->picture.rgba = NULL;
    if (pictures_add(p->pictures, &job))
        error_set(&p->output_error, -ENOMEM, "no memory for another frame");
}

static void on_progress(void *ctx, uint64_t offset, uint64_t end)
{
    struct play *p = ctx;
    bool tty = isatty(STDERR_FILENO);

    if (machine_now(p->machine) < p->next_progress_ns)
        return;
    if (!tty) {
        p->next_progress_ns = machine_now(p->machine) + 5 * NSEC_PER_SEC;
        utf8_print(stderr, "aerogpu play: %s: %.0f %%\n", p->now->path,
                   100.0 * (double)offset / (double)(end ? end : 1));
        return;
    }
    p->progress_shown = true;
    fputc('\r', stderr);
    utf8_print(stderr, "%s: %3.0f %% ", p->now->path, 100.0 * (double)offset / (double)(end ? end : 1));
}

/* DIR for one recording, DIR/NAME for several, DIR/NAME-2 where two have the same name. */
static int open_png_dir(struct play *p, struct error *e)
{
    const char *name = file_name(p->now->path);
    size_t len = strcspn(name, ".");
    int same = 1;

    for (struct file *f = p->files; f < p->now; f++)
        same += strcspn(file_name(f->path), ".") == len && !strncmp(file_name(f->path), name, len);
    if (p->num_files == 1)
        snprintf(p->png_dir, sizeof(p->png_dir), "%s", p->png);
    else if (same == 1)
        snprintf(p->png_dir, sizeof(p->png_dir), "%s/%.*s", p->png, (int)len, name);
    else
        snprintf(p->png_dir, sizeof(p->png_dir), "%s/%.*s-%d", p->png, (int)len, name, same);
    return out_file_folder(p->png_dir, e);
}

static void play_file(struct play *p, struct file *file)
{
    struct trace_reader *r;
    struct error e = {0};

    p->now = file;
    p->next_progress_ns = machine_now(p->machine) + 2 * NSEC_PER_SEC;
    if (trace_reader_open(&r, &(struct trace_reader_params){.path = file->path, .salvage = p->salvage}, &e)) {
        error_set(&file->error, e.code, "%s", e.text);
        return;
    }
    if (p->png && open_png_dir(p, &p->output_error)) {
        trace_reader_destroy(r);
        return;
    }
    p->num_frames = trace_reader_info(r)->num_frames;
    if (p->only_frame != UINT32_MAX && trace_reader_seek_frame(r, p->only_frame, &e) == -ENOENT)
        error_set(&file->error, -ENOENT, "%s", e.text);
    else if (player_play(p->player, r, &file->result, &file->error) == 0)
        file->passes++;
    if (p->loop && file->error.code == -ECANCELED)
        error_clear(&file->error); /* Ctrl-C is how a loop ends */
    if (p->progress_shown)
        fprintf(stderr, "\r\033[K");
    p->progress_shown = false;
    trace_reader_destroy(r);
}

/* ---- what is printed ----------------------------------------------------- */

static const char *error_name(uint32_t code)
{
    switch (code) {
#define E(value, name, doc)                                                                                  \
    case value:                                                                                              \
        return #name;
        AEROGPU_ERRORS(E)
#undef E
    default:
        return "INTERNAL"; /* ABI: unknown codes are internal errors */
    }
}

static void format_time(char text[16], uint64_t ns, size_t samples)
{
    if (!samples)
        snprintf(text, 16, "-");
    else if (ns < 10 * NSEC_PER_MSEC)
        snprintf(text, 16, "%.0f us", (double)ns / 1e3);
    else
        snprintf(text, 16, "%.1f ms", (double)ns / 1e6);
}

static double present_rate(const struct player_result *r)
{
    return r->busy_ns ? (double)r->presents * 1e9 / (double)r->busy_ns : 0;
}

static uint64_t num_errors(const struct player_result *r)
{
    uint64_t n = 0;

    for (size_t i = 0; i < r->num_errors; i++)
        n += r->errors[i].count;
    return n;
}

static void print_heading(void)
{
    printf("%-32s %6s %8s %9s %10s %10s %9s %10s %6s\n", "recording", "frames", "submits", "commands",
           "fence p50", "fence p99", "presents", "vblank", "errors");
    printf("%-32s %6s %8s %9s %10s %10s %9s %10s %6s\n", "", "", "", "", "", "", "per s", "late p99", "");
}

static void print_file(struct file *f)
{
    struct player_result *r = &f->result;
    char median[16], p99[16], jitter[16];

    format_time(median, samples_percentile(&r->latency, 50), r->latency.n);
    format_time(p99, samples_percentile(&r->latency, 99), r->latency.n);
    format_time(jitter, samples_percentile(&r->lateness, 99), r->lateness.n);
    utf8_print(stdout, "%-32s %6" PRIu64 " %8" PRIu64 " %9" PRIu64 " %10s %10s %9.1f %10s %6" PRIu64 "\n",
               file_name(f->path), r->frames, r->submissions, r->commands, median, p99, present_rate(r),
               jitter, num_errors(r));
    for (size_t i = 0; i < r->num_errors && i < SHOWN_ERRORS; i++)
        utf8_print(stdout,
                   "    error %s (%" PRIu32 "), fence %" PRIu64 ", frame %" PRIu32 ", %" PRIu32
                   " time%s: %s\n",
                   error_name(r->errors[i].code), r->errors[i].code, r->errors[i].fence, r->errors[i].frame,
                   r->errors[i].count, r->errors[i].count == 1 ? "" : "s", r->errors[i].message);
    if (r->num_errors > SHOWN_ERRORS)
        printf("    … and %zu more (--json lists them)\n", r->num_errors - SHOWN_ERRORS);
    if (r->unpresented)
        printf("    %" PRIu64 " frame%s not presented\n", r->unpresented,
               r->unpresented == 1 ? " was" : "s were");
}

static json_t *text_json(const char *text)
{
    json_t *j = json_string(text);

    return j ? j : json_string("(not UTF-8)");
}

static json_t *microseconds(struct samples *s, double percent)
{
    return s->n ? json_real((double)samples_percentile(s, percent) / 1e3) : json_null();
}

static json_t *file_json(struct file *f)
{
    struct player_result *r = &f->result;
    json_t *frames = json_array(), *errors = json_array();

    for (size_t i = 0; i < f->num_shown; i++)
        json_array_append_new(frames, json_pack("{s:I,s:I,s:I,s:s}", "index", (json_int_t)f->shown[i]->index,
                                                "width", (json_int_t)f->shown[i]->width, "height",
                                                (json_int_t)f->shown[i]->height, "hash", f->shown[i]->hash));
    for (size_t i = 0; i < r->num_errors; i++)
        json_array_append_new(
            errors, json_pack("{s:I,s:s,s:I,s:I,s:I,s:o}", "code", (json_int_t)r->errors[i].code, "name",
                              error_name(r->errors[i].code), "fence", (json_int_t)r->errors[i].fence, "count",
                              (json_int_t)r->errors[i].count, "frame", (json_int_t)r->errors[i].frame,
                              "message", text_json(r->errors[i].message)));
    return json_pack("{s:o,s:o,s:I,s:I,s:I,s:I,s:o,s:{s:o,s:o},s:f,s:{s:o,s:o,s:I},s:f,s:o}", "file",
                     text_json(f->path), "frames", frames, "frames_not_presented", (json_int_t)r->unpresented,
                     "submissions", (json_int_t)r->submissions, "commands", (json_int_t)r->commands,
                     "presents", (json_int_t)r->presents, "errors", errors, "fence_latency_us", "median",
                     microseconds(&r->latency, 50), "p99", microseconds(&r->latency, 99), "present_rate_hz",
                     present_rate(r), "vblank_jitter_us", "median", microseconds(&r->lateness, 50), "p99",
                     microseconds(&r->lateness, 99), "vblanks", (json_int_t)r->lateness.n, "seconds",
                     (double)r->busy_ns / 1e9, "error",
                     f->error.code ? text_json(f->error.text) : json_null());
}

static void print_json(struct play *p, int code)
{
    json_t *files = json_array(), *all;
    char device[256] = "";
    bool is_cpu = false;

    for (int i = 0; i < p->num_files; i++)
        json_array_append_new(files, file_json(&p->files[i]));
    if (p->machine)
        machine_device_name(p->machine, device, &is_cpu);
    all = json_pack("{s:o,s:o,s:i}", "device", text_json(device), "files", files, "exit_code", code);
    json_show(all, stdout, JSON_INDENT(1));
    printf("\n");
    json_decref(all);
}

/* What the exit code says of one recording. */
static int judge(const struct play *p, const struct file *f)
{
    if (f->error.code == -ETIMEDOUT || f->error.code == -ECANCELED)
        return EXIT_FAILED;
    if (f->error.code == -ENOMEM)
        return EXIT_ENV;
    if (f->error.code)
        return EXIT_INPUT;
    if (p->expect_errors)
        return f->result.num_errors ? EXIT_OK : EXIT_FAILED;
    return f->result.num_errors || f->result.unpresented ? EXIT_FAILED : EXIT_OK;
}

static int worst(int a, int b)
{
    static const int order[] = {
        [EXIT_OK] = 0, [EXIT_FAILED] = 1, [EXIT_USAGE] = 2, [EXIT_INPUT] = 3, [EXIT_ENV] = 4};

    return order[a] > order[b] ? a : b;
}

static int report(struct play *p)
{
    int code, headed = 0;
    bool any = false;

    for (int i = 0; i < p->num_files; i++)
        any |= p->files[i].passes || p->files[i].result.submissions;
    pictures_wait(p->pictures, &p->output_error);
    code = p->output_error.code ? EXIT_ENV : EXIT_OK;
    if (any && p->sheet_path && sheet_write(&p->sheet, p->sheet_path, &p->output_error))
        code = EXIT_ENV;
    for (int i = 0; i < p->num_files; i++)
        code = worst(code, judge(p, &p->files[i]));
    if (interrupted && !p->loop)
        code = worst(code, EXIT_FAILED);
    if (p->json)
        print_json(p, code);
    for (int i = 0; i < p->num_files; i++) {
        if (!p->json && (p->files[i].passes || p->files[i].result.submissions)) {
            if (!headed++)
                print_heading();
            print_file(&p->files[i]);
        }
        if (p->files[i].error.code)
            utf8_print(stderr, "aerogpu play: %s: %s\n", p->files[i].path, p->files[i].error.text);
        if (p->expect_errors && !p->files[i].error.code && !p->files[i].result.num_errors)
            utf8_print(stderr, "aerogpu play: %s: latched no error\n", p->files[i].path);
    }
    if (p->output_error.code)
        utf8_print(stderr, "aerogpu play: %s\n", p->output_error.text);
    return code;
}

/* ---- bringing the machine up and down ------------------------------------ */

/* Opens every recording once, so that one that is bad says so whatever else happens. Guest memory for the
 * most demanding of the others, 0 if there is none. */
static uint64_t look_at_files(struct play *p)
{
    uint64_t ram = 0;

    for (int i = 0; i < p->num_files; i++) {
        struct file *f = &p->files[i];
        struct trace_reader_params params = {.path = f->path, .salvage = p->salvage};
        struct player_memory memory;
        struct trace_reader *r;

        if (trace_reader_open(&r, &params, &f->error))
            continue;
        if (!player_can_play(r, &f->error) && !player_measure(r, &memory, &f->error) &&
            player_ram_size(&memory) > ram)
            ram = player_ram_size(&memory);
        trace_reader_destroy(r);
    }
    return ram;
}

static int bring_up(struct play *p, uint64_t ram, struct error *e)
{
    struct player_params params = {.pictures = p->png || p->json || p->sheet_path,
                                   .only_frame = p->only_frame,
                                   .frame = on_frame,
                                   .progress = on_progress,
                                   .ctx = p,
                                   .stop = &interrupted};
    int rc = machine_create(&p->machine, &(struct machine_params){.kind = MACHINE_LIVE, .ram_size = ram}, e);

    if (!rc)
        rc = machine_wait_ready(p->machine, 60000, e);
    if (!rc)
        rc = trace_attach(&p->recording, p->machine, NULL, e);
    if (!rc)
        rc = dumps_begin(
            &p->watch,
            &(struct dumps_params){.machine = p->machine, .program = "play", .all_errors = !p->expect_errors},
            e);
    params.machine = p->machine;
    return rc ? rc : player_create(&p->player, &params, e);
}

static int tear_down(struct play *p)
{
    struct trace_recorder_stats stats;
    struct error e = {0};
    char path[4096] = "";
    int code = EXIT_OK;

    if (p->recording)
        snprintf(path, sizeof(path), "%s", trace_attachment_path(p->recording));
    player_destroy(p->player);
    if (p->watch)
        watch_settle(p->watch);
    watch_destroy(p->watch);
    if (p->recording && trace_detach(p->recording, &stats, &e)) {
        utf8_print(stderr, "aerogpu play: %s: the recording is not whole: %s\n", path, e.text);
        code = EXIT_FAILED;
    } else if (p->recording) {
        utf8_print(stderr, "aerogpu play: recorded %" PRIu64 " submissions, %" PRIu64 " frames to %s\n",
                   stats.submissions, stats.frames, path);
    }
    machine_destroy(p->machine);
    return code;
}

static int play_all(struct play *p)
{
    struct sigaction on_int = {.sa_handler = on_signal, .sa_flags = (int)SA_RESETHAND};
    struct error e = {0};
    uint64_t ram = look_at_files(p);
    uint32_t pass = 0;
    int code = EXIT_OK;

    if (!ram)
        return report(p);
    if (bring_up(p, ram, &e)) {
        utf8_print(stderr, "aerogpu play: %s\n", e.text);
        tear_down(p);
        return EXIT_ENV;
    }
    sigaction(SIGINT, &on_int, NULL);
    sigaction(SIGTERM, &on_int, NULL);
    do {
        bool any = false;

        for (int i = 0; i < p->num_files && !interrupted; i++) {
            if (p->files[i].error.code)
                continue; /* a bad recording is not tried again */
            play_file(p, &p->files[i]);
            any |= !p->files[i].error.code;
        }
        if (!any)
            break;
    } while ((p->loop || ++pass < p->times) && !interrupted);
    code = report(p);
    return worst(code, tear_down(p));
}

static int check_output(struct play *p)
{
    struct error e = {0};

    if ((p->png && out_file_folder(p->png, &e)) || (p->sheet_path && out_file_check(p->sheet_path, &e)))
        return command_error(&e);
    if (getenv("AEROGPU_RECORD") && *getenv("AEROGPU_RECORD") &&
        (p->num_files > 1 || p->loop || p->times > 1))
        return usage_error("a recording holds one run: give one file, no --loop and no --times to record it");
    return EXIT_OK;
}

static struct play options = {.only_frame = UINT32_MAX, .times = 1};
static struct options_row rows[] = {
    OPT_TEXT(
        "png", 0, &options.png, "DIR",
        "write each presented frame to DIR/frame_000000.png and so on, RGBA8; of several recordings of AeroGPU's device to DIR/NAME/frame_000000.png. DIR is made if it is missing"),
    OPT_TEXT("sheet", 0, &options.sheet_path, "FILE.png",
             "write a contact sheet: a row of up to five frames for each recording"),
    OPT_U32(
        "frame", 0, &options.only_frame, 0, UINT32_MAX - 1, "N",
        "stop behind frame N, and show, hash and write only that one; the frames before it are played, since it builds on them"),
    OPT_FLAG(
        "loop", 0, &options.loop,
        "play again and again until Ctrl-C, then print the figures; pictures and hashes are those of the first pass"),
    OPT_U32("times", 0, &options.times, 1, UINT32_MAX, "N", "play N times"),
    OPT_FLAG("json", 0, &options.json, "print one JSON object, with the size and the hash of each frame"),
    OPT_FLAG("expect-errors", 0, &options.expect_errors,
             "errors are what is wanted: exit code 1 for a recording that latches none"),
    OPT_FLAG("salvage", 0, &options.salvage,
             "play what can be read of a cut recording, too (exit code 3 all the same)"),
    OPT_END};

static int run(enum file_kind kind, char *const *files, int num_files)
{
    struct play p = options;
    int code;

    p.num_files = num_files;
    p.files = calloc((size_t)num_files, sizeof(*p.files));
    if (!p.files) {
        fprintf(stderr, "aerogpu play: no memory\n");
        return EXIT_ENV;
    }
    for (int i = 0; i < num_files; i++)
        p.files[i].path = files[i];
    code = check_output(&p);
    if (!code && pictures_create(&p.pictures)) {
        fprintf(stderr, "aerogpu play: cannot start a thread\n");
        code = EXIT_ENV;
    }
    if (!code)
        code = play_all(&p);
    pictures_destroy(p.pictures);
    for (int i = 0; i < p.num_files; i++) {
        player_result_finish(&p.files[i].result);
        for (size_t k = 0; k < p.files[i].num_shown; k++)
            free(p.files[i].shown[k]);
        free(p.files[i].shown);
    }
    free(p.files);
    sheet_finish(&p.sheet);
    return code;
}

const struct file_action trace_play = {
    "recordings of AeroGPU's device (.aerogputrace), through the whole device:", rows, run};
