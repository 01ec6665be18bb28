/* SPDX-License-Identifier: MIT */
/* objects.c: objects that a miniport has references to, and on whose behalf it was called. */
#include "dxgkrnl/adapter.h"
#include "dxgkrnl/ntos/routines.h"
#include "wddm/ntstatus.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/random.h>

KPROCESSOR_MODE NTAPI ExGetPreviousMode(VOID)
{
    ENTER(ExGetPreviousMode);

    return dxgk_kernel_caller(k).process ? UserMode : KernelMode;
}

BOOLEAN NTAPI SeSinglePrivilegeCheck(LUID PrivilegeValue, KPROCESSOR_MODE PreviousMode)
{
    struct dxgk_kernel_caller c = dxgk_kernel_caller(SELF());
    ENTER(SeSinglePrivilegeCheck);

    return PreviousMode == KernelMode || (c.admin && PrivilegeValue.LowPart == SE_DEBUG_PRIVILEGE);
}

/* Types are told apart by their addresses. */
static char types[7];
POBJECT_TYPE wddm_IoFileObjectType = (POBJECT_TYPE)&types[0], wddm_PsThreadType = (POBJECT_TYPE)&types[1],
             wddm_PsProcessType = (POBJECT_TYPE)&types[2], wddm_ExEventObjectType = (POBJECT_TYPE)&types[3],
             wddm_MmSectionObjectType = (POBJECT_TYPE)&types[4],
             wddm_ExSemaphoreObjectType = (POBJECT_TYPE)&types[5],
             wddm_SeTokenObjectType = (POBJECT_TYPE)&types[6];

/* ---- references ---------------------------------------------------------- */

static struct reference **reference_to(struct dxgk *d, const void *object)
{
    struct reference **p = &d->ntos.references;

    while (*p && (*p)->object != object)
        p = &(*p)->next;
    return p;
}

unsigned dxgk_ntos_refer(struct dxgk *d, const void *object, const char *what)
{
    struct reference *r = *reference_to(d, object);

    if (!r) {
        r = calloc(1, sizeof(*r));
        if (!r)
            return 0;
        *r = (struct reference){.next = d->ntos.references, .object = object ? object : r, .what = what};
        d->ntos.references = r;
    }
    return ++r->n;
}

unsigned dxgk_ntos_give_back(struct dxgk *d, const char *routine, const void *object)
{
    struct reference **p = reference_to(d, object), *r = *p;

    if (!r) {
        if (!d->ntos.forgot)
            dxgk_kernel_violation(d->kernel, "%s of %p, to which the miniport has no reference", routine,
                                  object);
        return 0;
    }
    if (--r->n)
        return r->n;
    *p = r->next;
    free(r);
    return 0;
}

unsigned dxgk_ntos_check_references(struct dxgk *d)
{
    unsigned n = 0;

    for (const struct reference *r = d->ntos.references; r; r = r->next, n++)
        dxgk_kernel_violation(d->kernel, "the miniport leaked %u references to %s", r->n, r->what);
    return n;
}

void dxgk_ntos_forget_references(struct dxgk *d)
{
    while (d->ntos.references) {
        struct reference *r = d->ntos.references;
        d->ntos.references = r->next;
        free(r);
    }
}

/* The handles that processes have in common here are those of shared resources; they stand for section objects. */
static PVOID shared(HANDLE handle)
{
    uintptr_t h = (uintptr_t)handle;

    return h <= UINT32_MAX ? dxgk_share_get(OWNER(), SHARE_RESOURCE, (D3DKMT_HANDLE)h, NULL) : NULL;
}

NTSTATUS NTAPI ZwQuerySection(HANDLE SectionHandle, SECTION_INFORMATION_CLASS SectionInformationClass,
                              PVOID SectionInformation, SIZE_T Length, PSIZE_T ResultLength)
{
    ENTER(ZwQuerySection);

    if (SectionInformationClass != SectionBasicInformation || Length != sizeof(SECTION_BASIC_INFORMATION))
        return STATUS_INFO_LENGTH_MISMATCH;
    if (!shared(SectionHandle))
        return STATUS_INVALID_HANDLE;
    memset(SectionInformation, 0, Length);
    if (ResultLength)
        *ResultLength = Length;
    return STATUS_SUCCESS;
}

