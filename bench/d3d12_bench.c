/* SPDX-License-Identifier: MIT */
/* What recording Direct3D 12 costs, next to gfxreconstruct recording the Vulkan calls of the same program; how fast a
 * recording is played and printed; what finding written pages costs. Everything is measured in turns.
 *
 * The program runs itself under the recorders: `d3d12_bench --loop copy|viewports` prints nanoseconds of thread CPU time
 * a call. Figures whose reference is not installed (gfxreconstruct, Xvfb) are left out, and said so. */
#include <fcntl.h>
#include <limits.h>
#include <linux/userfaultfd.h>
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "bench.h"
#include "record/dirty/dirty.h"
#include "d3d12/gen/table.h"
#include "record/trace_file.h"

#define INITGUID
#define COBJMACROS
#define WIDL_C_INLINE_WRAPPERS
#define VKD3D_UTILS_API_VERSION VKD3D_API_VERSION_1_2
#include <vkd3d_utils.h>

enum { CALLS = 100000, LOOPS = 5, ROUNDS = 9, PLAYS = 5, PAGES = 5, MIB = 1 << 20 };

static char self[4096], dir[] = "/tmp/aerogpu-d3d12-bench-XXXXXX";

/* ---- the loop that is recorded ------------------------------------------- */

static ID3D12Resource *make_buffer(ID3D12Device *device)
{
    D3D12_HEAP_PROPERTIES heap = {.Type = D3D12_HEAP_TYPE_DEFAULT};
    D3D12_RESOURCE_DESC desc = {.Dimension = D3D12_RESOURCE_DIMENSION_BUFFER,
                                .Width = 65536,
                                .Height = 1,
                                .DepthOrArraySize = 1,
                                .MipLevels = 1,
                                .SampleDesc = {1, 0},
                                .Layout = D3D12_TEXTURE_LAYOUT_ROW_MAJOR};
    ID3D12Resource *r = NULL;

    ID3D12Device_CreateCommittedResource(device, &heap, D3D12_HEAP_FLAG_NONE, &desc,
                                         D3D12_RESOURCE_STATE_COPY_DEST, NULL, &IID_ID3D12Resource,
                                         (void **)&r);
    return r;
}

static int loop(const char *kind, int loops)
{
    D3D12_VIEWPORT view = {0, 0, 640, 480, 0, 1};
    ID3D12CommandAllocator *allocator;
    ID3D12GraphicsCommandList *list;
    ID3D12Resource *a, *b;
    ID3D12Device *device;
    double ns[LOOPS];

    if (FAILED(D3D12CreateDevice(NULL, D3D_FEATURE_LEVEL_11_0, &IID_ID3D12Device, (void **)&device)) ||
        FAILED(ID3D12Device_CreateCommandAllocator(device, D3D12_COMMAND_LIST_TYPE_DIRECT,
                                                   &IID_ID3D12CommandAllocator, (void **)&allocator)) ||
        FAILED(ID3D12Device_CreateCommandList(device, 0, D3D12_COMMAND_LIST_TYPE_DIRECT, allocator, NULL,
                                              &IID_ID3D12GraphicsCommandList, (void **)&list)) ||
        !(a = make_buffer(device)) || !(b = make_buffer(device)))
        return 1;
    for (int n = 0; n < loops; n++) {
        double start = bench_cpu();

        if (!strcmp(kind, "copy"))
            for (unsigned i = 0; i < CALLS; i++)
                ID3D12GraphicsCommandList_CopyBufferRegion(list, a, 16 * (i & 1023), b, 16 * (i & 511), 16);
        else
            for (unsigned i = 0; i < CALLS; i++)
                ID3D12GraphicsCommandList_RSSetViewports(list, 1, &view);
        ns[n] = (bench_cpu() - start) / CALLS;
        ID3D12GraphicsCommandList_Close(list);
        ID3D12CommandAllocator_Reset(allocator);
        ID3D12GraphicsCommandList_Reset(list, allocator, NULL);
    }
    printf("%.2f\n", bench_quantile(ns, (size_t)loops, 0)); /* caches that others emptied only add */
    fflush(stdout);
    _exit(0);
}

/* What a recorder cannot do without: a ticket, and as many bytes into a ring. */
static int ring(size_t bytes)
{
    static _Atomic uint64_t ticket;
    static uint8_t memory[1 << 16];
    uint8_t call[256];
    double ns[LOOPS];

    if (bytes < 1 || bytes > sizeof(call))
        return 1;
    memset(call, 1, sizeof(call));
    for (int n = 0; n < LOOPS; n++) {
        double start = bench_cpu();

        for (unsigned i = 0; i < CALLS; i++) {
            uint64_t at = atomic_fetch_add(&ticket, bytes);

            memcpy(memory + at % (sizeof(memory) - sizeof(call)), call, bytes);
            __asm__ volatile("" : : : "memory");
        }
        ns[n] = (bench_cpu() - start) / CALLS;
    }
    printf("%.2f\n", bench_quantile(ns, LOOPS, 0));
    return 0;
}

/* ---- a draw-heavy frame -------------------------------------------------- */

enum { DRAWS = 5000, RECORDERS = 4, FRAMES = 40, MAPPED = 8 * MIB };

