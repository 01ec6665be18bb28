/* SPDX-License-Identifier: MIT */
#include "test.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "cpu/report/report.h"
#include "cpu/etl/xpress.h"
#include "etl_synth.h"

static const uint8_t kpp[16] = {0x9f, 0xe4, 0x67, 0x0f, 0x51, 0xfe, 0x9f, 0x4e,
                                0xb4, 0x90, 0x6f, 0x29, 0x48, 0xcc, 0x60, 0x27};
static const uint8_t timer_guid[16] = {8, 0x6f, 0xd0, 0xf2};

/* The examples of [MS-XCA] 3.1. */
TEST(xpress_examples_unpack)
{
    static const uint8_t letters[] = "\x3f\x00\x00\x00"
                                     "abcdefghijklmnopqrstuvwxyz";
    static const uint8_t abc[] = {0xff, 0xff, 0xff, 0x1f, 'a', 'b', 'c', 0x17, 0, 0x0f, 0xff, 0x26, 0x01};
    uint8_t out[300];
    struct error e = {0};

    assert_int_equal(cpu_xpress_unpack(letters, sizeof(letters) - 1, out, 26, &e), 0);
    assert_memory_equal(out, "abcdefghijklmnopqrstuvwxyz", 26);
    assert_int_equal(cpu_xpress_unpack(abc, sizeof(abc), out, 300, &e), 0);
    for (int i = 0; i < 300; i++)
        assert_int_equal(out[i], "abc"[i % 3]);
}

TEST(bad_xpress_says_where)
{
    static const uint8_t far[] = {0, 0, 0, 0x40, 'a', 0x08, 0x00, 0, 0};
    uint8_t out[64];
    struct error e = {0};

    assert_int_equal(cpu_xpress_unpack(far, sizeof(far), out, 64, &e), -EBADMSG);
    assert_string_equal(e.text, "XPRESS: offset 7: a match of 3 bytes from 2 bytes back leaves the output");
    error_clear(&e);
    assert_int_equal(cpu_xpress_unpack(far, 3, out, 64, &e), -EBADMSG);
    assert_string_equal(e.text, "XPRESS: the input ends at offset 3, 0 of 64 bytes unpacked");
}

/* An output that is smaller than what the input says: to its last byte nothing is written behind it, whether a match or what comes
 * after it would. */
TEST(xpress_stays_in_its_output)
{
    static const uint8_t abc[] = {0xff, 0xff, 0xff, 0x1f, 'a', 'b', 'c', 0x17, 0, 0x0f, 0xff, 0x26, 0x01};
    uint8_t out[301];

    for (size_t size = 0; size < 300; size++) {
        struct error e = {0};
        memset(out, 0xEE, sizeof(out));
        assert_int_equal(cpu_xpress_unpack(abc, sizeof(abc), out, size, &e), size > 3 ? -EBADMSG : 0);
        if (size > 3)
            assert_string_equal(
                e.text, "XPRESS: offset 13: a match of 297 bytes from 3 bytes back leaves the output");
        for (size_t i = size; i < sizeof(out); i++)
            assert_int_equal(out[i], 0xEE);
        error_clear(&e);
    }
}

static void idle(struct etl_synth *s, uint32_t cpu, uint64_t us, uint32_t state)
{
    struct {
        uint32_t state;
        uint16_t properties;
        uint8_t reason, reserved;
        uint64_t duration;
    } p = {state, 8, 1, 0, 20000};

    etl_synth_perfinfo(s, cpu, us * 10, 0x1239, &p, sizeof(p));
}

static void awake(struct etl_synth *s, uint32_t cpu, uint64_t us, uint32_t state)
{
    uint32_t p[2] = {state, 0};

    etl_synth_perfinfo(s, cpu, us * 10, 0x123a, p, sizeof(p));
}

/* Four processors; each millisecond they idle in C1 to C3 for 400 us and are woken by an interrupt. */
static void machine(struct etl_synth *s, bool pack)
{
    etl_synth_init(s, 4, pack);
    for (uint64_t t = 0; t < 200; t++)
        for (uint32_t cpu = 0; cpu < 4; cpu++) {
            uint8_t isr[25] = {0};
            uint64_t begin = 1000 + (t * 1000 + 450) * 10;
            idle(s, cpu, t * 1000 + 100, cpu % 3);
            awake(s, cpu, t * 1000 + 500, cpu % 3);
            memcpy(isr, &begin, 8);
            isr[17] = 0x81; /* the vector */
            etl_synth_perfinfo(s, cpu, (t * 1000 + 501) * 10, 0x0f43, isr, 20);
        }
    etl_synth_close(s);
}

