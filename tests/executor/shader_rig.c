/* SPDX-License-Identifier: MIT */
#include "shader_rig.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <vulkan/vulkan.h>

#define MAX_THINGS 64

struct rig {
    VkInstance instance;
    VkPhysicalDevice gpu;
    VkDevice device;
    VkQueue queue;
    VkCommandPool pool;
};

/* Everything that one run makes, taken apart at its end. */
struct run {
    struct rig *r;
    VkBuffer buffers[MAX_THINGS];
    VkDeviceMemory memory[MAX_THINGS];
    VkImage images[8];
    VkImageView views[8];
    VkBufferView texel_views[16];
    VkShaderModule modules[EXEC_STAGE_COUNT];
    VkDescriptorSetLayout set_layouts[EXEC_STAGE_COUNT];
    uint32_t buffer_count, memory_count, image_count, texel_view_count;
    VkDescriptorPool descriptor_pool;
    VkDescriptorSet sets[EXEC_STAGE_COUNT];
    VkPipelineLayout layout;
    VkPipeline pipeline;
    VkRenderPass pass;
    VkFramebuffer framebuffer;
    VkSampler sampler;
    VkImageView texture;
    VkCommandBuffer cmd;
};

struct rig *rig_create(void)
{
    VkApplicationInfo app = {.sType = VK_STRUCTURE_TYPE_APPLICATION_INFO, .apiVersion = VK_API_VERSION_1_1};
    VkInstanceCreateInfo ici = {.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO, .pApplicationInfo = &app};
    float priority = 1;
    VkDeviceQueueCreateInfo qci = {
        .sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO, .queueCount = 1, .pQueuePriorities = &priority};
    VkPhysicalDeviceFeatures features;
    VkDeviceCreateInfo dci = {.sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO,
                              .queueCreateInfoCount = 1,
                              .pQueueCreateInfos = &qci,
                              .pEnabledFeatures = &features};
    VkCommandPoolCreateInfo pci = {.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO};
    struct rig *r = calloc(1, sizeof(*r));
    uint32_t one = 1;

    if (!r)
        return NULL;
    if (vkCreateInstance(&ici, NULL, &r->instance) != VK_SUCCESS)
        goto failed;
    if (vkEnumeratePhysicalDevices(r->instance, &one, &r->gpu) < 0 || !one)
        goto failed;
    vkGetPhysicalDeviceFeatures(r->gpu, &features);
    if (vkCreateDevice(r->gpu, &dci, NULL, &r->device) != VK_SUCCESS)
        goto failed;
    vkGetDeviceQueue(r->device, 0, 0, &r->queue);
    if (vkCreateCommandPool(r->device, &pci, NULL, &r->pool) != VK_SUCCESS)
        goto failed;
    return r;
failed:
    rig_destroy(r);
    return NULL;
}

void rig_destroy(struct rig *r)
{
    if (!r)
        return;
    if (r->device) {
        vkDestroyCommandPool(r->device, r->pool, NULL);
        vkDestroyDevice(r->device, NULL);
    }
    if (r->instance)
        vkDestroyInstance(r->instance, NULL);
    free(r);
}

static void finish(struct run *u)
{
    VkDevice d = u->r->device;

    vkDestroyPipeline(d, u->pipeline, NULL);
    vkDestroyPipelineLayout(d, u->layout, NULL);
    vkDestroyDescriptorPool(d, u->descriptor_pool, NULL);
    vkDestroyFramebuffer(d, u->framebuffer, NULL);
    vkDestroyRenderPass(d, u->pass, NULL);
    vkDestroySampler(d, u->sampler, NULL);
    for (int i = 0; i < EXEC_STAGE_COUNT; i++) {
        vkDestroyShaderModule(d, u->modules[i], NULL);
        vkDestroyDescriptorSetLayout(d, u->set_layouts[i], NULL);
    }
    for (uint32_t i = 0; i < u->texel_view_count; i++)
        vkDestroyBufferView(d, u->texel_views[i], NULL);
    for (uint32_t i = 0; i < u->image_count; i++) {
        vkDestroyImageView(d, u->views[i], NULL);
        vkDestroyImage(d, u->images[i], NULL);
    }
    for (uint32_t i = 0; i < u->buffer_count; i++)
        vkDestroyBuffer(d, u->buffers[i], NULL);
    for (uint32_t i = 0; i < u->memory_count; i++)
        vkFreeMemory(d, u->memory[i], NULL);
    vkFreeCommandBuffers(d, u->r->pool, 1, &u->cmd);
}

