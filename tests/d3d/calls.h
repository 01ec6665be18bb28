/* SPDX-License-Identifier: MIT */
/* calls.h: the parts of the program calls. */
#pragma once

#include <d3d11.h>

struct calls {
    ID3D11Device *device;
    ID3D11DeviceContext *context;
    ID3D11Texture2D *target, *staging; /* 64 x 64, R8G8B8A8 */
    ID3D11RenderTargetView *view;
    void (*draw)(void); /* one triangle over the whole target */
};

void objects(const struct calls *c);
void level11(const struct calls *c, const char *folder);
void level11_1(const char *folder); /* on a device of its own */
void deferred(const struct calls *c);
void debug(const struct calls *c, const char *folder);
void dynamic(const struct calls *c);
void threads(const struct calls *c);
