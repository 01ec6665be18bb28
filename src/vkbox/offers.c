/* SPDX-License-Identifier: MIT */
/* offers.c: extensions by which engines look after a crash, for drivers that have them not.
 *
 *   VK_AMD_buffer_marker                     a word written when the device reaches a stage: by a transfer, in a cut of the pass
 *   VK_NV_device_diagnostic_checkpoints      the last ones that were reached and passed: by points, from the record
 *   VK_EXT_device_fault                      the verdict, and the address of a page fault
 *   VK_EXT_device_address_binding_report     where buffers, images and memory lie, as far as their addresses are known, and when they cease to
 *
 * A driver that has one keeps it. In a pass that cannot be cut (passes.c) a marker comes when the pass ends: it says less, and
 * nothing wrong of what has finished.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "vkbox/fast.h"
#include "vkbox/point.h"

static const struct {
    const char *name;
    uint32_t version;
} offered[OFFERS] = {
    [OFFER_MARKER] = {VK_AMD_BUFFER_MARKER_EXTENSION_NAME, VK_AMD_BUFFER_MARKER_SPEC_VERSION},
    [OFFER_CHECKPOINTS] = {VK_NV_DEVICE_DIAGNOSTIC_CHECKPOINTS_EXTENSION_NAME,
                           VK_NV_DEVICE_DIAGNOSTIC_CHECKPOINTS_SPEC_VERSION},
    [OFFER_FAULT] = {VK_EXT_DEVICE_FAULT_EXTENSION_NAME, VK_EXT_DEVICE_FAULT_SPEC_VERSION},
    [OFFER_BINDINGS] = {VK_EXT_DEVICE_ADDRESS_BINDING_REPORT_EXTENSION_NAME,
                        VK_EXT_DEVICE_ADDRESS_BINDING_REPORT_SPEC_VERSION}};

/* ---- what a device has ---------------------------------------------------- */

const char *const offers_wanted[WANTED] = {[WANTED_EXTERNAL] = VK_KHR_EXTERNAL_MEMORY_EXTENSION_NAME,
                                           [WANTED_IMPORTS] = VK_EXT_EXTERNAL_MEMORY_HOST_EXTENSION_NAME,
                                           [WANTED_FAULTS] = VK_EXT_DEVICE_FAULT_EXTENSION_NAME,
                                           [WANTED_BINDINGS] =
                                               VK_EXT_DEVICE_ADDRESS_BINDING_REPORT_EXTENSION_NAME};

/* Kept with the instance: programs ask again and again, and loaders and drivers make their lists anew each time. */
struct asked {
    uint32_t num, used; /* devices; entries of `all` */
    struct {
        struct offers_physical is;
        uint32_t first, num; /* of `all` */
    } each[16];
    VkExtensionProperties all[];
};

static pthread_mutex_t asked_lock = PTHREAD_MUTEX_INITIALIZER;

static void compare(const VkExtensionProperties *have, uint32_t n, struct offers_physical *p)
{
    p->offers = (1u << OFFERS) - 1;
    for (uint32_t k = 0; k < n; k++) {
        for (uint32_t o = 0; o < OFFERS; o++)
            if (!strcmp(have[k].extensionName, offered[o].name))
                p->offers &= ~(1u << o);
        for (uint32_t w = 0; w < WANTED; w++)
            if (!strcmp(have[k].extensionName, offers_wanted[w]))
                p->has |= 1u << w;
    }
}

/* With the lock held: the place of a device in `own`, which may move; -1: there is no room, or the driver does not tell. */
static int ask(struct layer_instance *i, VkPhysicalDevice physical)
{
    enum { MOST = 512 };
    struct asked *a = i->own, *more;
    uint32_t n = MOST, k = 0;

    while (a && k < a->num && a->each[k].is.handle != physical)
        k++;
    if (a && k < a->num)
        return (int)k;
    if (!i->extensions || (a && a->num == sizeof(a->each) / sizeof(a->each[0])))
        return -1;
    more = realloc(a, sizeof(*more) + ((a ? a->used : 0) + MOST) * sizeof(more->all[0]));
    if (!more)
        return -1;
    i->own = more;
    if (!a)
        more->num = more->used = 0;
    if (i->extensions(physical, NULL, &n, &more->all[more->used])) /* or it has more than these */
        return -1;
    k = more->num++;
    more->each[k].is = (struct offers_physical){.handle = physical};
    more->each[k].first = more->used;
    more->each[k].num = n;
    compare(&more->all[more->used], n, &more->each[k].is);
    more->used += n;
    return (int)k;
}

