/* SPDX-License-Identifier: MIT */
/* gl.h: what the parts of the vendor library share that stands between GLVND (libEGL, libGLX) and the driver's own vendor library.
 *
 * GLVND asks its vendor for every command, however a program comes to it: linked, by dlsym() or by eglGetProcAddress(). Each is
 * answered with a stub (stubs.c), which jumps on, or asks gl_call() first where there is something to decide (context.c).
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "lose/slot.h"

/* What a command is, as far as a loss is concerned. */
enum gl_kind {
    GL_PASSES,
    GL_DRAWS, /* a submission */
    GL_ENDS,  /* what it began: nothing by itself */
    GL_WAITS, /* for what was drawn */
    GL_ASKS,  /* whether the context is lost: a hook of ours answers */
    GL_WINDOW /* EGL and GLX */
};

struct gl_stub {
    enum gl_kind kind;
    uint64_t faults; /* bit n: fault n of the record is about it */
    bool frame;      /* it shows a frame */
    bool egl;        /* it has errors of EGL */
    char *name;      /* where calls are counted */
    struct lose_called_gl *_Atomic counted;
};

/* Where a stub goes on: `fn`; NULL: it returns `value`. */
struct gl_next {
    void *fn;
    uintptr_t value;
};

enum { GL_STUBS = 8192 };
extern struct gl_stub gl_stubs[GL_STUBS];
extern void *gl_next[GL_STUBS];   /* where each goes on */
extern uint8_t gl_slow[GL_STUBS]; /* 0: without asking */

/* What a stub asks. */
struct gl_next gl_call(uint32_t stub);
/* The function that a program gets for `name`, where the driver has `real`: NULL if it has none. */
void *gl_stub_make(const char *name, void *real, void *(*hook)(const char *name, void *real));
/* Draws need not be counted any more. */
void gl_stubs_showed(void);
/* Everything is asked about from now on. */
void gl_stubs_lost(void);

enum gl_state { GL_ALIVE, GL_HUNG, GL_LOST };
struct gl_context;

/* Reads what is asked, once. */
void gl_open(void);
/* A context was made, for which resets are told (`robust`) or not. */
void gl_context_made(void *handle, void *display, enum lose_api api, bool robust);
void gl_context_destroyed(void *handle);
/* All of a display. */
void gl_contexts_destroyed(void *display);
/* It may be made current: false: it is lost, and that is told by `call`. */
bool gl_context_usable(void *handle, enum lose_gl_call call);
/* It is current in this thread; NULL: none is. */
void gl_context_current(void *handle);
/* A frame is to be shown: whether the driver shall do it. */
enum gl_state gl_frame(void);
/* The current context told of its loss by `call`. */
void gl_told(enum lose_gl_call call);
/* The driver's function behind a hook of GL's own, or NULL: `name` has none. */
void *gl_hook(const char *name, void *function);
/* What stands for `name` in a table, or NULL; the real one is kept. */
struct gl_hooked {
    const char *name;
    void *hook, *real;
};
void *gl_hook_of(const struct gl_hooked *hooks, size_t n, const char *name, void *function);
/* What eglGetError answers next, instead of what the driver says; 0: that. */
extern __thread int32_t gl_egl_error;
