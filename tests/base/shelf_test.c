/* SPDX-License-Identifier: MIT */
/* shelf_test.c: the containers, searches and writers of src/base. */
#include "test.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/array.h"
#include "base/fair.h"
#include "base/fds.h"
#include "base/json_write.h"
#include "base/map.h"
#include "base/program.h"
#include "base/rate.h"
#include "base/rng.h"
#include "base/file/subuid.h"
#include "base/utf8.h"

TEST(array_grows_and_keeps)
{
    size_t room = 0, num = 0;
    uint32_t *items = NULL;

    for (; num < 10000; num++) {
        assert_int_equal(array_reserve(items, room, num + 1), 0);
        items[num] = (uint32_t)num;
    }
    for (size_t i = 0; i < num; i++)
        assert_int_equal(items[i], i);
    assert_int_equal(array_reserve(items, room, SIZE_MAX / 2), -ENOMEM);
    assert_int_equal(items[9999], 9999);
    free(items);
}

/* However many take all that they may, who comes next finds something: the last quarter is for who has next to nothing. */
TEST(shares_leave_something_for_the_next)
{
    static const uint64_t want[] = {22, 11, 5, 3, 1};
    const uint64_t gib = UINT64_C(1) << 30;
    uint64_t used = 0;
    unsigned users = 0;

    for (; used < 62 - 3; users++) {
        uint64_t mine = 0;
        for (; fair_share(mine, 1, used, 62); used++)
            mine++;
        assert_int_equal(mine, users < 5 ? want[users] : 1);
    }
    assert_int_equal(users, 5 + 17);
    assert_false(fair_share(0, 1, used, 62)); /* the reserve is not for who shares */
    assert_int_equal(fair_reserve(62), 3);
    assert_int_equal(fair_reserve(15), 1);
    assert_int_equal(fair_reserve(1), 0);
    assert_true(fair_share(0, 1, 0, 1));
    assert_false(fair_share(0, 1, 1, 2));
    assert_true(fair_share(0, gib / 64, gib * 3 / 4, gib));
    assert_false(fair_share(0, gib / 64 + 1, gib * 3 / 4, gib));
    assert_true(fair_share(gib / 64, 0, gib + 1, gib)); /* nothing more, of what others have too much of */
    assert_false(fair_share(gib / 2, 0, gib + 1, gib));
    assert_false(fair_share(0, 63, 0, 62));
    assert_false(fair_share(0, UINT64_MAX, 1, 62));
    assert_false(fair_share(0, 1, 63, 62)); /* what others have, who need not share */
}

static void put(const char *path, const char *text)
{
    FILE *f = fopen(path, "we");

    assert_non_null(f);
    fputs(text, f);
    fclose(f);
}

TEST(subordinate_users_are_their_owners)
{
    static const struct {
        uid_t uid, owner;
    } rows[] = {
        {99999, 99999},                   /* before the first range, */
        {100000, 1000},   {165535, 1000}, /* in it, */
        {165536, 1001},                   /* behind it, in the next, whose owner is a number */
        {231071, 1001},   {231072, 231072}, {300000, 300000}, {300001, 300000}, /* nobody knows the owner */
        {400000, 400000}, {500000, 500000}, {600000, 600000}, {700000, 700000}, {4294967294u, 4294967294u},
        {800005, 1000}, /* a second range, after lines that are none */
        {900000, 1002},   {0, 0},
    };
    char subuid[64], passwd[64];

    snprintf(subuid, sizeof(subuid), "/tmp/shelf-subuid.%d", (int)getpid());
    snprintf(passwd, sizeof(passwd), "/tmp/shelf-passwd.%d", (int)getpid());
    assert_int_equal(subuid_owner(100000, subuid, passwd), 100000); /* no file */
    put(passwd, "root:x:0:0::/:/bin/sh\nbo:x:1002:1::/:\nbob:x:1000:1::/:\n\nbroken\nbobby:x:1003:1::/:\n");
    put(subuid, "bob:100000:65536\n1001:165536:65536\nghost:300000:9\n"
                "bob:400000\nbob:-500000:9\nbob:600000:0\n700000:1\nbob: 700000:1\nbob:700000:1x\n"
                "bob:99999999999999999999:9\nbob:4294967294:\n:\n\nbob:800000:10\nbo:900000:1");
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        assert_int_equal(subuid_owner(rows[i].uid, subuid, passwd), rows[i].owner);
    unlink(passwd);
    assert_int_equal(subuid_owner(165534, subuid, passwd), 100000);
    assert_int_equal(subuid_owner(165538, subuid, passwd), 1001);
    unlink(subuid);
}

