/* SPDX-License-Identifier: MIT */
/* debug.c: what a device made with D3D11_CREATE_DEVICE_DEBUG says of a program's mistakes (ID3D11InfoQueue; ID3D10InfoQueue has the same
 * methods, and its messages the same numbers), and the lock that programs of several threads ask for (ID3D10Multithread,
 * ID3D11Multithread).
 *
 * Invariants:
 *  1. Messages are kept in order, at most `limit` of them, and none that the storage filter denies: a new one pushes the oldest out;
 *     what is not kept is counted.
 *  2. A device without the flag has no queue, and saying something costs it one test.
 *  3. The filter on top of its stack is the one that counts; on an empty stack everything passes. */
#include "d3d/tables.h"
#include "d3d/screens.h"

#include <stdarg.h>
#include <stdio.h>

enum { USUAL_LIMIT = 1024 };

struct message {
    struct message *next;
    D3D11_MESSAGE_CATEGORY category;
    D3D11_MESSAGE_SEVERITY severity;
    D3D11_MESSAGE_ID id;
    char text[];
};

/* What a filter lists: categories, severities and ids, each allowed or denied. */
enum { CATEGORIES, SEVERITIES, IDS, LISTED };
struct list {
    UINT count, *values;
};
struct filter {
    struct filter *below;
    struct list allow[LISTED], deny[LISTED];
};

struct d3d_queue {
    const ID3D11InfoQueueVtbl *vtbl;
    struct d3d_device *device;
    pthread_mutex_t lock;
    struct message *first, **last;
    UINT64 count, limit, dropped, allowed, denied;
    struct filter *storage, *retrieval;
    struct list break_on[LISTED];
    BOOL mute;
};

static struct d3d_queue *of(void *This)
{
    return This;
}

struct d3d_queue *d3d_queue_create(struct d3d_device *d)
{
    struct d3d_queue *q = calloc(1, sizeof(*q));

    if (!q)
        return NULL;
    *q = (struct d3d_queue){.vtbl = &d3d_queue_vtbl, .device = d, .last = &q->first, .limit = USUAL_LIMIT};
    pthread_mutex_init(&q->lock, NULL);
    return q;
}

/* 1, under the lock: the oldest go, down to so many. */
static void keep(struct d3d_queue *q, UINT64 most)
{
    while (q->count > most) {
        struct message *m = q->first;

        q->first = m->next;
        if (!q->first)
            q->last = &q->first;
        q->count--;
        free(m);
    }
}

/* ---- filters ------------------------------------------------------------------------------ */

static void pop(struct filter **top)
{
    struct filter *f = *top;

    if (!f)
        return;
    *top = f->below;
    for (int i = 0; i < LISTED; i++) {
        free(f->allow[i].values);
        free(f->deny[i].values);
    }
    free(f);
}

static HRESULT push(struct filter **top)
{
    struct filter *f = calloc(1, sizeof(*f));

    if (!f)
        return E_OUTOFMEMORY;
    f->below = *top;
    *top = f;
    return S_OK;
}

/* The enumerations' values have the size of a UINT. */
static HRESULT list_add(struct list *to, UINT count, const void *values)
{
    UINT *all = count ? realloc(to->values, ((size_t)to->count + count) * sizeof(*all)) : to->values;

    if (!count)
        return S_OK;
    if (!all)
        return E_OUTOFMEMORY;
    memcpy(all + to->count, values, count * sizeof(*all));
    to->values = all;
    to->count += count;
    return S_OK;
}

static HRESULT desc_add(struct list to[LISTED], const D3D11_INFO_QUEUE_FILTER_DESC *d)
{
    HRESULT hr = S_OK;

    if ((d->NumCategories && !d->pCategoryList) || (d->NumSeverities && !d->pSeverityList) ||
        (d->NumIDs && !d->pIDList))
        return E_INVALIDARG;
    hr = list_add(&to[CATEGORIES], d->NumCategories, d->pCategoryList);
    if (hr == S_OK)
        hr = list_add(&to[SEVERITIES], d->NumSeverities, d->pSeverityList);
    return hr == S_OK ? list_add(&to[IDS], d->NumIDs, d->pIDList) : hr;
}

