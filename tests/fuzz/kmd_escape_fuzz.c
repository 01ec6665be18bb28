/* SPDX-License-Identifier: MIT */
/* Fuzzes the miniport's escapes in a sim: a byte of who asks and how often, then blocks of a 16-bit length each. What must hold
 * beside what the sanitizers find: nothing behind a block is touched, no rule is broken, the adapter goes on. */
#include "fuzz.h"

#include <string.h>

#include "base/bytes.h"
#include "stack/stack.h"

enum { GUARD = 32, MAX_BLOCK = 8192 };

static struct stack *stack;
static struct dxgk_client *client[2]; /* [1] is privileged */
static D3DKMT_HANDLE adapter[2];

static void start(void)
{
    struct settings settings = {0};
    struct error e = {0};
    const char *key = "HKLM\\SYSTEM\\CurrentControlSet\\Services\\aerogpu\\Parameters";

    must(!dxgk_settings_set(&settings, key, "EnableReadGpaEscape", 1));
    must(!dxgk_settings_set(&settings, key, "EnableMapSharedHandleEscape", 1));
    must(!stack_create(
        &stack,
        &(struct stack_params){.machine = {.kind = MACHINE_SIM, .ram_size = 64 << 20}, .settings = &settings},
        &e));
    must(NT_SUCCESS(stack_start(stack, &e)));
    for (int i = 0; i < 2; i++) {
        D3DKMT_OPENADAPTERFROMHDC open = {0};
        must(!dxgk_client_open(stack_dxgk(stack), &client[i], 100 + (unsigned)i, i));
        must(NT_SUCCESS(dxgk_OpenAdapterFromHdc(client[i], &open)));
        adapter[i] = open.hAdapter;
    }
    dxgk_settings_finish(&settings);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct bytes in;
    unsigned who;

    if (!stack)
        start();
    in = bytes_of(data, size);
    who = bytes_u8(&in) & 1;
    while (bytes_left(&in) >= 2) {
        size_t n = bytes_u16(&in) % MAX_BLOCK;
        const uint8_t *p;
        uint8_t *block;
        if (n > bytes_left(&in))
            n = bytes_left(&in);
        p = bytes_take(&in, n);
        if (!n || !p)
            break;
        block = malloc(n + GUARD);
        must(block);
        memcpy(block, p, n);
        memset(block + n, 0xA5, GUARD);
        dxgk_Escape(client[who], &(D3DKMT_ESCAPE){.hAdapter = adapter[who],
                                                  .pPrivateDriverData = block,
                                                  .PrivateDriverDataSize = (UINT)n});
        for (int i = 0; i < GUARD; i++)
            must(block[n + (size_t)i] == 0xA5);
        free(block);
    }
    must(dxgk_state(stack_dxgk(stack)) == DXGK_STARTED);
    must(!dxgk_violations(stack_dxgk(stack)));
    return 0;
}
