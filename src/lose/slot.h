/* SPDX-License-Identifier: MIT */
/* slot.h: what a process of the program writes into the record: its devices, or contexts, what they did and what became of them.
 *
 * It is the same for whoever takes something away from the program: the Vulkan layer (layer.c), and OpenGL's vendor library (gl/).
 */
#pragma once

#include <stdbool.h>

#include "lose/record.h"

extern struct lose_record *lose_record; /* NULL: nothing is asked */

uint64_t lose_now(void);
/* Finds the record by the environment. Once per process. */
void lose_open_record(void);
/* Where the program is. */
enum lose_phase lose_phase(void);
/* Notes what every device has done. */
void lose_note_work(void);
/* Who dies from now on says of what. */
void lose_watch_signals(void);

/* Whether a call that a fault is about is to be answered so; it is counted. */
bool fault_is_due(struct lose_fault *f);

/* Whether this is a process whose devices are Direct3D's: what that is made with, OpenGL or Vulkan, is none of the program's. */
bool slot_is_beneath(void);
/* A slot for a new device, or context (`deaf`: that is told of no reset); NULL: there is no record, or no slot left. */
struct lose_device *slot_take(const char *name, enum lose_api api, bool deaf);
/* Whether there can be no new device yet, which is counted. */
bool slot_refused(enum lose_api api);
/* Sets a time once. */
void slot_first(_Atomic uint64_t *when);
/* Whether one of the losses that are asked for is due at this work, and was not given to another device. */
bool slot_due(const struct lose_device *d, uint32_t frame, uint32_t submit);
/* Work was accepted; by this thread. */
void slot_work(struct lose_device *d, uint32_t frame, uint32_t submit, bool works);
/* Whether calls are counted now. */
static inline bool slot_counts(void)
{
    return lose_record->counts && !atomic_load_explicit(&lose_record->counted, memory_order_relaxed);
}

/* It begins to be lost; true: it hangs first. */
bool slot_begin(struct lose_device *d);
bool slot_reset_is_due(const struct lose_device *d);
void slot_lost(struct lose_device *d);
/* The program goes on with it, or asks about it. */
void slot_used(struct lose_device *d);
/* A call told the program of it. */
void slot_reported(struct lose_device *d, uint32_t call);
