/* SPDX-License-Identifier: MIT */
/* Fuzzes what a compromised executor can do to its host: the input is a list of commands of 8 bytes, what the device's host calls
 * and what the other side writes into the memory and the socket that both share, in any order, at any point between two
 * looks of the host. The supervisor's steps are made here instead of by its thread; the process is nothing but that memory.
 *
 * Besides what the sanitizers find, the host's promises hold (executor/host/host.h): what was accepted completes once, in order,
 * or is dropped by a reset; what comes out is clean; and in the end nothing is left. */
#include "fuzz.h"

#include <fcntl.h>
#include <string.h>
#include <sys/eventfd.h>

#include "aerogpu/pci.h"

#include "../../src/executor/host/supervisor.c"

enum { IDS = 4096, NO_PID = 0x3fffffff /* above any pid_max: nobody is killed */ };

struct world {
    struct exec_host *host;
    uint64_t accepted[IDS]; /* and not completed or dropped: from first to last */
    unsigned first, last;
    uint64_t next_id;
    int peer, prints; /* the executor's ends of the socket and of what it prints, -1: none */
    unsigned deaths;
};

static struct world w;

/* ---- in place of launch.c ------------------------------------------------ */

int exec_spawn(struct exec_child *out, const struct exec_spawn_params *p, struct error *e)
{
    int pair[2], words[2];

    must(!socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK, 0, pair) &&
         !pipe2(words, O_CLOEXEC | O_NONBLOCK));
    *out = (struct exec_child){
        .pid = NO_PID, .pidfd = eventfd(0, EFD_CLOEXEC), .control = pair[0], .words = words[0]};
    out->shared = aligned_alloc(EXEC_PAGE, (sizeof(*out->shared) + EXEC_PAGE - 1) / EXEC_PAGE * EXEC_PAGE);
    must(out->shared);
    memset(out->shared, 0, sizeof(*out->shared));
    atomic_store(&out->shared->epoch, p->epoch);
    atomic_store(&out->shared->epoch_done, p->epoch);
    w.peer = pair[1];
    w.prints = words[1];
    return 0;
}

void exec_child_close(struct exec_child *c)
{
    close(c->control);
    close(c->pidfd);
    if (c->words >= 0)
        close(c->words);
    close(w.peer);
    close(w.prints);
    w.peer = w.prints = -1;
    *c = (struct exec_child){.pidfd = -1, .control = -1, .words = -1};
}

void exec_shared_unmap(struct exec_shared *shared)
{
    free(shared);
}

/* ---- the owner ----------------------------------------------------------- */

static void on_complete(void *ctx, const struct abi_completion *c)
{
    must(w.first != w.last && c->id == w.accepted[w.first % IDS]);
    w.first++;
    must(!(c->flags & ~(uint32_t)(ABI_COMPLETION_PRESENT | ABI_COMPLETION_VSYNC)));
    must(c->has_fault <= 1 && c->cause < ABI_CAUSE_KINDS);
    must(memchr(c->message, 0, sizeof(c->message)) != NULL);
    for (const char *m = c->message; *m; m++)
        must((unsigned char)*m >= 0x20 && (unsigned char)*m < 0x7f);
}

static void on_died(void *ctx, const struct exec_death *d, const struct exec_progress *progress)
{
    uint32_t sum = 0;

    w.deaths++;
    must(memchr(d->message, 0, sizeof(d->message)) != NULL);
    for (size_t i = 0; i < sizeof(*progress); i += 64)
        sum += ((const unsigned char *)progress)[i];
    must(sum != UINT32_MAX); /* all of it can be read */
}

static void submit(uint8_t size)
{
    struct abi_submission s = {.id = ++w.next_id, .cmd_size = size};
    int r = exec_host_submit(w.host, &s);

    must(r == 0 || r == -EAGAIN);
    must((r == -EAGAIN) == (w.last - w.first == EXEC_HOST_DEPTH));
    if (!r)
        w.accepted[w.last++ % IDS] = s.id;
}

/* ---- the other side ------------------------------------------------------ */

static void write_word(uint8_t which, uint32_t value, bool relative)
{
    struct exec_shared *sh = w.host->child.shared ? w.host->child.shared : w.host->defunct;

    if (!sh)
        return;
    _Atomic uint32_t *const words[] = {&sh->ring_tail,   &sh->epoch,         &sh->ring_head,
                                       &sh->epoch_done,  &sh->done_tail,     &sh->done_head,
                                       &sh->controls,    &sh->host_sleeping, &sh->executor_sleeping,
                                       &sh->fault.state, &sh->executor_cpu};
    _Atomic uint32_t *word = words[which % (sizeof(words) / sizeof(words[0]))];

    atomic_store(word, relative ? atomic_load(word) + value : value);
}

static void write_anywhere(uint32_t at, uint8_t value)
{
    struct exec_shared *sh = w.host->child.shared ? w.host->child.shared : w.host->defunct;

    if (sh)
        memset((uint8_t *)sh + at % (sizeof(*sh) - 64), value, 64);
}

