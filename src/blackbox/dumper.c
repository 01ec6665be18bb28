/* SPDX-License-Identifier: MIT */
/* dumper.c: aerogpu-dumper PATH: the short-lived process that makes a dump from the package on descriptor 3. Started by
 * bb_package_send; prints one line if it cannot, and exits with EEXIST where something has the name, else with 1. */
#include <errno.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "blackbox/package.h"

int main(int argc, char **argv)
{
    static const int fds[BB_MAX_FILES] = {4, 5, 6, 7};
    struct error e = {0};
    struct stat st;
    void *map;
    int r;

    if (argc != 2 || fstat(3, &st) || st.st_size < BB_PACKAGE_HEADER) {
        fprintf(stderr, "aerogpu-dumper is started by the black box, not by hand\n");
        return 2;
    }
    setpriority(PRIO_PROCESS, 0, -10); /* where it may: the processors may all be spinning */
    map = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, 3, 0);
    if (map == MAP_FAILED) {
        perror("aerogpu-dumper: mmap");
        return 1;
    }
    r = bb_dump_write(map, (size_t)st.st_size, fds, BB_MAX_FILES, argv[1], &e);
    if (r)
        fprintf(stdout, "%s", e.text);
    return r == -EEXIST ? EEXIST : r ? 1 : 0;
}
