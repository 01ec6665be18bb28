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
    said("more mips than there are", D3D11_MESSAGE_ID_CREATETEXTURE2D_INVALIDARG_RETURN, "8 x 8 x 1, 9 mips");
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

static void state_mistakes(void)
{
    D3D11_SAMPLER_DESC s = {.Filter = D3D11_FILTER_ANISOTROPIC, .AddressU = 1, .AddressV = 1, .AddressW = 1};
    D3D11_DEPTH_STENCIL_DESC z = {.StencilEnable = TRUE, .FrontFace = {1, 1, 1, 1}, .BackFace = {1, 1, 9, 1}};
    D3D11_BLEND_DESC b = {.RenderTarget = {{TRUE, D3D11_BLEND_ONE, 99, D3D11_BLEND_OP_ADD}}};
    D3D11_RASTERIZER_DESC r = {.FillMode = D3D11_FILL_SOLID};
    ID3D11DepthStencilState *depth;
    ID3D11RasterizerState *raster;
    ID3D11SamplerState *sampler;
    ID3D11BlendState *blend;

    ID3D11Device_CreateSamplerState(device, &s, &sampler);
    said("anisotropy 0", D3D11_MESSAGE_ID_CREATESAMPLERSTATE_INVALIDMAXANISOTROPY,
         "CreateSamplerState: MaxAnisotropy has");
    s.AddressV = 0;
    ID3D11Device_CreateSamplerState(device, &s, &sampler);
    said("no address", D3D11_MESSAGE_ID_CREATESAMPLERSTATE_INVALIDADDRESSV, "AddressV");
    ID3D11Device_CreateSamplerState(device, NULL, &sampler);
    said("no sampler", D3D11_MESSAGE_ID_CREATESAMPLERSTATE_NULLDESC,
         "CreateSamplerState: there is no description");
    ID3D11Device_CreateDepthStencilState(device, &z, &depth);
    said("a stencil operation", D3D11_MESSAGE_ID_CREATEDEPTHSTENCILSTATE_INVALIDBACKFACESTENCILPASSOP,
         "CreateDepthStencilState: BackFace.StencilPassOp");
    ID3D11Device_CreateBlendState(device, &b, &blend);
    said("a factor", D3D11_MESSAGE_ID_CREATEBLENDSTATE_INVALIDDESTBLEND, "CreateBlendState: DestBlend");
    ID3D11Device_CreateRasterizerState(device, &r, &raster);
    said("no culling", D3D11_MESSAGE_ID_CREATERASTERIZERSTATE_INVALIDCULLMODE,
         "CreateRasterizerState: CullMode");
}

static void shader_mistakes(const char *folder)
{
    const D3D11_INPUT_ELEMENT_DESC position = {"POSITION", 0, DXGI_FORMAT_R32G32B32A32_FLOAT, 0, 0, 0, 0},
                                   slot = {"POSITION", 0, DXGI_FORMAT_R32G32B32A32_FLOAT, 16, 0, 0, 0},
                                   texel = {"POSITION", 0, DXGI_FORMAT_BC1_UNORM, 0, 0, 0, 0},
                                   other = {"COLOR", 0, DXGI_FORMAT_R32G32B32A32_FLOAT, 0, 0, 0, 0};
    SIZE_T size;
    BYTE *code = file(folder, "colour_vs.dxbc", &size);
    ID3D11VertexShader *vs;
    ID3D11PixelShader *ps;
    ID3D11InputLayout *l;

    ID3D11Device_CreateVertexShader(device, "junk", 4, NULL, &vs);
    said("a shader of four bytes", D3D11_MESSAGE_ID_CREATEVERTEXSHADER_INVALIDSHADERBYTECODE,
         "CreateVertexShader: the container");
    ID3D11Device_CreatePixelShader(device, code, size, NULL, &ps);
    said("a vertex shader for pixels", D3D11_MESSAGE_ID_CREATEPIXELSHADER_INVALIDSHADERTYPE,
         "of another type");
    ID3D11Device_CreateInputLayout(device, &position, 1, "junk", 4, &l);
    said("a layout for no shader", D3D11_MESSAGE_ID_CREATEINPUTLAYOUT_UNPARSEABLEINPUTSIGNATURE,
         "CreateInputLayout");
    ID3D11Device_CreateInputLayout(device, &slot, 1, code, size, &l);
    said("slot 16", D3D11_MESSAGE_ID_CREATEINPUTLAYOUT_INVALIDSLOT, "element 0: there is no such slot");
    ID3D11Device_CreateInputLayout(device, &texel, 1, code, size, &l);
    said("an element of blocks", D3D11_MESSAGE_ID_CREATEINPUTLAYOUT_INVALIDFORMAT, "element 0");
    ID3D11Device_CreateInputLayout(device, &other, 1, code, size, &l);
    said("what the shader reads", D3D11_MESSAGE_ID_CREATEINPUTLAYOUT_MISSINGELEMENT,
         "POSITION0: the shader reads it");
    free(code);
}