struct offers_physical offers_of(struct layer_instance *i, VkPhysicalDevice physical)
{
    struct offers_physical p = {physical, 0, 0};
    int k;

    pthread_mutex_lock(&asked_lock);
    k = ask(i, physical);
    if (k >= 0)
        p = ((const struct asked *)i->own)->each[k].is;
    pthread_mutex_unlock(&asked_lock);
    return p;
}

uint32_t offer_of_name(const char *name)
{
    for (uint32_t o = 0; o < OFFERS; o++)
        if (!strcmp(offered[o].name, name))
            return 1u << o;
    return 0;
}

static uint32_t put_extensions(VkExtensionProperties *out, uint32_t at, uint32_t room,
                               const VkExtensionProperties *from, uint32_t n)
{
    for (uint32_t k = 0; out && k < n && at + k < room; k++)
        out[at + k] = from[k];
    return at + n;
}

VkResult offers_enumerate(struct layer_instance *i, VkPhysicalDevice physical, const char *layer,
                          uint32_t *num, VkExtensionProperties *out)
{
    const bool own = layer && !strcmp(layer, VKBOX_LAYER);
    const uint32_t room = out ? *num : 0;
    uint32_t n = 0;
    int k;

    pthread_mutex_lock(&asked_lock);
    k = box && (!layer || own) ? ask(i, physical) : -1;
    if (k >= 0) {
        const struct asked *a = i->own;

        n = own ? 0 : put_extensions(out, 0, room, &a->all[a->each[k].first], a->each[k].num);
        for (uint32_t o = 0; o < OFFERS; o++) {
            VkExtensionProperties one = {.specVersion = offered[o].version};

            snprintf(one.extensionName, sizeof(one.extensionName), "%s", offered[o].name);
            n = a->each[k].is.offers >> o & 1 ? put_extensions(out, n, room, &one, 1) : n;
        }
    }
    pthread_mutex_unlock(&asked_lock);
    if (k < 0 && !own)
        return i->extensions(physical, layer, num, out);
    *num = out && n > room ? room : n;
    return out && n > room ? VK_INCOMPLETE : VK_SUCCESS;
}

static VkBool32 *feature_of(const void *at, enum offer *offer)
{
    const VkBaseInStructure *s = at;

    if (s->sType == VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FAULT_FEATURES_EXT) {
        *offer = OFFER_FAULT;
        return &((VkPhysicalDeviceFaultFeaturesEXT *)(uintptr_t)at)->deviceFault;
    }
    if (s->sType == VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_ADDRESS_BINDING_REPORT_FEATURES_EXT) {
        *offer = OFFER_BINDINGS;
        return &((VkPhysicalDeviceAddressBindingReportFeaturesEXT *)(uintptr_t)at)->reportAddressBinding;
    }
    return NULL;
}

void offers_features(struct layer_instance *i, VkPhysicalDevice physical, void *chain)
{
    const uint32_t offers = box ? offers_of(i, physical).offers : 0;
    enum offer offer;

    for (VkBaseOutStructure *s = chain; s; s = s->pNext) {
        VkBool32 *feature = feature_of(s, &offer);

        if (feature && offers >> offer & 1)
            *feature = VK_TRUE;
    }
}

/* A driver refuses features that it does not have: it is not shown these. `was` keeps them; a second call puts them back. */
void offers_hide(const void *chain, uint32_t offers, VkBool32 was[OFFERS], bool back)
{
    enum offer offer;

    for (const VkBaseInStructure *s = chain; s; s = s->pNext) {
        VkBool32 *feature = feature_of(s, &offer);

        if (!feature || !(offers >> offer & 1))
            continue;
        if (!back)
            was[offer] = *feature;
        *feature = back ? was[offer] : VK_FALSE;
    }
}

