/* SPDX-License-Identifier: MIT */
/* What recording Direct3D 12 costs, next to gfxreconstruct recording the Vulkan calls of the same program; how fast a
 * recording is played and printed; what finding written pages costs. Everything is measured in turns.
 *
 * The program runs itself under the recorders: `d3d12_bench --turns copy|viewports` prints nanoseconds of thread CPU time a call
 * for each byte that it reads. Figures whose reference is not installed (gfxreconstruct, Xvfb) are left out, and said so. */
#include <fcntl.h>
#include <limits.h>
#include <linux/userfaultfd.h>
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "bench.h"
#include "record/dirty/dirty.h"
#include "d3d12/gen/table.h"
#include "record/trace_file.h"

#define INITGUID
#include "d3d12_scene.h"

enum {
    CALLS = 100000,
    LIST = 2000,
    LOOPS = 5,
    ROUNDS = 9,
    TURNS = 60,
    LIVES = 12,
    PLAYS = 5,
    PAGES = 5,
    MIB = 1 << 20
};

static char self[4096], dir[] = "/tmp/aerogpu-d3d12-bench-XXXXXX";

/* ---- the loop that is recorded ------------------------------------------- */

/* What is called, and on what. */
struct calls {
    const char *kind;
    ID3D12CommandAllocator *allocator;
    ID3D12GraphicsCommandList *list;
    ID3D12Resource *a, *b;
};

static int calls_open(struct calls *c, const char *kind)
{
    ID3D12Device *device;

    c->kind = kind;
    return FAILED(D3D12CreateDevice(NULL, D3D_FEATURE_LEVEL_11_0, &IID_ID3D12Device, (void **)&device)) ||
           FAILED(scene_list(device, &c->allocator, &c->list)) ||
           !(c->a = scene_buffer(device, D3D12_HEAP_TYPE_DEFAULT, 65536)) ||
           !(c->b = scene_buffer(device, D3D12_HEAP_TYPE_DEFAULT, 65536));
}

/* Nanoseconds a call of CALLS of them, in lists that stay in caches: what the driver fetches from memory is longer by itself than
 * what is measured. */
static double calls_make(const struct calls *c)
{
    D3D12_VIEWPORT view = {0, 0, 640, 480, 0, 1};
    double ns = 0;

    for (unsigned n = 0; n < CALLS; n += LIST) {
        double start = bench_cpu();

        if (!strcmp(c->kind, "copy"))
            for (unsigned i = 0; i < LIST; i++)
                ID3D12GraphicsCommandList_CopyBufferRegion(c->list, c->a, 16 * (i & 1023), c->b,
                                                           16 * (i & 511), 16);
        else
            for (unsigned i = 0; i < LIST; i++)
                ID3D12GraphicsCommandList_RSSetViewports(c->list, 1, &view);
        ns += bench_cpu() - start;
        ID3D12GraphicsCommandList_Close(c->list);
        ID3D12CommandAllocator_Reset(c->allocator);
        ID3D12GraphicsCommandList_Reset(c->list, c->allocator, NULL);
    }
    return ns / CALLS;
}

/* What a recorder cannot do without: a ticket, and as many bytes into a ring. */
static double ring(size_t bytes)
{
    static _Atomic uint64_t ticket;
    static uint8_t memory[1 << 16], call[256];
    double ns = 0;

    for (unsigned n = 0; n < CALLS; n += LIST) {
        double start = bench_cpu();

        for (unsigned i = 0; i < LIST; i++) {
            uint64_t at = atomic_fetch_add(&ticket, bytes);

            memcpy(memory + at % (sizeof(memory) - sizeof(call)), call, bytes);
            __asm__ volatile("" : : : "memory");
        }
        ns += bench_cpu() - start;
    }
    return ns / CALLS;
}

static int loop(const char *kind, int loops)
{
    struct calls c;

    if (calls_open(&c, kind))
        return 1;
    while (loops--)
        calls_make(&c);
    _exit(0);
}

