/* SPDX-License-Identifier: MIT */
/* ntstrsafe.h: strings that end inside their buffers (the WDK's page on the safe string functions). Cch: sizes are characters,
 * Cb: bytes. STATUS_BUFFER_OVERFLOW, and as much as fits with a zero behind it; STATUS_INVALID_PARAMETER, and nothing written, for a
 * buffer of no size or of more than NTSTRSAFE_MAX_CCH characters. */
#pragma once

#include "wddm/ntddk.h"

#define NTSTRSAFE_MAX_CCH 2147483647

#define WDDM_STRSAFE(suffix, type)                                                                           \
    /* From `at` on. */                                                                                      \
    static FORCEINLINE NTSTATUS wddm_put##suffix(type *to, size_t size, size_t at, const type *from,         \
                                                 size_t most)                                                \
    {                                                                                                        \
        if (!size || size > NTSTRSAFE_MAX_CCH)                                                               \
            return NT_STATUS_C(0xC000000D);                                                                  \
        if (at >= size)                                                                                      \
            return NT_STATUS_C(0xC000000D); /* what stands there has no end */                               \
        for (; most && *from; most--) {                                                                      \
            if (at + 1 == size) {                                                                            \
                to[at] = 0;                                                                                  \
                return NT_STATUS_C(0x80000005);                                                              \
            }                                                                                                \
            to[at++] = *from++;                                                                              \
        }                                                                                                    \
        to[at] = 0;                                                                                          \
        return NT_STATUS_C(0);                                                                               \
    }                                                                                                        \
    static FORCEINLINE size_t wddm_length##suffix(const type *s, size_t size)                                \
    {                                                                                                        \
        size_t n = 0;                                                                                        \
        while (n < size && s[n])                                                                             \
            n++;                                                                                             \
        return n;                                                                                            \
    }                                                                                                        \
    static FORCEINLINE NTSTATUS RtlStringCchCopy##suffix(type *to, size_t size, const type *from)            \
    {                                                                                                        \
        return wddm_put##suffix(to, size, 0, from, (size_t)-1);                                              \
    }                                                                                                        \
    static FORCEINLINE NTSTATUS RtlStringCchCopyN##suffix(type *to, size_t size, const type *from, size_t n) \
    {                                                                                                        \
        return wddm_put##suffix(to, size, 0, from, n);                                                       \
    }                                                                                                        \
    static FORCEINLINE NTSTATUS RtlStringCchCat##suffix(type *to, size_t size, const type *from)             \
    {                                                                                                        \
        return wddm_put##suffix(to, size, wddm_length##suffix(to, size), from, (size_t)-1);                  \
    }                                                                                                        \
    static FORCEINLINE NTSTATUS RtlStringCchLength##suffix(const type *s, size_t most, size_t *length)       \
    {                                                                                                        \
        size_t n = s && most <= NTSTRSAFE_MAX_CCH ? wddm_length##suffix(s, most) : most;                     \
        if (length)                                                                                          \
            *length = n < most ? n : 0;                                                                      \
        return n < most ? NT_STATUS_C(0) : NT_STATUS_C(0xC000000D);                                          \
    }                                                                                                        \
    static FORCEINLINE NTSTATUS RtlStringCbCopy##suffix(type *to, size_t size, const type *from)             \
    {                                                                                                        \
        return RtlStringCchCopy##suffix(to, size / sizeof(type), from);                                      \
    }                                                                                                        \
    static FORCEINLINE NTSTATUS RtlStringCbCopyN##suffix(type *to, size_t size, const type *from, size_t n)  \
    {                                                                                                        \
        return RtlStringCchCopyN##suffix(to, size / sizeof(type), from, n / sizeof(type));                   \
    }                                                                                                        \
    static FORCEINLINE NTSTATUS RtlStringCbCat##suffix(type *to, size_t size, const type *from)              \
    {                                                                                                        \
        return RtlStringCchCat##suffix(to, size / sizeof(type), from);                                       \
    }                                                                                                        \
    static FORCEINLINE NTSTATUS RtlStringCbLength##suffix(const type *s, size_t most, size_t *length)        \
    {                                                                                                        \
        NTSTATUS status = RtlStringCchLength##suffix(s, most / sizeof(type), length);                        \
        if (length)                                                                                          \
            *length *= sizeof(type);                                                                         \
        return status;                                                                                       \
    }
WDDM_STRSAFE(A, char)
WDDM_STRSAFE(W, WCHAR)
#undef WDDM_STRSAFE

#if defined(_WIN32)
#define WDDM_STRSAFE_PRINT(suffix, type, print)                                                              \
    static inline NTSTATUS RtlStringCchVPrintf##suffix(type *to, size_t size, const type *format,            \
                                                       va_list ap)                                           \
    {                                                                                                        \
        int n;                                                                                               \
        if (!size || size > NTSTRSAFE_MAX_CCH)                                                               \
            return NT_STATUS_C(0xC000000D);                                                                  \
        n = print(to, size - 1, format, ap);                                                                 \
        if (n < 0 || (size_t)n >= size - 1)                                                                  \
            to[size - 1] = 0;                                                                                \
        return n < 0 ? NT_STATUS_C(0x80000005) : NT_STATUS_C(0);                                             \
    }                                                                                                        \
    static inline NTSTATUS RtlStringCchPrintf##suffix(type *to, size_t size, const type *format, ...)        \
    {                                                                                                        \
        NTSTATUS status;                                                                                     \
        va_list ap;                                                                                          \
        va_start(ap, format);                                                                                \
        status = RtlStringCchVPrintf##suffix(to, size, format, ap);                                          \
        va_end(ap);                                                                                          \
        return status;                                                                                       \
    }                                                                                                        \
    static inline NTSTATUS RtlStringCbPrintf##suffix(type *to, size_t size, const type *format, ...)         \
    {                                                                                                        \
        NTSTATUS status;                                                                                     \
        va_list ap;                                                                                          \
        va_start(ap, format);                                                                                \
        status = RtlStringCchVPrintf##suffix(to, size / sizeof(type), format, ap);                           \
        va_end(ap);                                                                                          \
        return status;                                                                                       \
    }
WDDM_STRSAFE_PRINT(A, char, _vsnprintf)
WDDM_STRSAFE_PRINT(W, WCHAR, _vsnwprintf)
#undef WDDM_STRSAFE_PRINT
#endif
