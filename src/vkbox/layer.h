/* SPDX-License-Identifier: MIT */
/* layer.h: what the files of the layer share.
 *
 *   layer.c     instances, devices, and what the loader asks for      commands.c  command buffers: records and marks
 *   queues.c    submissions, waits, and what calls answer             objects.c   objects and their memory
 *   passes.c    render passes in pieces, for exact mode               signals.c   signals that would end the process
 *   keep.c      the box itself                                    guard.c     memory between pages that fault
 *   stacks.c    who called                                        descriptors.c  what descriptor sets name
 *   offers.c    extensions that drivers lack                          own.c       for programs that load it themselves
 *   parts.c     secondary command buffers of passes, for exact mode   again.c     whether a fault is one
 *
 * Invariants:
 *  1. Every call reaches the driver as the program made it, unless the reader has declared the device lost.
 *  2. Without a box, or where there is no slot, a call is passed on and nothing else happens.
 *  3. Whatever the layer adds to a command buffer leaves all bound state as it was.
 */
#pragma once

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/clock.h"
#include "base/map.h"
#include "layer/layer.h"
#include "vkbox/box.h"
#include "vkbox/known.h"
#include "vkbox/table.h"
#include "vkbox_next.h"

struct next {
#define VKBOX_ROW(name) PFN_##name name;
    VKBOX_NEXT(VKBOX_ROW)
#undef VKBOX_ROW
};

struct guard;

/* Extensions that the layer offers where a driver has them not (offers.c). */
enum offer { OFFER_MARKER, OFFER_CHECKPOINTS, OFFER_FAULT, OFFER_BINDINGS, OFFERS };

/* A word that the program wants written. */
struct marker {
    VkBuffer buffer;
    VkDeviceSize offset;
    uint32_t value;
    bool waits; /* for what is before it */
};

struct device {
    struct layer_object object;
    VkDevice handle;
    struct layer_instance *instance;
    struct vkbox_device *slot; /* NULL: nothing is kept */
    uint32_t index;            /* of the slot */
    PFN_vkGetDeviceProcAddr get;
    struct next next;
    struct guard *guard;                /* NULL: memory is the driver's */
    VkDebugUtilsMessengerEXT messenger; /* of the driver's reports of addresses, or VK_NULL_HANDLE */
    uint32_t offers;      /* a bit for each that the program asked for, and the driver has not */
    bool cuts;            /* passes are cut in pieces */
    _Atomic bool strange; /* it has commands that the registry does not know */
    uint32_t visible; /* a bit for each type of memory that the host sees where shaders do: of a processor */
    uint32_t family_flags[16];
    VkBuffer mark_buffer;
    VkDeviceMemory mark_memory;
    uint32_t *marks; /* where the device writes them; NULL: it does not */
    uint64_t mark_used[VKBOX_MARKS / 64];
};

enum pass_kind { PASS_WHOLE, PASS_PIECES, PASS_RENDERING };
enum { PASS_VIEWS = 16, LATE_MARKERS = 32 };

/* The render pass that is being recorded in exact mode, as it is begun again (passes.c). */
struct pass {
    enum pass_kind kind;
    VkSubpassContents contents;
    VkRenderPass middle, tail;
    VkRenderPassBeginInfo info;
    VkRenderPassAttachmentBeginInfo views;
    VkImageView view[PASS_VIEWS];
    VkRenderingInfo rendering;
    VkRenderingAttachmentInfo color[PASS_VIEWS], depth, stencil;
};

enum { PARTS = 64 };

/* A secondary command buffer that is recorded as several (parts.c). */
struct parts {
    VkCommandBuffer buffer[PARTS];
    uint32_t num, at, used;   /* that are recorded; which takes work now; so many have some */
    uint32_t labels, regions; /* of VK_EXT_debug_utils and VK_EXT_debug_marker that are open */
};

struct command_buffer {
    VkCommandBuffer handle;
    VkCommandPool pool;
    struct device *d;
    struct vkbox_command_buffer *slot; /* NULL: nothing is kept */
    uint32_t index;
    struct vkbox_chunk *chunk;
    struct parts *parts;          /* that it is recorded as, or NULL */
    struct parts *parts_kept;     /* for when it is recorded anew */
    uint32_t pending;             /* work since the last point */
    uint32_t grouped;             /* and outside of passes since its group began */
    bool exact;                   /* each command of this group has a point */
    struct known_content content; /* up to its group, and the place in the record up to which that is */
    const struct vkbox_chunk *known_chunk;
    uint32_t known_at;
    bool writes; /* its queues can write memory */
    bool in_pass, marked;
    bool bound_to_pass; /* the pass has something that may end with it, and is not cut */
    bool submitted;     /* since it was recorded */
    bool once;          /* and once since its mark began anew */
    bool scattered;     /* and to several queues */
    uint32_t queue;     /* to this one last, and as that submission */
    uint64_t last;
    uint32_t open; /* queries and the like that a pass must not end within */
    struct pass pass;
    struct marker late[LATE_MARKERS]; /* that could not be written within the pass */
    uint32_t num_late;
};

