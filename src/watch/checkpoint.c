#include "watch/checkpoint.h"

#include <stdio.h>
#include <string.h>

#include <aerogpu/ext.h>

#include "abi/alloc_table.h"
#include "abi/stream.h"

const struct exec_checkpoints *watch_checkpoints_of(const struct evidence *ev, uint32_t context)
{
    for (int i = 0; ev->has_crumbs && i < EXEC_CHECKPOINT_CONTEXTS; i++)
        if (atomic_load(&ev->crumbs.checkpoints[i].in_use) && ev->crumbs.checkpoints[i].context == context)
            return &ev->crumbs.checkpoints[i];
    return NULL;
}

static const struct kept *kept_by_id(const struct evidence *ev, uint64_t id)
{
    for (uint32_t i = 0; id && i < ev->num_items; i++)
        if (ev->items[i].id == id)
            return &ev->items[i];
    return NULL;
}

static const uint8_t *pointed_at(struct machine *m, const struct kept *k, uint32_t alloc_id, uint64_t offset,
                                 uint32_t size)
{
    struct abi_alloc_table table = {0};
    const struct abi_alloc *a;
    const uint8_t *at = NULL;

    if (!k->table || abi_alloc_table_parse(&table, k->table, k->alloc_size, NULL))
        return NULL;
    a = abi_alloc_table_find(&table, alloc_id);
    if (a && offset <= a->size && size <= a->size - offset && a->gpa + offset < machine_ram_size(m) &&
        size <= machine_ram_size(m) - a->gpa - offset)
        at = machine_ram(m) + a->gpa + offset;
    abi_alloc_table_finish(&table);
    return at;
}

static void checkpoint_text(struct watch_checkpoint *x)
{
    uint32_t n = x->payload ? x->size : 0;

    while (n && !x->payload[n - 1])
        n--;
    for (uint32_t i = 0; i < n; i++)
        if (x->payload[i] < 0x20 || x->payload[i] == 0x7f)
            n = 0;
    snprintf(x->text, sizeof(x->text), "%.*s", n < 160 ? (int)n : 160, n ? (const char *)x->payload : "");
}

bool watch_checkpoint_find(const struct watch *w, const struct evidence *ev,
                           const struct exec_checkpoint *where, uint32_t context,
                           struct watch_checkpoint *out)
{
    struct aerogpu_cmd_ext_checkpoint_pointer cp;
    struct abi_stream s;
    struct abi_packet p;

    *out = (struct watch_checkpoint){.k = kept_by_id(ev, where->submission), .packet = where->packet};
    if (!out->k || out->k->context_id != context || !out->k->stream ||
        abi_stream_open(&s, out->k->stream, out->k->cmd_size, NULL))
        return false;
    while (abi_stream_next(&s, &p, NULL) > 0 && p.index < where->packet)
        ;
    if (p.index != where->packet)
        return false;
    if (p.opcode == AEROGPU_CMD_EXT_CHECKPOINT) {
        out->payload = p.tail;
        out->size = p.tail_size;
    } else if (p.opcode == AEROGPU_CMD_EXT_CHECKPOINT_POINTER) {
        memcpy(&cp, p.data, sizeof(cp));
        out->by_pointer = true;
        out->pointer = cp.pointer;
        out->size = cp.payload_bytes;
        if (cp.alloc_id && cp.payload_bytes <= AEROGPU_CHECKPOINT_MAX_BYTES)
            out->payload = pointed_at(w->params.machine, out->k, cp.alloc_id, cp.pointer, cp.payload_bytes);
    } else {
        return false;
    }
    checkpoint_text(out);
    return true;
}