NTSTATUS NTAPI ObReferenceObjectByHandle(HANDLE Handle, ACCESS_MASK DesiredAccess, POBJECT_TYPE ObjectType,
                                         KPROCESSOR_MODE AccessMode, PVOID *Object,
                                         POBJECT_HANDLE_INFORMATION HandleInformation)
{
    POBJECT_TYPE type = wddm_PsThreadType;
    ENTER(ObReferenceObjectByHandle);

    UNREFERENCED_PARAMETER(DesiredAccess);
    UNREFERENCED_PARAMETER(AccessMode);
    UNREFERENCED_PARAMETER(HandleInformation);
    *Object = dxgk_ntos_thread_reference(OWNER(), Handle);
    if (!*Object) {
        *Object = shared(Handle);
        type = wddm_MmSectionObjectType;
        if (*Object && !dxgk_ntos_refer(OWNER(), *Object, "a section")) {
            *Object = NULL;
            return STATUS_INSUFFICIENT_RESOURCES;
        }
    }
    if (!*Object)
        return STATUS_INVALID_HANDLE;
    if (ObjectType && ObjectType != type) {
        ObfDereferenceObject(*Object);
        *Object = NULL;
        return STATUS_OBJECT_TYPE_MISMATCH;
    }
    return STATUS_SUCCESS;
}

VOID NTAPI RtlAssert(PVOID FailedAssertion, PVOID FileName, ULONG LineNumber, PSTR Message)
{
    UNREFERENCED_PARAMETER(Message);
    dxgk_kernel_violation(SELF(), "%s:%u: broken invariant of the miniport: %s", (const char *)FileName,
                          LineNumber, (const char *)FailedAssertion);
}

LONG_PTR NTAPI ObfDereferenceObject(PVOID Object)
{
    struct dxgk *d = OWNER();
    ENTER(ObfDereferenceObject);

    (void)k;
    if (dxgk_ntos_thread_release(d, Object))
        return 1;
    return dxgk_ntos_give_back(d, "ObDereferenceObject", Object);
}

LONG_PTR NTAPI ObfDereferenceObjectWithTag(PVOID Object, ULONG Tag)
{
    UNREFERENCED_PARAMETER(Tag);
    return ObfDereferenceObject(Object);
}

LONG_PTR NTAPI ObfReferenceObject(PVOID Object)
{
    struct dxgk *d = OWNER();
    unsigned n;
    ENTER(ObfReferenceObject);

    (void)k;
    n = dxgk_ntos_thread_add_reference(d, Object);
    n = n ? n : dxgk_ntos_refer(d, Object, "an object");
    d->ntos.forgot |= !n; /* nobody is blamed for what is not known */
    return n;
}

NTSTATUS NTAPI ZwCreateFile(PHANDLE FileHandle, ACCESS_MASK DesiredAccess,
                            POBJECT_ATTRIBUTES ObjectAttributes, PIO_STATUS_BLOCK IoStatusBlock,
                            PLARGE_INTEGER AllocationSize, ULONG FileAttributes, ULONG ShareAccess,
                            ULONG CreateDisposition, ULONG CreateOptions, PVOID EaBuffer, ULONG EaLength)
{
    ENTER(ZwCreateFile);
    UNREFERENCED_PARAMETER(DesiredAccess);
    UNREFERENCED_PARAMETER(ObjectAttributes);
    UNREFERENCED_PARAMETER(AllocationSize);
    UNREFERENCED_PARAMETER(FileAttributes);
    UNREFERENCED_PARAMETER(ShareAccess);
    UNREFERENCED_PARAMETER(CreateDisposition);
    UNREFERENCED_PARAMETER(CreateOptions);
    UNREFERENCED_PARAMETER(EaBuffer);
    UNREFERENCED_PARAMETER(EaLength);
    *FileHandle = NULL;
    *IoStatusBlock = (IO_STATUS_BLOCK){.Status = STATUS_OBJECT_NAME_NOT_FOUND};
    return STATUS_OBJECT_NAME_NOT_FOUND;
}

NTSTATUS NTAPI ZwOpenFile(PHANDLE FileHandle, ACCESS_MASK DesiredAccess, POBJECT_ATTRIBUTES ObjectAttributes,
                          PIO_STATUS_BLOCK IoStatusBlock, ULONG ShareAccess, ULONG OpenOptions)
{
    return ZwCreateFile(FileHandle, DesiredAccess, ObjectAttributes, IoStatusBlock, NULL, 0, ShareAccess,
                        FILE_OPEN, OpenOptions, NULL, 0);
}

/* ---- drivers and requests to them ---------------------------------------- */

/* With the one driver that it goes to. */
static PIRP request(UCHAR major, PVOID buffer, PKEVENT event, PIO_STATUS_BLOCK status)
{
    PIRP irp = IoAllocateIrp(1, FALSE);

    if (!irp)
        return NULL;
    irp->UserBuffer = buffer;
    irp->UserEvent = event;
    irp->UserIosb = status;
    IoGetNextIrpStackLocation(irp)->MajorFunction = major;
    return irp;
}

