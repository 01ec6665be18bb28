/* SPDX-License-Identifier: MIT */
/* A RenderDoc that captures nothing, and says what it was asked. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static uint32_t captures, under_way;

/* The real one is not loaded into what its program starts. */
__attribute__((visibility("default"))) int execve(const char *path, char *const argv[], char *const env[])
{
    unsetenv("LD_PRELOAD");
    return (int)syscall(SYS_execve, path, argv, environ);
}

__attribute__((visibility("default"))) int execv(const char *path, char *const argv[])
{
    return execve(path, argv, environ);
}

static void begin(void *device, void *window)
{
    under_way = 1;
    fprintf(stderr, "stub: begin\n");
}

static uint32_t end(void *device, void *window)
{
    uint32_t was = under_way;

    under_way = 0;
    captures += was;
    fprintf(stderr, "stub: end\n");
    return was;
}

static uint32_t is_capturing(void)
{
    return under_way;
}

static uint32_t num_captures(void)
{
    return captures;
}

static uint32_t capture(uint32_t i, char *path, uint32_t *size, uint64_t *time)
{
    if (i >= captures)
        return 0;
    *size = (uint32_t)snprintf(path, *size, "/captured/%u.rdc", i);
    return 1;
}

int RENDERDOC_GetAPI(int version, void **out);
__attribute__((visibility("default"))) int RENDERDOC_GetAPI(int version, void **out)
{
    static void *api[22];

    if (version != 10000)
        return 0;
    api[13] = (void *)(uintptr_t)num_captures;
    api[14] = (void *)(uintptr_t)capture;
    api[19] = (void *)(uintptr_t)begin;
    api[20] = (void *)(uintptr_t)is_capturing;
    api[21] = (void *)(uintptr_t)end;
    *out = (void *)api;
    return 1;
}
