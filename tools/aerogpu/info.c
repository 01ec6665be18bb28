/* SPDX-License-Identifier: MIT */
/* info.c: what a file is and holds, in a few lines: one JSON object for each file, printed as text unless --json is given. */
#include "commands.h"

#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <aerogpu/blackbox.h>

#include "base/strbuf.h"
#include "base/utf8.h"
#include "blackbox/dump_read.h"
#include "blackbox/internal.h"
#include "blackbox/schema.h"
#include "cpu/model/trace.h"
#include "d3d12.h"
#include "file_kinds.h"
#include "report/json_show.h"
#include "trace/reader.h"

/* Text of anybody's: what of it is not UTF-8 is shown as U+FFFD. */
static json_t *text_json(const char *text)
{
    const size_t size = strlen(text), n = utf8_clean(NULL, SIZE_MAX, text, size);
    char *clean = malloc(n + 1);
    json_t *j;

    if (!clean)
        return NULL;
    utf8_clean(clean, n, text, size);
    j = json_stringn(clean, n);
    free(clean);
    return j;
}

static int trace_info(const char *path, json_t *o, struct error *e)
{
    struct trace_reader *r;
    const struct trace_info *i;
    char abi[24];

    if (trace_reader_open(&r, &(struct trace_reader_params){.path = path, .salvage = true}, e))
        return e->code;
    i = trace_reader_info(r);
    snprintf(abi, sizeof(abi), "%" PRIu32 ".%" PRIu32, i->command_abi >> 16, i->command_abi & 0xFFFF);
    json_object_set_new(o, "container_version", json_integer(i->container_version));
    json_object_set_new(o, "command_abi", json_string(abi));
    if (i->salvaged) {
        json_object_set_new(o, "cut",
                            json_string("it has no index: `aerogpu play --salvage` plays what can be read"));
        error_set(e, -EBADMSG, "%s: cut at byte %" PRIu64 ": it has no index", path, i->file_size);
    }
    if (!i->salvaged)
        json_object_set_new(o, "frames", json_integer(i->num_frames));
    json_object_set_new(o, "metadata", i->meta_len ? json_loads(i->meta, 0, NULL) : NULL);
    if (*i->warning)
        json_object_set_new(o, "warning", json_string(i->warning));
    trace_reader_destroy(r);
    return e->code;
}

static void notes_info(const struct cpu_notes *notes, json_t *o)
{
    json_t *list = json_array();

    for (uint32_t i = 0; i < cpu_notes_kept(notes); i++)
        json_array_append_new(list, json_string(notes->text[i]));
    if (json_array_size(list))
        json_object_set(o, "notes", list);
    json_decref(list);
}

static int cpu_info(const char *path, json_t *o, struct error *e)
{
    struct cpu_trace t;
    int r = cpu_trace_open(&t, path, e);

    if (r)
        return r;
    json_object_set_new(o, "system", json_string(t.system));
    json_object_set_new(o, "processors", json_integer(t.num_cpus));
    json_object_set_new(o, "clock", json_string(t.clock));
    json_object_set_new(o, "finished", json_boolean(t.complete));
    notes_info(&t.notes, o);
    if (cpu_trace_whole(&t, e) || blocks_verify(&t.file, e))
        error_prefix(e, "%s", path);
    cpu_trace_close(&t);
    return e->code;
}

static int by_count(const void *a, const void *b)
{
    const struct etl_kind *x = *(struct etl_kind *const *)a, *y = *(struct etl_kind *const *)b;

    return (x->count < y->count) - (x->count > y->count);
}

static void count_event(void *ctx, const struct etl_record *r, uint16_t kind, uint16_t cpu)
{
}

