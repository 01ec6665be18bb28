/* SPDX-License-Identifier: MIT */
/* Event headers of ETL files. */
#include <endian.h>
#include <string.h>

#include "cpu/etl/etl.h"

static inline uint16_t rd16(const uint8_t *p)
{
    uint16_t v;

    memcpy(&v, p, 2);
    return le16toh(v);
}

static inline uint32_t rd32(const uint8_t *p)
{
    uint32_t v;

    memcpy(&v, p, 4);
    return le32toh(v);
}

static inline uint64_t rd64(const uint8_t *p)
{
    uint64_t v;

    memcpy(&v, p, 8);
    return le64toh(v);
}

enum {
    H_SYSTEM32 = 1,
    H_SYSTEM64,
    H_COMPACT32,
    H_COMPACT64,
    H_FULL32 = 10,
    H_INSTANCE32,
    H_TIMED,
    H_ERROR,
    H_WNODE,
    H_MESSAGE,
    H_PERFINFO32,
    H_PERFINFO64,
    H_EVENT32,
    H_EVENT64,
    H_FULL64,
    H_INSTANCE64,
};

static int system_event(const uint8_t *d, struct etl_record *r, uint32_t header, int type)
{
    r->header = ETL_CLASSIC;
    r->version = d[0];
    r->type = d[6];
    r->group = d[7];
    r->tid = (int32_t)rd32(d + 8);
    r->pid = (int32_t)rd32(d + 12);
    r->time = rd64(d + 16);
    r->pointer_size = type == H_SYSTEM32 || type == H_COMPACT32 ? 4 : 8;
    r->payload = d + header;
    r->payload_size = r->size - header;
    return ETL_EVENT;
}

static int perfinfo_event(const uint8_t *d, struct etl_record *r, int type, const char **why)
{
    /* counters of the processor follow the header when the version says so */
    uint32_t header = 16 + 8u * (d[1] & 7) + (d[1] & 0x80 ? 8 : 0);

    if (r->size < header) {
        *why = "its counters do not fit";
        return ETL_BAD;
    }
    r->header = ETL_CLASSIC;
    r->version = d[0];
    r->type = d[6];
    r->group = d[7];
    r->time = rd64(d + 8);
    r->pointer_size = type == H_PERFINFO32 ? 4 : 8;
    r->payload = d + header;
    r->payload_size = r->size - header;
    return ETL_EVENT;
}

static int full_event(const uint8_t *d, struct etl_record *r, int type)
{
    r->header = ETL_GUID;
    r->type = d[4];
    r->id = d[4];
    r->version = d[6];
    r->tid = (int32_t)rd32(d + 8);
    r->pid = (int32_t)rd32(d + 12);
    r->time = rd64(d + 16);
    r->guid = d + 24;
    r->pointer_size = type == H_FULL32 ? 4 : 8;
    r->payload = d + 48;
    r->payload_size = r->size - 48;
    return ETL_EVENT;
}

/* Extended items: {u16, u16 type, u16 link, u16 size}, data padded to 8; bit 0 of link says that another follows. */
static int extended_items(const uint8_t *d, struct etl_record *r, uint32_t *at, const char **why)
{
    for (;;) {
        uint16_t type, link, size;
        if (r->size - *at < 8) {
            *why = "an extended item is cut";
            return ETL_BAD;
        }
        type = rd16(d + *at + 2);
        link = rd16(d + *at + 4);
        size = rd16(d + *at + 6);
        *at += 8;
        if (size > r->size - *at) {
            *why = "an extended item reaches past its event";
            return ETL_BAD;
        }
        if (type == 11) {
            r->schema = d + *at;
            r->schema_size = size;
        } else if (type == 12) {
            r->traits = d + *at;
            r->traits_size = size;
        }
        *at += (size + 7u) & ~7u;
        if (*at > r->size)
            *at = r->size;
        if (!(link & 1))
            return ETL_EVENT;
    }
}

static int manifest_event(const uint8_t *d, struct etl_record *r, int type, const char **why)
{
    uint32_t at = 80;

    r->header = ETL_MANIFEST;
    r->tid = (int32_t)rd32(d + 8);
    r->pid = (int32_t)rd32(d + 12);
    r->time = rd64(d + 16);
    r->guid = d + 24;
    r->id = rd16(d + 40);
    r->version = d[42];
    r->pointer_size = type == H_EVENT32 ? 4 : 8;
    if ((rd16(d + 4) & 1) && extended_items(d, r, &at, why) == ETL_BAD)
        return ETL_BAD;
    if (r->schema)
        r->header = ETL_TRACELOGGING;
    r->payload = d + at;
    r->payload_size = r->size - at;
    return ETL_EVENT;
}

/* Smallest size of an event with each header. */
static const uint8_t smallest[22] = {
    [H_SYSTEM32] = 32, [H_SYSTEM64] = 32,  [H_COMPACT32] = 24,  [H_COMPACT64] = 24,
    [H_FULL32] = 48,   [H_INSTANCE32] = 8, [H_TIMED] = 8,       [H_ERROR] = 8,
    [H_WNODE] = 8,     [H_MESSAGE] = 8,    [H_PERFINFO32] = 16, [H_PERFINFO64] = 16,
    [H_EVENT32] = 80,  [H_EVENT64] = 80,   [H_FULL64] = 48,     [H_INSTANCE64] = 8,
};

int etl_parse(const uint8_t *d, size_t left, struct etl_record *r, const char **why)
{
    int type;

    if (left < 8)
        return ETL_END;
    *r = (struct etl_record){.tid = -1, .pid = -1, .pointer_size = 8};
    if (rd32(d) == UINT32_MAX)
        return ETL_END;
    if ((d[3] & 0xc0) != 0xc0) {
        /* trace messages and the like: their first word is the size */
        if (d[3] != 0x90 && d[3] != 0xb0) {
            *why = "it has no known header";
            return ETL_BAD;
        }
        r->header = ETL_MESSAGE;
        r->size = rd16(d);
        if (r->size < 8 || r->size > left) {
            *why = "its size does not fit";
            return ETL_BAD;
        }
        r->payload = d + 8;
        r->payload_size = r->size - 8;
        return ETL_EVENT;
    }
    type = d[2];
    if (type >= 22 || !smallest[type]) {
        *why = "its header type is unknown";
        return ETL_BAD;
    }
    r->size = type <= H_COMPACT64 || type == H_PERFINFO32 || type == H_PERFINFO64 ? rd16(d + 4) : rd16(d);
    if (r->size < smallest[type] || r->size > left) {
        *why = "its size does not fit";
        return ETL_BAD;
    }
    switch (type) {
    case H_SYSTEM32:
    case H_SYSTEM64:
        return system_event(d, r, 32, type);
    case H_COMPACT32:
    case H_COMPACT64:
        return system_event(d, r, 24, type);
    case H_PERFINFO32:
    case H_PERFINFO64:
        return perfinfo_event(d, r, type, why);
    case H_FULL32:
    case H_FULL64:
        return full_event(d, r, type);
    case H_EVENT32:
    case H_EVENT64:
        return manifest_event(d, r, type, why);
    default:
        r->header = ETL_SKIPPED;
        r->id = (uint16_t)type;
        r->payload = d + 8;
        r->payload_size = r->size - 8;
        return ETL_EVENT;
    }
}
