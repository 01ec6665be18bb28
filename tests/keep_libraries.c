/* Linked into tests under AddressSanitizer: libraries stay loaded to the end, so that what a Vulkan driver allocates once
 * has a name in the leak report, and lsan.supp knows it. */
#include <dlfcn.h>

__attribute__((visibility("default"))) int dlclose(void *library)
{
    (void)library;
    return 0;
}
