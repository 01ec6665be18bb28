/* SPDX-License-Identifier: MIT */
/* spirv_source.h: what debug information a SPIR-V module brings: its source text, and from which line an instruction comes.
 *
 * Both ways are read: OpSource with OpLine, and NonSemantic.Shader.DebugInfo.100. Nothing in the words is believed.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/strbuf.h"

/* What of the code is asked about. */
enum spirv_interest {
    SPIRV_LOOPS,    /* where loops begin */
    SPIRV_ADDRESSES /* what reads or writes by an address */
};

/* Lines of the source at which such instructions stand, as "    file:12: text", at most `max` of them. Returns how many there
 * were; 0: there are none, or the module does not say. */
uint32_t spirv_source_lines(const void *bytes, size_t size, enum spirv_interest interest, uint32_t max,
                            struct strbuf *out);

/* Overwrites the folders of files below `home` (NULL: none) and below /home, wherever the words hold their names, with '.'. */
void spirv_hide_folders(void *bytes, size_t size, const char *home);
