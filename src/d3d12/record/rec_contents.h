/* SPDX-License-Identifier: MIT */
/* rec_contents.h: something to compare for programs that present nothing and read nothing back: hashes of what their queues wrote
 * (rec_contents.c). On any thread; what is called with depth 0 makes no call that is recorded but Native::ContentsHash. */
#pragma once

#include "d3d12/record/rec_values.h"

/* The program has something else to compare: a picture that is hashed, or memory that it reads back. */
void rec_contents_unneeded(void);
/* It may soon: until it has, only what goes is looked at. */
void rec_contents_unlikely(void);

/* What the program does, in front of its doing so. */
void rec_contents_barriers(struct rec_object *list, UINT n, const D3D12_RESOURCE_BARRIER *b);
void rec_contents_begin(const void *list); /* it is recorded anew */
void rec_contents_execute(struct rec_object *queue, UINT n, ID3D12CommandList *const *lists);
void rec_contents_signal(const void *queue, ID3D12Fence *fence, uint64_t value);
/* The last reference of an object with REC_HAS_CONTENTS is about to go. */
void rec_contents_gone(struct rec_thread *t, struct rec_object *o);

/* Where the program may know that all queues have done what they were given: if they have, hashes what they wrote since the last
 * time, as far as the time for it goes. */
void rec_contents_look(struct rec_thread *t);
