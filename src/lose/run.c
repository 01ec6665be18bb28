/* SPDX-License-Identifier: MIT */
/* run.c: the program in a process group of its own, and the record that its layer fills in, looked at every few milliseconds. */
#include "lose/lose.h"

#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/check.h"
#include "base/clock.h"
#include "base/program.h"
#include "layer/env.h"

#define POLL_NS  (5 * NSEC_PER_MSEC)
#define GRACE_NS (3 * NSEC_PER_SEC) /* between SIGTERM and SIGKILL */

struct run {
    const struct lose_params *p;
    struct lose_result *out;
    struct lose_record *record;
    struct clock clock;
    uint64_t start_ns;
    pid_t pid;
    bool ended; /* and waited for */
    int status;
    /* What on_event was called for already. */
    uint32_t seen, slot_of[LOSE_DEVICES]; /* slot_of: of each loss */
    uint32_t stage[LOSE_DEVICES];         /* of each loss: how many of its steps */
};

const char *lose_verdict_name(enum lose_verdict v)
{
    static const char *const names[] = {"survived",     "ended",       "died",     "ignores-loss",
                                        "unresponsive", "not-reached", "no-device"};

    return v < LOSE_VERDICTS ? names[v] : "?";
}

const char *lose_call_name(enum lose_call call)
{
    static const char *const names[] = {"",
#define ROW(name) #name,
                                        LOSE_CALLS(ROW)
#undef ROW
    };

    return call < LOSE_NUM_CALLS ? names[call] : "?";
}

/* The record is the program's to write: what it says is clamped before it gets here. */
static void run_check(const struct run *r)
{
    INVARIANT(r->seen <= LOSE_DEVICES);
    INVARIANT(r->out->num_losses <= r->seen); /* a device is lost once */
    INVARIANT(r->out->devices <= r->seen);
    for (uint32_t k = 0; k < r->out->num_losses; k++) {
        INVARIANT(r->slot_of[k] < r->seen);
        INVARIANT(r->stage[k] < 1u << 4);
    }
}

static uint64_t now(const struct run *r)
{
    return clock_now(&r->clock);
}

static void __attribute__((format(printf, 4, 5)))
notify(struct run *r, uint64_t at_ns, uint64_t lost_ns, const char *fmt, ...)
{
    char text[300];
    va_list ap;

    if (!r->p->on_event)
        return;
    va_start(ap, fmt);
    vsnprintf(text, sizeof(text), fmt, ap);
    va_end(ap);
    r->p->on_event(r->p->ctx, at_ns > r->start_ns ? at_ns - r->start_ns : 0,
                   lost_ns && at_ns > lost_ns ? at_ns - lost_ns : 0, text);
}

/* ---- the program --------------------------------------------------------- */

