/* SPDX-License-Identifier: MIT */
/* A Vulkan layer that does one thing wrong in the name of whatever program it is loaded into:
 *
 *   AEROGPU_TEST_FAULT=KIND:FRAME:N   with the Nth draw (dispatch, submission) that is made after FRAME submissions
 *   AEROGPU_TEST_FAULT_OUT=FILE       a line there says that it was done, and with which pipeline or semaphore
 *
 *   loop-fragment, loop-vertex, indirect   a draw that does not end     wild-fragment   one that reads where nothing is
 *   loop-compute                           such a dispatch              wild-compute, freed   one that writes where nothing is (any more)
 *   over, late-set    one that writes behind the end of a buffer of 320 bytes; into one that its set names, and that is gone
 *   indirect-over     a draw whose arguments lie behind the end of such a buffer
 *   dead-wait, order  a submission waits for what nobody signals, or only the one behind it
 *   abort, kill, segv, oom     the program ends; because there is no memory
 *
 * It stands above the black box, as the program does: a draw of the program's becomes one with another pipeline. */
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <vulkan/vk_layer.h>
#include <vulkan/vulkan.h>

#include "fault_comp.h"
#include "fault_frag.h"
#include "fault_vert.h"
#include "late_comp.h"

#define EXPORT __attribute__((visibility("default")))
#define DEVICE_FUNCTIONS(F)                                                                                  \
    F(CreateGraphicsPipelines)                                                                               \
    F(CreateComputePipelines)                                                                                \
    F(CreateShaderModule)                                                                                    \
    F(CreatePipelineLayout)                                                                                  \
    F(CreateBuffer)                                                                                          \
    F(DestroyBuffer)                                                                                         \
    F(GetBufferMemoryRequirements)                                                                           \
    F(AllocateMemory)                                                                                        \
    F(FreeMemory)                                                                                            \
    F(BindBufferMemory)                                                                                      \
    F(MapMemory)                                                                                             \
    F(GetBufferDeviceAddress)                                                                                \
    F(CreateSemaphore)                                                                                       \
    F(CreateDescriptorSetLayout)                                                                             \
    F(CreateDescriptorPool)                                                                                  \
    F(AllocateDescriptorSets)                                                                                \
    F(UpdateDescriptorSets)                                                                                  \
    F(CmdBindDescriptorSets)                                                                                 \
    F(CmdBindPipeline)                                                                                       \
    F(CmdDraw)                                                                                               \
    F(CmdDrawIndirect)                                                                                       \
    F(CmdDrawIndexed)                                                                                        \
    F(CmdDrawMultiEXT)                                                                                       \
    F(CmdDrawMultiIndexedEXT)                                                                                \
    F(CmdDispatch)                                                                                           \
    F(QueueSubmit)                                                                                           \
    F(QueueSubmit2)

enum {
    DEVICES = 16,
    PIPELINES = 4096,
    BUFFERS = 4096,
    HANG_VERTICES = 30000000,
    FREED = 64 << 20,
    SMALL = 320
}; /* FREED: the allocator gives so much back */

struct device {
    void *key;
    VkDevice handle;
    bool addresses; /* shaders may use them */
    PFN_vkGetDeviceProcAddr get;
#define ROW(name) PFN_vk##name name;
    DEVICE_FUNCTIONS(ROW)
#undef ROW
};

static struct {
    char kind[24];
    unsigned frame, n;
} plan;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct device devices[DEVICES];
static unsigned num_devices;
static PFN_vkGetInstanceProcAddr next_instance;
static VkInstance instance;
static struct {
    VkPipeline pipeline, twin;
} twins[PIPELINES];
static unsigned num_twins;
static struct {
    VkCommandBuffer handle;
    VkPipeline bound[2];
} buffers[BUFFERS];
static _Atomic unsigned submissions, seen;

static bool is(const char *kind)
{
    return !strcmp(plan.kind, kind);
}

