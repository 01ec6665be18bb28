/* SPDX-License-Identifier: MIT */
/* Command lines: any words, one a line, are taken or refused with a sentence; what is taken lies in its limits, and every
 * operand is one of the words. */
#include "fuzz.h"

#include <getopt.h>
#include <string.h>

#include "base/clock.h"
#include "base/options.h"

static int call(void *ctx, const struct options_row *row, const char *value, struct error *e)
{
    (void)row;
    *(const char **)ctx = value;
    return value && *value ? 0 : error_set(e, -22, "nothing");
}

static int foreign(void *ctx, const struct options_row *row, const char *value, struct error *e)
{
    (void)row, (void)e;
    ++*(unsigned *)ctx;
    must(value);
    return 0;
}

static void parse(int argc, char **words, bool stops, bool hands_on)
{
    bool flag = false, maybe = false;
    const char *text = NULL, *maybe_text = NULL, *called = NULL;
    uint32_t small = 5, first32 = 0, last32 = UINT32_MAX;
    uint64_t large = 7, first = 0, last = UINT64_MAX, time = NSEC_PER_SEC;
    unsigned choice = 0, handed = 0;
    struct options_row rows[] = {OPT_GROUP("group"),
                                 OPT_FLAG("flag", 'f', &flag, "a flag"),
                                 OPT_TEXT("text", 't', &text, "TEXT", "a text"),
                                 OPT_MAYBE("maybe", 0, &maybe, &maybe_text, "TEXT", "a text"),
                                 OPT_U32(NULL, 'n', &small, 5, 900, "N", "a number"),
                                 OPT_U64("large", 0, &large, 7, UINT64_MAX, "N", "a number"),
                                 OPT_RANGE32("frames", 0, &first32, &last32, "A-B", "a range"),
                                 OPT_RANGE("calls", 'c', &first, &last, "A-B", "a range"),
                                 OPT_TIME("time", 0, &time, NSEC_PER_MSEC, 86400, "MS", "a time"),
                                 OPT_CHOICE("choice", 0, &choice, "one|two|three", "a choice"),
                                 OPT_CALL("call", 0, call, &called, "WORD", "a call"),
                                 OPT_END};
    struct options o = {.name = "fuzz",
                        .summary = "words",
                        .rows = rows,
                        .operands = "FILE...",
                        .min = 1,
                        .max = 3,
                        .stops = stops,
                        .foreign = hands_on ? foreign : NULL,
                        .foreign_ctx = &handed};
    struct error e = {0};
    bool ended = false;
    int r = options_parse(&o, argc, words, &e);

    must(r == 0 || r == 1 || (r < 0 && e.code == r && *e.text));
    must(small >= 5 && small <= 900 && large >= 7);
    must(first32 <= last32 && first <= last && choice < 3);
    must(time <= 86400 * NSEC_PER_MSEC || time == NSEC_PER_SEC);
    must(r || (optind >= 1 && argc - optind >= 1 && argc - optind <= 3));
    for (int i = 1; i < argc; i++)
        ended |= !strcmp(words[i], "--"); /* what follows is no option */
    must(r || hands_on || stops || ended || strncmp(words[argc - 1], "--flag=", 7) != 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *words[40] = {strdup("fuzz")}, *text, *at;
    int argc = 1;

    text = malloc(size + 1);
    must(text && words[0]);
    memcpy(text, data, size);
    text[size] = '\0';
    for (at = text; at && argc < 39;) {
        char *end = strchr(at, '\n');
        if (end)
            *end = '\0';
        words[argc++] = strdup(at); /* each in memory of its own: a look beyond a word is found */
        at = end ? end + 1 : NULL;
    }
    if (!freopen("/dev/null", "w", stdout))
        abort();
    for (int way = 0; way < 4; way++) {
        char *copy[40];
        memcpy(copy, words, sizeof(copy));
        parse(argc, copy, way & 1, way & 2);
    }
    for (int i = 0; i < argc; i++)
        free(words[i]);
    free(text);
    return 0;
}
