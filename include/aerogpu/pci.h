/* SPDX-License-Identifier: MIT */
/* pci.h: the PCI function, its BAR0 registers, and the values that registers and packets share (features,
 * interrupt bits, error codes, formats). Each table is an X-macro; decoders, printers and the reference page
 * come from the tables.
 *
 * Registers are 32 bits wide and little-endian; a 64-bit value is a LO/HI pair at consecutive offsets.
 * Accesses of 1, 2 and 8 bytes merge into them. "Minor" is the minor ABI version that introduced the row.
 */
#pragma once

#include "aerogpu/abi.h"

/* The identity. The numbers are the project's own: no PCI-SIG assignment. */
#define AEROGPU_PCI_VENDOR_ID           0xA3A0u
#define AEROGPU_PCI_DEVICE_ID           0x0001u
#define AEROGPU_PCI_SUBSYSTEM_VENDOR_ID AEROGPU_PCI_VENDOR_ID
#define AEROGPU_PCI_SUBSYSTEM_ID        0x0001u
#define AEROGPU_PCI_CLASS               0x030000u /* display controller, VGA compatible */

#define AEROGPU_BAR0_SIZE 0x10000u   /* registers; 32-bit, not prefetchable */
#define AEROGPU_BAR1_SIZE 0x4000000u /* VRAM aperture; 32-bit, prefetchable */

/* BAR1 begins with four 64 KiB VGA planes; the VBE linear frame buffer follows. */
#define AEROGPU_VRAM_VGA_PLANE_SIZE 0x10000u
#define AEROGPU_VRAM_VBE_LFB_OFFSET 0x40000u

#define AEROGPU_MMIO_MAGIC 0x55504741u /* "AGPU" */

/* What a guest may do with a register. W1C: written ones clear, it reads as zero. */
enum aerogpu_reg_access { AEROGPU_RO, AEROGPU_RW, AEROGPU_WO, AEROGPU_W1C };

/* R(offset, name, access, minor, feature, doc): feature is the name of the feature bit that the register
 * belongs to, or ALWAYS. */
#define AEROGPU_REGISTERS(R)                                                                                 \
    R(0x000, MAGIC, RO, 0, ALWAYS, "0x55504741, \"AGPU\"")                                                   \
    R(0x004, ABI_VERSION, RO, 0, ALWAYS, "major << 16 | minor")                                              \
    R(0x008, FEATURES_LO, RO, 0, ALWAYS, "feature bits 0-31")                                                \
    R(0x00C, FEATURES_HI, RO, 0, ALWAYS, "feature bits 32-63")                                               \
    R(0x100, RING_GPA_LO, RW, 0, ALWAYS, "address of the ring header")                                       \
    R(0x104, RING_GPA_HI, RW, 0, ALWAYS, "its upper half")                                                   \
    R(0x108, RING_SIZE_BYTES, RW, 0, ALWAYS, "bytes behind RING_GPA; at least the header's size_bytes")      \
    R(0x10C, RING_CONTROL, RW, 0, ALWAYS, "bit 0 ENABLE, bit 1 RESET (reads as 0)")                          \
    R(0x120, FENCE_GPA_LO, RW, 0, FENCE_PAGE, "address of the fence page, 0 for none")                       \
    R(0x124, FENCE_GPA_HI, RW, 0, FENCE_PAGE, "its upper half")                                              \
    R(0x130, COMPLETED_FENCE_LO, RO, 0, ALWAYS, "highest fence signalled since the last ring reset")         \
    R(0x134, COMPLETED_FENCE_HI, RO, 0, ALWAYS, "its upper half")                                            \
    R(0x200, DOORBELL, WO, 0, ALWAYS, "any write: look at the ring")                                         \
    R(0x300, IRQ_STATUS, RO, 0, ALWAYS, "pending interrupt bits")                                            \
    R(0x304, IRQ_ENABLE, RW, 0, ALWAYS, "the interrupt is raised while IRQ_STATUS & IRQ_ENABLE != 0")        \
    R(0x308, IRQ_ACK, W1C, 0, ALWAYS, "clears bits of IRQ_STATUS")                                           \
    R(0x310, ERROR_CODE, RO, 3, ERROR_INFO, "code of the last error")                                        \
    R(0x314, ERROR_FENCE_LO, RO, 3, ERROR_INFO, "fence of the submission that it belongs to, 0 for none")    \
    R(0x318, ERROR_FENCE_HI, RO, 3, ERROR_INFO, "its upper half")                                            \
    R(0x31C, ERROR_COUNT, RO, 3, ERROR_INFO, "errors since the last ring reset; stops at 0xFFFFFFFF")        \
    R(0x400, SCANOUT0_ENABLE, RW, 0, SCANOUT, "1: scan out and tick; 0: blank")                              \
    R(0x404, SCANOUT0_WIDTH, RW, 0, SCANOUT, "pixels")                                                       \
    R(0x408, SCANOUT0_HEIGHT, RW, 0, SCANOUT, "rows")                                                        \
    R(0x40C, SCANOUT0_FORMAT, RW, 0, SCANOUT, "format; an unknown value reads back as 0")                    \
    R(0x410, SCANOUT0_PITCH_BYTES, RW, 0, SCANOUT, "distance of two rows")                                   \
    R(0x414, SCANOUT0_FB_GPA_LO, RW, 0, SCANOUT, "frame buffer address; waits for the write of HI")          \
    R(0x418, SCANOUT0_FB_GPA_HI, RW, 0, SCANOUT, "writing it makes both halves current")                     \
    R(0x420, SCANOUT0_VBLANK_SEQ_LO, RO, 0, VBLANK, "vblanks since power-on")                                \
    R(0x424, SCANOUT0_VBLANK_SEQ_HI, RO, 0, VBLANK, "its upper half")                                        \
    R(0x428, SCANOUT0_VBLANK_TIME_NS_LO, RO, 0, VBLANK, "device time of the last vblank")                    \
    R(0x42C, SCANOUT0_VBLANK_TIME_NS_HI, RO, 0, VBLANK, "its upper half")                                    \
    R(0x430, SCANOUT0_VBLANK_PERIOD_NS, RO, 0, VBLANK, "nominal distance of two vblanks")                    \
    R(0x500, CURSOR_ENABLE, RW, 0, CURSOR, "1: draw the cursor over the scanout")                            \
    R(0x504, CURSOR_X, RW, 0, CURSOR, "column of the hot spot, signed")                                      \
    R(0x508, CURSOR_Y, RW, 0, CURSOR, "row of the hot spot, signed")                                         \
    R(0x50C, CURSOR_HOT_X, RW, 0, CURSOR, "hot spot inside the cursor image")                                \
    R(0x510, CURSOR_HOT_Y, RW, 0, CURSOR, "hot spot inside the cursor image")                                \
    R(0x514, CURSOR_WIDTH, RW, 0, CURSOR, "pixels")                                                          \
    R(0x518, CURSOR_HEIGHT, RW, 0, CURSOR, "rows")                                                           \
    R(0x51C, CURSOR_FORMAT, RW, 0, CURSOR, "format; an unknown value reads back as 0")                       \
    R(0x520, CURSOR_FB_GPA_LO, RW, 0, CURSOR, "image address; waits for the write of HI")                    \
    R(0x524, CURSOR_FB_GPA_HI, RW, 0, CURSOR, "writing it makes both halves current")                        \
    R(0x528, CURSOR_PITCH_BYTES, RW, 0, CURSOR, "distance of two rows")

