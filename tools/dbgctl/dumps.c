/* SPDX-License-Identifier: MIT */
/* dumps.c: guest memory as pictures and files, through READ_GPA. */
#include "dbgctl.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <strings.h>
#include <unistd.h>

#include <aerogpu/cmd.h>

#include "base/file/out.h"
#include "base/file/png.h"

enum { DUMP_CAP = 1 << 20, DUMP_HARD_CAP = 64 << 20, PICTURE_CAP = 16384 };

/* Where a file is written until it is whole: beside it, but a device, a pipe or a link is written as it is. */
static int name_part(char part[PATH_MAX], const char *path)
{
    struct stat st;
    const bool as_it_is = !lstat(path, &st) && !S_ISREG(st.st_mode);

    return snprintf(part, PATH_MAX, "%s%s", path, as_it_is ? "" : ".part") >= PATH_MAX ? -ENAMETOOLONG : 0;
}

/* It takes its name, or goes. */
static int settle_part(const char *part, const char *path, int r)
{
    if (!r && strcmp(part, path) && rename(part, path))
        r = -errno;
    if (r)
        out_file_discard(part);
    return r;
}

int dbgctl_write_file(const char *path, const void *data, size_t size)
{
    char part[PATH_MAX];
    FILE *f;
    int r = name_part(part, path);

    if (r)
        return r;
    f = out_file_open(part, NULL);
    if (!f)
        return -errno;
    errno = EIO;
    if (fwrite(data, 1, size, f) != size)
        r = -errno;
    if (fclose(f) && !r)
        r = -errno;
    return settle_part(part, path, r);
}

/* ---- pictures ------------------------------------------------------------ */

static void gate_hint(struct dbgctl *c, NTSTATUS s)
{
    if (s == STATUS_NOT_SUPPORTED)
        c->hint =
            "EnableReadGpaEscape = 1 in the service's settings opens it, to root and the service's user";
}

/* X is opaque; sRGB formats have the bytes of their linear ones, and keep them. */
static void to_rgba(uint32_t format, const uint8_t *from, uint8_t to[4])
{
    uint32_t v = from[0] | (uint32_t)from[1] << 8, base = format;

    if (format == AEROGPU_FORMAT_B5G6R5_UNORM || format == AEROGPU_FORMAT_B5G5R5A1_UNORM) {
        bool six = format == AEROGPU_FORMAT_B5G6R5_UNORM;
        uint32_t r = six ? v >> 11 : v >> 10 & 31, g = six ? v >> 5 & 63 : v >> 5 & 31, b = v & 31;
        to[0] = (uint8_t)(r << 3 | r >> 2);
        to[1] = (uint8_t)(six ? g << 2 | g >> 4 : g << 3 | g >> 2);
        to[2] = (uint8_t)(b << 3 | b >> 2);
        to[3] = six || v >> 15 ? 255 : 0;
        return;
    }
    if (base >= AEROGPU_FORMAT_B8G8R8A8_UNORM_SRGB)
        base = base - AEROGPU_FORMAT_B8G8R8A8_UNORM_SRGB + AEROGPU_FORMAT_B8G8R8A8_UNORM;
    bool bgr = base == AEROGPU_FORMAT_B8G8R8A8_UNORM || base == AEROGPU_FORMAT_B8G8R8X8_UNORM;
    to[0] = from[bgr ? 2 : 0];
    to[1] = from[1];
    to[2] = from[bgr ? 0 : 2];
    to[3] = base == AEROGPU_FORMAT_B8G8R8A8_UNORM || base == AEROGPU_FORMAT_R8G8B8A8_UNORM ? from[3] : 255;
}

