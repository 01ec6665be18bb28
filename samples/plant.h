/* SPDX-License-Identifier: MIT */
/* plant.h: recordings with a crash planted in them, by seed: frames of 50 to 2 000 draws and dispatches in which one thing is
 * wrong, and what a crash analyst should say about it.
 */
#pragma once

#include "sample.h"

#define PLANT_KINDS(K)                                                                                       \
    K(HANG, "a pixel shader that does not finish")                                                           \
    K(WILD, "a store to an address that was never mapped")                                                   \
    K(AFTER_FREE, "a store to a buffer that was destroyed")                                                  \
    K(BEYOND, "a store behind the end of a buffer")                                                          \
    K(MALFORMED, "a packet that names what does not exist")                                                  \
    K(KILLED, "nothing: the executor is to be killed from outside")                                          \
    K(TWO_CONTEXTS, "a hang in one of two contexts")                                                         \
    K(SLOW, "a pixel shader that takes long, and ends")                                                      \
    K(SIGNAL, "nothing: somebody sends the executor a signal that is not SIGKILL")                           \
    K(NOT_CANONICAL, "a store to an address that no processor has")                                          \
    K(NULL_POINTER, "a store to address 0")                                                                  \
    K(REUSED, "a hang in a shader whose handle was destroyed and made again while it was bound")

enum plant_kind {
#define PLANT_ROW(NAME, doc) PLANT_##NAME,
    PLANT_KINDS(PLANT_ROW)
#undef PLANT_ROW
        PLANT_NUM_KINDS
};

struct plant {
    enum plant_kind kind;
    uint32_t draws;
    /* the truth */
    uint64_t ordinal;  /* of the submission that crashes, from 0 */
    uint32_t packet;   /* in its stream */
    uint32_t buffer;   /* AFTER_FREE, BEYOND: handle */
    uint32_t distance; /* BEYOND: bytes behind the end, 1 is the first one */
    int signal;        /* SIGNAL */
};

struct plant_shader {
    const uint32_t *words;
    uint32_t size; /* bytes */
};

extern const struct plant_shader plant_endless, plant_poke;

const char *plant_kind_name(enum plant_kind kind);

/* Writes the recording that `seed` stands for. `shaders` as in struct sample. */
int plant_write(struct plant *out, uint64_t seed, const char *path, const char *shaders, struct error *e);

/* The same crash in as few packets as somebody who knows it would write; *packets of them. Not for KILLED. */
int plant_write_smallest(enum plant_kind kind, const char *path, const char *shaders, uint32_t *packets,
                         struct error *e);

/* Ends the recording: whole, or not there. */
int plant_end_file(struct sample *s, struct error *e);

/* For the sample recordings: one of a kind, small. */
void plant_into(struct plant *p, struct sample *s, enum plant_kind kind, uint64_t seed);
