/* SPDX-License-Identifier: MIT */
/* ops.h: what executes each packet, by the tables of cmd.h and ext.h. One without a handler does not link.
 *
 * A handler returns 0, or a negative errno after one of the fail functions. The packet has passed abi_stream_next.
 */
#pragma once

#include <aerogpu/cmd.h>
#include <aerogpu/ext.h>

struct abi_packet;
struct exec_engine;

typedef int exec_op(struct exec_engine *g, const struct abi_packet *p);

#define EXEC_OP_DECLARE(opcode, NAME, name, size, tail, count_field, minor, class, doc)                      \
    exec_op exec_op_##name;
AEROGPU_PACKETS(EXEC_OP_DECLARE)
AEROGPU_EXT_PACKETS(EXEC_OP_DECLARE)
#undef EXEC_OP_DECLARE

/* Defines the handler of packet `name` as one that several share. */
#define EXEC_OP_IS(name, shared)                                                                             \
    int exec_op_##name(struct exec_engine *g, const struct abi_packet *p)                                    \
    {                                                                                                        \
        return shared(g, p);                                                                                 \
    }
