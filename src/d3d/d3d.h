/* SPDX-License-Identifier: MIT */
/* d3d.h: the runtime half of Direct3D 11: COM objects over whatever user-mode driver the adapter names.
 *
 *   program ─COM─▶ device, context, objects ─D3D11_1DDI_DEVICEFUNCS─▶ driver ─callbacks─▶ D3DKMT*
 *                                                └──eleven.c──D3D11DDI_DEVICEFUNCS─▶ one of 11.0
 *
 * Invariants:
 *  1. A driver is called by one thread at a time: DDI() takes the device's lock. Its callbacks run under it.
 *  2. An object lives while the program has references or the context has it bound; it holds the device while the program
 *     has references, and where another device's context has it bound (d3d_child_abroad).
 *  3. What the program passes is checked before the driver sees it; a refused call changes nothing. Objects of another device are
 *     refused by the tables that gen.py makes, in front of every method.
 *  4. State objects of one description are one object, as long as it lives: the device has a list of them.
 *  5. A driver's errors come by pfnSetErrorCb. The first that says that the device is gone makes the device removed for ever.
 */
#pragma once

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/dxbc/sm4_check.h"
#include "d3d/com.h"
#include "d3d/driver.h"
#include "d3d/shared.h"

enum {
    D3D_STAGES = 6,
    D3D_SLOTS = 128,
    D3D_CONSTANTS = 14,
    D3D_SAMPLERS = 16,
    D3D_UAVS = 64, /* of which feature levels below 11_1 have 8 */
    D3D_MOST_CONSTANTS = 4096,
    D3D_KEPT = 4096, /* elements of an array that a list keeps */
    D3D_STREAMS = 4
};
enum d3d_stage { D3D_VS, D3D_PS, D3D_GS, D3D_HS, D3D_DS, D3D_CS };
enum d3d_kind {
    D3D_BUFFER,
    D3D_TEXTURE1D,
    D3D_TEXTURE,
    D3D_TEXTURE3D,
    D3D_SRV,
    D3D_RTV,
    D3D_DSV,
    D3D_UAV,
    D3D_SHADER_VS,
    D3D_SHADER_PS,
    D3D_SHADER_GS,
    D3D_SHADER_HS,
    D3D_SHADER_DS,
    D3D_SHADER_CS,
    D3D_LAYOUT,
    D3D_BLEND,
    D3D_DEPTH,
    D3D_RASTER,
    D3D_SAMPLER,
    D3D_QUERY,
    D3D_PREDICATE,
    D3D_LIST,
    D3D_CONTEXT_STATE,
    D3D_KINDS
};

enum d3d_shown {
    D3D_NOT_SHOWN,
    D3D_SHOWN,
    D3D_SHOWN_ONCE, /* and then discarded */
    D3D_SHOWN_LATER /* a back buffer that is not the first: read only */
};

struct d3d_data { /* of SetPrivateData, or of SetPrivateDataInterface */
    struct d3d_data *next;
    GUID guid;
    IUnknown *object; /* whose pointer the bytes are, with a reference; NULL: they are the program's */
    UINT size;
    uint8_t bytes[];
};

/* A further face of an object, found by `of`: what it says of itself is what the first face says. gen.py knows what this makes. */
#define IUNKNOWN_OF(prefix, iface, base, first, of)                                                          \
    HRESULT STDMETHODCALLTYPE prefix##_QueryInterface(iface *This, REFIID riid, void **out)                  \
    {                                                                                                        \
        return base##_QueryInterface((first *)(of), riid, out);                                              \
    }                                                                                                        \
    ULONG STDMETHODCALLTYPE prefix##_AddRef(iface *This)                                                     \
    {                                                                                                        \
        return base##_AddRef((first *)(of));                                                                 \
    }                                                                                                        \
    ULONG STDMETHODCALLTYPE prefix##_Release(iface *This)                                                    \
    {                                                                                                        \
        return base##_Release((first *)(of));                                                                \
    }

