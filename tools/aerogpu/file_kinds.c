/* SPDX-License-Identifier: MIT */
/* file_kinds.c: the table of kinds, and the operations on files (file_kinds.h). */
#include "file_kinds.h"

#include <errno.h>
#include <getopt.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <aerogpu/cmd.h>
#include <aerogpu/alloc.h>

#include "base/check.h"
#include "blackbox/flight_file.h"
#include "blackbox/schema.h"
#include "commands.h"
#include "cpu/capture/file.h"
#include "cpu/etl/etl.h"
#include "d3d12/gen/table.h"
#include "trace/format.h"

static bool is_trace(const uint8_t *b, size_t n)
{
    return n >= 8 && !memcmp(b, TRACE_MAGIC, 8);
}

static bool is_d3d12(const uint8_t *b, size_t n)
{
    return n >= 8 && !memcmp(b, d12_api.magic, 8);
}

/* SQLite keeps its user's application_id in four bytes at 68, big-endian. */
static bool is_dump(const uint8_t *b, size_t n)
{
    const uint32_t id = BB_APPLICATION_ID;
    const uint8_t want[4] = {(uint8_t)(id >> 24), (uint8_t)(id >> 16), (uint8_t)(id >> 8), (uint8_t)id};

    return n >= 100 && !memcmp(b, "SQLite format 3", 16) && !memcmp(b + 68, want, 4);
}

static bool is_flight(const uint8_t *b, size_t n)
{
    return n >= 8 && !memcmp(b, FLIGHT_MAGIC, 8);
}

static bool begins_with(const uint8_t *b, size_t n, uint32_t magic)
{
    return n >= 4 && (b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 | (uint32_t)b[3] << 24) == magic;
}

static bool is_stream(const uint8_t *b, size_t n)
{
    return begins_with(b, n, AEROGPU_CMD_STREAM_MAGIC);
}

static bool is_table(const uint8_t *b, size_t n)
{
    return begins_with(b, n, AEROGPU_ALLOC_TABLE_MAGIC);
}

static bool is_program(const uint8_t *b, size_t n)
{
    return n >= 4 && (!memcmp(b, "\177ELF", 4) || !memcmp(b, "MZ", 2));
}

static const struct file_row {
    const char *name;
    bool (*is)(const uint8_t *bytes, size_t size);
    const struct file_action *actions[FILE_NUM_OPS];
    const char *also; /* commands beside the operations */
} kinds[FILE_KINDS] = {
    [FILE_TRACE] = {"a recording of AeroGPU's device (.aerogputrace)",
                    is_trace,
                    {[FILE_PLAY] = &trace_play,
                     [FILE_SHOW] = &trace_show,
                     [FILE_INFO] = &file_info,
                     [FILE_MINIMIZE] = &trace_minimize},
                    "dump"},
    [FILE_D3D12] = {"a recording of Direct3D 12 (.d3d12trace)",
                    is_d3d12,
                    {[FILE_PLAY] = &d3d12_play,
                     [FILE_SHOW] = &d3d12_show,
                     [FILE_INFO] = &file_info,
                     [FILE_DIFF] = &d3d12_diff,
                     [FILE_COMPARE] = &d3d12_compare,
                     [FILE_TRIM] = &d3d12_trim,
                     [FILE_MINIMIZE] = &d3d12_minimize},
                    NULL},
    [FILE_CPU] = {"a recording of processors (.cputrace)",
                  cpu_file_is,
                  {[FILE_INFO] = &file_info, [FILE_REPORT] = &cpu_report},
                  NULL},
    [FILE_ETL] = {"a Windows event trace (.etl)",
                  etl_is,
                  {[FILE_SHOW] = &etl_show, [FILE_INFO] = &file_info, [FILE_REPORT] = &cpu_report},
                  NULL},
    [FILE_DUMP] = {"a crash dump (.aerogpudump)",
                   is_dump,
                   {[FILE_PLAY] = &dump_play,
                    [FILE_SHOW] = &trace_show,
                    [FILE_INFO] = &file_info,
                    [FILE_REPORT] = &dump_report,
                    [FILE_MINIMIZE] = &trace_minimize},
                   "crashes"},
    [FILE_FLIGHT] = {"a flight recorder",
                     is_flight,
                     {[FILE_SHOW] = &flight_show, [FILE_INFO] = &file_info},
                     NULL},
    [FILE_STREAM] = {"a command stream",
                     is_stream,
                     {[FILE_SHOW] = &trace_show, [FILE_INFO] = &file_info},
                     NULL},
    [FILE_TABLE] = {"an allocation table",
                    is_table,
                    {[FILE_SHOW] = &trace_show, [FILE_INFO] = &file_info},
                    NULL},
    [FILE_PROGRAM] = {"a program", is_program, {NULL}, "record -- PROGRAM, run -- PROGRAM, lose -- PROGRAM"},
};

