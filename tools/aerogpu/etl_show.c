/* SPDX-License-Identifier: MIT */
/* etl_show.c: the events of a Windows event trace, those that are not decoded too. `aerogpu info` counts the kinds. */
#include "commands.h"

#include <errno.h>
#include <stdio.h>

#include "cpu/etl/etl.h"
#include "file_kinds.h"

struct etl_shown {
    struct etl_file *f;
    struct strbuf line;
    bool decoded_only;
};

static void print_event(void *ctx, const struct etl_record *r, uint16_t kind, uint16_t cpu)
{
    struct etl_shown *p = ctx;
    const struct etl_kind *k = &p->f->kinds[kind];
    char name[160];

    if (p->decoded_only && !k->event && k->header != ETL_TRACELOGGING)
        return;
    strbuf_clear(&p->line);
    etl_kind_name(p->f, k, name, sizeof(name));
    strbuf_printf(&p->line, "%.7f CPU %u %d/%d %s  ", (double)etl_ns(p->f, r->time) / 1e9, cpu, r->pid,
                  r->tid, name);
    etl_print(p->f, k, r, &p->line);
    puts(strbuf_str(&p->line));
}

static bool decoded;
static struct options_row rows[] = {OPT_FLAG("decoded", 0, &decoded, "only events whose layout is known"),
                                    OPT_END};

static int run(enum file_kind kind, char *const *files, int num_files)
{
    struct etl_shown p = {.decoded_only = decoded};
    struct etl_file f;
    struct error e = {0};
    int code;

    if (etl_open(&f, files[0], &e))
        return command_error(&e);
    p.f = &f;
    etl_each(&f, print_event, &p);
    code = EXIT_OK;
    if (etl_whole(&f, &e)) {
        error_prefix(&e, "%s", files[0]);
        code = command_error(&e);
    }
    strbuf_finish(&p.line);
    etl_close(&f);
    return code;
}

const struct file_action etl_show = {
    "Windows event traces (.etl): every event with its fields, buffer after buffer:", rows, run};
