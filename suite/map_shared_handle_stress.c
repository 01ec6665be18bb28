/* Debug tokens: refused while the gate is closed; open, the same handle gives the same token. */
#include "suite.h"

void test_map_shared_handle_stress(struct suite *s)
{
    uint32_t n = suite_default(s->iterations, 200);
    struct umd_texture_params p = {.width = 16,
                                   .height = 16,
                                   .format = AEROGPU_FORMAT_B8G8R8A8_UNORM,
                                   .shared = true,
                                   .usage = AEROGPU_RESOURCE_USAGE_TEXTURE};
    struct umd_device *d = NULL;
    struct umd_resource *r = NULL;
    uint32_t token = 0;
    NTSTATUS st;

    CHECK_STATUS(s, umd_open(&d, NULL), "open");
    st = umd_texture(d, &r, &p);
    for (uint32_t i = 0; i < n && NT_SUCCESS(st) && !s->failed; i++) {
        struct aerogpu_escape_map_shared_handle m = {.shared_handle = r->global_share};
        NTSTATUS got = SUITE_ESCAPE(s, MAP_SHARED_HANDLE, &m);
        if (got == STATUS_NOT_SUPPORTED && !i) {
            suite_skip(s, "EnableMapSharedHandleEscape is off, or we are not privileged");
            break;
        }
        if (got == STATUS_INVALID_PARAMETER || got == STATUS_INVALID_HANDLE ||
            got == STATUS_OBJECT_TYPE_MISMATCH) {
            suite_skip(s,
                       "shared surfaces have no NT handle in WDDM 1.1; the escape refuses a global handle");
            break;
        }
        if (got != STATUS_SUCCESS || !m.debug_token || (i && m.debug_token != token)) {
            char text[16];
            suite_fail(s, "round %u: %s, token 0x%x after 0x%x", i, umd_status_name(got, text), m.debug_token,
                       token);
        }
        token = m.debug_token;
    }
    umd_close(d);
    CHECK_STATUS(s, st, "a shared texture");
}
