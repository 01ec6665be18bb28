/* SPDX-License-Identifier: MIT */
/* The file by which the next run knows the groups that runs before crashed in: what it may be, and what must not be followed. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/utf8.h"
#include "known.h"
#include "test.h"

static char folder[64], hint[128];

static int up(void **state)
{
    strcpy(folder, "/tmp/aerogpu-known-XXXXXX");
    if (!mkdtemp(folder))
        return -1;
    snprintf(hint, sizeof(hint), "%s/p.aerogpuhint", folder);
    return 0;
}

static int down(void **state)
{
    char command[128];

    snprintf(command, sizeof(command), "rm -rf %s", folder);
    return system(command);
}

static void write_file(const char *path, const char *text)
{
    FILE *f = fopen(path, "w");

    assert_non_null(f);
    fputs(text, f);
    assert_int_equal(fclose(f), 0);
}

TEST_WITH(the_latest_groups_are_known, up, down)
{
    struct error e = {0};
    struct known k;

    for (uint64_t group = 1; group <= KNOWN_GROUPS + 3; group++)
        assert_int_equal(known_write(folder, "p", group, &e), 0);
    known_read(&k, folder, "p");
    assert_int_equal(k.num, KNOWN_GROUPS);
    assert_false(known_has(&k, 3));
    assert_true(known_has(&k, 4));
    assert_true(known_has(&k, KNOWN_GROUPS + 3));
}

/* Nor is it the order in which a long file has them that is forgotten. */
TEST_WITH(the_oldest_goes_first, up, down)
{
    char text[17 * (KNOWN_GROUPS + 5) + 1];
    struct error e = {0};
    struct known k;

    for (int i = 0; i < KNOWN_GROUPS + 5; i++)
        snprintf(text + 17 * i, 18, "%016x\n", i + 1);
    write_file(hint, text);
    assert_int_equal(known_write(folder, "p", 99, &e), 0);
    known_read(&k, folder, "p");
    assert_int_equal(k.num, KNOWN_GROUPS);
    for (uint32_t i = 0; i + 1 < KNOWN_GROUPS; i++)
        assert_int_equal(k.groups[i], 7 + i);
    assert_int_equal(k.groups[KNOWN_GROUPS - 1], 99);
}

/* Neither read nor written through: what it names stays as it was. */
TEST_WITH(a_link_is_replaced, up, down)
{
    char precious[128], text[64] = "";
    struct error e = {0};
    struct stat st;
    struct known k;
    FILE *f;

    snprintf(precious, sizeof(precious), "%s/precious", folder);
    write_file(precious, "0000000000000007\n");
    assert_int_equal(symlink(precious, hint), 0);
    known_read(&k, folder, "p");
    assert_int_equal(k.num, 0);
    assert_int_equal(known_write(folder, "p", 9, &e), 0);
    f = fopen(precious, "r");
    assert_non_null(f);
    assert_non_null(fgets(text, sizeof(text), f));
    assert_null(fgets(text + 20, 20, f));
    fclose(f);
    assert_string_equal(text, "0000000000000007\n");
    assert_int_equal(lstat(hint, &st), 0);
    assert_true(S_ISREG(st.st_mode));
    known_read(&k, folder, "p");
    assert_true(known_has(&k, 9));
}

TEST_WITH(a_pipe_holds_nobody_up, up, down)
{
    struct error e = {0};
    struct known k;

    assert_int_equal(mkfifo(hint, 0600), 0);
    known_read(&k, folder, "p");
    assert_int_equal(k.num, 0);
    assert_int_equal(known_write(folder, "p", 5, &e), 0);
    known_read(&k, folder, "p");
    assert_true(known_has(&k, 5));
}

TEST_WITH(what_is_torn_or_huge_is_none, up, down)
{
    struct error e = {0};
    struct known k;

    write_file(hint, "000000000000000a\n00000");
    known_read(&k, folder, "p");
    assert_int_equal(k.num, 1);
    assert_int_equal(known_write(folder, "p", 11, &e), 0);
    known_read(&k, folder, "p");
    assert_int_equal(k.num, 2);
    assert_true(known_has(&k, 10) && known_has(&k, 11));
    write_file(hint, "               \t7\n0x00000000000008\n-000000000000009\n000000000000000b\n"
                     "0000000000000000000000000000000000000000000000000000000000000000000000000000000c\n");
    known_read(&k, folder, "p");
    assert_int_equal(k.num, 1);
    assert_int_equal(k.groups[0], 11);
    assert_int_equal(truncate(hint, 1 << 30), 0);
    known_read(&k, folder, "p");
    assert_int_equal(k.num, 0);
}

TEST(a_name_is_one_line)
{
    char name[] = "x\n\nDraw 99 of submission 77\r\vdoes\fnot finish.";

    utf8_one_line(name);
    assert_string_equal(name, "x  Draw 99 of submission 77  does not finish.");
}
