/* SPDX-License-Identifier: MIT */
/* run.c: the program, its processes, and the record that its layer fills in, looked at every few milliseconds.
 *
 * Nothing of it stands in a file system: what is killed leaves nothing behind.
 */
#include "lose/watch.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/check.h"
#include "base/json_write.h"
#include "base/program.h"
#include "layer/env.h"
#include "lose/door.h"
#include "lose/proc.h"
#include "lose/stacks.h"
#include "lose/wine.h"

#define POLL_NS (5 * NSEC_PER_MSEC)
#define SCAN_NS (100 * NSEC_PER_MSEC)
enum { HIGH_FD = 200 }; /* above those that shells and programs give numbers themselves */

#define GRACE_NS (3 * NSEC_PER_SEC) /* between SIGTERM and SIGKILL */

uint64_t run_now(const struct run *r)
{
    return clock_now(&r->clock);
}

/* ---- the record ---------------------------------------------------------- */

static int make_record(struct run *r, struct error *e)
{
    int fd = memfd_create("aerogpu-lose", MFD_CLOEXEC | MFD_ALLOW_SEALING), high, code = 0;
    struct lose_record *m = MAP_FAILED;

    if (fd >= 0 && !fchmod(fd, 0600) && !ftruncate(fd, sizeof(*m)) &&
        !fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL))
        m = mmap(NULL, sizeof(*m), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (m == MAP_FAILED)
        code = -errno;
    high = code ? -1 : fcntl(fd, F_DUPFD_CLOEXEC, HIGH_FD);
    if (fd >= 0 && (code || high >= 0))
        close(fd);
    if (code)
        return error_set(e, code, "no memory for the record: %s", strerror(-code));
    r->record_fd = high >= 0 ? high : fd;
    m->magic = LOSE_MAGIC;
    m->size = sizeof(*m);
    m->how = r->p->how;
    m->reset = r->p->reset;
    m->counts = r->p->calls ? r->p->proof : 0;
    m->at_frame = r->p->at_frame;
    m->at_submit = r->p->at_submit;
    atomic_store(&m->phase, LOSE_START);
    m->hang_ns = r->p->hang_ns;
    m->refuse_ns = r->p->refuse_ns;
    m->left = (int32_t)r->p->times;
    m->stacks = 1;
    m->num_faults = r->p->num_faults;
    if (r->p->validation)
        snprintf(m->words, sizeof(m->words), "/proc/%d/fd/%d", (int)getpid(), r->words.fds[1]);
    for (uint32_t i = 0; i < r->p->num_faults; i++)
        m->fault[i] = r->p->faults[i];
    r->record = m;
    return 0;
}

/* ---- the program --------------------------------------------------------- */

struct entry {
    char **env;
    bool quiet_stdout;
    int record_fd;
};

static void enter(void *ctx)
{
    struct entry *entry = ctx;

    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL); /* nobody is there to end it otherwise */
    fcntl(entry->record_fd, F_SETFD, 0);
    if (entry->quiet_stdout)
        dup2(STDERR_FILENO, STDOUT_FILENO);
    environ = entry->env;
}

enum { VALUES = 11 };

static char *__attribute__((format(printf, 1, 2))) text_of(const char *fmt, ...)
{
    char *text;
    va_list ap;
    int n;

    va_start(ap, fmt);
    n = vasprintf(&text, fmt, ap);
    va_end(ap);
    return n < 0 ? NULL : text;
}

/* What the program would have had, if this is not run by `aerogpu lose` itself. */
static const char *before(const char *kept, const char *name)
{
    const char *value = getenv(kept) ? getenv(kept) : getenv(name);

    return value ? value : "";
}

/* The variable with `item` in front of the list that it has. */
static char *in_front(const char *name, const char *item)
{
    const char *list = getenv(name);

    return text_of("%s=%s%s%s", name, item, list && *list ? ":" : "", list ? list : "");
}