static bool is_draw(void)
{
    return is("loop-fragment") || is("loop-vertex") || is("indirect") || is("wild-fragment") ||
           is("indirect-over");
}

static bool is_dispatch(void)
{
    return is("loop-compute") || is("wild-compute") || is("freed") || is("over") || is("late-set");
}

static struct device *device_of(const void *handle)
{
    void *key = *(void *const *)handle;

    for (unsigned i = num_devices; i--;)
        if (devices[i].key == key)
            return &devices[i];
    abort();
}

/* Whether this is the call that it is to be done with. */
static bool is_due(void)
{
    return atomic_load(&submissions) >= plan.frame && atomic_fetch_add(&seen, 1) + 1 == plan.n;
}

static void done(uint64_t handle)
{
    const char *path = getenv("AEROGPU_TEST_FAULT_OUT");
    FILE *f = path ? fopen(path, "we") : NULL;

    if (!f)
        return;
    fprintf(f, "%s %lld\n", plan.kind, (long long)handle);
    fclose(f);
}

/* ---- pipelines that do wrong --------------------------------------------- */

struct stage {
    VkPipelineShaderStageCreateInfo info;
    VkSpecializationInfo special;
    uint32_t values[3];
};

static void make_stage(struct device *d, VkShaderStageFlagBits bit, const uint32_t *code, size_t size,
                       uint32_t mode, uint64_t address, struct stage *out)
{
    static const VkSpecializationMapEntry entries[] = {{0, 0, 4}, {1, 4, 4}, {2, 8, 4}};
    VkShaderModuleCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO, .codeSize = size, .pCode = code};
    VkShaderModule m = VK_NULL_HANDLE;

    d->CreateShaderModule(d->handle, &info, NULL, &m);
    *out = (struct stage){.values = {mode, (uint32_t)address, (uint32_t)(address >> 32)}};
    out->special = (VkSpecializationInfo){3, entries, sizeof(out->values), out->values};
    out->info =
        (VkPipelineShaderStageCreateInfo){.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
                                          .stage = bit,
                                          .module = m,
                                          .pName = "main",
                                          .pSpecializationInfo = &out->special};
}

#define WILD UINT64_C(0x123456789000)

static void add_twin(struct device *d, const VkGraphicsPipelineCreateInfo *like, VkPipeline pipeline)
{
    VkPipelineVertexInputStateCreateInfo input = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_VERTEX_INPUT_STATE_CREATE_INFO};
    VkPipelineInputAssemblyStateCreateInfo assembly = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_INPUT_ASSEMBLY_STATE_CREATE_INFO,
        .topology = VK_PRIMITIVE_TOPOLOGY_TRIANGLE_LIST};
    VkPipelineColorBlendAttachmentState targets[16];
    VkGraphicsPipelineCreateInfo info = *like;
    VkPipelineRasterizationStateCreateInfo raster;
    VkPipelineDepthStencilStateCreateInfo depth;
    VkPipelineColorBlendStateCreateInfo blend;
    VkPipelineShaderStageCreateInfo stages[2];
    struct stage vertex, fragment;
    bool hangs = is("loop-vertex") || is("indirect");
    VkPipeline twin = VK_NULL_HANDLE;

    if (!like->pRasterizationState || num_twins == PIPELINES || (is("wild-fragment") && !d->addresses))
        return;
    make_stage(d, VK_SHADER_STAGE_VERTEX_BIT, fault_vert, sizeof(fault_vert), hangs ? 0 : 2, 0, &vertex);
    make_stage(d, VK_SHADER_STAGE_FRAGMENT_BIT, fault_frag, sizeof(fault_frag), is("wild-fragment"), WILD,
               &fragment);
    stages[0] = vertex.info;
    stages[1] = fragment.info;
    info.stageCount = 2;
    info.pStages = stages;
    info.pVertexInputState = &input;
    info.pInputAssemblyState = &assembly;
    info.pTessellationState = NULL;
    raster = *like->pRasterizationState;
    raster.rasterizerDiscardEnable = VK_FALSE;
    raster.cullMode = VK_CULL_MODE_NONE;
    raster.polygonMode = VK_POLYGON_MODE_FILL;
    info.pRasterizationState = &raster;
    if (like->pDepthStencilState) {
        depth = *like->pDepthStencilState;
        depth.depthTestEnable = depth.stencilTestEnable = depth.depthBoundsTestEnable = VK_FALSE;
        info.pDepthStencilState = &depth;
    }
    if (like->pColorBlendState && like->pColorBlendState->attachmentCount <= 16) {
        blend = *like->pColorBlendState;
        for (uint32_t i = 0; blend.pAttachments && i < blend.attachmentCount; i++)
            targets[i] = (VkPipelineColorBlendAttachmentState){.colorWriteMask = 15};
        blend.pAttachments = blend.pAttachments ? targets : NULL;
        info.pColorBlendState = &blend;
    }
    if (d->CreateGraphicsPipelines(d->handle, VK_NULL_HANDLE, 1, &info, NULL, &twin))
        return;
    pthread_mutex_lock(&lock);
    twins[num_twins].pipeline = pipeline;
    twins[num_twins++].twin = twin;
    pthread_mutex_unlock(&lock);
}

