/* SPDX-License-Identifier: MIT */
/* The kernel's pages and what says how their events lie. */
#include "test.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cpu/capture/page.h"
#include "synth.h"

static const char miss_format[] =
    "name: cpu_idle_miss\nID: 567\nformat:\n"
    "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
    "\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"
    "\tfield:u32 cpu_id;\toffset:8;\tsize:4;\tsigned:0;\n"
    "\tfield:u32 state;\toffset:12;\tsize:4;\tsigned:0;\n"
    "\tfield:char comm[16];\toffset:20;\tsize:16;\tsigned:0;\n"
    "\tfield:__data_loc char[] timeline;\toffset:36;\tsize:4;\tsigned:0;\n"
    "\tfield:bool below;\toffset:16;\tsize:1;\tsigned:0;\n\nprint fmt: \"field:x;\"\n";

TEST(formats_are_parsed)
{
    struct cpu_format f;
    struct error e = {0};

    assert_int_equal(cpu_format_parse(&f, miss_format, sizeof(miss_format) - 1, &e), 0);
    assert_string_equal(f.name, "cpu_idle_miss");
    assert_int_equal(f.id, 567);
    assert_int_equal(f.num_fields, 7);
    assert_int_equal(cpu_format_field(&f, "below")->offset, 16);
    assert_int_equal(cpu_format_field(&f, "comm")->size, 16);
    assert_true(cpu_format_field(&f, "timeline")->is_data_loc);
    assert_true(cpu_format_field(&f, "common_pid")->is_signed);
    assert_null(cpu_format_field(&f, "belo"));
}

TEST(bad_formats_name_the_line)
{
    static const struct {
        const char *text, *error;
    } cases[] = {
        {"", "no field in 0 lines"},
        {"name: x\nID: 70000\n", "line 2: the event's ID is not a 16-bit number"},
        {"name: x\nfield:int a;\tsize:4;\n", "line 2: field a has no offset or size"},
        {"field:;\toffset:0;\tsize:4;\n", "line 1: no field name"},
        {"\n\nfield:int a;\toffset:99999;\tsize:4;\n", "line 3: field a is at offset 99999 with size 4"},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct cpu_format f;
        struct error e = {0};
        assert_int_equal(cpu_format_parse(&f, cases[i].text, strlen(cases[i].text), &e), -EINVAL);
        assert_string_equal(e.text, cases[i].error);
    }
}

