/* SPDX-License-Identifier: MIT */
/* options.c: see options.h. Where each row keeps its value is known to set() alone, how it is written to the printers. */
#include "base/options.h"

#include <ctype.h>
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/clock.h"

enum { WIDTH = 100, COLUMN = 24, MAX_ROWS = 96, HELP = 256, FIRST_ROW = 257 };

/* What every table is: a table that is wrong is wrong each time, so that the first test of its program finds it. */
static void row_check(const struct options *o, const struct options_row *r)
{
    INVARIANT(r - o->rows < MAX_ROWS);
    INVARIANT(r->name || r->letter);
    if (r->kind == OPTIONS_GROUP)
        return;
    INVARIANT(!r->name || options_find(o, r->name) == r);
    if (r->kind == OPTIONS_SAME) {
        INVARIANT(r > o->rows && r[-1].kind != OPTIONS_GROUP);
        return;
    }
    INVARIANT(r->doc && *r->doc);
    INVARIANT(r->letter != 'h' && (!r->name || strcmp(r->name, "help") != 0)); /* 3 */
    INVARIANT(!r->arg == (r->kind == OPTIONS_FLAG) || r->kind == OPTIONS_CALL);
    INVARIANT(r->to.flag || r->kind == OPTIONS_CALL);
    INVARIANT(r->to2.text || (r->kind != OPTIONS_MAYBE && r->kind != OPTIONS_RANGE &&
                              r->kind != OPTIONS_RANGE32 && r->kind != OPTIONS_CALL));
    INVARIANT(r->kind != OPTIONS_U32 || r->max <= UINT32_MAX); /* 1 */
    INVARIANT(r->min <= r->max || r->kind == OPTIONS_TIME);
    INVARIANT(r->kind != OPTIONS_TIME || r->min == NSEC_PER_SEC || r->min == NSEC_PER_MSEC);
    INVARIANT(r->kind != OPTIONS_TIME || r->max <= UINT64_MAX / r->min);
}

static void options_check(const struct options *o)
{
    INVARIANT(o->name);
    INVARIANT(o->summary);
    INVARIANT(o->max < 0 || o->min <= o->max);
    INVARIANT(o->min == 0 || o->wrong || o->operands);
    INVARIANT(!o->num_commands == !o->commands);
    for (const struct options_row *r = o->rows; r && r->kind; r++)
        row_check(o, r);
}

/* ---- values -------------------------------------------------------------- */

/* "--frames", or "-d" where there is only a letter. */
static const char *shown_name(const struct options_row *r, char text[64])
{
    if (r->name)
        snprintf(text, 64, "--%s", r->name);
    else
        snprintf(text, 64, "-%c", r->letter);
    return text;
}

int options_number(const char *what, const char *text, uint64_t min, uint64_t max, uint64_t *out,
                   struct error *e)
{
    char *end;
    uint64_t v;

    errno = 0;
    v = strtoull(text, &end, strncmp(text, "0x", 2) ? 10 : 16);
    if (isdigit((unsigned char)*text) && !*end && !errno && v >= min && v <= max) {
        *out = v;
        return 0;
    }
    if (max == UINT64_MAX)
        return error_set(e, -EINVAL, "%s: '%s' is no number of at least %" PRIu64, what, text, min);
    return error_set(e, -EINVAL, "%s: '%s' is no number from %" PRIu64 " to %" PRIu64, what, text, min, max);
}

static int set_number(const struct options_row *r, const char *what, const char *value, struct error *e)
{
    uint64_t v;
    int err = options_number(what, value, r->min, r->max, &v, e);

    if (!err && r->kind == OPTIONS_U32)
        *r->to.u32 = (uint32_t)v;
    else if (!err)
        *r->to.u64 = v;
    return err;
}

