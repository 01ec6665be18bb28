/* SPDX-License-Identifier: MIT */
/* streams.h: vertices that are written to buffers (ext.h, EXT_STREAM_OUTPUT). */
#pragma once

#include <stdbool.h>

struct exec_context;
struct exec_engine;
struct exec_pipeline;

/* Whether anything is bound that vertices are written to. */
bool exec_streams_bound(const struct exec_context *c);
/* Around a draw with a pipeline that writes vertices. */
void exec_streams_begin(struct exec_engine *g, struct exec_context *c);
void exec_streams_end(struct exec_engine *g, struct exec_context *c);