static int write_bmp(const char *path, const uint8_t *rgba, uint32_t width, uint32_t height)
{
    size_t size = 54 + (size_t)width * height * 4;
    uint8_t *b = calloc(1, size), *at;
    const uint32_t words[] = {
        (uint32_t)size,        0,    54,   40, width, (uint32_t) - (int32_t)height, 1 | 32u << 16, 0,
        (uint32_t)(size - 54), 2835, 2835, 0,  0};
    int r;

    if (!b)
        return -ENOMEM;
    b[0] = 'B';
    b[1] = 'M';
    for (int i = 0; i < 13; i++)
        for (int k = 0; k < 4; k++)
            b[2 + 4 * i + k] = (uint8_t)(words[i] >> 8 * k);
    at = b + 54;
    for (size_t i = 0; i < (size_t)width * height; i++, at += 4) {
        at[0] = rgba[4 * i + 2];
        at[1] = rgba[4 * i + 1];
        at[2] = rgba[4 * i];
        at[3] = rgba[4 * i + 3];
    }
    r = dbgctl_write_file(path, b, size);
    free(b);
    return r;
}

static int write_png(const char *path, const uint8_t *rgba, uint32_t width, uint32_t height)
{
    struct error e = {0};
    char part[PATH_MAX];
    int r = name_part(part, path);

    if (r)
        return r;
    if (access(path, W_OK) && errno != ENOENT)
        return -errno;
    errno = 0;
    r = png_file_write(part, rgba, width, height, (size_t)width * 4, &e);
    if (r && errno)
        r = -errno;
    return settle_part(part, path, r);
}

static int dump_picture(struct dbgctl *c, const struct dbgctl_picture *p, bool png)
{
    uint64_t bytes = (uint64_t)p->pitch * p->height;
    uint32_t pixel = aerogpu_pixel_bytes(p->format);
    uint8_t *raw, *rgba;
    uint32_t got;
    NTSTATUS s;
    int r;

    if (!p->gpa || !p->width || !p->height)
        return dbgctl_refuse(c, "the %s shows nothing", p->what);
    if (!pixel)
        return dbgctl_refuse(c, "the %s has format %u, which is no format of pixels to show", p->what,
                             p->format);
    if (p->width > PICTURE_CAP || p->height > PICTURE_CAP || p->pitch < pixel * p->width ||
        bytes > DUMP_HARD_CAP)
        return dbgctl_refuse(c, "the %s of %ux%u with pitch %u cannot be", p->what, p->width, p->height,
                             p->pitch);
    raw = malloc(bytes);
    rgba = malloc((size_t)p->width * p->height * 4);
    if (!raw || !rgba) {
        free(raw);
        free(rgba);
        return dbgctl_refuse(c, "no memory");
    }
    s = dbgctl_read(c, p->gpa, raw, (uint32_t)bytes, &got);
    if (s || got < bytes) {
        gate_hint(c, s);
        free(raw);
        free(rgba);
        return dbgctl_fail(c, s ? s : STATUS_UNSUCCESSFUL, "READ_GPA of the %s gave %u of %llu bytes",
                           p->what, got, (unsigned long long)bytes);
    }
    for (uint32_t y = 0; y < p->height; y++)
        for (uint32_t x = 0; x < p->width; x++)
            to_rgba(p->format, raw + (size_t)y * p->pitch + pixel * x, rgba + ((size_t)y * p->width + x) * 4);
    r = png ? write_png(c->path, rgba, p->width, p->height) : write_bmp(c->path, rgba, p->width, p->height);
    free(raw);
    free(rgba);
    if (r)
        return dbgctl_refuse(c, "%s: %s", c->path, strerror(-r));
    json_object_set_new(c->body, "output",
                        json_pack("{s:s, s:s}", "type", png ? "png" : "bmp", "path", c->path));
    return DBGCTL_OK;
}

static int dump_scanout(struct dbgctl *c, bool png)
{
    struct aerogpu_escape_query_scanout q;
    NTSTATUS s = dbgctl_scanout_ask(c, &q);
    bool cached = !q.mmio_fb_gpa;
    struct dbgctl_picture p = {"scanout",          cached ? q.cached_fb_gpa : q.mmio_fb_gpa,
                               q.mmio_width,       q.mmio_height,
                               q.mmio_pitch_bytes, q.mmio_format};
    json_t *scanout, *selected;

    if (s)
        return dbgctl_fail(c, s, "QUERY_SCANOUT");
    scanout = dbgctl_scanout_of(&q);
    selected = dbgctl_picture(q.mmio_enable, &p);
    json_object_set_new(selected, "fb_gpa_source", json_string(cached ? "cached_fb_gpa" : "mmio_fb_gpa"));
    json_object_set_new(scanout, "selected", selected);
    json_object_update_new(c->body, dbgctl_sources(c, q.vidpn_source_id));
    json_object_set_new(c->body, "scanout", scanout);
    return dump_picture(c, &p, png);
}