static int set_range(const struct options_row *r, const char *what, const char *value, struct error *e)
{
    uint64_t first, last;
    char *end;

    errno = 0;
    first = last = strtoull(value, &end, 10);
    if (*end == '-')
        last = isdigit((unsigned char)end[1]) ? strtoull(end + 1, &end, 10) : UINT64_MAX;
    if (!isdigit((unsigned char)*value) || (*end && strcmp(end, "-") != 0) || errno || first > last)
        return error_set(e, -EINVAL, "%s needs a range A-B, not '%s'", what, value);
    if (r->kind == OPTIONS_RANGE) {
        *r->to.u64 = first;
        *r->to2.u64 = last;
    } else {
        *r->to.u32 = first > UINT32_MAX ? UINT32_MAX : (uint32_t)first;
        *r->to2.u32 = last > UINT32_MAX ? UINT32_MAX : (uint32_t)last;
    }
    return 0;
}

static int set_time(const struct options_row *r, const char *what, const char *value, struct error *e)
{
    char *end;
    double v = strtod(value, &end);

    if (end == value || *end || !isfinite(v) || v <= 0 || v > (double)r->max)
        return error_set(e, -EINVAL, "%s: '%s' is no time in %sseconds, above 0 and up to %" PRIu64, what,
                         value, r->min == NSEC_PER_MSEC ? "milli" : "", r->max);
    *r->to.u64 = (uint64_t)(v * (double)r->min);
    return 0;
}

static int set_choice(const struct options_row *r, const char *what, const char *value, struct error *e)
{
    size_t len = strlen(value);
    unsigned i = 0;

    for (const char *word = r->arg; *word; i++, word += strspn(word, "|")) {
        size_t n = strcspn(word, "|");
        if (n == len && !strncmp(word, value, n)) {
            *r->to.choice = i;
            return 0;
        }
        word += n;
    }
    return error_set(e, -EINVAL, "%s: '%s' is none of %s", what, value, r->arg);
}

static int set(const struct options_row *r, const char *value, struct error *e)
{
    char what[64];

    shown_name(r, what);
    switch (r->kind) {
    case OPTIONS_FLAG:
        *r->to.flag = true;
        return 0;
    case OPTIONS_MAYBE:
        *r->to.flag = true;
        *r->to2.text = value;
        return value && !*value ? error_set(e, -EINVAL, "%s= needs a path", what) : 0;
    case OPTIONS_TEXT:
        *r->to.text = value;
        return *value ? 0 : error_set(e, -EINVAL, "%s: %s is empty", what, r->arg);
    case OPTIONS_U32:
    case OPTIONS_U64:
        return set_number(r, what, value, e);
    case OPTIONS_RANGE32:
    case OPTIONS_RANGE:
        return set_range(r, what, value, e);
    case OPTIONS_TIME:
        return set_time(r, what, value, e);
    case OPTIONS_CHOICE:
        return set_choice(r, what, value, e);
    default:
        return r->to2.call(r->to.ctx, r, value, e);
    }
}

/* ---- words --------------------------------------------------------------- */

static int needs(const struct options_row *r)
{
    if (r->kind == OPTIONS_MAYBE || (r->arg && *r->arg == '['))
        return optional_argument;
    return r->arg ? required_argument : no_argument;
}

struct options_row *options_find(const struct options *o, const char *name)
{
    for (struct options_row *r = o->rows; r && r->kind; r++)
        if (r->kind != OPTIONS_GROUP && r->name && !strcmp(r->name, name))
            return r;
    return NULL;
}

/* The table as libc wants it: a row's number is its value. */
static void fill(const struct options *o, struct option longs[MAX_ROWS + 2], char letters[3 * MAX_ROWS + 4])
{
    int n = 0, row = 0;
    char *l = letters;

    l += sprintf(l, "%s:h", o->stops || o->foreign ? "+" : "");
    longs[n++] = (struct option){"help", optional_argument, NULL, HELP};
    for (int i = 0; o->rows && o->rows[i].kind; i++) {
        const struct options_row *r = &o->rows[i];
        if (r->kind == OPTIONS_GROUP)
            continue;
        if (r->kind != OPTIONS_SAME)
            row = i;
        if (r->name && n <= MAX_ROWS)
            longs[n++] = (struct option){r->name, needs(&o->rows[row]), NULL, FIRST_ROW + row};
        if (r->letter && l < letters + 3 * MAX_ROWS)
            l += sprintf(l, "%c%s", r->letter, r->arg ? ":" : "");
    }
    longs[n] = (struct option){0};
    *l = '\0';
}