TEST(a_rate_is_a_burst_and_then_its_pace)
{
    struct rate r = {0};
    unsigned n = 0;

    for (uint64_t now = 1000000; now < 1000100; now++)
        n += rate_allows(&r, now, 1000, 20);
    assert_in_range(n, 20, 22);
    assert_int_equal(r.missed, 100 - n);
    r.missed = n = 0;
    for (uint64_t now = 1000100; now < 1050100; now += 10)
        n += rate_allows(&r, now, 1000, 20);
    assert_in_range(n, 49, 51);
    assert_int_equal(n + r.missed, 5000);
    assert_true(rate_allows(&r, 2000000, 1000, 20)); /* and who rested has his burst again */
}

/* Who uses up his own takes nobody's, as long as there is room; who rested makes room. */
TEST(rates_are_each_ones_own)
{
    static struct rates r;
    char name[RATE_NAME];
    unsigned n = 0;

    for (unsigned i = 0; i < 100; i++)
        n += rate_allows(rates_of(&r, "4109 of 1001", 1000000), 1000000, 1000, 20);
    assert_in_range(n, 20, 22);
    assert_true(rate_allows(rates_of(&r, "4109 of 1002", 1000000), 1000000, 1000, 20));
    assert_true(rate_allows(rates_of(&r, "4109", 1000000), 1000000, 1000, 20));
    assert_int_equal(rates_of(&r, "4109 of 1001", 1000000)->missed, 100 - n);
    for (unsigned i = 0; i < 4 * RATES; i++) { /* others come and go */
        snprintf(name, sizeof(name), "other %u", i);
        assert_true(rate_allows(rates_of(&r, name, 1000000 + i * 1000), 1000000 + i * 1000, 1000, 20));
    }
    assert_int_equal(rates_of(&r, "4109 of 1001", 9000000)->missed, 100 - n); /* that is still to be said */
    for (unsigned i = 0; i < 2 * RATES;
         i++) { /* all at once: the last of them share a place, and who was there keeps his */
        snprintf(name, sizeof(name), "one of many %u", i);
        rate_allows(rates_of(&r, name, 9000000), 9000000, 1000, 0);
    }
    assert_int_equal(rates_of(&r, "4109 of 1001", 9000000)->missed, 100 - n);
    assert_ptr_equal(rates_of(&r, "one of many 511", 9000000), rates_of(&r, "one of many 510", 9000000));
}

/* Against an array of the same 512 keys, with as many removals as insertions, and clusters of neighbours. */
TEST(map_holds_what_was_put)
{
    enum { KEYS = 512 };
    uint64_t value[KEYS] = {0}, sum = 0, expected = 0;
    bool there[KEYS] = {false};
    struct rng rng = {7};
    struct map_slot slot;
    struct map m = {0};
    size_t num = 0, at = 0;

    assert_null(map_find(&m, 0));
    assert_null(map_find(&m, 1));
    assert_false(map_remove(&m, 1));
    for (unsigned turn = 0; turn < 200000; turn++) {
        const uint64_t k = rng_below(&rng, KEYS), key = k % 3 ? k : k << 40;

        if (rng_below(&rng, 2)) {
            uint64_t *v = map_put(&m, key);
            assert_non_null(v);
            assert_int_equal(*v, there[k] ? value[k] : 0);
            num += !there[k];
            there[k] = true;
            *v = value[k] = turn;
        } else {
            assert_int_equal(map_remove(&m, key), there[k]);
            num -= there[k];
            there[k] = false;
        }
        assert_int_equal(m.num, num);
    }
    for (uint64_t k = 0; k < KEYS; k++) {
        const uint64_t *v = map_find(&m, k % 3 ? k : k << 40);
        assert_int_equal(!!v, there[k]);
        if (v)
            expected += value[k];
    }
    while (map_next(&m, &at, &slot)) {
        sum += slot.value;
        num--;
    }
    assert_int_equal(sum, expected);
    assert_int_equal(num, 0);
    map_finish(&m);
    assert_null(map_pointer(&m, 1));
}

