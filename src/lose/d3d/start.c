/* SPDX-License-Identifier: MIT */
/* start.c: aerogpu-lose-start.exe PROGRAM [ARGUMENT...]: starts what Wine would start, with the library beside this one in it before
 * it does anything, and in whatever it starts; ends when it does, with its exit code. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <stdbool.h>
#include <wchar.h>

#include <windows.h>

/* Of Wine: what file names of Linux are in. */
#define CP_UNIXCP 65010
#define LIBRARY   L"aerogpu-lose.dll"
enum { DESKTOP_MS = 120000 };

/* Behind the first word of a command line. */
static wchar_t *skip_word(wchar_t *at)
{
    bool quoted = false;

    for (; *at && (quoted || (*at != ' ' && *at != '\t')); at++)
        quoted ^= *at == '"';
    while (*at == ' ' || *at == '\t')
        at++;
    return at;
}

/* What Wine calls a file of Linux's; NULL: it is none. */
static wchar_t *of_unix(const wchar_t *path)
{
    wchar_t *(CDECL * convert)(const char *) =
        (void *)GetProcAddress(GetModuleHandleA("kernel32.dll"), "wine_get_dos_file_name");
    char name[MAX_PATH * 4];

    if (*path != '/' || !convert ||
        !WideCharToMultiByte(CP_UNIXCP, 0, path, -1, name, sizeof(name), NULL, NULL))
        return NULL;
    return convert(name);
}

/* Loads the library here: it follows whoever is started. */
static bool load_library(void)
{
    wchar_t path[MAX_PATH], *last;
    DWORD n = GetModuleFileNameW(NULL, path, MAX_PATH - (DWORD)wcslen(LIBRARY));

    last = n ? wcsrchr(path, '\\') : NULL;
    if (!last)
        return false;
    wcscpy(last + 1, LIBRARY);
    return LoadLibraryW(path) != NULL;
}

/* As Wine does with what is no program: a document, an installer's package, a link. */
static BOOL start_document(const wchar_t *line, STARTUPINFOW *start, PROCESS_INFORMATION *p)
{
    static const wchar_t opener[] = L"start.exe /exec ";
    wchar_t *words = calloc(wcslen(opener) + wcslen(line) + 1, sizeof(*words));
    BOOL done;

    if (!words)
        return FALSE;
    wcscpy(words, opener);
    wcscat(words, line);
    done = CreateProcessW(NULL, words, NULL, NULL, TRUE, CREATE_SUSPENDED, NULL, NULL, start, p);
    free(words);
    return done;
}

/* The first who wants a window has Wine start its desktop, and that load the display's driver. Wine waits ten seconds for that, and whose
 * desktop came later than that, on a busy machine, has no windows, to the end of its server: so it is started here, and waited for. One that
 * finds another ends by itself. */
static void start_desktop(void)
{
    STARTUPINFOW start = {.cb = sizeof(start)};
    PROCESS_INFORMATION p;
    wchar_t line[MAX_PATH + 32] = L"", *end = line + GetSystemDirectoryW(line, MAX_PATH);

    wcscpy(end, L"\\explorer.exe /desktop");
    if (!CreateProcessW(NULL, line, NULL, NULL, FALSE, DETACHED_PROCESS, NULL, NULL, &start, &p))
        return;
    WaitForInputIdle(p.hProcess, DESKTOP_MS);
    CloseHandle(p.hThread);
    CloseHandle(p.hProcess);
}

int main(void)
{
    wchar_t *line = skip_word(GetCommandLineW()), word[MAX_PATH], *file;
    STARTUPINFOW start = {.cb = sizeof(start)};
    PROCESS_INFORMATION p;
    DWORD code = 0;
    size_t n;
    BOOL narrow = FALSE, loaded;

    if (!*line) {
        fputs("usage: aerogpu-lose-start.exe PROGRAM [ARGUMENT...]\n", stderr);
        return 2;
    }
    file = skip_word(line);
    for (n = (size_t)(file - line); n && (line[n - 1] == ' ' || line[n - 1] == '\t');)
        n--;
    if (*line == '"' && n > 1) {
        line[n - 1] = line[n - 1] == '"' ? '\0' : line[n - 1];
        swprintf(word, MAX_PATH, L"%.*ls", (int)(n - 2), line + 1);
        line[n - 1] = '"';
    } else {
        swprintf(word, MAX_PATH, L"%.*ls", (int)n, line);
    }
    start_desktop();
    loaded = load_library();
    if (!CreateProcessW(of_unix(word), line, NULL, NULL, TRUE, CREATE_SUSPENDED, NULL, NULL, &start, &p) &&
        (GetLastError() != ERROR_BAD_EXE_FORMAT || !start_document(line, &start, &p))) {
        fwprintf(stderr, L"aerogpu lose: cannot run %ls: error %lu\n", word, GetLastError());
        return 127;
    }
    IsWow64Process(p.hProcess, &narrow);
    if (narrow || !loaded)
        fwprintf(stderr, L"aerogpu lose: %ls: Direct3D is not looked at%ls\n", word,
                 narrow ? L": it is a program of 32 bits" : L"");
    ResumeThread(p.hThread);
    WaitForSingleObject(p.hProcess, INFINITE);
    GetExitCodeProcess(p.hProcess, &code);
    return (int)code;
}
