/* SPDX-License-Identifier: MIT */
/* crt.h: what ntoskrnl has of the C library, in the calling convention of drivers. */
#pragma once

#include "dxgkrnl/ntos/print.h"
#include "dxgkrnl/ntos/routines.h"

/* T(name, result, parameters...) */
#define DXGK_CRT(T)                                                                                          \
    T(memcpy, PVOID, PVOID to, const VOID *from, SIZE_T size)                                                \
    T(memmove, PVOID, PVOID to, const VOID *from, SIZE_T size)                                               \
    T(memset, PVOID, PVOID to, int value, SIZE_T size)                                                       \
    T(memcmp, int, const VOID *a, const VOID *b, SIZE_T size)                                                \
    T(strlen, SIZE_T, const char *s)                                                                         \
    T(strcmp, int, const char *a, const char *b)                                                             \
    T(strncmp, int, const char *a, const char *b, SIZE_T n)                                                  \
    T(_stricmp, int, const char *a, const char *b)                                                           \
    T(_strnicmp, int, const char *a, const char *b, SIZE_T n)                                                \
    T(strcpy, char *, char *to, const char *from)                                                            \
    T(strncpy, char *, char *to, const char *from, SIZE_T n)                                                 \
    T(strcat, char *, char *to, const char *from)                                                            \
    T(strchr, const char *, const char *s, int c)                                                            \
    T(strrchr, const char *, const char *s, int c)                                                           \
    T(strstr, const char *, const char *s, const char *part)                                                 \
    T(wcslen, SIZE_T, const WCHAR *s)                                                                        \
    T(wcscmp, int, const WCHAR *a, const WCHAR *b)                                                           \
    T(wcsncmp, int, const WCHAR *a, const WCHAR *b, SIZE_T n)                                                \
    T(_wcsicmp, int, const WCHAR *a, const WCHAR *b)                                                         \
    T(_wcsnicmp, int, const WCHAR *a, const WCHAR *b, SIZE_T n)                                              \
    T(wcscpy, WCHAR *, WCHAR *to, const WCHAR *from)                                                         \
    T(wcsncpy, WCHAR *, WCHAR *to, const WCHAR *from, SIZE_T n)                                              \
    T(wcscat, WCHAR *, WCHAR *to, const WCHAR *from)                                                         \
    T(wcschr, const WCHAR *, const WCHAR *s, WCHAR c)                                                        \
    T(wcsstr, const WCHAR *, const WCHAR *s, const WCHAR *part)                                              \
    T(_purecall, int, VOID)                                                                                  \
    T(tolower, int, int c)                                                                                   \
    T(toupper, int, int c)                                                                                   \
    T(sprintf, int, char *out, const char *format, ...)                                                      \
    T(_snprintf, int, char *out, SIZE_T size, const char *format, ...)                                       \
    T(_vsnprintf, int, char *out, SIZE_T size, const char *format, ms_va_list ap)                            \
    T(swprintf, int, WCHAR *out, const WCHAR *format, ...)                                                   \
    T(_snwprintf, int, WCHAR *out, SIZE_T size, const WCHAR *format, ...)                                    \
    T(_vsnwprintf, int, WCHAR *out, SIZE_T size, const WCHAR *format, ms_va_list ap)

#define DXGK_CRT_DECLARE(name, result, ...) result NTAPI dxgk_crt_##name(__VA_ARGS__);
DXGK_CRT(DXGK_CRT_DECLARE)
#undef DXGK_CRT_DECLARE
