/* SPDX-License-Identifier: MIT */
/* room.c: memory that a miniport answers into: what it writes behind its size is seen. */
#include "dxgkrnl/answers/answers.h"

#include <stdlib.h>
#include <string.h>

enum { GUARD = 64, PATTERN = 0xA5 };

void *dxgk_answers_room(size_t size)
{
    uint8_t *room = calloc(1, size + GUARD);

    if (room)
        memset(room + size, PATTERN, GUARD);
    return room;
}

bool dxgk_answers_kept(struct dxgk *d, const char *ddi, const char *member, void *room, size_t size)
{
    struct judge j = {.d = d, .ddi = ddi};
    uint8_t *guard = (uint8_t *)room + size;
    unsigned first = 0;

    while (first < GUARD && guard[first] == PATTERN)
        first++;
    dxgk_answer(&j, ANSWER_BREAKS, first == GUARD, member, size + first,
                "a byte inside of the size that it was given");
    if (first < GUARD)
        memset(guard, PATTERN, GUARD);
    return first == GUARD;
}
