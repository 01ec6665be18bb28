/* SPDX-License-Identifier: MIT */
/* matrix.c: a small part of TOML: tables of two names, and keys with strings, numbers and arrays of strings. */
#include "lose/lose.h"
#include "lose/matrix.h"
#include "lose/screen.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/array.h"
#include "base/file/in.h"

enum { TEXT = 4096 };

struct parser {
    struct matrix *m;
    const char *at;
    unsigned line;
    struct matrix_entry *entry; /* of the table */
    struct matrix_list *cases;  /* the table is [known] or [expect] */
    bool program;               /* it is [program.NAME] */
    struct error *e;
};

#define WRONG(p, ...) wrong(p, -EINVAL, __VA_ARGS__)

static int __attribute__((format(printf, 3, 4))) wrong(struct parser *p, int code, const char *fmt, ...)
{
    char text[300];
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(text, sizeof(text), fmt, ap);
    va_end(ap);
    return error_set(p->e, code, "line %u: %s", p->line, text);
}

static void skip_blanks(struct parser *p, bool lines)
{
    for (;; p->at++) {
        if (*p->at == '#')
            while (p->at[1] && p->at[1] != '\n')
                p->at++;
        else if (*p->at == '\n' && lines)
            p->line++;
        else if (*p->at != ' ' && *p->at != '\t' && *p->at != '\r')
            return;
    }
}

static int parse_string(struct parser *p, char out[TEXT])
{
    static const char letters[] = "btnfr\"\\", are[] = "\b\t\n\f\r\"\\";
    char quote = *p->at++;
    size_t n = 0;

    while (*p->at != quote) {
        char c = *p->at++;
        const char *escape = c == '\\' && quote == '"' ? memchr(letters, *p->at, sizeof(letters) - 1) : NULL;

        if (!c || c == '\n')
            return WRONG(p, "a string without its end");
        if (c == '\\' && quote == '"') {
            if (!escape)
                return WRONG(p, "a string with \\%c, which is none of \\b \\t \\n \\f \\r \\\" \\\\", *p->at);
            c = are[escape - letters];
            p->at++;
        }
        if (n == TEXT - 1)
            return WRONG(p, "a string of more than %d bytes", TEXT - 1);
        out[n++] = c;
    }
    p->at++;
    out[n] = '\0';
    return 0;
}

/* A bare or quoted name. */
static int parse_name(struct parser *p, char out[TEXT])
{
    size_t n = 0;

    if (*p->at == '"' || *p->at == '\'')
        return parse_string(p, out);
    while (isalnum((unsigned char)*p->at) || *p->at == '_' || *p->at == '-') {
        if (n == TEXT - 1)
            return WRONG(p, "a name of more than %d bytes", TEXT - 1);
        out[n++] = *p->at++;
    }
    out[n] = '\0';
    return n ? 0 : WRONG(p, "a name is missing");
}

static int end_line(struct parser *p)
{
    size_t rest;

    skip_blanks(p, false);
    rest = strcspn(p->at, "\r\n");
    if (!*p->at || *p->at == '\n')
        return 0;
    return WRONG(p, "what is '%.*s'?", (int)(rest < 20 ? rest : 20), p->at);
}

static struct matrix_entry *add(struct parser *p, struct matrix_list *list, const char *what,
                                const char *name)
{
    struct matrix_entry *entry;

    for (size_t i = 0; i < list->num; i++)
        if (!strcmp(list->item[i].name, name)) {
            WRONG(p, "%s %s is in line %u already", what, name, list->item[i].line);
            return NULL;
        }
    if (array_reserve(list->item, list->room, list->num + 1)) {
        wrong(p, -ENOMEM, "no memory");
        return NULL;
    }
    entry = &list->item[list->num];
    *entry = (struct matrix_entry){.name = strdup(name), .line = p->line};
    if (!entry->name) {
        wrong(p, -ENOMEM, "no memory");
        return NULL;
    }
    list->num++;
    return entry;
}

static int parse_table(struct parser *p)
{
    char kind[TEXT], name[TEXT];
    int r;

    p->at++;
    r = parse_name(p, kind);
    p->entry = NULL;
    p->cases = r || *p->at != ']'        ? NULL
               : !strcmp(kind, "known")  ? &p->m->known
               : !strcmp(kind, "expect") ? &p->m->expects
                                         : NULL;
    if (!r && !p->cases) {
        struct matrix_list *list = !strcmp(kind, "program") ? &p->m->programs
                                   : !strcmp(kind, "fault") ? &p->m->faults
                                                            : NULL;
        p->program = list == &p->m->programs;
        if (!list || *p->at != '.')
            return WRONG(p, "[%.40s: a table is [program.NAME], [fault.NAME], [expect] or [known]", kind);
        p->at++;
        r = parse_name(p, name);
        if (!r && strpbrk(name, "/#"))
            r = WRONG(p, "%s: a name has no / and no #", name);
        if (!r && !(p->entry = add(p, list, kind, name)))
            return p->e && p->e->code ? p->e->code : -EINVAL;
    }
    if (!r && *p->at++ != ']')
        r = WRONG(p, "']' is missing");
    return r ? r : end_line(p);
}

