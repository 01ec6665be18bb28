/* SPDX-License-Identifier: MIT */
#include "linked_driver.h"

#include <string.h>

static struct {
    const char *entry;
    void *function;
} driver;

void *__real_dlopen(const char *path, int flags);
void *__real_dlsym(void *library, const char *name);
int __real_dlclose(void *library);
void *__wrap_dlopen(const char *path, int flags);
void *__wrap_dlsym(void *library, const char *name);
int __wrap_dlclose(void *library);

void *__wrap_dlopen(const char *path, int flags)
{
    return path && strstr(path, "aerogpu_d3d") ? &driver : __real_dlopen(path, flags);
}

void *__wrap_dlsym(void *library, const char *name)
{
    if (library != &driver)
        return __real_dlsym(library, name);
    return strcmp(name, driver.entry) ? NULL : driver.function;
}

int __wrap_dlclose(void *library)
{
    return library == &driver ? 0 : __real_dlclose(library);
}

void linked_driver(const char *entry, void *function)
{
    driver.entry = entry;
    driver.function = function;
}
