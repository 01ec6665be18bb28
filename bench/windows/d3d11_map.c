/* SPDX-License-Identifier: MIT */
/* d3d11_map.c: what an upload costs a Windows program: 16 MiB into a buffer that it maps with WRITE_DISCARD, until the device is told; and a
 * copy of as many bytes from the same place to memory of its own, in turns.   d3d11_map.exe UPLOADS
 * Prints milliseconds of processor time of this thread; medians. */
#define CINTERFACE
#define COBJMACROS
#define WIN32_LEAN_AND_MEAN
#include <initguid.h>

#include <d3d11.h>

#include "frames.h"

enum { BYTES = 16 << 20 };

int main(int argc, char **argv)
{
    static double uploaded[FRAMES_MOST], copied[FRAMES_MOST];
    const D3D11_BUFFER_DESC b = {.ByteWidth = BYTES,
                                 .Usage = D3D11_USAGE_DYNAMIC,
                                 .BindFlags = D3D11_BIND_VERTEX_BUFFER,
                                 .CPUAccessFlags = D3D11_CPU_ACCESS_WRITE};
    unsigned count = argc > 1 ? (unsigned)atoi(argv[1]) : 20;
    char *from = malloc(BYTES), *to = malloc(BYTES);
    ID3D11DeviceContext *ctx;
    ID3D11Buffer *buffer;
    ID3D11Device *dev;

    if (!from || !to || !count || count > FRAMES_MOST ||
        D3D11CreateDevice(NULL, D3D_DRIVER_TYPE_HARDWARE, NULL, 0, NULL, 0, D3D11_SDK_VERSION, &dev, NULL,
                          &ctx) ||
        ID3D11Device_CreateBuffer(dev, &b, NULL, &buffer))
        return 4;
    memset(from, 0x3C, BYTES);
    for (unsigned i = 0; i < count + FRAMES_WARM; i++) {
        const unsigned at = i < FRAMES_WARM ? 0 : i - FRAMES_WARM;
        double start = frames_clock(FRAMES_THREAD_TIME);
        D3D11_MAPPED_SUBRESOURCE m;

        if (ID3D11DeviceContext_Map(ctx, (ID3D11Resource *)buffer, 0, D3D11_MAP_WRITE_DISCARD, 0, &m))
            return 4;
        memcpy(m.pData, from, BYTES);
        ID3D11DeviceContext_Unmap(ctx, (ID3D11Resource *)buffer, 0);
        ID3D11DeviceContext_Flush(ctx);
        uploaded[at] = frames_clock(FRAMES_THREAD_TIME) - start;
        start = frames_clock(FRAMES_THREAD_TIME);
        memcpy(to, from, BYTES);
        __asm__ volatile("" : : "r"(to) : "memory");
        copied[at] = frames_clock(FRAMES_THREAD_TIME) - start;
    }
    if (ID3D11Device_GetDeviceRemovedReason(dev))
        return 4;
    printf("upload %.4f copy %.4f\n", frames_median(uploaded, count), frames_median(copied, count));
    return 0;
}
