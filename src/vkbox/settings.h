/* SPDX-License-Identifier: MIT */
/* settings.h: what is asked of the layer: by the environment, or by a file vk_layer_settings.txt where that says nothing.
 *
 *   aerogpu_blackbox.record = true     as AEROGPU_BLACKBOX=1
 *   aerogpu_blackbox.exact = true      as AEROGPU_BLACKBOX_EXACT=1
 *   aerogpu_blackbox.guard = true      as AEROGPU_BLACKBOX_GUARD=1
 *
 * The file is what VK_LAYER_SETTINGS_PATH names, or the one in the folder that it names, else that of the current folder, as for other
 * layers; their lines are no affair of ours. */
#pragma once

#include <stdbool.h>

struct settings {
    bool record, exact, guard;
};

/* A variable decides if it is there, and says yes with "1". What is wrong in the file is said on standard error, a line each. */
void settings_read(struct settings *out);