static VKAPI_ATTR VkResult VKAPI_CALL hook_CreateGraphicsPipelines(VkDevice device, VkPipelineCache cache,
                                                                   uint32_t n,
                                                                   const VkGraphicsPipelineCreateInfo *infos,
                                                                   const VkAllocationCallbacks *allocator,
                                                                   VkPipeline *out)
{
    struct device *d = device_of(device);
    VkResult r = d->CreateGraphicsPipelines(device, cache, n, infos, allocator, out);

    for (uint32_t i = 0; i < n && r == VK_SUCCESS && is_draw(); i++)
        add_twin(d, &infos[i], out[i]);
    return r;
}

/* A buffer with an address; with `mapped` the host sees it. */
static VkBuffer make_buffer(struct device *d, VkDeviceSize size, VkBufferUsageFlags usage,
                            VkDeviceMemory *memory, void **mapped)
{
    VkMemoryAllocateFlagsInfo flags = {.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_FLAGS_INFO,
                                       .flags = VK_MEMORY_ALLOCATE_DEVICE_ADDRESS_BIT};
    VkBufferCreateInfo info = {.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO, .size = size, .usage = usage};
    VkMemoryAllocateInfo allocate = {.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
                                     .pNext = mapped ? NULL : &flags};
    VkMemoryRequirements need;
    VkBuffer b = VK_NULL_HANDLE;

    d->CreateBuffer(d->handle, &info, NULL, &b);
    d->GetBufferMemoryRequirements(d->handle, b, &need);
    allocate.allocationSize = need.size;
    d->AllocateMemory(d->handle, &allocate, NULL, memory);
    d->BindBufferMemory(d->handle, b, *memory, 0);
    if (mapped)
        d->MapMemory(d->handle, *memory, 0, VK_WHOLE_SIZE, 0, mapped);
    return b;
}

