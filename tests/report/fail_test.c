/* SPDX-License-Identifier: MIT */
/* The nth allocation of a report fails: it is said at its end, nothing of it stays, and the next one is whole. */
#include "test.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "alloc_fail.h"
#include "report/chart.h"
#include "report/junit.h"
#include "report/page.h"
#include "report/timeline.h"
#include "report/trace_events.h"

static int finish(struct strbuf *o, const char *end)
{
    int r = strbuf_failed(o) ? -ENOMEM : 0;

    if (!r)
        assert_string_equal(o->data + o->len - strlen(end), end);
    strbuf_finish(o);
    return r;
}

static int write_page(void *ctx)
{
    const struct page page = {.title = "<all>", .style = "b{}", .script = "0;"};
    struct strbuf o = {0};
    struct timeline t;
    bool cut;

    page_begin(&o, &page);
    page_card(&o, "a", "A", NULL);
    page_picture(&o, "PNG", 3, "a&b", NULL);
    page_table(&o, "l:at|by");
    page_table_end(&o);
    chart_begin(&o, 10, 10, "a chart");
    chart_text(&o, 1, 1, "start", "", "%s", "<text>");
    chart_end(&o);
    timeline_begin(&t, &o, 0, 1000, 0, 20);
    timeline_name(&t, 0, 10, "%s", "<lane>");
    timeline_lanes(&t, "lanes");
    for (int i = 0; i < 100; i++)
        timeline_bar(&t, 0, 10, i, i + 1, "ok", "<bar>");
    timeline_text(&t, 0, 0, 1000, "<within>");
    timeline_mark(&t, 500, "bad", "<hung>", false);
    timeline_end(&t);
    page_card_end(&o);
    page_end(&o, &page);
    cut = !strbuf_failed(&o) && !strstr(strbuf_str(&o), "&lt;within&gt;");
    assert_false(cut); /* what is missing is said */
    return finish(&o, "</html>\n");
}

static int write_junit(void *ctx)
{
    struct strbuf o = {0};

    junit_begin(&o, &(struct junit_suite){.name = "suite", .tests = 40});
    for (int i = 0; i < 40; i++)
        junit_case(&o, &(struct junit_case){.classname = "c", .name = "n", .output = "\x1b\xff<&>"});
    junit_end(&o);
    return finish(&o, "</testsuite>\n</testsuites>\n");
}

static int write_trace(void *ctx)
{
    char text[8192];
    FILE *f = fmemopen(text, sizeof(text), "w");
    struct trace_events t;

    assert_non_null(f);
    trace_events_begin(&t, f);
    trace_events_name(&t, 1, 0, "process_name", "the GPU");
    trace_events_put(&t,
                     &(struct trace_event){.phase = 'X', .process = 1, .duration_ns = 10, .name = "draw"});
    trace_events_end(&t);
    assert_int_equal(fclose(f), 0);
    return 0;
}

TEST(reports_fail_as_a_whole)
{
    assert_true(alloc_fail_each(write_page, NULL) >= 5);
    assert_true(alloc_fail_each(write_junit, NULL) >= 5);
    assert_int_equal(alloc_fail_each(write_trace, NULL), 0); /* streams: no memory is asked for */
}
