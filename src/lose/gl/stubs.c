/* SPDX-License-Identifier: MIT */
/* stubs.c: a small function for each command that GLVND asks for, whatever its parameters: it jumps on as long as its byte in gl_slow
 * is 0, which costs a comparison; else it saves what may hold parameters, and asks gl_call().
 *
 * Where there is no such code for a processor, commands go straight to the driver: frames, contexts and questions are seen all the
 * same, for these have hooks; draws are not.
 */
#include <stdatomic.h>
#include <string.h>

#include "gl.h"

struct gl_stub gl_stubs[GL_STUBS];
void *gl_next[GL_STUBS];
uint8_t gl_slow[GL_STUBS];
static _Atomic uint32_t made;
static _Atomic bool showed;

#define TEXT_OF(x) #x
#define TEXT(x)    TEXT_OF(x)

#if defined(__x86_64__)
#define STUB_SIZE 32
__asm__(".text\n.hidden gl_slow\n.hidden gl_next\n.hidden gl_call\n"
        ".balign 64\ngl_stub_first:\n.set n, 0\n"
        ".rept 8192\n"
        ".balign 32\n"
        "endbr64\n"
        "cmpb $0, gl_slow+n(%rip)\n"
        "jne 1f\n"
        "jmp *gl_next+8*n(%rip)\n"
        "1: movl $n, %r11d\n"
        "jmp gl_stub_ask\n"
        ".set n, n+1\n"
        ".endr\n"
        ".balign 64\ngl_stub_ask:\n"
        "push %rdi; push %rsi; push %rdx; push %rcx; push %r8; push %r9; push %rax\n"
        "sub $128, %rsp\n"
        "movups %xmm0, (%rsp); movups %xmm1, 16(%rsp); movups %xmm2, 32(%rsp); movups %xmm3, 48(%rsp)\n"
        "movups %xmm4, 64(%rsp); movups %xmm5, 80(%rsp); movups %xmm6, 96(%rsp); movups %xmm7, 112(%rsp)\n"
        "movl %r11d, %edi\n"
        "call gl_call\n"
        "movq %rax, %r11\n"
        "movq %rdx, %r10\n"
        "movups (%rsp), %xmm0; movups 16(%rsp), %xmm1; movups 32(%rsp), %xmm2; movups 48(%rsp), %xmm3\n"
        "movups 64(%rsp), %xmm4; movups 80(%rsp), %xmm5; movups 96(%rsp), %xmm6; movups 112(%rsp), %xmm7\n"
        "add $128, %rsp\n"
        "pop %rax; pop %r9; pop %r8; pop %rcx; pop %rdx; pop %rsi; pop %rdi\n"
        "testq %r11, %r11\n"
        "je 1f\n"
        "jmp *%r11\n"
        "1: movq %r10, %rax\n"
        "pxor %xmm0, %xmm0\n"
        "ret\n");
#elif defined(__aarch64__)
#define STUB_SIZE 64
__asm__(".text\n.hidden gl_slow\n.hidden gl_next\n.hidden gl_call\n"
        ".balign 64\ngl_stub_first:\n.set n, 0\n"
        ".rept 8192\n"
        ".balign 64\n"
        "hint #34\n" /* bti c */
        "adrp x16, gl_slow+n\n"
        "ldrb w17, [x16, :lo12:gl_slow+n]\n"
        "cbnz w17, 1f\n"
        "adrp x16, gl_next+8*n\n"
        "ldr x16, [x16, :lo12:gl_next+8*n]\n"
        "br x16\n"
        "1: mov w17, #n\n"
        "b gl_stub_ask\n"
        ".set n, n+1\n"
        ".endr\n"
        ".balign 64\ngl_stub_ask:\n"
        "stp x29, x30, [sp, #-224]!\n"
        "mov x29, sp\n"
        "stp x0, x1, [sp, #16]\n stp x2, x3, [sp, #32]\n stp x4, x5, [sp, #48]\n stp x6, x7, [sp, #64]\n"
        "str x8, [sp, #80]\n"
        "stp q0, q1, [sp, #96]\n stp q2, q3, [sp, #128]\n stp q4, q5, [sp, #160]\n stp q6, q7, [sp, #192]\n"
        "mov w0, w17\n"
        "bl gl_call\n"
        "mov x16, x0\n"
        "mov x17, x1\n"
        "ldp x0, x1, [sp, #16]\n ldp x2, x3, [sp, #32]\n ldp x4, x5, [sp, #48]\n ldp x6, x7, [sp, #64]\n"
        "ldr x8, [sp, #80]\n"
        "ldp q0, q1, [sp, #96]\n ldp q2, q3, [sp, #128]\n ldp q4, q5, [sp, #160]\n ldp q6, q7, [sp, #192]\n"
        "ldp x29, x30, [sp], #224\n"
        "cbz x16, 1f\n"
        "br x16\n"
        "1: mov x0, x17\n"
        "movi v0.2d, #0\n"
        "ret\n");