/* A set that names a buffer which is gone. */
static VkDescriptorSet make_late_set(struct device *d, VkDescriptorSetLayout *layout)
{
    VkDescriptorSetLayoutBinding binding = {0, VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, 1, VK_SHADER_STAGE_ALL,
                                            NULL};
    VkDescriptorSetLayoutCreateInfo info = {.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO,
                                            .bindingCount = 1,
                                            .pBindings = &binding};
    VkDescriptorPoolSize size = {VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, 1};
    VkDescriptorPoolCreateInfo pool = {.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO,
                                       .maxSets = 1,
                                       .poolSizeCount = 1,
                                       .pPoolSizes = &size};
    VkDescriptorSetAllocateInfo allocate = {.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO,
                                            .descriptorSetCount = 1,
                                            .pSetLayouts = layout};
    VkDescriptorBufferInfo buffer = {.range = VK_WHOLE_SIZE};
    VkWriteDescriptorSet write = {.sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET,
                                  .descriptorCount = 1,
                                  .descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER,
                                  .pBufferInfo = &buffer};
    VkDeviceMemory memory;

    d->CreateDescriptorSetLayout(d->handle, &info, NULL, layout);
    d->CreateDescriptorPool(d->handle, &pool, NULL, &allocate.descriptorPool);
    d->AllocateDescriptorSets(d->handle, &allocate, &write.dstSet);
    buffer.buffer = make_buffer(d, SMALL, VK_BUFFER_USAGE_STORAGE_BUFFER_BIT, &memory, NULL);
    d->UpdateDescriptorSets(d->handle, 1, &write, 0, NULL);
    d->DestroyBuffer(d->handle, buffer.buffer, NULL);
    d->FreeMemory(d->handle, memory, NULL);
    return write.dstSet;
}

/* `*set`: what is to be bound, with `*with`; or none. */
static VkPipeline make_compute(struct device *d, VkDescriptorSet *set, VkPipelineLayout *with)
{
    VkDescriptorSetLayout set_layout;
    VkPipelineLayoutCreateInfo layout = {.sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO};
    VkComputePipelineCreateInfo info = {.sType = VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO};
    VkBufferDeviceAddressInfo address = {.sType = VK_STRUCTURE_TYPE_BUFFER_DEVICE_ADDRESS_INFO};
    VkPipeline pipeline = VK_NULL_HANDLE;
    uint64_t at = WILD;
    VkDeviceMemory memory;
    struct stage s;

    *set = VK_NULL_HANDLE;
    if (!is("loop-compute") && !d->addresses)
        return VK_NULL_HANDLE;
    if (is("over")) {
        address.buffer = make_buffer(
            d, SMALL, VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT, &memory,
            NULL);
        at = d->GetBufferDeviceAddress(d->handle, &address) + SMALL;
    }
    if (is("late-set")) {
        *set = make_late_set(d, &set_layout);
        layout.setLayoutCount = 1;
        layout.pSetLayouts = &set_layout;
    }
    if (is("freed")) {
        address.buffer = make_buffer(
            d, FREED, VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT, &memory,
            NULL);
        at = d->GetBufferDeviceAddress(d->handle, &address);
        d->DestroyBuffer(d->handle, address.buffer, NULL);
        d->FreeMemory(d->handle, memory, NULL);
        /* Nothing of the program's comes there before the shader does. */
        mmap((void *)(uintptr_t)at, FREED, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1,
             0);
    }
    make_stage(d, VK_SHADER_STAGE_COMPUTE_BIT, *set ? late_comp : fault_comp,
               *set ? sizeof(late_comp) : sizeof(fault_comp), !is("loop-compute"), at, &s);
    info.stage = s.info;
    d->CreatePipelineLayout(d->handle, &layout, NULL, &info.layout);
    *with = info.layout;
    d->CreateComputePipelines(d->handle, VK_NULL_HANDLE, 1, &info, NULL, &pipeline);
    return pipeline;
}

/* ---- command buffers ----------------------------------------------------- */

/* With the lock held. */
static VkPipeline *bound_in(VkCommandBuffer cb, VkPipelineBindPoint point)
{
    unsigned i = (unsigned)((uintptr_t)cb >> 4) % BUFFERS;

    while (buffers[i].handle && buffers[i].handle != cb)
        i = (i + 1) % BUFFERS;
    buffers[i].handle = cb;
    return &buffers[i].bound[point == VK_PIPELINE_BIND_POINT_COMPUTE];
}

