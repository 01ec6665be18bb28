/* SPDX-License-Identifier: MIT */
/* shader_files.h: sample shaders for tests, and Direct3D 9 tokens written out. */
#pragma once

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "executor/shader/shader.h"

/* Reads samples/shaders/NAME; returns its size, 0 if there is none. */
static inline size_t read_sample(const char *name, uint8_t *out, size_t capacity)
{
    const char *root = getenv("AEROGPU_SOURCE_ROOT");
    char path[512];
    size_t n;
    FILE *f;

    snprintf(path, sizeof(path), "%s/samples/shaders/%s", root ? root : ".", name);
    f = fopen(path, "rb");
    if (!f)
        return 0;
    n = fread(out, 1, capacity, f);
    fclose(f);
    return n;
}

/* The stage that a sample's name tells. */
static inline enum exec_stage sample_stage(const char *name)
{
    static const char *const marks[] = {"_vs", "_ps", "_gs", "_hs", "_ds", "_cs"};

    for (int s = 0; s < 6; s++)
        if (strstr(name, marks[s]))
            return (enum exec_stage)s;
    return EXEC_STAGE_COUNT;
}

/* Tokens of Direct3D 9: destinations and sources by register type and number. */
#define T_REG(type, n)       (0x80000000u | ((uint32_t)(type)&7) << 28 | ((uint32_t)(type)&0x18) << 8 | (n))
#define T_DST(type, n, mask) (T_REG(type, n) | (uint32_t)(mask) << 16)
#define T_SRC(type, n)       (T_REG(type, n) | 0xe40000u)
#define T_SWZ(type, n, s)    (T_REG(type, n) | (uint32_t)(s) << 16)
#define T_OP(op, words)      ((uint32_t)(op) | (uint32_t)(words) << 24)
#define T_DCL(usage, index)  (0x80000000u | (uint32_t)(index) << 16 | (usage))
#define T_END                0x0000ffffu
