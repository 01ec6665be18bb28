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

#include "cmd_d3d12.h"
#include "d3d12/export.h"
#include "d3d12/play.h"
#include "d3d12/show.h"
#include "d3d12/state.h"
#include "d3d12/table.h"

struct selection {
    uint64_t first_frame, last_frame, first_call, last_call;
    uint32_t object, thread;
    const char *method;
};

static bool range(const char *s, uint64_t *first, uint64_t *last)
{
    char *end;

    *first = *last = strtoull(s, &end, 10);
    if (*end == '-')
        *last = end[1] ? strtoull(end + 1, &end, 10) : UINT64_MAX;
    return end != s && (!*end || (*end == '-' && !end[1]));
}

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

static int html(struct trc *t, const struct names *names, const char *recording, const char *pictures,
                const char *path, struct error *e)
{
    char dir[] = "/tmp/aerogpu-pictures-XXXXXX", file[4096];
    uint64_t first = 0, last = 0, first_call = UINT64_MAX, last_call = 0;
    struct dirent *x;
    struct trc_call c;
    DIR *d;
    int err;

    if (!pictures)
        return export_html(t, names, NULL, path, e);
    if (!range(pictures, &first, &last) || !mkdtemp(dir))
        return error_set(e, -EINVAL, "--pictures needs a range of frames A-B, not '%s'", pictures);
    trc_rewind(t);
    while (trc_next(t, &c, NULL) > 0 && c.frame <= last)
        if (c.frame >= first) {
            first_call = c.index < first_call ? c.index : first_call;
            last_call = c.index;
        }
    take_pictures(recording, dir, first, last > UINT32_MAX ? UINT32_MAX : last, first_call, last_call);
    err = export_html(t, names, dir, path, e);
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
static int other(struct trc *t, int view, uint64_t at, const char *path, const char *recording,
                 const char *pictures, const struct names *names, struct error *e)
{
    struct strbuf b = {0};
    int err;

    switch (view) {
    case 'H':
        return html(t, names, recording, pictures, path, e);
    case 'S':
        return export_sqlite(t, names, path, e);
    case 'P':
        return export_perfetto(t, names, path, e);
    default:
        err = view == 's'   ? state_at(&b, t, names, at, e)
              : view == 'b' ? bytes_at(&b, t, at, e)
                            : fences_at(&b, t, names, at, e);
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

int d3d12_show(int argc, char **argv)
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
    struct selection s = {.last_frame = UINT64_MAX, .last_call = UINT64_MAX};
    enum show_form form = SHOW_TEXT;
    struct names names = {0};
    struct error e = {0};
    struct trc *t;
    bool ok = true;
    const char *path = NULL, *pictures = NULL;
    uint64_t at = 0;
    int o, code, err, view = 0;

    while ((o = getopt_long(argc, argv, "h", options, NULL)) != -1)
        switch (o) {
        case 'j':
            form = SHOW_JSON;
            break;
        case 'f':
            ok = ok && range(optarg, &s.first_frame, &s.last_frame);
            break;
        case 'c':
            ok = ok && range(optarg, &s.first_call, &s.last_call);
            break;
        case 'o':
            s.object = (uint32_t)strtoul(optarg, NULL, 10);
            break;
        case 't':
            s.thread = (uint32_t)strtoul(optarg, NULL, 10);
            break;
        case 'm':
            s.method = optarg;
            break;
        case 's':
        case 'b':
        case 'F':
            view = o;
            at = strtoull(optarg, NULL, 10);
            break;
        case 'p':
            pictures = optarg;
            break;
        case 'H':
        case 'S':
        case 'P':
            view = o;
            path = optarg;
            break;
        case 'h':
            fputs(usage, stdout);
            return EXIT_OK;
        default:
            return EXIT_USAGE;
        }
    if (!ok || optind + 1 != argc) {
        fprintf(stderr, "aerogpu d3d12 show: one file is needed, and ranges are A-B; --help tells more\n");
        return EXIT_USAGE;
    }
    if (trc_open(&t, argv[optind], &e))
        return d3d12_fail("show", &e);
    if (*trc_cut(t))
        fprintf(stderr, "aerogpu d3d12 show: %s; what stands before that is shown\n", trc_cut(t));
    err = names_read(&names, t, &e);
    if (!err)
        err = view ? other(t, view, at, path, argv[optind], pictures, &names, &e)
                   : print(t, form, &s, &names, &e);
    code = err ? d3d12_fail("show", &e) : EXIT_OK;
    names_finish(&names);
    trc_close(t);
    return code;
}

int d3d12_methods_list(int argc, char **argv)
{
    bool markdown = argc == 2 && !strcmp(argv[1], "--markdown");
    struct strbuf b = {0};

    if (argc > 1 && !markdown) {
        bool help = !strcmp(argv[1], "--help") || !strcmp(argv[1], "-h");

        fprintf(help ? stdout : stderr,
                "usage: aerogpu d3d12 methods [--markdown]\n\n"
                "Lists every method of the tables, and what becomes of calls of it.\n");
        return help ? EXIT_OK : EXIT_USAGE;
    }
    show_methods(&b, markdown);
    fwrite(strbuf_str(&b), 1, b.len, stdout);
    strbuf_finish(&b);
    return EXIT_OK;
}
