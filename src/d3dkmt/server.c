/* SPDX-License-Identifier: MIT */
/* server.c: the service's side of the socket.
 *
 *   connection:  ACCEPTED ──hello──▶ OPEN ⇄ IN_CALL ──peer gone──▶ call cancelled ──▶ DONE ──reap──▶ freed
 *
 * Invariants:
 *  1. `lock` guards the lists and who is whose client; it is never held while a thunk runs.
 *  2. The watcher sees every hang-up once (edge-triggered). It sets `gone`, then looks at `in_call`; the connection sets
 *     `in_call`, then looks at `gone`: whichever is second cancels the client, so that no call waits for a peer that has
 *     left.
 *  3. Only the watcher adds, joins and frees connections, and has the list of their peers.
 */
#include "d3dkmt/server.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/sockios.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "base/check.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/fair.h"
#include "base/fds.h"
#include "base/log.h"
#include "base/sched/schedstat.h"
#include "base/sched/slice.h"
#include "base/file/subuid.h"
#include "d3dkmt/budget.h"
#include "d3dkmt/peer.h"
#include "d3dkmt/wire.h"

enum { FOLLOW_AFTER = 8, FOLLOW_MOST = 4096, BACK_OFF_MS = 2, BACKLOG = 16 };

/* What a thread of the service has on the budgets of those whom it works for. */
struct work {
    uint64_t charged_ns;     /* of its processor time */
    struct schedstat looked; /* as it was */
};

/* What an event of the watcher names is a connection, or with this a peer; both are aligned. */
#define IS_PEER UINT64_C(1)

struct client {
    struct client *next;
    struct dxgk_client *dxgk;
    uint64_t cookie;
    const struct peer *peer; /* which its connections keep */
    unsigned connections;
};

struct connection {
    struct connection *next;
    struct d3dkmt_server *server;
    struct client *client; /* set and cleared by the connection's thread, under the server's lock */
    pthread_t thread;
    int fd;
    struct ucred cred;
    struct peer *peer;
    bool believed; /* peer.h, 3 */
    uid_t user;    /* in whose name it is counted: the peer's, or whose subordinate number that is */
    struct budget *budget;
    struct work work; /* its thread's */
    bool spare;       /* for diagnosis */
    _Atomic bool in_call, gone, done;
    unsigned apart, together,
        patience; /* calls in a row on another processor than the client's, or on the same */
};

struct d3dkmt_server {
    struct dxgk *dxgk;
    struct clock clock;
    struct budgets *budgets;
    struct work work;   /* the watcher's, */
    uint64_t accept_at; /* and when it looks for new connections again; 0: it does */
    bool by_user;
    uid_t seat;
    const char *subuid;
    unsigned most; /* connections */
    struct sockaddr_un address;
    int listen_fd, epoll_fd, wake_fd, reserve_fd;
    pthread_t thread;
    _Atomic bool stopping;
    _Atomic uint64_t calls, refused, late;
    pthread_mutex_t lock; /* what follows */
    unsigned spares;
    struct client *clients;
    struct connection *connections;
    struct peer *peers;
    struct d3dkmt_server_stats stats;
};

/* With `lock`. */
static void server_check(const struct d3dkmt_server *s)
{
    unsigned connected = 0, spares = 0, open_clients = 0, connections = 0;

    for (const struct connection *c = s->connections; c; c = c->next) {
        INVARIANT(c->server == s && c->fd >= 0);
        INVARIANT(!c->client || !atomic_load(&c->done));
        connected++;
        spares += c->spare;
        connections += c->client != NULL;
    }
    for (const struct client *k = s->clients; k; k = k->next) {
        INVARIANT(k->dxgk && k->connections);
        open_clients++;
        connections -= k->connections;
    }
    INVARIANT(!connections); /* each is of a client that is there, or of none yet */
    INVARIANT(connected == s->stats.connected && connected <= s->stats.connections);
    INVARIANT(open_clients == s->stats.open_clients && open_clients <= s->stats.clients);
    INVARIANT(spares == s->spares && spares <= 2 * D3DKMT_MAX_SPARE);
    INVARIANT(connected - spares <= s->most);
}

/* ---- connections --------------------------------------------------------- */

/* peer.h, 3: what comes behind the greeting was sent when its pidfd was open. */
static bool is_believed(struct connection *c, pid_t sender)
{
    c->believed = c->believed || (c->client && peer_is_alive(c->peer));
    return sender == c->cred.pid && (c->believed || !c->client);
}

