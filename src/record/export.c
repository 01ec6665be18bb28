/* SPDX-License-Identifier: MIT */
/* export.c: each form walks the recording once, call by call: none needs it in memory. */
#include "record/export.h"

#include <dirent.h>
#include <errno.h>
#include <sqlite3.h>
#include <stdio.h>
#include <string.h>

#include "base/file/out.h"
#include "base/file/scratch.h"
#include "record/show.h"
#include "record/api.h"
#include "report/page.h"
#include "report/trace_events.h"
#include "viewer_files.h"

/* ---- SQLite -------------------------------------------------------------- */

static const char schema[] =
    "CREATE TABLE info(key TEXT PRIMARY KEY, value TEXT);"
    "CREATE TABLE objects(id INTEGER PRIMARY KEY, type TEXT, name TEXT, born INTEGER, died INTEGER);"
    "CREATE TABLE calls(id INTEGER PRIMARY KEY, frame INTEGER, thread INTEGER, time_us REAL, interface TEXT, "
    "method TEXT,"
    " object INTEGER, returned INTEGER, call TEXT);"
    "CREATE VIEW arguments AS SELECT calls.id, j.key AS name, j.value FROM calls, json_each(calls.call, "
    "'$.args') j;";

static int run_sql(sqlite3 *db, const char *sql, struct error *e)
{
    char *why = NULL;

    if (sqlite3_exec(db, sql, NULL, NULL, &why) == SQLITE_OK)
        return 0;
    error_set(e, -EIO, "sqlite: %s", why ? why : "unknown");
    sqlite3_free(why);
    return -EIO;
}

static int put_objects(sqlite3 *db, const struct trc *t, const struct names *names, struct error *e)
{
    sqlite3_stmt *s;

    if (sqlite3_prepare_v2(db, "INSERT INTO objects VALUES(?,?,?,?,?)", -1, &s, NULL) != SQLITE_OK)
        return error_set(e, -EIO, "sqlite: %s", sqlite3_errmsg(db));
    for (uint32_t i = 2; i < names->num; i++) {
        const struct name *n = names_get(names, i);

        if (!n)
            continue;
        sqlite3_bind_int64(s, 1, i);
        sqlite3_bind_text(s, 2, trc_api(t)->ifaces[n->iface].name, -1, SQLITE_STATIC);
        sqlite3_bind_text(s, 3, n->text, -1, SQLITE_STATIC);
        sqlite3_bind_int64(s, 4, (sqlite3_int64)n->born);
        if (n->died == UINT64_MAX)
            sqlite3_bind_null(s, 5);
        else
            sqlite3_bind_int64(s, 5, (sqlite3_int64)n->died);
        sqlite3_step(s);
        sqlite3_reset(s);
    }
    sqlite3_finalize(s);
    return 0;
}

static int put_calls(sqlite3 *db, struct trc *t, const struct names *names, struct error *e)
{
    struct strbuf b = {0};
    struct trc_call c;
    sqlite3_stmt *s;
    int got;

    if (sqlite3_prepare_v2(db, "INSERT INTO calls VALUES(?,?,?,?,?,?,?,?,?)", -1, &s, NULL) != SQLITE_OK)
        return error_set(e, -EIO, "sqlite: %s", sqlite3_errmsg(db));
    while ((got = trc_next(t, &c, e)) > 0) {
        strbuf_clear(&b);
        show_call(&b, SHOW_JSON, t, &c, names);
        sqlite3_bind_int64(s, 1, (sqlite3_int64)c.index);
        sqlite3_bind_int64(s, 2, c.frame);
        sqlite3_bind_int64(s, 3, c.thread);
        sqlite3_bind_double(s, 4, (double)c.time_ns / 1e3);
        sqlite3_bind_text(s, 5, c.m->iface, -1, SQLITE_STATIC);
        sqlite3_bind_text(s, 6, c.m->name, -1, SQLITE_STATIC);
        sqlite3_bind_int64(s, 7, c.self);
        sqlite3_bind_int(s, 8, !c.incomplete);
        sqlite3_bind_text(s, 9, strbuf_str(&b), (int)b.len, SQLITE_STATIC);
        if (sqlite3_step(s) != SQLITE_DONE) {
            got = error_set(e, -EIO, "sqlite: %s", sqlite3_errmsg(db));
            break;
        }
        sqlite3_reset(s);
    }
    sqlite3_finalize(s);
    strbuf_finish(&b);
    return got < 0 ? got : 0;
}

