/* SPDX-License-Identifier: MIT */
/* show.h: a recording as text and as JSON lines. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/json_write.h"
#include "base/strbuf.h"
#include "record/names.h"
#include "record/trace_file.h"

enum show_form { SHOW_TEXT, SHOW_JSON };

/* Appends one call, without a line end. `names` may be NULL: then objects are numbers only. */
void show_call(struct strbuf *out, enum show_form form, struct trc *t, const struct trc_call *c,
               const struct names *names);

/* The members of an object that is one call. */
void show_json(struct json_writer *out, struct trc *t, const struct trc_call *c, const struct names *names);

/* Appends every byte block among the arguments of call `index` (what was copied into mapped memory, shaders, constants)
 * as rows of hexadecimal numbers and letters; as JSON one object a
 * block: "name", "size", "hex". -ENOENT if there is no such call. */
int show_bytes(struct strbuf *out, enum show_form form, struct trc *t, uint64_t index, struct error *e);

/* Appends one line per method of the tables: what becomes of it. As a page in Markdown, or "interface method how". */
void show_methods(struct strbuf *out, const struct api *api, bool markdown);
