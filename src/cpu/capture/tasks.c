/* SPDX-License-Identifier: MIT */
#include "cpu/capture/tasks.h"

#include <dirent.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/utf8.h"

#define KERNEL_THREAD 0x00200000u /* PF_KTHREAD */

static const struct {
    long number;
    const char *name;
} calls[] = {
    {SYS_futex, "futex"},      {SYS_fcntl, "fcntl"},      {SYS_flock, "flock"},
    {SYS_read, "read"},        {SYS_write, "write"},      {SYS_ioctl, "ioctl"},
    {SYS_semtimedop, "semop"}, {SYS_ppoll, "poll"},       {SYS_epoll_pwait, "epoll"},
    {SYS_nanosleep, "sleep"},  {SYS_wait4, "wait"},       {SYS_clock_nanosleep, "sleep"},
    {SYS_recvmsg, "receive"},  {SYS_recvfrom, "receive"}, {SYS_fsync, "fsync"},
    {SYS_fdatasync, "fsync"},  {SYS_pread64, "read"},     {SYS_pwrite64, "write"},
    {SYS_openat, "open"},      {SYS_execve, "exec"},
#ifdef SYS_poll
    {SYS_poll, "poll"},        {SYS_epoll_wait, "epoll"}, {SYS_semop, "semop"},
    {SYS_pause, "pause"},      {SYS_select, "poll"},      {SYS_vfork, "vfork"},
#endif
};

static size_t read_proc(int32_t tid, const char *file, char *text, size_t cap)
{
    char path[64];
    ssize_t n;
    int fd;

    snprintf(path, sizeof(path), "/proc/%d/%s", tid, file);
    fd = open(path, O_RDONLY | O_CLOEXEC);
    n = fd < 0 ? 0 : read(fd, text, cap - 1);
    if (fd >= 0)
        close(fd);
    text[n < 0 ? 0 : n] = '\0';
    return strcspn(text, "\n");
}

char cpu_task_state(const char *stat, unsigned *flags, int *threads)
{
    const char *end = strrchr(stat, ')'); /* a name may hold anything */
    char state = '\0';

    *flags = 0;
    *threads = 0;
    if (!end || sscanf(end, ") %c %*d %*d %*d %*d %*d %u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %d", &state,
                       flags, threads) < 1)
        return '\0';
    return state;
}

static char state_of(int32_t tid, unsigned *flags, int *threads)
{
    char text[512];

    read_proc(tid, "stat", text, sizeof(text));
    return cpu_task_state(text, flags, threads);
}

/* The number of `tid` in its own PID namespace, by the last one of NSpid; 0: there is none. */
static int32_t inner_number(int32_t tid)
{
    char text[4096];
    const char *line;
    int32_t number = 0;

    read_proc(tid, "status", text, sizeof(text));
    line = strstr(text, "\nNSpid:");
    for (char *end = line ? (char *)line + 7 : NULL; end && *end != '\n' && *end;) {
        const long n = strtol(line = end, &end, 10);

        if (end == line)
            break;
        number = (int32_t)n;
    }
    return number;
}

static bool is_in_process(int32_t pid, int32_t tid)
{
    char path[64];

    snprintf(path, sizeof(path), "/proc/%d/task/%d", pid, tid);
    return !access(path, F_OK);
}

/* Whom the number that a program of `waiter`'s PID namespace wrote means; 0: nobody who can be seen. */
static int32_t outer_number(int32_t waiter, int32_t number)
{
    char path[64];
    struct dirent *ent;
    int32_t found = 0;
    DIR *d;

    if (inner_number(waiter) == waiter)
        return number;
    snprintf(path, sizeof(path), "/proc/%d/task", waiter); /* of another process nobody knows */
    d = opendir(path);
    while (d && !found && (ent = readdir(d))) {
        const int32_t tid = (int32_t)strtol(ent->d_name, NULL, 10);
        if (tid > 0 && inner_number(tid) == number)
            found = tid;
    }
    if (d)
        closedir(d);
    return found;
}

/* The line of a process's map that has the address, or this file at this place: "08:01 1234", its device and inode. False: none. */
static bool find_map(int32_t tid, uint64_t address, const char *wanted, char file[64])
{
    char path[64], line[512], found[64];
    unsigned long long from, to, inode = 0;
    bool is = false;
    FILE *f;

    snprintf(path, sizeof(path), "/proc/%d/maps", tid);
    f = fopen(path, "re");
    while (f && !is && fgets(line, sizeof(line), f)) {
        char device[24];

        if (sscanf(line, "%llx-%llx %*s %*s %23s %llu", &from, &to, device, &inode) != 4)
            continue;
        snprintf(found, sizeof(found), "%s %llu", device, inode);
        is = inode && (wanted ? !strcmp(found, wanted) : address >= from && address < to);
    }
    if (f)
        fclose(f);
    if (is)
        snprintf(file, 64, "%s", found);
    return is;
}

