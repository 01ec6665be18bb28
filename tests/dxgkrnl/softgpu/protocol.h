/* SPDX-License-Identifier: MIT */
/* protocol.h: a toy GPU, for the tests of dxgkrnl: its registers, its DMA commands, its escapes. It has
 * nothing in common with AeroGPU. */
#pragma once

#include <stdint.h>

#define SOFTGPU_BAR   0xE0000000u
#define SOFTGPU_ID    0x55504754u /* "TGPU" */
#define SOFTGPU_PAGES 1024        /* of the aperture: 4 MiB */

enum softgpu_register {
    REG_ID = 0x00,
    REG_IRQ_STATUS = 0x04, /* W1C */
    REG_IRQ_ENABLE = 0x08,
    REG_CMD_LO = 0x10,
    REG_CMD_HI = 0x14,
    REG_CMD_SIZE = 0x18,
    REG_SUBMIT = 0x1C, /* fence: queue what CMD_* says */
    REG_COMPLETED = 0x20,
    REG_RESET = 0x24,
    REG_SCAN = 0x28, /* page of the aperture to show from the next vblank on */
    REG_SCAN_NOW = 0x2C,
    REG_SCAN_ENABLE = 0x30,
    REG_FAULTED = 0x34,      /* fence of the last command that faulted */
    REG_CANCEL = 0x38,       /* drops what has not begun */
    REG_CMD_APERTURE = 0x3C, /* 1: CMD_LO and CMD_HI are in the aperture */
};

enum softgpu_irq { IRQ_DONE = 1, IRQ_VBLANK = 2, IRQ_FAULT = 4 };

/* A DMA buffer is a list of these. Addresses are in the aperture. */
struct softgpu_cmd {
    uint32_t op, value;
    uint64_t address;
    uint32_t count, pad;
};

enum softgpu_op {
    OP_NOP,
    OP_FILL,  /* `count` words at `address` become `value` */
    OP_DELAY, /* `value` milliseconds */
    OP_HANG,  /* for ever */
    OP_FAULT,
    OP_MAP, /* aperture pages from address / 4096 on: `count` of them, from physical page `value` on; 0:
               unmapped */
};

/* What the user-mode side writes into a command buffer: `address` is an offset in allocation `pad` of the list. */

enum softgpu_escape_op {
    ESC_RESET_FAILS = 1, /* from now on ResetFromTimeout fails, or RestartFromTimeout with value 1 */
    ESC_BAD_DPC,         /* the next DPC waits, which it must not */
    ESC_BLOCK,           /* this escape blocks for `value` seconds */
    ESC_BAD_FENCE,       /* the next interrupt reports a fence that was never submitted */
    ESC_COUNTERS,        /* value: how often ControlInterrupt switched vblanks; value2: 1 if they are on */
    ESC_DOUBLE_LOCK,     /* acquires a spin lock twice */
    ESC_ADMIN,           /* value: whether the caller is an administrator */
    ESC_THREADS,         /* a work item and a thread each add one to value */
    ESC_CALLED,          /* value: enum softgpu_call; value2: how often dxgkrnl called it */
    ESC_EDID,            /* value: enum softgpu_edid, from the next start on */
    ESC_NO_CONTEXTS,     /* value: from the next start on, not MultiEngineAware, if 1 */
    ESC_NO_VSYNC,        /* ControlInterrupt fails from now on */
    ESC_KEEP_MUTEX,      /* value: 0 a mutex, 1 a fast mutex is not given back */
    ESC_CLAIMS_ALL,      /* value: the ISR claims all interrupts from now on, if 1 */
    ESC_DMA_SEGMENTS, /* value: DmaBufferSegmentSet of contexts from now on; value2: pages of their DMA buffers, if not 0; from the next
                            start on paging buffers are wanted in segment 1, if it is in the set */
    ESC_LOOP,         /* value: enum softgpu_loop */
    ESC_EXCEPTION,    /* value: enum softgpu_exception */
    ESC_WRONG_TARGET, /* vblanks report a target that is none, from now on */
    ESC_LEAVE_TIMER,  /* value: 0 a timer is set, whose memory is freed; 1: it is left to the unload */
    ESC_CRITICAL,     /* value: 0 a critical region, 1 a guarded one is entered and not left */
    ESC_WRONG_ADDRESS, /* vblanks report an address that nobody gave, from now on */
    ESC_LATE_NOTE, /* ResetFromTimeout notes what was submitted last as completed, and queues no DPC, from now on */
    ESC_STOP_WAITS, /* StopDevice waits for ever */
    ESC_MONITOR, /* value: modes | ranges << 8 | descriptors << 16; value2: size of the preferred one, width << 16 */
    ESC_RENDER_RULE, /* value: enum softgpu_render_rule, at the next Render */
    ESC_MODE_RULE, /* value: enum softgpu_mode_rule, at the next enumeration; value2: what the last one was answered */
};

enum softgpu_render_rule { RENDER_WELL, RENDER_TOO_FAR, RENDER_OF_NOBODY, RENDER_NOWHERE };
enum softgpu_mode_rule {
    MODES_WELL,
    MODES_KEPT,
    MODES_RELEASED_TWICE,
    MODES_PATH_KEPT,
    MODES_EMPTY,
    MODES_ONE_NUMBER,
    MODES_SET_RELEASED,
    MODES_SET_USED,
    MODES_SET_KEPT
};

enum softgpu_loop { LOOP_BUSY, LOOP_STALL, LOOP_DELAY, LOOP_ISR };
enum softgpu_exception {
    EXC_WRITE,
    EXC_READ,
    EXC_DIVIDE,
    EXC_ILLEGAL,
    EXC_STACK,
    EXC_ISR
}; /* EXC_ISR: in the next interrupt */

enum softgpu_edid { EDID_GOOD, EDID_NONE, EDID_DAMAGED };

/* DDIs of which a test asks whether they were called, and how. */
#define SOFTGPU_CALLS(C)                                                                                     \
    C(DispatchIoRequest)                                                                                     \
    C(ResetDevice)                                                                                           \
    C(SetPalette)                                                                                            \
    C(SetPointerPosition)                                                                                    \
    C(SetPointerShape)                                                                                       \
    C(StopCapture)                                                                                           \
    C(RecommendFunctionalVidPn)                                                                              \
    C(UpdateActiveVidPnPresentPath)                                                                          \
    C(RecommendMonitorModes)                                                                                 \
    C(RecommendVidPnTopology)                                                                                \
    C(QueryVidPnHWCapability)                                                                                \
    C(PivotSource)                                                                                           \
    C(PivotTarget)                                                                                           \
    C(PivotScaling)                                                                                          \
    C(PivotRotation)
enum softgpu_call {
#define SOFTGPU_CALL(name) CALL_##name,
    SOFTGPU_CALLS(SOFTGPU_CALL)
#undef SOFTGPU_CALL
        NUM_CALLS
};

struct softgpu_escape {
    uint32_t op, value, value2;
};

/* Private data of an allocation. */
struct softgpu_alloc {
    uint32_t size;
    uint32_t width, height; /* of a primary at 60 Hz, X8R8G8B8; else 0 */
    uint32_t palette;       /* 1: P8 instead */
    uint32_t capture;       /* 1: a device would write into it by itself */
};
