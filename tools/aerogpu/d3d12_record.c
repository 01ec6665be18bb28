/* aerogpu d3d12: record, play and look into Direct3D 12 programs. */
#include "commands.h"

#include <errno.h>
#include <getopt.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "beside.h"
#include "d3d12.h"
#include "d3d12/gen/table.h"
#include "d3d12/record/collect_wine.h"
#include "record/dirty.h"

int d3d12_fail(const char *what, const struct error *e)
{
    fprintf(stderr, "aerogpu d3d12 %s: %s\n", what, e->text);
    return e->code == -EBADMSG || e->code == -ENOTSUP || e->code == -ENOENT || e->code == -EACCES ||
                   e->code == -EISDIR
               ? EXIT_INPUT
               : EXIT_FAILED;
}

/* -1: the help was asked for. */
static int parse_record(int argc, char **argv, struct collect_params *p, uint32_t *first)
{
    unsigned memory = 0;
    int r = command_line(
        &(struct options){
            .rows =
                (struct options_row
                     []){OPT_TEXT("output", 'o', &p->output, "FILE", "the recording"),
                         OPT_RANGE32(
                             "frames", 0, first, &p->last_frame, "A-B",
                             "keep these only, behind what makes them play on their own; the frames before are kept in FILE.whole until the program ends, then played once"),
                         OPT_U32(
                             "hash-every", 0, &p->hash_every, 0, UINT32_MAX,
                             "N", "hash the picture of every Nth frame, for `aerogpu d3d12 play --validate`; 1. 0: none"),
                         OPT_CHOICE("memory", 0, &memory, "auto|kernel|fault|hash",
                                    "how writes into mapped memory are found; auto"),
                         OPT_END},
            .operands = "-o FILE -- PROGRAM [ARGUMENT...]",
            .min = 1,
            .max = -1,
            .wrong = "-o FILE and a program are needed",
            .stops = true,
            .about =
                "Runs PROGRAM and records its Direct3D 12 calls, all threads and devices, into FILE. PROGRAM may be a Windows program: `wine PROGRAM.exe`.",
            .notes = "The exit code is the program's, or 4 if it could not be run.",
            .examples = "aerogpu d3d12 record -o game.d3d12trace --frames 100-110 -- ./game\n",
            .see = "aerogpu-d3d12-play(1), aerogpu-d3d12-show(1), docs/d3d12.md"},
        argc, argv);

    if (!r && !p->output)
        return usage_error("-o FILE and a program are needed");
    p->dirty_method = memory;
    p->argv = argv + optind;
    return r;
}

/* Runs the program with the recorder that it needs. */
static int run_recorded(struct collect_params *p, struct collect_result *r)
{
    char path[PATH_MAX];
    struct error e = {0};

    if (wine_command(p->argv)) {
        if (find_beside(path, PATH_MAX, "d3d12", "windows/d3d12.dll", "AEROGPU_D3D12_DLL")) {
            fprintf(stderr, "aerogpu d3d12 record: this was built without mingw-w64: it cannot record "
                            "Windows programs\n");
            return EXIT_ENV;
        }
        if (!wine_collect(p, dirname(path), r, &e))
            return EXIT_OK;
        d3d12_fail("record", &e);
        return EXIT_ENV;
    }
    if (find_beside(path, PATH_MAX, "d3d12", "libaerogpu-d3d12-record.so", "AEROGPU_D3D12_RECORDER")) {
        fprintf(stderr, "aerogpu d3d12 record: libaerogpu-d3d12-record.so is not beside this program\n");
        return EXIT_ENV;
    }
    p->preload = path;
    if (!collect_run(p, r, &e))
        return EXIT_OK;
    d3d12_fail("record", &e);
    return EXIT_ENV;
}

static int record(int argc, char **argv)
{
    struct collect_params p = {.api = &d12_api, .hash_every = 1, .last_frame = UINT32_MAX};
    char whole[PATH_MAX];
    const char *output;
    uint32_t first = 0;
    struct collect_result r;
    int code = parse_record(argc, argv, &p, &first);

    if (code)
        return code < 0 ? EXIT_OK : code;
    output = p.output;
    if (first || p.last_frame != UINT32_MAX) {
        snprintf(whole, sizeof(whole), "%s.whole", output);
        p.output = whole;
    }
    if ((code = run_recorded(&p, &r)))
        return code;
    fprintf(stderr, "%s: %llu bytes, %llu blocks, %u frames, %u objects, %u threads\n", p.output,
            (unsigned long long)r.bytes, (unsigned long long)r.blocks, r.frames, r.objects, r.threads);
    if (p.output == whole) {
        if (d3d12_cut(whole, output, first, p.last_frame)) {
            fprintf(stderr, "aerogpu d3d12 record: what was recorded stays in %s\n", whole);
            _exit(EXIT_FAILED);
        }
        unlink(whole);
    }
    if (WIFSIGNALED(r.status)) {
        fprintf(stderr, "the program was ended by signal %d (%s); it is recorded up to that\n",
                WTERMSIG(r.status), strsignal(WTERMSIG(r.status)));
        return 128 + WTERMSIG(r.status);
    }
    return WEXITSTATUS(r.status);
}

static const struct options_command subcommands[] = {
    {"record", "run a program and record its Direct3D 12 calls", record},
    {"play", "make the calls of a recording again", d3d12_play},
    {"show", "print a recording", d3d12_show},
    {"diff", "the calls that only one of two recordings has", d3d12_diff},
    {"minimize", "the smallest recording that still crashes", d3d12_minimize},
    {"methods", "every method, and what becomes of calls of it", d3d12_methods_list},
    {"trim", "cut frames out of a recording", d3d12_trim},
};

int cmd_d3d12(int argc, char **argv)
{
    size_t n = sizeof(subcommands) / sizeof(subcommands[0]);
    int code = argc > 1 ? command_run("aerogpu d3d12", subcommands, n, argc - 1, argv + 1) : -1;

    return code >= 0
               ? code
               : command_group(
                     &(struct options){
                         .commands = subcommands,
                         .num_commands = n,
                         .about =
                             "Works on Direct3D 12 programs over libvkd3d, and on Windows programs under Wine.",
                         .see = "aerogpu-d3d12-record(1), aerogpu-d3d12-play(1), docs/d3d12.md"},
                     argc, argv);
}
