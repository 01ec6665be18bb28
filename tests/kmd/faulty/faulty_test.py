#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Whatever a miniport does, `aerogpu validate` and `aerogpu serve` say in one sentence which DDI did what, and in which routine of the
kernel; there is a verdict, and an exit code that is not 0. Each row plants one fault in our own miniport (faulty.c).
  faulty_test.py AEROGPU FAULTY_KMD [NAME@DDI...]"""
import concurrent.futures
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

aerogpu, kmd = map(os.path.abspath, sys.argv[1:3])
work = tempfile.mkdtemp(prefix="aerogpu-faulty-")
with open(work + "/settings", "w") as f:
    f.write("[HKLM\\SYSTEM\\CurrentControlSet\\Control\\GraphicsDrivers]\nTdrDdiDelay = 1\n")
TIMEOUT = 240

ended = r"the miniport ended the process that it runs in, with exit code 0, in DxgkDdi%s"
in_driver = r"at faulty_kmd\.so\+0x[0-9a-f]+"

# What is planted, and the words that name it. {} is the DDI.
rows = [
    ("write@Render", rf"an access violation {in_driver}, writing 0x8, in {{}}"),
    ("call@Render", r"a call of 0x12345678000, where no code is, from in front of faulty_kmd\.so\+0x[0-9a-f]+, in {}"),
    ("write@AddDevice", rf"an access violation {in_driver}, writing 0x8, in {{}}"),
    ("cli@StartDevice", rf"a privileged instruction, CLI, {in_driver}, in {{}}"),
    ("loop@QueryChildRelations", r"a loop that has had the processor for 1 s at IRQL 0, in {}"),
    ("write@DriverEntry", r"an access violation .*, writing 0x8, in DriverEntry"),
    ("loop@DriverEntry", r"a loop that has had the processor for 1 s at IRQL 0, in DriverEntry"),
    ("item_null@Render", r"IoFreeWorkItem of \(nil\), which is not allocated, in {}"),
    ("string_own@Render", r"RtlFreeUnicodeString of 0x[0-9a-f]+, which is not allocated, in {}"),
    ("write@SetPowerState", rf"an access violation {in_driver}, writing 0x8, in {{}}"),
    ("write@UpdateActiveVidPnPresentPath", rf"an access violation {in_driver}, writing 0x8, in {{}}"),
    ("write@Unload", rf"an access violation {in_driver}, writing 0x8, in {{}}"),
    # Instructions that no driver may run, or not so.
    ("cli@Render", rf"a privileged instruction, CLI, {in_driver}, in {{}}"),
    ("in@Render", rf"a privileged instruction, IN, {in_driver}, in {{}}"),
    ("rdmsr@Render", rf"a privileged instruction, RDMSR, {in_driver}, in {{}}"),
    ("cr3@Render", rf"a privileged instruction, a read of a control register, {in_driver}, in {{}}"),
    ("int3@Render", r"a breakpoint in front of faulty_kmd\.so\+0x[0-9a-f]+, in {}"),
    ("fast_fail@Render", rf"a fast fail, code 3 \(a list entry\), {in_driver}, in {{}}"),
    ("interrupt@Render", rf"an interrupt that nobody handles, INT 45h, {in_driver}, in {{}}"),
    ("misaligned@Render", rf"a misaligned access to 0x10001 by a vector instruction {in_driver}, in {{}}"),
    ("far@Render", rf"an access violation {in_driver}, on an address that is not canonical, in {{}}"),
    # What is left in the processor.
    ("direction@Render", r"with the direction flag set, in {}"),
    ("alignment@Render", r"with the alignment check flag set, in {}|a misaligned access .* while the alignment check flag is set, in {}"),
    ("nested@Render", r"with the nested task flag set, in {}"),
    ("x87_word@Render", r"{} returned with another control word of the x87, in {}"),
    ("x87_value@Render", r"{} returned and left values in the registers of x87 and MMX, in {}"),
    ("mmx@SubmitCommand", r"{} returned and left values in the registers of x87 and MMX, in {}"),
    ("registers@Render", r"{} changed RDI, XMM9, which every function has to keep, in {}"),
    ("frame@SubmitCommand", r"{} changed RBP, which every function has to keep, in {}"),
    ("stack@Render", r"it returned with another stack pointer than it was called with, in {}"),
    # And in the process.
    ("chdir@Render", r"{} changed the working directory of the process that it runs in, in {}"),
    *([("chroot@Render", r"{} changed the root directory of the process that it runs in, in {}")] if os.geteuid() == 0 else []),  # nobody else may
    ("umask@Render", r"{} changed the mask of new files \(umask\) of the process that it runs in, in {}"),
    ("rlimit@Render", r"{} changed a limit \(RLIMIT_NOFILE\) of the process that it runs in, in {}"),
    ("rlimit_size@CreateDevice", r"{} changed a limit \(RLIMIT_FSIZE\) of the process that it runs in, in {}"),
    ("sigmask@Render", r"{} changed the mask of signals of the process that it runs in, in {}"),
    ("handler@Render", r"{} changed the handler of SIGILL of the process that it runs in, in {}"),
    ("limit_hard@Render", r"a limit \(RLIMIT_NOFILE\) of the process that it runs in"),
    ("handler_child@Render", r"{} changed the handler of SIGCHLD of the process that it runs in, in {}"),
    ("handler_own@Render", r"{} changed the handler of SIGINT of the process that it runs in, in {}"),
    ("environ@Render", r"{} changed the environment of the process that it runs in, in {}"),
    ("dpc_chdir@Render", r"a DPC routine changed the working directory of the process that it runs in"),
    ("timer_umask@CreateContext", r"a DPC routine changed the mask of new files|the mask of new files .*, in .* or one of \d+ calls before it"),
    ("item_signal@CreateContext", r"a work item changed the handler of SIGCHLD|the handler of SIGCHLD .*, in .* or one of \d+ calls before it"),
    ("irql_apc@Render", r"{} returned at IRQL 1, was called at 0, in {}"),
    ("irql_apc@CreateContext", r"{} returned at IRQL 1, was called at 0, in {}"),
    ("item_irql@CreateContext", r"a work item returned at IRQL 1, was called at 0, in a work item"),
    ("thread_irql@CreateContext", r"a system thread returned at IRQL 1, was called at 0, in a system thread"),
    ("setenv@Render", r"{} changed the environment of the process that it runs in, in {}"),
    ("trap@Render", r"the trap flag is set at faulty_kmd\.so\+0x[0-9a-f]+, in {}"),
    # The end of the process, or of its thread.
    ("exit@Render", ended % "Render"),
    ("_exit@Render", ended % "Render"),
    ("exit_group@Render", ended % "Render"),
    ("exit@StopDevice", ended % "StopDevice"),
    ("exit@Unload", ended % "Unload"),
    ("exit@constructor", r"with exit code 0, in a constructor of the miniport"),
    ("write@constructor", r"an access violation .*, writing 0x8, in a constructor of the miniport"),
    ("write@destructor", r"an access violation .*, writing 0x8, in a destructor of the miniport"),
    ("loop@constructor", r"a loop that has had the processor for 1 s at IRQL 0, in a constructor of the miniport"),
    ("exit_thread@Render", r"the thread that was in {} has ended"),
    ("pthread_exit@Render", r"the thread was ended \(pthread_exit\), in {}"),
    ("abort@Render", r"abort\(\) was called by the miniport, or for it: the process ended \(SIGABRT\) in {}"),
    ("kill@Render", r"was ended by SIGKILL, in {}"),
    ("term@Render", r"was ended by SIGTERM, in {}"),
    ("segv@Render", r"SIGSEGV was sent by process \d+, which is this one: .* in {}"),
    ("alarm@Render", r"was ended by SIGALRM, in {}"),
    ("no_handler@Render", r"was ended by SIGSEGV, in {}"),
    ("fork@Render", r"a copy of the process is made \(fork\), in {}"),
    ("clone@Render", r"a copy of the process that was made in {} came back \(fork or clone\), and was ended"),
    ("vfork@Render", r"a copy of the process with the same memory came back \(vfork\), in {}"),
    ("exec@Render", r"the process became another program \(exec\): .* in {}"),
    ("stop@Render", r"the process stopped itself \(SIGSTOP\), in or behind {}"),
    ("unhandled_segv@Render", r"was ended by SIGSEGV, in {}"),
    ("close_one@Render", r"descriptors of the process were closed that are not the miniport's, in or behind {}"),
    ("close_pipe@Render", r"descriptors of the process were closed that are not the miniport's, in or behind {}"),
    ("close_in@Render", r"descriptors of the process were closed that are not the miniport's, in or behind {}"),
    ("write_all@Render", r"a descriptor of the process that is not the miniport's was written into, in or behind DxgkDdi\w+"),
    ("deaf@Render", r"{} does not end, and takes no signal"),
    ("replace@Render", r"descriptors of the process were closed that are not the miniport's, in or behind {}"),
    ("floating@Render", r"{} returned with other control bits of floating point \(MXCSR\), in {}|a floating-point exception .*, in {}"),
    ("irql@Render", r"KeRaiseIrql to 77, the highest is 15, in {}"),
    ("thread_writes@Render", rf"an access violation {in_driver}, writing 0x8, in a thread that is not dxgkrnl's: .* in {{}}"),
    ("thread_calls@Render", r"KeSetEvent was called by a thread that is not the kernel's: .* in {}"),
    ("sleep@Render", r"a wait of 1 s that is none of the kernel's, at IRQL 0, in {}"),
    ("close_all@Render", r"descriptors of the process were closed that are not the miniport's, in or behind {}"),
    ("close_out@Render", r"the miniport closed standard output|descriptors of the process were closed that are not the miniport's"),
    ("unmap@Render", r"(access violation|where no code is).*, in {}"),
    ("jump@Render", r"in {}"),
    # Objects and pool.
    ("close_twice@Render", r"ZwClose of 0x[0-9a-f]+, which is no handle that is open, in {}"),
    ("dereference@Render", r"ObDereferenceObject of a system thread that nobody has a reference to, in {}"),
    ("free_queued@Render", r"ExFreePool of 100 bytes, tag Fult, with a DPC in it that is queued, in {}"),
    ("underrun@Render", r"the miniport wrote 1 bytes in front of 100 bytes of pool, tag Fult, in {}"),
    ("front@Render", r"the miniport wrote 128 bytes in front of 100 bytes of pool, tag Fult, in {}"),
    ("far_front@Render", r"bytes (in front of|behind the end of) \d+ bytes of pool, tag ...., in {}|an access violation .* in {}"),
    ("overrun@Render", r"the miniport wrote behind the end of 100 bytes of pool, at byte 100, tag Fult, in {}"),
    ("freed@Render", r"the miniport wrote at 3 of 100 bytes of pool, tag Fult, after it had freed them in {}, in {}"),
    ("kept@Render", r"the miniport wrote 1 bytes in front of 100 bytes of pool, tag Fult, in {}"),
    ("kept_many@CreateContext", r"wrote behind the end of 100 bytes of pool, at byte 100, tag Fult, in one of the \d+ calls since DxgkDdi\w+, behind which they were whole; found"),
    ("heap@Render", r"abort\(\) was called by the C library, which found memory damaged, its heap, by now or by an earlier call: "),
    ("heap_top@Render", r"(the C library, which found memory damaged, its heap|in the C library's heap, which an earlier call may have damaged)"),
    ("kept@SubmitCommand", r"the miniport wrote 1 bytes in front of 100 bytes of pool, tag Fult, in {}"),
    ("free_nothing@Render", r"ExFreePool of \(nil\), which is not allocated, in {}"),
    ("free_wild@Render", r"ExFreePool of 0x1000, which is not allocated, in {}"),
    ("free_inside@Render", r"ExFreePool of 0x[0-9a-f]+, which is not allocated, in {}"),
    # Routines that are handed nothing, or nonsense.
    ("wait_null@Render", r"KeWaitForSingleObject of \(nil\), which is no object to wait for that was initialised, in {}"),
    ("set_null@Render", r"KeSetEvent of \(nil\), which is not an event that was initialised, in {}"),
    ("copy_null@Render", r", in RtlInitUnicodeString, in {}"),
    ("queue_null@Render", r"KeInsertQueueDpc of \(nil\), which is not a DPC that was initialised, in {}"),
    ("acquire_null@Render", r"ExAcquireFastMutex of \(nil\), which is not a fast or guarded mutex that was initialised, in {}"),
    ("mutex_null@Render", r"KeReleaseMutex of \(nil\), which is not a mutex that was initialised, in {}"),
    ("list_null@Render", r", in ExInterlockedInsertTailList, in {}"),
    ("lookaside_null@Render", r", in ExInitializeNPagedLookasideList, in {}"),
    ("work_null@Render", r", in IoQueueWorkItem, in {}"),
    ("timer_null@Render", r"KeCancelTimer of \(nil\), which is not a timer that was initialised, in {}"),
    ("thread_null@Render", r", in PsCreateSystemThread, in {}"),
    ("unmap_null@Render", r"DxgkCbUnmapMemory of \(nil\), which is not mapped, in {}"),
    ("information_null@Render", r", in DxgkCbGetDeviceInformation, in {}"),
    ("handle_null@Render", r", in DxgkCbGetHandleData, in {}"),
    ("synchronize_null@Render", r", in DxgkCbSynchronizeExecution, in {}"),
    ("mdl_null@Render", r", in IoFreeMdl, in {}"),
    ("mdl_twice@Render", r"IoFreeMdl of 0x[0-9a-f]+, which is freed already, in {}"),
    ("mdl_paged@Render", r"MmBuildMdlForNonPagedPool of paged pool, in {}"),
    ("work_twice@Render", r"IoFreeWorkItem of 0x[0-9a-f]+, which is freed already, in {}"),
    ("unlock_null@Render", r", in MmUnlockPages, in {}"),
    ("map_null@Render", r", in MmMapLockedPagesSpecifyCache, in {}"),
    ("resource_garbage@Render", r"ExReleaseResourceLite of 0x[0-9a-f]+, which is not a resource that was initialised, in {}"),
    ("lookaside_delete@Render", r"ExDeleteNPagedLookasideList of 0x[0-9a-f]+, which is not a lookaside list of nonpaged pool that was initialised, in {}"),
    ("timer_garbage@Render", r"KeCancelTimer of 0x[0-9a-f]+, which is not a timer that was initialised, in {}"),
    ("wait_many@Render", r"KeWaitForMultipleObjects of 100 objects, allowed are 1 to 3, in {}"),
    ("irp_twice@Render", r"IofCallDriver of 0x[0-9a-f]+, which is no request with a stack location left, in {}|, in IofCallDriver, in {}|ExFreePool of .* freed already, in {}"),
    ("work_no_routine@Render", r"a call of 0, where no code is, .*, in a work item"),
    ("thread_no_routine@Render", r"a call of 0, where no code is, .*, in a system thread"),
    ("print_garbage@Render", r", in DbgPrint, in {}"),
    ("register_null@Render", r"READ_REGISTER_ULONG of \(nil\), which is not in a mapped register window, in {}"),
    ("read_far@Render", r", in DxgkCbReadDeviceSpace, in {}"),
    ("event_reset@Render", r"an object that a thread waits for was initialised again, or written over"),
    ("garbage_event@Render", r", in KeSetEvent, in {}"),
    ("garbage_dpc@Render", r"KeInsertQueueDpc of 0x[0-9a-f]+, which is not a DPC that was initialised, in {}"),
    # What no routine initialised, or what is initialised again, deleted or freed while it is in use: objects.h.
    ("wait_handle@Render", r"KeWaitForSingleObject of 0x[0-9a-f]+, which is no object to wait for that was initialised, in {}"),
    ("wait_of_pool@Render", r"KeSetEvent of 0x[0-9a-f]+, which is not an event that was initialised, in {}"),
    ("timer_again@Render", r"KeInitializeTimer of memory with a timer in it that is set, in {}"),
    ("timer_raw@Render", r"KeSetTimer of 0x[0-9a-f]+, which is not a timer that was initialised, in {}"),
    ("timer_is_event@Render", r"KeCancelTimer of 0x[0-9a-f]+, which was initialised as an event, not as a timer, in {}"),
    ("timer_period@Render", r"KeSetTimerEx with a period of -5 ms, in {}"),
    ("dpc_again@Render", r"KeInitializeDpc of memory with a DPC in it that is queued, in {}"),
    ("dpc_loop@Render", r"a loop of DPCs, 10000 in a row, in a DPC routine"),
    ("dpc_loop@StopDevice", r"a loop of DPCs, 10000 in a row, in a DPC routine"),
    ("timer_loop@Render", r"a loop of DPCs, 10000 in a row, in a DPC routine"),
    ("resource_left@StopDevice", r"the miniport did not delete a resource that it initialised"),
    ("resource_left@Render", r"ExInitializeResourceLite of a resource that was not deleted, in {}"),
    ("resource_freed@Render", r"ExFreePool of \d+ bytes, tag Fult, with a resource in it that was not deleted, in {}"),
    ("lookaside_left@StopDevice", r"the miniport did not delete a lookaside list of nonpaged pool that it initialised"),
    ("lookaside_other@Render", r"ExDeletePagedLookasideList of 0x[0-9a-f]+, which was initialised as a lookaside list of nonpaged pool, not as "),
    ("resource_bare@Render", r"ExAcquireResourceExclusiveLite outside of every critical region, and below APC_LEVEL, in {}"),
    ("mutex_bare@Render", r"ExAcquireFastMutexUnsafe outside of every critical region, and below APC_LEVEL, in {}"),
    ("no_wait@Render", r"{} returned without the wait that KeSetEvent was told of \(Wait = TRUE\), in {}"),
    ("etw_twice@Render", r"EtwUnregister of 0x1, which is not registered, or no more, in {}"),
    ("bugcheck_left@StopDevice", r"the miniport left a bug check callback registered"),
    ("bugcheck_called@Render", r"ExAllocatePoolWithTag called at IRQL 15, allowed up to 2, in a bug check callback"),
    # What goes on without end although no single call does.
    ("thread_chain@CreateDevice", r"a loop of system threads, 10000 within a second, in a system thread"),
    ("item_again@CreateDevice", r"a loop of work items, 100000 within a second, in a work item"),
    ("leak_many@StopDevice", r"the miniport leaked 4936 more blocks of pool, 493600 bytes"),
    ("item_anew@Render", r"a work item that was queued was initialised again, or written over"),
    ("item_freed@Render", r"ExFreePool of 100 bytes, tag Fult, with a work item in it that is queued, in {}"),
    ("wait_nothing@CreateDevice", r"a loop of waits that take no time, 1000000 in a row, in a system thread"),
    # References.
    ("reference_over@Render", r"ObDereferenceObject of 0x[0-9a-f]+, to which the miniport has no reference, in {}"),
    ("reference_wild@Render", r"ObDereferenceObject of 0x[0-9a-f]+, to which the miniport has no reference, in {}"),
    ("token_over@Render", r"PsDereferencePrimaryToken of 0x[0-9a-f]+, to which the miniport has no reference, in {}"),
    ("token_left@StopDevice", r"the miniport leaked 1 references to the token of a process"),
    ("object_left@StopDevice", r"the miniport leaked 1 references to an object"),
    # Pool and memory.
    ("paged_touched@Render", rf"an access violation {in_driver}, writing 0x[0-9a-f]+, paged pool at DISPATCH_LEVEL and above, in {{}}"),
    ("paged_event@Render", r", paged pool at DISPATCH_LEVEL and above, in KeSetEvent, in {}"),
    ("mdl_irql@Render", r"MmProbeAndLockPages of paged pool called at IRQL 2, allowed up to 1, in {}"),
    ("mdl_freed@Render", r"ExFreePool of 4096 bytes, tag Fult, with pages in it that an MDL has locked, in {}"),
    ("map_other@Render", r"DxgkCbUnmapMemory of 0x[0-9a-f]+, which MmMapIoSpace mapped, in {}"),
    ("pool_type@Render", r"ExAllocatePoolWithTag of pool type 2, which there is not, in {}"),
    ("probe_pool@Render", r"ProbeForWrite: 0x[0-9a-f]+ is pool, and no address of a process: Windows raises an exception, in {}"),
    ("probe_data@Render", r"ProbeForWrite: 0x[0-9a-f]+ is the miniport's own data, and no address of a process: Windows raises an exception, in {}"),
    ("bugcheck@DriverEntry", r"the miniport called KeBugCheckEx\(0xe2, 0, 0, 0, 0\), in DriverEntry"),
    ("refuses@DriverEntry", r"the miniport leaked 64 bytes of pool, tag Fult"),
    ("entry_irql@DriverEntry", r"DxgkDdiAddDevice returned c00000bb; it broke a rule: DxgkInitialize called at IRQL 2, allowed up to 0, in DriverEntry"),
    ("pool_tag@Render", r"ExAllocatePoolWithTag with tag 0, in {}"),
    ("pool_paged@Render", r"ExFreePool of paged pool called at IRQL 2, allowed up to 1, in {}"),
    ("print_wide@Render", r"DbgPrint of wide text called at IRQL 2, allowed up to 0, in {}"),
    ("contiguous_over@Render", r"the miniport, or its device, wrote behind the end of 8192 bytes of contiguous memory, at byte 8192, in {}"),
    ("contiguous_front@Render", r"the miniport, or its device, wrote 4 bytes in front of 8192 bytes of contiguous memory, in {}"),
    ("contiguous_far@Render", r"the miniport, or its device, wrote behind the end of 8192 bytes of contiguous memory, at byte 12192, in {}"),
    ("contiguous_far_front@Render", r"the miniport, or its device, wrote 4000 bytes in front of 8192 bytes of contiguous memory, in {}"),
    ("contiguous_freed@Render", r"the miniport, or its device, wrote at 40000 of 65536 bytes of contiguous memory, after they were freed in {}, in {}"),
    ("contiguous_twice@Render", r"MmFreeContiguousMemory of 0x[0-9a-f]+, which is freed already, in {}"),
    ("contiguous_timer@Render", r"MmFreeContiguousMemory of 8192 bytes with a timer in it that is set, in {}"),
    ("contiguous_cache@Render", r"MmFreeContiguousMemorySpecifyCache with cache type 1, but it was allocated with 0, in {}"),
    ("contiguous_other@Render", r"MmFreeContiguousMemorySpecifyCache of 0x[0-9a-f]+, which MmAllocateContiguousMemory allocated, in {}"),
    ("uncached_other@Render", r"MmFreeContiguousMemory of 0x[0-9a-f]+, which MmAllocateNonCachedMemory allocated, in {}"),
    ("contiguous_none@Render", r"MmFreeContiguousMemorySpecifyCache of 0 bytes, but 8192 were allocated, in {}"),
    ("common_twice@Render", r"FreeCommonBuffer of 0x[0-9a-f]+, which is freed already, in {}"),
    ("common_cache@Render", r"FreeCommonBuffer with cache type 0, but it was allocated with 1, in {}"),
    ("common_other@Render", r"MmFreeContiguousMemory of 0x[0-9a-f]+, which AllocateCommonBuffer allocated, in {}"),
    ("common_address@Render", r"FreeCommonBuffer of 0x[0-9a-f]+ with the logical address 0x[0-9a-f]+, which is not its own, in {}"),
    ("common_size@Render", r"FreeCommonBuffer of 4096 bytes, but 8192 were allocated, in {}"),
    ("contiguous_size@Render", r"MmFreeContiguousMemorySpecifyCache of 8192 bytes, but 4096 were allocated, in {}"),
    ("uncached_size@Render", r"MmFreeNonCachedMemory of 4096 bytes, but 8192 were allocated, in {}"),
    ("set_key@Render", r"ZwQueryValueKey of 0x1000, which is no key that is open, in {}"),
    ("timer_stack@Render", r"{} returned, and its stack had a timer in it that is set, in {}"),
    # What a DDI is told, and may only read or move on in; the list has the entries that the size says.
    ("list_over@Render", r"{} answered pAllocationList, at byte = \d+; allowed: a byte inside of the size that it was given"),
    ("list_over@Present", r"{} answered pAllocationList, at byte = 72; allowed: a byte inside of the size"),
    ("member_pointer@Escape", r"{} answered pPrivateDriverData = 0; allowed: what it was given, which it has to read only: 0x[0-9a-f]+"),
    ("member_size@Escape", r"{} answered PrivateDriverDataSize = 0x100000; allowed: what it was given, which it has to read only: 0x[0-9a-f]+"),
    ("member_pointer@GetStandardAllocationDriverData", r"{} answered pAllocationPrivateDriverData = 0; allowed: what it was given"),
    ("member_display@EnumVidPnCofuncModality", r"{} answered EnumPivotType = 77; allowed: what it was given, which it has to read only"),
    ("member_display@CommitVidPn", r"{} answered AffectedVidPnSourceId = 77; allowed: what it was given, which it has to read only"),
    ("member_display@SetVidPnSourceAddress", r"{} answered PrimaryAddress = 77; allowed: what it was given, which it has to read only"),
    ("member_display@SetPointerShape", r"{} answered Pitch = 77; allowed: what it was given, which it has to read only"),
    ("member_display@SetPointerPosition", r"{} answered Flags = 77; allowed: what it was given, which it has to read only"),
    ("member_display@RecommendMonitorModes", r"{} answered VideoPresentTargetId = 77; allowed: what it was given, which it has to read only"),
    ("member_display@RecommendFunctionalVidPn", r"{} answered NumberOfVidPnTargets = 77; allowed: what it was given, which it has to read only"),
    ("member_display@RecommendVidPnTopology", r"{} answered VidPnSourceId = 77; allowed: what it was given, which it has to read only"),
    ("member_display@QueryVidPnHWCapability", r"{} answered TargetId = 77; allowed: what it was given, which it has to read only"),
    ("member_display@DispatchIoRequest", r"{} answered OutputBufferLength = 77; allowed: what it was given, which it has to read only"),
    ("information@DispatchIoRequest", r"{} answered StatusBlock->Information = 0x100000; allowed: the 72 bytes of its buffer at most"),
    ("member_display@IsSupportedVidPn", r"{} answered hDesiredVidPn = 0; allowed: what it was given, which it has to read only"),
    ("member_display@SetVidPnSourceVisibility", r"{} answered Visible = \d; allowed: what it was given, which it has to read only"),
    ("list_item@CreateAllocation", r"{} answered pAllocationInfo\[0\].PrivateDriverDataSize = 7; allowed: what it was given"),
    ("list_item@OpenAllocation", r"{} answered pOpenAllocation\[0\].hAllocation = 85; allowed: what it was given"),
    ("constant@SubmitCommand", r"{} answered its argument, of which it has to read all only, at byte \d+ = 77; allowed: what it was given"),
    ("constant@DestroyAllocation", r"{} answered its argument, of which it has to read all only, at byte \d+ = \d+; allowed: what it was given"),
    ("fence_wrong@QueryCurrentFence", r"{} answered CurrentFence = 0xffffffff; allowed: a fence that was submitted"),
    # Structures end where nothing is; in front of them are bytes that are nobody's, and when the DDI has returned they all are.
    *[(f"{f}@{ddi}", rf"an access violation {in_driver}, {how} 0x[0-9a-f]+, byte \d+ of an argument of \d+ bytes, in {{}}")
      for f, how, ddis in (("over", "writing", "QueryChildStatus CreateDevice StartDevice AddDevice SubmitCommand QueryAdapterInfo BuildPagingBuffer CommitVidPn DispatchIoRequest CreateContext"),
                           ("over_40", "writing", "Render Escape Patch"), ("over_far", "writing", "Present"), ("read_over", "reading", "Render"),
                           ("sources_over", "writing", "StartDevice"), ("interface_over", "writing", "StartDevice"), ("descriptor_over", "writing", "QueryDeviceDescriptor"), ("children_over", "writing", "QueryChildRelations"), ("segments_over", "writing", "QueryAdapterInfo"),
                           ("edid_over", "writing", "QueryDeviceDescriptor")) for ddi in ddis.split()],
    ("in_front@Render", r"{} wrote 8 bytes in front of its argument"),
    ("in_front@CommitVidPn", r"{} wrote 8 bytes in front of its argument"),
    ("after@Render", r"the miniport wrote into an argument of a DDI that had returned"),
    ("interface@StartDevice", r"{} answered DxgkInterface, of which it has to read all only, at byte \d+ = (0x[0-9a-f]+|\d+); allowed: what it was given: 0x[0-9a-f]+"),
    ("constant@StartDevice", r"{} answered DxgkStartInfo, of which it has to read all only, at byte 0 = \d+; allowed: what it was given: 0"),
    # Lists that are CONST.
    *[(f"list@{ddi}", rf"{{}} answered {member}, of which it has to read all only, at byte 0 = (0x[0-9a-f]+|\d+); allowed: what it was given: 0x[0-9a-f]+")
      for ddi, member in (("DestroyAllocation", "pAllocationList"), ("CloseAllocation", "pOpenHandleList"), ("SetPointerShape", "pPixels"),
                          ("RecommendFunctionalVidPn", "pVidPnTargetPrioritizationVector"))],
    ("list@QueryAdapterInfo", r"{}\(\w+\) answered pInputData, of which it has to read all only, at byte 0 = 1; allowed: what it was given: 0x0"),
    ("list_behind@CloseAllocation", r"{} answered pOpenHandleList, at byte = \d+; allowed: a byte inside of the size that it was given"),
    ("output_over@QueryAdapterInfo", r"{}\(\w+\) answered pOutputData, at byte = \d+; allowed: a byte inside of the size that it was given"),
    ("behind_argument@CollectDbgInfo", r"{} answered pExtension, at byte = \d+; allowed: a byte inside of the size that it was given"),
    ("end_back@Render", r"{} moved pDmaBuffer back in front of its buffer, by \d+ bytes"),
    ("end_null@BuildPagingBuffer", r"{} set pDmaBuffer to NULL, which has to be where it ended in \d+ bytes"),
    # What is left by an AddDevice or StartDevice that fails: nobody calls what would give it back.
    *[(f"{f}@{ddi}", rf"{{}} returned c00000bb(.|\n)*{words}") for ddi in ("AddDevice", "StartDevice") for f, words in (
        ("fails_pool", "the miniport leaked 100 bytes of pool, tag Fult"), ("fails_timer", "the miniport left 1 timers set"),
        ("fails_contiguous", "the miniport leaked 8192 bytes of contiguous memory"), ("fails_mapping", "the miniport leaked a mapping of 4096 bytes at 0x1000"),
        ("fails_thread", "the miniport left 1 system threads that run"), ("fails_key", "the miniport left the registry key [^ ]+ open"))],
    ("fails_after@StartDevice", r"{} returned c00000bb(.|\n)*the miniport leaked \d+ bytes of pool"),
    # Spin locks.
    ("lock_again@Render", r"KeInitializeSpinLock of a spin lock that is held, in {}"),
    ("lock_raw@Render", r"KeAcquireSpinLock of 0x[0-9a-f]+, which is no spin lock that was initialised: it holds 0x1234, in {}"),
    ("lock_freed@Render", r"ExFreePool of 100 bytes, tag Fult, with a spin lock in it that is held, in {}"),
    ("lock_irql@Render", r"KeReleaseSpinLock to IRQL 2, but it was acquired at IRQL 0, in {}"),
    ("lock_order@Render", r"KeReleaseSpinLock to IRQL 0 while another spin lock is held, in {}"),
    ("lock_kept@Render", r"{} returned and holds a spin lock, in {}"),
    ("lock_mixed@Render", r"KeReleaseSpinLock of a spin lock that KeAcquireInStackQueuedSpinLock acquired, in {}"),
    ("lock_synchronized@Render", r"the routine of DxgkCbSynchronizeExecution returned and holds a spin lock, in {}"),
    ("irql_synchronized@Render", r"the routine of DxgkCbSynchronizeExecution returned at IRQL 0, was called at 5, in {}"),
    ("message@Render", r"DxgkCbSynchronizeExecution for message 55, the adapter has \d+, in {}"),
    # The VidPN that a DDI is given: networks.h.
    ("path_removed@EnumVidPnCofuncModality", r"pfnRemovePath for a VidPN whose topology may not be changed here, in {}"),
    ("path_written@EnumVidPnCofuncModality", r"{} wrote to a path that it was lent as CONST"),
    ("path_turned@EnumVidPnCofuncModality", r"{} wrote to a path that it was lent as CONST"),
    ("path_released@IsSupportedVidPn", r"pfnAcquireNextPathInfo: 0x[0-9a-f]+ is no path that the miniport has: it was released"),
    ("mode_released@CommitVidPn", r"pfnAcquireNextModeInfo: 0x[0-9a-f]+ is no source mode that the miniport has: it was released"),
    ("path_removed@IsSupportedVidPn", r"pfnRemovePath for a VidPN whose topology may not be changed here, in {}"),
    ("path_written@IsSupportedVidPn", r"{} wrote to a path that it was lent as CONST"),
    ("path_removed@CommitVidPn", r"pfnRemovePath for a VidPN whose topology may not be changed here, in {}"),
    ("path_written@CommitVidPn", r"{} wrote to a path that it was lent as CONST"),
    ("modes_assigned@IsSupportedVidPn", r"pfnAssignSourceModeSet for a VidPN whose modes and paths may not be changed here, in {}"),
    ("modes_assigned@CommitVidPn", r"pfnAssignSourceModeSet for a VidPN whose modes and paths may not be changed here, in {}"),
    ("path_updated@IsSupportedVidPn", r"pfnUpdatePathSupportInfo for a VidPN whose modes and paths may not be changed here, in {}"),
    ("mode_pinned@EnumVidPnCofuncModality", r"{} with pivot \d changed the source modes, of which one is pinned"),
    ("mode_pinned@CommitVidPn", r"pfnPinMode for a VidPN whose modes and paths may not be changed here, in {}"),
    ("mode_written@EnumVidPnCofuncModality", r"{} wrote to a source mode that it was lent as CONST"),
    ("mode_written@CommitVidPn", r"{} wrote to a source mode that it was lent as CONST"),
    ("descriptor_kept@CommitVidPn", r"{} returned and has not released a monitor's descriptor that it acquired or created"),
    ("descriptor_written@CommitVidPn", r"{} wrote to a monitor's descriptor or frequency range that it was lent as CONST"),
    ("range_kept@CommitVidPn", r"{} returned and has not released a monitor's frequency range that it acquired or created"),
    ("range_other@CommitVidPn", r"pfnReleaseFrequencyRangeInfo: 0x[0-9a-f]+ is a monitor's descriptor, and no monitor's frequency range, in {}"),
    ("range_twice@CommitVidPn", r"pfnReleaseFrequencyRangeInfo: 0x[0-9a-f]+ is no monitor's frequency range that the miniport has"),
    ("topology_null@EnumVidPnCofuncModality", r"an access violation .*, in pfnGetTopology, in {}"),
    ("paths_null@EnumVidPnCofuncModality", r"an access violation .*, in pfnGetNumPaths, in {}"),
    ("modes_null@CommitVidPn", r"an access violation .*, in pfnAcquireSourceModeSet, in {}"),
]
# The same for a service that a program could be connected to.
serve = [
    ("exit@StartDevice", ended % "StartDevice"),
    ("abort@AddDevice", r"abort\(\) was called by the miniport.* in {}"),
    ("exit@constructor", r"with exit code 0, in a constructor of the miniport"),
    ("close_twice@StartDevice", r"ZwClose of 0x[0-9a-f]+, which is no handle that is open, in {}"),
    ("dpc_loop@CreateDevice", r"a loop of DPCs, 10000 in a row, in a DPC routine"),
    ("write@CreateDevice", r"an access violation .*, writing 0x8, in {}"),
]


# It dies, and who watches it is interrupted, again and again.
ends = [(f"{how}@StopDevice {n}", r"aerogpu serve: .+, in {}|aerogpu serve: .+ in {}|ended by SIGINT, which it was sent") for how in ("abort", "exit", "kill") for n in range(2)]
# What waits for what never comes: nothing ends it (TdrLevel 0), and the run ends all the same.
endless = [("forget@SubmitCommand", r"\w+ has not ended after 600 s of virtual time: the process ended \(exit code 1\) ")]
with open(work + "/endless", "w") as f:
    f.write("[HKLM\\SYSTEM\\CurrentControlSet\\Control\\GraphicsDrivers]\nTdrLevel = 0\n")


# What is right, however odd: its verdict is PASS.
right = ["paged_well@Render", "contiguous_well@Render", "put_back@Render", "fresh@DriverEntry", "apcs@Render", "physical@Render", "pool_flags@Render"]


def run(command, fault):
    try:
        r = subprocess.run(command, env=dict(os.environ, FAULT=fault, AEROGPU_LOG="none"), capture_output=True, text=True, timeout=TIMEOUT,
                           errors="replace")
    except subprocess.TimeoutExpired:
        return f"no end within {TIMEOUT} s", None, ""
    return "", r.returncode, r.stdout + r.stderr


def judge(words, fault, wrong, code, output, places, codes=(1,)):
    words = words.replace("{}", "DxgkDdi" + fault.split("@")[1])
    if not wrong and code not in codes:
        wrong = f"exit code {code}"
    for place, text in places:
        if not wrong and not re.search(words, text):
            wrong = f"{place} does not say: {words}"
    return wrong, output


def validate(row, settings="settings"):
    fault, words = row
    out = f"{work}/{fault}"
    wrong, code, output = run([aerogpu, "validate", "--sim", "--settings", f"{work}/{settings}", "--out", out, "--miniport", kmd], fault)
    places = [("what was printed", output)]
    if not wrong and code == 1 and not fault.startswith("close_out"):  # its own process has said the rest
        try:
            with open(out + "/report.json") as f:
                report = json.load(f)
            if report["status"] != "FAIL":
                wrong = "report.json says " + report["status"]
            places.append(("report.json", json.dumps(report)))
            if words == ended and "Render" not in fault and report["counts"]["pass"] < 10:
                wrong = f"the report of the process that ended has {report['counts']} of tests"
        except (OSError, ValueError, KeyError) as e:
            wrong = f"report.json: {e}"
    return judge(words, fault, wrong, code, output, places)


def hangs(row):
    return validate(row, "endless")


def serves(row):
    fault, words = row
    wrong, code, output = run(["timeout", "--preserve-status", "--signal", "INT", "20", aerogpu, "serve", "--ram", "64", "--socket",
                               f"{work}/{fault}.socket", "--miniport", kmd], fault)
    return judge(words, fault, wrong, code, output, [("what was printed", output)], (1, 3))  # 3: there was nothing to serve


def interrupted(row):
    """The driver ends the process while signals come: there is a sentence all the same, about one or the other."""
    fault, words = row
    p = subprocess.Popen([aerogpu, "serve", "--ram", "64", "--socket", f"{work}/{fault}.socket", "--miniport", kmd],
                         env=dict(os.environ, FAULT=fault.split(" ")[0], AEROGPU_LOG="none"), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    ready = p.stdout.readline()
    while p.poll() is None:
        p.send_signal(signal.SIGINT)
        time.sleep(0.001)
    out, err = p.communicate()
    wrong = "" if ready.startswith("ready") else f"not ready: {ready}"
    return judge(words, fault.split(" ")[0], wrong, 1 if p.returncode == -signal.SIGINT else p.returncode, out + err, [("what was printed", err)])


def passes(row):
    fault, out = row[0], f"{work}/{row[0]}"
    wrong, code, output = run([aerogpu, "validate", "--sim", "--out", out, "--miniport", kmd], fault)
    return wrong or (f"exit code {code}" if code else ""), output


jobs = [("validate", validate, r) for r in rows] + [("right", passes, (r, "")) for r in right] + [("serve", serves, r) for r in serve] + \
    [("endless", hangs, r) for r in endless] + [("interrupted", interrupted, r) for r in ends]
jobs = [j for j in jobs if j[2][0] in sys.argv[3:]] or jobs
print(f"1..{len(jobs)}")
failed = 0
with concurrent.futures.ThreadPoolExecutor(4) as pool:
    for n, ((name, _, row), (wrong, output)) in enumerate(zip(jobs, pool.map(lambda j: j[1](j[2]), jobs)), 1):
        failed += bool(wrong)
        print(f"{'not ' if wrong else ''}ok {n} - {name}: {row[0]}", flush=True)
        if wrong:
            print(f"# {wrong}")
            print("".join(f"#   {line}\n" for line in output.splitlines()[-12:]), end="")
shutil.rmtree(work)
sys.exit(failed > 0)