static int make_record(struct run *r, char path[64], struct error *e)
{
    int fd = memfd_create("aerogpu-lose", MFD_CLOEXEC);
    struct lose_record *m = MAP_FAILED;

    if (fd >= 0 && !ftruncate(fd, sizeof(*m)))
        m = mmap(NULL, sizeof(*m), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (m == MAP_FAILED) {
        int code = -errno;
        if (fd >= 0)
            close(fd);
        return error_set(e, code, "no memory for the record: %s", strerror(-code));
    }
    m->magic = LOSE_MAGIC;
    m->size = sizeof(*m);
    m->how = r->p->how;
    m->at_frame = r->p->at_frame;
    m->at_submit = r->p->at_submit;
    m->hang_ns = r->p->hang_ns;
    m->refuse_ns = r->p->refuse_ns;
    m->left = (int32_t)r->p->times;
    r->record = m;
    snprintf(path, 64, "/proc/%d/fd/%d", (int)getpid(), fd);
    return fd;
}

static void enter(void *env)
{
    setpgid(0, 0);
    environ = env;
}

static int start(struct run *r, const char *path, struct error *e)
{
    char record[96];
    const char *const values[] = {record, NULL};
    struct layer_env layer = {LOSE_LAYER, r->p->layers, values};
    char **env;

    snprintf(record, sizeof(record), LOSE_VARIABLE "=%s", path);
    env = layer_env_make(&layer);
    if (!env)
        return error_set(e, -ENOMEM, "no memory for the environment");
    r->pid = program_start(r->p->argv, enter, env);
    free(env);
    return r->pid < 0 ? error_set(e, r->pid, "cannot run %s: %s", r->p->argv[0], strerror(-r->pid)) : 0;
}

static void reap(struct run *r)
{
    if (!r->ended && waitpid(r->pid, &r->status, WNOHANG) == r->pid)
        r->ended = true;
}

static void sleep_poll(void)
{
    nanosleep(&(struct timespec){0, POLL_NS}, NULL);
}

static void end_program(struct run *r)
{
    uint64_t limit = now(r) + GRACE_NS;

    kill(-r->pid, SIGTERM);
    for (reap(r); !r->ended && now(r) < limit; reap(r))
        sleep_poll();
    kill(-r->pid, SIGKILL); /* and whoever it left behind */
    if (!r->ended)
        waitpid(r->pid, &r->status, 0);
    r->ended = true;
}

/* ---- watching ------------------------------------------------------------ */

/* The first device made after `ns`, or NULL. */
static const struct lose_device *successor(const struct run *r, uint64_t ns)
{
    for (uint32_t i = 0; i < LOSE_DEVICES; i++) {
        const struct lose_device *d = &r->record->device[i];
        if (atomic_load(&d->pid) && atomic_load(&d->created_ns) > ns)
            return d;
    }
    return NULL;
}

static bool shows(const struct lose_device *d)
{
    return atomic_load(&d->frames) > 0;
}

static uint64_t work_of(const struct lose_device *d, bool frames)
{
    return frames ? atomic_load(&d->frames) : atomic_load(&d->submits);
}

/* How much a new device must do: less if it is to be lost itself before. */
static uint64_t proof(const struct run *r, uint32_t loss)
{
    uint32_t at = r->p->at_frame ? r->p->at_frame : r->p->at_submit;

    if (loss + 1 < r->p->times && at - 1 < r->p->proof)
        return at > 1 ? at - 1 : 1;
    return r->p->proof;
}

static bool proven(const struct run *r, uint32_t loss)
{
    const struct lose_device *d = &r->record->device[r->slot_of[loss]],
                             *s = successor(r, atomic_load(&d->lost_ns));

    return s && work_of(s, shows(d)) >= proof(r, loss);
}

static void note_new_device(struct run *r, const struct lose_device *d)
{
    uint64_t created = atomic_load(&d->created_ns), lost = atomic_load(&r->record->lost_ns);
    char name[sizeof(d->name)];

    memcpy(name, d->name, sizeof(name)); /* the program may write there, and need not end it */
    name[sizeof(name) - 1] = '\0';
    for (char *c = name; *c; c++)
        if ((unsigned char)*c < 0x20 || (unsigned char)*c > 0x7e)
            *c = '?';
    if (!lost || created < lost)
        notify(r, created, 0, "a device: %s, process %u", name, atomic_load(&d->pid));
}

static void note_loss(struct run *r, uint32_t slot)
{
    const struct lose_device *d = &r->record->device[slot];
    struct lose_loss *l = &r->out->losses[r->out->num_losses];
    uint64_t hung = atomic_load(&d->hung_ns), lost = atomic_load(&d->lost_ns);

    r->slot_of[r->out->num_losses++] = slot;
    l->frames = atomic_load(&d->frames);
    l->submits = atomic_load(&d->submits);
    l->at_ns = lost - r->start_ns;
    notify(r, lost, 0, "after %llu frames and %llu submissions the device %s", (unsigned long long)l->frames,
           (unsigned long long)l->submits, hung ? "hangs, is reset, and is lost" : "is lost");
}

/* What has become of a loss since it was looked at last. */
static void follow(struct run *r, uint32_t loss)
{
    const struct lose_device *d = &r->record->device[r->slot_of[loss]];
    uint64_t lost = atomic_load(&d->lost_ns);
    const struct lose_device *s = successor(r, lost);
    struct lose_loss *l = &r->out->losses[loss];
    bool frames = shows(d);
    char text[96];
    const struct {
        uint64_t at, *ns;
        const char *text;
    } steps[] = {
        {atomic_load(&d->reported_ns), &l->reported_ns, text},
        {atomic_load(&d->destroyed_ns), &l->destroyed_ns, "the lost device is destroyed"},
        {s ? atomic_load(&s->created_ns) : 0, &l->device_ns, "a new device"},
        {s ? (frames ? atomic_load(&s->first_frame_ns) : atomic_load(&s->first_submit_ns)) : 0, &l->work_ns,
         frames ? "its first frame" : "its first submission"},
    };

    l->reported = atomic_load(&d->reported);
    l->call = atomic_load(&d->call);
    snprintf(text, sizeof(text), "%s answers VK_ERROR_DEVICE_LOST", lose_call_name(l->call));
    for (unsigned i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
        if (!steps[i].at || r->stage[loss] & 1u << i)
            continue;
        r->stage[loss] |= 1u << i;
        *steps[i].ns = steps[i].at > lost ? steps[i].at - lost : 1;
        notify(r, steps[i].at, lost, "%s", steps[i].text);
    }
}

static void poll_record(struct run *r)
{
    uint32_t n = atomic_load(&r->record->devices);

    for (n = n < LOSE_DEVICES ? n : LOSE_DEVICES; r->seen < n && atomic_load(&r->record->device[r->seen].pid);
         r->seen++)
        note_new_device(r, &r->record->device[r->seen]);
    for (uint32_t i = 0; i < r->seen; i++) {
        bool known = false;
        for (uint32_t k = 0; k < r->out->num_losses; k++)
            known |= r->slot_of[k] == i;
        if (!known && atomic_load(&r->record->device[i].lost_ns))
            note_loss(r, i);
    }
    for (uint32_t k = 0; k < r->out->num_losses; k++)
        follow(r, k);
    r->out->devices = r->seen;
    r->out->refused = atomic_load(&r->record->refused);
    run_check(r);
}

static bool all_proven(const struct run *r)
{
    for (uint32_t k = 0; k < r->out->num_losses; k++)
        if (!proven(r, k))
            return false;
    return r->out->num_losses == r->p->times;
}

/* When the program must have done the next thing that is asked of it. */
static uint64_t limit(const struct run *r)
{
    uint32_t n = r->out->num_losses;
    const struct lose_device *last = n ? &r->record->device[r->slot_of[n - 1]] : NULL;

    if (!last)
        return r->start_ns + r->p->reach_ns;
    return atomic_load(&last->lost_ns) + r->p->timeout_ns + (proven(r, n - 1) ? r->p->reach_ns : 0);
}

static enum lose_verdict judge(const struct run *r, bool by_itself)
{
    uint32_t n = r->out->num_losses;
    const struct lose_device *last = n ? &r->record->device[r->slot_of[n - 1]] : NULL;

    if (all_proven(r))
        return LOSE_SURVIVED;
    if (!r->seen)
        return LOSE_NO_DEVICE;
    if (!n || (proven(r, n - 1) && n < r->p->times))
        return by_itself && WIFSIGNALED(r->status) ? LOSE_DIED : LOSE_NOT_REACHED;
    if (by_itself && WIFSIGNALED(r->status))
        return LOSE_DIED;
    if (by_itself) /* a program that had little left to do, and did it */
        return !WEXITSTATUS(r->status) && r->out->losses[n - 1].work_ns && n == r->p->times ? LOSE_SURVIVED
                                                                                            : LOSE_ENDED;
    return now(r) - atomic_load(&last->last_reported_ns) < NSEC_PER_SEC ? LOSE_IGNORES_LOSS
                                                                        : LOSE_UNRESPONSIVE;
}

static int watch(struct run *r)
{
    bool by_itself;

    for (;;) {
        reap(r); /* before looking: what it did last counts */
        poll_record(r);
        if (r->p->stop && *r->p->stop) {
            end_program(r);
            return -EINTR;
        }
        if (r->ended || all_proven(r) || now(r) >= limit(r))
            break;
        sleep_poll();
    }
    by_itself = r->ended;
    r->out->verdict = judge(r, by_itself);
    if (r->out->verdict == LOSE_SURVIVED && r->p->keep)
        while (!r->ended && !(r->p->stop && *r->p->stop)) {
            reap(r);
            sleep_poll();
        }
    r->out->exited = by_itself && WIFEXITED(r->status);
    r->out->signalled = by_itself && WIFSIGNALED(r->status);
    if (by_itself)
        r->out->code = WIFEXITED(r->status) ? WEXITSTATUS(r->status) : WTERMSIG(r->status);
    end_program(r);
    INVARIANT(r->ended); /* nothing of it is left */
    INVARIANT(r->out->verdict < LOSE_VERDICTS);
    INVARIANT(!(r->out->exited && r->out->signalled));
    INVARIANT(r->out->verdict != LOSE_SURVIVED || r->out->num_losses);
    return 0;
}

int lose_run(const struct lose_params *p, struct lose_result *out, struct error *e)
{
    struct run *r = calloc(1, sizeof(*r));
    char path[64];
    int fd, code;

    memset(out, 0, sizeof(*out));
    if (!r)
        return error_set(e, -ENOMEM, "no memory");
    r->p = p;
    r->out = out;
    clock_init_live(&r->clock);
    r->start_ns = now(r);
    code = fd = make_record(r, path, e);
    if (fd >= 0) {
        code = start(r, path, e);
        if (!code)
            code = watch(r);
        munmap(r->record, sizeof(*r->record));
        close(fd);
    }
    free(r);
    return code;
}
