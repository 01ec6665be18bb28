/* checkpoint.h: the checkpoints of a crash (ext.h), found where shared memory says that they stand. Nothing in that
 * memory is believed: what is no checkpoint of the context is none.
 */
#ifndef WATCH_CHECKPOINT_H_
#define WATCH_CHECKPOINT_H_

#include "watch/priv.h"

struct watch_checkpoint {
    const struct kept *k;
    uint32_t packet;
    bool by_pointer;
    uint64_t pointer;
    const uint8_t *payload; /* NULL: none */
    uint32_t size;
    char text[161]; /* "" where the payload is no text */
};

/* The context's last ones, or NULL. */
const struct exec_checkpoints *watch_checkpoints_of(const struct evidence *ev, uint32_t context);
/* `out` points into the evidence and into guest memory. */
bool watch_checkpoint_find(const struct watch *w, const struct evidence *ev,
                           const struct exec_checkpoint *where, uint32_t context,
                           struct watch_checkpoint *out);

#endif
