/* SPDX-License-Identifier: MIT */
/* api_test.c: a whole recorder for an API that is a table and its thunks: recorded, read, printed, exported, compared, edited.
 * The recorded program is this one: api_test --program KIND. */
#include "test.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <pthread.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "alloc_fail.h"
#include "record/collect.h"
#include "record/edit/diff.h"
#include "record/dirty/dirty.h"
#include "record/export.h"
#include "record/rec_enc.h"
#include "record/show.h"
#include "record/edit/trace_edit.h"
#include "record/edit/trace_minimize.h"
#include "temp_dir.h"
#include "toy_api.h"

enum {
    MANY = 500, /* threads at once: more than there are chunks at first */
    LEFT_S = 60,
};

/* ---- the API, and the thunks that record it ------------------------------ */

struct thing {
    uint32_t refs, lines;
};

static struct thing *make(int method, int iface, struct thing *self, uint32_t style)
{
    struct rec_thread *t = rec_enter();
    struct thing *made;

    rec_begin(t, self ? rec_object_find(self) : NULL, (uint32_t)method, REC_MODE_LATE);
    if (self)
        enc_u32(&t->enc, style);
    rec_args_done(t, (uint32_t)method, REC_ANSWER);
    made = calloc(1, sizeof(*made)); /* what the API does */
    made->refs = 1;
    rec_result(t, REC_MODE_LATE);
    enc_var(&t->enc, rec_object_add(made, (uint16_t)iface, NULL)->id);
    rec_result_done(t);
    return made;
}

static void set_name(struct thing *self, const char *name)
{
    struct rec_thread *t = rec_enter();

    do {
        rec_begin(t, rec_object_find(self), TOY_SetName, REC_MODE_TICKET);
        enc_str(&t->enc, name);
    } while (rec_args_done(t, TOY_SetName, REC_NO_ANSWER));
}

static void line(struct thing *pen, size_t n, const float (*points)[2], uint64_t paper)
{
    struct rec_thread *t = rec_enter();
    struct enc *e = &t->enc;

    rec_memory_scan(t);
    do {
        rec_begin(t, rec_object_find(pen), TOY_Line, REC_MODE_TICKET);
        for (size_t i = 0, num = enc_count(e, points, n); i < num && enc_room(e); i++) {
            enc_f32(e, points[i][0]);
            enc_f32(e, points[i][1]);
        }
        enc_count(e, points, 2);
        enc_var(e, 7);
        enc_f32(e, 8);
        enc_f32(e, 9);
        enc_var(e, 1);
        enc_f32(e, 0.5f);
        enc_va(e, paper);
    } while (rec_args_done(t, TOY_Line, REC_NO_ANSWER));
    pen->lines++;
}

static void number(int method, struct thing *self, uint32_t answer)
{
    struct rec_thread *t = rec_enter();
    int mode = method == TOY_Count ? REC_MODE_LATE : REC_MODE_TICKET;

    rec_begin(t, rec_object_find(self), (uint32_t)method, mode);
    rec_args_done(t, (uint32_t)method, REC_ANSWER);
    if (answer == UINT32_MAX)
        raise(SIGSEGV);
    rec_result(t, mode);
    enc_u32(&t->enc, answer);
    rec_result_done(t);
}

static void turn(struct thing *desk)
{
    struct rec_thread *t = rec_enter();

    rec_begin(t, rec_object_find(desk), TOY_Turn, REC_MODE_TICKET);
    rec_args_done(t, TOY_Turn, REC_NO_ANSWER);
    atomic_fetch_add(&rec_shm->frame, 1);
}

/* ---- the program --------------------------------------------------------- */

static bool paper(struct rec_thread *t, struct rec_object *o, struct rec_mapping *m)
{
    *m = (struct rec_mapping){.size = 8192, .kind = REC_MEMORY_WRITTEN};
    return true;
}

