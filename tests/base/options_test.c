/* SPDX-License-Identifier: MIT */
/* A table, and what it makes of words: values, one sentence for each mistake, help, manual page, list. */
#include "test.h"

#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/options.h"

struct values {
    bool json, report;
    const char *out, *report_path;
    uint32_t jobs, first, last;
    uint64_t seed, call_first, call_last, patience;
    unsigned how;
    char called[32];
    char handed[128];
    struct error e;
    struct options o;
};

static int remember(void *ctx, const struct options_row *row, const char *value, struct error *e)
{
    struct values *v = ctx;

    if (!strcmp(value, "bad"))
        return error_set(e, -EINVAL, "--call: 'bad' is bad");
    snprintf(v->called, sizeof(v->called), "%s=%s", row->name, value);
    return 0;
}

static int hand(void *ctx, const struct options_row *row, const char *value, struct error *e)
{
    struct values *v = ctx;

    (void)row, (void)e;
    strncat(v->handed, value, sizeof(v->handed) - strlen(v->handed) - 2);
    strcat(v->handed, ";");
    return 0;
}

/* Parses `line`, whose words are parted by spaces; `form`: prints it in this form instead. */
static int parse_as(struct values *v, const char *line, const char *form, char **printed)
{
    struct options_row rows[] = {
        OPT_GROUP("what comes out"),
        OPT_FLAG("json", 'j', &v->json, "print one JSON object"),
        OPT_TEXT("out", 'o', &v->out, "FILE", "where to; see --report"),
        OPT_MAYBE("report", 0, &v->report, &v->report_path, "FILE",
                  "write a report\n\n.dots and \\slashes `quoted-word` stay"),
        OPT_GROUP("how"),
        OPT_U32("jobs", 0, &v->jobs, 1, 64, "N", "so many at a time"),
        OPT_U64("seed", 0, &v->seed, 1, UINT64_MAX, "S", "seed"),
        OPT_RANGE32("frames", 'f', &v->first, &v->last, "A-B", "only these"),
        OPT_RANGE("calls", 0, &v->call_first, &v->call_last, "A-B", "only these"),
        OPT_TIME("patience", 0, &v->patience, NSEC_PER_SEC, 3600, "SECONDS", "how long"),
        OPT_CHOICE("how", 0, &v->how, "auto|kernel|hash", "the way"),
        OPT_CALL("call", 0, remember, v, "WORD", "a call"),
        OPT_U32(NULL, 'n', &v->jobs, 1, 9, "N", "only a letter"),
        OPT_END};
    static char words[400];
    char *argv[32] = {"prog"}, *save;
    int argc = 1, r;

    v->o.rows = rows;
    v->o.name = "prog test";
    v->o.summary = "try words";
    v->o.exits[EXIT_OK] = "all is well";
    v->o.examples = "prog test --json\n.odd\n";
    if (!v->o.operands) {
        v->o.operands = "FILE...";
        v->o.max = -1;
    }
    if (printed) {
        size_t size;
        FILE *f = open_memstream(printed, &size);
        r = options_print(&v->o, f, form);
        fclose(f);
        return r;
    }
    snprintf(words, sizeof(words), "%s", line);
    for (char *w = strtok_r(words, " ", &save); w; w = strtok_r(NULL, " ", &save))
        argv[argc++] = w;
    v->o.rows = rows;
    r = options_parse(&v->o, argc, argv, &v->e);
    v->o.rows = NULL;
    return r;
}

static struct values taken(const char *line)
{
    struct values v = {.last = UINT32_MAX};

    if (parse_as(&v, line, NULL, NULL))
        fail_msg("%s: %s", line, v.e.text);
    return v;
}

static void refused(const char *line, const char *sentence)
{
    struct values v = {0};

    assert_int_equal(parse_as(&v, line, NULL, NULL), -EINVAL);
    assert_string_equal(v.e.text, sentence);
}

TEST(values_arrive)
{
    struct values v = taken("-j --out=x --jobs 0x10 --seed 18446744073709551615 a -f 3-5 --calls 7- b");

    assert_true(v.json && !v.report);
    assert_string_equal(v.out, "x");
    assert_int_equal(v.jobs, 16);
    assert_true(v.seed == UINT64_MAX);
    assert_int_equal(v.first, 3);
    assert_int_equal(v.last, 5);
    assert_int_equal(v.call_first, 7);
    assert_true(v.call_last == UINT64_MAX);
    assert_int_equal(optind, 11); /* operands are moved behind the options */
    v = taken("--report --patience 0.25 --how hash --frames 9-");
    assert_true(v.report && !v.report_path && v.patience == NSEC_PER_SEC / 4 && v.how == 2);
    assert_true(v.first == 9 && v.last == UINT32_MAX);
    v = taken("--report=x --out=--y --call word -n 3 -- --json");
    assert_string_equal(v.report_path, "x");
    assert_string_equal(v.out, "--y");
    assert_string_equal(v.called, "call=word");
    assert_true(!v.json && v.jobs == 3);
    v = taken("--jobs 2 --jobs 4 --how=kernel --pat 1");
    assert_true(v.jobs == 4 && v.how == 1 && v.patience == NSEC_PER_SEC);
}

