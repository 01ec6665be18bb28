/* SPDX-License-Identifier: MIT */
/* culprit_plants.h: submissions in which one thing goes wrong, and what is true about it. A plant is a kind and a seed: the
 * seed says how long its frames are, where in them it goes wrong, and what else they do. */
#pragma once

#include <signal.h>

#include "abi/builder.h"
#include "base/rng.h"
#include "watch/watch.h"

/* What it is, besides its cause. */
enum culprit_is {
    IS_LONG = 1u << 0,    /* 10 000 draws */
    IS_GROUPS = 1u << 1,  /* 1 001 to 3 000 draws */
    IS_SHORT = 1u << 2,   /* 50 draws */
    IS_AHEAD = 1u << 3,   /* good submissions before it are still at the device */
    IS_BEHIND = 1u << 4,  /* good submissions follow at once */
    IS_SECOND = 1u << 5,  /* in another context than what is good */
    IS_SLOW = 1u << 6,    /* nothing is wrong: it ends when it is let run */
    IS_OUTSIDE = 1u << 7, /* done to the executor while it works */
    IS_FINE = 1u << 8,    /* nothing is wrong, and nothing is slow */
    IS_AGAIN = 1u << 9,   /* something else went wrong before, and was recovered from */
    IS_HUGE = 1u << 10,   /* 18 000 draws: more than there are marks for */
    IS_TINY = 1u << 11,   /* one draw, and nothing else */
};

