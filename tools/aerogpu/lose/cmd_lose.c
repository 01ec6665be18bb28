/* SPDX-License-Identifier: MIT */
/* aerogpu lose: does a program survive the loss of its GPU? */
#include "commands.h"

#include <errno.h>
#include <fnmatch.h>
#include <inttypes.h>
#include <getopt.h>
#include <libgen.h>
#include <limits.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include <jansson.h>

#include "base/clock.h"
#include "base/file/out.h"
#include "base/program.h"
#include "base/rng.h"
#include "base/utf8.h"
#include "lose/gl_table.h"
#include "report/json_show.h"
#include "lose_parts.h"

struct command_line {
    struct lose_params run;
    struct lose_fault faults[LOSE_FAULTS];
    const char *fault_texts[LOSE_FAULTS];
    struct lose_show show;
    struct lose_matrix_files matrix;
    bool json, answers;
    const char *json_file;
    unsigned expect; /* by number, of LOSE_EXPECTATIONS */
    unsigned reset;  /* by number of the choice */
    struct lose_random random;
};

enum { END = 1 };         /* of LOSE_EXPECTATIONS */
enum { GUILTY = 0x8253 }; /* GL_GUILTY_CONTEXT_RESET; innocent and unknown follow */
enum { RETRIES = 10 };    /* calls of a lost device that nobody need be told of */

static volatile int stopped;

static void on_signal(int sig)
{
    stopped = sig;
}

/* ---- what is printed ----------------------------------------------------- */

static void on_event(void *ctx, uint64_t ns, uint64_t since_loss_ns, const char *text)
{
    if (since_loss_ns)
        utf8_print(stderr, "  +%8.1f ms  %s\n", (double)since_loss_ns / 1e6, text);
    else
        utf8_print(stderr, "%10.3f s   %s\n", (double)ns / 1e9, text);
}

static bool given(const struct lose_result *r)
{
    for (uint32_t i = 0; i < LOSE_FAULTS; i++)
        if (r->given[i])
            return true;
    return false;
}

static void explain_not_reached(const struct command_line *o, const struct lose_result *r)
{
    const char *ended = r->exited ? " before it ended" : "";

    if (r->deaf_pid && !r->num_losses) {
        fprintf(
            stderr,
            "process %d makes Direct3D of OpenGL or Vulkan, and nothing that could tell it of a loss is in it, so that nothing was lost: a program of 32 bits, a service, or Wine by its path has started it, or it is of Direct3D 8 or DirectDraw; what tells programs of Direct3D 9 to 12 comes with: aerogpu lose ... -- wine PROGRAM.exe\n",
            (int)r->deaf_pid);
        return;
    }
    for (uint32_t i = 0; i < o->run.num_faults; i++)
        if (!r->given[i]) {
            utf8_print(stderr, "the program did not come to %s%s\n", o->fault_texts[i], ended);
            return;
        }
    utf8_print(stderr, "the device was not lost: the program did not come to %s %u%s%s\n",
               o->run.at_frame ? "frame" : "submission", o->run.at_frame ? o->run.at_frame : o->run.at_submit,
               ended, o->run.at_frame ? "; one that shows nothing needs --at-submit" : "");
}

static void explain_blindness(const struct lose_result *r)
{
    int pid = (int)r->blind_pid;
    char code[48] = "";

    if (r->exited && r->code)
        snprintf(code, sizeof(code), ", and ended with exit code %d", r->code);
    switch (r->blind) {
    case TREE_NO_VARIABLE:
        fprintf(
            stderr,
            "process %d uses Vulkan or OpenGL without the layer: its environment was cleared. It needs VK_INSTANCE_LAYERS, VK_ADD_LAYER_PATH and AEROGPU_LOSE as they are set for the program, and for OpenGL LD_LIBRARY_PATH, __EGL_VENDOR_LIBRARY_FILENAMES and __GLX_VENDOR_LIBRARY_NAME\n",
            pid);
        break;
    case TREE_REPLACED:
        utf8_print(
            stderr,
            "process %d uses Vulkan or OpenGL without the layer: what started it has changed %s, which keeps the layer out; set that for `aerogpu lose` itself instead, which adds to it\n",
            pid, r->blind_replaced);
        break;
    case TREE_NO_LAYER:
        fprintf(
            stderr,
            "process %d uses Vulkan or OpenGL, and the loader did not load the layer there: it has privileges of its own (setuid, capabilities), for which the loader reads no environment, or sees another file system, or has changed its environment itself\n",
            pid);
        break;
    case TREE_NO_RECORD:
        fprintf(
            stderr,
            "process %d has the layer, which cannot report: the record is out of its reach (somebody closed the descriptor of it that it inherits, and it is in namespaces of its own, or may open no socket), or it has made no instance yet\n",
            pid);
        break;
    default:
        utf8_print(
            stderr, "the program made no Vulkan device and no context of OpenGL%s%s\n",
            r->exited ? code : " in time; --reach gives it more",
            getenv("DISPLAY") || getenv("WAYLAND_DISPLAY")
                ? ""
                : "; DISPLAY is not set: --screen 640x480 (in a matrix, screen = \"640x480\") gives it a screen");
    }
}

