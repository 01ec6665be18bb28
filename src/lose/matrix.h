/* SPDX-License-Identifier: MIT */
/* matrix.h: the file that says which programs are tried with which faults: TOML, and of that what is needed here.
 *
 *     jobs = 2                        # cases at a time; as many as there are processors
 *     screen = "640x480"              # each case has an X server of its own, with a picture of what failed
 *     timeout = 120                   # seconds, for a whole case
 *
 *     [program.vkcube]
 *     run = ["vkcube"]
 *     faults = ["lost"]               # only with these; with all, if it does not say
 *
 *     [fault.lost]
 *     options = ["--at-frame", "20"]  # of `aerogpu lose`
 *     expect = "survive"              # or "end", or another word of --expect
 *     seeds = 3                       # as many cases, with --seed 1 to 3
 *
 *     [expect]                        # of one case, whatever its fault says
 *     "gears/lost" = "dies"
 *
 *     [known]                         # what fails, and why nobody is to be told
 *     "vkcube/lost" = "vkcube asserts"
 *
 * Anything else in it is an error, which names the line.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

struct matrix_words {
    char **word; /* ends with NULL */
    size_t num;
};

struct matrix_entry {
    char *name;
    unsigned line;
    struct matrix_words words; /* of a program: `run`; of a fault: `options` */
    struct matrix_words only;  /* of a program: `faults`; none: all */
    uint32_t seeds;            /* of a fault; 0: one case without a seed */
    char *text; /* of what is known: why; of a fault, and in [expect]: what is expected, or NULL */
};

struct matrix_list {
    struct matrix_entry *item;
    size_t num, room;
};

struct matrix {
    struct matrix_list programs, faults, known, expects;
    uint32_t jobs, timeout_s; /* 0: not given */
    char *screen;             /* NULL: not given */
};

/* 0; -EINVAL with the line; -ENOMEM; or what reading the file answered. matrix_finish() in any case. */
int matrix_read(struct matrix *m, const char *path, struct error *e);
/* The same of text. */
int matrix_parse(struct matrix *m, const char *text, struct error *e);
/* Whether the program is tried with that fault. */
bool matrix_has_case(const struct matrix_entry *program, const struct matrix_entry *fault);
void matrix_finish(struct matrix *m);
