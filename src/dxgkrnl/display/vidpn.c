/* SPDX-License-Identifier: MIT */
#include "dxgkrnl/display/vidpn.h"

#include <stdlib.h>
#include <string.h>

#include "dxgkrnl/display/loans.h"
#include "dxgkrnl/ntos/routines.h"

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
    v->d = d;
    v->next = d->display.vidpns;
    d->display.vidpns = v;
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
    LIST_DROP(&v->d->display.vidpns, v, next);
    free(v);
}

D3DKMDT_HVIDPN dxgk_vidpn_handle(struct vidpn *v)
{
    return (D3DKMDT_HVIDPN)v;
}

/* NULL: there is no such network, or not any more. */
static struct vidpn *get(const void *h)
{
    struct vidpn *v = OWNER()->display.vidpns;

    while (v && v != h)
        v = v->next;
    return v;
}

/* ---- what may be changed, and by whom ------------------------------------ */

static bool may_change(const struct vidpn *v, enum vidpn_open what, const char *function)
{
    if (v->open >= what)
        return true;
    dxgk_kernel_violation(v->d->kernel, "%s for a VidPN whose %s may not be changed here", function,
                          what == VIDPN_TOPOLOGY ? "topology" : "modes and paths");
    return false;
}

bool dxgk_vidpn_set_may_change(struct dxgk *d, const struct modeset *s, const char *function)
{
    for (const struct vidpn *v = d->display.vidpns; v; v = v->next) {
        for (int i = 0; i < MAX_SOURCES; i++)
            if (v->source[i] == s)
                return may_change(v, VIDPN_MODES, function);
        for (int i = 0; i < MAX_CHILDREN; i++)
            if (v->target[i] == s)
                return may_change(v, VIDPN_MODES, function);
    }
    return true;
}

void dxgk_vidpn_path_changed(struct vidpn_path *p)
{
    memcpy(&p->kept, &p->info, sizeof(p->kept));
}

static void look_at_paths(struct vidpn_path *p, bool *written)
{
    for (; p; p = p->next) {
        *written |= p->written || memcmp(&p->info, &p->kept, sizeof(p->info)) != 0;
        p->written = false;
        memcpy(&p->info, &p->kept, sizeof(p->info));
    }
}

void dxgk_vidpn_look(struct dxgk *d, const char *ddi)
{
    const char *what = NULL;
    bool path = false;

    for (struct vidpn *v = d->display.vidpns; v; v = v->next) {
        look_at_paths(v->paths, &path);
        for (int i = 0; i < MAX_SOURCES; i++)
            what = dxgk_modeset_written(v->source[i]) ? "source mode" : what;
        for (int i = 0; i < MAX_CHILDREN; i++)
            what = dxgk_modeset_written(v->target[i]) ? "target mode" : what;
    }
    for (int i = 0; i < MAX_CHILDREN; i++)
        what = dxgk_modeset_written(d->display.children[i].modes) ? "monitor's mode"
               : dxgk_monitor_written(&d->display.children[i])    ? "monitor's descriptor or frequency range"
                                                                  : what;
    what = path ? "path" : what;
    if (what && !dxgk_kernel_death(d->kernel))
        dxgk_kernel_violation(d->kernel, "%s wrote to a %s that it was lent as CONST%s",
                              ddi ? ddi : "the miniport", what, ddi ? "" : ", and has no more");
}

/* ---- the topology; its handle is the VidPN itself ------------------------ */

/* Where the path that `info` is of hangs in `list`, or the list's end; `info` itself is not read. */
static struct vidpn_path **place(struct vidpn_path **list, const D3DKMDT_VIDPN_PRESENT_PATH *info)
{
    while (*list && &(*list)->info != info)
        list = &(*list)->next;
    return list;
}

/* `p` NULL: there is none, and `none` says so. */
static NTSTATUS lend_path(struct vidpn_path *p, const D3DKMDT_VIDPN_PRESENT_PATH **out, NTSTATUS none)
{
    bool lent = p && dxgk_lend(OWNER(), &p->info, "path", NULL);

    *out = lent ? &p->info : NULL;
    return lent ? STATUS_SUCCESS : p ? STATUS_NO_MEMORY : none;
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

    *out = NULL;
    return v ? lend_path(find(v, source, target), out, STATUS_GRAPHICS_PATH_NOT_IN_TOPOLOGY)
             : STATUS_GRAPHICS_INVALID_VIDPN_TOPOLOGY;
}

