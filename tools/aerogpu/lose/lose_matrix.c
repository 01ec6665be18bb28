/* SPDX-License-Identifier: MIT */
/* lose_matrix.c: programs by faults by seeds, each case a process of `aerogpu lose` of its own, as many at a time as there are
 * processors; and what came of them, for people, CI systems and code hosts.
 *
 * The command of a case repeats it: nothing else decides what it does.
 */
#include "commands.h"
#include "lose_parts.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <jansson.h>

#include "base/clock.h"
#include "base/file/out.h"
#include "base/file/png.h"
#include "base/json_write.h"
#include "base/program.h"
#include "base/strbuf.h"
#include "base/utf8.h"
#include "lose/matrix.h"
#include "report/junit.h"

#define GRACE_NS    (10 * NSEC_PER_SEC)
#define INTERRUPTED "interrupted" /* also what the case says itself */
enum { TAIL = 4000, DEFAULT_TIMEOUT = 300, WORDS = 300 };

enum outcome { PENDING, RUNS, PASSED, FAILED, KNOWN, FIXED, BROKEN };

struct test_case {
    const struct matrix_entry *program, *fault, *known;
    char *expect;              /* NULL: that it survives */
    struct matrix_entry drawn; /* `fault` then: with the faults that --random came to */
    uint32_t seed;
    char *name, *words[WORDS], number[16];
    char json[96], log[96], png[96];
    pid_t pid;
    uint64_t start_ns, end_ns;
    bool late; /* it was ended: time was up */
    int status;
    enum outcome outcome;
    char verdict[64], says[TAIL];
    char fewest[1024]; /* faults with which it fails as well, or empty */
};

struct matrix_run {
    struct matrix m;
    const struct lose_matrix_files *files;
    const volatile int *stop;
    FILE *say; /* for people; the JSON may have standard output */
    char folder[64], self[PATH_MAX];
    struct test_case *cases;
    size_t num;
    uint32_t jobs;
};

static uint64_t now(void)
{
    struct clock live;

    clock_init_live(&live);
    return clock_now(&live);
}

/* ---- cases --------------------------------------------------------------- */

/* Its command; `without`: a --fault that is left out, by number from 0; -1: none is. The words stay the matrix's. */
static void compose(const struct matrix_run *r, struct test_case *c, uint64_t without)
{
    static char screen[] = "--screen", picture[] = "--picture", seed[] = "--seed", expect[] = "--expect",
                dashes[] = "--", lose[] = "lose";
    size_t n = 0, fault = 0;

    c->words[n++] = (char *)(uintptr_t)r->self;
    c->words[n++] = lose;
    for (size_t i = 0; i < c->fault->words.num && n < WORDS - 100; i++) {
        if (!strcmp(c->fault->words.word[i], "--fault") && (without >> fault++) & 1) {
            i++;
            continue;
        }
        c->words[n++] = c->fault->words.word[i];
    }
    if (c->seed) {
        snprintf(c->number, sizeof(c->number), "%u", c->seed);
        c->words[n++] = seed;
        c->words[n++] = c->number;
    }
    if (c->expect) {
        c->words[n++] = expect;
        c->words[n++] = c->expect;
    }
    if (r->m.screen) {
        c->words[n++] = screen;
        c->words[n++] = r->m.screen;
        c->words[n++] = picture;
        c->words[n++] = c->png;
    }
    c->words[n++] = c->json; /* "--json=FILE" */
    c->words[n++] = dashes;
    for (size_t i = 0; i < c->program->words.num && n < WORDS - 1; i++)
        c->words[n++] = c->program->words.word[i];
    c->words[n] = NULL;
}

