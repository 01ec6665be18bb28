/* SPDX-License-Identifier: MIT */
/* vk.c: which device is taken and what is asked of it; then memory, of which each type has blocks that are parcelled out. */
#include "executor/engine/vk.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/check.h"
#include "base/log.h"

enum { BLOCK_SIZE = 16 << 20, DEDICATED_SIZE = 4 << 20 };

/* Free pieces of a block, by offset; neighbours are always merged. */
struct piece {
    VkDeviceSize offset, size;
};

struct exec_vk_block {
    struct exec_vk_block *next;
    VkDeviceMemory memory;
    VkDeviceSize size;
    uint8_t *map;
    uint32_t type;
    bool linear; /* of buffers */
    struct piece *free;
    uint32_t num_free;
    size_t cap_free;
};

int exec_vk_errno(VkResult r)
{
    switch (r) {
    case VK_SUCCESS:
        return 0;
    case VK_ERROR_OUT_OF_HOST_MEMORY:
    case VK_ERROR_OUT_OF_DEVICE_MEMORY:
    case VK_ERROR_OUT_OF_POOL_MEMORY:
        return -ENOMEM;
    case VK_ERROR_DEVICE_LOST:
        return -EIO;
    default:
        return -ENOTSUP;
    }
}

const char *exec_vk_result_name(VkResult r)
{
    switch (r) {
    case VK_ERROR_OUT_OF_HOST_MEMORY:
        return "out of host memory";
    case VK_ERROR_OUT_OF_DEVICE_MEMORY:
        return "out of device memory";
    case VK_ERROR_DEVICE_LOST:
        return "device lost";
    case VK_ERROR_INITIALIZATION_FAILED:
        return "initialization failed";
    case VK_ERROR_INCOMPATIBLE_DRIVER:
        return "no compatible driver";
    case VK_ERROR_FEATURE_NOT_PRESENT:
        return "feature not present";
    case VK_ERROR_FORMAT_NOT_SUPPORTED:
        return "format not supported";
    default:
        return "Vulkan error";
    }
}

/* ---- opening ------------------------------------------------------------- */

static int create_instance(struct exec_vk *vk, struct error *e)
{
    VkApplicationInfo app = {.sType = VK_STRUCTURE_TYPE_APPLICATION_INFO,
                             .pApplicationName = "aerogpu-executor",
                             .apiVersion = VK_API_VERSION_1_1};
    const char *validation = "VK_LAYER_KHRONOS_validation";
    bool validate = getenv("AEROGPU_VALIDATION") != NULL;
    VkInstanceCreateInfo ci = {.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO,
                               .pApplicationInfo = &app,
                               .enabledLayerCount = validate,
                               .ppEnabledLayerNames = &validation};
    VkResult r = vkCreateInstance(&ci, NULL, &vk->instance);

    if (r)
        return error_set(e, -ENODEV,
                         "Vulkan cannot be used (%s); install a driver: apt-get install mesa-vulkan-drivers",
                         exec_vk_result_name(r));
    return 0;
}

static bool matches(const char *select, uint32_t index, const char *name)
{
    char *end;
    unsigned long n;

    if (!select || !*select)
        return true;
    n = strtoul(select, &end, 10);
    return *end ? strcasestr(name, select) != NULL : n == index;
}

static bool find_queue(struct exec_vk *vk, VkPhysicalDevice pd)
{
    const VkQueueFlags need = VK_QUEUE_GRAPHICS_BIT | VK_QUEUE_COMPUTE_BIT;
    VkQueueFamilyProperties families[16];
    uint32_t n = 16;

    vkGetPhysicalDeviceQueueFamilyProperties(pd, &n, families);
    for (uint32_t i = 0; i < n; i++)
        if ((families[i].queueFlags & need) == need) {
            vk->queue_family = i;
            return true;
        }
    return false;
}