static void resource_mistakes(void)
{
    D3D11_TEXTURE2D_DESC t = {.Width = 8,
                              .Height = 8,
                              .MipLevels = 1,
                              .ArraySize = 1,
                              .Format = DXGI_FORMAT_R8G8B8A8_UNORM,
                              .SampleDesc = {1, 0},
                              .BindFlags = D3D11_BIND_SHADER_RESOURCE};
    const D3D11_TEXTURE3D_DESC deep = {
        .Width = 9999, .Height = 1, .Depth = 1, .MipLevels = 1, .Format = t.Format, .BindFlags = 8};
    const D3D11_SHADER_RESOURCE_VIEW_DESC depth = {.Format = DXGI_FORMAT_R32_FLOAT,
                                                   .ViewDimension = D3D11_SRV_DIMENSION_TEXTURE2D};
    const D3D11_BOX box = {4, 4, 0, 9, 9, 1};
    ID3D11Resource *a, *b, *staging;
    ID3D11RenderTargetView *rtv;
    ID3D11ShaderResourceView *srv;
    ID3D11Texture3D *volume;
    D3D11_MAPPED_SUBRESOURCE m;

    NEED(ID3D11Device_CreateTexture2D(device, &t, NULL, (ID3D11Texture2D **)&a));
    t.Width = 16;
    NEED(ID3D11Device_CreateTexture2D(device, &t, NULL, (ID3D11Texture2D **)&b));
    t.BindFlags = 0;
    t.Usage = D3D11_USAGE_STAGING;
    t.CPUAccessFlags = D3D11_CPU_ACCESS_READ;
    NEED(ID3D11Device_CreateTexture2D(device, &t, NULL, (ID3D11Texture2D **)&staging));
    ID3D11Device_CreateTexture3D(device, &deep, NULL, &volume);
    said("a volume of 9999", D3D11_MESSAGE_ID_CREATETEXTURE3D_INVALIDARG_RETURN,
         "CreateTexture3D: 9999 x 1 x 1");
    ID3D11Device_CreateRenderTargetView(device, a, NULL, &rtv);
    said("a target that is none", D3D11_MESSAGE_ID_CREATERENDERTARGETVIEW_INVALIDRESOURCE,
         "CreateRenderTargetView: there");
    ID3D11Device_CreateShaderResourceView(device, a, &depth, &srv);
    said("another format", D3D11_MESSAGE_ID_CREATESHADERRESOURCEVIEW_INVALIDDESC,
         "CreateShaderResourceView: the resource");
    ID3D11DeviceContext_Map(context, a, 0, D3D11_MAP_WRITE_DISCARD, 0, &m);
    said("Map of what is not mapped so", D3D11_MESSAGE_ID_RESOURCE_MAP_INVALIDMAPTYPE, "Map: type 4");
    ID3D11DeviceContext_Map(context, a, 1, D3D11_MAP_WRITE_DISCARD, 0, &m);
    said("Map of subresource 1", D3D11_MESSAGE_ID_RESOURCE_MAP_INVALIDSUBRESOURCE,
         "Map: there is no subresource 1");
    ID3D11DeviceContext_Map(context, staging, 0, D3D11_MAP_READ, 7, &m);
    said("Map with flags", D3D11_MESSAGE_ID_RESOURCE_MAP_INVALIDFLAGS, "0x7");
    NEED(ID3D11DeviceContext_Map(context, staging, 0, D3D11_MAP_READ, 0, &m));
    want("Map of what is mapped", (UINT)ID3D11DeviceContext_Map(context, staging, 0, D3D11_MAP_READ, 0, &m),
         (UINT)E_INVALIDARG);
    said("Map, again", D3D11_MESSAGE_ID_RESOURCE_MAP_ALREADYMAPPED, "is mapped already");
    ID3D11DeviceContext_Unmap(context, staging, 0);
    want("messages of what is right", ID3D11InfoQueue_GetNumStoredMessages(queue), 0);
    ID3D11DeviceContext_Unmap(context, staging, 0);
    said("Unmap, again", D3D11_MESSAGE_ID_RESOURCE_UNMAP_NOTMAPPED, "is not mapped");
    ID3D11DeviceContext_CopyResource(context, a, a);
    said("a copy of itself", D3D11_MESSAGE_ID_COPYRESOURCE_INVALIDSOURCE, "the source is the destination");
    ID3D11DeviceContext_CopyResource(context, a, b);
    said("a copy of another size", D3D11_MESSAGE_ID_COPYRESOURCE_INVALIDSOURCE,
         "not of the same kind and size");
    ID3D11DeviceContext_CopySubresourceRegion(context, a, 0, 0, 0, 0, b, 3, NULL);
    said("a copy of subresource 3", D3D11_MESSAGE_ID_COPYSUBRESOURCEREGION_INVALIDSOURCESUBRESOURCE,
         "subresource 3 to 0");
    ID3D11DeviceContext_CopySubresourceRegion(context, a, 0, 0, 0, 0, a, 0, &box);
    said("a box outside", D3D11_MESSAGE_ID_COPYSUBRESOURCEREGION_INVALIDSOURCEBOX,
         "the box is not in the source");
    ID3D11DeviceContext_UpdateSubresource(context, a, 0, &box, "", 0, 0);
    said("an update outside", D3D11_MESSAGE_ID_UPDATESUBRESOURCE_INVALIDDESTINATIONBOX, "to (9, 9, 1)");
    ID3D11DeviceContext_UpdateSubresource(context, staging, 0, NULL, "", 0, 0);
    said("an update of what is read", D3D11_MESSAGE_ID_UPDATESUBRESOURCE_INVALIDDESTINATIONSTATE,
         "D3D11_USAGE_DEFAULT");
    ID3D11Resource_Release(a);
    ID3D11Resource_Release(b);
    ID3D11Resource_Release(staging);
}

