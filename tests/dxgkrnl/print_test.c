/* SPDX-License-Identifier: MIT */
/* What the kernel's printf makes of its formats, where Windows differs from here. */
#include "dxgkrnl/ntos/print.h"

#include "test.h"

#include "wddm/ntdef.h"

static NTAPI size_t print(char *out, size_t size, const char *format, ...)
{
    ms_va_list ap;
    size_t n;

    ms_va_start(ap, format);
    n = dxgk_print(out, size, format, ap);
    ms_va_end(ap);
    return n;
}

#define PRINTS(text, ...)                                                                                    \
    do {                                                                                                     \
        char out[200];                                                                                       \
        assert_int_equal(print(out, sizeof(out), __VA_ARGS__), sizeof(text) - 1);                            \
        assert_string_equal(out, text);                                                                      \
    } while (0)

TEST(numbers)
{
    PRINTS("-1 ffffffff 4294967295", "%d %x %lu", -1, UINT32_MAX, UINT32_MAX);
    PRINTS("ffffffff 80000000 -2147483648", "%lx %lX %ld", UINT64_MAX, (uint64_t)0x80000000,
           (int64_t)INT32_MIN);
    PRINTS("ffffffffffffffff 1 -5", "%I64x %I64u %I64d", UINT64_MAX, UINT64_C(1), INT64_C(-5));
    PRINTS("ffffffffffffffff deadbeef", "%llx %I32x", UINT64_MAX, 0xDEADBEEF);
    PRINTS("0000ab 0x00FF 7   |", "%06x 0x%04X %-4u|", 0xAB, 0xFF, 7);
    PRINTS("   7 0005 65535 -1", "%*d %.4d %hu %hd", 4, 7, 5, 0x1FFFF, 0x1FFFF);
    PRINTS("0000000012ABCDEF 100%", "%p 100%%", (void *)(uintptr_t)0x12ABCDEF);
    PRINTS("1 2 3 4 5 6 7 8", "%d %d %d %d %d %d %d %d", 1, 2, 3, 4, 5, 6, 7, 8);
}

TEST(texts)
{
    static WCHAR wide[] = {'\xE4', 'b', 0x20AC, 0};
    UNICODE_STRING unicode = {.Length = 4, .MaximumLength = 8, .Buffer = wide};
    UNICODE_STRING ansi = {.Length = 2, .MaximumLength = 3, .Buffer = (PWSTR)(uintptr_t) "abc"};

    wide[0] = 0xE4;
    PRINTS("abc ab (null) c", "%s %.2s %s %c", "abc", "abc", NULL, 'c');
    PRINTS("äb€ äb€ äb€ äb", "%S %ws %ls %wZ", wide, wide, wide, &unicode);
    PRINTS("ab (null) (null)", "%Z %wZ %S", &ansi, NULL, NULL);
    PRINTS("? x", "%f %s", UINT64_C(1), "x");
    PRINTS("at the end ", "at the end %");
}

TEST(short_buffers)
{
    char out[4] = "???";

    assert_int_equal(print(out, 4, "%d", 12345), 5);
    assert_string_equal(out, "123");
    assert_int_equal(print(out, 1, "%s", "abc"), 3);
    assert_string_equal(out, "");
}
