/* SPDX-License-Identifier: MIT */
/* foreign.c: commands of a driver that the registry of the build does not know.
 *
 * Their names are all that is known of them, and that the first argument is the command buffer, as of each vkCmd. The program gets a
 * thunk in place of the driver's function: it notes the name, calls that with all that it was given, whatever that is, and notes
 * the end.
 *
 * Invariants:
 *  1. A thunk is of one name and one function, for good: of several devices of a driver it is the same.
 *  2. What is in registers and the first words of the stack, in which arguments are, comes to the function as it was; so does its answer
 *     to the program.
 *  3. No pass is cut behind such a command, unless its name says that what it does lasts: what others set may end with the pass.
 */
#include <string.h>

#include "vkbox/encode.h"
#include "vkbox/fast.h"

enum { THUNKS = 256 };

#if defined(__x86_64__) || defined(__aarch64__)

/* foreign_next[i] is called by thunk i; never changed once it is there. */
__attribute__((visibility("hidden"))) PFN_vkVoidFunction foreign_next[THUNKS];
static char names[THUNKS][VKBOX_TEXT_MAX + 1];
static uint32_t num;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

extern const char foreign_thunks[] __attribute__((visibility("hidden")));
__attribute__((visibility("hidden"), used)) void foreign_begin(VkCommandBuffer handle, uint32_t i);
__attribute__((visibility("hidden"), used)) void foreign_end(VkCommandBuffer handle, uint32_t i);

/* Each thunk is 16 bytes that say which it is. The rest makes a frame, as debuggers and the record's stacks expect one:
 * registers of arguments, who it is, then a copy of 16 words of the caller's stack for the call. */
#define EACH_THUNK(says)                                                                                     \
    __asm__(".text\n"                                                                                        \
            ".balign 16\n"                                                                                   \
            ".hidden foreign_thunks\n"                                                                       \
            ".globl foreign_thunks\n"                                                                        \
            "foreign_thunks:\n"                                                                              \
            ".set thunk, 0\n"                                                                                \
            ".rept 256\n"                                                                                    \
            "    .balign 16\n"                                                                               \
            "    " says "\n"                                                                                 \
            "    .set thunk, thunk + 1\n"                                                                    \
            ".endr\n")

#if defined(__x86_64__)
EACH_THUNK("endbr64; movl $thunk, %eax; jmp foreign_thunk");
__asm__(".text\n"
        ".balign 16\n"
        ".type foreign_thunk, @function\n"
        "foreign_thunk:\n"
        "    .cfi_startproc\n"
        "    pushq %rbp\n"
        "    .cfi_def_cfa_offset 16\n"
        "    .cfi_offset %rbp, -16\n"
        "    movq %rsp, %rbp\n"
        "    .cfi_def_cfa_register %rbp\n"
        "    subq $320, %rsp\n"
        "    movq %rdi, -8(%rbp)\n"
        "    movq %rsi, -16(%rbp)\n"
        "    movq %rdx, -24(%rbp)\n"
        "    movq %rcx, -32(%rbp)\n"
        "    movq %r8, -40(%rbp)\n"
        "    movq %r9, -48(%rbp)\n"
        "    movl %eax, -56(%rbp)\n"
        "    movups %xmm0, -80(%rbp)\n"
        "    movups %xmm1, -96(%rbp)\n"
        "    movups %xmm2, -112(%rbp)\n"
        "    movups %xmm3, -128(%rbp)\n"
        "    movups %xmm4, -144(%rbp)\n"
        "    movups %xmm5, -160(%rbp)\n"
        "    movups %xmm6, -176(%rbp)\n"
        "    movups %xmm7, -192(%rbp)\n"
        "    movl %eax, %esi\n"
        "    call foreign_begin\n"
        ".set at, 0\n"
        ".rept 16\n"
        "    movq 16+at(%rbp), %rax\n"
        "    movq %rax, at(%rsp)\n"
        "    .set at, at + 8\n"
        ".endr\n"
        "    movups -80(%rbp), %xmm0\n"
        "    movups -96(%rbp), %xmm1\n"
        "    movups -112(%rbp), %xmm2\n"
        "    movups -128(%rbp), %xmm3\n"
        "    movups -144(%rbp), %xmm4\n"
        "    movups -160(%rbp), %xmm5\n"
        "    movups -176(%rbp), %xmm6\n"
        "    movups -192(%rbp), %xmm7\n"
        "    movl -56(%rbp), %eax\n"
        "    leaq foreign_next(%rip), %r11\n"
        "    movq (%r11,%rax,8), %r11\n"
        "    movq -8(%rbp), %rdi\n"
        "    movq -16(%rbp), %rsi\n"
        "    movq -24(%rbp), %rdx\n"
        "    movq -32(%rbp), %rcx\n"
        "    movq -40(%rbp), %r8\n"
        "    movq -48(%rbp), %r9\n"
        "    call *%r11\n"
        "    movq %rax, -16(%rbp)\n"
        "    movups %xmm0, -80(%rbp)\n"
        "    movq -8(%rbp), %rdi\n"
        "    movl -56(%rbp), %esi\n"
        "    call foreign_end\n"
        "    movq -16(%rbp), %rax\n"
        "    movups -80(%rbp), %xmm0\n"
        "    leave\n"
        "    .cfi_def_cfa %rsp, 8\n"
        "    ret\n"
        "    .cfi_endproc\n"
        ".size foreign_thunk, . - foreign_thunk\n");
