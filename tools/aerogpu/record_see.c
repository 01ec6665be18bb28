/* SPDX-License-Identifier: MIT */
/* record_see.c: which API a program speaks. Nothing is run for it: a program carries the names of the libraries that it is
 * linked with or loads later, as text, in UTF-16 too if it is a Windows program. What is in front of the program on the command
 * line (`timeout`, `xvfb-run`, `wine`) speaks none, so the first word that is a program and speaks one counts.
 *
 * Invariant: what cannot be seen is said, never guessed: a script, or a program whose engine is in a library of its own, needs
 * --what. */
#include "record.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/program.h"
#include "d3d12/record/collect_wine.h"

/* In the order in which they are looked for: what can be recorded, then what cannot. */
static const struct spoken {
    const char *name, *library;
    int what; /* enum record_what, or -1 */
    bool windows;
} apis[] = {
    {"Direct3D 12", "libvkd3d", RECORD_D3D12,
     false}, /* libvkd3d.so.1, libvkd3d-utils, libvkd3d-proton-d3d12 */
    {"Direct3D 12", "libd3d12", RECORD_D3D12, false},
    {"Direct3D 12", "d3d12.dll", RECORD_D3D12, true},
    {"AeroGPU's device", "AEROGPU_RECORD", RECORD_DEVICE, false}, /* src/trace/attach.c */
    {"Direct3D 11", "d3d11.dll", -1, true},
    {"Direct3D 10", "d3d10", -1, true},
    {"Direct3D 9", "d3d9.dll", -1, true},
    {"Vulkan", "vulkan-1.dll", -1, true},
    {"OpenGL", "opengl32.dll", -1, true},
    {"Vulkan", "libvulkan.so", -1, false},
    {"OpenGL", "libGL.so", -1, false},
    {"OpenGL", "libEGL.so", -1, false},
    {"OpenGL", "libOpenGL.so", -1, false},
};

enum { NUM_APIS = sizeof(apis) / sizeof(apis[0]) };

static bool has_wide(const char *b, size_t n, const char *text)
{
    size_t len = strlen(text);

    for (size_t i = 0; i + 2 * len <= n; i++) {
        size_t k = 0;
        while (k < len && (b[i + 2 * k] | 0x20) == (text[k] | 0x20) && !b[i + 2 * k + 1])
            k++;
        if (k == len)
            return true;
    }
    return false;
}

/* Windows does not care about the case of names. */
static bool has_name(const char *b, size_t n, const struct spoken *a)
{
    size_t len = strlen(a->library);

    if (!a->windows)
        return memmem(b, n, a->library, len) != NULL;
    for (size_t i = 0; i + len <= n; i++)
        if (!strncasecmp(b + i, a->library, len))
            return true;
    return has_wide(b, n, a->library);
}

/* A word as a file that can be run: as it is, or in PATH. */
static bool find_program(const char *word, char path[4096])
{
    struct stat st;

    if (!strchr(word, '/') && !strcasestr(word, ".exe"))
        return program_in_path(word, path, 4096);
    snprintf(path, 4096, "%s", word);
    return !stat(path, &st) && S_ISREG(st.st_mode);
}

/* The first API that a file names, NULL for none; *other: another that can be recorded, too. */
static const struct spoken *look(const char *path, bool *is_program, const struct spoken **other)
{
    const struct spoken *found = NULL;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    struct stat st;
    char *b;

    *is_program = false;
    *other = NULL;
    if (fd < 0 || fstat(fd, &st) || st.st_size < 4) {
        if (fd >= 0)
            close(fd);
        return NULL;
    }
    b = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    close(fd);
    if (b == MAP_FAILED)
        return NULL;
    *is_program = !memcmp(b, "\177ELF", 4) || !memcmp(b, "MZ", 2);
    for (int i = 0; *is_program && i < NUM_APIS; i++) {
        if (apis[i].windows != (*b == 'M') || (found && apis[i].what < 0) ||
            !has_name(b, (size_t)st.st_size, &apis[i]))
            continue;
        if (!found)
            found = &apis[i];
        else if (apis[i].what != found->what)
            *other = &apis[i];
    }
    munmap(b, (size_t)st.st_size);
    return found;
}

/* What a shell would run of the text that it is given is what the text's words name. */
static int explain_word(const char *word, bool wine, struct error *e)
{
    char path[4096];

    if (!find_program(word, path))
        return 0;
    switch (program_kind(path)) {
    case PROGRAM_LINUX_32:
        return error_set(e, -ENOTSUP,
                         "%s is a Linux program of 32 bits: of those only Windows programs are recorded",
                         word);
    case PROGRAM_WINDOWS:
        return wine
                   ? 0
                   : error_set(
                         e, -ENOTSUP,
                         "%s is a Windows program that something else starts: `aerogpu record -- wine %s` records it",
                         word, word);
    default:
        return 0;
    }
}

int record_explain(char *const *program, struct error *e)
{
    static const char between[] = " \t\n;&|()\"'";
    const bool wine = wine_command(program);
    int r = 0;

    for (char *const *arg = program; *arg && !r; arg++) {
        char *text = strdup(*arg), *rest = text, *word;

        r = explain_word(*arg, wine, e);
        while (text && !r && strpbrk(*arg, between) && (word = strsep(&rest, between)))
            r = *word ? explain_word(word, wine, e) : 0;
        free(text);
    }
    return r;
}

int record_see(char *const *program, enum record_what *what, struct error *e)
{
    static const char can[] =
        "`aerogpu record` records Direct3D 12 (libvkd3d, and Windows programs under Wine), AeroGPU's own device, and what processors do; --what d3d12|device|cpu says which";
    const struct spoken *api = NULL, *other = NULL, *mute = NULL;
    const char *name = program[0];
    bool is_program, any = false;
    char path[4096];

    for (char *const *word = program; *word && !(api && api->what >= 0); word++) {
        if (!find_program(*word, path)) {
            if (word == program && !wine_command(program))
                return error_set(e, -ENOENT, "%s: No such file or directory", *word);
            continue;
        }
        api = look(path, &is_program, &other);
        if (api && api->what >= 0 && other)
            return error_set(e, -EEXIST, "%s speaks both %s and %s: --what d3d12|device says which to record",
                             *word, api->name, other->name);
        if (api && api->windows && word != program && !wine_command(program))
            return error_set(e, -ENOTSUP, "%s is a Windows program: `aerogpu record -- wine %s` records it",
                             *word, *word);
        if (api) {
            mute = mute ? mute : api;
            name = *word;
        }
        any = any || is_program;
    }
    if (api && api->what >= 0) {
        *what = (enum record_what)api->what;
        return 0;
    }
    if (!mute && wine_command(program)) { /* C:\program.exe, which only Wine finds */
        *what = RECORD_D3D12;
        return 0;
    }
    if (mute)
        return error_set(e, -ENOTSUP, "%s speaks %s, which cannot be recorded: %s", name, mute->name, can);
    return error_set(e, -ENOTSUP, "%s: which API it speaks cannot be seen%s: %s", program[0],
                     any ? "" : ", since it is a script", can);
}
