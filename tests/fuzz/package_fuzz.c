/* SPDX-License-Identifier: MIT */
/* Packages of evidence, as the process that makes dumps is given them. */
#include "fuzz.h"

#include "base/utf8.h"
#include "blackbox/package.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct bb_value values[BB_MAX_COLUMNS];
    struct bb_package_reader r;
    struct error e = {0};
    enum bb_table table;

    if (bb_package_open(&r, data, size, &e))
        return 0;
    while (bb_package_next(&r, &table, values, &e) > 0)
        for (uint32_t i = 0; i < bb_tables[table].num_columns; i++)
            if (values[i].tag == BB_TAG_TEXT && values[i].size)
                utf8_clean(NULL, SIZE_MAX, values[i].bytes, values[i].size);
    return 0;
}
