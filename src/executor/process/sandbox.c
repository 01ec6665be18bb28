/* SPDX-License-Identifier: MIT */
/* sandbox.c: see sandbox.h.
 *
 * The filter is a list of what is allowed, and one of what is refused with an error, because libraries ask for it at any time and do
 * without; anything else kills the process (and the host says so). The host
 * relies on a few absences for its own sake: the descriptors that both hold must stay non-blocking (no
 * F_SETFL, no FIONBIO), the shared memory must keep its size (sealed), and nobody else may be signalled or traced.
 */
#include "executor/process/sandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <sched.h>
#include <seccomp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/log.h"
#include "executor/process/sanitized.h"

enum { NOBODY = 65534, PROCESSES = 512, CAPABILITIES = 64 };

/* Users that are nobody's for long (systemd's dynamic users): whoever else runs as `nobody` could signal us. */
enum { TRANSIENT_FIRST = 61184, TRANSIENT_LAST = 65519 };

static int limit(int what, rlim_t value, const char *name, struct error *e)
{
    struct rlimit r;

    if (getrlimit(what, &r))
        return error_set(e, -errno, "getrlimit %s: %s", name, strerror(errno));
    if (r.rlim_max != RLIM_INFINITY && r.rlim_max < value)
        value = r.rlim_max;
    r.rlim_cur = r.rlim_max = value;
    if (setrlimit(what, &r))
        return error_set(e, -errno, "setrlimit %s: %s", name, strerror(errno));
    return 0;
}

enum {
    OOM_SCORE = 500, /* of oom_score_adj: before what nobody has an opinion of */
    SHARE_TRIES = 40,
    SHARE_AGAIN_MS = 110,
};

/* 0 or a negative errno. */
static int say(int fd, int number)
{
    char text[16];
    int n = snprintf(text, sizeof(text), "%d", number);

    return write(fd, text, (size_t)n) < 0 ? -errno : 0;
}

/* One that is higher stays. */
static void offer_to_oom_killer(void)
{
    int fd = open("/proc/self/oom_score_adj", O_RDWR | O_CLOEXEC);
    char text[16] = "";

    if (fd < 0)
        return;
    if (read(fd, text, sizeof(text) - 1) > 0 && atoi(text) < OOM_SCORE)
        say(fd, OOM_SCORE);
    close(fd);
}

int exec_sandbox_share(int nice)
{
    int fd;

    offer_to_oom_killer();
    fd = nice ? open("/proc/self/autogroup", O_WRONLY | O_CLOEXEC) : -1;
    if (fd < 0 || say(fd, nice) == -EAGAIN)
        return fd;
    close(fd);
    return -1;
}

void exec_sandbox_share_again(int fd, int nice)
{
    for (int i = 0; i < SHARE_TRIES && fd >= 0 && say(fd, nice) == -EAGAIN; i++)
        usleep(SHARE_AGAIN_MS * 1000);
    if (fd >= 0)
        close(fd);
}

/* Its own network, names and queues, where the system lets it: nothing there for it to find. It opens no socket and no queue
 * either, for the filter forbids it; this is for what the filter might leave. */
static void leave_namespaces(void)
{
    const int own = CLONE_NEWNET | CLONE_NEWIPC | CLONE_NEWUTS;
    struct __user_cap_header_struct who = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct none[2] = {{0}};

    if (geteuid() == 0) {
        unshare(own);
        return;
    }
    if (!unshare(own | CLONE_NEWUSER))
        syscall(SYS_capset, &who, none); /* those of the new one's root */
}