static int parse_words(struct parser *p, struct matrix_words *out)
{
    char text[TEXT];
    size_t room = out->num;

    if (*p->at != '[')
        return WRONG(p, "an array of strings is wanted, as in [\"vkcube\"]");
    p->at++;
    for (skip_blanks(p, true); *p->at != ']'; skip_blanks(p, true)) {
        if (*p->at != '"' && *p->at != '\'')
            return WRONG(p, "a string is wanted in the array");
        if (parse_string(p, text))
            return -EINVAL;
        if (array_reserve(out->word, room, out->num + 2) || !(out->word[out->num] = strdup(text)))
            return wrong(p, -ENOMEM, "no memory");
        out->word[++out->num] = NULL;
        skip_blanks(p, true);
        if (*p->at == ',')
            p->at++;
        else if (*p->at != ']')
            return WRONG(p, "',' or ']' is wanted in the array");
    }
    p->at++;
    return 0;
}

static int parse_text(struct parser *p, char **out)
{
    char text[TEXT];

    if (*p->at != '"' && *p->at != '\'')
        return WRONG(p, "a string is wanted");
    if (parse_string(p, text))
        return -EINVAL;
    *out = strdup(text);
    return *out ? 0 : wrong(p, -ENOMEM, "no memory");
}

static int parse_screen(struct parser *p, char **out)
{
    unsigned width, height;
    struct error e = {0};
    int r = parse_text(p, out);

    return r ? r : screen_size(*out, &width, &height, &e) ? WRONG(p, "screen: %s", e.text) : 0;
}

static int parse_number(struct parser *p, uint32_t most, uint32_t *out)
{
    char *end;
    unsigned long n = isdigit((unsigned char)*p->at) ? strtoul(p->at, &end, 10) : 0;

    if (!n || n > most)
        return WRONG(p, "a number from 1 to %u is wanted", most);
    p->at = end;
    *out = (uint32_t)n;
    return 0;
}

static int parse_expect(struct parser *p, struct matrix_entry *entry)
{
    int r = parse_text(p, &entry->text);

    return !r && lose_expectation(entry->text) < 0
               ? WRONG(p, "'%.40s' is none of " LOSE_EXPECTATIONS, entry->text)
               : r;
}

static int parse_value(struct parser *p, const char *key)
{
    struct matrix *m = p->m;
    struct matrix_entry *entry = p->entry;

    if (p->cases) {
        bool known = p->cases == &m->known;
        entry = add(p, p->cases, known ? "what is known of" : "what is expected of", key);
        return !entry ? -EINVAL : known ? parse_text(p, &entry->text) : parse_expect(p, entry);
    }
    if (!entry) {
        if (!strcmp(key, "jobs"))
            return parse_number(p, 1024, &m->jobs);
        if (!strcmp(key, "timeout"))
            return parse_number(p, 86400, &m->timeout_s);
        if (!strcmp(key, "screen") && !m->screen)
            return parse_screen(p, &m->screen);
        return WRONG(p, "'%.40s' is none of jobs, timeout, screen (once)", key);
    }
    if (p->program && !strcmp(key, "run") && !entry->words.num)
        return parse_words(p, &entry->words);
    if (p->program && !strcmp(key, "faults") && !entry->only.num)
        return parse_words(p, &entry->only);
    if (p->program)
        return WRONG(p, "'%.40s': a program has `run` and `faults`, once", key);
    if (!strcmp(key, "options") && !entry->words.num)
        return parse_words(p, &entry->words);
    if (!strcmp(key, "expect") && !entry->text)
        return parse_expect(p, entry);
    if (!strcmp(key, "seeds"))
        return parse_number(p, 10000, &entry->seeds);
    return WRONG(p, "'%.40s' is none of options, expect, seeds", key);
}

static int parse_line(struct parser *p)
{
    char key[TEXT];
    int r;

    if (*p->at == '[')
        return parse_table(p);
    r = parse_name(p, key);
    if (r)
        return r;
    skip_blanks(p, false);
    if (*p->at++ != '=')
        return WRONG(p, "'=' is missing behind '%.40s'", key);
    skip_blanks(p, false);
    r = parse_value(p, key);
    return r ? r : end_line(p);
}

