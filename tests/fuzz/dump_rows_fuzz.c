/* SPDX-License-Identifier: MIT */
/* Dumps whose rows are anybody's, and whose checksums are right: the input is a package (blackbox/package.h), of which a dump is made.
 * Mutations are of rows and of values, so that what is behind the file's format and its seals is reached: a form of the
 * report, the index of crashes, or what plays a dump again, by the number of rows that the package says it dropped.
 *
 * What must hold: a dump that is ours is never called damaged, and what should be JSON is JSON. */
#include "fuzz.h"

#include <errno.h>
#include <jansson.h>
#include <string.h>
#include <unistd.h>

#include "base/utf8.h"
#include "blackbox/crashes.h"
#include "blackbox/package.h"
#include "minimize/dump_file.h"

enum { MAX_ROWS = 256, MAX_VALUE = 4096, AT_DROPPED = 24, READERS = 6 };

struct row {
    enum bb_table table;
    struct bb_value values[BB_MAX_COLUMNS];
};

struct rows {
    struct row row[MAX_ROWS];
    size_t num;
};

size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max_size);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed);
size_t LLVMFuzzerCustomCrossOver(const uint8_t *a, size_t a_size, const uint8_t *b, size_t b_size,
                                 uint8_t *out, size_t max_size, unsigned seed);

/* ---- rows ---------------------------------------------------------------- */

static void read_rows(struct rows *r, const void *data, size_t size)
{
    struct bb_package_reader reader;

    r->num = 0;
    if (bb_package_open(&reader, data, size, NULL))
        return;
    while (r->num < MAX_ROWS &&
           bb_package_next(&reader, &r->row[r->num].table, r->row[r->num].values, NULL) > 0)
        r->num++;
}

static void put(uint8_t **at, const void *bytes, size_t size)
{
    if (size)
        memcpy(*at, bytes, size);
    *at += size;
}

static void put_value(uint8_t **at, uint8_t column, const struct bb_value *v)
{
    const uint8_t head[2] = {column, (uint8_t)v->tag};
    const uint32_t part = (uint32_t)v->i;

    put(at, head, sizeof(head));
    if (v->tag == BB_TAG_INT)
        put(at, &v->i, sizeof(v->i));
    else if (v->tag == BB_TAG_REAL)
        put(at, &v->real, sizeof(v->real));
    else
        put(at, &v->size, sizeof(v->size));
    if (v->tag == BB_TAG_FILE)
        put(at, &part, sizeof(part));
    else if (v->tag == BB_TAG_TEXT || v->tag == BB_TAG_BLOB)
        put(at, v->bytes, v->size);
}

static size_t size_of(const struct row *r)
{
    size_t n = 2;

    for (uint32_t c = 0; c < BB_MAX_COLUMNS; c++) {
        const struct bb_value *v = &r->values[c];

        if (v->tag != BB_TAG_NULL)
            n += 10 + (v->tag == BB_TAG_TEXT || v->tag == BB_TAG_BLOB ? v->size : 0);
    }
    return n;
}

/* As many rows as fit; returns the size. */
static size_t write_rows(const struct rows *r, uint8_t *out, size_t room)
{
    const uint32_t magic[2] = {BB_PACKAGE_MAGIC, BB_PACKAGE_VERSION};
    uint64_t counts[3] = {0};
    uint8_t *at = out + BB_PACKAGE_HEADER;

    if (room < BB_PACKAGE_HEADER)
        return 0;
    for (size_t i = 0; i < r->num && size_of(&r->row[i]) <= room - (size_t)(at - out); i++, counts[1]++) {
        uint8_t *head = at;

        *at++ = (uint8_t)r->row[i].table;
        *at++ = 0;
        for (uint8_t c = 0; c < bb_tables[r->row[i].table].num_columns; c++)
            if (r->row[i].values[c].tag != BB_TAG_NULL) {
                put_value(&at, c, &r->row[i].values[c]);
                head[1]++;
            }
    }
    counts[0] = (uint64_t)(at - out) - BB_PACKAGE_HEADER;
    memcpy(out, magic, sizeof(magic));
    memcpy(out + sizeof(magic), counts, sizeof(counts));
    return (size_t)(at - out);
}

