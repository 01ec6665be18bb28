/* SPDX-License-Identifier: MIT */
/* play_internal.h: the player's state, and the decoder that the generated functions use.
 *
 * Invariants:
 *  1. Nothing is called before all of a record is decoded and every object in it was found and has the right interface.
 *  2. What a decoder allocates lives until the next record.
 */
#pragma once

#include <stdlib.h>
#include <string.h>

#include "record/varint.h"
#include "d3d12/gen/pipeline_stream.h"
#include "d3d12/play/play.h"
#include "d3d12/play/play_on.h"
#include "d3d12/play/play_plan.h"
#include "d3d12/view/res_state.h"
#include "d3d12/gen/table.h"
#include "d3d12_api.h"

struct play_object {
    void *ptr; /* NULL: not made, or gone */
    uint16_t iface;
    bool gone;
    uint32_t step;         /* descriptor heaps: distance of two handles */
    uint64_t cpu, gpu, va; /* base of its handles; address */
    uint64_t recorded_va;  /* what the recorded program was told */
    uint8_t *map;
    uint64_t size; /* of a buffer that was mapped or has an address */
    int maps;
    uint64_t mapped; /* subresources, by bits: to unmap another does nothing */
    uint32_t heap_type;
    bool times; /* a buffer that timestamps are put into */
};

struct arena_block {
    struct arena_block *next;
    size_t used, cap;
    max_align_t bytes[];
};

struct play_event {
    HANDLE handle;
    uint32_t fence; /* the number of the one that sets it, or 0, once that is at */
    uint64_t value;
};

struct player {
    struct error error;
    struct trc *trace;
    const struct play_on *on;
    const struct play_params *params;
    struct play_result *result;
    struct play_object *objects;
    uint32_t num_objects;
    struct play_event *events;
    uint32_t num_events;
    struct arena_block *arena;
    size_t arena_total;
    struct {
        uint32_t frame, hash;
        bool set;
    } hashes[API_HASHES];
    struct play_reader *reader; /* play_picture.c */
    struct play_window *window;
    bool closed;            /* that, by somebody: nothing more is played */
    bool busy;              /* a wait ended too early: what the device may still work with is not released */
    struct play_look *look; /* play_look.c */
    struct res_states states; /* followed if something needs them */
    bool follow;
    struct play_chain *chains; /* play_chain.c */
    struct play_plan plan;
    struct {
        uint32_t fence; /* its number */
        uint64_t value;
    } * waits; /* of queues, while the fence is not there (play_step.c) */
    size_t num_waits, room_waits;
    struct { /* where the recorded program waits without end, if no call behind it has returned */
        uint64_t call, value;
        uint32_t fence; /* 0: nowhere */
    } stuck;
};

struct play_call {
    const struct trc_call *call;
};

struct dec {
    struct bytes in;
    struct player *p;
    const char *what; /* set once: why the record cannot be played */
    uint32_t id;      /* the object it is about */
    int err;          /* 0: -EBADMSG */
    bool bad;
    bool numbers; /* objects become their numbers: for those who only read */
};

typedef int (*play_fn)(struct player *p, const struct play_call *c, struct dec *d);
extern const play_fn play_table[D12_NUM_METHODS];

void dec_fail(struct dec *d, const char *what, uint32_t id);
void dec_no_memory(struct dec *d);
void *dec_alloc(struct dec *d, size_t size, size_t n);
void *dec_array(struct dec *d, size_t size, size_t *n);
const void *dec_bytes(struct dec *d, size_t *n);
void *dec_object(struct dec *d, uint16_t iface);
void *dec_loose_object(struct dec *d); /* NULL if it is none that can be had */
uint64_t dec_cpu(struct dec *d);
uint64_t dec_gpu(struct dec *d);
uint64_t dec_va(struct dec *d);
const char *dec_str(struct dec *d);
const WCHAR *dec_wstr(struct dec *d);
HANDLE dec_handle(struct dec *d);
void dec_iid(struct dec *d, GUID *out);
void *dec_stream(struct dec *d, SIZE_T *size);
size_t dec_stream_subobject(struct dec *d, uint32_t type, void *out); /* generated */

static inline uint8_t dec_u8(struct dec *d)
{
    return bytes_u8(&d->in);
}

static inline bool dec_present(struct dec *d)
{
    return bytes_u8(&d->in) != 0;
}

static inline uint16_t dec_u16(struct dec *d)
{
    return (uint16_t)bytes_varint(&d->in);
}

static inline uint32_t dec_u32(struct dec *d)
{
    return (uint32_t)bytes_varint(&d->in);
}

static inline uint64_t dec_u64(struct dec *d)
{
    return bytes_varint(&d->in);
}

static inline int32_t dec_i32(struct dec *d)
{
    return (int32_t)unzigzag(bytes_varint(&d->in));
}

static inline int64_t dec_i64(struct dec *d)
{
    return unzigzag(bytes_varint(&d->in));
}

static inline HRESULT dec_hresult(struct dec *d)
{
    return (HRESULT)unzigzag(bytes_varint(&d->in));
}