static BOOLEAN is_named(const UNICODE_STRING *s, const char *name)
{
    char text[128];

    return dxgk_ntos_to_ascii(s, text, sizeof(text)) && !strcasecmp(text, name);
}

NTSTATUS NTAPI ZwLoadDriver(PUNICODE_STRING DriverServiceName)
{
    ENTER(ZwLoadDriver);
    if (is_named(DriverServiceName, "\\Registry\\Machine\\System\\CurrentControlSet\\Services\\DXGKrnl"))
        return STATUS_IMAGE_ALREADY_LOADED;
    return STATUS_OBJECT_NAME_NOT_FOUND;
}

NTSTATUS NTAPI IoGetDeviceObjectPointer(PUNICODE_STRING ObjectName, ACCESS_MASK DesiredAccess,
                                        PFILE_OBJECT *FileObject, PDEVICE_OBJECT *DeviceObject)
{
    struct dxgk *d = OWNER();
    ENTER(IoGetDeviceObjectPointer);

    UNREFERENCED_PARAMETER(DesiredAccess);
    if (!is_named(ObjectName, "\\Device\\DxgKrnl"))
        return STATUS_OBJECT_NAME_NOT_FOUND;
    (void)k;
    if (!dxgk_ntos_refer(d, NULL, "a file object of \\Device\\DxgKrnl"))
        return STATUS_INSUFFICIENT_RESOURCES;
    *FileObject = (PFILE_OBJECT)d->ntos.references;
    *DeviceObject = (PDEVICE_OBJECT)d->objects->dxgkrnl;
    return STATUS_SUCCESS;
}

PIRP NTAPI IoBuildDeviceIoControlRequest(ULONG IoControlCode, PDEVICE_OBJECT DeviceObject, PVOID InputBuffer,
                                         ULONG InputBufferLength, PVOID OutputBuffer,
                                         ULONG OutputBufferLength, BOOLEAN InternalDeviceIoControl,
                                         PKEVENT Event, PIO_STATUS_BLOCK IoStatusBlock)
{
    PIRP irp;
    ENTER(IoBuildDeviceIoControlRequest);

    UNREFERENCED_PARAMETER(DeviceObject);
    irp = request(InternalDeviceIoControl ? IRP_MJ_INTERNAL_DEVICE_CONTROL : IRP_MJ_DEVICE_CONTROL,
                  OutputBuffer, Event, IoStatusBlock);
    if (irp) {
        PIO_STACK_LOCATION next = IoGetNextIrpStackLocation(irp);
        next->Parameters.DeviceIoControl.IoControlCode = IoControlCode;
        next->Parameters.DeviceIoControl.InputBufferLength = InputBufferLength;
        next->Parameters.DeviceIoControl.OutputBufferLength = OutputBufferLength;
        next->Parameters.DeviceIoControl.Type3InputBuffer = InputBuffer;
    }
    return irp;
}

PIRP NTAPI IoBuildSynchronousFsdRequest(ULONG MajorFunction, PDEVICE_OBJECT DeviceObject, PVOID Buffer,
                                        ULONG Length, PLARGE_INTEGER StartingOffset, PKEVENT Event,
                                        PIO_STATUS_BLOCK IoStatusBlock)
{
    PIRP irp;
    ENTER(IoBuildSynchronousFsdRequest);

    UNREFERENCED_PARAMETER(DeviceObject);
    irp = request((UCHAR)MajorFunction, Buffer, Event, IoStatusBlock);
    if (irp) {
        PIO_STACK_LOCATION next = IoGetNextIrpStackLocation(irp);
        next->Parameters.Write.Length = Length;
        if (StartingOffset)
            next->Parameters.Write.ByteOffset = *StartingOffset;
    }
    return irp;
}

PDEVICE_OBJECT NTAPI IoGetRelatedDeviceObject(PFILE_OBJECT FileObject)
{
    ENTER(IoGetRelatedDeviceObject);
    UNREFERENCED_PARAMETER(FileObject);
    return (PDEVICE_OBJECT)OWNER()->objects->dxgkrnl; /* files are of one device */
}

NTSTATUS NTAPI ObReferenceObjectByHandleWithTag(HANDLE Handle, ACCESS_MASK DesiredAccess,
                                                POBJECT_TYPE ObjectType, KPROCESSOR_MODE AccessMode,
                                                ULONG Tag, PVOID *Object,
                                                POBJECT_HANDLE_INFORMATION HandleInformation)
{
    UNREFERENCED_PARAMETER(Tag);
    return ObReferenceObjectByHandle(Handle, DesiredAccess, ObjectType, AccessMode, Object,
                                     HandleInformation);
}