/* Memory that the host sees; lavapipe has no other. */
static VkDeviceMemory allocate(struct run *u, const VkMemoryRequirements *q)
{
    VkMemoryAllocateInfo ai = {.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO, .allocationSize = q->size};
    VkMemoryPropertyFlags want = VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;
    VkPhysicalDeviceMemoryProperties p;
    VkDeviceMemory m = VK_NULL_HANDLE;

    vkGetPhysicalDeviceMemoryProperties(u->r->gpu, &p);
    while (ai.memoryTypeIndex < p.memoryTypeCount &&
           (!(q->memoryTypeBits >> ai.memoryTypeIndex & 1) ||
            (p.memoryTypes[ai.memoryTypeIndex].propertyFlags & want) != want))
        ai.memoryTypeIndex++;
    if (ai.memoryTypeIndex < p.memoryTypeCount && vkAllocateMemory(u->r->device, &ai, NULL, &m) == VK_SUCCESS)
        u->memory[u->memory_count++] = m;
    return m;
}

static VkBuffer make_buffer(struct run *u, size_t size, const void *data, void **map)
{
    VkBufferCreateInfo ci = {.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
                             .size = size ? size : 16,
                             .usage = VK_BUFFER_USAGE_VERTEX_BUFFER_BIT | VK_BUFFER_USAGE_UNIFORM_BUFFER_BIT |
                                      VK_BUFFER_USAGE_TRANSFER_SRC_BIT | VK_BUFFER_USAGE_TRANSFER_DST_BIT |
                                      VK_BUFFER_USAGE_UNIFORM_TEXEL_BUFFER_BIT |
                                      VK_BUFFER_USAGE_STORAGE_TEXEL_BUFFER_BIT};
    VkMemoryRequirements q;
    VkDeviceMemory m;
    VkBuffer b;
    void *p;

    if (vkCreateBuffer(u->r->device, &ci, NULL, &b) != VK_SUCCESS)
        abort();
    u->buffers[u->buffer_count++] = b;
    vkGetBufferMemoryRequirements(u->r->device, b, &q);
    m = allocate(u, &q);
    vkBindBufferMemory(u->r->device, b, m, 0);
    vkMapMemory(u->r->device, m, 0, VK_WHOLE_SIZE, 0, &p);
    memset(p, 0, size);
    if (data)
        memcpy(p, data, size);
    if (map)
        *map = p;
    return b;
}

static VkImageView make_image(struct run *u, uint32_t size, uint32_t levels, VkImageUsageFlags usage,
                              VkImage *out)
{
    VkImageCreateInfo ci = {.sType = VK_STRUCTURE_TYPE_IMAGE_CREATE_INFO,
                            .imageType = VK_IMAGE_TYPE_2D,
                            .format = VK_FORMAT_R32G32B32A32_SFLOAT,
                            .extent = {size, size, 1},
                            .mipLevels = levels,
                            .arrayLayers = 1,
                            .samples = VK_SAMPLE_COUNT_1_BIT,
                            .usage = usage};
    VkImageViewCreateInfo vi = {.sType = VK_STRUCTURE_TYPE_IMAGE_VIEW_CREATE_INFO,
                                .viewType = VK_IMAGE_VIEW_TYPE_2D,
                                .format = ci.format,
                                .subresourceRange = {VK_IMAGE_ASPECT_COLOR_BIT, 0, levels, 0, 1}};
    VkMemoryRequirements q;
    uint32_t n = u->image_count++;

    if (vkCreateImage(u->r->device, &ci, NULL, &u->images[n]) != VK_SUCCESS)
        abort();
    vkGetImageMemoryRequirements(u->r->device, u->images[n], &q);
    vkBindImageMemory(u->r->device, u->images[n], allocate(u, &q), 0);
    vi.image = *out = u->images[n];
    if (vkCreateImageView(u->r->device, &vi, NULL, &u->views[n]) != VK_SUCCESS)
        abort();
    return u->views[n];
}

