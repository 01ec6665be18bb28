/* SPDX-License-Identifier: MIT */
#include "dxgkrnl/display/vidpn.h"

#include <stdlib.h>

enum { VIDPN_MAGIC = 0x4E506456 };

int dxgk_vidpn_child_index(const struct dxgk *d, UINT target)
{
    for (unsigned i = 0; i < d->display.num_children; i++)
        if (d->display.children[i].desc.ChildUid == target &&
            d->display.children[i].desc.ChildDeviceType == TypeVideoOutput)
            return (int)i;
    return -1;
}

struct vidpn *dxgk_vidpn_create(struct dxgk *d)
{
    struct vidpn *v = calloc(1, sizeof(*v));

    if (!v)
        return NULL;
    v->magic = VIDPN_MAGIC;
    v->d = d;
    return v;
}

static void free_paths(struct vidpn_path *p)
{
    while (p) {
        struct vidpn_path *next = p->next;
        free(p);
        p = next;
    }
}

void dxgk_vidpn_destroy(struct vidpn *v)
{
    if (!v)
        return;
    for (int i = 0; i < MAX_SOURCES; i++)
        dxgk_modeset_unref(v->source[i]);
    for (int i = 0; i < MAX_CHILDREN; i++)
        dxgk_modeset_unref(v->target[i]);
    free_paths(v->paths);
    free_paths(v->loose);
    v->magic = 0;
    free(v);
}

D3DKMDT_HVIDPN dxgk_vidpn_handle(struct vidpn *v)
{
    return (D3DKMDT_HVIDPN)v;
}

static struct vidpn *get(const void *h)
{
    struct vidpn *v = (struct vidpn *)h;

    return v && v->magic == VIDPN_MAGIC ? v : NULL;
}

/* ---- the topology; its handle is the VidPN itself ------------------------ */

static struct vidpn_path *path_of(const D3DKMDT_VIDPN_PRESENT_PATH *info)
{
    return info ? (struct vidpn_path *)((char *)info - offsetof(struct vidpn_path, info)) : NULL;
}

static struct vidpn_path *find(struct vidpn *v, UINT source, UINT target)
{
    for (struct vidpn_path *p = v->paths; p; p = p->next)
        if (p->info.VidPnSourceId == source && p->info.VidPnTargetId == target)
            return p;
    return NULL;
}

static NTSTATUS NTAPI num_paths(D3DKMDT_HVIDPNTOPOLOGY h, SIZE_T *n)
{
    struct vidpn *v = get(h);

    if (!v)
        return STATUS_GRAPHICS_INVALID_VIDPN_TOPOLOGY;
    *n = 0;
    for (struct vidpn_path *p = v->paths; p; p = p->next)
        ++*n;
    return STATUS_SUCCESS;
}

static NTSTATUS NTAPI num_from_source(D3DKMDT_HVIDPNTOPOLOGY h, D3DDDI_VIDEO_PRESENT_SOURCE_ID source,
                                      SIZE_T *n)
{
    struct vidpn *v = get(h);

    if (!v)
        return STATUS_GRAPHICS_INVALID_VIDPN_TOPOLOGY;
    if (source >= v->d->display.num_sources)
        return STATUS_GRAPHICS_INVALID_VIDEO_PRESENT_SOURCE;
    *n = 0;
    for (struct vidpn_path *p = v->paths; p; p = p->next)
        *n += p->info.VidPnSourceId == source;
    return STATUS_SUCCESS;
}

static NTSTATUS NTAPI enum_targets(D3DKMDT_HVIDPNTOPOLOGY h, D3DDDI_VIDEO_PRESENT_SOURCE_ID source,
                                   SIZE_T index, D3DDDI_VIDEO_PRESENT_TARGET_ID *target)
{
    struct vidpn *v = get(h);

    if (!v)
        return STATUS_GRAPHICS_INVALID_VIDPN_TOPOLOGY;
    for (struct vidpn_path *p = v->paths; p; p = p->next)
        if (p->info.VidPnSourceId == source && !index--) {
            *target = p->info.VidPnTargetId;
            return STATUS_SUCCESS;
        }
    return STATUS_GRAPHICS_NO_MORE_ELEMENTS_IN_DATASET;
}

