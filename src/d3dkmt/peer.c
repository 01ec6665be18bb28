/* SPDX-License-Identifier: MIT */
#include "d3dkmt/peer.h"

#include <poll.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/check.h"

/* Numbers of processes are below it. In 32 bits, as the device's numbers of clients; those of users come behind, but for the last ones. */
enum { NUMBERS = 1 << 22 };

bool peer_is_alive(const struct peer *p)
{
    struct pollfd exited = {.fd = p->pidfd, .events = POLLIN};

    return p->pidfd < 0 || poll(&exited, 1, 0) == 0;
}

static bool is_taken(const struct peer *list, uint64_t number)
{
    while (list && list->number != number)
        list = list->next;
    return list;
}

/* A process may become another user's; then it is the one that it was, unless users are what is told apart. */
static bool is_it(const struct peer *p, const struct ucred *cred, bool by_user)
{
    return p->pid == cred->pid && (p->uid == cred->uid || (p->pid && !by_user)) && peer_is_alive(p);
}

struct peer *peer_get(struct peer **list, const struct ucred *cred, bool by_user)
{
    struct peer *p = *list;

    while (p && !is_it(p, cred, by_user))
        p = p->next;
    if (p) {
        p->users++;
        return p;
    }
    p = malloc(sizeof(*p));
    if (!p)
        return NULL;
    *p = (struct peer){.next = *list, .pid = cred->pid, .uid = cred->uid, .pidfd = -1, .users = 1};
    if (p->pid && (p->pidfd = (int)syscall(SYS_pidfd_open, p->pid, 0)) < 0) {
        free(p);
        return NULL;
    }
    p->number = by_user || !p->pid ? (uint32_t)(p->uid + NUMBERS) : (uint32_t)p->pid;
    while (!by_user && is_taken(*list, p->number))
        p->number = (uint32_t)(p->number + NUMBERS);
    *list = p;
    return p;
}

void peer_put(struct peer **list, struct peer *p)
{
    if (!p)
        return;
    INVARIANT(p->users);
    if (--p->users)
        return;
    while (*list != p)
        list = &(*list)->next;
    *list = p->next;
    if (p->pidfd >= 0)
        close(p->pidfd);
    free(p);
}
