/* engine_priv.h: what the files of the engine share: objects, contexts, batches.
 *
 *   engine.c    life cycle, the submission loop, completion thread
 *   batch.c     command buffers, fences, staging memory, what waits for the device
 *   objects.c   handles, reference counts, creation and destruction, share tokens
 *   transfer.c  uploads, dirty ranges, copies, write-backs, present
 *   state.c     packets that only change a context's state, Direct3D 9 states included
 *   layout.c    input layouts
 *   targets.c   bound targets, render passes, framebuffers
 *   pipeline.c  programs, pipelines and samplers, and their caches
 *   bind.c      descriptor sets
 *   draw.c      render passes, clears, draws, dispatches
 *   progress.c    progress markers
 *
 * Everything here belongs to the submit thread, except a batch between batch_submit and its completion, which belongs to
 * the completion thread.
 */
#ifndef EXECUTOR_ENGINE_PRIV_H_
#define EXECUTOR_ENGINE_PRIV_H_

#include <pthread.h>
/* Cache keys are some hundred bytes, hashed at every state change. */
#include <xxhash.h>
#define HASH_FUNCTION(key, len, hash) ((hash) = (unsigned)XXH3_64bits(key, len))
#include <uthash.h>

#include <aerogpu/cmd.h>
#include <aerogpu/pci.h>

#include "abi/alloc_table.h"
#include "abi/d3d9_states.h"
#include "abi/stream.h"
#include "executor/engine/progress.h"
#include "executor/engine/engine.h"
#include "executor/engine/formats.h"
#include "executor/engine/ops.h"
#include "executor/shader/shader.h"
#include "executor/engine/vk.h"

enum {
    NUM_BATCHES = 4,
    MAX_CUTS = 64,
    MAX_TEXTURE_SLOTS = 128,
    MAX_SAMPLER_SLOTS = 16,
    MAX_CONSTANT_BUFFER_SLOTS = 16,
    MAX_UAV_SLOTS = 64,
    MAX_VERTEX_BUFFERS = 32,
    NULL_VERTEX_SLOT = MAX_VERTEX_BUFFERS - 1, /* taken by the null buffer where the guest left it free */
    MAX_TARGETS = AEROGPU_MAX_RENDER_TARGETS,
    MAX_D3D9_FLOATS = 256,
    MAX_D3D9_INTS = 16,
};

/* ---- objects ------------------------------------------------------------- */

enum object_kind { OBJECT_BUFFER, OBJECT_TEXTURE, OBJECT_VIEW, OBJECT_SHADER, OBJECT_LAYOUT, OBJECT_SAMPLER };

struct exec_object {
    enum object_kind kind;
    uint32_t handle; /* the first one, for messages */
    uint32_t refs;
    uint32_t names;                    /* handles that name it now */
    uint64_t last_use;                 /* serial of the last batch that uses it */
    struct exec_object *next_deferred; /* in the engine's deferred */
};

/* Guest memory behind a resource: alloc_id 0 is none. */
struct backing {
    uint32_t alloc_id;
    uint64_t offset;
};

struct texel_view {
    VkBufferView view;
    VkFormat format;
    uint64_t offset, range;
    struct texel_view *next;
};

/* Memory with a GPU address: pages of its own between pages that nobody may touch. */
struct addressed {
    uint8_t *base; /* NULL: the buffer has none */
    size_t span;
    VkDeviceMemory memory;
    uint64_t address;
};

struct exec_buffer {
    struct exec_object o;
    struct exec_vk_buffer vk;
    struct addressed addressed;
    uint64_t size;
    struct backing backing;
    struct texel_view *views;
    struct exec_vk_buffer counter; /* hidden UAV counter, made when first asked for */
    struct texel_view *counter_views;
};

struct image_view_key {
    VkFormat format;
    VkImageViewType type;
    VkImageAspectFlags aspect;
    uint32_t base_mip, mips, base_layer, layers;
    uint32_t opaque; /* alpha reads as one; keys are compared as bytes, so there is no padding */
};

