/* SPDX-License-Identifier: MIT */
/* d3d12_fail_test.c: the nth allocation of viewer and player fails (alloc_fail.h), over recordings of every method and of a program
 * that moves addresses. Runs itself once more in front of an implementation that does nothing. */
#include "test.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "alloc_fail.h"
#include "d3d12/play/play.h"
#include "d3d12/play/play_plan.h"
#include "d3d12/view/res_state.h"
#include "d3d12/view/fences.h"
#include "d3d12/view/state.h"
#include "d3d12_records.h"
#include "temp_dir.h"

enum { LISTS = 100, FIRST_LIST = 200, TEXTURE = 7 };

static char all[100], moved[100];

static int coped(int err)
{
    return !err && *alloc_fail_what() ? ALLOC_FAIL_COPED : err;
}

/* ---- the viewer ---------------------------------------------------------- */

static int show(struct trc *t, enum show_form form)
{
    static const uint16_t wanted = D12_ID3D12GraphicsCommandList_DrawInstanced;
    struct names names = {0};
    struct strbuf b = {0};
    struct error e = {0};
    struct trc_call c = {0};
    int err = names_read(&names, t, &e), got = 0;
    uint64_t index = 0;

    while (!err && (got = trc_next(t, &c, &e)) > 0 && c.method != wanted)
        ;
    index = c.index;
    err = err ? err : got < 0 ? got : state_at(&b, form, t, &names, index, &e);
    err = err ? err : fences_at(&b, form, t, &names, index, &e);
    strbuf_finish(&b);
    names_finish(&names);
    return err;
}

static int view_one(void *ctx)
{
    struct error e = {0};
    struct trc *t;
    int err = trc_open(&t, &d12_api, all, &e);

    if (err)
        return err;
    err = show(t, *(enum show_form *)ctx);
    trc_close(t);
    return coped(err);
}

TEST(what_is_set_is_shown)
{
    for (enum show_form form = SHOW_TEXT; form <= SHOW_JSON; form++)
        assert_true(alloc_fail_each(view_one, &form) > 20);
}

static int follow_one(void *ctx)
{
    struct res_states s = {0};
    struct error e = {0};
    struct trc_call c;
    struct trc *t;
    int err = trc_open(&t, &d12_api, all, &e), got = 0;

    if (err)
        return err;
    while (!err && (got = trc_next(t, &c, &e)) > 0)
        err = res_follow(&s, &c);
    res_finish(&s);
    trc_close(t);
    return coped(err ? err : got);
}

TEST(states_are_followed)
{
    assert_true(alloc_fail_each(follow_one, NULL) > 10);
}

/* However many lists are executed at once: the barriers of all take effect. */
TEST(every_list_of_an_execution_counts)
{
    static const uint8_t desc[] = {1, 3,  0, 64, 64, 1,
                                   1, 28, 1, 0,  0,  0}; /* it is there; a texture of one subresource */
    struct record r = {.n = 0};
    static const uint8_t barrier[] = {0, 0, 7, 0, 0, 4};
    struct res_states s = {0};
    struct trc_call c;
    struct trc *t;
    char path[100];

    op(&r, D12_Native_SwapChainBuffer, REC_TICKET);
    var(&r, 1);
    var(&r, 0);
    var(&r, 3);
    memcpy(r.bytes + r.n, desc, sizeof(desc));
    r.n += sizeof(desc);
    var(&r, 0);
    var(&r, TEXTURE);
    op(&r, D12_ID3D12GraphicsCommandList_ResourceBarrier, REC_TICKET | REC_THIS);
    var(&r, FIRST_LIST + LISTS - 1);
    var(&r, 1);
    var(&r, 2);
    for (size_t i = 0; i < sizeof(barrier); i++)
        var(&r, barrier[i]);
    op(&r, D12_ID3D12CommandQueue_ExecuteCommandLists, REC_TICKET | REC_THIS);
    var(&r, 3);
    var(&r, LISTS);
    var(&r, LISTS + 1);
    for (unsigned i = 0; i < LISTS; i++)
        var(&r, FIRST_LIST + i);
    snprintf(path, sizeof(path), "%s/lists", dir);
    write_file(path, r.bytes, r.n, 1);
    assert_int_equal(trc_open(&t, &d12_api, path, NULL), 0);
    while (trc_next(t, &c, NULL) > 0)
        assert_int_equal(res_follow(&s, &c), 0);
    assert_non_null(res_get(&s, TEXTURE));
    assert_int_equal(res_get(&s, TEXTURE)->states[0], 4);
    res_finish(&s);
    trc_close(t);
}

