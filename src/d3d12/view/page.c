/* SPDX-License-Identifier: MIT */
#include "d3d12/view/page.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/array.h"
#include "base/json_write.h"
#include "base/map.h"
#include "d3d12/view/inside.h"
#include "d3d12/view/state.h"
#include "d3d12_page_files.h"

const char *const d12_page_style = page_css, *const d12_page_script = page_js;

struct put {
    const struct d12_page *p;
    struct map lines;    /* hash of a line to its number */
    struct map shaders;  /* hash of those that are in `texts` */
    struct strbuf texts; /* of shaders */
    struct strbuf state; /* of one draw */
    struct strbuf line;  /* its own, in the page */
    bool failed;         /* there is no memory */
};

struct draws {
    uint64_t *of;
    size_t num, room;
};

static bool begins(const char *s, const char *with)
{
    return !strncmp(s, with, strlen(with));
}

static int find_draws(const struct d12_page *p, struct draws *out, struct error *e)
{
    struct trc_call c;
    int got;

    trc_rewind(p->t);
    while ((got = trc_next(p->t, &c, e)) > 0 && c.frame <= p->last_frame && out->num < D12_PAGE_DRAWS) {
        if (c.frame < p->first_frame || !begins(c.m->iface, "ID3D12GraphicsCommandList") ||
            (!begins(c.m->name, "Draw") && !begins(c.m->name, "Dispatch") &&
             !begins(c.m->name, "ExecuteIndirect")))
            continue;
        if (array_reserve(out->of, out->room, out->num + 1))
            return error_set(e, -ENOMEM, "no memory for the draws");
        out->of[out->num++] = c.index;
    }
    if (got < 0)
        error_clear(e); /* where it is cut is said of its calls */
    return 0;
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

static int put_draw(struct put *x, FILE *f, uint64_t call, struct error *e)
{
    const struct inside_more more = {on_shader, x};
    const char *at, *end;
    int err;

    strbuf_clear(&x->state);
    strbuf_clear(&x->line);
    err = state_at(&x->state, SHOW_JSON, x->p->t, x->p->names, call, &more, e);
    for (at = strbuf_str(&x->state); !err && (end = strchr(at, '\n')); at = end + 1)
        strbuf_printf(&x->line, "%s%llu", x->line.len ? " " : "",
                      (unsigned long long)number_of(x, f, at, (size_t)(end - at)));
    if (!err)
        fprintf(f, "%llu\t%s\n", (unsigned long long)call, strbuf_str(&x->line));
    if (!err && (x->failed || strbuf_failed(&x->texts) || strbuf_failed(&x->line)))
        err = error_set(e, -ENOMEM, "no memory for what draws work on");
    return err;
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
    struct put x = {.p = ctx};
    struct draws draws = {0};
    int err = find_draws(x.p, &draws, e);

    export_block(f, "inside");
    for (size_t i = 0; i < draws.num && !err; i++)
        err = put_draw(&x, f, draws.of[i], e);
    export_block_end(f);
    export_block(f, "shaders");
    export_block_text(f, strbuf_str(&x.texts), x.texts.len);
    export_block_end(f);
    put_file(f, "times", x.p->times);
    put_file(f, "pixel", x.p->pixel);
    map_finish(&x.lines);
    map_finish(&x.shaders);
    strbuf_finish(&x.texts);
    strbuf_finish(&x.state);
    strbuf_finish(&x.line);
    free(draws.of);
    return err;
}
