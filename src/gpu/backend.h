/* backend.h: the border between the device and whatever executes its submissions.
 *
 *   gpu ──submit(submission)──▶ backend ──gpu_complete(completion)──▶ gpu
 *
 * Invariants:
 *  1. submit never blocks. It is called with the device's lock held, on the thread that rang the doorbell or
 * on one that is inside gpu_complete or gpu_backend_ready, one call at a time, in the order of the ring.
 *  2. Each submission that was taken is completed once, with gpu_complete, from any thread, inside submit as
 * well. Completions may come in any order; the device signals fences in the order of the ring all the same.
 *  3. After reset() the device has forgotten everything submitted before; completions for it are ignored.
 */
#ifndef GPU_BACKEND_H_
#define GPU_BACKEND_H_

#include <stdbool.h>
#include <stdint.h>

struct gpu;

/* The scanout registers as they were when the doorbell rang. */
struct gpu_scanout {
    uint32_t enabled, width, height, format, pitch, reserved;
    uint64_t fb_gpa;
};

/* A submit descriptor that passed the checks of ring.h; its ranges are guest memory. */
struct gpu_submission {
    uint64_t id; /* never 0; consecutive; not reused in the life of the device */
    uint64_t fence;
    uint64_t cmd_gpa;
    uint64_t alloc_gpa;
    uint32_t cmd_size;   /* bytes; 0 for an empty submission */
    uint32_t alloc_size; /* bytes; 0 for no allocation table */
    uint32_t context_id;
    uint32_t engine_id;
    uint32_t flags; /* AEROGPU_SUBMIT_FLAG_* */
    struct gpu_scanout scanout;
};

enum gpu_completion_flags {
    GPU_COMPLETION_PRESENT = 1u << 0, /* a PRESENT or PRESENT_EX was executed */
    GPU_COMPLETION_VSYNC = 1u << 1,   /* one of them asks for its vblank */
};

struct gpu_completion {
    uint64_t id;
    uint32_t error;         /* enum aerogpu_error_code, 0 for none */
    uint32_t flags;         /* gpu_completion_flags */
    uint32_t packets;       /* packets executed */
    uint32_t draws;         /* draws and dispatches among them */
    uint64_t fault_address; /* page fault address, if has_fault */
    uint32_t has_fault;
    uint32_t cause;    /* of the backend's own, for observers: enum exec_cause */
    char message[196]; /* one sentence for error != 0 */
};

struct gpu_backend_ops {
    /* 0; -EAGAIN: full, the device offers it again after the next completion or gpu_backend_ready; any other
     * negative errno: the submission fails with AEROGPU_ERROR_BACKEND. */
    int (*submit)(void *backend, const struct gpu_submission *s);
    /* Stops what is running and forgets all guest-visible state. Does not block. Called with the lock held.
     */
    void (*reset)(void *backend);
};

/* Any thread. An id that is not in flight (completed, or from before a reset) is ignored. */
void gpu_complete(struct gpu *gpu, const struct gpu_completion *c);

/* The backend can take submissions again though none completed. Any thread. */
void gpu_backend_ready(struct gpu *gpu);

#endif
