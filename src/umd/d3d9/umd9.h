/* SPDX-License-Identifier: MIT */
/* umd9.h: the user-mode driver for Direct3D 9, aerogpu_d3d9_x64.dll (OpenAdapter).
 *
 *   runtime ─D3DDDI_DEVICEFUNCS─▶ packets of one stream ─umd9_flush─▶ pfnRenderCb ─▶ dxgkrnl
 *                                      ▲                                  │
 *                      states, transforms, lights, stages         removed: every call says so
 *
 * Invariants:
 *  1. One thread uses a device (the runtime sees to it).
 *  2. A stream names only allocations that its submission lists: those that it copies from or into.
 *  3. A submission fits into the command buffer: umd9_room is asked before packets that may not.
 *  4. After a failed submission nothing is submitted any more, and calls answer D3DDDIERR_DEVICEREMOVED.
 *  5. No object of the device is named twice: names only grow.
 *  6. Nothing that a program says makes the device refuse a submission, which would remove it: shaders are checked when they are
 *     made, draws that lack something are dropped, ranges are cut to what is there.
 *  7. What the device has in its registers is the program's, or the fixed function's: who draws next writes what is not his.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "abi/builder.h"
#include "abi/d3d9_states.h"
#include "wddm/d3dumddi9.h"

#include <aerogpu/alloc.h>
#include <aerogpu/escape.h>
#include <aerogpu/ext.h>
#include <aerogpu/pci.h>

#define E_FAIL                  ((HRESULT)0x80004005)
#define E_OUTOFMEMORY           ((HRESULT)0x8007000E)
#define E_INVALIDARG            ((HRESULT)0x80070057)
#define S_OK                    ((HRESULT)0)
#define S_FALSE                 ((HRESULT)1)
#define D3DDDIERR_DEVICEREMOVED ((HRESULT)0x88760870)
#define D3DERR_WASSTILLDRAWING  ((HRESULT)0x8876021C)

enum {
    UMD9_STAGES = 8,    /* of textures in the fixed function */
    UMD9_SAMPLERS = 21, /* 16 of pixel shaders, the displacement map's, 4 of vertex shaders */
    UMD9_TSS = 35,
    UMD9_STREAMS = 16,
    UMD9_TARGETS = 4,
    UMD9_CONSTANTS = 256,
    UMD9_WORLDS = 4,
    UMD9_FIXED_ROWS = 128,
    UMD9_VS_SAMPLER = 257 /* the number of the first of vertex shaders, D3DVERTEXTEXTURESAMPLER0 */
};

struct umd9_adapter {
    HANDLE runtime;
    PFND3DDDI_QUERYADAPTERINFOCB query;
    struct aerogpu_umd_private info;
};

/* A format of Direct3D: what it is in the device, and how its texels become those. */
struct umd9_format {
    uint32_t d3d, abi;
    uint8_t bytes, block; /* of a texel or a block; texels that a block has each way */
    uint8_t abi_bytes;
    uint32_t operations; /* FORMATOP_* */
    /* A row of `n` texels into the device's; NULL: they are the same. */
    void (*widen)(uint8_t *to, const uint8_t *from, uint32_t n);
    /* And back; NULL: nobody reads them back, or they are the same. */
    void (*narrow)(uint8_t *to, const uint8_t *from, uint32_t n);
    /* Of a picture whose colours lie behind it, half as many lines of them: `n` texels from x, y on of what begins at `from`. */
    void (*planar)(uint8_t *to, const uint8_t *from, uint32_t pitch, uint32_t height, uint32_t x, uint32_t y,
                   uint32_t n);
};

struct umd9_alloc { /* guest memory */
    struct umd9_alloc *next, **self;
    uint32_t id;
    D3DKMT_HANDLE handle;
    HANDLE resource; /* the runtime's, whose it is where it is shared */
    uint64_t size;
    bool listed, listed_write, drawn; /* drawn: what is shared, by this device */
    uint32_t counting;                /* queries that every submission writes into it */
};

struct umd9_surface {
    uint32_t width, height, depth;
    uint32_t pitch, rows; /* in the program's format, of shadow or sysmem */
    uint32_t slice;       /* bytes from slice to slice, of volumes */
    uint64_t offset;      /* in shadow */
    uint8_t *sysmem;
    uint32_t view; /* its name as a target, 0: none yet */
    bool stale;    /* the device wrote it since the shadow did */
    bool locked, locked_read_only;
    D3DDDIBOX area;
};

