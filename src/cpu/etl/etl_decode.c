/* SPDX-License-Identifier: MIT */
/* From Windows events to cpu/event.h and to text, by the table of etl_events.json; TraceLogging by the fields
 * that travel in each event. */
#include <endian.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <xxhash.h>

#include "base/bytes.h"
#include "cpu/etl/etl.h"

static uint32_t fixed_size(uint8_t type, uint8_t pointer)
{
    static const uint8_t sizes[] = {
        [ETL_U8] = 1,  [ETL_U16] = 2, [ETL_U32] = 4,    [ETL_U64] = 8, [ETL_I16] = 2,
        [ETL_I32] = 4, [ETL_PTR] = 0, [ETL_UTF16Z] = 0, [ETL_REST] = 0};

    return type == ETL_PTR ? pointer : sizes[type];
}

static uint64_t load(const uint8_t *p, uint32_t size)
{
    uint64_t v = 0;

    memcpy(&v, p, size);
    return le64toh(v);
}

uint64_t etl_ns(const struct etl_file *f, uint64_t ticks)
{
    if (ticks <= f->first_ticks)
        return 0;
    return (uint64_t)((unsigned __int128)(ticks - f->first_ticks) * 1000000000u / f->frequency);
}

static bool present(const struct etl_field *fd, uint8_t version)
{
    return version >= fd->since;
}

/* Value of every single field up to `last`; false if the payload ends before it. `have` gets a bit per field found. */
static bool read_fields(const struct etl_event *ev, const struct etl_record *r, int last, uint64_t *values,
                        uint64_t *have)
{
    const uint8_t version = r->version > ev->max_version ? ev->max_version : r->version;
    uint32_t at = 0;

    *have = 0;
    for (int i = 0; i <= last; i++) {
        const struct etl_field *fd = &ev->fields[i];
        const uint32_t size = fixed_size(fd->type, r->pointer_size);
        uint64_t n = 1;
        if (!present(fd, version))
            continue;
        if (!size)
            return true; /* variable: nothing after it can be found */
        if (fd->count >= 0)
            n = values[fd->count];
        if (n > (r->payload_size - at) / size)
            return false;
        /* of a list: its first item, 0 if it is empty */
        values[i] = n ? load(r->payload + at, size) : 0;
        *have |= UINT64_C(1) << i;
        at += (uint32_t)n * size;
    }
    return true;
}

static uint64_t operand(int op, const uint64_t *values, uint64_t have, uint16_t cpu, bool *missing)
{
    switch (op) {
    case ETL_OP_NONE:
        return 0;
    case ETL_OP_CPU:
        return cpu;
    case ETL_OP_LEFT:
        return CPU_IDLE_LEFT;
    case ETL_OP_HUNDRED:
        return 100;
    default:
        if (!(have >> op & 1))
            *missing = true;
        return values[op];
    }
}

static int highest(const struct etl_event *ev)
{
    int last = ev->a > ev->b ? ev->a : ev->b;

    last = ev->c > last ? ev->c : last;
    last = ev->group > last ? ev->group : last;
    return ev->number > last ? ev->number : last;
}

/* What the table cannot say: times to nanoseconds, thread states to those of Linux. */
static void finish(const struct etl_file *f, struct cpu_event *out, const struct etl_event *ev)
{
    uint64_t begin;

    switch (out->kind) {
    case CPU_EV_DPC:
        begin = etl_ns(f, out->a);
        out->a = out->ns > begin ? out->ns - begin : 0;
        break;
    case CPU_EV_IRQ_ENTRY:
        out->a = ev->irq;
        if (ev->c >= 0) {
            begin = etl_ns(f, out->c);
            out->c = out->ns > begin ? out->ns - begin : 0;
        }
        break;
    case CPU_EV_SWITCH:
        out->b = out->b == 1 ? 0 : 1; /* Ready is runnable; every other state waits */
        break;
    default:
        break;
    }
}

bool etl_decode(const struct etl_file *f, const struct etl_kind *k, const struct etl_record *r, uint16_t cpu,
                struct cpu_event *out)
{
    const struct etl_event *ev = k->event;
    uint64_t values[64] = {0}, have = 0;
    bool missing = false;
    int last;