/* Every kind of event with its number, those that are not decoded too. */
static void kinds_info(const struct etl_file *f, json_t *o)
{
    struct etl_kind **order = calloc(f->num_kinds + 1, sizeof(*order));
    json_t *list = json_array();
    uint64_t decoded = 0;
    char name[160];

    for (uint32_t i = 0; order && i < f->num_kinds; i++) {
        order[i] = &f->kinds[i];
        if (f->kinds[i].event || f->kinds[i].header == ETL_TRACELOGGING)
            decoded += f->kinds[i].count;
    }
    if (order)
        qsort(order, f->num_kinds, sizeof(*order), by_count);
    for (uint32_t i = 0; order && i < f->num_kinds; i++) {
        etl_kind_name(f, order[i], name, sizeof(name));
        json_array_append_new(list,
                              json_pack("{s:I, s:s}", "count", (json_int_t)order[i]->count, "name", name));
    }
    if (f->kinds_dropped)
        json_array_append_new(list, json_pack("{s:I, s:s}", "count", (json_int_t)f->kinds_dropped, "name",
                                              "of kinds beyond the first 8192"));
    json_object_set_new(o, "events_with_a_known_layout", json_integer((json_int_t)decoded));
    json_object_set_new(o, "events", list);
    free(order);
}

static int etl_info(const char *path, json_t *o, struct error *e)
{
    struct etl_file f;
    int r = etl_open(&f, path, e);

    if (r)
        return r;
    etl_each(&f, count_event, NULL);
    json_object_set_new(o, "processors", json_integer(f.num_cpus));
    json_object_set_new(o, "buffers", json_integer(f.num_buffers));
    json_object_set_new(o, "bad_buffers", json_integer((json_int_t)f.bad_buffers));
    json_object_set_new(o, "bad_events", json_integer((json_int_t)f.bad_events));
    json_object_set_new(o, "lost_by_the_system", json_integer(f.events_lost));
    notes_info(&f.notes, o);
    kinds_info(&f, o);
    r = etl_whole(&f, e);
    if (r)
        error_prefix(e, "%s", path);
    etl_close(&f);
    return r;
}

/* How many rows each table has; and whether there is a recording, which play, minimize and show of packets need. */
static void tables_info(struct bb_dump *d, json_t *o)
{
    json_t *list = json_array();
    bool recording = false;

    for (int t = 0; t < BB_NUM_TABLES; t++) {
        sqlite3_stmt *s = bb_select(d, "SELECT count(*) FROM \"%w\"", bb_tables[t].name);

        while (bb_step(d, &s))
            if (bb_column_int(d, s, 0, 0))
                json_array_append_new(list,
                                      json_pack("{s:I, s:s}", "count", (json_int_t)bb_column_int(d, s, 0, 0),
                                                "name", bb_tables[t].name));
    }
    for (sqlite3_stmt *s = bb_select(d, "SELECT 1 FROM file WHERE kind='recording' LIMIT 1"); bb_step(d, &s);)
        recording = true;
    json_object_set_new(o, "recording", json_boolean(recording));
    json_object_set_new(o, "tables", list);
}

static int dump_info(const char *path, json_t *o, struct error *e)
{
    struct bb_dump d;
    sqlite3_stmt *s;

    if (bb_dump_open(&d, path, e))
        return e->code;
    bb_dump_check(&d, NULL);
    s = bb_select(&d, "SELECT text FROM finding ORDER BY rank LIMIT 1");
    while (bb_step(&d, &s))
        json_object_set_new(o, "verdict", text_json(bb_column_text(&d, s, 0)));
    s = bb_select(&d, "SELECT key, value FROM meta");
    while (bb_step(&d, &s))
        json_object_set_new(o, bb_column_text(&d, s, 0), text_json(bb_column_text(&d, s, 1)));
    tables_info(&d, o);
    if (d.trouble.code)
        *e = d.trouble;
    bb_dump_close(&d);
    return e->code;
}

static void first_event(void *ctx, const struct bb_flight_record *r)
{
    json_t *o = ctx;

    if (json_object_get(o, "process"))
        return;
    json_object_set_new(o, "process", json_string(r->process));
    json_object_set_new(o, "pid", json_integer(r->pid));
}

