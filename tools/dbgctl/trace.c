/* SPDX-License-Identifier: MIT */
/* trace.c: --trace: what dxgkrnl and the miniport's providers tell who traces them, an event a line. */
#include "dxgkrnl/telemetry/trace.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dbgctl.h"

enum { LOOK_MS = 50 };

static const struct {
    uint16_t id;
    const char *task, *field[DXGK_TRACE_FIELDS];
} events[] = {
#define ROW(NAME, id, task, opcode, ...) {id, task, {__VA_ARGS__}},
    DXGK_TRACE_EVENTS(ROW)
#undef ROW
};

static NTSTATUS ask(struct dbgctl *c, enum dxgk_trace_op op, struct dxgk_trace_block *b)
{
    D3DKMT_ESCAPE e = {.hAdapter = c->adapter,
                       .Type = (D3DKMT_ESCAPETYPE)DXGK_ESCAPE_TRACE,
                       .pPrivateDriverData = b,
                       .PrivateDriverDataSize = sizeof(*b)};

    b->op = op;
    return dbgctl_call(c, D3DKMT_THUNK_Escape, &e, sizeof(e));
}

static json_t *guid(const uint8_t g[16])
{
    char text[40];

    snprintf(text, sizeof(text), "%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-%02x%02x%02x%02x%02x%02x", g[3],
             g[2], g[1], g[0], g[5], g[4], g[7], g[6], g[8], g[9], g[10], g[11], g[12], g[13], g[14], g[15]);
    return json_string(text);
}

static json_t *opcode(uint8_t value)
{
    static const char *const names[] = {"Info", "Start", "Stop"};

    return value < 3 ? json_string(names[value]) : json_integer(value);
}

/* The bytes of an event whose fields nobody here knows. */
static json_t *bytes(const struct dxgk_trace_event *e)
{
    char text[2 * sizeof(e->field) + 1] = "";

    for (uint32_t i = 0; i < e->size && i < sizeof(e->field); i++)
        snprintf(text + (size_t)2 * i, 3, "%02x", ((const uint8_t *)e->field)[i]);
    return json_string(text);
}

static json_t *event(const struct dxgk_trace_event *e)
{
    static const uint8_t own[16] = DXGK_TRACE_PROVIDER;
    bool is_own = !memcmp(e->provider, own, sizeof(own));
    json_t *j = json_pack("{s:I, s:o, s:i, s:o, s:o, s:I}", "time_ns", (json_int_t)e->time_ns, "provider",
                          is_own ? json_string("Microsoft-Windows-DxgKrnl") : guid(e->provider), "id", e->id,
                          "opcode", opcode(e->opcode), "keyword_hex", dbgctl_hex(e->keyword), "process",
                          (json_int_t)e->process);

    for (size_t i = 0; is_own && i < sizeof(events) / sizeof(events[0]); i++)
        if (events[i].id == e->id) {
            json_object_set_new(j, "task", json_string(events[i].task));
            for (int f = 0; f < DXGK_TRACE_FIELDS && *events[i].field[f]; f++)
                json_object_set_new(j, events[i].field[f], json_integer((json_int_t)e->field[f]));
            return j;
        }
    json_object_set_new(j, "data_hex", bytes(e));
    return j;
}

static void tell(const struct dbgctl *c, json_t *list, const struct dxgk_trace_block *b)
{
    for (uint32_t i = 0; i < b->count && i < DXGK_TRACE_MOST; i++) {
        json_t *j = event(&b->event[i]);
        char *line = c->json ? NULL : json_dumps(j, JSON_COMPACT);
        if (line)
            dbgctl_line(c, "%s", line);
        free(line);
        if (c->json)
            json_array_append_new(list, j);
        else
            json_decref(j);
    }
}

int dbgctl_trace(struct dbgctl *c)
{
    struct dxgk_trace_block *b = calloc(1, sizeof(*b));
    uint64_t end = dbgctl_now_ns() + c->timeout_ms * UINT64_C(1000000), lost = 0, count = 0;
    json_t *list = json_array();
    NTSTATUS s = b && list ? ask(c, DXGK_TRACE_START_OP, b) : STATUS_NO_MEMORY;

    while (!s) {
        bool last = dbgctl_now_ns() >= end;
        s = ask(c, DXGK_TRACE_READ_OP, b);
        if (s)
            break;
        lost += b->lost;
        count += b->count;
        tell(c, list, b);
        if (b->count < DXGK_TRACE_MOST) {
            if (last)
                break;
            dbgctl_sleep_ms(LOOK_MS);
        } else if (last && dbgctl_now_ns() >= end + UINT64_C(1000000000)) {
            break; /* they come faster than they are read */
        }
    }
    if (!s)
        s = ask(c, DXGK_TRACE_STOP_OP, b);
    free(b);
    if (s) {
        json_decref(list);
        return dbgctl_fail(c, s, "events are not traced");
    }
    if (c->json) {
        json_object_set_new(c->body, "trace",
                            json_pack("{s:I, s:I, s:o}", "count", (json_int_t)count, "lost", (json_int_t)lost,
                                      "events", list));
    } else {
        json_decref(list);
        if (lost)
            fprintf(stderr, "aerogpu_dbgctl: %llu events were overwritten before they were read\n",
                    (unsigned long long)lost);
    }
    return DBGCTL_OK;
}
