/* SPDX-License-Identifier: MIT */
/* root_signature_fuzz.c: what containers say of root signatures and of shaders: read, and shown both ways; tables measured, and values
 * of constants read from few bytes. */
#include "fuzz.h"

#include "d3d12/view/root_signature.h"
#include "d3d12/view/shader.h"

static void shader(const uint8_t *data, size_t size)
{
    struct strbuf out = {0};
    struct shader s;

    if (!shader_read(&s, data, size, NULL))
        for (enum show_form form = SHOW_TEXT; form <= SHOW_JSON; form++) {
            shader_show(&out, form, &s, size);
            for (size_t i = 0; i < s.num_buffers; i++)
                shader_values(&out, form, &s, i, data, size < 64 ? size : 64, "here");
        }
    shader_finish(&s);
    strbuf_finish(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct root_signature r;
    struct strbuf out = {0};

    if (!root_signature_read(&r, data, size, NULL)) {
        root_signature_show(&out, SHOW_TEXT, &r);
        root_signature_show(&out, SHOW_JSON, &r);
    }
    for (uint32_t i = 0; i <= r.num; i++)
        (void)root_signature_table(&r, i);
    root_signature_finish(&r);
    strbuf_finish(&out);
    shader(data, size);
    return 0;
}
