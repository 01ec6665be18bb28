/* SPDX-License-Identifier: MIT */
/* schema.h: the tables of include/aerogpu/blackbox.h as data: the writer, the reader and docs/dump-schema.md come from it. */
#pragma once

#include <aerogpu/blackbox.h>

#include "base/strbuf.h"

enum bb_type { BB_INT, BB_REAL, BB_TEXT, BB_BLOB };

struct bb_column {
    const char *name, *doc;
    enum bb_type type;
};

struct bb_table_desc {
    const char *name, *doc;
    const struct bb_column *columns;
    uint32_t num_columns;
};

enum { BB_APPLICATION_ID = 0x41474244 }; /* "AGBD", in the SQLite file's header */

extern const struct bb_table_desc bb_tables[BB_NUM_TABLES];

const char *bb_type_name(enum bb_type type);

/* CREATE TABLE statements, one string. */
void bb_schema_sql(struct strbuf *out);
/* docs/dump-schema.md */
void bb_schema_markdown(struct strbuf *out);
