/* SPDX-License-Identifier: MIT */
/* windows_bench: what Direct3D's calls cost a Windows program on our runtimes and drivers, against Wine's wined3d on llvmpipe.
 *
 * d3d9_draws_1000, d3d11_draws_10000 and so on: milliseconds of processor time of the thread that draws a frame of so many draws, each with a
 * state, a texture, constants and an offset of its own (windows/d3d9_draws.c, d3d11_draws.c). d3d9_frame_1000 and so on: the same frames by the
 * clock, with all that draws them. The program runs on both in turns.
 * d3d11_map: an upload through a mapped buffer, against memcpy in the same program (windows/d3d11_map.c). */
#include <stdio.h>
#include <string.h>

#include "bench.h"

enum { ROUNDS = 3 };

struct turn {
    double first, second; /* what the program prints, with words between */
};

/* 0; 1: this machine lacks something; -1: the program did not run to its end. `why` says what. */
static int run(const char *side, const char *program, const char *arguments, struct turn *out, char why[256])
{
    char command[2048];
    FILE *f;
    int r = -1;

    snprintf(command, sizeof(command), "'%s' %s '%s' '%s' '%s' '%s/%s.exe' %s", WINDOWS_TURN, side,
             WINDOWS_AEROGPU, WINDOWS_LIBRARIES, WINDOWS_WORK, WINDOWS_PROGRAMS, program, arguments);
    f = popen(command, "r");
    if (!f)
        return -1;
    while (fgets(command, sizeof(command), f)) {
        if (sscanf(command, "%*s %lf %*s %lf", &out->first, &out->second) == 2)
            r = 0;
        if (!strncmp(command, "skip: ", 6) || !strncmp(command, "failed: ", 8)) {
            const char *text = strchr(command, ' ') + 1;

            snprintf(why, 256, "%.*s", (int)strcspn(text, "\n"), text);
            r = command[0] == 's' ? 1 : -1;
        }
    }
    pclose(f);
    return r;
}

static void no_number(struct bench *b, const char *id, int r, const char *why)
{
    if (r > 0)
        bench_not_measured(b, id, why);
    else
        bench_failed(b, id, *why ? why : "the program did not run to its end");
}

static void measure(struct bench *b, const char *api, unsigned draws, unsigned frames)
{
    double ours[2][ROUNDS], reference[2][ROUNDS];
    char id[2][64], program[64], arguments[1024], why[256] = "";
    struct turn a, w;

    snprintf(id[0], sizeof(id[0]), "%s_draws_%u", api, draws);
    snprintf(id[1], sizeof(id[1]), "%s_frame_%u", api, draws);
    snprintf(program, sizeof(program), "%s_draws", api);
    snprintf(arguments, sizeof(arguments), "%u %u '%s'", draws, frames, WINDOWS_SHADERS);
    if (!bench_wants(b, id[0]) && !bench_wants(b, id[1]))
        return;
    for (int i = 0; i < ROUNDS; i++) {
        int r = run("aerogpu", program, arguments, &a, why);

        if (!r)
            r = run("wined3d", program, arguments, &w, why);
        for (int k = 0; k < 2 && r; k++)
            if (bench_wants(b, id[k]))
                no_number(b, id[k], r, why);
        if (r)
            return;
        ours[0][i] = a.first, ours[1][i] = a.second;
        reference[0][i] = w.first, reference[1][i] = w.second;
    }
    for (int k = 0; k < 2; k++)
        if (bench_wants(b, id[k]))
            bench_report(b, &(struct bench_figure){.id = id[k],
                                                   .ours_each = ours[k],
                                                   .reference_each = reference[k],
                                                   .rounds = ROUNDS,
                                                   .unit = "ms a frame",
                                                   .target = k ? 1 : 0.8,
                                                   .note = "reference: wined3d on llvmpipe"});
}

static void map(struct bench *b)
{
    double ours[ROUNDS], reference[ROUNDS];
    char why[256] = "";

    if (!bench_wants(b, "d3d11_map"))
        return;
    for (int i = 0; i < ROUNDS; i++) {
        struct turn t;
        int r = run("aerogpu", "d3d11_map", "20", &t, why);

        if (r) {
            no_number(b, "d3d11_map", r, why);
            return;
        }
        ours[i] = t.first;
        reference[i] = t.second;
    }
    bench_report(b, &(struct bench_figure){.id = "d3d11_map",
                                           .ours_each = ours,
                                           .reference_each = reference,
                                           .rounds = ROUNDS,
                                           .unit = "ms of 16 MiB",
                                           .target = 1.2,
                                           .note = "reference: memcpy"});
}

int main(int argc, char **argv)
{
    struct bench b;

    bench_init(&b, argc, argv);
    measure(&b, "d3d9", 1000, 20);
    measure(&b, "d3d9", 10000, 8);
    measure(&b, "d3d11", 1000, 20);
    measure(&b, "d3d11", 10000, 8);
    map(&b);
    return bench_finish(&b);
}
