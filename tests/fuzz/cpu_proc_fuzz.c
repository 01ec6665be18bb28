/* SPDX-License-Identifier: MIT */
/* What the recorder reads of the system, and what a recording keeps of it: the first byte says which. */
#include "fuzz.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cpu/capture/names.h"
#include "cpu/capture/snapshot.h"
#include "cpu/capture/tasks.h"
#include "cpu/model/waits.h"
#include "cpu/model/window.h"

static void names(const char *text, size_t size, bool symbols)
{
    struct cpu_names *n = cpu_names_create();
    const struct cpu_event calls[] = {{.kind = CPU_EV_CSD_QUEUE, .tid = 7, .b = 0xffffffff81000040},
                                      {.kind = CPU_EV_CSD_QUEUE, .tid = 8, .b = 0x1000}};
    FILE *f = symbols ? fmemopen((void *)text, size, "r") : NULL;

    for (size_t i = 0; n && i < sizeof(calls) / sizeof(calls[0]); i++)
        cpu_names_event(n, &calls[i]);
    if (n)
        json_decref(cpu_names_resolve(n, f, symbols ? NULL : text, false));
    if (f)
        fclose(f);
    cpu_names_destroy(n);
}

static void list(const char *text, size_t size)
{
    json_t *j = json_loadb(text, size, 0, NULL), *entry;
    struct cpu_task_wait w;
    struct cpu_snapshot s;
    size_t i;

    json_array_foreach(j, i, entry)
        cpu_task_wait_parse(&w, entry);
    if (!cpu_snapshot_from_json(&s, j, NULL))
        cpu_snapshot_finish(&s);
    json_decref(j);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = size ? malloc(size) : NULL;
    struct cpu_window w;
    unsigned flags;
    int threads;
    FILE *f;

    if (!text)
        return 0;
    memcpy(text, data + 1, size - 1); /* the rest as text */
    text[size - 1] = '\0';
    switch (data[0] % 6) {
    case 0:
        cpu_task_state(text, &flags, &threads);
        break;
    case 1:
        f = fmemopen(text, size, "r");
        if (f) {
            cpu_task_lock_holder(f, 7);
            fclose(f);
        }
        break;
    case 2:
    case 3:
        names(text, size, data[0] % 6 == 2);
        break;
    case 4:
        list(text, size - 1);
        break;
    default:
        cpu_window_parse(&w, text, size - 1, NULL);
        break;
    }
    free(text);
    return 0;
}
