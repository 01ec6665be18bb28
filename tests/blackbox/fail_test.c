/* SPDX-License-Identifier: MIT */
/* fail_test.c: the nth allocation or system call of the black box fails. */
#include "test.h"

#include <stdio.h>
#include <unistd.h>

#include <aerogpu/blackbox.h>

#include "alloc_fail.h"
#include "blackbox/package.h"
#include "temp_dir.h"

/* Doing without is an answer where the code promises it: a row that is left out, a boot that is not known. */
static int or_coped(int r)
{
    return !r && alloc_fail_disarm() ? ALLOC_FAIL_COPED : r;
}

static int infer(void *ctx)
{
    const struct bb_item items[] = {
        {.kind = BB_ITEM_TOP, .written = true}, {.kind = BB_ITEM_COMMAND}, {.kind = BB_ITEM_BOTTOM}};
    struct bb_inference x;
    int r = bb_infer(&x, items, 3, BB_END_HANG);

    if (!r)
        assert_int_equal(x.certainty, BB_CERTAIN);
    bb_inference_finish(&x);
    return or_coped(r);
}

static int keep_resources(void *ctx)
{
    struct bb_resources *res;
    int r = bb_resources_create(&res, 16);

    for (uint64_t i = 1; !r && i < 400; i++)
        r = bb_resources_add(res, &(struct bb_resource){.id = i, .address = i << 12, .size = 64});
    for (uint64_t i = 1; !r && i < 40; i++)
        r = bb_resources_remove(res, i, i);
    bb_resources_destroy(res);
    return r;
}

/* A row that finds no memory is left out or has a NULL; what cannot be a package says so. */
static int pack(void *ctx)
{
    static const char big[3 << 20];
    struct bb_package *p;
    int r = bb_package_create(&p, 0);

    if (r)
        return r;
    bb_meta(p, "reason", "test");
    bb_row(p, BB_TABLE_SHADER);
    bb_blob(p, BB_shader_bytes, big, sizeof(big));
    bb_text(p, BB_shader_text, "text");
    bb_row_end(p);
    r = bb_package_failure(p);
    bb_package_destroy(p);
    return or_coped(r);
}

static void count(void *ctx, const struct bb_flight_record *r)
{
    ++*(unsigned *)ctx;
}

static int record(void *ctx)
{
    struct bb_flight *f;
    unsigned n = 0;
    int64_t r =
        bb_flight_open(&f, &(struct bb_flight_params){.directory = dir, .name = "fail", .events = 64}, NULL);

    if (r)
        return (int)r;
    for (unsigned i = 0; i < 64; i++)
        bb_flight_event(f, 1, i, 0, 0);
    r = bb_flight_read(bb_flight_path(f), count, &n, NULL);
    if (r > 0)
        assert_int_equal(n, r);
    if (r > 0) {
        n = 0;
        r = bb_flight_read_all(dir, 0, count, &n, NULL);
    }
    bb_flight_close(f);
    return or_coped(r > 0 ? 0 : (int)r);
}

static int report(void *ctx)
{
    FILE *out = ctx;
    int r = 0;

    for (int form = BB_REPORT_TEXT; !r && form <= BB_REPORT_PERFETTO; form++) {
        rewind(out);
        r = bb_report("tests.dump", (enum bb_report_format)form, out, NULL);
    }
    return or_coped(r);
}

TEST(allocations_fail)
{
    assert_true(alloc_fail_each(infer, NULL) >= 2);
    assert_true(alloc_fail_each(keep_resources, NULL) >= 400);
    assert_true(alloc_fail_each(pack, NULL) >= 4);
    assert_true(alloc_fail_each(record, NULL) >= 6);
}

TEST(a_report_fails)
{
    FILE *out = fopen("/dev/null", "w");
    struct bb_package *p;
    struct bb_error e = {0};

    assert_non_null(out);
    assert_int_equal(chdir(dir), 0);
    assert_int_equal(bb_package_create(&p, 0), 0);
    bb_meta(p, "summary", "a dump of a test");
    bb_row(p, BB_TABLE_PACKET);
    bb_int(p, BB_packet_submission, 1);
    bb_text(p, BB_packet_state, bb_state_name(BB_RUNNING));
    bb_row_end(p);
    if (bb_package_send(p, &(struct bb_send_params){.path = "tests.dump"}, &e))
        fail_msg("%s", e.text);
    bb_package_destroy(p);
    assert_true(alloc_fail_each(report, out) >= 4);
    fclose(out);
}

TEST_GROUP(make_dir, remove_dir);
