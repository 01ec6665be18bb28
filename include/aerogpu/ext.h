/* ext.h: where our own additions to the ABI live, out of the way of the public one: feature bits from 32 up
 * and opcodes from 0x8000 up. A driver that does not look for them never meets them.
 */
#ifndef AEROGPU_EXT_H_
#define AEROGPU_EXT_H_

#include "aerogpu/abi.h"

#define AEROGPU_EXT_FIRST_FEATURE_BIT 32
#define AEROGPU_EXT_FIRST_OPCODE      0x8000u

/* Private data of a WDDM context: what its user-mode driver asks for. Contexts without any get the defaults. */
#define AEROGPU_CONTEXT_PRIV_MAGIC 0x58544341u /* "ACTX" */

struct aerogpu_context_priv {
    uint32_t magic;
    uint32_t version;          /* 1 */
    uint32_t dma_buffer_bytes; /* longest stream of one submission; 0: the default; at most MaxDmaBufferBytes */
    uint32_t flags;            /* 0 */
};

AEROGPU_STATIC_ASSERT(sizeof(struct aerogpu_context_priv) == 16, "version 1");

#endif
