/* SPDX-License-Identifier: MIT */
/* Shader bytes. The first byte chooses the stage and whether a DXBC checksum is made right, so that mutations reach
 * what lies behind it; the rest is the shader. What is accepted is described, linked and printed. */
#include "fuzz.h"

#include <string.h>

#include "base/dxbc/dxbc_sum.h"
#include "base/dxbc/dxbc.h"
#include "executor/shader/shader.h"

static void link_one(struct shader *s, uint8_t choice)
{
    struct shader_link_params p = {.variant = {.alpha_func = choice & 7,
                                               .fog = choice >> 3 & 3,
                                               .flat = choice & 1,
                                               .points = choice >> 1 & 1,
                                               .point_sprite = choice >> 2 & 1}};
    struct shader_program prog;
    struct error e = {0};

    p.stages[shader_info(s)->stage] = s;
    if (!shader_link(&prog, &p, &e))
        shader_program_finish(&prog);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct shader_addresses gpu = {.base = 0x7f0000000000, .size = 1 << 20};
    struct shader *s = NULL;
    struct strbuf text = {0};
    struct error e = {0};
    uint8_t *bytes;
    uint32_t total;

    if (size < 2)
        return 0;
    size--;
    bytes = malloc(size); /* exactly as long, so that reads past the end are seen */
    if (!bytes)
        return 0;
    memcpy(bytes, data + 1, size);
    if (data[0] & 8 && dxbc_is(bytes, size) && size >= 32) {
        memcpy(&total, bytes + 24, 4);
        if (total >= 32 && total <= size)
            dxbc_sum(bytes, total, (uint32_t *)(void *)(bytes + 4));
    }
    if (!shader_create(&s, (enum exec_stage)(data[0] & 7), bytes, size, &gpu, &e)) {
        link_one(s, data[0] >> 4);
        shader_unref(s);
    } else if (!e.text[0]) {
        abort(); /* every refusal has a reason */
    }
    shader_print(&text, bytes, size);
    strbuf_finish(&text);
    free(bytes);
    return 0;
}