struct image_view {
    struct image_view_key key;
    VkImageView view;
    struct image_view *next;
};

struct exec_texture {
    struct exec_object o;
    VkImage image;
    struct exec_vk_memory memory;
    const struct format_info *format;
    uint32_t width, height, mips, layers, row_pitch;
    uint64_t linear_size; /* bytes of the linear layout that uploads and guest memory use */
    struct backing backing;
    struct image_view *views;
};

/* What a texture handle or a view handle selects. */
struct exec_view {
    struct exec_object o;
    struct exec_texture *texture;
    const struct format_info *format;
    uint32_t base_mip, mips, base_layer, layers;
};

struct shader_object {
    struct exec_object o;
    enum exec_stage stage;
    struct shader *shader; /* NULL until its job is done, or if it failed */
    struct shader_job *job;
};

struct layout_element {
    uint32_t semantic_hash, semantic_index; /* D3D9: usage's name hash */
    VkFormat format;
    uint32_t slot, offset;
    uint32_t per_instance, step_rate;
};

struct exec_layout {
    struct exec_object o;
    uint64_t hash; /* of the elements */
    uint32_t count;
    struct layout_element elements[]; /* 32 at most */
};

struct sampler_desc {
    uint8_t min_linear, mag_linear, mip_linear, mip_enabled;
    uint8_t address_u, address_v, address_w; /* VkSamplerAddressMode */
    uint8_t anisotropy;                      /* 0 or 1: off */
    uint8_t compare, reserved[3];            /* depth comparison, less or equal */
    uint32_t border;                         /* A8R8G8B8 */
    float lod_bias;
    uint32_t max_mip_level; /* D3D9's: the largest mip that may be used */
};

struct sampler_object {
    struct exec_object o;
    struct sampler_desc desc;
};

/* ---- contexts ------------------------------------------------------------ */

struct blend_state {
    bool enable;
    VkBlendFactor src, dst, src_alpha, dst_alpha;
    VkBlendOp op, op_alpha;
    uint8_t write_mask[MAX_TARGETS];
    float constant[4];
    bool masked_out; /* the sample mask keeps everything from being written */
};

struct depth_state {
    bool enable, write, stencil, two_sided;
    bool func_set; /* by the stream: until then Direct3D 9 and later ones differ */
    VkCompareOp func;
    VkStencilOpState front, back; /* of clockwise and of counter-clockwise faces */
};

struct raster_state {
    VkPolygonMode fill;
    VkCullModeFlags cull;
    bool cull_set; /* by the stream: until then the built-in program draws both sides */
    bool front_ccw, scissor, depth_clamp;
    bool scissor_d3d9; /* turned on as a render state: the rectangle limits clears too, and may be empty */
    float bias, slope_bias;
    bool bias_is_float; /* Direct3D 9: bias is in units of depth, not of its resolution */
};

struct vertex_binding {
    struct exec_buffer *buffer;
    uint32_t stride, offset;
};

struct range_binding { /* constant buffers, UAV buffers */
    struct exec_buffer *buffer;
    uint64_t offset, size;
};

struct resource_slot { /* t#: a texture, a view, or a range of a buffer */
    struct exec_object *object;
    uint64_t offset, size; /* for buffers */
};

struct sampler_slot {
    struct sampler_object *object;
    bool d3d9; /* state set by SET_SAMPLER_STATE since an object was bound */
    uint32_t state[D3DSAMP_COUNT];
};

struct stage_bindings {
    struct resource_slot textures[MAX_TEXTURE_SLOTS];
    struct sampler_slot samplers[MAX_SAMPLER_SLOTS];
    struct range_binding constants[MAX_CONSTANT_BUFFER_SLOTS];
    struct range_binding uavs[MAX_UAV_SLOTS];
    bool cb0_set, f_set; /* by the stream: until cb0 is, it holds the float constants */
    float f[MAX_D3D9_FLOATS][4];
    int32_t i[MAX_D3D9_INTS][4];
    uint32_t b[MAX_D3D9_INTS];
};

