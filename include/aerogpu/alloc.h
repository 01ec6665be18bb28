/* SPDX-License-Identifier: MIT */
/* alloc.h: guest allocations as the device and the user-mode driver know them: the allocation table that goes
 * with a submission, and the private data that a WDDM allocation carries.
 *
 * alloc_id names an allocation; the table of a submission says where it is in guest memory at that time. 0
 * names nothing, ids up to 0x7FFFFFFF belong to user-mode drivers, those above to the kernel-mode driver.
 */
#pragma once

#include "aerogpu/abi.h"

#define AEROGPU_ALLOC_TABLE_MAGIC 0x434F4C41u /* "ALOC" */
#define AEROGPU_ALLOC_ID_UMD_MAX  0x7FFFFFFFu
#define AEROGPU_ALLOC_ID_KMD_MIN  0x80000000u

/* entry_count entries of entry_stride_bytes each follow the header, all inside size_bytes. */
#define AEROGPU_ALLOC_TABLE_HEADER_FIELDS(F)                                                                 \
    F(uint32_t, magic, "0x434F4C41, \"ALOC\"")                                                               \
    F(uint32_t, abi_version, "major << 16 | minor; another major is refused")                                \
    F(uint32_t, size_bytes, "header and entries; at most the descriptor's alloc_table_size_bytes")           \
    F(uint32_t, entry_count, "number of entries")                                                            \
    F(uint32_t, entry_stride_bytes, "distance of two entries, at least 32; the rest of each is ignored")     \
    F(uint32_t, reserved0, "0")

#define AEROGPU_ALLOC_ENTRY_FIELDS(F)                                                                        \
    F(uint32_t, alloc_id, "not 0, and once in a table")                                                      \
    F(uint32_t, flags, "AEROGPU_ALLOC_FLAG_*")                                                               \
    F(uint64_t, gpa, "guest address; 0 is one")                                                              \
    F(uint64_t, size_bytes, "not 0; gpa + size_bytes must not pass 2^64")                                    \
    F(uint64_t, reserved0, "0")

/* S(bit, name, doc) */
#define AEROGPU_ALLOC_FLAGS(S) S(0, READONLY, "the device must not write to it in this submission")

enum aerogpu_alloc_flags {
#define AEROGPU_ROW(bit, name, doc) AEROGPU_ALLOC_FLAG_##name = 1 << (bit),
    AEROGPU_ALLOC_FLAGS(AEROGPU_ROW)
#undef AEROGPU_ROW
};

/* ---- private data of a WDDM allocation ----------------------------------- */

#define AEROGPU_ALLOC_PRIV_MAGIC 0x414C4C4Fu

#define AEROGPU_ALLOC_PRIV_FIELDS(F)                                                                         \
    F(uint32_t, magic, "0x414C4C4F")                                                                         \
    F(uint32_t, version, "1, or 2 for the longer form")                                                      \
    F(uint32_t, alloc_id, "not 0; the same for every handle of the allocation, in every process")            \
    F(uint32_t, flags, "AEROGPU_ALLOC_PRIV_FLAG_*")                                                          \
    F(uint64_t, share_token, "names the shared surface everywhere; 0 exactly if it is not shared")           \
    F(uint64_t, size_bytes, "size of the allocation")                                                        \
    F(uint64_t, desc, "bit 63 set: AEROGPU_ALLOC_PRIV_DESC; clear: bits 0-31 row pitch, or 0")

/* Version 2 appends: */
#define AEROGPU_ALLOC_PRIV_V2_FIELDS(F)                                                                      \
    F(uint32_t, kind, "AEROGPU_ALLOC_KIND_*")                                                                \
    F(uint32_t, width, "texels; 0 for a buffer")                                                             \
    F(uint32_t, height, "rows; 0 for a buffer")                                                              \
    F(uint32_t, format, "DXGI_FORMAT; 0 for a buffer")                                                       \
    F(uint32_t, row_pitch_bytes, "0 if unknown")                                                             \
    F(uint32_t, reserved1, "0")

#define AEROGPU_ALLOC_PRIV_FLAGS(S)                                                                          \
    S(0, SHARED, "another process may open it")                                                              \
    S(1, CPU_VISIBLE, "the CPU maps it")                                                                     \
    S(2, STAGING, "for readback")