static void barrier(struct run *u, VkImage image, uint32_t levels, VkImageLayout from, VkImageLayout to)
{
    VkImageMemoryBarrier b = {.sType = VK_STRUCTURE_TYPE_IMAGE_MEMORY_BARRIER,
                              .srcAccessMask = VK_ACCESS_MEMORY_WRITE_BIT,
                              .dstAccessMask = VK_ACCESS_MEMORY_READ_BIT | VK_ACCESS_MEMORY_WRITE_BIT,
                              .oldLayout = from,
                              .newLayout = to,
                              .image = image,
                              .subresourceRange = {VK_IMAGE_ASPECT_COLOR_BIT, 0, levels, 0, 1}};

    vkCmdPipelineBarrier(u->cmd, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT, 0, 0,
                         NULL, 0, NULL, 1, &b);
}

static void make_texture(struct run *u)
{
    float texels[16 + 4 + 1][4];
    VkBufferImageCopy copies[3];
    VkSamplerCreateInfo si = {.sType = VK_STRUCTURE_TYPE_SAMPLER_CREATE_INFO, .maxLod = 16};
    VkBuffer staging;
    VkImage image;
    uint32_t n = 0;

    for (uint32_t l = 0; l < 3; l++) {
        uint32_t size = 4u >> l;
        copies[l] = (VkBufferImageCopy){.bufferOffset = n * sizeof(texels[0]),
                                        .imageSubresource = {VK_IMAGE_ASPECT_COLOR_BIT, l, 0, 1},
                                        .imageExtent = {size, size, 1}};
        for (uint32_t k = 0; k < size * size; k++, n++) {
            texels[n][0] = (float)(k % size) / 4;
            texels[n][1] = (float)(k / size) / 4;
            texels[n][2] = (float)l;
            texels[n][3] = 1;
        }
    }
    staging = make_buffer(u, sizeof(texels), texels, NULL);
    u->texture = make_image(u, 4, 3, VK_IMAGE_USAGE_SAMPLED_BIT | VK_IMAGE_USAGE_TRANSFER_DST_BIT, &image);
    barrier(u, image, 3, VK_IMAGE_LAYOUT_UNDEFINED, VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL);
    vkCmdCopyBufferToImage(u->cmd, staging, image, VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL, 3, copies);
    barrier(u, image, 3, VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL, VK_IMAGE_LAYOUT_SHADER_READ_ONLY_OPTIMAL);
    if (vkCreateSampler(u->r->device, &si, NULL, &u->sampler) != VK_SUCCESS)
        abort();
}

static void begin(struct run *u)
{
    VkCommandBufferAllocateInfo ai = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
                                      .commandPool = u->r->pool,
                                      .commandBufferCount = 1};
    VkCommandBufferBeginInfo bi = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
    VkDescriptorPoolSize sizes[8];
    VkDescriptorPoolCreateInfo pi = {.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO,
                                     .maxSets = 8,
                                     .poolSizeCount = 7,
                                     .pPoolSizes = sizes};

    for (uint32_t k = 0; k < 7; k++)
        sizes[k] = (VkDescriptorPoolSize){(VkDescriptorType)k, 32};
    if (vkAllocateCommandBuffers(u->r->device, &ai, &u->cmd) != VK_SUCCESS ||
        vkCreateDescriptorPool(u->r->device, &pi, NULL, &u->descriptor_pool) != VK_SUCCESS)
        abort();
    vkBeginCommandBuffer(u->cmd, &bi);
}

static void submit(struct run *u)
{
    VkSubmitInfo si = {
        .sType = VK_STRUCTURE_TYPE_SUBMIT_INFO, .commandBufferCount = 1, .pCommandBuffers = &u->cmd};

    vkEndCommandBuffer(u->cmd);
    if (vkQueueSubmit(u->r->queue, 1, &si, VK_NULL_HANDLE) != VK_SUCCESS ||
        vkQueueWaitIdle(u->r->queue) != VK_SUCCESS)
        abort();
}

static void make_set(struct run *u, const struct shader_info *info)
{
    VkDescriptorSetLayoutBinding bindings[32];
    VkDescriptorSetLayoutCreateInfo ci = {.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO,
                                          .pBindings = bindings};
    uint32_t set = info ? exec_stage_set(info->stage) : 0;

    for (uint32_t k = 0; info && k < info->descriptor_count; k++)
        bindings[ci.bindingCount++] = (VkDescriptorSetLayoutBinding){
            info->descriptors[k].binding, info->descriptors[k].vk_type, 1, VK_SHADER_STAGE_ALL, NULL};
    if (vkCreateDescriptorSetLayout(u->r->device, &ci, NULL, &u->set_layouts[set]) != VK_SUCCESS)
        abort();
}

