/* SPDX-License-Identifier: MIT */
/* collect.c: the collector (collect.h). It polls the bell in shared memory, writes full chunks, and, when the last
 * process that recorded is gone, what the others hold: however the program ended, nothing it recorded is lost. */
#include "record/collect.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <limits.h>
#include <linux/futex.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/check.h"
#include "base/file/out.h"
#include "base/file/shared.h"
#include "base/log.h"
#include "base/program.h"
#include "record/collect_memory.h"
#include "record/salvage.h"
#include "record/shm.h"
#include "record/trace_file.h"

/* The file with the memory, in the first folder that has room for it. */
static int shm_file(struct collect_memory *m)
{
    int err = 0;

    for (int i = 0; i < SALVAGE_FOLDERS; i++) {
        snprintf(m->path, sizeof(m->path), "%s/" SALVAGE_NAME "XXXXXX", salvage_folders[i]);
        m->fd = mkostemp(m->path, O_CLOEXEC);
        if (m->fd < 0) {
            err = -errno;
            continue;
        }
        if (!flock(m->fd, LOCK_EX) && !ftruncate(m->fd, SHM_SIZE) && !collect_memory_reserve(m, SHM_STEP))
            return 0;
        err = -errno;
        unlink(m->path);
        close(m->fd);
        m->fd = -1;
    }
    return err;
}

/* The kernel writes into `collector` when this thread ends, in whatever way: it looks at a list of ours for where. The list is no memory
 * that the program could write to. */
static struct {
    struct robust_list_head head, *before;
    struct robust_list at;
    size_t size;
} robust;

static void hold_collector(struct shm *s)
{
    atomic_store(&s->collector, (uint32_t)gettid());
    robust.at.next = &robust.head.list;
    robust.head = (struct robust_list_head){{&robust.at}, (char *)&s->collector - (char *)&robust.at, NULL};
    syscall(SYS_get_robust_list, 0, &robust.before, &robust.size);
    syscall(SYS_set_robust_list, &robust.head, sizeof(robust.head));
}

static void let_collector_go(void)
{
    syscall(SYS_set_robust_list, robust.before, robust.size);
}

