/* aerogpu d3d12 show: a recording as text or JSON lines. */
#include "commands.h"

#include <dirent.h>
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "d3d12.h"
#include "d3d12/view/export.h"
#include "d3d12/play/play.h"
#include "d3d12/view/show.h"
#include "d3d12/view/state.h"
#include "d3d12/gen/table.h"

struct selection {
    uint64_t first_frame, last_frame, first_call, last_call;
    uint32_t object, thread;
    const char *method;
};

struct show_options {
    const char *recording, *path; /* `path`: what the view is written to */
    enum show_form form;
    struct selection only;
    int view;    /* the option's letter; 0: a list of calls */
    uint64_t at; /* the call that --state, --bytes or --fences names */
    bool pictures;
    uint32_t first_picture, last_picture; /* frames */
};

static bool selected(const struct selection *s, const struct trc_call *c)
{
    return c->frame >= s->first_frame && c->frame <= s->last_frame && c->index >= s->first_call &&
           c->index <= s->last_call && (!s->object || names_mentions(c, s->object)) &&
           (!s->thread || c->thread == s->thread) &&
           (!s->method || strstr(d12_methods[c->method].name, s->method));
}

static int print(struct trc *t, enum show_form form, const struct selection *s, const struct names *names,
                 struct error *e)
{
    struct strbuf b = {0};
    struct trc_call c;
    uint32_t frame = 0;
    int got;

