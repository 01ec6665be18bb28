/* SPDX-License-Identifier: MIT */
/* presenter.h: pictures on their way from the device to a window, of every runtime here.
 *
 *   free ──d3d_presenter_room──▶ a copy into it is queued ──d3d_presenter_queue──▶ in flight ──the device has done it──▶ shown, free
 *
 * Invariants:
 *  1. Pictures are shown in the order in which they were queued, by a thread that alone waits for the device, and for refreshes of
 *     the display: it calls no driver, and takes no lock of a runtime's.
 *  2. What is in flight is shown before the presenter ends, unless the device is gone. */
#pragma once

#include "d3d/driver.h"

enum { D3D_PICTURES = 3 }; /* and as many frames of latency, as usual */

/* Which part of a picture goes where in a window's inside; a rectangle that is empty is all. */
struct d3d_where {
    HANDLE window;
    RECT from, to;
};

struct d3d_presenter;
/* Shows a picture in a window; called by the thread. NULL: the device is gone, and with it the picture. */
typedef void d3d_show(void *context, const struct d3d_where *where, const void *pixels, UINT pitch);

/* NULL: no memory, or no thread. `blank`: whose refreshes a picture may wait for. */
struct d3d_presenter *d3d_presenter_create(D3DKMT_HANDLE device,
                                           const D3DKMT_WAITFORVERTICALBLANKEVENT *blank, d3d_show *show,
                                           void *context);
/* Behind d3d_presenter_drain. NULL is legal. */
void d3d_presenter_destroy(struct d3d_presenter *p);
/* A picture that is free while fewer than `most` are in flight; -1: none is, and `wait` is false. */
int d3d_presenter_room(struct d3d_presenter *p, UINT most, bool wait);
/* What picture `index` is: of an allocation, whose bytes begin `offset` behind where D3DKMTLock has it. */
void d3d_presenter_place(struct d3d_presenter *p, int index, D3DKMT_HANDLE allocation, SIZE_T offset,
                         UINT pitch);
bool d3d_presenter_placed(const struct d3d_presenter *p, int index);
/* The picture that d3d_presenter_room named is submitted. It is shown `interval` refreshes behind the one before, or later. */
void d3d_presenter_queue(struct d3d_presenter *p, const struct d3d_where *where, UINT interval);
/* Returns when nothing is in flight. */
void d3d_presenter_drain(struct d3d_presenter *p);
/* The last picture that was queued, to be read; false: there is none, or the device is gone. Ends with d3d_presenter_front_end. */
bool d3d_presenter_front(struct d3d_presenter *p, const void **pixels, UINT *pitch);
void d3d_presenter_front_end(struct d3d_presenter *p);
