/* SPDX-License-Identifier: MIT */
/* dump_play.c: plays the last submissions of a dump until the crash happens again, with a marker around every command,
 * and writes into the dump what that showed (minimize/replay.h, docs/evidence.md). */
#include "commands.h"
#include "file_kinds.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/log.h"
#include "base/file/seal.h"
#include "base/utf8.h"
#include "blackbox/dump_read.h"
#include "minimize/crash_run.h"
#include "minimize/replay.h"

struct replay {
    const char *path;
    uint32_t tries, tried;
    bool keep, changed; /* changed: by somebody else, since it was opened */
    struct crash_run_params params;
    struct crash_run_result result;
    struct dump_file file;
    struct replay_verdict verdict;
};

static void exec_sql(struct replay *r, sqlite3 *db, char *sql)
{
    char *message = NULL;

    if (sql && sqlite3_exec(db, sql, NULL, NULL, &message))
        utf8_print(stderr, "aerogpu play: %s: %s\n", r->path, message);
    sqlite3_free(message);
    sqlite3_free(sql);
}

/* What an earlier play found goes: one finding, however often a dump is played. The others begin at `rank`. */
static void make_room(struct replay *r, sqlite3 *db, int rank)
{
    exec_sql(r, db, sqlite3_mprintf("DELETE FROM finding WHERE source LIKE '%%, played again'"));
    exec_sql(r, db, sqlite3_mprintf("UPDATE finding SET rank=rank+%d-(SELECT min(rank) FROM finding)", rank));
}

/* Whether the dump had proven this command by itself. */
static bool was_proven(sqlite3 *db, long long submission, uint32_t packet)
{
    sqlite3_stmt *q = NULL;
    bool proven = false;

    if (!sqlite3_prepare_v2(
            db,
            "SELECT 1 FROM finding WHERE rank=(SELECT min(rank) FROM finding WHERE source NOT LIKE '%, played again') AND sure_command='proven' AND submission=?1 AND packet=?2",
            -1, &q, NULL)) {
        sqlite3_bind_int64(q, 1, submission);
        sqlite3_bind_int64(q, 2, packet);
        proven = sqlite3_step(q) == SQLITE_ROW;
    }
    sqlite3_finalize(q);
    return proven;
}

/* The verdict is what was seen again: proven if the place is the same, or the dump had proven the same. */
static void write_command(struct replay *r, sqlite3 *db, const char *text)
{
    const struct watch_crash *c = &r->result.crash;
    long long submission = replay_number(&r->file, c->ordinal);
    const bool sure = r->verdict.same_place || was_proven(db, submission, c->packet);
    const enum bb_sure which = sure || c->which != BB_SURE_PROVEN ? c->which : BB_SURE_SUGGESTED;

    make_room(r, db, 1);
    if (r->verdict.outcome == REPLAY_ELSEWHERE)
        exec_sql(r, db,
                 sqlite3_mprintf(
                     "UPDATE finding SET certainty='candidate', sure_command='suggested' WHERE rank=1"));
    exec_sql(
        r, db,
        sqlite3_mprintf(
            "INSERT INTO finding(rank, certainty, cause, text, submission, packet, source, sure_happened, sure_command, sure_cause, sure_memory, unseen) VALUES(0,%Q,%Q,%Q,%lld,%u,%Q,%Q,%Q,%Q,%Q,%Q)",
            sure ? "certain" : "candidate", bb_cause_desc(c->cause)->name, text, submission, c->packet,
            c->in_decoder ? "decoder position, played again" : "exact markers, played again",
            bb_sure_name(c->happened), bb_sure_name(which), bb_sure_name(c->why),
            c->has_fault ? bb_sure_name(c->whose) : NULL,
            sure           ? c->unseen[0] ? c->unseen : NULL
            : c->unseen[0] ? c->unseen
                           : "whether it is this command each time: where memory lies is another"));
    exec_sql(
        r, db,
        sqlite3_mprintf(
            "UPDATE packet SET state=CASE WHEN number<%u THEN 'finished' WHEN number=%u THEN 'running' ELSE 'not started' END WHERE submission=%lld AND state IS NOT NULL",
            c->packet, c->packet, submission));
    exec_sql(
        r, db,
        sqlite3_mprintf(
            "UPDATE usage SET running=CASE kind WHEN 'total' THEN 1 WHEN 'command' THEN name=(SELECT name FROM packet WHERE submission=%lld AND number=%u) WHEN 'path' THEN name=(SELECT path FROM packet WHERE submission=%lld AND number=%u) ELSE EXISTS(SELECT 1 FROM binding WHERE what=usage.name AND submission=%lld AND packet=%u) END",
            submission, c->packet, submission, c->packet, submission, c->packet));
}

