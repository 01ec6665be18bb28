/* SPDX-License-Identifier: MIT */
/* The scanout as the driver has it, as the registers have it, and the display mode are one. */
#include "suite.h"

void test_scanout_state_sanity(struct suite *s)
{
    struct aerogpu_escape_query_scanout q = {0};
    D3DKMT_DISPLAYMODE mode;

    CHECK_STATUS(s, suite_mode(s, &mode), "CURRENTDISPLAYMODE");
    CHECK_STATUS(s, SUITE_ESCAPE(s, QUERY_SCANOUT, &q), "QUERY_SCANOUT");
    CHECK(s, q.flags & AEROGPU_ESCAPE_FLAGS_VALID, "flags 0x%08X: not valid", q.flags);
    CHECK(s, q.cached_enable && q.mmio_enable, "enable: cached %u, register %u", q.cached_enable,
          q.mmio_enable);
    CHECK(s, q.cached_width == mode.Width && q.cached_height == mode.Height,
          "cached %ux%u, the mode is %ux%u", q.cached_width, q.cached_height, mode.Width, mode.Height);
    CHECK(s, q.mmio_width == mode.Width && q.mmio_height == mode.Height, "registers %ux%u, the mode is %ux%u",
          q.mmio_width, q.mmio_height, mode.Width, mode.Height);
    CHECK(s, q.cached_format == q.mmio_format, "format: cached %u, register %u", q.cached_format,
          q.mmio_format);
    CHECK(s, q.cached_pitch_bytes == q.mmio_pitch_bytes && q.mmio_pitch_bytes >= 4 * mode.Width,
          "pitch: cached %u, register %u, a row needs %u", q.cached_pitch_bytes, q.mmio_pitch_bytes,
          4 * mode.Width);
    CHECK(s, q.mmio_fb_gpa, "no frame buffer");
    CHECK(s, !(q.flags & 1) || q.cached_fb_gpa == q.mmio_fb_gpa,
          "frame buffer: cached 0x%llx, register 0x%llx", (unsigned long long)q.cached_fb_gpa,
          (unsigned long long)q.mmio_fb_gpa);
}
