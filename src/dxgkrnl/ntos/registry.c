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
    for (const struct key_value *v = d->ntos.values; v; v = v->next)
        if (!strcasecmp(v->key, name))
            return true;
    return !strcmp(name, "HKR") || !strcasecmp(name, service) || dxgk_settings_has_key(&d->settings, name);
}

/* ---- values -------------------------------------------------------------- */

struct value {
    ULONG type, size;
    const void *data; /* `number`, or the registry's */
    uint32_t number;
};

static struct key_value *find_written(const struct dxgk *d, const char *key, const char *name)
{
    struct key_value *v = d->ntos.values;

    while (v && (strcasecmp(v->key, key) || strcasecmp(v->name, name)))
        v = v->next;
    return v;
}

static bool get_value(const struct dxgk *d, const char *key, const char *name, struct value *out)
{
    const struct key_value *v = find_written(d, key, name);

    if (v && !*name && v->type == REG_NONE)
        return false; /* the key itself */
    if (v)
        *out = (struct value){.type = v->type, .size = v->size, .data = v->data};
    else if (dxgk_settings_get(&d->settings, key, name, &out->number))
        *out = (struct value){
            .type = REG_DWORD, .size = sizeof(uint32_t), .data = &out->number, .number = out->number};
    return v || out->data;
}

/* What a driver writes is gone with the adapter. */
static NTSTATUS put_value(struct dxgk *d, const char *key, const char *name, ULONG type, const void *data,
                          ULONG size)
{
    struct key_value *old = find_written(d, key, name), *v;
    uint32_t number;

    if (strlen(key) >= sizeof(v->key) || strlen(name) >= sizeof(v->name) ||
        (type == REG_DWORD && size != 4) || (type == REG_QWORD && size != 8))
        return STATUS_INVALID_PARAMETER;
    v = malloc(sizeof(*v) + size);
    if (!v)
        return STATUS_INSUFFICIENT_RESOURCES;
    *v = (struct key_value){.next = d->ntos.values, .type = type, .size = size};
    strcpy(v->key, key);
    strcpy(v->name, name);
    if (size)
        memcpy(v->data, data, size);
    d->ntos.values = v;
    if (old) {
        LIST_DROP(&d->ntos.values, old, next);
        free(old);
    }
    if (type == REG_DWORD && *name) { /* dxgkrnl reads it there */
        memcpy(&number, data, sizeof(number));
        if (dxgk_settings_set(&d->settings, key, name, number))
            return STATUS_INSUFFICIENT_RESOURCES;
    }
    return STATUS_SUCCESS;
}

static NTSTATUS delete_value(struct dxgk *d, const char *key, const char *name)
{
    struct key_value *v = find_written(d, key, name);
    bool there = v || dxgk_settings_get(&d->settings, key, name, &(uint32_t){0});

    if (!there || !*name)
        return STATUS_OBJECT_NAME_NOT_FOUND;
    if (!has_key(d, key) || (v && !find_written(d, key, "")))
        put_value(d, key, "", REG_NONE, NULL, 0); /* the key stays */
    if (v) {
        LIST_DROP(&d->ntos.values, v, next);
        free(v);
    }
    dxgk_settings_remove(&d->settings, key, name);
    return STATUS_SUCCESS;
}

/* ---- keys ---------------------------------------------------------------- */

