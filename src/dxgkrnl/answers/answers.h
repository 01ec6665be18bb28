/* SPDX-License-Identifier: MIT */
/* answers.h: what the miniport's DDIs answer, held against what the WDK documents of WDDM 1.1: each member, count, handle and status.
 *
 *   an answer ──▶ documented
 *             ├─▶ a broken rule (kernel/violations.h): nobody can do what it asks for, or Windows is documented to stop, to fail or to
 *             │   overrun memory. What it was asked for fails, and the run has failed.
 *             └─▶ a remark (event dxgkrnl 11): the documents say otherwise, and Windows 7 is not known to look. Each once; a run with
 *                 remarks has not failed.
 *
 * Invariants:
 *  1. Both name the DDI, the member, its value and what is allowed there. The words are those of the WDK's page of the structure or
 *     function; what that page gives no range for is not judged.
 *  2. Nothing is looked at twice: a pointer that the miniport answers is read once, and by the kernel, which does not fault.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dxgkrnl/kernel.h"
#include "wddm/dispmprt.h"

struct dxgk;

/* Which remarks were made. */
struct remarks {
    uint64_t keys[128];
    unsigned count;
    char last[200];
};

struct judge {
    struct dxgk *d;
    const char *ddi;
    unsigned index; /* for `[]` in a member's name */
    bool broken;    /* a rule was: it can not be gone by */
};

enum answer_degree { ANSWER_BREAKS, ANSWER_REMARK };

/* `member` is `value`, and only `allowed` is documented; unless `holds`. */
void dxgk_answer(struct judge *j, enum answer_degree degree, bool holds, const char *member, uint64_t value,
                 const char *allowed);
