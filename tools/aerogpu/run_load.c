/* SPDX-License-Identifier: MIT */
#include "run.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>

#include "base/file/part.h"
#include "base/program.h"

const struct run_library *run_library(struct error *e)
{
    static const struct program_params params = {.what = "the library that makes dumps",
                                                 .built = "tools/aerogpu/libaerogpu-run.so",
                                                 .installed = "aerogpu/libaerogpu-run.so",
                                                 .place = PROGRAM_LIB,
                                                 .is_data = true};
    static const struct run_library *library;
    char path[PATH_MAX];
    void *loaded;

    if (library)
        return library;
    if (program_find(&params, path, sizeof(path), e))
        return NULL;
    if (part_check(path, AEROGPU_VERSION, e)) {
        error_prefix(e, "the library that makes dumps cannot be loaded");
        return NULL;
    }
    loaded = dlopen(path, RTLD_LAZY | RTLD_LOCAL);
    library = loaded ? dlsym(loaded, RUN_LIBRARY) : NULL;
    if (!library)
        error_set(e, -ELIBACC, "the library that makes dumps cannot be loaded: %s", dlerror());
    return library;
}
