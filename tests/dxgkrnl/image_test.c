/* SPDX-License-Identifier: MIT */
/* Files that are no driver, or one that is broken: one sentence each. The driver is a real one (argv[1]), with one field of it
 * changed. */
#include "dxgkrnl/image/image.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/rng.h"
#include "dxgkrnl/image/pe.h"

static uint8_t driver[1 << 20];
static size_t driver_size;
static uint32_t header, sections;

static uint32_t get(const uint8_t *image, uint32_t at)
{
    uint32_t v;

    memcpy(&v, image + at, 4);
    return v;
}

static void put(uint8_t *image, uint32_t at, uint32_t v, unsigned bytes)
{
    memcpy(image + at, &v, bytes);
}

static void fix_checksum(uint8_t *image, size_t size)
{
    uint32_t field = get(image, 60) + 88;

    if (size > field && size - field >= 4)
        put(image, field, dxgk_pe_checksum(image, size, field), 4);
}

/* Loads the driver with `bytes` of `value` at `at`, and expects the sentence. */
static void refused(uint32_t at, uint32_t value, unsigned bytes, int code, const char *sentence)
{
    uint8_t *image = malloc(driver_size);
    struct error e = {0};
    struct image *i;

    assert_non_null(image);
    memcpy(image, driver, driver_size);
    put(image, at, value, bytes);
    fix_checksum(image, driver_size);
    assert_int_equal(dxgk_image_load_bytes(&i, "x.sys", image, driver_size, &e), code);
    assert_string_equal(e.text, sentence);
    assert_null(i);
    free(image);
}

/* Of the section that holds `address`, the offset of its row in the table. */
static uint32_t row_of(uint32_t address)
{
    for (uint32_t row = sections;; row += 40)
        if (address >= get(driver, row + 12) && address - get(driver, row + 12) < get(driver, row + 8))
            return row;
}

static uint32_t file_offset(uint32_t address)
{
    uint32_t row = row_of(address);

    return get(driver, row + 20) + address - get(driver, row + 12);
}

static int setup(void **state)
{
    const char *path = *state;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? -1 : read(fd, driver, sizeof(driver));

    close(fd);
    if (n <= 0)
        return -1;
    driver_size = (size_t)n;
    header = get(driver, 60);
    sections = header + 24 + (get(driver, header + 20) & 0xFFFF);
    return 0;
}

static void a_driver_loads_and_is_found(void **state)
{
    struct error e = {0};
    char text[100];
    struct image *i;

    assert_int_equal(dxgk_image_load_bytes(&i, "x.sys", driver, driver_size, &e), 0);
    assert_true(dxgk_image_describe((const void *)(uintptr_t)dxgk_image_entry(i), text, sizeof(text)));
    assert_memory_equal(text, "x.sys+0x", 8);
    assert_false(dxgk_image_describe(text, text, sizeof(text)));
    dxgk_image_discard(i);
    dxgk_image_unload(i);
    assert_int_equal(dxgk_image_load(&i, "/nowhere/x.sys", &e), -ENOENT);
    assert_string_equal(e.text, "/nowhere/x.sys: cannot open it: No such file or directory");
}

