/* SPDX-License-Identifier: MIT */
/* A verdict in words and as JSON; report_html.c has its card. */
#include "cpu/report/report.h"
#include "cpu/model/verdict.h"

void cpu_verdict_text(const struct cpu_verdict *v, struct strbuf *o)
{
    strbuf_printf(o, "VERDICT   %s: %s", cpu_verdict_name(v->kind), v->reason);
    strbuf_printf(o, v->kind == CPU_VERDICT_UNKNOWN ? "\n" : " (%s)\n", cpu_certainty_name(v->certainty));
    strbuf_printf(o, "  waited %s from %.6f s on; times below count from the submission\n",
                  cpu_ns(v->timeout_ns - v->submit_ns), (double)v->submit_ns / 1e9);
    for (uint32_t i = 0; i < v->num_lines; i++)
        strbuf_printf(o, "  - %s%s%s\n", v->sure[i] == CPU_CERTAIN ? "" : cpu_certainty_name(v->sure[i]),
                      v->sure[i] == CPU_CERTAIN ? "" : ": ", v->lines[i]);
    for (uint32_t i = 0; i < v->num_vblanks; i++)
        strbuf_printf(o, "  - %s\n", v->vblanks[i]);
    strbuf_puts(o, "\n");
}

json_t *cpu_verdict_json(const struct cpu_verdict *v)
{
    json_t *lines = json_array(), *sure = json_array(), *vblanks = json_array();

    for (uint32_t i = 0; i < v->num_lines; i++) {
        json_array_append_new(lines, json_string(v->lines[i]));
        json_array_append_new(sure, json_string(cpu_certainty_name(v->sure[i])));
    }
    for (uint32_t i = 0; i < v->num_vblanks; i++)
        json_array_append_new(vblanks, json_string(v->vblanks[i]));
    return json_pack("{s:s, s:s, s:s, s:I, s:I, s:o, s:o, s:o}", "verdict", cpu_verdict_name(v->kind),
                     "reason", v->reason, "certainty", cpu_certainty_name(v->certainty), "submit_ns",
                     (json_int_t)v->submit_ns, "timeout_ns", (json_int_t)v->timeout_ns, "evidence", lines,
                     "evidence_certainty", sure, "late_vblanks", vblanks);
}