/* To the filter on top; a stack that is empty gets its first. */
static HRESULT entries_add(struct d3d_queue *q, struct filter **top, const D3D11_INFO_QUEUE_FILTER *given)
{
    HRESULT hr;

    if (!given)
        return E_INVALIDARG;
    pthread_mutex_lock(&q->lock);
    hr = *top ? S_OK : push(top);
    if (hr == S_OK)
        hr = desc_add((*top)->allow, &given->AllowList);
    if (hr == S_OK)
        hr = desc_add((*top)->deny, &given->DenyList);
    pthread_mutex_unlock(&q->lock);
    return hr;
}

static HRESULT filter_push(struct d3d_queue *q, struct filter **top, bool copy)
{
    HRESULT hr;

    pthread_mutex_lock(&q->lock);
    hr = push(top);
    for (int i = 0; copy && hr == S_OK && (*top)->below && i < LISTED; i++) {
        const struct filter *from = (*top)->below;

        hr = list_add(&(*top)->allow[i], from->allow[i].count, from->allow[i].values);
        if (hr == S_OK)
            hr = list_add(&(*top)->deny[i], from->deny[i].count, from->deny[i].values);
    }
    pthread_mutex_unlock(&q->lock);
    return hr;
}

static void filter_pop(struct d3d_queue *q, struct filter **top, bool all)
{
    pthread_mutex_lock(&q->lock);
    do
        pop(top);
    while (all && *top);
    pthread_mutex_unlock(&q->lock);
}

/* What one of a filter's two descriptions lists, with its values at `room` on; NULL: only their size is asked for. */
static char *desc_get(const struct list from[LISTED], D3D11_INFO_QUEUE_FILTER_DESC *d, char *room,
                      SIZE_T *size)
{
    UINT *values[LISTED];

    for (int i = 0; i < LISTED; i++) {
        const SIZE_T bytes = from[i].count * sizeof(*from[i].values);

        values[i] = room && bytes ? memcpy(room, from[i].values, bytes) : NULL;
        room = room ? room + bytes : NULL;
        *size += bytes;
    }
    if (room)
        *d = (D3D11_INFO_QUEUE_FILTER_DESC){
            from[CATEGORIES].count, (D3D11_MESSAGE_CATEGORY *)values[CATEGORIES],
            from[SEVERITIES].count, (D3D11_MESSAGE_SEVERITY *)values[SEVERITIES],
            from[IDS].count,        (D3D11_MESSAGE_ID *)values[IDS]};
    return room;
}

/* The filter that counts, and behind it what it lists; an empty one where there is none. */
static HRESULT filter_get(struct d3d_queue *q, struct filter *const *top, D3D11_INFO_QUEUE_FILTER *out,
                          SIZE_T *size)
{
    static const struct filter none;
    const struct filter *f;
    SIZE_T need = sizeof(*out), ignored = 0;
    HRESULT hr = S_OK;

    if (!size)
        return E_INVALIDARG;
    pthread_mutex_lock(&q->lock);
    f = *top ? *top : &none;
    desc_get(f->allow, NULL, NULL, &need);
    desc_get(f->deny, NULL, NULL, &need);
    if (out && *size < need)
        hr = E_INVALIDARG;
    else if (out)
        desc_get(f->deny, &out->DenyList, desc_get(f->allow, &out->AllowList, (char *)(out + 1), &ignored),
                 &ignored);
    *size = need;
    pthread_mutex_unlock(&q->lock);
    return hr;
}

static UINT depth(const struct filter *f)
{
    UINT n = 0;

    for (; f; f = f->below)
        n++;
    return n;
}

static bool listed(const struct list *l, UINT value)
{
    for (UINT i = 0; i < l->count; i++)
        if (l->values[i] == value)
            return true;
    return false;
}

/* What no list denies, and where there are lists of what is allowed, each of them has. */
static bool passes(const struct filter *f, const struct message *m)
{
    const UINT values[LISTED] = {[CATEGORIES] = m->category, [SEVERITIES] = m->severity, [IDS] = (UINT)m->id};

    for (int i = 0; f && i < LISTED; i++)
        if (listed(&f->deny[i], values[i]) || (f->allow[i].count && !listed(&f->allow[i], values[i])))
            return false;
    return true;
}