/* A message and at most one descriptor; too long a one has a size that no message has. 0: the peer went, or was silent. */
static size_t receive(struct connection *c, void *msg, int *fd, NTSTATUS *bad)
{
    size_t num = 1;
    pid_t sender = -1;
    ssize_t n = fds_receive_from(c->fd, msg, WIRE_MAX, fd, &num, 0, &sender);

    if (n > 0 && !is_believed(c, sender)) {
        for (; num; num--)
            close(*fd);
        n = 0;
    }
    *bad = n == -E2BIG      ? STATUS_INVALID_PARAMETER
           : n == -EMSGSIZE ? STATUS_INFO_LENGTH_MISMATCH
                            : STATUS_SUCCESS;
    if (n <= 0 || !num)
        *fd = -1;
    return *bad ? 1 : n > 0 ? (size_t)n : 0;
}

static int reply_to(int s, const void *msg, size_t size, int fd)
{
    ssize_t n = fds_send(s, msg, size, &fd, fd >= 0, 0);

    return n < 0 ? (int)n : 0;
}

/* Who asks again before he has read the answer is no client of ours. A descriptor that waits for him counts against the service's
 * user, who has so many in flight as he may have open, and then nobody gets any. */
static bool unread(int s, int fd)
{
    int bytes = 0;

    return fd >= 0 && !ioctl(s, SIOCOUTQ, &bytes) && bytes;
}

static bool is_admin(const struct ucred *peer)
{
    return peer->uid == 0 || peer->uid == geteuid();
}

/* Who has 65536 numbers for his containers has one share all the same; root's containers have each their own. */
static uid_t user_of(const struct d3dkmt_server *s, const struct ucred *peer)
{
    const struct ucred owner = {.uid = subuid_owner(peer->uid, s->subuid, SUBUID_PASSWD)};

    return is_admin(&owner) ? peer->uid : owner.uid;
}

/* Nobody has anything to say before his greeting is answered. */
static bool has_more(int fd)
{
    char byte;

    return recv(fd, &byte, sizeof(byte), MSG_PEEK | MSG_DONTWAIT) >= 0;
}

static NTSTATUS hello(struct connection *c, const void *msg, size_t size, uint64_t *cookie)
{
    struct d3dkmt_server *s = c->server;
    struct wire_header h;
    struct wire_hello in;
    struct client *k = NULL;
    NTSTATUS st = STATUS_SUCCESS;

    if (size != sizeof(h) + sizeof(in))
        return STATUS_INFO_LENGTH_MISMATCH;
    memcpy(&h, msg, sizeof(h));
    memcpy(&in, (const uint8_t *)msg + sizeof(h), sizeof(in));
    if (h.magic != WIRE_MAGIC || h.thunk != WIRE_HELLO || (!c->believed && has_more(c->fd)))
        return STATUS_INVALID_PARAMETER;
    pthread_mutex_lock(&s->lock);
    server_check(s);
    INVARIANT(!c->client); /* it greets once */
    if (in.cookie) {
        for (k = s->clients; k && (k->cookie != in.cookie || k->peer != c->peer); k = k->next)
            ;
        if (!k)
            st = STATUS_ACCESS_DENIED;
    } else {
        k = calloc(1, sizeof(*k));
        if (!k || getrandom(&k->cookie, sizeof(k->cookie), 0) != sizeof(k->cookie) ||
            dxgk_client_open(s->dxgk, &k->dxgk, c->peer->number, is_admin(&c->cred))) {
            free(k);
            k = NULL;
            st = STATUS_NO_MEMORY;
        } else {
            if (in.is_wow64)
                dxgk_client_set_wow64(k->dxgk);
            if (!is_admin(&c->cred)) {
                dxgk_client_set_user(k->dxgk, c->cred.uid, c->cred.uid == s->seat);
                dxgk_client_set_owner(k->dxgk, c->user);
            }
            s->stats.clients++;
            s->stats.open_clients++;
            k->peer = c->peer;
            k->next = s->clients;
            s->clients = k;
        }
    }
    if (k) {
        k->connections++;
        c->client = k;
        *cookie = k->cookie;
    }
    server_check(s);
    pthread_mutex_unlock(&s->lock);
    return st;
}

