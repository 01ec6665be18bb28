/* SPDX-License-Identifier: MIT */
/* An executor that has gone bad: it speaks the protocol well enough to be trusted, then writes random numbers
 * over everything it shares with its host. The number in AEROGPU_HOSTILE_SEED is the start of the sequence. "lazy": it does all that
 * it is given, and says late that it has taken it.
 */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/rng.h"
#include "executor/host/proto.h"

static void complete(struct exec_shared *sh, struct rng *rng)
{
    uint32_t head = atomic_load(&sh->ring_head), tail = atomic_load(&sh->done_tail);
    struct exec_done_slot *slot = &sh->done[tail % EXEC_DONE_SLOTS];
    uint64_t one = 1;

    if (head == atomic_load(&sh->ring_tail))
        return;
    memset(slot, 0xff, sizeof(*slot)); /* no end of the message either */
    slot->c.id = sh->ring[head % EXEC_RING_SLOTS].s.id;
    slot->epoch = atomic_load(&sh->epoch);
    if (rng_below(rng, 50) == 0)
        slot->c.id ^= 1;
    atomic_store(&sh->ring_head, head + 1);
    atomic_store(&sh->done_tail, tail + 1);
    if (write(EXEC_FD_DONE, &one, sizeof(one)) < 0)
        _exit(1);
}

/* A slot of the ring is the host's again when the head has passed it, not when what was in it is done. */
static void be_lazy(struct exec_shared *sh)
{
    const uint64_t one = 1;
    uint32_t taken = 0;

    for (unsigned idle = 0;;) {
        uint32_t tail = atomic_load(&sh->done_tail);
        if (taken != atomic_load(&sh->ring_tail)) {
            const struct exec_slot *slot = &sh->ring[taken++ % EXEC_RING_SLOTS];
            sh->done[tail % EXEC_DONE_SLOTS] =
                (struct exec_done_slot){.c = {.id = slot->s.id}, .epoch = atomic_load(&sh->epoch)};
            atomic_store(&sh->done_tail, tail + 1);
            idle = 0;
        } else {
            usleep(1000);
            if (++idle == 100)
                atomic_store(&sh->ring_head, taken);
        }
        if (write(EXEC_FD_DONE, &one, sizeof(one)) < 0)
            _exit(1);
    }
}

static void vandalise(struct exec_shared *sh, struct rng *rng)
{
    _Atomic uint32_t *const words[] = {
        &sh->ring_tail, &sh->epoch,         &sh->ring_head,         &sh->epoch_done, &sh->done_tail,
        &sh->done_head, &sh->host_sleeping, &sh->executor_sleeping, &sh->fault.state};
    _Atomic uint32_t *word = words[rng_below(rng, sizeof(words) / sizeof(words[0]))];
    uint64_t one = 1;

    switch (rng_below(rng, 8)) {
    case 0:
        atomic_store(word, (uint32_t)rng_next(rng));
        break;
    case 1:
        atomic_fetch_add(word, 1);
        break;
    case 2:
        atomic_fetch_sub(word, 1 + (uint32_t)rng_below(rng, 600));
        break;
    case 3: {
        unsigned char *bytes = (unsigned char *)sh;
        size_t at = rng_below(rng, sizeof(*sh) - 64);
        for (size_t i = 0; i < 64; i++)
            bytes[at + i] = (unsigned char)rng_next(rng);
        break;
    }
    case 4:
        if (send(EXEC_FD_CONTROL, words, 1 + rng_below(rng, sizeof(words)), MSG_NOSIGNAL | MSG_DONTWAIT) < 0)
            return;
        break;
    case 5:
        if (ftruncate(EXEC_FD_SHARED, 0) == 0)
            _exit(1);
        break;
    case 6:
        if (write(EXEC_FD_DONE, &one, sizeof(one)) < 0)
            return;
        break;
    default:
        usleep((useconds_t)rng_below(rng, 300));
        break;
    }
}

int main(void)
{
    struct exec_shared *sh = mmap(NULL, sizeof(*sh), PROT_READ | PROT_WRITE, MAP_SHARED, EXEC_FD_SHARED, 0);
    const char *seed = getenv("AEROGPU_HOSTILE_SEED");
    struct rng rng = {(seed ? strtoull(seed, NULL, 10) : 1) ^ (uint64_t)getpid()};
    struct exec_ready ready = {0};
    unsigned steps;

    prctl(PR_SET_PDEATHSIG, SIGKILL); /* it would outlive a test that is killed */
    if (sh == MAP_FAILED)
        return 1;
    if (seed && !strcmp(seed, "lazy") && send(EXEC_FD_CONTROL, &ready, sizeof(ready), MSG_NOSIGNAL) > 0)
        be_lazy(sh);
    memset(ready.text, 0xfe, sizeof(ready.text));
    if (rng_below(&rng, 20) == 0)
        ready.code = (int32_t)rng_next(&rng);
    if (send(EXEC_FD_CONTROL, &ready, rng_below(&rng, 30) ? sizeof(ready) : 5, MSG_NOSIGNAL) < 0)
        return 1;
    steps = (unsigned)rng_below(&rng, 400);
    for (unsigned i = 0; i < steps; i++) {
        complete(sh, &rng);
        if (i > 50)
            vandalise(sh, &rng);
        else
            usleep(20);
    }
    /* Then quietly, loudly, or not at all. */
    switch (rng_below(&rng, 3)) {
    case 0:
        return (int)rng_below(&rng, 256);
    case 1:
        abort();
    default:
        for (;;)
            pause();
    }
}
