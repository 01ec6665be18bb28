/* SPDX-License-Identifier: MIT */
#include "dxgkrnl/display/modeset.h"

#include <stdlib.h>
#include <string.h>

#include "dxgkrnl/display/loans.h"
#include "dxgkrnl/display/vidpn.h"
#include "dxgkrnl/ntos/routines.h"

struct modeset *dxgk_modeset_create(enum modeset_kind kind)
{
    struct modeset *s = calloc(1, sizeof(*s));

    if (!s)
        return NULL;
    s->kind = kind;
    s->refs = 1;
    s->last = &s->modes;
    return s;
}

void dxgk_modeset_ref(struct modeset *s)
{
    s->refs++;
}

void dxgk_modeset_unref(struct modeset *s)
{
    if (!s || --s->refs)
        return;
    for (int i = 0; i < 2; i++) {
        struct mode *m = i ? s->loose : s->modes;
        while (m) {
            struct mode *next = m->next;
            free(m);
            m = next;
        }
    }
    s->kind = 0;
    free(s);
}

struct mode *dxgk_modeset_new_mode(struct modeset *s)
{
    struct mode *m = calloc(1, sizeof(*m));

    if (!m)
        return NULL;
    m->id = s->next_id++;
    m->next = s->loose;
    s->loose = m;
    return m;
}

/* Where the mode that `info` is of hangs in `list`, or the list's end; `info` itself is not read. */
static struct mode **place(struct mode **list, const void *info)
{
    while (*list && &(*list)->id != info)
        list = &(*list)->next;
    return list;
}

static const char *set_name(enum modeset_kind kind)
{
    return kind == MODESET_SOURCE   ? "source mode set"
           : kind == MODESET_TARGET ? "target mode set"
                                    : "monitor's mode set";
}

static const char *mode_name(enum modeset_kind kind)
{
    return kind == MODESET_SOURCE ? "source mode" : kind == MODESET_TARGET ? "target mode" : "monitor's mode";
}

static void take_back(void *set)
{
    dxgk_modeset_unref(set);
}

bool dxgk_modeset_lend(struct modeset *s)
{
    if (!dxgk_lend(OWNER(), s, set_name(s->kind), take_back))
        return false;
    dxgk_modeset_ref(s);
    return true;
}

struct modeset *dxgk_modeset_lent(const void *handle, enum modeset_kind kind, const char *function)
{
    struct modeset *s = (struct modeset *)handle;

    return dxgk_has_lent(OWNER(), s, set_name(kind), function) && s->kind == kind ? s : NULL;
}

/* `m` NULL: there is none, and `none` says so. */
static NTSTATUS lend_mode(struct modeset *s, struct mode *m, const void **out, NTSTATUS none)
{
    bool lent = m && dxgk_lend(OWNER(), &m->id, mode_name(s->kind), NULL);

    *out = lent ? &m->id : NULL;
    return lent ? STATUS_SUCCESS : m ? STATUS_NO_MEMORY : none;
}

static size_t info_size(const struct modeset *s)
{
    return s->kind == MODESET_SOURCE   ? sizeof(D3DKMDT_VIDPN_SOURCE_MODE)
           : s->kind == MODESET_TARGET ? sizeof(D3DKMDT_VIDPN_TARGET_MODE)
                                       : sizeof(D3DKMDT_MONITOR_SOURCE_MODE);
}

bool dxgk_modeset_written(struct modeset *s)
{
    bool written = false;

    for (struct mode *m = s ? s->modes : NULL; m; m = m->next) {
        written |= memcmp(&m->id, m->kept, info_size(s)) != 0;
        memcpy(&m->id, m->kept, info_size(s));
    }
    return written;
}

static bool same(const struct modeset *s, const struct mode *a, const struct mode *b)
{
    struct mode x = *b;

    x.id = a->id;
    return !memcmp(&a->id, &x.id, info_size(s));
}

/* What no monitor could show, or nobody scan out. */
static bool is_nothing(const struct modeset *s, const struct mode *m)
{
    const D3DKMDT_2DREGION *size = s->kind == MODESET_SOURCE   ? &m->source.Format.Graphics.PrimSurfSize
                                   : s->kind == MODESET_TARGET ? &m->target.VideoSignalInfo.ActiveSize
                                                               : &m->monitor.VideoSignalInfo.ActiveSize;

    return !(s->kind == MODESET_SOURCE && m->source.Type == D3DKMDT_RMT_TEXT) && (!size->cx || !size->cy);
}