enum aerogpu_reg {
#define AEROGPU_ROW(offset, name, access, minor, feature, doc) AEROGPU_REG_##name = offset,
    AEROGPU_REGISTERS(AEROGPU_ROW)
#undef AEROGPU_ROW
};

#define AEROGPU_RING_CONTROL_ENABLE 0x1u
#define AEROGPU_RING_CONTROL_RESET  0x2u

/* F(bit, name, minor, doc): bits of FEATURES_LO/HI. Bits from 32 up are extensions (ext.h). */
#define AEROGPU_FEATURES(F)                                                                                  \
    F(0, FENCE_PAGE, 0, "writes completed fences to a page in guest memory")                                 \
    F(1, CURSOR, 0, "has the cursor registers")                                                              \
    F(2, SCANOUT, 0, "has the scanout registers")                                                            \
    F(3, VBLANK, 0, "has the vblank registers and interrupt; paces vsynced presents")                        \
    F(4, TRANSFER, 1, "executes copies and writes them back to guest memory")                                \
    F(5, ERROR_INFO, 3, "has the error registers")

enum aerogpu_feature {
    AEROGPU_FEATURE_ALWAYS = 0,
#define AEROGPU_ROW(bit, name, minor, doc) AEROGPU_FEATURE_##name = 1 << (bit),
    AEROGPU_FEATURES(AEROGPU_ROW)
#undef AEROGPU_ROW
#define AEROGPU_ROW(bit, name, minor, doc) AEROGPU_FEATURE_##name |
        AEROGPU_FEATURES_ALL = AEROGPU_FEATURES(AEROGPU_ROW) 0, /* all of ABI 1.4 */
#undef AEROGPU_ROW
};

/* I(bit, name, doc): bits of IRQ_STATUS, IRQ_ENABLE and IRQ_ACK. */
#define AEROGPU_IRQS(I)                                                                                      \
    I(0, FENCE, "COMPLETED_FENCE advanced; latches only while enabled")                                      \
    I(1, SCANOUT_VBLANK, "a vblank of scanout 0; latches only while enabled")                                \
    I(31, ERROR, "an error was latched; latches always")

enum aerogpu_irq_bit {
#define AEROGPU_ROW(bit, name, doc) AEROGPU_IRQ_BIT_##name = bit,
    AEROGPU_IRQS(AEROGPU_ROW)
#undef AEROGPU_ROW
};
#define AEROGPU_IRQ_FENCE          (1u << AEROGPU_IRQ_BIT_FENCE)
#define AEROGPU_IRQ_SCANOUT_VBLANK (1u << AEROGPU_IRQ_BIT_SCANOUT_VBLANK)
#define AEROGPU_IRQ_ERROR          (1u << AEROGPU_IRQ_BIT_ERROR)