static NTSTATUS NTAPI source_from_target(D3DKMDT_HVIDPNTOPOLOGY h, D3DDDI_VIDEO_PRESENT_TARGET_ID target,
                                         D3DDDI_VIDEO_PRESENT_SOURCE_ID *source)
{
    struct vidpn *v = get(h);

    if (!v)
        return STATUS_GRAPHICS_INVALID_VIDPN_TOPOLOGY;
    for (struct vidpn_path *p = v->paths; p; p = p->next)
        if (p->info.VidPnTargetId == target) {
            *source = p->info.VidPnSourceId;
            return STATUS_SUCCESS;
        }
    return STATUS_GRAPHICS_PATH_NOT_IN_TOPOLOGY;
}

static NTSTATUS NTAPI acquire(D3DKMDT_HVIDPNTOPOLOGY h, D3DDDI_VIDEO_PRESENT_SOURCE_ID source,
                              D3DDDI_VIDEO_PRESENT_TARGET_ID target, CONST D3DKMDT_VIDPN_PRESENT_PATH **out)
{
    struct vidpn *v = get(h);
    struct vidpn_path *p = v ? find(v, source, target) : NULL;

    *out = p ? &p->info : NULL;
    return !v  ? STATUS_GRAPHICS_INVALID_VIDPN_TOPOLOGY
           : p ? STATUS_SUCCESS
               : STATUS_GRAPHICS_PATH_NOT_IN_TOPOLOGY;
}

static NTSTATUS NTAPI first_path(D3DKMDT_HVIDPNTOPOLOGY h, CONST D3DKMDT_VIDPN_PRESENT_PATH **out)
{
    struct vidpn *v = get(h);

    *out = v && v->paths ? &v->paths->info : NULL;
    return !v         ? STATUS_GRAPHICS_INVALID_VIDPN_TOPOLOGY
           : v->paths ? STATUS_SUCCESS
                      : STATUS_GRAPHICS_DATASET_IS_EMPTY;
}

static NTSTATUS NTAPI next_path(D3DKMDT_HVIDPNTOPOLOGY h, CONST D3DKMDT_VIDPN_PRESENT_PATH *info,
                                CONST D3DKMDT_VIDPN_PRESENT_PATH **out)
{
    struct vidpn_path *p = path_of(info);

    *out = NULL;
    if (!get(h))
        return STATUS_GRAPHICS_INVALID_VIDPN_TOPOLOGY;
    if (!p || !p->added)
        return STATUS_INVALID_PARAMETER;
    if (!p->next)
        return STATUS_GRAPHICS_NO_MORE_ELEMENTS_IN_DATASET;
    *out = &p->next->info;
    return STATUS_SUCCESS;
}

static NTSTATUS NTAPI update_support(D3DKMDT_HVIDPNTOPOLOGY h, CONST D3DKMDT_VIDPN_PRESENT_PATH *info)
{
    struct vidpn *v = get(h);
    struct vidpn_path *p = v && info ? find(v, info->VidPnSourceId, info->VidPnTargetId) : NULL;

    if (!v)
        return STATUS_GRAPHICS_INVALID_VIDPN_TOPOLOGY;
    if (!p)
        return STATUS_GRAPHICS_PATH_NOT_IN_TOPOLOGY;
    p->info.ContentTransformation.ScalingSupport = info->ContentTransformation.ScalingSupport;
    p->info.ContentTransformation.RotationSupport = info->ContentTransformation.RotationSupport;
    p->info.CopyProtection.CopyProtectionSupport = info->CopyProtection.CopyProtectionSupport;
    return STATUS_SUCCESS;
}