/* keep.c: the box of this process, or NULL. */
extern struct vkbox *box;
extern bool box_is_own;        /* of box_params */
extern struct known box_known; /* groups that a run before crashed in */

/* Where the record is made, and how. */
struct box_params {
    const char *folder; /* "1": one of the user's, and nobody watches */
    bool exact, guard;
    bool own; /* the program asked for it itself, and may put checkpoints anywhere */
};

/* Of what the reader looks at while the program runs, so many have their memory at once, before anybody touches them. */
enum { BOX_COMMAND_BUFFERS = 256, BOX_SUBMISSIONS = 64 };
bool box_room(const void *at, size_t size); /* false: there is none */

void box_open(const struct box_params *p); /* once in each process; NULL: as the environment says */
void box_event(void);                      /* the reader should look */
void box_await_collection(uint32_t ms);    /* until it has looked, or so long. Safe in a signal handler. */
uint64_t box_now(void);
uint32_t box_thread(void);

/* layer.c. Never NULL for a handle that the loader gave out. */
struct device *device_of(const void *dispatchable);
void devices_each(void (*each)(void *device));

static inline bool device_is_lost(const struct device *d)
{
    return d->slot && atomic_load_explicit(&d->slot->lost, memory_order_relaxed);
}

/* commands.c, and fast.h */
void commands_execute(struct command_buffer *cb, uint32_t n, const VkCommandBuffer *secondaries);
void commands_pass(struct command_buffer *cb, bool begins);
void commands_subpass(struct command_buffer *cb);
void commands_begun(struct command_buffer *cb);
void commands_device_gone(struct device *d);
void commands_point(struct command_buffer *cb);
void commands_write_point(struct command_buffer *cb);               /* that stands in no record */
void commands_set_mark(struct command_buffer *cb, uint32_t number); /* as the device would write it */
void commands_taken_back(VkCommandBuffer handle);                   /* it was not submitted after all */
void commands_note(struct command_buffer *cb, enum vkbox_command what, uint32_t a, uint32_t b);
void commands_alone(
    struct command_buffer *cb); /* what comes begins a group, and what was ends one, outside of passes */
void commands_checkpoint(struct command_buffer *cb, enum vkbox_command kind, uint64_t value);
/* Room in the box; NULL: there is none. `first`: and those that follow it. */
struct vkbox_chunk *commands_take_chunk(uint32_t *index);
void commands_give_chunks(uint32_t first);
void commands_open(struct command_buffer *cb, int by);
void commands_copy_marks(void); /* of devices that cannot write into the box. Safe in a signal handler */
bool marks_create(struct device *d, VkPhysicalDevice physical, bool import);
void marks_destroy(struct device *d);

#define NEXT_OF(handle, cb, name) ((cb) ? (cb)->d : device_of(handle))->next.name

/* passes.c: what generated hooks call to begin and end render passes. */
void pass_vkCmdBeginRenderPass(struct command_buffer *cb, VkCommandBuffer handle,
                               const VkRenderPassBeginInfo *info, VkSubpassContents contents);
void pass_vkCmdBeginRenderPass2(struct command_buffer *cb, VkCommandBuffer handle,
                                const VkRenderPassBeginInfo *info, const VkSubpassBeginInfo *subpass);
void pass_vkCmdBeginRendering(struct command_buffer *cb, VkCommandBuffer handle, const VkRenderingInfo *info);
void pass_vkCmdEndRenderPass(struct command_buffer *cb, VkCommandBuffer handle);
void pass_vkCmdEndRenderPass2(struct command_buffer *cb, VkCommandBuffer handle, const VkSubpassEndInfo *end);
void pass_vkCmdEndRendering(struct command_buffer *cb, VkCommandBuffer handle);
void passes_device_gone(struct device *d);
void pass_cut(struct command_buffer *cb); /* between two commands, if it can be */

/* Outside of the pass for a while; false: it cannot be left. */
bool pass_can_leave(const struct command_buffer *cb);
bool pass_leave(struct command_buffer *cb);
void pass_enter(struct command_buffer *cb);

/* foreign.c: a function of the driver's that the registry does not know, so that it is noted. */
PFN_vkVoidFunction foreign_thunk_of(const char *name, PFN_vkVoidFunction next);

/* parts.c */
void parts_begin(struct command_buffer *cb, const VkCommandBufferBeginInfo *info);
VkResult parts_end(struct command_buffer *cb);
void parts_free(struct command_buffer *cb, bool with_pool); /* with_pool: the driver has freed them */
void parts_worked(struct command_buffer *cb);
void pass_vkCmdExecuteCommands(struct command_buffer *cb, VkCommandBuffer handle, uint32_t n,
                               const VkCommandBuffer *secondaries);