void offers_families(struct layer_instance *i, VkPhysicalDevice physical, uint32_t n, void *families)
{
    VkQueueFamilyProperties2 *f = families;

    if (!box || !(offers_of(i, physical).offers >> OFFER_CHECKPOINTS & 1))
        return;
    for (uint32_t k = 0; f && k < n; k++)
        for (VkBaseOutStructure *s = f[k].pNext; s; s = s->pNext)
            if (s->sType == VK_STRUCTURE_TYPE_QUEUE_FAMILY_CHECKPOINT_PROPERTIES_NV)
                ((VkQueueFamilyCheckpointPropertiesNV *)(void *)s)->checkpointExecutionStageMask =
                    VK_PIPELINE_STAGE_TOP_OF_PIPE_BIT | VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT;
}

/* ---- markers -------------------------------------------------------------- */

static void write_marker(struct device *d, VkCommandBuffer handle, const struct marker *m)
{
    static const VkMemoryBarrier barrier = {.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER,
                                            .srcAccessMask = VK_ACCESS_MEMORY_WRITE_BIT,
                                            .dstAccessMask = VK_ACCESS_TRANSFER_WRITE_BIT};

    if (m->waits)
        d->next.vkCmdPipelineBarrier(handle, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT,
                                     VK_PIPELINE_STAGE_TRANSFER_BIT, 0, 1, &barrier, 0, NULL, 0, NULL);
    d->next.vkCmdUpdateBuffer(handle, m->buffer, m->offset, 4, &m->value);
}

void offers_pass_ended(struct command_buffer *cb)
{
    for (uint32_t i = 0; i < cb->num_late; i++)
        write_marker(cb->d, cb->handle, &cb->late[i]);
    cb->num_late = 0;
}

static void put_marker(VkCommandBuffer handle, struct marker m)
{
    struct command_buffer *cb = command_buffer_of(handle);
    struct device *d = cb ? cb->d : device_of(handle);

    if (!cb || !cb->in_pass) {
        write_marker(d, handle, &m);
    } else if (pass_leave(cb)) {
        write_marker(d, handle, &m);
        pass_enter(cb);
    } else if (!cb->slot || !cb->slot->secondary) {
        if (cb->num_late == LATE_MARKERS) /* of so many the last ones say most */
            memmove(cb->late, cb->late + 1, (LATE_MARKERS - 1) * sizeof(cb->late[0]));
        cb->num_late -= cb->num_late == LATE_MARKERS;
        cb->late[cb->num_late++] = m;
    }
}

static VKAPI_ATTR void VKAPI_CALL offer_vkCmdWriteBufferMarkerAMD(VkCommandBuffer handle,
                                                                  VkPipelineStageFlagBits stage,
                                                                  VkBuffer buffer, VkDeviceSize offset,
                                                                  uint32_t marker)
{
    put_marker(handle, (struct marker){buffer, offset, marker, stage != VK_PIPELINE_STAGE_TOP_OF_PIPE_BIT});
}

static VKAPI_ATTR void VKAPI_CALL offer_vkCmdWriteBufferMarker2AMD(VkCommandBuffer handle,
                                                                   VkPipelineStageFlags2 stage,
                                                                   VkBuffer buffer, VkDeviceSize offset,
                                                                   uint32_t marker)
{
    put_marker(handle, (struct marker){buffer, offset, marker,
                                       stage != VK_PIPELINE_STAGE_2_TOP_OF_PIPE_BIT && stage});
}

/* ---- checkpoints ---------------------------------------------------------- */

static VKAPI_ATTR void VKAPI_CALL offer_vkCmdSetCheckpointNV(VkCommandBuffer handle, const void *marker)
{
    struct command_buffer *cb = command_buffer_of(handle);
    const uint64_t value = (uint64_t)(uintptr_t)marker;

    if (!cb || !cb->slot)
        return;
    commands_checkpoint(cb, VKBOX_CHECKPOINT, value);
}

struct reached {
    const void *top, *bottom;
    bool any_top, any_bottom;
};