struct scene {
    ID3D12Device *device;
    ID3D12CommandQueue *queue;
    ID3D12RootSignature *root;
    ID3D12PipelineState *pipeline;
    ID3D12DescriptorHeap *views, *targets;
    ID3D12Resource *target;
    D3D12_CPU_DESCRIPTOR_HANDLE target_view;
    D3D12_GPU_DESCRIPTOR_HANDLE table;
    UINT step;
    unsigned frame;
};

struct recorder {
    struct scene *s;
    ID3D12CommandAllocator *allocator;
    ID3D12GraphicsCommandList *list;
};

static void *record_draws(void *arg)
{
    D3D12_VIEWPORT view = {0, 0, 4, 4, 0, 1};
    D3D12_RECT rect = {0, 0, 4, 4};
    struct recorder *r = arg;
    struct scene *s = r->s;
    ID3D12GraphicsCommandList *l = r->list;

    ID3D12CommandAllocator_Reset(r->allocator);
    ID3D12GraphicsCommandList_Reset(l, r->allocator, s->pipeline);
    ID3D12GraphicsCommandList_SetDescriptorHeaps(l, 1, &s->views);
    ID3D12GraphicsCommandList_SetGraphicsRootSignature(l, s->root);
    ID3D12GraphicsCommandList_OMSetRenderTargets(l, 1, &s->target_view, FALSE, NULL);
    ID3D12GraphicsCommandList_RSSetViewports(l, 1, &view);
    ID3D12GraphicsCommandList_RSSetScissorRects(l, 1, &rect);
    ID3D12GraphicsCommandList_IASetPrimitiveTopology(l, D3D_PRIMITIVE_TOPOLOGY_TRIANGLELIST);
    for (unsigned i = 0; i < DRAWS / RECORDERS; i++) {
        float constants[4] = {(float)i, (float)s->frame, 0.5f, 1.0f};
        D3D12_GPU_DESCRIPTOR_HANDLE table = {s->table.ptr + (UINT64)(i % 1000) * s->step};

        ID3D12GraphicsCommandList_SetGraphicsRoot32BitConstants(l, 0, 4, constants, 0);
        ID3D12GraphicsCommandList_SetGraphicsRootDescriptorTable(l, 1, table);
        ID3D12GraphicsCommandList_DrawInstanced(l, 3, 1, 0, 0);
    }
    ID3D12GraphicsCommandList_Close(l);
    return NULL;
}

static size_t read_shader(const char *name, void *p, size_t cap)
{
    char path[4096];
    size_t n;
    FILE *f;

    snprintf(path, sizeof(path), "%s/samples/shaders/%s", AEROGPU_SOURCE_DIR, name);
    f = fopen(path, "rb");
    if (!f)
        return 0;
    n = fread(p, 1, cap, f);
    fclose(f);
    return n;
}