bool matrix_has_case(const struct matrix_entry *program, const struct matrix_entry *fault)
{
    for (size_t i = 0; i < program->only.num; i++)
        if (!strcmp(program->only.word[i], fault->name))
            return true;
    return !program->only.num;
}

static const struct matrix_entry *find_name(const struct matrix_list *list, const char *name)
{
    for (size_t i = 0; i < list->num; i++)
        if (!strcmp(list->item[i].name, name))
            return &list->item[i];
    return NULL;
}

static int check_only(const struct parser *p, const struct matrix_entry *program)
{
    for (size_t i = 0; i < program->only.num; i++)
        if (!find_name(&p->m->faults, program->only.word[i]))
            return error_set(p->e, -EINVAL, "line %u: program %s: there is no fault %.100s", program->line,
                             program->name, program->only.word[i]);
    return 0;
}

/* That each name of the table is a case. */
static int check_cases(const struct parser *p, const struct matrix_list *list)
{
    struct matrix *m = p->m;

    for (size_t i = 0; i < list->num; i++) {
        bool found = false;

        for (size_t k = 0; k < m->programs.num * m->faults.num && !found; k++) {
            const char *program = m->programs.item[k / m->faults.num].name,
                       *fault = m->faults.item[k % m->faults.num].name, *name = list->item[i].name;
            size_t n = strlen(program);
            found = !strncmp(name, program, n) && name[n] == '/' && !strcmp(name + n + 1, fault) &&
                    matrix_has_case(&m->programs.item[k / m->faults.num], &m->faults.item[k % m->faults.num]);
        }
        if (!found)
            return error_set(p->e, -EINVAL, "line %u: there is no case %s", list->item[i].line,
                             list->item[i].name);
    }
    return 0;
}

static int check_names(struct parser *p)
{
    struct matrix *m = p->m;
    int r;

    if (!m->programs.num || !m->faults.num)
        return error_set(p->e, -EINVAL, "there is no %s: [%s.NAME]", m->programs.num ? "fault" : "program",
                         m->programs.num ? "fault" : "program");
    for (size_t i = 0; i < m->programs.num; i++)
        if (!m->programs.item[i].words.num)
            return error_set(p->e, -EINVAL, "line %u: program %s has no `run`", m->programs.item[i].line,
                             m->programs.item[i].name);
    for (size_t i = 0; i < m->programs.num; i++)
        if (check_only(p, &m->programs.item[i]))
            return -EINVAL;
    r = check_cases(p, &m->known);
    return r ? r : check_cases(p, &m->expects);
}

int matrix_parse(struct matrix *m, const char *text, struct error *e)
{
    struct parser p = {.m = m, .at = text, .line = 1, .e = e};
    int r = 0;

    memset(m, 0, sizeof(*m));
    while (!r && (skip_blanks(&p, true), *p.at))
        r = parse_line(&p);
    if (!r)
        r = check_names(&p);
    for (char *c = r && e ? e->text : NULL; c && *c; c++) /* it quotes the file */
        *c = (unsigned char)*c < 0x20 || *c == 0x7f ? '?' : *c;
    return r;
}

int matrix_read(struct matrix *m, const char *path, struct error *e)
{
    const uint8_t *map;
    size_t size;
    char *text;
    int r = in_file_map(path, &map, &size, e);
    bool whole;

    memset(m, 0, sizeof(*m));
    if (r)
        return r;
    text = strndup((const char *)map, size);
    whole = text && strlen(text) == size;
    munmap((void *)(uintptr_t)map, size);
    r = !text   ? error_set(e, -ENOMEM, "no memory")
        : whole ? matrix_parse(m, text, e)
                : error_set(e, -EINVAL, "byte %zu is 0: this is no text", strlen(text));
    if (r)
        error_prefix(e, "%s", path);
    free(text);
    return r;
}

static void finish_words(struct matrix_words *w)
{
    for (size_t k = 0; k < w->num; k++)
        free(w->word[k]);
    free(w->word);
}

static void finish_list(struct matrix_list *list)
{
    for (size_t i = 0; i < list->num; i++) {
        finish_words(&list->item[i].words);
        finish_words(&list->item[i].only);
        free(list->item[i].name);
        free(list->item[i].text);
    }
    free(list->item);
}

void matrix_finish(struct matrix *m)
{
    finish_list(&m->programs);
    finish_list(&m->faults);
    finish_list(&m->known);
    finish_list(&m->expects);
    free(m->screen);
    memset(m, 0, sizeof(*m));
}
