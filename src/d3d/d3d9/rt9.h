/* SPDX-License-Identifier: MIT */
/* rt9.h: the runtime half of Direct3D 9 and 9Ex: COM objects over whatever user-mode driver the adapter names.
 *
 *   program ─COM─▶ factory, device, objects ─D3DDDI_DEVICEFUNCS─▶ driver ─callbacks─▶ D3DKMT*
 *
 *   works ──the driver answers DEVICEREMOVED, or the kernel says so──▶ lost ──Reset, ResetEx──▶ works
 *
 * Invariants:
 *  1. Methods of a device and of what it made run one at a time: the tables' entries hold the device's lock (gen.py). So a driver is
 *     called by one thread at a time; its callbacks run under the lock.
 *  2. An object lives while the program has references or the device has it bound; it holds the device while the program has
 *     references. Surfaces of a texture and of a swap chain are the resource's, references and all.
 *  3. What the program passes is checked before the driver sees it; a refused call changes nothing.
 *  4. While the device is lost, what draws and sets succeeds and does nothing in the driver. Reset makes a new driver's device and
 *     every object anew in it: what is managed with its bytes, states as the program set them.
 *  5. A resource that is not of the default pool has its bytes in memory; what changed there is copied to the driver's before it is
 *     drawn with (d9_sync).
 */
#pragma once

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "d3d/d3d9/com9.h"
#include "d3d/presenter.h"

enum {
    D9_STAGES = 8,
    D9_SAMPLERS = 21, /* 16 of pixel shaders, the displacement map's, 4 of vertex shaders */
    D9_STREAMS = 16,
    D9_TARGETS = 4,
    D9_WORLDS = 256,
    D9_CHAINS = 8,
    D9_BUFFERS = 30, /* of 9Ex */
    D9_PRIMARIES = 4,
    D9_RENDER_STATES = 210,
    D9_TSS = 33,
    D9_SAMP = 14,
    D9_MAX_SIDE = 8192,
    D9_MAX_DEPTH = 2048,
    D9_SOFTWARE_CONSTANTS = 8192
};
enum d9_kind {
    D9_VB,
    D9_IB,
    D9_TEXTURE,
    D9_CUBE,
    D9_VOLUMES, /* a texture of volumes */
    D9_SURFACE,
    D9_VS,
    D9_PS,
    D9_DECL,
    D9_QUERY,
    D9_BLOCK,
    D9_KINDS
};

struct d9_data { /* of SetPrivateData */
    struct d9_data *next;
    GUID guid;
    DWORD size;
    bool unknown; /* the bytes are an IUnknown * with a reference */
    uint8_t bytes[];
};

struct d9_device;

/* Everything that a device makes. The COM pointer is the object's, but of surfaces. */
struct d9_object {
    const void *vtbl;
    LONG refs, bound; /* of the program; of the device, of swap chains and of state blocks */
    struct d9_device *device;
    enum d9_kind kind;
    struct d9_object *next, **self; /* in the device's list */
    struct d9_data *data;
    HANDLE drv; /* NULL: the driver does not know it now */
};

struct d9_surface { /* a COM object: a surface, or a volume */
    const void *vtbl;
    struct d9_resource *resource;
    UINT index, width, height, depth, pitch, slice; /* pitch, slice: of memory */
    size_t offset;                                  /* in memory */
    size_t copy, copied;                            /* the driver's copy in memory, and its bytes; 0: none */
    struct d9_data *data;
    bool locked;
    D3DBOX dirty; /* what changed in memory; nothing where left is right */
    D3DBOX lock;
    DWORD lock_flags;
    void *dc; /* of GetDC, and its bitmap */
    void *bitmap;
};

struct d9_resource { /* buffers, textures, surfaces */
    struct d9_object o;
    D3DRESOURCETYPE type;
    D3DFORMAT format;
    DWORD usage, fvf, priority, lod;
    D3DPOOL pool;
    bool lockable, primary, shown, foreign; /* shown: a swap chain's; foreign: the memory is the program's */
    bool picture;                           /* the device writes it where the runtime reads it */
    UINT width, height, depth, levels, faces, size;
    UINT made;       /* levels that the driver has: more where mip maps are made by themselves */
    bool mips_stale; /* the others are not made of the first */
    HANDLE sys;      /* memory, as the driver knows it */
    HANDLE twin;     /* of a texture in system memory that a program draws with: what the driver samples */
    uint8_t *memory;
    size_t room, margin; /* bytes of it; and in front of it and behind that */
    LONG locks;
    UINT dirty_low, dirty_high; /* of buffers */
    D3DTEXTUREFILTERTYPE autogen;
    D3DMULTISAMPLE_TYPE samples;
    DWORD quality;               /* of the samples */
    void *container;             /* a swap chain, of its buffers; not counted */
    struct d3d_kmt_resource kmt; /* what the driver calls it by */
    void *told;                  /* who opens it, of what is shared */
    struct d9_surface surfaces[];
};

