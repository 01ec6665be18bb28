/* SPDX-License-Identifier: MIT */
/* forward.h: exports of the recorder's DLLs that only lead on to the real library's.
 *
 * They jump, so that arguments stay as they are, however many the real function takes: DXGID3D10CreateDevice has six on Windows and
 * seven on Wine. Where the real library has no such function the answer is E_NOINTERFACE; there x86 must know how many bytes of
 * arguments go.
 */
#pragma once

/* The real library's function of that name, or NULL. Each DLL has one. */
void *forward_to(const char *name);

#ifdef __x86_64__
#define FORWARD(name, bytes)                                                                                 \
    __declspec(dllexport) void name(void);                                                                   \
    __attribute__((naked)) void name(void)                                                                   \
    {                                                                                                        \
        __asm__("push %rcx; push %rdx; push %r8; push %r9; sub $40, %rsp\n"                                  \
                "lea 2f(%rip), %rcx; call forward_to\n"                                                      \
                "add $40, %rsp; pop %r9; pop %r8; pop %rdx; pop %rcx\n"                                      \
                "test %rax, %rax; jz 1f; jmp *%rax\n"                                                        \
                "1: mov $0x80004002, %eax; ret\n"                                                            \
                "2: .asciz \"" #name "\"");                                                                  \
    }
#else
#define FORWARD(name, bytes)                                                                                 \
    __declspec(dllexport) void name(void);                                                                   \
    __attribute__((naked)) void name(void)                                                                   \
    {                                                                                                        \
        __asm__("push $2f; call _forward_to; add $4, %esp\n"                                                 \
                "test %eax, %eax; jz 1f; jmp *%eax\n"                                                        \
                "1: mov $0x80004002, %eax; ret $" #bytes "\n"                                                \
                "2: .asciz \"" #name "\"");                                                                  \
    }
#endif