static void explain_leaks(const struct lose_result *r)
{
    const struct lose_growth *g = &r->growth;
    enum lose_api api = r->losses[0].api;
    const struct {
        uint64_t n;
        const char *what;
    } kinds[] = {{g->devices, api == LOSE_EGL || api == LOSE_GLX ? "lost contexts that are not destroyed"
                                                                 : "lost devices that are not destroyed"},
                 {g->fds, "descriptors"},
                 {g->processes, "processes"},
                 {g->threads, "threads"},
                 {g->bytes >> 10, "KiB of memory"}};
    const char *between = "it works, and keeps more with every loss: ";

    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
        if (kinds[i].n) {
            utf8_print(stderr, "%s%" PRIu64 " %s", between, kinds[i].n, kinds[i].what);
            between = ", ";
        }
    fprintf(stderr, " over %u losses\n", r->num_losses);
}

static void explain_ignorance(const struct lose_loss *l)
{
    if (l && l->deaf && !l->reported)
        fputs(
            "it goes on with the context that is lost, and shows nothing new: nothing tells it of that, for it did not ask to be told (GL_LOSE_CONTEXT_ON_RESET)\n",
            stderr);
    else if (l && l->api)
        fprintf(stderr, "it goes on with the %s that is lost; calls that told it so: %" PRIu64 "\n",
                lose_api_noun(l->api), l->reported);
    else
        fprintf(stderr,
                "it goes on with the device that is lost: %" PRIu64 " calls answered VK_ERROR_DEVICE_LOST\n",
                l ? l->reported : 0);
}

static const char *what_it_calls(const struct command_line *o, const struct lose_loss *l)
{
    static const char *const of[LOSE_APIS] = {"Vulkan",   "OpenGL",   "OpenGL", "Direct3D",
                                              "Direct3D", "Direct3D", "DRM"};
    char first = o->run.num_faults ? *o->faults[0].gl : 0;

    return of[l ? l->api : first == 'D' ? LOSE_DRM : first ? LOSE_EGL : LOSE_VULKAN];
}

static void print_stacks(const struct strbuf *stacks)
{
    struct strbuf text = {0};

    utf8_visible(&text, strbuf_str(stacks), stacks->len, true);
    fprintf(stderr, "    where its threads were:\n%s", strbuf_str(&text));
    strbuf_finish(&text);
}

static void print_words(const struct strbuf *words)
{
    struct strbuf text = {0};

    utf8_visible(&text, strbuf_str(words), words->len, true);
    fprintf(stderr, "    what the validation layer said while it was lost:\n");
    for (const char *line = strbuf_str(&text); *line; line += strcspn(line, "\n") + 1)
        fprintf(stderr, "      %.*s\n", (int)strcspn(line, "\n"), line);
    if (strstr(strbuf_str(words), " in use"))
        fputs(
            "    (what a lost device had to run is over: to destroy what the layer has for in use is no misuse)\n",
            stderr);
    strbuf_finish(&text);
}

