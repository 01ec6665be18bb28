/* SPDX-License-Identifier: MIT */
/* print.h: text by the kernel's printf formats, from arguments as the x64 calling convention of Windows passes them. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* A variable argument list of an NTAPI function. */
#if defined(__x86_64__)
typedef __builtin_ms_va_list ms_va_list;
#define ms_va_start(ap, last) __builtin_ms_va_start(ap, last)
#define ms_va_end(ap)         __builtin_ms_va_end(ap)
#else
#include <stdarg.h>
typedef va_list ms_va_list;
#define ms_va_start(ap, last) va_start(ap, last)
#define ms_va_end(ap)         va_end(ap)
#endif

/* Writes at most `size` bytes, NUL included (size > 0), and returns how many bytes the whole text has. A long is 32 bits,
 * I64, I and ll are understood, as are %S, %ws (UTF-16), %Z and %wZ (ANSI_STRING, UNICODE_STRING); floating point is not,
 * as in the kernel. */
size_t dxgk_print(char *out, size_t size, const char *format, ms_va_list ap);
/* Whether it has a conversion of wide text, for which Windows needs tables that are paged. */
bool dxgk_print_is_wide(const char *format);