static int pick_physical(struct exec_vk *vk, const char *select, struct error *e)
{
    VkPhysicalDevice devices[16];
    uint32_t n = 16;
    VkResult r = vkEnumeratePhysicalDevices(vk->instance, &n, devices);

    if (r < 0 || !n)
        return error_set(e, -ENODEV,
                         "no Vulkan device; install a driver: apt-get install mesa-vulkan-drivers");
    for (uint32_t i = 0; i < n; i++) {
        vkGetPhysicalDeviceProperties(devices[i], &vk->properties);
        if (matches(select, i, vk->properties.deviceName) &&
            vk->properties.apiVersion >= VK_API_VERSION_1_1 && find_queue(vk, devices[i])) {
            vk->physical = devices[i];
            vkGetPhysicalDeviceMemoryProperties(devices[i], &vk->memory);
            return 0;
        }
    }
    return error_set(e, -ENODEV,
                     "no Vulkan 1.1 device with graphics and compute matches '%s' (of %u devices)",
                     select ? select : "", n);
}

static bool has_extension(const VkExtensionProperties *list, uint32_t n, const char *name)
{
    for (uint32_t i = 0; i < n; i++)
        if (!strcmp(list[i].extensionName, name))
            return true;
    return false;
}

/* Turns on what the device has of what we can use; fills in caps. */
static void choose_features(struct exec_vk *vk, VkPhysicalDeviceFeatures *want)
{
    VkPhysicalDeviceFeatures have;
    const VkPhysicalDeviceLimits *l = &vk->properties.limits;

    vkGetPhysicalDeviceFeatures(vk->physical, &have);
    *want = (VkPhysicalDeviceFeatures){
        .robustBufferAccess = have.robustBufferAccess,
        .fullDrawIndexUint32 = have.fullDrawIndexUint32,
        .imageCubeArray = have.imageCubeArray,
        .independentBlend = have.independentBlend,
        .geometryShader = have.geometryShader,
        .tessellationShader = have.tessellationShader,
        .dualSrcBlend = have.dualSrcBlend,
        .logicOp = have.logicOp,
        .depthClamp = have.depthClamp,
        .fillModeNonSolid = have.fillModeNonSolid,
        .depthBiasClamp = have.depthBiasClamp,
        .samplerAnisotropy = have.samplerAnisotropy,
        .textureCompressionBC = have.textureCompressionBC,
        .vertexPipelineStoresAndAtomics = have.vertexPipelineStoresAndAtomics,
        .fragmentStoresAndAtomics = have.fragmentStoresAndAtomics,
        .shaderTessellationAndGeometryPointSize = have.shaderTessellationAndGeometryPointSize,
        .shaderImageGatherExtended = have.shaderImageGatherExtended,
        .shaderStorageImageExtendedFormats = have.shaderStorageImageExtendedFormats,
        .shaderStorageImageReadWithoutFormat = have.shaderStorageImageReadWithoutFormat,
        .shaderInt64 = have.shaderInt64,
        .shaderStorageImageWriteWithoutFormat = have.shaderStorageImageWriteWithoutFormat,
        .shaderUniformBufferArrayDynamicIndexing = have.shaderUniformBufferArrayDynamicIndexing,
        .shaderSampledImageArrayDynamicIndexing = have.shaderSampledImageArrayDynamicIndexing,
        .shaderStorageBufferArrayDynamicIndexing = have.shaderStorageBufferArrayDynamicIndexing,
        .shaderClipDistance = have.shaderClipDistance,
        .shaderCullDistance = have.shaderCullDistance,
        .sampleRateShading = have.sampleRateShading,
        .occlusionQueryPrecise = have.occlusionQueryPrecise,
        .pipelineStatisticsQuery = have.pipelineStatisticsQuery,
        .largePoints = have.largePoints,
        .multiViewport = have.multiViewport,
        .drawIndirectFirstInstance = have.drawIndirectFirstInstance,
    };
    vk->caps = (struct exec_vk_caps){
        .geometry = have.geometryShader,
        .tessellation = have.tessellationShader,
        .wireframe = have.fillModeNonSolid,
        .depth_clamp = have.depthClamp,
        .clip_distance = have.shaderClipDistance && l->maxClipDistances >= 6,
        .independent_blend = have.independentBlend,
        .anisotropy = have.samplerAnisotropy,
        .bc = have.textureCompressionBC,
        .vertex_stores = have.vertexPipelineStoresAndAtomics,
        .fragment_stores = have.fragmentStoresAndAtomics,
        .viewports = have.multiViewport && l->maxViewports >= 16,
        .indirect_first = have.drawIndirectFirstInstance,
        .bias_clamp = have.depthBiasClamp,
        .dual_source = have.dualSrcBlend,
        .logic = have.logicOp,
        .precise_samples = have.occlusionQueryPrecise,
        .statistics = have.pipelineStatisticsQuery,
        .timestamps = l->timestampComputeAndGraphics && l->timestampPeriod > 0,
        .uniform_align = (uint32_t)l->minUniformBufferOffsetAlignment,
        .texel_align = (uint32_t)l->minTexelBufferOffsetAlignment,
        .max_uniform_range = l->maxUniformBufferRange,
        .max_image_2d = l->maxImageDimension2D,
        .max_image_3d = l->maxImageDimension3D,
        .max_layers = l->maxImageArrayLayers,
        .max_bound_sets = l->maxBoundDescriptorSets,
        .max_vertex_attributes = l->maxVertexInputAttributes,
        .max_vertex_bindings = l->maxVertexInputBindings,
        .max_anisotropy = l->maxSamplerAnisotropy,
        .max_lod_bias = l->maxSamplerLodBias,
    };
}

