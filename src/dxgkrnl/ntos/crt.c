/* SPDX-License-Identifier: MIT */
/* crt.c: see crt.h. Wide text is UTF-16; what is printed has WIDE_MOST characters at most. */
#include "dxgkrnl/ntos/crt.h"

#include <stdint.h>
#include <string.h>
#include <strings.h>

enum { WIDE_MOST = 1023 };

PVOID NTAPI dxgk_crt_memcpy(PVOID to, const VOID *from, SIZE_T size)
{
    return memcpy(to, from, size);
}

PVOID NTAPI dxgk_crt_memmove(PVOID to, const VOID *from, SIZE_T size)
{
    return memmove(to, from, size);
}

PVOID NTAPI dxgk_crt_memset(PVOID to, int value, SIZE_T size)
{
    return memset(to, value, size);
}

int NTAPI dxgk_crt_memcmp(const VOID *a, const VOID *b, SIZE_T size)
{
    return memcmp(a, b, size);
}

SIZE_T NTAPI dxgk_crt_strlen(const char *s)
{
    return strlen(s);
}

int NTAPI dxgk_crt_strcmp(const char *a, const char *b)
{
    return strcmp(a, b);
}

int NTAPI dxgk_crt_strncmp(const char *a, const char *b, SIZE_T n)
{
    return strncmp(a, b, n);
}

int NTAPI dxgk_crt__stricmp(const char *a, const char *b)
{
    return strcasecmp(a, b);
}

int NTAPI dxgk_crt__strnicmp(const char *a, const char *b, SIZE_T n)
{
    return strncasecmp(a, b, n);
}

char *NTAPI dxgk_crt_strcpy(char *to, const char *from)
{
    return strcpy(to, from);
}

char *NTAPI dxgk_crt_strncpy(char *to, const char *from, SIZE_T n)
{
    return strncpy(to, from, n);
}

char *NTAPI dxgk_crt_strcat(char *to, const char *from)
{
    return strcat(to, from);
}

const char *NTAPI dxgk_crt_strchr(const char *s, int c)
{
    return strchr(s, c);
}

const char *NTAPI dxgk_crt_strrchr(const char *s, int c)
{
    return strrchr(s, c);
}

const char *NTAPI dxgk_crt_strstr(const char *s, const char *part)
{
    return strstr(s, part);
}

int NTAPI dxgk_crt_tolower(int c)
{
    return c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c;
}

int NTAPI dxgk_crt_toupper(int c)
{
    return c >= 'a' && c <= 'z' ? c - 'a' + 'A' : c;
}

/* ---- wide text ----------------------------------------------------------- */

SIZE_T NTAPI dxgk_crt_wcslen(const WCHAR *s)
{
    SIZE_T n = 0;

    while (s[n])
        n++;
    return n;
}

static int compare(const WCHAR *a, const WCHAR *b, SIZE_T n, bool fold)
{
    for (; n; n--, a++, b++) {
        int x = fold ? dxgk_crt_tolower(*a) : *a, y = fold ? dxgk_crt_tolower(*b) : *b;
        if (x != y || !x)
            return x - y;
    }
    return 0;
}

int NTAPI dxgk_crt_wcscmp(const WCHAR *a, const WCHAR *b)
{
    return compare(a, b, SIZE_MAX, false);
}

int NTAPI dxgk_crt_wcsncmp(const WCHAR *a, const WCHAR *b, SIZE_T n)
{
    return compare(a, b, n, false);
}

int NTAPI dxgk_crt__wcsicmp(const WCHAR *a, const WCHAR *b)
{
    return compare(a, b, SIZE_MAX, true);
}

int NTAPI dxgk_crt__wcsnicmp(const WCHAR *a, const WCHAR *b, SIZE_T n)
{
    return compare(a, b, n, true);
}

WCHAR *NTAPI dxgk_crt_wcscpy(WCHAR *to, const WCHAR *from)
{
    return memcpy(to, from, (dxgk_crt_wcslen(from) + 1) * sizeof(WCHAR));
}

WCHAR *NTAPI dxgk_crt_wcsncpy(WCHAR *to, const WCHAR *from, SIZE_T n)
{
    SIZE_T i = 0;

    for (; i < n && from[i]; i++)
        to[i] = from[i];
    for (; i < n; i++)
        to[i] = 0;
    return to;
}

WCHAR *NTAPI dxgk_crt_wcscat(WCHAR *to, const WCHAR *from)
{
    dxgk_crt_wcscpy(to + dxgk_crt_wcslen(to), from);
    return to;
}

