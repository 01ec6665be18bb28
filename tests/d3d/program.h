/* SPDX-License-Identifier: MIT */
/* program.h: what these programs have in common; behind a header of Direct3D. */
#pragma once

#include <stdio.h>
#include <stdlib.h>

/* Or the program ends and says which call was refused. */
#define NEED(call)                                                                                           \
    do {                                                                                                     \
        HRESULT hr_ = (call);                                                                                \
        if (hr_ != S_OK) {                                                                                   \
            printf("%s: 0x%08X\n", #call, (unsigned)hr_);                                                    \
            exit(1);                                                                                         \
        }                                                                                                    \
    } while (0)

/* A file of at most 64 KiB; the program's end if it is not there. */
static inline BYTE *file(const char *folder, const char *name, SIZE_T *size)
{
    char path[1024];
    BYTE *bytes = malloc(1 << 16);
    FILE *f;

    snprintf(path, sizeof(path), "%s/%s", folder, name);
    f = fopen(path, "rb");
    if (!f || !bytes) {
        printf("no %s\n", path);
        exit(1);
    }
    *size = fread(bytes, 1, 1 << 16, f);
    fclose(f);
    return bytes;
}
