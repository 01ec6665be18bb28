/* SPDX-License-Identifier: MIT */
/* places.c: where Windows programs lie, and where they look for Direct3D:
 *   places.exe [OTHER.EXE]   takes D3D11.DLL from the system's folder alone, by its name and by its path, makes a device, and prints whose
 *                            it is, and a line of ..\above.txt; and starts OTHER.EXE, for which it does not wait
 *   places.exe late          the same a moment later, into C:\late.txt; and writes over the driver that it has found */
#define COBJMACROS
#define WIN32_LEAN_AND_MEAN
#include <stdio.h>
#include <string.h>

#include <d3d11.h>

#include "program.h"

static void look(FILE *out)
{
    const HMODULE d3d11 = LoadLibraryExA("D3D11.DLL", NULL, LOAD_LIBRARY_SEARCH_SYSTEM32);
    PFN_D3D11_CREATE_DEVICE create = (void *)GetProcAddress(d3d11, "D3D11CreateDevice");
    char path[MAX_PATH + 16], line[64] = "";
    DXGI_ADAPTER_DESC d = {0};
    ID3D11Device *device;
    IDXGIAdapter *adapter;
    IDXGIDevice *dxgi;
    FILE *above = fopen("..\\above.txt", "r");

    GetSystemDirectoryA(path, MAX_PATH);
    strcat(path, "\\d3d11.dll");
    if (!create) {
        fprintf(out, "no d3d11.dll\n");
        return;
    }
    NEED(create(NULL, D3D_DRIVER_TYPE_HARDWARE, NULL, 0, NULL, 0, D3D11_SDK_VERSION, &device, NULL, NULL));
    NEED(ID3D11Device_QueryInterface(device, &IID_IDXGIDevice, (void **)&dxgi));
    NEED(IDXGIDevice_GetAdapter(dxgi, &adapter));
    NEED(IDXGIAdapter_GetDesc(adapter, &d));
    if (above && fgets(line, sizeof(line), above))
        line[strcspn(line, "\r\n")] = 0;
    fprintf(out, "vendor %04x by path %d above %s\n", d.VendorId, LoadLibraryA(path) == d3d11, line);
    fflush(out);
}

int main(int argc, char **argv)
{
    STARTUPINFOA start = {.cb = sizeof(start)};
    PROCESS_INFORMATION other;
    char command[1024];

    if (argc < 2) {
        look(stdout);
    } else if (strcmp(argv[1], "late") != 0) {
        look(stdout);
        snprintf(command, sizeof(command), "\"%s\" late", argv[1]);
        if (!CreateProcessA(NULL, command, NULL, NULL, FALSE, 0, NULL, NULL, &start, &other))
            printf("cannot start %s\n", argv[1]);
    } else {
        FILE *f = fopen("C:\\late.txt", "w");

        Sleep(1000);
        if (f)
            look(f);
        f = fopen("C:\\windows\\system32\\aerogpu_d3d9_x64.dll", "wb");
        if (f)
            fputs("nothing", f);
    }
    return 0;
}
