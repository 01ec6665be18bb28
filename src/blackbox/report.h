/* SPDX-License-Identifier: MIT */
/* report.h: what a report says, before it has a form. The verdict first, then the evidence for it. */
#pragma once

#include <stdio.h>

#include "base/strbuf.h"
#include "base/witness.h"
#include "blackbox/dump_read.h"

struct bb_view {
    struct bb_dump dump;
    char verdict[600]; /* one sentence */
    char certainty[24], cause[40], source[40];
    int64_t submission, packet; /* -1: none */
    char sure_cause[16];        /* proven, suggested, unknown */
    /* What a recording of the processors showed of the same time-out, kept by `report TRACE --with DUMP --save` */
    struct {
        char verdict[24], certainty[16], text[160]; /* "" : there is none */
        enum witness_relation relation;             /* to the dump's own verdict */
        char relation_text[300];
    } processors;
    char advice[4][300]; /* what to try next */
    uint32_t num_advice;
};

/* What is known, fact by fact ("it went wrong proven, which command suggested"), and what was not seen; "" if the dump does not
 * say. */
void bb_view_sureness(struct bb_view *v, char known[200], char unseen[400]);

/* How busy the host was in the last seconds, in one sentence without a full stop; "" if the dump does not say. */
void bb_view_host(struct bb_view *v, char out[400]);

/* What the processors showed: text, certainty (certain, likely, not seen), best first. Rows of bb_step(). */
sqlite3_stmt *bb_view_processors(struct bb_view *v);

/* Sections of the text that pages have as well. */
void bb_report_source(struct bb_view *v, struct strbuf *out);
void bb_report_stacks(struct bb_view *v, struct strbuf *out);

int bb_report_json(struct bb_view *v, struct strbuf *out);
void bb_report_html(struct bb_view *v, struct strbuf *out);
void bb_report_perfetto(struct bb_view *v, FILE *out); /* errors are the stream's */

/* "12.3 ms before" the dump was made. */
void bb_when(char out[48], int64_t time_ns, int64_t dump_ns);
