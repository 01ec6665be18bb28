/* hash.h: uthash with a hash for keys of some hundred bytes, which are hashed at every state change. */
#ifndef EXECUTOR_ENGINE_HASH_H_
#define EXECUTOR_ENGINE_HASH_H_

#include <xxhash.h>
#define HASH_FUNCTION(key, len, hash) ((hash) = (unsigned)XXH3_64bits(key, len))
#include <uthash.h>

#endif