void d3d_queue_destroy(struct d3d_queue *q)
{
    if (!q)
        return;
    keep(q, 0);
    for (int i = 0; i < LISTED; i++)
        free(q->break_on[i].values);
    filter_pop(q, &q->storage, true);
    filter_pop(q, &q->retrieval, true);
    pthread_mutex_destroy(&q->lock);
    free(q);
}

static HRESULT add(struct d3d_queue *q, D3D11_MESSAGE_CATEGORY category, D3D11_MESSAGE_SEVERITY severity,
                   D3D11_MESSAGE_ID id, const char *text)
{
    struct message *m = calloc(1, sizeof(*m) + strlen(text) + 1);
    bool stop;

    if (!m)
        return E_OUTOFMEMORY;
    m->category = category;
    m->severity = severity;
    m->id = id;
    strcpy(m->text, text);
    pthread_mutex_lock(&q->lock);
    if (!passes(q->storage, m)) { /* 1 */
        q->denied++;
        pthread_mutex_unlock(&q->lock);
        free(m);
        return S_OK;
    }
    q->allowed++;
    *q->last = m;
    q->last = &m->next;
    q->count++;
    if (q->count > q->limit) {
        q->dropped++;
        keep(q, q->limit);
    }
    stop = listed(&q->break_on[CATEGORIES], category) || listed(&q->break_on[SEVERITIES], severity) ||
           listed(&q->break_on[IDS], (UINT)id);
    pthread_mutex_unlock(&q->lock);
    if (!q->mute)
        d3d_log("%s", text);
    if (stop)
        window_debugger_break();
    return S_OK;
}

void d3d_say(struct d3d_device *d, D3D11_MESSAGE_CATEGORY category, D3D11_MESSAGE_SEVERITY severity,
             D3D11_MESSAGE_ID id, const char *format, ...)
{
    char text[512];
    va_list ap;

    if (!d->queue) /* 2 */
        return;
    va_start(ap, format);
    vsnprintf(text, sizeof(text), format, ap);
    va_end(ap);
    add(d->queue, category, severity, id, text);
}

/* What is there is made from the device, and what is done with it by a context. */
static D3D11_MESSAGE_CATEGORY category_of(const char *text)
{
    return strncmp(text, "ID3D11Device::", 14) ? D3D11_MESSAGE_CATEGORY_RESOURCE_MANIPULATION
                                               : D3D11_MESSAGE_CATEGORY_STATE_CREATION;
}

HRESULT d3d_refuse(struct d3d_device *d, D3D11_MESSAGE_ID id, const char *format, ...)
{
    char text[512];
    va_list ap;

    if (!d->queue) /* 2 */
        return E_INVALIDARG;
    va_start(ap, format);
    vsnprintf(text, sizeof(text), format, ap);
    va_end(ap);
    add(d->queue, category_of(text), D3D11_MESSAGE_SEVERITY_ERROR, id, text);
    return E_INVALIDARG;
}

bool d3d_refuse_foreign(struct d3d_device *d, UINT parameter, const char *what)
{
    d3d_say(d, D3D11_MESSAGE_CATEGORY_MISCELLANEOUS, D3D11_MESSAGE_SEVERITY_CORRUPTION,
            (D3D11_MESSAGE_ID)(D3D11_MESSAGE_ID_CORRUPTED_PARAMETER1 + parameter - 1),
            "%s: parameter %u is an object of another device", what, parameter);
    return true;
}

static void say_error(struct d3d_device *d, D3D11_MESSAGE_ID id, const char *what, const char *text)
{
    d3d_say(d, D3D11_MESSAGE_CATEGORY_EXECUTION, D3D11_MESSAGE_SEVERITY_ERROR, id,
            "ID3D11DeviceContext::%s: %s", what, text);
}

