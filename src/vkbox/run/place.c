/* SPDX-License-Identifier: MIT */
#include "vkbox/run/place.h"

#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include "vkbox/run/progress.h"

enum { STACK_BYTES = 64 << 10, MAX_MAPS = 1 << 20 };

struct mapping {
    uint64_t first, end;
    bool executable, driver, compiler;
    char rights[4]; /* "rwx", "-" for what is not allowed */
    bool common;    /* what programs and drivers call alike */
    bool programs;  /* code of the program, or of what it calls the driver by */
    char name[96];  /* the file's, without its folders; "" for none */
};

static bool begins_with_one_of(const char *name, const char *const *list)
{
    for (; *list; list++)
        if (!strncmp(name, *list, strlen(*list)))
            return true;
    return false;
}

/* False: the line is of no mapping. */
static bool read_mapping(const char *line, struct mapping *m)
{
    static const char *const drivers[] = {"libvulkan_", "libvk_swiftshader", "libVkICD", "libGLX_nvidia",
                                          "libnvidia-", "libLLVM",           NULL};
    /* What is on the stack of a driver's thread as well. */
    static const char *const common[] = {
        "libc.so", "libc-", "ld-linux", "libpthread", "libm.so", "libm-",    "libstdc++", "libgcc_s",
        "libdrm",  "libz",  "libelf",   "libexpat",   "libffi",  "libtinfo", "libedit",   NULL};
    static const char *const compilers[] = {"libLLVM", "libnvidia-gpucomp", "libnvidia-glvkspirv", NULL};
    char rights[8] = "", file[4096] = "";
    const char *base;

    if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %7s %*s %*s %*s %4095[^\n]", &m->first, &m->end, rights, file) <
        3)
        return false;
    base = strrchr(file, '/');
    base = base ? base + 1 : file;
    if (!strncmp(base, "memfd:", 6)) /* generated code, that its writer has mapped twice */
        base = "";
    m->executable = rights[2] == 'x';
    m->driver = begins_with_one_of(base, drivers);
    m->compiler = begins_with_one_of(base, compilers);
    m->common = begins_with_one_of(base, common);
    m->programs = m->executable && *base && *base != '[' && !m->driver && !m->common;
    snprintf(m->name, sizeof(m->name), "%.95s", base);
    snprintf(m->rights, sizeof(m->rights), "%.3s", rights);
    return true;
}

/* In the order of their addresses. All of them, or NULL and none: guard pages alone may be tens of thousands. */
static struct mapping *read_maps(pid_t pid, size_t *num)
{
    struct mapping *maps = NULL;
    char path[64], line[4400];
    size_t n = 0, room = 0;
    FILE *f;

    snprintf(path, sizeof(path), "/proc/%d/maps", (int)pid);
    f = fopen(path, "re");
    while (f && fgets(line, sizeof(line), f)) {
        if (n == room) {
            struct mapping *more =
                room < MAX_MAPS ? realloc(maps, (room = room ? 2 * room : 1024) * sizeof(*maps)) : NULL;

            if (!more) {
                n = 0;
                break;
            }
            maps = more;
        }
        n += read_mapping(line, &maps[n]);
    }
    if (f)
        fclose(f);
    if (!n) {
        free(maps);
        maps = NULL;
    }
    *num = n;
    return maps;
}

static const struct mapping *find(const struct mapping *maps, size_t n, uint64_t address)
{
    size_t low = 0;

    while (low < n) {
        size_t middle = low + (n - low) / 2;

        if (address >= maps[middle].first && address < maps[middle].end)
            return &maps[middle];
        if (address < maps[middle].first)
            n = middle;
        else
            low = middle + 1;
    }
    return NULL;
}

struct stack {
    bool driver; /* its code is there */
    bool program_first,
        program_last; /* of both, the program's is nearest; outermost: the thread is its own */
    bool handler;     /* of signals */
};

/* Where a handler returns to (sigreturn(2)): mov $15, %eax or %rax, and syscall. */
static bool is_sigreturn(int fd, uint64_t at)
{
    static const uint8_t by_rax[] = {0x48, 0xc7, 0xc0, 15, 0, 0, 0, 0x0f, 5},
                         by_eax[] = {0xb8, 15, 0, 0, 0, 0x0f, 5};
    uint8_t code[sizeof(by_rax)] = {0};

    return pread(fd, code, sizeof(code), (off_t)at) > 0 &&
           (!memcmp(code, by_rax, sizeof(by_rax)) || !memcmp(code, by_eax, sizeof(by_eax)));
}

