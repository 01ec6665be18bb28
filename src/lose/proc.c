/* SPDX-License-Identifier: MIT */
#include "lose/proc.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

bool proc_read(const char *path, char *text, size_t size)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? -1 : read(fd, text, size - 1);

    if (fd >= 0)
        close(fd);
    text[n > 0 ? n : 0] = '\0';
    return n > 0;
}

uint64_t proc_count(const char *path)
{
    uint64_t n = 0;
    DIR *dir = opendir(path);

    while (dir && readdir(dir))
        n++;
    if (dir)
        closedir(dir);
    return n > 2 ? n - 2 : 0; /* . and .. */
}

uint64_t proc_number(const char *text, const char *word, uint64_t otherwise)
{
    const char *at = strstr(text, word);

    return at ? strtoull(at + strlen(word), NULL, 10) : otherwise;
}

uint64_t proc_space(void)
{
    struct stat st;

    return stat("/proc/self/ns/pid", &st) ? 0 : st.st_ino;
}
