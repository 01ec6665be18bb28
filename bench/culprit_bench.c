/* SPDX-License-Identifier: MIT */
/* culprit_bench: figure culprit_accuracy. Plants crashes of every kind in culprit_plants.h, lets a driver submit them as a
 * driver does, and compares what the black box says with what was planted, fact by fact: that it went wrong, the command, the
 * cause, the memory. Each is played as it would crash in use (group markers), and where that leaves something open again with
 * exact markers, as `aerogpu play` does.
 *
 *   exact   it says what is true     vague   it does not say, or says that it is one of several and it is
 *   wrong   it suggests something else            lie   it calls something else proven
 *
 * CULPRITS=N plants N crashes in place of one of each kind; behind the first round the machine is busy in every third. The
 * figure is the share of plants all of whose facts are exact; one lie makes it 0. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysinfo.h>
#include <sys/wait.h>
#include <unistd.h>

#include <aerogpu/alloc.h>
#include <aerogpu/ext.h>
#include <aerogpu/pci.h>

#include "base/log.h"
#include "bench.h"
#include "culprit_plants.h"
#include "machine/driver.h"
#include "thousand.h"
#include "watch/watch.h"

enum { HANG_MS = 700, NEVER_MS = 60000, TIMES = 10, SPACE = 2 << 20, SPACES = 12, TABLE = 4096 };

enum fact { CRASHED, COMMAND, CAUSE, MEMORY, FACTS };
enum outcome { EXACT, VAGUE, WRONG, LIE, OUTCOMES };

static const char *const facts[FACTS] = {"crashed", "command", "cause", "memory"};

/* ---- a machine that one plant is played on ------------------------------- */

struct run {
    struct machine *machine;
    struct driver *driver;
    struct watch *watch;
    uint64_t space, table, bad; /* bad: fence */
    uint32_t submissions;
    struct watch_crash crash; /* the first */
    _Atomic int crashed;
    char group[256]; /* control group that it was put into, "" for none */
    pid_t tracer;    /* of its executor, 0: none */
    const char *cannot;
};

static void on_found(void *ctx, const struct watch_crash *crash, const char *path, const struct error *e)
{
    struct run *r = ctx;

    if (r->crashed)
        return;
    r->crash = *crash;
    r->crashed = 1;
}

static void put_table(struct run *r)
{
    const struct aerogpu_alloc_entry entry = {
        .alloc_id = CULPRIT_NOWHERE, .gpa = UINT64_C(1) << 40, .size_bytes = 4096};
    const struct aerogpu_alloc_table_header header = {.magic = AEROGPU_ALLOC_TABLE_MAGIC,
                                                      .abi_version = AEROGPU_ABI_VERSION_U32,
                                                      .size_bytes = sizeof(header) + sizeof(entry),
                                                      .entry_count = 1,
                                                      .entry_stride_bytes = sizeof(entry)};
    uint8_t *at = driver_ptr(r->driver, r->table);

    memcpy(at, &header, sizeof(header));
    memcpy(at + sizeof(header), &entry, sizeof(entry));
}

static void open_run(struct run *r, enum exec_markers markers, uint32_t hang_ms)
{
    struct error e = {0};

    *r = (struct run){0};
    check(machine_create(
              &r->machine,
              &(struct machine_params){.kind = MACHINE_LIVE, .markers = markers, .addresses = true}, &e),
          "machine", &e);
    check(machine_wait_ready(r->machine, 60000, &e), "executor", &e);
    check(driver_create(&r->driver, &(struct driver_params){.machine = r->machine}, &e), "driver", &e);
    check(watch_create(
              &r->watch,
              &(struct watch_params){
                  .machine = r->machine, .hang_ms = hang_ms, .all_errors = true, .found = on_found, .ctx = r},
              &e),
          "black box", &e);
    r->space = driver_alloc(r->driver, (uint64_t)SPACES * SPACE, 4096);
    r->table = driver_alloc(r->driver, TABLE, 4096);
    check(r->space && r->table ? 0 : -ENOMEM, "guest memory", NULL);
    put_table(r);
}