/* All that a page can hold: short and long records, padding, extended and absolute time, losses. */
TEST(pages_are_decoded)
{
    struct cpu_rules *r = calloc(1, sizeof(*r));
    static uint8_t page[SYNTH_PAGE + CPU_PAGE_PAD];
    uint32_t *w = (uint32_t *)(page + 16);
    struct cpu_event ev[600];
    struct cpu_page_stats st = {0};
    struct cpu_notes notes = {0};
    uint64_t ts = 1000, lost = 77;
    int n = 0;

    synth_rules(r);
    memset(page, 0, sizeof(page));
    memcpy(page, &ts, 8);
    w[n++] = 4 | 5u << 5; /* 16 bytes of data, 5 ns later */
    w[n++] = 568;
    w[n++] = 0;
    w[n++] = 2;
    w[n++] = 1;
    w[n++] = 29 | 1u << 5; /* discarded: 12 bytes with the length word */
    w[n++] = 12;
    w[n++] = 0xdead;
    w[n++] = 0xbeef;
    w[n++] = 30 | 3u << 5; /* (1 << 27) + 3 ns pass */
    w[n++] = 1;
    w[n++] = 0 | 2u << 5; /* a length word follows: 4 + 20 */
    w[n++] = 24;
    w[n++] = 567;
    w[n++] = 4242;
    w[n++] = 1;
    w[n++] = 3;
    w[n++] = 1;
    w[n++] = 31 | 7u << 5; /* absolute time (2 << 27) + 7 */
    w[n++] = 2;
    w[n++] = 4;
    w[n++] = 999; /* no such event */
    w[n++] = 1;
    w[n++] = 0;
    w[n++] = 0;
    memcpy(page + 16 + n * 4, &lost, 8);
    {
        uint64_t commit = (uint64_t)n * 4 | 0xc0000000u;
        memcpy(page + 8, &commit, 8);
    }
    assert_int_equal(cpu_page_decode(r, page, 1, ev, &st, &notes, 0), 4);
    assert_int_equal(notes.count, 0);
    assert_int_equal(ev[0].kind, CPU_EV_LOST);
    assert_int_equal(ev[0].a, 77);
    assert_int_equal(st.lost, 77);
    assert_int_equal(ev[1].kind, CPU_EV_IDLE);
    assert_int_equal(ev[1].ns, 1005);
    assert_int_equal(ev[1].a, 2);
    assert_int_equal(ev[1].b, 1);
    assert_int_equal(ev[2].kind, CPU_EV_IDLE_MISS);
    assert_int_equal(ev[2].ns, 1005 + (1u << 27) + 3 + 2);
    assert_int_equal(ev[2].a, 3);
    assert_int_equal(ev[2].b, 1);
    assert_int_equal(ev[2].c, 1);
    assert_int_equal(ev[2].tid, 4242);
    assert_int_equal(ev[3].kind, CPU_EV_OTHER);
    assert_int_equal(ev[3].ns, (UINT64_C(2) << 27) + 7);
    assert_int_equal(ev[3].type, 999);
    free(r);
}

/* Differences of more than 32 bits, and absolute times that have no room for the top five. */
TEST(long_times_keep_their_bits)
{
    static const uint32_t words[] = {30 | 3u << 5, 33, 4 | 5u << 5, 568, 0, 2, 1,
                                     31 | 7u << 5, 40, 4,           568, 0, 2, 1};
    const uint64_t ts = UINT64_C(0x0800000000001000), commit = sizeof(words);
    static uint8_t page[SYNTH_PAGE + CPU_PAGE_PAD];
    struct cpu_rules *r = calloc(1, sizeof(*r));
    struct cpu_page_stats st = {0};
    struct cpu_notes notes = {0};
    struct cpu_event ev[8];

    synth_rules(r);
    memcpy(page, &ts, 8);
    memcpy(page + 8, &commit, 8);
    memcpy(page + 16, words, sizeof(words));
    assert_int_equal(cpu_page_decode(r, page, 1, ev, &st, &notes, 0), 2);
    assert_int_equal(notes.count, 0);
    assert_int_equal(ev[0].ns, ts + (UINT64_C(33) << 27) + 3 + 5);
    assert_int_equal(ev[1].ns, UINT64_C(0x0800000000000000) + (UINT64_C(40) << 27) + 7);
    free(r);
}

TEST(damaged_pages_cost_a_note)
{
    struct cpu_rules *r = calloc(1, sizeof(*r));
    static uint8_t page[SYNTH_PAGE + CPU_PAGE_PAD];
    struct cpu_event ev[600];
    struct cpu_page_stats st = {0};
    struct cpu_notes notes = {0};
    uint32_t words[] = {20, 0, 4 | 1 << 5, 568, 0, 1, 1, 28 | 1 << 5, 568};

    synth_rules(r);
    words[0] = sizeof(words) - 8;
    memcpy(page + 8, &words[0], 4);
    memcpy(page + 16, words + 2, sizeof(words) - 8);
    assert_int_equal(cpu_page_decode(r, page, 3, ev, &st, &notes, 9), 1);
    assert_int_equal(notes.count, 1);
    assert_string_equal(notes.text[0], "CPU 3, page 9, offset 36: a record reaches past the page");
    /* a commit word beyond the page */
    words[0] = 5000;
    memcpy(page + 8, &words[0], 4);
    assert_int_equal(cpu_page_decode(r, page, 3, ev, &st, &notes, 10), 2);
    assert_string_equal(notes.text[1],
                        "CPU 3, page 10, offset 8: the page says that it holds more than a page");
    /* an idle event with 8 bytes of data only */
    words[0] = 12;
    memcpy(page + 8, &words[0], 4);
    words[2] = 2 | 1 << 5;
    memcpy(page + 16, words + 2, 12);
    notes.count = 0;
    assert_int_equal(cpu_page_decode(r, page, 3, ev, &st, &notes, 11), 0);
    assert_string_equal(notes.text[0], "CPU 3, page 11, offset 20: an event is shorter than its format");
    free(r);
}

