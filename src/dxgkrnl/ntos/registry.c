/* SPDX-License-Identifier: MIT */
/* registry.c: the registry that a miniport reads. Its values are dxgkrnl/settings.h. */
#include "dxgkrnl/adapter.h"
#include "dxgkrnl/ntos/routines.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

bool dxgk_ntos_to_ascii(const UNICODE_STRING *s, char *out, size_t size)
{
    size_t n = s->Length / 2;

    if (n >= size)
        return false;
    for (size_t i = 0; i < n; i++) {
        if (s->Buffer[i] > 126)
            return false;
        out[i] = (char)s->Buffer[i];
    }
    out[n] = '\0';
    return true;
}

/* The keys that Windows makes when a driver is installed are there without values, too: the driver key, and the service's, whose path
 * DriverEntry is given. */
static bool has_key(const struct dxgk *d, const char *name)
{
    char service[128];

    snprintf(service, sizeof(service), "HKLM\\SYSTEM\\CurrentControlSet\\Services\\%s", d->service);
    return !strcmp(name, "HKR") || !strcasecmp(name, service) || dxgk_settings_has_key(&d->settings, name);
}

static NTSTATUS open_key(struct dxgk *d, const char *name, PHANDLE out)
{
    struct key_handle *k;

    *out = NULL;
    if (!has_key(d, name))
        return STATUS_OBJECT_NAME_NOT_FOUND;
    k = malloc(sizeof(*k) + strlen(name) + 1);
    if (!k)
        return STATUS_NO_MEMORY;
    strcpy(k->name, name);
    k->next = d->ntos.keys;
    d->ntos.keys = k;
    *out = k;
    return STATUS_SUCCESS;
}

/* The key that is open under `handle`; NULL: none is, and nothing reads what it points to. */
static struct key_handle *key_of(const struct dxgk *d, HANDLE handle)
{
    struct key_handle *k = d->ntos.keys;

    while (k && k != handle)
        k = k->next;
    return k;
}

/* The key `name` under `root`, or of its own ("\\Registry\\Machine\\..."), as settings.h writes it. */
static bool full_name(const char *root, const char *name, char *full, size_t size)
{
    static const char machine[] = "\\Registry\\Machine\\", driver[] = DXGK_DRIVER_KEY;
    int n = -1;

    if (root)
        n = snprintf(full, size, "%s%s%s", root, *name ? "\\" : "", name);
    else if (!strncasecmp(name, driver, sizeof(driver) - 1) &&
             (!name[sizeof(driver) - 1] || name[sizeof(driver) - 1] == '\\'))
        n = snprintf(full, size, "HKR%s", name + sizeof(driver) - 1);
    else if (!strncasecmp(name, machine, sizeof(machine) - 1))
        n = snprintf(full, size, "HKLM\\%s", name + sizeof(machine) - 1);
    return n > 0 && (size_t)n < size;
}

NTSTATUS NTAPI ZwOpenKey(PHANDLE KeyHandle, ACCESS_MASK DesiredAccess, POBJECT_ATTRIBUTES ObjectAttributes)
{
    struct dxgk *d = OWNER();
    const struct key_handle *root = key_of(d, ObjectAttributes->RootDirectory);
    char name[256], full[600];
    ENTER(ZwOpenKey);

    UNREFERENCED_PARAMETER(DesiredAccess);
    if (ObjectAttributes->RootDirectory && !root)
        return STATUS_INVALID_HANDLE;
    if (!ObjectAttributes->ObjectName ||
        !dxgk_ntos_to_ascii(ObjectAttributes->ObjectName, name, sizeof(name)))
        return STATUS_OBJECT_NAME_NOT_FOUND;
    if (!full_name(root ? root->name : NULL, name, full, sizeof(full)))
        return STATUS_OBJECT_NAME_NOT_FOUND;
    return open_key(d, full, KeyHandle);
}

NTSTATUS NTAPI IoOpenDeviceRegistryKey(PDEVICE_OBJECT DeviceObject, ULONG DevInstKeyType,
                                       ACCESS_MASK DesiredAccess, PHANDLE DevInstRegKey)
{
    ENTER(IoOpenDeviceRegistryKey);

    UNREFERENCED_PARAMETER(DeviceObject);
    UNREFERENCED_PARAMETER(DesiredAccess);
    if (DevInstKeyType != PLUGPLAY_REGKEY_DRIVER)
        return STATUS_OBJECT_NAME_NOT_FOUND;
    return open_key(OWNER(), "HKR", DevInstRegKey);
}