static inline float dec_f32(struct dec *d)
{
    uint32_t bits = bytes_u32(&d->in);
    float f;

    memcpy(&f, &bits, 4);
    return f;
}

static inline void dec_guid(struct dec *d, void *out)
{
    const void *p = bytes_take(&d->in, 16);

    if (p)
        memcpy(out, p, 16);
}

/* Answers: what the recorded program saw, not what it means here. */
static inline uint64_t dec_raw(struct dec *d)
{
    uint64_t id = bytes_varint(&d->in);

    if (id == 1)
        return bytes_u64(&d->in);
    if (id)
        bytes_varint(&d->in);
    return id;
}
#define dec_raw_cpu dec_raw
#define dec_raw_gpu dec_raw
#define dec_raw_va  dec_raw

static inline uint32_t dec_new_id(struct dec *d)
{
    return (uint32_t)bytes_varint(&d->in);
}

/* False if the program died in this call. */
static inline bool dec_has_result(struct dec *d)
{
    return bytes_left(&d->in) > 0;
}

/* An array must hold what its count says. */
static inline void dec_expect(struct dec *d, const void *p, size_t n, uint64_t count, const char *what)
{
    if (p && n != count)
        dec_fail(d, what, 0);
}

/* ---- what generated and hand-written calls use --------------------------- */

void play_arena_reset(struct player *p);
void play_arena_finish(struct player *p);
/* Custom heaps name a memory pool; where CPU and GPU share memory there is only one. */
void play_adjust_pool(ID3D12Device *device, const D3D12_HEAP_PROPERTIES *heap);
/* Fails with the call's number in front. */
int play_fail(struct player *p, const struct play_call *c, int err, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));
/* Makes one call of the recording. */
int play_one(struct player *p, const struct trc_call *call);
int play_decoded(struct player *p, const struct play_call *c, const struct dec *d);
struct play_object *play_object(struct player *p, uint32_t id);
/* The object that the call is made on, if it has slot `slot` of `iface`. */
void *play_this(struct player *p, const struct play_call *c, uint16_t iface, uint16_t slot);
void play_new_object(struct player *p, const struct play_call *c, uint32_t id, void *ptr, const GUID *iid,
                     uint16_t natural);
int play_compare(struct player *p, const struct play_call *c, HRESULT recorded, HRESULT now);

/* The recorded program waits in this call, which does not return, for that fence. */
void play_waits_for_ever(struct player *p, const struct play_call *c, uint32_t fence, uint64_t value);
/* When all queues are done: 0 where what it waited for is there; else -ETIMEDOUT, and *e. */
int play_stuck(struct player *p, struct error *e);
uint32_t play_timeout(const struct player *p); /* ms */
/* False if the fence is not there in time. */
bool play_wait_fence(struct player *p, ID3D12Fence *fence, uint64_t value);

/* play_picture.c. What a subresource holds, rows without padding; of a buffer all of it. */
struct play_image {
    uint8_t *bytes; /* the caller frees it */
    size_t size;
    uint32_t width, height;
    UINT rows; /* in all slices */
    uint64_t row;
    DXGI_FORMAT format;
};

/* Behind everything on `queue`; NULL: on a queue of its own. The subresource stays in `state`. */
int play_read(struct player *p, ID3D12CommandQueue *queue, ID3D12Resource *r, UINT sub,
              D3D12_RESOURCE_STATES state, struct play_image *out, struct error *e);
int play_write(struct player *p, ID3D12Resource *r, UINT sub, D3D12_RESOURCE_STATES before,
               D3D12_RESOURCE_STATES after, const void *bytes, size_t size, struct error *e);
/* Whether it is one: four bytes a pixel, in as many rows as it is high (those of blocks are fewer, and as long). */
static inline bool play_is_picture(const struct play_image *i)
{
    return i->width && i->row == (uint64_t)i->width * 4 && i->size >= i->row * i->height;
}

/* Changes the bytes to RGBA on the way. What is no picture is left out. */
int play_save_png(struct play_image *i, bool alpha, const char *path, struct error *e);
HRESULT play_buffer(ID3D12Device *d, D3D12_HEAP_TYPE type, uint64_t size, ID3D12Resource **out);
/* The hash of a presented texture's tight rows, and a PNG if `png` is not NULL. */
int play_picture(struct player *p, ID3D12CommandQueue *queue, ID3D12Resource *texture, uint32_t *hash,
                 const char *png, struct error *e);
void play_picture_finish(struct player *p);

/* play_look.c: what playing shows beside pictures of frames: times, pictures after draws, contents of resources. */
int play_look_create(struct player *p);
/* 1: leave this call out. */
int play_look_before(struct player *p, const struct trc_call *c);
int play_look_after(struct player *p, const struct trc_call *c);
int play_look_end(struct player *p); /* after the last call */
void play_look_finish(struct player *p);
/* Waits until all queues have done what they were given. */
int play_idle(struct player *p, struct error *e);

/* play_step.c: behind each call that was made, with play_params.step. 0, or what is in p->error. */
int play_step(struct player *p, const struct trc_call *c);

/* play_chain.c */
void play_chains_finish(struct player *p);
