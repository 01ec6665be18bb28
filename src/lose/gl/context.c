/* SPDX-License-Identifier: MIT */
/* context.c: contexts of OpenGL that are lost, as by a reset of the GPU.
 *
 *   GL_ALIVE ──the asked frame or draw──▶ GL_HUNG ──hang_ns──▶ GL_LOST      (asked to hang)
 *      └──────────────────────────────────────────────────────▲            (asked to be lost)
 *
 * Invariants:
 *  1. A reset takes all contexts of the process: the one that was to be lost is guilty, the others are innocent (GL_KHR_robustness,
 *     GL_EXT_robustness), unless another status is asked for.
 *  2. Who asked for LOSE_CONTEXT_ON_RESET hears it from glGetGraphicsResetStatus, at least once, and as long as there can be no new
 *     context; its commands do nothing, return 0 and generate GL_CONTEXT_LOST, except those that are to end waits.
 *  3. Who did not hears nothing of OpenGL: what it draws is not drawn, and everything else goes through.
 *  4. EGL tells both of them when they show a frame, or make the context current again: EGL_CONTEXT_LOST. GLX tells nobody.
 *  5. A context of a process that has a Vulkan device of the record's is left alone: it is drawn by that device (Zink), whose loss
 *     its driver tells in its own words.
 */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "gl.h"

#include <EGL/egl.h>
#include <GL/gl.h>
#include <GL/glext.h>

#include "base/check.h"
#include "base/clock.h"

#define STEP_NS (5 * NSEC_PER_MSEC)

struct gl_context {
    struct gl_context *next;
    void *handle, *display; /* handle: NULL if it was destroyed */
    struct lose_device *slot;
    bool robust;
    unsigned threads; /* in which it is current */
    _Atomic enum gl_state state;
    _Atomic bool told;
    _Atomic uint32_t status, error; /* of the reset; that glGetError answers next */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of the list, and of changes of state */
static struct gl_context *contexts;
static __thread struct gl_context *current;
__thread int32_t gl_egl_error;

static void open_record(void)
{
    lose_open_record();
    if (lose_record) /* it can report, whatever it comes to: libGLX loads its vendor before it is asked for anything */
        atomic_fetch_add(&lose_record->instances, 1);
}

void gl_open(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    pthread_once(&once, open_record);
}

/* ---- which there are ------------------------------------------------------ */

/* 5 */
static bool has_vulkan(void)
{
    for (uint32_t i = 0; i < LOSE_DEVICES && atomic_load(&lose_record->device[i].pid); i++)
        if (atomic_load(&lose_record->device[i].pid) == (uint32_t)getpid() &&
            atomic_load(&lose_record->device[i].api) == LOSE_VULKAN &&
            !atomic_load(&lose_record->device[i].destroyed_ns))
            return true;
    return false;
}

void gl_context_made(void *handle, void *display, enum lose_api api, bool robust)
{
    struct gl_context *c = lose_record && handle && !has_vulkan() ? calloc(1, sizeof(*c)) : NULL;

    if (!c)
        return;
    c->slot = slot_take(api == LOSE_EGL ? "OpenGL by EGL" : "OpenGL by GLX", api, !robust);
    if (!c->slot) {
        free(c);
        return;
    }
    c->handle = handle;
    c->display = display;
    c->robust = robust;
    pthread_mutex_lock(&lock);
    c->next = contexts;
    contexts = c;
    pthread_mutex_unlock(&lock);
}

static struct gl_context *find(void *handle)
{
    struct gl_context *c = contexts;