/* Where the program reports, and where GLVND finds the vendor library; what it would have found, that one finds. */
static int compose(const struct run *r, const char *folder, char *values[VALUES])
{
    const char *path = getenv("LD_LIBRARY_PATH");
    char wine[PATH_MAX], drm[PATH_MAX], egl[48] = "";
    int n = 0;

    values[n++] = text_of(LOSE_VARIABLE "=/proc/%d/fd/%d", (int)getpid(), r->record_fd);
    values[n++] = text_of("LD_LIBRARY_PATH=%s%s%s/gl", path ? path : "", path && *path ? ":" : "", folder);
    if (r->egl_fd >= 0)
        snprintf(egl, sizeof(egl), "/proc/%d/fd/%d:", (int)getpid(), r->egl_fd);
    values[n++] = text_of("__EGL_VENDOR_LIBRARY_FILENAMES=%s%s/gl/egl.json", egl, folder);
    values[n++] = text_of("__GLX_VENDOR_LIBRARY_NAME=aerogpu");
    values[n++] = text_of(LOSE_EGL_VENDORS "=%s", before(LOSE_EGL_VENDORS, "__EGL_VENDOR_LIBRARY_FILENAMES"));
    values[n++] = text_of(LOSE_GLX_VENDOR "=%s", before(LOSE_GLX_VENDOR, "__GLX_VENDOR_LIBRARY_NAME"));
    if (wine_folder(folder, wine, sizeof(wine)))
        values[n++] = in_front("PATH", wine);
    for (uint32_t i = 0; i < r->p->num_faults; i++)
        if (*r->p->faults[i].gl == 'D') {
            snprintf(drm, sizeof(drm), "%s/drm/libaerogpu-lose-drm.so", folder);
            values[n++] = in_front("LD_PRELOAD", drm);
            break;
        }
    if (r->words.settings >= 0)
        values[n++] = text_of("VK_LAYER_SETTINGS_PATH=/proc/%d/fd/%d", (int)getpid(), r->words.settings);
    for (uint32_t i = 0; i < r->p->num_faults; i++)
        if (r->p->faults[i].what == LOSE_HIDES) { /* Mesa's layer that sorts devices dies of none (22.3) */
            values[n++] = text_of("NODEVICE_SELECT=1");
            break;
        }
    for (int i = 0; i < n; i++)
        if (!values[i])
            return -ENOMEM;
    return 0;
}

/* The vendor library by its path: who replaces LD_LIBRARY_PATH finds it all the same. Another architecture's program, or who may not open
 * that, goes on to the next in the list. */
static int make_egl(struct run *r)
{
    char library[PATH_MAX + 32];
    struct strbuf text = {0};
    struct json_writer w = json_writer_text(&text);
    int code = 0;

    if (r->p->layers[0] != '/')
        return 0;
    snprintf(library, sizeof(library), "%s/gl/libGLX_aerogpu.so.0", r->p->layers);
    json_write_object(&w, NULL);
    json_write_string(&w, "file_format_version", "1.0.0");
    json_write_object(&w, "ICD");
    json_write_string(&w, "library_path", library);
    json_write_end(&w);
    json_write_end(&w);
    if (strbuf_failed(&text))
        code = -ENOMEM;
    else if ((r->egl_fd = memfd_create("aerogpu-lose-egl", MFD_CLOEXEC)) < 0)
        code = -errno;
    else if (write(r->egl_fd, text.data, text.len) != (ssize_t)text.len)
        code = -ENOSPC;
    strbuf_finish(&text);
    return code;
}

static int start(struct run *r, struct error *e)
{
    char *values[VALUES] = {NULL}, by_number[64], both[1200], *starter, **words;
    struct layer_env layer = {r->p->validation ? WORDS_LAYER ":" LOSE_LAYER : LOSE_LAYER, r->p->layers,
                              (const char *const *)values};
    const char *folder;
    struct entry entry = {.quiet_stdout = r->p->quiet_stdout, .record_fd = r->record_fd};
    pid_t pid;

    if (strchr(r->p->layers, ':')) { /* between two folders of a list */
        r->layers_fd = open(r->p->layers, O_PATH | O_DIRECTORY | O_CLOEXEC);
        if (r->layers_fd < 0)
            return error_set(e, -errno, "%s: %s", r->p->layers, strerror(errno));
        snprintf(by_number, sizeof(by_number), "/proc/%d/fd/%d", (int)getpid(), r->layers_fd);
        layer.folder = by_number;
    }
    folder = layer.folder;
    r->tree.layers = r->p->layers;
    if (r->p->validation) { /* nearer to the program than ours: by its name or by where it is found, as the loader has it */
        snprintf(both, sizeof(both), "%s:%s", r->words.folder, folder);
        layer.folder = both;
    }
    pid = make_egl(r);
    if (pid)
        return error_set(e, pid, "no memory for the name of the vendor library: %s", strerror(-pid));
    entry.env = compose(r, folder, values) ? NULL : layer_env_make(&layer);
    for (int i = 0; i < VALUES; i++)
        free(values[i]);
    if (!entry.env)
        return error_set(e, -ENOMEM, "no memory for the environment");
    pid = wine_words(r->p->argv, r->p->layers, &words, &starter);
    if (!pid)
        pid = program_start(words ? words : r->p->argv, enter, &entry);
    free(words);
    free(starter);
    free(entry.env);
    if (pid < 0)
        return error_set(e, pid, "cannot run %s: %s%s", r->p->argv[0], strerror(-pid),
                         wine_wants(r->p->argv[0]) ? ": it is a program for Windows, and needs Wine" : "");
    tree_start(&r->tree, pid);
    return 0;
}

