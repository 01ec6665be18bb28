/* SPDX-License-Identifier: MIT */
/* aerogpu minimize: the smallest recording that still crashes the same way.
 *
 *   recording ──▶ crashes? remember how ──▶ what the culprit depends on ──▶ submissions ──▶ packets ──▶ bindings ──┐
 *                                                            ▲───────── again while a binding went ◀───────────────┤
 *                                                                                  SMALL ◀── check ◀── bytes ◀─────┘
 *
 * Each candidate is played in an executor of its own, several at a time. Answers go to SMALL.progress, so that a run that was
 * broken off goes on where it was: candidates are known by a hash of what they are.
 *
 * "The same way" is: the same cause, at the very packet that it was at first, with the same shaders bound (if these are compute
 * shaders for a dispatch, all others for a draw) and something in the same of their slots, so that a loop that ended by a buffer does
 * not become one that never ends for want of it; for a refusal, the same words without their numbers; for a page fault, the same kind
 * of address, of the same buffer, and a null pointer is another kind than an address that comes from nowhere. Which packet it is
 * decides between crashes that look alike: what is left out makes handles unknown and constants zero elsewhere. */
#include "commands.h"
#include "file_kinds.h"

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/ddmin.h"
#include "base/log.h"
#include "base/file/out.h"
#include "base/utf8.h"
#include "minimize/crash_run.h"
#include "minimize/dump_file.h"
#include "minimize/progress.h"
#include "minimize/reduce.h"
#include "minimize/replay.h"

enum { MAX_JOBS = 16, NULL_PAGES = 64 << 10, BAR = 24 };

struct minimize {
    const char *input, *output;
    unsigned jobs;
    uint32_t hang_ms;
    bool bytes;
    struct reduce r;
    struct dump_file dump; /* the input, if it is one */
    struct watch_crash wanted;
    struct reduce_place culprit; /* of it; packet UINT32_MAX: nobody knows */

    pthread_mutex_t lock;
    pthread_cond_t changed;
    enum reduce_level level;
    struct ddmin *dd;
    uint32_t things; /* of this level, at its beginning */
    struct progress *progress;
    uint64_t tests, reused;
    struct error failed;
};

static _Atomic int interrupted; /* the workers read it */

static void on_signal(int sig)
{
    interrupted = 1;
}

/* `is`: where the culprit stands in what was played. */
static bool same_way(const struct watch_crash *a, const struct watch_crash *b, const struct reduce_place *is)
{
    if (b->packet != UINT32_MAX && (a->ordinal != is->sub || a->packet != is->packet))
        return false;
    return a->cause == b->cause && !strcmp(a->command, b->command) && !strcmp(a->shaders, b->shaders) &&
           a->in_decoder == b->in_decoder && a->fault_known == b->fault_known &&
           a->no_address == b->no_address && a->bound == b->bound && !strcmp(a->refusal, b->refusal) &&
           (!a->fault_known || (a->fault_kind == b->fault_kind && a->fault_resource == b->fault_resource &&
                                (a->fault_address < NULL_PAGES) == (b->fault_address < NULL_PAGES)));
}

static int run_once(struct minimize *m, const void *data, size_t size, uint32_t hang_ms,
                    struct crash_run_result *out, struct error *e)
{
    struct crash_run_params p = {
        .data = data, .size = size, .markers = EXEC_MARKERS_EXACT, .hang_ms = hang_ms, .errors_count = true};

    return crash_run(&p, out, e);
}

/* ---- candidates ---------------------------------------------------------- */

static void show(struct minimize *m)
{
    static const char *const names[] = {"submissions", "packets", "bindings", "bytes"};
    uint32_t n = ddmin_num_kept(m->dd);

    if (!isatty(STDERR_FILENO))
        return;
    fprintf(stderr, "\r\033[K[");
    for (uint32_t i = 0; i < BAR; i++)
        fputs(i < BAR - BAR * (uint64_t)n / (m->things ? m->things : 1) ? "━" : "·", stderr);
    utf8_print(stderr, "] %s: %" PRIu32 " of %" PRIu32 " left, %" PRIu64 " candidates played",
               names[m->level], n, m->things, m->tests);
    fflush(stderr);
}

static bool try_candidate(struct minimize *m, const uint8_t *keep, struct error *e)
{
    struct crash_run_result result;
    struct reduce_place is = m->culprit;
    struct error full = {0};
    bool still;
    uint64_t hash;
    size_t size;
    void *data;

    if (m->wanted.packet != UINT32_MAX && !reduce_find(&m->r, m->level, keep, &is))
        return false; /* without the culprit it is another bug, if it is one */
    if (reduce_write(&m->r, m->level, keep, &data, &size, e))
        return false;
    hash = XXH3_64bits(data, size);
    if (progress_known(m->progress, hash, &still)) {
        munmap(data, size);
        pthread_mutex_lock(&m->lock);
        m->reused++;
        pthread_mutex_unlock(&m->lock);
        return still;
    }
    still = !run_once(m, data, size, m->hang_ms, &result, e) && result.crashed &&
            same_way(&result.crash, &m->wanted, &is);
    munmap(data, size);
    pthread_mutex_lock(&m->lock);
    m->tests++;
    if (!e->code && progress_add(m->progress, hash, still, &full))
        utf8_print(stderr, "aerogpu minimize: %s\n", full.text);
    pthread_mutex_unlock(&m->lock);
    return still;
}

