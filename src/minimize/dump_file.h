/* SPDX-License-Identifier: MIT */
/* dump_file.h: what the tools that play a dump again need of it. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

struct dump_file {
    void *recording;
    size_t recording_size;
    char cause[40];
    int64_t submission; /* that the verdict names, -1 for none */
    uint32_t *suspects; /* packets of it that its markers left */
    size_t num_suspects;
    uint32_t hang_ms;                         /* no progress for so long was a hang when it was made */
    uint32_t memory_dropped, streams_dropped; /* submissions that the recording has not as they were */
    uint32_t in_flight;                       /* unfinished ones */
    char at[480]; /* of the verdict's sentence, about the address of a page fault; "" for none */
    char fault_kind[24];
    int64_t *submissions; /* the dump's number of each that is in the recording */
    size_t num_submissions;
};

/* -ENODATA: it has no recording. -EBADMSG: it is damaged; with `salvage` that is said in `e` all the same, but the result is 0 if
 * there is any recording left. */
int dump_file_open(struct dump_file *f, const char *path, bool salvage, struct error *e);
void dump_file_close(struct dump_file *f);
/* True if one of these packets may be the one, by the dump's markers; also if they leave nothing. */
bool dump_file_suspects(const struct dump_file *f, uint32_t first, uint32_t last);
