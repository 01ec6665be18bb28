/* SPDX-License-Identifier: MIT */
#include "base/file/part.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PHDRS = 64, NOTES = 4096 };

#ifdef __LP64__
#define CLASS ELFCLASS64
#else
#define CLASS ELFCLASS32
#endif
#if defined(__x86_64__)
#define MACHINE EM_X86_64
#elif defined(__aarch64__)
#define MACHINE EM_AARCH64
#else
#define MACHINE EM_NONE /* any: the loader says it */
#endif

static bool read_at(int fd, void *to, size_t size, uint64_t at)
{
    return at <= INT64_MAX - size && pread(fd, to, size, (off_t)at) == (ssize_t)size;
}

/* The version among notes; false: none is of a part. */
static bool find_version(const uint8_t *notes, size_t size, char version[40])
{
    size_t at = 0;

    while (at + sizeof(ElfW(Nhdr)) <= size) {
        ElfW(Nhdr) n;
        size_t name, text;

        memcpy(&n, notes + at, sizeof(n));
        at += sizeof(n);
        name = ((size_t)n.n_namesz + 3) & ~(size_t)3;
        text = ((size_t)n.n_descsz + 3) & ~(size_t)3;
        if (name > size - at || text > size - at - name)
            return false;
        if (n.n_type == PART_VERSION && n.n_namesz == sizeof(PART_NAME) &&
            !memcmp(notes + at, PART_NAME, sizeof(PART_NAME))) {
            const size_t length = n.n_descsz < 39 ? n.n_descsz : 39;

            memcpy(version, notes + at + name, length);
            version[length] = '\0';
            return true;
        }
        at += name + text;
    }
    return false;
}

static int check(int fd, const char *path, const char *version, struct error *e)
{
    uint8_t notes[NOTES];
    ElfW(Phdr) p[PHDRS];
    char has[40] = "";
    ElfW(Ehdr) head;
    struct stat st;
    uint64_t end = 0;

    if (fstat(fd, &st) || !S_ISREG(st.st_mode))
        return error_set(e, -ENOEXEC, "%s is no regular file", path);
    if (!read_at(fd, &head, sizeof(head), 0) || memcmp(head.e_ident, ELFMAG, SELFMAG) ||
        head.e_ident[EI_CLASS] != CLASS || (MACHINE != EM_NONE && head.e_machine != MACHINE) ||
        head.e_phentsize != sizeof(p[0]) || !head.e_phnum || head.e_phnum > PHDRS)
        return error_set(e, -ENOEXEC, "%s is no program or library of this machine's", path);
    if (!read_at(fd, p, head.e_phnum * sizeof(p[0]), head.e_phoff))
        return error_set(e, -EIO, "%s is cut off at %llu bytes", path, (unsigned long long)st.st_size);
    for (uint32_t i = 0; i < head.e_phnum; i++)
        if (p[i].p_type == PT_LOAD && p[i].p_filesz)
            end = p[i].p_filesz > UINT64_MAX - p[i].p_offset ? UINT64_MAX
                  : p[i].p_offset + p[i].p_filesz > end      ? p[i].p_offset + p[i].p_filesz
                                                             : end;
    if (end > (uint64_t)st.st_size)
        return error_set(e, -EIO, "%s is cut off at %llu bytes of %llu and more", path,
                         (unsigned long long)st.st_size, (unsigned long long)end);
    for (uint32_t i = 0; i < head.e_phnum && !has[0]; i++) {
        const size_t size = p[i].p_filesz < NOTES ? p[i].p_filesz : NOTES;

        if (p[i].p_type == PT_NOTE && read_at(fd, notes, size, p[i].p_offset))
            find_version(notes, size, has);
    }
    if (!has[0])
        return error_set(e, -ELIBBAD, "%s is no part of AeroGPU %.40s", path, version);
    return strcmp(has, version)
               ? error_set(e, -ELIBBAD, "%s is of version %s, and this is %.40s", path, has, version)
               : 0;
}

int part_check(const char *path, const char *version, struct error *e)
{
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY); /* a FIFO waits for nobody */
    int code;

    if (fd < 0)
        return error_set(e, -errno, "%s cannot be opened: %s", path, strerror(errno));
    code = check(fd, path, version, e);
    close(fd);
    return code;
}
