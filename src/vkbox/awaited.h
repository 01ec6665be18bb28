/* SPDX-License-Identifier: MIT */
/* awaited.h: the semaphores that a submission waits for, and who signals them. Of a record that a process still writes, too. */
#pragma once

#include "base/map.h"
#include "vkbox/box.h"

struct awaited {
    uint32_t num;
    struct vkbox_semaphore semaphore[VKBOX_SEMAPHORES_MOST];
    uint64_t by[VKBOX_SEMAPHORES_MOST]; /* a submission; 0: none */
    bool may_be_other;                  /* one signals more than are kept, or is not kept itself */
    struct map index;                   /* of a handle */
};

/* Of what is kept up to the submission `last`. NULL: no memory. */
struct awaited *awaited_find(const struct vkbox *b, uint64_t last, uint64_t number);
void awaited_free(struct awaited *a);
