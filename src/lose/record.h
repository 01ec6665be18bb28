/* SPDX-License-Identifier: MIT */
/* record.h: what `aerogpu lose` asks of the layer, and what the layer answers: memory that every process of the program maps.
 *
 * It is sealed memory without a name: nobody can cut it off, and no stranger can open it. Programs inherit a descriptor of it, which
 * is good for whatever user they become; where a launcher has closed that, they open it at `aerogpu lose` itself, by
 * /proc, or ask for it (door.h).
 *
 * Times are nanoseconds of CLOCK_MONOTONIC, 0 for "not yet". A slot is a logical device; it is written by its process only and
 * never used again, but for the last: that stands for all devices behind it of its process, too.
 */
#pragma once

#include <stdatomic.h>
#include <stdint.h>

#include "lose/table.h"

#define LOSE_LAYER "VK_LAYER_AEROGPU_lose"
#define LOSE_VARIABLE                                                                                        \
    "AEROGPU_LOSE" /* /proc/PID/fd/N: the descriptor is N, and who has not that opens the path */

/* What the program would have had for GLVND, which finds the vendor library of this one in their place. */
#define LOSE_EGL_VENDORS "AEROGPU_LOSE_EGL"
#define LOSE_GLX_VENDOR  "AEROGPU_LOSE_GLX"

/* A line that is written to `words` at a loss. */
#define LOSE_MARK "aerogpu lose: lost"

enum {
    LOSE_MAGIC = 0x45534F4C,
    LOSE_DEVICES = 256,
    LOSE_FAULTS = 64,
    LOSE_PROCESSES = 64,
    LOSE_PATH = 128,
    LOSE_GL_NAME = 64,
    LOSE_COUNTED = 512,
    LOSE_WORDS = 64
};
enum { LOSE_DEVICE_LOST = -4 }; /* as a result of a fault, whatever the API: VK_ERROR_DEVICE_LOST */

enum lose_how {
    LOSE_LOST, /* the next call says that the device is lost */
    LOSE_HUNG, /* a submission never completes; after hang_ns the operating system would reset the device */
};

enum lose_api { LOSE_VULKAN, LOSE_EGL, LOSE_GLX, LOSE_D3D9, LOSE_D3D11, LOSE_D3D12, LOSE_DRM, LOSE_APIS };

/* Where a program is in its life. */
enum lose_phase {
    LOSE_ANY_PHASE,
    LOSE_START,    /* nothing was submitted yet */
    LOSE_LOADING,  /* no frame was shown yet, nor were there LOSE_LOADED submissions */
    LOSE_STEADY,   /* since then */
    LOSE_RESIZE,   /* a swapchain replaces another one, and nothing was shown on it yet */
    LOSE_RECOVERY, /* a device was lost, or a fault was answered, and nothing was done on a new device yet */
    LOSE_SHUTDOWN, /* it was asked to end */
    LOSE_PHASES
};
enum { LOSE_LOADED = 100 };

enum lose_what {
    LOSE_ANSWERS, /* `result` */
    LOSE_DELAYS,  /* by `amount` ns */
    LOSE_HIDES,   /* the physical devices */
    LOSE_LIMITS,  /* memory to `amount` bytes */
    LOSE_CRASHES, /* the process, as a driver does */
};

struct lose_fault {
    uint32_t what; /* enum lose_what */
    int32_t result;
    uint32_t call, or_call; /* enum lose_call; or_call: counted together with it, or none */
    uint32_t any;           /* it stands for all that show a frame, or all submissions: OpenGL's too */
    char gl[LOSE_GL_NAME];  /* a command of OpenGL, EGL or GLX instead; `amount` is what it returns then */
    uint32_t at, forever;   /* the nth of these calls, from 1; and those after it */
    uint32_t phase;         /* enum lose_phase: calls in another one do not count */
    uint64_t amount;
    /* What came of it. */
    _Atomic uint32_t seen, given, pid; /* calls; of them, with this answer; who had the first */
    _Atomic uint64_t given_ns;         /* the first */
};

