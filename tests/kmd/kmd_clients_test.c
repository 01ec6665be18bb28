/* SPDX-License-Identifier: MIT */
/* One executor for each client: what one loses, others have not even noticed. */
#include "test.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "aerogpu/ext.h"
#include "dxgkrnl/progress.h"
#include "kmd_painter.h"

/* Killed from outside, or by a fault of its own: its client loses its device, and every frame of the other is right. */
TEST(an_executor_that_dies_is_one_clients_loss)
{
    static const int signals[] = {SIGKILL, SIGSEGV, SIGABRT};
    struct painter a, b;
    struct rig r = {0};

    rig_up(&r, LIVE);
    painter_up(&b, &r, 301);
    for (unsigned i = 0; i < sizeof(signals) / sizeof(signals[0]); i++) {
        painter_up(&a, &r, 400 + i);
        assert_int_not_equal(a.pid, b.pid);
        frames(&b, 60, signals[i], a.pid);
        assert_true(gone(a.pid));
        assert_int_equal(rig_state(&b.x), D3DKMT_DEVICEEXECUTION_ACTIVE);
        paint(&a, 0x1); /* onto what is no more */
        assert_int_equal(rig_render(&a.x, &a.b, &a.picture, 1, 1), STATUS_SUCCESS);
        assert_int_equal(rig_idle(&a.x), STATUS_DEVICE_REMOVED);
        frames(&b, 4, 0, 0);
        painter_down(&a);
    }
    assert_int_equal(dxgk_event_count(r.dxgk, 4101), 0);
    painter_down(&b);
    rig_down(&r);
}

/* What the driver submits itself for a client that has lost its executor fails, with the fence that another's work has. */
TEST(what_the_driver_clears_away_is_nobodys_fault)
{
    struct rig_context more;
    struct painter a, b;
    struct rig r = {0};

    rig_up(&r, LIVE);
    painter_up(&b, &r, 301);
    painter_up(&a, &r, 400);
    more = rig_context(&r, a.client);
    ABI_EMIT(&a.b, CREATE_BUFFER, create_buffer, .buffer_handle = 1, .size_bytes = 4096);
    assert_int_equal(rig_render(&more, &a.b, NULL, 0, 0), STATUS_SUCCESS);
    assert_int_equal(rig_idle(&more), STATUS_SUCCESS);
    kill(a.pid, SIGKILL);
    assert_true(gone(a.pid));
    paint(&a, 0x1);
    assert_int_equal(rig_render(&a.x, &a.b, &a.picture, 1, 1), STATUS_SUCCESS);
    assert_int_equal(rig_idle(&a.x), STATUS_DEVICE_REMOVED);
    kill(b.pid, SIGSTOP);
    paint(&b, 0x100);
    assert_int_equal(rig_render(&b.x, &b.b, &b.picture, 1, 1), STATUS_SUCCESS);
    rig_context_destroy(&more);
    kill(b.pid, SIGCONT);
    assert_int_equal(rig_idle(&b.x), STATUS_SUCCESS);
    assert_int_equal(seen(&b), GREEN);
    painter_down(&a);
    painter_down(&b);
    rig_down(&r);
}

/* Though nothing of it is lost, nobody is to wait for another process. */
TEST(an_executor_that_dies_before_its_first_work_is_a_loss)
{
    struct dxgk_client *client;
    struct machine_stats stats;
    struct rig_context x;
    struct abi_builder b;
    struct rig r = {0};

    rig_up(&r, LIVE);
    assert_int_equal(dxgk_client_open(r.dxgk, &client, 400, false), 0);
    x = rig_context(&r, client);
    assert_int_equal(machine_kill_executor(stack_machine(r.stack)), 0);
    for (int i = 0; i < 1000; i++) {
        machine_get_stats(stack_machine(r.stack), &stats);
        if (stats.executor_deaths)
            break;
        usleep(10000);
    }
    assert_int_equal(stats.executor_deaths, 1);
    abi_builder_init(&b);
    ABI_EMIT(&b, NOP, nop);
    assert_int_equal(rig_render(&x, &b, NULL, 0, 0), STATUS_SUCCESS);
    assert_int_equal(rig_idle(&x), STATUS_DEVICE_REMOVED);
    x = rig_context(&r, client); /* a new device: a new process, before anything is submitted */
    ABI_EMIT(&b, NOP, nop);
    assert_int_equal(rig_render(&x, &b, NULL, 0, 0), STATUS_SUCCESS);
    assert_int_equal(rig_idle(&x), STATUS_SUCCESS);
    dxgk_client_close(client);
    abi_builder_finish(&b);
    rig_down(&r);
}

