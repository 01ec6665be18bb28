/* SPDX-License-Identifier: MIT */
/* os_linux.c: the recorder's system calls on Linux (os.h). */
#include "record/os.h"

#include <fcntl.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static pthread_key_t key;
static void (*thread_ended)(struct rec_thread *t);

void *os_map_shared(const char *path, size_t whole, size_t at, size_t size)
{
    int fd = open(path, O_RDWR | O_CLOEXEC);
    struct stat st;
    void *map;

    if (fd < 0)
        return NULL;
    map = fstat(fd, &st) || (size_t)st.st_size != whole
              ? MAP_FAILED
              : mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, (off_t)at);
    close(fd);
    return map == MAP_FAILED ? NULL : map;
}

void os_unmap(void *p, size_t size)
{
    munmap(p, size);
}

uint64_t os_now_ns(void)
{
    struct timespec ts;

    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

uint64_t os_epoch_ns(uint64_t collector_ns)
{
    return collector_ns;
}

void os_wait(_Atomic uint32_t *p, uint32_t v, bool shared)
{
    struct timespec ts = {.tv_nsec = 20000000};

    syscall(SYS_futex, p, shared ? FUTEX_WAIT : FUTEX_WAIT_PRIVATE, v, &ts, NULL, 0);
}

void os_wake(_Atomic uint32_t *p, bool shared)
{
    syscall(SYS_futex, p, shared ? FUTEX_WAKE : FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

bool os_make_writable(void *p, size_t n)
{
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), a = (uintptr_t)p & ~(page - 1), b = (uintptr_t)p + n;

    return !mprotect((void *)a, b - a, PROT_READ | PROT_WRITE);
}

static void on_end(void *t)
{
    thread_ended(t);
}

int os_threads_init(void (*ended)(struct rec_thread *t))
{
    thread_ended = ended;
    return -pthread_key_create(&key, on_end);
}

void os_thread_mark(struct rec_thread *t)
{
    pthread_setspecific(key, t);
}
