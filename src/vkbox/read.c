/* SPDX-License-Identifier: MIT */
#include "vkbox/read.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "base/check.h"
#include "base/utf8.h"
#include "vkbox/point.h"

enum { MAX_WORK = 1 << 20, MAX_STEPS = 1 << 22, MAX_NESTING = 2 };

/* ---- the copy ------------------------------------------------------------ */

/* What is written of a sparse file; the rest stays zero. */
static int copy_data(int fd, uint8_t *to, size_t size)
{
    off_t at = 0, end;

    while (at < (off_t)size && (at = lseek(fd, at, SEEK_DATA)) >= 0) {
        end = lseek(fd, at, SEEK_HOLE);
        if (end < 0 || end > (off_t)size)
            end = (off_t)size;
        while (at < end) {
            ssize_t n = pread(fd, to + at, (size_t)(end - at), at);

            if (n <= 0)
                return n < 0 ? -errno : 0;
            at += n;
        }
    }
    return 0;
}

/* A name that ends a line could forge the next one of a report. */
static void mend_names(struct vkbox *b)
{
    utf8_one_line(b->program);
    for (uint32_t i = 0; i < VKBOX_DEVICES; i++)
        utf8_one_line(b->devices[i].name);
    for (uint32_t i = 0; i < VKBOX_QUEUES; i++)
        utf8_one_line(b->queues[i].name);
    for (uint32_t i = 0; i < VKBOX_OBJECTS; i++)
        if (b->objects[i].name[0])
            utf8_one_line(b->objects[i].name);
    for (uint32_t i = 0; i < VKBOX_COMMAND_BUFFERS; i++)
        if (b->command_buffers[i].name[0])
            utf8_one_line(b->command_buffers[i].name);
}

static void index_objects(struct vkbox_reader *r)
{
    for (uint32_t i = 0; i < VKBOX_OBJECTS; i++) {
        const struct vkbox_object *o = &r->b->objects[i], *old;
        uint64_t *at;

        if (o->state == VKBOX_FREE || !o->handle)
            continue;
        old = vkbox_object(r, o->handle);
        if (old &&
            (old->state == VKBOX_LIVE || (o->state != VKBOX_LIVE && old->destroyed_ns > o->destroyed_ns)))
            continue;
        at = map_put(&r->objects, o->handle);
        if (at)
            *at = i;
    }
}

static const struct vkbox_command_buffer *submitted(const struct vkbox_reader *r,
                                                    const struct vkbox_submission *s, uint32_t i)
{
    const struct vkbox_submitted c = vkbox_submitted_at(r->b, s, i);
    const struct vkbox_command_buffer *cb;

    if (c.command_buffer >= VKBOX_COMMAND_BUFFERS)
        return NULL;
    cb = &r->b->command_buffers[c.command_buffer];
    return cb->recording == c.recording && cb->device < VKBOX_DEVICES ? cb : NULL;
}

/* The point that the device wrote last, or POINT_OVERWRITTEN. */
static uint32_t mark_of(const struct vkbox_reader *r, const struct vkbox_command_buffer *cb)
{
    return cb->mark < VKBOX_MARKS
               ? point_number(r->b, (uint32_t)(cb - r->b->command_buffers), r->b->marks[cb->device][cb->mark])
               : 0;
}

/* What begins behind a full barrier, and is no other submission's for sure, has let everything before it on its queue end. */
static bool has_begun_alone(const struct vkbox_reader *r, const struct vkbox_submission *s)
{
    for (uint32_t i = 0; i < vkbox_submitted_count(s); i++) {
        const uint32_t slot = vkbox_submitted_at(r->b, s, i).command_buffer;
        const struct vkbox_command_buffer *cb = submitted(r, s, i);
        const uint64_t *latest = map_find(&r->latest, slot);
        const uint32_t mark = cb ? mark_of(r, cb) : 0;

        if (cb && cb->since == s->number && latest && *latest == s->number && mark &&
            mark != POINT_OVERWRITTEN)
            return true;
    }
    return false;
}

