/* SPDX-License-Identifier: MIT */
/* diagnose.h: the rows of the checklist's section 5.4 that apply to what was seen, each with the evidence. */
#pragma once

#include <jansson.h>

/* `evidence`: {"events": [{time_ms, source, id, text}], "tests": [as in report.json], "status": body of
 * `aerogpu_dbgctl --status --json`, "later": the same some time after it, "tdr_level": number}; every key may be
 * missing. A new array of {symptom, signal, causes, first_checks, evidence}. */
json_t *diagnose(const json_t *evidence);