/* What a draw lacks, which is dropped then, or draws nothing. */
void d3d_debug_draw(const struct d3d_context *c, const char *what, bool indexed)
{
    struct d3d_device *d = c->device;
    bool target = c->depth_view != NULL || c->streams[0];

    if (!d->queue || c->list) /* 2 */
        return;
    for (int i = 0; i < 8; i++)
        target |= c->targets[i] != NULL;
    for (UINT i = 0; i < d3d_uav_slots(c->device); i++)
        target |= c->pixel_uavs[i] != NULL;
    if (!c->shaders[D3D_VS])
        say_error(d, D3D11_MESSAGE_ID_DEVICE_DRAW_VERTEX_SHADER_NOT_SET, what,
                  "A Vertex Shader is always required when drawing, but none is currently bound.");
    if (c->topology == D3D11_PRIMITIVE_TOPOLOGY_UNDEFINED)
        say_error(d, D3D11_MESSAGE_ID_DEVICE_DRAW_INVALID_PRIMITIVETOPOLOGY, what,
                  "The current primitive topology value (0) is not valid.");
    if (indexed && !c->indices)
        say_error(d, D3D11_MESSAGE_ID_DEVICE_DRAW_INDEX_BUFFER_NOT_SET, what,
                  "An Index Buffer is expected, but none is bound.");
    if (!c->num_viewports && c->shaders[D3D_PS])
        say_error(d, D3D11_MESSAGE_ID_DEVICE_DRAW_VIEWPORT_NOT_SET, what,
                  "The rasterizer is expected to make something, and no viewport is set: nothing is drawn.");
    if (!target)
        say_error(d, D3D11_MESSAGE_ID_DEVICE_DRAW_RENDERTARGETVIEW_NOT_SET, what,
                  "Neither a Render Target View nor a Depth Stencil View is bound: nothing is drawn.");
}

/* ---- the queue: a face of the device --------------------------------------------------- */

IUNKNOWN_OF(d3d_queue, ID3D11InfoQueue, d3d_device, ID3D11Device, of(This)->device)

HRESULT STDMETHODCALLTYPE d3d_queue_SetMessageCountLimit(ID3D11InfoQueue *This, UINT64 limit)
{
    struct d3d_queue *q = of(This);

    pthread_mutex_lock(&q->lock);
    q->limit = limit;
    keep(q, limit);
    pthread_mutex_unlock(&q->lock);
    return S_OK;
}

UINT64 STDMETHODCALLTYPE d3d_queue_GetMessageCountLimit(ID3D11InfoQueue *This)
{
    return of(This)->limit;
}

void STDMETHODCALLTYPE d3d_queue_ClearStoredMessages(ID3D11InfoQueue *This)
{
    struct d3d_queue *q = of(This);

    pthread_mutex_lock(&q->lock);
    keep(q, 0);
    pthread_mutex_unlock(&q->lock);
}

HRESULT STDMETHODCALLTYPE d3d_queue_GetMessage(ID3D11InfoQueue *This, UINT64 index, D3D11_MESSAGE *out,
                                               SIZE_T *size)
{
    struct d3d_queue *q = of(This);
    const struct message *m;
    HRESULT hr = S_OK;
    SIZE_T room, text;

    if (!size)
        return E_INVALIDARG;
    room = *size;
    pthread_mutex_lock(&q->lock);
    for (m = q->first; m; m = m->next)
        if (passes(q->retrieval, m) && !index--)
            break;
    if (m) {
        text = strlen(m->text) + 1;
        *size = sizeof(*out) + text;
        if (out && room < *size)
            hr = E_INVALIDARG;
        else if (out) {
            *out = (D3D11_MESSAGE){m->category, m->severity, m->id, (const char *)(out + 1), text};
            memcpy(out + 1, m->text, text);
        }
    } else {
        hr = E_INVALIDARG;
    }
    pthread_mutex_unlock(&q->lock);
    return hr;
}

UINT64 STDMETHODCALLTYPE d3d_queue_GetNumStoredMessages(ID3D11InfoQueue *This)
{
    return of(This)->count;
}

UINT64 STDMETHODCALLTYPE d3d_queue_GetNumStoredMessagesAllowedByRetrievalFilter(ID3D11InfoQueue *This)
{
    struct d3d_queue *q = of(This);
    UINT64 n = 0;

    pthread_mutex_lock(&q->lock);
    for (const struct message *m = q->first; m; m = m->next)
        n += passes(q->retrieval, m);
    pthread_mutex_unlock(&q->lock);
    return n;
}