int exec_sandbox_begin(uint64_t memory_bytes, uint32_t files, struct error *e)
{
    int r = 0;

    if (prctl(PR_SET_PDEATHSIG, SIGKILL) || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
        prctl(PR_SET_DUMPABLE, 0))
        return error_set(e, -errno, "prctl: %s", strerror(errno));
    r = limit(RLIMIT_CORE, 0, "core", e);
    if (!r)
        r = limit(RLIMIT_NOFILE, files, "files", e);
    /* A sanitizer's shadow is private memory too, terabytes of it. */
    if (!r && !SANITIZED)
        r = limit(RLIMIT_DATA, memory_bytes, "data", e);
    leave_namespaces();
    for (int cap = 0; cap < CAPABILITIES && !r && geteuid() == 0; cap++)
        prctl(PR_CAPBSET_DROP, cap, 0, 0, 0); /* numbers that do not exist are refused */
    return r;
}

/* Of this process alone, as long as there are fewer than there are numbers. */
static uid_t own_user(void)
{
    return TRANSIENT_FIRST + (uid_t)getpid() % (TRANSIENT_LAST - TRANSIENT_FIRST + 1);
}

/* Fails where the user is not known in our namespace. */
static int become(uid_t user)
{
    return setresgid(user, user, user) || setresuid(user, user, user) ? -1 : 0;
}

/* glibc carries these to every thread; leaving uid 0 clears their capabilities. */
static int drop_root(struct error *e)
{
    int r;

    if (geteuid() != 0)
        return 0;
    r = limit(RLIMIT_NPROC, PROCESSES, "processes", e);
    if (r)
        return r;
    if (setgroups(0, NULL) || (become(own_user()) && become(NOBODY)))
        return error_set(e, -errno, "cannot become user %d: %s", NOBODY, strerror(errno));
    if (setuid(0) == 0)
        return error_set(e, -EPERM, "still able to become root");
    /* Changing the user has taken these back. */
    if (prctl(PR_SET_PDEATHSIG, SIGKILL) || prctl(PR_SET_DUMPABLE, 0))
        return error_set(e, -errno, "prctl: %s", strerror(errno));
    return 0;
}

/* What our rings, libc, a software Vulkan driver and its compiler call. */
static const int allowed[] = {
    SCMP_SYS(futex),
    SCMP_SYS(write),
    SCMP_SYS(poll),
    SCMP_SYS(recvmsg),
    SCMP_SYS(sendto),
    SCMP_SYS(close),
    SCMP_SYS(munmap),
    SCMP_SYS(mremap),
    SCMP_SYS(mprotect),
    SCMP_SYS(madvise),
    SCMP_SYS(brk),
    SCMP_SYS(lseek),
    SCMP_SYS(clock_gettime),
    SCMP_SYS(clock_nanosleep),
    SCMP_SYS(nanosleep),
    SCMP_SYS(sched_yield),
    SCMP_SYS(sched_getaffinity),
    SCMP_SYS(getpid),
    SCMP_SYS(gettid),
    SCMP_SYS(sched_setaffinity),
    SCMP_SYS(getrandom),
    SCMP_SYS(sysinfo),
    SCMP_SYS(set_robust_list),
    SCMP_SYS(rseq),
    SCMP_SYS(sigaltstack),
    SCMP_SYS(rt_sigprocmask),
    SCMP_SYS(rt_sigreturn),
    SCMP_SYS(exit),
    SCMP_SYS(exit_group),
    SCMP_SYS(getcpu),
    SCMP_SYS(writev),
    SCMP_SYS(restart_syscall),
};

/* Besides, for drivers of real devices. ioctl has a rule of its own. */
static const int allowed_for_hardware[] = {
    SCMP_SYS(openat),     SCMP_SYS(newfstatat),    SCMP_SYS(statx),        SCMP_SYS(readlink),
    SCMP_SYS(readlinkat), SCMP_SYS(access),        SCMP_SYS(faccessat),    SCMP_SYS(faccessat2),
    SCMP_SYS(getdents64), SCMP_SYS(read),          SCMP_SYS(pread64),      SCMP_SYS(fstat),
    SCMP_SYS(dup),        SCMP_SYS(epoll_create1), SCMP_SYS(epoll_ctl),    SCMP_SYS(epoll_wait),
    SCMP_SYS(eventfd2),   SCMP_SYS(geteuid),       SCMP_SYS(getuid),       SCMP_SYS(getgid),
    SCMP_SYS(getegid),    SCMP_SYS(fstatfs),       SCMP_SYS(memfd_create), SCMP_SYS(ftruncate),
    SCMP_SYS(uname),      SCMP_SYS(ppoll),         SCMP_SYS(membarrier),   SCMP_SYS(gettimeofday),
};

