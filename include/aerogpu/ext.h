/* ext.h: where our own additions to the ABI live, out of the way of the public one: feature bits from 32 up
 * and opcodes from 0x8000 up. A driver that does not look for them never meets them.
 */
#ifndef AEROGPU_EXT_H_
#define AEROGPU_EXT_H_

#include "aerogpu/abi.h"
#include "aerogpu/escape.h"

#define AEROGPU_EXT_FIRST_FEATURE_BIT 32
#define AEROGPU_EXT_FIRST_OPCODE      0x8000u

/* SPIR-V: the bytes of CREATE_SHADER_DXBC may be a SPIR-V module: a pixel or compute shader 'main' without inputs, whose only
 * resource is a uniform block at binding 0 (descriptor set 0 for compute, 1 for pixel shaders), which is constant buffer 0.
 *
 * GPU addresses, where the host allows them (they reach everything that the executor's process can): such a module may use
 * physical storage buffers. A buffer made with AEROGPU_RESOURCE_USAGE_EXT_ADDRESS has an address, which EXT_BUFFER_ADDRESS
 * writes into a buffer, so that a recording does not depend on what the address is. Accesses in front of and behind such a
 * buffer, and to one that is destroyed, are page faults. */
#define AEROGPU_RESOURCE_USAGE_EXT_ADDRESS 0x80000000u /* of CREATE_BUFFER */
#define AEROGPU_CMD_EXT_BUFFER_ADDRESS     0x8001u

#pragma pack(push, 1)
struct aerogpu_cmd_ext_buffer_address {
    uint32_t opcode, size_bytes;
    uint32_t dst_buffer; /* gets the address, 8 bytes */
    uint32_t src_buffer; /* whose address it is */
    uint64_t dst_offset; /* multiple of 4 */
    uint64_t src_offset; /* added to the address, modulo 2^64: may point outside of the buffer */
};
#pragma pack(pop)
AEROGPU_STATIC_ASSERT(sizeof(struct aerogpu_cmd_ext_buffer_address) == 32, "EXT_BUFFER_ADDRESS");

/* The pipeline state of a context goes, and with it what is still bound there. A device that does not know the packet skips
 * it. The context that the stream itself works on is left alone. */
#define AEROGPU_CMD_EXT_DESTROY_CONTEXT 0x8000u

struct aerogpu_cmd_ext_destroy_context {
    uint32_t opcode;
    uint32_t size_bytes; /* 16 */
    uint32_t context_id;
    uint32_t reserved0; /* 0 */
};

/* Breadcrumbs: 64-bit markers that a stream has written into guest memory, where they can be read at any instant, whatever
 * became of the device. Each context has a buffer of its own. A TOP marker is written when the command processor reaches it,
 * a BOTTOM marker when all draws and dispatches before it are done; neither holds anything up, but no more than 64 BOTTOM
 * markers wait at a time. */
#define AEROGPU_CMD_EXT_BREADCRUMB_BUFFER 0x8002u
#define AEROGPU_CMD_EXT_WRITE_BREADCRUMB  0x8003u
/* Named regions: what is between belongs to the name. They nest, and need not be balanced; a DEBUG_MARKER names what comes
 * next inside of them. The text follows the header, UTF-8, padded with zeroes. */
#define AEROGPU_CMD_EXT_PUSH_MARKER 0x8004u
#define AEROGPU_CMD_EXT_POP_MARKER  0x8005u

enum aerogpu_breadcrumb_type { AEROGPU_BREADCRUMB_TOP = 0, AEROGPU_BREADCRUMB_BOTTOM = 1 };

#pragma pack(push, 1)
struct aerogpu_cmd_ext_breadcrumb_buffer {
    uint32_t opcode, size_bytes;
    uint32_t alloc_id; /* writable guest memory */
    uint32_t count;    /* markers of 8 bytes; 0: no buffer any more */
    uint64_t offset;   /* multiple of 8, in the allocation */
};
struct aerogpu_cmd_ext_write_breadcrumb {
    uint32_t opcode, size_bytes;
    uint32_t type; /* enum aerogpu_breadcrumb_type */
    uint32_t index;
    uint64_t data;
};
#pragma pack(pop)
AEROGPU_STATIC_ASSERT(sizeof(struct aerogpu_cmd_ext_breadcrumb_buffer) == 24, "EXT_BREADCRUMB_BUFFER");
AEROGPU_STATIC_ASSERT(sizeof(struct aerogpu_cmd_ext_write_breadcrumb) == 24, "EXT_WRITE_BREADCRUMB");

/* Private data of a WDDM context: what its user-mode driver asks for. Contexts without any get the defaults. */
#define AEROGPU_CONTEXT_PRIV_MAGIC 0x58544341u /* "ACTX" */

struct aerogpu_context_priv {
    uint32_t magic;
    uint32_t version; /* 1 */
    uint32_t
        dma_buffer_bytes; /* longest stream of one submission; 0: the default; at most MaxDmaBufferBytes */
    uint32_t flags;       /* 0 */
};

AEROGPU_STATIC_ASSERT(sizeof(struct aerogpu_context_priv) == 16, "version 1");

/* An escape of our own: lines of the driver's circular log, oldest first, each "number seconds level text\n". */
#define AEROGPU_EXT_ESCAPE_OP_READ_LOG 0x8000u
#define AEROGPU_EXT_LOG_TEXT           4056u

struct aerogpu_escape_read_log {
    struct aerogpu_escape_header header;
    uint64_t first;      /* in: number of the first line wanted; out: of the first in `text` */
    uint64_t next;       /* out: what to ask for next; equal to first: there is nothing new */
    uint32_t text_bytes; /* out */
    uint32_t reserved0;
    char text[AEROGPU_EXT_LOG_TEXT];
};

AEROGPU_STATIC_ASSERT(sizeof(struct aerogpu_escape_read_log) == 4096, "one page");

#endif
