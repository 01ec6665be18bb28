/* SPDX-License-Identifier: MIT */
#include "cpu/model/text.h"

#include <stdio.h>

const char *cpu_ns_text(uint64_t ns, char *buf, size_t cap)
{
    if (ns < 1000)
        snprintf(buf, cap, "%u ns", (unsigned)ns);
    else if (ns < 1000000)
        snprintf(buf, cap, "%.*f us", ns < 100000 ? 1 : 0, (double)ns / 1e3);
    else if (ns < 1000000000)
        snprintf(buf, cap, "%.*f ms", ns < 10000000 ? 2 : ns < 100000000 ? 1 : 0, (double)ns / 1e6);
    else
        snprintf(buf, cap, "%.2f s", (double)ns / 1e9);
    return buf;
}

const char *cpu_ns(uint64_t ns)
{
    static _Thread_local char bufs[16][24];
    static _Thread_local unsigned at;

    return cpu_ns_text(ns, bufs[at++ % 16], sizeof(bufs[0]));
}

const char *cpu_num(uint64_t v)
{
    static _Thread_local char bufs[16][32];
    static _Thread_local unsigned at;
    char plain[24], *out = bufs[at++ % 16], *p = out;
    int len = snprintf(plain, sizeof(plain), "%llu", (unsigned long long)v);

    for (int i = 0; i < len; i++) {
        if (i && (len - i) % 3 == 0)
            *p++ = ',';
        *p++ = plain[i];
    }
    *p = '\0';
    return out;
}

const char *cpu_mask_text(const uint64_t *mask, uint32_t num_cpus, char *buf, size_t cap)
{
    size_t n = 0;

    if (cap)
        buf[0] = '\0';
    for (uint32_t i = 0; i < num_cpus && n < cap; i++) {
        uint32_t last = i;
        if (!(mask[i / 64] >> (i % 64) & 1))
            continue;
        while (last + 1 < num_cpus && (mask[(last + 1) / 64] >> ((last + 1) % 64) & 1))
            last++;
        n += (size_t)snprintf(buf + n, cap - n, last > i ? "%s%u-%u" : "%s%u", n ? "," : "", i, last);
        i = last;
    }
    if (n == 0)
        snprintf(buf, cap, "none");
    return buf;
}
