/* SPDX-License-Identifier: MIT */
/* passes.c: render passes cut in pieces, so that exact mode can put a point behind every draw.
 *
 *   begin│ draw │ draw │ draw │end        as the program records it
 *   head │ draw ╎ middle │ draw ╎ middle │ draw ╎ tail        ╎ is a point
 *
 * The head loads as the pass does, the tail stores and resolves as it does; between them everything is loaded and stored. All
 * are compatible: pipelines and framebuffers are good for each. Passes of several subpasses, those that are suspended or
 * resumed, and draws within a query stay whole: they are a group.
 */
#include <stdlib.h>
#include <string.h>

#include "vkbox/layer.h"

struct pieces {
    struct device *d;
    VkRenderPass head, middle, tail;
};

static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static struct map pieces_of; /* VkRenderPass to struct pieces */

/* ---- render passes ------------------------------------------------------- */

enum piece { HEAD, MIDDLE, TAIL };

static void destroy_pieces(struct device *d, struct pieces *p)
{
    const VkRenderPass all[] = {p->head, p->middle, p->tail};

    for (int i = 0; i < 3 && !device_is_lost(d); i++)
        if (all[i])
            d->next.vkDestroyRenderPass(d->handle, all[i], NULL);
    free(p);
}

static void keep(struct device *d, VkRenderPass pass, struct pieces *p, bool made)
{
    uint64_t *at = NULL;

    if (made) {
        pthread_rwlock_wrlock(&lock);
        at = map_put(&pieces_of, (uint64_t)pass);
        if (at)
            *at = (uint64_t)(uintptr_t)p;
        pthread_rwlock_unlock(&lock);
    }
    if (!at)
        destroy_pieces(d, p);
}

/* For VkRenderPassCreateInfo and …Info2, whose members have the same names. layout_…: the layout that the subpass has an
 * attachment in; `other` if it does not use it. make_…: one piece of a pass. */