/* Views of buffers may begin where a texel may, if the device says so. */
static bool texels_align_singly(struct exec_vk *vk)
{
    VkPhysicalDeviceTexelBufferAlignmentPropertiesEXT align = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_TEXEL_BUFFER_ALIGNMENT_PROPERTIES_EXT};
    VkPhysicalDeviceProperties2 properties = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2,
                                              .pNext = &align};
    VkPhysicalDeviceTexelBufferAlignmentFeaturesEXT have = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_TEXEL_BUFFER_ALIGNMENT_FEATURES_EXT};
    VkPhysicalDeviceFeatures2 query = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2, .pNext = &have};

    vkGetPhysicalDeviceFeatures2(vk->physical, &query);
    vkGetPhysicalDeviceProperties2(vk->physical, &properties);
    return have.texelBufferAlignment && align.storageTexelBufferOffsetSingleTexelAlignment &&
           align.uniformTexelBufferOffsetSingleTexelAlignment;
}

/* The extensions that a device is opened with, and their features, chained to `features`. */
struct device_wants {
    VkPhysicalDeviceFeatures2 features;
    VkPhysicalDeviceShaderDrawParametersFeatures parameters;
    VkPhysicalDeviceTexelBufferAlignmentFeaturesEXT texels;
    VkPhysicalDeviceBufferDeviceAddressFeaturesKHR addresses;
    VkPhysicalDeviceVertexAttributeDivisorFeaturesEXT divisor;
    VkPhysicalDeviceCustomBorderColorFeaturesEXT border;
    VkPhysicalDeviceTransformFeedbackFeaturesEXT streams;
    const char *names[10];
    uint32_t num_names;
};

/* `feature`: what the extension wants in the chain, or NULL. */
static void want(struct device_wants *w, const char *name, void *feature)
{
    VkBaseOutStructure *f = feature;

    w->names[w->num_names++] = name;
    if (!f)
        return;
    f->pNext = w->features.pNext;
    w->features.pNext = f;
}

/* Leaves in `feature` what the device has of it. */
static void query_feature(struct exec_vk *vk, void *feature)
{
    VkPhysicalDeviceFeatures2 query = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2,
                                       .pNext = feature};

    vkGetPhysicalDeviceFeatures2(vk->physical, &query);
}