NTSTATUS NTAPI ZwQueryValueKey(HANDLE KeyHandle, PUNICODE_STRING ValueName,
                               KEY_VALUE_INFORMATION_CLASS KeyValueInformationClass,
                               PVOID KeyValueInformation, ULONG Length, PULONG ResultLength)
{
    KEY_VALUE_PARTIAL_INFORMATION *info = KeyValueInformation;
    struct dxgk *d = OWNER();
    const struct key_handle *key = key_of(d, KeyHandle);
    char name[64];
    uint32_t value;
    ENTER(ZwQueryValueKey);

    if (!key)
        return STATUS_INVALID_HANDLE;
    if (KeyValueInformationClass != KeyValuePartialInformation)
        return STATUS_INVALID_PARAMETER;
    if (!dxgk_ntos_to_ascii(ValueName, name, sizeof(name)) ||
        !dxgk_settings_get(&d->settings, key->name, name, &value))
        return STATUS_OBJECT_NAME_NOT_FOUND;
    *ResultLength = offsetof(KEY_VALUE_PARTIAL_INFORMATION, Data) + sizeof(value);
    if (Length < *ResultLength)
        return STATUS_BUFFER_TOO_SMALL;
    info->TitleIndex = 0;
    info->Type = REG_DWORD;
    info->DataLength = sizeof(value);
    memcpy(info->Data, &value, sizeof(value));
    return STATUS_SUCCESS;
}

/* Numbers only, as all that settings hold. What a driver writes is gone with the adapter. */
NTSTATUS NTAPI ZwSetValueKey(HANDLE KeyHandle, PUNICODE_STRING ValueName, ULONG TitleIndex, ULONG Type,
                             PVOID Data, ULONG DataSize)
{
    struct dxgk *d = OWNER();
    const struct key_handle *key = key_of(d, KeyHandle);
    char name[64];
    uint32_t value;
    ENTER(ZwSetValueKey);

    if (!key)
        return STATUS_INVALID_HANDLE;
    UNREFERENCED_PARAMETER(TitleIndex);
    if (Type != REG_DWORD || DataSize != sizeof(value) || !dxgk_ntos_to_ascii(ValueName, name, sizeof(name)))
        return STATUS_INVALID_PARAMETER;
    memcpy(&value, Data, sizeof(value));
    return dxgk_settings_set(&d->settings, key->name, name, value) ? STATUS_INSUFFICIENT_RESOURCES
                                                                   : STATUS_SUCCESS;
}

/* ---- many values at once ------------------------------------------------- */

static bool wide_to_ascii(PCWSTR wide, char *out, size_t size)
{
    UNICODE_STRING s;

    RtlInitUnicodeString(&s, wide);
    return dxgk_ntos_to_ascii(&s, out, size);
}

static NTSTATUS query_one(struct dxgk *d, const char *key, const RTL_QUERY_REGISTRY_TABLE *q, PVOID context)
{
    ULONG type = REG_DWORD, length = sizeof(uint32_t);
    uint32_t value;
    PVOID data = &value;
    char name[64];

    if (!q->Name || !wide_to_ascii(q->Name, name, sizeof(name)) ||
        !dxgk_settings_get(&d->settings, key, name, &value)) {
        if (q->Flags & RTL_QUERY_REGISTRY_REQUIRED)
            return STATUS_OBJECT_NAME_NOT_FOUND;
        type = q->DefaultType;
        data = q->DefaultData;
        length = q->DefaultLength;
        if (type == REG_NONE)
            return STATUS_SUCCESS;
    }
    if (!(q->Flags & RTL_QUERY_REGISTRY_DIRECT))
        return q->QueryRoutine(q->Name, type, data, length, context, q->EntryContext);
    if (type != REG_DWORD)
        return STATUS_OBJECT_TYPE_MISMATCH;
    memcpy(q->EntryContext, data, sizeof(value));
    return STATUS_SUCCESS;
}

