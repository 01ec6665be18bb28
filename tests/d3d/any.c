/* SPDX-License-Identifier: MIT */
/* any.c: calls of Direct3D 11 or 9 drawn from seeds (any_calls.h). any FOLDER FIRST COUNT [BYTES]; in FOLDER are the samples' shaders.
 *
 * No call of a program alone removes its device, and what was made goes when it is given back. Prints a line of each seed that went
 * otherwise, then "done". */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "any_calls.h"
#include "base/rng.h"

static void one(uint64_t seed, size_t size)
{
    struct rng r = {seed};
    uint8_t *bytes = malloc(size);
    struct any_end end;

    if (!bytes)
        exit(2);
    for (size_t i = 0; i < size; i++)
        bytes[i] = (uint8_t)rng_next(&r);
    end = any_calls(bytes, size, false);
    if (end.created || end.removed || end.references)
        printf("seed %llu: the device: 0x%08X, 0x%08X, %u references stay\n", (unsigned long long)seed,
               end.created, end.removed, end.references);
    free(bytes);
}

int main(int argc, char **argv)
{
    uint64_t first, count;

    setvbuf(stdout, NULL, _IONBF, 0);
    if (argc < 4 || !any_calls_begin(argv[1]))
        return 2;
    first = strtoull(argv[2], NULL, 0);
    count = strtoull(argv[3], NULL, 0);
    for (uint64_t i = 0; i < count; i++)
        one(first + i, argc > 4 ? strtoul(argv[4], NULL, 0) : 4096);
    printf("done\n");
    return 0;
}
