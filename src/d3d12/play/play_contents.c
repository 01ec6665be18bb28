/* SPDX-License-Identifier: MIT */
/* play_contents.c: what is in resources when a frame begins, for recordings that are cut there. */
#include <stdlib.h>

#include "d3d12/play/play_internal.h"
#include "record/edit/trace_trim.h"

static int take_resource(struct player *p, struct trc_trim *x, uint32_t id, const struct res_info *r,
                         struct error *e)
{
    struct plan_patch *patch = plan_patch(&p->plan, id);
    int err = 0;

    for (uint32_t sub = 0; sub < r->num_subs && !err; sub++) {
        uint32_t state = r->states ? r->states[sub] : 0;
        struct play_image i = {0};
        struct error why = {0};

        if (play_read(p, NULL, play_object(p, id)->ptr, sub, (D3D12_RESOURCE_STATES)state, &i, &why)) {
            err = trc_trim_empty(x, id, sub, why.text, e);
            continue;
        }
        if (patch)
            plan_contents(&p->plan, patch, i.bytes, i.size, true);
        err = trc_trim_content(x, id, sub, state, i.bytes, i.size, e);
        free(i.bytes);
    }
    return err;
}

/* Called by the player in front of the first frame that is kept. */
static int take_contents(struct player *p, void *ctx, struct error *e)
{
    int err = 0;

    for (uint32_t id = 2; id < p->states.num && !err; id++) {
        const struct res_info *r = res_get(&p->states, id);
        const struct play_object *o = play_object(p, id);

        if (r && o && o->ptr && trc_trim_wants(ctx, id))
            err = take_resource(p, ctx, id, r, e);
    }
    return err ? err : 1; /* that was all that playing was for */
}

int play_contents(struct trc *t, struct trc_trim *x, const struct trc_trim_params *params, struct error *e)
{
    struct play_params q = {.until_call = UINT64_MAX,
                            .until_frame = UINT32_MAX,
                            .stop_before = UINT64_MAX,
                            .draw_first = 1,
                            .at_frame = params->first,
                            .at = take_contents,
                            .at_ctx = x,
                            .progress = params->progress};
    struct play_result r;

    return play_run(t, &q, &r, e);
}
