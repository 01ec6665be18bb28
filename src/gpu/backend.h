/* SPDX-License-Identifier: MIT */
/* backend.h: the border between the device and whatever executes its submissions.
 *
 *   gpu ──submit(submission)──▶ backend ──gpu_complete(completion)──▶ gpu
 *
 * Invariants:
 *  1. submit never blocks. It is called with the device's lock held, on the thread that rang the doorbell or
 *     on one that is inside gpu_complete or gpu_backend_ready, one call at a time, in the order of the ring.
 *  2. Each submission that was taken is completed once, with gpu_complete, from any thread, inside submit as
 *     well. Completions may come in any order; the device signals fences in the order of the ring all the same.
 *  3. After reset() the device has forgotten everything submitted before; completions for it are ignored.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "abi/submission.h"
#include "base/public.h"

PUBLIC_BEGIN

struct gpu;

enum {
    GPU_QUEUE_MAX = 4096
}; /* submissions that the device holds at once, a power of two; more stay in the ring */

struct gpu_backend_ops {
    /* 0; -EAGAIN: full, the device offers it again after the next completion or gpu_backend_ready; any other
     * negative errno: the submission fails with AEROGPU_ERROR_BACKEND. */
    int (*submit)(void *backend, const struct abi_submission *s);
    /* Stops what is running and forgets all guest-visible state. Does not block. Called with the lock held.
     */
    void (*reset)(void *backend);
};

/* Any thread. An id that is not in flight (completed, or from before a reset) is ignored. */
void gpu_complete(struct gpu *gpu, const struct abi_completion *c);

/* The backend can take submissions again though none completed. Any thread. */
void gpu_backend_ready(struct gpu *gpu);

PUBLIC_END
