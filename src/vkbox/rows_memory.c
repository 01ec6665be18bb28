/* SPDX-License-Identifier: MIT */
/* rows_memory.c: resources, and the page fault. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/utf8.h"
#include "vkbox/rows.h"

enum { NAMED = 3 };

static uint64_t address_of(const struct vkbox_reader *r, const struct vkbox_object *o)
{
    const struct vkbox_object *memory;

    if (o->address || !o->parent)
        return o->address;
    memory = vkbox_object(r, o->parent);
    return memory && memory->address ? memory->address + o->offset : 0;
}

/* Where the program itself reaches it, when it is mapped. */
static uint64_t host_address_of(const struct vkbox_reader *r, const struct vkbox_object *o)
{
    const struct vkbox_object *memory = vkbox_object(r, o->parent);

    return memory && memory->address ? memory->address + o->offset : 0;
}

void rows_put_resources(struct rows *o, struct bb_resources *known)
{
    for (uint32_t i = 0; i < VKBOX_OBJECTS; i++) {
        const struct vkbox_object *b = &o->r->b->objects[i];
        char what[160], name[VKBOX_NAME];
        uint64_t address, freed;

        if (b->state == VKBOX_FREE ||
            (b->type != VKBOX_MEMORY && b->type != VKBOX_BUFFER && b->type != VKBOX_IMAGE))
            continue;
        address = address_of(o->r, b);
        freed = rows_freed_ns(o->r, b);
        rows_describe(b, b->handle, what);
        bb_row(o->p, BB_TABLE_RESOURCE);
        bb_int(o->p, BB_resource_id, (int64_t)b->handle);
        bb_text(o->p, BB_resource_kind, what);
        if (b->name[0])
            bb_textf(o->p, BB_resource_name, "%.47s", b->name);
        if (address)
            bb_int(o->p, BB_resource_address, (int64_t)address);
        if (b->size)
            bb_int(o->p, BB_resource_size, (int64_t)b->size);
        bb_int(o->p, BB_resource_created_ns, (int64_t)b->created_ns);
        if (b->state == VKBOX_GONE)
            bb_int(o->p, BB_resource_destroyed_ns, (int64_t)b->destroyed_ns);
        else if (freed)
            bb_int(o->p, BB_resource_evicted_ns, (int64_t)freed);
        bb_row_end(o->p);
        address = o->v->cause == BB_CAUSE_PROGRAM ? host_address_of(o->r, b) : address;
        if (!known || !address || !b->size || b->type == VKBOX_MEMORY)
            continue;
        snprintf(name, sizeof(name), "%.47s", b->name);
        vkbox_type_name(b->type, what);
        bb_resources_add(known, &(struct bb_resource){.id = i,
                                                      .name = name,
                                                      .kind = what,
                                                      .address = address,
                                                      .size = b->size,
                                                      .created_ns = b->created_ns});
        if (b->state != VKBOX_GONE && freed)
            bb_resources_evict(known, i, true, freed);
        if (b->state == VKBOX_GONE || freed)
            bb_resources_remove(known, i, freed ? freed : b->destroyed_ns);
    }
}

static void name_other(struct rows *o, const struct vkbox_object *of, uint32_t *num)
{
    size_t n = strlen(o->others);
    char what[160];

    if (of == o->faulted || ++*num > NAMED)
        return;
    rows_describe(of, of->handle, what);
    snprintf(o->others + n, sizeof(o->others) - n, "%s%s",
             *num == 1 ? "whether the address was reached through another: " : ", ", what);
    utf8_mend(o->others);
}

/* An address lies at one owner, and any other that the command could reach may have led there: what is bound; for a shader, whatever
 * has an address. */
static void name_others(struct rows *o)
{
    const struct vkbox_list *l = &o->v->list;
    uint32_t num = 0, flags;
    size_t n;

    if (o->v->work == SIZE_MAX)
        return;
    flags = vkbox_commands[l->work[o->v->work].command].flags;
    for (uint32_t i = 0; i < o->num_leads; i++)
        name_other(o, o->leads[i], &num);
    for (uint32_t i = 0; flags & (VKBOX_IS_DRAW | VKBOX_IS_DISPATCH) && i < VKBOX_OBJECTS; i++) {
        const struct vkbox_object *of = &o->r->b->objects[i];

        if (of->state == VKBOX_LIVE && of->type == VKBOX_BUFFER && of->address && !rows_lead(o, of))
            name_other(o, of, &num);
    }
    if (o->foreign)
        snprintf(o->others + strlen(o->others), sizeof(o->others) - strlen(o->others),
                 "%swhat else it had bound", num ? ", and " : "");
    n = strlen(o->others);
    if (num > NAMED)
        snprintf(o->others + n, sizeof(o->others) - n, ", or %u more", num - NAMED);
}