TEST(descriptors_arrive_or_are_closed)
{
    int pair[2], sent[FDS_MAX], got[4];
    char text[8] = "";
    unsigned before;
    size_t num;

    assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair), 0);
    for (int i = 0; i < FDS_MAX; i++)
        sent[i] = pair[0];
    before = test_open_fds();
    num = 4;
    assert_int_equal(fds_send(pair[0], "two", 3, sent, 2, 0), 3);
    assert_int_equal(fds_receive(pair[1], text, sizeof(text), got, &num, 0), 3);
    assert_int_equal(num, 2);
    assert_int_equal(fcntl(got[0], F_GETFD), FD_CLOEXEC);
    close(got[0]);
    close(got[1]);
    /* more descriptors than expected, up to what Linux lets through */
    for (size_t more = 5; more <= FDS_MAX; more += 248) {
        num = 4;
        assert_int_equal(fds_send(pair[0], "many", 4, sent, more, 0), 4);
        assert_int_equal(fds_receive(pair[1], text, sizeof(text), got, &num, 0), -E2BIG);
        assert_int_equal(num, 0);
        assert_int_equal(test_open_fds(), before);
    }
    assert_int_equal(fds_send(pair[0], "many", 4, sent, FDS_MAX + 1, 0), -E2BIG);
    num = 4;
    assert_int_equal(fds_send(pair[0], "too long", 9, sent, 1, 0), 9);
    assert_int_equal(fds_receive(pair[1], text, sizeof(text), got, &num, 0), -EMSGSIZE);
    assert_int_equal(test_open_fds(), before);
    num = 0;
    assert_int_equal(fds_receive(pair[1], text, sizeof(text), NULL, &num, MSG_DONTWAIT), -EAGAIN);
    close(pair[0]);
    assert_int_equal(fds_receive(pair[1], text, sizeof(text), NULL, &num, 0), 0);
    assert_int_equal(fds_send(pair[1], "x", 1, NULL, 0, 0), -EPIPE);
    close(pair[1]);
}

/* It ended, and had not read all: what it said before is heard, and then that it is gone. */
TEST(what_a_peer_said_last_arrives)
{
    int pair[2];
    char text[8] = "";
    size_t num = 0;

    for (int waits = 0; waits < 2; waits++) {
        const int flags = waits ? 0 : MSG_DONTWAIT;

        assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair), 0);
        assert_int_equal(fds_send(pair[0], "unread", 6, NULL, 0, 0), 6);
        assert_int_equal(fds_send(pair[1], "first", 5, NULL, 0, 0), 5);
        assert_int_equal(fds_send(pair[1], "last", 4, NULL, 0, 0), 4);
        close(pair[1]);
        assert_int_equal(fds_receive(pair[0], text, sizeof(text), NULL, &num, flags), 5);
        assert_int_equal(fds_receive(pair[0], text, sizeof(text), NULL, &num, flags), 4);
        assert_memory_equal(text, "last", 4);
        assert_int_equal(fds_receive(pair[0], text, sizeof(text), NULL, &num, flags), 0);
        close(pair[0]);
    }
}

TEST(json_can_be_parsed_whatever_the_bytes)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    struct json_writer w = json_writer(out);
    json_t *v;

    json_write_object(&w, NULL);
    json_write_string(&w, "quote\"d", "\\ \" \n \x01 \x7f \xff \xc3\xa4 \xe2\x82");
    json_write_string(&w, "none", NULL);
    json_write_format(&w, "made", "%d of %s", 7, "9");
    json_write_array(&w, "numbers");
    json_write_unsigned(&w, NULL, UINT64_C(1) << 62);
    json_write_signed(&w, NULL, -5);
    json_write_real(&w, NULL, 0.1);
    json_write_real(&w, NULL, 1.0 / 3);
    json_write_real(&w, NULL, INFINITY);
    json_write_array(&w, NULL);
    json_write_end(&w);
    json_write_object(&w, NULL);
    json_write_bool(&w, "yes", true);
    json_write_end(&w);
    json_write_end(&w);
    json_write_end(&w);
    fclose(out);
    assert_int_equal(w.depth, 0);
    v = json_loads(text, 0, NULL);
    assert_non_null(v);
    assert_string_equal(json_string_value(json_object_get(v, "quote\"d")),
                        "\\ \" \n \x01 \x7f \xef\xbf\xbd \xc3\xa4 \xef\xbf\xbd\xef\xbf\xbd");
    assert_true(json_is_null(json_object_get(v, "none")));
    assert_string_equal(json_string_value(json_object_get(v, "made")), "7 of 9");
    assert_non_null(
        strstr(text, "\"numbers\":[4611686018427387904,-5,0.1,0.3333333333333333,null,[],{\"yes\":true}]"));
    json_decref(v);
    free(text);
}

