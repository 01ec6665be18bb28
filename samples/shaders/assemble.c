/* SPDX-License-Identifier: MIT */
/* assemble.c: Direct3D 9 shader assembly to bytecode with D3DXAssembleShader. Built with mingw-w64, run under Wine:
 *   assemble.exe SOURCE OUTPUT */
#include <stdio.h>
#include <windows.h>
#include <d3dx9.h>

int main(int argc, char **argv)
{
    static char source[1 << 16];
    ID3DXBuffer *code = NULL, *log = NULL;
    FILE *f;
    size_t n;
    HRESULT hr;

    if (argc != 3)
        return fprintf(stderr, "usage: assemble SOURCE OUTPUT\n"), 2;
    f = fopen(argv[1], "rb");
    if (!f)
        return fprintf(stderr, "%s: cannot open\n", argv[1]), 1;
    n = fread(source, 1, sizeof(source), f);
    fclose(f);
    hr = D3DXAssembleShader(source, n, NULL, NULL, 0, &code, &log);
    if (log)
        fprintf(stderr, "%s: %s", argv[1], (const char *)log->lpVtbl->GetBufferPointer(log));
    if (FAILED(hr) || !code)
        return fprintf(stderr, "%s: error %08lx\n", argv[1], (unsigned long)hr), 1;
    f = fopen(argv[2], "wb");
    n = code->lpVtbl->GetBufferSize(code);
    if (!f || fwrite(code->lpVtbl->GetBufferPointer(code), 1, n, f) != n)
        return fprintf(stderr, "%s: cannot write\n", argv[2]), 1;
    return fclose(f) ? 1 : 0;
}
