/* SPDX-License-Identifier: MIT */
/* plant: a program that uses Vulkan, draws some frames into an image, and does one thing wrong.
 *
 *   plant [--frames N] [--draws N] [--at N] [--groups N] [--secondaries N] [--recover] [--reports | --stands] KIND
 *
 * KIND: fine, loop-compute, loop-vertex, loop-fragment, fault, far (an address that is not canonical), code (one of the program's code), freed, freed-image, dead-wait, slow, abort, wild, stale (a call with a handle that is none),
 * handled (a fault that its handler mends), handled-idle (and then it sleeps for three seconds), fault-handled, fault-late, fault-chained (a handler that is installed between two frames: it ends the
 * process, or calls what it found), crowd (20,000 command buffers), sleep, event (a wait for one that nobody sets), twice (a command buffer that
 * loops, submitted three times), two (a second device waits behind one that loops), many (5,000 submissions behind one that
 * loops), batch (one command buffer of 5,000 of a submission loops), dead-waits (the last of 300 semaphores is not signalled), spent-wait (one was, and another submission had it), abort-fault (a fault of the device's while the program handles that it aborts), stray (a command buffer that is none), becomes (another program, while it loops), escape (names that a terminal obeys), names (that are cut, and turn text around), maps (20,000 allocations, then what the program maps itself), fork (a child that crashes), copy-freed (a copy from a buffer that is gone), destroy (the device,
 * while it works), over, over-vertex, copy-over (a shader writes, the device copies, behind the end of a buffer of 320 bytes), small-freed, late-set (a set names
 * a buffer that is gone), host-over, host-freed (the processor writes behind the end of a buffer's mapping, or to one that is gone), loop-set (a set names a buffer that is gone, and it loops), loop-array (so does a late element of a long array), race (a hang, if the host writes too late: after --at 250ths of the time that
 * some work took). In the third frame
 * number --at of its draws (or dispatches, of which each frame has as many) is the one. With --recover a device that is lost
 * is made again, and the frames go on. One that is to sleep, or counts its frames, prints its number. A process that the driver keeps
 * for more than 180 s (20, if it waits for nobody) ends by an alarm.
 */
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "plant.h"

struct plant_options opt = {"fine", 5, 8, 3, 1000, 0, 0, 0};

int is(const char *kind)
{
    return !strcmp(opt.kind, kind);
}

/* The dispatch does not end. */
static int loops(void)
{
    return is("loop-compute") || is("twice") || is("two") || is("many") || is("escape") || is("names") ||
           is("loop-set") || is("loop-array") || is("batch") || is("becomes") || is("recorded-anew") ||
           is("freed-buffer") || is("foreign") || is("foreign-bind");
}

/* ---- frames -------------------------------------------------------------- */

/* Of an image's memory, which is freed then. */
static uint64_t image_address(void)
{
    VkImage image = v.image;
    VkDeviceMemory memory = v.image_memory;
    void *mapped;

    make_image();
    CHECK(vkMapMemory(v.device, v.image_memory, 0, VK_WHOLE_SIZE, 0, &mapped));
    vkUnmapMemory(v.device, v.image_memory);
    vkDestroyImage(v.device, v.image, NULL);
    vkFreeMemory(v.device, v.image_memory, NULL);
    v.image = image;
    v.image_memory = memory;
    return (uint64_t)(uintptr_t)mapped + 64;
}

static uint64_t bad_address(void)
{
    VkBufferDeviceAddressInfo info = {.sType = VK_STRUCTURE_TYPE_BUFFER_DEVICE_ADDRESS_INFO};
    VkDeviceMemory memory;
    uint64_t address;

    if (is("fault") || is("fault-handled") || is("fault-late") || is("fault-chained"))
        return UINT64_C(0x123456789000);
    if (is("far"))
        return UINT64_C(0x900000001000);
    if (is("code"))
        return (uint64_t)(uintptr_t)name;
    if (is("freed-image"))
        return image_address();
    info.buffer = make_buffer(&memory, is("freed") ? BUFFER : SMALL, "particles");
    address = vkGetBufferDeviceAddress(v.device, &info);
    if (is("over") || is("over-vertex"))
        return address + SMALL;
    vkDestroyBuffer(v.device, info.buffer, NULL);
    vkFreeMemory(v.device, memory, NULL);
    return address;
}

static void write_wildly(void)
{
    volatile char *at;
    VkDeviceMemory memory;
    VkBuffer b = make_buffer(&memory, BUFFER, "particles");

    CHECK(vkMapMemory(v.device, memory, 0, VK_WHOLE_SIZE, 0, (void **)(uintptr_t)&at));
    if (is("host-freed")) {
        vkDestroyBuffer(v.device, b, NULL);
        vkFreeMemory(v.device, memory, NULL);
    }
    at[is("host-freed") ? 4 : BUFFER] = 1;
}

