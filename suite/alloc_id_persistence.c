/* SPDX-License-Identifier: MIT */
/* An allocation keeps its id while it lives and for whoever opens it; ids of many allocations never meet. */
#include "suite.h"

#include <stdlib.h>

static int by_id(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

    return (x > y) - (x < y);
}

void test_alloc_id_persistence(struct suite *s)
{
    enum { MAX = 256 };
    uint32_t ids[MAX], n = suite_default(s->iterations, 64), opened = 0, created = 0;
    struct umd_texture_params p = {.width = 8,
                                   .height = 8,
                                   .format = AEROGPU_FORMAT_B8G8R8A8_UNORM,
                                   .shared = true,
                                   .usage = AEROGPU_RESOURCE_USAGE_TEXTURE};
    struct umd_device *a = NULL, *b = NULL;
    struct umd_resource *r = NULL, *o = NULL;
    NTSTATUS st = umd_open(&a, NULL);

    if (NT_SUCCESS(st))
        st = umd_open(&b, NULL);
    if (n > MAX)
        n = MAX;
    for (uint32_t i = 0; i < n && NT_SUCCESS(st); i++) {
        st = umd_buffer(i & 1 ? a : b, &r, AEROGPU_RESOURCE_USAGE_VERTEX_BUFFER, NULL, 256, true);
        ids[i] = NT_SUCCESS(st) ? r->alloc_id : 0;
    }
    if (NT_SUCCESS(st))
        st = umd_texture(a, &r, &p);
    if (NT_SUCCESS(st)) {
        created = r->alloc_id;
        st = umd_open_shared(b, &o, r->global_share);
    }
    if (NT_SUCCESS(st))
        opened = o->alloc_id;
    umd_close(b);
    umd_close(a);
    CHECK_STATUS(s, st, "allocations");
    CHECK(s, opened == created, "created as 0x%x, opened as 0x%x", created, opened);
    qsort(ids, n, sizeof(*ids), by_id);
    for (uint32_t i = 1; i < n; i++)
        CHECK(s, ids[i] != ids[i - 1] && ids[i] <= AEROGPU_ALLOC_ID_UMD_MAX, "id 0x%x twice", ids[i]);
}
