/* SPDX-License-Identifier: MIT */
/* symbol_files.h: the files that processes have mapped as code, by which symbols.h finds modules when the processes are gone. Apart
 * from that, so that whoever watches processes needs no debug information. */
#pragma once

#include <stdint.h>
#include <sys/types.h>

enum { SYMBOL_FILES = 512 };

struct symbol_files {
    char *path[SYMBOL_FILES];
    uint32_t num;
};

/* One more, unless it is there. */
void symbol_files_put(struct symbol_files *f, const char *path);
/* Those of a process: hundreds of lines are read. */
void symbol_files_add(struct symbol_files *f, pid_t pid);
/* Its program's alone. */
void symbol_files_add_program(struct symbol_files *f, pid_t pid);
void symbol_files_finish(struct symbol_files *f);