    while (c && c->handle != handle)
        c = c->next;
    return handle ? c : NULL;
}

/* With the lock: one that nobody has any more. */
static void drop(struct gl_context *c)
{
    struct gl_context **at = &contexts;

    if (c->handle || c->threads)
        return;
    while (*at != c)
        at = &(*at)->next;
    *at = c->next;
    free(c);
}

static void destroyed(struct gl_context *c)
{
    c->handle = NULL;
    slot_first(&c->slot->destroyed_ns);
    drop(c);
}

void gl_context_destroyed(void *handle)
{
    struct gl_context *c;

    pthread_mutex_lock(&lock);
    c = find(handle);
    if (c)
        destroyed(c);
    pthread_mutex_unlock(&lock);
}

void gl_contexts_destroyed(void *display)
{
    pthread_mutex_lock(&lock);
    for (struct gl_context *c = contexts, *next; c; c = next) {
        next = c->next;
        if (c->display == display && c->handle)
            destroyed(c);
    }
    pthread_mutex_unlock(&lock);
}

void gl_context_current(void *handle)
{
    struct gl_context *old = current;

    if (!lose_record)
        return;
    pthread_mutex_lock(&lock);
    current = find(handle);
    if (current)
        current->threads++;
    if (old) {
        old->threads--;
        drop(old);
    }
    pthread_mutex_unlock(&lock);
}

/* ---- losing ---------------------------------------------------------------- */

static uint32_t status_of(bool guilty)
{
    return lose_record->reset ? lose_record->reset
           : guilty           ? GL_GUILTY_CONTEXT_RESET
                              : GL_INNOCENT_CONTEXT_RESET;
}

/* With the lock. */
static void lose(struct gl_context *guilty)
{
    slot_lost(guilty->slot);
    for (struct gl_context *c = contexts; c; c = c->next) {
        if (atomic_load(&c->state) == GL_LOST)
            continue;
        atomic_store(&c->status, status_of(c == guilty));
        atomic_store(&c->state, GL_LOST);
    }
}

/* With the lock. */
static void begin(struct gl_context *c)
{
    INVARIANT(atomic_load(&c->state) == GL_ALIVE);
    gl_stubs_lost();
    if (slot_begin(c->slot))
        atomic_store(&c->state, GL_HUNG);
    else
        lose(c);
}

/* The state before so much work is done. */
static enum gl_state work(struct gl_context *c, uint32_t frame, uint32_t draw)
{
    enum gl_state s = atomic_load(&c->state);

    lose_called(c->slot);
    if (s == GL_LOST)
        return s;
    pthread_mutex_lock(&lock);
    s = atomic_load(&c->state);
    if (s == GL_HUNG && slot_reset_is_due(c->slot))
        lose(c);
    if (s == GL_ALIVE && (frame || draw) && slot_due(c->slot, frame, draw))
        begin(c);
    s = atomic_load(&c->state);
    if (s == GL_ALIVE && (frame || draw))
        slot_work(c->slot, frame, draw, draw);
    pthread_mutex_unlock(&lock);
    return s;
}

/* What waits for a device that hangs waits for its reset, `ns` at most. */
static enum gl_state wait(struct gl_context *c, uint64_t ns)
{
    uint64_t began = lose_now(), waited = 0;
    enum gl_state s;

    atomic_fetch_add(&c->slot->waits, 1);
    while ((s = work(c, 0, 0)) == GL_HUNG && waited < ns) {
        nanosleep(&(struct timespec){0, (long)(ns - waited < STEP_NS ? ns - waited : STEP_NS)}, NULL);
        waited = lose_now() - began;
    }
    atomic_fetch_sub(&c->slot->waits, 1);
    return s;
}

void gl_told(enum lose_gl_call call)
{
    slot_reported(current->slot, call);
}

bool gl_context_usable(void *handle, enum lose_gl_call call)
{
    struct gl_context *c;

    if (!lose_record)
        return true;
    pthread_mutex_lock(&lock);
    c = find(handle);
    if (c && atomic_load(&c->state) == GL_LOST)
        slot_reported(c->slot, call);
    else
        c = NULL;
    pthread_mutex_unlock(&lock);
    return !c;
}

enum gl_state gl_frame(void)
{
    struct gl_context *c = current;
    enum gl_state s = c ? work(c, 1, 0) : GL_ALIVE;

