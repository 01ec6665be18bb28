/* SPDX-License-Identifier: MIT */
/* Linked, under sanitizers, into programs that have a Vulkan driver inside: libraries stay loaded to the end, so that what the
 * driver allocates once has a name in the leak report, and lsan.supp knows it; and tsan.supp may name a library only if it
 * is never unloaded. */
#include <dlfcn.h>

__attribute__((visibility("default"))) int dlclose(void *library)
{
    (void)library;
    return 0;
}
