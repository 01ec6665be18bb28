/* SPDX-License-Identifier: MIT */
/* page.h: what the page of a recording has of Direct3D 12 besides its calls: what each draw works on, and the text of shaders.
 *
 * Blocks (record/export.h):
 *   inside    a line of JSON for each line of state_at() that is not there yet, numbered from 0; and for each draw "CALL" and the
 *             numbers of its lines, between tabs and spaces
 *   shaders   for each shader its hash, a tab, and its text as a JSON string
 *   times     lines that playing prints with gpu_time
 *   pixel     "X,Y" and lines that playing prints of that pixel
 */
#pragma once

#include <stdint.h>

#include "base/strbuf.h"
#include "record/export.h"

#define D12_PAGE_DRAWS 5000 /* at most: of those behind, nothing but their calls is in the page */

struct d12_page {
    struct trc *t;
    const struct names *names;
    uint32_t first_frame, last_frame; /* of which draws are looked into */
    void (*disassemble)(struct strbuf *out, const void *bytes, size_t size);
    FILE *times, *pixel; /* what is in the blocks of that name; NULL: nothing */
};

/* As of struct export_page; `ctx` is a struct d12_page. */
int d12_page_put(FILE *f, void *ctx, struct error *e);
extern const char *const d12_page_style, *const d12_page_script;