/* Extensions that count with all that we need of them only. */
static void want_states(struct exec_vk *vk, struct device_wants *w, const VkExtensionProperties *list,
                        uint32_t n)
{
    w->divisor = (VkPhysicalDeviceVertexAttributeDivisorFeaturesEXT){
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VERTEX_ATTRIBUTE_DIVISOR_FEATURES_EXT};
    w->border = (VkPhysicalDeviceCustomBorderColorFeaturesEXT){
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_CUSTOM_BORDER_COLOR_FEATURES_EXT};
    w->texels = (VkPhysicalDeviceTexelBufferAlignmentFeaturesEXT){
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_TEXEL_BUFFER_ALIGNMENT_FEATURES_EXT,
        .texelBufferAlignment = VK_TRUE};
    if (has_extension(list, n, VK_EXT_VERTEX_ATTRIBUTE_DIVISOR_EXTENSION_NAME)) {
        query_feature(vk, &w->divisor);
        vk->caps.divisor = w->divisor.vertexAttributeInstanceRateDivisor &&
                           w->divisor.vertexAttributeInstanceRateZeroDivisor;
        if (vk->caps.divisor)
            want(w, VK_EXT_VERTEX_ATTRIBUTE_DIVISOR_EXTENSION_NAME, &w->divisor);
    }
    if (has_extension(list, n, VK_EXT_CUSTOM_BORDER_COLOR_EXTENSION_NAME)) {
        query_feature(vk, &w->border);
        vk->caps.border_color = w->border.customBorderColors && w->border.customBorderColorWithoutFormat;
        if (vk->caps.border_color)
            want(w, VK_EXT_CUSTOM_BORDER_COLOR_EXTENSION_NAME, &w->border);
    }
    if (has_extension(list, n, VK_EXT_TEXEL_BUFFER_ALIGNMENT_EXTENSION_NAME) && texels_align_singly(vk)) {
        want(w, VK_EXT_TEXEL_BUFFER_ALIGNMENT_EXTENSION_NAME, &w->texels);
        vk->caps.texel_single = true;
    }
}

/* Vertices that are written to buffers. */
static void want_streams(struct exec_vk *vk, struct device_wants *w, const VkExtensionProperties *list,
                         uint32_t n)
{
    VkPhysicalDeviceTransformFeedbackPropertiesEXT has = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_TRANSFORM_FEEDBACK_PROPERTIES_EXT};
    VkPhysicalDeviceProperties2 properties = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2,
                                              .pNext = &has};

    w->streams = (VkPhysicalDeviceTransformFeedbackFeaturesEXT){
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_TRANSFORM_FEEDBACK_FEATURES_EXT};
    if (!has_extension(list, n, VK_EXT_TRANSFORM_FEEDBACK_EXTENSION_NAME))
        return;
    query_feature(vk, &w->streams);
    vkGetPhysicalDeviceProperties2(vk->physical, &properties);
    vk->caps.streams = w->streams.transformFeedback && has.maxTransformFeedbackBuffers >= 4 &&
                       has.transformFeedbackQueries && has.transformFeedbackDraw;
    vk->caps.max_streams = w->streams.geometryStreams ? has.maxTransformFeedbackStreams : 1;
    if (vk->caps.streams)
        want(w, VK_EXT_TRANSFORM_FEEDBACK_EXTENSION_NAME, &w->streams);
}

static void find_stream_calls(struct exec_vk *vk)
{
    vk->bind_streams = (PFN_vkCmdBindTransformFeedbackBuffersEXT)vkGetDeviceProcAddr(
        vk->device, "vkCmdBindTransformFeedbackBuffersEXT");
    vk->begin_streams =
        (PFN_vkCmdBeginTransformFeedbackEXT)vkGetDeviceProcAddr(vk->device, "vkCmdBeginTransformFeedbackEXT");
    vk->end_streams =
        (PFN_vkCmdEndTransformFeedbackEXT)vkGetDeviceProcAddr(vk->device, "vkCmdEndTransformFeedbackEXT");
    vk->begin_query =
        (PFN_vkCmdBeginQueryIndexedEXT)vkGetDeviceProcAddr(vk->device, "vkCmdBeginQueryIndexedEXT");
    vk->end_query = (PFN_vkCmdEndQueryIndexedEXT)vkGetDeviceProcAddr(vk->device, "vkCmdEndQueryIndexedEXT");
    vk->draw_streamed =
        (PFN_vkCmdDrawIndirectByteCountEXT)vkGetDeviceProcAddr(vk->device, "vkCmdDrawIndirectByteCountEXT");
}

