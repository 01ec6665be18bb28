/* SPDX-License-Identifier: MIT */
/* os_windows.c: the recorder's system calls on Windows and Wine (os.h). */
#include "record/os.h"

#include <stdio.h>
#include <windows.h>

/* Of the 64 slots in the thread's block: part of the ABI since they are read inline. */
enum { TLS_SLOTS_AT = sizeof(void *) == 8 ? 0x1480 : 0xe10 };

unsigned os_tls_offset = TLS_SLOTS_AT;
static void (*thread_ended)(struct rec_thread *t);

void *os_map_shared(const char *path, size_t whole, size_t at, size_t size)
{
    char full[MAX_PATH];
    WCHAR wide[MAX_PATH];
    LARGE_INTEGER have;
    HANDLE file, section;
    void *map = NULL;

    /* Wine's name for a path of the system below it */
    snprintf(full, sizeof(full), "%s%s", path[0] == '/' ? "\\\\?\\unix" : "", path);
    if (!MultiByteToWideChar(CP_UTF8, 0, full, -1, wide, MAX_PATH))
        return NULL;
    file = CreateFileW(wide, GENERIC_READ | GENERIC_WRITE,
                       FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE, NULL, OPEN_EXISTING,
                       FILE_ATTRIBUTE_NORMAL, NULL);
    if (file == INVALID_HANDLE_VALUE)
        return NULL;
    if (GetFileSizeEx(file, &have) && (uint64_t)have.QuadPart == whole) {
        section = CreateFileMappingW(file, NULL, PAGE_READWRITE, 0, 0, NULL);
        if (section) {
            map = MapViewOfFile(section, FILE_MAP_WRITE, 0, (DWORD)at, size);
            CloseHandle(section); /* the view keeps it */
        }
    }
    CloseHandle(file);
    return map;
}

void os_unmap(void *p, size_t size)
{
    UnmapViewOfFile(p);
}

uint64_t os_now_ns(void)
{
    static uint64_t frequency;
    LARGE_INTEGER v;

    if (!frequency) {
        QueryPerformanceFrequency(&v);
        frequency = (uint64_t)v.QuadPart;
    }
    QueryPerformanceCounter(&v);
    return (uint64_t)v.QuadPart / frequency * 1000000000u +
           (uint64_t)v.QuadPart % frequency * 1000000000u / frequency;
}

/* The counter's zero is the system's own affair: time begins when the first process loads the recorder. */
uint64_t os_epoch_ns(uint64_t collector_ns)
{
    return os_now_ns();
}

void os_wait(_Atomic uint32_t *p, uint32_t v, bool shared)
{
    if (shared)
        Sleep(1); /* the other process is no Windows process under Wine */
    else
        WaitOnAddress((void *)p, &v, sizeof(v), 20);
}

/* The collector looks every few milliseconds by itself. */
void os_wake(_Atomic uint32_t *p, bool shared)
{
    if (!shared)
        WakeByAddressSingle((void *)p);
}

bool os_make_writable(void *p, size_t n)
{
    DWORD old;

    return VirtualProtect(p, n, PAGE_READWRITE, &old);
}

int os_threads_init(void (*ended)(struct rec_thread *t))
{
    DWORD slot = TlsAlloc();

    if (slot >= 64)
        return -1;
    os_tls_offset = TLS_SLOTS_AT + sizeof(void *) * slot;
    thread_ended = ended;
    return 0;
}

void os_thread_mark(struct rec_thread *t)
{
    *os_thread_slot() = t;
}

void os_thread_detach(void)
{
    struct rec_thread *t = thread_ended ? *os_thread_slot() : NULL;

    if (t)
        thread_ended(t);
}