static void explain_survival(const struct command_line *o, const struct lose_result *r,
                             const struct lose_loss *l, uint64_t work)
{
    if (l)
        fprintf(stderr, "it works on a new %s, %.1f ms after the loss", lose_api_noun(l->api),
                (double)l->work_ns / 1e6);
    else if (r->without)
        fputs("it goes on without a device", stderr);
    else if (r->own_pace || r->idle)
        fputs("it goes on", stderr);
    else
        fprintf(stderr, "it went on: %" PRIu64 " frames or submissions since the last fault", r->fault_work);
    if (r->own_pace || r->idle)
        utf8_print(stderr,
                   ", and %s: it has done %" PRIu64 " frames or submissions since, %" PRIu64
                   " in %.1f s before the %s",
                   r->idle ? "waits for events" : "keeps its pace, or half of it", r->new_work, r->old_work,
                   (double)r->old_ns / 1e9, l ? "loss" : "fault");
    if (l && l->reported > RETRIES && l->reported > r->new_work)
        fprintf(stderr,
                "; the lost %s was called %" PRIu64 " times since, where the new one did %" PRIu64
                " frames or submissions",
                lose_api_noun(l->api), l->reported, r->new_work);
    if (r->exited && work < o->run.proof)
        fprintf(stderr,
                "; it ended by itself, with exit code 0, after %" PRIu64 " of %u frames or submissions", work,
                o->run.proof);
    fputc('\n', stderr);
}

static void explain_end(const struct lose_result *r, const struct lose_loss *l)
{
    char code[32];

    snprintf(code, sizeof(code), "it ended with exit code %d", r->code);
    utf8_print(stderr, "%s%s%s%s\n", r->exited ? code : "its process ended by itself",
               !l             ? ""
               : l->device_ns ? ", with a new "
                              : " and made no new ",
               l ? lose_api_noun(l->api) : "", l && l->device_ns ? " that it did not use for long" : "");
}

static void explain(const struct command_line *o, const struct lose_result *r)
{
    const struct lose_loss *l = r->num_losses ? &r->losses[r->num_losses - 1] : NULL;
    uint64_t work = l ? r->new_work : r->fault_work;

    utf8_print(stderr, "%s: ", lose_verdict_name(r->verdict));
    switch (r->verdict) {
    case LOSE_SURVIVED:
        explain_survival(o, r, l, work);
        break;
    case LOSE_WRONG_PICTURE:
        if (o->show.stands)
            fputs("it shows a picture of before the loss: what moves without it stands still\n", stderr);
        else
            fprintf(stderr,
                    "%.1f %% of what it shows is not as without it, where %.1f %% would be as it moves\n",
                    100 * o->show.differs, 100 * o->show.moves);
        break;
    case LOSE_LEAKS:
        explain_leaks(r);
        break;
    case LOSE_ENDED:
        explain_end(r, l);
        break;
    case LOSE_DIED:
        if (r->code)
            utf8_print(stderr, "signal %d (%s) ended it%s\n", r->code, strsignal(r->code),
                       r->num_losses || given(r) ? ""
                       : o->run.times            ? ", before the loss"
                                                 : ", before the fault was due");
        else
            fputs("its process is gone without having ended by itself: a signal, or _exit()\n", stderr);
        break;
    case LOSE_IGNORES:
        if (r->busy)
            fputs("it goes on, and submits, shows and waits for nothing any more\n", stderr);
        else
            explain_ignorance(l);
        break;
    case LOSE_HANGS:
        utf8_print(stderr, "it %s\n",
                   !l || l->reported
                       ? l ? "had the loss reported, and does nothing any more" : "does nothing any more"
                       : "does nothing any more, and has called nothing that could have reported the loss");
        break;
    case LOSE_STALLS:
        fprintf(stderr, "it goes on calling %s, and has done %" PRIu64 " of %u frames or submissions %s\n",
                what_it_calls(o, l), work, o->run.proof,
                !l             ? "since the last fault"
                : l->device_ns ? "on one new device"
                               : "on a new device, of which it has none");
        break;
    case LOSE_NOT_REACHED:
        explain_not_reached(o, r);
        break;
    default:
        explain_blindness(r);
    }
}

static json_t *milliseconds(uint64_t ns)
{
    return ns ? json_real((double)ns / 1e6) : json_null();
}

static json_t *loss_json(const struct lose_loss *l)
{
    static const char *const apis[] = {"vulkan", "egl", "glx", "d3d9", "d3d11", "d3d12", "drm"};

    return json_pack("{s:s, s:b, s:I, s:I, s:o, s:s?, s:I, s:o, s:o, s:o, s:o}", "api", apis[l->api], "told",
                     !l->deaf, "frames", (json_int_t)l->frames, "submissions", (json_int_t)l->submits,
                     "at_ms", milliseconds(l->at_ns), "reported_by", l->call ? lose_call_name(l->call) : NULL,
                     "reported", (json_int_t)l->reported, "reported_ms", milliseconds(l->reported_ns),
                     "destroyed_ms", milliseconds(l->destroyed_ns), "new_device_ms",
                     milliseconds(l->device_ns), "work_ms", milliseconds(l->work_ns));
}

