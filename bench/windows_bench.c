/* SPDX-License-Identifier: MIT */
/* windows_bench: what Direct3D 9's calls cost a Windows program on our runtime and driver, against Wine's wined3d on llvmpipe.
 *
 * d3d9_draws_1000, d3d9_draws_10000: milliseconds of processor time of the thread that draws a frame of so many draws, each with a state, a
 * texture, constants and an offset of its own (windows/d3d9_draws.c). d3d9_frame_1000, d3d9_frame_10000: the same frames by the clock, with
 * all that draws them. The program runs on both in turns. */
#include <stdio.h>
#include <string.h>

#include "bench.h"

enum { ROUNDS = 3 };

struct turn {
    double cpu, wall;
};

/* 0; 1: this machine lacks something, which is in `why`; -1. */
static int run(const char *side, unsigned draws, unsigned frames, struct turn *out, char why[256])
{
    char command[2048];
    FILE *f;
    int r = -1;

    snprintf(command, sizeof(command), "'%s' %s '%s' '%s' '%s' '%s' %u %u", WINDOWS_TURN, side,
             WINDOWS_AEROGPU, WINDOWS_LIBRARIES, WINDOWS_WORK, WINDOWS_PROGRAM, draws, frames);
    f = popen(command, "r");
    if (!f)
        return -1;
    while (fgets(command, sizeof(command), f)) {
        if (sscanf(command, "cpu %lf wall %lf", &out->cpu, &out->wall) == 2)
            r = 0;
        if (!strncmp(command, "skip: ", 6)) {
            snprintf(why, 256, "%.*s", (int)strcspn(command + 6, "\n"), command + 6);
            r = 1;
        }
    }
    pclose(f);
    return r;
}

static void measure(struct bench *b, unsigned draws, unsigned frames)
{
    double ours[2][ROUNDS], reference[2][ROUNDS];
    char id[2][64], why[256] = "";
    struct turn a, w;

    snprintf(id[0], sizeof(id[0]), "d3d9_draws_%u", draws);
    snprintf(id[1], sizeof(id[1]), "d3d9_frame_%u", draws);
    if (!bench_wants(b, id[0]) && !bench_wants(b, id[1]))
        return;
    for (int i = 0; i < ROUNDS; i++) {
        int r = run("aerogpu", draws, frames, &a, why);

        if (!r)
            r = run("wined3d", draws, frames, &w, why);
        for (int k = 0; k < 2 && r; k++)
            if (r > 0)
                bench_not_measured(b, id[k], why);
            else
                bench_failed(b, id[k], "the program did not draw its frames");
        if (r)
            return;
        ours[0][i] = a.cpu, ours[1][i] = a.wall;
        reference[0][i] = w.cpu, reference[1][i] = w.wall;
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

int main(int argc, char **argv)
{
    struct bench b;

    bench_init(&b, argc, argv);
    measure(&b, 1000, 20);
    measure(&b, 10000, 8);
    return bench_finish(&b);
}
