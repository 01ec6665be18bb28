/* SPDX-License-Identifier: MIT */
/* d3d12_compare.c: one recording on two implementations of Direct3D 12.
 *
 * Each side is `aerogpu play --hashes` in a process of its own, on one after the other: of all frames and reads first. Up to
 * the first that differs both are played again, with hashes of that frame's draws and of all resources at its end: the
 * copies that those need are made of one frame only, and not of a whole recording.
 */
#include "commands.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/array.h"
#include "base/program.h"
#include "base/utf8.h"
#include "d3d12.h"
#include "file_kinds.h"
#include "record/names.h"
#include "record/trace_file.h"

struct line { /* as play.h says of `hashes` */
    char what[16];
    uint64_t a, b, hash;
};

struct side {
    const char *on; /* "vkd3d", "wine" or a library; "@DRIVER" may follow */
    struct line *lines;
    size_t num, cap;
    int code; /* of playing */
};

static struct side sides[2];

static int parse_on(void *ctx, const struct options_row *row, const char *value, struct error *e)
{
    if (value == sides[0].on) { /* the same word: the line is read again, as file_kinds.c says */
        sides[1].on = NULL;
        return 0;
    }
    if (!*value || *value == '@')
        return error_set(e, -EINVAL, "--on needs WHAT[@DRIVER], not '%s'", value);
    if (sides[1].on)
        return error_set(e, -EINVAL, "--on is given twice, not more often");
    sides[sides[0].on ? 1 : 0].on = value;
    return 0;
}

static void choose_driver(void *ctx)
{
    const char *driver = ctx;

    if (!driver)
        return;
    setenv("VK_DRIVER_FILES", driver, 1);
    setenv("VK_ICD_FILENAMES", driver, 1); /* what older loaders call it */
}

/* Plays, with `more` options, and reads what it prints. */
static int play_side(struct side *s, const char *file, char *const *more, struct error *e)
{
    const char *at = strchr(s->on, '@');
    char *on = strndup(s->on, at ? (size_t)(at - s->on) : strlen(s->on)), text[256];
    bool named = on && strcmp(on, "vkd3d") && strcmp(on, "wine");
    char *argv[16] = {"/proc/self/exe", "play", "--hashes", named ? "--d3d12" : "--on", on};
    int n = 5, out = dup(1), status = -1, pipes[2];
    pid_t pid;
    FILE *f;

    while (*more)
        argv[n++] = *more++;
    argv[n++] = (char *)(uintptr_t)file;
    s->num = 0;
    if (named && strchr(on, '/') && access(on, F_OK)) {
        error_set(e, -ENODEV, "%s: %s", on, strerror(errno));
        free(on);
        return e->code;
    }
    if (!on || out < 0 || pipe2(pipes, O_CLOEXEC)) {
        free(on);
        return error_set(e, -ENOMEM, "cannot play: %s", strerror(errno));
    }
    fflush(NULL);
    dup2(pipes[1], 1); /* what is started prints there */
    close(pipes[1]);
    pid = program_start(argv, choose_driver, at ? (void *)(uintptr_t)(at + 1) : NULL);
    dup2(out, 1);
    close(out);
    f = fdopen(pipes[0], "r");
    while (f && fgets(text, sizeof(text), f)) {
        struct line l = {0};

        if (sscanf(text, "%15s %lu %lu %lx", l.what, &l.a, &l.b, &l.hash) != 4 ||
            (strcmp(l.what, "frame") && strcmp(l.what, "read") && strcmp(l.what, "draw") &&
             strcmp(l.what, "resource")))
            continue;
        if (array_reserve(s->lines, s->cap, s->num + 1))
            break;
        s->lines[s->num++] = l;
    }
    if (f)
        fclose(f);
    free(on);
    if (pid < 0)
        return error_set(e, -ENODEV, "cannot play: %s", strerror(-(int)pid));
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        continue;
    s->code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    return 0;
}

static bool same_place(const struct line *x, const struct line *y)
{
    return !strcmp(x->what, y->what) && x->a == y->a && x->b == y->b;
}

static const char *name_of(const struct names *names, uint64_t id)
{
    const struct name *n = names_get(names, (uint32_t)id);

    return n && n->text ? n->text : "";
}

/* The call's own line. */
static void print_call(struct trc *t, uint64_t index)
{
    struct error e = {0};
    struct trc_call c;

    trc_rewind(t);
    while (trc_next(t, &c, &e) > 0)
        if (c.index == index) {
            printf("call %llu: %s::%s on %u, frame %u\n", (unsigned long long)index, c.m->iface, c.m->name,
                   c.self, c.frame);
            return;
        }
}

