/* SPDX-License-Identifier: MIT */
/* library.c: the library in a Windows program, from its start (start.c begins with that, follow.c goes on); and this process, in the words of slot.c: by
 * the Linux below Wine.
 */
#include "d3d.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/windows/linux_call.h"
#include "lose/process.h"

enum {
    NR_READ = 0,
    NR_OPEN = 2,
    NR_FSTAT = 5,
    NR_GETPID = 39,
    NR_GETDENTS64 = 217,
    NR_GETTID = 186,
    LINUX_CLOEXEC = 02000000
};

uint64_t lose_now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

uint32_t process_id(void)
{
    static uint32_t pid;

    if (!pid)
        pid = (uint32_t)linux_call(NR_GETPID, 0, 0, 0, 0, 0, 0);
    return pid;
}

uint32_t process_thread(void)
{
    return (uint32_t)linux_call(NR_GETTID, 0, 0, 0, 0, 0, 0);
}

uint64_t process_space(void)
{
    return 0;
}

void process_name(char program[LOSE_PATH])
{
    char path[MAX_PATH] = "";
    size_t n;

    GetModuleFileNameA(NULL, path, sizeof(path));
    n = strlen(path);
    snprintf(program, LOSE_PATH, "%.127s", n < LOSE_PATH ? path : path + n - LOSE_PATH + 1);
}

/* ---- what it holds --------------------------------------------------------- */

static size_t read_file(const char *path, char *text, size_t size)
{
    int fd = (int)linux_call(NR_OPEN, (uintptr_t)path, LINUX_CLOEXEC, 0, 0, 0, 0);
    long long n = fd < 0 ? 0 : linux_call(NR_READ, (uint64_t)fd, (uintptr_t)text, size - 1, 0, 0, 0);

    if (fd >= 0)
        close(fd);
    text[n > 0 ? n : 0] = '\0';
    return n > 0 ? (size_t)n : 0;
}

static uint64_t number(const char *text, const char *word)
{
    const char *at = strstr(text, word);

    return at ? strtoull(at + strlen(word), NULL, 10) : 0;
}

static uint64_t count_fds(void)
{
    int fd = (int)linux_call(NR_OPEN, (uintptr_t) "/proc/self/fd", LINUX_CLOEXEC, 0, 0, 0, 0);
    uint64_t n = 0;
    char entries[4096];
    long long got;

    while (fd >= 0 &&
           (got = linux_call(NR_GETDENTS64, (uint64_t)fd, (uintptr_t)entries, sizeof(entries), 0, 0, 0)) > 0)
        for (long long at = 0; at < got; n++) {
            uint16_t size;
            memcpy(&size, entries + at + 16, sizeof(size));
            at += size;
        }
    if (fd >= 0)
        close(fd);
    return n > 2 ? n - 2 : 0; /* . and .. */
}

void process_held(struct lose_device *slot)
{
    char text[4096];

    atomic_store(&slot->fds, count_fds());
    if (!read_file("/proc/self/status", text, sizeof(text)))
        return;
    atomic_store(&slot->threads, number(text, "\nThreads:"));
    atomic_store(&slot->bytes, number(text, "\nRssAnon:") << 10);
}

bool process_is_deaf(void)
{
    return false;
}

void process_marks_loss(void)
{
    /* Vulkan's validation layer says nothing of Direct3D's devices. */
}

/* ---- the record ------------------------------------------------------------ */

static struct lose_record *map_record(int fd)
{
    uint64_t stat[18] = {0}; /* st_size is the seventh */
    struct lose_record *r;

    if (linux_call(NR_FSTAT, (uint64_t)fd, (uintptr_t)stat, 0, 0, 0, 0) || stat[6] != sizeof(*r))
        return NULL;
    r = mmap(NULL, sizeof(*r), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (r == MAP_FAILED)
        return NULL;
    if (r->magic == LOSE_MAGIC && r->size == sizeof(*r))
        return r;
    munmap(r, sizeof(*r));
    return NULL;
}

/* Inherited; where Wine has closed it, by the path. */
void lose_open_record(void)
{
    const char *path = getenv(LOSE_VARIABLE), *last = path ? strrchr(path, '/') : NULL;
    int fd;

    if (!last || lose_record)
        return;
    lose_record = map_record(atoi(last + 1));
    fd = lose_record ? -1 : (int)linux_call(NR_OPEN, (uintptr_t)path, O_RDWR | LINUX_CLOEXEC, 0, 0, 0, 0);
    if (fd >= 0) {
        lose_record = map_record(fd);
        close(fd);
    }
}

/* ---- how it ends ----------------------------------------------------------- */

static LPTOP_LEVEL_EXCEPTION_FILTER before;

/* What nobody handles ends the process: Wine lets it exit(). The numbers are Linux's signals. */
static LONG WINAPI note_exception(EXCEPTION_POINTERS *p)
{
    uint32_t none = 0, sig;
    LONG what;

    switch (p->ExceptionRecord->ExceptionCode) {
    case EXCEPTION_ILLEGAL_INSTRUCTION:
    case EXCEPTION_PRIV_INSTRUCTION:
        sig = 4;
        break;
    case EXCEPTION_BREAKPOINT:
        sig = 5;
        break;
    case EXCEPTION_INT_DIVIDE_BY_ZERO:
    case EXCEPTION_FLT_DIVIDE_BY_ZERO:
        sig = 8;
        break;
    default:
        sig = 11;
    }
    if (atomic_compare_exchange_strong(&lose_record->died_pid, &none, process_id())) {
        atomic_store(&lose_record->died_tid, process_thread());
        atomic_store(&lose_record->died_of, sig);
    }
    what = before ? before(p) : EXCEPTION_CONTINUE_SEARCH;
    if (what == EXCEPTION_CONTINUE_EXECUTION && atomic_load(&lose_record->died_pid) == process_id()) {
        atomic_store(&lose_record->died_of, 0); /* it has mended that */
        atomic_store(&lose_record->died_pid, 0);
    }
    return what;
}

void lose_watch_signals(void)
{
    static _Atomic bool done;

    if (!atomic_exchange(&done, true))
        before = SetUnhandledExceptionFilter(note_exception);
}

static void note_exit(void)
{
    for (uint32_t i = 0; lose_record && i < LOSE_DEVICES; i++)
        if (atomic_load(&lose_record->device[i].pid) == process_id())
            atomic_store(&lose_record->device[i].left_ns, lose_now());
}

/* ---- the library ----------------------------------------------------------- */

static void open_all(void)
{
    d3d9_open();
    d3d11_open();
    d3d12_open();
}

/* A library came. */
static void CALLBACK on_library(ULONG reason, const void *data, void *context)
{
    if (reason == 1)
        open_all();
}

BOOL WINAPI DllMain(HINSTANCE self, DWORD reason, LPVOID reserved)
{
    LONG(WINAPI * notify)(ULONG, void *, void *, void **);
    void *cookie;

    if (reason == DLL_PROCESS_DETACH && reserved)
        note_exit();
    if (reason != DLL_PROCESS_ATTACH)
        return TRUE;
    lose_open_record();
    if (!lose_record)
        return TRUE;
    follow_open(self);
    open_all();
    notify = (void *)GetProcAddress(GetModuleHandleA("ntdll.dll"), "LdrRegisterDllNotification");
    if (notify)
        notify(0, on_library, NULL, &cookie);
    return TRUE;
}