static int drawing(const char *kind)
{
    static const float points[3][2] = {{1, 2}, {3, 4}, {5, 6.5f}};
    static const float many[100000][2];
    uint8_t *map = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    struct thing *desk, *pen, *other;
    struct rec_thread *t;

    if (rec_start(&toy_api))
        return 9;
    if (!strcmp(kind, "nowhere"))
        alloc_fail_arm(1); /* behind the thread's own memory */
    t = rec_enter();
    if (!strcmp(kind, "nowhere") && !alloc_fail_disarm())
        return 8;
    desk = make(TOY_Open, TOY_IFACE_Desk, NULL, 0);
    pen = make(TOY_NewPen, TOY_IFACE_Pen, desk, 3);
    set_name(pen, "the \"blue\" one");
    rec_range_add(REC_VA, 0x10000, 0x100, rec_object_find(desk)->id, 1);
    line(pen, 2, points, 0x10010);
    turn(desk);
    other = make(TOY_NewPen, TOY_IFACE_Pen, desk, 0);
    rec_memory_map(t, rec_object_find(desk), 0, map, NULL, paper);
    memcpy(map + 4100, "written by the program", 22);
    if (!strcmp(kind, "narrow"))
        alloc_fail_arm(0);
    line(other, 3, points, 0x77777);
    if (!strcmp(kind, "narrow") && !alloc_fail_disarm())
        return 8;
    if (!strcmp(kind, "other"))
        line(other, 1, points, 0);
    number(TOY_Count, other, other->lines);
    turn(desk);
    number(TOY_Release, other, 0);
    line(pen, 100000, many, 0);
    if (!strcmp(kind, "dies"))
        number(TOY_Count, pen, UINT32_MAX);
    turn(desk);
    return 0;
}

/* Without memory for a thread it is none that is recorded, and lives on. */
static int without_thread(void)
{
    if (rec_start(&toy_api))
        return 9;
    alloc_fail_arm(0);
    return rec_enter() || !alloc_fail_disarm() || rec_enter() ? 8 : 0;
}

static void *one_of_many(void *gate)
{
    number(TOY_Count, make(TOY_Open, TOY_IFACE_Desk, NULL, 0), 1);
    pthread_barrier_wait(gate); /* no thread ends before all have made their calls */
    return NULL;
}

static int threads(void)
{
    static pthread_t t[MANY];
    pthread_barrier_t gate;

    if (rec_start(&toy_api))
        return 9;
    pthread_barrier_init(&gate, NULL, MANY);
    for (int i = 0; i < MANY; i++)
        pthread_create(&t[i], NULL, one_of_many, &gate);
    for (int i = 0; i < MANY; i++)
        pthread_join(t[i], NULL);
    return 0;
}

/* A program that writes over what it shares: a chunk's kind becomes another. */
static int destroying(uint32_t kind)
{
    int r = drawing("plain");

    for (uint32_t i = 0; i < rec_shm->num_chunks; i++)
        if (rec_shm->chunks[i].state != SHM_FREE)
            rec_shm->chunks[i].kind = kind;
    return r;
}

/* Shortens what it shares to so many bytes. */
static int shortening(size_t size)
{
    if (drawing("plain") || truncate(getenv(SHM_ENV), (off_t)size))
        return 9;
    _exit(0);
}

static void give_up(int sig)
{
    const char *left = getenv("AEROGPU_TEST_LEFT");

    close(open(left, O_WRONLY | O_CREAT, 0600));
    _exit(1);
}

/* Leaves processes behind that fill chunks for as long as anybody writes them down, at most LEFT_S seconds: with what does not
 * compress, so that they are filled faster than written. */
static int leaving(void)
{
    const char *path = getenv(SHM_ENV);

    if (drawing("plain"))
        return 9;
    for (uint32_t i = 0; i < SHM_STEP; i++)
        for (size_t at = 0; at < TRC_CHUNK; at += 256)
            getrandom(rec_chunk_bytes(i) + at, 256, 0);
    if (fork())
        return 0;
    fork();
    fork();
    signal(SIGALRM, give_up);
    alarm(LEFT_S);
    while (!access(path, F_OK))
        for (uint32_t i = 0; i < 100 * SHM_STEP; i++) {
            struct shm_chunk *c = &rec_shm->chunks[i % SHM_STEP];

            c->kind = TRC_BLOBS;
            c->committed = TRC_CHUNK;
            c->state = SHM_FULL;
        }
    _exit(0);
}