static int dump_cursor(struct dbgctl *c, bool png)
{
    struct aerogpu_escape_query_cursor q = {0};
    NTSTATUS s = DBGCTL_ESCAPE(c, QUERY_CURSOR, &q);

    if (s)
        return dbgctl_fail(c, s, "QUERY_CURSOR");
    json_object_set_new(c->body, "cursor", dbgctl_cursor_of(&q));
    return dump_picture(
        c, &(struct dbgctl_picture){"cursor", q.fb_gpa, q.width, q.height, q.pitch_bytes, q.format}, png);
}

int dbgctl_dump_scanout_bmp(struct dbgctl *c)
{
    return dump_scanout(c, false);
}

int dbgctl_dump_scanout_png(struct dbgctl *c)
{
    return dump_scanout(c, true);
}

int dbgctl_dump_cursor_bmp(struct dbgctl *c)
{
    return dump_cursor(c, false);
}

int dbgctl_dump_cursor_png(struct dbgctl *c)
{
    return dump_cursor(c, true);
}

/* ---- submissions --------------------------------------------------------- */

/* *magic: its first four bytes. */
static int dump_range(struct dbgctl *c, const char *path, uint64_t gpa, uint32_t size, uint32_t *magic)
{
    uint32_t got = 0;
    uint8_t *data;
    NTSTATUS s;
    int r;

    if (size > DUMP_HARD_CAP || (size > DUMP_CAP && !c->force))
        return dbgctl_refuse(c, "%u bytes are more than %u: --force dumps up to %u", size, DUMP_CAP,
                             DUMP_HARD_CAP);
    data = malloc(size ? size : 1);
    if (!data)
        return dbgctl_refuse(c, "no memory");
    s = dbgctl_read(c, gpa, data, size, &got);
    r = s || got < size ? 1 : dbgctl_write_file(path, data, size);
    *magic = 0;
    memcpy(magic, data, got < sizeof(*magic) ? got : sizeof(*magic));
    gate_hint(c, s);
    free(data);
    if (r > 0)
        return dbgctl_fail(c, s ? s : STATUS_UNSUCCESSFUL, "READ_GPA at 0x%llx gave %u of %u bytes",
                           (unsigned long long)gpa, got, size);
    return r ? dbgctl_refuse(c, "%s: %s", path, strerror(-r)) : DBGCTL_OK;
}

/* base.bin, or base_0.bin, base_1.bin … by the index from the tail when several are dumped. */
static void numbered(char *out, size_t size, const char *base, uint32_t count, uint32_t i)
{
    size_t n = strlen(base);

    if (count == 1)
        snprintf(out, size, "%s", base);
    else
        snprintf(out, size, "%.*s_%u.bin", (int)(n > 4 && !strcasecmp(base + n - 4, ".bin") ? n - 4 : n),
                 base, i);
}