/* K(NAME, cause, what it is besides, doc) */
#define CULPRIT_KINDS(K)                                                                                     \
    K(HANG, HANG, 0, "a draw that does not end")                                                             \
    K(HANG_FIRST, HANG, IS_SHORT, "the first draw of a frame")                                               \
    K(HANG_LAST, HANG, 0, "the last draw of a frame")                                                        \
    K(HANG_INSTANCES, HANG, 0, "a draw of several instances")                                                \
    K(HANG_IN_GROUP, HANG, IS_GROUPS, "in the middle of the first group of several")                         \
    K(HANG_END_OF_GROUP, HANG, IS_GROUPS, "the last draw of a group")                                        \
    K(HANG_BEGIN_OF_GROUP, HANG, IS_GROUPS, "the first draw of a group")                                     \
    K(HANG_LONG, HANG, IS_LONG, "in a frame of 10 000 draws")                                                \
    K(HANG_AHEAD, HANG, IS_AHEAD, "behind good submissions that are at the device")                          \
    K(HANG_BEHIND, HANG, IS_BEHIND, "good submissions follow")                                               \
    K(HANG_BETWEEN, HANG, IS_AHEAD | IS_BEHIND, "between good submissions")                                  \
    K(HANG_CONTEXT, HANG, IS_SECOND | IS_AHEAD, "in one of two contexts")                                    \
    K(HANG_DESTROYED_CONTEXT, HANG, IS_SECOND, "in a context whose number another one had before")           \
    K(HANG_REUSED, HANG, 0, "in a shader whose handle was made again while it was bound")                    \
    K(HANG_CREATION, HANG, 0, "a texture is made and cleared right before it, and behind it")                \
    K(HANG_RESIDENCY, HANG, 0, "buffers are evicted and addresses written right before it")                  \
    K(HANG_UPLOAD, HANG, 0, "an upload right before it")                                                     \
    K(WILD, PAGE_FAULT, 0, "a store to an address that was never mapped")                                    \
    K(NULL_POINTER, PAGE_FAULT, 0, "a store to address 0")                                                   \
    K(NOT_CANONICAL, PAGE_FAULT, 0, "a store to an address that no processor has")                           \
    K(AFTER_FREE, PAGE_FAULT, 0, "a store to a buffer that was destroyed")                                   \
    K(AFTER_FREE_REUSED, PAGE_FAULT, 0, "the same, and its handle names another buffer")                     \
    K(BEYOND, PAGE_FAULT, 0, "a store behind the end of a buffer")                                           \
    K(BEFORE, PAGE_FAULT, 0, "a store before the start of a buffer")                                         \
    K(EVICTED, PAGE_FAULT, 0, "a store to a buffer that is not resident")                                    \
    K(STRANGER, PAGE_FAULT, 0, "a pointer to one buffer, so far out of it that it ends near another")        \
    K(FAULT_AHEAD, PAGE_FAULT, IS_AHEAD, "behind good submissions that are at the device")                   \
    K(FAULT_BETWEEN, PAGE_FAULT, IS_AHEAD | IS_BEHIND, "between good submissions")                           \
    K(FAULT_CONTEXT, PAGE_FAULT, IS_SECOND | IS_BEHIND, "in one of two contexts")                            \
    K(FAULT_LONG, PAGE_FAULT, IS_LONG, "in a frame of 10 000 draws")                                         \
    K(MALFORMED, MALFORMED, 0, "a packet that names what does not exist")                                    \
    K(TYPE, TYPE, 0, "a packet that names a resource of the wrong kind")                                     \
    K(MISALIGNED, MISALIGNED, 0, "constants that begin where the device cannot read them")                   \
    K(DMA, DMA, 0, "memory of the guest's that is none")                                                     \
    K(BAD_SHADER, MALFORMED, 0, "a shader that is garbage: a draw waits for it")                             \
    K(REFUSED_AHEAD, MALFORMED, IS_AHEAD, "a refusal behind good submissions that are at the device")        \
    K(OUT_OF_MEMORY, MEMORY, 0, "more memory than the executor may have")                                    \
    K(OUT_OF_TEXTURES, MEMORY, 0, "more textures than the executor may have memory for")                     \
    K(OOM_KILLER, HOST_MEMORY, IS_OUTSIDE, "the kernel ends it for want of memory")                          \
    K(KILLED, KILLED, IS_OUTSIDE, "SIGKILL")                                                                 \
    K(SIGNAL, KILLED, IS_OUTSIDE, "any other signal that ends a process")                                    \
    K(STOPPED, STOPPED, IS_OUTSIDE, "SIGSTOP")                                                               \
    K(FROZEN, STOPPED, IS_OUTSIDE, "the freezer")                                                            \
    K(SLOW, SLOW, IS_SLOW, "a draw that takes long")                                                         \
    K(SLOW_DRAWS, SLOW, IS_SLOW | IS_SHORT, "forty draws that each take a part of it")                       \
    K(SLOW_CREATION, SLOW, IS_SLOW | IS_SHORT, "textures that are made and cleared")                         \
    K(HANG_COMPUTE, HANG, 0, "a dispatch whose rounds come from a buffer: the same shader ended before")     \
    K(HANG_TWICE, HANG, 0, "two draws that do not end: it is the first")                                     \
    K(HANG_INSTANCED, HANG, 0, "a small draw of more instances than can be drawn")                           \
    K(HANG_MARKED, HANG, 0, "regions, names and presents around each draw")                                  \
    K(HANG_HUGE, HANG, IS_HUGE, "in a frame of 18 000 draws")                                                \
    K(HANG_TINY, HANG, IS_TINY, "the only draw of its submission")                                           \
    K(HANG_MANY_CONTEXTS, HANG, IS_SECOND | IS_AHEAD, "in one of twenty contexts")                           \
    K(HANG_BEFORE_HANG, HANG, IS_BEHIND, "what follows does not end either")                                 \
    K(HANG_BEFORE_FAULT, HANG, IS_BEHIND, "what follows stores to where nothing is")                         \
    K(HANG_BEFORE_REFUSAL, HANG, IS_BEHIND, "what follows is refused")                                       \
    K(FAULT_BEFORE_HANG, PAGE_FAULT, IS_BEHIND, "what follows does not end")                                 \
    K(FAULT_BEFORE_REFUSAL, PAGE_FAULT, IS_BEHIND, "what follows is refused")                                \
    K(REFUSED_BEFORE_HANG, MALFORMED, IS_BEHIND, "what follows does not end")                                \
    K(REFUSED_CONTEXT, MALFORMED, IS_SECOND | IS_AHEAD, "in one of two contexts")                            \
    K(SLOW_BEFORE_HANG, HANG, IS_SHORT, "slow draws, and then one that does not end")                        \
    K(FAULT_TWICE, PAGE_FAULT, 0, "two stores to where nothing is: it is the first")                         \
    K(HANG_AGAIN, HANG, IS_AGAIN, "after a page fault that was recovered from")                              \
    K(FAULT_AGAIN, PAGE_FAULT, IS_AGAIN | IS_AHEAD, "after another, at another address")                     \
    K(EVICTED_BACK, PAGE_FAULT, 0, "behind the end of a buffer that was evicted, and is back")               \
    K(COPIED_POINTER, PAGE_FAULT, 0, "the pointer was copied from another buffer")                           \
    K(REUSED_POINTER, PAGE_FAULT, 0, "the buffer that held another pointer before was made again")           \
    K(SIGNAL_THREAD, KILLED, IS_OUTSIDE, "a signal to one thread")                                           \
    K(SIGNAL_QUEUED, KILLED, IS_OUTSIDE, "a signal with a value")                                            \
    K(SIGNAL_FORGED, KILLED, IS_OUTSIDE, "the same, whose sender says that he is the executor")              \
    K(SIGNAL_TIMER, KILLED, IS_OUTSIDE, "the same, whose sender says that he is a timer")                    \
    K(SIGNAL_HARMLESS, NONE, IS_FINE | IS_OUTSIDE, "signals that end nothing")                               \
    K(TRACED, STOPPED, IS_OUTSIDE, "held by a debugger")                                                     \
    K(STOPPED_SHORTLY, HANG, IS_OUTSIDE, "a hang that was stopped for a while, and had its time")            \
    K(HANG_TRACED, HANG, IS_OUTSIDE, "a debugger holds its first thread, the others go on")                  \
    K(THROTTLED, STARVED, IS_OUTSIDE, "a hundredth of a processor")                                          \
    K(FINE, NONE, IS_FINE | IS_AHEAD | IS_BEHIND, "nothing is wrong")                                        \
    K(DESTROYED_BEHIND, NONE, IS_FINE | IS_AHEAD,                                                            \
      "buffers are destroyed right behind what used them by their addresses")                                \
    K(AFTER_USE_AND_FREE, PAGE_FAULT, 0, "the same, and one is used again")                                  \
    K(SLOW_COMPUTE, SLOW, IS_SLOW | IS_SHORT, "a dispatch that takes long")                                  \
    K(HANG_RING_WRAPPED, HANG, IS_AHEAD, "more submissions before it than the ring has room for")            \
    K(HANG_SAME_REGIONS, HANG, IS_SECOND | IS_AHEAD,                                                         \
      "another context has regions of the same names, and ended them")                                       \
    K(BEYOND_REMADE, PAGE_FAULT, 0,                                                                          \
      "behind the end of a buffer that was destroyed and made again many times")                             \
    K(BEYOND_DESTROYED, PAGE_FAULT, 0, "a store behind the end of a buffer that was destroyed")              \
    K(BEYOND_IMPORTED, PAGE_FAULT, 0, "the same of a living one, by another handle of its")                  \
    K(SIGNAL_MADE_UP, KILLED, IS_OUTSIDE, "a debugger has a signal say that it is a page fault")