static int scene_make(struct scene *s)
{
    D3D12_DESCRIPTOR_RANGE range = {
        .RangeType = D3D12_DESCRIPTOR_RANGE_TYPE_CBV, .NumDescriptors = 1, .BaseShaderRegister = 9};
    D3D12_ROOT_PARAMETER params[2] = {{.ParameterType = D3D12_ROOT_PARAMETER_TYPE_32BIT_CONSTANTS},
                                      {.ParameterType = D3D12_ROOT_PARAMETER_TYPE_DESCRIPTOR_TABLE}};
    D3D12_ROOT_SIGNATURE_DESC rd = {2, params, 0, NULL,
                                    D3D12_ROOT_SIGNATURE_FLAG_ALLOW_INPUT_ASSEMBLER_INPUT_LAYOUT};
    D3D12_DESCRIPTOR_HEAP_DESC hd = {D3D12_DESCRIPTOR_HEAP_TYPE_CBV_SRV_UAV, 1000,
                                     D3D12_DESCRIPTOR_HEAP_FLAG_SHADER_VISIBLE, 0};
    D3D12_DESCRIPTOR_HEAP_DESC td = {D3D12_DESCRIPTOR_HEAP_TYPE_RTV, 1, D3D12_DESCRIPTOR_HEAP_FLAG_NONE, 0};
    D3D12_HEAP_PROPERTIES heap = {.Type = D3D12_HEAP_TYPE_DEFAULT};
    D3D12_RESOURCE_DESC rt = {.Dimension = D3D12_RESOURCE_DIMENSION_TEXTURE2D,
                              .Width = 4,
                              .Height = 4,
                              .DepthOrArraySize = 1,
                              .MipLevels = 1,
                              .Format = DXGI_FORMAT_R8G8B8A8_UNORM,
                              .SampleDesc = {1, 0},
                              .Flags = D3D12_RESOURCE_FLAG_ALLOW_RENDER_TARGET};
    D3D12_GRAPHICS_PIPELINE_STATE_DESC pd = {.SampleMask = UINT_MAX,
                                             .PrimitiveTopologyType = D3D12_PRIMITIVE_TOPOLOGY_TYPE_TRIANGLE,
                                             .NumRenderTargets = 1,
                                             .RTVFormats = {DXGI_FORMAT_R8G8B8A8_UNORM},
                                             .SampleDesc = {1, 0}};
    static const D3D12_INPUT_ELEMENT_DESC inputs[] = {
        {"POSITION", 0, DXGI_FORMAT_R32G32B32A32_FLOAT, 0, 0, D3D12_INPUT_CLASSIFICATION_PER_VERTEX_DATA, 0},
        {"COLOR", 0, DXGI_FORMAT_R32G32B32A32_FLOAT, 0, 16, D3D12_INPUT_CLASSIFICATION_PER_VERTEX_DATA, 0}};
    D3D12_COMMAND_QUEUE_DESC qd = {.Type = D3D12_COMMAND_LIST_TYPE_DIRECT};
    static uint8_t vs[8192], ps[8192];
    ID3DBlob *blob = NULL;

    params[0].Constants = (D3D12_ROOT_CONSTANTS){8, 0, 4};
    params[1].DescriptorTable = (D3D12_ROOT_DESCRIPTOR_TABLE){1, &range};
    pd.VS = (D3D12_SHADER_BYTECODE){vs, read_shader("colour_vs.dxbc", vs, sizeof(vs))};
    pd.PS = (D3D12_SHADER_BYTECODE){ps, read_shader("colour_ps.dxbc", ps, sizeof(ps))};
    pd.InputLayout = (D3D12_INPUT_LAYOUT_DESC){inputs, 2};
    pd.RasterizerState.FillMode = D3D12_FILL_MODE_SOLID;
    pd.RasterizerState.CullMode = D3D12_CULL_MODE_NONE;
    pd.BlendState.RenderTarget[0].RenderTargetWriteMask = D3D12_COLOR_WRITE_ENABLE_ALL;
    if (FAILED(D3D12CreateDevice(NULL, D3D_FEATURE_LEVEL_11_0, &IID_ID3D12Device, (void **)&s->device)) ||
        FAILED(
            ID3D12Device_CreateCommandQueue(s->device, &qd, &IID_ID3D12CommandQueue, (void **)&s->queue)) ||
        FAILED(D3D12SerializeRootSignature(&rd, D3D_ROOT_SIGNATURE_VERSION_1, &blob, NULL)) ||
        FAILED(ID3D12Device_CreateRootSignature(s->device, 0, ID3D10Blob_GetBufferPointer(blob),
                                                ID3D10Blob_GetBufferSize(blob), &IID_ID3D12RootSignature,
                                                (void **)&s->root)))
        return 1;
    pd.pRootSignature = s->root;
    if (FAILED(ID3D12Device_CreateGraphicsPipelineState(s->device, &pd, &IID_ID3D12PipelineState,
                                                        (void **)&s->pipeline)) ||
        FAILED(ID3D12Device_CreateDescriptorHeap(s->device, &hd, &IID_ID3D12DescriptorHeap,
                                                 (void **)&s->views)) ||
        FAILED(ID3D12Device_CreateDescriptorHeap(s->device, &td, &IID_ID3D12DescriptorHeap,
                                                 (void **)&s->targets)) ||
        FAILED(ID3D12Device_CreateCommittedResource(s->device, &heap, D3D12_HEAP_FLAG_NONE, &rt,
                                                    D3D12_RESOURCE_STATE_RENDER_TARGET, NULL,
                                                    &IID_ID3D12Resource, (void **)&s->target)))
        return 1;
    s->target_view = ID3D12DescriptorHeap_GetCPUDescriptorHandleForHeapStart(s->targets);
    ID3D12Device_CreateRenderTargetView(s->device, s->target, NULL, s->target_view);
    s->table = ID3D12DescriptorHeap_GetGPUDescriptorHandleForHeapStart(s->views);
    s->step =
        ID3D12Device_GetDescriptorHandleIncrementSize(s->device, D3D12_DESCRIPTOR_HEAP_TYPE_CBV_SRV_UAV);
    return 0;
}

static int draw_views(struct scene *s, ID3D12Resource **up, uint8_t **p)
{
    D3D12_HEAP_PROPERTIES heap = {.Type = D3D12_HEAP_TYPE_UPLOAD};
    D3D12_RESOURCE_DESC desc = {.Dimension = D3D12_RESOURCE_DIMENSION_BUFFER,
                                .Width = MAPPED,
                                .Height = 1,
                                .DepthOrArraySize = 1,
                                .MipLevels = 1,
                                .SampleDesc = {1, 0},
                                .Layout = D3D12_TEXTURE_LAYOUT_ROW_MAJOR};
    D3D12_CPU_DESCRIPTOR_HANDLE h = ID3D12DescriptorHeap_GetCPUDescriptorHandleForHeapStart(s->views);

    if (FAILED(ID3D12Device_CreateCommittedResource(s->device, &heap, D3D12_HEAP_FLAG_NONE, &desc,
                                                    D3D12_RESOURCE_STATE_GENERIC_READ, NULL,
                                                    &IID_ID3D12Resource, (void **)up)) ||
        FAILED(ID3D12Resource_Map(*up, 0, NULL, (void **)p)))
        return 1;
    for (UINT i = 0; i < 1000; i++) {
        D3D12_CONSTANT_BUFFER_VIEW_DESC cbv = {ID3D12Resource_GetGPUVirtualAddress(*up) + i * 4096, 256};
        D3D12_CPU_DESCRIPTOR_HANDLE at = {h.ptr + i * s->step};

        ID3D12Device_CreateConstantBufferView(s->device, &cbv, at);
    }
    return 0;
}

