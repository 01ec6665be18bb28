/* SPDX-License-Identifier: MIT */
/* pe.c: see pe.h. */
#include "dxgkrnl/image/pe.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/strbuf.h"

enum {
    MACHINE_I386 = 0x14C,
    MACHINE_AMD64 = 0x8664,
    MAGIC_PE32_PLUS = 0x20B,
    FILE_EXECUTABLE = 0x0002,
    FILE_RELOCS_STRIPPED = 0x0001,
    SUBSYSTEM_NATIVE = 1,
    RELOC_ABSOLUTE = 0,
    RELOC_DIR64 = 10,
    CHECKSUM_OFFSET = 64, /* in the optional header */
};

bool dxgk_pe_is(const void *file, size_t size)
{
    return size >= 2 && !memcmp(file, "MZ", 2);
}

uint32_t dxgk_pe_checksum(const uint8_t *file, size_t size, size_t field)
{
    uint64_t sum = 0;

    for (size_t i = 0; i < size; i += 2) {
        uint32_t word = file[i] | (i + 1 < size ? (uint32_t)file[i + 1] << 8 : 0);
        if (i < field || i >= field + 4)
            sum += word;
        sum = (sum & 0xFFFF) + (sum >> 16);
    }
    return (uint32_t)(((sum & 0xFFFF) + (sum >> 16)) + size);
}

static int read_optional_header(struct pe *pe, struct bytes b, struct error *e)
{
    uint32_t alignment, file_alignment, directories;
    uint16_t magic, subsystem;
    const size_t start = b.pos;

    magic = bytes_u16(&b);
    if (!b.bad && magic != MAGIC_PE32_PLUS)
        return error_set(e, -ENOEXEC, "the optional header's magic is %#x, not PE32+ (0x20b)", magic);
    bytes_seek(&b, start + 16);
    pe->entry = bytes_u32(&b);
    bytes_seek(&b, start + 24);
    pe->base = bytes_u64(&b);
    alignment = bytes_u32(&b);
    file_alignment = bytes_u32(&b);
    bytes_seek(&b, start + 48);
    pe->windows = (uint32_t)bytes_u16(&b) << 16;
    pe->windows |= bytes_u16(&b);
    bytes_seek(&b, start + 56);
    pe->image_size = bytes_u32(&b);
    pe->headers_size = bytes_u32(&b);
    bytes_take(&b, 4); /* CheckSum */
    subsystem = bytes_u16(&b);
    bytes_seek(&b, start + 108);
    directories = bytes_u32(&b);
    for (uint32_t i = 0; i < directories && i < PE_DIRECTORIES; i++) {
        pe->directories[i].address = bytes_u32(&b);
        pe->directories[i].size = bytes_u32(&b);
    }
    if (b.bad)
        return error_set(e, -ENOEXEC, "the optional header is cut off at offset %zu", b.pos);
    if (subsystem != SUBSYSTEM_NATIVE)
        return error_set(e, -ENOEXEC, "the subsystem is %u, a driver's is native (1)", subsystem);
    if (alignment % PE_PAGE || !alignment || (alignment & (alignment - 1)))
        return error_set(e, -ENOEXEC, "SectionAlignment is %#x, not a power of two of at least a page",
                         alignment);
    if (!file_alignment || (file_alignment & (file_alignment - 1)))
        return error_set(e, -ENOEXEC, "FileAlignment is %#x, not a power of two", file_alignment);
    if (!pe->image_size || pe->image_size > PE_MAX_IMAGE)
        return error_set(e, -ENOEXEC, "SizeOfImage is %u bytes, allowed are 1 to %d", pe->image_size,
                         PE_MAX_IMAGE);
    if (pe->base % 0x10000)
        return error_set(e, -ENOEXEC, "ImageBase is %#" PRIx64 ", not a multiple of 64 KiB", pe->base);
    return 0;
}

/* After all that says where the file ends: of one that is cut off the sum says less. */
static int check_sum(const uint8_t *file, size_t size, size_t field, struct error *e)
{
    struct bytes b = bytes_of(file, size);
    uint32_t sum, is = dxgk_pe_checksum(file, size, field);

    bytes_seek(&b, field);
    sum = bytes_u32(&b);
    return sum == is ? 0 : error_set(e, -ENOEXEC, "CheckSum is %#x, the file's is %#x", sum, is);
}