static void release_client(struct connection *c)
{
    struct d3dkmt_server *s = c->server;
    struct client *k = c->client;

    pthread_mutex_lock(&s->lock);
    server_check(s);
    if (k && --k->connections)
        k = NULL;
    for (struct client **p = &s->clients; k && *p; p = &(*p)->next)
        if (*p == k) {
            *p = k->next;
            s->stats.open_clients--;
            break;
        }
    c->client = NULL;
    server_check(s);
    pthread_mutex_unlock(&s->lock);
    if (k) {
        dxgk_client_close(k->dxgk);
        free(k);
    }
}

static void wake(struct d3dkmt_server *s)
{
    if (eventfd_write(s->wake_fd, 1))
        log_debug("d3dkmt", "the watcher is awake already");
}

/* The calling thread's work since it was charged is `b`'s. How long it is to do nothing for it, in ns. */
static uint64_t charge(struct d3dkmt_server *s, struct budget *b, struct work *w)
{
    struct schedstat before = w->looked;
    struct timespec ts;
    uint64_t ran, now = clock_now(&s->clock);

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
    ran = (uint64_t)ts.tv_sec * NSEC_PER_SEC + (uint64_t)ts.tv_nsec;
    if (budget_charge(b, ran - w->charged_ns) && schedstat_read_thread(&w->looked))
        budget_look(b, now, w->looked.ran_ns - before.ran_ns, w->looked.waited_ns - before.waited_ns);
    w->charged_ns = ran;
    return budget_wait(b, now);
}

/* Who calls for more than his budget, while others are kept waiting by it, is served late: not before that is paid, or he is gone. */
static void await_turn(struct connection *c)
{
    struct pollfd hang_up = {.fd = c->fd};
    uint64_t ns = charge(c->server, c->budget, &c->work);
    struct timespec ts = {(time_t)(ns / NSEC_PER_SEC), (long)(ns % NSEC_PER_SEC)};

    if (ns && ppoll(&hang_up, 1, &ts, NULL) == 0)
        atomic_fetch_add_explicit(&c->server->late, 1, memory_order_relaxed);
}

/* A client's thread and the connection's take turns. To wake the other is ten times faster on a processor that is awake, which
 * is the one that both are on. So the connection's thread moves there when they have been apart for a while; less and less
 * often where the scheduler moves it away again. Where it may run is not limited for longer than the move takes. */
static void follow(struct connection *c, const cpu_set_t *all, const void *msg, size_t size)
{
    struct wire_header h;
    cpu_set_t one;

    if (size < sizeof(h))
        return;
    memcpy(&h, msg, sizeof(h));
    if (h.status == sched_getcpu() || h.status < 0 || h.status >= CPU_SETSIZE) {
        c->apart = 0;
        if (++c->together >= c->patience && c->patience > FOLLOW_AFTER) {
            c->patience /= 2;
            c->together = 0;
        }
        return;
    }
    c->together = 0;
    if (++c->apart < c->patience || !CPU_ISSET(h.status, all))
        return;
    c->apart = 0;
    c->patience = c->patience < FOLLOW_MOST ? 2 * c->patience : FOLLOW_MOST;
    CPU_ZERO(&one);
    CPU_SET(h.status, &one);
    if (sched_setaffinity(0, sizeof(one), &one) || sched_setaffinity(0, sizeof(*all), all))
        log_debug("d3dkmt", "a connection cannot follow its client to processor %d", h.status);
}

/* What a spare connection may not ask for: without a device nothing is made that lasts. */
static bool makes_a_device(const void *msg, size_t size)
{
    struct wire_header h;

    if (size < sizeof(h))
        return false; /* malformed, and answered as that */
    memcpy(&h, msg, sizeof(h));
    return h.thunk == D3DKMT_THUNK_CreateDevice;
}

