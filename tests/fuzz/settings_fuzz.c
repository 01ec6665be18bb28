/* SPDX-License-Identifier: MIT */
/* A settings file of anybody: it is taken whole or not at all, and what it sets can be read back. */
#include "fuzz.h"

#include <string.h>

#include "dxgkrnl/settings.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct settings s = {0};
    struct error e = {0};
    uint32_t v;
    int r = dxgk_settings_parse(&s, (const char *)data, size, &e);

    must(!r == !e.code && (!r || (!s.count && strstr(e.text, "line "))));
    for (unsigned i = 0; i < s.count; i++) {
        must(dxgk_settings_has_key(&s, s.values[i].key));
        must(dxgk_settings_get(&s, s.values[i].key, s.values[i].name, &v) && v == s.values[i].value);
    }
    dxgk_settings_finish(&s);
    return 0;
}