/* A record that does not fit behind others is a blob, of which a chunk of blobs is not full; small ones go on until theirs is, and in the
 * file; then the recorder is killed, and two threads go on: they are not kept waiting by a recorder that is gone, though they fill
 * more than there is; and the program ends in the middle, or stays until the test looked at its recording. */
static void *go_on(void *pen)
{
    for (unsigned i = 0; i < 1000; i++)
        set_name(pen, "behind it");
    return NULL;
}

static void kill_recorder(bool stays)
{
    static float points[15000][2];
    pthread_t other;
    struct thing *pen;
    char pid[16];
    bool full = true;

    if (rec_start(&toy_api))
        return;
    pen = make(TOY_NewPen, TOY_IFACE_Pen, make(TOY_Open, TOY_IFACE_Desk, NULL, 0), 0);
    for (unsigned i = 0; i < 60000; i++) {
        char name[16];

        if (i == 20000)
            line(pen, 15000, points, 0);
        snprintf(name, sizeof(name), "%u", i);
        set_name(pen, name);
    }
    while (full) {
        full = false;
        for (uint32_t i = 0; i < atomic_load(&rec_shm->num_chunks); i++)
            full = full || atomic_load(&rec_shm->chunks[i].state) == SHM_FULL;
        usleep(1000);
    }
    kill(atoi(getenv("AEROGPU_TEST_RECORDER")), SIGKILL);
    while (!shm_is_left(rec_shm))
        usleep(1000);
    pthread_create(&other, NULL, go_on, pen);
    pthread_join(other, NULL);
    go_on(pen);
    if (!stays) {
        for (unsigned i = 0; i < SHM_STEP; i++) /* none is left for those that follow */
            atomic_store(&rec_shm->chunks[i].state,
                         rec_shm->chunks[i].state == SHM_FREE ? SHM_OPEN : rec_shm->chunks[i].state);
        for (unsigned i = 0; i < 100; i++)
            line(pen, 3000, points, 0);
        number(TOY_Count, pen, UINT32_MAX); /* crashes */
    }
    snprintf(pid, sizeof(pid), "%d", getpid());
    if (symlink(pid, getenv("AEROGPU_TEST_LEFT")))
        _exit(1);
    alarm(LEFT_S);
    pause();
}

static int program(const char *kind)
{
    signal(SIGSEGV, SIG_DFL); /* a sanitizer's handler would exit */
    if (!strncmp(kind, "kind ", 5))
        return destroying((uint32_t)strtoul(kind + 5, NULL, 10));
    if (!strncmp(kind, "short ", 6))
        return shortening(strtoul(kind + 6, NULL, 10));
    if (!strncmp(kind, "kills", 5))
        kill_recorder(kind[5]);
    if (!strcmp(kind, "leaves"))
        return leaving();
    if (!strcmp(kind, "no thread"))
        return without_thread();
    if (!strcmp(kind, "threads"))
        return threads();
    return drawing(kind);
}
/* ---- recordings ---------------------------------------------------------- */

static char program_path[PATH_MAX];

/* The recorder as a program: 0, or why not on standard error. */
static int record_alone(const char *path)
{
    char *argv[] = {(char[]){"/proc/self/exe"}, (char[]){"--program"}, (char[]){"plain"}, NULL};
    struct collect_params p = {
        .api = &toy_api, .output = path, .argv = argv, .dirty_method = DIRTY_HASH, .last_frame = UINT32_MAX};
    struct collect_result r;
    struct error e = {0};

    if (!collect_run(&p, &r, &e))
        return r.status != 0;
    fprintf(stderr, "%s\n", e.text);
    return 1;
}

static const char *record(const char *kind)
{
    static char path[3][100];
    static int n;
    char *argv[] = {(char[]){"/proc/self/exe"}, (char[]){"--program"}, NULL, NULL};
    struct collect_params p = {
        .api = &toy_api, .argv = argv, .dirty_method = DIRTY_HASH, .last_frame = UINT32_MAX};
    struct collect_result r;
    struct error e = {0};

    argv[2] = strdup(kind);
    snprintf(path[n = (n + 1) % 3], sizeof(path[0]), "%s/%s", dir, kind);
    p.output = path[n];
    if (collect_run(&p, &r, &e))
        fail_msg("%s", e.text);
    if (!strcmp(kind, "dies"))
        assert_int_equal(WTERMSIG(r.status), SIGSEGV);
    else
        assert_int_equal(WEXITSTATUS(r.status), 0);
    free(argv[2]);
    return path[n];
}