/* Objects of the calls' own device, in calls of this one. */
static void others(const struct calls *c)
{
    const D3D11_BUFFER_DESC desc = {.ByteWidth = 16, .BindFlags = D3D11_BIND_CONSTANT_BUFFER};
    const D3D11_BUFFER_DESC dynamic = {
        16, D3D11_USAGE_DYNAMIC, D3D11_BIND_CONSTANT_BUFFER, D3D11_CPU_ACCESS_WRITE, 0, 0};
    ID3D11Buffer *own, *other, *two[2], *bound[2];
    ID3D11DeviceContext *deferred, *elsewhere;
    D3D11_MAPPED_SUBRESOURCE m = {(void *)1};
    ID3D11RenderTargetView *target = (void *)1, *bound_target;
    ID3D11CommandList *list;

    NEED(ID3D11Device_CreateBuffer(device, &desc, NULL, &own));
    NEED(ID3D11Device_CreateBuffer(c->device, &desc, NULL, &other));
    ID3D11DeviceContext_CopyResource(context, (ID3D11Resource *)own, (ID3D11Resource *)other);
    said("a copy of another's", D3D11_MESSAGE_ID_CORRUPTED_PARAMETER2,
         "ID3D11DeviceContext::CopyResource: parameter 2 is an object of another device");
    ID3D11DeviceContext_CopyResource(context, (ID3D11Resource *)other, (ID3D11Resource *)own);
    said("a copy to another's", D3D11_MESSAGE_ID_CORRUPTED_PARAMETER1, "CopyResource: parameter 1");
    ID3D11DeviceContext_CopySubresourceRegion(context, (ID3D11Resource *)own, 0, 0, 0, 0,
                                              (ID3D11Resource *)other, 0, NULL);
    said("a region of another's", D3D11_MESSAGE_ID_CORRUPTED_PARAMETER6, "CopySubresourceRegion");
    ID3D11DeviceContext_UpdateSubresource(context, (ID3D11Resource *)other, 0, NULL, "sixteen bytes it is", 0,
                                          0);
    said("an update of another's", D3D11_MESSAGE_ID_CORRUPTED_PARAMETER1, "UpdateSubresource");
    ID3D11DeviceContext_ResolveSubresource(context, (ID3D11Resource *)own, 0, (ID3D11Resource *)c->target, 0,
                                           DXGI_FORMAT_R8G8B8A8_UNORM);
    said("resolving another's", D3D11_MESSAGE_ID_CORRUPTED_PARAMETER3, "ResolveSubresource");
    two[0] = own;
    two[1] = other;
    ID3D11DeviceContext_VSSetConstantBuffers(context, 3, 2, two);
    said("one of two is another's", D3D11_MESSAGE_ID_CORRUPTED_PARAMETER3, "VSSetConstantBuffers");
    ID3D11DeviceContext_VSGetConstantBuffers(context, 3, 2, bound);
    want("and neither is bound", !bound[0] && !bound[1], 1);
    ID3D11DeviceContext_OMSetRenderTargets(context, 0, NULL, NULL);
    ID3D11DeviceContext_OMSetRenderTargets(context, 1, (ID3D11RenderTargetView *const *)&c->view, NULL);
    said("another's target", D3D11_MESSAGE_ID_CORRUPTED_PARAMETER2, "OMSetRenderTargets");
    ID3D11DeviceContext_OMGetRenderTargets(context, 1, &bound_target, NULL);
    want("is bound", bound_target == c->view, 1);
    ID3D11RenderTargetView_Release(bound_target);
    ID3D11DeviceContext_Draw(context, 3, 0);
    ID3D11InfoQueue_ClearStoredMessages(queue);
    ID3D11DeviceContext_OMSetRenderTargets(context, 0, NULL, NULL);
    want("a view of another's",
         (UINT)ID3D11Device_CreateRenderTargetView(device, (ID3D11Resource *)c->target, NULL, &target),
         (UINT)E_INVALIDARG);
    want("there is none", target == NULL, 1);
    said("a view of another's", D3D11_MESSAGE_ID_CORRUPTED_PARAMETER1,
         "ID3D11Device::CreateRenderTargetView");
    ID3D11Buffer_Release(other);
    NEED(ID3D11Device_CreateBuffer(c->device, &dynamic, NULL, &other));
    NEED(ID3D11Device_CreateDeferredContext(device, 0, &deferred));
    for (int i = 0; i < 2; i++) {
        m.pData = &m;
        want("Map of another's",
             (UINT)ID3D11DeviceContext_Map(i ? deferred : context, (ID3D11Resource *)other, 0,
                                           D3D11_MAP_WRITE_DISCARD, 0, &m),
             (UINT)E_INVALIDARG);
        want("has no memory", m.pData == NULL, 1);
        said("Map of another's", D3D11_MESSAGE_ID_CORRUPTED_PARAMETER1, "ID3D11DeviceContext::Map");
    }
    ID3D11DeviceContext_CSSetConstantBuffers(deferred, 0, 1, &other);
    said("recording another's", D3D11_MESSAGE_ID_CORRUPTED_PARAMETER3, "CSSetConstantBuffers");
    NEED(ID3D11Device_CreateDeferredContext(c->device, 0, &elsewhere));
    NEED(ID3D11DeviceContext_FinishCommandList(elsewhere, FALSE, &list));
    ID3D11DeviceContext_ExecuteCommandList(context, list, FALSE);
    said("another's list", D3D11_MESSAGE_ID_CORRUPTED_PARAMETER1, "ExecuteCommandList");
    ID3D11DeviceContext_ExecuteCommandList(deferred, list, FALSE);
    said("another's list in a list", D3D11_MESSAGE_ID_CORRUPTED_PARAMETER1, "ExecuteCommandList");
    ID3D11DeviceContext_Flush(context);
    want("the device stays", (UINT)ID3D11Device_GetDeviceRemovedReason(device), (UINT)S_OK);
    ID3D11CommandList_Release(list);
    ID3D11DeviceContext_Release(elsewhere);
    ID3D11DeviceContext_Release(deferred);
    ID3D11Buffer_Release(other);
    ID3D11Buffer_Release(own);
}

