/* SPDX-License-Identifier: MIT */
/* shader_link.c: the shaders of one pipeline become the words of one pipeline. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "executor/shader/d3d9.h"
#include "executor/shader/shader_internal.h"
#include "executor/shader/spirv_points.h"
#include "base/check.h"

static bool is_d3d9(const struct shader *s)
{
    return s && s->info.kind == SHADER_D3D9;
}

/* Is this DXBC stage the one that hands points to the rasteriser? */
static bool makes_points(const struct shader_link_params *p, int stage)
{
    const struct shader *gs = p->stages[EXEC_GS];

    if (is_d3d9(p->stages[stage]))
        return false;
    if (gs)
        return stage == EXEC_GS && gs->info.gs_output == SHADER_PRIMITIVE_POINTS;
    if (p->stages[EXEC_DS])
        return stage == EXEC_DS && p->variant.points;
    return stage == EXEC_VS && p->variant.points;
}

struct shader_key shader_link_key(const struct shader_link_params *p)
{
    struct {
        uint64_t hashes[EXEC_STAGE_COUNT][2];
        uint8_t variants[2][16];
        uint32_t dxbc[2][3];
        uint64_t points;
    } all;
    XXH128_hash_t h;

    memset(&all, 0, sizeof(all));
    for (int i = 0; i < EXEC_STAGE_COUNT; i++) {
        const struct shader *s = p->stages[i];
        if (!s)
            continue;
        memcpy(all.hashes[i], s->info.hash, sizeof(all.hashes[i]));
        if (is_d3d9(s) && i <= EXEC_PS) {
            struct shader_variant v = d3d9_relevant(s, &p->variant);
            uint8_t bytes[16] = {v.alpha_func,
                                 v.fog,
                                 v.flat,
                                 v.points,
                                 v.point_sprite,
                                 v.projected,
                                 v.clip_planes,
                                 v.w_fog,
                                 (uint8_t)v.compared,
                                 (uint8_t)(v.compared >> 8),
                                 (uint8_t)v.spread,
                                 (uint8_t)(v.spread >> 8),
                                 (uint8_t)v.decoded,
                                 (uint8_t)(v.decoded >> 8)};
            memcpy(all.variants[i], bytes, sizeof(bytes));
        } else {
            struct shader_variant v;

            all.points |= makes_points(p, i);
            if (i <= EXEC_PS && shader_dxbc_relevant(s, &p->variant, &v)) {
                all.dxbc[i][0] = v.samples | v.dual_source << 8 | (uint32_t)v.alpha_targets << 16;
                all.dxbc[i][1] = v.uint_inputs;
                all.dxbc[i][2] = v.sint_inputs;
            }
        }
    }
    h = XXH3_128bits(&all, sizeof(all));
    return (struct shader_key){{h.low64, h.high64}};
}

static int check_stages(const struct shader_link_params *p, struct error *e)
{
    const struct shader *const *s = p->stages;

    for (int i = 0; i < EXEC_STAGE_COUNT; i++) {
        if (s[i] && s[i]->info.stage != (enum exec_stage)i)
            return error_set(e, -EINVAL, "a %s shader is bound to the %s stage",
                             exec_stage_name(s[i]->info.stage), exec_stage_name((enum exec_stage)i));
        if (s[i] && i != EXEC_CS && s[EXEC_CS])
            return error_set(e, -EINVAL, "a compute shader is linked with a %s shader",
                             exec_stage_name((enum exec_stage)i));
    }
    if (s[EXEC_CS])
        return 0;
    if (!s[EXEC_VS])
        return error_set(e, -EINVAL, "no vertex shader is bound");
    if (!s[EXEC_HS] != !s[EXEC_DS])
        return error_set(e, -EINVAL, "a %s shader is bound without a %s shader",
                         s[EXEC_HS] ? "hull" : "domain", s[EXEC_HS] ? "domain" : "hull");
    if (is_d3d9(s[EXEC_VS]) && (s[EXEC_GS] || s[EXEC_HS]))
        return error_set(e, -EINVAL, "a Direct3D 9 vertex shader is bound with a %s shader",
                         s[EXEC_GS] ? "geometry" : "hull");
    if (s[EXEC_PS] && is_d3d9(s[EXEC_VS]) != is_d3d9(s[EXEC_PS]))
        return error_set(e, -EINVAL, "a DXBC and a Direct3D 9 shader are bound together");
    return 0;
}

/* Tessellation factors and patches must agree on the domain and the number of control points. */
static int check_patches(const struct shader_info *hs, const struct shader_info *ds, struct error *e)
{
    if (hs->tess_domain && ds->tess_domain && hs->tess_domain != ds->tess_domain)
        return error_set(e, -EINVAL, "hull shader domain %u is not the domain shader's %u", hs->tess_domain,
                         ds->tess_domain);
    return 0;
}

static int link_stage(const struct shader_link_params *p, int stage, uint32_t **words, size_t *count,
                      struct error *e)
{
    const struct shader *s = p->stages[stage];
    struct shader_variant v;

    if (is_d3d9(s))
        return d3d9_translate(s, stage == EXEC_VS ? p->stages[EXEC_PS] : NULL, &p->variant, words, count, e);
    if (stage == EXEC_DS)
        return shader_dxbc_translate(s, p->stages[EXEC_HS], NULL, words, count, e);
    if (shader_dxbc_relevant(s, &p->variant, &v))
        return shader_dxbc_translate(s, NULL, &v, words, count, e);
    *words = malloc(s->word_count * 4);
    if (!*words)
        return error_set(e, -ENOMEM, "no memory for a %s shader", exec_stage_name((enum exec_stage)stage));
    memcpy(*words, s->words, s->word_count * 4);
    *count = s->word_count;
    return 0;
}

int shader_link(struct shader_program *out, const struct shader_link_params *p, struct error *e)
{
    struct shader_program prog = {0};
    int ret = check_stages(p, e);

    memset(out, 0, sizeof(*out));
    if (!ret && p->stages[EXEC_HS])
        ret = check_patches(&p->stages[EXEC_HS]->info, &p->stages[EXEC_DS]->info, e);
    for (int i = 0; i < EXEC_STAGE_COUNT && !ret; i++) {
        uint32_t *words = NULL;
        if (!p->stages[i])
            continue;
        ret = link_stage(p, i, &words, &prog.code[i].count, e);
        if (!ret && makes_points(p, i) && spirv_write_point_size(&words, &prog.code[i].count))
            ret = error_set(e, -ENOMEM, "no memory for a %s shader", exec_stage_name((enum exec_stage)i));
        prog.code[i].words = words;
    }
    if (ret) {
        shader_program_finish(&prog);
        return ret;
    }
    for (int i = 0; i < EXEC_STAGE_COUNT; i++) {
        INVARIANT(!p->stages[i] == !prog.code[i].words);
        INVARIANT(!prog.code[i].words == !prog.code[i].count);
    }
    prog.key = shader_link_key(p);
    *out = prog;
    return 0;
}

void shader_program_finish(struct shader_program *prog)
{
    for (int i = 0; i < EXEC_STAGE_COUNT; i++)
        free((void *)prog->code[i].words);
    memset(prog, 0, sizeof(*prog));
}
