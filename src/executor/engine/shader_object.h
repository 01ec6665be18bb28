/* SPDX-License-Identifier: MIT */
/* shader_object.h: shaders as objects, translated by threads of their own. */
#pragma once

#include "executor/engine/object.h"
#include "executor/shader/shader.h"

struct exec_batch;
struct shader_job;

struct shader_object {
    struct exec_object o;
    enum exec_stage stage;
    struct shader *shader; /* NULL until its job is done, or if it failed */
    struct shader_job *job;
};

int exec_shader_object_wait(struct exec_engine *g, struct shader_object *s);
void exec_shader_jobs_finish(struct exec_engine *g, struct exec_batch *b);
void *exec_shader_worker(void *arg);
