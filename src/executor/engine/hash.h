/* SPDX-License-Identifier: MIT */
/* hash.h: uthash with a hash for keys of some hundred bytes, which are hashed at every state change.
 *
 * Without memory HASH_ADD does not add, and does not end the process: after it, HASH_ADDED() says whether the element is in.
 */
#pragma once

#include <xxhash.h>
#define HASH_FUNCTION(key, len, hash) ((hash) = (unsigned)XXH3_64bits(key, len))
#define HASH_NONFATAL_OOM             1
#define HASH_ADDED(x)                 ((x)->hh.tbl != NULL)
#include <uthash.h>
