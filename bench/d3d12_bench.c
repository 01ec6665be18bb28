/* What recording Direct3D 12 costs, next to gfxreconstruct recording the Vulkan calls of the same program; how fast a
 * recording is played and printed; what finding written pages costs. Everything is measured in turns.
 *
 * The program runs itself under the recorders: `d3d12_bench --loop copy|viewports` prints nanoseconds of thread CPU time
 * a call. Figures whose reference is not installed (gfxreconstruct, Xvfb) are left out, and said so. */
#include <fcntl.h>
#include <linux/userfaultfd.h>
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
#include "d3d12/dirty.h"
#include "d3d12/trace_file.h"

#define INITGUID
#define COBJMACROS
#define WIDL_C_INLINE_WRAPPERS
#define VKD3D_UTILS_API_VERSION VKD3D_API_VERSION_1_2
#include <vkd3d_utils.h>

enum { CALLS = 100000, LOOPS = 5, ROUNDS = 5, MIB = 1 << 20 };

static char self[4096], dir[] = "/tmp/aerogpu-d3d12-bench-XXXXXX";

static double cpu_ns(void)
{
    struct timespec ts;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
    return (double)ts.tv_sec * 1e9 + (double)ts.tv_nsec;
}

/* ---- the loop that is recorded ------------------------------------------------------------------------------ */

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

static int loop(const char *kind)
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
    for (int n = 0; n < LOOPS; n++) {
        double start = cpu_ns();

        if (!strcmp(kind, "copy"))
            for (unsigned i = 0; i < CALLS; i++)
                ID3D12GraphicsCommandList_CopyBufferRegion(list, a, 16 * (i & 1023), b, 16 * (i & 511), 16);
        else
            for (unsigned i = 0; i < CALLS; i++)
                ID3D12GraphicsCommandList_RSSetViewports(list, 1, &view);
        ns[n] = (cpu_ns() - start) / CALLS;
        ID3D12GraphicsCommandList_Close(list);
        ID3D12CommandAllocator_Reset(allocator);
        ID3D12GraphicsCommandList_Reset(list, allocator, NULL);
    }
    printf("%.2f\n", bench_quantile(ns, LOOPS, 0.5));
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
    if (trc_open(&t, path, NULL))
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
    double ns[3][ROUNDS], raw, packed, plain, ours, theirs = 0;
    char path[100], id[64], note[200];

    snprintf(path, sizeof(path), "%s/loop", dir);
    for (int n = 0; n < ROUNDS; n++) {
        ns[0][n] = atof(output("%s --loop %s 2>/dev/null", self, kind));
        ns[1][n] =
            atof(output("%s d3d12 record -o %s -- %s --loop %s 2>/dev/null", AEROGPU, path, self, kind));
        if (gfx)
            ns[2][n] = atof(output(GFX "%s --loop %s 2>/dev/null", "NONE", dir, self, kind));
    }
    plain = bench_quantile(ns[0], ROUNDS, 0.5);
    ours = bench_quantile(ns[1], ROUNDS, 0.5) - plain;
    if (gfx)
        theirs = bench_quantile(ns[2], ROUNDS, 0.5) - plain;
    bytes_a_call(path, &raw, &packed);
    snprintf(id, sizeof(id), "d3d12_call_cost_%s", kind);
    snprintf(note, sizeof(note), "added to %.0f ns a call; gfxreconstruct uncompressed adds %.0f", plain,
             theirs);
    bench_report(b, &(struct bench_figure){.id = id, .ours = ours, .unit = "ns", .target = 60, .note = note});
    snprintf(id, sizeof(id), "d3d12_call_bytes_%s", kind);
    bench_report(
        b, &(struct bench_figure){
               .id = id, .ours = raw, .unit = "bytes/call", .target = 10, .note = "before compression"});
    snprintf(id, sizeof(id), "d3d12_call_packed_%s", kind);
    bench_report(b, &(struct bench_figure){
                        .id = id, .ours = packed, .unit = "bytes/call", .target = 2, .note = "in the file"});
}

