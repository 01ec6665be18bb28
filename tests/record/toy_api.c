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
static const struct api_type sheet = {API_KIND_OBJECT, "ToySheet", 0, 0, 0, 0, TOY_IFACE_Sheet};
static const struct api_type place = {API_KIND_CPU, "place", 0, 0, 0, 0, 0};
static const struct api_type bell = {API_KIND_HANDLE, "bell", 0, 0, 0, 0, 0};
static const struct api_type result = {API_KIND_HRESULT, "result", 0, 0, 0, 0, 0};
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
static const struct api_field contents[] = {VALUE("thing", thing),
                                            VALUE("part", u32),
                                            VALUE("state", u32),
                                            {"bytes", 0, API_MODE_BYTES, 0, 0, 0, 0},
                                            VALUE("size", u64)};
static const struct api_field frame_hash[] = {VALUE("ago", u32), VALUE("hash", u32)};
static const struct api_field with_pen[] = {VALUE("pen", pen)};
static const struct api_field sheet_out[] = {VALUE("return", sheet)};
static const struct api_field end_out[] = {VALUE("return", result)};
static const struct api_field show[] = {{"sheets", &sheet, API_MODE_ARRAY, 0, 0, 0, 0}};
static const struct api_field pin[] = {VALUE("pen", pen), VALUE("place", place)};
static const struct api_field repin[] = {VALUE("n", u32), VALUE("to", place), VALUE("from", place)};
static const struct api_field repin_all[] = {VALUE("num_to", u32),
                                             {"to", &place, API_MODE_ARRAY, 0, 0, 0, 0},
                                             {"to_sizes", &u32, API_MODE_ARRAY, 0, 0, 0, 0},
                                             VALUE("num_from", u32),
                                             {"from", &place, API_MODE_ARRAY, 0, 0, 0, 0},
                                             {"from_sizes", &u32, API_MODE_ARRAY, 0, 0, 0, 0}};
static const struct api_field ring[] = {VALUE("bell", bell)};
static const struct api_field number[] = {VALUE("return", u32)};

static const struct api_method methods[TOY_NUM] = {
    [TOY_Note] = {"Toy", "Note", ROWS(note), 0, 0, 0, API_IFACE_UNKNOWN, 0},
    [TOY_MemoryWrite] = {"Toy", "MemoryWrite", ROWS(write), 0, 0, API_PASSES, API_IFACE_UNKNOWN, 0},
    [TOY_ReadbackHash] = {"Toy", "ReadbackHash", ROWS(hash), 0, 0, API_PASSES, API_IFACE_UNKNOWN, 0},
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
    [TOY_AddRef] = {"ToyThing", "AddRef", 0, 0, ROWS(number), API_KEEPS | API_COUNTS | API_RESULT,
                    TOY_IFACE_Thing, 1},
    [TOY_Contents] = {"Toy", "Contents", ROWS(contents), 0, 0, API_PASSES, API_IFACE_UNKNOWN, 0},
    [TOY_FrameHash] = {"Toy", "FrameHash", ROWS(frame_hash), 0, 0, API_PASSES, API_IFACE_UNKNOWN, 0},
    [TOY_NewSheet] = {"ToyDesk", "NewSheet", ROWS(with_pen), ROWS(sheet_out),
                      API_OPEN | API_LATE | API_RESULT, TOY_IFACE_Desk, 4},
    [TOY_Begin] = {"ToySheet", "Begin", ROWS(with_pen), 0, 0, API_LIST | API_AFRESH, TOY_IFACE_Sheet, 2},
    [TOY_Stroke] = {"ToySheet", "Stroke", ROWS(with_pen), 0, 0, API_LIST, TOY_IFACE_Sheet, 3},
    [TOY_End] = {"ToySheet", "End", 0, 0, ROWS(end_out), API_LIST | API_CLOSES | API_RESULT, TOY_IFACE_Sheet,
                 4},
    [TOY_Show] = {"ToyDesk", "Show", ROWS(show), 0, 0, API_EXECUTES, TOY_IFACE_Desk, 5},
    [TOY_Pin] = {"ToyDesk", "Pin", ROWS(pin), 0, 0, API_DEFINES, TOY_IFACE_Desk, 6},
    [TOY_Repin] = {"ToyDesk", "Repin", ROWS(repin), 0, 0, API_COPIES, TOY_IFACE_Desk, 7},
    [TOY_RepinAll] = {"ToyDesk", "RepinAll", ROWS(repin_all), 0, 0, API_COPIES, TOY_IFACE_Desk, 8},
    [TOY_Lift] = {"ToyDesk", "Lift", 0, 0, ROWS(end_out), API_MAPS | API_RESULT, TOY_IFACE_Desk, 9},
    [TOY_Lower] = {"ToyDesk", "Lower", 0, 0, 0, 0, API_UNMAPS, TOY_IFACE_Desk, 10},
    [TOY_Where] = {"ToyDesk", "Where", 0, 0, ROWS(number), API_ONCE | API_RESULT, TOY_IFACE_Desk, 11},
    [TOY_Ring] = {"ToyDesk", "Ring", ROWS(ring), 0, 0, API_SETS, TOY_IFACE_Desk, 12, 1, 1},
    [TOY_Hush] = {"ToyDesk", "Hush", ROWS(ring), 0, 0, API_CLEARS, TOY_IFACE_Desk, 13, 1, 1},
};

static const struct api_iface ifaces[TOY_NUM_IFACES] = {
    [TOY_IFACE_Thing] = {"ToyThing", API_IFACE_UNKNOWN, {1, 0, 0, {0}}, 2, 0},
    [TOY_IFACE_Desk] = {"ToyDesk", TOY_IFACE_Thing, {2, 0, 0, {0}}, 14, 0},
    [TOY_IFACE_Pen] = {"ToyPen", TOY_IFACE_Thing, {3, 0, 0, {0}}, 4, 0},
    [TOY_IFACE_Sheet] = {"ToySheet", TOY_IFACE_Thing, {4, 0, 0, {0}}, 5, 0},
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
    .words = {.draw = "^Line$", .state = "^Set", .write = "^$", .frame = "^Turn$", .list = "^$"},
    .note = TOY_Note,
    .memory_write = TOY_MemoryWrite,
    .readback_hash = TOY_ReadbackHash,
    .frame_hash = TOY_FrameHash,
    .contents = TOY_Contents,
};
