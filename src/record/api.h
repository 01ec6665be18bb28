/* SPDX-License-Identifier: MIT */
/* api.h: the tables of an API that is recorded: every method, type, enum and interface, as data.
 *
 * Everything in this room that reads, writes or prints calls walks these tables and knows nothing else of the API: a second
 * one is a `struct api`, the thunks that encode its calls, and a player.
 *
 * A method's arguments travel in the order of `in`, then its answers in the order of `out`. Each field says how:
 *   VALUE    the value itself            FIXED   `count` values
 *   ONE      one byte 0 or 1, the value  ARRAY   varint n+1 (0: NULL), n values
 *   BYTES    a byte block (wire.h)       STREAM  varint n+1, n pairs of a number and the value that `cases` has for it
 *   OPAQUE   one byte: was it NULL       IGNORE  nothing
 *   UNION    the case that field number `disc` of the same struct selects
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define API_MAX_METHODS   2048   /* the recorder keeps a few words for each in every thread */
#define API_IFACE_UNKNOWN 0xffff /* no index of an interface */
#define API_HASHES        64     /* frames of which what became of them may still be on its way */

enum api_kind {
    API_KIND_U8,
    API_KIND_U16,
    API_KIND_U32,
    API_KIND_I32,
    API_KIND_U64,
    API_KIND_I64,
    API_KIND_F32,
    API_KIND_HRESULT, /* 0 is success, failures have the top bit set */
    API_KIND_GUID,
    API_KIND_HANDLE, /* of an event: its number */
    API_KIND_STR,
    API_KIND_WSTR,
    API_KIND_IID, /* the GUID of an interface: index + 1, or 0 and the GUID */
    API_KIND_VA,  /* an address in an object: number and offset */
    API_KIND_CPU, /* a place in an object: number and index */
    API_KIND_GPU, /* the same for another span of handles */
    API_KIND_ENUM,
    API_KIND_OBJECT,
    API_KIND_STRUCT,
};

enum api_mode {
    API_MODE_VALUE,
    API_MODE_FIXED,
    API_MODE_ONE,
    API_MODE_ARRAY,
    API_MODE_BYTES,
    API_MODE_STREAM,
    API_MODE_OPAQUE,
    API_MODE_IGNORE,
    API_MODE_UNION,
};

#define API_DISC_ALWAYS 0xff /* a union of which the first case always travels */

struct api_case;
struct api_type;

struct api_field {
    const char *name;
    const struct api_type *type; /* NULL where the mode has no values of a type */
    uint8_t mode;
    uint8_t disc;   /* UNION: index of the discriminant among the fields of the struct */
    uint32_t count; /* FIXED */
    const struct api_case *cases;
    uint32_t num_cases;
};

struct api_case {
    int64_t value;
    struct api_field field;
};

struct api_enum {
    uint32_t value;
    const char *name;
};

struct api_type {
    enum api_kind kind;
    const char *name;
    const struct api_field *fields; /* STRUCT */
    uint32_t num_fields;            /* STRUCT; ENUM: 1 if its members are flags */
    const struct api_enum *values;  /* ENUM */
    uint32_t num_values;
    uint16_t iface; /* OBJECT: index in the interfaces */
};

