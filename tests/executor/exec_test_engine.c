/* SPDX-License-Identifier: MIT */
/* See exec_test_engine.h. Sound as an engine: it keeps what executor/engine/engine.h promises. */
#include "exec_test_engine.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "executor/engine/engine.h"

enum { DEPTH = 256 };

struct job {
    struct abi_completion c;
    struct test_command cmd;
};

_Thread_local bool exec_own_thread;

struct exec_engine {
    struct exec_engine_params params;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    struct job jobs[DEPTH]; /* of the thread, in order */
    uint32_t first, last;
};

static void fail(struct abi_completion *c, const char *text, long n)
{
    c->error = 1;
    snprintf(c->message, sizeof(c->message), "%s %ld", text, n);
}

/* A sanitizer would look at its shadow of the address first, and fault there. */
static void __attribute__((no_sanitize("address", "thread"))) store_wild(uint64_t address)
{
    *(volatile uint32_t *)(uintptr_t)address = 1;
}

static int overflow(volatile char *above, int depth)
{
    volatile char frame[4096];

    frame[0] = above ? above[0] : 1;
    return depth ? overflow(frame, depth - 1) + frame[0] : 0;
}

static void forbidden(uint64_t which)
{
    static char *const argv[] = {"/bin/true", NULL};

    switch (which) {
    case FORBIDDEN_SOCKET:
        socket(AF_INET, SOCK_STREAM, 0);
        break;
    case FORBIDDEN_EXEC:
        execv(argv[0], argv);
        break;
    case FORBIDDEN_FORK:
        syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
        break;
    case FORBIDDEN_KILL:
        kill(getppid(), 0);
        break;
    case FORBIDDEN_TGKILL:
        syscall(SYS_tgkill, 1, 1, 0);
        break;
    case FORBIDDEN_PTRACE:
        ptrace(PTRACE_TRACEME, 0, NULL, NULL);
        break;
    case FORBIDDEN_BLOCKING:
        fcntl(4, F_SETFL, 0);
        break;
    case FORBIDDEN_UNLINK:
        unlink("/nonexistent");
        break;
    case FORBIDDEN_SHARED_MEMORY:
        mmap(NULL, 4096, PROT_READ, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
        break;
    default:
        syscall(SYS_setuid, 0);
        break;
    }
}

static void *hold_memory(void *arg)
{
    void *p = malloc(100);

    pthread_barrier_wait(arg);
    free(p);
    return NULL;
}

/* Each thread has an arena of its own as long as all of them have memory. */
static void take_memory(struct abi_completion *c, uint64_t count)
{
    pthread_t threads[32];
    pthread_barrier_t all;
    uint64_t n = 0;

    pthread_barrier_init(&all, NULL, (unsigned)count + 1);
    for (; n < count && n < 32; n++)
        if (pthread_create(&threads[n], NULL, hold_memory, &all)) {
            fail(c, "pthread_create", (long)n);
            return;
        }
    pthread_barrier_wait(&all);
    while (n--)
        pthread_join(threads[n], NULL);
    pthread_barrier_destroy(&all);
}

static void *return_argument(void *arg)
{
    return arg;
}

static void jit(struct abi_completion *c)
{
    unsigned char *code = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    pthread_t thread;
    void *result = NULL;

    if (code == MAP_FAILED) {
        fail(c, "mmap", errno);
        return;
    }
#ifdef __x86_64__
    memcpy(code, "\xb8\x2a\0\0\0\xc3", 6); /* mov eax, 42; ret */
    if (mprotect(code, 4096, PROT_READ | PROT_EXEC))
        fail(c, "mprotect", errno);
    else if (((int (*)(void))(uintptr_t)code)() != 42)
        fail(c, "code", 0);
#endif
    munmap(code, 4096);
    if (pthread_create(&thread, NULL, return_argument, c) || pthread_join(thread, &result) || result != c)
        fail(c, "thread", errno);
}

static void allocate(struct abi_completion *c, uint64_t size)
{
    char *p = malloc(size);

    if (!p) {
        fail(c, "out of memory", 0);
        return;
    }
    for (uint64_t i = 0; i < size; i += 4096)
        ((volatile char *)p)[i] = 1;
    free(p);
}

/* As a frame's state on a software device: below the size that is a mapping of its own, and free at the heap's end in the end. */
static void frame_memory(struct abi_completion *c)
{
    enum { BLOCKS = 400, BLOCK = 100000 };
    static void *blocks[BLOCKS];

    for (int i = 0; i < BLOCKS; i++)
        if ((blocks[i] = malloc(BLOCK)))
            memset(blocks[i], 1, BLOCK);
        else
            fail(c, "malloc", i);
    for (int i = BLOCKS; i > 0; i--)
        free(blocks[i - 1]);
}

static void descriptors(struct abi_completion *c)
{
    int fds[1024], n = 0;

    while (n < 1024 && (fds[n] = fcntl(2, F_DUPFD_CLOEXEC, 0)) >= 0)
        n++;
    fail(c, "descriptors", n);
    while (n-- > 0)
        close(fds[n]);
}

/* Each must fail, and end nothing. */
static void ask(struct abi_completion *c)
{
    static const char file[] = "/proc/sys/vm/overcommit_memory";
    struct rlimit limits;
    struct rusage usage;
    struct utsname system;
    struct stat st;
    char text[64];
    const bool refused[] = {
        open(file, O_RDONLY) < 0,
        syscall(SYS_open, file, O_RDONLY) < 0,
        open("/etc/passwd", O_RDWR | O_CREAT, 0600) < 0,
        stat(file, &st) < 0,
        fstat(2, &st) < 0,
        syscall(SYS_stat, file, &st) < 0,
        access(file, R_OK) < 0,
        readlink("/proc/self/exe", text, sizeof(text)) < 0,
        !getcwd(text, sizeof(text)),
        !isatty(2),
        uname(&system) < 0,
        getrlimit(RLIMIT_STACK, &limits) < 0,
        getrusage(RUSAGE_SELF, &usage) < 0,
        syscall(SYS_sched_getparam, 0, text) < 0,
    };

    for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++)
        if (!refused[i])
            fail(c, "allowed", (long)i);
}

