/* SPDX-License-Identifier: MIT */
/* Many client processes at once: each draws, reads back and waits for vblanks until all of them are there. */
#include "suite.h"

#include <stdlib.h>

enum { MAX_CLIENTS = 128 };

static void be_client(struct suite *s)
{
    struct umd_device *d = NULL;
    struct suite_scene scene;
    uint32_t *pixels = NULL;
    char line[16];
    NTSTATUS st;

    CHECK_STATUS(s, umd_open(&d, NULL), "client: open");
    st = suite_scene_create(&scene, d, 64, 64);
    if (NT_SUCCESS(st)) {
        suite_scene_draw(&scene);
        st = umd_read(scene.target, &pixels, suite_ms(s, 30000));
    }
    if (st == STATUS_SUCCESS && suite_scene_check(s, pixels, 64, 64)) {
        suite_say(s, "ok");
        while (!suite_hear(s, line, sizeof(line), 0) && suite_wait_vblank(s) == STATUS_SUCCESS)
            ;
    }
    free(pixels);
    umd_close(d);
    CHECK_STATUS(s, st, "client: draw and read back");
}

void test_many_clients(struct suite *s)
{
    uint32_t n = suite_default(s->producers, suite_is_seated(s) ? 64 : 16),
             started = 0; /* a stranger has a share */
    struct suite_peer *peers;
    uint64_t start = suite_now(s);

    if (s->role) {
        be_client(s);
        return;
    }
    peers = calloc(MAX_CLIENTS, sizeof(*peers));
    CHECK(s, peers, "no memory");
    n = n > MAX_CLIENTS ? MAX_CLIENTS : n;
    while (started < n && suite_peer_start(s, &peers[started], "client"))
        started++;
    for (uint32_t i = 0; i < started && !s->failed; i++) {
        char line[400];
        if (!suite_peer_hear(&peers[i], line, sizeof(line), suite_ms(s, 40000)) || strcmp(line, "ok") != 0)
            suite_fail(s, "client %u of %u says '%s'" SUITE_SLACK, i, n, line);
    }
    if (!s->skipped)
        suite_measure(s, "all_drawn_ms", (double)(suite_now(s) - start) / 1e6);
    for (uint32_t i = 0; i < started; i++)
        suite_peer_say(&peers[i], "quit");
    for (uint32_t i = 0; i < started; i++)
        if (suite_peer_end(&peers[i], suite_ms(s, 10000)) != 0)
            suite_fail(s, "client %u ended badly" SUITE_SLACK, i);
    free(peers);
}
