/* SPDX-License-Identifier: MIT */
/* lose.h: device-loss injection: runs a program, takes its Vulkan device away once it has done so many frames or submissions, and watches what it does.
 *
 * The loss is made by a layer (layer.c) in the program's processes; the driver and the GPU are whatever the machine has, and are
 * not harmed. The program gets what a driver answers after a reset: VK_ERROR_DEVICE_LOST.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "lose/record.h"

enum lose_verdict {
    LOSE_SURVIVED,     /* it made a new device and works on it */
    LOSE_ENDED,        /* it ended by itself, without a new device that works */
    LOSE_DIED,         /* a signal ended it */
    LOSE_IGNORES_LOSS, /* it goes on calling the device that is lost */
    LOSE_UNRESPONSIVE, /* it does nothing any more */
    LOSE_NOT_REACHED,  /* it ended, or time was up, before the loss was due */
    LOSE_NO_DEVICE,    /* it made no Vulkan device */
    LOSE_VERDICTS
};

struct lose_params {
    char *const *argv;  /* the program, ends with NULL */
    const char *layers; /* the folder of the layer's manifest */
    enum lose_how how;
    uint32_t at_frame, at_submit; /* the one that is not done any more, of each device; one of them is 0 */
    uint32_t times; /* losses in all, each on a device made after the one before; 1 to LOSE_DEVICES */
    uint32_t proof; /* frames (submissions, of a program that shows nothing) on a new device; at least 1 */
    uint64_t hang_ns, refuse_ns; /* as in struct lose_record */
    uint64_t reach_ns;           /* time to reach a loss */
    uint64_t timeout_ns;         /* from a loss to the proof */
    bool keep;                   /* the program goes on after the last proof; else it is ended */
    /* Called as things happen: nanoseconds since the start, and since the last loss (0: before one). May be NULL. */
    void (*on_event)(void *ctx, uint64_t ns, uint64_t since_loss_ns, const char *text);
    void *ctx;
    const volatile int *stop; /* not 0: end the program and return -EINTR; may be NULL */
};

/* One loss; times are nanoseconds since it, 0 for "never". */
struct lose_loss {
    uint64_t frames, submits; /* that the device had done */
    uint64_t at_ns;           /* since the start */
    enum lose_call call;      /* that reported the loss first */
    uint64_t reported;        /* calls that answered VK_ERROR_DEVICE_LOST */
    /* The loss reported; the device destroyed; a new one; its first frame or submission. */
    uint64_t reported_ns, destroyed_ns, device_ns, work_ns;
};

struct lose_result {
    enum lose_verdict verdict;
    uint32_t num_losses, devices, refused;
    struct lose_loss losses[LOSE_DEVICES];
    bool exited, signalled; /* by itself, before it was ended */
    int code;               /* exit code, or signal */
};

/* 0; -EINTR; or another negative errno if the program could not be run. */
int lose_run(const struct lose_params *p, struct lose_result *out, struct error *e);

/* "survived" and so on, and the name of a call. */
const char *lose_verdict_name(enum lose_verdict v);
const char *lose_call_name(enum lose_call call);
