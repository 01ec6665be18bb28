/* SPDX-License-Identifier: MIT */
/* door.h: how a process comes to the record that has neither the descriptor (somebody closed it) nor the right to open it by /proc
 * (it is another user, or has fewer privileges than `aerogpu lose`): it asks at a socket, and is given one if it is the program's.
 *
 * The socket's name is abstract, and follows from what LOSE_VARIABLE says.
 */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

/* For the record of process `pid`, descriptor `record_fd`: a descriptor to listen at, or a negative errno. */
int door_open(pid_t pid, int record_fd);
/* Whoever asks is given the record if `may` says so of his process. Does not wait. */
void door_answer(int door, int record_fd, bool (*may)(void *ctx, pid_t pid), void *ctx);
/* The other side: a descriptor of the record that "/proc/PID/fd/N" names, or -1. Waits for two seconds at most. */
int door_ask(const char *path);