static int read_section(struct pe *pe, struct pe_section *s, struct bytes *b, size_t file_size,
                        struct error *e)
{
    const struct pe_section *before = s > pe->sections ? s - 1 : NULL;
    const char *name = bytes_take(b, 8);
    uint64_t low = before ? (uint64_t)before->address + before->size : pe->headers_size;

    memcpy(s->name, name ? name : "", name ? 8 : 1);
    s->size = bytes_u32(b);
    s->address = bytes_u32(b);
    s->file_size = bytes_u32(b);
    s->offset = bytes_u32(b);
    bytes_take(b, 12);
    s->flags = bytes_u32(b);
    if (b->bad)
        return error_set(e, -ENOEXEC, "the section table is cut off at offset %zu", b->pos);
    if (!s->size)
        s->size = s->file_size;
    if (s->address % PE_PAGE || s->address < low)
        return error_set(e, -ENOEXEC, "section %.8s is at %#x, must be on a page at or above %#" PRIx64,
                         s->name, s->address, low);
    if (!s->size || s->size > pe->image_size || s->address > pe->image_size - s->size)
        return error_set(e, -ENOEXEC, "section %.8s has %#x bytes at %#x, SizeOfImage is %#x", s->name,
                         s->size, s->address, pe->image_size);
    if (s->file_size && (s->offset > file_size || s->file_size > file_size - s->offset))
        return error_set(e, -ENOEXEC,
                         "it is cut off: section %.8s has %#x bytes at offset %#x of a file of %zu", s->name,
                         s->file_size, s->offset, file_size);
    if (s->file_size > s->size)
        s->file_size = s->size;
    return 0;
}

int dxgk_pe_read(struct pe *pe, const void *file, size_t size, struct error *e)
{
    struct bytes b = bytes_of(file, size);
    uint16_t machine, sections, optional, flags;
    uint32_t header;
    size_t optional_at;
    bool entry = false;
    int r;

    *pe = (struct pe){0};
    if (!dxgk_pe_is(file, size))
        return error_set(e, -ENOEXEC, "it does not begin with MZ");
    bytes_seek(&b, 60);
    header = bytes_u32(&b);
    bytes_seek(&b, header);
    if (bytes_u32(&b) != 0x4550)
        return error_set(e, -ENOEXEC, "there is no PE header at offset %u", header);
    machine = bytes_u16(&b);
    sections = bytes_u16(&b);
    bytes_take(&b, 12);
    optional = bytes_u16(&b);
    flags = bytes_u16(&b);
    if (b.bad)
        return error_set(e, -ENOEXEC, "the file header is cut off at offset %zu", b.pos);
    if (machine != MACHINE_AMD64)
        return error_set(e, -ENOEXEC, "it is for machine %#x%s, must be x64 (0x8664)", machine,
                         machine == MACHINE_I386 ? " (32-bit x86)" : "");
    if (!(flags & FILE_EXECUTABLE))
        return error_set(e, -ENOEXEC, "it is not executable: the linker left errors");
    if (flags & FILE_RELOCS_STRIPPED)
        return error_set(e, -ENOEXEC, "its relocations are stripped");
    if (!sections || sections > PE_MAX_SECTIONS)
        return error_set(e, -ENOEXEC, "it has %u sections, allowed are 1 to %d", sections, PE_MAX_SECTIONS);
    r = read_optional_header(pe, b, e);
    if (r)
        return r;
    optional_at = b.pos;
    bytes_seek(&b, optional_at + optional);
    for (pe->num_sections = 0; !r && pe->num_sections < sections; pe->num_sections++)
        r = read_section(pe, &pe->sections[pe->num_sections], &b, size, e);
    if (r)
        return r;
    if (pe->headers_size > size || pe->headers_size > pe->image_size || b.pos > pe->headers_size)
        return error_set(e, -ENOEXEC, "SizeOfHeaders is %#x, the headers end at %#zx of a file of %zu",
                         pe->headers_size, b.pos, size);
    for (unsigned i = 0; i < pe->num_sections; i++) {
        const struct pe_section *s = &pe->sections[i];
        entry |= s->flags & PE_SECTION_EXECUTE && pe->entry >= s->address && pe->entry - s->address < s->size;
    }
    if (!entry)
        return error_set(e, -ENOEXEC, "the entry point %#x is in no section that may be executed", pe->entry);
    return check_sum(file, size, optional_at + CHECKSUM_OFFSET, e);
}

