/* SPDX-License-Identifier: MIT */
/* draw_bench: figure draws_1000. A frame of 1 000 small draws at 1024 x 768: through registers, ring, doorbell, executor
 * process and interrupt, against the same draws recorded straight into one render pass on the same Vulkan device.
 *
 * Both sides draw the same triangles with the same SPIR-V into one RGBA8 target, present nothing, record each frame anew,
 * and have one frame in flight while they make the next, as a scheduler has. A frame waits in front of its target for the
 * one before. Ours includes the copy of the stream, its decoding and the marks of progress. Bursts of frames alternate. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <vulkan/vulkan.h>

#include "bench.h"
#include "executor/shader/shader.h"
#include "executor/engine/vk.h"
#include "thousand.h"

enum { WARM_UP = 5, BURST = 16, FRAMES = 60 };

/* ---- through the device ------------------------------------------------------------------------------------------- */

struct ours {
    struct thousand t;
    uint64_t before; /* the fence of the frame in flight */
};

static void drain_ours(struct ours *o)
{
    thousand_wait(&o->t, o->before);
    o->before = 0;
}

static void run_frame(struct ours *o)
{
    uint64_t fence = thousand_submit(&o->t);

    if (o->before)
        drain_ours(o);
    o->before = fence;
}

/* ---- straight on Vulkan ------------------------------------------------------------------------------------------- */

struct direct {
    struct exec_vk vk;
    VkImage image;
    struct exec_vk_memory memory;
    VkImageView view;
    VkRenderPass pass;
    VkFramebuffer framebuffer;
    VkPipelineLayout layout;
    VkPipeline pipeline;
    struct exec_vk_buffer vertices;
    VkCommandPool pool[2];
    VkCommandBuffer cmd[2];
    VkFence fence[2];
    unsigned frame;
};

static VkShaderModule module_of(struct direct *d, const struct shader_code *c)
{
    VkShaderModuleCreateInfo ci = {
        .sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO, .codeSize = c->count * 4, .pCode = c->words};
    VkShaderModule m = VK_NULL_HANDLE;

    vkCreateShaderModule(d->vk.device, &ci, NULL, &m);
    return m;
}