static void set_push(VkCommandBuffer cb, int bad, int graphics)
{
    struct push p = {0, 4, 0};

    if (bad && !graphics && (loops() || is("slow")))
        p.limit = 0;
    if (bad && !graphics &&
        (is("fault") || is("far") || is("code") || is("freed-image") || is("fault-handled") ||
         is("fault-late") || is("fault-chained") || is("freed") || is("small-freed") || is("over")))
        p.address = bad_address();
    if (bad && graphics && is("over-vertex")) {
        p.address = bad_address();
        p.stage = 1;
    }
    if (bad && graphics && (is("loop-vertex") || is("loop-fragment"))) {
        p.limit = 0;
        p.stage = is("loop-vertex") ? 1 : 2;
    }
    vkCmdPushConstants(cb, v.layout, VK_SHADER_STAGE_ALL, 0, sizeof(p), &p);
}

/* llvmpipe ends each invocation after 65 535 rounds: what does not end is many of them. */
static uint32_t groups(int bad)
{
    return bad && loops() ? 65535 : bad && is("slow") ? opt.groups : 4;
}

/* Behind the end, if it is not gone. */
static void copy_over(VkCommandBuffer cb)
{
    VkBufferCopy region = {0, 0, SMALL + 64};
    VkDeviceMemory memory;

    vkCmdCopyBuffer(cb, make_buffer(&memory, SMALL, "particles"), v.buffer, 1, &region);
}

/* The dispatch's set names a buffer that is gone. */
static void bind_late(VkCommandBuffer cb)
{
    VkDescriptorBufferInfo buffer = {VK_NULL_HANDLE, 0, VK_WHOLE_SIZE};
    VkWriteDescriptorSet write = {.sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET,
                                  .descriptorCount = 1,
                                  .descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER,
                                  .pBufferInfo = &buffer};
    VkDescriptorPoolSize size = {VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, 1};
    VkDescriptorPoolCreateInfo pool_info = {.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO,
                                            .maxSets = 1,
                                            .poolSizeCount = 1,
                                            .pPoolSizes = &size};
    VkDescriptorSetAllocateInfo set = {.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO,
                                       .descriptorSetCount = 1,
                                       .pSetLayouts = &v.set_layout};
    VkDescriptorPool pool;
    VkDeviceMemory memory;

    buffer.buffer = make_buffer(&memory, SMALL, "particles");
    CHECK(vkCreateDescriptorPool(v.device, &pool_info, NULL, &pool));
    set.descriptorPool = pool;
    CHECK(vkAllocateDescriptorSets(v.device, &set, &write.dstSet));
    vkUpdateDescriptorSets(v.device, 1, &write, 0, NULL);
    vkCmdBindDescriptorSets(cb, VK_PIPELINE_BIND_POINT_COMPUTE, v.layout, 0, 1, &write.dstSet, 0, NULL);
    vkDestroyBuffer(v.device, buffer.buffer, NULL);
    vkFreeMemory(v.device, memory, NULL);
}

/* A second set with a long array, of which each set has another part; a late element names a buffer that is gone. */
static void bind_array(VkCommandBuffer cb)
{
    enum { LONG = 20000, HAS = 950, AT = 900, SETS = 17 };
    const VkDescriptorBindingFlags vary =
        VK_DESCRIPTOR_BINDING_VARIABLE_DESCRIPTOR_COUNT_BIT | VK_DESCRIPTOR_BINDING_PARTIALLY_BOUND_BIT;
    const VkDescriptorSetLayoutBindingFlagsCreateInfo flags = {
        .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_BINDING_FLAGS_CREATE_INFO,
        .bindingCount = 1,
        .pBindingFlags = &vary};
    const VkDescriptorSetLayoutBinding binding = {0, VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, LONG,
                                                  VK_SHADER_STAGE_VERTEX_BIT, NULL};
    const VkDescriptorSetLayoutCreateInfo layout_info = {
        .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO,
        .pNext = &flags,
        .bindingCount = 1,
        .pBindings = &binding};
    const VkDescriptorPoolSize size = {VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, LONG * SETS};
    const VkDescriptorPoolCreateInfo pool_info = {.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO,
                                                  .maxSets = SETS,
                                                  .poolSizeCount = 1,
                                                  .pPoolSizes = &size};
    const uint32_t count = HAS;
    const VkDescriptorSetVariableDescriptorCountAllocateInfo counts = {
        .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_VARIABLE_DESCRIPTOR_COUNT_ALLOCATE_INFO,
        .descriptorSetCount = 1,
        .pDescriptorCounts = &count};
    const VkPushConstantRange range = {VK_SHADER_STAGE_ALL, 0, sizeof(struct push)};
    VkDescriptorSetLayout layouts[2] = {v.set_layout};
    VkPipelineLayoutCreateInfo pipeline_info = {.sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO,
                                                .setLayoutCount = 2,
                                                .pSetLayouts = layouts,
                                                .pushConstantRangeCount = 1,
                                                .pPushConstantRanges = &range};
    VkDescriptorSetAllocateInfo set = {.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO,
                                       .pNext = &counts,
                                       .descriptorSetCount = 1,
                                       .pSetLayouts = &layouts[1]};
    VkDescriptorBufferInfo buffer = {v.buffer, 0, VK_WHOLE_SIZE};
    VkWriteDescriptorSet write = {.sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET,
                                  .descriptorCount = 1,
                                  .descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER,
                                  .pBufferInfo = &buffer};
    VkPipelineLayout layout;
    VkDeviceMemory memory;

    CHECK(vkCreateDescriptorSetLayout(v.device, &layout_info, NULL, &layouts[1]));
    CHECK(vkCreatePipelineLayout(v.device, &pipeline_info, NULL, &layout));
    CHECK(vkCreateDescriptorPool(v.device, &pool_info, NULL, &set.descriptorPool));
    for (uint32_t i = 0; i < SETS; i++)
        CHECK(vkAllocateDescriptorSets(v.device, &set, &write.dstSet));
    for (uint32_t i = 0; i < AT; i += 3) {
        write.dstArrayElement = i;
        vkUpdateDescriptorSets(v.device, 1, &write, 0, NULL);
    }
    write.dstArrayElement = AT;
    buffer.buffer = make_buffer(&memory, SMALL, "particles");
    vkUpdateDescriptorSets(v.device, 1, &write, 0, NULL);
    vkCmdBindDescriptorSets(cb, VK_PIPELINE_BIND_POINT_COMPUTE, layout, 1, 1, &write.dstSet, 0, NULL);
    vkDestroyBuffer(v.device, buffer.buffer, NULL);
    vkFreeMemory(v.device, memory, NULL);
}

