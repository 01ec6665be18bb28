/* SPDX-License-Identifier: MIT */
/* vblanks.h: waiting for a vertical blank without a call, on the page that the service shares (dxgkrnl/progress.h).
 *
 *   a wait by a call succeeds ──remember──▶ these arguments need no call ──DestroyDevice, CloseAdapter──▶ call again
 *                                              ▲          │ epoch: news
 *                                              └──good────┴──bad──▶ call again
 *
 * Callers hold the client's lock but for d3dkmt_vblanks_wait, which sleeps.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "wddm/d3dkmthk.h"

struct dxgk_vblanks;

/* What must not change while a call is made whose success is to be remembered. 0: there is no page yet. */
uint32_t d3dkmt_vblanks_epoch(void);
/* The page came with a reply. */
void d3dkmt_vblanks_map(int fd, uint64_t size);
void d3dkmt_vblanks_remember(const D3DKMT_WAITFORVERTICALBLANKEVENT *arg, uint32_t epoch);
/* Calls are needed again: handles are gone. */
void d3dkmt_vblanks_forget(void);
/* The connections are ended, and no thread waits; or the service is gone under them. */
void d3dkmt_vblanks_unmap(void);
void d3dkmt_vblanks_abandon(void);
/* The page, when a wait with these arguments once succeeded, and the epoch of that; else NULL. */
const struct dxgk_vblanks *d3dkmt_vblanks_known(const D3DKMT_WAITFORVERTICALBLANKEVENT *arg, uint32_t *epoch);
/* The last vblank before this instant, noticed or not. */
uint64_t d3dkmt_vblanks_last(const struct dxgk_vblanks *v, UINT source);

enum vblank_wait {
    VBLANK_CAME,
    VBLANK_NEWS, /* something of the adapter changed, perhaps the caller's device: ask, without waiting, and wait on */
    VBLANK_ASK, /* vblanks are off, or none came for long: only a call that waits knows */
};

/* Waits for a vblank after the one with the number `seen`. */
enum vblank_wait d3dkmt_vblanks_wait(const struct dxgk_vblanks *v, UINT source, uint32_t epoch,
                                     uint64_t seen);
