/* gpu_model.h: what a walk over AeroGPU command streams knows at each packet: which handles exist, and what is bound in
 * which context. It executes nothing, and believes nothing: unknown handles are just numbers.
 */
#ifndef BLACKBOX_GPU_MODEL_H_
#define BLACKBOX_GPU_MODEL_H_

#include "abi/stream.h"
#include "base/error.h"

enum gpu_slot_kind {
    SLOT_SHADER,
    SLOT_TARGET,
    SLOT_DEPTH,
    SLOT_VERTICES,
    SLOT_INDICES,
    SLOT_TEXTURE,
    SLOT_CONSTANTS,
    SLOT_SRV,
    SLOT_UAV,
};

struct gpu_slot {
    uint8_t kind, stage; /* enum abi_program; 0 where there is none */
    uint16_t index;
    uint32_t handle;
};

enum { GPU_MAX_SLOTS = 192, GPU_PATH = 200, GPU_DEPTH = 16 };

struct gpu_model_context {
    struct gpu_model_context *next;
    uint32_t id, num_slots;
    struct gpu_slot slots[GPU_MAX_SLOTS];
    char path[GPU_PATH]; /* the last DEBUG_MARKER and the regions pushed, "frame/shadows" */
    uint16_t depth, ends[GPU_DEPTH];
    uint32_t too_deep, unbalanced_pops;
};

enum gpu_object_kind {
    GPU_OBJECT_BUFFER,
    GPU_OBJECT_TEXTURE,
    GPU_OBJECT_VIEW,
    GPU_OBJECT_SHADER,
    GPU_OBJECT_OTHER
};

struct gpu_object {
    uint32_t handle;
    enum gpu_object_kind kind;
    bool alive;
    uint64_t size;
    uint32_t width, height, format, alloc_id; /* of textures; alloc_id of buffers too */
    uint64_t alloc_offset;
    uint32_t stage;       /* enum abi_program */
    const uint8_t *bytes; /* of a shader: in the stream */
    uint32_t bytes_size;
    uint64_t created, last_use, destroyed; /* submissions by number */
    char hash[17];                         /* of a shader's bytes */
};

struct gpu_model {
    struct gpu_model_context *contexts;
    struct gpu_object *objects; /* in order of creation; a handle may come again */
    uint32_t num_objects, cap_objects;
    uint32_t *slots; /* open hashing: handle -> object + 1 */
    uint32_t slot_cap;
    bool failed; /* out of memory: what is known is right, but not all */
};

void gpu_model_finish(struct gpu_model *m);
struct gpu_model_context *gpu_model_context(struct gpu_model *m, uint32_t id);

/* Applies a packet. `submission` is its number, for first and last uses. */
void gpu_model_apply(struct gpu_model *m, struct gpu_model_context *c, const struct abi_stream *s,
                     const struct abi_packet *p, uint64_t submission);
/* Notes that what is bound is used, by a packet that does work. */
void gpu_model_use(struct gpu_model *m, const struct gpu_model_context *c, uint64_t submission);
struct gpu_object *gpu_model_find(struct gpu_model *m, uint32_t handle);

void gpu_slot_name(char name[24], const struct gpu_slot *s);
void gpu_object_name(char name[64], const struct gpu_object *o);

#endif
