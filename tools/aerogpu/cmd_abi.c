/* SPDX-License-Identifier: MIT */
/* aerogpu abi: the reference page of the ABI, out of the tables that the code is made of. */
#include "commands.h"

#include <stdio.h>
#include <string.h>

#include <aerogpu/alloc.h>
#include <aerogpu/escape.h>
#include <aerogpu/ext.h>
#include <aerogpu/pci.h>
#include <aerogpu/ring.h>

#include "abi/packets.h"

/* `doc` as it stands in a table: a bar would end its cell. Valid until the next call. */
static const char *cell(const char *doc)
{
    static char out[256];
    size_t n = 0;

    for (; *doc && n < sizeof(out) - 2; doc++) {
        if (*doc == '|')
            out[n++] = '\\';
        out[n++] = *doc;
    }
    out[n] = '\0';
    return out;
}

static uint32_t member_offset; /* of the next field of the struct that is being printed */

static void member(const char *type, size_t size, const char *name, size_t count, const char *doc)
{
    if (count > 1)
        printf("| %u | %s[%zu] | %s | %s |\n", member_offset, type, count, name, cell(doc));
    else
        printf("| %u | %s | %s | %s |\n", member_offset, type, name, cell(doc));
    member_offset += (uint32_t)(size * count);
}

static void struct_head(const char *title, size_t size)
{
    member_offset = 0;
    printf("\n### %s (%zu bytes)\n\n| offset | type | field | meaning |\n|---:|---|---|---|\n", title, size);
}

#define MEMBER(type, name, doc)               member(#type, sizeof(type), #name, 1, doc);
#define ESCAPE_MEMBER(type, name, dir, doc)   member(#type, sizeof(type), #name, 1, #dir ": " doc);
#define ESCAPE_ARRAY(elem, name, n, dir, doc) member(#elem, sizeof_##elem, #name, n, #dir ": " doc);

enum {
    sizeof_byte = 1,
    sizeof_ring_desc = sizeof(struct aerogpu_escape_ring_desc),
    sizeof_ring_desc_v2 = sizeof(struct aerogpu_escape_ring_desc_v2),
    sizeof_createallocation = sizeof(struct aerogpu_escape_createallocation),
};