enum aerogpu_alloc_priv_flags {
#define AEROGPU_ROW(bit, name, doc) AEROGPU_ALLOC_PRIV_FLAG_##name = 1 << (bit),
    AEROGPU_ALLOC_PRIV_FLAGS(AEROGPU_ROW)
#undef AEROGPU_ROW
};

enum aerogpu_alloc_kind {
    AEROGPU_ALLOC_KIND_UNKNOWN = 0,
    AEROGPU_ALLOC_KIND_BUFFER = 1,
    AEROGPU_ALLOC_KIND_TEXTURE2D = 2,
};

/* What a surface's `format` may say: DXGI_FORMAT's numbers. */
enum aerogpu_dxgi_format {
    AEROGPU_DXGI_R8G8B8A8_UNORM = 28,
    AEROGPU_DXGI_R8G8B8A8_UNORM_SRGB = 29,
    AEROGPU_DXGI_B5G6R5_UNORM = 85,
    AEROGPU_DXGI_B5G5R5A1_UNORM = 86,
    AEROGPU_DXGI_B8G8R8A8_UNORM = 87,
    AEROGPU_DXGI_B8G8R8X8_UNORM = 88,
    AEROGPU_DXGI_B8G8R8A8_UNORM_SRGB = 91,
    AEROGPU_DXGI_B8G8R8X8_UNORM_SRGB = 93,
};

/* A surface description packed into `desc`, for OpenResource in another process: D3DFORMAT, width, height. */
#define AEROGPU_ALLOC_PRIV_DESC_MARKER (UINT64_C(1) << 63)
#define AEROGPU_ALLOC_PRIV_DESC(d3dformat, width, height)                                                    \
    (AEROGPU_ALLOC_PRIV_DESC_MARKER | (uint64_t)(uint32_t)(d3dformat) | ((uint64_t)(width)&0xFFFFu) << 32 |  \
     ((uint64_t)(height)&0x7FFFu) << 48)
#define AEROGPU_ALLOC_PRIV_DESC_FORMAT(desc) ((uint32_t)(desc))
#define AEROGPU_ALLOC_PRIV_DESC_WIDTH(desc)  ((uint32_t)((desc) >> 32) & 0xFFFFu)
#define AEROGPU_ALLOC_PRIV_DESC_HEIGHT(desc) ((uint32_t)((desc) >> 48) & 0x7FFFu)

#define AEROGPU_MEMBER(type, name, doc) type name;
#pragma pack(push, 1)
struct aerogpu_alloc_table_header {
    AEROGPU_ALLOC_TABLE_HEADER_FIELDS(AEROGPU_MEMBER)
};
struct aerogpu_alloc_entry {
    AEROGPU_ALLOC_ENTRY_FIELDS(AEROGPU_MEMBER)
};
struct aerogpu_alloc_priv {
    AEROGPU_ALLOC_PRIV_FIELDS(AEROGPU_MEMBER)
};
struct aerogpu_alloc_priv_v2 {
    AEROGPU_ALLOC_PRIV_FIELDS(AEROGPU_MEMBER)
    AEROGPU_ALLOC_PRIV_V2_FIELDS(AEROGPU_MEMBER)
};
#pragma pack(pop)
#undef AEROGPU_MEMBER

AEROGPU_STATIC_ASSERT(sizeof(struct aerogpu_alloc_table_header) == 24, "ABI 1.0");
AEROGPU_STATIC_ASSERT(sizeof(struct aerogpu_alloc_entry) == 32, "ABI 1.0");
AEROGPU_STATIC_ASSERT(offsetof(struct aerogpu_alloc_entry, gpa) == 8, "ABI 1.0");
AEROGPU_STATIC_ASSERT(sizeof(struct aerogpu_alloc_priv) == 40, "version 1");
AEROGPU_STATIC_ASSERT(offsetof(struct aerogpu_alloc_priv, alloc_id) == 8, "version 1");
AEROGPU_STATIC_ASSERT(offsetof(struct aerogpu_alloc_priv, share_token) == 16, "version 1");
AEROGPU_STATIC_ASSERT(offsetof(struct aerogpu_alloc_priv, desc) == 32, "version 1");
AEROGPU_STATIC_ASSERT(sizeof(struct aerogpu_alloc_priv_v2) == 64, "version 2");
AEROGPU_STATIC_ASSERT(offsetof(struct aerogpu_alloc_priv_v2, kind) == 40, "version 2");
AEROGPU_STATIC_ASSERT(offsetof(struct aerogpu_alloc_priv_v2, row_pitch_bytes) == 56, "version 2");
