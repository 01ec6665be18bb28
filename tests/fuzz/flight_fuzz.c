/* SPDX-License-Identifier: MIT */
/* Flight recorder files of anybody. */
#include "fuzz.h"

#include <string.h>

#include "blackbox/flight_read.h"

static void each(void *ctx, const struct bb_flight_record *r)
{
    *(size_t *)ctx += strlen(r->name) + strlen(r->process) + r->event;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    void *copy = malloc(size ? size : 1);
    struct error e = {0};
    size_t sum = 0;

    if (!copy)
        return 0;
    memcpy(copy, data, size);
    flight_parse(copy, size, each, &sum, "input", &e);
    free(copy);
    return 0;
}
