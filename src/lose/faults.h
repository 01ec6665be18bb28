/* SPDX-License-Identifier: MIT */
/* faults.h: answers in the place of others, at the nth call: what the hooks that gen.py makes have in common. */
#pragma once

#include <stdbool.h>

#include "layer/layer.h"
#include "lose/record.h"

enum fault_how {
    FAULT_NONE,    /* the call goes on */
    FAULT_INSTEAD, /* it is not made, and answers `result` */
    FAULT_AFTER,   /* it is made, and if that succeeds it answers `result` */
    FAULT_LESS,    /* it is made with room for one item less */
};

/* In which way a call can say VK_INCOMPLETE. */
enum fault_fills {
    FAULT_ANSWER, /* by saying so */
    FAULT_WHOLE,  /* not: it asks how much there is */
    FAULT_ITEMS,
    FAULT_BYTES,
};

struct fault_call {
    enum fault_how how;
    VkResult result;
    PFN_vkVoidFunction next; /* the layer's own hook, or the next layer's function */
};

/* `dispatchable`: a VkDevice, VkQueue or VkCommandBuffer; a VkInstance or VkPhysicalDevice. */
struct fault_call fault_begin_device(void *dispatchable, enum lose_call call, enum fault_fills fills);
struct fault_call fault_begin_instance(void *dispatchable, enum lose_call call, enum fault_fills fills);
VkResult fault_end(const struct fault_call *c, VkResult r);

/* Generated; a row without a name ends it. */
struct fault_hook {
    const char *name;
    enum lose_call call;
    bool of_device;
    PFN_vkVoidFunction fn;
};
extern const struct fault_hook fault_hooks[];