/* A target that a context of another device has bound outlives what the program has of it, and its device does, too. */
static void bound_elsewhere(void)
{
    const D3D11_TEXTURE2D_DESC desc = {.Width = 8,
                                       .Height = 8,
                                       .MipLevels = 1,
                                       .ArraySize = 1,
                                       .Format = DXGI_FORMAT_R8G8B8A8_UNORM,
                                       .SampleDesc = {1, 0},
                                       .BindFlags = D3D11_BIND_RENDER_TARGET};
    ID3D11Device *other, *again;
    ID3D11Texture2D *texture;
    ID3D11RenderTargetView *view, *bound;

    NEED(D3D11CreateDevice(NULL, D3D_DRIVER_TYPE_HARDWARE, NULL, 0, NULL, 0, D3D11_SDK_VERSION, &other, NULL,
                           NULL));
    NEED(ID3D11Device_CreateTexture2D(other, &desc, NULL, &texture));
    NEED(ID3D11Device_CreateRenderTargetView(other, (ID3D11Resource *)texture, NULL, &view));
    ID3D11DeviceContext_OMSetRenderTargets(context, 1, &view, NULL);
    said("a target of a third", D3D11_MESSAGE_ID_CORRUPTED_PARAMETER2, "OMSetRenderTargets");
    ID3D11Texture2D_Release(texture);
    ID3D11RenderTargetView_Release(view);
    want("the device of what is bound elsewhere", ID3D11Device_Release(other), 1);
    ID3D11DeviceContext_OMGetRenderTargets(context, 1, &bound, NULL);
    want("is bound still", bound == view, 1);
    ID3D11RenderTargetView_GetDevice(bound, &again);
    want("is the device's still", again == other, 1);
    ID3D11RenderTargetView_Release(bound);
    ID3D11DeviceContext_OMSetRenderTargets(context, 0, NULL, NULL);
    want("the device of what is bound no more", ID3D11Device_Release(again), 0);
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
    NEED(ID3D11InfoQueue_SetMessageCountLimit(queue, 2));
    add(D3D11_MESSAGE_SEVERITY_WARNING);
    add(D3D11_MESSAGE_SEVERITY_WARNING);
    NEED(ID3D11InfoQueue_AddApplicationMessage(queue, D3D11_MESSAGE_SEVERITY_WARNING, "the newest"));
    want("a queue with room for two", ID3D11InfoQueue_GetNumStoredMessages(queue), 2);
    want("what it dropped", ID3D11InfoQueue_GetNumMessagesDiscardedByMessageCountLimit(queue), 1);
    NEED(ID3D11InfoQueue_SetMessageCountLimit(queue, 1)); /* what is too much goes */
    said("what stays", D3D11_MESSAGE_ID_STRING_FROM_APPLICATION, "the newest");
    NEED(ID3D11InfoQueue_SetMessageCountLimit(queue, 0));
    add(D3D11_MESSAGE_SEVERITY_WARNING);
    want("a queue without room", ID3D11InfoQueue_GetNumStoredMessages(queue), 0);
    NEED(ID3D11InfoQueue_SetMessageCountLimit(queue, (UINT64)-1));
}