    if (s == GL_HUNG)
        s = wait(c, UINT64_MAX);
    if (s == GL_ALIVE && c)
        gl_stubs_showed();
    if (s == GL_LOST)
        slot_used(c->slot);
    return s;
}

/* ---- commands -------------------------------------------------------------- */

/* What a fault answers: GL's or EGL's error, and a value; false: nothing, or what the context does when it is lost. */
static bool answer(const struct gl_stub *s, struct lose_fault *f, struct gl_context *c, struct gl_next *out)
{
    uint64_t ns = f->amount;

    if (f->what == LOSE_DELAYS)
        nanosleep(&(struct timespec){(time_t)(ns / NSEC_PER_SEC), (long)(ns % NSEC_PER_SEC)}, NULL);
    if (f->what == LOSE_CRASHES)
        raise(SIGSEGV);
    if (f->what == LOSE_ANSWERS && f->result == LOSE_DEVICE_LOST && c) {
        pthread_mutex_lock(&lock);
        if (atomic_load(&c->state) == GL_ALIVE)
            begin(c);
        pthread_mutex_unlock(&lock);
    }
    if ((f->what != LOSE_ANSWERS && f->what != LOSE_HIDES) || f->result == LOSE_DEVICE_LOST)
        return false;
    *out = (struct gl_next){NULL, f->what == LOSE_ANSWERS ? (uintptr_t)f->amount : 0};
    if (s->egl)
        gl_egl_error = f->what == LOSE_HIDES ? EGL_NOT_INITIALIZED : f->any ? EGL_BAD_ALLOC : f->result;
    else if (c && f->result)
        atomic_store(&c->error, f->any ? GL_OUT_OF_MEMORY : (uint32_t)f->result);
    return true;
}

static bool answered(const struct gl_stub *s, struct gl_context *c, struct gl_next *out)
{
    bool is = false;

    for (uint64_t bits = s->faults; bits; bits &= bits - 1) {
        struct lose_fault *f = &lose_record->fault[__builtin_ctzll(bits)];
        if (!(f->any && slot_is_beneath()) && fault_is_due(f))
            is |= answer(s, f, c, out);
    }
    return is;
}

static void count(struct gl_stub *s)
{
    struct lose_called_gl *of;
    uint32_t n;

    pthread_mutex_lock(&lock);
    of = atomic_load(&s->counted);
    n = of ? 0 : atomic_fetch_add(&lose_record->num_gl, 1);
    if (!of && n < LOSE_COUNTED) {
        of = &lose_record->gl[n];
        snprintf(of->name, sizeof(of->name), "%s", s->name);
        atomic_store(&s->counted, of);
    }
    pthread_mutex_unlock(&lock);
    if (of)
        atomic_fetch_add(&of->calls, 1);
}

struct gl_next gl_call(uint32_t stub)
{
    struct gl_stub *s = &gl_stubs[stub];
    struct gl_context *c = current;
    struct gl_next out = {NULL, 0}, go = {gl_next[stub], 0};
    enum gl_state state;

