/* SPDX-License-Identifier: MIT */
/* offenders.h: what strangers have done: processes, and users, who are what is left when processes come and go.
 *
 * A client with a user (dxgk_client_set_user) is a stranger: who hangs the device again and again within TdrLimitTime gets no device
 * for as long. A process is barred at half of TdrLimitCount, rounded up, and all of a user at TdrLimitCount; where strangers together
 * hang it as often for all, whatever their users are, each is at his first. None of it counts towards the limit that ends the adapter for
 * all. Wrong share handles are counted by user, too.
 *
 * Invariants:
 *  1. The table is bounded, and has a place for everybody who does something; who is barred, or has no guesses left, is not
 *     forgotten for him as long as there is another.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct dxgk;
struct dxgk_client;

enum { OFFENDERS_MOST = 128, OFFENDER_HANGS = 16, GUESSES_MOST = 64, GUESSES_S = 3600 };

struct offender {
    uint64_t key;     /* of a process or a user; 0: free */
    uint64_t last_ns; /* of what it did */
    uint64_t barred_until_ns;
    uint64_t hangs[OFFENDER_HANGS];
    unsigned num_hangs;
    unsigned guesses; /* since guesses_ns */
    uint64_t guesses_ns;
};

struct offenders {
    struct offender list[OFFENDERS_MOST];
    uint64_t hangs[OFFENDER_HANGS]; /* of all strangers, the last first */
};

/* The same for all clients of a stranger; a client that is none is alone, but for others of its process. */
uint64_t dxgk_offender_user(const struct dxgk_client *c);
/* The client hung the device, or only what executes his own work, `alone`; who does so too often is barred. True: it is a stranger,
 * and has nobody but himself to pay for it. */
bool dxgk_offender_hung(struct dxgk *d, const struct dxgk_client *c, bool alone);
bool dxgk_offender_barred(struct dxgk *d, const struct dxgk_client *c);
/* Whether a share handle that the client says is looked for at all: not after GUESSES_MOST wrong ones within GUESSES_S. */
bool dxgk_offender_may_guess(struct dxgk *d, const struct dxgk_client *c);
void dxgk_offender_guessed(struct dxgk *d, const struct dxgk_client *c);
