/* cmd_d3d12.h: the subcommands of `aerogpu d3d12`, and what they share. */
#ifndef AEROGPU_CMD_D3D12_H_
#define AEROGPU_CMD_D3D12_H_

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

int d3d12_play(int argc, char **argv);
int d3d12_show(int argc, char **argv);
int d3d12_trim(int argc, char **argv);
int d3d12_diff(int argc, char **argv);
int d3d12_minimize(int argc, char **argv);
int d3d12_methods_list(int argc, char **argv);

/* Cuts frames out of a recording; returns an exit code. */
int d3d12_cut(const char *from, const char *to, uint32_t first, uint32_t last);
/* "A-B", "A-" or "A". */
bool d3d12_range(const char *s, uint32_t *first, uint32_t *last);

/* Prints the failure; returns the exit code for it. */
int d3d12_fail(const char *what, const struct error *e);

#endif