static void make_layout(struct run *u)
{
    VkPipelineLayoutCreateInfo ci = {.sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO,
                                     .pSetLayouts = u->set_layouts};
    VkDescriptorSetAllocateInfo ai = {.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO,
                                      .descriptorPool = u->descriptor_pool,
                                      .descriptorSetCount = 5,
                                      .pSetLayouts = u->set_layouts};
    VkDescriptorSetLayoutCreateInfo empty = {.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO};

    ci.setLayoutCount = 5;
    for (uint32_t k = 0; k < 5; k++)
        if (!u->set_layouts[k])
            vkCreateDescriptorSetLayout(u->r->device, &empty, NULL, &u->set_layouts[k]);
    if (vkCreatePipelineLayout(u->r->device, &ci, NULL, &u->layout) != VK_SUCCESS ||
        vkAllocateDescriptorSets(u->r->device, &ai, u->sets) != VK_SUCCESS)
        abort();
}

static void write_buffer(struct run *u, const struct shader_info *info, const struct shader_descriptor *d,
                         VkBuffer buffer)
{
    VkDescriptorBufferInfo bi = {buffer, 0, VK_WHOLE_SIZE};
    VkWriteDescriptorSet w = {.sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET,
                              .dstSet = u->sets[exec_stage_set(info->stage)],
                              .dstBinding = d->binding,
                              .descriptorCount = 1,
                              .descriptorType = d->vk_type,
                              .pBufferInfo = &bi};

    if (d->vk_type == VK_DESCRIPTOR_TYPE_UNIFORM_TEXEL_BUFFER ||
        d->vk_type == VK_DESCRIPTOR_TYPE_STORAGE_TEXEL_BUFFER) {
        VkBufferViewCreateInfo vi = {.sType = VK_STRUCTURE_TYPE_BUFFER_VIEW_CREATE_INFO,
                                     .buffer = buffer,
                                     .format = VK_FORMAT_R32_UINT,
                                     .range = VK_WHOLE_SIZE};
        if (vkCreateBufferView(u->r->device, &vi, NULL, &u->texel_views[u->texel_view_count]) != VK_SUCCESS)
            abort();
        w.pTexelBufferView = &u->texel_views[u->texel_view_count++];
    }
    vkUpdateDescriptorSets(u->r->device, 1, &w, 0, NULL);
}

static void write_image(struct run *u, const struct shader_info *info, const struct shader_descriptor *d)
{
    VkDescriptorImageInfo ii = {u->sampler, u->texture, VK_IMAGE_LAYOUT_SHADER_READ_ONLY_OPTIMAL};
    VkWriteDescriptorSet w = {.sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET,
                              .dstSet = u->sets[exec_stage_set(info->stage)],
                              .dstBinding = d->binding,
                              .descriptorCount = 1,
                              .descriptorType = d->vk_type,
                              .pImageInfo = &ii};

    vkUpdateDescriptorSets(u->r->device, 1, &w, 0, NULL);
}

/* The uniform block of a Direct3D 9 shader, as shader.h lays it out. */
static VkBuffer make_block(struct run *u, const struct rig_draw *d, const struct shader_info *info)
{
    const struct shader_d3d9_constants *k = &info->d3d9;
    int s = info->stage == EXEC_PS;
    uint8_t *map;
    VkBuffer b = make_buffer(u, k->size, NULL, (void **)&map);

    memcpy(map, d->c[s], 16 * (size_t)k->count_f);
    memcpy(map + k->offset_i, d->i[s], 16 * (size_t)k->count_i);
    for (uint32_t n = 0; n < k->count_b; n++)
        memcpy(map + k->offset_b + 16 * n, &d->b[s][n], 4);
    memcpy(map + k->offset_params, &d->params[s], sizeof(d->params[s]));
    return b;
}

