/* SPDX-License-Identifier: MIT */
/* dynamic.c: buffers that a program maps, small and large: each draw or copy sees what was there when it was asked for. Says what is
 * otherwise than it has to be. */
#define COBJMACROS
#define WIN32_LEAN_AND_MEAN
#include <string.h>

#include <d3d11.h>

#include "calls.h"
#include "program.h"

enum { TIMES = 12 }; /* more than a driver keeps memory for */

static ID3D11DeviceContext *context;

static UINT *map(ID3D11Buffer *b, D3D11_MAP how)
{
    D3D11_MAPPED_SUBRESOURCE m = {0};

    NEED(ID3D11DeviceContext_Map(context, (ID3D11Resource *)b, 0, how, 0, &m));
    return m.pData;
}

static void unmap(ID3D11Buffer *b)
{
    ID3D11DeviceContext_Unmap(context, (ID3D11Resource *)b, 0);
}

static void copy_word(ID3D11Buffer *to, UINT word, ID3D11Buffer *from, UINT from_word)
{
    const D3D11_BOX box = {4 * from_word, 0, 0, 4 * from_word + 4, 1, 1};

    ID3D11DeviceContext_CopySubresourceRegion(context, (ID3D11Resource *)to, 0, 4 * word, 0, 0,
                                              (ID3D11Resource *)from, 0, &box);
}

/* What one of `size` bytes holds at its end, after each of many times that it was mapped. */
static void buffers_of(const struct calls *c, UINT size)
{
    const D3D11_BUFFER_DESC d = {.ByteWidth = size,
                                 .Usage = D3D11_USAGE_DYNAMIC,
                                 .BindFlags = D3D11_BIND_VERTEX_BUFFER,
                                 .CPUAccessFlags = D3D11_CPU_ACCESS_WRITE},
                            s = {.ByteWidth = 256,
                                 .Usage = D3D11_USAGE_STAGING,
                                 .CPUAccessFlags = D3D11_CPU_ACCESS_READ};
    const UINT last = size / 4 - 1;
    UINT *first = malloc(size), *p;
    const D3D11_SUBRESOURCE_DATA from = {first, 0, 0};
    ID3D11Buffer *b = NULL, *seen = NULL;

    for (UINT i = 0; i <= last; i++)
        first[i] = 1000 + i;
    NEED(ID3D11Device_CreateBuffer(c->device, &d, &from, &b));
    NEED(ID3D11Device_CreateBuffer(c->device, &s, NULL, &seen));
    free(first);
    map(b, D3D11_MAP_WRITE_NO_OVERWRITE)[1] = 7;
    unmap(b);
    copy_word(seen, 0, b, last);
    copy_word(seen, 1, b, 1);
    for (UINT i = 0; i < TIMES; i++) { /* nothing is waited for */
        p = map(b, D3D11_MAP_WRITE_DISCARD);
        p[0] = 50 + i;
        p[last] = 100 + i;
        unmap(b);
        copy_word(seen, 2 + i, b, last);
    }
    map(b, D3D11_MAP_WRITE_NO_OVERWRITE)[2] = 200; /* what nobody reads yet */
    unmap(b);
    copy_word(seen, 2 + TIMES, b, 2);
    copy_word(seen, 3 + TIMES, b, 0);
    p = map(seen, D3D11_MAP_READ);
    for (UINT i = 0; i < 4 + TIMES; i++) {
        const UINT wanted = i == 0           ? 1000 + last
                            : i == 1         ? 7
                            : i < 2 + TIMES  ? 100 + i - 2
                            : i == 2 + TIMES ? 200
                                             : 50 + TIMES - 1;
        if (p[i] != wanted)
            printf("a dynamic buffer of %u bytes, copy %u: %u, not %u\n", size, i, p[i], wanted);
    }
    unmap(seen);
    p = map(b, D3D11_MAP_WRITE_DISCARD); /* it ends while it is still to be read, and mapped */
    memset(p, 0, size);
    unmap(b);
    map(b, D3D11_MAP_WRITE_DISCARD);
    ID3D11Buffer_Release(b);
    ID3D11Buffer_Release(seen);
}

void dynamic(const struct calls *c)
{
    context = c->context;
    buffers_of(c, 256);
    buffers_of(c, 1 << 18);
    if (ID3D11Device_GetDeviceRemovedReason(c->device))
        printf("the device is gone after dynamic buffers\n");
}
