/* SPDX-License-Identifier: MIT */
/* d3d12_on.c: on which Direct3D 12 recordings are played (d3d12.h, d3d12/play/play_on.h). */
#include "commands.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/program.h"
#include "d3d12.h"
#include "d3d12/gen/table.h"
#include "d3d12/play/play_on.h"

const struct play_windows *d3d12_windows;

/* This process's command line, with a zero behind each word; in a file, whose descriptor it returns, or -errno. */
static int own_words(void)
{
    int from = open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC), to = memfd_create("aerogpu-words", 0);
    char part[4096];
    ssize_t n = -1;

    while (from >= 0 && to >= 0 && (n = read(from, part, sizeof(part))) > 0)
        if (write(to, part, (size_t)n) != n)
            break;
    if (from >= 0)
        close(from);
    if (to >= 0 && !n)
        return to;
    n = -errno;
    if (to >= 0)
        close(to);
    return (int)n;
}

char **d3d12_words(int fd)
{
    off_t size = lseek(fd, 0, SEEK_END);
    char *text = size > 0 ? calloc(1, (size_t)size + 1) : NULL, **words;
    size_t n = 0;

    if (!text || pread(fd, text, (size_t)size, 0) != size)
        return NULL;
    for (off_t i = 0; i < size; i++)
        n += !text[i];
    words = calloc(n + 2, sizeof(*words));
    n = 0;
    for (off_t i = 0; words && i < size; i += (off_t)strlen(text + i) + 1)
        words[n++] = text + i;
    return words;
}

static bool is_dll(const char *path)
{
    FILE *f = fopen(path, "rbe");
    char magic[2] = "";
    bool is = f && fread(magic, 1, 2, f) == 2 && !memcmp(magic, "MZ", 2);

    if (f)
        fclose(f);
    return is;
}

static struct d3d12_told *told_memory(int fd)
{
    void *p = mmap(NULL, sizeof(struct d3d12_told), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

    return p == MAP_FAILED ? NULL : p;
}

struct d3d12_told *d3d12_told(void)
{
    static struct d3d12_told own, *told;
    const char *fd = getenv("AEROGPU_D3D12_WINE_TOLD");

