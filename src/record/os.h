/* SPDX-License-Identifier: MIT */
/* os.h: the little that the recorder needs from the system it runs on: os_linux.c, os_windows.c.
 *
 * The rest of the recorder is one source for both; locks are pthread mutexes (winpthreads is linked into the DLL).
 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct rec_thread;

/* Part of a file of `whole` bytes, mapped so that writes reach every process that maps it, whatever becomes of this one. It begins
 * at a multiple of 64 KiB. NULL: no. */
void *os_map_shared(const char *path, size_t whole, size_t at, size_t size);
void os_unmap(void *p, size_t size);

/* Nanoseconds of a clock that all recorded processes share. Its zero may differ from the collector's. */
uint64_t os_now_ns(void);
/* What to subtract from os_now_ns(), given when the collector began by its own clock. */
uint64_t os_epoch_ns(uint64_t collector_ns);

/* Sleeps while *p == v, at most 20 ms. `shared`: another process may change it. May return early. */
void os_wait(_Atomic uint32_t *p, uint32_t v, bool shared);
void os_wake(_Atomic uint32_t *p, bool shared);

/* Method tables lie in read-only data. */
bool os_make_writable(void *p, size_t n);

/* `ended` is called, on the thread, for every thread that called os_thread_mark. */
int os_threads_init(void (*ended)(struct rec_thread *t));
void os_thread_mark(struct rec_thread *t);

#ifdef _WIN32
/* A thread that os_thread_mark was called on ends. */
void os_thread_detach(void);

/* The compiler's own thread-local variables are a function call here; a slot of the thread's block is a load. */
extern unsigned os_tls_offset;
static inline struct rec_thread **os_thread_slot(void)
{
    uintptr_t teb;

#ifdef __x86_64__
    __asm__("movq %%gs:0x30, %0" : "=r"(teb));
#else
    __asm__("movl %%fs:0x18, %0" : "=r"(teb));
#endif
    return (struct rec_thread **)(teb + os_tls_offset);
}
#endif