static json_t *words_json(const struct lose_result *r)
{
    json_t *words = json_array();
    const char *line = strbuf_str(&r->words);

    for (size_t n; *line; line += n + 1) {
        n = strcspn(line, "\n");
        json_array_append_new(words, json_stringn(line, n));
    }
    return words;
}

static json_t *faults_json(const struct command_line *o, const struct lose_result *r)
{
    json_t *faults = json_array();

    for (uint32_t i = 0; i < o->run.num_faults; i++)
        json_array_append_new(
            faults, json_pack("{s:s, s:I}", "fault", o->fault_texts[i], "given", (json_int_t)r->given[i]));
    return faults;
}

static int print_json(const struct command_line *o, const struct lose_result *r, const char *verdict, bool ok,
                      struct error *e)
{
    FILE *out = o->json_file ? out_file_result(o->json_file, e) : stdout;
    json_t *losses, *j;
    int code = 0;

    if (!out)
        return e->code;
    losses = json_array();
    for (uint32_t i = 0; i < r->num_losses; i++)
        json_array_append_new(losses, loss_json(&r->losses[i]));
    j = json_pack("{s:s, s:b, s:s, s:i, s:o?, s:o?, s:i, s:i, s:o, s:o, s:o, s:o}", "verdict", verdict, "ok",
                  (int)ok, "at", o->run.at_frame ? "frame" : "submission", "n",
                  (int)(o->run.at_frame ? o->run.at_frame : o->run.at_submit), "exit_code",
                  r->exited ? json_integer(r->code) : json_null(), "signal",
                  r->signalled ? json_integer(r->code) : json_null(), "devices", (int)r->devices, "refused",
                  (int)r->refused, "losses", losses, "faults", faults_json(o, r), "validation",
                  o->run.validation ? words_json(r) : json_null(), "stacks",
                  r->stacks.len ? json_string(strbuf_str(&r->stacks)) : json_null());
    errno = 0;
    if (json_show(j, out, JSON_INDENT(2) | JSON_REAL_PRECISION(6)) || fputc('\n', out) == EOF)
        code = error_set(e, -EIO, "%s: %s", o->json_file ? o->json_file : "standard output",
                         errno ? strerror(errno) : "the JSON cannot be written");
    json_decref(j);
    return out == stdout ? code : out_file_close(out, o->json_file, code, e);
}

/* ---- the command line ---------------------------------------------------- */

static int add_fault(void *ctx, const struct options_row *row, const char *value, struct error *e)
{
    struct command_line *c = ctx;

    if (c->run.num_faults == LOSE_FAULTS)
        return error_set(e, -EINVAL, "--fault: %d faults are the most", LOSE_FAULTS);
    c->fault_texts[c->run.num_faults] = value;
    if (lose_fault_parse(value, &c->faults[c->run.num_faults], e)) {
        error_prefix(e, "--fault");
        return -EINVAL;
    }
    c->run.num_faults++;
    return 0;
}

static void print_gl_answers(void)
{
    for (unsigned i = 0; i < lose_num_gl_names; i++)
        for (const struct lose_gl_answer *a = lose_gl_answers; a->call; a++)
            if (!fnmatch(a->call, lose_gl_names[i], 0))
                printf("%s@%s\n", a->word, lose_gl_names[i]);
    for (unsigned i = 0; i < lose_num_drm_names; i++)
        for (const struct lose_gl_answer *a = lose_gl_answers; a->call; a++)
            if (!fnmatch(a->call, lose_drm_names[i], 0))
                printf("%s@%s\n", a->word, lose_drm_names[i]);
}

static void print_answers(void)
{
    for (uint32_t call = 1; call < LOSE_NUM_CALLS; call++) {
        for (const int32_t *m = lose_calls[call].may; *m; m++)
            for (unsigned i = 0; i < lose_num_results; i++)
                if (lose_results[i].value == *m)
                    printf("%s@%s\n", lose_results[i].word, lose_calls[call].name);
    }
}

static bool on_poll(void *ctx, uint64_t work, const struct lose_result *over);

