/* SPDX-License-Identifier: MIT */
#include "blackbox/schema.h"

#include <string.h>

#define COLUMN(table, name, type, doc) {#name, doc, BB_##type},
#define COLUMNS_OF(NAME, name, doc)                                                                          \
    static const struct bb_column columns_##name[] = {BB_COLUMNS_##NAME(COLUMN)};
BB_TABLES(COLUMNS_OF)

#define TABLE_ROW(NAME, name_, doc_)                                                                         \
    {.name = #name_,                                                                                         \
     .doc = doc_,                                                                                            \
     .columns = columns_##name_,                                                                             \
     .num_columns = sizeof(columns_##name_) / sizeof(columns_##name_[0])},
const struct bb_table_desc bb_tables[BB_NUM_TABLES] = {BB_TABLES(TABLE_ROW)};

const char *bb_type_name(enum bb_type type)
{
    static const char *const names[] = {"INTEGER", "REAL", "TEXT", "BLOB"};

    return names[type];
}

/* ---- names --------------------------------------------------------------- */

static const char *const states[] = {
#define ROW(NAME, text) text,
    BB_STATES(ROW)
#undef ROW
};

const char *bb_state_name(enum bb_state state)
{
    return state < BB_NUM_STATES ? states[state] : "unknown";
}

enum bb_state bb_state_find(const char *name)
{
    int s = 0;

    while (s < BB_NUM_STATES && strcmp(states[s], name))
        s++;
    return (enum bb_state)s;
}

const char *bb_status_name(enum bb_status status)
{
    static const char *const names[] = {
#define ROW(NAME, text) text,
        BB_STATUSES(ROW)
#undef ROW
    };

    return status < BB_NUM_STATUSES ? names[status] : "unknown";
}

const char *bb_sure_name(enum bb_sure sure)
{
    static const char *const names[] = {
#define ROW(NAME, text) text,
        BB_SURENESS(ROW)
#undef ROW
    };

    return sure < BB_NUM_SURE ? names[sure] : "unknown";
}

const struct bb_cause_desc *bb_cause_desc(enum bb_cause cause)
{
    static const struct bb_cause_desc causes[] = {
#define ROW(NAME, name, kind, words, status, advice)                                                         \
    {name, BB_KIND_##kind, words, BB_STATUS_##status, advice},
        BB_CAUSES(ROW)
#undef ROW
    };

    return &causes[cause < BB_NUM_CAUSES ? cause : BB_CAUSE_NONE];
}

enum bb_cause bb_cause_find(const char *name)
{
    for (int c = 0; c < BB_NUM_CAUSES; c++)
        if (!strcmp(bb_cause_desc((enum bb_cause)c)->name, name))
            return (enum bb_cause)c;
    return BB_CAUSE_NONE;
}

/* ---- the schema ---------------------------------------------------------- */

void bb_schema_sql(struct strbuf *out)
{
    strbuf_printf(out, "PRAGMA application_id=%d;PRAGMA user_version=%d;", BB_APPLICATION_ID,
                  BB_SCHEMA_VERSION);
    for (int t = 0; t < BB_NUM_TABLES; t++) {
        strbuf_printf(out, "CREATE TABLE %s(", bb_tables[t].name);
        for (uint32_t c = 0; c < bb_tables[t].num_columns; c++)
            strbuf_printf(out, "%s%s %s", c ? "," : "", bb_tables[t].columns[c].name,
                          bb_type_name(bb_tables[t].columns[c].type));
        strbuf_puts(out, ");");
    }
}

static const char *const meta_keys[][2] = {
    {"reason", "what made the dump: timeout, reset (of the ring, with work unfinished), error, executor "
               "death, page fault, device removed, request; of a program: device lost, signal, timeout"},
    {"summary", "one line: what the one who made the dump saw"},
    {"cause", "of the first finding, see there; replaying does not change it"},
    {"place", "the shaders at the command, or its name, or that it came from outside: where to look"},
    {"path", "names of the regions around it"},
    {"time", "UTC, ISO 8601"},
    {"time_ns", "the same instant on CLOCK_MONOTONIC, the clock of every time_ns"},
    {"producer", "program and version that made it"},
    {"program", "name of the program that crashed"},
    {"pid", "its process"},
    {"pid_namespace",
     "whose numbers of processes and threads these are: system, the machine's own, as a trace of the "
     "processors has them; or own and the number of a container's PID namespace, outside of which they "
     "are others'"},
    {"boot_id",
     "of the machine, as its kernel names it: times and numbers of processes are of this boot only"},
    {"clock_offset_ns",
     "nanoseconds by which the clock of every time_ns is ahead of the machine's own, 0 but in a time namespace; not "
     "known, where what wrote the times is in another one than what made the dump"},
    {"device", "name of the Vulkan device"},
    {"markers", "where progress markers came from, and how exact they are"},
    {"setting.NAME", "a setting that was in force"},
    {"death", "of the executor, if it died: what its host saw"},
    {"streams_dropped", "submissions that there was no room for any more, if there were any"},
    {"memory_dropped",
     "submissions whose guest memory there was no room for as it was then: the recording has it as it was "
     "at the crash, if there were any"},
    {"recording_error", "why there is no playable recording, if there is none"},
    {"unbalanced_pops", "a context that ended more regions than it had begun"},
    {"dropped_rows", "rows that did not fit the limit, if there were any"},
    {"fingerprint", "16 hexadecimal digits: the same crash has the same ones"},
};

static void causes_markdown(struct strbuf *out)
{
    static const char *const kinds[] = {"nothing crashed", "the device's work crashed",
                                        "from outside: not blamed on a command",
                                        "the device refused it, and says why"};

    strbuf_puts(out, "\n| cause | what it is | status of the device |\n|---|---|---|\n");
    for (int c = BB_CAUSE_NONE + 1; c < BB_NUM_CAUSES; c++) {
        const struct bb_cause_desc *d = bb_cause_desc((enum bb_cause)c);

        strbuf_printf(out, "| %s | %s | %s |\n", d->name, kinds[d->kind],
                      d->status == BB_STATUS_ACTIVE ? "as it was" : bb_status_name(d->status));
    }
}

void bb_schema_markdown(struct strbuf *out)
{
    strbuf_printf(
        out,
        "# The schema of crash dumps, version %d\n\n"
        "A dump is an SQLite 3 database: `application_id` 0x%x (\"AGBD\"), `user_version` %d. Any "
        "SQLite tool can "
        "query it. Times (`…_ns`) are nanoseconds of CLOCK_MONOTONIC. Tables and columns come and change with a new number: "
        "a program that knows another one says so, and reports what it can read. This page is printed by `aerogpu dump --schema`.\n",
        BB_SCHEMA_VERSION, BB_APPLICATION_ID, BB_SCHEMA_VERSION);
    for (int t = 0; t < BB_NUM_TABLES; t++) {
        const struct bb_table_desc *d = &bb_tables[t];

        strbuf_printf(out, "\n## %s\n\n%s.\n\n| column | type | meaning |\n|---|---|---|\n", d->name, d->doc);
        for (uint32_t c = 0; c < d->num_columns; c++)
            strbuf_printf(out, "| `%s` | %s | %s |\n", d->columns[c].name, bb_type_name(d->columns[c].type),
                          d->columns[c].doc);
        if (t == BB_TABLE_FINDING)
            causes_markdown(out);
        if (t == BB_TABLE_META) {
            strbuf_puts(out, "\n| key | value |\n|---|---|\n");
            for (size_t i = 0; i < sizeof(meta_keys) / sizeof(meta_keys[0]); i++)
                strbuf_printf(out, "| `%s` | %s |\n", meta_keys[i][0], meta_keys[i][1]);
        }
    }
}