#endif
#ifdef STUB_SIZE
_Static_assert(GL_STUBS == 8192, "as many as above");
extern char gl_stub_first[] __attribute__((visibility("hidden")));
#endif

static bool begins(const char *name, const char *with)
{
    return !strncmp(name, with, strlen(with));
}

static enum gl_kind kind_of(const char *name)
{
    static const char *const
        draws[] = {"glDraw",     "glMultiDraw", "glDispatchCompute",     "glBlitFramebuffer",
                   "glCallList", "glRect",      "glBlitNamedFramebuffer"},
        *const waits[] = {"glFinish", "glReadPixels", "glReadnPixels", "glGetTexImage", "glGetnTexImage"},
        *const settings[] = {"glDrawBuffer",   "glClearColor", "glClearDepth",
                             "glClearStencil", "glClearIndex", "glClearAccum"};

    if (begins(name, "egl") || begins(name, "glX"))
        return GL_WINDOW;
    for (size_t i = 0; i < sizeof(settings) / sizeof(settings[0]); i++)
        if (begins(name, settings[i]))
            return GL_PASSES;
    for (size_t i = 0; i < sizeof(draws) / sizeof(draws[0]); i++)
        if (begins(name, draws[i]))
            return GL_DRAWS;
    for (size_t i = 0; i < sizeof(waits) / sizeof(waits[0]); i++)
        if (begins(name, waits[i]))
            return GL_WAITS;
    if (!strcmp(name, "glEnd"))
        return GL_ENDS;
    return !strcmp(name, "glBegin") || begins(name, "glClear") ? GL_DRAWS : GL_PASSES;
}

/* Where a program finds out whether there is a GPU. */
static bool is_first(const char *name)
{
    return !strcmp(name, "eglInitialize") || !strcmp(name, "glXChooseVisual") ||
           !strcmp(name, "glXChooseFBConfig") || !strcmp(name, "glXGetFBConfigs");
}

static bool is_about(const struct lose_fault *f, const char *name, const struct gl_stub *s)
{
    bool memory = f->result == -1 || f->result == -2,
         works = f->what != LOSE_ANSWERS || f->result == LOSE_DEVICE_LOST;

    if (f->what == LOSE_HIDES)
        return is_first(name);
    if (f->any && s->frame) /* of what Vulkan's commands answer, what these may as well */
        return f->call == LOSE_vkQueuePresentKHR && (works || (memory && s->egl));
    if (f->any && s->kind == GL_DRAWS)
        return f->call == LOSE_vkQueueSubmit && (works || memory);
    return !strcmp(f->gl, name);
}

static uint64_t faults_of(const char *name, const struct gl_stub *s)
{
    uint64_t bits = 0;

    for (uint32_t i = 0; i < lose_record->num_faults && i < LOSE_FAULTS; i++)
        bits |= (uint64_t)is_about(&lose_record->fault[i], name, s) << i;
    return bits;
}

void *gl_stub_make(const char *name, void *real, void *(*hook)(const char *name, void *real))
{
    void *own = real && lose_record ? hook(name, real) : NULL, *next = own ? own : real;
#ifdef STUB_SIZE
    uint32_t n = real && lose_record ? atomic_fetch_add(&made, 1) : GL_STUBS;

    if (n < GL_STUBS) {
        struct gl_stub *s = &gl_stubs[n];

        s->kind = own && begins(name, "gl") && !begins(name, "glX") ? GL_ASKS : kind_of(name);
        s->egl = begins(name, "egl");
        s->frame = begins(name, "eglSwapBuffers") || !strcmp(name, "glXSwapBuffers");
        s->faults = faults_of(name, s);
        s->name = lose_record->counts ? strdup(name) : NULL;
        gl_next[n] = next;
        gl_slow[n] = s->name || s->faults || s->kind == GL_WAITS ||
                     (s->kind == GL_DRAWS && (!atomic_load(&showed) || lose_record->at_submit));
        return gl_stub_first + (size_t)n * STUB_SIZE;
    }
#endif
    return next;
}

void gl_stubs_showed(void)
{
    uint32_t n = atomic_load(&made);

    if (atomic_exchange(&showed, true) || lose_record->at_submit || lose_record->counts)
        return;
    for (uint32_t i = 0; i < n && i < GL_STUBS; i++)
        if (gl_stubs[i].kind == GL_DRAWS && !gl_stubs[i].faults)
            gl_slow[i] = 0;
}

void gl_stubs_lost(void)
{
    atomic_store(&showed, true);
    memset(gl_slow, 1, sizeof(gl_slow));
}
