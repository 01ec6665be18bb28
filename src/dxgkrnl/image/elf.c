/* SPDX-License-Identifier: MIT */
/* elf.c: see elf.h. Sources: the System V ABI, elf(5). */
#include "dxgkrnl/image/elf.h"

#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file/scratch.h"

#if defined(__x86_64__)
#define OUR_MACHINE EM_X86_64
#elif defined(__aarch64__)
#define OUR_MACHINE EM_AARCH64
#else
#define OUR_MACHINE EM_386
#endif
enum { OUR_CLASS = sizeof(void *) == 8 ? ELFCLASS64 : ELFCLASS32, MAX_SEGMENTS = 256 };

#if __SIZEOF_POINTER__ == 8
typedef Elf64_Ehdr header;
typedef Elf64_Phdr segment;
#else
typedef Elf32_Ehdr header;
typedef Elf32_Phdr segment;
#endif

static const char *machine_name(unsigned machine, char text[32])
{
    static const struct {
        unsigned machine;
        const char *name;
    } names[] = {{EM_X86_64, "x86-64"},     {EM_386, "x86 (32 bits)"}, {EM_AARCH64, "aarch64"},
                 {EM_ARM, "arm (32 bits)"}, {EM_RISCV, "riscv"},       {EM_PPC64, "ppc64"},
                 {EM_S390, "s390"},         {EM_MIPS, "mips"}};

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (names[i].machine == machine)
            return names[i].name;
    snprintf(text, 32, "number %u", machine);
    return text;
}

static const char *type_name(unsigned type)
{
    return type == ET_EXEC   ? "a program"
           : type == ET_REL  ? "an object file that is not linked"
           : type == ET_CORE ? "a core dump"
                             : "of no known type";
}

static int check_segments(int fd, const header *h, uint64_t size, const char *path, struct error *e)
{
    unsigned loads = 0;

    if (h->e_phentsize != sizeof(segment) || !h->e_phnum || h->e_phnum > MAX_SEGMENTS)
        return error_set(e, -ENOEXEC, "%s: its header names %u program headers of %u bytes", path, h->e_phnum,
                         h->e_phentsize);
    for (unsigned i = 0; i < h->e_phnum; i++) {
        segment s;
        if (pread(fd, &s, sizeof(s), (off_t)(h->e_phoff + i * sizeof(s))) != (ssize_t)sizeof(s))
            return error_set(e, -ENOEXEC, "%s is cut off: its program header %u is not there", path, i);
        if (s.p_type == PT_INTERP)
            return error_set(e, -ENOEXEC, "%s is a program, not a shared object", path);
        if (s.p_type != PT_LOAD && s.p_type != PT_DYNAMIC)
            continue;
        loads += s.p_type == PT_LOAD;
        if (s.p_offset > size || s.p_filesz > size - s.p_offset)
            return error_set(
                e, -ENOEXEC, "%s is cut off: its segment %u is %llu bytes at %#llx, the file has %llu", path,
                i, (unsigned long long)s.p_filesz, (unsigned long long)s.p_offset, (unsigned long long)size);
    }
    return loads ? 0 : error_set(e, -ENOEXEC, "%s has nothing to load", path);
}

int dxgk_elf_check(const char *path, struct error *e)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK), r = 0;
    unsigned char ident[EI_NIDENT];
    char number[32];
    struct stat st;
    header h;

    if (fd < 0 || fstat(fd, &st)) {
        r = error_set(e, -errno, "%s: %s", path, strerror(errno));
    } else if (!S_ISREG(st.st_mode)) {
        r = error_set(e, -ENOEXEC, "%s is no regular file", path);
    } else if (pread(fd, ident, sizeof(ident), 0) != sizeof(ident) || memcmp(ident, ELFMAG, SELFMAG) != 0) {
        r = error_set(e, -ENOEXEC, "%s is neither a driver's image nor a shared object", path);
    } else {
        Elf32_Ehdr first; /* what both classes have in common comes first */
        if (pread(fd, &first, sizeof(first), 0) != sizeof(first))
            r = error_set(e, -ENOEXEC, "%s is cut off in its header", path);
        else if (ident[EI_DATA] != ELFDATA2LSB)
            r = error_set(e, -ENOEXEC, "%s is for a big-endian machine", path);
        else if (first.e_machine != OUR_MACHINE || ident[EI_CLASS] != OUR_CLASS)
            r = error_set(e, -ENOEXEC, "%s is for machine %s%s", path, machine_name(first.e_machine, number),
                          first.e_machine == OUR_MACHINE ? " in its other class" : "");
        else if (first.e_type != ET_DYN)
            r = error_set(e, -ENOEXEC, "%s is %s, not a shared object", path, type_name(first.e_type));
        else if (pread(fd, &h, sizeof(h), 0) != sizeof(h))
            r = error_set(e, -ENOEXEC, "%s is cut off in its header", path);
        else
            r = check_segments(fd, &h, (uint64_t)st.st_size, path, e);
    }
    if (fd >= 0)
        close(fd);
    return r;
}

/* ---- loading ------------------------------------------------------------- */

static bool copy(const char *from, const char *to)
{
    int in = open(from, O_RDONLY | O_CLOEXEC), out = open(to, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0700);
    ssize_t n = 1;

    while (in >= 0 && out >= 0 && n > 0)
        n = sendfile(out, in, NULL, 1 << 30);
    if (in >= 0)
        close(in);
    if (out >= 0)
        close(out);
    return in >= 0 && out >= 0 && !n;
}

void *dxgk_elf_load(const char *path)
{
    const char *name = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
    void *loaded = dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_NOLOAD), *object = NULL;
    char other[sizeof(((struct scratch *)0)->path) + 256];
    struct scratch place = {0};

    if (!loaded)
        return dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!scratch_make(&place, "aerogpu-miniport", false, NULL)) { /* by that name in call stacks */
        snprintf(other, sizeof(other), "%s/%s", place.path, name);
        if (copy(path, other))
            object = dlopen(other, RTLD_NOW | RTLD_LOCAL);
        scratch_remove(&place);
    }
    if (!object)
        return loaded;
    dlclose(loaded);
    return object;
}
