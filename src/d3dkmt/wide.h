/* SPDX-License-Identifier: MIT */
/* wide.h: D3DKMT's structures as x86-64 has them, whatever the process is: those are what goes over the wire.
 *
 * Where a process is of 32 bits, its structures differ in the pointers alone, and in what pointers' sizes and alignments move. So a
 * table of pointers says how one becomes the other; a member that is moved by alignment, or that others ask for by its place, has
 * its row too. On x86-64 both are the same, and the compiler checks the table.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "d3dkmt/d3dkmt.h"

/* T(type, size, rows): P a pointer or handle, A another member, each with its offset on x86-64; in the order of offsets. */
#define D3DKMT_WIDE_TYPES(T)                                                                                 \
    T(D3DKMT_OPENADAPTERFROMHDC, 24, P(D3DKMT_OPENADAPTERFROMHDC, hDc, 0))                                   \
    T(D3DKMT_QUERYADAPTERINFO, 24,                                                                           \
      P(D3DKMT_QUERYADAPTERINFO, pPrivateDriverData, 8)                                                      \
          A(D3DKMT_QUERYADAPTERINFO, PrivateDriverDataSize, 16))                                             \
    T(D3DKMT_CREATEDEVICE, 64,                                                                               \
      P(D3DKMT_CREATEDEVICE, pAdapter, 0) P(D3DKMT_CREATEDEVICE, pCommandBuffer, 16)                         \
          P(D3DKMT_CREATEDEVICE, pAllocationList, 32) P(D3DKMT_CREATEDEVICE, pPatchLocationList, 48))        \
    T(D3DKMT_CREATECONTEXT, 96,                                                                              \
      P(D3DKMT_CREATECONTEXT, pPrivateDriverData, 16) A(D3DKMT_CREATECONTEXT, PrivateDriverDataSize, 24)     \
          P(D3DKMT_CREATECONTEXT, pCommandBuffer, 40) P(D3DKMT_CREATECONTEXT, pAllocationList, 56)           \
              P(D3DKMT_CREATECONTEXT, pPatchLocationList, 72) A(D3DKMT_CREATECONTEXT, CommandBuffer, 88))    \
    T(D3DKMT_QUERYALLOCATIONRESIDENCY, 32,                                                                   \
      P(D3DKMT_QUERYALLOCATIONRESIDENCY, phAllocationList, 8)                                                \
          A(D3DKMT_QUERYALLOCATIONRESIDENCY, AllocationCount, 16)                                            \
              P(D3DKMT_QUERYALLOCATIONRESIDENCY, pResidencyStatus, 24))                                      \
    T(D3DKMT_SETALLOCATIONPRIORITY, 32,                                                                      \
      P(D3DKMT_SETALLOCATIONPRIORITY, phAllocationList, 8)                                                   \
          A(D3DKMT_SETALLOCATIONPRIORITY, AllocationCount, 16)                                               \
              P(D3DKMT_SETALLOCATIONPRIORITY, pPriorities, 24))                                              \
    T(D3DKMT_CREATEALLOCATION, 72,                                                                           \
      P(D3DKMT_CREATEALLOCATION, pPrivateRuntimeData, 16)                                                    \
          A(D3DKMT_CREATEALLOCATION, PrivateRuntimeDataSize, 24)                                             \
              P(D3DKMT_CREATEALLOCATION, pPrivateDriverData, 32)                                             \
                  A(D3DKMT_CREATEALLOCATION, PrivateDriverDataSize, 40)                                      \
                      A(D3DKMT_CREATEALLOCATION, NumAllocations, 44)                                         \
                          P(D3DKMT_CREATEALLOCATION, pAllocationInfo, 48)                                    \
                              P(D3DKMT_CREATEALLOCATION, hPrivateRuntimeResourceHandle, 64))                 \
    T(D3DKMT_DESTROYALLOCATION, 24,                                                                          \
      P(D3DKMT_DESTROYALLOCATION, phAllocationList, 8) A(D3DKMT_DESTROYALLOCATION, AllocationCount, 16))     \
    T(D3DKMT_QUERYRESOURCEINFO, 32,                                                                          \
      P(D3DKMT_QUERYRESOURCEINFO, pPrivateRuntimeData, 8)                                                    \
          A(D3DKMT_QUERYRESOURCEINFO, PrivateRuntimeDataSize, 16))                                           \
    T(D3DKMT_OPENRESOURCE, 72,                                                                               \
      A(D3DKMT_OPENRESOURCE, NumAllocations, 8) P(D3DKMT_OPENRESOURCE, pOpenAllocationInfo, 16)              \
          P(D3DKMT_OPENRESOURCE, pPrivateRuntimeData, 24) A(D3DKMT_OPENRESOURCE, PrivateRuntimeDataSize, 32) \
              P(D3DKMT_OPENRESOURCE, pResourcePrivateDriverData, 40)                                         \
                  A(D3DKMT_OPENRESOURCE, ResourcePrivateDriverDataSize, 48)                                  \
                      P(D3DKMT_OPENRESOURCE, pTotalPrivateDriverDataBuffer, 56)                              \
                          A(D3DKMT_OPENRESOURCE, TotalPrivateDriverDataBufferSize, 64))                      \
    T(D3DKMT_LOCK, 48,                                                                                       \
      A(D3DKMT_LOCK, NumPages, 12) P(D3DKMT_LOCK, pPages, 16) P(D3DKMT_LOCK, pData, 24)                      \
          A(D3DKMT_LOCK, GpuVirtualAddress, 40))                                                             \
    T(D3DKMT_UNLOCK, 16, A(D3DKMT_UNLOCK, NumAllocations, 4) P(D3DKMT_UNLOCK, phAllocations, 8))             \
    T(D3DKMT_RENDER, 368,                                                                                    \
      P(D3DKMT_RENDER, pNewCommandBuffer, 24) P(D3DKMT_RENDER, pNewAllocationList, 40)                       \
          P(D3DKMT_RENDER, pNewPatchLocationList, 56) A(D3DKMT_RENDER, PresentHistoryToken, 72)              \
              A(D3DKMT_RENDER, NewCommandBuffer, 344) P(D3DKMT_RENDER, pPrivateDriverData, 352))             \
    T(D3DKMT_PRESENT, 672,                                                                                   \
      P(D3DKMT_PRESENT, hWindow, 8) A(D3DKMT_PRESENT, SubRectCnt, 64) P(D3DKMT_PRESENT, pSrcSubRects, 72)    \
          P(D3DKMT_PRESENT, PresentLimitSemaphore, 352) A(D3DKMT_PRESENT, PresentHistoryToken, 360))         \
    T(D3DKMT_ESCAPE, 32,                                                                                     \
      P(D3DKMT_ESCAPE, pPrivateDriverData, 16) A(D3DKMT_ESCAPE, PrivateDriverDataSize, 24))                  \
    T(D3DKMT_GETDISPLAYMODELIST, 24,                                                                         \
      P(D3DKMT_GETDISPLAYMODELIST, pModeList, 8) A(D3DKMT_GETDISPLAYMODELIST, ModeCount, 16))                \
    T(D3DKMT_SETVIDPNSOURCEOWNER, 32,                                                                        \
      P(D3DKMT_SETVIDPNSOURCEOWNER, pType, 8) P(D3DKMT_SETVIDPNSOURCEOWNER, pVidPnSourceId, 16)              \
          A(D3DKMT_SETVIDPNSOURCEOWNER, VidPnSourceCount, 24))                                               \
    T(D3DKMT_QUERYSTATISTICS, 808,                                                                           \
      P(D3DKMT_QUERYSTATISTICS, hProcess, 16) A(D3DKMT_QUERYSTATISTICS, QueryResult, 24)                     \
          A(D3DKMT_QUERYSTATISTICS, QuerySegment, 800))                                                      \
    T(D3DKMT_SETGAMMARAMP, 32,                                                                               \
      P(D3DKMT_SETGAMMARAMP, pGammaRampRgb256x3x16, 16) A(D3DKMT_SETGAMMARAMP, Size, 24))                    \
    T(D3DDDI_ALLOCATIONINFO, 40,                                                                             \
      A(D3DDDI_ALLOCATIONINFO, hAllocation, 0) P(D3DDDI_ALLOCATIONINFO, pSystemMem, 8)                       \
          P(D3DDDI_ALLOCATIONINFO, pPrivateDriverData, 16)                                                   \
              A(D3DDDI_ALLOCATIONINFO, PrivateDriverDataSize, 24))                                           \
    T(D3DDDI_OPENALLOCATIONINFO, 24,                                                                         \
      P(D3DDDI_OPENALLOCATIONINFO, pPrivateDriverData, 8)                                                    \
          A(D3DDDI_OPENALLOCATIONINFO, PrivateDriverDataSize, 16))                                           \
    T(D3DKMT_OPENADAPTERFROMGDIDISPLAYNAME, 80, )                                                            \
    T(D3DKMT_CLOSEADAPTER, 4, )                                                                              \
    T(D3DKMT_DESTROYDEVICE, 4, )                                                                             \
    T(D3DKMT_GETDEVICESTATE, 48, )                                                                           \
    T(D3DKMT_DESTROYCONTEXT, 4, )                                                                            \
    T(D3DKMT_SETCONTEXTSCHEDULINGPRIORITY, 8, )                                                              \
    T(D3DKMT_GETCONTEXTSCHEDULINGPRIORITY, 8, )                                                              \
    T(D3DKMT_CREATESYNCHRONIZATIONOBJECT2, 96, )                                                             \
    T(D3DKMT_DESTROYSYNCHRONIZATIONOBJECT, 4, )                                                              \
    T(D3DKMT_WAITFORSYNCHRONIZATIONOBJECT2, 200, )                                                           \
    T(D3DKMT_SIGNALSYNCHRONIZATIONOBJECT2, 464, )                                                            \
    T(D3DKMT_CREATEKEYEDMUTEX, 16, )                                                                         \
    T(D3DKMT_OPENKEYEDMUTEX, 8, )                                                                            \
    T(D3DKMT_DESTROYKEYEDMUTEX, 4, )                                                                         \
    T(D3DKMT_ACQUIREKEYEDMUTEX, 32,                                                                          \
      A(D3DKMT_ACQUIREKEYEDMUTEX, hKeyedMutex, 0) P(D3DKMT_ACQUIREKEYEDMUTEX, pTimeout, 16)                  \
          A(D3DKMT_ACQUIREKEYEDMUTEX, FenceValue, 24))                                                       \
    T(D3DKMT_RELEASEKEYEDMUTEX, 24, )                                                                        \
    T(D3DKMT_WAITFORIDLE, 4, )                                                                               \
    T(D3DKMT_WAITFORVERTICALBLANKEVENT, 12, )                                                                \
    T(D3DKMT_GETSCANLINE, 16, )                                                                              \
    T(D3DKMT_SETDISPLAYMODE, 28, )                                                                           \
    T(D3DKMT_PROCESSPRIORITY, 16, )

