/* SPDX-License-Identifier: MIT */
#include "d3d12/record/collect_wine.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/log.h"
#include "base/program.h"

#define FOLDER       "aerogpu-wine-"
#define FILLED       ".filled" /* a link in the root of those that nothing is added to any more */
#define WINDOWS_PATH 250       /* bytes of a program's path, with a drive in front */

struct wine_run {
    char **argv;                /* what to run instead */
    char *root;                 /* the private ones begin here */
    char *folder;               /* in it, where `origin` is in the system's */
    char *origin;               /* the program's own */
    int lock;                   /* held on `root` */
    char *own_d3d12, *own_dxgi; /* such a library beside the program, or NULL */
};

/* As programs load them; and ours of 32 bits. */
static const char *const libraries[2][2] = {{"d3d12.dll", "dxgi.dll"}, {"d3d12-x86.dll", "dxgi-x86.dll"}};

static const char *base_name(const char *path)
{
    const char *s = strrchr(path, '/');

    return s ? s + 1 : path;
}

static bool is_exe(const char *path)
{
    size_t n = strlen(path);

    return n > 4 && !strcasecmp(path + n - 4, ".exe");
}

bool wine_command(char *const *argv)
{
    return !strncmp(base_name(argv[0]), "wine", 4) ? argv[1] != NULL : is_exe(argv[0]);
}

/* The program as a path of this system: C:\dir\program.exe through the prefix's links. The caller frees it. */
static char *host_path(const char *program)
{
    const char *prefix = getenv("WINEPREFIX"), *home = getenv("HOME");
    char *at = NULL, *real;
    int n;

    if (isalpha((unsigned char)program[0]) && program[1] == ':')
        n = asprintf(&at, "%s%s/dosdevices/%c:/%s",
                     prefix ? prefix
                     : home ? home
                            : "",
                     prefix ? "" : "/.wine", tolower((unsigned char)program[0]), program + 2);
    else
        n = asprintf(&at, "%s", program);
    if (n < 0)
        return NULL;
    for (char *s = at; program[1] == ':' && *s; s++)
        if (*s == '\\')
            *s = '/';
    real = realpath(at, NULL);
    if (!real && !is_exe(at)) {
        char *with = NULL;

        if (asprintf(&with, "%s.exe", at) >= 0)
            real = realpath(with, NULL);
        free(with);
    }
    free(at);
    return real;
}

static int link_into(const char *folder, const char *from, const char *name)
{
    char target[PATH_MAX], at[PATH_MAX];

    if (snprintf(target, sizeof(target), "%s/%s", from, name) >= (int)sizeof(target) ||
        snprintf(at, sizeof(at), "%s/%s", folder, name) >= (int)sizeof(at))
        return -ENAMETOOLONG;
    return symlink(target, at) ? -errno : 0;
}

/* Links our own libraries, those for the program's kind. */
static int link_ours(const struct wine_run *w, const char *dll_dir, bool is_32, struct error *e)
{
    int err = 0;

    for (int i = 0; !err && i < 2; i++) {
        char from[PATH_MAX], at[PATH_MAX];

        if (snprintf(from, sizeof(from), "%s/%s", dll_dir, libraries[is_32][i]) >= (int)sizeof(from) ||
            snprintf(at, sizeof(at), "%s/%s", w->folder, libraries[0][i]) >= (int)sizeof(at))
            err = error_set(e, -ENAMETOOLONG, "%s is too long a path", dll_dir);
        else if (access(from, R_OK))
            err = error_set(
                e, -errno, "cannot read %s: %s%s", from, strerror(errno),
                is_32 ? " (the recorder for programs of 32 bits is of a build with i686-w64-mingw32-gcc)"
                      : "");
        else if (symlink(from, at))
            err = error_set(e, -errno, "cannot make the link %s: %s", at, strerror(errno));
    }
    return err;
}