static void sleep_poll(struct run *r)
{
    words_read(&r->words);
    nanosleep(&(struct timespec){0, POLL_NS}, NULL);
}

static void end_program(struct run *r)
{
    uint64_t limit = run_now(r) + GRACE_NS;

    atomic_store(&r->record->phase, LOSE_SHUTDOWN);
    tree_kill(&r->tree, SIGTERM);
    for (tree_reap(&r->tree); tree_alive(&r->tree) && run_now(r) < limit; tree_reap(&r->tree))
        sleep_poll(r);
    for (int i = 0; i < 100 && (tree_scan(&r->tree), tree_reap(&r->tree), tree_alive(&r->tree)); i++) {
        tree_kill(&r->tree, SIGKILL); /* and whoever they left behind */
        sleep_poll(r);
    }
}

/* ---- watching ------------------------------------------------------------ */

/* Whether this process runs what one with a device runs: it may come to make one. */
static bool runs_the_same(const struct run *r, pid_t pid)
{
    char link[64], path[PATH_MAX];
    ssize_t n;

    snprintf(link, sizeof(link), "/proc/%d/exe", (int)pid);
    n = readlink(link, path, sizeof(path) - 1);
    if (n <= 0)
        return false;
    path[n] = '\0';
    for (uint32_t i = 0; i < r->seen; i++)
        if (!strncmp(r->record->device[i].program, n < LOSE_PATH ? path : path + n - LOSE_PATH + 1,
                     LOSE_PATH))
            return true;
    return false;
}

static bool works(const struct run *r)
{
    for (uint32_t i = 0; i < r->seen; i++) {
        struct tree_process *p =
            tree_find((struct tree *)&r->tree, (pid_t)atomic_load(&r->record->device[i].pid));
        if (p && p->alive)
            return true;
    }
    for (uint32_t i = 0; i < r->tree.num; i++)
        if (r->tree.process[i].alive && runs_the_same(r, r->tree.process[i].pid))
            return true;
    return false;
}

/* The program has ended when all of its processes have, or when those with devices have, and who is left starts no others. */
static void look_who_ended(struct run *r, uint64_t *scanned)
{
    const struct tree_process *top = tree_find(&r->tree, r->tree.top);

    tree_reap(&r->tree);
    if (run_now(r) >= *scanned + SCAN_NS || !top->alive) {
        tree_scan(&r->tree);
        if (!r->seen)
            tree_look(&r->tree, atomic_load(&r->record->instances));
        *scanned = run_now(r);
    }
    if (!top->alive && !r->gone_ns)
        r->gone_ns = run_now(r);
    if (r->gone_ns && works(r))
        r->gone_ns = run_now(r);
    r->ended = r->gone_ns && (!tree_alive(&r->tree) || (r->seen && run_now(r) >= r->gone_ns + NSEC_PER_SEC));
}

/* Who dies waits to be looked at. */
static void look_at_the_dying(struct run *r)
{
    pid_t pid = (pid_t)atomic_load(&r->record->died_pid);

    if (!atomic_load(&r->record->died_of) || atomic_load(&r->record->looked))
        return;
    if (tree_find(&r->tree, pid)) /* not whoever else the record names */
        stacks_print(&r->out->stacks, pid, (pid_t)atomic_load(&r->record->died_tid));
    atomic_store(&r->record->looked, 1);
}

static int compare_calls(const void *a, const void *b)
{
    return strcmp(((const struct lose_calls *)a)->name, ((const struct lose_calls *)b)->name);
}

/* The program may have written anything there. */
static void note_calls(const struct lose_record *m, struct lose_calls out[LOSE_MAX_CALLED])
{
    uint32_t n = 0, gl = atomic_load(&m->num_gl);

    for (uint32_t i = 1; i < LOSE_NUM_CALLS && n < LOSE_MAX_CALLED - 1; i++)
        if (atomic_load(&m->calls[i])) {
            snprintf(out[n].name, LOSE_GL_NAME, "%s", lose_calls[i].name);
            out[n++].calls = atomic_load(&m->calls[i]);
        }
    for (uint32_t i = 0; i < gl && i < LOSE_COUNTED && n < LOSE_MAX_CALLED - 1; i++) {
        memcpy(out[n].name, m->gl[i].name, LOSE_GL_NAME);
        out[n].name[LOSE_GL_NAME - 1] = '\0';
        out[n++].calls = atomic_load(&m->gl[i].calls);
    }
    out[n].name[0] = '\0';
    qsort(out, n, sizeof(*out), compare_calls);
}

