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

/* A key handle is the key's name. */
static NTSTATUS open_key(struct dxgk *d, const char *name, PHANDLE out)
{
    char *key;

    if (!dxgk_settings_has_key(&d->settings, name))
        return STATUS_OBJECT_NAME_NOT_FOUND;
    key = strdup(name);
    *out = key;
    return key ? STATUS_SUCCESS : STATUS_NO_MEMORY;
}

NTSTATUS NTAPI ZwOpenKey(PHANDLE KeyHandle, ACCESS_MASK DesiredAccess, POBJECT_ATTRIBUTES ObjectAttributes)
{
    static const char machine[] = "\\Registry\\Machine\\";
    struct dxgk *d = OWNER();
    char name[256], full[600];
    ENTER(ZwOpenKey);

    UNREFERENCED_PARAMETER(DesiredAccess);
    if (!ObjectAttributes->ObjectName ||
        !dxgk_ntos_to_ascii(ObjectAttributes->ObjectName, name, sizeof(name)))
        return STATUS_OBJECT_NAME_NOT_FOUND;
    if (ObjectAttributes->RootDirectory)
        snprintf(full, sizeof(full), "%s\\%s", (const char *)ObjectAttributes->RootDirectory, name);
    else if (!strncasecmp(name, machine, sizeof(machine) - 1))
        snprintf(full, sizeof(full), "HKLM\\%s", name + sizeof(machine) - 1);
    else
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
    *DevInstRegKey = strdup("HKR"); /* the driver key itself always exists */
    return *DevInstRegKey ? STATUS_SUCCESS : STATUS_NO_MEMORY;
}

NTSTATUS NTAPI ZwQueryValueKey(HANDLE KeyHandle, PUNICODE_STRING ValueName,
                               KEY_VALUE_INFORMATION_CLASS KeyValueInformationClass,
                               PVOID KeyValueInformation, ULONG Length, PULONG ResultLength)
{
    KEY_VALUE_PARTIAL_INFORMATION *info = KeyValueInformation;
    struct dxgk *d = OWNER();
    char name[64];
    uint32_t value;
    ENTER(ZwQueryValueKey);

    if (KeyValueInformationClass != KeyValuePartialInformation)
        return STATUS_INVALID_PARAMETER;
    if (!dxgk_ntos_to_ascii(ValueName, name, sizeof(name)) ||
        !dxgk_settings_get(&d->settings, KeyHandle, name, &value))
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

NTSTATUS NTAPI ZwClose(HANDLE Handle)
{
    ENTER(ZwClose);
    free(Handle);
    return STATUS_SUCCESS;
}

VOID NTAPI RtlInitUnicodeString(PUNICODE_STRING DestinationString, PCWSTR SourceString)
{
    size_t n = 0;

    while (SourceString && SourceString[n])
        n++;
    DestinationString->Buffer = (PWSTR)SourceString;
    DestinationString->Length = (USHORT)(2 * n);
    DestinationString->MaximumLength = (USHORT)(SourceString ? 2 * n + 2 : 0);
}