static struct trc *reopen(const char *path)
{
    struct error e = {0};
    struct trc *t;

    if (trc_open(&t, &toy_api, path, &e))
        fail_msg("%s", e.text);
    return t;
}

static void assert_prints(struct trc *t, const char *const *want, size_t n)
{
    struct names names = {0};
    struct strbuf b = {0};
    struct trc_call c;

    assert_int_equal(names_read(&names, t, NULL), 0);
    for (size_t i = 0; i < n; i++) {
        assert_int_equal(trc_next(t, &c, NULL), 1);
        strbuf_clear(&b);
        show_call(&b, SHOW_TEXT, t, &c, &names);
        if (strstr(want[i], "{x=0, y=0}, ..."))
            assert_memory_equal(strbuf_str(&b), want[i], strstr(want[i], "...") - want[i]);
        else
            assert_string_equal(strbuf_str(&b), want[i]);
    }
    assert_int_equal(trc_next(t, &c, NULL), 0);
    trc_rewind(t);
    strbuf_finish(&b);
    names_finish(&names);
}

#define LINE_END "extras=[{x=8, y=9}, 0.5], paper="

static const char *const calls[] = {
    "0 @1 Open() -> return=Desk#2",
    "1 @1 Desk#2.NewPen(style=TOY_DASHED | TOY_RED) -> return=Pen#3\"the \\\"blue\\\" one\"",
    "2 @1 Pen#3\"the \\\"blue\\\" one\".SetName(name=\"the \\\"blue\\\" one\")",
    "3 @1 Pen#3\"the \\\"blue\\\" one\".Line(points=[{x=1, y=2}, {x=3, y=4}], " LINE_END "Desk#2+0x10)",
    "4 @1 Desk#2.Turn()",
    "5 @1 Desk#2.NewPen(style=0x0) -> return=Pen#4",
    "6 @1 MemoryWrite(thing=Desk#2, part=0, offset=4096, bytes=4096 bytes "
    "000000007772697474656e206279207468652070726f6772616d000000000000..., size=4096)",
    "7 @1 Pen#4.Line(points=[{x=1, y=2}, {x=3, y=4}, {x=5, y=6.5}], " LINE_END "0x77777)",
    "8 @1 Pen#4.Count() -> return=1",
    "9 @1 Desk#2.Turn()",
    "10 @1 Pen#4.Release() -> return=0",
    "11 @1 Pen#3\"the \\\"blue\\\" one\".Line(points=[{x=0, y=0}, ...",
    "12 @1 Desk#2.Turn()",
};
enum { NUM_CALLS = sizeof(calls) / sizeof(calls[0]) };

TEST(calls_are_recorded_and_printed_by_the_table)
{
    struct trc *t = reopen(record("plain"));
    struct names names = {0};

    assert_prints(t, calls, NUM_CALLS);
    assert_int_equal(names_read(&names, t, NULL), 0);
    assert_int_equal(names_get(&names, 4)->iface, TOY_IFACE_Pen);
    assert_int_equal(names_get(&names, 4)->died, 10);
    names_finish(&names);
    trc_close(t);
}

/* What changed cannot be told without memory for a copy: all of the page is written. */
TEST(without_memory_for_a_copy_what_is_written_is_recorded_whole)
{
    struct trc *t = reopen(record("narrow"));

    assert_prints(t, calls, NUM_CALLS);
    trc_close(t);
}

/* A process of 32 bits may have no room for what a thread needs. */
TEST(a_program_without_room_for_a_thread_lives_on_unrecorded)
{
    struct trc *t = reopen(record("nowhere"));
    struct trc_call c;

    while (trc_next(t, &c, NULL) > 0)
        assert_int_not_equal(c.method, TOY_Open);
    trc_close(t);
    t = reopen(record("no thread"));
    assert_int_equal(trc_next(t, &c, NULL), 0);
    trc_close(t);
}

