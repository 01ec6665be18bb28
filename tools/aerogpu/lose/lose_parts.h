/* SPDX-License-Identifier: MIT */
/* lose_parts.h: what `aerogpu lose` is made of. */
#pragma once

#include "lose/lose.h"
#include "lose/screen.h"

enum { LOSE_REFERENCES = 12 };

/* The program's screen, and whether it shows after a loss what it shows without. */
struct lose_show {
    const char *size, *file; /* NULL: no screen, no picture of the end */
    bool compares;
    uint32_t percent; /* of the pixels may differ, besides those that differ without a loss */
    uint64_t from;    /* the undisturbed program is looked at when it has done so much */
    bool undisturbed; /* this is it */
    struct screen screen;
    struct picture references[LOSE_REFERENCES], end;
    uint32_t num;
    uint64_t next_ns;
    double moves, differs; /* between two references; from the nearest of them. 0 to 1 */
};

/* Starts the screen, and puts it into the environment. */
int lose_show_start(struct lose_show *s, struct error *e);
/* For lose_params.on_poll. */
void lose_show_poll(struct lose_show *s, uint64_t work, bool last);
bool lose_show_is_wrong(const struct lose_show *s);
/* Writes the picture of the end, if that was asked for, and stops the screen. */
int lose_show_finish(struct lose_show *s, struct error *e);

/* `--random N`: so many faults, drawn by a seed among what the program calls. */
struct lose_random {
    uint32_t num; /* 0: none; at most LOSE_FAULTS */
    uint64_t seed;
};
/* Lets the program run once, undisturbed, and adds faults to those that there are; their texts stay. Says them. */
int lose_random_faults(const struct lose_params *undisturbed, const struct lose_random *r,
                       struct lose_fault *faults, const char **texts, uint32_t *num,
                       struct lose_result *result, struct error *e);

/* `aerogpu lose --matrix`. */
struct lose_matrix_files {
    const char *matrix, *junit, *sarif, *json, *pictures;
    uint32_t jobs; /* 0: as the file says */
};
/* The exit code. `stop` as in lose_params. */
int lose_matrix_run(const struct lose_matrix_files *files, const volatile int *stop);