#else
EACH_THUNK("hint #34; mov w16, #thunk; b foreign_thunk"); /* the hint is bti c */
__asm__(".text\n"
        ".balign 16\n"
        ".type foreign_thunk, %function\n"
        "foreign_thunk:\n"
        "    .cfi_startproc\n"
        "    stp x29, x30, [sp, #-16]!\n"
        "    .cfi_def_cfa_offset 16\n"
        "    .cfi_offset 29, -16\n"
        "    .cfi_offset 30, -8\n"
        "    mov x29, sp\n"
        "    .cfi_def_cfa_register 29\n"
        "    sub sp, sp, #352\n"
        "    stp x0, x1, [x29, #-16]\n"
        "    stp x2, x3, [x29, #-32]\n"
        "    stp x4, x5, [x29, #-48]\n"
        "    stp x6, x7, [x29, #-64]\n"
        "    stp x8, x16, [x29, #-80]\n"
        "    stp q0, q1, [x29, #-112]\n"
        "    stp q2, q3, [x29, #-144]\n"
        "    stp q4, q5, [x29, #-176]\n"
        "    stp q6, q7, [x29, #-208]\n"
        "    mov w1, w16\n"
        "    bl foreign_begin\n"
        ".set at, 0\n"
        ".rept 8\n"
        "    ldp x9, x10, [x29, #16+at]\n"
        "    stp x9, x10, [sp, #at]\n"
        "    .set at, at + 16\n"
        ".endr\n"
        "    ldp q0, q1, [x29, #-112]\n"
        "    ldp q2, q3, [x29, #-144]\n"
        "    ldp q4, q5, [x29, #-176]\n"
        "    ldp q6, q7, [x29, #-208]\n"
        "    ldp x8, x16, [x29, #-80]\n"
        "    adrp x17, foreign_next\n"
        "    add x17, x17, :lo12:foreign_next\n"
        "    ldr x17, [x17, w16, uxtw #3]\n"
        "    ldp x0, x1, [x29, #-16]\n"
        "    ldp x2, x3, [x29, #-32]\n"
        "    ldp x4, x5, [x29, #-48]\n"
        "    ldp x6, x7, [x29, #-64]\n"
        "    blr x17\n"
        "    str x0, [x29, #-32]\n"
        "    str q0, [x29, #-112]\n"
        "    ldr x0, [x29, #-16]\n"
        "    ldr w1, [x29, #-72]\n"
        "    bl foreign_end\n"
        "    ldr x0, [x29, #-32]\n"
        "    ldr q0, [x29, #-112]\n"
        "    mov sp, x29\n"
        "    ldp x29, x30, [sp], #16\n"
        "    .cfi_def_cfa 31, 0\n"
        "    .cfi_restore 29\n"
        "    .cfi_restore 30\n"
        "    ret\n"
        "    .cfi_endproc\n"
        ".size foreign_thunk, . - foreign_thunk\n");
#endif

static bool starts(const char *name, const char *with)
{
    return !strncmp(name, with, strlen(with));
}

/* It takes no time on the device. */
static bool sets_state(const char *name)
{
    return starts(name, "vkCmdBind") || starts(name, "vkCmdSet") || starts(name, "vkCmdPush");
}

/* A command buffer's, so it is there when a pass ends and another begins. */
static bool lasts(const char *name)
{
    return starts(name, "vkCmdBind") || starts(name, "vkCmdPush") || starts(name, "vkCmdDraw");
}

void foreign_begin(VkCommandBuffer handle, uint32_t i)
{
    struct command_buffer *cb = command_buffer_of(handle);
    const char *name = names[i];
    uint32_t *p;

    if (!cb)
        return;
    if (starts(name, "vkCmdEndRendering"))
        cb->pass.kind = PASS_WHOLE;
    else if (starts(name, "vkCmdBeginRender"))
        commands_pass(cb, true);
    else if (!sets_state(name))
        commands_alone(cb);
    if (cb->in_pass && !lasts(name))
        cb->bound_to_pass = true;
    if ((p = commands_begin(cb, 2 + VKBOX_TEXT_MAX / 4)))
        commands_end(cb, put_text(p, name), sets_state(name) ? VKBOX_FOREIGN_STATE : VKBOX_FOREIGN);
}

void foreign_end(VkCommandBuffer handle, uint32_t i)
{
    struct command_buffer *cb = command_buffer_of(handle);

    if (starts(names[i], "vkCmdEndRender"))
        commands_pass(cb, false);
    else if (!sets_state(names[i]))
        commands_work(cb);
}

PFN_vkVoidFunction foreign_thunk_of(const char *name, PFN_vkVoidFunction next)
{
    uint32_t i;

    if (!box || strlen(name) > VKBOX_TEXT_MAX)
        return next;
    pthread_mutex_lock(&lock);
    for (i = 0; i < num && (foreign_next[i] != next || strcmp(names[i], name) != 0); i++)
        ;
    if (i == num && num < THUNKS) {
        strcpy(names[i], name);
        foreign_next[i] = next;
        num++;
    }
    pthread_mutex_unlock(&lock);
    return i < THUNKS ? (PFN_vkVoidFunction)(uintptr_t)(foreign_thunks + (size_t)i * 16) : next;
}

#else

PFN_vkVoidFunction foreign_thunk_of(const char *name, PFN_vkVoidFunction next)
{
    return next;
}

#endif
