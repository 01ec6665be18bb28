/* SPDX-License-Identifier: MIT */
/* crossing.c: see crossing.h. */
#include "dxgkrnl/kernel/crossing.h"

#if defined(__x86_64__)
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "dxgkrnl/kernel/state.h"

__thread const void *dxgk_crossing_to;

/* As they are pushed: from low addresses on. */
struct kept {
    uint64_t vector[10][2]; /* XMM6 to XMM15 */
    uint64_t mark;
    uint64_t general[8];
};

static const char *const general_names[] = {"R15", "R14", "R13", "R12", "RSI", "RDI", "RBX", "RBP"};

/* The stack below it, seen from the call:
 *   0 the callee's home space, 32 its arguments from the fifth on (six of them, whatever they are), 80 struct kept, 312 the return address
 */
__asm__(".pushsection .text\n"
        ".globl dxgk_crossing\n"
        ".hidden dxgk_crossing\n"
        ".type dxgk_crossing, @function\n"
        "dxgk_crossing:\n"
        "    .cfi_startproc\n"
        "    endbr64\n"
        "    pushq %rbp\n"
        "    .cfi_def_cfa_offset 16\n"
        "    .cfi_offset %rbp, -16\n"
        "    movq %rsp, %rbp\n"
        "    .cfi_def_cfa_register %rbp\n"
        "    pushq %rbx\n"
        "    .cfi_offset %rbx, -24\n"
        "    pushq %rdi\n"
        "    pushq %rsi\n"
        "    pushq %r12\n"
        "    .cfi_offset %r12, -48\n"
        "    pushq %r13\n"
        "    .cfi_offset %r13, -56\n"
        "    pushq %r14\n"
        "    .cfi_offset %r14, -64\n"
        "    pushq %r15\n"
        "    .cfi_offset %r15, -72\n"
        "    subq $248, %rsp\n"
        "    movaps %xmm6, 80(%rsp)\n"
        "    movaps %xmm7, 96(%rsp)\n"
        "    movaps %xmm8, 112(%rsp)\n"
        "    movaps %xmm9, 128(%rsp)\n"
        "    movaps %xmm10, 144(%rsp)\n"
        "    movaps %xmm11, 160(%rsp)\n"
        "    movaps %xmm12, 176(%rsp)\n"
        "    movaps %xmm13, 192(%rsp)\n"
        "    movaps %xmm14, 208(%rsp)\n"
        "    movaps %xmm15, 224(%rsp)\n"
        "    movq %rsp, 240(%rsp)\n" /* the mark */
        "    movups 48(%rbp), %xmm4\n"
        "    movups 64(%rbp), %xmm5\n"
        "    movups %xmm4, 32(%rsp)\n"
        "    movups %xmm5, 48(%rsp)\n"
        "    movups 80(%rbp), %xmm4\n"
        "    movups %xmm4, 64(%rsp)\n"
        "    movq dxgk_crossing_to@gottpoff(%rip), %rax\n"
        "    movq %fs:(%rax), %rax\n"
        "    callq *%rax\n"
        "    cmpq %rsp, 240(%rsp)\n"
        "    jne 2f\n"
        "    leaq 304(%rsp), %rcx\n"
        "    cmpq %rcx, %rbp\n"
        "    jne 1f\n"
        "    cmpq %rbx, 296(%rsp)\n"
        "    jne 1f\n"
        "    cmpq %rdi, 288(%rsp)\n"
        "    jne 1f\n"
        "    cmpq %rsi, 280(%rsp)\n"
        "    jne 1f\n"
        "    cmpq %r12, 272(%rsp)\n"
        "    jne 1f\n"
        "    cmpq %r13, 264(%rsp)\n"
        "    jne 1f\n"
        "    cmpq %r14, 256(%rsp)\n"
        "    jne 1f\n"
        "    cmpq %r15, 248(%rsp)\n"
        "    jne 1f\n"
        "    movdqa 80(%rsp), %xmm0\n"
        "    movdqa 96(%rsp), %xmm1\n"
        "    pcmpeqd %xmm6, %xmm0\n"
        "    pcmpeqd %xmm7, %xmm1\n"
        "    pand %xmm1, %xmm0\n"
        "    movdqa 112(%rsp), %xmm1\n"
        "    movdqa 128(%rsp), %xmm2\n"
        "    pcmpeqd %xmm8, %xmm1\n"
        "    pcmpeqd %xmm9, %xmm2\n"
        "    pand %xmm1, %xmm0\n"
        "    pand %xmm2, %xmm0\n"
        "    movdqa 144(%rsp), %xmm1\n"
        "    movdqa 160(%rsp), %xmm2\n"
        "    pcmpeqd %xmm10, %xmm1\n"
        "    pcmpeqd %xmm11, %xmm2\n"
        "    pand %xmm1, %xmm0\n"
        "    pand %xmm2, %xmm0\n"
        "    movdqa 176(%rsp), %xmm1\n"
        "    movdqa 192(%rsp), %xmm2\n"
        "    pcmpeqd %xmm12, %xmm1\n"
        "    pcmpeqd %xmm13, %xmm2\n"
        "    pand %xmm1, %xmm0\n"
        "    pand %xmm2, %xmm0\n"
        "    movdqa 208(%rsp), %xmm1\n"
        "    movdqa 224(%rsp), %xmm2\n"
        "    pcmpeqd %xmm14, %xmm1\n"
        "    pcmpeqd %xmm15, %xmm2\n"
        "    pand %xmm1, %xmm0\n"
        "    pand %xmm2, %xmm0\n"
        "    pmovmskb %xmm0, %ecx\n"
        "    cmpl $0xffff, %ecx\n"
        "    jne 1f\n"
        "    movq %rbp, %rsp\n"
        "    popq %rbp\n"
        "    .cfi_remember_state\n"
        "    .cfi_def_cfa %rsp, 8\n"
        "    ret\n"
        "    .cfi_restore_state\n"
        /* Others: both are shown, and what was kept counts. */
        "1:  movq %rax, (%rsp)\n"
        "    leaq 80(%rsp), %rax\n"
        "    pushq %rbp\n"
        "    leaq 224(%rax), %rbp\n"
        "    pushq %rbx\n"
        "    pushq %rdi\n"
        "    pushq %rsi\n"
        "    pushq %r12\n"
        "    pushq %r13\n"
        "    pushq %r14\n"
        "    pushq %r15\n"
        "    subq $168, %rsp\n"
        "    movups %xmm6, (%rsp)\n"
        "    movups %xmm7, 16(%rsp)\n"
        "    movups %xmm8, 32(%rsp)\n"
        "    movups %xmm9, 48(%rsp)\n"
        "    movups %xmm10, 64(%rsp)\n"
        "    movups %xmm11, 80(%rsp)\n"
        "    movups %xmm12, 96(%rsp)\n"
        "    movups %xmm13, 112(%rsp)\n"
        "    movups %xmm14, 128(%rsp)\n"
        "    movups %xmm15, 144(%rsp)\n"
        "    movq %rax, %rdi\n"
        "    movq %rsp, %rsi\n"
        "    subq $8, %rsp\n"
        "    cld\n"
        "    callq dxgk_crossing_changed\n"
        "    leaq -304(%rbp), %rsp\n"
        "    movaps 80(%rsp), %xmm6\n"
        "    movaps 96(%rsp), %xmm7\n"
        "    movaps 112(%rsp), %xmm8\n"
        "    movaps 128(%rsp), %xmm9\n"
        "    movaps 144(%rsp), %xmm10\n"
        "    movaps 160(%rsp), %xmm11\n"
        "    movaps 176(%rsp), %xmm12\n"
        "    movaps 192(%rsp), %xmm13\n"
        "    movaps 208(%rsp), %xmm14\n"
        "    movaps 224(%rsp), %xmm15\n"
        "    movq (%rsp), %rax\n"
        "    addq $248, %rsp\n"
        "    popq %r15\n"
        "    popq %r14\n"
        "    popq %r13\n"
        "    popq %r12\n"
        "    popq %rsi\n"
        "    popq %rdi\n"
        "    popq %rbx\n"
        "    popq %rbp\n"
        "    .cfi_remember_state\n"
        "    .cfi_def_cfa %rsp, 8\n"
        "    ret\n"
        "    .cfi_restore_state\n"
        /* Another stack: nothing is found on it. */
        "2:  andq $-16, %rsp\n"
        "    subq $512, %rsp\n"
        "    cld\n"
        "    callq dxgk_crossing_lost\n"
        "    ud2\n"
        "    .cfi_endproc\n"
        ".globl dxgk_crossing_end\n"
        ".hidden dxgk_crossing_end\n"
        "dxgk_crossing_end:\n"
        ".size dxgk_crossing, . - dxgk_crossing\n"
        ".popsection\n");