/* A number for each byte that is read: those who are compared take turns, each after the other. */
static int turns(const char *kind)
{
    size_t bytes = (size_t)atoi(kind);
    struct calls c;

    if (bytes > 256 || (!bytes && calls_open(&c, kind)))
        return 1;
    while (getchar() == '.') {
        printf("%.3f\n", bytes ? ring(bytes) : calls_make(&c));
        fflush(stdout);
    }
    _exit(0);
}

static char *output(const char *fmt, ...)
{
    static char text[1 << 16];
    char command[8192];
    va_list ap;
    size_t n;
    FILE *p;

    va_start(ap, fmt);
    vsnprintf(command, sizeof(command), fmt, ap);
    va_end(ap);
    p = popen(command, "r");
    n = p ? fread(text, 1, sizeof(text) - 1, p) : 0;
    text[n] = '\0';
    if (p)
        pclose(p);
    return text;
}

#define GFX                                                                                                  \
    "VK_INSTANCE_LAYERS=VK_LAYER_LUNARG_gfxreconstruct GFXRECON_LOG_LEVEL=error "                            \
    "GFXRECON_CAPTURE_FILE_TIMESTAMP=false GFXRECON_CAPTURE_COMPRESSION_TYPE=%s "                            \
    "GFXRECON_CAPTURE_FILE=%s/gfx.gfxr "

static bool have(const char *command)
{
    return *output("command -v %s 2>/dev/null", command) != '\0';
}

/* Bytes of call records in a file, before and after compression, over its calls. */
static void bytes_a_call(const char *path, double *raw, double *packed)
{
    uint64_t r = 0, p = 0, calls = 0;
    struct trc_call c;
    struct trc *t;

    *raw = *packed = 0;
    if (trc_open(&t, &d12_api, path, NULL))
        return;
    for (uint32_t i = 0; i < trc_num_blocks(t); i++) {
        r += trc_block(t, i)->raw;
        p += trc_block(t, i)->packed;
    }
    while (trc_next(t, &c, NULL) > 0)
        calls++;
    trc_close(t);
    *raw = calls ? (double)r / (double)calls : 0;
    *packed = calls ? (double)p / (double)calls : 0;
}

/* A program that takes turns: turns() in a process of its own, perhaps under a recorder. */
struct taker {
    FILE *to, *from;
    pid_t pid;
};

static void taker_open(struct taker *t, const char *fmt, ...)
{
    int in[2], out[2];
    char *command;
    va_list ap;

    va_start(ap, fmt);
    *t = (struct taker){0};
    if (vasprintf(&command, fmt, ap) < 0)
        command = NULL;
    va_end(ap);
    if (!command || pipe2(in, O_CLOEXEC) || pipe2(out, O_CLOEXEC))
        return;
    t->pid = fork();
    if (!t->pid) {
        dup2(in[0], 0);
        dup2(out[1], 1);
        execl("/bin/sh", "sh", "-c", command, (char *)NULL);
        _exit(127);
    }
    close(in[0]);
    close(out[1]);
    t->to = fdopen(in[1], "w");
    t->from = fdopen(out[0], "r");
    free(command);
}

static double taker_turn(struct taker *t)
{
    char line[64];

    if (!t->to || fputc('.', t->to) < 0 || fflush(t->to))
        return 0;
    return fgets(line, sizeof(line), t->from) ? atof(line) : 0;
}

static void taker_close(struct taker *t)
{
    if (t->to)
        fclose(t->to);
    if (t->from)
        fclose(t->from);
    if (t->pid > 0)
        waitpid(t->pid, NULL, 0);
}

enum { ALONE, RECORDED, RING, THEIRS, TAKERS };

