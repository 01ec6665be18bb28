/* SPDX-License-Identifier: MIT */
/* A verdict in words and as JSON; report_html.c has its card. */
#include "cpu/report/report.h"
#include "cpu/model/verdict.h"

const char *const cpu_dump_facts[4] = {"it went wrong", "which command", "why", "whose memory"};

static void put_dump(const struct cpu_verdict *v, struct strbuf *o)
{
    strbuf_printf(o, "THE DUMP  %s\n", v->dump.text);
    for (int i = 0; i < 4; i++)
        if (v->dump.sure[i][0])
            strbuf_printf(o, "  - %s: %s\n", cpu_dump_facts[i], v->dump.sure[i]);
    if (v->dump.unseen[0])
        strbuf_printf(o, "  - not seen: %s\n", v->dump.unseen);
    strbuf_printf(o, "%s %s\n", v->relation == WITNESS_CONTRADICT ? "CONTRADICTION" : "TOGETHER ",
                  v->relation_text);
}

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
    if (v->dump.any)
        put_dump(v, o);
    strbuf_puts(o, "\n");
}

static json_t *dump_json(const struct cpu_verdict *v)
{
    static const char *const relations[] = {"apart", "agrees", "contradicts"};

    return v->dump.any ? json_pack("{s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:s}", "text", v->dump.text,
                                   "cause", v->dump.cause, "sure_happened", v->dump.sure[0], "sure_command",
                                   v->dump.sure[1], "sure_cause", v->dump.sure[2], "sure_memory",
                                   v->dump.sure[3], "unseen", v->dump.unseen, "relation",
                                   relations[v->relation], "relation_text", v->relation_text)
                       : json_null();
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
    return json_pack("{s:s, s:s, s:s, s:I, s:I, s:o, s:o, s:o, s:o}", "verdict", cpu_verdict_name(v->kind),
                     "reason", v->reason, "certainty", cpu_certainty_name(v->certainty), "submit_ns",
                     (json_int_t)v->submit_ns, "timeout_ns", (json_int_t)v->timeout_ns, "evidence", lines,
                     "evidence_certainty", sure, "late_vblanks", vblanks, "dump", dump_json(v));
}