NTSTATUS dxgk_modeset_add(struct modeset *s, void *info)
{
    struct mode **at = place(&s->loose, info), *m = *at;

    if (!m)
        return STATUS_INVALID_PARAMETER;
    if (is_nothing(s, m))
        return s->kind == MODESET_SOURCE ? STATUS_GRAPHICS_INVALID_VIDEO_PRESENT_SOURCE_MODE
                                         : STATUS_GRAPHICS_INVALID_VIDEO_PRESENT_TARGET_MODE;
    for (struct mode *o = s->modes; o; o = o->next)
        if (same(s, m, o))
            return STATUS_GRAPHICS_MODE_ALREADY_IN_MODESET;
    for (struct mode *o = s->modes; o; o = o->next)
        if (o->id == m->id) /* the number that it came with is overwritten */
            return STATUS_GRAPHICS_MODE_ID_MUST_BE_UNIQUE;
    *at = m->next;
    m->next = NULL;
    memcpy(m->kept, &m->id, info_size(s));
    *s->last = m;
    s->last = &m->next;
    s->count++;
    return STATUS_SUCCESS;
}

static NTSTATUS add_mode(struct modeset *s, void *info, const char *function)
{
    NTSTATUS st = STATUS_INVALID_PARAMETER;

    if (!dxgk_vidpn_set_may_change(OWNER(), s, function))
        return STATUS_ACCESS_DENIED;
    if (dxgk_has_lent(OWNER(), info, mode_name(s->kind), function)) {
        dxgk_answers_mode(OWNER(), s->kind == MODESET_SOURCE ? info : NULL,
                          s->kind == MODESET_TARGET ? info : NULL);
        st = dxgk_modeset_add(s, info);
    }
    if (NT_SUCCESS(st))
        dxgk_give_back(OWNER(), info);
    return st;
}

static NTSTATUS pin(struct modeset *s, UINT id)
{
    if (!dxgk_vidpn_set_may_change(OWNER(), s, "pfnPinMode"))
        return STATUS_ACCESS_DENIED;
    for (struct mode *m = s->modes; m; m = m->next)
        if (m->id == id) {
            s->pinned = m;
            return STATUS_SUCCESS;
        }
    return s->kind == MODESET_SOURCE ? STATUS_GRAPHICS_INVALID_VIDEO_PRESENT_SOURCE_MODE
                                     : STATUS_GRAPHICS_INVALID_VIDEO_PRESENT_TARGET_MODE;
}

static NTSTATUS release_mode(struct modeset *s, const void *info, const char *function)
{
    struct mode **loose = place(&s->loose, info), *m = *loose;

    if (!m && !*place(&s->modes, info))
        info = info ? &s->loose : NULL; /* of no mode of this set: nothing that is lent */
    if (!dxgk_has_lent(OWNER(), info, mode_name(s->kind), function))
        return STATUS_INVALID_PARAMETER;
    dxgk_give_back(OWNER(), info);
    if (m) {
        *loose = m->next;
        free(m);
    }
    return STATUS_SUCCESS;
}

/* The functions of one interface: `NAME` in front, over handle type H and mode type T. */
#define MODESET_COMMON(NAME, H, T, MAGIC, BAD)                                                               \
    static struct modeset *NAME##_set(H h, const char *function)                                             \
    {                                                                                                        \
        return dxgk_modeset_lent(h, MAGIC, function);                                                        \
    }                                                                                                        \
    static NTSTATUS NTAPI NAME##_num(H h, SIZE_T *n)                                                         \
    {                                                                                                        \
        struct modeset *s = NAME##_set(h, "pfnGetNumModes");                                                 \
        if (!s)                                                                                              \
            return BAD;                                                                                      \
        *n = s->count;                                                                                       \
        return STATUS_SUCCESS;                                                                               \
    }                                                                                                        \
    static NTSTATUS NTAPI NAME##_first(H h, CONST T **out)                                                   \
    {                                                                                                        \
        struct modeset *s = NAME##_set(h, "pfnAcquireFirstModeInfo");                                        \
        *out = NULL;                                                                                         \
        if (!s)                                                                                              \
            return BAD;                                                                                      \
        return lend_mode(s, s->modes, (const void **)out, STATUS_GRAPHICS_DATASET_IS_EMPTY);                 \
    }                                                                                                        \
    static NTSTATUS NTAPI NAME##_next(H h, CONST T *info, CONST T **out)                                     \
    {                                                                                                        \
        struct modeset *s = NAME##_set(h, "pfnAcquireNextModeInfo");                                         \
        struct mode *m;                                                                                      \
        *out = NULL;                                                                                         \
        if (!s)                                                                                              \
            return BAD;                                                                                      \
        m = *place(&s->modes, info);                                                                         \
        if (!m || !dxgk_has_lent(OWNER(), info, mode_name(s->kind), "pfnAcquireNextModeInfo"))               \
            return STATUS_INVALID_PARAMETER;                                                                 \
        return lend_mode(s, m->next, (const void **)out, STATUS_GRAPHICS_NO_MORE_ELEMENTS_IN_DATASET);       \
    }                                                                                                        \
    static NTSTATUS NTAPI NAME##_release(H h, CONST T *info)                                                 \
    {                                                                                                        \
        struct modeset *s = NAME##_set(h, "pfnReleaseModeInfo");                                             \
        return s ? release_mode(s, info, "pfnReleaseModeInfo") : BAD;                                        \
    }                                                                                                        \
    static NTSTATUS NTAPI NAME##_create(H h, T **out)                                                        \
    {                                                                                                        \
        struct modeset *s = NAME##_set(h, "pfnCreateNewModeInfo");                                           \
        struct mode *m = s ? dxgk_modeset_new_mode(s) : NULL;                                                \
        *out = NULL;                                                                                         \
        return s ? lend_mode(s, m, (const void **)out, STATUS_NO_MEMORY) : BAD;                              \
    }                                                                                                        \
    static NTSTATUS NTAPI NAME##_add(H h, T *info)                                                           \
    {                                                                                                        \
        struct modeset *s = NAME##_set(h, "pfnAddMode");                                                     \
        return s ? add_mode(s, info, "pfnAddMode") : BAD;                                                    \
    }