/* `ns` of each turn. Where a process's memory lies makes calls slower or faster as long as it lives: several have their turns. */
static void take_turns(double ns[TAKERS][TURNS], const char *kind, double bytes, const char *path, bool gfx)
{
    for (int n = 0; n < TURNS; n += TURNS / LIVES) {
        struct taker t[TAKERS] = {0};

        taker_open(&t[ALONE], "exec %s --turns %s 2>/dev/null", self, kind);
        taker_open(&t[RECORDED], "exec %s record -o %s.turns -- %s --turns %s 2>/dev/null", AEROGPU, path,
                   self, kind);
        taker_open(&t[RING], "exec %s --turns %.0f", self, ceil(bytes));
        if (gfx)
            taker_open(&t[THEIRS], GFX "exec %s --turns %s 2>/dev/null", "NONE", dir, self, kind);
        for (int i = 0; i < TAKERS; i++) /* the first finds everything cold */
            taker_turn(&t[i]);
        for (int k = n; k < n + TURNS / LIVES; k++)
            for (int i = 0; i < TAKERS; i++)
                ns[i][k] = taker_turn(&t[i]);
        for (int i = 0; i < TAKERS; i++)
            taker_close(&t[i]);
    }
}

static void call_cost(struct bench *b, const char *kind, bool gfx)
{
    /* what the caller hands over: a list, and six dwords behind a pointer with a count; two buffers, offsets, a size */
    const double arguments = strcmp(kind, "copy") ? 8 + 4 + 24 : 8 + 8 + 8 + 8 + 8 + 8;
    double ns[TAKERS][TURNS], added[TURNS], raw = 0, packed = 0, theirs = 0;
    char path[100], id[64], note[200];

    snprintf(path, sizeof(path), "%s/loop", dir);
    output("%s record -o %s -- %s --loop %s 2>/dev/null", AEROGPU, path, self, kind);
    bytes_a_call(path, &raw, &packed);
    take_turns(ns, kind, raw > 0 ? raw : 1, path, gfx);
    for (int n = 0; n < TURNS; n++)
        added[n] = ns[RECORDED][n] > ns[ALONE][n] ? ns[RECORDED][n] - ns[ALONE][n] : 0;
    if (gfx)
        theirs = bench_quantile(ns[THEIRS], TURNS, 0.5) - bench_quantile(ns[ALONE], TURNS, 0.5);
    if (bench_quantile(ns[ALONE], TURNS, 0) <= 0) {
        static const char *const figures[] = {"cost", "bytes", "packed"};
        for (int i = 0; i < 3; i++) {
            snprintf(id, sizeof(id), "d3d12_call_%s_%s", figures[i], kind);
            bench_not_measured(b, id, "no Direct3D 12 device");
        }
        return;
    }
    if (bench_quantile(ns[RECORDED], TURNS, 0) <= 0 || raw <= 0) {
        snprintf(id, sizeof(id), "d3d12_call_cost_%s", kind);
        bench_failed(b, id, "the calls were not recorded");
        return;
    }
    snprintf(id, sizeof(id), "d3d12_call_cost_%s", kind);
    snprintf(
        note, sizeof(note),
        "added to %.0f ns a call, against a ring write of as many bytes; gfxreconstruct uncompressed adds %.0f",
        bench_quantile(ns[ALONE], TURNS, 0.5), theirs);
    bench_report(b, &(struct bench_figure){.id = id,
                                           .ours_each = added,
                                           .reference_each = ns[RING],
                                           .rounds = TURNS,
                                           .unit = "ns",
                                           .target = 1.5,
                                           .note = note});
    snprintf(id, sizeof(id), "d3d12_call_bytes_%s", kind);
    bench_report(b, &(struct bench_figure){.id = id,
                                           .ours = raw,
                                           .reference = arguments,
                                           .unit = "bytes/call",
                                           .target = 0.25,
                                           .note = "before compression, against the arguments"});
    snprintf(id, sizeof(id), "d3d12_call_packed_%s", kind);
    bench_report(b, &(struct bench_figure){.id = id,
                                           .ours = packed,
                                           .reference = arguments,
                                           .unit = "bytes/call",
                                           .target = 0.05,
                                           .note = "in the file, against the arguments"});
}