/* ---- in memory ----------------------------------------------------------- */

void *dxgk_pe_at(const struct pe_view *v, uint64_t address, uint64_t size)
{
    return address <= v->pe->image_size && size <= v->pe->image_size - address ? v->memory + address : NULL;
}

/* A string that ends inside the image, or NULL. */
static const char *string_at(const struct pe_view *v, uint64_t address)
{
    const char *s = dxgk_pe_at(v, address, 1);

    return s && memchr(s, '\0', v->pe->image_size - address) ? s : NULL;
}

static int relocate_block(const struct pe_view *v, uint32_t page, const uint8_t *entries, size_t n,
                          uint64_t delta, struct error *e)
{
    for (size_t i = 0; i < n; i++) {
        uint16_t entry = (uint16_t)(entries[2 * i] | entries[2 * i + 1] << 8);
        uint64_t at = (uint64_t)page + (entry & 0xFFF), value;
        uint8_t *p;
        if (entry >> 12 == RELOC_ABSOLUTE)
            continue;
        if (entry >> 12 != RELOC_DIR64)
            return error_set(e, -ENOEXEC, "the relocation at %#" PRIx64 " is of type %d, x64 has DIR64 (10)",
                             at, entry >> 12);
        p = dxgk_pe_at(v, at, 8);
        if (!p)
            return error_set(e, -ENOEXEC, "a relocation is at %#" PRIx64 ", SizeOfImage is %#x", at,
                             v->pe->image_size);
        memcpy(&value, p, 8);
        value += delta;
        memcpy(p, &value, 8);
    }
    return 0;
}

int dxgk_pe_relocate(const struct pe_view *v, uint64_t delta, struct error *e)
{
    uint32_t at = v->pe->directories[PE_RELOC].address, size = v->pe->directories[PE_RELOC].size;
    const uint8_t *table = dxgk_pe_at(v, at, size);
    int r = 0;

    if (size && !table)
        return error_set(e, -ENOEXEC, "the relocations have %#x bytes at %#x, SizeOfImage is %#x", size, at,
                         v->pe->image_size);
    for (uint32_t pos = 0; !r && size - pos >= 8;) {
        struct bytes b = bytes_of(table + pos, 8);
        uint32_t page = bytes_u32(&b), bytes = bytes_u32(&b);
        if (bytes < 8 || bytes > size - pos)
            return error_set(e, -ENOEXEC, "the relocation block at %#x has %#x bytes, left are %#x", at + pos,
                             bytes, size - pos);
        r = relocate_block(v, page, table + pos + 8, (bytes - 8) / 2, delta, e);
        pos += bytes;
    }
    return r;
}

struct binding {
    const struct pe_view *v;
    void *(*find)(const char *module, const char *name);
    struct strbuf missing; /* names */
    unsigned num_missing;
    uint8_t *unbound; /* the import address table as the file has it, without what is bound by now */
    uint32_t table, table_size;
};

enum { DESCRIPTOR = 20, SLOT = 8, LONGEST_MODULE = 100, LONGEST_NAME = 200 };

static int bind_slot(struct binding *b, uint64_t at, void *address, struct error *e)
{
    void *slot = dxgk_pe_at(b->v, at, SLOT);

    if (!slot || at % SLOT)
        return error_set(e, -ENOEXEC,
                         "an import's slot is at %#" PRIx64 ", must be a multiple of %d inside the image", at,
                         SLOT);
    memcpy(slot, &address, SLOT);
    if (at >= b->table && b->table_size >= SLOT && at - b->table <= b->table_size - SLOT)
        memset(b->unbound + (at - b->table), 0, SLOT);
    return 0;
}