TEST(json_into_a_text_is_what_a_stream_gets)
{
    struct strbuf text = {0};
    struct json_writer w = json_writer_text(&text);

    strbuf_puts(&text, "before ");
    json_write_object(&w, NULL);
    json_write_bytes(&w, "bytes", "a\0b\xe2\x82", 5);
    json_write_thousandths(&w, "half", -500);
    json_write_signed(&w, "least", INT64_MIN);
    json_write_array(&w, "list");
    assert_true(json_write_in_array(&w));
    json_write_unsigned(&w, NULL, UINT64_MAX);
    json_write_end(&w);
    assert_false(json_write_in_array(&w));
    json_write_null(&w, "none");
    json_write_end(&w);
    assert_string_equal(strbuf_str(&text),
                        "before {\"bytes\":\"a\\u0000b\\ufffd\\ufffd\",\"half\":-0.500,"
                        "\"least\":-9223372036854775808,\"list\":[18446744073709551615],\"none\":null}");
    strbuf_finish(&text);
}

TEST(utf8_is_cut_between_characters)
{
    char out[8] = "";

    assert_int_equal(utf8_length("\xe2\x82\xac", 3), 3);
    assert_int_equal(utf8_length("\xe2\x82\xac", 2), 0);
    assert_int_equal(utf8_length("\xed\xa0\x80", 3), 0); /* half of a surrogate pair */
    assert_int_equal(utf8_length("", 1), 0);
    assert_int_equal(utf8_clean(out, 4, "ab\xe2\x82\xac", 5), 2);
    assert_int_equal(utf8_clean(NULL, SIZE_MAX, "a\xff", 2), 4);
}

/* POSIX, 8.3: an empty folder of PATH is the current one, and a name with a slash is not looked for. */
TEST(programs_are_found_in_path_as_by_a_shell)
{
    char self[4096], folder[4096], list[8300], path[4096], was[4096];
    char *name;

    assert_int_equal(program_self(self, sizeof(self), NULL), 0);
    assert_int_equal(program_self(path, 4, NULL), -ENAMETOOLONG);
    strcpy(folder, self);
    name = strrchr(folder, '/');
    *name++ = '\0';
    assert_non_null(getcwd(was, sizeof(was)));
    assert_true(program_in_path(self, path, sizeof(path)));
    assert_string_equal(path, self);
    snprintf(list, sizeof(list), "/dev/null:/proc:%s", folder);
    setenv("PATH", list, 1);
    assert_true(program_in_path(name, path, sizeof(path)));
    assert_string_equal(path, self);
    assert_false(program_in_path(name, path, strlen(self)));
    assert_false(program_in_path("no-such-program", path, sizeof(path)));
    assert_false(program_in_path("self", path, sizeof(path))); /* a folder of /proc */
    assert_int_equal(chdir(folder), 0);
    setenv("PATH", "/dev:", 1);
    assert_true(program_in_path(name, path, sizeof(path)));
    setenv("PATH", "/dev", 1);
    assert_false(program_in_path(name, path, sizeof(path)));
    unsetenv("PATH");
    assert_false(program_in_path(name, path, sizeof(path)));
    assert_false(program_in_path("/proc/self/maps", path, sizeof(path))); /* not to be run */
    assert_int_equal(chdir(was), 0);
}

/* One section of 16 bytes at the end; what is at `at` is another word there. */
static int windows(unsigned at, uint32_t word, size_t size, bool *is_32, struct error *e)
{
    char path[] = "/tmp/aerogpu-shelf-XXXXXX";
    uint8_t image[384] = {'M', 'Z', [60] = 64, [64] = 'P', 'E', [68] = 0x64, 0x86, 1, [84] = 112, [86] = 2};
    const uint32_t section[5] = {4096, 4096, 16, 368};
    const int fd = mkstemp(path);
    int r;

    image[88] = 0x0B, image[89] = 2;
    memcpy(image + 200, ".text", 5);
    memcpy(image + 208, section, sizeof(section));
    memcpy(image + at, &word, at ? 4 : 0);
    assert_int_equal(write(fd, image, size), (ssize_t)size);
    close(fd);
    r = program_windows(path, is_32, e);
    assert_int_equal(program_kind(path), strstr(e->text, "no PE header") ? PROGRAM_NONE : PROGRAM_WINDOWS);
    unlink(path);
    return r;
}