/* What was pushed is told back, in one piece of memory. */
static void filters_told(void)
{
    D3D11_MESSAGE_CATEGORY categories[] = {D3D11_MESSAGE_CATEGORY_EXECUTION, D3D11_MESSAGE_CATEGORY_SHADER};
    D3D11_MESSAGE_ID ids[] = {D3D11_MESSAGE_ID_UNKNOWN, D3D11_MESSAGE_ID_CREATEBUFFER_INVALIDARG_RETURN,
                              12345};
    D3D11_INFO_QUEUE_FILTER f = {.AllowList = {.NumCategories = 2, .pCategoryList = categories},
                                 .DenyList = {.NumIDs = 3, .pIDList = ids}},
                            *g;
    SIZE_T size = 0;

    NEED(ID3D11InfoQueue_GetStorageFilter(queue, NULL, &size));
    want("a filter of nothing", size, sizeof(f));
    NEED(ID3D11InfoQueue_PushRetrievalFilter(queue, &f));
    NEED(ID3D11InfoQueue_GetRetrievalFilter(queue, NULL, &size));
    want("a filter's size", size, sizeof(f) + sizeof(categories) + sizeof(ids));
    g = malloc(size);
    memset(g, 0xEE, size);
    NEED(ID3D11InfoQueue_GetRetrievalFilter(queue, g, &size));
    want("what it allows",
         g->AllowList.NumCategories == 2 &&
             !memcmp(g->AllowList.pCategoryList, categories, sizeof(categories)),
         1);
    want("what it denies", g->DenyList.NumIDs == 3 && !memcmp(g->DenyList.pIDList, ids, sizeof(ids)), 1);
    want("and nothing else", g->AllowList.NumIDs + g->DenyList.NumCategories + g->DenyList.NumSeverities, 0);
    size--;
    want("a filter that does not fit", (UINT)ID3D11InfoQueue_GetRetrievalFilter(queue, g, &size),
         (UINT)E_INVALIDARG);
    free(g);
    ID3D11InfoQueue_PopRetrievalFilter(queue);
}