static void *worker(void *arg)
{
    struct minimize *m = arg;
    struct ddmin_candidate c;
    uint32_t things = reduce_things(&m->r, m->level);
    uint8_t *keep = malloc(things ? things : 1);

    pthread_mutex_lock(&m->lock);
    while (keep && !interrupted && !m->failed.code && !ddmin_is_done(m->dd)) {
        struct error e = {0};
        bool still;

        if (!ddmin_next(m->dd, &c)) {
            pthread_cond_wait(&m->changed, &m->lock);
            continue;
        }
        memcpy(keep, c.keep, things);
        pthread_mutex_unlock(&m->lock);
        still = try_candidate(m, keep, &e);
        pthread_mutex_lock(&m->lock);
        if (e.code && !m->failed.code)
            m->failed = e;
        ddmin_answer(m->dd, c.ticket, still);
        show(m);
        pthread_cond_broadcast(&m->changed);
    }
    pthread_cond_broadcast(&m->changed);
    pthread_mutex_unlock(&m->lock);
    free(keep);
    return NULL;
}

/* One level to its end. Returns whether something went. */
static bool reduce_one_level(struct minimize *m, enum reduce_level level)
{
    pthread_t threads[MAX_JOBS];
    uint32_t n = reduce_things(&m->r, level), started = 0, left = n;

    m->level = level;
    m->things = n;
    m->dd = ddmin_create(n);
    if (!m->dd) {
        error_set(&m->failed, -ENOMEM, "no memory");
        return false;
    }
    for (unsigned i = 0; i < m->jobs; i++)
        started += !pthread_create(&threads[started], NULL, worker, m);
    for (uint32_t i = 0; i < started; i++)
        pthread_join(threads[i], NULL);
    left = ddmin_num_kept(m->dd);
    reduce_apply(&m->r, level, ddmin_current(m->dd));
    ddmin_destroy(m->dd);
    return left != n;
}

/* What handles and state tell: one candidate that often leaves a handful of packets. */
static void try_slice(struct minimize *m)
{
    uint32_t n = reduce_things(&m->r, REDUCE_PACKETS);
    uint8_t *keep = malloc(n ? n : 1);
    struct error e = {0};

    m->level = REDUCE_PACKETS;
    if (keep && m->wanted.packet != UINT32_MAX &&
        reduce_slice(&m->r, m->culprit.sub, m->culprit.packet, keep) && try_candidate(m, keep, &e))
        reduce_apply(&m->r, REDUCE_PACKETS, keep);
    free(keep);
}

/* ---- all of it ----------------------------------------------------------- */

static int find_crash(struct minimize *m, struct error *e)
{
    struct crash_run_result result;
    uint32_t n = reduce_things(&m->r, REDUCE_SUBMISSIONS);
    uint8_t *keep = malloc(n ? n : 1);
    size_t size;
    void *data;
    int r;

    if (!keep)
        return error_set(e, -ENOMEM, "no memory");
    memset(keep, 1, n);
    r = reduce_write(&m->r, REDUCE_SUBMISSIONS, keep, &data, &size, e);
    free(keep);
    if (r)
        return r;
    r = run_once(m, data, size, 2 * m->hang_ms, &result, e);
    munmap(data, size);
    if (r)
        return r;
    if (!result.crashed)
        return error_set(e, -ENOENT, "%s: it does not crash", m->input);
    m->wanted = result.crash;
    m->culprit = (struct reduce_place){result.crash.ordinal, result.crash.packet};
    if (m->dump.recording)
        replay_sentence(&m->dump, &result.crash, m->wanted.text, sizeof(m->wanted.text));
    return 0;
}

