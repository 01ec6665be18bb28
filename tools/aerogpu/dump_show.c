/* SPDX-License-Identifier: MIT */
/* dump_show.c: the tables of a crash dump, row by row: what there is to show where it holds no recording. */
#include "file_kinds.h"

#include <stdio.h>

#include <aerogpu/blackbox.h>

#include "base/json_write.h"
#include "blackbox/dump_read.h"
#include "blackbox/schema.h"

static void put_value(struct json_writer *w, sqlite3_stmt *s, int c)
{
    const char *name = sqlite3_column_name(s, c);

    switch (sqlite3_column_type(s, c)) {
    case SQLITE_INTEGER:
        json_write_signed(w, name, sqlite3_column_int64(s, c));
        break;
    case SQLITE_FLOAT:
        json_write_real(w, name, sqlite3_column_double(s, c));
        break;
    case SQLITE_TEXT:
        json_write_string(w, name, (const char *)sqlite3_column_text(s, c));
        break;
    case SQLITE_BLOB:
        json_write_format(w, name, "%d bytes", sqlite3_column_bytes(s, c));
        break;
    default: /* what a row has nothing to say of */
        break;
    }
}

/* A row is an object on a line of its own: in the text as in the JSON. */
static void put_table(struct json_writer *w, struct bb_dump *d, const struct bb_table_desc *t, bool json)
{
    sqlite3_stmt *s = bb_select(d, "SELECT * FROM \"%w\"", t->name);

    if (json)
        json_write_array(w, t->name);
    for (bool first = true; bb_step(d, &s); first = false) {
        struct json_writer line = json_writer(stdout), *row = json ? w : &line;

        if (!json)
            printf("%s%s    ", first ? t->name : "", first ? "\n" : "");
        json_write_object(row, NULL);
        for (int c = 0; c < sqlite3_column_count(s); c++)
            put_value(row, s, c);
        json_write_end(row);
        putchar('\n');
    }
    if (json)
        json_write_end(w);
}

int dump_show_tables(const char *path, bool json, struct error *e)
{
    struct json_writer w = json_writer(stdout);
    struct bb_dump d;
    int r = bb_dump_open(&d, path, e);

    if (r)
        return r;
    bb_dump_check(&d, NULL);
    if (json) {
        json_write_object(&w, NULL);
        json_write_string(&w, "file", path);
        json_write_object(&w, "tables");
    }
    for (int t = 0; t < BB_NUM_TABLES; t++)
        put_table(&w, &d, &bb_tables[t], json);
    if (json) {
        json_write_end(&w);
        json_write_end(&w);
        putchar('\n');
    }
    if (d.trouble.code)
        *e = d.trouble;
    bb_dump_close(&d);
    return e->code;
}