/* Whether the kernel's frame of a signal lies there (arch/x86/include/asm/sigframe.h: struct rt_sigframe): the address to return to, the
 * flags and link of a ucontext, its stack, and the registers, of which the stack's pointer is one. */
static bool is_signal_frame(int fd, const struct mapping *maps, size_t n, const uint64_t *words, size_t num)
{
    enum { FLAGS = 1, LINK = 2, SP = 6 + 15, MOST_FLAGS = 7 };

    return num > SP && words[FLAGS] <= MOST_FLAGS && !words[LINK] && find(maps, n, words[SP]) &&
           is_sigreturn(fd, words[0]);
}

/* Who is on the stack: the words there that could be return addresses, and above them what the thread began with. */
static void look_at_stack(pid_t pid, const struct mapping *maps, size_t n, uint64_t sp, struct stack *out)
{
    uint64_t *words = malloc(STACK_BYTES);
    ssize_t got = 0;
    char path[64];
    int fd;

    snprintf(path, sizeof(path), "/proc/%d/mem", (int)pid);
    fd = words ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    if (fd >= 0) {
        const struct mapping *stack = find(maps, n, sp);
        size_t size = stack && stack->end - sp < STACK_BYTES ? stack->end - sp : STACK_BYTES;

        got = pread(fd, words, size, (off_t)sp);
    }
    *out = (struct stack){0};
    for (ssize_t i = 0; i < got / 8; i++) {
        const struct mapping *m = find(maps, n, words[i]);

        if (!m || !m->executable)
            continue;
        out->program_first |= m->programs && !out->driver;
        out->driver |= m->driver;
        if (m->driver || m->programs)
            out->program_last = m->programs;
        out->handler |= is_signal_frame(fd, maps, n, &words[i], (size_t)(got / 8 - i));
    }
    if (fd >= 0)
        close(fd);
    free(words);
}

static void place_in(pid_t pid, const struct mapping *maps, size_t n, uint64_t pc, uint64_t sp,
                     struct place *out)
{
    const struct mapping *m = maps ? find(maps, n, pc) : NULL;
    struct stack stack = {0};
    bool by_driver;

    *out = (struct place){.hidden = !n};
    if (maps && sp)
        look_at_stack(pid, maps, n, sp, &stack);
    by_driver = stack.driver && !stack.handler;
    out->called = stack.program_last;
    out->handler = stack.handler;
    if (m && m->name[0] && m->name[0] != '[') {
        uint64_t base = m->first;

        for (size_t i = 0; i < n; i++)
            if (!strcmp(maps[i].name, m->name) && maps[i].first < base)
                base = maps[i].first;
        snprintf(out->text, sizeof(out->text), "%s+0x%" PRIx64, m->name, pc - base);
        out->driver = !stack.handler && (m->driver || (m->common && by_driver && !out->called));
        out->compiler = m->compiler;
    } else if (m && m->executable) {
        out->driver = out->generated = by_driver;
        out->doubtful = by_driver && stack.program_first;
        snprintf(out->text, sizeof(out->text), "%s",
                 out->driver ? "code that the driver generated" : "generated code");
    } else if (n && !m) {
        snprintf(out->text, sizeof(out->text), "0x%" PRIx64 ", where nothing is", pc);
        out->driver = by_driver;
    }
    if (stack.handler)
        strncat(out->text, ", in a handler of signals", sizeof(out->text) - strlen(out->text) - 1);
}

void place_of(pid_t pid, uint64_t pc, uint64_t sp, struct place *out)
{
    size_t n = 0;
    struct mapping *maps = read_maps(pid, &n);

    place_in(pid, maps, n, pc, sp, out);
    free(maps);
}

void place_crash(pid_t pid, const struct vkbox *b, struct place *out)
{
    const uint32_t callbacks = atomic_load(&b->callbacks);

    place_of(pid, b->crash.pc, b->crash.sp, out);
    if (out->generated && out->called && !progress_is_submitting(b, b->crash.thread)) {
        out->generated = false;
        snprintf(out->text, sizeof(out->text), "generated code");
    }
    out->doubtful &= out->generated && (out->called || callbacks);
    out->doubtful |= out->generated && callbacks == VKBOX_GENERATED_CALLBACKS;
}