static void copy_freed(VkCommandBuffer cb)
{
    VkBufferCopy region = {0, 0, BUFFER};
    VkDeviceMemory memory;
    VkBuffer from = make_buffer(&memory, BUFFER, "particles");
    void *mapped;

    CHECK(vkMapMemory(v.device, memory, 0, VK_WHOLE_SIZE, 0, &mapped)); /* its address becomes known */
    vkCmdCopyBuffer(cb, from, v.buffer, 1, &region);
    vkFreeMemory(v.device, memory, NULL);
}

static void wait_for_event(VkCommandBuffer cb)
{
    VkEventCreateInfo info = {.sType = VK_STRUCTURE_TYPE_EVENT_CREATE_INFO};
    VkEvent event;

    CHECK(vkCreateEvent(v.device, &info, NULL, &event));
    vkCmdWaitEvents(cb, 1, &event, VK_PIPELINE_STAGE_HOST_BIT, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT, 0, NULL, 0,
                    NULL, 0, NULL);
}

/* Its part of them, of so many. State is set once, as far as it is the same. */
static void draw_shapes(VkCommandBuffer cb, int bad, uint32_t part, uint32_t of)
{
    vkCmdBindPipeline(cb, VK_PIPELINE_BIND_POINT_GRAPHICS, v.graphics);
    vkCmdBindDescriptorSets(cb, VK_PIPELINE_BIND_POINT_GRAPHICS, v.layout, 0, 1, &v.set, 0, NULL);
    for (uint32_t i = opt.draws * part / of + 1; i <= opt.draws * (part + 1) / of; i++) {
        set_push(cb, bad && i == opt.at, 1);
        vkCmdDraw(cb, bad && i == opt.at && is("loop-vertex") ? 30000000 : 3, 1, 0, 0);
    }
}

static void execute_shapes(VkCommandBuffer cb, int bad)
{
    enum { MOST = 8 };
    const VkCommandBufferInheritanceInfo inherit = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_INHERITANCE_INFO, .renderPass = v.pass};
    const VkCommandBufferBeginInfo begin = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO,
                                            .flags = VK_COMMAND_BUFFER_USAGE_RENDER_PASS_CONTINUE_BIT |
                                                     VK_COMMAND_BUFFER_USAGE_SIMULTANEOUS_USE_BIT,
                                            .pInheritanceInfo = &inherit};
    const uint32_t n = opt.secondaries < MOST ? opt.secondaries : MOST;
    VkCommandBufferAllocateInfo info = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
                                        .commandPool = v.pool,
                                        .level = VK_COMMAND_BUFFER_LEVEL_SECONDARY,
                                        .commandBufferCount = n};
    VkCommandBuffer parts[MOST];

    CHECK(vkAllocateCommandBuffers(v.device, &info, parts));
    for (uint32_t i = 0; i < n; i++) {
        CHECK(vkBeginCommandBuffer(parts[i], &begin));
        label(parts[i], i % 2 ? "odd" : "even");
        draw_shapes(parts[i], bad, i, n);
        label(parts[i], NULL);
        CHECK(vkEndCommandBuffer(parts[i]));
    }
    vkCmdExecuteCommands(cb, n, parts);
}

