/* SPDX-License-Identifier: MIT */
/* table.h: what Vulkan's commands may answer, from its registry. */
#pragma once

#include <stdint.h>

#include "lose_calls.h"

struct lose_call_desc {
    const char *name;
    const int32_t *may; /* answer, besides VK_SUCCESS, which ends the list */
};

extern const struct lose_call_desc lose_calls[LOSE_NUM_CALLS]; /* by enum lose_call; the first has no name */

struct lose_result_name {
    int32_t value;
    const char *name, *word; /* "VK_ERROR_DEVICE_LOST", "device-lost" */
};

extern const struct lose_result_name lose_results[];
extern const unsigned lose_num_results;

/* What tells a program of OpenGL that its context is lost: numbers behind Vulkan's commands. */
#define LOSE_GL_CALLS(C)                                                                                     \
    C(glGetGraphicsResetStatus)                                                                              \
    C(glGetError)                                                                                            \
    C(eglMakeCurrent)                                                                                        \
    C(eglSwapBuffers)

enum lose_gl_call {
    LOSE_GL_FIRST = LOSE_NUM_CALLS - 1,
#define LOSE_GL_ROW(name) LOSE_##name,
    LOSE_GL_CALLS(LOSE_GL_ROW)
#undef LOSE_GL_ROW
        LOSE_GL_END,
};