    *out = (struct cpu_event){.ns = etl_ns(f, r->time), .cpu = cpu, .tid = r->tid, .kind = CPU_EV_OTHER};
    if (!ev) {
        out->kind = k->named_kind;
        return true;
    }
    if (ev->kind == CPU_EV_OTHER || r->version < ev->min_version)
        return true;
    last = highest(ev);
    if (last >= 0 && !read_fields(ev, r, last, values, &have))
        return false;
    out->a = operand(ev->a, values, have, cpu, &missing);
    out->b = operand(ev->b, values, have, cpu, &missing);
    out->c = operand(ev->c, values, have, cpu, &missing);
    if (ev->number >= 0 && (have >> ev->number & 1)) {
        const uint64_t group = ev->group >= 0 ? values[ev->group] : 0;
        if (group * 64 + values[ev->number] < CPU_MAX_CPUS)
            out->cpu = (uint16_t)(group * 64 + values[ev->number]);
    }
    if (missing)
        return true; /* an older version without the field: printed, not analysed */
    out->kind = ev->kind;
    finish(f, out, ev);
    return true;
}

static const char *schema_name(const struct etl_record *r)
{
    uint32_t at = 2;

    while (at < r->schema_size && (r->schema[at++] & 0x80))
        ;
    return at < r->schema_size && memchr(r->schema + at, 0, r->schema_size - at)
               ? (const char *)r->schema + at
               : "";
}

static void name_kind(struct etl_kind *k, const struct etl_record *r)
{
    if (r->traits_size > 2 && memchr(r->traits + 2, 0, r->traits_size - 2u))
        snprintf(k->provider, sizeof(k->provider), "%.63s", (const char *)r->traits + 2);
    snprintf(k->name, sizeof(k->name), "%.63s", schema_name(r));
    for (uint32_t i = 0; i < etl_num_named; i++)
        if (!strcmp(k->name, etl_named[i].name) && !strcmp(k->provider, etl_named[i].provider))
            k->named_kind = etl_named[i].kind;
}

/* The row for this version; for a version newer than all rows, the newest one. */
static const struct etl_event *find_event(const struct etl_record *r, const struct etl_kind *k)
{
    const struct etl_event *newest = NULL;

    for (uint32_t i = 0; i < etl_num_events; i++) {
        const struct etl_event *ev = &etl_events[i];
        const struct etl_provider *p = &etl_providers[ev->provider];
        bool match = false;
        if (r->header == ETL_CLASSIC)
            match = p->group == r->group && ev->id == r->type;
        else if (r->header == ETL_GUID)
            match = p->group >= 0 && !memcmp(p->guid, r->guid, 16) && ev->id == r->type;
        else if (r->header == ETL_MANIFEST)
            match = p->group < 0 && !memcmp(p->guid, r->guid, 16) && ev->id == r->id;
        if (!match || k->version < ev->min_version)
            continue;
        if (k->version <= ev->max_version)
            return ev;
        newest = ev;
    }
    return newest;
}

static uint16_t add_kind(struct etl_file *f, const struct etl_record *r, uint64_t hash)
{
    struct etl_kind *k;

    if (f->num_kinds == ETL_MAX_TYPES) {
        f->kinds_dropped++;
        return ETL_MAX_TYPES;
    }
    k = &f->kinds[f->num_kinds];
    k->header = r->header;
    k->id = r->header == ETL_CLASSIC ? (uint16_t)(r->group << 8 | r->type) : r->id;
    k->version = r->version;
    k->schema_hash = hash;
    if (r->guid)
        memcpy(k->guid, r->guid, 16);
    if (r->header == ETL_TRACELOGGING)
        name_kind(k, r);
    k->event = find_event(r, k);
    return (uint16_t)f->num_kinds++;
}

uint16_t etl_kind_of(struct etl_file *f, const struct etl_record *r)
{
    struct {
        uint8_t guid[16];
        uint16_t id;
        uint8_t version, header;
        uint32_t zero;
    } key = {.id = r->id, .version = r->version, .header = (uint8_t)r->header};
    uint64_t hash, *at;
    uint16_t made;

    if (r->header == ETL_CLASSIC) {
        uint16_t *slot = &f->classic[r->group << 8 | r->type];
        if (!*slot) {
            made = add_kind(f, r, 0);
            if (made == ETL_MAX_TYPES)
                return made;
            *slot = made + 1;
        }
        return *slot - 1;
    }
    if (r->guid)
        memcpy(key.guid, r->guid, 16);
    hash = XXH3_64bits(&key, sizeof(key));
    if (r->header == ETL_TRACELOGGING)
        hash = XXH3_64bits_withSeed(r->schema, r->schema_size, hash);
    at = map_find(&f->hashed, hash);
    if (at)
        return (uint16_t)(*at - 1);
    made = add_kind(f, r, hash);
    at = made == ETL_MAX_TYPES ? NULL : map_put(&f->hashed, hash);
    if (at)
        *at = made + 1u;
    return made;
}