/* Everything that a device makes. The COM pointer is the object's. */
struct d3d_child {
    const void *vtbl;
    const IDXGIResourceVtbl *shared_vtbl;  /* of resources */
    const IDXGISurface1Vtbl *surface_vtbl; /* of textures of one mip and one layer */
    const IDXGIKeyedMutexVtbl *keyed_vtbl; /* of what has one */
    const void *d10_vtbl;                  /* of what Direct3D 10 has, too */
    LONG refs, bound;                      /* of the program; of the context and of views */
    struct d3d_device *device;
    enum d3d_kind kind;
    struct d3d_data *data;
    void *drv;            /* the driver's memory */
    bool made;            /* the driver knows it */
    bool abroad;          /* a context of another device had it bound; __atomic */
    UINT priority;        /* of a resource, as the program set it */
    FLOAT min_lod;        /* the same */
    enum d3d_shown shown; /* of a swap chain */
    HDC canvas;           /* that GDI draws on; NULL: none */
    void *canvas_pixels, *canvas_bitmap;
    struct d3d_child *of;        /* a view's resource */
    bool begun, ended;           /* a query */
    UINT maps;                   /* of a resource, that were not ended */
    uint8_t *mapped;             /* of a texture that was mapped: which subresources are */
    struct d3d_kmt_resource kmt; /* a resource's, and what others are told of it */
    struct d3d_shared share;
    D3DKMT_HANDLE keyed;            /* its keyed mutex; 0: none */
    struct d3d_list *list;          /* a command list's */
    struct d3d_context *saved;      /* a context state's: what is bound while another one is set */
    UINT depth;                     /* of a texture; desc.texture has the rest, whatever its dimensions */
    struct d3d_child *next, **self; /* of a state object: in the device's list, under states_lock */
    union {
        D3D11_BUFFER_DESC buffer;
        D3D11_TEXTURE2D_DESC texture;
        D3D11_SHADER_RESOURCE_VIEW_DESC srv;
        D3D11_RENDER_TARGET_VIEW_DESC rtv;
        D3D11_DEPTH_STENCIL_VIEW_DESC dsv;
        D3D11_UNORDERED_ACCESS_VIEW_DESC uav;
        D3D11_BLEND_DESC1 blend;
        D3D11_DEPTH_STENCIL_DESC depth;
        D3D11_RASTERIZER_DESC1 raster;
        D3D11_SAMPLER_DESC sampler;
        D3D11_QUERY_DESC query;
    } desc;
};

struct d3d_adapter { /* a driver that is loaded */
    struct d3d_kmt kmt;
    LUID luid;
    UINT source;
    void *library;
    D3D10DDI_HADAPTER drv;
    D3D10_2DDI_ADAPTERFUNCS ddi;
    UINT ddi_interface, ddi_version;  /* of the two, that devices are made by */
    D3DDDI_ANNOTATION_FUNCS annotate; /* all NULL: it does not want to know */
};

struct d3d_context {
    const ID3D11DeviceContext1Vtbl *vtbl;
    const ID3DUserDefinedAnnotationVtbl *annotation_vtbl;
    const ID3D11MultithreadVtbl *lock_vtbl;
    struct d3d_device *device;
    struct d3d_list *list; /* of a deferred context: what it records; NULL: the immediate one */
    LONG refs;             /* of the program; while there are some, they hold the device */
    INT regions;
    struct d3d_data *data;
    struct d3d_child
        *state; /* the context state that is set; NULL: the one that there was in the beginning */
    /* What is bound, nothing but objects up to the predicate, and what goes with it, up to the end (deferred.c). */
    struct d3d_child *shaders[D3D_STAGES], *constants[D3D_STAGES][D3D_CONSTANTS],
        *views[D3D_STAGES][D3D_SLOTS], *samplers[D3D_STAGES][D3D_SAMPLERS], *uavs[D3D_UAVS],
        *pixel_uavs[D3D_UAVS], *streams[D3D_STREAMS];
    struct d3d_child *vertices[32], *indices, *layout, *targets[8], *depth_view, *blend, *depth, *raster;
    struct d3d_child *predicate;
    BOOL predicate_value;
    UINT strides[32], offsets[32], index_offset, stencil_ref, sample_mask, num_viewports, num_scissors;
    DXGI_FORMAT index_format;
    D3D11_PRIMITIVE_TOPOLOGY topology;
    FLOAT blend_factor[4];
    D3D11_VIEWPORT viewports[16];
    D3D11_RECT scissors[16];
    UINT first_constants[D3D_STAGES][D3D_CONSTANTS], num_constants[D3D_STAGES][D3D_CONSTANTS];
};

