/* SPDX-License-Identifier: MIT */
/* The JSON of a window in which a GPU seemed to hang (cpu/model/window.h): what is taken keeps its promises. */
#include "fuzz.h"

#include "cpu/model/window.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct cpu_window w;
    struct error e = {0};

    if (cpu_window_parse(&w, (const char *)data, size, &e)) {
        must(e.code && e.text[0]);
        return 0;
    }
    must(w.submit_ns && w.timeout_ns > w.submit_ns);
    must(w.num_threads <= CPU_WINDOW_THREADS && w.num_vblanks <= CPU_WINDOW_VBLANKS);
    for (uint32_t i = 0; i < w.num_threads; i++)
        must((unsigned)w.threads[i].role < CPU_ROLE_COUNT &&
             (w.threads[i].tid >= 0 || w.threads[i].cpu >= 0));
    for (uint32_t i = 0; i < w.num_vblanks; i++)
        must(w.vblanks[i].due_ns && w.vblanks[i].actual_ns >= w.vblanks[i].due_ns);
    return 0;
}
