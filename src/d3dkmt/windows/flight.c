/* SPDX-License-Identifier: MIT */
/* flight.c: a Windows program keeps no flight recorder; the service that it calls has one. */
#include <aerogpu/blackbox.h>

#include <stddef.h>

struct bb_flight *bb_flight_of_process(const char *name)
{
    return NULL;
}

void bb_flight_event(struct bb_flight *f, uint8_t event, uint64_t a, uint64_t b, uint64_t c)
{
}

int bb_flight_name(struct bb_flight *f, uint8_t event, const char *name)
{
    return 0;
}