TEST(programs_for_windows_are_whole_or_the_sentence_says_where_not)
{
    static const struct {
        unsigned at;
        uint32_t word;
        size_t size;
        const char *says;
    } broken[] = {
        {0, 0, 63, "no PE header"},
        {0, 0, 89, "no PE header"},
        {60, 0xFFFFFFFF, 384, "no PE header"},
        {64, 0x4550 | 1 << 16, 384, "no PE header"},
        {68, 1 << 16 | 0xAA64, 384, "machine (offset 68) is 0xaa64 (ARM64)"},
        {68, 1 << 16 | 0x1C4, 384, "machine (offset 68) is 0x1c4:"},
        {84, 0x2002 << 16 | 112, 384, "characteristics (offset 86) are 0x2002: a library"},
        {84, 112, 384, "characteristics (offset 86) are 0: it was not"},
        {88, 0x10B, 384, "optional header (offset 88) begins with 0x10b, that of x86-64 with 0x20b"},
        {68, 1 << 16 | 0x14C, 384, "begins with 0x20b, that of x86 with 0x10b"},
        {68, 5 << 16 | 0x8664, 384, "it ends in the header of section 4 of 5, at offset 360"},
        {0, 0, 239, "it ends in the header of section 0 of 1, at offset 200"},
        {0, 0, 383, "section 0 (.text) has 16 bytes from offset 368 on, the file ends at 383"},
        {220, 0xFFFFFFFF, 384, "16 bytes from offset 4294967295 on"}};
    struct error e = {0};
    bool is_32 = true;

    assert_int_equal(windows(0, 0, 384, &is_32, &e), 0);
    assert_false(is_32);
    assert_int_equal(windows(208, 15, 383, &is_32, &e), 0); /* memory takes 15 bytes of it */
    for (size_t i = 0; i < sizeof(broken) / sizeof(broken[0]); i++) {
        e = (struct error){0};
        assert_int_equal(windows(broken[i].at, broken[i].word, broken[i].size, &is_32, &e), -ENOEXEC);
        if (!strstr(e.text, broken[i].says))
            fail_msg("%zu: %s", i, e.text);
    }
    assert_int_equal(program_windows("/no/such", &is_32, &e), -ENOENT);
    assert_int_equal(program_windows("/tmp", &is_32, &e), -EISDIR);
}

TEST(programs_are_found_or_the_sentence_says_where)
{
    struct program_params p = {.what = "the test's own program",
                               .variable = "AEROGPU_SHELF_TEST",
                               .built = "tests/base/shelf_test",
                               .installed = "shelf_test",
                               .place = PROGRAM_LIBEXEC};
    struct error e = {0};
    char path[4096];

    unsetenv("AEROGPU_SHELF_TEST");
    assert_int_equal(program_find(&p, path, sizeof(path), &e), 0);
    assert_non_null(strstr(path, "shelf_test"));
    setenv("AEROGPU_SHELF_TEST", "/dev/null", 1);
    assert_int_equal(program_find(&p, path, sizeof(path), &e), -ENOENT);
    assert_string_equal(e.text, "AEROGPU_SHELF_TEST names /dev/null, which is not the test's own program");
    setenv("AEROGPU_SHELF_TEST", "/", 1); /* folders can be entered, not run */
    assert_int_equal(program_find(&p, path, sizeof(path), NULL), -ENOENT);
    setenv("AEROGPU_SHELF_TEST", "/dev/null", 1);
    p.is_data = true;
    assert_int_equal(program_find(&p, path, sizeof(path), NULL), 0);
    assert_string_equal(path, "/dev/null");
    p.installed = p.built = "no-such-file";
    unsetenv("AEROGPU_SHELF_TEST");
    error_clear(&e);
    assert_int_equal(program_find(&p, path, sizeof(path), &e), -ENOENT);
    assert_non_null(strstr(e.text, "the test's own program is neither beside "));
    assert_non_null(strstr(e.text, "(AEROGPU_SHELF_TEST can name it)"));
}