static int row_of_letter(const struct options *o, int letter)
{
    for (int i = 0; o->rows && o->rows[i].kind; i++)
        if (o->rows[i].letter == letter && o->rows[i].kind != OPTIONS_GROUP)
            return FIRST_ROW + i;
    return letter;
}

/* getopt has stumbled over the word before optind. */
static int complain(struct options *o, int c, const char *word, struct error *e)
{
    char text[64];

    if (c == ':') {
        o->at = &o->rows[(optopt >= FIRST_ROW ? optopt : row_of_letter(o, optopt)) - FIRST_ROW];
        return error_set(e, -EINVAL, "option '%s' requires an argument", word);
    }
    if (optopt >= FIRST_ROW)
        return error_set(e, -EINVAL, "option '%s' takes no value",
                         shown_name(&o->rows[optopt - FIRST_ROW], text));
    if (optopt)
        return error_set(e, -EINVAL, "unknown option '-%c'", optopt);
    return error_set(e, -EINVAL, "unknown option '%s'", word);
}

/* Hands an unknown option and its value on. */
static int hand_on(struct options *o, int argc, char **argv, struct error *e)
{
    const char *word = argv[optind - 1];
    int r = o->foreign(o->foreign_ctx, NULL, word, e);

    if (!r && !strchr(word, '=') && optind < argc && strncmp(argv[optind], "--", 2) != 0)
        r = o->foreign(o->foreign_ctx, NULL, argv[optind++], e);
    return r;
}

static int help(struct options *o, const char *form, struct error *e)
{
    return options_print(o, stdout, form) ? 1
                                          : error_set(e, -EINVAL, "--help: '%s' is none of man|list", form);
}

static int take(struct options *o, int c, char **argv, struct error *e)
{
    struct options_row *r = &o->rows[c - FIRST_ROW];
    char text[64];
    unsigned last = 0;
    int err;

    o->at = r;
    if (optarg && optarg == argv[optind - 1] && !strncmp(optarg, "--", 2))
        return error_set(e, -EINVAL, "option '%s' requires an argument", shown_name(r, text));
    if (r->once && r->given) {
        o->at = NULL;
        return error_set(e, -EINVAL, "option '%s' is given twice", shown_name(r, text));
    }
    for (const struct options_row *k = o->rows; k->kind; k++)
        last = k->given > last ? k->given : last;
    r->given = last + 1;
    err = set(r, optarg, e);
    if (!err)
        o->at = NULL;
    return err;
}

void options_once(struct options_row *rows)
{
    for (struct options_row *r = rows; r->kind; r++)
        r->once = r->kind >= OPTIONS_TEXT && r->kind != OPTIONS_CALL;
}

int options_parse(struct options *o, int argc, char **argv, struct error *e)
{
    struct option longs[MAX_ROWS + 2];
    char letters[3 * MAX_ROWS + 4];
    int c, r = 0, n;

    if (!o->name)
        o->name = argv[0];
    options_check(o);
    o->at = NULL;
    for (struct options_row *k = o->rows; k && k->kind; k++)
        k->given = 0;
    fill(o, longs, letters);
    for (int i = 1; o->slash && i < argc; i++)
        if (!strcmp(argv[i], "/?"))
            return help(o, NULL, e);
    optind = 0; /* libc: start afresh */
    opterr = 0;
    while (!r && (c = getopt_long(argc, argv, letters, longs, NULL)) != -1) {
        if (c == HELP || c == 'h')
            return help(o, c == HELP ? optarg : NULL, e);
        if (c == '?' && !optopt && o->foreign)
            r = hand_on(o, argc, argv, e);
        else if (c == '?' || c == ':')
            r = complain(o, c, argv[optind - 1], e);
        else
            r = take(o, c < HELP ? row_of_letter(o, c) : c, argv, e);
    }
    INVARIANT(optind >= 1 && optind <= argc);
    n = argc - optind;
    if (r || (n >= o->min && (o->max < 0 || n <= o->max)))
        return r;
    if (o->wrong)
        return error_set(e, -EINVAL, "%s", o->wrong);
    return n < o->min ? error_set(e, -EINVAL, "%s is missing", o->operands)
                      : error_set(e, -EINVAL, "it takes no '%s'", argv[optind + o->max]);
}

