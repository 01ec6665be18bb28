/* SPDX-License-Identifier: MIT */
/* wddm.c: a host for a display miniport, which is a shared object: it is loaded, its adapter starts and stops, and every rule
 * was kept. The miniport and its device are tests/dxgkrnl/softgpu, as another author would have them. */
#include <stdio.h>

#include <dxgkrnl/dxgkrnl.h>

#include "device.h"

int main(int argc, char **argv)
{
    struct dxgk_params p = {.service = "softgpu"};
    struct settings settings = {0};
    struct error e = {0};
    struct softgpu gpu;
    struct clock clock;
    struct dxgk *dxgk;
    unsigned violations;

    clock_init_live(&clock);
    p.clock = &clock;
    p.bus = &gpu.bus;
    p.settings = &settings;
    if (softgpu_init(&gpu, &clock, NULL) || dxgk_create(&dxgk, &p, &e))
        return 1;
    gpu.dxgk = dxgk;
    if (dxgk_load_file(dxgk, argv[1], &e) || !NT_SUCCESS(dxgk_start(dxgk, &e))) {
        printf("%s\n", e.text);
        return 1;
    }
    dxgk_unload(dxgk);
    softgpu_stop(&gpu);
    violations = dxgk_violations(dxgk);
    printf("started and stopped, %u violations\n", violations);
    dxgk_destroy(dxgk);
    softgpu_finish(&gpu);
    return violations != 0;
}