#define CALLED_FROM_ABOVE __attribute__((used, visibility("hidden")))
void dxgk_crossing_changed(const struct kept *then, const struct kept *now) CALLED_FROM_ABOVE;
_Noreturn void dxgk_crossing_lost(void) CALLED_FROM_ABOVE;

void dxgk_crossing_changed(const struct kept *then, const struct kept *now)
{
    struct kernel *k = dxgk_kernel_here();
    char names[160] = "";

    for (int i = 7; i >= 0; i--)
        if (now->general[i] != (i == 7 ? (uintptr_t)&then->general[7] : then->general[i])) /* the frame's */
            snprintf(names + strlen(names), sizeof(names) - strlen(names), "%s%s", *names ? ", " : "",
                     general_names[i]);
    for (int i = 0; i < 10; i++)
        if (memcmp(then->vector[i], now->vector[i], sizeof(now->vector[i])) != 0)
            snprintf(names + strlen(names), sizeof(names) - strlen(names), "%sXMM%d", *names ? ", " : "",
                     6 + i);
    dxgk_kernel_violation(k, "%s changed %s, which every function has to keep",
                          k->current && k->current->ddi ? k->current->ddi->name : "the miniport", names);
}

_Noreturn void dxgk_crossing_lost(void)
{
    struct kernel *k = dxgk_kernel_here();

    dxgk_guard_die(k, 0x7E, "it returned with another stack pointer than it was called with");
}
#endif
