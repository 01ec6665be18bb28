/* SPDX-License-Identifier: MIT */
/* Fuzzes the service's messages in a sim: each is a 16-bit length and so many bytes behind a header that is made right, or
 * left alone when the length's top bit is set. A structure that begins with a number below 8 gets a handle that lives. What
 * must hold beside what the sanitizers find: an answer that fits, no rule broken, the adapter goes on. */
#include "fuzz.h"

#include <string.h>

#include "base/bytes.h"
#include "d3dkmt/server.h"
#include "d3dkmt/wire.h"
#include "stack/stack.h"

enum { MAX_BODY = 4096 };

static struct stack *stack;

static void start(void)
{
    struct error e = {0};

    must(!stack_create(&stack,
                       &(struct stack_params){.machine = {.kind = MACHINE_SIM, .ram_size = 256 << 20}}, &e));
    must(NT_SUCCESS(stack_start(stack, &e)));
}

/* A client of every input's own: nothing is left for the next. */
static void open_client(struct dxgk_client **c, D3DKMT_HANDLE handles[8])
{
    D3DKMT_OPENADAPTERFROMHDC open = {0};
    D3DKMT_CREATEDEVICE d = {0};
    D3DKMT_CREATECONTEXT x = {0};

    must(!dxgk_client_open(stack_dxgk(stack), c, 100, false));
    must(NT_SUCCESS(dxgk_OpenAdapterFromHdc(*c, &open)));
    handles[1] = d.hAdapter = open.hAdapter;
    must(NT_SUCCESS(dxgk_CreateDevice(*c, &d)));
    handles[2] = x.hDevice = d.hDevice;
    must(NT_SUCCESS(dxgk_CreateContext(*c, &x)));
    handles[3] = x.hContext;
}

static bool waits_for_ever(uint32_t thunk)
{
    return thunk == D3DKMT_THUNK_WaitForIdle ||
           thunk == D3DKMT_THUNK_AcquireKeyedMutex; /* behind a wait for an object that nobody signals */
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static uint8_t msg[MAX_BODY + 64], reply[D3DKMT_MAX_MESSAGE];
    struct bytes in = bytes_of(data, size);
    D3DKMT_HANDLE handles[8] = {0};
    struct dxgk_client *client;

    if (!stack)
        start();
    open_client(&client, handles);
    for (int i = 0; i < 32 && bytes_left(&in) > 2; i++) {
        unsigned head = bytes_u16(&in);
        size_t n = head & 0x7FFF, answered;
        struct wire_header h = {.magic = WIRE_MAGIC}, answer;
        uint32_t first;
        int fd;
        bool bad;

        n = n > bytes_left(&in) ? bytes_left(&in) : n;
        n = n > MAX_BODY ? MAX_BODY : n;
        if (!n)
            break;
        h.thunk = data[in.pos] % (D3DKMT_NUM_THUNKS + 1);
        h.size = (uint32_t)(sizeof(h) + n - 1);
        memcpy(msg, &h, sizeof(h));
        memcpy(msg + sizeof(h), (const uint8_t *)bytes_take(&in, n) + 1, n - 1);
        memcpy(&first, msg + sizeof(h), sizeof(first));
        if (head & 0x8000)
            memmove(msg, msg + sizeof(h), n - 1);
        else if (first < 8)
            memcpy(msg + sizeof(h), &handles[first], sizeof(first));
        if (!(head & 0x8000) && waits_for_ever(h.thunk))
            continue;
        answered = d3dkmt_handle(client, msg, head & 0x8000 ? n - 1 : h.size, -1, reply, &fd, &bad);
        must(answered >= sizeof(answer) && answered <= sizeof(reply));
        memcpy(&answer, reply, sizeof(answer));
        must(answer.magic == WIRE_MAGIC && answer.size == answered);
    }
    dxgk_client_close(client);
    stack_sleep(stack,
                4 * NSEC_PER_MSEC); /* their names are said to the GPU: none is left for the next input */
    must(dxgk_state(stack_dxgk(stack)) == DXGK_STARTED && !dxgk_violations(stack_dxgk(stack)));
    return 0;
}
