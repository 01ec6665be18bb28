/* SPDX-License-Identifier: MIT */
/* d3d12_show.c: a recording as text or JSON lines. */
#include "commands.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file/scratch.h"
#include "base/utf8.h"
#include "d3d12.h"
#include "file_kinds.h"
#include "record/export.h"
#include "d3d12/play/play.h"
#include "record/show.h"
#include "d3d12/view/dxil.h"
#include "d3d12/view/page.h"
#include "d3d12/view/fences.h"
#include "d3d12/view/state.h"
#include "executor/shader/shader.h"
#include "d3d12/gen/table.h"

struct selection {
    uint64_t first_frame, last_frame, first_call, last_call;
    uint32_t object, thread;
    const char *method;
};

struct show_options {
    const char *recording;
    bool json;
    struct selection only;
    const char *html, *sqlite, *perfetto;
    uint64_t state, bytes, fences; /* a call; UINT64_MAX: the view was not asked for */
    bool pictures;
    uint32_t first_picture, last_picture; /* frames */
    struct play_params play;              /* of it the pixel */
};

static bool selected(const struct selection *s, const struct trc_call *c)
{
    return c->frame >= s->first_frame && c->frame <= s->last_frame && c->index >= s->first_call &&
           c->index <= s->last_call && (!s->object || names_mentions(c, s->object)) &&
           (!s->thread || c->thread == s->thread) && (!s->method || strstr(c->m->name, s->method));
}

static int print(struct trc *t, enum show_form form, const struct selection *s, const struct names *names,
                 struct error *e)
{
    struct strbuf b = {0};
    struct trc_call c;
    uint32_t frame = 0;
    bool any = false, all = true;
    int got;

    while ((got = trc_next(t, &c, e)) > 0) {
        bool wanted = selected(s, &c);

        all = all && wanted;
        if (c.index > s->last_call || c.frame > s->last_frame)
            break;
        if (!wanted)
            continue;
        any = true;
        if (form == SHOW_TEXT && c.frame != frame) {
            frame = c.frame;
            strbuf_printf(&b, "--- frame %u\n", frame);
        }
        show_call(&b, form, t, &c, names);
        strbuf_append(&b, "\n", 1);
        if (b.len > 1 << 16) {
            fwrite(b.data, 1, b.len, stdout);
            strbuf_clear(&b);
        }
    }
    fwrite(strbuf_str(&b), 1, b.len, stdout);
    strbuf_finish(&b);
    if (got >= 0 && !any && !all)
        return error_set(e, -ENOENT, "none of the recording's calls is one that was asked for");
    return got < 0 ? got : 0;
}

/* Plays the recording in a process of its own, for what `p` asks; what is printed goes to `out`, or if it is NULL to standard output. */
static void play_apart(const char *path, const struct play_params *p, FILE *out, const char *what)
{
    int status = 0;
    pid_t pid = fork();

    if (!pid) {
        struct play_result r;
        struct error e = {0};
        struct trc *t;

        if (out)
            dup2(fileno(out), STDOUT_FILENO);
        if (!trc_open(&t, &d12_api, path, &e))
            play_run(t, p, &r, &e);
        if (e.code)
            utf8_print(stderr, "aerogpu show: %s: %s\n", what, e.text);
        fflush(NULL);
        _exit(0);
    }
    if (pid < 0 || waitpid(pid, &status, 0) < 0 || !WIFEXITED(status))
        fprintf(stderr, "aerogpu show: playing for %s ended early; what was seen until then is in the page\n",
                what);
}

/* The pictures of frames and draws, what draws take, and what becomes of a pixel. Each is played by itself: copies take time, too. */
static int play_for_page(struct d12_page *inside, const struct show_options *o, const char *folder,
                         struct error *e)
{
    struct play_params p = {.until_call = UINT64_MAX,
                            .until_frame = o->last_picture,
                            .stop_before = UINT64_MAX,
                            .draw_first = UINT64_MAX};
    struct play_params pictures, times, pixel;
    struct trc_call c;

