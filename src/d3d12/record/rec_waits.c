/* SPDX-License-Identifier: MIT */
/* rec_waits.c: waits for events, on Windows.
 *
 * The import tables of the program's modules (those outside the system's folder, and not this one) are searched for
 * the addresses of the wait functions, whatever module they came from; modules that are loaded later are searched when
 * they are. A wait is written down if it was for an event that a fence sets.
 */

#include "base/log.h"
#include "d3d12/record/rec_values.h"
#include "d3d12/record/rec_hooks.h"
#include "d3d12/record/rec_windows.h"

#define MAX_MODULES 1024

static DWORD WINAPI wait_single(HANDLE h, DWORD ms);
static DWORD WINAPI wait_single_ex(HANDLE h, DWORD ms, BOOL alertable);
static DWORD WINAPI wait_multiple(DWORD n, const HANDLE *h, BOOL all, DWORD ms);
static DWORD WINAPI wait_multiple_ex(DWORD n, const HANDLE *h, BOOL all, DWORD ms, BOOL alertable);
static DWORD WINAPI wait_messages(DWORD n, const HANDLE *h, BOOL all, DWORD ms, DWORD mask);
static DWORD WINAPI wait_messages_ex(DWORD n, const HANDLE *h, DWORD ms, DWORD mask, DWORD flags);
static BOOL WINAPI close_handle(HANDLE h);

static struct hook {
    const char *module, *name;
    void *mine, *real;
} hooks[] = {
    {"kernel32.dll", "WaitForSingleObject", (void *)wait_single, NULL},
    {"kernel32.dll", "WaitForSingleObjectEx", (void *)wait_single_ex, NULL},
    {"kernel32.dll", "WaitForMultipleObjects", (void *)wait_multiple, NULL},
    {"kernel32.dll", "WaitForMultipleObjectsEx", (void *)wait_multiple_ex, NULL},
    {"user32.dll", "MsgWaitForMultipleObjects", (void *)wait_messages, NULL},
    {"user32.dll", "MsgWaitForMultipleObjectsEx", (void *)wait_messages_ex, NULL},
    {"kernel32.dll", "CloseHandle", (void *)close_handle, NULL},
};

#define REAL(i, fn) ((__typeof__(&fn))hooks[i].real)

/* ---- waits --------------------------------------------------------------- */

/* The thread, if one of the handles is an event that a fence sets. */
static struct rec_thread *watched(DWORD n, const HANDLE *h)
{
    for (DWORD i = 0; h && i < n; i++)
        if (rec_fence_sets(h[i]))
            return rec_enter();
    return NULL;
}

static void begin(struct rec_thread *t, HANDLE h, DWORD ms)
{
    rec_begin(t, NULL, D12_Native_WaitFor, REC_MODE_LATE);
    enc_handle(&t->enc, h);
    enc_u32(&t->enc, ms);
    rec_args_done(t, D12_Native_WaitFor, REC_ANSWER);
    t->depth++;
}

static DWORD end(struct rec_thread *t, DWORD ret)
{
    t->depth--;
    rec_result(t, REC_MODE_LATE);
    enc_u32(&t->enc, ret);
    rec_result_done(t);
    if (ret != WAIT_TIMEOUT && ret != WAIT_FAILED)
        rec_look(t);
    return ret;
}

/* Of several handles the first watched one stands for all: what the program learns is in the FenceSeen that follow. */
static HANDLE representative(DWORD n, const HANDLE *h)
{
    for (DWORD i = 0; i < n; i++)
        if (rec_fence_sets(h[i]))
            return h[i];
    return h[0];
}

static DWORD WINAPI wait_single_ex(HANDLE h, DWORD ms, BOOL alertable)
{
    struct rec_thread *t = watched(1, &h);

    if (!t)
        return REAL(1, wait_single_ex)(h, ms, alertable);
    begin(t, h, ms);
    return end(t, REAL(1, wait_single_ex)(h, ms, alertable));
}

static DWORD WINAPI wait_single(HANDLE h, DWORD ms)
{
    return wait_single_ex(h, ms, FALSE);
}

static DWORD WINAPI wait_multiple_ex(DWORD n, const HANDLE *h, BOOL all, DWORD ms, BOOL alertable)
{
    struct rec_thread *t = watched(n, h);

    if (!t)
        return REAL(3, wait_multiple_ex)(n, h, all, ms, alertable);
    begin(t, representative(n, h), ms);
    return end(t, REAL(3, wait_multiple_ex)(n, h, all, ms, alertable));
}

static DWORD WINAPI wait_multiple(DWORD n, const HANDLE *h, BOOL all, DWORD ms)
{
    return wait_multiple_ex(n, h, all, ms, FALSE);
}

