/* SPDX-License-Identifier: MIT */
/* fullscreen.c: chains that have a screen for themselves, and who takes it from them.
 *
 *   windowed ──SetFullscreenState(TRUE), Alt+Enter──▶ full ──SetFullscreenState(FALSE), Alt+Enter──▶ windowed
 *                                                     full ──another window comes to the front on that screen──▶ windowed,
 *     when somebody asks, or presents: he is told DXGI_STATUS_OCCLUDED
 *
 * Invariants:
 *  1. A window is full exactly while its chain has a target, and has its style and place back then.
 *  2. One thread at a time moves a chain's window and its display's mode (`changing`). The lock is not held meanwhile: the window's
 *     procedure is called, and may ask the chain. Who wants the same hears DXGI_STATUS_MODE_CHANGE_IN_PROGRESS. */
#include "d3d/tables.h"
#include "d3d/swapchain.h"

/* Of `watched`, `target`, `front` and `changing` of every chain, and of what factories know of windows. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct swapchain *watched;

static struct swapchain *of(void *This)
{
    return This;
}

/* ---- what takes a screen away ------------------------------------------------------------- */

static HWND in_front(const struct swapchain *s, struct dxgi_output *target)
{
    DXGI_OUTPUT_DESC d;

    return s->window && dxgi_output_GetDesc((IDXGIOutput1 *)target, &d) == S_OK
               ? window_in_front(s->window, &d.DesktopCoordinates)
               : NULL;
}

/* What is in front already when a window becomes full has not taken its screen. */
static bool is_lost(struct swapchain *s, struct dxgi_output *target)
{
    const HWND front = in_front(s, target);
    bool lost;

    pthread_mutex_lock(&lock);
    if (front == s->window)
        s->front = NULL;
    lost = front && front != s->window && front != s->front;
    pthread_mutex_unlock(&lock);
    return lost;
}

/* ---- from one to the other ---------------------------------------------------------------- */

static bool begin(struct swapchain *s)
{
    bool mine;

    pthread_mutex_lock(&lock);
    mine = !s->changing;
    s->changing = true;
    pthread_mutex_unlock(&lock);
    return mine;
}

static void end(struct swapchain *s)
{
    pthread_mutex_lock(&lock);
    s->changing = false;
    pthread_mutex_unlock(&lock);
}

/* The one that there was. */
static struct dxgi_output *set_target(struct swapchain *s, struct dxgi_output *target)
{
    struct dxgi_output *was;

    pthread_mutex_lock(&lock);
    was = s->target;
    s->target = target;
    pthread_mutex_unlock(&lock);
    return was;
}

static struct dxgi_output *get_target(struct swapchain *s)
{
    struct dxgi_output *target;

    pthread_mutex_lock(&lock);
    target = s->target;
    if (target)
        dxgi_object_AddRef(target);
    pthread_mutex_unlock(&lock);
    return target;
}

static void leave(struct swapchain *s)
{
    struct dxgi_output *target = set_target(s, NULL);

    if (!target)
        return;
    if (s->before.moded)
        window_mode_set(target->name, NULL);
    s->before.moded = false;
    window_back(s->window, &s->before, true);
    dxgi_object_Release(target);
}

/* The display's mode becomes the one nearest to the buffers', if the program wants that. */
static void switch_mode(struct swapchain *s, struct dxgi_output *target)
{
    DXGI_MODE_DESC want = {.Width = s->desc.Width,
                           .Height = s->desc.Height,
                           .RefreshRate = s->full.RefreshRate,
                           .Format = s->desc.Format},
                   got;
    struct dxgi_mode m, now;

    if (!(s->desc.Flags & DXGI_SWAP_CHAIN_FLAG_ALLOW_MODE_SWITCH) || !target->monitor ||
        dxgi_output_FindClosestMatchingMode((IDXGIOutput1 *)target, &want, &got, NULL) != S_OK)
        return;
    m = (struct dxgi_mode){got.Width, got.Height, got.RefreshRate.Numerator};
    if (dxgi_mode_now(target, &now) && (now.width != m.width || now.height != m.height))
        s->before.moded |= window_mode_set(target->name, &m);
}

