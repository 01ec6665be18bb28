/* SPDX-License-Identifier: MIT */
/* env.h: the environment of a program that runs with a Vulkan layer of ours. */
#pragma once

struct layer_env {
    const char *layer;         /* its name */
    const char *folder;        /* with its manifest */
    const char *const *values; /* "NAME=VALUE" of whatever else it needs, up to NULL */
};

/* This process's environment with the layer in it, behind those that are there already; NULL: no memory. One block, to be
 * given to free(). */
char **layer_env_make(const struct layer_env *l);