/* The same of a member of *`s`, whose value is `v` in `holds`. */
#define ANSWER(j, degree, s, member, holds, allowed)                                                         \
    do {                                                                                                     \
        const uint64_t v = (uint64_t)(s)->member;                                                            \
        dxgk_answer(j, degree, holds, #member, v, allowed);                                                  \
    } while (0)

/* ---- start.c: at the start. False: a rule was broken. -------------------- */

/* Calls DxgkDdiQueryAdapterInfo (`ddi` has its type, too), which writes to nothing but its output. */
bool dxgk_answers_query(struct dxgk *d, DXGKARG_QUERYADAPTERINFO *q, const char *ddi, NTSTATUS *s);
/* The same for d->caps, as large as the miniport's version has them. */
bool dxgk_answers_query_caps(struct dxgk *d, NTSTATUS *s);
/* d->caps. */
bool dxgk_answers_caps(struct dxgk *d);
/* Of the first pass, and of the second, whose answer is `out`, to `asked` segments, with `list`, which lay at `given`. */
bool dxgk_answers_segment_count(struct dxgk *d, const DXGK_QUERYSEGMENTOUT *out);
bool dxgk_answers_segments(struct dxgk *d, const DXGK_QUERYSEGMENTOUT *out, UINT asked,
                           const DXGK_SEGMENTDESCRIPTOR *list, const void *given);
/* `num` descriptors and one more, all zeroed before. */
bool dxgk_answers_children(struct dxgk *d, const DXGK_CHILD_DESCRIPTOR *list, unsigned num);

/* ---- modes.c: a mode that a DDI adds to a set, as it adds it ------------- */

void dxgk_answers_mode(struct dxgk *d, const D3DKMDT_VIDPN_SOURCE_MODE *source,
                       const D3DKMDT_VIDPN_TARGET_MODE *target);

/* ---- work.c: at work. False: a rule was broken. -------------------------- */

/* Of a context, or of a device of a miniport that has none (`ddi`). */
bool dxgk_answers_context(struct dxgk *d, const char *ddi, const DXGK_CONTEXTINFO *info);
/* What DxgkDdiCreateDevice of a miniport that has no contexts points to is read into *`info`. */
bool dxgk_answers_device(struct dxgk *d, const DXGK_DEVICEINFO *answered, DXGK_CONTEXTINFO *info);
/* The handle of an object that the miniport has made; dxgkrnl's own was `given` in its place. */
void dxgk_answers_handle(struct dxgk *d, const char *ddi, const char *member, HANDLE handle,
                         const void *given);
bool dxgk_answers_allocation(struct dxgk *d, const DXGK_ALLOCATIONINFO *info, unsigned index);
/* The second of two passes, behind `first`. */
bool dxgk_answers_standard(struct dxgk *d, const DXGKARG_GETSTANDARDALLOCATIONDRIVERDATA *first,
                           const DXGKARG_GETSTANDARDALLOCATIONDRIVERDATA *second);
void dxgk_answers_description(struct dxgk *d, const DXGKARG_DESCRIBEALLOCATION *a);
/* A BOOLEAN member. */
void dxgk_answers_boolean(struct dxgk *d, const char *ddi, const char *member, unsigned value);

/* ---- room.c: memory that a DDI answers into, or points to ----------------- */

/* Bytes behind a room: an entry more of each list, at least. */
enum { ANSWERS_GUARD = 256 };

/* Zeroed, and guarded behind `size`; NULL without memory. free() it. */
void *dxgk_answers_room(size_t size);
/* Whether nothing was written behind `size`; a broken rule if not, with the place of the first byte. */
bool dxgk_answers_kept(struct dxgk *d, const char *ddi, const char *member, void *room, size_t size);
/* The same of memory that is somebody else's, and has `behind` bytes behind `size` to guard. */
void dxgk_answers_guard(void *room, size_t size, size_t behind);
bool dxgk_answers_kept_behind(struct dxgk *d, const char *ddi, const char *member, void *room, size_t size,
                              size_t behind);
/* How far `ddi` moved its pointer `member` in a room of `size` bytes, which begins at `room`; a broken rule if that is not in it. */
bool dxgk_answers_end(struct dxgk *d, const char *ddi, const char *member, const void *room, size_t size,
                      const void *end, UINT *bytes);
/* Calls DxgkDdiStartDevice: what it answers lies apart, so that it is seen who writes behind it. */
NTSTATUS dxgk_answers_start(struct dxgk *d);
/* The same of DxgkDdiAddDevice, which answers d->miniport. */
NTSTATUS dxgk_answers_add(struct dxgk *d);
/* Reads what a DDI answered a pointer to, which may point anywhere. False: there is nothing. */
bool dxgk_answers_read(void *to, const void *from, size_t size);

/* ---- arguments.c: structures that DDIs are handed ------------------------- */

/* Each ends at the end of a page, behind which are 64 KiB of nothing: who reads or writes there faults, at that instruction. In front of it are
 * bytes that are nobody's, and so are its own when the DDI has returned, which is looked at. A driver of Windows 8 or later, whose structures are
 * larger, finds zeros behind ours. */
struct arguments {
    struct argument_chunk *chunks;
    char name[64]; /* of where the last fault was */
};
/* False: no memory. */
bool dxgk_arguments_init(struct arguments *a);
void dxgk_arguments_finish(struct arguments *a);
/* A copy of *`from`, for the miniport; NULL: no memory. */
void *dxgk_argument(struct dxgk *d, const void *from, size_t size);
/* The DDI has returned: what it made of the copy goes to *`to`, unless that is NULL. `what` is said of who wrote in front of it.
 * Of NULL nothing. */
void dxgk_argument_back(struct dxgk *d, const char *ddi, const char *what, void *argument, size_t size,
                        void *to);
/* What is at `at`, where there is nothing, if that is behind an argument; NULL: it is not. In signal handlers, too. */
const char *dxgk_arguments_name(struct arguments *a, const void *at);

/* ---- inputs.c: what a DDI is told, and may not write ----------------------- */

/* Behind the call, for which *`arg` was *`given`, of `size` bytes: a member that the miniport only reads and that is another now is a broken rule, and
 * what it was. Of one that is `constant` that is each byte. Whether all were. */
bool dxgk_inputs_take(struct dxgk *d, const char *ddi, void *arg, const void *given, size_t size,
                      bool constant);
/* `what`, of which the miniport only reads all; it is put back if it was not. */
bool dxgk_inputs_take_all(struct dxgk *d, const char *ddi, const char *what, void *now, const void *given,
                          size_t size);
/* A list for that, in a room of its own; or `list` itself, without memory for one. */
void *dxgk_inputs_lend(const void *list, size_t size);
/* Behind the call: the list is what it was, and nothing was written behind it. */
bool dxgk_inputs_take_back(struct dxgk *d, const char *ddi, const char *member, void *lent, const void *list,
                           size_t size);
/* The same of the `count` items of `size` bytes of a list that is in the argument. */
bool dxgk_inputs_take_list(struct dxgk *d, const char *ddi, void *list, const void *given, size_t size,
                           unsigned count);
/* A copy of `size` bytes for that, or NULL; free() it. */
void *dxgk_inputs_copy(const void *list, size_t size);

/* ---- answers.c ---------------------------------------------------------- */

/* `ddi` returned something else than STATUS_SUCCESS. */
void dxgk_answers_status(struct dxgk *d, const char *ddi, NTSTATUS status);
