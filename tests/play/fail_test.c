/* SPDX-License-Identifier: MIT */
/* The nth allocation or system call fails: what plays says so, keeps nothing, and works again. */
#include "test.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "alloc_fail.h"
#include "play/pictures.h"
#include "play/player.h"
#include "play/sheet.h"
#include "play/targets.h"

static const char *recording; /* build/samples/spinning.aerogputrace */
static struct machine *machine;

static int measure(void *ctx)
{
    struct trace_reader *r;
    struct player_memory memory;
    int rc = trace_reader_open(&r, &(struct trace_reader_params){.path = recording}, NULL);

    if (rc)
        return rc;
    rc = player_measure(r, &memory, NULL);
    assert_true(rc || memory.low_end > 0);
    trace_reader_destroy(r);
    return rc;
}

TEST(measuring_a_recording)
{
    assert_true(alloc_fail_each(measure, NULL) > 3);
}

static int make_player(void *ctx)
{
    struct player *p;
    int rc = player_create(&p, &(struct player_params){.machine = machine, .only_frame = UINT32_MAX}, NULL);

    assert_true(!rc == (p != NULL));
    player_destroy(p);
    return rc;
}

TEST(making_a_player)
{
    assert_int_equal(
        machine_create(&machine,
                       &(struct machine_params){.kind = MACHINE_SIM, .ram_size = UINT64_C(256) << 20}, NULL),
        0);
    assert_true(alloc_fail_each(make_player, NULL) > 0);
    machine_destroy(machine);
}

/* Without memory for a surface the default picture is presented from then on: 64x64. */
static int follow(void *ctx)
{
    struct trace_reader *r;
    struct trace_record rec;
    struct trace_buffer b = {0};
    struct targets t = {0};
    struct target_scan scan = {0};
    int rc = trace_reader_open(&r, &(struct trace_reader_params){.path = recording}, NULL);

    while (!rc && (rc = trace_reader_next(r, &rec, NULL)) > 0) {
        rc = 0;
        if (rec.type != TRACE_BLOB || rec.blob.kind != TRACE_BLOB_CMD_STREAM)
            continue;
        rc = trace_reader_load(r, rec.blob.offset, rec.blob.size, &b, NULL);
        if (!rc)
            targets_scan(&t, 0, b.data, b.size, &scan);
        if (!rc && t.failed)
            rc = ALLOC_FAIL_COPED;
    }
    targets_finish(&t);
    trace_buffer_finish(&b);
    trace_reader_destroy(r);
    return rc;
}

TEST(following_what_is_presented)
{
    assert_true(alloc_fail_each(follow, NULL) > 3);
}

static int draw_sheet(void *ctx)
{
    static const uint8_t rgba[8 * 8 * 4];
    struct sheet s = {0};
    int rc = 0;

    for (uint32_t i = 0; i < 10 && !rc; i++)
        rc = sheet_add(&s, i / 4, "label", rgba, 8, 8);
    if (!rc)
        rc = sheet_write(&s, ctx, NULL);
    sheet_finish(&s);
    return rc;
}

TEST(a_contact_sheet)
{
    char path[] = "/tmp/aerogpu-sheet-XXXXXX";

    close(mkstemp(path));
    assert_true(alloc_fail_each(draw_sheet, path) > 10);
    unlink(path);
}

static int hash_pictures(void *ctx)
{
    char hash[2][FRAME_HASH_HEX] = {""};
    struct pictures *p;
    int rc = pictures_create(&p);

    for (int i = 0; i < 2 && !rc; i++) {
        struct picture_job job = {.rgba = calloc(4, 4), .width = 2, .height = 2, .hash = hash[i]};
        rc = job.rgba ? pictures_add(p, &job) : -ENOMEM;
    }
    if (p && pictures_wait(p, NULL))
        rc = -EIO;
    assert_true(rc || (hash[0][0] && !strcmp(hash[0], hash[1])));
    pictures_destroy(p);
    return rc;
}

TEST(pictures_on_a_thread)
{
    assert_true(alloc_fail_each(hash_pictures, NULL) > 4);
}

int main(int argc, char **argv)
{
    recording = argv[1];
    return argc < 2 ? 2 : test_run();
}