static struct command_line asked = {.run = {.at_frame = 60,
                                            .times = 1,
                                            .proof = 30,
                                            .reach_ns = 60 * NSEC_PER_SEC,
                                            .timeout_ns = 10 * NSEC_PER_SEC,
                                            .on_event = on_event,
                                            .on_poll = on_poll,
                                            .ctx = &asked,
                                            .stop = &stopped},
                                    .show = {.percent = 2},
                                    .random = {.seed = 1}};

static struct options_row rows[] = {
    OPT_GROUP("when"),
    OPT_U32(
        "at-frame", 0, &asked.run.at_frame, 1, UINT32_MAX, "N",
        "the Nth frame (`vkQueuePresentKHR`, `eglSwapBuffers`, `glXSwapBuffers`) of a device or context is not shown any more; 60"),
    OPT_U32(
        "at-submit", 0, &asked.run.at_submit, 1, UINT32_MAX, "N",
        "the Nth submission of a device (of a context of OpenGL: draw, clear, dispatch or blit) is not run any more: for programs that show nothing, and to hit any place"),
    OPT_U64("seed", 0, &asked.random.seed, 0, UINT64_MAX, "S",
            "draw N by this seed, from 1 to the N given. The same seed hits the same place"),
    OPT_U32(
        "random", 0, &asked.random.num, 1, LOSE_FAULTS, "N",
        "besides, N faults that the seed draws (1 if not given) among all answers of all commands that the program calls, which it tells when it runs once undisturbed; each is said as the --fault that repeats it"),
    OPT_U32("times", 0, &asked.run.times, 1, LOSE_DEVICES - 1, "N",
            "so many losses, each on a device made after the one before; 1 to 255, 1 if not given"),
    OPT_CALL(
        "fault", 0, add_fault, &asked, "ANSWER@COMMAND:N",
        "the Nth call of a command of Vulkan answers so, as in `oom@vkAllocateMemory:3`; may be given several times. See FAULTS in the man page"),
    OPT_GROUP("how"),
    OPT_TIME(
        "hang", 0, &asked.run.hang_ns, NSEC_PER_MSEC, MAX_HANG_MS, "MS",
        "the device hangs first: submissions are accepted and never complete, what waits for them waits, and after so many milliseconds the device is reset and lost, as by the operating system"),
    OPT_TIME(
        "refuse", 0, &asked.run.refuse_ns, NSEC_PER_MSEC, MAX_HANG_MS, "MS",
        "for so long after a loss `vkCreateDevice` answers `VK_ERROR_INITIALIZATION_FAILED`, as while a driver starts again"),
    OPT_CHOICE(
        "reset", 0, &asked.reset, "by-context|guilty|innocent|unknown",
        "what glGetGraphicsResetStatus says of a loss: that all contexts are guilty, innocent, or that it is not known; if not given, the lost one is guilty, and the other ones of its process are innocent"),
    OPT_GROUP("what counts as surviving"),
    OPT_U32("proof", 0, &asked.run.proof, 1, UINT32_MAX, "N",
            "so many frames on a new device, or submissions if the lost one showed no frames; 30"),
    OPT_TIME("timeout", 0, &asked.run.timeout_ns, NSEC_PER_SEC, 86400, "SECONDS",
             "from the loss to that; 10"),
    OPT_TIME("reach", 0, &asked.run.reach_ns, NSEC_PER_SEC, 86400, "SECONDS", "to come to a loss; 60"),
    OPT_CHOICE(
        "expect", 0, &asked.expect, LOSE_EXPECTATIONS,
        "with `end` it is enough that the program ends by itself, with any exit code, but by no signal; the words after it are the other verdicts, for what a program is known to do"),
    OPT_FLAG(
        "keep", 0, &asked.run.keep,
        "let the program go on when it has survived. Else it is ended, with SIGTERM and three seconds later with SIGKILL"),
    OPT_FLAG(
        "validation", 0, &asked.run.validation,
        "load Vulkan's validation layer, too, and tell what it says of the program when a device of it was lost. It takes time, and may itself wait for work that never ends: the verdict that counts is the one without"),
    OPT_GROUP("its picture"),
    OPT_TEXT("screen", 0, &asked.show.size, "WIDTHxHEIGHT",
             "the program has an X server of its own, of this size; Xvfb has to be installed"),
    OPT_TEXT("picture", 0, &asked.show.file, "FILE.png", "what it shows at the end; needs --screen"),
    OPT_FLAG(
        "same-picture", 0, &asked.show.compares,
        "it has to show after the loss what it shows without: it is run twice, undisturbed first; needs --screen"),
    OPT_U32("differ", 0, &asked.show.percent, 0, 100, "PERCENT",
            "so much of the picture may differ, besides what moves without a loss; 2"),
    OPT_GROUP("many of them"),
    OPT_TEXT(
        "matrix", 0, &asked.matrix.matrix, "FILE.toml",
        "run all programs with all faults of this file. See MATRIX in the man page; the options that follow are for it, and --json"),
    OPT_TEXT("junit", 0, &asked.matrix.junit, "FILE.xml", "the results for a CI system"),
    OPT_TEXT("sarif", 0, &asked.matrix.sarif, "FILE.sarif", "what failed, for a code host"),
    OPT_TEXT("pictures", 0, &asked.matrix.pictures, "FOLDER", "a picture of each case that failed"),
    OPT_U32("jobs", 'j', &asked.matrix.jobs, 1, 1024, "N",
            "so many cases at a time; as the file says, or as there are processors"),
    OPT_GROUP("what is said"),
    OPT_MAYBE(
        "json", 0, &asked.json, &asked.json_file, "FILE",
        "one JSON object into the file, or on standard output: the program's own output goes to standard error then, as what happens does either way"),
    OPT_FLAG("answers", 0, &asked.answers, "print every fault that there is, and do nothing else"),
    OPT_END};