/* ---- for people ---------------------------------------------------------- */

/* `text` from column `at` on, with lines of WIDTH that begin at `indent`; an empty line stays one. */
static void wrap(FILE *out, const char *text, int at, int indent)
{
    bool first = true;

    while (*text) {
        size_t n = strcspn(text, " \n");
        int width = 0;

        for (size_t i = 0; i < n; i++)
            width += (text[i] & 0xc0) != 0x80; /* UTF-8: a character is one column */
        if (!first && at + 1 + width > WIDTH) {
            fprintf(out, "\n%*s", indent, "");
            at = indent;
        } else if (!first) {
            fputc(' ', out);
            at++;
        }
        fwrite(text, 1, n, out);
        at += width;
        text += n;
        first = false;
        if (!strncmp(text, "\n\n", 2)) {
            fprintf(out, "\n\n%*s", indent, "");
            at = indent;
            first = true;
        }
        text += strspn(text, " \n");
    }
    fputc('\n', out);
}

/* "-o, --out DIR", "--json[=FILE]", "--perf, --query-perf". `arg`: also what stands for the value. */
static void spell(const struct options_row *r, bool arg, char text[160])
{
    int n = snprintf(text, 160, r->name ? "%.1s%.1s%s--%s" : "%.1s%.1s", r->letter ? "-" : "",
                     (char[]){(char)r->letter, '\0'}, r->letter ? ", " : "", r->name);

    for (const struct options_row *k = r + 1; k->kind == OPTIONS_SAME && n < 160; k++)
        n += snprintf(text + n, 160 - (size_t)n, ", --%s", k->name);
    if (r->arg && arg && n < 160)
        snprintf(text + n, 160 - (size_t)n,
                 r->kind == OPTIONS_MAYBE ? "[=%s]"
                 : *r->arg == '['         ? "%s"
                                          : " %s",
                 r->arg);
}

static const struct options_row help_row[] = {OPT_FLAG("help", 'h', NULL, "this text"), OPT_END};

static void print_row(FILE *out, const struct options_row *r, int column)
{
    char text[160];
    int n;

    if (r->kind == OPTIONS_GROUP)
        fprintf(out, "%s\n", r->name);
    if (r->kind == OPTIONS_GROUP || r->kind == OPTIONS_SAME)
        return;
    spell(r, true, text);
    n = fprintf(out, "  %s%s", r->letter ? "" : "    ", text);
    if (n > column - 2)
        n = fprintf(out, "\n") - 1;
    fprintf(out, "%*s", column - n, "");
    wrap(out, r->doc, column, column);
}

/* Calls `line` with each synopsis. */
static void each_synopsis(const struct options *o, FILE *out,
                          void (*line)(FILE *, const struct options *, const char *, int))
{
    const char *s = o->operands ? o->operands : o->commands ? "COMMAND [OPTIONS]" : "";

    do {
        int n = (int)strcspn(s, "\n");
        line(out, o, s, n);
        s += n + (s[n] == '\n');
    } while (*s);
}

static void usage_line(FILE *out, const struct options *o, const char *operands, int n)
{
    fprintf(out, "usage: %s%s%s%.*s\n", o->name, o->rows ? " [OPTIONS]" : "", n ? " " : "", n, operands);
}

static const char *exit_text(const struct options *o, int code)
{
    if (code == EXIT_USAGE && o->exits[EXIT_OK] && !o->exits[EXIT_USAGE])
        return "wrong usage";
    return o->exits[code];
}

static void print_exits(const struct options *o, FILE *out)
{
    char line[1024];
    size_t n = 0;

    for (int i = 0; i < EXIT_CODES; i++)
        if (exit_text(o, i) && n < sizeof(line))
            n += (size_t)snprintf(line + n, sizeof(line) - n, "%s%d %s", n ? "; " : "\nExit codes: ", i,
                                  exit_text(o, i));
    if (n) {
        fputc('\n', out);
        wrap(out, line + 1, 0, 0);
    }
}

