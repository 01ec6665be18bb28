/* SPDX-License-Identifier: MIT */
#include "base/program.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* Relative to the prefix, and the prefix. From meson's options. */
static const char *const places[] = {
    [PROGRAM_BIN] = AEROGPU_BINDIR, [PROGRAM_LIBEXEC] = AEROGPU_LIBEXECDIR, [PROGRAM_LIB] = AEROGPU_LIBDIR};

static bool is_file(const char *path, int may)
{
    struct stat st;

    /* a folder that is called so is none */
    return stat(path, &st) == 0 && !S_ISDIR(st.st_mode) && access(path, may) == 0;
}

static bool is_there(const struct program_params *p, const char *path)
{
    return is_file(path, p->is_data ? R_OK : X_OK);
}

int program_self(char *path, size_t size, struct error *e)
{
    ssize_t n = readlink("/proc/self/exe", path, size);

    if (n < 0 || (size_t)n == size) {
        const int err = n < 0 ? errno : ENAMETOOLONG;

        return error_set(e, -err, "cannot read /proc/self/exe: %s", strerror(err));
    }
    path[n] = '\0';
    return 0;
}

bool program_in_path(const char *name, char *path, size_t size)
{
    const char *at = strchr(name, '/') ? NULL : getenv("PATH");

    if (!at)
        return (size_t)snprintf(path, size, "%s", name) < size && strchr(name, '/') && is_file(path, X_OK);
    for (int n;; at += n + 1) { /* an empty folder is the current one */
        n = (int)strcspn(at, ":");
        if ((size_t)snprintf(path, size, "%.*s/%s", n ? n : 1, n ? at : ".", name) < size &&
            is_file(path, X_OK))
            return true;
        if (!at[n])
            return false;
    }
}

/* Built: BUILD/tools/aerogpu/x, and BUILD/src/room/it. Installed: PREFIX/bin/x, and PREFIX/libexec/it. */
static bool find_beside(const struct program_params *p, const char *self, char *path, size_t size)
{
    const char *name = strrchr(p->installed, '/');
    char dir[PATH_MAX], *slash;

    name = name ? name + 1 : p->installed;
    snprintf(dir, sizeof(dir), "%s", self);
    for (int up = 0; up < 4 && (slash = strrchr(dir, '/')); up++) {
        *slash = '\0';
        if ((size_t)snprintf(path, size, "%s/%s", dir, name) < size && is_there(p, path))
            return true;
        if ((size_t)snprintf(path, size, "%s/%s", dir, p->built) < size && is_there(p, path))
            return true;
        if ((size_t)snprintf(path, size, "%s/%s/%s", dir, places[p->place], p->installed) < size &&
            is_there(p, path))
            return true;
    }
    return false;
}

int program_find(const struct program_params *p, char *path, size_t size, struct error *e)
{
    const char *wanted = p->wanted ? p->wanted : p->variable ? getenv(p->variable) : NULL;
    char self[PATH_MAX];
    int r;

    if (wanted && *wanted) {
        const char *by = p->wanted ? "" : p->variable, *names = p->wanted ? "" : " names ";

        if ((size_t)snprintf(path, size, "%s", wanted) >= size)
            return error_set(e, -ENAMETOOLONG, "%s%s%.60s...: the path is too long", by, names, wanted);
        return is_there(p, path)
                   ? 0
                   : error_set(e, -ENOENT, "%s%s%.200s, which is not %s", by, names, wanted, p->what);
    }
    r = program_self(self, sizeof(self), e);
    if (r)
        return r;
    if (find_beside(p, self, path, size))
        return 0;
    if ((size_t)snprintf(path, size, AEROGPU_PREFIX "/%s/%s", places[p->place], p->installed) < size &&
        is_there(p, path))
        return 0;
    return error_set(e, -ENOENT, "%s is neither beside %.120s nor at " AEROGPU_PREFIX "/%s/%s%s%s%s", p->what,
                     self, places[p->place], p->installed, p->variable ? " (" : "",
                     p->variable ? p->variable : "", p->variable ? " can name it)" : "");
}

/* ---- programs for Windows: IMAGE_NT_HEADERS and the sections behind them -------- */

enum {
    PE_OFFSET = 60,
    NT_SIZE = 26, /* up to the magic of the optional header */
    NT_OPTIONAL = 24,
    SECTION_SIZE = 40,
    AMD64 = 0x8664,
    I386 = 0x14C,
    IS_EXECUTABLE = 0x0002,
    IS_DLL = 0x2000
};

static uint32_t le(int bytes, const uint8_t *at)
{
    uint32_t v = 0;

    while (bytes--)
        v = v << 8 | at[bytes];
    return v;
}

static bool read_at(FILE *f, uint64_t at, void *to, size_t size)
{
    return !fseeko(f, (off_t)at, SEEK_SET) && fread(to, 1, size, f) == size;
}

