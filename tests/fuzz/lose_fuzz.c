/* SPDX-License-Identifier: MIT */
/* What strangers write for `aerogpu lose`.
 *
 * After a byte 'T' the file that says which programs are tried with which faults, and the faults themselves: what is read can be run, and
 * what is wrong is one line of text that names the line.
 *
 * Else the record that `aerogpu lose` shares with a program that is lost its device, written by a hostile one: after a byte that says how
 * the losses were asked for, writes of an offset, a length and bytes, with a look of the watcher in between. Its sentences
 * are one line of text. */
#include "fuzz.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "base/bytes.h"
#include "lose/matrix.h"
#include "lose/watch.h"

enum { NOBODY = 0x7fffffff }; /* no process has this number, nor children */

static void on_event(void *ctx, uint64_t ns, uint64_t since_loss_ns, const char *text)
{
    for (; *text; text++)
        must((unsigned char)*text >= 0x20 && (unsigned char)*text != 0x7f);
}

static struct lose_record *make(void)
{
    const size_t page = 4096, size = (sizeof(struct lose_record) + page - 1) / page * page;
    uint8_t *p = mmap(NULL, size + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    must(p != MAP_FAILED && !mprotect(p + size, page, PROT_NONE));
    return (struct lose_record *)(void *)(p + size - sizeof(struct lose_record)); /* nothing behind it */
}

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

static void read_matrix(const uint8_t *data, size_t size)
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
        must_be_whole(&m.expects, false);
        for (size_t i = 0; i < m.expects.num; i++)
            must(lose_expectation(m.expects.item[i].text) >= 0);
    }
    for (size_t i = 0; i < m.faults.num; i++)
        for (size_t k = 0; k < m.faults.item[i].words.num; k++)
            read_fault(m.faults.item[i].words.word[k]);
    matrix_finish(&m);
    free(text);
}

static void read_record(const uint8_t *data, size_t size)
{
    static struct lose_record *record;
    static struct lose_result result;
    struct bytes in = bytes_of(data, size);
    uint8_t how = bytes_u8(&in);
    const struct lose_params p = {.at_frame = how & 1 ? 0 : 1 + (how >> 4),
                                  .at_submit = how & 1 ? 1 + (how >> 4) : 0,
                                  .times = 1 + (how >> 1 & 3),
                                  .proof = 1 + (how >> 3 & 1),
                                  .timeout_ns = NSEC_PER_SEC,
                                  .on_event = on_event};
    static struct run r;

    if (!record)
        record = make();
    memset(record, 0, sizeof(*record));
    memset(&result, 0, sizeof(result));
    memset(&r, 0, sizeof(r));
    r.p = &p;
    r.out = &result;
    r.record = record;
    r.start_ns = 1;
    clock_init_live(&r.clock);
    /* A process that is gone, of which nobody says how: what the record says of others is not looked up. */
    r.tree = (struct tree){
        .top = NOBODY, .num = 1, .process = {{.pid = NOBODY, .pidfd = -1, .ended = (how & 1) != 0}}};
    r.ended = true;
    while (bytes_left(&in) >= 4) {
        size_t at = bytes_u16(&in), n = bytes_u16(&in);
        const uint8_t *from;

        n = n % 257 < bytes_left(&in) ? n % 257 : bytes_left(&in);
        from = bytes_take(&in, n);
        at = at * 4 % (sizeof(*record) - 256);
        if (n)
            memcpy((uint8_t *)record + at, from, n);
        notice(&r);
        judge_proven(&r);
        must(judge(&r) < LOSE_VERDICTS);
    }
    tree_finish(&r.tree);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size && *data == 'T')
        read_matrix(data + 1, size - 1);
    else
        read_record(data, size);
    return 0;
}