static void guid_text(const uint8_t *g, char buf[40])
{
    snprintf(buf, 40, "{%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-%02x%02x%02x%02x%02x%02x}", g[3], g[2],
             g[1], g[0], g[5], g[4], g[7], g[6], g[8], g[9], g[10], g[11], g[12], g[13], g[14], g[15]);
}

void etl_kind_name(const struct etl_file *f, const struct etl_kind *k, char *buf, size_t cap)
{
    char guid[40];

    if (k->event) {
        snprintf(buf, cap, "%s: %s", etl_providers[k->event->provider].name, k->event->name);
        return;
    }
    guid_text(k->guid, guid);
    switch (k->header) {
    case ETL_CLASSIC:
        snprintf(buf, cap, "system event 0x%04x (not decoded)", k->id);
        break;
    case ETL_GUID:
        snprintf(buf, cap, "%s type %u v%u (not decoded)", guid, k->id, k->version);
        break;
    case ETL_MANIFEST:
        snprintf(buf, cap, "%s event %u v%u (not decoded)", guid, k->id, k->version);
        break;
    case ETL_TRACELOGGING:
        snprintf(buf, cap, "%s: %s%s", k->provider[0] ? k->provider : guid, k->name,
                 k->named_kind ? "" : " (by its own fields)");
        break;
    case ETL_MESSAGE:
        snprintf(buf, cap, "trace message (not decoded)");
        break;
    default:
        snprintf(buf, cap, "header type %u (not decoded)", k->id);
        break;
    }
}

static void print_utf16(struct bytes *in, struct strbuf *o, uint32_t units, bool to_zero)
{
    for (uint32_t i = 0; i < units; i++) {
        const uint16_t c = bytes_u16(in);
        if (in->bad || (to_zero && !c))
            break;
        if (c >= 0x20 && c < 0x7f)
            strbuf_printf(o, "%c", c);
        else
            strbuf_printf(o, "\\u%04x", c);
    }
}

static void print_bytes(struct bytes *in, struct strbuf *o, uint32_t n)
{
    for (uint32_t i = 0; i < n && !in->bad; i++) {
        const uint8_t b = bytes_u8(in);
        if (i < 64)
            strbuf_printf(o, "%02x", b);
    }
    if (n > 64)
        strbuf_printf(o, "...(%u bytes)", n);
}

static void print_table(const struct etl_event *ev, const struct etl_record *r, struct strbuf *o)
{
    const uint8_t version = r->version > ev->max_version ? ev->max_version : r->version;
    struct bytes in = bytes_of(r->payload, r->payload_size);
    uint64_t values[64] = {0};

    for (int i = 0; i < ev->num_fields && !in.bad; i++) {
        const struct etl_field *fd = &ev->fields[i];
        const uint32_t size = fixed_size(fd->type, r->pointer_size);
        uint64_t n = fd->count >= 0 ? values[fd->count] : 1;
        if (!present(fd, version))
            continue;
        strbuf_printf(o, "%s%s=", i ? " " : "", fd->name);
        if (fd->count >= 0)
            strbuf_puts(o, "[");
        if (fd->type == ETL_UTF16Z)
            print_utf16(&in, o, UINT32_MAX, true);
        else if (fd->type == ETL_REST)
            print_bytes(&in, o, (uint32_t)bytes_left(&in));
        for (uint64_t k = 0; size && k < n && !in.bad; k++) {
            const uint8_t *p = bytes_take(&in, size);
            uint64_t v = p ? load(p, size) : 0;
            values[i] = v;
            if (!p)
                break;
            if (fd->type == ETL_I16)
                strbuf_printf(o, "%s%d", k ? "," : "", (int16_t)v);
            else if (fd->type == ETL_I32)
                strbuf_printf(o, "%s%d", k ? "," : "", (int32_t)v);
            else
                strbuf_printf(o, fd->hex ? "%s0x%" PRIx64 : "%s%" PRIu64, k ? "," : "", v);
        }
        if (fd->count >= 0)
            strbuf_puts(o, "]");
    }
    if (in.bad)
        strbuf_puts(o, " (cut)");
    else if (bytes_left(&in))
        strbuf_printf(o, " (and %zu bytes)", bytes_left(&in));
    if (r->version > ev->max_version)
        strbuf_printf(o, " (version %u, read as %u)", r->version, ev->max_version);
}