TEST(the_other_api_is_refused_by_name)
{
    struct api other = toy_api;
    struct error e = {0};
    struct trc *t;

    other.name = "other";
    other.magic = "OTHERAPI";
    assert_int_equal(trc_open(&t, &other, record("plain"), &e), -EBADMSG);
    assert_non_null(strstr(e.text, "not a other recording: it does not begin with OTHERAPI"));
}

TEST(a_program_that_dies_is_recorded_up_to_the_call)
{
    const char *want[NUM_CALLS];
    struct trc *t = reopen(record("dies"));

    memcpy(want, calls, sizeof(want));
    want[12] = "12 @1 Pen#3\"the \\\"blue\\\" one\".Count() did not return";
    assert_prints(t, want, NUM_CALLS);
    assert_int_equal(trc_features(t) & TRC_DIED, TRC_DIED);
    trc_close(t);
}

TEST(json_is_json)
{
    struct trc *t = reopen(record("plain"));
    struct names names = {0};
    struct strbuf b = {0};
    struct trc_call c;
    json_t *o;

    assert_int_equal(names_read(&names, t, NULL), 0);
    for (int i = 0; i < NUM_CALLS; i++) {
        assert_int_equal(trc_next(t, &c, NULL), 1);
        strbuf_clear(&b);
        show_call(&b, SHOW_JSON, t, &c, &names);
        assert_non_null(o = json_loads(strbuf_str(&b), 0, NULL));
        assert_int_equal(json_integer_value(json_object_get(o, "frame")), i < 5 ? 0 : i < 10 ? 1 : 2);
        json_decref(o);
    }
    strbuf_finish(&b);
    names_finish(&names);
    trc_close(t);
}

TEST(exports_are_made)
{
    struct trc *t = reopen(record("plain"));
    struct names names = {0};
    struct error e = {0};
    char path[120];
    json_t *o;

    assert_int_equal(names_read(&names, t, NULL), 0);
    snprintf(path, sizeof(path), "%s/x.json", dir);
    assert_int_equal(export_perfetto(t, &names, path, &e), 0);
    assert_non_null(
        o = json_load_file(path, 0, NULL)); /* 3 frames and their marks, 3 lines, and the name of a row */
    assert_int_equal(json_array_size(json_object_get(o, "traceEvents")), 3 + 3 + 3 + 1);
    json_decref(o);
    snprintf(path, sizeof(path), "%s/x.sqlite", dir);
    assert_int_equal(export_sqlite(t, &names, path, &e), 0);
    snprintf(path, sizeof(path), "%s/x.html", dir);
    assert_int_equal(export_html(t, &names, &(struct export_page){0}, path, &e), 0);
    names_finish(&names);
    trc_close(t);
}

static off_t size_of(const char *path)
{
    struct stat st;

    return stat(path, &st) ? -1 : st.st_size;
}

/* Who is ended in the middle of an export leaves what was there. */
TEST(exports_that_are_ended_leave_what_was_there)
{
    int (*const all[])(struct trc *, const struct names *, const char *, struct error *) = {export_sqlite,
                                                                                            export_perfetto};
    struct trc *t = reopen(record("plain"));
    struct names names = {0};
    char path[120];

    assert_int_equal(names_read(&names, t, NULL), 0);
    for (size_t i = 0; i < 2; i++) {
        struct error e = {0};
        int status = 0;
        off_t size;
        pid_t pid;

        snprintf(path, sizeof(path), "%s/ended-%zu", dir, i);
        assert_int_equal(all[i](t, &names, path, &e), 0);
        size = size_of(path);
        assert_true(size > 16);
        if (!(pid = fork())) {
            setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
            setrlimit(RLIMIT_FSIZE, &(struct rlimit){16, 16}); /* SIGXFSZ at the first bytes behind that */
            all[i](t, &names, path, &e);
            _exit(0);
        }
        assert_int_equal(waitpid(pid, &status, 0), pid);
        assert_true(WIFSIGNALED(status));
        assert_int_equal(size_of(path), size);
    }
    names_finish(&names);
    trc_close(t);
}