/* E(value, name, doc): ERROR_CODE. Readers treat a value they do not know as INTERNAL. */
#define AEROGPU_ERRORS(E)                                                                                    \
    E(0, NONE, "no error")                                                                                   \
    E(1, CMD_DECODE, "malformed ring, descriptor, allocation table, stream or packet")                       \
    E(2, OOB, "an address range overflows or leaves guest memory or its resource")                           \
    E(3, BACKEND, "the executor could not do it, or died doing it")                                          \
    E(0xFFFF, INTERNAL, "a fault of the device itself")

enum aerogpu_error_code {
#define AEROGPU_ROW(value, name, doc) AEROGPU_ERROR_##name = value,
    AEROGPU_ERRORS(AEROGPU_ROW)
#undef AEROGPU_ROW
};

/* What a format's texels are. */
enum aerogpu_format_kind { AEROGPU_FORMAT_KIND_COLOR, AEROGPU_FORMAT_KIND_DEPTH, AEROGPU_FORMAT_KIND_BC };

/* F(value, name, bytes, block, kind, alpha, srgb, minor, doc): `bytes` per block of `block` x `block` texels.
 * alpha 0: an X channel, if there is one, is ignored and reads as opaque. srgb 1: same bytes as the format
 * without, only the meaning of the colour values differs. */
#define AEROGPU_FORMATS(F)                                                                                   \
    F(1, B8G8R8A8_UNORM, 4, 1, COLOR, 1, 0, 0, "bytes B G R A")                                              \
    F(2, B8G8R8X8_UNORM, 4, 1, COLOR, 0, 0, 0, "bytes B G R X")                                              \
    F(3, R8G8B8A8_UNORM, 4, 1, COLOR, 1, 0, 0, "bytes R G B A")                                              \
    F(4, R8G8B8X8_UNORM, 4, 1, COLOR, 0, 0, 0, "bytes R G B X")                                              \
    F(5, B5G6R5_UNORM, 2, 1, COLOR, 0, 0, 0, "bits 0-4 B, 5-10 G, 11-15 R")                                  \
    F(6, B5G5R5A1_UNORM, 2, 1, COLOR, 1, 0, 0, "bits 0-4 B, 5-9 G, 10-14 R, 15 A")                           \
    F(7, B8G8R8A8_UNORM_SRGB, 4, 1, COLOR, 1, 1, 2, "bytes B G R A")                                         \
    F(8, B8G8R8X8_UNORM_SRGB, 4, 1, COLOR, 0, 1, 2, "bytes B G R X")                                         \
    F(9, R8G8B8A8_UNORM_SRGB, 4, 1, COLOR, 1, 1, 2, "bytes R G B A")                                         \
    F(10, R8G8B8X8_UNORM_SRGB, 4, 1, COLOR, 0, 1, 2, "bytes R G B X")                                        \
    F(32, D24_UNORM_S8_UINT, 4, 1, DEPTH, 0, 0, 0, "bits 0-23 depth, 24-31 stencil")                         \
    F(33, D32_FLOAT, 4, 1, DEPTH, 0, 0, 0, "32-bit float depth")                                             \
    F(64, BC1_RGBA_UNORM, 8, 4, BC, 1, 0, 2, "BC1 (DXT1)")                                                   \
    F(65, BC1_RGBA_UNORM_SRGB, 8, 4, BC, 1, 1, 2, "BC1 (DXT1)")                                              \
    F(66, BC2_RGBA_UNORM, 16, 4, BC, 1, 0, 2, "BC2 (DXT3)")                                                  \
    F(67, BC2_RGBA_UNORM_SRGB, 16, 4, BC, 1, 1, 2, "BC2 (DXT3)")                                             \
    F(68, BC3_RGBA_UNORM, 16, 4, BC, 1, 0, 2, "BC3 (DXT5)")                                                  \
    F(69, BC3_RGBA_UNORM_SRGB, 16, 4, BC, 1, 1, 2, "BC3 (DXT5)")                                             \
    F(70, BC7_RGBA_UNORM, 16, 4, BC, 1, 0, 2, "BC7")                                                         \
    F(71, BC7_RGBA_UNORM_SRGB, 16, 4, BC, 1, 1, 2, "BC7")

enum aerogpu_format {
    AEROGPU_FORMAT_INVALID = 0,
#define AEROGPU_ROW(value, name, bytes, block, kind, alpha, srgb, minor, doc) AEROGPU_FORMAT_##name = value,
    AEROGPU_FORMATS(AEROGPU_ROW)
#undef AEROGPU_ROW
};

/* Bytes of a pixel of the formats that can be shown, 0 for the others. */
static inline uint32_t aerogpu_pixel_bytes(uint32_t format)
{
    switch (format) {
#define AEROGPU_ROW(value, name, bytes, block, kind, alpha, srgb, minor, doc)                                \
    case value:                                                                                              \
        return AEROGPU_FORMAT_KIND_##kind == AEROGPU_FORMAT_KIND_COLOR ? bytes : 0;
        AEROGPU_FORMATS(AEROGPU_ROW)
#undef AEROGPU_ROW
    }
    return 0;
}
