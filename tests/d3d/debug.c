/* SPDX-License-Identifier: MIT */
/* debug.c: what the info queue of a device made to be debugged says of mistakes, what its filters let through, and the program's lock.
 * Prints a line of each that went otherwise. */
#define COBJMACROS
#define WIN32_LEAN_AND_MEAN
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <d3d10.h>
#include <d3d10sdklayers.h>
#include <d3d11.h>
#include <d3d11sdklayers.h>

#include "calls.h"
#include "program.h"

static ID3D11Device *device;
static ID3D11DeviceContext *context;
static ID3D11InfoQueue *queue;

static void want(const char *what, UINT64 got, UINT64 expected)
{
    if (got != expected)
        printf("%s: %llu, not %llu\n", what, (unsigned long long)got, (unsigned long long)expected);
}

/* Whether the queue has exactly one message, with this id and these words; empties it. */
static void said(const char *what, D3D11_MESSAGE_ID id, const char *words)
{
    SIZE_T size = 0;
    D3D11_MESSAGE *m;

    want(what, ID3D11InfoQueue_GetNumStoredMessages(queue), 1);
    if (ID3D11InfoQueue_GetMessage(queue, 0, NULL, &size) != S_OK) {
        printf("%s: no message\n", what);
        return;
    }
    m = malloc(size);
    NEED(ID3D11InfoQueue_GetMessage(queue, 0, m, &size));
    want(what, m->ID, id);
    if (!strstr(m->pDescription, words) || m->DescriptionByteLength != strlen(m->pDescription) + 1)
        printf("%s: %s\n", what, m->pDescription);
    size--;
    want("a message that does not fit", (UINT)ID3D11InfoQueue_GetMessage(queue, 0, m, &size),
         (UINT)E_INVALIDARG);
    free(m);
    ID3D11InfoQueue_ClearStoredMessages(queue);
    want("a message that was cleared", ID3D11InfoQueue_GetNumStoredMessages(queue), 0);
}

static void mistakes(void)
{
    D3D11_BUFFER_DESC none = {.ByteWidth = 0, .BindFlags = D3D11_BIND_VERTEX_BUFFER};
    D3D11_TEXTURE2D_DESC t = {.Width = 8,
                              .Height = 8,
                              .MipLevels = 1,
                              .ArraySize = 1,
                              .Format = DXGI_FORMAT_R8G8B8A8_UNORM,
                              .SampleDesc = {1, 0},
                              .BindFlags = D3D11_BIND_RENDER_TARGET | D3D11_BIND_SHADER_RESOURCE};
    ID3D11ShaderResourceView *read;
    ID3D11RenderTargetView *written;
    ID3D11Texture2D *texture;
    ID3D11Buffer *buffer;

    ID3D11Device_CreateBuffer(device, &none, NULL, &buffer);
    said("a buffer of nothing", D3D11_MESSAGE_ID_CREATEBUFFER_INVALIDARG_RETURN, "CreateBuffer: 0 bytes");
    t.MipLevels = 9;
    ID3D11Device_CreateTexture2D(device, &t, NULL, &texture);
    said("more mips than there are", D3D11_MESSAGE_ID_CREATETEXTURE2D_INVALIDARG_RETURN, "8 x 8, 9 mips");
    t.MipLevels = 1;
    NEED(ID3D11Device_CreateTexture2D(device, &t, NULL, &texture));
    NEED(ID3D11Device_CreateRenderTargetView(device, (ID3D11Resource *)texture, NULL, &written));
    NEED(ID3D11Device_CreateShaderResourceView(device, (ID3D11Resource *)texture, NULL, &read));
    ID3D11DeviceContext_OMSetRenderTargets(context, 1, &written, NULL);
    ID3D11DeviceContext_PSSetShaderResources(context, 3, 1, &read);
    said("read while it is written", D3D11_MESSAGE_ID_DEVICE_PSSETSHADERRESOURCES_HAZARD,
         "PS shader resource slot 3 is still bound on output");
    ID3D11DeviceContext_OMSetRenderTargets(context, 0, NULL, NULL);
    ID3D11DeviceContext_VSSetShaderResources(context, 2, 1, &read);
    ID3D11DeviceContext_OMSetRenderTargets(context, 1, &written, NULL);
    said("written while it is read", D3D11_MESSAGE_ID_DEVICE_OMSETRENDERTARGETS_HAZARD,
         "is still bound on input");
    ID3D11DeviceContext_IASetPrimitiveTopology(context, D3D11_PRIMITIVE_TOPOLOGY_TRIANGLELIST);
    ID3D11DeviceContext_Draw(context, 3, 0);
    said("a draw without a shader", D3D11_MESSAGE_ID_DEVICE_DRAW_VERTEX_SHADER_NOT_SET,
         "ID3D11DeviceContext::Draw: A Vertex Shader");
    ID3D11ShaderResourceView_Release(read);
    ID3D11RenderTargetView_Release(written);
    ID3D11Texture2D_Release(texture);
}

