/* SPDX-License-Identifier: MIT */
#include "d3d12/view/llvm.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/program.h"
#include "base/strbuf.h"

#define MOST_TEXT   (4u << 20)
#define MOST_MEMORY (4ull << 30)
#define MOST_CPU_S  10
#define NEWEST      14
#define OLDEST      7
#define KEPT        32

static bool find(char *path, size_t size)
{
    char name[16];

    for (int v = NEWEST; v >= OLDEST; v--) {
        snprintf(name, sizeof(name), "llvm-dis-%d", v);
        if (program_in_path(name, path, size))
            return true;
    }
    return program_in_path("llvm-dis", path, size);
}

struct plumbing {
    int from, to; /* what it reads and writes */
};

/* In the child. */
static void plumb(void *ctx)
{
    const struct plumbing *x = ctx;
    const struct rlimit cpu = {MOST_CPU_S, MOST_CPU_S}, memory = {MOST_MEMORY, MOST_MEMORY}, core = {0, 0};

    dup2(x->from, 0);
    dup2(x->to, 1);
    if (!freopen("/dev/null", "w", stderr))
        close(2);
    setrlimit(RLIMIT_CPU, &cpu);
    setrlimit(RLIMIT_AS, &memory);
    setrlimit(RLIMIT_CORE, &core);
}

enum got { ALL, TOO_MUCH, NOTHING };

static enum got disassemble(struct strbuf *out, char *llvm, int bitcode)
{
    char *argv[] = {llvm, (char[]){"-o"}, (char[]){"-"}, (char[]){"-"}, NULL};
    char bytes[4096];
    int pipes[2], status = -1;
    struct plumbing x;
    ssize_t n;
    pid_t pid;

    if (pipe(pipes))
        return NOTHING;
    x = (struct plumbing){bitcode, pipes[1]};
    pid = program_start(argv, plumb, &x);
    close(pipes[1]);
    while (pid > 0 && out->len < MOST_TEXT && (n = read(pipes[0], bytes, sizeof(bytes))) > 0)
        strbuf_append(out, bytes, (size_t)n);
    close(pipes[0]);
    if (pid <= 0 || waitpid(pid, &status, 0) != pid || !out->len || strbuf_failed(out))
        return NOTHING;
    return out->len >= MOST_TEXT ? TOO_MUCH : status ? NOTHING : ALL;
}

static void make(struct llvm_text *t, const uint8_t *bitcode, size_t size)
{
    struct strbuf text = {0};
    char llvm[4096];
    int fd;

    if (!find(llvm, sizeof(llvm))) {
        snprintf(t->why, sizeof(t->why),
                 "%zu bytes of LLVM bitcode; llvm-dis (package llvm-14), which prints it, is not installed",
                 size);
        return;
    }
    fd = memfd_create("bitcode", MFD_CLOEXEC);
    if (fd >= 0 && write(fd, bitcode, size) == (ssize_t)size && !lseek(fd, 0, SEEK_SET))
        switch (disassemble(&text, llvm, fd)) {
        case ALL:
            t->text = text.data;
            break;
        case TOO_MUCH:
            t->text = text.data;
            snprintf(t->why, sizeof(t->why), "it goes on: %u MiB of text are shown", MOST_TEXT >> 20);
            break;
        case NOTHING:
            break;
        }
    if (fd >= 0)
        close(fd);
    t->size = text.len;
    if (!t->text) {
        strbuf_finish(&text);
        snprintf(t->why, sizeof(t->why), "%zu bytes of LLVM bitcode that %.100s does not print", size, llvm);
    }
}

const struct llvm_text *llvm_text(const uint8_t *bitcode, size_t size)
{
    static struct {
        uint64_t hash;
        struct llvm_text t;
    } kept[KEPT];
    static size_t next;
    const uint64_t hash = XXH3_64bits(bitcode, size);
    struct llvm_text *t;

    for (size_t i = 0; i < KEPT; i++)
        if (kept[i].hash == hash && (kept[i].t.text || *kept[i].t.why))
            return &kept[i].t;
    t = &kept[next].t;
    kept[next].hash = hash;
    next = (next + 1) % KEPT;
    free((void *)(uintptr_t)t->text);
    *t = (struct llvm_text){0};
    make(t, bitcode, size);
    return t;
}