static DWORD WINAPI wait_messages(DWORD n, const HANDLE *h, BOOL all, DWORD ms, DWORD mask)
{
    struct rec_thread *t = watched(n, h);

    if (!t)
        return REAL(4, wait_messages)(n, h, all, ms, mask);
    begin(t, representative(n, h), ms);
    return end(t, REAL(4, wait_messages)(n, h, all, ms, mask));
}

static DWORD WINAPI wait_messages_ex(DWORD n, const HANDLE *h, DWORD ms, DWORD mask, DWORD flags)
{
    struct rec_thread *t = watched(n, h);

    if (!t)
        return REAL(5, wait_messages_ex)(n, h, ms, mask, flags);
    begin(t, representative(n, h), ms);
    return end(t, REAL(5, wait_messages_ex)(n, h, ms, mask, flags));
}

static BOOL WINAPI close_handle(HANDLE h)
{
    struct rec_thread *t = rec_enter();

    if (t)
        rec_event_forget(h); /* the number of a handle that comes back is a new one */
    return REAL(6, close_handle)(h);
}

/* ---- import tables ------------------------------------------------------- */

static void patch_slot(void **slot)
{
    for (size_t i = 0; i < sizeof(hooks) / sizeof(hooks[0]); i++)
        if (hooks[i].real && *slot == hooks[i].real) {
            if (os_make_writable(slot, sizeof(*slot)))
                *slot = hooks[i].mine;
            return;
        }
}

static void patch_module(HMODULE module)
{
    uint8_t *base = (uint8_t *)module;
    const IMAGE_NT_HEADERS *nt =
        (const IMAGE_NT_HEADERS *)(base + ((const IMAGE_DOS_HEADER *)base)->e_lfanew);
    const IMAGE_DATA_DIRECTORY *dir = &nt->OptionalHeader.DataDirectory[IMAGE_DIRECTORY_ENTRY_IMPORT];
    const IMAGE_IMPORT_DESCRIPTOR *d = (const IMAGE_IMPORT_DESCRIPTOR *)(base + dir->VirtualAddress);

    if (!dir->Size)
        return;
    for (; d->FirstThunk; d++)
        for (void **slot = (void **)(base + d->FirstThunk); *slot; slot++)
            patch_slot(slot);
}

/* To programs of 32 bits its files are in one of two folders, by whoever is asked. */
static bool is_in(const char *path, UINT(WINAPI *folder)(char *, UINT))
{
    char system[MAX_PATH];
    UINT n = folder(system, MAX_PATH);

    return n && n < MAX_PATH && !_strnicmp(path, system, n);
}

/* Modules of the system wait for reasons of their own. */
static void module_seen(HMODULE module)
{
    char path[MAX_PATH];
    HMODULE own;

    if (!GetModuleHandleExA(GET_MODULE_HANDLE_EX_FLAG_FROM_ADDRESS |
                                GET_MODULE_HANDLE_EX_FLAG_UNCHANGED_REFCOUNT,
                            (const char *)hooks, &own) ||
        module == own || !GetModuleFileNameA(module, path, MAX_PATH) || is_in(path, GetSystemDirectoryA) ||
        is_in(path, GetSystemWow64DirectoryA))
        return;
    patch_module(module);
}

struct loaded { /* LDR_DLL_NOTIFICATION_DATA of a load */
    ULONG flags;
    const void *full_name, *base_name;
    void *base;
    ULONG size;
};

static void WINAPI on_load(ULONG reason, const struct loaded *data, void *context)
{
    if (reason == 1)
        module_seen((HMODULE)data->base);
}

void waits_install(void)
{
    LONG(WINAPI * on_loads)
    (ULONG, void *, void *, void **) =
        (void *)GetProcAddress(GetModuleHandleA("ntdll.dll"), "LdrRegisterDllNotification");
    BOOL(WINAPI * modules)
    (HANDLE, HMODULE *, DWORD, DWORD *) =
        (void *)GetProcAddress(GetModuleHandleA("kernel32.dll"), "K32EnumProcessModules");
    static HMODULE list[MAX_MODULES];
    DWORD bytes = 0;
    void *cookie;

    for (size_t i = 0; i < sizeof(hooks) / sizeof(hooks[0]); i++) {
        HMODULE m = GetModuleHandleA(hooks[i].module); /* not loaded: it has no callers */

        hooks[i].real = m ? (void *)GetProcAddress(m, hooks[i].name) : NULL;
    }
    if (modules && modules(GetCurrentProcess(), list, sizeof(list), &bytes))
        for (DWORD i = 0; i < bytes / sizeof(HMODULE) && i < MAX_MODULES; i++)
            module_seen(list[i]);
    if (on_loads)
        on_loads(0, (void *)on_load, NULL, &cookie);
}
