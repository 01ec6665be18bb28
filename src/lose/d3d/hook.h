/* SPDX-License-Identifier: MIT */
/* hook.h: functions in the place of a library's exports and of the methods of COM objects, in a Windows program under Wine. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#ifndef WIN32_LEAN_AND_MEAN
#define WIN32_LEAN_AND_MEAN
#endif
#include <windows.h>

/* An export whose first bytes lead to a function of ours. What it does itself, hook_leave() and hook_enter() put back while it is
 * called: calls of it are one at a time. */
struct hook_export {
    const char *library, *name;
    void *ours;
    uint8_t *at; /* NULL: it is not hooked (yet) */
    uint8_t was[12];
};

/* Hooks those of the exports whose library is in the process. */
void hook_exports(struct hook_export *exports, size_t n);
void hook_leave(struct hook_export *e);
void hook_enter(struct hook_export *e);

/* Puts `ours` into the table of methods of `object`, and of all that share it. */
void hook_method(void *object, unsigned index, void *ours);
/* What the method was. */
void *hook_was(void *object, unsigned index);
