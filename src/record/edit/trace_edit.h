/* SPDX-License-Identifier: MIT */
/* trace_edit.h: writes a recording that is made of the calls of another one, and of new ones.
 *
 * Calls stand in the new file in the order in which they are given, whatever thread they are of: each takes a ticket.
 * Blobs keep their numbers and come along when a call mentions them; new ones are numbered behind them. */
#pragma once

#include <jansson.h>

#include "record/trace_file.h"

struct trc_editor;

/* Takes `add`, an object whose members are put into the header's; NULL: there is no memory for it. 0 or a negative errno. */
int trc_edit_create(struct trc_editor **out, struct trc *from, const char *path, json_t *add,
                    struct error *e);
int trc_edit_copy(struct trc_editor *ed, const struct trc_call *c, struct error *e);
/* A new call with these arguments (and answers, if it has any) on the thread and at the time of the last copied one. */
int trc_edit_add(struct trc_editor *ed, uint16_t method, uint32_t self, const void *args, size_t size,
                 struct error *e);
/* Number of a new blob with these bytes, 0 if there is no memory. */
uint64_t trc_edit_blob(struct trc_editor *ed, const void *bytes, size_t size, struct error *e);
/* Completes the file and frees the editor; without `keep` the file is removed. */
int trc_edit_finish(struct trc_editor *ed, bool keep, struct error *e);
