/* Corners of Direct3D and of the ABI that a picture shows: what is drawn when little, nothing or too much is bound or set. */
#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <aerogpu/alloc.h>
#include <aerogpu/pci.h>

#include "abi/d3d9_states.h"
#include "engine_rig.h"

/* ---- building blocks ---------------------------------------------------------------------------------------------- */

static void coloured_with(struct rig *r, const char *vs, const char *ps, const struct rig_vertex *v,
                          uint32_t n)
{
    static const struct rig_element e[] = {{"POSITION", 0, 2, 0, 0, 0, 0}, {"COLOR", 0, 2, 0, 16, 0, 0}};

    rig_make_shader(r, 10, AEROGPU_SHADER_STAGE_VERTEX, 0, vs);
    rig_make_shader(r, 11, AEROGPU_SHADER_STAGE_PIXEL, 0, ps);
    ABI_EMIT(&r->b, BIND_SHADERS, bind_shaders, .vs = 10, .ps = 11);
    rig_make_layout(r, 12, e, 2);
    rig_make_buffer(r, 1, v, n * (uint32_t)sizeof(*v));
    rig_bind_vb(r, 0, 1, sizeof(*v), 0);
}

static void coloured(struct rig *r, const struct rig_vertex *v, uint32_t n)
{
    coloured_with(r, "colour_vs.dxbc", "colour_ps.dxbc", v, n);
}

static void show(struct rig *r, uint32_t handle)
{
    rig_set_target(r, handle, 0);
    rig_present(r);
    rig_run_ok(r);
}

/* ---- tests -------------------------------------------------------------------------------------------------------- */

static void targets_that_the_shader_does_not_write_stay(void **state)
{
    struct rig *r = rig_of(state);
    const struct rig_vertex v[] = {RECT(-1, 0, 0.5f, 1, 0, RED)};

    rig_make_target(r);
    rig_make_target_of(r, 102, AEROGPU_FORMAT_R8G8B8A8_UNORM, 64, 64);
    rig_set_target(r, 102, 0);
    rig_clear(r, 1, 0x336699CC, 0, 0);
    coloured(r, v, 6);
    ABI_EMIT(&r->b, SET_RENDER_TARGETS, set_render_targets, .color_count = 2, .colors = {TARGET, 102});
    rig_draw(r, 6, 0);
    show(r, 102);
    assert_int_equal(rig_pixel(r, 5, 5), 0x336699CC);
    assert_int_equal(rig_pixel(r, 60, 60), 0x336699CC);
    show(r, TARGET);
    assert_int_equal(rig_pixel(r, 5, 5), RED);
    assert_int_equal(rig_pixel(r, 60, 5), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(targets_that_the_shader_does_not_write_stay, rig_each),
    };

    return cmocka_run_group_tests(tests, rig_group_setup, rig_group_teardown);
}