static NTSTATUS NTAPI first_path(D3DKMDT_HVIDPNTOPOLOGY h, CONST D3DKMDT_VIDPN_PRESENT_PATH **out)
{
    struct vidpn *v = get(h);

    *out = NULL;
    return v ? lend_path(v->paths, out, STATUS_GRAPHICS_DATASET_IS_EMPTY)
             : STATUS_GRAPHICS_INVALID_VIDPN_TOPOLOGY;
}

static NTSTATUS NTAPI next_path(D3DKMDT_HVIDPNTOPOLOGY h, CONST D3DKMDT_VIDPN_PRESENT_PATH *info,
                                CONST D3DKMDT_VIDPN_PRESENT_PATH **out)
{
    struct vidpn *v = get(h);
    struct vidpn_path *p = v ? *place(&v->paths, info) : NULL;

    *out = NULL;
    if (!v)
        return STATUS_GRAPHICS_INVALID_VIDPN_TOPOLOGY;
    if (p && !dxgk_has_lent(v->d, info, "path", "pfnAcquireNextPathInfo"))
        return STATUS_INVALID_PARAMETER;
    return p ? lend_path(p->next, out, STATUS_GRAPHICS_NO_MORE_ELEMENTS_IN_DATASET)
             : STATUS_INVALID_PARAMETER;
}

/* What the routine is for; all else of `from` is looked at by nobody. */
static void set_support(D3DKMDT_VIDPN_PRESENT_PATH *to, const D3DKMDT_VIDPN_PRESENT_PATH *from)
{
    to->ContentTransformation.ScalingSupport = from->ContentTransformation.ScalingSupport;
    to->ContentTransformation.RotationSupport = from->ContentTransformation.RotationSupport;
    to->CopyProtection.CopyProtectionSupport = from->CopyProtection.CopyProtectionSupport;
}

static NTSTATUS NTAPI update_support(D3DKMDT_HVIDPNTOPOLOGY h, CONST D3DKMDT_VIDPN_PRESENT_PATH *info)
{
    struct vidpn *v = get(h);
    struct vidpn_path *p = v && info ? find(v, info->VidPnSourceId, info->VidPnTargetId) : NULL;

    if (!v)
        return STATUS_GRAPHICS_INVALID_VIDPN_TOPOLOGY;
    if (!p)
        return STATUS_GRAPHICS_PATH_NOT_IN_TOPOLOGY;
    if (!may_change(v, VIDPN_MODES, "pfnUpdatePathSupportInfo"))
        return STATUS_ACCESS_DENIED;
    if (memcmp(&p->info, &p->kept, sizeof(p->info)) !=
        0) /* it wrote where it reads, and not into a copy of its own */
        p->written = true;
    set_support(&p->kept, info);
    p->info = p->kept;
    return STATUS_SUCCESS;
}

static NTSTATUS NTAPI release_path(D3DKMDT_HVIDPNTOPOLOGY h, CONST D3DKMDT_VIDPN_PRESENT_PATH *info)
{
    struct vidpn *v = get(h);
    struct vidpn_path **at, *loose;

    if (!v)
        return STATUS_GRAPHICS_INVALID_VIDPN_TOPOLOGY;
    if (!dxgk_has_lent(v->d, info, "path", "pfnReleasePathInfo"))
        return STATUS_INVALID_PARAMETER;
    dxgk_give_back(v->d, info);
    at = place(&v->loose, info);
    loose = *at;
    if (loose) {
        *at = loose->next;
        free(loose);
    }
    return STATUS_SUCCESS;
}

/* A new path, which is in no topology yet. */
static struct vidpn_path *new_path(struct vidpn *v)
{
    struct vidpn_path *p = calloc(1, sizeof(*p));

