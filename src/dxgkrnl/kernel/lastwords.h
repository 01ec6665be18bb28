/* SPDX-License-Identifier: MIT */
/* lastwords.h: what a process that a miniport runs in was at, for who outlives it.
 *
 * A miniport is a stranger's code in this process, and can end it whatever is guarded (kernel/guard.h): by exit(), a signal that it sends
 * itself, a thread that it started past the kernel. So who judges a miniport does not share its process:
 *
 *   dxgk_lastwords_watch ─┬─▶ the process itself goes on (false), dxgk_lastwords_verdict when it has judged
 *                         └─▶ the one that watches it waits, hands signals on, lets it go on when it stops itself, ends it when it becomes
 *                            another program, and returns what the end was (true)
 *
 * Invariants:
 *  1. What is written here lies in memory that both share: it is read when its writer has ended, however that was.
 *  2. The DDI that is under way is noted before the miniport runs, and the last one stays known.
 *  3. The first words stay: what comes behind them comes of them.
 *  4. A copy of the process (fork, clone) that a miniport makes ends as soon as it comes back to dxgkrnl.
 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* In memory that is shared. */
struct lastwords {
    _Atomic(const char *) ddi; /* the last that was called; NULL: none yet. Of this program's own text */
    _Atomic bool inside;       /* it had not come back */
    _Atomic bool taken, ruled;
    _Atomic uint64_t verdict; /* a number that only the two know */
    _Atomic(const char *) copied_in;
    _Atomic uint32_t copies; /* that ended in dxgkrnl: 4 */
    char text[400];          /* while `taken` */
    char rule[300];          /* while `ruled`: the first that was broken */
};

/* How the process that was watched has ended. */
struct lastwords_end {
    bool verdict; /* and an exit code, which it chose itself */
    int code;
    int signal;      /* that was sent to the one that watches, and ended the process; else 0 */
    char text[1100]; /* without a verdict: one sentence */
};

/* Before there are threads: see above. `stranger`: the miniport is one, and is looked at more closely. `end` is for the one that watches,
 * who takes no more signals from then on. A process that cannot be watched goes on by itself. */
bool dxgk_lastwords_watch(bool stranger, struct lastwords_end *end);
/* Who watches ends as the process has ended that he watched: of the signal that was sent to him, if it was that; else with `code`. */
int dxgk_lastwords_same_end(const struct lastwords_end *end, int code);
/* What the exit code says from now on is what was found out. */
void dxgk_lastwords_verdict(void);

/* A kernel begins in this process: it is none that was copied. Never NULL, and stays. */
struct lastwords *dxgk_lastwords_begin(void);
/* Any thread, signal handlers too. */
void dxgk_lastwords_say(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* A rule was broken; 3. */
void dxgk_lastwords_rule(const char *text);
/* The same as dxgk_lastwords_say, and the process ends: takes no lock and no memory. Where nobody watches it says it itself. */
_Noreturn void dxgk_lastwords_end(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* Whether this process is one that is watched, */
bool dxgk_lastwords_watched(void);
/* and its miniport is a stranger. */
bool dxgk_lastwords_stranger(void);
/* Whether this process is a copy that somebody made of the one that has the miniport; 4. */
bool dxgk_lastwords_copied(void);
_Noreturn void dxgk_lastwords_copy_ends(const char *ddi);
/* The same of one that has this one's memory (vfork), which nobody can tell by it: asks the kernel. */
bool dxgk_lastwords_borrowed(void);

static inline void dxgk_lastwords_note(struct lastwords *w, const char *ddi, bool inside)
{
    if (ddi)
        atomic_store_explicit(&w->ddi, ddi, memory_order_relaxed);
    atomic_store_explicit(&w->inside, inside, memory_order_relaxed);
}