/* Refused with an errno, not deadly: what libraries ask the system in the middle of long work, and do without. LLVM wants to know
 * what its error stream is, malloc how many processors there are once more than eight threads have memory, and how the kernel gives
 * out memory before a thread's heap first shrinks; all of them take another way where there is no such file. A guest gains nothing:
 * no file is opened or looked at. */
static const int refused[] = {
    SCMP_SYS(open),
    SCMP_SYS(openat),
    SCMP_SYS(openat2),
    SCMP_SYS(stat),
    SCMP_SYS(lstat),
    SCMP_SYS(fstat),
    SCMP_SYS(newfstatat),
    SCMP_SYS(statx),
    SCMP_SYS(statfs),
    SCMP_SYS(fstatfs),
    SCMP_SYS(access),
    SCMP_SYS(faccessat),
    SCMP_SYS(faccessat2),
    SCMP_SYS(readlink),
    SCMP_SYS(readlinkat),
    SCMP_SYS(getcwd),
    SCMP_SYS(uname),
    SCMP_SYS(membarrier),
    SCMP_SYS(prlimit64),
    SCMP_SYS(getrusage),
    SCMP_SYS(sched_getparam),
    SCMP_SYS(sched_getscheduler),
    SCMP_SYS(sched_setscheduler),
    SCMP_SYS(get_mempolicy),
};

static bool is_in(const int *list, size_t n, int call)
{
    for (size_t i = 0; i < n; i++)
        if (list[i] == call)
            return true;
    return false;
}

static int add_list(scmp_filter_ctx f, const int *list, size_t n)
{
    int r = 0;

    for (size_t i = 0; i < n && !r; i++)
        r = seccomp_rule_add(f, SCMP_ACT_ALLOW, list[i], 0);
    return r;
}

/* A filter has one rule for a call that is not looked into: what a driver of a real device may call is not refused besides. */
static int add_refused(scmp_filter_ctx f, bool hardware)
{
    int r = 0;

    for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]) && !r; i++)
        if (!hardware || !is_in(allowed_for_hardware,
                                sizeof(allowed_for_hardware) / sizeof(allowed_for_hardware[0]), refused[i]))
            r = seccomp_rule_add(f, SCMP_ACT_ERRNO(EACCES), refused[i], 0);
    if (!r) /* isatty */
        r = seccomp_rule_add(f, SCMP_ACT_ERRNO(ENOTTY), SCMP_SYS(ioctl), 1, SCMP_A1(SCMP_CMP_EQ, TCGETS));
    return r;
}

/* Memory that is shared and anonymous is no process's data: no limit counts it. */
static int add_mmap(scmp_filter_ctx f)
{
    const uint64_t shared = MAP_SHARED, anonymous = MAP_ANONYMOUS;
    int r = seccomp_rule_add(f, SCMP_ACT_ALLOW, SCMP_SYS(mmap), 1, SCMP_A3(SCMP_CMP_MASKED_EQ, anonymous, 0));

    return r ? r
             : seccomp_rule_add(f, SCMP_ACT_ALLOW, SCMP_SYS(mmap), 1,
                                SCMP_A3(SCMP_CMP_MASKED_EQ, anonymous | shared, anonymous));
}

