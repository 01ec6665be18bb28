/* SPDX-License-Identifier: MIT */
/* vkbox_bench: what `aerogpu run` costs a program.
 *
 * run_call: nanoseconds that recording adds to a vkCmd call: four common ones, on whatever driver there is. The program runs
 * itself with the layer and without, in turns: `vkbox_bench --loop` prints nanoseconds of thread CPU time a call.
 * run_cost, run_cost_worst: CPU time of whole programs under `aerogpu run`, the supervisor's included, against the same
 * without; the median of the programs, and the worst. Each does so much, however long that takes: some two seconds.
 * run_start: the same of a program that ends behind its first frame, of which what happens once is all. */
#include <errno.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <vulkan/vulkan.h>

#include "base/file/scratch.h"
#include "bench.h"

enum { CALLS = 40000, LOOPS = 60, ROUNDS = 9, COST_ROUNDS = 11, RING_WORDS = 1 << 16 };

/* ---- the loop ------------------------------------------------------------ */

struct setting {
    VkDevice device;
    VkCommandBuffer cb;
    VkPipelineLayout layout;
    VkDescriptorSet set;
};

static int make_setting(struct setting *s)
{
    VkApplicationInfo app = {.sType = VK_STRUCTURE_TYPE_APPLICATION_INFO, .apiVersion = VK_API_VERSION_1_3};
    VkInstanceCreateInfo instance_info = {.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO,
                                          .pApplicationInfo = &app};
    float priority = 1;
    VkDeviceQueueCreateInfo queue = {
        .sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO, .queueCount = 1, .pQueuePriorities = &priority};
    VkPhysicalDeviceVulkan13Features features = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_3_FEATURES, .dynamicRendering = VK_TRUE};
    VkDeviceCreateInfo device_info = {.sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO,
                                      .pNext = &features,
                                      .queueCreateInfoCount = 1,
                                      .pQueueCreateInfos = &queue};
    VkCommandPoolCreateInfo pool_info = {.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
                                         .flags = VK_COMMAND_POOL_CREATE_RESET_COMMAND_BUFFER_BIT};
    VkCommandBufferAllocateInfo buffers = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
                                           .commandBufferCount = 1};
    VkDescriptorSetLayoutCreateInfo set_info = {.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO};
    VkPushConstantRange range = {VK_SHADER_STAGE_ALL, 0, 16};
    VkPipelineLayoutCreateInfo layout_info = {.sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO,
                                              .setLayoutCount = 1,
                                              .pushConstantRangeCount = 1,
                                              .pPushConstantRanges = &range};
    VkDescriptorPoolSize size = {VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, 1};
    VkDescriptorPoolCreateInfo pool = {.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO,
                                       .maxSets = 1,
                                       .poolSizeCount = 1,
                                       .pPoolSizes = &size};
    VkDescriptorSetAllocateInfo sets = {.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO,
                                        .descriptorSetCount = 1};
    VkDescriptorSetLayout set_layout;
    VkPhysicalDevice physical;
    VkInstance instance;
    uint32_t n = 1;

    if (vkCreateInstance(&instance_info, NULL, &instance) ||
        vkEnumeratePhysicalDevices(instance, &n, &physical) < 0 || !n ||
        vkCreateDevice(physical, &device_info, NULL, &s->device) ||
        vkCreateCommandPool(s->device, &pool_info, NULL, &buffers.commandPool) ||
        vkAllocateCommandBuffers(s->device, &buffers, &s->cb) ||
        vkCreateDescriptorSetLayout(s->device, &set_info, NULL, &set_layout) ||
        vkCreateDescriptorPool(s->device, &pool, NULL, &sets.descriptorPool))
        return -1;
    layout_info.pSetLayouts = sets.pSetLayouts = &set_layout;
    return vkCreatePipelineLayout(s->device, &layout_info, NULL, &s->layout) ||
                   vkAllocateDescriptorSets(s->device, &sets, &s->set)
               ? -1
               : 0;
}

