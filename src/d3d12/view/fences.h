/* SPDX-License-Identifier: MIT */
/* fences.h: how far each fence of a recording is, who signals it and who waits for it. */
#pragma once

#include "base/error.h"
#include "base/strbuf.h"
#include "record/names.h"
#include "record/show.h"
#include "record/trace_file.h"

/* Appends one line per fence that is made or used up to call `index`: where it began, the last that each queue and the program signalled,
 * the last value read, and who waited for what, each with its call: all waits that nobody has signalled, and of each who waits the last
 * that somebody has, with who. -ENOENT if there is no such call. */
int fences_at(struct strbuf *out, enum show_form form, struct trc *t, const struct names *names,
              uint64_t index, struct error *e);
