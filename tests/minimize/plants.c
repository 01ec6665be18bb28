/* SPDX-License-Identifier: MIT */
/* plants SHADERS moving|plant SEED OUT.aerogputrace: writes the recording that the seed stands for, and prints its kind and where
 * its crash is: "RING_FAULT 3 17" is packet 17 of submission 3, from 0. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "moving.h"

int main(int argc, char **argv)
{
    struct error e = {0};
    struct plant p;
    uint64_t seed;
    bool moving;

    if (argc != 5)
        return 2;
    moving = !strcmp(argv[2], "moving");
    seed = strtoull(argv[3], NULL, 10);
    if (moving ? moving_write(&p, seed, argv[4], argv[1], &e) : plant_write(&p, seed, argv[4], argv[1], &e)) {
        fprintf(stderr, "plants: %s\n", e.text);
        return 1;
    }
    printf("%s %llu %u\n",
           moving ? moving_kind_name((enum moving_kind)(seed % MOVING_NUM_KINDS)) : plant_kind_name(p.kind),
           (unsigned long long)p.ordinal, p.packet);
    return 0;
}
