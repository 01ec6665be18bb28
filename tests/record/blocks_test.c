/* SPDX-License-Identifier: MIT */
/* blocks_test.c: the container of recordings under damage. A mutator with a seed flips bits, cuts, drops, doubles and swaps; each
 * time all that can be read is what was written, or what is wrong is said with its byte.
 *   blocks_test [MUTATIONS of each kind] [SEED] */
#include "test.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/rng.h"
#include "record/blocks.h"
#include "temp_dir.h"

enum { NUM = 7, SIZE = 200 };

static const char magic[] = "TESTBLKS", meta[] = "{\"made\":\"by a test\"}";
static uint32_t mutations = 300;
static uint64_t seed = 1;
static char path[80];
static uint8_t *whole, *bad;
static size_t size;

static void content(uint32_t i, uint8_t raw[SIZE])
{
    struct rng r = {i + 1};

    for (size_t k = 0; k < SIZE; k++)
        raw[k] = k % 3 ? (uint8_t)i : (uint8_t)rng_next(&r);
}

static struct block header(uint32_t i)
{
    return (struct block){
        .kind = (uint8_t)(1 + i % 3), .stream = (uint16_t)(i % 2), .first = 100 * i, .frame = i};
}

static int setup(void **state)
{
    struct blocks_writer *w;
    uint8_t raw[SIZE];
    struct stat st;
    FILE *f;

    if (make_dir(state))
        return -1;
    snprintf(path, sizeof(path), "%s/blocks", dir);
    assert_int_equal(blocks_writer_create(&w, magic, 7, meta, 3, path, NULL), 0);
    for (uint32_t i = 0; i < NUM; i++) {
        struct block b = header(i);

        content(i, raw);
        assert_int_equal(blocks_writer_put(w, &b, raw, SIZE, raw, i == 5 ? SIZE / 2 : 0, 0x80, NULL), 0);
    }
    assert_int_equal(blocks_writer_finish(w, 42, NULL), 0);
    assert_int_equal(stat(path, &st), 0);
    size = (size_t)st.st_size;
    whole = malloc(size);
    bad = malloc(2 * size);
    f = fopen(path, "rb");
    assert_int_equal(fread(whole, 1, size, f), size);
    fclose(f);
    return 0;
}

static int teardown(void **state)
{
    free(whole);
    free(bad);
    return remove_dir(state);
}

static bool names_a_byte(const char *text)
{
    return strstr(text, "byte ") || strstr(text, "bytes ") || strstr(text, "does not begin with");
}

/* Reads `n` bytes as a file. What is there must be what was written; returns whether something was said to be wrong. */
static bool reads_wrong(const uint8_t *bytes, size_t n, bool resume)
{
    const struct blocks_params p = {.magic = magic, .what = "a test", .resume = resume};
    uint8_t *own = malloc(n ? n : 1), raw[SIZE], want[SIZE]; /* so that a sanitizer sees a read past it */
    struct error e = {0};
    struct blocks b;
    bool wrong;

    memcpy(own, bytes, n);
    if (blocks_open_memory(&b, &p, own, n, &e)) {
        assert_true(names_a_byte(e.text));
        free(own);
        return true;
    }
    wrong = *b.damage;
    assert_true(!wrong || names_a_byte(b.damage));
    assert_int_equal(b.schema, 7);
    assert_memory_equal(b.meta, meta, strlen(meta));
    assert_true(b.features == 42 || wrong);
    assert_true(b.num == NUM || wrong);
    assert_true(b.num <= NUM);
    for (uint32_t i = 0; i < b.num; i++) {
        uint32_t which = (uint32_t)(b.list[i].first / 100);
        const struct block h = header(which);
        size_t got = 0;

        error_clear(&e);
        if (blocks_unpack(&b, i, NULL, raw, sizeof(raw), &got, &e)) {
            assert_true(names_a_byte(e.text));
            wrong = true;
            continue;
        }
        assert_true(which == i || wrong);
        assert_true(b.list[i].kind == h.kind && b.list[i].stream == h.stream && b.list[i].frame == h.frame);
        content(which, want);
        assert_int_equal(got, which == 5 ? SIZE / 2 : SIZE);
        assert_int_equal(b.list[i].flags, which == 5 ? 0x80 : 0);
        assert_memory_equal(raw, want, got);
    }
    error_clear(&e);
    assert_int_equal(blocks_verify(&b, &e), wrong ? -EBADMSG : 0);
    assert_true(!wrong || names_a_byte(e.text));
    blocks_close(&b);
    free(own);
    return wrong;
}