static VKAPI_ATTR void VKAPI_CALL hook_CmdBindPipeline(VkCommandBuffer cb, VkPipelineBindPoint point,
                                                       VkPipeline pipeline)
{
    pthread_mutex_lock(&lock);
    *bound_in(cb, point) = pipeline;
    pthread_mutex_unlock(&lock);
    device_of(cb)->CmdBindPipeline(cb, point, pipeline);
}

/* Draws wrongly in place of the program's draw, if it is this one. */
static bool draws_wrongly(struct device *d, VkCommandBuffer cb)
{
    VkPipeline bound, twin = VK_NULL_HANDLE;

    if (!is_draw() || !is_due())
        return false;
    pthread_mutex_lock(&lock);
    bound = *bound_in(cb, VK_PIPELINE_BIND_POINT_GRAPHICS);
    for (unsigned i = 0; i < num_twins && bound; i++)
        if (twins[i].pipeline == bound)
            twin = twins[i].twin;
    pthread_mutex_unlock(&lock);
    if (!twin)
        return false;
    d->CmdBindPipeline(cb, VK_PIPELINE_BIND_POINT_GRAPHICS, twin);
    if (is("indirect")) {
        VkDrawIndirectCommand *args;
        VkDeviceMemory memory;
        VkBuffer b = make_buffer(d, 4096, VK_BUFFER_USAGE_INDIRECT_BUFFER_BIT, &memory, (void **)&args);

        *args = (VkDrawIndirectCommand){HANG_VERTICES, 1, 0, 0};
        d->CmdDrawIndirect(cb, b, 0, 1, sizeof(*args));
    } else if (is("indirect-over")) {
        VkDeviceMemory memory;
        VkBuffer b = make_buffer(d, SMALL, VK_BUFFER_USAGE_INDIRECT_BUFFER_BIT, &memory, NULL);

        d->CmdDrawIndirect(cb, b, SMALL, 1, sizeof(VkDrawIndirectCommand));
    } else {
        d->CmdDraw(cb, is("loop-vertex") ? HANG_VERTICES : 3, 1, 0, 0);
    }
    d->CmdBindPipeline(cb, VK_PIPELINE_BIND_POINT_GRAPHICS, bound);
    done((uint64_t)twin);
    return true;
}

static VKAPI_ATTR void VKAPI_CALL hook_CmdDraw(VkCommandBuffer cb, uint32_t n, uint32_t instances,
                                               uint32_t first, uint32_t first_instance)
{
    struct device *d = device_of(cb);

    if (!draws_wrongly(d, cb))
        d->CmdDraw(cb, n, instances, first, first_instance);
}

static VKAPI_ATTR void VKAPI_CALL hook_CmdDrawIndexed(VkCommandBuffer cb, uint32_t n, uint32_t instances,
                                                      uint32_t first, int32_t base, uint32_t first_instance)
{
    struct device *d = device_of(cb);

    if (!draws_wrongly(d, cb))
        d->CmdDrawIndexed(cb, n, instances, first, base, first_instance);
}

static VKAPI_ATTR void VKAPI_CALL hook_CmdDrawMultiEXT(VkCommandBuffer cb, uint32_t n,
                                                       const VkMultiDrawInfoEXT *draws, uint32_t instances,
                                                       uint32_t first, uint32_t stride)
{
    struct device *d = device_of(cb);

    if (!draws_wrongly(d, cb))
        d->CmdDrawMultiEXT(cb, n, draws, instances, first, stride);
}

static VKAPI_ATTR void VKAPI_CALL hook_CmdDrawMultiIndexedEXT(VkCommandBuffer cb, uint32_t n,
                                                              const VkMultiDrawIndexedInfoEXT *draws,
                                                              uint32_t instances, uint32_t first,
                                                              uint32_t stride, const int32_t *offset)
{
    struct device *d = device_of(cb);

    if (!draws_wrongly(d, cb))
        d->CmdDrawMultiIndexedEXT(cb, n, draws, instances, first, stride, offset);
}