struct wide_row {
    uint16_t at, wide; /* offsets, in bytes: here, on x86-64 */
    bool is_pointer;
};

struct wide_type {
    uint16_t size, wide; /* bytes */
    uint16_t num;
    const struct wide_row *rows;
};

/* d3dkmt_wide_TYPE, and the offsets WIDE_AT_TYPE_MEMBER. */
#define P(type, member, at) WIDE_AT_##type##_##member = (at),
#define A(type, member, at) WIDE_AT_##type##_##member = (at),
#define T(type, size, rows) rows WIDE_SIZE_##type = (size),
enum { D3DKMT_WIDE_TYPES(T) };
#undef T
#undef A
#undef P
#define WIDE_AT(type, member) WIDE_AT_##type##_##member
#define WIDE_SIZE(type)       WIDE_SIZE_##type
#define T(type, size, rows)   extern const struct wide_type d3dkmt_wide_##type;
D3DKMT_WIDE_TYPES(T)
#undef T

/* The argument of a call, while it is under way. */
struct wide_call {
    const struct wide_type *type, *element; /* of `list`, which the structure points to */
    void *here;
    uint8_t *list, *list_here;
    UINT count;
    _Alignas(8) uint8_t wide[1024];
};

/* `here`, the structure of a thunk, as x86-64 has it, with the lists of structures that it points to: in `c`, or `here` itself where this
 * process is of 64 bits. NULL: no memory, or a list that no message could hold. d3dkmt_narrow brings back what was written there and
 * frees; not after NULL. */
void *d3dkmt_widen(struct wide_call *c, const struct wide_type *type, void *here);
void d3dkmt_narrow(struct wide_call *c);