TEST(recordings_are_compared)
{
    struct trc *a = reopen(record("plain")), *b = reopen(record("other"));
    struct diff_result r;
    size_t n = 0;
    char *text = NULL;
    FILE *out = open_memstream(&text, &n);

    assert_int_equal(diff_run(out, a, b, 0, &r, NULL), 0);
    fclose(out);
    assert_int_equal(r.only_a, 0);
    assert_int_equal(r.only_b, 1);
    assert_string_equal(text, "+ 8 @1 Pen#4.Line(points=[{x=1, y=2}], " LINE_END "0x0)\n");
    free(text);
    trc_close(a);
    trc_close(b);
}

/* A copy without one frame: the calls of the others, with their blobs. */
TEST(recordings_are_edited)
{
    struct trc *t = reopen(record("plain"));
    struct trc_editor *ed;
    struct error e = {0};
    const char *want[NUM_CALLS];
    char path[120], text[NUM_CALLS][400];
    struct trc_call c;
    size_t n = 0;

    snprintf(path, sizeof(path), "%s/cut", dir);
    assert_int_equal(trc_edit_create(&ed, t, path, json_pack("{s:b}", "cut", true), &e), 0);
    while (trc_next(t, &c, &e) > 0)
        if (c.frame != 1) {
            assert_int_equal(trc_edit_copy(ed, &c, &e), 0);
            snprintf(text[n], sizeof(text[n]), "%zu %s", n, strchr(calls[c.index], '@'));
            want[n] = text[n];
            n++;
        }
    assert_int_equal(trc_edit_finish(ed, true, &e), 0);
    trc_close(t);
    t = reopen(path);
    want[5] = "5 @1 #4.Release() -> return=0"; /* what made it was in that frame */
    assert_prints(t, want, n);
    assert_non_null(strstr(trc_meta(t), "\"cut\":true"));
    trc_close(t);
}

static __attribute__((noinline)) void crash_elsewhere(void)
{
    raise(SIGFPE);
    __asm__ volatile("");
}

/* A player of the toy: a line of the second pen crashes it, and if the program wrote into the desk before at another place. */
static enum trc_outcome play_toy(struct trc *t, const struct trc_try *how)
{
    bool written = false;
    struct trc_call c;

    while (trc_next(t, &c, NULL) > 0) {
        if (!how->keep[c.index])
            continue;
        *how->progress = (struct trc_progress){.index = c.index, .method = c.method};
        written |= c.method == TOY_MemoryWrite;
        if (written && c.method == TOY_Line && c.self == 4)
            raise(SIGFPE);
        else if (c.method == TOY_Line && c.self == 4)
            crash_elsewhere();
    }
    return TRC_PLAYED;
}

static enum trc_outcome play_well(struct trc *t, const struct trc_try *how)
{
    return TRC_PLAYED;
}

TEST(recordings_are_minimized)
{
    static const char *const want[] = {
        "0 @1 Open() -> return=Desk#2", "1 @1 Desk#2.NewPen(style=0x0) -> return=Pen#4",
        "2 @1 MemoryWrite(thing=Desk#2, part=0, offset=4096, bytes=4096 bytes "
        "000000007772697474656e206279207468652070726f6772616d000000000000..., size=4096)",
        "3 @1 Pen#4.Line(points=[{x=1, y=2}, {x=3, y=4}, {x=5, y=6.5}], " LINE_END "0x77777)"};
    struct trc_minimize_params p = {.play = play_toy};
    struct trc *t = reopen(record("plain"));
    struct trc_minimize_result r;
    struct error e = {0};
    char path[120];

    snprintf(path, sizeof(path), "%s/small", dir);
    assert_int_equal(trc_minimize(t, path, &p, &r, &e), 0);
    assert_int_equal(r.signal, SIGFPE);
    assert_int_equal(r.method, TOY_Line);
    assert_memory_equal(r.place, "record_api_test+0x", 18);
    assert_int_equal(r.calls_before, NUM_CALLS);
    assert_int_equal(r.calls, 4);
    p.play = play_well;
    assert_int_equal(trc_minimize(t, path, &p, &r, &e), -EAGAIN);
    assert_string_equal(e.text, "the recording plays to its end without a failure");
    trc_close(t);
    t = reopen(path);
    assert_prints(t, want, 4);
    trc_close(t);
}

