/* SPDX-License-Identifier: MIT */
/* etl_table.h: the Windows events that are decoded, generated from etl_events.json at build time. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "cpu/model/event.h"

enum etl_type { ETL_U8, ETL_U16, ETL_U32, ETL_U64, ETL_I16, ETL_I32, ETL_PTR, ETL_UTF16Z, ETL_REST };

/* How sure the layout is. */
enum etl_source { ETL_READ, ETL_INFERRED, ETL_UNVERIFIED };

struct etl_field {
    const char *name;
    uint8_t type, since; /* first version of the event that has it */
    int8_t count;        /* index of the field with the array's length, -1 = a single value */
    uint8_t hex;
};

/* Operands other than fields. */
enum { ETL_OP_NONE = -1, ETL_OP_CPU = -2, ETL_OP_LEFT = -3, ETL_OP_HUNDRED = -4 };

struct etl_event {
    const char *name;
    uint8_t provider; /* index */
    uint16_t id;
    uint8_t min_version, max_version; /* newer versions are read as max_version, and so marked */
    uint8_t source;
    const struct etl_field *fields;
    uint8_t num_fields;
    uint8_t kind, irq;    /* of the cpu_event that it becomes */
    int8_t a, b, c;       /* fields that become its operands, or ETL_OP_* */
    int8_t group, number; /* fields with the processor that it is about, -1 = the one that recorded it */
};

struct etl_provider {
    const char *name;
    uint8_t guid[16];
    int16_t group; /* of classic events, -1 = a manifest provider */
};

struct etl_named {
    const char *provider, *name;
    uint8_t kind;
};

extern const struct etl_event etl_events[];
extern const uint32_t etl_num_events;
extern const struct etl_provider etl_providers[];
extern const struct etl_named etl_named[];
extern const uint32_t etl_num_named;