/* Guest memory as the device's own, and marks of progress. */
static void want_memory(struct exec_vk *vk, struct device_wants *w, const VkExtensionProperties *list,
                        uint32_t n, bool addresses)
{
    if (has_extension(list, n, VK_EXT_EXTERNAL_MEMORY_HOST_EXTENSION_NAME)) {
        want(w, VK_EXT_EXTERNAL_MEMORY_HOST_EXTENSION_NAME, NULL);
        vk->caps.host_memory = true;
    }
    if (has_extension(list, n, VK_AMD_BUFFER_MARKER_EXTENSION_NAME)) {
        want(w, VK_AMD_BUFFER_MARKER_EXTENSION_NAME, NULL);
        vk->caps.amd_marker = true;
    }
    if (has_extension(list, n, VK_NV_DEVICE_DIAGNOSTIC_CHECKPOINTS_EXTENSION_NAME)) {
        want(w, VK_NV_DEVICE_DIAGNOSTIC_CHECKPOINTS_EXTENSION_NAME, NULL);
        vk->caps.nv_checkpoints = true;
    }
    if (addresses && vk->caps.host_memory && w->features.features.shaderInt64 &&
        has_extension(list, n, VK_KHR_BUFFER_DEVICE_ADDRESS_EXTENSION_NAME)) {
        w->addresses = (VkPhysicalDeviceBufferDeviceAddressFeaturesKHR){
            .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_BUFFER_DEVICE_ADDRESS_FEATURES_KHR,
            .bufferDeviceAddress = VK_TRUE};
        want(w, VK_KHR_BUFFER_DEVICE_ADDRESS_EXTENSION_NAME, &w->addresses);
        vk->caps.addresses = true;
    }
}

static int create_device(struct exec_vk *vk, bool addresses, struct error *e)
{
    struct device_wants w = {
        .features = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2, .pNext = &w.parameters},
        .parameters = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_DRAW_PARAMETERS_FEATURES}};
    float priority = 1;
    VkDeviceQueueCreateInfo queue = {.sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO,
                                     .queueFamilyIndex = vk->queue_family,
                                     .queueCount = 1,
                                     .pQueuePriorities = &priority};
    VkDeviceCreateInfo ci = {.sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO,
                             .pNext = &w.features,
                             .queueCreateInfoCount = 1,
                             .pQueueCreateInfos = &queue,
                             .ppEnabledExtensionNames = w.names};
    VkExtensionProperties *list;
    uint32_t n = 0;
    VkResult r;

    vkGetPhysicalDeviceFeatures2(vk->physical, &w.features); /* leaves in `parameters` what the device has */
    choose_features(vk, &w.features.features);
    vkEnumerateDeviceExtensionProperties(vk->physical, NULL, &n, NULL);
    list = calloc(n ? n : 1, sizeof(*list));
    if (!list)
        return error_set(e, -ENOMEM, "no memory for the list of Vulkan extensions");
    vkEnumerateDeviceExtensionProperties(vk->physical, NULL, &n, list);
    want_states(vk, &w, list, n);
    want_streams(vk, &w, list, n);
    want_memory(vk, &w, list, n, addresses);
    free(list);
    ci.enabledExtensionCount = w.num_names;
    r = vkCreateDevice(vk->physical, &ci, NULL, &vk->device);
    if (r)
        return error_set(e, -ENODEV, "Vulkan device '%s' cannot be opened: %s", vk->properties.deviceName,
                         exec_vk_result_name(r));
    if (vk->caps.streams)
        find_stream_calls(vk);
    vkGetDeviceQueue(vk->device, vk->queue_family, 0, &vk->queue);
    return 0;
}

int exec_vk_open(struct exec_vk *vk, const char *select, struct error *e)
{
    return exec_vk_open_with(vk, select, false, e);
}

int exec_vk_open_with(struct exec_vk *vk, const char *select, bool addresses, struct error *e)
{
    int r;

    *vk = (struct exec_vk){0};
    if (!select)
        select = getenv("AEROGPU_VULKAN_DEVICE");
    r = create_instance(vk, e);
    if (!r)
        r = pick_physical(vk, select, e);
    if (!r)
        r = create_device(vk, addresses, e);
    if (r)
        exec_vk_close(vk);
    return r;
}