#define FILTERS(what, stack)                                                                                 \
    HRESULT STDMETHODCALLTYPE d3d_queue_Add##what##FilterEntries(ID3D11InfoQueue *This,                      \
                                                                 D3D11_INFO_QUEUE_FILTER *filter)            \
    {                                                                                                        \
        return entries_add(of(This), &of(This)->stack, filter);                                              \
    }                                                                                                        \
    void STDMETHODCALLTYPE d3d_queue_Clear##what##Filter(ID3D11InfoQueue *This)                              \
    {                                                                                                        \
        filter_pop(of(This), &of(This)->stack, true);                                                        \
    }                                                                                                        \
    HRESULT STDMETHODCALLTYPE d3d_queue_PushEmpty##what##Filter(ID3D11InfoQueue *This)                       \
    {                                                                                                        \
        return filter_push(of(This), &of(This)->stack, false);                                               \
    }                                                                                                        \
    HRESULT STDMETHODCALLTYPE d3d_queue_PushCopyOf##what##Filter(ID3D11InfoQueue *This)                      \
    {                                                                                                        \
        return filter_push(of(This), &of(This)->stack, true);                                                \
    }                                                                                                        \
    HRESULT STDMETHODCALLTYPE d3d_queue_Push##what##Filter(ID3D11InfoQueue *This,                            \
                                                           D3D11_INFO_QUEUE_FILTER *filter)                  \
    {                                                                                                        \
        HRESULT hr = filter ? filter_push(of(This), &of(This)->stack, false) : E_INVALIDARG;                 \
                                                                                                             \
        return hr == S_OK ? entries_add(of(This), &of(This)->stack, filter) : hr;                            \
    }                                                                                                        \
    void STDMETHODCALLTYPE d3d_queue_Pop##what##Filter(ID3D11InfoQueue *This)                                \
    {                                                                                                        \
        filter_pop(of(This), &of(This)->stack, false);                                                       \
    }                                                                                                        \
    HRESULT STDMETHODCALLTYPE d3d_queue_Get##what##Filter(ID3D11InfoQueue *This,                             \
                                                          D3D11_INFO_QUEUE_FILTER *out, SIZE_T *size)        \
    {                                                                                                        \
        return filter_get(of(This), &of(This)->stack, out, size);                                            \
    }                                                                                                        \
    UINT STDMETHODCALLTYPE d3d_queue_Get##what##FilterStackSize(ID3D11InfoQueue *This)                       \
    {                                                                                                        \
        return depth(of(This)->stack);                                                                       \
    }
FILTERS(Storage, storage)
FILTERS(Retrieval, retrieval)

UINT64 STDMETHODCALLTYPE d3d_queue_GetNumMessagesAllowedByStorageFilter(ID3D11InfoQueue *This)
{
    return of(This)->allowed;
}

UINT64 STDMETHODCALLTYPE d3d_queue_GetNumMessagesDeniedByStorageFilter(ID3D11InfoQueue *This)
{
    return of(This)->denied;
}

UINT64 STDMETHODCALLTYPE d3d_queue_GetNumMessagesDiscardedByMessageCountLimit(ID3D11InfoQueue *This)
{
    return of(This)->dropped;
}

HRESULT STDMETHODCALLTYPE d3d_queue_AddMessage(ID3D11InfoQueue *This, D3D11_MESSAGE_CATEGORY category,
                                               D3D11_MESSAGE_SEVERITY severity, D3D11_MESSAGE_ID id,
                                               LPCSTR text)
{
    if (!text || (UINT)category > D3D11_MESSAGE_CATEGORY_SHADER ||
        (UINT)severity > D3D11_MESSAGE_SEVERITY_MESSAGE)
        return E_INVALIDARG;
    return add(of(This), category, severity, id, text);
}

HRESULT STDMETHODCALLTYPE d3d_queue_AddApplicationMessage(ID3D11InfoQueue *This,
                                                          D3D11_MESSAGE_SEVERITY severity, LPCSTR text)
{
    return d3d_queue_AddMessage(This, D3D11_MESSAGE_CATEGORY_APPLICATION_DEFINED, severity,
                                D3D11_MESSAGE_ID_STRING_FROM_APPLICATION, text);
}

/* A debugger is stopped at, if there is one; no program is ended that has none. */
static HRESULT break_set(struct d3d_queue *q, int on, UINT value, BOOL enable)
{
    struct list *l = &q->break_on[on];
    HRESULT hr = S_OK;

    pthread_mutex_lock(&q->lock);
    if (enable && !listed(l, value))
        hr = list_add(l, 1, &value);
    for (UINT i = 0; !enable && i < l->count; i++)
        if (l->values[i] == value)
            l->values[i--] = l->values[--l->count];
    pthread_mutex_unlock(&q->lock);
    return hr;
}

