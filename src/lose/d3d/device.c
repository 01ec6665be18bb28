/* SPDX-License-Identifier: MIT */
/* device.c: devices of Direct3D that are lost.
 *
 *   D3D_ALIVE ──the asked frame or draw──▶ D3D_HUNG ──hang_ns──▶ D3D_LOST      (asked to hang)
 *      └──────────────────────────────────────────────────────────▲            (asked to be lost)
 *
 * A reset takes all devices of the process, as Windows' recovery does.
 */
#include "d3d.h"

#include <stdlib.h>

#include "lose/process.h"

enum { ASK_MS = 200 };
enum { GUILTY = 0x8253, INNOCENT, UNKNOWN }; /* of glGetGraphicsResetStatus, as the record has them */

static CRITICAL_SECTION lock;
static INIT_ONCE once = INIT_ONCE_STATIC_INIT;
static struct d3d_device *devices;

static BOOL CALLBACK init(INIT_ONCE *o, void *arg, void **context)
{
    InitializeCriticalSection(&lock);
    return TRUE;
}

static void begin(void)
{
    InitOnceExecuteOnce(&once, init, NULL, NULL);
    EnterCriticalSection(&lock);
}

static void end(void)
{
    LeaveCriticalSection(&lock);
}

/* ---- the process ----------------------------------------------------------- */

bool d3d_claim_begin(void)
{
    uint32_t me = process_id();

    for (uint32_t i = 0; i < LOSE_PROCESSES; i++)
        if (atomic_load(&lose_record->direct3d[i]) == me)
            return false;
    for (uint32_t i = 0; i < LOSE_PROCESSES; i++) {
        uint32_t none = 0;
        if (atomic_compare_exchange_strong(&lose_record->direct3d[i], &none, me))
            return true;
    }
    return false;
}

void d3d_claim_end(bool claimed)
{
    for (uint32_t i = 0; claimed && i < LOSE_PROCESSES; i++) {
        uint32_t me = process_id();
        atomic_compare_exchange_strong(&lose_record->direct3d[i], &me, 0);
    }
}

void d3d_claim_process(void)
{
    d3d_claim_begin();
}

bool d3d_refused(enum lose_api api)
{
    for (uint32_t i = 0; i < lose_record->num_faults && i < LOSE_FAULTS; i++)
        if (lose_record->fault[i].what == LOSE_HIDES && fault_is_due(&lose_record->fault[i]))
            return true;
    return slot_refused(api);
}

/* ---- devices ------------------------------------------------------------- */

static const char *name_of(enum lose_api api)
{
    return api == LOSE_D3D9 ? "Direct3D 9" : api == LOSE_D3D11 ? "Direct3D 11" : "Direct3D 12";
}

struct d3d_device *d3d_find(void *object)
{
    struct d3d_device *d;

    begin();
    for (d = devices; d && d->object != object; d = d->next)
        continue;
    end();
    return d;
}

struct d3d_device *d3d_device(void *object, enum lose_api api)
{
    struct d3d_device *d = d3d_find(object);

    if (d || !object)
        return d;
    d3d_claim_process();
    d = calloc(1, sizeof(*d));
    if (!d)
        return NULL;
    d->object = object;
    d->api = api;
    d->slot = slot_take(name_of(api), api, false);
    if (!d->slot) {
        free(d);
        return NULL;
    }
    atomic_fetch_add(&lose_record->instances, 1);
    begin();
    d->next = devices;
    devices = d;
    end();
    return d;
}

/* Its memory stays: another thread may be in a call of it. */
void d3d_gone(struct d3d_device *d)
{
    begin();
    for (struct d3d_device **at = &devices; *at; at = &(*at)->next)
        if (*at == d) {
            *at = d->next;
            break;
        }
    d->object = NULL;
    end();
    slot_first(&d->slot->destroyed_ns);
}

void d3d_renewed(struct d3d_device *d)
{
    struct lose_device *fresh;

    if (atomic_load(&d->state) == D3D_ALIVE)
        return;
    slot_first(&d->slot->destroyed_ns);
    fresh = slot_take(name_of(d->api), d->api, false);
    begin();
    d->slot = fresh ? fresh : d->slot;
    atomic_store(&d->state, fresh ? D3D_ALIVE : D3D_LOST);
    atomic_store(&d->innocent, 0);
    end();
}

/* ---- losing ---------------------------------------------------------------- */

/* With the lock. */
static void set_events(struct d3d_device *d)
{
    for (uint32_t i = 0; i < d->num_events; i++)
        SetEvent(d->events[i]);
    d->num_events = 0;
}

static BOOL CALLBACK ask_window(HWND window, LPARAM arg)
{
    DWORD process = 0;
    DWORD_PTR said;

    GetWindowThreadProcessId(window, &process);
    if (process == GetCurrentProcessId() &&
        SendMessageTimeoutW(window, WM_NULL, 0, 0, SMTO_ABORTIFHUNG, ASK_MS, &said)) {
        atomic_store(&lose_record->heard_pid, process_id());
        atomic_store(&lose_record->heard_ns, lose_now());
    }
    return TRUE;
}

