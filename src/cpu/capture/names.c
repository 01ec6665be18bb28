/* SPDX-License-Identifier: MIT */
#include "cpu/capture/names.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/map.h"
#include "base/utf8.h"

#define MOST 8192 /* more than any report prints; what comes after it stays a number */

struct cpu_names {
    struct map addresses; /* keys only */
    struct map threads;   /* when each had its present name, or number, last seen to begin; 0: not seen to */
};

struct cpu_names *cpu_names_create(void)
{
    return calloc(1, sizeof(struct cpu_names));
}

void cpu_names_destroy(struct cpu_names *n)
{
    if (!n)
        return;
    map_finish(&n->addresses);
    map_finish(&n->threads);
    free(n);
}

static void set_add(struct map *s, uint64_t key)
{
    if (key && s->num < MOST)
        map_put(s, key); /* without memory it stays a number */
}

void cpu_names_event(struct cpu_names *n, const struct cpu_event *ev)
{
    if (ev->tid > 0)
        set_add(&n->threads, (uint64_t)ev->tid);
    switch (ev->kind) {
    case CPU_EV_IPI_SEND:
    case CPU_EV_IPI_SEND_MASK:
        set_add(&n->addresses, ev->b);
        set_add(&n->addresses, ev->c);
        break;
    case CPU_EV_CSD_QUEUE:
    case CPU_EV_CSD_ENTRY:
        set_add(&n->addresses, ev->b);
        break;
    case CPU_EV_SWITCH:
        set_add(&n->threads, ev->a);
        set_add(&n->threads, ev->c);
        break;
    case CPU_EV_TASK:
    case CPU_EV_RENAME:
        set_add(&n->threads, ev->a);
        if (map_find(&n->threads, ev->a))
            *map_find(&n->threads, ev->a) = ev->ns;
        break;
    default:
        break;
    }
}

struct symbol {
    uint64_t address;
    char name[64];
};

static int by_address(const void *a, const void *b)
{
    const struct symbol *x = a, *y = b;

    return (x->address > y->address) - (x->address < y->address);
}

static void resolve_addresses(const struct map *s, FILE *f, json_t *out)
{
    struct symbol *best = calloc(s->num + 1, sizeof(*best));
    struct map_slot slot;
    char *line = NULL, name[256], key[32], text[100];
    size_t cap = 0;
    unsigned long long address;
    uint32_t n = 0;

    /* best[] holds the wanted addresses, sorted; for each, the nearest symbol at or below it */
    uint64_t *near = calloc(s->num + 1, sizeof(*near));
    if (!f || !best || !near)
        goto out;
    for (size_t at = 0; map_next(s, &at, &slot);)
        best[n++].address = slot.key;
    qsort(best, n, sizeof(*best), by_address);
    while (n && getline(&line, &cap, f) > 0) { /* names may be longer than any buffer */
        uint32_t lo = 0, hi = n;
        if (sscanf(line, "%llx %*c %255s", &address, name) != 2 || !address)
            continue;
        while (lo < hi) {
            uint32_t mid = (lo + hi) / 2;
            if (best[mid].address < address)
                lo = mid + 1;
            else
                hi = mid;
        }
        /* this symbol is the better one for every wanted address above it up to one that has a nearer symbol
         */
        for (; lo < n && near[lo] < address; lo++) {
            near[lo] = address;
            snprintf(best[lo].name, sizeof(best[lo].name), "%.63s", name);
        }
    }
    for (uint32_t i = 0; i < n; i++) {
        if (!near[i] || best[i].address - near[i] > (1u << 20))
            continue;
        snprintf(key, sizeof(key), "0x%llx", (unsigned long long)best[i].address);
        if (best[i].address == near[i])
            snprintf(text, sizeof(text), "%s", best[i].name);
        else
            snprintf(text, sizeof(text), "%s+0x%llx", best[i].name,
                     (unsigned long long)(best[i].address - near[i]));
        json_object_set_new(out, key, json_string(text));
    }
out:
    free(near);
    free(best);
    free(line);
}

/* A thread may call itself anything. */
static json_t *name_json(const char *name, size_t size)
{
    char clean[64];

    return json_stringn(clean, utf8_clean(clean, sizeof(clean), name, strnlen(name, size)));
}

static void resolve_threads(const struct map *s, const char *saved, bool proc, json_t *out)
{
    char path[64], comm[64], key[24];
    const char *line = saved;
    struct map_slot slot;

    while (line && *line) {
        char *end;
        long tid = strtol(line, &end, 10);
        const char *nl = strchr(line, '\n');
        if (tid > 0 && *end == ' ') {
            snprintf(key, sizeof(key), "%ld", tid);
            if (map_find(s, (uint64_t)tid))
                json_object_set_new(out, key,
                                    name_json(end + 1, nl ? (size_t)(nl - end - 1) : strlen(end + 1)));
        }
        line = nl ? nl + 1 : NULL;
    }
    for (size_t at = 0; proc && map_next(s, &at, &slot);) {
        ssize_t n;
        int fd;

        snprintf(key, sizeof(key), "%llu", (unsigned long long)slot.key);
        snprintf(path, sizeof(path), "/proc/%.20s/comm", key);
        fd = open(path, O_RDONLY | O_CLOEXEC);
        n = fd >= 0 ? read(fd, comm, sizeof(comm) - 1) : -1;
        if (fd >= 0)
            close(fd);
        if (n <= 0)
            continue;
        json_object_set_new(out, key, name_json(comm, (size_t)(n - (comm[n - 1] == '\n'))));
    }
}

json_t *cpu_names_resolve(const struct cpu_names *n, FILE *kallsyms, const char *saved_cmdlines, bool proc)
{
    json_t *symbols = json_object(), *threads = json_object(), *since = json_object();
    struct map_slot slot;
    char key[24];

    resolve_addresses(&n->addresses, kallsyms, symbols);
    resolve_threads(&n->threads, saved_cmdlines, proc, threads);
    for (size_t at = 0; map_next(&n->threads, &at, &slot);) {
        snprintf(key, sizeof(key), "%llu", (unsigned long long)slot.key);
        if (slot.value)
            json_object_set_new(since, key, json_integer((json_int_t)slot.value));
    }
    return json_pack("{s:o, s:o, s:o}", "symbols", symbols, "threads", threads, "since_ns", since);
}
