/* SPDX-License-Identifier: MIT */
/* A cursor that is set by escapes, or by the operating system, appears in the registers; it is hidden afterwards. */
#include "dxgkrnl/pointer.h"
#include "suite.h"

/* The way that win32k's pointer takes: dxgkrnl, DxgkDdiSetPointerShape, DxgkDdiSetPointerPosition. */
static void hardware_pointer(struct suite *s)
{
    struct {
        struct dxgk_pointer p;
        uint32_t pixels[16 * 24];
    } p = {.p = {.source = s->source,
                 .x = 40,
                 .y = -2,
                 .visible = 1,
                 .shape = DXGK_POINTER_COLOR,
                 .width = 16,
                 .height = 24,
                 .pitch = 64,
                 .hot_x = 1,
                 .hot_y = 2}};
    D3DKMT_ESCAPE e = {.hAdapter = s->adapter,
                       .Type = (D3DKMT_ESCAPETYPE)DXGK_ESCAPE_POINTER,
                       .pPrivateDriverData = &p,
                       .PrivateDriverDataSize = sizeof(p)};
    struct aerogpu_escape_query_cursor q = {0};
    NTSTATUS st;

    for (int i = 0; i < 16 * 24; i++)
        p.pixels[i] = 0xFF0080FF;
    st = D3DKMTEscape(&e);
    if (st == STATUS_ACCESS_DENIED || st == STATUS_NOT_SUPPORTED)
        return; /* not ours to move, or the driver leaves it to software */
    CHECK_STATUS(s, st, "a hardware pointer of 16x24");
    CHECK_STATUS(s, SUITE_ESCAPE(s, QUERY_CURSOR, &q), "QUERY_CURSOR");
    p.p.shape = DXGK_POINTER_KEEP;
    p.p.visible = 0;
    CHECK_STATUS(s, D3DKMTEscape(&e), "hiding the hardware pointer");
    CHECK(s, q.enable == 1 && q.width == 16 && q.height == 24, "the pointer: enable %u, %ux%u", q.enable,
          q.width, q.height);
    CHECK(s, (int32_t)(q.x - q.hot_x) == 40 && (int32_t)(q.y - q.hot_y) == -2,
          "the pointer's corner is at %d,%d", (int32_t)(q.x - q.hot_x), (int32_t)(q.y - q.hot_y));
    CHECK_STATUS(s, SUITE_ESCAPE(s, QUERY_CURSOR, &q), "QUERY_CURSOR");
    CHECK(s, q.enable == 0, "CURSOR_ENABLE is %u after the pointer was hidden", q.enable);
}

void test_cursor_state_sanity(struct suite *s)
{
    struct aerogpu_escape_query_cursor q = {0};
    struct {
        struct aerogpu_escape_set_cursor_shape shape;
        uint32_t pixels[32 * 32];
    } shape = {.shape = {.width = 32,
                         .height = 32,
                         .hot_x = 3,
                         .hot_y = 4,
                         .pitch_bytes = 128,
                         .format = AEROGPU_FORMAT_B8G8R8A8_UNORM}};
    struct aerogpu_escape_set_cursor_position position = {.x = (uint32_t)-5, .y = 100};
    struct aerogpu_escape_set_cursor_visibility visible = {.visible = 1};

    CHECK_STATUS(s, SUITE_ESCAPE(s, QUERY_CURSOR, &q), "QUERY_CURSOR");
    CHECK(s, q.flags & AEROGPU_ESCAPE_FLAGS_VALID, "flags 0x%08X: not valid", q.flags);
    if (!(q.flags & 1)) {
        suite_skip(s, "the device has no cursor");
        return;
    }
    hardware_pointer(s);
    for (int i = 0; i < 32 * 32; i++)
        shape.pixels[i] = i % 32 > i / 32 ? 0 : 0xFFFFFFFF;
    CHECK_STATUS(s, suite_escape(s, AEROGPU_ESCAPE_OP_SET_CURSOR_SHAPE, &shape, sizeof(shape)),
                 "SET_CURSOR_SHAPE");
    CHECK_STATUS(s, SUITE_ESCAPE(s, SET_CURSOR_POSITION, &position), "SET_CURSOR_POSITION");
    CHECK_STATUS(s, SUITE_ESCAPE(s, SET_CURSOR_VISIBILITY, &visible), "SET_CURSOR_VISIBILITY");
    CHECK_STATUS(s, SUITE_ESCAPE(s, QUERY_CURSOR, &q), "QUERY_CURSOR");
    visible.visible = 0;
    CHECK_STATUS(s, SUITE_ESCAPE(s, SET_CURSOR_VISIBILITY, &visible), "SET_CURSOR_VISIBILITY");
    CHECK(s, q.enable == 1, "CURSOR_ENABLE is %u", q.enable);
    CHECK(s, (int32_t)q.x == -5 && (int32_t)q.y == 100, "the cursor is at %d,%d", (int32_t)q.x, (int32_t)q.y);
    CHECK(s, q.width == 32 && q.height == 32 && q.hot_x == 3 && q.hot_y == 4, "%ux%u, hot spot %u,%u",
          q.width, q.height, q.hot_x, q.hot_y);
    CHECK(s, q.pitch_bytes >= 128 && q.fb_gpa, "pitch %u, frame buffer 0x%llx", q.pitch_bytes,
          (unsigned long long)q.fb_gpa);
    CHECK_STATUS(s, SUITE_ESCAPE(s, QUERY_CURSOR, &q), "QUERY_CURSOR");
    CHECK(s, q.enable == 0, "CURSOR_ENABLE is %u after hiding", q.enable);
}
