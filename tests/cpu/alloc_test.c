/* SPDX-License-Identifier: MIT */
#include "test.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "alloc_fail.h"
#include "cpu/model/verdict.h"
#include "cpu/report/report.h"
#include "report/page.h"
#include "report/timeline.h"
#include "stall_plants.h"

static char path[] = "/tmp/aerogpu-alloc-XXXXXX";
static struct cpu_window window;
static struct cpu_trace trace;

static int make_file(void **state)
{
    struct error e = {0};
    struct rng rng = {7};
    int fd = mkstemp(path);

    if (fd < 0 || close(fd))
        return -1;
    stall_story(20, &rng, path, &window); /* a lock: it has looks at threads, too */
    return cpu_trace_open(&trace, path, &e);
}

static int drop_file(void **state)
{
    cpu_trace_close(&trace);
    return unlink(path);
}

/* Readers say which block they could not unpack, and go on: that is what notes are for. */
static int coped(int err, uint64_t notes)
{
    return !err && trace.notes.count > notes ? ALLOC_FAIL_COPED : err;
}

static int analyse(void *ctx)
{
    const uint64_t notes = trace.notes.count;
    struct cpu_report r;
    struct error e = {0};
    int err = cpu_report_init(&r, &trace, 0, UINT64_MAX, 0, &e);

    if (!err)
        cpu_report_finish(&r);
    return coped(err, notes);
}

/* What could not be read makes no verdict certain. */
static int judge(void *ctx)
{
    const uint64_t notes = trace.notes.count;
    struct cpu_verdict v;
    struct error e = {0};
    int err = cpu_verdict_make(&v, &trace, &window, 0, &e);

    if (!err && !trace.notes.count)
        assert_int_equal(v.kind, CPU_VERDICT_LOCKED);
    if (!err && trace.notes.count)
        assert_int_not_equal(v.certainty, CPU_CERTAIN);
    return coped(err, notes);
}

static int write_page(void *ctx)
{
    const struct page page = {.title = "a page"};
    struct cpu_report *r = ctx;
    struct strbuf o = {0};
    struct timeline t;
    int err;

    page_begin(&o, &page);
    page_card(&o, "time", "Time", NULL);
    timeline_begin(&t, &o, 0, 1000000, 0, 20);
    timeline_name(&t, 0, 20, "a lane");
    timeline_lanes(&t, "a time line");
    timeline_mark(&t, 500000, "bad", "there", false);
    timeline_end(&t);
    page_card_end(&o);
    page_end(&o, &page);
    cpu_report_html(r, &o);
    err = strbuf_failed(&o) ? -ENOMEM : 0;
    strbuf_finish(&o);
    return err;
}

TEST(a_recording_is_analysed_without_memory)
{
    assert_true(alloc_fail_each(analyse, NULL) > 3);
}

TEST(a_wait_is_judged_without_memory)
{
    struct error e = {0};

    cpu_trace_close(&trace); /* without the notes of what failed before */
    assert_int_equal(cpu_trace_open(&trace, path, &e), 0);
    assert_true(alloc_fail_each(judge, NULL) > 5);
}

TEST(a_page_is_written_without_memory)
{
    struct cpu_report r;
    struct error e = {0};

    assert_int_equal(cpu_report_init(&r, &trace, 0, UINT64_MAX, 0, &e), 0);
    assert_true(alloc_fail_each(write_page, &r) > 5);
    cpu_report_finish(&r);
}

TEST_GROUP(make_file, drop_file);