static const struct file_operation {
    const char *name, *about, *operands;
    int min, max;
    const char *notes, *exits[EXIT_CODES], *examples, *see;
} operations[FILE_NUM_OPS] = {
    [FILE_PLAY] =
        {"play",
         "Plays recordings; what a file is shows by what is in it.\n\n"
         "Recordings of AeroGPU's device, container versions 1 and 2, go through the whole device, the way a driver would drive it: guest memory is placed at its recorded addresses, the scanout gets the size and format of the colour target that the frame presents, and every submission goes through ring and doorbell to the executor process, until its fence is signalled. Each recording begins on a device that was reset. One line is printed per recording: frames that were presented, submissions, commands, median and 99th percentile of the time from doorbell to fence, presents per second, 99th percentile of the lateness of vblanks, and errors. What the device latches as an error follows, with code, fence, frame and message. A recording whose command ABI is not AeroGPU's (major version 1) is refused. Memory that was recorded above 2 GiB is moved down, and the allocation tables with it.\n\n"
         "Recordings of Direct3D 12 are the same calls again, without a window, on this machine's libvkd3d, on another library, or on Wine's Direct3D 12.\n\n"
         "Of a crash dump the last submissions are played in a fresh executor, with a marker around every command, until the crash happens again. It says after how many tries, and at which command exactly, and adds that to the dump.",
         "FILE...",
         1,
         -1,
         "The hash of a frame is SHA-256 over its width and height (32 bits each, little-endian) and its RGBA8 rows from the top without gaps. `AEROGPU_VULKAN_DEVICE` picks the Vulkan device (Wine's Direct3D 12 takes the first), `AEROGPU_RECORD`=FILE records what is played, `AEROGPU_DUMPS`=DIR has the black box make a dump of what crashes. The exit code is the worst of all files; the others are played when one is bad.",
         {"all is well, and a dump crashed again",
          "the device latched an error, a frame was not presented, a fence was not signalled in time, something differs from the recording, or a dump did not crash again",
          [EXIT_INPUT] =
              "a file cannot be opened, is damaged, has another command ABI, or lacks the frame or call that was asked for",
          [EXIT_ENV] = "there is no Vulkan device or no executor, or a picture cannot be written"},
         "aerogpu play --json frame.aerogputrace | jq -r '.files[].frames[].hash'\n"
         "aerogpu play --png out --frame 60 build/samples/spinning.aerogputrace\n"
         "aerogpu play --validate gears.d3d12trace\n"
         "aerogpu play --validate --on wine game.d3d12trace\n"
         "aerogpu play hang.aerogpudump\n",
         "aerogpu-record(1), aerogpu-show(1), aerogpu-dump(1), docs/d3d12.md, docs/blackbox.md"},
    [FILE_SHOW] =
        {"show",
         "Prints what a file holds, decoded: of a recording of AeroGPU's device, and of the one in a crash dump, the records with their file offsets, every submission, and every packet of its command streams with names, stream offsets and values; of a crash dump without a recording its tables; of Direct3D 12 every call; of a Windows event trace every event. A command stream or an allocation table alone, as `aerogpu_dbgctl --dump-last-submit` writes them, is decoded too; FILE.alloc_table.bin goes with a stream.",
         "FILE",
         1,
         1,
         "A damaged or cut recording is shown as far as it can be read, also by --html, --sqlite and --perfetto, whose FILE is replaced; the error follows. So it is if a command stream in it is malformed.",
         {"all of it was shown",
          [EXIT_INPUT] = "FILE is damaged, cut or malformed, or has nothing of what was asked for",
          [EXIT_ENV] = "an output cannot be written"},
         "aerogpu show frame.aerogputrace | grep DRAW\n"
         "aerogpu show --json f | jq '.records[] | select(.submission) | .submission.signal_fence'\n"
         "aerogpu show --html gears.html --pictures 0-9 gears.d3d12trace\n"
         "aerogpu show --decoded trace.etl\n",
         "aerogpu-info(1), aerogpu-play(1), aerogpu-record(1)"},
    [FILE_INFO] =
        {"info",
         "Says what files are, what they hold, and which commands there are for them. Of a Windows event trace it counts every kind of event, those that are not decoded too.",
         "FILE...",
         1,
         -1,
         NULL,
         {"done", [EXIT_INPUT] = "a file is damaged, or nothing that is known"},
         "aerogpu info *.d3d12trace\naerogpu info --json trace.etl | jq .events\n",
         "aerogpu-show(1)"},
    [FILE_REPORT] =
        {"report",
         "Says what a file means.\n\n"
         "Of a crash dump: what crashed and how that is known, the verdict in one sentence first, then the evidence.\n\n"
         "Of a recording of processors or a Windows event trace: how complete it is, utilization, idle states and how well they were chosen, wake-up causes, who waited for whose interrupt, late timers, and times when all CPUs but one stopped. The recording is first compared with the kernel's own counters. A CPU that the trace does not show has a star at its utilization, which then comes from those counters. Times are counted from the first event; \"n/a\" and \"not available\" mean that the machine or the recording does not say.",
         "FILE",
         1,
         1,
         NULL,
         {"reported", [EXIT_INPUT] = "a file is bad; what can be read of it is reported all the same",
          [EXIT_ENV] = "the report cannot be written"},
         "aerogpu report hang.aerogpudump\n"
         "aerogpu report hang.cputrace | less\n"
         "aerogpu report hang.cputrace --with hang.aerogpudump --html hang.html\n",
         "aerogpu-dump(1), aerogpu-crashes(1), aerogpu-record(1), docs/blackbox.md, docs/cpu.md (what each figure means, the rules of the verdicts)"},
    [FILE_DIFF] =
        {"diff",
         "Prints the calls that only one of two recordings has (- the first, + the second), and a sum. Threads, times, hashes of pictures and calls that only ask something do not count.",
         "FILE FILE",
         2,
         2,
         NULL,
         {"they are alike", "they differ", [EXIT_INPUT] = "a file is bad"},
         "aerogpu diff before.d3d12trace after.d3d12trace\n",
         "aerogpu-record(1), docs/d3d12.md"},
    [FILE_COMPARE] = {"compare",
                      "Plays a recording on two implementations of Direct3D 12, or on two Vulkan drivers, and says what comes out differently: frames and memory that the program read back, then, up to the first that differs, the first draw after which its render target differs, and what resources hold there.",
                      "FILE",
                      1,
                      1,
                      NULL,
                      {"both made the same", "they differ, or one of them cannot play it",
                       [EXIT_INPUT] = "the file is bad", [EXIT_ENV] = "an implementation is not there"},
                      "aerogpu compare --on vkd3d --on wine game.d3d12trace\n"
                      "aerogpu compare --on vkd3d --on vkd3d@/tmp/lvp_icd.json game.d3d12trace\n",
                      "aerogpu-play(1), aerogpu-diff(1), docs/d3d12.md"},
    [FILE_TRIM] =
        {"trim",
         "Writes frames A to B of a recording so that they play on their own. Plays the frames before them, to see what is in the resources.",
         "FILE",
         1,
         1,
         NULL,
         {"done", "it cannot be played", [EXIT_INPUT] = "the file is bad, or has no such frame",
          [EXIT_ENV] = "the output cannot be written"},
         "aerogpu trim game.d3d12trace --frames 100-109 -o ten.d3d12trace\n",
         "aerogpu-record(1), aerogpu-play(1), docs/d3d12.md"},
    [FILE_MINIMIZE] =
        {"minimize",
         "Leaves out one part after another of a recording that crashes, or of a crash dump's, as long as it still crashes the same way: the same cause, at the same kind of command, with the same shaders; of Direct3D 12: the same end in the same method.",
         "FILE",
         1,
         1,
         "Of AeroGPU's device submissions, packets, bindings and bytes are left out, in this order; SMALL.progress keeps what was found out, and is removed at the end: a run that was broken off goes on where it was. Of Direct3D 12 it is frames, lists, objects and calls.",
         {"done", "it does not crash, or was broken off", [EXIT_INPUT] = "the file is bad",
          [EXIT_ENV] = "there is no Vulkan device or no executor, or SMALL cannot be written"},
         "aerogpu minimize hang.aerogpudump -o small.aerogputrace\n"
         "aerogpu minimize crash.d3d12trace -o small.d3d12trace\n",
         "aerogpu-dump(1), aerogpu-play(1), docs/blackbox.md, docs/d3d12.md"},
};

