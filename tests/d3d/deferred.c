/* SPDX-License-Identifier: MIT */
/* deferred.c: deferred contexts, command lists and context states: what is recorded happens when it is played, as often as it is, and
 * leaves the context as it was. Prints a line of each that went otherwise. */
#define COBJMACROS
#define WIN32_LEAN_AND_MEAN
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <d3d11_1.h>

#include "calls.h"

static const struct calls *c;
static ID3D11DeviceContext *recorder;

static void want(const char *what, UINT64 got, UINT64 expected)
{
    if (got != expected)
        printf("%s: %llx, not %llx\n", what, (unsigned long long)got, (unsigned long long)expected);
}

/* The pixel of the target, red in its lowest byte. */
static UINT pixel(UINT x, UINT y)
{
    D3D11_MAPPED_SUBRESOURCE m;
    UINT p;

    ID3D11DeviceContext_CopyResource(c->context, (ID3D11Resource *)c->staging, (ID3D11Resource *)c->target);
    if (ID3D11DeviceContext_Map(c->context, (ID3D11Resource *)c->staging, 0, D3D11_MAP_READ, 0, &m) != S_OK)
        return 0xDEAD;
    memcpy(&p, (const char *)m.pData + y * m.RowPitch + x * 4, sizeof(p));
    ID3D11DeviceContext_Unmap(c->context, (ID3D11Resource *)c->staging, 0);
    return p;
}

static ID3D11CommandList *finish(BOOL restore)
{
    ID3D11CommandList *list = NULL;

    want("finishing a list", (UINT)ID3D11DeviceContext_FinishCommandList(recorder, restore, &list), S_OK);
    if (!list)
        exit(1);
    return list;
}

static void clear(ID3D11DeviceContext *on, FLOAT red, FLOAT green)
{
    const FLOAT colour[4] = {red, green, 0, 1};

    ID3D11DeviceContext_ClearRenderTargetView(on, c->view, colour);
}

static ID3D11Buffer *buffer(D3D11_USAGE usage, UINT bind, UINT access, const void *data)
{
    D3D11_BUFFER_DESC d = {64, usage, bind, access, 0, 0};
    D3D11_SUBRESOURCE_DATA from = {data, 0, 0};
    ID3D11Buffer *b = NULL;

    want("a buffer", (UINT)ID3D11Device_CreateBuffer(c->device, &d, data ? &from : NULL, &b), S_OK);
    if (!b)
        exit(1);
    return b;
}

static UINT first_word(ID3D11Buffer *b)
{
    ID3D11Buffer *staging = buffer(D3D11_USAGE_STAGING, 0, D3D11_CPU_ACCESS_READ, NULL);
    D3D11_MAPPED_SUBRESOURCE m;
    UINT word = 0xDEAD;

    ID3D11DeviceContext_CopyResource(c->context, (ID3D11Resource *)staging, (ID3D11Resource *)b);
    if (ID3D11DeviceContext_Map(c->context, (ID3D11Resource *)staging, 0, D3D11_MAP_READ, 0, &m) == S_OK) {
        memcpy(&word, m.pData, sizeof(word));
        ID3D11DeviceContext_Unmap(c->context, (ID3D11Resource *)staging, 0);
    }
    ID3D11Buffer_Release(staging);
    return word;
}

static void lists(void)
{
    ID3D11CommandList *red, *both, *none = (ID3D11CommandList *)(uintptr_t)1;
    D3D11_BOX box = {8, 8, 0, 16, 16, 1};
    UINT blue[64];

    for (int i = 0; i < 64; i++)
        blue[i] = 0xFFFF0000;
    clear(c->context, 0, 1);
    clear(recorder, 1, 0);
    want("nothing is drawn by recording", pixel(0, 0), 0xFF00FF00);
    red = finish(FALSE);
    ID3D11DeviceContext_ExecuteCommandList(c->context, red, TRUE);
    want("a list is played", pixel(0, 0), 0xFF0000FF);
    clear(c->context, 0, 1);
    ID3D11DeviceContext_ExecuteCommandList(recorder, red, FALSE);
    ID3D11DeviceContext_UpdateSubresource(recorder, (ID3D11Resource *)c->target, 0, &box, blue, 32, 0);
    blue[0] = 0;
    both = finish(FALSE);
    ID3D11CommandList_Release(red);
    for (int i = 0; i < 2; i++) {
        clear(c->context, 0, 1);
        ID3D11DeviceContext_ExecuteCommandList(c->context, both, TRUE);
        want("a list in a list", pixel(7, 8), 0xFF0000FF);
        want("texels as they were when they were recorded", pixel(8, 8), 0xFFFF0000);
    }
    ID3D11CommandList_Release(both);
    want("the immediate context records nothing",
         (UINT)ID3D11DeviceContext_FinishCommandList(c->context, FALSE, &none),
         (UINT)DXGI_ERROR_INVALID_CALL);
    want("and gives no list", none == NULL, 1);
}

