/* SPDX-License-Identifier: MIT */
/* routines.c: see routines.h. */
#include "dxgkrnl/ntos/crt.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

SIZE_T NTAPI RtlCompareMemory(const VOID *Source1, const VOID *Source2, SIZE_T Length)
{
    const uint8_t *a = Source1, *b = Source2;
    SIZE_T n = 0;

    while (n < Length && a[n] == b[n])
        n++;
    return n;
}

/* A driver that guards a block imports it; nothing here raises what it would handle. */
LONG NTAPI __C_specific_handler(PVOID ExceptionRecord, PVOID EstablisherFrame, PVOID ContextRecord,
                                PVOID DispatcherContext)
{
    UNREFERENCED_PARAMETER(EstablisherFrame);
    UNREFERENCED_PARAMETER(ContextRecord);
    UNREFERENCED_PARAMETER(DispatcherContext);
    dxgk_kernel_violation(SELF(), "an exception reached __C_specific_handler (record %p)", ExceptionRecord);
    return 1; /* to continue the search */
}

/* ---- exports ------------------------------------------------------------- */

struct export
{
    const char *module, *name;
    void *address;
};
#define EXPORT_R(module, name, limit) {#module, #name, (void *)name},
#define EXPORT_C(module, name, limit) {#module, #name, (void *)dxgk_crt_##name},
#define EXPORT_V(module, name)        {#module, #name, (void *)&wddm_##name},
static const struct export windows_7[] = {NTOS_ROUTINES(EXPORT_R, EXPORT_C) NTOS_VARIABLES(EXPORT_V)},
                           later[] = {NTOS_LATER_ROUTINES(EXPORT_R)};

static void *look_up(const struct export *table, size_t count, const char *module, const char *name)
{
    size_t length = strcspn(module, ".");

    for (size_t i = 0; i < count; i++)
        if (!strcmp(table[i].name, name) && strlen(table[i].module) == length &&
            !strncasecmp(table[i].module, module, length))
            return table[i].address;
    return NULL;
}

void *dxgk_ntos_export(const char *module, const char *name)
{
    return look_up(windows_7, sizeof(windows_7) / sizeof(windows_7[0]), module, name);
}

const char *dxgk_ntos_export_name(const void *start)
{
    for (size_t i = 0; start && i < sizeof(windows_7) / sizeof(windows_7[0]); i++)
        if (windows_7[i].address == start)
            return windows_7[i].name;
    for (size_t i = 0; start && i < sizeof(later) / sizeof(later[0]); i++)
        if (later[i].address == start)
            return later[i].name;
    return NULL;
}

void *dxgk_ntos_export_later(const char *module, const char *name)
{
    void *found = look_up(later, sizeof(later) / sizeof(later[0]), module, name);

    return found ? found : dxgk_ntos_export(module, name);
}