    if (s->name && slot_counts())
        count(s);
    if (s->faults && answered(s, c, &out))
        return out;
    if (!c || s->kind == GL_WINDOW)
        return go;
    state = work(c, 0, s->kind == GL_DRAWS);
    if (state == GL_HUNG && s->kind == GL_WAITS)
        state = wait(c, UINT64_MAX);
    if (state == GL_ALIVE || s->kind == GL_ASKS)
        return go;
    if (state == GL_LOST)
        slot_used(c->slot);
    if (state == GL_LOST && c->robust)
        atomic_store(&c->error, GL_CONTEXT_LOST);
    else if (s->kind == GL_PASSES)
        return go;
    return out;
}

/* ---- questions ------------------------------------------------------------- */

static struct {
    GLenum(APIENTRY *status)(void);
    GLenum(APIENTRY *error)(void);
    PFNGLGETSYNCIVPROC sync;
    PFNGLCLIENTWAITSYNCPROC wait;
    PFNGLGETQUERYOBJECTUIVPROC query;
} real;

static bool is_lost(struct gl_context *c)
{
    return c && c->robust && work(c, 0, 0) == GL_LOST;
}

static GLenum APIENTRY hook_status(void)
{
    struct gl_context *c = current;

    if (!c || work(c, 0, 0) != GL_LOST)
        return real.status();
    if (!c->robust || (atomic_exchange(&c->told, true) &&
                       lose_now() >= atomic_load(&lose_record->lost_ns) + lose_record->refuse_ns))
        return GL_NO_ERROR;
    gl_told(LOSE_glGetGraphicsResetStatus);
    return atomic_load(&c->status);
}

static GLenum APIENTRY hook_error(void)
{
    struct gl_context *c = current;
    uint32_t e = c ? atomic_exchange(&c->error, 0) : 0;

    if (e == GL_CONTEXT_LOST)
        gl_told(LOSE_glGetError);
    return e || is_lost(c) ? e : real.error();
}

static void APIENTRY hook_sync(GLsync sync, GLenum name, GLsizei size, GLsizei *length, GLint *values)
{
    struct gl_context *c = current;
    bool lost = is_lost(c), hung = !lost && c && atomic_load(&c->state) == GL_HUNG;

    if (!(lost || hung) || name != GL_SYNC_STATUS || size < 1) {
        real.sync(sync, name, size, length, values);
        return;
    }
    *values = lost ? GL_SIGNALED : GL_UNSIGNALED; /* whoever polls it comes to an end */
    if (length)
        *length = 1;
}

static GLenum APIENTRY hook_wait(GLsync sync, GLbitfield flags, GLuint64 timeout)
{
    struct gl_context *c = current;
    enum gl_state s = c ? wait(c, timeout) : GL_ALIVE;

    if (s == GL_LOST && c->robust)
        atomic_store(&c->error, GL_CONTEXT_LOST);
    return s == GL_ALIVE  ? real.wait(sync, flags, timeout)
           : s == GL_HUNG ? GL_TIMEOUT_EXPIRED
                          : GL_WAIT_FAILED;
}

static void APIENTRY hook_query(GLuint id, GLenum name, GLuint *value)
{
    if (!is_lost(current))
        real.query(id, name, value);
    else if (name == GL_QUERY_RESULT_AVAILABLE)
        *value = GL_TRUE;
    else
        atomic_store(&current->error, GL_CONTEXT_LOST);
}

void *gl_hook_of(const struct gl_hooked *hooks, size_t n, const char *name, void *function)
{
    for (size_t i = 0; i < n; i++)
        if (!strcmp(name, hooks[i].name)) {
            memcpy(hooks[i].real, &function, sizeof(function));
            return hooks[i].hook;
        }
    return NULL;
}

void *gl_hook(const char *name, void *driver)
{
    static const struct gl_hooked hooks[] = {
        {"glGetGraphicsResetStatus", hook_status, &real.status},
        {"glGetGraphicsResetStatusARB", hook_status, &real.status},
        {"glGetGraphicsResetStatusEXT", hook_status, &real.status},
        {"glGetGraphicsResetStatusKHR", hook_status, &real.status},
        {"glGetError", hook_error, &real.error},
        {"glGetSynciv", hook_sync, &real.sync},
        {"glGetSyncivAPPLE", hook_sync, &real.sync},
        {"glClientWaitSync", hook_wait, &real.wait},
        {"glClientWaitSyncAPPLE", hook_wait, &real.wait},
        {"glGetQueryObjectuiv", hook_query, &real.query},
        {"glGetQueryObjectuivEXT", hook_query, &real.query},
    };

    return gl_hook_of(hooks, sizeof(hooks) / sizeof(hooks[0]), name, driver);
}