TEST(a_mistake_is_one_sentence)
{
    refused("--bogus", "unknown option '--bogus'");
    refused("--bogus=3", "unknown option '--bogus=3'");
    refused("-jx", "unknown option '-x'");
    refused("--json=1", "option '--json' takes no value");
    refused("--out", "option '--out' requires an argument");
    refused("-n", "option '-n' requires an argument");
    refused("--out --json", "option '--out' requires an argument");
    refused("--report=", "--report= needs a path");
    refused("--jobs 65", "--jobs: '65' is no number from 1 to 64");
    refused("--jobs -1", "--jobs: '-1' is no number from 1 to 64");
    refused("--jobs 1x", "--jobs: '1x' is no number from 1 to 64");
    refused("--jobs 4294967297", "--jobs: '4294967297' is no number from 1 to 64");
    refused("-n 10", "-n: '10' is no number from 1 to 9");
    refused("--seed 0", "--seed: '0' is no number of at least 1");
    refused("--seed 18446744073709551616", "--seed: '18446744073709551616' is no number of at least 1");
    refused("--frames 5-3", "--frames needs a range A-B, not '5-3'");
    refused("--frames 3--5", "--frames needs a range A-B, not '3--5'");
    refused("--frames -3", "--frames needs a range A-B, not '-3'");
    refused("--frames 3-x", "--frames needs a range A-B, not '3-x'");
    refused("--calls 1-18446744073709551616", "--calls needs a range A-B, not '1-18446744073709551616'");
    refused("--patience nan", "--patience: 'nan' is no time in seconds, above 0 and up to 3600");
    refused("--patience 0", "--patience: '0' is no time in seconds, above 0 and up to 3600");
    refused("--patience 3601", "--patience: '3601' is no time in seconds, above 0 and up to 3600");
    refused("--how auto|kernel", "--how: 'auto|kernel' is none of auto|kernel|hash");
    refused("--how aut", "--how: 'aut' is none of auto|kernel|hash");
    refused("--call bad", "--call: 'bad' is bad");
    refused("--help=html", "--help: 'html' is none of man|list");
}

TEST(what_is_refused_changes_nothing)
{
    struct values v = {.jobs = 7, .first = 1, .last = 2, .patience = 3, .how = 1};

    assert_int_equal(parse_as(&v, "--jobs 65", NULL, NULL), -EINVAL);
    v.e = (struct error){0};
    assert_int_equal(parse_as(&v, "--frames 5-3", NULL, NULL), -EINVAL);
    v.e = (struct error){0};
    assert_int_equal(parse_as(&v, "--patience -1", NULL, NULL), -EINVAL);
    v.e = (struct error){0};
    assert_int_equal(parse_as(&v, "--how no", NULL, NULL), -EINVAL);
    assert_true(v.jobs == 7 && v.first == 1 && v.last == 2 && v.patience == 3 && v.how == 1);
}

TEST(operands_are_counted)
{
    struct values v = {.o = {.operands = "A B", .min = 2, .max = 2}};

    assert_int_equal(parse_as(&v, "a --json b", NULL, NULL), 0);
    assert_int_equal(parse_as(&v, "a", NULL, NULL), -EINVAL);
    assert_string_equal(v.e.text, "A B is missing");
    v.e = (struct error){0};
    assert_int_equal(parse_as(&v, "a b c", NULL, NULL), -EINVAL);
    assert_string_equal(v.e.text, "it takes no 'c'");
    v.e = (struct error){0};
    v.o.wrong = "two files are needed";
    assert_int_equal(parse_as(&v, "a b c", NULL, NULL), -EINVAL);
    assert_string_equal(v.e.text, "two files are needed");
}

TEST(another_programs_words_stay)
{
    struct values v = {.o = {.operands = "PROGRAM", .min = 1, .max = -1, .stops = true}};

    assert_int_equal(parse_as(&v, "--jobs 3 ls --json", NULL, NULL), 0);
    assert_true(!v.json && v.jobs == 3 && optind == 3);
    v = (struct values){.o = {.operands = "", .foreign = hand, .foreign_ctx = &v}};
    assert_int_equal(parse_as(&v, "--strange 5 --json --odd=6 --last", NULL, NULL), 0);
    assert_true(v.json);
    assert_string_equal(v.handed, "--strange;5;--odd=6;--last;");
    assert_int_equal(parse_as(&v, "--odd=6 word", NULL, NULL), -EINVAL); /* not its value */
    assert_string_equal(v.e.text, "it takes no 'word'");
}

