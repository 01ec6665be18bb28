/* SPDX-License-Identifier: MIT */
/* follow.c: the library in every program that one with it starts (cmd, start, explorer, a launcher): before that does anything. All ways
 * to start one come to NtCreateUserProcess, in ntdll.
 */
#include "d3d.h"

#include <string.h>
#include <wchar.h>

enum { THUNK = 64, SUSPENDED = 1 };

typedef LONG WINAPI create_process(HANDLE *process, HANDLE *thread, ACCESS_MASK process_access,
                                   ACCESS_MASK thread_access, void *process_attr, void *thread_attr,
                                   ULONG process_flags, ULONG thread_flags, void *params, void *info,
                                   void *attributes);

/* What it does itself: calls of it are many at a time. */
static create_process *original;
static wchar_t self_path[MAX_PATH];

/* What its first thread does first. Nobody waits for it: that may be for the one who starts it, as for a desktop's window. */
static void put_library(HANDLE process, HANDLE thread)
{
    BOOL narrow = FALSE;
    void *there;

    if (IsWow64Process(process, &narrow) && narrow)
        return;
    there = VirtualAllocEx(process, NULL, sizeof(self_path), MEM_COMMIT | MEM_RESERVE, PAGE_READWRITE);
    if (there && WriteProcessMemory(process, there, self_path, sizeof(self_path), NULL))
        QueueUserAPC((PAPCFUNC)(void *)LoadLibraryW, thread, (ULONG_PTR)there);
}

static LONG WINAPI create(HANDLE *process, HANDLE *thread, ACCESS_MASK process_access,
                          ACCESS_MASK thread_access, void *process_attr, void *thread_attr,
                          ULONG process_flags, ULONG thread_flags, void *params, void *info, void *attributes)
{
    LONG status = original(process, thread, process_access, thread_access, process_attr, thread_attr,
                           process_flags, thread_flags | SUSPENDED, params, info, attributes);

    if (status < 0 || !*process || !*thread) /* or a program of Linux's */
        return status;
    put_library(*process, *thread);
    if (!(thread_flags & SUSPENDED))
        ResumeThread(*thread);
    return status;
}

void follow_open(HINSTANCE self)
{
    static struct hook_export export = {"ntdll.dll", "NtCreateUserProcess", create, NULL, {0}};
    static const uint8_t begins[] = {0x4C, 0x8B, 0xD1, 0xB8}; /* mov r10, rcx; mov eax, number */
    const void *at = (void *)GetProcAddress(GetModuleHandleA(export.library), export.name);
    DWORD n = GetModuleFileNameW(self, self_path, MAX_PATH);
    void *copy;

    if (!at || memcmp(at, begins, sizeof(begins)) != 0 || !n || n >= MAX_PATH)
        return;
    copy = VirtualAlloc(NULL, THUNK, MEM_COMMIT | MEM_RESERVE, PAGE_EXECUTE_READWRITE);
    if (!copy)
        return;
    memcpy(copy, at, THUNK); /* it does not matter where it stands */
    original = (create_process *)copy;
    hook_exports(&export, 1);
}