/* Descriptor `i` of the ring, the `nth` that is dumped. */
static int dump_one(struct dbgctl *c, const struct aerogpu_escape_dump_ring_v2 *ring, uint32_t i,
                    uint32_t nth)
{
    const struct aerogpu_escape_ring_desc_v2 *d = &ring->desc[i];
    char cmd[1000], text[1040], beside[1040], summary[600];
    const char *table = c->alloc_out ? c->alloc_out : beside;
    uint32_t magic = 0, unused;
    json_t *out;
    int r, n;

    if (strlen(c->cmd_out) > 900)
        return dbgctl_refuse(c, "--cmd-out: the path is too long");
    numbered(cmd, sizeof(cmd), c->cmd_out, c->count, c->index_from_tail + nth);
    snprintf(text, sizeof(text), "%s.txt", cmd);
    snprintf(beside, sizeof(beside), "%s.alloc_table.bin", cmd);
    r = dump_range(c, cmd, d->cmd_gpa, d->cmd_size_bytes, &magic);
    if (!r && (d->alloc_table_gpa || c->alloc_out)) /* no table: an empty file where one was asked for */
        r = dump_range(c, table, d->alloc_table_gpa, d->alloc_table_gpa ? d->alloc_table_size_bytes : 0,
                       &unused);
    if (r) {
        out_file_discard(cmd); /* half a dump would be taken for a whole one */
        return r;
    }
    n = snprintf(summary, sizeof(summary),
                 "fence: %llu\nflags: 0x%x\ncmd_gpa: 0x%llx\ncmd_size_bytes: %u\nalloc_table_gpa: 0x%llx\n"
                 "alloc_table_size_bytes: %u\nring_id: %u\nindex_from_tail: %u\n",
                 (unsigned long long)d->fence, d->flags, (unsigned long long)d->cmd_gpa, d->cmd_size_bytes,
                 (unsigned long long)d->alloc_table_gpa, d->alloc_table_size_bytes, c->ring_id,
                 c->index_from_tail + nth);
    r = dbgctl_write_file(text, summary, (size_t)n);
    if (r)
        return dbgctl_refuse(c, "%s: %s", text, strerror(-r));
    out = json_pack("{s:s, s:b, s:o, s:b, s:s, s:b}", "cmd_path", cmd, "cmd_written", 1, "cmd_magic_u32_hex",
                    dbgctl_hex(magic), "cmd_magic_matches", magic == AEROGPU_CMD_STREAM_MAGIC,
                    "summary_txt_path", text, "alloc_table_present", d->alloc_table_gpa != 0);
    if (d->alloc_table_gpa || c->alloc_out)
        json_object_update_new(out,
                               json_pack("{s:s, s:b}", "alloc_table_path", table, "alloc_table_written", 1));
    json_array_append_new(json_object_get(c->body, "dumps"),
                          json_pack("{s:I, s:I, s:o, s:o}", "index_from_tail",
                                    (json_int_t)c->index_from_tail + nth, "ring_index",
                                    (json_int_t)dbgctl_ring_index(ring, i), "descriptor",
                                    dbgctl_descriptor(d), "output", out));
    return DBGCTL_OK;
}

int dbgctl_dump_last(struct dbgctl *c)
{
    static struct aerogpu_escape_dump_ring_v2 ring;
    uint32_t done = 0, skip = c->index_from_tail;
    NTSTATUS s = dbgctl_ring_ask(c, &ring);
    json_t *request =
        json_pack("{s:I, s:I, s:s, s:b}", "index_from_tail", (json_int_t)c->index_from_tail, "count",
                  (json_int_t)c->count, "out_path", c->cmd_out, "force", (int)c->force);

    if (c->alloc_out)
        json_object_set_new(request, "alloc_out_path", json_string(c->alloc_out));
    json_object_set_new(c->body, "request", request);
    json_object_set_new(c->body, "dumps", json_array());
    if (s)
        return dbgctl_fail(c, s, "DUMP_RING_V2");
    json_object_set_new(c->body, "ring", dbgctl_ring_head(&ring));
    json_object_set_new(json_object_get(c->body, "ring"), "used_v2", json_true());
    for (uint32_t i = ring.desc_count; i-- > 0 && done < c->count;) {
        int r;
        if (!ring.desc[i].cmd_gpa || !ring.desc[i].cmd_size_bytes)
            continue; /* without a stream, or no longer kept */
        if (skip) {
            skip--;
            continue;
        }
        r = dump_one(c, &ring, i, done);
        json_object_set_new(request, "count_actual", json_integer(done));
        if (r)
            return r;
        json_object_set_new(request, "count_actual", json_integer(++done));
    }
    return done ? DBGCTL_OK
                : dbgctl_refuse(c, "no submission with a stream at index %u from the tail",
                                c->index_from_tail);
}

/* ---- memory -------------------------------------------------------------- */

static json_t *hex_text(const uint8_t *data, uint32_t bytes)
{
    size_t size = bytes;
    char *text = malloc(2 * size + 1);
    json_t *out;

    if (!text)
        return json_null();
    for (size_t i = 0; i < size; i++)
        snprintf(text + 2 * i, 3, "%02x", data[i]);
    text[2 * size] = '\0';
    out = json_string(text);
    free(text);
    return out;
}