enum api_method_flags {
    API_QUERY = 1,    /* only asks: playing skips it */
    API_REFUSE = 2,   /* recorded, but cannot be played */
    API_LATE = 4,     /* takes its place in the order when it returns */
    API_RESULT = 8,   /* has an answer in the file */
    API_FRAME = 16,   /* ends a frame */
    API_NAMES = 32,   /* its string becomes the name of the object that it is made on */
    API_ENDS = 64,    /* answers 0 when that object is gone */
    API_VARIES = 128, /* may be another one in each run of a program: no difference between recordings */
    API_COUNTS = 256, /* its answer may be */
    API_MARK = 512,   /* worth a mark on a time line */
    /* What is recorded into an object first and executed later: */
    API_LIST = 1024,     /* becomes part of the recording of the object that it is made on */
    API_AFRESH = 2048,   /* and begins it anew */
    API_EXECUTES = 4096, /* executes those of the objects among its arguments */
    API_CLOSES = 8192,   /* ends the recording of the object that it is made on */
    API_OPEN =
        1
        << 14, /* makes one of which the recording is begun, with the objects among its arguments, as API_AFRESH does */
    /* What is left of a call when it has been made (edit/trace_follow.h). Without any of these: its effect stays as long as the
     * objects that it mentions. */
    API_PASSES = 1 << 15,  /* nothing, but for what is in objects */
    API_KEEPS = 1 << 16,   /* one reference more to the object that it is made on; the answer is how many */
    API_CASTS = 1 << 17,   /* may answer with an object that is there, under an interface that matters */
    API_ONCE = 1 << 18,    /* the first one on an object answers what all answer */
    API_DEFINES = 1 << 19, /* what its last CPU place holds */
    API_COPIES =
        1
        << 20, /* what places hold: CPU places to copy to, then those to copy from. Of a single one, the number in
                            * front of it says how many in a row; of arrays, the array of numbers behind, if there is one */
    API_MAPS = 1 << 21,   /* memory of the object that it is made on is the program's until as many */
    API_UNMAPS = 1 << 22, /* of these */
    API_SETS = 1 << 23,   /* the method's `state`, until the next call that sets it or */
    API_CLEARS = 1 << 24, /* clears it */
    API_SAYS = 1 << 25,   /* has words of the program's, for people: a number and bytes */
};

struct api_method {
    const char *iface, *name; /* NULL: never recorded */
    const struct api_field *in;
    uint32_t num_in;
    const struct api_field *out;
    uint32_t num_out;
    uint32_t flags;
    uint16_t iface_index;
    uint16_t slot;
    uint8_t state; /* SETS, CLEARS: which, from 1 */
    uint8_t
        state_of; /* what has it: 1 + the index in `in` of a number that is not 0; 0: the object that it is made on */
};

struct api_guid {
    uint32_t a;
    uint16_t b, c;
    uint8_t d[8];
};

struct api_iface {
    const char *name;
    uint16_t base; /* API_IFACE_UNKNOWN: none */
    struct api_guid iid;
    uint16_t slots;
    const char *skip; /* why its methods are not recorded, or NULL */
};

struct api {
    const char *name;   /* in sentences */
    const char *magic;  /* the eight bytes that its files begin with */
    const char *prefix; /* of the names of interfaces: left out where people read */
    const char *tables; /* what they are built from, for those who have a recording made with others */
    uint64_t schema;    /* changes whenever the tables do */
    const struct api_method *methods; /* by number; 0 is none */
    uint32_t num_methods;
    const struct api_iface *ifaces;
    uint32_t num_ifaces;
    /* For the page, regular expressions: names of methods that draw, set state, write otherwise or end a frame; and names of
     * types that are recorded first and executed later; methods that begin and end what API_SAYS gives a name to, or NULL. */
    struct {
        const char *draw, *state, *write, *frame, *list, *begin, *end;
    } words;
    /* The words of a call with API_SAYS, without an end; as UTF-8, unless the program's bytes are none: how many. NULL: no method has any. */
    size_t (*said)(uint64_t kind, const uint8_t *bytes, size_t size, char *text, size_t room);
    /* Calls that the recorder makes up, by number: a sentence; (object, part, offset, bytes, size) that the program wrote into
     * mapped memory; (object, offset, size, hash) of what it could read there; (frames ago, ...) what became of a frame, at most
     * API_HASHES behind it. And what an editor makes up: (object, part, state, bytes, size) that is in it. */
    uint16_t note, memory_write, readback_hash, frame_hash, contents;
};

/* Whether `iface` is `base` or derives from it. */
static inline bool api_iface_is(const struct api *api, uint16_t iface, uint16_t base)
{
    for (; iface < api->num_ifaces; iface = api->ifaces[iface].base)
        if (iface == base)
            return true;
    return false;
}

/* The name of an interface of the table, without what all of them begin with. */
const char *api_short_name(const struct api *api, uint16_t iface);
