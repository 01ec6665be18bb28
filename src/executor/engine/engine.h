/* SPDX-License-Identifier: MIT */
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
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "abi/submission.h"
#include "base/error.h"
#include "executor/engine/progress.h"

struct exec_engine;

/* This thread is the engine's own: neither does it decode, nor is it one of the Vulkan driver's. */
extern _Thread_local bool exec_own_thread;

struct exec_engine_params {
    /* Maps [gpa, gpa + size) of guest memory; NULL if any byte of it is not guest memory. Valid until the next
     * change of the memory map, which only happens between submissions. Called from any engine thread. */
    void *(*dma_map)(void *ctx, uint64_t gpa, uint64_t size);
    /* Called from engine threads, one call at a time. */
    void (*complete)(void *ctx, const struct abi_completion *c);
    void *ctx;
    /* Where progress is written, whole pages that nothing else uses, or NULL. With EXEC_MARKERS_EXACT every packet that the
     * device works on gets a marker of its own, which costs much; else groups of draws do, which costs nothing. */
    struct exec_progress *progress;
    enum exec_markers markers;
    bool addresses;       /* shaders may use GPU addresses (ext.h) */
    uint32_t group_draws; /* draws that a software device gets at once; 0: as many as is fast */
    const char *
        device; /* part of a Vulkan device name, an index, or NULL for AEROGPU_VULKAN_DEVICE, else the first */
};

/* Opens the Vulkan device. Returns 0 or a negative errno (-ENODEV: no usable device). */
int exec_engine_create(struct exec_engine **out, const struct exec_engine_params *p, struct error *e);

/* Takes one submission; completes it later, or before returning. Calls come from one thread. */
void exec_engine_submit(struct exec_engine *engine, const struct abi_submission *s);

/* Waits until everything submitted has completed, then forgets every resource, shader, state and token. */
void exec_engine_reset(struct exec_engine *engine);

void exec_engine_destroy(struct exec_engine *engine);

/* The address that a shader meant, whose code faulted at `address`. Async-signal-safe. */
uint64_t exec_engine_address_meant(uint64_t address);

/* Name of the Vulkan device in use and whether it is a software one. */
const char *exec_engine_device_name(const struct exec_engine *engine, bool *is_cpu);
