/* SPDX-License-Identifier: MIT */
#include "report/page.h"

#include <nettle/base64.h>
#include <string.h>

#include "base/check.h"
#include "base/utf8.h"
#include "page_files.h"

#define PUTS(s) strbuf_puts(o, s)

/* Writes the template from `from` up to {{stop}}; returns what follows that. */
static const char *put_up_to(struct strbuf *o, const char *from, const char *stop)
{
    const char *at = strstr(from, stop);

    INVARIANT(at != NULL); /* page.html has its places, in this order */
    strbuf_append(o, from, (size_t)(at - from));
    return at + strlen(stop);
}

void page_begin(struct strbuf *o, const struct page *p)
{
    const char *at = put_up_to(o, page_html, "{{title}}");

    page_text(o, p->title);
    at = put_up_to(o, at, "{{style}}");
    PUTS(page_css);
    PUTS(p->style ? p->style : "");
    put_up_to(o, at, "{{body}}");
}

void page_end(struct strbuf *o, const struct page *p)
{
    const char *at = strstr(page_html, "{{body}}") + strlen("{{body}}");

    at = put_up_to(o, at, "{{script}}");
    PUTS(page_js);
    PUTS(p->script ? p->script : "");
    PUTS(at);
}

void page_text(struct strbuf *o, const char *s)
{
    const char *from = s, *end = s + strlen(s);

    for (size_t n; s < end; s += n) {
        const char *as = *s == '<'    ? "&lt;"
                         : *s == '>'  ? "&gt;"
                         : *s == '&'  ? "&amp;"
                         : *s == '"'  ? "&quot;"
                         : *s == '\'' ? "&#39;"
                                      : NULL;
        uint32_t hidden;

        n = utf8_length(s, (size_t)(end - s));
        hidden = n && *s != '\n' && *s != '\t' ? utf8_hidden(s, n) : 0;
        n = n ? n : 1;
        if (!as && !hidden)
            continue;
        strbuf_append(o, from, (size_t)(s - from));
        if (as)
            strbuf_puts(o, as);
        else
            strbuf_printf(o, "&lt;U+%04X&gt;", hidden);
        from = s + n;
    }
    strbuf_append(o, from, (size_t)(end - from));
}

void page_text_in(struct strbuf *o, const char *before, const char *s, const char *after)
{
    PUTS(before);
    page_text(o, s);
    PUTS(after);
}

void page_base64(struct strbuf *o, const void *bytes, size_t n)
{
    enum { AT_ONCE = 3000 }; /* a multiple of three: no padding in the middle */
    char text[BASE64_ENCODE_RAW_LENGTH(AT_ONCE)];

    for (size_t at = 0; at < n; at += AT_ONCE) {
        const size_t part = n - at < AT_ONCE ? n - at : AT_ONCE;

        base64_encode_raw(text, part, (const uint8_t *)bytes + at);
        strbuf_append(o, text, BASE64_ENCODE_RAW_LENGTH(part));
    }
}

void page_picture(struct strbuf *o, const void *png, size_t n, const char *alt, const char *caption)
{
    page_text_in(o, "<figure><img alt='", alt, "' src='data:image/png;base64,");
    page_base64(o, png, n);
    PUTS("'>");
    if (caption)
        page_text_in(o, "<figcaption>", caption, "</figcaption>");
    PUTS("</figure>\n");
}

void page_card(struct strbuf *o, const char *id, const char *title, const char *sub)
{
    strbuf_printf(o, id ? "<section class=card id=%s>" : "<section class=card>", id);
    strbuf_printf(o, "<h2>%s</h2>\n", title);
    if (sub && *sub)
        strbuf_printf(o, "<p class=sub>%s</p>\n", sub);
}

void page_card_end(struct strbuf *o)
{
    PUTS("</section>\n");
}

void page_tile(struct strbuf *o, const char *value, const char *label, bool bad)
{
    page_text_in(o, bad ? "<div class=tile><b class=bad>" : "<div class=tile><b>", value, "</b><span>");
    page_text_in(o, "", label, "</span></div>\n");
}

void page_table(struct strbuf *o, const char *columns)
{
    INVARIANT(columns != NULL);
    PUTS("<div class=scroll><table><thead><tr>");
    for (const char *end;; columns = end + 1) {
        const bool left = !strncmp(columns, "l:", 2);

        columns += left ? 2 : 0;
        end = strchr(columns, '|');
        end = end ? end : columns + strlen(columns);
        strbuf_printf(o, "<th%s>%.*s</th>", left ? " class=l" : "", (int)(end - columns), columns);
        if (!*end)
            break;
    }
    PUTS("</tr></thead><tbody>\n");
}

void page_table_end(struct strbuf *o)
{
    PUTS("</tbody></table></div>\n");
}