void exec_vk_close(struct exec_vk *vk)
{
    for (uint32_t t = 0; t < VK_MAX_MEMORY_TYPES; t++)
        while (vk->blocks[t]) {
            struct exec_vk_block *b = vk->blocks[t];
            vk->blocks[t] = b->next;
            vkFreeMemory(vk->device, b->memory, NULL);
            free(b->free);
            free(b);
        }
    if (vk->device)
        vkDestroyDevice(vk->device, NULL);
    if (vk->instance)
        vkDestroyInstance(vk->instance, NULL);
    *vk = (struct exec_vk){0};
}

/* ---- memory -------------------------------------------------------------- */

/* Drivers allow few allocations (maxMemoryAllocationCount is 4 096 on many), and streams make many small resources: memory is taken in
 * blocks, and resources have pieces of them.
 *
 *  1. What lies in no free piece of a block is somebody's. Free pieces are in the order of their offsets, and no two touch: what is
 *     given back is merged with the pieces on both sides.
 *  2. The first piece that is large enough, behind its alignment, is taken, from the newest block of the type on. What is before the
 *     alignment stays free.
 *  3. From DEDICATED_SIZE on a resource has a block of its size, and so it can go back to the driver when the resource ends.
 *  4. Images and buffers never share a block, whatever bufferImageGranularity is.
 *  5. What the host can see is mapped from the beginning of a block to its end: Vulkan maps memory once only.
 *  6. An empty block is given back, but for the last of its type, which the next frame wants again.
 */

static int memory_type(const struct exec_vk *vk, uint32_t bits, VkMemoryPropertyFlags need,
                       VkMemoryPropertyFlags like)
{
    int best = -1, best_score = -1;

    for (uint32_t i = 0; i < vk->memory.memoryTypeCount; i++) {
        VkMemoryPropertyFlags f = vk->memory.memoryTypes[i].propertyFlags;
        int score = __builtin_popcount(f & like);
        if (!(bits >> i & 1) || (f & need) != need || score <= best_score)
            continue;
        best = (int)i;
        best_score = score;
    }
    return best;
}

static struct exec_vk_block *block_create(struct exec_vk *vk, uint32_t type, VkDeviceSize size, bool linear)
{
    VkMemoryAllocateInfo ai = {
        .sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO, .allocationSize = size, .memoryTypeIndex = type};
    struct exec_vk_block *b = calloc(1, sizeof(*b));
    void *map = NULL;

    if (!b)
        return NULL;
    b->free = malloc(8 * sizeof(*b->free));
    if (!b->free || vkAllocateMemory(vk->device, &ai, NULL, &b->memory)) {
        free(b->free);
        free(b);
        return NULL;
    }
    if (vk->memory.memoryTypes[type].propertyFlags & VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT)
        vkMapMemory(vk->device, b->memory, 0, VK_WHOLE_SIZE, 0, &map);
    b->map = map;
    b->cap_free = 8;
    b->num_free = 1;
    b->free[0] = (struct piece){0, size};
    b->size = size;
    b->type = type;
    b->linear = linear;
    b->next = vk->blocks[type];
    vk->blocks[type] = b;
    vk->allocated += size;
    return b;
}

static bool insert_piece(struct exec_vk_block *b, uint32_t at, struct piece p)
{
    if (array_reserve(b->free, b->cap_free, b->num_free + 1))
        return false;
    memmove(b->free + at + 1, b->free + at, (b->num_free - at) * sizeof(*b->free));
    b->free[at] = p;
    b->num_free++;
    return true;
}

/* Takes [start, start + size) out of free piece `i`, which contains it. */
static bool carve(struct exec_vk_block *b, uint32_t i, VkDeviceSize start, VkDeviceSize size)
{
    struct piece p = b->free[i];
    VkDeviceSize before = start - p.offset, after = p.offset + p.size - (start + size);

    INVARIANT(i < b->num_free && start >= p.offset && start + size <= p.offset + p.size);
    if (before && after) {
        if (!insert_piece(b, i + 1, (struct piece){start + size, after}))
            return false;
        b->free[i].size = before;
    } else if (before) {
        b->free[i].size = before;
    } else if (after) {
        b->free[i] = (struct piece){start + size, after};
    } else {
        memmove(b->free + i, b->free + i + 1, (b->num_free - i - 1) * sizeof(*b->free));
        b->num_free--;
    }
    return true;
}

