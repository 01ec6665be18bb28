/* SPDX-License-Identifier: MIT */
/* vidpn.h: a video present network: paths from sources to targets, and the mode sets at both ends. */
#pragma once

#include "dxgkrnl/display/modeset.h"

struct vidpn_path {
    struct vidpn_path *next;
    D3DKMDT_VIDPN_PRESENT_PATH info; /* lent as CONST once it is in a topology, */
    D3DKMDT_VIDPN_PRESENT_PATH kept; /* and this is what it was */
    bool written;                    /* that was found before its DDI returned */
};

/* What the DDI that has the network may change of it: each level is the ones above it, too. */
enum vidpn_open {
    VIDPN_CLOSED,
    VIDPN_MODES,   /* mode sets, and what a path supports: EnumVidPnCofuncModality */
    VIDPN_TOPOLOGY /* paths: those that recommend */
};

struct vidpn {
    struct vidpn *next;
    struct dxgk *d;
    enum vidpn_open open;
    struct vidpn_path *paths, *loose;
    struct modeset *source[MAX_SOURCES], *target[MAX_CHILDREN]; /* targets by the index of their child */
};

struct vidpn *dxgk_vidpn_create(struct dxgk *d);
void dxgk_vidpn_destroy(struct vidpn *v); /* NULL is legal */
D3DKMDT_HVIDPN dxgk_vidpn_handle(struct vidpn *v);
NTSTATUS NTAPI dxgk_vidpn_query_interface(D3DKMDT_HVIDPN h, DXGK_VIDPN_INTERFACE_VERSION version,
                                          CONST DXGK_VIDPN_INTERFACE **interface);
int dxgk_vidpn_child_index(const struct dxgk *d, UINT target); /* -1: no such target */
NTSTATUS dxgk_vidpn_add_path(struct vidpn *v, UINT source, UINT target);
/* dxgkrnl has changed it. */
void dxgk_vidpn_path_changed(struct vidpn_path *p);
/* Whether a DDI may change `s` by `function`, which is in no network or in one that is open; if not, that is a violation. */
bool dxgk_vidpn_set_may_change(struct dxgk *d, const struct modeset *s, const char *function);
/* What was lent as CONST is what it was, or becomes it again: `ddi` wrote there, NULL: who had it before. */
void dxgk_vidpn_look(struct dxgk *d, const char *ddi);

extern const DXGK_VIDPN_INTERFACE dxgk_vidpn_interface;
extern const DXGK_VIDPNTOPOLOGY_INTERFACE dxgk_vidpn_topology_interface;
