/* SPDX-License-Identifier: MIT */
/* observer.h: listening at the device's border. Recorders and statistics attach here; they own no state of
 * the device and cannot change it.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/public.h"
#include "gpu/backend.h"

PUBLIC_BEGIN

/* E(NAME, name, doc): id and fence are 0 where they mean nothing. */
#define GPU_EVENTS(E)                                                                                        \
    E(DOORBELL, doorbell, "the doorbell rang")                                                               \
    E(TAKE, take, "a descriptor was taken from the ring; submission is set")                                 \
    E(SUBMIT, submit, "the backend took it; submission is set")                                              \
    E(COMPLETE, complete, "the backend completed it; completion is set")                                     \
    E(RETIRE, retire, "its turn in its engine's order came; value is that engine's fence after it")          \
    E(FENCE, fence, "an engine's fence (COMPLETED_FENCE without engines) advanced to value")                 \
    E(VBLANK, vblank, "value is the sequence number; time_ns is the vblank's own time")                      \
    E(IRQ, irq, "an interrupt was raised; value is IRQ_STATUS & IRQ_ENABLE")                                 \
    E(ERROR, error, "an error was latched; value is its code, cause and message are set")                    \
    E(RING_RESET, ring_reset, "the guest reset the ring; all that was pending is dropped")                   \
    E(SCANOUT, scanout, "a scanout register took effect; scanout is set")

enum gpu_event_kind {
#define GPU_ROW(NAME, name, doc) GPU_EVENT_##NAME,
    GPU_EVENTS(GPU_ROW)
#undef GPU_ROW
        GPU_EVENT_KINDS
};

struct gpu_event {
    enum gpu_event_kind kind;
    uint64_t time_ns; /* of the device's clock */
    uint64_t id;      /* of the submission */
    uint64_t fence;
    uint64_t value;
    const struct abi_submission *submission;
    const struct abi_completion *completion;
    const struct abi_scanout *scanout;
    enum abi_cause cause;
    const char *message;
};

/* The caller's memory; the fields below ctx are the device's. */
struct gpu_observer {
    /* Called with the device's lock held, in the order in which things happen: be quick, do not call the
     * device. What the pointers of the event show is valid during the call. */
    void (*event)(void *ctx, const struct gpu_event *e);
    void *ctx;
    struct gpu_observer *next;
};

/* After gpu_unobserve returns, event is not called any more. */
void gpu_observe(struct gpu *gpu, struct gpu_observer *o);
void gpu_unobserve(struct gpu *gpu, struct gpu_observer *o);

const char *gpu_event_name(enum gpu_event_kind kind);

PUBLIC_END