static int finish(struct minimize *m, const char *progress_path)
{
    struct crash_run_result result;
    struct error e = {0};
    char notes[500];

    snprintf(notes, sizeof(notes), "minimized: %.400s", m->wanted.text);
    if (reduce_save(&m->r, m->output, notes, &e)) {
        utf8_print(stderr, "aerogpu minimize: %s\n", e.text);
        out_file_discard(m->output);
        return EXIT_ENV;
    }
    if (interrupted || m->failed.code) {
        utf8_print(stderr, "aerogpu minimize: broken off%s%s; the same call goes on from %s\n",
                   m->failed.code ? ": " : "", m->failed.text, progress_path);
        return EXIT_FAILED;
    }
    {
        struct reduce_place is = m->culprit;
        struct crash_run_params p = {.path = m->output,
                                     .markers = EXEC_MARKERS_EXACT,
                                     .hang_ms = 2 * m->hang_ms,
                                     .errors_count = true};

        reduce_find(&m->r, REDUCE_LEVELS, NULL, &is);
        if (crash_run(&p, &result, &e) || !result.crashed || !same_way(&result.crash, &m->wanted, &is)) {
            utf8_print(
                stderr,
                "aerogpu minimize: %s does not crash the same way when it is given more time: raise --hang\n",
                m->output);
            return EXIT_FAILED;
        }
    }
    utf8_print(stdout, "In %s: %s.\n", m->output, result.crash.text);
    utf8_print(stdout,
               "%" PRIu32 " packets are left in %s, after %" PRIu64 " candidates (%" PRIu64
               " known before).\n",
               reduce_packets_left(&m->r), m->output, m->tests, m->reused);
    return EXIT_OK;
}

static int minimize(struct minimize *m)
{
    struct error e = {0};
    char path[4096];
    uint32_t before;
    int code;

    if (find_crash(m, &e)) {
        utf8_print(stderr, "aerogpu minimize: %s\n", e.text);
        return e.code == -ENOENT ? EXIT_FAILED : EXIT_ENV;
    }
    before = reduce_packets_left(&m->r);
    utf8_print(stderr, "%s: %s (%" PRIu32 " packets)\n", m->input, m->wanted.text, before);
    snprintf(path, sizeof(path), "%s.progress", m->output);
    if (progress_open(&m->progress, path, &e))
        utf8_print(stderr, "aerogpu minimize: %s; what is found is not kept\n", e.text);
    pthread_mutex_init(&m->lock, NULL);
    pthread_cond_init(&m->changed, NULL);
    try_slice(m);
    for (bool went = true; went && !interrupted && !m->failed.code;) {
        reduce_one_level(m, REDUCE_SUBMISSIONS);
        reduce_one_level(m, REDUCE_PACKETS);
        if (interrupted || m->failed.code)
            break;
        went = reduce_one_level(m, REDUCE_BINDINGS);
    }
    if (m->bytes && !interrupted && !m->failed.code)
        reduce_one_level(m, REDUCE_BYTES);
    if (isatty(STDERR_FILENO))
        fprintf(stderr, "\r\033[K");
    code = finish(m, path);
    progress_close(m->progress, code == EXIT_OK);
    pthread_cond_destroy(&m->changed);
    pthread_mutex_destroy(&m->lock);
    return code;
}

static int load_input(struct minimize *m, enum file_kind kind, struct error *e)
{
    struct dump_file *d = &m->dump;
    int r;

    if (kind == FILE_TRACE)
        return reduce_load(&m->r, m->input, NULL, 0, e);
    r = dump_file_open(d, m->input, false, e);
    if (r)
        return r;
    r = reduce_load(&m->r, NULL, d->recording, d->recording_size, e);
    if (r)
        dump_file_close(d);
    return r;
}

static struct minimize options = {.hang_ms = 500};
static bool packets_only;
static struct options_row rows[] = {
    OPT_TEXT("output", 'o', &options.output, "SMALL", "the result"),
    OPT_U32("jobs", 0, &options.jobs, 1, UINT32_MAX, "N", "candidates at a time (one per processor)"),
    OPT_U32(
        "hang", 0, &options.hang_ms, 1, MAX_HANG_MS, "MS",
        "no progress for so long is a hang (500); time in which the executor was not let run does not count"),
    OPT_FLAG("packets", 0, &packets_only, "leave out submissions, packets and bindings only, no bytes"),
    OPT_END};

static int run(enum file_kind kind, char *const *files, int num_files)
{
    struct sigaction on_int = {.sa_handler = on_signal, .sa_flags = (int)SA_RESETHAND};
    long cpus = sysconf(_SC_NPROCESSORS_ONLN);
    struct minimize m = options;
    struct error e = {0};
    int code;

    if (!m.output)
        return usage_error("-o SMALL is needed");
    m.input = files[0];
    m.bytes = !packets_only;
    m.jobs = m.jobs ? m.jobs : cpus < 1 ? 1 : (unsigned)cpus;
    m.jobs = m.jobs > MAX_JOBS ? MAX_JOBS : m.jobs;
    if (out_file_check(m.output, &e))
        return command_error(&e);
    if (load_input(&m, kind, &e)) {
        if (kind == FILE_TRACE)
            error_prefix(&e, "%s", m.input);
        return command_error(&e);
    }
    if (!getenv("AEROGPU_LOG"))
        log_set_level(LOG_ERROR); /* executors that die are what this is about */
    sigaction(SIGINT, &on_int, NULL);
    sigaction(SIGTERM, &on_int, NULL);
    code = minimize(&m);
    reduce_finish(&m.r);
    dump_file_close(&m.dump);
    return code;
}

const struct file_action trace_minimize = {
    "recordings of AeroGPU's device (.aerogputrace), and crash dumps that hold one:", rows, run};
