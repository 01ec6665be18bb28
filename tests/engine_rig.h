/* engine_rig.h: an engine in this process with guest memory around it, for tests. */
#ifndef TESTS_ENGINE_RIG_H_
#define TESTS_ENGINE_RIG_H_

#include <pthread.h>

#include "abi/builder.h"
#include "executor/engine.h"

enum {
    RIG_RAM = 64 << 20,
    RIG_STREAM_GPA = 1 << 20,
    RIG_TABLE_GPA = 16 << 20,
    RIG_SCANOUT_GPA = 24 << 20,
    RIG_DATA_GPA = 32 << 20, /* the test's own */
};

struct rig {
    struct exec_engine *engine;
    uint8_t *ram;
    struct abi_builder b;
    struct exec_scanout scanout;
    uint32_t context_id;
    uint64_t next_id;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    struct exec_completion last; /* the newest completion */
    uint64_t completed;          /* how many */
    uint32_t num_allocs;
};

/* 0, or a negative errno when there is no Vulkan device. */
int rig_create(struct rig *r);
void rig_destroy(struct rig *r);
/* A scanout of this size in format R8G8B8A8. */
void rig_scanout(struct rig *r, uint32_t width, uint32_t height);
/* Adds an entry to the allocation table of the next submission. */
void rig_alloc(struct rig *r, uint32_t alloc_id, uint64_t gpa, uint64_t size, uint32_t flags);
/* Submits what r->b holds, waits, empties r->b. */
const struct exec_completion *rig_run(struct rig *r);
/* The same, without waiting. */
void rig_submit(struct rig *r);
void rig_wait(struct rig *r);
/* Fails the test with the completion's message unless it is a success. */
void rig_run_ok(struct rig *r);
/* RGBA of the pixel of the scanout, as 0xRRGGBBAA. */
uint32_t rig_pixel(const struct rig *r, uint32_t x, uint32_t y);
/* Saves the scanout if the environment has AEROGPU_TEST_PNG=DIR. */
void rig_save(const struct rig *r, const char *name);
/* Bytes of a file of samples/shaders, or NULL; *size gets the length. free() them. */
uint8_t *rig_shader(const char *name, uint32_t *size);

#endif
