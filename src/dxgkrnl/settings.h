/* SPDX-License-Identifier: MIT */
/* settings.h: what the registry holds on Windows, in a text file.
 *
 *   ; a comment
 *   [HKLM\SYSTEM\CurrentControlSet\Control\GraphicsDrivers]
 *   TdrDelay = 2
 *   [HKR\Parameters]
 *   NonLocalMemorySizeMB = 0x200
 *
 * Keys and names compare without regard to case; every value is a REG_DWORD. HKR is the adapter's driver key.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error_type.h"
#include "base/public.h"

PUBLIC_BEGIN

#define SETTINGS_GRAPHICS_DRIVERS "HKLM\\SYSTEM\\CurrentControlSet\\Control\\GraphicsDrivers"

struct settings {
    struct settings_value {
        char key[200], name[64];
        uint32_t value;
    } * values;
    unsigned count;
};

/* Adds what `text` says; later lines win. 0, or -EINVAL with the line's number in `err`, and nothing added.
 */
int dxgk_settings_parse(struct settings *s, const char *text, size_t size, struct error *err);
int dxgk_settings_read(struct settings *s, const char *path, struct error *err);
int dxgk_settings_set(struct settings *s, const char *key, const char *name, uint32_t value);
/* Whether it was there. */
bool dxgk_settings_remove(struct settings *s, const char *key, const char *name);
bool dxgk_settings_get(const struct settings *s, const char *key, const char *name, uint32_t *value);
bool dxgk_settings_has_key(const struct settings *s, const char *key);
void dxgk_settings_finish(struct settings *s);

PUBLIC_END