static struct options table = {
    .rows = rows,
    .operands = "-- PROGRAM [ARGUMENT...]",
    .min = 0,
    .max = -1,
    .wrong = "no program is given",
    .stops = true,
    .about =
        "A GPU that hangs is reset, and every program that used it hears that its device is lost. Few programs were ever tried in that case. This brings it about: a Vulkan layer in the program's processes lets its device work until the chosen frame or submission. From there on, each call that may answer `VK_ERROR_DEVICE_LOST` does; everything else works, so that the program can destroy what it has and start again. The driver and the GPU are the machine's own, and come to no harm.\n\n"
        "OpenGL and OpenGL ES, with EGL or GLX, lose their context in the same way: by a vendor library between GLVND and the driver. Contexts that asked for it (robustness, `LOSE_CONTEXT_ON_RESET`) hear it from `glGetGraphicsResetStatus`, EGL's all hear `EGL_CONTEXT_LOST` when they show a frame or are made current.\n\n"
        "The program may use Vulkan and OpenGL themselves, or anything that is built on them: Direct3D 12 with libvkd3d, also under Wine; DXVK; ANGLE. Where OpenGL is drawn with Vulkan (Zink), it is the Vulkan device that is lost. All of its processes count: a program that starts a new process with a new device has survived.",
    .exits = {"it survived, or ended where that is expected",
              "it did not, or never came to the loss", [EXIT_INPUT] = "the matrix is bad",
              [EXIT_ENV] = "the program cannot be run, or makes no Vulkan device and no context of OpenGL"},
    .examples =
        "aerogpu lose -- vkcube\n"
        "aerogpu lose --fault oom@vkAllocateMemory:3 --expect end -- ./game\n"
        "aerogpu lose --random 3 --seed 7 --expect end -- ./game\n"
        "aerogpu lose --at-submit 100 --hang 2000 --json -- ./my-renderer --headless\n"
        "for s in $(seq 20); do aerogpu lose --seed $s --at-submit 500 -- ./my-renderer || break; done\n",
    .see = "aerogpu(1), aerogpu-validate(1)"};

static int wrong_usage(const char *text)
{
    utf8_print(stderr, "aerogpu lose: %s; `aerogpu lose --help` says more\n", text);
    return EXIT_USAGE;
}

/* By the seed: each fault by itself, so that one that is left out changes no other. */
static void draw_places(struct command_line *c)
{
    struct rng rng = {c->random.seed};
    uint32_t *at = c->run.at_frame ? &c->run.at_frame : &c->run.at_submit;

    if (c->run.times)
        *at = 1 + (uint32_t)rng_below(&rng, *at);
    for (uint32_t i = 0; i < c->run.num_faults; i++) {
        rng = (struct rng){c->random.seed};
        for (const char *s = c->fault_texts[i]; *s; s++)
            rng.state = (rng.state ^ (unsigned char)*s) * 0x100000001b3; /* FNV-1a's prime */
        c->faults[i].at = 1 + (uint32_t)rng_below(&rng, c->faults[i].at);
    }
}

