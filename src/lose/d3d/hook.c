/* SPDX-License-Identifier: MIT */
#include "hook.h"

#include <string.h>

enum { JUMP = 12, METHODS = 1024 };

/* Of calls of exports, and of the tables below. Recursive: one export calls another. */
static CRITICAL_SECTION lock;
static bool ready;
static struct {
    void **table, *was;
    unsigned index;
} methods[METHODS];
static unsigned num_methods;

static void begin(void)
{
    if (!ready)
        InitializeCriticalSection(&lock); /* by the loader's lock, before there are threads that call */
    ready = true;
    EnterCriticalSection(&lock);
}

static void put(void *at, const void *bytes, size_t n)
{
    DWORD old;

    if (!VirtualProtect(at, n, PAGE_EXECUTE_READWRITE, &old))
        return;
    memcpy(at, bytes, n);
    VirtualProtect(at, n, old, &old);
}

/* mov rax, ours; jmp rax */
static void lead(struct hook_export *e)
{
    uint8_t jump[JUMP] = {0x48, 0xB8, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xE0};

    memcpy(jump + 2, &e->ours, sizeof(e->ours));
    put(e->at, jump, JUMP);
}

void hook_exports(struct hook_export *exports, size_t n)
{
    begin();
    for (size_t i = 0; i < n; i++) {
        struct hook_export *e = &exports[i];
        HMODULE library = e->at ? NULL : GetModuleHandleA(e->library);

        e->at = library ? (uint8_t *)(void *)GetProcAddress(library, e->name) : e->at;
        if (library && e->at) {
            memcpy(e->was, e->at, JUMP);
            lead(e);
        }
    }
    LeaveCriticalSection(&lock);
}

void hook_leave(struct hook_export *e)
{
    begin();
    put(e->at, e->was, JUMP);
}

void hook_enter(struct hook_export *e)
{
    lead(e);
    LeaveCriticalSection(&lock);
}

void hook_method(void *object, unsigned index, void *ours)
{
    void **table = *(void ***)object;

    begin();
    if (table[index] != ours && num_methods < METHODS) {
        methods[num_methods].table = table;
        methods[num_methods].index = index;
        methods[num_methods].was = table[index];
        MemoryBarrier();
        num_methods++;
        put(&table[index], &ours, sizeof(ours));
    }
    LeaveCriticalSection(&lock);
}

void *hook_was(void *object, unsigned index)
{
    void **table = *(void ***)object;

    for (unsigned i = 0; i < num_methods; i++)
        if (methods[i].table == table && methods[i].index == index)
            return methods[i].was;
    return NULL;
}