enum dirty {
    DIRTY_PIPELINE = 1u << 0,
    DIRTY_TARGETS = 1u << 1,
    DIRTY_VERTEX_BUFFERS = 1u << 2,
    DIRTY_INDEX_BUFFER = 1u << 3,
    DIRTY_VIEWPORT = 1u << 4,
    DIRTY_SCISSOR = 1u << 5,
    DIRTY_BLEND_CONSTANT = 1u << 6,
    DIRTY_STENCIL = 1u << 7,
    DIRTY_BIAS = 1u << 8,
    DIRTY_STAGE = 1u << 9, /* << exec_stage: descriptors of that stage */
    DIRTY_ALL = 0xFFFFFFFFu,
};

struct exec_context {
    uint32_t id;
    UT_hash_handle hh;
    uint32_t dirty;

    struct exec_object *color[MAX_TARGETS]; /* texture or view */
    uint32_t num_colors;
    struct exec_object *depth_stencil;
    struct exec_texture *implicit_target; /* stands in while no target is bound and the scanout is on */

    struct shader_object *shaders[EXEC_STAGE_COUNT];
    struct exec_layout *layout;
    struct vertex_binding vb[MAX_VERTEX_BUFFERS];
    struct exec_buffer *ib;
    VkIndexType index_type;
    uint32_t ib_offset;
    uint32_t topology; /* AEROGPU_TOPOLOGY_* */
    struct stage_bindings stages[EXEC_STAGE_COUNT];

    struct blend_state blend;
    struct depth_state depth;
    struct raster_state raster;
    uint8_t stencil_ref;
    bool viewport_set, scissor_set;
    float viewport[6];
    int32_t scissor_rect[4];
    uint32_t rs[D3DRS_COUNT]; /* Direct3D 9 render states as last set */

    struct breadcrumb_buffer *breadcrumbs; /* NULL: none is set */
    struct exec_pipeline *pipeline;        /* while DIRTY_PIPELINE is clear */
    bool pipeline_indexed;
};

/* ---- batches ------------------------------------------------------------- */

/* Rows of staging memory that go to guest memory when the device is done. */
struct readback {
    const uint8_t *from;
    uint32_t row_bytes, rows; /* of `from`, tight */
    uint64_t gpa, pitch;
    const struct format_info *convert_from; /* NULL: bytes as they are */
    uint32_t convert_to;                    /* aerogpu_format */
    bool stencil_follows;                   /* D24S8: depth words, then stencil bytes */
    bool depth_is_float;                    /* these words are floats: the device has no 24-bit depth */
};

struct staging_chunk {
    struct staging_chunk *next;
    struct exec_vk_buffer buffer;
    VkDeviceSize used;
};

struct shader_job;

struct exec_batch {
    uint64_t serial;
    VkCommandPool pool;
    VkCommandBuffer cmds[MAX_CUTS]; /* made when first needed; a batch is submitted in as many pieces */
    VkCommandBuffer cmd;            /* the one in use: cmds[num_cuts] */
    uint32_t num_cuts;
    VkFence fence;
    bool recording, has_work;
    struct staging_chunk *chunks; /* in use; the first has room */
    struct readback *readbacks;
    uint32_t num_readbacks;
    size_t cap_readbacks;
    struct descriptor_pool *pools; /* in use */
    struct set_cache_entry *sets;
    struct shader_job *jobs; /* created by this submission */
    struct abi_completion completion;
    uint32_t error_packet;   /* packet that completion.error is about */
    struct exec_batch *next; /* in the queue of the completion thread */
};

struct descriptor_pool {
    VkDescriptorPool pool;
    struct descriptor_pool *next;
};

struct exec_token {
    uint64_t value;
    struct exec_object *object; /* NULL: retired */
    UT_hash_handle hh;
};

struct exec_handle {
    uint32_t value;
    struct exec_object *object;
    UT_hash_handle hh;
};