/* An option that is of one program, and is given beside a matrix, whose faults have it; or NULL. */
static const char *is_for_program(void)
{
    static const char *const fits[] = {"matrix", "junit", "sarif", "pictures", "jobs", "json"};

    for (const struct options_row *row = rows; row->kind != OPTIONS_END; row++) {
        bool fit = !row->given;

        for (size_t i = 0; !fit && i < sizeof(fits) / sizeof(fits[0]); i++)
            fit = !strcmp(row->name, fits[i]);
        if (!fit)
            return row->name;
    }
    return NULL;
}

static bool is_for_matrix(const struct command_line *c)
{
    return c->matrix.junit || c->matrix.sarif || c->matrix.pictures || c->matrix.jobs;
}

/* Whether what is made can be, before the program is run. */
static int check_files(const struct command_line *c, struct error *e)
{
    const char *const files[] = {c->json_file, c->show.file, c->matrix.junit, c->matrix.sarif};
    int r = 0;

    for (size_t i = 0; !r && i < sizeof(files) / sizeof(files[0]); i++)
        r = files[i] ? out_file_check(files[i], e) : 0;
    return r;
}

/* What the options come to together. */
static int settle(int argc, char **argv)
{
    struct command_line *c = &asked;
    struct lose_params *p = &c->run;
    unsigned frame = options_find(&table, "at-frame")->given,
             submit = options_find(&table, "at-submit")->given, width, height;
    struct error e = {0};

    if (frame && submit)
        return wrong_usage("--at-frame and --at-submit: a device is lost at one place");
    if (c->show.size && screen_size(c->show.size, &width, &height, &e)) {
        error_prefix(&e, "--screen");
        return wrong_usage(e.text);
    }
    if (c->answers) {
        if (c->json || c->show.file || is_for_matrix(c) || c->matrix.matrix || optind != argc)
            return wrong_usage("--answers does nothing else");
        print_answers();
        print_gl_answers();
        return -1;
    }
    if (c->matrix.matrix) {
        char text[100];

        c->matrix.json = c->json_file;
        c->matrix.json_out = c->json && !c->json_file;
        if (is_for_program()) {
            snprintf(text, sizeof(text),
                     "--%s is for one program: in a matrix, the options of its faults have it",
                     is_for_program());
            return wrong_usage(text);
        }
        return optind == argc ? 0 : wrong_usage("a matrix names its programs itself");
    }
    if (is_for_matrix(c))
        return wrong_usage("--junit, --sarif, --pictures and --jobs are for --matrix");
    if (!c->show.size && (c->show.file || c->show.compares))
        return wrong_usage("--picture and --same-picture need a --screen");
    if (optind == argc) {
        return wrong_usage(table.wrong);
    }
    if (submit || ((p->num_faults || c->random.num) && !frame))
        p->at_frame = 0;
    if (!submit)
        p->at_submit = 0;
    if (!p->at_frame && !p->at_submit)
        p->times = 0;
    p->faults = c->faults;
    p->reset = c->reset ? GUILTY + c->reset - 1 : 0;
    p->quiet_stdout = c->json && !c->json_file;
    if (options_find(&table, "hang")->given)
        p->how = LOSE_HUNG;
    if (options_find(&table, "seed")->given)
        draw_places(c);
    p->argv = argv + optind;
    return 0;
}

static int parse(int argc, char **argv)
{
    int r = command_line(&table, argc, argv);

    return r ? r : settle(argc, argv);
}

static bool on_poll(void *ctx, uint64_t work, const struct lose_result *over)
{
    struct command_line *o = ctx;

    return !o->show.size || lose_show_poll(&o->show, work, over);
}

static struct lose_params undisturbed(const struct command_line *o)
{
    struct lose_params p = o->run;

    p.proof += p.at_frame ? p.at_frame : p.at_submit;
    p.times = p.at_frame = p.at_submit = p.num_faults = 0;
    p.keep = false;
    p.on_event = NULL;
    return p;
}