/* Whatever a client left, it ends with its process. */
TEST(an_executor_ends_with_its_client)
{
    struct painter a, b;
    struct rig r = {0};

    rig_up(&r, LIVE);
    painter_up(&b, &r, 301);
    for (unsigned i = 0; i < 3; i++) {
        painter_up(&a, &r, 400); /* the number again, another executor */
        painter_down(&a);
        assert_true(gone(a.pid));
        frames(&b, 2, 0, 0);
    }
    painter_down(&b);
    assert_true(gone(b.pid));
    painter_up(&a, &r, 301);
    painter_down(&a);
    rig_down(&r);
}

TEST(one_process_for_those_who_ask)
{
    struct painter a, b;
    struct rig r = {0};

    rig_up(&r, &(struct stack_params){.machine = {.kind = MACHINE_LIVE, .one_executor = true}});
    painter_up(&a, &r, 300);
    painter_up(&b, &r, 301);
    assert_int_equal(a.pid, b.pid);
    painter_down(&a);
    frames(&b, 4, 0, 0);
    painter_down(&b);
    rig_down(&r);
}

static struct aerogpu_alloc_priv_v2 share(struct painter *p, D3DKMT_HANDLE *global, D3DKMT_HANDLE *allocation)
{
    struct aerogpu_alloc_priv_v2 priv = rig_priv(9, 0, SIZE, SIZE);
    D3DDDI_ALLOCATIONINFO info = {.pPrivateDriverData = &priv, .PrivateDriverDataSize = sizeof(priv)};
    D3DKMT_CREATEALLOCATION a = {.hDevice = p->x.device,
                                 .NumAllocations = 1,
                                 .pAllocationInfo = &info,
                                 .Flags = {.CreateResource = 1, .CreateShared = 1}};

    priv.flags |= AEROGPU_ALLOC_PRIV_FLAG_SHARED;
    assert_int_equal(dxgk_CreateAllocation(p->client, &a), STATUS_SUCCESS);
    *global = a.hGlobalShare;
    *allocation = info.hAllocation;
    return priv;
}

static D3DKMT_HANDLE open_share(struct painter *p, D3DKMT_HANDLE global, struct aerogpu_alloc_priv_v2 *priv)
{
    D3DDDI_OPENALLOCATIONINFO info = {0};
    D3DKMT_OPENRESOURCE open = {.hDevice = p->x.device,
                                .hGlobalShare = global,
                                .NumAllocations = 1,
                                .pOpenAllocationInfo = &info,
                                .pTotalPrivateDriverDataBuffer = priv,
                                .TotalPrivateDriverDataBufferSize = sizeof(*priv)};

    assert_int_equal(dxgk_OpenResource(p->client, &open), STATUS_SUCCESS);
    return info.hAllocation;
}

/* Both have a surface that `a` makes, as texture 5, and its allocation as mine and theirs. */
static void share_between(struct painter *a, struct painter *b, D3DKMT_HANDLE *mine, D3DKMT_HANDLE *theirs)
{
    struct aerogpu_alloc_priv_v2 made, opened;
    D3DKMT_HANDLE global;

    made = share(a, &global, mine);
    *theirs = open_share(b, global, &opened);
    assert_true(opened.share_token);
    ABI_EMIT(&a->b, CREATE_TEXTURE2D, create_texture2d, .texture_handle = 5,
             .usage_flags = AEROGPU_RESOURCE_USAGE_RENDER_TARGET, .format = AEROGPU_FORMAT_B8G8R8A8_UNORM,
             .width = SIZE, .height = SIZE, .mip_levels = 1, .array_layers = 1,
             .row_pitch_bytes = made.row_pitch_bytes, .backing_alloc_id = 9);
    ABI_EMIT(&a->b, EXPORT_SHARED_SURFACE, export_shared_surface, .resource_handle = 5,
             .share_token = opened.share_token);
    ABI_EMIT(&a->b, SET_RENDER_TARGETS, set_render_targets, .color_count = 1, .colors = {5});
    assert_int_equal(rig_render(&a->x, &a->b, mine, 1, 1), STATUS_SUCCESS);
    ABI_EMIT(&b->b, IMPORT_SHARED_SURFACE, import_shared_surface, .out_resource_handle = 5,
             .share_token = opened.share_token);
    assert_int_equal(rig_render(&b->x, &b->b, theirs, 1, 0), STATUS_SUCCESS);
}

