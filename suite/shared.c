/* SPDX-License-Identifier: MIT */
/* shared.c: surfaces that several devices and processes share. The consumer reads the pixels back. */
#include "suite.h"

#include <stdio.h>
#include <stdlib.h>

static const struct umd_texture_params surface = {.width = 64,
                                                  .height = 64,
                                                  .format = AEROGPU_FORMAT_B8G8R8A8_UNORM,
                                                  .usage = AEROGPU_RESOURCE_USAGE_RENDER_TARGET |
                                                           AEROGPU_RESOURCE_USAGE_TEXTURE,
                                                  .shared = true};

static NTSTATUS fill(struct suite *s, struct umd_resource *r, float red, float green, float blue)
{
    umd_target(r->device, r);
    umd_clear(r->device, red, green, blue, 1);
    umd_target(r->device, NULL);
    return umd_finish(r->device, suite_ms(s, 10000));
}

static void check_colour(struct suite *s, struct umd_resource *r, uint32_t want)
{
    uint32_t *pixels = NULL, got;
    NTSTATUS st = umd_read(r, &pixels, suite_ms(s, 10000));

    got = pixels ? pixels[33 * 64 + 17] & 0xFFFFFF : 0;
    if (pixels)
        suite_dump(s, "shared", pixels, 64, 64);
    free(pixels);
    CHECK_STATUS(s, st, "reading the shared surface back");
    if (!(s->host && s->host->sim) && s->validate_sharing)
        CHECK(s, got == want, "the shared surface is #%06x, expected #%06x", got, want);
}

void test_shared_surface(struct suite *s)
{
    struct umd_device *a = NULL, *b = NULL;
    struct umd_resource *r = NULL, *o = NULL;
    NTSTATUS st = umd_open(&a, NULL);

    if (NT_SUCCESS(st))
        st = umd_open(&b, NULL);
    if (NT_SUCCESS(st))
        st = umd_texture(a, &r, &surface);
    if (NT_SUCCESS(st))
        st = fill(s, r, 0, 0, 1);
    if (NT_SUCCESS(st))
        st = umd_open_shared(b, &o, r->global_share);
    if (NT_SUCCESS(st))
        check_colour(s, o, 0x0000FF);
    if (NT_SUCCESS(st) && !s->failed && o->share_token != r->share_token)
        suite_fail(s, "token 0x%llx, opened as 0x%llx", (unsigned long long)r->share_token,
                   (unsigned long long)o->share_token);
    umd_close(b);
    umd_close(a);
    CHECK_STATUS(s, st, "sharing");
}

/* The other process: makes a surface of the colour that its role names, says its handle, and stays until told. */
static void produce(struct suite *s, uint32_t colour)
{
    struct umd_device *d = NULL;
    struct umd_resource *r = NULL;
    char line[32];

    CHECK_STATUS(s, umd_open(&d, NULL), "producer: open");
    CHECK_STATUS(s, umd_texture(d, &r, &surface), "producer: texture");
    CHECK_STATUS(s,
                 fill(s, r, (float)(colour >> 16 & 0xFF) / 255, (float)(colour >> 8 & 0xFF) / 255,
                      (float)(colour & 0xFF) / 255),
                 "producer: fill");
    suite_say(s, "handle %u", r->global_share);
    suite_hear(s, line, sizeof(line), suite_ms(s, 60000));
    umd_close(d);
}

static void consume(struct suite *s, uint32_t producers)
{
    enum { MAX = 16 };
    struct suite_peer peers[MAX] = {0};
    struct umd_resource *opened[MAX] = {0};
    struct umd_device *d = NULL;
    uint32_t n = 0;
    NTSTATUS st;

    if (producers > MAX) {
        suite_log(s, "%u producers are asked for, %u are started", producers, MAX);
        producers = MAX;
    }
    st = umd_open(&d, NULL);
    for (; n < producers && NT_SUCCESS(st) && !s->failed; n++) {
        char role[32], line[400];
        unsigned handle;
        snprintf(role, sizeof(role), "producer-%06x", 0x200000 + n * 0x0A0703);
        if (!suite_peer_start(s, &peers[n], role))
            break;
        if (!suite_peer_hear(&peers[n], line, sizeof(line), suite_ms(s, 20000)) ||
            sscanf(line, "handle %u", &handle) != 1)
            suite_fail(s, "producer %u says '%s'" SUITE_SLACK, n, line);
        else
            st = umd_open_shared(d, &opened[n], handle);
    }
    if (NT_SUCCESS(st) && !s->failed && !s->skipped) /* all of them in one submission */
        st = umd_finish(d, suite_ms(s, 10000));
    for (uint32_t i = 0; i < n && !s->failed && !s->skipped && NT_SUCCESS(st); i++)
        check_colour(s, opened[i], 0x200000 + i * 0x0A0703);
    for (uint32_t i = 0; i < n; i++)
        if (suite_peer_end(&peers[i], suite_ms(s, 10000)) != 0)
            suite_fail(s, "producer %u ended badly" SUITE_SLACK, i);
    umd_close(d);
    CHECK_STATUS(s, st, "consumer");
}