static bool is_the_programs(void *ctx, pid_t pid)
{
    struct run *r = ctx;

    tree_scan(&r->tree);
    return tree_find(&r->tree, pid) != NULL;
}

static int watch(struct run *r)
{
    const struct tree_process *top;
    uint64_t scanned = 0;
    pid_t hung, thread;

    for (;;) {
        door_answer(r->door_fd, r->record_fd, is_the_programs, r);
        look_who_ended(r, &scanned); /* before looking: what it did last counts */
        notice(r);
        look_at_the_dying(r);
        if (r->p->stop && *r->p->stop) {
            end_program(r);
            return -EINTR;
        }
        if (r->ended || judge_proven(r) || run_now(r) >= judge_limit(r))
            break;
        if (r->p->on_poll)
            r->p->on_poll(r->p->ctx, judge_work(r), NULL);
        sleep_poll(r);
    }
    r->out->verdict = judge(r);
    r->out->judged_ns = run_now(r) - r->start_ns;
    if ((r->out->verdict == LOSE_HANGS || r->out->verdict == LOSE_STALLS) &&
        judge_hung_process(r, &hung, &thread))
        stacks_print(&r->out->stacks, hung, thread);
    while (r->p->on_poll && !r->ended && !(r->p->stop && *r->p->stop) &&
           !r->p->on_poll(r->p->ctx, judge_work(r), r->out)) {
        door_answer(r->door_fd, r->record_fd, is_the_programs, r);
        look_who_ended(r, &scanned);
        notice(r);
        look_at_the_dying(r);
        sleep_poll(r);
    }
    judge_end(r);
    top = tree_find(&r->tree, r->tree.top);
    if (top->ended && !r->out->signalled) {
        r->out->exited = WIFEXITED(top->status);
        r->out->signalled = WIFSIGNALED(top->status);
        r->out->code = r->out->exited ? WEXITSTATUS(top->status) : WTERMSIG(top->status);
    }
    if (r->out->verdict == LOSE_SURVIVED && r->p->keep)
        while (!r->ended && !(r->p->stop && *r->p->stop)) {
            door_answer(r->door_fd, r->record_fd, is_the_programs, r);
            look_who_ended(r, &scanned);
            sleep_poll(r);
        }
    end_program(r);
    INVARIANT(r->out->verdict < LOSE_VERDICTS);
    INVARIANT(!(r->out->exited && r->out->signalled));
    INVARIANT(r->out->verdict != LOSE_SURVIVED || r->out->num_losses || r->faults_given ||
              (!r->p->times && !r->p->num_faults));
    for (uint32_t i = 0; i < r->p->num_faults; i++)
        r->out->given[i] = atomic_load(&r->record->fault[i].given);
    if (r->p->calls)
        note_calls(r->record, r->p->calls);
    return 0;
}

int lose_run(const struct lose_params *p, struct lose_result *out, struct error *e)
{
    struct run *r = calloc(1, sizeof(*r));
    int code;

    memset(out, 0, sizeof(*out));
    if (!r)
        return error_set(e, -ENOMEM, "no memory");
    INVARIANT(p->num_faults <= LOSE_FAULTS && p->times <= LOSE_DEVICES);
    r->p = p;
    r->out = out;
    clock_init_live(&r->clock);
    r->space = proc_space();
    r->start_ns = run_now(r);
    tree_init(&r->tree);
    r->record_fd = r->layers_fd = r->door_fd = r->egl_fd = -1;
    r->words.settings = r->words.fds[0] = r->words.fds[1] = -1;
    code = p->validation ? words_open(&r->words, &out->words, e) : 0;
    if (!code)
        code = make_record(r, e);
    if (!code) {
        r->door_fd = door_open(getpid(), r->record_fd);
        if (r->door_fd < 0 && r->door_fd != -EADDRINUSE) /* by who has this number in another namespace */
            code = error_set(e, r->door_fd, "no socket for the record: %s", strerror(-r->door_fd));
    }
    if (!code)
        code = start(r, e);
    if (!code)
        code = watch(r);
    if (r->record)
        munmap(r->record, sizeof(*r->record));
    if (r->record_fd >= 0)
        close(r->record_fd);
    if (r->layers_fd >= 0)
        close(r->layers_fd);
    if (r->door_fd >= 0)
        close(r->door_fd);
    if (r->egl_fd >= 0)
        close(r->egl_fd);
    words_read(&r->words);
    words_close(&r->words);
    tree_finish(&r->tree);
    free(r);
    return code;
}