static void hex_lines(const struct dbgctl *c, const uint8_t *data, uint32_t size)
{
    for (uint32_t at = 0; at < size && !c->json; at += 16) {
        printf("%016" PRIx64 " ", c->argument + at);
        for (uint32_t i = at; i < at + 16; i++)
            printf(i < size ? " %02x" : "   ", i < size ? data[i] : 0);
        fputs("  ", stdout);
        for (uint32_t i = at; i < at + 16 && i < size; i++)
            putchar(data[i] >= 32 && data[i] < 127 ? data[i] : '.');
        putchar('\n');
    }
}

/* What was asked for, and what came of it; people have the hex lines already. */
static void answer(struct dbgctl *c, NTSTATUS s, const uint8_t *data, uint32_t got, uint32_t shown,
                   bool written)
{
    json_t *r = json_pack("{s:o, s:I, s:I, s:b, s:b, s:b, s:b}", "status", dbgctl_status(s), "bytes_copied",
                          (json_int_t)got, "bytes_copied_reported", (json_int_t)got, "partial_copy",
                          (int)(s == STATUS_PARTIAL_COPY), "short_read", (int)(!s && got < c->size),
                          "truncated", (int)(shown < got), "out_written", (int)written);

    if (c->json) {
        json_object_set_new(r, "data_hex", hex_text(data, shown));
        json_object_set_new(c->body, "request",
                            json_pack("{s:o, s:I, s:I}", "gpa", dbgctl_u64(c->argument), "size_bytes",
                                      (json_int_t)c->size, "size_bytes_effective", (json_int_t)shown));
        json_object_set(c->body, "response", r);
        if (c->out_path)
            json_object_set_new(r, "out_path", json_string(c->out_path));
    } else if (written) {
        json_object_set_new(c->body, "path", json_string(c->out_path));
        json_object_set_new(c->body, "bytes_copied", json_integer(got));
    } else if (!c->out_path && shown < got) {
        json_object_set_new(c->body, "not shown",
                            json_sprintf("%u bytes: --force shows up to %u, --out FILE writes all",
                                         got - shown, AEROGPU_ESCAPE_READ_GPA_MAX));
    }
    json_decref(r);
}

int dbgctl_read_gpa(struct dbgctl *c)
{
    uint32_t size = c->size, got = 0, shown;
    uint8_t *data;
    NTSTATUS s;
    int r = 0;

    if (size > DUMP_HARD_CAP)
        return dbgctl_refuse(c, "%u bytes are more than %u", size, DUMP_HARD_CAP);
    if (size > DUMP_CAP && !c->force)
        return dbgctl_refuse(c, "%u bytes are more than %u: --force reads up to %u", size, DUMP_CAP,
                             DUMP_HARD_CAP);
    data = malloc(size);
    if (!data)
        return dbgctl_refuse(c, "no memory");
    s = dbgctl_read(c, c->argument, data, size, &got);
    shown = c->force ? AEROGPU_ESCAPE_READ_GPA_MAX : 256;
    shown = got < shown ? got : shown;
    if (c->out_path && got == size)
        r = dbgctl_write_file(c->out_path, data, got);
    answer(c, s, data, got, shown, c->out_path && got == size && !r);
    if (!c->out_path)
        hex_lines(c, data, shown);
    free(data);
    if (c->out_path && got < size)
        out_file_discard(c->out_path); /* an old file would be taken for what was asked for */
    gate_hint(c, s);
    if (s == STATUS_PARTIAL_COPY) {
        dbgctl_fail(c, s, "READ_GPA at 0x%llx copied %u of %u bytes", (unsigned long long)c->argument, got,
                    size);
        return DBGCTL_PARTIAL;
    }
    if (s || got < size)
        return dbgctl_fail(c, s, "READ_GPA at 0x%llx copied %u of %u bytes", (unsigned long long)c->argument,
                           got, size);
    return r ? dbgctl_refuse(c, "%s: %s", c->out_path, strerror(-r)) : DBGCTL_OK;
}
