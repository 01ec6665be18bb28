/* SPDX-License-Identifier: MIT */
/* play_chain.c: DXGI swap chains without a window: their buffers are ordinary textures.
 *
 * Invariant: a buffer lives from the first time that the program asked for it until its chain is resized or destroyed,
 * whatever references the program holds meanwhile; asked again, it is the same one.
 */
#include <errno.h>

#include "d3d12/play/play_internal.h"
#include "d3d12_args.h"

#define MAX_BUFFERS 16 /* DXGI_MAX_SWAP_CHAIN_BUFFERS */

struct play_chain {
    struct play_chain *next;
    uint64_t number;
    ID3D12Resource *buffers[MAX_BUFFERS];
};

static struct play_chain *find(struct player *p, uint64_t number)
{
    struct play_chain *c = p->chains;

    while (c && c->number != number)
        c = c->next;
    return c;
}

/* Objects that the program has released already go with the chain's reference. */
static void drop_buffers(struct player *p, struct play_chain *c)
{
    for (int i = 0; i < MAX_BUFFERS; i++) {
        void *buffer = c->buffers[i];

        if (buffer && !c->buffers[i]->lpVtbl->Release(buffer))
            for (uint32_t k = 0; k < p->num_objects; k++)
                if (p->objects[k].ptr == buffer) {
                    p->objects[k].ptr = NULL;
                    p->objects[k].gone = true;
                }
        c->buffers[i] = NULL;
    }
}

void play_chains_finish(struct player *p)
{
    struct play_chain *next;

    for (struct play_chain *c = p->chains; c; c = next) {
        next = c->next;
        free(c);
    }
    p->chains = NULL;
}

int play_special_Native_SwapChainCreate(struct player *p, const struct play_call *c,
                                        struct args_Native_SwapChainCreate *a)
{
    struct play_chain *n;

    if (find(p, a->SwapChain))
        return play_fail(p, c, -EBADMSG, "swap chain %llu is there already",
                         (unsigned long long)a->SwapChain);
    n = calloc(1, sizeof(*n));
    if (!n)
        return play_fail(p, c, -ENOMEM, "out of memory");
    n->number = a->SwapChain;
    n->next = p->chains;
    p->chains = n;
    return 0;
}

int play_special_Native_SwapChainBuffer(struct player *p, const struct play_call *c,
                                        struct args_Native_SwapChainBuffer *a)
{
    D3D12_HEAP_PROPERTIES heap = {.Type = D3D12_HEAP_TYPE_DEFAULT};
    const IID *iid = (const IID *)&d12_ifaces[D12_IFACE_ID3D12Resource].iid;
    struct play_chain *n = find(p, a->SwapChain);
    ID3D12Device *device;
    D3D12_RESOURCE_DESC desc;
    ID3D12Resource **r;
    HRESULT hr = S_OK;

    if (FAILED(a->ret) || c->call->incomplete)
        return 0;
    if (!n || a->Index >= MAX_BUFFERS || !a->pQueue || !a->pDesc)
        return play_fail(p, c, -EBADMSG, "it asks for buffer %u of swap chain %llu", a->Index,
                         (unsigned long long)a->SwapChain);
    r = &n->buffers[a->Index];
    if (!*r) {
        desc = *a->pDesc;
        desc.Flags |= D3D12_RESOURCE_FLAG_ALLOW_RENDER_TARGET;
        hr = a->pQueue->lpVtbl->GetDevice(a->pQueue, (const IID *)&d12_ifaces[D12_IFACE_ID3D12Device].iid,
                                          (void **)&device);
        if (SUCCEEDED(hr)) {
            hr = device->lpVtbl->CreateCommittedResource(device, &heap, D3D12_HEAP_FLAG_NONE, &desc,
                                                         D3D12_RESOURCE_STATE_PRESENT, NULL, iid, (void **)r);
            device->lpVtbl->Release(device);
        }
    }
    if (SUCCEEDED(hr)) {
        (*r)->lpVtbl->AddRef(*r);
        play_new_object(p, c, a->ppResource, *r, NULL, D12_IFACE_ID3D12Resource);
    }
    return play_compare(p, c, a->ret, hr);
}

int play_special_Native_SwapChainResize(struct player *p, const struct play_call *c,
                                        struct args_Native_SwapChainResize *a)
{
    struct play_chain *n = find(p, a->SwapChain);

    if (!n)
        return play_fail(p, c, -EBADMSG, "swap chain %llu does not exist", (unsigned long long)a->SwapChain);
    drop_buffers(p, n);
    return 0;
}

int play_special_Native_SwapChainDestroy(struct player *p, const struct play_call *c,
                                         struct args_Native_SwapChainDestroy *a)
{
    for (struct play_chain **at = &p->chains; *at; at = &(*at)->next)
        if ((*at)->number == a->SwapChain) {
            struct play_chain *n = *at;

            *at = n->next;
            drop_buffers(p, n);
            free(n);
            return 0;
        }
    return play_fail(p, c, -EBADMSG, "swap chain %llu does not exist", (unsigned long long)a->SwapChain);
}

/* What the program learned by waiting stands in the FenceSeen behind it. */
int play_special_Native_WaitFor(struct player *p, const struct play_call *c, struct args_Native_WaitFor *a)
{
    const uintptr_t n = (uintptr_t)a->hEvent;

    if (c->call->incomplete && a->Milliseconds == UINT32_MAX && n < p->num_events)
        play_waits_for_ever(p, c, p->events[n].fence, p->events[n].value);
    return 0;
}

int play_special_Native_FenceSeen(struct player *p, const struct play_call *c,
                                  struct args_Native_FenceSeen *a)
{
    if (!a->pFence)
        return play_fail(p, c, -EBADMSG, "it has no fence");
    if (play_wait_fence(p, a->pFence, a->Value))
        return 0;
    return play_fail(p, c, -ETIMEDOUT, "the fence does not reach %llu in time", (unsigned long long)a->Value);
}