static void serve_requests(struct connection *c, uint8_t *msg, uint8_t *reply)
{
    int fd, reply_fd;
    cpu_set_t all;
    NTSTATUS malformed;
    size_t n;

    INVARIANT(c->client && !atomic_load(&c->in_call)); /* 2 */
    CPU_ZERO(&all);
    sched_getaffinity(0, sizeof(all), &all);
    c->patience = FOLLOW_AFTER;
    while ((n = receive(c, msg, &fd, &malformed)) > 0) {
        size_t size;
        bool bad;
        follow(c, &all, msg, n);
        atomic_store(&c->in_call, true);
        if (atomic_load(&c->gone))
            dxgk_client_cancel(c->client->dxgk);
        reply_fd = -1;
        bad = true;
        if (malformed) {
            size = d3dkmt_refuse(reply, D3DKMT_NUM_THUNKS, malformed);
        } else if (c->spare && makes_a_device(msg, n)) {
            size = d3dkmt_refuse(reply, D3DKMT_THUNK_CreateDevice, STATUS_INSUFFICIENT_RESOURCES);
        } else {
            size = d3dkmt_handle(c->client->dxgk, msg, n, fd, reply, &reply_fd, &bad);
        }
        atomic_store(&c->in_call, false);
        atomic_fetch_add_explicit(&c->server->calls, 1, memory_order_relaxed);
        if (bad)
            atomic_fetch_add_explicit(&c->server->refused, 1, memory_order_relaxed);
        if (fd >= 0)
            close(fd);
        if (unread(c->fd, reply_fd) || reply_to(c->fd, reply, size, reply_fd))
            break;
        await_turn(c);
    }
}

static void *connection_main(void *arg)
{
    struct connection *c = arg;
    struct {
        struct wire_header h;
        struct wire_hello hello;
    } greeting = {.h = {.magic = WIRE_MAGIC, .thunk = WIRE_HELLO, .size = sizeof(greeting)}};
    const struct timeval soon = {.tv_sec = D3DKMT_HANDSHAKE_S}, never = {0};
    uint8_t *msg = malloc(WIRE_MAX), *reply = malloc(WIRE_MAX);
    NTSTATUS bad;
    size_t n;
    int fd;

    await_turn(c);
    setsockopt(c->fd, SOL_SOCKET, SO_RCVTIMEO, &soon, sizeof(soon));
    n = msg && reply ? receive(c, msg, &fd, &bad) : 0;
    setsockopt(c->fd, SOL_SOCKET, SO_RCVTIMEO, &never, sizeof(never));
    if (n > 0) {
        greeting.h.status = bad ? bad : hello(c, msg, n, &greeting.hello.cookie);
        if (fd >= 0)
            close(fd);
        if (!c->client)
            atomic_fetch_add_explicit(&c->server->refused, 1, memory_order_relaxed);
        if (!reply_to(c->fd, &greeting, sizeof(greeting), -1) && c->client)
            serve_requests(c, msg, reply);
    }
    free(msg);
    free(reply);
    shutdown(c->fd, SHUT_RDWR); /* the peer learns of it now, the descriptor is the watcher's to close */
    if (c->client)
        release_client(c);
    charge(c->server, c->budget, &c->work);
    atomic_store(&c->done, true);
    wake(c->server);
    return NULL;
}

/* ---- the watcher --------------------------------------------------------- */

/* Ends the spare connection that is the oldest of those without a call. */
static void end_a_spare(struct d3dkmt_server *s)
{
    struct connection *oldest = NULL;

    for (struct connection *c = s->connections; c; c = c->next)
        if (c->spare && !atomic_load(&c->in_call) && !atomic_load(&c->done))
            oldest = c; /* the list begins with the newest */
    if (oldest)
        shutdown(oldest->fd, SHUT_RDWR);
}

/* Without a descriptor to accept with, the one that is kept for this takes the connection, and ends it: else it would be
 * reported again and again. */
static void turn_away(struct d3dkmt_server *s)
{
    if (s->reserve_fd >= 0)
        close(s->reserve_fd);
    s->reserve_fd = accept4(s->listen_fd, NULL, NULL, SOCK_CLOEXEC);
    if (s->reserve_fd >= 0) {
        close(s->reserve_fd);
        atomic_fetch_add(&s->refused, 1);
    }
    s->reserve_fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
}

/* Where descriptors are few, half of them are left for what clients have besides. */
static unsigned most_connections(void)
{
    struct rlimit l;

    return getrlimit(RLIMIT_NOFILE, &l) || l.rlim_cur / 2 >= D3DKMT_MAX_CONNECTIONS
               ? D3DKMT_MAX_CONNECTIONS
               : (unsigned)l.rlim_cur / 2;
}

/* Whether its process, or its user, has as many as it may have. */
static bool is_crowd(const struct d3dkmt_server *s, const struct connection *one)
{
    unsigned of_process = 0, of_user = 0, used = s->stats.connected - s->spares;

    for (const struct connection *c = s->connections; c; c = c->next) {
        of_process += c->peer == one->peer;
        of_user += c->user == one->user && !c->spare;
    }
    return of_process >= D3DKMT_MAX_PER_PROCESS ||
           (!is_admin(&one->cred) && !one->spare && !fair_share(of_user, 1, used, s->most));
}

