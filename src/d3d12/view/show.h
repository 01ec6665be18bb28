/* show.h: a recording as text and as JSON lines. */
#ifndef D3D12_SHOW_H_
#define D3D12_SHOW_H_

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/strbuf.h"
#include "d3d12/view/names.h"
#include "record/trace_file.h"

enum show_form { SHOW_TEXT, SHOW_JSON };

/* Appends one call, without a line end. `names` may be NULL: then objects are numbers only. */
void show_call(struct strbuf *out, enum show_form form, struct trc *t, const struct trc_call *c,
               const struct names *names);

/* Appends one line per method of the tables: what becomes of it. As a page in Markdown, or "interface method how". */
void show_methods(struct strbuf *out, bool markdown);

#endif