    if (!told && d3d12_windows && fd)
        told = told_memory(atoi(fd));
    return told ? told : &own;
}

static pid_t wine;

static void pass_on(int sig)
{
    kill(wine, sig);
}

/* Waits for Wine, and ends as it does. There are crashes that it shows to no handler of ours: what the player was at stands in
 * shared memory. */
static __attribute__((noreturn)) void end_with(const struct d3d12_told *t)
{
    static const int signals[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
    const struct sigaction pass = {.sa_handler = pass_on};
    const struct api_method *m;
    int status = 0;

    for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++)
        sigaction(signals[i], &pass, NULL);
    while (waitpid(wine, &status, 0) < 0 && errno == EINTR)
        continue;
    if (t->end < 0) {
        signal(-t->end, SIG_DFL);
        raise(-t->end);
    }
    if (t->end)
        _exit(t->end - 1);
    m = &d12_methods[t->progress.method < D12_NUM_METHODS ? t->progress.method : 0];
    fprintf(stderr, "aerogpu play: %s%s", t->path, *t->path ? ": " : "");
    if (m->name)
        fprintf(stderr, "call %llu (block %u): %s::%s: ", (unsigned long long)t->progress.index,
                t->progress.block, m->iface, m->name);
    fprintf(stderr, "Wine ended %s%s (%s %d)\n", m->name ? "meanwhile" : "before the first call was made",
            t->progress.incomplete ? ", where the recorded program died" : "",
            WIFSIGNALED(status) ? "signal" : "exit code",
            WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
    _exit(m->name || *t->path ? EXIT_INPUT : EXIT_ENV); /* what it had not opened is not to blame */
}

/* The same command in a process of Wine's. Returns only if that cannot be. */
static int start_wine(struct error *e)
{
    static const struct program_params host = {.what = "what Wine starts (of a build with winegcc)",
                                               .built = "src/d3d12/aerogpu-d3d12-wine.exe.so",
                                               .installed = "aerogpu/aerogpu-d3d12-wine.exe.so",
                                               .place = PROGRAM_LIB,
                                               .is_data = true},
                                       player = {.what = "the player for Wine",
                                                 .built = "tools/aerogpu/libaerogpu-d3d12-wine.so",
                                                 .installed = "aerogpu/libaerogpu-d3d12-wine.so",
                                                 .place = PROGRAM_LIB,
                                                 .is_data = true};
    char host_path[PATH_MAX], player_path[PATH_MAX], number[16], told_number[16];
    int words, told = memfd_create("aerogpu-told", 0);
    struct d3d12_told *t = NULL;
    pid_t own = getpid();

    if (!getenv("DISPLAY") || !*getenv("DISPLAY"))
        return error_set(e, -ENODEV, "Wine's Direct3D 12 needs a display, and DISPLAY is not set");
    if (program_find(&host, host_path, sizeof(host_path), e) ||
        program_find(&player, player_path, sizeof(player_path), e))
        return e->code = -ENODEV;
    words = own_words();
    if (words < 0)
        return error_set(e, -ENODEV, "cannot read this command line: %s", strerror(-words));
    snprintf(number, sizeof(number), "%d", words);
    setenv("AEROGPU_D3D12_WINE_PLAYER", player_path, 1);
    setenv("AEROGPU_D3D12_WINE_ARGUMENTS", number, 1);
    setenv("WINEDEBUG", "-all", 0);
    if (told >= 0 && !ftruncate(told, sizeof(*t)))
        t = told_memory(told);
    snprintf(told_number, sizeof(told_number), "%d", told);
    setenv("AEROGPU_D3D12_WINE_TOLD", told_number, 1);
    wine = t ? fork() : -1;
    if (wine > 0)
        end_with(t);
    if (wine < 0)
        return error_set(e, -ENOMEM, "cannot start wine: %s", strerror(errno));
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() == own)
        execlp("wine", "wine", host_path, (char *)NULL);
    error_set(e, -ENODEV, "wine cannot be run: %s", strerror(errno));
    t->end = 1 + command_end(command_error(e));
    _exit(t->end - 1);
}

/* What the library needs stands beside it: its folder is the first that the loader looks into, from the start of the process. */
static int with_folder_of(const char *library, struct error *e)
{
    const char *old = getenv("LD_LIBRARY_PATH");
    char real[PATH_MAX], *folder, *all, **words;
    int fd;

    if (!strchr(library, '/') && access(library, F_OK))
        return 0; /* a name, for which the loader looks */
    if (!realpath(library, real))
        return error_set(e, -errno, "%s: %s", library, strerror(errno));
    folder = dirname(real);
    if (old && !strncmp(old, folder, strlen(folder)) && strchr(":", old[strlen(folder)]))
        return 0;
    if ((fd = own_words()) < 0 || !(words = d3d12_words(fd)) ||
        asprintf(&all, "%s%s%s", folder, old ? ":" : "", old ? old : "") < 0)
        return error_set(e, -ENOMEM, "no memory");
    setenv("LD_LIBRARY_PATH", all, 1);
    execv("/proc/self/exe", words);
    return error_set(e, -errno, "cannot start again: %s", strerror(errno));
}

int d3d12_on_open(const struct d3d12_on *o, const struct play_on **on, struct error *e)
{
    char name[PATH_MAX + 16];
    bool dll = o->library && is_dll(o->library);

    *on = NULL;
    if (o->where == D3D12_ON_WINE && o->library && !dll && !access(o->library, F_OK))
        return error_set(e, -EBADMSG, "%s is no library of Windows", o->library);
    if (o->where != D3D12_ON_WINE && !dll) {
        if (o->library && with_folder_of(o->library, e))
            return e->code;
        *on = play_on_library(o->library, e);
        return *on ? 0 : e->code;
    }
    if (!d3d12_windows)
        return start_wine(e);
    if (dll && o->library[0] != '/') {
        char real[PATH_MAX];

        if (!realpath(o->library, real))
            return error_set(e, -errno, "%s: %s", o->library, strerror(errno));
        snprintf(name, sizeof(name), "\\\\?\\unix%s", real);
    } else {
        snprintf(name, sizeof(name), "%s%s", dll ? "\\\\?\\unix" : "", o->library ? o->library : "");
    }
    *on = play_on_windows(d3d12_windows, o->library ? name : NULL, e);
    return *on ? 0 : e->code;
}
