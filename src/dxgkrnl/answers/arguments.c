/* SPDX-License-Identifier: MIT */
/* arguments.c: see answers.h: where structures lie that DDIs are handed. */
#include "dxgkrnl/adapter.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum {
    SLOTS = 16,       /* of a chunk */
    EMPTY_PAGES = 16, /* pages behind each */
    EMPTY = EMPTY_PAGES * PAGE_SIZE,
    FRONT = 64,    /* bytes that are looked at */
    NOBODYS = 0xA5 /* what is in front of an argument, and where none is */
};
static const size_t stride = PAGE_SIZE + EMPTY;

struct argument_chunk {
    struct argument_chunk *next;
    uint8_t *base;
    uint32_t free; /* bits */
    unsigned last;
    uint16_t size[SLOTS];
};

static void drop(struct argument_chunk *c)
{
    munmap(c->base - EMPTY, SLOTS * stride + EMPTY);
    free(c);
}

static struct argument_chunk *grow(struct arguments *a)
{
    struct argument_chunk *c = calloc(1, sizeof(*c));

    if (!c)
        return NULL;
    *c = (struct argument_chunk){.next = a->chunks, .free = (1u << SLOTS) - 1};
    c->base =
        mmap(NULL, SLOTS * stride + EMPTY, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (c->base == MAP_FAILED) {
        free(c);
        return NULL;
    }
    c->base += EMPTY; /* there is nothing in front of the first, either */
    for (unsigned i = 0; i < SLOTS; i++) {
        uint8_t *page = c->base + i * stride;
        if (mprotect(page, PAGE_SIZE, PROT_READ | PROT_WRITE)) {
            drop(c);
            return NULL;
        }
        memset(page, NOBODYS, PAGE_SIZE);
    }
    return a->chunks = c;
}

bool dxgk_arguments_init(struct arguments *a)
{
    return grow(a) != NULL;
}

void dxgk_arguments_finish(struct arguments *a)
{
    while (a->chunks) {
        struct argument_chunk *c = a->chunks;
        a->chunks = c->next;
        drop(c);
    }
}

static struct argument_chunk *chunk_of(const struct arguments *a, const void *at)
{
    struct argument_chunk *c = a->chunks;

    while (c && (uintptr_t)at - (uintptr_t)c->base >= SLOTS * stride)
        c = c->next;
    return c;
}

/* Drivers of Windows 8 and later have larger structures: they find zeros behind ours. */
static size_t room_for(const struct dxgk *d, size_t size)
{
    return d->version >= DXGKDDI_INTERFACE_VERSION_WIN8 ? PAGE_SIZE - FRONT : size;
}

void *dxgk_argument(struct dxgk *d, const void *from, size_t size)
{
    struct argument_chunk *c = d->arguments.chunks;
    const size_t room = room_for(d, size);
    uint8_t *at;
    uint32_t later;
    unsigned i;

    INVARIANT(size <= PAGE_SIZE - FRONT);
    while (c && !c->free)
        c = c->next;
    c = c ? c : grow(&d->arguments);
    if (!c)
        return NULL;
    later =
        c->free & ~((UINT32_C(2) << c->last) - 1); /* in turn: who is late finds none that is another's now */
    i = c->last = (unsigned)__builtin_ctz(later ? later : c->free);
    at = c->base + i * stride + PAGE_SIZE - room;
    c->free &= ~(1u << i);
    c->size[i] = (uint16_t)room;
    /* What is in front now was an argument, if that was larger: it is not this DDI that wrote there. */
    if (dxgk_differs(at - FRONT, NOBODYS, FRONT + room) < FRONT + room) {
        dxgk_kernel_violation(
            d->kernel,
            "the miniport wrote into an argument of a DDI that had returned, in this or an earlier call");
        memset(at - FRONT, NOBODYS, FRONT);
    }
    memcpy(at, from, size);
    if (room > size)
        memset(at + size, 0, room - size);
    return at;
}

void dxgk_argument_back(struct dxgk *d, const char *ddi, const char *what, void *argument, size_t size,
                        void *to)
{
    struct argument_chunk *c = chunk_of(&d->arguments, argument);
    uint8_t *at = argument, *front;
    size_t first;
    unsigned i;

    if (!at)
        return;
    i = (unsigned)((size_t)(at - c->base) / stride);
    front = at - FRONT;
    first = dxgk_differs(front, NOBODYS, FRONT);
    if (first < FRONT) {
        dxgk_kernel_violation(d->kernel, "%s wrote %zu bytes in front of %s", ddi, FRONT - first, what);
        memset(front, NOBODYS, FRONT);
    }
    if (to)
        memcpy(to, at, size);
    memset(at, NOBODYS, c->size[i]);
    c->free |= 1u << i;
}

const char *dxgk_arguments_name(struct arguments *a, const void *at)
{
    const struct argument_chunk *c = chunk_of(a, at);
    const size_t offset = c ? (size_t)((const uint8_t *)at - c->base) % stride : 0;
    unsigned i;

    if (!c || offset < PAGE_SIZE)
        return NULL;
    i = (unsigned)((size_t)((const uint8_t *)at - c->base) / stride);
    if (c->free & 1u << i)
        return "behind an argument of a DDI that has returned";
    snprintf(a->name, sizeof(a->name), "byte %zu of an argument of %u bytes", offset - PAGE_SIZE + c->size[i],
             c->size[i]);
    return a->name;
}
