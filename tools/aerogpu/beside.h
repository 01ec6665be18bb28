/* beside.h: files that belong to this program: in the build tree, or where it was installed. */
#ifndef AEROGPU_BESIDE_H_
#define AEROGPU_BESIDE_H_

#include <stddef.h>

/* Finds `file`, which is built in src/`room`. The environment variable names another one. Returns 0, or -1. */
int find_beside(char *path, size_t cap, const char *room, const char *file, const char *variable);

#endif
