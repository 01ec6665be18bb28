/* SPDX-License-Identifier: MIT */
/* crash_test.c: real crashes of the real executor, dumped, explained, played again. */
#include "test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "minimize/crash_run.h"

/* No progress for so long is a hang; what is none must not become one where shaders are translated slowly. */
enum { HANG_MS = 500, NO_HANG_MS = 60000 };

static const char *samples;
static char dir[] = "/tmp/crash_testXXXXXX";

static int make_dir(void **state)
{
    return mkdtemp(dir) ? 0 : -1;
}

static int remove_dir(void **state)
{
    char command[64];

    snprintf(command, sizeof(command), "rm -rf %s", dir);
    return system(command);
}

static void crash(const char *name, enum exec_markers markers, const char *dumps, struct crash_run_result *r)
{
    char path[4096];
    struct error e = {0};

    snprintf(path, sizeof(path), "%s/%s.aerogputrace", samples, name);
    /* What hangs is called starved where the machine hardly lets it run: then it gets longer. */
    for (uint32_t ms = HANG_MS; ms == HANG_MS || (ms <= 8 * HANG_MS && r->crash.cause == BB_CAUSE_STARVED);
         ms *= 2) {
        if (crash_run(&(struct crash_run_params){.path = path,
                                                 .markers = markers,
                                                 .hang_ms = strcmp(name, "hang") ? NO_HANG_MS : ms,
                                                 .directory = dumps,
                                                 .program = name,
                                                 .errors_count = true},
                      r, &e))
            fail_msg("%s", e.text);
        assert_true(r->crashed);
    }
}

TEST(hang_is_placed_exactly)
{
    struct crash_run_result r;

    crash("hang", EXEC_MARKERS_EXACT, NULL, &r);
    assert_int_equal(r.crash.cause, BB_CAUSE_HANG);
    assert_true(r.crash.certain);
    assert_int_equal(r.crash.draw, 77);
    assert_int_equal(r.crash.packet, 170);
    assert_string_equal(r.crash.path, "fog");
    assert_string_equal(r.crash.command, "DRAW");
    assert_string_equal(r.crash.text, "Draw 77 (packet 170, DRAW) in fog of submission 1 does not finish");
}

/* Group markers leave more than one command: none is named with certainty, and the right one is among them. */
TEST(groups_leave_candidates)
{
    struct crash_run_result r;
    struct bb_error e = {0};
    char *text = NULL;
    size_t size;
    FILE *f;

    crash("hang", EXEC_MARKERS_GROUPS, dir, &r);
    assert_false(r.crash.certain);
    assert_true(r.crash.candidates > 1 && r.crash.packet <= 170);
    f = open_memstream(&text, &size);
    if (bb_report(r.dump, BB_REPORT_TEXT, f, &e))
        fail_msg("%s", e.text);
    fclose(f);
    assert_non_null(strstr(text, "perhaps running"));
    assert_non_null(strstr(text, "candidate, by group markers"));
    free(text);
    text = NULL;
    f = open_memstream(&text, &size);
    assert_int_equal(bb_report(r.dump, BB_REPORT_HTML, f, NULL), 0);
    fclose(f);
    assert_non_null(strstr(text, "</html>"));
    assert_null(strstr(text, "http")); /* it needs nothing from elsewhere */
    free(text);
}

TEST(use_after_free_is_told)
{
    struct crash_run_result r;

    crash("after_free", EXEC_MARKERS_EXACT, NULL, &r);
    assert_int_equal(r.crash.cause, BB_CAUSE_PAGE_FAULT);
    assert_true(r.crash.certain && r.crash.fault_known);
    assert_int_equal(r.crash.fault_kind, BB_FAULT_USE_AFTER_FREE);
    assert_int_equal(r.crash.fault_resource, 11);
    assert_string_equal(r.crash.command, "DISPATCH");
}

TEST(out_of_bounds_is_told)
{
    struct crash_run_result r;

    crash("beyond", EXEC_MARKERS_EXACT, NULL, &r);
    assert_true(r.crash.certain);
    assert_int_equal(r.crash.fault_kind, BB_FAULT_OUT_OF_BOUNDS);
    assert_int_equal(r.crash.fault_resource, 11);
    assert_int_equal(r.crash.fault_distance % 4, 1); /* words, the first byte behind the end is 1 */
}

TEST(wild_store_is_told)
{
    struct crash_run_result r;

    crash("wild", EXEC_MARKERS_EXACT, NULL, &r);
    assert_true(r.crash.certain);
    assert_int_equal(r.crash.fault_kind, BB_FAULT_NEVER_MAPPED);
    assert_int_equal(r.crash.fault_address, 0x7ddead0000);
}

/* The same crash has the same fingerprint, another one another. */
TEST(fingerprints)
{
    struct crash_run_result a, b, c;

    crash("wild", EXEC_MARKERS_EXACT, NULL, &a);
    crash("wild", EXEC_MARKERS_EXACT, NULL, &b);
    crash("hang", EXEC_MARKERS_EXACT, NULL, &c);
    assert_string_equal(a.crash.fingerprint, b.crash.fingerprint);
    assert_string_not_equal(a.crash.fingerprint, c.crash.fingerprint);
}

TEST_GROUP(make_dir, remove_dir);

int main(int argc, char **argv)
{
    samples = argc > 1 ? argv[1] : "build/samples/crash";
    log_set_level(LOG_ERROR);
    return test_run();
}
