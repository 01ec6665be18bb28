/* SPDX-License-Identifier: MIT */
/* addresses.c: buffers that shaders reach by address (ext.h).
 *
 *   reserved: no access │ guard │ buffer …………… end │ guard │      alive
 *   reserved: no access │ guard │ no access        │ guard │      evicted; or destroyed, for as long as the engine lives
 *
 * Invariants:
 *  1. A buffer's end lies at the end of its pages, as near as alignment lets it: what is behind it faults at once.
 *  2. An address is never given out twice, so that one from a destroyed buffer always faults.
 *  3. All of them lie in one range, and nothing else does: where the device is a processor, shaders are kept to it
 *     (spirv_confine.h).
 *  4. A buffer ends, is evicted and comes back in its place in the stream: after all work before it, before all behind it.
 */
#include "executor/engine/engine_priv.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include <aerogpu/ext.h>

#include "executor/shader/spirv_confine.h"

enum { GUARD = 64 << 10, PAGE = 4096 };

/* Bytes; none is used twice. Less where somebody limits addresses (RLIMIT_AS). */
#define MOST_RESERVED  ((uint64_t)1 << 42)
#define LEAST_RESERVED (2 * SPIRV_MARGIN)

static void publish(struct exec_engine *g, const struct exec_buffer *b, enum exec_address_state state)
{
    struct exec_progress *c = g->progress.shared;
    struct exec_address_event *e;
    struct timespec ts;
    uint64_t n;

    if (!c)
        return;
    clock_gettime(CLOCK_MONOTONIC, &ts);
    n = atomic_load_explicit(&c->num_addresses, memory_order_relaxed);
    e = &c->addresses[n % EXEC_ADDRESS_EVENTS];
    *e = (struct exec_address_event){.time_ns = (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec,
                                     .address = b->addressed.address,
                                     .size = b->size,
                                     .handle = b->o.handle,
                                     .state = (uint32_t)state};
    atomic_store_explicit(&c->num_addresses, n + 1, memory_order_release);
}

static int bind_pages(struct exec_engine *g, struct exec_buffer *b, VkBufferUsageFlags usage, uint64_t size)
{
    PFN_vkGetBufferDeviceAddressKHR address = (PFN_vkGetBufferDeviceAddressKHR)(void *)vkGetDeviceProcAddr(
        g->vk.device, "vkGetBufferDeviceAddressKHR");
    uint8_t *first = b->addressed.base + GUARD;
    struct exec_vk_pages pages;
    VkResult r;

    if (!address)
        return -ENOTSUP;
    r = exec_vk_pages_import(&g->vk, &pages, first, size, b->size,
                             usage | VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT);
    if (r)
        return exec_vk_errno(r);
    b->vk = (struct exec_vk_buffer){.buffer = pages.buffer, .size = b->size};
    b->vk.memory.map = first + pages.offset;
    b->addressed.memory = pages.memory;
    b->addressed.address = address(
        g->vk.device, &(VkBufferDeviceAddressInfo){.sType = VK_STRUCTURE_TYPE_BUFFER_DEVICE_ADDRESS_INFO,
                                                   .buffer = b->vk.buffer});
    return 0;
}

/* Fresh pages in place of the old ones, with no access: the memory goes, the addresses stay taken. */
static void take_pages(const struct addressed *a)
{
    if (mmap(a->base, a->span, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0) ==
        MAP_FAILED)
        mprotect(a->base, a->span, PROT_NONE);
}

int exec_addresses_open(struct exec_engine *g)
{
    if (!g->vk.caps.addresses)
        return 0;
    for (uint64_t size = MOST_RESERVED; size >= LEAST_RESERVED; size /= 4) {
        void *p = mmap(NULL, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

        if (p == MAP_FAILED)
            continue;
        g->addresses = (struct shader_addresses){.base = (uint64_t)(uintptr_t)p, .size = size - SPIRV_MARGIN};
        return 0;
    }
    return -ENOMEM;
}

void exec_addresses_close(struct exec_engine *g)
{
    if (g->addresses.size)
        munmap((void *)(uintptr_t)g->addresses.base, g->addresses.size + SPIRV_MARGIN);
}

const struct shader_addresses *exec_addresses(const struct exec_engine *g)
{
    return g->is_cpu && g->addresses.size ? &g->addresses : NULL;
}

uint64_t exec_engine_address_meant(uint64_t address)
{
    return spirv_confined_address(address);
}

int exec_address_create(struct exec_engine *g, struct exec_buffer *b, VkBufferUsageFlags usage)
{
    uint64_t size = (b->size + PAGE - 1) & ~(uint64_t)(PAGE - 1);
    struct addressed *a = &b->addressed;
    int r;

    a->span = (size_t)size + 2 * (size_t)GUARD;
    if (a->span > g->addresses.size - g->addresses_used) {
        *a = (struct addressed){0};
        return -ENOMEM;
    }
    a->base = (uint8_t *)(uintptr_t)(g->addresses.base + g->addresses.size - g->addresses_used - a->span);
    r = mprotect(a->base + GUARD, (size_t)size, PROT_READ | PROT_WRITE) ? -ENOMEM
                                                                        : bind_pages(g, b, usage, size);
    if (!r) {
        g->addresses_used += a->span;
        publish(g, b, EXEC_ADDRESS_MADE);
        return 0;
    }
    take_pages(a);
    *a = (struct addressed){0};
    return r;
}

void exec_address_destroy(struct exec_engine *g, struct exec_buffer *b)
{
    struct addressed *a = &b->addressed;

    publish(g, b, EXEC_ADDRESS_GONE);
    vkFreeMemory(g->vk.device, a->memory, NULL);
    take_pages(a);
    *a = (struct addressed){0};
}

int exec_op_ext_buffer_address(struct exec_engine *g, const struct abi_packet *p)
{
    struct aerogpu_cmd_ext_buffer_address c;
    struct exec_buffer *dst, *src;
    uint64_t value;

    if (!g->vk.caps.addresses)
        return 0; /* skipped, as an unknown opcode is */
    memcpy(&c, p->data, sizeof(c));
    dst = exec_object_find(g, c.dst_buffer, OBJECT_BUFFER);
    src = dst ? exec_object_find(g, c.src_buffer, OBJECT_BUFFER) : NULL;
    if (!src)
        return -EBADMSG;
    if (c.dst_offset % 4 || c.dst_offset > dst->size || dst->size - c.dst_offset < 8)
        return fail_oob(g, "8 bytes at %llu do not fit buffer %u", (unsigned long long)c.dst_offset,
                        c.dst_buffer);
    if (!src->addressed.base)
        return fail_decode(g, "buffer %u was made without an address", c.src_buffer);
    value = src->addressed.address + c.src_offset;
    vkCmdUpdateBuffer(exec_batch_transfer(g), dst->vk.buffer, c.dst_offset, sizeof(value), &value);
    exec_batch_use(g, &dst->o);
    return 0;
}

int exec_op_ext_residency(struct exec_engine *g, const struct abi_packet *p)
{
    struct aerogpu_cmd_ext_residency c;
    struct exec_buffer *b;
    int r;

    if (!g->vk.caps.addresses)
        return 0; /* skipped, as an unknown opcode is */
    memcpy(&c, p->data, sizeof(c));
    b = exec_object_find(g, c.buffer, OBJECT_BUFFER);
    if (!b)
        return -EBADMSG;
    if (!b->addressed.base)
        return fail_decode(g, "buffer %u was made without an address", c.buffer);
    if (c.resident > 1)
        return fail_decode(g, "resident is %u, neither 0 nor 1", c.resident);
    r = exec_batch_sync(g); /* what was recorded before may still reach it */
    if (r)
        return r;
    if (mprotect(b->addressed.base + GUARD, b->addressed.span - 2 * (size_t)GUARD,
                 c.resident ? PROT_READ | PROT_WRITE : PROT_NONE))
        return fail_memory(g, "no memory to change the pages of buffer %u", c.buffer);
    publish(g, b, c.resident ? EXEC_ADDRESS_RESIDENT : EXEC_ADDRESS_EVICTED);
    return 0;
}
