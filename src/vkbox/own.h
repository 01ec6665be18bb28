/* SPDX-License-Identifier: MIT */
/* own.h: a program that has the black box of its own accord (bb_vk_*): what the library, the layer in the same process and the
 * process that watches say to each other.
 *
 *   library ── loads ──▶ layer: VKBOX_OWN, a table of functions
 *   library ── starts ──▶ watcher: `aerogpu-vkbox-watcher TIMEOUT_MS DUMPS`, which has a socket as descriptor 3
 *
 * The socket is SOCK_SEQPACKET; a message is a letter and its text. Where its end comes
 * without a STOP, and the process has its record still, it closed what it did not know: it is watched on, and not spoken to.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <vulkan/vulkan.h>

/* Exported by the layer. */
#define VKBOX_OWN "aerogpu_blackbox_own"

enum { VKBOX_OWN_VERSION = 1 };

enum vkbox_own_state { VKBOX_OWN_UNSEEN, VKBOX_OWN_NO_ROOM, VKBOX_OWN_WELL, VKBOX_OWN_LOST };

struct vkbox_own {
    uint32_t version;
    /* Makes the record in the folder; NULL: where the environment says. -EBUSY: there is one; -ENOSPC. */
    int (*open)(const char *folder, bool exact, bool guard);
    enum vkbox_own_state (*state)(VkDevice device);
    bool (*checkpoint)(VkCommandBuffer command_buffer, const char *name); /* false: it is not known */
};

/* Messages. A crash: DESCRIBE, answered by any number of META and DONE; then DUMP or NO_DUMP, answered by DONE. */
enum vkbox_own_message {
    VKBOX_OWN_READY = 'R',     /* to the library: the folder for records; "PID FOLDER" */
    VKBOX_OWN_FAILED = 'F',    /* to the library: why there will be no watching */
    VKBOX_OWN_DESCRIBE = 'D',  /* to the library */
    VKBOX_OWN_META = 'M',      /* to the watcher: "KEY\0TEXT" */
    VKBOX_OWN_DONE = 'E',      /* to the watcher */
    VKBOX_OWN_DUMP = 'P',      /* to the library: its path */
    VKBOX_OWN_NO_DUMP = 'N',   /* to the library: why there is none */
    VKBOX_OWN_STOP = 'S',      /* to the watcher: nothing is watched any more */
    VKBOX_OWN_COLLECT = 'C',   /* to the watcher: a dump, though nothing crashed */
    VKBOX_OWN_COLLECTED = 'A', /* to the library: behind the DUMP, or NO_DUMP, of a COLLECT */
};

enum { VKBOX_OWN_TEXT = 4200, VKBOX_OWN_LINES = 64, VKBOX_OWN_LINE = 1000, VKBOX_OWN_WAIT_MS = 2500 };