enum culprit_kind {
#define CULPRIT_ROW(NAME, cause, is, doc) CULPRIT_##NAME,
    CULPRIT_KINDS(CULPRIT_ROW)
#undef CULPRIT_ROW
        CULPRIT_NUM_KINDS
};

struct culprit_desc {
    const char *name;
    enum bb_cause cause;
    uint32_t is; /* enum culprit_is */
};

extern const struct culprit_desc culprit_kinds[CULPRIT_NUM_KINDS];

enum { CULPRIT_SIZE = 1024, CULPRIT_NOWHERE = 9 }; /* of the target; an alloc_id that is no guest memory */

struct culprit {
    enum culprit_kind kind;
    const struct culprit_desc *desc;
    struct rng rng;
    uint32_t draws;
    double seconds; /* SLOW: that it is to take */
    double pixel_s; /* what a pixel of an endless draw takes */
    double group_s; /* what a group of a spinning dispatch takes */
    int signal;     /* of those from outside */
    bool is_used;   /* good frames draw a pixel with what is endless, so that its pipeline is no new one */
    struct abi_builder b;
    /* the truth */
    uint32_t packet;
    enum bb_fault_kind fault;
    bool no_address;
    uint32_t resource, distance; /* that the fault is about; bytes out of bounds, 0: not one number */
};

void culprit_init(struct culprit *c, enum culprit_kind kind, uint64_t seed);
void culprit_finish(struct culprit *c);

/* Each fills c->b with a stream. Objects come first, and then everything else in context 1, but for `bad` of IS_SECOND. */
void culprit_objects(struct culprit *c);
void culprit_good(struct culprit *c);
void culprit_bad(struct culprit *c); /* sets the truth */
/* What follows it: good, or wrong as well. */
void culprit_behind(struct culprit *c);
/* IS_AGAIN: what went wrong before. */
void culprit_first(struct culprit *c);
/* A draw of `side` x `side` pixels that would not end, for calibration. */
void culprit_endless(struct culprit *c, float side);
/* A dispatch of so many groups, for the same. */
void culprit_spin(struct culprit *c, uint32_t groups);
