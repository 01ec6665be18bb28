/* SPDX-License-Identifier: MIT */
/* What a client, or a stranger's user, has of memory, and what of others'. */
#include "test.h"

#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "aerogpu/ext.h"
#include "kmd_painter.h"

enum { FILES = 32 };

/* The files of guest memory that a process has mapped, by inode; -1: nobody may look. */
static int files_of(pid_t pid, unsigned long inodes[FILES], bool *has_common)
{
    char path[40], line[256];
    int n = 0;
    FILE *f;

    *has_common = false;
    snprintf(path, sizeof(path), "/proc/%d/maps", (int)pid);
    f = fopen(path, "re");
    if (!f)
        return -1;
    while (fgets(line, sizeof(line), f)) {
        unsigned long inode;
        bool known = false;

        if (!strstr(line, "/memfd:aerogpu-") || sscanf(line, "%*s %*s %*s %*s %lu", &inode) != 1)
            continue;
        *has_common |= strstr(line, "aerogpu-ram") || strstr(line, "aerogpu-vram");
        for (int i = 0; i < n; i++)
            known |= inodes[i] == inode;
        if (!known && strstr(line, "aerogpu-client")) {
            assert_true(n < FILES);
            inodes[n++] = inode;
        }
    }
    fclose(f);
    return n;
}

static unsigned in_both(const unsigned long *a, int n, const unsigned long *b, int m)
{
    unsigned both = 0;

    for (int i = 0; i < n; i++)
        for (int k = 0; k < m; k++)
            both += a[i] == b[k];
    return both;
}

static void present(struct painter *p)
{
    ABI_EMIT(&p->b, PRESENT, present, .scanout_id = 0);
    assert_int_equal(rig_render(&p->x, &p->b, &p->picture, 1, 1), STATUS_SUCCESS);
    assert_int_equal(rig_idle(&p->x), STATUS_SUCCESS);
}

/* Whoever takes an executor over finds its client's memory there, and the screen that it presents, and nothing else: no other client's, no
 * command streams, nothing of the driver's. */
TEST(an_executor_has_what_its_client_names)
{
    unsigned long of_a[FILES], of_b[FILES];
    struct rig_context *x[2];
    struct painter a, b;
    bool common[2];
    struct rig r = {0};
    int n, m;

    rig_up(&r, LIVE);
    painter_of(&a, &r, 401, 1001); /* who starts as the spare one, made before anybody came */
    painter_of(&b, &r, 402, 1002);
    x[0] = &a.x;
    x[1] = &b.x;
    frames(&a, 4, 0, 0);
    frames(&b, 4, 0, 0);
    n = files_of(a.pid, of_a, &common[0]);
    m = files_of(b.pid, of_b, &common[1]);
    if (n < 0 || m < 0)
        print_message("# executors cannot be looked into here\n");
    assert_true(n < 0 || (n == 1 && !common[0]));
    assert_true(m < 0 || (m == 1 && !common[1]));
    if (n > 0 && m > 0)
        assert_int_equal(in_both(of_a, n, of_b, m), 0);
    present(&a);
    present(&b);
    n = files_of(a.pid, of_a, &common[0]);
    m = files_of(b.pid, of_b, &common[1]);
    if (n > 0 && m > 0) { /* the screen is both's */
        assert_false(common[0] || common[1]);
        assert_int_equal(n, 2);
        assert_int_equal(m, 2);
        assert_int_equal(in_both(of_a, n, of_b, m), 1);
    }
    for (unsigned i = 0; i < 2; i++)
        assert_int_equal(rig_state(x[i]), D3DKMT_DEVICEEXECUTION_ACTIVE);
    painter_down(&a);
    painter_down(&b);
    rig_down(&r);
}

/* What the context queues stays there. */
static void block(struct painter *p)
{
    D3DKMT_CREATESYNCHRONIZATIONOBJECT2 c = {.hDevice = p->x.device, .Info.Type = D3DDDI_FENCE};
    D3DKMT_WAITFORSYNCHRONIZATIONOBJECT2 w = {.hContext = p->x.context, .ObjectCount = 1};

    assert_int_equal(dxgk_CreateSynchronizationObject2(p->client, &c), STATUS_SUCCESS);
    w.ObjectHandleArray[0] = c.hSyncObject;
    w.Fence.FenceValue = 1;
    assert_int_equal(dxgk_WaitForSynchronizationObject2(p->client, &w), STATUS_SUCCESS);
}

static NTSTATUS take_host_memory(struct painter *p, unsigned texture)
{
    NTSTATUS s;

    ABI_EMIT(&p->b, CREATE_TEXTURE2D, create_texture2d, .texture_handle = texture,
             .usage_flags = AEROGPU_RESOURCE_USAGE_RENDER_TARGET, .format = AEROGPU_FORMAT_B8G8R8A8_UNORM,
             .width = 4096, .height = 2048, .mip_levels = 1, .array_layers = 1); /* 32 MiB */
    ABI_EMIT(&p->b, SET_RENDER_TARGETS, set_render_targets, .color_count = 1, .colors = {texture});
    ABI_EMIT(&p->b, CLEAR, clear, .flags = AEROGPU_CLEAR_COLOR, .color_rgba = {0, abi_f32(1), 0, abi_f32(1)});
    ABI_EMIT(&p->b, SET_RENDER_TARGETS, set_render_targets, .color_count = 1, .colors = {1});
    s = rig_render(&p->x, &p->b, NULL, 0, 0);
    return NT_SUCCESS(s) ? rig_idle(&p->x) : s;
}

