/* table.h: what gen.py made of the IDL files, as data: every recorded method, type, enum and interface.
 *
 * A method's arguments travel in the order of `in`, then its answers in the order of `out`. Each field says how:
 *   VALUE    the value itself            FIXED   `count` values
 *   ONE      one byte 0 or 1, the value  ARRAY   varint n+1 (0: NULL), n values
 *   BYTES    a byte block (wire.h)       STREAM  pipeline stream: varint n+1, n pairs of type and value
 *   OPAQUE   one byte: was it NULL       IGNORE  nothing
 *   UNION    the case that field number `disc` of the same struct selects
 */
#ifndef D3D12_TABLE_H_
#define D3D12_TABLE_H_

#include <stdint.h>

enum d12_kind {
    D12_KIND_U8,
    D12_KIND_U16,
    D12_KIND_U32,
    D12_KIND_I32,
    D12_KIND_U64,
    D12_KIND_I64,
    D12_KIND_F32,
    D12_KIND_HRESULT,
    D12_KIND_GUID,
    D12_KIND_HANDLE,
    D12_KIND_STR,
    D12_KIND_WSTR,
    D12_KIND_IID,
    D12_KIND_VA,
    D12_KIND_CPU,
    D12_KIND_GPU,
    D12_KIND_ENUM,
    D12_KIND_OBJECT,
    D12_KIND_STRUCT,
};

enum d12_mode {
    D12_MODE_VALUE,
    D12_MODE_FIXED,
    D12_MODE_ONE,
    D12_MODE_ARRAY,
    D12_MODE_BYTES,
    D12_MODE_STREAM,
    D12_MODE_OPAQUE,
    D12_MODE_IGNORE,
    D12_MODE_UNION,
};

#define D12_DISC_ALWAYS 0xff /* a union of which the first case always travels */

struct d12_case;

struct d12_field {
    const char *name;
    uint16_t type; /* index in d12_types */
    uint8_t mode;
    uint8_t disc;   /* UNION: index of the discriminant among the fields of the struct */
    uint32_t count; /* FIXED */
    const struct d12_case *cases;
    uint32_t num_cases;
};

struct d12_case {
    int64_t value;
    struct d12_field field;
};

struct d12_enum {
    uint32_t value;
    const char *name;
};

struct d12_type {
    enum d12_kind kind;
    const char *name;
    const struct d12_field *fields; /* STRUCT */
    uint32_t num_fields;            /* STRUCT; ENUM: 1 if its members are flags */
    const struct d12_enum *values;  /* ENUM */
    uint32_t num_values;
    uint16_t iface; /* OBJECT: index in d12_ifaces */
};

enum d12_method_flags {
    D12_QUERY = 1,  /* only asks: playing skips it */
    D12_REFUSE = 2, /* recorded, but cannot be played */
    D12_LATE = 4,   /* takes its place in the order when it returns */
    D12_RESULT = 8, /* has an answer in the file */
};

struct d12_method_info {
    const char *iface, *name; /* NULL: never recorded */
    const struct d12_field *in;
    uint32_t num_in;
    const struct d12_field *out;
    uint32_t num_out;
    uint32_t flags;
    uint16_t iface_index;
    uint16_t slot;
};

struct d12_guid {
    uint32_t a;
    uint16_t b, c;
    uint8_t d[8];
};

struct d12_iface_info {
    const char *name;
    uint16_t base; /* 0xffff: none */
    struct d12_guid iid;
    uint16_t slots;
    const char *skip; /* why its methods are not recorded, or NULL */
};

extern const struct d12_type d12_types[];
extern const struct d12_method_info d12_methods[];
extern const struct d12_iface_info d12_ifaces[];
extern const uint64_t d12_schema; /* changes whenever the tables do */

/* Index of the interface with this IID, or 0xffff. `guid` points to 16 bytes. */
uint16_t d12_iface_of(const void *guid);

/* Whether `iface` is `base` or derives from it. */
int d12_iface_is(uint16_t iface, uint16_t base);

/* Types of the subobject `type` of a pipeline stream, as an index in d12_types, or -1 if unknown. */
int d12_subobject_type(uint32_t type);

#endif