static void drop_peer(struct connection *c)
{
    if (c->peer && c->peer->users == 1 && c->peer->pidfd >= 0)
        epoll_ctl(c->server->epoll_fd, EPOLL_CTL_DEL, c->peer->pidfd,
                  NULL); /* a process that starts may have it, too */
    peer_put(&c->server->peers, c->peer);
    c->peer = NULL;
}

static void free_connection(struct connection *c)
{
    if (c->budget)
        budget_close(c->budget, clock_now(&c->server->clock));
    drop_peer(c);
    free(c);
}

/* With `on`, until BACK_OFF_MS have gone, nobody is let in: who makes the watcher work for more than his budget gets no further. */
static void back_off(struct d3dkmt_server *s, bool on)
{
    struct epoll_event ev = {.events = on ? 0 : EPOLLIN, .data.ptr = &s->listen_fd};

    if (!epoll_ctl(s->epoll_fd, EPOLL_CTL_MOD, s->listen_fd, &ev))
        s->accept_at = on ? clock_now(&s->clock) + BACK_OFF_MS * NSEC_PER_MSEC : 0;
}

/* Its end is looked for from the first connection on. */
static struct peer *peer_of(struct d3dkmt_server *s, const struct ucred *cred)
{
    struct peer *p = peer_get(&s->peers, cred, s->by_user);
    struct epoll_event ev = {.events = EPOLLIN | EPOLLET, .data.u64 = (uintptr_t)p | IS_PEER};

    if (p && p->users == 1 && p->pidfd >= 0 && epoll_ctl(s->epoll_fd, EPOLL_CTL_ADD, p->pidfd, &ev)) {
        peer_put(&s->peers, p);
        return NULL;
    }
    return p;
}

static void accept_one(struct d3dkmt_server *s)
{
    int size = 2 * WIRE_MAX, fd = accept4(s->listen_fd, NULL, NULL, SOCK_CLOEXEC);
    struct connection *c = fd >= 0 ? calloc(1, sizeof(*c)) : NULL;
    struct epoll_event ev = {.events = EPOLLRDHUP | EPOLLET, .data.ptr = c};
    socklen_t len = sizeof(c->cred);

    if (fd < 0) {
        if (errno == EMFILE || errno == ENFILE)
            turn_away(s);
        return;
    }
    if (!c)
        goto refuse;
    c->server = s;
    if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &c->cred, &len))
        goto refuse;
    c->peer = peer_of(s, &c->cred);
    if (!c->peer)
        goto refuse;
    c->user = user_of(s, &c->cred);
    c->budget = budget_open(s->budgets, c->cred.pid, c->user, clock_now(&s->clock));
    if (!c->budget)
        goto refuse;
    if (charge(s, c->budget, &s->work)) /* for those that were refused, or ended, too */
        back_off(s, true);
    c->spare =
        s->stats.connected - s->spares >= (is_admin(&c->cred) ? s->most : s->most - fair_reserve(s->most));
    if ((c->spare && s->spares >= 2 * D3DKMT_MAX_SPARE) || is_crowd(s, c))
        goto refuse;
    setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &size, sizeof(size));
    c->fd = fd;
    pthread_mutex_lock(&s->lock);
    if (c->spare && s->spares >= D3DKMT_MAX_SPARE)
        end_a_spare(s); /* it is gone soon: this one need not wait for it */
    s->spares += c->spare;
    c->next = s->connections;
    s->connections = c;
    s->stats.connections++;
    s->stats.connected++;
    server_check(s);
    pthread_mutex_unlock(&s->lock);
    if (!pthread_create(&c->thread, NULL, connection_main, c)) {
        if (epoll_ctl(s->epoll_fd, EPOLL_CTL_ADD, fd, &ev))
            shutdown(fd, SHUT_RDWR); /* a call could not be cancelled: better none */
        return;
    }
    pthread_mutex_lock(&s->lock);
    s->connections = c->next;
    s->stats.connected--;
    s->spares -= c->spare;
    server_check(s);
    pthread_mutex_unlock(&s->lock);
refuse:
    atomic_fetch_add(&s->refused, 1);
    if (c)
        free_connection(c);
    close(fd);
}