static void fill(struct swapchain *s, struct dxgi_output *target)
{
    DXGI_OUTPUT_DESC d;
    HWND front;

    if (s->window && dxgi_output_GetDesc((IDXGIOutput1 *)target, &d) == S_OK)
        window_full(s->window, &d.DesktopCoordinates, &s->before);
    front = in_front(s, target);
    pthread_mutex_lock(&lock);
    s->front = front;
    pthread_mutex_unlock(&lock);
}

/* Takes the reference of `target`. */
static void enter(struct swapchain *s, struct dxgi_output *target)
{
    struct dxgi_output *was = set_target(s, target);

    if (was)
        dxgi_object_Release(was);
    switch_mode(s, target);
    fill(s, target);
}

bool dxgi_full(struct swapchain *s)
{
    struct dxgi_output *target = get_target(s);
    bool full = target != NULL;

    if (target && is_lost(s, target) && begin(s)) {
        leave(s);
        end(s);
        full = false;
    }
    if (target)
        dxgi_object_Release(target);
    return full;
}

HRESULT dxgi_full_present(struct swapchain *s, bool test)
{
    struct dxgi_output *target = get_target(s);
    const bool lost = target && is_lost(s, target);

    if (target)
        dxgi_object_Release(target);
    if (lost && !test)
        dxgi_full(s);
    return lost ? DXGI_STATUS_OCCLUDED : S_OK;
}

HRESULT STDMETHODCALLTYPE dxgi_swapchain_GetContainingOutput(IDXGISwapChain3 *This, IDXGIOutput **out)
{
    struct swapchain *s = of(This);

    if (!out)
        return DXGI_ERROR_INVALID_CALL;
    *out = (IDXGIOutput *)get_target(s);
    return *out ? S_OK : dxgi_output_of(s->device->dxgi_adapter, s->window, (struct dxgi_output **)out);
}

HRESULT STDMETHODCALLTYPE dxgi_swapchain_GetFullscreenState(IDXGISwapChain3 *This, BOOL *fullscreen,
                                                            IDXGIOutput **target)
{
    struct dxgi_output *now;

    dxgi_full(of(This));
    now = get_target(of(This));
    if (fullscreen)
        *fullscreen = now != NULL;
    if (target)
        *target = (IDXGIOutput *)now;
    else if (now)
        dxgi_object_Release(now);
    return S_OK;
}

static HRESULT set_state(struct swapchain *s, bool full, struct dxgi_output *target)
{
    HRESULT hr = S_OK;

    if (full == (s->target != NULL) && (!target || target == s->target))
        return S_OK;
    if (!full) {
        leave(s);
        return S_OK;
    }
    if (s->window && !window_is(s->window))
        return DXGI_ERROR_NOT_CURRENTLY_AVAILABLE;
    if (target)
        dxgi_object_AddRef(target);
    else
        hr = dxgi_output_of(s->device->dxgi_adapter, s->window, &target);
    if (hr == S_OK)
        enter(s, target);
    return hr;
}

HRESULT STDMETHODCALLTYPE dxgi_swapchain_SetFullscreenState(IDXGISwapChain3 *This, BOOL fullscreen,
                                                            IDXGIOutput *target)
{
    struct swapchain *s = of(This);
    HRESULT hr;

    if (target && (!fullscreen || (const void *)target->lpVtbl != &dxgi_output_vtbl))
        return DXGI_ERROR_INVALID_CALL;
    dxgi_full(s);
    if (!begin(s))
        return DXGI_STATUS_MODE_CHANGE_IN_PROGRESS;
    hr = set_state(s, fullscreen != FALSE, (struct dxgi_output *)target);
    end(s);
    return hr;
}

HRESULT STDMETHODCALLTYPE dxgi_swapchain_ResizeTarget(IDXGISwapChain3 *This, const DXGI_MODE_DESC *mode)
{
    struct swapchain *s = of(This);
    struct dxgi_mode m;
    DXGI_MODE_DESC got;

    if (!mode)
        return DXGI_ERROR_INVALID_CALL;
    if (!dxgi_full(s)) {
        if (s->window)
            window_resize(s->window, mode->Width, mode->Height);
        return S_OK;
    }
    if (!begin(s))
        return DXGI_STATUS_MODE_CHANGE_IN_PROGRESS;
    if (s->target && mode->Width && mode->Height && s->target->monitor &&
        dxgi_output_FindClosestMatchingMode((IDXGIOutput1 *)s->target, mode, &got, (IUnknown *)s->device) ==
            S_OK) {
        m = (struct dxgi_mode){got.Width, got.Height, got.RefreshRate.Numerator};
        s->before.moded |= window_mode_set(s->target->name, &m);
        s->full.RefreshRate = got.RefreshRate;
    }
    if (s->target)
        fill(s, s->target);
    end(s);
    return S_OK;
}

