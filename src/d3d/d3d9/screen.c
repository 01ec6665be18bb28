/* SPDX-License-Identifier: MIT */
/* screen.c: full screen where there is a window system: the display's mode, the window that covers it, and whether the program is in front.
 *
 *   windowed ──d9_screen_begin──▶ front ──another program comes to the front──▶ behind ──the program comes back──▶ back
 *       ▲                           ▲                                              │                                 │
 *       └──────d9_screen_end────────┴──────────d9_screen_begin, of Reset───────────┴──(9Ex alone)────────────────────┘
 *
 * Invariants:
 *  1. What the focus window is told goes on to the program's procedure, whoever owns the device and even if it is gone.
 *  2. The procedure takes no device's lock: a thread that holds one may wait for the window's. What it reads of a screen is
 *     written with the hooks' lock. */
#include "d3d/d3d9/tables.h"
#include "d3d/d3d9/rt9.h"

#include "d3d/window.h"

enum { MODES = 1024 };

static pthread_mutex_t hooks_lock = PTHREAD_MUTEX_INITIALIZER;

struct d9_screen {
    HWND window, focus;
    WCHAR name[32];
    struct dxgi_mode mode;
    struct dxgi_window before;
    RECT area;
    bool moded,
        keeps; /* the mode is not the user's; the window is the program's alone (D3DCREATE_NOWINDOWCHANGES) */
    LONG state; /* enum d9_front */
};

/* ---- the display ------------------------------------------------------------------------ */

static bool monitor_of(struct dxgi_monitor *m)
{
    struct dxgi_monitor all[16];

    if (!window_monitors(all, 16))
        return false;
    *m = all[0];
    return true;
}

bool d9_screen_is(void)
{
    struct dxgi_monitor m;

    return monitor_of(&m);
}

static bool mode_now(const WCHAR *name, struct dxgi_mode *m)
{
    const bool is = window_mode_now(name, m);

    m->rate = is && m->rate ? m->rate : 60;
    return is;
}

bool d9_screen_mode(UINT *width, UINT *height, UINT *rate)
{
    struct dxgi_monitor m;
    struct dxgi_mode mode;

    if (!monitor_of(&m) || !mode_now(m.name, &mode))
        return false;
    *width = mode.width;
    *height = mode.height;
    *rate = mode.rate;
    return true;
}

/* Each once, in the order in which Windows has them; for who frees them. */
static struct dxgi_mode *all_modes(UINT *count)
{
    struct dxgi_mode *m = calloc(MODES, sizeof(*m));
    struct dxgi_monitor on;
    UINT all = m && monitor_of(&on) ? window_modes(on.name, m, MODES) : 0, n = 0, k;

    for (UINT i = 0; i < all; i++) {
        m[i].rate = m[i].rate ? m[i].rate : 60;
        for (k = 0; k < n && memcmp(&m[k], &m[i], sizeof(m[i])) != 0;)
            k++;
        if (k == n)
            m[n++] = m[i];
    }
    *count = n;
    return m;
}

UINT d9_screen_modes(UINT index, UINT *width, UINT *height, UINT *rate)
{
    UINT n;
    struct dxgi_mode *m = all_modes(&n);

    if (index < n) {
        *width = m[index].width;
        *height = m[index].height;
        *rate = m[index].rate;
    }
    free(m);
    return n;
}

bool d9_screen_has(UINT width, UINT height, UINT rate)
{
    UINT n;
    struct dxgi_mode *m = all_modes(&n);
    bool has = false;

    for (UINT i = 0; i < n && !has; i++)
        has = m[i].width == width && m[i].height == height && (!rate || m[i].rate == rate);
    free(m);
    return has;
}

/* ---- the window that has the focus --------------------------------------------------------- */

#if defined(_WIN32)

struct hook {
    struct hook *next;
    HWND window;
    WNDPROC proc; /* the program's */
    bool unicode;
    struct d9_screen *screen; /* NULL: the device is gone, but somebody else's procedure stands before ours */
};

static struct hook *hooks;

static void left(HWND window, bool keeps, bool moded, const WCHAR *name)
{
    if (moded)
        window_mode_set(name, NULL);
    if (!keeps && IsWindowVisible(window))
        ShowWindow(window, SW_MINIMIZE);
}

/* Another program came to the front, or this one did: what is to be done is done without the lock, for it sends messages. */
static void activated(HWND focus, bool front)
{
    struct d9_screen now = {0};

    pthread_mutex_lock(&hooks_lock);
    for (struct hook *h = hooks; h; h = h->next)
        if (h->window == focus && h->screen) {
            now = *h->screen;
            if (!front)
                __atomic_store_n(&h->screen->state, D9_BEHIND, __ATOMIC_RELEASE);
            else if (now.state == D9_BEHIND)
                __atomic_store_n(&h->screen->state, D9_BACK, __ATOMIC_RELEASE);
        }
    pthread_mutex_unlock(&hooks_lock);
    if (!now.window)
        return;
    if (!front) {
        left(now.window, now.keeps, now.moded, now.name);
    } else if (now.state == D9_BEHIND) {
        if (now.moded)
            window_mode_set(now.name, &now.mode);
        if (!now.keeps)
            SetWindowPos(now.window, NULL, now.area.left, now.area.top, now.area.right - now.area.left,
                         now.area.bottom - now.area.top, SWP_NOACTIVATE | SWP_NOZORDER);
    }
}

