/* SPDX-License-Identifier: MIT */
/* driver.c: the WDDM 1.1 display miniport for AeroGPU.
 *
 * One source, two builds: part of the programs that run it in user space (src/dxgkrnl), and aerogpu.sys for Windows.
 * It uses what the WDK offers a miniport (include/wddm) and nothing else: no C library, no floating point.
 *
 *   AddDevice ─▶ StartDevice ⇄ StopDevice ─▶ RemoveDevice
 *                    │ ▲
 *   SetPowerState D3 ▼ │ D0            ResetFromTimeout ─▶ RestartFromTimeout
 *
 * The way of the work:
 *   Render    checks the client's stream packet by packet while it copies it into the DMA buffer, and puts an
 *             allocation table behind it, without addresses; each address is a patch location
 *   Patch     fills the addresses in
 *   Submit    writes a descriptor into the ring and rings the doorbell
 *   interrupt tells what completed, faulted or was preempted, and vblanks
 *
 * Memory: the one segment is an aperture over system memory. The device has no page tables, so the driver translates:
 * it notes which page is behind each page of the aperture when the paging buffer says so, and writes guest addresses
 * into allocation tables. The ABI has one address for an allocation; one whose pages are scattered cannot be named,
 * and its submission is refused in Patch.
 *
 * Rules (docs/kmd.md, and the checklist's A to D):
 *  A. A submission is bounded: at most one DMA buffer, whose size the context asked for within MaxDmaBufferBytes.
 *  B. Fences only go up, and each is reported once, by interrupt and DPC.
 *  C. No DDI waits. SELFTEST waits as long as its caller asked for; nothing else ever does.
 *  D. ResetFromTimeout stops the executor, forgets everything and checks that the device did.
 *  E. What a client wrote is read once, checked where it was copied to, and answered with one status. Object names and
 *     share tokens of a stream are the client's own: it cannot name what it has not created or opened.
 */
#include "kmd/kmd.h"

static WCHAR service_key[160];
UNICODE_STRING kmd_service_key = {0, sizeof(service_key), service_key};

#if !defined(_WIN32)
__attribute__((visibility("default")))
#endif
DRIVER_INITIALIZE DriverEntry;

KMD_INIT NTSTATUS NTAPI DriverEntry(PDRIVER_OBJECT driver, PUNICODE_STRING path)
{
    DRIVER_INITIALIZATION_DATA d = {.Version = DXGKDDI_INTERFACE_VERSION_WIN7};

    if (path->Length > sizeof(service_key))
        return STATUS_INVALID_PARAMETER;
    RtlCopyMemory(service_key, path->Buffer, path->Length);
    kmd_service_key.Length = path->Length;
#define SET_NEED(name) d.DxgkDdi##name = kmd_##name;
#define SET_MAY(name)
#define SET_ROW(need, name, ...) SET_##need(name)
    WDDM_DDIS(SET_ROW, SET_ROW, WDDM_DDI_NONE)
    SET_NEED(NotifyAcpiEvent)
    SET_NEED(QueryInterface)
    SET_NEED(ControlEtwLogging)
    SET_NEED(QueryVidPnHWCapability)
    return DxgkInitialize(driver, path, &d);
}