static void direct_target(struct direct *d)
{
    VkImageCreateInfo ici = {.sType = VK_STRUCTURE_TYPE_IMAGE_CREATE_INFO,
                             .imageType = VK_IMAGE_TYPE_2D,
                             .format = VK_FORMAT_R8G8B8A8_UNORM,
                             .extent = {WIDTH, HEIGHT, 1},
                             .mipLevels = 1,
                             .arrayLayers = 1,
                             .samples = VK_SAMPLE_COUNT_1_BIT,
                             .usage = VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT | VK_IMAGE_USAGE_TRANSFER_SRC_BIT};
    VkImageViewCreateInfo vci = {.sType = VK_STRUCTURE_TYPE_IMAGE_VIEW_CREATE_INFO,
                                 .viewType = VK_IMAGE_VIEW_TYPE_2D,
                                 .format = VK_FORMAT_R8G8B8A8_UNORM,
                                 .subresourceRange = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 1, 0, 1}};
    VkAttachmentDescription at = {.format = VK_FORMAT_R8G8B8A8_UNORM,
                                  .samples = VK_SAMPLE_COUNT_1_BIT,
                                  .loadOp = VK_ATTACHMENT_LOAD_OP_CLEAR,
                                  .storeOp = VK_ATTACHMENT_STORE_OP_STORE,
                                  .finalLayout = VK_IMAGE_LAYOUT_COLOR_ATTACHMENT_OPTIMAL};
    VkAttachmentReference ref = {0, VK_IMAGE_LAYOUT_COLOR_ATTACHMENT_OPTIMAL};
    VkSubpassDescription sub = {.pipelineBindPoint = VK_PIPELINE_BIND_POINT_GRAPHICS,
                                .colorAttachmentCount = 1,
                                .pColorAttachments = &ref};
    /* the frame before may still be on its way into the same image */
    VkSubpassDependency after_the_last = {.srcSubpass = VK_SUBPASS_EXTERNAL,
                                          .srcStageMask = VK_PIPELINE_STAGE_COLOR_ATTACHMENT_OUTPUT_BIT,
                                          .dstStageMask = VK_PIPELINE_STAGE_COLOR_ATTACHMENT_OUTPUT_BIT,
                                          .srcAccessMask = VK_ACCESS_COLOR_ATTACHMENT_WRITE_BIT,
                                          .dstAccessMask = VK_ACCESS_COLOR_ATTACHMENT_WRITE_BIT};
    VkRenderPassCreateInfo rci = {.sType = VK_STRUCTURE_TYPE_RENDER_PASS_CREATE_INFO,
                                  .attachmentCount = 1,
                                  .pAttachments = &at,
                                  .subpassCount = 1,
                                  .pSubpasses = &sub,
                                  .dependencyCount = 1,
                                  .pDependencies = &after_the_last};
    VkFramebufferCreateInfo fci = {.sType = VK_STRUCTURE_TYPE_FRAMEBUFFER_CREATE_INFO,
                                   .attachmentCount = 1,
                                   .width = WIDTH,
                                   .height = HEIGHT,
                                   .layers = 1};
    VkMemoryRequirements req;

    vkCreateImage(d->vk.device, &ici, NULL, &d->image);
    vkGetImageMemoryRequirements(d->vk.device, d->image, &req);
    check(exec_vk_alloc(&d->vk, &d->memory, &req, VK_USE_DEVICE), "image memory", NULL);
    vkBindImageMemory(d->vk.device, d->image, d->memory.memory, d->memory.offset);
    vci.image = d->image;
    vkCreateImageView(d->vk.device, &vci, NULL, &d->view);
    vkCreateRenderPass(d->vk.device, &rci, NULL, &d->pass);
    fci.renderPass = d->pass;
    fci.pAttachments = &d->view;
    vkCreateFramebuffer(d->vk.device, &fci, NULL, &d->framebuffer);
}

static void direct_pipeline(struct direct *d, const struct shader_program *p)
{
    VkPipelineShaderStageCreateInfo stages[2] = {
        {.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
         .stage = VK_SHADER_STAGE_VERTEX_BIT,
         .module = module_of(d, &p->code[EXEC_VS]),
         .pName = "main"},
        {.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
         .stage = VK_SHADER_STAGE_FRAGMENT_BIT,
         .module = module_of(d, &p->code[EXEC_PS]),
         .pName = "main"}};
    VkVertexInputBindingDescription binding = {0, sizeof(struct thousand_vertex),
                                               VK_VERTEX_INPUT_RATE_VERTEX};
    VkVertexInputAttributeDescription attributes[2] = {{0, 0, VK_FORMAT_R32G32B32A32_SFLOAT, 0},
                                                       {1, 0, VK_FORMAT_R32G32B32A32_SFLOAT, 16}};
    VkPipelineVertexInputStateCreateInfo vi = {.sType =
                                                   VK_STRUCTURE_TYPE_PIPELINE_VERTEX_INPUT_STATE_CREATE_INFO,
                                               .vertexBindingDescriptionCount = 1,
                                               .pVertexBindingDescriptions = &binding,
                                               .vertexAttributeDescriptionCount = 2,
                                               .pVertexAttributeDescriptions = attributes};
    VkPipelineInputAssemblyStateCreateInfo ia = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_INPUT_ASSEMBLY_STATE_CREATE_INFO,
        .topology = VK_PRIMITIVE_TOPOLOGY_TRIANGLE_LIST};
    VkViewport viewport = {0, HEIGHT, WIDTH, -(float)HEIGHT, 0, 1};
    VkRect2D scissor = {.extent = {WIDTH, HEIGHT}};
    VkPipelineViewportStateCreateInfo vp = {.sType = VK_STRUCTURE_TYPE_PIPELINE_VIEWPORT_STATE_CREATE_INFO,
                                            .viewportCount = 1,
                                            .pViewports = &viewport,
                                            .scissorCount = 1,
                                            .pScissors = &scissor};
    VkPipelineRasterizationStateCreateInfo rs = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_RASTERIZATION_STATE_CREATE_INFO,
        .cullMode = VK_CULL_MODE_BACK_BIT,
        .frontFace = VK_FRONT_FACE_CLOCKWISE,
        .lineWidth = 1};
    VkPipelineMultisampleStateCreateInfo ms = {.sType =
                                                   VK_STRUCTURE_TYPE_PIPELINE_MULTISAMPLE_STATE_CREATE_INFO,
                                               .rasterizationSamples = VK_SAMPLE_COUNT_1_BIT};
    VkPipelineColorBlendAttachmentState blend = {.colorWriteMask = 15};
    VkPipelineColorBlendStateCreateInfo cb = {.sType =
                                                  VK_STRUCTURE_TYPE_PIPELINE_COLOR_BLEND_STATE_CREATE_INFO,
                                              .attachmentCount = 1,
                                              .pAttachments = &blend};
    VkPipelineLayoutCreateInfo lci = {.sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO};
    VkGraphicsPipelineCreateInfo ci = {.sType = VK_STRUCTURE_TYPE_GRAPHICS_PIPELINE_CREATE_INFO,
                                       .stageCount = 2,
                                       .pStages = stages,
                                       .pVertexInputState = &vi,
                                       .pInputAssemblyState = &ia,
                                       .pViewportState = &vp,
                                       .pRasterizationState = &rs,
                                       .pMultisampleState = &ms,
                                       .pColorBlendState = &cb,
                                       .renderPass = d->pass};

    vkCreatePipelineLayout(d->vk.device, &lci, NULL, &d->layout);
    ci.layout = d->layout;
    check(exec_vk_errno(vkCreateGraphicsPipelines(d->vk.device, VK_NULL_HANDLE, 1, &ci, NULL, &d->pipeline)),
          "pipeline", NULL);
}