static int remember_or_not(void *ctx, const struct options_row *row, const char *value, struct error *e)
{
    (void)row, (void)e;
    *(const char **)ctx = value ? value : "none";
    return 0;
}

/* What programs need that stand in for others: names that mean the same, a value that may be missing, "/?". */
TEST(old_words_are_taken)
{
    const char *json = NULL;
    uint32_t size = 0;
    bool status = false;
    struct options_row rows[] = {OPT_FLAG("status", 0, &status, "all of it"), OPT_SAME("query-version"),
                                 OPT_CALL("json", 0, remember_or_not, &json, "[=FILE]", "JSON"),
                                 OPT_U32("size", 0, &size, 1, 9, "N", "bytes"), OPT_END};
    struct options o = {.name = "prog", .summary = "old", .rows = rows, .slash = true};
    struct error e = {0};
    char *text;
    size_t length;
    FILE *f;

    rows[3].once = true;
    assert_int_equal(options_parse(&o, 3, (char *[]){"prog", "--query-version", "--json", NULL}, &e), 0);
    assert_true(status && rows[0].given && !rows[1].given);
    assert_string_equal(json, "none");
    assert_int_equal(options_parse(&o, 2, (char *[]){"prog", "--json=x", NULL}, &e), 0);
    assert_string_equal(json, "x");
    assert_int_equal(options_parse(&o, 3, (char *[]){"prog", "--size=3", "--size=4", NULL}, &e), -EINVAL);
    assert_string_equal(e.text, "option '--size' is given twice");
    assert_null(o.at);
    error_clear(&e);
    assert_int_equal(options_parse(&o, 2, (char *[]){"prog", "--size=0", NULL}, &e), -EINVAL);
    assert_ptr_equal(o.at, &rows[3]);
    error_clear(&e);
    assert_int_equal(options_parse(&o, 2, (char *[]){"prog", "--size", NULL}, &e), -EINVAL);
    assert_ptr_equal(o.at, &rows[3]);
    f = open_memstream(&text, &length);
    assert_true(options_print(&o, f, NULL));
    fclose(f);
    assert_non_null(strstr(text, "\n      --status, --query-version  all of it\n      --json[=FILE] "));
    free(text);
}

TEST(the_last_use_is_known)
{
    struct values v = {0};
    struct options_row rows[] = {OPT_FLAG("a", 0, &v.json, "a"), OPT_FLAG("b", 0, &v.report, "b"), OPT_END};
    struct options o = {.name = "prog", .summary = "order", .rows = rows};
    char *argv[] = {"prog", "--a", "--b", "--a", NULL};

    assert_int_equal(options_parse(&o, 4, argv, &v.e), 0);
    assert_true(options_find(&o, "a")->given > options_find(&o, "b")->given && rows[1].given);
    assert_null(options_find(&o, "c"));
}

TEST(help_man_and_list_have_every_row)
{
    static const char *const forms[] = {NULL, "man", "list"};
    static const char *const names[] = {"json",  "out",      "report", "jobs", "seed", "frames",
                                        "calls", "patience", "how",    "call", "help"};
    struct values v = {0};
    char *text;

    for (int f = 0; f < 3; f++) {
        assert_true(parse_as(&v, NULL, forms[f], &text));
        for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
            char word[32];
            snprintf(word, sizeof(word), f == 0 ? "--%s" : f == 1 ? "\\-\\-%s" : "option\t%s\t", names[i]);
            if (!strstr(text, word))
                fail_msg("form %s lacks %s:\n%s", forms[f] ? forms[f] : "text", word, text);
        }
        if (!f) {
            assert_non_null(strstr(text, "usage: prog test [OPTIONS] FILE...\n"));
            assert_non_null(strstr(text, "\n  -j, --json "));
            assert_non_null(strstr(text, "--report[=FILE]"));
            assert_non_null(strstr(text, "\nExit codes: 0 all is well; 2 wrong usage\n"));
        } else if (f == 1) {
            assert_non_null(strstr(text, "prog\\-test \\- try words\n"));
            assert_non_null(strstr(text, "where to; see \\fB\\-\\-report\\fP\n"));
            assert_non_null(strstr(text, "\n.IP\n\\&.dots and \\eslashes \\fBquoted\\-word\\fP stay\n"));
            assert_non_null(strstr(text, "\n\\&.odd\n.EE\n"));
        }
        for (const char *line = text; !f && line; line = strchr(line, '\n'), line += line != NULL)
            assert_true(strcspn(line, "\n") <= 100);
        free(text);
    }
    assert_false(parse_as(&v, NULL, "html", &text));
    free(text);
}
