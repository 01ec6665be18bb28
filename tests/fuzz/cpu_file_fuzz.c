/* SPDX-License-Identifier: MIT */
/* Whole recordings, ours and Windows': everything that a report does with them. */
#include "fuzz.h"

#include "cpu/report/report.h"
#include "cpu/model/verdict.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static FILE *nowhere;
    const struct cpu_window window = {.submit_ns = 100000000000,
                                      .timeout_ns = 100500000000,
                                      .num_threads = 1,
                                      .threads = {{CPU_ROLE_WAITER, 100, 0}}};
    struct cpu_verdict verdict;
    struct strbuf out = {0};
    struct cpu_report report;
    struct cpu_trace trace;

    if (cpu_trace_open_memory(&trace, data, size, NULL))
        return 0;
    if (!cpu_verdict_make(&verdict, &trace, &window, 0, NULL) &&
        !cpu_report_init(&report, &trace, 0, UINT64_MAX, 0, NULL)) {
        report.verdict = &verdict;
        cpu_report_text(&report, &out);
        cpu_report_html(&report, &out);
        json_decref(cpu_report_json(&report));
        cpu_report_finish(&report);
        if (!nowhere)
            nowhere = fopen("/dev/null", "w");
        cpu_perfetto_write(&trace, nowhere, 0, UINT64_MAX, NULL);
    }
    strbuf_finish(&out);
    cpu_trace_close(&trace);
    return 0;
}
