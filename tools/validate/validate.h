/* SPDX-License-Identifier: MIT */
/* validate.h: `aerogpu validate`: the stack brought up, looked at, broken, and written down.
 *
 *   bring up ─▶ checklist in its order ─▶ suite ─▶ what breaks and recovers ─▶ baseline ─▶ record, report.json, report.html
 */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/file/scratch.h"
#include "minimize/dumps.h"
#include "d3dkmt/server.h"
#include "stack/stack.h"

struct validate_options {
    const char *out; /* folder for everything that is written */
    const char *executor, *device, *settings, *miniport;
    unsigned soak_minutes, composition_minutes, time_slack;
    uint64_t seed;
    bool quick, sim, json, keep_going;
};

/* The stack in this process (validate_host.c). */
struct validate_host {
    struct stack *stack;
    struct watch *watch; /* NULL: AEROGPU_DUMPS is not set */
    struct d3dkmt_server *server;
    struct dxgk_client *client;
    struct d3dkmt_transport transport;
    struct settings settings;
    struct scratch folder; /* of the socket */
    char device[256];
    bool sim;
    uint64_t start_ns;
};

int validate_host_up(struct validate_host *h, const struct validate_options *o, struct error *e);
/* The same with more settings, as a settings file's text. */
int validate_host_up_with(struct validate_host *h, const struct validate_options *o, const char *settings,
                          struct error *e);
/* No client is served any more, the adapter is stopped and its miniport unloaded; events and violations can be read still. */
void validate_host_unload(struct validate_host *h);
void validate_host_down(struct validate_host *h);
/* Events of the log so far: [{time_ms, source, id, text}]. */
json_t *validate_host_events(struct validate_host *h);
json_t *validate_host_violations(struct validate_host *h);

/* Section 4's metrics, measured on the running stack over `ms` (validate_baseline.c). NULL: the stack does not run. */
json_t *validate_baseline(struct validate_host *h, unsigned ms);
/* The same of everybody who was a client, from the start on, as dxgkrnl counted it (dxgkrnl/telemetry/metrics.h); null: no answer. */
json_t *validate_metrics(struct validate_host *h);
/* The record of section 0.1, filled in, as text. free() it. */
char *validate_record(const json_t *report);
/* The page (validate_html.c): 0 or a negative errno. */
int validate_html(const char *path, const json_t *report, struct error *e);