static NTSTATUS NTAPI release_path(D3DKMDT_HVIDPNTOPOLOGY h, CONST D3DKMDT_VIDPN_PRESENT_PATH *info)
{
    struct vidpn *v = get(h);
    struct vidpn_path *path = path_of(info);

    if (!v)
        return STATUS_GRAPHICS_INVALID_VIDPN_TOPOLOGY;
    for (struct vidpn_path **p = &v->loose; *p; p = &(*p)->next)
        if (*p == path) {
            *p = path->next;
            free(path);
            break;
        }
    return STATUS_SUCCESS;
}

static NTSTATUS NTAPI create_path(D3DKMDT_HVIDPNTOPOLOGY h, D3DKMDT_VIDPN_PRESENT_PATH **out)
{
    struct vidpn *v = get(h);
    struct vidpn_path *p;

    *out = NULL;
    if (!v)
        return STATUS_GRAPHICS_INVALID_VIDPN_TOPOLOGY;
    p = calloc(1, sizeof(*p));
    if (!p)
        return STATUS_NO_MEMORY;
    p->next = v->loose;
    v->loose = p;
    *out = &p->info;
    return STATUS_SUCCESS;
}

static NTSTATUS NTAPI add_path(D3DKMDT_HVIDPNTOPOLOGY h, D3DKMDT_VIDPN_PRESENT_PATH *info)
{
    struct vidpn *v = get(h);
    struct vidpn_path *path = path_of(info), **last;

    if (!v)
        return STATUS_GRAPHICS_INVALID_VIDPN_TOPOLOGY;
    if (!path || path->added)
        return STATUS_INVALID_PARAMETER;
    if (info->VidPnSourceId >= v->d->display.num_sources)
        return STATUS_GRAPHICS_INVALID_VIDEO_PRESENT_SOURCE;
    if (dxgk_vidpn_child_index(v->d, info->VidPnTargetId) < 0)
        return STATUS_GRAPHICS_INVALID_VIDEO_PRESENT_TARGET;
    if (find(v, info->VidPnSourceId, info->VidPnTargetId))
        return STATUS_GRAPHICS_PATH_ALREADY_IN_TOPOLOGY;
    for (struct vidpn_path **p = &v->loose; *p; p = &(*p)->next)
        if (*p == path) {
            *p = path->next;
            break;
        }
    for (last = &v->paths; *last; last = &(*last)->next)
        ;
    path->next = NULL;
    path->added = true;
    *last = path;
    return STATUS_SUCCESS;
}

static NTSTATUS NTAPI remove_path(D3DKMDT_HVIDPNTOPOLOGY h, D3DDDI_VIDEO_PRESENT_SOURCE_ID source,
                                  D3DDDI_VIDEO_PRESENT_TARGET_ID target)
{
    struct vidpn *v = get(h);

    if (!v)
        return STATUS_GRAPHICS_INVALID_VIDPN_TOPOLOGY;
    for (struct vidpn_path **p = &v->paths; *p; p = &(*p)->next)
        if ((*p)->info.VidPnSourceId == source && (*p)->info.VidPnTargetId == target) {
            struct vidpn_path *path = *p;
            *p = path->next;
            free(path);
            return STATUS_SUCCESS;
        }
    return STATUS_GRAPHICS_PATH_NOT_IN_TOPOLOGY;
}

static const DXGK_VIDPNTOPOLOGY_INTERFACE topology_interface = {
    num_paths, num_from_source, enum_targets, source_from_target, acquire,  first_path,
    next_path, update_support,  release_path, create_path,        add_path, remove_path};

