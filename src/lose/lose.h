/* SPDX-License-Identifier: MIT */
/* lose.h: fault injection into programs that use Vulkan: runs one, takes its device away or answers its calls with errors, and watches what it does.
 *
 * Faults are made by a layer (layer.c) in the program's processes; the driver and the GPU are whatever the machine has, and are
 * not harmed. The program gets what the specification lets a driver answer.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/strbuf.h"
#include "lose/record.h"
#include "lose/tree.h"

enum lose_verdict {
    LOSE_SURVIVED,      /* it made a new device and works on it; after a fault: it works */
    LOSE_ENDED,         /* it ended by itself, without that */
    LOSE_DIED,          /* a signal ended it */
    LOSE_IGNORES,       /* it goes on calling the device that is lost, or goes on without calling any */
    LOSE_HANGS,         /* it does nothing any more */
    LOSE_STALLS,        /* it goes on calling the API, and does not come to what counts as surviving */
    LOSE_NOT_REACHED,   /* it ended, or time was up, before the fault was due */
    LOSE_NO_DEVICE,     /* it made no Vulkan device, or none that could be seen: `blind` */
    LOSE_WRONG_PICTURE, /* it survived, and shows something else than without the loss */
    LOSE_LEAKS,         /* it survived, and keeps something of each loss */
    LOSE_VERDICTS
};

/* How often a command was called. */
struct lose_calls {
    char name[LOSE_GL_NAME];
    uint32_t calls;
};
enum { LOSE_MAX_CALLED = LOSE_NUM_CALLS + LOSE_COUNTED + 1 };

struct lose_result;

struct lose_params {
    char *const *argv;  /* the program, ends with NULL */
    const char *layers; /* the folder of the layer's manifest */
    enum lose_how how;
    uint32_t
        reset; /* what all contexts of OpenGL say of a loss, as of glGetGraphicsResetStatus; 0: who is guilty says so */
    uint32_t at_frame,
        at_submit;  /* the one that is not done any more, of each device; both 0: no such loss */
    uint32_t times; /* losses in all, each on a device made after the one before; 0 to LOSE_DEVICES */
    /* Without a loss and without a fault the program is run until it has done `proof`. */
    const struct lose_fault *faults; /* what else is answered; at most LOSE_FAULTS */
    uint32_t num_faults;
    struct lose_calls *
        calls; /* NULL, or LOSE_MAX_CALLED: what it called until it had done `proof`, sorted; one without a name ends it */
    uint32_t proof; /* frames (submissions, of a program that shows nothing) on a new device; at least 1 */
    uint64_t hang_ns, refuse_ns; /* as in struct lose_record */
    uint64_t reach_ns;           /* time to reach a loss */
    uint64_t timeout_ns;         /* from a loss to the proof */
    bool keep;                   /* the program goes on after the last proof; else it is ended */
    bool validation;   /* the validation layer is loaded, too, and what it says after a loss is kept */
    bool quiet_stdout; /* what it writes there goes to standard error: stdout is somebody else's */
    /* Called as things happen: nanoseconds since the start, and since the last loss (0: before one). May be NULL. */
    void (*on_event)(void *ctx, uint64_t ns, uint64_t since_loss_ns, const char *text);
    /* Called every few milliseconds while the program is there, with the frames (submissions, if it shows none) of its busiest device. `over`: NULL; or what
     * became of the program, which is ended when this says that it has seen enough. May be NULL. */
    bool (*on_poll)(void *ctx, uint64_t work, const struct lose_result *over);
    void *ctx;
    const volatile int *stop; /* not 0: end the program and return -EINTR; may be NULL */
};

/* One loss; times are nanoseconds since it, 0 for "never". */
struct lose_loss {
    uint64_t frames, submits; /* that the device had done */
    uint64_t at_ns;           /* since the start */
    uint32_t call;            /* enum lose_call or lose_gl_call: that reported the loss first */
    enum lose_api api;        /* whose device it was */
    bool deaf;                /* a context that did not ask to be told of resets */
    uint64_t reported;        /* calls that answered VK_ERROR_DEVICE_LOST */
    bool early;               /* the program gave a device up that hung, before it was reset */
    /* The loss reported; the device destroyed; a new one; its first frame or submission. */
    uint64_t reported_ns, destroyed_ns, device_ns, work_ns;
};

struct lose_result {
    enum lose_verdict verdict;
    uint32_t num_losses, devices, refused;
    struct lose_loss losses[LOSE_DEVICES];
    uint32_t given[LOSE_FAULTS]; /* how often each fault was answered */
    uint64_t fault_work;         /* frames or submissions since the last of them */
    /* Frames; or submissions, if it shows none: those with commands to run, if it has such. */
    uint64_t new_work;         /* on the device that made the last loss good best */
    uint64_t old_work, old_ns; /* on the one that was lost, and in what time */
    bool own_pace;             /* it survived by what it does at its pace, which is less than the proof */
    bool idle;                 /* it survived, and waits for events */
    bool without;              /* it survived, and has no device */
    bool busy;                 /* it goes on without calling Vulkan */
    enum tree_blind blind;     /* of LOSE_NO_DEVICE: why nothing was seen */
    char blind_replaced[TREE_REPLACED_NAMES]; /* TREE_REPLACED: these variables */
    pid_t blind_pid;                          /* where */
    pid_t deaf_pid; /* a process with Direct3D that could not be told: 0, or what was not lost */
    struct lose_growth {
        uint64_t fds, threads, bytes, processes, children,
            devices; /* devices: that are lost, and not destroyed; children: of processes, those of the process itself */
    } growth; /* over the losses, from the first new device to the last; of LOSE_LEAKS what is not 0 leaks */
    uint64_t judged_ns;     /* since the start */
    bool exited, signalled; /* by itself, before it was ended */
    int code;               /* exit code, or signal; 0: it is not known which */
    struct strbuf
        words; /* what the validation layer said after a loss, a line each; the caller's to finish */
    struct strbuf
        stacks; /* where the threads were when it died, or when it was found to hang; the caller's to finish */
};

/* 0; -EINTR; or another negative errno if the program could not be run. */
int lose_run(const struct lose_params *p, struct lose_result *out, struct error *e);

/* What may be expected of a program: that it survives, that it ends or survives, or one of the other verdicts. */
#define LOSE_EXPECTATIONS                                                                                    \
    "survive|end|ended|dies|ignores|hangs|stalls|not-reached|no-device|wrong-picture|leaks"
/* The number of a word of these; -1: it is none. And whether the verdict is what was expected. */
int lose_expectation(const char *word);
bool lose_is_expected(unsigned expectation, enum lose_verdict v);
/* "survived" and so on, and the name of a call. */
const char *lose_verdict_name(enum lose_verdict v);
const char *lose_call_name(uint32_t call);
/* What is lost: "device" or "context". */
const char *lose_api_noun(enum lose_api api);

/* Reads "ANSWER@WHERE:N", as in the manual page. 0 or -EINVAL, with what is wrong and what would be right. */
int lose_fault_parse(const char *text, struct lose_fault *out, struct error *e);
/* A fault that `seed` draws among all answers of what was called, as text that lose_fault_parse() takes; and not twice the same for
 * another `number`, as a rule. `work`: frames or submissions that the program did meanwhile. false: nothing that was called can fail. */
bool lose_fault_draw(const struct lose_calls *called, uint32_t work, uint64_t seed, uint32_t number,
                     char *out, size_t size);