struct umd9_resource {
    HANDLE runtime;
    const struct umd9_format *format; /* NULL: a buffer */
    D3DDDI_RESOURCEFLAGS flags;
    uint32_t name;          /* 0: system memory */
    uint32_t samples, type; /* in each texel; the D3DDDIMULTISAMPLE_TYPE that was asked for */
    uint32_t resolved;      /* of several samples: the texture that has one of them; 0: none yet */
    bool unresolved;        /* and that is old */
    uint32_t mips, faces, num_surfaces;
    uint64_t size; /* of buffers; of the shadow */
    uint8_t *shadow;
    struct umd9_alloc *alloc; /* of primaries, of what is shared, and of what is */
    bool nonlocal;            /* in memory that the CPU locks as it is */
    uint32_t pitch;           /* of these, in guest memory */
    uint64_t
        token; /* of what is shared; its end is the kernel's driver's to say, with the last that has it open */
    D3DDDIRANGE range; /* of the lock of a buffer; Size 0: it is not locked */
    struct umd9_surface surfaces[];
};

enum { UMD9_OLD_SAMPLERS = 6 };

struct umd9_shader {
    uint32_t name;
    bool pixel;
    uint32_t major;
    /* of pixel shaders of model 1, which do not say what they sample: what it is without being said, 0 where a sampler is not used; the
     * code; and the same for other textures */
    uint8_t dims[UMD9_OLD_SAMPLERS];
    uint32_t words;
    uint32_t *code;
    struct umd9_generated *others;
};

enum { UMD9_USAGE_POSITIONT = 9 };

struct umd9_decl {
    uint32_t name;
    uint32_t count;
    bool transformed; /* POSITIONT */
    D3DDDIVERTEXELEMENT elements[32];
};

struct umd9_query {
    D3DDDIQUERYTYPE type;
    struct umd9_alloc *marker;
    bool issued, counting;
    uint32_t slot; /* while it counts */
};

struct umd9_light {
    struct umd9_light *next;
    uint32_t index;
    bool enabled;
    D3DDDI_LIGHT data;
};

struct umd9_stream {
    struct umd9_resource *buffer;
    uint32_t offset, stride, divider;
    const uint8_t *um;
};

/* Constants as a program set them, and which of them the device does not have. */
struct umd9_registers {
    float f[UMD9_CONSTANTS][4];
    int32_t i[16][4];
    BOOL b[16];
    uint32_t f_low, f_high; /* [low, high) */
    uint32_t i_changed, b_changed;
    uint32_t f_used; /* registers [0, used) were ever written */
};

struct umd9_generated { /* a shader of the fixed function, by its key */
    struct umd9_generated *next;
    uint32_t name, key_size;
    uint8_t key[];
};

struct umd9_scratch { /* guest memory that pictures are read back through */
    struct umd9_alloc *alloc;
    uint32_t name, format, width, height, pitch;
};

struct umd9_ring { /* vertices and indices of user memory, behind each other */
    uint32_t name, size, at;
};

struct umd9_device {
    HANDLE runtime;
    const D3DDDI_DEVICECALLBACKS *kt;
    struct umd9_adapter *adapter;
    struct aerogpu_umd_private info; /* as the adapter told this device; its own is other devices', too */
    HANDLE context;
    uint8_t *command;
    uint32_t command_size, list_size;
    D3DDDI_ALLOCATIONLIST *list;
    struct abi_builder stream;
    struct umd9_alloc *allocs;
    uint32_t num_allocs;
    uint32_t last_name;
    bool removed;
    struct umd9_scratch scratch;
    struct umd9_ring vertices, indices;
    uint32_t locked_buffers;