static void fill_sets(struct run *u, const struct rig_draw *d)
{
    for (int s = 0; s < EXEC_STAGE_COUNT; s++) {
        const struct shader_info *info = d->stages[s] ? shader_info(d->stages[s]) : NULL;
        for (uint32_t n = 0; info && n < info->descriptor_count; n++) {
            const struct shader_descriptor *x = &info->descriptors[n];
            if (x->kind == SHADER_D3D9_BLOCK)
                write_buffer(u, info, x, make_block(u, d, info));
            else if (x->kind == SHADER_CBV)
                write_buffer(u, info, x,
                             make_buffer(u, d->buffer_sizes[x->index], d->buffers[x->index], NULL));
            else
                write_image(u, info, x);
        }
    }
}

static void make_pass(struct run *u, VkImageView *targets)
{
    VkAttachmentDescription a[RIG_TARGETS];
    VkAttachmentReference refs[RIG_TARGETS];
    VkSubpassDescription sub = {.colorAttachmentCount = RIG_TARGETS, .pColorAttachments = refs};
    VkRenderPassCreateInfo ci = {.sType = VK_STRUCTURE_TYPE_RENDER_PASS_CREATE_INFO,
                                 .attachmentCount = RIG_TARGETS,
                                 .pAttachments = a,
                                 .subpassCount = 1,
                                 .pSubpasses = &sub};
    VkFramebufferCreateInfo fi = {.sType = VK_STRUCTURE_TYPE_FRAMEBUFFER_CREATE_INFO,
                                  .attachmentCount = RIG_TARGETS,
                                  .pAttachments = targets,
                                  .width = RIG_SIZE,
                                  .height = RIG_SIZE,
                                  .layers = 1};

    for (uint32_t k = 0; k < RIG_TARGETS; k++) {
        a[k] = (VkAttachmentDescription){.format = VK_FORMAT_R32G32B32A32_SFLOAT,
                                         .samples = VK_SAMPLE_COUNT_1_BIT,
                                         .loadOp = VK_ATTACHMENT_LOAD_OP_CLEAR,
                                         .storeOp = VK_ATTACHMENT_STORE_OP_STORE,
                                         .finalLayout = VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL};
        refs[k] = (VkAttachmentReference){k, VK_IMAGE_LAYOUT_COLOR_ATTACHMENT_OPTIMAL};
    }
    if (vkCreateRenderPass(u->r->device, &ci, NULL, &u->pass) != VK_SUCCESS)
        abort();
    fi.renderPass = u->pass;
    if (vkCreateFramebuffer(u->r->device, &fi, NULL, &u->framebuffer) != VK_SUCCESS)
        abort();
}

static uint32_t make_stages(struct run *u, const struct shader_program *prog,
                            VkPipelineShaderStageCreateInfo *stages)
{
    uint32_t n = 0;

    for (int s = 0; s < EXEC_STAGE_COUNT; s++) {
        VkShaderModuleCreateInfo ci = {.sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO,
                                       .codeSize = prog->code[s].count * 4,
                                       .pCode = prog->code[s].words};
        if (!ci.codeSize)
            continue;
        if (vkCreateShaderModule(u->r->device, &ci, NULL, &u->modules[s]) != VK_SUCCESS)
            abort();
        stages[n++] =
            (VkPipelineShaderStageCreateInfo){.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
                                              .stage = exec_stage_vk((enum exec_stage)s),
                                              .module = u->modules[s],
                                              .pName = "main"};
    }
    return n;
}