/* ---- mutations ----------------------------------------------------------- */

static unsigned below(unsigned *seed, size_t n)
{
    *seed = *seed * 1103515245 + 12345;
    return n ? (unsigned)((*seed >> 8) % n) : 0;
}

/* What readers decide by, and what stands at the ends. */
static int64_t an_int(const struct rows *r, unsigned *seed)
{
    static const int64_t ends[] = {
        0, 1, -1, 2, INT32_MAX, INT32_MIN, INT64_MAX, INT64_MIN, UINT32_MAX, INT64_C(1) << 32, 255, 65536};
    const struct row *other = &r->row[below(seed, r->num)];
    const struct bb_value *v = &other->values[below(seed, bb_tables[other->table].num_columns)];

    if (v->tag == BB_TAG_INT && below(seed, 2)) /* one that is another's: what refers to it meets it */
        return v->i;
    return ends[below(seed, sizeof(ends) / sizeof(ends[0]))];
}

/* The same column of another row of the table. */
static const struct bb_value *a_like(const struct rows *r, enum bb_table table, unsigned column,
                                     unsigned *seed)
{
    for (size_t i = 0, from = below(seed, r->num); i < r->num; i++) {
        const struct row *row = &r->row[(from + i) % r->num];

        if (row->table == table && row->values[column].tag != BB_TAG_NULL)
            return &row->values[column];
    }
    return NULL;
}

static void mutate_bytes(struct bb_value *v, uint8_t *room, unsigned *seed)
{
    static const char *const words[] = {"\"", "\\",           "<b>",  "&amp;", "\n",  "\x1b[0m",
                                        "%s", "\xe2\x80\xae", "\xff", "'",     "../", ","};
    const char *word = words[below(seed, sizeof(words) / sizeof(words[0]))];
    size_t n = v->size < MAX_VALUE - 16 ? v->size : MAX_VALUE - 16;

    if (n)
        memcpy(room, v->bytes, n);
    if (below(seed, 4)) {
        n = LLVMFuzzerMutate(room, n, MAX_VALUE);
    } else {
        memcpy(room + n, word, strlen(word));
        n += strlen(word);
    }
    v->bytes = room;
    v->size = (uint32_t)n;
}

static void mutate_value(struct rows *r, unsigned *seed)
{
    static uint8_t room[MAX_VALUE];
    struct row *row = &r->row[below(seed, r->num)];
    const unsigned column = below(seed, bb_tables[row->table].num_columns);
    const enum bb_tag own = (enum bb_tag)(bb_tables[row->table].columns[column].type + BB_TAG_INT);
    struct bb_value *v = &row->values[column];
    const struct bb_value *like = a_like(r, row->table, column, seed);

    switch (below(seed, 8)) {
    case 0:
        *v = (struct bb_value){.tag = BB_TAG_NULL};
        break;
    case 1:
        *v = (struct bb_value){
            .tag = (enum bb_tag)(1 + below(seed, BB_TAG_BLOB)), .i = 7, .real = 0.5, .bytes = "x", .size = 1};
        break;
    case 2:
    case 3:
        if (like)
            *v = *like;
        break;
    default:
        if (v->tag != own)
            *v = (struct bb_value){.tag = own};
        if (own == BB_TAG_INT)
            v->i = below(seed, 3) ? an_int(r, seed) : (int64_t)((uint64_t)v->i + below(seed, 5) - 2);
        else if (own == BB_TAG_REAL)
            v->real = below(seed, 3) ? (double)an_int(r, seed) / 3 : -v->real;
        else
            mutate_bytes(v, room, seed);
    }
}

