/* SPDX-License-Identifier: MIT */
/* Debug tokens of shared handles: refused while the gate is closed. Open, a handle has one token, here and in another process,
 * different handles have different ones, and thousands of them leave the driver as it was. */
#include "suite.h"

#include <stdio.h>

enum { SURFACES = 24 };

static NTSTATUS token_of(struct suite *s, uint32_t share, uint32_t *token)
{
    struct aerogpu_escape_map_shared_handle m = {.shared_handle = share};
    NTSTATUS st = SUITE_ESCAPE(s, MAP_SHARED_HANDLE, &m);

    *token = m.debug_token;
    return st;
}

static NTSTATUS make_surface(struct umd_device *d, struct umd_resource **r)
{
    return umd_texture(d, r,
                       &(struct umd_texture_params){.width = 16,
                                                    .height = 16,
                                                    .format = AEROGPU_FORMAT_B8G8R8A8_UNORM,
                                                    .shared = true,
                                                    .usage = AEROGPU_RESOURCE_USAGE_TEXTURE});
}

/* Another process: "map" says the token of each handle that it hears, "hold" makes a surface, says its handle and keeps it. */
static void be_peer(struct suite *s)
{
    struct umd_device *d = NULL;
    struct umd_resource *r = NULL;
    char line[64];
    uint32_t token;
    unsigned share;

    if (!strcmp(s->role, "hold")) {
        CHECK_STATUS(s, umd_open(&d, NULL), "open");
        if (make_surface(d, &r) == STATUS_SUCCESS) {
            suite_say(s, "handle %u", r->global_share);
            suite_hear(s, line, sizeof(line), suite_ms(s, 60000));
        }
        umd_close(d);
        return;
    }
    while (suite_hear(s, line, sizeof(line), suite_ms(s, 20000)) && sscanf(line, "map %u", &share) == 1) {
        NTSTATUS st = token_of(s, share, &token);
        suite_say(s, "token %u status %u", token, (uint32_t)st);
    }
}

static void check_elsewhere(struct suite *s, uint32_t share, uint32_t token)
{
    struct suite_peer peer;
    unsigned other = 0, status = 1;
    char line[64] = "";

    if (!suite_peer_start(s, &peer, "map"))
        return;
    suite_peer_say(&peer, "map %u", share);
    if (!suite_peer_hear(&peer, line, sizeof(line), suite_ms(s, 20000)) ||
        sscanf(line, "token %u status %u", &other, &status) != 2 || status || other != token)
        suite_fail(s, "the handle 0x%x has the token 0x%x here, another process hears '%s'" SUITE_SLACK,
                   share, token, line);
    suite_peer_say(&peer, "end");
    suite_peer_end(&peer, suite_ms(s, 5000));
}

/* False: the gate is closed. */
static bool check_tokens(struct suite *s, struct umd_resource *const *r, uint32_t rounds)
{
    uint32_t first[SURFACES] = {0}, token;
    char text[16];

    for (uint32_t i = 0; i < rounds && !s->failed; i++) {
        uint32_t k = i % SURFACES;
        NTSTATUS st = token_of(s, r[k]->global_share, &token);
        if (st == STATUS_NOT_SUPPORTED && !i)
            return false;
        if (st != STATUS_SUCCESS || !token || (first[k] && token != first[k]))
            suite_fail(s, "round %u, handle 0x%x: %s, token 0x%x after 0x%x", i, r[k]->global_share,
                       umd_status_name(st, text), token, first[k]);
        for (uint32_t j = 0; j < k && !s->failed; j++)
            if (first[j] == token)
                suite_fail(s, "the handles 0x%x and 0x%x have the token 0x%x both", r[j]->global_share,
                           r[k]->global_share, token);
        first[k] = token;
    }
    if (!s->failed)
        check_elsewhere(s, r[0]->global_share, first[0]);
    return true;
}

void test_map_shared_handle_stress(struct suite *s)
{
    uint32_t n = suite_default(s->iterations, 2400), token;
    struct umd_resource *r[SURFACES] = {0};
    struct umd_device *d = NULL;
    uint32_t gone = 0;
    NTSTATUS st;

    if (s->role) {
        be_peer(s);
        return;
    }
    CHECK_STATUS(s, umd_open(&d, NULL), "open");
    st = make_surface(d, &r[0]);
    for (int i = 1; i < SURFACES && NT_SUCCESS(st); i++)
        st = make_surface(d, &r[i]);
    if (NT_SUCCESS(st) && !check_tokens(s, r, n < SURFACES ? SURFACES : n))
        suite_skip(
            s, "MAP_SHARED_HANDLE is closed: EnableMapSharedHandleEscape is off, or we are not privileged");
    if (NT_SUCCESS(st))
        gone = r[0]->global_share;
    umd_close(d);
    CHECK_STATUS(s, st, "shared textures");
    if (s->failed || s->skipped)
        return;
    CHECK_EQ_STATUS(s, token_of(s, gone, &token), STATUS_INVALID_HANDLE,
                    "the handle of a surface that is gone");
    CHECK_EQ_STATUS(s, token_of(s, 0, &token), STATUS_INVALID_PARAMETER, "handle 0");
}
