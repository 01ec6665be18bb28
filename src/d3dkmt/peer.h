/* SPDX-License-Identifier: MIT */
/* peer.h: the processes at the other ends of connections, and the numbers that dxgkrnl knows them by.
 *
 * A process number is somebody else's as soon as its process is gone, and whoever forks often enough makes that soon. What goes by it (nodes,
 * executors, priorities, budgets) must not become a stranger's with it:
 *
 * 1. A process is what its pidfd says, and not its number. When it is gone its connections end, whoever has copies of their sockets.
 * 2. As long as anything is left of one that is gone, its number is not given to another: that one's is 2^22 higher, or twice that, and so on.
 * 3. A socket's peer is who connected, and may be gone before he is looked up. So a connection is believed (peer_proves) at the first message
 *    that was sent after the pidfd was opened, by a process of that number, while what the pidfd names still lives: it is that one. Every
 *    message must come from it.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

struct peer {
    struct peer *next;
    pid_t pid; /* 0: in a PID namespace that is not seen from here; then all of a user are one */
    uid_t uid;
    int pidfd; /* -1 without a pid */
    uint64_t number;
    unsigned users;
};

/* The one that `cred` names, for one more user. `by_user`: all of a user have one number. NULL: it is gone, or there are no descriptors. */
struct peer *peer_get(struct peer **list, const struct ucred *cred, bool by_user);
/* NULL does nothing. */
void peer_put(struct peer **list, struct peer *p);
bool peer_is_alive(const struct peer *p);
