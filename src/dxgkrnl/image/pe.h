/* SPDX-License-Identifier: MIT */
/* pe.h: reads the image of an x64 kernel driver, as a file made by anybody.
 *
 * Source: Microsoft's "PE Format" specification; what the kernel's loader demands of a driver beyond it is noted at the
 * check. Invariants of what dxgk_pe_read accepts:
 *  1. Sections begin on pages, ascend, do not overlap, and lie within `image_size` with the headers before them.
 *  2. The bytes that a section has in the file are inside the file, and not more than its memory.
 *  3. The entry point lies in a section that may be executed.
 *  4. A directory that is used lies in the image: dxgk_pe_at is asked for every byte that is read through it.
 *  5. After dxgk_pe_bind no slot of the import address table has what the file had there: code that calls through one
 *     arrives at a routine.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

enum {
    PE_PAGE = 0x1000,
    PE_MAX_SECTIONS = 96,
    PE_MAX_IMAGE = 64 << 20, /* bytes in memory */

    PE_SECTION_DISCARDABLE = 0x02000000,
    PE_SECTION_EXECUTE = 0x20000000,
    PE_SECTION_READ = 0x40000000,
    PE_SECTION_WRITE = INT32_MIN, /* 0x80000000 */
};

enum pe_directory {
    PE_EXPORT,
    PE_IMPORT,
    PE_RESOURCE,
    PE_EXCEPTION,
    PE_SECURITY,
    PE_RELOC,
    PE_IAT = 12,
    PE_DIRECTORIES = 16
};

struct pe_section {
    char name[9];
    uint32_t address, size;     /* in memory, from the image's base */
    uint32_t offset, file_size; /* in the file */
    uint32_t flags;             /* PE_SECTION_* */
};

enum { PE_WINDOWS_7 = 6 << 16 | 1, PE_WINDOWS_8 = 6 << 16 | 2 };

struct pe {
    uint64_t base; /* the address that it was linked for */
    uint32_t image_size, headers_size, entry;
    uint32_t
        windows; /* the Windows that it says it needs, major version in the upper half: PE_WINDOWS_7 and later */
    struct pe_section sections[PE_MAX_SECTIONS];
    unsigned num_sections;
    struct {
        uint32_t address, size;
    } directories[PE_DIRECTORIES];
};

/* 0, or -ENOEXEC with a sentence that names the field and its value. */
int dxgk_pe_read(struct pe *pe, const void *file, size_t size, struct error *e);

/* The checksum that the kernel's loader demands of every driver: 16-bit sums of the file with the field, which is at offset
 * `field`, taken as zero, plus its length. */
uint32_t dxgk_pe_checksum(const uint8_t *file, size_t size, size_t field);

/* Whether a file begins as a PE image does. */
bool dxgk_pe_is(const void *file, size_t size);

/* An image in memory, laid out by dxgk_pe_read's sections. */
struct pe_view {
    uint8_t *memory;
    const struct pe *pe;
};

/* `size` bytes at `address` of the image, or NULL if they are not all inside. */
void *dxgk_pe_at(const struct pe_view *v, uint64_t address, uint64_t size);

/* Adds `delta` to every address that the relocations name. 0 or -ENOEXEC. */
int dxgk_pe_relocate(const struct pe_view *v, uint64_t delta, struct error *e);

/* Writes into each import's slot what `find` returns for it. What it does not find is in the error, all of it: -ENOENT. Tables
 * that are wrong, or leave slots of the address table out: -ENOEXEC. -ENOMEM. */
int dxgk_pe_bind(const struct pe_view *v, void *(*find)(const char *module, const char *name),
                 struct error *e);