/* Seconds of processor time of a command and all that it starts, the recorder beside the program among them; and the number that it
 * prints. */
static double whole_cpu(const char *command, double *printed)
{
    struct rusage a, b;

    getrusage(RUSAGE_CHILDREN, &a);
    *printed = atof(output("%s", command));
    getrusage(RUSAGE_CHILDREN, &b);
    return (double)(b.ru_utime.tv_sec - a.ru_utime.tv_sec + b.ru_stime.tv_sec - a.ru_stime.tv_sec) +
           (double)(b.ru_utime.tv_usec - a.ru_utime.tv_usec + b.ru_stime.tv_usec - a.ru_stime.tv_usec) / 1e6;
}

/* What three ways of running the program cost, in turns; and playing what the last one recorded. */
struct heavy {
    double alone[ROUNDS], recorded[ROUNDS], theirs[ROUNDS], played[ROUNDS]; /* seconds of whole programs */
    double ours_added[ROUNDS], theirs_added[ROUNDS]; /* us a frame, as the program measures */
    bool any, was_recorded, theirs_too, was_played;
};

static void measure_heavy(struct heavy *h, bool gfx, const char *path)
{
    char alone[8300], recorded[8400], theirs[8600], played[4300];

    snprintf(alone, sizeof(alone), "%s --draws 2>/dev/null", self);
    snprintf(recorded, sizeof(recorded), "%s record -o %s -- %s --draws 2>/dev/null", AEROGPU, path, self);
    snprintf(theirs, sizeof(theirs), GFX "%s --draws 2>/dev/null", "LZ4", dir, self);
    snprintf(played, sizeof(played), "%s play %s 2>/dev/null >%s/played && echo 1", AEROGPU, path, dir);
    h->theirs_too = gfx;
    h->any = h->was_recorded = h->was_played = true;
    for (int n = 0; n < ROUNDS; n++) {
        double us[3] = {0}, done = 0;

        h->alone[n] = whole_cpu(alone, &us[0]);
        h->recorded[n] = whole_cpu(recorded, &us[1]);
        if (gfx)
            h->theirs[n] = whole_cpu(theirs, &us[2]);
        h->played[n] = whole_cpu(played, &done);
        h->was_played = h->was_played && done == 1;
        h->ours_added[n] = us[1] > us[0] ? us[1] - us[0] : 0;
        h->theirs_added[n] = gfx ? us[2] - us[0] : 0;
        h->any = h->any && us[0] > 0;
        h->was_recorded = h->was_recorded && us[1] > 0;
        h->theirs_too = h->theirs_too && us[2] > 0;
    }
}