/* A number in shared memory may be of any PID namespace: who can have the lock has that memory. */
static bool has_memory_of(int32_t holder, int32_t waiter, uint64_t address)
{
    char file[64], same[64];

    return find_map(waiter, address, NULL, file) && find_map(holder, 0, file, same);
}

/* Whether these words are a glibc mutex that is locked and waited for: lock, count, owner, users, kind. Many things wait for 2
 * (Mesa's fences do), and have something behind that which looks like a thread. */
static bool is_mutex(const uint32_t w[5])
{
    return w[0] == 2 && w[1] <= 1u << 16 && w[2] && w[3] >= 1 && w[3] <= 1u << 16 && !(w[4] & ~0x3ffu);
}

/* The kernel itself knows who holds it. */
static bool is_pi(int op)
{
    const int command = op & FUTEX_CMD_MASK;

    return command == FUTEX_LOCK_PI || command == 13; /* FUTEX_LOCK_PI2 */
}

int32_t cpu_task_futex_holder(int32_t tid, uint64_t address, uint64_t op, uint64_t value, bool *is_lock)
{
    const int command = (int)(op & FUTEX_CMD_MASK);
    const bool by_kernel = is_pi((int)op);
    const bool robust = command == FUTEX_WAIT && (uint32_t)value & FUTEX_WAITERS;
    uint32_t words[5] = {0};
    struct iovec to = {words, sizeof(words)}, from = {(void *)(uintptr_t)address, sizeof(words)};
    unsigned flags;
    int32_t holder;
    int threads;

    *is_lock = by_kernel;
    if (!by_kernel && !robust && !(command == FUTEX_WAIT && (uint32_t)value == 2))
        return 0;
    if (process_vm_readv(tid, &to, 1, &from, 1, 0) != (ssize_t)sizeof(words))
        return 0;
    if (!by_kernel && !robust && !is_mutex(words))
        return 0;
    holder = outer_number(tid, (int32_t)(by_kernel || robust ? words[0] & FUTEX_TID_MASK : words[2]));
    /* what only this process can reach only its threads hold */
    if (holder <= 0 || !state_of(holder, &flags, &threads) || flags & KERNEL_THREAD ||
        !(is_in_process(tid, holder) || (!(op & FUTEX_PRIVATE_FLAG) && has_memory_of(holder, tid, address))))
        holder = 0;
    *is_lock = by_kernel || holder;
    return holder;
}

int32_t cpu_task_lock_holder(FILE *locks, int32_t tid)
{
    char line[256];
    int32_t holder = 0, pid;

    while (fgets(line, sizeof(line), locks)) {
        if (sscanf(line, "%*d: -> %*s %*s %*s %d", &pid) == 1) {
            if (pid == tid)
                return holder > 0 ? holder : 0; /* -1: a lock of an open file */
        } else if (sscanf(line, "%*d: %*s %*s %*s %d", &pid) == 1) {
            holder = pid;
        }
    }
    return 0;
}

static int32_t file_lock_holder(int32_t tid)
{
    FILE *f = fopen("/proc/locks", "re");
    int32_t holder = f ? cpu_task_lock_holder(f, tid) : 0;

    if (f)
        fclose(f);
    return holder;
}

/* Whose device a file in /dev/dri is: " (amdgpu)". Many that are no GPU's lie there, and in a program's own mount namespace a FIFO
 * may have a device's name: that is a pipe. */
static void say_what_it_is(int32_t tid, uint64_t fd, char *out, size_t cap)
{
    char path[96], driver[128];
    struct stat st;
    ssize_t n;

    snprintf(path, sizeof(path), "/proc/%d/fd/%d", tid, (int)fd);
    if (stat(path, &st))
        return;
    if (!S_ISCHR(st.st_mode)) {
        snprintf(driver, sizeof(driver), "%s", out);
        snprintf(out, cap, "%s%.100s", S_ISFIFO(st.st_mode) ? "pipe:" : "file:", driver);
        return;
    }
    if (strncmp(out, "/dev/dri/", 9) != 0)
        return;
    snprintf(path, sizeof(path), "/sys/dev/char/%u:%u/device/driver", major(st.st_rdev), minor(st.st_rdev));
    n = readlink(path, driver, sizeof(driver) - 1);
    driver[n < 0 ? 0 : n] = '\0';
    if (strrchr(driver, '/'))
        snprintf(out + strlen(out), cap - strlen(out), " (%.31s)", strrchr(driver, '/') + 1);
}