struct dxgi_adapter;
struct d3d_device {
    const ID3D11Device1Vtbl *vtbl;
    const IDXGIDevice2Vtbl *dxgi_vtbl;
    const ID3D10Device1Vtbl *d10_vtbl;
    const ID3D10MultithreadVtbl *lock_vtbl;
    BOOL guarded; /* Enter and Leave do something */
    pthread_mutex_t program_lock;
    struct d3d_queue *queue; /* of one made to be debugged; else NULL */
    bool d10;                /* made as a device of Direct3D 10: its objects name that one */
    LONG refs;
    struct d3d_context context;
    struct d3d_adapter *adapter;
    struct dxgi_adapter *dxgi_adapter;
    struct d3d_kmt kmt; /* the handle of its driver */
    D3D10DDI_HDEVICE drv;
    D3D11_1DDI_DEVICEFUNCS ddi;
    D3D11DDI_DEVICEFUNCS eleven; /* of a driver whose interface is 11.0: what `ddi` leads to (eleven.c) */
    bool eleven_one;             /* the driver's interface is 11.1 */
    bool logic;                  /* it has logic operations */
    void *drv_memory;
    DXGI1_1_DDI_BASE_FUNCTIONS dxgi;
    DXGI_DDI_BASE_CALLBACKS dxgi_callbacks;
    D3D11DDI_CORELAYER_DEVICECALLBACKS core;
    D3D_FEATURE_LEVEL level;
    UINT flags, present_interval, latency; /* frames; 0: as many as usual */
    INT priority;
    bool gone;       /* the driver said so, and nobody took note of it yet; __atomic */
    HRESULT removed; /* S_OK, or why; __atomic */
    pthread_mutex_t lock;
    struct d3d_child *states;
    pthread_mutex_t states_lock; /* recursive; taken before `lock` */
    struct d3d_data *data;
};