/* ---- Alt+Enter, and what factories know of windows ---------------------------------------- */

struct dxgi_association {
    struct dxgi_association *next;
    HWND window;
    UINT flags;
};

/* Those of windows that are gone, and of this one; NULL: all. */
static void forget(struct dxgi_factory *f, HWND window)
{
    for (struct dxgi_association **at = &f->windows, *a; (a = *at);) {
        if (window && a->window != window && window_is(a->window)) {
            at = &a->next;
            continue;
        }
        *at = a->next;
        free(a);
    }
}

static UINT flags_of(const struct dxgi_factory *f, HWND window)
{
    for (const struct dxgi_association *a = f ? f->windows : NULL; a; a = a->next)
        if (a->window == window)
            return a->flags;
    return 0;
}

void dxgi_factory_end(struct dxgi_object *o)
{
    forget((struct dxgi_factory *)o, NULL);
}

HRESULT STDMETHODCALLTYPE dxgi_factory_MakeWindowAssociation(IDXGIFactory5 *This, HWND window, UINT flags)
{
    struct dxgi_factory *f = (struct dxgi_factory *)This;
    struct dxgi_association *a;

    if (flags > DXGI_MWA_VALID)
        return DXGI_ERROR_INVALID_CALL;
    a = window ? malloc(sizeof(*a)) : NULL;
    if (window && !a)
        return E_OUTOFMEMORY;
    pthread_mutex_lock(&lock);
    forget(f, window);
    if (a) {
        *a = (struct dxgi_association){f->windows, window, flags};
        f->windows = a;
    }
    pthread_mutex_unlock(&lock);
    return S_OK;
}

HRESULT STDMETHODCALLTYPE dxgi_factory_GetWindowAssociation(IDXGIFactory5 *This, HWND *window)
{
    if (!window)
        return DXGI_ERROR_INVALID_CALL;
    *window = NULL; /* as Windows answers, whatever was associated */
    return S_OK;
}

/* A chain whose last reference is given back just now is not held again. */
static bool hold(struct dxgi_object *o)
{
    LONG refs = __atomic_load_n(&o->refs, __ATOMIC_RELAXED);

    while (refs &&
           !__atomic_compare_exchange_n(&o->refs, &refs, refs + 1, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
        continue;
    return refs != 0;
}

/* By the window's thread. */
static void alt_enter(HWND window)
{
    struct swapchain *s;
    BOOL full;

    pthread_mutex_lock(&lock);
    for (s = watched; s; s = s->watched)
        if (s->window == window &&
            !(flags_of((const struct dxgi_factory *)s->object.parent, window) &
              (DXGI_MWA_NO_ALT_ENTER | DXGI_MWA_NO_WINDOW_CHANGES)) &&
            hold(&s->object))
            break;
    pthread_mutex_unlock(&lock);
    if (!s)
        return;
    full = dxgi_full(s);
    dxgi_swapchain_SetFullscreenState((IDXGISwapChain3 *)s, !full, NULL);
    dxgi_object_Release(s);
}

void dxgi_full_begin(struct swapchain *s)
{
    if (!s->window)
        return;
    pthread_mutex_lock(&lock);
    s->watched = watched;
    watched = s;
    pthread_mutex_unlock(&lock);
    s->thread = window_watch(s->window, alt_enter);
}

void dxgi_full_end(struct swapchain *s)
{
    leave(s);
    if (!s->window)
        return;
    pthread_mutex_lock(&lock);
    for (struct swapchain **at = &watched; *at; at = &(*at)->watched)
        if (*at == s) {
            *at = s->watched;
            break;
        }
    pthread_mutex_unlock(&lock);
    window_unwatch(s->thread);
}
