/* SPDX-License-Identifier: MIT */
/* displib.c: the display library, which every miniport for Windows links: DxgkInitialize is no export of dxgkrnl.sys, and where
 * it is a miniport learns from dxgkrnl's own device; so it is with DxgkInitializeDisplayOnlyDriver, of drivers for Windows 8. The kernel in user space has it as any other routine. */
#include "kmd/kmd.h"

#if defined(_WIN32)

KMD_INIT static NTSTATUS ask(PDEVICE_OBJECT device, ULONG code, PVOID *initialize)
{
    IO_STATUS_BLOCK status = {{0}, 0};
    KEVENT done;
    PIRP irp;
    NTSTATUS s;

    KeInitializeEvent(&done, NotificationEvent, FALSE);
    irp = IoBuildDeviceIoControlRequest(code, device, NULL, 0, initialize, sizeof(*initialize), TRUE, &done,
                                        &status);
    if (!irp)
        return STATUS_INSUFFICIENT_RESOURCES;
    s = IoCallDriver(device, irp);
    if (s == STATUS_PENDING) {
        KeWaitForSingleObject(&done, Executive, KernelMode, FALSE, NULL);
        s = status.Status;
    }
    return s;
}

/* Where dxgkrnl keeps the function that `code` is for. */
KMD_INIT static NTSTATUS find(ULONG code, PVOID *found)
{
    UNICODE_STRING service, name;
    PDEVICE_OBJECT device;
    PFILE_OBJECT file;
    NTSTATUS s;

    *found = NULL;
    RtlInitUnicodeString(&service, L"\\Registry\\Machine\\System\\CurrentControlSet\\Services\\DXGKrnl");
    s = ZwLoadDriver(&service);
    if (!NT_SUCCESS(s) && s != STATUS_IMAGE_ALREADY_LOADED)
        return s;
    RtlInitUnicodeString(&name, L"\\Device\\DxgKrnl");
    s = IoGetDeviceObjectPointer(&name, FILE_ALL_ACCESS, &file, &device);
    if (!NT_SUCCESS(s))
        return s;
    s = ask(device, code, found);
    ObDereferenceObject(file);
    return NT_SUCCESS(s) && !*found ? STATUS_NOT_FOUND : s;
}

KMD_INIT NTSTATUS NTAPI DxgkInitialize(PDRIVER_OBJECT driver, PUNICODE_STRING path,
                                       PDRIVER_INITIALIZATION_DATA data)
{
    NTSTATUS(NTAPI * initialize)(PDRIVER_OBJECT, PUNICODE_STRING, PDRIVER_INITIALIZATION_DATA);
    NTSTATUS s = find(IOCTL_VIDEO_DDI_FUNC_REGISTER, (PVOID *)&initialize);

    return NT_SUCCESS(s) ? initialize(driver, path, data) : s;
}

#if WDDM_WIN8
KMD_INIT NTSTATUS NTAPI DxgkInitializeDisplayOnlyDriver(PDRIVER_OBJECT driver, PUNICODE_STRING path,
                                                        PKMDDOD_INITIALIZATION_DATA data)
{
    NTSTATUS(NTAPI * initialize)(PDRIVER_OBJECT, PUNICODE_STRING, PKMDDOD_INITIALIZATION_DATA);
    NTSTATUS s = find(IOCTL_VIDEO_KMDOD_DDI_FUNC_REGISTER, (PVOID *)&initialize);

    return NT_SUCCESS(s) ? initialize(driver, path, data) : s;
}
#endif

#endif