static void record(const struct setting *s)
{
    VkRenderingInfo rendering = {
        .sType = VK_STRUCTURE_TYPE_RENDERING_INFO, .renderArea = {{0, 0}, {64, 64}}, .layerCount = 1};
    VkCommandBufferBeginInfo begin = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
    VkRect2D scissor = {{0, 0}, {64, 64}};
    uint32_t push[4] = {0};

    vkBeginCommandBuffer(s->cb, &begin);
    vkCmdBeginRendering(s->cb, &rendering);
    for (uint32_t i = 0; i < CALLS / 4; i++) {
        vkCmdBindDescriptorSets(s->cb, VK_PIPELINE_BIND_POINT_GRAPHICS, s->layout, 0, 1, &s->set, 0, NULL);
        vkCmdPushConstants(s->cb, s->layout, VK_SHADER_STAGE_ALL, 0, sizeof(push), push);
        vkCmdSetScissor(s->cb, 0, 1, &scissor);
        vkCmdDraw(s->cb, 3, 1, i, 0);
    }
    vkCmdEndRendering(s->cb);
    vkEndCommandBuffer(s->cb);
}

/* The least that could be done: as many bytes into a ring that outlives the process, and its place, published. */
static double write_ring(void)
{
    struct ring {
        _Atomic uint32_t used;
        uint32_t words[RING_WORDS];
    } *ring = mmap(NULL, sizeof(*ring), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    uint32_t call[8] = {0};
    double best = 1e9;

    for (int k = 0; ring != MAP_FAILED && k < LOOPS; k++) {
        double start = bench_cpu(), ns;

        for (uint32_t i = 0; i < CALLS; i++) {
            uint32_t at = atomic_load_explicit(&ring->used, memory_order_relaxed) % (RING_WORDS - 8);

            call[0] = i;
            memcpy(&ring->words[at], call, 28);
            atomic_store_explicit(&ring->used, at + 7, memory_order_release);
        }
        ns = (bench_cpu() - start) / CALLS;
        best = ns < best ? ns : best;
    }
    return best;
}

static int loop(void)
{
    struct setting s;
    double best = 1e9;

    if (make_setting(&s))
        return 4;
    for (int k = 0; k < LOOPS; k++) {
        double start = bench_cpu(), ns;

        record(&s);
        ns = (bench_cpu() - start) / CALLS;
        best = ns < best ? ns : best;
    }
    printf("%f %f\n", best, write_ring());
    return 0;
}

/* ---- programs ------------------------------------------------------------ */

/* CPU time of a command line and all that it starts, in seconds; what it prints is dropped. Negative: it failed. */
static double cpu_of(const char *command)
{
    struct rusage usage;
    int status;
    pid_t pid = fork();

    if (!pid) {
        execl("/bin/sh", "sh", "-c", command, NULL);
        _exit(127);
    }
    if (pid < 0 || wait4(pid, &status, 0, &usage) != pid || !WIFEXITED(status) || WEXITSTATUS(status))
        return -1;
    return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
           (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
}

static char self[4096], folder[] = "/dev/shm/aerogpu-vkbox-bench-XXXXXX";

static bool read_loop(bool with, double *ns, double *ring)
{
    char command[6000];
    FILE *f;
    bool ok;

    snprintf(command, sizeof(command), "%s%s%s '%s' --loop; rm -f %s/*", with ? "AEROGPU_BLACKBOX=" : "",
             with ? folder : "",
             with ? " VK_ADD_LAYER_PATH='" VKBOX_LAYERS "' VK_INSTANCE_LAYERS=VK_LAYER_AEROGPU_blackbox" : "",
             self, folder);
    f = popen(command, "r");
    ok = f && fscanf(f, "%lf %lf", ns, ring) == 2;
    if (f)
        pclose(f);
    return ok;
}

static void call_figure(struct bench *b)
{
    double added[ROUNDS], ring[ROUNDS], with, without, ignored;
    char note[160];

    if (!bench_wants(b, "run_call"))
        return;
    if (!mkdtemp(folder)) {
        bench_not_measured(b, "run_call", "there is no /dev/shm");
        return;
    }
    for (int i = 0; i < ROUNDS; i++) {
        bool alone = read_loop(false, &without, &ignored);
        if (!alone || !read_loop(true, &with, &ring[i])) {
            rmdir(folder);
            if (alone)
                bench_failed(b, "run_call", "what runs alone does not with the layer");
            else
                bench_not_measured(b, "run_call", "no Vulkan 1.3 driver");
            return;
        }
        added[i] = with > without ? with - without : 0;
    }
    rmdir(folder);
    snprintf(note, sizeof(note), "against a ring write of as many bytes; the driver's own %.0f ns", without);
    bench_report(b, &(struct bench_figure){.id = "run_call",
                                           .ours_each = added,
                                           .reference_each = ring,
                                           .rounds = ROUNDS,
                                           .unit = "ns",
                                           .target = 5,
                                           .note = note});
}

/* Of one program: CPU seconds of each run, in pairs. */
struct cost {
    const char *program;
    double with[COST_ROUNDS], without[COST_ROUNDS], ratio;
};

static double ratio_of(const struct cost *c)
{
    double each[COST_ROUNDS];

    for (int i = 0; i < COST_ROUNDS; i++)
        each[i] = c->with[i] / c->without[i];
    return bench_quantile(each, COST_ROUNDS, 0.5);
}

static double seconds_of(const struct cost *c)
{
    double each[COST_ROUNDS];

    memcpy(each, c->without, sizeof(each)); /* which are pairs with the others, and stay in their order */
    return bench_quantile(each, COST_ROUNDS, 0.5);
}

static int by_ratio(const void *a, const void *b)
{
    double x = ((const struct cost *)a)->ratio, y = ((const struct cost *)b)->ratio;

    return (x > y) - (x < y);
}

static void no_cost(struct bench *b, const char *why)
{
    bench_not_measured(b, "run_cost", why);
    bench_not_measured(b, "run_cost_worst", why);
}

static void report_cost(struct bench *b, const char *id, const struct cost *c, double target)
{
    char note[100];

    snprintf(note, sizeof(note), "the program without: %.40s", c->program);
    bench_report(b, &(struct bench_figure){.id = id,
                                           .ours_each = c->with,
                                           .reference_each = c->without,
                                           .rounds = COST_ROUNDS,
                                           .unit = "s CPU",
                                           .target = target,
                                           .note = note});
}

/* 0; -ENOENT if the program does not run here; -EIO if it runs, and not under `aerogpu run`. */
static int measure_cost(struct cost *c, const char *env, const char *program, const char *dumps)
{
    char bare[1000], watched[2000];

    c->program = program;
    snprintf(bare, sizeof(bare), "%s; exec %s >/dev/null 2>&1", env, program);
    snprintf(watched, sizeof(watched), "%s; exec " AEROGPU " run -o %s -- %s >/dev/null 2>&1", env, dumps,
             program);
    for (int i = 0; i < COST_ROUNDS; i++) {
        c->with[i] = i & 1 ? cpu_of(watched) : 0;
        c->without[i] = cpu_of(bare);
        c->with[i] = i & 1 ? c->with[i] : cpu_of(watched);
        if (c->without[i] <= 0)
            return -ENOENT;
        if (c->with[i] <= 0)
            return -EIO;
    }
    c->ratio = ratio_of(c);
    return 0;
}

#define MODULES "${AEROGPU_PROGRAMS:-$HOME/.cache/aerogpu-programs}/node_modules"
#define GGML    "export G=\"" MODULES "/@node-llama-cpp/linux-x64-vulkan/bins/linux-x64-vulkan\""

/* tests/vkbox/real.py says where they come from. */
static const struct {
    const char *env, *program;
} programs[] = {
    {":", VKBOX_PLANT " --frames 300 fine"},
    {":", "vkcube --c 2000"},
    {":", "ffmpeg -v error -init_hw_device vulkan=vk:0 -f lavfi -i testsrc=size=320x240 -t 40 -vf "
          "format=rgba,hwupload,hflip_vulkan,hwdownload,format=rgba -f null -"},
    {":", "ffmpeg -v error -init_hw_device vulkan=vk:0 -f lavfi -i testsrc=size=320x240 -t 2 -vf "
          "format=yuv420p,hwupload,scale_vulkan=w=160:h=120,hwdownload,format=yuv420p -f null -"},
    {"D=$(vulkaninfo --summary 2>/dev/null | sed -n 's/.*deviceName *= //p' | head -1)",
     "mpv --no-config --no-audio --vo=gpu --gpu-api=vulkan --vulkan-device=\"$D\" --no-osc --really-quiet "
     "--untimed --frames=200 av://lavfi:testsrc=size=320x240"},
    {GGML "; export LD_LIBRARY_PATH=\"$G\" GGML_VK_VISIBLE_DEVICES=0",
     "python3 " VKBOX_TESTS "/ggml.py \"$G\" 3000"},
    {"export M=\"" MODULES "/webgpu\"", "node " VKBOX_TESTS "/webgpu.mjs \"$M\" 500"},
};
enum { PROGRAMS = sizeof(programs) / sizeof(programs[0]) };

static void start_figure(struct bench *b, const char *dumps)
{
    struct cost c;
    int r;

    if (!bench_wants(b, "run_start"))
        return;
    r = measure_cost(&c, ":", VKBOX_PLANT " --frames 1 fine", dumps);
    if (r == -EIO)
        bench_failed(b, "run_start", "what runs alone does not under aerogpu run");
    else if (r)
        bench_not_measured(b, "run_start", "no Vulkan driver");
    else
        report_cost(b, "run_start", &c, 1.15);
}

static void cost_figures(struct bench *b)
{
    struct cost costs[PROGRAMS];
    struct scratch dumps;
    size_t n = 0;
    int r = 0;

    if (!bench_wants(b, "run_cost") && !bench_wants(b, "run_cost_worst") && !bench_wants(b, "run_start"))
        return;
    if (scratch_make(&dumps, "aerogpu-vkbox-bench", true, NULL)) {
        no_cost(b, "there is no /tmp for dumps");
        return;
    }
    start_figure(b, dumps.path);
    for (size_t p = 0;
         (bench_wants(b, "run_cost") || bench_wants(b, "run_cost_worst")) && p < PROGRAMS && r != -EIO; p++) {
        r = measure_cost(&costs[n], programs[p].env, programs[p].program, dumps.path);
        if (r)
            fprintf(stderr, "  %.60s: does not run %s\n", programs[p].program,
                    r == -EIO ? "under aerogpu run" : "here");
        else
            fprintf(stderr, "  %.4f of %.2f s  %.90s\n", costs[n].ratio, seconds_of(&costs[n]),
                    programs[p].program);
        n += !r;
    }
    scratch_remove(&dumps);
    if (r == -EIO) {
        bench_failed(b, "run_cost", "what runs alone does not under aerogpu run");
        bench_failed(b, "run_cost_worst", "what runs alone does not under aerogpu run");
        return;
    }
    if (!n) {
        no_cost(b, "no program runs here");
        return;
    }
    qsort(costs, n, sizeof(costs[0]), by_ratio);
    report_cost(b, "run_cost", &costs[n / 2], 1.01);
    report_cost(b, "run_cost_worst", &costs[n - 1], 1.03);
}

/* One display for all of them. */
static void take_display(char **argv, int argc)
{
    /* Who connects while the server begins anew behind its last client is sent away. */
    char *all[64] = {"xvfb-run", "-a", "-s", "-screen 0 1280x1024x24 -noreset"};

    if (getenv("DISPLAY") || argc > 58)
        return;
    for (int i = 0; i < argc; i++)
        all[i + 4] = i ? argv[i] : self;
    execvp(all[0], all); /* without one, what shows something does not run */
}

int main(int argc, char **argv)
{
    ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);
    struct bench b;

    if (argc == 2 && !strcmp(argv[1], "--loop"))
        return loop();
    bench_init(&b, argc, argv);
    if (n <= 0)
        return 4;
    if (bench_wants(&b, "run_cost") || bench_wants(&b, "run_cost_worst"))
        take_display(argv, argc);
    call_figure(&b);
    cost_figures(&b);
    return bench_finish(&b);
}