static void print_pci(void)
{
    printf("## PCI function\n\n"
           "Vendor 0x%04X, device 0x%04X, subsystem %04X:%04X, class 0x%06X. BAR0: %u KiB of registers. "
           "BAR1: %u MiB of prefetchable VRAM; the VBE frame buffer begins at 0x%X.\n",
           AEROGPU_PCI_VENDOR_ID, AEROGPU_PCI_DEVICE_ID, AEROGPU_PCI_SUBSYSTEM_VENDOR_ID,
           AEROGPU_PCI_SUBSYSTEM_ID, AEROGPU_PCI_CLASS, AEROGPU_BAR0_SIZE >> 10, AEROGPU_BAR1_SIZE >> 20,
           AEROGPU_VRAM_VBE_LFB_OFFSET);
    printf(
        "\n## Registers (BAR0)\n\n| offset | name | access | minor | feature | meaning |\n|---:|---|---|---:|---|---|\n");
#define ROW(offset, name, access, minor, feature, doc)                                                       \
    printf("| 0x%03X | %s | %s | %d | %s | %s |\n", offset, #name, #access, minor,                           \
           strcmp(#feature, "ALWAYS") ? #feature : "", cell(doc));
    AEROGPU_REGISTERS(ROW)
#undef ROW
    printf("\n### Feature bits\n\n| bit | name | minor | meaning |\n|---:|---|---:|---|\n");
#define ROW(bit, name, minor, doc) printf("| %d | %s | %d | %s |\n", bit, #name, minor, cell(doc));
    AEROGPU_FEATURES(ROW)
#undef ROW
    printf("\nBits from %d up are extensions:\n\n| bit | name | meaning |\n|---:|---|---|\n",
           AEROGPU_EXT_FIRST_FEATURE_BIT);
#define ROW(bit, NAME, name, doc) printf("| %d | %s | %s |\n", bit, #NAME, cell(doc));
    AEROGPU_EXT_FEATURES(ROW)
#undef ROW
    printf("\n### Interrupt bits\n\n| bit | name | meaning |\n|---:|---|---|\n");
#define ROW(bit, name, doc) printf("| %d | %s | %s |\n", bit, #name, cell(doc));
    AEROGPU_IRQS(ROW)
#undef ROW
    printf("\n### Error codes\n\n| value | name | meaning |\n|---:|---|---|\n");
#define ROW(value, name, doc) printf("| %d | %s | %s |\n", value, #name, doc);
    AEROGPU_ERRORS(ROW)
#undef ROW
    printf("\n### Formats\n\n| value | name | bytes | block | alpha | sRGB | minor | meaning |\n"
           "|---:|---|---:|---:|---|---|---:|---|\n");
#define ROW(value, name, bytes, block, kind, alpha, srgb, minor, doc)                                        \
    printf("| %d | %s | %d | %d | %s | %s | %d | %s |\n", value, #name, bytes, block, alpha ? "yes" : "",    \
           srgb ? "yes" : "", minor, doc);
    AEROGPU_FORMATS(ROW)
    AEROGPU_EXT_FORMATS(ROW)
#undef ROW
}

static void print_memory(void)
{
    printf("\n## Structures in guest memory\n");
    struct_head("Ring header", sizeof(struct aerogpu_ring_header));
    AEROGPU_RING_HEADER_FIELDS(MEMBER)
    struct_head("Submit descriptor", sizeof(struct aerogpu_submit_desc));
    AEROGPU_SUBMIT_DESC_FIELDS(MEMBER)
    printf("\n| flag bit | name | meaning |\n|---:|---|---|\n");
#define ROW(bit, name, doc) printf("| %d | %s | %s |\n", bit, #name, doc);
    AEROGPU_SUBMIT_FLAGS(ROW)
    struct_head("Fence page", sizeof(struct aerogpu_fence_page));
    AEROGPU_FENCE_PAGE_FIELDS(MEMBER)
    struct_head("Allocation table header", sizeof(struct aerogpu_alloc_table_header));
    AEROGPU_ALLOC_TABLE_HEADER_FIELDS(MEMBER)
    struct_head("Allocation table entry", sizeof(struct aerogpu_alloc_entry));
    AEROGPU_ALLOC_ENTRY_FIELDS(MEMBER)
    printf("\n| flag bit | name | meaning |\n|---:|---|---|\n");
    AEROGPU_ALLOC_FLAGS(ROW)
#undef ROW
}

static const char *kind_name(const struct abi_field *f)
{
#define KIND_TEXT(K, text) [AEROGPU_KIND_##K] = text,
    static const char *const plain[] = {AEROGPU_KINDS(KIND_TEXT)};
    const struct abi_enum_desc *d = abi_enum((enum aerogpu_kind)f->kind);

    return d ? d->name : plain[f->kind];
}

static void print_fields(const struct abi_field *f, uint32_t n)
{
    static const char *const types[] = {"u8", "u32", "i32", "u64", "f32"};

    printf("| offset | type | field | kind | meaning |\n|---:|---|---|---|---|\n");
    for (uint32_t i = 0; i < n; i++, f++) {
        printf("| %u | %s", f->offset, types[f->type]);
        if (f->count > 1)
            printf("[%u]", f->count);
        printf(" | %s | %s | %s |\n", f->name, kind_name(f), cell(f->doc));
    }
}

static const char *tail_text(const struct abi_packet_desc *d)
{
#define TAIL_TEXT(NAME, bytes, named, text) [AEROGPU_TAIL_##NAME] = text,
    static const char *const texts[] = {AEROGPU_TAILS(TAIL_TEXT)};

    return d->tail <= AEROGPU_TAIL_BIND ? texts[d->tail] : abi_elem((enum aerogpu_tail)d->tail)->name;
}

static void print_stream(void)
{
    printf(
        "\n## Command stream\n\n"
        "A stream begins with a header of 24 bytes: magic 0x%08X (\"ACMD\"), ABI version, size_bytes, "
        "flags and two reserved words. Packets follow: opcode, size_bytes (with these 8 bytes, a multiple of 4), fields. Sizes are minima; unknown opcodes are skipped. Opcodes from 0x%X up are extensions.\n",
        AEROGPU_CMD_STREAM_MAGIC, AEROGPU_EXT_FIRST_OPCODE);
    for (uint32_t i = 0; i < ABI_NUM_PACKETS; i++) {
        const struct abi_packet_desc *d = &abi_packets[i];
        printf("\n### 0x%03X %s (%u bytes%s)\n\n%s; since minor %u.\n\n", d->opcode, d->name, d->size,
               d->tail ? " and more" : "", d->doc, d->minor);
        if (d->num_fields)
            print_fields(d->fields, d->num_fields);
        if (d->tail)
            printf("\nThen: %s.\n", tail_text(d));
    }
    printf("\n## Elements\n");
    for (int t = AEROGPU_TAIL_BIND + 1; t < AEROGPU_TAIL_COUNT; t++) {
        const struct abi_elem_desc *e = abi_elem((enum aerogpu_tail)t);
        printf("\n### %s (%u bytes)\n\n", e->name, e->size);
        print_fields(e->fields, e->num_fields);
    }
    printf("\n## Enumerations\n");
    for (int k = 0; k < AEROGPU_KIND_COUNT; k++) {
        const struct abi_enum_desc *d = abi_enum((enum aerogpu_kind)k);
        if (!d)
            continue;
        printf("\n**%s**%s:", d->name, d->flags ? " (bits)" : "");
        for (uint32_t i = 0; i < d->count; i++)
            printf("%s %u %s", i ? "," : "", d->values[i].value, d->values[i].name);
        printf("\n");
    }
}

static void print_escapes(void)
{
    printf("\n## Escapes\n\nEvery block begins with version (1), op, size and a reserved word.\n");
#define ROW(op, NAME, name, bytes, doc)                                                                      \
    struct_head(#op " " #NAME ": " doc, bytes);                                                              \
    member_offset = 16;                                                                                      \
    AEROGPU_ESCAPE_FIELDS_##name(ESCAPE_MEMBER, ESCAPE_ARRAY)
    AEROGPU_ESCAPES(ROW)
#undef ROW
    struct_head("ring_desc, in DUMP_RING", sizeof_ring_desc);
    AEROGPU_ESCAPE_FIELDS_ring_desc(ESCAPE_MEMBER, ESCAPE_ARRAY)
        struct_head("ring_desc_v2, in DUMP_RING_V2", sizeof_ring_desc_v2);
    AEROGPU_ESCAPE_FIELDS_ring_desc_v2(ESCAPE_MEMBER, ESCAPE_ARRAY)
        struct_head("createallocation, in DUMP_CREATEALLOCATION", sizeof_createallocation);
    AEROGPU_ESCAPE_FIELDS_createallocation(ESCAPE_MEMBER, ESCAPE_ARRAY)
}

int cmd_abi(int argc, char **argv)
{
    int r = command_line(
        &(struct options){
            .about =
                "Prints the reference of AeroGPU ABI 1.4 as Markdown: PCI function, registers, structures, packets, enumerations and escapes, from the tables that the code is made of."},
        argc, argv);

    if (r)
        return r < 0 ? EXIT_OK : r;
    printf(
        "# AeroGPU ABI %u.%u\n\nMade by `aerogpu abi` from the tables in `include/aerogpu`. All values are little-endian.\n\n",
        AEROGPU_ABI_MAJOR, AEROGPU_ABI_MINOR);
    print_pci();
    print_memory();
    print_stream();
    print_escapes();
    return EXIT_OK;
}