/* Prints microseconds of process CPU time a frame: five thousand draws by four threads, 5 % of 8 MiB written. */
static int draws(void)
{
    struct recorder r[RECORDERS];
    ID3D12CommandList *lists[RECORDERS];
    ID3D12Resource *up;
    ID3D12Fence *fence;
    struct scene s = {0};
    double us[FRAMES];
    uint8_t *p;

    if (scene_make(&s) || draw_views(&s, &up, &p) ||
        FAILED(
            ID3D12Device_CreateFence(s.device, 0, D3D12_FENCE_FLAG_NONE, &IID_ID3D12Fence, (void **)&fence)))
        return 1;
    for (int i = 0; i < RECORDERS; i++) {
        r[i].s = &s;
        if (FAILED(ID3D12Device_CreateCommandAllocator(s.device, D3D12_COMMAND_LIST_TYPE_DIRECT,
                                                       &IID_ID3D12CommandAllocator,
                                                       (void **)&r[i].allocator)) ||
            FAILED(ID3D12Device_CreateCommandList(s.device, 0, D3D12_COMMAND_LIST_TYPE_DIRECT, r[i].allocator,
                                                  NULL, &IID_ID3D12GraphicsCommandList, (void **)&r[i].list)))
            return 1;
        ID3D12GraphicsCommandList_Close(r[i].list);
        lists[i] = (ID3D12CommandList *)r[i].list;
    }
    memset(p, 1, MAPPED);
    for (s.frame = 0; s.frame < FRAMES; s.frame++) {
        struct timespec a, b;
        pthread_t t[RECORDERS];

        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &a);
        for (unsigned i = 0; i < MAPPED / DIRTY_PAGE / 20; i++)
            memset(p + ((i * 37 + s.frame * 11) % (MAPPED / DIRTY_PAGE)) * DIRTY_PAGE, (int)(s.frame + i),
                   256);
        for (int i = 0; i < RECORDERS; i++)
            pthread_create(&t[i], NULL, record_draws, &r[i]);
        for (int i = 0; i < RECORDERS; i++)
            pthread_join(t[i], NULL);
        ID3D12CommandQueue_ExecuteCommandLists(s.queue, RECORDERS, lists);
        ID3D12CommandQueue_Signal(s.queue, fence, s.frame + 1);
        while (ID3D12Fence_GetCompletedValue(fence) <= s.frame)
            usleep(500);
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &b);
        us[s.frame] = (double)(b.tv_sec - a.tv_sec) * 1e6 + (double)(b.tv_nsec - a.tv_nsec) / 1e3;
    }
    printf("%.1f\n",
           bench_quantile(us + 5, FRAMES - 5, 0.25)); /* the same: what disturbs a frame only adds */
    fflush(stdout);
    _exit(0);
}

static char *output(const char *fmt, ...)
{
    static char text[1 << 16];
    char command[8192];
    va_list ap;
    size_t n;
    FILE *p;

    va_start(ap, fmt);
    vsnprintf(command, sizeof(command), fmt, ap);
    va_end(ap);
    p = popen(command, "r");
    n = p ? fread(text, 1, sizeof(text) - 1, p) : 0;
    text[n] = '\0';
    if (p)
        pclose(p);
    return text;
}

#define GFX                                                                                                  \
    "VK_INSTANCE_LAYERS=VK_LAYER_LUNARG_gfxreconstruct GFXRECON_LOG_LEVEL=error "                            \
    "GFXRECON_CAPTURE_FILE_TIMESTAMP=false GFXRECON_CAPTURE_COMPRESSION_TYPE=%s "                            \
    "GFXRECON_CAPTURE_FILE=%s/gfx.gfxr "

static bool have(const char *command)
{
    return *output("command -v %s 2>/dev/null", command) != '\0';
}

/* Bytes of call records in a file, before and after compression, over its calls. */
static void bytes_a_call(const char *path, double *raw, double *packed)
{
    uint64_t r = 0, p = 0, calls = 0;
    struct trc_call c;
    struct trc *t;

    *raw = *packed = 0;
    if (trc_open(&t, &d12_api, path, NULL))
        return;
    for (uint32_t i = 0; i < trc_num_blocks(t); i++) {
        r += trc_block(t, i)->raw;
        p += trc_block(t, i)->packed;
    }
    while (trc_next(t, &c, NULL) > 0)
        calls++;
    trc_close(t);
    *raw = calls ? (double)r / (double)calls : 0;
    *packed = calls ? (double)p / (double)calls : 0;
}

