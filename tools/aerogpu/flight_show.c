/* SPDX-License-Identifier: MIT */
/* flight_show.c: the events that a flight recorder's file holds, oldest first. */
#include "commands.h"

#include <inttypes.h>
#include <stdio.h>

#include <aerogpu/blackbox.h>

#include "blackbox/internal.h"
#include "base/utf8.h"
#include "file_kinds.h"

static void print_event(void *ctx, const struct bb_flight_record *r)
{
    uint64_t *first = ctx;

    if (!*first)
        *first = r->time_ns;
    utf8_print(stdout, "%10" PRIu64 " %12.6f  %s %u/%u  %s  %" PRIu64 " %" PRIu64 " %" PRIu64 "\n", r->number,
               (double)(r->time_ns - *first) / 1e9, r->process, r->pid, r->thread, r->name, r->a, r->b, r->c);
}

static int run(enum file_kind kind, char *const *files, int num_files)
{
    struct bb_error e = {0};
    uint64_t first = 0;

    if (bb_flight_read(files[0], print_event, &first, &e) >= 0)
        return EXIT_OK;
    return command_fail(EXIT_INPUT, bb_error_of(&e));
}

const struct file_action flight_show = {"flight recorders: events, oldest first:", NULL, run};