/* Guest memory that a readback of batch `serial` will write. */
struct pending_write {
    uint64_t serial, gpa, size;
};

struct caches;            /* pipeline.c */
struct pass_entry;        /* targets.c */
struct framebuffer_entry; /* targets.c */

struct breadcrumb_buffer;

struct pending_breadcrumb {
    VkBuffer buffer;
    VkDeviceSize offset;
    uint32_t size;
    uint64_t data[2];
};

enum { BREADCRUMB_LIMIT = 64 };

struct breadcrumbs {
    struct breadcrumb_buffer *buffers;
    uint32_t num_buffers, num_pending;
    uint64_t limit_hits;
    struct pending_breadcrumb pending[BREADCRUMB_LIMIT];
};

struct exec_progress_recorder {
    struct exec_progress *shared; /* NULL: no markers */
    bool exact;
    VkBuffer buffer; /* the same layout; of `pages`, or `own` */
    struct exec_vk_pages pages;
    struct exec_vk_buffer own;
    uint32_t packet;   /* that is being decoded */
    uint32_t draws;    /* of the open mark */
    uint32_t write[2]; /* top and bottom: what the device writes behind the next barrier, if `due` */
    bool due;
    PFN_vkCmdWriteBufferMarkerAMD write_marker; /* NULL: not by these */
    PFN_vkCmdSetCheckpointNV set_checkpoint;    /* NULL: not by these */
    PFN_vkGetQueueCheckpointDataNV get_checkpoints;
};

struct exec_engine {
    struct exec_engine_params params;
    struct exec_vk vk;
    bool is_cpu;

    struct exec_handle *handles;
    struct exec_token *tokens;
    struct exec_context *contexts;
    struct exec_object *deferred;
    struct caches *caches;
    struct pass_entry *passes;
    struct framebuffer_entry *framebuffers;

    struct exec_buffer null_buffer;    /* zeroes; no handle names it */
    struct exec_texture *null_texture; /* 1 x 1, zero, 6 layers */

    /* batches */
    pthread_mutex_t lock; /* what is below */
    pthread_cond_t changed;
    struct exec_batch batches[NUM_BATCHES];
    struct exec_batch *free_batches, *queue, **queue_end;
    uint64_t submitted_serial, completed_serial;
    bool stopping;
    pthread_t completer;
    bool completer_running;

    /* shader jobs */
    pthread_mutex_t job_lock;
    pthread_cond_t job_changed;
    struct shader_job *job_queue, **job_queue_end;
    pthread_t workers[2];
    int num_workers;
    bool workers_stop;

    /* the submission that is being decoded */
    struct exec_batch *batch;
    const struct abi_submission *submission;
    struct abi_stream stream;
    struct abi_alloc_table allocs;
    uint8_t *stream_copy;
    uint32_t stream_cap;
    uint8_t *table_copy;
    uint32_t table_cap;
    struct exec_context *ctx;
    struct pending_write *writes;
    uint32_t num_writes;
    size_t cap_writes;
    struct error *error;
    uint32_t error_code; /* aerogpu_error_code that goes with *error */
    enum abi_cause error_cause;
    uint64_t error_address; /* of ABI_CAUSE_DMA */

    /* what the command buffer is in the middle of */
    struct exec_context *pass_ctx; /* NULL: no render pass is open */
    uint32_t pass_draws, pass_width, pass_height, pass_layers;
    bool need_barrier; /* before the next pass, dispatch or copy */
    bool pass_stale;   /* the open pass wrote UAVs: what comes next needs a barrier */
    struct exec_progress_recorder progress;
    struct breadcrumbs breadcrumbs;
    VkPipeline bound_pipeline;
    struct exec_program *bound_program[2]; /* whose sets are bound: graphics, compute */
    struct exec_context *bound_ctx;        /* whose state they show */
};

/* ---- errors: every packet handler returns 0 or a negative errno after one of these ---- */

int exec_fail(struct exec_engine *g, uint32_t code, enum abi_cause cause, int err, const char *fmt, ...)
    __attribute__((format(printf, 5, 6)));
