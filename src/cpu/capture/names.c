#include "cpu/capture/names.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SET_SIZE 16384 /* more than any report prints; what comes after it stays a number */

struct set {
    uint64_t keys[SET_SIZE]; /* 0 = free */
    uint32_t num;
};

struct cpu_names {
    struct set addresses, threads;
};

struct cpu_names *cpu_names_create(void)
{
    return calloc(1, sizeof(struct cpu_names));
}

void cpu_names_destroy(struct cpu_names *n)
{
    free(n);
}

static void set_add(struct set *s, uint64_t key)
{
    uint32_t i = (uint32_t)((key * UINT64_C(0x9E3779B97F4A7C15)) >> 50);

    if (!key || s->num >= SET_SIZE / 2)
        return;
    for (; s->keys[i]; i = (i + 1) % SET_SIZE)
        if (s->keys[i] == key)
            return;
    s->keys[i] = key;
    s->num++;
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

static void resolve_addresses(const struct set *s, const char *kallsyms, json_t *out)
{
    FILE *f = fopen(kallsyms, "re");
    struct symbol *best = calloc(SET_SIZE, sizeof(*best));
    char line[512], name[256], key[32], text[100];
    unsigned long long address;
    uint32_t n = 0;

    /* best[] holds the wanted addresses, sorted; for each, the nearest symbol at or below it */
    uint64_t *near = calloc(SET_SIZE, sizeof(*near));
    if (!f || !best || !near)
        goto out;
    for (uint32_t i = 0; i < SET_SIZE; i++)
        if (s->keys[i])
            best[n++].address = s->keys[i];
    qsort(best, n, sizeof(*best), by_address);
    while (n && fgets(line, sizeof(line), f)) {
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
    if (f)
        fclose(f);
}

static void resolve_threads(const struct set *s, const char *saved, json_t *out)
{
    char path[64], comm[64], key[24];
    const char *line = saved;

    while (line && *line) {
        char *end;
        long tid = strtol(line, &end, 10);
        const char *nl = strchr(line, '\n');
        if (tid > 0 && *end == ' ') {
            snprintf(key, sizeof(key), "%ld", tid);
            snprintf(comm, sizeof(comm), "%.*s", nl ? (int)(nl - end - 1) : 63, end + 1);
            for (uint32_t i = 0; i < SET_SIZE; i++)
                if (s->keys[i] == (uint64_t)tid)
                    json_object_set_new(out, key, json_string(comm));
        }
        line = nl ? nl + 1 : NULL;
    }
    for (uint32_t i = 0; i < SET_SIZE; i++) {
        ssize_t n;
        int fd;
        if (!s->keys[i])
            continue;
        snprintf(key, sizeof(key), "%llu", (unsigned long long)s->keys[i]);
        snprintf(path, sizeof(path), "/proc/%.20s/comm", key);
        fd = open(path, O_RDONLY | O_CLOEXEC);
        n = fd >= 0 ? read(fd, comm, sizeof(comm) - 1) : -1;
        if (fd >= 0)
            close(fd);
        if (n <= 0)
            continue;
        comm[n - (comm[n - 1] == '\n')] = '\0';
        json_object_set_new(out, key, json_string(comm));
    }
}

json_t *cpu_names_resolve(const struct cpu_names *n, const char *kallsyms, const char *saved_cmdlines)
{
    json_t *symbols = json_object(), *threads = json_object();

    resolve_addresses(&n->addresses, kallsyms, symbols);
    resolve_threads(&n->threads, saved_cmdlines, threads);
    return json_pack("{s:o, s:o}", "symbols", symbols, "threads", threads);
}
