/* SPDX-License-Identifier: MIT */
/* record.h: what `aerogpu lose` asks of the layer, and what the layer answers: one page that every process of the program maps.
 *
 * Times are nanoseconds of CLOCK_MONOTONIC, 0 for "not yet". A slot is a logical device; it is written by its process only and
 * never used again.
 */
#pragma once

#include <stdatomic.h>
#include <stdint.h>

#define LOSE_LAYER    "VK_LAYER_AEROGPU_lose"
#define LOSE_VARIABLE "AEROGPU_LOSE" /* names the file with the record */

enum { LOSE_MAGIC = 0x45534F4C, LOSE_DEVICES = 256 };

enum lose_how {
    LOSE_LOST, /* the next call says that the device is lost */
    LOSE_HUNG, /* a submission never completes; after hang_ns the operating system would reset the device */
};

/* The calls that may answer VK_ERROR_DEVICE_LOST, and vkCreateDevice. */
#define LOSE_CALLS(C)                                                                                        \
    C(vkQueueSubmit)                                                                                         \
    C(vkQueueSubmit2)                                                                                        \
    C(vkQueueBindSparse)                                                                                     \
    C(vkQueueWaitIdle)                                                                                       \
    C(vkDeviceWaitIdle)                                                                                      \
    C(vkQueuePresentKHR)                                                                                     \
    C(vkAcquireNextImageKHR)                                                                                 \
    C(vkAcquireNextImage2KHR)                                                                                \
    C(vkCreateSwapchainKHR)                                                                                  \
    C(vkGetSwapchainStatusKHR)                                                                               \
    C(vkWaitForPresentKHR)                                                                                   \
    C(vkWaitForFences)                                                                                       \
    C(vkGetFenceStatus)                                                                                      \
    C(vkWaitSemaphores)                                                                                      \
    C(vkGetSemaphoreCounterValue)                                                                            \
    C(vkGetEventStatus)                                                                                      \
    C(vkGetQueryPoolResults)                                                                                 \
    C(vkCreateDevice)

enum lose_call {
    LOSE_NO_CALL,
#define LOSE_ROW(name) LOSE_##name,
    LOSE_CALLS(LOSE_ROW)
#undef LOSE_ROW
        LOSE_NUM_CALLS
};

struct lose_device {
    _Atomic uint32_t pid;  /* set last */
    _Atomic uint32_t call; /* enum lose_call: the first that reported the loss */
    _Atomic uint64_t created_ns, hung_ns, lost_ns, reported_ns, last_reported_ns, destroyed_ns;
    _Atomic uint64_t submits, frames; /* accepted; a frame is a vkQueuePresentKHR */
    _Atomic uint64_t first_submit_ns, first_frame_ns;
    _Atomic uint64_t reported; /* calls that answered VK_ERROR_DEVICE_LOST */
    char name[128];            /* of the physical device */
};

struct lose_record {
    /* What is asked; does not change. */
    uint32_t magic, size;
    uint32_t how;                 /* enum lose_how */
    uint32_t at_frame, at_submit; /* of each device: which is the first that is not done; 0: not by this */
    uint64_t hang_ns, refuse_ns;  /* after a loss, vkCreateDevice fails for so long */
    /* What is answered. */
    _Atomic int32_t left; /* losses to come */
    _Atomic uint64_t lost_ns;
    _Atomic uint32_t instances, refused, devices; /* devices: slots in use, or LOSE_DEVICES and more */
    struct lose_device device[LOSE_DEVICES];
};