struct lose_device {
    _Atomic uint32_t pid;   /* set last */
    _Atomic uint32_t api;   /* enum lose_api: a device of Vulkan or Direct3D, or a context of OpenGL */
    _Atomic uint32_t deaf;  /* a context that did not ask to be told of resets */
    _Atomic uint32_t blank; /* a device that can show no frames */
    _Atomic uint32_t call;  /* enum lose_call or lose_gl_call: the first that reported the loss */
    _Atomic uint32_t tid;   /* the thread that submitted last */
    _Atomic uint32_t waits; /* threads of the program that wait in calls */
    _Atomic uint64_t space; /* the namespace that `pid` is of; 0: not known */
    _Atomic uint64_t created_ns, hung_ns, lost_ns, reported_ns, last_used_ns,
        destroyed_ns;                 /* last_used_ns: since it is lost */
    _Atomic uint64_t left_ns;         /* its process ended as processes do: exit() */
    _Atomic uint64_t submits, frames; /* accepted; a frame is a vkQueuePresentKHR */
    _Atomic uint64_t works;           /* of the submissions, those with commands to run */
    _Atomic uint32_t called;          /* since the judge looked; written once, for threads share it */
    _Atomic uint64_t first_submit_ns, first_frame_ns;
    _Atomic uint64_t fds, threads, bytes, children; /* that its process held at the loss; bytes: of its own */
    _Atomic uint64_t submits_then, works_then,
        frames_then;           /* when any device was lost last, or any fault answered first */
    _Atomic uint64_t reported; /* calls that answered VK_ERROR_DEVICE_LOST */
    char name[128];            /* of the physical device */
    char program[LOSE_PATH];   /* what the process runs, or the end of it */
};

static inline void lose_called(struct lose_device *d)
{
    if (!atomic_load_explicit(&d->called, memory_order_relaxed))
        atomic_store_explicit(&d->called, 1, memory_order_relaxed);
}

/* A command of OpenGL, EGL or GLX that was called. */
struct lose_called_gl {
    char name[LOSE_GL_NAME];
    _Atomic uint32_t calls;
};

struct lose_record {
    /* What is asked; does not change. */
    uint32_t magic, size;
    uint32_t how;                 /* enum lose_how */
    uint32_t at_frame, at_submit; /* of each device: which is the first that is not done; 0: not by this */
    uint32_t num_faults;
    uint32_t
        counts; /* calls of every command that can be answered, until a device has shown so many frames, or has had so many
                        submissions where it can show none; 0: they are not */
    uint32_t reset; /* what all contexts say of a reset of OpenGL; 0: who is guilty says so, the others not */
    uint32_t stacks;             /* who dies waits until it was looked at */
    uint64_t hang_ns, refuse_ns; /* after a loss, vkCreateDevice fails for so long */
    char words[LOSE_WORDS];      /* where the validation layer writes; or empty */
    /* What is answered. */
    _Atomic int32_t left; /* losses to come */
    _Atomic uint64_t lost_ns;
    _Atomic uint32_t instances, refused, devices; /* devices: slots in use, or LOSE_DEVICES and more */
    _Atomic uint32_t phase;                       /* enum lose_phase */
    _Atomic uint32_t shown;                       /* there was a frame */
    _Atomic uint32_t counted;                     /* the calls: what comes now is none of them */
    _Atomic uint32_t died_pid, died_tid, died_of; /* the first that a signal ends, since the loss; and it */
    _Atomic uint32_t looked;                      /* at that one */
    _Atomic uint32_t making;                      /* the process that makes or destroys a device just now */
    _Atomic uint64_t heard_ns;                    /* a window of a Windows program answered */
    _Atomic uint32_t heard_pid;
    _Atomic uint64_t memory; /* bytes allocated, where they are limited */
    _Atomic uint32_t
        direct3d[LOSE_PROCESSES]; /* processes whose devices are Direct3D's: what is beneath has no slots */
    _Atomic uint32_t
        deaf_pid; /* a process with Direct3D that nobody looks at: what is beneath has no slots, either */
    struct lose_fault fault[LOSE_FAULTS];
    struct lose_device device[LOSE_DEVICES];
    _Atomic uint32_t calls[LOSE_NUM_CALLS]; /* by enum lose_call, where they are counted */
    _Atomic uint32_t num_gl;                /* of the following: in use, or LOSE_COUNTED and more */
    struct lose_called_gl gl[LOSE_COUNTED];
};