static void call_cost(struct bench *b, const char *kind, bool gfx)
{
    /* what the caller hands over: a list, and six dwords behind a pointer with a count; two buffers, offsets, a size */
    const double arguments = strcmp(kind, "copy") ? 8 + 4 + 24 : 8 + 8 + 8 + 8 + 8 + 8;
    double ns[4][ROUNDS], added[ROUNDS], raw = 0, packed = 0, theirs = 0;
    char path[100], id[64], note[200];

    snprintf(path, sizeof(path), "%s/loop", dir);
    for (int n = 0; n < ROUNDS; n++) {
        ns[0][n] = atof(output("%s --loop %s 2>/dev/null", self, kind));
        ns[1][n] = atof(output("%s record -o %s -- %s --loop %s 2>/dev/null", AEROGPU, path, self, kind));
        if (!n)
            bytes_a_call(path, &raw, &packed);
        ns[3][n] = atof(output("%s --ring %.0f", self, ceil(raw)));
        added[n] = ns[1][n] > ns[0][n] ? ns[1][n] - ns[0][n] : 0;
        if (gfx)
            ns[2][n] = atof(output(GFX "%s --loop %s 2>/dev/null", "NONE", dir, self, kind));
    }
    if (gfx)
        theirs = bench_quantile(ns[2], ROUNDS, 0.5) - bench_quantile(ns[0], ROUNDS, 0.5);
    if (bench_quantile(ns[0], ROUNDS, 0) <= 0) {
        static const char *const figures[] = {"cost", "bytes", "packed"};
        for (int i = 0; i < 3; i++) {
            snprintf(id, sizeof(id), "d3d12_call_%s_%s", figures[i], kind);
            bench_not_measured(b, id, "no Direct3D 12 device");
        }
        return;
    }
    if (bench_quantile(ns[1], ROUNDS, 0) <= 0 || raw <= 0) {
        snprintf(id, sizeof(id), "d3d12_call_cost_%s", kind);
        bench_failed(b, id, "the calls were not recorded");
        return;
    }
    snprintf(id, sizeof(id), "d3d12_call_cost_%s", kind);
    snprintf(
        note, sizeof(note),
        "added to %.0f ns a call, against a ring write of as many bytes; gfxreconstruct uncompressed adds %.0f",
        bench_quantile(ns[0], ROUNDS, 0.5), theirs);
    bench_report(b, &(struct bench_figure){.id = id,
                                           .ours_each = added,
                                           .reference_each = ns[3],
                                           .rounds = ROUNDS,
                                           .unit = "ns",
                                           .target = 4,
                                           .note = note});
    snprintf(id, sizeof(id), "d3d12_call_bytes_%s", kind);
    bench_report(b, &(struct bench_figure){.id = id,
                                           .ours = raw,
                                           .reference = arguments,
                                           .unit = "bytes/call",
                                           .target = 0.25,
                                           .note = "before compression, against the arguments"});
    snprintf(id, sizeof(id), "d3d12_call_packed_%s", kind);
    bench_report(b, &(struct bench_figure){.id = id,
                                           .ours = packed,
                                           .reference = arguments,
                                           .unit = "bytes/call",
                                           .target = 0.05,
                                           .note = "in the file, against the arguments"});
}

/* Seconds of processor time of a command and all that it starts, the recorder beside the program among them; and the number that it
 * prints. */
static double whole_cpu(const char *command, double *printed)
{
    struct rusage a, b;

    getrusage(RUSAGE_CHILDREN, &a);
    *printed = atof(output("%s", command));
    getrusage(RUSAGE_CHILDREN, &b);
    return (double)(b.ru_utime.tv_sec - a.ru_utime.tv_sec + b.ru_stime.tv_sec - a.ru_stime.tv_sec) +
           (double)(b.ru_utime.tv_usec - a.ru_utime.tv_usec + b.ru_stime.tv_usec - a.ru_stime.tv_usec) / 1e6;
}

/* What three ways of running the program cost, in turns; and playing what the last one recorded. */
struct heavy {
    double alone[ROUNDS], recorded[ROUNDS], theirs[ROUNDS], played[ROUNDS]; /* seconds of whole programs */
    double ours_added[ROUNDS], theirs_added[ROUNDS]; /* us a frame, as the program measures */
    bool any, was_recorded, theirs_too, was_played;
};

static void measure_heavy(struct heavy *h, bool gfx, const char *path)
{
    char alone[8300], recorded[8400], theirs[8600], played[4300];

    snprintf(alone, sizeof(alone), "%s --draws 2>/dev/null", self);
    snprintf(recorded, sizeof(recorded), "%s record -o %s -- %s --draws 2>/dev/null", AEROGPU, path, self);
    snprintf(theirs, sizeof(theirs), GFX "%s --draws 2>/dev/null", "LZ4", dir, self);
    snprintf(played, sizeof(played), "%s play %s 2>/dev/null >%s/played && echo 1", AEROGPU, path, dir);
    h->theirs_too = gfx;
    h->any = h->was_recorded = h->was_played = true;
    for (int n = 0; n < ROUNDS; n++) {
        double us[3] = {0}, done = 0;

        h->alone[n] = whole_cpu(alone, &us[0]);
        h->recorded[n] = whole_cpu(recorded, &us[1]);
        if (gfx)
            h->theirs[n] = whole_cpu(theirs, &us[2]);
        h->played[n] = whole_cpu(played, &done);
        h->was_played = h->was_played && done == 1;
        h->ours_added[n] = us[1] > us[0] ? us[1] - us[0] : 0;
        h->theirs_added[n] = gfx ? us[2] - us[0] : 0;
        h->any = h->any && us[0] > 0;
        h->was_recorded = h->was_recorded && us[1] > 0;
        h->theirs_too = h->theirs_too && us[2] > 0;
    }
}

