/* SPDX-License-Identifier: MIT */
/* fault.c: where a page fault was, whose that address is, and what may have led there: registers, and addresses that lie in what is
 * bound. */
#include <stdio.h>
#include <string.h>

#include "blackbox/internal.h"
#include "watch/priv.h"

/* 48 bits: bits 47 to 63 are alike. */
static bool is_canonical(uint64_t address)
{
    return address >> 47 == 0 || address >> 47 == 0x1ffff;
}

/* A register holds what is no address, and stands for one of the kernel's if a shader of the virtual GPU was given that. */
static bool may_be_the_kernels(const struct snapshot *sn)
{
    for (int i = 0; i < EXEC_NUM_REGISTERS; i++)
        if (exec_kernels_address(sn->death.registers[i]))
            return true;
    return false;
}

bool watch_has_wild_register(const struct snapshot *sn)
{
    for (int i = 0; i < EXEC_NUM_REGISTERS; i++)
        if (!is_canonical(sn->death.registers[i]))
            return true;
    return false;
}

/* Ids are a number of the watch's over the guest's handle (addresses.c): users know the handle. */
void watch_fault(const struct snapshot *sn, uint64_t address, struct bb_fault *f)
{
    bb_resources_fault(sn->resources, address, f);
    f->resource.id &= UINT32_MAX;
    bb_fault_words(f);
}

/* Whose address it was. The number in the sentence is the guest's handle. */
void watch_judge_fault(const struct snapshot *sn, struct watch_crash *c)
{
    struct bb_fault f;
    char who[64];

    if (c->no_address)
        watch_add(c->at, sizeof(c->at), " at an address that is not canonical%s",
                  may_be_the_kernels(sn) ? ", or is the kernel's" : "");
    if (!c->has_fault || c->no_address)
        return;
    watch_add(c->at, sizeof(c->at), " at 0x%llx", (unsigned long long)c->fault_address);
    watch_fault(sn, c->fault_address, &f);
    c->whose = f.has_resource ? BB_SURE_SUGGESTED : BB_SURE_UNKNOWN;
    c->fault_known = true;
    c->fault_kind = f.kind;
    c->fault_distance = f.distance;
    c->fault_resource = f.has_resource ? f.resource.id : 0;
    snprintf(who, sizeof(who), "%sbuffer %llu of %llu bytes", f.resource.destroyed_ns ? "destroyed " : "",
             (unsigned long long)c->fault_resource,
             (unsigned long long)(f.has_resource ? f.resource.size : 0));
    switch (f.kind) {
    case BB_FAULT_USE_AFTER_FREE:
        watch_add(c->at, sizeof(c->at), ": use after free, %llu bytes into the %s",
                  (unsigned long long)(c->fault_address - f.resource.address), who);
        break;
    case BB_FAULT_OUT_OF_BOUNDS:
        watch_add(c->at, sizeof(c->at), ": out of bounds by %llu bytes, %s %s%s",
                  (unsigned long long)f.distance, f.before ? "before the start of" : "behind the end of",
                  f.resource.destroyed_ns ? "the " : "", who);
        break;
    case BB_FAULT_INSIDE:
        watch_add(c->at, sizeof(c->at), ": inside %s, which %s", who,
                  bb_resources_gaps(sn->resources).lost ? "was alive when it was last heard of" : "is alive");
        break;
    case BB_FAULT_NOT_RESIDENT:
        watch_add(c->at, sizeof(c->at), ": not resident, %llu bytes into %s, which was evicted",
                  (unsigned long long)(c->fault_address - f.resource.address), who);
        break;
    case BB_FAULT_NOT_SEEN:
        watch_add(c->at, sizeof(c->at), ", in nothing that is known: not all that was there is");
        break;
    case BB_FAULT_NEVER_MAPPED:
        watch_add(c->at, sizeof(c->at), ", in no buffer that ever had an address");
        break;
    }
}

const char *watch_register_name(enum exec_register r)
{
    static const char *const names[EXEC_NUM_REGISTERS] = {
#define EXEC_ROW(NAME) #NAME,
        EXEC_REGISTERS(EXEC_ROW)
#undef EXEC_ROW
    };

    return names[r];
}

bool watch_register_text(const struct snapshot *sn, enum exec_register r, char text[200])
{
    const uint64_t value = sn->death.registers[r];
    struct bb_fault f;

    if (!is_canonical(value)) {
        const uint64_t other = exec_kernels_address(value);

        snprintf(text, 200,
                 other ? "no address: not canonical, or the kernel's 0x%llx" : "no address: not canonical",
                 (unsigned long long)other);
        return true;
    }
    watch_fault(sn, value, &f);
    if (!f.has_resource)
        return false;
    snprintf(text, 200, "%s buffer %llu of %llu bytes", bb_fault_kind_name(f.kind),
             (unsigned long long)f.resource.id, (unsigned long long)f.resource.size);
    return true;
}

/* How the address may have been reached: an index out of one buffer's bounds can lead to any other. */
void watch_judge_leads(const struct snapshot *sn, struct watch_crash *c)
{
    const uint32_t room = sizeof(c->leads) / sizeof(c->leads[0]);
    const char *before = ". A register that held no address, ";
    bool owner = false;

    for (int i = 0; i < EXEC_NUM_REGISTERS && c->no_address; i++) {
        const uint64_t value = sn->death.registers[i], other = exec_kernels_address(value);

        if (is_canonical(value))
            continue;
        watch_add(c->at, sizeof(c->at), "%s%s: 0x%llx", before, watch_register_name((enum exec_register)i),
                  (unsigned long long)value);
        if (other)
            watch_add(c->at, sizeof(c->at), ", or 0x%llx", (unsigned long long)other);
        before = "; ";
    }
    for (uint32_t i = 0; i < c->num_leads && i < room; i++)
        owner |= c->leads[i] == c->fault_resource;
    if (!c->num_leads || (owner && c->num_leads == 1))
        return; /* nothing else is known to lead there */
    before = ". What is bound at the command was given the address of buffer";
    for (uint32_t i = 0; i < c->num_leads && i < room; i++, before = ", of")
        watch_add(c->at, sizeof(c->at), "%s %u", before, c->leads[i]);
    watch_add(c->at, sizeof(c->at), "%s%s", c->num_leads > room ? ", and of more" : "",
              owner || !c->fault_resource
                  ? ""
                  : ", and not of the one that lies there: an index out of bounds can lead anywhere");
}