/* Links everything beside the program but libraries that the recorder stands in for. */
static int link_all(struct wine_run *w)
{
    DIR *dir = opendir(w->origin);
    struct dirent *f;
    int err = 0;

    if (!dir)
        return -errno;
    while (!err && (f = readdir(dir))) {
        char **own = !strcasecmp(f->d_name, libraries[0][0])   ? &w->own_d3d12
                     : !strcasecmp(f->d_name, libraries[0][1]) ? &w->own_dxgi
                                                               : NULL;

        if (!strcmp(f->d_name, ".") || !strcmp(f->d_name, ".."))
            continue;
        if (own) /* Wine's name for a path of this system */
            err = asprintf(own, "\\\\?\\unix%s/%s", w->origin, f->d_name) < 0 ? -ENOMEM : 0;
        else
            err = link_into(w->folder, w->origin, f->d_name);
    }
    closedir(dir);
    return err;
}

static char **new_argv(const struct wine_run *w, char *const *argv, unsigned program, const char *file)
{
    unsigned n = 0, k = 0;
    char **out;

    while (argv[n])
        n++;
    out = calloc(n + 2, sizeof(*out));
    if (!out)
        return NULL;
    out[k++] = strdup(program ? argv[0] : "wine");
    if (asprintf(&out[k++], "%s/%s", w->folder, file) < 0)
        out[k - 1] = NULL;
    for (unsigned i = program + 1; i < n; i++)
        out[k++] = strdup(argv[i]);
    return out;
}

/* The folders above the program's own, in `root`, with links to what stands in each beside the next. */
static int mirror(struct wine_run *w)
{
    char real[PATH_MAX], here[PATH_MAX];
    const char *next = w->origin;
    int err = 0;

    while (!err && *next) {
        const char *name = next + 1, *end = strchrnul(name, '/');
        int above = (int)(next - w->origin);
        struct dirent *f;
        DIR *dir;

        snprintf(real, sizeof(real), "%.*s/", above, w->origin);
        snprintf(here, sizeof(here), "%s%.*s", w->root, above, w->origin);
        dir = opendir(real); /* one that may be entered, but not read, has the next alone */
        while (!err && dir && (f = readdir(dir)))
            if (strcmp(f->d_name, ".") && strcmp(f->d_name, "..") &&
                (strlen(f->d_name) != (size_t)(end - name) || strncmp(f->d_name, name, (size_t)(end - name))))
                err = link_into(here, above ? real : "", f->d_name);
        if (dir)
            closedir(dir);
        snprintf(here, sizeof(here), "%s%.*s", w->root, (int)(end - w->origin), w->origin);
        if (!err && mkdir(here, 0700))
            err = -errno;
        next = end;
    }
    return err;
}

/* Empties the folder `at`: our links go, what the program made goes home (NULL: stays). False: something is still there. */
static bool clear_away(const char *at, const char *home)
{
    DIR *dir = opendir(at);
    struct dirent *f;
    bool all = dir;

    while (dir && (f = readdir(dir))) {
        char here[PATH_MAX], there[PATH_MAX] = "";
        struct stat st, to;

        if (!strcmp(f->d_name, ".") || !strcmp(f->d_name, ".."))
            continue;
        if (snprintf(here, sizeof(here), "%s/%s", at, f->d_name) >= (int)sizeof(here) ||
            (home && snprintf(there, sizeof(there), "%s/%s", home, f->d_name) >= (int)sizeof(there)) ||
            lstat(here, &st))
            all = false;
        else if (S_ISLNK(st.st_mode))
            all = !unlink(here) && all;
        else if (S_ISDIR(st.st_mode) && (!home || (!stat(there, &to) && S_ISDIR(to.st_mode))))
            all = clear_away(here, home ? there : NULL) && !rmdir(here) && all;
        else
            all = home && !rename(here, there) && all;
    }
    if (dir)
        closedir(dir);
    return all;
}

/* Folders of recorders that were killed. No process holds them; what the program wrote into one stays there. */
static void sweep(void)
{
    DIR *tmp = opendir("/tmp");
    struct dirent *f;

    while (tmp && (f = readdir(tmp))) {
        char path[PATH_MAX];
        struct stat st;
        int fd;

        if (strncmp(f->d_name, FOLDER, strlen(FOLDER)) ||
            (fd = openat(dirfd(tmp), f->d_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)) < 0)
            continue;
        if (fstat(fd, &st) || st.st_uid != geteuid() || faccessat(fd, FILLED, F_OK, AT_SYMLINK_NOFOLLOW) ||
            flock(fd, LOCK_EX | LOCK_NB)) {
            close(fd); /* not filled yet, or in use */
            continue;
        }
        snprintf(path, sizeof(path), "/tmp/%s", f->d_name);
        if (clear_away(path, NULL))
            rmdir(path);
        close(fd);
    }
    if (tmp)
        closedir(tmp);
}

