/* SPDX-License-Identifier: MIT */
#include "minimize/dump_file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/check.h"
#include "blackbox/dump_read.h"

static int take_recording(struct dump_file *f, struct bb_dump *d, struct error *e)
{
    sqlite3_stmt *s = bb_select(d, "SELECT bytes FROM file WHERE kind='recording' ORDER BY part");

    bool no_memory = false;

    while (bb_step(d, &s)) {
        size_t n = (size_t)sqlite3_column_bytes(s, 0);
        void *bigger;

        if (no_memory || sqlite3_column_type(s, 0) != SQLITE_BLOB)
            continue;
        bigger = realloc(f->recording, f->recording_size + n + 1);
        if (!bigger) {
            no_memory = true;
            continue;
        }
        f->recording = bigger;
        memcpy((char *)f->recording + f->recording_size, sqlite3_column_blob(s, 0), n);
        f->recording_size += n;
    }
    if (no_memory)
        return error_set(e, -ENOMEM, "%s: no memory for the dump's recording", d->path);
    return f->recording
               ? 0
               : error_set(e, -ENODATA, "%s: the dump has no recording that could be played", d->path);
}

static int take_suspects(struct dump_file *f, struct bb_dump *d, struct error *e)
{
    size_t room = 0;
    int r = 0;
    sqlite3_stmt *s = bb_select(d, "SELECT number, state FROM packet WHERE submission=%lld AND work=1",
                                (long long)f->submission);

    while (bb_step(d, &s)) {
        if (!bb_state_is_candidate(bb_state_find(bb_column_text(d, s, 1))))
            continue;
        r = r ? r : array_reserve(f->suspects, room, f->num_suspects + 1);
        if (!r)
            f->suspects[f->num_suspects++] = (uint32_t)bb_column_int(d, s, 0, 0);
    }
    return r ? error_set(e, r, "%s: no memory for the dump's suspects", d->path) : 0;
}

/* As they stand in the recording. */
static int take_submissions(struct dump_file *f, struct bb_dump *d, struct error *e)
{
    size_t room = 0;
    int r = 0;
    sqlite3_stmt *s = bb_select(d, "SELECT id FROM submission WHERE stream IS NOT NULL ORDER BY id");

    while (bb_step(d, &s)) {
        r = r ? r : array_reserve(f->submissions, room, f->num_submissions + 1);
        if (!r)
            f->submissions[f->num_submissions++] = bb_column_int(d, s, 0, 0);
    }
    return r ? error_set(e, r, "%s: no memory for the dump's submissions", d->path) : 0;
}

static uint32_t meta_number(struct bb_dump *d, const char *key)
{
    char text[24];

    return (uint32_t)strtoul(bb_dump_meta(d, key, text, sizeof(text)), NULL, 10);
}

static void take_verdict(struct dump_file *f, struct bb_dump *d)
{
    sqlite3_stmt *s = bb_select(d, "SELECT submission FROM finding ORDER BY rank LIMIT 1");

    while (bb_step(d, &s))
        f->submission = bb_column_int(d, s, 0, -1);
    s = bb_select(d, "SELECT kind, at FROM fault LIMIT 1");
    while (bb_step(d, &s)) {
        snprintf(f->fault_kind, sizeof(f->fault_kind), "%s", bb_column_text(d, s, 0));
        snprintf(f->at, sizeof(f->at), "%s", bb_column_text(d, s, 1));
    }
    s = bb_select(d, "SELECT count(*) FROM submission WHERE state NOT IN ('completed', 'failed')");
    while (bb_step(d, &s))
        f->in_flight = (uint32_t)bb_column_int(d, s, 0, 0);
    bb_dump_meta(d, "cause", f->cause, sizeof(f->cause));
    f->hang_ms = meta_number(d, "setting.hang_ms");
    f->memory_dropped = meta_number(d, "memory_dropped");
    f->streams_dropped = meta_number(d, "streams_dropped");
}

int dump_file_open(struct dump_file *f, const char *path, bool salvage, struct error *e)
{
    struct bb_dump d;
    struct error why = {0};
    int r;

    *f = (struct dump_file){.submission = -1};
    r = bb_dump_open(&d, path, e);
    if (r)
        return r;
    r = bb_dump_check(&d, NULL); /* what is played must be what was there */
    if (r && (!salvage || r != -EBADMSG)) {
        error_set(e, r, "%s", d.trouble.text);
        bb_dump_close(&d);
        return r;
    }
    take_verdict(f, &d);
    r = take_submissions(f, &d, &why);
    if (!r)
        r = take_suspects(f, &d, &why);
    if (!r)
        r = take_recording(f, &d, &why);
    if (d.trouble.code)
        error_set(e, d.trouble.code, "%s", d.trouble.text); /* it may be why */
    if (r)
        error_set(e, r, "%s", why.text);
    if (!salvage && d.trouble.code)
        r = d.trouble.code;
    bb_dump_close(&d);
    if (r)
        dump_file_close(f);
    INVARIANT(!r == (f->recording != NULL));
    INVARIANT(!f->num_suspects == !f->suspects);
    return r;
}

void dump_file_close(struct dump_file *f)
{
    free(f->recording);
    free(f->suspects);
    free(f->submissions);
    *f = (struct dump_file){.submission = -1};
}

bool dump_file_suspects(const struct dump_file *f, uint32_t first, uint32_t last)
{
    for (size_t i = 0; i < f->num_suspects; i++)
        if (f->suspects[i] >= first && f->suspects[i] <= last)
            return true;
    return !f->num_suspects;
}
