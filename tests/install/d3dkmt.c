/* SPDX-License-Identifier: MIT */
/* d3dkmt.c: the thunks, where no service listens. */
#include <stdio.h>

#include <d3dkmt/d3dkmt.h>

int main(void)
{
    D3DKMT_OPENADAPTERFROMHDC open = {.hDc = (HDC) "\\\\.\\DISPLAY1"};
    NTSTATUS status = D3DKMTOpenAdapterFromHdc(&open);

    printf("status %08x\n", (unsigned)status);
    return status != STATUS_NO_SUCH_DEVICE;
}