/* What one draws the other sees, from frame to frame, without a wait in between, and both ways. */
static void share_surfaces(uint32_t user, uint32_t other)
{
    D3DKMT_HANDLE mine, theirs;
    struct painter a, b;
    struct rig r = {0};

    rig_up(&r, LIVE);
    painter_of(&a, &r, 300, user);
    painter_of(&b, &r, 301, other);
    share_between(&a, &b, &mine, &theirs);
    for (unsigned i = 0; i < 40; i++) {
        struct painter *from = i & 2 ? &b : &a, *to = i & 2 ? &a : &b;
        const D3DKMT_HANDLE list[2] = {to->picture, i & 2 ? mine : theirs}, *shared = i & 2 ? &theirs : &mine;

        ABI_EMIT(&from->b, SET_RENDER_TARGETS, set_render_targets, .color_count = 1, .colors = {5});
        ABI_EMIT(&from->b, CLEAR, clear, .flags = AEROGPU_CLEAR_COLOR,
                 .color_rgba = {0, abi_f32(i & 1), abi_f32(!(i & 1)), abi_f32(1)});
        assert_int_equal(rig_render(&from->x, &from->b, shared, 1, 1), STATUS_SUCCESS);
        ABI_EMIT(&to->b, COPY_TEXTURE2D, copy_texture2d, .dst_texture = 2, .src_texture = 5, .width = SIZE,
                 .height = SIZE, .flags = AEROGPU_COPY_FLAG_WRITEBACK_DST);
        assert_int_equal(rig_render(&to->x, &to->b, list, 2, 1), STATUS_SUCCESS);
        assert_int_equal(rig_idle(&to->x), STATUS_SUCCESS);
        assert_int_equal(seen(to), i & 1 ? GREEN : BLUE);
    }
    kill(a.pid, SIGKILL); /* who made it dies; what it last drew stays */
    assert_true(gone(a.pid));
    ABI_EMIT(&b.b, COPY_TEXTURE2D, copy_texture2d, .dst_texture = 2, .src_texture = 5, .width = SIZE,
             .height = SIZE, .flags = AEROGPU_COPY_FLAG_WRITEBACK_DST);
    assert_int_equal(rig_render(&b.x, &b.b, (const D3DKMT_HANDLE[]){b.picture, theirs}, 2, 1),
                     STATUS_SUCCESS);
    assert_int_equal(rig_idle(&b.x), STATUS_SUCCESS);
    assert_int_equal(seen(&b), GREEN);
    painter_down(&a);
    painter_down(&b);
    rig_down(&r);
}

TEST(what_clients_share_crosses_processes)
{
    share_surfaces(0, 0);
}

TEST(what_users_share_crosses_sessions)
{
    share_surfaces(1000, 1001);
}

static NTSTATUS says_export(struct painter *p, D3DKMT_HANDLE a, uint64_t token)
{
    ABI_EMIT(&p->b, EXPORT_SHARED_SURFACE, export_shared_surface, .resource_handle = 1, .share_token = token);
    return rig_render(&p->x, &p->b, &a, 1, 1);
}

static NTSTATUS says_release(struct painter *p, D3DKMT_HANDLE a, uint64_t token)
{
    ABI_EMIT(&p->b, RELEASE_SHARED_SURFACE, release_shared_surface, .share_token = token);
    return rig_render(&p->x, &p->b, &a, 1, 1);
}

static NTSTATUS says_import(struct painter *p, D3DKMT_HANDLE a, uint64_t token)
{
    ABI_EMIT(&p->b, IMPORT_SHARED_SURFACE, import_shared_surface, .out_resource_handle = 5,
             .share_token = token);
    return rig_render(&p->x, &p->b, &a, 1, 0);
}