#define DEFINE_PIECES(version, create)                                                                       \
    static VkImageLayout layout_##version(const VkSubpassDescription##version *s, uint32_t n,                \
                                          VkImageLayout other)                                               \
    {                                                                                                        \
        for (uint32_t k = 0; k < s->inputAttachmentCount; k++)                                               \
            if (s->pInputAttachments[k].attachment == n)                                                     \
                return s->pInputAttachments[k].layout;                                                       \
        for (uint32_t k = 0; k < s->colorAttachmentCount; k++) {                                             \
            if (s->pColorAttachments[k].attachment == n)                                                     \
                return s->pColorAttachments[k].layout;                                                       \
            if (s->pResolveAttachments && s->pResolveAttachments[k].attachment == n)                         \
                return s->pResolveAttachments[k].layout;                                                     \
        }                                                                                                    \
        if (s->pDepthStencilAttachment && s->pDepthStencilAttachment->attachment == n)                       \
            return s->pDepthStencilAttachment->layout;                                                       \
        return other;                                                                                        \
    }                                                                                                        \
                                                                                                             \
    static bool make_##version(struct device *d, const VkRenderPassCreateInfo##version *info,                \
                               enum piece piece, VkRenderPass *out)                                          \
    {                                                                                                        \
        VkAttachmentDescription##version *a = calloc(info->attachmentCount + 1, sizeof(*a));                 \
        VkSubpassDescription##version subpass = info->pSubpasses[0];                                         \
        VkRenderPassCreateInfo##version mine = *info;                                                        \
        bool made;                                                                                           \
                                                                                                             \
        for (uint32_t i = 0; a && i < info->attachmentCount; i++) {                                          \
            VkImageLayout first = info->pAttachments[i].initialLayout, within;                               \
                                                                                                             \
            within = layout_##version(&subpass, i,                                                           \
                                      first == VK_IMAGE_LAYOUT_UNDEFINED ? VK_IMAGE_LAYOUT_GENERAL : first); \
            a[i] = info->pAttachments[i];                                                                    \
            if (piece != HEAD) {                                                                             \
                a[i].initialLayout = within;                                                                 \
                a[i].loadOp = a[i].stencilLoadOp = VK_ATTACHMENT_LOAD_OP_LOAD;                               \
            }                                                                                                \
            if (piece != TAIL) {                                                                             \
                a[i].finalLayout = within;                                                                   \
                a[i].storeOp = a[i].stencilStoreOp = VK_ATTACHMENT_STORE_OP_STORE;                           \
            }                                                                                                \
        }                                                                                                    \
        if (piece != TAIL)                                                                                   \
            subpass.pResolveAttachments = NULL;                                                              \
        mine.pAttachments = a;                                                                               \
        mine.pSubpasses = &subpass;                                                                          \
        made = a && !d->next.create(d->handle, &mine, NULL, out);                                            \
        free(a);                                                                                             \
        return made;                                                                                         \
    }                                                                                                        \
                                                                                                             \
    static void make_all_##version(struct device *d, const VkRenderPassCreateInfo##version *info,            \
                                   VkRenderPass pass)                                                        \
    {                                                                                                        \
        struct pieces *p = d->slot && d->cuts && info->subpassCount == 1 ? calloc(1, sizeof(*p)) : NULL;     \
                                                                                                             \
        if (p)                                                                                               \
            p->d = d;                                                                                        \
        if (p)                                                                                               \
            keep(d, pass, p,                                                                                 \
                 make_##version(d, info, HEAD, &p->head) && make_##version(d, info, MIDDLE, &p->middle) &&   \
                     make_##version(d, info, TAIL, &p->tail));                                               \
    }

DEFINE_PIECES(, vkCreateRenderPass)
DEFINE_PIECES(2, vkCreateRenderPass2)

static VKAPI_ATTR VkResult VKAPI_CALL hook_vkCreateRenderPass(VkDevice device,
                                                              const VkRenderPassCreateInfo *info,
                                                              const VkAllocationCallbacks *allocator,
                                                              VkRenderPass *out)
{
    struct device *d = device_of(device);
    VkResult r = d->next.vkCreateRenderPass(device, info, allocator, out);

    if (r != VK_SUCCESS)
        return note_result(d, VKBOX_CALL_vkCreateRenderPass, r);
    note_created(d, VK_OBJECT_TYPE_RENDER_PASS, (uint64_t)*out, NULL);
    make_all_(d, info, *out);
    return r;
}

/* What hangs on an attachment or a subpass could name layouts of its own. */
static bool is_plain(const VkRenderPassCreateInfo2 *info)
{
    bool plain = info->subpassCount == 1 && !info->pSubpasses[0].pNext;

    for (uint32_t i = 0; i < info->attachmentCount && plain; i++)
        plain = !info->pAttachments[i].pNext;
    return plain;
}

static VKAPI_ATTR VkResult VKAPI_CALL hook_vkCreateRenderPass2(VkDevice device,
                                                               const VkRenderPassCreateInfo2 *info,
                                                               const VkAllocationCallbacks *allocator,
                                                               VkRenderPass *out)
{
    struct device *d = device_of(device);
    VkResult r = d->next.vkCreateRenderPass2(device, info, allocator, out);

    if (r != VK_SUCCESS)
        return note_result(d, VKBOX_CALL_vkCreateRenderPass2, r);
    note_created(d, VK_OBJECT_TYPE_RENDER_PASS, (uint64_t)*out, NULL);
    if (is_plain(info))
        make_all_2(d, info, *out);
    return r;
}

/* Of passes that the program left. */
void passes_device_gone(struct device *d)
{
    struct map_slot slot;
    bool again;

    pthread_rwlock_wrlock(&lock);
    do {
        size_t at = 0;

        again = false;
        while (!again && map_next(&pieces_of, &at, &slot)) {
            struct pieces *p = (void *)(uintptr_t)slot.value;

            if (p->d == d) {
                map_remove(&pieces_of, slot.key);
                destroy_pieces(d, p);
                again = true; /* the map has moved */
            }
        }
    } while (again);
    pthread_rwlock_unlock(&lock);
}

static VKAPI_ATTR void VKAPI_CALL hook_vkDestroyRenderPass(VkDevice device, VkRenderPass pass,
                                                           const VkAllocationCallbacks *allocator)
{
    struct device *d = device_of(device);
    struct pieces *p;

    pthread_rwlock_wrlock(&lock);
    p = map_pointer(&pieces_of, (uint64_t)pass);
    map_remove(&pieces_of, (uint64_t)pass);
    pthread_rwlock_unlock(&lock);
    if (p)
        destroy_pieces(d, p);
    note_destroyed(d, VK_OBJECT_TYPE_RENDER_PASS, (uint64_t)pass);
    if (!device_is_lost(d))
        d->next.vkDestroyRenderPass(device, pass, allocator);
}

const struct layer_hook pass_hooks[] = {
    LAYER_HOOK(vkCreateRenderPass),
    LAYER_HOOK(vkCreateRenderPass2),
    LAYER_ALIAS(vkCreateRenderPass2, KHR),
    LAYER_HOOK(vkDestroyRenderPass),
    LAYER_HOOKS_END,
};

/* ---- beginning ----------------------------------------------------------- */

/* The framebuffer's images, if the pass brings them itself; false: something else hangs on it. */
static bool take_chain(struct pass *p, const void *chain)
{
    const VkRenderPassAttachmentBeginInfo *a = chain;

    if (!chain)
        return true;
    if (a->sType != VK_STRUCTURE_TYPE_RENDER_PASS_ATTACHMENT_BEGIN_INFO || a->pNext ||
        a->attachmentCount > PASS_VIEWS)
        return false;
    p->views = *a;
    memcpy(p->view, a->pAttachments, a->attachmentCount * sizeof(p->view[0]));
    p->views.pAttachments = p->view;
    p->info.pNext = &p->views;
    return true;
}

/* Whether this pass is: of what the layer can cut. */
static bool is_cut(const struct command_buffer *cb)
{
    return cb->exact || box_is_own || cb->d->offers & (1u << OFFER_MARKER | 1u << OFFER_CHECKPOINTS);
}

/* What the pass begins with; as the program says if it stays whole. */
static VkRenderPassBeginInfo begin_pieces(struct command_buffer *cb, const VkRenderPassBeginInfo *info,
                                          VkSubpassContents contents, const void *chain)
{
    VkRenderPassBeginInfo mine = *info;
    struct pieces *p = NULL;

    if (!cb || !cb->d->cuts)
        return mine;
    cb->pass.kind = PASS_WHOLE;
    cb->pass.info = *info;
    cb->pass.info.pNext = NULL;
    if (is_cut(cb) && cb->marked && !cb->open && !chain && take_chain(&cb->pass, info->pNext)) {
        pthread_rwlock_rdlock(&lock);
        p = map_pointer(&pieces_of, (uint64_t)info->renderPass);
        pthread_rwlock_unlock(&lock);
    }
    if (!p)
        return mine;
    cb->pass.kind = PASS_PIECES;
    cb->pass.contents = contents;
    cb->pass.middle = p->middle;
    cb->pass.tail = p->tail;
    cb->pass.info.clearValueCount = 0;
    cb->pass.info.pClearValues = NULL;
    mine.renderPass = p->head;
    return mine;
}

void pass_vkCmdBeginRenderPass(struct command_buffer *cb, VkCommandBuffer handle,
                               const VkRenderPassBeginInfo *info, VkSubpassContents contents)
{
    VkRenderPassBeginInfo mine = begin_pieces(cb, info, contents, NULL);

    NEXT_OF(handle, cb, vkCmdBeginRenderPass)(handle, &mine, contents);
}

void pass_vkCmdBeginRenderPass2(struct command_buffer *cb, VkCommandBuffer handle,
                                const VkRenderPassBeginInfo *info, const VkSubpassBeginInfo *subpass)
{
    VkRenderPassBeginInfo mine = begin_pieces(cb, info, subpass->contents, subpass->pNext);

    NEXT_OF(handle, cb, vkCmdBeginRenderPass2)(handle, &mine, subpass);
}

static void copy_target(VkRenderingAttachmentInfo *to, const VkRenderingAttachmentInfo *from)
{
    *to = *from;
    to->loadOp = VK_ATTACHMENT_LOAD_OP_LOAD;
    to->storeOp = VK_ATTACHMENT_STORE_OP_STORE;
    to->resolveMode = VK_RESOLVE_MODE_NONE;
}

void pass_vkCmdBeginRendering(struct command_buffer *cb, VkCommandBuffer handle, const VkRenderingInfo *info)
{
    struct pass *p = cb ? &cb->pass : NULL;
    bool chained = info->pNext;

    if (p && cb->d->cuts) {
        p->kind = PASS_WHOLE;
        for (uint32_t i = 0; i < info->colorAttachmentCount && i < PASS_VIEWS; i++) {
            copy_target(&p->color[i], &info->pColorAttachments[i]);
            chained |= info->pColorAttachments[i].pNext != NULL || info->pColorAttachments[i].resolveMode;
        }
        if (info->pDepthAttachment) {
            copy_target(&p->depth, info->pDepthAttachment);
            chained |= info->pDepthAttachment->pNext != NULL || info->pDepthAttachment->resolveMode;
        }
        if (info->pStencilAttachment) {
            copy_target(&p->stencil, info->pStencilAttachment);
            chained |= info->pStencilAttachment->pNext != NULL || info->pStencilAttachment->resolveMode;
        }
        if (is_cut(cb) && cb->marked && !cb->open && !chained && info->colorAttachmentCount <= PASS_VIEWS &&
            !(info->flags & (VK_RENDERING_SUSPENDING_BIT | VK_RENDERING_RESUMING_BIT))) {
            p->kind = PASS_RENDERING;
            p->rendering = *info;
            p->rendering.pColorAttachments = p->color;
            p->rendering.pDepthAttachment = info->pDepthAttachment ? &p->depth : NULL;
            p->rendering.pStencilAttachment = info->pStencilAttachment ? &p->stencil : NULL;
        }
    }
    NEXT_OF(handle, cb, vkCmdBeginRendering)(handle, info);
}

/* ---- cutting and ending -------------------------------------------------- */

static void begin_piece(struct command_buffer *cb, VkRenderPass which)
{
    VkRenderPassBeginInfo info = cb->pass.info;

    info.renderPass = which;
    cb->d->next.vkCmdBeginRenderPass(cb->handle, &info, cb->pass.contents);
}

bool pass_can_leave(const struct command_buffer *cb)
{
    return !cb->open && !cb->bound_to_pass && cb->pass.kind != PASS_WHOLE;
}

bool pass_leave(struct command_buffer *cb)
{
    if (!pass_can_leave(cb))
        return false;
    if (cb->pass.kind == PASS_PIECES)
        cb->d->next.vkCmdEndRenderPass(cb->handle);
    else
        cb->d->next.vkCmdEndRendering(cb->handle);
    return true;
}

void pass_enter(struct command_buffer *cb)
{
    if (cb->pass.kind == PASS_PIECES)
        begin_piece(cb, cb->pass.middle);
    else
        cb->d->next.vkCmdBeginRendering(cb->handle, &cb->pass.rendering);
}

void pass_cut(struct command_buffer *cb)
{
    if (!pass_leave(cb))
        return;
    commands_point(cb);
    pass_enter(cb);
}

static void begin_tail(struct command_buffer *cb)
{
    if (!cb || cb->pass.kind != PASS_PIECES)
        return;
    cb->pass.kind = PASS_WHOLE;
    cb->d->next.vkCmdEndRenderPass(cb->handle);
    cb->pass.contents = VK_SUBPASS_CONTENTS_INLINE;
    begin_piece(cb, cb->pass.tail);
}

void pass_vkCmdEndRenderPass(struct command_buffer *cb, VkCommandBuffer handle)
{
    begin_tail(cb);
    NEXT_OF(handle, cb, vkCmdEndRenderPass)(handle);
}

void pass_vkCmdEndRenderPass2(struct command_buffer *cb, VkCommandBuffer handle, const VkSubpassEndInfo *end)
{
    begin_tail(cb);
    NEXT_OF(handle, cb, vkCmdEndRenderPass2)(handle, end);
}

void pass_vkCmdEndRendering(struct command_buffer *cb, VkCommandBuffer handle)
{
    if (cb)
        cb->pass.kind = PASS_WHOLE;
    NEXT_OF(handle, cb, vkCmdEndRendering)(handle);
}