static int make_pipeline(struct run *u, const struct rig_draw *d, const struct shader_program *prog)
{
    VkPipelineShaderStageCreateInfo stages[EXEC_STAGE_COUNT];
    VkVertexInputAttributeDescription attributes[RIG_ATTRIBUTES];
    VkVertexInputBindingDescription binding = {0, d->attribute_count * 16, VK_VERTEX_INPUT_RATE_VERTEX};
    VkPipelineVertexInputStateCreateInfo vi = {.sType =
                                                   VK_STRUCTURE_TYPE_PIPELINE_VERTEX_INPUT_STATE_CREATE_INFO,
                                               .vertexBindingDescriptionCount = d->attribute_count ? 1 : 0,
                                               .pVertexBindingDescriptions = &binding,
                                               .vertexAttributeDescriptionCount = d->attribute_count,
                                               .pVertexAttributeDescriptions = attributes};
    VkPipelineInputAssemblyStateCreateInfo ia = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_INPUT_ASSEMBLY_STATE_CREATE_INFO, .topology = d->topology};
    VkPipelineTessellationStateCreateInfo ts = {.sType =
                                                    VK_STRUCTURE_TYPE_PIPELINE_TESSELLATION_STATE_CREATE_INFO,
                                                .patchControlPoints = d->patch_points};
    VkViewport viewport = {0, RIG_SIZE, RIG_SIZE, -RIG_SIZE, 0, 1};
    VkRect2D scissor = {{0, 0}, {RIG_SIZE, RIG_SIZE}};
    VkPipelineViewportStateCreateInfo vs = {.sType = VK_STRUCTURE_TYPE_PIPELINE_VIEWPORT_STATE_CREATE_INFO,
                                            .viewportCount = 1,
                                            .pViewports = &viewport,
                                            .scissorCount = 1,
                                            .pScissors = &scissor};
    VkPipelineRasterizationStateCreateInfo rs = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_RASTERIZATION_STATE_CREATE_INFO,
        .frontFace = VK_FRONT_FACE_CLOCKWISE,
        .lineWidth = 1};
    VkPipelineMultisampleStateCreateInfo ms = {.sType =
                                                   VK_STRUCTURE_TYPE_PIPELINE_MULTISAMPLE_STATE_CREATE_INFO,
                                               .rasterizationSamples = VK_SAMPLE_COUNT_1_BIT};
    VkPipelineColorBlendAttachmentState blend[RIG_TARGETS] = {{.colorWriteMask = 15}, {.colorWriteMask = 15}};
    VkPipelineColorBlendStateCreateInfo cb = {.sType =
                                                  VK_STRUCTURE_TYPE_PIPELINE_COLOR_BLEND_STATE_CREATE_INFO,
                                              .attachmentCount = RIG_TARGETS,
                                              .pAttachments = blend};
    VkGraphicsPipelineCreateInfo ci = {.sType = VK_STRUCTURE_TYPE_GRAPHICS_PIPELINE_CREATE_INFO,
                                       .pStages = stages,
                                       .pVertexInputState = &vi,
                                       .pInputAssemblyState = &ia,
                                       .pTessellationState = d->patch_points ? &ts : NULL,
                                       .pViewportState = &vs,
                                       .pRasterizationState = &rs,
                                       .pMultisampleState = &ms,
                                       .pColorBlendState = &cb,
                                       .layout = u->layout,
                                       .renderPass = u->pass};

    for (uint32_t k = 0; k < d->attribute_count; k++)
        attributes[k] = (VkVertexInputAttributeDescription){k, 0, VK_FORMAT_R32G32B32A32_SFLOAT, 16 * k};
    ci.stageCount = make_stages(u, prog, stages);
    return vkCreateGraphicsPipelines(u->r->device, VK_NULL_HANDLE, 1, &ci, NULL, &u->pipeline) == VK_SUCCESS
               ? 0
               : -EIO;
}

