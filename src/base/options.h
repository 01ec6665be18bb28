/* SPDX-License-Identifier: MIT */
/* options.h: one table behind a command line: it is parsed, checked, explained by --help, printed as a manual page, and
 * completed by shells, all from the same rows. libc's getopt_long reads the words.
 *
 *   struct options_row rows[] = {
 *       OPT_RANGE32("frames", 'f', &first, &last, "A-B", "only these frames"),
 *       OPT_FLAG("json", 0, &json, "print one JSON object"),
 *       OPT_END};
 *   struct options o = {.rows = rows, .summary = "plays recordings", .operands = "FILE...", .min = 1, .max = -1};
 *   r = options_parse(&o, argc, argv, &e);     argv[optind] is then the first operand
 *
 * Invariants:
 * 1. A row's variable is written only by a word that passed its check: what a table accepts lies in its limits.
 * 2. One sentence says what is wrong: it names the option, the value, and what would be right.
 * 3. Every table takes --help and -h; --help=man prints the manual page's sections, --help=list the rows for a program,
 *    tab-separated: `option NAME LETTER ARGUMENT TEXT`, `command NAME TEXT`, `operands TEXT`.
 * 4. A value in a word of its own does not begin with "--": that is an option whose forerunner lacks its value. NAME=VALUE
 *    takes anything.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/error.h"

/* The exit codes of every program here. aerogpu_dbgctl alone has those of the tool that it stands in for. */
enum exit_code {
    EXIT_OK = 0,
    EXIT_FAILED = 1, /* it ran, and what it was asked to check or do failed */
    EXIT_USAGE = 2,  /* the command line is wrong */
    EXIT_INPUT = 3,  /* a file or stream it was given is bad */
    EXIT_ENV = 4,    /* this machine lacks something: a Vulkan device, a permission, memory */
    EXIT_CODES,
};

enum options_kind {
    OPTIONS_END,
    OPTIONS_GROUP,
    OPTIONS_SAME, /* another name of the row before it */
    OPTIONS_FLAG,
    OPTIONS_TEXT,
    OPTIONS_MAYBE, /* a flag that may have a text: --json[=FILE] */
    OPTIONS_U32,
    OPTIONS_U64,
    OPTIONS_RANGE32,
    OPTIONS_RANGE,
    OPTIONS_TIME,
    OPTIONS_CHOICE,
    OPTIONS_CALL,
};

struct options_row;
/* `value` is NULL for an option without one. 0, or a negative errno with the sentence in `e`. */
typedef int options_fn(void *ctx, const struct options_row *row, const char *value, struct error *e);

struct options_row {
    enum options_kind kind;
    const char *name; /* without its dashes; NULL: it has only a letter. A group's heading */
    int letter;       /* 0: none */
    const char *
        arg; /* what stands for the value; a choice's words, as "a|b|c"; "[=FILE]" of a call: it may be missing */
    const char *doc; /* what it does; `quoted` words are set in bold; an empty line begins a paragraph */
    union {
        bool *flag;
        const char **text;
        uint32_t *u32;
        uint64_t *u64;
        unsigned *choice; /* which of the words */
        void *ctx;
    } to;
    union {
        const char **text;
        uint32_t *u32;
        uint64_t *u64;
        options_fn *call;
    } to2;             /* a range's end; a maybe's text; a call */
    uint64_t min, max; /* of a number; a time's highest value and its unit in ns are `max` and `min` */
    bool once;         /* giving it twice is an error */
    unsigned given;    /* set by options_parse: the place of its last use among all options; 0: not given */
};

