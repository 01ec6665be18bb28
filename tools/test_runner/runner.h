/* SPDX-License-Identifier: MIT */
/* runner.h: runs validation programs one after the other and writes report.json.
 *
 *   runner_run ─▶ report.json (empty, so that no old success stays) ─▶ each test: start ─▶ end or time-out
 *              ─▶ on failure: dbgctl snapshots ─▶ report.json, JUnit XML
 *
 * Invariants:
 *  1. A test that takes longer than its limit is killed with every process that it started; exit code 124.
 *  2. A program that does not exist is a failure.
 *  3. A test's own JSON is taken only if it was written by this run.
 */
#pragma once

#include <stdbool.h>

#include "result.h"

struct runner_params {
    const char *suite_name;
    const char *bin_dir;
    const char *const *tests; /* names, count of them */
    unsigned num_tests;
    int timeout_ms;        /* of one test, times its --time-slack; 0: none */
    const char *json_path; /* NULL: no report is written */
    const char *junit_path;
    const char *log_dir; /* NULL: output of tests is dropped; made if it is not there */
    const char *dbgctl;  /* NULL: no snapshots */
    int dbgctl_timeout_ms;
    /* The events of the log since it was last called, [{source, id, text}], a new reference. NULL: nobody can read it. */
    json_t *(*events)(void *ctx);
    const char *const *extra; /* arguments for every test */
    unsigned num_extra;
    bool quiet;
    /* Called before (result NULL) and after each test: may add to its details. */
    void (*progress)(void *ctx, const char *name, unsigned index, unsigned total, struct test_result *result);
    void *ctx;
};

/* Adds the results to `out`, and writes the reports. 0; -EINTR: it was stopped, and the reports say so; -EINVAL, and a line on stderr:
 * a test refused its options (EXIT_USAGE), and none is run after it; or a negative errno, and
 * a line on stderr: they or the logs cannot be written. The JSON of each test stays beside the report, else in the log directory.
 */
int runner_run(const struct runner_params *p, struct test_results *out);
/* From a signal handler: the running test is killed and no other one starts; the report is written and says so. */
void runner_stop(void);
/* Reads a manifest: the first word of each line; `#`, `;`, `::` and `rem` begin comments. 0, and *names and each of its *count
 * strings are the caller's to free; or a negative errno, and there are none. */
int runner_manifest(const char *path, char ***names, unsigned *count);
/* Runs a program with its output into `path` (NULL: dropped): its exit code, 124 after a time-out, 127 if it cannot be
 * started. */
int runner_exec(char *const argv[], const char *out_path, const char *err_path, int timeout_ms);
/* A report as indented JSON; 0 or a negative errno. */
int runner_write_json(const char *path, const json_t *report);
int runner_write_junit(const char *path, const char *suite_name, const struct test_results *results);
