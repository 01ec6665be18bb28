/* SPDX-License-Identifier: MIT */
/* compositor.c: a small desktop compositor in a process of its own: it opens the surfaces that clients share, copies
 * them into its frame and presents each frame on a vblank, as DWM does. dwm_flush_pacing runs it with clients.
 *
 *   main ──"add HANDLE"──▶ compositor ──"frame N"──▶ main      client ──"handle H"──▶ main
 */
#include "suite.h"

#include <stdio.h>
#include <stdlib.h>

enum { MAX_CLIENTS = 16 };

/* One window: a surface whose colour changes every vblank. */
static void be_client(struct suite *s)
{
    struct umd_texture_params p = {.width = 200,
                                   .height = 150,
                                   .format = AEROGPU_FORMAT_B8G8R8A8_UNORM,
                                   .usage =
                                       AEROGPU_RESOURCE_USAGE_RENDER_TARGET | AEROGPU_RESOURCE_USAGE_TEXTURE,
                                   .shared = true};
    struct umd_device *d = NULL;
    struct umd_resource *r = NULL;
    char line[64];

    CHECK_STATUS(s, umd_open(&d, NULL), "client: open");
    CHECK_STATUS(s, umd_texture(d, &r, &p), "client: surface");
    umd_target(d, r);
    for (uint32_t frame = 0;; frame++) {
        float phase = (float)(frame % 120) / 120;
        umd_clear(d, phase, 0.5f, 1 - phase, 1);
        CHECK_STATUS(s, umd_finish(d, suite_ms(s, 10000)), "client: frame");
        if (!frame)
            suite_say(s, "handle %u", r->global_share);
        if (suite_hear(s, line, sizeof(line), 0) || suite_wait_vblank(s) != STATUS_SUCCESS)
            break;
    }
    umd_close(d);
}

static void be_compositor(struct suite *s)
{
    struct umd_device *d = NULL;
    struct umd_swapchain chain = {0};
    struct umd_resource *windows[MAX_CLIENTS] = {0};
    uint32_t n = 0, frame = 0;
    bool go_on = true;
    char line[512];

    CHECK_STATUS(s, umd_open(&d, NULL), "compositor: open");
    CHECK_STATUS(s, umd_swapchain(d, &chain), "compositor: swap chain");
    while (go_on) {
        unsigned handle;
        NTSTATUS st;
        umd_target(d, chain.target);
        umd_clear(d, 0.15f, 0.2f, 0.3f, 1);
        for (uint32_t i = 0; i < n; i++) {
            uint32_t x = 20 + i % 4 * 240, y = 20 + i / 4 * 180;
            ABI_EMIT(umd_stream(d), COPY_TEXTURE2D, copy_texture2d, .dst_texture = chain.target->handle,
                     .src_texture = windows[i]->handle, .dst_x = x, .dst_y = y, .width = windows[i]->width,
                     .height = windows[i]->height);
            umd_use(windows[i], false);
        }
        st = umd_present(&chain, 1, NULL);
        CHECK_STATUS(s, st,
                     "compositor: present"); /* waits while three frames are queued: that is the pace */
        suite_say(s, "frame %u", ++frame);
        while (suite_hear(s, line, sizeof(line), 0)) {
            if (sscanf(line, "add %u", &handle) == 1 && n < MAX_CLIENTS) {
                CHECK_STATUS(s, umd_open_shared(d, &windows[n], handle), "compositor: opening a window");
                n++;
            } else if (!strncmp(line, "dump ", 5)) {
                uint32_t *pixels = NULL;
                s->dump = true;
                s->log_dir = line + 5;
                if (umd_read(chain.target, &pixels, suite_ms(s, 5000)) == STATUS_SUCCESS)
                    suite_dump(s, "desktop", pixels, chain.width, chain.height);
                free(pixels);
            } else if (!strcmp(line, "quit")) {
                go_on = false;
            }
        }
    }
    umd_close(d);
}

static bool is_frame(struct suite *s, const char *line)
{
    if (strncmp(line, "frame ", 6) != 0)
        suite_fail(s, "the compositor says '%s'", line);
    return !s->failed;
}

static bool frame_of(struct suite *s, struct suite_peer *p)
{
    char line[400];

    if (!suite_peer_hear(p, line, sizeof(line), suite_ms(s, 5000))) {
        suite_fail(s, "the compositor is silent" SUITE_SLACK);
        return false;
    }
    return is_frame(s, line);
}

static void measure(struct suite *s, struct suite_peer *compositor)
{
    uint64_t time = s->minutes * UINT64_C(60) * NSEC_PER_SEC; /* 0: so many samples, however long they take */
    uint32_t n = s->minutes ? s->minutes * 60 * 250 : suite_default(s->samples, 120), i;
    double *ms = calloc(n, sizeof(*ms));
    uint64_t first, last;
    char line[400];

    CHECK(s, ms, "no memory");
    while (
        suite_peer_hear(compositor, line, sizeof(line), 0)) /* what it said while its clients were started */
        ;
    for (i = 0; i < 5 && frame_of(s, compositor); i++)
        ;
    first = last = suite_now(s);
    for (i = 0; i < n && (!time || last - first < time) && !s->failed && frame_of(s, compositor); i++) {
        uint64_t now = suite_now(s);
        ms[i] = (double)(now - last) / 1e6;
        last = now;
    }
    if (!s->failed) {
        suite_timing(s, ms, i);
        suite_measure(s, "frames_per_second", i * 1e9 / (double)(last - first));
        if (s->timing.avg < 2 || s->timing.max > suite_limit(s, 250))
            suite_fail(s, "frames every %.3f ms on average, %.3f ms at most" SUITE_SLACK, s->timing.avg,
                       s->timing.max);
    }
    free(ms);
}

static void direct(struct suite *s)
{
    struct suite_peer compositor, clients[MAX_CLIENTS];
    uint32_t n = suite_default(s->producers, 4), started = 0;
    char line[400];
    unsigned handle;

    if (!suite_peer_start(s, &compositor, "compositor"))
        return;
    if (!frame_of(s, &compositor))
        goto out;
    for (; started < n && started < MAX_CLIENTS && !s->failed; started++) {
        if (!suite_peer_start(s, &clients[started], "client"))
            break;
        if (!suite_peer_hear(&clients[started], line, sizeof(line), suite_ms(s, 20000)) ||
            sscanf(line, "handle %u", &handle) != 1)
            suite_fail(s, "client %u says '%s'" SUITE_SLACK, started, line);
        else
            suite_peer_say(&compositor, "add %u", handle);
    }
    if (!s->failed)
        measure(s, &compositor);
    if (!s->failed && s->dump) {
        char path[512];
        suite_peer_say(&compositor, "dump %s", s->log_dir ? s->log_dir : ".");
        snprintf(path, sizeof(path), "%s/%s_desktop.png", s->log_dir ? s->log_dir : ".", s->name);
        suite_artifact(s, path);
    }
out:
    suite_peer_say(&compositor, "quit");
    while (suite_peer_hear(&compositor, line, sizeof(line), suite_ms(s, 5000)))
        if (!strncmp(line, "FAIL ", 5))
            suite_fail(s, "%s", line + 5);
    suite_peer_end(&compositor, suite_ms(s, 5000));
    for (uint32_t i = 0; i < started; i++) {
        suite_peer_say(&clients[i], "quit");
        suite_peer_end(&clients[i], suite_ms(s, 5000));
    }
}

void test_dwm_flush_pacing(struct suite *s)
{
    if (s->role && !strcmp(s->role, "client"))
        be_client(s);
    else if (s->role)
        be_compositor(s);
    else
        direct(s);
}
