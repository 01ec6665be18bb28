/* SPDX-License-Identifier: MIT */
#include "d3d12/view/dxil.h"

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/program.h"

#define MOST_TEXT   (4u << 20)
#define MOST_CPU_S  10
#define NEWEST_LLVM 14 /* later ones have no typed pointers */

const struct dxbc_chunk *dxil_program(const struct dxbc *d)
{
    return dxbc_find(d, DXBC_FOURCC('D', 'X', 'I', 'L'));
}

/* ---- what is bound ------------------------------------------------------- */

bool dxil_binding(const struct dxbc *d, uint32_t i, struct dxil_binding *b)
{
    /* sampler, constants, then textures and buffers to read: typed, raw, structured; the same to write; structured with a counter */
    static const uint8_t kinds[] = {0, 3, 0, 2, 7, 5, 4, 8, 6, 11};
    const struct dxbc_chunk *c = dxbc_find(d, DXBC_FOURCC('P', 'S', 'V', '0'));
    struct bytes in = c ? bytes_of(c->data, c->size) : bytes_of(NULL, 0);
    uint32_t info = bytes_u32(&in), num, size, type, last;

    bytes_take(&in, info);
    num = bytes_u32(&in);
    size = num ? bytes_u32(&in) : 0;
    if (in.bad || i >= num || size < 16 || (uint64_t)i * size > c->size)
        return false;
    bytes_take(&in, (uint64_t)i * size);
    type = bytes_u32(&in);
    b->kind = type < sizeof(kinds) ? kinds[type] : UINT32_MAX;
    b->space = bytes_u32(&in);
    b->reg = bytes_u32(&in);
    last = bytes_u32(&in);
    b->count = last == UINT32_MAX ? 0 : last - b->reg + 1;
    return !in.bad;
}

/* ---- text ---------------------------------------------------------------- */

static bool find_llvm(char *path, size_t size)
{
    char name[16];

    for (int v = NEWEST_LLVM; v >= 7; v--) {
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
    const struct rlimit cpu = {MOST_CPU_S, MOST_CPU_S};

    dup2(x->from, 0);
    dup2(x->to, 1);
    if (!freopen("/dev/null", "w", stderr))
        close(2);
    setrlimit(RLIMIT_CPU, &cpu);
}

/* Whether the disassembler printed it all. */
static bool disassemble(struct strbuf *out, char *llvm, int bitcode)
{
    char *argv[] = {llvm, (char[]){"-o"}, (char[]){"-"}, (char[]){"-"}, NULL};
    size_t before = out->len;
    char bytes[4096];
    int pipes[2], status = -1;
    struct plumbing x;
    ssize_t n;
    pid_t pid;

    if (pipe(pipes))
        return false;
    x = (struct plumbing){bitcode, pipes[1]};
    pid = program_start(argv, plumb, &x);
    close(pipes[1]);
    while (pid > 0 && out->len - before < MOST_TEXT && (n = read(pipes[0], bytes, sizeof(bytes))) > 0)
        strbuf_append(out, bytes, (size_t)n);
    close(pipes[0]);
    return pid > 0 && waitpid(pid, &status, 0) == pid && !status && out->len > before;
}

static void print_program(struct strbuf *out, const uint8_t *bitcode, size_t size)
{
    char llvm[4096];
    int fd;

    if (!find_llvm(llvm, sizeof(llvm))) {
        strbuf_printf(
            out,
            "  %zu bytes of LLVM bitcode; llvm-dis (package llvm-14), which prints it, is not installed\n",
            size);
        return;
    }
    fd = memfd_create("dxil", MFD_CLOEXEC);
    if (fd < 0 || write(fd, bitcode, size) != (ssize_t)size || lseek(fd, 0, SEEK_SET) ||
        !disassemble(out, llvm, fd))
        strbuf_printf(out, "  %zu bytes of LLVM bitcode that %s does not print\n", size, llvm);
    if (fd >= 0)
        close(fd);
}

void dxil_print(struct strbuf *out, const struct dxbc *d)
{
    const struct dxbc_chunk *c = dxil_program(d);
    struct bytes in = bytes_of(c->data, c->size);
    uint32_t version = bytes_u32(&in), words = bytes_u32(&in), magic = bytes_u32(&in), dxil = bytes_u32(&in),
             at = bytes_u32(&in), size = bytes_u32(&in);

    strbuf_puts(out, "; parts:");
    for (uint32_t i = 0; i < d->chunk_count; i++)
        strbuf_printf(out, " %.4s %u", (const char *)&d->chunks[i].fourcc, d->chunks[i].size);
    strbuf_printf(out, "\n; model %u.%u, DXIL %u.%u, %u words\n", version >> 4 & 15, version & 15,
                  dxil >> 8 & 255, dxil & 255, words);
    bytes_seek(&in, 8 + (size_t)at); /* counts from the magic number */
    if (in.bad || magic != DXBC_FOURCC('D', 'X', 'I', 'L') || size > bytes_left(&in))
        strbuf_printf(out, "  a program that is cut: it says %u bytes at %u, and its part has %u\n", size, at,
                      c->size);
    else
        print_program(out, c->data + 8 + at, size);
}