/* It was not seen again: nothing that the dump concluded is proven. */
static void demote(struct replay *r, sqlite3 *db, const char *text)
{
    const struct watch_pause *p = &r->result.pause;

    if (r->verdict.outcome == REPLAY_SLOW)
        make_room(r, db, 0);
    exec_sql(
        r, db,
        sqlite3_mprintf(
            "UPDATE finding SET certainty='candidate', sure_command=CASE sure_command WHEN 'proven' THEN 'suggested' ELSE sure_command END, sure_cause=CASE sure_cause WHEN 'proven' THEN 'suggested' ELSE sure_cause END, unseen=CASE WHEN unseen LIKE '%%the same when it was played again' THEN unseen ELSE coalesce(unseen || '; ', '') || 'the same when it was played again' END WHERE rank=0"));
    if (r->verdict.outcome != REPLAY_SLOW)
        return;
    exec_sql(r, db, sqlite3_mprintf("UPDATE finding SET rank=rank+1"));
    exec_sql(
        r, db,
        sqlite3_mprintf(
            "INSERT INTO finding(rank, certainty, cause, text, submission, packet, source, sure_happened, sure_command, sure_cause) VALUES(0,'candidate','slow',%Q,nullif(%lld,-1),nullif(%lld,-1),'exact markers, played again','proven','suggested','suggested')",
            text, replay_number(&r->file, p->ordinal),
            p->packet == UINT32_MAX ? -1LL : (long long)p->packet));
}

/* It was whole when it was opened to be played: what is not now must not be sealed. */
static void is_other(void *ctx, const char *table, const char *what)
{
    struct replay *r = ctx;

    utf8_print(stderr, "aerogpu play: %s: table %s %s\n", r->path, table, what);
    r->changed = true;
}

/* In one transaction: the dump is as it was, or has all of it. */
static void write_back(struct replay *r, const char *text)
{
    static const char *const changed[] = {"replay", "finding", "packet", "usage", "meta", NULL};
    const struct watch_crash *c = &r->result.crash;
    char stamp[40];
    time_t t = time(NULL);
    struct tm tm;
    sqlite3 *db;

    if (seal_open(&db, r->path, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOFOLLOW)) {
        utf8_print(stderr, "aerogpu play: %s: %s\n", r->path, sqlite3_errmsg(db));
        sqlite3_close(db);
        return;
    }
    gmtime_r(&t, &tm);
    strftime(stamp, sizeof(stamp), "%Y-%m-%dT%H:%M:%SZ", &tm);
    exec_sql(r, db, sqlite3_mprintf("BEGIN IMMEDIATE"));
    if (seal_check(db, changed, is_other, r) || r->changed) {
        sqlite3_close(db);
        return;
    }
    exec_sql(r, db,
             sqlite3_mprintf(
                 "INSERT INTO replay(time, markers, tries, crashed, same, text) VALUES(%Q,%Q,%u,%d,%d,%Q)",
                 stamp, r->params.markers == EXEC_MARKERS_EXACT ? "exact" : "groups", r->tried,
                 (int)r->result.crashed, r->verdict.outcome == REPLAY_SAME, text));
    if (r->verdict.outcome >= REPLAY_ELSEWHERE && c->certain && c->packet != UINT32_MAX)
        write_command(r, db, r->verdict.text);
    if (r->verdict.outcome >= REPLAY_ELSEWHERE && c->certain) {
        exec_sql(r, db, sqlite3_mprintf("DELETE FROM meta WHERE key IN ('fingerprint', 'place', 'path')"));
        exec_sql(r, db,
                 sqlite3_mprintf("INSERT INTO meta VALUES('fingerprint',%Q),('place',%Q),('path',%Q)",
                                 c->fingerprint, c->place, c->path));
    }
    if (r->verdict.outcome <= REPLAY_SLOW &&
        bb_cause_desc(bb_cause_find(r->file.cause))->kind != BB_KIND_OUTSIDE)
        demote(r, db, r->verdict.text);
    for (size_t i = 0; changed[i]; i++)
        if (seal_table(db, changed[i]))
            utf8_print(stderr, "aerogpu play: %s: %s\n", r->path, sqlite3_errmsg(db));
    exec_sql(r, db, sqlite3_mprintf("COMMIT"));
    sqlite3_close(db);
}

