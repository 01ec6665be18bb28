/* SPDX-License-Identifier: MIT */
/* calls.h: what the checks of Direct3D 9 share: a device, its picture, and words where something is not as it should be. */
#pragma once

#define CINTERFACE
#define COBJMACROS
#define WIN32_LEAN_AND_MEAN
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <d3d9.h>

enum { SIDE = 32 };

extern int failures;
extern IDirect3D9Ex *factory;
extern IDirect3DDevice9Ex *dev;

#define IS(call, want)                                                                                       \
    do {                                                                                                     \
        HRESULT is_ = (call), want_ = (want);                                                                \
        if (is_ != want_) {                                                                                  \
            printf("%s:%d: %s: 0x%08X, not 0x%08X\n", __FILE__, __LINE__, #call, (unsigned)is_,              \
                   (unsigned)want_);                                                                         \
            failures++;                                                                                      \
        }                                                                                                    \
    } while (0)
#define OK(call) IS(call, D3D_OK)
#define TRUE_(condition)                                                                                     \
    do {                                                                                                     \
        if (!(condition)) {                                                                                  \
            printf("%s:%d: not so: %s\n", __FILE__, __LINE__, #condition);                                   \
            failures++;                                                                                      \
        }                                                                                                    \
    } while (0)
/* The pixel of target 0, each channel within `off`. */
#define PIXEL(x, y, want, off) expect_pixel(__FILE__, __LINE__, x, y, want, off)

void expect_pixel(const char *file, int line, unsigned x, unsigned y, uint32_t want, unsigned off);
/* All pixels of target 0, of SIDE * SIDE. */
void read_target(uint32_t *pixels);
D3DPRESENT_PARAMETERS present_params(void);
void clear(uint32_t colour);
/* A rectangle in pixels, edges between their centres, with a colour and coordinates 0 to 1. */
void quad(float left, float top, float right, float bottom, float z, uint32_t colour);
IDirect3DTexture9 *texture(unsigned width, unsigned height, D3DFORMAT format, D3DPOOL pool,
                           const void *texels, unsigned row);

/* The corners of the front buffer, of SIDE * SIDE. */
void expect_front(uint32_t want);

void check_buffers(void);
void check_states(void);
void check_textures(void);
void check_shaders(void);
void check_fixed(void);
void check_blocks(void);
void check_surfaces(void);
void check_errors(void);
void check_more(void);
void check_presenting(void);
void check_samples(void);
void check_edges(void);
void check_screen(void);
void check_rules(void);
void check_life(void);
void check_threads(void);
