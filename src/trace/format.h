/* SPDX-License-Identifier: MIT */
/* format.h: the numbers of the .aerogputrace container, versions 1 and 2. Everything is little-endian.
 *
 *   header 32 │ metadata: JSON │ records … │ TOC: 16 + 32 per frame │ footer 32
 *
 *   header    magic[8] header_size container_version command_abi_version flags meta_len reserved
 *   record    u8 type, u8 flags, u16 reserved, u32 payload_len, payload
 *   TOC       magic[8] toc_version frame_count, {frame_index flags u64 start u64 present u64 end}…
 *   footer    magic[8] footer_size container_version u64 toc_offset u64 toc_len
 */
#pragma once

#include <stdint.h>

#define TRACE_MAGIC        "AEROGPUT"
#define TRACE_TOC_MAGIC    "AEROTOC\0"
#define TRACE_FOOTER_MAGIC "AEROGPUF"

enum {
    TRACE_HEADER_SIZE = 32,
    TRACE_FOOTER_SIZE = 32,
    TRACE_TOC_HEADER_SIZE = 16,
    TRACE_TOC_ENTRY_SIZE = 32,
    TRACE_RECORD_HEADER_SIZE = 8,
    TRACE_BLOB_HEADER_SIZE = 16,
    TRACE_SUBMISSION_SIZE = 56,
    TRACE_RANGE_SIZE = 32,

    TRACE_CONTAINER_V1 = 1,
    TRACE_CONTAINER_V2 = 2, /* adds TRACE_SUBMISSION */
    TRACE_TOC_VERSION = 1,
    TRACE_SUBMISSION_VERSION = 1,
};

enum trace_record_type {
    TRACE_BEGIN_FRAME = 1, /* u32 frame_index */
    TRACE_PRESENT = 2,     /* u32 frame_index */
    TRACE_PACKET = 3,      /* raw bytes: for AeroGPU, one whole command stream */
    TRACE_BLOB = 4,        /* u64 id, u32 kind, u32 reserved, bytes */
    TRACE_SUBMISSION = 5,  /* 56 bytes, then 32 per memory range; container 2 and up */
};

/* kind, name: what a blob holds. The first five belong to other command ABIs. */
#define TRACE_BLOB_KINDS(K)                                                                                  \
    K(0x001, BUFFER_DATA)                                                                                    \
    K(0x002, TEXTURE_DATA)                                                                                   \
    K(0x003, SHADER_DXBC)                                                                                    \
    K(0x004, SHADER_WGSL)                                                                                    \
    K(0x005, SHADER_GLSL_ES300)                                                                              \
    K(0x100, CMD_STREAM)                                                                                     \
    K(0x101, ALLOC_TABLE)                                                                                    \
    K(0x102, ALLOC_MEMORY)

enum trace_blob_kind {
#define K(value, name) TRACE_BLOB_##name = value,
    TRACE_BLOB_KINDS(K)
#undef K
};

/* "CMD_STREAM" and so on, NULL for a kind that the format does not have. */
const char *trace_blob_kind_name(uint32_t kind);

/* "BeginFrame" and so on, NULL for a type that the format does not have. */
const char *trace_record_type_name(uint32_t type);

/* A piece of guest memory as it was when a submission was made. */
struct trace_range {
    uint32_t alloc_id;
    uint32_t flags; /* of the allocation table's entry */
    uint64_t gpa, size;
    uint64_t blob; /* its bytes; fewer than `size` if the rest is not known */
};

/* A submission as the driver made it; blobs by id, 0 for none. */
struct trace_submission {
    uint32_t submit_flags, context_id, engine_id;
    uint64_t signal_fence;
    uint64_t cmd_blob, alloc_blob;
    const struct trace_range *ranges;
    uint32_t num_ranges;
};

struct trace_frame {
    uint32_t index;
    uint64_t start, present, end; /* file offsets; present is 0 if the frame has none */
};