static void enter(void *ctx)
{
    int log = open(ctx, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

    setpgid(0, 0); /* an interrupt comes to it from here */
    dup2(log, STDOUT_FILENO);
    dup2(log, STDERR_FILENO);
}

static void start_case(const struct matrix_run *r, struct test_case *c, uint64_t without)
{
    compose(r, c, without);
    c->late = false;
    c->start_ns = now();
    c->pid = program_start(c->words, enter, c->log);
    c->outcome = RUNS;
}

/* Whether it is over. */
static bool poll_case(const struct matrix_run *r, struct test_case *c)
{
    uint64_t limit = (r->m.timeout_s ? r->m.timeout_s : DEFAULT_TIMEOUT) * NSEC_PER_SEC,
             took = now() - c->start_ns;
    pid_t got = c->pid > 0 ? waitpid(c->pid, &c->status, WNOHANG) : -1;

    if (!got && took > limit + GRACE_NS)
        kill(c->pid, SIGKILL);
    else if (!got && !c->late && (took > limit || *r->stop))
        kill(c->pid, SIGTERM);
    c->late |= !got && took > limit;
    if (got)
        c->end_ns = now();
    return got != 0;
}

/* What a table says of the case, or NULL. */
static const struct matrix_entry *find_case(const struct matrix_list *table, const struct test_case *c)
{
    char name[600];

    snprintf(name, sizeof(name), "%s/%s", c->program->name, c->fault->name);
    for (size_t i = 0; i < table->num; i++)
        if (!strcmp(table->item[i].name, name))
            return &table->item[i];
    return NULL;
}

static int make_cases(struct matrix_run *r)
{
    size_t n = 0;

    for (size_t i = 0; i < r->m.faults.num; i++)
        n += r->m.programs.num * (r->m.faults.item[i].seeds ? r->m.faults.item[i].seeds : 1);
    r->cases = calloc(n, sizeof(*r->cases));
    for (size_t p = 0; r->cases && p < r->m.programs.num; p++)
        for (size_t f = 0; f < r->m.faults.num; f++)
            for (uint32_t seed = 0; seed < (r->m.faults.item[f].seeds ? r->m.faults.item[f].seeds : 1);
                 seed++) {
                struct test_case *c = &r->cases[r->num];
                struct strbuf name = {0};

                if (!matrix_has_case(&r->m.programs.item[p], &r->m.faults.item[f]))
                    break;
                c->program = &r->m.programs.item[p];
                c->fault = &r->m.faults.item[f];
                c->known = find_case(&r->m.known, c);
                c->expect = (find_case(&r->m.expects, c) ? find_case(&r->m.expects, c) : c->fault)->text;
                c->seed = c->fault->seeds ? seed + 1 : 0;
                strbuf_printf(&name, "%s/%s", c->program->name, c->fault->name);
                if (c->seed)
                    strbuf_printf(&name, "#%u", c->seed);
                if (strbuf_failed(&name))
                    return -ENOMEM;
                c->name = name.data;
                snprintf(c->json, sizeof(c->json), "--json=%s/%zu.json", r->folder, r->num);
                snprintf(c->log, sizeof(c->log), "%s/%zu.log", r->folder, r->num);
                snprintf(c->png, sizeof(c->png), "%s/%zu.png", r->folder, r->num);
                snprintf(c->verdict, sizeof(c->verdict), "not run");
                compose(r, c, 0);
                r->num++;
            }
    return r->cases ? 0 : -ENOMEM;
}

/* ---- what came of one ---------------------------------------------------- */

static void read_tail(const char *path, char out[TAIL])
{
    FILE *f = fopen(path, "re");
    size_t n;

    out[0] = '\0';
    if (!f)
        return;
    if (!fseek(f, 0, SEEK_END) && ftell(f) > TAIL - 1)
        fseek(f, -(TAIL - 1), SEEK_END);
    else
        rewind(f);
    n = fread(out, 1, TAIL - 1, f);
    out[n] = '\0';
    fclose(f);
    for (n = 0; n < 3 && (out[n] & 0xC0) == 0x80;) /* the rest of a character */
        n++;
    memmove(out, out + n, strlen(out + n) + 1);
}

/* The last line that was said. */
static const char *last_line(const struct test_case *c)
{
    static char line[400];
    size_t end = strlen(c->says), begin;

    while (end && c->says[end - 1] == '\n')
        end--;
    for (begin = end; begin && c->says[begin - 1] != '\n'; begin--)
        continue;
    snprintf(line, sizeof(line), "%.*s", (int)(end - begin), c->says + begin);
    utf8_mend(line);
    return line;
}

static void judge_case(struct test_case *c)
{
    json_t *j = json_load_file(c->json + strlen("--json="), 0, NULL);
    const char *verdict = json_string_value(json_object_get(j, "verdict"));
    bool ok = json_is_true(json_object_get(j, "ok"));

    read_tail(c->log, c->says);
    snprintf(c->verdict, sizeof(c->verdict), "%s",
             c->late   ? "time is up"
             : verdict ? verdict
                       : "it could not be tried");
    if (c->late)
        c->outcome = FAILED;
    else if (!verdict || (!strcmp(verdict, "no device") && !ok))
        c->outcome = BROKEN;
    else
        c->outcome = ok ? PASSED : FAILED;
    if (c->known && c->outcome != BROKEN)
        c->outcome = c->outcome == PASSED ? FIXED : KNOWN;
    json_decref(j);
}

static void put_command(struct strbuf *out, const struct test_case *c)
{
    const char *space = "";

    for (char *const *w = c->words; *w; w++) {
        if (!strncmp(*w, "--json=", 7) || !strcmp(*w, "--picture")) {
            w += **w == '-' && (*w)[2] == 'p';
            continue;
        }
        strbuf_puts(out, space);
        if (w == c->words)
            strbuf_puts(out, "aerogpu");
        else if (**w &&
                 strspn(*w, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./=:@+,") ==
                     strlen(*w))
            strbuf_puts(out, *w);
        else {
            strbuf_puts(out, "'");
            for (const char *p = *w; *p; p++)
                strbuf_printf(out, *p == '\'' ? "'\\''" : "%c", *p);
            strbuf_puts(out, "'");
        }
        space = " ";
    }
}

static bool counts(const struct test_case *c)
{
    return c->outcome == FAILED || c->outcome == FIXED || c->outcome == BROKEN;
}

static const char *word_of(const struct test_case *c)
{
    static const char *const words[] = {
        "pending", "runs", "ok", "FAILED", "known", "fixed: take it out of [known]", "BROKEN"};

    return words[c->outcome];
}

/* ---- fewer faults ---------------------------------------------------------- */

static unsigned count_faults(const struct test_case *c)
{
    unsigned n = 0;

    for (size_t i = 0; i + 1 < c->fault->words.num; i++)
        n += !strcmp(c->fault->words.word[i], "--fault");
    return n;
}

/* Whether this is `option`; `*skip`: and its value is the next word. */
static bool is_option(const char *word, const char *option, bool *skip)
{
    size_t n = strlen(option);

    *skip = !strcmp(word, option);
    return !strncmp(word, option, n) && (!word[n] || word[n] == '=');
}

/* Puts the faults that were drawn into the place of --random, and of the seed; false: none were. */
static bool spell_out(struct test_case *c)
{
    json_t *j = json_load_file(c->json + strlen("--json="), 0, NULL), *faults = json_object_get(j, "faults");
    const struct matrix_words *from = &c->fault->words;
    struct matrix_words *to = &c->drawn.words;
    size_t k = 0;
    json_t *f;
    bool random = false, skip;

    to->word = calloc(from->num + 2 * json_array_size(faults) + 1, sizeof(*to->word));
    for (size_t i = 0; to->word && i < from->num; i++) {
        char *word = from->word[i];

        if (is_option(word, "--random", &skip)) {
            random = true;
            i += skip;
        } else if (is_option(word, "--seed", &skip) || is_option(word, "--fault", &skip)) {
            i += skip;
        } else {
            to->word[to->num++] = strdup(word);
        }
    }
    json_array_foreach(faults, k, f)
        if (to->word && random) {
            to->word[to->num++] = strdup("--fault");
            to->word[to->num++] = strdup(json_string_value(json_object_get(f, "fault")));
        }
    json_decref(j);
    for (k = 0; k < to->num; k++)
        random &= to->word[k] != NULL;
    if (!random)
        return false;
    c->drawn.name = c->fault->name;
    c->fault = &c->drawn;
    c->seed = 0;
    return true;
}

static void forget_drawn(struct test_case *c)
{
    for (size_t k = 0; k < c->drawn.words.num; k++)
        free(c->drawn.words.word[k]);
    free(c->drawn.words.word);
}

/* Whether it fails in the same way without these faults. */
static bool fails_without(const struct matrix_run *r, const struct test_case *c, uint64_t without)
{
    struct test_case *t = malloc(sizeof(*t));
    bool same;

    if (!t)
        return false;
    *t = *c;
    start_case(r, t, without);
    while (!poll_case(r, t))
        nanosleep(&(struct timespec){0, 5 * NSEC_PER_MSEC}, NULL);
    judge_case(t);
    same = t->outcome == FAILED && !strcmp(t->verdict, c->verdict);
    free(t);
    return same;
}

/* Leaves out one fault after the other as long as the verdict stays, until none can be: one may have to go before another can. */
static void shrink(const struct matrix_run *r, struct test_case *c)
{
    bool drawn = c->outcome == FAILED && spell_out(c);
    unsigned n = count_faults(c), fault = 0, left = n;
    uint64_t without = 0, before = 1;
    size_t at = 0;

    if (n < (drawn ? 1 : 2) || n > 63 || c->outcome != FAILED ||
        !strcmp(c->verdict, lose_verdict_name(LOSE_NOT_REACHED))) /* it did not fail: nothing was tried */
        return;
    while (left > 1 && before != without) {
        before = without;
        for (unsigned i = 0; left > 1 && i < n && !*r->stop; i++)
            if (!(without >> i & 1) && fails_without(r, c, without | 1ull << i)) {
                without |= 1ull << i;
                left--;
            }
    }
    compose(r, c, without);
    for (size_t i = 0; i + 1 < c->fault->words.num && at < sizeof(c->fewest); i++)
        if (!strcmp(c->fault->words.word[i], "--fault") && !((without >> fault++) & 1))
            at += (size_t)snprintf(c->fewest + at, sizeof(c->fewest) - at, "%s%s", at ? " " : "",
                                   c->fault->words.word[i + 1]);
}

/* ---- all of them --------------------------------------------------------- */

static void keep_picture(const struct matrix_run *r, struct test_case *c)
{
    char path[PATH_MAX], name[256];
    struct error e = {0};
    uint32_t width, height;
    uint8_t *rgba;

    if (!counts(c) || !r->files->pictures || access(c->png, R_OK))
        return;
    snprintf(name, sizeof(name), "%.250s", c->name);
    for (char *s = name; *s; s++)
        *s = *s == '/' || *s == '#' ? '-' : *s;
    snprintf(path, sizeof(path), "%s/%s.png", r->files->pictures, name);
    if (png_file_read(c->png, &rgba, &width, &height, &e)) {
        utf8_print(stderr, "aerogpu lose: %s\n", e.text);
        return;
    }
    if (png_file_result(path, rgba, width, height, 4 * (size_t)width, &e))
        utf8_print(stderr, "aerogpu lose: %s\n", e.text);
    else
        utf8_print(r->say, "    picture: %s\n", path);
    free(rgba);
}

static void finish_case(const struct matrix_run *r, struct test_case *c)
{
    struct strbuf command = {0};

    judge_case(c);
    if (*r->stop && (c->outcome == BROKEN || !strcmp(c->verdict, INTERRUPTED))) {
        c->outcome = PENDING; /* it did not come to its end */
        snprintf(c->verdict, sizeof(c->verdict), INTERRUPTED);
        return;
    }
    shrink(r, c);
    utf8_print(r->say, "%-7s %s: %s (%.1f s)%s%s\n", word_of(c), c->name, c->verdict,
               (double)(c->end_ns - c->start_ns) / 1e9, c->known ? ": " : "", c->known ? c->known->text : "");
    if (counts(c)) {
        utf8_print(r->say, "    %s\n", last_line(c));
        put_command(&command, c);
        fprintf(r->say, "    repeat: %s\n", strbuf_str(&command));
        strbuf_finish(&command);
        if (c->fewest[0])
            fprintf(r->say, "    fewest faults: %s\n", c->fewest);
    }
    keep_picture(r, c);
    fflush(r->say);
}

static void run_cases(struct matrix_run *r)
{
    size_t next = 0, running = 0, done = 0;

    while (done < r->num && (!*r->stop || running)) {
        while (running < r->jobs && next < r->num && !*r->stop) {
            start_case(r, &r->cases[next++], 0);
            running++;
        }
        for (size_t i = 0; i < next; i++)
            if (r->cases[i].outcome == RUNS && poll_case(r, &r->cases[i])) {
                finish_case(r, &r->cases[i]);
                running--;
                done++;
            }
        nanosleep(&(struct timespec){0, 5 * NSEC_PER_MSEC}, NULL);
    }
}

/* ---- reports ------------------------------------------------------------- */

static int write_junit(FILE *out, const struct matrix_run *r)
{
    static const char *const outcomes[] = {[PENDING] = "skipped", [RUNS] = "skipped", [FAILED] = "failure",
                                           [FIXED] = "failure",   [BROKEN] = "error", [KNOWN] = "skipped"};
    struct junit_suite suite = {.name = "aerogpu lose", .tests = r->num};
    struct strbuf o = {0}, says = {0};
    bool failed;

    for (size_t i = 0; i < r->num; i++) {
        suite.failures += r->cases[i].outcome == FAILED || r->cases[i].outcome == FIXED;
        suite.errors += r->cases[i].outcome == BROKEN;
        suite.skipped += r->cases[i].outcome == KNOWN || r->cases[i].outcome <= RUNS;
    }
    junit_begin(&o, &suite);
    for (size_t i = 0; i < r->num; i++) {
        const struct test_case *c = &r->cases[i];

        strbuf_clear(&says);
        put_command(&says, c);
        strbuf_printf(&says, "\n%s", c->says);
        junit_case(&o,
                   &(struct junit_case){.classname = c->program->name,
                                        .name = c->name + strlen(c->program->name) + 1,
                                        .seconds = (double)(c->end_ns - c->start_ns) / 1e9,
                                        .outcome = c->outcome <= BROKEN ? outcomes[c->outcome] : NULL,
                                        .message = c->outcome <= RUNS    ? c->verdict
                                                   : c->outcome == KNOWN ? c->known->text
                                                   : c->outcome == FIXED ? "it passes: take it out of [known]"
                                                                         : last_line(c),
                                        .output = strbuf_str(&says)});
    }
    junit_end(&o);
    fputs(strbuf_str(&o), out);
    failed = strbuf_failed(&o) || strbuf_failed(&says);
    strbuf_finish(&says);
    strbuf_finish(&o);
    return failed ? -ENOMEM : 0;
}

static int write_json(FILE *out, const struct matrix_run *r)
{
    struct json_writer w = json_writer(out);

    json_write_object(&w, NULL);
    json_write_array(&w, "cases");
    for (size_t i = 0; i < r->num; i++) {
        const struct test_case *c = &r->cases[i];

        json_write_object(&w, NULL);
        json_write_string(&w, "name", c->name);
        json_write_string(&w, "verdict", c->verdict);
        json_write_bool(&w, "ok", c->outcome == PASSED || c->outcome == KNOWN);
        json_write_bool(&w, "known", c->known != NULL);
        json_write_real(&w, "seconds", (double)(c->end_ns - c->start_ns) / 1e9);
        json_write_array(&w, "command");
        for (char *const *word = c->words; *word; word++)
            if (strncmp(*word, "--json=", 7) != 0)
                json_write_string(&w, NULL, *word);
        json_write_end(&w);
        json_write_string(&w, "fewest_faults", c->fewest[0] ? c->fewest : NULL);
        json_write_string(&w, "says", c->says);
        json_write_end(&w);
    }
    json_write_end(&w);
    json_write_end(&w);
    fputc('\n', out);
    return 0;
}

/* https://docs.oasis-open.org/sarif/sarif/v2.1.0: a rule for each fault, a result for each case that failed, where the matrix
 * names its program. */
static int write_sarif(FILE *out, const struct matrix_run *r)
{
    struct json_writer w = json_writer(out);

    json_write_object(&w, NULL);
    json_write_string(&w, "$schema", "https://json.schemastore.org/sarif-2.1.0.json");
    json_write_string(&w, "version", "2.1.0");
    json_write_array(&w, "runs");
    json_write_object(&w, NULL);
    json_write_object(&w, "tool");
    json_write_object(&w, "driver");
    json_write_string(&w, "name", "aerogpu lose");
    json_write_array(&w, "rules");
    for (size_t i = 0; i < r->m.faults.num; i++) {
        json_write_object(&w, NULL);
        json_write_string(&w, "id", r->m.faults.item[i].name);
        json_write_end(&w);
    }
    json_write_end(&w);
    json_write_end(&w);
    json_write_end(&w);
    json_write_array(&w, "results");
    for (size_t i = 0; i < r->num; i++) {
        const struct test_case *c = &r->cases[i];

        if (!counts(c))
            continue;
        json_write_object(&w, NULL);
        json_write_string(&w, "ruleId", c->fault->name);
        json_write_string(&w, "level", "error");
        json_write_object(&w, "message");
        json_write_format(&w, "text", "%.300s: %s", c->name, last_line(c));
        json_write_end(&w);
        json_write_array(&w, "locations");
        json_write_object(&w, NULL);
        json_write_object(&w, "physicalLocation");
        json_write_object(&w, "artifactLocation");
        json_write_string(&w, "uri", r->files->matrix);
        json_write_end(&w);
        json_write_object(&w, "region");
        json_write_unsigned(&w, "startLine", c->program->line);
        for (int k = 0; k < 5; k++)
            json_write_end(&w);
    }
    for (int k = 0; k < 4; k++)
        json_write_end(&w);
    fputc('\n', out);
    return 0;
}

static int report(const struct matrix_run *r, const char *path, FILE *otherwise,
                  int (*write_report)(FILE *out, const struct matrix_run *r), struct error *e)
{
    FILE *out = path ? out_file_result(path, e) : otherwise;
    int code;

    if (!out)
        return path ? e->code : 0;
    code = write_report(out, r);
    return path ? out_file_close(out, path, code, e) : code ? error_set(e, code, "no memory") : 0;
}

/* ---- from the file to the exit code ---------------------------------------- */

static int prepare(struct matrix_run *r, struct error *e)
{
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    int code = program_self(r->self, sizeof(r->self), e);

    if (code)
        return code;
    snprintf(r->folder, sizeof(r->folder), "/tmp/aerogpu-matrix-XXXXXX");
    code = mkdtemp(r->folder) ? make_cases(r) : -errno;
    r->jobs = r->files->jobs   ? r->files->jobs
              : r->m.jobs      ? r->m.jobs
              : processors > 0 ? (uint32_t)processors
                               : 1;
    if (!code && r->files->pictures)
        code = out_file_result_folder(r->files->pictures, e);
    return code ? error_set(e, code, "cannot prepare the matrix: %s", strerror(-code)) : 0;
}

static void clean_up(struct matrix_run *r)
{
    for (size_t i = 0; i < r->num; i++) {
        unlink(r->cases[i].json + strlen("--json="));
        unlink(r->cases[i].log);
        unlink(r->cases[i].png);
        free(r->cases[i].name);
        forget_drawn(&r->cases[i]);
    }
    free(r->cases);
    rmdir(r->folder);
    matrix_finish(&r->m);
}

static int sum_up(const struct matrix_run *r)
{
    unsigned n[BROKEN + 1] = {0}, bad;

    for (size_t i = 0; i < r->num; i++)
        n[r->cases[i].outcome]++;
    bad = n[FAILED] + n[FIXED] + n[BROKEN];
    fprintf(r->say, "%zu cases: %u ok, %u failed, %u known, %u fixed, %u could not be tried", r->num,
            n[PASSED], n[FAILED], n[KNOWN], n[FIXED], n[BROKEN]);
    if (n[PENDING])
        fprintf(r->say, ", %u interrupted", n[PENDING]);
    fputc('\n', r->say);
    return bad ? EXIT_FAILED : EXIT_OK;
}

static void enter_quietly(void *ctx)
{
    int null = open("/dev/null", O_WRONLY | O_CLOEXEC);

    dup2(null, STDOUT_FILENO);
}

/* The options of each fault are read, by who will have to: what is wrong with one it says itself. */
static int check_options(const struct matrix_run *r, const char *path, struct error *e)
{
    static char lose[] = "lose", answers[] = "--answers";

    for (size_t i = 0; i < r->m.faults.num; i++) {
        const struct matrix_entry *f = &r->m.faults.item[i];
        char *words[WORDS] = {(char *)(uintptr_t)r->self, lose,
                              answers}; /* and nothing that does not go with it */
        int status = -1;
        size_t n = 3;
        pid_t pid;
        bool bad = false;

        for (size_t k = 0; k < f->words.num && n < WORDS - 1; k++) {
            bad |= !strcmp(f->words.word[k], "--");
            words[n++] = f->words.word[k];
        }
        pid = bad ? -1 : program_start(words, enter_quietly, NULL);
        if (pid < 0 || waitpid(pid, &status, 0) < 0 || status)
            return error_set(e, -EINVAL, "%s: line %u: the options of fault %s are none of a case", path,
                             f->line, f->name);
    }
    return 0;
}

int lose_matrix_run(const struct lose_matrix_files *files, const volatile int *stop)
{
    struct matrix_run r = {.files = files, .stop = stop, .say = files->json_out ? stderr : stdout};
    struct error e = {0};
    int code = matrix_read(&r.m, files->matrix, &e), result = EXIT_INPUT;

    if (!code) {
        result = EXIT_ENV;
        code = prepare(&r, &e);
    }
    if (!code && (code = check_options(&r, files->matrix, &e)))
        result = EXIT_INPUT;
    if (!code) {
        run_cases(&r);
        result = sum_up(&r);
        result = *stop ? 128 + *stop : result;
        code = report(&r, files->junit, NULL, write_junit, &e);
        if (!code)
            code = report(&r, files->sarif, NULL, write_sarif, &e);
        if (!code)
            code = report(&r, files->json, files->json_out ? stdout : NULL, write_json, &e);
        result = code ? EXIT_ENV : result;
    }
    if (code)
        utf8_print(stderr, "aerogpu lose: %s\n", e.text);
    clean_up(&r);
    return result;
}