/* Frames of 5 000 draws: what recording adds to their CPU time, and how many bytes a frame takes; what playing them takes. */
static void draw_heavy(struct bench *b, bool gfx)
{
    static const char *const ids[] = {"d3d12_record", "d3d12_play_heavy", "d3d12_record_against",
                                      "d3d12_record_bytes"};
    static struct heavy heavy;
    struct heavy *h = &heavy;
    double bytes = 0, their_bytes = 0;
    char path[100], text[100];
    struct stat st;

    snprintf(path, sizeof(path), "%s/draws", dir);
    snprintf(text, sizeof(text), "%s/gfx.gfxr", dir);
    measure_heavy(h, gfx, path);
    if (!stat(path, &st))
        bytes = (double)st.st_size / SCENE_FRAMES;
    if (gfx && !stat(text, &st))
        their_bytes = (double)st.st_size / SCENE_FRAMES;
    for (size_t i = 0; i < sizeof(ids) / sizeof(ids[0]) && !(h->any && h->was_recorded); i++)
        if (h->any)
            bench_failed(b, ids[i], "what runs alone does not when it is recorded");
        else
            bench_not_measured(b, ids[i], "no Direct3D 12 device");
    if (!h->any || !h->was_recorded)
        return;
    bench_report(b,
                 &(struct bench_figure){.id = "d3d12_record",
                                        .ours_each = h->recorded,
                                        .reference_each = h->alone,
                                        .rounds = ROUNDS,
                                        .unit = "s",
                                        .target = 1.1,
                                        .note = "CPU time of program and recorder, 40 frames of 5 000 draws, "
                                                "against the program alone"});
    if (!h->was_played)
        bench_failed(b, "d3d12_play_heavy", "what was recorded does not play");
    else
        bench_report(b,
                     &(struct bench_figure){.id = "d3d12_play_heavy",
                                            .ours_each = h->played,
                                            .reference_each = h->alone,
                                            .rounds = ROUNDS,
                                            .unit = "s",
                                            .target = 1.1,
                                            .note = "CPU time of playing them, against the program's own"});
    if (!h->theirs_too)
        bench_not_measured(b, "d3d12_record_against", "gfxreconstruct recorded nothing");
    else
        bench_report(b, &(struct bench_figure){.id = "d3d12_record_against",
                                               .ours_each = h->ours_added,
                                               .reference_each = h->theirs_added,
                                               .rounds = ROUNDS,
                                               .unit = "us/frame",
                                               .target = 0.5,
                                               .note = "gfxreconstruct, LZ4"});
    if (their_bytes <= 0)
        bench_not_measured(b, "d3d12_record_bytes", "gfxreconstruct recorded nothing");
    else
        bench_report(b, &(struct bench_figure){.id = "d3d12_record_bytes",
                                               .ours = bytes,
                                               .reference = their_bytes,
                                               .unit = "bytes/frame",
                                               .target = 0.5,
                                               .note = "gfxreconstruct, LZ4"});
}

/* ---- gears --------------------------------------------------------------- */

static double number_before(const char *text, const char *word)
{
    const char *p = strstr(text, word);

    while (p && p > text && strchr("0123456789.", p[-1]))
        p--;
    return p ? atof(p) : 0;
}

static void gears(struct bench *b, bool gfx)
{
    char text[4096], note[200], path[200];
    double frames, theirs = 0, fps[2][PLAYS] = {0};
    struct stat st;

    if (!have("Xvfb") || !have("vkd3d-gears")) {
        bench_not_measured(b, "d3d12_bytes", "no Xvfb or no vkd3d-gears");
        bench_not_measured(b, "d3d12_play", "no Xvfb or no vkd3d-gears");
        return;
    }
    snprintf(path, sizeof(path), "%s/gears", dir);
    output("Xvfb -displayfd 9 -screen 0 640x480x24 9>%s/display >/dev/null 2>&1 & echo $! >%s/xpid; "
           "for i in 1 2 3 4 5 6 7 8 9 10; do [ -s %s/display ] && break; sleep 0.2; done",
           dir, dir, dir);
    setenv("DISPLAY", "", 1);
    snprintf(text, sizeof(text), ":%d", atoi(output("cat %s/display", dir)));
    setenv("DISPLAY", text, 1);
    snprintf(text, sizeof(text), "%s",
             output("%s record -o %s -- timeout -s INT 4 vkd3d-gears 2>&1", AEROGPU, path));
    frames = number_before(text, " frames, ");
    if (gfx) {
        output(GFX "timeout -s INT 4 vkd3d-gears 2>&1", "LZ4", dir);
        if (!stat(output("printf %%s %s/gfx.gfxr", dir), &st)) {
            const char *replay = "gfxrecon-replay --wsi xcb %s/gfx.gfxr 2>&1";

            snprintf(text, sizeof(text), replay, dir);
            for (int i = 0; i < PLAYS; i++) {
                const char *out = output("%s", text);
                double n = number_before(out, " frames");

                fps[1][i] = number_before(out, " fps");
                theirs = n > 0 ? (double)st.st_size / n : theirs;
                fps[0][i] = number_before(output("%s play %s 2>/dev/null", AEROGPU, path), " a second");
            }
        }
    }
    snprintf(note, sizeof(note), "%.0f frames with a hash each, against gfxreconstruct with LZ4", frames);
    if (theirs <= 0)
        bench_not_measured(b, "d3d12_bytes", "gfxreconstruct recorded nothing");
    else if (frames <= 0 || stat(path, &st))
        bench_failed(b, "d3d12_bytes", "vkd3d-gears was not recorded");
    else
        bench_report(b, &(struct bench_figure){.id = "d3d12_bytes",
                                               .ours = (double)st.st_size / frames,
                                               .reference = theirs,
                                               .unit = "bytes/frame",
                                               .target = 0.1,
                                               .note = note});
    if (theirs <= 0 || fps[1][0] <= 0)
        bench_not_measured(b, "d3d12_play", "gfxrecon-replay played nothing");
    else
        bench_report(b, &(struct bench_figure){.id = "d3d12_play",
                                               .ours_each = fps[0],
                                               .reference_each = fps[1],
                                               .rounds = PLAYS,
                                               .unit = "frames/s",
                                               .target = 1.5,
                                               .at_least = 1,
                                               .note = "against gfxrecon-replay"});
    output("kill $(cat %s/xpid)", dir);
}

