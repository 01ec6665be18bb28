/* SPDX-License-Identifier: MIT */
/* d3d12_wine.c: `aerogpu play` in a process of Wine's (d3d12.h). */
#include "commands.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "d3d12.h"
#include "d3d12/play/play_on.h"
#include "file_kinds.h"

static void guard_with(void (*crashed)(int sig))
{
    play_on_windows_crash(d3d12_windows, crashed);
}

static int play(int argc, char **argv)
{
    int code = command_line(&(struct options){.rows = d3d12_play.rows, .max = -1}, argc, argv);

    return code ? code : d3d12_play.run(FILE_D3D12, argv + optind, argc - optind);
}

__attribute__((visibility("default"))) int d3d12_wine_main(const struct play_windows *w)
{
    static const struct options_command commands[] = {{"play", "play a recording", play}};
    const char *fd = getenv("AEROGPU_D3D12_WINE_ARGUMENTS");
    char **words = fd ? d3d12_words(atoi(fd)) : NULL;
    int n = 0, code;

    while (words && words[n])
        n++;
    d3d12_windows = w;
    d3d12_guard_with = guard_with;
    code = n > 1 ? command_run("aerogpu", commands, 1, n - 1, words + 1) : -1;
    if (code < 0) {
        fprintf(stderr, "aerogpu play: no command line came through Wine\n");
        code = EXIT_ENV;
    }
    fflush(NULL);
    d3d12_told()->end = 1 + code;
    _exit(code); /* as for every player: the driver is not taken apart under its threads */
}
