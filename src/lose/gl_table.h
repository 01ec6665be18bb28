/* SPDX-License-Identifier: MIT */
/* gl_table.h: what the commands of OpenGL, OpenGL ES, EGL and GLX may answer besides what is asked of them; and what the ioctls of DRM do. */
#pragma once

#include <stdint.h>

/* The commands that there are, sorted; made from the headers. */
extern const char *const lose_gl_names[];
extern const unsigned lose_num_gl_names;
/* The ioctls of DRM, by their numbers; what they may answer is in lose_gl_answers as well. */
extern const char *const lose_drm_names[];
extern const unsigned lose_num_drm_names;

struct lose_gl_answer {
    const char *call; /* a pattern, as of fnmatch() */
    const char *word;
    int32_t
        error; /* what glGetError or eglGetError says then, or errno; 0: nothing; LOSE_DEVICE_LOST: the GPU is reset */
    uint32_t value; /* what the command returns */
};

/* Ends with a row without a name. */
extern const struct lose_gl_answer lose_gl_answers[];