static int fill(sqlite3 *db, struct trc *t, const struct names *names, struct error *e)
{
    sqlite3_stmt *s;
    int err = run_sql(db, "PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF; BEGIN", e);

    if (err || (err = run_sql(db, schema, e)) || (err = put_objects(db, t, names, e)) ||
        (err = put_calls(db, t, names, e)))
        return err;
    if (sqlite3_prepare_v2(db, "INSERT INTO info VALUES('recording', ?)", -1, &s, NULL) == SQLITE_OK) {
        sqlite3_bind_text(s, 1, trc_meta(t), -1, SQLITE_STATIC);
        sqlite3_step(s);
        sqlite3_finalize(s);
    }
    return run_sql(db,
                   "CREATE INDEX calls_object ON calls(object); CREATE INDEX calls_frame ON calls(frame);"
                   "CREATE INDEX calls_method ON calls(method); COMMIT",
                   e);
}

static int make_database(const char *path, struct trc *t, const struct names *names, struct error *e)
{
    sqlite3 *db;
    int err = 0;

    trc_rewind(t);
    if (sqlite3_open_v2(path, &db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, NULL) != SQLITE_OK)
        err = error_set(e, -EIO, "sqlite: %s", sqlite3_errmsg(db));
    err = err ? err : fill(db, t, names, e);
    sqlite3_close(db);
    trc_rewind(t);
    return err;
}

/* What is written to `f` and goes wrong is found when that is closed. */
static int put_file(FILE *f, const char *path, struct error *e)
{
    FILE *from = fopen(path, "re");
    char b[1 << 14];
    size_t n;

    if (!from)
        return error_set(e, -EIO, "%s: %s", path, strerror(errno));
    while ((n = fread(b, 1, sizeof(b), from)) > 0 && fwrite(b, 1, n, f) == n)
        ;
    n = ferror(from) != 0;
    fclose(from);
    return n ? error_set(e, -EIO, "%s: cannot be read again", path) : 0;
}

/* SQLite opens files by their names: it makes one in a folder of its own, and what is whole is put into the output. */
int export_sqlite(struct trc *t, const struct names *names, const char *path, struct error *e)
{
    FILE *f = out_file_whole(path, e);
    char made[sizeof(((struct scratch *)0)->path) + 16];
    struct scratch folder;
    int err;

    if (!f)
        return e ? e->code : -EIO;
    err = scratch_make(&folder, "aerogpu-sqlite", true, e);
    if (!err) {
        snprintf(made, sizeof(made), "%s/calls.sqlite", folder.path);
        err = make_database(made, t, names, e);
        err = err ? err : put_file(f, made, e);
        scratch_remove(&folder);
    }
    if (err)
        error_prefix(e, "%s", path);
    return out_file_close(f, path, err, e);
}

/* ---- Perfetto ------------------------------------------------------------ */

int export_perfetto(struct trc *t, const struct names *names, const char *path, struct error *e)
{
    FILE *f = out_file_whole(path, e);
    struct trace_events out;
    uint64_t frame_start = 0;
    struct trc_call c;
    char frame[32];
    int got;

    if (!f)
        return e ? e->code : -EIO;
    trc_rewind(t);
    trace_events_begin(&out, f);
    trace_events_name(&out, 1, 0, "thread_name", "frames");
    while ((got = trc_next(t, &c, e)) > 0) {
        struct trace_event ev = {
            .phase = 'i', .scope = 't', .process = 1, .thread = c.thread, .ns = (int64_t)c.time_ns};

        if (c.m->flags & API_FRAME) {
            snprintf(frame, sizeof(frame), "frame %u", c.frame);
            trace_events_put(&out, &(struct trace_event){.phase = 'X',
                                                         .process = 1,
                                                         .ns = (int64_t)frame_start,
                                                         .duration_ns = (int64_t)(c.time_ns - frame_start),
                                                         .name = frame});
            frame_start = c.time_ns;
        }
        if (!(c.m->flags & API_MARK))
            continue;
        ev.name = c.m->name;
        trace_events_open(&out, &ev);
        show_json(&out.json, t, &c, names);
        trace_events_close(&out);
    }
    trace_events_end(&out);
    trc_rewind(t);
    return out_file_close(f, path, got < 0 ? got : 0, e);
}

/* ---- web page ------------------------------------------------------------ */

void export_block(FILE *f, const char *id)
{
    fprintf(f, "<script type=\"text/plain\" id=\"%s\">", id);
}

void export_block_end(FILE *f)
{
    fputs("</script>\n", f);
}

/* Nothing may look like the end of a <script>. */
void export_block_text(FILE *f, const char *s, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (s[i] == '<')
            fputs("\\u003c", f);
        else
            fputc(s[i], f);
    }
}

