/* SPDX-License-Identifier: MIT */
/* A connection of the service from its first byte: a peer that says whatever it likes, hello or not, with any number of
 * descriptors of any kind, and goes. The thread of the connection runs here, on a socket that already holds all of it. Each message is a
 * byte of what, a byte of how many descriptors, a length and its bytes; the header is made right unless the first byte says no.
 * What must hold beside what the sanitizers find: every message has its answer, and no descriptor is left. */
#include "fuzz.h"

#include "../../src/d3dkmt/server.c"

#include <sys/stat.h>

#include "base/bytes.h"
#include "stack/stack.h"

enum { MAX_BODY = 2048, MAX_MESSAGES = 12 };

static struct stack *stack;
static int null_fd, pipes[2];

static void start(void)
{
    struct error e = {0};

    log_set_level(LOG_ERROR);
    log_to(-1);
    must(!stack_create(&stack,
                       &(struct stack_params){.machine = {.kind = MACHINE_SIM, .ram_size = 256 << 20}}, &e));
    must(NT_SUCCESS(stack_start(stack, &e)));
    null_fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
    must(null_fd >= 0 && !pipe2(pipes, O_CLOEXEC));
}

static unsigned descriptors(void)
{
    struct stat st;
    unsigned n = 0;

    for (int fd = 0; fd < 256; fd++)
        n += !fstat(fd, &st);
    return n;
}

static bool waits_for_ever(uint32_t thunk)
{
    return thunk == D3DKMT_THUNK_WaitForIdle || thunk == D3DKMT_THUNK_WaitForVerticalBlankEvent;
}

/* Whether it could be sent: what is in the socket is limited. */
static bool say(int s, struct bytes *in, bool first)
{
    static uint8_t msg[MAX_BODY + sizeof(struct wire_header)];
    const int kinds[3] = {null_fd, pipes[0], pipes[1]};
    struct wire_header h = {.magic = WIRE_MAGIC, .thunk = WIRE_HELLO};
    uint8_t what = bytes_u8(in), how = bytes_u8(in);
    size_t n = bytes_u16(in) % MAX_BODY;
    int fds[4], event = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    bool sent;

    must(event >= 0);
    for (int i = 0; i < 4; i++)
        fds[i] = how >> 3 & 1 ? event : kinds[(how >> 4) % 3];
    n = n < bytes_left(in) ? n : bytes_left(in);
    if (!first || what & 1)
        h.thunk = what % (D3DKMT_NUM_THUNKS + 1);
    h.size = (uint32_t)(sizeof(h) + n);
    memcpy(msg, &h, sizeof(h));
    if (n)
        memcpy(msg + sizeof(h), bytes_take(in, n), n);
    if (first && h.thunk == WIRE_HELLO && !(what & 2))
        memset(msg + sizeof(h), 0, sizeof(struct wire_hello)), h.size = sizeof(h) + sizeof(struct wire_hello);
    if (!first && waits_for_ever(h.thunk))
        h.size = 4; /* malformed, then */
    sent = what >= 250 && n ? fds_send(s, msg + sizeof(h), n, fds, how % 5, MSG_DONTWAIT) > 0
                            : fds_send(s, msg, h.size, fds, how % 5, MSG_DONTWAIT) > 0;
    close(event);
    return sent;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static uint8_t reply[WIRE_MAX];
    struct bytes in = bytes_of(data, size);
    struct d3dkmt_server server = {.listen_fd = -1, .epoll_fd = -1, .reserve_fd = -1, .most = 1};
    struct connection *c = calloc(1, sizeof(*c));
    int pair[2], fd;
    unsigned before, said = 0, answered = 0;
    const int on = 1;
    size_t num = 1;

    if (!stack)
        start();
    must(c != NULL);
    before = descriptors();
    pthread_mutex_init(&server.lock, NULL);
    clock_init_live(&server.clock);
    server.budgets = budgets_create();
    must(server.budgets);
    server.dxgk = stack_dxgk(stack);
    server.wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    must(!socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair));
    must(!setsockopt(pair[0], SOL_SOCKET, SO_PASSCRED, &on, sizeof(on)));
    *c = (struct connection){.server = &server, .fd = pair[0], .cred = {.pid = getpid(), .uid = 1}};
    c->peer = peer_get(&server.peers, &c->cred, false);
    c->budget = budget_open(server.budgets, c->cred.pid, c->cred.uid, clock_now(&server.clock));
    must(c->budget && c->peer);
    server.spares = c->spare = size && data[size - 1] & 1;
    c->believed =
        size &&
        data[size - 1] & 14; /* else nothing may come behind the greeting, and all of it is there already */
    server.connections = c;
    server.stats.connections = server.stats.connected = 1;
    while (said < MAX_MESSAGES && bytes_left(&in) > 4 && say(pair[1], &in, !said))
        said++;
    shutdown(pair[1], SHUT_WR);
    connection_main(c);
    must(atomic_load(&c->done) && !c->client && !server.clients);
    while (fds_receive(pair[1], reply, sizeof(reply), &fd, &num, MSG_DONTWAIT) > 0) {
        if (num)
            close(fd);
        num = 1;
        answered++;
    }
    must(answered <= said && (!said || answered));
    close(pair[0]);
    close(pair[1]);
    close(server.wake_fd);
    pthread_mutex_destroy(&server.lock);
    budget_close(c->budget, clock_now(&server.clock));
    peer_put(&server.peers, c->peer);
    budgets_destroy(server.budgets);
    free(c);
    must(descriptors() == before);
    must(dxgk_state(stack_dxgk(stack)) == DXGK_STARTED && !dxgk_violations(stack_dxgk(stack)));
    return 0;
}
