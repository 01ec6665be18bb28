/* SPDX-License-Identifier: MIT */
/* rec_tables.c: the method tables that the objects of the implementation share, patched in place: objects keep their identity and
 * nothing has to be unwrapped (libvkd3d asserts the addresses of its tables). */
#include <pthread.h>
#include <stdlib.h>

#include "d3d12/gen/table.h"
#include "d3d12/record/rec_values.h"
#include "record/rec_lookup.h"

struct method_table {
    void **vtbl; /* what it is found by */
    unsigned patched;
    void *orig[D12_MAX_SLOTS];
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct rec_lookup tables;

/* Leads the slots of `iface` to the thunks. Only as many as the interface has: a table's length cannot be known. */
static struct method_table *table_patch(void **vtbl, uint16_t iface)
{
    struct method_table *m = rec_lookup_find(&tables, vtbl);
    void *const *thunks = iface < D12_NUM_IFACES ? rec_thunks[iface] : NULL;
    unsigned slots = thunks ? d12_ifaces[iface].slots : 0;

    if (!m) {
        m = calloc(1, sizeof(*m));
        if (!m)
            return NULL;
        m->vtbl = vtbl;
        for (unsigned i = 0; i < slots; i++)
            m->orig[i] = vtbl[i];
        if (!rec_lookup_add(&tables, m)) {
            free(m);
            return NULL;
        }
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

void *REC_ABI rec_orig(void *object, unsigned slot)
{
    struct method_table *m = rec_lookup_find(&tables, *(void ***)object);

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

struct rec_object *REC_ABI rec_object_look_up(struct rec_thread *t, void *ptr)
{
    struct rec_object *o = rec_object_find(ptr);

    if (__builtin_expect(o != NULL, 1))
        return t->object = o;
    /* Its table is patched, but its creation was not seen. */
    o = rec_object_seen(ptr, D12_IFACE_UNKNOWN);
    rec_note(t, "object %u was made before the recorder could see it; calls on it cannot be played", o->id);
    return o;
}