/* With commands that only the driver of foreign.c has. */
static void foreign_bind(VkCommandBuffer cb)
{
    void(VKAPI_PTR * bind)(VkCommandBuffer, VkPipeline) =
        (void(VKAPI_PTR *)(VkCommandBuffer, VkPipeline))vkGetDeviceProcAddr(v.device, "vkCmdBindAEROGPU");

    bind(cb, v.compute);
}

static void foreign_dispatch(VkCommandBuffer cb, uint32_t x)
{
    typedef uint64_t(VKAPI_PTR * many)(VkCommandBuffer, uint32_t, double, uint64_t, float, uint64_t, uint64_t,
                                       uint64_t, uint64_t, uint64_t, double, double, double, double, double,
                                       double, double, uint64_t);
    many dispatch = (many)vkGetDeviceProcAddr(v.device, "vkCmdDispatchAEROGPU");

    if (dispatch(cb, x, 0.5, 11, 1.25f, 12, 13, 14, 15, 16, 1, 2, 3, 4, 5, 6, 7, 17) != 0x123456789abcdef0)
        exit(9);
}

static void record(VkCommandBuffer cb, int bad)
{
    VkCommandBufferBeginInfo begin = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO,
                                      .flags =
                                          is("twice") ? VK_COMMAND_BUFFER_USAGE_SIMULTANEOUS_USE_BIT : 0};
    VkClearValue clear = {0};
    VkRenderPassBeginInfo pass = {.sType = VK_STRUCTURE_TYPE_RENDER_PASS_BEGIN_INFO,
                                  .renderPass = v.pass,
                                  .framebuffer = v.framebuffer,
                                  .renderArea = {{0, 0}, {SIZE, SIZE}},
                                  .clearValueCount = 1,
                                  .pClearValues = &clear};

    CHECK(vkBeginCommandBuffer(cb, &begin));
    label(cb, is("names") ? "a label of which the fifty-ninth character of all is this: \u20AC" : "frame");
    label(cb, "simulation");
    vkCmdBindPipeline(cb, VK_PIPELINE_BIND_POINT_COMPUTE, v.compute);
    vkCmdBindDescriptorSets(cb, VK_PIPELINE_BIND_POINT_COMPUTE, v.layout, 0, 1, &v.set, 0, NULL);
    for (uint32_t i = 1; i <= opt.draws; i++) {
        set_push(cb, bad && i == opt.at, 0);
        if (bad && i == opt.at && is("copy-freed"))
            copy_freed(cb);
        if (bad && i == opt.at && is("copy-over"))
            copy_over(cb);
        if (bad && i == opt.at && (is("late-set") || is("loop-set")))
            bind_late(cb);
        if (bad && i == opt.at && is("loop-array"))
            bind_array(cb);
        if (bad && i == opt.at && is("event"))
            wait_for_event(cb);
        if (is("foreign-fine") || (bad && i == opt.at && is("foreign-bind")))
            foreign_bind(cb);
        if (is("foreign-fine") || (bad && i == opt.at && is("foreign")))
            foreign_dispatch(cb, groups(bad && i == opt.at));
        else
            vkCmdDispatch(cb, groups(bad && i == opt.at), 1, 1);
    }
    label(cb, NULL);
    label(cb, "shapes");
    vkCmdBeginRenderPass(cb, &pass,
                         opt.secondaries ? VK_SUBPASS_CONTENTS_SECONDARY_COMMAND_BUFFERS
                                         : VK_SUBPASS_CONTENTS_INLINE);
    if (opt.secondaries)
        execute_shapes(cb, bad);
    else
        draw_shapes(cb, bad, 0, 1);
    vkCmdEndRenderPass(cb);
    label(cb, NULL);
    label(cb, NULL);
    CHECK(vkEndCommandBuffer(cb));
}

/* The first device is left at work; what follows is the second's. */
static void submit_on_another_device(VkSubmitInfo *submit)
{
    CHECK(vkQueueSubmit(v.queue, 1, submit, VK_NULL_HANDLE));
    make_device();
    record(v.cb[0], 0);
    submit->pCommandBuffers = v.cb;
}

