/* SPDX-License-Identifier: MIT */
/* table.h: what Vulkan's commands may answer, from its registry. */
#pragma once

#include <stdint.h>

#include "lose_calls.h"

struct lose_call_desc {
    const char *name;
    const int32_t *may; /* answer, besides VK_SUCCESS, which ends the list */
};

extern const struct lose_call_desc lose_calls[LOSE_NUM_CALLS]; /* by enum lose_call; the first has no name */

struct lose_result_name {
    int32_t value;
    const char *name, *word; /* "VK_ERROR_DEVICE_LOST", "device-lost" */
};

extern const struct lose_result_name lose_results[];
extern const unsigned lose_num_results;