void place_mapped(pid_t pid, uint64_t address, char out[160])
{
    size_t n = 0;
    struct mapping *maps = read_maps(pid, &n);
    const struct mapping *m = find(maps, n, address);

    out[0] = '\0';
    if (m)
        snprintf(out, 160, "%s (%s)", m->name[0] ? m->name : "memory", m->rights);
    else if (n)
        snprintf(out, 160, "nothing");
    free(maps);
}

/* ---- threads ------------------------------------------------------------- */

static size_t list_threads(pid_t pid, pid_t out[PLACE_THREADS])
{
    const struct dirent *d;
    char path[64];
    size_t n = 0;
    DIR *dir;

    snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
    dir = opendir(path);
    while (dir && n < PLACE_THREADS && (d = readdir(dir)))
        if (atoi(d->d_name) > 0)
            out[n++] = atoi(d->d_name);
    if (dir)
        closedir(dir);
    return n;
}

static bool read_file(pid_t pid, pid_t tid, const char *name, char *text, size_t size)
{
    char path[96];
    ssize_t n = -1;
    int fd;

    snprintf(path, sizeof(path), "/proc/%d/task/%d/%s", (int)pid, (int)tid, name);
    fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd >= 0) {
        n = read(fd, text, size - 1);
        close(fd);
    }
    if (n > 0)
        text[n] = '\0';
    return n > 0;
}

bool place_blocks(pid_t pid, uint32_t tid, int signal)
{
    pid_t threads[PLACE_THREADS];
    size_t n = list_threads(pid, threads);
    char text[4096];

    for (size_t i = 0; i < n && signal > 0 && signal <= 64; i++) {
        const char *ids, *end, *mask;
        uint64_t blocked;

        if (!read_file(pid, threads[i], "status", text, sizeof(text)) || !(ids = strstr(text, "\nNSpid:")) ||
            !(end = strchr(ids + 1, '\n')) || !(mask = strstr(end, "\nSigBlk:")))
            continue;
        while (end[-1] >= '0' && end[-1] <= '9') /* the last is that of the innermost namespace */
            end--;
        if (strtoul(end, NULL, 10) == tid && sscanf(mask, "\nSigBlk: %" SCNx64, &blocked) == 1)
            return blocked >> (signal - 1) & 1;
    }
    return false;
}

bool place_times(pid_t pid, struct place_times *out)
{
    pid_t threads[PLACE_THREADS];
    size_t n = list_threads(pid, threads), stopped = 0;
    char text[1024], *end;

    out->num_threads = 0;
    for (size_t i = 0; i < n; i++) {
        uint64_t ran = 0, held = 0;
        char state = 0;

        /* The name in front of the state may hold anything. */
        if (read_file(pid, threads[i], "stat", text, sizeof(text)) && (end = strrchr(text, ')')) && end[1])
            state = end[2];
        stopped += state == 'T' || state == 't';
        if (read_file(pid, threads[i], "schedstat", text, sizeof(text)) &&
            sscanf(text, "%" SCNu64 " %" SCNu64, &ran, &held) == 2) {
            out->threads[out->num_threads].tid = threads[i];
            out->threads[out->num_threads].ready = state == 'R';
            out->threads[out->num_threads].ran_ns = ran;
            out->threads[out->num_threads++].held_ns = held;
        }
    }
    out->stopped = n && stopped == n;
    return n > 0;
}

/* What thread `i` of the later look did since the earlier one. */
static void thread_between(const struct place_times *from, const struct place_times *to, size_t i,
                           uint64_t *ran, uint64_t *held)
{
    *ran = *held = 0;
    for (size_t j = 0; j < from->num_threads; j++)
        if (from->threads[j].tid == to->threads[i].tid) {
            *ran = from->threads[j].ran_ns;
            *held = from->threads[j].held_ns;
        }
    /* Less than before: another thread, which has the number of one that ended. */
    if (to->threads[i].ran_ns < *ran || to->threads[i].held_ns < *held)
        *ran = *held = 0;
    *ran = to->threads[i].ran_ns - *ran;
    *held = to->threads[i].held_ns - *held;
}

void place_times_between(const struct place_times *from, const struct place_times *to, struct place_span *out)
{
    *out = (struct place_span){0};
    for (size_t i = 0; i < to->num_threads; i++) {
        uint64_t ran, held;

        thread_between(from, to, i, &ran, &held);
        out->ready |= to->threads[i].ready;
        out->ran_ns += ran;
        out->held_ns += held;
        out->most_ns = ran > out->most_ns ? ran : out->most_ns;
    }
}

