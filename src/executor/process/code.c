/* SPDX-License-Identifier: MIT */
#include "executor/process/code.h"

#include <link.h>
#include <stddef.h>

static struct {
    uint64_t first, size;
} ranges[256];
static size_t num_ranges;
static bool too_many;

static int note(struct dl_phdr_info *info, size_t size, void *ctx)
{
    (void)size;
    (void)ctx;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &info->dlpi_phdr[i];

        if (p->p_type != PT_LOAD || !(p->p_flags & PF_X))
            continue;
        too_many |= num_ranges == sizeof(ranges) / sizeof(ranges[0]);
        if (too_many)
            return 1;
        ranges[num_ranges].first = info->dlpi_addr + p->p_vaddr;
        ranges[num_ranges++].size = p->p_memsz;
    }
    return 0;
}

void exec_code_note(void)
{
    num_ranges = 0;
    too_many = false;
    dl_iterate_phdr(note, NULL);
}

bool exec_code_is_generated(uint64_t address)
{
    for (size_t i = 0; i < num_ranges; i++)
        if (address - ranges[i].first < ranges[i].size)
            return false;
    return num_ranges && !too_many;
}
