/* SPDX-License-Identifier: MIT */
/* lose_show.c: what the program shows, without a loss and after it.
 *
 * Programs move: pictures of the undisturbed one, twelve while it comes to the proof and twelve some time later, say by how much they
 * differ among themselves, and where. After a loss
 *  - a picture is wrong if it is farther than that, and a few percent of what the program covers, from all of them;
 *  - what moved has to move: else the picture is one from before the loss, which a window may show as long as nobody draws it anew.
 * For the same reason the picture is that of some time after the program worked again: as long as it took until then, or two seconds.
 */
#include "lose_parts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/file/png.h"

#define LOOK_NS       (60 * NSEC_PER_MSEC)
#define RUNS_NS       (250 * NSEC_PER_MSEC)
#define SETTLE_NS     (2 * NSEC_PER_SEC)
#define MAX_SETTLE_NS (10 * NSEC_PER_SEC)
#define STILL_NS      (6 * NSEC_PER_SEC) /* behind that, in which nothing moves */
enum { LOOKS = 5 };                      /* wrong one after the other: one may be half drawn */
enum { MOVED = 4 };                      /* a MOVEDth of what moved before will do */
#define LEAST_COVERED 0.01

int lose_show_start(struct lose_show *s, struct error *e)
{
    int r = screen_start(&s->screen, s->size, e);

    if (r)
        return r;
    setenv("DISPLAY", s->screen.display, 1);
    unsetenv("WAYLAND_DISPLAY");
    s->covers = 1;
    if (!s->compares)
        return 0;
    r = screen_look(&s->screen, &s->empty, e);
    for (int i = 0; !r && i < 2; i++) {
        s->moving[i] = calloc(picture_cells(&s->empty), 1);
        r = s->moving[i] ? 0 : error_set(e, -ENOMEM, "no memory");
    }
    return r;
}

static size_t count(const struct lose_show *s, int which)
{
    size_t n = 0;

    for (size_t i = 0; i < picture_cells(&s->empty); i++)
        n += s->moving[which][i];
    return n;
}

/* ---- without a loss ------------------------------------------------------- */

static void add_reference(struct lose_show *s, int set)
{
    struct picture *p = &s->references[set][s->num[set]];
    double covers;

    if (screen_look(&s->screen, p, NULL))
        return;
    if (set &&
        !s->num[set]) { /* how it moves when it has settled: what appears once before that is no movement */
        s->moves = 0;
        memset(s->moving[0], 0, picture_cells(&s->empty));
    }
    for (uint32_t i = 0; i < s->num[set]; i++) {
        double d = picture_difference(&s->references[set][i], p);
        s->moves = d > s->moves ? d : s->moves;
    }
    if (s->num[set])
        picture_changes(p - 1, p, s->moving[0]);
    covers = picture_difference(&s->empty, p);
    s->covers = (set || s->num[0]) && s->covers > covers ? s->covers : covers;
    s->num[set]++;
}

/* True: there is no more to see. */
static bool look_at_undisturbed(struct lose_show *s, uint64_t now, uint64_t work, bool over)
{
    s->over_ns = over && !s->over_ns ? now : s->over_ns;
    if (now >= s->next_ns && s->num[over] < LOSE_REFERENCES &&
        (over ? now >= s->over_ns + SETTLE_NS : work >= s->from)) {
        s->next_ns = now + LOOK_NS;
        add_reference(s, over);
    }
    return s->num[over] == LOSE_REFERENCES || now >= s->over_ns + 2 * SETTLE_NS;
}

/* Differences are shares of what the program covers from now on: of a small window, not of a large screen. */
static void settle_references(struct lose_show *s)
{
    if (s->covers < LEAST_COVERED) /* it is as black as the screen */
        s->covers = 1;
    s->moves = s->moves < s->covers ? s->moves / s->covers : 1;
}

void lose_show_undisturbed(struct lose_show *s, bool begins, uint64_t from)
{
    s->undisturbed = begins;
    s->from = from;
    s->over_ns = s->next_ns = 0;
    if (!begins)
        settle_references(s);
}

/* ---- after it -------------------------------------------------------------- */

static double distance(const struct lose_show *s, const struct picture *p)
{
    double nearest = 1;

    for (int set = 0; set < 2; set++)
        for (uint32_t k = 0; k < s->num[set]; k++) {
            double d = picture_difference(p, &s->references[set][k]) / s->covers;
            nearest = d < nearest ? d : nearest;
        }
    return nearest;
}

static bool is_far(const struct lose_show *s)
{
    return s->differs > s->moves + s->percent / 100.0;
}

/* Takes the next picture; false: there is none. */
static bool look(struct lose_show *s)
{
    struct picture p;

    if (screen_look(&s->screen, &p, NULL))
        return false;
    if (s->compares && s->end.rgba)
        picture_changes(&s->end, &p, s->moving[1]);
    picture_finish(&s->end);
    s->end = p;
    s->differs = distance(s, &p);
    return true;
}

/* What has survived is looked at until it is known whether its picture is right. True: it is known. */
static bool look_on(struct lose_show *s, uint64_t now, const struct lose_result *over)
{
    uint64_t took = over->num_losses ? over->judged_ns - over->losses[over->num_losses - 1].at_ns : 0;
    uint64_t settle = took < SETTLE_NS ? SETTLE_NS : took < MAX_SETTLE_NS ? took : MAX_SETTLE_NS;

    if (now < s->next_ns)
        return false;
    s->next_ns = now + LOOK_NS;
    if (!s->over_ns)
        picture_finish(&s->end);
    s->over_ns = s->over_ns ? s->over_ns : now;
    if (!look(s))
        return true;
    if (now < s->over_ns + settle)
        return false;
    s->wrong = is_far(s) ? s->wrong + 1 : 0;
    if (s->wrong)
        return s->wrong >= LOOKS;
    s->stands = count(s, 1) * MOVED < count(s, 0);
    return !s->stands || now >= s->over_ns + settle + STILL_NS;
}

/* Who dies shows nothing any more: the picture of it is one of shortly before. */
static void look_while_it_runs(struct lose_show *s, uint64_t now)
{
    struct picture p;

    if (now < s->next_ns)
        return;
    s->next_ns = now + RUNS_NS;
    if (screen_look(&s->screen, &p, NULL))
        return;
    picture_finish(&s->end);
    s->end = p;
}

bool lose_show_poll(struct lose_show *s, uint64_t work, const struct lose_result *over)
{
    struct clock live;
    uint64_t now;

    clock_init_live(&live);
    now = clock_now(&live);
    if (s->undisturbed)
        return look_at_undisturbed(s, now, work, over);
    if (over)
        return s->compares && over->verdict == LOSE_SURVIVED ? look_on(s, now, over) : (look(s), true);
    if (s->file)
        look_while_it_runs(s, now);
    return true;
}

bool lose_show_is_wrong(const struct lose_show *s)
{
    return is_far(s) || s->stands;
}

int lose_show_finish(struct lose_show *s, struct error *e)
{
    int r = 0;

    if (s->file && s->end.rgba)
        r = png_file_result(s->file, s->end.rgba, s->end.width, s->end.height, 4 * (size_t)s->end.width, e);
    for (int set = 0; set < 2; set++)
        for (uint32_t i = 0; i < s->num[set]; i++)
            picture_finish(&s->references[set][i]);
    picture_finish(&s->empty);
    picture_finish(&s->end);
    for (int i = 0; i < 2; i++)
        free(s->moving[i]);
    if (s->size)
        screen_stop(&s->screen);
    return r;
}