/* Who opened a surface takes what its token names; which surface that is, and until when, says who created it. */
TEST(a_token_is_said_by_whose_it_is)
{
    struct aerogpu_alloc_priv_v2 opened;
    D3DKMT_HANDLE global, mine, theirs;
    struct painter p[3];
    struct rig r = {0};
    uint64_t token;

    rig_up(&r, SIM);
    for (unsigned i = 0; i < 3; i++) {
        struct aerogpu_alloc_priv_v2 own = rig_priv(7, 4096, 0, 0);
        abi_builder_init(&p[i].b);
        assert_int_equal(dxgk_client_open(r.dxgk, &p[i].client, 300 + i, false), 0);
        p[i].x = rig_context(&r, p[i].client);
        assert_int_equal(rig_allocate(&p[i].x, &own, &p[i].picture), STATUS_SUCCESS);
    }
    share(&p[0], &global, &mine);
    theirs = open_share(&p[1], global, &opened);
    token = opened.share_token;
    assert_int_equal(says_export(&p[0], mine, token), STATUS_SUCCESS);
    assert_int_equal(says_export(&p[1], theirs, token), STATUS_ACCESS_DENIED);
    assert_int_equal(says_release(&p[1], theirs, token), STATUS_ACCESS_DENIED);
    assert_int_equal(says_import(&p[1], theirs, token), STATUS_SUCCESS);
    assert_int_equal(says_export(&p[2], p[2].picture, token), STATUS_ACCESS_DENIED);
    assert_int_equal(says_release(&p[2], p[2].picture, token), STATUS_ACCESS_DENIED);
    assert_int_equal(says_import(&p[2], p[2].picture, token), STATUS_ACCESS_DENIED);
    assert_int_equal(says_release(&p[0], mine, token), STATUS_SUCCESS);
    for (unsigned i = 0; i < 3; i++)
        painter_down(&p[i]);
    rig_down(&r);
}

static void draw_on(struct painter *p, D3DKMT_HANDLE shared)
{
    ABI_EMIT(&p->b, SET_RENDER_TARGETS, set_render_targets, .color_count = 1, .colors = {5});
    ABI_EMIT(&p->b, CLEAR, clear, .flags = AEROGPU_CLEAR_COLOR, .color_rgba = {0, 0, 0, abi_f32(1)});
    assert_int_equal(rig_render(&p->x, &p->b, &shared, 1, 1), STATUS_SUCCESS);
}

/* Users who share a surface wait for each other, and not for others who share another: `users` are two pairs. */
static void pairs(const uint32_t users[4])
{
    struct painter p[4];
    D3DKMT_HANDLE of[4];
    struct rig r = {0};

    rig_set(&r, SETTINGS_GRAPHICS_DRIVERS, "TdrDelay", 3600);
    rig_up(&r, LIVE);
    for (unsigned i = 0; i < 4; i++)
        painter_of(&p[i], &r, 400 + i, users[i]);
    share_between(&p[0], &p[1], &of[0], &of[1]);
    share_between(&p[2], &p[3], &of[2], &of[3]);
    for (unsigned i = 0; i < 4; i++)
        assert_int_equal(rig_idle(&p[i].x), STATUS_SUCCESS);
    kill(p[0].pid, SIGSTOP);
    draw_on(&p[0], of[0]);
    for (unsigned i = 0; i < 40; i++) {
        draw_on(&p[2 + i % 2], of[2 + i % 2]);
        assert_int_equal(rig_idle(&p[2 + i % 2].x), STATUS_SUCCESS);
    }
    draw_on(&p[1], of[1]);
    usleep(100000);
    assert_true(dxgk_context_progress(p[1].client, p[1].x.context)->completed <
                dxgk_context_progress(p[1].client, p[1].x.context)->queued);
    kill(p[0].pid, SIGCONT);
    for (unsigned i = 0; i < 2; i++)
        assert_int_equal(rig_idle(&p[i].x), STATUS_SUCCESS);
    for (unsigned i = 0; i < 4; i++)
        painter_down(&p[i]);
    rig_down(&r);
}

TEST(who_shares_waits_for_those_he_shares_with)
{
    pairs((const uint32_t[]){1000, 1001, 1002, 1003});
    pairs((const uint32_t[]){1000, 1004, 1002, 1004}); /* nor because a third, a compositor, has both */
}