static void object_of(int32_t tid, uint64_t fd, char *out, size_t cap)
{
    char path[64];
    ssize_t n;

    snprintf(path, sizeof(path), "/proc/%d/fd/%d", tid, (int)fd);
    n = readlink(path, out, cap - 1);
    out[n < 0 ? 0 : n] = '\0';
    if (!strncmp(out, "/dev/", 5))
        say_what_it_is(tid, fd, out, cap);
}

static void look_at(struct cpu_tasks *t, int32_t tid, char state)
{
    unsigned long long a[3] = {0};
    char text[256], where[64], object[128] = "", clean[100];
    const char state_text[] = {state, '\0'};
    const char *call = "";
    int32_t holder = 0;
    bool is_lock;
    long number = -1;
    size_t n;

    if (!state || !strchr("SDTt", state))
        return;
    n = read_proc(tid, "wchan", where, sizeof(where));
    where[n] = '\0';
    read_proc(tid, "syscall", text, sizeof(text));
    if (sscanf(text, "%ld %llx %llx %llx", &number, &a[0], &a[1], &a[2]) < 1)
        number = -1;
    for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++)
        if (calls[i].number == number)
            call = calls[i].name;
    if (!strcmp(call, "futex")) {
        holder = cpu_task_futex_holder(tid, a[0], a[1], a[2], &is_lock);
        snprintf(object, sizeof(object), "%s 0x%llx",
                 !is_lock           ? "futex"
                 : is_pi((int)a[1]) ? "mutex (PI)"
                                    : "mutex",
                 a[0]);
    } else if (number >= 0 && (strchr("rwi", call[0]) || !strcmp(call, "fcntl") || !strcmp(call, "flock")) &&
               *call) {
        object_of(tid, a[0], object, sizeof(object));
        if (call[0] == 'f')
            holder = file_lock_holder(tid);
    }
    clean[utf8_clean(clean, sizeof(clean) - 1, object, strlen(object))] =
        '\0'; /* names of files are anything */
    json_array_append_new(t->list,
                          json_pack("[i, s, s, s, s, i]", tid, state_text, call, where, clean, holder));
}

static void look_at_process(struct cpu_tasks *t, int32_t pid)
{
    char path[64], state;
    struct dirent *ent;
    unsigned flags;
    int threads;
    DIR *d;

    state = state_of(pid, &flags, &threads);
    if (!state || flags & KERNEL_THREAD || pid == getpid())
        return;
    if (threads <= 1) {
        look_at(t, pid, state);
        return;
    }
    snprintf(path, sizeof(path), "/proc/%d/task", pid);
    d = opendir(path);
    while (d && (ent = readdir(d))) {
        const int32_t tid = (int32_t)strtol(ent->d_name, NULL, 10);
        if (tid > 0)
            look_at(t, tid, state_of(tid, &flags, &threads));
    }
    if (d)
        closedir(d);
}

/* Of this thread: what else runs must not cut a look short. */
static uint64_t cpu_time(void)
{
    struct timespec ts;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
    return (uint64_t)ts.tv_sec * NSEC_PER_SEC + (uint64_t)ts.tv_nsec;
}

json_t *cpu_tasks_look(struct cpu_tasks *t, uint64_t budget_ns)
{
    DIR *d = opendir("/proc");
    struct dirent *ent;
    const uint64_t start = cpu_time();
    bool out_of_time = false;

    t->list = json_array();
    for (int round = 0; d && t->list && round < 2 && !out_of_time; round++) {
        const int32_t from = round ? 0 : t->resume, to = round ? t->resume : INT32_MAX;

        rewinddir(d);
        while (!out_of_time && (ent = readdir(d))) {
            const int32_t pid = (int32_t)strtol(ent->d_name, NULL, 10);

            if (pid <= from || pid > to)
                continue;
            look_at_process(t, pid);
            if (cpu_time() - start >= budget_ns) {
                t->resume = pid;
                out_of_time = true;
            }
        }
    }
    if (!out_of_time)
        t->resume = 0;
    if (d)
        closedir(d);
    return t->list;
}

static json_t *total(const char *file, const char *line)
{
    unsigned long long us = 0;
    char text[160];
    json_t *j = json_null();
    FILE *f = fopen(file, "re");

    while (f && fgets(text, sizeof(text), f)) {
        const char *at = strstr(text, "total=");
        if (!strncmp(text, line, strlen(line)) && at && sscanf(at, "total=%llu", &us) == 1)
            j = json_integer((json_int_t)us);
    }
    if (f)
        fclose(f);
    return j;
}

json_t *cpu_tasks_pressure(void)
{
    return json_pack("[o, o, o, o]", total("/proc/pressure/cpu", "some"),
                     total("/proc/pressure/memory", "some"), total("/proc/pressure/memory", "full"),
                     total("/proc/pressure/io", "some"));
}
