/* SPDX-License-Identifier: MIT */
/* submission.h: what the device and whatever executes its work tell each other. The device makes submissions, the executor answers
 * with completions, and all between them (machine, the executor's host and process, recorders, black box) pass on
 * what they got.
 *
 * The structs lie in memory that the executor's process shares with its host (executor/host/proto.h): plain numbers of fixed
 * size, no pointers. What comes out of that memory is copied once and checked before it is believed.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "aerogpu/ext.h"

/* The scanout registers as they were when the doorbell rang. */
struct abi_scanout {
    uint32_t enabled, width, height, format, pitch, reserved;
    uint64_t fb_gpa;
};

/* A submit descriptor that passed the checks of ring.h; its ranges are guest memory. */
struct abi_submission {
    uint64_t id; /* never 0; consecutive; not reused in the life of the device */
    uint64_t fence;
    uint64_t cmd_gpa;
    uint64_t alloc_gpa;
    uint32_t cmd_size;   /* bytes; 0 for an empty submission */
    uint32_t alloc_size; /* bytes; 0 for no allocation table */
    uint32_t context_id;
    uint32_t engine_id;
    uint32_t flags;  /* AEROGPU_SUBMIT_FLAG_*, also of ext.h if the device has EXT_CLIENTS */
    uint32_t client; /* of EXT_CLIENTS; 0: everybody's */
    uint32_t session;
    uint32_t groups; /* of EXT_GROUPS; 0: it crosses no sessions */
    struct abi_scanout scanout;
};

/* Whether of two submissions of different clients the later one begins when the earlier has ended. */
static inline bool abi_is_ordered(const struct abi_submission *a, const struct abi_submission *b)
{
    const uint32_t both = a->flags & b->flags;

    return both & AEROGPU_SUBMIT_FLAG_EXT_ORDERED && (a->session == b->session || a->groups & b->groups);
}

enum abi_completion_flags {
    ABI_COMPLETION_PRESENT = 1u << 0, /* a PRESENT or PRESENT_EX was executed */
    ABI_COMPLETION_VSYNC = 1u << 1,   /* one of them asks for its vblank */
};

/* What kind of error it was, more exactly than enum aerogpu_error_code says.
 * C(NAME, name, doc) */
#define ABI_CAUSES(C)                                                                                        \
    C(OTHER, "other", "nothing more is known")                                                               \
    C(MEMORY, "out of memory", "the Vulkan device or the host has no more")                                  \
    C(DMA, "DMA fault", "a guest address that is no guest memory, or not any more: fault_address")           \
    C(MISALIGNED, "misaligned", "a buffer is bound where the device cannot read it")                         \
    C(TYPE, "wrong type", "a resource of one kind where another is needed")

enum abi_cause {
#define ABI_ROW(NAME, name, doc) ABI_CAUSE_##NAME,
    ABI_CAUSES(ABI_ROW)
#undef ABI_ROW
        ABI_CAUSE_KINDS
};

static inline const char *abi_cause_name(uint32_t cause)
{
    static const char *const names[] = {
#define ABI_ROW(NAME, name, doc) name,
        ABI_CAUSES(ABI_ROW)
#undef ABI_ROW
    };

    return cause < ABI_CAUSE_KINDS ? names[cause] : "?";
}

struct abi_completion {
    uint64_t id;
    uint32_t error;   /* enum aerogpu_error_code, 0 for none */
    uint32_t flags;   /* abi_completion_flags */
    uint32_t packets; /* packets executed; with an error, number of the packet that it is about */
    uint32_t draws;   /* draws and dispatches among them */
    uint64_t
        fault_address; /* page fault address, if has_fault; the guest address, if cause is ABI_CAUSE_DMA */
    uint32_t has_fault;
    uint32_t cause;    /* enum abi_cause, for error != 0 */
    char message[196]; /* one sentence for error != 0: packet, offset, handle */
};
