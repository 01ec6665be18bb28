/* SPDX-License-Identifier: MIT */
/* validate_page.h: what the parts of the report's page share. */
#pragma once

#include <jansson.h>

#include "base/strbuf.h"

const char *validate_text(const json_t *o, const char *key); /* "" if it is none */
double validate_number(const json_t *o, const char *key);
/* A test of the report by name; NULL. */
const json_t *validate_find_test(const json_t *report, const char *name);

/* The hang of tdr_recovery and the way back, as its sampler saw it (validate_timeline.c); nothing without a sampler. */
void validate_timeline(struct strbuf *b, const json_t *report);
