#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""`aerogpu validate` passes no miniport that does something wrong (wrong.c), in whichever of the stacks that the run brings up and
until each is unloaded, and says what it was; and it blames none that does not.
  wrong_test.py AEROGPU WRONG_MINIPORT [NAME...]"""
import json
import os
import subprocess
import sys
import tempfile

aerogpu, miniport = map(os.path.abspath, sys.argv[1:3])
out = tempfile.mkdtemp(prefix="aerogpu-wrong-")

# What is wrong, the exit code, what is said of it. The second stack and the ones behind it are services of tests.
ROWS = [
    ("nothing", 0, None),
    ("leak-Unload#2", 1, "leaked 100 bytes of pool"),
    ("null-Unload#2", 1, "an access violation at "),
    ("null-StopDevice#3", 1, "in DxgkDdiStopDevice"),
    ("leak-RemoveDevice#2", 1, "leaked 100 bytes of pool"),
    ("StopDevice#2", 1, "DxgkDdiStopDevice returned c0000001"),
    ("RemoveDevice#2", 1, "DxgkDdiRemoveDevice returned c0000001"),
    ("deaf#1+", 1, "DxgkDdiInterruptRoutine returned FALSE for "),
    ("render-private", 1, "DxgkDdiRender answered pDmaBufferPrivateData, at byte = "),
    ("submit-pending#5", 1, "DxgkDdiSubmitCommand returned 00000103; allowed: STATUS_SUCCESS alone"),
    ("allocation-behind", 1, "DxgkDdiCreateAllocation answered pAllocationInfo, at byte = 88"),
    ("caps-no-contexts#1+", 1, "DxgkDdiCreateDevice answered pInfo = 1; allowed: a DXGK_DEVICEINFO"),
    ("Present", 1, "DxgkDdiPresent returned c0000001"),
    ("interrupt-ahead", 1, "DxgkCbNotifyInterrupt, called in DxgkDdiRender, reported DMA_COMPLETED of fence 1048576 on node 0"),
    ("segments-100", 1, "NbSegment = 100; allowed: 1 to 31"),
    ("children-minus", 1, "children; dxgkrnl supports"),
    ("allocation-nowhere", 1, "SupportedReadSegmentSet = 0; allowed: a segment"),
    ("context-nothing", 1, "remarked before that: DxgkDdiCreateContext answered hContext = 0x"),
    ("device-nothing", 1, "remarked before that: DxgkDdiCreateDevice answered hDevice = 0x"),
    ("paging-nothing-done#1+", 1, "DxgkDdiBuildPagingBuffer had put nothing into its buffer for MAP_APERTURE_SEGMENT"),
    ("paging-pending", 1, "DxgkDdiBuildPagingBuffer returned 00000103, which is none of the statuses that are documented"),
    ("vidpn-refused#1+", 1, "(DxgkDdiIsSupportedVidPn answered IsVidPnSupported = 0 for modes that it had enumerated)"),
    ("modes-nothing#1+", 1, "(DxgkDdiEnumVidPnCofuncModality left the source without a mode)"),
    ("caps-no-pointer#1+", 0, "MaxPointerHeight = 0; documented"),
]
MORE = [
    ("leak-Unload", 1, "leaked 100 bytes of pool"), ("null-RemoveDevice", 1, "in DxgkDdiRemoveDevice"),
    ("sources-many", 1, "17 sources"), ("started-pending", 0, "DxgkDdiStartDevice returned 00000103"),
    ("child-untyped", 1, "ChildDeviceType = 0"), ("child-unaware", 0, "HpdAwareness = 0"),
    ("child-connector", 0, "InterfaceTechnology = 0xfffffffe"), ("child-sdtv", 0, "SupportsSdtvModes = 128"),
    ("children-fail", 1, "DxgkDdiQueryChildRelations returned c0000001"), ("status-uid", 0, "QueryChildStatus answered ChildUid"),
    ("status-odd", 0, "DxgkDdiQueryChildStatus returned 40000000"), ("edid-buffer", 0, "or another member that it was given"),
    ("edid-long", 1, "byte 128 of an argument of 128 bytes, in DxgkDdiQueryDeviceDescriptor"), ("edid-denied", 0, "DxgkDdiQueryDeviceDescriptor returned c0000022"),
    ("segment-terabytes", 1, "Size = 0x8000000000000000"), ("segment-half-page", 1, "a multiple of 4096 bytes"),
    ("segment-base", 1, "with BaseAddress what a PHYSICAL_ADDRESS"), ("segment-no-bank", 1, "NbOfBanks = 0; allowed: 1 to 127"),
    ("segment-agp-too", 1, "Agp, or others"), ("paging-in-2", 1, "PagingBufferSegmentId = 2"),
    ("paging-nothing", 1, "PagingBufferSize = 0"), ("paging-much", 1, "PagingBufferSize = 0x40000000"),
    ("paging-private", 1, "PagingBufferPrivateDataSize = 0x1000000"), ("caps-nodes", 1, "ProcessingNodes = 100"),
    ("caps-paging-node", 1, "PagingNode = 63"), ("caps-overlays", 1, "MaxOverlays = 1"),
    ("caps-address", 1, "HighestAcceptableAddress.QuadPart = 1"), ("caps-flips", 0, "FlipCaps.Reserved = 0x8000000"),
    ("caps-fail", 1, "QueryAdapterInfo(DRIVERCAPS) returned c01e0100"), ("context-dma", 1, "DmaBufferSize = 0x20000000"),
    ("context-list#2", 1, "AllocationListSize = 0x100000"), ("context-segment#3", 1, "DmaBufferSegmentSet = 0x80000000"),
    ("context-group", 0, "DmaBufferAllocationGroup = 7"), ("DestroyContext", 1, "DxgkDdiDestroyContext returned c0000001"),
    ("DestroyDevice", 1, "DxgkDdiDestroyDevice returned c0000001"), ("allocation-elsewhere#2", 1, "SupportedReadSegmentSet = 5"),
    ("allocation-empty#2", 1, "pAllocationInfo[0].Size = 0"), ("allocation-endless#2", 1, "Size = 0xfffffffffffffffe"),
    ("allocation-aligned", 0, "Alignment = 12345"), ("allocation-evicted", 0, "EvictionSegmentSet = 128"),
    ("allocation-preferred", 0, "PreferredSegment, a segment = 30"), ("allocation-denied#3", 1, "DxgkDdiCreateAllocation returned c0000022"),
    ("DestroyAllocation", 1, "DxgkDdiDestroyAllocation returned c0000001"), ("CloseAllocation", 1, "DxgkDdiCloseAllocation returned c0000001"),
    ("standard-much", 1, "ResourcePrivateDriverDataSize = 0x7fffffff"), ("standard-grows", 1, "allowed: what it was in the pass before"),
    ("Patch#2", 1, "DxgkDdiPatch returned c0000001"), ("SubmitCommand#3", 1, "DxgkDdiSubmitCommand returned c0000001"),
    ("paging-wants-more", 1, "wants more than an empty paging buffer"), ("paging-fails", 0, "DxgkDdiBuildPagingBuffer returned c0000001"),
    ("paging-behind", 1, "DxgkDdiBuildPagingBuffer advanced pDmaBuffer past its buffer"), ("render-insists#1+", 1, "DxgkDdiRender wants another DMA buffer after"),
    ("render-odd", 1, "DxgkDdiRender returned c0000034"), ("fence-ahead", 1, "CurrentFence = "),
    ("line-boolean", 1, "InVerticalBlank = 2"), ("vidpn-boolean", 0, "IsVidPnSupported = 255"),
    ("vidpn-odd", 0, "DxgkDdiIsSupportedVidPn returned c0000022"), ("interrupt-odd", 0, "DxgkDdiControlInterrupt returned 00000103"),
    ("escape-behind", 1, "DxgkDdiEscape answered pPrivateDriverData, at byte = "),
    ("render-patches", 1, "DxgkDdiRender answered pPatchLocationListOut, at byte = "),
    ("blob-behind", 1, "DxgkDdiQueryAdapterInfo(UMDRIVERPRIVATE) answered pOutputData, at byte = "),
    ("standard-behind", 1, "GetStandardAllocationDriverData answered pAllocationPrivateDriverData, at byte = "),
    ("allocation-private", 1, "DxgkDdiCreateAllocation answered pAllocationInfo[0].pPrivateDriverData, at byte = 64"),
    ("allocation-count", 1, "DxgkDdiCreateAllocation answered NumAllocations = 100; allowed: what it was"),
    ("render-behind", 1, "DxgkDdiRender answered pDmaBuffer, at byte = 0x40000"),
    ("patch-list", 1, "DxgkDdiPatch wrote into pAllocationList[0], at its byte 16"),
    ("patch-private#9", 1, "DxgkDdiPatch answered pDmaBufferPrivateData, at byte = 48"),
    ("submit-private", 1, "DxgkDdiSubmitCommand answered pDmaBufferPrivateData, at byte = 48"),
    ("paging-in-1#1+", 0, "paging buffers are placed in contiguous memory only"),
    ("interrupt-node", 1, "called in DxgkDdiRender, reported DMA_COMPLETED for node 64"),
    ("interrupt-engine", 1, "called in DxgkDdiRender, reported EngineOrdinal 3"),
    ("interrupt-type", 1, "called in DxgkDdiRender, reported the interrupt type 5; of Windows 7 there are 1 to 4"),
    ("interrupt-target", 1, "called in DxgkDdiRender, reported CRTC_VSYNC of target 77"),
    ("interrupt-flags", 0, "Flags.Reserved = 0x7fffffff"),
    ("dpc-made-by-hand", 1, "which is not a DPC that was initialised"),
]


def check(wrong, code, says):
    report = out + "/report.json"
    if os.path.exists(report):
        os.remove(report)
    p = subprocess.run([aerogpu, "validate", "--sim", "--miniport", miniport, "--out", out], text=True, capture_output=True, timeout=120,
                       env=dict(os.environ, AEROGPU_TEST_WRONG=wrong, AEROGPU_TEST_WRONG_COUNT="0000"))
    said = p.stdout + p.stderr
    if os.path.exists(report):
        with open(report) as f:
            r = json.load(f)
        said += "\n".join(r["violations"] + r.get("remarks", []))
        if not says and r["violations"] + r.get("remarks", []):
            return f"blamed: {r['violations'] + r.get('remarks', [])}"
    if p.returncode != code:
        return f"exit code {p.returncode}, expected {code}: {said[-900:]}"
    return None if not says or says in said else f"not said: '{says}': {said[-900:]}"


rows = ROWS + MORE if sys.argv[3:] == ["all"] else [r for r in ROWS + MORE if r[0] in sys.argv[3:]] or ROWS
for i, row in enumerate(rows):
    why = check(*row)
    print(f"{'not ok' if why else 'ok'} {i + 1} - {row[0]}")
    for line in (why or "").split("\n"):
        if line:
            print("# " + line)
    sys.stdout.flush()
print(f"1..{len(rows)}")