static int flight_info(const char *path, json_t *o, struct error *e)
{
    struct bb_error public_error = {0};
    int64_t n = bb_flight_read(path, first_event, o, &public_error);

    if (n < 0) {
        *e = *bb_error_of(&public_error);
        return (int)n;
    }
    json_object_set_new(o, "events", json_integer(n));
    return 0;
}

static bool as_json;
static struct options_row rows[] = {OPT_FLAG("json", 0, &as_json, "print one JSON object for each file"),
                                    OPT_END};

static void put(struct strbuf *out, const char *text)
{
    utf8_visible(out, text, strlen(text), false);
}

static void put_item(struct strbuf *out, const json_t *item)
{
    const json_t *text = json_object_get(item, "text"); /* an item that says itself in a sentence */

    if (json_is_string(item) || text)
        strbuf_puts(out, "    ");
    else
        strbuf_printf(out, "    %12" JSON_INTEGER_FORMAT "  ",
                      json_integer_value(json_object_get(item, "count")));
    put(out, json_string_value(json_is_string(item) ? item : text ? text : json_object_get(item, "name")));
    strbuf_puts(out, "\n");
}

static void print_text(const char *path, json_t *o)
{
    struct strbuf out = {0};
    const char *key;
    json_t *v, *item;
    char *dumped;
    size_t i;

    put(&out, path);
    strbuf_printf(&out, ": %s\n", json_string_value(json_object_get(o, "kind")));
    json_object_foreach(o, key, v) {
        if (!strcmp(key, "kind") || !strcmp(key, "file"))
            continue;
        strbuf_puts(&out, "  ");
        put(&out, key); /* a dump's are its own */
        strbuf_puts(&out, json_is_array(v) ? ":\n" : ": ");
        if (json_is_array(v)) {
            json_array_foreach(v, i, item)
                put_item(&out, item);
            continue;
        }
        dumped = json_is_string(v) ? NULL : json_dumps(v, JSON_ENCODE_ANY);
        put(&out, dumped ? dumped : json_is_string(v) ? json_string_value(v) : "");
        strbuf_puts(&out, "\n");
        free(dumped);
    }
    fputs(strbuf_str(&out), stdout);
    strbuf_finish(&out);
}

static int info_one(enum file_kind kind, const char *path, struct error *e)
{
    static int (*const holds[FILE_KINDS])(const char *path, json_t *o, struct error *e) = {
        [FILE_TRACE] = trace_info, [FILE_D3D12] = d3d12_info, [FILE_CPU] = cpu_info,
        [FILE_ETL] = etl_info,     [FILE_DUMP] = dump_info,   [FILE_FLIGHT] = flight_info};
    char commands[200];
    struct stat st = {0};
    json_t *o = json_pack("{s:o, s:s}", "file", text_json(path), "kind", file_kind_name(kind));
    int r = 0;

    if (!o)
        return error_set(e, -ENOMEM, "%s: no memory for what it holds", path);
    stat(path, &st);
    json_object_set_new(o, "bytes", json_integer((json_int_t)st.st_size));
    if (holds[kind])
        r = holds[kind](path, o, e);
    json_object_set_new(o, "commands", json_string(file_kind_commands(kind, commands)));
    if (as_json) {
        json_show(o, stdout, JSON_COMPACT);
        putchar('\n');
    } else {
        print_text(path, o);
    }
    json_decref(o);
    return r;
}

static int run(enum file_kind kind, char *const *files, int num_files)
{
    int code = EXIT_OK;

    for (int i = 0; i < num_files; i++) {
        struct error e = {0};
        int one = file_kind_of(files[i], &e);

        if (one < 0 || info_one((enum file_kind)one, files[i], &e))
            code = command_error(&e);
    }
    return code;
}

const struct file_action file_info = {"files of any kind:", rows, run};
