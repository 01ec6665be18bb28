/* SPDX-License-Identifier: MIT */
/* Shaders that Direct3D programs bring. The first byte chooses the stage, the rest is a container, whose checksum is made right.
 *
 * What the runtime takes goes the way of a shader that is made and drawn with: the driver is told tokens and registers, makes a
 * container of them, and checks it. What it does not refuse, the device has to take: it would remove the program's device. */
#include "fuzz.h"

#include <string.h>

#include "base/dxbc/dxbc_sum.h"
#include "base/dxbc/sm4_check.h"
#include "executor/shader/shader.h"
#include "umd/d3d10/umd10.h"

static const enum exec_stage stages[] = {EXEC_PS, EXEC_VS, EXEC_GS, EXEC_HS, EXEC_DS, EXEC_CS};

static UINT signature(const struct dxbc_signature *s, D3D11_1DDIARG_SIGNATURE_ENTRY *out)
{
    for (uint32_t i = 0; i < s->count; i++) {
        const struct dxbc_element *e = &s->elements[i];

        out[i] = (D3D11_1DDIARG_SIGNATURE_ENTRY){e->system_value < 11 ? e->system_value : 0, e->reg, e->mask};
    }
    return s->count;
}

static void on_device(uint32_t type, const void *made, uint32_t size)
{
    struct shader_link_params p = {0};
    struct shader_program program;
    struct error e = {0};
    struct shader *s;

    if (shader_create(&s, stages[type], made, size, NULL, &e)) {
        fprintf(stderr, "%s\n", e.text);
        must(!"the device refuses a shader that the driver made");
    }
    if (type != 3 && type != 4) { /* hull and domain shaders are linked with each other only */
        p.stages[stages[type]] = s;
        if ((type == 5 || type == 1) && shader_link(&program, &p, &e)) {
            fprintf(stderr, "%s\n", e.text);
            must(!"the device cannot link a shader that the driver made");
        }
        if (type == 5 || type == 1)
            shader_program_finish(&program);
    }
    shader_unref(s);
}

static void shader(uint32_t type, const uint8_t *bytes, size_t size)
{
    D3D11_1DDIARG_SIGNATURE_ENTRY in[DXBC_MAX_ELEMENTS], out[DXBC_MAX_ELEMENTS], patch[DXBC_MAX_ELEMENTS];
    struct umd10_program p = {.in = in, .out = out, .patch = patch};
    struct dxbc_shader x, made;
    uint32_t made_size = 0;
    void *dxbc;

    if (dxbc_shader_open(&x, bytes, size, type, NULL))
        return;
    p.code = (const UINT *)(const void *)x.program.data;
    p.num_in = signature(&x.in, in);
    p.num_out = signature(&x.out, out);
    p.num_patch = signature(&x.patch, patch);
    dxbc = umd10_dxbc(&p, &made_size);
    if (dxbc && !dxbc_shader_open(&made, dxbc, made_size, SM4_ANY_TYPE, NULL))
        on_device(type, dxbc, made_size);
    free(dxbc);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint32_t sum[4], total;
    uint8_t *bytes;

    if (size < 33)
        return 0;
    size--;
    bytes = malloc(size); /* exactly as long, so that reads past the end are seen */
    if (!bytes)
        return 0;
    memcpy(bytes, data + 1, size);
    memcpy(&total, bytes + 24, sizeof(total));
    if (total >= 32 && total <= size) {
        dxbc_sum(bytes, total, sum);
        memcpy(bytes + 4, sum, sizeof(sum));
    }
    shader(data[0] % 6, bytes, size);
    free(bytes);
    return 0;
}