/* Calls that are allowed with some arguments only. */
static int add_conditional(scmp_filter_ctx f, bool hardware)
{
    const uint64_t thread = CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD;
    int r =
        seccomp_rule_add(f, SCMP_ACT_ALLOW, SCMP_SYS(clone), 1, SCMP_A0(SCMP_CMP_MASKED_EQ, thread, thread));

    /* Its arguments are in memory, where a filter cannot look: libc falls back to clone. */
    if (!r)
        r = seccomp_rule_add(f, SCMP_ACT_ERRNO(ENOSYS), SCMP_SYS(clone3), 0);
    if (!r)
        r = seccomp_rule_add(f, SCMP_ACT_ALLOW, SCMP_SYS(tgkill), 1,
                             SCMP_A0(SCMP_CMP_EQ, (scmp_datum_t)getpid()));
    if (!r)
        r = seccomp_rule_add(f, SCMP_ACT_ALLOW, SCMP_SYS(prctl), 1, SCMP_A0(SCMP_CMP_EQ, PR_SET_NAME));
    if (!r)
        r = seccomp_rule_add(f, SCMP_ACT_ALLOW, SCMP_SYS(fcntl), 1, SCMP_A1(SCMP_CMP_EQ, F_GETFL));
    if (!r)
        r = seccomp_rule_add(f, SCMP_ACT_ALLOW, SCMP_SYS(fcntl), 1, SCMP_A1(SCMP_CMP_EQ, F_DUPFD_CLOEXEC));
    /* The byte that says whose number it is: DRM, dma-buf, KFD, NVIDIA, sync files. FIONBIO is a terminal's.
     */
    for (const char *type = "dbKF>"; *type && !r && hardware; type++)
        r = seccomp_rule_add(f, SCMP_ACT_ALLOW, SCMP_SYS(ioctl), 1,
                             SCMP_A1(SCMP_CMP_MASKED_EQ, 0xff00, (scmp_datum_t)*type << 8));
    return r;
}

/* Files that it has, and may make: none with a software driver, nor is there anything for it to open. Memory files of
 * a hardware driver are as long as its own memory may be. */
static int limit_files(bool hardware, struct error *e)
{
    struct rlimit data;

    if (hardware)
        return getrlimit(RLIMIT_DATA, &data) ? error_set(e, -errno, "getrlimit data: %s", strerror(errno))
                                             : limit(RLIMIT_FSIZE, data.rlim_max, "file size", e);
    if (geteuid() == 0 && (chroot("/proc/self/fdinfo") || chdir("/")))
        log_debug("executor", "the root folder stays: %s", strerror(errno));
    return limit(RLIMIT_FSIZE, 0, "file size", e);
}

int exec_sandbox_enter(bool hardware, struct error *e)
{
    int r = SANITIZED ? 0 : limit_files(hardware, e);
    scmp_filter_ctx f;

    if (!r)
        r = drop_root(e);
    if (r)
        return r;
    if (SANITIZED)
        return 0; /* their runtime opens files and more when it has something to say */
    f = seccomp_init(SCMP_ACT_KILL_PROCESS);
    if (!f)
        return error_set(e, -ENOMEM, "cannot make a system call filter");
    r = seccomp_attr_set(f, SCMP_FLTATR_CTL_TSYNC, 1);
    if (!r)
        r = seccomp_attr_set(f, SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_KILL_PROCESS);
    if (!r)
        r = seccomp_attr_set(f, SCMP_FLTATR_CTL_OPTIMIZE, 2);
    if (!r)
        r = add_list(f, allowed, sizeof(allowed) / sizeof(allowed[0]));
    if (!r && hardware)
        r = add_list(f, allowed_for_hardware, sizeof(allowed_for_hardware) / sizeof(allowed_for_hardware[0]));
    if (!r)
        r = add_refused(f, hardware);
    if (!r)
        r = add_mmap(f);
    if (!r)
        r = add_conditional(f, hardware);
    if (!r)
        r = seccomp_load(f);
    seccomp_release(f);
    return r ? error_set(e, r, "cannot let the system call filter down: %s", strerror(-r)) : 0;
}
