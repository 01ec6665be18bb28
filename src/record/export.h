/* SPDX-License-Identifier: MIT */
/* export.h: a recording for other programs: an SQLite database, a Perfetto time line, a web page. */
#pragma once

#include <stdio.h>

#include "base/error.h"
#include "record/names.h"
#include "record/trace_file.h"

/* Each replaces `path`. 0 or a negative errno. docs/ has the schema of the database. */
int export_sqlite(struct trc *t, const struct names *names, const char *path, struct error *e);
int export_perfetto(struct trc *t, const struct names *names, const char *path, struct error *e);
/* What a page has besides calls and objects. */
struct export_page {
    const char *
        pictures; /* a folder with what playing wrote (frame-N.png, draw-CALL.png, res-N-SUB.png or .bin), or NULL */
    const char *style; /* CSS and JavaScript of the API's own, in front of the viewer's; NULL: none */
    const char *script;
    /* Writes blocks for the script, between export_block() and export_block_end(); may read the recording. NULL: none. */
    int (*put)(FILE *f, void *ctx, struct error *e);
    void *ctx;
};
int export_html(struct trc *t, const struct names *names, const struct export_page *page, const char *path,
                struct error *e);

/* A block of text in the page, which its script finds by `id`; and text in it: nothing of it looks like markup, `<` is \u003c. */
void export_block(FILE *f, const char *id);
void export_block_text(FILE *f, const char *s, size_t n);
void export_block_end(FILE *f);