static void fields_of_the_headers(void **state)
{
    refused(0, 0x4D5B, 2, -ENOEXEC, "x.sys: it does not begin with MZ");
    refused(header, 0, 4, -ENOEXEC, "x.sys: there is no PE header at offset 128");
    refused(header + 4, 0x14C, 2, -ENOEXEC,
            "x.sys: it is for machine 0x14c (32-bit x86), must be x64 (0x8664)");
    refused(header + 4, 0xAA64, 2, -ENOEXEC, "x.sys: it is for machine 0xaa64, must be x64 (0x8664)");
    refused(header + 6, 0, 2, -ENOEXEC, "x.sys: it has 0 sections, allowed are 1 to 96");
    refused(header + 22, 0x2000, 2, -ENOEXEC, "x.sys: it is not executable: the linker left errors");
    refused(header + 22, 0x2023, 2, -ENOEXEC, "x.sys: its relocations are stripped");
    refused(header + 24, 0x10B, 2, -ENOEXEC,
            "x.sys: the optional header's magic is 0x10b, not PE32+ (0x20b)");
    refused(header + 24 + 32, 0x200, 4, -ENOEXEC,
            "x.sys: SectionAlignment is 0x200, not a power of two of at least a page");
    refused(header + 24 + 56, 0x7FFFF000, 4, -ENOEXEC,
            "x.sys: SizeOfImage is 2147479552 bytes, allowed are 1 to 67108864");
    refused(header + 24 + 68, 2, 2, -ENOEXEC, "x.sys: the subsystem is 2, a driver's is native (1)");
    refused(header + 24 + 16, 0x10, 4, -ENOEXEC,
            "x.sys: the entry point 0x10 is in no section that may be executed");
}

static void a_wrong_checksum(void **state)
{
    struct error e = {0};
    struct image *i;

    driver[driver_size - 1] ^= 1;
    assert_int_equal(dxgk_image_load_bytes(&i, "x.sys", driver, driver_size, &e), -ENOEXEC);
    assert_memory_equal(e.text, "x.sys: CheckSum is 0x", 21);
    driver[driver_size - 1] ^= 1;
    error_clear(&e); /* the sum of one that is cut off is wrong, too */
    assert_int_equal(dxgk_image_load_bytes(&i, "x.sys", driver, driver_size / 2, &e), -ENOEXEC);
    assert_memory_equal(e.text, "x.sys: it is cut off: section ", 30);
}

static void tables_that_lead_nowhere(void **state)
{
    uint32_t imports = file_offset(get(driver, header + 24 + 112 + 8)),
             module = file_offset(get(driver, imports + 12));
    uint32_t names = file_offset(get(driver, imports)),
             relocs = file_offset(get(driver, header + 24 + 112 + 40));
    char text[100];

    refused(sections + 12, 0x1001, 4, -ENOEXEC,
            "x.sys: section .text is at 0x1001, must be on a page at or above 0x400");
    refused(
        sections + 16, 0x7FFFFFFF, 4, -ENOEXEC,
        (snprintf(text, sizeof(text),
                  "x.sys: it is cut off: section .text has 0x7fffffff bytes at offset 0x%x of a file of %zu",
                  get(driver, sections + 20), driver_size),
         text));
    refused(header + 24 + 112 + 8, 0x3FFFFFF0, 4, -ENOEXEC,
            "x.sys: the import table at 0x3ffffff0 does not end inside the image");
    refused(imports + 12, 0x3FFFFFF0, 4, -ENOEXEC,
            "x.sys: the import table names a module at 0x3ffffff0, where no name is");
    refused(names, 0x3FFFFFF0, 4, -ENOEXEC, "x.sys: import 0 of HAL.dll has no name at 0x3ffffff2");
    refused(names + 4, 0x80000000, 4, -ENOEXEC,
            (snprintf(text, sizeof(text),
                      "x.sys: it imports ordinal %u of HAL.dll; the kernel's exports go by name",
                      get(driver, names) & 0xFFFF),
             text));
    refused(module, 0x21, 1, -ENOEXEC,
            "x.sys: it imports 1 that the kernel here has not: !AL.dll!KeQueryPerformanceCounter");
    refused(file_offset(get(driver, names)) + 2, 'X', 1, -ENOEXEC,
            "x.sys: it imports 1 that the kernel here has not: HAL.dll!XeQueryPerformanceCounter");
    refused(relocs + 4, 4, 4, -ENOEXEC,
            (snprintf(text, sizeof(text), "x.sys: the relocation block at 0x%x has 0x4 bytes, left are 0x%x",
                      get(driver, header + 24 + 112 + 40), get(driver, header + 24 + 112 + 44)),
             text));
    refused(relocs, 0x3FFFF000, 4, -ENOEXEC,
            (snprintf(text, sizeof(text), "x.sys: a relocation is at 0x%x, SizeOfImage is 0x%x",
                      0x3FFFF000 + (get(driver, relocs + 8) & 0xFFF), get(driver, header + 24 + 56)),
             text));
}

