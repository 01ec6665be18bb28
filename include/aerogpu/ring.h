/* SPDX-License-Identifier: MIT */
/* ring.h: how submissions reach the device and how their end is told: the ring, its descriptors and the fence
 * page, all in guest memory.
 *
 *   driver: write entries[tail % entry_count], tail++, DOORBELL ──▶ device: take entries in order
 *   device: stream and table of an entry have been read ──▶ head++: the driver may use slot, stream and table again
 *   device: COMPLETED_FENCE and fence page advance ──▶ IRQ FENCE (unless every fence that advanced it said NO_IRQ)
 *
 * Each layout is a field table: F(type, name, doc). Reserved fields are written as zero and ignored by readers.
 */
#pragma once

#include "aerogpu/abi.h"

#define AEROGPU_RING_MAGIC       0x474E5241u /* "ARNG" */
#define AEROGPU_FENCE_PAGE_MAGIC 0x434E4546u /* "FENC" */

/* head and tail only ever count up (modulo 2^32); the slot of an index is index & (entry_count - 1). The
 * header is followed by entry_count slots of entry_stride_bytes each. */
#define AEROGPU_RING_HEADER_FIELDS(F)                                                                        \
    F(uint32_t, magic, "0x474E5241, \"ARNG\"")                                                               \
    F(uint32_t, abi_version, "major << 16 | minor; another major is refused")                                \
    F(uint32_t, size_bytes, "header and slots; at most RING_SIZE_BYTES")                                     \
    F(uint32_t, entry_count, "number of slots, a power of two")                                              \
    F(uint32_t, entry_stride_bytes, "distance of two slots, at least 64")                                    \
    F(uint32_t, flags, "0")                                                                                  \
    F(uint32_t, head, "first entry whose stream and table may still be read; written by the device")         \
    F(uint32_t, tail, "next entry that the driver fills; written by the driver")                             \
    F(uint32_t, reserved0, "0")                                                                              \
    F(uint32_t, reserved1, "0")                                                                              \
    F(uint64_t, reserved2, "0")                                                                              \
    F(uint64_t, reserved3, "0")                                                                              \
    F(uint64_t, reserved4, "0")

/* Of each address and size pair both are zero (absent), or neither; address + size must not pass 2^64. */
#define AEROGPU_SUBMIT_DESC_FIELDS(F)                                                                        \
    F(uint32_t, desc_size_bytes, "at least 64, at most entry_stride_bytes; what lies behind 64 is ignored")  \
    F(uint32_t, flags, "AEROGPU_SUBMIT_FLAG_*")                                                              \
    F(uint32_t, context_id, "pipeline state that the stream works on; 0 is one as well")                     \
    F(uint32_t, engine_id, "0")                                                                              \
    F(uint64_t, cmd_gpa, "command stream, 0 for an empty submission")                                        \
    F(uint32_t, cmd_size_bytes, "its size")                                                                  \
    F(uint32_t, cmd_reserved0, "0")                                                                          \
    F(uint64_t, alloc_table_gpa, "allocation table, 0 for none")                                             \
    F(uint32_t, alloc_table_size_bytes, "its size")                                                          \
    F(uint32_t, alloc_table_reserved0, "0")                                                                  \
    F(uint64_t, signal_fence, "fence value that its completion signals")                                     \
    F(uint64_t, reserved0, "0; of our EXT_CLIENTS the client's number")

#define AEROGPU_FENCE_PAGE_FIELDS(F)                                                                         \
    F(uint32_t, magic, "0x434E4546, \"FENC\"")                                                               \
    F(uint32_t, abi_version, "major << 16 | minor")                                                          \
    F(uint64_t, completed_fence, "as COMPLETED_FENCE")                                                       \
    F(uint64_t, reserved0, "0")                                                                              \
    F(uint64_t, reserved1, "0")                                                                              \
    F(uint64_t, reserved2, "0")                                                                              \
    F(uint64_t, reserved3, "0")                                                                              \
    F(uint64_t, reserved4, "0")

/* S(bit, name, doc) */
#define AEROGPU_SUBMIT_FLAGS(S)                                                                              \
    S(0, PRESENT, "the stream presents; a hint that nothing relies on")                                      \
    S(1, NO_IRQ, "its completion alone raises no interrupt")

enum aerogpu_submit_flags {
#define AEROGPU_ROW(bit, name, doc) AEROGPU_SUBMIT_FLAG_##name = 1 << (bit),
    AEROGPU_SUBMIT_FLAGS(AEROGPU_ROW)
#undef AEROGPU_ROW
};

#define AEROGPU_MEMBER(type, name, doc) type name;
#pragma pack(push, 1)
struct aerogpu_ring_header {
    AEROGPU_RING_HEADER_FIELDS(AEROGPU_MEMBER)
};
struct aerogpu_submit_desc {
    AEROGPU_SUBMIT_DESC_FIELDS(AEROGPU_MEMBER)
};
struct aerogpu_fence_page {
    AEROGPU_FENCE_PAGE_FIELDS(AEROGPU_MEMBER)
};
#pragma pack(pop)
#undef AEROGPU_MEMBER

AEROGPU_STATIC_ASSERT(sizeof(struct aerogpu_ring_header) == 64, "the entries follow the header");
AEROGPU_STATIC_ASSERT(offsetof(struct aerogpu_ring_header, head) == 24, "ABI 1.0");
AEROGPU_STATIC_ASSERT(offsetof(struct aerogpu_ring_header, tail) == 28, "ABI 1.0");
AEROGPU_STATIC_ASSERT(sizeof(struct aerogpu_submit_desc) == 64, "ABI 1.0");
AEROGPU_STATIC_ASSERT(offsetof(struct aerogpu_submit_desc, cmd_gpa) == 16, "ABI 1.0");
AEROGPU_STATIC_ASSERT(offsetof(struct aerogpu_submit_desc, alloc_table_gpa) == 32, "ABI 1.0");
AEROGPU_STATIC_ASSERT(offsetof(struct aerogpu_submit_desc, signal_fence) == 48, "ABI 1.0");
AEROGPU_STATIC_ASSERT(sizeof(struct aerogpu_fence_page) == 56, "ABI 1.0");
AEROGPU_STATIC_ASSERT(offsetof(struct aerogpu_fence_page, completed_fence) == 8, "ABI 1.0");