#define fail_decode(g, ...)      exec_fail(g, AEROGPU_ERROR_CMD_DECODE, ABI_CAUSE_OTHER, -EBADMSG, __VA_ARGS__)
#define fail_decode_type(g, ...) exec_fail(g, AEROGPU_ERROR_CMD_DECODE, ABI_CAUSE_TYPE, -EBADMSG, __VA_ARGS__)
#define fail_decode_alignment(g, ...)                                                                        \
    exec_fail(g, AEROGPU_ERROR_CMD_DECODE, ABI_CAUSE_MISALIGNED, -EBADMSG, __VA_ARGS__)
#define fail_oob(g, ...)          exec_fail(g, AEROGPU_ERROR_OOB, ABI_CAUSE_OTHER, -ERANGE, __VA_ARGS__)
#define fail_backend(g, ...)      exec_fail(g, AEROGPU_ERROR_BACKEND, ABI_CAUSE_OTHER, -EIO, __VA_ARGS__)
#define fail_memory(g, ...)       exec_fail(g, AEROGPU_ERROR_BACKEND, ABI_CAUSE_MEMORY, -ENOMEM, __VA_ARGS__)
#define fail_backend_type(g, ...) exec_fail(g, AEROGPU_ERROR_BACKEND, ABI_CAUSE_TYPE, -EIO, __VA_ARGS__)
#define fail_backend_alignment(g, ...)                                                                       \
    exec_fail(g, AEROGPU_ERROR_BACKEND, ABI_CAUSE_MISALIGNED, -EIO, __VA_ARGS__)
/* "… is not guest memory" */
int exec_fail_dma(struct exec_engine *g, const char *what, uint64_t gpa, uint64_t size);
/* The Vulkan device's own word. */
int exec_fail_vulkan(struct exec_engine *g, const char *what, VkResult r);

/* ---- batch.c ------------------------------------------------------------- */

int exec_batch_init(struct exec_engine *g, struct exec_batch *b);
void exec_batch_finish(struct exec_engine *g, struct exec_batch *b);
/* The command buffer, started if need be, outside any render pass and behind a barrier if one is due; NULL on failure. */
VkCommandBuffer exec_batch_transfer(struct exec_engine *g);
/* The command buffer, wherever it is. */
VkCommandBuffer exec_batch_cmd(struct exec_engine *g);
/* `size` bytes of staging memory, 16-byte aligned; *map is where to write or read them. */
int exec_batch_stage(struct exec_engine *g, uint64_t size, uint64_t align, VkBuffer *buffer,
                     VkDeviceSize *offset, uint8_t **map);
struct readback *exec_batch_readback(struct exec_engine *g);
/* Hands everything recorded so far to the device and waits for it, write-backs included. */
int exec_batch_sync(struct exec_engine *g);
/* Notes that the batch uses `o`. */
static inline void exec_batch_use(struct exec_engine *g, struct exec_object *o)
{
    o->last_use = g->batch->serial;
}
/* True if the device may still read or write `o`, by this batch or an earlier one. */
bool exec_object_is_busy(struct exec_engine *g, const struct exec_object *o);
/* Hands what is recorded to the device and goes on in a new command buffer; does nothing after MAX_CUTS of them. */
int exec_batch_cut(struct exec_engine *g);
VkResult exec_batch_flush(struct exec_engine *g, struct exec_batch *b);
void exec_batch_run_readbacks(struct exec_engine *g, struct exec_batch *b);
void exec_batch_recycle(struct exec_engine *g, struct exec_batch *b);

/* ---- objects.c ----------------------------------------------------------- */