    struct umd9_resource *targets[UMD9_TARGETS];
    uint32_t target_surfaces[UMD9_TARGETS];
    struct umd9_resource *depth;
    bool targets_changed;
    uint32_t rs[D3DRS_COUNT];
    uint32_t tss[UMD9_STAGES][UMD9_TSS];
    uint32_t samplers[UMD9_SAMPLERS][D3DSAMP_COUNT];
    struct umd9_resource *textures[UMD9_SAMPLERS];
    D3DDDIARG_VIEWPORTINFO viewport;
    D3DDDIARG_ZRANGE z;
    bool viewport_changed;
    RECT scissor;
    float world[UMD9_WORLDS][4][4], view[4][4], projection[4][4], texture[UMD9_STAGES][4][4];
    D3DDDIARG_SETMATERIAL material;
    struct umd9_light *lights;
    float clip[6][4];
    struct umd9_shader *vs, *ps;
    struct umd9_decl *decl;
    struct umd9_stream streams[UMD9_STREAMS];
    bool streams_changed;
    struct umd9_resource *indices_bound;
    uint32_t index_stride;
    const uint8_t *indices_um;
    struct umd9_registers vsc, psc;
    /* what the device has */
    uint32_t bound_vs, bound_ps, bound_layout, bound_topology;
    struct umd9_generated *generated_vs, *generated_ps;
    float fixed_vs[UMD9_FIXED_ROWS][4], fixed_ps[9 + 2 * UMD9_STAGES][4]; /* the fixed function's constants */
    uint32_t fixed_vs_rows, fixed_ps_rows;  /* as many of them are still in the device */
    uint32_t quad_vs, quad_ps, quad_layout; /* that stretch pictures */
    float rows[AEROGPU_D3D9_ROWS][4];       /* of EXT_SET_D3D9_VALUES */
    bool unclipped;                         /* the device has CLIPPING off */
    uint32_t sample_mask;                   /* the device's */
    uint64_t query_slots;                   /* those that count */
};

static inline struct umd9_device *umd9_device(HANDLE h)
{
    return h;
}

/* device.c: submissions. */
uint32_t umd9_name(struct umd9_device *d);
/* Submits the stream unless `bytes` more of packets still fit. */
void umd9_room(struct umd9_device *d, size_t bytes);
void umd9_flush(struct umd9_device *d);
/* S_OK, or that the device is gone. */
HRESULT umd9_state(const struct umd9_device *d);
HRESULT umd9_alloc_create(struct umd9_device *d, struct umd9_alloc **out, uint64_t size,
                          struct umd9_resource *shown, UINT source);
void umd9_alloc_link(struct umd9_device *d, struct umd9_alloc *a);
/* The device wrote to it: what the CPU has of it is old. */
void umd9_written(struct umd9_resource *r, uint32_t surface);
uint32_t umd9_shared_format(const struct umd9_format *f);
void umd9_alloc_destroy(struct umd9_device *d, struct umd9_alloc *a);
void umd9_alloc_use(struct umd9_alloc *a, bool write);
HRESULT umd9_alloc_lock(struct umd9_device *d, struct umd9_alloc *a, bool wait, void **out);
void umd9_alloc_unlock(struct umd9_device *d, struct umd9_alloc *a);

/* format.c */
const struct umd9_format *umd9_format(uint32_t d3d);
/* What can be done with it on a device with these features: 0 where it has it not. */
uint32_t umd9_operations(const struct umd9_format *f, uint64_t features);
const struct umd9_format *umd9_formats(uint32_t *count);
/* Depth that shaders read as a number: they compare with that of other formats. */
bool umd9_is_read(const struct umd9_format *f);
/* A target that nobody looks at. */
bool umd9_is_null(const struct umd9_format *f);
/* One that shaders decode where SRGBTEXTURE asks for it: the device does that of others. */
bool umd9_is_decoded(const struct umd9_format *f);

/* How many samples a texel of that type has: 0 where there is none. */
uint32_t umd9_samples(const struct umd9_format *f, uint64_t features, uint32_t type);

/* resource.c */
/* The texture of one sample that has what the resource has. */
uint32_t umd9_source(struct umd9_device *d, struct umd9_resource *r);
void umd9_resource_functions(D3DDDI_DEVICEFUNCS *f);
/* The name by which a surface is a target. */
uint32_t umd9_target(struct umd9_device *d, struct umd9_resource *r, uint32_t surface);
/* A box of memory in the program's format to the device. */
void umd9_upload(struct umd9_device *d, struct umd9_resource *r, uint32_t surface, const D3DDDIBOX *box,
                 const uint8_t *from, uint32_t pitch, uint32_t slice);