const char *file_kind_name(enum file_kind kind)
{
    INVARIANT(kind < FILE_KINDS);
    return kinds[kind].name;
}

const char *file_kind_commands(enum file_kind kind, char text[200])
{
    size_t n = 0;

    INVARIANT(kind < FILE_KINDS);
    text[0] = '\0';
    for (int op = 0; op < FILE_NUM_OPS; op++)
        if (kinds[kind].actions[op])
            n += (size_t)snprintf(text + n, 200 - n, "%s%s", n ? ", " : "", operations[op].name);
    if (kinds[kind].also)
        n += (size_t)snprintf(text + n, 200 - n, "%s%s", n ? ", " : "", kinds[kind].also);
    INVARIANT(n < 200);
    return text;
}

int file_kind_of(const char *path, struct error *e)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK), kind = 0;
    const uint8_t *b = MAP_FAILED;
    struct stat st;
    size_t n = 0;

    if (fd < 0 || fstat(fd, &st)) {
        kind = error_set(e, -errno, "%s: %s", path, strerror(errno));
    } else if (S_ISDIR(st.st_mode)) {
        kind = error_set(e, -EISDIR, "%s: is a folder", path);
    } else if (!S_ISREG(st.st_mode) || !st.st_size) {
        kind =
            error_set(e, -EBADMSG, "%s: %s", path, S_ISREG(st.st_mode) ? "is empty" : "is no regular file");
    } else {
        n = (size_t)st.st_size;
        b = mmap(NULL, n, PROT_READ, MAP_PRIVATE, fd, 0);
        if (b == MAP_FAILED)
            kind = error_set(e, -errno, "%s: %s", path, strerror(errno));
    }
    if (fd >= 0)
        close(fd);
    if (kind)
        return kind;
    while (kind < FILE_KINDS && !kinds[kind].is(b, n))
        kind++;
    if (kind == FILE_KINDS)
        kind = error_set(e, -EBADMSG, "%s: is nothing that aerogpu knows: it begins with %02x %02x %02x %02x",
                         path, b[0], n > 1 ? b[1] : 0, n > 2 ? b[2] : 0, n > 3 ? b[3] : 0);
    munmap((void *)(uintptr_t)b, n);
    return kind;
}

