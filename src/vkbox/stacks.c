/* SPDX-License-Identifier: MIT */
/* stacks.c: who called: return addresses, as modules and offsets. Symbols are looked up when a dump is read.
 *
 * Unwinding takes microseconds, and a program comes the same way again and again. A thread remembers where on its stack each return
 * address lay: if they all lie there still, the way is the same. (The innermost caller is the same, so its frame is, so the word behind
 * that is a return address again, and so on outwards.)
 */
#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unwind.h>

#include "vkbox/layer.h"

enum {
    MOST_OFFSET = 1024, /* of a file's program headers: they are on its first page */
    PLACES = 16,
    WAYS = 6,
    STEPS = VKBOX_FRAMES + 8
};

struct way {
    uint32_t num, own; /* own: the layer's, which are not told */
    bool begun, known; /* known: where all of them lie */
    uint64_t pc[STEPS];
    const uint64_t *at[STEPS];
};

struct remembered {
    const void *frame;
    uint32_t index;
    struct way way;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct map known; /* hash of the addresses to a stack's index */
static uint32_t num_stacks, num_modules;

/* ---- modules ------------------------------------------------------------- */

static bool in_module(uint64_t pc)
{
    for (uint32_t i = 0; i < num_modules; i++)
        if (pc >= box->modules[i].first && pc < box->modules[i].end)
            return true;
    return false;
}

static void take_build_id(struct vkbox_module *m, const char *notes, size_t size)
{
    for (size_t at = 0; at + sizeof(ElfW(Nhdr)) <= size;) {
        const ElfW(Nhdr) *n = (const void *)(notes + at);
        size_t name = (n->n_namesz + 3u) & ~3u, desc = (n->n_descsz + 3u) & ~3u;

        at += sizeof(*n);
        if (name > size - at || desc > size - at - name)
            return;
        if (n->n_type == NT_GNU_BUILD_ID && n->n_namesz == 4 && !memcmp(notes + at, "GNU", 4) &&
            n->n_descsz <= sizeof(m->build_id)) {
            memcpy(m->build_id, notes + at + name, n->n_descsz);
            m->build_id_size = n->n_descsz;
        }
        at += name + desc;
    }
}

/* That of an address alone: of hundreds that a program may have loaded most are on no stack, and looking at each touches its pages. */
static void add_module(uint64_t pc)
{
    struct vkbox_module m = {.first = UINT64_MAX};
    const ElfW(Ehdr) * head;
    const ElfW(Phdr) * p;
    struct dl_find_object o;
    const char *name;

    if (in_module(pc) || num_modules == VKBOX_MODULES || _dl_find_object((void *)(uintptr_t)pc, &o))
        return;
    head = o.dlfo_map_start;
    if (memcmp(head->e_ident, ELFMAG, SELFMAG) || head->e_phoff > MOST_OFFSET) /* not what lies there */
        return;
    p = (const void *)((const char *)head + head->e_phoff);
    m.base = o.dlfo_link_map->l_addr;
    for (int i = 0; i < head->e_phnum; i++) {
        const uint64_t first = m.base + p[i].p_vaddr;

        if (p[i].p_type == PT_NOTE)
            take_build_id(&m, (const char *)first, p[i].p_memsz);
        if (p[i].p_type != PT_LOAD)
            continue;
        m.first = first < m.first ? first : m.first;
        m.end = first + p[i].p_memsz > m.end ? first + p[i].p_memsz : m.end;
    }
    if (m.end <= m.first)
        return;
    name = o.dlfo_link_map->l_name;
    name = name && strrchr(name, '/') ? strrchr(name, '/') + 1 : name;
    snprintf(m.name, sizeof(m.name), "%.63s", name && *name ? name : program_invocation_short_name);
    box->modules[num_modules++] = m;
}

/* ---- stacks -------------------------------------------------------------- */

static _Unwind_Reason_Code step(struct _Unwind_Context *context, void *ctx)
{
    extern const char __ehdr_start[] __attribute__((visibility("hidden")));
    extern const char _end[] __attribute__((visibility("hidden")));
    const uint64_t pc = _Unwind_GetIP(context), *at = (const uint64_t *)_Unwind_GetCFA(context) - 1;
    struct way *w = ctx;

    if (!w->begun) { /* stack_here(), which is left */
        w->begun = w->known = true;
        return _URC_NO_REASON;
    }
    if (!pc)
        return _URC_END_OF_STACK;
    if (w->own == w->num && pc >= (uint64_t)(uintptr_t)__ehdr_start && pc < (uint64_t)(uintptr_t)_end)
        w->own++;
    w->known &= *at == pc;
    w->pc[w->num] = pc;
    w->at[w->num++] = at;
    return w->num < STEPS && w->num - w->own < VKBOX_FRAMES ? _URC_NO_REASON : _URC_END_OF_STACK;
}

static uint32_t number_of(const struct way *w)
{
    uint64_t hash = w->num - w->own, *index;

    for (uint32_t i = w->own; i < w->num; i++)
        hash = (hash ^ w->pc[i]) * UINT64_C(0x9E3779B97F4A7C15) + (hash >> 29);
    pthread_mutex_lock(&lock);
    index = map_find(&known, hash);
    if (!index && num_stacks + 1 < VKBOX_STACKS && (index = map_put(&known, hash))) {
        struct vkbox_stack *s = &box->stacks[++num_stacks];

        *index = num_stacks;
        s->num = w->num - w->own;
        for (uint32_t i = 0; i < s->num; i++) {
            s->pc[i] = w->pc[w->own + i];
            add_module(s->pc[i]);
        }
    }
    pthread_mutex_unlock(&lock);
    return index ? (uint32_t)*index : 0;
}

static bool is_the_same(const struct remembered *r, const void *frame)
{
    if (r->frame != frame || !r->way.num)
        return false;
    for (uint32_t i = 0; i < r->way.num; i++)
        if (*r->way.at[i] != r->way.pc[i])
            return false;
    return true;
}

uint32_t stack_here(void)
{
    /* Programs come to one place of a stack by several ways: who makes a frame's buffer makes its image as well. */
    static __thread struct {
        struct remembered ways[WAYS];
        uint32_t oldest;
    } all[PLACES];
    const void *frame = __builtin_frame_address(0);
    const uint32_t place = (uintptr_t)frame / 16 % PLACES;
    struct remembered *r;

    for (uint32_t i = 0; i < WAYS; i++)
        if (is_the_same(&all[place].ways[i], frame))
            return all[place].ways[i].index;
    r = &all[place].ways[all[place].oldest++ % WAYS];
    r->way = (struct way){0};
    _Unwind_Backtrace(step, &r->way);
    r->frame = r->way.known ? frame : NULL;
    r->index = number_of(&r->way);
    return r->index;
}
