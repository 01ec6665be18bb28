/* SPDX-License-Identifier: MIT */
/* run_on.c: what `aerogpu run --on` has to know before a service comes up: that its dumps have a place, and that the program can be run.
 * A script does the rest. */
#include <errno.h>
#include <libgen.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file/out.h"
#include "base/program.h"
#include "run.h"

static bool is_exe(const char *word)
{
    const char *dot = strrchr(word, '.');

    return dot && !strcasecmp(dot, ".exe");
}

/* What Wine finds, not we: by a path of Windows, or among its own programs. */
static bool is_wines(const char *word)
{
    return strpbrk(word, "\\:") || (!strchr(word, '/') && !is_exe(word) && access(word, F_OK));
}

/* Which of the words is a program for Windows; -1: none of them. */
static int windows_word(char *const *argv)
{
    const char *slash = strrchr(argv[0], '/');
    const bool wine = !strncmp(slash ? slash + 1 : argv[0], "wine", 4) && !is_exe(argv[0]);
    int at = wine ? 1 : 0;

    if (wine && argv[1] &&
        strstr(argv[1], "/aerogpu-lose-start.exe")) /* what `aerogpu lose` starts it with */
        at++;
    if (!argv[at])
        return -1;
    switch (program_kind(argv[at])) {
    case PROGRAM_WINDOWS:
        return at;
    case PROGRAM_NONE:
        return wine || is_exe(argv[at]) ? at : -1;
    default:
        return wine && is_exe(argv[at]) ? at : -1; /* a program for Linux may have that name */
    }
}

static int check_program(char *const *argv, int windows, bool *is_32, struct error *e)
{
    const bool bare = windows == 0;
    const char *command = bare ? "wine" : argv[0];
    char path[PATH_MAX];
    struct stat st;

    *is_32 = false;
    if (windows >= 0 && (bare || !is_wines(argv[windows])) && program_windows(argv[windows], is_32, e))
        return e->code;
    if (program_in_path(command, path, sizeof(path)))
        return 0;
    return error_set(e, -ENOENT, "cannot run %s: %s%s", command,
                     strerror(strchr(command, '/') && !stat(command, &st) ? EACCES : ENOENT),
                     bare ? ": programs for Windows need it" : "");
}

/* That it can be made, or is there. What had to be made for that is gone again: it stands when there is a dump. */
static int check_folder(const char *dumps, struct error *e)
{
    int r = out_file_folder(dumps, e);

    out_file_folders_end();
    return r;
}

static int exec_script(const char *dumps, const char *libraries, const char *at, char *const *argv,
                       struct error *e)
{
    char script[PATH_MAX], self[PATH_MAX];
    unsigned n = 0;
    char **args;
    int r = program_find(&(struct program_params){.what = "what runs a program on AeroGPU",
                                                  .built = "tools/aerogpu/aerogpu-run-on-aerogpu",
                                                  .installed = "aerogpu-run-on-aerogpu",
                                                  .place = PROGRAM_LIBEXEC},
                         script, sizeof(script), e);

    r = r ? r : program_self(self, sizeof(self), e);
    if (r)
        return r;
    while (argv[n])
        n++;
    args = calloc(n + 6, sizeof(*args));
    if (!args)
        return error_set(e, -ENOMEM, "out of memory");
    memcpy(args, (const char *[]){script, self, dumps, libraries, at}, 5 * sizeof(*args));
    memcpy(args + 5, argv, n * sizeof(*args));
    execv(script, args);
    r = error_set(e, -errno, "cannot run %s: %s", script, strerror(errno));
    free(args);
    return r;
}

int run_on(const char *dumps, char *const *argv, struct error *e)
{
    char library[PATH_MAX], at[16] = "";
    const int windows = windows_word(argv);
    bool is_32;
    int r = dumps ? check_folder(dumps, e) : 0;

    r = r ? r : check_program(argv, windows, &is_32, e);
    if (r)
        return r;
    if (windows < 0)
        return exec_script(dumps ? dumps : ".", "", "", argv, e);
    if (program_find(&(struct program_params){.what = "Direct3D",
                                              .built = is_32 ? "src/d3d/windows/x86/d3d11.dll"
                                                             : "src/d3d/windows/d3d11.dll",
                                              .installed = is_32 ? "aerogpu/windows/direct3d/x86/d3d11.dll"
                                                                 : "aerogpu/windows/direct3d/d3d11.dll",
                                              .place = PROGRAM_LIB,
                                              .is_data = true},
                     library, sizeof(library), NULL))
        return error_set(
            e, -ENOENT,
            "this build has no Direct3D for Windows programs of %d bits: it needs %smingw-w64 and libwine-dev",
            is_32 ? 32 : 64, is_32 ? "the i686 half of " : "");
    snprintf(at, sizeof(at), "%d", windows);
    return exec_script(dumps ? dumps : ".", dirname(library), at, argv, e);
}
