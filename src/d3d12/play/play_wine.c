/* SPDX-License-Identifier: MIT */
/* play_wine.c: a DLL that plays, in a process of Wine's (play_on.h). This is ELF code as all of the player: Wine starts a
 * small program of its own kind (play_wine_host.c), which loads the player and hands it Windows' functions. */
#include "d3d12/play/play_on.h"

#include <errno.h>
#include <signal.h>

static struct {
    HRESULT(WINAPI *create_device)(IUnknown *, D3D_FEATURE_LEVEL, REFIID, void **);
    HANDLE(WINAPI *create_event)(void *security, BOOL manual, BOOL set, const char *name);
    BOOL(WINAPI *set_event)(HANDLE);
    DWORD(WINAPI *wait)(HANDLE, DWORD ms);
    BOOL(WINAPI *close)(HANDLE);
    void (*crashed)(int sig);
} windows;

static HRESULT device(D3D_FEATURE_LEVEL level, const GUID *iid, void **out, struct error *e)
{
    return windows.create_device(NULL, level, iid, out);
}

static HANDLE event_create(void)
{
    return windows.create_event(NULL, 0, 0, NULL);
}

static void event_signal(HANDLE h)
{
    windows.set_event(h);
}

static bool event_wait(HANDLE h, uint32_t ms)
{
    return !windows.wait(h, ms);
}

static void event_destroy(HANDLE h)
{
    windows.close(h);
}

static ULONG incref(ID3D12Resource *r)
{
    return r->lpVtbl->AddRef(r);
}

static ULONG decref(ID3D12Resource *r)
{
    return r->lpVtbl->Release(r);
}

static const struct play_on on_windows = {
    2, device, event_create, event_signal, event_wait, event_destroy, incref, decref, NULL};

const struct play_on *play_on_windows(const struct play_windows *w, const char *path, struct error *e)
{
    void *kernel = w->load_library("kernel32.dll"), *d3d12 = w->load_library(path ? path : "d3d12.dll");

    if (!d3d12) {
        error_set(e, path ? -EBADMSG : -ENODEV, "Wine cannot load %s", path ? path : "its d3d12.dll");
        return NULL;
    }
    windows.create_device =
        (__typeof__(windows.create_device))w->get_proc_address(d3d12, "D3D12CreateDevice");
    windows.create_event = (__typeof__(windows.create_event))w->get_proc_address(kernel, "CreateEventA");
    windows.set_event = (__typeof__(windows.set_event))w->get_proc_address(kernel, "SetEvent");
    windows.wait = (__typeof__(windows.wait))w->get_proc_address(kernel, "WaitForSingleObject");
    windows.close = (__typeof__(windows.close))w->get_proc_address(kernel, "CloseHandle");
    if (windows.create_device && windows.create_event && windows.set_event && windows.wait && windows.close)
        return &on_windows;
    error_set(e, -EBADMSG, "%s is no Direct3D 12: it has no D3D12CreateDevice", path ? path : "d3d12.dll");
    return NULL;
}

/* Of EXCEPTION_POINTERS the first is the exception, and its code stands in front. */
static INT WINAPI unhandled(const DWORD *const *exception)
{
    switch (exception && exception[0] ? exception[0][0] : 0) {
    case 0xC000001D: /* illegal instruction */
        windows.crashed(SIGILL);
        break;
    case 0xC0000094: /* division by zero */
        windows.crashed(SIGFPE);
        break;
    case 0xC0000005: /* access violation */
        windows.crashed(SIGSEGV);
        break;
    default:
        windows.crashed(SIGABRT);
    }
    return 0; /* as if this were not here */
}

void play_on_windows_crash(const struct play_windows *w, void (*crashed)(int sig))
{
    void *(WINAPI * set)(void *) =
        (__typeof__(set))w->get_proc_address(w->load_library("kernel32.dll"), "SetUnhandledExceptionFilter");

    windows.crashed = crashed;
    if (set)
        set((void *)unhandled);
}
