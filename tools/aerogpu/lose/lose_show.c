/* SPDX-License-Identifier: MIT */
/* lose_show.c: what the program shows, without a loss and after it.
 *
 * Programs move: twelve pictures of the undisturbed one say by how much they differ among themselves. A picture after the loss is
 * wrong if it is farther than that, and a few percent, from all of them.
 */
#include "lose_parts.h"

#include <errno.h>
#include <stdlib.h>
#include <time.h>

#include "base/clock.h"
#include "base/file/png.h"

#define LOOK_NS (60 * NSEC_PER_MSEC)
enum { LOOKS = 5 }; /* at the end: one may be half drawn */

int lose_show_start(struct lose_show *s, struct error *e)
{
    int r = screen_start(&s->screen, s->size, e);

    if (r)
        return r;
    setenv("DISPLAY", s->screen.display, 1);
    unsetenv("WAYLAND_DISPLAY");
    return 0;
}

static void look_at_the_end(struct lose_show *s)
{
    for (int i = 0; i < LOOKS; i++) {
        struct picture p;
        double nearest = 1;

        if (screen_look(&s->screen, &p, NULL))
            return;
        for (uint32_t k = 0; k < s->num; k++) {
            double d = picture_difference(&p, &s->references[k]);
            nearest = d < nearest ? d : nearest;
        }
        if (!s->end.rgba || nearest < s->differs) {
            picture_finish(&s->end);
            s->end = p;
            s->differs = nearest;
        } else {
            picture_finish(&p);
        }
        if (!s->compares || !lose_show_is_wrong(s))
            return;
        nanosleep(&(struct timespec){0, (long)LOOK_NS}, NULL);
    }
}

void lose_show_poll(struct lose_show *s, uint64_t work, bool last)
{
    struct clock live;
    uint64_t now;

    clock_init_live(&live);
    now = clock_now(&live);
    if (!s->undisturbed) {
        if (last)
            look_at_the_end(s);
        return;
    }
    if (work < s->from || now < s->next_ns || s->num == LOSE_REFERENCES)
        return;
    s->next_ns = now + LOOK_NS;
    if (screen_look(&s->screen, &s->references[s->num], NULL))
        return;
    for (uint32_t i = 0; i < s->num; i++) {
        double d = picture_difference(&s->references[i], &s->references[s->num]);
        s->moves = d > s->moves ? d : s->moves;
    }
    s->num++;
}

bool lose_show_is_wrong(const struct lose_show *s)
{
    return s->differs > s->moves + s->percent / 100.0;
}

int lose_show_finish(struct lose_show *s, struct error *e)
{
    int r = 0;

    if (s->file && s->end.rgba)
        r = png_file_write(s->file, s->end.rgba, s->end.width, s->end.height, 4 * (size_t)s->end.width, e);
    for (uint32_t i = 0; i < s->num; i++)
        picture_finish(&s->references[i]);
    picture_finish(&s->end);
    if (s->size)
        screen_stop(&s->screen);
    return r;
}