/* clang-format off */
#define OPT_END                                         {.kind = OPTIONS_END}
#define OPT_GROUP(n)                                    {.kind = OPTIONS_GROUP, .name = (n)}
#define OPT_SAME(n)                                     {.kind = OPTIONS_SAME, .name = (n)}
#define OPT_FLAG(n, l, v, d)                            {.kind = OPTIONS_FLAG, .name = (n), .letter = (l), .to.flag = (v), .doc = (d)}
#define OPT_TEXT(n, l, v, a, d)                         {.kind = OPTIONS_TEXT, .name = (n), .letter = (l), .to.text = (v), .arg = (a), .doc = (d)}
#define OPT_MAYBE(n, l, v, t, a, d)                     {.kind = OPTIONS_MAYBE, .name = (n), .letter = (l), .to.flag = (v), .to2.text = (t), .arg = (a), .doc = (d)}
#define OPT_U32(n, l, v, least, most, a, d)             {.kind = OPTIONS_U32, .name = (n), .letter = (l), .to.u32 = (v), .min = (least), .max = (most), .arg = (a), .doc = (d)}
#define OPT_U64(n, l, v, least, most, a, d)             {.kind = OPTIONS_U64, .name = (n), .letter = (l), .to.u64 = (v), .min = (least), .max = (most), .arg = (a), .doc = (d)}
/* "A-B", "A-" (to the end: the type's highest value) and "A". */
#define OPT_RANGE32(n, l, first, last, a, d)            {.kind = OPTIONS_RANGE32, .name = (n), .letter = (l), .to.u32 = (first), .to2.u32 = (last), .arg = (a), .doc = (d)}
#define OPT_RANGE(n, l, first, last, a, d)              {.kind = OPTIONS_RANGE, .name = (n), .letter = (l), .to.u64 = (first), .to2.u64 = (last), .arg = (a), .doc = (d)}
/* A number of seconds or milliseconds (`unit` in ns), above 0 and up to `most`, with a fraction if need be; `v` gets ns. */
#define OPT_TIME(n, l, v, unit, most, a, d)             {.kind = OPTIONS_TIME, .name = (n), .letter = (l), .to.u64 = (v), .min = (unit), .max = (most), .arg = (a), .doc = (d)}
#define OPT_CHOICE(n, l, v, words, d)                   {.kind = OPTIONS_CHOICE, .name = (n), .letter = (l), .to.choice = (v), .arg = (words), .doc = (d)}
#define OPT_CALL(n, l, fn, c, a, d)                     {.kind = OPTIONS_CALL, .name = (n), .letter = (l), .to2.call = (fn), .to.ctx = (c), .arg = (a), .doc = (d)}
/* clang-format on */

/* A command of a program that has several; without `run`, a heading: its summary. */
struct options_command {
    const char *name, *summary;
    int (*run)(int argc, char **argv);
};

struct options {
    const char *name;    /* "aerogpu play"; NULL: argv[0] */
    const char *summary; /* what it does, as the line of a list: "play recordings through the whole device" */
    const char *about;   /* paragraphs, with an empty line between them; NULL: the summary says it */
    struct options_row *rows; /* up to OPT_END */
    const struct options_command *commands;
    size_t num_commands;
    const char *operands; /* as in the synopsis: "FILE..."; several synopses, one a line */
    int min, max;         /* operands; max < 0: any number */
    const char *wrong;    /* said when there are fewer or more */
    bool stops;           /* at the first operand: what follows is another program's */
    bool slash;           /* "/?" is --help too, as where the programs come from that these stand in for */
    /* Gets each option that no row has, and its value, if one follows, as they were written. */
    options_fn *foreign;
    void *foreign_ctx;
    /* What a code means here; that of EXIT_USAGE is there by itself where there are others. */
    const char *exits[EXIT_CODES];
    const char *notes;            /* paragraphs behind the options */
    const char *examples;         /* one a line */
    const char *see;              /* other pages: "aerogpu-show(1), docs/d3d12.md" */
    const struct options_row *at; /* set by options_parse: whose value is wrong or missing, or NULL */
};

/* Of each row that takes or may take one value, a second one is an error (`once`). */
void options_once(struct options_row *rows);

/* Reads the command line into the rows' variables, from left to right: of what is given twice the last counts, but for `once`. 0: libc's
 * optind is the first operand. 1: help was printed. -EINVAL: `e` says what is wrong. Not for two threads at a time. */
int options_parse(struct options *o, int argc, char **argv, struct error *e);

/* Prints the help; `form` NULL: for people, "man" and "list" as in invariant 3; false: there is no such form. */
bool options_print(const struct options *o, FILE *out, const char *form);

/* The row called `name`, or NULL. */
struct options_row *options_find(const struct options *o, const char *name);

/* `text` as a number from `min` to `max`, decimal, or hexadecimal with 0x; `what` begins the complaint. */
int options_number(const char *what, const char *text, uint64_t min, uint64_t max, uint64_t *out,
                   struct error *e);