static void direct_setup(struct direct *d)
{
    VkCommandPoolCreateInfo pci = {.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO};
    VkCommandBufferAllocateInfo ai = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
                                      .commandBufferCount = 1};
    VkFenceCreateInfo fci = {.sType = VK_STRUCTURE_TYPE_FENCE_CREATE_INFO};
    struct shader_link_params lp = {0};
    struct shader_program program;
    struct shader *vs, *ps;
    const struct thousand_vertex *vertices;
    struct error e = {0};
    size_t size;
    void *bytes;

    check(exec_vk_open(&d->vk, NULL, &e), "Vulkan", &e);
    bytes = thousand_shader("colour_vs.dxbc", &size);
    check(shader_create(&vs, EXEC_VS, bytes, size, NULL, &e), "vertex shader", &e);
    free(bytes);
    bytes = thousand_shader("colour_ps.dxbc", &size);
    check(shader_create(&ps, EXEC_PS, bytes, size, NULL, &e), "pixel shader", &e);
    free(bytes);
    lp.stages[EXEC_VS] = vs;
    lp.stages[EXEC_PS] = ps;
    check(shader_link(&program, &lp, &e), "program", &e);
    direct_target(d);
    direct_pipeline(d, &program);
    vertices = thousand_vertices(&size);
    check(exec_vk_buffer_create(&d->vk, &d->vertices, size, VK_BUFFER_USAGE_VERTEX_BUFFER_BIT, VK_USE_SHARED),
          "vertex buffer", NULL);
    memcpy(d->vertices.memory.map, vertices, size);
    pci.queueFamilyIndex = d->vk.queue_family;
    fci.flags = VK_FENCE_CREATE_SIGNALED_BIT;
    for (int i = 0; i < 2; i++) {
        vkCreateCommandPool(d->vk.device, &pci, NULL, &d->pool[i]);
        ai.commandPool = d->pool[i];
        vkAllocateCommandBuffers(d->vk.device, &ai, &d->cmd[i]);
        vkCreateFence(d->vk.device, &fci, NULL, &d->fence[i]);
    }
    shader_program_finish(&program);
    shader_unref(vs);
    shader_unref(ps);
}

