/* SPDX-License-Identifier: MIT */
/* What a minimisation knows survives its end, a cut line, and a full disk. */
#include "test.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "minimize/progress.h"
#include "temp_dir.h"

static const char *path_of(const char *name)
{
    static char path[200];

    snprintf(path, sizeof(path), "%s/%s", dir, name);
    return path;
}

TEST(answers_are_there_for_who_comes_next)
{
    const char *path = path_of("known");
    struct error e = {0};
    struct progress *p;
    bool still = false;
    struct stat st;

    assert_int_equal(progress_open(&p, path, &e), 0);
    assert_false(progress_known(p, 1, &still));
    assert_int_equal(progress_add(p, UINT64_C(0xFEDCBA9876543210), true, &e), 0);
    assert_int_equal(progress_add(p, 1, false, &e), 0);
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_size, 2 * 19); /* when they are known, not when it ends */
    assert_int_equal(st.st_mode & 07777, 0600);
    progress_close(p, false);
    assert_int_equal(progress_open(&p, path, &e), 0);
    assert_true(progress_known(p, UINT64_C(0xFEDCBA9876543210), &still) && still);
    assert_true(progress_known(p, 1, &still) && !still);
    assert_false(progress_known(p, 2, &still));
    progress_close(p, true);
    assert_int_equal(access(path, F_OK), -1);
}

TEST(a_line_that_is_cut_is_no_answer)
{
    static const char text[] = "0000000000000001 1\n00000000000000020000000000000003 1\n"
                               "000000000000000A 1\n0000000000000004 2\n\n 000000000000005 1\n"
                               "0000000000000006 0\n0000000000000007 1";
    struct progress_answer *list;
    struct error e = {0};
    const char *path = path_of("cut");
    struct progress *p;
    bool still = false;
    size_t num;
    FILE *f;

    list = progress_parse(text, sizeof(text) - 1, &num);
    assert_int_equal(num, 2);
    assert_int_equal(list[0].hash, 1);
    assert_true(list[0].still);
    assert_int_equal(list[1].hash, 6);
    assert_false(list[1].still);
    free(list);
    assert_null(progress_parse("", 0, &num));
    f = fopen(path, "we");
    assert_non_null(f);
    fputs("0000000000000001 1\n00000000", f);
    fclose(f);
    for (int turn = 0; turn < 2; turn++) { /* what comes behind a cut line is one of its own */
        assert_int_equal(progress_open(&p, path, &e), 0);
        assert_true(progress_known(p, 1, &still) && still);
        assert_int_equal(progress_known(p, 9, &still), turn);
        if (!turn)
            assert_int_equal(progress_add(p, 9, false, &e), 0);
        progress_close(p, turn);
    }
    assert_false(still);
}

TEST(a_full_disk_is_said_once_and_what_was_known_stays)
{
    const char *path = path_of("full");
    struct error e = {0};
    struct progress *p;

    if (access("/dev/full", W_OK))
        skip();
    assert_int_equal(symlink("/dev/full", path), 0);
    assert_int_equal(progress_open(&p, path, &e), 0);
    assert_int_equal(progress_add(p, 1, true, &e), -ENOSPC);
    assert_non_null(strstr(e.text, "full: No space left on device; what is found from here on is not kept"));
    assert_int_equal(progress_add(p, 2, true, &e), 0);
    progress_close(p, true);
    assert_int_equal(access(path, F_OK), 0); /* it is no file of ours */
    path = path_of("no/folder");
    e = (struct error){0};
    assert_int_equal(progress_open(&p, path, &e), -EIO);
    assert_int_equal(progress_add(p, 1, true, &e), 0);
    progress_close(p, false);
}

TEST_GROUP(make_dir, remove_dir);