static BOOL break_get(struct d3d_queue *q, int on, UINT value)
{
    BOOL is;

    pthread_mutex_lock(&q->lock);
    is = listed(&q->break_on[on], value);
    pthread_mutex_unlock(&q->lock);
    return is;
}

/* `most`: no value is above it. */
#define BREAKS(what, type, on, most)                                                                         \
    HRESULT STDMETHODCALLTYPE d3d_queue_SetBreakOn##what(ID3D11InfoQueue *This, type value, BOOL enable)     \
    {                                                                                                        \
        return (UINT)value > most ? E_INVALIDARG : break_set(of(This), on, (UINT)value, enable);             \
    }                                                                                                        \
    BOOL STDMETHODCALLTYPE d3d_queue_GetBreakOn##what(ID3D11InfoQueue *This, type value)                     \
    {                                                                                                        \
        return break_get(of(This), on, (UINT)value);                                                         \
    }
BREAKS(Category, D3D11_MESSAGE_CATEGORY, CATEGORIES, D3D11_MESSAGE_CATEGORY_SHADER)
BREAKS(Severity, D3D11_MESSAGE_SEVERITY, SEVERITIES, D3D11_MESSAGE_SEVERITY_MESSAGE)
BREAKS(ID, D3D11_MESSAGE_ID, IDS, INT32_MAX)

void STDMETHODCALLTYPE d3d_queue_SetMuteDebugOutput(ID3D11InfoQueue *This, BOOL mute)
{
    of(This)->mute = mute;
}

BOOL STDMETHODCALLTYPE d3d_queue_GetMuteDebugOutput(ID3D11InfoQueue *This)
{
    return of(This)->mute;
}

/* ---- the lock: of the program's, around what it wants ------------------------------------- */

static struct d3d_device *of_lock(void *This)
{
    return (struct d3d_device *)((char *)This - offsetof(struct d3d_device, lock_vtbl));
}

IUNKNOWN_OF(d3d_lock, ID3D10Multithread, d3d_device, ID3D11Device, of_lock(This))

void STDMETHODCALLTYPE d3d_lock_Enter(ID3D10Multithread *This)
{
    if (of_lock(This)->guarded)
        pthread_mutex_lock(&of_lock(This)->program_lock);
}

void STDMETHODCALLTYPE d3d_lock_Leave(ID3D10Multithread *This)
{
    if (of_lock(This)->guarded)
        pthread_mutex_unlock(&of_lock(This)->program_lock);
}

BOOL STDMETHODCALLTYPE d3d_lock_SetMultithreadProtected(ID3D10Multithread *This, BOOL guard)
{
    return __atomic_exchange_n(&of_lock(This)->guarded, guard != FALSE, __ATOMIC_ACQ_REL);
}

BOOL STDMETHODCALLTYPE d3d_lock_GetMultithreadProtected(ID3D10Multithread *This)
{
    return of_lock(This)->guarded;
}

/* ---- the same lock, as Direct3D 11's contexts have it ------------------------------------ */

static struct d3d_context *of_context_lock(void *This)
{
    return (struct d3d_context *)((char *)This - offsetof(struct d3d_context, lock_vtbl));
}

static ID3D10Multithread *lock_of(void *This)
{
    return (ID3D10Multithread *)&of_context_lock(This)->device->lock_vtbl;
}

IUNKNOWN_OF(d3d_context_lock, ID3D11Multithread, d3d_context, ID3D11DeviceContext, of_context_lock(This))

void STDMETHODCALLTYPE d3d_context_lock_Enter(ID3D11Multithread *This)
{
    d3d_lock_Enter(lock_of(This));
}

void STDMETHODCALLTYPE d3d_context_lock_Leave(ID3D11Multithread *This)
{
    d3d_lock_Leave(lock_of(This));
}

BOOL STDMETHODCALLTYPE d3d_context_lock_SetMultithreadProtected(ID3D11Multithread *This, BOOL guard)
{
    return d3d_lock_SetMultithreadProtected(lock_of(This), guard);
}

BOOL STDMETHODCALLTYPE d3d_context_lock_GetMultithreadProtected(ID3D11Multithread *This)
{
    return d3d_lock_GetMultithreadProtected(lock_of(This));
}