static VKAPI_ATTR void VKAPI_CALL hook_CmdDispatch(VkCommandBuffer cb, uint32_t x, uint32_t y, uint32_t z)
{
    struct device *d = device_of(cb);
    VkDescriptorSet set;
    VkPipelineLayout layout;
    VkPipeline bound, wrong = is_dispatch() && is_due() ? make_compute(d, &set, &layout) : VK_NULL_HANDLE;

    if (!wrong) {
        d->CmdDispatch(cb, x, y, z);
        return;
    }
    pthread_mutex_lock(&lock);
    bound = *bound_in(cb, VK_PIPELINE_BIND_POINT_COMPUTE);
    pthread_mutex_unlock(&lock);
    d->CmdBindPipeline(cb, VK_PIPELINE_BIND_POINT_COMPUTE, wrong);
    if (set)
        d->CmdBindDescriptorSets(cb, VK_PIPELINE_BIND_POINT_COMPUTE, layout, 0, 1, &set, 0, NULL);
    d->CmdDispatch(cb, is("loop-compute") ? 65535 : 1, 1, 1);
    if (bound)
        d->CmdBindPipeline(cb, VK_PIPELINE_BIND_POINT_COMPUTE, bound);
    done((uint64_t)wrong);
}

/* ---- submissions --------------------------------------------------------- */

/* With `late` the next submission signals it. */
static void wait_for_nobody(struct device *d, VkQueue queue, bool late)
{
    VkSemaphoreCreateInfo info = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO};
    VkPipelineStageFlags stage = VK_PIPELINE_STAGE_ALL_COMMANDS_BIT;
    VkSemaphore semaphore = VK_NULL_HANDLE;
    VkSubmitInfo submit = {.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
                           .waitSemaphoreCount = 1,
                           .pWaitSemaphores = &semaphore,
                           .pWaitDstStageMask = &stage};

    d->CreateSemaphore(d->handle, &info, NULL, &semaphore);
    done((uint64_t)semaphore);
    d->QueueSubmit(queue, 1, &submit, VK_NULL_HANDLE);
    submit = (VkSubmitInfo){
        .sType = VK_STRUCTURE_TYPE_SUBMIT_INFO, .signalSemaphoreCount = 1, .pSignalSemaphores = &semaphore};
    if (late)
        d->QueueSubmit(queue, 1, &submit, VK_NULL_HANDLE);
}

/* More than there is, until somebody says so. */
static void take_all_memory(struct device *d)
{
    VkMemoryAllocateInfo info = {.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
                                 .allocationSize = UINT64_C(1) << 46};
    VkDeviceMemory memory;

    while (d->AllocateMemory(d->handle, &info, NULL, &memory) >= 0)
        continue;
    abort();
}

static void submit_wrongly(VkQueue queue)
{
    bool waits = is("dead-wait") || is("order");
    bool mine = waits || is("abort") || is("kill") || is("segv") || is("oom");
    bool due = mine && is_due();

    atomic_fetch_add(&submissions, 1);
    if (!due)
        return;
    if (waits) {
        wait_for_nobody(device_of(queue), queue, is("order"));
        return;
    }
    done(0);
    if (is("oom"))
        take_all_memory(device_of(queue));
    if (is("abort"))
        abort();
    if (is("kill"))
        kill(getpid(), SIGKILL);
    *(volatile int *)(uintptr_t)(WILD >> plan.frame % 2) =
        1; /* as one that the compiler does not see through */
}

static VKAPI_ATTR VkResult VKAPI_CALL hook_QueueSubmit(VkQueue queue, uint32_t n, const VkSubmitInfo *infos,
                                                       VkFence fence)
{
    submit_wrongly(queue);
    return device_of(queue)->QueueSubmit(queue, n, infos, fence);
}

