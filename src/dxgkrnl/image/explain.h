/* SPDX-License-Identifier: MIT */
/* explain.h: why the processor refused an instruction without an address: general protection has several causes, and the instruction
 * says which. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#if defined(__x86_64__)
#include <ucontext.h>

/* The instruction at `code`, of which `size` bytes could be read. False: it does not say. */
bool dxgk_image_explain(const ucontext_t *uc, const uint8_t *code, size_t size, char *text, size_t room);
#endif
