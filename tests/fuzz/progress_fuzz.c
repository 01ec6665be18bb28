/* SPDX-License-Identifier: MIT */
/* What a minimisation knows: any text is read; each answer is one that stands there as a whole line, in order of its hash. */
#include "fuzz.h"

#include <inttypes.h>
#include <string.h>

#include "minimize/progress.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    size_t num, lines = 0;
    struct progress_answer *list;
    char line[24];

    list = progress_parse((const char *)data, size, &num);
    for (size_t i = 0; i < size; i++)
        lines += data[i] == '\n';
    must(num <= lines && !num == !list);
    for (size_t i = 0; i < num; i++) {
        must(!i || list[i - 1].hash <= list[i].hash);
        snprintf(line, sizeof(line), "%016" PRIx64 " %d\n", list[i].hash, list[i].still);
        must(memmem(data, size, line, 19));
    }
    free(list);
    return 0;
}
