/* SPDX-License-Identifier: MIT */
/* aerogpu dump: plays recordings with the black box attached, and makes a dump of what crashes. */
#include "commands.h"

#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "base/file/out.h"
#include "base/utf8.h"
#include "blackbox/schema.h"
#include "minimize/crash_run.h"
#include "minimize/dumps.h"
#include "executor/shader/shader.h"
#include "file_kinds.h"

static int dump_one(struct crash_run_params *p, const char *path, const char *dir, bool always)
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    struct crash_run_result r;
    struct error e = {0};
    char program[64], at_end[4096];

    if (file_kind_needed(path, FILE_TRACE, &e))
        return command_fail(EXIT_INPUT, &e);
    snprintf(program, sizeof(program), "%.*s", (int)strcspn(name, "."), name);
    snprintf(at_end, sizeof(at_end), "%s/%s-request.aerogpudump", dir, program);
    p->path = path;
    p->program = program;
    p->dump_at_end = always ? at_end : NULL;
    if (crash_run(p, &r, &e)) {
        error_prefix(&e, "%s", path);
        return command_error(&e);
    }
    if (r.crashed)
        utf8_print(stdout, "%s: %s.\n", path, r.crash.text);
    else
        utf8_print(stdout, "%s: nothing crashed in %llu submissions.\n", path,
                   (unsigned long long)r.submissions);
    if (r.dump[0])
        utf8_print(stdout, "  %s\n", r.dump);
    if (r.others)
        utf8_print(stdout, "  %u more went wrong, of which there is no dump, first: %s.\n", r.others,
                   r.other);
    if (!r.crashed && r.playing.code)
        utf8_print(stderr, "aerogpu dump: %s: %s\n", path, r.playing.text);
    if (e.code)
        utf8_print(stderr, "aerogpu dump: %s\n", e.text);
    if (r.crashed && !r.dump[0]) /* it was not written: why is in the log */
        return EXIT_ENV;
    return r.crashed ? EXIT_FAILED : r.playing.code ? EXIT_INPUT : e.code ? EXIT_ENV : EXIT_OK;
}

/* The process that --pid names. */
static int dump_process(uint32_t pid)
{
    struct error e = {0};
    char path[4096];

    if (dumps_ask((int)pid, path, &e)) {
        utf8_print(stderr, "aerogpu dump: %s\n", e.text);
        return EXIT_ENV;
    }
    utf8_print(stdout, "%s\n", path);
    return EXIT_OK;
}

static int print_schema(void)
{
    struct strbuf schema = {0};

    bb_schema_markdown(&schema);
    fputs(strbuf_str(&schema), stdout);
    strbuf_finish(&schema);
    return EXIT_OK;
}

int cmd_dump(int argc, char **argv)
{
    struct crash_run_params p = {.directory = ".", .errors_count = true, .disassemble = shader_print};
    bool always = false, exact = false, schema = false;
    struct error e = {0};
    uint32_t pid = 0;
    int code = command_line(
        &(struct options){
            .rows =
                (struct options_row[]){
                    OPT_TEXT("out", 'o', &p.directory, "DIR",
                             "where dumps go, made if missing; without it here"),
                    OPT_U32("hang", 0, &p.hang_ms, 1, MAX_HANG_MS, "MS",
                            "no progress for so long is a hang; 2000"),
                    OPT_FLAG("exact", 0, &exact,
                             "a marker around every command: slower, and the dump names the command at once"),
                    OPT_FLAG("always", 0, &always, "make a dump at the end if nothing crashed"),
                    OPT_U32(
                        "pid", 0, &pid, 1, INT_MAX, "PID",
                        "a dump of what the process does now, into the folder that its AEROGPU_DUMPS names"),
                    OPT_FLAG("schema", 0, &schema, "print the schema of dumps as Markdown"), OPT_END},
            .operands = "RECORDING...\n--pid PID",
            .max = -1,
            .about =
                "Plays .aerogputrace recordings with the black box attached. When the executor dies, a submission makes no progress, or the device refuses a stream, a crash dump is written and its name printed. A dump is a SQLite database; docs/dump-schema.md describes it.\n\n"
                "`aerogpu play`, `serve` and `validate` do the same while `AEROGPU_DUMPS` names a folder; of a running `serve` that does, --pid makes one now.",
            .exits =
                {"nothing crashed, or --pid made its dump",
                 "something did", [EXIT_INPUT] = "a recording is bad",
                 [EXIT_ENV] =
                     "there is no Vulkan device or no executor, a dump cannot be written, or PID makes no dumps"},
            .see =
                "aerogpu-report(1), aerogpu-play(1), aerogpu-minimize(1), aerogpu-crashes(1), docs/blackbox.md"},
        argc, argv);

    if (code)
        return code < 0 ? EXIT_OK : code;
    if (schema)
        return print_schema();
    if (pid && optind < argc)
        return usage_error("--pid and a recording do not go together");
    if (pid)
        return dump_process(pid);
    if (optind == argc)
        return usage_error("give at least one recording");
    if (exact)
        p.markers = EXEC_MARKERS_EXACT;
    if (out_file_folder(p.directory, &e))
        return command_error(&e);
    for (int i = optind; i < argc; i++) {
        int one = dump_one(&p, argv[i], p.directory, always);
        code = one > code ? one : code;
    }
    return code;
}
