/* SPDX-License-Identifier: MIT */
/* process.h: whether the processes live on that threads of a window belong to.
 *
 * That the threads which a window names have ended is not the end of their process: another thread of it may have their work. The
 * recording holds who was whose at its start, and with the clone() flags of each thread that is started whose that is.
 */
#pragma once

#include "cpu/model/trace.h"
#include "cpu/model/window.h"

struct cpu_process_fate {
    bool is_known;   /* the recording has what it takes, and the threads are in it */
    uint32_t living; /* threads of the executor's processes that have not ended at the end of the span */
    int32_t example; /* one of them */
};

/* Of the executor's processes as they were at the submission, until `to_ns`. Rewinds the recording. */
int cpu_process_fate(struct cpu_process_fate *out, struct cpu_trace *t, const struct cpu_window *w,
                     uint64_t to_ns, struct error *e);