static void print_text(const struct options *o, FILE *out)
{
    int column = COLUMN;
    char text[160];

    each_synopsis(o, out, usage_line);
    if (o->about || o->summary) {
        fputc('\n', out);
        wrap(out, o->about ? o->about : o->summary, 0, 0);
    }
    for (const struct options_row *r = o->rows; r && r->kind; r++) {
        int width;
        if (r->kind == OPTIONS_GROUP || r->kind == OPTIONS_SAME)
            continue;
        spell(r, true, text);
        width = (int)strlen(text) + (r->letter ? 4 : 8);
        column = width > column && width < 38 ? width : column;
    }
    if (o->num_commands)
        fprintf(out, o->commands[0].run ? "\ncommands:\n" : "\n");
    for (size_t i = 0; i < o->num_commands; i++) {
        if (!o->commands[i].run) {
            fprintf(out, "%s%s:\n", i ? "\n" : "", o->commands[i].summary);
            continue;
        }
        fprintf(out, "  %-*s", column - 2, o->commands[i].name);
        wrap(out, o->commands[i].summary, column, column);
    }
    fprintf(out, "\n%s", o->rows && o->rows->kind == OPTIONS_GROUP ? "" : "options:\n");
    for (const struct options_row *r = o->rows; r && r->kind; r++)
        print_row(out, r, column);
    print_row(out, help_row, column);
    if (o->notes) {
        fputc('\n', out);
        wrap(out, o->notes, 0, 0);
    }
    print_exits(o, out);
    if (o->examples)
        fprintf(out, "\nexamples:\n");
    for (const char *s = o->examples; s && *s; s += strcspn(s, "\n"), s += *s == '\n')
        fprintf(out, "  %.*s\n", (int)strcspn(s, "\n"), s);
}

/* ---- as a manual page: what stands behind .TH ---------------------------- */

/* With roff's own characters escaped. */
static void roff_char(FILE *out, char c, bool begins_line)
{
    if (begins_line && (c == '.' || c == '\''))
        fputs("\\&", out);
    if (c == '-' || c == '\\')
        fputs(c == '-' ? "\\-" : "\\e", out);
    else
        fputc(c, out);
}

static void roff_plain(FILE *out, const char *text, size_t n)
{
    for (size_t i = 0; i < n; i++)
        roff_char(out, text[i], !i || text[i - 1] == '\n');
}

/* Is the word at `i` an --option of prose? */
static bool at_option(const char *text, size_t i)
{
    return !strncmp(text + i, "--", 2) && isalpha((unsigned char)text[i + 2]) &&
           (!i || !isalnum((unsigned char)text[i - 1]));
}

/* Prose: `quoted` spans and --options are bold, an empty line begins a paragraph with `paragraph`. */
static void roff(FILE *out, const char *text, const char *paragraph)
{
    char until = '\0'; /* what ends the bold span: a quote, or the end of an option's name (' ') */

    for (size_t i = 0; text[i]; i++) {
        if (until == ' ' && !isalnum((unsigned char)text[i]) && text[i] != '-') {
            fputs("\\fP", out);
            until = '\0';
        }
        if (text[i] == '`' && until != ' ') {
            fputs(until ? "\\fP" : "\\fB", out);
            until = until ? '\0' : '`';
        } else if (!strncmp(text + i, "\n\n", 2)) {
            fprintf(out, "\n%s", paragraph);
            i++;
        } else {
            if (!until && at_option(text, i)) {
                fputs("\\fB", out);
                until = ' ';
            }
            roff_char(out, text[i], !i || text[i - 1] == '\n');
        }
    }
    fputs(until ? "\\fP\n" : "\n", out);
}

static void roff_section(FILE *out, const char *title, const char *text)
{
    if (!text)
        return;
    fprintf(out, ".SH %s\n", title);
    roff(out, text, ".PP\n");
}

