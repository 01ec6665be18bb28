/* SPDX-License-Identifier: MIT */
/* faults.c: commands that break something on purpose: --inject and --force-tdr. Both are for root and the service's user. */
#include "dbgctl.h"

#include <string.h>

#include "base/options.h"
#include "dxgkrnl/faults.h"

enum { LOOK_MS = 10 };

static const struct {
    const char *name, *doc;
} faults[DXGK_NUM_FAULTS] = {
#define ROW(id, name, text) [DXGK_FAULT_##id] = {name, text},
    DXGK_FAULTS(ROW)
#undef ROW
};

static NTSTATUS escape(struct dbgctl *c, int type, void *block, uint32_t size)
{
    D3DKMT_ESCAPE e = {.hAdapter = c->adapter,
                       .Type = (D3DKMT_ESCAPETYPE)type,
                       .pPrivateDriverData = block,
                       .PrivateDriverDataSize = size};

    return dbgctl_call(c, D3DKMT_THUNK_Escape, &e, sizeof(e));
}

static int name_them(struct dbgctl *c, const char *word, size_t length)
{
    char list[DXGK_NUM_FAULTS * 20] = "";

    for (unsigned i = 0; i < DXGK_NUM_FAULTS; i++) {
        strcat(list, i ? ", " : "");
        strcat(list, faults[i].name);
    }
    dbgctl_refuse(c, "--inject: no fault '%.*s'; there are %s", (int)(length < 32 ? length : 32), word, list);
    return DBGCTL_USAGE;
}

int dbgctl_inject(struct dbgctl *c)
{
    const char *equals = strchr(c->path, '=');
    size_t length = equals ? (size_t)(equals - c->path) : strlen(c->path);
    struct dxgk_injection i = {.value = 1};
    struct error e = {0};
    uint64_t value = 1;
    NTSTATUS s;

    while (i.fault < DXGK_NUM_FAULTS &&
           (strncmp(faults[i.fault].name, c->path, length) || faults[i.fault].name[length]))
        i.fault++;
    if (i.fault == DXGK_NUM_FAULTS)
        return name_them(c, c->path, length);
    if (equals && options_number("--inject: the value", equals + 1, 0, UINT32_MAX, &value, &e)) {
        dbgctl_refuse(c, "%s", e.text);
        return DBGCTL_USAGE;
    }
    i.value = (uint32_t)value;
    s = escape(c, DXGK_ESCAPE_INJECT, &i, sizeof(i));
    if (s == STATUS_NOT_SUPPORTED)
        c->hint = "a service takes faults with EnableFaultInjection = 1 in its settings";
    if (s)
        return dbgctl_fail(c, s, "%s was not injected", faults[i.fault].name);
    json_object_set_new(c->body, "injected",
                        json_pack("{s:s, s:I, s:s}", "fault", faults[i.fault].name, "value",
                                  (json_int_t)i.value, "doc", faults[i.fault].doc));
    return DBGCTL_OK;
}

static NTSTATUS resets(struct dbgctl *c, uint64_t *count)
{
    struct aerogpu_escape_query_perf p = {0};
    NTSTATUS s = DBGCTL_ESCAPE(c, QUERY_PERF, &p);

    *count = p.reset_from_timeout_count;
    return s;
}

static bool has_failed(struct dbgctl *c)
{
    D3DKMT_GETSCANLINE g = {.hAdapter = c->adapter, .VidPnSourceId = c->source};

    return dbgctl_call(c, D3DKMT_THUNK_GetScanLine, &g, sizeof(g)) == STATUS_DEVICE_REMOVED;
}

/* Waits until the driver has been reset: what was asked for has happened then, and not only been noted. */
int dbgctl_force_tdr(struct dbgctl *c)
{
    uint64_t before, after, begin = dbgctl_now_ns(), limit = c->timeout_ms * UINT64_C(1000000);
    uint32_t type = D3DKMT_TDRDBGCTRLTYPE_FORCETDR;
    NTSTATUS s = resets(c, &before);

    if (s)
        return dbgctl_fail(c, s, "QUERY_PERF");
    s = escape(c, D3DKMT_ESCAPE_TDRDBGCTRL, &type, sizeof(type));
    if (s)
        return dbgctl_fail(c, s, "no reset was forced");
    for (after = before; !s && after == before && !has_failed(c) && dbgctl_now_ns() - begin < limit;
         s = resets(c, &after))
        dbgctl_sleep_ms(LOOK_MS);
    if (s)
        return dbgctl_fail(c, s, "QUERY_PERF");
    if (has_failed(c))
        return dbgctl_fail(
            c, STATUS_DEVICE_REMOVED,
            "the adapter failed (BugCheck 0x116): more time-outs than TdrLimitCount allows, or a reset that failed");
    if (after == before)
        return dbgctl_fail(c, STATUS_TIMEOUT, "the driver was not reset within %u ms", c->timeout_ms);
    json_object_set_new(c->body, "tdr",
                        json_pack("{s:o, s:o, s:I}", "resets_before", dbgctl_u64(before), "resets_after",
                                  dbgctl_u64(after), "waited_ms",
                                  (json_int_t)((dbgctl_now_ns() - begin) / 1000000)));
    return DBGCTL_OK;
}
