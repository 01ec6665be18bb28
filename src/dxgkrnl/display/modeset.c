/* SPDX-License-Identifier: MIT */
#include "dxgkrnl/display/modeset.h"

#include <stdlib.h>
#include <string.h>

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
    m->set = s;
    m->id = s->next_id++;
    m->next = s->loose;
    s->loose = m;
    return m;
}

static struct mode *mode_of(const void *info)
{
    return info ? (struct mode *)((char *)info - offsetof(struct mode, id)) : NULL;
}

static bool take_loose(struct modeset *s, struct mode *m)
{
    for (struct mode **p = &s->loose; *p; p = &(*p)->next)
        if (*p == m) {
            *p = m->next;
            return true;
        }
    return false;
}

static bool same(const struct modeset *s, const struct mode *a, const struct mode *b)
{
    size_t size = s->kind == MODESET_SOURCE   ? sizeof(a->source)
                  : s->kind == MODESET_TARGET ? sizeof(a->target)
                                              : sizeof(a->monitor);
    struct mode x = *b;

    x.id = a->id;
    return !memcmp(&a->id, &x.id, size);
}

NTSTATUS dxgk_modeset_add(struct modeset *s, void *info)
{
    struct mode *m = mode_of(info);

    if (!m || m->set != s || m->added)
        return STATUS_INVALID_PARAMETER;
    for (struct mode *o = s->modes; o; o = o->next)
        if (same(s, m, o))
            return STATUS_GRAPHICS_MODE_ALREADY_IN_MODESET;
    take_loose(s, m);
    m->next = NULL;
    m->added = true;
    *s->last = m;
    s->last = &m->next;
    s->count++;
    return STATUS_SUCCESS;
}

static NTSTATUS pin(struct modeset *s, UINT id)
{
    for (struct mode *m = s->modes; m; m = m->next)
        if (m->id == id) {
            s->pinned = m;
            return STATUS_SUCCESS;
        }
    return s->kind == MODESET_SOURCE ? STATUS_GRAPHICS_INVALID_VIDEO_PRESENT_SOURCE_MODE
                                     : STATUS_GRAPHICS_INVALID_VIDEO_PRESENT_TARGET_MODE;
}

static NTSTATUS release_mode(struct modeset *s, const void *info)
{
    struct mode *m = mode_of(info);

    if (!m || m->set != s)
        return STATUS_INVALID_PARAMETER;
    if (!m->added && take_loose(s, m))
        free(m);
    return STATUS_SUCCESS;
}

/* The functions of one interface: `NAME` in front, over handle type H and mode type T. */
#define MODESET_COMMON(NAME, H, T, MAGIC, BAD)                                                               \
    static struct modeset *NAME##_set(H h)                                                                   \
    {                                                                                                        \
        struct modeset *s = (struct modeset *)h;                                                             \
        return s && s->kind == (MAGIC) ? s : NULL;                                                           \
    }                                                                                                        \
    static NTSTATUS NTAPI NAME##_num(H h, SIZE_T *n)                                                         \
    {                                                                                                        \
        struct modeset *s = NAME##_set(h);                                                                   \
        if (!s)                                                                                              \
            return BAD;                                                                                      \
        *n = s->count;                                                                                       \
        return STATUS_SUCCESS;                                                                               \
    }                                                                                                        \
    static NTSTATUS NTAPI NAME##_first(H h, CONST T **out)                                                   \
    {                                                                                                        \
        struct modeset *s = NAME##_set(h);                                                                   \
        *out = NULL;                                                                                         \
        if (!s)                                                                                              \
            return BAD;                                                                                      \
        if (!s->modes)                                                                                       \
            return STATUS_GRAPHICS_DATASET_IS_EMPTY;                                                         \
        *out = (CONST T *)&s->modes->id;                                                                     \
        return STATUS_SUCCESS;                                                                               \
    }                                                                                                        \
    static NTSTATUS NTAPI NAME##_next(H h, CONST T *info, CONST T **out)                                     \
    {                                                                                                        \
        struct mode *m = mode_of(info);                                                                      \
        *out = NULL;                                                                                         \
        if (!NAME##_set(h))                                                                                  \
            return BAD;                                                                                      \
        if (!m || m->set != (struct modeset *)h || !m->added)                                                \
            return STATUS_INVALID_PARAMETER;                                                                 \
        if (!m->next)                                                                                        \
            return STATUS_GRAPHICS_NO_MORE_ELEMENTS_IN_DATASET;                                              \
        *out = (CONST T *)&m->next->id;                                                                      \
        return STATUS_SUCCESS;                                                                               \
    }                                                                                                        \
    static NTSTATUS NTAPI NAME##_release(H h, CONST T *info)                                                 \
    {                                                                                                        \
        return NAME##_set(h) ? release_mode((struct modeset *)h, info) : BAD;                                \
    }                                                                                                        \
    static NTSTATUS NTAPI NAME##_create(H h, T **out)                                                        \
    {                                                                                                        \
        struct mode *m = NAME##_set(h) ? dxgk_modeset_new_mode((struct modeset *)h) : NULL;                  \
        *out = m ? (T *)&m->id : NULL;                                                                       \
        return m ? STATUS_SUCCESS : NAME##_set(h) ? STATUS_NO_MEMORY : BAD;                                  \
    }                                                                                                        \
    static NTSTATUS NTAPI NAME##_add(H h, T *info)                                                           \
    {                                                                                                        \
        return NAME##_set(h) ? dxgk_modeset_add((struct modeset *)h, info) : BAD;                            \
    }

#define MODESET_PINNED(NAME, H, T, BAD)                                                                      \
    static NTSTATUS NTAPI NAME##_pinned(H h, CONST T **out)                                                  \
    {                                                                                                        \
        struct modeset *s = NAME##_set(h);                                                                   \
        *out = s && s->pinned ? (CONST T *)&s->pinned->id : NULL;                                            \
        return !s ? BAD : s->pinned ? STATUS_SUCCESS : STATUS_GRAPHICS_MODE_NOT_PINNED;                      \
    }                                                                                                        \
    static NTSTATUS NTAPI NAME##_pin(H h, CONST UINT id)                                                     \
    {                                                                                                        \
        return NAME##_set(h) ? pin((struct modeset *)h, id) : BAD;                                           \
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
    struct modeset *s = monitor_set(h);

    *out = NULL;
    if (!s)
        return STATUS_INVALID_HANDLE;
    for (struct mode *m = s->modes; m; m = m->next)
        if (m->monitor.Preference == D3DKMDT_MP_PREFERRED) {
            *out = &m->monitor;
            return STATUS_SUCCESS;
        }
    return STATUS_NOT_FOUND;
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
