/* cmd_d3d12.h: the subcommands of `aerogpu d3d12`, and what they share. */
#ifndef AEROGPU_CMD_D3D12_H_
#define AEROGPU_CMD_D3D12_H_

#include "base/error.h"

int d3d12_play(int argc, char **argv);
int d3d12_show(int argc, char **argv);

/* Prints the failure; returns the exit code for it. */
int d3d12_fail(const char *what, const struct error *e);

#endif
