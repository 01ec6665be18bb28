/* SPDX-License-Identifier: MIT */
/* replay.h: a dump and what playing it again showed, compared in one place (docs/evidence.md):
 *
 *   same         its cause is that of the dump, and its command is among those that the dump's markers left
 *   elsewhere    its cause is, but its command is another, and exact markers prove it: what was seen again overrules what was
 *                concluded from the markers of the program that crashed, if it is at the same place; else both stand, for which of
 *                several crashes may depend on where memory lies, and that is elsewhere each time
 *   otherwise    another cause, or nothing that proves it: both stand
 *   slow         what the dump calls a hang went on when it was given time
 *   not again    the dump's verdict is no longer certain
 */
#pragma once

#include "minimize/crash_run.h"
#include "minimize/dump_file.h"

enum replay_outcome { REPLAY_NOT_AGAIN, REPLAY_SLOW, REPLAY_OTHERWISE, REPLAY_ELSEWHERE, REPLAY_SAME };

struct replay_verdict {
    enum replay_outcome outcome;
    /* In the dump's numbers, and with its address: memory lies elsewhere each time. "" if it did not crash. */
    char text[900];
    char why[400]; /* where it does not agree with the dump: why that may be; else "" */
    /* Same or elsewhere, and not at an address that has another distance or another owner: which command it is does not depend on
     * where memory lies, as far as was seen. */
    bool same_place;
};

/* The dump's number of the submission that has this place in its recording, -1: none. */
long long replay_number(const struct dump_file *f, uint64_t ordinal);

/* The crash's sentence, with the dump's number in place of the one that the submission had here. */
void replay_sentence(const struct dump_file *f, const struct watch_crash *c, char *text, size_t size);

/* `exact`: it was played with a marker around every command. */
void replay_compare(const struct dump_file *f, const struct crash_run_result *r, bool exact,
                    struct replay_verdict *out);
