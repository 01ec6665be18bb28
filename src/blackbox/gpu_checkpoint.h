/* gpu_checkpoint.h: the checkpoints of a crash (ext.h), found where shared memory says that they stand. Nothing in that
 * memory is believed: what is no checkpoint of the context is none.
 */
#ifndef BLACKBOX_GPU_CHECKPOINT_H_
#define BLACKBOX_GPU_CHECKPOINT_H_

#include "blackbox/gpu_watch_priv.h"

struct checkpoint {
    const struct kept *k;
    uint32_t packet;
    bool by_pointer;
    uint64_t pointer;
    const uint8_t *payload; /* NULL: none */
    uint32_t size;
    char text[161]; /* "" where the payload is no text */
};

/* The context's last ones, or NULL. */
const struct exec_checkpoints *checkpoints_of(const struct evidence *ev, uint32_t context);
/* `out` points into the evidence and into guest memory. */
bool checkpoint_find(const struct gpu_watch *w, const struct evidence *ev,
                     const struct exec_checkpoint *where, uint32_t context, struct checkpoint *out);

#endif
