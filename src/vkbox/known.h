/* SPDX-License-Identifier: MIT */
/* known.h: where a run before crashed: groups of commands, by what stands in their command buffer in front of them.
 *
 * A crash names a group between two points. `aerogpu run` writes by what it is known into a file beside the dump; the next run's
 * layer marks each command of that group, and of no other, so that the second crash names one.
 *
 * Handles, numbers and what stands within render passes differ from frame to frame and are not looked at: commands outside of
 * passes, their enumerations and flags, that a pass begins or ends, and labels without their digits.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

enum { KNOWN_GROUPS = 16 };
/* No group's number, which are odd: of a group it is not told apart which of several secondary command buffers' commands it was. Theirs are
 * recorded before who executes them is known, so those of all are told apart in the next run, and marked where that group is. */
#define KNOWN_SECONDARIES UINT64_C(2)
#define KNOWN_SUFFIX      ".aerogpuhint"

/* What stands in a command buffer up to some place; zeros at its begin. */
struct known_content {
    uint64_t hash;
    bool in_pass;
};

/* Adds a call of a record: its head, and the words of its arguments, of which `left` may be read. */
void known_add(struct known_content *c, uint32_t head, const uint32_t *args, size_t left);

/* The number of the group that begins there; never 0. */
static inline uint64_t known_group(const struct known_content *c)
{
    return c->hash | 1;
}

struct known {
    uint64_t groups[KNOWN_GROUPS];
    uint32_t num; /* 0: none */
};

/* The name of a program as that of a file: what cannot be seen, or is a folder's end, as '_'. */
void known_name(const char *program, char out[64]);

/* Those of a program in a folder; none if they cannot be read. The latest KNOWN_GROUPS. */
void known_read(struct known *k, const char *folder, const char *program);
bool known_has(const struct known *k, uint64_t group);
/* 0, or a negative errno with the file in `e`. Whatever else lies in its place is replaced, and no link followed. */
int known_write(const char *folder, const char *program, uint64_t group, struct error *e);