/* A driver whose calls would go wherever the file's bytes point. */
static void imports_that_nobody_binds(void **state)
{
    uint32_t directories = header + 24 + 112, table = get(driver, directories + 12 * 8);
    uint32_t imports = file_offset(get(driver, directories + 8)), slots = get(driver, imports + 16);
    char text[120];

    refused(
        directories + 8, 1, 4, -ENOEXEC,
        (snprintf(text, sizeof(text),
                  "x.sys: the import at %#x has a place in the address table and none in the import table",
                  table),
         text));
    refused(directories + 12, 0, 4, -ENOEXEC, text);
    refused(imports + 12, 0, 4, -ENOEXEC, text);
    refused(directories + 12, 39, 4, -ENOEXEC,
            (snprintf(text, sizeof(text), "x.sys: the import table at %#x does not end within its 0x27 bytes",
                      get(driver, directories + 8)),
             text));
    refused(
        imports + 16, slots + 4, 4, -ENOEXEC,
        (snprintf(text, sizeof(text),
                  "x.sys: an import's slot is at %#x, must be a multiple of 8 inside the image", slots + 4),
         text));
    for (unsigned n = 0; n < 2; n++) {
        uint32_t at = n ? table + 4 : 0x3FFFFFF0;
        snprintf(
            text, sizeof(text),
            "x.sys: the import address table has %#x bytes at %#x, must be a multiple of 8 inside SizeOfImage %#x",
            get(driver, directories + 12 * 8 + 4), at, get(driver, header + 24 + 56));
        refused(directories + 12 * 8, at, 4, -ENOEXEC, text);
    }
}

static void cut_and_damaged_files_do_no_harm(void **state)
{
    uint8_t *image = malloc(driver_size);
    uint32_t last = sections + 40 * ((get(driver, header + 6) & 0xFFFF) - 1), end;
    struct rng rng = {.state = 7};
    unsigned loaded = 0;
    struct image *i;

    assert_non_null(image);
    end = get(driver, last + 16) +
          get(driver, last + 20); /* behind it there are symbols, which nobody misses */
    for (size_t size = 0; size < end; size += 1 + size / 64) {
        struct error e = {0};
        uint8_t *cut = malloc(size ? size : 1);
        assert_non_null(cut);
        memcpy(cut, driver, size);
        if (size >= 64)
            fix_checksum(cut, size);
        assert_int_equal(dxgk_image_load_bytes(&i, "x.sys", cut, size, &e), -ENOEXEC);
        assert_true(e.text[0]);
        free(cut);
    }
    for (unsigned n = 0; n < 3000; n++) {
        struct error e = {0};
        memcpy(image, driver, driver_size);
        for (unsigned k = 1 + (unsigned)rng_below(&rng, 4); k; k--) /* half in the headers */
            image[64 + rng_below(&rng, rng_next(&rng) & 1 ? 1000 : driver_size - 64)] =
                (uint8_t)rng_next(&rng);
        fix_checksum(image, driver_size);
        if (!dxgk_image_load_bytes(&i, "x.sys", image, driver_size, &e)) {
            loaded++;
            dxgk_image_discard(i);
        } else {
            assert_true(e.text[0]);
        }
        dxgk_image_unload(i);
    }
    assert_true(loaded > 100); /* damage in what is only data */
    free(image);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_driver_loads_and_is_found),
        cmocka_unit_test(fields_of_the_headers),
        cmocka_unit_test(a_wrong_checksum),
        cmocka_unit_test(tables_that_lead_nowhere),
        cmocka_unit_test(imports_that_nobody_binds),
        cmocka_unit_test(cut_and_damaged_files_do_no_harm),
    };
    void *path = argv[1];

    return argc < 2 || setup(&path) ? 1 : cmocka_run_group_tests(tests, NULL, NULL);
}