static void add(D3D11_MESSAGE_SEVERITY severity)
{
    NEED(ID3D11InfoQueue_AddApplicationMessage(queue, severity, "the program's own"));
}

static void filters(void)
{
    D3D11_MESSAGE_SEVERITY infos[] = {D3D11_MESSAGE_SEVERITY_INFO, D3D11_MESSAGE_SEVERITY_MESSAGE};
    D3D11_INFO_QUEUE_FILTER deny = {.DenyList = {.NumSeverities = 2, .pSeverityList = infos}},
                            allow = {.AllowList = {.NumSeverities = 1, .pSeverityList = infos}};

    NEED(ID3D11InfoQueue_PushEmptyStorageFilter(queue));
    NEED(ID3D11InfoQueue_AddStorageFilterEntries(queue, &deny));
    add(D3D11_MESSAGE_SEVERITY_INFO);
    want("what is denied", ID3D11InfoQueue_GetNumMessagesDeniedByStorageFilter(queue), 1);
    add(D3D11_MESSAGE_SEVERITY_WARNING);
    said("what is not", D3D11_MESSAGE_ID_STRING_FROM_APPLICATION, "own");
    NEED(ID3D11InfoQueue_PushCopyOfStorageFilter(queue));
    add(D3D11_MESSAGE_SEVERITY_MESSAGE);
    want("by a copy", ID3D11InfoQueue_GetNumMessagesDeniedByStorageFilter(queue), 2);
    want("filters", ID3D11InfoQueue_GetStorageFilterStackSize(queue), 2);
    ID3D11InfoQueue_PopStorageFilter(queue);
    ID3D11InfoQueue_PopStorageFilter(queue);
    add(D3D11_MESSAGE_SEVERITY_WARNING);
    add(D3D11_MESSAGE_SEVERITY_INFO);
    want("without a filter", ID3D11InfoQueue_GetNumStoredMessages(queue), 2);
    NEED(ID3D11InfoQueue_PushRetrievalFilter(queue, &allow));
    want("what may be retrieved", ID3D11InfoQueue_GetNumStoredMessagesAllowedByRetrievalFilter(queue), 1);
    ID3D11InfoQueue_ClearRetrievalFilter(queue);
    ID3D11InfoQueue_ClearStoredMessages(queue);
    NEED(ID3D11InfoQueue_SetMessageCountLimit(queue, 1));
    add(D3D11_MESSAGE_SEVERITY_WARNING);
    add(D3D11_MESSAGE_SEVERITY_WARNING);
    said("a queue with room for one", D3D11_MESSAGE_ID_STRING_FROM_APPLICATION, "own");
    want("what it dropped", ID3D11InfoQueue_GetNumMessagesDiscardedByMessageCountLimit(queue), 1);
}

static void lock(void)
{
    ID3D10Multithread *m;

    NEED(ID3D11Device_QueryInterface(device, &IID_ID3D10Multithread, (void **)&m));
    want("guarded", ID3D10Multithread_SetMultithreadProtected(m, TRUE), FALSE);
    want("and told", ID3D10Multithread_GetMultithreadProtected(m), TRUE);
    ID3D10Multithread_Enter(m);
    ID3D10Multithread_Enter(m); /* by who has it */
    ID3D10Multithread_Leave(m);
    ID3D10Multithread_Leave(m);
    ID3D10Multithread_Release(m);
}

void debug(const struct calls *c)
{
    ID3D10InfoQueue *ten;
    void *none;

    want("a queue of a device that is not to be debugged",
         (UINT)ID3D11Device_QueryInterface(c->device, &IID_ID3D11InfoQueue, &none), (UINT)E_NOINTERFACE);
    NEED(D3D11CreateDevice(NULL, D3D_DRIVER_TYPE_HARDWARE, NULL, D3D11_CREATE_DEVICE_DEBUG, NULL, 0,
                           D3D11_SDK_VERSION, &device, NULL, &context));
    NEED(ID3D11Device_QueryInterface(device, &IID_ID3D11InfoQueue, (void **)&queue));
    NEED(ID3D11Device_QueryInterface(device, &IID_ID3D10InfoQueue, (void **)&ten));
    want("one object for both", ten == (void *)queue, 1);
    ID3D10InfoQueue_Release(ten);
    ID3D11InfoQueue_SetMuteDebugOutput(queue, TRUE);
    mistakes();
    filters();
    lock();
    ID3D11InfoQueue_Release(queue);
    ID3D11DeviceContext_Release(context);
    want("references of the device", ID3D11Device_Release(device), 0);
}