static void index_pending(struct vkbox_reader *r)
{
    for (uint32_t q = 0; q < VKBOX_QUEUES; q++)
        r->ended[q] = r->b->queues[q].finished <= r->last ? r->b->queues[q].finished : 0;
    for (uint64_t n = r->first; r->last && n <= r->last; n++) {
        const struct vkbox_submission *s = vkbox_submission(r, n);

        if (s && n > r->ended[s->queue] + 1 && has_begun_alone(r, s))
            r->ended[s->queue] = n - 1;
    }
    for (uint64_t n = r->first; r->last && n <= r->last; n++) {
        const struct vkbox_submission *s = vkbox_submission(r, n);

        for (uint32_t i = 0; s && n > r->ended[s->queue] && i < vkbox_submitted_count(s); i++) {
            const struct vkbox_command_buffer *cb = submitted(r, s, i);
            const uint32_t slot = vkbox_submitted_at(r->b, s, i).command_buffer;
            uint64_t *num = cb && n >= cb->since ? map_put(&r->num_pending, slot) : NULL;
            uint64_t *first = num && !(*num)++ ? map_put(&r->pending, slot) : NULL;

            if (first)
                *first = n;
        }
    }
}

uint64_t vkbox_pending(const struct vkbox_reader *r, uint32_t slot, uint64_t *first)
{
    const uint64_t *num = map_find(&r->num_pending, slot), *at = map_find(&r->pending, slot);

    *first = at ? *at : 0;
    return num ? *num : 0;
}

static void index_submissions(struct vkbox_reader *r)
{
    r->last = r->b->submissions < UINT64_MAX ? r->b->submissions : 0; /* it is counted to */
    r->first = r->last >= vkbox_ring(r->b) ? r->last - vkbox_ring(r->b) + 1 : 1;
    for (uint64_t n = r->first; r->last && n <= r->last; n++) {
        const struct vkbox_submission *s = vkbox_submission(r, n);

        for (uint32_t i = 0; s && i < vkbox_submitted_count(s); i++) {
            uint64_t *at = map_put(&r->latest, vkbox_submitted_at(r->b, s, i).command_buffer);

            if (at)
                *at = n;
        }
    }
    index_pending(r);
}

