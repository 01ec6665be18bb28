/* SPDX-License-Identifier: MIT */
/* lose_random.c: faults that a seed draws. */
#include "lose_parts.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

int lose_random_faults(const struct lose_params *undisturbed, const struct lose_random *r,
                       struct lose_fault *faults, const char **texts, uint32_t *num,
                       struct lose_result *result, struct error *e)
{
    static char kept[LOSE_FAULTS][160];
    struct lose_params p = *undisturbed;
    int code = 0;

    p.calls = calloc(LOSE_MAX_CALLED, sizeof(*p.calls));
    code = p.calls ? lose_run(&p, result, e) : error_set(e, -ENOMEM, "no memory");
    for (uint32_t i = 0; !code && i < r->num && *num < LOSE_FAULTS; i++) {
        if (!lose_fault_draw(p.calls, p.proof, r->seed, i, kept[i], sizeof(kept[i])))
            code = error_set(e, -EINVAL, "the program calls nothing that can fail: %s",
                             lose_verdict_name(result->verdict));
        else
            code = lose_fault_parse(kept[i], &faults[*num], e);
        if (!code) {
            texts[(*num)++] = kept[i];
            fprintf(stderr, "    --fault %s\n", kept[i]);
        }
    }
    free(p.calls);
    return code;
}