static void open_report(struct cpu_trace *t, struct cpu_report *r, const struct etl_synth *s)
{
    struct error e = {0};

    if (cpu_trace_open_memory(t, s->file, s->size, &e) || cpu_report_init(r, t, 0, UINT64_MAX, 0, &e))
        fail_msg("%s", e.text);
}

static void close_report(struct cpu_trace *t, struct cpu_report *r)
{
    cpu_report_finish(r);
    cpu_trace_close(t);
}

TEST(power_events_give_the_same_report)
{
    for (int pack = 0; pack < 2; pack++) {
        struct strbuf text = {0};
        struct etl_synth s;
        struct cpu_trace t;
        struct cpu_report r;
        machine(&s, pack);
        open_report(&t, &r, &s);
        assert_int_equal(t.etl.bad_events + t.etl.bad_buffers, 0);
        assert_int_equal(t.num_cpus, 4);
        assert_string_equal(t.system, "Windows 10.0 build 19045");
        for (uint32_t cpu = 0; cpu < 4; cpu++) {
            assert_int_equal(r.a.cpu[cpu].enters[cpu % 3], 200);
            assert_int_equal(r.a.cpu[cpu].idle_ns[cpu % 3], 200 * 400000);
            assert_int_equal(r.a.cpu[cpu].wakes[CPU_IRQ_DEVICE], 200);
            assert_int_equal(r.a.cpu[cpu].irq_max_ns[CPU_IRQ_DEVICE], 51000);
        }
        assert_int_equal(r.a.concurrency[4], 200 * 400000);
        assert_int_equal(r.a.deep_from, 1); /* raw 0 is C1; C2 and below are deep */
        cpu_report_text(&r, &text);
        assert_non_null(strstr(strbuf_str(&text), "C1 "));
        assert_non_null(strstr(strbuf_str(&text), "C3 "));
        assert_null(strstr(strbuf_str(&text), "C0"));
        strbuf_finish(&text);
        close_report(&t, &r);
        etl_synth_finish(&s);
    }
}

struct lines {
    struct etl_file *f;
    struct strbuf text;
};

static void print_line(void *ctx, const struct etl_record *r, uint16_t kind, uint16_t cpu)
{
    struct lines *l = ctx;
    char name[160];

    etl_kind_name(l->f, &l->f->kinds[kind], name, sizeof(name));
    strbuf_printf(&l->text, "%u %s ", cpu, name);
    etl_print(l->f, &l->f->kinds[kind], r, &l->text);
    strbuf_puts(&l->text, "\n");
}