/* Every thread holds a chunk as long as it lives. */
TEST(many_threads_are_recorded)
{
    struct trc *t = reopen(record("threads"));
    struct trc_call c;
    unsigned opened = 0, counted = 0;

    while (trc_next(t, &c, NULL) > 0) {
        opened += c.method == TOY_Open;
        counted += c.method == TOY_Count && !c.incomplete;
    }
    assert_int_equal(opened, MANY);
    assert_int_equal(counted, MANY);
    trc_close(t);
}

/* Two recorders on one file: the second says so, and the first one's is whole. */
TEST(a_file_is_written_by_one)
{
    const char *path = record("plain");
    struct collect_params p = {.api = &toy_api,
                               .output = path,
                               .argv = (char *[]){(char[]){"/bin/true"}, NULL},
                               .last_frame = UINT32_MAX};
    int fd = open(path, O_RDONLY);
    struct collect_result r;
    struct error e = {0};

    assert_int_equal(flock(fd, LOCK_EX), 0);
    assert_int_equal(collect_run(&p, &r, &e), -EBUSY);
    assert_non_null(strstr(e.text, "plain: another recording is being written to it"));
    close(fd);
    trc_close(reopen(path));
}

/* Runs program `kind`, which kills its recorder. */
static void record_killed(const char *kind, char path[100])
{
    pid_t pid = fork();
    int status;

    snprintf(path, 100, "%s/%s", dir, kind);
    if (!pid) {
        char self[16];

        snprintf(self, sizeof(self), "%d", getpid());
        setenv("AEROGPU_TEST_RECORDER", self, 1);
        record(kind);
        _exit(1);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    if (!WIFSIGNALED(status) || WTERMSIG(status) != SIGKILL)
        fail_msg("the recorder ended with %#x", status);
}

static uint64_t calls_of(struct trc *t, struct trc_call *last)
{
    struct error e = {0};
    uint64_t num = 0;
    int got;

    while ((got = trc_next(t, last, &e)) > 0)
        num++;
    if (got)
        fail_msg("%llu calls, then: %s", (unsigned long long)num, e.text);
    return num;
}

enum { KILLS_CALLS = 2 + 60000 + 1 + 2000 }; /* what they made before their end */

/* What the recorder had in the file alone: what calls mean by a number is there in front of them. Then what it had not: all that
 * every thread called, and that the last call did not return. */
TEST(a_killed_recorder_loses_nothing)
{
    char path[100], copy[110], command[300];
    struct trc_call c;
    struct trc *t;
    int status;

    prctl(PR_SET_CHILD_SUBREAPER, 1);
    record_killed("kills", path);
    while (waitpid(-1, &status, 0) > 0) /* the program */
        assert_int_equal(WTERMSIG(status), SIGSEGV);
    snprintf(copy, sizeof(copy), "%s.copy", path);
    snprintf(command, sizeof(command), "cp %s %s", path, copy);
    assert_int_equal(system(command), 0);
    t = reopen(copy); /* another file: nothing belongs to it */
    assert_string_not_equal(trc_cut(t), "");
    if (calls_of(t, &c) <= 20003) /* up to the one that is a blob */
        fail_msg("too few calls");
    trc_close(t);
    for (int i = 0; i < 2; i++) {
        t = reopen(path);
        assert_string_equal(trc_cut(t), "");
        assert_int_equal(trc_verify(t, NULL), 0);
        assert_true(calls_of(t, &c) >= KILLS_CALLS + 1);
        trc_close(t);
    }
}

/* The program lives on: its calls up to now are in the file of its killed recorder when the next one starts. */
TEST(the_next_recorder_completes_what_a_killed_one_left)
{
    char path[100], left[100], pid[16];
    struct trc_call c;
    struct trc *t;
    ssize_t n = -1;

    prctl(PR_SET_CHILD_SUBREAPER, 1);
    snprintf(left, sizeof(left), "%s/ready", dir);
    setenv("AEROGPU_TEST_LEFT", left, 1);
    record_killed("kills live", path);
    for (int i = 0; i < 100 * LEFT_S && (n = readlink(left, pid, sizeof(pid) - 1)) < 0; i++)
        usleep(10000);
    assert_true(n > 0);
    pid[n] = '\0';
    unlink(left);
    record("plain");
    t = reopen(path);
    assert_string_equal(trc_cut(t), "");
    assert_int_equal(calls_of(t, &c), KILLS_CALLS);
    assert_false(c.incomplete);
    trc_close(t);
    kill(atoi(pid), SIGKILL);
    waitpid(atoi(pid), NULL, 0);
}

/* Kinds that there are not, the container's own, and one that would be another in eight bits: none gets into the file. */
TEST(a_chunk_of_no_kind_is_refused)
{
    static const char *const kinds[] = {"kind 0", "kind 3", "kind 255", "kind 257"};

    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        char path[100];
        struct collect_params p = {.api = &toy_api,
                                   .output = path,
                                   .argv = (char *[]){(char[]){"/proc/self/exe"}, (char[]){"--program"},
                                                      (char *)(uintptr_t)kinds[i], NULL},
                                   .dirty_method = DIRTY_HASH,
                                   .last_frame = UINT32_MAX};
        struct collect_result r;
        struct error e = {0};
        struct trc *t;

        snprintf(path, sizeof(path), "%s/%s", dir, kinds[i]);
        assert_int_equal(collect_run(&p, &r, &e), -EBADMSG);
        assert_non_null(strstr(e.text, "the program destroyed the shared memory"));
        assert_non_null(strstr(e.text, kinds[i]));
        t = reopen(path);
        assert_string_equal(trc_cut(t), "");
        for (uint32_t k = 0; k < trc_num_blocks(t); k++)
            assert_int_equal(trc_block(t, k)->kind, TRC_BLOBS);
        trc_close(t);
    }
}

