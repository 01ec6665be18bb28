/* SPDX-License-Identifier: MIT */
/* lastwords.c: see lastwords.h. */
#include "dxgkrnl/kernel/lastwords.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/log.h"
#include "base/sched/signame.h"
#include "dxgkrnl/kernel/process.h"

enum { PAGE = 4096, MAX_STOPS = 10, END_MS = 3000 };

static struct lastwords own, *words = &own;
static bool watched, is_stranger;
static pid_t self;
static uint64_t verdict = 1;
static struct stat files[3];                  /* of the process, when its life began; without links: none */
static uint32_t always = 1, *alive = &always; /* a page that is empty in copies of the process */

static void map_once(void)
{
    void *shared = mmap(NULL, sizeof(*words), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    uint32_t *page = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (shared != MAP_FAILED)
        words = shared;
    if (page != MAP_FAILED && !madvise(page, PAGE, MADV_WIPEONFORK))
        alive = page;
    else if (page != MAP_FAILED)
        munmap(page, PAGE);
}

struct lastwords *dxgk_lastwords_begin(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    pthread_once(&once, map_once);
    *alive = 1;
    return words;
}

bool dxgk_lastwords_watched(void)
{
    return watched;
}

bool dxgk_lastwords_stranger(void)
{
    return watched && is_stranger;
}

bool dxgk_lastwords_copied(void)
{
    return !__atomic_load_n(alive, __ATOMIC_RELAXED);
}

bool dxgk_lastwords_borrowed(void)
{
    return watched && getpid() != self;
}

_Noreturn void dxgk_lastwords_copy_ends(const char *ddi)
{
    atomic_store(&words->copied_in, ddi);
    atomic_fetch_add(&words->copies, 1);
    _exit(EXIT_FAILURE);
}

static void say(const char *fmt, va_list ap)
{
    if (!atomic_exchange(&words->taken, true)) /* 3 */
        vsnprintf(words->text, sizeof(words->text), fmt, ap);
}

void dxgk_lastwords_say(const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    say(fmt, ap);
    va_end(ap);
}

void dxgk_lastwords_rule(const char *text)
{
    if (!atomic_exchange(&words->ruled, true))
        snprintf(words->rule, sizeof(words->rule), "%s", text);
}

_Noreturn void dxgk_lastwords_end(const char *fmt, ...)
{
    char line[sizeof(words->text) + 100];
    va_list ap;

    va_start(ap, fmt);
    say(fmt, ap);
    va_end(ap);
    if (!watched)
        (void)!write(STDERR_FILENO, line,
                     (size_t)snprintf(line, sizeof(line), "aerogpu: dxgkrnl: %s\n", words->text));
    _exit(EXIT_FAILURE);
}

/* Standard input, output and error are what they were. */
static bool same_files(const struct stat then[3], int *which)
{
    struct stat now;

    for (*which = 0; *which < 3; ++*which)
        if (then[*which].st_nlink && (fstat(*which, &now) || now.st_ino != then[*which].st_ino))
            return false;
    return true;
}

void dxgk_lastwords_verdict(void)
{
    int which;

    if (watched && !same_files(files, &which))
        dxgk_lastwords_say("the miniport closed %s, so that not all could be said",
                           which == 0   ? "standard input"
                           : which == 1 ? "standard output"
                                        : "standard error");
    atomic_store(&words->verdict, verdict);
}

/* ---- the one that watches ------------------------------------------------ */

static const int passed_on[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2};

/* A name that the miniport may have written over: the memory that both had at the fork is the same in both. */
static void read_name(const char *from, char *out, size_t size)
{
    struct iovec to = {out, size - 1}, at = {(void *)(uintptr_t)from, size - 1};
    ssize_t n = from ? process_vm_readv(getpid(), &to, 1, &at, 1, 0) : 0;

    out[n > 0 ? n : 0] = '\0';
    for (char *p = out; *p; p++)
        if (*p < ' ' || *p > '~')
            *p = '\0';
}

static void tell_end(int status, struct lastwords_end *end)
{
    char how[40], ddi[80], place[120];
    const char *text = words->text;

    words->text[sizeof(words->text) - 1] = '\0';
    read_name(atomic_load(&words->ddi), ddi, sizeof(ddi));
    if (WIFEXITED(status))
        snprintf(how, sizeof(how), "exit code %d", WEXITSTATUS(status));
    else
        snprintf(how, sizeof(how), "%s", signal_name(WTERMSIG(status)).text);
    if (atomic_load(&words->verdict) == verdict)
        snprintf(place, sizeof(place), "when all was judged");
    else if (!*ddi)
        snprintf(place, sizeof(place), "before any call of the miniport");
    else if (atomic_load(&words->inside))
        snprintf(place, sizeof(place), "in %s", ddi);
    else
        snprintf(place, sizeof(place), "behind %s, which was called last", ddi);
    if (end->signal)
        snprintf(end->text, sizeof(end->text), "ended by %s, which it was sent, %s", how, place);
    else if (atomic_load(&words->taken))
        snprintf(end->text, sizeof(end->text), "%.400s: the process ended (%s) %s", text, how, place);
    else if (WIFEXITED(status))
        snprintf(end->text, sizeof(end->text), "%s, with %s, %s",
                 is_stranger ? "the miniport ended the process that it runs in" : "the process ended", how,
                 place);
    else
        snprintf(end->text, sizeof(end->text), "the process that the miniport runs in was ended by %s, %s",
                 how, place);
    if (atomic_load(&words->ruled))
        snprintf(end->text + strlen(end->text), sizeof(end->text) - strlen(end->text),
                 "; the first rule that it broke: %.299s", words->rule);
}

struct child {
    pid_t pid;
    int signals; /* signalfd */
    int program; /* hangs up when the process is another program */
    int handed;  /* the signal that was handed on last */
    bool ended;
    unsigned stops;
};

/* Nobody who watches a process stops it: he stops the one that was started, or both. */
static void on_stop(struct child *c, int sig)
{
    char ddi[80];

    if (sig != SIGSTOP)
        return;
    read_name(atomic_load(&words->ddi), ddi, sizeof(ddi));
    dxgk_lastwords_say("the process stopped itself (SIGSTOP), in or behind %s", ddi);
    kill(c->pid, ++c->stops > MAX_STOPS ? SIGKILL : SIGCONT);
}

static void hand_on(struct child *c)
{
    struct signalfd_siginfo info;

    while (read(c->signals, &info, sizeof(info)) == sizeof(info))
        if (info.ssi_signo != SIGCHLD) {
            c->handed = (int)info.ssi_signo;
            if (!c->ended)
                kill(c->pid, c->handed);
        }
}

/* What hangs up when the process is another program has; or it was closed, and no call came back to say so. */
static void say_replaced(pid_t pid)
{
    struct stat is, own_program;
    char path[40], ddi[80];

    snprintf(path, sizeof(path), "/proc/%d/exe", (int)pid);
    if (stat(path, &is) || stat("/proc/self/exe", &own_program) || is.st_ino != own_program.st_ino ||
        is.st_dev != own_program.st_dev) {
        dxgk_lastwords_say("the process became another program (exec)");
        return;
    }
    read_name(atomic_load(&words->ddi), ddi, sizeof(ddi));
    dxgk_lastwords_say(PROCESS_CLOSED, ddi);
}

/* Until it has ended: its status. */
static int wait_for(struct child *c)
{
    struct pollfd p[2] = {{.fd = c->signals, .events = POLLIN}, {.fd = c->program}};
    int status;

    for (;;) {
        pid_t r = waitpid(c->pid, &status, WNOHANG | WUNTRACED);
        if (r == c->pid && WIFSTOPPED(status)) {
            on_stop(c, WSTOPSIG(status));
            continue;
        }
        if (r == c->pid)
            return status;
        if (r < 0 && errno != EINTR)
            return 0;
        if (poll(p, 2, p[1].fd < 0 ? END_MS : -1) < 0)
            continue;
        hand_on(c);
        if (p[1].fd < 0 && !p[0].revents) {
            say_replaced(c->pid);
            kill(c->pid, SIGKILL);
        }
        if (p[1].revents)
            p[1].fd = -1;
    }
}

static void be_watched(pid_t parent, int program)
{
    watched = true;
    self = getpid();
    if (prctl(PR_SET_PDEATHSIG, SIGKILL) || getppid() != parent)
        _exit(EXIT_FAILURE); /* nobody is there any more */
    for (int i = 0; i < 3; i++)
        if (fstat(i, &files[i]))
            files[i].st_nlink = 0;
        else
            dxgk_process_keep(i, true);
    dxgk_process_keep(program, true);
    setvbuf(stdout, NULL, _IOLBF, 0); /* what was said stays said */
}

bool dxgk_lastwords_watch(bool stranger, struct lastwords_end *end)
{
    pid_t parent = getpid();
    struct child c = {.signals = -1};
    int status, program[2];
    sigset_t signals, before;
    struct timespec t;

    is_stranger = stranger;
    dxgk_lastwords_begin();
    clock_gettime(CLOCK_MONOTONIC, &t);
    verdict = (uint64_t)t.tv_nsec << 32 | (uint64_t)parent << 8 | 1;
    sigemptyset(&signals);
    sigaddset(&signals, SIGCHLD);
    for (size_t i = 0; i < sizeof(passed_on) / sizeof(passed_on[0]); i++)
        sigaddset(&signals, passed_on[i]);
    if (pipe2(program, O_CLOEXEC))
        return false;
    fflush(NULL);
    pthread_sigmask(SIG_BLOCK, &signals, &before);
    c.signals = signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK);
    c.pid = c.signals < 0 ? -1 : fork();
    close(program[c.pid != 0]);
    if (c.pid <= 0) {
        pthread_sigmask(SIG_SETMASK, &before, NULL);
        if (c.pid < 0) {
            log_warn("dxgkrnl", "a miniport that ends this process will not be named: %s", strerror(errno));
            close(program[0]);
        } else {
            be_watched(parent, program[1]);
        }
        if (c.signals >= 0)
            close(c.signals);
        return false;
    }
    c.program = program[0];
    status = wait_for(&c);
    c.ended = true;
    hand_on(&c); /* a terminal sends to both, and the other may have been faster */
    close(c.program);
    close(c.signals); /* and they stay blocked: who has something to say says it whole */
    *end = (struct lastwords_end){.code = WIFEXITED(status) ? WEXITSTATUS(status) : 0};
    if (WIFSIGNALED(status) && WTERMSIG(status) == c.handed)
        end->signal = c.handed;
    end->verdict =
        WIFEXITED(status) && atomic_load(&words->verdict) == verdict && !atomic_load(&words->taken);
    if (!end->verdict)
        tell_end(status, end);
    return true;
}

int dxgk_lastwords_same_end(const struct lastwords_end *end, int code)
{
    sigset_t signals;

    if (!end->signal)
        return code;
    fflush(NULL);
    sigemptyset(&signals);
    sigaddset(&signals, end->signal);
    signal(end->signal, SIG_DFL);
    raise(end->signal);
    pthread_sigmask(SIG_UNBLOCK, &signals, NULL); /* does not come back */
    return code;
}