/* ---- the display --------------------------------------------------------- */

static void show(struct painter *p, uint32_t colour)
{
    paint(p, colour);
    ABI_EMIT(&p->b, PRESENT, present, .scanout_id = 0);
    assert_int_equal(rig_render(&p->x, &p->b, &p->picture, 1, 1), STATUS_SUCCESS);
}

/* However long a stranger takes to present: nobody of another session presents after him. */
TEST(presents_wait_for_those_of_their_session)
{
    struct painter a, b, c;
    struct rig r = {0};

    rig_set(&r, SETTINGS_GRAPHICS_DRIVERS, "TdrDelay", 3600);
    rig_up(&r, LIVE);
    painter_of(&a, &r, 400, 1000);
    painter_of(&b, &r, 401, 1001);
    painter_of(&c, &r, 402, 1000);
    kill(a.pid, SIGSTOP);
    show(&a, 0x100);
    for (unsigned i = 0; i < 40; i++) {
        show(&b, 0x100);
        assert_int_equal(rig_idle(&b.x), STATUS_SUCCESS);
    }
    show(&c, 0x100);
    usleep(100000);
    assert_int_equal(dxgk_context_progress(c.client, c.x.context)->completed, 1);
    kill(a.pid, SIGCONT);
    assert_int_equal(rig_idle(&a.x), STATUS_SUCCESS);
    assert_int_equal(rig_idle(&c.x), STATUS_SUCCESS);
    painter_down(&a);
    painter_down(&b);
    painter_down(&c);
    rig_down(&r);
}

/* A picture as large as the screen, as its source's primary. */
static D3DKMT_HANDLE primary_of(struct painter *p, uint32_t width, uint32_t height)
{
    struct aerogpu_alloc_priv_v2 priv = rig_priv(20, 0, width, height);
    D3DDDI_ALLOCATIONINFO info = {
        .pPrivateDriverData = &priv, .PrivateDriverDataSize = sizeof(priv), .Flags.Primary = 1};
    D3DKMT_CREATEALLOCATION a = {.hDevice = p->x.device, .NumAllocations = 1, .pAllocationInfo = &info};

    assert_int_equal(dxgk_CreateAllocation(p->client, &a), STATUS_SUCCESS);
    return info.hAllocation;
}

static NTSTATUS flip_to(struct painter *p, D3DKMT_HANDLE primary)
{
    D3DKMT_PRESENT f = {
        .hContext = p->x.context, .hSource = primary, .FlipInterval = D3DDDI_FLIPINTERVAL_IMMEDIATE};

    f.Flags.Flip = 1;
    return dxgk_Present(p->client, &f);
}

/* The display is the console's: nobody else shows a primary of his own, sets a mode or takes a source; and what a stranger
 * presents while the console's program has the screen for itself is not written into that program's memory. */
TEST(the_display_is_not_a_strangers)
{
    struct aerogpu_escape_query_scanout q = {0};
    D3DKMT_VIDPNSOURCEOWNER_TYPE type = D3DKMT_VIDPNSOURCEOWNER_EXCLUSIVE;
    D3DKMT_SETVIDPNSOURCEOWNER own = {.pType = &type, .pVidPnSourceId = &(UINT){0}, .VidPnSourceCount = 1};
    struct painter a, b, c;
    struct rig r = {0};
    D3DKMT_HANDLE shown, theirs;
    uint32_t *pixels;

    rig_up(&r, LIVE);
    assert_int_equal(RIG_ESCAPE(&r, QUERY_SCANOUT, &q), STATUS_SUCCESS);
    painter_up(&a, &r, 300);
    painter_of(&b, &r, 400, 1000);
    painter_up(&c, &r, 301);
    theirs = primary_of(&b, q.mmio_width, q.mmio_height);
    own.hDevice = b.x.device;
    assert_int_equal(dxgk_SetVidPnSourceOwner(b.client, &own), STATUS_ACCESS_DENIED);
    assert_int_equal(dxgk_SetDisplayMode(b.client, &(D3DKMT_SETDISPLAYMODE){.hDevice = b.x.device,
                                                                            .hPrimaryAllocation = theirs}),
                     STATUS_ACCESS_DENIED);
    assert_int_equal(dxgk_SetGammaRamp(b.client, &(D3DKMT_SETGAMMARAMP){.hDevice = b.x.device,
                                                                        .Type = D3DDDI_GAMMARAMP_DEFAULT}),
                     STATUS_ACCESS_DENIED);
    assert_int_equal(flip_to(&b, theirs), STATUS_GRAPHICS_PRESENT_OCCLUDED);
    shown = primary_of(&a, q.mmio_width, q.mmio_height);
    pixels = rig_lock(&a.x, shown);
    *pixels = 0x12345678;
    rig_unlock(&a.x, shown);
    assert_int_equal(flip_to(&a, shown), STATUS_SUCCESS);
    assert_int_equal(rig_idle(&a.x), STATUS_SUCCESS);
    show(&b, 0x100);
    assert_int_equal(rig_idle(&b.x), STATUS_SUCCESS);
    pixels = rig_lock(&a.x, shown);
    assert_int_equal(*pixels, 0x12345678);
    rig_unlock(&a.x, shown);
    show(&c, 0x100); /* who is at the console as well draws there */
    assert_int_equal(rig_idle(&c.x), STATUS_SUCCESS);
    pixels = rig_lock(&a.x, shown);
    assert_int_equal(*pixels & 0xffffff, GREEN & 0xffffff);
    rig_unlock(&a.x, shown);
    painter_down(&a);
    painter_down(&b);
    painter_down(&c);
    rig_down(&r);
}