int rig_draw(struct rig *r, struct rig_draw *d, struct error *e)
{
    struct run u = {.r = r};
    struct shader_link_params lp = {.variant = d->variant};
    struct shader_program prog;
    VkImage targets[RIG_TARGETS];
    VkImageView views[RIG_TARGETS];
    VkClearValue clear[RIG_TARGETS];
    void *read[RIG_TARGETS];
    VkDeviceSize zero = 0;
    int ret;

    memcpy(lp.stages, d->stages, sizeof(lp.stages));
    ret = shader_link(&prog, &lp, e);
    if (ret)
        return ret;
    begin(&u);
    make_texture(&u);
    for (int s = 0; s < EXEC_STAGE_COUNT; s++)
        if (d->stages[s])
            make_set(&u, shader_info(d->stages[s]));
    make_layout(&u);
    fill_sets(&u, d);
    for (uint32_t k = 0; k < RIG_TARGETS; k++) {
        views[k] =
            make_image(&u, RIG_SIZE, 1, VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT | VK_IMAGE_USAGE_TRANSFER_SRC_BIT,
                       &targets[k]);
        clear[k].color = (VkClearColorValue){{0.25f, 0.25f, 0.25f, 0.25f}};
    }
    make_pass(&u, views);
    ret = make_pipeline(&u, d, &prog);
    shader_program_finish(&prog);
    if (ret) {
        finish(&u);
        return error_set(e, ret, "the Vulkan device refuses the pipeline");
    }
    VkRenderPassBeginInfo bi = {.sType = VK_STRUCTURE_TYPE_RENDER_PASS_BEGIN_INFO,
                                .renderPass = u.pass,
                                .framebuffer = u.framebuffer,
                                .renderArea = {{0, 0}, {RIG_SIZE, RIG_SIZE}},
                                .clearValueCount = RIG_TARGETS,
                                .pClearValues = clear};
    vkCmdBeginRenderPass(u.cmd, &bi, VK_SUBPASS_CONTENTS_INLINE);
    vkCmdBindPipeline(u.cmd, VK_PIPELINE_BIND_POINT_GRAPHICS, u.pipeline);
    vkCmdBindDescriptorSets(u.cmd, VK_PIPELINE_BIND_POINT_GRAPHICS, u.layout, 0, 5, u.sets, 0, NULL);
    if (d->attribute_count) {
        VkBuffer vb = make_buffer(&u, (size_t)16 * d->attribute_count * d->vertex_count, d->vertices, NULL);
        vkCmdBindVertexBuffers(u.cmd, 0, 1, &vb, &zero);
    }
    vkCmdDraw(u.cmd, d->vertex_count, 1, 0, 0);
    vkCmdEndRenderPass(u.cmd);
    for (uint32_t k = 0; k < RIG_TARGETS; k++) {
        VkBufferImageCopy copy = {.imageSubresource = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 0, 1},
                                  .imageExtent = {RIG_SIZE, RIG_SIZE, 1}};
        VkBuffer b = make_buffer(&u, sizeof(d->pixels[k]), NULL, &read[k]);
        vkCmdCopyImageToBuffer(u.cmd, targets[k], VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL, b, 1, &copy);
    }
    submit(&u);
    for (uint32_t k = 0; k < RIG_TARGETS; k++)
        memcpy(d->pixels[k], read[k], sizeof(d->pixels[k]));
    finish(&u);
    return 0;
}

int rig_dispatch(struct rig *r, struct rig_dispatch *d, struct error *e)
{
    const struct shader_info *info = shader_info(d->shader);
    struct run u = {.r = r};
    struct shader_link_params lp = {.stages[EXEC_CS] = d->shader};
    VkPipelineShaderStageCreateInfo stages[EXEC_STAGE_COUNT];
    VkComputePipelineCreateInfo ci = {.sType = VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO};
    struct shader_program prog;
    void *out = NULL, *counter = NULL;
    int ret = shader_link(&prog, &lp, e);

    if (ret)
        return ret;
    begin(&u);
    make_set(&u, info);
    make_layout(&u);
    for (uint32_t n = 0; n < info->descriptor_count; n++) {
        const struct shader_descriptor *x = &info->descriptors[n];
        VkBuffer b = x->kind == SHADER_CBV           ? make_buffer(&u, d->cb0_size, d->cb0, NULL)
                     : x->kind == SHADER_UAV_COUNTER ? make_buffer(&u, 4, &d->counter, &counter)
                     : x->kind >= SHADER_UAV_TYPED   ? make_buffer(&u, sizeof(d->out), d->out, &out)
                                                     : make_buffer(&u, sizeof(d->in), d->in, NULL);
        write_buffer(&u, info, x, b);
    }
    make_stages(&u, &prog, stages);
    shader_program_finish(&prog);
    ci.stage = stages[0];
    ci.layout = u.layout;
    if (vkCreateComputePipelines(r->device, VK_NULL_HANDLE, 1, &ci, NULL, &u.pipeline) != VK_SUCCESS) {
        finish(&u);
        return error_set(e, -EIO, "the Vulkan device refuses the pipeline");
    }
    vkCmdBindPipeline(u.cmd, VK_PIPELINE_BIND_POINT_COMPUTE, u.pipeline);
    vkCmdBindDescriptorSets(u.cmd, VK_PIPELINE_BIND_POINT_COMPUTE, u.layout, 0, 5, u.sets, 0, NULL);
    vkCmdDispatch(u.cmd, d->groups[0], d->groups[1], d->groups[2]);
    submit(&u);
    if (out)
        memcpy(d->out, out, sizeof(d->out));
    if (counter)
        memcpy(&d->counter, counter, sizeof(d->counter));
    finish(&u);
    return 0;
}
