/* SPDX-License-Identifier: MIT */
/* expect.h: what the event log has to say after a test (suite.h, invariant 5). */
#pragma once

#include "result.h"

/* The first of `events` that no test and no start may bring by itself, or NULL. */
const json_t *expect_alarm(const json_t *events);
/* The events of all services that the test brought up for itself, a new reference. */
json_t *expect_service_events(const struct test_result *result);
/* The same of these, which are judged until they are unloaded: with nothing expected of them, they end well. Known without a log. */
void expect_services(struct test_result *result);
/* `events` of the log since the test began, [{source, id, text}], become part of its result. A result that is PASS becomes
 * FAIL when an event that the test expects did not come as often as it says, when one of a reset, a fault, a bug check or
 * a broken rule came that it does not expect, or when the doctor does not name a row that it expects. */
void expect_check(struct test_result *result, json_t *events);