static bool alloc_from(struct exec_vk_block *b, struct exec_vk_memory *m, VkDeviceSize size,
                       VkDeviceSize align)
{
    for (uint32_t i = 0; i < b->num_free; i++) {
        VkDeviceSize start = (b->free[i].offset + align - 1) / align * align;
        if (start + size > b->free[i].offset + b->free[i].size)
            continue;
        if (!carve(b, i, start, size))
            return false;
        *m = (struct exec_vk_memory){.block = b,
                                     .memory = b->memory,
                                     .offset = start,
                                     .size = size,
                                     .map = b->map ? b->map + start : NULL};
        return true;
    }
    return false;
}

int exec_vk_alloc(struct exec_vk *vk, struct exec_vk_memory *m, const VkMemoryRequirements *req,
                  enum vk_memory_use use)
{
    const VkMemoryPropertyFlags host =
        VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;
    bool linear = use != VK_USE_DEVICE;
    int type = use == VK_USE_DEVICE
                   ? memory_type(vk, req->memoryTypeBits, 0, VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT)
               : use == VK_USE_SHARED
                   ? memory_type(vk, req->memoryTypeBits, host, VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT)
                   : memory_type(vk, req->memoryTypeBits, host, VK_MEMORY_PROPERTY_HOST_CACHED_BIT);
    struct exec_vk_block *b;

    if (type < 0)
        return -ENOTSUP;
    if (req->size < DEDICATED_SIZE)
        for (b = vk->blocks[type]; b; b = b->next)
            if (b->linear == linear && alloc_from(b, m, req->size, req->alignment))
                return 0;
    b = block_create(vk, (uint32_t)type, req->size < DEDICATED_SIZE ? BLOCK_SIZE : req->size, linear);
    if (!b || !alloc_from(b, m, req->size, req->alignment))
        return -ENOMEM;
    return 0;
}

static void block_destroy(struct exec_vk *vk, struct exec_vk_block *b)
{
    struct exec_vk_block **link = &vk->blocks[b->type];

    while (*link != b)
        link = &(*link)->next;
    *link = b->next;
    INVARIANT(vk->allocated >= b->size);
    vk->allocated -= b->size;
    vkFreeMemory(vk->device, b->memory, NULL);
    free(b->free);
    free(b);
}

void exec_vk_free(struct exec_vk *vk, struct exec_vk_memory *m)
{
    struct exec_vk_block *b = m->block;
    uint32_t i = 0;

    if (!b)
        return;
    while (i < b->num_free && b->free[i].offset < m->offset)
        i++;
    /* Nothing of it is free already. */
    INVARIANT(m->offset + m->size <= b->size);
    INVARIANT(!i || b->free[i - 1].offset + b->free[i - 1].size <= m->offset);
    INVARIANT(i == b->num_free || m->offset + m->size <= b->free[i].offset);
    if (i && b->free[i - 1].offset + b->free[i - 1].size == m->offset) {
        b->free[--i].size += m->size;
    } else if (i < b->num_free && m->offset + m->size == b->free[i].offset) {
        b->free[i].offset = m->offset;
        b->free[i].size += m->size;
    } else if (!insert_piece(b, i, (struct piece){m->offset, m->size})) {
        log_warn("executor", "no memory to note %llu free bytes", (unsigned long long)m->size);
    }
    if (i + 1 < b->num_free && b->free[i].offset + b->free[i].size == b->free[i + 1].offset) {
        b->free[i].size += b->free[i + 1].size;
        memmove(b->free + i + 1, b->free + i + 2, (b->num_free - i - 2) * sizeof(*b->free));
        b->num_free--;
    }
    *m = (struct exec_vk_memory){0};
    /* An empty block goes, but the last of the normal size stays for what comes next. */
    if (b->num_free == 1 && b->free[0].size == b->size &&
        (b->size != BLOCK_SIZE || vk->blocks[b->type] != b || b->next))
        block_destroy(vk, b);
}

