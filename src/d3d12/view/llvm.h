/* SPDX-License-Identifier: MIT */
/* llvm.h: LLVM's bitcode (of shaders: that of LLVM 3.7) as text, by LLVM's own disassembler where it is installed: llvm-dis of 7 to 14;
 * later ones know no typed pointers. It is a process of its own, with limits: bitcode that somebody made up ends it, and nothing else. */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct llvm_text {
    const char *text; /* NULL: there is none */
    size_t size;
    char why[200]; /* and why; or what is wrong with it: "" */
};

/* Some are kept, and are asked for again at no cost; what it returns is so until a few others were asked for. */
const struct llvm_text *llvm_text(const uint8_t *bitcode, size_t size);