static void direct_frame(struct direct *d)
{
    const unsigned at = d->frame++ & 1;
    VkCommandBuffer cmd = d->cmd[at];
    VkCommandBufferBeginInfo bi = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO,
                                   .flags = VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT};
    VkClearValue clear = {.color = {.float32 = {0, 0, 0, 1}}};
    VkRenderPassBeginInfo ri = {.sType = VK_STRUCTURE_TYPE_RENDER_PASS_BEGIN_INFO,
                                .renderPass = d->pass,
                                .framebuffer = d->framebuffer,
                                .renderArea = {.extent = {WIDTH, HEIGHT}},
                                .clearValueCount = 1,
                                .pClearValues = &clear};
    VkSubmitInfo si = {
        .sType = VK_STRUCTURE_TYPE_SUBMIT_INFO, .commandBufferCount = 1, .pCommandBuffers = &cmd};
    VkDeviceSize zero = 0;

    vkResetFences(d->vk.device, 1, &d->fence[at]);
    vkResetCommandPool(d->vk.device, d->pool[at], 0);
    vkBeginCommandBuffer(cmd, &bi);
    vkCmdBeginRenderPass(cmd, &ri, VK_SUBPASS_CONTENTS_INLINE);
    vkCmdBindPipeline(cmd, VK_PIPELINE_BIND_POINT_GRAPHICS, d->pipeline);
    vkCmdBindVertexBuffers(cmd, 0, 1, &d->vertices.buffer, &zero);
    for (uint32_t i = 0; i < DRAWS; i++)
        vkCmdDraw(cmd, 6, 1, i * 6, 0);
    vkCmdEndRenderPass(cmd);
    vkEndCommandBuffer(cmd);
    vkQueueSubmit(d->vk.queue, 1, &si, d->fence[at]);
    vkWaitForFences(d->vk.device, 1, &d->fence[!at], VK_TRUE, UINT64_MAX);
}

static void drain_direct(struct direct *d)
{
    vkWaitForFences(d->vk.device, 2, d->fence, VK_TRUE, UINT64_MAX);
}

/* Milliseconds a frame. */
static double burst_of_ours(struct ours *o)
{
    double start = bench_now();

    for (int k = 0; k < BURST; k++)
        run_frame(o);
    drain_ours(o);
    return (bench_now() - start) / 1e6 / BURST;
}

static double burst_of_direct(struct direct *d)
{
    double start = bench_now();

    for (int k = 0; k < BURST; k++)
        direct_frame(d);
    drain_direct(d);
    return (bench_now() - start) / 1e6 / BURST;
}

int main(int argc, char **argv)
{
    static double ours_ms[FRAMES], direct_ms[FRAMES];
    struct ours o = {0};
    struct direct d = {0};
    struct bench b;

    bench_init(&b, argc, argv);
    thousand_open(&o.t, EXEC_MARKERS_GROUPS);
    direct_setup(&d);
    for (int i = -WARM_UP; i < FRAMES; i++) {
        double ms[2];
        for (int k = 0; k < 2;
             k++) /* whose burst is first changes: a machine that gets busier is nobody's disadvantage */
            ms[(i ^ k) & 1] = (i ^ k) & 1 ? burst_of_ours(&o) : burst_of_direct(&d);
        if (i >= 0) {
            ours_ms[i] = ms[1];
            direct_ms[i] = ms[0];
        }
    }
    if (o.t.errors) {
        fprintf(stderr, "draw_bench: the device latched %d errors\n", o.t.errors);
        return 1;
    }
    bench_report(&b, &(struct bench_figure){
                         .id = "draws_1000",
                         .ours_each = ours_ms,
                         .reference_each = direct_ms,
                         .rounds = FRAMES,
                         .unit = "ms/frame",
                         .target = 1.05,
                         .note = "1 000 draws through the device, against one pass of bare Vulkan"});
    thousand_close(&o.t);
    return bench_finish(&b);
}