/* Completes what is next in the ring, or says so of something else. */
static void complete(uint8_t how, uint32_t fill)
{
    struct exec_shared *sh = w.host->child.shared;
    struct exec_done_slot *slot;
    uint32_t head, tail;

    if (!sh)
        return;
    head = atomic_load(&sh->ring_head);
    tail = atomic_load(&sh->done_tail);
    slot = &sh->done[tail % EXEC_DONE_SLOTS];
    if (fill)
        memset(slot, (int)fill, sizeof(*slot));
    slot->c.id = sh->ring[head % EXEC_RING_SLOTS].s.id + (how & 1);
    slot->epoch = atomic_load(&sh->epoch) + (how >> 1 & 1);
    atomic_store(&sh->ring_head, head + 1);
    atomic_store(&sh->done_tail, tail + 1);
}

static void say(uint8_t kind, uint8_t fill, uint16_t size)
{
    struct exec_ready ready;

    memset(&ready, fill, sizeof(ready));
    if (kind < 200)
        ready.code = 0;
    if (w.peer >= 0)
        (void)!send(w.peer, &ready, kind % 16 ? sizeof(ready) : size % (sizeof(ready) + 1),
                    MSG_DONTWAIT | MSG_NOSIGNAL);
}

/* Any bytes, now and then without an end of the line. */
static void print(const uint8_t *bytes, unsigned times)
{
    for (unsigned i = 0; w.prints >= 0 && i <= times % 64; i++)
        (void)!write(w.prints, bytes, 6);
    if (w.prints >= 0 && times >= 192)
        (void)!write(w.prints, "\n", 1);
}

static void die(uint8_t how, uint8_t status)
{
    siginfo_t si = {0};

    if (!w.host->child.pid)
        return;
    si.si_code = how % 3 == 0 ? CLD_EXITED : how % 3 == 1 ? CLD_KILLED : 0;
    si.si_status = status;
    on_death(w.host, &si);
}

/* One round of the supervisor, without its waiting. */
static void supervise(void)
{
    struct exec_host *h = w.host;

    if (!h->child.pid && h->state == EXEC_STARTING) {
        start_child(h);
        return;
    }
    if (!h->child.pid)
        return;
    if (h->state == EXEC_STARTING && !h->control_closed)
        hear(h);
    exec_host_flush_ops(h);
    if (h->child.words >= 0 && exec_words_read(&h->words, h->child.words, h->child.pid)) {
        close(h->child.words);
        h->child.words = -1;
    }
    if (h->kill_reason[0])
        die(1, 9);
}

static void locked(void (*fn)(void))
{
    pthread_mutex_lock(&w.host->lock);
    fn();
    pthread_mutex_unlock(&w.host->lock);
}

/* ---- a life -------------------------------------------------------------- */

static void open_host(void)
{
    struct exec_host *h = calloc(1, sizeof(*h));

    must(h);
    memset(&w, 0, sizeof(w));
    w.peer = w.prints = -1;
    w.host = h;
    h->complete = on_complete;
    h->died = on_died;
    h->limits = (struct exec_limits){.memory_bytes = 1, .files = 1, .start_ms = 1000, .reset_ms = 1000};
    h->ops_end = &h->ops;
    h->deadline_ns = UINT64_MAX;
    h->event_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    h->supervisor_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    must(h->event_fd >= 0 && h->supervisor_fd >= 0);
    pthread_mutex_init(&h->lock, NULL);
    pthread_cond_init(&h->ready_changed, NULL);
}

/* The executor dies, and no other can be started: what was accepted fails, all of it. */
static void close_host(void)
{
    struct exec_host *h = w.host;

    pthread_mutex_lock(&h->lock);
    die(1, 9);
    if (h->state != EXEC_FAILED)
        fail_for_good(h, -EIO, "no more executors");
    pthread_mutex_unlock(&h->lock);
    for (int i = 0; i < 8; i++)
        exec_host_dispatch(h);
    must(w.first == w.last);
    exec_host_drop_ops(h);
    exec_shared_unmap(h->defunct);
    close(h->event_fd);
    close(h->supervisor_fd);
    pthread_cond_destroy(&h->ready_changed);
    pthread_mutex_destroy(&h->lock);
    free(h);
}

static void step(const uint8_t *c)
{
    uint32_t value = (uint32_t)c[4] | (uint32_t)c[5] << 8 | (uint32_t)c[6] << 16 | (uint32_t)c[7] << 24;
    static struct exec_progress progress;

    switch (c[0] % 13) {
    case 0:
    case 1:
        submit(c[1]);
        break;
    case 2:
        exec_host_dispatch(w.host);
        break;
    case 3:
        complete(c[1] < 240 ? 0 : c[1], c[2] < 200 ? 0 : c[3]);
        break;
    case 4:
        locked(supervise);
        break;
    case 5:
        say(c[1], c[2], (uint16_t)value);
        break;
    case 6:
        write_word(c[1], value, false);
        break;
    case 7:
        write_word(c[1], (uint32_t)(int8_t)c[4], true);
        break;
    case 8:
        write_anywhere(value, c[1]);
        break;
    case 9:
        exec_host_reset(w.host);
        w.first = w.last;
        break;
    case 10:
        pthread_mutex_lock(&w.host->lock);
        die(c[1], c[2]);
        pthread_mutex_unlock(&w.host->lock);
        break;
    case 12:
        print(c + 2, c[1]);
        break;
    default:
        exec_host_wait(w.host, 0);
        exec_host_progress(w.host, &progress);
        break;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    log_set_level(LOG_ERROR);
    log_to(-1);
    open_host();
    for (size_t at = 0; at + 8 <= size && at < 8 * 2000; at += 8)
        step(data + at);
    close_host();
    return 0;
}