/* ---- show ---------------------------------------------------------------- */

static void show(struct bench *b)
{
    double ours[ROUNDS], reference[ROUNDS], slow, fast = bench_merge_rate();
    char path[100];

    snprintf(path, sizeof(path), "%s/loop", dir);
    if (access(path, R_OK)) {
        bench_not_measured(b, "d3d12_show", "no Direct3D 12 device: there is nothing to print");
        return;
    }
    for (int i = 0; i < ROUNDS; i++) {
        struct rusage before, after;
        double s;

        getrusage(RUSAGE_CHILDREN, &before);
        output("%s show %s >/dev/null", AEROGPU, path);
        getrusage(RUSAGE_CHILDREN, &after);
        s = (double)(after.ru_utime.tv_sec - before.ru_utime.tv_sec) +
            (double)(after.ru_utime.tv_usec - before.ru_utime.tv_usec) / 1e6;
        ours[i] = CALLS * LOOPS / s / 1e6;
        slow = fast;
        fast = bench_merge_rate();
        reference[i] = (slow + fast) / 2;
    }
    bench_report(
        b, &(struct bench_figure){.id = "d3d12_show",
                                  .ours_each = ours,
                                  .reference_each = reference,
                                  .rounds = ROUNDS,
                                  .unit = "M/s",
                                  .target = 0.03,
                                  .at_least = 1,
                                  .note = "calls decoded and printed, user CPU time, against events merged"});
}

/* From the start of loading to the page being usable, as the page itself measures it. */
static double open_page(const char *name)
{
    return atof(output(
        "HOME=%s chromium --headless --no-sandbox --disable-gpu --dump-dom file://%s/%s.html 2>/dev/null | "
        "grep -ao 'data-open-ms=\"[0-9]*' | head -1 | cut -d'\"' -f2",
        dir, dir, name));
}

static void open_viewer(struct bench *b)
{
    double ms[PAGES], bare[PAGES];

    if (!have("chromium")) {
        bench_not_measured(b, "d3d12_viewer", "chromium is not installed");
        return;
    }
    output("%s record -o %s/short -- %s --short-loop copy 2>/dev/null; %s show --html %s/v.html "
           "%s/short",
           AEROGPU, dir, self, AEROGPU, dir, dir);
    output(
        "cd %s; { printf '<!doctype html><script type=\"text/plain\">'; base64 -w0 /dev/urandom | head -c $(stat -c %%s "
        "v.html); printf '</script><script>document.documentElement.dataset.openMs = "
        "Math.round(performance.now())</script>'; } >bare.html",
        dir);
    for (int i = 0; i < PAGES; i++) {
        ms[i] = open_page("v");
        bare[i] = open_page("bare");
        if (ms[i] <= 0 || bare[i] <= 0) {
            bench_failed(b, "d3d12_viewer", "chromium opened no page");
            return;
        }
    }
    bench_report(
        b, &(struct bench_figure){.id = "d3d12_viewer",
                                  .ours_each = ms,
                                  .reference_each = bare,
                                  .rounds = PAGES,
                                  .unit = "ms",
                                  .target = 6,
                                  .note = "opening 100 000 calls in headless Chromium, against decoding and "
                                          "parsing the page's bytes"});
}

