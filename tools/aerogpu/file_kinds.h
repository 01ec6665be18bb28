/* SPDX-License-Identifier: MIT */
/* file_kinds.h: what a file is, and what `aerogpu` does with it. One table (file_kinds.c) has a row for each kind: how it is
 * recognised, and its action for each operation. `aerogpu play FILE` and the like look there; nobody says what a file is.
 *
 *   argv ─▶ the options of all actions ─▶ the files' kind ─▶ its action, which reads the options again, as its own ─▶ run
 *
 * Invariants:
 *  1. A file is known by its bytes, never by its name.
 *  2. Every action of an operation stands in that operation's --help; an option that the file's action does not have is refused
 *     by name.
 *  3. An operation that a kind does not have ends in one sentence: what the file is, and which commands it has.
 */
#pragma once

#include "base/error.h"
#include "base/options.h"

enum file_kind {
    FILE_TRACE,   /* .aerogputrace */
    FILE_D3D12,   /* .d3d12trace */
    FILE_CPU,     /* .cputrace */
    FILE_ETL,     /* Windows event trace */
    FILE_DUMP,    /* a crash dump: SQLite with the black box's application_id */
    FILE_FLIGHT,  /* a flight recorder's ring */
    FILE_STREAM,  /* a command stream alone */
    FILE_TABLE,   /* an allocation table alone */
    FILE_PROGRAM, /* ELF or PE */
    FILE_KINDS,
};

#define FILE_OPS(O)                                                                                          \
    O(PLAY, play)                                                                                            \
    O(SHOW, show)                                                                                            \
    O(INFO, info)                                                                                            \
    O(REPORT, report)                                                                                        \
    O(DIFF, diff)                                                                                            \
    O(COMPARE, compare)                                                                                      \
    O(TRIM, trim)                                                                                            \
    O(MINIMIZE, minimize)

enum file_op {
#define FILE_OP(id, name) FILE_##id,
    FILE_OPS(FILE_OP)
#undef FILE_OP
        FILE_NUM_OPS,
};

/* One operation on one kind of file, or on several that it treats alike. */
struct file_action {
    const char *about;        /* what it does with which files: a heading in --help */
    struct options_row *rows; /* up to OPT_END; the variables are the action's own. NULL: no options */
    /* Returns the exit code. All files are of `kind`. */
    int (*run)(enum file_kind kind, char *const *files, int num_files);
};

extern const struct file_action trace_play, trace_show, trace_minimize;
extern const struct file_action d3d12_play, d3d12_show, d3d12_diff, d3d12_compare, d3d12_trim, d3d12_minimize;
extern const struct file_action dump_play, dump_report;
extern const struct file_action cpu_report, etl_show, flight_show, file_info;

/* Prints every table of a crash dump; -EBADMSG: all that can be read of it was printed. */
int dump_show_tables(const char *path, bool json, struct error *e);

/* The kind of a file; -ENOENT and the like, -EISDIR, or -EBADMSG: it is empty, or nothing that is known. */
int file_kind_of(const char *path, struct error *e);
/* For a command that reads one kind: 0 if the file is of it, -ENOTSUP: it is of another, whose commands are named; or as above. */
int file_kind_needed(const char *path, enum file_kind kind, struct error *e);
/* "a recording of Direct3D 12 (.d3d12trace)" */
const char *file_kind_name(enum file_kind kind);
/* "play, show, info": the commands for files of this kind. */
const char *file_kind_commands(enum file_kind kind, char text[200]);