static void end_tracer(struct run *r)
{
    if (!r->tracer)
        return;
    kill(r->tracer, SIGKILL);
    waitpid(r->tracer, NULL, 0);
    r->tracer = 0;
}

static void close_run(struct run *r)
{
    end_tracer(r);
    watch_destroy(r->watch);
    driver_destroy(r->driver);
    machine_destroy(r->machine);
    if (r->group[0])
        rmdir(r->group);
}

static uint64_t submit(struct run *r, struct culprit *c, uint32_t context)
{
    struct driver_submission s = {.alloc_gpa = r->table,
                                  .alloc_size = sizeof(struct aerogpu_alloc_table_header) +
                                                sizeof(struct aerogpu_alloc_entry),
                                  .context_id = context,
                                  .cmd_gpa = r->space + (uint64_t)SPACE * (r->submissions++ % SPACES)};
    const void *bytes = abi_builder_end(&c->b, &s.cmd_size);
    uint64_t fence;

    check(s.cmd_size <= SPACE ? 0 : -E2BIG, "stream", NULL);
    memcpy(driver_ptr(r->driver, s.cmd_gpa), bytes, s.cmd_size);
    abi_builder_reset(&c->b);
    check(driver_submit(r->driver, &s, &fence), "submit", NULL);
    return fence;
}

static void wait_for(struct run *r, uint64_t fence)
{
    check(driver_wait(r->driver, fence, 60 * NSEC_PER_SEC), "wait", NULL);
}

/* ---- what is done from outside ------------------------------------------- */

static bool is_at_work(struct run *r, struct exec_progress *p)
{
    if (!machine_progress(r->machine, p))
        return false;
    for (int i = 0; i < EXEC_PROGRESS_SLOTS; i++)
        if (p->slots[i].state == EXEC_PROGRESS_QUEUED && p->slots[i].top > exec_progress_bottom(&p->slots[i]))
            return true;
    return false;
}

static void await_work(struct run *r)
{
    struct exec_progress *p = calloc(1, sizeof(*p));

    for (int i = 0; p && i < 2000 && !is_at_work(r, p); i++)
        usleep(5000);
    free(p);
}

