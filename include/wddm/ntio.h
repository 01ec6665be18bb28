/* SPDX-License-Identifier: MIT */
/* ntio.h: what the WDK's wdm.h has of ports, PCI configuration space, scattered memory and priority boosts. A part of ntddk.h.
 *
 * Names, members and values: the WDK's public documentation and the PCI Local Bus Specification.
 */
#pragma once

#include "wddm/ntddk.h"

WDDM_C_BEGIN

/* ---- ports: an adapter here has none, and what reads one gets all ones ---- */

#if defined(_WIN32) && defined(__x86_64__)
#define WDDM_PORT(T, TYPE, width)                                                                            \
    static FORCEINLINE TYPE READ_PORT_##T(volatile TYPE *Port)                                               \
    {                                                                                                        \
        TYPE v;                                                                                              \
        __asm__ volatile("in" width " %1, %0" : "=a"(v) : "Nd"((USHORT)(ULONG_PTR)Port));                    \
        return v;                                                                                            \
    }                                                                                                        \
    static FORCEINLINE VOID WRITE_PORT_##T(volatile TYPE *Port, TYPE Value)                                  \
    {                                                                                                        \
        __asm__ volatile("out" width " %0, %1" : : "a"(Value), "Nd"((USHORT)(ULONG_PTR)Port));               \
    }
#else
#define WDDM_PORT(T, TYPE, width)                                                                            \
    NTHALAPI TYPE NTAPI READ_PORT_##T(volatile TYPE *Port);                                                  \
    NTHALAPI VOID NTAPI WRITE_PORT_##T(volatile TYPE *Port, TYPE Value);
#endif
WDDM_PORT(UCHAR, UCHAR, "b")
WDDM_PORT(USHORT, USHORT, "w")
WDDM_PORT(ULONG, ULONG, "l")
#undef WDDM_PORT

/* ---- what KeSetEvent and its like, and IoCompleteRequest, boost a thread by ---- */

#define IO_NO_INCREMENT     0
#define IO_VIDEO_INCREMENT  1
#define IO_DISK_INCREMENT   1
#define EVENT_INCREMENT     1
#define SEMAPHORE_INCREMENT 1

/* ---- PCI configuration space ---------------------------------------------- */

#define PCI_TYPE0_ADDRESSES 6
#define PCI_TYPE1_ADDRESSES 2
#define PCI_TYPE2_ADDRESSES 5

struct _PCI_HEADER_TYPE_0 {
    ULONG BaseAddresses[PCI_TYPE0_ADDRESSES];
    ULONG CIS;
    USHORT SubVendorID;
    USHORT SubSystemID;
    ULONG ROMBaseAddress;
    UCHAR CapabilitiesPtr;
    UCHAR Reserved1[3];
    ULONG Reserved2;
    UCHAR InterruptLine;
    UCHAR InterruptPin;
    UCHAR MinimumGrant;
    UCHAR MaximumLatency;
};

struct _PCI_HEADER_TYPE_1 { /* a bridge */
    ULONG BaseAddresses[PCI_TYPE1_ADDRESSES];
    UCHAR PrimaryBus;
    UCHAR SecondaryBus;
    UCHAR SubordinateBus;
    UCHAR SecondaryLatency;
    UCHAR IOBase;
    UCHAR IOLimit;
    USHORT SecondaryStatus;
    USHORT MemoryBase;
    USHORT MemoryLimit;
    USHORT PrefetchBase;
    USHORT PrefetchLimit;
    ULONG PrefetchBaseUpper32;
    ULONG PrefetchLimitUpper32;
    USHORT IOBaseUpper16;
    USHORT IOLimitUpper16;
    UCHAR CapabilitiesPtr;
    UCHAR Reserved1[3];
    ULONG ROMBaseAddress;
    UCHAR InterruptLine;
    UCHAR InterruptPin;
    USHORT BridgeControl;
};

#define WDDM_PCI_COMMON                                                                                      \
    USHORT VendorID;                                                                                         \
    USHORT DeviceID;                                                                                         \
    USHORT Command;                                                                                          \
    USHORT Status;                                                                                           \
    UCHAR RevisionID;                                                                                        \
    UCHAR ProgIf;                                                                                            \
    UCHAR SubClass;                                                                                          \
    UCHAR BaseClass;                                                                                         \
    UCHAR CacheLineSize;                                                                                     \
    UCHAR LatencyTimer;                                                                                      \
    UCHAR HeaderType;                                                                                        \
    UCHAR BIST;                                                                                              \
    union {                                                                                                  \
        struct _PCI_HEADER_TYPE_0 type0;                                                                     \
        struct _PCI_HEADER_TYPE_1 type1;                                                                     \
    } u;

typedef struct _PCI_COMMON_HEADER {
    WDDM_PCI_COMMON
} PCI_COMMON_HEADER, *PPCI_COMMON_HEADER;

typedef struct _PCI_COMMON_CONFIG {
    WDDM_PCI_COMMON
    UCHAR DeviceSpecific[192];
} PCI_COMMON_CONFIG, *PPCI_COMMON_CONFIG;

typedef struct _PCI_CAPABILITIES_HEADER {
    UCHAR CapabilityID;
    UCHAR Next;
} PCI_CAPABILITIES_HEADER, *PPCI_CAPABILITIES_HEADER;

#define PCI_MULTIFUNCTION       0x80
#define PCI_DEVICE_TYPE         0x00
#define PCI_BRIDGE_TYPE         0x01
#define PCI_CARDBUS_BRIDGE_TYPE 0x02

#define PCI_ADDRESS_IO_SPACE            0x00000001
#define PCI_ADDRESS_MEMORY_TYPE_MASK    0x00000006
#define PCI_ADDRESS_MEMORY_PREFETCHABLE 0x00000008
#define PCI_ADDRESS_IO_ADDRESS_MASK     0xFFFFFFFC
#define PCI_ADDRESS_MEMORY_ADDRESS_MASK 0xFFFFFFF0
#define PCI_TYPE_32BIT                  0
#define PCI_TYPE_20BIT                  2
#define PCI_TYPE_64BIT                  4

#define PCI_CLASS_DISPLAY_CTLR    0x03
#define PCI_SUBCLASS_VID_VGA_CTLR 0x00
#define PCI_SUBCLASS_VID_OTHER    0x80

#define PCI_ENABLE_IO_SPACE     0x0001
#define PCI_ENABLE_MEMORY_SPACE 0x0002
#define PCI_ENABLE_BUS_MASTER   0x0004

#define PCI_STATUS_CAPABILITIES_LIST 0x0010

#define PCI_CAPABILITY_ID_POWER_MANAGEMENT 0x01
#define PCI_CAPABILITY_ID_MSI              0x05
#define PCI_CAPABILITY_ID_VENDOR_SPECIFIC  0x09
#define PCI_CAPABILITY_ID_PCI_EXPRESS      0x10
#define PCI_CAPABILITY_ID_MSIX             0x11

WDDM_SIZE(PCI_COMMON_HEADER, 64);
WDDM_SIZE(PCI_COMMON_CONFIG, 256);

WDDM_C_END