    if (!p)
        return NULL;
    p->next = v->loose;
    v->loose = p;
    return p;
}

static NTSTATUS NTAPI create_path(D3DKMDT_HVIDPNTOPOLOGY h, D3DKMDT_VIDPN_PRESENT_PATH **out)
{
    struct vidpn *v = get(h);

    *out = NULL;
    return v ? lend_path(new_path(v), (const D3DKMDT_VIDPN_PRESENT_PATH **)out, STATUS_NO_MEMORY)
             : STATUS_GRAPHICS_INVALID_VIDPN_TOPOLOGY;
}

static NTSTATUS insert_path(struct vidpn *v, const D3DKMDT_VIDPN_PRESENT_PATH *info)
{
    struct vidpn_path **at = place(&v->loose, info), *path = *at, **last;

    if (!path)
        return STATUS_INVALID_PARAMETER;
    if (info->VidPnSourceId >= v->d->display.num_sources)
        return STATUS_GRAPHICS_INVALID_VIDEO_PRESENT_SOURCE;
    if (dxgk_vidpn_child_index(v->d, info->VidPnTargetId) < 0)
        return STATUS_GRAPHICS_INVALID_VIDEO_PRESENT_TARGET;
    if (find(v, info->VidPnSourceId, info->VidPnTargetId))
        return STATUS_GRAPHICS_PATH_ALREADY_IN_TOPOLOGY;
    *at = path->next;
    for (last = &v->paths; *last; last = &(*last)->next)
        ;
    path->next = NULL;
    *last = path;
    dxgk_vidpn_path_changed(path);
    return STATUS_SUCCESS;
}

static NTSTATUS NTAPI add_path(D3DKMDT_HVIDPNTOPOLOGY h, D3DKMDT_VIDPN_PRESENT_PATH *info)
{
    struct vidpn *v = get(h);
    NTSTATUS s = STATUS_INVALID_PARAMETER;

    if (!v)
        return STATUS_GRAPHICS_INVALID_VIDPN_TOPOLOGY;
    if (!may_change(v, VIDPN_TOPOLOGY, "pfnAddPath"))
        return STATUS_ACCESS_DENIED;
    if (dxgk_has_lent(v->d, info, "path", "pfnAddPath"))
        s = insert_path(v, info);
    if (NT_SUCCESS(s))
        dxgk_give_back(v->d, info);
    return s;
}

static NTSTATUS NTAPI remove_path(D3DKMDT_HVIDPNTOPOLOGY h, D3DDDI_VIDEO_PRESENT_SOURCE_ID source,
                                  D3DDDI_VIDEO_PRESENT_TARGET_ID target)
{
    struct vidpn *v = get(h);

    if (!v)
        return STATUS_GRAPHICS_INVALID_VIDPN_TOPOLOGY;
    if (!may_change(v, VIDPN_TOPOLOGY, "pfnRemovePath"))
        return STATUS_ACCESS_DENIED;
    for (struct vidpn_path **p = &v->paths; *p; p = &(*p)->next)
        if ((*p)->info.VidPnSourceId == source && (*p)->info.VidPnTargetId == target) {
            struct vidpn_path *path = *p;
            *p = path->next;
            free(path);
            return STATUS_SUCCESS;
        }
    return STATUS_GRAPHICS_PATH_NOT_IN_TOPOLOGY;
}

const DXGK_VIDPNTOPOLOGY_INTERFACE dxgk_vidpn_topology_interface = {
    num_paths, num_from_source, enum_targets, source_from_target, acquire,  first_path,
    next_path, update_support,  release_path, create_path,        add_path, remove_path};

