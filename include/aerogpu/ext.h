/* ext.h: where our own additions to the ABI live, out of the way of the public one: feature bits from 32 up
 * and opcodes from 0x8000 up. A driver that does not look for them never meets them.
 */
#ifndef AEROGPU_EXT_H_
#define AEROGPU_EXT_H_

#include "aerogpu/abi.h"

#define AEROGPU_EXT_FIRST_FEATURE_BIT 32
#define AEROGPU_EXT_FIRST_OPCODE      0x8000u

#endif