int exec_vk_buffer_create(struct exec_vk *vk, struct exec_vk_buffer *b, VkDeviceSize size,
                          VkBufferUsageFlags usage, enum vk_memory_use use)
{
    VkBufferCreateInfo ci = {.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO, .size = size, .usage = usage};
    VkMemoryRequirements req;
    VkResult r;
    int err;

    *b = (struct exec_vk_buffer){.size = size};
    r = vkCreateBuffer(vk->device, &ci, NULL, &b->buffer);
    if (r)
        return exec_vk_errno(r);
    vkGetBufferMemoryRequirements(vk->device, b->buffer, &req);
    err = exec_vk_alloc(vk, &b->memory, &req, use);
    if (!err)
        err = exec_vk_errno(vkBindBufferMemory(vk->device, b->buffer, b->memory.memory, b->memory.offset));
    if (err)
        exec_vk_buffer_destroy(vk, b);
    return err;
}

void exec_vk_buffer_destroy(struct exec_vk *vk, struct exec_vk_buffer *b)
{
    if (b->buffer)
        vkDestroyBuffer(vk->device, b->buffer, NULL);
    exec_vk_free(vk, &b->memory);
    *b = (struct exec_vk_buffer){0};
}

VkResult exec_vk_pages_import(struct exec_vk *vk, struct exec_vk_pages *out, void *pages, VkDeviceSize span,
                              VkDeviceSize size, VkBufferUsageFlags usage)
{
    const VkExternalMemoryHandleTypeFlagBits type = VK_EXTERNAL_MEMORY_HANDLE_TYPE_HOST_ALLOCATION_BIT_EXT;
    VkExternalMemoryBufferCreateInfo ext = {.sType = VK_STRUCTURE_TYPE_EXTERNAL_MEMORY_BUFFER_CREATE_INFO,
                                            .handleTypes = type};
    VkBufferCreateInfo bi = {
        .sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO, .pNext = &ext, .size = size, .usage = usage};
    VkMemoryAllocateFlagsInfo flags = {.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_FLAGS_INFO,
                                       .flags = VK_MEMORY_ALLOCATE_DEVICE_ADDRESS_BIT};
    VkImportMemoryHostPointerInfoEXT pointer = {
        .sType = VK_STRUCTURE_TYPE_IMPORT_MEMORY_HOST_POINTER_INFO_EXT,
        .pNext = usage & VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT ? &flags : NULL,
        .handleType = type,
        .pHostPointer = pages};
    VkMemoryAllocateInfo ai = {
        .sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO, .pNext = &pointer, .allocationSize = span};
    VkMemoryHostPointerPropertiesEXT props = {.sType = VK_STRUCTURE_TYPE_MEMORY_HOST_POINTER_PROPERTIES_EXT};
    PFN_vkGetMemoryHostPointerPropertiesEXT get =
        (PFN_vkGetMemoryHostPointerPropertiesEXT)(void *)vkGetDeviceProcAddr(
            vk->device, "vkGetMemoryHostPointerPropertiesEXT");
    VkMemoryRequirements req;
    VkResult r;

    *out = (struct exec_vk_pages){0};
    if (!vk->caps.host_memory || !get || get(vk->device, type, pages, &props))
        return VK_ERROR_FEATURE_NOT_PRESENT;
    r = vkCreateBuffer(vk->device, &bi, NULL, &out->buffer);
    if (r)
        return r;
    vkGetBufferMemoryRequirements(vk->device, out->buffer, &req);
    props.memoryTypeBits &= req.memoryTypeBits;
    if (props.memoryTypeBits && req.size <= span) {
        out->offset = (span - req.size) / req.alignment * req.alignment;
        ai.memoryTypeIndex = (uint32_t)__builtin_ctz(props.memoryTypeBits);
        r = vkAllocateMemory(vk->device, &ai, NULL, &out->memory);
        if (!r)
            r = vkBindBufferMemory(vk->device, out->buffer, out->memory, out->offset);
    } else {
        r = VK_ERROR_FEATURE_NOT_PRESENT;
    }
    if (r)
        exec_vk_pages_release(vk, out);
    return r;
}

void exec_vk_pages_release(struct exec_vk *vk, struct exec_vk_pages *p)
{
    vkDestroyBuffer(vk->device, p->buffer, NULL);
    vkFreeMemory(vk->device, p->memory, NULL);
    *p = (struct exec_vk_pages){0};
}
