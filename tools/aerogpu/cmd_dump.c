/* aerogpu dump: plays recordings with the black box attached, and makes a dump of what crashes. */
#include "commands.h"

#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "blackbox/schema.h"
#include "minimize/crash_run.h"
#include "minimize/dumps.h"
#include "executor/shader/shader.h"

static const char help[] =
    "usage: aerogpu dump [OPTIONS] RECORDING...\n"
    "       aerogpu dump --pid PID\n\n"
    "Plays .aerogputrace recordings with the black box attached. When the executor dies, a submission makes "
    "no progress, or\n"
    "the device refuses a stream, a crash dump is written and its name printed. Every program of AeroGPU "
    "does the same while\n"
    "AEROGPU_DUMPS names a folder; of a running `aerogpu serve` that does, --pid makes one now.\n\n"
    "  --out DIR      where dumps go; made if missing (.)\n"
    "  --hang MS      no progress for so long is a hang (2000)\n"
    "  --exact        a marker around every command: slower, and the dump names the command at once\n"
    "  --always       make a dump at the end if nothing crashed\n"
    "  --pid PID      a dump of what the process does now\n"
    "  --schema       print the schema of dumps as Markdown\n"
    "  --help         this text\n\n"
    "Exit codes: 0 nothing crashed, 1 something did, 2 wrong usage, 3 a recording is bad, 4 there is no "
    "Vulkan device or no\n"
    "executor.\n";

static int dump_one(struct crash_run_params *p, const char *path, const char *dir, bool always)
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    struct crash_run_result r;
    struct error e = {0};
    char program[64], at_end[4096];

    snprintf(program, sizeof(program), "%.*s", (int)strcspn(name, "."), name);
    snprintf(at_end, sizeof(at_end), "%s/%s-request.aerogpudump", dir, program);
    p->path = path;
    p->program = program;
    p->dump_at_end = always ? at_end : NULL;
    if (crash_run(p, &r, &e)) {
        fprintf(stderr, "aerogpu dump: %s: %s\n", path, e.text);
        return e.code == -EBADMSG || e.code == -ENODATA || e.code == -ENOENT || e.code == -EISDIR ||
                       e.code == -EPROTONOSUPPORT
                   ? EXIT_INPUT
                   : EXIT_ENV;
    }
    if (r.crashed)
        printf("%s: %s.\n", path, r.crash.text);
    else
        printf("%s: nothing crashed in %llu submissions.\n", path, (unsigned long long)r.submissions);
    if (r.dump[0])
        printf("  %s\n", r.dump);
    if (e.code)
        fprintf(stderr, "aerogpu dump: %s\n", e.text);
    return r.crashed ? EXIT_FAILED : r.playing.code ? EXIT_INPUT : e.code ? EXIT_ENV : EXIT_OK;
}

/* The process that --pid names. */
static int dump_process(void)
{
    struct error e = {0};
    char path[4096];
    uint32_t pid;

    if (option_u32("--pid", 1, INT_MAX, &pid))
        return EXIT_USAGE;
    if (dumps_ask((int)pid, path, &e)) {
        fprintf(stderr, "aerogpu dump: %s\n", e.text);
        return EXIT_ENV;
    }
    printf("%s\n", path);
    return EXIT_OK;
}

/* With errno. */
static bool is_folder(const char *path)
{
    struct stat st;

    if (stat(path, &st))
        return false;
    errno = ENOTDIR;
    return S_ISDIR(st.st_mode);
}

int cmd_dump(int argc, char **argv)
{
    static const struct option options[] = {
        {"out", required_argument, NULL, 'o'}, {"hang", required_argument, NULL, 't'},
        {"exact", no_argument, NULL, 'x'},     {"always", no_argument, NULL, 'a'},
        {"pid", required_argument, NULL, 'p'}, {"schema", no_argument, NULL, 's'},
        {"help", no_argument, NULL, 'h'},      {NULL, 0, NULL, 0}};
    struct crash_run_params p = {.directory = ".", .errors_count = true, .disassemble = shader_print};
    struct strbuf schema = {0};
    int c, code = EXIT_OK;
    bool always = false, made;

    while ((c = getopt_long(argc, argv, "o:h", options, NULL)) != -1)
        switch (c) {
        case 'o':
            p.directory = optarg;
            break;
        case 't':
            if (option_u32("--hang", 1, MAX_HANG_MS, &p.hang_ms))
                return EXIT_USAGE;
            break;
        case 'x':
            p.markers = EXEC_MARKERS_EXACT;
            break;
        case 'a':
            always = true;
            break;
        case 'p':
            return dump_process();
        case 's':
            bb_schema_markdown(&schema);
            fputs(strbuf_str(&schema), stdout);
            strbuf_finish(&schema);
            return EXIT_OK;
        case 'h':
            fputs(help, stdout);
            return EXIT_OK;
        default:
            return usage_error(NULL);
        }
    if (optind == argc)
        return usage_error("give at least one recording");
    made = !mkdir(p.directory, 0777);
    if (!made && (errno != EEXIST || !is_folder(p.directory))) {
        fprintf(stderr, "aerogpu dump: %s: %s\n", p.directory, strerror(errno));
        return EXIT_ENV;
    }
    for (int i = optind; i < argc; i++) {
        int one = dump_one(&p, argv[i], p.directory, always);
        code = one > code ? one : code;
    }
    if (made)
        rmdir(p.directory); /* stays if there is a dump in it */
    return code;
}
