/* SPDX-License-Identifier: MIT */
/* rec_hooks.h: what the recorder does beside writing a call down: memory, ranges, events. */
#pragma once

#include "d3d12/record/rec_contents.h"
#include "d3d12/record/rec_values.h"

uint64_t rec_event_number(HANDLE h);
void rec_event_forget(HANDLE h);
/* An event of the library's own, whose waits are calls that are recorded: none has to be found out (rec_fences.c). */
void rec_event_own(HANDLE h);
bool rec_event_is_own(HANDLE h);
void rec_stream_trouble(uint32_t type, size_t offset);
size_t rec_subresource_bytes(void *resource, const D3D12_BOX *box, UINT row_pitch, UINT depth_pitch,
                             UINT sub);

/* rec_fences.c (Windows; on Linux waits are recorded as such) */
void rec_fence_event(struct rec_object *o, ID3D12Fence *fence, uint64_t value, HANDLE event);
void rec_fence_gone(const void *fence);
bool rec_fence_sets(HANDLE event);
void rec_fence_look(struct rec_thread *t);

/* Where the program may know what it waited for. */
static inline void rec_look(struct rec_thread *t)
{
    rec_fence_look(t);
    rec_contents_look(t);
}

/* Hooks of generated thunks; "pre" runs before the call is recorded, "post" after its answer was. */
void rec_pre_IUnknown_Release(struct rec_thread *t, struct rec_object *o, IUnknown *This);
void rec_post_IUnknown_Release(struct rec_thread *t, struct rec_object *o, ULONG ret, IUnknown *This);
void rec_post_ID3D12Resource_Map(struct rec_thread *t, struct rec_object *o, HRESULT ret,
                                 ID3D12Resource *This, UINT sub, const D3D12_RANGE *range, void **data);
void rec_pre_ID3D12Resource_Unmap(struct rec_thread *t, struct rec_object *o, ID3D12Resource *This, UINT sub,
                                  const D3D12_RANGE *range);
void rec_post_ID3D12Resource_GetGPUVirtualAddress(struct rec_thread *t, struct rec_object *o,
                                                  D3D12_GPU_VIRTUAL_ADDRESS ret, ID3D12Resource *This);
void rec_post_ID3D12DescriptorHeap_GetCPUDescriptorHandleForHeapStart(struct rec_thread *t,
                                                                      struct rec_object *o,
                                                                      D3D12_CPU_DESCRIPTOR_HANDLE *ret,
                                                                      ID3D12DescriptorHeap *This,
                                                                      D3D12_CPU_DESCRIPTOR_HANDLE *out);
void rec_post_ID3D12DescriptorHeap_GetGPUDescriptorHandleForHeapStart(struct rec_thread *t,
                                                                      struct rec_object *o,
                                                                      D3D12_GPU_DESCRIPTOR_HANDLE *ret,
                                                                      ID3D12DescriptorHeap *This,
                                                                      D3D12_GPU_DESCRIPTOR_HANDLE *out);
void rec_pre_ID3D12CommandQueue_ExecuteCommandLists(struct rec_thread *t, struct rec_object *o,
                                                    ID3D12CommandQueue *This, UINT n,
                                                    ID3D12CommandList *const *lists);
void rec_post_ID3D12Device_CreateCommittedResource(struct rec_thread *t, struct rec_object *o, HRESULT ret,
                                                   ID3D12Device *This, const D3D12_HEAP_PROPERTIES *heap,
                                                   D3D12_HEAP_FLAGS flags, const D3D12_RESOURCE_DESC *desc,
                                                   D3D12_RESOURCE_STATES state,
                                                   const D3D12_CLEAR_VALUE *clear, REFIID riid, void **out);
void rec_post_ID3D12Device_CreatePlacedResource(struct rec_thread *t, struct rec_object *o, HRESULT ret,
                                                ID3D12Device *This, ID3D12Heap *heap, UINT64 offset,
                                                const D3D12_RESOURCE_DESC *desc, D3D12_RESOURCE_STATES state,
                                                const D3D12_CLEAR_VALUE *clear, REFIID riid, void **out);