TEST(what_is_whole_is_read)
{
    assert_false(reads_wrong(whole, size, false));
    assert_false(reads_wrong(whole, size, true));
}

TEST(each_flipped_bit_is_found)
{
    for (size_t bit = 0; bit < 8 * size; bit++) {
        memcpy(bad, whole, size);
        bad[bit / 8] ^= (uint8_t)(1u << (bit % 8));
        if (!reads_wrong(bad, size, bit % 2))
            fail_msg("bit %zu of byte %zu changes nothing", bit % 8, bit / 8);
    }
}

TEST(each_cut_is_found)
{
    for (size_t n = 0; n < size; n++)
        if (!reads_wrong(whole, n, n % 2))
            fail_msg("a cut at byte %zu changes nothing", n);
}

/* Several bytes, pieces that are missing, doubled, or in another place, zeros, and more behind the end. */
TEST(wilder_damage_is_found)
{
    struct rng r = {seed};

    for (uint32_t i = 0; i < 6 * mutations; i++) {
        size_t at = rng_below(&r, size), n = 1 + rng_below(&r, size - at), to = rng_below(&r, size - n + 1);
        size_t now = size;

        memcpy(bad, whole, size);
        switch (i % 6) {
        case 0:
            for (size_t k = 0; k < 1 + n % 20; k++)
                bad[rng_below(&r, size)] = (uint8_t)rng_next(&r);
            break;
        case 1:
            memmove(bad + at, bad + at + n, size - at - n);
            now -= n;
            break;
        case 2:
            memmove(bad + at + n, bad + at, size - at);
            now += n;
            break;
        case 3:
            memmove(bad + to, whole + at, n);
            break;
        case 4:
            memset(bad + at, 0, n);
            break;
        default:
            for (size_t k = 0; k < n; k++)
                bad[size + k] = (uint8_t)rng_next(&r);
            now += n;
        }
        if (now == size && !memcmp(bad, whole, size))
            continue;
        if (!reads_wrong(bad, now, i / 6 % 2))
            fail_msg("seed %llu, mutation %u changes nothing", (unsigned long long)seed, i);
    }
}

/* Two blocks of one size, each with its own checksum, in each other's place. */
TEST(a_block_in_another_place_is_found)
{
    const struct blocks_params p = {.magic = magic, .what = "a test"};
    uint8_t raw[SIZE] = {0};
    struct block x = {.kind = 1};
    struct blocks_writer *w;
    struct error e = {0};
    struct blocks b;
    char other[80];
    size_t n, got;
    FILE *f;

    snprintf(other, sizeof(other), "%s/swapped", dir);
    assert_int_equal(blocks_writer_create(&w, magic, 0, "", 3, other, NULL), 0);
    for (uint8_t i = 0; i < 2; i++) {
        raw[0] = i;
        assert_int_equal(blocks_writer_put(w, &x, raw, 1, NULL, 0, 0, NULL), 0);
    }
    assert_int_equal(blocks_writer_finish(w, 0, NULL), 0);
    f = fopen(other, "rb");
    n = fread(bad, 1, size, f);
    fclose(f);
    assert_int_equal(blocks_open_memory(&b, &p, bad, n, NULL), 0);
    assert_int_equal(b.list[0].packed, b.list[1].packed);
    got = sizeof(struct blocks_block) + b.list[0].packed;
    memcpy(raw, bad + b.list[0].offset, got);
    memmove(bad + b.list[0].offset, bad + b.list[1].offset, got);
    memcpy(bad + b.list[1].offset, raw, got);
    assert_int_equal(blocks_verify(&b, &e), -EBADMSG);
    assert_string_equal(e.text, "the block header at byte 32 is damaged");
    blocks_close(&b);
}

TEST(what_is_no_file_has_any_number_of_writers)
{
    struct blocks_writer *w[2];

    for (int i = 0; i < 2; i++)
        assert_int_equal(blocks_writer_create(&w[i], magic, 0, "", 3, "/dev/null", NULL), 0);
    for (int i = 0; i < 2; i++)
        assert_int_equal(blocks_writer_finish(w[i], 0, NULL), 0);
}

TEST_GROUP(setup, teardown);

int main(int argc, char **argv)
{
    mutations = argc > 1 ? (uint32_t)atoi(argv[1]) : mutations;
    seed = argc > 2 ? strtoull(argv[2], NULL, 0) : seed;
    return test_run();
}