/* Where its headers are; 0: it has none. */
static uint32_t nt_headers(FILE *f, uint8_t nt[NT_SIZE])
{
    uint8_t dos[64];

    if (!read_at(f, 0, dos, sizeof(dos)) || memcmp(dos, "MZ", 2) ||
        !read_at(f, le(4, dos + PE_OFFSET), nt, NT_SIZE) || memcmp(nt, "PE\0", 4))
        return 0;
    return le(4, dos + PE_OFFSET);
}

static int check_sections(FILE *f, uint64_t at, unsigned count, uint64_t size, struct error *e)
{
    for (unsigned i = 0; i < count; i++, at += SECTION_SIZE) {
        uint8_t s[SECTION_SIZE];
        uint32_t in_memory, in_file, from;

        if (!read_at(f, at, s, sizeof(s)))
            return error_set(e, -ENOEXEC, "it ends in the header of section %u of %u, at offset %" PRIu64, i,
                             count, at);
        in_memory = le(4, s + 8);
        in_file = le(4, s + 16);
        from = le(4, s + 20);
        if (in_memory && in_memory < in_file) /* what is behind is not looked at */
            in_file = in_memory;
        if (in_file && (uint64_t)from + in_file > size)
            return error_set(e, -ENOEXEC,
                             "section %u (%.8s) has %u bytes from offset %u on, the file ends at %" PRIu64, i,
                             (const char *)s, in_file, from, size);
    }
    return 0;
}

static int check_windows(FILE *f, bool *is_32, struct error *e)
{
    uint8_t nt[NT_SIZE];
    const uint32_t at = nt_headers(f, nt);
    unsigned machine, flags, magic;
    struct stat st;

    if (!at)
        return error_set(e, -ENOEXEC, "it has no PE header");
    machine = le(2, nt + 4);
    flags = le(2, nt + 22);
    magic = le(2, nt + NT_OPTIONAL);
    *is_32 = machine == I386;
    if (machine != AMD64 && machine != I386)
        return error_set(e, -ENOEXEC,
                         "its machine (offset %u) is %#x%s: those of x86-64 (0x8664) and x86 (0x14c) are run",
                         at + 4, machine, machine == 0xAA64 ? " (ARM64)" : "");
    if (!(flags & IS_EXECUTABLE) || flags & IS_DLL)
        return error_set(e, -ENOEXEC, "its characteristics (offset %u) are %#x: %s", at + 22, flags,
                         flags & IS_DLL ? "a library" : "it was not linked to its end");
    if (magic != (*is_32 ? 0x10Bu : 0x20Bu))
        return error_set(e, -ENOEXEC, "its optional header (offset %u) begins with %#x, that of %s with %#x",
                         at + NT_OPTIONAL, magic, *is_32 ? "x86" : "x86-64", *is_32 ? 0x10B : 0x20B);
    if (fstat(fileno(f), &st))
        return error_set(e, -errno, "%s", strerror(errno));
    return check_sections(f, (uint64_t)at + NT_OPTIONAL + le(2, nt + 20), le(2, nt + 6), (uint64_t)st.st_size,
                          e);
}

int program_windows(const char *path, bool *is_32, struct error *e)
{
    FILE *f = is_file(path, R_OK) ? fopen(path, "re") : NULL;
    int r;

    if (!f) {
        r = access(path, R_OK) ? errno : EISDIR;
        return error_set(e, -r, "%s: %s", path, strerror(r));
    }
    r = check_windows(f, is_32, e);
    if (r)
        error_prefix(e, "%s is no program for Windows that can be run", path);
    fclose(f);
    return r;
}

enum program_kind program_kind(const char *path)
{
    enum { ELF_CLASS = 4 };
    uint8_t head[5] = {0}, nt[NT_SIZE];
    FILE *f = is_file(path, R_OK) ? fopen(path, "re") : NULL;
    size_t n = f ? fread(head, 1, sizeof(head), f) : 0;
    enum program_kind kind = PROGRAM_NONE;

    if (n == sizeof(head) && !memcmp(head, "\177ELF", 4))
        kind = head[ELF_CLASS] == 1 ? PROGRAM_LINUX_32 : PROGRAM_LINUX;
    else if (f && nt_headers(f, nt))
        kind = PROGRAM_WINDOWS;
    if (f)
        fclose(f);
    return kind;
}

pid_t program_start(char *const *argv, void (*prepare)(void *ctx), void *ctx)
{
    int said[2], cause = 0; /* its end of the pipe closes when it runs */
    pid_t pid;

    if (pipe2(said, O_CLOEXEC))
        return -errno;
    pid = fork();
    if (!pid) {
        if (prepare)
            prepare(ctx);
        execvp(argv[0], argv);
        cause = errno;
        _exit(write(said[1], &cause, sizeof(cause)) < 0 ? 126 : 127);
    }
    if (pid < 0)
        cause = errno;
    close(said[1]);
    while (pid > 0 && read(said[0], &cause, sizeof(cause)) < 0 && errno == EINTR)
        continue;
    close(said[0]);
    if (pid > 0 && cause)
        waitpid(pid, NULL, 0);
    return cause ? -cause : pid;
}