static int replay(struct replay *r)
{
    static const char *const says[] = {
        "It did not crash in %u tries%s", "It did not crash on try %u: %s",
        "It crashed in another way on each of %u tries, last: %s",
        "It crashed again on try %u, at another command than the dump's markers left: %s",
        "It crashed again on try %u: %s"};
    struct replay_verdict *v = &r->verdict;
    struct error e = {0};
    char text[1400];

    while (r->tried < r->tries && v->outcome != REPLAY_SAME && v->outcome != REPLAY_SLOW) {
        r->tried++;
        if (crash_run(&r->params, &r->result, &e)) {
            utf8_print(stderr, "aerogpu play: %s\n", e.text);
            return EXIT_ENV;
        }
        replay_compare(&r->file, &r->result, r->params.markers == EXEC_MARKERS_EXACT, v);
    }
    utf8_print(stdout, says[v->outcome], r->tried, v->text);
    utf8_print(stdout, "%s%s.\n", v->why[0] ? ". It may be why: " : "", v->why);
    if (v->outcome == REPLAY_NOT_AGAIN)
        snprintf(v->text, sizeof(v->text), "It did not crash in %u tries", r->tried);
    snprintf(text, sizeof(text), "%s%s%s", v->text, v->why[0] ? "; it may be why: " : "", v->why);
    if (!r->keep)
        write_back(r, text);
    return v->outcome >= REPLAY_ELSEWHERE ? EXIT_OK : EXIT_FAILED;
}

static struct replay options = {.tries = 5, .params = {.errors_count = true}};
static bool groups;
static struct options_row rows[] = {
    OPT_U32("tries", 0, &options.tries, 1, UINT32_MAX, "N", "give up after N times (5)"),
    OPT_U32("hang", 0, &options.params.hang_ms, 1, MAX_HANG_MS, "MS",
            "no progress for so long is a hang (ten times what the dump was made with)"),
    OPT_FLAG("groups", 0, &groups, "markers around groups of commands, as when it crashed first"),
    OPT_FLAG("keep", 0, &options.keep, "leave the dump as it is; else what was found out is added to it"),
    OPT_END};

static int play_one(const char *path)
{
    struct replay r = options;
    struct error e = {0};
    int code;

    r.path = path;
    if (dump_file_open(&r.file, r.path, false, &e)) {
        utf8_print(stderr, "aerogpu play: %s\n", e.text);
        return EXIT_INPUT;
    }
    r.params.markers = groups ? EXEC_MARKERS_GROUPS : EXEC_MARKERS_EXACT;
    r.params.data = r.file.recording;
    r.params.size = r.file.recording_size;
    r.params.program = "play";
    if (!r.params.hang_ms) /* what is slow gets the time to end */
        r.params.hang_ms = r.file.hang_ms && r.file.hang_ms < MAX_HANG_MS / 10 ? 10 * r.file.hang_ms : 20000;
    code = replay(&r);
    dump_file_close(&r.file);
    return code;
}

static int run(enum file_kind kind, char *const *files, int num_files)
{
    int code = EXIT_OK;

    if (!getenv("AEROGPU_LOG"))
        log_set_level(LOG_ERROR);
    for (int i = 0; i < num_files; i++) {
        int one = play_one(files[i]);
        code = one > code ? one : code;
    }
    return code;
}

const struct file_action dump_play = {
    "the last submissions of a crash dump (.aerogpudump), until it crashes again:", rows, run};
