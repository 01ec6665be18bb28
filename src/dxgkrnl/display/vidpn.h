/* SPDX-License-Identifier: MIT */
/* vidpn.h: a video present network: paths from sources to targets, and the mode sets at both ends. */
#pragma once

#include "dxgkrnl/display/modeset.h"

struct vidpn_path {
    struct vidpn_path *next;
    D3DKMDT_VIDPN_PRESENT_PATH info;
};

struct vidpn {
    struct vidpn *next;
    struct dxgk *d;
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