/* Where a texel is in what begins at `base`: a shadow at the surface's offset, or system memory. */
uint8_t *umd9_texel(const struct umd9_resource *r, uint32_t surface, uint8_t *base, uint32_t x, uint32_t y,
                    uint32_t z);
void umd9_upload_buffer(struct umd9_device *d, uint32_t name, uint64_t offset, const uint8_t *from,
                        uint64_t size);
/* What is locked of a buffer, as it is now. */
void umd9_upload_locked(struct umd9_device *d, const struct umd9_resource *r);
/* A rectangle of the device to memory. */
HRESULT umd9_download(struct umd9_device *d, struct umd9_resource *r, uint32_t surface, const RECT *rect,
                      uint8_t *to, uint32_t pitch, bool wait);

/* copy.c */
void umd9_copy_functions(D3DDDI_DEVICEFUNCS *f);
HRESULT umd9_copy(struct umd9_device *d, struct umd9_resource *dst, uint32_t dst_surface, uint32_t x,
                  uint32_t y, struct umd9_resource *src, uint32_t src_surface, const RECT *rect);

/* state.c, shader.c, draw.c, query.c */
void umd9_state_init(struct umd9_device *d);
void umd9_state_finish(struct umd9_device *d);
void umd9_state_functions(D3DDDI_DEVICEFUNCS *f);
void umd9_shader_functions(D3DDDI_DEVICEFUNCS *f);
void umd9_draw_functions(D3DDDI_DEVICEFUNCS *f);
void umd9_query_functions(D3DDDI_DEVICEFUNCS *f);
/* Those of the colours whose bit is set. */
void umd9_bind_targets(struct umd9_device *d, uint32_t colors, bool depth);
/* Whether all targets and the depth have one size and as many samples. */
bool umd9_targets_alike(const struct umd9_device *d);
void umd9_bind_shaders(struct umd9_device *d, uint32_t vs, uint32_t ps, uint32_t layout);
void umd9_set_scissor(struct umd9_device *d, bool on, const RECT *r);
void umd9_bind_viewport(struct umd9_device *d);
/* The first texture and sampler, as the program set them. */
void umd9_bind_texture(struct umd9_device *d);
/* Gives the device rows of EXT_SET_D3D9_VALUES, unless it has them; some devices have none. */
bool umd9_has_rows(const struct umd9_device *d);
void umd9_set_rows(struct umd9_device *d, uint32_t first, const void *values, uint32_t count);
/* Whether what is before or behind the range of depth is cut away. */
void umd9_bind_clipping(struct umd9_device *d);
/* Which samples are written. */
void umd9_bind_mask(struct umd9_device *d);
/* Clip planes, bump matrices and divisors of coordinates, for the draw that comes. */
void umd9_bind_rows(struct umd9_device *d);
/* Gives the device the constants that it does not have. */
void umd9_bind_constants(struct umd9_device *d);
/* Registers [first, first + count) of a stage that are the driver's for now. */
void umd9_own_constants(struct umd9_device *d, bool pixel, uint32_t first, const void *values,
                        uint32_t count);
/* The name of the program's pixel shader for what is bound to its samplers; 0: no memory. */
uint32_t umd9_bound_pixel(struct umd9_device *d);
/* A name for bytecode of ours. */
uint32_t umd9_shader_emit(struct umd9_device *d, bool pixel, const void *code, uint32_t bytes);
uint32_t umd9_layout_emit(struct umd9_device *d, const D3DDDIVERTEXELEMENT *elements, uint32_t count);

/* ffvs.c, ffps.c: the shaders of the fixed function for the state as it is, with their constants set. 0: no memory. */
uint32_t umd9_fixed_vertex(struct umd9_device *d);
uint32_t umd9_fixed_pixel(struct umd9_device *d);
/* The program's clip planes, which are in the world's space, in the clip space. */
void umd9_fixed_planes(const struct umd9_device *d, float out[6][4]);
/* fixed.c: by key, made by `make` where there is none yet. */
struct umd9_asm;
uint32_t umd9_generated(struct umd9_device *d, struct umd9_generated **list, bool pixel, const void *key,
                        uint32_t size, void (*make)(struct umd9_asm *a, const void *key));
void umd9_generated_finish(struct umd9_generated *list);
/* A texture as shaders declare it: enum d3d9_texture_type. */
uint8_t umd9_dim(const struct umd9_resource *r);