/* One value of a TraceLogging type. */
static void print_value(struct bytes *in, struct strbuf *o, uint8_t type)
{
    static const uint8_t sizes[32] = {[3] = 1, [4] = 1,  [5] = 2,  [6] = 2,  [7] = 4,  [8] = 4,
                                      [9] = 8, [10] = 8, [13] = 4, [17] = 8, [20] = 4, [21] = 8};
    const uint8_t *p;
    uint64_t v;
    double d;
    float fl;

    switch (type) {
    case 1:
        print_utf16(in, o, UINT32_MAX, true);
        break;
    case 2:
        for (uint8_t c; (c = bytes_u8(in)) && !in->bad;)
            strbuf_printf(o, c >= 0x20 && c < 0x7f ? "%c" : "\\x%02x", c);
        break;
    case 11:
        v = bytes_u32(in);
        memcpy(&fl, &(uint32_t){(uint32_t)v}, 4);
        strbuf_printf(o, "%g", (double)fl);
        break;
    case 12:
        v = bytes_u64(in);
        memcpy(&d, &v, 8);
        strbuf_printf(o, "%g", d);
        break;
    case 14:
    case 25:
        print_bytes(in, o, bytes_u16(in));
        break;
    case 15:
        print_bytes(in, o, 16);
        break;
    case 18:
        print_bytes(in, o, 16);
        break;
    case 19:
        p = in->bad || bytes_left(in) < 2 ? NULL : in->data + in->pos;
        print_bytes(in, o, p ? 8 + 4u * p[1] : 8);
        break;
    case 22:
        print_utf16(in, o, bytes_u16(in) / 2, false);
        break;
    case 23:
        for (uint32_t n = bytes_u16(in); n && !in->bad; n--) {
            const uint8_t c = bytes_u8(in);
            strbuf_printf(o, c >= 0x20 && c < 0x7f ? "%c" : "\\x%02x", c);
        }
        break;
    default:
        if (type >= 32 || !sizes[type] || !(p = bytes_take(in, sizes[type]))) {
            in->bad = true;
            return;
        }
        v = load(p, sizes[type]);
        if (type == 3 || type == 5 || type == 7 || type == 9)
            strbuf_printf(o, "%" PRId64, (int64_t)(v << (64 - 8 * sizes[type])) >> (64 - 8 * sizes[type]));
        else
            strbuf_printf(o, type >= 20 ? "0x%" PRIx64 : "%" PRIu64, v);
        break;
    }
}

static void print_own_fields(const struct etl_record *r, struct strbuf *o)
{
    struct bytes schema = bytes_of(r->schema, r->schema_size), in = bytes_of(r->payload, r->payload_size);
    bool first = true;

    bytes_u16(&schema);
    while (bytes_left(&schema) && (bytes_u8(&schema) & 0x80))
        ;
    while (bytes_left(&schema) && bytes_u8(&schema))
        ;
    while (bytes_left(&schema) && !in.bad && !schema.bad && o->len < 65536) {
        const char *name = (const char *)schema.data + schema.pos;
        uint8_t type, out = 0;
        uint32_t n = 1;
        while (bytes_left(&schema) && bytes_u8(&schema))
            ;
        if (schema.data[schema.pos - 1] != 0)
            break;
        type = bytes_u8(&schema);
        if (type & 0x80)
            out = bytes_u8(&schema);
        if (out & 0x80)
            while (bytes_u8(&schema) & 0x80)
                ;
        if ((type & 0x60) == 0x20)
            n = bytes_u16(&schema);
        else if ((type & 0x60) == 0x40)
            n = bytes_u16(&in);
        else if ((type & 0x60) == 0x60)
            bytes_take(&schema, bytes_u16(&schema));
        if (schema.bad)
            break;
        if ((type & 0x1f) == 24)
            continue; /* a struct: its members follow */
        strbuf_printf(o, "%s%s=", first ? "" : " ", name);
        first = false;
        for (uint32_t i = 0; i < n && !in.bad; i++) {
            if (i)
                strbuf_puts(o, ",");
            print_value(&in, o, type & 0x1f);
        }
    }
    if (in.bad || schema.bad)
        strbuf_puts(o, " (cut)");
}

void etl_print(const struct etl_file *f, const struct etl_kind *k, const struct etl_record *r,
               struct strbuf *o)
{
    if (k->event) {
        print_table(k->event, r, o);
    } else if (k->header == ETL_TRACELOGGING) {
        print_own_fields(r, o);
    } else {
        struct bytes in = bytes_of(r->payload, r->payload_size);
        print_bytes(&in, o, r->payload_size < 32 ? r->payload_size : 32);
    }
}
