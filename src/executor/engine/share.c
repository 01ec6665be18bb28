/* SPDX-License-Identifier: MIT */
/* share.c: tokens by which resources are known to other contexts and processes (invariant 2 of objects.c). */
#include "executor/engine/engine_priv.h"

#include <stdlib.h>
#include <string.h>

static struct exec_token *token_find(struct exec_engine *g, uint64_t value)
{
    struct exec_token *t;

    HASH_FIND(hh, g->tokens, &value, sizeof(value), t);
    return t;
}

int exec_op_export_shared_surface(struct exec_engine *g, const struct abi_packet *p)
{
    struct aerogpu_cmd_export_shared_surface c;
    struct exec_object *o;
    struct exec_token *t;

    memcpy(&c, p->data, sizeof(c));
    if (!c.share_token)
        return fail_decode(g, "share_token 0");
    o = exec_object_lookup(g, c.resource_handle);
    if (!o || (o->kind != OBJECT_TEXTURE && o->kind != OBJECT_BUFFER))
        return fail_decode(g, "handle %u names no resource", c.resource_handle);
    t = token_find(g, c.share_token);
    if (t && t->object == o)
        return 0;
    if (t)
        return fail_decode(g, "share_token 0x%llx %s", (unsigned long long)c.share_token,
                           t->object ? "already names another resource" : "is retired");
    t = malloc(sizeof(*t));
    if (t) {
        *t = (struct exec_token){.value = c.share_token, .object = o};
        HASH_ADD(hh, g->tokens, value, sizeof(t->value), t);
    }
    if (!t || !HASH_ADDED(t)) {
        free(t);
        return fail_memory(g, "no memory for a share token");
    }
    exec_object_ref(o);
    return 0;
}

int exec_op_import_shared_surface(struct exec_engine *g, const struct abi_packet *p)
{
    struct aerogpu_cmd_import_shared_surface c;
    struct exec_token *t;
    int r;

    memcpy(&c, p->data, sizeof(c));
    t = token_find(g, c.share_token);
    if (!t || !t->object)
        return fail_decode(g, "share_token 0x%llx %s", (unsigned long long)c.share_token,
                           t ? "is retired" : "was never exported");
    if (c.out_resource_handle && exec_object_lookup(g, c.out_resource_handle) == t->object)
        return 0; /* the same alias again */
    r = exec_handle_check_new(g, c.out_resource_handle);
    if (r)
        return r;
    return exec_handle_add(g, c.out_resource_handle, exec_object_ref(t->object));
}

int exec_op_release_shared_surface(struct exec_engine *g, const struct abi_packet *p)
{
    struct aerogpu_cmd_release_shared_surface c;
    struct exec_token *t;

    memcpy(&c, p->data, sizeof(c));
    t = token_find(g, c.share_token);
    if (t && t->object) {
        exec_object_unref(g, t->object);
        t->object = NULL; /* stays known, so that it is never used again */
    }
    return 0;
}
