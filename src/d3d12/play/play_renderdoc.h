/* SPDX-License-Identifier: MIT */
/* play_renderdoc.h: a capture of RenderDoc around what is played, where RenderDoc's library is in this process. */
#pragma once

#include <stdbool.h>

/* Begins a capture of what all devices do from here on; false: RenderDoc is not here. */
bool play_renderdoc_begin(void);
/* Ends it, and prints where it is, or that RenderDoc has made none. */
void play_renderdoc_end(unsigned frame);