/* Frames of 5 000 draws: what recording adds to their CPU time, and how many bytes a frame takes; what playing them takes. */
static void draw_heavy(struct bench *b, bool gfx)
{
    static const char *const ids[] = {"d3d12_record", "d3d12_play_heavy", "d3d12_record_against",
                                      "d3d12_record_bytes"};
    static struct heavy heavy;
    struct heavy *h = &heavy;
    double bytes = 0, their_bytes = 0;
    char path[100], text[100];
    struct stat st;

    snprintf(path, sizeof(path), "%s/draws", dir);
    snprintf(text, sizeof(text), "%s/gfx.gfxr", dir);
    measure_heavy(h, gfx, path);
    if (!stat(path, &st))
        bytes = (double)st.st_size / FRAMES;
    if (gfx && !stat(text, &st))
        their_bytes = (double)st.st_size / FRAMES;
    for (size_t i = 0; i < sizeof(ids) / sizeof(ids[0]) && !(h->any && h->was_recorded); i++)
        if (h->any)
            bench_failed(b, ids[i], "what runs alone does not when it is recorded");
        else
            bench_not_measured(b, ids[i], "no Direct3D 12 device");
    if (!h->any || !h->was_recorded)
        return;
    bench_report(b,
                 &(struct bench_figure){.id = "d3d12_record",
                                        .ours_each = h->recorded,
                                        .reference_each = h->alone,
                                        .rounds = ROUNDS,
                                        .unit = "s",
                                        .target = 1.1,
                                        .note = "CPU time of program and recorder, 40 frames of 5 000 draws, "
                                                "against the program alone"});
    if (!h->was_played)
        bench_failed(b, "d3d12_play_heavy", "what was recorded does not play");
    else
        bench_report(b,
                     &(struct bench_figure){.id = "d3d12_play_heavy",
                                            .ours_each = h->played,
                                            .reference_each = h->alone,
                                            .rounds = ROUNDS,
                                            .unit = "s",
                                            .target = 1.1,
                                            .note = "CPU time of playing them, against the program's own"});
    if (!h->theirs_too)
        bench_not_measured(b, "d3d12_record_against", "gfxreconstruct recorded nothing");
    else
        bench_report(b, &(struct bench_figure){.id = "d3d12_record_against",
                                               .ours_each = h->ours_added,
                                               .reference_each = h->theirs_added,
                                               .rounds = ROUNDS,
                                               .unit = "us/frame",
                                               .target = 0.5,
                                               .note = "gfxreconstruct, LZ4"});
    if (their_bytes <= 0)
        bench_not_measured(b, "d3d12_record_bytes", "gfxreconstruct recorded nothing");
    else
        bench_report(b, &(struct bench_figure){.id = "d3d12_record_bytes",
                                               .ours = bytes,
                                               .reference = their_bytes,
                                               .unit = "bytes/frame",
                                               .target = 0.5,
                                               .note = "gfxreconstruct, LZ4"});
}

/* ---- gears --------------------------------------------------------------- */

static double number_before(const char *text, const char *word)
{
    const char *p = strstr(text, word);

    while (p && p > text && strchr("0123456789.", p[-1]))
        p--;
    return p ? atof(p) : 0;
}

static void gears(struct bench *b, bool gfx)
{
    char text[4096], note[200], path[200];
    double frames, theirs = 0, fps[2][PLAYS] = {0};
    struct stat st;

    if (!have("Xvfb") || !have("vkd3d-gears")) {
        bench_not_measured(b, "d3d12_bytes", "no Xvfb or no vkd3d-gears");
        bench_not_measured(b, "d3d12_play", "no Xvfb or no vkd3d-gears");
        return;
    }
    snprintf(path, sizeof(path), "%s/gears", dir);
    output("Xvfb -displayfd 9 -screen 0 640x480x24 9>%s/display >/dev/null 2>&1 & echo $! >%s/xpid; "
           "for i in 1 2 3 4 5 6 7 8 9 10; do [ -s %s/display ] && break; sleep 0.2; done",
           dir, dir, dir);
    setenv("DISPLAY", "", 1);
    snprintf(text, sizeof(text), ":%d", atoi(output("cat %s/display", dir)));
    setenv("DISPLAY", text, 1);
    snprintf(text, sizeof(text), "%s",
             output("%s record -o %s -- timeout -s INT 4 vkd3d-gears 2>&1", AEROGPU, path));
    frames = number_before(text, " frames, ");
    if (gfx) {
        output(GFX "timeout -s INT 4 vkd3d-gears 2>&1", "LZ4", dir);
        if (!stat(output("printf %%s %s/gfx.gfxr", dir), &st)) {
            const char *replay = "gfxrecon-replay --wsi xcb %s/gfx.gfxr 2>&1";

            snprintf(text, sizeof(text), replay, dir);
            for (int i = 0; i < PLAYS; i++) {
                const char *out = output("%s", text);
                double n = number_before(out, " frames");

                fps[1][i] = number_before(out, " fps");
                theirs = n > 0 ? (double)st.st_size / n : theirs;
                fps[0][i] = number_before(output("%s play %s 2>/dev/null", AEROGPU, path), " a second");
            }
        }
    }
    snprintf(note, sizeof(note), "%.0f frames with a hash each, against gfxreconstruct with LZ4", frames);
    if (theirs <= 0)
        bench_not_measured(b, "d3d12_bytes", "gfxreconstruct recorded nothing");
    else if (frames <= 0 || stat(path, &st))
        bench_failed(b, "d3d12_bytes", "vkd3d-gears was not recorded");
    else
        bench_report(b, &(struct bench_figure){.id = "d3d12_bytes",
                                               .ours = (double)st.st_size / frames,
                                               .reference = theirs,
                                               .unit = "bytes/frame",
                                               .target = 0.1,
                                               .note = note});
    if (theirs <= 0 || fps[1][0] <= 0)
        bench_not_measured(b, "d3d12_play", "gfxrecon-replay played nothing");
    else
        bench_report(b, &(struct bench_figure){.id = "d3d12_play",
                                               .ours_each = fps[0],
                                               .reference_each = fps[1],
                                               .rounds = PLAYS,
                                               .unit = "frames/s",
                                               .target = 1.5,
                                               .at_least = 1,
                                               .note = "against gfxrecon-replay"});
    output("kill $(cat %s/xpid)", dir);
}