/* A texture made with a layout is in the state of that layout, and barriers with layouts change the subresources that they name. */
TEST(layouts_are_states)
{
    static const uint8_t desc[] = {1, 3, 0, 64, 64, 2, 2, 28, 1, 0, 0, 0}; /* two layers of two mips */
    static const uint8_t barriers[2][13] = {
        {0, 0, 0, 0, 7, D3D12_BARRIER_LAYOUT_COPY_SOURCE, TEXTURE, 1, 1, 0, 2, 0, 1},
        {0, 0, 0, 0, 7, D3D12_BARRIER_LAYOUT_COPY_DEST, TEXTURE, 2, 0, 0, 0, 0, 0}};
    struct record r = {.n = 0};
    struct res_states s = {0};
    struct trc_call c;
    struct trc *t;
    char path[100];

    op(&r, D12_ID3D12Device10_CreateReservedResource2, REC_TICKET | REC_THIS);
    var(&r, 2);
    memcpy(r.bytes + r.n, desc, sizeof(desc));
    r.n += sizeof(desc);
    var(&r, D3D12_BARRIER_LAYOUT_COMPUTE_QUEUE_UNORDERED_ACCESS);
    for (int i = 0; i < 4; i++) /* no clear value, session, formats */
        var(&r, 0);
    var(&r, D12_IFACE_ID3D12Resource + 1);
    var(&r, 0);
    var(&r, TEXTURE);
    op(&r, D12_ID3D12GraphicsCommandList7_Barrier, REC_TICKET | REC_THIS);
    var(&r, FIRST_LIST);
    var(&r, 1);
    var(&r, 2);
    var(&r, D3D12_BARRIER_TYPE_TEXTURE);
    var(&r, 2);
    var(&r, 3);
    for (int i = 0; i < 2; i++) {
        for (size_t k = 0; k < sizeof(barriers[i]); k++)
            var(&r, barriers[i][k]);
        var(&r, 0); /* flags */
    }
    snprintf(path, sizeof(path), "%s/layouts", dir);
    write_file(path, r.bytes, r.n, 1);
    assert_int_equal(trc_open(&t, &d12_api, path, NULL), 0);
    assert_int_equal(trc_next(t, &c, NULL), 1);
    assert_int_equal(res_follow(&s, &c), 0);
    for (int i = 0; i < 4; i++)
        assert_int_equal(res_get(&s, TEXTURE)->states[i], D3D12_RESOURCE_STATE_UNORDERED_ACCESS);
    assert_int_equal(trc_next(t, &c, NULL), 1);
    assert_int_equal(res_follow(&s, &c), 0);
    r.n = 0; /* and they take effect where the list is executed */
    op(&r, D12_ID3D12CommandQueue_ExecuteCommandLists, REC_TICKET | REC_THIS);
    var(&r, 3);
    var(&r, 1);
    var(&r, 2);
    var(&r, FIRST_LIST);
    trc_close(t);
    write_file(path, r.bytes, r.n, 1);
    assert_int_equal(trc_open(&t, &d12_api, path, NULL), 0);
    assert_int_equal(trc_next(t, &c, NULL), 1);
    assert_int_equal(res_follow(&s, &c), 0);
    assert_int_equal(res_get(&s, TEXTURE)->states[0], D3D12_RESOURCE_STATE_UNORDERED_ACCESS);
    assert_int_equal(res_get(&s, TEXTURE)->states[1], D3D12_RESOURCE_STATE_COPY_SOURCE);
    assert_int_equal(res_get(&s, TEXTURE)->states[2], D3D12_RESOURCE_STATE_COPY_DEST);
    assert_int_equal(res_get(&s, TEXTURE)->states[3], D3D12_RESOURCE_STATE_COPY_SOURCE);
    res_finish(&s);
    trc_close(t);
}

/* ---- the player ---------------------------------------------------------- */

static int plan_one(void *ctx)
{
    struct play_plan plan = {0};
    struct error e = {0};
    struct trc *t;
    int err = trc_open(&t, &d12_api, moved, &e);

    if (err)
        return err;
    err = plan_make(&plan, t);
    plan_finish(&plan);
    trc_close(t);
    return coped(err);
}

TEST(what_is_to_come_is_planned)
{
    assert_true(alloc_fail_each(plan_one, NULL) > 10);
}

static int play_one_of(void *ctx)
{
    struct play_params p = {
        .until_call = UINT64_MAX, .until_frame = UINT32_MAX, .stop_before = UINT64_MAX, .draw_first = 1};
    struct play_result r;
    struct error e = {0};
    struct trc *t;
    int err = trc_open(&t, &d12_api, moved, &e);

    if (err)
        return err;
    err = play_run(t, &p, &r, &e);
    if (!err)
        assert_true(r.calls > 20);
    trc_close(t);
    return coped(err);
}

TEST(recordings_are_played)
{
    assert_true(alloc_fail_each(play_one_of, NULL) > 20);
}

TEST_GROUP(NULL, remove_dir);

int main(int argc, char **argv)
{
    char command[2000];

    if (argc != 5)
        return 2;
    if (!getenv("LD_PRELOAD")) {
        setenv("LD_PRELOAD", argv[2], 1);
        execv("/proc/self/exe", argv);
        return 2;
    }
    if (make_dir(NULL))
        return 1;
    snprintf(all, sizeof(all), "%s/all", dir);
    snprintf(moved, sizeof(moved), "%s/moved", dir);
    snprintf(command, sizeof(command),
             "%s record -o %s -- %s >/dev/null && %s record -o %s -- %s written >/dev/null", argv[1], all,
             argv[3], argv[1], moved, argv[4]);
    if (system(command))
        return 1;
    return test_run();
}
