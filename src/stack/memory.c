/* SPDX-License-Identifier: MIT */
#include "stack/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/log.h"
#include "base/map.h"

/* Chunks of an owner grow with what it has, so that a surface that stands alone does not take the addresses of a thousand. */
enum { PAGE = 4096, CHUNK_LEAST = 64 << 10, CHUNK = 8 << 20 };

struct piece { /* of a chunk, in address order */
    uint64_t pa, size;
    bool used;
    struct piece *prev, *next;
};

struct chunk { /* in address order; the first is RAM */
    uint64_t base, size, used, owner;
    uint64_t fresh; /* nothing from this address on was handed out yet: the kernel has zeroed it */
    int fd;
    struct piece *pieces, *rover; /* rover: where room was found last */
    struct chunk *next;
};

struct memory {
    struct machine *machine;
    pthread_mutex_t lock;
    struct chunk *chunks;
    struct map pieces; /* that are used, by address */
    uint64_t used;
};

static struct piece *piece_new(uint64_t pa, uint64_t size, struct piece *prev)
{
    struct piece *p = calloc(1, sizeof(*p));

    if (p)
        *p = (struct piece){.pa = pa, .size = size, .prev = prev, .next = prev ? prev->next : NULL};
    if (p && prev)
        prev->next = p;
    if (p && p->next)
        p->next->prev = p;
    return p;
}

static struct chunk *chunk_new(uint64_t base, uint64_t size, uint64_t owner, int fd)
{
    struct chunk *c = calloc(1, sizeof(*c));

    if (!c)
        return NULL;
    *c = (struct chunk){.base = base, .size = size, .owner = owner, .fresh = base, .fd = fd};
    c->pieces = c->rover = piece_new(base, size, NULL);
    if (c->pieces)
        return c;
    free(c);
    return NULL;
}

static void chunk_free(struct chunk *c)
{
    while (c->pieces) {
        struct piece *p = c->pieces;
        c->pieces = p->next;
        free(p);
    }
    if (c->fd >= 0)
        close(c->fd);
    free(c);
}

int stack_memory_create(struct memory **out, struct machine *m)
{
    struct memory *mem = calloc(1, sizeof(*mem));

    *out = NULL;
    if (!mem)
        return -ENOMEM;
    mem->machine = m;
    mem->chunks = chunk_new(PAGE, machine_ram_size(m) - PAGE, 0, -1);
    if (!mem->chunks) {
        free(mem);
        return -ENOMEM;
    }
    pthread_mutex_init(&mem->lock, NULL);
    *out = mem;
    return 0;
}

void stack_memory_destroy(struct memory *mem)
{
    if (!mem)
        return;
    while (mem->chunks) {
        struct chunk *c = mem->chunks;
        mem->chunks = c->next;
        if (c->owner)
            machine_unmap(mem->machine, c->base, c->size);
        chunk_free(c);
    }
    map_finish(&mem->pieces);
    pthread_mutex_destroy(&mem->lock);
    free(mem);
}

/* A chunk of `owner` with room for `size` bytes, behind RAM in the first gap that holds it. */
static struct chunk *add_chunk(struct memory *mem, uint64_t size, uint64_t owner)
{
    struct error e = {0};
    struct chunk *c = NULL, *before = mem->chunks;
    uint64_t base = machine_ram_size(mem->machine), owned = 0;
    int fd;

    for (const struct chunk *o = mem->chunks; o; o = o->next)
        owned += o->owner == owner ? o->size : 0;
    if (owned > CHUNK)
        owned = CHUNK;
    if (size < owned)
        size = owned;
    if (size < CHUNK_LEAST)
        size = CHUNK_LEAST;
    for (; before->next && before->next->base - base < size; before = before->next)
        base = before->next->base + before->next->size;
    if (base > machine_memory_end(mem->machine) || size > machine_memory_end(mem->machine) - base)
        return NULL;
    fd = memfd_create("aerogpu-client", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (fd >= 0 && !ftruncate(fd, (off_t)size) &&
        !fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL))
        c = chunk_new(base, size, owner, fd);
    if (!c) {
        if (fd >= 0)
            close(fd);
        return NULL;
    }
    if (machine_map(mem->machine, base, size, fd, &e)) {
        log_warn("stack", "%s", e.text);
        chunk_free(c);
        return NULL;
    }
    c->next = before->next;
    before->next = c;
    return c;
}

/* Next fit: who walks over all that is used for each page that he takes makes everybody wait. */
static struct piece *find_free(const struct chunk *c, uint64_t size)
{
    struct piece *p;

