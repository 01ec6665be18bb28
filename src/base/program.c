/* SPDX-License-Identifier: MIT */
#include "base/program.h"

#include <errno.h>
#include <fcntl.h>
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

enum program_kind program_kind(const char *path)
{
    enum { ELF_CLASS = 4, PE_OFFSET = 60, I386 = 0x14C };
    uint8_t head[64] = {0}, pe[6] = {0};
    FILE *f = fopen(path, "re");
    enum program_kind kind = PROGRAM_NONE;

    if (f && fread(head, 1, sizeof(head), f) >= 5 && !memcmp(head, "\177ELF", 4))
        kind = head[ELF_CLASS] == 1 ? PROGRAM_LINUX_32 : PROGRAM_LINUX;
    else if (f && head[0] == 'M' && head[1] == 'Z' &&
             !fseek(f,
                    head[PE_OFFSET] | head[PE_OFFSET + 1] << 8 | head[PE_OFFSET + 2] << 16 |
                        (head[PE_OFFSET + 3] & 0x7f) << 24,
                    SEEK_SET) &&
             fread(pe, 1, sizeof(pe), f) == sizeof(pe) && !memcmp(pe, "PE\0", 4))
        kind = (pe[4] | pe[5] << 8) == I386 ? PROGRAM_WINDOWS_32 : PROGRAM_WINDOWS;
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