/* What the program shows without a loss. */
static int run_undisturbed(struct command_line *o, struct lose_result *result, struct error *e)
{
    struct lose_params p = undisturbed(o);
    int r;

    lose_show_undisturbed(&o->show, true, p.proof / 2 + 1);
    r = lose_run(&p, result, e);
    lose_show_undisturbed(&o->show, false, 0);
    if (!r && (result->verdict != LOSE_SURVIVED || (!o->show.num[0] && !o->show.num[1])))
        r = error_set(e, -EINVAL, "the program shows no %u frames without a loss: %s", p.proof,
                      lose_verdict_name(result->verdict));
    return r;
}

static int run(struct command_line *o, struct lose_result *result, struct error *e)
{
    int r = o->show.size ? lose_show_start(&o->show, e) : 0, closed;

    if (!r && o->show.compares)
        r = run_undisturbed(o, result, e);
    if (!r && o->random.num) {
        struct lose_params p = undisturbed(o);
        p.on_poll = NULL;
        r = lose_random_faults(&p, &o->random, o->faults, o->fault_texts, &o->run.num_faults, result, e);
    }
    if (!r)
        r = lose_run(&o->run, result, e);
    if (!r && o->show.compares && result->verdict == LOSE_SURVIVED && !result->exited &&
        lose_show_is_wrong(&o->show))
        result->verdict = LOSE_WRONG_PICTURE;
    closed = lose_show_finish(&o->show, e);
    return r ? r : closed;
}

static bool is_ok(const struct command_line *o, const struct lose_result *r)
{
    /* Faults that were drawn change what the program calls: it need not come to all of them. */
    if (o->random.num && o->expect <= END && r->verdict == LOSE_NOT_REACHED && given(r))
        return !r->signalled && (!r->exited || o->expect == END);
    return lose_is_expected(o->expect, r->verdict);
}

int cmd_lose(int argc, char **argv)
{
    static struct lose_result result;
    static const int ends[] = {SIGINT, SIGTERM, SIGHUP, SIGPIPE};
    struct sigaction sa = {.sa_handler = on_signal}, was;
    struct error e = {0};
    char manifest[PATH_MAX];
    bool ok;
    int r = parse(argc, argv);

    if (r)
        return r < 0 ? EXIT_OK : r;
    for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) { /* nohup(1) has one ignored */
        sigaction(ends[i], NULL, &was);
        if (was.sa_handler != SIG_IGN || ends[i] == SIGINT)
            sigaction(ends[i], &sa, NULL);
    }
    if (check_files(&asked, &e)) {
        utf8_print(stderr, "aerogpu lose: %s\n", e.text);
        return EXIT_ENV;
    }
    if (asked.matrix.matrix)
        return lose_matrix_run(&asked.matrix, &stopped);
    if (program_find(&(struct program_params){.what = "the Vulkan layer (of a build without a sanitizer)",
                                              .variable = "AEROGPU_LOSE_LAYER",
                                              .built = "src/lose/VkLayer_AEROGPU_lose.json",
                                              .installed = "aerogpu/VkLayer_AEROGPU_lose.json",
                                              .place = PROGRAM_LIB,
                                              .is_data = true},
                     manifest, sizeof(manifest), &e)) {
        utf8_print(stderr, "aerogpu lose: %s\n", e.text);
        return EXIT_ENV;
    }
    asked.run.layers = dirname(manifest);
    r = run(&asked, &result, &e);
    if (r == -EINTR) {
        fprintf(stderr, "aerogpu lose: interrupted; the program was ended\n");
        if (asked.json && print_json(&asked, &result, "interrupted", false, &e))
            utf8_print(stderr, "aerogpu lose: %s\n", e.text);
        strbuf_finish(&result.stacks);
        strbuf_finish(&result.words);
        return 128 + stopped;
    }
    if (r) {
        utf8_print(stderr, "aerogpu lose: %s\n", e.text);
        return EXIT_ENV;
    }
    ok = is_ok(&asked, &result);
    if (result.stacks.len)
        print_stacks(&result.stacks);
    if (result.words.len)
        print_words(&result.words);
    explain(&asked, &result);
    r = asked.json ? print_json(&asked, &result, lose_verdict_name(result.verdict), ok, &e) : 0;
    strbuf_finish(&result.stacks);
    strbuf_finish(&result.words);
    if (r) {
        utf8_print(stderr, "aerogpu lose: %s\n", e.text);
        return EXIT_ENV;
    }
    return ok ? EXIT_OK : result.verdict == LOSE_NO_DEVICE ? EXIT_ENV : EXIT_FAILED;
}