static VKAPI_ATTR VkResult VKAPI_CALL hook_QueueSubmit2(VkQueue queue, uint32_t n, const VkSubmitInfo2 *infos,
                                                        VkFence fence)
{
    submit_wrongly(queue);
    return device_of(queue)->QueueSubmit2(queue, n, infos, fence);
}

/* ---- the layer ----------------------------------------------------------- */

static bool has_addresses(VkPhysicalDevice physical)
{
    PFN_vkGetPhysicalDeviceFeatures2 features =
        (PFN_vkGetPhysicalDeviceFeatures2)next_instance(instance, "vkGetPhysicalDeviceFeatures2");
    VkPhysicalDeviceBufferDeviceAddressFeatures f = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_BUFFER_DEVICE_ADDRESS_FEATURES};
    VkPhysicalDeviceFeatures2 all = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2, .pNext = &f};

    if (features)
        features(physical, &all);
    return f.bufferDeviceAddress;
}

static VKAPI_ATTR VkResult VKAPI_CALL hook_CreateDevice(VkPhysicalDevice physical,
                                                        const VkDeviceCreateInfo *info,
                                                        const VkAllocationCallbacks *allocator, VkDevice *out)
{
    VkPhysicalDeviceBufferDeviceAddressFeatures mine = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_BUFFER_DEVICE_ADDRESS_FEATURES,
        .pNext = (void *)(uintptr_t)info->pNext,
        .bufferDeviceAddress = VK_TRUE};
    VkDeviceCreateInfo with = *info;
    VkLayerDeviceCreateInfo *link = NULL;
    bool addresses = has_addresses(physical), said = false;
    struct device *d = &devices[num_devices];
    PFN_vkCreateDevice create;
    VkResult r;

    for (const VkBaseInStructure *i = info->pNext; i; i = i->pNext) {
        const VkLayerDeviceCreateInfo *l = (const void *)i;

        if (i->sType == VK_STRUCTURE_TYPE_LOADER_DEVICE_CREATE_INFO && l->function == VK_LAYER_LINK_INFO)
            link = (VkLayerDeviceCreateInfo *)(uintptr_t)l;
        if (i->sType == VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES) {
            if (addresses)
                ((VkPhysicalDeviceVulkan12Features *)(uintptr_t)i)->bufferDeviceAddress = VK_TRUE;
            said = true;
        }
        if (i->sType == mine.sType) {
            if (addresses)
                ((VkPhysicalDeviceBufferDeviceAddressFeatures *)(uintptr_t)i)->bufferDeviceAddress = VK_TRUE;
            said = true;
        }
    }
    if (addresses && !said)
        with.pNext = &mine;
    if (!link || num_devices == DEVICES)
        return VK_ERROR_INITIALIZATION_FAILED;
    d->get = link->u.pLayerInfo->pfnNextGetDeviceProcAddr;
    create = (PFN_vkCreateDevice)link->u.pLayerInfo->pfnNextGetInstanceProcAddr(instance, "vkCreateDevice");
    link->u.pLayerInfo = link->u.pLayerInfo->pNext;
    r = create(physical, &with, allocator, out);
    if (r != VK_SUCCESS)
        return r;
    d->key = *(void **)*out;
    d->handle = *out;
#define ROW(name) d->name = (PFN_vk##name)d->get(*out, "vk" #name);
    DEVICE_FUNCTIONS(ROW)
#undef ROW
    if (!d->QueueSubmit2)
        d->QueueSubmit2 = (PFN_vkQueueSubmit2)d->get(*out, "vkQueueSubmit2KHR");
    d->addresses = addresses && d->GetBufferDeviceAddress; /* of 1.2, or none */
    num_devices++;
    return r;
}