/* ---- show ---------------------------------------------------------------- */

static void show(struct bench *b)
{
    double ours[ROUNDS], reference[ROUNDS], slow, fast = bench_merge_rate();
    char path[100];

    snprintf(path, sizeof(path), "%s/loop", dir);
    if (access(path, R_OK)) {
        bench_not_measured(b, "d3d12_show", "no Direct3D 12 device: there is nothing to print");
        return;
    }
    for (int i = 0; i < ROUNDS; i++) {
        struct rusage before, after;
        double s;

        getrusage(RUSAGE_CHILDREN, &before);
        output("%s show %s >/dev/null", AEROGPU, path);
        getrusage(RUSAGE_CHILDREN, &after);
        s = (double)(after.ru_utime.tv_sec - before.ru_utime.tv_sec) +
            (double)(after.ru_utime.tv_usec - before.ru_utime.tv_usec) / 1e6;
        ours[i] = CALLS * LOOPS / s / 1e6;
        slow = fast;
        fast = bench_merge_rate();
        reference[i] = (slow + fast) / 2;
    }
    bench_report(
        b, &(struct bench_figure){.id = "d3d12_show",
                                  .ours_each = ours,
                                  .reference_each = reference,
                                  .rounds = ROUNDS,
                                  .unit = "M/s",
                                  .target = 0.03,
                                  .at_least = 1,
                                  .note = "calls decoded and printed, user CPU time, against events merged"});
}

/* From the start of loading to the page being usable, as the page itself measures it. */
static double open_page(const char *name)
{
    return atof(output(
        "HOME=%s chromium --headless --no-sandbox --disable-gpu --dump-dom file://%s/%s.html 2>/dev/null | "
        "grep -ao 'data-open-ms=\"[0-9]*' | head -1 | cut -d'\"' -f2",
        dir, dir, name));
}

static void open_viewer(struct bench *b)
{
    double ms[PAGES], bare[PAGES];

    if (!have("chromium")) {
        bench_not_measured(b, "d3d12_viewer", "chromium is not installed");
        return;
    }
    output("%s record -o %s/short -- %s --short-loop copy 2>/dev/null; %s show --html %s/v.html "
           "%s/short",
           AEROGPU, dir, self, AEROGPU, dir, dir);
    output(
        "cd %s; { printf '<!doctype html><script type=\"text/plain\">'; base64 -w0 /dev/urandom | head -c $(stat -c %%s "
        "v.html); printf '</script><script>document.documentElement.dataset.openMs = "
        "Math.round(performance.now())</script>'; } >bare.html",
        dir);
    for (int i = 0; i < PAGES; i++) {
        ms[i] = open_page("v");
        bare[i] = open_page("bare");
        if (ms[i] <= 0 || bare[i] <= 0) {
            bench_failed(b, "d3d12_viewer", "chromium opened no page");
            return;
        }
    }
    bench_report(
        b, &(struct bench_figure){.id = "d3d12_viewer",
                                  .ours_each = ms,
                                  .reference_each = bare,
                                  .rounds = PAGES,
                                  .unit = "ms",
                                  .target = 6,
                                  .note = "opening 100 000 calls in headless Chromium, against decoding and "
                                          "parsing the page's bytes"});
}

/* ---- written pages ------------------------------------------------------- */

struct page_region {
    uint64_t start, end, categories;
};

struct pm_scan_arg {
    uint64_t size, flags, start, end, walk_end, vec, vec_len, max_pages;
    uint64_t category_inverted, category_mask, category_anyof_mask, return_mask;
};

static void nothing(void *ctx, struct dirty_run r)
{
    *(size_t *)ctx += (r.end - r.start) / DIRTY_PAGE;
}

static void touch(uint8_t *p, size_t pages, unsigned round)
{
    for (size_t i = 0; i < pages; i++)
        p[(i * 2654435761u % (64 * MIB / DIRTY_PAGE)) * DIRTY_PAGE + 64] = (uint8_t)(round + 1);
}

/* Median microseconds of writing `pages` random pages and of the look that finds them. */
static bool cost(enum dirty_method m, uint8_t *p, size_t pages, double *write_us, double *look_us)
{
    double w[15], l[15];
    struct dirty_span *s;
    struct dirty *d;
    size_t seen;

    if (dirty_create(&d, m))
        return false;
    if (dirty_add(d, &s, p, 64 * MIB)) {
        dirty_destroy(d);
        return false;
    }
    for (int i = 0; i < 15; i++) {
        double start = bench_now();

        touch(p, pages, (unsigned)i);
        w[i] = (bench_now() - start) / 1e3;
        start = bench_now();
        dirty_collect(d, s, nothing, (seen = 0, &seen));
        l[i] = (bench_now() - start) / 1e3;
    }
    dirty_remove(d, s);
    dirty_destroy(d);
    *write_us = bench_quantile(w, 15, 0.5);
    *look_us = bench_quantile(l, 15, 0.5);
    return true;
}

