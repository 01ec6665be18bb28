/* SPDX-License-Identifier: MIT */
#include "test.h"

#include <signal.h>
#include <stdio.h>
#include <unistd.h>

#include "kmd_painter.h"

void paint(struct painter *p, uint32_t colour)
{
    const float *c = (const float[]){colour >> 16 & 1, colour >> 8 & 1, colour & 1, 1};

    ABI_EMIT(&p->b, CLEAR, clear, .flags = AEROGPU_CLEAR_COLOR,
             .color_rgba = {abi_f32(c[0]), abi_f32(c[1]), abi_f32(c[2]), abi_f32(c[3])});
    ABI_EMIT(&p->b, COPY_TEXTURE2D, copy_texture2d, .dst_texture = 2, .src_texture = 1, .width = SIZE,
             .height = SIZE, .flags = AEROGPU_COPY_FLAG_WRITEBACK_DST);
}

uint32_t seen(struct painter *p)
{
    uint32_t pixel = *(uint32_t *)rig_lock(&p->x, p->picture);

    rig_unlock(&p->x, p->picture);
    return pixel;
}

void painter_of(struct painter *p, struct rig *r, uint64_t process, uint32_t user)
{
    struct aerogpu_alloc_priv_v2 priv = rig_priv(7, 0, SIZE, SIZE);

    *p = (struct painter){0};
    abi_builder_init(&p->b);
    assert_int_equal(dxgk_client_open(r->dxgk, &p->client, process, false), 0);
    if (user)
        dxgk_client_set_user(p->client, user, false);
    p->x = rig_own_context(r, p->client, &p->node);
    assert_int_equal(rig_allocate(&p->x, &priv, &p->picture), STATUS_SUCCESS);
    ABI_EMIT(&p->b, CREATE_TEXTURE2D, create_texture2d, .texture_handle = 1,
             .usage_flags = AEROGPU_RESOURCE_USAGE_RENDER_TARGET, .format = AEROGPU_FORMAT_B8G8R8A8_UNORM,
             .width = SIZE, .height = SIZE, .mip_levels = 1, .array_layers = 1);
    ABI_EMIT(&p->b, CREATE_TEXTURE2D, create_texture2d, .texture_handle = 2,
             .usage_flags = AEROGPU_RESOURCE_USAGE_TEXTURE, .format = AEROGPU_FORMAT_B8G8R8A8_UNORM,
             .width = SIZE, .height = SIZE, .mip_levels = 1, .array_layers = 1,
             .row_pitch_bytes = priv.row_pitch_bytes, .backing_alloc_id = 7);
    ABI_EMIT(&p->b, SET_RENDER_TARGETS, set_render_targets, .color_count = 1, .colors = {1});
    paint(p, 0x1);
    assert_int_equal(rig_render(&p->x, &p->b, &p->picture, 1, 1), STATUS_SUCCESS);
    assert_int_equal(rig_idle(&p->x), STATUS_SUCCESS);
    assert_int_equal(seen(p), BLUE);
    p->pid = machine_executor_pid(stack_machine(r->stack)); /* of who submitted last */
    assert_true(p->pid > 0);
}

void painter_up(struct painter *p, struct rig *r, uint64_t process)
{
    painter_of(p, r, process, 0);
}

void painter_down(struct painter *p)
{
    dxgk_client_close(p->client);
    abi_builder_finish(&p->b);
}

void frames(struct painter *p, unsigned n, int sig, pid_t victim)
{
    for (unsigned i = 0; i < n; i++) {
        paint(p, i & 1 ? 0x100 : 0x1);
        if (i == n / 2 && sig)
            kill(victim, sig);
        assert_int_equal(rig_render(&p->x, &p->b, &p->picture, 1, 1), STATUS_SUCCESS);
        assert_int_equal(rig_idle(&p->x), STATUS_SUCCESS);
        assert_int_equal(seen(p), i & 1 ? GREEN : BLUE);
    }
}

bool gone(pid_t pid)
{
    char path[40];

    snprintf(path, sizeof(path), "/proc/%d", (int)pid);
    for (int i = 0; i < 1000 && !access(path, F_OK); i++)
        usleep(10000);
    return access(path, F_OK) != 0;
}