/* All of it, or what is behind the chunks' states: the collector lives, and says it. */
TEST(shortened_shared_memory_is_no_crash)
{
    const size_t sizes[] = {0, SHM_DATA};

    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        char path[100], kind[40];
        struct collect_params p = {
            .api = &toy_api,
            .output = path,
            .argv = (char *[]){(char[]){"/proc/self/exe"}, (char[]){"--program"}, kind, NULL},
            .dirty_method = DIRTY_HASH,
            .last_frame = UINT32_MAX};
        struct collect_result r;
        struct error e = {0};

        snprintf(path, sizeof(path), "%s/short", dir);
        snprintf(kind, sizeof(kind), "short %zu", sizes[i]);
        assert_int_equal(collect_run(&p, &r, &e), -EBADMSG);
        assert_string_equal(e.text, "the program destroyed the shared memory: its file was shortened");
        assert_int_equal(r.status, 0);
        trc_close(reopen(path));
    }
}

TEST(who_is_left_behind_does_not_keep_a_recording_open)
{
    char left[100]; /* who gives up first says so */

    snprintf(left, sizeof(left), "%s/left", dir);
    setenv("AEROGPU_TEST_LEFT", left, 1);
    record("leaves");
    assert_int_equal(access(left, F_OK), -1);
}

/* Without room in /dev/shm the memory is elsewhere; without any, that is said before the program runs. */
TEST(small_shared_memory_is_no_crash)
{
    char command[2 * PATH_MAX + 600];

    if (system("unshare -Urm true 2>/dev/null")) {
        print_message("no mount namespace of our own here: skipped\n");
        skip();
    }
    snprintf(
        command, sizeof(command),
        "unshare -Urm sh -c 'mount -t tmpfs -o size=1m none /dev/shm && exec %s --record %s/small' 2>%s/said",
        program_path, dir, dir);
    assert_int_equal(system(command), 0);
    snprintf(command, sizeof(command), "%s/small", dir);
    trc_close(reopen(command));
    snprintf(
        command, sizeof(command),
        "unshare -Urm sh -c 'exec 3<%s && mount -t tmpfs -o size=1m none /dev/shm && mount -t tmpfs -o size=1m none /tmp"
        " && exec /proc/self/fd/3 --record /tmp/none' 2>&1 | grep -q 'No space left'",
        program_path); /* by descriptor: it may lie in /tmp */
    assert_int_equal(system(command), 0);
}

TEST_GROUP(make_dir, remove_dir);

int main(int argc, char **argv)
{
    if (argc == 3 && !strcmp(argv[1], "--program"))
        return program(argv[2]);
    if (argc == 3 && !strcmp(argv[1], "--record"))
        return record_alone(argv[2]);
    if (!realpath("/proc/self/exe", program_path))
        return 1;
    return test_run();
}
