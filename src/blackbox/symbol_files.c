/* SPDX-License-Identifier: MIT */
#include "blackbox/symbol_files.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void symbol_files_put(struct symbol_files *f, const char *path)
{
    for (uint32_t i = 0; i < f->num; i++)
        if (!strcmp(f->path[i], path))
            return;
    if (f->num < SYMBOL_FILES && (f->path[f->num] = strdup(path)))
        f->num++;
}

void symbol_files_add(struct symbol_files *f, pid_t pid)
{
    char path[64], line[PATH_MAX + 128], whole[16384], *file;
    FILE *maps;

    snprintf(path, sizeof(path), "/proc/%d/maps", (int)pid);
    maps = fopen(path, "re");
    if (maps)
        setvbuf(maps, whole, _IOFBF, sizeof(whole));
    while (maps && f->num < SYMBOL_FILES && fgets(line, sizeof(line), maps)) {
        file = strchr(line, '/');
        if (!file || !strstr(line, "r-xp"))
            continue;
        file[strcspn(file, "\n")] = '\0';
        symbol_files_put(f, file);
    }
    if (maps)
        fclose(maps);
}

void symbol_files_add_program(struct symbol_files *f, pid_t pid)
{
    char path[64], file[PATH_MAX];
    ssize_t n;

    snprintf(path, sizeof(path), "/proc/%d/exe", (int)pid);
    n = readlink(path, file, sizeof(file) - 1);
    if (n <= 0)
        return;
    file[n] = '\0';
    symbol_files_put(f, file);
}

void symbol_files_finish(struct symbol_files *f)
{
    for (uint32_t i = 0; i < f->num; i++)
        free(f->path[i]);
    f->num = 0;
}