/* A request that a driver allocated (irp.c): it is its own as soon as its routine has seen it, and nobody else's then. */
static void complete(struct dxgk *d, PIRP irp, const IO_STACK_LOCATION *next, NTSTATUS s)
{
    PIO_COMPLETION_ROUTINE routine = (PIO_COMPLETION_ROUTINE)next->CompletionRoutine;
    PVOID context = next->Context;
    bool asked = next->Control & (NT_SUCCESS(s) ? SL_INVOKE_ON_SUCCESS : SL_INVOKE_ON_ERROR);

    irp->IoStatus.Status = s;
    if (!routine || !asked || KERNEL_GUEST(routine)(NULL, irp, context) != STATUS_MORE_PROCESSING_REQUIRED)
        dxgk_kernel_violation(d->kernel,
                              "IofCallDriver of a request of IoAllocateIrp whose completion no routine stops "
                              "(STATUS_MORE_PROCESSING_REQUIRED)");
}

/* The one device that drivers call is dxgkrnl's, and it answers one request. */
NTSTATUS NTAPI IofCallDriver(PDEVICE_OBJECT DeviceObject, PIRP Irp)
{
    struct dxgk *d = OWNER();
    NTSTATUS s = STATUS_INVALID_DEVICE_REQUEST;
    PIO_STACK_LOCATION next;
    ULONG_PTR bytes = 0;
    ULONG code;
    ENTER(IofCallDriver);

    if (Irp->CurrentLocation <= 1) {
        dxgk_kernel_violation(k, "IofCallDriver of %p, which is no request with a stack location left",
                              (void *)Irp);
        return s;
    }
    next = IoGetNextIrpStackLocation(Irp);
    code = next->Parameters.DeviceIoControl.IoControlCode;
    if (DeviceObject == (PDEVICE_OBJECT)d->objects->dxgkrnl &&
        next->MajorFunction == IRP_MJ_INTERNAL_DEVICE_CONTROL &&
        (code == IOCTL_VIDEO_DDI_FUNC_REGISTER || code == IOCTL_VIDEO_KMDOD_DDI_FUNC_REGISTER)) {
        PVOID function = code == IOCTL_VIDEO_DDI_FUNC_REGISTER ? (PVOID)DxgkInitialize
                                                               : (PVOID)DxgkInitializeDisplayOnlyDriver;
        s = STATUS_BUFFER_TOO_SMALL;
        if (next->Parameters.DeviceIoControl.OutputBufferLength >= sizeof(function)) {
            memcpy(Irp->UserBuffer, &function, sizeof(function));
            bytes = sizeof(function);
            s = STATUS_SUCCESS;
        }
    }
    if (!Irp->UserIosb) {
        Irp->IoStatus.Information = bytes;
        complete(d, Irp, next, s);
        return s;
    }
    *Irp->UserIosb = (IO_STATUS_BLOCK){.Status = s, .Information = bytes};
    if (Irp->UserEvent)
        KeSetEvent(Irp->UserEvent, 0, FALSE);
    dxgk_pool_free(d, "IofCallDriver", Irp, 0);
    return s;
}

/* ---- the adapter's device ------------------------------------------------ */

/* UTF-16 with its zero, and a second one behind a list. */
static ULONG put_text(WCHAR out[64], const char *text, unsigned zeroes)
{
    ULONG n = 0;

    for (; text[n]; n++)
        out[n] = (WCHAR)text[n];
    while (zeroes--)
        out[n++] = 0;
    return n * (ULONG)sizeof(WCHAR);
}

NTSTATUS NTAPI IoGetDeviceProperty(PDEVICE_OBJECT DeviceObject, DEVICE_REGISTRY_PROPERTY DeviceProperty,
                                   ULONG BufferLength, PVOID PropertyBuffer, PULONG ResultLength)
{
    const struct dxgk_bus *bus = OWNER()->bus;
    uint16_t id[2] = {0xFFFF, 0xFFFF};
    WCHAR value[64] = {0};
    char text[32];
    ENTER(IoGetDeviceProperty);

    UNREFERENCED_PARAMETER(DeviceObject);
    switch (DeviceProperty) {
    case DevicePropertyBusNumber: /* 0 */
    case DevicePropertyAddress:   /* device and function: 0 */
        *ResultLength = sizeof(ULONG);
        break;
    case DevicePropertyLegacyBusType:
        value[0] = PCIBus;
        *ResultLength = sizeof(ULONG);
        break;
    case DevicePropertyEnumeratorName:
        *ResultLength = put_text(value, "PCI", 1);
        break;
    case DevicePropertyClassName:
        *ResultLength = put_text(value, "Display", 1);
        break;
    case DevicePropertyHardwareID:
        bus->config_read(bus->ctx, 0, id, sizeof(id));
        snprintf(text, sizeof(text), "PCI\\VEN_%04X&DEV_%04X", id[0], id[1]);
        *ResultLength = put_text(value, text, 2);
        break;
    default:
        return STATUS_OBJECT_NAME_NOT_FOUND;
    }
    if (BufferLength < *ResultLength)
        return STATUS_BUFFER_TOO_SMALL;
    memcpy(PropertyBuffer, value, *ResultLength);
    return STATUS_SUCCESS;
}