/* What textures take of the host's memory, too, is a user's share, of whatever number of processes: the largest of them goes. */
TEST(a_strangers_executors_leave_host_memory)
{
    struct painter a, more, b, c;
    struct rig r = {0};
    NTSTATUS s = STATUS_SUCCESS;
    uint64_t base;
    unsigned n;

    rig_up(&r, LIVE);
    painter_of(&a, &r, 400, 1000);
    base = machine_client_bytes(stack_machine(r.stack), 400); /* more under a sanitizer */
    painter_down(&a);
    rig_down(&r);
    assert_true(base > 0);
    base = (base | 0x3ffffff) + 1; /* multiples of 64 MiB */
    r = (struct rig){0};
    rig_up(&r, &(struct stack_params){.machine = {.kind = MACHINE_LIVE}, .work_memory = 16 * base});
    painter_of(&a, &r, 400, 1000);
    painter_of(&more, &r, 401, 1000);
    painter_of(&b, &r, 402, 1001);
    painter_up(&c, &r, 300);
    for (n = 0; n < base >> 24; n++) /* twice as much */
        assert_int_equal(take_host_memory(&more, 100 + n), STATUS_SUCCESS);
    for (n = 0; n < base >> 22; n++) /* root's, as much as it likes */
        assert_int_equal(take_host_memory(&c, 100 + n), STATUS_SUCCESS);
    for (n = 0; n < base >> 20 && s == STATUS_SUCCESS; n++) {
        s = take_host_memory(&a, 100 + n);
        if (n > 20)
            usleep(50000);
    }
    assert_int_equal(s, STATUS_DEVICE_REMOVED);
    assert_int_equal(rig_state(&a.x), D3DKMT_DEVICEEXECUTION_ERROR_OUTOFMEMORY);
    assert_true(n > 3); /* he had something */
    assert_true(gone(a.pid));
    frames(&more, 4, 0, 0);
    usleep(600000); /* who has what he had keeps it */
    frames(&more, 4, 0, 0);
    frames(&b, 4, 0, 0);
    frames(&c, 4, 0, 0);
    assert_int_equal(dxgk_event_count(r.dxgk, 9), 1);
    painter_down(&a);
    painter_down(&more);
    painter_down(&b);
    painter_down(&c);
    rig_down(&r);
}

enum { CONTEXTS = 40, QUEUED = 60 };

static struct hog {
    struct painter p;
    pthread_t thread;
    _Atomic unsigned queued;
    NTSTATUS s;
} hogs[CONTEXTS];

static void *hog_main(void *arg)
{
    struct hog *h = arg;

    while (h->queued < QUEUED && NT_SUCCESS(h->s)) {
        ABI_EMIT(&h->p.b, FLUSH, flush, .reserved0 = 0);
        h->s = rig_render(&h->p.x, &h->p.b, NULL, 0, 0);
        h->queued += NT_SUCCESS(h->s);
    }
    return NULL;
}

static unsigned sum_queued(unsigned num)
{
    unsigned sum = 0;

    for (unsigned i = 0; i < num; i++)
        sum += hogs[i].queued;
    return sum;
}

/* Contexts with work that waits for ever, two users' or root's. */
static void wait_in_queues(unsigned num, bool strangers)
{
    struct painter b;
    struct rig r = {0};

    memset(hogs, 0, sizeof(hogs));
    rig_up(&r, &(struct stack_params){.machine = {.kind = MACHINE_LIVE, .ram_size = 64 << 20}});
    for (unsigned i = 0; i < num; i++) {
        struct painter *p = &hogs[i].p;
        abi_builder_init(&p->b);
        assert_int_equal(dxgk_client_open(r.dxgk, &p->client, 400 + i % 20, false), 0);
        if (strangers)
            dxgk_client_set_user(p->client, 1000 + i % 2, false);
        p->x = rig_own_context(&r, p->client, &p->node);
        block(p);
        assert_int_equal(pthread_create(&hogs[i].thread, NULL, hog_main, &hogs[i]), 0);
    }
    for (unsigned before = UINT_MAX; before != sum_queued(num); usleep(500000))
        before = sum_queued(num);
    assert_in_range(sum_queued(num), 4, num * QUEUED - 1);
    if (strangers)
        painter_of(&b, &r, 300, 1002);
    else
        painter_up(&b, &r, 300);
    frames(&b, 4, 0, 0);
    painter_down(&b);
    for (unsigned i = 0; i < num; i++) {
        dxgk_client_cancel(hogs[i].p.client);
        pthread_join(hogs[i].thread, NULL);
        if (hogs[i].queued < QUEUED) /* it waited, or its user had nothing for it to begin with */
            assert_int_equal(hogs[i].s, hogs[i].queued ? STATUS_CANCELLED : STATUS_NO_MEMORY);
        painter_down(&hogs[i].p);
    }
    rig_down(&r);
}

/* Work that waits keeps its DMA buffers: a user's share of them, and no more. Who has work under way waits for its buffers. */
TEST(queues_that_wait_leave_memory)
{
    wait_in_queues(CONTEXTS, true);
}

TEST(queues_of_root_leave_memory)
{
    wait_in_queues(16, false);
}