/* Where a debugger would stop: here is none. */
static void breaks(void)
{
    NEED(ID3D11InfoQueue_SetBreakOnID(queue, 12345, TRUE));
    NEED(ID3D11InfoQueue_SetBreakOnID(queue, 12345, TRUE));
    want("that id", ID3D11InfoQueue_GetBreakOnID(queue, 12345), TRUE);
    want("another id", ID3D11InfoQueue_GetBreakOnID(queue, 12346), FALSE);
    NEED(ID3D11InfoQueue_AddMessage(queue, D3D11_MESSAGE_CATEGORY_MISCELLANEOUS, D3D11_MESSAGE_SEVERITY_INFO,
                                    12345, "go on"));
    said("it", 12345, "go on");
    NEED(ID3D11InfoQueue_SetBreakOnID(queue, 12345, FALSE));
    want("no more", ID3D11InfoQueue_GetBreakOnID(queue, 12345), FALSE);
    NEED(ID3D11InfoQueue_SetBreakOnCategory(queue, D3D11_MESSAGE_CATEGORY_SHADER, TRUE));
    want("that category", ID3D11InfoQueue_GetBreakOnCategory(queue, D3D11_MESSAGE_CATEGORY_SHADER), TRUE);
    want("another category", ID3D11InfoQueue_GetBreakOnCategory(queue, D3D11_MESSAGE_CATEGORY_CLEANUP),
         FALSE);
    want("a category that there is not", (UINT)ID3D11InfoQueue_SetBreakOnCategory(queue, 11, TRUE),
         (UINT)E_INVALIDARG);
    NEED(ID3D11InfoQueue_SetBreakOnSeverity(queue, D3D11_MESSAGE_SEVERITY_CORRUPTION, TRUE));
    want("that severity", ID3D11InfoQueue_GetBreakOnSeverity(queue, D3D11_MESSAGE_SEVERITY_CORRUPTION), TRUE);
    want("another severity", ID3D11InfoQueue_GetBreakOnSeverity(queue, D3D11_MESSAGE_SEVERITY_ERROR), FALSE);
    want("a severity that there is not", (UINT)ID3D11InfoQueue_AddApplicationMessage(queue, 77, ""),
         (UINT)E_INVALIDARG);
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

void debug(const struct calls *c, const char *folder)
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
    state_mistakes();
    shader_mistakes(folder);
    resource_mistakes();
    others(c);
    bound_elsewhere();
    filters();
    filters_told();
    breaks();
    lock();
    ID3D11InfoQueue_Release(queue);
    ID3D11DeviceContext_Release(context);
    want("references of the device", ID3D11Device_Release(device), 0);
}