static const struct {
    uint16_t id;
    uint8_t version;
    const char *hex, *text;
} manifest_cases[] = {
    {111, 0,
     "0000"
     "02"
     "64000000",
     "DeliveredPerfChange Group=0 Number=2 DeliveredPerformance=100\n"},
    {111, 1,
     "0000"
     "02"
     "64000000"
     "0a00000000000000",
     "Group=0 Number=2 DeliveredPerformance=100 DurationInUs=10\n"},
    {111, 2,
     "0000"
     "02"
     "64000000"
     "0a00000000000000"
     "b80b0000",
     "DurationInUs=10 DeliveredFrequency=3000\n"},
    {111, 7,
     "0000"
     "02"
     "64000000"
     "0a00000000000000"
     "b80b0000"
     "ffff",
     "DeliveredFrequency=3000 (and 2 bytes) (version 7, read as 2)\n"},
    {10, 3,
     "01000000"
     "02000000"
     "0000"
     "01"
     "03000000"
     "04000000"
     "05000000"
     "06000000"
     "07000000"
     "08000000"
     "01000000"
     "00000000"
     "01000000",
     "EppPercent=7 ActivityWindow=8 Autonomous=1 Initiated=0 VirtualLittle=1\n"},
    {10, 4,
     "01000000"
     "02000000"
     "0000"
     "01"
     "03000000"
     "04000000"
     "05000000"
     "06000000"
     "07000000"
     "08000000"
     "01000000"
     "00000000"
     "02000000",
     "Initiated=0 QosClass=2\n"},
    {53, 0,
     "0000"
     "0f00000000000000"
     "02"
     "03000000"
     "0100000000000000"
     "0200000000000000"
     "0300000000000000",
     "Affinity=0xf ConcurrentCores=2 HistogramSize=3 ConcurrencyHistogram=[1,2,3]\n"},
    {53, 3,
     "0000"
     "0100"
     "aabb",
     "NodeIndex=0 GroupCount=1 Group=aabb\n"},
    {82, 0,
     "02000000"
     "e803000000000000"
     "d007000000000000",
     "IntervalLimitsCount=2 IntervalLimits=e803000000000000d007000000000000\n"},
    {91, 0,
     "0b000080"
     "410042000000",
     "VetoReason=0x8000000b Name=AB\n"},
    {44, 0,
     "0000"
     "01"
     "6400"
     "e803"
     "02000000"
     "03000000"
     "010203",
     "StateCount=3 CstStates=010203\n"},
    {83, 0,
     "02000000"
     "04000080",
     "PlatformIdleVetoIncrement StateIndex=2 VetoReason=0x80000004\n"},
    {85, 0,
     "0000"
     "01"
     "02000000"
     "04000080",
     "ProcessorIdleVetoIncrement Group=0 Number=1 StateIndex=2 VetoReason=0x80000004\n"},
    {88, 0,
     "0000"
     "01"
     "02000000"
     "04000080",
     "ProcessorIdleVetoRundown Group=0 Number=1 StateIndex=2 VetoReason=0x80000004 VetoCount= (cut)\n"},
    {141, 0,
     "07000000"
     "64000000"
     "e803000000000000"
     "b80b0000",
     "DeliveredPerfChangeHv LpIndex=7 DeliveredPerformance=100 DurationInUs=1000 "
     "DeliveredFrequencyMhz=3000\n"},
    {148, 0,
     "0000"
     "01"
     "64000000"
     "e803000000000000"
     "b80b0000",
     "DeliveredPerfChange Group=0 Number=1 DeliveredPerformance=100 DurationInUs=1000 "
     "DeliveredFrequencyMhz=3000\n"},
    {213, 0,
     "01000000"
     "02000000"
     "03000000",
     "ProcessorIdHvRundown AcpiId=1 InterruptControllerId=2 HvLpIndex=3\n"},
};

static uint32_t unhex(const char *hex, uint8_t *out)
{
    uint32_t n = 0;
    unsigned v;

    for (; hex[0] && sscanf(hex, "%2x", &v) == 1; hex += 2)
        out[n++] = (uint8_t)v;
    return n;
}

TEST(manifest_events_print_in_every_version)
{
    for (size_t i = 0; i < sizeof(manifest_cases) / sizeof(manifest_cases[0]); i++) {
        struct etl_synth s;
        struct etl_file f;
        struct error e = {0};
        struct lines l = {.f = &f};
        uint8_t payload[256];
        uint32_t n = unhex(manifest_cases[i].hex, payload);
        etl_synth_init(&s, 4, false);
        etl_synth_manifest(&s, 1, 5, kpp, manifest_cases[i].id, manifest_cases[i].version, payload, n, NULL,
                           0, NULL, 0);
        assert_int_equal(etl_open_memory(&f, s.file, s.size, &e), 0);
        etl_each(&f, print_line, &l);
        if (!strstr(strbuf_str(&l.text), manifest_cases[i].text))
            fail_msg("case %zu: %s", i, strbuf_str(&l.text));
        strbuf_finish(&l.text);
        etl_close(&f);
        etl_synth_finish(&s);
    }
}

TEST(utility_and_delivered_performance_are_used)
{
    struct etl_synth s;
    struct cpu_trace t;
    struct cpu_report r;
    uint8_t p[64];
    uint32_t n;

    machine(&s, false);
    /* RecordedUtility v1 of processor 2: idle 250, busy 750, at 80 % */
    n = unhex("0100000000000000"
              "fa00000000000000"
              "ee02000000000000"
              "b80b0000"
              "0000"
              "02"
              "50000000"
              "3c00"
              "3c00"
              "64",
              p);
    etl_synth_manifest(&s, 0, 900000, kpp, 12, 1, p, n, NULL, 0, NULL, 0);
    open_report(&t, &r, &s);
    assert_true(cpu_stats_delivered(&r.a.cpu[2], 0) == 80);
    assert_true(cpu_stats_delivered(&r.a.cpu[1], 0) < 0);
    close_report(&t, &r);
    etl_synth_finish(&s);
    /* without idle events it is all that tells the utilization: 75 %, at 80 % of nominal */
    etl_synth_init(&s, 4, false);
    etl_synth_manifest(&s, 0, 900000, kpp, 12, 1, p, n, NULL, 0, NULL, 0);
    open_report(&t, &r, &s);
    assert_true(cpu_stats_utilization(&r.a.cpu[2]) == 75);
    assert_true(cpu_stats_utilization(&r.a.cpu[1]) < 0);
    close_report(&t, &r);
    etl_synth_finish(&s);
}

