/* SPDX-License-Identifier: MIT */
/* Ring-buffer pages: no load may leave the page and its pad, and no page may hold more events than it says it can. */
#include "fuzz.h"

#include <string.h>

#include "cpu/capture/page.h"

static const char header_page[] = "field: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n"
                                  "field: local_t commit;\toffset:8;\tsize:8;\tsigned:1;\n"
                                  "field: char data;\toffset:16;\tsize:4080;\tsigned:0;\n";

static const char *const formats[][2] = {
    {"power",
     "name: cpu_idle\nID: 1\nfield:int common_pid; offset:4; size:4; signed:1;\n"
     "field:u32 state; offset:8; size:4; signed:0;\nfield:u32 cpu_id; offset:12; size:4; signed:0;\n"},
    {"ipi", "name: ipi_send_cpumask\nID: 2\nfield:int common_pid; offset:4; size:4; signed:1;\n"
            "field:__data_loc cpumask_t cpumask; offset:8; size:4; signed:0;\nfield:void * callsite; "
            "offset:16; size:8; "
            "signed:0;\nfield:void * callback; offset:24; size:8; signed:0;\n"},
    {"sched", "name: sched_switch\nID: 3\nfield:int common_pid; offset:4; size:4; signed:1;\n"
              "field:pid_t prev_pid; offset:24; size:4; signed:1;\nfield:long prev_state; offset:32; size:8; "
              "signed:1;\n"
              "field:pid_t next_pid; offset:56; size:4; signed:1;\n"},
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct cpu_rules *r;
    struct cpu_page_stats stats = {0};
    struct cpu_notes notes = {0};
    struct cpu_event *ev;
    uint8_t *page;
    uint32_t n;

    if (!r) {
        r = calloc(1, sizeof(*r));
        cpu_rules_init(r, header_page, sizeof(header_page) - 1, NULL);
        for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++)
            if (cpu_rules_add(r, formats[i][0], formats[i][1], strlen(formats[i][1]), NULL))
                abort();
    }
    /* exactly as much memory as the contract asks for */
    page = calloc(1, r->page_size + CPU_PAGE_PAD);
    ev = malloc(cpu_page_max_events(r) * sizeof(*ev));
    memcpy(page, data, size < r->page_size ? size : r->page_size);
    n = cpu_page_decode(r, page, 1, ev, &stats, &notes, 0);
    if (n > cpu_page_max_events(r))
        abort();
    for (uint32_t i = 0; i < n; i++)
        if (ev[i].kind == CPU_EV_IPI_SEND_MASK && ev[i].data_size &&
            (ev[i].data < page || ev[i].data + ev[i].data_size > page + r->page_size))
            abort();
    free(ev);
    free(page);
    return 0;
}
