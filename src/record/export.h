/* SPDX-License-Identifier: MIT */
/* export.h: a recording for other programs: an SQLite database, a Perfetto time line, a web page. */
#pragma once

#include "base/error.h"
#include "record/names.h"
#include "record/trace_file.h"

/* Each replaces `path`. 0 or a negative errno. docs/ has the schema of the database. */
int export_sqlite(struct trc *t, const struct names *names, const char *path, struct error *e);
int export_perfetto(struct trc *t, const struct names *names, const char *path, struct error *e);
/* `pictures` is a folder with what playing wrote (frame-N.png, draw-CALL.png, res-N-SUB.png or .bin), or NULL. */
int export_html(struct trc *t, const struct names *names, const char *pictures, const char *path,
                struct error *e);