struct d9_shader {
    struct d9_object o;
    UINT size; /* bytes */
    DWORD code[];
};

struct d9_decl {
    struct d9_object o;
    UINT count; /* without the end */
    DWORD fvf;  /* that it was made for; 0: the program's own */
    D3DVERTEXELEMENT9 elements[65];
};

struct d9_query {
    struct d9_object o;
    D3DQUERYTYPE type;
    bool building, issued;
};

struct d9_stream {
    struct d9_resource *buffer;
    UINT offset, stride, frequency;
};

struct d9_light {
    struct d9_light *next;
    DWORD index;
    BOOL enabled;
    D3DLIGHT9 light;
};

struct d9_constants {
    float f[256][4];
    int i[16][4];
    BOOL b[16];
};

struct d9_state {
    DWORD rs[D9_RENDER_STATES], tss[D9_STAGES][D9_TSS], samplers[D9_SAMPLERS][D9_SAMP];
    struct d9_resource *textures[D9_SAMPLERS];
    D3DMATRIX world[D9_WORLDS], view, projection, texture[D9_STAGES];
    D3DMATERIAL9 material;
    struct d9_light *lights;
    float clip[6][4];
    D3DVIEWPORT9 viewport;
    RECT scissor;
    struct d9_shader *vs, *ps;
    struct d9_decl *decl;
    DWORD fvf;
    struct d9_stream streams[D9_STREAMS];
    struct d9_resource *indices;
    struct d9_constants vsc, psc;
};

struct d9_swapchain { /* a COM object */
    const IDirect3DSwapChain9ExVtbl *vtbl;
    LONG refs;
    struct d9_device *device;
    bool implicit;
    D3DPRESENT_PARAMETERS params;
    struct d9_resource *back[D9_BUFFERS], *primary[D9_PRIMARIES];
    struct d9_resource *pictures[D3D_PICTURES]; /* windowed: on their way to the window */
    HANDLE placed[D3D_PICTURES];     /* what the driver calls those whose memory the presenter knows */
    struct d3d_presenter *presenter; /* NULL: full screen of the service's display */
    UINT count, next_primary, presents;
};

struct d9_factory { /* the adapter, and its driver */
    const IDirect3D9ExVtbl *vtbl;
    LONG refs;
    bool ex;
    struct d3d_kmt kmt;
    UINT source;
    LUID luid;
    void *library;
    HANDLE drv;
    D3DDDI_ADAPTERFUNCS ddi;
    D3DDDI_ANNOTATION_FUNCS9 annotate;
    D3DCAPS9 caps;
    FORMATOP *formats;
    UINT num_formats, num_queries;
    UINT queries[16];
};

struct d9_device {
    const IDirect3DDevice9ExVtbl *vtbl;
    LONG refs;
    bool ex, in_scene, software;
    struct d9_factory *factory;
    struct d3d_kmt kmt; /* the handle of its driver */
    D3DDDI_DEVICECALLBACKS callbacks;
    HANDLE drv;
    D3DDDI_DEVICEFUNCS ddi;
    D3DDEVICE_CREATION_PARAMETERS creation;
    pthread_mutex_t lock;
    struct d9_object *objects;
    struct d9_swapchain *chains[D9_CHAINS]; /* the first is the implicit one */
    struct d9_resource *targets[D9_TARGETS], *depth, *auto_depth;
    UINT target_surfaces[D9_TARGETS];
    struct d9_state state;
    struct d9_block *recording;
    HRESULT lost;   /* S_OK, or why */
    bool not_reset; /* a Reset failed because of what was alive: the next one has to succeed first */
    UINT present_interval, latency;
    LONG regions;
    INT priority;
    uint64_t video_bytes; /* of what the program has in the default pool, or managed */
    struct d9_palette *palettes;
    UINT palette;
    DWORD lods[D9_SAMPLERS];    /* of the textures, as the driver was told */
    float (*more_constants)[4]; /* of software vertex processing, from 256 on; NULL: all zero */
    struct d9_screen *screen;   /* NULL: windowed, or there is no window system */
    void *cursor;               /* NULL: no picture */
    bool cursor_shown;
    D3DGAMMARAMP gamma;
};