/* A checkpoint is reached when the point before it is, and passed with the first point behind it. */
static bool follow(const struct vkbox_command_buffer *cb, uint32_t word, struct reached *r)
{
    const uint32_t mark = point_number(box, (uint32_t)(cb - box->command_buffers), word);
    uint32_t at = cb->first;
    bool waits = false;
    const void *last = NULL;

    for (; at < VKBOX_CHUNKS; at = box->chunks[at].next) {
        const struct vkbox_chunk *c = &box->chunks[at];

        for (uint32_t i = 0; i < c->used; i += 1 + (c->words[i] & 0xffff)) {
            if (c->words[i] >> 16 == VKBOX_POINT) {
                if (mark == POINT_OVERWRITTEN || c->words[i + 1] > mark)
                    return false;
                if (waits) {
                    r->bottom = last;
                    r->any_bottom = true;
                }
                waits = false;
            } else if (c->words[i] >> 16 == VKBOX_CHECKPOINT) {
                last = r->top = (const void *)(uintptr_t)(c->words[i + 1] | (uint64_t)c->words[i + 2] << 32);
                r->any_top = waits = true;
            }
        }
    }
    return true;
}

static struct reached reached_by(VkQueue queue)
{
    struct device *d = device_of(queue);
    struct reached r = {0};
    uint64_t last = atomic_load(&box->submissions);

    commands_copy_marks();
    for (uint64_t n = last >= vkbox_ring(box) ? last - vkbox_ring(box) + 1 : 1; last && n <= last; n++) {
        const struct vkbox_submission *s = &box->submission[vkbox_slot_of(box, n)];

        if (atomic_load(&s->number) != n || box->queues[s->queue].device != d->index ||
            box->queues[s->queue].handle != (uint64_t)(uintptr_t)queue)
            continue;
        for (uint32_t i = 0; i < vkbox_submitted_count(s); i++) {
            const struct vkbox_submitted c = vkbox_submitted_at(box, s, i);
            const struct vkbox_command_buffer *cb;

            if (c.command_buffer >= VKBOX_COMMAND_BUFFERS)
                continue;
            cb = &box->command_buffers[c.command_buffer];
            if (cb->recording != c.recording || cb->mark == VKBOX_NO_INDEX || !d->marks)
                continue;
            if (!follow(cb, d->marks[cb->mark], &r))
                return r;
        }
    }
    return r;
}

#define GET_CHECKPOINTS(version, stage_type, top_stage, bottom_stage)                                        \
    static VKAPI_ATTR void VKAPI_CALL offer_vkGetQueueCheckpointData##version##NV(                           \
        VkQueue queue, uint32_t *num, VkCheckpointData##version##NV *out)                                    \
    {                                                                                                        \
        const struct reached r = reached_by(queue);                                                          \
        const uint32_t there = (uint32_t)r.any_top + r.any_bottom;                                           \
        uint32_t n = 0;                                                                                      \
                                                                                                             \
        if (!out) {                                                                                          \
            *num = there;                                                                                    \
            return;                                                                                          \
        }                                                                                                    \
        if (r.any_top && n < *num) {                                                                         \
            out[n].stage = top_stage;                                                                        \
            out[n++].pCheckpointMarker = (void *)(uintptr_t)r.top;                                           \
        }                                                                                                    \
        if (r.any_bottom && n < *num) {                                                                      \
            out[n].stage = bottom_stage;                                                                     \
            out[n++].pCheckpointMarker = (void *)(uintptr_t)r.bottom;                                        \
        }                                                                                                    \
        *num = n;                                                                                            \
    }

GET_CHECKPOINTS(, VkPipelineStageFlagBits, VK_PIPELINE_STAGE_TOP_OF_PIPE_BIT,
                VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT)
GET_CHECKPOINTS(2, VkPipelineStageFlags2, VK_PIPELINE_STAGE_2_TOP_OF_PIPE_BIT,
                VK_PIPELINE_STAGE_2_BOTTOM_OF_PIPE_BIT)

/* ---- faults --------------------------------------------------------------- */

