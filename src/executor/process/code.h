/* SPDX-License-Identifier: MIT */
/* code.h: which code lies in files. What runs and does not was generated here: shaders, by the Vulkan driver. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* Notes where the code of the program and its libraries lies now; what is loaded later is not known. Not thread-safe. */
void exec_code_note(void);
/* Whether what lies at `address` was generated; false if nothing was noted, or there was too much. Async-signal-safe. */
bool exec_code_is_generated(uint64_t address);