static LRESULT CALLBACK procedure(HWND window, UINT message, WPARAM w, LPARAM l)
{
    struct hook **p = &hooks, *h;
    WNDPROC proc = NULL;
    bool unicode = false;

    pthread_mutex_lock(&hooks_lock);
    while (*p && (*p)->window != window)
        p = &(*p)->next;
    h = *p;
    if (h) {
        proc = h->proc;
        unicode = h->unicode;
    }
    if (h && message == WM_NCDESTROY) { /* its handle may be another window's next */
        *p = h->next;
        free(h);
    }
    pthread_mutex_unlock(&hooks_lock);
    if (message == WM_ACTIVATEAPP)
        activated(window, w != 0);
    if (!proc)
        return DefWindowProcW(window, message, w, l);
    return unicode ? CallWindowProcW(proc, window, message, w, l)
                   : CallWindowProcA(proc, window, message, w, l);
}

static WNDPROC set_procedure(HWND window, bool unicode, WNDPROC proc)
{
    return (WNDPROC)(unicode ? SetWindowLongPtrW(window, GWLP_WNDPROC, (LONG_PTR)proc)
                             : SetWindowLongPtrA(window, GWLP_WNDPROC, (LONG_PTR)proc));
}

static WNDPROC get_procedure(HWND window, bool unicode)
{
    return (WNDPROC)(unicode ? GetWindowLongPtrW(window, GWLP_WNDPROC)
                             : GetWindowLongPtrA(window, GWLP_WNDPROC));
}

static void hook(struct d9_screen *s)
{
    struct hook *h;

    pthread_mutex_lock(&hooks_lock);
    for (h = hooks; h && h->window != s->focus;)
        h = h->next;
    if (h) {
        h->screen = s;
    } else if ((h = calloc(1, sizeof(*h)))) {
        *h = (struct hook){hooks, s->focus, NULL, IsWindowUnicode(s->focus), s};
        h->proc = get_procedure(s->focus, h->unicode);
        hooks = h;
        set_procedure(s->focus, h->unicode, procedure);
    }
    pthread_mutex_unlock(&hooks_lock);
}

static void unhook(struct d9_screen *s)
{
    struct hook **p = &hooks, *h;

    pthread_mutex_lock(&hooks_lock);
    while (*p && (*p)->screen != s)
        p = &(*p)->next;
    h = *p;
    if (h && (!IsWindow(h->window) || get_procedure(h->window, h->unicode) == procedure)) {
        *p = h->next;
        if (IsWindow(h->window))
            set_procedure(h->window, h->unicode, h->proc);
        free(h);
    } else if (h) {
        h->screen = NULL; /* 1 */
    }
    pthread_mutex_unlock(&hooks_lock);
}

static void cover(struct d9_screen *s)
{
    if (s->keeps)
        return;
    window_full(s->window, &s->area, &s->before);
    SetWindowPos(s->window, HWND_TOPMOST, s->area.left, s->area.top, s->area.right - s->area.left,
                 s->area.bottom - s->area.top, SWP_SHOWWINDOW | SWP_NOACTIVATE);
}

static void to_front(HWND focus)
{
    SetWindowPos(focus, NULL, 0, 0, 0, 0, SWP_NOSIZE | SWP_NOMOVE | SWP_NOZORDER);
}

#else

static void hook(struct d9_screen *s)
{
}

static void unhook(struct d9_screen *s)
{
}

static void cover(struct d9_screen *s)
{
}

static void to_front(HWND focus)
{
}

#endif

/* ---- the device's ------------------------------------------------------------------------------ */

HRESULT d9_screen_begin(struct d9_device *d, const D3DPRESENT_PARAMETERS *p)
{
    struct d9_screen *s = d->screen;
    struct dxgi_monitor m;
    struct dxgi_mode now;
    bool moded, has;

    if (p->Windowed || !monitor_of(&m)) {
        d9_screen_end(d);
        return S_OK;
    }
    if (s && s->window != p->hDeviceWindow) {
        d9_screen_end(d);
        s = NULL;
    }
    if (!s && !(s = calloc(1, sizeof(*s))))
        return E_OUTOFMEMORY;
    pthread_mutex_lock(&hooks_lock); /* 2 */
    s->window = p->hDeviceWindow;
    s->focus = d->creation.hFocusWindow ? d->creation.hFocusWindow : p->hDeviceWindow;
    s->keeps = d->creation.BehaviorFlags & D3DCREATE_NOWINDOWCHANGES;
    s->mode = (struct dxgi_mode){p->BackBufferWidth, p->BackBufferHeight, p->FullScreen_RefreshRateInHz};
    memcpy(s->name, m.name, sizeof(s->name));
    pthread_mutex_unlock(&hooks_lock);
    moded = mode_now(m.name, &now) &&
            (now.width != s->mode.width || now.height != s->mode.height ||
             (s->mode.rate && now.rate != s->mode.rate)) &&
            window_mode_set(m.name, &s->mode); /* which sends messages */
    has = monitor_of(&m);
    pthread_mutex_lock(&hooks_lock);
    s->moded = moded || s->moded;
    s->area = has ? m.area : (RECT){0, 0, (LONG)s->mode.width, (LONG)s->mode.height};
    pthread_mutex_unlock(&hooks_lock);
    if (!d->screen)
        hook(s);
    d->screen = s;
    cover(s);
    to_front(s->focus);
    __atomic_store_n(&s->state, D9_FRONT, __ATOMIC_RELEASE);
    return S_OK;
}

void d9_screen_end(struct d9_device *d)
{
    struct d9_screen *s = d->screen;

    if (!s)
        return;
    d->screen = NULL;
    unhook(s);
    if (s->moded)
        window_mode_set(s->name, NULL);
    if (window_is(s->window))
        window_back(s->window, &s->before, false);
    free(s);
}

enum d9_front d9_screen_state(const struct d9_device *d)
{
    return d->screen ? (enum d9_front)__atomic_load_n(&d->screen->state, __ATOMIC_ACQUIRE) : D9_FRONT;
}