static int shm_make(struct collect_memory *m, const struct collect_params *p, struct error *e)
{
    struct timespec ts;
    struct shm *s;
    int err;

    salvage_all(p->api);
    if ((err = shm_file(m)))
        return error_set(e, err, "cannot make the shared memory %s: %s", m->path, strerror(-err));
    s = m->shm = mmap(NULL, SHM_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, m->fd, 0);
    if (s == MAP_FAILED) {
        err = -errno;
        unlink(m->path);
        close(m->fd);
        return error_set(e, err, "cannot map the shared memory: %s", strerror(-err));
    }
    shared_guard(s, SHM_SIZE); /* the program may open it by its name */
    clock_gettime(CLOCK_MONOTONIC, &ts);
    s->schema = p->api->schema;
    s->num_chunks = SHM_STEP;
    s->chunk_size = TRC_CHUNK;
    s->hash_every = p->hash_every;
    s->dirty_method = p->dirty_method;
    s->start_ns = (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
    s->magic = SHM_MAGIC;
    hold_collector(s);
    return 0;
}

/* Who the file is, for whoever finds the memory after we were killed. */
static void name_output(struct shm *s, const char *path)
{
    struct stat st;

    if (stat(path, &st) || !realpath(path, s->output))
        return;
    s->output_device = st.st_dev;
    s->output_file = st.st_ino;
}

/* Somebody records: what stood there goes. */
static int begin(struct trc_writer *w, struct shm *s, const char *path, struct error *e)
{
    int err;

    if (trc_writer_size(w) || !atomic_load(&s->threads))
        return 0;
    if (!(err = trc_writer_begin(w, e)))
        name_output(s, path);
    return err;
}

/* Returns whether the program had shortened it. */
static bool shm_finish(struct collect_memory *m)
{
    bool is_cut = shared_unguard(m->shm);

    let_collector_go();

    unlink(m->path);
    close(m->fd);
    munmap(m->shm, SHM_SIZE);
    free(m->copy);
    return is_cut;
}

static char *make_meta(const struct collect_params *p)
{
    json_t *o = json_object(), *args = json_array();
    struct utsname u = {0};
    char when[40];
    time_t now = time(NULL);
    char *text;

    for (char *const *a = p->argv; *a; a++)
        json_array_append_new(args, json_string(*a));
    uname(&u);
    strftime(when, sizeof(when), "%Y-%m-%dT%H:%M:%SZ", gmtime(&now));
    json_object_set_new(o, "command", args);
    json_object_set_new(o, "system", json_sprintf("%s %s %s", u.sysname, u.release, u.machine));
    json_object_set_new(o, "started", json_string(when));
    json_object_set_new(o, "by", json_string("aerogpu " AEROGPU_VERSION));
    json_object_set_new(o, "hash_every", json_integer(p->hash_every));
    text = json_dumps(o, JSON_COMPACT);
    json_decref(o);
    return text;
}

static volatile sig_atomic_t recorded; /* the program, for the handler */

/* The program is to end, and its recording to be completed. From a terminal it gets the signal as well; what was sent to the
 * recorder alone is passed on. One that does not obey (Wine's programs with a window take no SIGINT) is ended by the second, and
 * killed by the third; signals that come together, as timeout(1) sends them, are one. */
static void pass_on(int sig, siginfo_t *info, void *context)
{
    static volatile sig_atomic_t asked, last;
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    if (!asked || now.tv_sec - last >= 2)
        asked++;
    last = (sig_atomic_t)now.tv_sec;
    if (recorded > 0 && (asked > 1 || info->si_code <= 0))
        kill((pid_t)recorded, asked == 1 ? sig : asked == 2 ? SIGTERM : SIGKILL);
}

static void catch_signals(void)
{
    struct sigaction a = {.sa_sigaction = pass_on, .sa_flags = SA_SIGINFO | SA_RESTART};

    sigaction(SIGINT, &a, NULL);
    sigaction(SIGTERM, &a, NULL);
}

struct start {
    const struct collect_params *p;
    const char *shm;
    char *preload;
};

/* In the child. */
static void prepare(void *ctx)
{
    const struct start *s = ctx;

    signal(SIGINT, SIG_DFL); /* whoever started the recorder may have had it ignored */
    signal(SIGTERM, SIG_DFL);
    if (s->p->preload)
        setenv("LD_PRELOAD", s->preload, 1);
    if (s->p->environment)
        s->p->environment(s->p->ctx);
    setenv(SHM_ENV, s->shm, 1);
}

static pid_t spawn(const struct collect_params *p, const char *shm_path, struct error *e)
{
    char *const *argv = p->run ? p->run : p->argv;
    const char *old = getenv("LD_PRELOAD");
    struct start s = {p, shm_path, NULL};
    pid_t pid;

    if (asprintf(&s.preload, "%s%s%s", p->preload ? p->preload : "", old && *old ? ":" : "", old ? old : "") <
        0)
        return error_set(e, -ENOMEM, "out of memory");
    pid = program_start(argv, prepare, &s);
    free(s.preload);
    return pid < 0 ? error_set(e, (int)pid, "cannot run %s: %s", argv[0], strerror(-(int)pid)) : pid;
}

static bool crashed(int status, int crash_status)
{
    int sig = WIFSIGNALED(status) ? WTERMSIG(status) : 0;

    return sig == SIGSEGV || sig == SIGBUS || sig == SIGABRT || sig == SIGFPE || sig == SIGILL ||
           (crash_status && WIFEXITED(status) && WEXITSTATUS(status) == crash_status);
}

/* Its file cannot be written any more: that is no reason to end the program. It is our child, and we are whom signals reach. */
static void go_on_without(struct shm *s, pid_t pid, int *status, const struct error *e)
{
    atomic_store(&s->collector_gone, 1);
    log_error("record", "%s; the program goes on, unrecorded", e->text);
    while (waitpid(pid, status, 0) < 0 && errno == EINTR)
        ;
    recorded = 0;
}

int collect_run(const struct collect_params *p, struct collect_result *r, struct error *e)
{
    struct timespec tick = {.tv_nsec = 5000000};
    struct trc_writer *w = NULL;
    struct collect_sink to = {.last_frame = p->last_frame};
    struct collect_memory m = {0};
    struct stat st;
    struct shm *s;
    char *meta;
    pid_t pid;
    int err;

    *r = (struct collect_result){0};
    if ((err = shm_make(&m, p, e)))
        return err;
    s = m.shm;
    meta = make_meta(p);
    err = meta ? trc_writer_create(&w, p->api, p->output, meta, e) : -ENOMEM;
    free(meta);
    if (err)
        goto out;
    to.w = w;
    if (trc_writer_size(w))
        name_output(s, p->output);
    catch_signals();
    recorded = pid = spawn(p, m.path, e);
    if (pid < 0) {
        err = (int)pid;
        goto out;
    }
    for (;;) {
        uint32_t bell = atomic_load(&s->bell);
        pid_t got;

        if ((err = begin(w, s, p->output, e)) || (err = collect_memory_drain(&m, &to, e))) {
            go_on_without(s, pid, &r->status, e);
            break;
        }
        collect_memory_grow(&m);
        got = waitpid(pid, &r->status, WNOHANG);
        if (got == pid) {
            recorded = 0;
            break;
        }
        syscall(SYS_futex, &s->bell, FUTEX_WAIT, bell, &tick, NULL, 0);
    }
    atomic_store(&s->collector_gone, 1);
    if (!err)
        err = collect_memory_drain_open(&m, &to, true, e);
    r->blocks = to.blocks;
    r->frames = atomic_load(&s->frame);
    r->objects = atomic_load(&s->objects);
    r->threads = atomic_load(&s->threads);
    r->lost = atomic_load(&s->lost);
out:
    r->nothing =
        !r->threads && !r->lost && s->magic == SHM_MAGIC; /* else the program destroyed what says so */
    if (w && r->nothing) { /* of nothing no file is made, and what stood there stays */
        trc_writer_abandon(w);
    } else if (w) {
        int end;

        trc_writer_features(w, TRC_FEATURES_KNOWN | atomic_load(&s->features) |
                                   (crashed(r->status, p->crash_status) ? TRC_DIED : 0));
        end = trc_writer_finish(w, e);

        if (!end && !stat(p->output, &st))
            r->bytes = (uint64_t)st.st_size;
        err = err ? err : end;
    }
    if (shm_finish(&m) && !err)
        err = error_set(e, -EBADMSG, "the program destroyed the shared memory: its file was shortened");
    return err;
}