NTSTATUS dxgk_vidpn_add_path(struct vidpn *v, UINT source, UINT target)
{
    D3DKMDT_HVIDPNTOPOLOGY h = (D3DKMDT_HVIDPNTOPOLOGY)v;
    D3DKMDT_VIDPN_PRESENT_PATH *p;
    NTSTATUS s = create_path(h, &p);

    if (!NT_SUCCESS(s))
        return s;
    p->VidPnSourceId = source;
    p->VidPnTargetId = target;
    p->ImportanceOrdinal = D3DKMDT_VPPI_PRIMARY;
    p->ContentTransformation.Scaling = D3DKMDT_VPPS_UNPINNED;
    p->ContentTransformation.Rotation = D3DKMDT_VPPR_UNPINNED;
    p->VidPnTargetColorBasis = D3DKMDT_CB_SCRGB; /* the one that Microsoft's own sample drivers accept */
    p->VidPnTargetColorCoeffDynamicRanges = (D3DKMDT_COLOR_COEFF_DYNAMIC_RANGES){8, 8, 8, 8};
    p->Content = D3DKMDT_VPPC_GRAPHICS;
    p->CopyProtection.CopyProtectionType = D3DKMDT_VPPMT_NOPROTECTION;
    p->GammaRamp.Type = D3DDDI_GAMMARAMP_DEFAULT;
    s = add_path(h, p);
    if (!NT_SUCCESS(s))
        release_path(h, p);
    return s;
}

/* ---- the network --------------------------------------------------------- */

static struct modeset **slot(struct vidpn *v, bool is_source, UINT id)
{
    int child;

    if (is_source)
        return id < v->d->display.num_sources ? &v->source[id] : NULL;
    child = dxgk_vidpn_child_index(v->d, id);
    return child >= 0 ? &v->target[child] : NULL;
}

static NTSTATUS acquire_set(const void *h, bool is_source, bool create, UINT id, struct modeset **out)
{
    struct vidpn *v = get(h);
    struct modeset **s = v ? slot(v, is_source, id) : NULL;

    *out = NULL;
    if (!v)
        return STATUS_GRAPHICS_INVALID_VIDPN;
    if (!s)
        return is_source ? STATUS_GRAPHICS_INVALID_VIDEO_PRESENT_SOURCE
                         : STATUS_GRAPHICS_INVALID_VIDEO_PRESENT_TARGET;
    if (!create && *s) {
        dxgk_modeset_ref(*s);
        *out = *s;
        return STATUS_SUCCESS;
    }
    *out = dxgk_modeset_create(is_source ? MODESET_SOURCE : MODESET_TARGET);
    if (*out && !create) { /* a network that was not enumerated yet has empty sets */
        *s = *out;
        dxgk_modeset_ref(*out);
    }
    return *out ? STATUS_SUCCESS : STATUS_NO_MEMORY;
}

static NTSTATUS release_set(const void *h, struct modeset *s)
{
    if (!get(h))
        return STATUS_GRAPHICS_INVALID_VIDPN;
    if (!s || (s->kind != MODESET_SOURCE && s->kind != MODESET_TARGET))
        return STATUS_INVALID_PARAMETER;
    dxgk_modeset_unref(s);
    return STATUS_SUCCESS;
}

/* Assigning hands the caller's reference over. */
static NTSTATUS assign_set(const void *h, bool is_source, UINT id, struct modeset *set)
{
    struct vidpn *v = get(h);
    struct modeset **s = v ? slot(v, is_source, id) : NULL;

    if (!v)
        return STATUS_GRAPHICS_INVALID_VIDPN;
    if (!s)
        return is_source ? STATUS_GRAPHICS_INVALID_VIDEO_PRESENT_SOURCE
                         : STATUS_GRAPHICS_INVALID_VIDEO_PRESENT_TARGET;
    if (!set || set->kind != (is_source ? MODESET_SOURCE : MODESET_TARGET))
        return is_source ? STATUS_GRAPHICS_INVALID_VIDPN_SOURCEMODESET
                         : STATUS_GRAPHICS_INVALID_VIDPN_TARGETMODESET;
    dxgk_modeset_unref(*s);
    *s = set;
    return STATUS_SUCCESS;
}