TEST(deep_idle_events_are_found_by_name)
{
    static const char traits[] = "\x22\x00Microsoft.Windows.Kernel.Timer";
    static const uint8_t enter[] = "\x1f\x00\x00ProcessorEnterDeepIdle\0Cpu\0\x08";
    static const uint8_t leave[] = "\x1e\x00\x00ProcessorExitDeepIdle\0Cpu\0\x08";
    struct etl_synth s;
    struct etl_file f;
    struct error e = {0};
    struct lines l = {.f = &f};
    struct cpu_trace t;
    struct cpu_report r;
    uint32_t cpu = 3;

    etl_synth_init(&s, 4, false);
    for (uint32_t i = 0; i < 4; i++)
        idle(&s, i, 1, 0);
    etl_synth_manifest(&s, 3, 10000, timer_guid, 0, 0, &cpu, 4, enter, sizeof(enter) - 1, traits,
                       sizeof(traits));
    etl_synth_manifest(&s, 3, 30000, timer_guid, 0, 0, &cpu, 4, leave, sizeof(leave) - 1, traits,
                       sizeof(traits));
    awake(&s, 0, 4000, 0);
    open_report(&t, &r, &s);
    assert_int_equal(r.a.kinds[CPU_EV_DEEP_ENTER], 1);
    assert_int_equal(r.a.kinds[CPU_EV_DEEP_EXIT], 1);
    assert_int_equal(r.a.num_sets, 2); /* none, and CPU 3 alone */
    assert_int_equal(r.a.sets[1].mask[0], 8);
    assert_int_equal(r.a.sets[1].ns, 2000000);
    close_report(&t, &r);
    assert_int_equal(etl_open_memory(&f, s.file, s.size, &e), 0);
    etl_each(&f, print_line, &l);
    assert_non_null(
        strstr(strbuf_str(&l.text), "3 Microsoft.Windows.Kernel.Timer: ProcessorEnterDeepIdle Cpu=3\n"));
    strbuf_finish(&l.text);
    etl_close(&f);
    etl_synth_finish(&s);
}

TEST(unknown_events_are_counted)
{
    struct strbuf text = {0};
    struct etl_synth s;
    struct cpu_trace t;
    struct cpu_report r;

    machine(&s, false);
    for (int i = 0; i < 7; i++)
        etl_synth_perfinfo(&s, 0, 2000000 + (uint64_t)i, 0x4711, "xx", 2);
    open_report(&t, &r, &s);
    cpu_report_text(&r, &text);
    assert_non_null(
        strstr(strbuf_str(&text), "not analysed:          7  system event 0x4711 (not decoded)\n"));
    strbuf_finish(&text);
    close_report(&t, &r);
    etl_synth_finish(&s);
}

TEST(damage_is_named_and_the_rest_is_read)
{
    static const struct {
        size_t offset;
        uint32_t value;
        const char *note;
    } cases[] = {
        {4096, 17, "buffer 1 at offset 4096: its header is bad (size 17, saved 4064, type 0)"},
        {4096 + 4, 5000, "buffer 1 at offset 4096: 5000 bytes used of 4096"},
        {4096 + 0x48, 0xc0630002, "buffer 1 at offset 4096: event at 0x48: its header type is unknown"},
        {4096 + 0x48, 0x00110002, "buffer 1 at offset 4096: event at 0x48: it has no known header"},
        {4096 + 0x4c, 0x12390004, "buffer 1 at offset 4096: event at 0x48: its size does not fit"},
        {4096 + 0x4c, 0x12390012, "an event of kind 1 is shorter than its layout"},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct etl_synth s;
        struct cpu_trace t;
        struct cpu_report r;
        machine(&s, false);
        memcpy(s.file + cases[i].offset, &cases[i].value, 4);
        open_report(&t, &r, &s);
        assert_true(t.notes.count >= 1);
        if (!strstr(t.notes.text[0], cases[i].note))
            fail_msg("case %zu: %s", i, t.notes.text[0]);
        assert_true(r.a.events > 2000);
        close_report(&t, &r);
        etl_synth_finish(&s);
    }
}

