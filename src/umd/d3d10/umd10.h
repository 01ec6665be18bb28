/* SPDX-License-Identifier: MIT */
/* umd10.h: the user-mode driver for Direct3D 11 and 11.1, aerogpu_d3d10_x64.dll (OpenAdapter10_2).
 *
 *   runtime ─D3D11_1DDI_DEVICEFUNCS─▶ packets of one stream ─umd10_flush─▶ pfnRenderCb ─▶ dxgkrnl
 *                                        ▲                                   │
 *                                   bindings, state                     removed: pfnSetErrorCb, and nothing more is said
 *
 * Invariants:
 *  1. One thread uses a device (the runtime sees to it). The driver's memory of an object is the runtime's, as large as the
 *     CalcPrivate function said.
 *  2. A stream names only allocations that its submission lists: resources with guest memory are on the device's list of them;
 *     those that a stream copies from or into are listed in its submission.
 *  3. A submission fits into the command buffer: umd10_room is asked before a packet that may not.
 *  4. After a failed submission the device says nothing more; the runtime has been told once.
 *  5. No object of the device is named twice: names only grow.
 *  6. A draw or dispatch that Direct3D leaves undefined or drops, and the device refuses, is dropped: no call of a program alone makes
 *     the device refuse a submission, which would remove it.
 */
#pragma once

#include <stdbool.h>

#include "abi/builder.h"
#include "wddm/d3d10umddi_11_1.h"

#include <aerogpu/alloc.h>
#include <aerogpu/escape.h>
#include <aerogpu/ext.h>
#include <aerogpu/pci.h>

#define E_FAIL                       ((HRESULT)0x80004005)
#define E_OUTOFMEMORY                ((HRESULT)0x8007000E)
#define E_INVALIDARG                 ((HRESULT)0x80070057)
#define S_OK                         ((HRESULT)0)
#define D3DDDIERR_DEVICEREMOVED      ((HRESULT)0x88760870)
#define DXGI_DDI_ERR_WASSTILLDRAWING ((HRESULT)0x887A000A)
#define DXGI_DDI_ERR_UNSUPPORTED     ((HRESULT)0x887A0004)
#define D3DERR_WASSTILLDRAWING       ((HRESULT)0x8876021C)

enum umd10_stage { UMD10_VS, UMD10_PS, UMD10_GS, UMD10_HS, UMD10_DS, UMD10_CS, UMD10_STAGES };
enum { UMD10_TEXTURES = 128, UMD10_VERTEX_BUFFERS = 16, UMD10_TARGETS = 8, UMD10_UAVS = 64 };
enum { UMD10_BUFFER_TARGET = 16384 }; /* elements: as wide as a texture */

struct umd10_adapter {
    D3D10DDI_HRTADAPTER runtime;
    PFND3DDDI_QUERYADAPTERINFOCB query;
    struct aerogpu_umd_private info;
};

struct umd10_resource {
    struct umd10_resource *next, **self; /* in the device's list, with guest memory */
    uint32_t name, alloc_id;
    D3DKMT_HANDLE allocation;
    D3D10DDI_HRTRESOURCE runtime;
    uint32_t stride; /* of a structured buffer; else 0 */
    bool buffer, staging, primary, listed, listed_write;
    bool shared, drawn; /* shared: with every submission that is made here */
    uint64_t token;
    uint32_t format, width, height, mips, layers, pitch; /* of textures; pitch of mip 0 in guest memory */
    uint32_t dimensions, depth;                          /* 1 to 3; slices, else 1 */
    uint32_t samples;                                    /* 1, or of textures more */
    uint64_t size;                                       /* of the linear layout */
    unsigned maps;                                       /* of a staging resource, under way */
    bool written;                                        /* by one of them */
    uint8_t *shadow; /* what the CPU writes of a dynamic resource, until it is unmapped */
    /* Of a large dynamic buffer, instead: buffers in guest memory, of which the CPU writes one; NULL: none. */
    struct umd10_memory *memory;
};

enum { UMD10_PIECES = 4 };

struct umd10_memory {
    struct umd10_resource pieces[UMD10_PIECES]; /* `count` of them, of which `now` is mapped, or was last */
    uint32_t count, now;
};