/* ---- hangs --------------------------------------------------------------- */

/* Its next work never ends; by a context of its own node, or everybody's. */
static void hang(struct painter *p, struct rig_context *x)
{
    kill(p->pid, SIGSTOP);
    ABI_EMIT(&p->b, FLUSH, flush, .reserved0 = 0);
    assert_int_equal(rig_render(x, &p->b, NULL, 0, 0), STATUS_SUCCESS);
}

/* An event is of what is over: the client's device is gone before that, and what ended it may have to wait for a processor. */
static void had_events(struct rig *r, UINT id, unsigned times)
{
    for (unsigned i = 0; i < 6000 && dxgk_event_count(r->dxgk, id) < times; i++)
        usleep(10000);
    assert_int_equal(dxgk_event_count(r->dxgk, id), times);
}

/* A stranger's hang is his process's loss, and nobody else's: neither another's, nor another process's of his. Again and again, and he
 * is barred as ever. */
TEST(a_strangers_hang_is_his_own)
{
    struct dxgk_client *other;
    struct painter a, b, c, d;
    struct rig r = {0};
    struct rig_context more;

    rig_set(&r, SETTINGS_GRAPHICS_DRIVERS, "TdrDelay", 1);
    rig_up(&r, LIVE);
    painter_of(&b, &r, 401, 1001);
    painter_of(&c, &r, 402, 1000); /* of the same user */
    painter_up(&d, &r, 300);
    for (unsigned i = 0; i < 4; i++) { /* he has one more hang before he is barred */
        painter_of(&a, &r, 500 + i, 1000);
        assert_int_equal(dxgk_client_open(r.dxgk, &other, 500 + i, false), 0);
        dxgk_client_set_user(other, 1000, false);
        more = rig_context(&r, other); /* of those who have an executor together, as of one user */
        hang(&a, i & 1 ? &more : &a.x);
        frames(&b, 20, 0, 0);
        assert_int_equal(rig_idle(i & 1 ? &more : &a.x), STATUS_DEVICE_REMOVED);
        assert_int_equal(rig_state(i & 1 ? &more : &a.x), D3DKMT_DEVICEEXECUTION_HUNG);
        assert_int_equal(rig_state(i & 1 ? &a.x : &more), D3DKMT_DEVICEEXECUTION_RESET);
        assert_true(gone(a.pid));
        frames(&b, 4, 0, 0);
        frames(&c, 4, 0, 0);
        frames(&d, 4, 0, 0);
        had_events(&r, 8, i + 1);
        dxgk_client_close(other);
        painter_down(&a);
    }
    assert_int_equal(dxgk_event_count(r.dxgk, 7), 0);
    hang(&c, &c.x);
    assert_int_equal(rig_idle(&c.x), STATUS_DEVICE_REMOVED);
    frames(&b, 4, 0, 0);
    had_events(&r, 7, 1);
    painter_down(&c);
    painter_down(&b);
    painter_down(&d);
    assert_int_equal(dxgk_event_count(r.dxgk, 4101), 0);
    rig_down(&r);
}