void *exec_object_find(struct exec_engine *g, uint32_t handle, enum object_kind kind);
struct exec_object *exec_object_lookup(struct exec_engine *g, uint32_t handle);
void exec_object_unref(struct exec_engine *g, struct exec_object *o);
static inline struct exec_object *exec_object_ref(struct exec_object *o)
{
    if (o)
        o->refs++;
    return o;
}
const char *exec_object_kind_name(enum object_kind kind);
/* Replaces *slot, counting references. */
void exec_object_assign(struct exec_engine *g, void *slot, void *object);
void exec_objects_destroy_deferred(struct exec_engine *g);
void exec_objects_forget_all(struct exec_engine *g);
int exec_texture_make(struct exec_engine *g, struct exec_texture **out,
                      const struct aerogpu_cmd_create_texture2d *c);
VkImageView exec_texture_view(struct exec_engine *g, struct exec_texture *t,
                              const struct image_view_key *key);
/* Destroys what is in `b`, not `b`. */
void exec_buffer_clean(struct exec_engine *g, struct exec_buffer *b);
VkBufferView exec_buffer_view(struct exec_engine *g, struct exec_buffer *b, VkFormat format, uint64_t offset,
                              uint64_t range);
/* The texture and range that a texture or view object selects. */
struct exec_view exec_view_of(struct exec_object *o);
int exec_shader_object_wait(struct exec_engine *g, struct shader_object *s);
void exec_shader_jobs_finish(struct exec_engine *g, struct exec_batch *b);
void *exec_shader_worker(void *arg);

/* Adds a handle for `o`, taking over the caller's reference; on failure the reference is given back. */
int exec_handle_add(struct exec_engine *g, uint32_t handle, struct exec_object *o);
int exec_handle_check_new(struct exec_engine *g, uint32_t handle);

/* ---- layout.c ------------------------------------------------------------ */

int exec_layout_parse(struct exec_layout **out, const void *blob, uint32_t size, struct error *e);

/* ---- transfer.c ---------------------------------------------------------- */

/* Makes a texture of blocks zero. */
int exec_transfer_zero_blocks(struct exec_engine *g, struct exec_texture *t);
/* Reads [offset, offset + size) of the resource from its guest memory. */
int exec_transfer_from_guest(struct exec_engine *g, struct exec_object *o, uint64_t offset, uint64_t size);
/* Bytes [0, size) of guest memory behind `b` from `offset` on; checks the allocation table. *gpa gets the address. */
int exec_backing_resolve(struct exec_engine *g, const struct exec_object *o, const struct backing *b,
                         uint64_t offset, uint64_t size, bool for_writing, uint64_t *gpa);
uint64_t exec_texture_linear_size(const struct format_info *f, uint32_t width, uint32_t height, uint32_t mips,
                                  uint32_t layers, uint32_t row_pitch);

/* ---- state.c ------------------------------------------------------------- */

struct exec_context *exec_context_get(struct exec_engine *g, uint32_t id);
void exec_context_destroy(struct exec_engine *g, struct exec_context *c);
/* Takes `o` out of every slot of every context. */
void exec_contexts_unbind(struct exec_engine *g, const struct exec_object *o);
/* The stage that the packet names. */
enum exec_stage exec_stage_of(struct exec_engine *g, const struct abi_packet *p);
struct sampler_desc exec_sampler_desc_of(const struct sampler_slot *slot, bool d3d9_shader);

/* ---- targets.c ----------------------------------------------------------- */

struct target_set {
    uint32_t num_colors;
    struct exec_view colors[MAX_TARGETS]; /* texture NULL: unbound */
    struct exec_view depth;
    uint32_t width, height, layers;
};
/* The targets that draws of `c` go to; -ENOENT if there are none. */
int exec_targets_of(struct exec_engine *g, struct exec_context *c, struct target_set *t);
VkFormat exec_target_format(const struct exec_view *v); /* VK_FORMAT_UNDEFINED where nothing is bound */
VkRenderPass exec_render_pass_get(struct exec_engine *g, const struct target_set *t, uint32_t clear_flags);
VkFramebuffer exec_framebuffer_get(struct exec_engine *g, const struct target_set *t, VkRenderPass pass);
/* Forgets framebuffers that use one of the texture's views. */
void exec_targets_forget_texture(struct exec_engine *g, const struct exec_texture *t);
void exec_targets_finish(struct exec_engine *g);

