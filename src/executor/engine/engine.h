/* engine.h: command streams become pixels: the part of the executor process that owns Vulkan.
 *
 *   exec_engine_submit ──▶ decode, record, vkQueueSubmit ──▶ (the device works) ──▶ write-backs to guest memory ──▶ complete()
 *
 * Invariants:
 *  1. Every submission completes exactly once, in the order of submission, malformed ones too.
 *  2. complete() is called after all guest-memory writes of the submission are visible.
 *  3. A malformed packet ends its submission with one error; packets before it have taken effect, those after it have
 *     not, and no other submission is affected.
 *  4. Guest memory is read once and never trusted to stay as it was.
 *  5. Where a submission ends changes no pixel, and neither does what another context does in between.
 *
 * Where the ABI says nothing, or its writers differ:
 *  - A viewport that is empty or no number is the whole target. An empty scissor rectangle is none where
 *    SET_RASTERIZER_STATE turned the test on; SCISSORTESTENABLE means what it says, and limits clears as well.
 *  - The last handle of a resource takes bindings along; its share token stays until it is released, because an importer's
 *    submission may come late. Any destroyed handle may name something new, the first one of a shared resource too.
 *  - A target that the pixel shader does not write stays as it is; components that it leaves out are 0, and 1 for alpha.
 *  - What has no alpha reads as opaque, blends as opaque and is all ones in guest memory. New resources are zero.
 *  - An unbound texture is zero, for Direct3D 9 shaders black; unbound constants are zero, but SET_SHADER_CONSTANTS_F
 *    fills constant buffer 0 of DXBC shaders until the stream binds one. Nothing bound samples linearly and clamps.
 *  - Depth tests start as LESS, for Direct3D 9 shaders as LESSEQUAL. Pixel centres are at halves, for all shaders.
 *  - Dirty ranges of what has no guest memory are ignored.
 */
#ifndef EXECUTOR_ENGINE_H_
#define EXECUTOR_ENGINE_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "executor/engine/crumbs.h"

/* The scanout registers as they were when the doorbell rang for a submission. */
struct exec_scanout {
    uint32_t enabled, width, height, format, pitch, reserved;
    uint64_t fb_gpa;
};

struct exec_submission {
    uint64_t id; /* chosen by the host, never 0 */
    uint64_t cmd_gpa;
    uint64_t alloc_gpa;
    uint32_t cmd_size;   /* bytes; 0 for an empty submission */
    uint32_t alloc_size; /* bytes; 0 for no allocation table */
    uint32_t context_id;
    uint32_t flags; /* of the submit descriptor */
    struct exec_scanout scanout;
};

enum exec_completion_flags {
    EXEC_COMPLETION_PRESENT = 1u << 0, /* a PRESENT or PRESENT_EX was executed */
    EXEC_COMPLETION_VSYNC = 1u << 1,   /* one of them asks for its vblank */
};

/* What kind of error it was, more exactly than enum aerogpu_error_code says. */
enum exec_cause {
    EXEC_CAUSE_OTHER,
    EXEC_CAUSE_MEMORY,     /* the Vulkan device or the host has no more */
    EXEC_CAUSE_DMA,        /* a guest address that is no guest memory, or not any more: fault_address */
    EXEC_CAUSE_MISALIGNED, /* a buffer is bound where the device cannot read it */
    EXEC_CAUSE_TYPE,       /* a resource of one kind where another is needed */
    EXEC_CAUSES
};

struct exec_completion {
    uint64_t id;
    uint32_t error;   /* enum aerogpu_error_code, 0 for none */
    uint32_t flags;   /* exec_completion_flags */
    uint32_t packets; /* packets executed */
    uint32_t draws;   /* draws and dispatches among them */
    uint64_t
        fault_address; /* page fault address, if has_fault; the guest address, if cause is EXEC_CAUSE_DMA */
    uint32_t has_fault;
    uint32_t cause;    /* enum exec_cause, for error != 0 */
    char message[196]; /* one sentence for error != 0: packet, offset, handle */
};

struct exec_engine;

struct exec_engine_params {
    /* Maps [gpa, gpa + size) of guest memory; NULL if any byte of it is not guest memory. Valid until the next
     * change of the memory map, which only happens between submissions. Called from any engine thread. */
    void *(*dma_map)(void *ctx, uint64_t gpa, uint64_t size);
    /* Called from engine threads, one call at a time. */
    void (*complete)(void *ctx, const struct exec_completion *c);
    void *ctx;
    /* Where progress is written, whole pages that nothing else uses, or NULL. With EXEC_MARKERS_EXACT every packet that the
     * device works on gets a marker of its own, which costs much; else groups of draws do, which costs nothing. */
    struct exec_crumbs *crumbs;
    enum exec_markers markers;
    bool addresses;       /* shaders may use GPU addresses (ext.h) */
    uint32_t group_draws; /* draws that a software device gets at once; 0: as many as is fast */
    const char *
        device; /* part of a Vulkan device name, an index, or NULL for AEROGPU_VULKAN_DEVICE, else the first */
};

/* Opens the Vulkan device. Returns 0 or a negative errno (-ENODEV: no usable device). */
int exec_engine_create(struct exec_engine **out, const struct exec_engine_params *p, struct error *e);

/* Takes one submission; completes it later, or before returning. Calls come from one thread. */
void exec_engine_submit(struct exec_engine *engine, const struct exec_submission *s);

/* Waits until everything submitted has completed, then forgets every resource, shader, state and token. */
void exec_engine_reset(struct exec_engine *engine);

void exec_engine_destroy(struct exec_engine *engine);

/* Name of the Vulkan device in use and whether it is a software one. */
const char *exec_engine_device_name(const struct exec_engine *engine, bool *is_cpu);

#endif
