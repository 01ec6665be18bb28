/* SPDX-License-Identifier: MIT */
/* displib.c: the display library, which every miniport for Windows links: DxgkInitialize is no export of dxgkrnl.sys, and where
 * it is a miniport learns from dxgkrnl's own device. The kernel in user space has it as any other routine. */
#include "kmd/kmd.h"

#if defined(_WIN32)

KMD_INIT static NTSTATUS find_initialize(PDEVICE_OBJECT device, PVOID *initialize)
{
    IO_STATUS_BLOCK status = {{0}, 0};
    KEVENT done;
    PIRP irp;
    NTSTATUS s;

    KeInitializeEvent(&done, NotificationEvent, FALSE);
    irp = IoBuildDeviceIoControlRequest(IOCTL_VIDEO_DDI_FUNC_REGISTER, device, NULL, 0, initialize,
                                        sizeof(*initialize), TRUE, &done, &status);
    if (!irp)
        return STATUS_INSUFFICIENT_RESOURCES;
    s = IoCallDriver(device, irp);
    if (s == STATUS_PENDING) {
        KeWaitForSingleObject(&done, Executive, KernelMode, FALSE, NULL);
        s = status.Status;
    }
    return s;
}

KMD_INIT NTSTATUS NTAPI DxgkInitialize(PDRIVER_OBJECT driver, PUNICODE_STRING path,
                                       PDRIVER_INITIALIZATION_DATA data)
{
    UNICODE_STRING service, name;
    NTSTATUS(NTAPI * initialize)(PDRIVER_OBJECT, PUNICODE_STRING, PDRIVER_INITIALIZATION_DATA);
    PDEVICE_OBJECT device;
    PFILE_OBJECT file;
    PVOID found = NULL;
    NTSTATUS s;

    RtlInitUnicodeString(&service, L"\\Registry\\Machine\\System\\CurrentControlSet\\Services\\DXGKrnl");
    s = ZwLoadDriver(&service);
    if (!NT_SUCCESS(s) && s != STATUS_IMAGE_ALREADY_LOADED)
        return s;
    RtlInitUnicodeString(&name, L"\\Device\\DxgKrnl");
    s = IoGetDeviceObjectPointer(&name, FILE_ALL_ACCESS, &file, &device);
    if (!NT_SUCCESS(s))
        return s;
    s = find_initialize(device, &found);
    ObDereferenceObject(file);
    if (!NT_SUCCESS(s))
        return s;
    if (!found)
        return STATUS_NOT_FOUND;
    *(PVOID *)&initialize = found;
    return initialize(driver, path, data);
}

#endif
