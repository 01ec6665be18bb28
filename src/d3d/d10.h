/* SPDX-License-Identifier: MIT */
/* d10.h: Direct3D 10 and 10.1 as faces of 11's device and objects: one object, one count of references, one set of private data. */
#pragma once

#include "d3d/d3d.h"

static inline struct d3d_device *d10_device_of(void *This)
{
    return (struct d3d_device *)((char *)This - offsetof(struct d3d_device, d10_vtbl));
}

static inline struct d3d_child *d10_child_of(void *face)
{
    return face ? (struct d3d_child *)((char *)face - offsetof(struct d3d_child, d10_vtbl)) : NULL;
}

/* The objects of `count` faces, at most 128. */
void d10_children(void **out, void *const *faces, UINT count);
/* Turns `count` objects, in place, into their faces; NULL stays. */
void d10_faces(void **objects, UINT count);
/* The table of its face; NULL: 10 has no such object. */
const void *d10_vtbl_of(enum d3d_kind kind);
/* The face of an object for a Direct3D 10 interface; NULL: it has none. */
void *d10_face(struct d3d_child *c, REFIID riid);