static void synopsis_line(FILE *out, const struct options *o, const char *operands, int n)
{
    fprintf(out, "%s.B ", operands == o->operands || !o->operands ? "" : ".br\n");
    roff_plain(out, o->name, strlen(o->name));
    fprintf(out, "\n%s", o->rows ? ".RI [ OPTIONS ]\n" : "");
    roff_plain(out, operands, (size_t)n);
    fputs(n ? "\n" : "", out);
}

static void roff_entry(FILE *out, const char *head, const char *arg, const char *doc)
{
    fputs(".TP\n\\fB", out);
    roff_plain(out, head, strlen(head));
    fputs(arg && *arg ? "\\fP\\fI" : "", out);
    if (arg)
        roff_plain(out, arg, strlen(arg));
    fputs("\\fP\n", out);
    roff(out, doc, ".IP\n");
}

static void roff_options(const struct options *o, FILE *out)
{
    char head[160], all[160];

    fprintf(out, ".SH OPTIONS\n");
    for (const struct options_row *r = o->rows; r && r->kind; r++) {
        if (r->kind == OPTIONS_GROUP)
            fprintf(out, ".SS %s\n", r->name);
        if (r->kind == OPTIONS_GROUP || r->kind == OPTIONS_SAME)
            continue;
        spell(r, false, head);
        spell(r, true, all);
        roff_entry(out, head, all + strlen(head), r->doc);
    }
    roff_entry(out, "-h, --help", NULL, "prints a summary");
}

static void print_man(const struct options *o, FILE *out)
{
    fprintf(out, ".SH NAME\n");
    for (const char *c = o->name; *c; c++)
        fputs(*c == ' ' || *c == '-' ? "\\-" : (char[]){*c, '\0'}, out);
    fprintf(out, " \\- ");
    roff(out, o->summary, "");
    fprintf(out, ".SH SYNOPSIS\n");
    each_synopsis(o, out, synopsis_line);
    roff_section(out, "DESCRIPTION", o->about ? o->about : o->summary);
    if (o->num_commands)
        fprintf(out, ".SH COMMANDS\n");
    for (size_t i = 0; i < o->num_commands; i++)
        if (o->commands[i].run)
            roff_entry(out, o->commands[i].name, NULL, o->commands[i].summary);
        else
            fprintf(out, ".SS %s\n", o->commands[i].summary);
    roff_options(o, out);
    roff_section(out, "NOTES", o->notes);
    if (o->exits[EXIT_OK])
        fprintf(out, ".SH EXIT STATUS\n");
    for (int i = 0; i < EXIT_CODES; i++)
        if (exit_text(o, i))
            roff_entry(out, (char[]){(char)('0' + i), '\0'}, NULL, exit_text(o, i));
    if (o->examples) {
        fprintf(out, ".SH EXAMPLES\n.EX\n");
        roff_plain(out, o->examples, strlen(o->examples));
        fprintf(out, "%s.EE\n", o->examples[strlen(o->examples) - 1] == '\n' ? "" : "\n");
    }
    roff_section(out, "SEE ALSO", o->see);
}

/* ---- for programs -------------------------------------------------------- */

static void print_list(const struct options *o, FILE *out)
{
    for (size_t i = 0; i < o->num_commands; i++)
        if (o->commands[i].run)
            fprintf(out, "command\t%s\t%s\n", o->commands[i].name, o->commands[i].summary);
    if (o->operands)
        fprintf(out, "operands\t%.*s\n", (int)strcspn(o->operands, "\n"), o->operands);
    for (const struct options_row *r = o->rows; r && r->kind; r++)
        if (r->kind != OPTIONS_GROUP)
            fprintf(out, "option\t%s\t%.1s\t%s\t%.*s\n", r->name ? r->name : "",
                    (char[]){(char)r->letter, '\0'}, r->arg ? r->arg : "",
                    r->doc ? (int)strcspn(r->doc, "\n") : 0, r->doc ? r->doc : "");
    fprintf(out, "option\thelp\th\t\tthis text\n");
}

bool options_print(const struct options *o, FILE *out, const char *form)
{
    options_check(o);
    if (!form)
        print_text(o, out);
    else if (!strcmp(form, "man"))
        print_man(o, out);
    else if (!strcmp(form, "list"))
        print_list(o, out);
    else
        return false;
    return true;
}
