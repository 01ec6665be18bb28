/* SPDX-License-Identifier: MIT */
#include "blackbox/symbols.h"

#include <dlfcn.h>
#include <elfutils/libdwfl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MAX_MODULES = 32 };

static struct symbol_files files; /* of processes */

static struct module {
    char name[64], build_id[64];
    Dwfl *dwfl; /* NULL: there is no such file here */
    Dwfl_Module *module;
} modules[MAX_MODULES];
static uint32_t num_modules;

void symbols_add(const struct symbol_files *f)
{
    for (uint32_t i = 0; i < f->num; i++)
        symbol_files_put(&files, f->path[i]);
}

/* ---- modules ------------------------------------------------------------- */

static bool take_file(struct module *m, const char *path)
{
    static const Dwfl_Callbacks callbacks = {.find_elf = dwfl_build_id_find_elf,
                                             .find_debuginfo = dwfl_build_id_find_debuginfo,
                                             .section_address = dwfl_offline_section_address};
    const unsigned char *id;
    GElf_Addr at;
    char hex[64] = "";
    Dwfl *dwfl;
    int n;

    if (access(path, R_OK))
        return false;
    dwfl = dwfl_begin(&callbacks);
    if (!dwfl)
        return false;
    dwfl_report_begin(dwfl);
    m->module = dwfl_report_elf(dwfl, m->name, path, -1, 0x10000, false);
    dwfl_report_end(dwfl, NULL, NULL);
    n = m->module ? dwfl_module_build_id(m->module, &id, &at) : 0;
    for (int i = 0; i < n && i < 31; i++)
        snprintf(hex + 2 * i, 3, "%02x", id[i]);
    if (!m->module || (m->build_id[0] && strcmp(hex, m->build_id))) {
        dwfl_end(dwfl);
        return false;
    }
    m->dwfl = dwfl;
    return true;
}

static void find_file(struct module *m)
{
    static const char *const system[] = {
        ".",          "/usr/bin", "/usr/local/bin", "/usr/lib/x86_64-linux-gnu",
        "/lib64",     "/usr/lib", "/usr/local/lib", "/usr/games",
        "/usr/lib64", NULL};
    const char *own = getenv("AEROGPU_SYMBOLS");
    char path[PATH_MAX];

    for (uint32_t i = 0; i < files.num; i++)
        if (!strcmp(strrchr(files.path[i], '/') + 1, m->name) && take_file(m, files.path[i]))
            return;
    for (size_t n; own && *own; own += n + (own[n] == ':')) {
        n = strcspn(own, ":");
        snprintf(path, sizeof(path), "%.*s/%s", (int)n, own, m->name);
        if (take_file(m, path))
            return;
    }
    for (size_t i = 0; system[i]; i++) {
        snprintf(path, sizeof(path), "%s/%s", system[i], m->name);
        if (take_file(m, path))
            return;
    }
}

static struct module *module_of(const char *name, const char *build_id)
{
    struct module *m;

    for (uint32_t i = 0; i < num_modules; i++)
        if (!strcmp(modules[i].name, name) && !strcmp(modules[i].build_id, build_id))
            return &modules[i];
    if (num_modules == MAX_MODULES || strchr(name, '/') || strlen(name) >= sizeof(m->name) ||
        strlen(build_id) >= sizeof(m->build_id))
        return NULL;
    m = &modules[num_modules++];
    *m = (struct module){.dwfl = NULL};
    strcpy(m->name, name);
    strcpy(m->build_id, build_id);
    find_file(m);
    return m;
}

void symbols_finish(void)
{
    for (uint32_t i = 0; i < num_modules; i++)
        if (modules[i].dwfl)
            dwfl_end(modules[i].dwfl);
    num_modules = 0;
}

/* ---- addresses ----------------------------------------------------------- */

/* C++ names for people, if its library is here. */
static char *demangle(const char *name)
{
    static char *(*f)(const char *, char *, size_t *, int *);
    static bool asked;
    void *library;

    if (strncmp(name, "_Z", 2))
        return NULL;
    if (!asked && (library = dlopen("libstdc++.so.6", RTLD_LAZY | RTLD_LOCAL)))
        *(void **)&f = dlsym(library, "__cxa_demangle");
    asked = true;
    return f ? f(name, NULL, NULL, &(int){0}) : NULL;
}

void symbols_find(const char *name, const char *build_id, uint64_t offset, char *out, size_t size)
{
    struct module *m = name && *name ? module_of(name, build_id ? build_id : "") : NULL;
    const char *function, *file, *slash;
    GElf_Addr bias = 0, at;
    Dwfl_Line *line;
    char *readable;
    int number = 0;

    out[0] = '\0';
    if (!m || !m->dwfl || !dwfl_module_getelf(m->module, &bias))
        return;
    at = bias + offset - 1; /* it returns behind the call */
    function = dwfl_module_addrname(m->module, at);
    if (!function)
        return;
    readable = demangle(function);
    line = dwfl_module_getsrc(m->module, at);
    file = line ? dwfl_lineinfo(line, NULL, &number, NULL, NULL, NULL) : NULL;
    slash = file ? strrchr(file, '/') : NULL;
    snprintf(out, size, "%.150s", readable ? readable : function);
    if (file)
        snprintf(out + strlen(out), size - strlen(out), " (%.80s:%d)", slash ? slash + 1 : file, number);
    free(readable);
}