/* Who waits for messages is not to be told from who hangs by the calls of Linux that Wine makes: a window of it answers. */
static DWORD WINAPI ask_windows(void *arg)
{
    for (;; Sleep(ASK_MS))
        EnumWindows(ask_window, 0);
    return 0;
}

static void start_thread(LPTHREAD_START_ROUTINE begin_at, void *arg)
{
    HANDLE thread = CreateThread(NULL, 0, begin_at, arg, 0, NULL);

    if (thread)
        CloseHandle(thread);
}

static void lose(struct d3d_device *guilty)
{
    static bool asks;

    slot_lost(guilty->slot);
    if (!asks)
        start_thread(ask_windows, NULL);
    asks = true;
    for (struct d3d_device *d = devices; d; d = d->next) {
        if (atomic_load(&d->state) == D3D_LOST)
            continue;
        atomic_store(&d->innocent, d != guilty);
        atomic_store(&d->state, D3D_LOST);
        set_events(d);
    }
}

/* Whoever waits for events calls nothing meanwhile. */
static DWORD WINAPI reset_later(void *arg)
{
    struct d3d_device *d = arg;

    while (d3d_state(d) == D3D_HUNG)
        Sleep(5);
    return 0;
}

/* With the lock. */
static void begin_loss(struct d3d_device *d)
{
    if (!slot_begin(d->slot)) {
        lose(d);
        return;
    }
    atomic_store(&d->state, D3D_HUNG);
    start_thread(reset_later, d);
}

static bool is_due_by_fault(uint32_t frame, uint32_t draw)
{
    bool due = false;

    for (uint32_t i = 0; i < lose_record->num_faults && i < LOSE_FAULTS; i++) {
        struct lose_fault *f = &lose_record->fault[i];
        bool about = f->any && (f->or_call ? draw > 0 : frame > 0);

        if (!about || !fault_is_due(f))
            continue;
        if (f->what == LOSE_DELAYS)
            Sleep((DWORD)(f->amount / 1000000));
        if (f->what == LOSE_CRASHES)
            RaiseException(EXCEPTION_ACCESS_VIOLATION, 0, 0, NULL);
        due |= f->what == LOSE_ANSWERS && f->result == LOSE_DEVICE_LOST;
    }
    return due;
}

enum d3d_state d3d_state(struct d3d_device *d)
{
    if (atomic_load(&d->state) != D3D_HUNG)
        return atomic_load(&d->state);
    begin();
    if (atomic_load(&d->state) == D3D_HUNG && slot_reset_is_due(d->slot))
        lose(d);
    end();
    return atomic_load(&d->state);
}

enum d3d_state d3d_work(struct d3d_device *d, uint32_t frame, uint32_t draw, bool waits)
{
    bool fault = is_due_by_fault(frame, draw);
    enum d3d_state s;

    lose_called(d->slot);
    if (d3d_state(d) == D3D_ALIVE) {
        begin();
        if (atomic_load(&d->state) == D3D_ALIVE && (slot_due(d->slot, frame, draw) || fault))
            begin_loss(d);
        if (atomic_load(&d->state) == D3D_ALIVE)
            slot_work(d->slot, frame, draw, draw > 0);
        end();
    }
    s = d3d_state(d);
    if (s == D3D_HUNG && waits) {
        atomic_fetch_add(&d->slot->waits, 1);
        while ((s = d3d_state(d)) == D3D_HUNG)
            Sleep(5);
        atomic_fetch_sub(&d->slot->waits, 1);
    }
    return s;
}

HRESULT d3d_told(struct d3d_device *d, enum lose_gl_call call, HRESULT code)
{
    slot_reported(d->slot, call);
    return code;
}

void d3d_used(struct d3d_device *d)
{
    lose_called(d->slot);
    slot_used(d->slot);
}

void d3d_will_set(struct d3d_device *d, HANDLE event)
{
    HANDLE mine;

    begin();
    if (atomic_load(&d->state) == D3D_LOST)
        SetEvent(event);
    else if (d->num_events < D3D_EVENTS && DuplicateHandle(GetCurrentProcess(), event, GetCurrentProcess(),
                                                           &mine, 0, FALSE, DUPLICATE_SAME_ACCESS))
        d->events[d->num_events++] = mine;
    end();
}

HRESULT d3d_reason(const struct d3d_device *d, HRESULT hung, HRESULT reset, HRESULT removed)
{
    uint32_t status = lose_record->reset ? lose_record->reset : atomic_load(&d->innocent) ? INNOCENT : GUILTY;

    return status == GUILTY ? hung : status == INNOCENT ? reset : removed;
}