static bool put(const char *folder, const char *file, const char *text)
{
    char path[512];
    ssize_t n;
    int fd;

    snprintf(path, sizeof(path), "%s/%s", folder, file);
    fd = open(path, O_WRONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    n = write(fd, text, strlen(text));
    close(fd);
    return n == (ssize_t)strlen(text);
}

/* A control group of this name for the executor: of version 2, else of version 1 with that controller. */
static bool enter_group(struct run *r, const char *controller)
{
    char text[24];

    snprintf(r->group, sizeof(r->group), "/sys/fs/cgroup/culprit-%d", (int)getpid());
    if (access("/sys/fs/cgroup/cgroup.controllers", F_OK))
        snprintf(r->group, sizeof(r->group), "/sys/fs/cgroup/%s/culprit-%d", controller, (int)getpid());
    snprintf(text, sizeof(text), "%d", machine_executor_pid(r->machine));
    if ((mkdir(r->group, 0755) && errno != EEXIST) || !put(r->group, "cgroup.procs", text)) {
        r->group[0] = '\0';
        return false;
    }
    return true;
}

/* Less than it has, so that the next page that it touches is one too many. */
static bool take_memory(struct run *r)
{
    return enter_group(r, "memory") &&
           (put(r->group, "memory.max", "8388608") || put(r->group, "memory.limit_in_bytes", "8388608"));
}

/* What a signal says of itself is up to who sends it with sigqueue(). */
static void send_signal(struct culprit *c, int pid)
{
    siginfo_t si = {.si_signo = c->signal, .si_code = SI_QUEUE};

    switch (c->kind) {
    case CULPRIT_SIGNAL_THREAD:
        syscall(SYS_tgkill, pid, pid, c->signal);
        break;
    case CULPRIT_SIGNAL_FORGED:
    case CULPRIT_SIGNAL_TIMER:
        si.si_code = c->kind == CULPRIT_SIGNAL_TIMER ? SI_TIMER : SI_QUEUE;
        si.si_pid = pid;
        syscall(SYS_rt_sigqueueinfo, pid, c->signal, &si);
        break;
    case CULPRIT_SIGNAL_QUEUED:
        sigqueue(pid, c->signal, (union sigval){.sival_int = 7});
        break;
    case CULPRIT_SIGNAL_HARMLESS:
        kill(pid, SIGWINCH);
        kill(pid, SIGURG);
        kill(pid, SIGCONT);
        break;
    default:
        kill(pid, c->signal);
    }
}

/* Held by a process that traces all its threads, as debuggers do; or the first only. 0 where that is not possible. */
static pid_t trace(int pid, bool all)
{
    pid_t tracer = fork();
    struct dirent *ent;
    char path[64];
    int status;
    DIR *d;

    if (tracer)
        return tracer > 0 ? tracer : 0;
    snprintf(path, sizeof(path), "/proc/%d/task", pid);
    d = opendir(path);
    while (d && (ent = readdir(d))) {
        const int tid = atoi(ent->d_name);
        if (tid > 0 && (all || tid == pid) && !ptrace(PTRACE_SEIZE, tid, NULL, NULL) &&
            !ptrace(PTRACE_INTERRUPT, tid, NULL, NULL))
            waitpid(tid, &status, __WALL);
    }
    pause();
    _exit(0);
}

/* A signal to its first thread, that says what a page fault would. */
static const char *make_up(int pid)
{
    siginfo_t si = {.si_signo = SIGSEGV, .si_code = SEGV_MAPERR};
    int status = 0;
    bool done;

    si.si_addr = (void *)0x7f0012345678;
    if (ptrace(PTRACE_SEIZE, pid, NULL, NULL))
        return "no process can be traced here";
    syscall(SYS_tgkill, pid, pid, SIGSEGV);
    while (waitpid(pid, &status, __WALL) == pid && WIFSTOPPED(status) && WSTOPSIG(status) != SIGSEGV)
        ptrace(PTRACE_CONT, pid, NULL, WSTOPSIG(status));
    done = !ptrace(PTRACE_SETSIGINFO, pid, NULL, &si);
    ptrace(PTRACE_DETACH, pid, NULL, SIGSEGV);
    return done ? NULL : "a debugger may not change signals here";
}

static void do_from_outside(struct run *r, struct culprit *c)
{
    const int pid = machine_executor_pid(r->machine);
    const bool stops = c->desc->cause == BB_CAUSE_STOPPED;

    if (!(c->desc->is & IS_FINE))
        await_work(r);
    usleep((useconds_t)(rng_next(&c->rng) % 50000));
    if (c->kind == CULPRIT_OOM_KILLER) {
        if (!take_memory(r))
            r->cannot = "no control group limits memory here";
        for (uint32_t i = 0; i < 8; i++) /* it makes them zero at once */
            ABI_EMIT(&c->b, CREATE_BUFFER, create_buffer, .buffer_handle = 3000 + i, .size_bytes = 16 << 20);
        submit(r, c, 7);
        return;
    }
    if (c->kind == CULPRIT_FROZEN) {
        if (!enter_group(r, "freezer") ||
            !(put(r->group, "cgroup.freeze", "1") || put(r->group, "freezer.state", "FROZEN")))
            r->cannot = "no control group can be frozen here";
    } else if (c->kind == CULPRIT_THROTTLED) {
        if (!enter_group(r, "cpu") ||
            !(put(r->group, "cpu.max", "1000 100000") || put(r->group, "cpu.cfs_quota_us", "1000")))
            r->cannot = "no control group limits processors here";
    } else if (c->kind == CULPRIT_TRACED || c->kind == CULPRIT_HANG_TRACED) {
        r->tracer = trace(pid, c->kind == CULPRIT_TRACED);
        r->cannot = r->tracer ? NULL : "no process can be started";
    } else if (c->kind == CULPRIT_STOPPED_SHORTLY) {
        kill(pid, SIGSTOP);
        usleep(HANG_MS * 600);
        kill(pid, SIGCONT);
    } else if (c->kind == CULPRIT_SIGNAL_MADE_UP) {
        r->cannot = make_up(pid);
    } else if (stops) {
        kill(pid, SIGSTOP);
    } else {
        send_signal(c, pid);
    }
    if (!stops)
        return;
    usleep(3 * HANG_MS * 1000);
    driver_reset(r->driver); /* as a system does that has waited long enough */
    watch_settle(r->watch);
    if (r->group[0] && !put(r->group, "cgroup.freeze", "0"))
        put(r->group, "freezer.state", "THAWED");
    kill(pid, SIGCONT);
    end_tracer(r);
}

/* ---- one plant ----------------------------------------------------------- */

/* It goes wrong, is found, and all begins anew. */
static void recover(struct run *r, struct culprit *c)
{
    culprit_first(c);
    submit(r, c, 1);
    for (int i = 0; i < 1000 && !r->crashed; i++)
        usleep(20000);
    watch_settle(r->watch);
    check(machine_wait_ready(r->machine, 60000, NULL), "another executor", NULL);
    if (!r->crashed)
        r->cannot = "what goes first did not go wrong";
    r->crashed = 0;
    culprit_objects(c);
    wait_for(r, submit(r, c, 1));
}

static void play(struct run *r, struct culprit *c, enum exec_markers markers, uint32_t hang_ms)
{
    const uint32_t is = c->desc->is, context = is & IS_SECOND ? 2 : 1;
    uint64_t limit, last;

    open_run(r, markers, hang_ms);
    culprit_objects(c);
    wait_for(r, submit(r, c, 1));
    if (is & IS_AGAIN)
        recover(r, c);
    for (uint32_t i = 3; i < 22 && c->kind == CULPRIT_HANG_MANY_CONTEXTS; i++) {
        culprit_good(c);
        wait_for(r, submit(r, c, i));
    }
    for (uint32_t i = 0; i < 600 && c->kind == CULPRIT_HANG_RING_WRAPPED; i++) {
        ABI_EMIT(&c->b, NOP, nop, .hdr = {0});
        last = submit(r, c, 1);
        if (i % 8 == 7)
            wait_for(r, last);
    }
    for (uint32_t i = 1; i < 3 && c->kind == CULPRIT_HANG_SAME_REGIONS; i++) {
        ABI_EMIT_TAIL(&c->b, EXT_PUSH_MARKER, ext_push_marker, "frame", 5, .hdr = {0});
        ABI_EMIT_TAIL(&c->b, EXT_PUSH_MARKER, ext_push_marker, "shadows", 7, .hdr = {0});
        for (int k = 0; k < 3 && i == 1; k++) /* one too many */
            ABI_EMIT(&c->b, EXT_POP_MARKER, ext_pop_marker, .hdr = {0});
        wait_for(r, submit(r, c, i));
    }
    if (c->kind == CULPRIT_HANG_DESTROYED_CONTEXT) {
        ABI_EMIT_TAIL(&c->b, EXT_PUSH_MARKER, ext_push_marker, "of the one before", 17, .hdr = {0});
        culprit_good(c);
        wait_for(r, submit(r, c, context));
        ABI_EMIT(&c->b, EXT_DESTROY_CONTEXT, ext_destroy_context, .context_id = context);
        wait_for(r, submit(r, c, 1));
    }
    culprit_good(c);
    wait_for(r, submit(r, c, 1));
    for (int i = 0; i < 2 && is & IS_AHEAD; i++) {
        culprit_good(c);
        submit(r, c, 1);
    }
    culprit_bad(c);
    last = r->bad = submit(r, c, context);
    for (int i = 0; i < 2 && is & IS_BEHIND; i++) {
        culprit_behind(c);
        last = submit(r, c, 1);
    }
    if (is & IS_OUTSIDE)
        do_from_outside(r, c);
    limit = machine_now(r->machine) + (WATCH_HANG_TIMES * HANG_MS * 2 + 30000ull) * NSEC_PER_MSEC;
    while (!r->cannot && !r->crashed && machine_now(r->machine) < limit &&
           driver_wait(r->driver, last, NSEC_PER_SEC / 20))
        ;
    watch_settle(r->watch);
    close_run(r);
}

/* ---- what it said -------------------------------------------------------- */

static bool is_from_outside(const struct culprit *c)
{
    return bb_cause_desc(c->desc->cause)->kind == BB_KIND_OUTSIDE;
}

static enum outcome judge_command(const struct culprit *c, const struct run *r)
{
    const struct watch_crash *x = &r->crash;
    const bool there = x->fence == r->bad,
               right = there && (x->packet == c->packet || c->packet == UINT32_MAX);

    if (c->kind == CULPRIT_HANG_SAME_REGIONS && strcmp(x->path, "frame/shadows") != 0)
        return WRONG;
    if (is_from_outside(c))
        return x->which == BB_SURE_PROVEN ? LIE : EXACT;
    if (x->which == BB_SURE_PROVEN)
        return right ? EXACT : LIE;
    if (!x->candidates || (there && x->packet <= c->packet) || strstr(x->unseen, "had begun as well"))
        return VAGUE;
    return WRONG;
}

static enum outcome judge_cause(const struct culprit *c, const struct run *r)
{
    if (r->crash.cause == c->desc->cause)
        return EXACT;
    return r->crash.why == BB_SURE_PROVEN ? LIE : c->desc->is & IS_SLOW ? VAGUE : WRONG;
}

/* The owner of an address is a guess: to call it proven is a lie where it is not the one, and where nobody can know. */
static enum outcome judge_memory(const struct culprit *c, const struct run *r)
{
    const struct watch_crash *x = &r->crash;
    bool right;

    if (c->desc->cause != BB_CAUSE_PAGE_FAULT)
        return x->has_fault ? WRONG : EXACT;
    if (c->no_address)
        return x->no_address ? EXACT : WRONG;
    if (c->kind == CULPRIT_COPIED_POINTER && strstr(x->text, "not of the one that lies there"))
        return LIE;
    if ((c->kind == CULPRIT_REUSED_POINTER || c->kind == CULPRIT_BEYOND_IMPORTED) &&
        strstr(x->text, "What is bound"))
        return LIE;
    right = x->has_fault && x->fault_kind == c->fault && (!c->resource || x->fault_resource == c->resource) &&
            (!c->distance || x->fault_distance == c->distance);
    return right ? EXACT : x->whose == BB_SURE_PROVEN ? LIE : WRONG;
}

static void judge(const struct culprit *c, const struct run *r, enum outcome out[FACTS])
{
    const bool slow = c->desc->is & (IS_SLOW | IS_FINE);

    for (int f = 0; f < FACTS; f++)
        out[f] = slow ? EXACT : VAGUE;
    out[CRASHED] = r->crashed == !slow ? EXACT : slow ? VAGUE : WRONG;
    if (!r->crashed)
        return;
    out[CAUSE] = judge_cause(c, r);
    out[COMMAND] = slow ? (r->crash.why == BB_SURE_PROVEN ? LIE : VAGUE) : judge_command(c, r);
    out[MEMORY] = judge_memory(c, r);
}

/* ---- all of them --------------------------------------------------------- */

struct tally {
    unsigned planted, exact, lies, cannot;
    unsigned guilty, certain; /* something is to be said of them; that is proven */
    unsigned of[CULPRIT_NUM_KINDS][FACTS][OUTCOMES];
};

static bool is_all_exact(const enum outcome o[FACTS])
{
    for (int f = 0; f < FACTS; f++)
        if (o[f] != EXACT)
            return false;
    return true;
}

static void complain(const struct culprit *c, uint64_t seed, enum exec_markers markers, const struct run *r,
                     const enum outcome o[FACTS])
{
    static const char *const words[OUTCOMES] = {"exact", "vague", "wrong", "LIE"};

    fprintf(stderr, "seed %llu, %s (signal %d, %u draws), %s markers:", (unsigned long long)seed,
            c->desc->name, c->signal, c->draws, markers == EXEC_MARKERS_EXACT ? "exact" : "group");
    for (int f = 0; f < FACTS; f++)
        if (o[f] != EXACT)
            fprintf(stderr, " %s %s", facts[f], words[o[f]]);
    fprintf(stderr, "; planted fence %llu packet %u, said: %s\n", (unsigned long long)r->bad, c->packet,
            r->crashed ? r->crash.text : "nothing crashed");
}

/* Something else than time ends it. */
static bool ends(const struct culprit *c)
{
    return c->desc->cause == BB_CAUSE_KILLED || c->desc->cause == BB_CAUSE_HOST_MEMORY;
}

/* What is to be said of it is called proven: the command, or of what came from outside that it did. */
static bool is_certain(const struct culprit *c, const struct run *r)
{
    return r->crashed && (is_from_outside(c) ? r->crash.why : r->crash.which) == BB_SURE_PROVEN;
}

static double pixel_s, group_s; /* of a shader that does not end: calibrated */

static void one(uint64_t seed, struct tally *t)
{
    const enum culprit_kind kind = (enum culprit_kind)(seed % CULPRIT_NUM_KINDS);
    enum outcome best[FACTS] = {LIE, LIE, LIE, LIE}, worst = EXACT;
    bool guilty = false, certain = false;
    struct run r = {0};

    for (int pass = 0; pass < 2; pass++) {
        const enum exec_markers markers = pass ? EXEC_MARKERS_EXACT : EXEC_MARKERS_GROUPS;
        enum outcome o[FACTS];
        struct culprit c;

        culprit_init(&c, kind, seed);
        c.pixel_s = pixel_s;
        c.group_s = group_s;
        c.seconds = 2e-3 * HANG_MS;
        play(&r, &c, markers,
             ends(&c)                                 ? NEVER_MS
             : pass && c.desc->cause != BB_CAUSE_HANG ? TIMES * HANG_MS /* as it is played again */
                                                      : HANG_MS);
        judge(&c, &r, o);
        guilty = !(c.desc->is & (IS_SLOW | IS_FINE));
        certain |= guilty && is_certain(&c, &r);
        for (int f = 0; f < FACTS; f++) {
            if (o[f] == LIE)
                worst = LIE;
            if (o[f] < best[f])
                best[f] = o[f];
        }
        if (!r.cannot && (worst == LIE || (pass && !is_all_exact(best))))
            complain(&c, seed, markers, &r, worst == LIE ? o : best);
        culprit_finish(&c);
        if (r.cannot || worst == LIE || is_all_exact(best))
            break;
    }
    if (r.cannot) {
        fprintf(stderr, "seed %llu, %s: %s\n", (unsigned long long)seed, culprit_kinds[kind].name, r.cannot);
        t->cannot++;
        return;
    }
    t->planted++;
    t->guilty += guilty;
    t->certain += certain;
    t->lies += worst == LIE;
    t->exact += worst != LIE && is_all_exact(best);
    for (int f = 0; f < FACTS; f++)
        t->of[kind][f][best[f]]++;
}

static void calibrate(void)
{
    const float side = 64; /* one processor's */
    struct culprit c;
    uint64_t start;
    struct run r;

    culprit_init(&c, CULPRIT_SLOW, 1);
    open_run(&r, EXEC_MARKERS_GROUPS, NEVER_MS);
    culprit_objects(&c);
    wait_for(&r, submit(&r, &c, 1));
    for (int i = 0; i < 2; i++) { /* the first is compiled besides */
        culprit_endless(&c, side);
        start = machine_now(r.machine);
        wait_for(&r, submit(&r, &c, 1));
        pixel_s = (double)(machine_now(r.machine) - start) / 1e9 / (side * side) / get_nprocs();
        culprit_spin(&c, 100);
        start = machine_now(r.machine);
        wait_for(&r, submit(&r, &c, 1));
        group_s = (double)(machine_now(r.machine) - start) / 1e9 / 100;
    }
    close_run(&r);
    culprit_finish(&c);
}

static void print_table(const struct tally *t)
{
    fprintf(stderr, "%-24s", "exact/vague/wrong/lie");
    for (int f = 0; f < FACTS; f++)
        fprintf(stderr, " %13s", facts[f]);
    fprintf(stderr, "\n");
    for (int k = 0; k < CULPRIT_NUM_KINDS; k++) {
        const unsigned *any = t->of[k][CRASHED];

        if (!(any[EXACT] + any[VAGUE] + any[WRONG] + any[LIE]))
            continue;
        fprintf(stderr, "%-24s", culprit_kinds[k].name);
        for (int f = 0; f < FACTS; f++) {
            char text[40];
            const unsigned *n = t->of[k][f];

            snprintf(text, sizeof(text), "%u/%u/%u/%u", n[EXACT], n[VAGUE], n[WRONG], n[LIE]);
            fprintf(stderr, " %13s", text);
        }
        fprintf(stderr, "\n");
    }
}

static _Atomic bool busy_enough;

static void *spin(void *arg)
{
    while (!busy_enough)
        ;
    return NULL;
}

/* Others want the processors as well. */
static void one_under_load(uint64_t seed, struct tally *t)
{
    pthread_t threads[64];
    int n = 0;

    busy_enough = false;
    while (n < get_nprocs() && n < 64 && !pthread_create(&threads[n], NULL, spin, NULL))
        n++;
    one(seed, t);
    busy_enough = true;
    while (n > 0)
        pthread_join(threads[--n], NULL);
}

int main(int argc, char **argv)
{
    const char *count = getenv("CULPRITS"), *first = getenv("CULPRITS_FROM");
    uint64_t n = count ? strtoull(count, NULL, 10) : CULPRIT_NUM_KINDS,
             from = first ? strtoull(first, NULL, 10) : 0;
    static struct tally t;
    char note[300];
    struct bench b;

    bench_init(&b, argc, argv);
    log_set_level(LOG_ERROR);
    calibrate();
    for (uint64_t seed = from; seed < from + n; seed++)
        if (seed >= CULPRIT_NUM_KINDS && seed % 3 == 0)
            one_under_load(seed, &t);
        else
            one(seed, &t);
    print_table(&t);
    fprintf(stderr, "certain: %u of %u that have something to be certain of (%.1f %%)\n", t.certain, t.guilty,
            t.guilty ? 100.0 * t.certain / t.guilty : 0);
    snprintf(
        note, sizeof(note),
        "of %u planted crashes of %d kinds %u are told exactly in every fact, %u have a fact that is wrong with certainty; %u of %u are certain%s",
        t.planted, CULPRIT_NUM_KINDS, t.exact, t.lies, t.certain, t.guilty,
        t.cannot ? "; some cannot be planted here" : "");
    bench_report(&b, &(struct bench_figure){.id = "culprit_accuracy",
                                            .ours = t.lies ? 0 : t.exact,
                                            .reference = t.planted,
                                            .unit = "crashes",
                                            .target = 0.99,
                                            .at_least = 1,
                                            .note = note});
    return bench_finish(&b);
}