static void submit_behind(const VkSubmitInfo *first)
{
    enum { MANY = 5000 };
    static VkCommandBuffer cbs[MANY];
    VkCommandBufferAllocateInfo info = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
                                        .commandPool = v.pool,
                                        .commandBufferCount = MANY};
    VkCommandBufferBeginInfo begin = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
    VkSubmitInfo submit = {.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO, .commandBufferCount = 1};

    CHECK(vkQueueSubmit(v.queue, 1, first, VK_NULL_HANDLE));
    CHECK(vkAllocateCommandBuffers(v.device, &info, cbs));
    for (int i = 0; i < MANY; i++) {
        CHECK(vkBeginCommandBuffer(cbs[i], &begin));
        vkCmdBindPipeline(cbs[i], VK_PIPELINE_BIND_POINT_COMPUTE, v.compute);
        vkCmdBindDescriptorSets(cbs[i], VK_PIPELINE_BIND_POINT_COMPUTE, v.layout, 0, 1, &v.set, 0, NULL);
        set_push(cbs[i], 0, 0);
        vkCmdDispatch(cbs[i], 1, 1, 1);
        CHECK(vkEndCommandBuffer(cbs[i]));
        submit.pCommandBuffers = &cbs[i];
        CHECK(vkQueueSubmit(v.queue, 1, &submit, VK_NULL_HANDLE));
    }
    record(v.cb[1], 0);
}

/* Whether the device hangs depends on when the host writes: some work, then a look at how many groups the host wants: by then one, or still so
 * many that it does not end. The host writes after --at 250ths of the work: of the time that the driver's threads ran for it (it is
 * a processor's), so that who else is at work on this machine has no part in who comes first. */
static double clock_seconds(clockid_t clock)
{
    struct timespec ts;

    clock_gettime(clock, &ts);
    return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

static double driver_seconds(void)
{
    return clock_seconds(CLOCK_PROCESS_CPUTIME_ID) - clock_seconds(CLOCK_THREAD_CPUTIME_ID);
}

static void record_race(VkCommandBuffer cb, int waits)
{
    VkCommandBufferBeginInfo begin = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
    VkMemoryBarrier all = {.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER,
                           .srcAccessMask = VK_ACCESS_MEMORY_WRITE_BIT,
                           .dstAccessMask = VK_ACCESS_MEMORY_READ_BIT | VK_ACCESS_MEMORY_WRITE_BIT};
    VkBufferCopy look = {WANTED * 4, TAKEN * 4, 12};
    struct push p = {.limit = 2000};

    CHECK(vkBeginCommandBuffer(cb, &begin));
    vkCmdBindPipeline(cb, VK_PIPELINE_BIND_POINT_COMPUTE, v.compute);
    vkCmdBindDescriptorSets(cb, VK_PIPELINE_BIND_POINT_COMPUTE, v.layout, 0, 1, &v.set, 0, NULL);
    for (int i = 0; i < 8; i++) {
        vkCmdPushConstants(cb, v.layout, VK_SHADER_STAGE_ALL, 0, sizeof(p), &p);
        vkCmdDispatch(cb, 50, 1, 1);
    }
    for (int i = 0; i < 2; i++) {
        vkCmdPipelineBarrier(cb, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT, 0, 1,
                             &all, 0, NULL, 0, NULL);
        if (!i)
            vkCmdCopyBuffer(cb, v.buffer, v.buffer, 1, &look);
    }
    p = (struct push){0};
    vkCmdPushConstants(cb, v.layout, VK_SHADER_STAGE_ALL, 0, sizeof(p), &p);
    if (waits)
        vkCmdDispatchIndirect(cb, v.buffer, TAKEN * 4);
    CHECK(vkEndCommandBuffer(cb));
}

static volatile uint32_t *words;

/* Writes when the driver has run for `late` seconds; 0: at once. The seconds that it ran for all; negative: it hangs. */
static double race_once(int waits, double late)
{
    const VkSubmitInfo submit = {
        .sType = VK_STRUCTURE_TYPE_SUBMIT_INFO, .commandBufferCount = 1, .pCommandBuffers = v.cb};
    double start, took;

    record_race(v.cb[0], waits);
    words[WANTED] = 65535;
    words[WANTED + 1] = words[WANTED + 2] = 1;
    words[TAKEN] = 0;
    start = driver_seconds();
    CHECK(vkQueueSubmit(v.queue, 1, &submit, v.fence));
    while (driver_seconds() < start + late && !words[TAKEN])
        continue;
    words[WANTED] = 1;
    if (vkWaitForFences(v.device, 1, &v.fence, VK_TRUE, 2000000000) == VK_TIMEOUT)
        return -1;
    took = driver_seconds() - start;
    CHECK(vkResetFences(v.device, 1, &v.fence));
    return took;
}

enum { TOOK = 9 };

/* The median of the last ones: what else a processor does makes each longer, or shorter. */
static double usual_work(double took[TOOK], uint32_t n, double last)
{
    double sorted[TOOK], x;

    took[n % TOOK] = last;
    for (int i = 0; i < TOOK; i++) {
        int at = i;

        for (x = took[i]; at && sorted[at - 1] > x; at--)
            sorted[at] = sorted[at - 1];
        sorted[at] = x;
    }
    return sorted[TOOK / 2];
}

/* Looks that nothing waits for, at moments about --at, and one at it that the device waits for. Prints how many of them came before the
 * host. Exit code 7: it hangs. */
static int race(void)
{
    double work = 0, took[TOOK] = {0};
    uint32_t late = 0;

    CHECK(vkMapMemory(v.device, v.memory, 0, VK_WHOLE_SIZE, 0, (void **)&words));
    for (uint32_t i = 0; i < TOOK; i++)
        work = usual_work(took, i, race_once(0, 0));
    for (uint32_t i = 0; i < opt.frames; i++) {
        double moment = 0.7 + 0.6 * (i * 7 % opt.frames) / opt.frames;

        work = usual_work(took, i, race_once(0, work * opt.at / 250.0 * moment));
        late += words[TAKEN] != 1;
    }
    printf("%u of %u\n", late, opt.frames);
    fflush(stdout);
    if (race_once(1, work * opt.at / 250.0) < 0)
        _exit(7);
    return 0;
}

/* The one among many others. */
static void make_batch(VkSubmitInfo *submit)
{
    enum { BATCH = 5000, AT = 4800 };
    static VkCommandBuffer cbs[BATCH];
    VkCommandBufferAllocateInfo info = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
                                        .commandPool = v.pool,
                                        .commandBufferCount = BATCH};
    VkCommandBufferBeginInfo begin = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};

    CHECK(vkAllocateCommandBuffers(v.device, &info, cbs));
    for (uint32_t i = 0; i < BATCH; i++) {
        CHECK(vkBeginCommandBuffer(cbs[i], &begin));
        vkCmdFillBuffer(cbs[i], v.buffer, 0, 64, i);
        CHECK(vkEndCommandBuffer(cbs[i]));
    }
    cbs[AT] = *submit->pCommandBuffers;
    submit->pCommandBuffers = cbs;
    submit->commandBufferCount = BATCH;
}