/* Frees connections whose threads have ended. */
static void reap(struct d3dkmt_server *s)
{
    struct connection *dead = NULL;

    pthread_mutex_lock(&s->lock);
    for (struct connection **p = &s->connections; *p;) {
        struct connection *c = *p;
        if (!atomic_load(&c->done)) {
            p = &c->next;
            continue;
        }
        *p = c->next;
        c->next = dead;
        dead = c;
        s->stats.connected--;
        s->spares -= c->spare;
        INVARIANT(!c->client); /* its thread gave it up before it was done */
        /* Who is counted no more has no descriptor. Closing alone does not end the watch while a process that was just forked
         * has it too. */
        epoll_ctl(s->epoll_fd, EPOLL_CTL_DEL, c->fd, NULL);
        close(c->fd);
        drop_peer(c);
    }
    server_check(s);
    pthread_mutex_unlock(&s->lock);
    while (dead) {
        struct connection *c = dead;
        dead = c->next;
        pthread_join(c->thread, NULL);
        free_connection(c);
    }
}

static void hung_up(struct connection *c)
{
    struct d3dkmt_server *s = c->server;

    atomic_store(&c->gone, true);
    pthread_mutex_lock(&s->lock);
    if (atomic_load(&c->in_call) && c->client)
        dxgk_client_cancel(c->client->dxgk);
    pthread_mutex_unlock(&s->lock);
}

/* Whoever has copies of its sockets: they were its own. */
static void peer_ended(struct d3dkmt_server *s, const struct peer *p)
{
    pthread_mutex_lock(&s->lock);
    for (struct connection *c = s->connections; c; c = c->next)
        if (c->peer == p)
            shutdown(c->fd, SHUT_RDWR);
    pthread_mutex_unlock(&s->lock);
}

static void *watch_main(void *arg)
{
    struct d3dkmt_server *s = arg;
    struct epoll_event events[32];
    uint64_t value;

    slice_set(SLICE_SHORT); /* the threads of connections are this one's, and have it from here */
    while (!atomic_load(&s->stopping)) {
        int n = epoll_wait(s->epoll_fd, events, 32, s->accept_at ? BACK_OFF_MS : -1);
        bool again = false;
        if (s->accept_at && clock_now(&s->clock) >= s->accept_at)
            back_off(s, false);
        for (int i = 0; i < n; i++) {
            if (events[i].data.ptr == &s->listen_fd)
                accept_one(s);
            else if (events[i].data.ptr == &s->wake_fd)
                again = read(s->wake_fd, &value, sizeof(value)) > 0;
            else if (events[i].data.u64 & IS_PEER)
                peer_ended(s, (const struct peer *)(uintptr_t)(events[i].data.u64 & ~IS_PEER));
            else
                hung_up(events[i].data.ptr);
        }
        if (again)
            reap(s); /* after this round's events: they name connections */
    }
    return NULL;
}

/* ---- the socket ---------------------------------------------------------- */

/* Removes a socket that nobody listens on any more. */
static int clear_path(const struct sockaddr_un *a)
{
    struct stat st;
    int fd, r = 0;

    if (lstat(a->sun_path, &st))
        return errno == ENOENT ? 0 : -errno;
    if (!S_ISSOCK(st.st_mode))
        return -ENOTSOCK;
    fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return -errno;
    if (!connect(fd, (const struct sockaddr *)a, sizeof(*a)) || errno != ECONNREFUSED)
        r = -EADDRINUSE;
    close(fd);
    return r || !unlink(a->sun_path) ? r : -errno;
}

static int watch_fd(struct d3dkmt_server *s, int *fd)
{
    struct epoll_event ev = {.events = EPOLLIN, .data.ptr = fd};

    return epoll_ctl(s->epoll_fd, EPOLL_CTL_ADD, *fd, &ev) ? -errno : 0;
}

static int listen_on(struct d3dkmt_server *s, unsigned mode, gid_t group)
{
    int r = clear_path(&s->address);
    const int on = 1; /* each message says who sent it, those before the connection is accepted, too */
    mode_t old;

    if (r)
        return r;
    s->listen_fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    s->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    s->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    s->reserve_fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (s->listen_fd < 0 || s->wake_fd < 0 || s->epoll_fd < 0 || s->reserve_fd < 0)
        return -errno;
    old = umask(0777); /* nobody gets in before the mode is what was asked for */
    r = bind(s->listen_fd, (struct sockaddr *)&s->address, sizeof(s->address)) ? -errno : 0;
    umask(old);
    if (r)
        return r;
    if ((group != (gid_t)-1 && chown(s->address.sun_path, (uid_t)-1, group)) ||
        chmod(s->address.sun_path, (mode_t)mode) ||
        setsockopt(s->listen_fd, SOL_SOCKET, SO_PASSCRED, &on, sizeof(on)) || listen(s->listen_fd, BACKLOG))
        r = -errno;
    if (!r)
        r = watch_fd(s, &s->listen_fd);
    if (!r)
        r = watch_fd(s, &s->wake_fd);
    if (r)
        unlink(s->address.sun_path);
    return r;
}

