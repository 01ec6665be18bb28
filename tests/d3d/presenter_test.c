/* SPDX-License-Identifier: MIT */
/* presenter_test.c: when pictures are shown, and who waits for it: the display's refreshes come when a test says so. */
#include "test.h"

#include <pthread.h>
#include <stdbool.h>
#include <string.h>

#include "d3d/presenter.h"

enum { DEVICE = 7, ADAPTER = 5, SOURCE = 1, PITCH = 64 };

/* What happened, in its order: 'v' a refresh that was waited for, else the letter of a picture that was shown, small if without pixels. */
static struct {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    unsigned refreshes, waits; /* that may pass; calls that began to wait */
    bool gone;
    char events[32];
} world = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};
static uint8_t memory[D3D_PICTURES][256];

static void happened(char what)
{
    world.events[strlen(world.events)] = what;
    pthread_cond_broadcast(&world.changed);
}

NTSTATUS D3DKMTAPI D3DKMTWaitForVerticalBlankEvent(const D3DKMT_WAITFORVERTICALBLANKEVENT *w)
{
    NTSTATUS s =
        w->hAdapter == ADAPTER && w->VidPnSourceId == SOURCE ? STATUS_SUCCESS : STATUS_INVALID_PARAMETER;

    pthread_mutex_lock(&world.lock);
    world.waits++;
    pthread_cond_broadcast(&world.changed);
    while (!world.refreshes && !world.gone)
        pthread_cond_wait(&world.changed, &world.lock);
    if (world.gone) {
        s = STATUS_DEVICE_REMOVED;
    } else {
        world.refreshes--;
        happened('v');
    }
    pthread_mutex_unlock(&world.lock);
    return s;
}

NTSTATUS D3DKMTAPI D3DKMTLock(D3DKMT_LOCK *l)
{
    bool gone;

    pthread_mutex_lock(&world.lock);
    gone = world.gone;
    pthread_mutex_unlock(&world.lock);
    l->pData = memory[l->hAllocation - 1];
    return gone || l->hDevice != DEVICE ? STATUS_DEVICE_REMOVED : STATUS_SUCCESS;
}

NTSTATUS D3DKMTAPI D3DKMTUnlock(const D3DKMT_UNLOCK *u)
{
    return STATUS_SUCCESS;
}

static void show(void *context, const struct d3d_where *where, const void *pixels, UINT pitch)
{
    const char letter = (char)(intptr_t)where->window;

    assert_int_equal(where->from.left, letter); /* each picture with its own parts */
    assert_int_equal(where->to.bottom, letter + 1);

    assert_int_equal(pitch, PITCH);
    assert_ptr_equal(context, &world);
    assert_true(!pixels || *(const char *)pixels == letter);
    pthread_mutex_lock(&world.lock);
    happened(pixels ? letter : (char)(letter | 32));
    pthread_mutex_unlock(&world.lock);
}

static struct d3d_presenter *begin(void)
{
    const D3DKMT_WAITFORVERTICALBLANKEVENT blank = {ADAPTER, 0, SOURCE};
    struct d3d_presenter *p = d3d_presenter_create(DEVICE, &blank, show, &world);

    assert_non_null(p);
    world.refreshes = world.waits = 0;
    world.gone = false;
    memset(world.events, 0, sizeof(world.events));
    for (UINT i = 0; i < D3D_PICTURES; i++)
        d3d_presenter_place(p, (int)i, i + 1, 16 * i, PITCH);
    return p;
}

static void queue(struct d3d_presenter *p, char letter, UINT interval)
{
    int i = d3d_presenter_room(p, 0, false);

    assert_in_range(i, 0, D3D_PICTURES - 1);
    memory[i][16 * i] = (uint8_t)letter;
    d3d_presenter_queue(
        p, &(struct d3d_where){(HANDLE)(intptr_t)letter, {letter, 0, 0, 0}, {0, 0, 0, letter + 1}}, interval);
}

static void refresh(unsigned n, bool gone)
{
    pthread_mutex_lock(&world.lock);
    world.refreshes += n;
    world.gone = gone;
    pthread_cond_broadcast(&world.changed);
    pthread_mutex_unlock(&world.lock);
}

/* Once so many waits began, this is what happened. */
static void expect(unsigned waits, const char *events)
{
    pthread_mutex_lock(&world.lock);
    while (world.waits < waits)
        pthread_cond_wait(&world.changed, &world.lock);
    assert_string_equal(world.events, events);
    pthread_mutex_unlock(&world.lock);
}

TEST(pictures_wait_for_refreshes_on_their_way)
{
    struct d3d_presenter *p = begin();

    queue(p, 'A', 2);
    queue(p, 'B', 0);
    queue(p, 'C', 1);
    expect(1, "");
    assert_int_equal(d3d_presenter_room(p, 0, false), -1);
    refresh(1, false);
    expect(2, "v");
    assert_int_equal(d3d_presenter_room(p, 0, false), -1);
    refresh(1, false);
    expect(3, "vvAB");
    assert_int_equal(d3d_presenter_room(p, 1, false), -1); /* C is in flight */
    assert_int_not_equal(d3d_presenter_room(p, 2, false), -1);
    queue(p, 'D', 0); /* where A was, whose interval it has not */
    refresh(1, false);
    d3d_presenter_drain(p);
    expect(3, "vvABvCD");
    d3d_presenter_destroy(p);
}

static void *present(void *arg)
{
    assert_int_not_equal(d3d_presenter_room(arg, 1, true), -1);
    pthread_mutex_lock(&world.lock);
    happened('r');
    pthread_mutex_unlock(&world.lock);
    return NULL;
}

TEST(who_waits_for_room_waits_for_the_picture_before)
{
    struct d3d_presenter *p = begin();
    pthread_t other;

    queue(p, 'A', 2);
    assert_int_equal(pthread_create(&other, NULL, present, p), 0);
    refresh(1, false);
    expect(2, "v");
    refresh(1, false);
    assert_int_equal(pthread_join(other, NULL), 0);
    expect(2, "vvAr");
    d3d_presenter_destroy(p);
}

TEST(what_is_in_flight_is_shown_before_the_end)
{
    struct d3d_presenter *p = begin();

    queue(p, 'A', 1);
    queue(p, 'B', 4);
    queue(p, 'C', 0);
    refresh(5, false);
    d3d_presenter_destroy(p);
    expect(5, "vAvvvvBC");
}

TEST(without_a_device_nobody_waits)
{
    struct d3d_presenter *p = begin();

    queue(p, 'A', 3);
    queue(p, 'B', 4);
    expect(1, "");
    refresh(0, true);
    d3d_presenter_destroy(p);
    expect(2, "ab");
}

/* What was queued last is the front buffer, and is read when it has been shown. */
TEST(the_front_is_what_was_shown_last)
{
    struct d3d_presenter *p = begin();
    const void *pixels;
    UINT pitch;

    assert_false(d3d_presenter_front(p, &pixels, &pitch));
    queue(p, 'A', 1);
    queue(p, 'B', 1);
    refresh(2, false);
    assert_true(d3d_presenter_front(p, &pixels, &pitch));
    assert_int_equal(*(const char *)pixels, 'B');
    d3d_presenter_front_end(p);
    expect(2, "vAvB");
    d3d_presenter_destroy(p);
}