/* ---- gears -------------------------------------------------------------------------------------------------- */

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
    double frames, theirs = 0, fps[2][3];
    struct stat st;

    if (!have("Xvfb") || !have("vkd3d-gears")) {
        printf("d3d12_bytes: no Xvfb or no vkd3d-gears: not measured\n");
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
             output("%s d3d12 record -o %s -- timeout -s INT 4 vkd3d-gears 2>&1", AEROGPU, path));
    frames = number_before(text, " frames, ");
    if (gfx) {
        output(GFX "timeout -s INT 4 vkd3d-gears 2>&1", "LZ4", dir);
        if (!stat(output("printf %%s %s/gfx.gfxr", dir), &st)) {
            const char *replay = "gfxrecon-replay --wsi xcb %s/gfx.gfxr 2>&1";

            snprintf(text, sizeof(text), replay, dir);
            for (int i = 0; i < 3; i++) {
                const char *out = output("%s", text);
                double n = number_before(out, " frames");

                fps[1][i] = number_before(out, " fps");
                theirs = n > 0 ? (double)st.st_size / n : theirs;
                fps[0][i] = number_before(output("%s d3d12 play %s 2>/dev/null", AEROGPU, path), " a second");
            }
        }
    }
    snprintf(note, sizeof(note), "%.0f frames with a hash each; gfxreconstruct LZ4: %.0f", frames, theirs);
    if (frames > 0 && !stat(path, &st))
        bench_report(b, &(struct bench_figure){.id = "d3d12_bytes",
                                               .ours = (double)st.st_size / frames,
                                               .unit = "bytes/frame",
                                               .target = 32,
                                               .note = note});
    if (theirs > 0 && fps[1][0] > 0)
        bench_report(b, &(struct bench_figure){.id = "d3d12_play",
                                               .ours = bench_quantile(fps[0], 3, 0.5),
                                               .reference = bench_quantile(fps[1], 3, 0.5),
                                               .unit = "frames/s",
                                               .target = 1.5,
                                               .at_least = 1,
                                               .note = "against gfxrecon-replay"});
    output("kill $(cat %s/xpid)", dir);
}

/* ---- show --------------------------------------------------------------------------------------------------- */

static void show(struct bench *b)
{
    double best = 0;
    char path[100];

    snprintf(path, sizeof(path), "%s/loop", dir);
    for (int i = 0; i < 3; i++) {
        struct rusage before, after;
        double s;

        getrusage(RUSAGE_CHILDREN, &before);
        output("%s d3d12 show %s >/dev/null", AEROGPU, path);
        getrusage(RUSAGE_CHILDREN, &after);
        s = (double)(after.ru_utime.tv_sec - before.ru_utime.tv_sec) +
            (double)(after.ru_utime.tv_usec - before.ru_utime.tv_usec) / 1e6;
        if (s > 0 && CALLS * LOOPS / s > best)
            best = CALLS * LOOPS / s;
    }
    bench_report(b, &(struct bench_figure){.id = "d3d12_show",
                                           .ours = best / 1e6,
                                           .unit = "M calls/s",
                                           .target = 2,
                                           .at_least = 1,
                                           .note = "decoded and printed, user CPU time"});
}

/* ---- written pages ------------------------------------------------------------------------------------------ */

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

static double now_us(void)
{
    struct timespec ts;

    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (double)ts.tv_sec * 1e6 + (double)ts.tv_nsec / 1e3;
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
        double start = now_us();

        touch(p, pages, (unsigned)i);
        w[i] = now_us() - start;
        start = now_us();
        dirty_collect(d, s, nothing, (seen = 0, &seen));
        l[i] = now_us() - start;
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
        start = now_us();
        if (ioctl(pagemap, _IOWR('f', 16, struct pm_scan_arg), &a) < 0)
            return 0;
        us[i] = now_us() - start;
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
    double w, l, bare;

    memset(p, 1, 64 * MIB);
    bare = bare_scan(p, 100);
    if (bare > 0 && cost(DIRTY_KERNEL, p, 100, &w, &l))
        bench_report(b, &(struct bench_figure){.id = "dirty_tracking",
                                               .ours = l,
                                               .reference = bare,
                                               .unit = "us",
                                               .target = 1.2,
                                               .note = "64 MiB, 100 pages; against a bare PAGEMAP_SCAN"});
    else
        printf("dirty_tracking: this kernel has no PAGEMAP_SCAN: not measured\n");
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

int main(int argc, char **argv)
{
    struct bench b;
    bool gfx;

    if (argc == 3 && !strcmp(argv[1], "--loop"))
        return loop(argv[2]);
    bench_init(&b, argc, argv);
    if (readlink("/proc/self/exe", self, sizeof(self) - 1) < 0 || !mkdtemp(dir))
        return 1;
    gfx = have("gfxrecon-replay");
    if (!gfx)
        printf("d3d12: package gfxreconstruct is not installed: no references\n");
    dirty(&b);
    call_cost(&b, "viewports", gfx);
    call_cost(&b, "copy", gfx);
    show(&b);
    gears(&b, gfx);
    output("rm -rf %s", dir);
    return bench_finish(&b);
}