/* ---- written pages ------------------------------------------------------- */

struct page_region {
    uint64_t start, end, categories;
};

struct pm_scan_arg {
    uint64_t size, flags, start, end, walk_end, vec, vec_len, max_pages;
    uint64_t category_inverted, category_mask, category_anyof_mask, return_mask;
};

static void nothing(void *ctx, struct dirty_run r)
{
    *(size_t *)ctx += (r.end - r.start) / DIRTY_PAGE;
}

static void touch(uint8_t *p, size_t pages, unsigned round)
{
    for (size_t i = 0; i < pages; i++)
        p[(i * 2654435761u % (64 * MIB / DIRTY_PAGE)) * DIRTY_PAGE + 64] = (uint8_t)(round + 1);
}

/* Median microseconds of writing `pages` random pages and of the look that finds them. */
static bool cost(enum dirty_method m, uint8_t *p, size_t pages, double *write_us, double *look_us)
{
    double w[15], l[15];
    struct dirty_span *s;
    struct dirty *d;
    size_t seen;

    if (dirty_create(&d, m))
        return false;
    if (dirty_add(d, &s, p, 64 * MIB)) {
        dirty_destroy(d);
        return false;
    }
    for (int i = 0; i < 15; i++) {
        double start = bench_now();

        touch(p, pages, (unsigned)i);
        w[i] = (bench_now() - start) / 1e3;
        start = bench_now();
        dirty_collect(d, s, nothing, (seen = 0, &seen));
        l[i] = (bench_now() - start) / 1e3;
    }
    dirty_remove(d, s);
    dirty_destroy(d);
    *write_us = bench_quantile(w, 15, 0.5);
    *look_us = bench_quantile(l, 15, 0.5);
    return true;
}

/* The bare system call on memory that is watched the same way. */
static double bare_scan(uint8_t *p, size_t pages)
{
    static struct page_region v[1024];
    struct uffdio_api api = {.api = UFFD_API, .features = 1u << 15 | 1u << 13};
    struct uffdio_register r = {.range = {(uintptr_t)p, 64 * MIB}, .mode = UFFDIO_REGISTER_MODE_WP};
    struct uffdio_writeprotect w = {.range = r.range, .mode = UFFDIO_WRITEPROTECT_MODE_WP};
    int fd = (int)syscall(323, O_CLOEXEC | 1), pagemap = open("/proc/self/pagemap", O_RDONLY);
    double us[15];

    if (fd < 0 || pagemap < 0 || ioctl(fd, UFFDIO_API, &api) || ioctl(fd, UFFDIO_REGISTER, &r) ||
        ioctl(fd, UFFDIO_WRITEPROTECT, &w))
        return 0;
    for (int i = 0; i < 15; i++) {
        struct pm_scan_arg a = {.size = sizeof(a),
                                .flags = 3,
                                .start = (uintptr_t)p,
                                .end = (uintptr_t)p + 64 * MIB,
                                .vec = (uintptr_t)v,
                                .vec_len = 1024,
                                .category_mask = 2,
                                .return_mask = 2};
        double start;

        touch(p, pages, (unsigned)i);
        start = bench_now();
        if (ioctl(pagemap, _IOWR('f', 16, struct pm_scan_arg), &a) < 0)
            return 0;
        us[i] = (bench_now() - start) / 1e3;
    }
    ioctl(fd, UFFDIO_UNREGISTER, &r.range);
    close(fd);
    close(pagemap);
    return bench_quantile(us, 15, 0.5);
}

