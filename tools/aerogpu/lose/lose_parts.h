/* SPDX-License-Identifier: MIT */
/* lose_parts.h: what `aerogpu lose` is made of. */
#pragma once

#include "lose/lose.h"
#include "lose/screen.h"

enum { LOSE_REFERENCES = 12 }; /* while it runs up to the proof; and as many again, when it has settled */

/* The program's screen, and whether it shows after a loss what it shows without. */
struct lose_show {
    const char *size, *file; /* NULL: no screen, no picture of the end */
    bool compares;
    uint32_t percent; /* of the pixels may differ, besides those that differ without a loss */
    uint64_t from;    /* the undisturbed program is looked at when it has done so much */
    bool undisturbed; /* this is it */
    struct screen screen;
    struct picture empty, references[2][LOSE_REFERENCES], end;
    uint32_t num[2];
    uint64_t next_ns;
    double moves,
        differs;   /* between two references; from the nearest of them. 0 to 1, of what the program covers */
    double covers; /* of the screen */
    uint8_t *moving[2]; /* cells of the picture that changed: without a loss, and after it */
    uint64_t over_ns;   /* since when the verdict stands; 0: it does not yet */
    uint32_t wrong;     /* looks one after the other */
    bool stands;        /* what moved without the loss does not any more */
};

/* Starts the screen, and puts it into the environment. */
int lose_show_start(struct lose_show *s, struct error *e);
/* The run that begins, or has ended, is the one without a loss; it is looked at when it has done `from`. */
void lose_show_undisturbed(struct lose_show *s, bool begins, uint64_t from);
/* For lose_params.on_poll. */
bool lose_show_poll(struct lose_show *s, uint64_t work, const struct lose_result *over);
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
    bool json_out; /* the JSON has standard output, if it has no file */
    uint32_t jobs; /* 0: as the file says */
};
/* The exit code. `stop` as in lose_params. */
int lose_matrix_run(const struct lose_matrix_files *files, const volatile int *stop);