static void put_base64(FILE *f, FILE *from)
{
    struct strbuf text = {0};
    uint8_t b[3 * 4096]; /* a multiple of three: no padding in the middle */
    size_t n;

    while ((n = fread(b, 1, sizeof(b), from)) > 0) {
        strbuf_clear(&text);
        page_base64(&text, b, n);
        fputs(strbuf_str(&text), f);
    }
    strbuf_finish(&text);
}

/* One line a file: its name, a tab, its bytes in base 64. */
static void put_pictures(FILE *f, const char *dir)
{
    DIR *d = dir ? opendir(dir) : NULL;
    struct dirent *x;
    char path[4096];

    export_block(f, "pictures");
    while (d && (x = readdir(d))) {
        FILE *from;

        if (x->d_name[0] == '.')
            continue;
        snprintf(path, sizeof(path), "%s/%s", dir, x->d_name);
        from = fopen(path, "rb");
        if (!from)
            continue;
        fprintf(f, "%s\t", x->d_name);
        put_base64(f, from);
        fputc('\n', f);
        fclose(from);
    }
    if (d)
        closedir(d);
    export_block_end(f);
}

static void put_words(FILE *f, const struct api *api)
{
    struct strbuf text = {0};
    struct json_writer w = json_writer_text(&text);

    json_write_object(&w, NULL);
    json_write_string(&w, "name", api->name);
    json_write_string(&w, "draw", api->words.draw);
    json_write_string(&w, "state", api->words.state);
    json_write_string(&w, "write", api->words.write);
    json_write_string(&w, "frame", api->words.frame);
    json_write_string(&w, "list", api->words.list);
    json_write_string(&w, "begin", api->words.begin ? api->words.begin : "^$");
    json_write_string(&w, "end", api->words.end ? api->words.end : "^$");
    json_write_end(&w);
    export_block_text(f, strbuf_str(&text), text.len);
    strbuf_finish(&text);
}

static void put_objects_block(FILE *f, const struct api *api, const struct names *names)
{
    export_block(f, "objects");
    for (uint32_t i = 2; i < names->num; i++) {
        const struct name *n = names_get(names, i);

        if (!n)
            continue;
        fprintf(f, "%u\t%s\t%llu\t%lld\t", i, api_short_name(api, n->iface), (unsigned long long)n->born,
                n->died == UINT64_MAX ? -1LL : (long long)n->died);
        for (const char *p = n->text ? n->text : ""; *p; p++)
            if ((unsigned char)*p >= 0x20)
                export_block_text(f, p, 1);
        fputc('\n', f);
    }
    export_block_end(f);
}

static int put_calls_block(FILE *f, struct trc *t, const struct names *names, struct error *e)
{
    struct strbuf text = {0};
    struct trc_call c;
    int got;

    trc_rewind(t);
    export_block(f, "calls");
    while ((got = trc_next(t, &c, e)) > 0) {
        const char *p;

        strbuf_clear(&text);
        show_call(&text, SHOW_TEXT, t, &c, names);
        p = strchr(strbuf_str(&text), '@'); /* the number is the line's */
        fprintf(f, "%u\t%.0f\t%u\t", c.frame, (double)c.time_ns / 1e3, c.self);
        if (p)
            export_block_text(f, p + 1, strlen(p + 1));
        fputc('\n', f);
    }
    export_block_end(f);
    strbuf_finish(&text);
    return got < 0 ? got : 0;
}

int export_html(struct trc *t, const struct names *names, const struct export_page *more, const char *path,
                struct error *e)
{
    struct strbuf text = {0}, style = {0}, script = {0};
    struct page page = {.title = "Recording"};
    FILE *f = out_file_whole(path, e);
    int err;

    if (!f)
        return e ? e->code : -EIO;
    strbuf_printf(&style, "%s%s", more->style ? more->style : "", viewer_css);
    strbuf_printf(&script, "%s%s", more->script ? more->script : "", viewer_js);
    page.style = strbuf_str(&style);
    page.script = strbuf_str(&script);
    page_begin(&text, &page);
    strbuf_puts(&text, viewer_html);
    fputs(strbuf_str(&text), f);
    export_block(f, "api");
    put_words(f, trc_api(t));
    export_block_end(f);
    export_block(f, "meta");
    export_block_text(f, trc_meta(t), strlen(trc_meta(t)));
    export_block_end(f);
    put_objects_block(f, trc_api(t), names);
    err = put_calls_block(f, t, names, e);
    put_pictures(f, more->pictures);
    if (!err && more->put)
        err = more->put(f, more->ctx, e);
    strbuf_clear(&text);
    page_end(&text, &page);
    fputs(strbuf_str(&text), f);
    strbuf_finish(&text);
    strbuf_finish(&style);
    strbuf_finish(&script);
    trc_rewind(t);
    return out_file_close(f, path, err, e);
}