struct umd10_view { /* of any kind */
    struct umd10_resource *resource;
    uint32_t name;         /* of a view, or the resource's */
    uint32_t offset, size; /* of a buffer */
    uint32_t format, dxgi; /* of a texture's view, or of a buffer's with one: 0: none */
    bool own;
};

struct umd10_object { /* layouts, samplers */
    uint32_t name;
};

/* What a program says of itself, as its declarations have it; 0: nothing. */
struct umd10_facts {
    uint8_t gs_input; /* D3D10_SB_PRIMITIVE */
    uint8_t points, domain,
        output; /* control points taken, D3D11_SB_TESSELLATOR_DOMAIN and _OUTPUT_PRIMITIVE */
};

/* A program with what a stream output without a shader adds to it. */
struct umd10_streamed {
    struct umd10_streamed *next;
    uint32_t source, name;
};

struct umd10_shader {
    uint32_t name; /* 0: a stream output without a shader */
    struct umd10_facts facts;
    uint8_t *dxbc; /* of what such a one may be added to */
    uint32_t size;
    void *streams; /* the chunk of a stream output */
    uint32_t streams_size;
    struct umd10_streamed *streamed;
};

struct umd10_query {
    struct umd10_query *next, **self; /* in the device's list, while it counts */
    D3D10DDI_QUERY kind;
    struct umd10_resource
        marker;    /* guest memory that the submission of the end uses; the result is at its beginning */
    uint32_t slot; /* while it counts */
    bool issued;
};

struct umd10_device {
    D3D10DDI_HRTDEVICE runtime;
    D3D10DDI_HRTCORELAYER core;
    const D3DDDI_DEVICECALLBACKS *kt;
    const D3D11DDI_CORELAYER_DEVICECALLBACKS *um;
    const DXGI_DDI_BASE_CALLBACKS *dxgi;
    struct umd10_adapter *adapter;
    struct aerogpu_umd_private info; /* as the adapter told this device; its own is other devices', too */
    bool every_stage;                /* may write to views, and not pixel shaders alone: 11.1 */
    D3D11_1DDI_DEVICEFUNCS whole;    /* what the calls of an 11.0 runtime become (eleven.c) */
    HANDLE context;
    uint8_t *command;
    uint32_t command_size, list_size;
    D3DDDI_ALLOCATIONLIST *list;
    struct abi_builder stream;
    struct umd10_resource *guest; /* those with guest memory */
    struct umd10_query *counting; /* each submission uses their memory */
    uint64_t slots;               /* of the device's queries that are taken */
    bool dropped;                 /* by predication: what is drawn, cleared and copied */
    uint32_t last_name;
    bool removed;
    unsigned errors; /* that the runtime was told of: of a call that makes something, that it is not made */
    /* what is bound */
    struct umd10_shader *shaders[UMD10_STAGES];
    bool shaders_changed;
    uint32_t colours[UMD10_TARGETS], colour_count, depth;
    bool samples_differ; /* of the targets */
    uint32_t views;      /* what shaders write to beside the targets: slots up to the last one */
    bool streams;        /* something is bound that vertices are written to */
    bool viewport_empty;
    uint64_t area, heavy;     /* pixels: of the largest viewport; of the draws in the stream that have many */
    uint32_t topology;        /* 0: none, or one that there is not */
    const uint8_t *container; /* of the shader that is made next; NULL: not known */
    size_t container_size;
    uint32_t scratch; /* a buffer that counters go by; 0: none was needed yet */
    uint32_t indices; /* as many as the index buffer has behind its offset */
};

static inline struct umd10_device *umd10_device(D3D10DDI_HDEVICE h)
{
    return h.pDrvPrivate;
}

static inline bool umd10_has(const struct umd10_device *d, uint64_t feature)
{
    return d->info.device_features & feature;
}

/* The stage of a packet, and what stage_ex says beside it. */
void umd10_stage(enum umd10_stage stage, uint32_t *shader_stage, uint32_t *stage_ex);

/* device.c: submissions. */
uint32_t umd10_name(struct umd10_device *d);
/* Submits the stream unless `bytes` more of packets still fit. */
void umd10_room(struct umd10_device *d, size_t bytes);
void umd10_flush(struct umd10_device *d);
void umd10_error(struct umd10_device *d, HRESULT hr);
void umd10_use(struct umd10_resource *r, bool write);