#define DDI(d, function, ...)                                                                                \
    do {                                                                                                     \
        pthread_mutex_lock(&(d)->lock);                                                                      \
        (d)->ddi.function((d)->drv, ##__VA_ARGS__);                                                          \
        pthread_mutex_unlock(&(d)->lock);                                                                    \
    } while (0)
/* As DDI, by a method of a context: one that records keeps the call, and the driver hears of it when it is played. */
#define TELL(This, function, ...)                                                                            \
    do {                                                                                                     \
        const struct d3d_context *teller_ = (const struct d3d_context *)(This);                              \
        if (!teller_->list)                                                                                  \
            DDI(teller_->device, function, ##__VA_ARGS__);                                                   \
    } while (0)
#define DRV(type, object) ((type){(object) ? (object)->drv : NULL})

void d3d_missing(LONG *said, const char *method);
void d3d_log(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* adapter.c */
HRESULT d3d_adapter_open(struct d3d_adapter **out);
void d3d_adapter_close(struct d3d_adapter *a);
/* Whether the kernel says that the device is gone, and why; S_OK: it is there. */
HRESULT d3d_removed_reason(struct d3d_device *d);

/* device.c */
HRESULT d3d_device_create(struct d3d_device **out, struct d3d_adapter *adapter, UINT flags,
                          D3D_FEATURE_LEVEL level);
/* What the driver says of the calls that this thread makes. */
void d3d_tell_error(struct d3d_device *d, HRESULT hr);
bool d3d_has_error(const struct d3d_device *d);
/* What it said of the last one; takes note of a device that is gone, whosever call it was. */
HRESULT d3d_take_error(struct d3d_device *d);
struct d3d_device *d3d_device_of(ID3D11Device *iface);

/* eleven.c: `ddi`, of the functions of `eleven`. */
void d3d_eleven_functions(struct d3d_device *d);
void *d3d_eleven_memory(struct d3d_device *d, size_t size);

/* uav.c: how many slots the feature level has. */
UINT d3d_uav_slots(const struct d3d_device *d);

/* child.c */
struct d3d_child *d3d_child_create(struct d3d_device *d, enum d3d_kind kind, size_t drv_size);
/* The object, if the driver made it: into *out, with one reference. Else it goes. */
HRESULT d3d_child_finish(struct d3d_child *c, void **out);
void d3d_child_bind(struct d3d_child **slot, struct d3d_child *c);
/* It is bound in a context of another device, which its own might not outlive: it holds its own from now on, to its end. */
void d3d_child_abroad(struct d3d_child *c);
void d3d_child_release(struct d3d_child *c);
/* 4, with states_lock: the one with this description, with a reference more, or NULL; and adds one that there was not. */
struct d3d_child *d3d_state_find(struct d3d_device *d, enum d3d_kind kind, const void *desc, size_t size);
void d3d_state_add(struct d3d_child *c);
HRESULT d3d_data_set(struct d3d_data **list, REFGUID guid, UINT size, const void *bytes);
/* NULL is kept, too, as an object that there is not. */
HRESULT d3d_data_set_interface(struct d3d_data **list, REFGUID guid, const IUnknown *object);
HRESULT d3d_data_get(const struct d3d_data *list, REFGUID guid, UINT *size, void *bytes);
void d3d_data_free(struct d3d_data *list);

/* resource.c */
/* The longest side of a texture of one or two dimensions. */
UINT d3d_max_texture(const struct d3d_device *d);
/* Of any dimensions: `depth` is 1 but of three; a 0 of the mips stands for all. */
HRESULT d3d_texture_create(struct d3d_device *d, enum d3d_kind kind, const D3D11_TEXTURE2D_DESC *desc,
                           UINT depth, const D3D11_SUBRESOURCE_DATA *data, DXGI_DDI_PRIMARY_DESC *primary,
                           struct d3d_child **out);
static inline bool d3d_is_resource(const struct d3d_child *c)
{
    return c->kind <= D3D_TEXTURE3D;
}
/* The typeless format that `f` is of; one that is of none is its own. */
DXGI_FORMAT d3d_format_family(DXGI_FORMAT f);
bool d3d_format_typeless(DXGI_FORMAT f);
/* Whether texels of one are copied into the other, both textures: those of a family are, and from 10_1 on blocks and the texels of as
 * many bytes that stand for them. */
bool d3d_copyable(const struct d3d_child *to, const struct d3d_child *from);
/* `n` texels of `from` in those of `to`. */
UINT d3d_copied_size(UINT n, const struct d3d_child *from, const struct d3d_child *to);
/* The bytes of a block of so many texels in each direction. */
void d3d_format_block(DXGI_FORMAT f, UINT *bytes, UINT *block);

/* view.c */
/* The driver's view of a buffer's elements; false: `first` and `count` are not of the buffer, or it has no such elements. */
bool d3d_buffer_range(const struct d3d_child *r, DXGI_FORMAT format, bool raw, UINT first, UINT count);
bool d3d_view_bindable(const struct d3d_device *d, const struct d3d_child *r, UINT bind);
/* Bytes of an element of a vertex, or of a buffer's view; 0: elements are never of this format. */
UINT d3d_format_bytes(DXGI_FORMAT f);
/* What shaders do with texels of a format that they write (D3D11_FORMAT_SUPPORT2): words are read, too, and counted in. */
UINT d3d_format_stores(const struct d3d_device *d, DXGI_FORMAT f);
/* Whether the feature level shows pictures of this format. */
bool d3d_format_shown(const struct d3d_device *d, DXGI_FORMAT f);
/* Whether shaders write texels of this format. */
bool d3d_format_storable(DXGI_FORMAT f);
struct d3d_child *d3d_view_create(struct d3d_device *d, struct d3d_child *r, enum d3d_kind kind, size_t size);

/* hazard.c */
/* The view, or NULL where what it looks at is bound to be written, which is said of the slot. */
struct d3d_child *d3d_hazard_readable(const struct d3d_context *c, int stage, UINT slot,
                                      struct d3d_child *view);
/* Something was bound to be written: what looks at it is unbound. */
void d3d_hazard_written(struct d3d_context *c);

/* uav.c */
HRESULT d3d_uav_buffer(struct d3d_device *d, struct d3d_child *r,
                       const D3D11_UNORDERED_ACCESS_VIEW_DESC *desc, void **out);
HRESULT d3d_uav_create(struct d3d_device *d, struct d3d_child *r,
                       const D3D11DDIARG_CREATEUNORDEREDACCESSVIEW *a,
                       const D3D11_UNORDERED_ACCESS_VIEW_DESC *desc, void **out);

/* surface.c: the faces that DXGI has of a resource: NULL, it has no such one. */
void *d3d_surface_face(struct d3d_child *c, REFIID riid);
void d3d_surface_canvas_end(struct d3d_child *c);
/* D3D11_BIND_FLAGs of what DXGI calls a use. */
UINT d3d_surface_binds(DXGI_USAGE usage);

/* context.c */
void d3d_context_init(struct d3d_context *c, struct d3d_device *d);
void d3d_context_clear(struct d3d_context *c);

bool d3d_subresource(const struct d3d_child *r, UINT index);
/* A box of a subresource, or all of it; false: empty, or outside. */
bool d3d_box_of(const struct d3d_child *r, UINT index, const D3D11_BOX *given, D3D10_DDI_BOX *out);
bool d3d_is_dynamic(const struct d3d_child *r);
enum d3d_words { D3D_SAY_BEGIN, D3D_SAY_END, D3D_SAY_MARKER };
void d3d_annotation_say(struct d3d_context *c, enum d3d_words what, const char *text);

/* debug.c: says something to the device's info queue, if it has one. */
void d3d_say(struct d3d_device *d, D3D11_MESSAGE_CATEGORY category, D3D11_MESSAGE_SEVERITY severity,
             D3D11_MESSAGE_ID id, const char *format, ...) __attribute__((format(printf, 5, 6)));
/* The same of what a program may not ask for, by the name of its interface and method first. The answer is E_INVALIDARG. */
HRESULT d3d_refuse(struct d3d_device *d, D3D11_MESSAGE_ID id, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Whether an object is another device's, which is said of `what`, the method, and its parameter (from 1); and of `count` of them, which
 * more than any method takes are not looked at. */
bool d3d_refuse_foreign(struct d3d_device *d, UINT parameter, const char *what);
static inline bool d3d_foreign(struct d3d_device *d, const void *object, UINT parameter, const char *what)
{
    const struct d3d_child *c = object;

    return c && c->device != d && d3d_refuse_foreign(d, parameter, what);
}
static inline bool d3d_foreign_any(struct d3d_device *d, void *const *objects, UINT count, UINT parameter,
                                   const char *what)
{
    for (UINT i = 0; objects && count <= D3D_SLOTS && i < count; i++)
        if (d3d_foreign(d, objects[i], parameter, what))
            return true;
    return false;
}
/* What a draw lacks; `what` is the method. */
void d3d_debug_draw(const struct d3d_context *c, const char *what, bool indexed);
struct d3d_queue *d3d_queue_create(struct d3d_device *d);
void d3d_queue_destroy(struct d3d_queue *q);

/* deferred.c: what a deferred context records, by the methods that gen.py makes. */
struct d3d_call;
typedef void d3d_play(ID3D11DeviceContext1 *on, const struct d3d_call *call);
struct d3d_call {
    struct d3d_call *next;
    d3d_play *play;
};
/* A call of `size` bytes at the end of the list; NULL: there is no memory. */
void *d3d_record(void *This, size_t size, d3d_play *play);
/* `count` elements in the list's memory; NULL: none, or more than any method takes. */
const void *d3d_keep(void *This, const void *bytes, UINT count, size_t each);
/* An object, which lives as long as the list; and as many as an array has. */
void *d3d_hold(void *This, const void *object);
const void *d3d_hold_all(void *This, const void *objects, UINT count);
void d3d_deferred_say(struct d3d_context *c, enum d3d_words what, const char *text);
void d3d_deferred_destroy(struct d3d_context *c);
void d3d_list_destroy(struct d3d_list *l);
/* Binds to `to` what `from` has bound, without a word to the driver; and gives it back. */
void d3d_context_copy(struct d3d_context *to, const struct d3d_context *from);
void d3d_context_unbind(struct d3d_context *c);
/* Sets what `s` has bound on a context in its default state. */
void d3d_context_apply(ID3D11DeviceContext1 *to, const struct d3d_context *s);

/* shader.c: DXBC containers. */
struct d3d_program {
    struct dxbc_shader dxbc;
    const UINT *code; /* in the container */
    D3D11_1DDIARG_SIGNATURE_ENTRY in[DXBC_MAX_ELEMENTS], out[DXBC_MAX_ELEMENTS], patch[DXBC_MAX_ELEMENTS];
    UINT num_in, num_out, num_patch;
};

/* False: the container is not whole, or its program none that there can be (dxbc_shader_open), or of another type. */
bool d3d_program_read(struct d3d_program *p, const void *bytes, SIZE_T size, uint32_t type);
/* Whether the device's feature level has such programs in front of the pixel shader. */
bool d3d_program_allowed(const struct d3d_device *d, const struct d3d_program *p);