static const char send_mask_format[] =
    "name: ipi_send_cpumask\nID: 700\nformat:\n"
    "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
    "\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"
    "\tfield:__data_loc cpumask_t cpumask;\toffset:8;\tsize:4;\tsigned:0;\n"
    "\tfield:void * callsite;\toffset:16;\tsize:8;\tsigned:0;\n"
    "\tfield:void * callback;\toffset:24;\tsize:8;\tsigned:0;\n";

/* A set of processors is told where it lies, and it lies in its record. */
TEST(a_set_of_processors_lies_in_its_record)
{
    static const struct {
        uint32_t at, size;
        bool good;
    } cases[] = {{32, 8, true},  {40, 0, true},  {32, 9, false},      {39, 2, false},
                 {40, 1, false}, {41, 0, false}, {32, 0xffff, false}, {0xffff, 0xffff, false}};
    static uint8_t page[SYNTH_PAGE + CPU_PAGE_PAD];
    struct cpu_rules *r = calloc(1, sizeof(*r));
    const uint64_t commit = 44;
    struct error e = {0};

    synth_rules(r);
    assert_int_equal(cpu_rules_add(r, "ipi", send_mask_format, sizeof(send_mask_format) - 1, &e), 0);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const uint32_t record[] = {10, 700, 4242, cases[i].at | cases[i].size << 16, 0, 1, 0, 2, 0, 0xA5, 0};
        struct cpu_page_stats st = {0};
        struct cpu_notes notes = {0};
        struct cpu_event ev[4];

        memset(page, 0, sizeof(page));
        memcpy(page + 8, &commit, 8);
        memcpy(page + 16, record, sizeof(record));
        assert_int_equal(cpu_page_decode(r, page, 3, ev, &st, &notes, 9), cases[i].good);
        assert_int_equal(notes.count, !cases[i].good);
        if (cases[i].good) {
            assert_ptr_equal(ev[0].data, page + 20 + cases[i].at);
            assert_int_equal(ev[0].data_size, cases[i].size);
        } else {
            assert_string_equal(notes.text[0],
                                "CPU 3, page 9, offset 20: an event is shorter than its format");
        }
    }
    free(r);
}

/* What the analysis takes for a number is one: of a length that it can read. */
TEST(fields_that_are_no_numbers_are_refused)
{
    static const struct {
        const char *size;
        bool good;
    } cases[] = {{"4", true}, {"8", true}, {"1", true}, {"0", false}, {"9", false}, {"16", false}};

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct cpu_rules *r = calloc(1, sizeof(*r));
        struct error e = {0};
        char text[600];

        synth_rules(r);
        snprintf(text, sizeof(text),
                 "name: cpu_idle\nID: 901\nformat:\n"
                 "\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"
                 "\tfield:u32 state;\toffset:8;\tsize:%s;\tsigned:0;\n"
                 "\tfield:u32 cpu_id;\toffset:24;\tsize:4;\tsigned:0;\n",
                 cases[i].size);
        assert_int_equal(cpu_rules_add(r, "power", text, strlen(text), &e), cases[i].good ? 0 : -EINVAL);
        if (!cases[i].good)
            assert_string_equal(e.text,
                                "format of power:cpu_idle: a field that the analysis needs is missing");
        free(r);
    }
}
