/* SPDX-License-Identifier: MIT */
/* report_json.c: the whole dump as one JSON object, blobs by their size; and its time line for Perfetto. */
#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "blackbox/report.h"
#include "blackbox/schema.h"
#include "report/json_show.h"
#include "report/trace_events.h"

static json_t *text_json(const char *text)
{
    json_t *j = json_string(text);

    return j ? j : json_string("(not UTF-8)");
}

static json_t *value_json(sqlite3_stmt *s, int c)
{
    switch (sqlite3_column_type(s, c)) {
    case SQLITE_INTEGER:
        return json_integer(sqlite3_column_int64(s, c));
    case SQLITE_FLOAT:
        return json_real(sqlite3_column_double(s, c));
    case SQLITE_TEXT:
        return text_json((const char *)sqlite3_column_text(s, c));
    case SQLITE_BLOB:
        return json_pack("{s:i}", "bytes", sqlite3_column_bytes(s, c));
    default:
        return json_null();
    }
}

static json_t *table_json(struct bb_dump *d, const struct bb_table_desc *t)
{
    sqlite3_stmt *s = bb_select(d, "SELECT * FROM \"%w\" LIMIT 200000", t->name);
    json_t *rows = json_array();

    while (bb_step(d, &s)) {
        json_t *row = json_object();

        for (int c = 0; c < sqlite3_column_count(s); c++)
            json_object_set_new(row, sqlite3_column_name(s, c), value_json(s, c));
        json_array_append_new(rows, row);
    }
    return rows;
}

static int dump_json(json_t *j, struct strbuf *out)
{
    int r = json_show_text(j, JSON_INDENT(1), out);

    json_decref(j);
    strbuf_puts(out, "\n");
    return r ? -ENOMEM : 0;
}

static json_t *processors_json(struct bb_view *v)
{
    static const char *const relations[] = {"apart", "agrees", "contradicts"};
    sqlite3_stmt *s = bb_view_processors(v);
    json_t *lines = json_array();

    while (bb_step(&v->dump, &s))
        json_array_append_new(lines,
                              json_pack("{s:o, s:o}", "text", text_json(bb_column_text(&v->dump, s, 0)),
                                        "certainty", text_json(bb_column_text(&v->dump, s, 1))));
    if (!v->processors.verdict[0]) {
        json_decref(lines);
        return json_null();
    }
    return json_pack("{s:o, s:o, s:o, s:s, s:o}", "verdict", text_json(v->processors.verdict), "certainty",
                     text_json(v->processors.certainty), "findings", lines, "relation",
                     relations[v->processors.relation], "relation_text",
                     text_json(v->processors.relation_text));
}

int bb_report_json(struct bb_view *v, struct strbuf *out)
{
    json_t *tables = json_object(), *advice = json_array(), *all;

    for (int t = 0; t < BB_NUM_TABLES; t++)
        json_object_set_new(tables, bb_tables[t].name, table_json(&v->dump, &bb_tables[t]));
    for (uint32_t i = 0; i < v->num_advice; i++)
        json_array_append_new(advice, text_json(v->advice[i]));
    all =
        json_pack("{s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o}", "verdict", text_json(v->verdict), "certainty",
                  text_json(v->certainty), "cause", text_json(v->cause), "source", text_json(v->source),
                  "submission", v->submission < 0 ? json_null() : json_integer(v->submission), "packet",
                  v->packet < 0 ? json_null() : json_integer(v->packet), "advice", advice, "processors",
                  processors_json(v), "tables", tables, "trouble",
                  v->dump.trouble.code ? text_json(v->dump.trouble.text) : json_null());
    return all ? dump_json(all, out) : -ENOMEM;
}

static void perfetto_submissions(struct bb_dump *d, struct trace_events *t)
{
    sqlite3_stmt *s = bb_select(
        d, "SELECT time_ns, coalesce(done_ns, (SELECT value FROM meta WHERE key='time_ns')), id, queue, "
           "state, draws FROM submission");

    while (bb_step(d, &s)) {
        char name[80];
        int64_t start = bb_column_int(d, s, 0, 0);

        snprintf(name, sizeof(name), "submission %lld (%s)", (long long)bb_column_int(d, s, 2, 0),
                 bb_column_text(d, s, 4));
        trace_events_open(t, &(struct trace_event){.phase = 'X',
                                                   .process = 1,
                                                   .thread = bb_column_int(d, s, 3, 0),
                                                   .ns = start,
                                                   .duration_ns = sqlite3_column_int64(s, 1) - start,
                                                   .name = name});
        json_write_signed(&t->json, "draws", bb_column_int(d, s, 5, 0));
        trace_events_close(t);
    }
}

static void perfetto_events(struct bb_dump *d, struct trace_events *t)
{
    sqlite3_stmt *s = bb_select(
        d, "SELECT time_ns, process, name, a, b, c, coalesce(pid, 0), coalesce(thread, 0) FROM event");

    while (bb_step(d, &s)) {
        trace_events_open(t, &(struct trace_event){.phase = 'i',
                                                   .scope = 't',
                                                   .process = bb_column_int(d, s, 6, 0),
                                                   .thread = bb_column_int(d, s, 7, 0),
                                                   .ns = bb_column_int(d, s, 0, 0),
                                                   .name = bb_column_text(d, s, 2)});
        json_write_signed(&t->json, "a", bb_column_int(d, s, 3, 0));
        json_write_signed(&t->json, "b", bb_column_int(d, s, 4, 0));
        json_write_signed(&t->json, "c", bb_column_int(d, s, 5, 0));
        json_write_string(&t->json, "process", bb_column_text(d, s, 1));
        trace_events_close(t);
    }
}

/* Submissions as spans per context, everything else as instants per process. */
void bb_report_perfetto(struct bb_view *v, FILE *out)
{
    struct trace_events t;

    trace_events_begin(&t, out);
    perfetto_submissions(&v->dump, &t);
    perfetto_events(&v->dump, &t);
    trace_events_end(&t);
}