/* What it waits for was signalled, and waited for. */
static void spend(const VkSubmitInfo *submit)
{
    const VkSubmitInfo both[] = {{.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
                                  .signalSemaphoreCount = 1,
                                  .pSignalSemaphores = submit->pWaitSemaphores},
                                 {.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
                                  .waitSemaphoreCount = 1,
                                  .pWaitSemaphores = submit->pWaitSemaphores,
                                  .pWaitDstStageMask = submit->pWaitDstStageMask}};

    CHECK(vkQueueSubmit(v.queue, 2, both, VK_NULL_HANDLE));
}

/* The last of several that it waits for is not signalled, the others are. */
static void wait_for_others(VkSubmitInfo *submit)
{
    static VkSemaphore all[WAITS];
    static VkPipelineStageFlags stages[WAITS];
    VkSemaphoreCreateInfo info = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO};
    VkSubmitInfo signals = {
        .sType = VK_STRUCTURE_TYPE_SUBMIT_INFO, .signalSemaphoreCount = WAITS - 1, .pSignalSemaphores = all};

    for (uint32_t i = 0; i < WAITS - 1; i++)
        CHECK(vkCreateSemaphore(v.device, &info, NULL, &all[i]));
    CHECK(vkQueueSubmit(v.queue, 1, &signals, VK_NULL_HANDLE));
    all[WAITS - 1] = *submit->pWaitSemaphores;
    for (uint32_t i = 0; i < WAITS; i++)
        stages[i] = VK_PIPELINE_STAGE_ALL_COMMANDS_BIT;
    submit->waitSemaphoreCount = WAITS;
    submit->pWaitSemaphores = all;
    submit->pWaitDstStageMask = stages;
}

static VkResult frame(uint32_t n, int bad)
{
    VkSemaphoreCreateInfo info = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO};
    VkPipelineStageFlags stage = VK_PIPELINE_STAGE_ALL_COMMANDS_BIT;
    VkSubmitInfo submit = {
        .sType = VK_STRUCTURE_TYPE_SUBMIT_INFO, .commandBufferCount = 1, .pCommandBuffers = &v.cb[n % 2]};
    VkSemaphore semaphore = VK_NULL_HANDLE;
    VkResult r;

    record(v.cb[n % 2], bad);
    if (bad && is("batch"))
        make_batch(&submit);
    if (bad && (is("dead-wait") || is("dead-waits") || is("spent-wait"))) {
        CHECK(vkCreateSemaphore(v.device, &info, NULL, &semaphore));
        name(VK_OBJECT_TYPE_SEMAPHORE, (uint64_t)semaphore, "never");
        submit.waitSemaphoreCount = 1;
        submit.pWaitSemaphores = &semaphore;
        submit.pWaitDstStageMask = &stage;
        if (is("dead-waits"))
            wait_for_others(&submit);
        if (is("spent-wait"))
            spend(&submit);
    }
    for (int i = 0; bad && is("twice") && i < 2; i++)
        CHECK(vkQueueSubmit(v.queue, 1, &submit, VK_NULL_HANDLE));
    if (bad && is("two"))
        submit_on_another_device(&submit);
    if (bad && is("many")) {
        submit_behind(&submit);
        submit.pCommandBuffers = &v.cb[1];
    }
    if (bad && is("stray"))
        submit.pCommandBuffers = &(VkCommandBuffer){(VkCommandBuffer)(uintptr_t)0x1000};
    r = vkQueueSubmit(v.queue, 1, &submit, v.fence);
    if (bad && is("becomes"))
        execlp("sleep", "sleep", "4", (char *)NULL);
    if (bad && (is("recorded-anew") || is("freed-buffer"))) {
        usleep(200000); /* the device is at it */
        if (is("freed-buffer"))
            vkFreeCommandBuffers(v.device, v.pool, 1, &v.cb[n % 2]);
        else
            CHECK(vkBeginCommandBuffer(
                v.cb[n % 2],
                &(VkCommandBufferBeginInfo){.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO}));
    }
    if (r == VK_SUCCESS)
        r = vkWaitForFences(v.device, 1, &v.fence, VK_TRUE, UINT64_MAX);
    if (r == VK_SUCCESS)
        r = vkResetFences(v.device, 1, &v.fence);
    return r;
}