static void dirty(struct bench *b)
{
    static const double parts[] = {0, 0.01, 0.1, 1};
    uint8_t *p = mmap(NULL, 64 * MIB, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    double w, l, look[ROUNDS], bare[ROUNDS];
    bool here = true;

    memset(p, 1, 64 * MIB);
    for (int i = 0; i < ROUNDS && here; i++) {
        bare[i] = bare_scan(p, 100);
        here = bare[i] > 0 && cost(DIRTY_KERNEL, p, 100, &w, &look[i]);
    }
    if (here)
        bench_report(b, &(struct bench_figure){.id = "dirty_tracking",
                                               .ours_each = look,
                                               .reference_each = bare,
                                               .rounds = ROUNDS,
                                               .unit = "us",
                                               .target = 1.2,
                                               .note = "64 MiB, 100 pages; against a bare PAGEMAP_SCAN"});
    else
        bench_not_measured(b, "dirty_tracking", "this kernel has no PAGEMAP_SCAN");
    printf("  64 MiB, microseconds of writing + looking, when changed are\n  %-8s", "");
    for (int k = 0; k < 4; k++)
        printf(" %18.0f%%", parts[k] * 100);
    printf("\n");
    for (int m = DIRTY_KERNEL; m <= DIRTY_HASH; m++) {
        printf("  %-8s", dirty_method_name((enum dirty_method)m));
        for (int k = 0; k < 4; k++)
            if (cost((enum dirty_method)m, p, (size_t)(parts[k] * 64 * MIB / DIRTY_PAGE), &w, &l))
                printf(" %9.0f + %7.0f", w, l);
            else
                printf(" %19s", "not here");
        printf("\n");
    }
    munmap(p, 64 * MIB);
}

/* One of the figures of a call; that of printing reads what the last of these recorded. */
static bool wants_one(const struct bench *b, const char *kind)
{
    char id[3][64];

    snprintf(id[0], sizeof(id[0]), "d3d12_call_cost_%s", kind);
    snprintf(id[1], sizeof(id[1]), "d3d12_call_bytes_%s", kind);
    snprintf(id[2], sizeof(id[2]), "d3d12_call_packed_%s", kind);
    return bench_wants(b, id[0]) || bench_wants(b, id[1]) || bench_wants(b, id[2]) ||
           bench_wants(b, "d3d12_show");
}

int main(int argc, char **argv)
{
    struct bench b;
    bool gfx;

    if (argc == 3 && !strcmp(argv[1], "--loop"))
        return loop(argv[2], LOOPS);
    if (argc == 3 && !strcmp(argv[1], "--short-loop"))
        return loop(argv[2], 1);
    if (argc == 2 && !strcmp(argv[1], "--draws"))
        return scene_draws();
    if (argc == 3 && !strcmp(argv[1], "--turns"))
        return turns(argv[2]);
    bench_init(&b, argc, argv);
    if (readlink("/proc/self/exe", self, sizeof(self) - 1) < 0 || !mkdtemp(dir))
        return 1;
    gfx = have("gfxrecon-replay");
    if (!gfx)
        printf("d3d12: package gfxreconstruct is not installed: no references\n");
    if (bench_wants(&b, "dirty_tracking"))
        dirty(&b);
    for (int i = 0; i < 2; i++)
        if (wants_one(&b, i ? "copy" : "viewports"))
            call_cost(&b, i ? "copy" : "viewports", gfx);
    if (bench_wants(&b, "d3d12_show"))
        show(&b);
    if (bench_wants(&b, "d3d12_viewer"))
        open_viewer(&b);
    if (bench_wants(&b, "d3d12_record") || bench_wants(&b, "d3d12_play_heavy") ||
        bench_wants(&b, "d3d12_record_against") || bench_wants(&b, "d3d12_record_bytes"))
        draw_heavy(&b, gfx);
    if (bench_wants(&b, "d3d12_bytes") || bench_wants(&b, "d3d12_play"))
        gears(&b, gfx);
    output("rm -rf %s", dir);
    return bench_finish(&b);
}