#define MODESET_PINNED(NAME, H, T, BAD)                                                                      \
    static NTSTATUS NTAPI NAME##_pinned(H h, CONST T **out)                                                  \
    {                                                                                                        \
        struct modeset *s = NAME##_set(h, "pfnAcquirePinnedModeInfo");                                       \
        *out = NULL;                                                                                         \
        return s ? lend_mode(s, s->pinned, (const void **)out, STATUS_GRAPHICS_MODE_NOT_PINNED) : BAD;       \
    }                                                                                                        \
    static NTSTATUS NTAPI NAME##_pin(H h, CONST UINT id)                                                     \
    {                                                                                                        \
        struct modeset *s = NAME##_set(h, "pfnPinMode");                                                     \
        return s ? pin(s, id) : BAD;                                                                         \
    }

#define BAD_SOURCE STATUS_GRAPHICS_INVALID_VIDPN_SOURCEMODESET
#define BAD_TARGET STATUS_GRAPHICS_INVALID_VIDPN_TARGETMODESET
MODESET_COMMON(source, D3DKMDT_HVIDPNSOURCEMODESET, D3DKMDT_VIDPN_SOURCE_MODE, MODESET_SOURCE, BAD_SOURCE)
MODESET_PINNED(source, D3DKMDT_HVIDPNSOURCEMODESET, D3DKMDT_VIDPN_SOURCE_MODE, BAD_SOURCE)
MODESET_COMMON(target, D3DKMDT_HVIDPNTARGETMODESET, D3DKMDT_VIDPN_TARGET_MODE, MODESET_TARGET, BAD_TARGET)
MODESET_PINNED(target, D3DKMDT_HVIDPNTARGETMODESET, D3DKMDT_VIDPN_TARGET_MODE, BAD_TARGET)
MODESET_COMMON(monitor, D3DKMDT_HMONITORSOURCEMODESET, D3DKMDT_MONITOR_SOURCE_MODE, MODESET_MONITOR,
               STATUS_INVALID_HANDLE)

static NTSTATUS NTAPI monitor_preferred(D3DKMDT_HMONITORSOURCEMODESET h,
                                        CONST D3DKMDT_MONITOR_SOURCE_MODE **out)
{
    struct modeset *s = monitor_set(h, "pfnAcquirePreferredModeInfo");
    struct mode *m;

    *out = NULL;
    if (!s)
        return STATUS_INVALID_HANDLE;
    for (m = s->modes; m && m->monitor.Preference != D3DKMDT_MP_PREFERRED; m = m->next)
        ;
    return lend_mode(s, m, (const void **)out, STATUS_NOT_FOUND);
}

const DXGK_VIDPNSOURCEMODESET_INTERFACE dxgk_modeset_source_interface = {
    source_num,     source_first,  source_next, source_pinned,
    source_release, source_create, source_add,  source_pin};
const DXGK_VIDPNTARGETMODESET_INTERFACE dxgk_modeset_target_interface = {
    target_num,     target_first,  target_next, target_pinned,
    target_release, target_create, target_add,  target_pin};
const DXGK_MONITORSOURCEMODESET_INTERFACE dxgk_modeset_monitor_interface = {
    monitor_num,    monitor_preferred, monitor_first,  monitor_next,
    monitor_create, monitor_add,       monitor_release};