/* ---- pipeline.c ---------------------------------------------------------- */

struct exec_pipeline {
    VkPipeline pipeline;
    struct exec_program *program;
    uint32_t vertex_slots; /* bit: a buffer is bound there when drawing */
    bool null_vertex_slot; /* the null buffer is read through NULL_VERTEX_SLOT */
};

struct exec_program {
    struct shader_key key;
    const struct shader_info *infos[EXEC_STAGE_COUNT]; /* of shaders held below; NULL: built-in or unbound */
    struct shader *shaders[EXEC_STAGE_COUNT];
    VkShaderModule modules[EXEC_STAGE_COUNT];
    VkDescriptorSetLayout sets[EXEC_STAGE_COUNT]; /* by set number */
    VkPipelineLayout layout;
    uint32_t num_sets;
    struct exec_pipeline compute; /* made when first dispatched */
    UT_hash_handle hh;
};

int exec_caches_create(struct exec_engine *g);
void exec_caches_destroy(struct exec_engine *g);
int exec_pipeline_resolve(struct exec_engine *g, struct exec_context *c, bool indexed);
int exec_compute_pipeline_resolve(struct exec_engine *g, struct exec_context *c, struct exec_pipeline **out);
VkSampler exec_sampler_get(struct exec_engine *g, const struct sampler_desc *desc);

/* ---- bind.c -------------------------------------------------------------- */

/* Sets the hidden counter of a buffer's UAV, in the order of the stream. */
int exec_uav_counter_set(struct exec_engine *g, struct exec_buffer *b, uint32_t value);
/* Binds what the program's stages ask for; *writes is set if one of them has a UAV. */
int exec_bind_descriptors(struct exec_engine *g, struct exec_context *c, struct exec_program *prog,
                          bool compute, bool *writes);
void exec_bind_forget(struct exec_batch *b);

/* ---- draw.c -------------------------------------------------------------- */

void exec_pass_end(struct exec_engine *g);
/* What of the targets the scissor rectangle leaves, if it counts. */
VkRect2D exec_scissor_of(const struct exec_context *c, uint32_t width, uint32_t height);

/* ---- addresses.c --------------------------------------------------------- */

/* Makes b->vk with an address. */
int exec_address_create(struct exec_engine *g, struct exec_buffer *b, VkBufferUsageFlags usage);
/* After b->vk was destroyed: its addresses fault from now on. */
void exec_address_destroy(struct exec_engine *g, struct exec_buffer *b);

/* ---- breadcrumbs.c ------------------------------------------------------- */

void exec_checkpoints_forget(struct exec_engine *g, uint32_t context);
/* All that was recorded before is waited for: what waits is written. */
void exec_breadcrumbs_behind_barrier(struct exec_engine *g);
/* The device is idle. */
void exec_breadcrumbs_forget_all(struct exec_engine *g);

/* ---- progress.c ---------------------------------------------------------- */

void exec_progress_create(struct exec_engine *g);
void exec_progress_destroy(struct exec_engine *g);
void exec_progress_begin(struct exec_engine *g);                              /* g->submission in g->batch */
void exec_progress_packet(struct exec_engine *g, const struct abi_packet *p); /* is decoded next */
void exec_progress_open(struct exec_engine *g);                 /* the command buffer has just begun */
void exec_progress_close(struct exec_engine *g, uint32_t last); /* it is about to end; `last`: packet */
void exec_progress_behind_barrier(struct exec_engine *g); /* all that was recorded before is waited for */
void exec_progress_set_state(struct exec_engine *g, const struct exec_batch *b,
                             enum exec_progress_state state);
void exec_progress_lost(struct exec_engine *g, const struct exec_batch *b);
void exec_progress_done(struct exec_engine *g, const struct exec_batch *b,
                        bool finished); /* all of it, or the device failed */
/* Brings the shared memory up to date where the device cannot. */
void exec_progress_copy(struct exec_engine *g, const struct exec_batch *b);

#endif