/* The imports of one module: names in `names`, addresses go to `slots`, which may be where anything else of the image is. */
static int bind_module(struct binding *b, const char *module, uint32_t names, uint32_t slots, struct error *e)
{
    for (uint64_t i = 0;; i++) {
        const void *name_slot = dxgk_pe_at(b->v, names + SLOT * i, SLOT);
        uint64_t value;
        const char *name;
        void *address;
        int r;
        if (!name_slot || !dxgk_pe_at(b->v, slots + SLOT * i, SLOT))
            return error_set(e, -ENOEXEC, "the imports of %.40s do not end inside the image", module);
        memcpy(&value, name_slot, SLOT);
        if (!value)
            return 0;
        if (value >> 63)
            return error_set(e, -ENOEXEC, "it imports ordinal %u of %.40s; the kernel's exports go by name",
                             (unsigned)(value & 0xFFFF), module);
        name = string_at(b->v, value + 2);
        if (!name || strlen(name) > LONGEST_NAME)
            return error_set(e, -ENOEXEC, "import %" PRIu64 " of %.40s has no name at %#" PRIx64, i, module,
                             value + 2);
        address = b->find(module, name);
        if (!address)
            strbuf_printf(&b->missing, "%s%s!%s", b->num_missing++ ? ", " : "", module, name);
        r = bind_slot(b, slots + SLOT * i, address, e);
        if (r)
            return r;
    }
}

static int bind_all(struct binding *b, uint32_t at, uint32_t size, struct error *e)
{
    char module_name[LONGEST_MODULE + 1];

    for (uint64_t pos = 0; size; pos += DESCRIPTOR) {
        const void *p = dxgk_pe_at(b->v, at + pos, DESCRIPTOR);
        struct bytes d = bytes_of(p, p ? DESCRIPTOR : 0);
        uint32_t names = bytes_u32(&d), module, slots;
        const char *name;
        int r;
        bytes_take(&d, 8);
        module = bytes_u32(&d);
        slots = bytes_u32(&d);
        if (d.bad)
            return error_set(e, -ENOEXEC, "the import table at %#x does not end inside the image", at);
        if (pos + DESCRIPTOR > size)
            return error_set(e, -ENOEXEC, "the import table at %#x does not end within its %#x bytes", at,
                             size);
        if (!module || !slots)
            break;
        name = string_at(b->v, module);
        if (!name || strlen(name) > LONGEST_MODULE)
            return error_set(e, -ENOEXEC, "the import table names a module at %#x, where no name is", module);
        strcpy(module_name, name); /* a slot may be where it is */
        r = bind_module(b, module_name, names ? names : slots, slots, e);
        if (r)
            return r;
    }
    return 0;
}

static int all_bound(const struct binding *b, struct error *e)
{
    for (uint32_t at = 0; at + SLOT <= b->table_size; at += SLOT) {
        uint64_t value;
        memcpy(&value, b->unbound + at, SLOT);
        if (value)
            return error_set(
                e, -ENOEXEC,
                "the import at %#x has a place in the address table and none in the import table",
                b->table + at);
    }
    return 0;
}

int dxgk_pe_bind(const struct pe_view *v, void *(*find)(const char *module, const char *name),
                 struct error *e)
{
    struct binding b = {.v = v,
                        .find = find,
                        .table = v->pe->directories[PE_IAT].address,
                        .table_size = v->pe->directories[PE_IAT].size};
    const void *table = dxgk_pe_at(v, b.table, b.table_size);
    int r;

    if (b.table_size && (!table || b.table % SLOT))
        return error_set(
            e, -ENOEXEC,
            "the import address table has %#x bytes at %#x, must be a multiple of %d inside SizeOfImage %#x",
            b.table_size, b.table, SLOT, v->pe->image_size);
    b.unbound = malloc(b.table_size + 1);
    if (!b.unbound)
        return error_set(e, -ENOMEM, "no memory for an import address table of %u bytes", b.table_size);
    if (table)
        memcpy(b.unbound, table, b.table_size);
    r = bind_all(&b, v->pe->directories[PE_IMPORT].address, v->pe->directories[PE_IMPORT].size, e);
    if (!r)
        r = all_bound(&b, e);
    if (!r && b.num_missing)
        r = error_set(e, -ENOEXEC, "it imports %u that the kernel here has not: %s", b.num_missing,
                      strbuf_str(&b.missing));
    strbuf_finish(&b.missing);
    free(b.unbound);
    return r;
}