static int has_nothing(const char *path, enum file_kind kind, struct error *e)
{
    char commands[200];

    return error_set(e, -ENOTSUP, "%s is %s, which this command has nothing for; there is: %s", path,
                     kinds[kind].name, file_kind_commands(kind, commands));
}

int file_kind_needed(const char *path, enum file_kind kind, struct error *e)
{
    int k = file_kind_of(path, e);

    return k < 0 ? k : (enum file_kind)k != kind ? has_nothing(path, (enum file_kind)k, e) : 0;
}

/* Every action of an operation, each once. */
static size_t actions_of(enum file_op op, const struct file_action *list[FILE_KINDS])
{
    size_t n = 0;

    for (int k = 0; k < FILE_KINDS; k++) {
        const struct file_action *a = kinds[k].actions[op];
        bool new = a;
        for (size_t i = 0; i < n; i++)
            new = new &&list[i] != a;
        if (new)
            list[n++] = a;
    }
    return n;
}

static size_t num_rows(const struct file_action *a)
{
    size_t n = 0;

    while (a->rows && a->rows[n].kind)
        n++;
    return n;
}

static bool has_row(const struct file_action *a, const struct options_row *r)
{
    const struct options own = {.rows = a->rows};

    return options_find(&own, r->name);
}

/* How many of the actions have an option of that name. */
static size_t num_with(const struct file_action *const *list, size_t n, const struct options_row *r)
{
    size_t with = 0;

    for (size_t i = 0; i < n; i++)
        with += has_row(list[i], r);
    return with;
}

