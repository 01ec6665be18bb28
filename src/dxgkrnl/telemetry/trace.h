/* SPDX-License-Identifier: MIT */
/* trace.h: what dxgkrnl tells who traces it: events with the numbers and keywords of the provider Microsoft-Windows-DxgKrnl, and those of
 * the miniport's own providers. A D3DKMTEscape of type DXGK_ESCAPE_TRACE with a struct dxgk_trace_block, for root and the service's
 * user: they show what everybody does.
 *
 * While nobody traces, an event costs one comparison. Who traces reads at least every DXGK_TRACE_ALIVE_NS; else the trace ends, so that
 * one that was killed costs nothing either. Events that were overwritten before they were read are counted.
 */
#pragma once

#include <stdint.h>

#define DXGK_ESCAPE_TRACE   0x43415254 /* "TRAC"; far from the WDK's types */
#define DXGK_TRACE_ALIVE_NS UINT64_C(10000000000)

/* The provider: {802ec45a-1e99-4b83-9920-87c98277ba9d}. Numbers, tasks, opcodes and fields: as tools that read it document them
 * (PresentMon, GPUView); the keywords are Base and the channel Performance. A field of no name is not there. hContext and hDevice are
 * numbers that are one's own while it lives. T(NAME, id, task, opcode, field, field, field, field) */
#define DXGK_TRACE_PROVIDER                                                                                  \
    {                                                                                                        \
        0x5a, 0xc4, 0x2e, 0x80, 0x99, 0x1e, 0x83, 0x4b, 0x99, 0x20, 0x87, 0xc9, 0x82, 0x77, 0xba, 0x9d       \
    }
#define DXGK_TRACE_KEYWORDS UINT64_C(0x4000000000000001)
#define DXGK_TRACE_EVENTS(T)                                                                                 \
    T(VSYNC_DPC, 17, "VSyncDPC", Info, "VidPnTargetId", "ScannedPhysicalAddress", "", "")                    \
    T(DEVICE_START, 27, "Device", Start, "hDevice", "", "", "")                                              \
    T(DEVICE_STOP, 28, "Device", Stop, "hDevice", "", "", "")                                                \
    T(CONTEXT_START, 30, "Context", Start, "hContext", "hDevice", "NodeOrdinal", "")                         \
    T(CONTEXT_STOP, 31, "Context", Stop, "hContext", "", "", "")                                             \
    T(MMIO_FLIP, 116, "MMIOFlip", Info, "VidPnSourceId", "FlipToSegmentId", "FlipToPhysicalAddress",         \
      "Flags")                                                                                               \
    T(DMA_START, 175, "DmaPacket", Start, "hContext", "PacketType", "uliSubmissionId", "NodeOrdinal")        \
    T(DMA_STOP, 176, "DmaPacket", Stop, "hContext", "PacketType", "uliCompletionId", "bPreempted")           \
    T(QUEUE_START, 178, "QueuePacket", Start, "hContext", "PacketType", "SubmitSequence", "bPresent")        \
    T(QUEUE_STOP, 180, "QueuePacket", Stop, "hContext", "PacketType", "SubmitSequence", "")

enum dxgk_trace_id {
#define DXGK_ROW(NAME, id, ...) DXGK_TRACE_##NAME = id,
    DXGK_TRACE_EVENTS(DXGK_ROW)
#undef DXGK_ROW
};

/* Of Windows' tracing. */
enum { DXGK_TRACE_OPCODE_Info = 0, DXGK_TRACE_OPCODE_Start = 1, DXGK_TRACE_OPCODE_Stop = 2 };

enum { DXGK_TRACE_FIELDS = 4, DXGK_TRACE_MOST = 64 };

struct dxgk_trace_event {
    uint64_t time_ns; /* of the adapter's clock (CLOCK_MONOTONIC) */
    uint64_t keyword;
    uint64_t process; /* 0: the system */
    uint8_t provider[16];
    uint32_t size; /* bytes of what follows that are the event's; those of a miniport's may have had more */
    uint16_t id;
    uint8_t opcode, level;
    uint64_t field[DXGK_TRACE_FIELDS];
};

enum dxgk_trace_op { DXGK_TRACE_STOP_OP, DXGK_TRACE_START_OP, DXGK_TRACE_READ_OP };
struct dxgk_trace_block {
    uint32_t op;    /* in */
    uint32_t count; /* out: of a read, how many events there are here */
    uint64_t next;  /* in and out: the number of the event that is read next; a start sets it */
    uint64_t lost;  /* out: of a read, events that were overwritten before it */
    struct dxgk_trace_event event[DXGK_TRACE_MOST];
};