    while ((got = trc_next(t, &c, e)) > 0) {
        if (c.index > s->last_call || c.frame > s->last_frame)
            break;
        if (!selected(s, &c))
            continue;
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
    return got < 0 ? got : 0;
}

/* Plays `path` up to frame `last` in a process of its own, and leaves what it looks like in the folder `dir`. */
static void take_pictures(const char *path, const char *dir, uint64_t first, uint64_t last,
                          uint64_t first_call, uint64_t last_call)
{
    struct play_params p = {.until_call = UINT64_MAX,
                            .until_frame = (uint32_t)last,
                            .stop_before = UINT64_MAX,
                            .png_dir = dir,
                            .png_first = (uint32_t)first,
                            .png_last = (uint32_t)last,
                            .all_dir = dir,
                            .draw_first = first_call,
                            .draw_last = last_call};
    int status = 0;
    pid_t pid = fork();

    if (!pid) {
        struct play_result r;
        struct error e = {0};
        struct trc *t;

        if (!trc_open(&t, path, &e))
            play_run(t, &p, &r, &e);
        if (e.code)
            fprintf(stderr, "aerogpu d3d12 show: pictures: %s\n", e.text);
        fflush(NULL);
        _exit(0);
    }
    if (pid < 0 || waitpid(pid, &status, 0) < 0 || !WIFEXITED(status))
        fprintf(stderr, "aerogpu d3d12 show: playing for pictures ended early; what was seen until then is "
                        "in the page\n");
}

static int html(struct trc *t, const struct names *names, const struct show_options *o, struct error *e)
{
    const uint32_t first = o->first_picture, last = o->last_picture;
    char dir[] = "/tmp/aerogpu-pictures-XXXXXX", file[4096];
    uint64_t first_call = UINT64_MAX, last_call = 0;
    struct dirent *x;
    struct trc_call c;
    DIR *d;
    int err;

    if (!o->pictures)
        return export_html(t, names, NULL, o->path, e);
    if (!mkdtemp(dir))
        return error_set(e, -errno, "%s: %s", dir, strerror(errno));
    trc_rewind(t);
    while (trc_next(t, &c, NULL) > 0 && c.frame <= last)
        if (c.frame >= first) {
            first_call = c.index < first_call ? c.index : first_call;
            last_call = c.index;
        }
    take_pictures(o->recording, dir, first, last, first_call, last_call);
    err = export_html(t, names, dir, o->path, e);
    d = opendir(dir);
    while (d && (x = readdir(d))) {
        snprintf(file, sizeof(file), "%s/%s", dir, x->d_name);
        unlink(file);
    }
    if (d)
        closedir(d);
    rmdir(dir);
    return err;
}

/* The ways of looking that are not a list of calls. */
static int other(struct trc *t, const struct names *names, const struct show_options *o, struct error *e)
{
    struct strbuf b = {0};
    int err;

    switch (o->view) {
    case 'H':
        return html(t, names, o, e);
    case 'S':
        return export_sqlite(t, names, o->path, e);
    case 'P':
        return export_perfetto(t, names, o->path, e);
    default:
        err = o->view == 's'   ? state_at(&b, t, names, o->at, e)
              : o->view == 'b' ? bytes_at(&b, t, o->at, e)
                               : fences_at(&b, t, names, o->at, e);
        if (!err && !b.len)
            err = error_set(e, -EINVAL, "call %llu carries no bytes", (unsigned long long)o->at);
        fwrite(strbuf_str(&b), 1, b.len, stdout);
        strbuf_finish(&b);
        return err;
    }
}

static const char usage[] =
    "usage: aerogpu d3d12 show FILE [OPTIONS]\n\n"
    "Prints the calls of a recording, with every argument and answer.\n"
    "  --json                           one JSON object a line\n"
    "  --frames A-B --calls A-B         only these\n"
    "  --object N                       only calls that object N is part of: its whole life\n"
    "  --thread N --method TEXT         only of this thread, only methods with TEXT in their name\n"
    "  --state N                        what was set on the command list at call N\n"
    "  --bytes N                        the bytes of call N: what was copied into memory, a shader, "
    "constants\n"
    "  --fences N                       the state of every fence at call N\n"
    "  --html F --sqlite F --perfetto F a page to look around in, a database, a time line\n"
    "  --pictures A-B                   with --html: plays up to frame B; the page has the pictures of "
    "frames A to B and\n"
    "                                   of their draws, and what every resource holds at the end\n";

/* -1: the help was asked for. */
static int parse(int argc, char **argv, struct show_options *s)
{
    static const struct option options[] = {{"json", no_argument, NULL, 'j'},
                                            {"frames", required_argument, NULL, 'f'},
                                            {"calls", required_argument, NULL, 'c'},
                                            {"object", required_argument, NULL, 'o'},
                                            {"thread", required_argument, NULL, 't'},
                                            {"method", required_argument, NULL, 'm'},
                                            {"state", required_argument, NULL, 's'},
                                            {"bytes", required_argument, NULL, 'b'},
                                            {"fences", required_argument, NULL, 'F'},
                                            {"html", required_argument, NULL, 'H'},
                                            {"pictures", required_argument, NULL, 'p'},
                                            {"sqlite", required_argument, NULL, 'S'},
                                            {"perfetto", required_argument, NULL, 'P'},
                                            {"help", no_argument, NULL, 'h'},
                                            {0}};
    int o, bad = 0;

    while (!bad && (o = getopt_long(argc, argv, "h", options, NULL)) != -1)
        switch (o) {
        case 'j':
            s->form = SHOW_JSON;
            break;
        case 'f':
            bad = option_range("--frames", &s->only.first_frame, &s->only.last_frame);
            break;
        case 'c':
            bad = option_range("--calls", &s->only.first_call, &s->only.last_call);
            break;
        case 'o':
            bad = option_u32("--object", 1, UINT32_MAX, &s->only.object);
            break;
        case 't':
            bad = option_u32("--thread", 1, UINT32_MAX, &s->only.thread);
            break;
        case 'm':
            s->only.method = optarg;
            break;
        case 's':
        case 'b':
        case 'F':
            s->view = o;
            bad = option_u64(o == 's' ? "--state" : o == 'b' ? "--bytes" : "--fences", 0, UINT64_MAX, &s->at);
            break;
        case 'p':
            s->pictures = true;
            bad = option_range_u32("--pictures", &s->first_picture, &s->last_picture);
            break;
        case 'H':
        case 'S':
        case 'P':
            s->view = o;
            s->path = optarg;
            break;
        case 'h':
            fputs(usage, stdout);
            return -1;
        default:
            return usage_error(NULL);
        }
    if (!bad && optind + 1 != argc)
        return usage_error("one recording is needed");
    if (!bad && s->pictures && s->view != 'H')
        return usage_error("--pictures goes with --html");
    s->recording = argv[optind];
    return bad;
}

int d3d12_show(int argc, char **argv)
{
    struct show_options o = {.only = {.last_frame = UINT64_MAX, .last_call = UINT64_MAX}, .form = SHOW_TEXT};
    struct names names = {0};
    struct error e = {0};
    struct trc *t;
    int code = parse(argc, argv, &o), err;

    if (code)
        return code < 0 ? EXIT_OK : code;
    if (trc_open(&t, o.recording, &e))
        return d3d12_fail("show", &e);
    if (*trc_cut(t))
        fprintf(stderr, "aerogpu d3d12 show: %s; what stands before that is shown\n", trc_cut(t));
    err = names_read(&names, t, &e);
    if (!err)
        err = o.view ? other(t, &names, &o, &e) : print(t, o.form, &o.only, &names, &e);
    code = err ? d3d12_fail("show", &e) : EXIT_OK;
    names_finish(&names);
    trc_close(t);
    return code;
}

int d3d12_methods_list(int argc, char **argv)
{
    bool markdown = argc == 2 && !strcmp(argv[1], "--markdown");
    struct strbuf b = {0};

    if (argc == 2 && (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h"))) {
        fputs("usage: aerogpu d3d12 methods [--markdown]\n\n"
              "Lists every method of the tables, and what becomes of calls of it.\n",
              stdout);
        return EXIT_OK;
    }
    if (argc > 1 && !markdown)
        return usage_error("it takes --markdown or nothing, not '%s'", argv[argc - 1]);
    show_methods(&b, markdown);
    fwrite(strbuf_str(&b), 1, b.len, stdout);
    strbuf_finish(&b);
    return EXIT_OK;
}