    trc_rewind(inside->t);
    while (trc_next(inside->t, &c, NULL) > 0 && c.frame <= o->last_picture)
        if (c.frame >= o->first_picture) {
            p.draw_first = c.index < p.draw_first ? c.index : p.draw_first;
            p.draw_last = c.index;
        }
    pictures = times = pixel = p;
    pictures.png_dir = pictures.all_dir = folder;
    pictures.png_first = o->first_picture;
    pictures.png_last = o->last_picture;
    play_apart(o->recording, &pictures, NULL, "pictures");
    times.gpu_time = true;
    inside->times = tmpfile();
    if (!inside->times)
        return error_set(e, -errno, "no file for what draws take: %s", strerror(errno));
    play_apart(o->recording, &times, inside->times, "times");
    if (!o->play.pixel)
        return 0;
    pixel.pixel = true;
    pixel.pixel_x = o->play.pixel_x;
    pixel.pixel_y = o->play.pixel_y;
    inside->pixel = tmpfile();
    if (!inside->pixel)
        return error_set(e, -errno, "no file for what becomes of a pixel: %s", strerror(errno));
    fprintf(inside->pixel, "%u,%u\n", pixel.pixel_x, pixel.pixel_y);
    fflush(inside->pixel);
    play_apart(o->recording, &pixel, inside->pixel, "the pixel");
    return 0;
}

/* A shader of any model as text. */
static void disassemble(struct strbuf *out, const void *bytes, size_t size)
{
    struct dxbc d;
    bool sum;

    if (!dxbc_open_unchecked(&d, bytes, size, &sum, NULL) && dxil_program(&d))
        dxil_print(out, &d);
    else
        shader_print(out, bytes, size);
}

static int html(struct trc *t, const struct names *names, const struct show_options *o, struct error *e)
{
    struct d12_page inside = {.t = t,
                              .names = names,
                              .first_frame = o->pictures ? o->first_picture : 0,
                              .last_frame = o->last_picture,
                              .disassemble = disassemble};
    struct export_page page = {
        .style = d12_page_style, .script = d12_page_script, .put = d12_page_put, .ctx = &inside};
    struct scratch folder;
    int err;

    if (!o->pictures)
        return export_html(t, names, &page, o->html, e);
    if ((err = scratch_make(&folder, "aerogpu-pictures", true, e)))
        return err;
    page.pictures = folder.path;
    err = play_for_page(&inside, o, folder.path, e);
    err = err ? err : export_html(t, names, &page, o->html, e);
    if (inside.times)
        fclose(inside.times);
    if (inside.pixel)
        fclose(inside.pixel);
    scratch_remove(&folder);
    return err;
}

/* The ways of looking that are not a list of calls. 1: none was asked for. */
static int other(struct trc *t, const struct names *names, const struct show_options *o, struct error *e)
{
    struct strbuf b = {0};
    int err;

    if (o->html)
        return html(t, names, o, e);
    if (o->sqlite)
        return export_sqlite(t, names, o->sqlite, e);
    if (o->perfetto)
        return export_perfetto(t, names, o->perfetto, e);
    if (o->state != UINT64_MAX)
        err = state_at(&b, o->json ? SHOW_JSON : SHOW_TEXT, t, names, o->state, e);
    else if (o->bytes != UINT64_MAX)
        err = show_bytes(&b, o->json ? SHOW_JSON : SHOW_TEXT, t, o->bytes, e);
    else if (o->fences != UINT64_MAX)
        err = fences_at(&b, o->json ? SHOW_JSON : SHOW_TEXT, t, names, o->fences, e);
    else
        return 1;
    if (!err && !b.len && o->bytes != UINT64_MAX)
        err = error_set(e, -ENOENT, "call %llu carries no bytes", (unsigned long long)o->bytes);
    fwrite(strbuf_str(&b), 1, b.len, stdout);
    strbuf_finish(&b);
    return err;
}

static struct show_options options = {.only = {.last_frame = UINT64_MAX, .last_call = UINT64_MAX},
                                      .state = UINT64_MAX,
                                      .bytes = UINT64_MAX,
                                      .fences = UINT64_MAX,
                                      .last_picture = UINT32_MAX};