NTSTATUS dxgk_vidpn_add_path(struct vidpn *v, UINT source, UINT target)
{
    struct vidpn_path *path = new_path(v);
    D3DKMDT_VIDPN_PRESENT_PATH *p = path ? &path->info : NULL;

    if (!p)
        return STATUS_NO_MEMORY;
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
    return insert_path(v, p); /* a loose one goes with its network */
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
    struct modeset **s = v ? slot(v, is_source, id) : NULL, *set;
    bool lent;

    *out = NULL;
    if (!v)
        return STATUS_GRAPHICS_INVALID_VIDPN;
    if (!s)
        return is_source ? STATUS_GRAPHICS_INVALID_VIDEO_PRESENT_SOURCE
                         : STATUS_GRAPHICS_INVALID_VIDEO_PRESENT_TARGET;
    set = create || !*s ? dxgk_modeset_create(is_source ? MODESET_SOURCE : MODESET_TARGET) : *s;
    if (!set)
        return STATUS_NO_MEMORY;
    lent = dxgk_modeset_lend(set);
    if (create)
        dxgk_modeset_unref(set);
    else
        *s = set; /* a network that was not enumerated yet has empty sets */
    *out = lent ? set : NULL;
    return lent ? STATUS_SUCCESS : STATUS_NO_MEMORY;
}

static NTSTATUS release_set(const void *h, enum modeset_kind kind, const void *handle, const char *function)
{
    struct modeset *s;

    if (!get(h))
        return STATUS_GRAPHICS_INVALID_VIDPN;
    s = dxgk_modeset_lent(handle, kind, function);
    if (!s)
        return STATUS_INVALID_PARAMETER;
    dxgk_give_back(OWNER(), s);
    dxgk_modeset_unref(s);
    return STATUS_SUCCESS;
}

/* Assigning hands the miniport's reference over. */
static NTSTATUS assign_set(const void *h, enum modeset_kind kind, UINT id, const void *handle,
                           const char *function)
{
    bool is_source = kind == MODESET_SOURCE;
    struct vidpn *v = get(h);
    struct modeset **s = v ? slot(v, is_source, id) : NULL, *set;

    if (!v)
        return STATUS_GRAPHICS_INVALID_VIDPN;
    if (!s)
        return is_source ? STATUS_GRAPHICS_INVALID_VIDEO_PRESENT_SOURCE
                         : STATUS_GRAPHICS_INVALID_VIDEO_PRESENT_TARGET;
    set = dxgk_modeset_lent(handle, kind, function);
    if (!set)
        return is_source ? STATUS_GRAPHICS_INVALID_VIDPN_SOURCEMODESET
                         : STATUS_GRAPHICS_INVALID_VIDPN_TARGETMODESET;
    if (!may_change(v, VIDPN_MODES, function))
        return STATUS_ACCESS_DENIED;
    dxgk_give_back(v->d, set);
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
    *interface = &dxgk_vidpn_topology_interface;
    return STATUS_SUCCESS;
}

#define SET_FUNCTIONS(kind, KIND, Kind, is_source)                                                           \
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
        return release_set(h, MODESET_##KIND, s, "pfnRelease" #Kind "ModeSet");                              \
    }                                                                                                        \
    static NTSTATUS NTAPI assign_##kind(D3DKMDT_HVIDPN h, UINT id, D3DKMDT_HVIDPN##KIND##MODESET s)          \
    {                                                                                                        \
        return assign_set(h, MODESET_##KIND, id, s, "pfnAssign" #Kind "ModeSet");                            \
    }

SET_FUNCTIONS(source, SOURCE, Source, true)
SET_FUNCTIONS(target, TARGET, Target, false)

static NTSTATUS NTAPI assign_multisampling(D3DKMDT_HVIDPN h, D3DDDI_VIDEO_PRESENT_SOURCE_ID source, SIZE_T n,
                                           CONST D3DDDI_MULTISAMPLINGMETHOD *methods)
{
    struct vidpn *v = get(h);

    if (!v)
        return STATUS_GRAPHICS_INVALID_VIDPN;
    if (source >= v->d->display.num_sources)
        return STATUS_GRAPHICS_INVALID_VIDEO_PRESENT_SOURCE;
    if (!may_change(v, VIDPN_MODES, "pfnAssignMultisamplingMethodSet"))
        return STATUS_ACCESS_DENIED;
    return n && !methods ? STATUS_INVALID_PARAMETER : STATUS_SUCCESS;
}

const DXGK_VIDPN_INTERFACE dxgk_vidpn_interface = {
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
    *interface = &dxgk_vidpn_interface;
    return STATUS_SUCCESS;
}