/* ---- the caller ---------------------------------------------------------- */

PEPROCESS NTAPI PsGetCurrentProcess(VOID)
{
    return (PEPROCESS)(uintptr_t)(dxgk_kernel_caller(SELF()).process + 1);
}

HANDLE NTAPI PsGetProcessId(PEPROCESS Process)
{
    return (HANDLE)((uintptr_t)Process - 1);
}

/* Of random numbers (version 4), so that nothing of this machine is in it. */
NTSTATUS NTAPI ExUuidCreate(UUID *Uuid)
{
    ENTER(ExUuidCreate);

    (void)k;
    if (getrandom(Uuid, sizeof(*Uuid), 0) != sizeof(*Uuid))
        return STATUS_RETRY;
    Uuid->Data3 = (Uuid->Data3 & 0x0FFF) | 0x4000;
    Uuid->Data4[0] = (Uuid->Data4[0] & 0x3F) | 0x80;
    return STATUS_SUCCESS;
}

NTSTATUS NTAPI RtlGetVersion(PRTL_OSVERSIONINFOW lpVersionInformation)
{
    ENTER(RtlGetVersion);
    lpVersionInformation->dwMajorVersion = 6; /* Windows 7 with its service pack */
    lpVersionInformation->dwMinorVersion = 1;
    lpVersionInformation->dwBuildNumber = 7601;
    lpVersionInformation->dwPlatformId = 2;
    memset(lpVersionInformation->szCSDVersion, 0, sizeof(lpVersionInformation->szCSDVersion));
    return STATUS_SUCCESS;
}

BOOLEAN NTAPI PsGetVersion(PULONG MajorVersion, PULONG MinorVersion, PULONG BuildNumber,
                           PUNICODE_STRING CSDVersion)
{
    CHECK(PsGetVersion);
    if (MajorVersion)
        *MajorVersion = 6;
    if (MinorVersion)
        *MinorVersion = 1;
    if (BuildNumber)
        *BuildNumber = 7601;
    if (CSDVersion)
        CSDVersion->Length = 0;
    return FALSE;
}

PVOID NTAPI MmGetSystemRoutineAddress(PUNICODE_STRING SystemRoutineName)
{
    char name[80];
    PVOID found;
    ENTER(MmGetSystemRoutineAddress);

    if (!dxgk_ntos_to_ascii(SystemRoutineName, name, sizeof(name)))
        return NULL;
    found = dxgk_ntos_export("ntoskrnl", name);
    return found ? found : dxgk_ntos_export("hal", name);
}

HANDLE NTAPI PsGetCurrentProcessId(VOID)
{
    return (HANDLE)(uintptr_t)dxgk_kernel_caller(SELF()).process;
}

ULONG NTAPI PsGetCurrentProcessSessionId(VOID)
{
    return dxgk_kernel_caller(SELF()).session;
}

/* Not where the process is: references to the one are none to the other. */
PVOID NTAPI PsReferencePrimaryToken(PEPROCESS Process)
{
    PVOID token = (PVOID)((uintptr_t)Process | UINT64_C(1) << 40);
    struct dxgk *d = OWNER();
    ENTER(PsReferencePrimaryToken);

    (void)k;
    d->ntos.forgot |= !dxgk_ntos_refer(d, token, "the token of a process");
    return token;
}

VOID NTAPI PsDereferencePrimaryToken(PVOID PrimaryToken)
{
    ENTER(PsDereferencePrimaryToken);
    dxgk_ntos_give_back(dxgk_kernel_ctx(k), "PsDereferencePrimaryToken", PrimaryToken);
}

BOOLEAN NTAPI SeTokenIsAdmin(PVOID Token)
{
    ENTER(SeTokenIsAdmin);
    UNREFERENCED_PARAMETER(Token);
    return dxgk_kernel_caller(k).admin || !dxgk_kernel_caller(k).process;
}