static VKAPI_ATTR VkResult VKAPI_CALL offer_vkGetDeviceFaultInfoEXT(VkDevice device,
                                                                    VkDeviceFaultCountsEXT *counts,
                                                                    VkDeviceFaultInfoEXT *info)
{
    const struct vkbox_crash *c = &box->crash;
    const uint32_t kind = atomic_load(&c->kind);
    const bool address = kind == VKBOX_SIGNAL && c->has_address;

    counts->vendorBinarySize = 0;
    if (!info) {
        counts->addressInfoCount = address;
        counts->vendorInfoCount = 0;
        return VK_SUCCESS;
    }
    snprintf(info->description, sizeof(info->description), "%.255s",
             box->verdict[0]             ? box->verdict
             : kind == VKBOX_DEVICE_LOST ? "The device was lost"
                                         : "Nothing is known of a fault");
    counts->vendorInfoCount = 0;
    if (address && !counts->addressInfoCount)
        return VK_INCOMPLETE;
    counts->addressInfoCount = address;
    if (address && info->pAddressInfos)
        info->pAddressInfos[0] = (VkDeviceFaultAddressInfoEXT){
            .addressType = c->fault & 16  ? VK_DEVICE_FAULT_ADDRESS_TYPE_EXECUTE_INVALID_EXT
                           : c->fault & 2 ? VK_DEVICE_FAULT_ADDRESS_TYPE_WRITE_INVALID_EXT
                                          : VK_DEVICE_FAULT_ADDRESS_TYPE_READ_INVALID_EXT,
            .reportedAddress = c->address,
            .addressPrecision = 1};
    return VK_SUCCESS;
}

/* A driver that tells of its faults is asked when it has lost its device, and only then may be. */
void offers_ask(struct device *d)
{
    enum { ADDRESSES = 8 };
    VkDeviceFaultAddressInfoEXT addresses[ADDRESSES] = {0};
    VkDeviceFaultVendorInfoEXT vendor[ADDRESSES];
    VkDeviceFaultCountsEXT counts = {.sType = VK_STRUCTURE_TYPE_DEVICE_FAULT_COUNTS_EXT,
                                     .addressInfoCount = ADDRESSES,
                                     .vendorInfoCount = ADDRESSES};
    VkDeviceFaultInfoEXT info = {
        .sType = VK_STRUCTURE_TYPE_DEVICE_FAULT_INFO_EXT, .pAddressInfos = addresses, .pVendorInfos = vendor};
    struct vkbox_said *said = &box->crash.said;

    if (!d->next.vkGetDeviceFaultInfoEXT ||
        d->next.vkGetDeviceFaultInfoEXT(d->handle, &counts, &info) < VK_SUCCESS)
        return;
    snprintf(said->text, sizeof(said->text), "%.255s", info.description);
    utf8_mend(said->text);
    for (uint32_t i = 0; i < counts.addressInfoCount && i < ADDRESSES && !said->type; i++)
        if (addresses[i].addressType >= VK_DEVICE_FAULT_ADDRESS_TYPE_READ_INVALID_EXT &&
            addresses[i].addressType <= VK_DEVICE_FAULT_ADDRESS_TYPE_EXECUTE_INVALID_EXT) {
            said->address = addresses[i].reportedAddress;
            said->precision = addresses[i].addressPrecision;
            said->type = addresses[i].addressType;
        }
    said->tells = 1;
}

/* ---- addresses ------------------------------------------------------------- */

/* Images and memory have addresses, too, that nobody can ask for. */
static VKAPI_ATTR VkBool32 VKAPI_CALL on_binding(VkDebugUtilsMessageSeverityFlagBitsEXT severity,
                                                 VkDebugUtilsMessageTypeFlagsEXT types,
                                                 const VkDebugUtilsMessengerCallbackDataEXT *data, void *user)
{
    const VkDeviceAddressBindingCallbackDataEXT *b = NULL;

    for (const VkBaseInStructure *s = data->pNext; s && !b; s = s->pNext)
        if (s->sType == VK_STRUCTURE_TYPE_DEVICE_ADDRESS_BINDING_CALLBACK_DATA_EXT)
            b = (const void *)s;
    for (uint32_t i = 0;
         b && b->bindingType == VK_DEVICE_ADDRESS_BINDING_TYPE_BIND_EXT && i < data->objectCount; i++)
        note_told_address(user, data->pObjects[i].objectType, data->pObjects[i].objectHandle, b->baseAddress,
                          b->size);
    return VK_FALSE;
}