static VKAPI_ATTR VkResult VKAPI_CALL hook_CreateInstance(const VkInstanceCreateInfo *info,
                                                          const VkAllocationCallbacks *allocator,
                                                          VkInstance *out)
{
    VkLayerInstanceCreateInfo *link = (VkLayerInstanceCreateInfo *)(uintptr_t)info->pNext;
    const char *text = getenv("AEROGPU_TEST_FAULT");
    PFN_vkCreateInstance create;
    VkResult r;

    while (link && !(link->sType == VK_STRUCTURE_TYPE_LOADER_INSTANCE_CREATE_INFO &&
                     link->function == VK_LAYER_LINK_INFO))
        link = (VkLayerInstanceCreateInfo *)(uintptr_t)link->pNext;
    if (!link || !text || sscanf(text, "%23[^:]:%u:%u", plan.kind, &plan.frame, &plan.n) != 3)
        return VK_ERROR_INITIALIZATION_FAILED;
    next_instance = link->u.pLayerInfo->pfnNextGetInstanceProcAddr;
    create = (PFN_vkCreateInstance)next_instance(VK_NULL_HANDLE, "vkCreateInstance");
    link->u.pLayerInfo = link->u.pLayerInfo->pNext;
    r = create(info, allocator, out);
    instance = r == VK_SUCCESS ? *out : instance;
    return r;
}

static PFN_vkVoidFunction find(const char *name);

static VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL get_device_proc(VkDevice device, const char *name)
{
    PFN_vkVoidFunction next = device_of(device)->get(device, name), mine = next ? find(name) : NULL;

    return mine ? mine : next;
}

static VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL get_instance_proc(VkInstance i, const char *name)
{
    PFN_vkVoidFunction mine = find(name);

    return mine ? mine : next_instance ? next_instance(i, name) : NULL;
}

static PFN_vkVoidFunction find(const char *name)
{
    static const struct {
        const char *name;
        PFN_vkVoidFunction fn;
    } hooks[] = {
        {"vkGetInstanceProcAddr", (PFN_vkVoidFunction)get_instance_proc},
        {"vkGetDeviceProcAddr", (PFN_vkVoidFunction)get_device_proc},
        {"vkCreateInstance", (PFN_vkVoidFunction)hook_CreateInstance},
        {"vkCreateDevice", (PFN_vkVoidFunction)hook_CreateDevice},
        {"vkCreateGraphicsPipelines", (PFN_vkVoidFunction)hook_CreateGraphicsPipelines},
        {"vkCmdBindPipeline", (PFN_vkVoidFunction)hook_CmdBindPipeline},
        {"vkCmdDraw", (PFN_vkVoidFunction)hook_CmdDraw},
        {"vkCmdDrawIndexed", (PFN_vkVoidFunction)hook_CmdDrawIndexed},
        {"vkCmdDrawMultiEXT", (PFN_vkVoidFunction)hook_CmdDrawMultiEXT},
        {"vkCmdDrawMultiIndexedEXT", (PFN_vkVoidFunction)hook_CmdDrawMultiIndexedEXT},
        {"vkCmdDispatch", (PFN_vkVoidFunction)hook_CmdDispatch},
        {"vkQueueSubmit", (PFN_vkVoidFunction)hook_QueueSubmit},
        {"vkQueueSubmit2", (PFN_vkVoidFunction)hook_QueueSubmit2},
        {"vkQueueSubmit2KHR", (PFN_vkVoidFunction)hook_QueueSubmit2},
    };

    for (size_t i = 0; i < sizeof(hooks) / sizeof(hooks[0]); i++)
        if (!strcmp(hooks[i].name, name))
            return hooks[i].fn;
    return NULL;
}

EXPORT VKAPI_ATTR VkResult VKAPI_CALL vkNegotiateLoaderLayerInterfaceVersion(VkNegotiateLayerInterface *n)
{
    n->loaderLayerInterfaceVersion = 2;
    n->pfnGetInstanceProcAddr = get_instance_proc;
    n->pfnGetDeviceProcAddr = get_device_proc;
    n->pfnGetPhysicalDeviceProcAddr = NULL;
    return VK_SUCCESS;
}
