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
#include "cmd_d3d12.h"
#include "d3d12/collect.h"
#include "d3d12/collect_wine.h"
#include "d3d12/dirty.h"

int d3d12_fail(const char *what, const struct error *e)
{
    fprintf(stderr, "aerogpu d3d12 %s: %s\n", what, e->text);
    return e->code == -EBADMSG || e->code == -ENOTSUP || e->code == -ENOENT ? EXIT_INPUT : EXIT_FAILED;
}

static int record(int argc, char **argv)
{
    static const struct option options[] = {
        {"output", required_argument, NULL, 'o'}, {"hash-every", required_argument, NULL, 'H'},
        {"frames", required_argument, NULL, 'f'}, {"memory", required_argument, NULL, 'm'},
        {"help", no_argument, NULL, 'h'},         {0}};
    struct collect_params p = {.hash_every = 1, .last_frame = UINT32_MAX};
    const char *output = NULL;
    char whole[PATH_MAX];
    uint32_t first = 0;
    struct collect_result r;
    struct error e = {0};
    char recorder[PATH_MAX], wine[PATH_MAX];
    int o;

    while ((o = getopt_long(argc, argv, "+o:h", options, NULL)) != -1)
        switch (o) {
        case 'o':
            p.output = output = optarg;
            break;
        case 'f':
            if (!d3d12_range(optarg, &first, &p.last_frame)) {
                fprintf(stderr, "aerogpu d3d12 record: --frames needs a range A-B, not '%s'\n", optarg);
                return EXIT_USAGE;
            }
            break;
        case 'H':
            p.hash_every = (uint32_t)strtoul(optarg, NULL, 10);
            break;
        case 'm':
            for (p.dirty_method = DIRTY_HASH; p.dirty_method; p.dirty_method--)
                if (!strcmp(optarg, dirty_method_name((enum dirty_method)p.dirty_method)))
                    break;
            if (!p.dirty_method && strcmp(optarg, "auto")) {
                fprintf(stderr, "aerogpu d3d12 record: no way of watching memory is called '%s'\n", optarg);
                return EXIT_USAGE;
            }
            break;
        default:
            fprintf(
                o == 'h' ? stdout : stderr,
                "usage: aerogpu d3d12 record -o FILE [--frames A-B] [--hash-every N] [--memory "
                "auto|kernel|fault|hash]\n"
                "                            -- PROGRAM [ARGUMENT...]\n\n"
                "Runs PROGRAM and records its Direct3D 12 calls, all threads and devices, into FILE. PROGRAM "
                "may be a Windows\n"
                "program: `wine PROGRAM.exe`.\n"
                "  --frames A-B     keep these only, behind what makes them play on their own; the frames "
                "before are\n"
                "                   kept in FILE.whole until the program ends, then played once\n"
                "  --hash-every N   hash the picture of every Nth frame (1; 0: none), for `play --validate`\n"
                "  --memory HOW     how writes into mapped memory are found (auto)\n"
                "The exit code is the program's, or 4 if it could not be run.\n");
            return o == 'h' ? EXIT_OK : EXIT_USAGE;
        }
    if (!p.output || optind == argc) {
        fprintf(stderr, "aerogpu d3d12 record: -o FILE and a program are needed; --help tells more\n");
        return EXIT_USAGE;
    }
    if (wine_command(argv + optind)) {
        if (find_beside(wine, sizeof(wine), "d3d12", "windows/d3d12.dll", "AEROGPU_D3D12_DLL")) {
            fprintf(stderr, "aerogpu d3d12 record: this was built without mingw-w64: it cannot record "
                            "Windows programs\n");
            return EXIT_ENV;
        }
        p.wine_dir = dirname(wine);
    } else if (find_beside(recorder, sizeof(recorder), "d3d12", "libaerogpu-d3d12-record.so",
                             "AEROGPU_D3D12_RECORDER")) {
        fprintf(stderr, "aerogpu d3d12 record: libaerogpu-d3d12-record.so is not beside this program\n");
        return EXIT_ENV;
    }
    if (first || p.last_frame != UINT32_MAX) {
        snprintf(whole, sizeof(whole), "%s.whole", output);
        p.output = whole;
    }
    p.recorder = recorder;
    p.argv = argv + optind;
    if (collect_run(&p, &r, &e)) {
        d3d12_fail("record", &e);
        return EXIT_ENV;
    }
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

static const struct {
    const char *name, *summary;
    int (*run)(int argc, char **argv);
} subcommands[] = {
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
    const size_t n = sizeof(subcommands) / sizeof(subcommands[0]);
    bool help = argc >= 2 && (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h"));

    for (size_t i = 0; argc >= 2 && i < n; i++)
        if (!strcmp(argv[1], subcommands[i].name))
            return subcommands[i].run(argc - 1, argv + 1);
    if (argc >= 2 && !help)
        fprintf(stderr, "aerogpu d3d12: no command '%s'\n", argv[1]);
    fprintf(help ? stdout : stderr, "usage: aerogpu d3d12 COMMAND [OPTIONS]\n\ncommands:\n");
    for (size_t i = 0; i < n; i++)
        fprintf(help ? stdout : stderr, "  %-8s %s\n", subcommands[i].name, subcommands[i].summary);
    return help ? EXIT_OK : EXIT_USAGE;
}