/* Frames and reads. The first that differs, or the number of those that both have. */
static size_t first_difference(size_t *same, size_t *different)
{
    size_t n = sides[0].num < sides[1].num ? sides[0].num : sides[1].num, first = n;

    *same = *different = 0;
    for (size_t i = 0; i < n; i++) {
        const struct line *x = &sides[0].lines[i], *y = &sides[1].lines[i];

        if (!strcmp(x->what, "resource") || !same_place(x, y))
            break;
        if (x->hash == y->hash) {
            (*same)++;
        } else {
            first = *different ? first : i;
            (*different)++;
        }
    }
    return first;
}

/* Draws are printed as their lists are executed, and resources by their number: both sides in one order. */
static void print_inside(struct trc *t, const struct names *names)
{
    size_t n = sides[0].num < sides[1].num ? sides[0].num : sides[1].num, draws = 0, found = 0;
    bool draw_found = false;

    for (size_t i = 0; i < n; i++) {
        const struct line *x = &sides[0].lines[i], *y = &sides[1].lines[i];

        if (!same_place(x, y))
            break;
        if (!strcmp(x->what, "draw") && !draw_found) {
            draws++;
            if (x->hash != y->hash) {
                printf(
                    "the first different draw, after %zu that are alike, into resource %llu%s%s: ", draws - 1,
                    (unsigned long long)x->b, *name_of(names, x->b) ? " " : "", name_of(names, x->b));
                print_call(t, x->a);
                draw_found = true;
            }
        } else if (!strcmp(x->what, "resource") && x->hash != y->hash && found++ < 20) {
            printf("different at the end of it: resource %llu:%llu %s\n", (unsigned long long)x->a,
                   (unsigned long long)x->b, name_of(names, x->a));
        }
    }
    if (!draw_found)
        printf("of %zu draws none differs in its render target\n", draws);
}

/* Plays both up to `until`, with the draws since `from`. */
static int look_inside(struct trc *t, const char *file, uint64_t from, uint64_t until, struct error *e)
{
    char draws[64], last[32];
    char *const more[] = {"--draws", draws, "--until-call", last, NULL};
    struct names names = {0};
    int err = 0;

    snprintf(draws, sizeof(draws), "%llu-%llu", (unsigned long long)from, (unsigned long long)until);
    snprintf(last, sizeof(last), "%llu", (unsigned long long)until);
    for (int i = 0; i < 2 && !err; i++)
        err = play_side(&sides[i], file, more, e);
    if (!err)
        err = names_read(&names, t, e);
    if (!err)
        print_inside(t, &names);
    names_finish(&names);
    return err;
}

static int compare(struct trc *t, const char *file, struct error *e)
{
    char *const nothing[] = {NULL};
    size_t same, different, first;
    struct line at, before = {0};
    int code;

    for (int i = 0; i < 2; i++)
        if (play_side(&sides[i], file, nothing, e))
            return command_error(e);
    code = sides[0].code > sides[1].code ? sides[0].code : sides[1].code;
    for (int i = 0; i < 2; i++)
        if (sides[i].code)
            utf8_print(stdout, "%s: playing ended with %d\n", sides[i].on, sides[i].code);
    first = first_difference(&same, &different);
    if (same || different || !code)
        printf("%zu frames and reads alike, %zu different\n", same, different);
    if (!same && !different && !code)
        printf("nothing was compared: the recording presents nothing and reads nothing back\n");
    if (!different)
        return code ? code : same ? EXIT_OK : EXIT_FAILED;
    at = sides[0].lines[first];
    if (first)
        before = sides[0].lines[first - 1];
    if (!strcmp(at.what, "frame"))
        printf("the first is frame %llu, presented by ", (unsigned long long)at.b);
    else
        printf("the first is what was read from resource %llu by ", (unsigned long long)at.b);
    print_call(t, at.a);
    if (look_inside(t, file, first ? before.a + 1 : 0, at.a, e))
        return command_error(e);
    return code ? code : EXIT_FAILED;
}

static struct options_row rows[] = {
    OPT_CALL(
        "on", 0, parse_on, NULL, "WHAT[@DRIVER]",
        "given twice: `vkd3d`, `wine`, or a library's file; on the Vulkan driver of which DRIVER is the JSON file"),
    OPT_END};

static int run(enum file_kind kind, char *const *files, int num_files)
{
    struct error e = {0};
    int code = EXIT_OK;
    struct trc *t;

    if (!sides[1].on)
        return usage_error("--on WHAT is needed twice");
    t = d3d12_open(files[0], &code);
    if (!t)
        return code;
    if (trc_verify(t, &e)) { /* each side would find that, and where they part may be the damage */
        code = d3d12_end(t, files[0], EXIT_INPUT, &e);
    } else {
        code = compare(t, files[0], &e);
    }
    trc_close(t);
    for (int i = 0; i < 2; i++)
        free(sides[i].lines);
    return code;
}

const struct file_action d3d12_compare = {"recordings of Direct3D 12 (.d3d12trace):", rows, run};
