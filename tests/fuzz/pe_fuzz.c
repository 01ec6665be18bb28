/* SPDX-License-Identifier: MIT */
/* Drivers: any bytes, with the checksum put right, are an image that can be loaded and unloaded, or one sentence. No code of
 * them runs here, so what it would run into is looked for: a slot of the import address table that is bound to nothing. */
#include "fuzz.h"

#include <dlfcn.h>
#include <string.h>

#include "dxgkrnl/image/image.h"
#include "dxgkrnl/image/pe.h"

size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max_size);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed);

enum { OPTIONAL_HEADER = 24, DIRECTORIES = OPTIONAL_HEADER + 112, SECTION_ROW = 40 };

static uint32_t get(const uint8_t *file, size_t at)
{
    uint32_t v;

    memcpy(&v, file + at, 4);
    return v;
}

/* A field of the headers, half of the time: they are a few bytes of many, and most of the file leads nowhere. */
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed)
{
    size_t header = size >= 64 ? get(data, 60) : size, at;
    uint32_t pick = seed >> 8, value;

    if (!(seed & 1) || header >= size || size - header < DIRECTORIES + PE_DIRECTORIES * 8 + 4 * SECTION_ROW)
        return LLVMFuzzerMutate(data, size, max_size);
    at = header + (seed & 2 ? DIRECTORIES + 4 * (pick % (2 * PE_DIRECTORIES))
                            : OPTIONAL_HEADER + 4 * (pick % (240 / 4 + SECTION_ROW)));
    value = get(data, at);
    switch (pick / 64 % 4) {
    case 0:
        value = pick / 256 % 64; /* where the headers are, and sizes too small for anything */
        break;
    case 1:
        value += pick / 256 % 64 - 32;
        break;
    case 2:
        value =
            get(data, header + DIRECTORIES + 4 * (pick / 256 % (2 * PE_DIRECTORIES))); /* another table's */
        break;
    default:
        LLVMFuzzerMutate((uint8_t *)&value, 4, 4);
    }
    memcpy(data + at, &value, 4);
    return size;
}

static bool is_readable(const struct pe *pe, uint32_t address, uint32_t size)
{
    for (unsigned n = 0; n < pe->num_sections; n++) {
        const struct pe_section *s = &pe->sections[n];
        if (address >= s->address && address - s->address < s->size)
            return s->flags & PE_SECTION_READ && s->size - (address - s->address) >= size;
    }
    return address < pe->headers_size && pe->headers_size - address >= size;
}

static void check_imports(const struct image *i, const uint8_t *file, size_t size)
{
    struct error e = {0};
    struct pe pe;
    const uint8_t *base;

    must(!dxgk_pe_read(&pe, file, size, &e));
    base = (const uint8_t *)(uintptr_t)dxgk_image_entry(i) - pe.entry;
    for (uint32_t at = 0;
         at + 8 <= pe.directories[PE_IAT].size && is_readable(&pe, pe.directories[PE_IAT].address + at, 8);
         at += 8) {
        Dl_info routine;
        void *slot;
        memcpy(&slot, base + pe.directories[PE_IAT].address + at, 8);
        must(!slot || dladdr(slot, &routine));
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint8_t *file = malloc(size ? size : 1);
    struct error e = {0};
    struct image *i;
    uint32_t field;

    if (!file)
        return 0;
    memcpy(file, data, size);
    if (size >= 64) {
        field = get(file, 60) + 88;
        if (field < size && size - field >= 4) {
            uint32_t sum = dxgk_pe_checksum(file, size, field);
            memcpy(file + field, &sum, 4);
        }
    }
    if (!dxgk_image_load_bytes(&i, "fuzz.sys", file, size, &e)) {
        check_imports(i, file, size);
        dxgk_image_discard(i);
    } else {
        must(e.text[0] && !i);
    }
    dxgk_image_unload(i);
    free(file);
    return 0;
}
