/* SPDX-License-Identifier: MIT */
/* read.h: a box as it was at one instant, and what it says about the work that the device had not finished.
 *
 * Nothing in a box is believed: whoever crashed may have written over it. What makes no sense is left out, and counted.
 */
#pragma once

#include <stdbool.h>

#include <aerogpu/blackbox.h>

#include "base/error.h"
#include "base/map.h"
#include "base/strbuf.h"
#include "vkbox/box.h"
#include "vkbox/known.h"
#include "vkbox/table.h"

struct vkbox_reader {
    const struct vkbox *b; /* a copy */
    struct map
        objects; /* handle to the slot of the living object, or the latest dead one, of whatever type */
    uint64_t first, last; /* submissions that it has; last 0: none */
    struct map latest;    /* slot of a command buffer to the last submission that has it */
    struct map pending; /* and to the first of those that its mark may be of, of which there are so many in */
    struct map num_pending;
    uint64_t ended[VKBOX_QUEUES]; /* up to which all have, as fences and the order of a queue say */
};

/* Copies what is in the file `fd`. 0, or -EBADMSG if it is no box, -EPROTONOSUPPORT one of another version, -ENOMEM. */
int vkbox_copy(struct vkbox_reader *r, int fd, struct error *e);
void vkbox_finish(struct vkbox_reader *r);

/* NULL: not there any more. */
const struct vkbox_submission *vkbox_submission(const struct vkbox_reader *r, uint64_t number);
const struct vkbox_object *vkbox_object(const struct vkbox_reader *r, uint64_t handle);
/* Whose handle that was then: it may be another's since. */
const struct vkbox_object *vkbox_object_at(const struct vkbox_reader *r, uint64_t handle, uint64_t time_ns);

enum vkbox_progress {
    VKBOX_UNKNOWN, /* nothing marks it */
    VKBOX_WAITING, /* the device did not begin it */
    VKBOX_RUNNING,
    VKBOX_FINISHED,
    VKBOX_OVERWRITTEN, /* something else wrote where the device does */
};

/* So many submissions, or places in one, may be what the mark of a command buffer is of, from `first` on. */
uint64_t vkbox_pending(const struct vkbox_reader *r, uint32_t slot, uint64_t *first);

/* `of`: the command buffer that it is at, or VKBOX_NO_INDEX. */
enum vkbox_progress vkbox_progress(const struct vkbox_reader *r, const struct vkbox_submission *s,
                                   uint32_t *of);

/* It waits without a mark, and had not ended, or one behind it on its queue, when the program looked last. */
bool vkbox_is_open(const struct vkbox_reader *r, const struct vkbox_submission *s);

/* A command of a submission, in the order of execution. */
struct vkbox_work {
    uint16_t command; /* enum vkbox_command; marks are not among them */
    uint16_t words;
    const uint32_t *args;
    uint32_t buffer;  /* slot of the command buffer that it stands in */
    uint32_t primary; /* and of that which was submitted */
    uint32_t draw;    /* from 1, among draws and dispatches of the submission; 0: it is none */
    uint8_t state;    /* enum bb_state; BB_NUM_STATES: it takes no time */
};

/* One of the program's in a submission. */
struct vkbox_checkpoint {
    bool there, named;
    uint64_t pointer; /* that it gave; of one with a name the label is in `packet` */
    size_t packet;    /* the place in `work` of what is behind it */
};

struct vkbox_list {
    struct vkbox_work *work;
    size_t num, room;
    struct bb_item *items; /* with the marks; `id` of a command is its place in `work` */
    size_t num_items, items_room;
    uint32_t primary; /* slot of the command buffer that is added */
    struct vkbox_checkpoint top, bottom,
        open;   /* the last that was reached, that was passed; `open`: the last, until it is passed */
    bool begun; /* the last point was reached */
    uint32_t draws, steps, bad; /* bad: entries that made no sense, or were cut off */
};

/* What a submission does, with its marks. 0 or -ENOMEM. */
int vkbox_flatten(const struct vkbox_reader *r, const struct vkbox_submission *s, struct vkbox_list *out);
void vkbox_list_finish(struct vkbox_list *l);

/* By what the group is known that the device is at in a command buffer (known.h). */
uint64_t vkbox_group(const struct vkbox_reader *r, uint32_t slot);

/* "vkCmdDraw(vertexCount 3, …)", with the names of objects. */
void vkbox_print(const struct vkbox_reader *r, const struct vkbox_work *w, struct strbuf *out);
/* The text of a command that has one, as a label; "" if it has none. */
void vkbox_text(const struct vkbox_work *w, char out[64]);
/* As it is called; of one that the registry does not know that is what the record has. */
void vkbox_name(const struct vkbox_work *w, char out[64]);
/* The first handles among the arguments of a command, in order; returns how many there are, at most `max`. */
uint32_t vkbox_handles(const struct vkbox_work *w, uint64_t *handles, const char **types, uint32_t max);
/* The `n`th number (of 32 bits) of a command, or 0. */
uint32_t vkbox_number(const struct vkbox_work *w, const char *field);

const char *vkbox_result_name(int32_t result);
/* "sampler", of a VkDescriptorType */
const char *vkbox_descriptor_name(uint32_t type);
/* "buffer", "shader module" */
void vkbox_type_name(uint32_t type, char out[48]);
