/* SPDX-License-Identifier: MIT */
/* modeset.h: sets of modes (VidPN source, VidPN target, monitor), behind the handles that a miniport sees.
 *
 *   CreateNewModeInfo ─▶ loose ─AddMode─▶ in the set ─PinMode─▶ pinned
 *                          └─ReleaseModeInfo─▶ gone
 */
#pragma once

#include "dxgkrnl/adapter.h"

enum modeset_kind { MODESET_SOURCE = 0x4D53, MODESET_TARGET = 0x4D54, MODESET_MONITOR = 0x4D4D };

union mode_info {
    D3DKMDT_VIDPN_SOURCE_MODE source;
    D3DKMDT_VIDPN_TARGET_MODE target;
    D3DKMDT_MONITOR_SOURCE_MODE monitor;
};

struct mode {
    struct mode *next;
    union {
        UINT id; /* the first member of all three */
        D3DKMDT_VIDPN_SOURCE_MODE source;
        D3DKMDT_VIDPN_TARGET_MODE target;
        D3DKMDT_MONITOR_SOURCE_MODE monitor;
    };
    unsigned char kept[sizeof(union mode_info)]; /* what it was when it came into its set */
};

struct modeset {
    enum modeset_kind kind;
    unsigned refs;
    struct mode *modes, **last, *loose;
    struct mode *pinned;
    UINT next_id;
    size_t count;
};

struct modeset *dxgk_modeset_create(enum modeset_kind kind);
void dxgk_modeset_ref(struct modeset *s);
void dxgk_modeset_unref(struct modeset *s);
struct mode *dxgk_modeset_new_mode(struct modeset *s);
NTSTATUS dxgk_modeset_add(struct modeset *s, void *info);
/* Whether a mode in `s`, which may be NULL, is not what it was; it becomes that again. */
bool dxgk_modeset_written(struct modeset *s);
/* To the miniport, with a reference of its own; false: no memory. */
bool dxgk_modeset_lend(struct modeset *s);
/* The set that the miniport means; NULL: it has none such, and that is a violation of `function`. */
struct modeset *dxgk_modeset_lent(const void *handle, enum modeset_kind kind, const char *function);

extern const DXGK_VIDPNSOURCEMODESET_INTERFACE dxgk_modeset_source_interface;
extern const DXGK_VIDPNTARGETMODESET_INTERFACE dxgk_modeset_target_interface;
extern const DXGK_MONITORSOURCEMODESET_INTERFACE dxgk_modeset_monitor_interface;
