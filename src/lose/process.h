/* SPDX-License-Identifier: MIT */
/* process.h: what slot.c writes of its process into the record: by Linux (process.c), and by Linux below Wine
 * (d3d/process_windows.c). Numbers are Linux's. */
#pragma once

#include "lose/slot.h"

uint32_t process_id(void);
/* Of the calling thread. */
uint32_t process_thread(void);
/* Of processes' numbers: the namespace. 0: not known. */
uint64_t process_space(void);
/* What it runs, or the end of that. */
void process_name(char program[LOSE_PATH]);
/* Notes what it holds: descriptors, threads, memory of its own. */
void process_held(struct lose_device *slot);
/* Whether Direct3D is made here, of OpenGL or Vulkan, by a Wine that asks neither for losses, and the library of d3d/ is not here to
 * tell of them, or is of no use for it (Direct3D 8, DirectDraw). */
bool process_is_deaf(void);
/* What the validation layer says (words.h) comes before that, or after it. */
void process_marks_loss(void);
