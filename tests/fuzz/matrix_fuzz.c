/* SPDX-License-Identifier: MIT */
/* The file that says which programs are tried with which faults, and the faults themselves: what is read can be run, and what is
 * wrong is one line of text that names the line. */
#include "fuzz.h"

#include <errno.h>
#include <string.h>

#include "lose/lose.h"
#include "lose/matrix.h"

static void must_be_a_line(const struct error *e)
{
    must(e->code && e->text[0]);
    for (const char *c = e->text; *c; c++)
        must((unsigned char)*c >= 0x20 && (unsigned char)*c != 0x7f);
}

static void must_be_whole(const struct matrix_list *list, bool has_words)
{
    for (size_t i = 0; i < list->num; i++) {
        const struct matrix_entry *entry = &list->item[i];

        must(entry->name && entry->line && (!has_words || (entry->words.num && !strpbrk(entry->name, "/#"))));
        for (size_t k = 0; k < entry->words.num; k++)
            must(entry->words.word[k]);
        must(!entry->words.num || !entry->words.word[entry->words.num]);
        for (size_t k = 0; k < i; k++)
            must(strcmp(entry->name, list->item[k].name) != 0);
    }
}

static void read_fault(const char *text)
{
    struct lose_fault f;
    struct error e = {0};

    if (lose_fault_parse(text, &f, &e)) {
        must(e.code == -EINVAL);
        return;
    }
    must(f.at && f.phase < LOSE_PHASES && f.call < LOSE_NUM_CALLS && f.or_call < LOSE_NUM_CALLS);
    must(f.call || f.gl[0]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = strndup((const char *)data, size);
    struct error e = {0};
    struct matrix m;

    must(text);
    if (matrix_parse(&m, text, &e)) {
        must_be_a_line(&e);
    } else {
        must(m.programs.num && m.faults.num && m.jobs <= 1024 && m.timeout_s <= 86400);
        must_be_whole(&m.programs, true);
        must_be_whole(&m.faults, false);
    }
    for (size_t i = 0; i < m.faults.num; i++)
        for (size_t k = 0; k < m.faults.item[i].words.num; k++)
            read_fault(m.faults.item[i].words.word[k]);
    matrix_finish(&m);
    free(text);
    return 0;
}