/* The bare system call on memory that is watched the same way. */
static double bare_scan(uint8_t *p, size_t pages)
{
    static struct page_region v[1024];
    struct uffdio_api api = {.api = UFFD_API, .features = 1u << 15 | 1u << 13};
    struct uffdio_register r = {.range = {(uintptr_t)p, 64 * MIB}, .mode = UFFDIO_REGISTER_MODE_WP};
    struct uffdio_writeprotect w = {.range = r.range, .mode = UFFDIO_WRITEPROTECT_MODE_WP};
    int fd = (int)syscall(323, O_CLOEXEC | 1), pagemap = open("/proc/self/pagemap", O_RDONLY);
    double us[15];

    if (fd < 0 || pagemap < 0 || ioctl(fd, UFFDIO_API, &api) || ioctl(fd, UFFDIO_REGISTER, &r) ||
        ioctl(fd, UFFDIO_WRITEPROTECT, &w))
        return 0;
    for (int i = 0; i < 15; i++) {
        struct pm_scan_arg a = {.size = sizeof(a),
                                .flags = 3,
                                .start = (uintptr_t)p,
                                .end = (uintptr_t)p + 64 * MIB,
                                .vec = (uintptr_t)v,
                                .vec_len = 1024,
                                .category_mask = 2,
                                .return_mask = 2};
        double start;

        touch(p, pages, (unsigned)i);
        start = bench_now();
        if (ioctl(pagemap, _IOWR('f', 16, struct pm_scan_arg), &a) < 0)
            return 0;
        us[i] = (bench_now() - start) / 1e3;
    }
    ioctl(fd, UFFDIO_UNREGISTER, &r.range);
    close(fd);
    close(pagemap);
    return bench_quantile(us, 15, 0.5);
}

static void dirty(struct bench *b)
{
    static const double parts[] = {0, 0.01, 0.1, 1};
    uint8_t *p = mmap(NULL, 64 * MIB, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    double w, l, look[ROUNDS], bare[ROUNDS];
    bool here = true;

    memset(p, 1, 64 * MIB);
    for (int i = 0; i < ROUNDS && here; i++) {
        bare[i] = bare_scan(p, 100);
        here = bare[i] > 0 && cost(DIRTY_KERNEL, p, 100, &w, &look[i]);
    }
    if (here)
        bench_report(b, &(struct bench_figure){.id = "dirty_tracking",
                                               .ours_each = look,
                                               .reference_each = bare,
                                               .rounds = ROUNDS,
                                               .unit = "us",
                                               .target = 1.2,
                                               .note = "64 MiB, 100 pages; against a bare PAGEMAP_SCAN"});
    else
        bench_not_measured(b, "dirty_tracking", "this kernel has no PAGEMAP_SCAN");
    printf("  64 MiB, microseconds of writing + looking, when changed are\n  %-8s", "");
    for (int k = 0; k < 4; k++)
        printf(" %18.0f%%", parts[k] * 100);
    printf("\n");
    for (int m = DIRTY_KERNEL; m <= DIRTY_HASH; m++) {
        printf("  %-8s", dirty_method_name((enum dirty_method)m));
        for (int k = 0; k < 4; k++)
            if (cost((enum dirty_method)m, p, (size_t)(parts[k] * 64 * MIB / DIRTY_PAGE), &w, &l))
                printf(" %9.0f + %7.0f", w, l);
            else
                printf(" %19s", "not here");
        printf("\n");
    }
    munmap(p, 64 * MIB);
}

/* One of the figures of a call; that of printing reads what the last of these recorded. */
static bool wants_one(const struct bench *b, const char *kind)
{
    char id[3][64];

    snprintf(id[0], sizeof(id[0]), "d3d12_call_cost_%s", kind);
    snprintf(id[1], sizeof(id[1]), "d3d12_call_bytes_%s", kind);
    snprintf(id[2], sizeof(id[2]), "d3d12_call_packed_%s", kind);
    return bench_wants(b, id[0]) || bench_wants(b, id[1]) || bench_wants(b, id[2]) ||
           bench_wants(b, "d3d12_show");
}

int main(int argc, char **argv)
{
    struct bench b;
    bool gfx;

    if (argc == 3 && !strcmp(argv[1], "--loop"))
        return loop(argv[2], LOOPS);
    if (argc == 3 && !strcmp(argv[1], "--short-loop"))
        return loop(argv[2], 1);
    if (argc == 2 && !strcmp(argv[1], "--draws"))
        return draws();
    if (argc == 3 && !strcmp(argv[1], "--ring"))
        return ring((size_t)atoi(argv[2]));
    bench_init(&b, argc, argv);
    if (readlink("/proc/self/exe", self, sizeof(self) - 1) < 0 || !mkdtemp(dir))
        return 1;
    gfx = have("gfxrecon-replay");
    if (!gfx)
        printf("d3d12: package gfxreconstruct is not installed: no references\n");
    if (bench_wants(&b, "dirty_tracking"))
        dirty(&b);
    for (int i = 0; i < 2; i++)
        if (wants_one(&b, i ? "copy" : "viewports"))
            call_cost(&b, i ? "copy" : "viewports", gfx);
    if (bench_wants(&b, "d3d12_show"))
        show(&b);
    if (bench_wants(&b, "d3d12_viewer"))
        open_viewer(&b);
    if (bench_wants(&b, "d3d12_record") || bench_wants(&b, "d3d12_play_heavy") ||
        bench_wants(&b, "d3d12_record_against") || bench_wants(&b, "d3d12_record_bytes"))
        draw_heavy(&b, gfx);
    if (bench_wants(&b, "d3d12_bytes") || bench_wants(&b, "d3d12_play"))
        gears(&b, gfx);
    output("rm -rf %s", dir);
    return bench_finish(&b);
}
