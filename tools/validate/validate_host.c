/* SPDX-License-Identifier: MIT */
/* validate_host.c: the stack in this process, answering on a socket (live) or directly (sim). */
#include "validate.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "umd/umd.h"

#define SERVICE_KEY "HKLM\\SYSTEM\\CurrentControlSet\\Services\\aerogpu\\Parameters"

/* What a validation needs that a user's machine has off: reading memory for pictures, planting faults; and enough resets
 * before the adapter is given up, for a suite resets it more often than a minute allows. */
static int settings_for(struct validate_host *h, const struct validate_options *o, const char *more,
                        struct error *e)
{
    int r = dxgk_settings_set(&h->settings, SERVICE_KEY, "EnableReadGpaEscape", 1);

    if (!r)
        r = dxgk_settings_set(&h->settings, SERVICE_KEY, "EnableMapSharedHandleEscape", 1);
    if (!r)
        r = dxgk_settings_set(&h->settings, SETTINGS_GRAPHICS_DRIVERS, "EnableFaultInjection", 1);
    if (!r)
        r = dxgk_settings_set(&h->settings, SETTINGS_GRAPHICS_DRIVERS, "TdrLimitCount", 20);
    if (r)
        return error_set(e, r, "no memory for settings");
    r = o->settings ? dxgk_settings_read(&h->settings, o->settings, e) : 0;
    return !r && more ? dxgk_settings_parse(&h->settings, more, strlen(more), e) : r;
}

static void on_event(void *ctx, const struct dxgk_event *e)
{
    watch_system_event(((struct validate_host *)ctx)->watch, e->id, e->text);
}

int validate_host_up(struct validate_host *h, const struct validate_options *o, struct error *e)
{
    return validate_host_up_with(h, o, NULL, e);
}

int validate_host_up_with(struct validate_host *h, const struct validate_options *o, const char *settings,
                          struct error *e)
{
    struct stack_params p = {.machine = {.kind = o->sim ? MACHINE_SIM : MACHINE_LIVE,
                                         .ram_size = UINT64_C(1024) << 20,
                                         .executor = o->executor,
                                         .device = o->device,
                                         .seed = o->seed},
                             .settings = &h->settings,
                             .on_event = on_event,
                             .event_ctx = h};
    char socket[sizeof(h->folder.path) + 8];
    bool cpu;
    int r;

    *h = (struct validate_host){.sim = o->sim};
    r = settings_for(h, o, settings, e);
    if (!r)
        r = stack_create(&h->stack, &p, e);
    if (!r)
        r = machine_wait_ready(stack_machine(h->stack), 60000, e);
    if (!r && !o->sim)
        r = dumps_begin(&h->watch,
                        &(struct dumps_params){.machine = stack_machine(h->stack),
                                               .program = "validate",
                                               .max = 64,
                                               .settings = &h->settings},
                        e);
    if (r)
        return r;
    machine_device_name(stack_machine(h->stack), h->device, &cpu);
    h->start_ns = clock_now(stack_clock(h->stack));
    if (!NT_SUCCESS(stack_start(h->stack, e)))
        return e->code ? e->code : error_set(e, -EIO, "the adapter does not start");
    if (dxgk_displays_only(stack_dxgk(h->stack)))
        return error_set(
            e, -ENOTSUP,
            "the miniport only displays, and the checklist is for those that render; `aerogpu serve --miniport` "
            "runs it, and docs/dxgkrnl.md says how its pictures are checked");
    r = dxgk_client_open(stack_dxgk(h->stack), &h->client, (uint64_t)getpid(), true);
    if (r)
        return error_set(e, r, "no memory for a client");
    d3dkmt_local(&h->transport, h->client);
    if (o->sim) {
        d3dkmt_use(&h->transport);
        return 0;
    }
    r = scratch_make(&h->folder, "aerogpu-validate", false, e);
    if (r)
        return r;
    snprintf(socket, sizeof(socket), "%s/socket", h->folder.path);
    r = d3dkmt_serve(&h->server, &(struct d3dkmt_serve_params){stack_dxgk(h->stack), socket, 0600, (gid_t)-1},
                     e);
    if (!r)
        setenv(D3DKMT_SOCKET_VARIABLE, socket, 1);
    d3dkmt_use(&h->transport); /* this process itself needs no socket */
    return r;
}

void validate_host_unload(struct validate_host *h)
{
    d3dkmt_use(NULL);
    if (h->server)
        d3dkmt_serve_end(h->server);
    if (h->client) {
        dxgk_client_cancel(h->client);
        dxgk_client_close(h->client);
    }
    h->server = NULL;
    h->client = NULL;
    if (h->stack)
        dxgk_unload(stack_dxgk(h->stack));
}

void validate_host_down(struct validate_host *h)
{
    validate_host_unload(h);
    watch_destroy(h->watch);
    h->watch = NULL;
    if (h->stack)
        stack_destroy(h->stack);
    dxgk_settings_finish(&h->settings);
    scratch_remove(&h->folder);
}

json_t *validate_host_events(struct validate_host *h)
{
    json_t *out = json_array();
    struct dxgk_event e;

    for (unsigned i = 0; h->stack && dxgk_event(stack_dxgk(h->stack), i, &e); i++)
        json_array_append_new(out, json_pack("{s:f, s:s, s:i, s:s}", "time_ms",
                                             (double)(e.time_ns - h->start_ns) / 1e6, "source", e.source,
                                             "id", (int)e.id, "text", e.text));
    return out;
}

json_t *validate_host_violations(struct validate_host *h)
{
    json_t *out = json_array();

    for (unsigned i = 0; h->stack && i < dxgk_violations(stack_dxgk(h->stack)); i++) {
        const char *text = dxgk_violation(stack_dxgk(h->stack), i);
        if (text)
            json_array_append_new(out, json_string(text));
    }
    return out;
}
