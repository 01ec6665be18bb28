/* SPDX-License-Identifier: MIT */
/* stacks.c: by elfutils, which unwinds other processes. Names are those that the files themselves have: debug information is not
 * looked for, least of all in a network. */
#include "lose/stacks.h"

#include <elfutils/libdwfl.h>
#include <stdio.h>
#include <string.h>

#include "lose/proc.h"

enum { FRAMES = 32, THREADS = 64 };

struct walk {
    struct strbuf *out;
    Dwfl *dwfl;
    pid_t pid, only, never; /* 0: any; none */
    unsigned threads, frames;
};

static int no_debuginfo(Dwfl_Module *module, void **user, const char *name, Dwarf_Addr base, const char *file,
                        const char *link, GElf_Word crc, char **path)
{
    return -1;
}

static int on_frame(Dwfl_Frame *frame, void *arg)
{
    struct walk *w = arg;
    const char *name = NULL, *file = NULL, *slash;
    Dwfl_Module *module;
    Dwarf_Addr pc;
    bool exact;

    if (w->frames++ == FRAMES || !dwfl_frame_pc(frame, &pc, &exact))
        return DWARF_CB_ABORT;
    pc -= !exact; /* what it returns to is behind the call */
    module = dwfl_addrmodule(w->dwfl, pc);
    if (module) {
        name = dwfl_module_addrname(module, pc);
        file = dwfl_module_info(module, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
    }
    slash = file ? strrchr(file, '/') : NULL;
    strbuf_printf(w->out, "      #%-2u %s (%s)\n", w->frames - 1, name ? name : "?",
                  slash  ? slash + 1
                  : file ? file
                         : "no file");
    return DWARF_CB_OK;
}

static int on_thread(Dwfl_Thread *thread, void *arg)
{
    struct walk *w = arg;
    pid_t tid = dwfl_thread_tid(thread);
    char path[64], name[32];

    if ((w->only && tid != w->only) || tid == w->never)
        return DWARF_CB_OK;
    if (w->threads++ == THREADS)
        return DWARF_CB_ABORT;
    snprintf(path, sizeof(path), "/proc/%d/task/%d/comm", (int)w->pid, (int)tid);
    proc_read(path, name, sizeof(name));
    name[strcspn(name, "\n")] = '\0';
    strbuf_printf(w->out, "    thread %d (%s)\n", (int)tid, name);
    w->frames = 0;
    dwfl_thread_getframes(thread, on_frame, w);
    return DWARF_CB_OK;
}

void stacks_print(struct strbuf *out, pid_t pid, pid_t first)
{
    static const Dwfl_Callbacks callbacks = {.find_elf = dwfl_linux_proc_find_elf,
                                             .find_debuginfo = no_debuginfo};
    struct walk w = {.out = out, .dwfl = dwfl_begin(&callbacks), .pid = pid, .only = first};

    if (!w.dwfl)
        return;
    if (!dwfl_linux_proc_report(w.dwfl, pid) && !dwfl_report_end(w.dwfl, NULL, NULL) &&
        !dwfl_linux_proc_attach(w.dwfl, pid, false)) {
        if (first)
            dwfl_getthreads(w.dwfl, on_thread, &w);
        w.only = 0;
        w.never = first;
        dwfl_getthreads(w.dwfl, on_thread, &w);
    }
    dwfl_end(w.dwfl);
}
