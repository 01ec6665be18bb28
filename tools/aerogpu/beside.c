#include "beside.h"

#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int find_beside(char *path, size_t cap, const char *room, const char *file, const char *variable)
{
    static const char *const places[] = {"../../src",      "../lib/x86_64-linux-gnu",
                                         "../lib",         "../lib/x86_64-linux-gnu/aerogpu",
                                         "../lib/aerogpu", "."};
    const char *env = getenv(variable);
    char self[PATH_MAX], dir[PATH_MAX], at[2 * PATH_MAX], real[PATH_MAX];
    ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);

    if (env) {
        snprintf(path, cap, "%s", env);
        return access(path, R_OK);
    }
    if (n < 0)
        return -1;
    self[n] = '\0';
    memcpy(dir, self, sizeof(dir));
    dirname(dir);
    for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
        snprintf(at, sizeof(at), "%s/%s/%s%s%s", dir, places[i], i ? "" : room, i ? "" : "/", file);
        if (realpath(at, real)) {
            snprintf(path, cap, "%s", real);
            return 0;
        }
    }
    return -1;
}
