/* SPDX-License-Identifier: MIT */
/* rec_tables.c: the method tables that the objects of the implementation share, patched in place: objects keep their identity and
 * nothing has to be unwrapped (libvkd3d asserts the addresses of its tables). */
#include <pthread.h>
#include <stdlib.h>

#include "base/log.h"
#include "d3d12/gen/table.h"
#include "d3d12/record/rec_values.h"

#define MAX_TABLES 256 /* distinct method tables that an implementation may have */

struct method_table {
    void **vtbl;
    unsigned patched;
    void *orig[D12_MAX_SLOTS];
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct method_table *_Atomic tables[MAX_TABLES];

static size_t hash(const void *p)
{
    return (size_t)(((uint64_t)(uintptr_t)p >> 4) * UINT64_C(0x9E3779B97F4A7C15) >> 20);
}

static struct method_table *table_find(void **vtbl)
{
    for (size_t i = hash(vtbl);; i++) {
        struct method_table *m = atomic_load_explicit(&tables[i % MAX_TABLES], memory_order_acquire);

        if (!m || m->vtbl == vtbl)
            return m;
    }
}

/* Leads the slots of `iface` to the thunks. Only as many as the interface has: a table's length cannot be known. */
static struct method_table *table_patch(void **vtbl, uint16_t iface)
{
    struct method_table *m = table_find(vtbl);
    void *const *thunks = iface < D12_NUM_IFACES ? rec_thunks[iface] : NULL;
    unsigned slots = thunks ? d12_ifaces[iface].slots : 0;
    static size_t num;

    if (!m) {
        if (num >= MAX_TABLES / 2) {
            log_error("record", "more than %d method tables: a %s is not recorded", MAX_TABLES / 2,
                      iface < D12_NUM_IFACES ? d12_ifaces[iface].name : "foreign object");
            return NULL;
        }
        m = calloc(1, sizeof(*m));
        if (!m)
            return NULL;
        m->vtbl = vtbl;
        for (unsigned i = 0; i < slots; i++)
            m->orig[i] = vtbl[i];
        for (size_t i = hash(vtbl);; i++)
            if (!atomic_load(&tables[i % MAX_TABLES])) {
                atomic_store_explicit(&tables[i % MAX_TABLES], m, memory_order_release);
                break;
            }
        num++;
    }
    if (slots > m->patched && os_make_writable(vtbl, slots * sizeof(*vtbl))) {
        for (unsigned i = m->patched; i < slots; i++) {
            m->orig[i] = vtbl[i];
            if (thunks[i])
                __atomic_store_n(&vtbl[i], thunks[i], __ATOMIC_RELEASE);
        }
        m->patched = slots;
    }
    return m;
}

void *rec_orig(void *object, unsigned slot)
{
    struct method_table *m = table_find(*(void ***)object);

    return m ? m->orig[slot] : (*(void ***)object)[slot];
}

struct rec_object *rec_object_seen(void *ptr, uint16_t iface)
{
    struct method_table *m;

    pthread_mutex_lock(&lock);
    m = table_patch(*(void ***)ptr, iface);
    pthread_mutex_unlock(&lock);
    return rec_object_add(ptr, iface, m ? m->orig : *(void ***)ptr);
}

struct rec_object *rec_object_look_up(struct rec_thread *t, void *ptr)
{
    struct rec_object *o = rec_object_find(ptr);

    if (__builtin_expect(o != NULL, 1))
        return t->object = o;
    /* Its table is patched, but nobody saw it being made. */
    o = rec_object_seen(ptr, D12_IFACE_UNKNOWN);
    rec_note(t, "object %u was made before the recorder could see it; calls on it cannot be played", o->id);
    return o;
}