NTSTATUS NTAPI RtlQueryRegistryValues(ULONG RelativeTo, PCWSTR Path, PRTL_QUERY_REGISTRY_TABLE QueryTable,
                                      PVOID Context, PVOID Environment)
{
    static const char *const roots[] = {[RTL_REGISTRY_ABSOLUTE] = NULL,
                                        [RTL_REGISTRY_SERVICES] = "HKLM\\System\\CurrentControlSet\\Services",
                                        [RTL_REGISTRY_CONTROL] = "HKLM\\System\\CurrentControlSet\\Control"};
    struct dxgk *d = OWNER();
    ULONG relative = RelativeTo & ~RTL_REGISTRY_OPTIONAL;
    char top[600], name[256], key[900];
    const char *root = NULL;
    NTSTATUS s = STATUS_SUCCESS;
    ENTER(RtlQueryRegistryValues);

    UNREFERENCED_PARAMETER(Environment);
    if (relative == RTL_REGISTRY_HANDLE) { /* Path is the handle */
        root = (const char *)Path;
        name[0] = '\0';
    } else if (relative >= RTL_NUMBER_OF(roots) || !wide_to_ascii(Path, name, sizeof(name))) {
        return STATUS_INVALID_PARAMETER;
    } else {
        root = roots[relative];
    }
    if (!full_name(root, name, top, sizeof(top)) || !has_key(d, top))
        return STATUS_OBJECT_NAME_NOT_FOUND;
    snprintf(key, sizeof(key), "%s", top);
    for (const RTL_QUERY_REGISTRY_TABLE *q = QueryTable; NT_SUCCESS(s) && (q->QueryRoutine || q->Name); q++) {
        if (q->Flags & (RTL_QUERY_REGISTRY_TOPKEY | RTL_QUERY_REGISTRY_SUBKEY))
            snprintf(key, sizeof(key), "%s", top);
        if (!(q->Flags & RTL_QUERY_REGISTRY_SUBKEY)) {
            s = query_one(d, key, q, Context);
        } else if (!wide_to_ascii(q->Name, name, sizeof(name)) || !full_name(top, name, key, sizeof(key)) ||
                   !dxgk_settings_has_key(&d->settings, key)) {
            s = q->Flags & RTL_QUERY_REGISTRY_REQUIRED ? STATUS_OBJECT_NAME_NOT_FOUND : STATUS_SUCCESS;
        }
    }
    return s;
}

NTSTATUS NTAPI ZwClose(HANDLE Handle)
{
    struct dxgk *d = OWNER();
    struct key_handle *key = key_of(d, Handle);
    ENTER(ZwClose);

    if (key) {
        LIST_DROP(&d->ntos.keys, key, next);
        free(key);
    } else if (!dxgk_ntos_thread_close(d, Handle)) {
        dxgk_kernel_violation(d->kernel, "ZwClose of %p, which is no handle that is open", Handle);
        return STATUS_INVALID_HANDLE;
    }
    return STATUS_SUCCESS;
}

VOID NTAPI RtlInitUnicodeString(PUNICODE_STRING DestinationString, PCWSTR SourceString)
{
    size_t n = 0;

    CHECK(RtlInitUnicodeString);
    while (SourceString && SourceString[n])
        n++;
    DestinationString->Buffer = (PWSTR)SourceString;
    DestinationString->Length = (USHORT)(2 * n);
    DestinationString->MaximumLength = (USHORT)(SourceString ? 2 * n + 2 : 0);
}

VOID NTAPI RtlInitAnsiString(PANSI_STRING DestinationString, PCSTR SourceString)
{
    size_t n = SourceString ? strlen(SourceString) : 0;

    *DestinationString = (ANSI_STRING){(USHORT)n, (USHORT)(SourceString ? n + 1 : 0), (PCHAR)SourceString};
}

NTSTATUS NTAPI RtlAnsiStringToUnicodeString(PUNICODE_STRING DestinationString,
                                            const ANSI_STRING *SourceString,
                                            BOOLEAN AllocateDestinationString)
{
    size_t size = 2 * (size_t)SourceString->Length + 2;
    ENTER(RtlAnsiStringToUnicodeString);

    if (size > UINT16_MAX)
        return STATUS_INVALID_PARAMETER;
    if (AllocateDestinationString) {
        *DestinationString = (UNICODE_STRING){.MaximumLength = (USHORT)size,
                                              .Buffer = ExAllocatePoolWithTag(PagedPool, size, 0x72745355)};
        if (!DestinationString->Buffer)
            return STATUS_NO_MEMORY;
    } else if (size > DestinationString->MaximumLength) {
        return STATUS_BUFFER_OVERFLOW;
    }
    for (USHORT i = 0; i < SourceString->Length; i++)
        DestinationString->Buffer[i] = (UCHAR)SourceString->Buffer[i];
    DestinationString->Buffer[SourceString->Length] = 0;
    DestinationString->Length = (USHORT)(size - 2);
    return STATUS_SUCCESS;
}

VOID NTAPI RtlFreeUnicodeString(PUNICODE_STRING UnicodeString)
{
    ENTER(RtlFreeUnicodeString);
    if (UnicodeString->Buffer)
        ExFreePool(UnicodeString->Buffer);
    *UnicodeString = (UNICODE_STRING){0};
}