/* ---- nodes --------------------------------------------------------------- */

/* However long somebody's work takes, others' is reported: until it is a time-out, which is everybody's. */
TEST(long_work_keeps_nobody_else)
{
    struct aerogpu_escape_query_fence f = {0};
    struct painter a, b;
    struct rig r = {0};

    rig_set(&r, SETTINGS_GRAPHICS_DRIVERS, "TdrDelay", 3600);
    rig_up(&r, LIVE);
    painter_up(&b, &r, 301);
    painter_up(&a, &r, 400);
    assert_int_not_equal(a.node, b.node);
    assert_true(a.node && b.node);
    kill(a.pid, SIGSTOP);
    paint(&a, 0x100);
    assert_int_equal(rig_render(&a.x, &a.b, &a.picture, 1, 1), STATUS_SUCCESS);
    frames(&b, 300, 0, 0); /* more than the ring has slots */
    assert_int_equal(dxgk_context_progress(a.client, a.x.context)->completed, 1);
    assert_int_equal(RIG_ESCAPE(&r, QUERY_FENCE, &f), STATUS_SUCCESS);
    assert_int_equal(f.last_submitted_fence - f.last_completed_fence, 301);
    kill(a.pid, SIGCONT);
    assert_int_equal(rig_idle(&a.x), STATUS_SUCCESS);
    assert_int_equal(seen(&a), GREEN);
    assert_int_equal(RIG_ESCAPE(&r, QUERY_FENCE, &f), STATUS_SUCCESS);
    assert_int_equal(f.last_submitted_fence, f.last_completed_fence);
    painter_down(&a);
    painter_down(&b);
    rig_down(&r);
}

/* Who hangs is who had the head of his own node. */
TEST(a_hang_is_who_hung)
{
    struct painter a, b;
    struct rig r = {0};

    rig_set(&r, SETTINGS_GRAPHICS_DRIVERS, "TdrDelay", 1);
    rig_up(&r, LIVE);
    painter_up(&b, &r, 301);
    painter_up(&a, &r, 400);
    kill(a.pid, SIGSTOP);
    paint(&a, 0x100);
    assert_int_equal(rig_render(&a.x, &a.b, &a.picture, 1, 1), STATUS_SUCCESS);
    frames(&b, 4, 0, 0);
    assert_int_equal(rig_idle(&a.x), STATUS_DEVICE_REMOVED);
    assert_int_equal(rig_state(&a.x), D3DKMT_DEVICEEXECUTION_HUNG);
    assert_int_equal(rig_state(&b.x), D3DKMT_DEVICEEXECUTION_RESET);
    assert_int_equal(dxgk_event_count(r.dxgk, 4101), 1);
    painter_down(&a);
    painter_down(&b);
    rig_down(&r);
}

/* Whose work takes three quarters of TdrDelay, on a node of the client's own and on everybody's. */
static void slow_up(struct rig *r, struct dxgk_client **client, struct rig_context *own,
                    struct rig_context *everybodys)
{
    UINT node;

    rig_up(r, &(struct stack_params){.machine = {.kind = MACHINE_SIM,
                                                 .exec_min_ns = 1500 * NSEC_PER_MSEC,
                                                 .exec_max_ns = 1500 * NSEC_PER_MSEC}});
    assert_int_equal(dxgk_client_open(r->dxgk, client, 400, false), 0);
    *own = rig_own_context(r, *client, &node);
    assert_true(node);
    *everybodys = rig_context(r, *client);
}

/* One executor works on both, one after the other: the second is not late before its turn. */
TEST(work_that_waits_for_other_nodes_does_not_hang)
{
    struct dxgk_client *client;
    struct rig_context x, y;
    struct abi_builder b;
    struct rig r = {0};

    slow_up(&r, &client, &y, &x);
    abi_builder_init(&b);
    ABI_EMIT(&b, NOP, nop);
    assert_int_equal(rig_render(&x, &b, NULL, 0, 0), STATUS_SUCCESS);
    stack_sleep(r.stack, NSEC_PER_MSEC);
    ABI_EMIT(&b, NOP, nop);
    assert_int_equal(rig_render(&y, &b, NULL, 0, 0), STATUS_SUCCESS);
    assert_int_equal(rig_idle(&y), STATUS_SUCCESS);
    assert_int_equal(dxgk_event_count(r.dxgk, 4101), 0);
    abi_builder_finish(&b);
    dxgk_client_close(client);
    rig_down(&r);
}

