/* SPDX-License-Identifier: MIT */
/* state.h: what was set on a command list when one of its calls was recorded. */
#pragma once

#include "base/error.h"
#include "base/strbuf.h"
#include "record/names.h"
#include "record/trace_file.h"

/* Appends one line per piece of state of the list that call `index` is made on: the calls that set it, the latest each,
 * with root parameters, vertex buffer slots and the like apart. -ENOENT if there is no such call on a list. */
int state_at(struct strbuf *out, struct trc *t, const struct names *names, uint64_t index, struct error *e);

/* Appends one line per fence: its highest value signalled so far by queue and CPU, and the last value read. */
int fences_at(struct strbuf *out, struct trc *t, const struct names *names, uint64_t index, struct error *e);