int vkbox_copy(struct vkbox_reader *r, int fd, struct error *e)
{
    struct vkbox *b =
        mmap(NULL, sizeof(*b), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    struct stat st;
    int code;

    *r = (struct vkbox_reader){0};
    if (b == MAP_FAILED)
        return error_set(e, -ENOMEM, "no memory for a copy of the record");
    code = fstat(fd, &st) ? -errno : copy_data(fd, (uint8_t *)b, sizeof(*b));
    if (!code && (b->magic != VKBOX_MAGIC || st.st_size < (off_t)sizeof(*b)))
        code = -EBADMSG;
    if (!code && (b->version != VKBOX_VERSION || b->size != sizeof(*b) || b->schema != VKBOX_NUM_COMMANDS))
        code = -EPROTONOSUPPORT;
    if (code) {
        munmap(b, sizeof(*b));
        return error_set(e, code,
                         code == -EBADMSG           ? "it is no record of a Vulkan program"
                         : code == -EPROTONOSUPPORT ? "it is the record of another version of the layer"
                                                    : "it cannot be read: %s",
                         strerror(-code));
    }
    mend_names(b);
    r->b = b;
    index_objects(r);
    index_submissions(r);
    return 0;
}

void vkbox_finish(struct vkbox_reader *r)
{
    if (r->b)
        munmap((void *)(uintptr_t)r->b, sizeof(*r->b));
    map_finish(&r->objects);
    map_finish(&r->latest);
    map_finish(&r->pending);
    map_finish(&r->num_pending);
    r->b = NULL;
}

const struct vkbox_submission *vkbox_submission(const struct vkbox_reader *r, uint64_t number)
{
    const struct vkbox_submission *s = &r->b->submission[vkbox_slot_of(r->b, number)];

    return number && s->number == number && s->queue < VKBOX_QUEUES ? s : NULL;
}

const struct vkbox_object *vkbox_object(const struct vkbox_reader *r, uint64_t handle)
{
    const uint64_t *at = handle ? map_find(&r->objects, handle) : NULL;

    return at ? &r->b->objects[*at] : NULL;
}

const struct vkbox_object *vkbox_object_at(const struct vkbox_reader *r, uint64_t handle, uint64_t time_ns)
{
    const struct vkbox_object *now = vkbox_object(r, handle), *then = NULL;

    if (!now || now->created_ns <= time_ns)
        return now;
    for (uint32_t i = 0; i < VKBOX_OBJECTS; i++) {
        const struct vkbox_object *o = &r->b->objects[i];

        if (o->state == VKBOX_GONE && o->handle == handle && o->created_ns <= time_ns &&
            (!then || o->created_ns > then->created_ns))
            then = o;
    }
    return then;
}

/* ---- how far ------------------------------------------------------------- */

/* Whether it came to a point, by what can be believed. */
static bool has_reached(uint32_t mark, uint32_t number)
{
    return mark != POINT_OVERWRITTEN && mark >= number;
}

static enum vkbox_progress progress_of(const struct vkbox_reader *r, const struct vkbox_submission *s,
                                       uint32_t i)
{
    const struct vkbox_command_buffer *cb = submitted(r, s, i);
    const uint32_t slot = vkbox_submitted_at(r->b, s, i).command_buffer;
    const uint64_t *latest = map_find(&r->latest, slot);
    uint64_t first;
    uint32_t mark;

    if (slot >= VKBOX_COMMAND_BUFFERS)
        return VKBOX_UNKNOWN;
    /* It was recorded or freed since, which nobody may do before it has finished. */
    if (!cb || cb->state != VKBOX_LIVE || s->number < cb->since ||
        s->number <= r->b->queues[s->queue].finished)
        return VKBOX_FINISHED;
    if (cb->mark >= VKBOX_MARKS || !cb->points)
        return latest && *latest != s->number ? VKBOX_FINISHED : VKBOX_UNKNOWN;
    mark = mark_of(r, cb);
    if (mark == POINT_OVERWRITTEN)
        return VKBOX_OVERWRITTEN;
    if (!mark)
        return VKBOX_WAITING;
    if (vkbox_pending(r, slot, &first) <= 1)
        return s->number != first ? VKBOX_FINISHED : mark >= cb->points ? VKBOX_FINISHED : VKBOX_RUNNING;
    /* It is that of the first, or of one behind it; the last point says that one has ended, at least. */
    return s->number < first                         ? VKBOX_FINISHED
           : mark < cb->points && s->number == first ? VKBOX_RUNNING
                                                     : VKBOX_UNKNOWN;
}

enum vkbox_progress vkbox_progress(const struct vkbox_reader *r, const struct vkbox_submission *s,
                                   uint32_t *of)
{
    const uint32_t n = vkbox_submitted_count(s);
    bool begun = false, unknown = false, overwritten = false;

    *of = VKBOX_NO_INDEX;
    for (uint32_t i = 0; i < n; i++) {
        enum vkbox_progress p = progress_of(r, s, i);

        if (p == VKBOX_RUNNING || (p == VKBOX_WAITING && begun)) {
            *of = i;
            return VKBOX_RUNNING;
        }
        if (p == VKBOX_WAITING) {
            *of = i;
            return overwritten ? VKBOX_OVERWRITTEN : unknown ? VKBOX_UNKNOWN : VKBOX_WAITING;
        }
        unknown |= p == VKBOX_UNKNOWN;
        overwritten |= p == VKBOX_OVERWRITTEN;
        begun |= p == VKBOX_FINISHED;
    }
    if (overwritten)
        return VKBOX_OVERWRITTEN;
    return unknown || s->num_command_buffers > n ? VKBOX_UNKNOWN : VKBOX_FINISHED;
}

bool vkbox_is_open(const struct vkbox_reader *r, const struct vkbox_submission *s)
{
    return !s->num_command_buffers && s->num_waits && s->queue < VKBOX_QUEUES &&
           s->number > r->ended[s->queue] && s->number <= r->b->queues[s->queue].open;
}

/* ---- commands ------------------------------------------------------------ */

static int add_item(struct vkbox_list *l, enum bb_item_kind kind, bool written, uint64_t id)
{
    if (array_reserve(l->items, l->items_room, l->num_items + 1))
        return -ENOMEM;
    l->items[l->num_items++] = (struct bb_item){.kind = kind, .written = written, .id = id};
    return 0;
}

static int add_work(struct vkbox_list *l, uint32_t head, const uint32_t *args, uint32_t buffer)
{
    const struct vkbox_command_desc *desc = &vkbox_commands[head >> 16];
    struct vkbox_work *w;
    int code = 0;

    if (l->num >= MAX_WORK || array_reserve(l->work, l->room, l->num + 1))
        return l->num >= MAX_WORK ? 0 : -ENOMEM;
    w = &l->work[l->num++];
    *w = (struct vkbox_work){.command = (uint16_t)(head >> 16),
                             .words = (uint16_t)head,
                             .args = args,
                             .buffer = buffer,
                             .primary = l->primary,
                             .state = BB_NUM_STATES};
    if (desc->flags & (VKBOX_IS_DRAW | VKBOX_IS_DISPATCH))
        w->draw = ++l->draws;
    if (desc->flags & (VKBOX_IS_WORK | VKBOX_IS_BEGIN | VKBOX_IS_END))
        code = add_item(l, BB_ITEM_COMMAND, false, l->num - 1);
    else if (desc->flags & VKBOX_IS_PUSH)
        code = add_item(l, BB_ITEM_PUSH, false, l->num - 1);
    else if (desc->flags & VKBOX_IS_POP)
        code = add_item(l, BB_ITEM_POP, false, l->num - 1);
    return code;
}

/* Points between the parts of a secondary command buffer, in who executes it (parts.c). */
struct parts {
    uint32_t first, num; /* numbers, from `first` */
    uint32_t mark;       /* of who executes it */
};

/* `passed`: everything in the command buffer has finished. */
static int flatten(const struct vkbox_reader *r, uint32_t slot, bool passed, struct vkbox_list *l, int depth,
                   const struct parts *parts);

/* It is reached with the point before it, and passed with the one behind it. */
static void note_checkpoint(struct vkbox_list *l, bool named, uint64_t pointer)
{
    if (l->begun)
        l->top = l->open = (struct vkbox_checkpoint){true, named, pointer, l->num};
}

static void pass_checkpoint(struct vkbox_list *l)
{
    if (l->open.there)
        l->bottom = l->open;
    l->open.there = false;
}

static int add_point(struct vkbox_list *l, uint32_t number, bool written)
{
    int code = number > 1 ? add_item(l, BB_ITEM_BOTTOM, written, number) : 0;

    if (written)
        pass_checkpoint(l);
    l->begun = written;

    return code ? code : add_item(l, BB_ITEM_TOP, written, number);
}

static int add_entry(const struct vkbox_reader *r, const struct vkbox_command_buffer *cb, uint32_t head,
                     const uint32_t *args, uint32_t slot, bool passed, struct vkbox_list *l, int depth,
                     const struct parts *of, struct parts *next)
{
    const uint32_t n = head & 0xffff;
    const struct parts parts = *next;

    *next = (struct parts){0};
    switch (head >> 16) {
    case VKBOX_POINT:
        return n < 1 ? 0 : add_point(l, args[0], passed || has_reached(mark_of(r, cb), args[0]));
    case VKBOX_PARTS:
        if (n >= 2)
            *next = (struct parts){args[0], args[1], mark_of(r, cb)};
        return 0;
    case VKBOX_PART:
        if (n < 1 || !args[0] || args[0] > of->num)
            return 0;
        return add_point(l, of->first + args[0] - 1,
                         passed || has_reached(of->mark, of->first + args[0] - 1));
    case VKBOX_EXECUTED:
        if (n >= 2 && args[0] < VKBOX_COMMAND_BUFFERS && depth < MAX_NESTING &&
            r->b->command_buffers[args[0]].recording == args[1])
            return flatten(r, args[0], passed, l, depth + 1, &parts);
        l->bad++;
        return 0;
    case VKBOX_CHECKPOINT:
    case VKBOX_NAMED:
        if (n >= 2)
            note_checkpoint(l, head >> 16 == VKBOX_NAMED, args[0] | (uint64_t)args[1] << 32);
        return 0;
    case VKBOX_NONE:
        l->bad++;
        return 0;
    default:
        return add_work(l, head, args, slot);
    }
}

static int flatten(const struct vkbox_reader *r, uint32_t slot, bool passed, struct vkbox_list *l, int depth,
                   const struct parts *parts)
{
    struct parts next = {0};
    const struct vkbox_command_buffer *cb = &r->b->command_buffers[slot];
    uint32_t at = cb->first;

    if (cb->device >= VKBOX_DEVICES || cb->cut)
        l->bad++;
    if (cb->device >= VKBOX_DEVICES)
        return 0;
    for (uint32_t chunks = 0; at < VKBOX_CHUNKS && chunks < VKBOX_CHUNKS; chunks++) {
        const struct vkbox_chunk *c = &r->b->chunks[at];
        uint32_t used = c->used <= VKBOX_CHUNK_WORDS ? c->used : VKBOX_CHUNK_WORDS;

        for (uint32_t i = 0; i < used; i += 1 + (c->words[i] & 0xffff)) {
            int code;

            if (++l->steps > MAX_STEPS) { /* lists that run in circles */
                l->bad++;
                return 0;
            }
            if (c->words[i] >> 16 >= VKBOX_NUM_COMMANDS || i + 1 + (c->words[i] & 0xffff) > used) {
                l->bad++;
                break;
            }
            code = add_entry(r, cb, c->words[i], &c->words[i + 1], slot, passed, l, depth, parts, &next);
            if (code)
                return code;
        }
        at = c->next;
    }
    return 0;
}

int vkbox_flatten(const struct vkbox_reader *r, const struct vkbox_submission *s, struct vkbox_list *out)
{
    const struct parts none = {0};
    int code = 0;

    *out = (struct vkbox_list){0};
    for (uint32_t i = 0; !code && i < vkbox_submitted_count(s); i++) {
        enum vkbox_progress p = progress_of(r, s, i);

        out->primary = vkbox_submitted_at(r->b, s, i).command_buffer;
        out->begun = p == VKBOX_FINISHED;
        if (submitted(r, s, i))
            code = flatten(r, out->primary, p == VKBOX_FINISHED, out, 0, &none);
        else
            out->bad++;
        if (p == VKBOX_FINISHED)
            pass_checkpoint(out);
    }
    if (code)
        vkbox_list_finish(out);
    return code;
}

uint64_t vkbox_group(const struct vkbox_reader *r, uint32_t slot)
{
    const struct vkbox_command_buffer *cb = &r->b->command_buffers[slot];
    const uint32_t mark = mark_of(r, cb);
    struct known_content content = {0};
    uint64_t group = 0, before = 0;
    uint32_t at = cb->first;

    for (uint32_t chunks = 0; at < VKBOX_CHUNKS && chunks < VKBOX_CHUNKS; chunks++) {
        const struct vkbox_chunk *c = &r->b->chunks[at];
        uint32_t used = c->used <= VKBOX_CHUNK_WORDS ? c->used : VKBOX_CHUNK_WORDS;

        for (uint32_t i = 0; i < used; i += 1 + (c->words[i] & 0xffff)) {
            uint32_t command = c->words[i] >> 16;

            known_add(&content, c->words[i], &c->words[i + 1], used - i - 1);
            if (command == VKBOX_POINT && i + 1 < used && c->words[i + 1] > mark)
                return before; /* a point for a pass that begins stands behind its record */
            if (command == VKBOX_POINT)
                group = before = known_group(&content);
            else if (command < VKBOX_NUM_COMMANDS && vkbox_commands[command].flags & VKBOX_IS_BEGIN)
                group = known_group(&content);
            else
                before = group;
        }
        at = c->next;
    }
    return group;
}

void vkbox_list_finish(struct vkbox_list *l)
{
    free(l->work);
    free(l->items);
    *l = (struct vkbox_list){0};
}

/* ---- arguments ----------------------------------------------------------- */

struct words {
    const uint32_t *p, *end;
};

static uint32_t take32(struct words *w)
{
    return w->p < w->end ? *w->p++ : 0;
}

static uint64_t take64(struct words *w)
{
    uint64_t low = take32(w);

    return low | (uint64_t)take32(w) << 32;
}

/* Called for every value, struct and array; `text` is of strings. */
struct visitor {
    void (*value)(void *ctx, const struct vkbox_field *f, uint64_t v, const char *text, uint32_t size);
    void (*open)(void *ctx, const struct vkbox_field *f, bool array, uint32_t n);
    void (*close)(void *ctx, bool array, bool cut);
    void *ctx;
};

static void walk(struct words *w, const struct vkbox_field *f, uint32_t n, const struct visitor *v);

static void walk_one(struct words *w, const struct vkbox_field *f, const struct visitor *v)
{
    if (f->kind == VKBOX_STRUCT) {
        const struct vkbox_struct *s = f->of;

        if (!s)
            return;
        v->open(v->ctx, f, false, 1);
        walk(w, s->fields, s->num_fields, v);
        v->close(v->ctx, false, false);
    } else if (f->kind == VKBOX_TEXT) {
        uint32_t n = take32(w), words = (n + 3) / 4;
        const char *text = (const char *)w->p;

        if (n > (uint32_t)(w->end - w->p) * 4)
            n = words = 0;
        w->p += words;
        v->value(v->ctx, f, 0, text, n);
    } else {
        v->value(v->ctx, f, f->kind == VKBOX_U64 || f->kind == VKBOX_HANDLE ? take64(w) : take32(w), NULL, 0);
    }
}

static void walk(struct words *w, const struct vkbox_field *f, uint32_t n, const struct visitor *v)
{
    for (uint32_t i = 0; i < n; i++) {
        uint32_t count, there;

        if (f[i].mode == VKBOX_VALUE) {
            walk_one(w, &f[i], v);
            continue;
        }
        count = f[i].mode == VKBOX_FIXED ? f[i].cap : take32(w);
        there = count < f[i].cap ? count : f[i].cap;
        v->open(v->ctx, &f[i], true, count);
        for (uint32_t k = 0; k < there && w->p < w->end; k++)
            walk_one(w, &f[i], v);
        v->close(v->ctx, true, there < count);
    }
}

static void walk_args(const struct vkbox_work *work, const struct visitor *v)
{
    const struct vkbox_command_desc *d = &vkbox_commands[work->command];
    struct words w = {work->args, work->args + work->words};

    walk(&w, d->fields, d->num_fields, v);
}

/* ---- printing ------------------------------------------------------------ */

struct printer {
    const struct vkbox_reader *r;
    struct strbuf *out;
    bool first;
    uint32_t arrays;
};

static const char *enum_name(const struct vkbox_enum_value *values, uint32_t n, int64_t v)
{
    for (uint32_t i = 0; i < n; i++)
        if (values[i].value == v)
            return values[i].name;
    return NULL;
}

const char *vkbox_result_name(int32_t result)
{
    const char *name = enum_name(vkbox_results, vkbox_num_results, result);

    return name ? name : "an unknown result";
}

const char *vkbox_descriptor_name(uint32_t type)
{
    static const char *const names[] = {"sampler",
                                        "combined image and sampler",
                                        "sampled image",
                                        "storage image",
                                        "uniform texel buffer",
                                        "storage texel buffer",
                                        "uniform buffer",
                                        "storage buffer",
                                        "uniform buffer",
                                        "storage buffer",
                                        "input attachment"};

    return type < sizeof(names) / sizeof(names[0]) ? names[type] : "descriptor";
}

void vkbox_type_name(uint32_t type, char out[48])
{
    const char *name = enum_name(vkbox_object_types, vkbox_num_object_types, type);
    size_t n = 0;

    name = name && !strncmp(name, "VK_OBJECT_TYPE_", 15) ? name + 15 : "object";
    for (; name[n] && n < 47; n++)
        out[n] = name[n] == '_' ? ' ' : (char)tolower((unsigned char)name[n]);
    out[n] = '\0';
}

static void separate(struct printer *p, const struct vkbox_field *f)
{
    if (!p->first)
        strbuf_puts(p->out, ", ");
    p->first = false;
    if (!p->arrays)
        strbuf_printf(p->out, "%s ", f->name);
}

static void print_handle(struct printer *p, const struct vkbox_field *f, uint64_t v)
{
    const struct vkbox_object *o = vkbox_object(p->r, v);

    if (!v)
        strbuf_puts(p->out, "none");
    else if (o && o->name[0])
        strbuf_printf(p->out, "\"%.*s\"", VKBOX_NAME - 1, o->name);
    else
        strbuf_printf(p->out, "%s 0x%llx", (const char *)f->of + 2, (unsigned long long)v);
    if (o && o->state == VKBOX_GONE)
        strbuf_puts(p->out, " (destroyed)");
}

static void print_value(void *ctx, const struct vkbox_field *f, uint64_t v, const char *text, uint32_t size)
{
    const struct vkbox_enum *e = f->of;
    struct printer *p = ctx;
    const char *name;
    char line[512];
    float number;

    separate(p, f);
    switch (f->kind) {
    case VKBOX_TEXT:
        snprintf(line, sizeof(line), "%.*s", (int)size, text);
        utf8_one_line(line);
        strbuf_printf(p->out, "\"%s\"", line);
        break;
    case VKBOX_HANDLE:
        print_handle(p, f, v);
        break;
    case VKBOX_ENUM:
        name = enum_name(e->values, e->num_values, (int32_t)v);
        strbuf_printf(p->out, name ? "%s" : "%s %d", name ? name : e->name, (int)v);
        break;
    case VKBOX_FLAGS:
        strbuf_printf(p->out, "0x%llx", (unsigned long long)v);
        break;
    case VKBOX_I32:
        strbuf_printf(p->out, "%d", (int32_t)v);
        break;
    case VKBOX_F32:
        memcpy(&number, &v, sizeof(number));
        strbuf_float(p->out, number);
        break;
    default:
        strbuf_printf(p->out, "%llu", (unsigned long long)v);
    }
}

static void print_open(void *ctx, const struct vkbox_field *f, bool array, uint32_t n)
{
    struct printer *p = ctx;

    if (array || !p->arrays)
        separate(p, f);
    else if (!p->first)
        strbuf_puts(p->out, ", ");
    strbuf_puts(p->out, array ? "[" : "{");
    p->arrays = array ? p->arrays + 1 : p->arrays << 8; /* members of a struct have names, also in an array */
    p->first = true;
}

static void print_close(void *ctx, bool array, bool cut)
{
    struct printer *p = ctx;

    strbuf_puts(p->out, cut ? ", …]" : array ? "]" : "}");
    p->arrays = array ? p->arrays - 1 : p->arrays >> 8;
    p->first = false;
}

void vkbox_print(const struct vkbox_reader *r, const struct vkbox_work *w, struct strbuf *out)
{
    struct printer p = {r, out, true};
    struct visitor v = {print_value, print_open, print_close, &p};
    char name[64];

    vkbox_name(w, name);
    strbuf_printf(out, "%s(", name);
    if (vkbox_commands[w->command].flags & VKBOX_IS_FOREIGN)
        strbuf_puts(out, "…");
    else
        walk_args(w, &v);
    strbuf_puts(out, ")");
}

/* ---- looking for one argument -------------------------------------------- */

struct search {
    char *text;
    uint64_t *handles;
    const char **types;
    uint32_t num, max;
    const char *field;
    uint32_t number;
    bool found;
};

static void search_value(void *ctx, const struct vkbox_field *f, uint64_t v, const char *text, uint32_t size)
{
    struct search *s = ctx;

    if (f->kind == VKBOX_TEXT && s->text && !s->text[0])
        snprintf(s->text, 64, "%.*s", (int)size, text), utf8_one_line(s->text);
    if (f->kind == VKBOX_HANDLE && s->num < s->max) {
        s->types[s->num] = f->of;
        s->handles[s->num++] = v;
    }
    if (s->field && !s->found && !strcmp(f->name, s->field)) {
        s->number = (uint32_t)v;
        s->found = true;
    }
}

static void search_open(void *ctx, const struct vkbox_field *f, bool array, uint32_t n)
{
}

static void search_close(void *ctx, bool array, bool cut)
{
}

static void search(const struct vkbox_work *w, struct search *s)
{
    walk_args(w, &(struct visitor){search_value, search_open, search_close, s});
}

void vkbox_text(const struct vkbox_work *w, char out[64])
{
    out[0] = '\0';
    search(w, &(struct search){.text = out});
}

void vkbox_name(const struct vkbox_work *w, char out[64])
{
    if (vkbox_commands[w->command].flags & VKBOX_IS_FOREIGN)
        vkbox_text(w, out);
    else
        snprintf(out, 64, "%s", vkbox_commands[w->command].name);
}

uint32_t vkbox_handles(const struct vkbox_work *w, uint64_t *handles, const char **types, uint32_t max)
{
    struct search s = {.handles = handles, .types = types, .max = max};

    search(w, &s);
    return s.num;
}

uint32_t vkbox_number(const struct vkbox_work *w, const char *field)
{
    struct search s = {.field = field};

    search(w, &s);
    return s.number;
}
