/* SPDX-License-Identifier: MIT */
/* fds.h: messages with descriptors over a Unix socket.
 *
 * 1. What is received is close-on-exec.
 * 2. Every descriptor that came is either handed to the caller or closed: a peer that sends more than were expected, or
 *    more bytes than there is room for, leaves nothing behind.
 * 3. What a peer had sent is received, also where it closed without having read all that was sent to it: the kernel says so, with
 *    ECONNRESET and once, before it hands out the messages.
 */
#pragma once

#include <stddef.h>
#include <sys/types.h>

#define FDS_MAX 253 /* what Linux lets through with one message (SCM_MAX_FD) */

/* Sends one message and `num` descriptors (0 to FDS_MAX; they stay the caller's). `flags` as for sendmsg(2); a peer that is
 * gone raises no signal. The bytes sent, or a negative errno. Interrupted sends are repeated. */
ssize_t fds_send(int socket, const void *bytes, size_t size, const int *fds, size_t num, int flags);

/* Receives one message, and up to `*num` descriptors with it; `*num` is then how many came. `flags` as for recvmsg(2).
 * The bytes received (0: the peer closed, and has sent no more), or a negative errno: -EMSGSIZE where the message is longer than `size`, -E2BIG
 * where more descriptors came than `*num`; the message is gone then, and what came with it is closed. */
ssize_t fds_receive(int socket, void *bytes, size_t size, int *fds, size_t *num, int flags);
/* The same from a socket with SO_PASSCRED, and which process sent it, as this one numbers it: 0 where it does not see it. */
ssize_t fds_receive_from(int socket, void *bytes, size_t size, int *fds, size_t *num, int flags,
                         pid_t *sender);
