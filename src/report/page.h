/* SPDX-License-Identifier: MIT */
/* page.h: reports as HTML: one page that needs no other file and no network.
 *
 *     page_begin(o, &(struct page){.title = "frame.aerogpudump"});
 *     page_card(o, "faults", "Page faults", "What was accessed, and who lives there.");
 *     page_table(o, "l:at|by|bytes");
 *     strbuf_puts(o, "<tr><td class=l>0x1000<td>draw 7<td>64</tr>");
 *     page_table_end(o);
 *     page_card_end(o);
 *     page_end(o, &page);
 *
 * Looks and behaviour are in page.html, page.css and page.js: light and dark, tables sorted by a click on a column's head
 * (filtered where they are long), time lines (timeline.h) zoomed by the wheel. A report brings its content.
 *
 * 1. Text of others goes through page_text() (or a parameter that says so here) and cannot become markup.
 * 2. Without a script the page shows the same; it prints in light colours.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/strbuf.h"

struct page {
    const char *title;  /* text */
    const char *style;  /* CSS behind the kit's own; NULL */
    const char *script; /* JavaScript behind the kit's own; NULL */
};

/* Everything up to the content, and from it on. Both with the same page. */
void page_begin(struct strbuf *o, const struct page *p);
void page_end(struct strbuf *o, const struct page *p);

/* Text: no byte of it is markup. */
void page_text(struct strbuf *o, const char *s);
/* The same between two pieces of markup. */
void page_text_in(struct strbuf *o, const char *before, const char *s, const char *after);
void page_base64(struct strbuf *o, const void *bytes, size_t n);
/* A picture (the bytes of a PNG file) with a caption (text; NULL: none). */
void page_picture(struct strbuf *o, const void *png, size_t n, const char *alt, const char *caption);

/* A section. Markup; `id` and `sub` may be NULL. */
void page_card(struct strbuf *o, const char *id, const char *title, const char *sub);
void page_card_end(struct strbuf *o);
/* A figure at the top of a page, between <div class=tiles> and </div>. */
void page_tile(struct strbuf *o, const char *value, const char *label, bool bad);

/* A table's head: markup of its columns between bars; "l:" in front of those to the left, "" for one without a name.
 * The rows follow, then its end. */
void page_table(struct strbuf *o, const char *columns);
void page_table_end(struct strbuf *o);