void offers_listen(struct device *d)
{
    const VkDebugUtilsMessengerCreateInfoEXT info = {
        .sType = VK_STRUCTURE_TYPE_DEBUG_UTILS_MESSENGER_CREATE_INFO_EXT,
        .messageSeverity =
            VK_DEBUG_UTILS_MESSAGE_SEVERITY_VERBOSE_BIT_EXT | VK_DEBUG_UTILS_MESSAGE_SEVERITY_INFO_BIT_EXT |
            VK_DEBUG_UTILS_MESSAGE_SEVERITY_WARNING_BIT_EXT | VK_DEBUG_UTILS_MESSAGE_SEVERITY_ERROR_BIT_EXT,
        .messageType = VK_DEBUG_UTILS_MESSAGE_TYPE_DEVICE_ADDRESS_BINDING_BIT_EXT,
        .pfnUserCallback = on_binding,
        .pUserData = d};
    PFN_vkCreateDebugUtilsMessengerEXT create = (PFN_vkCreateDebugUtilsMessengerEXT)d->instance->get(
        d->instance->handle, "vkCreateDebugUtilsMessengerEXT");

    if (!create || create(d->instance->handle, &info, NULL, &d->messenger) != VK_SUCCESS)
        d->messenger = VK_NULL_HANDLE;
}

void offers_deafen(struct device *d)
{
    PFN_vkDestroyDebugUtilsMessengerEXT destroy = (PFN_vkDestroyDebugUtilsMessengerEXT)d->instance->get(
        d->instance->handle, "vkDestroyDebugUtilsMessengerEXT");

    if (d->messenger && destroy)
        destroy(d->instance->handle, d->messenger, NULL);
    d->messenger = VK_NULL_HANDLE;
}

/* To the messengers of the instance, as the driver would. */
void offers_report(struct device *d, VkObjectType type, uint64_t handle, uint64_t address, uint64_t size,
                   bool bound)
{
    VkDeviceAddressBindingCallbackDataEXT binding = {
        .sType = VK_STRUCTURE_TYPE_DEVICE_ADDRESS_BINDING_CALLBACK_DATA_EXT,
        .baseAddress = address,
        .size = size,
        .bindingType =
            bound ? VK_DEVICE_ADDRESS_BINDING_TYPE_BIND_EXT : VK_DEVICE_ADDRESS_BINDING_TYPE_UNBIND_EXT};
    VkDebugUtilsObjectNameInfoEXT object = {.sType = VK_STRUCTURE_TYPE_DEBUG_UTILS_OBJECT_NAME_INFO_EXT,
                                            .objectType = type,
                                            .objectHandle = handle};
    VkDebugUtilsMessengerCallbackDataEXT data = {
        .sType = VK_STRUCTURE_TYPE_DEBUG_UTILS_MESSENGER_CALLBACK_DATA_EXT,
        .pNext = &binding,
        .pMessageIdName = "VK_EXT_device_address_binding_report",
        .pMessage = bound ? "an address is bound" : "an address is bound no more",
        .objectCount = 1,
        .pObjects = &object};
    PFN_vkSubmitDebugUtilsMessageEXT submit = (PFN_vkSubmitDebugUtilsMessageEXT)d->instance->get(
        d->instance->handle, "vkSubmitDebugUtilsMessageEXT");

    if (submit && d->offers >> OFFER_BINDINGS & 1)
        submit(d->instance->handle, VK_DEBUG_UTILS_MESSAGE_SEVERITY_INFO_BIT_EXT,
               VK_DEBUG_UTILS_MESSAGE_TYPE_DEVICE_ADDRESS_BINDING_BIT_EXT, &data);
}

PFN_vkVoidFunction offers_find(const struct device *d, const char *name)
{
#define OFFER(offer, fn)                                                                                     \
    {                                                                                                        \
        OFFER_##offer,                                                                                       \
        {                                                                                                    \
#fn, (PFN_vkVoidFunction)offer_##fn                                                              \
        }                                                                                                    \
    }
    static const struct {
        enum offer offer;
        struct layer_hook hook;
    } hooks[] = {
        OFFER(MARKER, vkCmdWriteBufferMarkerAMD),        OFFER(MARKER, vkCmdWriteBufferMarker2AMD),
        OFFER(CHECKPOINTS, vkCmdSetCheckpointNV),        OFFER(CHECKPOINTS, vkGetQueueCheckpointDataNV),
        OFFER(CHECKPOINTS, vkGetQueueCheckpointData2NV), OFFER(FAULT, vkGetDeviceFaultInfoEXT)};

    for (size_t i = 0; i < sizeof(hooks) / sizeof(hooks[0]); i++)
        if (d->offers >> hooks[i].offer & 1 && !strcmp(hooks[i].hook.name, name))
            return hooks[i].hook.fn;
    return NULL;
}