static void perform(struct exec_engine *g, const struct test_command *cmd, struct abi_completion *c)
{
    uint32_t *at;

    switch (cmd->op) {
    case TEST_STORE:
        at = g->params.dma_map(g->params.ctx, cmd->a, 4);
        if (at)
            *at = (uint32_t)cmd->b;
        else
            fail(c, "not guest memory", 0);
        break;
    case TEST_SLEEP:
        usleep((useconds_t)cmd->a);
        break;
    case TEST_FAULT:
    case TEST_FAULT_THREAD:
        store_wild(cmd->a);
        break;
    case TEST_OVERFLOW:
        overflow(NULL, 1 << 20);
        break;
    case TEST_HANG:
        for (;;)
            usleep(1000);
    case TEST_EXIT:
        _exit((int)cmd->a);
    case TEST_DIVIDE:
#ifdef __x86_64__
        __asm__ volatile("xorl %%ecx, %%ecx; movl $1, %%eax; cltd; idivl %%ecx" ::: "eax", "ecx", "edx");
#else
        raise(SIGFPE);
#endif
        break;
    case TEST_ALLOCATE:
        allocate(c, cmd->a);
        break;
    case TEST_DESCRIPTORS:
        descriptors(c);
        break;
    case TEST_JIT:
        jit(c);
        break;
    case TEST_FRAME_MEMORY:
        frame_memory(c);
        break;
    case TEST_ASK:
        ask(c);
        break;
    case TEST_SAY:
        for (uint64_t i = 0; i < cmd->a; i++)
            dprintf((int)(i % 2 + 1), "\033]0;owned\a line %d\r\xff\n", (int)cmd->b);
        break;
    case TEST_OPEN:
        if (open("/etc/passwd", O_RDONLY) != -1 || errno != EACCES)
            fail(c, "open", errno);
        take_memory(c, cmd->a);
        break;
    case TEST_FORBIDDEN:
        forbidden(cmd->a);
        fail(c, "allowed", (long)cmd->a);
        break;
    default:
        break;
    }
}

static void *worker(void *arg)
{
    struct exec_engine *g = arg;

    pthread_mutex_lock(&g->lock);
    for (;;) {
        struct job *j;

        while (g->first == g->last)
            pthread_cond_wait(&g->changed, &g->lock);
        j = &g->jobs[g->first % DEPTH];
        pthread_mutex_unlock(&g->lock);
        perform(g, &j->cmd, &j->c);
        g->params.complete(g->params.ctx, &j->c);
        pthread_mutex_lock(&g->lock);
        g->first++;
        pthread_cond_broadcast(&g->changed);
    }
    return NULL;
}

int exec_engine_create(struct exec_engine **out, const struct exec_engine_params *p, struct error *e)
{
    struct exec_engine *g;

    if (p->device && strcmp(p->device, "missing") == 0)
        return error_set(e, -ENODEV, "there is no Vulkan device");
    if (p->device && strcmp(p->device, "dies") == 0)
        _exit(9);
    if (p->device && strcmp(p->device, "slow") == 0)
        usleep(200000);
    g = calloc(1, sizeof(*g));
    if (!g)
        return error_set(e, -ENOMEM, "out of memory");
    g->params = *p;
    pthread_mutex_init(&g->lock, NULL);
    pthread_cond_init(&g->changed, NULL);
    if (pthread_create(&g->thread, NULL, worker, g)) {
        free(g);
        return error_set(e, -EAGAIN, "no thread");
    }
    *out = g;
    return 0;
}

void exec_engine_submit(struct exec_engine *g, const struct abi_submission *s)
{
    struct job j = {.c = {.id = s->id}};
    bool idle;

    if (s->cmd_size) {
        const void *at =
            s->cmd_size >= sizeof(j.cmd) ? g->params.dma_map(g->params.ctx, s->cmd_gpa, s->cmd_size) : NULL;

        if (at)
            memcpy(&j.cmd, at, sizeof(j.cmd));
        else
            fail(&j.c, "no command", (long)s->cmd_size);
    }
    pthread_mutex_lock(&g->lock);
    idle = g->first == g->last;
    pthread_mutex_unlock(&g->lock);
    if (idle && j.cmd.op != TEST_SLEEP && j.cmd.op != TEST_FAULT_THREAD) {
        perform(g, &j.cmd, &j.c);
        g->params.complete(g->params.ctx, &j.c);
        return;
    }
    pthread_mutex_lock(&g->lock);
    g->jobs[g->last++ % DEPTH] = j;
    pthread_cond_broadcast(&g->changed);
    pthread_mutex_unlock(&g->lock);
}

void exec_engine_reset(struct exec_engine *g)
{
    pthread_mutex_lock(&g->lock);
    while (g->first != g->last)
        pthread_cond_wait(&g->changed, &g->lock);
    pthread_mutex_unlock(&g->lock);
}

void exec_engine_destroy(struct exec_engine *g)
{
    free(g);
}

const char *exec_engine_device_name(const struct exec_engine *g, bool *is_cpu)
{
    *is_cpu = true;
    return g->params.device ? g->params.device : "test engine";
}

uint64_t exec_engine_address_meant(uint64_t address)
{
    return address;
}