/* A fault of the program's own, which its handler mends. */
static sigjmp_buf mended;

static void on_fault(int sig)
{
    if (is("fault-handled") || is("fault-late"))
        _exit(42);
    if (opt.reports) {           /* as those of crash reporters do: it is due when this has returned */
        while (opt.reports == 2) /* or waits for a lock that it has */
            pause();
        signal(sig, SIG_DFL);
        raise(sig);
        return;
    }
    siglongjmp(mended, 1);
}

/* Another thread has the device fault while the handler of the abort runs. */
static void *fault_beside(void *arg)
{
    (void)arg;
    opt.kind = "fault";
    frame(0, 1);
    return NULL;
}

static void on_abort(int sig)
{
    pthread_t thread;

    (void)sig;
    pthread_create(&thread, NULL, fault_beside, NULL);
    pthread_join(thread, NULL);
    _exit(3);
}

static struct sigaction found;

static void on_chained(int sig, siginfo_t *info, void *context)
{
    dprintf(1, "chained\n");
    found.sa_sigaction(sig, info, context);
}

static void install_late(void)
{
    struct sigaction mine = {.sa_sigaction = on_chained, .sa_flags = SA_SIGINFO};

    if (is("fault-late"))
        signal(SIGSEGV, on_fault);
    else
        sigaction(SIGSEGV, &mine, &found);
    for (int i = 0; i < 5; i++)
        CHECK(vkQueueSubmit(v.queue, 0, NULL, VK_NULL_HANDLE));
    for (int i = 0; i < 5; i++)
        CHECK(vkQueueSubmit(v.queue, 1, &(VkSubmitInfo){.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO},
                            VK_NULL_HANDLE));
}

static void make_crowd(void)
{
    enum { CROWD = 20000 };
    static VkCommandBuffer cbs[CROWD];
    VkCommandBufferAllocateInfo info = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
                                        .commandPool = v.pool,
                                        .commandBufferCount = CROWD};

    CHECK(vkAllocateCommandBuffers(v.device, &info, cbs));
    v.cb[BAD_FRAME % 2] = cbs[CROWD - 1];
}

static void *do_nothing(void *arg)
{
    return arg;
}

/* So many allocations that guards around all of them were all mappings that the kernel lets a process have. */
static void fill_the_maps(void)
{
    enum { ALLOCATIONS = 20000 };
    pthread_t thread;
    VkDeviceMemory memory;
    void *at;

    for (int i = 0; i < ALLOCATIONS; i++)
        make_buffer(&memory, SMALL, "one of many");
    at = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    printf("mapped %d, thread %d\n", at != MAP_FAILED, pthread_create(&thread, NULL, do_nothing, NULL));
}

static void make_many(void)
{
    if (is("crowd"))
        make_crowd();
    if (is("maps"))
        fill_the_maps();
}

static void raise_fault(void)
{
    if (!sigsetjmp(mended, 1))
        *(volatile int *)(uintptr_t)opt.at = 1;
}

static void crash_in_a_child(void)
{
    pid_t pid = fork();
    int status = 0;

    if (!pid)
        *(volatile int *)(uintptr_t)opt.at = 1;
    waitpid(pid, &status, 0);
    printf("the child got signal %d\n", WTERMSIG(status));
}

