/* SPDX-License-Identifier: MIT */
#include "toy_api.h"

#define VALUE(n, t)                                                                                          \
    {                                                                                                        \
        n, &t, API_MODE_VALUE, 0, 0, 0, 0                                                                    \
    }
#define ROWS(a) a, sizeof(a) / sizeof((a)[0])

static const struct api_type u32 = {API_KIND_U32, "u32", 0, 0, 0, 0, 0};
static const struct api_type u64 = {API_KIND_U64, "u64", 0, 0, 0, 0, 0};
static const struct api_type f32 = {API_KIND_F32, "f32", 0, 0, 0, 0, 0};
static const struct api_type str = {API_KIND_STR, "str", 0, 0, 0, 0, 0};
static const struct api_type address = {API_KIND_VA, "address", 0, 0, 0, 0, 0};
static const struct api_type thing = {API_KIND_OBJECT, "ToyThing", 0, 0, 0, 0, TOY_IFACE_Thing};
static const struct api_type desk = {API_KIND_OBJECT, "ToyDesk", 0, 0, 0, 0, TOY_IFACE_Desk};
static const struct api_type pen = {API_KIND_OBJECT, "ToyPen", 0, 0, 0, 0, TOY_IFACE_Pen};

static const struct api_enum styles[] = {{1, "TOY_DASHED"}, {2, "TOY_RED"}};
static const struct api_type style = {API_KIND_ENUM, "style", 0, 1, ROWS(styles), 0};

static const struct api_field point_fields[] = {VALUE("x", f32), VALUE("y", f32)};
static const struct api_type point = {API_KIND_STRUCT, "point", ROWS(point_fields), 0, 0, 0};

/* What follows a line: rows of a number and its value, as extension chains are. */
static const struct api_case extras[] = {{1, VALUE("width", f32)}, {7, VALUE("end", point)}};

static const struct api_field note[] = {VALUE("text", str)};
static const struct api_field write[] = {VALUE("thing", thing),
                                         VALUE("part", u32),
                                         VALUE("offset", u64),
                                         {"bytes", 0, API_MODE_BYTES, 0, 0, 0, 0},
                                         VALUE("size", u64)};
static const struct api_field hash[] = {VALUE("thing", thing), VALUE("offset", u64), VALUE("size", u64),
                                        VALUE("hash", u64)};
static const struct api_field open_out[] = {VALUE("return", desk)};
static const struct api_field pen_in[] = {VALUE("style", style)};
static const struct api_field pen_out[] = {VALUE("return", pen)};
static const struct api_field name[] = {VALUE("name", str)};
static const struct api_field line[] = {{"points", &point, API_MODE_ARRAY, 0, 0, 0, 0},
                                        {"extras", 0, API_MODE_STREAM, 0, 0, ROWS(extras)},
                                        VALUE("paper", address)};
static const struct api_field number[] = {VALUE("return", u32)};

static const struct api_method methods[TOY_NUM] = {
    [TOY_Note] = {"Toy", "Note", ROWS(note), 0, 0, 0, API_IFACE_UNKNOWN, 0},
    [TOY_MemoryWrite] = {"Toy", "MemoryWrite", ROWS(write), 0, 0, 0, API_IFACE_UNKNOWN, 0},
    [TOY_ReadbackHash] = {"Toy", "ReadbackHash", ROWS(hash), 0, 0, 0, API_IFACE_UNKNOWN, 0},
    [TOY_Open] = {"Toy", "Open", 0, 0, ROWS(open_out), API_LATE | API_RESULT, API_IFACE_UNKNOWN, 0},
    [TOY_NewPen] = {"ToyDesk", "NewPen", ROWS(pen_in), ROWS(pen_out), API_LATE | API_RESULT, TOY_IFACE_Desk,
                    2},
    [TOY_SetName] = {"ToyThing", "SetName", ROWS(name), 0, 0, API_NAMES, TOY_IFACE_Thing, 0},
    [TOY_Line] = {"ToyPen", "Line", ROWS(line), 0, 0, API_MARK | API_LIST, TOY_IFACE_Pen, 2},
    [TOY_Count] = {"ToyPen", "Count", 0, 0, ROWS(number), API_QUERY | API_LATE | API_RESULT, TOY_IFACE_Pen,
                   3},
    [TOY_Release] = {"ToyThing", "Release", 0, 0, ROWS(number), API_ENDS | API_COUNTS | API_RESULT,
                     TOY_IFACE_Thing, 1},
    [TOY_Turn] = {"ToyDesk", "Turn", 0, 0, 0, 0, API_FRAME | API_MARK, TOY_IFACE_Desk, 3},
};

static const struct api_iface ifaces[TOY_NUM_IFACES] = {
    [TOY_IFACE_Thing] = {"ToyThing", API_IFACE_UNKNOWN, {1, 0, 0, {0}}, 2, 0},
    [TOY_IFACE_Desk] = {"ToyDesk", TOY_IFACE_Thing, {2, 0, 0, {0}}, 4, 0},
    [TOY_IFACE_Pen] = {"ToyPen", TOY_IFACE_Thing, {3, 0, 0, {0}}, 4, 0},
};

const struct api toy_api = {
    .name = "toy",
    .magic = "TOYTRACE",
    .prefix = "Toy",
    .tables = "the same toy_api.c",
    .schema = 0x70795f31,
    .methods = methods,
    .num_methods = TOY_NUM,
    .ifaces = ifaces,
    .num_ifaces = TOY_NUM_IFACES,
    .words =
        "{\"name\": \"toy\", \"draw\": \"^Line$\", \"state\": \"^Set\", \"write\": \"^$\", \"list\": \"^$\","
        " \"frame\": \"^Turn$\"}",
    .note = TOY_Note,
    .memory_write = TOY_MemoryWrite,
    .readback_hash = TOY_ReadbackHash,
};