static struct options_row rows[] = {
    OPT_FLAG("json", 'j', &options.json, "one JSON object a line"),
    OPT_RANGE("frames", 0, &options.only.first_frame, &options.only.last_frame, "A-B", "only these frames"),
    OPT_RANGE("calls", 0, &options.only.first_call, &options.only.last_call, "A-B", "only these calls"),
    OPT_U32("object", 0, &options.only.object, 1, UINT32_MAX, "N",
            "only calls that object N is part of: its whole life"),
    OPT_U32("thread", 0, &options.only.thread, 1, UINT32_MAX, "N", "only calls of this thread"),
    OPT_TEXT("method", 0, &options.only.method, "TEXT", "only methods with TEXT in their name"),
    OPT_U64(
        "state", 0, &options.state, 0, UINT64_MAX - 1, "N",
        "what was set on the command list at call N, with what made its pipeline and root signature, and the descriptors of its tables"),
    OPT_U64("bytes", 0, &options.bytes, 0, UINT64_MAX - 1, "N",
            "the bytes of call N: what was copied into memory, a shader, constants"),
    OPT_U64("fences", 0, &options.fences, 0, UINT64_MAX - 1, "N",
            "how far every fence is at call N, and what is waited for"),
    OPT_TEXT("html", 0, &options.html, "FILE", "write a page to look around in"),
    OPT_TEXT("sqlite", 0, &options.sqlite, "FILE", "write a database"),
    OPT_TEXT("perfetto", 0, &options.perfetto, "FILE", "write a time line"),
    OPT_RANGE32(
        "pictures", 0, &options.first_picture, &options.last_picture, "A-B",
        "with --html: plays up to frame B; the page has the pictures of frames A to B and of their draws, and what every resource holds at the end"),
    OPT_CALL(
        "pixel", 0, d3d12_parse_pixel, &options.play, "X,Y",
        "with --pictures: which draws and clears of these frames change this pixel of the first render target, and what to"),
    OPT_END};

/* One way of looking at a time, with what goes with it. */
static int check_ways(const struct options *table)
{
    static const char *const ways[] = {"state", "bytes", "fences", "html", "sqlite", "perfetto"};
    static const char *const of_list[] = {"frames", "calls", "object", "thread", "method"};
    enum { PRINTED = 3 }; /* of the ways: the others are files */
    const char *way = NULL;

    for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
        if (!options_find(table, ways[i])->given)
            continue;
        if (way)
            return usage_error("--%s and --%s are two ways to look: one at a time", way, ways[i]);
        way = ways[i];
        if (i >= PRINTED && options_find(table, "json")->given)
            return usage_error("--json is of what is printed, and --%s writes a file", way);
    }
    for (size_t i = 0; way && i < sizeof(of_list) / sizeof(of_list[0]); i++)
        if (options_find(table, of_list[i])->given)
            return usage_error("--%s is of the list of calls, and --%s is another way to look", of_list[i],
                               way);
    if (options_find(table, "pictures")->given && (!way || strcmp(way, "html") != 0))
        return usage_error("--pictures goes with --html");
    if (options_find(table, "pixel")->given && !options_find(table, "pictures")->given)
        return usage_error("--pixel goes with --pictures");
    return EXIT_OK;
}

static int run(enum file_kind kind, char *const *files, int num_files)
{
    const struct options table = {.rows = rows};
    struct show_options o = options;
    struct names names = {0};
    struct error e = {0};
    int err, code = EXIT_OK;
    struct trc *t;

    o.recording = files[0];
    o.pictures = options_find(&table, "pictures")->given;
    if ((code = check_ways(&table)))
        return code;
    if (!(t = d3d12_open(o.recording, &code)))
        return code;
    err = names_read(&names, t, &e);
    if (!err)
        err = other(t, &names, &o, &e);
    if (err > 0)
        err = print(t, o.json ? SHOW_JSON : SHOW_TEXT, &o.only, &names, &e);
    names_finish(&names);
    if (!e.code && (o.state != UINT64_MAX || o.bytes != UINT64_MAX || o.fences != UINT64_MAX))
        trc_verify(t, &e); /* these read not all of it */
    code = d3d12_end(t, o.recording, code, &e);
    trc_close(t);
    return code;
}

const struct file_action d3d12_show = {
    "recordings of Direct3D 12 (.d3d12trace): calls with every argument and answer:", rows, run};

int cmd_methods(int argc, char **argv)
{
    bool markdown = false;
    struct options_row list_rows[] = {OPT_FLAG("markdown", 0, &markdown, "as a page of the reference"),
                                      OPT_END};
    struct strbuf b = {0};
    int code = command_line(
        &(struct options){
            .rows = list_rows,
            .about =
                "Lists every Direct3D 12 method that the recorder knows, and what becomes of calls of it.",
            .see = "aerogpu(1), docs/d3d12.md"},
        argc, argv);

    if (code)
        return code < 0 ? EXIT_OK : code;
    show_methods(&b, &d12_api, markdown);
    fwrite(strbuf_str(&b), 1, b.len, stdout);
    strbuf_finish(&b);
    return EXIT_OK;
}
