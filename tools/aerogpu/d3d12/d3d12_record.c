/* SPDX-License-Identifier: MIT */
/* d3d12_record.c: what `aerogpu record` does for a program that speaks Direct3D 12. */
#include "commands.h"

#include <errno.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/program.h"
#include "base/utf8.h"
#include "d3d12.h"
#include "d3d12/gen/table.h"
#include "d3d12/record/collect_tables.h"
#include "d3d12/record/collect_wine.h"
#include "record.h"
#include "record/trace_file.h"

/* Runs the program with the recorder that it needs. */
static int run_recorded(struct collect_params *p, struct collect_result *r)
{
    static const struct program_params
        linux_recorder = {.what = "the recorder",
                          .variable = "AEROGPU_D3D12_RECORDER",
                          .built = "src/d3d12/libaerogpu-d3d12-record.so",
                          .installed = "aerogpu/libaerogpu-d3d12-record.so",
                          .place = PROGRAM_LIB,
                          .is_data = true},
        windows_recorder = {.what = "the recorder for Windows programs (of a build with mingw-w64)",
                            .variable = "AEROGPU_D3D12_DLL",
                            .built = "src/d3d12/windows/d3d12.dll",
                            .installed = "aerogpu/windows/d3d12.dll",
                            .place = PROGRAM_LIB,
                            .is_data = true};
    const bool wine = wine_command(p->argv);
    char path[PATH_MAX];
    struct error e = {0};
    int failed = program_find(wine ? &windows_recorder : &linux_recorder, path, sizeof(path), &e);

    p->preload = wine ? NULL : path;
    if (!failed)
        failed = wine ? wine_collect(p, dirname(path), r, &e) : collect_run(p, r, &e);
    p->preload = NULL; /* `path` ends here */
    return failed ? command_fail(failed == -EEXIST ? EXIT_USAGE : EXIT_ENV, &e) : EXIT_OK;
}

int record_d3d12(const struct record_options *o, char *const *program)
{
    struct collect_params p = {.api = &d12_api,
                               .argv = program,
                               .output = o->output,
                               .hash_every = o->hash_every,
                               .dirty_method = o->memory,
                               .last_frame = o->last_frame};
    char whole[PATH_MAX], device[300];
    struct collect_result r;
    struct error e = {0};
    int code;

    if (o->first_frame || p.last_frame != UINT32_MAX) {
        snprintf(whole, sizeof(whole), "%s.whole", o->output);
        p.output = whole;
    }
    code = run_recorded(&p, &r);
    if (code)
        return code;
    if (!r.nothing)
        utf8_print(stderr, "%s: %llu bytes, %llu blocks, %u frames, %u objects, %u threads\n", p.output,
                   (unsigned long long)r.bytes, (unsigned long long)r.blocks, r.frames, r.objects, r.threads);
    if (r.nothing) {
        fprintf(
            stderr,
            "aerogpu record: nothing was recorded: the program made no call that the recorder saw. One that uses Direct3D 12 may load the library by its path or from the system's folder alone\n");
        if (record_explain(program, &e))
            return command_fail(EXIT_ENV, &e);
    }
    if (r.lost)
        fprintf(
            stderr,
            "aerogpu record: the program had no memory left for what its threads record: %u calls at least are missing, and what rests on them cannot be played\n",
            r.lost);
    if (!r.nothing && wine_command(p.argv) && tables_are_not_bound(p.output, device, sizeof(device)))
        utf8_print(
            stderr,
            "aerogpu record: the program draws with descriptor tables, and %s has no VK_EXT_descriptor_indexing: with Wine 8 what is in them is not bound there, and the recorded hashes may be of wrong pictures\n",
            device);
    if (!r.nothing && p.output == whole) {
        code = d3d12_cut(whole, o->output, o->first_frame, p.last_frame);
        if (code) {
            utf8_print(stderr, "aerogpu record: what was recorded stays in %s\n", whole);
            _exit(code);
        }
        unlink(whole);
    }
    if (WIFSIGNALED(r.status)) {
        utf8_print(stderr, "the program was ended by signal %d (%s); it is recorded up to that\n",
                   WTERMSIG(r.status), strsignal(WTERMSIG(r.status)));
        return 128 + WTERMSIG(r.status);
    }
    return r.lost && !WEXITSTATUS(r.status) ? EXIT_FAILED : WEXITSTATUS(r.status);
}