    if (c->size - c->used < size)
        return NULL;
    for (p = c->rover; p && (p->used || p->size < size);)
        p = p->next;
    if (p)
        return p;
    for (p = c->pieces; p != c->rover && (p->used || p->size < size);)
        p = p->next;
    return p == c->rover ? NULL : p;
}

static struct piece *take(struct memory *mem, struct chunk *c, uint64_t size)
{
    struct piece *p = find_free(c, size);
    uint64_t *at;

    if (!p || !(at = map_put(&mem->pieces, p->pa)))
        return NULL;
    if (p->size > size) {
        if (!piece_new(p->pa + size, p->size - size, p)) {
            map_remove(&mem->pieces, p->pa);
            return NULL;
        }
        p->size = size;
    }
    *at = (uintptr_t)p;
    c->rover = p;
    return p;
}

int stack_memory_alloc(struct memory *mem, size_t size, uint64_t owner, void **va, uint64_t *pa)
{
    struct piece *p = NULL;
    struct chunk *c;
    uint64_t dirty = 0;

    if (!size || size > SIZE_MAX / 2)
        return -ENOMEM;
    size = (size + PAGE - 1) & ~(size_t)(PAGE - 1);
    pthread_mutex_lock(&mem->lock);
    for (c = mem->chunks; c; c = c->next)
        if (c->owner == owner && (p = take(mem, c, size)))
            break;
    if (!p && owner && (c = add_chunk(mem, size, owner)))
        p = take(mem, c, size);
    if (p) {
        dirty = p->pa < c->fresh ? c->fresh - p->pa : 0;
        p->used = true;
        if (c->fresh < p->pa + size)
            c->fresh = p->pa + size;
        c->used += size;
        mem->used += size;
        *pa = p->pa;
    }
    pthread_mutex_unlock(&mem->lock);
    if (!p)
        return -ENOMEM;
    *va = machine_ram(mem->machine) + *pa;
    memset(*va, 0, dirty < size ? dirty : size);
    return 0;
}

/* Returns the piece to its chunk; neighbours become one. */
static void give_back(struct chunk *c, struct piece *p)
{
    struct piece *left = p->prev && !p->prev->used ? p->prev : p;

    p->used = false;
    c->used -= p->size;
    while (left->next && !left->next->used) {
        struct piece *dead = left->next;
        left->size += dead->size;
        left->next = dead->next;
        if (left->next)
            left->next->prev = left;
        if (c->rover == dead)
            c->rover = left;
        free(dead);
    }
}

void stack_memory_free(struct memory *mem, uint64_t pa)
{
    struct chunk **at = &mem->chunks;
    struct piece *p;

    pthread_mutex_lock(&mem->lock);
    p = map_pointer(&mem->pieces, pa);
    if (p) {
        struct chunk *c;
        while (pa - (*at)->base >= (*at)->size)
            at = &(*at)->next;
        c = *at;
        map_remove(&mem->pieces, pa);
        mem->used -= p->size;
        give_back(c, p);
        if (c->owner && !c->used) {
            *at = c->next;
            machine_unmap(mem->machine, c->base, c->size);
            chunk_free(c);
        }
    }
    pthread_mutex_unlock(&mem->lock);
}

static struct chunk *find(struct memory *mem, uint64_t pa, size_t size)
{
    for (struct chunk *c = mem->chunks; c; c = c->next)
        if (pa >= c->base && pa - c->base < c->size && size <= c->size - (pa - c->base))
            return c;
    return NULL;
}

void *stack_memory_ptr(struct memory *mem, uint64_t pa, size_t size)
{
    bool found;

    pthread_mutex_lock(&mem->lock);
    found = find(mem, pa, size) != NULL;
    pthread_mutex_unlock(&mem->lock);
    return found ? machine_ram(mem->machine) + pa : NULL;
}

int stack_memory_fd(struct memory *mem, uint64_t pa, uint64_t *offset)
{
    struct chunk *c;
    int fd = -1;

    pthread_mutex_lock(&mem->lock);
    c = find(mem, pa, 1);
    if (c && c->owner) {
        fd = c->fd;
        *offset = pa - c->base;
    }
    pthread_mutex_unlock(&mem->lock);
    return fd;
}

uint64_t stack_memory_bytes(struct memory *mem)
{
    uint64_t used;

    pthread_mutex_lock(&mem->lock);
    used = mem->used;
    pthread_mutex_unlock(&mem->lock);
    return used;
}