/* What was written last stands first in a file that was written over from its beginning. */
TEST(circular_files_are_read_in_the_order_of_their_buffers)
{
    for (int circular = 0; circular < 2; circular++) {
        uint8_t swap[ETL_SYNTH_BUFFER];
        struct etl_synth s;
        struct etl_file f;
        struct cpu_source *source;
        const struct cpu_event *ev;
        struct error e = {0};
        uint64_t last = 0;
        bool in_order = true;
        int n;

        etl_synth_init(&s, 1, false);
        for (uint64_t i = 0; i < 400; i++) {
            idle(&s, 0, 1000 + i * 1000, 1);
            awake(&s, 0, 1500 + i * 1000, 1);
        }
        etl_synth_close(&s);
        assert_true(s.size >= 4 * ETL_SYNTH_BUFFER);
        memcpy(swap, s.file + ETL_SYNTH_BUFFER, sizeof(swap));
        memcpy(s.file + ETL_SYNTH_BUFFER, s.file + 2 * ETL_SYNTH_BUFFER, sizeof(swap));
        memcpy(s.file + 2 * ETL_SYNTH_BUFFER, swap, sizeof(swap));
        s.file[0x48 + 32 + 0x20] |= circular ? 2 : 0;
        assert_int_equal(etl_open_memory(&f, s.file, s.size, &e), 0);
        assert_int_equal(etl_rewind(&f, &source, &e), 0);
        while ((n = source->next(source, &ev)) > 0)
            for (int i = 0; i < n; i++) {
                in_order &= ev[i].ns >= last;
                last = ev[i].ns;
            }
        assert_int_equal(in_order, circular);
        etl_close(&f);
        etl_synth_finish(&s);
    }
}

TEST(unknown_compression_is_named)
{
    struct etl_synth s;
    struct cpu_trace t;
    struct cpu_report r;

    machine(&s, true);
    s.file[0x2c] = 4;
    open_report(&t, &r, &s);
    assert_non_null(strstr(t.notes.text[0], "compressed with format 4; this program reads 3 (XPRESS)"));
    close_report(&t, &r);
    etl_synth_finish(&s);
}

TEST(files_cut_anywhere_are_read_up_to_there)
{
    for (int pack = 0; pack < 2; pack++) {
        struct etl_synth s;
        uint64_t last = 0;
        machine(&s, pack);
        for (size_t cut = 0; cut < s.size; cut += cut < 5000 ? 7 : 997) {
            uint8_t *part = malloc(cut ? cut : 1);
            struct cpu_trace t;
            struct cpu_report r;
            struct error e = {0};
            memcpy(part, s.file, cut);
            if (cpu_trace_open_memory(&t, part, cut, &e)) {
                assert_int_equal(e.code, -EBADMSG);
            } else {
                assert_int_equal(cpu_report_init(&r, &t, 0, UINT64_MAX, 0, &e), 0);
                assert_true(r.a.events >= last);
                last = r.a.events;
                close_report(&t, &r);
            }
            free(part);
        }
        assert_true(last > 1000);
        etl_synth_finish(&s);
    }
}

TEST(wild_bytes_never_hurt)
{
    struct rng rng = {11};
    struct etl_synth s;

    machine(&s, true);
    for (int i = 0; i < 200; i++) {
        uint8_t *bad = malloc(s.size);
        struct cpu_trace t;
        struct cpu_report r;
        struct error e = {0};
        memcpy(bad, s.file, s.size);
        for (int k = 0; k < 8; k++)
            bad[rng_below(&rng, s.size)] = (uint8_t)rng_next(&rng);
        if (!cpu_trace_open_memory(&t, bad, s.size, &e)) {
            assert_int_equal(cpu_report_init(&r, &t, 0, UINT64_MAX, 0, &e), 0);
            close_report(&t, &r);
        }
        free(bad);
    }
    etl_synth_finish(&s);
}