static bool is_producer(struct suite *s)
{
    unsigned colour;

    if (!s->role || sscanf(s->role, "producer-%x", &colour) != 1)
        return false;
    produce(s, colour);
    return true;
}

void test_shared_surface_ipc(struct suite *s)
{
    if (!is_producer(s))
        consume(s, 1);
}

void test_shared_surface_many_producers(struct suite *s)
{
    if (!is_producer(s))
        consume(s, suite_default(s->producers, 6));
}

/* The process that opens what it is told, for --process-stress. */
static void open_and_close(struct suite *s)
{
    char line[64];
    unsigned handle;

    while (suite_hear(s, line, sizeof(line), suite_ms(s, 20000)) && sscanf(line, "open %u", &handle) == 1) {
        struct umd_device *b = NULL;
        struct umd_resource *o = NULL;
        NTSTATUS st = umd_open(&b, NULL);
        if (NT_SUCCESS(st))
            st = umd_open_shared(b, &o, handle);
        if (NT_SUCCESS(
                st)) /* contexts do not wait for each other: the import must be done before the token goes */
            st = umd_finish(b, suite_ms(s, 10000));
        umd_close(b);
        suite_say(s, "status %u", (uint32_t)st);
    }
}

static NTSTATUS open_elsewhere(struct suite *s, struct suite_peer *peer, uint32_t handle)
{
    char line[64] = "";
    unsigned status = 0;

    suite_peer_say(peer, "open %u", handle);
    if (!suite_peer_hear(peer, line, sizeof(line), suite_ms(s, 20000)) ||
        sscanf(line, "status %u", &status) != 1) {
        suite_fail(s, "the process that opens says '%s'" SUITE_SLACK, line);
        return STATUS_UNSUCCESSFUL;
    }
    return (NTSTATUS)status;
}

static NTSTATUS open_here(struct suite *s, struct umd_device **b, uint32_t handle)
{
    struct umd_resource *o = NULL;
    NTSTATUS st = umd_open(b, NULL);

    if (NT_SUCCESS(st))
        st = umd_open_shared(*b, &o, handle);
    return NT_SUCCESS(st) ? umd_finish(*b, suite_ms(s, 10000)) : st;
}

void test_shared_surface_stress(struct suite *s)
{
    uint32_t n = suite_default(s->iterations, 60);
    struct umd_device *a = NULL;
    struct suite_peer peer;
    NTSTATUS st;

    if (s->role) {
        open_and_close(s);
        return;
    }
    if (s->processes && !suite_peer_start(s, &peer, "opener"))
        return;
    st = umd_open(&a, NULL);
    for (uint32_t i = 0; i < n && st == STATUS_SUCCESS; i++) {
        struct umd_device *b = NULL;
        struct umd_resource *r = NULL;
        st = umd_texture(a, &r, &surface);
        if (NT_SUCCESS(st))
            st = s->processes ? open_elsewhere(s, &peer, r->global_share) : open_here(s, &b, r->global_share);
        if (i % 2) { /* the creator goes first, or the opener */
            umd_destroy(r);
            umd_close(b);
        } else {
            umd_close(b);
            umd_destroy(r);
        }
    }
    if (st == STATUS_SUCCESS)
        st = umd_finish(a, suite_ms(s, 10000));
    umd_close(a);
    if (s->processes) {
        suite_peer_say(&peer, "end");
        if (suite_peer_end(&peer, suite_ms(s, 10000)) != 0)
            suite_fail(s, "the process that opens ended badly" SUITE_SLACK);
    }
    CHECK_STATUS(s, st, "create, open, destroy");
}

/* A shared resource of two allocations is refused: one surface, one allocation, one token. */
void test_shared_allocations(struct suite *s)
{
    struct aerogpu_alloc_priv priv[2];
    D3DDDI_ALLOCATIONINFO info[2] = {0};
    D3DKMT_CREATEALLOCATION a = {.NumAllocations = 2, .pAllocationInfo = info};
    struct umd_device *d = NULL;
    NTSTATUS st;

    CHECK_STATUS(s, umd_open(&d, NULL), "open");
    for (int i = 0; i < 2; i++) {
        priv[i] = (struct aerogpu_alloc_priv){.magic = AEROGPU_ALLOC_PRIV_MAGIC,
                                              .version = 1,
                                              .alloc_id = 0x1234567 + (uint32_t)i,
                                              .flags = AEROGPU_ALLOC_PRIV_FLAG_SHARED,
                                              .size_bytes = 4096};
        info[i].pPrivateDriverData = &priv[i];
        info[i].PrivateDriverDataSize = sizeof(priv[i]);
    }
    a.hDevice = umd_kmt_device(d);
    a.Flags.CreateResource = a.Flags.CreateShared = 1;
    st = D3DKMTCreateAllocation(&a);
    umd_close(d);
    suite_refused(s, st, STATUS_INVALID_PARAMETER, "a shared resource of two allocations");
}