static void finish(struct wine_run *w)
{
    if (w->root &&
        (!clear_away(w->root, w->folder && !strcmp(w->folder, w->root) ? w->origin : "") || rmdir(w->root)))
        log_warn("d3d12", "what the program wrote beside itself is in %s", w->root);
    for (char **a = w->argv; a && *a; a++)
        free(*a);
    free(w->argv);
    free(w->root);
    free(w->folder);
    free(w->origin);
    free(w->own_d3d12);
    free(w->own_dxgi);
    if (w->lock >= 0)
        close(w->lock);
    *w = (struct wine_run){.lock = -1};
}

static int prepare(struct wine_run *w, char *const *argv, const char *dll_dir, struct error *e)
{
    unsigned program = is_exe(argv[0]) ? 0 : 1;
    char *path = host_path(argv[program]), *slash, root[] = "/tmp/" FOLDER "XXXXXX";
    bool deep, is_32;
    int err;

    sweep();
    *w = (struct wine_run){.lock = -1};
    if (!path || !(slash = strrchr(path, '/'))) {
        free(path);
        return error_set(e, -ENOENT, "cannot find %s: name the program's file", argv[program]);
    }
    if (program_windows(path, &is_32, e)) {
        free(path);
        return e->code;
    }
    w->origin = strndup(path, (size_t)(slash - path));
    w->root = mkdtemp(root) ? strdup(root) : NULL;
    deep = strlen(root) + strlen(path) < WINDOWS_PATH;
    if (!w->origin || !w->root || asprintf(&w->folder, "%s%s", root, deep ? w->origin : "") < 0) {
        w->folder = NULL;
        err = error_set(e, -errno, "cannot make a folder for the program: %s", strerror(errno));
        goto out;
    }
    if (!deep)
        log_warn("d3d12", "%s is too long a path: what the program looks for above its folder is not there",
                 path);
    w->lock = open(w->root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (w->lock >= 0)
        flock(w->lock, LOCK_EX);
    err = deep ? mirror(w) : 0;
    err = err ? err : link_all(w);
    if (!err && (err = link_ours(w, dll_dir, is_32, e)))
        goto out;
    err = err ? err : link_into(w->root, "", FILLED);
    if (err) {
        error_set(e, err, "cannot link the program's folder %s: %s", w->origin, strerror(-err));
        goto out;
    }
    w->argv = new_argv(w, argv, program, slash + 1);
    if (!w->argv)
        err = error_set(e, -ENOMEM, "out of memory");
out:
    free(path);
    if (err)
        finish(w);
    return err;
}

static void environment(const void *ctx)
{
    const struct wine_run *w = ctx;
    const char *old = getenv("WINEDLLOVERRIDES");
    char *mine;

    if (asprintf(&mine, "%s%sd3d12,dxgi=n,b", old ? old : "", old && *old ? ";" : "") >= 0)
        setenv("WINEDLLOVERRIDES", mine, 1);
    if (w->own_d3d12)
        setenv("AEROGPU_D3D12_REAL", w->own_d3d12, 1);
    if (w->own_dxgi)
        setenv("AEROGPU_DXGI_REAL", w->own_dxgi, 1);
}

int wine_collect(const struct collect_params *p, const char *dll_dir, struct collect_result *r,
                 struct error *e)
{
    struct collect_params run = *p;
    struct wine_run w;
    int err = prepare(&w, p->argv, dll_dir, e);

    if (err)
        return err;
    run.run = w.argv;
    run.environment = environment;
    run.ctx = &w;
    run.crash_status = 5; /* of an access violation's code eight bits are left */
    err = collect_run(&run, r, e);
    finish(&w);
    return err;
}
