/* SPDX-License-Identifier: MIT */
/* exceptions.h: what the processor, the C library or a signal ends a call into a miniport with, in words.
 *
 *   SIGSEGV, SIGBUS, SIGFPE, SIGILL of an instruction ──in a DDI──▶ dxgk_guard_die
 *                                                     └─elsewhere──▶ last words (lastwords.h), and who had the signal before
 *   SIGTRAP of an instruction ──in a DDI──▶ a rule is broken, and the miniport goes on
 *   SIGABRT, and signals that were sent ──▶ last words, and who had them before
 */
#pragma once

#include <stdbool.h>

/* The process's signals are watched from now on; for each kernel anew, for who else handles them may have taken them back. */
void dxgk_exceptions_take(void);
/* A signal of these whose handler is somebody else's now, and they are taken again; 0: none is. */
int dxgk_exceptions_taken_back(void);
/* Whether `sig` is one of these. */
bool dxgk_exceptions_has(int sig);
/* The calling thread lets them through. */
void dxgk_exceptions_let_through(void);
/* Whether fn came back: it looks at memory that may be gone, and holds nothing. */
bool dxgk_exceptions_try(void (*fn)(void *arg), void *arg);