size_t place_slept(const struct place_times *from, const struct place_times *to, uint64_t timeout_ns)
{
    uint64_t ran, held;
    size_t n = 0;

    for (size_t i = 0; i < to->num_threads; i++) {
        thread_between(from, to, i, &ran, &held);
        n += ran < timeout_ns / 10;
    }
    return n;
}

/* One that ran for all of it could have come to its end. Else nobody may be ready: who is may have waited all the time, which the kernel
 * counts when it is over. And nobody may have been kept from running for a fifth of it; or for so long no thread ran or wanted to, even if
 * they took turns. */
bool place_let_run(const struct place_span *s, uint64_t waited_ns, uint64_t timeout_ns)
{
    return s->most_ns >= timeout_ns ||
           (!s->ready && (s->held_ns <= waited_ns / 5 || s->ran_ns + s->held_ns + timeout_ns <= waited_ns));
}

bool place_stopped(pid_t pid)
{
    char text[1024], *end;

    return read_file(pid, pid, "stat", text, sizeof(text)) && (end = strrchr(text, ')')) && end[1] == ' ' &&
           (end[2] == 'T' || end[2] == 't');
}

static uint64_t ran(pid_t pid, pid_t tid)
{
    char text[128];

    return read_file(pid, tid, "schedstat", text, sizeof(text)) ? strtoull(text, NULL, 10) : 0;
}

/* Stops a thread for as long as reading its registers takes. */
static bool where(pid_t tid, uint64_t *pc, uint64_t *sp)
{
#ifdef __x86_64__
    struct user_regs_struct regs;
    bool ok = false;
    int status;

    if (ptrace(PTRACE_SEIZE, tid, NULL, NULL))
        return false;
    if (!ptrace(PTRACE_INTERRUPT, tid, NULL, NULL) && waitpid(tid, &status, __WALL) == tid &&
        WIFSTOPPED(status) && !ptrace(PTRACE_GETREGS, tid, NULL, &regs)) {
        *pc = regs.rip;
        *sp = regs.rsp;
        ok = true;
    }
    ptrace(PTRACE_DETACH, tid, NULL, NULL);
    return ok;
#else
    return false;
#endif
}

enum place_compiler place_compiles(pid_t pid, const struct vkbox *b)
{
    pid_t threads[PLACE_THREADS];
    size_t n = list_threads(pid, threads), num_maps = 0;
    uint64_t before[PLACE_THREADS], pc, sp;
    struct mapping *maps = read_maps(pid, &num_maps);
    enum place_compiler is = PLACE_COMPILER_NONE;

    for (size_t i = 0; i < n; i++)
        before[i] = ran(pid, threads[i]);
    usleep(20000);
    for (size_t i = 0; maps && i < n && is != PLACE_COMPILER_DRIVERS; i++) {
        struct place at;

        if (ran(pid, threads[i]) == before[i] || !where(threads[i], &pc, &sp))
            continue;
        place_in(pid, maps, num_maps, pc, sp, &at);
        if (at.compiler)
            is = at.called && !progress_is_submitting(b, 0) ? PLACE_COMPILER_CALLED : PLACE_COMPILER_DRIVERS;
    }
    free(maps);
    return is;
}

bool place_works(pid_t pid, const struct place_times *from, const struct place_times *to, uint64_t timeout_ns)
{
    enum { LOOKS = 10, BETWEEN_US = 5000 };
    bool works = false, seen = false, any = false;
    size_t num_maps = 0;
    struct mapping *maps = read_maps(pid, &num_maps);

    for (int look = 0; look < LOOKS && !works; look++) {
        for (size_t i = 0; i < to->num_threads && !works; i++) {
            uint64_t ran_ns, held_ns, pc, sp;
            struct place at;

            thread_between(from, to, i, &ran_ns, &held_ns);
            if (ran_ns < timeout_ns / 2)
                continue;
            any = true;
            if (!maps || !num_maps || !where(to->threads[i].tid, &pc, &sp))
                continue;
            seen = true;
            place_in(pid, maps, num_maps, pc, sp, &at);
            works = at.driver && !at.doubtful && (at.generated || !at.called);
        }
        if (!works)
            usleep(BETWEEN_US);
    }
    free(maps);
    return works || (any && !seen);
}