static NTSTATUS NTAPI get_topology(D3DKMDT_HVIDPN h, D3DKMDT_HVIDPNTOPOLOGY *topology,
                                   CONST DXGK_VIDPNTOPOLOGY_INTERFACE **interface)
{
    if (!get(h))
        return STATUS_GRAPHICS_INVALID_VIDPN;
    *topology = (D3DKMDT_HVIDPNTOPOLOGY)h;
    *interface = &topology_interface;
    return STATUS_SUCCESS;
}

#define SET_FUNCTIONS(kind, KIND, is_source)                                                                 \
    static NTSTATUS NTAPI acquire_##kind(D3DKMDT_HVIDPN h, UINT id, D3DKMDT_HVIDPN##KIND##MODESET *out,      \
                                         CONST DXGK_VIDPN##KIND##MODESET_INTERFACE **interface)              \
    {                                                                                                        \
        *interface = &dxgk_modeset_##kind##_interface;                                                       \
        return acquire_set(h, is_source, false, id, (struct modeset **)out);                                 \
    }                                                                                                        \
    static NTSTATUS NTAPI create_##kind(D3DKMDT_HVIDPN h, UINT id, D3DKMDT_HVIDPN##KIND##MODESET *out,       \
                                        CONST DXGK_VIDPN##KIND##MODESET_INTERFACE **interface)               \
    {                                                                                                        \
        *interface = &dxgk_modeset_##kind##_interface;                                                       \
        return acquire_set(h, is_source, true, id, (struct modeset **)out);                                  \
    }                                                                                                        \
    static NTSTATUS NTAPI release_##kind(D3DKMDT_HVIDPN h, D3DKMDT_HVIDPN##KIND##MODESET s)                  \
    {                                                                                                        \
        return release_set(h, (struct modeset *)s);                                                          \
    }                                                                                                        \
    static NTSTATUS NTAPI assign_##kind(D3DKMDT_HVIDPN h, UINT id, D3DKMDT_HVIDPN##KIND##MODESET s)          \
    {                                                                                                        \
        return assign_set(h, is_source, id, (struct modeset *)s);                                            \
    }

SET_FUNCTIONS(source, SOURCE, true)
SET_FUNCTIONS(target, TARGET, false)

static NTSTATUS NTAPI assign_multisampling(D3DKMDT_HVIDPN h, D3DDDI_VIDEO_PRESENT_SOURCE_ID source, SIZE_T n,
                                           CONST D3DDDI_MULTISAMPLINGMETHOD *methods)
{
    struct vidpn *v = get(h);

    if (!v)
        return STATUS_GRAPHICS_INVALID_VIDPN;
    if (source >= v->d->display.num_sources)
        return STATUS_GRAPHICS_INVALID_VIDEO_PRESENT_SOURCE;
    return n && !methods ? STATUS_INVALID_PARAMETER : STATUS_SUCCESS;
}

static const DXGK_VIDPN_INTERFACE vidpn_interface = {
    DXGK_VIDPN_INTERFACE_VERSION_V1,
    get_topology,
    acquire_source,
    release_source,
    create_source,
    assign_source,
    assign_multisampling,
    acquire_target,
    release_target,
    create_target,
    assign_target,
};

NTSTATUS NTAPI dxgk_vidpn_query_interface(D3DKMDT_HVIDPN h, DXGK_VIDPN_INTERFACE_VERSION version,
                                          CONST DXGK_VIDPN_INTERFACE **interface)
{
    if (!get(h))
        return STATUS_GRAPHICS_INVALID_VIDPN;
    if (version != DXGK_VIDPN_INTERFACE_VERSION_V1)
        return STATUS_NOT_SUPPORTED;
    *interface = &vidpn_interface;
    return STATUS_SUCCESS;
}
