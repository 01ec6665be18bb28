#include "d3d12/record/collect_wine.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/log.h"

#define FOLDER "aerogpu-wine-"

struct wine_run {
    char **argv;                /* what to run instead */
    char *folder;               /* the private one */
    char *origin;               /* the program's own */
    int lock;                   /* held on `folder` */
    char *own_d3d12, *own_dxgi; /* such a library beside the program, or NULL */
};

static const char *const libraries[] = {"d3d12.dll", "dxgi.dll"};

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

/* Links everything beside the program but libraries that the recorder stands in for. */
static int link_all(struct wine_run *w)
{
    DIR *dir = opendir(w->origin);
    struct dirent *f;
    int err = 0;

    if (!dir)
        return -errno;
    while (!err && (f = readdir(dir))) {
        char **own = !strcasecmp(f->d_name, libraries[0])   ? &w->own_d3d12
                     : !strcasecmp(f->d_name, libraries[1]) ? &w->own_dxgi
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

/* Folders of recorders that were killed. Nobody holds them; what the program wrote into one stays there. */
static void sweep(void)
{
    DIR *tmp = opendir("/tmp"), *dir;
    struct dirent *f, *g;

    while (tmp && (f = readdir(tmp))) {
        struct stat st;
        int fd;

        if (strncmp(f->d_name, FOLDER, strlen(FOLDER)) ||
            (fd = openat(dirfd(tmp), f->d_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)) < 0)
            continue;
        if (fstat(fd, &st) || st.st_uid != geteuid() ||
            faccessat(fd, "d3d12.dll", F_OK, AT_SYMLINK_NOFOLLOW) || flock(fd, LOCK_EX | LOCK_NB) ||
            !(dir = fdopendir(fd))) { /* not filled yet, or in use */
            close(fd);
            continue;
        }
        while ((g = readdir(dir)))
            if (!fstatat(fd, g->d_name, &st, AT_SYMLINK_NOFOLLOW) && S_ISLNK(st.st_mode))
                unlinkat(fd, g->d_name, 0);
        unlinkat(dirfd(tmp), f->d_name, AT_REMOVEDIR);
        closedir(dir);
    }
    if (tmp)
        closedir(tmp);
}

/* A link of ours goes, a file of the program's goes home. False: it is still there. */
static bool clear_away(const struct wine_run *w, const char *name)
{
    char at[PATH_MAX], home[PATH_MAX];
    struct stat st;

    if (snprintf(at, sizeof(at), "%s/%s", w->folder, name) >= (int)sizeof(at) ||
        snprintf(home, sizeof(home), "%s/%s", w->origin, name) >= (int)sizeof(home) || lstat(at, &st))
        return false;
    return S_ISLNK(st.st_mode) ? !unlink(at) : !rename(at, home);
}

static void finish(struct wine_run *w)
{
    DIR *dir = w->folder ? opendir(w->folder) : NULL;
    bool all = true;
    struct dirent *f;

    while (dir && (f = readdir(dir)))
        if (strcmp(f->d_name, ".") && strcmp(f->d_name, "..") && !clear_away(w, f->d_name))
            all = false;
    if (dir)
        closedir(dir);
    if (w->folder && (!all || rmdir(w->folder)))
        log_warn("d3d12", "what the program wrote beside itself is in %s", w->folder);
    for (char **a = w->argv; a && *a; a++)
        free(*a);
    free(w->argv);
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
    char *path = host_path(argv[program]), *slash, folder[] = "/tmp/" FOLDER "XXXXXX";
    int err;

    sweep();
    *w = (struct wine_run){.lock = -1};
    if (!path || !(slash = strrchr(path, '/'))) {
        free(path);
        return error_set(e, -ENOENT, "cannot find %s: name the program's file", argv[program]);
    }
    w->origin = strndup(path, (size_t)(slash - path));
    w->folder = mkdtemp(folder) ? strdup(folder) : NULL;
    if (!w->origin || !w->folder) {
        err = error_set(e, -errno, "cannot make a folder for the program: %s", strerror(errno));
        goto out;
    }
    w->lock = open(w->folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (w->lock >= 0)
        flock(w->lock, LOCK_EX);
    err = link_all(w);
    for (int i = 0; !err && i < 2; i++)
        err = link_into(w->folder, dll_dir, libraries[i]);
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