/* offers.c */
enum wanted { WANTED_EXTERNAL, WANTED_IMPORTS, WANTED_FAULTS, WANTED_BINDINGS, WANTED };
extern const char *const offers_wanted[WANTED]; /* by the layer, of the driver */
struct offers_physical {
    VkPhysicalDevice handle;
    uint32_t offers; /* a bit for each that its driver has not */
    uint32_t has;    /* a bit for each that is wanted, and there */
};
struct offers_physical offers_of(struct layer_instance *i, VkPhysicalDevice physical);
uint32_t offer_of_name(const char *extension); /* its bit, or 0 */
VkResult offers_enumerate(struct layer_instance *i, VkPhysicalDevice physical, const char *layer,
                          uint32_t *num, VkExtensionProperties *out);
void offers_features(struct layer_instance *i, VkPhysicalDevice physical, void *chain);
void offers_families(struct layer_instance *i, VkPhysicalDevice physical, uint32_t n, void *families);
void offers_hide(const void *chain, uint32_t offers, VkBool32 was[OFFERS], bool back);
void offers_pass_ended(struct command_buffer *cb);
void offers_report(struct device *d, VkObjectType type, uint64_t handle, uint64_t address, uint64_t size,
                   bool bound);
void offers_listen(struct device *d); /* to what the driver tells of addresses, until offers_deafen() */
void offers_deafen(struct device *d);
void offers_ask(struct device *d); /* what the driver tells of a loss */
PFN_vkVoidFunction offers_find(const struct device *d, const char *name);

/* objects.c */
void note_created(struct device *d, VkObjectType type, uint64_t handle, const void *info);
void note_destroyed(struct device *d, VkObjectType type, uint64_t handle);
void note_outside(struct device *d, VkSemaphore semaphore, enum vkbox_outside by);
/* Whether it has values; `otherwise`: if it is not known. */
bool note_has_values(struct device *d, VkSemaphore semaphore, bool otherwise);
void note_address(struct device *d, VkObjectType type, uint64_t handle, uint64_t address); /* 0: not known */
void note_told_address(struct device *d, VkObjectType type, uint64_t handle, uint64_t address,
                       uint64_t size); /* by the driver, also of what it makes just now; size 0: not known */
void note_room(struct device *d, VkObjectType type, uint64_t handle, uint32_t first, uint32_t num);
void objects_gone(struct device *d, VkObjectType type, uint64_t handle); /* without the driver being told */
void objects_device_gone(struct device *d);

/* descriptors.c */
void descriptors_gone(struct device *d, VkObjectType type, uint64_t handle);
void descriptors_device_gone(struct device *d);

/* guard.c: from then on the functions of `next` that concern memory are its own. */
void guard_create(struct device *d, VkPhysicalDevice physical);
void guard_destroy(struct device *d);

/* queues.c: notes what a call answered, and returns it. */
VkResult note_result(struct device *d, enum vkbox_call call, VkResult r);
VkResult queues_await(struct device *d); /* until they are idle, or the device is lost */
void queues_device_gone(struct device *d);
void queues_object_gone(struct device *d, VkObjectType type, uint64_t handle);

/* stacks.c: the number of the calling thread's stack; 0: there was no room. */
uint32_t stack_here(void);

/* signals.c */
void signals_install(void);
void signals_keep(void); /* behind handlers that the program has installed since */
/* Notes it when the program has left the handler of its last fault by a jump: in calls of that thread; `ends`: or at its end. */
void signals_look(bool ends);
/* Whether an action is a function of the program's. */
bool signals_is_handler(const struct sigaction *h);
/* In a handler: what the kernel does with the program's action `h`. Calls its handler, with its mask. */
void signals_call(const struct sigaction *h, int sig, siginfo_t *info, void *context);
/* Before that, what SA_RESETHAND asks for; false: it is spent, another thread's was first. */
bool signals_reset(const struct sigaction *h, int sig);
/* The process ends by it when the handler returns, as if what was interrupted had just got it. */
void signals_end_by(int sig, siginfo_t *info);

/* again.c */
enum again {
    AGAIN_SENT,    /* it is none */
    AGAIN_FAULT,   /* it came again */
    AGAIN_UNASKED, /* the instruction cannot be run again: somebody else's handler calls this one */
    AGAIN_RUNS,    /* the handler is to return */
};

/* A signal with si_code > 0, in its handler. `direct`: the kernel called that. `ran` gets `level`, in a handler of SIGTRAP in which all
 * signals are blocked; it is the same in all calls. */
typedef void again_ran(int level, int sig, siginfo_t *info, void *context);
enum again again_ask(int level, int sig, siginfo_t *info, void *context, bool direct, again_ran *ran);

/* In a handler, whether the kernel called it: its frame lies there (arch/x86/include/asm/sigframe.h: struct rt_sigframe). */
#define AGAIN_IS_DIRECT(context) ((const char *)(context) == (const char *)__builtin_frame_address(0) + 16)

/* Each file's hooks end with a row without a name. */
extern const struct layer_hook command_hooks[], queue_hooks[], object_hooks[], pass_hooks[], guard_hooks[],
    descriptor_hooks[], generated_hooks[];