/* Of two whose time is over at once, on two nodes, the older hangs, and the other may have waited for it. */
TEST(the_oldest_is_who_hangs)
{
    struct dxgk_client *client;
    struct rig_context x, y;
    struct abi_builder b;
    struct rig r = {0};

    slow_up(&r, &client, &x, &y);
    abi_builder_init(&b);
    for (unsigned i = 0; i < 3; i++) { /* two of them on a node that is looked at last */
        ABI_EMIT(&b, NOP, nop);
        assert_int_equal(rig_render(i < 2 ? &x : &y, &b, NULL, 0, 0), STATUS_SUCCESS);
        stack_sleep(r.stack, NSEC_PER_MSEC);
    }
    stack_sleep(r.stack, 1600 * NSEC_PER_MSEC);
    assert_int_equal(machine_stop_executor(stack_machine(r.stack), UINT64_MAX), 0);
    assert_int_equal(rig_idle(&y), STATUS_DEVICE_REMOVED);
    assert_int_equal(rig_state(&x), D3DKMT_DEVICEEXECUTION_HUNG);
    assert_int_equal(rig_state(&y), D3DKMT_DEVICEEXECUTION_RESET);
    dxgk_client_close(client);
    abi_builder_finish(&b);
    rig_down(&r);
}

TEST(a_node_is_its_clients)
{
    D3DKMT_CREATECONTEXT x = {0};
    struct dxgk_client *client;
    struct rig_context c;
    struct painter b;
    struct rig r = {0};
    UINT node;

    rig_up(&r, SIM);
    assert_int_equal(dxgk_client_open(r.dxgk, &b.client, 301, false), 0);
    b.x = rig_own_context(&r, b.client, &b.node);
    for (unsigned i = 0; i < 3 * MAX_NODES; i++) { /* given out again */
        assert_int_equal(dxgk_client_open(r.dxgk, &client, 400 + i, false), 0);
        c = rig_own_context(&r, client, &node);
        assert_true(node && node != b.node);
        x = (D3DKMT_CREATECONTEXT){.hDevice = c.device, .NodeOrdinal = b.node};
        assert_int_equal(dxgk_CreateContext(client, &x), STATUS_INVALID_PARAMETER);
        x = (D3DKMT_CREATECONTEXT){.hDevice = c.device, .NodeOrdinal = 0};
        assert_int_equal(dxgk_CreateContext(client, &x), STATUS_SUCCESS);
        dxgk_client_close(client);
    }
    dxgk_client_close(b.client);
    rig_down(&r);
}

/* More clients than nodes: those that are left without share one. */
TEST(who_finds_no_node_shares_one)
{
    struct dxgk_client *clients[MAX_NODES + 2];
    struct rig_context x[MAX_NODES + 2];
    struct abi_builder b;
    struct rig r = {0};
    uint64_t taken = 0;

    rig_up(&r, SIM);
    abi_builder_init(&b);
    for (unsigned i = 0; i < MAX_NODES + 2; i++) {
        UINT node;
        assert_int_equal(dxgk_client_open(r.dxgk, &clients[i], 400 + i, false), 0);
        x[i] = rig_own_context(&r, clients[i], &node);
        assert_false(node && taken >> node & 1);
        taken |= UINT64_C(1) << node;
    }
    assert_int_equal(taken, UINT64_MAX >> 1); /* the last engine is the driver's own */
    for (unsigned i = 0; i < MAX_NODES + 2; i++) {
        ABI_EMIT(&b, NOP, nop);
        assert_int_equal(rig_render(&x[i], &b, NULL, 0, 0), STATUS_SUCCESS);
    }
    for (unsigned i = 0; i < MAX_NODES + 2; i++) {
        assert_int_equal(rig_idle(&x[i]), STATUS_SUCCESS);
        dxgk_client_close(clients[i]);
    }
    abi_builder_finish(&b);
    rig_down(&r);
}
