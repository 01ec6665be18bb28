/* SPDX-License-Identifier: MIT */
/* validate_sim.h: the suite inside a sim. The test runs on the calling thread, outside every coroutine; its other
 * "processes" are coroutines of the kernel, each a client of its own; a service of the test's own is another stack with a
 * clock of its own.
 *
 *   sim_suite_init ─▶ suite_run_report(…, &sim->host, …) … ─▶ sim_suite_finish
 *
 * Invariants:
 *  1. Whoever calls D3DKMT is told by the coroutine that runs: a peer is its own client, the test is the stack's.
 *  2. A peer that is killed gets STATUS_CANCELLED from every call, and ends by itself; what it owned goes with it.
 *  3. Nothing of a test is left when sim_suite_settle has returned.
 *  4. A test that has not ended within its limit of virtual time ends the process, with last words (kernel/lastwords.h): its coroutines
 *     wait for what never comes, and nobody can take them out of there.
 */
#pragma once

#include "suite.h"
#include "validate.h"

struct sim_peer;

struct sim_suite {
    struct suite_host host;
    const struct validate_options *options;
    struct validate_host *top; /* the stack that D3DKMT leads to */
    struct validate_host *outer;
    struct d3dkmt_transport transport;
    struct sim_peer *peers;
    int last_peer;
    const char *what; /* is under way, and may take: */
    uint64_t limit_ns;
};

void sim_suite_init(struct sim_suite *s, struct validate_host *h, const struct validate_options *o);
/* `what` begins, and may take so long. */
void sim_suite_limit(struct sim_suite *s, const char *what, uint64_t ns);
/* After a test: ends what it left running. False: something does not come to an end. */
bool sim_suite_settle(struct sim_suite *s);
void sim_suite_finish(struct sim_suite *s);
