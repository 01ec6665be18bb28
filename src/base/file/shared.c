/* SPDX-License-Identifier: MIT */
#include "base/file/shared.h"

#include <signal.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

static struct mapping {
    uint8_t *at;
    size_t size;
    volatile sig_atomic_t is_cut;
} mappings[SHARED_MAPPINGS];
static size_t num_mappings; /* that are guarded */
static struct sigaction before;
static uintptr_t page;

static void on_bus(int sig, siginfo_t *info, void *context)
{
    uint8_t *address = info->si_addr;

    for (size_t i = 0; info->si_code > 0 && i < SHARED_MAPPINGS; i++) {
        struct mapping *m = &mappings[i];

        if (!m->at || address < m->at || address >= m->at + m->size)
            continue;
        m->is_cut = 1;
        if (mmap((void *)((uintptr_t)address & ~(page - 1)), page, PROT_READ | PROT_WRITE,
                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) != MAP_FAILED)
            return;
    }
    sigaction(sig, &before, NULL); /* the instruction is run again; what was sent is sent again */
    if (info->si_code <= 0)
        raise(sig);
}

void shared_guard(void *at, size_t size)
{
    struct sigaction mine = {.sa_sigaction = on_bus, .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART};

    for (size_t i = 0; i < SHARED_MAPPINGS; i++)
        if (!mappings[i].at) {
            page = (uintptr_t)sysconf(_SC_PAGESIZE);
            mappings[i] = (struct mapping){at, size, 0};
            if (!num_mappings++)
                sigaction(SIGBUS, &mine, &before);
            return;
        }
}

bool shared_unguard(const void *at)
{
    for (size_t i = 0; i < SHARED_MAPPINGS; i++)
        if (at && mappings[i].at == at) {
            mappings[i].at = NULL;
            if (!--num_mappings)
                sigaction(SIGBUS, &before, NULL);
            return mappings[i].is_cut;
        }
    return false;
}