static void free_server(struct d3dkmt_server *s)
{
    int fds[] = {s->listen_fd, s->wake_fd, s->epoll_fd, s->reserve_fd};

    for (int i = 0; i < 4; i++)
        if (fds[i] >= 0)
            close(fds[i]);
    budgets_destroy(s->budgets);
    pthread_mutex_destroy(&s->lock);
    free(s);
}

/* Many clients have many descriptors: as many as the system lets this process have. */
static void raise_limits(void)
{
    struct rlimit l;

    if (!getrlimit(RLIMIT_NOFILE, &l) && l.rlim_cur < l.rlim_max) {
        l.rlim_cur = l.rlim_max;
        if (setrlimit(RLIMIT_NOFILE, &l))
            log_debug("d3dkmt", "the limit of descriptors stays: %s", strerror(errno));
    }
}

int d3dkmt_serve(struct d3dkmt_server **out, const struct d3dkmt_serve_params *p, struct error *err)
{
    const char *path = p->path;
    struct d3dkmt_server *s = calloc(1, sizeof(*s));
    int r;

    *out = NULL;
    if (!s)
        return error_set(err, -ENOMEM, "no memory for a service");
    s->dxgk = p->dxgk;
    s->by_user = p->by_user;
    s->seat = p->seat;
    s->subuid = p->subuid ? p->subuid : SUBUID_FILE;
    clock_init_live(&s->clock);
    s->budgets = budgets_create();
    s->listen_fd = s->wake_fd = s->epoll_fd = s->reserve_fd = -1;
    s->address.sun_family = AF_UNIX;
    pthread_mutex_init(&s->lock, NULL);
    if (strlen(path) >= sizeof(s->address.sun_path)) {
        free_server(s);
        return error_set(err, -ENAMETOOLONG, "the socket's path %s is too long", path);
    }
    strcpy(s->address.sun_path, path);
    raise_limits();
    s->most = most_connections();
    r = !s->budgets ? -ENOMEM : listen_on(s, p->mode, p->group);
    if (!r) {
        r = -pthread_create(&s->thread, NULL, watch_main, s);
        if (r)
            unlink(path);
    }
    if (r) {
        free_server(s);
        return error_set(err, r, "cannot listen on %s: %s", path,
                         r == -ENOTSOCK ? "it is no socket" : strerror(-r));
    }
    *out = s;
    return 0;
}

void d3dkmt_serve_end(struct d3dkmt_server *s)
{
    if (!s)
        return;
    atomic_store(&s->stopping, true);
    wake(s);
    pthread_join(s->thread, NULL);
    unlink(s->address.sun_path);
    pthread_mutex_lock(&s->lock);
    server_check(s);
    for (struct connection *c = s->connections; c; c = c->next) {
        atomic_store(&c->gone, true);
        shutdown(c->fd, SHUT_RDWR);
        if (c->client)
            dxgk_client_cancel(c->client->dxgk);
    }
    pthread_mutex_unlock(&s->lock);
    while (s->connections) {
        struct connection *c = s->connections;
        pthread_join(c->thread, NULL);
        pthread_mutex_lock(&s->lock);
        server_check(s);
        s->connections = c->next;
        s->stats.connected--;
        s->spares -= c->spare;
        pthread_mutex_unlock(&s->lock);
        close(c->fd);
        INVARIANT(!c->client);
        free_connection(c);
    }
    INVARIANT(!s->clients); /* the last connection of each took it along */
    free_server(s);
}

void d3dkmt_serve_stats(struct d3dkmt_server *s, struct d3dkmt_server_stats *out)
{
    pthread_mutex_lock(&s->lock);
    *out = s->stats;
    out->calls = atomic_load(&s->calls);
    out->refused = atomic_load(&s->refused);
    out->late = atomic_load(&s->late);
    pthread_mutex_unlock(&s->lock);
}