/* Calls the driver; S_OK while the device is lost. */
#define DDI9(d, function, ...)                                                                               \
    ({                                                                                                       \
        struct d9_device *d_ = (d);                                                                          \
        HRESULT ddi_hr_ = S_OK;                                                                              \
        if (d_->lost == S_OK)                                                                                \
            ddi_hr_ = d9_note(d_, d_->ddi.function(d_->drv, ##__VA_ARGS__));                                 \
        ddi_hr_;                                                                                             \
    })

/* The same for what ends an object: a driver frees what it has of a device that is gone, too. */
#define DDI9_END(d, function, handle)                                                                        \
    do {                                                                                                     \
        struct d9_device *d_ = (d);                                                                          \
        if (d_->drv)                                                                                         \
            d_->ddi.function(d_->drv, handle);                                                               \
    } while (0)

void d9_missing(LONG *said, const char *method);
void d9_log(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* What the driver answered, as the program hears it; takes note of a device that is gone. */
HRESULT d9_note(struct d9_device *d, HRESULT hr);
/* Asks the kernel, too. */
HRESULT d9_lost(struct d9_device *d);

/* object.c */
void d9_object_init(struct d9_object *o, struct d9_device *d, enum d9_kind kind);
void d9_object_bind(void *slot, void *object);
void d9_object_release(void *object); /* NULL is legal */
/* Makes it in the driver, as it is; and ends it there. */
HRESULT d9_object_make(struct d9_object *o);
void d9_object_unmake(struct d9_object *o);
HRESULT d9_data_set(struct d9_data **list, REFGUID guid, const void *bytes, DWORD size, DWORD flags);
HRESULT d9_data_get(const struct d9_data *list, REFGUID guid, void *bytes, DWORD *size);
HRESULT d9_data_drop(struct d9_data **list, REFGUID guid);
void d9_data_free(struct d9_data *list);

/* factory.c */
const FORMATOP *d9_format(const struct d9_factory *f, D3DFORMAT format);
bool d9_display_mode(const struct d9_factory *f, D3DDISPLAYMODEEX *mode);
/* Of so many samples the driver has qualities below this; 0: there are none. */
DWORD d9_qualities(struct d9_factory *f, D3DFORMAT format, bool windowed, D3DMULTISAMPLE_TYPE samples);

/* device.c */
HRESULT d9_device_create(struct d9_factory *f, bool ex, HWND focus, DWORD flags, D3DPRESENT_PARAMETERS *p,
                         struct d9_device **out);
struct d9_device *d9_device_of(IDirect3DDevice9Ex *iface);

/* resource.c */
struct d9_shape {
    enum d9_kind kind;
    D3DRESOURCETYPE type;
    UINT width, height, depth, levels, faces; /* of buffers: width bytes; depth 0: 1 */
    DWORD usage, fvf;
    D3DFORMAT format;
    D3DPOOL pool;
    bool lockable, primary, picture;
    D3DMULTISAMPLE_TYPE samples;
    DWORD quality;
    void *memory; /* the program's, of a surface in system memory; NULL: the runtime's */
    HANDLE *
        shared; /* it is shared: opened by this handle, or, where that is NULL, made, and the handle is the answer. NULL: it is not */
};
HRESULT d9_resource_create(struct d9_device *d, const struct d9_shape *s, struct d9_resource **out);
HRESULT d9_resource_make(struct d9_resource *r);
/* Memory of a volume texture from level `skip` on, as the driver knows it; for who ends it there. NULL: it could not. */
HANDLE d9_part(struct d9_resource *r, UINT skip);
void d9_resource_finish(struct d9_resource *r);
/* What the driver samples. */
HANDLE d9_sampled(struct d9_resource *r);
/* 5 */
void d9_sync(struct d9_resource *r);
UINT d9_texel_bytes(D3DFORMAT format, UINT *block);
struct d9_surface *d9_surface_of(IDirect3DSurface9 *iface);
struct d9_resource *d9_texture_of(IDirect3DBaseTexture9 *iface);
HRESULT d9_lock(struct d9_resource *r, UINT index, const RECT *area, DWORD flags, D3DLOCKED_RECT *out);
HRESULT d9_lock_box(struct d9_resource *r, UINT index, const D3DBOX *box, DWORD flags, D3DLOCKED_BOX *out);
bool d9_unlike_blocks(D3DFORMAT format);
bool d9_whole_blocks(const struct d9_surface *s, const RECT *r);
/* The driver's number of a surface. */
UINT d9_index(const struct d9_resource *r, UINT surface);
/* Adds to what is dirty; NULL: everything. */
void d9_dirty(struct d9_surface *s, const D3DBOX *box);
/* What was written to the first level; and before the others are read. */
void d9_mips_changed(struct d9_resource *r, UINT surface);
void d9_mips_make(struct d9_resource *r);
HRESULT d9_unlock(struct d9_resource *r, UINT index);

/* texture.c */
HRESULT d9_texture_create(struct d9_device *d, struct d9_shape *s, UINT operations, HANDLE *shared,
                          void **out);
HRESULT d9_describe(const struct d9_surface *s, D3DSURFACE_DESC *desc);

/* surface.c: whether GDI draws on a surface of it. */
bool d9_has_dc(const struct d9_resource *r);

/* share.c */
bool d9_can_share(const struct d9_device *d, const struct d9_shape *s);
/* Before the driver makes it; instead of that. */
HRESULT d9_share_init(struct d9_resource *r);
HRESULT d9_share_open(struct d9_resource *r, HANDLE handle);

/* shader.c */
HRESULT d9_shader_make(struct d9_shader *s);
HRESULT d9_decl_make(struct d9_decl *d);
HRESULT d9_decl_create(struct d9_device *d, const D3DVERTEXELEMENT9 *elements, DWORD fvf,
                       struct d9_decl **out);
/* The declaration of an FVF, kept. D3DERR_INVALIDCALL: it is none. */
HRESULT d9_fvf_decl(struct d9_device *d, DWORD fvf, struct d9_decl **out);

/* The FVF that makes the same elements; 0: none does. */
DWORD d9_decl_fvf(const struct d9_decl *d);

/* query.c */
HRESULT d9_query_make(struct d9_query *q);

/* state.c, stateblock.c */
void d9_state_init(struct d9_device *d, bool depth);
void d9_state_finish(struct d9_device *d);
/* Tells the driver all of it. */
void d9_state_send(struct d9_device *d);
void d9_send_viewport(struct d9_device *d);
/* The texture's most detailed level, where it is bound. */
void d9_send_lod(struct d9_device *d, const struct d9_resource *r);
/* bind.c: shaders, constants and streams of it. */
void d9_bind_send(struct d9_device *d);
struct d9_light *d9_light(struct d9_state *s, DWORD index, bool make);

/* perf.c */
void d9_perf_add(struct d9_device *d);
void d9_perf_remove(struct d9_device *d);

/* screen.c */
enum d9_front { D9_FRONT, D9_BEHIND, D9_BACK };
/* Whether there is a window system; what it says of the display, and of its modes, whose number is the answer. */
bool d9_screen_is(void);
bool d9_screen_mode(UINT *width, UINT *height, UINT *rate);
UINT d9_screen_modes(UINT index, UINT *width, UINT *height, UINT *rate);
/* Rate 0: whatever there is. */
bool d9_screen_has(UINT width, UINT height, UINT rate);
/* To full screen, where these ask for that, and back where not. */
HRESULT d9_screen_begin(struct d9_device *d, const D3DPRESENT_PARAMETERS *p);
void d9_screen_end(struct d9_device *d);
enum d9_front d9_screen_state(const struct d9_device *d);

/* rest.c */
void d9_rest_finish(struct d9_device *d);

/* draw.c */
void d9_bind_target(struct d9_device *d, UINT index, struct d9_resource *r, UINT surface);
void d9_bind_depth(struct d9_device *d, struct d9_resource *r);

/* swapchain.c */
HRESULT d9_swapchain_create(struct d9_device *d, D3DPRESENT_PARAMETERS *p, bool implicit,
                            struct d9_swapchain **out);
/* S_OK, S_PRESENT_OCCLUDED or S_PRESENT_MODE_CHANGED. */
HRESULT d9_swapchain_shown(const struct d9_swapchain *s, HWND window);
/* A part of the back buffer into a part of the window's inside; NULL: all. */
HRESULT d9_swapchain_present(struct d9_swapchain *s, const RECT *from, const RECT *to, HWND window,
                             DWORD flags);
void d9_swapchain_destroy(struct d9_swapchain *s);
/* Fills in what the program left open; D3DERR_INVALIDCALL for what there is not. */
HRESULT d9_check_params(struct d9_factory *f, D3DPRESENT_PARAMETERS *p, HWND focus);
HRESULT APIENTRY d9_present_cb(HANDLE h, CONST D3DDDICB_PRESENT *a);