/* resource.c */
/* Guest memory for `r`, of r->size bytes. */
HRESULT umd10_allocate(struct umd10_device *d, struct umd10_resource *r, UINT source);
void umd10_deallocate(struct umd10_device *d, struct umd10_resource *r);
/* 0: no such format here. */
uint32_t umd10_format(const struct umd10_device *d, UINT dxgi);
/* Whether targets have it, which is not 0. */
bool umd10_is_drawn(uint32_t format);
static inline bool umd10_is_integer(uint32_t format)
{
    return format >= AEROGPU_FORMAT_EXT_R32G32B32A32_UINT && format <= AEROGPU_FORMAT_EXT_R8_SINT;
}

/* A view that is sampled has a format of colours, and is looked at as what it is. */
static inline bool umd10_is_depth(uint32_t format)
{
    return format == AEROGPU_FORMAT_D24_UNORM_S8_UINT || format == AEROGPU_FORMAT_D32_FLOAT ||
           format == AEROGPU_FORMAT_EXT_D16_UNORM || format == AEROGPU_FORMAT_EXT_D32_FLOAT_S8_UINT;
}

void umd10_resource_functions(D3D11_1DDI_DEVICEFUNCS *f);
void umd10_copy(struct umd10_device *d, struct umd10_resource *dst, UINT dst_sub, UINT x, UINT y, UINT z,
                struct umd10_resource *src, UINT src_sub, const D3D10_DDI_BOX *box);
/* What it lies in each dimension at a mip: layers, or slices. */
static inline uint32_t umd10_slices(const struct umd10_resource *r, uint32_t mip)
{
    return r->dimensions != 3 ? r->layers : r->depth >> mip ? r->depth >> mip : 1;
}

/* Of a texel of a buffer; 0: buffers have none of this format. */
uint32_t umd10_texel_bytes(UINT dxgi);
/* `size` bytes of a buffer from `offset` on become `value`, again and again; both are multiples of 4. */
void umd10_fill(struct umd10_device *d, struct umd10_resource *r, uint64_t offset, uint64_t size,
                uint32_t value);

/* view.c, state.c, shader.c, draw.c, query.c, present.c: their functions of the table. */
void umd10_view_functions(D3D11_1DDI_DEVICEFUNCS *f);
void umd10_state_functions(D3D11_1DDI_DEVICEFUNCS *f);
void umd10_shader_functions(D3D11_1DDI_DEVICEFUNCS *f);
void umd10_draw_functions(D3D11_1DDI_DEVICEFUNCS *f);
void umd10_query_functions(D3D11_1DDI_DEVICEFUNCS *f);
void umd10_present_functions(DXGI1_1_DDI_BASE_FUNCTIONS *f);
/* eleven.c: the table that an 11.0 runtime knows, of the functions of `whole`. */
void umd10_eleven_functions(D3D11DDI_DEVICEFUNCS *f, const D3D11_1DDI_DEVICEFUNCS *whole);
/* The table's slots of what the driver does not do: they tell the runtime so. */
void umd10_missing_functions(D3D11_1DDI_DEVICEFUNCS *f);

/* shader.c: binds what is bound, in front of a draw or dispatch. */
void umd10_bind_shaders(struct umd10_device *d);
/* Views for unordered access, from a slot of a stage on. */
void umd10_set_uavs(struct umd10_device *d, enum umd10_stage stage, UINT first, UINT count,
                    CONST D3D11DDI_HUNORDEREDACCESSVIEW *views, CONST UINT *initial_counts);

struct umd10_program {
    const UINT *code;
    const D3D11_1DDIARG_SIGNATURE_ENTRY *in, *out, *patch;
    UINT num_in, num_out, num_patch;
    const void *streams; /* EXT_STREAM_OUTPUT's chunk; NULL: none */
    uint32_t streams_size;
};

/* dxbc.c: a container around a program's tokens, as CREATE_SHADER_DXBC takes it. NULL: no memory. free() it. */
void *umd10_dxbc(const struct umd10_program *p, uint32_t *size);
/* The container with one chunk more. */
void *umd10_dxbc_add(const uint8_t *dxbc, uint32_t size, uint32_t fourcc, const void *chunk,
                     uint32_t chunk_size, uint32_t *new_size);
/* The semantic that stands for a register, which the interface gives no name to. */
#define UMD10_SEMANTIC "REGISTER"
