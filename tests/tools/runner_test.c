/* SPDX-License-Identifier: MIT */
/* The runner's own parts: its manifest, also without memory, and the XML that it makes of whatever a test says. */
#include "test.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "alloc_fail.h"
#include "runner.h"

static char path[] = "/tmp/aerogpu-runner-XXXXXX";

static void write_file(const char *text)
{
    FILE *f = fopen(path, "w");

    assert_non_null(f);
    fputs(text, f);
    fclose(f);
}

static int read_manifest(void *ctx)
{
    static const char *const expected[] = {"vblank_wait", "triangle", "readback_sanity"};
    unsigned n = 9;
    char **names;
    int r = runner_manifest(path, &names, &n);

    (void)ctx;
    if (r) {
        assert_true(!names && !n);
        return r;
    }
    assert_int_equal(n, 3);
    for (unsigned i = 0; i < n; i++) {
        assert_string_equal(names[i], expected[i]);
        free(names[i]);
    }
    free(names);
    return 0;
}

TEST(a_manifest_names_tests_or_nothing)
{
    write_file("\xEF\xBB\xBF# comment\nvblank_wait and more\n\n:: no\nREM no\n  triangle\r\nreadback_sanity");
    assert_int_equal(read_manifest(NULL), 0);
    assert_true(alloc_fail_each(read_manifest, NULL) >= 5); /* the file, the list, three names */
}

TEST(junit_is_xml_whatever_a_test_says)
{
    struct test_result items[] = {
        {.name = "one<", .status = TEST_FAIL, .why = "x < y & \"z\"\x01\t'", .duration_ms = 1500},
        {.name = "two", .status = TEST_SKIP, .why = "no <GPU>"},
        {.name = "three", .duration_ms = 2}};
    const struct test_results results = {.items = items, .num = 3};
    char text[2000] = "";
    FILE *f;

    assert_int_equal(runner_write_junit(path, "a\"b", &results), 0);
    f = fopen(path, "r");
    assert_true(fread(text, 1, sizeof(text) - 1, f) > 0);
    fclose(f);
    assert_string_equal(
        text,
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
        "<testsuites>\n<testsuite name=\"a&quot;b\" tests=\"3\" failures=\"1\" errors=\"0\" skipped=\"1\">\n"
        "<testcase classname=\"aerogpu\" name=\"one&lt;\" time=\"1.500\">"
        "<failure message=\"x &lt; y &amp; &quot;z&quot;&lt;U+0001&gt;\t&#39;\"/></testcase>\n"
        "<testcase classname=\"aerogpu\" name=\"two\" time=\"0.000\"><skipped message=\"no &lt;GPU&gt;\"/></testcase>\n"
        "<testcase classname=\"aerogpu\" name=\"three\" time=\"0.002\"></testcase>\n"
        "</testsuite>\n</testsuites>\n");
    assert_int_equal(runner_write_junit("/dev/null/x.xml", "a", &results), -ENOTDIR);
    if (!access("/dev/full", W_OK))
        assert_int_equal(runner_write_junit("/dev/full", "a", &results), -EIO);
}

int main(void)
{
    int fd = mkstemp(path), r;

    if (fd < 0)
        return 2;
    close(fd);
    r = test_run();
    unlink(path);
    return r;
}
