/* SPDX-License-Identifier: MIT */
#include "d3d12/view/page.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/json_write.h"
#include "base/map.h"
#include "d3d12/view/inside.h"
#include "d3d12/view/state.h"
#include "d3d12_page_files.h"

const char *const d12_page_style = page_css, *const d12_page_script = d3d12_page_js;

struct put {
    const struct d12_page *p;
    FILE *f;
    uint32_t num_draws;
    bool past;           /* the last draw that is looked into */
    struct map lines;    /* hash of a line to its number */
    struct map shaders;  /* hash of those that are in `texts` */
    struct strbuf texts; /* of shaders */
    struct strbuf line;  /* of one draw, in the page */
    uint64_t steps;      /* inside.h */
    bool failed;         /* there is no memory */
};

static bool begins(const char *s, const char *with)
{
    return !strncmp(s, with, strlen(with));
}

static bool is_wanted(void *ctx, const struct trc_call *c)
{
    struct put *x = ctx;

    x->past = c->frame > x->p->last_frame || x->num_draws == D12_PAGE_DRAWS;
    if (x->past || c->frame < x->p->first_frame ||
        (!begins(c->m->name, "Draw") && !begins(c->m->name, "Dispatch") &&
         !begins(c->m->name, "ExecuteIndirect")))
        return false;
    x->num_draws++;
    return true;
}

static bool no_more(void *ctx)
{
    const struct put *x = ctx;

    return x->past;
}

static void on_shader(void *ctx, uint64_t hash, const uint8_t *bytes, size_t size)
{
    struct put *x = ctx;
    struct json_writer w = json_writer_text(&x->texts);
    struct strbuf text = {0};

    if (map_find(&x->shaders, hash))
        return;
    x->failed |= !map_put(&x->shaders, hash);
    x->p->disassemble(&text, bytes, size);
    strbuf_printf(&x->texts, "%016llx\t", (unsigned long long)hash);
    json_write_string(&w, NULL, strbuf_str(&text));
    strbuf_puts(&x->texts, "\n");
    strbuf_finish(&text);
}

/* The number of a line, which is written where it is new. */
static uint64_t number_of(struct put *x, FILE *f, const char *line, size_t n)
{
    uint64_t hash = XXH3_64bits(line, n), number = x->lines.num, *slot = map_find(&x->lines, hash);

    if (slot)
        return *slot;
    slot = map_put(&x->lines, hash);
    x->failed |= !slot;
    if (slot)
        *slot = number;
    export_block_text(f, line, n);
    fputc('\n', f);
    return number;
}

static int put_draw(void *ctx, uint64_t call, const char *lines, struct error *e)
{
    struct put *x = ctx;
    const char *at, *end;

    strbuf_clear(&x->line);
    for (at = lines; (end = strchr(at, '\n')); at = end + 1)
        strbuf_printf(&x->line, "%s%llu", x->line.len ? " " : "",
                      (unsigned long long)number_of(x, x->f, at, (size_t)(end - at)));
    fprintf(x->f, "%llu\t%s\n", (unsigned long long)call, strbuf_str(&x->line));
    return x->failed || strbuf_failed(&x->texts) || strbuf_failed(&x->line)
               ? error_set(e, -ENOMEM, "no memory for what draws work on")
               : 0;
}

static void put_file(FILE *f, const char *id, FILE *from)
{
    char bytes[4096];
    size_t n;

    export_block(f, id);
    if (from)
        rewind(from);
    while (from && (n = fread(bytes, 1, sizeof(bytes), from)) > 0)
        export_block_text(f, bytes, n);
    export_block_end(f);
}

int d12_page_put(FILE *f, void *ctx, struct error *e)
{
    struct put x = {.p = ctx, .f = f};
    const struct inside_more more = {&x.steps, on_shader, &x};
    const struct state_wanted wanted = {
        .is = is_wanted, .ends = no_more, .shown = put_draw, .ctx = &x, .more = &more};
    int err;

    export_block(f, "inside");
    err = state_each(SHOW_JSON, x.p->t, x.p->names, &wanted, e);
    if (err == -EBADMSG || *trc_cut(x.p->t)) { /* where it is cut is said of its calls */
        error_clear(e);
        err = 0;
    }
    export_block_end(f);
    export_block(f, "shaders");
    export_block_text(f, strbuf_str(&x.texts), x.texts.len);
    export_block_end(f);
    put_file(f, "times", x.p->times);
    put_file(f, "pixel", x.p->pixel);
    map_finish(&x.lines);
    map_finish(&x.shaders);
    strbuf_finish(&x.texts);
    strbuf_finish(&x.line);
    return err;
}