static NTSTATUS open_key(struct dxgk *d, const char *name, ACCESS_MASK access, PHANDLE out)
{
    struct key_handle *k;

    *out = NULL;
    if (!has_key(d, name))
        return STATUS_OBJECT_NAME_NOT_FOUND;
    k = malloc(sizeof(*k) + strlen(name) + 1);
    if (!k)
        return STATUS_NO_MEMORY;
    strcpy(k->name, name);
    k->access = access;
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

/* The same for a routine; NULL: a violation. */
static struct key_handle *open_at(const char *routine, HANDLE handle)
{
    struct dxgk *d = dxgk_kernel_ctx(dxgk_kernel_self(routine));
    struct key_handle *k = key_of(d, handle);

    if (!k)
        dxgk_kernel_violation(d->kernel, "%s of %p, which is no key that is open", routine, handle);
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

/* The key that `attributes` name. */
static NTSTATUS named(const char *routine, const OBJECT_ATTRIBUTES *attributes, char *full, size_t size)
{
    const struct key_handle *root = NULL;
    char name[256];

    if (attributes->RootDirectory) {
        root = open_at(routine, attributes->RootDirectory);
        if (!root)
            return STATUS_INVALID_HANDLE;
    }
    if (!attributes->ObjectName || !dxgk_ntos_to_ascii(attributes->ObjectName, name, sizeof(name)))
        return STATUS_OBJECT_NAME_NOT_FOUND;
    return full_name(root ? root->name : NULL, name, full, size) ? STATUS_SUCCESS
                                                                 : STATUS_OBJECT_NAME_NOT_FOUND;
}

NTSTATUS NTAPI ZwOpenKey(PHANDLE KeyHandle, ACCESS_MASK DesiredAccess, POBJECT_ATTRIBUTES ObjectAttributes)
{
    char full[600];
    NTSTATUS s;
    CHECK(ZwOpenKey);

    s = named("ZwOpenKey", ObjectAttributes, full, sizeof(full));
    return NT_SUCCESS(s) ? open_key(OWNER(), full, DesiredAccess, KeyHandle) : s;
}

NTSTATUS NTAPI ZwCreateKey(PHANDLE KeyHandle, ACCESS_MASK DesiredAccess, POBJECT_ATTRIBUTES ObjectAttributes,
                           ULONG TitleIndex, PUNICODE_STRING Class, ULONG CreateOptions, PULONG Disposition)
{
    struct dxgk *d = OWNER();
    char full[600];
    bool there;
    NTSTATUS s;
    CHECK(ZwCreateKey);

    UNREFERENCED_PARAMETER(TitleIndex);
    UNREFERENCED_PARAMETER(Class);
    UNREFERENCED_PARAMETER(CreateOptions); /* volatile ones and others are gone with the adapter */
    s = named("ZwCreateKey", ObjectAttributes, full, sizeof(full));
    if (!NT_SUCCESS(s))
        return s;
    there = has_key(d, full);
    s = there ? STATUS_SUCCESS : put_value(d, full, "", REG_NONE, NULL, 0);
    if (!NT_SUCCESS(s))
        return s;
    if (Disposition)
        *Disposition = there ? REG_OPENED_EXISTING_KEY : REG_CREATED_NEW_KEY;
    return open_key(d, full, DesiredAccess, KeyHandle);
}

/* The name of the key under `key` that the path of key `i` leads through (settings' keys first, then those that were written); its
 * length, or 0: there is no such key, or it is not under `key`. */
static size_t child(const struct dxgk *d, const char *key, size_t i, const char **name)
{
    const struct key_value *v = d->ntos.values;
    const char *path;
    size_t n = strlen(key);

    if (i < d->settings.count) {
        path = d->settings.values[i].key;
    } else {
        for (i -= d->settings.count; v && i; i--)
            v = v->next;
        path = v ? v->key : "";
    }
    if (strncasecmp(path, key, n) || path[n] != '\\')
        return 0;
    *name = path + n + 1;
    return strcspn(*name, "\\");
}

/* The `index`-th key under `key`, each once; its name's length, or 0. */
static size_t nth_child(const struct dxgk *d, const char *key, ULONG index, const char **name)
{
    size_t keys = d->settings.count;

    for (const struct key_value *v = d->ntos.values; v; v = v->next)
        keys++;
    for (size_t i = 0; i < keys; i++) {
        size_t n = child(d, key, i, name);
        bool known = !n;
        for (size_t j = 0; j < i && !known; j++) {
            const char *other;
            known = child(d, key, j, &other) == n && !strncasecmp(*name, other, n);
        }
        if (!known && !index--)
            return n;
    }
    return 0;
}

NTSTATUS NTAPI ZwEnumerateKey(HANDLE KeyHandle, ULONG Index, KEY_INFORMATION_CLASS KeyInformationClass,
                              PVOID KeyInformation, ULONG Length, PULONG ResultLength)
{
    KEY_BASIC_INFORMATION *info = KeyInformation;
    const ULONG head = offsetof(KEY_BASIC_INFORMATION, Name);
    const struct key_handle *key;
    const char *name;
    ULONG n;
    CHECK(ZwEnumerateKey);

    key = open_at("ZwEnumerateKey", KeyHandle);
    if (!key)
        return STATUS_INVALID_HANDLE;
    if (KeyInformationClass != KeyBasicInformation)
        return STATUS_INVALID_PARAMETER;
    n = (ULONG)nth_child(OWNER(), key->name, Index, &name);
    if (!n)
        return STATUS_NO_MORE_ENTRIES;
    *ResultLength = head + n * (ULONG)sizeof(WCHAR);
    if (Length < head)
        return STATUS_BUFFER_TOO_SMALL;
    info->LastWriteTime.QuadPart = 0;
    info->TitleIndex = 0;
    info->NameLength = n * (ULONG)sizeof(WCHAR);
    if (Length < *ResultLength)
        return STATUS_BUFFER_OVERFLOW;
    for (ULONG i = 0; i < n; i++)
        info->Name[i] = (UCHAR)name[i];
    return STATUS_SUCCESS;
}

NTSTATUS NTAPI IoOpenDeviceRegistryKey(PDEVICE_OBJECT DeviceObject, ULONG DevInstKeyType,
                                       ACCESS_MASK DesiredAccess, PHANDLE DevInstRegKey)
{
    ENTER(IoOpenDeviceRegistryKey);

    UNREFERENCED_PARAMETER(DeviceObject);
    (void)k;
    if (DevInstKeyType != PLUGPLAY_REGKEY_DRIVER)
        return STATUS_OBJECT_NAME_NOT_FOUND;
    return open_key(OWNER(), "HKR", DesiredAccess, DevInstRegKey);
}

NTSTATUS NTAPI ZwQueryValueKey(HANDLE KeyHandle, PUNICODE_STRING ValueName,
                               KEY_VALUE_INFORMATION_CLASS KeyValueInformationClass,
                               PVOID KeyValueInformation, ULONG Length, PULONG ResultLength)
{
    KEY_VALUE_PARTIAL_INFORMATION *info = KeyValueInformation;
    struct dxgk *d = OWNER();
    const struct key_handle *key;
    char name[64];
    struct value value = {0};
    CHECK(ZwQueryValueKey);

    key = open_at("ZwQueryValueKey", KeyHandle);
    if (!key)
        return STATUS_INVALID_HANDLE;
    if (KeyValueInformationClass != KeyValuePartialInformation)
        return STATUS_INVALID_PARAMETER;
    if (!dxgk_ntos_to_ascii(ValueName, name, sizeof(name)) || !get_value(d, key->name, name, &value))
        return STATUS_OBJECT_NAME_NOT_FOUND;
    *ResultLength = (ULONG)offsetof(KEY_VALUE_PARTIAL_INFORMATION, Data) + value.size;
    if (Length < offsetof(KEY_VALUE_PARTIAL_INFORMATION, Data) ||
        (value.type == REG_DWORD && Length < *ResultLength))
        return STATUS_BUFFER_TOO_SMALL;
    info->TitleIndex = 0;
    info->Type = value.type;
    info->DataLength = value.size;
    if (Length < *ResultLength)
        return STATUS_BUFFER_OVERFLOW;
    memcpy(info->Data, value.data, value.size);
    return STATUS_SUCCESS;
}

NTSTATUS NTAPI ZwSetValueKey(HANDLE KeyHandle, PUNICODE_STRING ValueName, ULONG TitleIndex, ULONG Type,
                             PVOID Data, ULONG DataSize)
{
    const ACCESS_MASK enough = KEY_SET_VALUE | GENERIC_WRITE | GENERIC_ALL | MAXIMUM_ALLOWED;
    const struct key_handle *key;
    char name[64];
    CHECK(ZwSetValueKey);

    UNREFERENCED_PARAMETER(TitleIndex);
    key = open_at("ZwSetValueKey", KeyHandle);
    if (!key)
        return STATUS_INVALID_HANDLE;
    if (!(key->access & enough))
        return STATUS_ACCESS_DENIED;
    if (!dxgk_ntos_to_ascii(ValueName, name, sizeof(name)))
        return STATUS_INVALID_PARAMETER;
    return put_value(OWNER(), key->name, name, Type, Data, DataSize);
}

NTSTATUS NTAPI ZwDeleteValueKey(HANDLE KeyHandle, PUNICODE_STRING ValueName)
{
    const ACCESS_MASK enough = KEY_SET_VALUE | GENERIC_WRITE | GENERIC_ALL | MAXIMUM_ALLOWED;
    const struct key_handle *key;
    char name[64];
    CHECK(ZwDeleteValueKey);

    key = open_at("ZwDeleteValueKey", KeyHandle);
    if (!key)
        return STATUS_INVALID_HANDLE;
    if (!(key->access & enough))
        return STATUS_ACCESS_DENIED;
    return dxgk_ntos_to_ascii(ValueName, name, sizeof(name)) ? delete_value(OWNER(), key->name, name)
                                                             : STATUS_OBJECT_NAME_NOT_FOUND;
}

/* Nothing is kept that could be late. */
NTSTATUS NTAPI ZwFlushKey(HANDLE KeyHandle)
{
    CHECK(ZwFlushKey);
    return open_at("ZwFlushKey", KeyHandle) ? STATUS_SUCCESS : STATUS_INVALID_HANDLE;
}

/* ---- many values at once ------------------------------------------------- */

static bool wide_to_ascii(PCWSTR wide, char *out, size_t size)
{
    UNICODE_STRING s;

    RtlInitUnicodeString(&s, wide);
    return dxgk_ntos_to_ascii(&s, out, size);
}

/* A string into the caller's UNICODE_STRING, which gets memory where it has none. */
static NTSTATUS give_string(UNICODE_STRING *to, const void *data, ULONG size)
{
    if (!to->Buffer) {
        to->Buffer = ExAllocatePoolWithTag(PagedPool, size ? size : 2, 0x72745355);
        to->MaximumLength = (USHORT)size;
    }
    if (!to->Buffer)
        return STATUS_NO_MEMORY;
    if (size > to->MaximumLength)
        return STATUS_BUFFER_TOO_SMALL;
    memcpy(to->Buffer, data, size);
    to->Length = (USHORT)(size >= 2 ? size - 2 : 0); /* without its zero */
    return STATUS_SUCCESS;
}

/* Straight into the caller's memory: a string; a number; other bytes, for which the first LONG there says how many fit: negative, for
 * the bytes alone, or positive, behind their length and type. */
static NTSTATUS give(PVOID to, ULONG type, const void *data, ULONG size)
{
    LONG room;
    ULONG head[2] = {size, type};

    if (type == REG_SZ || type == REG_EXPAND_SZ || type == REG_MULTI_SZ)
        return size <= UINT16_MAX ? give_string(to, data, size) : STATUS_BUFFER_OVERFLOW;
    if (size <= sizeof(ULONG)) {
        memcpy(to, data, size);
        return STATUS_SUCCESS;
    }
    memcpy(&room, to, sizeof(room));
    if (room < 0) {
        if (size > (ULONG)-room)
            return STATUS_BUFFER_TOO_SMALL;
        memcpy(to, data, size);
        return STATUS_SUCCESS;
    }
    if ((ULONG)room < sizeof(head) + size)
        return STATUS_BUFFER_TOO_SMALL;
    memcpy(to, head, sizeof(head));
    memcpy((char *)to + sizeof(head), data, size);
    return STATUS_SUCCESS;
}

static ULONG default_length(const RTL_QUERY_REGISTRY_TABLE *q)
{
    const WCHAR *s = q->DefaultData;
    ULONG n = 0;

    if (q->DefaultLength || (q->DefaultType != REG_SZ && q->DefaultType != REG_EXPAND_SZ) || !s)
        return q->DefaultLength;
    while (s[n++])
        ;
    return n * (ULONG)sizeof(WCHAR);
}

static NTSTATUS query_one(struct dxgk *d, const char *key, const RTL_QUERY_REGISTRY_TABLE *q, PVOID context)
{
    struct value v = {0};
    char name[64];

    if (!q->Name || !wide_to_ascii(q->Name, name, sizeof(name)) || !get_value(d, key, name, &v)) {
        if (q->Flags & RTL_QUERY_REGISTRY_REQUIRED)
            return STATUS_OBJECT_NAME_NOT_FOUND;
        if (q->DefaultType == REG_NONE)
            return STATUS_SUCCESS;
        v = (struct value){.type = q->DefaultType, .size = default_length(q), .data = q->DefaultData};
    }
    if (!(q->Flags & RTL_QUERY_REGISTRY_DIRECT))
        return KERNEL_GUEST(q->QueryRoutine)(q->Name, v.type, (PVOID)v.data, v.size, context,
                                             q->EntryContext);
    return give(q->EntryContext, v.type, v.data, v.size);
}

/* The key that `path` is relative to something. */
static NTSTATUS relative_key(const char *routine, ULONG relative, PCWSTR path, char *full, size_t size)
{
    static const char *const roots[] = {[RTL_REGISTRY_ABSOLUTE] = NULL,
                                        [RTL_REGISTRY_SERVICES] = "HKLM\\System\\CurrentControlSet\\Services",
                                        [RTL_REGISTRY_CONTROL] = "HKLM\\System\\CurrentControlSet\\Control"};
    const struct key_handle *key;
    char name[256];

    relative &= ~RTL_REGISTRY_OPTIONAL;
    if (relative == RTL_REGISTRY_HANDLE) { /* path is the handle */
        key = open_at(routine, (HANDLE)path);
        if (!key)
            return STATUS_INVALID_HANDLE;
        return snprintf(full, size, "%s", key->name) < (int)size ? STATUS_SUCCESS
                                                                 : STATUS_OBJECT_NAME_NOT_FOUND;
    }
    if (relative >= RTL_NUMBER_OF(roots) || !wide_to_ascii(path, name, sizeof(name)))
        return STATUS_INVALID_PARAMETER;
    return full_name(roots[relative], name, full, size) ? STATUS_SUCCESS : STATUS_OBJECT_NAME_NOT_FOUND;
}

NTSTATUS NTAPI RtlCheckRegistryKey(ULONG RelativeTo, PWSTR Path)
{
    char key[600];
    NTSTATUS s;
    CHECK(RtlCheckRegistryKey);

    s = relative_key("RtlCheckRegistryKey", RelativeTo, Path, key, sizeof(key));
    return !NT_SUCCESS(s) || has_key(OWNER(), key) ? s : STATUS_OBJECT_NAME_NOT_FOUND;
}

NTSTATUS NTAPI RtlWriteRegistryValue(ULONG RelativeTo, PCWSTR Path, PCWSTR ValueName, ULONG ValueType,
                                     PVOID ValueData, ULONG ValueLength)
{
    char key[600], name[64];
    NTSTATUS s;
    CHECK(RtlWriteRegistryValue);

    s = relative_key("RtlWriteRegistryValue", RelativeTo, Path, key, sizeof(key));
    if (!NT_SUCCESS(s))
        return s;
    if (!wide_to_ascii(ValueName, name, sizeof(name)))
        return STATUS_INVALID_PARAMETER;
    return put_value(OWNER(), key, name, ValueType, ValueData, ValueLength); /* which makes the key */
}

NTSTATUS NTAPI RtlCreateRegistryKey(ULONG RelativeTo, PWSTR Path)
{
    char key[600];
    NTSTATUS s;
    CHECK(RtlCreateRegistryKey);

    s = relative_key("RtlCreateRegistryKey", RelativeTo, Path, key, sizeof(key));
    return !NT_SUCCESS(s) || has_key(OWNER(), key) ? s : put_value(OWNER(), key, "", REG_NONE, NULL, 0);
}

NTSTATUS NTAPI RtlDeleteRegistryValue(ULONG RelativeTo, PCWSTR Path, PCWSTR ValueName)
{
    char key[600], name[64];
    NTSTATUS s;
    CHECK(RtlDeleteRegistryValue);

    s = relative_key("RtlDeleteRegistryValue", RelativeTo, Path, key, sizeof(key));
    if (NT_SUCCESS(s))
        s = wide_to_ascii(ValueName, name, sizeof(name)) ? delete_value(OWNER(), key, name)
                                                         : STATUS_OBJECT_NAME_NOT_FOUND;
    return s;
}

NTSTATUS NTAPI RtlQueryRegistryValues(ULONG RelativeTo, PCWSTR Path, PRTL_QUERY_REGISTRY_TABLE QueryTable,
                                      PVOID Context, PVOID Environment)
{
    struct dxgk *d = OWNER();
    char top[600], name[256], key[900];
    NTSTATUS s;
    CHECK(RtlQueryRegistryValues);

    UNREFERENCED_PARAMETER(Environment);
    s = relative_key("RtlQueryRegistryValues", RelativeTo, Path, top, sizeof(top));
    if (!NT_SUCCESS(s))
        return s;
    if (!has_key(d, top))
        return STATUS_OBJECT_NAME_NOT_FOUND;
    snprintf(key, sizeof(key), "%s", top);
    for (const RTL_QUERY_REGISTRY_TABLE *q = QueryTable; NT_SUCCESS(s) && (q->QueryRoutine || q->Name); q++) {
        if (q->Flags & (RTL_QUERY_REGISTRY_TOPKEY | RTL_QUERY_REGISTRY_SUBKEY))
            snprintf(key, sizeof(key), "%s", top);
        if (!(q->Flags & RTL_QUERY_REGISTRY_SUBKEY)) {
            s = query_one(d, key, q, Context);
        } else if (!wide_to_ascii(q->Name, name, sizeof(name)) || !full_name(top, name, key, sizeof(key)) ||
                   !has_key(d, key)) {
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
        dxgk_pool_free(dxgk_kernel_ctx(k), "RtlFreeUnicodeString", UnicodeString->Buffer, 0);
    *UnicodeString = (UNICODE_STRING){0};
}
