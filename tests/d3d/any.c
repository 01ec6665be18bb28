/* SPDX-License-Identifier: MIT */
/* any.c: calls of Direct3D 11 drawn from seeds (any_calls.h). any FOLDER FIRST COUNT [BYTES]; in FOLDER are the samples' shaders.
 *
 * No call of a program alone removes its device, and what was made goes when it is given back. Prints a line of each seed that went
 * otherwise, then "done". */
#define COBJMACROS
#define WIN32_LEAN_AND_MEAN
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include <d3d11.h>

#include "any_calls.h"
#include "base/rng.h"

static void one(uint64_t seed, size_t size)
{
    struct rng r = {seed};
    D3D_FEATURE_LEVEL level;
    ID3D11DeviceContext *context;
    ID3D11Device *device;
    uint8_t *bytes = malloc(size);
    HRESULT hr = D3D11CreateDevice(NULL, D3D_DRIVER_TYPE_HARDWARE, NULL, 0, NULL, 0, D3D11_SDK_VERSION,
                                   &device, &level, &context);
    ULONG left;

    if (hr != S_OK || !bytes) {
        printf("seed %llu: no device: 0x%08X\n", (unsigned long long)seed, (unsigned)hr);
        exit(1);
    }
    for (size_t i = 0; i < size; i++)
        bytes[i] = (uint8_t)rng_next(&r);
    any_calls(device, context, bytes, size, false);
    hr = ID3D11Device_GetDeviceRemovedReason(device);
    ID3D11DeviceContext_Release(context);
    left = ID3D11Device_Release(device);
    if (hr != S_OK || left)
        printf("seed %llu: the device: 0x%08X, %lu references stay\n", (unsigned long long)seed, (unsigned)hr,
               (unsigned long)left);
    free(bytes);
}

int main(int argc, char **argv)
{
    uint64_t first, count;

    setvbuf(stdout, NULL, _IONBF, 0);
    if (argc < 4 || !any_calls_begin(argv[1]))
        return 2;
    first = strtoull(argv[2], NULL, 0);
    count = strtoull(argv[3], NULL, 0);
    for (uint64_t i = 0; i < count; i++)
        one(first + i, argc > 4 ? strtoul(argv[4], NULL, 0) : 4096);
    printf("done\n");
    return 0;
}