static void maps(void)
{
    const UINT words[16] = {5};
    ID3D11Buffer *b = buffer(D3D11_USAGE_DYNAMIC, D3D11_BIND_VERTEX_BUFFER, D3D11_CPU_ACCESS_WRITE, words),
                 *copy = buffer(D3D11_USAGE_DEFAULT, D3D11_BIND_VERTEX_BUFFER, 0, words);
    ID3D11Resource *r = (ID3D11Resource *)b;
    D3D11_MAPPED_SUBRESOURCE m;
    ID3D11CommandList *list;

    want("reading", (UINT)ID3D11DeviceContext_Map(recorder, r, 0, D3D11_MAP_READ, 0, &m), (UINT)E_INVALIDARG);
    want("no overwriting of what was not discarded",
         (UINT)ID3D11DeviceContext_Map(recorder, r, 0, D3D11_MAP_WRITE_NO_OVERWRITE, 0, &m),
         (UINT)D3D11_ERROR_DEFERRED_CONTEXT_MAP_WITHOUT_INITIAL_DISCARD);
    for (UINT i = 6; i < 8; i++) {
        want("discarding", (UINT)ID3D11DeviceContext_Map(recorder, r, 0, D3D11_MAP_WRITE_DISCARD, 0, &m),
             S_OK);
        *(UINT *)m.pData = i;
        ID3D11DeviceContext_Unmap(recorder, r, 0);
        if (i == 6)
            ID3D11DeviceContext_CopyResource(recorder, (ID3D11Resource *)copy, r);
    }
    list = finish(FALSE);
    want("nothing is written by recording", first_word(b), 5);
    ID3D11DeviceContext_ExecuteCommandList(c->context, list, FALSE);
    want("the last that was written", first_word(b), 7);
    want("and what a copy saw before it", first_word(copy), 6);
    ID3D11CommandList_Release(list);
    ID3D11Buffer_Release(copy);
    ID3D11Buffer_Release(b);
}

static void states(void)
{
    const D3D_FEATURE_LEVEL level = ID3D11Device_GetFeatureLevel(c->device);
    ID3D11Buffer *b = buffer(D3D11_USAGE_DEFAULT, D3D11_BIND_CONSTANT_BUFFER, 0, NULL), *got = NULL;
    ID3DDeviceContextState *other = NULL, *mine = NULL;
    ID3D11DeviceContext1 *context = NULL;
    ID3D11Device1 *device = NULL;
    ID3D11CommandList *list;

    ID3D11DeviceContext_PSSetConstantBuffers(recorder, 1, 1, &b);
    list = finish(TRUE);
    ID3D11DeviceContext_PSGetConstantBuffers(recorder, 1, 1, &got);
    want("a recorder keeps its state", got == b, 1);
    if (got)
        ID3D11Buffer_Release(got);
    ID3D11CommandList_Release(list);
    ID3D11DeviceContext_GSSetConstantBuffers(c->context, 2, 1, &b);
    list = finish(FALSE);
    ID3D11DeviceContext_ExecuteCommandList(c->context, list, TRUE);
    ID3D11DeviceContext_GSGetConstantBuffers(c->context, 2, 1, &got);
    want("what was bound is bound again", got == b, 1);
    if (got)
        ID3D11Buffer_Release(got);
    ID3D11CommandList_Release(list);
    if (ID3D11Device_QueryInterface(c->device, &IID_ID3D11Device1, (void **)&device) != S_OK)
        exit(1);
    ID3D11Device1_GetImmediateContext1(device, &context);
    want("a context state",
         (UINT)ID3D11Device1_CreateDeviceContextState(device, 0, &level, 1, D3D11_SDK_VERSION,
                                                      &IID_ID3D11Device1, NULL, &other),
         S_OK);
    ID3D11DeviceContext1_SwapDeviceContextState(context, other, &mine);
    ID3D11DeviceContext_GSGetConstantBuffers(c->context, 2, 1, &got);
    want("another state has nothing bound", got == NULL, 1);
    ID3D11DeviceContext1_SwapDeviceContextState(context, mine, NULL);
    ID3D11DeviceContext_GSGetConstantBuffers(c->context, 2, 1, &got);
    want("and the first has what it had", got == b, 1);
    if (got)
        ID3D11Buffer_Release(got);
    ID3D11DeviceContext_ClearState(c->context);
    ID3DDeviceContextState_Release(other);
    want("states end", ID3DDeviceContextState_Release(mine), 0);
    ID3D11DeviceContext1_Release(context);
    ID3D11Device1_Release(device);
    want("so do buffers", ID3D11Buffer_Release(b), 0);
}

void deferred(const struct calls *calls)
{
    c = calls;
    want("a deferred context", (UINT)ID3D11Device_CreateDeferredContext(c->device, 0, &recorder), S_OK);
    if (!recorder)
        exit(1);
    want("its kind", ID3D11DeviceContext_GetType(recorder), D3D11_DEVICE_CONTEXT_DEFERRED);
    lists();
    maps();
    states();
    want("it ends", ID3D11DeviceContext_Release(recorder), 0);
}