/* A sum over the image that the last frame left. */
static uint32_t picture(void)
{
    VkCommandBufferBeginInfo begin = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
    VkBufferImageCopy region = {.imageSubresource = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 0, 1},
                                .imageExtent = {SIZE, SIZE, 1}};
    VkSubmitInfo submit = {
        .sType = VK_STRUCTURE_TYPE_SUBMIT_INFO, .commandBufferCount = 1, .pCommandBuffers = v.cb};
    VkDeviceMemory memory;
    VkBuffer buffer = make_buffer(&memory, BUFFER, "picture");
    uint32_t sum = 0, *pixels;

    CHECK(vkBeginCommandBuffer(v.cb[0], &begin));
    vkCmdCopyImageToBuffer(v.cb[0], v.image, VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL, buffer, 1, &region);
    CHECK(vkEndCommandBuffer(v.cb[0]));
    CHECK(vkQueueSubmit(v.queue, 1, &submit, VK_NULL_HANDLE));
    CHECK(vkQueueWaitIdle(v.queue));
    CHECK(vkMapMemory(v.device, memory, 0, VK_WHOLE_SIZE, 0, (void **)&pixels));
    for (uint32_t i = 0; i < SIZE * SIZE; i++)
        sum = sum * 31 + pixels[i];
    vkDestroyBuffer(v.device, buffer, NULL);
    vkFreeMemory(v.device, memory, NULL);
    return sum;
}

static void take_options(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        if (!strcmp(argv[i], "--recover"))
            opt.recover = 1;
        else if (!strcmp(argv[i], "--reports"))
            opt.reports = 1;
        else if (!strcmp(argv[i], "--stands"))
            opt.reports = 2;
        else if (!strcmp(argv[i], "--frames") && i + 1 < argc)
            opt.frames = (uint32_t)atoi(argv[++i]);
        else if (!strcmp(argv[i], "--draws") && i + 1 < argc)
            opt.draws = (uint32_t)atoi(argv[++i]);
        else if (!strcmp(argv[i], "--at") && i + 1 < argc)
            opt.at = (uint32_t)atoi(argv[++i]);
        else if (!strcmp(argv[i], "--groups") && i + 1 < argc)
            opt.groups = (uint32_t)atoi(argv[++i]);
        else if (!strcmp(argv[i], "--again") && i + 1 < argc)
            opt.again = (uint32_t)atoi(argv[++i]);
        else if (!strcmp(argv[i], "--secondaries") && i + 1 < argc)
            opt.secondaries = (uint32_t)atoi(argv[++i]);
        else
            opt.kind = argv[i];
    }
}

int main(int argc, char **argv)
{
    take_options(argc, argv);
    if (is("handled") || is("handled-idle") || is("fault-handled") || opt.reports)
        signal(SIGSEGV, on_fault);
    if (is("abort-fault"))
        signal(SIGABRT, on_abort);
    alarm(is("event")                                               ? 12
          : is("dead-wait") || is("dead-waits") || is("spent-wait") ? 20
                                                                    : 180); /* the first two end by it */
    for (uint32_t n = 0; n < opt.again; n++) {
        make_instance();
        make_device();
        destroy_device();
        vkDestroyInstance(v.instance, NULL);
    }
    make_instance();
    make_device();
    if (is("race"))
        return race();
    if (is("count"))
        dprintf(1, "%d\n", (int)getpid());
    make_many();
    for (uint32_t n = 0; n < opt.frames; n++) {
        VkResult r;

        if (n == 1 && (is("fault-late") || is("fault-chained")))
            install_late();
        r = frame(n, n == BAD_FRAME);

        if (is("count"))
            dprintf(1, "%u\n", n + 1);

        if (r == VK_ERROR_DEVICE_LOST && opt.recover) {
            puts("the device was lost");
            destroy_device();
            make_device();
        } else {
            CHECK(r);
        }
        if (n == BAD_FRAME && (is("abort") || is("abort-fault")))
            abort();
        if (n == BAD_FRAME && (is("handled") || is("handled-idle"))) {
            raise_fault();
            sleep(is("handled-idle") ? 3 : 0);
        }
        if (n == BAD_FRAME && is("stale"))
            vkResetCommandPool(v.device, (VkCommandPool)0x1000, 0);
        if (n == BAD_FRAME && is("destroy")) {
            opt.groups = 20;
            opt.kind = "slow";
            record(v.cb[0], 1);
            CHECK(vkQueueSubmit(v.queue, 1,
                                &(VkSubmitInfo){.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
                                                .commandBufferCount = 1,
                                                .pCommandBuffers = v.cb},
                                VK_NULL_HANDLE));
            vkDestroyDevice(v.device, NULL);
            puts("destroyed");
            return 0;
        }
        if (n == BAD_FRAME && is("fork"))
            crash_in_a_child();
        if (n == BAD_FRAME && (is("host-over") || is("host-freed")))
            write_wildly();
        if (n == BAD_FRAME && is("wild"))
            *(volatile int *)(uintptr_t)opt.at = 1;
        if (n == BAD_FRAME && is("sleep")) {
            printf("%d\n", (int)getpid());
            fflush(stdout);
            pause();
        }
    }
    CHECK(vkDeviceWaitIdle(v.device));
    printf("%u frames, picture %08x\n", opt.frames, picture());
    destroy_device();
    vkDestroyInstance(v.instance, NULL);
    return 0;
}