static void mutate_row(struct rows *r, unsigned *seed)
{
    const size_t i = below(seed, r->num), k = below(seed, r->num);
    const struct row row = r->row[i];

    switch (below(seed, 4)) {
    case 0: /* it goes */
        r->row[i] = r->row[--r->num];
        break;
    case 1: /* twice */
        if (r->num < MAX_ROWS)
            r->row[r->num++] = row;
        break;
    case 2: /* in another order */
        r->row[i] = r->row[k];
        r->row[k] = row;
        break;
    default: /* of a table that may have none */
        if (r->num < MAX_ROWS)
            r->row[r->num++] = (struct row){.table = (enum bb_table)below(seed, BB_TABLE_CHECKSUM)};
    }
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed)
{
    static struct rows r;
    size_t n;
    uint8_t *out;

    read_rows(&r, data, size);
    if (!r.num)
        r.row[r.num++] = (struct row){.table = BB_TABLE_FINDING};
    out = malloc(max_size); /* values are read from `data` */
    must(out);
    if (size > AT_DROPPED && !below(&seed, 8)) { /* another reader */
        free(out);
        data[AT_DROPPED] = (uint8_t)below(&seed, READERS);
        return size;
    }
    if (below(&seed, 4) && r.num)
        mutate_value(&r, &seed);
    else
        mutate_row(&r, &seed);
    n = write_rows(&r, out, max_size);
    if (n && size > AT_DROPPED)
        out[AT_DROPPED] = data[AT_DROPPED];
    memcpy(data, out, n);
    free(out);
    return n;
}

size_t LLVMFuzzerCustomCrossOver(const uint8_t *a, size_t a_size, const uint8_t *b, size_t b_size,
                                 uint8_t *out, size_t max_size, unsigned seed)
{
    static struct rows from[2], mixed;

    read_rows(&from[0], a, a_size);
    read_rows(&from[1], b, b_size);
    mixed.num = 0;
    for (size_t i = 0; i < from[0].num || i < from[1].num; i++) {
        const struct rows *r = &from[below(&seed, 2)];

        if (i < r->num && mixed.num < MAX_ROWS)
            mixed.row[mixed.num++] = r->row[i];
    }
    return write_rows(&mixed, out, max_size);
}

/* ---- the readers --------------------------------------------------------- */

static void report(const char *path, enum bb_report_format format)
{
    struct bb_error e = {0};
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    json_t *json;
    int r;

    must(out);
    r = bb_report(path, format, out, &e);
    must(!fclose(out));
    if (r)
        fprintf(stderr, "%s\n", e.text);
    must(!r);
    if (size && (format == BB_REPORT_JSON || format == BB_REPORT_PERFETTO)) {
        json = json_loadb(text, size, 0, NULL);
        must(json);
        json_decref(json);
    }
    free(text);
}

static void index_it(const char *dump, const char *path)
{
    static int (*const forms[])(struct bb_crashes *, struct strbuf *,
                                struct error *) = {bb_crashes_text, bb_crashes_json, bb_crashes_html};
    struct bb_crashes_added added = {0};
    struct bb_crashes *c = NULL;
    struct error e = {0};

    unlink(path);
    must(!bb_crashes_open(&c, path, &e));
    bb_crashes_add(c, dump, &added, &e);
    for (unsigned i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
        struct strbuf out = {0};

        must(!forms[i](c, &out, &e));
        strbuf_finish(&out);
    }
    bb_crashes_close(c);
    unlink(path);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct dump_file replay;
    struct error e = {0};
    unsigned reader;
    char path[64], index[72];

    snprintf(path, sizeof(path), "/dev/shm/dump_rows_fuzz.%d", (int)getpid());
    snprintf(index, sizeof(index), "%s.index", path);
    unlink(path);
    if (bb_dump_write(data, size, NULL, 0, path, &e)) {
        must(e.code && e.text[0]);
        return 0;
    }
    reader = data[AT_DROPPED] % READERS; /* there is a header: it was read */
    if (reader <= BB_REPORT_PERFETTO)
        report(path, (enum bb_report_format)reader);
    else if (reader == READERS - 1)
        index_it(path, index);
    else if (!dump_file_open(&replay, path, size & 1, &e))
        dump_file_close(&replay);
    unlink(path);
    return 0;
}
