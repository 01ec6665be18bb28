/* SPDX-License-Identifier: MIT */
/* judge.h: what went wrong with a program's device, from its box and from what the system says of the process. */
#pragma once

#include "vkbox/read.h"

enum vkbox_happened {
    VKBOX_HAPPENED_LOST,    /* a call answered VK_ERROR_DEVICE_LOST */
    VKBOX_HAPPENED_SIGNAL,  /* a signal that the layer saw */
    VKBOX_HAPPENED_HANG,    /* no progress */
    VKBOX_HAPPENED_ENDED,   /* a signal ended the process, and the layer did not see it */
    VKBOX_HAPPENED_REQUEST, /* nothing: somebody asks what there is */
};

/* What the reader saw beside the box. */
struct vkbox_event {
    enum vkbox_happened what;
    uint64_t time_ns, waited_ns; /* waited: HANG: so long there was no progress */
    uint64_t ran_ns;             /* HANG: the process's threads ran so long of it */
    uint32_t threads, slept;     /* HANG: it has so many; so many of them hardly ran in it */
    bool idle;                   /* HANG: of a driver that is a processor no thread was at work */
    int signal;                  /* ENDED */
    bool out_of_memory;          /* ENDED: the kernel's count of such ends went up */
    bool guessed;                /* ENDED: `signal` is what the exit code of who started it says */
    char place
        [160]; /* where the instruction of a signal lies: "libfoo.so+0x12", "generated code", "" unknown */
    char mapped[160]; /* what is mapped at its address: "libfoo.so (r-x)", "nothing", "" unknown */
    bool in_driver;   /* that is the driver's, or code that it generated */
    bool in_shader;   /* it is code that the driver generated */
    bool in_call;     /* the thread is in a call of the program's */
    bool doubtful;    /* it may be code that the program generated */
    bool hidden;      /* the process does not let that be seen */
    bool unwatched;   /* nobody looked at the process while it was there */
    uint32_t device;  /* the slot that it is about, or VKBOX_NO_INDEX: any */
    uint64_t queues;  /* HANG: those that made no progress, a bit each; 0: any */
};

struct vkbox_verdict {
    enum bb_cause cause;
    enum bb_sure happened, command, why;
    char certainty[16], source[32];
    char text[500], unseen[500], fingerprint[20];
    uint64_t submission; /* 0: none */
    size_t work;         /* the first candidate's place in the list, or SIZE_MAX */
    uint32_t candidates;
    uint32_t pending; /* so many times its command buffer was submitted, of any of which it may be */
    uint64_t group; /* by what it is known that one of several commands is in, 0: it is not one of several */
    bool in_secondary; /* and that there are secondary command buffers in that */
    bool may_end;      /* WAITING: what is waited for may still come, from outside of the device's queues */
    char path[256];
    struct vkbox_list list; /* of the submission */
};

/* 0 or -ENOMEM. */
int vkbox_judge(const struct vkbox_reader *r, const struct vkbox_event *ev, struct vkbox_verdict *out);
void vkbox_verdict_finish(struct vkbox_verdict *v);

/* The address of a page fault, by the processor or by the driver; false: it is not known. */
struct vkbox_address {
    uint64_t address, precision; /* precision: bytes that it may lie within */
    const char *access;          /* "read", "write", "execute" */
};
bool vkbox_fault_address(const struct vkbox_crash *c, struct vkbox_address *out);

/* The name of register number `i` at the crash if its value is no address that a processor takes; else NULL. */
const char *vkbox_not_canonical(const struct vkbox_crash *c, uint32_t i);

/* The dump. */
void vkbox_rows(const struct vkbox_reader *r, const struct vkbox_event *ev, const struct vkbox_verdict *v,
                struct bb_package *p);