static void put_no_address(struct rows *o, const struct vkbox_crash *c)
{
    const char *name;

    bb_row(o->p, BB_TABLE_FAULT);
    bb_int(o->p, BB_fault_time_ns, (int64_t)c->time_ns);
    bb_text(o->p, BB_fault_text,
            "the processor does not say the address: it is not canonical, or not aligned as the instruction "
            "wants it");
    bb_row_end(o->p);
    for (uint32_t i = 0; i < VKBOX_REGISTERS; i++) {
        if (!(name = vkbox_not_canonical(c, i)))
            continue;
        bb_row(o->p, BB_TABLE_REGISTER);
        bb_text(o->p, BB_register_name, name);
        bb_int(o->p, BB_register_value, (int64_t)c->registers[i]);
        bb_text(o->p, BB_register_text, "no address: not canonical");
        bb_row_end(o->p);
    }
}

/* The driver, and the program, have memory that no call tells of, and what is gone may have been there. */
static void say_not_seen(const struct rows *o, struct bb_fault *f)
{
    const char *mapped = o->ev->mapped;

    if (f->address >> 63) { /* the kernel's half */
        snprintf(f->text, sizeof(f->text), "0x%" PRIx64 " was never mapped: no program can have it",
                 f->address);
        return;
    }
    f->kind = BB_FAULT_NOT_SEEN;
    snprintf(f->text, sizeof(f->text),
             "0x%" PRIx64 " lies in, or near, no buffer or image whose address was seen%s%s%s", f->address,
             *mapped ? "; " : "", mapped, *mapped ? " is mapped there" : "");
}

void rows_put_fault(struct rows *o, struct bb_resources *known)
{
    const struct vkbox_crash *c = &o->r->b->crash;
    bool by_program = o->v->cause == BB_CAUSE_PROGRAM;
    struct vkbox_address at;
    bool has_address = vkbox_fault_address(c, &at);
    struct bb_fault f = {0};

    if ((o->v->cause != BB_CAUSE_PAGE_FAULT && !(by_program && has_address)) || !known)
        return;
    if (!has_address) {
        put_no_address(o, c);
        return;
    }
    bb_resources_fault(known, at.address, &f);
    if (f.kind == BB_FAULT_NEVER_MAPPED)
        say_not_seen(o, &f);
    /* Without guards, what is near is the program's own memory more often than not. */
    if (by_program && (!f.has_resource || !rows_device(o)->guards))
        return;
    o->faulted = f.has_resource && f.resource.id < VKBOX_OBJECTS ? &o->r->b->objects[f.resource.id] : NULL;
    if (!by_program)
        name_others(o);
    if (f.kind == BB_FAULT_OUT_OF_BOUNDS || f.kind == BB_FAULT_USE_AFTER_FREE)
        o->memory = rows_device(o)->guards && f.num_former <= 1 && o->v->command == BB_SURE_PROVEN &&
                            !o->others[0] && !o->foreign
                        ? BB_SURE_PROVEN
                        : BB_SURE_SUGGESTED;
    bb_row(o->p, BB_TABLE_FAULT);
    bb_int(o->p, BB_fault_time_ns, (int64_t)c->time_ns);
    bb_int(o->p, BB_fault_address, (int64_t)at.address);
    bb_text(o->p, BB_fault_kind, bb_fault_kind_name(f.kind));
    if (o->faulted)
        bb_int(o->p, BB_fault_resource, (int64_t)o->faulted->handle);
    bb_int(o->p, BB_fault_distance, (int64_t)f.distance);
    bb_text(o->p, BB_fault_text, f.text);
    bb_text(o->p, BB_fault_access, at.access);
    bb_row_end(o->p);
}