void rec_post_ID3D12Device8_CreatePlacedResource1(struct rec_thread *t, struct rec_object *o, HRESULT ret,
                                                  ID3D12Device8 *This, ID3D12Heap *heap, UINT64 offset,
                                                  const D3D12_RESOURCE_DESC1 *desc,
                                                  D3D12_RESOURCE_STATES state, const D3D12_CLEAR_VALUE *clear,
                                                  REFIID riid, void **out);
void rec_post_ID3D12Device10_CreatePlacedResource2(struct rec_thread *t, struct rec_object *o, HRESULT ret,
                                                   ID3D12Device10 *This, ID3D12Heap *heap, UINT64 offset,
                                                   const D3D12_RESOURCE_DESC1 *desc,
                                                   D3D12_BARRIER_LAYOUT layout,
                                                   const D3D12_CLEAR_VALUE *clear, UINT32 num_formats,
                                                   DXGI_FORMAT *formats, REFIID riid, void **out);
void rec_post_ID3D12Device_CreateHeap(struct rec_thread *t, struct rec_object *o, HRESULT ret,
                                      ID3D12Device *This, const D3D12_HEAP_DESC *desc, REFIID riid,
                                      void **out);
void rec_post_ID3D12Device4_CreateHeap1(struct rec_thread *t, struct rec_object *o, HRESULT ret,
                                        ID3D12Device4 *This, const D3D12_HEAP_DESC *desc,
                                        ID3D12ProtectedResourceSession *session, REFIID riid, void **out);
void rec_post_ID3D12Device_CreateCommandSignature(struct rec_thread *t, struct rec_object *o, HRESULT ret,
                                                  ID3D12Device *This,
                                                  const D3D12_COMMAND_SIGNATURE_DESC *desc,
                                                  ID3D12RootSignature *root, REFIID riid, void **out);
void rec_pre_ID3D12Fence_Signal(struct rec_thread *t, struct rec_object *o, ID3D12Fence *This, UINT64 value);
void rec_pre_ID3D12Fence_SetEventOnCompletion(struct rec_thread *t, struct rec_object *o, ID3D12Fence *This,
                                              UINT64 value, HANDLE event);
void rec_pre_ID3D12CommandQueue_Signal(struct rec_thread *t, struct rec_object *o, ID3D12CommandQueue *This,
                                       ID3D12Fence *fence, UINT64 value);
void rec_pre_ID3D12GraphicsCommandList_Reset(struct rec_thread *t, struct rec_object *o,
                                             ID3D12GraphicsCommandList *This,
                                             ID3D12CommandAllocator *allocator, ID3D12PipelineState *state);
void rec_pre_ID3D12GraphicsCommandList_ResourceBarrier(struct rec_thread *t, struct rec_object *o,
                                                       ID3D12GraphicsCommandList *This, UINT n,
                                                       const D3D12_RESOURCE_BARRIER *b);
void rec_post_ID3D12Fence_GetCompletedValue(struct rec_thread *t, struct rec_object *o, UINT64 ret,
                                            ID3D12Fence *This);
void rec_pre_ID3D12CommandAllocator_Reset(struct rec_thread *t, struct rec_object *o,
                                          ID3D12CommandAllocator *This);
void rec_pre_ID3D12Device5_CreateStateObject(struct rec_thread *t, struct rec_object *o, ID3D12Device5 *This,
                                             const D3D12_STATE_OBJECT_DESC *desc, REFIID riid, void **out);
void rec_pre_ID3D12Device7_AddToStateObject(struct rec_thread *t, struct rec_object *o, ID3D12Device7 *This,
                                            const D3D12_STATE_OBJECT_DESC *desc, ID3D12StateObject *from,
                                            REFIID riid, void **out);
/* Which of the state object's subobjects that is; UINT32_MAX: none. */
uint32_t rec_state_subobject(const D3D12_STATE_SUBOBJECT *s);