const WCHAR *NTAPI dxgk_crt_wcschr(const WCHAR *s, WCHAR c)
{
    while (*s && *s != c)
        s++;
    return *s == c ? s : NULL;
}

const WCHAR *NTAPI dxgk_crt_wcsstr(const WCHAR *s, const WCHAR *part)
{
    SIZE_T n = dxgk_crt_wcslen(part);

    for (;; s++) {
        if (!compare(s, part, n, false))
            return s;
        if (!*s)
            return NULL;
    }
}

/* ---- printing ------------------------------------------------------------ */

int NTAPI dxgk_crt__vsnprintf(char *out, SIZE_T size, const char *format, ms_va_list ap)
{
    char last;
    size_t n;

    if (!size)
        return -1;
    n = dxgk_print(out, size, format, ap);
    if (n < size)
        return (int)n;
    /* Without a zero at the end: the last character is found once more. */
    char whole[1024];
    dxgk_print(whole, sizeof(whole), format, ap);
    last = size <= sizeof(whole) - 1 ? whole[size - 1] : '\0';
    out[size - 1] = last;
    return n == size ? (int)n : -1;
}

int NTAPI dxgk_crt__snprintf(char *out, SIZE_T size, const char *format, ...)
{
    ms_va_list ap;
    int n;

    ms_va_start(ap, format);
    n = dxgk_crt__vsnprintf(out, size, format, ap);
    ms_va_end(ap);
    return n;
}

int NTAPI dxgk_crt_sprintf(char *out, const char *format, ...)
{
    ms_va_list ap;
    size_t n;

    ms_va_start(ap, format);
    n = dxgk_print(out, INT32_MAX, format, ap);
    ms_va_end(ap);
    return (int)n;
}

/* The format in bytes. What %s and %c are to wide text, %S and %C are to the other, and the other way round. */
static void narrow_format(char out[WIDE_MOST + 1], const WCHAR *format)
{
    size_t n = 0;
    bool inside = false;

    for (; *format && n < WIDE_MOST; format++) {
        char c = *format < 128 ? (char)*format : '?';
        if (inside && c == 's' && format[-1] != 'h' && format[-1] != 'l' && format[-1] != 'w')
            c = 'S';
        else if (inside && c == 'S')
            c = 's';
        if (c == '%')
            inside = !inside;
        else if (inside && !strchr("-+ #0123456789.*hlwIz", c))
            inside = false;
        out[n++] = c;
    }
    out[n] = '\0';
}

/* UTF-8, as dxgk_print writes it. */
static size_t widen(WCHAR out[WIDE_MOST + 1], const char *text)
{
    const unsigned char *s = (const unsigned char *)text;
    size_t n = 0;

    for (; *s && n < WIDE_MOST; n++) {
        if (*s < 0x80 || !s[1]) {
            out[n] = *s++;
        } else if (*s < 0xE0 || !s[2]) {
            out[n] = (WCHAR)((s[0] & 0x1F) << 6 | (s[1] & 0x3F));
            s += 2;
        } else {
            out[n] = (WCHAR)((s[0] & 0x0F) << 12 | (s[1] & 0x3F) << 6 | (s[2] & 0x3F));
            s += 3;
        }
    }
    out[n] = 0;
    return n;
}

int NTAPI dxgk_crt__vsnwprintf(WCHAR *out, SIZE_T size, const WCHAR *format, ms_va_list ap)
{
    char narrow[WIDE_MOST + 1], text[3 * WIDE_MOST + 1];
    WCHAR wide[WIDE_MOST + 1];
    size_t n;

    narrow_format(narrow, format);
    dxgk_print(text, sizeof(text), narrow, ap);
    n = widen(wide, text);
    memcpy(out, wide, (n < size ? n + 1 : size) * sizeof(WCHAR));
    return n <= size ? (int)n : -1;
}

int NTAPI dxgk_crt__snwprintf(WCHAR *out, SIZE_T size, const WCHAR *format, ...)
{
    ms_va_list ap;
    int n;

    ms_va_start(ap, format);
    n = dxgk_crt__vsnwprintf(out, size, format, ap);
    ms_va_end(ap);
    return n;
}

int NTAPI dxgk_crt_swprintf(WCHAR *out, const WCHAR *format, ...)
{
    ms_va_list ap;
    int n;

    ms_va_start(ap, format);
    n = dxgk_crt__vsnwprintf(out, INT32_MAX, format, ap);
    ms_va_end(ap);
    return n;
}

int NTAPI dxgk_crt__purecall(VOID)
{
    dxgk_kernel_violation(SELF(), "a virtual function that has no body is called");
    return 0;
}
