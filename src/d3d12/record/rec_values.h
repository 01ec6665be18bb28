/* SPDX-License-Identifier: MIT */
/* rec_values.h: how the values and objects that only Direct3D 12 has are written, beside record/rec_enc.h. */
#pragma once

#include "d3d12_api.h"
#include "record/rec_enc.h"

extern void *const *const rec_thunks[D12_NUM_IFACES]; /* generated */

static inline void enc_hresult(struct enc *e, HRESULT v)
{
    enc_var(e, zigzag(v));
}

void enc_iid(struct enc *e, const GUID *iid);
void enc_wstr(struct enc *e, const WCHAR *s);
void enc_handle(struct enc *e, HANDLE h);
/* A new object that a method returned in a pointer, of interface `iid` (NULL: `natural`). */
void enc_new_object(struct enc *e, void *p, const GUID *iid, uint16_t natural, bool ok);
void enc_stream(struct enc *e, const void *p, size_t n);
void enc_resource_desc(struct enc *e, const D3D12_RESOURCE_DESC *v);    /* generated */
bool enc_stream_subobject(struct enc *e, uint32_t type, const void *p); /* generated */

/* rec_tables.c. The real method behind a patched slot, for calls that are not recorded. */
void *REC_ABI rec_orig(void *object, unsigned slot);
/* An object of the implementation: its methods lead to the recorder from now on. */
struct rec_object *rec_object_seen(void *ptr, uint16_t iface);
struct rec_object *REC_ABI rec_object_look_up(struct rec_thread *t, void *ptr);

REC_INLINE struct rec_object *rec_object_of(struct rec_thread *t, void *ptr)
{
    struct rec_object *o = t->object;

    return __builtin_expect(o && o->ptr == ptr, 1) ? o : rec_object_look_up(t, ptr);
}