/* The rows of all actions: what several have first, then each one's below its heading. The caller frees them. */
static struct options_row *rows_of(enum file_op op)
{
    const struct file_action *list[FILE_KINDS];
    size_t n = actions_of(op, list), total = 1, at = 0;
    struct options_row *rows;

    for (size_t i = 0; i < n; i++)
        total += 1 + num_rows(list[i]);
    rows = calloc(total, sizeof(*rows));
    for (size_t i = 0; rows && i < n; i++)
        for (size_t k = 0; k < num_rows(list[i]); k++)
            if (num_with(list, i, &list[i]->rows[k]) == 0 &&
                (n == 1 || num_with(list, n, &list[i]->rows[k]) > 1))
                rows[at++] = list[i]->rows[k];
    for (size_t i = 0; rows && n > 1 && i < n; i++) {
        if (list[i]->rows)
            rows[at++] = (struct options_row)OPT_GROUP(list[i]->about);
        for (size_t k = 0; k < num_rows(list[i]); k++)
            if (num_with(list, n, &list[i]->rows[k]) == 1)
                rows[at++] = list[i]->rows[k];
    }
    INVARIANT(!rows || (at < total && !rows[at].kind));
    return rows;
}

/* The action for the files, and the kind of the first that has one; or NULL and the exit code. Of many files a bad one does not
 * keep the others from being worked on: the action finds it bad again, and says so. */
static const struct file_action *choose(enum file_op op, char *const *files, int n, enum file_kind *kind,
                                        int *code)
{
    const struct file_action *a = NULL;
    struct error e = {0}, bad = {0};

    *code = EXIT_INPUT;
    for (int i = 0; i < n; i++) {
        int k = file_kind_of(files[i], &e);

        if (k < 0) {
            bad = bad.code ? bad : e;
        } else if (!kinds[k].actions[op]) {
            has_nothing(files[i], (enum file_kind)k, &e);
            command_fail(EXIT_INPUT, &e);
            return NULL;
        } else if (a && kinds[k].actions[op] != a) {
            *code = usage_error("%s is not %s, but %s: one kind at a time", files[i], kinds[*kind].name,
                                kinds[k].name);
            return NULL;
        } else if (!a) {
            *kind = (enum file_kind)k;
            a = kinds[k].actions[op];
        }
    }
    if (bad.code && (!a || operations[op].max >= 0)) {
        command_fail(EXIT_INPUT, &bad);
        return NULL;
    }
    return a;
}

/* An option that other kinds have and this one does not: refused by name. */
static int check_given(const struct options_row *rows, const struct file_action *a, const char *file,
                       enum file_kind kind)
{
    for (const struct options_row *r = rows; r->kind; r++)
        if (r->kind != OPTIONS_GROUP && r->given && !has_row(a, r))
            return usage_error("--%s is not for %s, which is %s", r->name, file, kinds[kind].name);
    return EXIT_OK;
}

static int file_command(enum file_op op, int argc, char **argv)
{
    const struct file_operation *f = &operations[op];
    struct options_row *rows = rows_of(op);
    struct options all = {.about = f->about,
                          .rows = rows,
                          .operands = f->operands,
                          .min = f->min,
                          .max = f->max,
                          .notes = f->notes,
                          .examples = f->examples,
                          .see = f->see};
    const struct file_action *a = NULL;
    enum file_kind kind = FILE_KINDS;
    int code = EXIT_ENV;

    memcpy(all.exits, f->exits, sizeof(all.exits));
    if (rows)
        code = command_line(&all, argc, argv);
    if (code) {
        free(rows);
        return code < 0 ? EXIT_OK : code;
    }
    a = choose(op, argv + optind, argc - optind, &kind, &code);
    if (a)
        code = check_given(rows, a, argv[optind], kind);
    /* Again into the action's own variables: two kinds may have an option of the same name. */
    if (a && !code)
        code = command_line(&(struct options){.rows = a->rows, .max = -1}, argc, argv);
    free(rows);
    return a && !code ? a->run(kind, argv + optind, argc - optind) : code;
}

#define FILE_COMMAND(id, name)                                                                               \
    int cmd_##name(int argc, char **argv)                                                                    \
    {                                                                                                        \
        return file_command(FILE_##id, argc, argv);                                                          \
    }
FILE_OPS(FILE_COMMAND)
#undef FILE_COMMAND
